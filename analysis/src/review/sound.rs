//! Whether the series of a result folder are whole: a folder that was copied in part is not read as if it
//! were the run.

use super::files::{Csv, list, real, word};
use super::{Run, Variant};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Columns that hold names.
const NAMES: [&str; 6] = ["variant", "flow", "port", "layer", "waited_for", "why"];
/// Rounded times are the same to a part of the width of a bin.
const SAME: f64 = 0.01;
/// Nine digits of a time are it to a part of itself.
const ROUNDED: f64 = 1e-8;

/// Beginnings of the time bins of a variant.
struct Bins {
    /// Those before the end of what is measured.
    measured: Vec<f64>,
    /// One that begins with it, as far as its digits tell: it may be one more.
    at_end: Option<f64>,
}

/// A file that is read, with the columns without which it says nothing.
struct File<'a> {
    name: &'static str,
    csv: Csv,
    text: &'a str,
}

impl<'a> File<'a> {
    fn new(name: &'static str, text: &'a str) -> Self {
        Self { name, csv: Csv::new(text), text }
    }

    fn at(&self, line: usize, what: &str) -> String {
        format!("series/{}:{line}: {what}", self.name)
    }

    /// At its end, where something is missing.
    fn end(&self, what: &str) -> String {
        self.at(self.text.lines().count().max(1), what)
    }

    /// Whether every line has all cells, known variants, and numbers where numbers belong.
    fn check(&self, columns: &[&str], variants: &[Variant]) -> Result<(), String> {
        if !self.text.ends_with('\n') {
            return Err(self.end("the file ends within this line"));
        }
        let titles = self.csv.titles();
        if let Some(column) = columns.iter().find(|column| !titles.iter().any(|title| title == *column)) {
            return Err(self.at(1, &format!("there is no column \"{column}\"")));
        }
        for row in self.csv.rows() {
            let (found, wanted) = (row.line.len(), titles.len());
            if found != wanted {
                return Err(self.at(row.place, &format!("{found} cells found; expected {wanted}")));
            }
            let is_number = |cell: &str| cell.is_empty() || cell.parse().is_ok_and(f64::is_finite);
            let mut cells = titles.iter().zip(row.line);
            let bad = cells.find(|(title, cell)| !NAMES.contains(&title.as_str()) && !is_number(cell));
            if let Some((title, cell)) = bad {
                return Err(self.at(row.place, &format!("{title}: {cell:?} found; expected a number")));
            }
            let variant = row.get("variant");
            if !variants.iter().any(|known| known.name == variant) {
                return Err(self.at(row.place, &format!("there is no variant {variant:?} in the run")));
            }
        }
        Ok(())
    }

    /// Of each variant and each of its `subjects` in the column `of` there is one line for each time of
    /// `bins`, or one alone.
    fn check_lines<'n>(
        &self,
        variant: &str,
        (of, subjects): (&str, impl Iterator<Item = &'n str> + Clone),
        bins: Option<&Bins>,
    ) -> Result<(), String> {
        let times = bins.map(|bins| &bins.measured[..]);
        let mut found: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
        for row in self.csv.rows().filter(|row| row.get("variant") == variant) {
            let time = row.get("time_us").parse().unwrap_or(0.0);
            found.entry(row.get(of)).or_default().push((row.place, time));
        }
        let known: BTreeSet<&str> = subjects.clone().collect();
        if let Some((subject, lines)) = found.iter().find(|(subject, _)| !known.contains(*subject)) {
            return Err(self.at(lines[0].0, &format!("there is no {of} {subject:?} in the run")));
        }
        for subject in subjects {
            let lines = found.get(subject).map_or(&[][..], Vec::as_slice);
            for (at, time) in times.unwrap_or(&[0.0]).iter().enumerate() {
                let when = if times.is_some() { format!(" at {time} us") } else { String::new() };
                let missing = format!("variant {variant:?}: no line of {of} {subject:?}{when}");
                match lines.get(at) {
                    None => return Err(self.end(&missing)),
                    Some((place, found)) if found != time => {
                        return Err(self.at(*place, &missing));
                    }
                    Some(_) => {}
                }
            }
            let mut expected = times.map_or(1, <[f64]>::len);
            let next = lines.get(expected).map(|(_, time)| *time);
            if next.is_some() && next == bins.and_then(|bins| bins.at_end) {
                expected += 1;
            }
            if let Some((place, _)) = lines.get(expected) {
                return Err(self.at(*place, &format!("one line too many of {of} {subject:?}")));
            }
        }
        Ok(())
    }

