//! `require` in a scenario: verdicts in tables, summaries and sweeps, and the exit status.

use crate::{Home, scenario};
use serde_json::{Value, json};

fn with(require: Value) -> Value {
    let mut value = scenario();
    value["require"] = require;
    value
}

/// By hand: bulk offers 0.3 and 0.6 of the link to ep/2, control 0.3; so the link carries about 0.6 and 0.9
/// of the time, and what is required of it holds in one variant and not in the other.
#[test]
fn each_variant_is_judged_by_itself() {
    let home = Home::new();
    home.write(
        "x.json",
        &with(json!([
            {"link": "sw:2", "use": "< 80 %"},
            {"flow": ["*", "!bulk"], "delivered": "100 %", "p99.9": "< 1 s", "mean": "> 1 ns"}
        ])),
    );
    let (out, err) = home.ends(&["x.json", "--out", "there", "--no-figures"], 4);
    assert!(err.contains("variant \"full\": FAIL: link sw:2-ep/2, use < 80 %"), "{err}");
    assert!(!err.contains("\"half\""), "{err}");
    assert_eq!(out.matches("PASS: flow control, delivered 100 %: 100 %").count(), 2, "{out}");
    let summary = home.json("there/summary.json");
    let verdicts = |variant: usize| -> Vec<String> {
        let told = summary["variants"][variant]["require"].as_array().unwrap().iter();
        told.map(|one| format!("{} {}", one["metric"].as_str().unwrap(), one["verdict"].as_str().unwrap()))
            .collect()
    };
    // too few packets for p99.9 in 100 us
    let rest = ["delivered PASS", "mean PASS", "p99.9 NOT ENOUGH SAMPLES"].map(String::from);
    assert_eq!(verdicts(0), [vec!["use PASS".to_owned()], rest.to_vec()].concat());
    assert_eq!(verdicts(1), [vec!["use FAIL".to_owned()], rest.to_vec()].concat());
    let told = &summary["variants"][0]["require"];
    assert_eq!(told[0]["measured"], summary["variants"][0]["fabric"]["link_use_max"]);
    assert_eq!(told[2]["measured"], summary["variants"][0]["flows"][0]["latency_ns"]["mean"]["value"]);
    assert_eq!(told[3]["samples_needed"], json!(3688));
    assert!(told[3]["measured"].is_null() && told[3]["samples"].as_u64() < Some(3688));
}

/// An echo of 256 octets each way takes 808 ns. With 8 ns less to wait none is in time: each takes longer
/// than any limit, and the request, which takes half of that, does not hold it.
#[test]
fn what_never_came_holds_no_limit() {
    let home = Home::new();
    for (timeout, exit, wanted) in [
        ("1 us", 4, "FAIL: flow e, max < 500 ns: 808 ns"),
        ("800 ns", 4, "FAIL: flow e, max < 500 ns: longer than any time, as nothing arrived"),
    ] {
        let text = json!({
            "name": "e",
            "topology": {"single_switch": {"ports": 2}},
            "run": {"until": "100 us", "warmup": "0 ps", "sample_every": "off"},
            "traffic": [{
                "name": "e", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 10,
                "arrivals": {"constant": {"interval": "5 us", "phase": "0 ps"}},
                "echo": {"timeout": timeout}
            }],
            "require": [{"flow": "e", "max": "< 500 ns"}]
        });
        home.write("e.json", &text);
        let (out, _) = home.ends(&["e.json", "--out", "e", "--no-figures"], exit);
        assert!(out.contains(wanted), "{out}");
    }
}

/// By hand: the same echo crosses four links, and 1 cm more of each is 50 ps, so it takes 808.2 ns. What is
/// read is on that side of a limit on which it is, in the terminal and on the page.
#[test]
fn what_was_measured_is_read_beside_its_limit() {
    let home = Home::new();
    let text = json!({
        "name": "e",
        "topology": {"single_switch": {"ports": 2}},
        "links": {"length": "2.01 m"},
        "run": {"until": "100 us", "warmup": "0 ps", "sample_every": "off"},
        "traffic": [{
            "name": "e", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 10,
            "arrivals": {"constant": {"interval": "5 us", "phase": "0 ps"}},
            "echo": {}
        }],
        "require": [{"flow": "e", "max": "<= 808 ns", "mean": "< 808.3 ns", "p50": "> 0.8 us"}]
    });
    home.write("e.json", &text);
    let (out, _) = home.ends(&["e.json", "--out", "e", "--no-figures"], 4);
    home.ends(&["report", "e", "-o", "e.html"], 0);
    let page = home.read("e.html");
    for (line, cell) in [
        ("FAIL: flow e, max <= 808 ns: 808.2 ns", ">808.2 ns<"),
        ("PASS: flow e, mean < 808.3 ns: 808 ns", ">808 ns<"),
        ("PASS: flow e, p50 > 0.8 us: 808 ns", ">808 ns<"),
    ] {
        assert!(out.contains(line), "{line}: {out}");
        assert!(page.contains(cell), "{cell}");
    }
}

