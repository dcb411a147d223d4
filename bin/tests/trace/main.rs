//! `riosim trace`: golden texts, filters, and that looking changes nothing. `BLESS=1` rewrites the texts in
//! `bin/tests/trace`.

mod capture;
mod chart;
mod perfetto;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One switch, three endpoints, a host that sets it up.
const SMALL: &str = r#"{
  "name": "small",
  "run": { "until": "60 us", "warmup": "0 ps" },
  "topology": { "single_switch": { "ports": 3 } },
  "voq": { "enabled": true, "thresholds": { "on": 2, "off": 1 } },
  "configure": { "fabric": { "host": "ep/1" } },
  "traffic": [
    {
      "name": "burst", "from": ["ep/0", "ep/1"], "to": "ep/2",
      "arrivals": { "saturated": { "backlog": 6 } }, "limit": 12
    },
    {
      "name": "ask", "from": "ep/2", "to": "ep/0", "rpc": {},
      "arrivals": { "constant": { "interval": "2 us", "phase": "0 ps" } }, "limit": 1
    }
  ]
}"#;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn riosim(words: &[&str], input: &str) -> (Option<i32>, String, String) {
    use std::io::Write;
    let mut child = Command::new(env!("CARGO_BIN_EXE_riosim"))
        .args(words)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Who refuses its flags reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |octets| String::from_utf8(octets).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn trace(more: &[&str]) -> String {
    let (code, out, said) = riosim(&[&["trace", "-"], more].concat(), SMALL);
    assert_eq!(code, Some(0), "{said}");
    out
}

fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trace").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let line = kept.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0) + 1;
    assert!(kept == text, "{name} differs from line {line}; BLESS=1 writes it anew\n{text}");
}

/// The number of the first packet in the text that a line with `what` names.
fn number(text: &str, what: &str) -> String {
    let line = text.lines().find(|line| line.contains(what)).expect("such a line");
    let (_, rest) = line.split_once("packet ").expect("a packet");
    rest.split(' ').next().unwrap().into()
}

