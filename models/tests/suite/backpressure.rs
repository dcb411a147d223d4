//! What a message of one switch does to the transmitters on the other side of its links.
use crate::common::*;
use models::config::*;
use models::probe::{PacketId, PacketStep};
use models::{Cause, Parts, Probe, Progress, RunOptions};
use sim_core::{Duration, Time};
use std::sync::Arc;

const END: u64 = 1_000 * T;
const PROPAGATION: u64 = 20_000;

fn detector(x_on: u16, x_off: u16, verdict: Verdict) -> Option<Detector> {
    Some(Detector { x_on, x_off, verdict })
}

/// One switch that stages nothing itself; its endpoints stage by its ports.
fn star(ports: usize, detector: Option<Detector>) -> Net {
    let mut net = single(ports, switch(ports as u8));
    net.backpressure(&StagingConfig::PerPort, detector);
    net.switch_mut(0).staging = StagingConfig::None;
    net.switch_mut(0).reads_per_input = 4;
    net.buffers(32);
    net
}

/// Endpoints 0 and 1 at the first switch, 2..6 at the second, whose ports 0..4 lead to them.
fn chain(detector: Option<Detector>) -> Net {
    let mut net = Net::new(vec![switch(3), switch(5)], &[0, 0, 1, 1, 1, 1], &[(0, 1)]);
    net.backpressure(&StagingConfig::PerPort, detector);
    net.buffers(32);
    for s in 0..2 {
        net.switch_mut(s).reads_per_input = 4;
    }
    net
}

/// The port of the first switch of [`chain`] that leads to the second.
const TRUNK: (u32, u8) = (6, 2);

/// Both neighbours hear that port 2 is congested, each with its own link's queue, and of no other port.
///
/// Proves: VOQ-1.1-1, VOQ-2.2-4
#[test]
fn every_upstream_neighbour_is_told_per_egress_port() {
    let mut net = star(5, detector(4, 2, Verdict::PerIngress));
    net.slow(2, 4);
    for from in [0, 1] {
        net.saturated(from, 0, 2);
        net.constant(from, 0, 3, 30, u64::from(from) * T);
    }
    let (log, _) = net.run(END);
    for device in [0, 1] {
        assert!(log.stops(device, 0, 2).len() > 10, "endpoint {device} is told");
    }
    assert!(log.edges.iter().all(|e| e.queue == 2 && e.device < 2 && e.port == 0), "nothing else is stopped");
}

/// Packets for port 3 that were created behind those for port 2 leave while queue 2 is stopped; with the
/// feature off the FIFO keeps them behind, so each leaves the switch only after the hot packet before it.
///
/// Proves: VOQ-1.1-2, VOQ-1.1-3, VOQ-4.3-3
#[test]
fn traffic_for_other_ports_overtakes_what_is_held_back() {
    // 60 hot packets at once, then a victim every 2 T.
    let build = |on: bool| {
        let mut net = star(4, detector(4, 2, Verdict::PerIngress));
        net.slow(2, 8);
        if !on {
            net.switch_mut(0).detector = None;
            net.switch_mut(0).input = InputQueueing::Fifo;
            net.endpoint_mut(0).staging = StagingConfig::None;
            // Few enough that the hot packets fill them.
            net.buffers(8);
        }
        net.burst(0, 0, 2, 0, 60);
        net.constant(0, 0, 3, 50, 1).limit = 60;
        net
    };
    let (log, _) = build(true).run(END);
    let stops = log.stops(0, 0, 2);
    let inside = |t: u64| stops.iter().any(|s| s.0 < t && t < s.1);
    let started_inside = log.of(1).filter(|d| inside(injected_at(d))).count();
    assert!(started_inside > 30, "{started_inside} victims left while the hot queue was stopped");
    let last_victim = log.of(1).map(|d| d.at).max().unwrap();
    assert!(log.of(0).filter(|d| d.at > last_victim).count() > 30, "they overtook the hot packets");
    assert_eq!(log.deliveries.len(), 120);

    let (log, outcome) = build(false).run(END);
    assert_eq!(log.deliveries.len(), 120);
    assert_eq!(totals(&outcome, 0, 0).stopped_ps, 0);
    let hot_starts: Vec<u64> = log.of(0).map(|d| d.at.0 - 8 * T - PROPAGATION).collect();
    for victim in log.of(1) {
        // All hot packets were created before the first victim: all of them have left the switch.
        assert!(hot_starts.iter().all(|h| *h <= victim.at.0 - T - PROPAGATION), "{victim:?}");
    }
}

