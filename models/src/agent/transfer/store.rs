//! Memory of an end: stretches for Transfers, octet for octet.
//!
//! A Transfer is named by a *tag*, the node that its octets come from and a number of that node's. A source
//! stretch has the tag in its first 8 octets, and after it words that follow from it and their position. So
//! the destination knows from the octets alone what they should be.

use crate::agent::data::word;
use scheduled_transfer::{Memory, Span};
use std::collections::BTreeMap;

/// Octets of a tag.
pub(super) const TAG_OCTETS: u64 = 8;

/// One stretch.
#[derive(Debug)]
enum Stretch {
    /// What a tag stands for.
    Source { tag: u64, octets: u64 },
    /// What came: the octets, and which of them have.
    Destination(Vec<u8>, Arrived),
}

/// Which octets of a stretch have arrived: from and to, in order, no two of which touch.
#[derive(Debug, Default)]
struct Arrived(Vec<(u64, u64)>);

impl Arrived {
    /// Those of `from..to` have.
    fn add(&mut self, from: u64, to: u64) {
        let first = self.0.partition_point(|part| part.1 < from);
        let beyond = self.0.partition_point(|part| part.0 <= to);
        if first == beyond {
            return self.0.insert(first, (from, to));
        }
        let joined = (from.min(self.0[first].0), to.max(self.0[beyond - 1].1));
        self.0[first] = joined;
        self.0.drain(first + 1..beyond);
    }

    /// How many of `from..to` have.
    fn within(&self, from: u64, to: u64) -> u64 {
        self.0.iter().map(|part| part.1.min(to).saturating_sub(part.0.max(from))).sum()
    }
}

impl Stretch {
    fn octets(&self) -> u64 {
        match self {
            Stretch::Source { octets, .. } => *octets,
            Stretch::Destination(octets, _) => octets.len() as u64,
        }
    }
}

/// All stretches, by address.
#[derive(Debug)]
pub(super) struct Store {
    stretches: BTreeMap<u64, Stretch>,
    /// Where the next begins. Addresses are not used again.
    next: u64,
    align: u64,
    /// Octets that came where none were expected.
    pub stray: u64,
}

impl Store {
    /// Stretches begin at multiples of `align`.
    pub fn new(align: u64) -> Self {
        Store { stretches: BTreeMap::new(), next: align, align, stray: 0 }
    }

    /// A stretch that begins `offset` octets behind such a multiple.
    fn add(&mut self, stretch: Stretch, offset: u64) -> Span {
        let (address, octets) = (self.next + offset, stretch.octets());
        // A gap at the end, too: what goes beyond meets nobody.
        self.next += (offset + octets + 1).next_multiple_of(self.align);
        self.stretches.insert(address, stretch);
        Span::new(address, octets)
    }

    /// The octets that `tag` stands for.
    pub fn source(&mut self, tag: u64, octets: u64) -> Span {
        self.add(Stretch::Source { tag, octets }, 0)
    }

    /// Room for octets to come.
    pub fn destination(&mut self, octets: u64) -> Span {
        self.destination_at(0, octets)
    }

    /// Room for octets to come, from `offset` octets behind the beginning of a buffer on.
    pub fn destination_at(&mut self, offset: u64, octets: u64) -> Span {
        self.add(Stretch::Destination(vec![0; octets as usize], Arrived::default()), offset)
    }

    /// Gives a stretch back.
    pub fn free(&mut self, span: Span) {
        self.stretches.remove(&span.address);
    }

    /// Octets of all stretches.
    pub fn octets(&self) -> u64 {
        self.stretches.values().map(Stretch::octets).sum()
    }

    /// Octets of `span` that have come, each counted once.
    pub fn arrived(&self, span: Span) -> u64 {
        match self.find(span.address, span.bytes) {
            Some((at, Stretch::Destination(_, arrived))) => arrived.within(at, at + span.bytes),
            _ => 0,
        }
    }

    /// The tag of what has come whole, if every octet is right.
    pub fn verify(&self, span: Span) -> Option<u64> {
        let (at, Stretch::Destination(octets, _)) = self.find(span.address, span.bytes)? else { return None };
        let octets = &octets[at as usize..(at + span.bytes) as usize];
        let tag = u64::from_be_bytes(*octets.first_chunk()?);
        let right = octets.chunks(8).zip(0..).all(|(part, at)| part == &word(tag, at)[..part.len()]);
        right.then_some(tag)
    }

    /// The octets of `span`, which is within a stretch.
    pub fn octets_of(&self, span: Span) -> Vec<u8> {
        let mut octets = Vec::with_capacity(span.bytes as usize);
        self.read(span.address, span.bytes as usize, &mut octets);
        octets
    }

