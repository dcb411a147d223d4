//! Scheduled Transfer over RapidIO and over the media that it was made for: the protocol crate, the
//! application above it, and what goes wrong on purpose.
//!
//! The machine is [`scheduled_transfer::Endpoint`], the code that a product would link. An operation is an
//! 802.3/SNAP frame without check sequence, and that is one PDU of type 9: the Ethernet encapsulation of
//! session management (ProtoID 0x0102), DATA3. The stream is static, as if its conduit had been opened. On
//! other media it is a frame of theirs ([`lower`]).
//!
//! The application connects to its peers, asks each for its Transfers, a few at a time, and takes the
//! connection down. The octets of a Transfer follow from its name, and the end that received them looks at
//! every one ([`store`]).
//!
//! Data is asked of the protocol when there is room below: two frames at most are between protocol and link,
//! so "sent" is when it left, and answers do not wait behind a Block.

mod audit;
mod ledger;
pub(crate) mod lower;
mod medium;
mod regions;
mod store;
pub(crate) mod translator;
mod upper;

use super::data::Data;
use super::program::{Program, Want};
use super::protocol::{Conveyance, Cx, Ends, Outcome, Protocol, Received, Send, Token};
use crate::config::{Operation, TransferConfig, TransferJob};
use crate::observe::probe::{ProtocolFact, SignalKind, TimeoutKind};
use crate::observe::stats::{TransferEnd, TransferStats};
use crate::observe::totals::Totals;
use ledger::{Ledger, Running, Spoiled, Stage};
use medium::{Fate, Medium};
use regions::{Regions, WORD};
use scheduled_transfer::event::Event;
use scheduled_transfer::wire::operation::name_of;
use scheduled_transfer::wire::{DataChannel, HEADER_BYTES, Header, Op};
use scheduled_transfer::{
    Config, Connection, ConnectionId, Endpoint, ExposeOptions, Extras, Failure, Outcome as Ended, Span,
    TransferOptions, Ula,
};
use sim_core::{Purpose, Stream, Time};
use std::collections::{BTreeMap, VecDeque};
use store::{Store, TAG_OCTETS};
use upper::{Next, Upper};

/// The well-known Port of the application.
const PORT: u16 = 0x0014;
/// Data frames between the protocol and the link.
const DATA_WINDOW: usize = 2;
/// Channels of the protocol, as bits.
const CONTROL: u8 = 0b0001;
const ALL_CHANNELS: u8 = 0b1111;
/// Stretches of memory begin where buffers of up to so many octets begin.
const ALIGN: u64 = 1 << 16;
/// Longest Transfer that is received.
const LONGEST: u64 = 1 << 30;
/// Every so many frames the invariants of the protocol are checked.
const CHECK_EVERY: u64 = 64;

/// What happens at an instant of the fabric.
#[derive(Debug)]
enum Action {
    Connect(u16),
    /// A late frame arrives, at an interface; what was drawn for a wrong bit.
    Arrive(Vec<u8>, u8, Option<u64>),
    /// The program has computed.
    Computed(u32),
    /// The application ends a Transfer or a region, if it is not over.
    End(ConnectionId, u32),
    /// The application takes a connection down, if it is not gone.
    Disconnect(ConnectionId),
    /// The upper layer looks for news, or goes on.
    Look,
}

/// A connection at this end.
#[derive(Debug)]
struct Link {
    /// The peer, if this end asked for it.
    own: Option<u16>,
    /// Of its own Transfers: begun so far.
    begun: u64,
    /// Not over, by sequence id.
    running: BTreeMap<u32, Running>,
    /// Of its own Writes: there, and to be read back; since when they are wanted.
    out: VecDeque<u64>,
    /// What the peer has written, for it to read back.
    kept: VecDeque<Span>,
    regions: Regions,
}

impl Link {
    /// A connection that `own` was asked for.
    fn new(own: Option<u16>) -> Self {
        let (out, kept) = (VecDeque::new(), VecDeque::new());
        Link { own, begun: 0, running: BTreeMap::new(), out, kept, regions: Regions::default() }
    }

    /// Transfers of this end that are not over.
    fn own_running(&self) -> usize {
        let own = self.running.values().filter(|running| running.begun.is_some()).count();
        own + self.out.len() + self.regions.puts.len()
    }

    /// Whether a Transfer is not over, or a region.
    fn is_on(&self, sequence: u32) -> bool {
        self.running.contains_key(&sequence) || self.regions.is_on(sequence)
    }

    /// When the oldest of these was begun.
    fn oldest(&self) -> Option<u64> {
        let running = self.running.values().chain(self.regions.puts.values());
        running.filter_map(|running| running.begun).chain(self.out.iter().copied()).min()
    }
}

