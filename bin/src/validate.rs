//! `riosim validate`: what the simulator gives beside what literature, the standard and arithmetic say.
//!
//! Every row is a small scenario with an expectation that was written down before it was run. The table and
//! its figure are `docs/validation.md` and `docs/validation.svg`; a test compares the quick part with them.

mod clos;
mod document;
mod islip;
mod lab;
mod links;
mod networks;
mod programs;
mod protocols;
mod queueing;
mod row;
mod switching;
mod voq;

use crate::cli::ValidateArgs;
use crate::console::{complain, print};
use crate::status::Failure;
use crate::whole;
use rayon::prelude::*;
use row::Row;
use std::time::Instant;

/// Rows that are simulated together.
struct Case {
    name: &'static str,
    /// Part of `--quick`.
    quick: bool,
    run: fn() -> Vec<Row>,
}

const fn case(name: &'static str, quick: bool, run: fn() -> Vec<Row>) -> Case {
    Case { name, quick, run }
}

/// In the order of the table.
const CASES: [Case; 41] = [
    case("md1", true, queueing::md1),
    case("mg1", true, queueing::mg1),
    case("cobham", true, queueing::cobham),
    case("tandem", true, queueing::tandem),
    case("little", true, queueing::little),
    case("karol-input", false, switching::karol_input),
    case("karol-output", false, switching::karol_output),
    case("islip", true, switching::islip),
    case("hot-spot", false, networks::hot_spot),
    case("channels", true, networks::channels),
    case("bisection", true, networks::bisection),
    case("clos", false, clos::clos),
    case("bisections", false, clos::bisections),
    case("banyan", false, networks::banyan),
    case("collectives", true, programs::collectives),
    case("sweeps", true, programs::sweeps),
    case("efficiency", true, links::efficiency),
    case("windows", true, links::windows),
    case("idle", true, links::idle),
    case("voq-blocking", true, voq::blocking),
    case("voq-shared", true, voq::shared),
    case("voq-thresholds", true, voq::thresholds),
    case("voq-radius", true, voq::radius),
    case("voq-chatter", true, voq::chatter),
    case("voq-refresh", true, voq::refresh),
    case("voq-staging", true, voq::staging),
    case("voq-open", true, voq::open),
    case("voq-honours", true, voq::honours),
    case("voq-overshoot", true, voq::overshoot),
    case("voq-cycle", true, voq::cycle),
    case("voq-lost", true, voq::lost),
    case("voq-staged", true, voq::staged),
    case("round-trips", true, protocols::round_trips),
    case("retries", true, protocols::retries),
    case("segments", true, protocols::segments),
    case("stalls", true, protocols::stalls),
    case("detection", false, protocols::detection),
    case("set-up", true, protocols::set_up),
    case("conduits", false, protocols::conduits),
    case("blocks", false, protocols::blocks),
    case("slots", true, protocols::slots),
];

/// Simulates the table, prints it, and writes it where `--out` says.
pub(crate) fn validate(args: &ValidateArgs) -> Result<(), Failure> {
    let started = Instant::now();
    let unknown = args.case.iter().find(|name| CASES.iter().all(|case| case.name != name.as_str()));
    if let Some(name) = unknown {
        let known: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        return Err(Failure::bad_input(format_args!(
            "no case is called {name:?}; there are {}",
            known.join(", ")
        )));
    }
    let chosen = |case: &&Case| {
        (!args.quick || case.quick)
            && (args.case.is_empty() || args.case.iter().any(|name| name == case.name))
    };
    let cases: Vec<&Case> = CASES.iter().filter(chosen).collect();
    let rows: Vec<Row> = cases.par_iter().with_max_len(1).flat_map(|case| (case.run)()).collect();
    if let Some(folder) = &args.out {
        let write = |name: &str, text: String| {
            let path = folder.join(name);
            let done = std::fs::create_dir_all(folder).and_then(|()| whole::replace(&path, text.as_bytes()));
            done.map_err(|e| Failure::bad_input(format_args!("cannot write {}: {e}", path.display())))
        };
        write("validation.md", document::page(&rows))?;
        write("validation.svg", document::figure(&rows))?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&rows).expect("rows are plain values");
        print(&format!("{text}\n"))?;
    } else {
        print(&document::table(&rows))?;
        complain(&format!("{} rows in {:.1} s", rows.len(), started.elapsed().as_secs_f64()));
    }
    let failed: Vec<&str> = rows.iter().filter(|row| !row.passes()).map(|row| row.what.as_str()).collect();
    match failed[..] {
        [] => Ok(()),
        _ => Err(Failure::Invariant(format!(
            "{} of {} rows do not agree: {}",
            failed.len(),
            rows.len(),
            failed.join("; ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page that is shipped says what the quick rows give today.
    #[test]
    fn the_page_is_up_to_date() {
        let page = include_str!("../../docs/validation.md");
        let rows: Vec<Row> =
            CASES.par_iter().filter(|case| case.quick).flat_map(|case| (case.run)()).collect();
        assert!(rows.len() >= 40, "{} quick rows", rows.len());
        for row in &rows {
            let line = document::line(row);
            assert!(row.passes(), "{line}");
            assert!(page.contains(&line), "docs/validation.md is old (riosim validate --out docs):\n{line}");
        }
    }

    #[test]
    fn cases_have_names_of_their_own() {
        for (n, case) in CASES.iter().enumerate() {
            assert!(CASES[..n].iter().all(|other| other.name != case.name), "{}", case.name);
        }
    }
}
