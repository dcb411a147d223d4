//! Simulating the variants of a scenario, in parallel where there are cores. No result depends on how many.

use crate::status::Failure;
use crate::trial::{self, Judge, Trial, Verdict, Work};
use analysis::Observed;
use analysis::num::Num;
use analysis::runfolder::Phases;
use analysis::{Collector, CollectorConfig, RunData};
use models::Outcome;
use models::config::FabricConfig;
use models::run::{Cost, Ledger, Parallel, Partition, Profile, Progress, RunOptions, Threads, Whole};
use models::sim_core::Time;
use rayon::prelude::*;
use scenarios::{RunPlan, Variant, Warmup};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// Events between two looks at the clock and at the interrupt flag: some tens of milliseconds.
const SLICE: u64 = 1 << 18;

/// A variant that was simulated.
pub(crate) struct Finished {
    /// Observations.
    pub data: RunData,
    /// Whether the watchdog ended it, or found with its last look what should have.
    pub stalled: bool,
    /// What it cost.
    pub measured: Measured,
}

/// What a variant cost, as far as it is known before it is evaluated.
pub(crate) struct Measured {
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Of these, by phase.
    pub phases: Phases,
    /// What it cost to cut it, or why it was left whole; `None`: nobody asked for parts.
    pub threads: Option<Result<Cost, Whole>>,
    /// What it handled, if that was counted.
    pub profile: Option<Profile>,
    /// What its windows came to, if that was kept.
    pub ledger: Option<Ledger>,
}

/// How to simulate; no result depends on it but what is kept for figures.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Way {
    pub options: RunOptions,
    /// Threads for each variant, as far as its fabric can be cut; 0 is 1.
    pub threads: usize,
    /// At most so many parts on one thread, to predict what several would do; 0: it is not to be predicted.
    pub predict: usize,
    /// What each port does over time is kept.
    pub watched: bool,
}

/// Who looks on while variants are simulated; no result depends on it.
pub(crate) trait Onlooker: Sync {
    /// Follows the variant with this number until what is given back is dropped.
    fn follow<'a>(&'a self, number: usize, variant: &'a Variant) -> Box<dyn Follow + 'a>;
}

/// Who follows one variant.
pub(crate) trait Follow {
    /// A slice of the run is over.
    fn show(&self, run: &Running);
}

/// Nobody.
impl Follow for () {
    fn show(&self, _: &Running) {}
}

/// A run on one thread, or on several.
pub(crate) enum Running {
    Whole(Box<Observed>),
    Parts(Box<Parallel<Collector>>),
}

impl Running {
    /// And why it is whole, though several threads were asked for.
    fn new(variant: &Variant, way: Way, collector: Collector) -> (Self, Option<Whole>) {
        let config = Arc::clone(&variant.config);
        if way.threads < 2 && way.predict < 2 {
            return (Running::Whole(Observed::new(config, way.options, collector).into()), None);
        }
        let cut = if way.predict > 1 {
            halves_of_halves(&config, way.predict)
        } else {
            Partition::new(&config, way.threads)
        };
        match cut {
            Ok(cut) => {
                let ledger = way.options.profile || way.predict > 1;
                let threads = Threads { count: way.threads.max(1), clock: nanoseconds, ledger };
                let run = Parallel::new(config, way.options, collector, &cut, threads);
                (Running::Parts(run.into()), None)
            }
            Err(whole) => (Running::Whole(Observed::new(config, way.options, collector).into()), Some(whole)),
        }
    }

    fn run(&mut self, limit: Time, max_events: u64) -> Progress {
        match self {
            Running::Whole(run) => run.run(limit, max_events),
            Running::Parts(run) => run.run(limit, max_events),
        }
    }

    /// Totals so far.
    pub fn look(&self) -> Outcome {
        match self {
            Running::Whole(run) => run.look(),
            Running::Parts(run) => run.look(),
        }
    }

    /// Simulated time and events.
    pub fn reached(&self) -> (u64, u64) {
        match self {
            Running::Whole(run) => (run.now().0, run.events()),
            Running::Parts(run) => (run.now().0, run.events()),
        }
    }

    /// What it has handled, and what its windows came to, as far as that is counted and kept.
    fn counted(&self) -> (Option<Profile>, Option<Ledger>) {
        match self {
            Running::Whole(run) => (run.profile(), None),
            Running::Parts(run) => (run.profile(), run.ledger()),
        }
    }

