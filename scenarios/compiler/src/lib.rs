//! Scenario files: from text to fabrics that can run.
//!
//! ```text
//! text -> structure -> spec -> expand -> check -> compile -> RunPlan
//! ```
//!
//! - [`spec`]: what a file may say. Its doc comments are the reference manual and become the JSON Schema.
//! - [`structure`]: JSON Schema errors in words; all of them at once.
//! - [`expand`]: every default written out. The result is a scenario again and reproduces the run alone.
//! - [`topology`], [`routing`]: generators and default routes.
//! - [`fabric`]: checks on the compiled fabric, among them [`check_next_hops`].
//! - [`sweep`]: axes of parameters over a scenario, and the points that they make.
//! - [`plan`]: what comes out: a [`RunPlan`] with one [`Variant`] for each run.
//!
//! Nothing here looks at the environment: a file that is valid here is valid everywhere. The only files that
//! are read besides the scenario are the traces that it names, through a function that the caller gives.

mod channels;
mod check;
mod compile;
mod compiler;
mod configure;
pub mod diagnostic;
mod effect;
mod excerpt;
pub mod expand;
pub mod fabric;
mod faults;
mod flow;
pub mod goal;
mod ids;
mod medium;
pub mod names;
pub mod plan;
mod pointer;
pub mod presets;
mod quantities;
mod report;
mod require;
mod resolve;
mod resolved;
pub mod routing;
mod sampling;
mod schema;
mod settings;
pub mod source;
pub mod spec;
pub mod structure;
mod studies;
pub mod sweep;
mod tables;
mod templates;
pub mod topology;
mod translators;
pub mod units;
mod voq;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use fabric::check_next_hops;
pub use plan::{Labels, Offered, Requirement, RunPlan, Subjects, Variant, Warmup};
pub use report::{check_report, check_report_with, clock_report, list_devices, list_topologies};
pub use require::{KnowMetric, Wrong};
pub use studies::{STUDIES, Study};
pub use tables::next_hops;
pub use templates::{Template, templates};
pub use units::{Amount, Comparison, Relation};

use crate::source::ReadFile;
use crate::spec::{Spec, VariantSpec};
use models::config::{DeviceConfig, DeviceModel};
use models::run::footprint;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// JSON Schema of scenario files, pretty-printed.
pub fn schema() -> String {
    let mut text = serde_json::to_string_pretty(structure::schema_value()).expect("a JSON value prints");
    text.push('\n');
    text
}

/// Reads, checks and compiles a scenario.
///
/// `file_name` is what messages call the text; traces are looked up in its folder. `overrides` are pairs of a
/// JSON pointer and a value, applied before anything else.
///
/// # Errors
/// Everything that is wrong with the scenario, as far as one stage of the pipeline can see it.
pub fn load(text: &str, file_name: &str, overrides: &[(String, Value)]) -> Result<RunPlan, Diagnostics> {
    let folder = Path::new(file_name).parent().unwrap_or(Path::new("")).to_owned();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).map_err(|error| error.to_string());
    load_with(text, file_name, overrides, &read)
}

/// [`load`] with the function that reads traces.
///
/// # Errors
/// As [`load`].
pub fn load_with(
    text: &str,
    file_name: &str,
    overrides: &[(String, Value)],
    read: ReadFile<'_>,
) -> Result<RunPlan, Diagnostics> {
    let mut out = Vec::new();
    let plan = stages(text, overrides, read, &mut out, None);
    let is_replaced = |item: &Diagnostic| overrides.iter().any(|(at, _)| item.is_in(at));
    let out = out.into_iter().map(|item| if is_replaced(&item) { item.replaced() } else { item }).collect();
    match plan {
        Some(mut plan) => {
            plan.warnings = Diagnostics::new(file_name, text, out);
            Ok(plan)
        }
        None => Err(Diagnostics::new(file_name, text, out)),
    }
}

/// [`load_with`] for a sweep, whose points may give an effect to what has none in the file alone: what it
/// says of that comes beside the plan, and counts if it holds at every point.
///
/// # Errors
/// As [`load`].
fn load_for_points(
    text: &str,
    file_name: &str,
    read: ReadFile<'_>,
) -> Result<(RunPlan, Vec<Diagnostic>), Diagnostics> {
    let (mut out, mut moot) = (Vec::new(), Vec::new());
    match stages(text, &[], read, &mut out, Some(&mut moot)) {
        Some(mut plan) => {
            plan.warnings = Diagnostics::new(file_name, text, out);
            Ok((plan, moot))
        }
        None => Err(Diagnostics::new(file_name, text, out)),
    }
}