#[test]
fn everything_in_order() {
    let text = trace(&["--limit", "0"]);
    golden("small.txt", &text);
    let instants: Vec<f64> =
        text.lines().map(|line| line.trim().split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(instants.is_sorted());
    for what in ["reads", "writes", "is written", "gets packet", "XOFF", "XON", "takes message"] {
        assert!(text.contains(what), "{what}");
    }
    // A limit cuts, and says so.
    let cut = trace(&["--limit", "7"]);
    let first: Vec<&str> = text.lines().take(7).collect();
    assert_eq!(
        cut,
        format!(
            "{}\n... and more than these 7: --limit takes another number, and 0 for all\n",
            first.join("\n")
        )
    );
}

#[test]
fn json_says_the_same() {
    let lines = trace(&["--limit", "0", "--json"]);
    golden("small.json.txt", &lines);
    let text = trace(&["--limit", "0"]);
    assert_eq!(lines.lines().count(), text.lines().count());
    for (json, line) in lines.lines().zip(text.lines()) {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        let at = value["at_ps"].as_u64().unwrap();
        assert!(
            line.trim_start().starts_with(&format!("{}.{:06} µs", at / 1_000_000, at % 1_000_000)),
            "{line}"
        );
        assert!(line.contains(value["device"].as_str().unwrap()));
    }
}

/// Nobody looks at an empty page and wonders: where nothing can be is refused, and where nothing is told.
#[test]
fn nothing_is_no_answer() {
    let of = |more: &[&str]| riosim(&[&["trace", "-"], more].concat(), SMALL);
    let (code, out, said) = of(&["--from", "1 s"]);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{said}");
    assert!(said.contains("--from: 1 s found; allowed: up to the end of the run (60 us)"), "{said}");
    let (code, out, said) = of(&["--flow", "ask", "--only", "drop"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{said}");
    assert!(said.contains("nothing that the flags ask for happens in the run"), "{said}");
}

/// Accesses of sessions are told like those of a host: each with the device that answered it, and the packets
/// that carry them not once more as deliveries. A processor needs 21 accesses for a node, here 17 times; a
/// node of sessions asks with its own id. Each device is told of what others ask it.
#[test]
fn sessions_ask_for_registers_too() {
    let text = include_str!("../../../scenarios/session-registers.json");
    let lines = |more: &[&str]| -> Vec<serde_json::Value> {
        let words = ["trace", "-", "--variant", "one", "--json", "--limit", "0", "--to", "4 ms"];
        let (code, out, said) = riosim(&[&words, more].concat(), text);
        assert_eq!(code, Some(0), "{said}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let all = lines(&["--only", "register"]);
    let of = |device: &str, step: &str| {
        all.iter().filter(|line| line["device"] == device && line["step"] == step).collect::<Vec<_>>()
    };
    let (asked, answered) = (of("ep/17", "asked"), of("ep/17", "answered"));
    assert_eq!((asked.len(), answered.len()), (17 * 21, 17 * 21));
    for node in 0..17 {
        let name = format!("ep/{node:02}");
        assert_eq!(answered.iter().filter(|line| line["by"] == name.as_str()).count(), 21, "{name}");
    }
    for node in ["ep/01", "ep/16", "ep/19"] {
        assert!(
            !of(node, "answered").is_empty() && of(node, "answered").iter().all(|line| !line["by"].is_null())
        );
    }
    // What it asks and is told, and each question of others with its answer.
    let own = all.iter().filter(|line| line["device"] == "ep/03").count();
    let others = all.iter().filter(|line| line["device"] != "ep/03" && line["by"] == "ep/03").count();
    assert!(own > 0 && others > 21);
    assert_eq!(lines(&["--only", "register", "--device", "ep/03"]).len(), own + 2 * others);
    assert_eq!(lines(&["--flow", "registers"]).len(), all.len());
}

#[test]
fn filters_take_away() {
    let all = trace(&["--limit", "0"]);
    let lines = |more: &[&str]| {
        let text = trace(&[&["--limit", "0"], more].concat());
        assert!(text.lines().all(|line| all.lines().any(|other| line == other)), "{more:?}");
        text.lines().count()
    };
    let kinds: Vec<usize> = ["register", "delivery", "drop", "edge", "message", "fact"]
        .iter()
        .map(|kind| lines(&["--only", kind]))
        .collect();
    assert_eq!(kinds.iter().sum::<usize>(), all.lines().count());
    assert_eq!(lines(&["--only", "register,edge"]), kinds[0] + kinds[3]);
    assert_eq!(lines(&["--flow", "enumeration"]), kinds[0]);
    assert_eq!(lines(&["--flow", "burst", "--only", "delivery"]), 24);
    let (early, late) = (lines(&["--to", "20 us"]), lines(&["--from", "20000001 ps"]));
    assert_eq!(early + late, all.lines().count());
    assert!(early > 0 && late > 0);
    // The host asks everybody; a device is told of what it answers.
    assert_eq!(lines(&["--device", "ep/1", "--only", "register"]), kinds[0]);
    let asked: usize =
        ["sw", "ep/0", "ep/2"].iter().map(|name| lines(&["--device", name, "--only", "register"])).sum();
    assert_eq!(asked, kinds[0]);
}

#[test]
fn the_life_of_a_packet() {
    let text = trace(&["--limit", "0"]);
    for (name, what) in
        [("access", "Base Device ID (offset 0x000060)"), ("staged", "of flow burst from ep/1")]
    {
        let packet = number(text.lines().rev().collect::<Vec<_>>().join("\n").as_str(), what);
        let life = trace(&["--packet", &packet]);
        golden(&format!("packet-{name}.txt"), &life);
        assert!(life.starts_with(&format!("packet {packet} of flow ")));
        // The causes add up to the latency, to the picosecond.
        let json = trace(&["--packet", &packet, "--json"]);
        let steps: Vec<serde_json::Value> =
            json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sum = |value: &serde_json::Value| -> u64 {
            value["causes_ps"].as_object().unwrap().values().map(|ps| ps.as_u64().unwrap()).sum()
        };
        let end = steps.last().unwrap();
        let latency = end["at_ps"].as_u64().unwrap() - steps[0]["at_ps"].as_u64().unwrap();
        assert_eq!((sum(end), end["latency_ps"].as_u64()), (latency, Some(latency)));
        let hops: u64 = steps.iter().filter(|step| step["step"] == "started").map(sum).sum();
        assert_eq!(hops, latency, "{json}");
        for step in steps.iter().filter(|step| step["step"] == "started") {
            assert!(step["until_ps"].as_u64() > step["at_ps"].as_u64());
        }
        // What a line says after "after" ends at its instant, and what it says after "then" begins there.
        let mut there = steps[0]["at_ps"].as_u64().unwrap();
        for line in life.lines().filter(|line| line.contains("  starts on the wire ")) {
            let ps = |text: &str| -> u64 {
                let words: Vec<&str> = text.split([' ', ',']).collect();
                let pairs = words.windows(2).filter_map(|pair| match pair {
                    [number, "ns"] => number.replace('.', "").parse::<u64>().ok(),
                    [number, "µs"] => number.replace('.', "").parse::<u64>().ok(),
                    _ => None,
                });
                pairs.sum()
            };
            let (instant, told) = line.split_once(" µs").unwrap();
            let (waited, then) = told.split_once("; then ").unwrap();
            let at: u64 = instant.trim().replace('.', "").parse().unwrap();
            assert_eq!(there + ps(waited), at, "{line}");
            there = at + ps(then);
        }
        assert_eq!(Some(there), end["at_ps"].as_u64(), "{life}");
    }
}

/// A packet that its link damages starts there twice: what it waited for in between is told with the second
/// start, and makes it so much later. One that is made in the instant in which its link goes down starts
/// once, when that is back: it was to leave before, and has not.
#[test]
fn a_repetition_is_a_start_of_its_own() {
    let steps = |faults: &str| -> Vec<serde_json::Value> {
        let scenario = format!(
            r#"{{"name": "z", "run": {{"until": "10 us", "warmup": "0 ps"}}, "faults": {{{faults}}},
            "topology": {{"single_switch": {{"ports": 2}}}},
            "traffic": [{{"name": "f", "from": "ep/0", "to": "ep/1", "limit": 1,
                "arrivals": {{"constant": {{"interval": "5 us", "phase": "400 ns"}}}}}}]}}"#
        );
        let (code, out, said) = riosim(&["trace", "-", "--packet", "1", "--json"], &scenario);
        assert_eq!(code, Some(0), "{said}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let sound = steps("");
    let at = |steps: &[serde_json::Value], n: usize| steps[n]["at_ps"].as_u64().unwrap();
    let late = |steps: &[serde_json::Value]| at(steps, steps.len() - 1) - at(&sound, 3);
    let damaged = steps(r#""corrupt": [{"device": "ep/0", "port": 0, "what": "packet", "nth": 1}]"#);
    assert_eq!((sound.len(), damaged.len()), (4, 5), "{damaged:?}");
    let again = &damaged[2];
    assert_eq!((&again["device"], &again["again"]), (&"ep/0".into(), &true.into()));
    let waited = at(&damaged, 2) - at(&damaged, 1);
    assert_eq!(again["causes_ps"], serde_json::json!({"link retry or recovery": waited}));
    assert_eq!(late(&damaged), waited);
    assert_eq!(
        at(&damaged, 3) - at(&damaged, 2),
        at(&sound, 2) - at(&sound, 1),
        "and at once from the switch"
    );
    let down = steps(r#""outages": [{"link": "ep/0", "at": "400 ns", "for": "1 us"}]"#);
    assert_eq!((down.len(), &down[1]["again"]), (4, &serde_json::Value::Null), "{down:?}");
    assert!(at(&down, 1) > 1_400_000 && late(&down) == at(&down, 1) - at(&sound, 1), "{down:?}");
    // One that has begun is cut in the instant in which the link goes down.
    let cut = steps(r#""outages": [{"link": "ep/0", "at": "430 ns", "for": "1 us"}]"#);
    assert_eq!((cut.len(), &cut[2]["step"], at(&cut, 2)), (6, &"cut".into(), 430_000), "{cut:?}");
    assert_eq!((at(&cut, 1), &cut[3]["again"]), (at(&sound, 1), &true.into()), "{cut:?}");
}

/// 24 characters of 8 ns come in, of which the switch has the destination id after 7; 24 of 4 ns go out. It
/// cannot cut that through: the rest is stored before the packet starts again, so the time is the one before,
/// and each copy has what it took itself.
#[test]
fn what_is_stored_belongs_to_the_link_before() {
    let scenario = |to: &str| {
        format!(
            r#"{{"name": "stored", "run": {{"until": "10 us", "warmup": "0 ps"}},
                 "topology": {{"single_switch": {{"ports": 3}}}}, "switch": {{"forwarding": "cut_through"}},
                 "links": {{"rate": "2.5 Gbaud", "width": "1x", "symbol": "short"}},
                 "overrides": [{{"link": "ep/0", "links": {{"rate": "1.25 Gbaud"}}}}],
                 "multicast": [{{"name": "both", "members": ["ep/1", "ep/2"]}}],
                 "traffic": [{{"name": "a", "from": "ep/0", "to": "{to}", "size": 8, "packet": "swrite",
                               "limit": 1,
                               "arrivals": {{"constant": {{"interval": "1 us", "phase": "0 ns"}}}}}}]}}"#
        )
    };
    let moves = "serialization 96.000 ns, propagation 40.000 ns";
    let first = "0.000000 µs  ep/0  starts on the wire at once; then serialization 192.000 ns, propagation \
                 40.000 ns, pipeline 100.000 ns";
    let second = format!("0.332000 µs  sw:1  starts on the wire at once; then {moves}");
    let third =
        format!("0.428000 µs  sw:2  starts on the wire after input contention 96.000 ns; then {moves}");
    for (to, expected) in [("ep/1", vec![first, &second]), ("both", vec![first, &second, &third])] {
        let (code, out, said) = riosim(&["trace", "-", "--packet", "1"], &scenario(to));
        assert_eq!(code, Some(0), "{said}");
        let starts: Vec<&str> = out.lines().map(str::trim).filter(|line| line.contains("starts")).collect();
        assert_eq!(starts, expected, "{out}");
    }
    let (_, out, _) = riosim(&["trace", "-", "--packet", "1", "--json"], &scenario("ep/1"));
    assert!(out.lines().nth(1).is_some_and(|line| line.contains("\"until_ps\":332000")), "{out}");
}

/// Two endpoints send a message each at once to a host with one place. The second one is refused when it is
/// there, and its life says so; the first is not, nor is either where there are two places.
#[test]
fn what_a_host_refuses_is_told() {
    let scenario = |places: u32| {
        format!(
            r#"{{"name": "refused", "run": {{"until": "10 us", "warmup": "0 ps"}},
                 "topology": {{"single_switch": {{"ports": 3}}}},
                 "endpoint": {{"host": {{"rx_service": "1 us", "rx_queue": {places}}}}},
                 "traffic": [{{"name": "m", "from": ["ep/1", "ep/2"], "to": "ep/0", "size": 64,
                               "messages": {{}}, "limit": 1,
                               "arrivals": {{"constant": {{"interval": "1 us", "phase": "0 ns"}}}}}}]}}"#
        )
    };
    for (places, packet, refused) in [(1, "1", false), (1, "2", true), (2, "2", false)] {
        let told = |more: &[&str]| {
            let (code, out, said) =
                riosim(&[&["trace", "-", "--packet", packet], more].concat(), &scenario(places));
            assert_eq!(code, Some(0), "{said}");
            out
        };
        let out = told(&[]);
        assert_eq!(out.contains("ep/0  answers by RETRY: no place in the host's queue"), refused, "{out}");
        let last = told(&["--json"]).lines().last().unwrap().to_owned();
        assert_eq!(last.contains(r#""answer":"RETRY""#), refused, "{last}");
    }
}

#[test]
fn mistakes_are_told() {
    for (flags, expected) in [
        (&["--packet", "0"][..], "number from 1 on"),
        (&["--packet", "1", "--flow", "zz"], "cannot be used with"),
        (&["--from", "2 us", "--to", "1 us"], "--from: 2 us found; allowed: up to --to (1 us)"),
        (&["--packet", "99999"], "allowed: 1 to "),
        (&["--only", "packets"], "allowed: register, delivery"),
        (&["--device", "ep/7"], "\"ep/7\" matches nothing"),
        (&["--flow", "x"], "\"x\" matches nothing"),
        (&["--from", "now"], "--from"),
        (&["--variant", "x"], "allowed: base"),
    ] {
        let (code, out, said) = riosim(&[&["trace", "-"], flags].concat(), SMALL);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{flags:?}");
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}
