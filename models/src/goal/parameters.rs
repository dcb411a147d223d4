//! What the LogGOPS model is told, and what it tells, whichever rules it runs by.

use sim_core::{Duration, Time};
use std::fmt;

/// Parameters of the model.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LogGops {
    /// L: from sender to receiver.
    pub latency: Duration,
    /// o: processor time of a message, at either end.
    pub overhead: Duration,
    /// g: from one message to the next at a NIC.
    pub gap: Duration,
    /// G: each octet after the first, at a NIC.
    pub gap_per_octet: Duration,
    /// O: each octet after the first, at a processor.
    pub overhead_per_octet: Duration,
    /// S: longer messages wait for their receiver.
    pub eager_octets: u64,
    /// By which rules.
    pub rules: Rules,
}

/// What happens when, as far as the parameters leave it open.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Rules {
    /// Those of LogGOPSim, to its last nanosecond.
    #[default]
    LogGopSim,
    /// A long message asks for clearance. Messages occupy the processor while their octets come in: nothing
    /// is sent meanwhile.
    Processor,
    /// A long message asks for clearance. Messages occupy the NIC, and the processor when they are whole.
    Pipelined,
}

/// A time does not fit into 64 bits of picoseconds (213 days).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Overflow {
    /// Rank.
    pub rank: u32,
    /// Its operation that ends too late.
    pub op: u32,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Overflow { rank, op } = self;
        write!(f, "rank {rank}: operation {op} ends after more than {} ps (213 days)", u64::MAX)
    }
}

impl std::error::Error for Overflow {}

/// When a run was over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When the last operation of each rank was over; `None`: something still waits.
    pub ranks: Vec<Option<Time>>,
    /// Where the others wait for ever: rank, and the first of its operations that never ends.
    pub stuck: Vec<(u32, u32)>,
    /// Time in which each rank computed, on one of its processors or on several.
    pub computed: Vec<Duration>,
    /// The first (rank, operation) that began before an operation was over that it
    /// waits for. Only by [`Rules::LogGopSim`].
    pub early: Option<(u32, u32)>,
}

impl Completion {
    /// When everything was over; `None`: something still waits.
    pub fn end(&self) -> Option<Time> {
        self.ranks.iter().copied().try_fold(Time::ZERO, |last, end| Some(last.max(end?)))
    }
}