/// Where a scenario says how long it runs.
pub(crate) const RUN_UNTIL: &str = "/run/until";

fn stages(
    text: &str,
    overrides: &[(String, Value)],
    read: ReadFile<'_>,
    out: &mut Vec<Diagnostic>,
    moot: Option<&mut Vec<Diagnostic>>,
) -> Option<RunPlan> {
    let mut value = parse(text, out)?;
    let mut given: Vec<(String, &Value)> = Vec::new();
    for (at, new) in overrides {
        match pointer::set(&mut value, at, new.clone()) {
            Ok(path) => given.push((path, new)),
            Err(wrong) => out.push(wrong.diagnostic("", &format!("--set {at}: "))),
        }
    }
    if !out.is_empty() {
        return None;
    }
    let spec = match structure::read(&value) {
        Ok(spec) => spec,
        Err(mut found) => {
            out.append(&mut found);
            return None;
        }
    };
    let mut base = expand::expand(&spec, read, out);
    check_parameters(&value, &spec, out);
    if !out.is_empty() {
        return None;
    }
    let variants = spec.variants.clone().unwrap_or_default();
    check_given(&value, &given, &variants, out);
    let mut idle = Vec::new();
    let mut runs = if variants.is_empty() {
        vec![(base.clone(), compile::compile("base", &base, out))]
    } else {
        compile_variants(&value, &variants, read, &mut idle, out)
    };
    let mut useless = Vec::new();
    effect::in_no_run(&spec, &expand::unasked(&spec), &runs, &mut useless);
    // What is told of all runs is not told of one.
    idle.retain(|(at, _)| !useless.iter().any(|item| item.pointer == *at));
    useless.extend(idle.into_iter().map(|(_, item)| item));
    let said = base.run.as_ref().and_then(|run| run.cut_short) == Some(true);
    if said || overrides.iter().any(|(at, _)| at == RUN_UNTIL) {
        let any = diagnostic::cut_short(out);
        if said && !any {
            let message = "this has no effect here: nothing is to happen behind the end of the run";
            out.push(Diagnostic::warning("SC051", "/run/cut_short", message).help("leave it out"));
        }
        // Whoever runs it again asks for the same.
        for run in
            runs.iter_mut().map(|(spec, _)| spec).chain([&mut base]).filter_map(|spec| spec.run.as_mut())
        {
            run.cut_short = Some(any);
        }
    }
    match moot {
        None => out.append(&mut useless),
        Some(moot) => {
            moot.append(&mut useless);
            moot.extend(out.extract_if(.., |item| item.is_beyond_run()));
        }
    }
    if out.iter().any(|item| item.severity == Severity::Error) {
        return None;
    }
    let resolved = resolved_text(&base, &variants, &runs);
    let title = spec.title.clone().unwrap_or_else(|| spec.name.clone());
    Some(RunPlan {
        name: spec.name.clone(),
        title,
        description: spec.description.as_ref().map(spec::Words::joined).unwrap_or_default(),
        variants: runs.into_iter().map(|(_, run)| run).collect::<Option<Vec<Variant>>>()?,
        resolved,
        given: value,
        warnings: Diagnostics::new("", "", Vec::new()),
    })
}

/// What is given beside the file counts in variants that do not set the same place themselves. In no other,
/// it is told; where there is none, it has no effect.
fn check_given(
    value: &Value,
    given: &[(String, &Value)],
    variants: &[VariantSpec],
    out: &mut Vec<Diagnostic>,
) {
    for (path, new) in given.iter().filter(|(path, _)| pointer::beneath(path, "/variants").is_none()) {
        let sets_it = |variant: &&VariantSpec| {
            variant.set.iter().any(|(at, own)| {
                let at = pointer::set(&mut value.clone(), at, own.clone());
                at.is_ok_and(|at| {
                    pointer::beneath(path, &at).is_some() && pointer::overwrites((&at, own), (path, new))
                })
            })
        };
        let own: Vec<&str> = variants.iter().filter(sets_it).map(|variant| variant.name.as_str()).collect();
        let names = topology::shortened(own.iter().copied());
        let none = "has no effect: each variant sets a value of its own here";
        out.extend(match own.len() {
            0 => None,
            all if all == variants.len() => {
                Some(Diagnostic::error("SC051", path.clone(), format!("{new} {none}")))
            }
            _ => {
                let message =
                    format!("{new} has no effect in variants that set a value of their own: {names}");
                Some(Diagnostic::warning("SC051", path.clone(), message))
            }
        });
    }
}

