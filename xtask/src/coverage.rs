//! How far each requirement of the documents has come: shown by tests of its crate, by tests of a fabric that
//! runs it, by a study. `docs/coverage.md` is made of the tables of the crates, of the lines `Proves:` and of
//! `protocols/coverage.txt`, which says why the rest is not shown beyond its crate.
//!
//! Lines of that file, with comments `# ...` and empty lines between them:
//!
//! ```text
//! ## Name | why something is not shown in a fabric
//! ID, ID, FIRST..NUMBER
//! ```
//!
//! A range leads from an id to another number of the same section; it stands for what is in it and is not
//! shown. Whatever is not shown has one reason, and nothing else has one.

use crate::requirements::{Kind, Proofs, Protocol, Requirement, Table, Test, anchor, citations, list_of};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The reasons.
pub(crate) const REASONS: &str = "protocols/coverage.txt";
/// What is made.
pub(crate) const PAGE: &str = "docs/coverage.md";

/// Where a requirement is shown.
#[derive(Copy, Clone, PartialEq, Debug)]
enum Place {
    /// Tests of the protocol crates: machines without a fabric.
    Crate,
    /// Tests of the simulator, with devices, links and queues between the ends.
    Fabric,
    /// Tests of the studies, and studies that cite it.
    Study,
}

fn place(file: &str) -> Place {
    if file.starts_with("bin/tests/studies") || file.starts_with("scenarios/") && file.ends_with(".json") {
        Place::Study
    } else if file.starts_with("protocols/") {
        Place::Crate
    } else {
        Place::Fabric
    }
}

/// Proofs, and studies whose text cites a requirement: a scenario file is a test without a name.
fn shown(tables: &[Table], proofs: &Proofs, files: &[(String, String)]) -> Proofs {
    let mut shown = proofs.clone();
    for (file, text) in files.iter().filter(|(file, _)| is_study(file)) {
        for table in tables {
            for citation in text.lines().flat_map(|line| citations(line, table.protocol.prefix)) {
                if citation.kind == Kind::Id {
                    let tests = shown.entry(citation.text.to_owned()).or_default();
                    let cited = Test { file: file.clone(), name: "cites it".into() };
                    if !tests.contains(&cited) {
                        tests.push(cited);
                    }
                }
            }
        }
    }
    shown
}

fn is_study(file: &str) -> bool {
    file.strip_prefix("scenarios/").is_some_and(|name| name.ends_with(".json") && !name.contains('/'))
}

/// Tests of a requirement in one place.
fn within(shown: &Proofs, id: &str, at: Place) -> Vec<Test> {
    shown.get(id).into_iter().flatten().filter(|test| place(&test.file) == at).cloned().collect()
}

fn beyond_the_crate(shown: &Proofs, id: &str) -> bool {
    shown.get(id).into_iter().flatten().any(|test| place(&test.file) != Place::Crate)
}

/// Why something is not shown in a fabric.
#[derive(Debug)]
struct Reason {
    name: String,
    text: String,
}

#[derive(Default)]
struct Reasons {
    all: Vec<Reason>,
    /// Which one of them an id has.
    of: BTreeMap<String, usize>,
}

impl Reasons {
    /// What can be read of `text`. Rows that are stale, broken or missing are `found`.
    fn new(text: &str, tables: &[Table], shown: &Proofs, found: &mut Vec<String>) -> Self {
        let mut reasons = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let mut say = |error: String| found.push(format!("{REASONS}:{number}: {error}"));
            if let Some(title) = line.strip_prefix("## ") {
                match title.split_once(" | ") {
                    Some((name, text)) => {
                        reasons.all.push(Reason { name: name.to_owned(), text: text.to_owned() });
                    }
                    None => say("a reason is ## Name | why".into()),
                }
                continue;
            }
            if line.starts_with('#') {
                continue;
            }
            for row in line.split(',').map(str::trim).filter(|row| !row.is_empty()) {
                match reasons.row(row, tables, shown) {
                    Err(error) => say(error),
                    Ok(ids) if ids.is_empty() => say(format!("{row}: stale, tests or a study show it")),
                    Ok(ids) => {
                        let reason = reasons.all.len() - 1;
                        for id in ids {
                            if reasons.of.insert(id.clone(), reason).is_some() {
                                say(format!("{id}: has a reason already"));
                            }
                        }
                    }
                }
            }
        }
        let all = tables.iter().flat_map(Table::requirements);
        for Requirement { id, .. } in all.filter(|requirement| !beyond_the_crate(shown, &requirement.id)) {
            if !reasons.of.contains_key(id) {
                found.push(format!("{REASONS}: {id}: shown in no fabric, and no reason says why"));
            }
        }
        reasons
    }

    /// The ids of a row that are not shown beyond their crate.
    fn row(&self, row: &str, tables: &[Table], shown: &Proofs) -> Result<Vec<String>, String> {
        if self.all.is_empty() {
            return Err("a reason comes first: ## Name | why".into());
        }
        let (first, last) = row.split_once("..").unwrap_or((row, ""));
        let section = |id: &str| id.rfind('-').map(|at| (id[..at].to_owned(), id[at + 1..].to_owned()));
        let broken = || format!("{row}: a row is an id, or a range like TOY-4.2-3..7");
        let (of, from) = section(first).ok_or_else(broken)?;
        let known = |id: &str| tables.iter().flat_map(Table::requirements).any(|one| one.id == id);
        let ids: Vec<String> = if last.is_empty() {
            vec![first.to_owned()]
        } else {
            let number = |text: &str| text.parse::<u32>().map_err(|_| broken());
            let (from, to) = (number(&from)?, number(last)?);
            if from >= to {
                return Err(broken());
            }
            (from..=to).map(|number| format!("{of}-{number}")).collect()
        };
        for id in [ids.first(), ids.last()].into_iter().flatten() {
            if !known(id) {
                return Err(format!("{id}: no requirement"));
            }
        }
        Ok(ids.into_iter().filter(|id| known(id) && !beyond_the_crate(shown, id)).collect())
    }
}

