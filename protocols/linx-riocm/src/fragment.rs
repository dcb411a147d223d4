//! Cutting messages into data packets, and putting them together again (10.1.2).
//!
//! For a negotiated MTU of M octets, which counts the whole frame, the capacities are M - 28 (SINGLE,
//! FRAG_START), M - 16 (FRAG, PATCH) and M - 32 (PATCH_START).
//!
//! *Patch fragmentation* lets a sender cut its buffer into chunks of M octets and write each header over the
//! first octets of its chunk: 32 of the first, 16 of every other. PATCH packets bring these *holes*
//! afterwards, in order, and then the *tail*: a last chunk of 16 octets or less, which is not worth a FRAG.

use crate::wire::{Data, DataKind, FRAG_OCTETS, Message, PATCH_START_OCTETS, START_OCTETS};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// How messages are cut that do not fit a SINGLE.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Fragmentation {
    /// FRAG_START and as many FRAG as needed.
    #[default]
    Simple,
    /// PATCH_START, FRAG and PATCH.
    Patch,
}

/// Calls `packet` with kind and payload of each data packet of a message, in the order of sending.
///
/// `mtu` is at least 64. A message whose patch counts do not fit their 16 bits is cut in the simple way.
///
/// # Panics
/// If `octets` is longer than `u32::MAX`, or `mtu` shorter than 48.
pub fn cut(
    src: u32,
    dst: u32,
    octets: &[u8],
    mtu: u16,
    how: Fragmentation,
    mut packet: impl FnMut(DataKind, &[u8]),
) {
    let mtu = usize::from(mtu);
    assert!(mtu >= 48, "an MTU holds a PATCH with the first hole");
    let payl_size = u32::try_from(octets.len()).expect("a message has at most 2^32 - 1 octets");
    let message = Message { src, dst, payl_size };
    let Some((first, rest)) =
        octets.split_at_checked(mtu - START_OCTETS).filter(|(_, rest)| !rest.is_empty())
    else {
        return packet(DataKind::Single(message), octets);
    };
    if how == Fragmentation::Patch && octets.len() > PATCH_START_OCTETS {
        let (frags, patches) = patch_plan(octets, mtu);
        let counts = (u16::try_from(frags.len()), u16::try_from(patches.len()));
        if let (Ok(count_frag), Ok(count_patch)) = counts {
            let head = &octets[PATCH_START_OCTETS..mtu.min(octets.len())];
            packet(DataKind::PatchStart { message, count_frag, count_patch }, head);
            frags.iter().for_each(|chunk| packet(DataKind::Frag, chunk));
            patches.iter().for_each(|patch| packet(DataKind::Patch, patch));
            return;
        }
    }
    packet(DataKind::FragStart(message), first);
    rest.chunks(mtu - FRAG_OCTETS).for_each(|chunk| packet(DataKind::Frag, chunk));
}

/// Octets that a receiver has to move to make one piece of a message whose frames it took in one behind the
/// other, `mtu` octets apart: all of them in simple fragmentation, the patches alone in patch fragmentation.
/// `mtu` is at least 64.
#[must_use]
pub const fn moved_octets(octets: usize, mtu: u16, how: Fragmentation) -> usize {
    let mtu = mtu as usize;
    if octets <= mtu - START_OCTETS {
        return 0;
    }
    match how {
        Fragmentation::Patch if octets > PATCH_START_OCTETS => {
            // A last chunk that is not worth a FRAG is moved as the tail.
            let chunks = octets.div_ceil(mtu) - 1;
            let last = if chunks == 0 { octets } else { octets - chunks * mtu };
            let tail = if chunks > 0 && last <= FRAG_OCTETS { last } else { 0 };
            let holes = if tail > 0 { chunks - 1 } else { chunks };
            PATCH_START_OCTETS + FRAG_OCTETS * holes + tail
        }
        _ => octets,
    }
}

