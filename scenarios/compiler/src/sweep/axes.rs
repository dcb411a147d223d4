//! From the axes of a sweep file to levels: what each value is called, and what it sets.

use super::sample;
use super::spec::{AxisSpec, RangeSpec};
use crate::diagnostic::{Diagnostic, count};
use crate::source::{escape, unescape};
use crate::spec::Places;
use crate::structure::describe;
use crate::units;
use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Name of the axis that the variants of the scenario make.
pub const VARIANT_AXIS: &str = "variant";
/// Most values of one axis.
const LEVELS_MAX: usize = 1 << 20;
/// Names that columns of the results have already.
const TAKEN: [&str; 7] = ["point", "replication", "seed", "scope", "runs", "stopped", "outcome"];
/// What axes that move together stand in.
const ZIP: &str = "a zip";
/// Help where a value of an axis is there twice.
const ONCE: &str = "every value is a point once";

/// One setting of a level: where, what, and the place in the sweep file that says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// JSON pointer into the scenario.
    pub pointer: String,
    /// New value.
    pub value: Value,
    /// JSON pointer into the sweep file.
    pub place: String,
}

/// One value of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// How tables and figures call it.
    pub label: String,
    /// Its number, in the unit of the axis.
    pub number: Option<Number>,
    /// What it sets.
    pub settings: Vec<Setting>,
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// Unit of the numbers; empty if they have none.
    pub unit: String,
    /// Whether its values are scattered rather than chosen.
    pub sampled: bool,
    /// Values, in order.
    pub levels: Vec<Level>,
}

impl Axis {
    /// Name of its column in the results: with the unit at the end.
    pub fn column(&self) -> String {
        let unit = match self.unit.as_str() {
            "%" => "percent".into(),
            unit => unit.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
        };
        if unit.is_empty() { self.name.clone() } else { format!("{}_{unit}", self.name) }
    }
}

/// Axes that move together: (first axis, number of axes, number of steps).
pub(super) type Group = (usize, usize, usize);

pub(super) struct Reader<'a> {
    pub(super) parameters: &'a BTreeMap<String, Places>,
    pub(super) seed: u64,
    pub(super) out: &'a mut Vec<Diagnostic>,
    /// What is no mistake.
    pub(super) warnings: &'a mut Vec<Diagnostic>,
}

