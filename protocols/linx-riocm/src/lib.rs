//! LINX RapidIO connection manager (RIOCM), protocol version 2.
//!
//! Two nodes agree on a frame size and a heartbeat period, number their data packets because the medium may
//! reorder them, and watch each other's heartbeats. Nothing is acknowledged or repeated: what cannot be
//! delivered resets the connection.
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
//! Two nodes connect and exchange a message.
//!
//! ```
//! use linx_riocm::{Config, Event, Node, Peer};
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
