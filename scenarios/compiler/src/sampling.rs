//! How often queues are observed, where the scenario leaves it open.

use models::config::{Arrivals, FabricConfig};
use models::sim_core::{Duration, Time};

/// Observations of a run.
const SAMPLES: u64 = 1_000;
/// So many intervals of observations are not a whole number of intervals of a flow: as many phases of it are
/// seen before one comes again.
const PHASES: u64 = 8;
/// "Not a whole number" means off by this part of the interval of the flow; less where many flows ask for it.
/// What is off by little sees all moments as well, but one after the other: a slow wave that is not there.
const OFF: [u128; 3] = [20, 40, 80];
/// Intervals that are tried, each shorter by this part of the first.
const STEP: u64 = 256;

/// About a thousandth of the run, out of step with every flow of constant interval: at a multiple of it
/// each observation would see the same moment of that flow.
pub(crate) fn every(until: Time, config: &FabricConfig) -> Duration {
    let whole = (until.0 / SAMPLES).max(1);
    let intervals: Vec<(u64, u64)> = config
        .all_sources()
        .filter_map(|source| match source.arrivals {
            Arrivals::Constant { interval, .. } => Some(interval),
            _ => None,
        })
        .collect();
    let mut tried = OFF.iter().flat_map(|off| (0..STEP / 2).map(|step| (whole - whole / STEP * step, *off)));
    let free =
        |(every, off): &(u64, u128)| intervals.iter().all(|interval| is_out_of_step(*every, *interval, *off));
    Duration(tried.find(free).map_or(whole, |(every, _)| every))
}

/// Whether observations so often see at least [`PHASES`] moments of a flow of this interval, a rational
/// number of picoseconds.
fn is_out_of_step(every: u64, (interval, parts): (u64, u64), off: u128) -> bool {
    let (every, interval) = (u128::from(every) * u128::from(parts), u128::from(interval));
    let phases = u128::from(PHASES);
    // who is so slow is seen more often than that in each interval
    interval > phases * every
        || (1..=phases).all(|times| {
            let rest = times * every % interval;
            rest.min(interval - rest) * off >= interval
        })
}

#[cfg(test)]
mod tests {
    use models::config::FabricConfig;
    use models::sim_core::{Duration, Time};

    fn is_out_of_step(every: u64, interval: (u64, u64)) -> bool {
        super::is_out_of_step(every, interval, super::OFF[0])
    }

    /// Without a flow of constant interval a thousandth of the run, and never no time at all.
    #[test]
    fn a_thousandth() {
        let every = |until| super::every(Time(until), &FabricConfig::default());
        assert_eq!((every(4_000_000), every(10)), (Duration(4_000), Duration(1)));
    }

    #[test]
    fn steps() {
        // every second one, half of one, two thirds, and near a whole number
        assert!(!is_out_of_step(4_000, (2_000, 1)) && !is_out_of_step(1_000, (2_000, 1)));
        assert!(!is_out_of_step(2_000, (3_000, 1)) && !is_out_of_step(2_001, (2_000, 1)));
        // the golden mean, and a slow flow
        assert!(is_out_of_step(1_618, (1_000, 1)) && is_out_of_step(1_000, (8_001, 1)));
        // three of 1 000/3 ps each
        assert!(!is_out_of_step(1_000, (1_000, 3)));
    }
}
