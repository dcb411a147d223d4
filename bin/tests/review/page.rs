//! `riosim report`: one file that needs nothing else, and whose numbers are those of the summary.

use crate::{Home, scenario};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A page about the small system.
pub(crate) fn page(home: &Home) -> String {
    let mut value = scenario();
    value["title"] = json!("Is it <script>alert('small')</script> & \"safe\"?");
    value["require"] = json!([
        {"flow": "control", "p99": "< 1 s", "p99.9": "< 1 s"},
        {"link": "sw:2", "use": "< 80 %"}
    ]);
    home.write("x.json", &value);
    home.ends(&["x.json", "--out", "there", "--quiet"], 4);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    home.read("page.html")
}

/// The data for the script.
pub(crate) fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

/// The cells of a table, row by row: what is read, and the number behind it.
pub(crate) fn cells(page: &str, id: &str) -> Vec<Vec<(String, Option<String>)>> {
    let (_, rest) =
        page.split_once(&format!("<table id=\"{id}\"")).unwrap_or_else(|| panic!("no table {id}"));
    let body = rest.split_once("<tbody>").unwrap().1.split_once("</tbody>").unwrap().0;
    let cell = |text: &str| {
        let (attributes, shown) = text.split_once('>').unwrap();
        let value =
            attributes.split_once("data-v=\"").map(|(_, rest)| rest.split('"').next().unwrap().to_owned());
        (shown.split("</td>").next().unwrap().to_owned(), value)
    };
    let row = |text: &str| text.split("<td").skip(1).map(cell).collect();
    body.split("<tr>").skip(1).map(row).collect()
}

#[test]
fn a_page_is_whole_small_and_asks_nobody() {
    let home = Home::new();
    let page = page(&home);
    assert!(page.len() < 200_000, "{} octets", page.len());
    assert!(page.contains("default-src 'none'") && page.starts_with("<!DOCTYPE html>"));
    for word in
        ["http:", "https:", "src=", "url(", "@import", "fetch(", "XMLHttpRequest", "<link", "<iframe", "<img"]
    {
        assert!(!page.contains(word), "{word}");
    }
    let scripts: Vec<&str> =
        page.split("<script").skip(1).map(|part| part.split("</script>").next().unwrap()).collect();
    assert_eq!(scripts.len(), 2, "data and the script of the page, and none of the scenario's");
    assert!(scripts[1].len() < 30_000, "the script has {} octets", scripts[1].len());
    assert!(
        page.contains("Is it &lt;script&gt;alert(&#39;small&#39;)&lt;/script&gt; &amp; &quot;safe&quot;?")
    );
    // ids are unique, and what refers to one finds it
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|part| part.split('"').next().unwrap()).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len());
    for part in page.split("href=\"#").skip(1).chain(page.split("data-filter=\"").skip(1)) {
        let wanted = part.split('"').next().unwrap();
        assert!(known.contains(wanted), "{wanted}");
    }
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let home = Home::new();
    let first = page(&home);
    home.ends(&["report", "there", "-o", "again.html"], 0);
    assert_eq!(first, home.read("again.html"));
    home.ends(&["there/resolved.json", "--out", "resolved", "--quiet"], 4);
    home.ends(&["report", "there", "resolved", "-o", "both.html"], 0);
    assert_eq!(home.read("both.html").matches("class=\"fabric").count(), 2);
}

/// Verdicts, flows, and the busiest link are those of the summary.
#[test]
fn numbers_are_those_of_the_summary() {
    let home = Home::new();
    let page = page(&home);
    let summary = home.json("there/summary.json");
    let variants = summary["variants"].as_array().unwrap();
    let number = |cell: &(String, Option<String>)| {
        cell.1.as_ref().map(|text| serde_json::from_str::<Value>(text).unwrap())
    };
    let told: Vec<&Value> =
        variants.iter().flat_map(|variant| variant["require"].as_array().unwrap()).collect();
    let verdicts = cells(&page, "verdicts0");
    assert_eq!((verdicts.len(), told.len()), (6, 6));
    for (row, one) in verdicts.iter().zip(&told) {
        assert_eq!(row[0].0, one["verdict"].as_str().unwrap());
        assert_eq!(number(&row[5]), Some(one["measured"].clone()).filter(|value| !value.is_null()));
    }
    let words: BTreeSet<&str> = verdicts.iter().map(|row| row[0].0.as_str()).collect();
    assert_eq!(words, BTreeSet::from(["PASS", "FAIL", "NOT ENOUGH SAMPLES"]));
    let rows = cells(&page, "flows0");
    let flows: Vec<&Value> = variants
        .iter()
        .flat_map(|variant| variant["flows"].as_array().unwrap().iter().chain([&variant["overall"]]))
        .collect();
    assert_eq!(rows.len(), flows.len());
    for (row, flow) in rows.iter().zip(flows) {
        let share =
            if flow["name"] == "overall" { &flow["books"]["arrived_share"] } else { &flow["arrived_share"] };
        assert_eq!(number(&row[7]), Some(share.as_f64().map_or(json!(1.0), Value::from)));
        for (column, pointer) in [
            (3, "/offered_load"),
            (4, "/accepted_load/value"),
            (5, "/goodput_gbps/value"),
            (6, "/delivered_packets"),
            (8, "/latency_ns/mean/value"),
            (9, "/latency_ns/p50/value"),
            (10, "/latency_ns/p99/value"),
            (11, "/latency_ns/p99.9/value"),
            (12, "/latency_ns/max"),
            (13, "/network_latency_ns/mean/value"),
            (14, "/hol_blocked_ns/value"),
        ] {
            let wanted = flow.pointer(pointer).unwrap();
            assert_eq!(
                number(&row[column]),
                Some(wanted.clone()).filter(|value| !value.is_null()),
                "{pointer}"
            );
        }
    }
    let busiest = variants[1]["fabric"]["link_use_max_port"].as_str().unwrap();
    let budget = cells(&page, "budget0");
    let row = budget.iter().find(|row| row[0].0 == "full" && row[1].0 == busiest).unwrap();
    assert_eq!(number(&row[4]), Some(variants[1]["fabric"]["link_use_max"].clone()));
}

