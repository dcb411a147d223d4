//! Exclusive time integrals of one transmitter: how long it was busy, without credit, or a queue stopped.
//!
//! A packet that has to wait stores a [`Since`]; when the wait ends, the differences say how long its
//! target was closed and why, in O(1). Causes exclude each other in the order staged, no ackID, no buffer,
//! busy: each integral with a lower rank keeps the share that a higher rank covers, and subtracts it. ackIDs
//! run out on few links, so what a packet remembers of them lies beside its snapshot ([`AckMark`]).

use crate::config::PRIORITIES;
use std::collections::VecDeque;

/// Bit of [`TransmitClock::blocked`] that is always set at a port with virtual channels: whoever finds any
/// bit has to look closer anyway, and does the rest by channels.
pub(crate) const CHANNELS: u16 = 1 << 15;
/// Bit of [`TransmitClock::blocked`] beside those of all priorities: all ackIDs are in use.
pub(crate) const NO_ACK_ID: u16 = 1 << 14;
/// Bits of the four priorities of VC0, and of what closes all of them.
const VC0: u16 = 0b1111 | NO_ACK_ID;

/// Integrals of one priority's credit.
#[derive(Copy, Clone, Debug, Default)]
struct Credit {
    /// Total time without credit.
    none: u64,
    /// Start of the running interval without credit.
    since: u64,
    /// Busy time inside intervals without credit.
    busy: u64,
    /// Busy integral at `since`.
    busy_at: u64,
}

/// Integrals of one staging queue, kept from its first stop on. Those of a virtual channel have one credit
/// only: its place is the first.
#[derive(Clone, Debug, Default)]
struct QueueClock {
    stopped: bool,
    /// Stopped, but its time is suspended by a recovery of the link.
    held: bool,
    /// Since when it is, and for how long it was.
    held_since: u64,
    held_total: u64,
    total: u64,
    since: u64,
    /// When it was last stopped by an edge, whatever the link does; its longest stop.
    edge: u64,
    longest: u64,
    /// Time without credit, and busy time with credit, inside stops.
    none: [u64; PRIORITIES],
    busy: [u64; PRIORITIES],
    none_at: [u64; PRIORITIES],
    busy_at: [u64; PRIORITIES],
    /// Time without an ackID inside stops.
    no_ack_id: u64,
    no_ack_id_at: u64,
}

impl QueueClock {
    /// It is stopped, or is not any more, while the link recovers.
    fn hold(&mut self, t: u64, held: bool) {
        if self.held {
            self.held_total += t - self.held_since;
        }
        (self.held, self.held_since) = (held, t);
    }
}

/// Time for which one of the neighbour's ports was congested.
#[derive(Copy, Clone, Debug, Default)]
struct PortClock {
    congested: bool,
    /// Congested, but its time is suspended by a recovery of the link.
    held: bool,
    total: u64,
    since: u64,
}

/// What was stopped in VC0, or in one virtual channel.
#[derive(Clone, Debug, Default)]
struct Stops {
    queues: Vec<QueueClock>,
    ports: Vec<PortClock>,
}

/// What every waiting packet remembers: since when, and how long its transmitter had been busy and without
/// credit for it.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Since {
    pub at: u64,
    busy: u64,
    none: u64,
}

/// What a waiting packet remembers besides of stops of its queue; most have seen none.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct StoppedBefore {
    stopped: u64,
    stopped_none: u64,
    stopped_busy: u64,
    congested: u64,
}

impl StoppedBefore {
    /// Whether there was one.
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.stopped | self.congested != 0
    }
}

/// What a waiting packet remembers of ackIDs: the time without one, and what of it was inside stops of its
/// queue.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct AckMark {
    at: u64,
    none: u64,
    stopped: u64,
}

/// Closed time of a target between two instants, by cause.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// Own next-hop port congested.
    pub staged: u64,
    /// The queue was stopped for another port that shares it.
    pub comingled: u64,
    /// No credit, for want of a buffer or an ackID.
    pub no_buffer: u64,
    pub busy: u64,
    /// The rest: the target was open.
    pub open: u64,
}

