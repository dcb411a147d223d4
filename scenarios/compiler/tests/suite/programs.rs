//! Programs over Scheduled Transfer, over sessions and over LINX.

use models::goal::Action;
use models::goal::collective::allreduce_halving;
use models::run::{ListKind, PipelineMode};
use models::sim_core::{Duration, Purpose, Stream};
use models::stats::{ProgramTotals, RankStats, SessionTotals, TransferTotals};
use models::{Outcome, Progress, RunOptions, Simulation};
use scenarios::load;
use std::sync::Arc;

/// What a program comes to.
#[derive(Debug)]
struct Done {
    ranks: Vec<RankStats>,
    sent: u64,
    received: u64,
    octets: u64,
    confirmed: u64,
}

fn done(outcome: &Outcome) -> Done {
    if let Some(totals) = outcome.totals.one::<TransferTotals>() {
        let stats = &totals.stats;
        assert_eq!((stats.corrupt, stats.stray_octets, totals.unverified, totals.repeated), (0, 0, 0, 0));
        let ranks = totals.ranks.clone();
        // Every Write is confirmed.
        let confirmed = 0;
        return Done {
            ranks,
            sent: stats.begun,
            received: stats.verified,
            octets: stats.verified_octets - stats.padding_octets,
            confirmed,
        };
    }
    let totals = outcome.totals.one::<ProgramTotals>().expect("one program");
    let stats = &totals.stats;
    assert_eq!((stats.corrupt, stats.wanted), (0, stats.sent), "{totals:?}");
    Done {
        ranks: totals.ranks.clone(),
        sent: stats.sent,
        received: stats.received,
        octets: stats.octets,
        confirmed: stats.confirmed,
    }
}

/// Runs a program over a transport in every mode of the kernel, and with samples: the same comes out.
fn run(transport: &str, settings: &str, program: &str, ranks: usize) -> Done {
    let text = format!(
        r#"{{
            "name": "test",
            "topology": {{"fat_tree": {{"levels": 2, "ports": 8, "endpoints": {ranks}, "spines": 4}}}},
            "switch": {{"reads_per_input": 8}},
            {settings}
            "traffic": [{{"name": "ranks", "from": "all", "{transport}": {{"program": {program}}}}}],
            "run": {{"until": "400 ms", "warmup": "0 ps", "sample_every": "off"}}
        }}"#
    );
    let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let heap = RunOptions { list: ListKind::Heap, ..RunOptions::default() };
    let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..RunOptions::default() };
    let mut sampled = (*variant.config).clone();
    sampled.sample_every = Some(Duration(1_000_000));
    let (plain, sampled) = (&variant.config, Arc::new(sampled));
    let modes =
        [(plain, RunOptions::default()), (plain, heap), (plain, unfolded), (&sampled, RunOptions::default())];
    let found = modes.map(|(config, options)| {
        let mut simulation = Simulation::new(Arc::clone(config), options, ());
        assert_ne!(simulation.run(variant.until, u64::MAX), Progress::Stalled);
        simulation.finish().1
    });
    for other in &found[1..] {
        assert_eq!(format!("{:?}", other.totals), format!("{:?}", found[0].totals));
        assert_eq!((other.outcome, other.trajectory), (found[0].outcome, found[0].trajectory));
    }
    let done = done(&found[0]);
    assert_eq!(done.ranks.len(), ranks);
    assert!(done.ranks.iter().all(|rank| rank.end.is_some()), "{transport} {program}: {done:?}");
    assert_eq!(done.sent, done.received, "{transport} {program}");
    done
}

const SESSION_STREAMS: &str = r#""endpoint": {"session": {"data": "stream", "management": "stream"}},"#;
const LINX_STREAMS: &str = r#""endpoint": {"linx": {"carrier": "stream", "mtu": 4096}},"#;

/// Transports: their key, and settings of endpoints.
const TRANSPORTS: [(&str, &str); 5] =
    [("st", ""), ("session", ""), ("linx", ""), ("session", SESSION_STREAMS), ("linx", LINX_STREAMS)];