/// One end of Scheduled Transfer.
#[derive(Debug)]
pub(crate) struct Transfer {
    config: Box<TransferConfig>,
    endpoint: Endpoint<Store>,
    links: BTreeMap<ConnectionId, Link>,
    /// What was offered while all places were taken.
    offered: VecDeque<(ConnectionId, u32, u64)>,
    /// Transfers on their way to this end that take a place.
    receiving: u32,
    agenda: BTreeMap<(u64, u64), Action>,
    entries: u64,
    medium: Medium,
    /// What becomes of the frame that is being received.
    copies: [Option<Fate>; 2],
    /// What was drawn for a wrong bit of it.
    wrong: Option<u64>,
    program: Option<Box<Program>>,
    /// Open connections that the program sends on, by node, and what waits for one.
    lines: BTreeMap<u16, ConnectionId>,
    waiting: BTreeMap<u16, Vec<Want>>,
    ledger: Ledger,
    /// Timeouts of the books that observers were told of: operations, Transfers given up, Blocks.
    told: [u64; 3],
    upper: Upper,
    /// When it looks next, as far as that is on the agenda.
    look: Option<u64>,
    /// The word that peers increment.
    counter: Option<Span>,
    /// Data frames between here and the link, with their interfaces.
    under_way: BTreeMap<Token, u8>,
    /// The interface that is asked first: the one after that of the last Data, so that all get Slots in turn.
    turn: u8,
    /// Sources of octets named so far.
    named: u64,
    frames: u64,
    octets: Vec<u8>,
}

/// The address of the node with this id: locally administered.
fn address_of(node: u16) -> Ula {
    let [high, low] = node.to_be_bytes();
    Ula([2, 0, 0, 0, high, low])
}

/// The node with this address.
fn node_of(Ula([.., high, low]): Ula) -> u16 {
    u16::from_be_bytes([high, low])
}

/// An operation, in the words of charts.
fn words(header: &Header) -> String {
    let name = name_of(header);
    match header.op {
        op if op == Op::Data as u8 => format!("{name} Block {} STU {}", header.b_num, header.param),
        op if op == Op::ClearToSend as u8 => format!("{name} Block {}", header.b_num),
        _ => name.into(),
    }
}

fn is_data(operation: &[u8]) -> bool {
    operation.first().is_some_and(|octet| octet >> 3 == Op::Data as u8)
}

/// An operation with one wrong bit, whichever was drawn: of its payload, if it is Data. `None`: it has none.
fn damaged(operation: &[u8], drawn: u64) -> Option<Vec<u8>> {
    let first = if is_data(operation) { HEADER_BYTES } else { 0 };
    let bits = operation.len().checked_sub(first)? as u64 * 8;
    let bit = drawn.checked_rem(bits)?;
    let mut octets = operation.to_vec();
    octets[first + (bit / 8) as usize] ^= 1 << (bit % 8);
    Some(octets)
}

/// The word of the payload in which a damaged operation of this source is not as it came; `None`: the damage
/// is elsewhere.
fn spoiled(source: u16, came: &[u8], damaged: &[u8]) -> Option<Spoiled> {
    let (header, wrong) = Header::parse(damaged).ok()?;
    let right = came.get(HEADER_BYTES..)?.chunks(WORD as usize);
    let mut words = right.zip(wrong.chunks(WORD as usize));
    let (_, word) = words.find(|(right, wrong)| right != wrong)?;
    Some(Spoiled { source: source.into(), put: header.b_num.into(), word: word.to_vec() })
}

fn channel(job: &TransferJob) -> DataChannel {
    DataChannel::new(job.channel).expect("the compiler checks the channel")
}

impl Transfer {
    pub fn new(seed: u64, config: &TransferConfig) -> Self {
        let mut draws = Stream::new(seed, &config.stream, Purpose::CONTENTS);
        let first_key = 1 + draws.below(u64::from(u32::MAX) - 1) as u32;
        let protocol = Config { first_key, ..config.protocol };
        // Rings begin where Blocks do.
        let block = config.job.ring.map_or(0, |_| 1 << config.job.blocksize);
        let store = Store::new(ALIGN.max(1 << protocol.bufsize).max(block));
        let mut endpoint = Endpoint::new(protocol, store).expect("the compiler checks the parameters");
        endpoint.listen(PORT, 0);
        let mut transfer = Transfer {
            endpoint,
            links: BTreeMap::new(),
            offered: VecDeque::new(),
            receiving: 0,
            agenda: BTreeMap::new(),
            entries: 0,
            medium: Medium::new(seed, config),
            copies: [None, None],
            wrong: None,
            program: config.program.as_ref().map(|program| Box::new(Program::new(program))),
            lines: BTreeMap::new(),
            waiting: BTreeMap::new(),
            ledger: Ledger { unconfirmed: !config.protocol.reliable, ..Ledger::default() },
            told: [0; 3],
            upper: Upper::new(config.upper),
            look: None,
            counter: None,
            under_way: BTreeMap::new(),
            turn: 0,
            named: 0,
            frames: 0,
            octets: Vec::new(),
            config: Box::new(config.clone()),
        };
        let mut phases = Stream::new(seed, &config.stream, Purpose::PHASE);
        for &peer in &config.peers {
            let later = if config.spread.0 == 0 { 0 } else { phases.uniform_between(0, config.spread.0) };
            transfer.plan(config.connect_at.0.saturating_add(later), Action::Connect(peer));
        }
        transfer.ledger.stats.wanted = match &config.program {
            Some(program) => program.sends(),
            None => config.peers.len() as u64 * config.job.count,
        };
        transfer
    }

