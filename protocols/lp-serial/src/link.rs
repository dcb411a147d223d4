//! The link protocol as a state machine without input, output or clock (Part 6 chapter 5): both directions of
//! one end of a link.
//!
//! A [`LinkPort`] decides *what* is sent next and what a received packet or symbol means; its owner, the
//! *driver*, knows how long that takes on the wire, keeps the packets' bytes, and says what arrived and
//! whether it was damaged.
//!
//! # Reading order
//!
//! 1. `state`: the stop states of both sides, as two [tables](self#state-tables).
//! 2. `config`: what a port is.
//! 3. `flow`: buffers of this port, credit at the partner.
//! 4. `receive`: the input side: packets, stype1 functions, errors.
//! 5. `recovery`: the output side under stype0: acknowledgement, retry, error recovery.
//! 6. `transmit` and `schedule`: the output side: which packet, which symbol.
//! 7. `outbox`, `init`, `timer`, `event`: what is due, link initialisation, deadlines, reports.
//!
//! # Contract
//!
//! | verb | what it says | what it may change |
//! |---|---|---|
//! | [`port_initialized`](LinkPort::port_initialized) | lanes are aligned | all answers |
//! | [`port_lost`](LinkPort::port_lost) | and no longer | all answers |
//! | [`handle_symbol`](LinkPort::handle_symbol) | an error-free symbol came | all answers |
//! | [`handle_packet`](LinkPort::handle_packet) | a packet came, sound or not | what is transmitted, events |
//! | [`handle_error`](LinkPort::handle_error) | something damaged came | what is transmitted, events |
//! | [`release`](LinkPort::release) | a receive buffer is free | what is transmitted |
//! | [`submit`](LinkPort::submit) | a packet wants to be sent | what is transmitted |
//! | [`handle_timeout`](LinkPort::handle_timeout) | time has come to `now` | all answers |
//! | [`poll_transmit`](LinkPort::poll_transmit) | the wire could take a symbol | deadlines, events |
//! | [`poll_event`](LinkPort::poll_event) | what happened? | nothing else |
//! | [`poll_timeout`](LinkPort::poll_timeout) | when to call `handle_timeout`? | nothing |
//!
//! After any input: drain the events, ask for the deadline; then offer opportunities to send while the wire
//! is free. Inputs of an instant come before its opportunities.
//!
//! *What ends a packet.* A packet is judged when the delimiter that ends it arrives: `handle_packet`, then
//! the symbol. If the delimiter cancels it (stomp, restart-from-retry, link-request) there is no
//! `handle_packet`. The two functions of a symbol concern different sides: a driver whose input side has
//! latency calls [`handle_stype0`](LinkPort::handle_stype0) when the symbol arrives and
//! [`handle_stype1`](LinkPort::handle_stype1) when the input side gets to it, in order with the packets.
//!
//! *Damage.* The driver says what a receiver can see: a symbol with a bad CRC is
//! [`handle_error`](LinkPort::handle_error), a packet with a bad CRC is a `handle_packet` with a cause;
//! a packet whose start-of-packet was lost is illegal characters in the idle sequence.
//!
//! *Time* is a `u64` in picoseconds, and used for nothing but deadlines. The link timeout must be longer than
//! any answer takes, else an answer to an earlier question could be taken for a later one's: the ackID in a
//! link-response does not say which link-request it answers.
//!
//! *Panics.* Nothing that the partner sends panics. Verbs whose preconditions are the driver's own (a buffer
//! that was taken, a packet that is on the wire) say what they demand.
//!
//! # State tables
//!
//! [`InputState`] and [`OutputState`] each are two of the four stop states of Part 6 and their absence.
//!
//! Input side; what is empty is discarded or ignored:
//!
//! | | normal | retry-stopped | error-stopped |
//! |---|---|---|---|
//! | packet accepted | accept | | (CT: keep silently) |
//! | no room, single VC | retry-stopped, packet-retry | | |
//! | no room, multiple VCs | error-stopped, packet-not-accepted | | |
//! | packet error | error-stopped, packet-not-accepted | | |
//! | stomp, single VC | retry-stopped, packet-retry | | |
//! | stomp, multiple VCs | error-stopped, packet-not-accepted | | |
//! | link error | error-stopped, packet-not-accepted | error-stopped, packet-not-accepted | |
//! | restart-from-retry | error-stopped, packet-not-accepted | normal | |
//! | link-request | link-response | normal, link-response | normal, link-response |
//!
//! Output side:
//!
//! | | normal | retry-stopped | error-stopped |
//! |---|---|---|---|
//! | packet-accepted in order | acknowledge | error-stopped, link-request | |
//! | packet-retry in order | retry-stopped, back up, restart-from-retry | error-stopped, link-request | |
//! | error | error-stopped, link-request | error-stopped, link-request | |
//! | restart-from-retry sent | | normal | |
//! | link-response | (below) | (below) | normal, back up |
//!
//! *error* is packet-not-accepted, an acknowledgement out of order or for a packet that is not outstanding, a
//! packet-retry with multiple VCs, a link timeout, and a link-response that nobody asked for. With ackID in
//! packet-not-accepted the output side leaves error-stopped when the link-request has been sent, so a
//! link-response can also be awaited in the other two states; it changes nothing there. Acknowledgements that
//! arrive in error-stopped are ignored: the link-response says it all.
//!
//! # What is not here
//!
//! Speculative packets beyond the credit (optional), several packets for one packet-accepted (Rev 3.x), the
//! origin of reset requests (a management action), IDLE sequences, lane alignment and training (below this
//! layer). Which statements of the trade association's compliance list are implemented, and which test shows
//! it, is in `docs/conformance-link.md`.
//!
//! # Example
//!
//! ```
//! use lp_serial::Form;
//! use lp_serial::link::{Config, LinkEvent, LinkPort, Opportunity, PacketMeta, Reception};
//!
//! let mut a: LinkPort<&str> = LinkPort::new(Config::new(Form::Short, 8))?;
//! let mut b = a.clone();
//! a.port_initialized();
//! b.port_initialized();
//! for _ in 0..20 {
//!     // On this wire symbols need no time.
//!     a.poll_transmit(0, Opportunity::IDLE).inspect(|sent| b.handle_symbol(0, sent.symbol));
//!     b.poll_transmit(0, Opportunity::IDLE).inspect(|sent| a.handle_symbol(0, sent.symbol));
//! }
//! assert!(a.is_up() && b.is_up());
//! while a.poll_event().is_some() {}
//!
//! a.submit("hello", PacketMeta::new(0, 64)).unwrap();
//! let start = a.poll_transmit(0, Opportunity::IDLE).unwrap();
//! b.handle_symbol(0, start.symbol);
//! let packet = start.packet.unwrap();
//! let end = a.poll_transmit(0, Opportunity::END).unwrap();
//! assert_eq!(b.handle_packet(packet.meta, packet.ack_id, Ok(())), Reception::Accepted { channel: 0 });
//! b.handle_symbol(0, end.symbol);
//!
//! let acknowledgement = b.poll_transmit(0, Opportunity::IDLE).unwrap();
//! a.handle_symbol(0, acknowledgement.symbol);
//! assert_eq!(a.poll_event(), Some(LinkEvent::Acknowledged("hello")));
//! # Ok::<(), lp_serial::link::ConfigError>(())
//! ```

mod config;
mod event;
mod flow;
mod init;
mod outbox;
mod port;
mod receive;
mod recovery;
mod schedule;
mod state;
mod timer;
mod transmit;

pub use config::{Channels, Config, ConfigError, FlowControl, PacketMeta, Traffic, VcConfig};
pub use event::{Fatal, LinkEvent, OutputError, Reception};
pub use flow::{Buffers, Credit};
pub use init::{STATUS_RECEIVED, STATUS_SENT};
pub use port::{Handover, LinkPort, OpenChannel, Unsent};
pub use schedule::Schedule;
pub use state::{InputAction, InputEvent, InputState, OutputAction, OutputEvent, OutputState};
pub use timer::LinkTimer;
pub use transmit::{Full, Opportunity, Place, Start, Starting, Transmit};
