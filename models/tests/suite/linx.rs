//! LINX connections over a fabric. The protocol clock makes its 100 ms a fabric microsecond.
use crate::common::*;
use models::config::*;
use models::run::{ListKind, PipelineMode};
use models::stats::{LinxEnd, LinxTotals};
use models::{Progress, RunOptions};
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// 100 ms of the protocol in a fabric microsecond.
const CLOCK: (u64, u64) = (100_000, 1);
const MICROSECOND: u64 = 1_000_000;
/// 100 ms of the protocol clock.
const UNIT: u64 = 100_000_000_000;

/// A node with default wishes.
fn node(own: u16, carrier: Carrier, hb_tmo: u8, peers: Vec<u16>) -> LinxConfig {
    LinxConfig {
        node: own,
        port: 1,
        peer_port: 1,
        carrier,
        connection_priority: 2,
        heartbeat_priority: 1,
        data_priorities: vec![0],
        mtu: 256,
        hb_tmo,
        reconnect_after: 0,
        reconnect_spread: 0,
        options: linx_riocm::Options::default(),
        first_cid: None,
        generation: None,
        peers,
        connect_at: Time(u64::from(own) * 77_000),
        spread: Duration(0),
        loss: [0; 3],
        faults: Vec::new(),
        outages: Arc::default(),
        disconnects: Vec::new(),
        absences: Arc::default(),
        injections: Vec::new(),
        reply: None,
        program: None,
        charted: false,
        stream: format!("e{own:03}/linx"),
    }
}

/// A full mesh of `count` endpoints on one switch, after `change`.
fn mesh(
    count: u16,
    carrier: Carrier,
    hb_tmo: u8,
    senders: &[(u32, SourceConfig)],
    mut change: impl FnMut(&mut LinxConfig),
) -> Net {
    let mut net = single(usize::from(count), switch(count as u8));
    let nodes: Vec<LinxConfig> = (0..count)
        .map(|own| {
            let peers = (0..count).filter(|&id| id != own).collect();
            let mut node = node(own, carrier, hb_tmo, peers);
            change(&mut node);
            node
        })
        .collect();
    let mut outages: BTreeMap<u16, Vec<LinxFault>> = BTreeMap::new();
    for node in &nodes {
        outages.insert(node.node, node.faults.clone());
    }
    let outages = Arc::new(outages);
    let ids: Vec<u32> = (0..u32::from(count)).collect();
    net.conversation(ProtocolConfig::Linx(Box::new(nodes[0].clone())), &ids, senders);
    for (&id, node) in ids.iter().zip(nodes) {
        let agent = net.agent(id);
        agent.clock = CLOCK;
        agent.response_timeout = 100 * UNIT;
        let node = LinxConfig { outages: Arc::clone(&outages), ..node };
        agent.parts[0].protocol = ProtocolConfig::Linx(Box::new(node));
    }
    net
}

fn totals(net: &Net, until: u64) -> LinxTotals {
    let (_, outcome) = net.run(until);
    let totals = outcome.totals.one::<LinxTotals>().expect("one flow");
    totals.clone()
}

fn fault(kind: LinxFaultKind, from: u64, until: u64) -> LinxFault {
    LinxFault { kind, from: Time(from), until: Time(until) }
}

/// `count` messages of `octets` to node 1, one in `interval`.
fn messages(octets: u16, count: u64, interval: u64) -> SourceConfig {
    let arrivals = Arrivals::Constant { interval: (interval, 1), phase: Duration(20 * MICROSECOND) };
    sender(Destinations::Fixed(1), arrivals, octets, count)
}

/// Nothing but what the text allows has become of messages.
fn sound(totals: &LinxTotals) {
    let stats = &totals.stats;
    assert_eq!((stats.repeated, stats.missing, stats.unannounced, stats.corrupt), (0, 0, 0, 0), "{totals:?}");
    let sent = stats.messages - stats.refused;
    assert_eq!(sent, stats.delivered + totals.lost + totals.unseen + totals.under_way, "{totals:?}");
}

