//! `riosim sweep` and `riosim compare`: many points of one scenario.
//!
//! - [`engine`] simulates, [`crate::memory`] bounds it, [`log`] makes every finished run durable;
//! - [`folder`] knows what is there already, [`merge`] makes results of it;
//! - [`slurm`] hands the shards to a cluster, [`dry`] says what a sweep would cost;
//! - [`plot`] and [`mod@compare`] look at results.

mod compare;
mod dry;
mod engine;
pub(crate) mod folder;
mod log;
mod merge;
mod plot;
mod reference;
mod review;
mod slurm;
mod status;

pub(crate) use compare::compare;
pub(crate) use review::review;

use crate::cli::cores;
use crate::cli::sweep::{Engine, MergeArgs, RunArgs, Shard, SweepArgs, SweepVerb};
use crate::console::{colours, complain, print};
use crate::inspect;
use crate::progress::seconds_text;
use crate::run::watch_interrupts;
use crate::status::Failure;
use analysis::num::{count_text, counted_text};
use analysis::sweep::METRICS;
use analysis::sweep::metrics::Kind;
use engine::Settings;
use folder::{Earlier, Finished, Folder, Manifest};
use scenarios::Diagnostics;
use scenarios::sweep::SweepPlan;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// `riosim sweep`
pub(crate) fn sweep(args: &SweepArgs) -> Result<(), Failure> {
    match &args.verb {
        SweepVerb::Run(args) => run(args),
        SweepVerb::Status(args) => status::status(&args.folder),
        SweepVerb::Merge(args) => merge_folder(args),
        SweepVerb::Cancel(args) => slurm::cancel(&Folder::at(&args.folder)),
        SweepVerb::Plot(args) => plot::plot(args),
        SweepVerb::Schema => print(&scenarios::sweep::schema()),
    }
}

/// Reads a sweep file; warnings about its scenario go to standard error.
fn load(path: &Path) -> Result<SweepPlan, Failure> {
    let (text, name) = inspect::read(path)?;
    let rendered = |findings: &Diagnostics| {
        if colours() { findings.render_coloured() } else { findings.render() }
    };
    let metrics: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
    let plan = scenarios::sweep::load(&text, &name, &metrics)
        .map_err(|errors| Failure::BadInput(rendered(&errors)))?;
    let is_largest =
        |name: &str| METRICS.iter().any(|metric| metric.name == name && metric.kind == Kind::Most);
    plan.check_stop(is_largest).map_err(|errors| Failure::BadInput(rendered(&errors)))?;
    plot::check(&plan).map_err(|errors| Failure::BadInput(rendered(&errors)))?;
    crate::require::check_sweep(&plan)?;
    for warnings in [&plan.remarks, &plan.warnings].into_iter().filter(|all| !all.items.is_empty()) {
        complain(&rendered(warnings));
    }
    Ok(plan)
}

/// Runs at a time.
fn jobs(args: &RunArgs) -> usize {
    args.jobs.map_or_else(cores, usize::from).max(1)
}

fn run(args: &RunArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let interrupted = watch_interrupts()?;
    if let Some(flag) = args.slurm.given().filter(|_| args.engine == Engine::Local) {
        return Err(Failure::bad_input(format_args!("{flag}: expected --engine slurm, which alone uses it")));
    }
    let plan = load(&args.sweep)?;
    let target = args.out.clone().unwrap_or_else(|| PathBuf::from("results/sweeps").join(&plan.name));
    if args.dry_run {
        return dry::dry_run(&plan, jobs(args), &interrupted);
    }
    let folder = Folder::at(&target);
    let earlier = match (args.accept_changes, args.restart) {
        (true, _) => Earlier::Accept,
        (_, true) => Earlier::Discard,
        _ => Earlier::Refuse,
    };
    let manifest = Manifest::new(&plan, &folder::header(&plan, reference::fingerprint()));
    if args.restart && args.shard.is_some() {
        return Err(Failure::bad_input(
            "--restart of one shard would throw away the runs of the others; remove the folder instead",
        ));
    }
    if args.engine == Engine::Slurm {
        if args.shard.is_some() {
            return Err(Failure::bad_input("--shard and --engine slurm exclude each other"));
        }
        // what is wrong is told here, not by tasks that wait for their turn first
        engine::check_all(&plan, jobs(args), &interrupted)?;
    }
    let shard = args.shard.unwrap_or(Shard::ALL);
    if args.engine == Engine::Local {
        // also here: a sweep that is refused leaves no folder, and none changed
        folder.refuses(&manifest, earlier)?;
        let known = match earlier {
            Earlier::Discard => Finished::default(),
            _ => folder.finished(&manifest, earlier)?,
        };
        engine::check_open(&plan, &manifest, &known, shard, jobs(args), &interrupted)?;
    }
    folder.prepare(&manifest, earlier)?;
    if args.engine == Engine::Slurm {
        return slurm::submit(args, &plan, &folder);
    }
    let mut finished = folder.finished(&manifest, earlier)?;
    let path = log::path(folder.path(), (shard.index, shard.count));
    let (mut log, torn) = log::Log::open(&path, &manifest.made_from)
        .map_err(|error| Failure::bad_input(folder::cannot_write(&path, &error)))?;
    if torn > 0 && !args.quiet {
        complain(&format!("riosim: {}: cut off {torn} octets of an interrupted write", path.display()));
    }
    let settings =
        Settings { shard, jobs: jobs(args), quiet: args.quiet, log: &path, interrupted: &interrupted };
    let done = engine::run(&plan, &manifest, &mut finished, &mut log, &folder, &settings)?;
    let wall = started.elapsed().as_secs_f64();
    let runs = counted_text(done.runs, "runs");
    let kept = counted_text(done.kept, "runs");
    let cost = format!("{runs} in {} ({kept} kept from before)", seconds_text(wall));
    if args.shard.is_some() {
        if args.quiet {
            return Ok(());
        }
        return print(&format!(
            "shard {}/{} is done: {cost}\nwhen all shards are: riosim sweep merge {}\n",
            shard.index,
            shard.count,
            folder.path().display()
        ));
    }
    let (data, _) = merge::merge(&folder, &manifest, earlier, false)?;
    if args.quiet {
        return Ok(());
    }
    let memory = match done.memory {
        (Some(octets), fit) if fit < settings.jobs => {
            format!("; the memory was enough for {fit} at a time (about {} MiB each)", octets >> 20)
        }
        _ => String::new(),
    };
    let shown = folder.path().join("");
    let busy = format!(", {} of work of all threads", seconds_text(done.busy_s));
    print(&format!(
        "{}\n{cost}{busy}{memory}, results in {}\n",
        merge::tell(&manifest, &data),
        shown.display()
    ))
}

fn merge_folder(args: &MergeArgs) -> Result<(), Failure> {
    let folder = Folder::at(&args.folder);
    let manifest = folder.manifest()?;
    let earlier = if args.accept_changes { Earlier::Accept } else { Earlier::Refuse };
    let (data, missing) = merge::merge(&folder, &manifest, earlier, args.partial)?;
    if args.quiet {
        return Ok(());
    }
    let text = merge::tell(&manifest, &data);
    let missing = match missing as u64 {
        0 => String::new(),
        missing => {
            let all = counted_text(manifest.frame.points.len() as u64, "points");
            let missing = count_text(missing);
            format!("{missing} of {all} are not finished: tables and figures have what there is\n")
        }
    };
    print(&format!("{text}\n{missing}results in {}\n", folder.path().join("").display()))
}
