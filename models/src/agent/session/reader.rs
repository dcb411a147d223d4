//! The registers of other nodes, read through the fabric: whether, and where, they take management messages.
//!
//! One node is read at a time, one register after the other; the requester of the endpoint repeats what gets
//! no answer in time.

use super::{Outcome, Session};
use crate::agent::data::Data;
use crate::agent::protocol::{Conveyance, Cx, Send, Token};
use crate::agent::tag;
use logical::register::discovery::Discovery;
use logical::wire::maintenance::Access;
use session_management::message::Mode;
use session_management::register::{self, Contact, EF_ID, Participation, Reading, offset};
use std::collections::{BTreeMap, VecDeque};

/// Hop count of accesses to endpoints.
const TO_ENDPOINT: u8 = 0xFF;

/// A node that is being read.
#[derive(Debug)]
struct Walk {
    peer: u16,
    list: Discovery,
    /// Words of its blocks, by their offsets.
    words: BTreeMap<u32, u32>,
    asked: Option<(Token, Access)>,
    /// A register of a block cannot be read.
    failed: bool,
    /// Registers of a node that are in no block, by their offsets.
    outside: BTreeMap<u32, u32>,
}

impl Walk {
    /// Where its blocks are: one for each conveyance.
    fn blocks(&self) -> impl Iterator<Item = u32> {
        let blocks = self.list.blocks().iter().filter(|block| block.id == EF_ID);
        blocks.map(|block| block.offset.into())
    }

    /// What a block says.
    fn reading(&self, block: u32, mode: Mode) -> Reading {
        register::read_block(|at| self.words.get(&(block + at)).copied().unwrap_or(0), mode)
    }

    /// The register that is read next, when the list of blocks is known: those of the blocks, then, if this
    /// says so, what stands in no block.
    fn next_register(&self, beside: impl Fn(&Walk) -> bool) -> Option<u32> {
        let of_block = self.blocks().find_map(|block| next_word(&self.words, block));
        of_block.or_else(|| beside(self).then(|| tag::next(&self.outside)).flatten())
    }
}

/// Nodes whose registers are read, or will be.
#[derive(Debug, Default)]
pub(super) struct Reader {
    waiting: VecDeque<u16>,
    walk: Option<Walk>,
}

/// The register of a block that is read next: its fixed registers, then as many attributes as it has.
fn next_word(words: &BTreeMap<u32, u32>, block: u32) -> Option<u32> {
    let fixed = [offset::WRITE_ENABLE, offset::ADVERTISEMENT, offset::ATTRIBUTE_RANGE].map(|at| block + at);
    if let Some(missing) = fixed.into_iter().find(|at| !words.contains_key(at)) {
        return Some(missing);
    }
    let range = words[&(block + offset::ATTRIBUTE_RANGE)];
    let (max, count) = ((range >> 16) as u8, range as u8);
    let count = if count == register::NOT_INITIALISED { 0 } else { count.min(max) };
    let mut attributes = (0..2 * u32::from(count)).map(|word| block + offset::ATTRIBUTES + 4 * word);
    attributes.find(|at| !words.contains_key(at))
}

impl Session {
    /// The registers of a node are wanted.
    pub(super) fn read_registers(&mut self, cx: &mut Cx<'_>, peer: u16) {
        self.node.reader.waiting.push_back(peer);
        self.read_on(cx);
    }

    /// Asks for the next register, unless one is being read.
    fn read_on(&mut self, cx: &mut Cx<'_>) {
        let app = self.speaker(cx);
        let (mode, own) = (self.apps[app].config.mode, self.own_contact());
        let (reads_tags, reads_beside) = (self.reads_tags(), self.reads_beside());
        // The Component Tag counts without a block, and for a conveyance that no block offers.
        let beside = |walk: &Walk| {
            let offers = |block| match walk.reading(block, mode).participation {
                Participation::Ready(contact) => contact.goes_like(own),
                other => matches!(other, Participation::Initialising(_)),
            };
            match walk.blocks().next() {
                None => reads_tags,
                Some(_) => reads_beside && !walk.blocks().any(offers),
            }
        };
        loop {
            if self.node.reader.walk.is_none() {
                let Some(peer) = self.node.reader.waiting.pop_front() else { return };
                let (list, words) = (Discovery::new(), BTreeMap::new());
                self.node.reader.walk =
                    Some(Walk { peer, list, words, asked: None, failed: false, outside: BTreeMap::new() });
            }
            let Some(walk) = &mut self.node.reader.walk else { return };
            if walk.asked.is_some() {
                return;
            }
            let access = match walk.list.end() {
                None => walk.list.poll_transmit(),
                Some(_) if walk.failed => None,
                Some(_) => walk.next_register(beside).and_then(|at| Access::register(at).ok()),
            };
            let Some(access) = access else {
                self.read_through(cx);
                continue;
            };
            let token = cx.send(Send {
                to: walk.peer.into(),
                priority: self.apps[app].config.priority,
                conveyance: Conveyance::Register { hop_count: TO_ENDPOINT, access, write: None },
                payload: Data::length(0),
            });
            walk.asked = Some((token, access));
            self.apps[app].stats.register_reads += 1;
            return;
        }
    }

