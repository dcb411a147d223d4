//! `trace --perfetto`: what is in the file, read by a reader of its own.

use super::{SMALL, number, riosim, trace};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// A field of a message of protocol buffers.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Number(u64),
    Octets(Vec<u8>),
}

type Fields = BTreeMap<u64, Vec<Value>>;

fn varint(octets: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (&octet, rest) = octets.split_first().unwrap();
        *octets = rest;
        value |= u64::from(octet & 0x7F) << shift;
        shift += 7;
        if octet < 0x80 {
            return value;
        }
    }
}

fn message(mut octets: &[u8]) -> Fields {
    let mut fields = Fields::new();
    while !octets.is_empty() {
        let tag = varint(&mut octets);
        let mut take = |count: usize| {
            let (taken, rest) = octets.split_at(count);
            octets = rest;
            taken.to_vec()
        };
        let value = match tag & 7 {
            1 => Value::Number(u64::from_le_bytes(take(8).try_into().unwrap())),
            2 => {
                let length = varint(&mut octets) as usize;
                let (taken, rest) = octets.split_at(length);
                octets = rest;
                Value::Octets(taken.to_vec())
            }
            0 => Value::Number(varint(&mut octets)),
            other => panic!("wire type {other}"),
        };
        fields.entry(tag >> 3).or_default().push(value);
    }
    fields
}

fn whole(fields: &Fields, field: u64) -> Option<u64> {
    match fields.get(&field)?.first()? {
        Value::Number(value) => Some(*value),
        Value::Octets(_) => panic!("field {field} is a number"),
    }
}

fn octets(fields: &Fields, field: u64) -> Option<&[u8]> {
    match fields.get(&field)?.first()? {
        Value::Octets(octets) => Some(octets),
        Value::Number(_) => panic!("field {field} is no number"),
    }
}

fn text(fields: &Fields, field: u64) -> Option<String> {
    octets(fields, field).map(|octets| String::from_utf8(octets.to_vec()).unwrap())
}

/// An event of a track.
#[derive(Clone, Debug)]
struct Event {
    track: String,
    /// Nanoseconds.
    at: u64,
    /// 1 to 4: begin, end, instant, counter.
    kind: u64,
    name: String,
    counter: i64,
    flows: Vec<u64>,
    notes: BTreeMap<String, u64>,
}

/// Names of the tracks behind those of what they belong to, and the events.
fn read(scenario: &str, more: &[&str]) -> (BTreeSet<String>, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.pftrace");
    let words = [&["trace", "-", "--perfetto", path.to_str().unwrap()], more].concat();
    let (code, out, said) = riosim(&words, scenario);
    assert_eq!(code, Some(0), "{said}");
    let file = message(&fs::read(&path).unwrap());
    assert_eq!(file.keys().copied().collect::<Vec<_>>(), [1], "a trace is packets");
    let (mut names, mut events, mut last) = (BTreeSet::new(), Vec::new(), 0);
    let mut tracks: BTreeMap<u64, String> = BTreeMap::new();
    for packet in &file[&1] {
        let Value::Octets(packet) = packet else { panic!("a packet is a message") };
        let packet = message(packet);
        assert_eq!(whole(&packet, 10), Some(1), "one sequence");
        let at = whole(&packet, 8).unwrap();
        assert!(at >= last, "in the order of time");
        last = at;
        if let Some(descriptor) = octets(&packet, 60) {
            let descriptor = message(descriptor);
            let name = text(&descriptor, 2).unwrap();
            let parent = whole(&descriptor, 5).map_or(String::new(), |parent| tracks[&parent].clone());
            let counts = name.ends_with("waiting") || name.starts_with("conduits");
            assert_eq!(descriptor.contains_key(&8), counts, "{name}");
            assert!(tracks.insert(whole(&descriptor, 1).unwrap(), format!("{parent}/{name}")).is_none());
            names.insert(format!("{parent}/{name}"));
            continue;
        }
        let event = message(octets(&packet, 11).unwrap());
        let note = |note: &Value| {
            let Value::Octets(note) = note else { panic!("an annotation is a message") };
            let note = message(note);
            Some((text(&note, 10).unwrap(), whole(&note, 3)?))
        };
        let flow = |value: &Value| match value {
            Value::Number(flow) => *flow,
            Value::Octets(_) => panic!("flows are numbers"),
        };
        events.push(Event {
            track: tracks[&whole(&event, 11).unwrap()].clone(),
            at,
            kind: whole(&event, 9).unwrap(),
            name: text(&event, 23).unwrap_or_default(),
            counter: whole(&event, 30).unwrap_or(0) as i64,
            flows: [47, 48]
                .iter()
                .flat_map(|field| event.get(field).into_iter().flatten().map(flow))
                .collect(),
            notes: event.get(&4).into_iter().flatten().filter_map(note).collect(),
        });
    }
    let held = format!(" holds {} events for the page ui.perfetto.dev\n", events.len());
    assert!(out.ends_with(&held), "{out}");
    (names, events)
}

