//! The command as a user runs it, without figures, and what it says that it took.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// `perf.json` of a run of this scenario, one variant after the other, on so many threads each.
pub fn perf(scenario: &Path, threads: u32) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
    command.arg(scenario).args(["--threads", &threads.to_string(), "--jobs", "1", "--no-figures", "--quiet"]);
    command.arg("--out").arg(home.path().join("out"));
    assert!(command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success());
    let text = std::fs::read_to_string(home.path().join("out/perf.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The one in the middle.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
