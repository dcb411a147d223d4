//! Figures in words: each number of a page that a run gave is followed by a comment that readers do not see,
//! `0.333<!--=hol-blocking/fifo-->`. `docs/figures.txt` says where such a figure comes from; this writes it,
//! or finds it stale.
//!
//! What carries no such comment must not look like a figure. Settings and laws may: `<!--=input-->` and
//! `<!--=law-->` stand behind one of them, `(law: ...)` around some, `<!-- figures: WHAT -->` above the
//! rest of a section, and `<!-- figures of this page: WHAT -->` in a page.

use crate::{Checked, tracked};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Where figures come from.
const TABLE: &str = "docs/figures.txt";
/// Summaries of studies and estimates of sweeps.
const RESULTS: &str = "results/reference";
/// What is no figure, and why its number stands there.
const NO_FIGURES: [&str; 2] = ["input", "law"];
/// What a page or section may say of its numbers.
const KINDS: [&str; 4] = ["input", "law", "standard", "measured"];
/// A number with one of these behind it looks like a figure, as one with a point or of 13 591 does.
const UNITS: [&str; 11] = ["Gb/s", "Mb/s", "%", "ps", "ns", "us", "µs", "ms", "s", "GB", "MB"];

/// Writes the figures of all pages below `root`, or only looks (`write` is false).
pub(crate) fn check(root: &Path, write: bool) -> Checked {
    let pages = pages(root)?;
    let read = |path: &str| fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"));
    let results = |file: &str| read(&format!("{RESULTS}/{file}"));
    let table = Table::new(&read(TABLE)?, &results)?;
    let mut found = Vec::new();
    let mut used = BTreeSet::new();
    for page in &pages {
        let text = read(page)?;
        let (now, stale) = rewrite(page, &text, &table, &mut used);
        if write && now != text {
            fs::write(root.join(page), &now).map_err(|error| format!("{page}: {error}"))?;
            println!("{page}: written anew");
        }
        found.extend(
            stale.into_iter().filter(|finding| !(write && finding.cured)).map(|finding| finding.line),
        );
        found.extend(unmarked(page, &now));
    }
    for (name, figure) in &table.figures {
        if !used.contains(name) {
            found.push(format!("{TABLE}:{}: {name}: no page has this figure", figure.line));
        }
    }
    let summary = format!("figures: {} of {} pages come from {RESULTS}", table.figures.len(), pages.len());
    Ok((found, summary))
}

/// Tracked pages for readers; what changed long ago is history.
fn pages(root: &Path) -> Result<Vec<String>, String> {
    let mut pages = tracked(root, &["*.md"])?;
    pages.retain(|path| path != "CHANGELOG.md");
    Ok(pages)
}

/// How a figure is written.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Format {
    decimals: usize,
    /// Thousands apart: 13 591.
    grouped: bool,
}

impl Format {
    fn parse(text: &str) -> Option<Self> {
        if text == "0 000" {
            return Some(Self { decimals: 0, grouped: true });
        }
        let zeros = |text: &str| text.bytes().all(|byte| byte == b'0');
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let fine = whole == "0" && zeros(decimals) && !text.ends_with('.');
        fine.then_some(Self { decimals: decimals.len(), grouped: false })
    }

    fn write(self, value: f64) -> String {
        let text = format!("{value:.*}", self.decimals);
        if !self.grouped {
            return text;
        }
        let mut out = String::new();
        for (at, digit) in text.chars().enumerate() {
            if at > 0 && (text.len() - at) % 3 == 0 && text.as_bytes()[at - 1].is_ascii_digit() {
                out.push(' ');
            }
            out.push(digit);
        }
        out
    }

    /// Where the number begins that ends `text`.
    fn start(self, text: &str) -> usize {
        let bytes = text.as_bytes();
        let digits = |end: usize| bytes[..end].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let mut start = bytes.len() - digits(bytes.len());
        if self.grouped {
            while bytes.len() - start >= 3 && start > 0 && bytes[start - 1] == b' ' {
                let more = digits(start - 1);
                if !(1..=3).contains(&more) {
                    break;
                }
                start -= 1 + more;
                if more < 3 {
                    break;
                }
            }
        } else if start > 0 && start < bytes.len() && bytes[start - 1] == b'.' && digits(start - 1) > 0 {
            start -= 1 + digits(start - 1);
        }
        start
    }
}

