//! Ethernet beyond the fabric: a segment behind a bridge, and a server that repeats broadcasts.

use crate::watched::watched;
use models::Probe;
use models::probe::{Signal, SignalKind};
use models::stats::SessionTotals;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Endpoints with conduits among all of them; each sends so many frames of 600 octets, the n-th at
/// 50 us + n x 20 us, to the others at random.
fn run(endpoints: u16, limit: u64, session: Value) -> SessionTotals {
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": endpoints}},
        "traffic": [{
            "name": "frames", "from": "all", "to": {"uniform": {}}, "size": 600, "limit": limit,
            "start": "50 us", "arrivals": {"constant": {"interval": "20 us", "phase": "0 ps"}},
            "session": session
        }],
        "run": {"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}
    });
    let ((), outcome) = watched(&scenario);
    outcome.totals.one::<SessionTotals>().expect("one flow").clone()
}

/// Law for n nodes, each of which broadcasts b frames: a client sends one copy, the server n - 1 for each of
/// its own and of theirs; everybody but its sender gets each, and one copy of each that the server repeats
/// comes back to its sender.
///
/// Proves: SMP-7.3.2-2
#[test]
fn a_server_repeats_broadcasts_for_all() {
    let (nodes, each) = (4, 5);
    let (own, others) = (each, (nodes - 1) * each);
    let totals = run(4, each, json!({"ethernet": {"broadcast_every": 1, "server": "ep/0"}}));
    let stats = totals.stats;
    assert_eq!(stats.broadcasts, nodes * each);
    assert_eq!(stats.data_messages, others + (others + own) * (nodes - 1));
    assert_eq!(stats.pdus_delivered, nodes * each * (nodes - 1));
    assert_eq!((stats.repeated, stats.returned, stats.foreign), (others, others, 0));
}

/// What nodes sent, in words.
#[derive(Default)]
struct Said(BTreeSet<String>);

impl Probe for Said {
    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Sent { words, .. } = &signal.kind {
            self.0.insert(words.clone());
        }
    }
}

/// Where nodes take management messages on a stream of type 9, a broadcast goes there with a command before
/// it: it is DATA of stream 0xF000, whatever stream of the logical layer carries it. PDUs of conduits go over
/// messages here, and have a command, too.
#[test]
fn broadcasts_on_a_stream_are_told_by_their_command() {
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 3}},
        "endpoint": {"session": {"management": "stream", "data": "message"}},
        "traffic": [{
            "name": "frames", "from": "all", "to": {"uniform": {}}, "size": 46, "limit": 4, "start": "50 us",
            "arrivals": {"constant": {"interval": "20 us", "phase": "0 ps"}},
            "session": {"chart": true, "ethernet": {"broadcast_every": 2}}
        }],
        "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
    });
    let (Said(said), _) = watched::<Said>(&scenario);
    assert!(said.contains("DATA 0xf000"), "{said:?}");
    assert!(!said.iter().any(|words| words.starts_with("DATA3")), "{said:?}");
}

/// A frame from ep/1 to everybody on the stream of broadcasts, 0xF000, which the server must not repeat.
const ON_F000: &str = "06 01 00 00 0000 0001 C00E F000 FFFFFFFFFFFF 020000000001 88B5";

/// What comes on the stream of broadcasts everybody has already: the server takes it, and repeats nothing.
///
/// Proves: SMP-7.3.2-6
#[test]
fn a_server_repeats_no_broadcast_of_others() {
    let inject = json!([{"at": "100 us", "from": "ep/1", "to": "ep/0", "octets": ON_F000}]);
    let totals = run(3, 0, json!({"ethernet": {"server": "ep/0"}, "inject": inject}));
    let stats = totals.stats;
    assert_eq!((stats.broadcasts_delivered, stats.repeated, stats.data_messages), (1, 0, 0));
}

fn bridge(rate: &str, broadcasts: bool) -> Value {
    json!([{"node": "ep/0", "hosts": 3, "rate": rate, "broadcasts": broadcasts}])
}