/// The integrals of one transmitter. Its first eight octets are the last of the transmitter's first line,
/// which is about credit; the rest begins the second line.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct TransmitClock {
    /// Priorities without credit (while the link recovers: that may not start), one bit each; above them
    /// VC1 to VC8, and [`CHANNELS`].
    blocked: u16,
    busy: u64,
    busy_from: u64,
    busy_until: u64,
    cold: Option<Box<Cold>>,
    /// `blocked` is not 0: for who has only the second line.
    is_blocked: bool,
    /// The link has recovered from something, or does so now.
    recovered: bool,
    /// There was an instant without an ackID.
    ran_out: bool,
    /// The event for the end of the transmission is posted. It is asked together with what is above.
    pub end_posted: bool,
}

#[derive(Clone, Debug, Default)]
struct Cold {
    credit: [Credit; PRIORITIES],
    /// Of VC1 to VC8, if the port has virtual channels.
    channels: Vec<Credit>,
    /// Time without an ackID up to the last change, and since when there is none.
    no_ack_id: u64,
    no_ack_id_since: u64,
    vc0: Stops,
    /// Of the virtual channels that the port has.
    in_channels: Vec<Stops>,
    recovery: Recovery,
}

impl Cold {
    /// Stops that hold packets of a priority, or of the VCID above the priorities.
    #[inline(always)]
    fn stops_of(&self, priority: usize) -> Option<&Stops> {
        match priority.checked_sub(PRIORITIES) {
            None => Some(&self.vc0),
            Some(vcid) => self.in_channels.get(vcid * self.in_channels.len() / 8),
        }
    }

    /// Those of a channel, 0 for VC0.
    fn stops_in(&mut self, channel: u8) -> &mut Stops {
        match channel {
            0 => &mut self.vc0,
            _ => &mut self.in_channels[usize::from(channel) - 1],
        }
    }

    fn all_stops(&self) -> impl Iterator<Item = &Stops> {
        std::iter::once(&self.vc0).chain(&self.in_channels)
    }

    /// Staging queues of which `what` is true: (channel, queue).
    fn queues(&mut self, what: impl Fn(&mut QueueClock) -> bool) -> Vec<(u8, u8)> {
        let all = std::iter::once(&mut self.vc0).chain(&mut self.in_channels).map(|stops| &mut stops.queues);
        held(all, what)
    }

    /// Likewise ports of the neighbour.
    fn ports(&mut self, what: impl Fn(&mut PortClock) -> bool) -> Vec<(u8, u8)> {
        let all = std::iter::once(&mut self.vc0).chain(&mut self.in_channels).map(|stops| &mut stops.ports);
        held(all, what)
    }
}

/// Place of a priority among the credits of a [`QueueClock`].
#[inline(always)]
fn credit_place(priority: usize) -> usize {
    if priority < PRIORITIES { priority } else { 0 }
}

/// Time in which the link was recovering: from a retry or an error, or because it was down. It goes before
/// all other causes, so the other integrals stand still meanwhile.
#[derive(Clone, Debug, Default)]
struct Recovery {
    /// Since when.
    since: Option<u64>,
    /// Sum of all spells that are over.
    total: u64,
    /// Spells that are over, as far as somebody may have waited before them: (begin, end, total before).
    spells: VecDeque<(u64, u64, u64)>,
}

impl Recovery {
    fn at(&self, t: u64) -> u64 {
        match self.since {
            Some(since) if t >= since => return self.total + (t - since),
            _ => {}
        }
        let after = self.spells.partition_point(|&(begin, ..)| begin <= t);
        match after.checked_sub(1).map(|n| self.spells[n]) {
            Some((begin, end, before)) => before + t.min(end) - begin,
            None => self.spells.front().map_or(self.total, |&(.., before)| before),
        }
    }
}

