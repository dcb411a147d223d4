//! What travels: bytes or only their number, with a label that says whose it is.

use crate::observe::probe::Parts;
use logical::engine::Divisible;
use logical::wire::Payload;

/// A payload of an agent: bytes where a protocol reads them, a length where only time and space matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Data {
    octets: u32,
    bytes: Option<Vec<u8>>,
    /// Belongs to the simulator: no protocol sees it. Every part of a payload carries it.
    pub label: Label,
}

impl Data {
    /// So many octets that nobody reads.
    pub fn length(octets: u32) -> Self {
        Data { octets, ..Data::default() }
    }

    /// These octets.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Data { octets: bytes.len() as u32, bytes: Some(bytes), label: Label::default() }
    }

    /// The octets, if they are more than a length.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        self.bytes.as_deref()
    }

    /// These octets with this label.
    pub fn labelled(self, label: Label) -> Self {
        Data { label, ..self }
    }

    /// Padded to `octets`.
    pub fn pad(&mut self, octets: u32) {
        self.octets = self.octets.max(octets);
        if let Some(bytes) = &mut self.bytes {
            bytes.resize(self.octets as usize, 0);
        }
    }

    /// Cut to the length that was sent: type 11 pads to double-words.
    pub fn without_padding(mut self) -> Self {
        let sent = self.label.octets;
        if sent < self.octets {
            self.octets = sent;
            if let Some(bytes) = &mut self.bytes {
                bytes.truncate(sent as usize);
            }
        }
        self
    }
}

/// Octets that nobody reads, as they would be on a wire.
const NOTHING: [u8; 256] = [0; 256];

impl AsRef<[u8]> for Data {
    /// What a packet carries: at most 256 octets if they are only a length.
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_deref().unwrap_or(&NOTHING[..self.octets as usize])
    }
}

impl Payload for Data {
    fn octets(&self) -> usize {
        self.octets as usize
    }
}

impl Divisible for Data {
    fn part(&self, start: usize, octets: usize) -> Self {
        let bytes = self.bytes.as_ref().map(|bytes| bytes.part(start, octets));
        Data { octets: octets as u32, bytes, label: self.label.clone() }
    }

    fn write(&mut self, start: usize, part: &Self) {
        if self.octets == 0 {
            self.label = part.label.clone();
        }
        if let Some(bytes) = &part.bytes {
            self.bytes.get_or_insert_default().write(start, bytes);
        }
        self.octets = self.octets.max((start + part.octets()) as u32);
    }
}

/// What measurement knows about a payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Label {
    /// Flow that it is reported under, and the conversation that it belongs to.
    pub flow: u16,
    /// Position among what the agent sent.
    pub sequence: u32,
    /// Which PDU of session management it is, or is a part of, counted from 1 by its sender in its flow; 0:
    /// it is none, management for instance. What leaves twice has one number.
    pub pdu: u32,
    /// When that PDU was asked for, as far as its octets say so, else when it left, ps.
    pub asked: u64,
    /// Token of its sender.
    pub token: u64,
    /// Length that was sent, padding not counted.
    pub octets: u32,
    /// When the protocol sent it, ps.
    pub created: u64,
    /// When the host was done with it and the engine had it, ps.
    pub ready: u64,
    /// What it answers.
    pub trail: Option<Box<Trail>>,
}

/// The way to the instant at which an answer was sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Trail {
    /// Token of what is answered, given by the agent that waits for the answer.
    pub token: u64,
    /// When that was sent, ps.
    pub created: u64,
    /// When it was handed to who answers, ps.
    pub at: u64,
    /// Where the time between the two went.
    pub parts: Parts,
    /// Octets that were asked with, padding not counted; of what an engine reads or writes, those that it
    /// moved and that do not come back with the answer.
    pub octets: u32,
}

/// Eight octets of what a tag stands for.
pub(crate) fn word(tag: u64, position: u64) -> [u8; 8] {
    let mixed = (tag ^ position).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    if position == 0 { tag.to_be_bytes() } else { (mixed ^ mixed >> 29).to_be_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole_and_keep_the_label() {
        let label = Label { flow: 3, sequence: 7, octets: 10, ..Label::default() };
        for whole in [Data::length(10), Data::bytes((0..10).collect())] {
            let whole = Data { label: label.clone(), ..whole };
            let mut again = Data::default();
            for start in [8, 0] {
                again.write(start, &whole.part(start, 8));
            }
            assert_eq!(again.octets(), 16, "double-words are padded");
            assert_eq!(again.without_padding(), whole);
        }
    }
}
