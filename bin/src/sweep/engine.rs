//! Simulating the points of a sweep on this machine.

use super::folder::{Finished, Folder, Manifest, cannot_write};
use super::log::{Log, Media, Record};
use crate::cli::sweep::Shard;
use crate::console::complain;
use crate::memory::Gate;
use crate::progress::Total;
use crate::simulate::{self, Way};
use crate::status::Failure;
use analysis::VariantReport;
use analysis::sweep::{Run, measure};
use rayon::prelude::*;
use scenarios::sweep::{PointErrors, PointFindings, SweepPlan, replication_seed};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Most runs in one group of the log: bounds what a kill can cost, and memory.
const GROUP_MAX: usize = 1_024;
/// Points with mistakes that are shown.
const WRONG_SHOWN: usize = 5;

/// How to run.
pub(crate) struct Settings<'a> {
    pub shard: Shard,
    pub jobs: usize,
    pub quiet: bool,
    /// Path of the log, for messages.
    pub log: &'a Path,
    pub interrupted: &'a AtomicBool,
}

/// What was done.
#[derive(Debug, Default)]
pub(crate) struct Done {
    /// Runs simulated now.
    pub runs: u64,
    /// Runs that were there before.
    pub kept: u64,
    /// Wall-clock seconds of the simulations, summed over threads.
    pub busy_s: f64,
    /// Largest memory of a run, octets, as far as the system tells, and runs that fit at a time.
    pub memory: (Option<u64>, usize),
}

/// What makes the mistakes of different points the same: codes and places.
type Identity = Vec<(&'static str, String)>;

/// (point, replication)
type Task = (usize, u32);

/// Simulates what is missing of the shard's points.
pub(crate) fn run<M: Media + Send>(
    plan: &SweepPlan,
    manifest: &Manifest,
    finished: &mut Finished,
    log: &mut Log<M>,
    folder: &Folder,
    settings: &Settings<'_>,
) -> Result<Done, Failure> {
    let pool = threads(settings.jobs)?;
    let own = || settings.shard.points(plan.points.len());
    let mut done = Done::default();
    let open = open_points(plan, manifest, finished, settings.shard);

    let planned: u64 = own().map(|_| u64::from(manifest.rule.min)).sum();
    let bar = Total::new(settings.quiet, planned);
    let gate = Gate::new(settings.jobs);
    loop {
        let tasks = next(plan, manifest, finished, &open);
        if done.runs == 0 {
            done.kept = own().map(|index| finished.count(&plan.points[index].key, &manifest.rule)).sum();
            bar.begin(done.kept, done.kept + tasks.len() as u64);
        } else {
            bar.more(done.kept + done.runs + tasks.len() as u64);
        }
        if tasks.is_empty() {
            break;
        }
        let round = Round { plan, gate: &gate, bar: &bar, settings, stop: AtomicBool::new(false) };
        let (records, result) = round.simulate(&pool, &tasks, log);
        for record in records {
            done.runs += 1;
            done.busy_s += record.wall_us as f64 / 1e6;
            finished.add(record)?;
        }
        if let Err(failure) = result {
            bar.clear();
            return Err(match failure {
                Failure::Interrupted => Failure::Paused(format!(
                    "{} finished runs are kept in {}; the same command goes on from there",
                    done.kept + done.runs,
                    folder.path().display()
                )),
                other => other,
            });
        }
    }
    bar.clear();
    done.memory = gate.known();
    Ok(done)
}

/// What to simulate next. Points that need many go on until their interval is narrow enough.
fn next(plan: &SweepPlan, manifest: &Manifest, finished: &Finished, open: &[usize]) -> Vec<Task> {
    let mut tasks = Vec::new();
    for &point in open {
        let key = &plan.points[point].key;
        if let Err(wanted) = finished.settled(key, &manifest.rule) {
            let missing = (1..=wanted).filter(|replication| !finished.has(key, *replication));
            tasks.extend(missing.map(|replication| (point, replication)));
        }
    }
    // keys are hashes, as good as shuffled: what is done stands for what is left, and the time left is honest
    tasks.sort_by_key(|(point, replication)| (&plan.points[*point].key, *replication));
    tasks
}

/// Points of a shard that are not known well enough.
fn open_points(plan: &SweepPlan, manifest: &Manifest, finished: &Finished, shard: Shard) -> Vec<usize> {
    let open = |index: &usize| finished.settled(&plan.points[*index].key, &manifest.rule).is_err();
    shard.points(plan.points.len()).filter(open).collect()
}

/// [`check`] for the points of a shard that [`run`] would simulate.
pub(crate) fn check_open(
    plan: &SweepPlan,
    manifest: &Manifest,
    finished: &Finished,
    shard: Shard,
    jobs: usize,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    let open = open_points(plan, manifest, finished, shard);
    check_points(plan, &open, jobs, interrupted)
}

/// [`check`] for every point.
pub(crate) fn check_all(plan: &SweepPlan, jobs: usize, interrupted: &AtomicBool) -> Result<(), Failure> {
    let all: Vec<usize> = (0..plan.points.len()).collect();
    check_points(plan, &all, jobs, interrupted)
}

fn check_points(
    plan: &SweepPlan,
    points: &[usize],
    jobs: usize,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    threads(jobs)?.install(|| check(plan, points, interrupted))
}

fn threads(jobs: usize) -> Result<rayon::ThreadPool, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    pool.map_err(|error| Failure::bad_input(format_args!("cannot start threads: {error}")))
}

