//! The folder of a sweep: what it is (`sweep.json`), what was run (`tasks/`), what came out.

use super::log::{self, Header, Record};
use crate::status::Failure;
use crate::whole;
use analysis::sweep::{Data, Frame, FrameAxis, FramePoint, METRICS, Rule, Run, StopRule};
use scenarios::sweep::spec::PlotSpec;
use scenarios::sweep::{HalfWidth, SweepPlan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files that a merge writes into the folder.
pub(crate) const FILES: [&str; 4] = ["results.csv", "results.parquet", "estimates.csv", "columns.json"];

/// Name of the file that says what a folder is.
pub(crate) const MANIFEST: &str = "sweep.json";
/// Version of its layout.
const FORMAT: u32 = 2;

/// What the folder of a sweep is about: enough to merge, show, plot and compare without the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Version of this layout.
    pub format: u32,
    /// What the runs belong to.
    pub made_from: Header,
    /// How many replications.
    pub rule: Rule,
    /// Figures to draw.
    pub plots: Vec<PlotSpec>,
    /// Axes and points.
    pub frame: Frame,
}

impl Manifest {
    /// What the folder of this sweep says.
    pub fn new(plan: &SweepPlan, header: &Header) -> Self {
        let stop = plan.replications.stop.as_ref().map(|stop| {
            let (half_width, relative) = match stop.half_width {
                HalfWidth::Absolute(width) => (width, false),
                HalfWidth::Relative(share) => (share, true),
            };
            StopRule { metric: stop.metric.clone(), scope: stop.scope.clone(), half_width, relative }
        });
        Self {
            format: FORMAT,
            made_from: header.clone(),
            rule: Rule { min: plan.replications.min, max: plan.replications.max, stop },
            plots: plan.plots.clone(),
            frame: frame_of(plan),
        }
    }
}

/// What the rows of a sweep refer to.
pub(super) fn frame_of(plan: &SweepPlan) -> Frame {
    let axes = plan.axes.iter().map(|axis| FrameAxis {
        name: axis.name.clone(),
        column: axis.column(),
        unit: axis.unit.clone(),
        sampled: axis.sampled,
        labels: axis.levels.iter().map(|level| level.label.clone()).collect(),
        numbers: axis.levels.iter().map(|level| level.number.as_ref()?.as_f64()).collect(),
    });
    let point =
        |point: &scenarios::sweep::Point| FramePoint { key: point.key.clone(), levels: point.levels.clone() };
    Frame {
        name: plan.name.clone(),
        title: plan.title.clone(),
        axes: axes.collect(),
        points: plan.points.iter().map(point).collect(),
    }
}

/// The version of the program as results know it.
pub(crate) fn header(plan: &SweepPlan, reference: String) -> Header {
    Header {
        riosim: env!("CARGO_PKG_VERSION").into(),
        reference,
        scenario: plan.hash.clone(),
        seed: plan.seed,
    }
}

/// What to do about earlier runs of something else.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Earlier {
    /// Refuse.
    Refuse,
    /// Count them all the same.
    Accept,
    /// Throw them away.
    Discard,
}

