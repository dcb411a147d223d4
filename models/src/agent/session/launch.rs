//! What becomes of a message between protocol and host.

use super::application::{Action, Part, Seat};
use super::names;
use super::{command, is_data};
use crate::agent::courier;
use crate::agent::data::Data;
use crate::agent::protocol::{Conveyance, Cx, Send};
use crate::config::{Fate, MessageFault, SessionConfig};
use crate::observe::probe::SignalKind;
use logical::engine::message;
use logical::wire::message::SegmentSize;
use session_management::endpoint::{Order, StreamRef, Transmit};
use session_management::message::{Class, Command, Message as Parsed, Mode};
use session_management::register::Contact;
use session_management::status::Flow;
use sim_core::Time;
use std::collections::{BTreeMap, VecDeque};

/// A message that the endpoint has handed out.
#[derive(Clone, Debug)]
pub(super) struct Message {
    transmit: Transmit,
    /// PDUs of DATA3, and DATA, DATA1, DATA2.
    data: Option<Part>,
    /// It begins with no command: a PDU on a stream of type 9 that takes no management messages.
    headless: bool,
    /// When the endpoint handed it out, fabric time.
    since: u64,
    /// The scenario has it sent twice.
    doubled: bool,
}

impl Message {
    /// What of a PDU it is, if it is data.
    pub(super) const fn part(&self) -> Option<Part> {
        self.data
    }

    /// Whether a PDU is lost with it that nobody misses: it is all of one, alone, and does not leave twice.
    fn is_pdu(&self) -> bool {
        let whole = !matches!(self.transmit.order, Order::Part { .. });
        self.data.is_some() && whole && !self.doubled
    }
}

/// PDUs of a program that are remembered, the last ones: many times what may be under way.
const MESSAGES: usize = 1 << 12;

/// What a node knows about its messages before they leave.
#[derive(Debug)]
pub(super) struct Launcher {
    faults: Vec<MessageFault>,
    counts: BTreeMap<(u16, u8), u32>,
    /// Messages that wait for the script, with their words.
    held: Option<Vec<(String, Message)>>,
    /// PDUs of which something has left so far.
    pdus: u32,
    /// The PDU of which a stream has handed out a part, and not all.
    begun: BTreeMap<StreamRef, Part>,
    /// Of a program: the messages that PDUs are parts of, by the number of the PDU; the last ones.
    messages: VecDeque<(u32, u64)>,
    segment: SegmentSize,
    priority: u8,
}

impl Launcher {
    pub(super) fn new(config: &SessionConfig) -> Self {
        let segment = SegmentSize::ALL.into_iter().find(|size| size.octets() == usize::from(config.segment));
        Launcher {
            faults: config.faults.clone(),
            counts: BTreeMap::new(),
            held: config.script.is_some().then(Vec::new),
            pdus: 0,
            begun: BTreeMap::new(),
            messages: VecDeque::new(),
            segment: segment.expect("the compiler allows segment sizes only"),
            priority: config.priority,
        }
    }

    /// Segments of a message of so many octets: those of the node, or longer ones if it has too many of them.
    fn segment(&self, mailbox: u8, octets: usize) -> SegmentSize {
        let most = if mailbox > 3 { 1 } else { 16 };
        let fits = |size: &SegmentSize| *size >= self.segment && most * size.octets() >= octets;
        SegmentSize::ALL.into_iter().find(fits).unwrap_or(self.segment)
    }

    /// The first message to a peer with these words that waits for the script.
    pub(super) fn release(&mut self, peer: u16, words: &str) -> Option<Message> {
        let held = self.held.as_mut()?;
        let at = held.iter().position(|(known, held)| known == words && held.transmit.destination == peer)?;
        Some(held.remove(at).1)
    }

