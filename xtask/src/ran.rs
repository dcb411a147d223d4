//! Whether `cargo test` ran the tests of every default member: a crate that falls out of the list, or a test
//! file that is no longer built, fails here instead of passing in silence.

use crate::{Checked, list, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What one test program said at its end.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
    filtered: u64,
}

/// (package, target): counts. The target is `unit`, `doc` or the name of an integration test.
type Ran = BTreeMap<(String, String), Counts>;

/// Checks the log against what `cargo metadata --no-deps` says.
pub(crate) fn check(metadata: &Value, log: &str) -> Checked {
    let members = members(metadata, &|root, wanted| any_source(Path::new(root), wanted));
    let ran = parse(log, &members)?;
    let found = compare(&members, &ran);
    let tests: u64 = ran.values().map(|counts| counts.passed).sum();
    let mut summary = String::new();
    for member in &members {
        let parts = ran.iter().filter(|((package, _), _)| *package == member.name);
        let parts: Vec<String> = parts.map(|((_, part), n)| format!("{part} {}", n.passed)).collect();
        summary += &format!("{}: {}\n", member.name, parts.join(", "));
    }
    summary += &format!("tests: {tests} passed in {} crates", members.len());
    Ok((found, summary))
}

/// A default member and the tests that it should have.
struct Member {
    name: String,
    /// Names of libraries and programs as the log has them.
    units: BTreeSet<String>,
    /// Whether its sources hold tests: a crate may prove everything from outside.
    unit: bool,
    integration: BTreeSet<String>,
    /// Some: it has a library; true: with examples in its documentation that are tests.
    doc: Option<bool>,
}

/// Whether a source below a folder is as the function asks.
type Sources<'a> = dyn Fn(&str, fn(&str) -> bool) -> bool + 'a;

fn members(metadata: &Value, sources: &Sources<'_>) -> Vec<Member> {
    let default: BTreeSet<&str> =
        list(metadata, "workspace_default_members").filter_map(Value::as_str).collect();
    let mut members = Vec::new();
    for package in list(metadata, "packages").filter(|package| default.contains(text(package, "id"))) {
        let name = text(package, "name").to_owned();
        let mut member =
            Member { name, units: BTreeSet::new(), unit: false, integration: BTreeSet::new(), doc: None };
        for target in list(package, "targets") {
            let kinds: Vec<&str> = list(target, "kind").filter_map(Value::as_str).collect();
            let tested = target["test"].as_bool() == Some(true);
            let name = text(target, "name").replace('-', "_");
            let source = Path::new(text(target, "src_path"));
            let folder = source.parent().and_then(Path::to_str).unwrap_or_default();
            if tested && (kinds.contains(&"lib") || kinds.contains(&"bin")) {
                member.units.insert(name);
                member.unit |= sources(folder, unit_test_in);
            } else if tested && kinds.contains(&"test") {
                member.integration.insert(name);
            }
            if target["doctest"].as_bool() == Some(true) {
                member.doc = Some(sources(folder, example_in));
            }
        }
        members.push(member);
    }
    members
}

/// Whether a Rust source below `folder` is as `wanted` asks.
fn any_source(folder: &Path, wanted: fn(&str) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return any_source(&path, wanted);
        }
        let rust = path.extension().is_some_and(|extension| extension == "rs");
        rust && fs::read_to_string(&path).is_ok_and(|text| wanted(&text))
    })
}

fn unit_test_in(text: &str) -> bool {
    text.lines().any(|line| line.trim_start() == "#[test]")
}

/// Whether there is an example that `cargo test` runs.
fn example_in(text: &str) -> bool {
    let mut open = false;
    for line in text.lines().map(str::trim_start) {
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        let Some(words) = doc.trim().strip_prefix("```") else { continue };
        let rust = words.split(',').all(|word| {
            let word = word.trim();
            matches!(word, "" | "rust" | "should_panic" | "no_run" | "compile_fail")
                || word.starts_with("edition")
        });
        if !open && rust {
            return true;
        }
        open = !open;
    }
    false
}

/// Reads the log: which program ran, and what it said at its end.
fn parse(log: &str, members: &[Member]) -> Result<Ran, String> {
    let mut ran = Ran::new();
    let mut package: Option<&Member> = None;
    let mut current: Option<(String, String)> = None;
    for line in log.lines() {
        let line = plain(line);
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["Running", "unittests", _, program] => {
                let name = program_name(program);
                package = members.iter().find(|member| member.units.contains(name));
                current = package.map(|member| (member.name.clone(), "unit".into()));
            }
            ["Running", path, program] if path.contains("tests/") || path.contains("tests\\") => {
                // programs of integration tests follow the unit tests of their package
                let name = program_name(program).to_owned();
                current = package.map(|member| (member.name.clone(), name));
            }
            ["Doc-tests", name] => {
                let own = |member: &&Member| member.units.contains(&name.replace('-', "_"));
                current = members.iter().find(own).map(|member| (member.name.clone(), "doc".into()));
            }
            ["test", "result:", ..] => {
                let counts = counts(&line).ok_or_else(|| format!("cannot read {line:?}"))?;
                if let Some(current) = &current {
                    // documentation tests may come in several groups
                    let all = ran.entry(current.clone()).or_default();
                    all.passed += counts.passed;
                    all.failed += counts.failed;
                    all.ignored += counts.ignored;
                    all.filtered += counts.filtered;
                }
            }
            _ => {}
        }
    }
    Ok(ran)
}

/// A line without colours.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(c);
        }
    }
    out
}