    /// Runs the beginning of what is in parts: how far it came, and why it goes on with one thread, if it
    /// does. `alone` makes the same run on one.
    fn try_out(
        &mut self,
        limit: Time,
        judge: &mut dyn Judge,
        mut alone: impl FnMut() -> Self,
    ) -> (Progress, Option<Whole>) {
        let Running::Parts(parts) = self else { return (Progress::Running, None) };
        loop {
            let progress = parts.run(limit, trial::SLICE);
            if progress != Progress::Running {
                return (progress, None);
            }
            match judge.look(parts.now().0, nanoseconds(), parts.cost()) {
                Verdict::Open => {}
                Verdict::Turns => break,
                Verdict::Stay => return (progress, None),
                Verdict::Alone(why) => {
                    *self = alone();
                    return (progress, Some(why));
                }
            }
        }
        let mut one = alone();
        let (mut of_one, mut of_several) = (Work::NONE, Work::NONE);
        loop {
            let progress = turn(&mut one, limit, &mut of_one);
            if progress != Progress::Running {
                // It has come to the end first.
                *self = one;
                return (progress, Some(Whole::Slower));
            }
            let progress = turn(self, limit, &mut of_several);
            if progress != Progress::Running {
                return (progress, None);
            }
            match judge.turn(one.reached().0, of_several, of_one) {
                Verdict::Open | Verdict::Turns => {}
                Verdict::Stay => return (progress, None),
                Verdict::Alone(why) => {
                    *self = one;
                    return (progress, Some(why));
                }
            }
        }
    }

    fn finish(self) -> (Collector, Outcome, Option<Cost>) {
        match self {
            Running::Whole(run) => {
                let (collector, outcome) = run.finish();
                (collector, outcome, None)
            }
            Running::Parts(run) => {
                let (collector, outcome, cost) = run.finish();
                (collector, outcome, Some(cost))
            }
        }
    }
}

/// Runs about as long as a turn is to take, and says what came of it.
fn turn(run: &mut Running, limit: Time, work: &mut Work) -> Progress {
    let (begun, before) = (nanoseconds(), run.reached().1);
    let progress = run.run(limit, work.turn());
    *work = Work { events: run.reached().1 - before, took: nanoseconds() - begun };
    progress
}

/// At most so many parts, a power of two: a cut into fewer is these, put together again.
fn halves_of_halves(config: &FabricConfig, parts: usize) -> Result<Partition, Whole> {
    let cut = Partition::new(config, parts)?;
    let halves = 1 << cut.parts().ilog2();
    if halves == cut.parts() { Ok(cut) } else { Partition::new(config, halves) }
}

/// Since some beginning.
fn nanoseconds() -> u64 {
    static BEGINNING: OnceLock<Instant> = OnceLock::new();
    BEGINNING.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Simulates all variants; the results are in the order of the scenario.
pub(crate) fn all(
    plan: &RunPlan,
    way: Way,
    jobs: usize,
    onlooker: &dyn Onlooker,
    interrupted: &AtomicBool,
) -> Result<Vec<Finished>, Failure> {
    let simulate = |(number, variant): (usize, &Variant)| {
        guarded(variant, way, &*onlooker.follow(number, variant), interrupted)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| Failure::bad_input(format_args!("cannot start threads: {error}")))?;
    let results: Vec<Result<Finished, Failure>> =
        pool.install(|| plan.variants.par_iter().enumerate().with_max_len(1).map(simulate).collect());
    // the first failure in the order of the scenario, whichever thread met its own first
    results.into_iter().collect()
}

/// Simulates one variant; assertions of the simulator become its failure.
pub(crate) fn guarded(
    variant: &Variant,
    way: Way,
    follower: &dyn Follow,
    interrupted: &AtomicBool,
) -> Result<Finished, Failure> {
    let mut trial = Trial::new(variant.until.0);
    let result = catch_unwind(AssertUnwindSafe(|| one(variant, way, &mut trial, follower, interrupted)));
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        let seed = variant.config.seed;
        Err(Failure::Invariant(format!("variant {:?}, seed {seed}: {text}", variant.name)))
    })
}

fn one(
    variant: &Variant,
    way: Way,
    judge: &mut dyn Judge,
    follower: &dyn Follow,
    interrupted: &AtomicBool,
) -> Result<Finished, Failure> {
    let started = Instant::now();
    let config = CollectorConfig::new(&variant.config, variant.until).measured_from(variant.warmup.given());
    let config = if way.watched { config.watching(&variant.config) } else { config };
    let collector = Collector::new(&config);
    let (mut simulation, mut whole) = Running::new(variant, way, collector);
    let mut build_s = started.elapsed().as_secs_f64();
    let mut end = Progress::Running;
    // Who predicts has one thread, and wants its windows.
    if way.predict < 2 {
        let alone = || {
            let (again, way) = (Instant::now(), Way { threads: 1, ..way });
            let (alone, _) = Running::new(variant, way, Collector::new(&config));
            build_s += again.elapsed().as_secs_f64();
            alone
        };
        let (progress, why) = simulation.try_out(variant.until, judge, alone);
        (end, whole) = (progress, why.or(whole));
    }
    while end == Progress::Running {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        end = simulation.run(variant.until, SLICE);
        if end == Progress::Running {
            follower.show(&simulation);
        }
    }
    let simulated_s = started.elapsed().as_secs_f64();
    let (profile, ledger) = simulation.counted();
    let (collector, outcome, cost) = simulation.finish();
    let wall_s = started.elapsed().as_secs_f64();
    let threads = cost.map(Ok).or(whole.map(Err));
    let phases = Phases {
        build_s: Num(build_s),
        simulate_s: Num(simulated_s - build_s),
        settle_s: Num(wall_s - simulated_s),
        evaluate_s: Num(0.0),
    };
    Ok(Finished {
        stalled: variant.config.stop_on_stall && !outcome.stalls.is_empty(),
        data: data(variant, collector, outcome),
        measured: Measured { wall_s, phases, threads, profile, ledger },
    })
}

