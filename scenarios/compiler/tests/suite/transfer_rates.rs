//! What `check` says that Scheduled Transfer comes to, reckoned by hand and run.

use super::transfer::{rate, report, run};
use serde_json::{Value, json};

/// A chain of switches between two endpoints, with links of these widths in order.
fn chain(widths: &[&str], switch: Value, st: Value) -> Value {
    let switches = widths.len() - 1;
    let links: Vec<Value> = widths
        .iter()
        .enumerate()
        .map(|(n, width)| {
            let from = if n == 0 { "a".to_owned() } else { format!("s{n}:1") };
            let to = if n == switches { "b".to_owned() } else { format!("s{}:0", n + 1) };
            json!({"a": from, "b": to, "set": {"width": width}})
        })
        .collect();
    let devices = (1..=switches).map(|n| json!({"name": format!("s{n}"), "ports": 2}));
    let ends = ["a", "b"].map(|name| json!({"name": name}));
    json!({
        "name": "test",
        "topology": {"explicit": {"devices": devices.chain(ends).collect::<Vec<_>>(), "links": links}},
        "switch": switch,
        "traffic": [{"name": "f", "from": "a", "to": "b", "st": st}],
        "run": {"until": "1 s", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Two endpoints on a switch.
fn pair(links: Value, switch: Value, st: Value) -> Value {
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 2}},
        "links": links,
        "switch": switch,
        "traffic": [{"name": "f", "from": "ep/0", "to": "ep/1", "st": st}],
        "run": {"until": "1 s", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Gb/s that are said, and the line that says so.
fn said(system: &Value) -> (f64, String) {
    let report = report(&system.to_string());
    let line = report.split("without other traffic ").nth(1).expect("a rate").lines().next().unwrap();
    (line.split(' ').next().unwrap().parse().unwrap(), line.to_owned())
}

fn near(found: f64, law: f64, share: f64) -> bool {
    (found / law - 1.0).abs() < share
}

/// What goes into a region, or comes from there, has no Blocks: a Put or Get is frames with whole STUs and
/// one with the rest, whatever the default of Blocks is. Blocks of 8 KiB in a frame of 32 each were
/// reckoned with, and a quarter of the rate was said.
///
/// By hand: a frame is cut into packets of 256 octets, with 20 around each and its delimiter, and one of
/// the 62 octets that are around an STU, with 18; a character takes 0.4 ns. On HIPPI-FP 72 octets are
/// around an STU, eight behind each 1 024 of a frame, four behind all of it; an octet takes 10 ns.
#[test]
fn what_goes_into_a_region_has_no_blocks() {
    let rapidio = |octets: u64| (octets / 256 * 276 + 80) as f64 * 0.4;
    let hippi = |octets: u64| (octets + 72 + (octets + 72).div_ceil(1_024) * 8 + 4) as f64 * 10.0;
    let cases = [
        ("put", 32_768, 32_768),
        ("put", 16_384, 16_384),
        ("put", 8_192, 32_768),
        ("put", 40_960, 32_768),
        ("get", 32_768, 32_768),
        ("get", 8_192, 2_048),
    ];
    for (medium, frame) in [("rapidio", &rapidio as &dyn Fn(u64) -> f64), ("hippi-fp", &hippi)] {
        for (operation, bytes, stu) in cases {
            let st = json!({"operation": operation, "bytes": bytes, "stu": stu, "count": 100, "concurrent": 4,
                "slots": 65535});
            let system = pair(json!({"medium": medium}), json!({}), st);
            let (said, line) = said(&system);
            let rest = if bytes % stu > 0 { frame(bytes % stu) } else { 0.0 };
            let law = 8.0 * bytes as f64 / ((bytes / stu) as f64 * frame(stu) + rest);
            assert!(
                (said - law).abs() < 0.000_6,
                "{medium}, {operation} {bytes} {stu}: {law} by hand: {line}"
            );
            let measured = rate(&run(&system.to_string()));
            assert!(measured <= 1.0005 * said && measured > 0.95 * said, "{measured} of {said} Gb/s: {line}");
        }
    }
}

/// What is cut through takes its head, not its length, on the way to a link that is not faster.
///
/// By hand, for HIPPI-6400: Data of 32 768 octets with 64 around them are 1 026 micropackets of 40 ns,
/// Control is two; each way takes 3 ns for the head, 100 ns for the pipeline and 40 ns for each of two
/// links: a round trip is 41.486 us and brings 32 KiB. It was said to be 82.6 us.
#[test]
fn a_window_where_switches_cut_through() {
    let cut = json!({"forwarding": "cut_through"});
    let st = json!({"bytes": 1_048_576, "window": 1, "block": 32_768, "stu": 32_768, "slots": 65535});
    let system = pair(json!({"medium": "hippi-6400"}), cut.clone(), st);
    let (most, line) = said(&system);
    assert!(line.contains("the window of 1 Block is the bound"), "{line}");
    assert!(line.contains("; a round trip takes 41.486 us, and 2 Blocks on their way cover it;"), "{line}");
    assert!((most - 8.0 * 32_768.0 / 41_486.0).abs() < 0.000_6, "{line}");
    // Set-up and the last answer are a part in a thousand of 32 Blocks.
    let measured = rate(&run(&system.to_string()));
    assert!(measured <= most && measured > 0.95 * most, "{measured} of {most} Gb/s");

    // Of links that differ: to a faster one packets are stored first, to a slower one they are cut through.
    let st = json!({"bytes": 4_194_304, "window": 1, "block": 8_192, "stu": 8_192, "slots": 65535});
    for widths in [["4x", "4x", "4x"], ["1x", "4x", "1x"], ["4x", "2x", "1x"], ["1x", "2x", "4x"]] {
        let way = |switch: &Value| {
            let system = chain(&widths, switch.clone(), st.clone());
            (said(&system), rate(&run(&system.to_string())))
        };
        let ((most, line), measured) = way(&cut);
        assert!(near(measured, most, 0.002), "{widths:?}: {measured} Gb/s, {line}");
        let ((stored, _), measured) = way(&json!({}));
        assert!(near(measured, stored, 0.002), "{widths:?}: {measured} Gb/s stored, {stored}");
        assert!(most > stored, "{widths:?}: {most} of cut-through, {stored} stored");
    }
}

/// Receive buffers bound the rate: W packets in the time from the start of one to when its buffer is free and
/// that is known, 2 T + S + 2 L + pipeline behind a switch that reads them, T less where it moves them on.
/// 17.3 Gb/s were said beside a warning that 13 buffers are there and 93 needed.
///
/// By hand: five packets carry 1 024 octets in 1 184 characters of 0.4 ns, the longest in 276; S is 3.2 ns, L
/// 5.03 us a kilometre, the pipeline 100 ns. With 30 buffers the packets of a frame find those of the same
/// packets of an earlier one, and all go at the pace of the longest.
#[test]
fn receive_buffers_bound_a_rate() {
    let bound = "the receive buffers or ackIDs of a link on the way are the bound";
    let st = json!({"bytes": 4_194_304, "window": 0, "block": 65_536, "slots": 65535});
    let links = 2.0 * 5_030.0 + 3.2 + 100.0;
    let (mean, longest) = (1_184.0 * 0.4 / 5.0, 276.0 * 0.4);
    for (buffers, usable, buffering, read) in [
        (16, 13.0, "direct", 2.0 * mean),
        (16, 13.0, "output", mean),
        (33, 30.0, "direct", 2.0 * longest),
        (61, 58.0, "direct", 2.0 * mean),
    ] {
        let mut system = pair(
            json!({"length": "1000 m"}),
            json!({"input_buffers": buffers, "buffering": buffering}),
            st.clone(),
        );
        // Those of the last link come back earlier.
        system["endpoint"] = json!({"input_buffers": 61});
        let (most, line) = said(&system);
        assert!(line.contains(bound), "{line}");
        let law = 8_192.0 * usable / (5.0 * (read + links));
        assert!(near(most, law, 0.001), "{buffers} {buffering}: {law} by hand: {line}");
        let measured = rate(&run(&system.to_string()));
        assert!(measured <= 1.0005 * most && measured > 0.97 * most, "{measured} of {most} Gb/s: {line}");
    }
}

/// One operation at a time takes what is said, and a control symbol of 3.2 ns where one goes between the
/// packets, three at most: its question, its Data through the two hosts and the links between them, and its
/// answer, with windows of one Block and more, and a last Block or frame that is shorter. Each Block was
/// reckoned at the pace of long Transfers, and each frame at that of a whole one: a Write of four Blocks with
/// a window of 2 took 4.688 us in words, and 4.454 in the run.
#[test]
fn one_operation_takes_what_is_said() {
    let quick = json!({});
    let slow = json!({"rx_service": "700 ns"});
    for (operation, octets, window, stu, host) in [
        ("write", 4_096, 2, 1_024, &quick),
        ("write", 4_096, 1, 1_024, &quick),
        ("write", 3_500, 3, 1_024, &quick),
        ("write", 5_200, 1, 512, &slow),
        ("write", 700, 2, 256, &json!({"tx_service": "700 ns"})),
        ("read", 3_000, 1, 256, &json!({"tx_service": "700 ns", "rx_service": "100 ns"})),
        ("read_back", 2_500, 2, 1_024, &slow),
        ("put", 20_000, 0, 512, &slow),
        ("get", 20_000, 0, 512, &json!({"tx_service": "100 ns", "rx_service": "700 ns"})),
    ] {
        let mut st = json!({"operation": operation, "bytes": octets, "stu": stu});
        if window > 0 {
            (st["window"], st["block"]) = (json!(window), json!(1_024));
        }
        let mut system = chain(&["4x"; 3], json!({"pipeline": "1 us"}), st);
        system["links"] = json!({"length": "200 m"});
        system["endpoint"] = json!({"host": host});
        let (_, line) = said(&system);
        let each = line.split(" at a time, ").nth(1).expect("a time").split(" us each").next().unwrap();
        let took = run(&system.to_string()).stats.times[0];
        let law = (each.parse::<f64>().unwrap() * 1e6).round() as u64;
        assert!((law..=law + 3 * 3_200).contains(&took), "{operation} of {octets}, {host}: {took}, {line}");
    }
}

/// A link with three buffers: each is free again 621.6 ns after the start of a packet of 276 characters and
/// 0.8 ns each, as long as three such take; but one of the five packets of a frame is a short one, and the
/// next finds no buffer. 8.649 Gb/s were said, and the links were the bound.
#[test]
fn packets_of_other_lengths_wait_for_buffers() {
    let mut system = chain(&["4x"; 3], json!({"input_buffers": 6}), json!({"bytes": 1_000_000, "count": 4}));
    system["links"] = json!({"rate": "3.125 Gbaud"});
    let (most, line) = said(&system);
    assert!(line.contains("the receive buffers or ackIDs of a link on the way are the bound"), "{line}");
    let measured = rate(&run(&system.to_string()));
    assert!(measured <= most && measured > 0.99 * most, "{measured} of {most} Gb/s: {line}");
}

/// What a rate does not count is named, and then it is a bound: Slots that are asked for again and again
/// beside Data, and Data that goes both ways.
#[test]
fn a_rate_that_cannot_be_reached_is_a_bound() {
    for (st, named) in [
        (json!({"bytes": 1_000_000, "block": 1_024, "window": 4, "slots": 4}), "Slots that Clear_To_Send"),
        (json!({"bytes": 1_000_000, "notify": true, "slots": 4}), "that questions for Slots wait"),
        (json!({"bytes": 200_000, "count": 8, "concurrent": 4, "operation": "read_back"}), "what goes out"),
    ] {
        let system = chain(&["4x"; 3], json!({}), st);
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        assert!(line.contains("at most that, for this does not count") && line.contains(named), "{line}");
        assert!(measured < 0.97 * most, "{measured} of {most} Gb/s: {line}");
    }
    let line = said(&chain(&["4x"; 3], json!({}), json!({"bytes": 1_000_000}))).1;
    assert!(!line.contains("at most"), "{line}");
}

/// A rate is not exceeded by the questions for Slots that it counts. Of 4 Slots 2 Blocks pass in a question
/// and its answer, whatever the window, if that is longer; with a window of 2 each question waits for a place
/// in the window first. With windows of 3 to 8 Blocks 1.04 to 1.41 Gb/s were said, and 1.54 came.
#[test]
fn a_window_of_more_than_the_slots_does_not_wait() {
    let st = |window: u64, slots: u64, block: u64| -> Value {
        let long = 1_048_576;
        json!({"bytes": long, "block": block, "window": window, "slots": slots})
    };
    let (near, far) = (json!({"length": "50 cm"}), json!({"length": "200 m"}));
    let (slow, quick) = (json!({"pipeline": "1000 ns"}), json!({}));
    for (links, switch, st, least) in [
        (&near, &slow, st(1, 4, 256), 0.97),
        (&near, &slow, st(2, 4, 256), 0.97),
        (&near, &slow, st(3, 4, 256), 0.88),
        (&near, &slow, st(4, 4, 256), 0.88),
        (&near, &slow, st(8, 4, 256), 0.8),
        (&near, &slow, st(8, 16, 256), 0.8),
        (&near, &slow, st(5, 9, 256), 0.8),
        (&near, &slow, st(4, 4, 1_024), 0.7),
        (&far, &quick, st(4, 4, 1_024), 0.7),
        (&far, &quick, st(8, 8, 1_024), 0.7),
    ] {
        let system = pair(links.clone(), switch.clone(), st.clone());
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        println!("{st}: {measured} of {most}");
        assert!(
            measured <= 1.0005 * most && measured > least * most,
            "{st}: {measured} of {most} Gb/s: {line}"
        );
    }
}

/// Data that is delivered takes Slots. A Transfer that needs no more than there are asks for none, also where
/// Control overtakes Data; a longer one asks when they are used up, while receive buffers become free as
/// well. 1.6 Gb/s were said where 4.6 came, with a warning of long waits (SC110), and 1.87 where 2.2 came.
#[test]
fn data_that_fits_the_slots_does_not_ask() {
    let delivered = |stus: u64, several: u64, service: &str| {
        let mut system = pair(
            json!({}),
            json!({}),
            json!({
                "bytes": stus * 256, "count": 40, "concurrent": several, "slots": 8, "stu": 256,
                "notify": true, "control_priority": 1
            }),
        );
        system["endpoint"] = json!({"host": {"tx_service": service}});
        system
    };
    for (stus, service) in [(2, "0 ps"), (4, "0 ps"), (4, "2 us")] {
        let system = delivered(stus, 1, service);
        let warned = scenarios::load(&system.to_string(), "test.json", &[]).expect("it is right").warnings;
        assert!(warned.items.iter().all(|item| item.code != "SC110"), "{stus}");
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        assert!(measured <= 1.0005 * most && measured > 0.88 * most, "{measured} of {most} Gb/s: {line}");
    }
    for several in [1, 2, 3] {
        for stus in 2..30 {
            let system = delivered(stus, several, "0 ps");
            let (most, line) = said(&system);
            let measured = rate(&run(&system.to_string()));
            assert!(measured <= 1.0005 * most, "{several} of {stus}: {measured} of {most} Gb/s: {line}");
        }
    }
    for slots in [4, 5, 6, 8, 12, 16, 24] {
        let st = json!({
            "bytes": 200_000, "count": 5, "slots": slots, "stu": 256, "block": 4_096, "notify": true
        });
        let system = pair(json!({"length": "200 m"}), json!({}), st);
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        println!("{slots} Slots: {measured} of {most}");
        assert!(measured <= 1.0005 * most && measured > 0.7 * most, "{measured} of {most} Gb/s: {line}");
    }
}

/// Short Transfers have a request each, which takes its time at hosts and on links: 17 frames of 2 us for 16
/// STUs of 512 octets, where 16 were reckoned with.
#[test]
fn requests_of_short_transfers_count() {
    let mut host = pair(
        json!({}),
        json!({"reads_per_input": 4}),
        json!({"bytes": 8_192, "count": 300, "concurrent": 4, "window": 32, "block": 1_024, "stu": 512}),
    );
    host["endpoint"] = json!({"host": {"rx_service": "2 us", "stream_packets": 8}});
    let mut link = pair(
        json!({}),
        json!({"reads_per_input": 4}),
        json!({
            "operation": "read", "bytes": 1_000, "count": 300, "concurrent": 4, "window": 4, "block": 256,
            "stu": 512, "control_priority": 1
        }),
    );
    link["overrides"] = json!([{"link": "ep/0", "links": {"width": "1x"}}]);
    for (system, least) in [(host, 0.98), (link, 0.96)] {
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        println!("{measured} of {most}: {line}");
        assert!(measured <= 1.0005 * most && measured > least * most, "{measured} of {most} Gb/s: {line}");
    }
}

/// Data that is delivered and asks for the state brings Slots while other Data leaves, so no stop and wait is
/// a bound: 10.1 Gb/s were said where 13.9 came. But where Control overtakes Data, all between two that ask
/// which is more than S - 2 STUs waits for an Op_timeout, S - 2 at a time: 8.5 Gb/s were said where 0.13
/// came. And Puts whose Data is delivered ask for Slots as Writes do: 14.4 were said where 5.5 came.
#[test]
fn data_that_asks_and_puts_that_are_delivered_keep_to_the_rate() {
    let with = |more: Value| {
        let mut st = json!({"count": 20, "stu": 256, "notify": true});
        st.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        pair(json!({}), json!({}), st)
    };
    let asks = |slots: u64, block: u64| {
        json!({
            "bytes": 65_536, "count": 8, "slots": slots, "block": block, "window": 8, "state_every": 1
        })
    };
    let held = |block: u64, every: u64| {
        json!({
            "bytes": 65_536, "count": 2, "slots": 8, "block": block, "window": 4, "state_every": every,
            "control_priority": 1, "op_timeout": "100 us"
        })
    };
    let put = |slots: u64| json!({"operation": "put", "bytes": 65_536, "slots": slots});
    for (st, least) in [
        (asks(12, 1_024), 0.8),
        (asks(16, 512), 0.8),
        (asks(12, 512), 0.8),
        (asks(8, 512), 0.6),
        (held(8_192, 1), 0.9),
        (held(4_096, 1), 0.9),
        (held(2_048, 1), 0.9),
        (held(2_048, 2), 0.8),
        (held(1_024, 1), 0.5),
        (put(4), 0.7),
        (put(5), 0.7),
        (put(8), 0.7),
        (put(16), 0.7),
    ] {
        let system = with(st.clone());
        let (most, line) = said(&system);
        let measured = rate(&run(&system.to_string()));
        println!("{st}: {measured} of {most}");
        assert!(measured <= 1.0005 * most && measured > least * most, "{st}: {measured} of {most}: {line}");
    }
}
