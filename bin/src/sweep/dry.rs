//! `sweep --dry-run`: the points, and what they would cost.

use super::engine;

use super::merge::aligned;
use crate::console::{colours, print};
use crate::memory;
use crate::progress::seconds_text;
use crate::status::Failure;
use analysis::Observed;
use analysis::num::counted_text;
use analysis::{Collector, CollectorConfig};
use models::run::{Progress, RunOptions};
use scenarios::sweep::{Point, SweepPlan, replication_seed};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Points that are listed.
const LISTED: usize = 60;
/// Points that are tried.
const TRIED: usize = 8;
/// Wall-clock seconds that a trial takes at most.
const TRIAL_S: f64 = 0.3;
/// Events between two looks at the clock.
const SLICE: u64 = 1 << 14;

/// Lists the points of a sweep and estimates what it costs.
pub(crate) fn dry_run(plan: &SweepPlan, jobs: usize, interrupted: &AtomicBool) -> Result<(), Failure> {
    engine::check_all(plan, jobs, interrupted)?;
    let mut rows = vec![vec!["point".to_owned()]];
    rows[0].extend(plan.axes.iter().map(|axis| axis.name.clone()));
    for (index, point) in plan.points.iter().enumerate().take(LISTED) {
        let mut row = vec![index.to_string()];
        row.extend(plan.levels(point).map(|(_, level)| level.label.clone()));
        rows.push(row);
    }
    let mut text = format!("{}\n\n{}", plan.title, aligned(&rows));
    if plan.points.len() > LISTED {
        text += &format!("  ... and {}\n", counted_text((plan.points.len() - LISTED) as u64, "more points"));
    }
    let count = plan.points.len();
    let runs = |replications: u32| count as u64 * u64::from(replications);
    let (least, most) = (runs(plan.replications.min), runs(plan.replications.max));
    let amount = if least == most { least.to_string() } else { format!("{least} to {most}") };
    text += &format!("\n{}, {amount} runs\n", counted_text(count as u64, "points"));

    let baseline = memory::ask();
    // keys are hashes, so the least of them are a sample that follows no axis
    let mut sample: Vec<&Point> = plan.points.iter().collect();
    sample.sort_by_key(|point| &point.key);
    let mut walls = Vec::new();
    for point in sample.into_iter().take(TRIED) {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        walls.push(trial(plan, point)?);
    }
    let mean = walls.iter().sum::<f64>() / walls.len().max(1) as f64;
    let all = |runs: u64| seconds_text((runs as f64 * mean / jobs as f64).ceil());
    let (shortest, longest) = (all(least), all(most));
    let time = if shortest == longest { longest } else { format!("{shortest} to {longest}") };
    let low = walls.iter().copied().fold(f64::INFINITY, f64::min);
    let high = walls.iter().copied().fold(0.0, f64::max);
    text += &format!(
        "A run takes about {} of this machine ({} to {} in {}), so with {jobs} at a time all of them take \
         about {time}.\n",
        short(mean),
        short(low),
        short(high),
        counted_text(walls.len() as u64, "trials")
    );
    if let (Some(before), Some(after)) = (baseline, memory::ask()) {
        text += &format!(
            "A run takes about {} MiB of memory; {} MiB are available.\n",
            (after.grown(before) >> 20).max(1),
            after.available() >> 20
        );
    }
    print(&text)
}

fn short(seconds: f64) -> String {
    analysis::num::time_text(seconds * 1e12)
}

/// Estimated wall-clock seconds of a run of this point: its beginning, stretched to its length.
fn trial(plan: &SweepPlan, point: &Point) -> Result<f64, Failure> {
    let started = Instant::now();
    let variant = plan
        .compile(point, replication_seed(plan.seed, 1))
        .map_err(|errors| Failure::BadInput(errors.render(colours())))?;
    let collector = Collector::new(&CollectorConfig::new(&variant.config, variant.until));
    let mut simulation = Observed::new(Arc::clone(&variant.config), RunOptions::default(), collector);
    let fixed = started.elapsed().as_secs_f64();
    let begun = Instant::now();
    while simulation.run(variant.until, SLICE) == Progress::Running && begun.elapsed().as_secs_f64() < TRIAL_S
    {
    }
    let share = simulation.now().0 as f64 / variant.until.0.max(1) as f64;
    Ok(fixed + begun.elapsed().as_secs_f64() / share.clamp(1e-9, 1.0))
}