#[test]
fn a_mesh_comes_up_and_stays_up() {
    for carrier in [MESSAGE, STREAM] {
        let totals = totals(&mesh(8, carrier, 5, &[], |_| ()), 100 * MICROSECOND);
        let stats = &totals.stats;
        assert_eq!((totals.nodes, totals.wanted, totals.up, totals.half_up), (8, 28, 28, 0));
        assert!(totals.all_up.is_some_and(|at| at.0 < 5 * MICROSECOND), "{:?}", totals.all_up);
        assert_eq!((stats.connected, stats.ended), (56, [0; 7]));
        // 100 units of 100 ms: 19 heartbeats at each end, and the one that opens the connection.
        assert_eq!(stats.frames.sent_heartbeats, 56 * 20);
        // At most those of the last moment are on their way; all gaps are one period and a bit of jitter, but
        // for the first, which is the time that a frame takes.
        assert!(stats.heartbeat_gaps.count > 56 * 18);
        let first = stats.gaps[..8].iter().sum::<u64>();
        assert!(first <= 56 && stats.gaps[28..40].iter().sum::<u64>() + first == stats.heartbeat_gaps.count);
        assert_eq!(stats.frames.held_max, 0);
    }
}

/// Equal numbers whatever the event list and the pipeline.
#[test]
fn results_do_not_depend_on_the_kernel() {
    let change = |node: &mut LinxConfig| {
        if node.node == 2 {
            node.faults = vec![fault(LinxFaultKind::Crash, 30 * MICROSECOND, 34 * MICROSECOND)];
        }
        node.loss = [100_000; 3];
        node.data_priorities = vec![0, 1, 2];
        node.reply = Some(40);
    };
    let source = messages(700, 100, MICROSECOND / 2);
    let net = mesh(5, MESSAGE, 1, &[(0, source)], change);
    let config = Arc::new(net.config.clone());
    let mut found = Vec::new();
    for options in options() {
        let mut simulation = models::Simulation::new(Arc::clone(&config), options, ());
        assert_eq!(simulation.run(Time(100 * MICROSECOND), u64::MAX), Progress::Limit);
        let outcome = simulation.finish().1;
        found.push((
            outcome.totals.one::<LinxTotals>().expect("one flow").clone(),
            outcome.outcome,
            outcome.trajectory,
        ));
    }
    assert!(found.iter().all(|other| *other == found[0]));
    sound(&found[0].0);
    // A tenth of all frames, within five standard deviations.
    let stats = &found[0].0.stats;
    let frames = stats.frames.sent_management + stats.frames.sent_heartbeats + stats.frames.sent_data;
    let bound = 5 * (frames * 9 / 100).isqrt();
    assert!(frames > 1_000 && stats.muted.abs_diff(frames / 10) <= bound, "{} of {frames}", stats.muted);
}

/// Every combination that must not matter.
fn options() -> Vec<RunOptions> {
    let heap = RunOptions { list: ListKind::Heap, ..RunOptions::default() };
    let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..RunOptions::default() };
    vec![RunOptions::default(), heap, unfolded]
}

#[test]
fn messages_arrive_whole_and_are_answered() {
    for carrier in [MESSAGE, STREAM] {
        let source = messages(1_000, 30, MICROSECOND);
        let net = mesh(2, carrier, 5, &[(0, source)], |node| node.reply = Some(100));
        let totals = totals(&net, 100 * MICROSECOND);
        sound(&totals);
        let stats = &totals.stats;
        assert_eq!((stats.messages, stats.delivered, stats.octets), (60, 60, 30 * 1_100));
        assert_eq!((stats.message_ps.len(), stats.round_trips.len()), (30, 30));
        assert!(stats.round_trips[0] > stats.message_ps[0]);
    }
}