/// A fabric that has every part of the feature, but no port that generates or honours, behaves as one without
/// it.
///
/// Proves: VOQ-1.1-4, VOQ-4.1-1, VOQ-5.1.2.2-7
#[test]
fn disabled_at_every_port_is_the_same_as_absent() {
    let build = |present: bool, reception: bool| {
        let mut net = chain(detector(4, 2, Verdict::PerIngress));
        for device in &mut net.config.devices {
            for p in &mut device.ports {
                p.voq = PortVoq::default();
                (p.voq.gen_sup, p.voq.rx_sup) = (present, present && reception);
            }
            match &mut device.model {
                DeviceModel::Switch(s) if present => s.refresh = Some(Duration(50 * T)),
                DeviceModel::Switch(s) => (s.detector, s.staging) = (None, StagingConfig::None),
                // Honouring endpoints serve their queues in turn, which is not what a FIFO does: that is a
                // property of their queues, not of messages.
                DeviceModel::Endpoint(e) if !present || reception => e.staging = StagingConfig::None,
                DeviceModel::Endpoint(_) => {}
            }
        }
        net.slow(2, 4);
        for from in [0, 1, 3] {
            net.saturated(from, 0, 2);
            net.constant(from, 1, 4, 20, 0);
            net.constant(from, 2, 5, 20, 7);
        }
        net
    };
    let absent = build(false, false).run(END);
    for reception in [false, true] {
        let disabled = build(true, reception).run(END);
        assert_eq!(disabled.1.outcome, absent.1.outcome);
        assert_eq!(disabled.1.trajectory, absent.1.trajectory);
        assert_eq!(disabled.1.ports, absent.1.ports);
    }
    let mut enabled = build(true, true);
    enabled.backpressure(&StagingConfig::PerPort, detector(4, 2, Verdict::PerIngress));
    assert_ne!(enabled.run(END).1.outcome, absent.1.outcome, "enabled it makes a difference");
}

/// Each switch of a link reports its own congested port over it at the same time.
///
/// Proves: VOQ-1.2-1, VOQ-1.2-2
#[test]
fn messages_travel_both_ways_on_one_link() {
    let mut net = chain(detector(4, 2, Verdict::PerIngress));
    net.slow(1, 4);
    net.slow(3, 4);
    for (from, to) in [(0, 3), (0, 4), (2, 1), (2, 0)] {
        net.saturated(from, 0, to);
    }
    let (log, outcome) = net.run(END);
    // Endpoint 3 is port 1 of the second switch, endpoint 1 is port 1 of the first.
    for (device, port, queue) in [(6, 2, 1), (7, 4, 1)] {
        let at = totals(&outcome, device, port);
        assert!(at.voq_received > 20, "{at:?}");
        assert!(at.voq_riding + at.voq_standalone > 20, "{at:?}");
        assert!(log.stops(device, port, queue).len() > 10, "device {device} stages");
        let others = log.edges.iter().filter(|e| e.device == device && (e.port, e.queue) != (port, queue));
        assert_eq!(others.count(), 0);
    }
    // Both directions at once: some stops overlap.
    let (a, b) = (log.stops(6, 2, 1), log.stops(7, 4, 1));
    assert!(a.iter().any(|x| b.iter().any(|y| x.0 < y.1 && y.0 < x.1)));
}

/// Ports of one device differ. A port of the first switch that honours none is told by the second one, and
/// stops nobody; it goes on sending. A port of the second switch that sends none honours what it is told.
/// Each switch has other ports that do both.
///
/// Proves: VOQ-4.1-2, VOQ-4.1-3
#[test]
fn a_port_may_send_without_honouring_and_the_reverse() {
    let run = |first_honours: bool, second_sends: bool| {
        let mut net = chain(detector(4, 2, Verdict::Shared));
        net.ports_mut(0)[2].voq.rx_sup = first_honours;
        net.ports_mut(1)[4].voq.gen_en = second_sends;
        net.slow(1, 4);
        net.slow(3, 4);
        for (from, to) in [(0, 3), (0, 4), (2, 1), (2, 0)] {
            net.saturated(from, 0, to);
        }
        let (log, outcome) = net.run(END);
        // The second switch tells its own endpoint of the same port.
        assert!(!log.stops(2, 0, 1).is_empty());
        let (first, second) = (totals(&outcome, 6, 2), totals(&outcome, 7, 4));
        let sent = |at: &models::stats::PortStats| at.voq_riding + at.voq_standalone > 20;
        assert!(sent(&first) && second.voq_received > 20, "the first one sends: {first:?} {second:?}");
        assert_eq!((sent(&second), first.voq_received > 20), (second_sends, first_honours && second_sends));
        [log.stops(6, 2, 1).len() > 10, log.stops(7, 4, 1).len() > 10]
    };
    assert_eq!(run(true, true), [true, true]);
    assert_eq!(run(false, true), [false, true], "told, and deaf");
    assert_eq!(run(true, false), [false, true], "nobody tells the first one");
}

