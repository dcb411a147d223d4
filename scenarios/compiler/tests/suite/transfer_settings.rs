//! Settings of Scheduled Transfer: what each changes, by hand.

use crate::transfer::{LOSS, NEIGHBOUR, attempts, neighbours, pair, rate, report, run};
use models::config::ProtocolConfig;
use models::probe::{Probe, Signal, SignalKind};
use models::stats::{TransferEnd, TransferTotals};
use models::{RunOptions, Watched};
use scenarios::load;
use std::sync::Arc;

/// Every frame that leaves an end.
#[derive(Default)]
struct Frames(Vec<Vec<u8>>);

impl Probe for Frames {
    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Frame { octets } = &signal.kind {
            self.0.push(octets.clone());
        }
    }
}

/// The Data operations of a run over RapidIO, without their frames.
fn data(text: &str) -> Vec<Vec<u8>> {
    const FRAME: usize = 22;
    const DATA: u8 = 0x1B;
    let plan = load(text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut config = (*plan.variants[0].config).clone();
    for part in config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
        let ProtocolConfig::Transfer(end) = &mut part.protocol else { continue };
        end.captured = true;
    }
    let mut frames = Frames::default();
    let mut simulation = Watched::new(Arc::new(config), RunOptions::default(), &mut frames);
    simulation.run(plan.variants[0].until, u64::MAX);
    simulation.finish();
    let frames = frames.0;
    frames.into_iter().map(|frame| frame[FRAME..].to_vec()).filter(|op| op[0] >> 3 == DATA).collect()
}

fn frames(totals: &TransferTotals) -> [u64; 3] {
    let stats = &totals.stats;
    [stats.data.frames, stats.cts.frames, stats.control.frames]
}

