//! Session management in the fabric: the single runs of conduit races, with the latency of the fabric.
//!
//! The way over the switch takes [`L`] and what the packets themselves take, a few tens of nanoseconds each:
//! completions are expected within [`SLACK`] after the multiple of L.

use crate::common::*;
use models::Outcome;
use models::config::*;
use models::probe::ProtocolFact;
use models::stats::SessionTotals;
use session_management::attribute::HeaderFormat;
use session_management::conduit::Algorithm;
use session_management::message::{Command, Mode};
use session_management::register::Contact;
use sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use Algorithm::{Corrected, Literal, Minimal};

const US: u64 = 1_000_000;
const MS: u64 = 1_000 * US;
const L: u64 = 10 * US;
const SLACK: u64 = US;
const PIPELINE: u64 = 100_000;

fn node(id: u16, nodes: u16) -> SessionConfig {
    let mailbox = Contact::Mailbox(2);
    let entry = Announcement {
        contact: mailbox,
        second: None,
        periods: [250_000, 1_000_000, 1_000_000],
        typed_data: false,
    };
    SessionConfig {
        node: id,
        algorithm: Corrected,
        mode: Mode::NonValidation,
        data: SessionData::Message(2),
        protocol: SessionProtocol::Plain(0x0200),
        cos: 0,
        segment: 256,
        priority: 0,
        record_limit: 1 << 16,
        first_number: 0,
        first_stream: 0x1000 * (id + 1),
        stream_limit: 0xE000,
        header: HeaderFormat::Data,
        data_offset: 0,
        offset_vendor: None,
        classes: false,
        mtu: (1_500, 1_500),
        reuses: false,
        advertises: true,
        frames_kept: 1,
        attributes: Vec::new(),
        vendor: None,
        understands: Vec::new(),
        user_commands: Vec::new(),
        commands: Vec::new(),
        vendor_streams: Vec::new(),
        lives: Arc::default(),
        server: None,
        bridges: Arc::default(),
        rts: true,
        contacts: ContactSource::Assumed,
        poll: 1_000_000,
        announces: false,
        own: OwnRegisters::ALL,
        blocks: 1,
        tagged: false,
        reads_tags: false,
        reads_beside: false,
        scans: Vec::new(),
        asks_first: false,
        asks_after: false,
        program: None,
        refuses: false,
        wanted: Wanted::Conduits,
        injections: Vec::new(),
        mute: false,
        directory: Arc::new((0..nodes).map(|id| (id, entry)).collect::<BTreeMap<_, _>>()),
        creates: None,
        close_at: None,
        restarts: Vec::new(),
        consumer: None,
        faults: Vec::new(),
        doubles: false,
        script: None,
        charted: false,
        census: None,
    }
}

fn creates(id: u16, at: u64, peers: &[u32]) -> Option<Creates> {
    let (at, spread) = (Time(at), Duration(0));
    Some(Creates { at, spread, peers: Arc::new(peers.to_vec()), stream: format!("create {id}") })
}

fn with_latency(net: &mut Net, latency: u64) {
    for link in &mut net.config.links {
        link.propagation = Duration((latency - PIPELINE) / 2);
    }
}

/// M = endpoint 0, P = endpoint 1.
struct Pair {
    net: Net,
    nodes: [SessionConfig; 2],
}

impl Pair {
    fn new(latency: u64, algorithm: Algorithm, second: Option<u64>) -> Self {
        let mut net = single(2, switch(2));
        with_latency(&mut net, latency);
        let nodes = [0, 1].map(|id| SessionConfig {
            algorithm,
            creates: match id {
                0 => creates(0, 0, &[1]),
                _ => second.and_then(|at| creates(1, at, &[0])),
            },
            ..node(id, 2)
        });
        Pair { net, nodes }
    }

    fn fault(mut self, from: usize, command: Command, fate: Fate) -> Self {
        let to = 1 - from as u16;
        self.nodes[from].faults.push(MessageFault { to, command, nth: 1, fate });
        self
    }

    /// Changes where management messages go.
    fn convey(&mut self, contact: Contact) {
        for node in &mut self.nodes {
            let entry = Announcement {
                contact,
                second: None,
                periods: [250_000, 1_000_000, 1_000_000],
                typed_data: false,
            };
            node.directory = Arc::new([(0, entry), (1, entry)].into());
        }
    }

    fn run(mut self, until: u64) -> Found {
        let members: Vec<(u32, ProtocolConfig)> =
            (0..).zip(self.nodes).map(|(e, node)| (e, ProtocolConfig::Session(Box::new(node)))).collect();
        self.net.sessions(&members, &[]);
        for e in 0..2 {
            // No packet is lost: however long the way is, nothing is sent again by hardware.
            self.net.agent(e).response_timeout = 1 << 60;
        }
        self.net.config.sample_every = Some(Duration(until));
        let (log, outcome) = self.net.run(until);
        let open = |device: u32| {
            let mut facts = log.events.iter();
            let first = facts.find(|event| event.device == device && event.fact == ProtocolFact::ConduitOpen);
            first.map(|event| event.at.0)
        };
        Found { complete: [open(0), open(1)], outcome }
    }
}

