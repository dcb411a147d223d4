//! The rooms of the crates. A room is a folder with its file, or a file. No rooms name each other in a
//! circle; in `models` and `scenarios` there are levels besides. And no files call each other's methods in a
//! circle.

use crate::Checked;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;

/// A crate with rooms.
struct House {
    /// Where they are.
    folder: &'static str,
    /// Rooms from the bottom up, if it has levels. A room may name those on its own level and below.
    levels: &'static [&'static [&'static str]],
    /// Whose methods call each other.
    parts: &'static [Part],
}

/// A type whose methods are in several files, and what names it in front of a method; `self` is always one.
type Part = (&'static str, &'static [&'static str]);

const HOUSES: [House; 5] = [
    House { folder: "sim-core/src", levels: &[], parts: &[] },
    MODELS,
    House {
        folder: "scenarios/compiler/src",
        levels: &[
            &[
                "diagnostic",
                "excerpt",
                "fabric",
                "goal",
                "names",
                "plan",
                "source",
                "studies",
                "templates",
                "units",
            ],
            &["settings"],
            &["topology"],
            &["routing", "schema", "spec"],
            &["pointer", "presets", "quantities", "sampling", "structure"],
            &["resolved"],
            &["compiler"],
            &["configure", "effect", "faults", "ids", "medium", "require", "tables", "translators", "voq"],
            &["flow"],
            &["channels", "check", "expand"],
            &["resolve"],
            &["compile"],
            &["report", "sweep"],
        ],
        parts: &[("Compiler", &["c"])],
    },
    House { folder: "analysis/src", levels: &[], parts: &[] },
    House { folder: "bin/src", levels: &[], parts: &[] },
];

const MODELS: House = House {
    folder: "models/src",
    levels: &[
        &["ports"],
        &["config", "event", "goal", "ids", "path", "ratio", "transfer_rate"],
        &["observe"],
        &["packet"],
        &["link"],
        &["voq"],
        &["switch", "endpoint"],
        &["registers"],
        &["agent"],
        &["world"],
        &["cut"],
        &["run"],
    ],
    parts: &[
        ("Fabric", &["fabric"]),
        ("Links", &["links"]),
        ("Switch", &["switch", "]"]),
        ("Endpoint", &["endpoint", "]"]),
        ("Backpressure", &["backpressure"]),
        ("End", &["end", "sender", "partner", ")"]),
    ],
};

impl House {
    fn level(&self, room: &str) -> Option<usize> {
        self.levels.iter().position(|rooms| rooms.contains(&room))
    }

    /// What is wrong with the level of a file that names these rooms.
    fn examine(&self, path: &str, named: &BTreeSet<&str>) -> Option<String> {
        let own = room_of(path).filter(|_| !self.levels.is_empty())?;
        let folder = self.folder;
        let Some(from) = self.level(own) else {
            return Some(format!("{folder}/{path}: a room that nobody has given a level"));
        };
        let above = named.iter().find(|to| self.level(to).is_some_and(|to| to > from));
        above.map(|to| format!("{folder}/{path}: names {to}, which lies above {own}"))
    }
}

/// The room of a file; `path` is from the folder of the rooms. `None`: the file that shows the rooms.
fn room_of(path: &str) -> Option<&str> {
    path.split(['/', '.']).next().filter(|room| !["lib", "main"].contains(room))
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn first_name(path: &str) -> &str {
    &path[..path.find(|c| !is_name(c)).unwrap_or(path.len())]
}

/// The parts of a list in braces, of which `text` is what follows the opening one.
fn listed(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    parts
}

/// Code of a file, without comments and tests.
fn code(text: &str) -> String {
    let lines = text.lines().take_while(|line| *line != "mod tests {");
    lines.filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect()
}

/// The rooms of a crate, and which of them the names are from that `lib.rs` shows.
struct Rooms<'a> {
    names: BTreeSet<&'a str>,
    shown: BTreeMap<String, &'a str>,
}

impl<'a> Rooms<'a> {
    /// Of files (path, text).
    fn new(files: &'a [(String, String)]) -> Self {
        let names: BTreeSet<&str> = files.iter().filter_map(|(path, _)| room_of(path)).collect();
        let mut shown = BTreeMap::new();
        for (_, text) in files.iter().filter(|(path, _)| room_of(path).is_none()) {
            let code = code(text);
            for used in code.split("use ").skip(1) {
                let path = used.split(';').next().unwrap_or_default().trim_start_matches("crate::");
                let Some(room) = names.get(first_name(path)) else { continue };
                let names = match path.split_once('{') {
                    Some((_, list)) => listed(list),
                    None => path.rsplit("::").take(1).collect(),
                };
                shown.extend(names.into_iter().map(|name| (first_name(name).to_owned(), *room)));
            }
        }
        Self { names, shown }
    }

    /// The rooms that the code of a file names, its own apart.
    fn named(&self, path: &str, text: &str) -> BTreeSet<&'a str> {
        // From a file so deep, that many steps up lead to the root.
        let up = "super::".repeat(path.split('/').count());
        let code = code(text).replace(&up, "crate::");
        let paths = code.split("crate::").skip(1).flat_map(|path| match path.strip_prefix('{') {
            Some(list) => listed(list),
            None => vec![path],
        });
        let room = |name: &str| self.names.get(name).or_else(|| self.shown.get(name)).copied();
        paths.filter_map(|path| room(first_name(path))).filter(|room| Some(*room) != room_of(path)).collect()
    }
}

/// Which room names which, and the first file in which it does.
type Arrows<'a> = BTreeMap<(&'a str, &'a str), &'a str>;

fn arrows(files: &[(String, String)]) -> Arrows<'_> {
    let rooms = Rooms::new(files);
    let mut arrows = Arrows::new();
    for (path, text) in files {
        let Some(from) = room_of(path) else { continue };
        for to in rooms.named(path, text) {
            arrows.entry((from, to)).or_insert(path);
        }
    }
    arrows
}

/// A shortest way over arrows from a room back to it.
fn way_back<'a>(arrows: &Arrows<'a>, start: &'a str) -> Option<Vec<&'a str>> {
    let mut seen = BTreeSet::new();
    let mut ways = VecDeque::from([vec![start]]);
    while let Some(way) = ways.pop_front() {
        for &(_, to) in arrows.keys().filter(|(from, _)| way.last() == Some(from)) {
            let longer = [&way[..], &[to]].concat();
            if to == start {
                return Some(longer);
            }
            if seen.insert(to) {
                ways.push_back(longer);
            }
        }
    }
    None
}

/// A shortest circle of rooms, each with the file that names it.
fn round(arrows: &Arrows<'_>) -> Option<String> {
    let starts: BTreeSet<&str> = arrows.keys().map(|(from, _)| *from).collect();
    let way = starts.into_iter().filter_map(|start| way_back(arrows, start)).min_by_key(Vec::len)?;
    let steps = way.windows(2).map(|step| format!(" -> {} ({})", step[1], arrows[&(step[0], step[1])]));
    Some(way[0].to_owned() + &steps.collect::<String>())
}

/// The bodies of `impl` blocks of parts in a file, each with the name of its part.
fn bodies<'a>(parts: &[Part], text: &'a str) -> Vec<(&'a str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines().take_while(|line| *line != "mod tests {") {
        if line.starts_with("impl") {
            let name = line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default();
            let name = name.split('<').next().unwrap_or_default();
            let part = parts.iter().find(|part| part.0 == name);
            inside = part.is_some();
            found.extend(part.map(|part| (part.0, String::new())));
        } else if line == "}" {
            inside = false;
        } else if inside
            && !line.trim_start().starts_with("//")
            && let Some((_, body)) = found.last_mut()
        {
            // A chain of calls may go on in the next line.
            let starts = !line.trim_start().starts_with('.');
            body.push_str(if starts { "\n" } else { "" });
            body.push_str(if starts { line } else { line.trim_start() });
        }
    }
    found
}