/// Whether the scenario takes the values of every point: better now than after hours. What it says to those
/// that it takes goes to standard error, each warning once.
fn check(plan: &SweepPlan, points: &[usize], interrupted: &AtomicBool) -> Result<(), Failure> {
    let wrong: Mutex<BTreeMap<Identity, (usize, Box<PointErrors>)>> = Mutex::default();
    let told: Mutex<BTreeMap<usize, PointFindings>> = Mutex::default();
    points.par_iter().for_each(|index| {
        if interrupted.load(Ordering::Relaxed) {
            return;
        }
        let checked = plan.check(&plan.points[*index], replication_seed(plan.seed, 1));
        if let Ok(found) = checked {
            told.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(*index, found);
        } else if let Err(errors) = checked {
            let mut wrong = wrong.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // of equal mistakes the one of the first point
            let first = wrong.entry(errors.identity()).or_insert((*index, errors));
            if *index < first.0 {
                let again = plan.compile(&plan.points[*index], replication_seed(plan.seed, 1));
                if let Err(errors) = again {
                    *first = (*index, errors);
                }
            }
        }
    });
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    let wrong = wrong.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if wrong.is_empty() {
        let told = told.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        return warn(plan, told, interrupted);
    }
    let mut wrong: Vec<(usize, Box<PointErrors>)> = wrong.into_values().collect();
    wrong.sort_by_key(|(index, _)| *index);
    let mut text: String =
        wrong.iter().take(WRONG_SHOWN).map(|(_, errors)| errors.render(crate::console::colours())).collect();
    if wrong.len() > WRONG_SHOWN {
        text += &format!("... and {} more kinds of mistakes\n", wrong.len() - WRONG_SHOWN);
    }
    Err(Failure::BadInput(text + "riosim: nothing was simulated"))
}

/// Tells what the scenario says to its points. What has no effect at those of a shard may have one elsewhere.
fn warn(
    plan: &SweepPlan,
    mut told: BTreeMap<usize, PointFindings>,
    interrupted: &AtomicBool,
) -> Result<(), Failure> {
    for index in 0..plan.points.len() {
        if told.is_empty() || !plan.lacks_effect(&told) {
            break;
        }
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        if !told.contains_key(&index)
            && let Ok(found) = plan.check(&plan.points[index], replication_seed(plan.seed, 1))
        {
            told.insert(index, found.quiet());
        }
    }
    let coloured = crate::console::colours();
    let warnings = plan.together(&told).map_err(|errors| Failure::BadInput(errors.render(coloured)))?;
    let text = warnings.render(coloured);
    if !text.is_empty() {
        complain(&text);
    }
    Ok(())
}

