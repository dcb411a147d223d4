//! What the documents of the protocols ask for, and which tests prove it. Each protocol crate has a table
//! beside its code, `requirements.txt`; this makes the page `REQUIREMENTS.md` of it and of the lines
//! `Proves:` above tests, or finds the page stale, and a page of all of them (`coverage`). An id that no
//! table knows leads nowhere, and a MUST without a test is a claim.
//!
//! Lines of a table, in sections `## Title`, with comments `# ...` and empty lines between them:
//!
//! ```text
//! ID | MUST, SHOULD or MAY | what a device does
//! ID | MUST | what a device does | D7, D20
//! D7 | what the document leaves open, or where it is wrong | what was decided, and why
//! ```
//!
//! Decisions are in the section `## Decisions`. Sources cite them with the prefix of the crate, as they do
//! ids.

use crate::{Checked, coverage, tracked};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// A protocol crate, and the document that it implements.
pub(crate) struct Protocol {
    pub(crate) folder: &'static str,
    /// Ids begin with it and a hyphen.
    pub(crate) prefix: &'static str,
    pub(crate) name: &'static str,
    pub(crate) document: &'static str,
}

/// Each has a table.
const PROTOCOLS: [Protocol; 4] = [
    Protocol {
        folder: "protocols/voq-backpressure",
        prefix: "VOQ",
        name: "VoQ backpressure",
        document: "RapidIO Part 12: VoQ Backpressure, Rev. 2.x",
    },
    Protocol {
        folder: "protocols/session-management",
        prefix: "SMP",
        name: "session management",
        document: "RapidIO Annex 2: Session Management Protocol, Rev. 2.1",
    },
    Protocol {
        folder: "protocols/scheduled-transfer",
        prefix: "ST",
        name: "Scheduled Transfer",
        document: "Scheduled Transfer, working draft Rev. 1.5",
    },
    Protocol {
        folder: "protocols/linx-riocm",
        prefix: "RIOCM",
        name: "LINX RIOCM",
        document: "Enea LINX protocol, chapter 10: RapidIO Connection Manager, version 2",
    },
];

const TABLE: &str = "requirements.txt";
const PAGE: &str = "REQUIREMENTS.md";
/// The section of a table that has no requirements.
const DECISIONS: &str = "Decisions";
/// The class that needs a test.
const MUST: &str = "MUST";
const CLASSES: [&str; 3] = [MUST, "SHOULD", "MAY"];

/// Writes the pages of all protocols below `root`, or only looks (`write` is false).
pub(crate) fn check(root: &Path, write: bool) -> Checked {
    let mut found = Vec::new();
    let mut tables = Vec::new();
    for protocol in &PROTOCOLS {
        let path = format!("{}/{TABLE}", protocol.folder);
        match fs::read_to_string(root.join(&path)) {
            Ok(text) => tables.push(Table::new(protocol, &text, &mut found)),
            Err(error) => found.push(format!("{path}: {error}")),
        }
    }
    let mut files = Vec::new();
    for path in tracked(root, &["*.rs", "*.md", "*.json"])? {
        if path.rsplit('/').next() != Some(PAGE) && path != coverage::PAGE {
            let text = fs::read(root.join(&path)).map_err(|error| format!("{path}: {error}"))?;
            files.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
    }
    let proofs = judge(&tables, &files, &mut found);
    let mut pages: Vec<(String, String)> = tables
        .iter()
        .map(|table| (format!("{}/{PAGE}", table.protocol.folder), page(table, &proofs)))
        .collect();
    let reasons = fs::read_to_string(root.join(coverage::REASONS))
        .map_err(|error| format!("{}: {error}", coverage::REASONS))?;
    let coverage = coverage::page(&tables, &proofs, &files, &reasons, &mut found);
    pages.push((coverage::PAGE.to_owned(), coverage));
    for (path, now) in pages {
        if fs::read_to_string(root.join(&path)).is_ok_and(|text| text == now) {
            continue;
        }
        if write {
            fs::write(root.join(&path), &now).map_err(|error| format!("{path}: {error}"))?;
            println!("{path}: written anew");
        } else {
            found.push(format!("{path}: stale; cargo run -p xtask -- requirements writes it anew"));
        }
    }
    let count: usize = tables.iter().map(|table| table.requirements().count()).sum();
    Ok((found, format!("requirements: {count}, of which {} have a test", proofs.len())))
}

/// What a document asks for.
pub(crate) struct Requirement {
    line: usize,
    pub(crate) id: String,
    pub(crate) class: &'static str,
    statement: String,
    decisions: Vec<String>,
}

/// What was decided where a document says nothing, or is wrong.
struct Decision {
    id: String,
    title: String,
    text: String,
}

struct Section {
    title: String,
    requirements: Vec<Requirement>,
}

pub(crate) struct Table<'a> {
    pub(crate) protocol: &'a Protocol,
    sections: Vec<Section>,
    decisions: Vec<Decision>,
}