    fn plan(&mut self, at: u64, action: Action) {
        self.entries += 1;
        self.agenda.insert((at, self.entries), action);
    }

    /// A name for octets of this end.
    fn name(&mut self) -> u64 {
        self.named += 1;
        u64::from(self.config.node) << 32 | self.named
    }

    fn options(&self) -> TransferOptions {
        let job = &self.config.job;
        TransferOptions {
            channel: channel(&self.config.job),
            cts_req: job.cts_req,
            max_block: job.blocksize,
            silent: !job.notify,
            interrupt: job.interrupt,
            opaque: job.opaque,
            unlimited: job.ring.is_some(),
            state_every: job.state_every,
            extras: job.extras,
        }
    }

    /// Memory for a Transfer of so many octets to come; 0: one without a length, through a ring.
    fn room(&mut self, octets: u64) -> Span {
        let job = &self.config.job;
        let (offset, ring) = (job.first_offset, job.ring);
        let memory = self.endpoint.memory_mut();
        match (octets, ring) {
            (0, Some(ring)) => memory.destination(ring),
            _ => memory.destination_at(offset, octets),
        }
    }

    /// The octets that `tag` stands for, of a Transfer of so many; 0: one without a length, through a ring.
    fn store(&mut self, tag: u64, octets: u64) -> Span {
        let ring = self.config.job.ring.filter(|_| octets == 0);
        self.endpoint.memory_mut().source(tag, ring.unwrap_or(octets))
    }

    /// T_len of the Transfers of this end.
    fn t_len(&self) -> u64 {
        if self.config.job.ring.is_some() { 0 } else { self.config.job.bytes }
    }

    /// The application has an end of a Transfer on its agenda, if it is the one that ends them.
    fn plan_end(&mut self, now: u64, id: ConnectionId, sequence: u32, is_asker: bool) {
        if let Some(end) = self.config.job.end.filter(|end| end.by_asker == is_asker) {
            self.plan(now.saturating_add(end.after.0), Action::End(id, sequence));
        }
    }

    fn exposure(&self) -> ExposeOptions {
        // The window is the wish of the source.
        ExposeOptions { window: 0, blocksize: self.config.job.blocksize }
    }

    /// The last own Transfer of a connection has begun, and `running` are not over.
    fn all_begun(&mut self, now: u64, id: ConnectionId, running: usize) {
        if running == 0 && self.config.job.disconnect {
            self.endpoint.disconnect(now, id);
        }
    }

    /// Begins own Transfers up to the limit; takes the connection down when all are over.
    fn begin(&mut self, cx: &mut Cx<'_>, id: ConnectionId) {
        if self.program.is_some() {
            return;
        }
        let job = self.config.job;
        if job.operation.is_in_region() {
            return self.begin_in_region(cx, id);
        }
        loop {
            let Some(link) = self.links.get_mut(&id).filter(|link| link.own.is_some()) else { return };
            if let Some(&begun) = link.out.front() {
                if !self.read(cx, id, Stage::Back, begun) {
                    return;
                }
                self.links.get_mut(&id).and_then(|link| link.out.pop_front());
                continue;
            }
            let own = link.own_running();
            if link.begun == job.count {
                return self.all_begun(cx.now, id, own);
            }
            if own >= job.concurrent as usize {
                return;
            }
            let begun = match job.operation {
                Operation::Read => self.read(cx, id, Stage::Whole, cx.fabric_now),
                _ => self.write(cx, id),
            };
            if !begun {
                return;
            }
            self.ledger.begun(cx.fabric_now);
            if let Some(link) = self.links.get_mut(&id) {
                link.begun += 1;
            }
        }
    }

