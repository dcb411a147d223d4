//! Whether several threads pay: seen at the beginning of a run, from how much happens in a window and from
//! how long they wait for each other.
//!
//! No result depends on it. What was done in the trial is done again by one thread if they do not.

use models::run::{Cost, Whole};

/// Windows before the trial: until then the fabric fills ...
const BEFORE: u64 = 16;
/// ... and threads that have begun on one processor are parted, ns.
const SETTLED: u64 = 10_000_000;
/// Windows at its end, at least.
const WINDOWS: u64 = 50;
/// How long it takes after the fabric is full, if the run is long enough, ns: several turns of whoever shares
/// the machine. Less would take one hiccup for the rule.
const ENOUGH: u64 = 20_000_000;
/// The trial is about this part of a run at most: to do more than that twice costs more than it saves.
const PART: u64 = 32;
/// Events between two looks during the trial.
pub(crate) const SLICE: u64 = 1 << 10;
/// Events of a window for each thread, below which it takes longer to begin and end the window, and to send
/// what crosses the cut, than the threads gain. Waiting does not show it: who sends mail does not wait.
/// Measured (docs/performance.md, "More cores").
const EVENTS: u64 = 64;
/// Of so many parts of the work of threads that run parts of a fabric ...
const WORK: u128 = 7;
/// ... one thread has to do so many: it sends no mail, and prepares no windows.
const ALONE: u128 = 6;

/// What a trial has come to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on.
    Open,
    /// Several threads are no slower than one, or it is too late to ask.
    Stay,
    /// One thread is faster, and why.
    Alone(Whole),
}

/// Trial of a run that ends at `until_ps`.
pub(crate) struct Trial {
    until_ps: u64,
    /// Time at the first look.
    begun: Option<u64>,
    /// The time and what it has cost when the fabric was full.
    full: Option<(u64, Cost)>,
}

impl Trial {
    pub fn new(until_ps: u64) -> Self {
        Trial { until_ps, begun: None, full: None }
    }

    /// After a slice: simulated time, time of the clock that measures waiting, and cost of the run so far.
    pub fn verdict(&mut self, now_ps: u64, clock: u64, cost: Cost) -> Verdict {
        let last = now_ps > self.until_ps / PART;
        let settled = clock - *self.begun.get_or_insert(clock) >= SETTLED;
        let is_quiet = |since: Cost| {
            cost.events - since.events < (cost.windows - since.windows) * EVENTS * cost.threads as u64
        };
        match self.full {
            None if cost.windows >= BEFORE && is_quiet(Cost::default()) => Verdict::Alone(Whole::Quiet),
            None if cost.windows >= BEFORE && settled && !last => {
                self.full = Some((clock, cost));
                Verdict::Open
            }
            Some((begin, before)) if cost.windows >= WINDOWS && (last || clock - begin >= ENOUGH) => {
                if is_quiet(before) {
                    Verdict::Alone(Whole::Quiet)
                } else if pays(clock - begin, cost.waited - before.waited, cost.threads as u64) {
                    Verdict::Stay
                } else {
                    Verdict::Alone(Whole::Waiting)
                }
            }
            _ if last => Verdict::Stay,
            _ => Verdict::Open,
        }
    }
}

/// Whether `threads` that waited for so long, together, in a time of `wall` were as fast as one.
fn pays(wall: u64, waited: u64, threads: u64) -> bool {
    let worked = (u128::from(wall) * u128::from(threads)).saturating_sub(waited.into());
    worked * ALONE >= u128::from(wall) * WORK
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two threads in 1 s: at most 0.833 s of the 2 s are for waiting, or 6/7 of the rest is less than 1 s.
    #[test]
    fn who_waits_too_long_goes_alone() {
        assert!(pays(1_000, 0, 2) && pays(1_000, 833, 2) && !pays(1_000, 834, 2));
        // Four: 2.833 s of 4.
        assert!(pays(1_000, 2_833, 4) && !pays(1_000, 2_834, 4));
        assert!(!pays(1_000, 0, 1), "one thread has nobody to share with");
    }

    /// 100 windows of 128 events are enough for two threads, and one event less is not; nobody decides before
    /// the fabric is full. What happens later, when less happens, counts as well.
    #[test]
    fn who_has_too_little_to_do_goes_alone() {
        let cost = |windows, events| Cost { windows, events, threads: 2, ..Cost::default() };
        let first = |cost| Trial::new(3_200).verdict(1, 0, cost);
        assert_eq!(first(cost(15, 0)), Verdict::Open);
        assert_eq!(first(cost(16, 16 * 128)), Verdict::Open);
        assert_eq!(first(cost(16, 16 * 128 - 1)), Verdict::Alone(Whole::Quiet));
        assert_eq!(first(Cost { threads: 4, ..cost(16, 16 * 256 - 1) }), Verdict::Alone(Whole::Quiet));
        // Too late to know how long threads wait, and not to know this.
        assert_eq!(Trial::new(3_200).verdict(101, 0, cost(16, 16 * 128 - 1)), Verdict::Alone(Whole::Quiet));
        let mut trial = Trial::new(3_200);
        assert_eq!(trial.verdict(1, 0, cost(20, 20_000)), Verdict::Open);
        assert_eq!(trial.verdict(2, SETTLED, cost(40, 40_000)), Verdict::Open);
        assert_eq!(trial.verdict(3, SETTLED + ENOUGH, cost(140, 52_799)), Verdict::Alone(Whole::Quiet));
    }

    #[test]
    fn a_trial_is_short() {
        const MS: u64 = 1_000_000;
        let cost = |windows, waited| Cost {
            windows,
            waited,
            events: 1_000 * windows,
            threads: 2,
            ..Cost::default()
        };
        let begun = || {
            let mut trial = Trial::new(3_200);
            assert_eq!(trial.verdict(10, 0, cost(15, 0)), Verdict::Open);
            // Who waits while the fabric fills, and when it is full no more; nor who waits for 9 ms at first.
            assert_eq!(trial.verdict(15, 9 * MS, cost(40, 18 * MS)), Verdict::Open);
            assert_eq!(trial.verdict(20, 10 * MS, cost(40, 20 * MS)), Verdict::Open);
            trial
        };
        // Many windows soon, or few late: neither is enough.
        assert_eq!(begun().verdict(30, 29 * MS, cost(500, 57 * MS)), Verdict::Open);
        assert_eq!(begun().verdict(30, 40 * MS, cost(49, 70 * MS)), Verdict::Open);
        // 20 ms of two threads: 16.66 ms of waiting are too many.
        assert_eq!(begun().verdict(30, 30 * MS, cost(50, 36 * MS)), Verdict::Stay);
        assert_eq!(begun().verdict(30, 30 * MS, cost(50, 37 * MS)), Verdict::Alone(Whole::Waiting));
        // A short run has less time, and what is known then decides.
        assert_eq!(begun().verdict(101, 12 * MS, cost(50, 23 * MS)), Verdict::Alone(Whole::Waiting));
        assert_eq!(begun().verdict(101, 12 * MS, cost(50, 21 * MS)), Verdict::Stay);
        // Too late.
        assert_eq!(begun().verdict(101, 40 * MS, cost(49, 80 * MS)), Verdict::Stay);
        assert_eq!(Trial::new(3_200).verdict(101, 40 * MS, cost(50, 80 * MS)), Verdict::Stay);
    }
}
