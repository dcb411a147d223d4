//! `trace --chart`: arrows begin and end where their records do.

use super::riosim;
use std::fs;

/// Two pairs of nodes of LINX.
const LINX: &str = r#"{
  "name": "linx",
  "run": { "until": "400 us", "warmup": "0 ps" },
  "topology": { "single_switch": { "ports": 4 } },
  "traffic": [
    { "name": "pair", "from": "ep/0", "to": "ep/1", "linx": {} },
    { "name": "other", "from": "ep/2", "to": "ep/3", "linx": {} }
  ]
}"#;

fn chart(name: &str, more: &[&str]) -> (String, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let words = [&["trace", "-", "--chart", path.to_str().unwrap()], more].concat();
    let (code, out, said) = riosim(&words, LINX);
    assert_eq!(code, Some(0), "{said}");
    (out, fs::read(&path).unwrap())
}

/// Picoseconds as charts write them: three digits.
fn shown(ps: u64) -> String {
    let (value, unit) = match ps {
        0 => return "0".into(),
        1..1_000 => (ps as f64, "ps"),
        1_000..1_000_000 => (ps as f64 / 1e3, "ns"),
        _ => (ps as f64 / 1e6, "µs"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.digits$} {unit}")
}

fn text(more: &[&str]) -> String {
    String::from_utf8(chart("chart.txt", more).1).unwrap()
}

/// An arrow ends when a protocol takes the message.
#[test]
fn arrows_end_where_messages_are_taken() {
    let words = ["trace", "-", "--only", "message", "--json", "--limit", "0", "--flow", "pair"];
    let (code, records, said) = riosim(&words, LINX);
    assert_eq!(code, Some(0), "{said}");
    let taken: Vec<(u64, u64)> = records
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let at = record["at_ps"].as_u64().unwrap();
            (at - record["latency_ps"].as_u64().unwrap(), at)
        })
        .collect();
    let text = text(&["--flow", "pair", "--to", "400 us"]);
    assert_eq!(text.lines().next().unwrap().split_whitespace().collect::<Vec<_>>(), ["ep/0", "ep/1"]);
    assert!(text.contains("REQ") && text.contains("HEARTBEAT"), "{text}");
    let heads = text.lines().filter(|line| line.contains('>') || line.contains('<'));
    let drawn: Vec<String> = heads.map(|line| line.split('|').next().unwrap().trim().to_owned()).collect();
    assert_eq!(drawn.len(), taken.len(), "{text}");
    // An arrow with nothing between its ends is one line, that of its begin.
    for time in &drawn {
        assert!(
            taken.iter().any(|(begin, end)| [begin, end].map(|at| shown(*at)).contains(time)),
            "{time}: {text}"
        );
    }
    // Where something lies between, the head is in the line of its end.
    let cut = taken.iter().filter(|(_, end)| drawn.contains(&shown(*end))).count();
    assert!(cut > 2, "{text}");
}

#[test]
fn charts_are_filtered_and_drawn() {
    let all = text(&[]);
    let one = text(&["--device", "ep/0"]);
    assert!(one.lines().count() < all.lines().count() && one.lines().count() > 2);
    assert!(all.contains("ep/2") && !one.contains("ep/2"));
    assert_eq!(text(&["--to", "0 ps"]).lines().filter(|line| line.contains('>')).count(), 0);
    let (out, svg) = chart("chart.svg", &["--flow", "pair"]);
    // Each end sends a request, two acknowledgements and a heartbeat, and is up.
    assert!(out.ends_with(": 8 messages and 2 notes\n"), "{out}");
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.starts_with("<svg") || svg.starts_with("<?xml"));
    assert!(svg.contains("REQ") && !svg.contains("ep/2"));
    assert!(chart("chart.png", &[]).1.starts_with(b"\x89PNG"));
}

const TRANSLATOR: &str = r#"{
    "name": "between", "run": {"until": "1 us"},
    "topology": {"explicit": {
        "devices": [{"name": "A"}, {"name": "T/r"}, {"name": "T/e"}, {"name": "B"}],
        "links": [{"a": "A", "b": "T/r"}, {"a": "T/e", "b": "B", "set": {"medium": "ethernet"}}]}},
    "translators": [{"name": "T", "interfaces": ["T/r", "T/e"]}],
    "traffic": [{"name": "w", "from": "A", "to": "B", "st": {"bytes": 1024}}]
}"#;

#[test]
fn what_cannot_be_drawn() {
    for (scenario, name, expected) in [
        (LINX, "chart.pdf", "--chart: chart.pdf found; allowed: .svg, .png or .txt"),
        (super::SMALL, "chart.svg", "--chart: no flow of the scenario has linx, session or st"),
        (TRANSLATOR, "chart.svg", "--chart: what passes a translator is not in a chart"),
    ] {
        let (code, _, said) = riosim(&["trace", "-", "--chart", name], scenario);
        assert_eq!(code, Some(2));
        assert!(said.contains(expected), "{said}");
    }
}

/// An OPEN that fails is a fact, and stands in the chart: it is repeated after each of four periods of 25 us
/// and given up at the end of the last. So is one that is refused.
#[test]
fn an_open_that_fails_is_told() {
    for (how, at, why) in [("mute", "100.0", "there is no answer"), ("refuses", "0.", "it is refused")] {
        let scenario = format!(
            r#"{{"name": "fails", "topology": {{"single_switch": {{"ports": 2}}}},
            "endpoint": {{"host": {{"protocol_clock": 10000}}}},
            "overrides": [{{"devices": "ep/1", "endpoint": {{"session": {{"{how}": true}}}}}}],
            "traffic": [{{"name": "s", "from": "ep/0", "to": "ep/1", "session": {{"opens": "stream"}}}}],
            "run": {{"until": "1 ms", "warmup": "0 ps"}}}}"#
        );
        let (code, told, said) = riosim(&["trace", "-", "--only", "fact"], &scenario);
        assert_eq!(code, Some(0), "{said}");
        let [line] = told.lines().collect::<Vec<&str>>()[..] else { panic!("{told}") };
        assert!(line.trim_start().starts_with(at), "{line}");
        assert!(line.contains("ep/0") && line.contains("flow s: an OPEN comes to nothing"), "{line}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chart.txt");
        let (code, _, said) = riosim(&["trace", "-", "--chart", path.to_str().unwrap()], &scenario);
        assert_eq!(code, Some(0), "{said}");
        let chart = fs::read_to_string(&path).unwrap();
        assert!(chart.contains(&format!("OPEN 0 fails: {why}")), "{chart}");
    }
}
