//! Pages and their links: every page of `docs` is in the book (`docs/SUMMARY.md`), and every link of every
//! page leads to something.
//!
//! `mdbook build` makes the book of the folder `docs` alone, so a page of the book links to pages of the
//! book.

use crate::requirements::anchor;
use crate::{Checked, tracked};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What the book is made of.
const FOLDER: &str = "docs/";
/// Its table of contents.
const SUMMARY: &str = "docs/SUMMARY.md";
/// What changed long ago is history, and so are its links.
const HISTORY: &str = "CHANGELOG.md";

/// Looks at all pages below `root`.
pub(crate) fn check(root: &Path) -> Checked {
    let files: BTreeSet<String> = tracked(root, &[])?.into_iter().collect();
    let mut pages = BTreeMap::new();
    for path in files.iter().filter(|path| path.ends_with(".md")) {
        let text = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        pages.insert(path.as_str(), text);
    }
    let found = findings(&files, &pages);
    let count = pages.keys().filter(|path| path.starts_with(FOLDER)).count() - 1;
    Ok((found, format!("book: {count} pages, and every link of {} pages leads somewhere", pages.len())))
}

fn findings(files: &BTreeSet<String>, pages: &BTreeMap<&str, String>) -> Vec<String> {
    let anchors: BTreeMap<&str, BTreeSet<String>> =
        pages.iter().map(|(path, text)| (*path, anchors(text))).collect();
    let (mut found, mut listed) = (Vec::new(), Vec::new());
    for (path, text) in pages.iter().filter(|(path, _)| **path != HISTORY) {
        for (line, target) in links(text) {
            let wrong = |what: &str| format!("{path}:{line}: {target}: {what}");
            let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
            let file = if file.is_empty() { (*path).to_owned() } else { resolved(path, file) };
            if *path == SUMMARY {
                listed.push(file.clone());
            }
            let folder = format!("{}/", file.trim_end_matches('/'));
            if !files.contains(&file) && !files.iter().any(|known| known.starts_with(&folder)) {
                found.push(wrong("there is no such file"));
            } else if path.starts_with(FOLDER) && !file.starts_with(FOLDER) {
                found.push(wrong("leads out of the book"));
            } else if !anchor.is_empty()
                && anchors.get(file.as_str()).is_some_and(|known| !known.contains(anchor))
            {
                found.push(wrong("the page has no such heading"));
            }
        }
    }
    for path in pages.keys().filter(|path| path.starts_with(FOLDER) && **path != SUMMARY) {
        match listed.iter().filter(|file| file == path).count() {
            1 => {}
            0 => found.push(format!("{SUMMARY}: {path} is missing")),
            _ => found.push(format!("{SUMMARY}: {path} is there twice")),
        }
    }
    found
}

/// A path as seen from a page.
fn resolved(page: &str, file: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in file.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Lines of a page outside of blocks of code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let fence = line.trim_start().starts_with("```");
        let inside = code || fence;
        code ^= fence;
        (!inside).then_some((index + 1, line))
    })
}

/// Addresses of links and pictures within the workspace, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        // what stands between backticks is code
        let line: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if !target.contains(':') {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// Anchors of a page: of its headings, the second of the same name with `-1`, and those that it names itself.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut headings: BTreeMap<String, usize> = BTreeMap::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() < line.len() && title.starts_with(' ') {
            let name = anchor(title.trim());
            let before = headings.entry(name.clone()).or_default();
            found.insert(if *before == 0 { name } else { format!("{name}-{before}") });
            *before += 1;
        }
        let ids = line.split("<a id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        found.extend(ids.map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(pages: &[(&'static str, &str)]) -> Vec<String> {
        let files = pages.iter().map(|(path, _)| (*path).to_owned()).collect();
        findings(&files, &pages.iter().map(|(path, text)| (*path, (*text).to_owned())).collect())
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let page = |link: &str| {
            let text = format!("# A: b\n\n{link}\n\n# A: b\n\n<a id=\"D1\"></a>\n");
            wrong(&[("a.md", &text), ("b/c.md", "## What it is\n")])
        };
        for right in ["[x](#a-b) [y](#a-b-1) [z](#D1)", "[x](b/c.md#what-it-is), [y](b)", "`[x](nowhere)`"] {
            assert_eq!(page(right), [""; 0], "{right}");
        }
        assert_eq!(page("```\n[x](nowhere)\n```"), [""; 0]);
        assert_eq!(page("[x](b/d.md)"), ["a.md:3: b/d.md: there is no such file"]);
        assert_eq!(page("![x](c.svg)"), ["a.md:3: c.svg: there is no such file"]);
        assert_eq!(page("[x](b/c.md#why)"), ["a.md:3: b/c.md#why: the page has no such heading"]);
        assert_eq!(page("[x](#a-b-2)"), ["a.md:3: #a-b-2: the page has no such heading"]);
    }

    #[test]
    fn the_book_has_every_page_once_and_no_way_out() {
        let book = |summary: &str, page: &str| {
            wrong(&[("a.md", ""), ("docs/SUMMARY.md", summary), ("docs/b/c.md", page), ("docs/d.md", "")])
        };
        let whole = "- [c](b/c.md)\n  - [d](d.md)\n";
        assert_eq!(book(whole, "[d](../d.md)"), [""; 0]);
        assert_eq!(book(whole, "[a](../../a.md)"), ["docs/b/c.md:1: ../../a.md: leads out of the book"]);
        assert_eq!(book("[d](d.md)", ""), ["docs/SUMMARY.md: docs/b/c.md is missing"]);
        assert_eq!(book(&whole.repeat(2), "").len(), 2);
    }
}
