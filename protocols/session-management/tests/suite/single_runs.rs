//! Conduit establishment between two endpoints with constant latency: what each algorithm makes of it.

use crate::common::{Fate, M, MS, Net, P, protocol};
use session_management::conduit::Algorithm;
use session_management::endpoint::{Event, MICROSECOND};
use session_management::message::Command;

use Algorithm::{Corrected, Literal, Minimal};

/// One-way latency unless a test says otherwise: 10 us.
const L: u64 = 10 * MICROSECOND;

struct Outcome {
    complete: [Option<u64>; 2],
    opens: usize,
    accepts: usize,
    leaks: [usize; 2],
    records: [usize; 2],
}

/// Receive streams in no record that fits one of the other end.
fn leaks(net: &Net, node: u16, other: u16) -> usize {
    let own = net.nodes[&node].records(other, protocol());
    let theirs = net.nodes[&other].records(node, protocol());
    let paired = |stream: u16| {
        let mutual = |a: &&session_management::conduit::Record| {
            a.receive == stream && theirs.iter().any(|b| b.transmit == a.receive && b.receive == a.transmit)
        };
        own.iter().any(|record| mutual(&record))
    };
    let streams = net.nodes[&node].streams();
    streams
        .filter(|(stream, _)| {
            stream.side == session_management::conduit::Side::Receive && !paired(stream.stream)
        })
        .count()
}

fn outcome(net: &Net) -> Outcome {
    let records = |node: u16, other: u16| net.nodes[&node].records(other, protocol()).len();
    Outcome {
        complete: [net.complete_at(M), net.complete_at(P)],
        opens: net.count(Command::Open),
        accepts: net.count(Command::Accept),
        leaks: [leaks(net, M, P), leaks(net, P, M)],
        records: [records(M, P), records(P, M)],
    }
}

/// M calls at 0, P perhaps at `second`; the run ends long after the last timer, or after 2 000 latencies.
fn run(mut net: Net, second: Option<u64>, until: u64) -> Outcome {
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.drain();
    if let Some(at) = second {
        // A call at the instant of an arrival counts as earlier.
        if at > 0 {
            net.run(at - 1);
        }
        net.now = at;
        net.node(P).create_conduit(at, M, protocol()).unwrap();
    }
    net.run(until);
    outcome(&net)
}

fn settled(outcome: &Outcome, complete: [u64; 2], opens: usize, accepts: usize, leaks: [usize; 2]) {
    assert_eq!(outcome.complete, complete.map(Some));
    assert_eq!((outcome.opens, outcome.accepts), (opens, accepts));
    assert_eq!(outcome.leaks, leaks);
    assert_eq!(outcome.records, [1, 1]);
}

fn is_storm(outcome: &Outcome) {
    assert!(outcome.opens > 100, "{} OPENs", outcome.opens);
    assert!(outcome.leaks.iter().sum::<usize>() > 50);
}

const QUIET: u64 = 10_000 * MS;
const STORM: u64 = 1_000 * L;

/// Proves: SMP-3.4.1-1, SMP-3.4.1-2, SMP-3.4.1-3, SMP-3.4.1-4, SMP-3.4.1-6, SMP-3.4.2-3, SMP-3.4-1, SMP-2.3-4
/// Proves: SMP-3.4-7, SMP-3.4.3-8
#[test]
fn master_and_slave() {
    for algorithm in Algorithm::ALL {
        let result = run(Net::pair(L, algorithm), None, QUIET);
        settled(&result, [2 * L, 3 * L], 2, 2, [0, 0]);
        let later = run(Net::pair(L, algorithm), Some(2 * L), QUIET);
        settled(&later, [2 * L, 3 * L], 2, 2, [0, 0]);
    }
}

/// Proves: SMP-3.4.2-1, SMP-3.4.2-2, SMP-3.4.2-4
#[test]
fn peers_that_cross() {
    for delta in [0, L / 2, L] {
        is_storm(&run(Net::pair(L, Literal), Some(delta), STORM));
        for algorithm in [Minimal, Corrected] {
            let result = run(Net::pair(L, algorithm), Some(delta), QUIET);
            settled(&result, [2 * L, 2 * L + delta], 2, 2, [0, 0]);
        }
    }
}

