//! The only dependencies allowed between the crates of the workspace.

use crate::{Checked, list, text};
use serde_json::Value;
use std::path::Path;

/// Where a crate stands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Place<'a> {
    Kernel,
    Protocol(&'a str),
    Models,
    Scenarios,
    Analysis,
    Bin,
    Xtask,
}

impl<'a> Place<'a> {
    fn of(folder: &'a str) -> Option<Self> {
        Some(match folder {
            "sim-core" => Place::Kernel,
            "models" => Place::Models,
            "scenarios/compiler" => Place::Scenarios,
            "analysis" => Place::Analysis,
            "bin" => Place::Bin,
            "xtask" => Place::Xtask,
            _ => Place::Protocol(folder.strip_prefix("protocols/").filter(|name| !name.contains('/'))?),
        })
    }
}

/// Protocol crates whose formats the others may use.
const LOWER: [&str; 2] = ["lp-serial", "logical"];

/// What a crate may depend on, in words, and whether `to` is of it. `explore`: whether analysis explores
/// protocols.
fn allowed(from: Place<'_>, to: Place<'_>, explore: bool) -> (bool, &'static str) {
    use Place::{Analysis, Bin, Kernel, Models, Protocol, Scenarios, Xtask};
    match from {
        Kernel => (false, "none of ours"),
        Protocol("lp-serial") => (false, "none of ours: it is the lowest protocol"),
        Protocol("logical") => (to == Protocol("lp-serial"), "lp-serial"),
        Protocol(_) => (matches!(to, Protocol(name) if LOWER.contains(&name)), "lp-serial and logical"),
        Models => (matches!(to, Kernel | Protocol(_)), "sim-core and protocols/*"),
        Scenarios => (to == Models, "models"),
        Analysis if explore => (
            matches!(to, Models | Scenarios | Protocol(_)),
            "models, and for explore scenarios and protocols/*",
        ),
        Analysis => (to == Models, "models (scenarios and protocols/* only with an explore module)"),
        Bin => (to != Xtask && to != Bin, "everything but xtask"),
        Xtask => (false, "none of ours"),
    }
}

/// Crates from elsewhere that a crate must not link: (who, names, reason). Tests may.
fn forbidden(from: Place<'_>, name: &str) -> Option<&'static str> {
    const CODECS: [&str; 4] = ["serde", "serde_json", "schemars", "jsonschema"];
    match from {
        Place::Protocol(_) => {
            Some("protocol crates are what a product links: no_std, alloc and nothing else")
        }
        Place::Kernel | Place::Models if CODECS.contains(&name) => {
            Some("only scenarios knows the text of scenarios; what is below it takes compiled input")
        }
        _ => None,
    }
}

/// Checks what `cargo metadata --no-deps` says.
pub(crate) fn check(metadata: &Value) -> Checked {
    let root = Path::new(text(metadata, "workspace_root"));
    let explore = root.join("analysis/src/explore.rs").is_file();
    let found = examine(metadata, explore);
    let crates = list(metadata, "packages").count();
    Ok((found, format!("edges: the dependencies of {crates} crates are as designed")))
}

fn examine(metadata: &Value, explore: bool) -> Vec<String> {
    let root = text(metadata, "workspace_root");
    let folder = |path: &str| -> String {
        let path = path.replace('\\', "/");
        path.strip_prefix(&root.replace('\\', "/")).unwrap_or(&path).trim_matches('/').to_owned()
    };
    let mut found = Vec::new();
    for package in list(metadata, "packages") {
        let manifest = folder(text(package, "manifest_path"));
        let own = manifest.trim_end_matches("Cargo.toml").trim_end_matches('/');
        let Some(from) = Place::of(own) else {
            found.push(format!(
                "{manifest}: a crate in an unknown place; the edges of {own:?} are not decided"
            ));
            continue;
        };
        for dependency in list(package, "dependencies") {
            let kind = dependency["kind"].as_str().unwrap_or("normal");
            let name = text(dependency, "name");
            let wrong = match dependency["path"].as_str() {
                Some(path) => match Place::of(&folder(path)) {
                    None => Some(format!("{name} is in an unknown place")),
                    Some(to) => {
                        let (fine, may) = allowed(from, to, explore);
                        (!fine).then(|| format!("of our crates it may use {may}"))
                    }
                },
                None if kind == "dev" => None,
                None => forbidden(from, name).map(str::to_owned),
            };
            if let Some(why) = wrong {
                let package = text(package, "name");
                found.push(format!("{manifest}: {package} -> {name} ({kind}) is not allowed: {why}"));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Findings for one dependency; `to` is a folder of ours, or the name of a crate from elsewhere.
    fn edge(from: &str, to: &str, kind: Option<&str>, explore: bool) -> Vec<String> {
        let path = to.strip_prefix("./").map(|to| format!("/ws/{to}"));
        let metadata = json!({"workspace_root": "/ws", "packages": [{
            "name": from, "manifest_path": format!("/ws/{from}/Cargo.toml"),
            "dependencies": [{"name": to, "kind": kind, "path": path}],
        }]});
        examine(&metadata, explore)
    }

    #[test]
    fn edges_of_the_design() {
        for (from, to) in [
            ("protocols/voq-backpressure", "./protocols/lp-serial"),
            ("protocols/linx-riocm", "./protocols/logical"),
            ("protocols/logical", "./protocols/lp-serial"),
            ("models", "./sim-core"),
            ("models", "./protocols/voq-backpressure"),
            ("scenarios/compiler", "./models"),
            ("analysis", "./models"),
            ("bin", "./sim-core"),
            ("bin", "./analysis"),
            ("bin", "./protocols/lp-serial"),
            ("scenarios/compiler", "serde_json"),
            ("sim-core", "rand"),
        ] {
            assert_eq!(edge(from, to, None, false), [""; 0], "{from} -> {to}");
        }
        assert_eq!(edge("analysis", "./scenarios/compiler", None, true), [""; 0]);
        assert_eq!(edge("models", "serde_json", Some("dev"), false), [""; 0]);
    }

    #[test]
    fn edges_against_the_design() {
        for (from, to) in [
            ("protocols/lp-serial", "./protocols/voq-backpressure"),
            ("protocols/lp-serial", "./sim-core"),
            ("protocols/logical", "./protocols/linx-riocm"),
            ("protocols/scheduled-transfer", "./protocols/session-management"),
            ("protocols/lp-serial", "bitflags"),
            ("sim-core", "./protocols/lp-serial"),
            ("models", "./scenarios/compiler"),
            ("models", "serde_json"),
            ("scenarios/compiler", "./sim-core"),
            ("scenarios/compiler", "./analysis"),
            ("analysis", "./scenarios/compiler"),
            ("analysis", "./sim-core"),
            ("bin", "./xtask"),
            ("xtask", "./models"),
            ("models", "./bin"),
            ("models", "./elsewhere"),
            ("elsewhere", "rand"),
        ] {
            assert_eq!(edge(from, to, None, false).len(), 1, "{from} -> {to}");
        }
        let dev = edge("analysis", "./scenarios/compiler", Some("dev"), false);
        assert!(dev[0].contains("analysis -> ./scenarios/compiler (dev) is not allowed"), "{dev:?}");
    }
}