impl TransmitClock {
    /// The transmitter is committed from `from` to `until`; intervals do not overlap.
    #[inline(always)]
    pub fn transmit(&mut self, from: u64, until: u64) {
        debug_assert!(from >= self.busy_until);
        self.busy += self.busy_until - self.busy_from;
        self.busy_from = from;
        self.busy_until = until;
    }

    /// The port has so many virtual channels.
    pub fn set_channels(&mut self, count: u8) {
        self.cold.get_or_insert_default().in_channels.resize_with(count.into(), Stops::default);
    }

    /// What is on the wire stops at `t`: the rest of it is committed anew.
    pub fn interrupt(&mut self, t: u64) {
        debug_assert!((self.busy_from..=self.busy_until).contains(&t));
        self.busy_until = t;
    }

    /// Instant of the last commitment.
    pub fn last_start(&self) -> u64 {
        self.busy_from
    }

    /// Busy integral at `t`, which is not before the last commitment.
    #[inline(always)]
    fn busy_at(&self, t: u64) -> u64 {
        self.busy + t.min(self.busy_until).saturating_sub(self.busy_from)
    }

    /// Priorities and virtual channels without credit.
    #[inline]
    pub fn blocked(&self) -> u16 {
        self.blocked
    }

    /// Whether there are any.
    #[inline(always)]
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    #[inline(always)]
    fn set(&mut self, blocked: u16) {
        (self.blocked, self.is_blocked) = (blocked, blocked != 0);
    }

    /// The set of priorities without credit changes at `t`; with [`NO_ACK_ID`].
    #[inline(always)]
    pub fn set_blocked(&mut self, t: u64, blocked: u16) {
        if blocked != self.blocked {
            self.flip_blocked(t, blocked | self.blocked & !VC0);
        }
    }

    /// The set of priorities and virtual channels without credit changes at `t`.
    pub fn set_gate(&mut self, t: u64, gate: u16) {
        if gate != self.blocked {
            self.flip_blocked(t, gate);
        }
    }

    #[cold]
    fn flip_blocked(&mut self, t: u64, blocked: u16) {
        let busy = self.busy_at(t);
        let cold = self.cold.get_or_insert_default();
        if cold.recovery.since.is_some() {
            self.set(blocked);
            return;
        }
        if (self.blocked | blocked) & CHANNELS != 0 {
            cold.channels.resize_with(8, Credit::default);
        }
        for (p, credit) in cold.credit.iter_mut().chain(&mut cold.channels).enumerate() {
            let bit = 1u16 << p;
            if (self.blocked ^ blocked) & bit == 0 {
                continue;
            }
            if blocked & bit != 0 {
                credit.since = t;
                credit.busy_at = busy;
            } else {
                credit.none += t - credit.since;
                credit.busy += busy - credit.busy_at;
            }
        }
        match (self.blocked & NO_ACK_ID != 0, blocked & NO_ACK_ID != 0) {
            (false, true) => (self.ran_out, cold.no_ack_id_since) = (true, t),
            (true, false) => cold.no_ack_id += t - cold.no_ack_id_since,
            _ => {}
        }
        self.set(blocked);
    }

    /// Whether ackIDs have ever run out, so that time without one has to be asked for.
    #[inline(always)]
    pub fn has_run_out(&self) -> bool {
        self.ran_out
    }

    /// Time without an ackID up to `t`.
    fn no_ack_id_at(&self, t: u64) -> u64 {
        let Some(cold) = &self.cold else { return 0 };
        let runs = self.blocked & NO_ACK_ID != 0 && cold.recovery.since.is_none();
        cold.no_ack_id + if runs { t - cold.no_ack_id_since } else { 0 }
    }

