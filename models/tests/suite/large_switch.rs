//! Switches of more than 64 ports, up to 192: all 32 port groups of Part 12.
use crate::common::*;
use models::Cause;
use models::config::*;
use models::run::{Partition, Whole};
use sim_core::Duration;

const PORTS: usize = 192;

/// A port of each group, at each place in a group; of group 31 it is the last one.
fn one_of_each_group() -> Vec<u32> {
    (0..32).map(|group| 6 * group + (group + 4) % 6).collect()
}

fn by_ingress() -> Option<Detector> {
    Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress })
}

/// 191 saturated inputs and one output. Whoever was served waits until all others have been: of any
/// 3 x 191 packets in a row each input has three.
#[test]
fn inputs_of_a_large_switch_have_equal_shares() {
    let direct = |arbitration| (Buffering::Direct, arbitration);
    let cases = [
        direct(Arbitration::RoundRobin),
        direct(Arbitration::Islip { iterations: 1 }),
        direct(Arbitration::OldestFirst),
        direct(Arbitration::LongestQueueFirst),
        (Buffering::Crosspoint { depth: 1 }, Arbitration::RoundRobin),
        (Buffering::Output { packets: 4 }, Arbitration::RoundRobin),
        (Buffering::Shared { packets: 4 }, Arbitration::RoundRobin),
    ];
    for (buffering, arbitration) in cases {
        let mut net = single(PORTS, switch(PORTS as u8));
        (net.switch_mut(0).buffering, net.switch_mut(0).arbitration) = (buffering, arbitration);
        for from in 0..191 {
            net.saturated(from, 0, 191);
        }
        let (log, _) = net.run(191 * 5 * T);
        let sources: Vec<u32> = log.deliveries.iter().map(|delivery| delivery.source).collect();
        assert!(sources.len() > 191 * 4, "{buffering:?}: the output never idles");
        let settled = &sources[191..];
        for window in [&settled[..191 * 3], &settled[settled.len() - 191 * 3..]] {
            for input in 0..191 {
                let share = window.iter().filter(|&&source| source == input).count();
                assert_eq!(share, 3, "{buffering:?} {arbitration:?}: input {input}");
            }
        }
    }
}

/// Burst after burst to one port of each group, whose link is slow: the sender's queue for that port stops
/// while its burst lasts, and no other one, also none of another sender. Packets for a port that nothing
/// congests are never staged.
///
/// Proves: VOQ-2.1-2, VOQ-2.1-3, VOQ-4.2-4, VOQ-4.3-3
#[test]
fn a_message_of_any_group_stops_the_port_that_it_names() {
    let hot = one_of_each_group();
    let mut net = single(PORTS, switch(PORTS as u8));
    net.backpressure(&StagingConfig::PerPort, by_ingress());
    net.switch_mut(0).staging = StagingConfig::None;
    net.switch_mut(0).reads_per_input = 4;
    net.buffers(32);
    let turn = 100 * T;
    let free = net.config.flows.len() as u16;
    net.constant(0, 0, 3, 20, 0);
    net.constant(1, 0, 2, 90, 0);
    for (n, &port) in hot.iter().enumerate() {
        net.slow(port as usize, 4);
        net.burst(0, 0, port, n as u64 * turn + T, 16);
    }
    let (log, _) = net.run(33 * turn);
    for (n, &port) in hot.iter().enumerate() {
        let stops = log.stops(0, 0, port as u8);
        let (from, until) = (n as u64 * turn, (n as u64 + 1) * turn);
        assert!(!stops.is_empty(), "port {port} is congested");
        assert!(stops.iter().all(|&(stop, go)| from < stop && go < until), "port {port}: {stops:?}");
        // The port is known as the cause, and none that would share the queue.
        let spent = |cause| log.of(free + 2 + n as u16).map(|delivery| delivery.parts[cause]).sum::<u64>();
        assert!(spent(Cause::Staged) > 0 && spent(Cause::HeadOfLine) == 0, "port {port}");
    }
    let named = |edge: &models::probe::StagingEdge| edge.device == 0 && hot.contains(&edge.queue.into());
    assert!(log.edges.iter().all(named), "nothing else is stopped");
    assert!(log.of(free).count() > 500);
    assert!(log.of(free).all(|delivery| delivery.parts[Cause::Staged] == 0));
}

