//! No input makes the loader panic: valid files with random damage.

use jsonschema::error::ValidationErrorKind as Kind;
use proptest::prelude::*;
use scenarios::{load_with, templates};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

static VALIDATOR: OnceLock<jsonschema::Validator> = OnceLock::new();

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = templates().iter().map(|t| t.text.to_owned()).collect();
    for name in [
        "../hol-blocking.json",
        "../voq-lost-xon.json",
        "../voq-unequal-neighbours.json",
        "tests/bad/17-routing-loop.json",
    ] {
        texts.push(fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect("readable"));
    }
    texts.push(KITCHEN_SINK.to_owned());
    texts
}

/// One of everything that the studies do not use.
const KITCHEN_SINK: &str = r#"{
  "name": "sink", "seed": 3, "shake": 1, "id_bits": 16,
  "topology": {"dragonfly": {"groups": 3, "switches_per_group": 2, "endpoints_per_switch": 1}},
  "switch": {"buffering": "crosspoint", "slot": "117 ns", "staging": {"table": [0, 1, 2, 3]},
    "watermarks": [4, 3, 2]},
  "endpoint": {"device": "generic", "staging": {"modulo": 2}, "voq": {"rx_sup": true}},
  "voq": {"enabled": true, "refresh": "30 us", "thresholds": {"on": 6, "off": 2}},
  "overrides": [{"devices": ["g0/*", "!g0/sw1"], "switch": {"input_buffers": 12}},
    {"port": "g1/sw0:0", "voq": {"xoff": true}}],
  "routing": {"root": "g1/sw0", "tables": {"g0/sw0": {"ep/{0..0}": 0}},
    "allow_deadlock": true},
  "multicast": [{"name": "group", "id": 40, "members": "ep/*"}],
  "traffic": [
    {"name": "a", "from": "all", "to": {"hotspot": {"hot": "ep/0", "share": "1/3"}},
     "arrivals": {"poisson": {"load": 0.1}}},
    {"name": "b", "from": "ep/1", "to": "group", "arrivals": {"bernoulli": {"load": 0.1, "slot": "200 ns"}}},
    {"name": "c", "from": "ep/2", "to": 3,
     "arrivals": {"constant": {"interval": "1 us"}}, "size": [{"payload": 8, "weight": 1}]},
    {"name": "d", "from": "ep/3", "to": {"permutation": {"kind": "random"}},
     "arrivals": {"on_off": {"load": 0.1, "on": "1 us", "off": "2 us"}}},
    {"name": "e", "arrivals": {"trace": {"rows": ["0,ep/0,ep/1,256,0,5"]}}}
  ],
  "declare": {"victims": ["b"], "hot": ["a.hot"]},
  "variants": [{"name": "x", "set": {"/traffic/a/arrivals/poisson/load": 0.2}},
    {"name": "y", "set": {"/routing/method": "shortest"}}]
}"#;

/// Values that are wrong in many places, and right in some. None builds a large fabric.
fn odd_values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(7),
        json!(64),
        json!(65),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(1e-12),
        json!(u64::MAX),
        json!(u32::MAX),
        json!(""),
        json!("all"),
        json!("*"),
        json!("{1..3}"),
        json!("!ep/0"),
        json!("ep/0"),
        json!("sw:1"),
        json!("none"),
        json!("off"),
        json!("auto"),
        json!("1 ns"),
        json!("0 ps"),
        json!("9999 s"),
        json!("10.3125 Gbaud"),
        json!("16x"),
        json!("1/0"),
        json!("999999999999999999/7"),
        json!("é\u{0}\"\\"),
        json!([]),
        json!([[]]),
        json!(["ep/1", "ep/1"]),
        json!({}),
        json!({"poisson": {"load": 1}}),
        json!({"modulo": 0}),
        json!({"uniform": {}}),
        json!({"mesh": {"size": [2, 2]}}),
    ]
}

/// Pointers of all values below `value`.
fn pointers(value: &Value, at: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inner) in map {
                pointers(inner, format!("{at}/{}", scenarios::source::escape(key)), out);
            }
        }
        Value::Array(list) => {
            for (i, inner) in list.iter().enumerate() {
                pointers(inner, format!("{at}/{i}"), out);
            }
        }
        _ => {}
    }
    out.push(at);
}