    /// Begins a Read; not while the connection is taken down.
    fn read(&mut self, cx: &mut Cx<'_>, id: ConnectionId, stage: Stage, begun: u64) -> bool {
        let job = self.config.job;
        let span = self.room(self.t_len());
        let (options, channel, ring) = (self.exposure(), channel(&self.config.job), job.ring.is_some());
        let read = self.endpoint.read(cx.now, id, (span, ring), channel, options, job.extras);
        let running = Running::incoming(span).through_ring(job.bytes).begun(begun);
        let is_running = self.is_running(id, read, Running { stage, ..running });
        if let Some(read) = read.filter(|_| is_running) {
            self.plan_end(cx.fabric_now, id, read, true);
        }
        is_running
    }

    /// All octets of a Transfer without a length are there, and no more will be.
    fn supply(&mut self, now: u64, id: ConnectionId, sequence: Option<u32>) {
        if let Some(sequence) = sequence.filter(|_| self.config.job.ring.is_some()) {
            self.endpoint.supply(now, id, sequence, self.config.job.bytes, true);
        }
    }

    /// Begins a Write; not while the connection is taken down.
    fn write(&mut self, cx: &mut Cx<'_>, id: ConnectionId) -> bool {
        let tag = self.name();
        let span = self.store(tag, self.t_len());
        let written = self.endpoint.write(cx.now, id, span, self.options());
        self.supply(cx.now, id, written);
        let back = self.config.job.operation == Operation::ReadBack;
        let stage = if back { Stage::Out } else { Stage::Whole };
        let running = Running::outgoing(span, tag).through_ring(self.config.job.bytes).begun(cx.fabric_now);
        let begun = self.is_running(id, written, Running { stage, ..running });
        if let Some(written) = written.filter(|_| begun) {
            self.plan_end(cx.fabric_now, id, written, true);
        }
        if begun && back {
            self.ledger.written.insert(tag);
        }
        begun
    }

    /// Keeps a Transfer that has begun in mind; one that has not leaves nothing behind.
    fn is_running(&mut self, id: ConnectionId, sequence: Option<u32>, running: Running) -> bool {
        match (sequence, self.links.get_mut(&id)) {
            (Some(sequence), Some(link)) => {
                link.running.insert(sequence, running);
                true
            }
            _ => {
                self.endpoint.memory_mut().free(running.span);
                false
            }
        }
    }

    /// The program goes on as far as it can.
    fn advance(&mut self, cx: &mut Cx<'_>) {
        while let Some(program) = &mut self.program
            && let Some(want) = program.poll(cx.fabric_now)
        {
            // What waits for a connection waits in the transport: it has it.
            if let Want::Send { op, .. } = want
                && program.is_over(op, false)
            {
                program.ended(op);
            }
            self.fulfil(cx, want);
        }
    }

    fn fulfil(&mut self, cx: &mut Cx<'_>, want: Want) {
        let (op, node, octets, name) = match want {
            Want::Compute { op, time } => {
                return self.plan(cx.fabric_now.saturating_add(time), Action::Computed(op));
            }
            Want::Send { op, node, octets, name } => (op, node, octets.max(TAG_OCTETS), name),
        };
        let Some(&line) = self.lines.get(&node) else {
            self.waiting.entry(node).or_default().push(want);
            return;
        };
        let span = self.endpoint.memory_mut().source(name, octets);
        let written = self.endpoint.write(cx.now, line, span, self.options());
        let running = Running { op: Some(op), ..Running::outgoing(span, name).begun(cx.fabric_now) };
        if !self.is_running(line, written, running) {
            return;
        }
        self.ledger.begun(cx.fabric_now);
    }

    /// Whether this end has memory for such a Transfer: of a length, or through a ring.
    fn takes(&self, t_len: u64) -> bool {
        (TAG_OCTETS..=LONGEST).contains(&t_len) || t_len == 0 && self.config.job.ring.is_some()
    }

    /// Octets of a Transfer of the peer; one without a length is as long as those of this end.
    fn octets_of(&self, t_len: u64) -> u64 {
        if t_len == 0 { self.config.job.bytes } else { t_len }
    }

    /// A Transfer is offered to this end: it gets memory, or waits for a place.
    fn offered(&mut self, cx: &Cx<'_>, connection: ConnectionId, sequence: u32, octets: u64) {
        if !self.takes(octets) {
            self.endpoint.refuse(cx.now, connection, sequence);
        } else if self.config.receives.is_some_and(|places| self.receiving >= places) {
            if self.endpoint.pause(cx.now, connection, sequence) {
                self.ledger.stats.paused += 1;
                self.offered.push_back((connection, sequence, octets));
            }
        } else {
            self.expose(cx, connection, sequence, octets);
        }
    }

