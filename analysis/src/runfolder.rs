//! Result folders: whole or not at all.
//!
//! Everything is written into a temporary folder beside the place where it shall be; one rename makes it
//! visible. An interrupted run leaves what was there before. Files of an earlier run go, files of anybody
//! else stay.

use crate::chart::Chart;
use crate::figures::{Caption, Figure, all, list};
use crate::num::{Num, three_digits};
use crate::predict::Prediction;
use crate::profile::ProfileReport;
use crate::report::VariantReport;
use crate::series::{self, Series};
use crate::summary::Summary;
use models::run::{Cost, Whole};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Cost of one variant. The caller measures it: nothing in this crate knows the wall clock.
#[derive(Clone, Debug, Serialize)]
pub struct VariantCost {
    /// Name of the variant.
    pub variant: String,
    /// Wall-clock seconds of the simulation.
    pub wall_s: Num,
    /// Kernel events.
    pub events: u64,
    /// Events in a wall-clock second.
    pub events_per_s: Num,
    /// Packets that crossed a link.
    pub packet_hops: u64,
    /// Share of them in symbol granularity.
    pub symbol_granularity: Num,
    /// Packet hops in a wall-clock second.
    pub packet_hops_per_s: Num,
    /// Events for each packet hop.
    pub events_per_packet_hop: Num,
    /// Packets, once for each hop, that were written as bytes and read back.
    #[serde(skip_serializing_if = "is_zero")]
    pub wire_checked_packets: u64,
    /// Likewise control symbols.
    #[serde(skip_serializing_if = "is_zero")]
    pub wire_checked_symbols: u64,
    /// Where its time went, if the caller measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phases: Option<Phases>,
    /// What it cost to run it on several threads, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Threading>,
    /// What it handled, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileReport>,
    /// What it would take on several cores, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prediction: Option<Prediction>,
}

/// Wall-clock seconds of the phases of a variant.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phases {
    /// From a compiled fabric to one that can run: all parts, if it is cut.
    pub build_s: Num,
    /// From its first event to its last.
    pub simulate_s: Num,
    /// What is still due at its end, and the totals.
    pub settle_s: Num,
    /// From what was observed to what is reported.
    pub evaluate_s: Num,
}

impl Phases {
    /// A line for a terminal, with its line feed.
    pub fn text(self) -> String {
        let short = |seconds: Num| three_digits(seconds.0);
        let Phases { build_s, simulate_s, settle_s, evaluate_s } = self;
        format!(
            "  {} s building, {} s simulating, {} s settling, {} s evaluating\n",
            short(build_s),
            short(simulate_s),
            short(settle_s),
            short(evaluate_s)
        )
    }
}

/// How a run on several threads went, or why there was none.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Threading {
    /// It ran on one thread.
    One {
        /// Always 1.
        count: usize,
        /// Why the fabric was not cut.
        because: String,
    },
    /// It ran in parts.
    Several {
        /// Threads.
        count: usize,
        /// Parts of the fabric.
        partitions: usize,
        /// Windows in which the parts did not hear of each other.
        windows: u64,
        /// Events in a window, on average.
        events_per_window: Num,
        /// Packets, records of credit and messages from one part to another.
        mail: u64,
        /// Events of the busiest part of each window, over those of an average part: 1 is balanced.
        imbalance: Num,
        /// Share of the time of all threads in which they waited for each other.
        waiting: Num,
    },
}

