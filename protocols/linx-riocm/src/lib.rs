//! LINX RapidIO connection manager (RIOCM), protocol version 2.
//!
//! Two nodes agree on a frame size and a heartbeat period, number their data packets because the medium may
//! reorder them, and watch each other's heartbeats. Nothing is acknowledged or repeated: what cannot be
//! delivered resets the connection.
//!
//! It is for who writes a driver, a gateway or a test bench. It is not a LINX kernel: it knows no processes,
//! no signals and no names. The owner carries frames, and calls [`handle_timeout`](Node::handle_timeout) when
//! [`poll_timeout`](Node::poll_timeout) says so.
//!
//! Requirements: see `REQUIREMENTS.md` of the crate, each with the tests that prove it.
//!
//! # Reading order
//!
//! 1. [`wire`]: rio_frame and the nine headers.
//! 2. [`fragment`]: cutting messages into data packets, and reassembly.
//! 3. [`event`]: what the link handler hears, and what the medium gets.
//! 4. [`options`]: where the text leaves room.
//! 5. `connection`: the four states of a connection; `receive`: the reordering queue.
//! 6. [`node`]: all connections of a device, their timers and their connection IDs.
//!
//! # Contract
//!
//! A node has no clock, no randomness and no I/O: time is an argument in picoseconds, what it wants to send
//! and to say is polled. It is a value: it can be cloned, compared and hashed.
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics.
//!
//! # Example
//!
//! Two nodes connect and exchange a message; then one falls silent, and the other one notices.
//!
//! ```
//! use linx_riocm::{Config, Event, Node, Peer, Reason};
//!
//! let node = |device, peer| {
//!     let mut node = Node::new(Config { device, ..Config::default() })?;
//!     let id = node.add(Peer::new(peer))?;
//!     node.connect(0, id);
//!     Ok::<_, linx_riocm::ConfigError>((node, id))
//! };
//! let ((mut x, to_y), (mut y, _)) = (node(1, 2)?, node(2, 1)?);
//! let carry = |from: &mut Node, to: &mut Node| {
//!     while let Some(frame) = from.poll_transmit() {
//!         to.handle_frame(1_000, frame.octets);
//!     }
//! };
//! for _ in 0..4 {
//!     carry(&mut x, &mut y);
//!     carry(&mut y, &mut x);
//! }
//! x.transmit(2_000, to_y, 5, 9, b"hello");
//! carry(&mut x, &mut y);
//! assert!(matches!(y.poll_event(), Some(Event::Connected { .. })));
//! let Some(Event::Deliver { delivery, .. }) = y.poll_event() else { panic!("a message") };
//! assert_eq!((delivery.src, delivery.dst, &delivery.octets[..]), (5, 9, &b"hello"[..]));
//!
//! // Y is gone: three periods of heartbeats without a sign of life.
//! assert!(matches!(x.poll_event(), Some(Event::Connected { .. })));
//! let reason = loop {
//!     let due = x.poll_timeout().expect("a connection that is up is watched");
//!     x.handle_timeout(due);
//!     while x.poll_transmit().is_some() {} // nobody hears it
//!     if let Some(Event::Disconnected { reason, .. }) = x.poll_event() {
//!         break reason;
//!     }
//! };
//! assert_eq!(reason, Reason::Timeout);
//! # Ok::<(), linx_riocm::ConfigError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod cids;
mod connection;
mod counters;
mod deadlines;
pub mod event;
pub mod fragment;
pub mod node;
pub mod options;
mod outbox;
mod receive;
pub mod wire;

pub use connection::{Phase, Timer};
pub use counters::Counters;
pub use event::{Class, ConnectionId, Event, Link, Problem, Reason, Transmit};
pub use fragment::Delivery;
pub use node::{Config, ConfigError, Node, Peer};
pub use options::Options;
pub use wire::{Frame, View};
