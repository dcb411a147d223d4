//! RapidIO Part 12: VoQ backpressure (Rev 2.x).
//!
//! A switch tells its upstream neighbours, six egress ports at a time, which of its ports are congested; a
//! neighbour that stages its traffic per next-hop port holds back just that traffic and lets the rest pass.
//! The message is one 14-bit field, *stype2*, of the long control symbol. It is never forwarded, acknowledged
//! or repeated by the link layer.
//!
//! Words: *upstream* transmits packets and receives messages; *downstream* receives packets and originates
//! messages. A device is both at once, per direction of each link. *Raw* is a device's own verdict about a
//! port, *reported* is what it says to others after the register bits have had their word.
//!
//! It is for who builds a switch, an endpoint or a test bench. It is not a model: it knows no packets, no
//! queues and no time. The owner says when a port is congested, which control symbol is about to leave, and
//! which came in; the crate says what goes into the symbol and which queues may not send.
//!
//! Requirements: see `REQUIREMENTS.md` of the crate, each with the tests that prove it.
//!
//! # Reading order
//!
//! 1. [`codec`]: the 14 bits: commands, groups of six ports, status bits.
//! 2. [`symbol`]: which control symbols may carry them, and which virtual channel they then speak of.
//! 3. [`csr`]: the register block (extended features ID 0x000B) and the truth table from raw to reported.
//! 4. [`threshold`]: from the length of a queue to a raw verdict; how much room a queue needs.
//! 5. [`originator`]: one per device: what must be said through which port, and what is said at the next
//!    opportunity.
//! 6. [`staging`]: the two maps of an upstream device: destination to queue, next-hop port to queue.
//! 7. [`receiver`]: one per egress link: what the neighbour said, and which staging queues it stops.
//! 8. [`counters`]: what went out, came in and was ignored.
//!
//! # Contract
//!
//! The state machines have no clock, no randomness and no I/O. They allocate when they are made, sized by the
//! device's own number of ports, and never again (except [`Receiver::remap`](receiver::Receiver::remap),
//! which takes a new map). Refresh is a rule here and a timer elsewhere: the owner calls
//! [`refresh`](originator::Originator::refresh) each
//! [`REFRESH_PERIOD_CODE_GROUPS`](originator::REFRESH_PERIOD_CODE_GROUPS).
//!
//! # Panic contract
//!
//! Nothing that comes off the wire panics: every 14-bit field, every symbol and every octet string has an
//! effect, or is counted and ignored. Port, queue and channel numbers that the *owner* passes must exist;
//! where a function panics if not, it says so.
//!
//! # Example
//!
//! Two devices, one link. Port 4 of the downstream switch fills up; the upstream device stops the queue for
//! it.
//!
//! ```
//! use lp_serial::Form;
//! use voq_backpressure::csr::{Support, GEN_EN, PART};
//! use voq_backpressure::originator::{Options, Originator};
//! use voq_backpressure::receiver::{Receiver, Reception};
//! use voq_backpressure::staging::QueueMap;
//! use voq_backpressure::symbol::{ActiveVcs, Carrier, Opportunity};
//!
//! let mut downstream = Originator::new(&[Support::ALL; 8], Options::default())?;
//! downstream.write_csr(0, GEN_EN); // port 0 leads to the upstream device
//! downstream.write_csr(4, PART); // the status of port 4 is reported
//! downstream.link_up(0, Form::Long);
//! while downstream.poll_symbol(0, Opportunity::riding(Carrier::Other)).is_some() {}
//!
//! let map = QueueMap::one_per_port(8)?;
//! let mut upstream = Receiver::new(map, ActiveVcs::None, Reception::Honoured);
//!
//! assert!(downstream.set_congested(4, true).contains(0));
//! let field = downstream.poll_symbol(0, Opportunity::riding(Carrier::Other)).unwrap();
//! assert_eq!(field, 0x0800 | 0b010000 << 5);
//!
//! upstream.apply(Carrier::Other, field, |edge| assert!(edge.stopped && edge.queue == 4));
//! assert!(!upstream.eligible(4) && upstream.eligible(3));
//!
//! downstream.set_congested(4, false); // it has drained
//! let field = downstream.poll_symbol(0, Opportunity::riding(Carrier::Other)).unwrap();
//! upstream.apply(Carrier::Other, field, |edge| assert!(!edge.stopped && edge.queue == 4));
//! assert!(upstream.eligible(4));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod codec;
pub mod counters;
pub mod csr;
pub mod originator;
pub mod ports;
pub mod receiver;
pub mod staging;
pub mod symbol;
pub mod threshold;

pub use codec::{MAX_PORTS, Message, Stype2};
pub use originator::Originator;
pub use ports::Ports;
pub use receiver::Receiver;
pub use staging::QueueMap;
pub use symbol::{ActiveVcs, Carrier, Opportunity};
