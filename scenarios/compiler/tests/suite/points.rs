//! What a scenario says to the points of a sweep, put together.

use scenarios::sweep::{PointFindings, SweepPlan, load, replication_seed};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A sweep over one place of a star of four, whose links and faults are these.
fn sweep(links: &Value, faults: &Value, pointer: &str, values: &Value) -> SweepPlan {
    let arrivals = json!({"constant": {"interval": "1 us"}});
    let scenario = json!({
        "name": "x",
        "run": {"until": "200 us", "warmup": "0 ps"},
        "topology": {"single_switch": {"ports": 4}},
        "links": links,
        "faults": faults,
        "traffic": [{"name": "a", "from": "ep/0", "to": "ep/1", "arrivals": arrivals}],
    });
    let axes = json!([{"pointer": pointer, "values": values}]);
    let text = json!({"name": "x", "scenario": scenario, "axes": axes}).to_string();
    load(&text, "sweep.json", &[]).expect("a sweep")
}

/// What is told of these points: warnings, or what has no effect at any.
fn told(plan: &SweepPlan, points: &[usize]) -> Result<Vec<String>, Vec<String>> {
    let check =
        |index: &usize| plan.check(&plan.points[*index], replication_seed(plan.seed, 1)).expect("a run");
    let found: BTreeMap<usize, PointFindings> = points.iter().map(|index| (*index, check(index))).collect();
    let text = |item: &scenarios::Diagnostic| format!("{} {}: {}", item.code, item.pointer, item.message);
    match plan.together(&found) {
        Ok(told) => Ok(told.sweep.items.iter().chain(&told.scenario.items).map(text).collect()),
        Err(errors) => Err(errors.sweep.items.iter().chain(&errors.scenario.items).map(text).collect()),
    }
}

/// A link timeout needs symbols, which only receiver-controlled flow control brings about here: at one of two
/// points it has an effect, so it is no mistake. Without that point it is one.
#[test]
fn what_has_an_effect_at_one_point_is_no_mistake() {
    let links = json!({"timeout": "20 us"});
    let both = sweep(&links, &json!({}), "/links/flow_control", &json!(["transmitter", "receiver"]));
    assert_eq!(told(&both, &[0, 1]), Ok(Vec::new()));
    let none = sweep(&links, &json!({}), "/links/length", &json!(["2 m", "4 m"]));
    let wrong = told(&none, &[0, 1]).expect_err("no point has symbols");
    assert!(
        wrong.len() == 1 && wrong[0].starts_with("SC051 /links/timeout: this has no effect"),
        "{wrong:?}"
    );
    // a part of the points does not know of the others
    let found = |index: usize| BTreeMap::from([(index, both.check(&both.points[index], 1).expect("a run"))]);
    assert_eq!([0, 1].map(|index| both.lacks_effect(&found(index))), [true, false]);
}

/// An axis without effect is a mistake also where one of its values would stand there anyway: without VoQ
/// nothing is linked, by default or by words, and all rows are one. Where another value has an effect it is
/// none.
#[test]
fn a_default_value_gives_an_axis_no_effect() {
    let of = |pointer: &str, values: Value| sweep(&json!({}), &json!({}), pointer, &values);
    for (pointer, values) in [
        ("/voq/linked", json!([false, true])),
        ("/switch/leave_out_stopped", json!([true, false])),
        ("/switch/iterations", json!([2, 4])),
        ("/switch/buffer_packets", json!([16, 32])),
    ] {
        let wrong = told(&of(pointer, values), &[0, 1]).expect_err(pointer);
        assert!(wrong.len() == 1 && wrong[0].starts_with("SC051 /axes/0/values/"), "{pointer}: {wrong:?}");
    }
    assert_eq!(told(&of("/voq/linked", json!([false])), &[0]), Ok(Vec::new()));
    assert_eq!(told(&of("/switch/buffering", json!(["direct", "output"])), &[0, 1]), Ok(Vec::new()));
}

/// Points that end before a link goes down say so, once, and which they are; all of them: that it is a
/// mistake. The scenario alone may end too early if a point does not.
#[test]
fn what_a_point_does_not_reach_is_told_with_its_name() {
    let outage = |at: &str| json!({"outages": [{"link": "ep/1", "at": at, "for": "10 us"}]});
    let until = |at: &str, values: Value| sweep(&json!({}), &outage(at), "/run/until", &values);
    let late =
        "SC120 /faults/outages/0/at: 150 us is after the run, which is over at 100 us (at until 100 us)";
    assert_eq!(told(&until("150 us", json!(["100 us", "200 us"])), &[0, 1]), Ok(vec![late.into()]));
    let two = "SC120 /faults/outages/0/at: 150 us is after the run, which is over at 100 us (at until \
               100 us; until 120 us)";
    assert_eq!(
        told(&until("150 us", json!(["100 us", "120 us", "200 us"])), &[0, 1, 2]),
        Ok(vec![two.into()])
    );
    assert_eq!(told(&until("150 us", json!(["160 us", "200 us"])), &[0, 1]), Ok(Vec::new()));
    // the file alone ends at 200 us
    let beyond = told(&until("250 us", json!(["100 us", "300 us"])), &[0, 1]).expect("one point reaches it");
    assert_eq!(beyond.len(), 1, "{beyond:?}");
    let never = told(&until("250 us", json!(["100 us", "120 us"])), &[0, 1]).expect_err("none reaches it");
    assert!(never[0].starts_with("SC120 /faults/outages/0/at: 250 us is after the run"), "{never:?}");
}
