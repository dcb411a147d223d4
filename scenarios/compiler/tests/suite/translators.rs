//! Translators: what passes them, how long that takes, and what they lower; by hand.

use crate::transfer::attempts;
use models::stats::{TransferTotals, TranslatorPart, TranslatorTotals};
use models::{Progress, RunOptions, Simulation};
use scenarios::{check_report, load};

/// A way from A to B over these media, each one link, with a translator between any two: T0, T1 ...; the two
/// interfaces of a translator are called after it.
fn way(media: &[&str], translator: &str, host: &str, st: &str) -> String {
    let (mut devices, mut links) = (Vec::new(), Vec::new());
    let mut left = "A".to_owned();
    for (n, medium) in media.iter().enumerate() {
        let right = if n + 1 == media.len() { "B".into() } else { format!("T{n}/in") };
        devices.extend([format!(r#"{{"name": "{left}"}}"#), format!(r#"{{"name": "{right}"}}"#)]);
        links.push(format!(r#"{{"a": "{left}", "b": "{right}", "set": {{"medium": "{medium}"}}}}"#));
        left = format!("T{n}/out");
    }
    let between =
        |n: usize| format!(r#"{{"name": "T{n}", "interfaces": ["T{n}/in", "T{n}/out"]{translator}}}"#);
    let translators: Vec<String> = (0..media.len() - 1).map(between).collect();
    let overrides = match host {
        "" => String::new(),
        host => format!(r#""overrides": [{{"devices": ["T*"], "endpoint": {{"host": {{{host}}}}}}}],"#),
    };
    format!(
        r#"{{
            "name": "test",
            "topology": {{"explicit": {{"devices": [{}], "links": [{}]}}}},
            "endpoint": {{"input_buffers": 60}},
            {overrides}
            "translators": [{}],
            "traffic": [{{"name": "ends", "from": "A", "to": "B", "st": {{{st}}}}}],
            "run": {{"until": "2 s", "warmup": "0 ps", "sample_every": "off"}}
        }}"#,
        devices.join(", "),
        links.join(", "),
        translators.join(", ")
    )
}

/// What the only flow came to, and the translators of its way; the same in every mode of the kernel.
fn run(text: &str) -> (TransferTotals, Vec<TranslatorPart>) {
    let found = attempts(text).remove(0);
    let plan = load(text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut simulation = Simulation::new(plan.variants[0].config.clone(), RunOptions::default(), ());
    assert_eq!(simulation.run(plan.variants[0].until, u64::MAX), Progress::Drained);
    let totals = simulation.finish().1.totals;
    let parts = totals.one::<TranslatorTotals>().map_or_else(Vec::new, |totals| totals.translators.clone());
    for TranslatorPart { stats, .. } in &parts {
        assert_eq!(stats.came, stats.passed.iter().sum::<u64>() + stats.dropped(), "{stats:?}");
        assert_eq!((stats.waiting, stats.foreign), (0, 0), "{stats:?}");
    }
    (found, parts)
}

const MEDIA: [&str; 9] = [
    "rapidio",
    "hippi-6400",
    "hippi-fp",
    "ethernet",
    "atm-lane",
    "atm-dix",
    "atm-token-ring-4",
    "atm-token-ring-16",
    "fibre-channel",
];

/// An operation is taken in whole before it goes on, so of what happens one after the other times add up: a
/// FetchOp over two media takes what it takes over each of them alone, and, for the request and for its
/// answer, the two services of the translator.
///
/// Proves: ST-A-2
#[test]
fn times_of_media_add_up() {
    // Of a second one, the end of the first would be in front on one link and not on the other.
    let st = r#""operation": "fetch_op", "count": 1, "stu": 1024"#;
    let times = MEDIA.map(|medium| run(&way(&[medium], "", "", st)).0.stats.times[0]);
    for (n, first) in MEDIA.iter().enumerate() {
        // Each with the next one, and RapidIO with all.
        let others = [0, (n + 1) % MEDIA.len()].into_iter().filter(|&other| other != n);
        for other in others {
            for (host, services) in
                [("", 0), (r#""rx_service": "3 us", "tx_service": "500 ns""#, 2 * 3_500_000)]
            {
                let (totals, parts) = run(&way(&[first, MEDIA[other]], "", host, st));
                assert_eq!((parts.len(), totals.stats.completed, totals.stats.logged), (1, 1, 0));
                let law = times[n] + times[other] + services;
                assert_eq!(totals.stats.times, [law], "{first} and {}", MEDIA[other]);
            }
        }
    }
}

/// The ends, on media that carry STUs of 32 KiB, know nothing of the Ethernet between them; the translators
/// on its sides tell each what the other one takes: 1 KiB, the first of the two that a request or an answer
/// passes. If none does, every STU is dropped, and nothing but requests and answers arrives.
///
/// Proves: ST-5.2.4-5, ST-5.2.4-6, ST-A.1-8, ST-A.3-3
#[test]
fn max_stu_is_lowered_on_the_way() {
    for media in [["hippi-6400", "ethernet", "hippi-6400"], ["rapidio", "ethernet", "fibre-channel"]] {
        for operation in ["write", "read", "read_back"] {
            let st = format!(r#""operation": "{operation}", "bytes": 262144, "block": 65536, "stu": 32768"#);
            let (totals, parts) = run(&way(&media, "", "", &st));
            let stats = &totals.stats;
            let times = if operation == "read_back" { 2 } else { 1 };
            assert_eq!((stats.completed, stats.verified_octets), (1, 262_144), "{totals:?}");
            assert_eq!((stats.data.frames, stats.logged), (256 * times, 0), "{totals:?}");
            let lowered: Vec<u64> = parts.iter().map(|part| part.stats.lowered_stu).collect();
            assert_eq!(lowered, [1, 1], "the request at one, the answer at the other");
            assert!(parts.iter().all(|part| part.stats.dropped() == 0));
        }
        let st = r#""bytes": 262144, "block": 65536, "stu": 32768"#;
        let text = way(&media, r#", "lowers": false"#, "", st);
        let (totals, parts) = run(&text);
        assert_eq!((totals.stats.completed, totals.stats.verified_octets), (0, 0), "{totals:?}");
        let data: Vec<[u64; 2]> =
            parts.iter().map(|part| [part.stats.passed[1], part.stats.too_long]).collect();
        assert_eq!(data, [[0, totals.stats.data.frames], [0, 0]], "the first one drops all of it");
        let warned = load(&text, "test.json", &[]).expect("it runs").warnings;
        let codes: Vec<&str> = warned.items.iter().map(|item| item.code).collect();
        assert_eq!(codes, ["SC107"], "and that is said before");
    }
}

/// From 20 Gb/s to 1 Gb/s all that is enabled waits in between: 8 Blocks of 64 KiB, each STU of 1 KiB with a
/// header of 40 octets. Memory for that drops nothing; half of it does, and what is missed is sent again;
/// with Max_Block lowered to 16 KiB a quarter of the memory is enough.
///
/// Proves: ST-6.2.5-5, ST-A.1-8
#[test]
fn max_block_keeps_what_is_enabled_within_memory() {
    let st = r#""bytes": 4194304, "block": 65536, "slots": 65535"#;
    let of = |translator: &str| {
        let text = way(&["rapidio", "ethernet"], translator, "", st);
        let (totals, parts) = run(&text);
        assert_eq!((totals.stats.completed, totals.stats.verified_octets), (1, 4_194_304));
        // The rate that is told before counts no memory, and says so where there is too little.
        let told = check_report(&load(&text, "test.json", &[]).expect("it runs"));
        let named =
            told.contains("at most that, for this does not count frames that find no room in a trans");
        assert_eq!(named, parts[0].stats.no_room > 0, "{told}");
        (totals.stats.cts.frames, totals.stats.payload, parts[0])
    };
    let enabled = |block: u64| 8 * block * (1_024 + 40) / 1_024;
    let (cts, payload, all) = of("");
    assert_eq!((cts, payload, all.stats.dropped()), (64, 4_194_304, 0));
    // Two STUs are between the translator and its link when the first Blocks are whole; a few have left.
    assert!((enabled(65_536) * 9 / 10..=enabled(65_536)).contains(&all.most_octets), "{all:?}");
    let (_, payload, half) = of(&format!(r#", "buffer": {}"#, enabled(65_536) / 2));
    assert!(payload > 4_194_304 && half.stats.no_room > 0, "{half:?}");
    let quarter = enabled(16_384) + 1_000;
    let (cts, payload, lowered) = of(&format!(r#", "buffer": {quarter}, "block": 16384"#));
    assert_eq!((cts, payload, lowered.stats.dropped()), (256, 4_194_304, 0));
    assert_eq!(lowered.stats.lowered_block, 1);
    // A Read is announced by its source, too.
    let read = format!(r#""operation": "read", {st}"#);
    let (totals, parts) = run(&way(&["ethernet", "rapidio"], r#", "block": 16384"#, "", &read));
    assert_eq!((totals.stats.cts.frames, parts[0].stats.lowered_block), (256, 1));
}

/// All operations, with checksums, over four media that lose frames: what was lowered on the way has a Cksum
/// that is right, and Opaque is what it was.
///
/// Proves: ST-6.2.10-3, ST-5.2.4-5
#[test]
fn all_operations_pass() {
    for operation in ["write", "read", "read_back", "put", "get", "fetch_op"] {
        let bytes = if operation == "fetch_op" { "" } else { r#""bytes": 20000,"# };
        let opaque = if matches!(operation, "write" | "put" | "read_back") { r#""opaque": 77,"# } else { "" };
        let notify = if matches!(operation, "get" | "fetch_op") { "" } else { r#""notify": true,"# };
        for (loss, is_clean) in [("", true), (r#""loss": {"control": 0.01, "data": 0.01},"#, false)] {
            let st = format!(
                r#""operation": "{operation}", {bytes} {opaque} {loss} {notify} "count": 20, "concurrent": 3,
                   "stu": 4096, "byte_order": "little", "max_retry": 8"#
            );
            let media = ["atm-token-ring-4", "ethernet", "rapidio", "hippi-6400"];
            let (totals, parts) = run(&way(&media, "", "", &st));
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.wanted), (20, 20), "{operation}: {totals:?}");
            assert_eq!((stats.corrupt, parts.len()), (0, 3), "{operation}: {totals:?}");
            assert!(!is_clean || stats.logged == 0 && stats.timeouts == 0, "{operation}: {totals:?}");
        }
    }
}

/// Annex B.2: N slow interfaces and one fast one, with a translator between. Each Block goes over one of
/// them, and N carry N times as much.
///
/// Proves: ST-B.2-1, ST-B.2-2, ST-B.1-7
#[test]
fn many_slow_interfaces_reach_a_fast_one() {
    let rate = |stripes: usize| {
        let names: Vec<String> = (0..stripes).map(|n| format!(r#""F/{n}""#)).collect();
        let devices: Vec<String> = names.iter().map(|name| format!(r#"{{"name": {name}}}"#)).collect();
        let links: Vec<String> =
            (0..stripes).map(|n| format!(r#"{{"a": "fc:{n}", "b": "F/{n}"}}"#)).collect();
        let text = format!(
            r#"{{
                "name": "test",
                "topology": {{"explicit": {{
                    "devices": [
                        {}, {{"name": "T/fc"}}, {{"name": "fc", "ports": 5}},
                        {{"name": "T/hippi"}}, {{"name": "B"}}
                    ],
                    "links": [
                        {},
                        {{"a": "fc:4", "b": "T/fc", "set": {{"rate": "8.5 Gbaud"}}}},
                        {{"a": "T/hippi", "b": "B", "set": {{"medium": "hippi-6400"}}}}
                    ]
                }}}},
                "links": {{"medium": "fibre-channel"}},
                "endpoint": {{"input_buffers": 60}},
                "switch": {{"input_buffers": 60, "reads_per_input": 4}},
                "translators": [{{"name": "T", "interfaces": ["T/hippi", "T/fc"]}}],
                "traffic": [{{"name": "ends", "from": [{}], "to": "B", "st": {{
                    "bytes": 8388608, "block": 65536, "stu": 8192, "slots": 65535, "window": 12,
                    "stripes": {{"from": {stripes}, "to": 1}}
                }}}}],
                "run": {{"until": "1 s", "warmup": "0 ps", "sample_every": "off"}}
            }}"#,
            devices.join(", "),
            links.join(", "),
            names.join(", ")
        );
        let (totals, parts) = run(&text);
        let stats = &totals.stats;
        assert_eq!((stats.completed, stats.logged, parts.len()), (1, 0, 1), "{totals:?}");
        1.0 / stats.times[0] as f64
    };
    let one = rate(1);
    for stripes in [2, 4] {
        let gain = rate(stripes) / one;
        // A Transfer begins and ends with a round trip, during which nothing is gained.
        assert!((gain / stripes as f64 - 1.0).abs() < 0.02, "{stripes} stripes: {gain} times one");
    }
}

/// Two flows through one translator share its memory, and neither is told of what the other has sent.
#[test]
fn flows_share_a_translator() {
    let st = r#""bytes": 1048576, "block": 65536, "slots": 65535"#;
    let one = way(&["rapidio", "ethernet"], r#", "buffer": 2097152"#, "", st);
    let flow = format!(r#"{{"name": "ends", "from": "A", "to": "B", "st": {{{st}}}}}"#);
    let back = format!(r#"{{"name": "more", "from": "A", "to": "B", "st": {{{st}}}}}"#);
    let two = one.replace(&flow, &format!("{flow}, {back}"));
    let plan = load(&two, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut simulation = Simulation::new(plan.variants[0].config.clone(), RunOptions::default(), ());
    assert_eq!(simulation.run(plan.variants[0].until, u64::MAX), Progress::Drained);
    let totals = simulation.finish().1.totals;
    let each: Vec<&TransferTotals> = totals.of().collect();
    assert!(each.len() == 2 && each.iter().all(|totals| totals.stats.verified_octets == 1 << 20));
    let parts: Vec<TranslatorPart> =
        totals.of::<TranslatorTotals>().flat_map(|totals| totals.translators.clone()).collect();
    let (_, alone) = run(&one);
    let data = |part: &TranslatorPart| part.stats.passed[1];
    assert_eq!((parts.len(), data(&parts[0]), data(&parts[1])), (2, data(&alone[0]), data(&alone[0])));
    assert_eq!(parts[0].most_octets, parts[1].most_octets);
    assert!(parts[0].most_octets > alone[0].most_octets * 3 / 2, "{parts:?} {alone:?}");
}

/// What leaves by one channel keeps the order in which it came: a FetchOp from RapidIO to Fibre Channel waits
/// for seven to eight Blocks of 64 frames, which are enabled and on their way to another end. On HIPPI-6400
/// Control has a channel of its own, and waits for a micropacket at a time.
///
/// Proves: ST-A.1-6
#[test]
fn control_keeps_the_order_of_the_medium_behind() {
    let write = r#""bytes": 8388608, "block": 65536, "slots": 65535"#;
    // Its own periods know nothing of other flows.
    let fetch = r#""operation": "fetch_op", "at": "1 ms", "op_timeout": "100 ms""#;
    let took = |medium: &str| {
        let text = way(&["rapidio", medium], "", "", write);
        let first = format!(r#"{{"name": "ends", "from": "A", "to": "B", "st": {{{write}}}}}"#);
        let second = format!(r#"{{"name": "word", "from": "A", "to": "B", "st": {{{fetch}}}}}"#);
        let flows = attempts(&text.replace(&first, &format!("{first}, {second}")));
        assert!(flows.iter().all(|totals| totals.stats.completed == 1 && totals.stats.timeouts == 0));
        flows[1].stats.times[0]
    };
    // 24 + 40 + 1 024 octets and 60 around them, of ten bits at 1.0625 Gbaud.
    let block = 64 * (1_088 + 60) * 100_000_000 / 10_625;
    let waited = took("fibre-channel");
    assert!((7 * block..=8 * block + 10_000_000).contains(&waited), "{waited} ps, a Block takes {block}");
    let passed = took("hippi-6400");
    assert!(passed < 5_000_000, "{passed} ps");
}
