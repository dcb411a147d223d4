//! Every metric has one row, and every row gets what its name says.

use super::synthetic::{WITH, run};
use analysis::require::requirement;
use analysis::requirement::{Amount, Limit, Relation, Subjects};
use analysis::sweep::{METRICS, OVERALL, ScopeRow, measure, metric};
use analysis::{RunData, VariantReport, series};
use models::agent::initialise::{Hold, InitialiseTotals};
use models::config::DeviceModel;
use models::sim_core::{Duration, Time};
use models::stats::{LinxTotals, SessionTotals, Times};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A run in which there is something to tell for every row, and nothing twice.
fn told() -> RunData {
    let mut data = run(WITH);
    for device in &mut Arc::make_mut(&mut data.config).devices {
        if let DeviceModel::Switch(switch) = &mut device.model {
            switch.slot = Some(Duration(100_000));
        }
    }
    let times = |ps: u64| Times { count: 2, sum: 4 * u128::from(ps), min: ps, max: 3 * ps };
    let mut sessions =
        SessionTotals { flow: 0, nodes: 4, expected: 9, pairs: 5, leaked: 2, ..Default::default() };
    (sessions.orphans, sessions.half_open, sessions.first_open) = (3, 0, Some(Time(7_000_000)));
    sessions.stats.opens = 11;
    let mut linx = LinxTotals { flow: 1, nodes: 3, wanted: 17, up: 13, ..Default::default() };
    linx.stats.false_timeouts = 19;
    linx.stats.up_ps = 2 * 3_600 * 1_000_000_000_000;
    linx.stats.gaps = vec![0, 23];
    (linx.stats.detected, linx.stats.reestablished) = (times(1_000_000), times(10_000_000));
    data.outcome.totals.push(sessions);
    data.outcome.totals.push(linx);
    let mut registers = InitialiseTotals { flow: 1, processors: 2, ..Default::default() };
    (registers.stats.visits, registers.stats.done, registers.stats.past) = (6, 3, 3);
    // the last visit finds that nothing is left to do
    (registers.stats.last, registers.stats.locked) = (Some(Time(30_000_000)), 31);
    let (from, until) = (Time(28_000_000), Some(Time(29_000_000)));
    registers.stats.holds.push(Hold { node: 1, block: 0, by: 2, shared: false, from, until });
    registers.stats.beaten = 6;
    data.outcome.totals.push(registers);
    data
}

fn value(rows: &[ScopeRow], scope: &str, name: &str) -> Option<f64> {
    rows.iter().find(|row| row.scope == scope).unwrap().values[metric(name).unwrap()]
}

/// A row without a getter, or with one that gets nothing, fails; so does a name that two rows have.
#[test]
fn every_column_of_a_sweep_has_one_row_that_gets_something() {
    let mut report = VariantReport::new(told());
    (report.flows[0].books.asked, report.flows[0].books.arrived) = (3, 2);
    let limit = Limit::new("> 0".into(), Relation::Above, Amount::Number(0, 1));
    let flows = Subjects::Flows(vec![0]);
    report.required.push(requirement(flows, "dropped_packets", limit).expect("a metric"));
    let rows = measure(&report);
    let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!((names.len(), METRICS.len()), (66, 66));
    for (index, metric) in METRICS.iter().enumerate() {
        assert!(rows[0].values[index].is_some(), "{}", metric.name);
    }
    assert!(rows.iter().all(|row| row.values.len() == METRICS.len()));
}

