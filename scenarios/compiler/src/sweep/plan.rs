//! A checked sweep: its points, and how one of them becomes a run.

use super::axes::{Axis, Group, Level, Reader, Setting, VARIANT_AXIS};
use super::spec::{PlotSpec, ReplicationSpec, Source, SweepSpec, Width};
use crate::diagnostic::{Diagnostic, Diagnostics, closest};
use crate::plan::{Requirement, Variant};
use crate::require::KnowMetric;
use crate::spec::{Places, Spec};
use crate::topology::{check_title, is_file_name};
use crate::{Severity, blame, compile, effect, expand, load_for_points, parse, pointer, source, structure};
use models::sim_core::{Purpose, Stream, path_hash};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Points that a warning names.
const POINTS_NAMED: usize = 3;
/// Why nothing but a sweep chooses seeds.
const OWN_SEEDS: &str = "every replication has a seed of its own: \"seed\" and \"replications\" of the sweep";
/// Most points of a sweep.
const POINTS_MAX: usize = 1_000_000;

/// A point: a value for each axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Level of each axis.
    pub levels: Vec<u32>,
    /// Frozen hash of what the point sets, 16 hexadecimal digits.
    pub key: String,
}

/// How often each point is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Replications {
    /// At least so many.
    pub min: u32,
    /// At most so many.
    pub max: u32,
    /// When a point is known well enough; without it, `min` and `max` are equal.
    pub stop: Option<Stop>,
}

/// When a point is known well enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Stop {
    /// Metric.
    pub metric: String,
    /// `overall` or a flow.
    pub scope: String,
    /// Largest half width of the 95 % interval.
    pub half_width: HalfWidth,
}

/// A half width.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum HalfWidth {
    /// In the unit of the metric.
    Absolute(f64),
    /// Share of the mean.
    Relative(f64),
}

/// A sweep that can run.
#[derive(Clone, Debug)]
pub struct SweepPlan {
    /// Short name.
    pub name: String,
    /// One line for the head of a report.
    pub title: String,
    /// What it shows.
    pub description: String,
    /// Seed of the replications.
    pub seed: u64,
    /// Axes; the variants of the scenario are the last one.
    pub axes: Vec<Axis>,
    /// All points, the last axis fastest.
    pub points: Vec<Point>,
    /// How often each point is simulated.
    pub replications: Replications,
    /// Figures to draw.
    pub plots: Vec<PlotSpec>,
    /// Flows of the scenario.
    pub flows: Vec<String>,
    /// Frozen hash of the scenario (without title and description) and of the traces that it names.
    pub hash: String,
    /// Warnings about the scenario.
    pub warnings: Diagnostics,
    /// Warnings about the sweep file.
    pub remarks: Diagnostics,
    /// What results of the scenario, and of each of its variants, must show.
    pub require: Vec<Requirement>,
    /// What has no effect in the scenario alone; points may give it one.
    moot: Vec<Diagnostic>,
    base: Value,
    sweep_file: String,
    sweep_text: String,
    scenario_file: String,
    scenario_text: String,
    folder: PathBuf,
}

/// What is wrong with a point of a sweep.
#[derive(Debug)]
pub struct PointErrors {
    /// Findings about the sweep file: values that the scenario does not take.
    pub sweep: Diagnostics,
    /// Findings about the scenario as the point changes it.
    pub scenario: Diagnostics,
}

/// What the scenario says to a point that it takes.
#[derive(Clone, Debug, Default)]
pub struct PointFindings {
    /// Warnings, and whether their place is in the sweep file.
    warnings: Vec<(Diagnostic, bool)>,
    /// Of what has no effect in the scenario alone, by number: what has one here.
    effective: BTreeSet<usize>,
    /// Places of the scenario that the point sets.
    set: Vec<String>,
    /// What of these has no effect here: its place, and what is said of it.
    idle: Vec<(String, Diagnostic)>,
}

/// What a point sets, and what has no effect there.
#[derive(Debug, Default)]
struct Effects {
    /// Places of the scenario that the point sets, with those of the sweep file where it does.
    paths: Vec<(String, String)>,
    /// What of the scenario, as the point changes it, has no effect.
    moot: Vec<Diagnostic>,
}

impl PointFindings {
    /// Without what belongs to the point alone.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { warnings: Vec::new(), ..self }
    }
}

