//! Scheduled Transfer (working draft Rev 1.5).
//!
//! Every movement of data is arranged before it begins: the receiver says where a Block goes and when it may
//! come, so nothing ever arrives that has no place. A *Virtual Connection* joins a Port of one end to a Port
//! of another. On it run *Transfers* (Write and Read: Blocks enabled one by one by Clear_To_Send) and
//! operations on *persistent regions* (Put, Get, FetchOp: no further permission). A Block is cut into *STUs*,
//! the payloads of Data operations.
//!
//! It is for who writes a driver, an interface card or a test bench. It is not an upper layer, and not a
//! link: the owner decides which connections and Transfers it takes, carries operations, and lends a
//! [`Memory`].
//!
//! Requirements: see `REQUIREMENTS.md` of the crate, each with the tests that prove it.
//!
//! # Reading order
//!
//! 1. [`wire`]: the 40-octet Schedule Header and the operations of tables 4 to 8; [`checksum`].
//! 2. [`layout`]: Blocks, STUs, buffers: pure arithmetic. [`memory`]: where the octets are.
//! 3. [`slots`], [`ids`], [`timers`], [`errors`]: what a connection counts, numbers, waits for and logs.
//! 4. [`connection`]: the state tables, one file for each role.
//! 5. [`endpoint`]: Ports and Keys, and the calls of an upper layer.
//! 6. [`llp`]: the frames of Annex A. [`intermediate`]: what devices between the ends change.
//!
//! # Contract
//!
//! No clock, no randomness, no I/O. `now` is picoseconds. An [`Endpoint`] is driven by `handle`,
//! `handle_timeout` and the calls of its upper layer; what comes out is polled. Payload is copied once, from
//! a [`Memory`] into the operation that carries it and from there into the other one.
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics: it has an effect, or an entry in a log, or it is a repetition and
//! answered as one. Calls of the upper layer that make no sense give `None` or `false`.
//!
//! # Example
//!
//! Two ends connect, and one writes 5 000 octets into the memory of the other.
//!
//! ```
//! use scheduled_transfer::{Config, Endpoint, Event, ExposeOptions, Extras, Outcome, Span, TransferOptions};
//! use scheduled_transfer::{ConnectionId, Ula};
//!
//! const SERVICE: u16 = 0x14; // a well-known Port
//! const ALL: u8 = 0b1111; // channels of the link: one for Control, three for Data
//! const A: Ula = Ula([2, 0, 0, 0, 0, 1]);
//! const B: Ula = Ula([2, 0, 0, 0, 0, 2]);
//!
//! /// Carries operations both ways until nobody has one; gives what `a` is told.
//! fn exchange(a: &mut Endpoint<Vec<u8>>, b: &mut Endpoint<Vec<u8>>) -> Vec<(ConnectionId, Event)> {
//!     let (mut operation, mut told) = (Vec::new(), Vec::new());
//!     loop {
//!         let mut quiet = true;
//!         while a.poll_transmit(0, 0, ALL, &mut operation).is_some() {
//!             b.handle(0, (A, 0), &operation);
//!             quiet = false;
//!         }
//!         // the upper layer of B takes everything, and has room at address 0
//!         while let Some((connection, event)) = b.poll_event() {
//!             match event {
//!                 Event::Incoming { .. } => assert!(b.accept(0, connection, Extras::default())),
//!                 Event::WriteOffered { id, t_len, .. } => {
//!                     assert!(b.expose(0, connection, id, Span::new(0, t_len), ExposeOptions::default()));
//!                 }
//!                 _ => {}
//!             }
//!         }
//!         while b.poll_transmit(0, 0, ALL, &mut operation).is_some() {
//!             a.handle(0, (B, 0), &operation);
//!             quiet = false;
//!         }
//!         told.extend(std::iter::from_fn(|| a.poll_event()));
//!         if quiet {
//!             return told;
//!         }
//!     }
//! }
//!
//! let source: Vec<u8> = (0..5_000u16).map(|n| n as u8).collect();
//! let mut a = Endpoint::new(Config::default(), source.clone()).expect("a valid configuration");
//! let mut b = Endpoint::new(Config::default(), vec![0; 8_192]).expect("a valid configuration");
//! b.listen(SERVICE, 0);
//!
//! let connection = a.connect(0, (B, 0), (SERVICE, 0), Extras::default());
//! assert!(exchange(&mut a, &mut b).contains(&(connection, Event::Opened)));
//!
//! let id = a.write(0, connection, Span::new(0, 5_000), TransferOptions::default()).expect("it is open");
//! let done = Event::Finished { id, outcome: Outcome::Complete, bytes: 5_000 };
//! assert!(exchange(&mut a, &mut b).contains(&(connection, done)));
//! assert_eq!(b.memory()[..5_000], source);
//!
//! a.disconnect(0, connection);
//! assert!(exchange(&mut a, &mut b).contains(&(connection, Event::Closed(Outcome::Complete))));
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod checksum;
pub mod config;
pub mod connection;
pub mod endpoint;
pub mod errors;
pub mod event;
pub mod ids;
pub mod intermediate;
pub mod layout;
pub mod llp;
pub mod memory;
pub mod slots;
pub mod timers;
pub mod wire;

pub use config::Config;
pub use connection::{Connection, ExposeOptions, Extras, TransferOptions, Transmit};
pub use endpoint::Endpoint;
pub use event::{ConnectionId, Event, Failure, Outcome};
pub use llp::Ula;
pub use memory::{Memory, Span};
