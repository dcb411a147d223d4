//! The rooms of the crate `models`: which may name which. A room is a folder with its file, or a file. And no
//! files call each other's methods in a circle.

use crate::Checked;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rooms from the bottom up. A room may name those on its own level and below.
const LEVELS: [&[&str]; 8] = [
    &["config", "event", "goal", "ids", "path", "transfer_rate"],
    &["observe"],
    &["packet"],
    &["link"],
    &["voq"],
    &["switch", "endpoint"],
    &["agent", "registers"],
    &["world", "run", "watched"],
];

/// Rooms that `lib.rs` shows under another path.
fn room_of(name: &str) -> &str {
    match name {
        "probe" | "stats" => "observe",
        "enumeration" => "registers",
        other => other,
    }
}

fn level(room: &str) -> Option<usize> {
    LEVELS.iter().position(|rooms| rooms.contains(&room))
}

/// The rooms that the code of a file names, comments apart.
fn named(text: &str) -> Vec<&str> {
    let code = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//"));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    let end = |path: &str| path.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(path.len());
    let mut rooms: Vec<&str> = paths.map(|path| room_of(&path[..end(path)])).collect();
    rooms.sort_unstable();
    rooms.dedup();
    rooms.retain(|room| level(room).is_some());
    rooms
}

/// What is wrong with a file; `path` is from `models/src`.
fn examine(path: &str, text: &str) -> Option<String> {
    let own = path.split(['/', '.']).next().unwrap_or_default();
    if own == "lib" {
        return None;
    }
    let Some(from) = level(own) else {
        return Some(format!("models/src/{path}: a room that nobody has given a level"));
    };
    let above = named(text).into_iter().find(|to| level(to).is_some_and(|to| to > from));
    above.map(|to| format!("models/src/{path}: names {to}, which lies above {own}"))
}

/// What a world is made of, and what names such a part in front of a method; `self` is the part itself.
const PARTS: [(&str, &[&str]); 6] = [
    ("Fabric", &["fabric"]),
    ("Links", &["links"]),
    ("Switch", &["switch", "]"]),
    ("Endpoint", &["endpoint", "]"]),
    ("Backpressure", &["backpressure"]),
    ("End", &["end", "sender", "partner", ")"]),
];

/// The bodies of `impl` blocks of parts in a file, each with the name of its part.
fn bodies(text: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    let mut inside = false;
    for line in text.lines().take_while(|line| *line != "mod tests {") {
        if line.starts_with("impl") {
            let name = line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default();
            let name = name.split('<').next().unwrap_or_default();
            let part = PARTS.iter().find(|part| part.0 == name);
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
fn calls<'a>(part: &'a str, body: &'a str) -> Vec<(&'a str, &'a str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
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
        let parts = PARTS.iter().filter(|(name, names)| whose(names) || receiver == "self" && *name == part);
        found.extend(parts.map(|(name, _)| (*name, &after[..end])));
    }
    found
}

/// Files of `texts` (path, text) that call each other's methods in a circle, or lead to such.
fn circle(texts: &[(String, String)]) -> BTreeSet<&str> {
    let read: Vec<(&str, Vec<(&str, String)>)> =
        texts.iter().map(|(path, text)| (path.as_str(), bodies(text))).collect();
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
        for call in bodies.iter().flat_map(|(part, body)| calls(part, body)) {
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
    let (mut found, mut texts) = (Vec::new(), Vec::new());
    let files = crate::tracked(root, &["models/src/*.rs"])?;
    for file in &files {
        let text = std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        let path = file.strip_prefix("models/src/").unwrap_or(file).to_owned();
        found.extend(examine(&path, &text));
        texts.push((path, text));
    }
    let circle = circle(&texts);
    if !circle.is_empty() {
        found.push(format!("models/src: files call each other's methods in a circle, among {circle:?}"));
    }
    Ok((found, format!("rooms: {} files of models, none names one above it", files.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_names_what_lies_below_it() {
        assert_eq!(examine("link/wire.rs", "use crate::packet::List;\nuse crate::probe::Cause;"), None);
        assert_eq!(examine("link.rs", "// crate::world does that\nlet x = crate::link::wire::Wire;"), None);
        assert_eq!(examine("lib.rs", "pub use crate::world::Fabric;"), None);
        let up = examine("packet/carried.rs", "let x = crate::agent::Agent::new();");
        assert!(up.is_some_and(|text| text.contains("names agent, which lies above packet")));
        assert!(examine("observe.rs", "use crate::enumeration::Outline;").is_some());
        assert!(examine("cellar.rs", "").is_some_and(|text| text.contains("given a level")));
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
        assert!(circle(&[low.clone(), middle.clone(), top]).is_empty());
        let up = file("link.rs", "Links<P>", "post", "switch.start(cx)");
        assert_eq!(circle(&[up, middle.clone()]), ["link.rs", "switch.rs"].into());
        let chain = file(
            "link.rs",
            "Links<P>",
            "post",
            "f(|x| self\n            .switches[s]\n            .start(x))",
        );
        assert_eq!(circle(&[chain, middle]), ["link.rs", "switch.rs"].into());
    }
}