/// The folder of a sweep.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder at this path, whatever is in it.
    pub fn at(path: &Path) -> Self {
        Self { path: path.into() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    fn cannot(&self, what: &str, error: &io::Error) -> Failure {
        Failure::bad_input(format_args!("cannot {what} {}: {error}", self.path.display()))
    }

    /// What the folder says it is.
    ///
    /// # Errors
    /// If it is no folder of a sweep.
    pub fn manifest(&self) -> Result<Manifest, Failure> {
        let path = self.path.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|error| {
            if self.path.join("summary.json").is_file() {
                return Failure::bad_input(format_args!(
                    "{} is the folder of a single run; expected one that riosim sweep wrote",
                    self.path.display()
                ));
            }
            Failure::bad_input(format_args!(
                "{} is not the folder of a sweep: {MANIFEST}: {error}",
                self.path.display()
            ))
        })?;
        #[derive(Deserialize)]
        struct Layout {
            format: u32,
        }
        let layout: Option<Layout> = serde_json::from_str(&text).ok();
        if let Some(Layout { format: found }) = layout
            && found != FORMAT
        {
            return Err(Failure::bad_input(format_args!(
                "{}: layout {found}; this version reads layout {FORMAT}; riosim sweep --restart begins anew",
                path.display()
            )));
        }
        serde_json::from_str(&text).map_err(|error| {
            Failure::bad_input(format_args!(
                "{}: {error}; riosim sweep --restart begins anew",
                path.display()
            ))
        })
    }

    /// Whether runs of `manifest` must not go here; changes nothing.
    ///
    /// # Errors
    /// If it is another folder, or has runs of something else.
    pub fn refuses(&self, manifest: &Manifest, earlier: Earlier) -> Result<(), Failure> {
        let there = self.path.join(MANIFEST).is_file();
        let occupied = fs::read_dir(&self.path).is_ok_and(|mut entries| entries.next().is_some());
        if !there && (self.path.is_file() || occupied && !self.path.join("tasks").is_dir()) {
            return Err(Failure::bad_input(format_args!(
                "cannot write results to {}: it exists and is not the folder of a sweep",
                self.path.display()
            )));
        }
        if there && earlier == Earlier::Refuse {
            let old = self.manifest()?;
            if let Some(what) = difference(&old.made_from, &manifest.made_from) {
                let finished = self.records()?.len();
                return Err(Failure::bad_input(format_args!(
                    "{} holds {finished} runs of something else: {what}.\n  \
                     --restart throws them away; --accept-changes counts them all the same; --out names \
                     another folder",
                    self.path.display()
                )));
            }
        }
        Ok(())
    }

    /// Makes the folder ready for runs of `manifest`.
    pub fn prepare(&self, manifest: &Manifest, earlier: Earlier) -> Result<(), Failure> {
        self.refuses(manifest, earlier)?;
        if self.path.join(MANIFEST).is_file() && earlier == Earlier::Discard {
            self.discard().map_err(|error| self.cannot("clear", &error))?;
        }
        fs::create_dir_all(self.path.join("tasks"))
            .map_err(|error| self.cannot("write results to", &error))?;
        if !self.manifest().is_ok_and(|old| old == *manifest) {
            // figures of other points would stay among those of these
            remove_folder(&self.path.join("figures")).map_err(|error| self.cannot("clear", &error))?;
            let mut text = serde_json::to_string(manifest).expect("string keys only");
            text.push('\n');
            self.write(MANIFEST, text.as_bytes())?;
        }
        Ok(())
    }

    fn discard(&self) -> io::Result<()> {
        // only what this program writes: somebody may keep notes here
        for name in ["tasks", "figures"] {
            remove_folder(&self.path.join(name))?;
        }
        for name in FILES.iter().chain([&MANIFEST]) {
            match fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let path = self.path.join(name);
        let attempt = || -> io::Result<()> {
            let parent = path.parent().unwrap_or(&self.path);
            fs::create_dir_all(parent)?;
            whole::replace(&path, content)
        };
        attempt().map_err(|error| Failure::bad_input(cannot_write(&path, &error)))
    }

    /// The logs of all tasks, by name.
    pub fn logs(&self) -> Result<Vec<(String, log::Content)>, Failure> {
        let folder = self.path.join("tasks");
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.cannot("read", &error)),
        };
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".log"))
            .collect();
        names.sort();
        let read = |name: String| {
            let content = log::read(&folder.join(&name)).map_err(|error| {
                Failure::bad_input(format_args!("cannot read {}: {error}", folder.join(&name).display()))
            })?;
            Ok((name, content))
        };
        names.into_iter().map(read).collect()
    }

    fn records(&self) -> Result<Vec<Record>, Failure> {
        Ok(self.logs()?.into_iter().flat_map(|(_, content)| content.records).collect())
    }

    /// Every finished run, by key of its point and replication.
    ///
    /// # Errors
    /// If a log belongs to something else and that is not accepted, or if two runs of the same point differ.
    pub fn finished(&self, manifest: &Manifest, earlier: Earlier) -> Result<Finished, Failure> {
        let mut finished = Finished::default();
        for (name, content) in self.logs()? {
            if let Some(header) = &content.header
                && earlier != Earlier::Accept
                && let Some(what) = difference(header, &manifest.made_from)
            {
                return Err(Failure::bad_input(format_args!(
                    "{}: its runs are of something else: {what}.\n  \
                     --accept-changes counts them all the same",
                    self.path.join("tasks").join(name).display()
                )));
            }
            for record in content.records {
                finished.add(record)?;
            }
        }
        Ok(finished)
    }
}

