//! Whether several threads pay: seen at the beginning of a run, from how much happens in a window and from
//! how long they wait for each other.
//!
//! No result depends on it. What was done in the trial is done again by one thread if they do not.

use models::run::{Cost, Whole};

/// Windows before the trial: until then the fabric fills ...
const BEFORE: u64 = 20;
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
/// Measured (docs/performance.md, "More cores"), where a window of (b) had 64 that now has 53.
const EVENTS: u64 = 53;
/// Events of a window for each thread, from which on one thread is no match for several unless they wait for
/// each other; and a second copy of so large a fabric costs more than it would tell.
const MANY: u64 = 1 << 10;
/// Of so many parts of the work of threads that run parts of a fabric ...
const WORK: u128 = 7;
/// ... one thread has to do so many: it sends no mail, and prepares no windows.
const ALONE: u128 = 6;
/// How long a turn takes, of several threads and of one, ns.
const TURN: u64 = 2_000_000;
/// Events of the first turn, until it is known how many fill one.
const FIRST: u64 = 1 << 13;
/// Who has won so many turns goes on. An odd one that a hiccup spoils does not decide.
const WON: u32 = 4;
/// Several threads win a turn if what they do in so many tenths of a time takes one all of it.
const TENTHS: u128 = 9;

/// What a trial has come to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on.
    Open,
    /// It is not known without the other: one thread begins the same run, and they take turns.
    Turns,
    /// Several threads are no slower than one, or it is too late to ask.
    Stay,
    /// One thread is faster, and why.
    Alone(Whole),
}

/// What a turn came to.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Work {
    /// Events handled.
    pub events: u64,
    /// And how long it took, ns.
    pub took: u64,
}

impl Work {
    /// Nothing yet.
    pub const NONE: Self = Work { events: FIRST, took: TURN };

    /// Events that would have filled a turn.
    pub fn turn(self) -> u64 {
        (u128::from(self.events) * u128::from(TURN) / u128::from(self.took.max(1))).max(1) as u64
    }
}

/// Judges the beginning of a run on several threads.
pub(crate) trait Judge {
    /// After a slice: simulated time, time of the clock that measures waiting, and cost of the run so far.
    fn look(&mut self, now_ps: u64, clock: u64, cost: Cost) -> Verdict;

    /// After a turn of each, of which that of one thread has come to `now_ps`: what several have done in
    /// theirs, and one.
    fn turn(&mut self, now_ps: u64, several: Work, one: Work) -> Verdict;
}

/// Trial of a run that ends at `until_ps`.
pub(crate) struct Trial {
    until_ps: u64,
    /// Time at the first look.
    begun: Option<u64>,
    /// The time and what it has cost when the fabric was full.
    full: Option<(u64, Cost)>,
    /// Turns that several threads have won, and one; the first, in which the fabric fills, does not count
    /// unless it is the last.
    won: Option<[u32; 2]>,
}

impl Trial {
    pub fn new(until_ps: u64) -> Self {
        Trial { until_ps, begun: None, full: None, won: None }
    }

    fn is_last(&self, now_ps: u64) -> bool {
        now_ps > self.until_ps / PART
    }
}

impl Judge for Trial {
    fn look(&mut self, now_ps: u64, clock: u64, cost: Cost) -> Verdict {
        let last = self.is_last(now_ps);
        let settled = clock - *self.begun.get_or_insert(clock) >= SETTLED;
        let (windows, threads) = (cost.windows, cost.threads as u64);
        let is_quiet =
            |since: Cost| cost.events - since.events < (windows - since.windows) * EVENTS * threads;
        match self.full {
            None if windows >= BEFORE && is_quiet(Cost::default()) => Verdict::Alone(Whole::Quiet),
            None if windows >= WINDOWS && (settled || last) && cost.events < windows * MANY * threads => {
                Verdict::Turns
            }
            None if windows >= BEFORE && settled && !last => {
                self.full = Some((clock, cost));
                Verdict::Open
            }
            Some((begin, before)) if windows >= WINDOWS && (last || clock - begin >= ENOUGH) => {
                if is_quiet(before) {
                    Verdict::Alone(Whole::Quiet)
                } else if pays(clock - begin, cost.waited - before.waited, threads) {
                    Verdict::Stay
                } else {
                    Verdict::Alone(Whole::Waiting)
                }
            }
            _ if last => Verdict::Stay,
            _ => Verdict::Open,
        }
    }

