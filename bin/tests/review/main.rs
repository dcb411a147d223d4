//! What a design review is given: requirements with their verdicts, and a page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod browser;
mod examples;
mod frames;
mod page;
mod require;

/// A place for one test.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, value: &serde_json::Value) {
        fs::write(self.at(name), value.to_string()).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
        command.args(words).current_dir::<&Path>(self.folder.path()).stdin(Stdio::null());
        command.output().unwrap()
    }

    /// Runs and expects this exit status; gives standard output and standard error back.
    fn ends(&self, words: &[&str], status: i32) -> (String, String) {
        let output = self.run(words);
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("output is UTF-8");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{words:?}: {out}\n{err}");
        (out, err)
    }
}

/// Two endpoints send to one at 0.3 each; a variant doubles that.
fn scenario() -> serde_json::Value {
    serde_json::json!({
        "name": "small",
        "title": "A small system",
        "description": "Do packets of control come in time?",
        "run": {"until": "100 us", "warmup": "10 us", "sample_every": "1 us"},
        "topology": {"single_switch": {"ports": 4}},
        "traffic": [
            {"name": "control", "from": "ep/0", "to": "ep/2", "priority": 1,
             "arrivals": {"poisson": {"load": 0.3}}},
            {"name": "bulk", "from": "ep/1", "to": "ep/2",
             "arrivals": {"constant": {"load": 0.3, "phase": "0 ps"}}}
        ],
        "variants": [
            {"name": "half", "set": {}},
            {"name": "full", "set": {"/traffic/bulk/arrivals/constant/load": 0.6}}
        ]
    })
}