/// Three peers send a heartbeat each T = 1 us to a host that takes S for a frame. With S = 0.3 us it keeps
/// up, and nothing times out. With S = 2 us it hears of each peer every 6 us, which is more than 3 T: each of
/// its three connections ends falsely, again and again, but no sooner than 3 T after it came up. The
/// connections among the others do not.
#[test]
fn a_slow_host_makes_timeouts_fire_falsely() {
    let until = 200 * MICROSECOND;
    for (service, slow) in [(300_000, false), (2 * MICROSECOND, true)] {
        let mut net = mesh(4, STREAM, 1, &[], |_| ());
        net.agent(0).host = HostConfig {
            rx_service: ServiceTime::Fixed(Duration(service)),
            tx_service: ServiceTime::Fixed(Duration(0)),
            rx_queue: 64,
        };
        let (log, outcome) = net.run(until);
        let totals = outcome.totals.one::<LinxTotals>().expect("one flow");
        let stats = &totals.stats;
        let false_ones = stats.false_timeouts;
        assert_eq!(false_ones, stats.ended[LinxEnd::Timeout as usize]);
        assert_eq!(log.timeouts.is_empty(), !slow);
        assert!(log.timeouts.iter().all(|timeout| timeout.device == 0), "{:?}", log.timeouts);
        if slow {
            // Each of three ends does so at least once, and at most once in 3 T.
            let most = 3 * until / (3 * MICROSECOND);
            assert!((3..=most).contains(&false_ones) && stats.connected > 12, "{stats:?}");
        } else {
            assert_eq!((false_ones, stats.connected, totals.up), (0, 12, 6), "{stats:?}");
        }
    }
}

/// F.2: the path of one node is blocked. Up to two periods nobody notices, from three on all do.
#[test]
fn a_stall_of_two_periods_is_not_noticed_and_one_of_three_is() {
    // hb_tmo = 5: a period is 5 us; all but node 0 may notice.
    for (stall, expected) in [(9_900_000, 0), (15_000_000, 7)] {
        let totals = totals(
            &mesh(8, STREAM, 5, &[], |node| {
                if node.node == 0 {
                    let from = 30 * MICROSECOND;
                    node.faults = vec![fault(LinxFaultKind::Stall, from, from + stall)];
                }
            }),
            100 * MICROSECOND,
        );
        assert_eq!(totals.stats.false_timeouts, expected, "stall of {stall} ps");
        // To each of seven peers a heartbeat in each 5 us: one or two where nobody notices, three and what
        // ends the connections where they do.
        let stalled = totals.stats.stalled;
        let bound = if expected == 0 { 7..=14 } else { 21..=98 };
        assert!(bound.contains(&stalled), "{stalled}");
        assert_eq!((totals.up, totals.half_up), (28, 0), "all are up again");
    }
}

/// What has no part in whether an end hears its peer makes no false timeout a true one: that the end itself
/// was mute for a while, or the peer deaf. That the end was deaf does, whatever it missed.
#[test]
fn only_what_may_silence_a_peer_excuses_a_timeout() {
    use LinxFaultKind::{Deaf, Mute, Stall};
    for (own, of_peer, false_ones) in
        [(Mute, None, 1), (Mute, Some(Deaf), 1), (Deaf, None, 0), (Mute, Some(Mute), 0)]
    {
        let at = |kind, us: u64| fault(kind, us * MICROSECOND, us * MICROSECOND + 1_000);
        let totals = totals(
            &mesh(2, STREAM, 5, &[], |node| {
                if node.node == 0 {
                    node.faults = vec![fault(Stall, 30 * MICROSECOND, 48 * MICROSECOND)];
                    node.faults.extend(of_peer.map(|kind| at(kind, 33)));
                } else {
                    node.faults = vec![at(own, 32)];
                }
            }),
            100 * MICROSECOND,
        );
        let stats = &totals.stats;
        let found = (stats.ended[LinxEnd::Timeout as usize], stats.false_timeouts, stats.detected.count);
        assert_eq!(found, (1, false_ones, 1 - false_ones), "{own:?}, {of_peer:?}: {stats:?}");
    }
}

/// F.1: two lost heartbeats are survived, three are not.
#[test]
fn three_lost_heartbeats_are_a_timeout() {
    for (periods, expected) in [(2, 0), (3, 7)] {
        let totals = totals(
            &mesh(8, STREAM, 5, &[], |node| {
                if node.node == 0 {
                    let from = 30 * MICROSECOND;
                    node.faults = vec![fault(LinxFaultKind::Mute, from, from + periods * 5 * MICROSECOND)];
                }
            }),
            100 * MICROSECOND,
        );
        let timeouts = totals.stats.ended[LinxEnd::Timeout as usize];
        assert_eq!(timeouts, expected, "mute for {periods} periods");
        assert_eq!(totals.up, 28, "all are up again");
    }
}

