//! The rooms of the crate `models`: which may name which. A room is a folder with its file, or a file.

use crate::Checked;
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

/// Files that name a room above their own, and which. The list may only become shorter: each of them calls up
/// where it should return what has to happen above.
const EXCEPTIONS: [(&str, &str); 16] = [
    ("agent/world.rs", "world"),
    ("endpoint.rs", "world"),
    ("link/interleave.rs", "world"),
    ("link/medium.rs", "agent"),
    ("link/medium.rs", "world"),
    ("link/symbol/channels.rs", "world"),
    ("link/symbol/drive.rs", "world"),
    ("link/symbol/fault.rs", "world"),
    ("link/symbol/granularity.rs", "world"),
    ("link/symbol/message.rs", "world"),
    ("link/symbol/receive.rs", "world"),
    ("registers/maintenance.rs", "world"),
    ("switch.rs", "world"),
    ("switch/arbiter.rs", "world"),
    ("voq.rs", "switch"),
    ("voq.rs", "world"),
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

/// Findings of one file; `path` is from `models/src`. What it names above itself joins `up`.
fn examine(path: &str, text: &str, up: &mut Vec<(String, String)>) -> Option<String> {
    let own = path.split(['/', '.']).next().unwrap_or_default();
    if own == "lib" {
        return None;
    }
    let Some(from) = level(own) else {
        return Some(format!("models/src/{path}: a room that nobody has given a level"));
    };
    let above = named(text).into_iter().filter(|to| level(to).is_some_and(|to| to > from));
    let before = up.len();
    up.extend(above.map(|to| (path.to_owned(), to.to_owned())));
    let new = up[before..].iter().find(|(path, to)| !EXCEPTIONS.contains(&(path, to)));
    new.map(|(path, to)| format!("models/src/{path}: names {to}, which lies above {own}"))
}

/// Checks the direction of the rooms.
pub(crate) fn check(root: &Path) -> Checked {
    let (mut found, mut up) = (Vec::new(), Vec::new());
    let files = crate::tracked(root, &["models/src/*.rs"])?;
    for file in &files {
        let text = std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        let path = file.strip_prefix("models/src/").unwrap_or(file);
        found.extend(examine(path, &text, &mut up));
    }
    let is_stale =
        |(path, to): &(&str, &str)| !up.iter().any(|(p, t)| (p.as_str(), t.as_str()) == (*path, *to));
    for (path, to) in EXCEPTIONS.into_iter().filter(is_stale) {
        found.push(format!("models/src/{path}: does not name {to} any more; strike it from the exceptions"));
    }
    Ok((found, format!("rooms: {} files of models, {} exceptions", files.len(), EXCEPTIONS.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(path: &str, text: &str) -> Option<String> {
        examine(path, text, &mut Vec::new())
    }

    #[test]
    fn a_room_names_what_lies_below_it() {
        assert_eq!(finding("link/wire.rs", "use crate::packet::List;\nuse crate::probe::Cause;"), None);
        assert_eq!(finding("link.rs", "// crate::world does that\nlet x = crate::link::wire::Wire;"), None);
        assert_eq!(finding("lib.rs", "pub use crate::world::Fabric;"), None);
        let up = finding("packet/carried.rs", "let x = crate::agent::Agent::new();");
        assert!(up.is_some_and(|text| text.contains("names agent, which lies above packet")));
        assert!(finding("observe.rs", "use crate::enumeration::Outline;").is_some());
        assert!(finding("cellar.rs", "").is_some_and(|text| text.contains("given a level")));
    }

    #[test]
    fn exceptions_name_what_lies_above() {
        for (path, to) in EXCEPTIONS {
            let text = format!("use crate::{to}::X;");
            let mut up = Vec::new();
            assert_eq!((examine(path, &text, &mut up), up.len()), (None, 1), "{path}");
        }
    }
}
