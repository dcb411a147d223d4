//! Reports of shipped studies, kept in `docs/examples`: what a report is, with nothing to install or to run.
//! `BLESS=1` writes them anew, and their pictures where a Chromium is installed.

use crate::Home;
use crate::browser::Browser;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

/// A report of a shipped study.
struct Example {
    study: &'static str,
    /// Further words for `run` and for `report`.
    run: &'static [&'static str],
    report: &'static [&'static str],
    /// What the page shows.
    shown: &'static str,
    /// Octets that it has at most.
    octets: usize,
}

impl Example {
    const fn new(study: &'static str, shown: &'static str) -> Self {
        Example { study, run: &[], report: &[], shown, octets: 300_000 }
    }
}

/// Of the fat tree two variants, from the start of the run until the tree of congestion stands, in steps that
/// can be seen one by one: with all variants, the whole run and all that its folder has the page has 3 MB.
const TREE: Example = Example {
    run: &[
        "--until",
        "80 us",
        "--warmup",
        "20 us",
        "--set",
        "/variants=[{\"name\": \"none-30\", \"set\": {\"/voq/enabled\": false}}, {\"name\": \"voq-30\"}]",
    ],
    report: &["--frames", "24"],
    octets: 620_000,
    ..Example::new("hotspot-fattree", "data-is=\"time\"")
};

const EXAMPLES: [Example; 7] = [
    Example::new("hol-blocking", "data-is=\"time\""),
    Example::new("session-figure-3-5", "<summary>Sequence chart of base</summary>"),
    Example::new("conduit-race-peers", "records without a peer&#39;s"),
    Example::new("goal-transports", "32 links"),
    Example::new("linx-crossing-connect", "Timeouts over time"),
    Example::new("priority-inversion", "share that takes longer"),
    TREE,
];

/// Pictures for README and docs: the page, what is done to it before, where the part of it that is shown
/// begins, and where it ends.
const PICTURES: [(&str, &str, &str, &str); 3] = [
    ("hol-blocking", "", "#s0-latency", "[data-filter=causes0]"),
    ("goal-transports", "", "#fabric0", "#told0"),
    // the colour by full buffers, at the end of the run
    (
        "hotspot-fattree",
        "for (const [is, to] of [['measure', () => 'held'], ['time', e => e.max]]) { \
           const e = document.querySelector(`[data-is=${is}]`); e.value = to(e); \
           e.dispatchEvent(new Event(is === 'time' ? 'input' : 'change')); }",
        ".tools",
        "#s0-budget",
    ),
];

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
    for Example { study: name, run, report, shown, octets } in EXAMPLES {
        let scenario = folder().join(format!("../../scenarios/{name}.json"));
        let file = format!("{name}.html");
        let mut words = vec!["run", scenario.to_str().unwrap(), "--out", name, "--quiet"];
        words.extend(run);
        home.ends(&words, 0);
        home.ends(&[&["report", name, "-o", &file], report].concat(), 0);
        let page = home.read(&file);
        assert!(page.len() < octets, "{name} has {} octets: too many for an example", page.len());
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
        assert!(picture.starts_with(b"\x89PNG") && picture.len() < 200_000, "{name}: {}", picture.len());
    }
}

/// Pictures of parts of the pages. Fonts differ from machine to machine, so nobody compares them.
fn pictures() {
    let Some(mut browser) = Browser::start() else { return };
    for (name, before, from, to) in PICTURES {
        browser.show(&folder().join(format!("{name}.html")), 900);
        browser.value(before);
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