impl<'a> Table<'a> {
    /// What can be read of a table. The rest is `found`.
    fn new(protocol: &'a Protocol, text: &str, found: &mut Vec<String>) -> Self {
        let place = |line: usize| format!("{}/{TABLE}:{line}", protocol.folder);
        let mut table = Self { protocol, sections: Vec::new(), decisions: Vec::new() };
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        let mut decide = false;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end();
            if let Some(title) = line.strip_prefix("## ") {
                decide = title == DECISIONS;
                if !decide {
                    table.sections.push(Section { title: title.to_owned(), requirements: Vec::new() });
                }
                continue;
            }
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let read = if decide {
                Self::decision(line).map(|decision| {
                    let id = decision.id.clone();
                    table.decisions.push(decision);
                    id
                })
            } else {
                Self::requirement(protocol, number, line).and_then(|requirement| {
                    let id = requirement.id.clone();
                    let section = table.sections.last_mut().ok_or("a section comes first: ## Title")?;
                    section.requirements.push(requirement);
                    Ok(id)
                })
            };
            match read {
                Err(error) => found.push(format!("{}: {error}", place(number))),
                Ok(id) => {
                    if let Some(before) = lines.insert(id.clone(), number) {
                        found.push(format!("{}: {id}: is in line {before}, too", place(number)));
                    }
                }
            }
        }
        for requirement in table.requirements() {
            for decision in &requirement.decisions {
                if table.decision_of(decision).is_none() {
                    let Requirement { line, id, .. } = requirement;
                    found.push(format!("{}: {id}: there is no decision {decision}", place(*line)));
                }
            }
        }
        table
    }

    fn requirement(protocol: &Protocol, line: usize, text: &str) -> Result<Requirement, String> {
        let parts = parts(text)?;
        let (id, class, statement, decisions) = match parts[..] {
            [id, class, statement] => (id, class, statement, ""),
            [id, class, statement, decisions] => (id, class, statement, decisions),
            _ => return Err("a line is ID | CLASS | statement, perhaps with | D7, D20".into()),
        };
        let whole = Citation { text: id, kind: Kind::Id };
        if citations(id, protocol.prefix) != [whole] {
            return Err(format!("{id}: ids are like {}-4.2-3", protocol.prefix));
        }
        let class = *CLASSES
            .iter()
            .find(|known| **known == class)
            .ok_or_else(|| format!("{id}: a class is {}, not \"{class}\"", CLASSES.join(", ")))?;
        let decisions: Vec<String> =
            decisions.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect();
        if let Some(odd) = decisions.iter().find(|part| !is_decision(part)) {
            return Err(format!("{id}: decisions are like D7, not \"{odd}\""));
        }
        Ok(Requirement { line, id: id.to_owned(), class, statement: sentence(statement), decisions })
    }

    fn decision(text: &str) -> Result<Decision, String> {
        let [id, title, text] = parts(text)?[..] else {
            return Err("a decision is D7 | title | text".into());
        };
        if !is_decision(id) {
            return Err(format!("decisions are like D7, not \"{id}\""));
        }
        Ok(Decision { id: id.to_owned(), title: title.to_owned(), text: sentence(text) })
    }

    pub(crate) fn requirements(&self) -> impl Iterator<Item = &Requirement> {
        self.sections.iter().flat_map(|section| &section.requirements)
    }

    fn decision_of(&self, id: &str) -> Option<&Decision> {
        self.decisions.iter().find(|decision| decision.id == id)
    }
}