/// F.3: a crash is noticed within two to three periods, and by the first frame of the new node at the latest.
#[test]
fn a_crash_is_detected_and_mended() {
    let down = 20 * MICROSECOND;
    let totals = totals(
        &mesh(8, STREAM, 5, &[], |node| {
            if node.node == 3 {
                let from = 40 * MICROSECOND;
                node.faults = vec![fault(LinxFaultKind::Crash, from, from + down)];
            }
        }),
        120 * MICROSECOND,
    );
    let stats = &totals.stats;
    assert_eq!(stats.ended[LinxEnd::Crash as usize], 7);
    assert_eq!((stats.ended[LinxEnd::Timeout as usize], stats.false_timeouts), (7, 0));
    assert_eq!(stats.detected.count, 7);
    assert!(stats.detected.min >= 10 * MICROSECOND && stats.detected.max <= 15 * MICROSECOND + 300_000);
    assert_eq!(stats.reestablished.count, 14);
    // A crossing connect takes a few microseconds of host and fabric: far less than a REQ period of 2 us.
    assert!(stats.reestablished.max < 4 * MICROSECOND, "{:?}", stats.reestablished);
    assert_eq!((totals.up, totals.half_up), (28, 0));
}

/// A node that is back before anybody noticed is told by its new generation.
#[test]
fn a_quick_restart_is_a_peer_restart() {
    let totals = totals(
        &mesh(4, MESSAGE, 5, &[], |node| {
            if node.node == 3 {
                let from = 40 * MICROSECOND;
                node.faults = vec![fault(LinxFaultKind::Crash, from, from + MICROSECOND)];
            }
        }),
        120 * MICROSECOND,
    );
    assert_eq!(totals.stats.ended[LinxEnd::PeerRestart as usize], 3);
    assert_eq!((totals.up, totals.stats.flaps), (6, 0));
}

#[test]
fn a_link_that_goes_down_is_known_at_once_here_and_later_there() {
    let totals = totals(
        &mesh(4, STREAM, 5, &[], |node| {
            if node.node == 0 {
                let from = 40 * MICROSECOND;
                node.faults = vec![fault(LinxFaultKind::LinkDown, from, from + 30 * MICROSECOND)];
            }
        }),
        120 * MICROSECOND,
    );
    assert_eq!(totals.stats.ended[LinxEnd::LinkDown as usize], 3);
    assert_eq!(totals.stats.ended[LinxEnd::Timeout as usize], 3);
    assert_eq!((totals.up, totals.half_up), (6, 0));
}

/// 100 000 messages whose frames overtake each other, with losses, crashes and deaf times: nothing twice,
/// nothing out of order, nothing lost but with a connection whose end was told.
#[test]
fn a_hundred_thousand_messages_in_trouble() {
    let mut held = 0;
    for carrier in [MESSAGE, STREAM] {
        let senders: Vec<(u32, SourceConfig)> = (0..4)
            .map(|own| {
                let arrivals =
                    Arrivals::Constant { interval: (240_000, 1), phase: Duration(5 * MICROSECOND) };
                let ids = Arc::new((0..4).filter(|&id| id != own).collect::<Vec<u32>>());
                (own, sender(Destinations::Uniform { ids, except: None }, arrivals, 300, 12_500))
            })
            .collect();
        let net = mesh(4, carrier, 1, &senders, |node| {
            node.data_priorities = vec![0, 1, 2];
            node.loss = [1_000, 1_000, 20];
            node.faults = (1..28)
                .map(|turn| {
                    let from = (turn * 4 + u64::from(node.node)) * 26 * MICROSECOND + turn * 77_777;
                    let kinds = [LinxFaultKind::Crash, LinxFaultKind::Deaf, LinxFaultKind::Stall];
                    let times = [100_000, 2 * MICROSECOND, 3 * MICROSECOND];
                    let kind = (turn % 3) as usize;
                    fault(kinds[kind], from, from + times[kind])
                })
                .collect();
        });
        let totals = totals(&net, 3_200 * MICROSECOND);
        sound(&totals);
        let stats = &totals.stats;
        assert_eq!(stats.messages, 50_000);
        assert!(stats.delivered > 35_000 && totals.lost > 10, "{totals:?}");
        // The last message was sent long before the end. What nobody knows of is the last of a direction.
        assert!(totals.under_way == 0 && totals.unseen <= 12, "{totals:?}");
        assert!(stats.ended[LinxEnd::Crash as usize] > 60 && stats.connected > 300, "{totals:?}");
        held += stats.frames.held;
    }
    assert!(held > 100, "frames have overtaken each other: {held}");
}

