//! `riosim goal`: how long a program takes where every message has the network for itself (LogGOPS).

use crate::cli::{GoalArgs, RulesArg};
use crate::console;
use crate::status::Failure;
use analysis::protocol::program;
use models::goal::Schedule;
use models::goal::loggops::{Completion, LogGops, Rules, run};
use models::sim_core::Duration;
use serde_json::json;
use std::sync::Arc;

/// Reads a file and prints what it comes to.
pub(crate) fn goal(args: &GoalArgs) -> Result<(), Failure> {
    let path = args.file.display();
    let text = std::fs::read_to_string(&args.file)
        .map_err(|error| Failure::bad_input(format_args!("{path}: cannot be read: {error}")))?;
    let (schedule, lines) = scenarios::goal::read_with_lines(&text)
        .map_err(|error| Failure::bad_input(format_args!("{path}: {error}")))?;
    let parameters = parameters(args).map_err(Failure::bad_input)?;
    let schedule = Arc::new(schedule);
    let done = run(schedule.clone(), parameters).map_err(|error| {
        let line = lines.of(error.rank, error.op);
        Failure::bad_input(format_args!("{path}: line {line}: {error}"))
    })?;
    if let Some((rank, op)) = done.early {
        console::complain(&format!(
            "riosim: {path}: line {}: begins before what it waits for is over, by the rules of LogGOPSim; \
             --rules processor and --rules pipelined wait for it",
            lines.of(rank, op)
        ));
    }
    console::print(&if args.json { as_json(&schedule, &done) } else { program::text(&schedule, &done) })?;
    let stuck = done.stuck.first().map(|&(rank, op)| {
        let line = lines.of(rank, op);
        format!("{path}: line {line}: rank {rank} waits here for ever")
    });
    stuck.map_or(Ok(()), |text| Err(Failure::Stalled(vec![text])))
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
        rules: match args.rules {
            RulesArg::Loggopsim => Rules::LogGopSim,
            RulesArg::Processor => Rules::Processor,
            RulesArg::Pipelined => Rules::Pipelined,
        },
    })
}

fn as_json(schedule: &Schedule, done: &Completion) -> String {
    let ranks = done.ranks.iter().zip(&done.computed).map(
        |(end, computed)| json!({ "end_ps": end.map(|end| end.as_ps()), "computed_ps": computed.as_ps() }),
    );
    let whole = json!({
        "messages": schedule.messages(),
        "octets": schedule.octets(),
        "end_ps": done.end().map(|end| end.as_ps()),
        "ranks": ranks.collect::<Vec<_>>(),
    });
    format!("{whole:#}\n")
}
