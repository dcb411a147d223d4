//! Multicast: copies are conserved, and a copy goes only when everything that it stands for may go.
use crate::common::*;
use models::Cause;
use models::config::*;
use sim_core::Duration;

const END: u64 = 1_000 * T;

/// A packet for the neighbour's ports {2, 3} waits while either of them is congested, unicasts for the clear
/// one go. The packet waits at an endpoint (single switch) or at a switch (two switches).
///
/// Proves: VOQ-4.3-10, VOQ-4.3-9
#[test]
fn a_multicast_packet_waits_for_every_port_that_it_stands_for() {
    for two in [false, true] {
        let build = |forced: Option<usize>, driven: bool| {
            let mut net = if two {
                // Endpoints 1 to 5 are ports 0 to 4 of the second switch.
                Net::new(vec![switch(2), switch(6)], &[0, 1, 1, 1, 1, 1], &[(0, 1)])
            } else {
                single(6, switch(6))
            };
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
            let (base, last) = if two { (3, 1) } else { (2, 0) };
            net.endpoint_mut(0).staging = if two { StagingConfig::None } else { StagingConfig::PerPort };
            net.buffers(61);
            for s in 0..=last {
                net.switch_mut(s).reads_per_input = 4;
            }
            let group = net.multicast(&[base, base + 1]);
            if let Some(offset) = forced {
                net.ports_mut(last)[2 + offset].voq.xoff = true;
            }
            // Bursts of a neighbour that does not listen congest port 3 from time to time.
            net.config.devices[base as usize + 2].ports[0].voq.rx_sup = false;
            if driven {
                for n in 0..4 {
                    net.burst(base + 2, 0, base + 1, n * 150 * T, 40);
                }
                net.slow(base as usize + 1, 2);
            }
            // What is stopped has to fit into the buffers of the first switch.
            let many = |flow: &mut SourceConfig| flow.limit = 20;
            many(net.constant(0, 0, group, 5, 5 * T));
            many(net.constant(0, 0, base, 5, 5 * T + 3));
            many(net.constant(0, 0, base + 1, 5, 5 * T + 5));
            let flow = net.config.flows.len() as u16 - 3;
            let (log, outcome) = net.run(END);
            (log, outcome, flow, if two { (6, 1) } else { (0, 0) })
        };
        // Port 2 or port 3 stopped: no multicast packet goes, only the unicast packets of the other port.
        for forced in [0usize, 1] {
            let (log, outcome, flow, at) = build(Some(forced), false);
            assert_eq!(log.of(flow).count(), 0);
            let unicast = [1, 2].map(|n| log.of(flow + n).count());
            assert_eq!(unicast, if forced == 0 { [0, 20] } else { [20, 0] });
            assert_eq!(outcome.in_flight, 40);
            // The queue of the port and that of the set.
            assert_eq!(totals(&outcome, at.0, at.1).xoff_edges, 2);
        }
        // Both clear: two copies of each.
        let (log, outcome, flow, _) = build(None, false);
        assert_eq!((log.of(flow).count(), outcome.replicated, outcome.in_flight), (40, 20, 0));
        // Congested from time to time: nothing of the set starts meanwhile, all arrive in the end.
        let (log, outcome, flow, at) = build(None, true);
        assert_eq!((log.of(flow).count(), outcome.in_flight), (40, 0));
        log.assert_order();
        let stops = log.stops(at.0, at.1, 3);
        assert!(stops.len() >= 4 && stops.iter().any(|s| s.1 - s.0 > 20 * T));
        // What waits for a message is staged, also for a set of ports: nothing stands in its way.
        let waits = |cause| log.of(flow).map(|d| d.parts[cause]).max();
        assert!(waits(Cause::Staged) > Some(20 * T) && waits(Cause::HeadOfLine) == Some(0));
        let lists = [0u16, 1, 2].map(|n| {
            // Instants at which the last transmission on the way into the switch with the multicast egress
            // began.
            let reach = log.of(flow + n).filter(|d| d.destination == if two { 3 } else { 2 });
            reach.map(|d| d.at.0 - T - 20_000).collect::<Vec<_>>()
        });
        // Through the clear port a packet leaves as soon as it has come: pipeline, propagation and T after
        // its start.
        let came = 100_000 + 20_000 + T;
        let inside = |t: &u64| stops.iter().any(|s| s.0 + came + 2 * T < *t && *t < s.1 + came);
        assert_eq!(lists[0].iter().filter(|t| inside(t)).count(), 0, "copies leave only in pairs");
        assert!(lists[1].iter().filter(|t| inside(t)).count() > 5, "unicasts to the clear port do not wait");
    }
}