/// Fields of a line, none of them empty.
fn parts(line: &str) -> Result<Vec<&str>, String> {
    let parts: Vec<&str> = line.split(" | ").map(str::trim).collect();
    if parts.iter().any(|part| part.is_empty()) || line.ends_with(" |") {
        return Err("an empty field".into());
    }
    Ok(parts)
}

fn sentence(text: &str) -> String {
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{text}{end}")
}

fn is_decision(text: &str) -> bool {
    text.strip_prefix('D').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0')
    })
}

/// What is meant by a word that begins like an id.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    /// PREFIX-4.2-3.
    Id,
    /// PREFIX-D7.
    Decision,
    /// It looks like an id and is none: a section, or several ids in one word.
    Broken,
}

#[derive(PartialEq, Debug)]
pub(crate) struct Citation<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: Kind,
}

/// Ids and decisions of a protocol in a line. Names of test vectors, PREFIX-T03, and other words are none.
pub(crate) fn citations<'a>(line: &'a str, prefix: &str) -> Vec<Citation<'a>> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices(prefix) {
        let Some(body) = line[at + prefix.len()..].strip_prefix('-') else { continue };
        if line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-' || c == '_') {
            continue;
        }
        let length = |text: &str, part: fn(char) -> bool| text.find(|c| !part(c)).unwrap_or(text.len());
        let mut section = &body[..length(body, |c| c.is_ascii_alphanumeric() || c == '.')];
        if !section.starts_with(|c: char| c.is_ascii_digit() || c.is_ascii_uppercase()) {
            continue;
        }
        let number = body[section.len()..].strip_prefix('-').unwrap_or_default();
        let digits = length(number, |c| c.is_ascii_digit());
        let start = at + prefix.len() + 1;
        if digits == 0 {
            section = section.trim_end_matches('.');
            let kind = if is_decision(section) {
                Kind::Decision
            } else if section.starts_with(|c: char| c.is_ascii_digit()) || section.contains('.') {
                Kind::Broken
            } else {
                continue;
            };
            found.push(Citation { text: &line[at..start + section.len()], kind });
            continue;
        }
        let letter = number[digits..].starts_with(|c: char| c.is_ascii_lowercase());
        let end = start + section.len() + 1 + digits + usize::from(letter);
        let rest = &line[end..];
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let joined = ["..", "-", "/"].iter().any(|sign| rest.strip_prefix(sign).is_some_and(digit));
        let word = rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let kind = if joined || word { Kind::Broken } else { Kind::Id };
        found.push(Citation { text: &line[at..end], kind });
    }
    found
}

/// Where a test is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Test {
    pub(crate) file: String,
    pub(crate) name: String,
}

/// Tests of each id that has some.
pub(crate) type Proofs = BTreeMap<String, Vec<Test>>;

/// Tests that prove something. What leads nowhere, and what should be proven and is not, is `found`.
fn judge(tables: &[Table], files: &[(String, String)], found: &mut Vec<String>) -> Proofs {
    let mut proofs = Proofs::new();
    for table in tables {
        let prefix = table.protocol.prefix;
        let at = format!("{}/{TABLE}", table.protocol.folder);
        for (path, text) in files {
            let lines: Vec<&str> = text.lines().collect();
            for (index, line) in lines.iter().enumerate() {
                let cited = citations(line, prefix);
                if cited.is_empty() {
                    continue;
                }
                let place = format!("{path}:{}", index + 1);
                for Citation { text, kind } in &cited {
                    let known = match kind {
                        Kind::Id => table.requirements().any(|requirement| requirement.id == *text),
                        Kind::Decision => table.decision_of(&text[prefix.len() + 1..]).is_some(),
                        Kind::Broken => {
                            found.push(format!("{place}: {text}: no id; write each, like {prefix}-4.2-3"));
                            continue;
                        }
                    };
                    if !known {
                        found.push(format!("{place}: {text}: {at} has no such line"));
                    }
                }
                if !(path.ends_with(".rs") && proves(line)) {
                    continue;
                }
                let Some(name) = test_below(&lines[index + 1..]) else {
                    found.push(format!("{place}: no test below"));
                    continue;
                };
                for citation in cited.iter().filter(|citation| citation.kind == Kind::Id) {
                    let tests = proofs.entry(citation.text.to_owned()).or_default();
                    tests.push(Test { file: path.clone(), name: name.to_owned() });
                }
            }
        }
        for requirement in table.requirements() {
            let Requirement { line, id, class, .. } = requirement;
            if *class == MUST && !proofs.contains_key(id) {
                found.push(format!("{at}:{line}: {id}: a {MUST}, and no test proves it"));
            }
        }
    }
    for tests in proofs.values_mut() {
        tests.sort();
        tests.dedup();
    }
    proofs
}