/// The seed of replication `replication` (from 1) of every point: a frozen function of the sweep's seed. It
/// has 53 bits, so every reader of numbers keeps it exactly.
pub fn replication_seed(seed: u64, replication: u32) -> u64 {
    Stream::new(seed, &format!("replication/{replication}"), Purpose::PHASE).next_u64() >> 11
}

/// Reads and checks a sweep file and its scenario.
///
/// `file_name` is what messages call the text; the scenario is looked up in its folder. `metrics` are the
/// columns that results have.
///
/// # Errors
/// Everything that is wrong with the sweep file or with its scenario, as far as one stage can see it. Points
/// are not compiled here: see [`SweepPlan::compile`].
pub fn load(text: &str, file_name: &str, metrics: &[&str]) -> Result<SweepPlan, Diagnostics> {
    let mut out = Vec::new();
    let failed = |out| Diagnostics::new(file_name, text, out);
    let Some(value) = parse(text, &mut out) else { return Err(failed(out)) };
    let spec: SweepSpec = super::language().read(&value).map_err(failed)?;
    let folder = Path::new(file_name).parent().unwrap_or(Path::new("")).to_owned();
    let (scenario_file, scenario_text) = match &spec.scenario {
        Source::Inline(value) => {
            let text = serde_json::to_string_pretty(value).expect("a JSON value prints");
            (format!("scenario of {file_name}"), text)
        }
        Source::File(name) => {
            let path = folder.join(name);
            match std::fs::read_to_string(&path) {
                Ok(text) => (path.display().to_string(), text),
                Err(error) => {
                    let message = format!("\"{name}\" cannot be read: {error}");
                    let help = "file names are looked up in the folder of the sweep file";
                    out.push(Diagnostic::error("SW009", "/scenario", message).help(help));
                    return Err(failed(out));
                }
            }
        }
    };
    let scenario_folder = Path::new(&scenario_file).parent().unwrap_or(Path::new(""));
    let traces = match &spec.scenario {
        Source::Inline(_) => folder.clone(),
        Source::File(_) => scenario_folder.to_owned(),
    };
    let read = |name: &str| std::fs::read_to_string(traces.join(name)).map_err(|error| error.to_string());
    // whatever is wrong with the scenario itself is said about the scenario
    let (run, moot) = load_for_points(&scenario_text, &scenario_file, &read)?;
    let base = parse(&scenario_text, &mut out).expect("it was read a moment ago");
    let parameters: BTreeMap<String, Places> = base.get("parameters").map_or_else(BTreeMap::new, |value| {
        serde_json::from_value(value.clone()).expect("the scenario was read with them")
    });

    is_file_name("/name", &spec.name, "a folder of results", &mut out);
    check_title("/title", spec.title.as_ref(), &mut out);
    let seed = spec.seed.unwrap_or(1);
    let mut remarks = Vec::new();
    let mut reader = Reader { parameters: &parameters, seed, out: &mut out, warnings: &mut remarks };
    let (mut axes, mut groups) = reader.read(&spec.axes);
    if base.get("variants").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
        groups.push((axes.len(), 1, run.variants.len()));
        let variants = variant_axis(&base);
        let seeded = |level: &&Level| level.settings.iter().any(|setting| setting.pointer == "/seed");
        if let Some(variant) = variants.levels.iter().find(seeded) {
            let message = format!("variant \"{}\" sets \"/seed\", which would have no effect", variant.label);
            out.push(Diagnostic::error("SW010", "/scenario", message).help(OWN_SEEDS));
        }
        axes.push(variants);
    }
    let flows = run.variants.iter().flat_map(|variant| &variant.labels.flows);
    let flows: BTreeSet<String> = flows.cloned().collect();
    let flows: Vec<String> = flows.into_iter().collect();
    // an axis that could not be read is no reason to say that a figure asks for one that is not there
    let axes_known = out.is_empty();
    let replications = replications(&spec, &mut out);
    names(&spec, axes_known.then_some(&axes[..]), metrics, &flows, &mut out);
    let count = groups.iter().try_fold(1usize, |product, group| product.checked_mul(group.2));
    if count.is_none_or(|count| count > POINTS_MAX) {
        let message = match count {
            Some(count) => format!("{count} points are too many"),
            None => "there are more points than can be counted".to_owned(),
        };
        let help = format!("allowed: at most {POINTS_MAX}");
        out.push(Diagnostic::error("SW006", "/axes", message).help(help));
    }
    if !out.is_empty() {
        return Err(failed(out));
    }
    let points = cross(&axes, &groups);
    Ok(SweepPlan {
        title: spec.title.clone().unwrap_or_else(|| spec.name.clone()),
        name: spec.name,
        description: spec.description.map(|words| words.joined()).unwrap_or_default(),
        seed,
        hash: hash(&base, &axes, &read),
        axes,
        points,
        replications,
        plots: spec.plots.unwrap_or_default(),
        flows,
        require: run.variants.iter().flat_map(|variant| variant.require.clone()).collect(),
        warnings: run.warnings,
        remarks: failed(remarks),
        moot,
        base,
        sweep_file: file_name.to_owned(),
        sweep_text: text.to_owned(),
        scenario_file,
        scenario_text,
        folder: traces,
    })
}

