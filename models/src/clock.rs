//! Exclusive time integrals of one transmitter: how long it was busy, without credit, or a queue stopped.
//!
//! A packet that has to wait stores a [`Snapshot`]; when the wait ends, the differences say how long its
//! target was closed and why, in O(1). Causes exclude each other in the order staged, no buffer, busy: each
//! integral with a lower rank keeps the share that a higher rank covers, and subtracts it.

use crate::config::PRIORITIES;

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

/// Integrals of one staging queue, kept from its first stop on.
#[derive(Clone, Debug, Default)]
struct QueueClock {
    stopped: bool,
    total: u64,
    since: u64,
    /// Time without credit, and busy time with credit, inside stops.
    none: [u64; PRIORITIES],
    busy: [u64; PRIORITIES],
    none_at: [u64; PRIORITIES],
    busy_at: [u64; PRIORITIES],
}

/// Time for which one of the neighbour's ports was congested.
#[derive(Copy, Clone, Debug, Default)]
struct PortClock {
    congested: bool,
    total: u64,
    since: u64,
}

/// What a waiting packet remembers.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub at: u64,
    none: u64,
    busy: u64,
    stopped: u64,
    stopped_none: u64,
    stopped_busy: u64,
    congested: u64,
}

/// Closed time of a target between two instants, by cause.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Closed {
    /// Own next-hop port congested.
    pub staged: u64,
    /// The queue was stopped for another port that shares it.
    pub comingled: u64,
    pub no_buffer: u64,
    pub busy: u64,
    /// The rest: the target was open.
    pub open: u64,
}

/// The integrals of one transmitter.
#[derive(Clone, Debug, Default)]
pub(crate) struct TransmitClock {
    busy: u64,
    busy_from: u64,
    busy_until: u64,
    /// Priorities without credit, one bit each.
    blocked: u8,
    cold: Option<Box<Cold>>,
}

#[derive(Clone, Debug, Default)]
struct Cold {
    credit: [Credit; PRIORITIES],
    queues: Vec<QueueClock>,
    ports: Vec<PortClock>,
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

    /// Instant of the last commitment.
    pub fn last_start(&self) -> u64 {
        self.busy_from
    }

    /// Busy integral at `t`, which is not before the last commitment.
    #[inline(always)]
    fn busy_at(&self, t: u64) -> u64 {
        self.busy + t.min(self.busy_until).saturating_sub(self.busy_from)
    }

    /// Priorities without credit.
    #[inline]
    pub fn blocked(&self) -> u8 {
        self.blocked
    }

    /// The set of priorities without credit changes at `t`.
    #[inline(always)]
    pub fn set_blocked(&mut self, t: u64, blocked: u8) {
        if blocked != self.blocked {
            self.flip_blocked(t, blocked);
        }
    }