struct Figure {
    line: usize,
    text: String,
    format: Format,
}

/// `docs/figures.txt`, with the values of today.
struct Table {
    figures: BTreeMap<String, Figure>,
}

impl Table {
    fn new(text: &str, results: &dyn Fn(&str) -> Result<String, String>) -> Result<Self, String> {
        let mut figures = BTreeMap::new();
        let mut source: Option<(String, Source)> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            let failed = |error: String| format!("{TABLE}:{number}: {error}");
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(file) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let text = results(file).map_err(failed)?;
                let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
                source = Some((name.into(), Source::new(file, &text).map_err(failed)?));
                continue;
            }
            let form = || failed("a line is `name = expression as 0.000`".into());
            let (name, rest) = line.split_once(" = ").ok_or_else(form)?;
            let (expression, format) = rest.rsplit_once(" as ").ok_or_else(form)?;
            let format = Format::parse(format.trim()).ok_or_else(form)?;
            let (file, source) = source.as_ref().ok_or_else(|| failed("a line [file] comes first".into()))?;
            let value = Expression { left: expression, source }.all().map_err(failed)?;
            let name = format!("{file}/{}", name.trim());
            let figure = Figure { line: number, text: format.write(value), format };
            if let Some(earlier) = figures.insert(name.clone(), figure) {
                return Err(failed(format!("{name} is in line {}, too", earlier.line)));
            }
        }
        Ok(Self { figures })
    }
}

/// A file of results.
enum Source {
    Summary(Value),
    Rows(Vec<String>, Vec<Vec<String>>),
}

impl Source {
    fn new(file: &str, text: &str) -> Result<Self, String> {
        if file.ends_with(".json") {
            let value: Value = serde_json::from_str(text).map_err(|error| format!("{file}: {error}"))?;
            return Ok(Self::Summary(value));
        }
        let mut rows = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let head = rows.next().ok_or_else(|| format!("{file} is empty"))?;
        Ok(Self::Rows(head, rows.collect()))
    }

    /// All numbers at a place: `variant > key > name of an element > key`, `*` for all elements; or of a
    /// table `column=value > column=value > column`.
    fn numbers(&self, place: &str) -> Result<Vec<f64>, String> {
        let steps: Vec<&str> = place.split('>').map(str::trim).collect();
        let no = |what: &str| format!("{{{place}}}: {what}");
        match self {
            Self::Summary(summary) => {
                let mut here = vec![&summary["variants"]];
                for step in &steps {
                    let next: Vec<&Value> = here.iter().flat_map(|value| below(value, step)).collect();
                    if next.is_empty() {
                        return Err(no(&format!("there is no \"{step}\"")));
                    }
                    here = next;
                }
                let number = |value: &&Value| value.as_f64().or_else(|| value["value"].as_f64());
                here.iter().map(number).collect::<Option<_>>().ok_or_else(|| no("this is not a number"))
            }
            Self::Rows(head, rows) => {
                let column = |name: &str| {
                    let at = head.iter().position(|column| column == name);
                    at.ok_or_else(|| no(&format!("there is no column \"{name}\"")))
                };
                let (last, wanted) = steps.split_last().ok_or_else(|| no("nothing is named"))?;
                let mut kept: Vec<&Vec<String>> = rows.iter().collect();
                for step in wanted {
                    let (name, value) = step.split_once('=').ok_or_else(|| no("column=value, please"))?;
                    let at = column(name)?;
                    kept.retain(|row| row.get(at).is_some_and(|cell| cell == value));
                }
                let at = column(last)?;
                let numbers = kept.iter().map(|row| row.get(at).and_then(|cell| cell.parse().ok()));
                let numbers: Option<Vec<f64>> = numbers.collect();
                numbers.filter(|all| !all.is_empty()).ok_or_else(|| no("there is no such row, or no number"))
            }
        }
    }
}