/// JSON with comments to a value; the first syntax error stops.
fn parse(text: &str, out: &mut Vec<Diagnostic>) -> Option<Value> {
    let clean = source::blank_comments(text);
    if clean.trim().is_empty() {
        let message = "there is nothing in the file".to_owned();
        out.push(Diagnostic::error("SC001", "", message).help("riosim init minimal prints a scenario"));
        return None;
    }
    match serde_json::from_str::<Value>(&clean) {
        Ok(value) => {
            if let Some((at, key, span)) = source::duplicate_key(&clean) {
                let message = format!("field \"{key}\" is given twice");
                let mut item = Diagnostic::error("SC002", format!("{at}/{}", source::escape(&key)), message)
                    .help("only one of them could count: remove the other");
                item.span = Some(span);
                out.push(item);
                return None;
            }
            Some(value)
        }
        Err(error) => {
            let start: usize =
                clean.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
            let mut at = (start + error.column().saturating_sub(1)).min(clean.len());
            while !clean.is_char_boundary(at) {
                at -= 1;
            }
            let mut item = Diagnostic::error("SC001", "", format!("not JSON: {error}"));
            item.span = Some(at..(at + 1).min(clean.len()));
            out.push(item);
            None
        }
    }
}

/// Whether every parameter leads somewhere.
fn check_parameters(value: &Value, spec: &Spec, out: &mut Vec<Diagnostic>) {
    for (name, places) in spec.parameters.iter().flatten() {
        let at = format!("/parameters/{}", source::escape(name));
        for pointer in places.pointers() {
            let mut changed = value.clone();
            let path = match pointer::set(&mut changed, pointer, Value::Null) {
                Ok(path) => path,
                Err(wrong) => {
                    out.push(wrong.diagnostic(&at, ""));
                    continue;
                }
            };
            // Fields that were not there are made: whether they may be is a question of structure.
            let unknown = structure::read(&changed)
                .err()
                .into_iter()
                .flatten()
                .find(|item| item.code == "SC004" && pointer::beneath(&path, &item.pointer).is_some());
            if let Some(item) = unknown {
                let message = format!("\"{pointer}\" leads nowhere: {}", item.message);
                out.push(Diagnostic { pointer: at.clone(), code: "SC060", message, at_key: false, ..item });
            }
        }
    }
}

/// Compiles every variant; what is wrong with all of them is wrong with the file itself. `idle`: what a
/// variant sets that has no effect in it, by its place.
fn compile_variants(
    value: &Value,
    variants: &[VariantSpec],
    read: ReadFile<'_>,
    idle: &mut Vec<(String, Diagnostic)>,
    out: &mut Vec<Diagnostic>,
) -> Vec<(Spec, Option<Variant>)> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    let mut runs = Vec::new();
    let mut findings: Vec<Vec<Diagnostic>> = Vec::new();
    for (i, variant) in variants.iter().enumerate() {
        let at = format!("/variants/{i}");
        let place = format!("{at}/name");
        let good = topology::is_file_name(&place, &variant.name, "a file of results", out);
        if good && let Some(first) = names.insert(&variant.name, i) {
            let message = format!("a second variant is called \"{}\"", variant.name);
            let item = Diagnostic::error("SC061", place, message);
            out.push(item.also(format!("/variants/{first}/name"), "the first one"));
        }
        let mut found = Vec::new();
        if let Some((spec, paths)) = variant_spec(value, variant, &at, &mut found) {
            let mut later = Vec::new();
            let full = expand::expand(&spec, read, &mut later);
            let mut run =
                if later.is_empty() { compile::compile(&variant.name, &full, &mut later) } else { None };
            for requirement in run.iter_mut().flat_map(|run| &mut run.require) {
                requirement.at = moved(&requirement.at, &paths);
            }
            found.extend(later.into_iter().map(|item| blame(item, &paths)));
            let run = [(full, run)];
            if run[0].1.is_some() {
                let mut moot = Vec::new();
                let spec = Spec { variants: None, ..spec };
                effect::in_no_run(&spec, &expand::unasked(&spec), &run, &mut moot);
                // Others may be meant to differ from it in that alone, so it is no error.
                let told = |item: &Diagnostic| {
                    let blamed = blame(item.clone(), &paths);
                    (item.pointer.clone(), Diagnostic { severity: Severity::Warning, ..blamed })
                };
                idle.extend(effect::set_in_vain(&moot, &paths).map(told));
            }
            runs.extend(run);
        }
        findings.push(found);
    }
    for (i, variant) in variants.iter().enumerate() {
        let Some(base) = &variant.compare_with else { continue };
        let message = match names.get(base.as_str()) {
            Some(&other) if other == i => "a variant cannot be compared with itself".to_owned(),
            Some(_) => continue,
            None => format!("there is no variant \"{base}\""),
        };
        let others = variants.iter().map(|other| other.name.as_str()).filter(|name| *name != variant.name);
        let help = format!("variants: {}", others.clone().collect::<Vec<&str>>().join(", "));
        let item = Diagnostic::error("SC053", format!("/variants/{i}/compare_with"), message).help(help);
        out.push(item.did_you_mean(base, others));
    }
    merge(variants, findings, out);
    for (variant, (_, run)) in variants.iter().zip(&mut runs) {
        if let Some(run) = run {
            run.compare_with.clone_from(&variant.compare_with);
        }
    }
    runs
}