fn damage(value: &mut Value, (place, what, kind): (usize, usize, u8)) {
    let mut all = Vec::new();
    pointers(value, String::new(), &mut all);
    let pointer = &all[place % all.len()];
    let odd = odd_values();
    let new = odd[what % odd.len()].clone();
    match kind % 4 {
        0 | 1 => *value.pointer_mut(pointer).expect("it exists") = new,
        2 => {
            if let Some((parent, key)) = pointer.rsplit_once('/') {
                match value.pointer_mut(parent) {
                    Some(Value::Object(map)) => {
                        map.shift_remove(&scenarios::source::unescape(key));
                    }
                    Some(Value::Array(list)) => {
                        list.remove(key.parse().expect("an index"));
                    }
                    _ => {}
                }
            }
        }
        _ => {
            // A value from elsewhere in the same file.
            let donor = value.pointer(&all[what % all.len()]).expect("it exists").clone();
            *value.pointer_mut(pointer).expect("it exists") = donor;
        }
    }
}

fn try_load(text: &str) {
    let read = |_: &str| Ok("time_ps,src,dst,bytes,prio,ftype\n0,ep/0,ep/1,8,0,5\n".to_owned());
    match load_with(text, "damaged.json", &[], &read) {
        Ok(plan) => {
            assert!(!plan.variants.is_empty());
            assert!(plan.variants.iter().all(|v| scenarios::check_next_hops(&v.config).is_empty()));
            let again = load_with(&plan.resolved, "resolved.json", &[], &read);
            assert!(
                again.is_ok(),
                "the resolved file does not load:\n{}",
                again.expect_err("shown").render()
            );
        }
        Err(errors) => {
            assert!(errors.has_errors());
            assert!(!errors.render().is_empty());
        }
    }
}

/// A validator that knows all of JSON Schema finds the same fields wrong, by the same rule. What is
/// wrong with a choice is said of the branch that was meant, somewhere within.
fn a_second_opinion_agrees(value: &Value) {
    let validator = VALIDATOR.get_or_init(|| {
        jsonschema::validator_for(scenarios::structure::schema_value()).expect("the schema is one")
    });
    let mut choices = Vec::new();
    let mut theirs = Vec::new();
    for error in validator.iter_errors(value) {
        let at = error.instance_path().as_str().to_owned();
        let code = match error.kind() {
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
                choices.push(at);
                continue;
            }
            Kind::Enum { .. } | Kind::Constant { .. } => "SC006",
            Kind::AdditionalProperties { unexpected } => {
                let field = |key: &String| ("SC004", format!("{at}/{}", scenarios::source::escape(key)));
                theirs.extend(unexpected.iter().map(field));
                continue;
            }
            Kind::Required { .. } => "SC005",
            Kind::Minimum { .. } | Kind::Maximum { .. } | Kind::MinItems { .. } | Kind::MaxItems { .. } => {
                "SC008"
            }
            _ => "SC003",
        };
        theirs.push((code, at));
    }
    let found = scenarios::structure::read(value).err().unwrap_or_default();
    let within = |at: &str| choices.iter().any(|choice| format!("{at}/").starts_with(&format!("{choice}/")));
    assert!(choices.iter().all(|choice| found.iter().any(|one| one.pointer.starts_with(choice.as_str()))));
    let mut ours: Vec<(&str, String)> =
        found.iter().map(|one| (one.code, one.pointer.clone())).filter(|(_, at)| !within(at)).collect();
    theirs.retain(|(_, at)| !within(at));
    ours.sort_unstable();
    theirs.sort_unstable();
    assert_eq!(ours, theirs, "{value}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_values(
        file in 0usize..9,
        hits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>()), 1..4),
    ) {
        let texts = texts();
        let clean = scenarios::source::blank_comments(&texts[file % texts.len()]);
        let mut value: Value = serde_json::from_str(&clean).expect("valid");
        for hit in hits {
            damage(&mut value, hit);
        }
        try_load(&value.to_string());
    }

    #[test]
    fn structure_by_a_second_opinion(
        file in 0usize..9,
        hits in prop::collection::vec((any::<usize>(), any::<usize>(), any::<u8>()), 1..6),
    ) {
        let texts = texts();
        let clean = scenarios::source::blank_comments(&texts[file % texts.len()]);
        let mut value: Value = serde_json::from_str(&clean).expect("valid");
        for hit in hits {
            damage(&mut value, hit);
        }
        a_second_opinion_agrees(&value);
    }

    #[test]
    fn damaged_text(
        file in 0usize..9,
        at in any::<usize>(),
        cut in 0usize..6,
        put in "[\\[\\]{}\",:/0-9a-zé \\\\]{0,4}",
    ) {
        let texts = texts();
        let mut chars: Vec<char> = texts[file % texts.len()].chars().collect();
        let at = at % chars.len();
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, put.chars());
        try_load(&chars.into_iter().collect::<String>());
    }
}

#[test]
fn the_undamaged_sink_is_valid() {
    let read = |_: &str| Err(String::new());
    load_with(KITCHEN_SINK, "sink.json", &[], &read).unwrap_or_else(|errors| panic!("{}", errors.render()));
}