impl Reader<'_> {
    /// All axes of a file, and how they move.
    pub(super) fn read(&mut self, specs: &[AxisSpec]) -> (Vec<Axis>, Vec<Group>) {
        let (mut axes, mut groups) = (Vec::new(), Vec::new());
        for (index, spec) in specs.iter().enumerate() {
            let at = format!("/axes/{index}");
            let first = axes.len();
            match (&spec.zip, &spec.sample) {
                (Some(parts), None) => {
                    self.alone(spec, &at, "zip");
                    for (part, spec) in parts.iter().enumerate() {
                        axes.extend(self.axis(spec, &format!("{at}/zip/{part}"), ZIP));
                    }
                    self.equal_lengths(&axes[first..], &at);
                }
                (None, Some(sample)) => {
                    self.alone(spec, &at, "sample");
                    for (part, spec) in sample.axes.iter().enumerate() {
                        let at = format!("{at}/sample/axes/{part}");
                        let unit = sample::unit(sample.method, self.seed, sample.points, part as u32);
                        axes.extend(self.dimension(spec, &at, &unit));
                    }
                    self.leave_out_repeated(&mut axes[first..], sample.points, &at);
                }
                (Some(_), Some(_)) => {
                    let message = "an entry is a zip or a sample, not both";
                    let help = "make two entries of it: entries are crossed";
                    self.out.push(Diagnostic::error("SW001", &at, message).help(help));
                }
                (None, None) => axes.extend(self.axis(spec, &at, "an axis")),
            }
            if axes.len() > first {
                groups.push((first, axes.len() - first, axes[first].levels.len()));
            } else if self.out.is_empty() {
                let message = "there is no axis in it";
                let help = "allowed: at least one axis in a zip or a sample";
                self.out.push(Diagnostic::error("SW001", &at, message).help(help));
            }
        }
        self.names(specs, &axes);
        (axes, groups)
    }

    /// An entry of several axes is nothing else.
    fn alone(&mut self, spec: &AxisSpec, at: &str, word: &str) {
        if let Some(other) = given(spec).into_iter().find(|other| *other != word) {
            let message = format!("\"{other}\" beside \"{word}\" means nothing");
            let help = format!("put it into the axes of the {word}");
            self.out.push(Diagnostic::error("SW001", format!("{at}/{other}"), message).help(help).at_key());
        }
    }

    /// Points of a sample that are others again would be simulated for nothing, and weigh twice.
    fn leave_out_repeated(&mut self, axes: &mut [Axis], points: u32, at: &str) {
        let mut seen = BTreeSet::new();
        let of = |point: usize| -> Vec<String> {
            axes.iter().map(|axis| axis.levels[point].label.clone()).collect()
        };
        let is_new: Vec<bool> = (0..points as usize).map(|point| seen.insert(of(point))).collect();
        let left_out = is_new.iter().filter(|is_new| !**is_new).count();
        if left_out == 0 || axes.is_empty() {
            return;
        }
        for axis in axes {
            let mut is_new = is_new.iter();
            axis.levels.retain(|_| is_new.next() == Some(&true));
        }
        let message =
            format!("{left_out} of {points} points are others again, and left out: the axes have few values");
        let help = "fewer points, or a range of numbers that need not be whole";
        self.warnings.push(Diagnostic::warning("SW011", format!("{at}/sample/points"), message).help(help));
    }

    fn equal_lengths(&mut self, axes: &[Axis], at: &str) {
        let Some(first) = axes.first() else { return };
        if let Some(other) = axes.iter().find(|axis| axis.levels.len() != first.levels.len()) {
            let message = format!(
                "\"{}\" has {}, \"{}\" has {}",
                first.name,
                count(first.levels.len(), "value"),
                other.name,
                count(other.levels.len(), "value")
            );
            let help = "zipped axes move together, so they have equally many values";
            self.out.push(Diagnostic::error("SW005", format!("{at}/zip"), message).help(help));
        }
    }

    fn names(&mut self, specs: &[AxisSpec], axes: &[Axis]) {
        let mut seen: Vec<&str> = vec![VARIANT_AXIS];
        for axis in axes {
            let name = axis.name.as_str();
            let at = if specs.len() == axes.len() {
                let index = axes.iter().position(|other| std::ptr::eq(other, axis)).unwrap_or(0);
                format!("/axes/{index}")
            } else {
                "/axes".into()
            };
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if name.is_empty() || !name.chars().all(plain) || TAKEN.contains(&name) {
                let message = format!("\"{name}\" cannot be the name of an axis");
                let help = format!(
                    "use lower-case letters, digits and _, and none of {} and {VARIANT_AXIS}",
                    TAKEN.join(", ")
                );
                self.out.push(Diagnostic::error("SW004", at, message).help(help));
            } else if seen.contains(&name) {
                let message = format!("a second axis is called \"{name}\"");
                let help = "give it another one with \"name\"";
                self.out.push(Diagnostic::error("SW004", at, message).help(help));
            }
            seen.push(name);
        }
    }

    fn axis(&mut self, spec: &AxisSpec, at: &str, what: &str) -> Option<Axis> {
        for (word, there) in [("zip", spec.zip.is_some()), ("sample", spec.sample.is_some())] {
            if there {
                let message = format!("a {word} cannot stand inside {what}");
                let help = "allowed here: values, range, log_range or cases";
                let item = Diagnostic::error("SW001", format!("{at}/{word}"), message);
                self.out.push(item.help(help).at_key());
                return None;
            }
        }
        if let Some(cases) = &spec.cases {
            return self.cases(spec, cases, at);
        }
        let (places, name) = self.places(spec, at)?;
        let values = match (&spec.values, &spec.range, &spec.log_range) {
            (Some(values), None, None) => {
                let help = match what {
                    ZIP => "every value is a point once; to have one beside several others, use cases",
                    _ => ONCE,
                };
                self.listed(spec, values, at, help)?
            }
            (None, Some(range), None) => self.numbers(spec, range, false, &format!("{at}/range"))?,
            (None, None, Some(range)) => self.numbers(spec, range, true, &format!("{at}/log_range"))?,
            _ => return self.one_of(spec, at, &["values", "range", "log_range", "cases"]),
        };
        Some(finish(name, &places, values, false))
    }

    /// A dimension of a sample; `unit` are the coordinates of the points in [0, 1).
    fn dimension(&mut self, spec: &AxisSpec, at: &str, unit: &[f64]) -> Option<Axis> {
        for word in ["zip", "sample", "cases"] {
            if given(spec).contains(&word) {
                let message = format!("\"{word}\" cannot be a dimension of a sample");
                let help = "use range, log_range or values";
                self.out
                    .push(Diagnostic::error("SW001", format!("{at}/{word}"), message).help(help).at_key());
                return None;
            }
        }
        let (places, name) = self.places(spec, at)?;
        let values = match (&spec.values, &spec.range, &spec.log_range) {
            (Some(values), None, None) => {
                let listed = self.listed(spec, values, at, ONCE)?;
                let pick = |share: &f64| listed[(share * listed.len() as f64) as usize].clone();
                unit.iter().map(pick).collect()
            }
            (None, Some(range), None) => self.scattered(spec, range, false, at, unit)?,
            (None, None, Some(range)) => self.scattered(spec, range, true, at, unit)?,
            _ => return self.one_of(spec, at, &["values", "range", "log_range"]),
        };
        Some(finish(name, &places, values, true))
    }

    fn one_of(&mut self, spec: &AxisSpec, at: &str, words: &[&str]) -> Option<Axis> {
        let found: Vec<&str> = given(spec).into_iter().filter(|word| words.contains(word)).collect();
        let message = if found.is_empty() {
            "the axis has no values".to_owned()
        } else {
            format!("the axis has more than one kind of values: {}", found.join(", "))
        };
        let help = format!("give exactly one of {}", words.join(", "));
        self.out.push(Diagnostic::error("SW001", at, message).help(help));
        None
    }

    /// Where an axis sets its values, and its name.
    fn places(&mut self, spec: &AxisSpec, at: &str) -> Option<(Vec<String>, String)> {
        let (pointers, fallback) = match (&spec.parameter, &spec.pointer) {
            (Some(parameter), None) => {
                let Some(places) = self.parameters.get(parameter) else {
                    let message = format!("the scenario has no parameter \"{parameter}\"");
                    let names: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
                    let help = if names.is_empty() {
                        "name it in the \"parameters\" of the scenario, or use \"pointer\"".into()
                    } else {
                        format!("parameters: {}", names.join(", "))
                    };
                    let item = Diagnostic::error("SW003", format!("{at}/parameter"), message).help(help);
                    self.out.push(item.did_you_mean(parameter, names));
                    return None;
                };
                (places.pointers(), parameter.clone())
            }
            (None, Some(places)) => {
                let first = places.pointers().first().map(String::as_str).unwrap_or_default();
                let word = first.rsplit('/').map(unescape).find(|part| part.parse::<u64>().is_err());
                (places.pointers(), word.unwrap_or_default().to_lowercase().replace('-', "_"))
            }
            (found, _) => {
                let message = match found {
                    None => "the axis does not say what it varies",
                    Some(_) => "the axis names a parameter and a pointer",
                };
                let help = "give \"parameter\" (a name of the scenario) or \"pointer\"";
                self.out.push(Diagnostic::error("SW001", at, message).help(help));
                return None;
            }
        };
        Some((pointers.to_vec(), spec.name.clone().unwrap_or(fallback)))
    }

    fn cases(&mut self, spec: &AxisSpec, cases: &[super::spec::CaseSpec], at: &str) -> Option<Axis> {
        if let Some(other) = given(spec).into_iter().find(|word| *word != "cases") {
            let message = format!("\"{other}\" beside \"cases\" means nothing: cases say what they set");
            let item = Diagnostic::error("SW001", format!("{at}/{other}"), message);
            self.out.push(item.help("allowed beside \"cases\": \"name\"").at_key());
            return None;
        }
        let Some(name) = spec.name.clone() else {
            let message = "an axis of cases needs a name";
            self.out.push(Diagnostic::error("SW001", at, message).help("add \"name\""));
            return None;
        };
        if cases.is_empty() {
            let item = Diagnostic::error("SW002", format!("{at}/cases"), "there are no cases");
            self.out.push(item.help("allowed: at least one, each with a \"name\" and what it sets"));
            return None;
        }
        let mut levels: Vec<Level> = Vec::new();
        for (index, case) in cases.iter().enumerate() {
            let place = format!("{at}/cases/{index}");
            if levels.iter().any(|level| level.label == case.name) {
                let message = format!("a second case is called \"{}\"", case.name);
                let help = "every case has a name of its own";
                self.out.push(Diagnostic::error("SW004", format!("{place}/name"), message).help(help));
            }
            let settings = case.set.iter().map(|(pointer, value)| Setting {
                pointer: pointer.clone(),
                value: value.clone(),
                place: format!("{place}/set/{}", escape(pointer)),
            });
            levels.push(Level { label: case.name.clone(), number: None, settings: settings.collect() });
        }
        Some(Axis { name, unit: String::new(), sampled: false, levels })
    }

    /// Values as they are written; `once` is the help where one is there twice.
    fn listed(
        &mut self,
        spec: &AxisSpec,
        values: &[Value],
        at: &str,
        once: &str,
    ) -> Option<Vec<(Value, String)>> {
        for (word, there) in [("unit", spec.unit.is_some()), ("integer", spec.integer.is_some())] {
            if there {
                let message = format!("\"{word}\" belongs to a range; values are taken as they are");
                let help = "write each value as the scenario would: \"10 ns\", 8, true";
                let item = Diagnostic::error("SW002", format!("{at}/{word}"), message);
                self.out.push(item.help(help).at_key());
                return None;
            }
        }
        if values.is_empty() {
            let item = Diagnostic::error("SW002", format!("{at}/values"), "there are no values");
            self.out.push(item.help("allowed: at least one value"));
            return None;
        }
        for (index, value) in values.iter().enumerate() {
            if let Some(first) = values[..index].iter().find(|first| is_same(first, value)) {
                let message = match *first == *value {
                    true => format!("{} is there twice", describe(value)),
                    false => format!("{} is {} written another way", describe(value), describe(first)),
                };
                let place = format!("{at}/values/{index}");
                self.out.push(Diagnostic::error("SW002", place, message).help(once));
                return None;
            }
        }
        let place = |(index, value): (usize, &Value)| (value.clone(), format!("{at}/values/{index}"));
        Some(values.iter().enumerate().map(place).collect())
    }

    fn numbers(
        &mut self,
        spec: &AxisSpec,
        range: &RangeSpec,
        log: bool,
        at: &str,
    ) -> Option<Vec<(Value, String)>> {
        let Some(steps) = range.count else {
            let message = "the range does not say how many numbers";
            self.out.push(Diagnostic::error("SW002", at, message).help("add \"count\""));
            return None;
        };
        if steps as usize > LEVELS_MAX {
            let message = format!("{steps} numbers are too many");
            let help = format!("allowed: at most {LEVELS_MAX}");
            self.out.push(Diagnostic::error("SW002", format!("{at}/count"), message).help(help));
            return None;
        }
        if steps == 1 && range.from != range.to {
            let message = "one number is not both ends";
            let help = "at least 2, or a range from a number to itself";
            self.out.push(Diagnostic::error("SW002", format!("{at}/count"), message).help(help));
            return None;
        }
        let share = |step: u32| if steps == 1 { 0.0 } else { f64::from(step) / f64::from(steps - 1) };
        let shares: Vec<f64> = (0..steps).map(share).collect();
        let values = self.along(spec, range, (log, false), at, &shares)?;
        let mut seen = BTreeSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(value.0.to_string())) {
            let message = format!("{} comes more than once", twice.0);
            let help = "fewer numbers, or a longer range";
            self.out.push(Diagnostic::error("SW002", at, message).help(help));
            return None;
        }
        Some(values)
    }

    fn scattered(
        &mut self,
        spec: &AxisSpec,
        range: &RangeSpec,
        log: bool,
        at: &str,
        unit: &[f64],
    ) -> Option<Vec<(Value, String)>> {
        let at = format!("{at}/{}", if log { "log_range" } else { "range" });
        if range.count.is_some() {
            let message = "a range in a sample has no count: the sample says how many points";
            let item = Diagnostic::error("SW002", format!("{at}/count"), message);
            self.out.push(item.help("leave \"count\" out; \"points\" of the sample counts").at_key());
            return None;
        }
        self.along(spec, range, (log, true), &at, unit)
    }

    /// The numbers at these shares of a range. `scattered`: shares come from anywhere, and a whole number
    /// at an end of the range gets as many of them as one inside.
    fn along(
        &mut self,
        spec: &AxisSpec,
        range: &RangeSpec,
        (log, scattered): (bool, bool),
        at: &str,
        shares: &[f64],
    ) -> Option<Vec<(Value, String)>> {
        let mut ends = (range.from.as_f64()?, range.to.as_f64()?);
        if log && !(ends.0 > 0.0 && ends.1 > 0.0) {
            let message = "a range with equal ratios cannot reach zero";
            let help = "both ends have to be positive; use \"range\" otherwise";
            self.out.push(Diagnostic::error("SW002", at, message).help(help));
            return None;
        }
        let integer = spec.integer == Some(true);
        let mut bounds = (f64::NEG_INFINITY, f64::INFINITY);
        if integer && scattered {
            let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
            bounds = (libm::ceil(low), libm::floor(high));
            if bounds.0 > bounds.1 {
                let message = "no whole number is in the range";
                self.out.push(Diagnostic::error("SW002", at, message).help("a longer range"));
                return None;
            }
            let wide = (bounds.0 - 0.5, bounds.1 + 0.5);
            ends = if ends.0 > ends.1 { (wide.1, wide.0) } else { wide };
        }
        let fine = spec.unit.as_deref().and_then(picoseconds);
        let number = |share: &f64| -> Option<(Value, String)> {
            let raw = if log {
                ends.0 * libm::exp(share * libm::log(ends.1 / ends.0))
            } else {
                ends.0 + share * (ends.1 - ends.0)
            };
            let number = tidy::<9>(match fine {
                _ if integer => libm::round(raw).clamp(bounds.0, bounds.1),
                Some(fine) => libm::round(raw * fine) / fine,
                None => raw,
            })?;
            let value = match &spec.unit {
                Some(unit) => Value::from(format!("{number} {unit}")),
                None => Value::Number(number),
            };
            Some((value, at.to_owned()))
        };
        shares.iter().map(number).collect()
    }
}