    fn turn(&mut self, now_ps: u64, several: Work, one: Work) -> Verdict {
        let last = self.is_last(now_ps);
        let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
        let is_won = product(several.events, one.took) * TENTHS >= product(one.events, several.took) * 10;
        let won = match &mut self.won {
            Some(won) => {
                won[usize::from(!is_won)] += 1;
                *won
            }
            first => {
                *first = Some([0; 2]);
                if last { [u32::from(is_won), u32::from(!is_won)] } else { [0; 2] }
            }
        };
        match won {
            [several, one] if several >= WON || last && several > one => Verdict::Stay,
            [_, one] if one >= WON || last => Verdict::Alone(Whole::Slower),
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

    /// 20 windows of 106 events are enough for two threads, and one event less is not; nobody decides before
    /// the fabric is full.
    #[test]
    fn who_has_too_little_to_do_goes_alone() {
        let first = |cost| Trial::new(3_200).look(1, 0, cost);
        assert_eq!(first(cost(19, 0)), Verdict::Open);
        assert_eq!(first(cost(20, 20 * 106)), Verdict::Open);
        assert_eq!(first(cost(20, 20 * 106 - 1)), Verdict::Alone(Whole::Quiet));
        assert_eq!(first(Cost { threads: 4, ..cost(20, 20 * 212 - 1) }), Verdict::Alone(Whole::Quiet));
        // Too late to know how long threads wait, and not to know this.
        assert_eq!(Trial::new(3_200).look(101, 0, cost(20, 20 * 106 - 1)), Verdict::Alone(Whole::Quiet));
    }

    const MS: u64 = 1_000_000;

    fn cost(windows: u64, events: u64) -> Cost {
        Cost { windows, events, threads: 2, ..Cost::default() }
    }

    /// Between little and much to do, one thread takes turns with several: after 10 ms and 50 windows, or
    /// when a thirty-second of the run is over; before 50 windows nobody asks.
    #[test]
    fn who_may_be_slower_takes_turns() {
        let busy = |windows| cost(windows, 2_047 * windows);
        let settled = |now, clock, cost| {
            let mut trial = Trial::new(3_200);
            assert_eq!(trial.look(1, 0, cost), Verdict::Open);
            trial.look(now, clock, cost)
        };
        assert_eq!(settled(2, 10 * MS, busy(50)), Verdict::Turns);
        assert_eq!(settled(2, 10 * MS - 1, busy(50)), Verdict::Open);
        assert_eq!(settled(2, 10 * MS, cost(50, 2_048 * 50)), Verdict::Open, "much to do");
        assert_eq!(settled(101, 1, busy(50)), Verdict::Turns);
        assert_eq!(settled(101, 1, busy(49)), Verdict::Stay);
    }

    /// Who has won four turns goes on; several threads win one if one takes all of a time for what they do in
    /// nine tenths of it. The first turn, in which the fabric fills, counts only if there is no other.
    #[test]
    fn who_has_won_four_turns_goes_on() {
        let work = |events, took| Work { events, took };
        let play = |turns: &[(u64, Work)]| {
            let mut trial = Trial::new(3_200);
            turns.iter().map(|&(now, several)| trial.turn(now, several, work(900, 100))).collect::<Vec<_>>()
        };
        // As much in nine tenths of the time, or less; as much as ten ninths in the same time.
        for (win, loss) in [((900, 90), (900, 91)), ((1_000, 100), (999, 100))] {
            let (win, loss) = ((1, work(win.0, win.1)), (1, work(loss.0, loss.1)));
            let last = |(_, several)| (101, several);
            let open = |n, end| [vec![Verdict::Open; n], vec![end]].concat();
            let slower = Verdict::Alone(Whole::Slower);
            assert_eq!(play(&[loss, win, win, win, win]), open(4, Verdict::Stay));
            assert_eq!(play(&[win, loss, loss, loss, loss]), open(4, slower));
            assert_eq!(play(&[loss, win, loss, win, loss, win, loss, win]), open(7, Verdict::Stay));
            assert_eq!(play(&[last(win)]), [Verdict::Stay]);
            assert_eq!(play(&[last(loss)]), [slower]);
            // The last turn of a short run.
            assert_eq!(play(&[loss, win, loss, win, last(win)]), open(4, Verdict::Stay));
            assert_eq!(play(&[loss, win, last(loss)]), open(2, slower));
        }
        assert_eq!(work(900, 2_000_000).turn(), 900);
        assert_eq!(work(900, 4_000_000).turn(), 450);
        assert_eq!(work(0, 0).turn(), 1);
    }

    /// Who has much to do is asked for nothing but waiting.
    #[test]
    fn a_trial_is_short() {
        let cost = |windows, waited| Cost { waited, ..cost(windows, 2_048 * windows) };
        let begun = || {
            let mut trial = Trial::new(3_200);
            assert_eq!(trial.look(10, 0, cost(15, 0)), Verdict::Open);
            // Who waits while the fabric fills, and when it is full no more; nor who waits for 9 ms at first.
            assert_eq!(trial.look(15, 9 * MS, cost(40, 18 * MS)), Verdict::Open);
            assert_eq!(trial.look(20, 10 * MS, cost(40, 20 * MS)), Verdict::Open);
            trial
        };
        // Many windows soon, or few late: neither is enough.
        assert_eq!(begun().look(30, 29 * MS, cost(500, 57 * MS)), Verdict::Open);
        assert_eq!(begun().look(30, 40 * MS, cost(49, 70 * MS)), Verdict::Open);
        // 20 ms of two threads: 16.66 ms of waiting are too many.
        assert_eq!(begun().look(30, 30 * MS, cost(50, 36 * MS)), Verdict::Stay);
        assert_eq!(begun().look(30, 30 * MS, cost(50, 37 * MS)), Verdict::Alone(Whole::Waiting));
        // Or to have little to do by now.
        let quiet = Cost { events: 40 * 2_048 + 1_059, ..cost(50, 36 * MS) };
        assert_eq!(begun().look(30, 30 * MS, quiet), Verdict::Alone(Whole::Quiet));
        // A short run has less time, and what is known then decides.
        assert_eq!(begun().look(101, 12 * MS, cost(50, 23 * MS)), Verdict::Alone(Whole::Waiting));
        assert_eq!(begun().look(101, 12 * MS, cost(50, 21 * MS)), Verdict::Stay);
        // Too late.
        assert_eq!(begun().look(101, 40 * MS, cost(49, 80 * MS)), Verdict::Stay);
        assert_eq!(Trial::new(3_200).look(101, 40 * MS, cost(50, 80 * MS)), Verdict::Stay);
    }
}