    /// The eight octets at an address.
    pub fn word_at(&self, address: u64) -> [u8; 8] {
        self.octets_of(Span::new(address, 8)).first_chunk().copied().unwrap_or_default()
    }

    fn find(&self, address: u64, octets: u64) -> Option<(u64, &Stretch)> {
        let (&start, stretch) = self.stretches.range(..=address).next_back()?;
        let at = address - start;
        (at + octets <= stretch.octets()).then_some((at, stretch))
    }
}

impl Memory for Store {
    fn contains(&self, address: u64, bytes: u64) -> bool {
        self.find(address, bytes).is_some()
    }

    fn read(&self, address: u64, bytes: usize, out: &mut Vec<u8>) {
        match self.find(address, bytes as u64) {
            Some((at, Stretch::Source { tag, .. })) => {
                let (mut at, end) = (at, at + bytes as u64);
                while at < end {
                    let octets = word(*tag, at / 8);
                    let from = (at % 8) as usize;
                    let until = (from + (end - at) as usize).min(8);
                    out.extend_from_slice(&octets[from..until]);
                    at += (until - from) as u64;
                }
            }
            Some((at, Stretch::Destination(octets, _))) => {
                out.extend_from_slice(&octets[at as usize..at as usize + bytes]);
            }
            None => unreachable!("the protocol reads what exists"),
        }
    }

    fn write(&mut self, address: u64, octets: &[u8]) {
        let found = self.stretches.range_mut(..=address).next_back();
        if let Some((&start, Stretch::Destination(room, arrived))) = found {
            let at = (address - start) as usize;
            if let Some(place) = room.get_mut(at..at + octets.len()) {
                place.copy_from_slice(octets);
                arrived.add(at as u64, (at + octets.len()) as u64);
                return;
            }
        }
        self.stray += octets.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a set of octets: each counts once, in whatever order and however often it comes.
    #[test]
    fn octets_that_come_again_count_once() {
        let mut state = 12_345_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let (mut arrived, mut set) = (Arrived::default(), std::collections::BTreeSet::new());
            for _ in 0..30 {
                let from = draw(100);
                let to = from + 1 + draw(12);
                arrived.add(from, to);
                set.extend(from..to);
                let (low, high) = (draw(60), 60 + draw(60));
                assert_eq!(arrived.within(low, high), set.range(low..high).count() as u64);
                assert!(arrived.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", arrived.0);
            }
        }
    }

    /// Two stretches with an offset begin where they should, and do not touch.
    #[test]
    fn stretches_begin_behind_the_beginning_of_a_buffer() {
        let mut store = Store::new(4_096);
        let (a, b) = (store.destination_at(0x600, 26_000), store.destination_at(4_095, 1));
        assert_eq!((a.address % 4_096, b.address % 4_096), (0x600, 4_095));
        assert!(a.address + a.bytes < b.address - 4_095);
        assert!(store.contains(a.address, 26_000) && !store.contains(a.address - 1, 1));
        assert!(store.contains(b.address, 1) && !store.contains(b.address, 2));
    }

    #[test]
    fn octets_are_verified_one_by_one() {
        let mut store = Store::new(256);
        let from = store.source(7 << 32 | 3, 1001);
        let to = store.destination(1001);
        assert_eq!((from.address % 256, to.address % 256), (0, 0));
        let mut octets = Vec::new();
        for (at, bytes) in [(0, 13), (13, 1), (14, 300), (314, 687)] {
            store.read(from.address + at, bytes, &mut octets);
        }
        assert_eq!(octets.len(), 1001);
        store.write(to.address, &octets[..500]);
        assert_eq!(store.verify(to), None, "half is not whole");
        assert_eq!(store.arrived(to), 500);
        store.write(to.address + 500, &octets[500..]);
        assert_eq!(store.arrived(to), 1001);
        assert_eq!(store.verify(to), Some(7 << 32 | 3));
        for at in [0, 8, 500, 1000] {
            store.write(to.address + at, &[!octets[at as usize]]);
            assert_eq!(store.verify(to), None, "octet {at} is wrong");
            store.write(to.address + at, &[octets[at as usize]]);
        }
        assert_eq!((store.verify(to), store.stray), (Some(7 << 32 | 3), 0));
        store.write(to.address + 1000, &[0, 0]);
        assert!(!store.contains(to.address + 1000, 2));
        store.free(to);
        store.write(to.address, &[0]);
        assert_eq!(store.stray, 3, "beyond the end, and where nothing is any more");
    }
}
