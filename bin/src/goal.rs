//! `riosim goal`: how long a program takes where every message has the network for itself (LogGOPS).

use crate::cli::{GoalArgs, ReceptionArg};
use crate::status::Failure;
use analysis::num::{count_text, time_text};
use models::goal::loggops::{Completion, LogGops, Reception, run};
use models::goal::{Action, Schedule};
use models::sim_core::Duration;
use serde_json::json;
use std::sync::Arc;

/// Reads a file and prints what it comes to.
pub(crate) fn goal(args: &GoalArgs) -> Result<(), Failure> {
    let path = args.file.display();
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::bad_input(format_args!("{path}: cannot be read: {error}")))?;
    let schedule =
        scenarios::goal::read(&text).map_err(|error| Failure::bad_input(format_args!("{path}: {error}")))?;
    let parameters = parameters(args).map_err(Failure::bad_input)?;
    let schedule = Arc::new(schedule);
    let done = run(schedule.clone(), parameters);
    print!("{}", if args.json { as_json(&schedule, &done) } else { as_text(&schedule, &done) });
    Ok(())
}

fn parameters(args: &GoalArgs) -> Result<LogGops, String> {
    let time = |name: &str, text: &str| {
        let time = scenarios::units::time(text);
        time.map(Duration).map_err(|error| format!("--{name}: {error}"))
    };
    let latency = time("latency", &args.latency)?;
    if latency.is_zero() {
        return Err("--latency: 0 found; allowed: more than 0, for messages take time".into());
    }
    Ok(LogGops {
        latency,
        overhead: time("overhead", &args.overhead)?,
        gap: time("gap", &args.gap)?,
        gap_per_octet: time("gap-per-octet", &args.gap_per_octet)?,
        overhead_per_octet: time("overhead-per-octet", &args.overhead_per_octet)?,
        eager_octets: args.eager.unwrap_or(u64::MAX),
        reception: match args.reception {
            ReceptionArg::Processor => Reception::Processor,
            ReceptionArg::Pipelined => Reception::Pipelined,
        },
    })
}

fn octets(schedule: &Schedule) -> u64 {
    let ops = schedule.ranks.iter().flat_map(|rank| rank.ops());
    ops.map(|op| if let Action::Send { octets, .. } = op.action { octets } else { 0 }).sum()
}

/// Share of the time until the last rank is done in which rank `n` does not compute.
fn communication(done: &Completion, n: usize) -> Option<f64> {
    let end = done.end()?.as_ps();
    (end > 0).then(|| 1.0 - done.computed[n].as_ps() as f64 / end as f64)
}

fn as_text(schedule: &Schedule, done: &Completion) -> String {
    let mut text = format!(
        "{} ranks, {} messages, {} octets\n",
        count_text(schedule.ranks.len() as u64),
        count_text(schedule.messages()),
        count_text(octets(schedule))
    );
    match done.end() {
        Some(end) => {
            let shares = || (0..schedule.ranks.len()).filter_map(|n| communication(done, n));
            let mean = shares().sum::<f64>() / shares().count().max(1) as f64;
            text += &format!(
                "done after {} ({} ps), of which a rank does not compute {:.2} % on average\n",
                time_text(end.as_ps() as f64),
                end.as_ps(),
                100.0 * mean
            );
        }
        None => {
            let waits = done.ranks.iter().filter(|end| end.is_none()).count();
            text += &format!("{} ranks wait for ever\n", count_text(waits as u64));
        }
    }
    text
}

fn as_json(schedule: &Schedule, done: &Completion) -> String {
    let ranks = done.ranks.iter().zip(&done.computed).map(
        |(end, computed)| json!({ "end_ps": end.map(|end| end.as_ps()), "computed_ps": computed.as_ps() }),
    );
    let whole = json!({
        "messages": schedule.messages(),
        "octets": octets(schedule),
        "end_ps": done.end().map(|end| end.as_ps()),
        "ranks": ranks.collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}