    fn expose(&mut self, cx: &Cx<'_>, connection: ConnectionId, sequence: u32, octets: u64) {
        let span = self.room(octets);
        let options = self.exposure();
        if !self.endpoint.expose(cx.now, connection, sequence, span, options) {
            // Over before it had its turn.
            self.endpoint.memory_mut().free(span);
            return;
        }
        let running = Running::incoming(span).through_ring(self.octets_of(octets));
        if let Some(link) = self.links.get_mut(&connection) {
            link.running.insert(sequence, Running { placed: true, ..running });
            self.receiving += 1;
            self.plan_end(cx.fabric_now, connection, sequence, false);
        }
    }

    fn serve(&mut self, cx: &Cx<'_>, connection: ConnectionId, sequence: u32, octets: u64) {
        let now = cx.now;
        if !self.takes(octets) {
            self.endpoint.refuse(now, connection, sequence);
            return;
        }
        let (tag, span) = if self.config.job.operation == Operation::ReadBack {
            // The oldest of what the peer has written: it knows all of it.
            let kept = self.links.get_mut(&connection).and_then(|link| link.kept.pop_front());
            let Some(span) = kept.filter(|span| span.bytes == octets) else {
                self.endpoint.refuse(now, connection, sequence);
                return;
            };
            (0, span)
        } else {
            let tag = self.name();
            (tag, self.store(tag, octets))
        };
        let served = self.endpoint.serve(now, connection, sequence, span, self.options());
        let served = served.then_some(sequence);
        self.supply(now, connection, served);
        let running = Running::outgoing(span, tag).through_ring(self.octets_of(octets));
        if self.is_running(connection, served, running) {
            self.plan_end(cx.fabric_now, connection, sequence, false);
        }
    }

    fn finished(
        &mut self,
        cx: &mut Cx<'_>,
        connection: ConnectionId,
        sequence: u32,
        (outcome, octets): (Ended, u64),
    ) {
        let link = self.links.get_mut(&connection);
        let Some(running) = link.and_then(|link| link.running.remove(&sequence)) else { return };
        let outcome = match outcome {
            // Of one without a length the protocol sees no difference; the application knows better.
            Ended::Complete if running.incoming && octets < running.octets => {
                Ended::Failed(Failure::EndedByPeer)
            }
            outcome => outcome,
        };
        let tag = self.ledger.finished(&running, outcome, self.endpoint.memory(), cx.fabric_now);
        let is_whole = outcome == Ended::Complete;
        let kept = is_whole && running.placed && self.config.job.operation == Operation::ReadBack;
        match self.links.get_mut(&connection) {
            Some(link) if kept => link.kept.push_back(running.span),
            link => {
                let begun = running.begun.filter(|_| is_whole && running.stage == Stage::Out);
                if let (Some(link), Some(begun)) = (link, begun) {
                    link.out.push_back(begun);
                }
                self.endpoint.memory_mut().free(running.span);
            }
        }
        if running.begun.is_some() {
            if outcome != Ended::Complete {
                cx.emit(ProtocolFact::Failed);
            }
            self.begin(cx, connection);
        }
        if let Some(program) = &mut self.program {
            if let Some(op) = running.op.filter(|&op| outcome == Ended::Complete && program.is_over(op, true))
            {
                program.ended(op);
            }
            if let Some(name) = tag {
                let (_, octets) = program.sent(name).expect("only ranks send");
                self.ledger.stats.padding_octets += TAG_OCTETS.saturating_sub(octets);
                program.arrived(name);
            }
            self.advance(cx);
        }
        if running.placed {
            self.receiving -= 1;
            while self.config.receives.is_none_or(|places| self.receiving < places)
                && let Some((connection, sequence, octets)) = self.offered.pop_front()
            {
                self.expose(cx, connection, sequence, octets);
            }
        }
    }