/// One set of tasks that can go in any order.
struct Round<'a> {
    plan: &'a SweepPlan,
    gate: &'a Gate,
    bar: &'a Total,
    settings: &'a Settings<'a>,
    stop: AtomicBool,
}

impl Round<'_> {
    /// Simulates the tasks; gives back what is durable, and why it ended early if it did.
    fn simulate<M: Media + Send>(
        &self,
        pool: &rayon::ThreadPool,
        tasks: &[Task],
        log: &mut Log<M>,
    ) -> (Vec<Record>, Result<(), Failure>) {
        let (sender, receiver) = channel();
        // the failure of the first task in order, whichever thread met its own first
        let failed: Mutex<Option<(Task, Failure)>> = Mutex::default();
        let (records, written) = std::thread::scope(|scope| {
            let writer = scope.spawn(move || self.write(&receiver, log));
            pool.install(|| {
                tasks.par_iter().with_max_len(1).for_each_with(sender, |sender, task| {
                    if self.stopped() {
                        return;
                    }
                    match self.gate.run(|| if self.stopped() { None } else { Some(self.one(*task)) }) {
                        None => {}
                        // a writer that failed has said so
                        Some(Ok(record)) => drop(sender.send(record)),
                        Some(Err(failure)) => {
                            self.stop.store(true, Ordering::Relaxed);
                            let mut first = failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                            if first.as_ref().is_none_or(|(known, _)| task < known) {
                                *first = Some((*task, failure));
                            }
                        }
                    }
                });
            });
            writer.join().expect("the writer does not panic")
        });
        let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let result = match (written, failed) {
            (Err(error), _) => Err(Failure::bad_input(cannot_write(self.settings.log, &error))),
            (Ok(()), Some((_, failure))) => Err(failure),
            (Ok(()), None) if self.stopped() => Err(Failure::Interrupted),
            (Ok(()), None) => Ok(()),
        };
        (records, result)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.settings.interrupted.load(Ordering::Relaxed)
    }

    /// Makes runs durable in groups: all that finished while the last group was written.
    fn write<M: Media>(
        &self,
        receiver: &Receiver<Record>,
        log: &mut Log<M>,
    ) -> (Vec<Record>, std::io::Result<()>) {
        let mut all = Vec::new();
        while let Ok(record) = receiver.recv() {
            let mut group = vec![record];
            group.extend(receiver.try_iter().take(GROUP_MAX - 1));
            if let Err(error) = log.commit(&group) {
                self.stop.store(true, Ordering::Relaxed);
                return (all, Err(error));
            }
            self.bar.add(group.len() as u64);
            all.append(&mut group);
        }
        (all, Ok(()))
    }

    fn one(&self, (index, replication): Task) -> Result<Record, Failure> {
        let point = &self.plan.points[index];
        let started = Instant::now();
        let seed = replication_seed(self.plan.seed, replication);
        let variant = self
            .plan
            .compile(point, seed)
            .map_err(|errors| Failure::BadInput(errors.render(crate::console::colours())))?;
        let at = |text: String| {
            format!("point {index} ({}), replication {replication}: {text}", self.plan.label(point))
        };
        let finished = simulate::guarded(&variant, Way::default(), &(), self.settings.interrupted);
        let finished = finished.map_err(|failure| match failure {
            Failure::Invariant(text) => Failure::Invariant(at(text)),
            other => other,
        })?;
        let stopped = finished.stalled;
        let report = crate::require::required(VariantReport::new(finished.data), &variant)?;
        if let Some(law) = report.broken.first() {
            return Err(Failure::Invariant(at(law.clone())));
        }
        let outcome = report.run.outcome.outcome.to_string();
        let run = Run { seed, outcome, stopped, rows: measure(&report) };
        let wall_us = started.elapsed().as_micros() as u64;
        Ok(Record { point: point.key.clone(), replication, wall_us, run })
    }
}
