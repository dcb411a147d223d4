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

/// Checks the direction of the rooms.
pub(crate) fn check(root: &Path) -> Checked {
    let mut found = Vec::new();
    let files = crate::tracked(root, &["models/src/*.rs"])?;
    for file in &files {
        let text = std::fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))?;
        found.extend(examine(file.strip_prefix("models/src/").unwrap_or(file), &text));
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
}