    fn heard(&mut self, cx: &mut Cx<'_>, connection: ConnectionId, event: Event) {
        match event {
            Event::Incoming { .. } => {
                self.links.insert(connection, Link::new(None));
                self.endpoint.accept(cx.now, connection, Extras::default());
            }
            Event::Opened => {
                cx.emit(ProtocolFact::Connected);
                let accepted = self.links.get(&connection).is_some_and(|link| link.own.is_none());
                if let Some(after) = self.config.job.disconnect_after.filter(|_| accepted) {
                    self.plan(cx.fabric_now.saturating_add(after.0), Action::Disconnect(connection));
                }
                if let Some(peer) = self.links.get(&connection).and_then(|link| link.own) {
                    self.ledger.stats.opened += 1;
                    self.lines.insert(peer, connection);
                    self.begin(cx, connection);
                    for want in self.waiting.remove(&peer).unwrap_or_default() {
                        self.fulfil(cx, want);
                    }
                }
            }
            Event::Closed(outcome) => {
                cx.emit(ProtocolFact::Disconnected);
                self.ledger.stats.closed[usize::from(outcome != Ended::Complete)] += 1;
                let left = self.links.get(&connection).map(|link| link.running.keys().copied().collect());
                let left: Vec<u32> = left.unwrap_or_default();
                for sequence in left {
                    let outcome = Ended::Failed(Failure::Disconnected);
                    self.finished(cx, connection, sequence, (outcome, 0));
                }
                self.close_regions(cx, connection);
                let link = self.links.remove(&connection);
                // There, and never asked for: the connection was taken down first.
                for _ in link.iter().flat_map(|link| &link.out) {
                    self.ledger.cut_off();
                    cx.emit(ProtocolFact::Failed);
                }
                // Nobody connects a second time.
                if link.as_ref().is_some_and(|link| link.own.is_some()) && self.program.is_none() {
                    let begun = link.as_ref().map_or(0, |link| link.begun);
                    self.ledger.stats.never_begun += self.config.job.count - begun;
                }
                for span in link.into_iter().flat_map(|link| link.kept) {
                    self.endpoint.memory_mut().free(span);
                }
                self.lines.retain(|_, line| *line != connection);
            }
            Event::WriteOffered { id, t_len, .. } => self.offered(cx, connection, id, t_len),
            Event::ReadRequested { id, t_len } => self.serve(cx, connection, id, t_len),
            Event::Finished { id, outcome, bytes } => {
                self.finished(cx, connection, id, (outcome, bytes));
                self.region_finished(cx, connection, id, outcome);
            }
            Event::RegionRequested { id, t_len } => self.region_requested(cx, connection, id, t_len),
            Event::RegionReady { .. } => self.region_ready(cx, connection),
            Event::PutFinished { put, outcome, .. } => self.put_finished(cx, connection, put, outcome),
            Event::PutArrived { id, put } => self.put_arrived(connection, id, put, cx.fabric_now),
            Event::Fetched { id, word } => self.fetched(cx, connection, id, word),
            Event::Header { header, .. } => self.header(connection, &header),
            Event::Interrupt { .. } => self.ledger.stats.interrupts += 1,
            Event::Payload { octets, .. } => {
                self.ledger.stats.payloads += 1;
                let right = self.config.job.extras.payload == Some(octets);
                self.ledger.stats.corrupt += u64::from(!right);
            }
            // It cannot be asked for again: Blocks come in order. That is the end of the Transfer.
            Event::Missing { id, .. } => {
                self.endpoint.end(cx.now, connection, id);
            }
            Event::Progress { .. } | Event::ReadGranted { .. } => {}
        }
    }

    /// A header of Data is delivered. That of a Write or a Put brings the Opaque of its source.
    fn header(&mut self, connection: ConnectionId, header: &Header) {
        self.ledger.stats.headers += 1;
        let link = self.links.get(&connection);
        let written = link.is_some_and(|link| match link.running.get(&header.d_id) {
            Some(running) => running.begun.is_none(),
            None => link.regions.has(header.d_id),
        });
        if written && header.s_id != self.config.job.opaque {
            self.ledger.stats.corrupt += 1;
        }
    }

    /// Sends and tells what there is to send and to tell.
    fn drain(&mut self, cx: &mut Cx<'_>) {
        loop {
            let mut idle = true;
            while self.looks(cx.fabric_now)
                && let Some((connection, event)) = self.endpoint.poll_event()
            {
                idle = false;
                self.heard(cx, connection, event);
            }
            while self.send(cx) {
                idle = false;
            }
            if idle {
                break;
            }
        }
        if self.frames.is_multiple_of(CHECK_EVERY) {
            self.check(cx);
        }
        self.tell_timeouts(cx);
    }

    /// Tells observers of the timeouts that the books have had since the last time.
    fn tell_timeouts(&mut self, cx: &mut Cx<'_>) {
        let stats = &self.ledger.stats;
        let now = [stats.timeouts, stats.aborted[TransferEnd::Timeout as usize], stats.overdue];
        let kinds = [TimeoutKind::Operation, TimeoutKind::Transfer, TimeoutKind::Blocks];
        for ((told, now), kind) in self.told.iter_mut().zip(now).zip(kinds) {
            for _ in std::mem::replace(told, now)..now {
                cx.late(kind);
            }
        }
    }