/// By hand: ep/0 and ep/1 send 0.3 each (0.6 in the second variant) over links of one speed to ep/2, so the
/// switch has to carry 0.6 (0.9) there, and nothing goes back.
#[test]
fn links_are_expected_to_carry_what_is_routed_over_them() {
    let home = Home::new();
    let page = page(&home);
    let budget = cells(&page, "budget0");
    let expected = |variant: &str, port: &str| -> f64 {
        let row = budget.iter().find(|row| row[0].0 == variant && row[1].0 == port);
        row.unwrap_or_else(|| panic!("{variant} {port}"))[2].1.as_ref().unwrap().parse().unwrap()
    };
    for (variant, bulk) in [("half", 0.3), ("full", 0.6)] {
        for (port, load) in
            [("ep/0:0", 0.3), ("ep/1:0", bulk), ("sw:2", 0.3 + bulk), ("ep/2:0", 0.0), ("sw:3", 0.0)]
        {
            assert!((expected(variant, port) - load).abs() < 1e-9, "{variant} {port}");
        }
    }
    // 4 lanes of 6.25 Gbaud carry 20 Gb/s by 8b/10b
    let row = budget.iter().find(|row| row[0].0 == "full" && row[1].0 == "sw:2").unwrap();
    assert_eq!(row[5].1.as_deref().unwrap().parse::<f64>().unwrap(), 18.0);
    assert_eq!(row[6].0, "bulk 60.0 %, control 30.0 %");
}

/// By hand: four endpoints send 0.3 each, to each of the others a third. The link of ep/3 has half the rate
/// of the others, so what comes over them takes twice the time there: 3 x 0.1 x 2. To ep/0 come 2 x 0.1 from
/// fast links and 0.1 / 2 from the slow one.
#[test]
fn expected_loads_go_with_destinations_and_rates() {
    let home = Home::new();
    home.write(
        "u.json",
        &json!({
            "name": "u", "topology": {"single_switch": {"ports": 4}},
            "run": {"until": "20 us", "warmup": "0 ps"},
            "overrides": [{"link": "ep/3", "links": {"rate": "3.125 Gbaud"}}],
            "traffic": [{"name": "any", "from": "all", "to": {"uniform": {}},
                         "arrivals": {"poisson": {"load": 0.3}}}]
        }),
    );
    home.ends(&["u.json", "--out", "u", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "u", "-o", "u.html"], 0);
    let budget = cells(&home.read("u.html"), "budget0");
    for (port, load) in [("ep/0:0", 0.3), ("ep/3:0", 0.3), ("sw:3", 0.6), ("sw:0", 0.25)] {
        let row = budget.iter().find(|row| row[1].0 == port).unwrap();
        let expected: f64 = row[2].1.as_ref().unwrap().parse().unwrap();
        assert!((expected - load).abs() < 1e-9, "{port}: {expected}");
    }
}

/// Each device and each link of a fabric is drawn once.
#[test]
fn the_drawing_has_everything_once() {
    let home = Home::new();
    for (topology, devices, links) in [
        (json!({"fat_tree": {"ports": 4, "endpoints": 8}}), 8 + 6, 8 + 8),
        (json!({"torus": {"size": [3, 3]}}), 18, 9 + 18),
        (
            json!({"dragonfly": {"groups": 3, "switches_per_group": 2, "endpoints_per_switch": 1}}),
            12,
            6 + 3 + 3,
        ),
    ] {
        home.write(
            "t.json",
            &json!({
                "name": "t", "topology": topology,
                    "run": {"until": "5 us", "warmup": "0 ps", "stall_after": "off"},
                "routing": {"allow_deadlock": true},
                "traffic": [{"name": "any", "from": "all", "to": {"uniform": {}},
                                 "arrivals": {"poisson": {"load": 0.1}}}]
            }),
        );
        home.ends(&["t.json", "--out", "t", "--quiet"], 0);
        home.ends(&["report", "t", "-o", "t.html"], 0);
        let page = home.read("t.html");
        let data = data(&page);
        let names = |key: &str| -> Vec<String> {
            let all = data[0][key].as_array().unwrap().iter();
            all.map(|one| one[0].as_str().unwrap().to_owned()).collect()
        };
        let resolved = scenarios::load(&home.read("t/resolved.json"), "t", &[]).unwrap();
        let labels = &resolved.variants[0].labels;
        let sorted = |mut list: Vec<String>| {
            list.sort();
            list
        };
        assert_eq!((labels.devices.len(), labels.links.len()), (devices, links), "{topology}");
        assert_eq!(sorted(names("nodes")), sorted(labels.devices.clone()));
        assert_eq!(sorted(names("lines")), sorted(labels.links.clone()));
        assert_eq!(page.matches("class=\"ln u").count(), links);
        assert_eq!(page.matches("class=\"dev\"").count(), devices);
    }
}

