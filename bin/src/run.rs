//! `riosim run`: simulate, tell, write.

use crate::cli::RunArgs;
use crate::console::print;
use crate::inspect::{load, rendered};
use crate::memory;
use crate::progress::Bars;
use crate::require;
use crate::simulate::{self, Finished, Way};
use crate::status::Failure;
use crate::watch::{self, Watch};
use analysis::figures::Caption;
use analysis::num::{Num, count_text, three_digits};
use analysis::runfolder::{self, Perf, RunFolder, Threading, VariantCost};
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
    let plan = load(&args.scenario)?;
    let target = args.out.clone().unwrap_or_else(|| Path::new("results").join(&plan.name));
    let cannot =
        |error| Failure::bad_input(format_args!("cannot write results to {}: {error}", target.display()));
    // a long run should not end with nowhere to put what it found
    runfolder::check_target(&target).map_err(cannot)?;
    let jobs = jobs(args, &plan);
    if let Some(memory) = memory::ask() {
        let fits = plan.check_memory(memory.available(), jobs, args.threads());
        fits.map_err(|error| Failure::BadInput(rendered(&error)))?;
    }
    let way = Way { options: args.options(), threads: args.threads(), watched: !args.no_figures };
    let finished = if args.watch {
        simulate::all(&plan, way, jobs, &Watch::new(&plan)?, &interrupted)?
    } else {
        let names = plan.variants.iter().map(|variant| variant.name.as_str());
        simulate::all(&plan, way, jobs, &Bars::new(args.quiet || args.json, names), &interrupted)?
    };
    let stalled = finished.iter().find(|one| one.stalled).map(|one| one.data.name.clone());
    let mut costs = Vec::new();
    let reports: Vec<VariantReport> = finished
        .into_iter()
        .map(|Finished { data, wall_s, threads, .. }| {
            costs.push((wall_s, threads.map(|cost| Threading::of(cost, wall_s))));
            let variant = plan.variants.iter().find(|variant| variant.name == data.name);
            let variant = variant.expect("what was simulated is a variant of the plan");
            let compare_with = variant.compare_with.clone();
            require::required(VariantReport { compare_with, ..VariantReport::new(data) }, variant)
        })
        .collect::<Result<_, Failure>>()?;

    let perf = Perf {
        wall_s: Num(started.elapsed().as_secs_f64()),
        parallel: jobs,
        memory_peak_bytes: memory::ask().map(|memory| memory.peak()),
        variants: (reports.iter().zip(costs))
            .map(|(report, (wall, threads))| VariantCost { threads, ..VariantCost::new(report, wall) })
            .collect(),
    };
    let caption = Caption::new(&plan.title, &reports);
    let folder = RunFolder::new(&plan.name, &plan.resolved, &reports, &perf);
    let folder = folder.from(env!("CARGO_PKG_VERSION"), &plan.given);
    let folder = if args.no_figures { folder } else { folder.drawn(&caption, &reports) };
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    folder.write(&target, args.keep).map_err(cannot)?;

    if args.json {
        print(&Summary::new(&plan.name, &reports).to_json())?;
    } else if !args.quiet {
        print(&tell(&plan, &reports, &perf, &target))?;
    }
    verdict(&reports, stalled)
}

/// A broken law outweighs a stall: what the simulator says about the stall may be wrong as well. A stall
/// outweighs a requirement that does not hold: the run was not whole.
fn verdict(reports: &[VariantReport], stalled: Option<String>) -> Result<(), Failure> {
    for report in reports {
        if let Some(law) = report.broken.first() {
            return Err(Failure::Invariant(format!("variant {:?}: {law}", report.run.name)));
        }
    }
    match stalled {
        Some(name) => {
            let stall = reports.iter().find(|report| report.run.name == name);
            let stall = stall.and_then(|report| report.run.outcome.stalls.first());
            let walk = stall.map(|stall| stall.walk.join("\n  ")).unwrap_or_default();
            Err(Failure::Stalled(format!("variant {name:?} was stopped\n  {walk}")))
        }
        None => require::verdict(reports),
    }
}

fn tell(plan: &RunPlan, reports: &[VariantReport], perf: &Perf, target: &Path) -> String {
    let mut text = format!("{}\n\n", plan.title);
    for report in reports {
        text += &table::variant(report);
        text.push('\n');
    }
    for line in table::conclusion(reports) {
        text += &line;
        text.push('\n');
    }
    for variant in &perf.variants {
        if let Some(Threading::One { because, .. }) = &variant.threads {
            text += &format!("\n{}: on one thread, because {because}", variant.variant);
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

/// The folder as a shell would complete it.
fn shown(target: &Path) -> PathBuf {
    target.join("")
}

/// At most as many as there are cores and variants; as few as leave every variant its threads.
fn jobs(args: &RunArgs, plan: &RunPlan) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or(cores / args.threads(), usize::from).min(cores).min(plan.variants.len()).max(1)
}

/// The first Ctrl-C ends the run in good order; a second one need not wait.
pub(crate) fn watch_interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::Relaxed) {
            watch::restore();
            std::process::exit(i32::from(Failure::Interrupted.code()));
        }
    })
    .map_err(|error| Failure::bad_input(format_args!("cannot watch for interrupts: {error}")))?;
    Ok(flag)
}