/// What of `value` a step names.
fn below<'a>(value: &'a Value, step: &str) -> Vec<&'a Value> {
    match value {
        Value::Object(map) if step == "*" => map.values().collect(),
        Value::Object(map) => map.get(step).into_iter().collect(),
        Value::Array(list) if step == "*" => list.iter().collect(),
        Value::Array(list) => {
            let names = ["name", "flow", "device", "at"];
            let named = |item: &&Value| names.iter().any(|name| item[*name].as_str() == Some(step));
            match list.iter().find(named) {
                Some(item) => vec![item],
                None => step.parse().ok().and_then(|at: usize| list.get(at)).into_iter().collect(),
            }
        }
        _ => Vec::new(),
    }
}

/// Numbers, `{place}`, `max{place}`, `min{place}`, `sum{place}`, + - * / and parentheses.
struct Expression<'a> {
    left: &'a str,
    source: &'a Source,
}

impl<'a> Expression<'a> {
    fn all(mut self) -> Result<f64, String> {
        let value = self.sum()?;
        if !self.left.trim().is_empty() {
            return Err(format!("what does \"{}\" mean?", self.left.trim()));
        }
        if !value.is_finite() {
            return Err("this is not finite".into());
        }
        Ok(value)
    }

    fn sign(&mut self, signs: &[char]) -> Option<char> {
        self.left = self.left.trim_start();
        let sign = self.left.chars().next().filter(|sign| signs.contains(sign))?;
        self.left = &self.left[1..];
        Some(sign)
    }

    fn sum(&mut self) -> Result<f64, String> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let other = self.product()?;
            value += if sign == '+' { other } else { -other };
        }
        Ok(value)
    }

    fn product(&mut self) -> Result<f64, String> {
        let mut value = self.one()?;
        while let Some(sign) = self.sign(&['*', '/']) {
            let other = self.one()?;
            value = if sign == '*' { value * other } else { value / other };
        }
        Ok(value)
    }

    fn until(&mut self, end: char) -> Result<&'a str, String> {
        let (inside, rest) = self.left.split_once(end).ok_or_else(|| format!("a {end} is missing"))?;
        self.left = rest;
        Ok(inside)
    }

    fn one(&mut self) -> Result<f64, String> {
        if self.sign(&['(']).is_some() {
            let value = self.sum()?;
            return self.sign(&[')']).map(|_| value).ok_or_else(|| "a ) is missing".into());
        }
        let left = self.left.trim_start();
        let word = left.len() - left.trim_start_matches(|c: char| c.is_ascii_alphabetic()).len();
        if left[word..].starts_with('{') {
            self.left = &left[word + 1..];
            let place = self.until('}')?;
            let numbers = self.source.numbers(place)?;
            let pick = |better: fn(f64, f64) -> f64| numbers.iter().copied().reduce(better);
            return match &left[..word] {
                "" if numbers.len() == 1 => Ok(numbers[0]),
                "" => Err(format!("{{{place}}}: there are {} of them", numbers.len())),
                "max" => pick(f64::max).ok_or_else(String::new),
                "min" => pick(f64::min).ok_or_else(String::new),
                "sum" => Ok(numbers.iter().sum()),
                other => Err(format!("max, min or sum, not {other}")),
            };
        }
        let end = left.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(left.len());
        self.left = &left[end..];
        left[..end].parse().map_err(|_| format!("a number or a place is missing before \"{left}\""))
    }
}

struct Finding {
    line: String,
    /// Whether writing the page anew cures it.
    cured: bool,
}

