//! Every kind of mistake has a file in `scenarios/compiler/tests/bad` and a golden message beside it.
//! `BLESS=1` rewrites them.

use crate::golden::Messages;
use scenarios::diagnostic::CODES;
use scenarios::{Amount, Requirement, Wrong, load};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Memory of a machine, as far as these files go.
const ROOM: u64 = 8 << 20;

/// Metrics that results have, as far as these files go: `riosim` asks those who make results.
fn known(required: &Requirement) -> Result<(), Wrong> {
    match (required.metric.as_str(), required.wanted.amount) {
        ("p99" | "mean", Amount::Time(_)) | ("goodput", Amount::Rate(_)) => Ok(()),
        ("p99" | "mean", _) => Err(Wrong::Unit("a time, for example \"< 2 us\"")),
        _ => Err(Wrong::Metric(["p99", "mean", "goodput"].map(String::from).into())),
    }
}

#[test]
fn every_mistake_has_its_message() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut messages = Messages::of(&folder);
    let names = messages.files();
    assert!(names.len() >= 32, "only {} files", names.len());
    let mut codes = BTreeSet::new();
    for name in &names {
        let text = fs::read_to_string(folder.join(name)).expect("readable");
        let read =
            |file: &str| fs::read_to_string(folder.join(file)).map_err(|_| "it does not exist".to_owned());
        let plan = scenarios::load_with(&text, name, &[], &read);
        let checked = plan.and_then(|plan| {
            plan.check_requirements(&known)?;
            plan.check_memory(ROOM, 1, 1)
        });
        let errors = checked.expect_err(name);
        codes.extend(errors.items.iter().map(|item| item.code));
        messages.compare(name, &errors.render());
    }
    messages.assert_unchanged();
    // Codes that only warn need no failing file.
    let silent: Vec<&str> = CODES.iter().map(|code| code.0).filter(|code| !codes.contains(code)).collect();
    assert!(silent.iter().all(|code| *code >= "SC070"), "codes without a file: {silent:?}");
}

#[test]
fn settings_from_the_command_line_are_checked_too() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/minimal.json"))
        .expect("readable");
    let set = |pointer: &str, value: serde_json::Value| load(&text, "x.json", &[(pointer.into(), value)]);
    assert_eq!(set("/seed", 7.into()).expect("valid").variants[0].config.seed, 7);
    let far = set("/traffic/nobody/priority", 1.into()).expect_err("no such flow");
    assert_eq!(far.items[0].code, "SC060");
    assert!(far.items[0].message.starts_with("--set /traffic/nobody/priority"));
    assert_eq!(set("/sede", 7.into()).expect_err("unknown field").items[0].code, "SC004");
}

/// What is refused goes with the runs at a time, the largest, and with their threads, as far as there are
/// switches for them.
#[test]
fn memory_goes_with_runs_and_threads() {
    let text = serde_json::json!({
        "name": "m",
        "topology": {"chain": {"switches": 2, "endpoints_per_switch": 2}},
        "traffic": [{"name": "a", "from": "all", "to": {"uniform": {}}, "arrivals": {"saturated": {}}}],
        "variants": [
            {"name": "two"},
            {"name": "four", "set": {"/topology": {"chain": {"switches": 4, "endpoints_per_switch": 2}}}},
            {"name": "three", "set": {"/topology": {"chain": {"switches": 3, "endpoints_per_switch": 2}}}}
        ]
    });
    let plan = load(&text.to_string(), "m.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let takes = |variant: usize, parts| models::run::footprint(&plan.variants[variant].config, parts);
    let [two, four, three] = [0, 1, 2].map(|variant| takes(variant, 1));
    assert!(0 < two && two < three && three < four);
    for (jobs, threads, law) in [
        (1, 1, four),
        (2, 1, four + three),
        (9, 1, two + three + four),
        (1, 3, takes(1, 3)),
        (3, 9, takes(0, 2) + takes(2, 3) + takes(1, 4)),
    ] {
        assert!(plan.check_memory(law, jobs, threads).is_ok(), "{jobs} runs, {threads} threads");
        let refused = plan.check_memory(law - 1, jobs, threads).expect_err("an octet too few");
        assert_eq!((refused.items[0].code, refused.items[0].variant.as_deref()), ("SC098", Some("four")));
    }
}
