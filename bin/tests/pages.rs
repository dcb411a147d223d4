//! The commands of the pages: those of pages that teach are run, in the order of their page, and print what
//! the page says; those of all other pages are commands that there are. No block of any page is left out.
//!
//! A block ` ```json FILE ` (or of another kind with a name behind it) is a file, ` ```json add:FILE ` adds
//! its fields to one, and of a block ` ```console ` each line `$ COMMAND` is run by a shell; what follows it
//! is what it prints. Each line of a block ` ```sh ` is a command, with words about it behind ` #`. The
//! scenarios and sweeps that come with the program are at hand. A line `<!-- picture FILE -->` says that the
//! picture of the next line is a file that the commands wrote. `BLESS=1` writes what is printed into the
//! page, and such pictures beside it.
#![cfg(unix)]
#![allow(missing_docs)]

use serde_json::{Map, Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A shell that is to run `line` in `folder`, with this build of the command, and programs of `more` before
/// others.
fn shell(folder: &Path, more: Option<&Path>, line: &str) -> Command {
    let built = Path::new(env!("CARGO_BIN_EXE_riosim")).parent().unwrap();
    let more = more.map(|more| format!("{}:", more.display())).unwrap_or_default();
    let path = format!("{more}{}:{}", built.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).env("PATH", path).stdin(Stdio::null());
    command
}

/// What a shell prints when it runs `line` in `folder`.
fn run(folder: &Path, line: &str) -> String {
    let output = shell(folder, None, line).stderr(Stdio::null()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.trim().is_empty(), "{line}: prints nothing");
    format!("{}\n", printed.trim_end())
}

/// A folder with the programs of Slurm that a page calls, as far as a submission goes: they take what they
/// are told, and know of no job. `slurm.rs` has a real cluster.
fn no_cluster() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (program, text) in [("sbatch", "echo 1"), ("squeue", ":"), ("scancel", ":")] {
        let path = folder.path().join(program);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Runs a block of Python, or of SQL by DuckDB, if `RIOSIM_PYTHON` names a Python that has pandas, polars and
/// duckdb.
fn analyse(folder: &Path, kind: &str, text: &str) {
    let Some(python) = std::env::var_os("RIOSIM_PYTHON") else { return };
    let program =
        if kind == "sql" { format!("import duckdb\nprint(duckdb.sql({text:?}))\n") } else { text.to_owned() };
    let ended = Command::new(python).args(["-c", &program]).current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && !ended.stdout.is_empty(), "{text}: {}: {said}", ended.status);
}

/// What a line of a block `sh` says to do: without words about it, and without cargo around this command.
fn command_of(line: &str) -> String {
    let command = line.split(" #").next().unwrap_or_default().trim();
    match command.strip_prefix("cargo run --release -- ") {
        Some(words) => format!("riosim {words}"),
        None => command.to_owned(),
    }
}

/// A page as it would be if every command were run now, and the pictures that it shows of what they wrote.
struct Rerun {
    page: String,
    pictures: Vec<(String, Vec<u8>)>,
}

/// Runs a page; `whole`: its blocks `sh`, too.
fn rerun(page: &str, whole: bool) -> Rerun {
    let (folder, slurm) = (tempfile::tempdir().unwrap(), no_cluster());
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
        if kind == "sh" {
            for line in &block {
                let command = command_of(line);
                if whole && command.starts_with("riosim ") {
                    let ended = shell(folder.path(), Some(slurm.path()), &command).output().unwrap();
                    let said = String::from_utf8_lossy(&ended.stderr);
                    assert!(ended.status.success(), "{command}: {}: {said}", ended.status);
                }
                out += &format!("{line}\n");
            }
        } else if kind == "python" || kind == "sql" {
            let text = block.join("\n") + "\n";
            analyse(folder.path(), kind, &text);
            out += &text;
        } else if kind == "console" {
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
            } else if let Some((_, file)) = kind.split_once(' ') {
                fs::write(folder.path().join(file), &text).unwrap();
            }
            out += &text;
        }
        out += "```\n";
    }
    Rerun { page: out, pictures }
}

/// Pages whose commands are run: those that teach (README, the tutorial and its neighbours, all how-to
/// pages), and some of the reference.
fn pages() -> Vec<PathBuf> {
    let docs = root().join("docs");
    let how_to = fs::read_dir(docs.join("how-to")).unwrap();
    let mut pages: Vec<PathBuf> = how_to.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages.extend(["concepts.md", "first-run.md", "tutorial.md"].map(|page| docs.join(page)));
    pages.extend(LOOKED_UP.map(|page| docs.join(page)));
    pages.push(root().join("README.md"));
    pages
}