/// A variant may have another fabric: it has a drawing of its own, and links that only it has a budget.
#[test]
fn variants_with_other_fabrics_are_drawn_beside() {
    let home = Home::new();
    let mut value = scenario();
    value["variants"] = json!([
        {"name": "half", "set": {}},
        {"name": "wide", "set": {"/topology/single_switch/ports": 6}},
        {"name": "full", "set": {"/traffic/bulk/arrivals/constant/load": 0.6}}
    ]);
    home.write("x.json", &value);
    home.ends(&["x.json", "--out", "there", "--quiet"], 0);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    let page = home.read("page.html");
    let told: Vec<(usize, Vec<String>)> = data(&page)
        .as_array()
        .unwrap()
        .iter()
        .map(|drawing| {
            let names = drawing["variants"].as_array().unwrap().iter();
            let names = names.map(|variant| variant["name"].as_str().unwrap().to_owned()).collect();
            (drawing["lines"].as_array().unwrap().len(), names)
        })
        .collect();
    let wanted = [(4, vec!["half", "full"]), (6, vec!["wide"])];
    assert_eq!(told, wanted.map(|(lines, names)| (lines, names.into_iter().map(String::from).collect())));
    assert_eq!(page.matches("class=\"ln u").count(), 4 + 6);
    let budget = cells(&page, "budget0");
    assert_eq!(budget.len(), 2 * (4 + 6 + 4));
    let of = |port: &str| budget.iter().filter(|row| row[1].0 == port).map(|row| row[0].0.as_str()).collect();
    let of: [Vec<&str>; 2] = [of("sw:5"), of("ep/5:0")];
    assert_eq!(of, [["wide"], ["wide"]]);
}

/// Of 1 024 endpoints and 320 switches groups are drawn: each device is in one of them, and no link in two
/// lines.
#[test]
fn many_devices_are_drawn_in_groups() {
    let home = Home::new();
    home.write(
        "t.json",
        &json!({
            "name": "t", "topology": {"fat_tree": {"levels": 3, "ports": 16, "endpoints": 1024}},
            "run": {"until": "10 us", "warmup": "0 ps", "stall_after": "off", "sample_every": "off"},
            "traffic": [{"name": "any", "from": "ep/0000", "to": "ep/1023",
                         "arrivals": {"constant": {"load": 0.01, "phase": "0 ps"}}}]
        }),
    );
    home.ends(&["t.json", "--out", "t", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "t", "-o", "t.html"], 0);
    let page = home.read("t.html");
    let data = data(&page);
    let nodes = data[0]["nodes"].as_array().unwrap();
    assert!(nodes.len() < 200 && page.contains("drawn in groups"), "{}", nodes.len());
    let size = |node: &Value| -> usize {
        let name = node[0].as_str().unwrap();
        name.rsplit_once('(').map_or(1, |(_, count)| count.trim_end_matches(')').parse().unwrap())
    };
    assert_eq!(nodes.iter().map(size).sum::<usize>(), 1_024 + 320);
    let lines = data[0]["lines"].as_array().unwrap();
    let links = |line: &Value| -> usize {
        let name = line[0].as_str().unwrap();
        name.split_once(" links, ").map_or(1, |(count, _)| count.parse().unwrap())
    };
    // no group holds both ends of a link of a tree
    assert_eq!(lines.iter().map(links).sum::<usize>(), 3_072);
    let sides = lines.iter().flat_map(|line| line[1].as_array().unwrap()).map(|side| side.as_u64().unwrap());
    assert_eq!(sides.collect::<Vec<u64>>(), (0..2 * lines.len() as u64).collect::<Vec<u64>>());
    assert_eq!(data[0]["ports"].as_array().unwrap().len(), 2 * lines.len());
    // one packet goes from the first endpoint to the last, over six links in six lines, each forth
    let busy = data[0]["variants"][0]["use"].as_array().unwrap();
    let busy: Vec<f64> =
        busy.iter().map(|share| share.as_f64().unwrap()).filter(|share| *share > 0.0).collect();
    let most = home.json("t/summary.json")["variants"][0]["fabric"]["link_use_max"].as_f64().unwrap();
    assert_eq!(busy.len(), 6);
    assert!(busy.iter().all(|share| (share - most).abs() < 1e-4), "{busy:?}, {most}");
    let way = data[0]["variants"][0]["flows"][0][1].as_array().unwrap();
    assert_eq!(way.len(), 6);
    assert_eq!(page.matches("class=\"ln u").count(), lines.len());
}

