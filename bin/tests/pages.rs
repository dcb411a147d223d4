//! The commands of the pages that teach: each is run, in the order of its page, and prints what the page
//! says.
//!
//! On such a page a block ` ```json FILE ` is a file, ` ```json add:FILE ` adds its fields to one, and of
//! a block ` ```console ` each line `$ COMMAND` is run by a shell; what follows it is what it prints. The
//! scenarios and sweeps that come with the program are at hand. A line `<!-- picture FILE -->` says that the
//! picture of the next line is a file that the commands wrote. `BLESS=1` writes what is printed into the
//! page, and such pictures beside it.
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

/// A page as it would be if every command were run now, and the pictures that it shows of what they wrote.
struct Rerun {
    page: String,
    pictures: Vec<(String, Vec<u8>)>,
}

fn rerun(page: &str) -> Rerun {
    let folder = tempfile::tempdir().unwrap();
    for shipped in ["scenarios", "sweeps"] {
        std::os::unix::fs::symlink(root().join(shipped), folder.path().join(shipped)).unwrap();
    }
    let (mut out, mut pictures) = (String::new(), Vec::new());
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        out += &format!("{line}\n");
        if let Some(file) = line.strip_prefix("<!-- picture ").and_then(|rest| rest.strip_suffix(" -->")) {
            let shown = lines.next().unwrap_or_default();
            out += &format!("{shown}\n");
            let (_, name) = shown.trim_end_matches(')').split_once("](").expect("a picture");
            pictures.push((name.to_owned(), fs::read(folder.path().join(file)).unwrap()));
            continue;
        }
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
    Rerun { page: out, pictures }
}

/// Pages that teach: these, and all how-to pages.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let how_to = fs::read_dir(docs.join("how-to")).unwrap();
    let mut pages: Vec<PathBuf> = how_to.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    let others = ["concepts.md", "first-run.md", "reference/command-line.md", "tutorial.md"];
    pages.extend(others.map(|page| docs.join(page)));
    pages
}

#[test]
fn pages_that_teach_show_what_is_printed() {
    let mut old = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let Rerun { page: now, pictures } = rerun(&page);
        let pictures = pictures.into_iter().map(|(name, drawn)| (path.with_file_name(name), drawn));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, now).unwrap();
            pictures.for_each(|(picture, drawn)| fs::write(picture, drawn).unwrap());
            continue;
        }
        if page != now {
            let differs = page.lines().zip(now.lines()).find(|(old, new)| old != new);
            old.push(format!("{}: first difference: {differs:?}", path.display()));
        }
        let stale = pictures.filter(|(picture, drawn)| fs::read(picture).ok().as_ref() != Some(drawn));
        old.extend(stale.map(|(picture, _)| format!("{}: is drawn otherwise", picture.display())));
    }
    assert!(old.is_empty(), "BLESS=1 writes these pages anew:\n{}", old.join("\n"));
}

/// Commands of a page: lines `$ COMMAND` of its blocks.
fn commands(page: &str) -> usize {
    let blocks =
        page.split("\n```console\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default());
    blocks.flat_map(str::lines).filter(|line| line.starts_with("$ ")).count()
}

/// The table of tasks says how many commands each takes, on a page that is run.
#[test]
fn ten_tasks_have_their_page_and_number_of_commands() {
    let folder = root().join("docs/how-to");
    let table = fs::read_to_string(folder.join("README.md")).unwrap();
    let rows = table.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [_, page, told] = cells[..] else { return None };
        let (_, page) = page.trim_end_matches(')').split_once("](")?;
        Some((page.to_owned(), told.parse::<usize>().unwrap()))
    });
    let mut tasks = 0;
    for (page, told) in rows {
        let found = commands(&fs::read_to_string(folder.join(&page)).unwrap());
        assert_eq!((found, found > 0), (told, true), "{page}");
        tasks += 1;
    }
    assert_eq!(tasks, 10);
}
