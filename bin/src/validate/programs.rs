//! Programs by the LogGOPS model, without a fabric.

use super::row::{Known, Row, Source};
use models::goal::loggops::{self, LogGops, Rules};
use models::goal::{Schedule, collective};
use models::sim_core::Duration;
use std::sync::Arc;

const LOGGOPS: Source = Source::literature(
    "LogGOPSim (Hoefler, Schneider, Lumsdaine 2010), run on the same programs",
    Known::Read,
);
const BY_HAND: Source = Source::literature(
    "Culler and others 1993, LogP: rounds of a collective operation, by hand",
    Known::Derived,
);

/// L = 200 ns, G = 1 ns for an octet, nothing else takes time.
const FAST: LogGops = LogGops {
    latency: Duration::from_ns(200),
    overhead: Duration(0),
    gap: Duration(0),
    gap_per_octet: Duration::from_ns(1),
    overhead_per_octet: Duration(0),
    eager_octets: u64::MAX,
    rules: Rules::LogGopSim,
};

/// L = 2 500, o = 1 500, g = 1 000, G = 6, S = 65 535.
const SLOW: LogGops = LogGops {
    latency: Duration::from_ns(2_500),
    overhead: Duration::from_ns(1_500),
    gap: Duration::from_ns(1_000),
    gap_per_octet: Duration::from_ns(6),
    eager_octets: 65_535,
    ..FAST
};

fn ns(schedule: Schedule, parameters: LogGops) -> f64 {
    let end = loggops::run(Arc::new(schedule), parameters).ok().and_then(|done| done.end());
    end.map_or(f64::NAN, |end| end.as_ps() as f64 / 1e3)
}

/// Collective operations of many ranks.
pub(crate) fn collectives() -> Vec<Row> {
    let allreduce = || collective::allreduce_halving(64, 65_536);
    let all_to_all = || collective::all_to_all(32, 4_096);
    let figure = |what: &str, found: f64, law: f64| {
        Row::exact("collectives", what, "ns", LOGGOPS).expects(law).found(found)
    };
    // A message of 8 octets: the first octet needs no gap. Six rounds of a barrier of 64 ranks.
    let round = 200.0 + 7.0;
    vec![
        figure("allreduce of 64 KiB, 64 ranks, L 200, G 1", ns(allreduce(), FAST), 131_412.0),
        figure(
            "allreduce of 64 KiB, 64 ranks, L 2500, o 1500, g 1000, G 6",
            ns(allreduce(), SLOW),
            840_072.0,
        ),
        figure("all-to-all of 4 KiB, 32 ranks, L 200, G 1", ns(all_to_all(), FAST), 133_145.0),
        figure(
            "all-to-all of 4 KiB, 32 ranks, L 2500, o 1500, g 1000, G 6",
            ns(all_to_all(), SLOW),
            932_170.0,
        ),
        Row::exact("collectives", "broadcast of 8 octets to 64 ranks, a binomial tree", "ns", BY_HAND)
            .expects(6.0 * round)
            .found(ns(collective::broadcast(64, 8), FAST)),
    ]
}