/// Bytes of congestion: each port as busy over the frames as its counter says, within a byte.
#[test]
fn frames_add_up_to_what_links_carried() {
    let home = Home::new();
    let page = page(&home);
    // in fewer parts the same adds up: each byte of these is rounded once more
    home.ends(&["report", "there", "-o", "few.html", "--frames", "5"], 0);
    let few = home.read("few.html");
    assert!(few.contains("that the folder has: at most 5 parts.") && few.len() < page.len());
    for (page, parts, rounding) in [(&page, 6..=128, 0.0), (&few, 1..=5, 0.5 / 255.0 * 100.0)] {
        let data = data(page);
        for variant in data[0]["variants"].as_array().unwrap() {
            let frames = &variant["frames"];
            let ends: Vec<f64> =
                frames["t"].as_array().unwrap().iter().map(|end| end.as_f64().unwrap()).collect();
            assert!(parts.contains(&ends.len()), "{}", ends.len());
            let ports = data[0]["ports"].as_array().unwrap().len();
            let bytes = unpacked(frames["use"].as_str().unwrap());
            assert_eq!(bytes.len(), ports * ends.len());
            for key in ["wait", "held", "stop"] {
                assert_eq!(unpacked(frames[key].as_str().unwrap()).len(), bytes.len(), "{key}");
            }
            for port in 0..ports {
                let share = |frame: usize| f64::from(bytes[frame * ports + port]) / 255.0;
                let width = |frame: usize| ends[frame] - if frame > 0 { ends[frame - 1] } else { 0.0 };
                let busy: f64 = (0..ends.len()).map(|frame| share(frame) * width(frame)).sum();
                let counted = variant["use"][port].as_f64().unwrap() * 100.0;
                // a byte is rounded up; the packet at the end of the last frame counts whole; four digits of
                // use
                let least = counted - 0.3 - 0.01 - rounding;
                let most = counted + 100.0 / 255.0 + 0.3 + rounding;
                assert!((least..=most).contains(&busy), "port {port}: {busy} us of {counted} us");
            }
        }
    }
    home.ends(&["x.json", "--out", "plain", "--quiet", "--no-figures"], 4);
    assert!(!home.at("plain/series/congestion.json").exists());
    home.ends(&["report", "plain", "-o", "plain.html"], 0);
    assert!(home.read("plain.html").contains("does not have congestion over time"));
}

/// Octets written as base64.
pub(crate) fn base64(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut octets = Vec::new();
    for four in text.as_bytes().chunks(4) {
        let used = four.iter().filter(|c| **c != b'=').count();
        let word =
            four.iter().fold(0u32, |word, c| word << 6 | u32::from(if *c == b'=' { 0 } else { digit(*c) }));
        octets.extend(&word.to_be_bytes()[1..used]);
    }
    octets
}

/// Base64 and runs of zeros, as docs and file say.
pub(crate) fn unpacked(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = base64(text).into_iter();
    while let Some(byte) = rest.next() {
        match byte {
            0 => out.extend(std::iter::repeat_n(0, rest.next().expect("a length").into())),
            byte => out.push(byte),
        }
    }
    out
}

/// What is on the time line of timeouts is what the summary counts. By hand: of an `rpc` whose answer takes
/// longer than its patience every request times out although nothing is lost; of Transfers some frames are
/// lost, so nobody knows.
#[test]
fn timeouts_are_those_of_the_summary() {
    let home = Home::new();
    home.write(
        "x.json",
        &json!({
            "name": "late", "run": {"until": "5 ms", "warmup": "0 ps"},
            "topology": {"single_switch": {"ports": 4}},
            "traffic": [
                {"name": "ask", "from": "ep/0", "to": "ep/1", "size": 64,
                 "rpc": {"via": "message", "timeout": "100 ns"}, "arrivals": {"constant": {"load": 0.001}}},
                {"name": "write", "from": "ep/2", "to": "ep/3",
                 "st": {"bytes": 65536, "count": 8, "loss": {"control": 0.05, "data": 0.05}}}
            ],
            "variants": [{"name": "lossy"}, {"name": "sound", "set": {
                "/traffic/1/st/loss": {"control": 0, "data": 0}, "/traffic/0/rpc/timeout": "1 ms"}}]
        }),
    );
    home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    let page = home.read("page.html");
    let told: Vec<Vec<String>> = cells(&page, "timeouts0")
        .into_iter()
        .map(|row| row.into_iter().map(|(shown, number)| number.unwrap_or(shown)).collect())
        .collect();
    let variants = home.json("there/summary.json")["variants"].clone();
    let asked = variants[0]["flows"][0]["protocol"]["timed_out"].as_u64().unwrap();
    let written = variants[0]["transfers"][0]["timeouts"].as_u64().unwrap();
    let overdue = variants[0]["transfers"][0]["overdue"].as_u64().unwrap();
    assert!(asked > 10 && written > 3 && overdue > 3, "{asked}, {written}, {overdue}");
    let wanted = [
        ["lossy", "ask", "application", "answer", "late: nothing was lost", &asked.to_string()],
        ["lossy", "write", "Scheduled Transfer", "answer in an operation", "not known", &written.to_string()],
        [
            "lossy",
            "write",
            "Scheduled Transfer",
            "Blocks that were enabled",
            "not known",
            &overdue.to_string(),
        ],
    ];
    assert_eq!(told.iter().map(|row| &row[..6]).collect::<Vec<_>>(), wanted);
    // The sound variant has none, and each row is drawn: a stroke for each part of time that has any.
    let drawn =
        page.split_once("<figcaption>Timeouts over time").unwrap().1.split_once("</figure>").unwrap().0;
    let rows: Vec<&str> = drawn.split("<path class=\"line c").skip(1).take(2).collect();
    for (row, (reason, count)) in rows.iter().zip([("1\"", asked), ("5\"", written)]) {
        let strokes = row.split('>').next().unwrap().matches('M').count() as u64;
        assert!(row.starts_with(reason) && (1..=count.min(130)).contains(&strokes), "{row}");
    }
    assert!(drawn.contains(">ask, lossy<") && !drawn.contains(", sound<"));
    home.write("y.json", &scenario());
    home.ends(&["y.json", "--out", "none", "--quiet", "--no-figures"], 0);
    assert!(!home.at("none/series/timeouts.csv").exists());
}