    /// Data messages that wait for the script.
    pub(super) fn held_data(&self) -> impl Iterator<Item = Part> + '_ {
        self.held.iter().flatten().filter_map(|(_, message)| message.data)
    }

    /// Its node restarts: what streams had begun they have not.
    pub(super) fn forget(&mut self) {
        self.begun.clear();
    }

    /// PDUs of which a stream has handed out a part, and not all.
    pub(super) fn begun(&self) -> impl Iterator<Item = Part> + '_ {
        self.begun.values().copied()
    }

    /// The message of a program that a PDU is a part of.
    pub(super) fn message_of(&self, pdu: u32) -> Option<u64> {
        let at = self.messages.binary_search_by_key(&pdu, |&(pdu, _)| pdu).ok()?;
        Some(self.messages[at].1)
    }

    /// Faults of messages that never left.
    pub(super) fn never_struck(&self) -> u64 {
        let left = |fault: &MessageFault| self.counts.get(&(fault.to, fault.command.code())).copied();
        self.faults.iter().filter(|fault| left(fault).unwrap_or(0) < fault.nth).count() as u64
    }

    /// Makes such a message wait twice.
    pub(super) fn duplicate(&mut self, peer: u16, words: &str) -> bool {
        let Some(held) = &mut self.held else { return false };
        let found = held.iter_mut().find(|(known, held)| known == words && held.transmit.destination == peer);
        let Some((_, message)) = found else { return false };
        message.doubled = true;
        let copy = message.clone();
        held.push((words.to_owned(), copy));
        true
    }

    /// What the scenario wants done with a message. All data is DATA to it: in a stream of type 9 it has no
    /// command, and with other headers another one.
    fn fate(&mut self, peer: u16, data: bool, octets: &[u8]) -> Option<Fate> {
        if self.faults.is_empty() {
            return None;
        }
        let code = if data { Command::Data.code() } else { *octets.first()? };
        let count = self.counts.entry((peer, code)).or_default();
        *count += 1;
        let count = *count;
        let hit =
            |fault: &&MessageFault| fault.to == peer && fault.command.code() == code && fault.nth == count;
        self.faults.iter().find(hit).map(|fault| fault.fate)
    }
}