    /// All that is needed is known: the endpoint is told.
    fn read_through(&mut self, cx: &mut Cx<'_>) {
        let Some(walk) = self.node.reader.walk.take() else { return };
        let app = self.speaker(cx);
        let config = &self.apps[app].config;
        // What cannot be read says nothing.
        let readings: Vec<Reading> = match walk.failed {
            true => Vec::new(),
            false => walk.blocks().map(|block| walk.reading(block, config.mode)).collect(),
        };
        let blocks: Vec<Participation> = readings.iter().map(|reading| reading.participation).collect();
        let tag = match walk.failed {
            true => Participation::None,
            false => tag::says(&walk.outside, &blocks, config.cos),
        };
        let participation = register::choose(self.own_contact(), &blocks, tag);
        // The attributes are those of the block that says it; a tag has none, and those of any block are its
        // own.
        let chosen = readings.iter().find(|reading| reading.participation == participation);
        let attributes = chosen.or(readings.first()).map(|reading| reading.attributes.clone());
        let attributes = attributes.unwrap_or_default();
        self.apps[app].note(cx, || {
            let says = match participation {
                Participation::Ready(Contact::Mailbox(mailbox)) => format!("mailbox {mailbox}"),
                Participation::Ready(Contact::Stream { stream, cos }) => {
                    format!("stream {stream:#06x}, COS {cos}")
                }
                Participation::Initialising(stage) => format!("initialisation stage {stage}"),
                Participation::None | Participation::Unusable => "takes no part".into(),
            };
            format!("has read registers of id {}: {says}", walk.peer)
        });
        self.node.endpoint.handle_participation(cx.now, walk.peer, participation, &attributes);
        if matches!(participation, Participation::Initialising(_)) {
            return;
        }
        for app in 0..self.apps.len() {
            let scanned = self.apps[app].scanning.remove(&walk.peer);
            if scanned && matches!(participation, Participation::Ready(_)) {
                self.seat(cx, app).create(cx, walk.peer);
            }
        }
        self.speak_for(cx, app);
    }

    /// Whether it looks at the Component Tags of nodes without a block.
    fn reads_tags(&self) -> bool {
        self.apps.iter().any(|app| app.config.reads_tags)
    }

    /// Whether it looks at the Component Tag of a node whose blocks do not offer its own conveyance.
    fn reads_beside(&self) -> bool {
        self.apps.iter().any(|app| app.config.reads_beside)
    }

    /// Where it takes management messages itself, in the first place.
    fn own_contact(&self) -> Contact {
        let config = &self.apps[0].config;
        config.directory[&config.node].contact
    }

    /// What became of a register access. False: it was none.
    pub(super) fn register_outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: &Outcome) -> bool {
        let Some(walk) = &mut self.node.reader.walk else { return false };
        let Some((_, access)) = walk.asked.take_if(|asked| asked.0 == token) else { return false };
        let word = match outcome {
            Outcome::Answer(answer) => {
                cx.round_trip(answer, answer.leg.payload);
                let bytes = answer.payload.as_bytes().and_then(|bytes| bytes.first_chunk::<8>());
                bytes.map(|word| access.pick(*word))
            }
            Outcome::Sent | Outcome::Failed => None,
        };
        match (walk.list.end(), word) {
            (None, Some(word)) => walk.list.handle_read(word),
            (None, None) => walk.list.handle_failure(),
            (Some(_), Some(word)) => {
                let in_block = walk.blocks().any(|block| next_word(&walk.words, block).is_some());
                let words = if in_block { &mut walk.words } else { &mut walk.outside };
                words.insert(access.offset(), word);
            }
            (Some(_), None) => walk.failed = true,
        }
        self.read_on(cx);
        true
    }
}
