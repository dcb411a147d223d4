//! Totals of Scheduled Transfers.

use crate::observe::totals::FlowTotals;
use sim_core::{Duration, Time};

/// Why a Transfer came to nothing.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TransferEnd {
    /// The other end refused.
    Rejected = 0,
    /// No answer in 1 + Max_Retry transmissions.
    Timeout = 1,
    /// The other end gave up.
    EndedByPeer = 2,
    /// The connection is gone.
    Disconnected = 3,
    /// All was sent, and nobody knows whether it arrived.
    Unconfirmed = 4,
    /// This end gave up.
    Aborted = 5,
}

impl TransferEnd {
    /// All, in index order.
    pub const ALL: [TransferEnd; 6] = [
        TransferEnd::Rejected,
        TransferEnd::Timeout,
        TransferEnd::EndedByPeer,
        TransferEnd::Disconnected,
        TransferEnd::Unconfirmed,
        TransferEnd::Aborted,
    ];
}

/// Frames of a kind.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameCount {
    /// How many.
    pub frames: u64,
    /// Octets of the 802.3 frames, without check sequence.
    pub octets: u64,
}

impl FrameCount {
    /// Takes one more.
    pub(crate) fn record(&mut self, octets: usize) {
        self.frames += 1;
        self.octets += octets as u64;
    }

    fn add(&mut self, other: &FrameCount) {
        self.frames += other.frames;
        self.octets += other.octets;
    }
}

/// What ends of Scheduled Transfer counted, since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferStats {
    /// Transfers to be done.
    pub wanted: u64,
    /// Begun by the end that wants them.
    pub begun: u64,
    /// Of those not begun, those whose connection has ended, or was given up before it was open.
    pub never_begun: u64,
    /// Complete, by what that end knows.
    pub completed: u64,
    /// Come to nothing, by [`TransferEnd`]; those of connections that never opened are not begun.
    pub aborted: [u64; TransferEnd::ALL.len()],
    /// From beginning to completion of each, ps of the fabric.
    pub times: Vec<u64>,
    /// When the first began.
    pub first_begun: Option<Time>,
    /// When the last was complete.
    pub last_done: Option<Time>,
    /// When the last was there whole, of those that nobody confirms (`reliable` is off): their source is done
    /// before that.
    pub last_arrived: Option<Time>,
    /// When an operation of a Transfer or a region last left an end.
    pub last_sent: Option<Time>,
    /// Received whole, and every octet is what the source has.
    pub verified: u64,
    /// Octets of these.
    pub verified_octets: u64,
    /// Of these octets, those behind the ends of messages of a program: a Transfer is as long as the name in
    /// it at least.
    pub padding_octets: u64,
    /// Octets of Transfers, Puts among them, that are not over and that have arrived; each counts once.
    pub partial_octets: u64,
    /// Read back, of what was written; every octet is what was written.
    pub read_back: u64,
    /// Octets of these.
    pub read_back_octets: u64,
    /// Octets of memory that are not given back.
    pub kept_octets: u64,
    /// Puts that were not there whole, and were put again.
    pub put_again: u64,
    /// Received whole, by what the protocol says, with wrong octets; and Opaque and payloads of Control that
    /// are not what was sent.
    pub corrupt: u64,
    /// Octets that came to a place where none was expected.
    pub stray_octets: u64,
    /// Connections that this end asked for.
    pub connects: u64,
    /// Of these, opened.
    pub opened: u64,
    /// Ends of connections that were closed in order, and otherwise.
    pub closed: [u64; 2],
    /// Clear_To_Send.
    pub cts: FrameCount,
    /// All other Control operations.
    pub control: FrameCount,
    /// Data.
    pub data: FrameCount,
    /// Octets of payload in Data, repetitions included.
    pub payload: u64,
    /// Frames lost on purpose.
    pub lost: u64,
    /// Frames doubled on purpose.
    pub doubled: u64,
    /// Frames delayed on purpose.
    pub delayed: u64,
    /// Operations of which a bit was made wrong on purpose.
    pub damaged: u64,
    /// Frames for somebody else, or none at all.
    pub foreign: u64,
    /// Op_timeouts.
    pub timeouts: u64,
    /// Times that Blocks which had been enabled did not come in time.
    pub overdue: u64,
    /// Operations given up.
    pub exhausted: u64,
    /// Other errors of table 10 that were logged.
    pub logged: u64,
    /// Transfers that waited for their turn at their destination.
    pub paused: u64,
    /// Headers of Data that were delivered.
    pub headers: u64,
    /// Most of them that waited for the upper layer at a time, over one connection.
    pub most_waiting: u32,
    /// Time that upper layers worked for headers and interrupts, ps.
    pub upper_time: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Payloads of Control operations that were delivered.
    pub payloads: u64,
    /// An invariant that did not hold.
    pub broken: Option<&'static str>,
}