    #[cold]
    fn flip_blocked(&mut self, t: u64, blocked: u8) {
        let busy = self.busy_at(t);
        let cold = self.cold.get_or_insert_default();
        for (p, credit) in cold.credit.iter_mut().enumerate() {
            let bit = 1u8 << p;
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
        self.blocked = blocked;
    }

    /// (time without credit, busy time with credit) for a priority at `t`.
    #[inline(always)]
    fn credit_at(&self, t: u64, priority: usize) -> (u64, u64) {
        let busy = self.busy_at(t);
        let Some(cold) = &self.cold else { return (0, busy) };
        let credit = &cold.credit[priority];
        let (mut none, mut covered) = (credit.none, credit.busy);
        if self.blocked & (1 << priority) != 0 {
            none += t - credit.since;
            covered += busy - credit.busy_at;
        }
        (none, busy - covered)
    }

    /// Staging queue `queue` stops or goes at `t`.
    pub fn set_stopped(&mut self, t: u64, queue: u8, stopped: bool) {
        let now: [(u64, u64); PRIORITIES] = std::array::from_fn(|p| self.credit_at(t, p));
        let cold = self.cold.get_or_insert_default();
        if cold.queues.len() <= queue as usize {
            cold.queues.resize_with(queue as usize + 1, QueueClock::default);
        }
        let clock = &mut cold.queues[queue as usize];
        assert_ne!(clock.stopped, stopped, "staging edges alternate");
        clock.stopped = stopped;
        if stopped {
            clock.since = t;
        } else {
            clock.total += t - clock.since;
        }
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

    /// The neighbour's port `port` becomes congested or clear at `t`.
    pub fn set_congested(&mut self, t: u64, port: u8, congested: bool) {
        let cold = self.cold.get_or_insert_default();
        if cold.ports.len() <= port as usize {
            cold.ports.resize_with(port as usize + 1, PortClock::default);
        }
        let clock = &mut cold.ports[port as usize];
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

    /// Since when staging queue `queue` is stopped, if it is.
    pub fn stopped_since(&self, queue: u8) -> Option<u64> {
        let clock = self.cold.as_ref()?.queues.get(queue as usize)?;
        clock.stopped.then_some(clock.since)
    }

    /// Sum over staging queues of the time stopped up to `t`.
    pub fn stopped_total(&self, t: u64) -> u64 {
        let Some(cold) = &self.cold else { return 0 };
        cold.queues.iter().map(|q| q.total + if q.stopped { t - q.since } else { 0 }).sum()
    }

    /// State of the target (queue, priority) at `t`; `port` is the packet's own next-hop port.
    #[inline(always)]
    pub fn snapshot(&self, t: u64, priority: u8, queue: u8, port: u8) -> Snapshot {
        let p = priority as usize;
        let (none, busy) = self.credit_at(t, p);
        let mut snapshot = Snapshot { at: t, none, busy, ..Snapshot::default() };
        if let Some(cold) = &self.cold {
            if let Some(clock) = cold.queues.get(queue as usize) {
                snapshot.stopped = clock.total;
                snapshot.stopped_none = clock.none[p];
                snapshot.stopped_busy = clock.busy[p];
                if clock.stopped {
                    snapshot.stopped += t - clock.since;
                    snapshot.stopped_none += none - clock.none_at[p];
                    snapshot.stopped_busy += busy - clock.busy_at[p];
                }
            }
            if let Some(clock) = cold.ports.get(port as usize) {
                snapshot.congested = clock.total + if clock.congested { t - clock.since } else { 0 };
            }
        }
        snapshot
    }

    /// How the time from `from` to `t` divides for the same target.
    #[inline(always)]
    pub fn closed(&self, from: &Snapshot, t: u64, priority: u8, queue: u8, port: u8) -> Closed {
        let now = self.snapshot(t, priority, queue, port);
        let stopped = now.stopped - from.stopped;
        let congested = now.congested - from.congested;
        let no_buffer = (now.none - from.none) - (now.stopped_none - from.stopped_none);
        let busy = (now.busy - from.busy) - (now.stopped_busy - from.stopped_busy);
        // A congested port stops its queue, so its time lies inside the queue's.
        let staged = congested.min(stopped);
        let closed = stopped + no_buffer + busy;
        let total = t - from.at;
        assert!(closed <= total, "closed {closed} ps of {total} ps: the causes overlap");
        Closed { staged, comingled: stopped - staged, no_buffer, busy, open: total - closed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same integrals, counted picosecond by picosecond.
    #[derive(Default)]
    struct Tick {
        busy_until: u64,
        blocked: bool,
        stopped: bool,
        congested: bool,
    }

    proptest! {
        #[test]
        fn integrals_equal_a_tick_by_tick_count(
            steps in prop::collection::vec((0u8..6, 1u64..9), 1..60),
            wait_from in 0u64..40,
        ) {
            let mut clock = TransmitClock::default();
            let mut tick = Tick::default();
            let (mut t, mut closed) = (0u64, Closed::default());
            let mut snapshot = None;
            for (what, gap) in steps {
                match what {
                    0 if t >= tick.busy_until => {
                        clock.transmit(t, t + 5);
                        tick.busy_until = t + 5;
                    }
                    1 => {
                        tick.blocked = !tick.blocked;
                        clock.set_blocked(t, u8::from(tick.blocked));
                    }
                    2 if !tick.congested => {
                        tick.stopped = !tick.stopped;
                        clock.set_stopped(t, 0, tick.stopped);
                    }
                    // The own port can be congested only while its queue is stopped.
                    3 if tick.stopped => {
                        tick.congested = !tick.congested;
                        clock.set_congested(t, 3, tick.congested);
                    }
                    _ => {}
                }
                for _ in 0..gap {
                    if t == wait_from {
                        snapshot = Some(clock.snapshot(t, 0, 0, 3));
                    }
                    if t >= wait_from {
                        if tick.congested {
                            closed.staged += 1;
                        } else if tick.stopped {
                            closed.comingled += 1;
                        } else if tick.blocked {
                            closed.no_buffer += 1;
                        } else if t < tick.busy_until {
                            closed.busy += 1;
                        } else {
                            closed.open += 1;
                        }
                    }
                    t += 1;
                }
            }
            if let Some(snapshot) = snapshot {
                prop_assert_eq!(clock.closed(&snapshot, t, 0, 0, 3), closed);
            }
        }
    }
}