/// The page with the figures of today, and what was wrong.
fn rewrite(page: &str, text: &str, table: &Table, used: &mut BTreeSet<String>) -> (String, Vec<Finding>) {
    let mut now = String::with_capacity(text.len());
    let mut found = Vec::new();
    let mut fence = false;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        fence ^= line.trim_start().starts_with("```");
        let mut rest = line;
        while let Some((before, name, after)) = marker(rest) {
            rest = after;
            let mut finding = |what: String, cured: bool| {
                found.push(Finding { line: format!("{page}:{number}: {name}: {what}"), cured });
            };
            let comment = |name: &str| format!("<!--={name}-->");
            if fence {
                finding("a comment in code can be seen".into(), false);
            } else if let Some(figure) = table.figures.get(name) {
                used.insert(name.to_owned());
                let start = figure.format.start(before);
                let stands = &before[start..];
                if stands.is_empty() {
                    finding(format!("no number stands before it, {} should", figure.text), false);
                } else if stands != figure.text {
                    finding(format!("{stands} stands there, {} is measured", figure.text), true);
                    now.push_str(&before[..start]);
                    now.push_str(&figure.text);
                    now.push_str(&comment(name));
                    continue;
                }
            } else if !NO_FIGURES.contains(&name) {
                finding(format!("there is no such figure in {TABLE}"), false);
            }
            now.push_str(before);
            now.push_str(&comment(name));
        }
        now.push_str(rest);
    }
    (now, found)
}

/// What is before the first comment of a figure, its name, and what is behind it.
fn marker(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("<!--=")?;
    let (name, after) = rest.split_once("-->")?;
    Some((before, name, after))
}

/// Numbers that look like figures, and say neither where they come from nor that they are none.
fn unmarked(page: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut fence, mut section) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fence = !fence;
            continue;
        }
        if fence {
            continue;
        }
        if line.starts_with('#') {
            section = false;
        }
        if line.starts_with("<!-- Made by ") {
            // all of the page is written by a program
            return found;
        }
        if let Some((whole_page, words)) = allowance(line) {
            let kind = words.split([' ', ',', ':']).next().unwrap_or_default();
            if !KINDS.contains(&kind) {
                found.push(format!("{page}:{number}: figures are {}, not \"{kind}\"", KINDS.join(", ")));
            }
            if whole_page {
                return found;
            }
            section = true;
            continue;
        }
        if section {
            continue;
        }
        for figure in look_alikes(line) {
            found.push(format!(
                "{page}:{number}: {figure}: by hand? {TABLE} has where figures come from; <!--=input--> and \
                 <!--=law--> stand behind what is none"
            ));
        }
    }
    found
}

/// `<!-- figures: WHAT -->` and `<!-- figures of this page: WHAT -->` (true).
fn allowance(line: &str) -> Option<(bool, &str)> {
    let inside = line.trim().strip_prefix("<!-- figures")?.strip_suffix("-->")?;
    let (which, what) = inside.split_once(':')?;
    Some((which == " of this page", what.trim()))
}

/// Numbers with a point, a unit or more than three digits, outside of code, addresses, comments and laws in
/// parentheses.
fn look_alikes(line: &str) -> Vec<String> {
    let chars: Vec<char> = visible(line).chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let part = at > 0 && (chars[at - 1].is_alphanumeric() || "._/-=+".contains(chars[at - 1]));
        let start = at;
        let digits = |from: usize| chars[from..].iter().take_while(|c| c.is_ascii_digit()).count();
        let whole = digits(at);
        if whole == 0 {
            at += 1;
            continue;
        }
        at += whole;
        let mut groups = 0;
        while whole <= 3 && chars.get(at) == Some(&' ') && digits(at + 1) == 3 {
            at += 4;
            groups += 1;
        }
        let mut decimals = 0;
        let mut points = 0;
        while chars.get(at) == Some(&'.') && digits(at + 1) > 0 {
            decimals = digits(at + 1);
            at += 1 + decimals;
            points += 1;
        }
        let rest: String = chars[at..].iter().collect();
        // 4x, 5th, a name; a version or a section; what has a comment of its own
        let word = rest.starts_with(|c: char| c.is_alphabetic() || c == '-' || c == '_' || c == '/');
        if part || word || points > 1 || rest.starts_with(MARKED) {
            continue;
        }
        let unit = rest.strip_prefix(' ').and_then(|rest| {
            UNITS.iter().find(|unit| {
                rest.strip_prefix(**unit)
                    .is_some_and(|after| !after.starts_with(|c: char| c.is_alphanumeric()))
            })
        });
        if decimals + groups > 0 || unit.is_some() {
            let number: String = chars[start..at].iter().collect();
            found.push(unit.map_or(number.clone(), |unit| format!("{number} {unit}")));
        }
    }
    found
}