/// The page, from the text of the reasons. What is wrong with them is `found`.
pub(crate) fn page(
    tables: &[Table],
    proofs: &Proofs,
    files: &[(String, String)],
    reasons: &str,
    found: &mut Vec<String>,
) -> String {
    let shown = shown(tables, proofs, files);
    let reasons = Reasons::new(reasons, tables, &shown, found);
    let mut out = format!(
        "<!-- Made by `cargo run -p xtask -- requirements` from {REASONS} and the tests. Edit those. -->\n\n\
         # Coverage: the four documents\n\n\
         Where each requirement of the documents is shown. *Crate*: tests of the protocol crate, whose \
         machines talk without a fabric; how many. *Fabric*: tests of the simulator, with devices, links and \
         queues between the ends, or with every order of events that there is. *Study*: a study that cites \
         it, or a test of one. What is shown in its crate alone has a reason. Words and tests of each \
         requirement are in `REQUIREMENTS.md` of its crate.\n\n"
    );
    summary(&mut out, tables, &shown);
    why(&mut out, tables, &reasons);
    for table in tables {
        rows(&mut out, table, &shown, &reasons);
    }
    out
}

/// How many requirements of each document are shown where.
fn summary(out: &mut String, tables: &[Table], shown: &Proofs) {
    out.push_str("| document | requirements | crate | fabric | study | fabric or study | no test |\n");
    out.push_str("|---|---|---|---|---|---|---|\n");
    for table in tables {
        let count = |which: &dyn Fn(&str) -> bool| {
            table.requirements().filter(|requirement| which(&requirement.id)).count()
        };
        let at = |at: Place| count(&|id| !within(shown, id, at).is_empty());
        let name = table.protocol.name;
        let _ = writeln!(
            out,
            "| [{name}](#{}) | {} | {} | {} | {} | {} | {} |",
            anchor(name),
            count(&|_| true),
            at(Place::Crate),
            at(Place::Fabric),
            at(Place::Study),
            count(&|id| beyond_the_crate(shown, id)),
            count(&|id| !shown.contains_key(id)),
        );
    }
}

/// What the reasons are, and how many requirements of each document have them.
fn why(out: &mut String, tables: &[Table], reasons: &Reasons) {
    out.push_str("\n| why not in a fabric | meaning |");
    for Protocol { prefix, .. } in tables.iter().map(|table| table.protocol) {
        let _ = write!(out, " {prefix} |");
    }
    let _ = writeln!(out, "\n|---|---|{}", "---|".repeat(tables.len()));
    for (number, Reason { name, text }) in reasons.all.iter().enumerate() {
        let _ = write!(out, "| <a id=\"{}\"></a>{name} | {text} |", anchor(name));
        for table in tables {
            let has = |requirement: &&Requirement| reasons.of.get(&requirement.id) == Some(&number);
            let _ = write!(out, " {} |", table.requirements().filter(has).count());
        }
        out.push('\n');
    }
}