/// The file with the values of one variant, and where each value went: (pointer in the file, place of its
/// setting).
fn variant_spec(
    value: &Value,
    variant: &VariantSpec,
    at: &str,
    found: &mut Vec<Diagnostic>,
) -> Option<(Spec, Vec<(String, String)>)> {
    let mut changed = value.clone();
    let mut paths: Vec<(String, String)> = Vec::new();
    let mut set: Vec<(String, &Value, &String)> = Vec::new();
    for (key, new) in &variant.set {
        let place = format!("{at}/set/{}", source::escape(key));
        if key.starts_with("/variants") || key.starts_with("/parameters") || key == "/name" || key.is_empty()
        {
            let message = format!("a variant cannot change \"{key}\"");
            found.push(Diagnostic::error("SC060", place, message).at_key());
            continue;
        }
        match pointer::set(&mut changed, key, new.clone()) {
            Ok(path) => {
                let earlier = set
                    .iter()
                    .find(|(earlier, value, _)| pointer::overwrites((&path, new), (earlier, value)));
                if let Some((_, value, other)) = earlier {
                    let message = format!("{new} overwrites a part of what \"{other}\" sets here: {value}");
                    let role = "what this sets is not simulated";
                    let item = Diagnostic::error("SC106", &place, message).at_key();
                    let item = item.also(format!("{at}/set/{}", source::escape(other)), role);
                    found.push(item.help("set each place once"));
                }
                set.push((path.clone(), new, key));
                paths.push((path, place));
            }
            Err(wrong) => found.push(wrong.diagnostic(&place, "").at_key()),
        }
    }
    if !found.is_empty() {
        return None;
    }
    match structure::read(&changed) {
        Ok(spec) => Some((spec, paths)),
        Err(items) => {
            found.extend(items.into_iter().map(|item| {
                let unknown = item.code == "SC004";
                let mut item = blame(item, &paths);
                if unknown && item.pointer.starts_with(at) {
                    item.code = "SC060";
                    item.at_key = true;
                }
                item
            }));
            None
        }
    }
}

/// The place at which the value of a place of the file was set.
fn moved(at: &str, paths: &[(String, String)]) -> String {
    blame(Diagnostic::error("SC103", at, ""), paths).pointer
}

impl RunPlan {
    /// Whether results can tell the metrics of all requirements.
    ///
    /// # Errors
    /// Which they cannot, and where they stand.
    pub fn check_requirements(&self, known: KnowMetric<'_>) -> Result<(), Diagnostics> {
        let all = self.variants.iter().flat_map(|variant| &variant.require);
        self.warnings.instead(require::unknown(all, known))
    }