/// A switch that queues by input tells of a congested output where packets wait for it, and nowhere else: two
/// of four endpoints send there. With one verdict for all inputs everybody is told.
///
/// Proves: VOQ-2.5-2
#[test]
fn who_has_nothing_for_a_congested_port_is_not_told() {
    for (verdict, told) in [(Verdict::PerIngress, [true, true, false, false]), (Verdict::Shared, [true; 4])] {
        let mut net = single(4, SwitchConfig { reads_per_input: 2, ..switch(4) });
        net.backpressure(&StagingConfig::PerPort, detector(4, 2, verdict));
        net.slow(2, 4);
        for (from, to) in [(0, 2), (1, 2), (3, 0), (2, 3)] {
            net.saturated(from, 0, to);
        }
        let (log, outcome) = net.run(END);
        assert!(log.edges.iter().all(|edge| edge.queue == 2), "{verdict:?}");
        let sent = [0, 1, 2, 3].map(|port| {
            let at = totals(&outcome, 4, port);
            at.voq_riding + at.voq_standalone > 0
        });
        assert_eq!(sent, told, "{verdict:?}");
    }
}

/// Three switches in a row. The last reports congestion; the middle one, which has none, tells nobody.
///
/// Proves: VOQ-2-1
#[test]
fn a_message_is_not_forwarded() {
    let mut net = Net::new(vec![switch(2), switch(3), switch(3)], &[0, 1, 2, 2], &[(0, 1), (1, 2)]);
    net.backpressure(&StagingConfig::PerPort, detector(4, 2, Verdict::Shared));
    net.switch_mut(1).detector = None;
    net.buffers(40);
    net.slow(2, 4);
    net.burst(0, 0, 2, 0, 30);
    let (log, outcome) = net.run(END);
    assert_eq!(outcome.delivered, 30);
    // Switch devices 4, 5, 6; ports: (0: e0, trunk), (1: e1, trunk to 0, trunk to 2), (2: e2, e3, trunk).
    assert!(totals(&outcome, 5, 2).voq_received >= 2);
    assert!(!log.stops(5, 2, 0).is_empty());
    for (device, port) in [(4, 0), (4, 1), (5, 1), (0, 0), (1, 0)] {
        assert_eq!(totals(&outcome, device, port).voq_received, 0, "device {device} port {port}");
    }
    assert!(log.edges.iter().all(|e| e.device == 5 || e.device >= 2 && e.device < 4));
}

/// A queue that is stopped from the beginning puts nothing on the link or into the buffers of the neighbour,
/// which the traffic for other ports shares: that traffic has the whole link.
///
/// Proves: VOQ-2.2-1, VOQ-4.3-2, VOQ-4.3-3, VOQ-4.3-4
#[test]
fn stopped_traffic_takes_nothing_that_others_share() {
    for upstream_is_switch in [false, true] {
        let mut net = chain(None);
        let (downstream, stopped, clear) = if upstream_is_switch {
            net.ports_mut(1)[0].voq.xoff = true;
            // Endpoint 0 sends it all without staging, the first switch holds it.
            net.endpoint_mut(0).staging = StagingConfig::None;
            net.buffers(61);
            (7, 2, 3)
        } else {
            net.ports_mut(0)[1].voq.xoff = true;
            (6, 1, 3)
        };
        // All priorities of the stopped port; the other port gets the lowest only.
        for priority in 0..4 {
            net.constant(0, priority, stopped, 10, 10 * T).limit = 8;
        }
        net.config.sample_every = Some(Duration(T / 3));
        net.saturated(0, 0, clear).start = sim_core::Time(10 * T);
        let (log, outcome) = net.run(END);
        assert!((0..4).all(|flow| log.of(flow).count() == 0), "all priorities are stopped");
        assert!(log.rate(4, 100 * T, END) > 0.99, "the link is free for the others");
        let device = if upstream_is_switch { TRUNK } else { (0, 0) };
        assert_eq!(totals(&outcome, device.0, device.1).xoff_edges, 1);
        // A receive buffer of the neighbour holds at most what passes through.
        for sample in &log.samples {
            for (n, &(at, _)) in sample.ports.iter().enumerate() {
                assert!(at != downstream || sample.input_occupancy[n] <= 2, "{sample:?}");
            }
        }
    }
}

