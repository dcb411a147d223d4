//! The fields that every packet begins with: priority, device IDs (Part 3 §2.4, Part 6 §2.3).
//!
//! ```text
//! bit     0      5  6   7   8  9 10 11 12     15
//!       | ackID   | VC|CRF| prio | tt  | ftype   | destinationID | sourceID |
//!                                                     8, 16 or 32 bits each
//! ```
//!
//! The ackID belongs to the link and not to the packet: it is ignored here, and written as 0.

use super::{Error, fits};
use core::fmt;
use lp_serial::IdSize;
use lp_serial::packet::{Header, View as HeaderView};

/// Priority and critical request flow: which of a pair's flows a packet belongs to (Part 6 §2.3).
///
/// Ordered from the least to the most urgent.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Priority {
    prio: u8,
    crf: bool,
}

impl Priority {
    /// The least urgent: 0 without CRF.
    pub const LOWEST: Self = Self { prio: 0, crf: false };

    /// `prio` is 0 (lowest) to 3; `crf` puts the packet in front of others of the same priority.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub const fn new(prio: u8, crf: bool) -> Result<Self, Error> {
        match fits("prio", prio as u32, 3) {
            Ok(()) => Ok(Self { prio, crf }),
            Err(error) => Err(error),
        }
    }

    /// Priority, 0 (lowest) to 3.
    #[must_use]
    pub const fn prio(self) -> u8 {
        self.prio
    }

    /// Critical request flow.
    #[must_use]
    pub const fn crf(self) -> bool {
        self.crf
    }

    /// The lowest priority of a response to a request of this one: one higher, CRF kept (Part 6 §6.11).
    /// Requests of priority 3 have no response; what there would be stays at 3.
    #[must_use]
    pub const fn of_response(self) -> Self {
        let prio = if self.prio < 3 { self.prio + 1 } else { 3 };
        Self { prio, crf: self.crf }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prio {}{}", self.prio, if self.crf { " CRF" } else { "" })
    }
}

/// Who sends to whom, and how urgently.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Transport {
    priority: Priority,
    vc: bool,
    ids: IdSize,
    destination: u32,
    source: u32,
}

impl Transport {
    /// A packet in VC0. Both IDs must fit the size: 255, 65 535 or any.
    ///
    /// # Errors
    /// [`Error::Range`].
    pub fn new(priority: Priority, ids: IdSize, destination: u32, source: u32) -> Result<Self, Error> {
        fits("destinationID", destination, id_max(ids))?;
        fits("sourceID", source, id_max(ids))?;
        Ok(Self { priority, vc: false, ids, destination, source })
    }

    /// This header in another virtual channel: if `vc`, the priority names one of VC1 to VC8.
    #[must_use]
    pub const fn with_vc(self, vc: bool) -> Self {
        Self { vc, ..self }
    }

    /// This header with another priority.
    #[must_use]
    pub const fn with_priority(self, priority: Priority) -> Self {
        Self { priority, ..self }
    }

    /// The way back: IDs reversed, priority at least one higher (Part 3 §2.3, Part 6 §6.11).
    #[must_use]
    pub const fn reply(self) -> Self {
        Self {
            priority: self.priority.of_response(),
            destination: self.source,
            source: self.destination,
            ..self
        }
    }

    /// Bytes that these fields take.
    #[must_use]
    pub const fn octets(self) -> usize {
        octets(self.ids)
    }