/// Pages of the reference that show what commands print. Their blocks `sh` are lists of what there is, with
/// studies and sweeps that other tests run.
const LOOKED_UP: [&str; 4] = ["command.md", "goal.md", "reference/command-line.md", "trace.md"];

fn look_up(page: &Path) -> bool {
    LOOKED_UP.iter().any(|name| page.ends_with(Path::new("docs").join(name)))
}

#[test]
fn pages_that_teach_show_what_is_printed() {
    let mut old = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let Rerun { page: now, pictures } = rerun(&page, !look_up(&path));
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

/// All pages for readers: README and the book.
fn all_pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(end) if end == "md" => pages.push(path),
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

/// Blocks of a page: the line on which they begin, what stands behind the fence, and their lines.
fn blocks(page: &str) -> Vec<(usize, &str, Vec<&str>)> {
    let mut found = Vec::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(kind) = line.trim_start().strip_prefix("```") else { continue };
        let inside =
            lines.by_ref().map(|(_, line)| line).take_while(|line| !line.trim_start().starts_with("```"));
        found.push((number + 1, kind, inside.collect()));
    }
    found
}

/// Blocks that this file cannot run: page, kind, and who looks at them instead.
const ELSEWHERE: [(&str, &str, &str); 8] = [
    ("docs/errors.md", "text", "written by the test of bad cases of `scenarios`"),
    (
        "docs/how-to/results-as-tables.md",
        "python",
        "takes packages of Python: run where `RIOSIM_PYTHON` is set",
    ),
    ("docs/how-to/results-as-tables.md", "sql", "takes DuckDB: run where `RIOSIM_PYTHON` is set"),
    ("docs/scenarios.md", "json", "parts of scenarios: `parts_of_scenarios_are_right`"),
    ("docs/sessions.md", "json", "a flow: `flows_and_translators_of_pages_are_right`"),
    ("docs/transfer.md", "json", "a translator: `flows_and_translators_of_pages_are_right`"),
    ("docs/sweeps.md", "json", "a sweep of a scenario of the reader: `parts_of_scenarios_are_right`"),
    ("docs/sweeps.md", "yaml", "takes a cluster; its command: `commands_of_other_pages_are_commands`"),
];