/// The value that names the next-hop port of a packet names its queue and is the key of the status bit: a bit
/// for port p stops the packets for p and no others, for every p; packets without such a value are never
/// stopped.
///
/// Proves: VOQ-2.2-4, VOQ-2.2-6
#[test]
fn a_status_bit_acts_on_the_queue_of_its_port() {
    for stopped in 0..4u32 {
        let mut net = chain(None);
        net.ports_mut(1)[stopped as usize].voq.xoff = true;
        for to in 2..6 {
            // What is stopped waits in the buffers of the first switch, so there is room for all of it.
            net.constant(0, 0, to, 20, 10 * T).limit = 20;
        }
        let (log, _) = net.run(END);
        for flow in 0..4u32 {
            let expected = if flow == stopped { 0 } else { 20 };
            assert_eq!(log.of(flow as u16).count(), expected, "bit {stopped}, port {flow}");
        }
        assert_eq!(log.stops(TRUNK.0, TRUNK.1, stopped as u8).len(), 1);
    }
    // All ports of the neighbour are stopped: only packets without a next-hop value still go.
    let mut net = chain(None);
    net.ports_mut(1).iter_mut().for_each(|p| p.voq.xoff = true);
    let entries = &mut net.switch_mut(0).routes.entries;
    entries[3].next_hop = NO_PORT;
    for to in 2..6 {
        net.constant(0, 0, to, 20, 10 * T).limit = 9;
    }
    let (log, _) = net.run(END);
    let delivered = [0, 1, 2, 3].map(|flow| log.of(flow).count());
    assert_eq!(delivered, [0, 9, 0, 0], "the unstaged queue is never stopped");
    // The same at an endpoint whose table does not know an id.
    let mut net = star(4, None);
    net.ports_mut(0).iter_mut().for_each(|p| p.voq.xoff = true);
    Arc::make_mut(&mut net.endpoint_mut(0).next_hop)[2] = NO_PORT;
    for to in 1..4 {
        net.constant(0, 0, to, 20, 10 * T);
    }
    let (log, _) = net.run(END);
    assert_eq!(log.of(0).count() + log.of(2).count(), 0);
    assert!(log.rate(1, 100 * T, END) > 0.19);
}

/// Ports 2 and 4 share queue 0. Port 4 is driven by bursts of a neighbour that does not listen.
fn two_ports_in_one_queue(port_2_forced: bool, port_4_bursts: bool) -> (Log, models::Outcome) {
    let mut net = star(6, detector(4, 2, Verdict::Shared));
    net.endpoint_mut(0).staging = StagingConfig::Modulo(2);
    net.config.devices[1].ports[0].voq.rx_sup = false;
    net.ports_mut(0)[2].voq.xoff = port_2_forced;
    net.slow(4, 2);
    if port_4_bursts {
        for n in 0..5 {
            net.burst(1, 0, 4, 10 * T + n * 100 * T, 20);
        }
    }
    net.constant(0, 0, 2, 30, 5 * T);
    net.constant(0, 0, 3, 30, 5 * T);
    net.run(END)
}

/// A queue for two ports stops when either is congested and goes only when both are clear.
///
/// Proves: VOQ-2.3-3, VOQ-2.3-4, VOQ-4.3-9
#[test]
fn a_shared_queue_stops_for_either_port_and_goes_for_both() {
    // Port 4 alone: the queue stops with each burst and goes after it.
    let (log, _) = two_ports_in_one_queue(false, true);
    let stops = log.stops(0, 0, 0);
    assert_eq!(stops.len(), 5);
    assert!(stops.iter().all(|s| s.1 - s.0 > 10 * T && s.1 != u64::MAX));
    for d in log.of(5) {
        let start = injected_at(d);
        // One delimiter or status may still be on the wire when a packet is committed.
        assert!(stops.iter().all(|s| start <= s.0 + T_CS || start >= s.1), "started at {start} in {stops:?}");
    }
    assert!(log.of(5).any(|d| d.parts[Cause::HeadOfLine] > 0), "held for the other port's sake");
    // Port 2 alone: stopped for ever.
    let (log, _) = two_ports_in_one_queue(true, false);
    assert_eq!(log.stops(0, 0, 0).len(), 1);
    assert_eq!(log.stops(0, 0, 0)[0].1, u64::MAX);
    // Both: port 4 clears five times, and the queue stays stopped for port 2.
    let (log, outcome) = two_ports_in_one_queue(true, true);
    assert_eq!(log.stops(0, 0, 0).len(), 1);
    assert_eq!(log.stops(0, 0, 0)[0].1, u64::MAX);
    assert!(totals(&outcome, 0, 0).voq_received >= 11, "its clear messages came");
    assert_eq!(log.of(5).count(), 0);
    assert!(log.rate(6, 100 * T, END) > 0.29, "port 3 has another queue");
}

