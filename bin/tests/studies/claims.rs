//! Every claim of a study is compared with a law, or says that it is measured.

use super::root;
use std::collections::BTreeSet;
use std::fs;

/// Where the tests of studies are.
const TESTS: [&str; 4] = [
    include_str!("../studies.rs"),
    include_str!("linx.rs"),
    include_str!("transfer.rs"),
    include_str!("../enumerate.rs"),
];

/// What the test of a study compares with. What is not in here is measured, and so is what a description says
/// behind "Measured:": tests hold its order of magnitude.
const LAWS: [(&str, &str); 53] = [
    ("conduit-leak", "a StreamID, a record and 52 octets for each node and round trip, until none is left"),
    (
        "conduit-race-peers",
        "a stream and a record in each round trip and node; 2 D, 2.5 D and 3 D until one is open",
    ),
    (
        "conduit-storm",
        "N (N - 1) / 2 conduits, two OPENs and two ACCEPTs each; 2 (N - 1) messages for a host",
    ),
    ("enumerate", "what the file describes is found; a slow host takes its time for each request"),
    (
        "ethernet-bridge",
        "15 (B + F) frames for B broadcasts and F to all, and one for each that a server repeats",
    ),
    ("ethernet-broadcast", "a broadcast is a frame for each of 15 peers"),
    ("ethernet-multicast", "a broadcast is one frame on the link of its source, and one between switches"),
    ("hol-blocking", "1/3 of the link for three, 1 - 1/3 for the victim"),
    ("hol-saturation", "Karol, Hluchyj and Morgan 1987, table I"),
    ("hol-staging-queues", "1/7 of the hot link; a victim of the same queue gets 0.1 s / 0.3"),
    ("hotspot-fattree", "9 * 4 / 256 without backpressure, 4 / 256 for the hot links"),
    ("link-distance", "W T / (T + S + 2 D)"),
    ("link-efficiency", "n / (packet + 8)"),
    ("link-errors", "as many errors as their rate says; nothing is lost"),
    ("linx-crossing-connect", "2 D, 4 D, 3 T after the last heartbeat"),
    ("linx-detection", "(B - 2 T) / T and 2.5 T; by ticks 1 - (3 - B / T)^2 / 2, (B / T - 1)^2 / 2 and 2 T"),
    ("linx-fragmentation", "frames and octets moved, by arithmetic"),
    ("linx-lost-xon", "a timeout 3 T after the last heartbeat unless a refresh comes first"),
    ("linx-reboot-jitter", "16 s and 31 s in step; an even distribution from P - J to P + J"),
    ("linx-reboot-storm", "connections that end and come back, by counting; found within 2 T to 3 T"),
    ("linx-reorder", "all arrive in order, or with the end of a connection"),
    ("linx-timeouts", "(B - 2 T) / T; 1 - (1 + x)^2 / 2; T (1 - p^3) / (p^3 (1 - p))"),
    (
        "message-retry-storm",
        "a message a microsecond; 1 - T of a round trip / 4 us, 1 - T of a packet / 1 us",
    ),
    ("retry-storm", "1/3 of the hot link for three"),
    ("rpc-latency", "the sum of serialization, cables and pipelines"),
    ("session-figure-3-1", "the messages of the figure, in their order"),
    ("session-figure-3-2", "the messages of the figure, in their order"),
    ("session-figure-3-3", "the messages of the figure, in their order"),
    ("session-figure-3-4", "the messages of the figure, in their order"),
    ("session-figure-3-5", "the messages of the figure, in their order"),
    ("session-message-loss", "one conduit, nothing leaks, a retry period after a loss"),
    ("session-registers", "21 accesses a node, one after the other; each node is done once"),
    ("session-xoff", "half of the PDUs wait without XOFF"),
    ("st-cts-window", "W Blocks in a round trip, until the path is full"),
    (
        "st-delivery",
        "a STU a header, S - 2 STUs a poll, a Block an interrupt; two polls, two to three handlers",
    ),
    ("st-incast", "who is not held up gets what it asks for"),
    ("st-lossy", "1 / (1 - p)^8"),
    ("st-media", "a STU in the time of its frame"),
    ("st-media-incast", "a STU in the time of its frame, where nothing is dropped"),
    ("st-slots", "S - 2 STUs in their time and a round trip"),
    ("st-striping", "N times one stripe"),
    ("st-translator", "the slower medium; a Transfer passes, or no STU does; N times one stripe"),
    ("st-vs-voq", "who is not held up gets what it asks for"),
    ("stream-segmentation", "octets of a PDU by the octets of its segments"),
    ("vc-isolation", "1/9 in one channel; the share of a channel"),
    (
        "voq-channels",
        "1/2 of a channel of its own, 1/5 if it is stopped with another; 1/2 - 1/16 for its victims",
    ),
    ("voq-chatter", "2 mu / h"),
    ("voq-headroom", "ceil(D / T) + 1 places for each upstream device; ceil((D + 2 T) / T) below"),
    ("voq-lost-xon", "the latency without loss and the time to the next refresh, at most"),
    ("voq-shared-threshold", "c2 rho / sum of all rho"),
    ("voq-radius", "1/5 of the hot link for five, 1 - 1/5 for who leaves at the next switch, 1 - 2/5 beside"),
    (
        "voq-radius-tree",
        "1/5 of the hot link for five, 1 - 1/5 for who leaves at the next switch, 1 - 2/5 beside",
    ),
    ("voq-unequal-neighbours", "0, 1 - 0.6, and 1/2 with a verdict for each"),
];

/// Name and description of each study.
fn studies() -> Vec<(String, String)> {
    let mut studies = Vec::new();
    for entry in fs::read_dir(root().join("scenarios")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        studies.push((name.clone(), super::plan(&name).description));
    }
    studies.sort();
    studies
}

#[test]
fn every_claim_has_a_law_or_is_said_to_be_measured() {
    let page = fs::read_to_string(root().join("docs/studies.md")).unwrap();
    let studies = studies();
    let laws: BTreeSet<&str> = LAWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(laws.len(), LAWS.len(), "a study stands there twice");
    for (name, description) in &studies {
        let figure = name.starts_with("session-figure");
        let quoted = format!("\"{name}\"");
        let runs = |test: &&str| {
            test.contains(&format!("Study::run({quoted})"))
                || test.contains(&format!("scenarios/{name}.json"))
        };
        assert!(figure || TESTS.iter().any(runs), "{name}: no test runs it");
        let (law, measured) = (laws.contains(name.as_str()), description.contains("Measured:"));
        assert!(law || measured, "{name}: there is no law, and its description has no \"Measured:\"");
        if figure {
            continue;
        }
        let mut rows = page.lines().filter(|line| line.starts_with(&format!("| `{name}` |")));
        let row = rows.next().unwrap_or_else(|| panic!("{name}: docs/studies.md has no row for it"));
        assert!(rows.next().is_none(), "{name}: docs/studies.md has two rows for it");
        for (word, claimed) in [("law", law), ("measured", measured)] {
            assert_eq!(row.contains(word), claimed, "{name}: {word} in its row of docs/studies.md: {row}");
        }
    }
    let names: BTreeSet<&str> = studies.iter().map(|(name, _)| name.as_str()).collect();
    assert!(laws.is_subset(&names), "laws without a study: {:?}", laws.difference(&names));
}
