//! `riosim run`: simulate, tell, write.

use crate::cli::{RunArgs, cores};
use crate::console::print;
use crate::inspect::{load, rendered};
use crate::memory;
use crate::progress::Bars;
use crate::require;
use crate::simulate::{self, Finished, Measured, Way};
use crate::status::Failure;
use crate::watch::{self, Watch};
use analysis::figures::{self, Caption};
use analysis::num::{Num, count_text, three_digits};
use analysis::predict::{CORES, MEETING_NS, Prediction};
use analysis::profile::ProfileReport;
use analysis::runfolder::{self, Perf, Phases, RunFolder, Threading, VariantCost};
use analysis::{Summary, VariantReport, table};
use scenarios::RunPlan;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Runs a scenario and writes its result folder.
pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let started = Instant::now();
    // before anything that may take long, reading included
    let interrupted = watch_interrupts()?;
    let plan = load(args.scenario.file(), &args.scenario.overrides())?;
    let read_s = started.elapsed().as_secs_f64();
    let target = args.out.clone().unwrap_or_else(|| Path::new("results").join(&plan.name));
    let cannot =
        |error| Failure::bad_input(format_args!("cannot write results to {}: {error}", target.display()));
    // a long run should not end with nowhere to put what it found
    runfolder::check_target(&target).map_err(cannot)?;
    let jobs = jobs(args, &plan);
    let predict = if args.predict { parts(&plan, jobs)? } else { 0 };
    if let Some(memory) = memory::ask() {
        let least = args.threads().unwrap_or(1).max(predict);
        let fits = plan.check_memory(memory.available(), jobs, least);
        fits.map_err(|error| Failure::BadInput(rendered(&error)))?;
    }
    let (options, threads) = (args.options(), threads(args, &plan, jobs));
    let way = Way { options, threads, predict, watched: !args.no_figures };
    let finished = if args.watch {
        simulate::all(&plan, way, jobs, &Watch::new(&plan)?, &interrupted)?
    } else {
        let names = plan.variants.iter().map(|variant| variant.name.as_str());
        simulate::all(&plan, way, jobs, &Bars::new(args.quiet || args.json, names), &interrupted)?
    };
    let stalled: Vec<String> =
        finished.iter().filter(|one| one.stalled).map(|one| one.data.name.clone()).collect();
    let mut costs: Vec<VariantCost> = Vec::new();
    let reports: Vec<VariantReport> = finished
        .into_iter()
        .map(|Finished { data, measured, .. }| {
            let evaluating = Instant::now();
            let variant = plan.variants.iter().find(|variant| variant.name == data.name);
            let variant = variant.expect("what was simulated is a variant of the plan");
            let compare_with = variant.compare_with.clone();
            let report =
                require::required(VariantReport { compare_with, ..VariantReport::new(data) }, variant)?;
            let phases = Phases { evaluate_s: Num(evaluating.elapsed().as_secs_f64()), ..measured.phases };
            costs.push(VariantCost { phases: Some(phases), ..cost(&report, measured, args.predict) });
            Ok(report)
        })
        .collect::<Result<_, Failure>>()?;

    let stamp = |runs: &[VariantReport]| figures::stamp(&plan.name, env!("CARGO_PKG_VERSION"), runs);
    let caption = Caption::new(&plan.title, stamp(&reports), &reports);
    let folder = RunFolder::new(&plan.name, &plan.resolved, &reports);
    let folder = folder.from(env!("CARGO_PKG_VERSION"), &plan.given);
    let (wall_s, drawing) = (started.elapsed().as_secs_f64(), Instant::now());
    let folder = if args.no_figures { folder } else { folder.drawn(&caption, stamp, &reports) };
    let perf = Perf {
        wall_s: Num(wall_s),
        read_s: Num(read_s),
        draw_s: Num(drawing.elapsed().as_secs_f64()),
        parallel: jobs,
        memory_peak_bytes: memory::ask().map(|memory| memory.peak()),
        variants: costs,
    };
    let folder = folder.measured(&perf);
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    folder.write(&target, args.keep).map_err(cannot)?;

    if args.json {
        print(&Summary::new(&plan.name, &reports).to_json())?;
    } else if !args.quiet {
        print(&tell(&plan, &reports, &perf, (&target, args.threads().is_some())))?;
    }
    verdict(&reports, &stalled)
}

/// A broken law outweighs a stall: what the simulator says about the stall may be wrong as well. A stall
/// outweighs a requirement that does not hold: the run was not whole.
fn verdict(reports: &[VariantReport], stalled: &[String]) -> Result<(), Failure> {
    for report in reports {
        if let Some(law) = report.broken.first() {
            return Err(Failure::Invariant(format!("variant {:?}: {law}", report.run.name)));
        }
    }
    let tell = |report: &VariantReport| {
        let stall = report.run.outcome.stalls.first();
        let walk = stall.map(|stall| stall.walk.join("\n  ")).unwrap_or_default();
        format!("stalled: variant {:?} was stopped\n  {walk}", report.run.name)
    };
    let required = require::verdict(reports);
    if stalled.is_empty() {
        return required;
    }
    let failed = match required {
        Err(Failure::Required(lines)) => lines,
        _ => Vec::new(),
    };
    let all = reports.iter().filter(|report| stalled.contains(&report.run.name));
    Err(Failure::Stalled(all.map(tell).chain(failed).collect()))
}