    /// Time bins of a variant of which what is measured ends at `to_us`; none may be missing.
    fn bins(&self, variant: &str, to_us: f64) -> Result<Bins, String> {
        let rows = self.csv.rows().filter(|row| row.get("variant") == variant);
        let lines: Vec<(usize, f64)> =
            rows.map(|row| (row.place, row.get("time_us").parse().unwrap_or(f64::NAN))).collect();
        // the first bin may be shorter, so that the measured part begins with one
        let width = lines.get(2).map_or(to_us, |(_, third)| third - lines[1].1);
        let mut last = f64::NAN;
        for (place, time) in &lines {
            let step = time - last;
            let is_next = if last.is_nan() {
                *time == 0.0
            } else if last == 0.0 {
                step > 0.0 && step <= (1.0 + SAME) * width
            } else {
                libm::fabs(step - width) <= SAME * width
            };
            if !is_next {
                let after = if last.is_nan() { "at 0".to_owned() } else { format!("right after {last}") };
                return Err(self.at(*place, &format!("variant {variant:?}: no line {after} us")));
            }
            last = *time;
        }
        let covered = lines.last().map_or(0.0, |(_, last)| last + width);
        if covered < to_us - SAME * width {
            return Err(self.end(&format!("variant {variant:?}: no line from {covered} us on")));
        }
        let mut measured: Vec<f64> = lines.into_iter().map(|(_, time)| time).collect();
        let later = measured.split_off(measured.partition_point(|time| *time < to_us * (1.0 - ROUNDED)));
        // other files go on
        let at_end = later.first().copied().filter(|time| *time <= to_us * (1.0 + ROUNDED));
        Ok(Bins { measured, at_end })
    }
}

/// Whether the histograms of a variant are those of its run: each packet that the summary tells of is in
/// them.
fn check_histograms(histograms: &Value, variant: &str, told: &Value) -> Result<(), String> {
    for flow in list(told, "flows") {
        let name = word(flow, "name");
        let buckets = list(&histograms[name], "latency");
        let found: u64 = buckets.iter().filter_map(|bucket| bucket[1].as_u64()).sum();
        let expected = flow["delivered_packets"].as_u64().unwrap_or(0);
        if found != expected {
            return Err(format!(
                "histograms.json: variant {variant:?}: {found} packets of flow {name:?} found; summary.json \
                 has {expected}"
            ));
        }
    }
    Ok(())
}

/// Whether the series are those of a whole run, and histograms beside them those of the same one.
///
/// # Errors
/// File and line of what is wrong, as in `series/links.csv:7: ...`.
pub fn check(run: &Run) -> Result<(), String> {
    let flows = File::new("flows.csv", &run.flows);
    let fabric = File::new("fabric.csv", &run.fabric);
    let links = File::new("links.csv", &run.links);
    flows.check(&["variant", "flow", "time_us", "delivered_gbps"], &run.variants)?;
    let waiting = ["source_waiting_packets", "switch_waiting_packets"];
    fabric.check(&["variant", "time_us", waiting[0], waiting[1]], &run.variants)?;
    links.check(&["variant", "port", "packet_share", "hol_ps", "staged_ps"], &run.variants)?;
    for (name, text, columns) in [
        ("conduits.csv", &run.conduits, &["variant", "time_us", "ended_ends", "open_ends"][..]),
        ("timeouts.csv", &run.timeouts, &["variant", "time_us", "flow", "layer", "timeouts"]),
    ] {
        // not every run has them
        if !text.is_empty() {
            File::new(name, text).check(columns, &run.variants)?;
        }
    }
    for (variant, told) in run.variants.iter().zip(list(&run.summary, "variants")) {
        let (name, config) = (variant.name.as_str(), &variant.config);
        check_histograms(&run.histograms["variants"][name], name, told)?;
        let bins = fabric.bins(name, real(&told["measured"]["to_us"]))?;
        if !bins.measured.is_empty() {
            let all = config.flows.iter().map(|flow| flow.name.as_str());
            flows.check_lines(name, ("flow", all), Some(&bins))?;
        }
        let ends = config.links.iter().flat_map(|link| [link.a, link.b]);
        let ends: BTreeSet<(u32, u8)> = ends.collect();
        let port = |(device, port): &(u32, u8)| format!("{}:{port}", config.devices[*device as usize].path);
        let ports: Vec<String> = ends.iter().map(port).collect();
        links.check_lines(name, ("port", ports.iter().map(String::as_str)), None)?;
    }
    Ok(())
}