/// Settings by where they come from: Tsi578 has 8 packets at each input by its manual.
#[test]
fn assumptions_say_where_they_come_from() {
    let home = Home::new();
    let mut value = scenario();
    value["switch"] = json!({"device": "Tsi578", "pipeline": "200 ns", "input_buffers": 8});
    value["links"] = json!({"rate": "3.125 Gbaud"});
    home.write("x.json", &value);
    home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    let rows = cells(&home.read("page.html"), "assume0");
    let origin = |pointer: &str| -> String {
        let row = rows.iter().find(|row| row[0].0 == pointer);
        row.unwrap_or_else(|| panic!("{pointer} is not in {rows:?}"))[2].0.clone()
    };
    for (pointer, wanted) in [
        ("/switch/buffering", "vendor fact"),
        ("/switch/watermarks", "vendor fact"),
        ("/switch/input_buffers", "user&#39;s own"),
        ("/switch/pipeline", "user&#39;s own"),
        ("/links/rate", "user&#39;s own"),
        ("/links/length", "project default"),
        ("/switch/arbitration", "project default"),
        ("/endpoint/input_buffers", "project default"),
        ("/traffic/0/arrivals/poisson/load", "user&#39;s own"),
    ] {
        assert_eq!(origin(pointer), wanted, "{pointer}");
    }
}

/// The words of `why` name the largest part of the waiting, who is on the link, and how full it is.
#[test]
fn why_names_what_binds() {
    let home = Home::new();
    page(&home);
    let (text, _) = home.ends(&["why", "there", "--flow", "bulk", "--variant", "full"], 0);
    assert!(text.starts_with("full: flow bulk: packets take"), "{text}");
    assert!(text.contains("what binds is outputs of switches"), "{text}");
    let use_max = home.json("there/summary.json")["variants"][1]["fabric"]["link_use_max"].as_f64().unwrap();
    let line = format!("from sw:2: busy {:.1} % of the run; bulk 60.0 %, control 30.0 %", 100.0 * use_max);
    assert!(text.contains(&line), "{text}");
    let (text, _) = home.ends(&["why", "there", "--link", "sw:2-*"], 0);
    assert!(text.contains("half: link sw:2-ep/2") && text.contains("expected 60.0 %"), "{text}");
    // A link is that of the device and of the ports at its ends, as in a requirement.
    for end in ["ep/2", "ep/2:0", "sw:2"] {
        let (same, _) = home.ends(&["why", "there", "--link", end], 0);
        assert_eq!(same, text, "{end}");
    }
    for words in [["--flow", "nobody"], ["--link", "nowhere"]] {
        let (_, err) = home.ends(&["why", "there", words[0], words[1]], 2);
        assert!(err.contains("matches nothing"), "{err}");
    }
    home.ends(&["why", "there"], 2);
    let (_, err) = home.ends(&["report", "nothing-here"], 2);
    assert!(err.contains("expected a result folder"), "{err}");
}

/// A sweep in a page: its figure with its bands, and the estimates of its points.
#[test]
fn sweeps_are_shown_with_their_bands() {
    let home = Home::new();
    home.write(
        "s.json",
        &json!({
            "name": "s", "title": "Depth <b>& load</b>", "scenario": scenario(),
            "axes": [{"name": "depth", "pointer": "/switch/input_buffers", "values": [8, 12, 16]}],
            "replications": {"count": 3}, "plots": [{"metric": "latency_mean_ns"}]
        }),
    );
    home.ends(&["sweep", "s.json", "--out", "s", "--quiet"], 0);
    home.ends(&["report", "s", "-o", "s.html"], 0);
    let page = home.read("s.html");
    assert!(
        page.contains("<title>Depth &lt;b&gt;&amp; load&lt;/b&gt;</title>")
            && !page.contains("<b>")
            && page.contains("latency_mean_ns, overall")
    );
    // of variants the difference of pairs is shown, with its band, as `compare` has it
    let sides = ["s:variant=half", "s:variant=full"];
    let words = ["--metric", "latency_mean_ns", "--scope", "overall", "--json"];
    let (out, _) = home.ends(&[&["compare"], &sides[..], &words[..]].concat(), 0);
    let one = &serde_json::from_str::<Value>(&out).unwrap()[0];
    let number = |key: &str| analysis::num::three_digits(one[key].as_f64().unwrap());
    assert_eq!((one["pairs"].clone(), one["replications"].clone()), (json!(9), json!(3)));
    let wanted = format!(
        "Over all 9 pairs, each point weighing the same: half {}, full {}, difference {} ± {}: \
         full is higher.",
        number("a"),
        number("b"),
        number("difference"),
        number("ci95")
    );
    assert!(page.contains(&wanted), "{wanted}");
    assert!(
        page.contains("latency_mean_ns, overall, less that of half: the band is")
            && page.contains("(s, seed 1, ")
    );
    assert_eq!(page.matches("class=\"band c0\"").count(), 1);
    let rows = cells(&page, "estimates0");
    let csv = home.read("s/estimates.csv");
    assert_eq!(rows.len(), csv.lines().count() - 1);
    let column = csv.lines().next().unwrap().split(',').position(|title| title == "latency_mean_ns").unwrap();
    for (row, line) in rows.iter().zip(csv.lines().skip(1)) {
        // three digits are read, and it is sorted by all
        let wanted = line.split(',').nth(column).unwrap();
        let shown = analysis::num::three_digits(wanted.parse().unwrap());
        assert!(row.contains(&(shown, Some(wanted.to_owned()))), "{wanted}");
    }
}

