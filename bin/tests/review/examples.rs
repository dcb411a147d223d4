//! Reports of shipped studies, kept in `docs/examples`: what a report is, with nothing to install or to run.
//! `BLESS=1` writes them anew, and their pictures where a Chromium is installed.

use crate::Home;
use crate::browser::Browser;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// The studies, whether the run draws its figures, too, with which it keeps congestion over time and sequence
/// charts, and what the page shows.
const EXAMPLES: [(&str, bool, &str); 6] = [
    ("hol-blocking", true, "data-is=\"time\""),
    ("session-figure-3-5", true, "<summary>Sequence chart of base</summary>"),
    ("conduit-race-peers", false, "records without a peer&#39;s"),
    ("goal-transports", false, "32 links"),
    ("linx-crossing-connect", false, "Ends of conduits and connections that are open"),
    ("priority-inversion", false, "share that takes longer"),
];

/// Pictures for README: the page, where the part of it that is shown begins, and where it ends.
const PICTURES: [(&str, &str, &str); 2] =
    [("hol-blocking", "#s0-latency", "[data-filter=causes0]"), ("goal-transports", "#s0-fabric", "#told0")];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs/examples")
}

fn bless() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// What a command makes of a study today is what is kept, octet by octet.
#[test]
fn examples_are_what_reports_say() {
    let home = Home::new();
    for (name, figures, shown) in EXAMPLES {
        let scenario = folder().join(format!("../../scenarios/{name}.json"));
        let words = ["run", scenario.to_str().unwrap(), "--out", name, "--quiet", "--no-figures"];
        home.ends(&words[..if figures { 5 } else { 6 }], 0);
        let file = format!("{name}.html");
        home.ends(&["report", name, "-o", &file], 0);
        let page = home.read(&file);
        assert!(page.len() < 300_000, "{name} has {} octets: too many for an example", page.len());
        assert!(page.contains(shown), "{name}: {shown}");
        let kept = folder().join(&file);
        if bless() {
            fs::write(&kept, &page).unwrap();
        }
        let old = fs::read_to_string(&kept).unwrap_or_default();
        let line = page.lines().zip(old.lines()).position(|(a, b)| a != b).map_or(0, |line| line + 1);
        assert!(page == old, "docs/examples/{file} is stale from line {line} on; BLESS=1 writes it anew");
    }
    if bless() {
        pictures();
    }
    for (name, ..) in PICTURES {
        let picture = fs::read(folder().join(format!("{name}.png"))).unwrap();
        assert!(picture.starts_with(b"\x89PNG") && picture.len() < 150_000, "{name}: {}", picture.len());
    }
}

/// Pictures of parts of the pages. Fonts differ from machine to machine, so nobody compares them.
fn pictures() {
    let Some(mut browser) = Browser::start() else { return };
    for (name, from, to) in PICTURES {
        browser.show(&folder().join(format!("{name}.html")), 900);
        let place = format!(
            "(() => {{ const top = at => document.querySelector(at).getBoundingClientRect().top + scrollY; \
             return [top('{from}'), top('{to}')]; }})()"
        );
        let place: [f64; 2] = serde_json::from_value(browser.value(&place)).unwrap();
        let clip = json!({"x": 0, "y": place[0] - 8.0, "width": 900, "height": place[1] - place[0] - 16.0,
                          "scale": 1});
        let shot = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let shot = browser.call("Page.captureScreenshot", &shot);
        let octets = crate::page::base64(shot["data"].as_str().unwrap());
        fs::write(folder().join(format!("{name}.png")), octets).unwrap();
    }
}
