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
use session_management::attribute::Attributes;
use session_management::register::{self, Contact, EF_ID, Participation, offset};
use std::collections::{BTreeMap, VecDeque};

/// Hop count of accesses to endpoints.
const TO_ENDPOINT: u8 = 0xFF;

/// A node that is being read.
#[derive(Debug)]
struct Walk {
    peer: u16,
    list: Discovery,
    /// Words of its block, by byte offset in it.
    words: BTreeMap<u32, u32>,
    asked: Option<(Token, Access)>,
    /// A register of the block cannot be read.
    failed: bool,
    /// Registers of a node without the block, by their offsets.
    outside: BTreeMap<u32, u32>,
}

/// Nodes whose registers are read, or will be.
#[derive(Debug, Default)]
pub(super) struct Reader {
    waiting: VecDeque<u16>,
    walk: Option<Walk>,
}

/// The offset of a block that is read next: its fixed registers, then as many attributes as it has.
fn next_word(words: &BTreeMap<u32, u32>) -> Option<u32> {
    let fixed = [offset::WRITE_ENABLE, offset::ADVERTISEMENT, offset::ATTRIBUTE_RANGE];
    if let Some(missing) = fixed.into_iter().find(|at| !words.contains_key(at)) {
        return Some(missing);
    }
    let range = words[&offset::ATTRIBUTE_RANGE];
    let (max, count) = ((range >> 16) as u8, range as u8);
    let count = if count == register::NOT_INITIALISED { 0 } else { count.min(max) };
    let mut attributes = (0..2 * u32::from(count)).map(|word| offset::ATTRIBUTES + 4 * word);
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
        let (app, reads_tags) = (self.speaker(cx), self.reads_tags());
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
            let block = walk.list.find(EF_ID).map(u32::from);
            let access = match walk.list.end() {
                None => walk.list.poll_transmit(),
                Some(_) if walk.failed => None,
                Some(_) => match block {
                    Some(block) => next_word(&walk.words).map(|at| block + at),
                    None if reads_tags => tag::next(&walk.outside),
                    None => None,
                }
                .and_then(|at| Access::register(at).ok()),
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
        let (participation, attributes) = match walk.list.find(EF_ID) {
            Some(_) if !walk.failed => {
                let word = |at| walk.words.get(&at).copied().unwrap_or(0);
                let reading = register::read_block(word, config.mode);
                (reading.participation, reading.attributes)
            }
            None if !walk.failed && self.reads_tags() => {
                (tag::says(&walk.outside, config.cos), Attributes::default())
            }
            // What cannot be read says nothing.
            _ => (Participation::None, Attributes::default()),
        };
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

    /// What became of a register access. False: it was none.
    pub(super) fn register_outcome(&mut self, cx: &mut Cx<'_>, token: Token, outcome: &Outcome) -> bool {
        let Some(walk) = &mut self.node.reader.walk else { return false };
        let Some((_, access)) = walk.asked.take_if(|asked| asked.0 == token) else { return false };
        let word = match outcome {
            Outcome::Answer(answer) => {
                cx.round_trip(answer);
                let bytes = answer.payload.as_bytes().and_then(|bytes| bytes.first_chunk::<8>());
                bytes.map(|word| access.pick(*word))
            }
            Outcome::Sent | Outcome::Failed => None,
        };
        match (walk.list.end(), word) {
            (None, Some(word)) => walk.list.handle_read(word),
            (None, None) => walk.list.handle_failure(),
            (Some(_), Some(word)) => match walk.list.find(EF_ID) {
                Some(block) => {
                    walk.words.insert(access.offset() - u32::from(block), word);
                }
                None => {
                    walk.outside.insert(access.offset(), word);
                }
            },
            (Some(_), None) => walk.failed = true,
        }
        self.read_on(cx);
        true
    }
}