/// Whether a line of Rust says what the test below proves.
fn proves(line: &str) -> bool {
    let comment = line.trim_start().strip_prefix("//");
    let text = comment.map(|text| text.strip_prefix(['/', '!']).unwrap_or(text).trim_start());
    text.is_some_and(|text| text.starts_with("Proves:"))
}

/// The name of the test that the comments and attributes at the beginning of `lines` belong to.
fn test_below<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let mut test = false;
    for line in lines.iter().map(|line| line.trim()) {
        if line == "#[test]" {
            test = true;
        } else if !line.starts_with("//") && !line.starts_with("#[") {
            let (before, name) = line.split_once("fn ")?;
            let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
            return (test && (before.is_empty() || before.ends_with(' '))).then(|| &name[..end]);
        }
    }
    None
}

/// The page of a protocol.
fn page(table: &Table, proofs: &Proofs) -> String {
    let Protocol { folder, prefix, name, document } = table.protocol;
    let mut out = format!(
        "<!-- Made by `cargo run -p xtask -- requirements` from {TABLE} and the tests. Edit those. -->\n\n\
         # Requirements: {name}\n\n\
         What *{document}* asks of a device, in words of our own, and which tests prove it. The middle of an \
         id is the section of the document. **MUST** is needed to conform or to work with others, **SHOULD** \
         is recommended, **MAY** is left to the device. *Decided* leads to the [decisions](#{}) on what the \
         document leaves open or has wrong; elsewhere they are cited as {prefix}-D1. Words are explained in \
         the documentation of the crate.\n\n\
         A test proves what the line `Proves:` above it says. All tests are in this workspace, and \
         `cargo run -p xtask -- requirements --check` fails on a MUST without one.\n\n\
         | class | requirements | with a test |\n|---|---|---|\n",
        anchor(DECISIONS),
    );
    for class in CLASSES {
        let of_class: Vec<_> =
            table.requirements().filter(|requirement| requirement.class == class).collect();
        let proven = of_class.iter().filter(|requirement| proofs.contains_key(&requirement.id)).count();
        let _ = writeln!(out, "| {class} | {} | {proven} |", of_class.len());
    }
    out.push('\n');
    let titles = table.sections.iter().map(|section| section.title.as_str()).chain([DECISIONS]);
    for title in titles {
        let _ = writeln!(out, "- [{title}](#{})", anchor(title));
    }
    for Section { title, requirements } in &table.sections {
        let _ = write!(out, "\n## {title}\n\n");
        for requirement in requirements {
            let Requirement { id, class, statement, decisions, .. } = requirement;
            let _ = write!(out, "- <a id=\"{id}\"></a>**{id}** {class}. {statement}");
            if !decisions.is_empty() {
                let links: Vec<String> = decisions.iter().map(|id| format!("[{id}](#{id})")).collect();
                let _ = write!(out, " *Decided:* {}.", links.join(", "));
            }
            out.push_str("<br>\n  ");
            match proofs.get(id) {
                Some(tests) => out.push_str(&list_of(tests, Some(folder))),
                None => out.push_str("*No test.*"),
            }
            out.push('\n');
        }
    }
    let _ = write!(out, "\n## {DECISIONS}\n\n");
    for Decision { id, title, text } in &table.decisions {
        let _ = write!(out, "- <a id=\"{id}\"></a>**{id}. {}** {text}", sentence(title));
        let about: Vec<String> = table
            .requirements()
            .filter(|requirement| requirement.decisions.contains(id))
            .map(|requirement| format!("[{0}](#{0})", requirement.id))
            .collect();
        if !about.is_empty() {
            let _ = write!(out, " *For* {}.", about.join(", "));
        }
        out.push('\n');
    }
    out
}