    /// What a packet of `priority` for the staging queue `queue` remembers of ackIDs at `t`.
    #[cold]
    pub fn ack_mark(&self, t: u64, priority: u8, queue: u8) -> AckMark {
        let none = self.no_ack_id_at(t);
        let stops = self.cold.as_ref().and_then(|cold| cold.stops_of(priority.into()));
        let clock = stops.and_then(|stops| stops.queues.get(queue as usize));
        let inside =
            |clock: &QueueClock| clock.no_ack_id + if clock.stopped { none - clock.no_ack_id_at } else { 0 };
        AckMark { at: t, none, stopped: clock.map_or(0, inside) }
    }

    /// Time between `from` and `t` in which the same target was closed for want of an ackID: that much of
    /// what [`closed`](Self::closed) calls `no_buffer`. `mark` is of `from`, if ackIDs had run out before it.
    pub fn without_ack_id(&self, from: u64, mark: AckMark, t: u64, priority: u8, queue: u8) -> u64 {
        let from = if mark.at == from { mark } else { AckMark::default() };
        let now = self.ack_mark(t, priority, queue);
        (now.none - from.none) - (now.stopped - from.stopped)
    }

    /// (time without credit, busy time with credit) for a priority at `t`.
    #[inline(always)]
    fn credit_at(&self, t: u64, priority: usize) -> (u64, u64) {
        let busy = self.busy_at(t);
        let Some(cold) = &self.cold else { return (0, busy) };
        let credit = match cold.credit.get(priority) {
            Some(credit) => credit,
            None => match cold.channels.get(priority - PRIORITIES) {
                Some(credit) => credit,
                None => return (0, busy),
            },
        };
        let (mut none, mut covered) = (credit.none, credit.busy);
        if self.blocked & (1 << priority) != 0 && cold.recovery.since.is_none() {
            none += t - credit.since;
            covered += busy - credit.busy_at;
        }
        (none, busy - covered)
    }

    /// An edge of staging queue `queue` in a channel, 0 for VC0: it stops or goes at `t`.
    pub fn edge(&mut self, t: u64, channel: u8, queue: u8, stopped: bool) {
        self.set_stopped(t, channel, queue, stopped);
        let stops = self.cold.get_or_insert_default().stops_in(channel);
        let clock = &mut stops.queues[queue as usize];
        if stopped {
            clock.edge = t;
        } else {
            clock.longest = clock.longest.max(t - clock.edge);
        }
    }

    /// Staging queue `queue` stops or goes at `t`, or its time is set apart while the link recovers.
    fn set_stopped(&mut self, t: u64, channel: u8, queue: u8, stopped: bool) {
        let no_ack_id = self.no_ack_id_at(t);
        let channels = self.cold.get_or_insert_default().in_channels.len();
        let now: [(u64, u64); PRIORITIES] = std::array::from_fn(|p| match (channel, p) {
            (0, p) => self.credit_at(t, p),
            (_, 0) => self.credit_at(t, PRIORITIES + (usize::from(channel) - 1) * 8 / channels),
            _ => (0, 0),
        });
        let cold = self.cold.get_or_insert_default();
        let recovers = cold.recovery.since.is_some();
        let queues = &mut cold.stops_in(channel).queues;
        if queues.len() <= queue as usize {
            queues.resize_with(queue as usize + 1, QueueClock::default);
        }
        let clock = &mut queues[queue as usize];
        if recovers {
            assert_ne!(clock.held, stopped, "staging edges alternate");
            clock.hold(t, stopped);
            return;
        }
        assert_ne!(clock.stopped, stopped, "staging edges alternate");
        clock.stopped = stopped;
        if stopped {
            clock.since = t;
        } else {
            clock.total += t - clock.since;
            clock.no_ack_id += no_ack_id - clock.no_ack_id_at;
        }
        clock.no_ack_id_at = no_ack_id;
        for (p, &(none, busy)) in now.iter().enumerate() {
            if stopped {
                clock.none_at[p] = none;
                clock.busy_at[p] = busy;
            } else {
                clock.none[p] += none - clock.none_at[p];
                clock.busy[p] += busy - clock.busy_at[p];
            }
        }
    }

