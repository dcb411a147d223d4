//! Totals of LINX connections.

use crate::observe::totals::FlowTotals;
use linx_riocm::Counters;
use sim_core::Time;

/// Parts into which a period of heartbeats is divided for [`LinxStats::gaps`].
pub const GAP_PARTS: u64 = 32;
/// Classes of [`LinxStats::gaps`]: up to four periods, the last takes what is longer.
pub const GAP_CLASSES: usize = 4 * GAP_PARTS as usize + 1;

/// Number, sum and extremes of some times, ps.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Their sum.
    pub sum: u128,
    /// The shortest, 0 if there are none.
    pub min: u64,
    /// The longest.
    pub max: u64,
}

impl Times {
    /// Takes one more.
    pub fn record(&mut self, time: u64) {
        self.min = if self.count == 0 { time } else { self.min.min(time) };
        self.max = self.max.max(time);
        self.count += 1;
        self.sum += u128::from(time);
    }

    /// Takes all of another.
    pub fn add(&mut self, other: &Times) {
        if other.count > 0 {
            self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
            self.max = self.max.max(other.max);
            self.count += other.count;
            self.sum += other.sum;
        }
    }
}

/// How an end of a connection ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum LinxEnd {
    /// No sign of life for three periods.
    Timeout = 0,
    /// The peer sent RESET.
    PeerReset = 1,
    /// The peer has started anew.
    PeerRestart = 2,
    /// This node could not deliver.
    Local = 3,
    /// The local link went down.
    LinkDown = 4,
    /// This node went down.
    Crash = 5,
    /// The application of this node asked for it.
    Requested = 6,
}

impl LinxEnd {
    /// All, in index order.
    pub const ALL: [LinxEnd; 7] = [
        LinxEnd::Timeout,
        LinxEnd::PeerReset,
        LinxEnd::PeerRestart,
        LinxEnd::Local,
        LinxEnd::LinkDown,
        LinxEnd::Crash,
        LinxEnd::Requested,
    ];
}

/// What nodes of LINX counted, since the start of the run. Times of connections are those of the fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinxStats {
    /// Ends of connections that came up.
    pub connected: u64,
    /// Ends that ended, by [`LinxEnd`].
    pub ended: [u64; LinxEnd::ALL.len()],
    /// Timeouts although the peer was there and the way to it was whole since the last sign of life.
    pub false_timeouts: u64,
    /// Ends that ended less than three periods after they came up.
    pub flaps: u64,
    /// Time that ends were up, together.
    pub up_ps: u128,
    /// From the moment at which a peer went down, or the way to it, to the end of a connection with it.
    pub detected: Times,
    /// From the end of a connection, once nodes and way were there again, to the next one.
    pub reestablished: Times,
    /// Before heartbeats that came, since the one before or since the beginning of the connection, in ps
    /// of the protocol clock.
    pub heartbeat_gaps: Times,
    /// How often, by parts of the period: see [`GAP_PARTS`].
    pub gaps: Vec<u64>,
    /// Messages that applications wanted to send, answers included.
    pub messages: u64,
    /// Messages refused because the connection was not up.
    pub refused: u64,
    /// Messages handed to applications.
    pub delivered: u64,
    /// Octets of these.
    pub octets: u64,
    /// Messages that came a second time, or after a later one.
    pub repeated: u64,
    /// Messages missing between two of one connection, without its end.
    pub missing: u64,
    /// Connections of the peer that began without the end of the one before having been told here.
    pub unannounced: u64,
    /// Messages whose octets are not those that were sent.
    pub corrupt: u64,
    /// Octets of these that their receivers had to move, see [`linx_riocm::fragment::moved_octets`].
    pub moved: u64,
    /// When the first message was sent, and when the last came; or when the last was sent, if that is later
    /// because it never came.
    pub message_span: Option<(Time, Time)>,
    /// From application to application, of each message that is no answer.
    pub message_ps: Vec<u64>,
    /// From each request to its answer.
    pub round_trips: Vec<u64>,
    /// Frames that waited for the end of a stall.
    pub stalled: u64,
    /// Frames that were lost on purpose.
    pub muted: u64,
    /// Frames that came to a node that was deaf or down.
    pub unheard: u64,
    /// Frames for a port that no core of the device has.
    pub portless: u64,
    /// Frames that the scenario sent in the name of nodes.
    pub injected: u64,
    /// Of these, those of data: where the receiver takes one, it is not what its peer has sent.
    pub injected_data: u64,
    /// Messages that came of them.
    pub forged: u64,
    /// What the connection managers counted.
    pub frames: Counters,
}