/// The variants of a scenario as an axis. What is wrong with them is said about the scenario, so their
/// settings have no place in the sweep file.
fn variant_axis(base: &Value) -> Axis {
    let variants = base["variants"].as_array().into_iter().flatten();
    let level = |variant: &Value| Level {
        label: variant["name"].as_str().unwrap_or_default().to_owned(),
        number: None,
        settings: variant["set"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(pointer, value)| Setting {
                pointer: pointer.clone(),
                value: value.clone(),
                place: String::new(),
            })
            .collect(),
    };
    let levels = variants.map(level).collect();
    Axis { name: VARIANT_AXIS.into(), unit: String::new(), sampled: false, levels }
}

fn replications(spec: &SweepSpec, out: &mut Vec<Diagnostic>) -> Replications {
    let given = spec.replications.clone().unwrap_or_default();
    let ReplicationSpec { count, min, max, stop } = given;
    let mut wrong = |at: &str, message: String, help: &str| {
        let at = format!("/replications/{at}");
        out.push(Diagnostic::error("SW007", at, message).help(help));
    };
    let Some(stop) = stop else {
        for (word, there) in [("min", min.is_some()), ("max", max.is_some())] {
            if there {
                let message = format!("\"{word}\" means nothing without \"stop\"");
                wrong(word, message, "use \"count\" for a fixed number, or add \"stop\"");
            }
        }
        let count = count.unwrap_or(1);
        return Replications { min: count, max: count, stop: None };
    };
    if count.is_some() {
        wrong("count", "\"count\" and \"stop\" contradict each other".into(), "use \"min\" and \"max\"");
    }
    let (min, max) = (min.unwrap_or(3), max.unwrap_or(30));
    if min > max {
        let message = format!("\"max\" {max} is less than \"min\" {min}");
        wrong("max", message, "min <= max (default 3 and 30)");
    }
    let half_width = match &stop.half_width {
        Width::Absolute(number) => number.as_f64().map(HalfWidth::Absolute),
        Width::Relative(text) => {
            let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
            number.map(|percent| HalfWidth::Relative(percent / 100.0))
        }
    };
    let positive = half_width.filter(|width| {
        let (HalfWidth::Absolute(width) | HalfWidth::Relative(width)) = width;
        width.is_finite() && *width > 0.0
    });
    if positive.is_none() {
        let found = match &stop.half_width {
            Width::Absolute(number) => number.to_string(),
            Width::Relative(text) => format!("\"{text}\""),
        };
        let message = format!("{found} is not a positive number or percentage");
        wrong("stop/half_width", message, "for example 12.5 (in the unit of the metric) or \"5 %\"");
    }
    Replications {
        min,
        max,
        stop: Some(Stop {
            metric: stop.metric.clone(),
            scope: stop.scope.clone().unwrap_or_else(|| "overall".into()),
            half_width: positive.unwrap_or(HalfWidth::Relative(1.0)),
        }),
    }
}

