//! From logs to results: the same bytes whoever simulated what, in which order, and how often it was killed.

use super::folder::{Earlier, FILES, Folder, Manifest};
use super::plot;
use crate::status::Failure;
use analysis::num::{counted_text, share_text, three_digits};
use analysis::sweep::table::{estimates, results};
use analysis::sweep::{ARRIVED_SHARE, Data, METRICS, Mean, OVERALL, Run, metric};
use serde::Serialize;
use std::collections::BTreeSet;

/// Points in the table on the terminal.
const SHOWN: usize = 40;

/// Writes the results of a folder; gives back what counts, and how many points are not finished.
///
/// # Errors
/// If runs are missing, unless `partial`.
pub(crate) fn merge(
    folder: &Folder,
    manifest: &Manifest,
    earlier: Earlier,
    partial: bool,
) -> Result<(Data, usize), Failure> {
    let finished = folder.finished(manifest, earlier)?;
    let (data, missing) = finished.data(manifest);
    if !missing.is_empty() && !partial {
        let all = manifest.frame.points.len();
        return Err(Failure::bad_input(format_args!(
            "{}: {} of {all} points are not finished (the first is {}); --partial merges what there is",
            folder.path().display(),
            missing.len(),
            missing[0]
        )));
    }
    let table = results(&manifest.frame, &data);
    let means = estimates(&manifest.frame, &data);
    folder.write(FILES[0], table.to_csv().as_bytes())?;
    folder.write(FILES[1], &table.to_parquet())?;
    folder.write(FILES[2], means.to_csv().as_bytes())?;
    #[derive(Serialize)]
    struct Dictionary<T> {
        results: T,
        estimates: T,
    }
    let dictionary = Dictionary { results: table.dictionary(), estimates: means.dictionary() };
    let mut text = serde_json::to_string_pretty(&dictionary).expect("string keys only");
    text.push('\n');
    folder.write(FILES[3], text.as_bytes())?;
    for wanted in &manifest.plots {
        plot::draw(folder, manifest, &data, wanted)?;
    }
    Ok((data, missing.len()))
}

/// The points with what most people look for first.
pub(crate) fn tell(manifest: &Manifest, data: &Data) -> String {
    let frame = &manifest.frame;
    let share = metric(ARRIVED_SHARE).expect("a metric");
    let shares = data.runs.values().flat_map(|run| &run.rows).filter(|row| row.scope == OVERALL);
    let short = shares.filter_map(|row| row.value(share)).any(|share| share < 1.0);
    let columns = ["accepted_load", "goodput_gbps", ARRIVED_SHARE, "latency_mean_ns", "latency_p99_ns"];
    let columns = || columns.into_iter().filter(|name| short || *name != ARRIVED_SHARE);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut heading: Vec<String> = vec!["point".into()];
    heading.extend(frame.axes.iter().map(|axis| axis.name.clone()));
    heading.push("runs".into());
    heading.extend(columns().map(String::from));
    rows.push(heading);
    let known = (0..frame.points.len() as u32).filter(|point| data.of(*point).next().is_some());
    for point in known.clone().take(SHOWN) {
        let mut row = vec![point.to_string()];
        let levels = &frame.points[point as usize].levels;
        row.extend(frame.axes.iter().zip(levels).map(|(axis, level)| axis.labels[*level as usize].clone()));
        row.push(data.of(point).count().to_string());
        for name in columns() {
            let index = metric(name).expect("a metric");
            let values: Vec<f64> = data.values(point, OVERALL, index).into_iter().map(|v| v.1).collect();
            row.push(Mean::of(&values).map_or_else(|| "-".into(), |mean| with_interval(&mean)));
        }
        rows.push(row);
    }
    let mut text = format!("{}\n\n{}", frame.title, aligned(&rows));
    let all = known.count();
    if all > SHOWN {
        text += &format!("... and {} in {}\n", counted_text((all - SHOWN) as u64, "more points"), FILES[2]);
    }
    text += "\nA row is a point, all flows together: the mean over its runs ± half of the 95 % interval.\n";
    text += &meanings(columns().map(|name| metric(name).expect("a metric")));
    text += &stop_rule(manifest, data);
    text += &requirements(data);
    let stopped = data.runs.values().filter(|run| run.stopped).count() as u64;
    if stopped > 0 {
        let runs = counted_text(stopped, "runs");
        text += &format!("Ended by the watchdog at a stall: {runs} (column stopped of the results).\n");
    }
    text
}

/// What a stop rule did not bring about: points that it says nothing about, and points that are not known as
/// well as it wants. A line each, or nothing.
pub(super) fn stop_rule(manifest: &Manifest, data: &Data) -> String {
    unmeasured(manifest, data) + &missed(manifest, data)
}

