//! `riosim compare`: paired differences between two sweeps, or two parts of one.

use super::folder::{Earlier, Folder, Manifest};
use super::merge::{aligned, meanings, with_interval};
use super::plot::{fixed, metric_of};
use crate::cli::sweep::CompareArgs;
use crate::console::print;
use crate::status::Failure;
use analysis::num::{Num, counted_text, small_change_text, three_digits};
use analysis::sweep::compare::{Comparison, Side, compare as comparisons, pairs};
use analysis::sweep::{ARRIVED_SHARE, Data, METRICS, metric};
use serde::Serialize;
use std::path::Path;

/// What is shown without `--metric` or `--all`.
const USUAL: [&str; 10] = [
    "offered_load",
    "accepted_load",
    "goodput_gbps",
    "latency_mean_ns",
    "latency_p99_ns",
    "network_latency_mean_ns",
    "network_latency_p99_ns",
    "part_hol_blocking_ns",
    "stalls",
    ARRIVED_SHARE,
];

struct Loaded {
    manifest: Manifest,
    data: Data,
    fixed: Vec<(usize, u32)>,
}

/// `FOLDER` or `FOLDER:axis=value,axis=value`.
fn load(text: &str) -> Result<Loaded, Failure> {
    // a folder may have a colon in its name
    let (path, parts) = match text.rsplit_once(':') {
        Some((path, parts)) if parts.contains('=') && !Path::new(text).exists() => (path, parts),
        _ => (text, ""),
    };
    let folder = Folder::at(Path::new(path));
    let manifest = folder.manifest()?;
    let (data, _) = folder.finished(&manifest, Earlier::Refuse)?.data(&manifest);
    let parts: Vec<&str> = parts.split(',').filter(|part| !part.is_empty()).collect();
    let fixed = fixed(&manifest.frame, &parts)?;
    Ok(Loaded { manifest, data, fixed })
}

/// `riosim compare`
pub(crate) fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let (a, b) = (load(&args.a)?, load(&args.b)?);
    if a.manifest.made_from.seed != b.manifest.made_from.seed {
        return Err(Failure::bad_input(format_args!(
            "A has seed {}, B has seed {}: their replications are no pairs",
            a.manifest.made_from.seed, b.manifest.made_from.seed
        )));
    }
    fn side(loaded: &Loaded) -> Side<'_> {
        Side { frame: &loaded.manifest.frame, data: &loaded.data, fixed: &loaded.fixed }
    }
    let points = pairs(side(&a), side(&b)).map_err(Failure::bad_input)?;
    let names: Vec<&str> = match (&args.metric[..], args.all) {
        (_, true) => METRICS.iter().map(|metric| metric.name).collect(),
        ([], _) => USUAL.to_vec(),
        (chosen, _) => chosen.iter().map(String::as_str).collect(),
    };
    let wanted: Vec<usize> = names.into_iter().map(metric_of).collect::<Result<_, Failure>>()?;
    let mut found = comparisons(side(&a), side(&b), &points);
    found.retain(|one| wanted.contains(&one.metric));
    // where everything arrives that is no news
    let told = args.all || !args.metric.is_empty();
    let share = metric(ARRIVED_SHARE);
    found.retain(|one| told || Some(one.metric) != share || one.a < 1.0 || one.b < 1.0);
    if let Some(scope) = &args.scope {
        if !found.iter().any(|one| one.scope == *scope) && !has_scope(&a, scope) {
            return Err(Failure::bad_input(format_args!(
                "A has no flow \"{scope}\"; it has {}",
                a.data.scopes().join(", ")
            )));
        }
        found.retain(|one| one.scope == *scope);
    }
    if found.is_empty() {
        return Err(Failure::bad_input("A and B have no finished runs in common in these metrics"));
    }
    if args.json {
        return print(&json(&found));
    }
    let mut rows =
        vec![["flow", "metric", "A", "B", "B - A", "change", "verdict"].map(String::from).to_vec()];
    rows.extend(found.iter().map(row));
    let mut shown = wanted;
    shown.retain(|metric| found.iter().any(|one| one.metric == *metric));
    print(&format!(
        "A: {}\nB: {}\n\n{}\nMeans over {} that A and B have in common, each weighing the same; runs of the \
         same seed are paired.\nB - A is the mean difference ± half of its 95 % interval, change is its \
         share of A, from ten times on B over A;\noverall is all flows together.\n{}",
        args.a,
        args.b,
        aligned(&rows),
        counted_text(points.len() as u64, "points"),
        meanings(shown)
    ))
}

/// Whether a run of a side has values of this flow.
fn has_scope(side: &Loaded, scope: &str) -> bool {
    side.data.scopes().contains(&scope)
}

fn row(one: &Comparison) -> Vec<String> {
    vec![
        one.scope.clone(),
        METRICS[one.metric].name.into(),
        three_digits(one.a),
        three_digits(one.b),
        // the sign that the change beside it has
        with_interval(&one.difference).replacen('-', if one.difference.mean < 0.0 { "−" } else { "-" }, 1),
        small_change_text(one.a, one.b).unwrap_or_else(|| "-".into()),
        one.said(one.verdict.text()),
    ]
}

fn json(found: &[Comparison]) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        scope: &'a str,
        metric: &'static str,
        a: Num,
        b: Num,
        difference: Num,
        ci95: Num,
        pairs: usize,
        replications: usize,
        verdict: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        arrived_share: Option<[Num; 2]>,
    }
    let lines = found.iter().map(|one| Line {
        scope: &one.scope,
        metric: METRICS[one.metric].name,
        a: Num(one.a),
        b: Num(one.b),
        difference: Num(one.difference.mean),
        ci95: Num(one.difference.half_width),
        pairs: one.pairs,
        replications: one.difference.count,
        verdict: one.verdict.text(),
        arrived_share: one.arrived.map(|shares| shares.map(Num)),
    });
    let lines: Vec<Line<'_>> = lines.collect();
    let mut text = serde_json::to_string_pretty(&lines).expect("string keys only");
    text.push('\n');
    text
}
