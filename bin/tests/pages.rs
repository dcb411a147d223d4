//! The commands of the pages that teach: each is run, in the order of its page, and prints what the page
//! says.
//!
//! On such a page a block ` ```json FILE ` is a file, ` ```json add:FILE ` adds its fields to one, and of
//! a block ` ```console ` each line `$ COMMAND` is run by a shell; what follows it is what it prints.
//! `BLESS=1` writes what is printed into the page.
#![cfg(unix)]
#![allow(missing_docs)]

use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What a shell prints when it runs `line` in `folder`, with this build of the command.
fn run(folder: &Path, line: &str) -> String {
    let built = Path::new(env!("CARGO_BIN_EXE_riosim")).parent().unwrap();
    let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.trim().is_empty(), "{line}: prints nothing");
    format!("{}\n", printed.trim_end())
}

/// The page as it would be if every command were run now.
fn rerun(page: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut out = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        if kind == "console" {
            for command in block.iter().filter_map(|line| line.strip_prefix("$ ")) {
                out += &format!("$ {command}\n{}", run(folder.path(), command));
            }
        } else {
            let text = block.join("\n") + "\n";
            if let Some(file) = kind.strip_prefix("json add:") {
                let path = folder.path().join(file);
                let mut whole: Map<String, Value> =
                    serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
                let more: Map<String, Value> = serde_json::from_str(&text).unwrap();
                whole.extend(more);
                fs::write(path, serde_json::to_string_pretty(&whole).unwrap()).unwrap();
            } else if let Some(file) = kind.strip_prefix("json ") {
                fs::write(folder.path().join(file), &text).unwrap();
            }
            out += &text;
        }
        out += "```\n";
    }
    out
}

/// Pages that teach: these, and all how-to pages.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let how_to = fs::read_dir(docs.join("how-to")).unwrap();
    let mut pages: Vec<PathBuf> = how_to.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages.extend([docs.join("concepts.md"), docs.join("tutorial.md")]);
    pages
}

#[test]
fn pages_that_teach_show_what_is_printed() {
    let mut old = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let now = rerun(&page);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, now).unwrap();
        } else if page != now {
            let differs = page.lines().zip(now.lines()).find(|(old, new)| old != new);
            old.push(format!("{}: first difference: {differs:?}", path.display()));
        }
    }
    assert!(old.is_empty(), "BLESS=1 writes these pages anew:\n{}", old.join("\n"));
}