/// The bit of a shared verdict goes to every enabled port, also where no traffic for the output comes from,
/// and through no other port.
///
/// Proves: VOQ-2.5-1, VOQ-4.2-1, VOQ-4.2-5
#[test]
fn a_shared_verdict_is_offered_to_every_enabled_port() {
    let mut net = star(8, detector(4, 2, Verdict::Shared));
    for port in [3, 6] {
        net.ports_mut(0)[port].voq.gen_en = false;
    }
    net.slow(2, 4);
    for from in [0, 1] {
        net.burst(from, 0, 2, 0, 40);
        net.burst(from, 0, 2, 500 * T, 40);
    }
    let (log, outcome) = net.run(END);
    for device in 0..8 {
        let (sent, heard) = (totals(&outcome, 8, device as u8), totals(&outcome, device, 0));
        assert_eq!(sent.voq_riding + sent.voq_standalone, heard.voq_received);
        if [3, 6].contains(&device) {
            assert_eq!(heard.voq_received, 0, "port {device} is not enabled");
        } else {
            assert!(log.stops(device, 0, 2).len() >= 2, "endpoint {device} is told of each congestion");
            assert!(log.stops(device, 0, 2).iter().all(|s| s.1 != u64::MAX), "and of its end");
        }
    }
}

/// The first stop comes exactly when the packet that reaches X_on has been counted, the symbol has been
/// generated, sent and has travelled back.
///
/// Proves: VOQ-4.2-5, VOQ-4.2-6
#[test]
fn the_first_stop_comes_at_the_computed_instant() {
    for (x_on, delay, pipeline) in [(1u64, 0u64, 0u64), (4, 0, 100_000), (7, 70_000, 100_000)] {
        let mut net = star(4, detector(x_on as u16, 0, Verdict::PerIngress));
        net.switch_mut(0).pipeline = Duration(pipeline);
        net.switch_mut(0).generation_delay = Duration(delay);
        net.slow(2, 1_000);
        net.saturated(0, 0, 2);
        let (log, _) = net.run(END);
        // Packet 0 goes straight to the transmitter; packet x_on is the x_on-th that waits.
        let counted = (x_on + 1) * T + PROPAGATION + pipeline;
        assert_eq!(log.stops(0, 0, 2)[0].0, counted + delay + T_CS + PROPAGATION);
    }
}

/// Input 0 waits for the slow port 2 with many packets. A packet of input 1 for port 2 is served in the next
/// turn, a packet of input 0 for port 3 at once: each (input, output) pair has its own queue.
///
/// Proves: VOQ-2.5-3
#[test]
fn each_pair_of_ports_has_a_queue_of_its_own() {
    let ports = 6u32;
    for slow in 0..ports {
        let mut net = star(ports as usize, None);
        net.slow(slow as usize, 10);
        let deep = (slow + 1) % ports;
        net.burst(deep, 0, slow, 0, 25);
        // From every input one packet for every output, when the backlog stands.
        for from in 0..ports {
            for to in 0..ports {
                if from != to {
                    net.burst(from, 0, to, 40 * T, 1);
                }
            }
        }
        let (log, _) = net.run(END);
        for d in log.deliveries.iter().filter(|d| d.flow > 0) {
            assert_eq!(d.parts[Cause::HeadOfLine], 0, "{d:?}");
            let turns = d.parts[Cause::OutputContention] + d.parts[Cause::InputContention];
            if d.destination == slow {
                // One turn of the other inputs and the packet in service; the deep queue's own waits behind
                // it.
                assert!(d.source == deep || turns <= u64::from(ports) * 10 * (T + T_CS), "{d:?}");
            } else {
                // Never behind the slow port: a turn of the fast inputs.
                assert!(turns <= u64::from(ports) * (T + 2 * T_CS), "{d:?}");
            }
        }
        let last = log.of(0).map(|d| d.at).max().unwrap();
        assert!(log.deliveries.iter().filter(|d| d.flow > 0 && d.source != deep).all(|d| d.at < last));
    }
}