/// Every step of a packet is a slice that begins where the step does; its waits are the annotations; the
/// steps are joined by the packet's flow, which ends where it is delivered.
#[test]
fn packets_are_slices_joined_by_flows() {
    let (tracks, events) = read(SMALL, &[]);
    for track in ["/ep/0", "/ep/0/ep/0 sends", "/sw/sw:0 sends", "/ep/2/packets that end here"] {
        assert!(tracks.contains(track), "{track}: {tracks:?}");
    }
    let begins: Vec<&Event> =
        events.iter().filter(|event| event.kind == 1 && event.track.ends_with(" sends")).collect();
    let text = trace(&["--limit", "0", "--only", "delivery", "--flow", "burst"]);
    assert_eq!(text.lines().count(), 24);
    for line in text.lines() {
        let packet = number(line, "packet");
        let json = trace(&["--packet", &packet, "--json"]);
        let steps: Vec<serde_json::Value> =
            json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut flow = None;
        for step in steps.iter().filter(|step| step["step"] == "started") {
            let (at, device) = (step["at_ps"].as_u64().unwrap(), step["device"].as_str().unwrap());
            let device = device.split(':').next().unwrap();
            let slice = begins
                .iter()
                .find(|event| event.notes["at ps"] == at && event.track.starts_with(&format!("/{device}")))
                .unwrap_or_else(|| panic!("{step} is no slice"));
            assert_eq!((slice.at, slice.name.as_str()), (at / 1_000, "burst"));
            let waits: u64 = slice
                .notes
                .iter()
                .filter(|(name, _)| name.ends_with(" ps") && *name != "at ps")
                .map(|(_, ps)| ps)
                .sum();
            let causes = step["causes_ps"].as_object().unwrap();
            assert_eq!(waits, causes.values().map(|ps| ps.as_u64().unwrap()).sum::<u64>(), "{step}");
            assert!(flow.is_none_or(|flow| slice.flows == [flow]));
            flow = Some(slice.flows[0]);
        }
        let end =
            events.iter().find(|event| event.kind == 3 && event.flows.first().copied() == flow).unwrap();
        assert_eq!(end.name, "delivered");
        assert_eq!(end.notes["at ps"], steps.last().unwrap()["at_ps"].as_u64().unwrap());
    }
    // 272 octets and a symbol of 8 take 280 characters of 400 ps; slices of a track follow each other.
    let mut open: BTreeMap<&str, &Event> = BTreeMap::new();
    let mut slices = 0;
    for event in events.iter().filter(|event| event.kind < 3) {
        match event.kind {
            1 => assert!(open.insert(&event.track, event).is_none(), "{event:?} begins within another"),
            _ => {
                let begin = open.remove(event.track.as_str()).unwrap();
                if begin.name == "burst" {
                    assert_eq!(event.notes["at ps"] - begin.notes["at ps"], 280 * 400);
                    slices += 1;
                }
            }
        }
    }
    assert!(open.is_empty());
    assert_eq!(slices, 48, "24 packets, two links");
}