/// Names of the methods in the body of a part.
fn methods(body: &str) -> impl Iterator<Item = &str> {
    let signatures = body.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
    signatures.filter_map(|line| {
        let (_, after) = line.split_once("fn ")?;
        after.split(['<', '(']).next()
    })
}

/// Calls in the body of `part`: whose method, and which.
fn calls<'a>(parts: &[Part], part: &str, body: &'a str) -> Vec<(&'static str, &'a str)> {
    let mut found = Vec::new();
    for (at, _) in body.match_indices('.') {
        let (before, after) = (&body[..at], &body[at + 1..]);
        let end = after.find(|c: char| !is_name(c)).unwrap_or(after.len());
        if !after[end..].starts_with(['(', ':']) {
            continue;
        }
        let start = before.rfind(|c: char| !is_name(c)).map_or(0, |last| last + 1);
        let receiver = &before[start..];
        let receiver = if receiver.is_empty() { &before[before.len().saturating_sub(1)..] } else { receiver };
        let whose = |names: &[&str]| names.contains(&receiver);
        let meant = parts.iter().filter(|(name, names)| whose(names) || receiver == "self" && *name == part);
        found.extend(meant.map(|(name, _)| (*name, &after[..end])));
    }
    found
}

/// Files of `texts` (path, text) that call each other's methods in a circle, or lead to such.
fn circle<'a>(parts: &[Part], texts: &'a [(String, String)]) -> BTreeSet<&'a str> {
    let read: Vec<(&str, Vec<(&str, String)>)> =
        texts.iter().map(|(path, text)| (path.as_str(), bodies(parts, text))).collect();
    let mut homes: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (path, bodies) in &read {
        for (part, body) in bodies {
            methods(body).for_each(|name| {
                homes.entry((part, name)).or_default().insert(path);
            });
        }
    }
    let mut edges: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (path, bodies) in &read {
        for call in bodies.iter().flat_map(|(part, body)| calls(parts, part, body)) {
            let to = homes.get(&call).into_iter().flatten().filter(|to| *to != path);
            edges.extend(to.map(|to| (*path, *to)));
        }
    }
    // Who calls nobody that is left is in no circle.
    loop {
        let callers: BTreeSet<&str> = edges.iter().map(|(from, _)| *from).collect();
        let before = edges.len();
        edges.retain(|(_, to)| callers.contains(to));
        if edges.len() == before {
            return callers;
        }
    }
}

