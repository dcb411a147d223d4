//! Whether several threads pay: seen at the beginning of a run, from how long they wait for each other.
//!
//! No result depends on it. What was done in the trial is done again by one thread if they do not.

use models::run::Cost;

/// Windows before the trial: until then the fabric fills.
const BEFORE: u64 = 16;
/// Windows at its end.
const WINDOWS: u64 = 50;
/// The trial is at most this part of a run: to do more than that twice costs more than it saves.
const PART: u64 = 32;
/// Events between two looks during the trial.
pub(crate) const SLICE: u64 = 1 << 14;
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
    /// One thread is faster.
    Alone,
}

/// Trial of a run that ends at `until_ps`.
pub(crate) struct Trial {
    until_ps: u64,
    /// The time and what it has cost when the fabric was full.
    full: Option<(u64, Cost)>,
}

impl Trial {
    pub fn new(until_ps: u64) -> Self {
        Trial { until_ps, full: None }
    }

    /// After a slice: simulated time, time of the clock that measures waiting, and cost of the run so far.
    pub fn verdict(&mut self, now_ps: u64, clock: u64, cost: Cost) -> Verdict {
        if now_ps > self.until_ps / PART {
            return Verdict::Stay;
        }
        match self.full {
            None if cost.windows >= BEFORE => {
                self.full = Some((clock, cost));
                Verdict::Open
            }
            Some((begin, before)) if cost.windows >= WINDOWS => {
                match pays(clock - begin, cost.waited - before.waited, cost.threads as u64) {
                    true => Verdict::Stay,
                    false => Verdict::Alone,
                }
            }
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

    #[test]
    fn a_trial_is_short() {
        let cost = |windows, waited| Cost { windows, waited, threads: 2, ..Cost::default() };
        let mut trial = Trial::new(3_200);
        assert_eq!(trial.verdict(10, 0, cost(15, 0)), Verdict::Open);
        // Who waits while the fabric fills, and when it is full no more.
        assert_eq!(trial.verdict(20, 1_000, cost(16, 2_000)), Verdict::Open);
        assert_eq!(trial.verdict(30, 1_500, cost(49, 2_900)), Verdict::Open);
        assert_eq!(trial.verdict(100, 2_000, cost(50, 2_833)), Verdict::Stay);
        assert_eq!(trial.verdict(100, 2_000, cost(50, 2_834)), Verdict::Alone);
        // Too late.
        assert_eq!(trial.verdict(101, 2_000, cost(50, 4_000)), Verdict::Stay);
    }
}