/// Payloads of FRAG and of PATCH. No hole and no tail is split between two PATCH.
fn patch_plan(octets: &[u8], mtu: usize) -> (Vec<&[u8]>, Vec<Vec<u8>>) {
    let mut frags = Vec::new();
    let mut pieces = Vec::from([&octets[..PATCH_START_OCTETS]]);
    for chunk in octets.chunks(mtu).skip(1) {
        if let Some((hole, rest)) = chunk.split_at_checked(FRAG_OCTETS).filter(|(_, rest)| !rest.is_empty()) {
            pieces.push(hole);
            frags.push(rest);
        } else {
            pieces.push(chunk);
        }
    }
    let mut patches: Vec<Vec<u8>> = Vec::new();
    for piece in pieces {
        match patches.last_mut() {
            Some(patch) if patch.len() + piece.len() <= mtu - FRAG_OCTETS => patch.extend_from_slice(piece),
            _ => patches.push(piece.to_vec()),
        }
    }
    (frags, patches)
}

/// Why a data packet, taken in order, resets its connection.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// FRAG_START or PATCH_START for a msgid that is still open.
    Open,
    /// FRAG or PATCH for a msgid that is not open, or PATCH for one of simple fragmentation.
    NotOpen,
    /// FRAG without payload in simple fragmentation.
    EmptyFrag,
    /// More FRAG than announced.
    CountFrag,
    /// PATCH before all FRAG.
    EarlyPatch,
    /// The octets do not add up to `payl_size`, or the patches are shorter than the holes.
    Total,
    /// More open messages than configured. Not the sender's fault.
    TooManyOpen,
    /// A message longer than configured. Not the sender's fault.
    TooLong,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Open => "msgid: must not be open at a start",
            Self::NotOpen => "msgid: must be open for this kind of fragment",
            Self::EmptyFrag => "payload: at least 1 octet in RIO_FRAG of simple fragmentation",
            Self::CountFrag => "count_frag: more RIO_FRAG than announced",
            Self::EarlyPatch => "count_frag: RIO_PATCH before all RIO_FRAG",
            Self::Total => "payl_size: the fragments do not add up to it",
            Self::TooManyOpen => "msgid: more open messages than configured",
            Self::TooLong => "payl_size: longer than configured",
        })
    }
}

impl core::error::Error for Error {}

/// A whole message.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Delivery {
    /// Link address of the sending endpoint.
    pub src: u32,
    /// Link address of the receiving endpoint.
    pub dst: u32,
    /// The message.
    pub octets: Vec<u8>,
    /// Octets that whoever takes frames in one behind the other had to move, see [`moved_octets`].
    pub moved: usize,
}

/// What has come of an open message. Grows with what arrives, never ahead of it.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Open {
    message: Message,
    /// Payloads of the start and of all FRAG.
    octets: Vec<u8>,
    patch: Option<Patch>,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Patch {
    count_frag: u16,
    /// PATCH still to come.
    missing: u16,
    /// Where the payload of the start and of each FRAG ends in `octets`.
    ends: Vec<usize>,
    stream: Vec<u8>,
}

/// Bounds on what a peer may have open.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Limits {
    /// Messages, 1..=256. Default 32.
    pub open: usize,
    /// Octets of a message. Default 16 MiB.
    pub octets: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open: 32, octets: 16 << 20 }
    }
}

/// Reassembly of one connection. Takes packets in the order of their sequence numbers.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Reassembly {
    open: BTreeMap<u8, Open>,
}