/// Whether two values mean the same wherever both may stand: `0.5`, `"1/2"` and `"50 %"`; `"1 us"` and
/// `"1000 ns"`.
fn is_same(one: &Value, other: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let same = |one: &str, other: &str| {
        // Lengths are not compared with times, though both are times in the end.
        let quantities = [units::time, units::length, units::rate, units::data_rate];
        let both = quantities.map(|read| Some(read(one).ok()? == read(other).ok()?));
        let shares = units::share(one).ok().zip(units::share(other).ok()).map(|(one, other)| one == other);
        both.into_iter().chain([shares]).flatten().any(|same| same)
    };
    one == other || text(one).zip(text(other)).is_some_and(|(one, other)| same(&one, &other))
}

/// Picoseconds in a unit of time: scenarios take whole ones only.
fn picoseconds(unit: &str) -> Option<f64> {
    units::time(&format!("1 {unit}")).ok().map(|ps| ps as f64)
}

/// A number with so many significant digits, whole if it is: nine are what a person would have written,
/// fifteen what anybody did write.
fn tidy<const DIGITS: usize>(raw: f64) -> Option<Number> {
    let rounded: f64 = format!("{raw:.*e}", DIGITS - 1).parse().ok()?;
    if libm::trunc(rounded) == rounded && libm::fabs(rounded) < 9e15 {
        return Some(Number::from(rounded as i64));
    }
    Number::from_f64(rounded)
}