/// Removes a folder, if there is one.
fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Finished runs, by key of the point and replication.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    runs: BTreeMap<String, BTreeMap<u32, Run>>,
}

impl Finished {
    /// Adds a run; the same run twice is one.
    pub fn add(&mut self, record: Record) -> Result<(), Failure> {
        if record.run.rows.iter().any(|row| row.values.len() != METRICS.len()) {
            return Err(Failure::bad_input(
                "a log has other columns than this version writes; --restart begins anew",
            ));
        }
        let runs = self.runs.entry(record.point).or_default();
        match runs.get(&record.replication) {
            Some(known) if *known != record.run => Err(Failure::Invariant(format!(
                "two runs of the same point and seed {} differ: {} and {}",
                known.seed, known.outcome, record.run.outcome
            ))),
            Some(_) => Ok(()),
            None => {
                runs.insert(record.replication, record.run);
                Ok(())
            }
        }
    }

    /// How many runs there are, those included that a stop rule does not count.
    pub fn simulated(&self) -> usize {
        self.runs.values().map(BTreeMap::len).sum()
    }

    /// Whether a run is there.
    pub fn has(&self, key: &str, replication: u32) -> bool {
        self.runs.get(key).is_some_and(|runs| runs.contains_key(&replication))
    }

    /// How many runs of a point count.
    pub fn count(&self, key: &str, rule: &Rule) -> u64 {
        let most = self.settled(key, rule).unwrap_or(u32::MAX);
        self.runs.get(key).map_or(0, |runs| runs.range(..=most).count() as u64)
    }

    /// How many runs a point needs: see [`Rule::settled`].
    pub fn settled(&self, key: &str, rule: &Rule) -> Result<u32, u32> {
        let none = BTreeMap::new();
        let runs = self.runs.get(key).unwrap_or(&none);
        let known: Vec<&Run> = (1..).map_while(|replication| runs.get(&replication)).collect();
        rule.settled(&known)
    }

    /// The runs that count, and the points that are not done.
    pub fn data(&self, manifest: &Manifest) -> (Data, Vec<u32>) {
        let (mut data, mut missing) = (Data::default(), Vec::new());
        for (index, point) in manifest.frame.points.iter().enumerate() {
            let Some(runs) = self.runs.get(&point.key) else {
                missing.push(index as u32);
                continue;
            };
            let settled = self.settled(&point.key, &manifest.rule);
            if settled.is_err() {
                missing.push(index as u32);
            }
            let count = settled.unwrap_or(u32::MAX);
            let counted = runs.iter().filter(|(replication, _)| **replication <= count);
            data.runs.extend(counted.map(|(replication, run)| ((index as u32, *replication), run.clone())));
        }
        (data, missing)
    }
}

/// What to say about a file that cannot be written.
pub(crate) fn cannot_write(path: &Path, error: &io::Error) -> String {
    let full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    );
    let room = if full { "make room, and " } else { "" };
    let hint = format!("finished runs are kept; {room}the same command goes on from there");
    format!("cannot write {}: {error}\n  {hint}", path.display())
}

/// What distinguishes two headers, in words.
fn difference(old: &Header, new: &Header) -> Option<String> {
    let mut found = Vec::new();
    if old.scenario != new.scenario {
        found.push("the scenario has changed".to_owned());
    }
    if old.seed != new.seed {
        found.push(format!("the seed was {} and is {}", old.seed, new.seed));
    }
    if old.riosim != new.riosim {
        found.push(format!("they are from riosim {}, this is {}", old.riosim, new.riosim));
    } else if old.reference != new.reference {
        found.push("this build of riosim gives other results than the one that made them".to_owned());
    }
    (!found.is_empty()).then(|| found.join(", "))
}
