//! Messages that are kept beside the files that they are about.

use std::fs;
use std::path::{Path, PathBuf};

/// Compares messages with those kept in a folder; with `BLESS` in the environment they are written instead.
pub struct Messages {
    folder: PathBuf,
    bless: bool,
    changed: Vec<String>,
}

impl Messages {
    pub fn of(folder: &Path) -> Messages {
        let bless = std::env::var_os("BLESS").is_some();
        Messages { folder: folder.to_path_buf(), bless, changed: Vec::new() }
    }

    /// Names of the `.json` files of the folder, in order.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(&self.folder)
            .expect("the folder exists")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".json"))
            .collect();
        names.sort();
        names
    }

    /// What was `found` in the file `name`, which ends in `.json`.
    pub fn compare(&mut self, name: &str, found: &str) {
        let golden = self.folder.join(name.replace(".json", ".txt"));
        if self.bless {
            fs::write(&golden, found).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != found {
            self.changed.push(format!("{name}:\n{found}"));
        }
    }

    pub fn assert_unchanged(&self) {
        let (count, texts) = (self.changed.len(), self.changed.join("\n"));
        assert!(count == 0, "{count} messages changed (BLESS=1 accepts them):\n{texts}");
    }
}