    /// The neighbour's port `port` becomes congested or clear at `t`, for a channel.
    pub fn set_congested(&mut self, t: u64, channel: u8, port: u8, congested: bool) {
        let cold = self.cold.get_or_insert_default();
        let recovers = cold.recovery.since.is_some();
        let ports = &mut cold.stops_in(channel).ports;
        if ports.len() <= port as usize {
            ports.resize_with(port as usize + 1, PortClock::default);
        }
        let clock = &mut ports[port as usize];
        if recovers {
            clock.held = congested;
            return;
        }
        if clock.congested == congested {
            return;
        }
        clock.congested = congested;
        if congested {
            clock.since = t;
        } else {
            clock.total += t - clock.since;
        }
    }

    /// Since when staging queue `queue` is stopped for packets of `priority`, if it is.
    pub fn stopped_since(&self, priority: u8, queue: u8) -> Option<u64> {
        let clock = self.cold.as_ref()?.stops_of(priority.into())?.queues.get(queue as usize)?;
        (clock.stopped || clock.held).then_some(clock.since)
    }

    /// The link begins to recover at `t`.
    pub fn begin_recovery(&mut self, t: u64) {
        let gate = self.blocked;
        self.set_gate(t, 0);
        self.busy_until = self.busy_until.min(t.max(self.busy_from));
        self.recovered = true;
        let cold = self.cold.get_or_insert_default();
        let stopped = cold.queues(|queue| queue.stopped);
        let congested = cold.ports(|port| port.congested);
        for &(channel, queue) in &stopped {
            self.set_stopped(t, channel, queue, false);
        }
        for &(channel, port) in &congested {
            self.set_congested(t, channel, port, false);
        }
        let cold = self.cold.get_or_insert_default();
        for &(channel, queue) in &stopped {
            cold.stops_in(channel).queues[queue as usize].hold(t, true);
        }
        for &(channel, port) in &congested {
            cold.stops_in(channel).ports[port as usize].held = true;
        }
        cold.recovery.since = Some(t);
        // Not before: stops that end here must not see time without credit that has been counted.
        self.set(gate);
    }

    /// The link is itself again at `t`; what it carries then lasts until `busy_until`. `waiting`: packets
    /// wait that may have waited before.
    pub fn end_recovery(&mut self, t: u64, busy_until: u64, waiting: bool) {
        let cold = self.cold.get_or_insert_default();
        let recovery = &mut cold.recovery;
        let Some(since) = recovery.since.take() else { return };
        if !waiting {
            recovery.spells.clear();
        }
        recovery.spells.push_back((since, t, recovery.total));
        recovery.total += t - since;
        let stopped = cold.queues(|queue| queue.held);
        for &(channel, queue) in &stopped {
            cold.stops_in(channel).queues[queue as usize].hold(t, false);
        }
        let congested = cold.ports(|port| std::mem::take(&mut port.held));
        let gate = self.blocked;
        self.set(0);
        self.set_gate(t, gate);
        for &(channel, queue) in &stopped {
            self.set_stopped(t, channel, queue, true);
        }
        for &(channel, port) in &congested {
            self.set_congested(t, channel, port, true);
        }
        if busy_until > t {
            self.transmit(t, busy_until);
        }
    }

    /// While the link recovers a transmission is no reason to wait.
    pub fn forget_transmission(&mut self) {
        if self.is_recovering() {
            self.busy_until = self.busy_from;
        }
    }

    /// Whether the link recovers.
    pub fn is_recovering(&self) -> bool {
        self.recovered && self.cold.as_ref().is_some_and(|cold| cold.recovery.since.is_some())
    }

    /// Whether recoveries have to be asked for.
    #[inline(always)]
    pub fn has_recovered(&self) -> bool {
        self.recovered
    }

    /// Time between `from` and `t` in which the link was recovering.
    pub fn recovery_between(&self, from: u64, t: u64) -> u64 {
        self.cold.as_ref().map_or(0, |cold| cold.recovery.at(t) - cold.recovery.at(from))
    }