impl Reassembly {
    /// Whether no message is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes the next packet; gives the message that it completes.
    ///
    /// # Errors
    /// [`Error`]; the connection is to be reset, and this with it.
    pub fn handle(&mut self, data: &Data<'_>, limits: Limits) -> Result<Option<Delivery>, Error> {
        match data.kind {
            DataKind::Single(message) => {
                if message.payl_size > limits.octets {
                    return Err(Error::TooLong);
                }
                let octets = data.payload.to_vec();
                Ok(Some(Delivery { src: message.src, dst: message.dst, octets, moved: 0 }))
            }
            DataKind::FragStart(message) => self.start(data, message, None, limits),
            DataKind::PatchStart { message, count_frag, count_patch } => {
                let ends = Vec::from([data.payload.len()]);
                let patch = Patch { count_frag, missing: count_patch, ends, stream: Vec::new() };
                self.start(data, message, Some(patch), limits)
            }
            DataKind::Frag => {
                let open = self.open.get_mut(&data.msgid).ok_or(Error::NotOpen)?;
                open.octets.extend_from_slice(data.payload);
                let total = open.message.payl_size as usize;
                let complete = match &mut open.patch {
                    None if data.payload.is_empty() => return Err(Error::EmptyFrag),
                    None => open.octets.len() == total,
                    Some(patch) => {
                        // The first end is that of the start.
                        if patch.ends.len() > usize::from(patch.count_frag) {
                            return Err(Error::CountFrag);
                        }
                        patch.ends.push(open.octets.len());
                        false
                    }
                };
                if open.octets.len() > total {
                    return Err(Error::Total);
                }
                Ok(if complete { self.close(data.msgid, |open| open.octets) } else { None })
            }
            DataKind::Patch => {
                let open = self.open.get_mut(&data.msgid).ok_or(Error::NotOpen)?;
                let patch = open.patch.as_mut().ok_or(Error::NotOpen)?;
                if patch.ends.len() <= usize::from(patch.count_frag) {
                    return Err(Error::EarlyPatch);
                }
                patch.stream.extend_from_slice(data.payload);
                let found = open.octets.len() + patch.stream.len();
                let total = open.message.payl_size as usize;
                patch.missing -= 1;
                if found > total {
                    return Err(Error::Total);
                }
                if patch.missing > 0 {
                    return Ok(None);
                }
                let holes = PATCH_START_OCTETS + FRAG_OCTETS * usize::from(patch.count_frag);
                if found < total || patch.stream.len() < holes {
                    return Err(Error::Total);
                }
                Ok(self.close(data.msgid, assemble))
            }
        }
    }

    fn start(
        &mut self,
        data: &Data<'_>,
        message: Message,
        patch: Option<Patch>,
        limits: Limits,
    ) -> Result<Option<Delivery>, Error> {
        if self.open.contains_key(&data.msgid) {
            return Err(Error::Open);
        }
        if message.payl_size > limits.octets {
            return Err(Error::TooLong);
        }
        if self.open.len() >= limits.open {
            return Err(Error::TooManyOpen);
        }
        self.open.insert(data.msgid, Open { message, octets: data.payload.to_vec(), patch });
        Ok(None)
    }

    fn close(&mut self, msgid: u8, octets: impl FnOnce(Open) -> Vec<u8>) -> Option<Delivery> {
        let open = self.open.remove(&msgid)?;
        let Message { src, dst, .. } = open.message;
        let moved = open.patch.as_ref().map_or(open.octets.len(), |patch| patch.stream.len());
        Some(Delivery { src, dst, octets: octets(open), moved })
    }
}

/// Hole, payload, hole, payload ... and what is left of the patches.
fn assemble(open: Open) -> Vec<u8> {
    let Some(patch) = open.patch else { return open.octets };
    let mut whole = Vec::with_capacity(open.octets.len() + patch.stream.len());
    let (mut stream, mut begin, mut hole) = (patch.stream.as_slice(), 0, PATCH_START_OCTETS);
    for end in patch.ends {
        let (displaced, rest) = stream.split_at(hole);
        whole.extend_from_slice(displaced);
        whole.extend_from_slice(&open.octets[begin..end]);
        (stream, begin, hole) = (rest, end, FRAG_OCTETS);
    }
    whole.extend_from_slice(stream);
    whole
}