/// On a saturated direction each refresh of a switch with 18 ports sends three messages: one rides on the
/// delimiter between packets, two take 8 characters each.
///
/// Proves: VOQ-2.5-6
#[test]
fn messages_that_do_not_ride_are_charged_to_the_link() {
    for refresh in [None, Some(20), Some(50)] {
        let mut net = single(18, switch(18));
        net.switch_mut(0).refresh = refresh.map(|n| Duration(n * T));
        net.ports_mut(0)[0].voq = voq_port().voq;
        for from in [1, 2] {
            net.saturated(from, 0, 0);
        }
        let (log, outcome) = net.run(END);
        let port = totals(&outcome, 18, 0);
        assert_eq!(port.voq_refreshes > 10, refresh.is_some());
        assert_eq!(port.voq_riding, port.voq_refreshes);
        assert_eq!(port.voq_standalone, 2 * port.voq_refreshes);
        assert_eq!(port.voq_refresh_messages, 3 * port.voq_refreshes);
        assert_eq!(port.symbol_ps, port.voq_standalone * T_CS, "nothing else needs characters");
        // No other gap: from the first packet's start to the last packet's end.
        let first = log.deliveries[0].at.0 - T;
        let last = log.deliveries.last().unwrap().at.0;
        let charged = (last - first) - log.deliveries.len() as u64 * T;
        // A refresh just before the packet that is still on the wire is not seen by a delivery.
        let seen = port.symbol_ps;
        assert!(charged == seen || charged + 2 * T_CS == seen, "{charged} of {seen}");
    }
}

/// A link on short control symbols carries no message: the neighbour is neither told nor stopped, and
/// everything is as if the port did not generate.
///
/// Proves: VOQ-3-1, VOQ-4.1-4
#[test]
fn no_message_on_short_symbols() {
    let build = |long: bool, enabled: bool| {
        let mut net = star(4, detector(4, 2, Verdict::PerIngress));
        net.config.links[0].long_symbols = long;
        net.config.links[0].symbol_chars = 4;
        net.switch_mut(0).refresh = Some(Duration(100 * T));
        net.ports_mut(0)[0].voq.gen_en = enabled;
        net.slow(2, 4);
        net.saturated(0, 0, 2);
        net.saturated(0, 0, 3);
        net.saturated(1, 0, 2);
        // Before which a refresh would be charged.
        net.constant(1, 0, 0, 10, 0);
        net.run(END)
    };
    let (log, outcome) = build(false, true);
    let sent = totals(&outcome, 4, 0);
    assert_eq!((sent.voq_riding, sent.voq_standalone, sent.voq_refreshes), (0, 0, 0));
    assert_eq!(totals(&outcome, 0, 0).voq_received, 0);
    assert!(log.stops(0, 0, 2).is_empty());
    assert!(log.stops(1, 0, 2).len() > 1, "the neighbour on long symbols is told");
    let never = build(false, false).1;
    assert_eq!((outcome.outcome, &outcome.ports), (never.outcome, &never.ports));
    assert!(totals(&build(true, true).1, 0, 0).xoff_edges > 1);
}

/// A refresh is sent once for each instant at which it is due: also if a message was lost, or two, and if a
/// packet is committed at that instant.
#[test]
fn a_refresh_is_sent_once_each_time_that_it_is_due() {
    const R: u64 = 200 * T;
    // From the creation of a packet at endpoint 1 to its commitment at the switch.
    let way = T + 20_000 + 100_000;
    let build = |packets: &[u64], lost: &[u32], until: u64| {
        let mut net = star(4, None);
        net.switch_mut(0).refresh = Some(Duration(R));
        // At 0 the neighbours are told.
        net.ports_mut(0)[2].voq.xoff = true;
        let loss = |&nth| SymbolLoss { device: 4, port: 0, kind: LossKind::Any, nth };
        net.config.symbol_losses = lost.iter().map(loss).collect();
        for &at in packets {
            net.burst(1, 0, 0, at - way, 1);
        }
        let (log, outcome) = net.run(until);
        let port = totals(&outcome, 4, 0);
        assert_eq!(port.voq_lost, lost.len() as u64);
        let sent = port.voq_riding + port.voq_standalone;
        let stops: Vec<u64> = log.stops(0, 0, 2).iter().map(|stop| stop.0).collect();
        (port.voq_refreshes, sent, stops)
    };
    let told = |at: u64| vec![at + T_CS + PROPAGATION];
    // Nothing lost: a packet pays, at the instant itself, or for two instants at once.
    assert_eq!(build(&[R], &[], 2 * R - 1), (1, 2, told(0)));
    assert_eq!(build(&[2 * R + 1], &[], 3 * R - 1), (1, 2, told(0)));
    // The message of 0 is lost, its repetition tells: without a packet, and with one at that instant.
    assert_eq!(build(&[], &[1], 2 * R - 1), (1, 2, told(R)));
    assert_eq!(build(&[R], &[1], 2 * R - 1), (1, 2, told(R)));
    assert_eq!(build(&[R, 2 * R], &[1], 3 * R - 1), (2, 3, told(R)));
    // The repetition is lost as well.
    assert_eq!(build(&[R, 2 * R], &[1, 2], 3 * R - 1), (2, 3, told(2 * R)));
    assert_eq!(build(&[3 * R], &[1, 2], 4 * R - 1), (3, 4, told(2 * R)));
}