/// Tests, by file; links lead from a page in `folder`. None: a page of the book, which ends before the
/// sources.
pub(crate) fn list_of(tests: &[Test], folder: Option<&str>) -> String {
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for Test { file, name } in tests {
        let name = format!("`{name}`");
        match files.last_mut() {
            Some((last, names)) if last == file => names.push(name),
            _ => files.push((file, vec![name])),
        }
    }
    // Those of the crate itself first.
    let inside = |file: &str| file.strip_prefix(folder?)?.strip_prefix('/').map(str::to_owned);
    files.sort_by_key(|(file, _)| inside(file).is_none());
    let up = folder.map(|folder| "../".repeat(folder.split('/').count()));
    let texts: Vec<String> = files
        .into_iter()
        .map(|(file, names)| {
            let shown = match (inside(file), &up) {
                (Some(inside), _) => format!("[{inside}]({inside})"),
                (None, Some(up)) => format!("[{file}]({up}{file})"),
                (None, None) => format!("`{file}`"),
            };
            format!("{shown}: {}", names.join(", "))
        })
        .collect();
    texts.join("; ")
}

/// The anchor of a heading, as renderers of Markdown make it.
pub(crate) fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Not the prefix of a protocol, or this file would cite it.
#[cfg(test)]
const TOY: Protocol =
    Protocol { folder: "protocols/toy", prefix: "TOY", name: "toy", document: "Toys, part 1" };