/// Of two variants in one of which the destination dies most packets do not arrive, and those that do took
/// little time: a page says so of the difference, in the words of `compare`.
#[test]
fn differences_of_survivors_say_of_what_share_they_are() {
    let home = Home::new();
    let dead = json!({"/faults": {"dead_devices": [{"device": "ep/2", "at": "20 us"}]}});
    let mut scenario = scenario();
    scenario["variants"] = json!([{"name": "whole"}, {"name": "dead", "set": dead}]);
    home.write(
        "s.json",
        &json!({
            "name": "s", "scenario": scenario,
            "axes": [{"name": "depth", "pointer": "/switch/input_buffers", "values": [8, 16]}],
            "replications": {"count": 3}, "plots": [{"metric": "latency_mean_ns", "scope": "control"}]
        }),
    );
    home.ends(&["sweep", "s.json", "--out", "s", "--quiet"], 0);
    let words = ["--metric", "latency_mean_ns", "--scope", "control"];
    let (said, _) = home.ends(&[&["compare", "s:variant=whole", "s:variant=dead"], &words[..]].concat(), 0);
    let (_, shares) = said.split_once(", of those that arrived: ").expect("some do not arrive");
    let shares = shares.lines().next().unwrap();
    home.ends(&["report", "s", "-o", "s.html"], 0);
    let page = home.read("s.html");
    let (_, told) = page.split_once("Over all 6 pairs").expect("a difference");
    let told = told.split("</li>").next().unwrap();
    assert!(told.ends_with(&format!(", of those that arrived: {shares}.")), "{shares}: {told}");
}

/// Of twenty flows the one of which something is required, the declared one and the fourteen that carry most
/// are drawn, in the order of the file: by hand f0 to f13, as loads fall from flow to flow, with f18 and f19.
#[test]
fn flows_that_matter_are_drawn() {
    let home = Home::new();
    let flow = |n: u32| {
        json!({"name": format!("f{n}"), "from": format!("ep/{n:02}"), "to": format!("ep/{:02}", (n + 1) % 20),
               "arrivals": {"constant": {"load": f64::from(60 - 2 * n) / 100.0}}})
    };
    home.write(
        "x.json",
        &json!({
            "name": "x", "run": {"until": "100 us", "warmup": "10 us"},
            "topology": {"single_switch": {"ports": 20}},
            "traffic": (0..20).map(flow).collect::<Vec<Value>>(),
            "declare": {"victims": ["f18"]}, "require": [{"flow": "f19", "p99": "< 1 ms"}]
        }),
    );
    home.ends(&["x.json", "--out", "there", "--quiet"], 0);
    home.ends(&["report", "there", "-o", "page.html"], 0);
    let page = home.read("page.html");
    let wanted: Vec<u32> = (0..14).chain([18, 19]).collect();
    for about in ["Share of packets that take longer", "Mean time, cause by cause", "Payload of all packets"]
    {
        let figure = page.split("<figure>").find(|part| part.contains(&format!("<figcaption>{about}")));
        let figure = figure.unwrap_or_else(|| panic!("{about}")).split("</figure>").next().unwrap();
        let (_, drawn) = figure.split_once("</figcaption>").unwrap();
        let place = |n: u32| drawn.find(&format!(">f{n}, base<"));
        let shown: Vec<u32> = (0..20).filter(|n| place(*n).is_some()).collect();
        assert_eq!(shown, wanted, "{about}: {figure}");
        assert!(shown.windows(2).all(|pair| place(pair[0]) < place(pair[1])), "{about}: {figure}");
        assert!(figure.contains("of flows of which something is required, then of declared ones"), "{about}");
    }
}

/// A run that a stall ended says so above its verdicts, and who waits; one in which a stall was found and
/// that went on says that.
#[test]
fn stalls_stand_before_verdicts() {
    let home = Home::new();
    home.write(
        "x.json",
        &json!({
            "name": "x", "run": {"until": "1 ms", "stall_after": "50 us", "on_stall": "stop"},
            "topology": {"single_switch": {"ports": 3}},
            "traffic": [{"name": "x", "from": "ep/0", "to": "ep/1", "arrivals": {"poisson": {"load": 0.3}}}],
            "faults": {"dead_devices": [{"device": "ep/1", "at": "100 us"}]}
        }),
    );
    let cover = |words: &[&str], status: i32| {
        home.ends(&[&["x.json", "--out", "there", "--quiet"], words].concat(), status);
        home.ends(&["report", "there", "-o", "page.html"], 0);
        let page = home.read("page.html");
        let (_, cover) = page.split_once("id=\"s0-cover\"").unwrap();
        cover.split("id=\"s0-losses\"").next().unwrap().to_owned()
    };
    let found = |page: &str, said: &str| {
        let stall = &home.json("there/summary.json")["variants"][0]["stalls"][0];
        let at = analysis::num::time_text(stall["at_us"].as_f64().unwrap() * 1e6);
        let first = stall["walk"][0].as_str().unwrap().replace('"', "&quot;");
        let law = format!("<p class=\"v FAIL\">Variant base{said}: stall found at {at}: {first}");
        let (before, _) = page.split_once(&law).unwrap_or_else(|| panic!("{law}: {page}"));
        assert!(!before.contains("The scenario requires nothing"), "{page}");
    };
    found(&cover(&[], 3), " was stopped before its end");
    found(&cover(&["--set", "/run/on_stall=report"], 0), "");
}