#[test]
fn a_column_of_a_protocol_tells_of_the_flow_that_the_protocol_runs() {
    let report = VariantReport::new(told());
    let rows = measure(&report);
    for (name, right) in [
        ("conduits", 5.0),
        ("leaked_streams", 2.0),
        ("orphan_records", 3.0),
        ("open_messages", 11.0),
        ("all_open_us", 7.0),
        ("ended_orphan", 1.0),
        ("ended_leak", 0.0),
        ("ended_one", 0.0),
    ] {
        assert_eq!(value(&rows, OVERALL, name), Some(right), "{name}");
        assert_eq!(value(&rows, "victim", name), Some(right), "{name}");
        assert_eq!(value(&rows, "hot", name), None, "{name}");
    }
    for (name, right) in [
        ("connections", 13.0),
        ("false_timeouts", 19.0),
        ("false_timeouts_per_connection_hour", 19.0),
        ("detection_mean_us", 2.0),
        ("detection_max_us", 3.0),
        ("reestablishment_mean_us", 20.0),
        ("initialised_us", 29.0),
        ("locks_of_others", 37.0),
    ] {
        assert_eq!(value(&rows, OVERALL, name), Some(right), "{name}");
        assert_eq!(value(&rows, "hot", name), Some(right), "{name}");
        assert_eq!(value(&rows, "victim", name), None, "{name}");
    }
    // of the fabric, not of a flow
    let steady = f64::from(u8::from(report.window.steady));
    assert_eq!((value(&rows, OVERALL, "steady"), value(&rows, "hot", "steady")), (Some(steady), None));
}

/// Sorted by their first line: what stands in the files, and that nothing stands there twice or never.
#[test]
fn every_column_of_a_series_has_a_name_of_its_own_and_is_filled() {
    let reports = [VariantReport::new(told())];
    let files = series::all(&reports);
    let names: Vec<&str> = files.iter().map(|file| file.name).collect();
    assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len());
    assert!(names.contains(&"heartbeats.csv"), "{names:?}");
    let notes = series::notes();
    for file in &files {
        // what the manual says of a file is what stands in it
        if let Some(notes) = notes.iter().find(|notes| notes.name == file.name) {
            let told: Vec<&str> = notes.columns.iter().map(|[name, _]| *name).collect();
            assert_eq!(
                file.text.lines().next().unwrap(),
                format!("variant,{}", told.join(",")),
                "{}",
                file.name
            );
        } else {
            assert!(file.name.ends_with(".json"), "{}: nobody says what its columns are", file.name);
        }
        let mut lines = file.text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
        let head = lines.next().unwrap();
        assert_eq!(head.len(), head.iter().collect::<BTreeSet<_>>().len(), "{}", file.name);
        let cells: Vec<Vec<&str>> = lines.collect();
        for (column, name) in head.iter().enumerate() {
            let filled = cells.iter().any(|line| !line[column].is_empty());
            assert!(filled || cells.is_empty(), "{}: {name}", file.name);
        }
    }
    let heartbeats = &files.iter().find(|file| file.name == "heartbeats.csv").unwrap().text;
    assert_eq!(heartbeats, "variant,flow,from_periods,heartbeats\nVoQ backpressure,hot,0.03125,23\n");
}

/// Modules of the crate, and those that each uses: of its text up to its tests.
fn uses() -> BTreeMap<String, BTreeSet<String>> {
    fn read(folder: &Path, module: Option<&str>, found: &mut BTreeMap<String, BTreeSet<String>>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let stem = entry.file_stem().unwrap().to_str().unwrap().to_owned();
            let module = module.unwrap_or(&stem);
            if entry.is_dir() {
                read(&entry, Some(module), found);
            } else if stem != "tests" {
                let text = std::fs::read_to_string(&entry).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap();
                let words = text.split("crate::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
                    Some(list) => list.split('}').next().unwrap().split(", ").collect(),
                    None => vec![rest],
                });
                let name = |word: &str| {
                    word.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
                };
                found.entry(module.to_owned()).or_default().extend(words.filter_map(name));
            }
        }
    }
    let mut found = BTreeMap::new();
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    found.remove("lib");
    let modules: BTreeSet<String> = found.keys().cloned().collect();
    found.iter_mut().for_each(|(module, uses)| uses.retain(|used| used != module && modules.contains(used)));
    found
}

/// What is collected, then reports, then what shows them: no module asks one that asks it.
#[test]
fn no_circle_among_the_modules() {
    let mut left = uses();
    assert!(left["summary"].contains("report") && left["table"].contains("protocol"), "{left:?}");
    while let Some(lowest) = left.iter().find(|(_, uses)| uses.is_empty()).map(|(module, _)| module.clone()) {
        left.remove(&lowest);
        for uses in left.values_mut() {
            uses.remove(&lowest);
        }
    }
    assert!(left.is_empty(), "in a circle, or above one: {left:?}");
}