/// A row for each requirement of a document.
fn rows(out: &mut String, table: &Table, shown: &Proofs, reasons: &Reasons) {
    let Protocol { name, document, .. } = table.protocol;
    let head = "| id | class | crate | fabric | study | why not |\n|---|---|---|---|---|---|\n";
    let _ = write!(out, "\n## {name}\n\n{document}\n\n{head}");
    let tests = |id: &str, at: Place| list_of(&within(shown, id, at), None);
    for Requirement { id, class, .. } in table.requirements() {
        let own = within(shown, id, Place::Crate).len();
        let reason = reasons.of.get(id).map(|reason| &reasons.all[*reason].name);
        let reason = reason.map(|name| format!("[{name}](#{})", anchor(name))).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {id} | {class} | {own} | {} | {} | {reason} |",
            tests(id, Place::Fabric),
            tests(id, Place::Study),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requirements::toy;

    const TEXT: &str = "## 1.2: wheels\nTOY-1.2-1 | MUST | Wheels.\nTOY-1.2-2 | SHOULD | They turn.\n\
        TOY-1.2-3 | MAY | Fast.\nTOY-1.2-5 | MUST | Round.\n";

    /// The page and what was found, with tests in `proofs` and a study that cites `cited`.
    fn made(reasons: &str, proofs: &[(&str, &str)], cited: &str) -> (String, Vec<String>) {
        let mut found = Vec::new();
        let tables = [toy(TEXT, &mut found)];
        let mut shown = Proofs::new();
        for (id, file) in proofs {
            let test = Test { file: (*file).into(), name: "rolls".into() };
            shown.entry((*id).to_owned()).or_default().push(test);
        }
        let files = [("scenarios/roll.json".to_owned(), cited.to_owned())];
        let page = page(&tables, &shown, &files, reasons, &mut found);
        (page, found)
    }

    #[test]
    fn where_something_is_shown() {
        for (file, at) in [
            ("protocols/toy/tests/suite/a.rs", Place::Crate),
            ("models/tests/suite/a.rs", Place::Fabric),
            ("scenarios/compiler/tests/suite/a.rs", Place::Fabric),
            ("analysis/tests/suite/races.rs", Place::Fabric),
            ("bin/tests/studies.rs", Place::Study),
            ("bin/tests/studies/toy.rs", Place::Study),
            ("scenarios/roll.json", Place::Study),
        ] {
            assert_eq!(place(file), at, "{file}");
        }
        assert!(is_study("scenarios/roll.json") && !is_study("scenarios/compiler/tests/bad/1.json"));
    }

    #[test]
    fn a_row_for_each_requirement() {
        let proofs = [("TOY-1.2-1", "protocols/toy/a.rs"), ("TOY-1.2-1", "models/tests/b.rs")];
        let (page, found) = made("# why\n## Far | Too far.\nTOY-1.2-2..3\n", &proofs, "of TOY-1.2-5.");
        assert!(found.is_empty(), "{found:?}");
        for part in [
            "| [toy](#toy) | 4 | 1 | 1 | 1 | 2 | 2 |\n",
            "| why not in a fabric | meaning | TOY |\n|---|---|---|\n",
            "| <a id=\"far\"></a>Far | Too far. | 2 |\n",
            "| TOY-1.2-1 | MUST | 1 | \
             `models/tests/b.rs`: `rolls` |  |  |\n",
            "| TOY-1.2-2 | SHOULD | 0 |  |  | [Far](#far) |\n",
            "| TOY-1.2-5 | MUST | 0 |  | `scenarios/roll.json`: `cites it` |  |\n",
        ] {
            assert!(page.contains(part), "{part}\nis missing in\n{page}");
        }
    }

    #[test]
    fn reasons_that_are_stale_broken_or_missing() {
        let shown = [("TOY-1.2-1", "models/a.rs"), ("TOY-1.2-5", "bin/tests/studies.rs")];
        for (reasons, error) in [
            ("## Far | Too far.\nTOY-1.2-2\n", ": TOY-1.2-3: shown in no fabric, and no reason says why"),
            (
                "## Far | Too far.\nTOY-1.2-1, TOY-1.2-2..3\n",
                ":2: TOY-1.2-1: stale, tests or a study show it",
            ),
            ("## Far | Too far.\nTOY-1.2-2..3\nTOY-1.2-3\n", ":3: TOY-1.2-3: has a reason already"),
            ("## Far | Too far.\nTOY-1.2-2..4, TOY-1.2-2..3", ":2: TOY-1.2-4: no requirement"),
            ("## Far | Too far.\nTOY-1.2-9, TOY-1.2-2..3", ":2: TOY-1.2-9: no requirement"),
            ("## Far | Too far.\nTOY-1.2-3..2, TOY-1.2-2..3", ":2: TOY-1.2-3..2: a row is an id"),
            ("## Far | Too far.\nwheels, TOY-1.2-2..3", ":2: wheels: a row is an id"),
            ("## Far\n## Far | Too far.\nTOY-1.2-2..3", ":1: a reason is ## Name | why"),
            ("TOY-1.2-2\n## Far | Too far.\nTOY-1.2-2..3", ":1: a reason comes first"),
        ] {
            let (_, found) = made(reasons, &shown, "");
            let expected = format!("{REASONS}{error}");
            assert!(found.len() == 1 && found[0].starts_with(&expected), "{reasons}: {found:?}");
        }
        // A range whose requirements are all shown.
        let all = [("TOY-1.2-1", "models/a.rs"), ("TOY-1.2-2", "models/a.rs"), ("TOY-1.2-3", "models/a.rs")];
        let (_, found) = made("## Far | Too far.\nTOY-1.2-1..3, TOY-1.2-5", &all, "");
        assert_eq!(found, [format!("{REASONS}:2: TOY-1.2-1..3: stale, tests or a study show it")]);
    }
}
