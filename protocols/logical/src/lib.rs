//! RapidIO logical and transport layers (Parts 1, 2, 3, 9 and 10, Rev 2.2): what devices say to each other
//! over a fabric, and how they keep their word.
//!
//! It is for who writes a driver, a device or a test bench. It is not a fabric: the owner carries packets,
//! puts octets behind [`Payload`](wire::Payload), and says what a device does with what it is asked
//! ([`Target`](engine::io::responder::Target)).
//!
//! # Reading order
//!
//! 1. [`wire`]: packets, one module for each format, lowest first: who sends to whom ([`wire::transport`]),
//!    then the formats in order of their type.
//! 2. [`register`]: the register space of a device, and how another device finds its way in it.
//! 3. [`engine`]: what spans packets: requests and responses, messages, streams.
//! 4. [`enumeration`]: a host that explores a fabric and sets it up.
//!
//! Every wire module has the same five parts: field positions, a `View` (total: it judges nothing and prints
//! anything), a valid-only value with `parse` and `emit`, `Display`, and errors that name the field and the
//! rule it broke. Payloads are borrowed, or are the owner's own handle: see [`wire::Payload`].
//!
//! # Panic contract
//!
//! Bytes off the wire never panic: `View` getters accept every bit pattern, `parse` returns an error value.
//! `emit` returns an error when the buffer is too short. Nothing in this crate reads a clock, draws a random
//! number, or does I/O.
//!
//! # Example
//!
//! A requester writes eight octets into the memory of another device (NWRITE_R) and reads them back (NREAD).
//! Their packets are values here; [`Packet::emit`](wire::Packet::emit) and [`parse`](wire::Packet::parse) are
//! the way to octets and back.
//!
//! ```
//! use logical::engine::io::requester::{Event, Options, Order, Requester};
//! use logical::engine::io::{Memory, serve};
//! use logical::wire::address::{Address, Span};
//! use logical::wire::read::{Operation as ReadOperation, Read};
//! use logical::wire::transport::{Priority, Transport};
//! use logical::wire::write::{Operation as WriteOperation, Write};
//! use logical::wire::{Body, Packet};
//! use lp_serial::IdSize;
//! use lp_serial::cost::AddressSize;
//!
//! const HOST: u32 = 1;
//! const DEVICE: u32 = 2;
//!
//! /// Lets the device carry out what the requester asks for.
//! fn exchange(host: &mut Requester<Vec<u8>>, device: &mut Memory) -> Option<Event<Vec<u8>>> {
//!     while let Some(request) = host.poll_transmit(0) {
//!         let transport = Transport::new(request.priority, IdSize::Dev8, request.destination, HOST).ok()?;
//!         let answer = serve(Packet { transport, body: request.body }, device)?;
//!         let Body::Response(response) = answer.body else { return None };
//!         host.handle_response(answer.transport.source(), response);
//!     }
//!     host.poll_event()
//! }
//!
//! let mut host = Requester::new(Options::default());
//! let mut device = Memory::new(0x200, 16); // 16 double-words from octet address 0x1000 on
//! let address = Address::new(AddressSize::Bits34, 0x200)?;
//! let priority = Priority::new(0, false)?;
//! let order = |token, body| Order { destination: DEVICE, priority, body, token };
//!
//! let octets = b"RapidIO!".to_vec();
//! let write = Write::new(WriteOperation::NwriteR, 0, address, Span::write(0, 8)?, octets.clone())?;
//! host.submit(order(7, Body::Write(write)))?;
//! assert_eq!(exchange(&mut host, &mut device), Some(Event::Done { token: 7, data: None }));
//!
//! let read = Read::new(ReadOperation::Nread, 0, address, Span::read(0, 8)?)?;
//! host.submit(order(8, Body::Read(read)))?;
//! assert_eq!(exchange(&mut host, &mut device), Some(Event::Done { token: 8, data: Some(octets) }));
//! # Ok::<(), logical::wire::Error>(())
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod engine;
pub mod enumeration;
pub mod register;
pub mod wire;
