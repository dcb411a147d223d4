//! RapidIO Part 6 (LP-Serial physical layer, Rev 2.2): what the bytes on a link look like and what they cost.
//!
//! It is for who builds a device, a driver or a test bench. It is not a physical layer: there are no lanes,
//! no clock recovery and no 8b/10b coding. The owner keeps the octets of packets, says when the wire is free,
//! and what came in and whether it was damaged.
//!
//! # Reading order
//!
//! The modules are in layer order, lowest first:
//!
//! 1. [`crc`]: CRC-5, CRC-13 and CRC-16, each as a bit-by-bit reference and as the table-driven form in use.
//! 2. [`control_symbol`]: the 24-bit and the 48-bit control symbol, their functions, their delimited wire
//!    form.
//! 3. [`packet`]: the first 16 bits of every packet, where its CRCs go, padding.
//! 4. [`cost`]: how many characters a packet or symbol takes and how long a character takes; ackID windows,
//!    buf_status ranges, watermarks, and the periods of everything a link sends unasked.
//! 5. [`field`]: the tables in which wire modules, here and elsewhere, say where their fields lie.
//! 6. [`link`]: the protocol: acknowledgement, retry, error recovery, flow control, virtual channels.
//!
//! Every wire module has the same five parts: field positions, a `View` (total: it judges nothing and prints
//! anything), a valid-only value with `parse` and `emit`, `Display`, and an error that names the field and
//! the rule it broke.
//!
//! # Panic contract
//!
//! Bytes off the wire never panic: `View` getters accept every bit pattern, `parse` and `check` return an
//! error value. `emit` and `seal` return an error when the buffer is too short. Nothing in this crate reads a
//! clock, draws a random number, or does I/O; only [`link`] allocates.
//!
//! # Example
//!
//! A control symbol as octets, and back.
//!
//! ```
//! use lp_serial::control_symbol::{ControlSymbol, Delimited, Form, Stype0, Stype1};
//!
//! let status = Stype0::Status { ack_id_status: 0, buf_status: 31 };
//! let idle = ControlSymbol::new(Form::Short, status, Stype1::Nop)?;
//! let mut wire = [0u8; 4];
//! idle.emit_delimited(false, &mut wire)?;
//! assert_eq!(wire, [0x1C, 0x80, 0xFF, 0x0F]);
//! assert_eq!(Delimited::parse(Form::Short, &wire)?.symbol.stype0(), status);
//! # Ok::<(), lp_serial::control_symbol::Error>(())
//! ```
//!
//! Two link ports, and a packet that is damaged on its way and sent again.
//!
//! ```
//! use lp_serial::control_symbol::{Cause, Form, Stype1};
//! use lp_serial::link::{Config, LinkEvent, LinkPort, Opportunity, PacketMeta, Reception};
//!
//! /// One turn of a sender: a symbol, and the packet that it starts with the symbol that ends it. Gives what
//! /// became of the packet.
//! fn turn(from: &mut LinkPort<u32>, to: &mut LinkPort<u32>, damaged: bool) -> Option<Reception> {
//!     let sent = from.poll_transmit(0, Opportunity::IDLE)?;
//!     to.handle_symbol(0, sent.symbol);
//!     let packet = sent.packet?;
//!     let end = from.poll_transmit(0, Opportunity::END)?.symbol;
//!     // A packet is judged when its end has come.
//!     let checked = if damaged { Err(Cause::PacketCrc) } else { Ok(()) };
//!     let became = to.handle_packet(packet.meta, packet.ack_id, checked);
//!     to.handle_symbol(0, end);
//!     Some(became)
//! }
//!
//! let port = || LinkPort::new(Config::new(Form::Long, 9));
//! let (mut a, mut b) = (port()?, port()?);
//! a.port_initialized();
//! b.port_initialized();
//! while !(a.is_up() && b.is_up()) {
//!     turn(&mut a, &mut b, false);
//!     turn(&mut b, &mut a, false);
//! }
//!
//! a.submit(42, PacketMeta::new(0, 264)).expect("room to wait");
//! let (mut became, mut first) = (Vec::new(), true);
//! let acknowledged = loop {
//!     if let Some(reception) = turn(&mut a, &mut b, first) {
//!         became.push(reception);
//!         first = false;
//!     }
//!     turn(&mut b, &mut a, false);
//!     if let Some(LinkEvent::Acknowledged(packet)) = std::iter::from_fn(|| a.poll_event()).last() {
//!         break packet;
//!     }
//! };
//! // discarded, packet-not-accepted, link-request, link-response, sent again, accepted
//! assert_eq!(acknowledged, 42);
//! assert_eq!(became, [Reception::Discarded, Reception::Accepted { channel: 0 }]);
//! # Ok::<(), lp_serial::link::ConfigError>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod control_symbol;
pub mod cost;
pub mod crc;
pub mod field;
pub mod link;
pub mod packet;

pub use control_symbol::{ControlSymbol, Form, Stype0, Stype1};
pub use cost::{IdSize, LaneRate, PacketClass, SymbolSize, Width};
pub use link::LinkPort;
