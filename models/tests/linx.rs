//! LINX connections over a fabric. The protocol clock makes its 100 ms a microsecond.
mod common;
use common::*;
use models::config::*;
use models::probe::ProtocolFact::{self, *};
use models::stats::FlowStats;
use sim_core::Duration;

/// 100 ms of the protocol in a fabric microsecond.
const CLOCK: (u64, u64) = (100_000, 1);
const MICROSECOND: u64 = 1_000_000;
/// REQ period and 100 ms.
const PERIOD: u64 = 100_000_000_000;

/// A full mesh of `count` endpoints on one switch; each wants `hb_tmo`.
fn mesh(count: u8, carrier: Carrier, hb_tmo: u8, senders: &[(u32, SourceConfig)]) -> (Net, u16) {
    let mut net = single(usize::from(count), switch(count));
    let ids: Vec<u32> = (0..u32::from(count)).collect();
    let protocol = |own: u32| {
        let peers = ids.iter().filter(|&&id| id != own);
        let peers = peers.map(|&id| LinxPeer { id, generation: 1, connect_at: u64::from(own) * PERIOD / 16 });
        ProtocolConfig::Linx(Box::new(LinxConfig {
            carrier,
            priorities: [2, 1, 0],
            mtu: 256,
            hb_tmo,
            reconnect_after: PERIOD,
            first_cid: 1,
            options: Default::default(),
            peers: peers.collect(),
        }))
    };
    let flow = net.conversation(protocol(0), &ids, senders);
    for &id in &ids {
        net.agent(id).clock = CLOCK;
        net.agent(id).response_timeout = 100 * PERIOD;
        net.agent(id).parts[0].protocol = protocol(id);
    }
    (net, flow)
}

fn count(stats: &FlowStats, fact: ProtocolFact) -> u64 {
    stats.facts[fact as usize]
}

/// Every end comes up once and stays up; the rest is heartbeats.
#[test]
fn a_mesh_comes_up_and_stays_up() {
    for carrier in [MESSAGE, STREAM] {
        let (net, flow) = mesh(8, carrier, 5, &[]);
        let (_, outcome) = net.run(100 * MICROSECOND);
        let stats = outcome.protocols[flow as usize];
        assert_eq!(count(&stats, Connected), 56);
        assert_eq!((count(&stats, Disconnected), count(&stats, TimedOut), count(&stats, Failed)), (0, 0, 0));
        // 100 periods of 100 ms: 19 heartbeats at each end, and at least a REQ and two ACKs.
        assert!((56 * 21..56 * 25).contains(&stats.sent), "{}", stats.sent);
    }
}

/// Messages above the MTU arrive as often as they were sent while the connection was up.
#[test]
fn messages_arrive_whole() {
    let arrivals = Arrivals::Constant { interval: (MICROSECOND, 1), phase: Duration(20 * MICROSECOND) };
    let source = sender(Destinations::Fixed(1), arrivals, 1_000, 30);
    let (net, flow) = mesh(2, MESSAGE, 5, &[(0, source)]);
    let (_, outcome) = net.run(100 * MICROSECOND);
    let stats = outcome.protocols[flow as usize];
    assert_eq!((count(&stats, Delivered), count(&stats, Disconnected)), (30, 0));
}

/// A host that takes longer for a frame than three periods misses the heartbeats of its peer.
#[test]
fn a_slow_host_makes_timeouts_fire_falsely() {
    let (mut net, flow) = mesh(4, STREAM, 1, &[]);
    net.agent(0).host = HostConfig {
        rx_service: ServiceTime::Fixed(Duration(2 * MICROSECOND)),
        tx_service: ServiceTime::Fixed(Duration(0)),
        rx_queue: 64,
    };
    let (log, outcome) = net.run(200 * MICROSECOND);
    let stats = outcome.protocols[flow as usize];
    assert!(count(&stats, TimedOut) > 0, "{stats:?}");
    let slow = log.events.iter().filter(|event| event.fact == TimedOut);
    assert!(slow.clone().count() > 0 && count(&stats, Connected) > 12);
}