/// Collective operations end over each transport, with the same messages and octets: of n ranks an allreduce
/// takes 2 (n-1) times the vector, an all-to-all n (n-1) shares, a broadcast and a gather n - 1 of all that
/// one has, a barrier n log2 n octets. A Transfer that is longer than its message does not count as more.
#[test]
fn collectives_end_over_every_transport() {
    for (program, long, octets) in [
        (r#"{"collective": "allreduce_halving", "octets": 20000, "eager": 4096}"#, true, 280_000),
        (r#"{"collective": "all_to_all", "octets": 3000}"#, false, 168_000),
        (r#"{"collective": "broadcast", "octets": 70001}"#, true, 490_007),
        (r#"{"collective": "gather", "octets": 3}"#, false, 21),
        (r#"{"collective": "barrier"}"#, false, 24),
    ] {
        let all = TRANSPORTS.map(|(transport, settings)| run(transport, settings, program, 8));
        for other in &all[1..] {
            assert_eq!((all[0].sent, all[0].octets), (other.sent, other.octets), "{program}");
            assert_eq!(other.octets, octets, "{program}");
            assert_eq!(other.confirmed > 0, long, "{program}: {other:?}");
        }
    }
}

/// Messages of one sender and tag are taken in order, what was computed is the same, and long sends end when
/// they are confirmed: so the ranks end in the same order over each transport.
#[test]
fn a_program_of_its_own_ends_over_every_transport() {
    let lines = [
        "num_ranks 3",
        "rank 0 {",
        "a: send 100000b to 1 tag 5",
        "b: send 8b to 1 tag 5",
        "c: calc 5000",
        "d: send 300b to 2 tag 1",
        "d requires a",
        "c requires b",
        "}",
        "rank 1 {",
        "a: recv 100000b from 0 tag 5",
        "b: recv 8b from 0 tag 5",
        "c: send 1b to 2 tag 9",
        "b requires a",
        "c requires b",
        "}",
        "rank 2 {",
        "a: recv 300b from 0 tag 1",
        "b: recv 1b from 1 tag 9",
        "c: calc 700000",
        "c requires a",
        "c requires b",
        "}",
    ];
    let program = format!(r#"{{"text": {lines:?}}}"#);
    for (transport, settings) in TRANSPORTS {
        let done = run(transport, settings, &program, 3);
        assert_eq!(done.sent, 4);
        let ends: Vec<u64> = done.ranks.iter().map(|rank| rank.end.unwrap().0).collect();
        assert!(ends[2] > ends[0] + 600_000_000 && ends[2] > ends[1] + 600_000_000, "{transport}: {ends:?}");
        assert_eq!(done.ranks.iter().map(|rank| rank.computed.0).sum::<u64>(), 705_000_000);
        assert_eq!(done.confirmed, u64::from(transport != "st"), "one send waits for its receiver");
    }
}

/// A sweep over a 2 x 2 grid of ranks, as transport codes do it: from each corner in turn, in several steps,
/// a rank takes what its neighbours upstream have, computes, and passes it on.
fn sweep(steps: u32) -> (Vec<String>, u64) {
    let mut lines = vec!["num_ranks 4".to_owned()];
    let mut sends = 0;
    for rank in 0..4u32 {
        lines.push(format!("rank {rank} {{"));
        let mut ops: Vec<String> = Vec::new();
        for corner in 0..4u32 {
            for step in 0..steps {
                let tag = corner * steps + step;
                let neighbours = [1, 2].map(|axis| (rank ^ axis, (rank ^ corner) & axis == 0));
                for (other, _) in neighbours.into_iter().filter(|(_, leads)| !leads) {
                    ops.push(format!("recv 3000b from {other} tag {tag}"));
                }
                ops.push("calc 2000".into());
                for (other, _) in neighbours.into_iter().filter(|(_, leads)| *leads) {
                    ops.push(format!("send 3000b to {other} tag {tag}"));
                    sends += 1;
                }
            }
        }
        lines.extend(ops.iter().enumerate().map(|(n, op)| format!("o{n}: {op}")));
        lines.extend((1..ops.len()).map(|n| format!("o{n} requires o{}", n - 1)));
        lines.push("}".into());
    }
    (lines, sends)
}

/// A wavefront takes at least its computations, one after the other along its way; whatever carries it.
#[test]
fn a_sweep_ends_over_every_transport() {
    let (lines, sends) = sweep(6);
    let program = format!(r#"{{"text": {lines:?}}}"#);
    for (transport, settings) in TRANSPORTS {
        let done = run(transport, settings, &program, 4);
        assert_eq!((done.sent, done.octets), (sends, 3_000 * sends), "{transport}");
        let end = done.ranks.iter().map(|rank| rank.end.unwrap().0).max().unwrap();
        assert!(done.ranks.iter().all(|rank| rank.computed.0 == 24 * 2_000_000));
        // From each corner six steps, and two more until the opposite corner is done.
        assert!((4 * 6 * 2_000_000..4 * 8 * 2_000_000 * 3).contains(&end), "{transport}: {end} ps");
    }
}

/// A host without room answers segments of type 11 by RETRY, so that letters overtake one another. The
/// data messages of a PDU keep their order: middle ones carry no place. 82 messages a PDU, three places.
/// (What opens conduits is discarded where there is no room, and sent again after 250 ms.)
#[test]
fn refused_messages_keep_the_order_of_a_pdu() {
    for seed in 1..=4 {
        let text = format!(
            r#"{{
                "name": "test", "seed": {seed}, "topology": {{"single_switch": {{"ports": 3}}}},
                "endpoint": {{"host": {{"rx_service": {{"exponential": "500 ns"}}, "rx_queue": 3}},
                              "session": {{"management": "stream", "data": "message", "mailbox": 9}}}},
                "traffic": [{{"name": "p", "from": "all",
                              "session": {{"program": {{"collective": "broadcast", "octets": 20000}}}}}}],
                "run": {{"until": "3 s", "warmup": "0 ps", "sample_every": "off"}}
            }}"#
        );
        let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
        let variant = &plan.variants[0];
        let mut simulation = Simulation::new(variant.config.clone(), RunOptions::default(), ());
        simulation.run(variant.until, u64::MAX);
        let outcome = simulation.finish().1;
        let retried = outcome.protocols[0].facts[models::probe::ProtocolFact::Retried as usize];
        assert!(retried > 0, "nothing was refused");
        let done = done(&outcome);
        assert_eq!((done.sent, done.received, done.octets), (2, 2, 40_000), "seed {seed}");
        assert_eq!(outcome.totals.one::<SessionTotals>().expect("one flow").stats.pdus_lost, 0);
    }
}

/// Every octet of the vector is reduced and given back, whatever its length: a pair that exchanges
/// something of length l sends l octets, and in round k there are n / 2^(k+1) pairs for each part of the
/// vector. So both ways together are 2 (n - 1) vectors. What could not be halved was dropped.
#[test]
fn halving_drops_no_octet() {
    for (ranks, octets) in [(2, 3), (4, 65_537), (4, 65_536), (8, 1_001), (16, 4_095), (64, 65_599)] {
        let schedule = allreduce_halving(ranks, octets);
        schedule.check().expect("it can run");
        let sends = schedule.ranks.iter().flat_map(|rank| rank.ops()).filter_map(|op| match op.action {
            Action::Send { octets, .. } => Some(octets),
            _ => None,
        });
        let law = 2 * octets * u64::from(ranks - 1);
        assert_eq!(sends.sum::<u64>(), law, "{octets} octets among {ranks} ranks");
    }
}

/// A send up to the eager limit is over when the transport has it, also while there is no connection yet:
/// what requires it begins at once, whatever carries the message. Two computations on two processors, each
/// behind a send of its own at the start, end after the 1 us that they take; and above the limit no send is
/// confirmed before the message has crossed two links of 2 m (10 ns each) and a switch of 112 ns.
#[test]
fn an_eager_send_waits_for_no_connection() {
    let lines = [
        "num_ranks 2",
        "rank 0 {",
        "a: send 4096b to 1",
        "b: send 4096b to 1 tag 2",
        "c: calc 1000",
        "c requires a",
        "d: calc 1000 cpu 1",
        "d requires b",
        "}",
        "rank 1 {",
        "r: recv 4096b from 0",
        "s: recv 4096b from 0 tag 2",
        "}",
    ];
    for (transport, settings) in TRANSPORTS {
        let end = |eager: u32| {
            let program = format!(r#"{{"text": {lines:?}, "eager": {eager}}}"#);
            run(transport, settings, &program, 2).ranks[0].end.expect("it ends").0
        };
        assert_eq!(end(4_096), 1_000_000, "{transport}: the send of 4 096 octets is eager");
        assert!(end(4_095) > 1_000_000 + 132_000, "{transport}: it waits for the receiver");
    }
}

/// Messages of a program go beside each other as far as it lets them: the automatic periods cover them, so
/// where nothing is lost all arrive. Of 8 of 300 000 octets 3 did, and none of 8 of 40 000 with a window
/// of one.
#[test]
fn no_message_of_a_program_is_missing_while_others_go_first() {
    for (messages, octets, window, slots) in [
        (8, 40_000, 1, 64),
        (8, 300_000, 8, 64),
        (64, 40_000, 8, 64),
        (200, 9_000, 2, 64),
        (40, 20_000, 1, 65_535),
        (40, 20_000, 2, 5),
    ] {
        for both in [false, true] {
            let rank = |own: u32| {
                let other = 1 - own;
                let sends = (0..messages).map(|n| format!("s{n}: send {octets}b to {other} tag {n}"));
                let receives = (0..messages).map(|n| format!("r{n}: recv {octets}b from {other} tag {n}"));
                let [sends, receives] = [sends.collect::<Vec<_>>(), receives.collect()];
                let lines = match (both, own) {
                    (true, _) => [sends, receives].concat(),
                    (false, 0) => sends,
                    (false, _) => receives,
                };
                format!("rank {own} {{\n{}\n}}", lines.join("\n"))
            };
            let lines = format!("num_ranks 2\n{}\n{}", rank(0), rank(1));
            let text = serde_json::json!({
                "name": "test",
                "topology": {"single_switch": {"ports": 2}},
                "traffic": [{"name": "ranks", "from": "all", "st": {
                    "program": {"text": lines.lines().collect::<Vec<_>>()}, "window": window, "slots": slots
                }}],
                "run": {"until": "1 s", "warmup": "0 ps", "sample_every": "off"}
            });
            let plan = load(&text.to_string(), "test.json", &[]).unwrap_or_else(|e| panic!("{}", e.render()));
            let variant = &plan.variants[0];
            let mut simulation = Simulation::new(variant.config.clone(), RunOptions::default(), ());
            assert_eq!(simulation.run(variant.until, u64::MAX), Progress::Drained);
            let outcome = simulation.finish().1;
            let stats = &outcome.totals.one::<TransferTotals>().expect("one flow").stats;
            let what = format!("{messages} of {octets}, {window}, {slots}, {both}: {stats:?}");
            assert_eq!(stats.completed, stats.wanted, "{what}");
            assert_eq!((stats.timeouts, stats.exhausted, stats.logged), (0, 0, 0), "{what}");
        }
    }
}

/// Programs of three ranks whose messages are drawn, each rank in an order of its own: `check` says of a
/// program that it waits for ever where a rank is not done at the end of a long run, and of no other; and
/// each rank that waits for a message says for which. A long send waits for nobody's receive.
#[test]
fn programs_that_wait_for_ever_are_told_before_they_run() {
    let mut dead = 0;
    for seed in 0..60_u64 {
        let mut stream = Stream::new(seed, "programs", Purpose::ARBITRATION);
        let mut draw = |below: u64| stream.below(below);
        let mut ranks = vec![Vec::new(); 3];
        for tag in 0..2 + draw(4) {
            let from = draw(3);
            let to = (from + 1 + draw(2)) % 3;
            let octets = 8 + 100 * draw(2);
            ranks[from as usize].push((format!("send {octets}b to {to} tag {tag}"), None));
            ranks[to as usize].push((format!("recv {octets}b from {from} tag {tag}"), Some((from, tag))));
        }
        for rank in &mut ranks {
            for n in (1..rank.len()).rev() {
                rank.swap(n, draw(n as u64 + 1) as usize);
            }
        }
        let mut lines = vec!["num_ranks 3".to_owned()];
        for (rank, ops) in ranks.iter().enumerate() {
            lines.push(format!("rank {rank} {{"));
            for (n, (op, _)) in ops.iter().enumerate() {
                lines.push(format!("o{n}: {op}"));
                // Some go beside those before them.
                if n > 0 && draw(5) > 0 {
                    lines.push(format!("o{n} requires o{}", n - 1));
                }
            }
            lines.push("}".to_owned());
        }
        let text = serde_json::to_string(&lines).unwrap();
        for transport in ["st", "session", "linx"] {
            let text = format!(
                r#"{{
                    "name": "test", "topology": {{"single_switch": {{"ports": 3}}}},
                    "traffic": [{{"name": "ranks", "from": "all",
                        "{transport}": {{"program": {{"text": {text}, "eager": 50}}}}}}],
                    "run": {{"until": "50 ms", "warmup": "0 ps", "sample_every": "off"}}
                }}"#
            );
            let plan = load(&text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
            let told = plan.warnings.items.iter().any(|item| item.code == "SC124");
            let variant = &plan.variants[0];
            let mut simulation = Simulation::new(Arc::clone(&variant.config), RunOptions::default(), ());
            simulation.run(variant.until, u64::MAX);
            let outcome = simulation.finish().1;
            let ranks_done = match outcome.totals.one::<TransferTotals>() {
                Some(totals) => totals.ranks.clone(),
                None => outcome.totals.one::<ProgramTotals>().expect("one program").ranks.clone(),
            };
            assert_eq!(ranks_done.len(), 3);
            assert_eq!(
                told,
                ranks_done.iter().any(|rank| rank.end.is_none()),
                "{seed} {transport}: {lines:?}"
            );
            for (rank, ops) in ranks_done.iter().zip(&ranks) {
                let waits = rank.waits_for.map(|(from, tag)| (u64::from(from), u64::from(tag)));
                assert_eq!(waits.is_some(), rank.end.is_none(), "{seed} {transport}: {lines:?}");
                assert!(waits.is_none() || ops.iter().any(|(_, receives)| *receives == waits));
            }
            dead += u64::from(told);
        }
    }
    assert!(dead > 15 && dead < 150, "{dead} of 180 wait for ever");
}
