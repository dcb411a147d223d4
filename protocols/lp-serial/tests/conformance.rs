//! `docs/conformance-link.md` and the `Shows:` lines of the tests say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Statements by test: the `Shows:` line of its comment, which may go on over several lines.
fn shown(source: &str, into: &mut BTreeMap<String, BTreeSet<String>>) {
    let mut ids = BTreeSet::new();
    let mut showing = false;
    for line in source.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix("///") {
            let comment = comment.trim();
            let list = comment.strip_prefix("Shows:");
            showing = list.is_some() || (showing && comment.starts_with('R'));
            if showing {
                let list = list.unwrap_or(comment).split(',').map(str::trim);
                ids.extend(list.filter(|id| !id.is_empty()).map(String::from));
            }
        } else if let Some(name) = line.strip_prefix("fn ") {
            let name = name.split('(').next().expect("split yields one").to_string();
            if !ids.is_empty() {
                into.entry(name).or_default().append(&mut ids);
            }
            showing = false;
        }
    }
}

fn sources(folder: &Path, visit: &mut impl FnMut(&str)) {
    for entry in fs::read_dir(folder).expect("a folder of this crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, visit);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            visit(&fs::read_to_string(&path).expect("a source is text"));
        }
    }
}

#[test]
fn the_table_and_the_tests_agree() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut tests = BTreeMap::new();
    for folder in ["src", "tests"] {
        sources(&root.join(folder), &mut |source| shown(source, &mut tests));
    }
    let page = fs::read_to_string(root.join("../../docs/conformance-link.md")).expect("the page");
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .filter(|(ids, _)| ids.starts_with('R'))
        .collect();
    let mut listed = BTreeSet::new();
    for (id, text) in rows.iter().flat_map(|&(ids, text)| ids.split(' ').map(move |id| (id, text))) {
        assert!(listed.insert(id), "{id} is listed twice");
        for (name, ids) in &tests {
            if ids.contains(id) {
                assert!(
                    text.contains(&format!("`{name}`")),
                    "{id} is shown by {name}, the page says: {text}"
                );
            }
        }
    }
    assert_eq!(listed.len(), 563, "statements of chapters 3 and 5 of Part 6 and of Part 12");
    for (name, ids) in &tests {
        for id in ids {
            assert!(listed.contains(id.as_str()), "{name} shows {id}, which is not on the page");
        }
    }
    for (_, text) in rows.iter().filter(|(_, text)| text.starts_with('`') && !text.contains("`: ")) {
        for name in text.split('`').skip(1).step_by(2) {
            assert!(tests.contains_key(name), "{name} is on the page and no test that shows anything");
        }
    }
}
