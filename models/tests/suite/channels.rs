//! Virtual channels VC1 to VC8 in the fabric: shares, isolation, order, loss where loss is asked for.
use crate::common::*;
use models::config::*;
use models::stats::LinkStats;
use models::{Outcome, RunOptions};
use proptest::prelude::*;
use sim_core::{Duration, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `count` reliable channels with equal shares.
fn channels(count: u8) -> ChannelsConfig {
    let channels = match count {
        1 => Channels::One,
        2 => Channels::Two,
        4 => Channels::Four,
        _ => Channels::Eight,
    };
    ChannelsConfig { channels, vcs: [VcConfig::default(); 8], vc0_share: None, refresh: None }
}

/// Every link has `settings`.
fn everywhere(net: &mut Net, settings: &ChannelsConfig, flow: FlowControl) {
    net.config.symbolic = (0..net.config.links.len() as u32)
        .map(|link| SymbolicLink {
            link,
            flow,
            timeout: Duration(1_000 * T),
            status_period: Duration(100 * T),
            throughout: false,
            channels: Some(Box::new(settings.clone())),
            damage: Default::default(),
        })
        .collect();
}

fn counts(log: &Log, flows: usize) -> Vec<u64> {
    (0..flows).map(|flow| log.of(flow as u16).count() as u64).collect()
}

fn sum(outcome: &Outcome, what: impl Fn(&LinkStats) -> u64) -> u64 {
    outcome.links.iter().map(|end| what(&end.2)).sum()
}

/// Three endpoints send to a fourth, in VC1, VC5 and VC0.
fn contention(settings: &ChannelsConfig) -> Vec<u64> {
    let mut net = single(4, switch(4));
    everywhere(&mut net, settings, FlowControl::Transmitter);
    for (from, priority) in [(0, vc_priority(1)), (1, vc_priority(5)), (2, 0)] {
        net.saturated(from, priority, 3);
    }
    let (log, outcome) = net.run(2_000 * T);
    assert_eq!(outcome.dropped, 0);
    assert_eq!(outcome.symbol_hops, outcome.packet_hops, "VCs exist in symbol granularity only");
    counts(&log, 3)
}

/// An output divides its link by the shares, to the packet; VC0 goes before all, or takes part.
///
/// Shows: R2.2p6s5.4.3c0397, R2.2p6s5.11c0540, R2.2p6s5.11c0541, R2.2p6s5.11c0543, R2.2p6s5.11c0544
#[test]
fn shares_divide_an_output() {
    let mut settings = channels(2);
    settings.vcs[0].share = 1;
    settings.vcs[1].share = 3;
    let strict = contention(&settings);
    assert!(strict[0] + strict[1] <= 1, "VC0 leaves nothing: {strict:?}");
    settings.vc0_share = Some(4);
    let shared = contention(&settings);
    let total: u64 = shared.iter().sum();
    assert!(total > 1_900, "{shared:?}");
    for (count, eighths) in shared.iter().zip([1, 3, 4]) {
        assert!((count * 8).abs_diff(total * eighths) <= 64, "{shared:?}");
    }
}

/// Shares are relative to each other: in hundredths, or in as many as a share can be, they divide as in
/// units. With rounds of a packet for each unit of share 16 383 and 65 532 would be one channel after the
/// other.
#[test]
fn only_the_ratio_of_shares_counts() {
    let of = |unit: u16| {
        let mut settings = channels(2);
        settings.vc0_share = Some(4 * unit);
        (settings.vcs[0].share, settings.vcs[1].share) = (unit, 3 * unit);
        contention(&settings)
    };
    let units = of(1);
    assert_eq!([of(50), of(16_383)], [units.clone(), units]);
}

/// A channel whose buffers are all in use keeps no other waiting: the flow to a slow endpoint fills those of
/// VC1 on the shared trunk, and the one in VC5 does not notice.
///
/// Shows: R2.2p6s5.11c0542
#[test]
fn a_full_channel_blocks_no_other() {
    let run = |priorities: [u8; 2]| {
        // Both outputs may read the input of the trunk at the same time.
        let reads = SwitchConfig { reads_per_input: 2, ..switch(3) };
        let mut net = Net::new(vec![switch(3), reads], &[0, 0, 1, 1], &[(0, 1)]);
        net.slow(2, 10);
        everywhere(&mut net, &channels(2), FlowControl::Transmitter);
        net.saturated(0, priorities[0], 2);
        net.constant(1, priorities[1], 3, 40, 0);
        let (log, _) = net.run(1_000 * T);
        counts(&log, 2)[1]
    };
    let apart = run([vc_priority(1), vc_priority(5)]);
    let together = run([vc_priority(1), vc_priority(1)]);
    assert!((395..=400).contains(&apart), "{apart}");
    assert!(together < 150, "{together}");
}

/// Receiver-controlled: continuous traffic that finds no buffer is acknowledged and lost, and nobody waits
/// for it; reliable traffic is refused and comes again.
///
/// Shows: R2.2p6s5.8c0479, R2.2p6s5.9.1.1c0488
#[test]
fn continuous_traffic_without_room_is_lost() {
    let mut settings = channels(1);
    let run = |settings: &ChannelsConfig| {
        let mut net = single(3, switch(3));
        net.slow(2, 4);
        everywhere(&mut net, settings, FlowControl::Receiver);
        net.saturated(0, vc_priority(1), 2).limit = 400;
        net.run(10_000 * T)
    };
    let (log, reliable) = run(&settings);
    assert_eq!((log.deliveries.len(), reliable.dropped, reliable.in_flight), (400, 0, 0));
    assert!(sum(&reliable, |end| end.recoveries) > 0, "refused packets come by error recovery");
    settings.vcs[0].traffic = Traffic::Continuous;
    let (log, lossy) = run(&settings);
    assert_eq!(lossy.delivered + lossy.dropped, 400);
    assert_eq!(sum(&lossy, |end| end.lost_no_room), lossy.dropped);
    assert_eq!((sum(&lossy, |end| end.recoveries), sum(&lossy, |end| end.repeated)), (0, 0));
    // A quarter of what is sent leaves the switch; four packets wait in it.
    assert!((100..=106).contains(&log.deliveries.len()), "{}", log.deliveries.len());
    let longest = log.deliveries.iter().map(|d| d.latency() - d.parts[models::Cause::SourceQueue]).max();
    assert!(longest.unwrap() <= 30 * T, "no packet waits longer than for those before it: {longest:?}");
}

/// A damaged packet of continuous traffic is counted and not sent again; those of other channels are.
///
/// Shows: R2.2p6s5.4.2c0394, R2.2p6s5.8c0479
#[test]
fn continuous_traffic_that_is_damaged_is_lost() {
    let mut settings = channels(2);
    settings.vcs[1].traffic = Traffic::Continuous;
    let mut net = single(2, switch(2));
    everywhere(&mut net, &settings, FlowControl::Transmitter);
    net.saturated(0, vc_priority(1), 1).limit = 300;
    net.saturated(0, vc_priority(5), 1).limit = 300;
    net.config.symbolic[0].damage[0].packets = (1..600).step_by(7).collect();
    let (log, outcome) = net.run(10_000 * T);
    assert_eq!(outcome.in_flight, 0);
    let [reliable, lossy] = counts(&log, 2)[..] else { unreachable!() };
    assert_eq!(reliable, 300);
    assert!(lossy < 300 && lossy + outcome.dropped == 300, "{lossy} and {}", outcome.dropped);
    assert_eq!(sum(&outcome, |end| end.lost_on_link), outcome.dropped);
    assert!(sum(&outcome, |end| end.repeated) > 0);
}

/// VC1 and VC5 share the one channel of all links. Packets of VC5 for a link that is down hold its buffers in
/// the switch: packets of VC1 wait for these, and so for the link. There are two places at which packets
/// stand.
#[test]
fn who_holds_a_buffer_of_a_channel_may_be_in_another_vc() {
    let mut net = single(3, switch(3));
    everywhere(&mut net, &channels(1), FlowControl::Transmitter);
    net.saturated(0, vc_priority(1), 1);
    net.saturated(0, vc_priority(5), 2);
    net.config.faults = vec![Fault { at: Time(10 * T), link: 2, action: FaultAction::Down }];
    net.config.stall_after = Some(Duration(500 * T));
    let (_, outcome) = net.run(10_000 * T);
    for stall in &outcome.stalls {
        let last = stall.walk.last().unwrap();
        assert!(last.ends_with("its link is down"), "{:?}", stall.walk);
    }
    assert_eq!(outcome.stalls.len(), 2, "{:?}", outcome.stalls);
}

/// VC_status is repeated: with a refresh there are more symbols, and nothing else changes.
#[test]
fn refresh_costs_symbols_only() {
    let run = |refresh| {
        let mut net = single(2, switch(2));
        let settings = ChannelsConfig { refresh, ..channels(8) };
        everywhere(&mut net, &settings, FlowControl::Transmitter);
        net.constant(0, vc_priority(3), 1, 50, 0).limit = 100;
        let options = RunOptions { wire_check: true, ..ALL_OPTIONS[1] };
        run_with(&net.config, 1_000 * T, Count::default(), options).1
    };
    let (without, with) = (run(None), run(Some(Duration(10 * T))));
    assert_eq!((without.delivered, with.delivered), (100, 100));
    // 19 runs of 8 at each of the two transmitters on the way, some of them on symbols that leave anyway.
    let more = with.wire_checked.symbols - without.wire_checked.symbols;
    assert!((2 * 19 * 6..=2 * 19 * 8).contains(&more), "{more}");
}

/// A tree of one to three switches with channels everywhere, and traffic in all of them.
fn fabric(seed: u64, damaged: bool) -> Net {
    let d = &mut Draw(seed);
    let switches = 1 + d.below(3) as usize;
    let trunks: Vec<(usize, usize)> = (1..switches).map(|s| (d.below(s as u64) as usize, s)).collect();
    let at: Vec<usize> =
        (0..switches).flat_map(|s| std::iter::repeat_n(s, 2 + d.below(2) as usize)).collect();
    let endpoints = at.len() as u32;
    let models = (0..switches)
        .map(|_| SwitchConfig {
            arbitration: d.of(&[Arbitration::RoundRobin, Arbitration::OldestFirst, Arbitration::Random]),
            reads_per_input: 1 + d.below(3) as u8,
            pipeline: Duration(d.of(&[0, 30_000, 100_000])),
            ..switch(0)
        })
        .collect();
    let mut net = Net::new(models, &at, &trunks);
    (net.config.seed, net.config.shake) = (seed, seed % 3);
    net.config.sample_every = Some(Duration(7 * T / 3));
    for l in &mut net.config.links {
        l.char_ps = d.of(&[(CHAR_PS, 1), (2 * CHAR_PS, 1), (500, 1)]);
        l.lanes = d.of(&[1, 4, 8, 16]);
        l.propagation = Duration(1 + d.below(300_000));
        if d.below(10) == 0 {
            (l.symbol_chars, l.long_symbols, l.ack_window) = (4, false, 31);
        }
    }
    // Reliable and continuous from link to link: a flow may be lost on one and repeated on the next.
    for link in 0..net.config.links.len() as u32 {
        let mut settings = channels(d.of(&[1, 2, 4, 8]));
        let continuous = d.below(1 + u64::from(settings.channels.count())) as usize;
        let count = usize::from(settings.channels.count());
        for (n, vc) in settings.vcs[..count].iter_mut().enumerate() {
            vc.buffers = 1 + d.below(6) as u16;
            vc.share = 1 + d.below(4) as u16;
            if n >= count - continuous && d.0 & 1 == 0 {
                vc.traffic = Traffic::Continuous;
            }
        }
        let first = settings.vcs.iter().position(|vc| vc.traffic == Traffic::Continuous);
        settings.vcs[first.unwrap_or(8)..].iter_mut().for_each(|vc| vc.traffic = Traffic::Continuous);
        settings.vc0_share = d.of(&[None, Some(1), Some(3)]);
        settings.refresh = d.of(&[None, Some(Duration(20 * T))]);
        let rate = if damaged { d.of(&[0, 20, 200, 500]) } else { 0 };
        let errors = |name: String| Damage {
            errors: (rate != 0).then(|| BitErrors {
                stream: name,
                probability: (rate, 1_000_000),
                burst: 1 + (rate % 3) as u32,
            }),
            ..Damage::default()
        };
        net.config.symbolic.push(SymbolicLink {
            link,
            flow: d.of(&[FlowControl::Transmitter, FlowControl::Transmitter, FlowControl::Receiver]),
            timeout: Duration(150 * T),
            status_period: Duration(5 * T),
            throughout: false,
            channels: Some(Box::new(settings)),
            damage: [errors(format!("there {link}")), errors(format!("back {link}"))],
        });
        if damaged && d.below(4) == 0 {
            let at = d.below(100 * T);
            net.config.faults.push(Fault { at: Time(at), link, action: FaultAction::Down });
            net.config.faults.push(Fault { at: Time(at + d.below(20 * T)), link, action: FaultAction::Up });
        }
    }
    net.config.faults.sort_by_key(|fault| (fault.at, fault.link));
    let sizes: Arc<Vec<(u32, PacketSize)>> =
        Arc::new(vec![(3, SIZE), (1, PacketSize { payload: 8, wire: 20 })]);
    for from in 0..endpoints {
        for _ in 0..1 + d.below(3) {
            let arrivals = match d.below(3) {
                0 => Arrivals::Saturated { backlog: 1 + d.below(3) as u16 },
                1 => Arrivals::OnOff { on: Duration(20 * T), off: Duration(40 * T), interval: Duration(T) },
                _ => Arrivals::Poisson { mean: Duration(T * (1 + d.below(5))) },
            };
            let to = Destinations::Fixed((from + 1 + d.below(u64::from(endpoints) - 1) as u32) % endpoints);
            let priority = if d.below(4) == 0 { d.below(4) as u8 } else { vc_priority(1 + d.below(8) as u8) };
            let source = net.source(from, priority, arrivals, to);
            source.limit = 20 + d.below(150);
            if d.below(2) == 0 {
                source.sizes = Sizes::Mix(sizes.clone());
            }
        }
    }
    net
}

/// Whether no link on the way loses packets of a channel.
fn all_reliable(net: &Net) -> bool {
    let lossy = |link: &SymbolicLink| {
        let settings = link.channels.as_ref().unwrap();
        let active = &settings.vcs[..usize::from(settings.channels.count())];
        active.iter().any(|vc| vc.traffic == Traffic::Continuous)
    };
    !net.config.symbolic.iter().any(lossy)
}

proptest! {
    #![proptest_config(property(60, 4))]

    /// Whatever the channels, traffic and errors: packets are conserved, everything that is not lost arrives,
    /// in the order of its flow; nothing is lost on reliable channels; losses are told where they happened;
    /// parts add up; event lists and pipelines change nothing, and what crosses a link can be read back.
    ///
    /// Shows: R2.2p6s5.4.2c0395, R2.2p6s5.4.2c0396, R2.2p6s5.4.3c0399, R2.2p6s5.11c0537
    #[test]
    fn channels_conserve_packets_and_order(seed in any::<u64>(), damaged in any::<bool>()) {
        let net = fabric(seed, damaged);
        let mut first = None;
        let checked = RunOptions { wire_check: true, ..ALL_OPTIONS[1] };
        for options in [ALL_OPTIONS[0], checked, ALL_OPTIONS[3]] {
            let mut sim = models::Simulation::new(Arc::new(net.config.clone()), options, Log::default());
            let progress = sim.run(Time(40_000 * T), 20_000_000);
            prop_assert!(progress != models::Progress::Running, "too many events");
            let (mut log, outcome) = sim.finish();
            prop_assert_eq!(outcome.in_flight, 0, "{:?}", outcome.stalls);
            prop_assert_eq!(outcome.injected, outcome.delivered + outcome.dropped);
            let lost = sum(&outcome, |end| end.lost_no_room + end.lost_on_link);
            prop_assert_eq!(outcome.dropped, lost);
            if all_reliable(&net) {
                prop_assert_eq!(lost, 0);
            }
            log.deliveries.sort_by_key(|d| (d.at, d.destination, d.source, d.flow, d.sequence));
            let mut last: BTreeMap<u16, u64> = BTreeMap::new();
            for d in &log.deliveries {
                let before = last.insert(d.flow, d.sequence);
                prop_assert!(before.is_none_or(|before| before < d.sequence), "{before:?} before {d:?}");
            }
            let seen = (
                outcome.outcome,
                outcome.trajectory,
                format!("{:?} {:?}", outcome.ports, outcome.links),
                format!("{:?}", log.deliveries),
            );
            match &first {
                None => first = Some(seen),
                Some(first) => prop_assert!(*first == seen, "{:?} changes something", options),
            }
        }
    }
}