/// The link of endpoint 1 of two goes down at `down`, and comes back at `up` if at all.
fn link_of_one(net: &mut Net, down: u64, up: Option<u64>) {
    let link = net.config.links.iter().position(|link| link.a == (1, 0) || link.b == (1, 0));
    let number = net.config.links.len() as u32;
    net.config.symbolic = (0..number).map(symbolic).collect();
    let link = link.expect("endpoint 1 has a link") as u32;
    let mut at = |at: u64, action| net.config.faults.push(Fault { at: Time(at), link, action });
    at(down, FaultAction::Down);
    if let Some(up) = up {
        at(up, FaultAction::Up);
    }
}

fn symbolic(link: u32) -> SymbolicLink {
    SymbolicLink {
        link,
        flow: FlowControl::Transmitter,
        timeout: Duration(10 * MICROSECOND),
        status_period: Duration(4_096 * CHAR_PS),
        throughout: false,
        channels: None,
        damage: Default::default(),
    }
}

/// A dead endpoint: it knows that its link is down, and its peer times out for a good reason.
///
/// Proves: RIOCM-10.1.3-2
#[test]
fn a_dead_peer_is_no_false_timeout() {
    let mut net = mesh(2, STREAM, 5, &[], |_| ());
    link_of_one(&mut net, 31 * MICROSECOND, None);
    let totals = totals(&net, 100 * MICROSECOND);
    let stats = &totals.stats;
    assert_eq!(stats.ended[LinxEnd::LinkDown as usize], 1, "{stats:?}");
    assert_eq!((stats.ended[LinxEnd::Timeout as usize], stats.false_timeouts), (1, 0), "{stats:?}");
    // Two to three periods of 5 us.
    assert_eq!(stats.detected.count, 1);
    assert!((10..=16).contains(&(stats.detected.max / MICROSECOND)), "{:?}", stats.detected);
    assert_eq!((totals.up, totals.half_up), (0, 0));
}

/// A link that comes back after less than the peer's patience: the end that saw it go connects again, and the
/// other end hears of it.
#[test]
fn an_outage_of_the_own_link_is_told_at_once() {
    let mut net = mesh(2, STREAM, 5, &[], |_| ());
    link_of_one(&mut net, 31 * MICROSECOND, Some(34 * MICROSECOND));
    let totals = totals(&net, 100 * MICROSECOND);
    let stats = &totals.stats;
    assert_eq!(stats.ended[LinxEnd::LinkDown as usize], 1, "{stats:?}");
    assert_eq!(stats.ended[LinxEnd::PeerRestart as usize], 1, "{stats:?}");
    assert_eq!(stats.false_timeouts, 0);
    assert_eq!((totals.up, totals.half_up), (1, 0));
}

/// Type 11 says when a message failed. Then the connection is reset, long before supervision could find out.
///
/// Proves: RIOCM-10.1-5, RIOCM-10.1-6
#[test]
fn a_message_that_failed_resets_its_connection() {
    let mut net = mesh(2, MESSAGE, 50, &[(0, messages(100, 40, MICROSECOND))], |_| ());
    for id in 0..2 {
        net.agent(id).response_timeout = UNIT;
    }
    // 50 us, a third of what supervision waits for.
    link_of_one(&mut net, 31 * MICROSECOND, Some(41 * MICROSECOND));
    let totals = totals(&net, 140 * MICROSECOND);
    sound(&totals);
    let stats = &totals.stats;
    assert_eq!(stats.ended[LinxEnd::Local as usize], 1, "{stats:?}");
    assert_eq!((stats.ended[LinxEnd::Timeout as usize], totals.up), (0, 1), "{stats:?}");
    assert!(totals.lost >= 1 && totals.under_way + totals.unseen == 0, "{totals:?}");
}