/// Two losses are repaired by one refresh; one that was due before a loss is still charged to the next
/// packet, unless the refresh that repairs comes first.
#[test]
fn a_loss_changes_no_other_refresh() {
    const R: u64 = 200 * T;
    let cases = [
        (vec![1, 2], R / 4, None, 2 * R - 1, 1),
        (vec![2], R + R / 4, None, 3 * R - 1, 1),
        (vec![2], R + R / 4, Some(2 * R - R / 4), 3 * R - 1, 2),
    ];
    for (lost, burst, packet, until, refreshes) in cases {
        let mut net = star(4, detector(4, 2, Verdict::Shared));
        net.config.devices[1].ports[0].voq.rx_sup = false;
        net.switch_mut(0).refresh = Some(Duration(R));
        // At 0 the neighbours are told of port 2; port 3 is congested for a while, and clear again.
        net.ports_mut(0)[2].voq.xoff = true;
        net.slow(3, 4);
        net.burst(1, 0, 3, burst, 8);
        if let Some(at) = packet {
            net.burst(1, 0, 0, at, 1);
        }
        let loss = |&nth| SymbolLoss { device: 4, port: 0, kind: LossKind::Any, nth };
        net.config.symbol_losses = lost.iter().map(loss).collect();
        let (_, outcome) = net.run(until);
        let port = totals(&outcome, 4, 0);
        assert_eq!(
            (port.voq_lost, port.voq_refreshes),
            (lost.len() as u64, refreshes),
            "{lost:?} {packet:?}"
        );
        assert_eq!(port.voq_riding + port.voq_standalone, 3 + refreshes, "three changes, and refreshes");
    }
}

/// No packet of a stopped port is committed between stop and release; one that is on the wire when the stop
/// arrives is completed in its normal time, and none is lost. From the status to the last commitment no time
/// passes: a packet that starts later was committed before, and waited for the end of a symbol. (That one
/// which is refused is sent again is shown where packets are refused.)
///
/// Proves: VOQ-4.3-2, VOQ-4.3-5, VOQ-4.3-11
#[test]
fn a_committed_packet_completes_and_no_other_starts() {
    // Phases of the hot source, so that stops arrive at all places inside a packet.
    let mut on_the_wire = 0;
    for phase in 0..16 {
        let mut net = star(4, detector(3, 1, Verdict::PerIngress));
        net.config.links[0].propagation = Duration(PROPAGATION + phase * T / 16);
        net.slow(2, 3);
        net.burst(0, 0, 2, 0, 80);
        net.constant(0, 0, 3, 30, 3).limit = 40;
        let (log, outcome) = net.run(END);
        assert_eq!((outcome.delivered, outcome.in_flight), (120, 0));
        let stops = log.stops(0, 0, 2);
        assert!(stops.len() > 5);
        for d in log.of(0) {
            let start = injected_at(d);
            assert!(stops.iter().all(|s| start <= s.0 + T_CS || start >= s.1), "{start} in {stops:?}");
            if stops.iter().any(|s| start < s.0 && s.0 < start + T) {
                on_the_wire += 1;
                assert_eq!(d.parts[Cause::Serialization], T + 3 * T, "neither cut nor stretched");
            }
        }
    }
    assert!(on_the_wire > 50, "{on_the_wire} packets were on the wire when a stop came");
}

/// Forcing the reported status moves no packet when nobody honours it.
///
/// Proves: VOQ-5.1.2.2-8
#[test]
fn a_forced_status_acts_only_through_a_neighbour_that_honours_it() {
    let build = |forced: bool, honoured: bool| {
        let mut net = chain(None);
        net.ports_mut(1)[1].voq.xoff = forced;
        for device in &mut net.config.devices {
            device.ports.iter_mut().for_each(|p| p.voq.rx_sup = honoured);
        }
        for (from, to) in [(0, 2), (0, 3), (1, 3), (4, 3)] {
            net.constant(from, 0, to, 40, 10 * T);
        }
        net.run(END).1
    };
    let plain = build(false, false);
    let forced = build(true, false);
    assert!(totals(&forced, 7, 4).voq_standalone > 0, "the status is reported");
    assert_eq!(forced.outcome, plain.outcome);
    assert_eq!(forced.delivered, plain.delivered);
    assert!(build(true, true).delivered < plain.delivered / 2, "honoured, it stops three of four flows");
}