    /// Time up to `t` in which the link was recovering.
    pub fn recovery_total(&self, t: u64) -> u64 {
        self.cold.as_ref().map_or(0, |cold| cold.recovery.at(t))
    }

    /// Sum over staging queues of the time stopped up to `t`.
    pub fn stopped_total(&self, t: u64) -> u64 {
        let Some(cold) = &self.cold else { return 0 };
        let stopped = |q: &QueueClock| q.total + if q.stopped { t - q.since } else { 0 };
        let held = |q: &QueueClock| q.held_total + if q.held { t - q.held_since } else { 0 };
        cold.all_stops().flat_map(|stops| &stops.queues).map(|q| stopped(q) + held(q)).sum()
    }

    /// The longest that a queue was stopped without a break, up to `t`.
    pub fn longest_stop(&self, t: u64) -> u64 {
        let Some(cold) = &self.cold else { return 0 };
        let longest =
            |q: &QueueClock| if q.stopped || q.held { q.longest.max(t - q.edge) } else { q.longest };
        cold.all_stops().flat_map(|stops| &stops.queues).map(longest).max().unwrap_or(0)
    }

    /// State of the target (queue, priority) at `t`; `port` is the packet's own next-hop port.
    #[inline(always)]
    pub fn snapshot(&self, t: u64, priority: u8, queue: u8, port: u8) -> (Since, StoppedBefore) {
        let p = priority as usize;
        let (none, busy) = self.credit_at(t, p);
        let mut snapshot = StoppedBefore::default();
        if let Some(cold) = &self.cold
            && let Some(stops) = cold.stops_of(p)
        {
            if let Some(clock) = stops.queues.get(queue as usize) {
                let p = credit_place(p);
                snapshot.stopped = clock.total;
                snapshot.stopped_none = clock.none[p];
                snapshot.stopped_busy = clock.busy[p];
                if clock.stopped {
                    snapshot.stopped += t - clock.since;
                    snapshot.stopped_none += none - clock.none_at[p];
                    snapshot.stopped_busy += busy - clock.busy_at[p];
                }
            }
            if let Some(clock) = stops.ports.get(port as usize) {
                snapshot.congested = clock.total + if clock.congested { t - clock.since } else { 0 };
            }
        }
        (Since { at: t, busy, none }, snapshot)
    }

    /// How the time from `since` to `t` divides for the same target.
    #[inline(always)]
    pub fn closed(
        &self,
        (since, from): (Since, StoppedBefore),
        t: u64,
        priority: u8,
        queue: u8,
        port: u8,
    ) -> Closed {
        let (until, now) = self.snapshot(t, priority, queue, port);
        let stopped = now.stopped - from.stopped;
        let congested = now.congested - from.congested;
        let no_buffer = (until.none - since.none) - (now.stopped_none - from.stopped_none);
        let busy = (until.busy - since.busy) - (now.stopped_busy - from.stopped_busy);
        // A congested port stops its queue, so its time lies inside the queue's.
        let staged = congested.min(stopped);
        let closed = stopped + no_buffer + busy;
        let total = t - since.at;
        assert!(closed <= total, "closed {closed} ps of {total} ps: the causes overlap");
        Closed { staged, comingled: stopped - staged, no_buffer, busy, open: total - closed }
    }
}