struct Found {
    complete: [Option<u64>; 2],
    outcome: Outcome,
}

impl Found {
    fn totals(&self) -> &SessionTotals {
        self.outcome.totals.one::<SessionTotals>().expect("one flow")
    }

    fn leaks(&self) -> [u64; 2] {
        [0, 1].map(|node: usize| self.totals().by_node[node].1)
    }

    #[track_caller]
    fn settled(&self, complete: [u64; 2], opens: u64, accepts: u64, leaks: [u64; 2]) {
        for (found, expected) in self.complete.into_iter().zip(complete) {
            let found = found.expect("the conduit is complete");
            assert!((expected..expected + SLACK).contains(&found), "{found} instead of {expected}");
        }
        let totals = self.totals();
        assert_eq!((totals.stats.opens, totals.stats.accepts), (opens, accepts));
        assert_eq!((totals.pairs, totals.duplicates, totals.records), (1, 0, 2));
        assert_eq!((totals.half_open, totals.orphans), (0, 0));
        assert_eq!(self.leaks(), leaks);
        assert!(totals.all_open.is_some());
        self.ends_are_records();
    }

    #[track_caller]
    fn storm(&self) {
        let totals = self.totals();
        assert!(totals.stats.opens > 100, "{} OPENs", totals.stats.opens);
        assert!(totals.leaked > 50 && totals.orphans > 50);
        self.ends_are_records();
    }

    /// An end that is entered again, with other streams, is one end: those that opened and did not end are
    /// those that are there.
    #[track_caller]
    fn ends_are_records(&self) {
        let totals = self.totals();
        let open = totals.ends.iter().filter(|end| end.opened.is_some()).map(|end| (end.device, end.peer));
        let open: BTreeSet<(u32, u16)> = open.collect();
        assert_eq!(totals.stats.opened - totals.stats.ended, open.len() as u64);
        assert!(open.len() as u64 <= totals.records);
    }
}

const QUIET: u64 = 5_000 * MS;
const STORM: u64 = 1_000 * L;

#[test]
fn master_and_slave() {
    for algorithm in Algorithm::ALL {
        Pair::new(L, algorithm, None).run(QUIET).settled([2 * L, 3 * L], 2, 2, [0, 0]);
        Pair::new(L, algorithm, Some(2 * L)).run(QUIET).settled([2 * L, 3 * L], 2, 2, [0, 0]);
    }
}

/// To the picosecond: OPEN and ACCEPT of 24 and 28 octets in packets of 32 and 40.
#[test]
fn the_return_open_takes_what_its_packets_take() {
    let found = Pair::new(L, Corrected, None).run(10 * MS);
    let way = |octets: u64| 2 * (octets + 8) * CHAR_PS + L;
    // Before it the response to the first OPEN and the longer ACCEPT leave, with which it catches up.
    let behind = (8 + 8) + (40 + 8) + (40 - 32);
    assert_eq!(found.complete[0], Some(way(32) + behind * CHAR_PS + way(32)));
}

#[test]
fn peers_that_cross() {
    for delta in [0, L / 2, L] {
        Pair::new(L, Literal, Some(delta)).run(STORM).storm();
        for algorithm in [Minimal, Corrected] {
            let found = Pair::new(L, algorithm, Some(delta)).run(QUIET);
            found.settled([2 * L, 2 * L + delta], 2, 2, [0, 0]);
        }
    }
}

#[test]
fn the_return_open_overtakes_its_accept() {
    let run = |algorithm, until| {
        let late = Fate::Delay(Duration(L / 2));
        Pair::new(L, algorithm, None).fault(1, Command::Accept, late).run(until)
    };
    run(Literal, STORM).storm();
    for algorithm in [Minimal, Corrected] {
        run(algorithm, QUIET).settled([2 * L + L / 2, 3 * L], 2, 2, [0, 0]);
    }
}

