//! `sweep status`: how far a sweep is, from its folder alone.

use super::folder::{Earlier, FILES, Folder};
use super::merge::{aligned, stop_rule};
use super::slurm;
use crate::console::print;
use crate::status::Failure;
use analysis::num::{count_text, counted_text};
use std::path::Path;

/// Tasks that are listed.
const LISTED: usize = 64;

/// Prints how far the sweep in this folder is.
pub(crate) fn status(path: &Path) -> Result<(), Failure> {
    let folder = Folder::at(path);
    let manifest = folder.manifest()?;
    let finished = folder.finished(&manifest, Earlier::Accept)?;
    let (data, missing) = finished.data(&manifest);
    let all = manifest.frame.points.len();
    let settled = all - missing.len();
    let percent = (settled * 100).checked_div(all).unwrap_or(100);
    let (runs, counted) = (finished.simulated(), data.runs.len());
    let beyond = match counted < runs {
        true => format!(", of which {} count", count_text(counted as u64)),
        false => String::new(),
    };
    let mut text = format!(
        "{}: {settled} of {all} points are finished ({percent} %); {} simulated so far{beyond}\n",
        manifest.frame.title,
        counted_text(runs as u64, "runs")
    );
    text += &stop_rule(&manifest, &data);
    let mut logs = folder.logs()?;
    // 2 comes before 10
    logs.sort_by_key(|(name, _)| (name.len(), name.clone()));
    if logs.len() > 1 {
        let mut rows = vec![["task", "finished runs", "time they took"].map(String::from).to_vec()];
        for (name, content) in logs.iter().take(LISTED) {
            let wall: u64 = content.records.iter().map(|record| record.wall_us).sum();
            rows.push(vec![
                name.trim_end_matches(".log").replace("-of-", "/"),
                content.records.len().to_string(),
                crate::progress::seconds_text(wall as f64 / 1e6),
            ]);
        }
        text += &format!("\n{}", aligned(&rows));
        text += "  task 0/8 is the first of eight; the time is that of all its threads together\n";
        if logs.len() > LISTED {
            text += &format!("  ... and {}\n", counted_text((logs.len() - LISTED) as u64, "more tasks"));
        }
    }
    if let Some(state) = slurm::state(&folder) {
        text += &format!("\n{state}");
    }
    let changed = logs
        .iter()
        .filter(|(_, content)| content.header.as_ref().is_some_and(|header| *header != manifest.made_from));
    let changed = changed.count();
    if changed > 0 {
        let logs = counted_text(changed as u64, "logs of tasks");
        text += &format!("\nWritten by another version of scenario or program: {logs}\n");
    }
    if missing.is_empty() && folder.path().join(FILES[1]).is_file() {
        text += &format!("\nresults in {}\n", folder.path().join("").display());
    }
    print(&text)
}