    /// Reads the fields; returns them, the format type, and the bytes that follow.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Value`] for the reserved tt 3.
    pub fn parse(body: &[u8]) -> Result<(Self, u8, &[u8]), Error> {
        const FORMAT: &str = "transport";
        let short = |needed| Error::Short { format: FORMAT, needed, found: body.len() };
        let view = HeaderView::new(body).map_err(|_| short(2))?;
        let ids = id_size(view.tt())?;
        let (head, rest) = body.split_at_checked(octets(ids)).ok_or(short(octets(ids)))?;
        let (destination, source) = match (ids, head) {
            (IdSize::Dev8, &[_, _, destination, source]) => (u32::from(destination), u32::from(source)),
            (IdSize::Dev16, &[_, _, d0, d1, s0, s1]) => {
                (u32::from(u16::from_be_bytes([d0, d1])), u32::from(u16::from_be_bytes([s0, s1])))
            }
            (IdSize::Dev32, &[_, _, d0, d1, d2, d3, s0, s1, s2, s3]) => {
                (u32::from_be_bytes([d0, d1, d2, d3]), u32::from_be_bytes([s0, s1, s2, s3]))
            }
            _ => return Err(short(octets(ids))),
        };
        let priority = Priority { prio: view.prio(), crf: view.crf() };
        Ok((Self { priority, vc: view.vc(), ids, destination, source }, view.ftype(), rest))
    }

    /// Writes the fields, with the type of the format that follows and ackID 0; returns the length.
    ///
    /// # Errors
    /// [`Error::Buffer`]; [`Error::Physical`] if `ftype` is above 15.
    pub fn emit(self, ftype: u8, out: &mut [u8]) -> Result<usize, Error> {
        let needed = self.octets();
        let found = out.len();
        let out = out.get_mut(..needed).ok_or(Error::Buffer { needed, found })?;
        let header = Header::new(self.priority.prio, self.ids.tt(), ftype)?;
        header.with_channel(self.vc, self.priority.crf).emit(out)?;
        match self.ids {
            IdSize::Dev8 => out[2..].copy_from_slice(&[self.destination as u8, self.source as u8]),
            IdSize::Dev16 => {
                out[2..4].copy_from_slice(&(self.destination as u16).to_be_bytes());
                out[4..].copy_from_slice(&(self.source as u16).to_be_bytes());
            }
            IdSize::Dev32 => {
                out[2..6].copy_from_slice(&self.destination.to_be_bytes());
                out[6..].copy_from_slice(&self.source.to_be_bytes());
            }
        }
        Ok(needed)
    }

    /// Priority and CRF (the name of a virtual channel if [`vc`](Self::vc)).
    #[must_use]
    pub const fn priority(self) -> Priority {
        self.priority
    }

    /// Whether the packet travels in VC1 to VC8 and not in VC0.
    #[must_use]
    pub const fn vc(self) -> bool {
        self.vc
    }

    /// Size of the device IDs.
    #[must_use]
    pub const fn ids(self) -> IdSize {
        self.ids
    }

    /// Who is to get the packet.
    #[must_use]
    pub const fn destination(self) -> u32 {
        self.destination
    }

    /// Who sent the packet. A type 7 packet has no source ID: it has the destination whose flow it controls
    /// (tgtdestID) in this place.
    #[must_use]
    pub const fn source(self) -> u32 {
        self.source
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = match self.ids {
            IdSize::Dev8 => 4,
            IdSize::Dev16 => 6,
            IdSize::Dev32 => 10,
        };
        write!(f, "{:#0digits$x} -> {:#0digits$x} {}", self.source, self.destination, self.priority)?;
        if self.vc { write!(f, " VC") } else { Ok(()) }
    }
}

const fn octets(ids: IdSize) -> usize {
    match ids {
        IdSize::Dev8 => 4,
        IdSize::Dev16 => 6,
        IdSize::Dev32 => 10,
    }
}

const fn id_max(ids: IdSize) -> u32 {
    match ids {
        IdSize::Dev8 => 0xFF,
        IdSize::Dev16 => 0xFFFF,
        IdSize::Dev32 => u32::MAX,
    }
}

const fn id_size(tt: u8) -> Result<IdSize, Error> {
    match tt {
        0 => Ok(IdSize::Dev8),
        1 => Ok(IdSize::Dev16),
        2 => Ok(IdSize::Dev32),
        _ => Err(Error::Value { field: "tt", found: tt as u32, rule: "0, 1 or 2 (3 is reserved)" }),
    }
}
