//! What the compiler makes of Scheduled Transfer, run.

use models::run::{ListKind, PipelineMode};
use models::stats::TransferTotals;
use models::{Progress, RunOptions, Simulation};
use scenarios::load;

/// Runs the only variant of a scenario until nothing happens any more, in every mode of the kernel: the same
/// comes out.
fn run(text: &str) -> TransferTotals {
    let plan = load(text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = &plan.variants[0];
    let heap = RunOptions { list: ListKind::Heap, ..RunOptions::default() };
    let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..RunOptions::default() };
    let mut found = [RunOptions::default(), heap, unfolded].map(|options| {
        let mut simulation = Simulation::new(variant.config.clone(), options, ());
        assert_eq!(simulation.run(variant.until, u64::MAX), Progress::Drained);
        let (_, outcome) = simulation.finish();
        (outcome.transfers, outcome.outcome, outcome.trajectory)
    });
    assert!(found.iter().all(|other| *other == found[0]));
    let totals = found[0].0.remove(0);
    let stats = &totals.stats;
    assert_eq!((stats.corrupt, stats.stray_octets, stats.broken), (0, 0, None), "{totals:?}");
    assert_eq!((totals.unverified, totals.repeated, totals.torn), (0, 0, 0), "{totals:?}");
    assert_eq!(stats.completed, stats.wanted, "{totals:?}");
    totals
}

/// Four neighbours on a switch, each with this `st`.
fn neighbours(to: &str, st: &str) -> String {
    format!(
        r#"{{
            "name": "test",
            "topology": {{"single_switch": {{"ports": 4}}}},
            "traffic": [{{"name": "ends", "from": "all", "to": {to}, "st": {{{st}}}}}],
            "run": {{"until": "1 s", "warmup": "0 ps", "sample_every": "off"}}
        }}"#
    )
}

const NEIGHBOUR: &str = r#"{"neighbour": {}}"#;
const LOSS: &str = r#", "loss": {"control": 0.005, "data": 0.005}"#;

/// The automatic Op_timeout covers what the flow puts in front of an answer. With ten empty round trips
/// a Request_To_Send that waited for Slots was given up, and 8 of 64 Reads failed.
#[test]
fn no_timeout_where_nothing_is_lost() {
    for (concurrent, window, bytes) in [(16, 8, 65_536), (16, 0, 65_536), (8, 8, 131_072)] {
        for operation in ["read", "write"] {
            let totals = run(&neighbours(
                NEIGHBOUR,
                &format!(
                    r#""operation": "{operation}", "bytes": {bytes}, "count": 16, "concurrent": {concurrent},
                    "window": {window}"#
                ),
            ));
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.verified), (64, 64), "{concurrent} of {window} Blocks");
            assert_eq!((stats.timeouts, stats.exhausted, stats.logged), (0, 0, 0), "{totals:?}");
        }
    }
}

/// What was written is read back, over a medium that loses frames; then no memory is left behind.
#[test]
fn what_is_written_is_read_back() {
    for loss in ["", LOSS] {
        let st = format!(r#""operation": "read_back", "bytes": 200000, "count": 3, "concurrent": 2{loss}"#);
        let totals = run(&neighbours(NEIGHBOUR, &st));
        let stats = &totals.stats;
        assert_eq!((stats.verified, stats.read_back), (12, 12), "{totals:?}");
        assert_eq!((stats.verified_octets, stats.read_back_octets), (2_400_000, 2_400_000));
        assert_eq!((stats.lost > 0, stats.timeouts > 0), (!loss.is_empty(), !loss.is_empty()), "{totals:?}");
        assert_eq!(stats.kept_octets, 0, "all memory is given back");
        assert_eq!(stats.begun, 12);
    }
}

/// Puts arrive whole; those that lost something are put again. Gets bring what is there.
#[test]
fn regions_are_put_into_and_got_from() {
    for operation in ["put", "get"] {
        for loss in ["", LOSS] {
            let st =
                format!(r#""operation": "{operation}", "bytes": 5001, "count": 40, "concurrent": 3{loss}"#);
            let totals = run(&neighbours(NEIGHBOUR, &st));
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.verified), (160, 160), "{totals:?}");
            assert_eq!(stats.verified_octets, 160 * 5001);
            assert_eq!(
                (stats.lost > 0, stats.payload > stats.verified_octets),
                (!loss.is_empty(), !loss.is_empty())
            );
            assert_eq!(stats.put_again > 0, operation == "put" && !loss.is_empty(), "{totals:?}");
            assert_eq!(stats.kept_octets, 0, "all memory is given back");
        }
    }
}

/// Three ends increment one word of the fourth. Every value comes once, none is missing, although requests
/// and answers are lost and repeated.
#[test]
fn fetch_op_is_atomic() {
    for (faults, some) in [
        ("", false),
        (r#", "loss": {"control": 0.05, "data": 0.05}, "doubled": {"control": 0.05, "data": 0.05}"#, true),
    ] {
        let st =
            format!(r#""operation": "fetch_op", "count": 100, "concurrent": 4, "max_retry": 12{faults}"#);
        let text =
            neighbours(r#""ep/0""#, &st).replace(r#""from": "all""#, r#""from": ["ep/1", "ep/2", "ep/3"]"#);
        let totals = run(&text);
        let stats = &totals.stats;
        assert_eq!((stats.wanted, stats.completed, stats.verified), (300, 300, 300), "{totals:?}");
        assert_eq!(
            (stats.lost > 20, stats.doubled > 20, stats.timeouts > 10),
            (some, some, some),
            "{totals:?}"
        );
        assert_eq!(stats.kept_octets, 8, "only the word is left");
    }
}