    /// Whether the upper layer takes what is first of the news.
    fn looks(&mut self, now: u64) -> bool {
        loop {
            match self.upper.next(now, self.endpoint.waiting().map(|(_, event)| event)) {
                Next::Take => return true,
                Next::Nothing => return false,
                // That takes no time.
                Next::At(at) if at == now => {}
                Next::At(at) => {
                    if self.look != Some(at) {
                        self.look = Some(at);
                        self.plan(at, Action::Look);
                    }
                    let waiting = self.endpoint.connections().map(Connection::occupied_slots).max();
                    let most = &mut self.ledger.stats.most_waiting;
                    *most = (*most).max(waiting.unwrap_or(0));
                    return false;
                }
            }
        }
    }

    /// Sends one frame, if one may leave.
    fn send(&mut self, cx: &mut Cx<'_>) -> bool {
        let interfaces = self.config.interfaces.len() as u8;
        let first = self.turn;
        (first..interfaces).chain(0..first).any(|interface| self.send_through(cx, interface))
    }

    fn send_through(&mut self, cx: &mut Cx<'_>, interface: u8) -> bool {
        let waiting = self.under_way.values().filter(|through| **through == interface).count();
        let room = waiting < DATA_WINDOW;
        let channels = if room { ALL_CHANNELS } else { CONTROL };
        let Some(transmit) = self.endpoint.poll_transmit(cx.now, interface, channels, &mut self.octets)
        else {
            return false;
        };
        let (d_ula, s_ula) = (transmit.to, address_of(self.config.interfaces[usize::from(interface)]));
        let medium = self.config.medium;
        let frame = lower::emit(medium, (d_ula, s_ula), &self.octets);
        self.ledger.sent(&transmit, (frame.len(), self.octets.len() - HEADER_BYTES), cx.fabric_now);
        let streams = (self.config.cos, self.config.streams());
        let (conveyance, priority) = lower::conveyance((medium, interface), streams, transmit.channel);
        let to = node_of(transmit.to);
        // Who is behind a translator is reached through it; the frame says whose it is.
        let to = self.config.through.get(&to).copied().unwrap_or(to);
        if self.config.captured {
            cx.tell(SignalKind::Frame { octets: frame.clone() });
        }
        let token = cx.send(Send { to: to.into(), priority, conveyance, payload: Data::bytes(frame) });
        if self.config.charted {
            let words = words(&transmit.header);
            cx.tell(SignalKind::Sent { token, to, since: Time(cx.fabric_now), words });
        }
        if transmit.channel != 0 {
            self.under_way.insert(token, interface);
            self.turn = (interface + 1) % self.config.interfaces.len() as u8;
        }
        true
    }

    /// A frame has come to the protocol.
    fn handle(&mut self, cx: &mut Cx<'_>, frame: &[u8], interface: u8, wrong: Option<u64>) {
        let own = address_of(self.config.interfaces[usize::from(interface)]);
        match lower::parse(self.config.medium, frame) {
            Some(found) if found.to == own => {
                self.frames += 1;
                let damaged = wrong.and_then(|drawn| damaged(found.operation, drawn));
                self.ledger.stats.damaged += u64::from(damaged.is_some());
                if let Some(damaged) =
                    damaged.as_deref().filter(|_| self.config.job.operation == Operation::Put)
                {
                    self.ledger.spoiled.extend(spoiled(node_of(found.from), found.operation, damaged));
                }
                let operation = damaged.as_deref().unwrap_or(found.operation);
                self.endpoint.handle(cx.now, (found.from, interface), operation);
            }
            _ => self.ledger.stats.foreign += 1,
        }
    }

    /// Reads the logs and checks what must always hold.
    fn check(&mut self, cx: &mut Cx<'_>) {
        let entries = self.endpoint.take_log();
        let late = self.ledger.logged(entries.into_iter().map(|(_, entry)| entry));
        (0..late).for_each(|_| cx.emit(ProtocolFact::TimedOut));
        self.ledger.stats.overdue = self.endpoint.overdue();
        if let Err(what) = self.endpoint.check_invariants() {
            self.ledger.stats.broken.get_or_insert(what);
        }
    }

    /// Tags of Transfers that are complete here, and that the upper layer has not looked at.
    fn not_looked_at(&self) -> impl Iterator<Item = u64> {
        self.endpoint.waiting().filter_map(|&(connection, ref event)| match *event {
            Event::Finished { id, outcome: Ended::Complete, .. } => {
                let running = self.links.get(&connection)?.running.get(&id)?;
                running.incoming.then(|| self.endpoint.memory().verify(running.left()))?
            }
            _ => None,
        })
    }

    /// Own Transfers that are not over.
    fn own_running(&self) -> u64 {
        self.links.values().map(|link| link.own_running() as u64).sum()
    }

    fn oldest(&self) -> Option<u64> {
        self.links.values().filter_map(Link::oldest).min()
    }