/// On a link of 10.3125 Gbaud a packet takes a fraction of a picosecond, which is carried on: each of ten
/// that follow each other ends in the picosecond in which the next one begins.
#[test]
fn slices_that_follow_each_other_leave_no_gap() {
    let scenario = r#"{"name": "z", "run": {"until": "10 us", "warmup": "0 ps"},
        "topology": {"single_switch": {"ports": 2}}, "links": {"rate": "10.3125 Gbaud", "width": "1x"},
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1",
            "arrivals": {"saturated": {}}, "limit": 10}]}"#;
    let (_, events) = read(scenario, &[]);
    let of = |kind: u64| {
        let slices = events.iter().filter(|event| event.kind == kind && event.track == "/ep/0/ep/0 sends");
        slices.map(|event| event.notes["at ps"]).collect::<Vec<u64>>()
    };
    let (begins, ends) = (of(1), of(2));
    assert_eq!((begins.len(), &begins[1..]), (10, &ends[..9]));
    let times: std::collections::BTreeSet<u64> = begins.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(times.len(), 2, "one picosecond more now and then: {times:?}");
}

/// What a link cuts off leaves its wire then: no slice begins within another, whether the receiver refuses
/// packets or the link goes down 430 ns after the beginning.
#[test]
fn slices_end_where_a_packet_is_cut() {
    for (more, cuts) in [
        (r#""links": {"flow_control": "receiver"}"#, 0),
        (r#""faults": {"outages": [{"link": "ep/0", "at": "430 ns", "for": "100 ns"}]}"#, 430_000),
    ] {
        let scenario = format!(
            r#"{{"name": "z", "run": {{"until": "20 us", "warmup": "0 ps"}}, {more},
            "topology": {{"single_switch": {{"ports": 3}}}},
            "traffic": [{{"name": "f", "from": ["ep/0", "ep/1"], "to": "ep/2",
                "arrivals": {{"saturated": {{}}}}, "limit": 40}}]}}"#
        );
        let (_, events) = read(&scenario, &[]);
        let mut open: BTreeMap<&str, u64> = BTreeMap::new();
        let mut ends = std::collections::BTreeSet::new();
        for event in events.iter().filter(|event| event.track.ends_with(" sends")) {
            match event.kind {
                1 => assert!(open.insert(&event.track, event.notes["at ps"]).is_none(), "{event:?}"),
                _ => {
                    open.remove(event.track.as_str()).expect("what ends has begun");
                    ends.insert(event.notes["at ps"]);
                }
            }
        }
        assert!(open.is_empty() && (cuts == 0 || ends.contains(&cuts)), "{ends:?}");
    }
}

/// Queues stop and go where the edges say, and what waits adds up to the waits.
#[test]
fn queues_and_counters() {
    let (_, events) = read(SMALL, &[]);
    let edges = trace(&["--limit", "0", "--only", "edge", "--json"]);
    let mut expected: Vec<(u64, bool)> = edges
        .lines()
        .map(|line| {
            let edge: serde_json::Value = serde_json::from_str(line).unwrap();
            (edge["at_ps"].as_u64().unwrap(), edge["step"] == "xoff")
        })
        .collect();
    expected.sort_unstable();
    let mut found: Vec<(u64, bool)> = events
        .iter()
        .filter(|event| event.track.contains("staging queue"))
        .map(|event| (event.notes["at ps"], event.kind == 1))
        .collect();
    found.sort_unstable();
    assert!(!expected.is_empty());
    assert_eq!(found, expected);
    // Nothing waits in the end, and never less than nothing.
    let mut last: BTreeMap<&str, i64> = BTreeMap::new();
    for event in events.iter().filter(|event| event.kind == 4) {
        assert!(event.counter >= 0, "{event:?}");
        last.insert(&event.track, event.counter);
    }
    assert!(!last.is_empty() && last.values().all(|left| *left == 0), "{last:?}");
    let most = events.iter().filter(|event| event.kind == 4).map(|event| event.counter).max();
    assert!(most.is_some_and(|most| most >= 5), "a backlog of 6 waits at the sources");
}

#[test]
fn tracks_are_filtered() {
    let (_, all) = read(SMALL, &[]);
    let (_, some) = read(SMALL, &["--flow", "ask"]);
    assert!(some.len() < all.len() && !some.is_empty());
    assert!(some.iter().all(|event| event.kind != 1 || event.name == "ask"));
    let (_, late) = read(SMALL, &["--from", "18 us"]);
    assert!(late.iter().filter(|event| event.kind == 1).all(|event| event.at >= 18_000));
}