/// Without requirements nothing is told, and with them everything else stays the same.
#[test]
fn requirements_change_no_result() {
    let home = Home::new();
    home.write("plain.json", &scenario());
    home.write("judged.json", &with(json!([{"flow": "all", "max": "< 1 s"}])));
    for name in ["plain", "judged"] {
        home.ends(&[&format!("{name}.json"), "--out", name, "--quiet", "--no-figures"], 0);
    }
    assert_eq!(home.read("plain/fingerprints.txt"), home.read("judged/fingerprints.txt"));
    let mut judged = home.json("judged/summary.json");
    for variant in judged["variants"].as_array_mut().unwrap() {
        assert!(variant.as_object_mut().unwrap().remove("require").is_some());
    }
    assert_eq!(judged, home.json("plain/summary.json"));
    assert!(!home.read("plain/resolved.json").contains("require"));
    home.ends(&["judged/resolved.json", "--out", "again", "--quiet", "--no-figures"], 0);
    assert_eq!(home.read("again/summary.json"), home.read("judged/summary.json"));
}

/// An error names the place, what was found and what is allowed; also where a variant set it.
#[test]
fn metrics_that_results_do_not_have_are_refused() {
    let home = Home::new();
    home.write("x.json", &with(json!([{"flow": "bulk", "p99": "< 80 %", "godput": "> 1 Gb/s"}])));
    for verb in ["run", "check"] {
        let (_, err) = home.ends(&[verb, "x.json"], 2);
        assert!(err.contains("SC103") && err.contains("/require/0/godput: there is no metric"), "{err}");
        assert!(err.contains("did you mean \"goodput\"?"), "{err}");
        assert!(err.contains("SC104") && err.contains("/require/0/p99: \"< 80 %\" is a share"), "{err}");
        assert!(err.contains("allowed: a time"), "{err}");
    }
    let mut value = with(json!([{"link": "all", "use": "< 80 %"}]));
    value["variants"][1]["set"]["/require/0/use"] = json!("< 2 us");
    home.write("y.json", &value);
    let (_, err) = home.ends(&["check", "y.json"], 2);
    assert!(err.contains("/variants/1/set") && err.contains("SC104"), "{err}");
}

/// Columns of sweeps, of which there are none without requirements.
#[test]
fn sweeps_count_what_holds() {
    let home = Home::new();
    home.write("plain.json", &scenario());
    home.write(
        "judged.json",
        &with(json!([{"link": "sw:2", "use": "< 80 %"}, {"flow": "bulk", "max": "< 1 s"}])),
    );
    for name in ["plain", "judged"] {
        let sweep = json!({
            "name": name, "scenario": format!("{name}.json"),
            "axes": [{"name": "depth", "pointer": "/switch/input_buffers", "values": [8, 16]}]
        });
        home.write(&format!("{name}-sweep.json"), &sweep);
        home.ends(&["sweep", &format!("{name}-sweep.json"), "--out", name, "--quiet"], 0);
    }
    assert!(!home.read("plain/results.csv").contains("required_"));
    let text = home.read("judged/results.csv");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|title| *title == name).expect("a column");
    let counts: Vec<[&str; 4]> = rows[1..]
        .iter()
        .map(|row| ["variant", "scope", "required_pass", "required_fail"].map(|name| row[column(name)]))
        .collect();
    let half = [["half", "overall", "2", "0"], ["half", "control", "", ""], ["half", "bulk", "1", "0"]];
    let full = [["full", "overall", "1", "1"], ["full", "control", "", ""], ["full", "bulk", "1", "0"]];
    assert_eq!(counts, [half, full, half, full].concat());
    home.write(
        "bad-sweep.json",
        &json!({
            "name": "bad", "scenario": with(json!([{"flow": "bulk", "fast": "1"}])), "axes": []
        }),
    );
    let (_, err) = home.ends(&["sweep", "bad-sweep.json"], 2);
    assert!(err.contains("SC103"), "{err}");
}
