//! Segmentation and reassembly of PDUs (Annex 2 §4.3.1).
//!
//! A *context* is (SourceID, Mailbox, COS): a middle segment does not say which stream it belongs to, so
//! a context carries one PDU at a time.

use crate::attribute::HeaderFormat;
use crate::data::{Data, Header, MAX_DATA, MAX_DATA1, MAX_DATA2};
use crate::message::Command;
use crate::octets::EmitError;
use alloc::vec;
use alloc::vec::Vec;

/// Why a PDU is lost in reassembly (R17).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Loss {
    /// A middle or last segment, and no first one before it.
    NoStart,
    /// A first segment before the last one of another PDU: the earlier PDU is lost.
    Restarted,
    /// The last segment names another stream than the first one.
    Stream,
    /// The segments do not add up to the length that middle segments gave.
    Length,
    /// Middle segments give different lengths.
    PduLength,
    /// More than the stream takes.
    TooLong,
    /// A segment that breaks a rule of its header.
    Malformed,
    /// The stream ended before the last segment came, or before the first one left.
    Closed,
}

/// What is collected on a context.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Reassembly {
    stream: u16,
    limit: u64,
    octets: Vec<u8>,
    stated: Option<u32>,
}

impl Reassembly {
    /// The stream whose PDU it is.
    #[must_use]
    pub const fn stream(&self) -> u16 {
        self.stream
    }

    /// Begins with a first segment. `limit`: the longest PDU of the stream.
    ///
    /// # Errors
    /// [`Loss::TooLong`].
    pub fn start(stream: u16, limit: u64, payload: &[u8]) -> Result<Self, Loss> {
        let mut new = Self { stream, limit, octets: Vec::new(), stated: None };
        new.append(payload)?;
        Ok(new)
    }

    fn append(&mut self, payload: &[u8]) -> Result<(), Loss> {
        if self.octets.len() as u64 + payload.len() as u64 > self.limit {
            return Err(Loss::TooLong);
        }
        self.octets.extend_from_slice(payload);
        Ok(())
    }

    /// Adds a middle segment; `stated` is the length of the PDU that it gives (DATA2 gives none).
    ///
    /// # Errors
    /// [`Loss::PduLength`], [`Loss::Length`], [`Loss::TooLong`].
    pub fn middle(&mut self, stated: Option<u32>, payload: &[u8]) -> Result<(), Loss> {
        if self.stated.is_some() && stated.is_some() && self.stated != stated {
            return Err(Loss::PduLength);
        }
        self.stated = self.stated.or(stated);
        self.append(payload)?;
        match self.stated {
            Some(stated) if u64::from(stated) > self.limit => Err(Loss::TooLong),
            Some(stated) if self.octets.len() as u64 > u64::from(stated) => Err(Loss::Length),
            _ => Ok(()),
        }
    }

    /// Adds the last segment, which names `stream`. Returns the PDU.
    ///
    /// # Errors
    /// [`Loss::Stream`], [`Loss::Length`], [`Loss::TooLong`].
    pub fn end(mut self, stream: u16, payload: &[u8]) -> Result<Vec<u8>, Loss> {
        if stream != self.stream {
            return Err(Loss::Stream);
        }
        self.append(payload)?;
        match self.stated {
            Some(stated) if u64::from(stated) != self.octets.len() as u64 => Err(Loss::Length),
            _ => Ok(self.octets),
        }
    }
}

/// Longest PDU that a data header can carry.
#[must_use]
pub const fn max_pdu(format: HeaderFormat) -> u64 {
    match format {
        HeaderFormat::Data => 0xFFFF,
        HeaderFormat::Data1 => 0xFFFF_FFFF,
        HeaderFormat::Data2(_) => MAX_DATA2 as u64,
        // Part 10: 64 KB.
        HeaderFormat::Data3 => 0xFFFF,
    }
}

/// Longest payload of one data message of at most `message` octets.
#[must_use]
pub const fn max_segment(format: HeaderFormat, offset: u8, message: usize) -> usize {
    let (header, width) = match format {
        HeaderFormat::Data => (Command::Data.header_len(), MAX_DATA as usize),
        HeaderFormat::Data1 => (Command::Data1.header_len(), MAX_DATA1 as usize),
        HeaderFormat::Data2(_) => (Command::Data2.header_len(), MAX_DATA2 as usize),
        HeaderFormat::Data3 => return message,
    };
    let room = message.saturating_sub(header + offset as usize);
    if room < width { room } else { width }
}

/// A PDU that is being sent, message by message.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Segments {
    pdu: Vec<u8>,
    sent: usize,
    started: bool,
}

/// What does not change from message to message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Shape {
    /// Data header.
    pub format: HeaderFormat,
    /// Offset octets, sent as zero.
    pub offset: u8,
    /// Longest message.
    pub message: usize,
    /// Mailbox of the receiver.
    pub mailbox: u8,
    /// COS of the stream.
    pub cos: u8,
    /// The sender.
    pub source: u16,
    /// The stream.
    pub stream: u16,
}

impl Segments {
    /// The segments of a PDU.
    #[must_use]
    pub const fn new(pdu: Vec<u8>) -> Self {
        Self { pdu, sent: 0, started: false }
    }

    /// The PDU. Of DATA3, whose only message takes the octets along, nothing is left once that is made.
    #[must_use]
    pub fn pdu(&self) -> &[u8] {
        &self.pdu
    }

    /// Whether the first message was made.
    #[must_use]
    pub const fn is_started(&self) -> bool {
        self.started
    }

    /// Whether all messages were made.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.started && self.sent == self.pdu.len()
    }

    /// The next message. Every message but the last is as long as it may be.
    ///
    /// # Errors
    /// [`EmitError::Field`] if nothing fits into a message.
    pub fn next(&mut self, shape: &Shape) -> Result<Vec<u8>, EmitError> {
        let room = max_segment(shape.format, shape.offset, shape.message);
        let rest = &self.pdu[self.sent..];
        if room == 0 && !rest.is_empty() {
            return Err(EmitError::Field { field: "message", max: 0, found: rest.len() as u64 });
        }
        let payload = &rest[..rest.len().min(room)];
        let (start, end) = (!self.started, payload.len() == rest.len());
        if shape.format == HeaderFormat::Data3 {
            self.started = true;
            return Ok(core::mem::take(&mut self.pdu));
        }
        let mut body = vec![0; shape.offset.into()];
        body.extend_from_slice(payload);
        let names = start || end;
        let tag = if names { shape.stream.into() } else { self.pdu.len() as u32 };
        let (mailbox, cos, source) = (shape.mailbox, shape.cos, shape.source);
        let header = match shape.format {
            HeaderFormat::Data2(specific) => Header::Data2 { specific },
            HeaderFormat::Data1 => Header::Data1 { mailbox, cos, source, tag },
            _ => Header::Data { mailbox, cos, source, tag: tag as u16 },
        };
        let data = Data { header, start, end, length: payload.len() as u32, body: &body };
        let mut message = vec![0; data.octets()];
        data.emit(&mut message)?;
        self.sent += payload.len();
        self.started = true;
        Ok(message)
    }
}