/// Stands for a comment of a figure in what [`visible`] leaves.
const MARKED: char = '\u{1}';

/// The line without what is no text: code, addresses of links, comments, `(law: ...)`.
fn visible(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    let ends = [("`", "`"), ("](", ")"), ("<!--=", "-->"), ("<!--", "-->"), ("(law", ")")];
    'line: while let Some(first) = rest.chars().next() {
        for (begin, end) in ends {
            let Some(inside) = rest.strip_prefix(begin) else { continue };
            let Some(length) = inside.find(end) else { continue };
            rest = &inside[length + end.len()..];
            out.push(if begin == "<!--=" { MARKED } else { ' ' });
            continue 'line;
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE_TEXT: &str = "# a comment\n\n[one.json]\n\
        load = {base > flows > victim > accepted_load} as 0.000\n\
        sent = {base > fabric > packets} as 0 000\n\
        busiest = 100 * max{base > ports > * > use} as 0\n\
        mean = (sum{base > ports > * > use} - 0.1) / 2 as 0.00\n\n\
        [sweep.csv]\nlate = {load=0.5 > variant=b > late} as 0.0\n";

    fn results(file: &str) -> Result<String, String> {
        match file {
            "one.json" => Ok(r#"{"variants": [{"name": "base", "fabric": {"packets": 1013591},
                "flows": [{"name": "hot", "accepted_load": {"value": 1}},
                          {"name": "victim", "accepted_load": {"value": 0.3334, "ci95": null}}],
                "ports": [{"use": 0.5}, {"use": 0.9}]}]}"#
                .into()),
            "sweep.csv" => Ok("load,variant,late\n0.5,a,7\n0.5,b,8.25\n".into()),
            _ => Err(format!("{file} is not there")),
        }
    }

    fn table(text: &str) -> Result<Table, String> {
        Table::new(text, &results)
    }

    /// The page of today, and what was wrong, without what could be cured if `write`.
    fn page(text: &str) -> (String, Vec<String>) {
        let (now, found) = rewrite("a.md", text, &table(TABLE_TEXT).unwrap(), &mut BTreeSet::new());
        (now, found.into_iter().map(|finding| finding.line).collect())
    }

    #[test]
    fn figures_come_from_results() {
        let table = table(TABLE_TEXT).unwrap();
        let figures: Vec<(&str, &str)> =
            table.figures.iter().map(|(name, figure)| (name.as_str(), figure.text.as_str())).collect();
        let expected = [
            ("one/busiest", "90"),
            ("one/load", "0.333"),
            ("one/mean", "0.65"),
            ("one/sent", "1 013 591"),
            ("sweep/late", "8.2"),
        ];
        assert_eq!(figures, expected);
    }

    #[test]
    fn a_stale_figure_is_found_and_written_anew() {
        let fine =
            "# A\n\nit gets 0.333<!--=one/load--> of 1 013 591<!--=one/sent-->, 90<!--=one/busiest--> %.\n";
        assert_eq!(page(fine), (fine.to_owned(), vec![]));
        let (now, found) = page(&fine.replace("0.333", "0.35").replace("1 013 591", "977"));
        assert_eq!(now, fine);
        assert_eq!(
            found,
            [
                "a.md:3: one/load: 0.35 stands there, 0.333 is measured",
                "a.md:3: one/sent: 977 stands there, 1 013 591 is measured",
            ]
        );
    }

    #[test]
    fn where_a_number_begins() {
        let plain = Format { decimals: 2, grouped: false };
        let grouped = Format { decimals: 0, grouped: true };
        for (format, text, number) in [
            (plain, "with 4 1.25", "1.25"),
            (plain, "with 4 125", "125"),
            (plain, "from 1.5", "1.5"),
            (plain, "x.5", "5"),
            (plain, "none ", ""),
            (grouped, "with 13 591", "13 591"),
            (grouped, "of 1 013 591", "1 013 591"),
            (grouped, "of 2000 591", "591"),
            (grouped, "of 12", "12"),
            (grouped, "are ", ""),
        ] {
            assert_eq!(&text[format.start(text)..], number, "{text}");
        }
    }

    #[test]
    fn what_nobody_knows_is_an_error() {
        let (_, found) = page("0.4<!--=one/lost-->, none<!--=one/load-->");
        assert_eq!(
            found,
            [
                "a.md:1: one/lost: there is no such figure in docs/figures.txt",
                "a.md:1: one/load: no number stands before it, 0.333 should",
            ]
        );
        assert_eq!(page("```\n0.333<!--=one/load-->\n```").1.len(), 1, "it would be seen in code");
        for (text, error) in [
            ("[two.json]", "two.json is not there"),
            ("[one.json]\na = {bass > flows} as 0", "there is no \"bass\""),
            ("[one.json]\na = {base > flows > victims > accepted_load} as 0", "there is no \"victims\""),
            ("[one.json]\na = {base > flows > victim > accepted} as 0", "there is no \"accepted\""),
            ("[one.json]\na = {base > flows} as 0", "this is not a number"),
            ("[one.json]\na = {base > ports > * > use} as 0", "there are 2 of them"),
            ("[one.json]\na = 1 / 0 as 0", "this is not finite"),
            ("[one.json]\na = 1 + as 0", "a number or a place is missing"),
            ("[one.json]\na = (1 as 0", "a ) is missing"),
            ("[one.json]\na = 1 2 as 0", "what does \"2\" mean?"),
            ("[one.json]\na = mean{base > ports > * > use} as 0", "max, min or sum, not mean"),
            ("[one.json]\na = 1 as 0.x", "a line is"),
            ("[one.json]\na = 1", "a line is"),
            ("a = 1 as 0", "a line [file] comes first"),
            ("[one.json]\na = 1 as 0\na = 2 as 0", "is in line 2, too"),
            ("[sweep.csv]\na = {load=0.6 > late} as 0", "there is no such row"),
            ("[sweep.csv]\na = {load=0.5 > late} as 0", "there are 2 of them"),
            ("[sweep.csv]\na = {load > late} as 0", "column=value, please"),
            ("[sweep.csv]\na = {rate=1 > late} as 0", "there is no column \"rate\""),
        ] {
            let found = table(text).map(|_| ()).expect_err(text);
            assert!(found.starts_with(TABLE) && found.contains(error), "{text}: {found}");
        }
    }

    #[test]
    fn what_looks_like_a_figure() {
        for (line, expected) in [
            ("goodput is 2.05 Gb/s, p99 12 us", &["2.05 Gb/s", "12 us"][..]),
            ("it takes 13 591 messages, 0.95 of 64", &["13 591", "0.95"]),
            ("11 % and 3 times", &["11 %"]),
            ("2.05<!--=one/load--> Gb/s, 12<!--=input--> us (law: 2.04, 11 us)", &[]),
            ("`load=0.7`, [a](a-0.4.md), <!-- 7 us -->", &[]),
            ("4x links, 2.5.1, ST-5.2.5-4, §3.4.3, 1e-6, F.6, 3 packets, 5 sessions", &[]),
        ] {
            assert_eq!(look_alikes(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_said_of_sections_and_pages() {
        let lines = |text: &str| unmarked("a.md", text).len();
        assert_eq!(lines("# A\n3 us\n## B\n4 us\n```\n5 us\n```\n"), 2);
        assert_eq!(lines("# A\n<!-- figures: input -->\n3 us\n## B\n4 us\n"), 1);
        assert_eq!(lines("# A\n<!-- figures of this page: law, by hand -->\n3 us\n## B\n4 us\n"), 0);
        assert_eq!(lines("# A\n<!-- figures: guessed -->\n3 us\n"), 1);
        assert_eq!(lines("# A\n<!-- Made by `riosim validate`. -->\n3 us\n## B\n4 us\n"), 0);
    }
}