    /// Whether the machine has room for the plan: `room` octets, for `jobs` variants at a time, the largest,
    /// each in as many parts as it has threads (and not more than it has switches).
    ///
    /// # Errors
    /// How much it takes.
    pub fn check_memory(&self, room: u64, jobs: usize, threads: usize) -> Result<(), Diagnostics> {
        let takes = |variant: &Variant| {
            let is_switch = |device: &&DeviceConfig| matches!(device.model, DeviceModel::Switch(_));
            let switches = variant.config.devices.iter().filter(is_switch).count();
            footprint(&variant.config, threads.min(switches).max(1) as u64)
        };
        let mut all: Vec<(u64, &Variant)> = self.variants.iter().map(|v| (takes(v), v)).collect();
        all.sort_by_key(|(octets, _)| std::cmp::Reverse(*octets));
        all.truncate(jobs);
        let sum: u64 = all.iter().map(|(octets, _)| octets).sum();
        let mut found = Vec::new();
        if let (true, Some((_, largest))) = (sum > room, all.first()) {
            let (takes, room) = (units::octets_text(sum), units::octets_text(room));
            let message = match all.len() {
                1 => format!("a run takes about {takes} of memory, and {room} are free"),
                n => format!("{n} runs at a time take about {takes} of memory, and {room} are free"),
            };
            let help =
                "a smaller fabric, switches with fewer ports, or fewer runs at a time (--jobs, --threads)";
            let finding = Diagnostic::error("SC098", "/topology", message).help(help);
            let named = self.variants.len() > 1;
            found.push(Diagnostic { variant: named.then(|| largest.name.clone()), ..finding });
        }
        self.warnings.instead(found)
    }
}

/// Moves a finding about a value that a variant set to the place where it was set.
fn blame(mut item: Diagnostic, paths: &[(String, String)]) -> Diagnostic {
    let within = |long: &str, short: &str| long == short || long.starts_with(&format!("{short}/"));
    let hit = paths
        .iter()
        .filter(|(path, _)| {
            within(&item.pointer, path) || (item.code != "SC004" && within(path, &item.pointer))
        })
        .max_by_key(|(path, _)| path.len());
    if let Some((path, place)) = hit {
        if item.pointer != *path {
            item.message = format!("{}: {}", item.pointer, item.message);
        }
        item.pointer = place.clone();
        item.also = None;
    }
    item
}

fn merge(variants: &[VariantSpec], findings: Vec<Vec<Diagnostic>>, out: &mut Vec<Diagnostic>) {
    let everywhere: BTreeSet<(&str, &str, &str)> = findings
        .first()
        .into_iter()
        .flatten()
        .filter(|item| findings.iter().all(|found| found.contains(item)))
        .map(|item| (item.code, item.pointer.as_str(), item.message.as_str()))
        .collect();
    let mut common = Vec::new();
    let mut own = Vec::new();
    for (i, found) in findings.iter().enumerate() {
        for item in found {
            if everywhere.contains(&(item.code, item.pointer.as_str(), item.message.as_str())) {
                if i == 0 {
                    common.push(item.clone());
                }
            } else if !item.pointer.starts_with("/variants/") {
                own.push(Diagnostic { variant: Some(variants[i].name.clone()), ..item.clone() });
            } else {
                own.push(item.clone());
            }
        }
    }
    out.append(&mut common);
    out.append(&mut own);
}

/// The scenario with every default written out. A variant names the sections in which it differs, whole.
fn resolved_text(base: &Spec, variants: &[VariantSpec], runs: &[(Spec, Option<Variant>)]) -> String {
    let to_value = |spec: &Spec| serde_json::to_value(spec).expect("a scenario is a JSON value");
    let mut value = to_value(base);
    let Value::Object(sections) = &mut value else { unreachable!("a scenario is an object") };
    let mut resolved = Vec::new();
    for (variant, (spec, _)) in variants.iter().zip(runs) {
        let mut set = BTreeMap::new();
        if let Value::Object(own) = to_value(spec) {
            for (key, section) in own {
                if key != "variants" && sections.get(&key) != Some(&section) {
                    set.insert(format!("/{}", source::escape(&key)), section);
                }
            }
        }
        let VariantSpec { name, compare_with, .. } = variant.clone();
        resolved.push(VariantSpec { name, set, compare_with });
    }
    if !resolved.is_empty() {
        sections.insert("variants".into(), serde_json::to_value(resolved).expect("variants are JSON values"));
    }
    let mut text = serde_json::to_string_pretty(&value).expect("a JSON value prints");
    text.push('\n');
    text
}