    /// What is known so far, with what only the end shows.
    fn totals(&self) -> TransferStats {
        let mut ledger = Ledger { stats: self.ledger.stats.clone(), ..Ledger::default() };
        let device = self.endpoint.device_log().entries().iter().map(|&(_, entry)| entry);
        ledger.logged(self.endpoint.log_entries().map(|(_, _, entry)| entry).chain(device));
        ledger.stats.overdue = self.endpoint.overdue();
        ledger.stats.upper_time = self.upper.worked;
        ledger.stats.stray_octets = self.endpoint.memory().stray;
        ledger.stats.kept_octets = self.endpoint.memory().octets();
        // What is read back was counted when it was written.
        let running = self.links.values().flat_map(|link| link.running.values());
        let coming = running.filter(|running| running.incoming && running.stage != Stage::Back);
        ledger.stats.partial_octets =
            coming.map(|running| self.endpoint.memory().arrived(running.span)).sum();
        if let Err(what) = self.endpoint.check_invariants() {
            ledger.stats.broken.get_or_insert(what);
        }
        ledger.stats
    }
}

impl Protocol for Transfer {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.advance(cx);
    }

    fn loses(&mut self, received: &Received) -> bool {
        let frame = received.payload.as_bytes().expect("Scheduled Transfer sends bytes");
        let is_data = frame.get(lower::overhead(self.config.medium)..).is_some_and(is_data);
        self.copies = self.medium.copies(is_data);
        self.wrong = self.copies[0].and_then(|_| self.medium.damage(is_data));
        self.copies[0].is_none()
    }

    fn received(&mut self, cx: &mut Cx<'_>, received: Received) {
        let frame = received.payload.as_bytes().expect("Scheduled Transfer sends bytes");
        if self.config.charted {
            let token = received.payload.label.token;
            cx.tell(SignalKind::Arrived { token, source: received.leg.source });
        }
        let interface = match received.conveyance {
            Conveyance::Frame { interface } | Conveyance::Stripe { interface, .. } => interface,
            _ => 0,
        };
        let (copies, wrong) = (self.copies, self.wrong);
        match copies {
            [None, _] => {
                self.ledger.stats.lost += 1;
                if self.config.charted {
                    cx.tell(SignalKind::Note { words: "which is lost".into() });
                }
            }
            [_, Some(_)] => self.ledger.stats.doubled += 1,
            _ => {}
        }
        for fate in copies.into_iter().flatten() {
            match fate {
                Fate::Now => self.handle(cx, frame, interface, wrong),
                Fate::Later(time) => {
                    self.ledger.stats.delayed += 1;
                    self.plan(cx.fabric_now + time, Action::Arrive(frame.to_vec(), interface, wrong));
                }
            }
        }
        self.drain(cx);
    }

    fn outcome(&mut self, cx: &mut Cx<'_>, token: Token, _: Outcome) {
        if self.under_way.remove(&token).is_some() {
            self.drain(cx);
        }
    }

    fn timeout(&mut self, cx: &mut Cx<'_>) {
        self.endpoint.handle_timeout(cx.now);
        self.check(cx);
        self.drain(cx);
    }

    fn poll_timeout(&self) -> Option<u64> {
        self.endpoint.poll_timeout()
    }

    fn arrival(&mut self, cx: &mut Cx<'_>) {
        while let Some(entry) = self.agenda.first_entry()
            && entry.key().0 <= cx.fabric_now
        {
            match entry.remove() {
                Action::Connect(peer) => {
                    let to = (address_of(peer), 0);
                    let extras = self.config.job.extras;
                    let id = self.endpoint.connect(cx.now, to, (PORT, 0), extras);
                    self.ledger.stats.connects += 1;
                    self.links.insert(id, Link::new(Some(peer)));
                }
                Action::Arrive(frame, interface, wrong) => self.handle(cx, &frame, interface, wrong),
                Action::Computed(op) => {
                    if let Some(program) = &mut self.program {
                        program.computed(op, cx.fabric_now);
                    }
                    self.advance(cx);
                }
                Action::Look => {}
                Action::End(connection, sequence) => {
                    let link = self.links.get(&connection);
                    if link.is_some_and(|link| link.is_on(sequence)) {
                        self.endpoint.end(cx.now, connection, sequence);
                    }
                }
                Action::Disconnect(connection) => self.endpoint.disconnect(cx.now, connection),
            }
            self.drain(cx);
        }
    }

    fn poll_arrival(&self) -> Option<Time> {
        self.agenda.first_key_value().map(|(&(at, _), _)| Time(at))
    }

    fn audit(&self, ends: &Ends<'_>, totals: &mut Totals) {
        let nodes: Vec<&Transfer> = ends.nodes().into_iter().map(|(_, node)| node).collect();
        totals.push(audit::audit(ends.flow, &nodes));
    }
}