fn data(variant: &Variant, collector: Collector, outcome: Outcome) -> RunData {
    RunData {
        name: variant.name.clone(),
        config: Arc::clone(&variant.config),
        collector,
        outcome,
        warmup: match variant.warmup {
            Warmup::Auto => analysis::Warmup::Auto,
            Warmup::Until(time) => analysis::Warmup::Fixed(time.0),
        },
        victims: variant.victims.clone(),
        hot: variant.hot.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Bars;

    fn nobody() -> Bars {
        Bars::new(true, std::iter::empty())
    }

    /// A contradiction that no scenario can say: the models refuse it by panic.
    #[test]
    fn a_panic_is_a_broken_invariant() {
        let text = scenarios::templates()[0].text;
        let mut plan = scenarios::load(text, "template", &[]).expect("templates are valid");
        let broken = &mut plan.variants[0];
        Arc::make_mut(&mut broken.config).links[0].a = (9_999, 0);
        let never = AtomicBool::new(false);
        let result = all(&plan, Way::default(), 1, &nobody(), &never);
        let Err(Failure::Invariant(text)) = result else { panic!("the models ran nonsense") };
        assert!(text.contains(&plan.variants[0].name), "{text}");
    }

    /// Says the same at each look but the first, and after each turn.
    struct Says {
        look: Verdict,
        turn: Verdict,
        asked: [u32; 2],
    }

    impl Judge for Says {
        fn look(&mut self, _: u64, _: u64, _: Cost) -> Verdict {
            self.asked[0] += 1;
            if self.asked[0] > 1 { self.look } else { Verdict::Open }
        }

        fn turn(&mut self, _: u64, _: Work, _: Work) -> Verdict {
            self.asked[1] += 1;
            self.turn
        }
    }

    /// However the trial ends, and if it never does, the results are those of one thread.
    #[test]
    fn a_trial_changes_no_result() {
        let text = include_str!("../../scenarios/perf/b-fattree-hotspot.json");
        let short = [("/run/until".to_owned(), serde_json::json!("10 us"))];
        let plan = scenarios::load(text, "b", &short).expect("a shipped scenario is valid");
        let variant = &plan.variants[0];
        let run = |threads, look, turn| {
            let mut judge = Says { look, turn, asked: [0; 2] };
            let way = Way { threads, watched: true, ..Way::default() };
            let never = AtomicBool::new(false);
            let done = one(variant, way, &mut judge, &(), &never).expect("a run");
            let threads = done.measured.threads.map(|cost| cost.map(|cost| cost.threads));
            let report = analysis::VariantReport::new(done.data);
            let events = report.run.outcome.events;
            (analysis::Summary::new("b", &[report]).to_json(), threads, judge.asked, events)
        };
        use Verdict::{Alone, Open, Stay, Turns};
        let alone = run(1, Open, Open);
        assert_eq!((alone.1, alone.2), (None, [0; 2]), "one thread has no trial");
        let [slower, waiting] = [Whole::Slower, Whole::Waiting];
        let open = run(2, Open, Open);
        assert!(open.2[0] > 2 && open.2[1] == 0 && open.1 == Some(Ok(2)));
        let others = [
            (run(2, Stay, Open), Some(Ok(2)), [2, 0]),
            (run(2, Alone(waiting), Open), Some(Err(waiting)), [2, 0]),
            (run(2, Turns, Stay), Some(Ok(2)), [2, 1]),
            (run(2, Turns, Alone(slower)), Some(Err(slower)), [2, 1]),
        ];
        for (run, threads, asked) in others {
            assert!(run.0 == alone.0, "{threads:?}");
            assert_eq!((run.1, run.2), (threads, asked));
            assert_eq!(run.3, if threads == Some(Ok(2)) { open.3 } else { alone.3 });
        }
        assert!(open.0 == alone.0);
        // Turns until one of them has come to the end, whoever that is.
        let turns = run(2, Turns, Open);
        assert!(
            turns.0 == alone.0
                && turns.1.is_some_and(|threads| threads.is_ok_and(|n| n == 2) || threads == Err(slower))
        );
    }

    #[test]
    fn an_interrupt_ends_a_run() {
        let plan =
            scenarios::load(scenarios::templates()[0].text, "template", &[]).expect("templates are valid");
        let now = AtomicBool::new(true);
        assert!(matches!(all(&plan, Way::default(), 1, &nobody(), &now), Err(Failure::Interrupted)));
    }
}