#[test]
fn master_slave_with_one_loss() {
    let retry = 250 * MS;
    for algorithm in Algorithm::ALL {
        let lose = |from, command| Pair::new(L, algorithm, None).fault(from, command, Fate::Lose);
        let open_lost = lose(0, Command::Open).run(QUIET);
        open_lost.settled([retry + 2 * L, retry + 3 * L], 3, 2, [0, 0]);

        // The printed algorithms say that it is open before the return OPEN has come.
        let return_lost = lose(1, Command::Open).run(QUIET);
        assert_eq!((return_lost.totals().stats.opens, return_lost.totals().stats.accepts), (3, 2));
        assert_eq!((return_lost.totals().pairs, return_lost.leaks()), (1, [0, 0]));

        let leak = u64::from(algorithm != Corrected);
        let second = lose(0, Command::Accept).run(QUIET);
        second.settled([2 * L, retry + 3 * L], 3, 3, [leak, 0]);

        let first = lose(1, Command::Accept);
        match algorithm {
            Literal => first.run(retry + STORM).storm(),
            _ => first.run(QUIET).settled([retry + 2 * L, 3 * L], 3, 3, [0, leak]),
        }
    }
}

#[test]
fn crossing_opens_with_one_loss() {
    let retry = 250 * MS;
    for algorithm in Algorithm::ALL {
        for lost in [0, 1] {
            let swap = |[a, b]: [u64; 2]| if lost == 1 { [b, a] } else { [a, b] };
            let pair = || Pair::new(L, algorithm, Some(0));
            let open = pair().fault(lost, Command::Open, Fate::Lose);
            let accept = pair().fault(1 - lost, Command::Accept, Fate::Lose);
            if algorithm == Literal {
                open.run(retry + STORM).storm();
                accept.run(retry + STORM).storm();
                continue;
            }
            open.run(QUIET).settled(swap([retry + 2 * L, retry + L]), 3, 2, [0, 0]);
            let leaked = swap([0, u64::from(algorithm == Minimal)]);
            accept.run(QUIET).settled(swap([retry + 2 * L, 2 * L]), 3, 3, leaked);
        }
    }
}

#[test]
fn long_round_trips_with_the_sound_algorithm() {
    let run = |latency, second| Pair::new(latency, Corrected, second).run(QUIET);
    run(130 * MS, None).settled([260 * MS, 390 * MS], 4, 4, [0, 0]);
    run(130 * MS, Some(0)).settled([260 * MS, 260 * MS], 4, 4, [0, 0]);
    run(300 * MS, None).settled([600 * MS, 900 * MS], 6, 6, [0, 0]);
    let hopeless = run(600 * MS, None);
    let totals = hopeless.totals();
    assert_eq!((totals.pairs, totals.records, totals.leaked), (0, 0, 0));
    assert_eq!((totals.stats.allocated, totals.all_open), (1, None));
}

/// One OPEN, ACCEPT, stream and record more for each node and round trip, for ever.
#[test]
fn the_storm_grows_linearly() {
    for k in [1, 2, 5, 20, 60] {
        let at = |n: u64| {
            let found = Pair::new(L, Literal, Some(0)).run(n * L + n * 60_000);
            let totals = found.totals();
            (totals.stats.opens, totals.stats.accepts, totals.stats.allocated, totals.records)
        };
        assert_eq!(at(2 * k), (2 * k + 2, 2 * k + 2, 2 * k + 2, 2 * k), "at {} L", 2 * k);
        assert_eq!(at(2 * k + 1), (2 * k + 4, 2 * k + 2, 2 * k + 2, 2 * k + 2), "at {} L", 2 * k + 1);
    }
}

/// With a round trip longer than the retry period each OPEN of the storm is itself repeated.
#[test]
fn the_storm_grows_exponentially_when_opens_are_repeated() {
    let growth = |algorithm, second| {
        [1, 2, 3, 4, 5, 6].map(|n| {
            let mut pair = Pair::new(130 * MS, algorithm, second);
            // A sender of type 11 has no more than four messages to a mailbox under way: that would slow
            // the storm down.
            pair.convey(Contact::Stream { stream: 0xDF00, cos: 7 });
            // And no more than its receive buffers are under way on a link.
            pair.net.buffers(61);
            pair.run(n * 260 * MS + 10 * US).totals().stats.opens
        })
    };
    assert_eq!(growth(Literal, Some(0)), [6, 12, 22, 38, 64, 106]);
    assert_eq!(growth(Minimal, Some(0)), [4, 6, 10, 16, 26, 42]);
    assert_eq!(growth(Literal, None), [3, 7, 15, 30, 58, 109]);
    assert_eq!(growth(Minimal, None), [3, 6, 11, 19, 32, 53]);
}

#[test]
fn the_storm_stops_at_the_record_limit() {
    let mut pair = Pair::new(L, Literal, Some(0));
    for node in &mut pair.nodes {
        node.record_limit = 10;
    }
    let found = pair.run(STORM);
    let totals = found.totals();
    assert_eq!(totals.records, 20);
    assert!(totals.stats.limited > 0 && totals.stats.opens < 100, "{totals:?}");
    // Both have ten at 20 L, and what would make one more comes with the next OPEN, a way later.
    assert!((21 * L..22 * L).contains(&totals.stats.limited_at.unwrap()), "{:?}", totals.stats.limited_at);
}