/// A copy carries what its packet carries, and so does the copy of a copy: a PDU of type 9, which nobody
/// answers, reaches every member of a group.
#[test]
fn a_copy_carries_what_its_packet_carries() {
    // Members at the switch of the source, at the next and at the one after it.
    let mut net = Net::new(vec![switch(0); 3], &[0, 0, 1, 2], &[(0, 1), (1, 2)]);
    let group = net.multicast(&[1, 2, 3]);
    let stream = ProtocolConfig::Workload { carrier: Carrier::Stream { cos: 0, stream_id: 7 } };
    let pdus = sender(Destinations::Fixed(group), Arrivals::Saturated { backlog: 1 }, 600, 5);
    net.conversation(stream, &[0, 1, 2, 3], &[(0, pdus)]);
    let (log, outcome) = net.run(1_000 * T);
    let reached = [1, 2, 3].map(|e| log.messages.iter().filter(|m| m.destination == e).count());
    assert_eq!((reached, log.messages.len()), ([5, 5, 5], 15));
    // Three segments of each PDU, two copies of each segment.
    assert_eq!((outcome.injected, outcome.replicated, outcome.delivered), (15, 30, 45));
    assert_eq!((outcome.dropped, outcome.in_flight), (0, 0));
}

/// Every packet of a group reaches every member but its source exactly once, in order; copies and packets add
/// up at every sample, in every organisation of the switches.
#[test]
fn copies_are_conserved() {
    let organisations = [
        (InputQueueing::Fifo, Buffering::Direct),
        (InputQueueing::Voq, Buffering::Direct),
        (InputQueueing::Voq, Buffering::Crosspoint { depth: 2 }),
        (InputQueueing::Fifo, Buffering::Output { packets: 3 }),
    ];
    for (input, buffering) in organisations {
        for forwarding in [Forwarding::StoreAndForward, Forwarding::CutThrough { header: 4 }] {
            let model = || SwitchConfig { input, buffering, forwarding, ..switch(0) };
            let at = [0, 0, 1, 1, 2, 2, 2];
            let mut net = Net::new(vec![model(), model(), model()], &at, &[(0, 1), (1, 2)]);
            let groups: [&[u32]; 3] = [&[0, 1, 2, 3, 4, 5, 6], &[1, 4, 6], &[2, 3]];
            let ids = groups.map(|members| net.multicast(members));
            let mut expected = 0;
            for (n, members) in groups.iter().enumerate() {
                for from in 0..7 {
                    net.constant(from, n as u8, ids[n], 3, u64::from(from) * T / 5).limit = 30;
                    expected += 30 * (members.len() - usize::from(members.contains(&from)));
                }
            }
            net.config.sample_every = Some(Duration(T / 2));
            let (log, outcome) = net.run(3_000 * T);
            assert_eq!((outcome.delivered, outcome.dropped, outcome.in_flight), (expected as u64, 0, 0));
            assert_eq!(outcome.injected + outcome.replicated, outcome.delivered);
            let mut seen = std::collections::BTreeSet::new();
            for d in &log.deliveries {
                assert!(seen.insert((d.source, d.flow, d.sequence, d.destination)), "a second copy: {d:?}");
                assert_ne!(d.source, d.destination);
            }
            log.assert_order();
            assert!(log.samples.iter().any(|s| s.replicated > 0 && s.in_flight > 0));
        }
    }
}

/// A group of one member is a unicast packet in all but its id: every packet leaves and arrives at the same
/// instants, and its time has the same causes.
#[test]
fn a_group_of_one_is_staged_like_a_unicast_packet() {
    for two in [false, true] {
        let build = |group: bool| {
            let models = if two { vec![switch(3), switch(3)] } else { vec![switch(4)] };
            let (at, trunks) = if two { (vec![0, 0, 1, 1], vec![(0, 1)]) } else { (vec![0; 4], vec![]) };
            let mut net = Net::new(models, &at, &trunks);
            let detector = Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared };
            net.backpressure(&StagingConfig::PerPort, Some(detector));
            net.slow(2, 3);
            let id = net.multicast(&[2]);
            net.saturated(0, 0, if group { id } else { 2 }).limit = 300;
            net.constant(1, 0, 2, 40, 7).limit = 300;
            net.run(20_000 * T).0
        };
        let (unicast, group) = (build(false), build(true));
        let seen = |log: &Log| -> Vec<_> {
            log.deliveries.iter().map(|d| (d.flow, d.sequence, d.at, d.created, d.parts)).collect()
        };
        assert_eq!(seen(&unicast).len(), 600);
        assert!(unicast.of(0).any(|d| d.parts[Cause::Staged] > 10 * T));
        assert_eq!(seen(&unicast), seen(&group), "two switches: {two}");
    }
}
