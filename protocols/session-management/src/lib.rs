//! RapidIO Annex 2: Session Management Protocol Rev. 2.1.
//!
//! Nodes find each other through registers, ask for capabilities, and open *streams*: one-way sequences of
//! PDUs of one protocol, from a *source* to a *destination* that chooses the StreamID. Two opposite streams
//! of one protocol make a *conduit*. Management messages travel as type 11 messages or in one type 9
//! stream; data likewise, in any of the four combinations.
//!
//! It is for who writes a driver or a test bench. It is not a driver: it has no registers of its own and no
//! mailbox. The owner carries octets from [`poll_transmit`](endpoint::Endpoint::poll_transmit) of one node to
//! [`handle_message`](endpoint::Endpoint::handle_message) of another, and calls
//! [`handle_timeout`](endpoint::Endpoint::handle_timeout) when it is due.
//!
//! Requirements: see `REQUIREMENTS.md` of the crate, each with the tests that prove it.
//!
//! # Reading order
//!
//! 1. [`protocol`]: numbers that name protocols and streams.
//! 2. [`attribute`]: the eight octets of which most messages consist.
//! 3. [`message`]: any message, its faults and what they call for; the formats are in [`control`], [`status`]
//!    and [`data`].
//! 4. [`register`]: how a node says where it takes messages; [`initialise`]: how another processor says it.
//! 5. [`negotiate`]: which attributes an OPEN may carry and what an acceptor makes of them.
//! 6. [`conduit`]: how two opposite streams find each other; the printed algorithm and the sound one.
//! 7. [`segment`]: segments of PDUs; [`ethernet`]: frames and bridges.
//! 8. [`endpoint`]: the node that does all this.
//!
//! # Contract
//!
//! The endpoint has no clock, no randomness and no I/O: time is an argument in picoseconds, what it wants
//! to send and to say is polled. It is a value: it can be cloned, compared and hashed.
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics: every octet string has an effect, or is answered, or is counted
//! and dropped.
//!
//! # Example
//!
//! A node opens a stream, sends a PDU on it, and closes it.
//!
//! ```
//! use session_management::endpoint::{Config, Endpoint, Event, StreamRef};
//! use session_management::negotiate::Offer;
//! use session_management::protocol::Protocol;
//! use session_management::register::Contact;
//!
//! /// Carries messages both ways until nobody has one.
//! fn exchange(now: u64, m: &mut Endpoint, p: &mut Endpoint) {
//!     loop {
//!         let (from_m, from_p) = (m.poll_transmit(), p.poll_transmit());
//!         if from_m.is_none() && from_p.is_none() {
//!             return;
//!         }
//!         from_m.inspect(|message| p.handle_message(now, 0x12, &message.octets));
//!         from_p.inspect(|message| m.handle_message(now, 0x34, &message.octets));
//!     }
//! }
//!
//! let protocol = Protocol::standard(0x0200).unwrap();
//! let node = |id| {
//!     let mut config = Config::new(id, Contact::Mailbox(2), vec![Offer::plain(protocol)]);
//!     config.assumed = Some(Contact::Mailbox(2)); // hard-coded: no registers are read
//!     Endpoint::new(config)
//! };
//! let (mut m, mut p) = (node(0x12), node(0x34));
//!
//! m.open(0, 0x34, protocol)?; // OPEN, ACCEPT
//! exchange(10, &mut m, &mut p);
//! let (stream, _) = m.streams().next().expect("it is open");
//!
//! m.send_pdu(20, 0x34, stream.stream, b"hello".to_vec())?;
//! exchange(30, &mut m, &mut p);
//! let came = std::iter::from_fn(|| p.poll_event());
//! let pdus: Vec<Event> = came.filter(|event| matches!(event, Event::Pdu { .. })).collect();
//! assert!(matches!(&pdus[..], [Event::Pdu { octets, .. }] if octets == b"hello"));
//!
//! m.close(40, stream)?; // CLOSE
//! exchange(50, &mut m, &mut p);
//! assert!(!p.is_open(StreamRef::receive(0x12, stream.stream)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two opposite streams that belong together: [`create_conduit`](endpoint::Endpoint::create_conduit) at
//! either end or at both.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod attribute;
pub mod conduit;
pub mod control;
pub mod data;
pub mod endpoint;
pub mod ethernet;
pub mod fields;
pub mod initialise;
pub mod message;
pub mod negotiate;
mod octets;
pub mod protocol;
pub mod register;
pub mod segment;
pub mod status;

pub use conduit::Algorithm;
pub use endpoint::Endpoint;
pub use message::{Message, Mode};
pub use octets::EmitError;