/// Likewise between switches: a port of the last group of the second one is congested, and the first one
/// holds back what goes there.
///
/// Proves: VOQ-1.1-2, VOQ-2.1-2
#[test]
fn a_switch_holds_back_what_goes_to_a_port_of_the_last_group() {
    // Endpoints 0 and 1 at the first switch, 190 at the second, whose port 190 is the trunk.
    let mut at = vec![1; 192];
    at[..2].fill(0);
    let mut net = Net::new(vec![switch(3), switch(191)], &at, &[(0, 1)]);
    net.backpressure(&StagingConfig::PerPort, by_ingress());
    net.buffers(32);
    net.switch_mut(0).reads_per_input = 4;
    net.switch_mut(1).reads_per_input = 4;
    let last = net.endpoints - 1;
    net.slow(last as usize, 4);
    net.burst(0, 0, last, 0, 40);
    let victim = net.config.flows.len() as u16;
    net.constant(1, 0, 2, 20, 0);
    let (log, _) = net.run(300 * T);
    let first = net.endpoints;
    assert!(!log.stops(first, 2, 189).is_empty(), "the trunk stages for port 189 of the second switch");
    assert!(log.edges.iter().filter(|edge| edge.device == first).all(|edge| edge.queue == 189));
    assert!(log.of(victim).all(|delivery| delivery.parts[Cause::Staged] == 0));
}

/// To tell all about 192 ports takes 32 messages.
///
/// Proves: VOQ-2.1-8
#[test]
fn a_refresh_of_a_large_switch_is_a_message_for_each_group() {
    let mut net = single(PORTS, switch(PORTS as u8));
    net.backpressure(&StagingConfig::PerPort, by_ingress());
    net.switch_mut(0).refresh = Some(Duration(40 * T));
    net.constant(1, 0, 0, 50, 0);
    let (_, outcome) = net.run(400 * T);
    let told = totals(&outcome, net.endpoints, 0);
    assert_eq!(told.voq_refreshes, 9);
    assert_eq!(told.voq_riding + told.voq_standalone, 9 * 32);
}

/// A packet that meets nobody takes as long through 192 ports as through 4, with every buffering.
#[test]
fn a_hop_takes_its_time_whatever_the_number_of_ports() {
    let buffering = [
        Buffering::Direct,
        Buffering::Crosspoint { depth: 1 },
        Buffering::Output { packets: 1 },
        Buffering::Shared { packets: 1 },
    ];
    for buffering in buffering {
        let journey = |ports: usize| {
            let mut net = single(ports, switch(ports as u8));
            net.switch_mut(0).buffering = buffering;
            net.burst(0, 0, ports as u32 - 1, 7, 1);
            let (log, _) = net.run(10 * T);
            let [one] = &log.deliveries[..] else { panic!("one packet is delivered") };
            (one.at, one.parts)
        };
        assert_eq!(journey(192), journey(4), "{buffering:?}");
        assert_eq!(journey(65), journey(4), "{buffering:?}");
    }
}

