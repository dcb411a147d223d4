//! Checks of the workspace itself: `cargo run -q -p xtask -- COMMAND`.
//!
//! Each prints what it found, with the place and the reason, and exits with 1 if that is not nothing.

mod book;
mod coverage;
mod edges;
mod figures;
mod licences;
mod mask;
mod ran;
mod requirements;
mod rooms;
mod tidy;

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo run -q -p xtask -- COMMAND

book        pages of docs that the book (docs/SUMMARY.md) does not have, and links of pages that lead nowhere
edges       dependencies between the crates of the workspace, what the lower ones must not depend on, and the
            direction of the rooms of a crate
figures     writes the figures of the pages for readers anew; --check only says which are stale, or by hand
licences    licences of everything that is linked
requirements
            writes REQUIREMENTS.md of the protocols anew, with the tests that prove each requirement, and
            docs/coverage.md, with where each is shown; --check only says which are stale. Ids that lead
            nowhere, what must be proven and is not, and what is shown in no fabric for no reason
tidy        rules about the text of tracked files
tests LOG   whether the tests of every default member ran, from what `cargo test` printed (both streams); - is
            standard input";

/// What a check found: findings, and a line to say when there are none.
type Checked = Result<(Vec<String>, String), String>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let checked = match words[..] {
        ["book"] => book::check(&root()),
        ["edges"] => edges(),
        ["figures"] => figures::check(&root(), true),
        ["figures", "--check"] => figures::check(&root(), false),
        ["licences"] => metadata(&["--locked"]).and_then(|metadata| licences::check(&metadata)),
        ["requirements"] => requirements::check(&root(), true),
        ["requirements", "--check"] => requirements::check(&root(), false),
        ["tidy"] => tidy::check(&root()),
        ["tests", log] => {
            let text = if log == "-" {
                std::io::read_to_string(std::io::stdin())
            } else {
                std::fs::read_to_string(log)
            };
            text.map_err(|error| format!("{log}: {error}"))
                .and_then(|text| ran::check(&metadata(&["--no-deps"])?, &text))
        }
        _ => Err(USAGE.into()),
    };
    match checked {
        Ok((found, summary)) if found.is_empty() => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Ok((found, _)) => {
            found.iter().for_each(|line| eprintln!("{line}"));
            let plural = if found.len() == 1 { "" } else { "s" };
            eprintln!("xtask {}: {} finding{plural}", words[0], found.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// Between crates, and between the rooms of a crate.
fn edges() -> Checked {
    let (mut found, crates) = edges::check(&metadata(&["--no-deps"])?)?;
    let (more, rooms) = rooms::check(&root())?;
    found.extend(more);
    Ok((found, format!("{crates}\n{rooms}")))
}

/// Names of the files below `root` that git tracks and one of `patterns` matches; all, if there are none.
fn tracked(root: &Path, patterns: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .args(patterns)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    Ok(names.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect())
}

/// The folder of the workspace, as cargo says it now: the program may have been built elsewhere.
fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&own).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn metadata(flags: &[&str]) -> Result<Value, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1"])
        .args(flags)
        .current_dir(root())
        .output()
        .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}

/// A list of `value`, empty if there is none.
fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    value[key].as_array().into_iter().flatten()
}

/// A text of `value`, empty if there is none.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}
