//! VoQ backpressure beside virtual channels: what a message stops, and what counts for it.
use crate::common::*;
use models::config::*;
use models::lp_serial::link::FlowControl;
use sim_core::Duration;

/// Two reliable channels, VC1 and VC5, on every link; everybody stages for each port.
fn two_channels(net: &mut Net, detector: Option<Detector>) {
    net.backpressure(&StagingConfig::PerPort, detector);
    let settings = ChannelsConfig {
        channels: Channels::Two,
        vcs: [VcConfig { buffers: 16, ..VcConfig::default() }; 8],
        vc0_share: Some(1),
        refresh: None,
    };
    let link = |link| SymbolicLink {
        link,
        flow: FlowControl::Transmitter,
        timeout: Duration(1_000 * T),
        status_period: Duration(100 * T),
        throughout: true,
        channels: Some(Box::new(settings.clone())),
        damage: Default::default(),
    };
    net.config.symbolic = (0..net.config.links.len() as u32).map(link).collect();
}

/// All messages are linked with channels.
fn link_all(net: &mut Net) {
    net.config.devices.iter_mut().flat_map(|d| &mut d.ports).for_each(|port| port.voq.link_en = true);
}

/// A message that is tied to no channel stops its port in VC0 and in all channels: of what goes to the port
/// that is forced to "congested" from the start, only the packet arrives that was committed before the
/// message came. What goes elsewhere has the link for itself.
///
/// Proves: VOQ-3.2-5, VOQ-2.4-1
#[test]
fn a_message_stops_its_port_in_every_channel() {
    let mut net = single(4, switch(4));
    two_channels(&mut net, None);
    net.ports_mut(0)[2].voq.xoff = true;
    for priority in [vc_priority(1), vc_priority(5), 0] {
        net.saturated(0, priority, 2);
    }
    net.saturated(0, vc_priority(5), 3);
    let (log, outcome) = net.run(1_000 * T);
    assert_eq!([0, 1, 2].map(|flow| log.of(flow).count()).iter().sum::<usize>(), 1);
    // A thousand packets begin, one of them elsewhere; two are on their way at the end.
    assert!((995..=998).contains(&log.of(3).count()), "{}", log.of(3).count());
    // Queue 2 of each endpoint, in VC0 and in both channels.
    let mut stopped: Vec<(u32, u8, u8)> = log.edges.iter().map(|e| (e.device, e.channel, e.queue)).collect();
    stopped.sort_unstable();
    let expected: Vec<(u32, u8, u8)> = (0..4).flat_map(|e| (0..3).map(move |vc| (e, vc, 2))).collect();
    assert_eq!(stopped, expected);
    assert!(log.edges.iter().all(|edge| edge.stopped));
    assert_eq!(totals(&outcome, 0, 0).xoff_edges, 3);
}

/// What waits in a channel counts: two endpoints send in VC1 to a port of a quarter of the rate, s = 1/8 for
/// each, and one of them to a free port as well. Without backpressure the channel carries both in their
/// ratio, s; with it what is free gets the rest of the link, 1 - s.
///
/// Proves: VOQ-2.4-1, VOQ-4.3-3
#[test]
fn victims_in_a_congested_channel_get_the_rest_of_the_link() {
    let run = |backpressure: bool| {
        let mut net = single(4, SwitchConfig { reads_per_input: 2, ..switch(4) });
        two_channels(&mut net, Some(Detector { x_on: 8, x_off: 4, verdict: Verdict::PerIngress }));
        if !backpressure {
            net.ports_mut(0).iter_mut().for_each(|port| port.voq.gen_en = false);
        }
        net.slow(2, 4);
        for (from, to) in [(0, 2), (1, 2), (0, 3)] {
            net.saturated(from, vc_priority(1), to);
        }
        let (log, outcome) = net.run(2_000 * T);
        let link = log.of(2).count() as u64 * 8;
        (link, outcome.dropped)
    };
    // In eighths of 2 000 packets.
    let (without, with) = (run(false), run(true));
    assert!(without.0.abs_diff(2_000) <= 200 && without.1 == 0, "{without:?}");
    assert!(with.0.abs_diff(7 * 2_000) <= 300 && with.1 == 0, "{with:?}");
}

/// A linked message stops its port in the channel that it names, and in no other: VC1 is congested at a
/// slow port, so only its queues stop, and all that VC5 and VC0 send there arrives. With messages about all
/// channels VC5 and VC0 are stopped with it.
///
/// Proves: VOQ-3.2-4, VOQ-2.4-3, VOQ-4.2-3
#[test]
fn a_linked_message_stops_one_channel() {
    let run = |linked: bool| {
        let mut net = single(4, switch(4));
        two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }));
        if linked {
            link_all(&mut net);
        }
        net.slow(2, 4);
        for from in [0, 1] {
            net.saturated(from, vc_priority(1), 2);
        }
        // Little enough that no two of them wait at once.
        net.constant(0, vc_priority(5), 2, 2, 0);
        net.constant(0, 0, 2, 2, 25 * T);
        let (log, outcome) = net.run(2_000 * T);
        let mut stopped: Vec<u8> = log.edges.iter().map(|edge| edge.channel).collect();
        stopped.sort_unstable();
        stopped.dedup();
        let longest = |flow| log.of(flow).map(|d| d.latency()).max().unwrap();
        (stopped, [longest(2), longest(3)], totals(&outcome, 0, 0).xoff_edges, outcome.dropped)
    };
    let (stopped, longest, edges, dropped) = run(true);
    assert_eq!((stopped, dropped), (vec![1], 0));
    // Some four packets of the eighth of the link that each gets pass in a cycle.
    assert!(edges > 40, "{edges}");
    // Each waits for one packet on the way to the switch, and for two on the slow link; then it is sent
    // twice.
    assert!(longest.iter().all(|&longest| longest <= 16 * T), "{longest:?}");
    let (stopped, longest, edges, dropped) = run(false);
    assert_eq!((stopped, dropped), (vec![0, 1, 2], 0));
    assert!(edges > 120 && longest.iter().all(|&longest| longest > 16 * T), "{edges} {longest:?}");
}

/// Linked messages that are lost are made good by the refresh, channel by channel: the tenth message is an
/// XON of VC1, and its queue goes on with the next refresh.
///
/// Proves: VOQ-4.2-7, VOQ-3.2-4
#[test]
fn a_linked_refresh_tells_every_channel() {
    let run = |refresh: bool| {
        let mut net = single(3, switch(3));
        two_channels(&mut net, Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }));
        link_all(&mut net);
        net.switch_mut(0).refresh = refresh.then_some(Duration(100 * T));
        net.slow(2, 4);
        net.saturated(0, vc_priority(1), 2);
        let device = net.config.devices.len() as u32 - 1;
        net.config.symbol_losses = vec![SymbolLoss { device, port: 0, kind: LossKind::Xon, nth: 3 }];
        let (log, outcome) = net.run(1_000 * T);
        (log.of(0).count(), totals(&outcome, device, 0).voq_lost)
    };
    let (with, without) = (run(true), run(false));
    assert_eq!([with.1, without.1], [1, 1]);
    // Up to a hundred packet times of a thousand are lost, and a quarter of what is left leaves; or all
    // after it is.
    assert!((220..=250).contains(&with.0) && without.0 < 30, "{with:?} {without:?}");
}
