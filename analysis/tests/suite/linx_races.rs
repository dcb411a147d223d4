//! Every order of events of two LINX nodes, within budgets of faults.

use analysis::explore::linx::{Ending, Event, FAULTS, Linx, Row, linx_table};
use analysis::explore::{Graph, Order};
use linx_riocm::Options;
use linx_riocm::options::RepeatedRequest;

fn model(fault: &str, order: Order, messages: u8, limit: u8) -> Linx {
    let fault = *FAULTS.iter().find(|known| known.name == fault).unwrap();
    Linx { options: Options::default(), fault, order, messages, limit }
}

fn row(model: &Linx) -> Row {
    linx_table(model, 2_000_000).expect("fewer states")
}

/// Crossing requests and lone initiators, connection packets lost, anything duplicated: both ends come up,
/// agree on generations, IDs and values, and every message arrives once and in order.
///
/// Proves: RIOCM-10.1.1-12, RIOCM-10.1.1-14, RIOCM-10.1.1-15, RIOCM-10.1.1-16
#[test]
fn without_restarts_every_run_ends_well() {
    for (fault, messages, limit) in [("none", 2, 9), ("LOSS1", 1, 9), ("LOSS2", 1, 9), ("DUP1", 1, 9)] {
        let row = row(&model(fault, Order::Fifo, messages, limit));
        assert_eq!(row.endings.keys().collect::<Vec<_>>(), [&Ending::Up], "{fault}");
        assert!(row.live && row.states > 40, "{row:?}");
    }
    // In any order a REQ may come after the proof that its sender was up, and ends the connection: it may
    // be that of a restart. The next one may be delayed as long, so runs are cut: with nine connects and
    // a message there are more than a million states. None ends badly.
    let cases =
        [("none", 2, 3), ("none", 1, 4), ("LOSS1", 1, 3), ("LOSS1", 0, 4), ("LOSS2", 1, 3), ("DUP1", 1, 3)];
    for (fault, messages, limit) in cases {
        let row = row(&model(fault, Order::Any, messages, limit));
        assert_eq!(row.endings.keys().collect::<Vec<_>>(), [&Ending::Up, &Ending::Cut], "{fault}: {row:?}");
        assert!(row.live && row.states > 3_000, "{fault}: {row:?}");
    }
}

/// A false timeout or a restart, with a loss or a duplicate beside it: up again, and no promise broken.
///
/// Proves: RIOCM-10.1.1-16, RIOCM-10.1.1.1-2, RIOCM-10.1.3-2, RIOCM-RLNH-2, RIOCM-RLNH-3
#[test]
fn restarts_and_false_timeouts_end_well() {
    for (fault, messages) in [("TIMEOUT1", 1), ("RESTART1", 1), ("RESTART1+LOSS1", 1), ("RESTART1+DUP1", 1)] {
        let row = row(&model(fault, Order::Fifo, messages, 30));
        assert_eq!(row.endings.keys().collect::<Vec<_>>(), [&Ending::Up], "{fault}");
        assert!(row.live, "{fault}");
    }
    // In any order a REQ may be delayed beyond all bounds, so runs are cut.
    for (fault, messages, limit) in [("TIMEOUT1", 0, 4), ("RESTART1", 1, 3), ("RESTART1", 0, 4)] {
        let row = row(&model(fault, Order::Any, messages, limit));
        assert_eq!(row.endings.keys().collect::<Vec<_>>(), [&Ending::Up, &Ending::Cut], "{fault}: {row:?}");
        assert!(row.live);
    }
}

/// Nobody learns of a lost packet that no other one follows: the protocol takes data as reliable.
///
/// Proves: RIOCM-10.1-1
#[test]
fn a_lost_last_packet_is_missed_by_nobody() {
    let lost = row(&model("DATALOSS1", Order::Fifo, 1, 9));
    assert!(lost.endings.contains_key(&Ending::Missing));
    let model = model("DATALOSS1", Order::Fifo, 2, 9);
    let graph = Graph::explore(&model, 1_000_000).unwrap();
    let path = graph.shortest(|ending| *ending == Ending::Missing).unwrap();
    let lost = path.iter().position(|event| matches!(event, Event::Lose(..))).unwrap();
    let Event::Lose(to, _) = path[lost] else { unreachable!() };
    // One that another follows is found by its number: then a gap runs out, and both ends come up again.
    let later = path[lost..].iter().filter(|event| **event == Event::Submit(1 - to)).count();
    assert_eq!(later, 0, "{path:?}");
    let breach = |ending: &Ending| matches!(ending, Ending::Breach(_) | Ending::Stuck | Ending::Cut);
    assert!(graph.shortest(breach).is_none());
}

/// A node that ends its connection at every REQ is torn down by a late duplicate.
#[test]
fn teardown_by_every_request_costs_lives() {
    let mut model = model("DUP1", Order::Fifo, 0, 6);
    assert!(!row(&model).endings.contains_key(&Ending::Cut));
    let calm = row(&model).states;
    model.options.repeated_request = RepeatedRequest::Teardown;
    assert!(row(&model).states > 2 * calm);
}
