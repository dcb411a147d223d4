//! Rules about the text of tracked files. Each says why it is there, and each exception says why it is one.

use crate::mask::{code, is_word, without_tests};
use crate::{Checked, list, tracked};
use std::fs;
use std::path::Path;

/// What of a file a rule looks at.
#[derive(Copy, Clone, PartialEq, Eq)]
enum View {
    /// All of it.
    Text,
    /// Rust without comments and strings.
    Code,
    /// Rust without comments, strings and modules of unit tests.
    Product,
}

/// What a rule forbids in a line.
#[derive(Copy, Clone)]
enum Pattern {
    /// A word of its own.
    Word(&'static str),
    /// This text, not in the middle of a word.
    Start(&'static str),
    /// An absolute path into this folder.
    Path(&'static str),
    /// A word that ends in f32 or f64, or a literal with a point.
    Float,
    /// More characters than this.
    Longer(usize),
}

struct Rule {
    name: &'static str,
    reason: &'static str,
    view: View,
    scope: fn(&str) -> bool,
    patterns: &'static [Pattern],
    /// (path or beginning of one, reason).
    exceptions: &'static [(&'static str, &'static str)],
}

use Pattern::{Longer, Path as InFolder, Start, Word};

const WIDTH: usize = 110;

const RULES: &[Rule] = &[
    Rule {
        name: "protocol-clock",
        reason: "protocol crates are sans-IO: time is an argument",
        view: View::Code,
        scope: |path| rust(path) && path.starts_with("protocols/"),
        patterns: &[Start("std::time"), Start("core::time"), Word("Instant"), Word("SystemTime")],
        exceptions: &[],
    },
    Rule {
        name: "protocol-io",
        reason: "protocol crates do no I/O, log nothing and draw no random numbers",
        view: View::Product,
        scope: |path| rust(path) && path.starts_with("protocols/") && path.contains("/src/"),
        patterns: &[
            Start("std::"),
            Word("rand"),
            Start("print!"),
            Start("println!"),
            Start("eprint!"),
            Start("eprintln!"),
            Start("log::"),
            Start("tracing::"),
        ],
        exceptions: &[],
    },
    Rule {
        name: "unsafe",
        reason: "safe code cannot read what it should not; two hints are all that the speed needs",
        view: View::Code,
        scope: rust,
        patterns: &[Word("unsafe")],
        exceptions: &[
            ("sim-core/src/prefetch.rs", "the prefetch instruction, which changes no value"),
            ("sim-core/src/pages.rs", "the wish for large pages, which changes no value"),
        ],
    },
    Rule {
        name: "wall-clock",
        reason: "no result may depend on the wall clock: only the command and the benchmarks look at it",
        view: View::Code,
        scope: |path| rust(path) && !path.starts_with("bin/") && !path.contains("benches/"),
        patterns: &[Word("Instant"), Word("SystemTime")],
        exceptions: &[],
    },
    Rule {
        name: "hash",
        reason: "hash maps iterate in another order in every run; BTreeMap, BTreeSet and Vec do not",
        view: View::Code,
        scope: |path| rust(path) && !path.starts_with("xtask/"),
        patterns: &[Word("HashMap"), Word("HashSet")],
        exceptions: &[
            (
                "protocols/linx-riocm/tests/suite/restart.rs",
                "states seen by an exploration: asked for, never iterated; they are Hash and not Ord",
            ),
            (
                "protocols/linx-riocm/tests/suite/states.rs",
                "states seen by an exploration: asked for, never iterated; they are Hash and not Ord",
            ),
            (
                "protocols/voq-backpressure/tests/suite/reference.rs",
                "states seen by an exploration: asked for, never iterated; they are Hash and not Ord",
            ),
        ],
    },
    Rule {
        name: "float",
        reason: "floating point is for reports and for the sampling of traffic, rounded once to integers",
        view: View::Product,
        scope: |path| {
            // Reports, checks of the workspace, and laws that results are compared with.
            let about_results = ["analysis/", "xtask/", "bin/src/validate"];
            let in_src = path.contains("/src/") && !about_results.iter().any(|place| path.starts_with(place));
            rust(path) && in_src && !path.ends_with("/tests.rs")
        },
        patterns: &[Pattern::Float, Start("libm::")],
        exceptions: &[
            ("sim-core/src/rng.rs", "exponential and geometric draws through libm, rounded once"),
            ("scenarios/compiler/src/check.rs", "the rates that a message lists"),
            ("scenarios/compiler/src/resolve/link.rs", "the rate that a message names"),
            (
                "scenarios/compiler/src/faults.rs",
                "a bit error rate in JSON to an exact probability for a character",
            ),
            ("scenarios/compiler/src/spec.rs", "a bit error rate as it stands in JSON"),
            (
                "scenarios/compiler/src/flow/transfer/whole.rs",
                "shares of tries, which say whether check warns and what it prints",
            ),
            ("scenarios/compiler/src/flow/starved.rs", "rates of sources, which say whether check warns"),
            ("scenarios/compiler/src/report.rs", "the rates that check prints"),
            ("scenarios/compiler/src/schema.rs", "numbers of JSON held against whole limits, exactly"),
            ("scenarios/compiler/src/structure.rs", "1.0 in JSON read as the whole number 1, exactly"),
            (
                "scenarios/compiler/src/sweep/axes.rs",
                "numbers of ranges, rounded to nine digits before they are set",
            ),
            ("scenarios/compiler/src/sweep/plan.rs", "the half width of a stop rule"),
            ("scenarios/compiler/src/sweep/sample.rs", "places in the unit cube"),
            (
                "scenarios/compiler/src/settings/quantity.rs",
                "a load in JSON to its shortest decimal text, and from there exact",
            ),
            ("bin/src/codec.rs", "how similar a misspelt name is"),
            ("bin/src/progress.rs", "the progress bar"),
            ("bin/src/watch/", "the terminal of a run that is watched"),
            ("bin/src/run.rs", "wall-clock seconds of perf.json"),
            ("bin/src/simulate.rs", "wall-clock seconds of perf.json"),
            ("bin/src/sweep", "wall-clock seconds, estimates of cost, and reports"),
        ],
    },
    Rule {
        name: "scenario-text",
        reason: "only scenarios turns the text of scenarios into anything",
        view: View::Product,
        scope: |path| {
            let elsewhere = !path.starts_with("scenarios/") && !path.starts_with("xtask/");
            rust(path) && path.contains("/src/") && elsewhere && !path.ends_with("/tests.rs")
        },
        patterns: &[Start("serde_json::from_"), Start("schemars::"), Start("jsonschema::")],
        exceptions: &[
            ("bin/src/cli.rs", "the value of --set, which goes to scenarios as it is"),
            ("bin/src/codec/json.rs", "what encode reads"),
            ("bin/src/report.rs", "files of result folders, which runs write themselves"),
            ("bin/src/sweep/folder.rs", "sweep.json, which sweeps write themselves"),
            ("bin/src/sweep/log.rs", "lines of logs, which sweeps write themselves"),
            ("bin/src/sweep/slurm.rs", "numbers of Slurm jobs, which sweeps write themselves"),
        ],
    },
    Rule {
        name: "below-scenarios",
        reason: "models and the kernel take compiled, dense, valid input and do not know serde",
        view: View::Code,
        scope: |path| rust(path) && (path.starts_with("models/src/") || path.starts_with("sim-core/src/")),
        patterns: &[Word("serde"), Word("serde_json")],
        exceptions: &[],
    },
    Rule {
        name: "members",
        reason: "a type says how far it goes, and its members with it: they are pub, pub(super) or private",
        view: View::Product,
        scope: |path| {
            let crates = ["models/src/", "scenarios/compiler/src/", "analysis/src/", "bin/src/"];
            rust(path) && crates.iter().any(|folder| path.starts_with(folder))
        },
        patterns: &[Start("    pub(crate)")],
        exceptions: &[
            ("analysis/src/books.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/collect.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/flows.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/flows/messages.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/metric.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/protocol.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/protocol/program.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/report.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/summary.rs", "its types go out of the crate, these members do not"),
            ("analysis/src/sweep.rs", "its types go out of the crate, these members do not"),
            ("models/src/config.rs", "its types go out of the crate, this member does not"),
            ("models/src/link/symbol/check.rs", "its type goes out of the crate, this member does not"),
            ("models/src/observe/", "its types go out of the crate, these members do not"),
            ("scenarios/compiler/src/diagnostic.rs", "its types go out of the crate, these members do not"),
            ("scenarios/compiler/src/topology.rs", "made by a macro, and so indented"),
            ("scenarios/compiler/src/spec.rs", "its type goes out of the crate, this member does not"),
        ],
    },
    Rule {
        name: "unfinished",
        reason: "what is not finished is not committed, and a test that does not run proves nothing",
        view: View::Code,
        scope: rust,
        patterns: &[Start("todo!("), Start("unimplemented!("), Start("dbg!("), Start("#[ignore")],
        exceptions: &[],
    },
    Rule {
        name: "fixme",
        reason: "what is known to be wrong is put right or written down for users",
        view: View::Text,
        scope: |_| true,
        patterns: &[Word(concat!("FIX", "ME"))],
        exceptions: &[],
    },
    Rule {
        name: "own-words",
        reason: "documentation is read alone: what an item is must not need the item above it",
        view: View::Text,
        scope: rust,
        patterns: &[Start(concat!("/// The", " same ")), Start(concat!("//! The", " same "))],
        exceptions: &[],
    },
    Rule {
        name: "width",
        reason: "lines of at most 110 characters can be read side by side",
        view: View::Text,
        scope: rust,
        patterns: &[Longer(WIDTH)],
        exceptions: &[],
    },
    Rule {
        name: "machine-path",
        reason: "paths of one machine mean nothing on another",
        view: View::Text,
        scope: |_| true,
        patterns: &[InFolder("work"), InFolder("root"), InFolder("home")],
        exceptions: &[],
    },
    Rule {
        name: "temporary-path",
        reason: "only tests may name a temporary folder; programs ask the system for one",
        view: View::Text,
        scope: |path| !path.contains("tests/"),
        patterns: &[InFolder("tmp")],
        exceptions: &[],
    },
];

fn rust(path: &str) -> bool {
    path.ends_with(".rs")
}

/// Checks the tracked files below `root`.
pub(crate) fn check(root: &Path) -> Checked {
    let mut found = Vec::new();
    let mut files = 0;
    let mut needed = vec![false; RULES.iter().map(|rule| rule.exceptions.len()).sum()];
    for path in &tracked(root, &[])? {
        let octets = match fs::read(root.join(path)) {
            Ok(octets) => octets,
            // deleted, and not yet committed
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{path}: {error}")),
        };
        // what is not text is a picture or a font
        let Ok(text) = String::from_utf8(octets) else { continue };
        files += 1;
        found.extend(examine(path, &text, &mut needed));
    }
    let all = RULES.iter().flat_map(|rule| rule.exceptions.iter().map(move |exception| (rule, exception)));
    for ((rule, (path, reason)), needed) in all.zip(needed) {
        if !needed {
            found.push(format!("{path}: {}: the exception is not needed: {reason}", rule.name));
        }
    }
    let metadata = crate::metadata(&["--no-deps"])?;
    let crates = list(&metadata, "packages").count();
    Ok((found, format!("tidy: {files} files of {crates} crates keep {} rules", RULES.len() + 3)))
}

/// Everything that is wrong with a file. Marks the exceptions that something needed.
fn examine(path: &str, text: &str, needed: &mut [bool]) -> Vec<String> {
    let (masked, product) = if rust(path) {
        let masked = code(text);
        let product = without_tests(&masked);
        (masked, product)
    } else {
        (String::new(), String::new())
    };
    let mut found = Vec::new();
    if path.contains("/src/") && path.ends_with("/mod.rs") {
        found.push(format!("{path}: a module with parts is foo.rs beside foo/, as everywhere else"));
    }
    let mut first_exception = 0;
    for rule in RULES {
        let exceptions = first_exception..first_exception + rule.exceptions.len();
        first_exception = exceptions.end;
        if !(rule.scope)(path) {
            continue;
        }
        let view = match rule.view {
            View::Text => text,
            View::Code => &masked,
            View::Product => &product,
        };
        let hits: Vec<usize> = view
            .lines()
            .enumerate()
            .filter(|(_, line)| rule.patterns.iter().any(|pattern| matches(*pattern, line)))
            .map(|(number, _)| number)
            .collect();
        let exception = rule.exceptions.iter().position(|(prefix, _)| path.starts_with(prefix));
        if let (Some(exception), false) = (exception, hits.is_empty()) {
            needed[exceptions.start + exception] = true;
            continue;
        }
        for number in hits {
            let line = text.lines().nth(number).unwrap_or_default().trim();
            let line: String = line.chars().take(WIDTH).collect();
            found.push(format!("{path}:{}: {}: {}\n    {line}", number + 1, rule.name, rule.reason));
        }
    }
    if path.starts_with("protocols/") && path.ends_with("/src/lib.rs") {
        for attribute in ["#![no_std]", "#![forbid(unsafe_code)]"] {
            if !masked.lines().any(|line| line.trim() == attribute) {
                found.push(format!("{path}:1: protocol-crate: a product links it: {attribute} is missing"));
            }
        }
    }
    // The fuzz targets are a workspace of their own.
    if path.ends_with("/Cargo.toml") && !path.starts_with("fuzz/") {
        found.extend(manifest(path, text));
    }
    found
}

/// Every crate takes these from the workspace.
fn manifest(path: &str, text: &str) -> Vec<String> {
    let mut section = "";
    let mut missing = vec![
        ("package", "version"),
        ("package", "edition"),
        ("package", "rust-version"),
        ("package", "license"),
        ("package", "publish"),
        ("lints", "workspace"),
    ];
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim(), value.trim());
        if value == "true" {
            missing.retain(|(of, name)| {
                *of != section || (key != *name && key.strip_suffix(".workspace") != Some(name))
            });
        }
    }
    missing
        .into_iter()
        .map(|(of, name)| {
            let wants = if of == "lints" { "workspace = true" } else { "workspace inheritance" };
            format!("{path}:1: manifest: one place decides for all crates: [{of}] {name} lacks {wants}")
        })
        .collect()
}

fn matches(pattern: Pattern, line: &str) -> bool {
    let bytes = line.as_bytes();
    let starts = |at: usize| at == 0 || !is_word(bytes[at - 1]);
    match pattern {
        Pattern::Longer(most) => line.chars().count() > most,
        Pattern::Start(what) => line.match_indices(what).any(|(at, _)| starts(at)),
        Pattern::Word(what) => line.match_indices(what).any(|(at, _)| {
            let end = at + what.len();
            starts(at) && bytes.get(end).is_none_or(|byte| !is_word(*byte))
        }),
        Pattern::Path(folder) => line.match_indices(&format!("/{folder}/")).any(|(at, _)| {
            // not in the middle of a relative path or an address
            at == 0 || !(is_word(bytes[at - 1]) || matches!(bytes[at - 1], b'.' | b'-' | b'*' | b'}' | b'~'))
        }),
        Pattern::Float => float(bytes),
    }
}

/// `f64`, `as_f64`, `1.5`; not `x.0.1`, `0..1` or `1.max(2)`.
fn float(line: &[u8]) -> bool {
    let mut at = 0;
    while at < line.len() {
        if !is_word(line[at]) {
            at += 1;
            continue;
        }
        let end = at + line[at..].iter().take_while(|byte| is_word(**byte)).count();
        let word = &line[at..end];
        if word.ends_with(b"f32") || word.ends_with(b"f64") {
            return true;
        }
        let field = at > 0 && line[at - 1] == b'.';
        let fraction = line.get(end) == Some(&b'.') && line.get(end + 1).is_some_and(u8::is_ascii_digit);
        if word[0].is_ascii_digit() && !field && fraction {
            return true;
        }
        at = end;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the rules that a file breaks, with their lines.
    fn broken(path: &str, text: &str) -> Vec<String> {
        let mut needed = vec![false; RULES.iter().map(|rule| rule.exceptions.len()).sum()];
        examine(path, text, &mut needed)
            .iter()
            .map(|found| {
                let mut parts = found.split(": ");
                let place = parts.next().unwrap().rsplit(':').next().unwrap();
                format!("{} {place}", parts.next().unwrap())
            })
            .collect()
    }

    const HEAD: &str = "#![no_std]\n#![forbid(unsafe_code)]\n";

    #[test]
    fn every_rule_has_a_text_that_breaks_it() {
        let long = "x".repeat(111);
        let path = |folder: &str| format!("\n\"{}\"", ["", folder, "x"].join("/"));
        let cases: Vec<(&str, &str, String)> = vec![
            ("protocol-clock", "protocols/a/src/b.rs", "\nuse core::time::Duration;".into()),
            ("protocol-io", "protocols/a/src/b.rs", "\nuse std::fs;".into()),
            ("protocol-io", "protocols/a/src/b.rs", "\nuse rand::Rng;".into()),
            ("protocol-io", "protocols/a/src/b.rs", "\nprintln!(\"\");".into()),
            ("unsafe", "models/src/a.rs", "\nlet a = unsafe { b() };".into()),
            ("unsafe", "bin/tests/a.rs", "\nunsafe fn a() {}".into()),
            ("wall-clock", "models/tests/a.rs", "\nlet a = Instant::now();".into()),
            ("wall-clock", "analysis/src/a.rs", "\nuse std::time::SystemTime;".into()),
            ("hash", "models/src/a.rs", "\nuse std::collections::HashMap;".into()),
            ("hash", "bin/tests/a.rs", "\nlet a: HashSet<u8> = b();".into()),
            ("float", "models/src/a.rs", "\nlet a = b as f64;".into()),
            ("float", "models/src/a.rs", "\nlet a = 1.5;".into()),
            ("float", "sim-core/src/a.rs", "\nlibm::log(a)".into()),
            ("scenario-text", "bin/src/a.rs", "\nserde_json::from_str(a)".into()),
            ("below-scenarios", "models/src/a.rs", "\nuse serde::Serialize;".into()),
            ("members", "models/src/a.rs", "\n    pub(crate) fn a() {}".into()),
            ("unfinished", "models/src/a.rs", "\ntodo!()".into()),
            ("unfinished", "models/src/a.rs", "\nunimplemented!()".into()),
            ("unfinished", "models/tests/a.rs", "\ndbg!(a);".into()),
            ("unfinished", "models/tests/a.rs", "\n#[ignore]".into()),
            ("fixme", "README.md", concat!("\nFIX", "ME later").into()),
            ("own-words", "models/src/a.rs", concat!("\n/// The", " same for all.").into()),
            ("own-words", "bin/src/a.rs", concat!("\n//! The", " same as before.").into()),
            ("width", "models/src/a.rs", format!("\n// {long}")),
            ("machine-path", "README.md", path("work")),
            ("machine-path", "bin/tests/a.rs", path("root")),
            ("machine-path", "docs/a.json", path("home")),
            ("temporary-path", "bin/src/a.rs", path("tmp")),
        ];
        for (rule, path, text) in &cases {
            assert_eq!(broken(path, text), [format!("{rule} 2")], "{text}");
        }
        for rule in RULES {
            assert!(cases.iter().any(|case| case.0 == rule.name), "{} has no such text", rule.name);
        }
    }

    #[test]
    fn modules_have_one_form() {
        let found = |path: &str| examine(path, "", &mut [false; 64]).len();
        assert_eq!(
            (found("bin/src/a/mod.rs"), found("bin/src/a.rs"), found("bin/tests/a/mod.rs")),
            (1, 0, 0)
        );
    }

    #[test]
    fn what_the_rules_leave_alone() {
        for (path, text) in [
            ("models/src/a.rs", "// unsafe HashMap f64 todo!(\nlet a = \"unsafe 1.5\";"),
            ("models/src/a.rs", "let a = b.0.1 + c[0..1] + 1.max(2); #[allow(unsafe_code)]"),
            ("models/src/a.rs", "#[cfg(test)]\nmod tests {\n    const A: f64 = 1.5;\n}\n"),
            ("models/src/a.rs", "pub(crate) struct A {\n    pub b: u8,\n    pub(super) c: u8,\n}"),
            ("models/tests/a.rs", "const A: f64 = 1.5;"),
            ("analysis/src/a.rs", "const A: f64 = 1.5;"),
            ("bin/src/a.rs", "use std::time::Instant;"),
            ("models/benches/a.rs", "use std::time::Instant;"),
            ("sim-core/src/prefetch.rs", "unsafe { a() }"),
            ("protocols/a/tests/b.rs", "use std::fs;"),
            ("README.md", "https://example.org/work/a and models/home/b and a-/tmp/"),
        ] {
            assert_eq!(broken(path, text), [""; 0], "{text}");
        }
        let tests = ["\"", "", "tmp", "x\""].join("/");
        assert_eq!(broken("bin/tests/a.rs", &tests), [""; 0]);
    }

    #[test]
    fn protocol_crates_promise() {
        assert_eq!(broken("protocols/a/src/lib.rs", HEAD), [""; 0]);
        assert_eq!(
            broken("protocols/a/src/lib.rs", &HEAD.replace("#![no", "// #![no")),
            ["protocol-crate 1"]
        );
        assert_eq!(broken("protocols/a/src/lib.rs", "").len(), 2);
        assert_eq!(broken("models/src/lib.rs", ""), [""; 0]);
    }

    #[test]
    fn manifests_inherit() {
        let fine = "[package]\nname = \"a\"\nversion.workspace = true\nedition.workspace = true\n\
                    rust-version.workspace = true\nlicense.workspace = true\npublish.workspace = true\n\n\
                    [lints]\nworkspace = true\n";
        assert_eq!(broken("a/Cargo.toml", fine), [""; 0]);
        for line in
            ["edition.workspace = true\n", "license.workspace = true\n", "[lints]\nworkspace = true\n"]
        {
            assert_eq!(broken("a/Cargo.toml", &fine.replace(line, "")), ["manifest 1"], "{line}");
        }
        let own = fine.replace("license.workspace = true", "license = \"MIT\"");
        assert_eq!(broken("a/Cargo.toml", &own), ["manifest 1"]);
        assert_eq!(broken("Cargo.toml", "[workspace]\n"), [""; 0]);
    }
}