/// Checks the direction of the rooms.
pub(crate) fn check(root: &Path) -> Checked {
    let (mut found, mut count) = (Vec::new(), 0);
    for house in HOUSES {
        let folder = house.folder;
        let mut files = Vec::new();
        let all = crate::tracked(root, &[&format!("{folder}/*.rs")])?;
        // Tests may look at anything, in a file of their own as well.
        for file in all.into_iter().filter(|file| !file.ends_with("/tests.rs")) {
            let text =
                std::fs::read_to_string(root.join(&file)).map_err(|error| format!("{file}: {error}"))?;
            files.push((file.strip_prefix(folder).unwrap_or(&file).trim_start_matches('/').to_owned(), text));
        }
        count += files.len();
        let rooms = Rooms::new(&files);
        found.extend(files.iter().filter_map(|(path, text)| house.examine(path, &rooms.named(path, text))));
        let way = round(&arrows(&files));
        found.extend(way.map(|way| format!("{folder}: rooms name each other in a circle: {way}")));
        let circle = circle(house.parts, &files);
        if !circle.is_empty() {
            found.push(format!("{folder}: files call each other's methods in a circle, among {circle:?}"));
        }
    }
    Ok((
        found,
        format!("rooms: {count} files of {} crates, none in a circle or above its level", HOUSES.len()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn a_room_names_what_lies_below_it() {
        let lib = ("lib.rs", "pub use observe::{probe, stats};\npub use registers::enumeration;");
        let names = ["observe.rs", "packet.rs", "link.rs", "agent.rs", "registers.rs", "world.rs"];
        let house: Vec<(&str, &str)> = names.into_iter().map(|path| (path, "")).chain([lib]).collect();
        let house = files(&house);
        let rooms = Rooms::new(&house);
        let wrong = |path: &str, text: &str| MODELS.examine(path, &rooms.named(path, text));
        assert_eq!(wrong("link/wire.rs", "use crate::packet::List;\nuse crate::probe::Cause;"), None);
        assert_eq!(wrong("link.rs", "// crate::world does that\nlet x = crate::link::wire::Wire;"), None);
        assert_eq!(wrong("link.rs", "#[cfg(test)]\nmod tests {\n    use crate::world::Fabric;"), None);
        assert_eq!(wrong("lib.rs", "pub use crate::world::Fabric;"), None);
        let up = wrong("packet/carried.rs", "let x = crate::agent::Agent::new();");
        assert!(up.is_some_and(|text| text.contains("names agent, which lies above packet")));
        assert!(wrong("observe.rs", "use crate::enumeration::Outline;").is_some());
        assert!(wrong("registers.rs", "use crate::{packet::{List, NIL}, agent::data};").is_some());
        assert!(wrong("link/wire.rs", "use super::super::agent;").is_some());
        assert!(wrong("cellar.rs", "").is_some_and(|text| text.contains("given a level")));
    }

    #[test]
    fn rooms_in_a_circle_are_found() {
        let low = [("spec.rs", "use crate::units;"), ("units.rs", ""), ("flow.rs", "")];
        let middle = ("flow/echo.rs", "use crate::{spec::FlowSpec, check::Quantities};");
        let high = ("check.rs", "use crate::spec::*;\nuse crate::KINDS;");
        let way = |lib| round(&arrows(&files(&[&low[..], &[middle, high, ("lib.rs", lib)]].concat())));
        assert_eq!(way("mod flow;"), None);
        let found = way("pub use flow::{KINDS, Kind};");
        assert_eq!(found.as_deref(), Some("check -> flow (check.rs) -> check (flow/echo.rs)"));
    }

    #[test]
    fn circles_are_found() {
        let file = |path: &str, part: &str, name: &str, call: &str| {
            let text = format!(
                "impl<P: Probe> {part} {{\n    pub fn {name}(&mut self) {{\n        {call};\n    }}\n}}\n"
            );
            (path.to_owned(), text)
        };
        let low = file("link.rs", "Links<P>", "post", "self.ports.len()");
        let middle = file("switch.rs", "Switch", "start", "links.post(cx)");
        let top = file("world.rs", "World for Fabric<P>", "handle", "self.switches[s].start(cx)");
        assert!(circle(MODELS.parts, &[low.clone(), middle.clone(), top]).is_empty());
        let up = file("link.rs", "Links<P>", "post", "switch.start(cx)");
        assert_eq!(circle(MODELS.parts, &[up, middle.clone()]), ["link.rs", "switch.rs"].into());
        let chain = file(
            "link.rs",
            "Links<P>",
            "post",
            "f(|x| self\n            .switches[s]\n            .start(x))",
        );
        assert_eq!(circle(MODELS.parts, &[chain, middle]), ["link.rs", "switch.rs"].into());
    }
}
