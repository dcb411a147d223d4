//! Every order of events of two Scheduled Transfer endpoints, within budgets of faults.

use analysis::explore::sequence::{Conversation, Happening};
use analysis::explore::transfer::{Ending, Event, FAULTS, Row, Subject, Transfer, transfer_table};
use analysis::explore::{Graph, Order};

fn model(subject: Subject, fault: &str, order: Order, max_retry: u32) -> Transfer {
    let fault = *FAULTS.iter().find(|known| known.name == fault).unwrap();
    Transfer { subject, fault, order, max_retry }
}

fn row(model: &Transfer) -> Row {
    transfer_table(model, 400_000).expect("fewer states")
}

fn endings(row: &Row) -> Vec<Ending> {
    row.endings.keys().copied().collect()
}

/// As long as less is lost than Max_Retry makes up for, a Write, a Read and a FetchOp are carried out, once,
/// whatever is lost, comes twice, comes in another order or is taken for lost too early; both ends know, and
/// nothing of the connection is left at either. Octets, word, contracts and invariants are looked at after
/// each event.
///
/// Proves: ST-6.1.4.4-13, ST-6.1.4.4-14, ST-10.3-1, ST-10.2-1, ST-5.1.2-7
#[test]
fn writes_reads_and_fetch_ops_are_carried_out() {
    for subject in [Subject::Write, Subject::Read, Subject::FetchOp] {
        for fault in FAULTS {
            for order in Order::ALL {
                let row = row(&model(subject, fault.name, order, 2));
                assert_eq!(
                    endings(&row),
                    [Ending::Done],
                    "{} {} {}",
                    subject.name(),
                    fault.name,
                    order.name()
                );
                assert!(row.live && row.states > 10, "{row:?}");
            }
        }
    }
}

/// A Get is asked for again until its data came whole, in order; a Put is not sent again by the protocol: who
/// asked for it learns whether it arrived. Nothing else ever happens.
///
/// Proves: ST-6.1.4.2-1, ST-6.1.4.3-1
#[test]
fn puts_and_gets_are_carried_out_or_given_up() {
    for fault in FAULTS {
        for order in Order::ALL {
            for subject in [Subject::Put, Subject::Get] {
                let row = row(&model(subject, fault.name, order, 2));
                assert!(row.live && row.endings.contains_key(&Ending::Done), "{} {row:?}", fault.name);
                let harm = fault.budget.losses + fault.budget.timeouts;
                let bounds: &[Ending] = match (subject, harm) {
                    (_, 0) | (Subject::Get, 1) => &[Ending::Done],
                    _ => &[Ending::Done, Ending::GivenUp],
                };
                assert!(endings(&row).iter().all(|ending| bounds.contains(ending)), "{} {row:?}", fault.name);
            }
        }
    }
}

/// A Transfer with few Slots that is given up: Slots are asked for, both ends agree on its end, and the
/// connection is taken down although no Slot may be left for that. Where something is lost, Slots are asked
/// for again and again under new numbers, and the states have no end.
///
/// Proves: ST-6.1.1.4-1
#[test]
fn transfers_are_given_up_on_purpose() {
    let row = row(&model(Subject::Common, "none", Order::Fifo, 2));
    assert_eq!(endings(&row), [Ending::Done], "{row:?}");
    assert!(row.live && row.states > 10, "{row:?}");
}