/// Proves: SMP-3.7.2-3
#[test]
fn the_return_open_overtakes_its_accept() {
    let net = |algorithm| Net::pair(L, algorithm).fate(P, Command::Accept, 1, Fate::After(L + L / 2));
    is_storm(&run(net(Literal), None, STORM));
    for algorithm in [Minimal, Corrected] {
        settled(&run(net(algorithm), None, QUIET), [2 * L + L / 2, 3 * L], 2, 2, [0, 0]);
    }
}

/// Proves: SMP-3.7.1-1, SMP-3.7-1
#[test]
fn master_slave_with_one_loss() {
    let retry = 250 * MS;
    for algorithm in Algorithm::ALL {
        let net = || Net::pair(L, algorithm);
        let open_lost = run(net().fate(M, Command::Open, 1, Fate::Lost), None, QUIET);
        settled(&open_lost, [retry + 2 * L, retry + 3 * L], 3, 2, [0, 0]);

        let return_lost = run(net().fate(P, Command::Open, 1, Fate::Lost), None, QUIET);
        assert_eq!(return_lost.leaks, [0, 0]);
        assert_eq!((return_lost.opens, return_lost.accepts), (3, 2));

        let second = run(net().fate(M, Command::Accept, 1, Fate::Lost), None, QUIET);
        let leak = usize::from(algorithm != Corrected);
        settled(&second, [2 * L, retry + 3 * L], 3, 3, [leak, 0]);

        let first = net().fate(P, Command::Accept, 1, Fate::Lost);
        match algorithm {
            Literal => is_storm(&run(first, None, retry + STORM)),
            Minimal => settled(&run(first, None, QUIET), [retry + 2 * L, 3 * L], 3, 3, [0, 1]),
            Corrected => settled(&run(first, None, QUIET), [retry + 2 * L, 3 * L], 3, 3, [0, 0]),
        }
    }
}

/// Proves: SMP-3.4.3-3, SMP-3.4.3-7
#[test]
fn crossing_opens_with_one_loss() {
    let retry = 250 * MS;
    for (lost, mirrored) in [(M, false), (P, true)] {
        let swap = |[a, b]: [u64; 2]| if mirrored { [b, a] } else { [a, b] };
        let leak = |count: usize| if mirrored { [count, 0] } else { [0, count] };
        for algorithm in Algorithm::ALL {
            let open = Net::pair(L, algorithm).fate(lost, Command::Open, 1, Fate::Lost);
            // The ACCEPT *to* the node is lost.
            let sender = if mirrored { M } else { P };
            let accept = Net::pair(L, algorithm).fate(sender, Command::Accept, 1, Fate::Lost);
            if algorithm == Literal {
                is_storm(&run(open, Some(0), retry + STORM));
                is_storm(&run(accept, Some(0), retry + STORM));
                continue;
            }
            let result = run(open, Some(0), QUIET);
            settled(&result, swap([retry + 2 * L, retry + L]), 3, 2, [0, 0]);
            let leaked = leak(usize::from(algorithm == Minimal));
            settled(&run(accept, Some(0), QUIET), swap([retry + 2 * L, 2 * L]), 3, 3, leaked);
        }
    }
}

/// Proves: SMP-3.5.3.5-3, SMP-3.7.1-2
#[test]
fn long_round_trips_with_the_sound_algorithm() {
    let pair = |latency| Net::pair(latency, Corrected);
    settled(&run(pair(130 * MS), None, QUIET), [260 * MS, 390 * MS], 4, 4, [0, 0]);
    settled(&run(pair(130 * MS), Some(0), QUIET), [260 * MS, 260 * MS], 4, 4, [0, 0]);
    settled(&run(pair(300 * MS), None, QUIET), [600 * MS, 900 * MS], 6, 6, [0, 0]);
}

/// Proves: SMP-3.4.3-10, SMP-3.4.3-11
#[test]
fn a_round_trip_longer_than_the_timeout_leaves_nothing() {
    let mut net = Net::pair(600 * MS, Corrected);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.run(QUIET);
    let result = outcome(&net);
    assert_eq!((result.leaks, result.records), ([0, 0], [0, 0]));
    assert_eq!(net.nodes[&P].counters().allocated + net.nodes[&M].counters().allocated, 1);
    assert!(net.nodes.values().all(|node| node.streams().count() == 0 && node.outstanding() == 0));
}