/// Whether the names of metrics, flows and axes in stop rule and plots exist.
fn names(
    spec: &SweepSpec,
    axes: Option<&[Axis]>,
    metrics: &[&str],
    flows: &[String],
    out: &mut Vec<Diagnostic>,
) {
    let mut columns: BTreeMap<String, &str> = BTreeMap::new();
    for axis in axes.into_iter().flatten() {
        let (name, column) = (axis.name.as_str(), axis.column());
        // Beside a mean stands half of its interval.
        let of = column.strip_suffix("_ci95").unwrap_or(&column);
        let message = if metrics.contains(&of) {
            Some(format!("the results have a column \"{column}\" already"))
        } else {
            let other = columns.get(&column).filter(|other| **other != name);
            other.map(|other| format!("axes \"{other}\" and \"{name}\" would share the column \"{column}\""))
        };
        if let Some(message) = message {
            let help = format!("give axis \"{name}\" another name with \"name\"");
            out.push(Diagnostic::error("SW004", "/axes", message).help(help));
        }
        columns.insert(column, name);
    }
    let mut check = |at: String, found: &str, what: &str, known: &[&str]| {
        if !known.contains(&found) {
            let message = format!("there is no {what} \"{found}\"");
            let item = Diagnostic::error("SW008", at, message);
            // a good guess would be lost behind a long list
            let guess = known.len() > 12 && closest(found, known.iter().copied()).is_some();
            let item = if guess { item } else { item.help(format!("there are: {}", known.join(", "))) };
            out.push(item.did_you_mean(found, known.iter().copied()));
        }
    };
    let scopes: Vec<&str> = std::iter::once("overall").chain(flows.iter().map(String::as_str)).collect();
    let axes: Option<Vec<&str>> = axes.map(|axes| axes.iter().map(|axis| axis.name.as_str()).collect());
    let stop = spec.replications.as_ref().and_then(|given| given.stop.as_ref());
    if let Some(stop) = stop {
        check("/replications/stop/metric".into(), &stop.metric, "metric", metrics);
        if let Some(scope) = &stop.scope {
            check("/replications/stop/scope".into(), scope, "flow", &scopes);
        }
    }
    for (index, plot) in spec.plots.iter().flatten().enumerate() {
        check(format!("/plots/{index}/metric"), &plot.metric, "metric", metrics);
        if let Some(scope) = &plot.scope {
            check(format!("/plots/{index}/scope"), scope, "flow", &scopes);
        }
        for (key, axis) in [("x", &plot.x), ("y", &plot.y), ("panels", &plot.panels)] {
            if let (Some(axis), Some(axes)) = (axis, &axes) {
                check(format!("/plots/{index}/{key}"), axis, "axis", axes);
            }
        }
    }
    for (index, plot) in spec.plots.iter().flatten().enumerate() {
        let asked = [("x", &plot.x), ("y", &plot.y), ("panels", &plot.panels)];
        for (place, (key, axis)) in asked.iter().enumerate() {
            let Some(axis) = axis else { continue };
            if let Some((other, _)) = asked[..place].iter().find(|(_, other)| other.as_ref() == Some(axis)) {
                let message = format!("axis \"{axis}\" is \"{other}\" already");
                let help = "x, y and panels are three different axes";
                let at = format!("/plots/{index}/{key}");
                out.push(Diagnostic::error("SW008", at, message).help(help));
            }
        }
    }
}

fn cross(axes: &[Axis], groups: &[Group]) -> Vec<Point> {
    let count: usize = groups.iter().map(|group| group.2).product();
    let mut points = Vec::with_capacity(count);
    for index in 0..count {
        let mut levels = vec![0; axes.len()];
        let mut rest = index;
        for &(first, width, steps) in groups.iter().rev() {
            levels[first..first + width].fill((rest % steps) as u32);
            rest /= steps;
        }
        let key = key(axes, &levels);
        points.push(Point { levels, key });
    }
    points
}

/// The settings of a point with their axes, in the order in which they apply: variants first, so that axes
/// can vary a part of what these set.
fn settings<'a>(axes: &'a [Axis], levels: &'a [u32]) -> impl Iterator<Item = (&'a Axis, &'a Setting)> {
    let of = |variants: bool| {
        axes.iter().zip(levels).filter(move |(axis, _)| (axis.name == VARIANT_AXIS) == variants).flat_map(
            |(axis, level)| axis.levels[*level as usize].settings.iter().map(move |setting| (axis, setting)),
        )
    };
    of(true).chain(of(false))
}