/// A block that nobody runs is not on any page.
#[test]
fn no_block_is_left_out() {
    let (taught, mut used, mut wrong) = (pages(), [false; ELSEWHERE.len()], Vec::new());
    for path in all_pages() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        for (line, kind, inside) in blocks(&text) {
            let (run, at) = (taught.contains(&path), format!("{name}:{line}: a block ```{kind}"));
            if let Some(place) =
                ELSEWHERE.iter().position(|(page, other, _)| (*page, *other) == (&name, kind))
            {
                used[place] = true;
            } else if kind == "console" {
                let first = inside.first().is_some_and(|line| line.starts_with("$ "));
                if !run || !first {
                    wrong.push(format!("{at} on a page that is not run, or without a command"));
                }
            } else if kind.split_once(' ').is_some() {
                if !run {
                    wrong.push(format!("{at} is a file, on a page that is not run"));
                }
            } else if kind != "sh" {
                wrong.push(format!("{at}: nobody runs it, or knows what it is"));
            }
        }
    }
    wrong.extend(
        ELSEWHERE.iter().zip(used).filter(|(_, used)| !used).map(|(row, _)| format!("{row:?}: is not there")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is wrong with a command that is not run: an unknown verb or flag, a value that a flag cannot take, or
/// a file that there is not.
fn objection(folder: &Path, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().skip_while(|word| word.contains('=')).collect();
    let missing = |word: &&&str| {
        let word = word.trim_start_matches("lua_script:");
        let shipped = ["scenarios/", "sweeps/", "docs/"].iter().any(|folder| word.starts_with(folder));
        shipped && !word.contains("NAME") && !root().join(word).exists()
    };
    if let Some(word) = words.iter().find(missing) {
        return Some(format!("{command}: there is no {word}"));
    }
    match words[..] {
        // with --help a command looks at all its words, and does nothing
        ["riosim", ..] if command.ends_with("--help") || command == "riosim help" => None,
        ["riosim", ..] => {
            let ended = shell(folder, None, &format!("{command} --help")).output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            (!ended.status.success())
                .then(|| format!("{command}: {}", said.lines().next().unwrap_or_default()))
        }
        ["cargo", "test", ref rest @ ..] => test_objection(rest).map(|what| format!("{command}: {what}")),
        ["cargo", "run", .., "--", verb] => {
            let known = fs::read_to_string(root().join("xtask/src/main.rs")).unwrap();
            let xtask = words.windows(2).any(|pair| pair == ["-p", "xtask"]);
            (!xtask || !known.contains(&format!("\"{verb}\""))).then(|| format!("{command}: no such check"))
        }
        ["tshark", ..] => None,
        _ => Some(format!("{command}: nobody knows this program")),
    }
}

/// What a `cargo test` names that there is not: a package, one of its tests, or a function in them.
fn test_objection(words: &[&str]) -> Option<String> {
    let crates =
        ["analysis", "bin", "models", "scenarios/compiler", "sim-core", "xtask"].map(|at| root().join(at));
    let protocols = fs::read_dir(root().join("protocols")).unwrap().map(|entry| entry.unwrap().path());
    let named = |name: &str| {
        let line = format!("name = \"{name}\"");
        let is =
            |at: &PathBuf| fs::read_to_string(at.join("Cargo.toml")).is_ok_and(|text| text.contains(&line));
        crates.iter().cloned().chain(protocols).find(is)
    };
    let Some(at) = words.iter().position(|word| *word == "-p") else {
        return (!words.is_empty()).then(|| "it names no package".into());
    };
    let Some(folder) = words.get(at + 1).copied().and_then(named) else {
        return Some("no such package".into());
    };
    let mut rest = words[at + 2..].iter();
    while let Some(word) = rest.next() {
        match *word {
            "--lib" => {}
            "--test" => {
                let name = rest.next()?;
                let file = folder.join("tests").join(format!("{name}.rs"));
                if !file.exists() && !folder.join("tests").join(name).is_dir() {
                    return Some(format!("no test {name}"));
                }
            }
            part => {
                let any = |path: &PathBuf| {
                    fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {part}")))
                };
                if !sources(&folder.join("tests")).iter().any(any) {
                    return Some(format!("no test has {part} in its name"));
                }
            }
        }
    }
    None
}

/// Files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

/// Commands of pages that do not teach, and those in sentences of all pages, are commands that there are.
#[test]
fn commands_of_other_pages_are_commands() {
    let (folder, mut wrong, mut looked_at) = (tempfile::tempdir().unwrap(), Vec::new(), 0);
    for path in all_pages() {
        let text = fs::read_to_string(&path).unwrap();
        let all = blocks(&text);
        let mut commands: Vec<String> = all
            .iter()
            .filter(|(_, kind, _)| *kind == "sh")
            .flat_map(|(.., lines)| lines)
            .map(|line| command_of(line))
            .collect();
        // a job of Kubernetes has its command in quotes, with a number that the cluster fills in
        let quoted = all.iter().filter(|(_, kind, _)| *kind == "yaml").flat_map(|(.., lines)| lines);
        commands.extend(quoted.filter_map(|line| {
            let (_, command) = line.split_once("exec ")?;
            Some(command.split('"').next()?.replace("$JOB_COMPLETION_INDEX", "0"))
        }));
        let mut code = false;
        let prose: Vec<&str> = text
            .lines()
            .filter(|line| {
                let fence = line.trim_start().starts_with("```");
                code ^= fence;
                !code && !fence
            })
            .collect();
        for paragraph in prose.split(|line| line.is_empty()) {
            let paragraph = paragraph.join(" ");
            let spans = paragraph.split('`').skip(1).step_by(2);
            commands.extend(
                spans.filter(|span| span.starts_with("riosim ")).map(|span| span.replace(" VERB", "")),
            );
        }
        for command in commands.iter().filter(|command| !command.is_empty()) {
            looked_at += 1;
            wrong.extend(objection(folder.path(), command).map(|what| format!("{}: {what}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(looked_at > 100, "{looked_at} commands: does it still find them?");
}

/// The glossary has thirty terms and more, each once, in the order of the alphabet.
#[test]
fn the_glossary_is_in_order() {
    let page = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let terms: Vec<String> = rows.skip(1).map(str::to_lowercase).collect();
    assert!(terms.len() >= 30, "{}", terms.len());
    let pair = terms.windows(2).find(|pair| pair[0] >= pair[1]);
    assert!(pair.is_none(), "{pair:?}");
}

/// A scenario of a fat tree, or of one switch, with what parts of scenarios on pages speak of.
fn around(topology: &Value) -> Map<String, Value> {
    let arrivals = json!({"poisson": {"load": 0.1}});
    let flow = |name: &str| json!({"name": name, "from": "ep/00", "to": "ep/01", "arrivals": arrivals});
    let whole = json!({
        "name": "switch", "topology": topology, "voq": {"enabled": true},
        "run": {"until": "300 us", "warmup": "0 ps"},
        "traffic": [flow("control"), flow("video/1"), flow("video/spare")],
        "parameters": {"load": "/traffic/control/arrivals/poisson/load"}
    });
    whole.as_object().unwrap().clone()
}

/// What the pages of protocols show is taken by the command in a small system: a flow of processors beside
/// conduits, and a translator between RapidIO and Ethernet.
#[test]
fn flows_and_translators_of_pages_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let parts = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(root().join("docs").join(name)).unwrap();
        let parts = blocks(&text).into_iter().filter(|(_, kind, _)| *kind == "json");
        parts.map(|(.., lines)| lines.join("\n")).collect()
    };
    let conduits = json!({"name": "conduits", "from": "ep/0", "to": "ep/1", "session": {}});
    let flows = parts("sessions.md").into_iter().map(|part| {
        let flow: Value = serde_json::from_str(&part).unwrap();
        json!({
            "topology": {"single_switch": {"ports": 5}}, "configure": {"fabric": {"host": "ep/4"}},
            "endpoint": {"session": {"contact": "registers", "writes": ["contact"]}},
            "traffic": [conduits, flow]
        })
    });
    let devices = json!([
        {"name": "a", "ports": 2}, {"name": "b", "ports": 2}, {"name": "end/0"}, {"name": "end/1"},
        {"name": "T1/rapidio"}, {"name": "T1/ethernet"}
    ]);
    let ethernet = json!({"medium": "ethernet"});
    let links = json!([
        {"a": "a:0", "b": "end/0"}, {"a": "a:1", "b": "T1/rapidio"},
        {"a": "b:0", "b": "T1/ethernet", "set": ethernet}, {"a": "b:1", "b": "end/1", "set": ethernet}
    ]);
    let translators = parts("transfer.md").into_iter().map(|part| {
        let mut part: Map<String, Value> = serde_json::from_str(&format!("{{{part}}}")).unwrap();
        part.insert("topology".into(), json!({"explicit": {"devices": devices, "links": links}}));
        let transfers = json!({"bytes": 4096, "count": 1});
        part.insert(
            "traffic".into(),
            json!([{"name": "write", "from": "end/0", "to": "end/1", "st": transfers}]),
        );
        Value::from(part)
    });
    let all: Vec<Value> = flows.chain(translators).collect();
    assert!(all.len() >= 2, "{all:?}");
    for mut whole in all {
        whole["name"] = "part".into();
        whole["run"] = json!({"until": "300 us", "warmup": "0 ps"});
        fs::write(folder.path().join("part.json"), whole.to_string()).unwrap();
        let ended = shell(folder.path(), None, "riosim check part.json").output().unwrap();
        assert!(ended.status.success(), "{whole}\n{}", String::from_utf8_lossy(&ended.stderr));
    }
}

/// What pages show of a scenario is taken by the command as a part of one, and what they show of a sweep is a
/// sweep.
#[test]
fn parts_of_scenarios_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let page = |name: &str| fs::read_to_string(root().join("docs").join(name)).unwrap();
    let systems =
        [json!({"fat_tree": {"ports": 8, "endpoints": 16}}), json!({"single_switch": {"ports": 16}})]
            .map(|t| around(&t));
    let says = |command: &str| {
        let ended = shell(folder.path(), None, command).output().unwrap();
        (!ended.status.success()).then(|| String::from_utf8_lossy(&ended.stderr).into_owned())
    };
    let text = page("scenarios.md");
    let parts: Vec<String> = blocks(&text)
        .into_iter()
        .filter(|(_, kind, _)| *kind == "json")
        .map(|(.., lines)| lines.join("\n"))
        .collect();
    assert!(parts.len() >= 3, "{parts:?}");
    for part in parts {
        let part: Map<String, Value> = serde_json::from_str(&format!("{{{part}}}")).unwrap();
        let mut objections = Vec::new();
        for system in &systems {
            let mut whole = system.clone();
            for (key, value) in part.clone() {
                match key.as_str() {
                    "writes" => drop(whole["voq"].as_object_mut().unwrap().insert(key, value)),
                    _ => drop(whole.insert(key, value)),
                }
            }
            fs::write(folder.path().join("part.json"), Value::from(whole).to_string()).unwrap();
            objections.extend(says("riosim check part.json"));
        }
        assert!(objections.len() < systems.len(), "{part:?}\n{}", objections.join("\n"));
    }
    fs::write(folder.path().join("switch.json"), Value::from(systems[1].clone()).to_string()).unwrap();
    for (.., lines) in blocks(&page("sweeps.md")).into_iter().filter(|(_, kind, _)| *kind == "json") {
        fs::write(folder.path().join("sweep.json"), lines.join("\n")).unwrap();
        assert_eq!(says("riosim sweep sweep.json --dry-run"), None);
    }
}