/// The storm of the printed algorithm grows by one OPEN, ACCEPT, stream and record for each node and round
/// trip, for ever: it does not do what SMP-3.4.2-4 asks for.
#[test]
fn the_storm_grows_linearly() {
    let mut net = Net::pair(L, Literal);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.node(P).create_conduit(0, M, protocol()).unwrap();
    for k in 1..=40 {
        let totals = |net: &Net| {
            let allocated = net.nodes.values().map(|node| node.counters().allocated).sum::<u64>();
            let records = outcome(net).records.iter().sum::<usize>();
            (net.count(Command::Open), net.count(Command::Accept), allocated, records)
        };
        net.run(2 * k * L);
        let (k, n) = (k as usize, 2 * k);
        assert_eq!(totals(&net), (2 * k + 2, 2 * k + 2, n + 2, 2 * k), "at {n} L");
        net.run((n + 1) * L);
        assert_eq!(totals(&net), (2 * k + 4, 2 * k + 2, n + 2, 2 * k + 2), "at {} L", n + 1);
    }
    net.run(10 * MS);
    assert_eq!(net.count(Command::Open), 1002);
    assert_eq!(outcome(&net).records.iter().sum::<usize>(), 1000);
}

/// With a round trip longer than the retry period each OPEN of the storm is itself repeated: neither printed
/// algorithm does what SMP-3.4.2-4 asks for.
#[test]
fn the_storm_grows_exponentially_when_opens_are_repeated() {
    let growth = |algorithm, crossing: bool| {
        let mut net = Net::pair(130 * MS, algorithm);
        net.node(M).create_conduit(0, P, protocol()).unwrap();
        if crossing {
            net.node(P).create_conduit(0, M, protocol()).unwrap();
        }
        (1..=10)
            .map(|n| {
                net.run(n * 260 * MS);
                net.count(Command::Open)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(growth(Literal, true), [6, 12, 22, 38, 64, 106, 174, 284, 462, 750]);
    assert_eq!(growth(Minimal, true), [4, 6, 10, 16, 26, 42, 68, 110, 178, 288]);
    assert_eq!(growth(Literal, false), [3, 7, 15, 30, 58, 109, 201, 365, 655, 1164]);
    assert_eq!(growth(Minimal, false), [3, 6, 11, 19, 32, 53, 87, 142, 231, 375]);
}

/// Where the printed algorithms storm, exactly one conduit results with the corrected one, and it lasts:
/// whatever the latency, the distance of the two calls, and which message comes late.
///
/// Proves: SMP-3.4.2-4
#[test]
fn exactly_one_conduit() {
    for latency in [L, 130 * MS, 240 * MS] {
        for second in [None, Some(0), Some(latency / 2), Some(latency), Some(2 * latency)] {
            for late in
                [None, Some((M, Command::Open)), Some((M, Command::Accept)), Some((P, Command::Accept))]
            {
                let mut net = Net::pair(latency, Corrected);
                if let Some((from, command)) = late {
                    net = net.fate(from, command, 1, Fate::After(latency + latency / 2));
                }
                let result = run(net, second, QUIET);
                let what = format!("{latency} ps, {second:?}, {late:?}");
                assert_eq!((result.records, result.leaks), ([1, 1], [0, 0]), "{what}");
                assert!(result.complete.iter().all(Option::is_some), "{what}");
            }
        }
    }
}

/// By hand: a conduit is one record at each end, and the OPEN of the other side finds it there. One that may
/// be is enough for it, by every algorithm that makes no other.
#[test]
fn a_limit_of_one_record_lets_one_conduit_be() {
    for algorithm in [Minimal, Corrected] {
        let configs = [M, P].map(|node| {
            let mut config = crate::common::config(node, algorithm);
            config.max_records = 1;
            config
        });
        let mut net = Net::new(L, configs);
        net.node(M).create_conduit(0, P, protocol()).unwrap();
        net.run(QUIET);
        assert!(
            !net.events.iter().any(|event| matches!(event.2, Event::ConduitLimit { .. })),
            "{algorithm:?}"
        );
        assert!(outcome(&net).records.iter().all(|&records| records == 1), "{algorithm:?}");
    }
}

/// The owner can stop the printed algorithm at a number of records.
#[test]
fn the_storm_can_be_limited() {
    let configs = [M, P].map(|node| {
        let mut config = crate::common::config(node, Literal);
        config.max_records = 10;
        config
    });
    let mut net = Net::new(L, configs);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.node(P).create_conduit(0, M, protocol()).unwrap();
    net.run(QUIET);
    assert!(net.events.iter().any(|event| matches!(event.2, Event::ConduitLimit { .. })));
    assert!(outcome(&net).records.iter().all(|&records| records <= 10));
}