/// A table of a protocol for tests.
#[cfg(test)]
pub(crate) fn toy(text: &str, found: &mut Vec<String>) -> Table<'static> {
    Table::new(&TOY, text, found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n\n## 1.2: wheels\nTOY-1.2-1 | MUST | A toy has wheels\n\
        TOY-1.2-2 | SHOULD | They turn. | D1, D3\n\n## Annex A\nTOY-A.1-1b | MAY | A flag || a light.\n\n\
        ## Decisions\nD1 | How often? | Once.\nD3 | A misprint | Four, not five\n";

    fn table(text: &str) -> (Table<'static>, Vec<String>) {
        let mut found = Vec::new();
        (toy(text, &mut found), found)
    }

    /// What is found in a file beside the table.
    fn judged(path: &str, text: &str) -> (Proofs, Vec<String>) {
        let (table, mut found) = table(TEXT);
        let proofs = judge(&[table], &[(path.to_owned(), text.to_owned())], &mut found);
        (proofs, found)
    }

    const TEST: &str = "    /// Proves: TOY-1.2-1, TOY-A.1-1b\n    /// And more.\n    #[test]\n    \
        fn rolls() {\n    }\n";

    #[test]
    fn what_a_table_says() {
        let (table, found) = table(TEXT);
        assert!(found.is_empty(), "{found:?}");
        let all: Vec<_> = table
            .requirements()
            .map(|Requirement { line, id, class, statement, decisions }| {
                (*line, id.as_str(), *class, statement.as_str(), decisions.join("+"))
            })
            .collect();
        let expected = [
            (4, "TOY-1.2-1", "MUST", "A toy has wheels.", String::new()),
            (5, "TOY-1.2-2", "SHOULD", "They turn.", "D1+D3".into()),
            (8, "TOY-A.1-1b", "MAY", "A flag || a light.", String::new()),
        ];
        assert_eq!(all, expected);
        let titles: Vec<&str> = table.sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["1.2: wheels", "Annex A"]);
        let third = table.decision_of("D3").unwrap();
        assert_eq!((third.title.as_str(), third.text.as_str()), ("A misprint", "Four, not five."));
    }

    #[test]
    fn lines_that_a_table_cannot_have() {
        for (lines, error) in [
            ("TOY-1-1 | MUST | A.\n## 1", ":1: a section comes first"),
            ("## 1\nTOY-1-1 | MUST | A.\nTOY-1-1 | MAY | B.", ":3: TOY-1-1: is in line 2, too"),
            ("## Decisions\nD1 | A | B.\nD1 | A | B.", ":3: D1: is in line 2, too"),
            ("## 1\nTOY-1-1 | MUST", ":2: a line is ID | CLASS | statement"),
            ("## 1\nTOY-1-1 | MUST | A. | D1 | B", ":2: a line is ID | CLASS | statement"),
            ("## 1\nTOY-1-1 | MUST |  | D1", ":2: an empty field"),
            ("## 1\nTOY-1-1 | MUST | A. |", ":2: an empty field"),
            ("## 1\nTOY-1-1 | SHALL | A.", ":2: TOY-1-1: a class is MUST, SHOULD, MAY, not \"SHALL\""),
            ("## 1\nTOY-1 | MUST | A.", ":2: TOY-1: ids are like TOY-4.2-3"),
            ("## 1\nBOX-1-1 | MUST | A.", ":2: BOX-1-1: ids are like TOY-4.2-3"),
            ("## 1\nTOY-1-1 TOY-1-2 | MUST | A.", ":2: TOY-1-1 TOY-1-2: ids are like TOY-4.2-3"),
            ("## 1\nTOY-1-1 | MUST | A. | D0", ":2: TOY-1-1: decisions are like D7, not \"D0\""),
            ("## 1\nTOY-1-1 | MUST | A. | see D1", ":2: TOY-1-1: decisions are like D7, not \"see D1\""),
            (
                "## 1\nTOY-1-1 | MUST | A. | D2\n## Decisions\nD1 | A | B.",
                ":2: TOY-1-1: there is no decision D2",
            ),
            ("## 1\nD1 | A | B.", ":2: D1: ids are like"),
            ("## Decisions\nD1 | A", ":2: a decision is D7 | title | text"),
            ("## Decisions\nTOY-D1 | A | B.", ":2: decisions are like D7, not \"TOY-D1\""),
        ] {
            let (_, found) = table(lines);
            assert_eq!(found.len(), 1, "{lines}: {found:?}");
            let expected = format!("protocols/toy/requirements.txt{error}");
            assert!(found[0].starts_with(&expected), "{lines}: {found:?}");
        }
    }

    #[test]
    fn what_is_a_citation() {
        use Kind::{Broken, Decision, Id};
        for (line, expected) in [
            ("as TOY-1.2-1 says, (TOY-A.1-1b).", &[("TOY-1.2-1", Id), ("TOY-A.1-1b", Id)][..]),
            ("TOY-RPC-12. TOY-3-1", &[("TOY-RPC-12", Id), ("TOY-3-1", Id)]),
            ("it was decided (TOY-D60).", &[("TOY-D60", Decision)]),
            ("TOY-1.2, TOY-5. TOY-A.2", &[("TOY-1.2", Broken), ("TOY-5", Broken), ("TOY-A.2", Broken)]),
            ("TOY-1.2-1..3", &[("TOY-1.2-1", Broken)]),
            ("TOY-1.2-1/2", &[("TOY-1.2-1", Broken)]),
            ("TOY-1.2-1-3", &[("TOY-1.2-1", Broken)]),
            ("TOY-1.2-1bc", &[("TOY-1.2-1b", Broken)]),
            ("TOY-1.2-1... and so on", &[("TOY-1.2-1", Id)]),
            ("TOY-T03, TOY-N, TOY-made, TOYS-1-1, MY-TOY-1-1, aTOY-1-1, TOY_1-1, TOY-", &[]),
        ] {
            let found: Vec<_> =
                citations(line, "TOY").into_iter().map(|Citation { text, kind }| (text, kind)).collect();
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn tests_prove_what_stands_above_them() {
        let (proofs, found) = judged("protocols/toy/tests/a.rs", TEST);
        assert!(found.is_empty(), "{found:?}");
        let ids: Vec<&str> = proofs.keys().map(String::as_str).collect();
        assert_eq!(ids, ["TOY-1.2-1", "TOY-A.1-1b"]);
        let test = Test { file: "protocols/toy/tests/a.rs".into(), name: "rolls".into() };
        assert_eq!(proofs["TOY-1.2-1"], [test]);
        // Two lines above one test, and the id in both.
        let twice = format!("/// Proves: TOY-1.2-1, TOY-1.2-2\n{TEST}");
        let (proofs, found) = judged("a.rs", &twice);
        assert!(found.is_empty() && proofs["TOY-1.2-1"].len() == 1 && proofs["TOY-1.2-2"].len() == 1);
    }

    #[test]
    fn what_proves_nothing_and_leads_nowhere_is_found() {
        let unproven =
            "protocols/toy/requirements.txt:4: TOY-1.2-1: a MUST, and no test proves it".to_owned();
        // No line at all, in a page, in the middle of a line, and in words.
        for (path, text) in [
            ("a.rs", String::new()),
            ("a.md", TEST.to_owned()),
            ("a.rs", "let text = \"// Proves: TOY-1.2-1\";\n#[test]\nfn rolls() {}\n".into()),
            ("a.rs", "// It proves TOY-1.2-1.\n#[test]\nfn rolls() {}\n".into()),
        ] {
            assert_eq!(judged(path, &text).1, [unproven.as_str()], "{text}");
        }
        for text in [
            "/// Proves: TOY-1.2-1\nfn helper() {}\n",
            "/// Proves: TOY-1.2-1\n#[test]\n\nfn rolls() {}\n",
            "/// Proves: TOY-1.2-1\n#[test]\nstruct A;\n",
            "/// Proves: TOY-1.2-1\n",
        ] {
            assert_eq!(judged("a.rs", text).1, ["a.rs:1: no test below", unproven.as_str()], "{text}");
        }
        for (line, error) in [
            ("TOY-1.2-9", "TOY-1.2-9: protocols/toy/requirements.txt has no such line"),
            ("TOY-D2", "TOY-D2: protocols/toy/requirements.txt has no such line"),
            ("TOY-1.2", "TOY-1.2: no id; write each, like TOY-4.2-3"),
            ("TOY-1.2-1..2", "TOY-1.2-1: no id; write each, like TOY-4.2-3"),
        ] {
            for path in ["docs/a.md", "results/a.json", "models/a.rs"] {
                let (_, found) = judged(path, &format!("\nof {line}, \n"));
                assert_eq!(found, [format!("{path}:2: {error}"), unproven.clone()]);
            }
        }
    }

    #[test]
    fn the_page() {
        let (proofs, _) = judged("protocols/toy/tests/a.rs", TEST);
        let (table, _) = table(TEXT);
        let page = page(&table, &proofs);
        assert!(page.starts_with("<!-- Made by "), "xtask figures leaves such a page alone");
        for part in [
            "\n| MUST | 1 | 1 |\n| SHOULD | 1 | 0 |\n| MAY | 1 | 1 |\n",
            "\n- [1.2: wheels](#12-wheels)\n- [Annex A](#annex-a)\n- [Decisions](#decisions)\n\n## 1",
            "- <a id=\"TOY-1.2-1\"></a>**TOY-1.2-1** MUST. A toy has wheels.<br>\n  \
             [tests/a.rs](tests/a.rs): `rolls`\n",
            "**TOY-1.2-2** SHOULD. They turn. *Decided:* [D1](#D1), [D3](#D3).<br>\n  \
             *No test.*\n\n## Annex A\n",
            "- <a id=\"D3\"></a>**D3. A misprint.** Four, not five. *For* [TOY-1.2-2](#TOY-1.2-2).\n",
            "- <a id=\"D1\"></a>**D1. How often?** Once. *For*",
        ] {
            assert!(page.contains(part), "{part}\nis missing in\n{page}");
        }
    }

    #[test]
    fn tests_of_the_crate_come_first() {
        let tests =
            [("analysis/a.rs", "far"), ("protocols/toy/src/b.rs", "one"), ("protocols/toy/src/b.rs", "two")]
                .map(|(file, name)| Test { file: file.into(), name: name.into() });
        let expected = "[src/b.rs](src/b.rs): `one`, `two`; [analysis/a.rs](../../analysis/a.rs): `far`";
        assert_eq!(list_of(&tests, Some("protocols/toy")), expected);
    }

    #[test]
    fn no_protocol_has_the_prefix_of_another() {
        for (at, one) in PROTOCOLS.iter().enumerate() {
            assert!(PROTOCOLS[at + 1..].iter().all(|other| other.prefix != one.prefix));
            assert!(citations(&format!("{}-1-1", one.prefix), "TOY").is_empty());
        }
    }
}