/// A node that says nothing: nothing is left at the other end.
#[test]
fn a_mute_node_is_given_up() {
    let mut pair = Pair::new(L, Corrected, None);
    pair.nodes[1].mute = true;
    let found = pair.run(QUIET);
    let totals = found.totals();
    assert_eq!((totals.stats.opens, totals.stats.retransmissions), (4, 3));
    assert_eq!((totals.stats.suspects, totals.stats.failed_opens), (1, 1));
    assert_eq!((totals.pairs, totals.records, totals.leaked), (0, 0, 0));
}

/// A node that restarts opens its conduit anew; the peer finds out by a query and gives the old one up.
#[test]
fn a_restart_ends_in_one_conduit() {
    let mut pair = Pair::new(L, Corrected, None);
    pair.nodes[0].restarts = vec![Restart { at: Time(10 * MS), reuses: false, reset: None }];
    let found = pair.run(QUIET);
    let totals = found.totals();
    assert_eq!((totals.pairs, totals.records, totals.leaked), (1, 2, 0), "{totals:?}");
    assert_eq!((totals.stats.restarts, totals.stats.ended), (1, 2));
}

/// The four combinations of Table 2-1: PDUs of every length arrive whole, and leave nothing behind when
/// the conduit is closed.
#[test]
fn data_in_all_conveyances() {
    let streams = Contact::Stream { stream: 0xDF00, cos: 7 };
    for contact in [Contact::Mailbox(2), streams] {
        for data in [SessionData::Message(3), SessionData::Stream] {
            let mut pair = Pair::new(L, Corrected, None);
            pair.convey(contact);
            pair.nodes.iter_mut().for_each(|node| node.data = data);
            // 10 parts of 40 000 octets take as many round trips.
            pair.nodes[0].close_at = Some(Time(8 * MS));
            let mix = [(1, 1), (1, 100), (1, 4_000), (1, 9_000), (1, 40_000)];
            let sizes = mix.map(|(weight, payload)| (weight, PacketSize { payload, wire: 0 }));
            let arrivals = Arrivals::Constant { interval: (40 * US, 1), phase: Duration(0) };
            let mut source = sender(Destinations::Fixed(1), arrivals, 1, 30);
            source.sizes = Sizes::Mix(Arc::new(sizes.to_vec()));
            source.stop = Time(2 * MS);
            let members: Vec<(u32, ProtocolConfig)> =
                (0..).zip(pair.nodes).map(|(e, node)| (e, ProtocolConfig::Session(Box::new(node)))).collect();
            pair.net.sessions(&members, &[(0, source)]);
            let (log, outcome) = pair.net.run(50 * MS);
            let totals = outcome.totals.one::<SessionTotals>().expect("one flow");
            let stats = &totals.stats;
            assert_eq!((stats.pdus_sent, stats.pdus_delivered, stats.pdus_lost), (30, 30, 0), "{data:?}");
            assert_eq!((totals.records, totals.leaked, stats.ended), (0, 0, 2));
            // Every message has a way, and PDUs of DATA3 are one message each.
            let expected = if data == SessionData::Stream { 30 } else { stats.data_messages };
            assert_eq!(stats.data_messages, expected);
            assert_eq!(log.messages.len() as u64, stats.messages);
        }
    }
}

/// A slow application stops its source; nothing is lost, and the queue stays short.
#[test]
fn a_slow_application_stops_the_source() {
    let run = |stop_at| {
        let mut pair = Pair::new(L, Corrected, None);
        let service = ServiceTime::Fixed(Duration(50 * US));
        pair.nodes[1].consumer = Some(Consumer { service, stop_at, go_at: 2 });
        let arrivals = Arrivals::Constant { interval: (20 * US, 1), phase: Duration(0) };
        let source = sender(Destinations::Fixed(1), arrivals, 256, 200);
        let members: Vec<(u32, ProtocolConfig)> =
            (0..).zip(pair.nodes).map(|(e, node)| (e, ProtocolConfig::Session(Box::new(node)))).collect();
        pair.net.sessions(&members, &[(0, source)]);
        pair.net.run(20 * MS).1.totals.one::<SessionTotals>().expect("one flow").stats.clone()
    };
    let (stopped, free) = (run(6), run(u32::MAX));
    assert_eq!((stopped.pdus_delivered, stopped.pdus_lost), (200, 0));
    assert!(stopped.xoffs > 10 && stopped.xoffs == stopped.xons, "{stopped:?}");
    assert!(stopped.consumer_high_water < 16, "{}", stopped.consumer_high_water);
    assert_eq!((free.pdus_delivered, free.xoffs), (200, 0));
    assert!(free.consumer_high_water > 100);
}