/// Nothing is ever stopped while no port reaches X_on (F.11, item 7).
#[test]
fn no_stop_below_the_threshold() {
    for (x_on, stopped) in [(12, false), (2, true)] {
        let mut net = chain(detector(x_on, 1, Verdict::Shared));
        for from in 0..6 {
            for to in (0..6).filter(|to| *to != from) {
                net.constant(from, 0, to, 6, u64::from(from) * T / 7);
            }
        }
        let (log, outcome) = net.run(END);
        let most = outcome.ports.iter().map(|p| p.2.output_high_water).max().unwrap();
        assert!(stopped == (most >= u32::from(x_on)), "most waiting: {most}");
        let time: u64 = outcome.ports.iter().map(|p| p.2.stopped_ps).sum();
        let heard: u64 = outcome.ports.iter().map(|p| p.2.voq_received).sum();
        assert_eq!((time > 0, heard > 0, !log.edges.is_empty()), (stopped, stopped, stopped));
    }
}

/// The longest stop of a port is the longest way from an edge that stops a queue to the one that releases it.
#[test]
fn the_longest_stop_is_that_of_the_edges() {
    let mut net = chain(detector(2, 1, Verdict::Shared));
    for from in 0..6 {
        for to in (0..6).filter(|to| *to != from) {
            net.constant(from, 0, to, 6, u64::from(from) * T / 7);
        }
    }
    let (log, outcome) = net.run(END);
    let mut different = 0;
    for (device, port, stats) in &outcome.ports {
        let of_port = log.edges.iter().filter(|e| (e.device, e.port) == (*device, *port));
        let queues: std::collections::BTreeSet<u8> = of_port.map(|e| e.queue).collect();
        let stops = queues.iter().flat_map(|&queue| log.stops(*device, *port, queue));
        let times: Vec<u64> = stops.map(|(from, to)| to.min(outcome.end.0) - from).collect();
        assert_eq!(stats.longest_stop_ps, times.iter().copied().max().unwrap_or(0));
        assert_eq!(stats.stopped_ps, times.iter().sum::<u64>());
        different += u32::from(stats.longest_stop_ps < stats.stopped_ps);
    }
    assert!(different > 3, "ports whose queues stop more than once");
}

/// First starts and what was counted before them, by packet.
#[derive(Default)]
struct Starts {
    created: std::collections::BTreeMap<PacketId, u64>,
    first: std::collections::BTreeMap<PacketId, u64>,
    /// Of delivered packets: source time by law, and all parts.
    ended: Vec<(u64, Parts)>,
}

impl Probe for Starts {
    fn follows_packets(&self) -> bool {
        true
    }

    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        match step {
            PacketStep::Created { .. } => drop(self.created.insert(id, at.0)),
            PacketStep::Started { .. } => drop(self.first.entry(id).or_insert(at.0)),
            PacketStep::Ended { parts: Some(parts), .. } => {
                self.ended.push((self.first[&id] - self.created[&id], *parts));
            }
            PacketStep::Cut { .. } | PacketStep::Ended { .. } => {}
        }
    }
}

/// Network latency begins with the first bit on the injection link. What a packet waited in its own endpoint
/// is source time, whatever kept it there: others, a stopped queue, a neighbour without buffers.
#[test]
fn source_time_ends_with_the_first_bit_on_the_injection_link() {
    let mut net = chain(detector(4, 2, Verdict::Shared));
    net.buffers(6);
    net.slow(2, 4);
    for (from, to) in [(0, 2), (1, 2), (3, 2), (0, 4), (1, 5)] {
        net.constant(from, (from % 4) as u8, to, 60, u64::from(from) * 777).limit = 200;
    }
    let mut starts = Starts::default();
    let mut sim = models::Watched::new(std::sync::Arc::new(net.config), RunOptions::default(), &mut starts);
    assert_eq!(sim.run(Time(u64::MAX), u64::MAX), Progress::Drained);
    let outcome = sim.finish();
    assert_eq!((starts.ended.len() as u64, outcome.in_flight), (outcome.injected, 0));
    let mut waited = [0; 13];
    for (law, parts) in &starts.ended {
        assert_eq!(parts.source, *law, "{parts:?}");
        let own = [Cause::SourceQueue, Cause::Staged, Cause::HeadOfLine, Cause::NoBuffer, Cause::Recovery];
        assert!(parts[Cause::SourceQueue] <= parts.source);
        assert!(parts.source <= own.map(|cause| parts[cause]).iter().sum());
        for (sum, part) in waited.iter_mut().zip(parts.causes) {
            *sum += part;
        }
    }
    // Sources were stopped and short of buffers, so their queues alone do not make it up.
    let source: u64 = starts.ended.iter().map(|(law, _)| law).sum();
    assert!(waited[Cause::Staged as usize] > 100 * T && waited[Cause::NoBuffer as usize] > 100 * T);
    assert!(source > waited[Cause::SourceQueue as usize] + 100 * T);
}