/// Points whose runs are used up before their intervals are as narrow as the stop rule wants.
fn missed(manifest: &Manifest, data: &Data) -> String {
    let (Some(stop), Some(missed)) = (&manifest.rule.stop, manifest.rule.missed(data)) else {
        return String::new();
    };
    let unit = METRICS[metric(&stop.metric).expect("a metric")].unit;
    let width = |width: f64| match stop.relative {
        true => format!("± {} of its mean", share_text(width)),
        false => format!("± {} {unit}", three_digits(width)).trim_end().to_owned(),
    };
    format!(
        "The stop rule is not met at {} of {}, which have all {}: of {} of {} it wants {}, and at the worst \
         of them, point {}, there is {}.\n",
        missed.points,
        counted_text(manifest.frame.points.len() as u64, "points"),
        counted_text(u64::from(manifest.rule.max), "runs"),
        stop.metric,
        stop.scope,
        width(stop.half_width),
        missed.worst,
        width(missed.half_width)
    )
}

/// Points that a stop rule says nothing about: without a value in each run there is no interval.
fn unmeasured(manifest: &Manifest, data: &Data) -> String {
    let Some(stop) = &manifest.rule.stop else { return String::new() };
    let index = metric(&stop.metric).expect("a metric");
    let lacks = |point: &u32| {
        let runs = data.of(*point).count();
        runs > 0 && data.values(*point, &stop.scope, index).len() < runs
    };
    let points = (0..manifest.frame.points.len() as u32).filter(lacks).count() as u64;
    if points == 0 {
        return String::new();
    }
    let max = counted_text(u64::from(manifest.rule.max), "runs");
    let points = counted_text(points, "points");
    format!(
        "The stop rule says nothing about {points}: not every run has {} of {}, so there is no interval, and \
         they take all {max}.\n",
        stop.metric, stop.scope
    )
}

/// How the requirements of the scenario ended, a line, or nothing where there are none.
pub(super) fn requirements(data: &Data) -> String {
    let index = |name: &str| metric(name).expect("a metric");
    let columns = ["required_pass", "required_fail", "required_unknown"].map(index);
    let value = |run: &Run, column: usize| {
        let row = run.rows.iter().find(|row| row.scope == OVERALL);
        row.and_then(|row| row.value(column)).unwrap_or(0.0)
    };
    let [pass, fail, unknown] = columns;
    // Of each column the points of the runs that have any.
    let mut met = columns.map(|_| Vec::new());
    let mut all = 0;
    for ((point, _), run) in &data.runs {
        let has = columns.map(|column| value(run, column) > 0.0);
        all += u64::from(has.contains(&true));
        for (points, _) in met.iter_mut().zip(has).filter(|(_, has)| *has) {
            points.push(*point);
        }
    }
    let [_, failing, unknowing] = &met;
    let of = |points: &[u32], column: usize| {
        let runs = points.len();
        let points = points.iter().collect::<BTreeSet<_>>().len() as u64;
        let points = counted_text(points, "points");
        format!("in {runs} of {}, at {points} (column {})", counted_text(all, "runs"), METRICS[column].name)
    };
    match (failing.len(), unknowing.len()) {
        _ if all == 0 => String::new(),
        (0, 0) => format!("Requirements of the scenario: PASS, all of them in all {all} runs.\n"),
        (0, _) => {
            let (too_little, holds) = (of(unknowing, unknown), METRICS[pass].name);
            format!(
                "Requirements of the scenario: too little was measured for one or more {too_little}; the \
                 others hold (column {holds}).\n"
            )
        }
        _ => format!("Requirements of the scenario: FAIL, one or more {}.\n", of(failing, fail)),
    }
}

/// What metrics are, a line for each.
pub(crate) fn meanings(metrics: impl IntoIterator<Item = usize>) -> String {
    let rows: Vec<_> = metrics.into_iter().map(|index| &METRICS[index]).collect();
    let width = rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
    let line = |name: &str, about: &str, unit: &str| match unit {
        "" => format!("  {name:<width$}  {about}\n"),
        unit => format!("  {name:<width$}  {about}, in {unit}\n"),
    };
    rows.iter().map(|row| line(row.name, row.about, row.unit)).collect()
}

/// `512 ± 3.1`
pub(crate) fn with_interval(mean: &Mean) -> String {
    if mean.half_width.is_finite() {
        format!("{} ± {}", three_digits(mean.mean), three_digits(mean.half_width))
    } else {
        three_digits(mean.mean)
    }
}

/// Rows in columns: the first row is the heading; numbers to the right would need to know what is a number,
/// so everything is.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
        text += &format!("  {}\n", cells.join("  "));
    }
    text
}
