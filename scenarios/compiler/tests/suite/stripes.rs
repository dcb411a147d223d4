//! Striping over the interfaces of a host on RapidIO, by hand.

use crate::transfer::{attempts, run};

/// Hosts of interfaces A and B on a switch, whose links run at these rates, one lane each.
pub fn stripes([from, to]: [usize; 2], [a, b]: [&str; 2], more: &str, st: &str) -> String {
    let names = |side: &str, count: usize| -> Vec<String> {
        (0..count).map(|n| format!(r#""{side}/{n}""#)).collect()
    };
    let (left, right) = (names("A", from), names("B", to));
    let devices: Vec<String> =
        left.iter().chain(&right).map(|name| format!(r#"{{"name": {name}}}"#)).collect();
    let links = |names: &[String], first: usize, rate: &str| -> Vec<String> {
        let ports = names.iter().zip(first..);
        ports
            .map(|(name, port)| format!(r#"{{"a": "switch:{port}", "b": {name}, "set": {{{rate}}}}}"#))
            .collect()
    };
    let links = [links(&left, 0, a), links(&right, from, b)].concat();
    format!(
        r#"{{
            "name": "test",
            "topology": {{"explicit": {{
                "devices": [{}, {{"name": "switch", "ports": 8}}],
                "links": [{}]
            }}}},
            "switch": {{"reads_per_input": 4, "input_buffers": 61}},
            {more}
            "traffic": [{{"name": "ends", "from": [{}], "to": {{"cycle": [{}]}}, "st": {{
                "stripes": {{"from": {from}, "to": {to}}}, {st}
            }}}}],
            "run": {{"until": "2 s", "warmup": "0 ps", "sample_every": "off"}}
        }}"#,
        devices.join(", "),
        links.join(", "),
        left.join(", "),
        right.join(", ")
    )
}

pub const SLOW: &str = r#""rate": "1.25 Gbaud", "width": "1x""#;
pub const FAST: &str = r#""rate": "6.25 Gbaud", "width": "4x""#;

/// N equal links give N times the rate of one, wherever they are: at the source, at the destination, at both;
/// until the host is the bound, with an STU of 1 KiB in its `tx_service`. Nothing is sent twice.
///
/// Proves: ST-B.1-1, ST-B.1-7, ST-B.2-1, ST-B.2-2, ST-B.3-2, ST-B.4-1
#[test]
fn equal_links_of_rapidio_add_up() {
    // The buffers of the switch hold several Blocks: one that waits there would be in front of all others.
    // Where the last Block is there before others, its question comes too early, and again after Op_timeout.
    let st = r#""bytes": 8388608, "block": 2048, "window": 32, "slots": 65535, "op_timeout": "400 us""#;
    let rate = |sides: [usize; 2], rates: [&str; 2], more: &str| {
        let totals = run(&stripes(sides, rates, more, st));
        let stats = &totals.stats;
        assert_eq!((stats.payload, stats.logged, totals.nodes), (8 << 20, 0, 2), "{totals:?}");
        8_000.0 * 8_388_608.0 / stats.times[0] as f64
    };
    let one = rate([1, 1], [SLOW, FAST], "");
    // One lane of 1.25 Gbaud carries 1 Gb/s, of which headers of packets and frames take their part.
    assert!((0.8..1.0).contains(&one), "{one} Gb/s");
    for n in [2, 4] {
        for (sides, rates) in [([n, 1], [SLOW, FAST]), ([1, n], [FAST, SLOW]), ([n, n], [SLOW, SLOW])] {
            let gain = rate(sides, rates, "") / one;
            assert!((gain / n as f64 - 1.0).abs() < 0.03, "{sides:?}: {gain} times one");
        }
    }
    let host = r#""overrides": [{"devices": "A/*", "endpoint": {"host": {"tx_service": "4 us"}}}],"#;
    let law = 8.0 * 1_024.0 / 4_000.0;
    let bound = rate([4, 1], [SLOW, FAST], host);
    assert!((bound / law - 1.0).abs() < 0.02, "{bound} Gb/s, the host alone {law}");
}

/// With frames that are lost, doubled and late, Transfers both ways arrive whole; in every mode of the kernel
/// the same. Another flow from an interface that has no agent of its own goes beside.
///
/// Proves: ST-B.1-2, ST-B.1-6
#[test]
fn stripes_of_rapidio_lose_nothing() {
    for operation in ["write", "read"] {
        for sides in [[4, 1], [1, 4], [2, 3]] {
            let st = format!(
                r#""operation": "{operation}", "bytes": 300000, "count": 3, "concurrent": 2, "block": 8192,
                   "stu": 2048, "loss": {{"control": 0.01, "data": 0.01}}, "doubled": {{"data": 0.02}},
                   "delayed": {{"control": 0.02, "data": 0.02}}, "delay": "20 us", "max_retry": 8"#
            );
            let text = stripes(sides, [SLOW, SLOW], "", &st);
            let last = [format!("A/{}", sides[0] - 1), format!("B/{}", sides[1] - 1)];
            let beside = format!(
                r#""traffic": [{{"name": "beside", "from": "{}", "to": "{}", "stop": "2 ms",
                    "arrivals": {{"poisson": {{"load": 0.3}}}}}}, "#,
                last[0], last[1]
            );
            let flows = attempts(&text.replace(r#""traffic": ["#, &beside));
            let stats = &flows[0].stats;
            assert_eq!(
                (stats.completed, stats.verified_octets),
                (3, 900_000),
                "{operation} {sides:?}: {stats:?}"
            );
            assert!(stats.lost > 0 && stats.doubled > 0 && stats.delayed > 0, "{stats:?}");
        }
    }
}

/// Where Slots are few, the interfaces of a source get them in turn, so that all Blocks go on: the one that
/// stands still would be asked for again although nothing is lost. Every frame of Data crosses once.
///
/// Proves: ST-B.1-1
#[test]
fn interfaces_take_turns_for_slots() {
    for slots in [6, 8, 9, 11] {
        for window in [1, 2] {
            let st = format!(
                r#""bytes": 100000, "count": 6, "concurrent": 3, "slots": {slots}, "stu": 256, "block": 4096,
                   "window": {window}, "notify": true"#
            );
            let links = r#""links": {"medium": "hippi-fp", "length": "126 m"},"#;
            let totals = run(&stripes([3, 1], ["", ""], links, &st));
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.overdue, stats.logged), (6, 0, 0), "{slots} Slots: {stats:?}");
            assert_eq!(stats.payload, 600_000, "{slots} Slots, window {window}");
        }
    }
}