/// Names of the operations to an end along a shortest good path.
fn heard(subject: Subject, end: usize) -> Vec<String> {
    let model = model(subject, "none", Order::Fifo, 2);
    let graph = Graph::explore(&model, 10_000).unwrap();
    let path = graph.shortest(|ending| *ending == Ending::Done).unwrap();
    let delivered = path.iter().filter_map(|event| match Transfer::happening(event) {
        Happening::Delivered(to, octets) if to == end => Some(Transfer::words(&octets)),
        _ => None,
    });
    delivered.map(|words| words.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// What is said when nothing goes wrong is what Figures 6 to 10 show, with two Blocks of two STUs.
///
/// Proves: ST-6.1.2-1, ST-6.1.3-1, ST-6.1.4.2-1
#[test]
fn figures() {
    for (subject, to_b, to_a) in [
        (
            Subject::Write,
            "Request_To_Send Data Data Data Data",
            "Clear_To_Send Clear_To_Send Request_State_Response",
        ),
        (
            Subject::Read,
            "Request_To_Receive Clear_To_Send Clear_To_Send Request_State_Response",
            "Request_To_Send Data Data Data Data",
        ),
        (
            Subject::Put,
            "Request_Memory_Region Data Data Data Data",
            "Memory_Region_Available Request_State_Response",
        ),
        (Subject::Get, "Request_Memory_Region Get", "Memory_Region_Available Data Data Data Data"),
        (Subject::FetchOp, "Request_Memory_Region FetchOp FetchOp_Complete", "Memory_Region_Available Data"),
        // Figure 7: Slots are asked for, and the Transfer is given up after its first Block.
        (
            Subject::Common,
            "Request_To_Send Data Data Request_State_Response End Request_State_Response",
            "Clear_To_Send Request_State Request_State_Response Request_State End_Ack",
        ),
    ] {
        let name = subject.name();
        let requests = format!("Request_Connection {to_b} Request_Disconnect Disconnect_Complete");
        assert_eq!(heard(subject, 1).join(" "), requests, "{name}");
        assert_eq!(
            heard(subject, 0).join(" "),
            format!("Connection_Answer {to_a} Disconnect_Answer"),
            "{name}"
        );
    }
}

/// Either end may disconnect at any time, and both always learn that it closed, also where the answer to
/// Request_Connection is lost, or overtaken, and its sender disconnects meanwhile. Only a quarantine that is
/// over too early can leave half a connection behind: a repeated Request_Connection that is still under way
/// then opens it when all is over.
///
/// Proves: ST-5.1.2-10, ST-5.1.1-12
#[test]
fn connections_come_and_go() {
    let too_early = ("LOSS1+TIMEOUT1", "any");
    for fault in FAULTS {
        for order in Order::ALL {
            let row = row(&model(Subject::Connection, fault.name, order, 2));
            let expected: &[Ending] = match (fault.name, order.name()) {
                name if name == too_early => &[Ending::Done, Ending::Stuck],
                _ => &[Ending::Done],
            };
            assert_eq!(endings(&row), expected, "{} {}", fault.name, order.name());
            assert_eq!(row.live, !expected.contains(&Ending::Stuck));
        }
    }
    let model = model(Subject::Connection, too_early.0, Order::Any, 2);
    let graph = Graph::explore(&model, 400_000).unwrap();
    let path = graph.shortest(|ending| *ending == Ending::Stuck).unwrap();
    let said = |event: &Event| match Transfer::happening(event) {
        Happening::Delivered(to, octets) => {
            Some((to, Transfer::words(&octets).split(' ').next().unwrap_or_default().to_owned()))
        }
        _ => None,
    };
    let said: Vec<_> = path.iter().map(said).collect();
    let told = |to: usize, words: &str| Some((to, words.to_owned()));
    let last = said.len() - 2;
    assert_eq!(
        (said.len(), &said[0], &said[last]),
        (10, &told(1, "Request_Connection"), &said[0]),
        "{path:?}"
    );
    assert!(said[..last].contains(&told(0, "Disconnect_Complete")), "all is over by then");
    assert_eq!(path[last - 1], Event::Expire);
}

/// Without repetitions a loss can leave half a connection behind, because nothing in the protocol asks
/// whether the other end is still there: so says the text, and so it is found.
#[test]
fn without_retries_half_a_connection_may_stay() {
    let model = model(Subject::Write, "LOSS1", Order::Fifo, 0);
    let found = row(&model);
    assert_eq!(endings(&found), [Ending::Done, Ending::GivenUp, Ending::Stuck]);
    let graph = Graph::explore(&model, 100_000).unwrap();
    let path = graph.shortest(|ending| *ending == Ending::Stuck).unwrap();
    let events = [Event::Expire];
    assert!(matches!(path[0], Event::Deliver(1, _)) && matches!(path[1], Event::Lose(0, _)), "{path:?}");
    assert!(
        path[2..].iter().all(|event| events.contains(event)),
        "Connection_Answer is lost, no more is said"
    );
}

/// The sizes of the graphs: what changes them changes the machine, and should be known.
#[test]
fn golden_sizes() {
    let rows = [
        (Subject::Connection, "none", Order::Any, 45, 62),
        (Subject::Connection, "LOSS1+TIMEOUT1", Order::Any, 4696, 10_995),
        (Subject::Write, "none", Order::Fifo, 17, 18),
        (Subject::Write, "LOSS1+TIMEOUT1", Order::Any, 16_355, 33_920),
        (Subject::FetchOp, "LOSS1+DUP1", Order::Any, 945, 1960),
    ];
    for (subject, fault, order, states, transitions) in rows {
        let row = row(&model(subject, fault, order, 2));
        assert_eq!((row.states, row.transitions), (states, transitions), "{} {fault}", subject.name());
    }
}