/// A bridge learns, and is learnt from. Law: the node asks for each of three hosts once, by a frame to
/// everybody, because by then that host has sent a frame itself; everything arrives; all that goes to hosts
/// leaves into the segment, and takes its time there: 600 + 14 + 8 + 4 + 12 octets are 5 104 ns at 1 Gb/s and
/// a tenth of that at 10 Gb/s.
///
/// Proves: SMP-7.3.3-1, SMP-7.3.3-2
#[test]
fn a_bridge_learns_where_hosts_are() {
    let each = 12;
    let [slow, fast] = ["1 Gb/s", "10 Gb/s"]
        .map(|rate| run(2, each, json!({"ethernet": {"bridges": bridge(rate, true)}})).stats);
    assert_eq!((slow.pdus_sent, slow.pdus_delivered), (2 * each, 2 * each));
    assert_eq!((slow.flooded, slow.foreign, slow.left_fabric), (3, 0, each));
    assert_eq!(slow.data_messages, 2 * each);
    let [slow, fast] = [slow, fast].map(|stats| stats.pdu_ps.iter().sum::<u64>());
    assert_eq!(slow - fast, each * (5_104_000 - 510_400));
}

/// Broadcasts pass a bridge both ways, or not, as it is configured; nothing that came on the stream of
/// broadcasts goes back into the fabric. Law for n nodes with b broadcasts each: where they pass, (n - 1) b n
/// copies arrive. Where they do not, (n - 1) b of the hosts stay outside, and of the others (n - 1) b do not
/// get out. A frame for a host that is not known is discarded by the n - 2 nodes that it is not for.
///
/// Proves: SMP-7.3.3-3, SMP-7.3.3-4
#[test]
fn broadcasts_pass_a_bridge_as_configured() {
    let (nodes, each) = (3, 30);
    let broadcasts = nodes * each / 3;
    for (pass, filtered) in [(true, 0), (false, 2 * (nodes - 1) * each / 3)] {
        let ethernet = json!({"broadcast_every": 3, "bridges": bridge("10 Gb/s", pass)});
        let stats = run(3, each, json!({"ethernet": ethernet})).stats;
        assert_eq!(stats.broadcasts, broadcasts);
        assert_eq!(
            (stats.filtered, stats.broadcasts_delivered),
            (filtered, (nodes - 1) * broadcasts - filtered)
        );
        assert_eq!(stats.pdus_delivered - stats.broadcasts_delivered, nodes * each - broadcasts);
        assert_eq!(stats.foreign, stats.flooded * (nodes - 2));
        assert!(stats.flooded > 0);
    }
}

/// A frame to a multicast address on the stream of broadcasts: a bridge treats it as a broadcast.
///
/// Proves: SMP-7.3.3-5
#[test]
fn a_multicast_frame_passes_like_a_broadcast() {
    let inject = json!([{
        "at": "100 us", "from": "ep/1", "to": "ep/0",
        "octets": "06 01 00 00 0000 0001 C00E F000 01005E000001 020000000001 0800"
    }]);
    for (pass, left, filtered) in [(true, 1, 0), (false, 0, 1)] {
        let ethernet = json!({"bridges": bridge("1 Gb/s", pass)});
        let stats = run(2, 0, json!({"ethernet": ethernet, "inject": inject})).stats;
        assert_eq!((stats.left_fabric, stats.filtered), (left, filtered));
    }
}

/// A bridge and a server together: what the server repeats does not say where its sender is, so nobody looks
/// for a host at the server. Law: all that was sent arrives, each broadcast at each of the others.
#[test]
fn a_bridge_beside_a_server() {
    let (nodes, each) = (4, 30);
    let ethernet = json!({"broadcast_every": 3, "server": "ep/1", "bridges": bridge("10 Gb/s", true)});
    let stats = run(4, each, json!({"ethernet": ethernet})).stats;
    let broadcasts = nodes * each / 3;
    assert_eq!(stats.broadcasts_delivered, (nodes - 1) * broadcasts);
    assert_eq!(stats.pdus_delivered - stats.broadcasts_delivered, nodes * each - broadcasts);
    assert_eq!(stats.pdus_lost, 0);
}