/// Settings of a point, in order, that are not in the scenario that is simulated: the table would name them
/// all the same.
fn overwritten(all: &[(&Axis, &Setting, String)]) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for (n, (axis, setting, path)) in all.iter().enumerate() {
        let of_axis = |axis: &Axis| match axis.name.as_str() {
            VARIANT_AXIS => "the variant".to_owned(),
            name => format!("axis \"{name}\""),
        };
        let own = axis.name != VARIANT_AXIS;
        // Such settings belong to the whole sweep.
        let kept = ["/seed", "/variants", "/parameters", "/name"];
        if let Some(whole) = kept.into_iter().find(|whole| own && pointer::beneath(path, whole).is_some()) {
            let message = format!("an axis cannot change \"{whole}\"");
            let help = match whole {
                "/seed" => OWN_SEEDS,
                _ => "it is the same at all points",
            };
            out.push(Diagnostic::error("SW010", &setting.place, message).help(help));
            continue;
        }
        let takes = |(other, later, at): &&(&Axis, &Setting, String)| {
            // An axis may vary a part of what a variant sets as a whole.
            let part = !own && other.name != VARIANT_AXIS && at.len() > path.len();
            !part && pointer::overwrites((at, &later.value), (path, &setting.value))
        };
        let Some((other, later, at)) = all[n + 1..].iter().find(takes) else { continue };
        let message = format!(
            "{} sets \"{path}\" to {}, then {} sets \"{at}\" to {}",
            of_axis(axis),
            setting.value,
            of_axis(other),
            later.value
        );
        let help = "each value has to be in what is simulated: set different places, or make cases of them";
        // The settings of variants have no place in the sweep file.
        let place = if own { &setting.place } else { &later.place };
        let item = Diagnostic::error("SW010", place, message).help(help);
        out.push(if own { item.also(&later.place, "this overwrites it") } else { item });
    }
    out
}

fn key(axes: &[Axis], levels: &[u32]) -> String {
    let mut text = String::new();
    let variant = axes.iter().zip(levels).find(|(axis, _)| axis.name == VARIANT_AXIS);
    if let Some((axis, level)) = variant {
        text += &format!("{}\n", axis.levels[*level as usize].label);
    }
    for (_, setting) in settings(axes, levels) {
        text += &format!("{}={}\n", setting.pointer, setting.value);
    }
    folded(&text)
}

/// 64 bits of the frozen 128-bit hash.
fn folded(text: &str) -> String {
    let hash = path_hash(text);
    format!("{:016x}", (hash >> 64) as u64 ^ hash as u64)
}

/// The hash of everything that the points share.
fn hash(base: &Value, axes: &[Axis], read: source::ReadFile<'_>) -> String {
    let mut base = base.clone();
    if let Some(map) = base.as_object_mut() {
        for words in ["name", "title", "description", "parameters", "declare"] {
            map.shift_remove(words);
        }
    }
    let mut files = BTreeSet::new();
    named_files("", &base, &mut files);
    for setting in axes.iter().flat_map(|axis| &axis.levels).flat_map(|level| &level.settings) {
        let word = setting.pointer.rsplit('/').next().unwrap_or_default();
        named_files(word, &setting.value, &mut files);
    }
    let mut text = base.to_string();
    for file in files {
        text += &format!("\n{file}\n{}", read(&file).unwrap_or_default());
    }
    folded(&text)
}

/// Texts of fields called `file`.
fn named_files(word: &str, value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::String(name) if word == "file" => {
            out.insert(name.clone());
        }
        Value::Array(list) => list.iter().for_each(|value| named_files("", value, out)),
        Value::Object(map) => map.iter().for_each(|(word, value)| named_files(word, value, out)),
        _ => {}
    }
}

impl SweepPlan {
    /// Whether results can tell the metrics of all requirements of the scenario.
    ///
    /// # Errors
    /// Which they cannot, and where they stand.
    pub fn check_requirements(&self, known: KnowMetric<'_>) -> Result<(), Diagnostics> {
        self.warnings.instead(crate::require::unknown(self.require.iter(), known))
    }

    /// Whether every figure that the sweep asks for can be drawn: `file` says into which file, or why not.
    ///
    /// # Errors
    /// Which cannot, and where they stand.
    pub fn check_plots(&self, file: impl Fn(&PlotSpec) -> Result<String, String>) -> Result<(), Diagnostics> {
        let (mut files, mut out) = (Vec::new(), Vec::new());
        for (index, plot) in self.plots.iter().enumerate() {
            let at = format!("/plots/{index}");
            match file(plot) {
                Err(why) => {
                    let help = "a figure lies along an axis; x, y and panels are three different ones";
                    out.push(Diagnostic::error("SW008", at, why).help(help));
                }
                Ok(name) => {
                    if let Some(first) = files.iter().position(|other| *other == name) {
                        let message = format!("the figure would take the place of another one: {name}");
                        let help = "figures differ in metric, flow or axes";
                        let item = Diagnostic::error("SW008", at, message).help(help);
                        out.push(item.also(format!("/plots/{first}"), "this one"));
                    }
                    files.push(name);
                }
            }
        }
        self.remarks.instead(out)
    }