/// Numbers of those of which `what` is true, by channel.
fn held<'a, T: 'a>(
    clocks: impl Iterator<Item = &'a mut Vec<T>>,
    what: impl Fn(&mut T) -> bool,
) -> Vec<(u8, u8)> {
    let mut found = Vec::new();
    for (channel, clocks) in (0..).zip(clocks) {
        let numbered = (0..).zip(clocks);
        found.extend(numbered.filter_map(|(n, clock)| what(clock).then_some((channel, n))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_queue_is_stopped_also_while_the_link_recovers() {
        let mut clock = TransmitClock::default();
        assert_eq!(clock.stopped_since(0, 1), None);
        clock.edge(10, 0, 1, true);
        assert_eq!((clock.stopped_since(0, 0), clock.stopped_since(0, 1)), (None, Some(10)));
        clock.begin_recovery(20);
        assert!(clock.stopped_since(0, 1).is_some() && clock.stopped_since(0, 0).is_none());
        // A stop that begins and one that ends meanwhile.
        clock.edge(25, 0, 1, false);
        assert_eq!(clock.stopped_since(0, 1), None);
        clock.edge(26, 0, 0, true);
        assert!(clock.stopped_since(0, 0).is_some());
        assert_eq!(clock.stopped_total(28), 17);
        clock.end_recovery(30, 30, true);
        assert_eq!((clock.stopped_since(0, 0), clock.stopped_since(0, 1)), (Some(30), None));
        clock.edge(40, 0, 0, false);
        assert_eq!(clock.stopped_since(0, 0), None);
        // From 10 to 25, and from 26 to 40.
        assert_eq!(clock.stopped_total(50), 29);
        assert_eq!(clock.longest_stop(50), 15);
        clock.edge(60, 0, 0, true);
        assert_eq!((clock.longest_stop(75), clock.longest_stop(76)), (15, 16));
    }

    /// The integrals of a clock, counted picosecond by picosecond.
    #[derive(Default)]
    struct Tick {
        busy_until: u64,
        blocked: bool,
        no_ack_id: bool,
        stopped: bool,
        congested: bool,
    }

    proptest! {
        #[test]
        fn integrals_equal_a_tick_by_tick_count(
            steps in prop::collection::vec((0u8..7, 1u64..9), 1..60),
            wait_from in 0u64..40,
        ) {
            let mut clock = TransmitClock::default();
            let mut tick = Tick::default();
            let (mut t, mut closed) = (0u64, Closed::default());
            let (mut snapshot, mut no_ack_id) = (None, 0);
            for (what, gap) in steps {
                match what {
                    0 if t >= tick.busy_until => {
                        clock.transmit(t, t + 5);
                        tick.busy_until = t + 5;
                    }
                    1 => {
                        (tick.blocked, tick.no_ack_id) = (!tick.blocked, false);
                        clock.set_blocked(t, u16::from(tick.blocked));
                    }
                    // Whoever has no ackID may send nothing; there may be no buffer, too, before and after.
                    6 => {
                        (tick.blocked, tick.no_ack_id) = (true, !tick.no_ack_id);
                        clock.set_blocked(t, 1 | if tick.no_ack_id { NO_ACK_ID } else { 0 });
                    }
                    2 if !tick.congested => {
                        tick.stopped = !tick.stopped;
                        clock.set_stopped(t, 0, 0, tick.stopped);
                    }
                    // The own port can be congested only while its queue is stopped.
                    3 if tick.stopped => {
                        tick.congested = !tick.congested;
                        clock.set_congested(t, 0, 3, tick.congested);
                    }
                    _ => {}
                }
                for _ in 0..gap {
                    if t == wait_from {
                        let mark = clock.has_run_out().then(|| clock.ack_mark(t, 0, 0));
                        snapshot = Some((clock.snapshot(t, 0, 0, 3), mark.unwrap_or_default()));
                    }
                    if t >= wait_from {
                        if tick.congested {
                            closed.staged += 1;
                        } else if tick.stopped {
                            closed.comingled += 1;
                        } else if tick.blocked {
                            closed.no_buffer += 1;
                            no_ack_id += u64::from(tick.no_ack_id);
                        } else if t < tick.busy_until {
                            closed.busy += 1;
                        } else {
                            closed.open += 1;
                        }
                    }
                    t += 1;
                }
            }
            if let Some((snapshot, mark)) = snapshot {
                prop_assert_eq!(clock.closed(snapshot, t, 0, 0, 3), closed);
                prop_assert_eq!(clock.without_ack_id(wait_from, mark, t, 0, 0), no_ack_id);
            }
        }
    }
}