/// Figure 11: 26 000 octets from octet 1 536 of buffers of 4 KiB. Blocks of a buffer: seven, of one STU
/// each, or of two if an STU has half of it. Blocks of a quarter: the first holds half of one, so there are
/// 26. Blocks of two buffers: four; the first begins in the middle of a buffer and ends with the next one,
/// the last is short.
///
/// Proves: ST-6.3-1, ST-6.2.6-5, ST-6.2.6-7, ST-6.2.7-4
#[test]
fn figure_11_runs() {
    for (block, stu, blocks, stus) in
        [(4_096, 4_096, 7, 7), (4_096, 2_048, 7, 14), (1_024, 1_024, 26, 26), (8_192, 4_096, 4, 7)]
    {
        for operation in ["write", "read", "read_back"] {
            let st = format!(
                r#""operation": "{operation}", "bytes": 26000, "bufsize": 4096, "first_offset": 1536,
                   "block": {block}, "stu": {stu}"#
            );
            let text =
                pair("", &st).replace(r#""endpoint""#, r#""links": {"medium": "hippi-6400"}, "endpoint""#);
            let totals = run(&text);
            let times = if operation == "read_back" { 2 } else { 1 };
            assert_eq!(
                frames(&totals)[..2],
                [stus * times, blocks * times],
                "{operation}, Blocks of {block}"
            );
            assert_eq!(totals.stats.verified_octets, 26_000);
            assert_eq!((totals.stats.logged, totals.stats.kept_octets), (0, 0), "{totals:?}");
        }
    }
}

/// Buffers smaller than Blocks cut no STU that ends with them; from octet 100 on each buffer of 1 024 has
/// two.
#[test]
fn no_stu_crosses_a_buffer() {
    let of = |offset: u32| {
        let st = format!(r#""bytes": 65536, "block": 65536, "bufsize": 1024, "first_offset": {offset}"#);
        frames(&run(&pair("", &st)))
    };
    assert_eq!(of(0)[..2], [64, 1]);
    // 924 octets to the end of the first buffer, 63 whole ones, and 100 in a Block of their own.
    assert_eq!(of(100)[..2], [65, 2]);
}

/// A Transfer without a length ends when its source says so: End and End_Ack come on top. A destination
/// with a window of 4 has enabled as many Blocks beyond the last one, or one less if that was short,
/// because it sees the end itself.
///
/// Proves: ST-6.1.1.4-1, ST-6.2.6-6
#[test]
fn transfers_without_a_length_end() {
    for (bytes, blocks, beyond) in [(98_304, 24, 4), (100_000, 25, 3), (8, 1, 3), (4_096, 1, 4)] {
        // A reader says that it can receive, and is told with a request. Of a short last Block it has seen
        // the end itself: it answers the Data, and takes the connection down; End comes too late to be
        // answered.
        for (operation, control) in [("write", 9), ("read", if beyond == 4 { 10 } else { 9 })] {
            let st = format!(
                r#""operation": "{operation}", "bytes": {bytes}, "block": 4096, "window": 4, "ring": 65536"#
            );
            let totals = run(&pair("", &st));
            let stats = &totals.stats;
            let stus = u64::div_ceil(bytes, 1_024);
            assert_eq!(frames(&totals), [stus, blocks + beyond, control], "{operation} {bytes}: {totals:?}");
            assert_eq!((stats.verified, stats.verified_octets, stats.payload), (1, bytes, bytes));
            assert_eq!((stats.kept_octets, stats.logged), (0, 0), "{totals:?}");
        }
    }
    // A Block of memory is a window of one.
    let small = |ring: &str| {
        let st = format!(r#""bytes": 1048576, "block": 1024, "bufsize": 1024, "window": 8{ring}"#);
        run(&pair("", &st)).stats.times[0]
    };
    assert!(small(r#", "ring": 1024"#) > small(r#", "ring": 131072"#) * 3 / 2);
    let totals = run(&neighbours(
        NEIGHBOUR,
        &format!(r#""bytes": 100000, "count": 20, "concurrent": 2, "block": 4096, "ring": 65536{LOSS}"#),
    ));
    assert!(totals.stats.timeouts > 0 && totals.stats.verified == 80, "{totals:?}");
}

/// The application ends three Writes of 1 MiB after 20 us each: Request_Connection and its answer, three
/// Request_To_Send, End and End_Ack, three of the teardown. The connection and what comes after live on. So
/// it is whoever ends them: who is told answers the last End, too, before it takes the connection down.
///
/// Proves: ST-6.1.1.4-1, ST-6.1.1.4-2, ST-6.1.1.4-5
#[test]
fn the_application_ends_transfers() {
    // One without a length that ends before its time has come to nothing as well.
    let lengths = ["", r#", "ring": 65536"#];
    let operations = [("write", 3), ("read", 6)].map(|of| lengths.map(|length| (of, length)));
    for ((operation, requests), length) in operations.into_iter().flatten() {
        for (by, outcome) in [("from", TransferEnd::Aborted), ("to", TransferEnd::EndedByPeer)] {
            let st = format!(
                r#""operation": "{operation}", "bytes": 1048576, "count": 3, "end":
                   {{"after": "20 us", "by": "{by}"}}{length}"#
            );
            let [totals] = &attempts(&pair("", &st))[..] else { panic!("one flow") };
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.aborted[outcome as usize]), (0, 3), "{totals:?}");
            assert_eq!(stats.control.frames, 2 + requests + 2 * 3 + 3, "{operation} by {by}: {totals:?}");
            // 20 us of 20 Gb/s are less than 50 000 octets.
            assert!((1..3 * 50_000).contains(&stats.payload), "{totals:?}");
            assert_eq!((stats.closed, stats.kept_octets), ([2, 0], 0), "{totals:?}");
        }
    }
    let st = r#""bytes": 50000, "count": 4"#;
    let patient = run(&pair("", &format!(r#"{st}, "end": {{"after": "10 ms"}}"#)));
    assert_eq!(patient, run(&pair("", st)), "what is over is not ended");
}

/// Three Writes of three Blocks of 20 frames: every last Data of a Block interrupts; Request_Connection and
/// each Request_To_Send do if requests are to, and bring 32 octets. Headers are those of all Data, or of
/// those that ask for the state.
///
/// Proves: ST-7.4-1, ST-4.2-5, ST-8.2-12, ST-8.2-10
#[test]
fn upper_layers_are_told() {
    let st = r#""bytes": 20000, "count": 3"#;
    let payload = "00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f".repeat(2).replace("0f00", "0f 00");
    for (more, interrupts, payloads, headers) in [
        (String::new(), 0, 0, 3),
        (r#", "interrupt": true"#.into(), 9, 0, 3),
        (r#", "request": {"interrupt": true}"#.into(), 4, 0, 3),
        (format!(r#", "request": {{"payload": "{payload}"}}"#), 0, 4, 3),
        (r#", "notify": true, "interrupt": true"#.into(), 9, 0, 60),
    ] {
        let totals = run(&pair("", &format!("{st}{more}")));
        let stats = &totals.stats;
        assert_eq!(
            (stats.interrupts, stats.payloads, stats.headers),
            (interrupts, payloads, headers),
            "{more}"
        );
        // 22 octets of the frame, 40 of the header.
        assert_eq!(stats.control.octets, 62 * stats.control.frames + 32 * payloads, "{more}");
    }
    // Requests of a Read: for it, and its Request_To_Send; of a Get and a FetchOp: for the region, and each.
    let request = r#""request": {"interrupt": true}"#;
    for (st, interrupts) in [
        (r#""operation": "read", "bytes": 20000, "count": 3"#, 1 + 3 + 3),
        (r#""operation": "get", "bytes": 20000, "count": 3"#, 1 + 1 + 3),
        (r#""operation": "fetch_op", "count": 3"#, 1 + 1 + 3),
    ] {
        assert_eq!(run(&pair("", &format!("{st}, {request}"))).stats.interrupts, interrupts, "{st}");
    }
}

/// Opaque comes as it was sent, and one that does not is noticed.
///
/// Proves: ST-6.2.10-1, ST-6.2.10-2
#[test]
fn opaque_reaches_the_upper_layer() {
    for operation in ["write", "put", "read_back"] {
        let text = pair(
            "",
            &format!(r#""operation": "{operation}", "bytes": 20000, "notify": true, "opaque": 3735928559"#),
        );
        let totals = run(&text);
        assert!(totals.stats.headers >= 20, "{totals:?}");
        let written = data(&text).into_iter().filter(|op| op[36..40] == 0xDEAD_BEEF_u32.to_be_bytes());
        assert_eq!(written.count(), 20, "{operation}");

        // By one end that says something else.
        let plan = load(&text, "test.json", &[]).unwrap();
        let mut config = (*plan.variants[0].config).clone();
        let ProtocolConfig::Transfer(end) = &mut config.agents[0].parts[0].protocol else { panic!("an end") };
        end.job.opaque = 7;
        let mut simulation = models::Simulation::new(Arc::new(config), RunOptions::default(), ());
        simulation.run(plan.variants[0].until, u64::MAX);
        let outcome = simulation.finish().1;
        assert!(outcome.totals.one::<TransferTotals>().unwrap().stats.corrupt > 0);
    }
}

/// Three ends do the same to one word of the fourth, over a medium that loses and doubles frames, in either
/// byte order and with both mixed: each value comes once.
///
/// Proves: ST-8.2-3, ST-8.2-4, ST-8.2-8, ST-6.1.4.4-4
#[test]
fn every_function_of_fetch_op_is_atomic() {
    for function in ["increment", "decrement", "clear"] {
        for ends in [
            "",
            r#", "byte_order": "little""#,
            r#", "ends": [{"endpoints": "ep/{0..1}", "byte_order": "little"}]"#,
        ] {
            let st = format!(
                r#""operation": "fetch_op", "function": "{function}", "count": 100, "concurrent": 4,
                   "max_retry": 12{ends},
                   "loss": {{"control": 0.05, "data": 0.05}}, "doubled": {{"control": 0.05, "data": 0.05}}"#
            );
            let text = neighbours(r#""ep/0""#, &st)
                .replace(r#""from": "all""#, r#""from": ["ep/1", "ep/2", "ep/3"]"#);
            let totals = run(&text);
            assert_eq!((totals.stats.completed, totals.torn), (300, 0), "{function}{ends}: {totals:?}");
        }
    }
}

/// Without Out_of_Order a Block is not asked for again: the Transfer that misses one is ended. Where
/// nothing is lost, nothing is different. It takes one end to have none.
///
/// Proves: ST-10.7.8-2, ST-8.2-15
#[test]
fn blocks_in_order_are_not_repeated() {
    let st = r#""bytes": 100000, "count": 20"#;
    for order in [r#""out_of_order": false"#, r#""ends": [{"endpoints": "ep/1", "out_of_order": false}]"#] {
        for operation in ["write", "read"] {
            let st = format!(r#""operation": "{operation}", {st}"#);
            let clean = run(&pair("", &format!("{st}, {order}")));
            assert_eq!(clean, run(&pair("", &st)), "{order}");
            let lossy = r#""loss": {"data": 0.005}"#;
            let [totals] = &attempts(&pair("", &format!("{st}, {order}, {lossy}")))[..] else { panic!() };
            let stats = &totals.stats;
            let ended = stats.aborted[TransferEnd::EndedByPeer as usize]
                + stats.aborted[TransferEnd::Aborted as usize];
            assert!(ended > 0 && stats.completed > 0, "{totals:?}");
            assert_eq!(
                (stats.completed + ended, totals.under_way, stats.kept_octets),
                (20, 0, 0),
                "{totals:?}"
            );
            assert!(stats.payload <= 20 * 100_000, "nothing is sent twice: {totals:?}");
        }
    }
}

/// Where nothing is lost Blocks in order come in order, also where some wait for Slots and others need none:
/// nothing is logged.
///
/// Proves: ST-6.2.4-5, ST-10.7.5-1
#[test]
fn blocks_in_order_wait_for_each_other() {
    for operation in ["write", "read", "read_back"] {
        let st = format!(
            r#""operation": "{operation}", "bytes": 8192, "stu": 1024, "block": 1024, "window": 8,
               "slots": 4, "state_every": 3, "out_of_order": false"#
        );
        let totals = run(&pair("", &st));
        assert_eq!((totals.stats.logged, totals.stats.timeouts), (0, 0), "{operation}: {totals:?}");
    }
}

/// What is not reliable says nothing about its end: a Request_State_Response less for each Write. What is
/// lost stays lost, and nobody says otherwise.
///
/// Proves: ST-10.1-3, ST-10.2-1
#[test]
fn unreliable_writes_are_over_when_they_are_sent() {
    let st = r#""bytes": 20000, "count": 7"#;
    let (sure, unsure) = (run(&pair("", st)), run(&pair("", &format!(r#"{st}, "reliable": false"#))));
    assert_eq!(frames(&sure), [7 * 20, 7 * 3, 5 + 2 * 7]);
    assert_eq!(frames(&unsure), [7 * 20, 7 * 3, 5 + 7]);
    assert_eq!((unsure.stats.verified, unsure.stats.kept_octets), (7, 0));
    let lossy = r#""bytes": 20000, "count": 200, "reliable": false, "loss": {"data": 0.01}, "max_retry": 0"#;
    let [totals] = &attempts(&pair("", lossy))[..] else { panic!("one flow") };
    let stats = &totals.stats;
    assert_eq!((stats.completed, totals.unverified, stats.kept_octets), (200, 0, 0), "{totals:?}");
    assert!(stats.verified < 190 && stats.lost > 20, "{totals:?}");
    assert_eq!(stats.payload, 200 * 20_000, "nothing is sent twice");
}

/// Checksums are in the last Data of a segment: one of eight a Block, or one of three. A trailer is a Data
/// operation more for each Block, which alone has it.
///
/// Proves: ST-8.3.2-1, ST-8.3.2-4, ST-8.3.2-6, ST-8.3.2-7
#[test]
fn checksums_protect_segments() {
    let st = r#""bytes": 65536, "count": 2"#;
    let of = |more: &str| {
        let data = data(&pair("", &format!("{st}{more}")));
        let protected = data.iter().filter(|op| op[12..14] != [0, 0]).count();
        let empty = data.iter().filter(|op| op.len() == 40).count();
        (data.len(), protected, empty)
    };
    assert_eq!(of(""), (128, 16, 0));
    assert_eq!(of(r#", "checksum": false"#), (128, 0, 0));
    assert_eq!(of(r#", "checksum_segment": 3"#), (128, 3 * 16, 0));
    assert_eq!(of(r#", "checksum_segment": 1"#), (128, 128, 0));
    assert_eq!(of(r#", "trailers": true"#), (144, 16, 16));
    assert_eq!(of(r#", "trailers": true, "checksum_segment": 4"#), (144, 3 * 16, 16));
    for more in [r#", "checksum_segment": 3"#, r#", "trailers": true"#] {
        let totals = run(&neighbours(NEIGHBOUR, &format!("{st}{more}{LOSS}")));
        assert_eq!(totals.stats.verified, 8, "{totals:?}");
    }
}

/// Each end keeps to what the other one declares, and the two directions are apart: 64 KiB to an end that
/// takes STUs of 256 octets are 256 frames, and 64 the other way.
///
/// Proves: ST-5.2.4-2, ST-5.2.4-4, ST-5.2.3-2
#[test]
fn ends_declare_different_things() {
    let both = |ends: &str| {
        let text = pair("", &format!(r#""bytes": 65536, "ends": [{ends}]"#))
            .replace(r#""from": "ep/0", "to": "ep/1""#, r#""from": "all", "to": {"neighbour": {}}"#);
        frames(&run(&text))[0]
    };
    assert_eq!(both(r#"{"endpoints": "ep/1", "checksum": false}"#), 64 + 64);
    assert_eq!(both(r#"{"endpoints": "ep/1", "stu": 256}"#), 64 + 256);
    assert_eq!(both(r#"{"endpoints": "ep/1", "stu": 512, "bufsize": 512}"#), 64 + 128);
    assert_eq!(both(r#"{"endpoints": "all", "stu": 512}, {"endpoints": "ep/0", "stu": 1024}"#), 64 + 128);

    // The Slots of the destination count.
    let slots = |end: &str| {
        let text = pair(
            "",
            &format!(r#""bytes": 65536, "notify": true, "ends": [{{"endpoints": "{end}", "slots": 4}}]"#),
        );
        (report(&text).contains(": 4 Slots are the bound"), run(&text).stats.times[0])
    };
    let ((few, slow), (many, fast)) = (slots("ep/1"), slots("ep/0"));
    assert!(few && !many);
    // 11.4 Gb/s and 17.0, by `check`.
    assert!(slow * 10 > fast * 13, "{slow} and {fast} ps");
}

/// On HIPPI-6400 each Data Channel is a virtual channel: words that come back through a link full of
/// messages of 32 KiB (41 us each) wait for a micropacket (40 ns) on another one, and for messages on the
/// same one.
///
/// Proves: ST-A.1-6
#[test]
fn data_channels_are_virtual_channels() {
    let text = |bulk: bool, channel: u8| {
        let mut flows = vec![format!(
            r#"{{"name": "words", "from": "D", "to": "C",
                 "st": {{"operation": "fetch_op", "count": 100, "channel": {channel}}}}}"#
        )];
        if bulk {
            let st = r#""bytes": 8388608, "window": 8, "block": 131072, "stu": 32768"#;
            flows.push(format!(r#"{{"name": "bulk", "from": "A", "to": "B", "st": {{{st}}}}}"#));
        }
        format!(
            r#"{{
            "name": "test",
            "topology": {{"explicit": {{
                "devices": [
                    {{"name": "A", "id": 1}}, {{"name": "B", "id": 2}}, {{"name": "C", "id": 3}},
                    {{"name": "D", "id": 4}}, {{"name": "s1", "ports": 3}}, {{"name": "s2", "ports": 3}}],
                "links": [
                    {{"a": "s1:0", "b": "A"}}, {{"a": "s1:1", "b": "C"}}, {{"a": "s1:2", "b": "s2:2"}},
                    {{"a": "s2:0", "b": "B"}}, {{"a": "s2:1", "b": "D"}}]}}}},
            "links": {{"length": "50 m", "medium": "hippi-6400"}},
            "traffic": [{}],
            "run": {{"until": "200 ms", "warmup": "0 ps", "sample_every": "off"}}
            }}"#,
            flows.join(", ")
        )
    };
    let took = |bulk: bool, channel: u8| attempts(&text(bulk, channel))[0].stats.times.iter().sum::<u64>();
    let alone = took(false, 1);
    assert_eq!(alone, took(false, 3), "channels are alike");
    // Of each of 100 FetchOps three micropackets of Data; behind each at most one of the bulk, and one of its
    // Control, at the link that they share.
    let most = 100 * 2 * 3 * 40_000;
    for channel in [2, 3] {
        let beside = took(true, channel);
        assert!((alone..=alone + most).contains(&beside), "{beside} ps on channel {channel}, {alone} alone");
    }
    // Most of the time a message is on its way: in the mean half of one, 20 us, is waited for.
    assert!(took(true, 1) > alone + 100 * 10_000_000, "{} ps, {alone} alone", took(true, 1));
}

/// A slow upper layer fills the Slots, and then sets the pace: an STU in the time that it takes for a
/// header, or S - 2 of them from poll to poll, or a Block in the time of an interrupt. `check` says so.
/// Nothing is lost, and no header ever finds a full queue.
///
/// Proves: ST-8.2-9, ST-5.2.5-3, ST-5.2.5-13
#[test]
fn a_slow_upper_layer_sets_the_pace() {
    let st = r#""operation": "read", "bytes": 1048576"#;
    let silent = rate(&run(&pair("", st)));
    for (more, law) in [
        (r#""notify": true, "upper": {"header": "1 us"}"#, 8.192),
        (r#""notify": true, "upper": {"header": "1 us"}, "slots": 16"#, 8.192),
        (r#""notify": true, "upper": {"header": "2 us"}, "slots": 65535"#, 4.096),
        (r#""notify": true, "upper": {"poll": "20 us"}, "slots": 16"#, 14.0 * 8.192 / 20.0),
        (r#""interrupt": true, "upper": {"interrupt": "8 us"}"#, 8.192),
        // What is silent needs no upper layer, but for its last Data.
        (r#""upper": {"header": "1 us"}"#, silent),
    ] {
        let text = pair("", &format!("{st}, {more}"));
        let totals = run(&text);
        let found = rate(&totals);
        assert!((found / law - 1.0).abs() < 0.03, "{more}: {found} Gb/s, the law says {law}: {totals:?}");
        assert_eq!((totals.stats.timeouts, totals.stats.logged), (0, 0), "{more}: {totals:?}");
        let slow = law < 0.9 * silent;
        let said = report(&text).contains(r#"the upper layer of the hosts in "from" is the bound"#);
        assert_eq!(said, slow, "{more}: {}", report(&text));
        let full = more.contains("\"slots\": 16");
        assert!(!full || (13..=14).contains(&totals.stats.most_waiting), "{more}: {totals:?}");
    }
}

/// A small Read waits for the peer to look at the request, and for its own end to look at the result: two
/// polls, to the picosecond. If its operations interrupt, it waits for three handlers at most.
///
/// Proves: ST-8.2-11, ST-7.4-1
#[test]
fn interrupts_spare_the_wait_for_a_poll() {
    let times = |more: &str| {
        let st = format!(r#""operation": "read", "bytes": 1024, "count": 20{more}"#);
        run(&pair("", &st)).stats.times
    };
    let alone = times("");
    let polled = times(r#", "upper": {"poll": "10 us"}"#);
    assert!(polled[1..].iter().all(|&time| time == 20_000_000), "{polled:?}");
    let told = r#", "interrupt": true, "request": {"interrupt": true}"#;
    let signalled = times(&format!(r#"{told}, "upper": {{"poll": "10 us", "interrupt": "500 ns"}}"#));
    let most = alone[19] + 3 * 500_000;
    assert!(signalled[1..].iter().all(|time| (alone[0]..=most).contains(time)), "{signalled:?}, {alone:?}");
    assert!(signalled[1..].iter().all(|&time| time >= alone[0] + 2 * 500_000), "{signalled:?}, {alone:?}");
}

/// On RapidIO an STU is a PDU of a stream, whose segments have 256 octets: with 62 octets of frame and
/// header, 1 024 octets take 5 packets and 8 192 take 33, so the same octets take 40 or 33. `check` knows,
/// and the run comes to it; the frames that do not go into one of 802.3 have an EtherType.
///
/// Proves: ST-4.2-1, ST-6.2.7-5
#[test]
fn stus_of_many_packets() {
    let of = |stu: u32| {
        let st = format!(r#""bytes": 4194304, "block": 65536, "stu": {stu}, "slots": 65535"#);
        let text = pair("", &st);
        let totals = run(&text);
        assert_eq!(totals.stats.data.frames, 4_194_304 / u64::from(stu));
        let said: f64 = report(&text)
            .split("without other traffic ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let measured = rate(&totals);
        assert!((0.97 * said..=1.0005 * said).contains(&measured), "{measured} of {said} Gb/s");
        measured
    };
    let (small, large, largest) = (of(1_024), of(8_192), of(32_768));
    // A whole packet takes 284 characters, the last one 90: 4 and one, or 32 and one.
    let law = (8_192.0 / (32.0 * 284.0 + 90.0)) / (1_024.0 / (4.0 * 284.0 + 90.0));
    assert!((large / small / law - 1.0).abs() < 0.01, "{small} and {large} Gb/s, the law says {law}");
    assert!(largest > large, "{large} and {largest} Gb/s");
    let long = data(&pair("", r#""bytes": 65536, "stu": 8192, "block": 65536"#));
    assert!(long.len() == 8 && long.iter().all(|op| op.len() == 8_232));
    let totals = run(&neighbours(
        NEIGHBOUR,
        &format!(
            r#""operation": "read_back", "bytes": 200000, "stu": 16384, "block": 32768, "count": 3{LOSS}"#
        ),
    ));
    assert_eq!(totals.stats.read_back, 12, "{totals:?}");
}

/// FetchOps beside a Write between the same two ends: a request waits for the STU of 32 KiB that is being
/// cut into packets and one that waits behind it, or, with a priority of its own, for a packet at its
/// source and one on the link, at each of two links.
///
/// Proves: ST-4.1-4
#[test]
fn control_has_a_priority_of_its_own() {
    let of = |bulk: bool, more: &str| {
        let mut text =
            pair("", &format!(r#""operation": "fetch_op", "count": 50, "op_timeout": "10 ms"{more}"#));
        if bulk {
            let st = r#""bytes": 16777216, "block": 65536, "stu": 32768"#;
            let flow = format!(r#"{{"name": "bulk", "from": "ep/0", "to": "ep/1", "st": {{{st}}}}}"#);
            text = text.replace("}}],", &format!("}}}}, {flow}],"));
        }
        let flows = attempts(&text);
        assert_eq!(flows.len(), if bulk { 2 } else { 1 });
        let stats = &flows[0].stats;
        assert_eq!((stats.completed, stats.timeouts, stats.logged), (50, 0, 0), "{:?}", flows[0]);
        stats.times.iter().sum::<u64>()
    };
    let alone = of(false, "");
    assert_eq!(alone, of(false, r#", "control_priority": 0"#), "the priority of the flow is none of its own");
    let (behind, ahead) = (of(true, ""), of(true, r#", "control_priority": 2"#));
    // 284 characters of 0.4 ns a packet, 129 packets an STU. FetchOp and FetchOp_Complete wait.
    const PACKET: u64 = 113_600;
    assert!(ahead <= alone + 50 * 2 * 4 * PACKET, "{ahead} ps, {alone} alone");
    assert!(behind >= alone + 50 * 129 * PACKET, "{behind} ps, {alone} alone");
}