    /// Whether there is an interval for the metric of the stop rule, if there is one: `is_largest` says which
    /// metrics are largest values.
    ///
    /// # Errors
    /// If it is one.
    pub fn check_stop(&self, is_largest: impl Fn(&str) -> bool) -> Result<(), Diagnostics> {
        let metric = self.replications.stop.as_ref().map(|stop| stop.metric.as_str());
        let unfit = metric.filter(|metric| is_largest(metric)).map(|metric| {
            let message =
                format!("\"{metric}\" is a largest value, which has no interval that could be narrow enough");
            let help = "use a mean, a quantile or a rate";
            Diagnostic::error("SW007", "/replications/stop/metric", message).help(help)
        });
        self.remarks.instead(unfit.into_iter().collect())
    }

    /// The level of each axis at a point.
    pub fn levels<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = (&'a Axis, &'a Level)> {
        self.axes.iter().zip(&point.levels).map(|(axis, level)| (axis, &axis.levels[*level as usize]))
    }

    /// A point in words: `load 0.7, variant fifo`.
    pub fn label(&self, point: &Point) -> String {
        let part = |(axis, level): (&Axis, &Level)| format!("{} {}", axis.name, level.label);
        let parts: Vec<String> = self.levels(point).map(part).collect();
        if parts.is_empty() { "the scenario as it is".into() } else { parts.join(", ") }
    }

    /// The run of a point with this seed.
    ///
    /// # Errors
    /// What the scenario says to the values of the point.
    pub fn compile(&self, point: &Point, seed: u64) -> Result<Variant, Box<PointErrors>> {
        let mut found = Vec::new();
        let compiled = self.try_compile(point, seed, &mut found, None);
        compiled.ok_or_else(|| self.errors(point, found))
    }