impl TransferStats {
    /// Adds the totals of another end.
    pub fn add(&mut self, other: &TransferStats) {
        self.wanted += other.wanted;
        self.begun += other.begun;
        self.never_begun += other.never_begun;
        self.completed += other.completed;
        for (sum, count) in self.aborted.iter_mut().zip(other.aborted) {
            *sum += count;
        }
        self.times.extend(&other.times);
        self.first_begun = self.first_begun.into_iter().chain(other.first_begun).min();
        self.last_done = self.last_done.max(other.last_done);
        self.last_arrived = self.last_arrived.max(other.last_arrived);
        self.last_sent = self.last_sent.max(other.last_sent);
        self.verified += other.verified;
        self.verified_octets += other.verified_octets;
        self.padding_octets += other.padding_octets;
        self.partial_octets += other.partial_octets;
        self.read_back += other.read_back;
        self.read_back_octets += other.read_back_octets;
        self.kept_octets += other.kept_octets;
        self.put_again += other.put_again;
        self.corrupt += other.corrupt;
        self.stray_octets += other.stray_octets;
        self.connects += other.connects;
        self.opened += other.opened;
        for (sum, count) in self.closed.iter_mut().zip(other.closed) {
            *sum += count;
        }
        self.cts.add(&other.cts);
        self.control.add(&other.control);
        self.data.add(&other.data);
        self.payload += other.payload;
        self.lost += other.lost;
        self.doubled += other.doubled;
        self.delayed += other.delayed;
        self.damaged += other.damaged;
        self.foreign += other.foreign;
        self.timeouts += other.timeouts;
        self.overdue += other.overdue;
        self.exhausted += other.exhausted;
        self.logged += other.logged;
        self.paused += other.paused;
        self.headers += other.headers;
        self.most_waiting = self.most_waiting.max(other.most_waiting);
        self.upper_time += other.upper_time;
        self.interrupts += other.interrupts;
        self.payloads += other.payloads;
        self.broken = self.broken.or(other.broken);
    }
}

/// What a rank of a program has come to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RankStats {
    /// Which.
    pub rank: u32,
    /// When its last operation was over; `None`: something still waits.
    pub end: Option<Time>,
    /// Time that its processors computed or have begun to compute.
    pub computed: Duration,
    /// One of its processors computes when the run ends.
    pub computes: bool,
    /// The first of its receives that have begun and whose message is not there: sender and tag.
    pub waits_for: Option<(u32, u32)>,
}

/// What the ends of one flow of Scheduled Transfer have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransferTotals {
    /// Flow.
    pub flow: u16,
    /// Ends.
    pub nodes: u32,
    /// Begun, and not over at the end of the run.
    pub under_way: u64,
    /// When the oldest of these was begun.
    pub oldest: Option<Time>,
    /// Complete by what the end knows that wants them, but nowhere verified.
    pub unverified: u64,
    /// Complete by what the end knows that wants them, and whole; the upper layer of the other end had not
    /// looked at them when the run ended.
    pub not_looked_at: u64,
    /// Puts that were complete, and had others in their place (a later one, or late Data of one that was
    /// given up) before the upper layer of the other end looked.
    pub overwritten: u64,
    /// Over for their source, which nobody tells whether they arrived (`reliable` is off), and not there
    /// whole: lost, or still on their way.
    pub not_come: u64,
    /// Given up by the end that sent them, and there whole all the same: what said so was late or lost.
    pub came_unseen: u64,
    /// Verified more than once.
    pub repeated: u64,
    /// FetchOps that were not atomic: two had the same word, or a word does not say how many there were.
    pub torn: u64,
    /// Nothing went wrong on purpose, and the lower layer kept the order.
    pub clean: bool,
    /// When ends had completed the last Transfer that they wanted, of those that have nothing more to do; in
    /// rising order. Ranks of a program are not among them.
    pub done: Vec<Time>,
    /// Ranks of the program that they run, in order.
    pub ranks: Vec<RankStats>,
    /// What the ends counted; times in rising order.
    pub stats: TransferStats,
}

impl FlowTotals for TransferTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}
