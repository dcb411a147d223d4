//! From the length of a queue to a verdict. Part 12 §4.2 e leaves to the device what a change of status is;
//! here it is two thresholds, so that a queue must empty by `on - off` packets between "congested" and
//! "clear".

use core::fmt;

/// Two thresholds on the number of packets in a queue. The queue is the egress queue, or, where verdicts are
/// per ingress port, the queue of one (ingress, egress) pair.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Thresholds {
    on: u32,
    off: u32,
}

/// Thresholds without hysteresis: `on` must be greater than `off`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct ThresholdError {
    /// The threshold for "congested", in packets.
    pub on: u32,
    /// The threshold for "clear", in packets.
    pub off: u32,
}

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "congestion thresholds: on must exceed off, on {} and off {} given", self.on, self.off)
    }
}

impl core::error::Error for ThresholdError {}

impl Thresholds {
    /// Congested from `on` packets on, clear again at `off` packets and fewer; in packets, `0 <= off < on`.
    ///
    /// # Errors
    /// [`ThresholdError`].
    pub const fn new(on: u32, off: u32) -> Result<Self, ThresholdError> {
        if on > off { Ok(Self { on, off }) } else { Err(ThresholdError { on, off }) }
    }

    /// Packets at which the queue becomes congested.
    #[must_use]
    pub const fn on(self) -> u32 {
        self.on
    }

    /// Packets at which it becomes clear.
    #[must_use]
    pub const fn off(self) -> u32 {
        self.off
    }

    /// The verdict for a queue of `occupancy` packets whose last verdict was `congested`.
    #[must_use]
    pub const fn verdict(self, congested: bool, occupancy: u32) -> bool {
        if congested { occupancy > self.off } else { occupancy >= self.on }
    }
}

/// Packets of one upstream link that can still arrive after the queue reached its `on` threshold, in the
/// worst phase: ceil(D / T) + 1 + F. A queue that keeps so many places above `on` for every link that feeds
/// it is never the cause of blocking (Part 12 §2.5).
///
/// `loop_ps` D: message latency and twice the propagation, in picoseconds; `packet_ps` T: time of one maximum
/// packet with its delimiter, at least 1; `committed` F: packets between the upstream scheduler and the wire.
///
/// # Panics
/// If `packet_ps` is 0.
#[must_use]
pub const fn headroom_packets(loop_ps: u64, packet_ps: u64, committed: u64) -> u64 {
    loop_ps.div_ceil(packet_ps) + 1 + committed
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    /// Proves: VOQ-4.2-6, VOQ-2.5-7
    #[test]
    fn verdict_follows_the_two_thresholds() {
        for on in 1..8 {
            for off in 0..on {
                let thresholds = Thresholds::new(on, off).unwrap();
                for occupancy in 0..10 {
                    assert_eq!(thresholds.verdict(false, occupancy), occupancy >= on);
                    assert_eq!(thresholds.verdict(true, occupancy), occupancy > off);
                }
                // Between "congested" and "clear" at least on - off packets leave.
                let mut occupancy = on;
                while thresholds.verdict(true, occupancy) {
                    occupancy -= 1;
                }
                assert_eq!(on - occupancy, thresholds.on() - thresholds.off());
            }
        }
        assert_eq!(Thresholds::new(3, 3), Err(ThresholdError { on: 3, off: 3 }));
        assert_eq!(
            Thresholds::new(2, 3).unwrap_err().to_string(),
            "congestion thresholds: on must exceed off, on 2 and off 3 given"
        );
    }

    #[test]
    fn headroom() {
        // D in tenths of T.
        for (tenths, packets) in [(1, 2), (7, 2), (10, 2), (15, 3), (30, 4), (100, 11)] {
            assert_eq!(headroom_packets(tenths, 10, 0), packets);
            assert_eq!(headroom_packets(tenths, 10, 2), packets + 2);
        }
        // 4x at 5 Gbaud, 2 m of cable: D = 150 ns, T = 142 ns.
        assert_eq!(headroom_packets(150_000, 142_000, 0), 3);
    }
}