    /// Whether the scenario takes the values of a point, and what it says to them.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn check(&self, point: &Point, seed: u64) -> Result<PointFindings, Box<PointErrors>> {
        let (mut found, mut effects) = (Vec::new(), Effects::default());
        if self.try_compile(point, seed, &mut found, Some(&mut effects)).is_none() {
            return Err(self.errors(point, found));
        }
        let Effects { paths, moot } = effects;
        let same =
            |item: &Diagnostic, old: &Diagnostic| (item.code, &item.pointer) == (old.code, &old.pointer);
        let again = |old: &Diagnostic| moot.iter().any(|item| same(item, old));
        let effective = (0..self.moot.len()).filter(|number| !again(&self.moot[*number])).collect();
        let own = |item: &&Diagnostic| !item.is_beyond_run() && !self.moot.iter().any(|old| same(item, old));
        let idle = effect::set_in_vain(&moot, &paths).filter(own);
        let idle = idle.map(|item| (item.pointer.clone(), blame(item.clone(), &paths))).collect();
        let set = paths.into_iter().map(|(path, _)| path).collect();
        let known = |(item, _): &(Diagnostic, bool)| {
            let mut told = self.warnings.items.iter();
            !told.any(|old| (old.code, &old.pointer) == (item.code, &item.pointer))
        };
        found.retain(known);
        Ok(PointFindings { warnings: found, effective, set, idle })
    }

    /// Whether something that has no effect in the scenario alone has none at these points either, or what
    /// they set themselves.
    pub fn lacks_effect(&self, points: &BTreeMap<usize, PointFindings>) -> bool {
        let has_one = |number: usize| points.values().any(|found| found.effective.contains(&number));
        !(0..self.moot.len()).all(has_one) || !self.idle_everywhere(points).is_empty()
    }

    /// What points say together, by their numbers.
    ///
    /// Of what differs in nothing but the point each is told once, with the points that say so.
    ///
    /// # Errors
    /// What has no effect at any point.
    pub fn together(
        &self,
        points: &BTreeMap<usize, PointFindings>,
    ) -> Result<PointWarnings, Box<PointErrors>> {
        let mut groups: Vec<(&Diagnostic, bool, Vec<usize>)> = Vec::new();
        for (index, found) in points {
            for (item, place) in &found.warnings {
                let same = |group: &&mut (&Diagnostic, bool, Vec<usize>)| {
                    (group.0.code, &group.0.pointer, group.1) == (item.code, &item.pointer, *place)
                };
                match groups.iter_mut().find(same) {
                    Some(group) if group.2.last() == Some(index) => (),
                    Some(group) => group.2.push(*index),
                    None => groups.push((item, *place, vec![*index])),
                }
            }
        }
        let (mut sweep, mut scenario) = (Vec::new(), Vec::new());
        for (item, place, at) in groups {
            let message = format!("{}{}", item.message, self.labels(&at));
            let item = Diagnostic { message, ..item.clone() };
            if place { sweep.push(item) } else { scenario.push(item) }
        }
        let effective = |number: &usize| points.values().any(|found| found.effective.contains(number));
        let moot = (0..self.moot.len()).filter(|number| !effective(number)).map(|number| &self.moot[number]);
        let moot: Vec<Diagnostic> = moot.filter(|_| !points.is_empty()).cloned().collect();
        let idle = self.idle_everywhere(points);
        if !idle.is_empty() || moot.iter().any(|item| item.severity == Severity::Error) {
            return Err(Box::new(PointErrors {
                sweep: Diagnostics::new(&self.sweep_file, &self.sweep_text, idle),
                scenario: Diagnostics::new(&self.scenario_file, &self.scenario_text, moot),
            }));
        }
        scenario.extend(moot);
        Ok(PointWarnings {
            sweep: Diagnostics::new(&self.sweep_file, &self.sweep_text, sweep),
            scenario: Diagnostics::new(&self.scenario_file, &self.scenario_text, scenario),
        })
    }

    /// Points in words, as a remark; nothing if they are all there are.
    fn labels(&self, points: &[usize]) -> String {
        if points.len() == self.points.len() {
            return String::new();
        }
        let shown = points.iter().take(POINTS_NAMED).map(|point| self.label(&self.points[*point]));
        let shown = shown.collect::<Vec<String>>().join("; ");
        match points.len().saturating_sub(POINTS_NAMED) {
            0 => format!(" (at {shown})"),
            more => format!(" (at {shown}; and {more} more)"),
        }
    }

    fn errors(&self, point: &Point, found: Vec<(Diagnostic, bool)>) -> Box<PointErrors> {
        let (mut sweep, mut scenario) = (Vec::new(), Vec::new());
        let label = self.label(point);
        for (mut item, place) in found {
            if item.severity == Severity::Error {
                item.message = format!("{} (at {label})", item.message);
                if place { sweep.push(item) } else { scenario.push(item) }
            }
        }
        Box::new(PointErrors {
            sweep: Diagnostics::new(&self.sweep_file, &self.sweep_text, sweep),
            scenario: Diagnostics::new(&self.scenario_file, &self.scenario_text, scenario),
        })
    }

    /// Findings come with whether their place is in the sweep file.
    fn try_compile(
        &self,
        point: &Point,
        seed: u64,
        out: &mut Vec<(Diagnostic, bool)>,
        effects: Option<&mut Effects>,
    ) -> Option<Variant> {
        let mut value = self.base.clone();
        let mut paths = Vec::new();
        let mut all: Vec<(&Axis, &Setting, String)> = Vec::new();
        for (axis, setting) in settings(&self.axes, &point.levels) {
            match pointer::set(&mut value, &setting.pointer, setting.value.clone()) {
                Ok(path) => {
                    if !setting.place.is_empty() {
                        paths.push((path.clone(), setting.place.clone()));
                    }
                    all.push((axis, setting, path));
                }
                Err(wrong) => out.push((wrong.diagnostic(&setting.place, ""), true)),
            }
        }
        out.extend(overwritten(&all).into_iter().map(|item| (item, true)));
        if !out.is_empty() {
            return None;
        }
        let name = self.levels(point).find(|(axis, _)| axis.name == VARIANT_AXIS);
        let name = name.map_or("base", |(_, level)| level.label.as_str());
        if let Some(map) = value.as_object_mut() {
            map.shift_remove("variants");
            map.insert("seed".into(), seed.into());
        }
        let mut found = Vec::new();
        let moot = effects.map(|effects| {
            effects.paths.clone_from(&paths);
            &mut effects.moot
        });
        let run = self.build(&value, name, &mut found, moot);
        if paths.iter().any(|(at, _)| at == crate::RUN_UNTIL) {
            crate::diagnostic::cut_short(&mut found);
        }
        let run = run.filter(|_| !found.iter().any(|item| item.severity == crate::Severity::Error));
        let places: BTreeSet<&String> = paths.iter().map(|(_, place)| place).collect();
        out.extend(found.into_iter().map(|item| {
            let item = blame(item, &paths);
            let place = places.contains(&item.pointer);
            (item, place)
        }));
        run
    }

    /// What points set without effect wherever they do, each once. Who sets what would stand there anyway
    /// gives it no effect either.
    fn idle_everywhere(&self, points: &BTreeMap<usize, PointFindings>) -> Vec<Diagnostic> {
        let idle: BTreeMap<&str, &Diagnostic> =
            points.values().rev().flat_map(|found| &found.idle).map(|(at, item)| (&**at, item)).collect();
        let everywhere = |(at, item): (&str, &Diagnostic)| {
            let sets = |found: &PointFindings| {
                found.set.iter().any(|path| pointer::beneath(path, at).is_some())
                    && !found.idle.iter().any(|(idle, _)| idle == at)
            };
            let mut others = points.iter().filter(|(_, found)| sets(found));
            let mut known = BTreeMap::new();
            others.all(|(index, _)| self.sets_default(*index, at, &mut known)).then(|| item.clone())
        };
        idle.into_iter().filter_map(everywhere).collect()
    }

    /// Whether what a point sets at `at` would stand there anyway. `known`: of which values that is so.
    fn sets_default(&self, index: usize, at: &str, known: &mut BTreeMap<String, bool>) -> bool {
        let mut value = self.base.clone();
        for (_, setting) in settings(&self.axes, &self.points[index].levels) {
            if pointer::set(&mut value, &setting.pointer, setting.value.clone()).is_err() {
                return false;
            }
        }
        let Some(own) = value.pointer(at).map(Value::to_string) else { return false };
        *known.entry(own).or_insert_with(|| {
            let full = |value: &Value| {
                let spec: Spec = structure::read(value).ok()?;
                serde_json::to_value(expand::expand(&spec, &|name| self.file(name), &mut Vec::new())).ok()
            };
            let with = full(&value);
            let rest = at.rsplit_once('/').and_then(|(whole, key)| Some((value.pointer_mut(whole)?, key)));
            let Some((Value::Object(whole), key)) = rest else { return false };
            whole.shift_remove(key);
            with.is_some() && with == full(&value)
        })
    }

    /// A file that the scenario names.
    fn file(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.folder.join(name)).map_err(|error| error.to_string())
    }

    /// `moot`: what of the scenario has no effect at this point, if somebody wants to know.
    fn build(
        &self,
        value: &Value,
        name: &str,
        found: &mut Vec<Diagnostic>,
        moot: Option<&mut Vec<Diagnostic>>,
    ) -> Option<Variant> {
        let spec: Spec = match structure::read(value) {
            Ok(spec) => spec,
            Err(mut items) => {
                found.append(&mut items);
                return None;
            }
        };
        let full = expand::expand(&spec, &|name| self.file(name), found);
        if !found.is_empty() {
            return None;
        }
        let run = compile::compile(name, &full, found);
        let Some(moot) = moot else { return run };
        moot.extend(found.iter().filter(|item| item.is_beyond_run()).cloned());
        let runs = [(full, run)];
        effect::in_no_run(&spec, &expand::unasked(&spec), &runs, moot);
        let [(_, run)] = runs;
        run
    }
}

/// Warnings about points that the scenario takes.
#[derive(Debug)]
pub struct PointWarnings {
    /// About values of the sweep file.
    pub sweep: Diagnostics,
    /// About the scenario as points change it.
    pub scenario: Diagnostics,
}

impl PointWarnings {
    /// All of them with snippets; empty if there are none.
    pub fn render(&self, coloured: bool) -> String {
        rendered([&self.sweep, &self.scenario], coloured)
    }
}

/// Findings about two files; nothing about a file of which there are none.
fn rendered(all: [&Diagnostics; 2], coloured: bool) -> String {
    let shown = all.into_iter().filter(|findings| !findings.items.is_empty());
    shown.map(|findings| if coloured { findings.render_coloured() } else { findings.render() }).collect()
}

impl PointErrors {
    /// All findings with snippets.
    pub fn render(&self, coloured: bool) -> String {
        rendered([&self.sweep, &self.scenario], coloured)
    }

    /// What makes findings of different points the same: (code, place).
    pub fn identity(&self) -> Vec<(&'static str, String)> {
        let items = self.sweep.items.iter().chain(&self.scenario.items);
        items.map(|item| (item.code, item.pointer.clone())).collect()
    }
}