impl Seat<'_> {
    /// Counts a message by its command. Data may have none.
    fn count_message(&mut self, transmit: &Transmit) {
        let stats = &mut self.app.stats;
        stats.messages += 1;
        if transmit.stream.is_some() {
            return;
        }
        match command(&transmit.octets) {
            Some(Command::Open) => stats.opens += 1,
            Some(Command::Accept) => stats.accepts += 1,
            Some(Command::Refuse) => stats.refuses += 1,
            Some(Command::Close) => stats.closes += 1,
            _ => {}
        }
    }

    /// A message leaves the endpoint.
    pub(super) fn launch(&mut self, cx: &mut Cx<'_>, transmit: Transmit) {
        self.count_message(&transmit);
        if self.app.config.mute {
            return;
        }
        let octets = &transmit.octets;
        let entry = self.app.config.directory.get(&transmit.destination);
        let managed = match transmit.conveyance {
            Contact::Stream { stream, cos } => entry.is_some_and(|entry| entry.manages_on(stream, cos)),
            Contact::Mailbox(_) => false,
        };
        // What goes to a group goes where every node takes management messages.
        let managed = managed || self.app.config.is_group(transmit.destination);
        let headless = matches!(transmit.conveyance, Contact::Stream { .. }) && !managed;
        let command = command(octets).filter(|_| !headless);
        let data = headless || is_data(command);
        if command == Some(Command::FlowControl)
            && let Ok(Parsed::FlowControl(message)) = Parsed::parse(octets, Mode::NonValidation)
        {
            match message.flow {
                Flow::Xoff => self.app.stats.xoffs += 1,
                Flow::Xon => self.app.stats.xons += 1,
                Flow::Rts => self.app.stats.rts += 1,
            }
        }
        if data {
            self.app.stats.data_messages += 1;
            self.app.stats.data_until = Time(cx.fabric_now);
        }
        let part = data.then(|| self.part(cx.fabric_now, &transmit, headless));
        let mut message = Message { transmit, data: part, headless, since: cx.fabric_now, doubled: false };
        if self.app.launcher.held.is_some() {
            let words = words(&message);
            self.app.launcher.held.get_or_insert_default().push((words, message));
            return;
        }
        match self.app.launcher.fate(message.transmit.destination, data, &message.transmit.octets) {
            None => self.leave(cx, message),
            Some(Fate::Lose) => {
                self.app.stats.injected[0] += 1;
                self.lost(cx, &message);
            }
            Some(Fate::Duplicate) => {
                self.app.stats.injected[1] += 1;
                message.doubled = true;
                self.leave(cx, message.clone());
                self.leave(cx, message);
            }
            Some(Fate::Delay(time)) => {
                self.app.stats.injected[2] += 1;
                self.app.plan(cx.fabric_now + time.0, Action::Leave(Box::new(message)));
            }
        }
    }

    /// Octets that the scenario wants to be sent leave as a management message.
    pub(super) fn inject(&mut self, cx: &mut Cx<'_>, number: usize) {
        let (_, destination, octets) = self.app.config.injections[number].clone();
        let own = self.app.config.directory[&self.app.config.node].contact;
        let conveyance = self.app.config.directory[&destination].contact_for(own);
        let transmit = Transmit {
            destination,
            conveyance,
            class: Class::High,
            order: Order::Free,
            stream: None,
            octets,
        };
        let since = cx.fabric_now;
        self.leave(cx, Message { transmit, data: None, headless: false, since, doubled: false });
    }

    /// A message is handed to the host.
    pub(super) fn leave(&mut self, cx: &mut Cx<'_>, message: Message) {
        let words = self.app.config.charted.then(|| words(&message));
        let Message { transmit, data, since, .. } = message;
        let low = self.app.launcher.priority;
        let (conveyance, priority) = match transmit.conveyance {
            Contact::Mailbox(mailbox) => {
                let segment = self.app.launcher.segment(mailbox, transmit.octets.len());
                let conveyance = Conveyance::Message { mailbox, segment, order: order(transmit.order) };
                (conveyance, low + u8::from(transmit.class == Class::High))
            }
            // The PDUs of a stream have one priority.
            Contact::Stream { stream, cos } => (Conveyance::Stream { cos, stream_id: stream }, low),
        };
        let to = u32::from(transmit.destination);
        if data.is_none() {
            let stats = &mut self.app.stats;
            stats.management_octets += transmit.octets.len() as u64;
            stats.managed[usize::from(matches!(transmit.conveyance, Contact::Stream { .. }))] += 1;
        }
        let mut payload = Data::bytes(transmit.octets);
        if let Some(part) = data {
            payload.label.pdu = part.pdu;
            payload.label.asked = part.sent.map_or(cx.fabric_now, |sent| sent.0);
        }
        let token = cx.send(Send { to, priority, conveyance, payload });
        if let Some(part) = data {
            self.app.under_way.insert(token, part);
        }
        if let Some(words) = words {
            let kind = SignalKind::Sent { token, to: transmit.destination, since: Time(since), words };
            cx.tell(kind);
        }
    }

    /// What of its PDU a message of data is. `headless`: it has no command of its own.
    fn part(&mut self, now: u64, transmit: &Transmit, headless: bool) -> Part {
        let ends = !matches!(transmit.order, Order::Part { last: false, .. });
        let octets = &transmit.octets;
        let beginning = match Parsed::parse(octets, Mode::NonValidation) {
            _ if headless => Some(&octets[..]),
            // Offset octets stand before the payload, and nothing behind it.
            Ok(Parsed::Data(data)) if data.start => {
                octets.len().checked_sub(data.length as usize).map(|at| &octets[at..])
            }
            _ => None,
        };
        let sent = beginning.and_then(|pdu| self.app.sent_at(pdu));
        let message = beginning.filter(|_| self.app.courier.is_some()).and_then(courier::message);
        let launcher = &mut self.app.launcher;
        let known = transmit.stream.and_then(|stream| launcher.begun.remove(&stream));
        let part = match known.filter(|_| beginning.is_none()) {
            Some(known) => Part { ends, ..known },
            None => {
                launcher.pdus += 1;
                if let Some(sent) = sent {
                    self.app.stats.begins(sent, Time(now));
                }
                Part { ends, sent, pdu: launcher.pdus }
            }
        };
        if let Some(stream) = transmit.stream.filter(|_| !ends) {
            launcher.begun.insert(stream, part);
        }
        if let Some(name) = message {
            if launcher.messages.len() == MESSAGES {
                launcher.messages.pop_front();
            }
            launcher.messages.push_back((part.pdu, name));
        }
        part
    }

    /// A message never leaves, and nobody is told. Of one PDU of a group nobody knows how many would have got
    /// it.
    pub(super) fn lost(&mut self, cx: &mut Cx<'_>, message: &Message) {
        let group = self.app.config.is_group(message.transmit.destination);
        self.app.stats.pdus_failed += u64::from(message.is_pdu() && !group);
        if self.app.config.charted {
            let kind = SignalKind::Lost { to: message.transmit.destination, words: words(message) };
            cx.tell_at(Time(message.since), kind);
        }
    }
}

/// What the engine of messages has to know: a group for each COS.
fn order(order: Order) -> message::Order {
    match order {
        Order::Free => message::Order::Free,
        Order::Whole { cos } => message::Order::Whole { group: cos.into() },
        Order::Part { cos, first, last } => message::Order::Part { group: cos.into(), first, last },
    }
}

fn words(message: &Message) -> String {
    match (message.headless, message.transmit.conveyance) {
        (true, Contact::Stream { stream, .. }) => names::data3_words(stream),
        _ => names::words(&message.transmit.octets),
    }
}