/// `(target/debug/deps/sim_core-0123456789abcdef)` to `sim_core`.
fn program_name(program: &str) -> &str {
    let file = program.trim_matches(['(', ')', '`']).rsplit(['/', '\\']).next().unwrap_or_default();
    file.rsplit_once('-').map_or(file, |(name, _)| name)
}

fn counts(line: &str) -> Option<Counts> {
    let number = |what: &str| -> Option<u64> {
        let (before, _) = line.split_once(what)?;
        before.split_whitespace().last()?.parse().ok()
    };
    Some(Counts {
        passed: number(" passed")?,
        failed: number(" failed")?,
        ignored: number(" ignored")?,
        filtered: number(" filtered out")?,
    })
}

fn compare(members: &[Member], ran: &Ran) -> Vec<String> {
    let mut found = Vec::new();
    if members.is_empty() {
        found.push("the workspace has no default members".into());
    }
    for member in members {
        let mut expected: Vec<(&str, bool)> = Vec::new();
        if !member.units.is_empty() {
            expected.push(("unit", member.unit));
        }
        expected.extend(member.integration.iter().map(|name| (name.as_str(), true)));
        expected.extend(member.doc.map(|some| ("doc", some)));
        for (part, some) in expected {
            let name = &member.name;
            match ran.get(&(name.clone(), part.to_owned())) {
                None => found.push(format!("{name}: the {part} tests did not run")),
                Some(counts) if some && counts.passed == 0 => {
                    found.push(format!("{name}: not one of the {part} tests ran"));
                }
                Some(_) => {}
            }
        }
    }
    for ((name, part), counts) in ran {
        for (n, what) in
            [(counts.failed, "failed"), (counts.ignored, "were ignored"), (counts.filtered, "were left out")]
        {
            if n > 0 {
                found.push(format!("{name}: {n} of the {part} tests {what}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LOG: &str = "\
   Compiling sim-core v0.1.0
     Running unittests src/main.rs (target/debug/deps/riosim-00aa)
running 2 tests
test a ... ok
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/command.rs (target/debug/deps/command-00bb)
test result: ok. 7 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
\u{1b}[1m\u{1b}[92m     Running\u{1b}[0m unittests src/lib.rs (target/debug/deps/sim_core-00cc)
test result: \u{1b}[32mok\u{1b}[0m. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out
     Running tests/command.rs (target/debug/deps/command-00dd)
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
   Doc-tests sim_core
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
";

    fn workspace() -> Vec<Member> {
        let target = |kind: &str, name: &str| {
            json!({"kind": [kind], "name": name, "test": kind != "bench", "doctest": kind == "lib",
                "src_path": "/ws/src/lib.rs"})
        };
        let metadata = json!({
            "workspace_default_members": ["bin", "core"],
            "packages": [
                {"id": "bin", "name": "riosim",
                 "targets": [target("bin", "riosim"), target("test", "command")]},
                {"id": "core", "name": "sim-core",
                 "targets": [target("lib", "sim_core"), target("test", "command"), target("bench", "b")]},
                {"id": "xtask", "name": "xtask", "targets": [target("bin", "xtask")]},
            ],
        });
        members(&metadata, &|_, _| true)
    }

    fn findings(log: &str) -> Vec<String> {
        let members = workspace();
        let ran = parse(log, &members).unwrap();
        compare(&members, &ran)
    }

    #[test]
    fn a_whole_run_is_fine() {
        assert_eq!(findings(LOG), [""; 0]);
        let ran = parse(LOG, &workspace()).unwrap();
        assert_eq!(ran[&("sim-core".into(), "command".into())].passed, 3);
        assert_eq!(ran.len(), 5);
    }

    #[test]
    fn what_is_missing_is_found() {
        let without = |from: &str, to: &str| {
            let (before, rest) = LOG.split_once(from).unwrap();
            format!("{before}{}", rest.split_once(to).map_or("", |(_, after)| after))
        };
        assert_eq!(findings("").len(), 5);
        assert_eq!(findings(&without("   Doc-tests", "end")), ["sim-core: the doc tests did not run"]);
        let gone = without("     Running tests/command.rs (target/debug/deps/command-00bb)", "0.00s\n");
        assert_eq!(findings(&gone), ["riosim: the command tests did not run"]);
        let none = LOG.replace("5 passed", "0 passed");
        assert_eq!(findings(&none), ["sim-core: not one of the unit tests ran"]);
        let failed = LOG.replace("7 passed; 0 failed; 0 ignored", "5 passed; 1 failed; 1 ignored");
        assert_eq!(findings(&failed).len(), 2);
        let part = LOG.replacen("0 filtered", "9 filtered", 1);
        assert_eq!(findings(&part), ["riosim: 9 of the unit tests were left out"]);
        assert!(parse("test result: nonsense", &workspace()).is_err());
    }

    #[test]
    fn examples_are_told_from_pictures() {
        assert!(example_in("//! ```\n//! let a = 1;\n//! ```"));
        assert!(example_in("/// ```text\n/// x\n/// ```\n/// ```no_run\n/// ```"));
        assert!(!example_in("/// ```text\n/// x\n/// ```\n// ```\n"));
    }

    #[test]
    fn a_crate_may_be_tested_from_outside_alone() {
        assert!(unit_test_in("mod tests {\n    #[test]\n    fn a() {}\n}"));
        assert!(!unit_test_in("//! A `#[test]` is elsewhere.\n"));
        let mut members = workspace();
        let log = LOG.replace("5 passed", "0 passed");
        members[1].unit = false;
        assert_eq!(compare(&members, &parse(&log, &members).unwrap()), [""; 0]);
    }
}
