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
    let (path, parts) = parted(text, |path| Path::new(path).exists());
    let folder = Folder::at(Path::new(path));
    let manifest = folder.manifest()?;
    let (data, _) = folder.finished(&manifest, Earlier::Refuse)?.data(&manifest);
    let fixed = fixed(&manifest.frame, &settings(parts))?;
    Ok(Loaded { manifest, data, fixed })
}

/// The folder of a side, and what it is to be held at. A folder may have a colon in its name, and so may a
/// value: the longest folder that is there counts.
fn parted(text: &str, is_there: impl Fn(&str) -> bool) -> (&str, &str) {
    if is_there(text) {
        return (text, "");
    }
    let split = || text.rmatch_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
    let said = || split().filter(|(_, parts)| parts.contains('='));
    said().find(|(path, _)| is_there(path)).or_else(|| said().next()).unwrap_or((text, ""))
}

/// `axis=value,axis=value` one by one. A value may have commas: what follows one is an axis if it looks so.
fn settings(parts: &str) -> Vec<&str> {
    let is_axis = |text: &str| {
        let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && name.chars().all(word))
    };
    let commas = parts.match_indices(',').map(|(at, _)| at).filter(|at| is_axis(&parts[at + 1..]));
    let mut found = Vec::new();
    let mut from = 0;
    for at in commas.chain([parts.len()]) {
        found.extend((at > from).then(|| &parts[from..at]));
        from = at + 1;
    }
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders and values may have colons, and values commas.
    #[test]
    fn a_side_is_a_folder_and_what_it_is_held_at() {
        let there = |path: &str| ["out", "a:b=c", "a:b"].contains(&path);
        for (text, path, parts) in [
            ("out", "out", ""),
            ("out:link=sw:0", "out", "link=sw:0"),
            ("out:link=sw:0,load=0.5", "out", "link=sw:0,load=0.5"),
            ("a:b=c", "a:b=c", ""),
            ("a:b:load=1", "a:b", "load=1"),
            ("none:load=1", "none", "load=1"),
            ("none:load", "none:load", ""),
        ] {
            assert_eq!(parted(text, there), (path, parts), "{text}");
        }
        assert_eq!(settings("link=sw:0,load=0.5"), ["link=sw:0", "load=0.5"]);
        assert_eq!(settings(r#"voq={"on":3,"off":1},case=a, b"#), [r#"voq={"on":3,"off":1}"#, "case=a, b"]);
        assert_eq!(settings(""), [""; 0]);
    }
}