/// Tables and sentences. Why a variant ran on one thread is told to whoever asked for several.
fn tell(plan: &RunPlan, reports: &[VariantReport], perf: &Perf, (target, asked): (&Path, bool)) -> String {
    let mut text = format!("{}\n\n", plan.title);
    for report in reports {
        text += &table::variant(report);
        let variant = plan.variants.iter().find(|variant| variant.name == report.run.name);
        text += &variant.map(scenarios::clock_report).unwrap_or_default();
        text.push('\n');
    }
    for line in table::conclusion(reports) {
        text += &line;
        text.push('\n');
    }
    for variant in &perf.variants {
        let name = &variant.variant;
        if let (Some(Threading::One { because, .. }), true) = (&variant.threads, asked) {
            text += &format!("\n{name}: on one thread, because {because}");
        }
        if let Some(profile) = &variant.profile {
            text += &format!("\nprofile of {name}\n{}", profile.text());
            text += &variant.phases.map(Phases::text).unwrap_or_default();
        }
        if let Some(prediction) = &variant.prediction {
            text += &format!("\n{name} on several cores: {}", prediction.text());
        }
    }
    let events: u64 = perf.variants.iter().map(|variant| variant.events).sum();
    text += &format!(
        "\n{} events in {} s, results in {}\n",
        count_text(events),
        three_digits(perf.wall_s.0),
        shown(target).display()
    );
    text
}

/// What a variant cost, with what was counted of it.
fn cost(report: &VariantReport, measured: Measured, predict: bool) -> VariantCost {
    let Measured { wall_s, threads, profile, ledger, .. } = measured;
    let hops = report.run.outcome.packet_hops;
    let profile = profile.map(|profile| ProfileReport::new(&profile, hops, ledger.as_ref()));
    let plain = VariantCost { profile, ..VariantCost::new(report, wall_s) };
    if !predict {
        return VariantCost { threads: threads.map(|cost| Threading::of(cost, wall_s)), ..plain };
    }
    let prediction = match (ledger, threads) {
        (Some(ledger), _) => Some(Prediction::new(&ledger, &CORES, MEETING_NS)),
        (None, Some(Err(whole))) => Some(Prediction::Whole { because: whole.to_string() }),
        (None, _) => None,
    };
    VariantCost { prediction, ..plain }
}

/// Most parts from which to predict: one for each core of the largest machine that is predicted.
const PARTS: usize = CORES[CORES.len() - 1];

/// As many parts as there is memory for, of which each has the ports of the whole fabric: a power of two.
///
/// # Errors
/// There is not enough for two.
fn parts(plan: &RunPlan, jobs: usize) -> Result<usize, Failure> {
    let Some(memory) = memory::ask() else { return Ok(PARTS) };
    let mut halves = std::iter::successors(Some(PARTS), |parts| (*parts > 2).then_some(parts / 2));
    let fits = |parts: &usize| plan.check_memory(memory.available(), jobs, *parts).is_ok();
    if let Some(parts) = halves.find(fits) {
        return Ok(parts);
    }
    let error = plan.check_memory(memory.available(), jobs, 2).expect_err("two parts do not fit");
    Err(Failure::BadInput(rendered(&error)))
}

/// The folder as a shell would complete it.
fn shown(target: &Path) -> PathBuf {
    target.join("")
}

/// At most as many as there are cores and variants; as few as leave every variant its threads. What is
/// measured is not disturbed by what runs beside it, unless somebody asks for that.
fn jobs(args: &RunArgs, plan: &RunPlan) -> usize {
    let cores = cores();
    if (args.profile || args.predict) && args.jobs.is_none() {
        return 1;
    }
    let left = || cores / args.threads().unwrap_or(1);
    args.jobs.map_or_else(left, usize::from).min(cores).min(plan.variants.len()).max(1)
}

/// Threads for each variant: as many as were asked for, or as leave every variant that runs at the time as
/// many, if there is memory for their parts. What is measured has one, unless somebody asks for more.
fn threads(args: &RunArgs, plan: &RunPlan, jobs: usize) -> usize {
    if let Some(threads) = args.threads() {
        return threads;
    }
    let left = cores() / jobs;
    if left < 2 || args.profile || args.predict {
        return 1;
    }
    let fits = memory::ask().is_none_or(|m| plan.check_memory(m.available(), jobs, left).is_ok());
    if fits { left } else { 1 }
}

/// The first Ctrl-C, or the first request to end (SIGTERM, as clusters send it), ends the run in good order;
/// a second one need not wait.
pub(crate) fn watch_interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let cannot = |error: &dyn std::fmt::Display| {
        Failure::bad_input(format_args!("cannot watch for interrupts: {error}"))
    };
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || interrupt(&set)).map_err(|error| cannot(&error))?;
    #[cfg(unix)]
    {
        use signal_hook::consts::SIGTERM;
        use signal_hook::iterator::Signals;
        let mut signals = Signals::new([SIGTERM]).map_err(|error| cannot(&error))?;
        let set = Arc::clone(&flag);
        std::thread::spawn(move || signals.forever().for_each(|_| interrupt(&set)));
    }
    Ok(flag)
}

fn interrupt(flag: &AtomicBool) {
    if flag.swap(true, Ordering::Relaxed) {
        watch::restore();
        std::process::exit(i32::from(Failure::Interrupted.code()));
    }
}