/// A host with two places gets ten messages at once over type 9: most are gone, and nobody knows.
#[test]
fn messages_that_a_full_host_dropped_are_not_under_way() {
    let arrivals = Arrivals::Constant { interval: (1_000, 1), phase: Duration(20 * MICROSECOND) };
    let mut net = mesh(2, STREAM, 5, &[(0, sender(Destinations::Fixed(1), arrivals, 100, 10))], |_| ());
    net.agent(1).host = HostConfig {
        rx_service: ServiceTime::Fixed(Duration(2 * MICROSECOND)),
        tx_service: ServiceTime::Fixed(Duration(0)),
        rx_queue: 2,
    };
    let totals = totals(&net, 100 * MICROSECOND);
    sound(&totals);
    let stats = &totals.stats;
    assert_eq!((stats.messages, stats.refused, totals.up, stats.ended), (10, 0, 1, [0; 7]), "{totals:?}");
    assert_eq!((stats.delivered + totals.unseen, totals.lost, totals.under_way), (10, 0, 0), "{totals:?}");
    assert!((2..=4).contains(&stats.delivered), "{totals:?}");
}

/// Two endpoints, a node of LINX for each `(endpoint, flow, port, port of the peer)`.
fn cores(nodes: &[(u16, u16, u16, u16)], senders: &[(u32, SourceConfig)]) -> Net {
    let mut net = single(2, switch(2));
    for flow in 0..2 {
        let of_flow = nodes.iter().filter(|node| node.1 == flow);
        let of_flow: Vec<_> = of_flow
            .map(|&(own, _, port, peer_port)| {
                let stream = format!("e{own:03}/linx {port}");
                let node = LinxConfig { port, peer_port, stream, ..node(own, STREAM, 5, vec![1 - own]) };
                (u32::from(own), ProtocolConfig::Linx(Box::new(node)))
            })
            .collect();
        let senders = if flow == 0 { senders } else { &[] };
        net.sessions(&of_flow, senders);
    }
    for id in 0..2 {
        let agent = net.agent(id);
        agent.clock = CLOCK;
        agent.response_timeout = 100 * UNIT;
    }
    net
}

fn all_totals(net: &Net, until: u64) -> Vec<LinxTotals> {
    let (_, outcome) = net.run(until);
    outcome.totals.of::<LinxTotals>().cloned().collect()
}

/// Which core a frame is for says its port, and nothing else: a core of one flow here and a core of another
/// flow there have a connection if the ports of their frames fit, and the cores beside them hear nothing.
///
/// Proves: RIOCM-10.1-11, RIOCM-10.1-12
#[test]
fn frames_go_to_the_core_that_their_port_names() {
    let source = messages(100, 10, MICROSECOND);
    let nodes = [(0, 0, 7, 9), (0, 1, 4, 6), (1, 0, 8, 3), (1, 1, 9, 7)];
    let totals = all_totals(&cores(&nodes, &[(0, source)]), 100 * MICROSECOND);
    let [first, second] = &totals[..] else { panic!("two flows") };
    // An end in each flow; the others ask for ports that nobody has, and each of their REQ is counted.
    assert_eq!((first.stats.connected, second.stats.connected), (1, 1), "{totals:?}");
    assert_eq!((first.stats.messages, second.stats.delivered), (10, 10), "{totals:?}");
    assert_eq!((first.stats.delivered, second.stats.corrupt), (0, 0), "{totals:?}");
    // 100 us are 10 s of the protocol: 50 REQ, one in each 2 us. A frame is under way for less.
    assert_eq!((first.stats.portless, second.stats.portless), (50, 50), "{totals:?}");
    let stray = |totals: &LinxTotals| totals.stats.frames.stray_management + totals.stats.frames.stray;
    assert_eq!((stray(first), stray(second)), (0, 0), "{totals:?}");
}
