//! Packets in queues, times the time that they were there.

use crate::ids::PortId;
use sim_core::Time;

/// A number of things, integrated over time between two samples: whoever comes at `t` counts -t, whoever goes
/// at `t` counts t, and whoever is there at the next sample goes then, and comes again. So nothing need be
/// known of the time of the last change, and changes may be told in any order. Sums wrap: only the whole
/// between two samples has to fit (2^64 packet-picoseconds).
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Integral(u64);

impl Integral {
    /// One more from `at` on.
    #[inline(always)]
    pub fn come(&mut self, at: u64) {
        self.0 = self.0.wrapping_sub(at);
    }

    /// One less from `at` on.
    #[inline(always)]
    pub fn go(&mut self, at: u64) {
        self.0 = self.0.wrapping_add(at);
    }

    /// The whole from the last sample to one at `at`, when there are `now`.
    pub fn close(&mut self, at: Time, now: u64) -> u64 {
        let there = now.wrapping_mul(at.0);
        let whole = self.0.wrapping_add(there);
        self.0 = there.wrapping_neg();
        whole
    }
}

/// The queues of one port.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Queues {
    /// Packets in its receive buffers.
    pub input: Integral,
    /// Packets that wait for its transmitter.
    pub waiting: Integral,
}

/// The queues of all ports; empty where nobody samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Occupancy(Vec<Queues>);

impl Occupancy {
    pub fn new(ports: usize) -> Self {
        Occupancy(vec![Queues::default(); ports])
    }

    /// Those of a port, where somebody samples.
    #[inline(always)]
    pub fn of(&mut self, port: PortId) -> Option<&mut Queues> {
        self.0.get_mut(port.index())
    }

    /// A packet takes a receive buffer of `port` at `at`.
    #[inline(always)]
    pub fn buffered(&mut self, port: PortId, at: u64) {
        if let Some(queues) = self.of(port) {
            queues.input.come(at);
        }
    }

    /// A receive buffer of `port` is free from `at` on.
    #[inline(always)]
    pub fn released(&mut self, port: PortId, at: u64) {
        if let Some(queues) = self.of(port) {
            queues.input.go(at);
        }
    }

    /// A packet begins to wait for the transmitter of `port` at `at`.
    #[inline(always)]
    pub fn waits(&mut self, port: PortId, at: u64) {
        if let Some(queues) = self.of(port) {
            queues.waiting.come(at);
        }
    }

    /// A packet has waited for the transmitter of `port` up to `at`.
    #[inline(always)]
    pub fn starts(&mut self, port: PortId, at: u64) {
        if let Some(queues) = self.of(port) {
            queues.waiting.go(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two from 10 and 30 on, one of which goes at 45, told late: 20 + 2 x 15 + 55 up to 100; then one up to
    /// 150, when it goes.
    #[test]
    fn what_comes_and_goes_is_integrated() {
        let mut sum = Integral::default();
        sum.come(30);
        sum.go(45);
        sum.come(10);
        assert_eq!(sum.close(Time(100), 1), 20 + 2 * 15 + 55);
        sum.go(150);
        assert_eq!(sum.close(Time(200), 0), 50);
        assert_eq!(sum.close(Time(300), 0), 0);
    }
}