/// The fields that an axis has.
fn given(spec: &AxisSpec) -> Vec<&'static str> {
    [
        ("parameter", spec.parameter.is_some()),
        ("pointer", spec.pointer.is_some()),
        ("values", spec.values.is_some()),
        ("range", spec.range.is_some()),
        ("log_range", spec.log_range.is_some()),
        ("cases", spec.cases.is_some()),
        ("unit", spec.unit.is_some()),
        ("integer", spec.integer.is_some()),
        ("zip", spec.zip.is_some()),
        ("sample", spec.sample.is_some()),
    ]
    .into_iter()
    .filter_map(|(word, there)| there.then_some(word))
    .collect()
}

fn finish(name: String, places: &[String], values: Vec<(Value, String)>, sampled: bool) -> Axis {
    let (unit, numbers) = measured(values.iter().map(|value| &value.0));
    let levels = values.into_iter().enumerate().map(|(index, (value, place))| Level {
        label: match &value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
        number: numbers.as_ref().map(|numbers| numbers[index].clone()),
        settings: places
            .iter()
            .map(|pointer| Setting { pointer: pointer.clone(), value: value.clone(), place: place.clone() })
            .collect(),
    });
    Axis { name, unit, sampled, levels: levels.collect() }
}

/// Numbers behind values, if all have one: JSON numbers, times (in nanoseconds), or texts of one unit.
fn measured<'a>(values: impl Iterator<Item = &'a Value> + Clone) -> (String, Option<Vec<Number>>) {
    let plain: Option<Vec<Number>> = values.clone().map(|value| value.as_number().cloned()).collect();
    if plain.is_some() {
        return (String::new(), plain);
    }
    let texts: Option<Vec<&str>> = values.map(Value::as_str).collect();
    let Some(texts) = texts else { return (String::new(), None) };
    let time = |text: &&str| units::time(text).ok().and_then(|ps| tidy::<15>(ps as f64 / 1e3));
    let times: Option<Vec<Number>> = texts.iter().map(time).collect();
    if times.is_some() {
        return ("ns".into(), times);
    }
    let split = |text: &&str| -> Option<(Number, String)> {
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        let number = text[..end].parse::<f64>().ok().and_then(tidy::<15>)?;
        Some((number, text[end..].trim().to_owned()))
    };
    let Some(pairs) = texts.iter().map(split).collect::<Option<Vec<_>>>() else {
        return (String::new(), None);
    };
    let unit = pairs[0].1.clone();
    if pairs.iter().any(|pair| pair.1 != unit) || unit.contains(|c: char| c.is_ascii_digit()) {
        return (String::new(), None);
    }
    (unit, Some(pairs.into_iter().map(|pair| pair.0).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Picoseconds of ten milliseconds are told apart, and half a nanosecond is 0.5.
    #[test]
    fn values_keep_their_digits() {
        let told = |texts: &[&str]| {
            let values: Vec<Value> = texts.iter().map(|text| json!(text)).collect();
            measured(values.iter()).1.map(|numbers| numbers.iter().map(Number::to_string).collect::<Vec<_>>())
        };
        assert_eq!(told(&["10000000001 ps", "10000000002 ps"]).unwrap(), ["10000000.001", "10000000.002"]);
        assert_eq!(told(&["0.5 ns", "1 us"]).unwrap(), ["0.5", "1000"]);
        assert_eq!(told(&["1.00000000001 m", "2 m"]).unwrap(), ["1.00000000001", "2"]);
    }

    fn read(axes: Value) -> Result<(Vec<Axis>, Vec<Group>), Vec<Diagnostic>> {
        let specs: Vec<AxisSpec> = serde_json::from_value(axes).unwrap();
        let parameters = BTreeMap::from([("load".to_owned(), Places::Many(vec!["/a".into(), "/b".into()]))]);
        let mut out = Vec::new();
        let mut warnings = Vec::new();
        let read =
            Reader { parameters: &parameters, seed: 1, out: &mut out, warnings: &mut warnings }.read(&specs);
        if out.is_empty() { Ok(read) } else { Err(out) }
    }

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.levels.iter().map(|level| level.label.as_str()).collect()
    }

    #[test]
    fn ranges_are_what_a_person_would_write() {
        let (axes, groups) = read(json!([
            {"parameter": "load", "range": {"from": 0.05, "to": 1, "count": 20}},
            {"pointer": "/switch/pipeline", "unit": "ns",
             "log_range": {"from": 100, "to": 10000, "count": 3}},
            {"pointer": "/p", "range": {"from": 1, "to": 4, "count": 3}, "integer": true},
        ]))
        .unwrap();
        assert_eq!(labels(&axes[0])[..4], ["0.05", "0.1", "0.15", "0.2"]);
        assert_eq!(axes[0].levels[19].label, "1");
        let set: Vec<&str> = axes[0].levels[0].settings.iter().map(|set| set.pointer.as_str()).collect();
        assert_eq!(set, ["/a", "/b"]);
        assert_eq!(labels(&axes[1]), ["100 ns", "1000 ns", "10000 ns"]);
        assert_eq!((axes[1].name.as_str(), axes[1].unit.as_str()), ("pipeline", "ns"));
        assert_eq!(labels(&axes[2]), ["1", "3", "4"]);
        assert_eq!(groups, [(0, 1, 20), (1, 1, 3), (2, 1, 3)]);
    }

    /// Whatever falls between picoseconds is moved to one: a scenario would not take it.
    #[test]
    fn times_are_whole_picoseconds() {
        let (axes, _) = read(json!([
            {"pointer": "/a", "log_range": {"from": 10, "to": 1000, "count": 6}, "unit": "ns"},
            {"sample": {"method": "sobol", "points": 64, "axes": [
                {"pointer": "/b", "log_range": {"from": 0.01, "to": 90}, "unit": "us"},
                {"pointer": "/c", "range": {"from": 1, "to": 3}, "unit": "ps"}
            ]}}
        ]))
        .unwrap();
        assert_eq!(labels(&axes[0])[..3], ["10 ns", "25.119 ns", "63.096 ns"]);
        for text in axes.iter().flat_map(labels) {
            assert!(units::time(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn units_of_values() {
        let unit = |values: Value| {
            let (axes, _) = read(json!([{"pointer": "/x", "values": values}])).unwrap();
            let numbers: Option<Vec<String>> =
                axes[0].levels.iter().map(|level| level.number.as_ref().map(Number::to_string)).collect();
            (axes[0].unit.clone(), numbers.map(|numbers| numbers.join(" ")))
        };
        assert_eq!(unit(json!(["1 us", "500 ns"])), ("ns".into(), Some("1000 500".into())));
        assert_eq!(unit(json!(["3.125 Gbaud", "5 Gbaud"])), ("Gbaud".into(), Some("3.125 5".into())));
        assert_eq!(unit(json!([1, 2.5])), (String::new(), Some("1 2.5".into())));
        assert_eq!(unit(json!(["10 %", 2])), (String::new(), None));
        assert_eq!(unit(json!(["fifo", "voq"])), (String::new(), None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (axes, code, at) in [
            (json!([{"values": [1]}]), "SW001", "/axes/0"),
            (json!([{"parameter": "load"}]), "SW001", "/axes/0"),
            (
                json!([{"parameter": "load", "values": [1], "range": {"from": 1, "to": 2}}]),
                "SW001",
                "/axes/0",
            ),
            (json!([{"parameter": "lode", "values": [1]}]), "SW003", "/axes/0/parameter"),
            (json!([{"parameter": "load", "values": []}]), "SW002", "/axes/0/values"),
            (json!([{"parameter": "load", "values": [1, 1]}]), "SW002", "/axes/0/values/1"),
            (json!([{"parameter": "load", "range": {"from": 1, "to": 2}}]), "SW002", "/axes/0/range"),
            (
                json!([{"parameter": "load", "log_range": {"from": 0, "to": 2, "count": 3}}]),
                "SW002",
                "/axes/0/log_range",
            ),
            (
                json!([{"parameter": "load", "range": {"from": 1, "to": 2, "count": 5}, "integer": true}]),
                "SW002",
                "/axes/0/range",
            ),
            (json!([{"name": "seed", "parameter": "load", "values": [1]}]), "SW004", "/axes/0"),
            (
                json!([{"parameter": "load", "values": [1]},
                       {"name": "load", "pointer": "/x", "values": [1]}]),
                "SW004",
                "/axes/1",
            ),
            (
                json!([{"zip": [{"parameter": "load", "values": [1]}, {"pointer": "/x", "values": [1, 2]}]}]),
                "SW005",
                "/axes/0/zip",
            ),
            (json!([{"cases": [{"name": "a", "set": {}}]}]), "SW001", "/axes/0"),
            (json!([{"zip": [{"zip": []}]}]), "SW001", "/axes/0/zip/0/zip"),
        ] {
            let found = read(axes.clone()).expect_err("a mistake");
            assert_eq!((found[0].code, found[0].pointer.as_str()), (code, at), "{axes}: {found:?}");
        }
        let found = read(json!([{"parameter": "laod", "values": [1]}])).unwrap_err();
        assert!(found[0].help.as_deref().unwrap().contains("did you mean \"load\"?"));
    }

    #[test]
    fn samples_stay_in_their_range() {
        let (axes, groups) = read(json!([{"sample": {"method": "sobol", "points": 16, "axes": [
            {"parameter": "load", "range": {"from": 0.2, "to": 0.8}},
            {"pointer": "/ports", "range": {"from": 2, "to": 9}, "integer": true},
            {"pointer": "/kind", "values": ["fifo", "voq"]}
        ]}}]))
        .unwrap();
        assert_eq!(groups, [(0, 3, 16)]);
        for level in &axes[0].levels {
            let load = level.number.as_ref().unwrap().as_f64().unwrap();
            assert!((0.2..=0.8).contains(&load));
        }
        let voq = axes[2].levels.iter().filter(|level| level.label == "voq").count();
        assert_eq!(voq, 8, "a Sobol sequence is even in each dimension");
        // Eight numbers for sixteen points: each twice, the ends of the range too.
        let ports = labels(&axes[1]);
        for number in 2..=9 {
            assert_eq!(ports.iter().filter(|label| **label == number.to_string()).count(), 2, "{number}");
        }
    }

    /// Three values by two are six points, however many are asked for; each has its place among the others.
    #[test]
    fn points_of_a_sample_that_are_others_again_are_left_out() {
        let sample = |points: u32| {
            read(json!([{"sample": {"method": "latin_hypercube", "points": points, "axes": [
                {"pointer": "/ports", "range": {"from": 4, "to": 2}, "integer": true},
                {"pointer": "/kind", "values": ["fifo", "voq"]}
            ]}}]))
            .unwrap()
        };
        let (axes, groups) = sample(100);
        assert_eq!(groups, [(0, 2, 6)]);
        let points: BTreeSet<(&str, &str)> = labels(&axes[0]).into_iter().zip(labels(&axes[1])).collect();
        assert_eq!(points.len(), 6);
        assert_eq!(sample(1).1, [(0, 2, 1)]);
        let found = read(json!([{"sample": {"method": "sobol", "points": 2, "axes": [
            {"pointer": "/ports", "range": {"from": 2.2, "to": 2.8}, "integer": true}
        ]}}]));
        let found = found.expect_err("there is none");
        assert_eq!((found[0].code, found[0].pointer.as_str()), ("SW002", "/axes/0/sample/axes/0/range"));
    }
}