/// A Chromium, where one is installed.
pub(crate) fn browser() -> Option<&'static str> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    places.into_iter().find(|place| Path::new(place).is_file())
}

/// Where a Chromium is installed, the page is printed: several sheets, with the numbers of the print style.
#[test]
fn the_page_as_pdf() {
    let home = Home::new();
    page(&home);
    let words = ["report", "there", "-o", "again.html", "--pdf", "page.pdf"];
    // Nobody is found where nobody is looked for, and nothing is written.
    let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
    let output = command.args(words).current_dir(home.at(".")).env("PATH", home.at(".")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--pdf: no Chromium found on PATH; allowed: one of chromium"), "{said}");
    assert!(!home.at("again.html").exists() && !home.at("page.pdf").exists());
    // One that prints nothing is told.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(home.at("chromium"), "#!/bin/sh\necho no display >&2\nexit 3\n").unwrap();
        std::fs::set_permissions(home.at("chromium"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
        let output =
            command.args(words).current_dir(home.at(".")).env("PATH", home.at(".")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("printed nothing (exit status: 3): no display"), "{said}");
        assert!(!home.at("page.pdf").exists());
    }
    if browser().is_none() {
        eprintln!("skipped: no Chromium is installed");
        return;
    }
    let (out, _) = home.ends(&words, 0);
    assert!(out.contains("again.html (") && out.contains("page.pdf ("), "{out}");
    let pdf = std::fs::read(home.at("page.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-") && pdf.len() > 10_000);
    let sheets = pdf.windows(12).filter(|part| part.starts_with(b"/Type /Page") && part[11] != b's').count();
    assert!(sheets > 1, "{sheets} sheets");
}

/// A run may end at any instant of a bin, also within the first of its nanoseconds: its folder is read all
/// the same. Where the run ends goes with where its packets begin; a bin has some 977 ns, and 9.77 ns, a
/// hundredth of it, were too little.
#[test]
fn a_run_may_end_anywhere_in_a_bin() {
    let home = Home::new();
    // when the last packet is there, and how many lines tell of it
    let run = |start_ps: u64| -> (f64, usize) {
        home.write(
            "x.json",
            &serde_json::json!({
                "name": "short",
                "run": {"until": "1 ms", "warmup": "0 ps"},
                "topology": {"single_switch": {"ports": 3}},
                "traffic": [{
                    "name": "x", "from": "ep/0", "to": "ep/1", "size": 256, "limit": 100,
                    "start": format!("{start_ps} ps"),
                    "arrivals": {"constant": {"load": 0.5, "phase": "0 ns"}}
                }]
            }),
        );
        home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
        home.ends(&["report", "there", "-o", "page.html"], 0);
        home.ends(&["why", "there", "--flow", "x"], 0);
        let end = &home.json("there/summary.json")["variants"][0]["measured"]["to_us"];
        (end.as_f64().unwrap(), home.read("there/series/flows.csv").lines().count() - 1)
    };
    let (end, lines) = run(10_000_000);
    let bins = home.read("there/series/flows.csv");
    let begin = |line: &str| -> f64 { line.split(',').nth(2).unwrap().parse().unwrap() };
    let begins: Vec<f64> = bins.lines().skip(1).map(begin).collect();
    let next = begins[lines - 1] + (begins[lines - 1] - begins[lines - 2]);
    let to_next = 10_000_000 + ((next - end) * 1e6) as u64;
    for (after_ps, more) in [(-1_000, 0), (1_000, 1), (5_000, 1), (20_000, 1)] {
        assert_eq!(run(to_next.saturating_add_signed(after_ps)).1, lines + more, "{after_ps}");
    }
}

/// The page takes the place of no result, and `-` is standard output.
#[test]
fn a_page_is_no_result() {
    let home = Home::new();
    home.write("x.json", &scenario());
    home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
    let before = home.read("there/summary.json");
    let (_, said) = home.ends(&["report", "there", "-o", "there/summary.json"], 2);
    assert!(said.contains("there/summary.json") && said.contains("expected another file"), "{said}");
    assert_eq!(home.read("there/summary.json"), before);
    home.ends(&["report", "there", "-o", "there/page.html"], 0);
    home.ends(&["report", "there", "-o", "there/page.html"], 0);
    let (page, _) = home.ends(&["report", "there", "-o", "-"], 0);
    assert_eq!(page, home.read("there/page.html"));
    assert!(!home.at("-").exists());
}

/// A folder that was copied in part, or that somebody wrote in, is not read as if it were the run: file and
/// line are named, and nothing is written.
#[test]
fn series_that_are_not_whole_are_refused() {
    let home = Home::new();
    home.write("x.json", &scenario());
    home.ends(&["x.json", "--out", "there", "--quiet", "--no-figures"], 0);
    let refused = |file: &str, text: &str| {
        let path = home.at(&format!("there/series/{file}"));
        let whole = std::fs::read_to_string(&path).unwrap();
        assert_ne!(whole, text);
        std::fs::write(&path, text).unwrap();
        let (_, said) = home.ends(&["report", "there", "-o", "bad.html"], 2);
        assert_eq!(home.ends(&["why", "there", "--flow", "bulk"], 2).1, said);
        assert!(!home.at("bad.html").exists());
        std::fs::write(&path, whole).unwrap();
        let place = "riosim: there/series/";
        said.trim().strip_prefix(place).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    let without = |text: &str, at: usize| -> String {
        let lines = text.lines().enumerate().filter(|(line, _)| *line != at - 1);
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    let [links, flows, fabric] =
        ["links.csv", "flows.csv", "fabric.csv"].map(|file| home.read(&format!("there/series/{file}")));
    // four ports of the switch, of which three and a fourth have endpoints: eight ends, twice
    let last = links.lines().count();
    assert_eq!(last, 17);
    let ninth: usize = links.lines().take(8).map(|line| line.len() + 1).sum();
    assert_eq!(refused("links.csv", &links[..ninth + 9]), "links.csv:9: the file ends within this line");
    assert!(
        refused("links.csv", &without(&links, last))
            .starts_with("links.csv:16: variant \"full\": no line of port \"sw:3\"")
    );
    assert_eq!(
        refused("links.csv", &links.replacen("half,ep/1:0", "half,ep/7:0", 1)),
        "links.csv:3: there is no port \"ep/7:0\" in the run"
    );
    let two = links.replacen("half,ep/1:0", "half,ep/0:0", 1);
    assert_eq!(refused("links.csv", &two), "links.csv:3: one line too many of port \"ep/0:0\"");
    let row = links.lines().nth(1).unwrap();
    let (variant, rest) = row.split_once(",ep/0:0,").unwrap();
    let (_, rest) = rest.split_once(',').unwrap();
    let word = links.replacen(row, &format!("{variant},ep/0:0,abc,{rest}"), 1);
    assert_eq!(refused("links.csv", &word), "links.csv:2: packet_share: \"abc\" found; expected a number");
    let short = links.replacen(row, &format!("{variant},ep/0:0,{rest}"), 1);
    assert_eq!(refused("links.csv", &short), "links.csv:2: 21 cells found; expected 22");
    assert_eq!(
        refused("links.csv", &links.replacen("half,", "haff,", 1)),
        "links.csv:2: there is no variant \"haff\" in the run"
    );
    assert_eq!(refused("links.csv", ""), "links.csv:1: the file ends within this line");
    let time = |text: &str, at: usize, column: usize| -> String {
        text.lines().nth(at - 1).unwrap().split(',').nth(column).unwrap().to_owned()
    };
    // the second time bin of the first flow, and the whole flow
    assert_eq!(
        refused("flows.csv", &without(&flows, 3)),
        format!("flows.csv:3: variant \"half\": no line of flow \"control\" at {} us", time(&flows, 3, 2))
    );
    let bulk = flows.lines().filter(|line| !line.contains("control"));
    let bulk: String = bulk.map(|line| format!("{line}\n")).collect();
    assert!(refused("flows.csv", &bulk).contains(": variant \"half\": no line of flow \"control\" at 0 us"));
    assert_eq!(
        refused("fabric.csv", &without(&fabric, 5)),
        format!("fabric.csv:5: variant \"half\": no line right after {} us", time(&fabric, 4, 1))
    );
    let last = fabric.lines().count();
    let cut = refused("fabric.csv", &without(&fabric, last));
    let missing: f64 = cut.split(' ').nth(6).unwrap().parse().unwrap();
    assert!(cut.starts_with(&format!("fabric.csv:{}: variant \"full\": no line from ", last - 1)), "{cut}");
    assert!((missing - time(&fabric, last, 1).parse::<f64>().unwrap()).abs() < 1e-3, "{cut}");
    home.ends(&["report", "there", "-o", "good.html"], 0);
    // Histograms of another run have other packets.
    let of = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
    let (own, summary) = (home.read("there/histograms.json"), of(&home.read("there/summary.json")));
    let flow = &summary["variants"][0]["flows"][0];
    let (name, count) = (flow["name"].as_str().unwrap(), flow["delivered_packets"].as_u64().unwrap());
    let mut other = of(&own);
    let first = &mut other["variants"]["half"][name]["latency"][0][1];
    *first = (first.as_u64().unwrap() + 1).into();
    home.write("there/histograms.json", &other);
    for of in [&["report", "there", "-o", "bad.html"][..], &["why", "there", "--flow", "bulk"]] {
        assert_eq!(
            home.ends(of, 2).1.trim(),
            format!(
                "riosim: there/histograms.json: variant \"half\": {} packets of flow \"{name}\" found; \
                 summary.json has {count}",
                count + 1
            )
        );
    }
    std::fs::write(home.at("there/histograms.json"), own).unwrap();
    home.ends(&["report", "there", "-o", "good.html"], 0);
}