impl Threading {
    /// Of a run that took `wall_s` seconds, and whose threads measured nanoseconds.
    pub fn of(cost: Result<Cost, Whole>, wall_s: f64) -> Self {
        match cost {
            Err(whole) => Threading::One { count: 1, because: whole.to_string() },
            Ok(cost) => Threading::Several {
                count: cost.threads,
                partitions: cost.parts,
                windows: cost.windows,
                events_per_window: Num(cost.events as f64 / cost.windows.max(1) as f64),
                mail: cost.letters,
                imbalance: Num((cost.longest * cost.parts as u64) as f64 / cost.events.max(1) as f64),
                waiting: Num(cost.waited as f64 / 1e9 / (wall_s * cost.threads as f64)),
            },
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl VariantCost {
    /// Cost of a run that took `wall_s` seconds.
    pub fn new(report: &VariantReport, wall_s: f64) -> Self {
        let outcome = &report.run.outcome;
        let rate = |count: u64| Num(if wall_s > 0.0 { count as f64 / wall_s } else { f64::NAN });
        Self {
            variant: report.run.name.clone(),
            wall_s: Num(wall_s),
            events: outcome.events,
            events_per_s: rate(outcome.events),
            packet_hops: outcome.packet_hops,
            symbol_granularity: Num(outcome.symbol_hops as f64 / outcome.packet_hops.max(1) as f64),
            packet_hops_per_s: rate(outcome.packet_hops),
            events_per_packet_hop: Num(outcome.events as f64 / outcome.packet_hops as f64),
            wire_checked_packets: outcome.wire_checked.packets,
            wire_checked_symbols: outcome.wire_checked.symbols,
            phases: None,
            threads: None,
            profile: None,
            prediction: None,
        }
    }
}

/// What `perf.json` says.
#[derive(Clone, Debug, Serialize)]
pub struct Perf {
    /// Wall-clock seconds of everything before anything is drawn.
    pub wall_s: Num,
    /// Of these: reading, checking and compiling the scenario.
    pub read_s: Num,
    /// Drawing, which comes on top.
    pub draw_s: Num,
    /// Variants simulated at the same time.
    pub parallel: usize,
    /// Largest resident set of the process, octets, where the system tells.
    pub memory_peak_bytes: Option<u64>,
    /// Each variant.
    pub variants: Vec<VariantCost>,
}

/// Files that stand in a result folder itself.
const FILES: [&str; 6] =
    ["resolved.json", "summary.json", "histograms.json", FINGERPRINTS, "perf.json", "origin.json"];
/// A line for each variant, which begins with its name.
const FINGERPRINTS: &str = "fingerprints.txt";
/// Formats of figures, and of charts.
const FIGURE_FORMATS: [&str; 2] = ["svg", "png"];
const CHART_FORMATS: [&str; 3] = ["svg", "png", "txt"];
/// Folders in a result folder.
const FOLDERS: [&str; 3] = ["series", "figures", "charts"];

/// All files of a result folder.
#[derive(Clone, Debug)]
pub struct RunFolder {
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl RunFolder {
    /// The files of these runs of the scenario `name`, without pictures. `resolved` is the text of
    /// `resolved.json`.
    pub fn new(name: &str, resolved: &str, reports: &[VariantReport]) -> Self {
        let mut files: Vec<(PathBuf, Vec<u8>)> = [
            ("resolved.json", resolved.to_string()),
            ("summary.json", Summary::new(name, reports).to_json()),
            ("histograms.json", series::histograms_json(reports)),
            (FINGERPRINTS, fingerprints(reports)),
        ]
        .into_iter()
        .map(|(name, text)| (PathBuf::from(name), text.into_bytes()))
        .collect();
        for Series { name, text } in series::all(reports) {
            files.push((format!("series/{name}").into(), text.into_bytes()));
        }
        Self { files }
    }

    /// With what it cost.
    #[must_use]
    pub fn measured(mut self, perf: &Perf) -> Self {
        let mut text = serde_json::to_string_pretty(perf).expect("string keys only");
        text.push('\n');
        self.files.push(("perf.json".into(), text.into_bytes()));
        self
    }

    /// With where it comes from: the version of the program, and the scenario as it was given.
    #[must_use]
    pub fn from(mut self, version: &str, given: &serde_json::Value) -> Self {
        let origin = serde_json::json!({ "riosim": version, "given": given });
        let mut text = serde_json::to_string_pretty(&origin).expect("a JSON value prints");
        text.push('\n');
        self.files.push(("origin.json".into(), text.into_bytes()));
        self
    }

    /// With the figures and message sequence charts of these runs; `stamp`: see [`Chart::of_runs`].
    #[must_use]
    pub fn drawn(
        mut self,
        caption: &Caption,
        stamp: impl Fn(&[VariantReport]) -> String,
        reports: &[VariantReport],
    ) -> Self {
        let files = &mut self.files;
        for (variant, chart) in Chart::of_runs(&caption.scenario, stamp, reports) {
            let contents = [chart.to_svg().into_bytes(), chart.to_png(), chart.to_text().into_bytes()];
            let paths = CHART_FORMATS.map(|format| in_charts(&variant, format));
            files.extend(paths.into_iter().zip(contents));
        }
        for Figure { name, svg, png } in all(caption, reports) {
            let paths = FIGURE_FORMATS.map(|format| in_figures(name, format));
            files.extend(paths.into_iter().zip([svg.into_bytes(), png]));
        }
        self
    }

    /// Paths inside the folder.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|(path, _)| path.as_path())
    }

    /// Writes the folder to `target`. What an earlier run left there is replaced, and files of anybody else
    /// stay; or, if `keep`, all of it is kept beside it with `.1`, `.2`, ... at the end of its name.
    ///
    /// A link to a folder stays, and the folder that it leads to is written.
    pub fn write(&self, target: &Path, keep: bool) -> io::Result<()> {
        let target = &*followed(target)?;
        let parent = parent(target);
        fs::create_dir_all(parent)?;
        refuse_foreign(target)?;
        // beside the target, because a rename cannot cross file systems
        let new = tempfile::Builder::new().prefix(".riosim-").tempdir_in(parent)?;
        for (path, content) in &self.files {
            let path = new.path().join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(path, content)?;
        }
        share(new.path())?;
        let staying = if keep { Vec::new() } else { self.staying(target)? };
        if let Some(path) = staying.iter().find(|path| new.path().join(path).symlink_metadata().is_ok()) {
            let text = format!("{} is in the way of what is written", target.join(path).display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
        }
        let old = tempfile::Builder::new().prefix(".riosim-").tempdir_in(parent)?;
        let occupied = target.symlink_metadata().is_ok();
        let aside = if keep { first_free(target) } else { old.path().join("old") };
        if occupied {
            fs::rename(target, &aside)?;
        }
        if let Err(error) = fs::rename(new.path(), target) {
            if occupied {
                fs::rename(&aside, target)?;
            }
            return Err(error);
        }
        // nothing is left under the temporary name
        let _ = new.keep();
        let put_back = |path: &PathBuf| {
            let to = target.join(path);
            to.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::rename(aside.join(path), to)
        };
        staying.iter().try_for_each(put_back).map_err(|error| {
            // nobody removes it, then
            let _ = old.keep();
            let text = format!("{error}; files that no run wrote are in {}", aside.display());
            io::Error::new(error.kind(), text)
        })
    }

    /// Paths in the folder `target` of files and folders that no run wrote.
    fn staying(&self, target: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = Vec::new();
        if !target.symlink_metadata().is_ok_and(|target| target.is_dir()) {
            return Ok(found);
        }
        let mut of_runs = written(target);
        of_runs.extend(self.paths().map(Path::to_owned));
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(target.join(&folder))? {
                let entry = entry?;
                let (path, is_folder) = (folder.join(entry.file_name()), entry.file_type()?.is_dir());
                if is_folder && FOLDERS.iter().any(|name| path == Path::new(name)) {
                    folders.push(path);
                } else if is_folder || !of_runs.contains(&path) {
                    found.push(path);
                }
            }
        }
        Ok(found)
    }
}

/// Paths of all that the run may have written whose results are in `target`.
fn written(target: &Path) -> BTreeSet<PathBuf> {
    let prints = fs::read_to_string(target.join(FINGERPRINTS)).unwrap_or_default();
    let variants = prints.lines().filter_map(|line| Some(line.rsplit_once(" outcome ")?.0));
    let files = FILES.into_iter().map(PathBuf::from);
    let series = series::names().map(|name| Path::new("series").join(name));
    let figures = list().flat_map(|(name, _)| FIGURE_FORMATS.map(|format| in_figures(name, format)));
    let charts = variants.flat_map(|variant| CHART_FORMATS.map(|format| in_charts(variant, format)));
    files.chain(series).chain(figures).chain(charts).collect()
}

fn in_figures(figure: &str, format: &str) -> PathBuf {
    format!("figures/{figure}.{format}").into()
}

fn in_charts(variant: &str, format: &str) -> PathBuf {
    format!("charts/{variant}.{format}").into()
}

/// Whether [`RunFolder::write`] could write to `target` now. Nothing is left behind.
///
/// # Errors
/// Why it could not.
pub fn check_target(target: &Path) -> io::Result<()> {
    let target = &*followed(target)?;
    let mut above = parent(target);
    while above.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        above = parent(above);
    }
    if above.metadata()?.is_file() {
        let text = format!("{} is a file, not a folder", above.display());
        return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
    }
    refuse_foreign(target)?;
    tempfile::Builder::new().prefix(".riosim-").tempdir_in(above)?.close()
}

/// Most links one after the other, as systems have it.
const LINKS_MAX: usize = 40;

/// Where `path` leads: the end of its symbolic links, which need not be there yet.
///
/// # Errors
/// Links lead in a circle.
pub fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut end = path.to_owned();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&end) {
            Ok(next) => end = parent(&end).join(next),
            // no link, or nothing
            Err(_) => return Ok(end),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// The folder that holds `target`.
pub fn parent(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A folder that this program did not write is not replaced: `--out` may name anything.
fn refuse_foreign(target: &Path) -> io::Result<()> {
    let foreign = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_some() && !target.join("summary.json").is_file(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(_) => true,
    };
    if foreign {
        let text = format!("{} exists and is not a result folder", target.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, text));
    }
    Ok(())
}

/// Temporary folders are private; results are as readable as any other new folder.
#[cfg(unix)]
fn share(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // A folder made in the ordinary way shows what the process's mask allows.
    let probe = folder.join("series");
    let mode = fs::metadata(probe)?.permissions().mode();
    fs::set_permissions(folder, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn share(_folder: &Path) -> io::Result<()> {
    Ok(())
}

fn first_free(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (1u32..)
        .map(|number| target.with_file_name(format!("{name}.{number}")))
        .find(|path| path.symlink_metadata().is_err())
        .expect("there are fewer than four thousand million results")
}

fn fingerprints(reports: &[VariantReport]) -> String {
    reports
        .iter()
        .map(|report| {
            let outcome = &report.run.outcome;
            format!("{} outcome {} trajectory {}\n", report.run.name, outcome.outcome, outcome.trajectory)
        })
        .collect()
}