impl LinxStats {
    /// Notes a gap between two heartbeats, with their period.
    pub(crate) fn gap(&mut self, gap: u64, period: u64) {
        self.heartbeat_gaps.record(gap);
        let class = (u128::from(gap) * u128::from(GAP_PARTS) / u128::from(period)) as usize;
        self.gaps[class.min(GAP_CLASSES - 1)] += 1;
    }

    /// Adds the totals of another node.
    pub fn add(&mut self, other: &LinxStats) {
        self.connected += other.connected;
        for (sum, count) in self.ended.iter_mut().zip(other.ended) {
            *sum += count;
        }
        self.false_timeouts += other.false_timeouts;
        self.flaps += other.flaps;
        self.up_ps += other.up_ps;
        self.detected.add(&other.detected);
        self.reestablished.add(&other.reestablished);
        self.heartbeat_gaps.add(&other.heartbeat_gaps);
        self.gaps.resize(GAP_CLASSES, 0);
        for (sum, count) in self.gaps.iter_mut().zip(&other.gaps) {
            *sum += count;
        }
        self.messages += other.messages;
        self.refused += other.refused;
        self.delivered += other.delivered;
        self.octets += other.octets;
        self.repeated += other.repeated;
        self.missing += other.missing;
        self.unannounced += other.unannounced;
        self.corrupt += other.corrupt;
        self.moved += other.moved;
        super::widen(&mut self.message_span, other.message_span);
        self.message_ps.extend(&other.message_ps);
        self.round_trips.extend(&other.round_trips);
        self.stalled += other.stalled;
        self.muted += other.muted;
        self.unheard += other.unheard;
        self.portless += other.portless;
        self.injected += other.injected;
        self.injected_data += other.injected_data;
        self.forged += other.forged;
        self.frames = plus(&self.frames, &other.frames);
    }
}

/// Sum of two counts; of maxima the larger.
pub(crate) fn plus(a: &Counters, b: &Counters) -> Counters {
    Counters {
        sent_management: a.sent_management + b.sent_management,
        sent_heartbeats: a.sent_heartbeats + b.sent_heartbeats,
        sent_data: a.sent_data + b.sent_data,
        heartbeats: a.heartbeats + b.heartbeats,
        data: a.data + b.data,
        delivered: a.delivered + b.delivered,
        foreign: a.foreign + b.foreign,
        unattributable: a.unattributable + b.unattributable,
        stray_management: a.stray_management + b.stray_management,
        stray: a.stray + b.stray,
        untimely: a.untimely + b.untimely,
        malformed: a.malformed + b.malformed,
        below_minimum_mtu: a.below_minimum_mtu + b.below_minimum_mtu,
        old_resets: a.old_resets + b.old_resets,
        acks_withheld: a.acks_withheld + b.acks_withheld,
        old_data: a.old_data + b.old_data,
        duplicates: a.duplicates + b.duplicates,
        held: a.held + b.held,
        held_max: a.held_max.max(b.held_max),
        surplus: a.surplus + b.surplus,
        above_mtu: a.above_mtu + b.above_mtu,
        not_connected: a.not_connected + b.not_connected,
    }
}

/// What the nodes of one flow of LINX have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinxTotals {
    /// Flow.
    pub flow: u16,
    /// Nodes.
    pub nodes: u32,
    /// Their devices.
    pub devices: Vec<u32>,
    /// Connections that both ends are configured for.
    pub wanted: u64,
    /// Connections up at both ends, with the same generations, IDs and values.
    pub up: u64,
    /// Connections up at one end only, or at both with different values.
    pub half_up: u64,
    /// Ends that came up, sent a RESET and await its answer: neither up nor ended.
    pub resetting: u64,
    /// When the last end of all wanted connections came up, if all are up.
    pub all_up: Option<Time>,
    /// When each end of all wanted connections had been up, perhaps not all at a time; none: one never was.
    pub first_up: Option<Time>,
    /// Messages lost with a connection whose end was told.
    pub lost: u64,
    /// Messages on their way at the end of the run.
    pub under_way: u64,
    /// When the oldest of these was sent.
    pub oldest: Option<Time>,
    /// Messages lost in a connection that is still up: neither end knows (yet).
    pub unseen: u64,
    /// Octets of memory of all connection managers.
    pub memory: u64,
    /// What the nodes counted.
    pub stats: LinxStats,
}

impl FlowTotals for LinxTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}