/// Copies leave through ports of every word of a set, each once, and none back.
///
/// Proves: VOQ-4.3-10
#[test]
fn copies_leave_through_all_ports_of_a_large_mask() {
    let mut net = single(PORTS, switch(PORTS as u8));
    net.backpressure(&StagingConfig::PerPort, by_ingress());
    net.switch_mut(0).reads_per_input = 4;
    net.buffers(32);
    let members = [0, 63, 64, 127, 128, 191];
    let group = net.multicast(&members);
    net.burst(0, 0, group, 0, 20);
    // What makes port 191 a slow one stops the whole set at the sender.
    net.slow(191, 8);
    let (log, _) = net.run(400 * T);
    for &member in &members[1..] {
        let copies = log.deliveries.iter().filter(|delivery| delivery.destination == member).count();
        assert_eq!(copies, 20, "member {member}");
    }
    assert!(log.deliveries.iter().all(|delivery| members[1..].contains(&delivery.destination)));
    let stopped = log.edges.iter().filter(|edge| edge.device == 0 && edge.stopped);
    assert!(stopped.clone().any(|edge| edge.queue == 191) && stopped.clone().any(|edge| edge.queue == 192));
    assert!(stopped.clone().all(|edge| edge.queue == 191 || edge.queue == 192));
}

/// A switch may have 256 masks: each is found by its number, also those above 126.
#[test]
fn all_masks_of_a_switch_are_found() {
    for ports in [8, 65] {
        let mut net = single(ports, switch(ports as u8));
        let groups: Vec<(u32, u32)> = (0..256).map(|n| (net.multicast(&[1 + n % 7]), 1 + n % 7)).collect();
        for (n, &(group, _)) in groups.iter().enumerate() {
            net.burst(0, 0, group, n as u64 * 2 * T, 1);
        }
        let (mut log, _) = net.run(520 * T);
        // Those of one sink are told together.
        log.deliveries.sort_by_key(|delivery| delivery.at);
        let taken: Vec<u32> = log.deliveries.iter().map(|delivery| delivery.destination).collect();
        assert_eq!(taken, groups.iter().map(|&(_, member)| member).collect::<Vec<u32>>());
    }
}

/// F-15: an endpoint has a lane for each staging queue and serves them in turn, so each port of its neighbour
/// has the same share of its link, whatever its number. Of any three rounds each has three packets.
#[test]
fn an_endpoint_serves_all_ports_of_a_large_switch_alike() {
    let tables = |queue: u8| {
        let of_port = |port: u8| if port == 2 { queue } else { port.min(60) };
        StagingConfig::Table((0..64).map(of_port).collect())
    };
    for (ports, staging, to) in [
        (64, StagingConfig::PerPort, &[1, 2, 62, 63][..]),
        (64, tables(64), &[1, 2, 3]),
        (64, tables(191), &[1, 2, 3]),
        (66, StagingConfig::PerPort, &[1, 2, 62, 63, 64, 65]),
        (80, StagingConfig::PerPort, &[1, 2, 70, 71, 72, 73]),
        (PORTS, StagingConfig::PerPort, &[1, 63, 64, 128, 190, 191]),
        (PORTS, StagingConfig::Modulo(100), &[1, 63, 98, 99]),
    ] {
        let mut net = single(ports, switch(ports as u8));
        net.backpressure(&staging, by_ingress());
        net.switch_mut(0).staging = StagingConfig::None;
        for &port in to {
            net.saturated(0, 0, port);
        }
        let (mut log, _) = net.run(to.len() as u64 * 6 * T);
        // Sinks tell of what came when somebody looks.
        log.deliveries.sort_by_key(|delivery| delivery.at);
        let got: Vec<u32> = log.deliveries.iter().map(|delivery| delivery.destination).collect();
        let rounds = &got[to.len()..][..3 * to.len()];
        for port in to {
            let share = rounds.iter().filter(|&at| at == port).count();
            assert_eq!(share, 3, "{ports} ports, {staging:?}: port {port} of {rounds:?}");
        }
    }
}

/// Parts of a fabric are compiled for sets of one word.
#[test]
fn a_fabric_with_a_large_switch_runs_on_one_thread() {
    let row =
        |ports: u8| Net::new(vec![switch(ports), switch(3)], &vec![0; usize::from(ports) - 1], &[(0, 1)]);
    assert_eq!(Partition::by_lot(&row(65).config, 2, 1).err(), Some(Whole::LargeSwitch));
    assert_ne!(Partition::by_lot(&row(64).config, 2, 1).err(), Some(Whole::LargeSwitch));
}
