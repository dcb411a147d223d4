//! Links of other media than RapidIO, alone and with Scheduled Transfer on them.
use crate::common::*;
use models::config::*;
use models::path::{Hop, Path, Roads};
use models::probe::{ProtocolEvent, ProtocolFact, Signal, SignalKind};
use models::run::{ListKind, PipelineMode};
use models::stats::TransferTotals;
use models::transfer_rate::TransferPath;
use models::{Probe, Progress, RunOptions};
use sim_core::{Duration, Time};
use std::sync::Arc;

const MICROSECOND: u64 = 1_000_000;

/// Endpoints on a switch, all links of `medium` at its usual rate.
fn on_medium(medium: Medium, endpoints: usize, model: SwitchConfig) -> Net {
    let mut net = single(endpoints, model);
    for (index, link) in net.config.links.iter_mut().enumerate() {
        link.char_ps = medium.octet_ps(medium.rates()[0]);
        (link.lanes, link.symbol_chars, link.long_symbols, link.ack_window) = (1, 0, false, u16::MAX);
        net.config.media.push(MediumLink { link: index as u32, medium });
    }
    net
}

fn way(net: &Net, medium: Medium, stu: u32) -> TransferPath {
    let roads = Roads::new(&net.config);
    let path = |from, to| roads.path(from, to).expect("packets arrive");
    TransferPath::on_medium(path(0, 1), path(1, 0), stu, medium)
}

/// Every end but the first wants `job` of the first, or the second of the first alone.
fn ends(medium: Medium, count: u16, stu: u32, job: TransferJob, change: impl Fn(&mut TransferConfig)) -> Net {
    let mut net =
        on_medium(medium, usize::from(count), SwitchConfig { reads_per_input: 4, ..switch(count as u8) });
    let way = way(&net, medium, stu);
    let timeout = 10 * way.round_trip();
    let patience = way.patience(timeout, 2 * u64::from(count) * job.enabled(), 1 << job.blocksize);
    let nodes: Vec<TransferConfig> = (0..count)
        .map(|node| {
            let protocol = scheduled_transfer::Config {
                op_timeout: timeout,
                missing_timeout: Some(patience),
                medium: medium.layer(),
                max_stu: stu.trailing_zeros(),
                cut_stu: stu.trailing_zeros(),
                pending_timeouts: 1_000_000,
                ..scheduled_transfer::Config::default()
            };
            let mut config = transfer_end(node, Some(medium), protocol, job);
            config.peers = if node == 0 { vec![] } else { vec![0] };
            change(&mut config);
            config
        })
        .collect();
    net.transfers(nodes);
    net
}

fn job(bytes: u64, window: u16, blocksize: u16) -> TransferJob {
    TransferJob { bytes, cts_req: window, blocksize, ..TransferJob::default() }
}

fn totals(net: &Net, until: u64) -> (TransferTotals, models::Outcome) {
    let options = RunOptions { wire_check: true, ..RunOptions::default() };
    let mut simulation = models::Simulation::new(Arc::new(net.config.clone()), options, ());
    assert_ne!(simulation.run(Time(until), u64::MAX), Progress::Stalled);
    let outcome = simulation.finish().1;
    let totals = outcome.totals.one::<TransferTotals>().expect("one flow");
    let stats = &totals.stats;
    let wrong = (stats.corrupt, stats.stray_octets, stats.foreign, stats.broken);
    assert_eq!(wrong, (0, 0, 0, None), "{totals:?}");
    assert_eq!((totals.unverified, totals.repeated), (0, 0), "{totals:?}");
    (totals.clone(), outcome)
}

/// Whole STU, exponent of the Block.
fn sizes(medium: Medium) -> (u32, u16) {
    match medium {
        Medium::Ethernet | Medium::AtmDix => (1_024, 13),
        Medium::AtmTokenRing4 => (4_096, 15),
        Medium::AtmLane => (8_192, 16),
        Medium::AtmTokenRing16 => (16_384, 17),
        Medium::Hippi6400 | Medium::HippiFp | Medium::FibreChannel => (16_384, 17),
    }
}

/// One Write comes to at least 98 % of what its path can carry, and every octet is right; each frame is
/// read and written again at each link.
///
/// Proves: ST-A.4.1-1, ST-A.4.2-1, ST-A.4.2-2, ST-A.4.3-1, ST-A.4.3-4
#[test]
fn a_write_fills_each_medium() {
    for medium in Medium::ALL {
        let (stu, blocksize) = sizes(medium);
        let net = ends(medium, 2, stu, job(16 << 20, 8, blocksize), |_| ());
        let way = way(&net, medium, stu);
        let block = 1u64 << blocksize;
        let analytic = u128::from(way.block_time(block)) * (16 << 20) / u128::from(block);
        let (totals, outcome) = totals(&net, analytic as u64 * 2);
        let stats = &totals.stats;
        assert_eq!(
            (stats.completed, stats.verified, stats.timeouts, stats.logged),
            (1, 1, 0, 0),
            "{medium:?}"
        );
        assert_eq!(stats.payload, 16 << 20, "nothing is sent twice");
        let took = stats.last_done.unwrap().0 - stats.first_begun.unwrap().0;
        assert!(u128::from(took) >= analytic, "{medium:?} is faster than its link");
        assert!(u128::from(took) * 98 <= analytic * 100, "{medium:?}: {took} ps instead of {analytic}");
        assert_eq!(outcome.dropped, 0);
        assert!(outcome.wire_checked.packets > 0 && outcome.wire_checked.symbols == 0);
    }
}

/// Writers into one endpoint, each with a window that nobody slows down.
fn incast(medium: Medium, model: SwitchConfig, buffers: u8, change: impl Fn(&mut TransferConfig)) -> Net {
    let (stu, blocksize) = sizes(medium);
    let mut net = ends(medium, 5, stu, job(1 << 20, 8, blocksize), change);
    let routes = net.switch_mut(0).routes.clone();
    *net.switch_mut(0) = SwitchConfig { routes, reads_per_input: 4, ..model };
    for device in &mut net.config.devices {
        device.ports.iter_mut().for_each(|port| port.buffers = buffers);
    }
    net
}

/// However a switch queues, nothing is lost where senders wait for room.
#[test]
fn senders_wait_for_room() {
    let models = [
        SwitchConfig { input: InputQueueing::Fifo, ..switch(5) },
        SwitchConfig { buffering: Buffering::Crosspoint { depth: 1 }, ..switch(5) },
        SwitchConfig { buffering: Buffering::Output { packets: 2 }, ..switch(5) },
        SwitchConfig { arbitration: Arbitration::Islip { iterations: 2 }, ..switch(5) },
        SwitchConfig { forwarding: Forwarding::CutThrough { header: 3 }, ..switch(5) },
    ];
    for medium in Medium::ALL.into_iter().filter(|medium| medium.is_lossless()) {
        for model in &models {
            let net = incast(medium, model.clone(), 4, |node| node.protocol.missing_timeout = None);
            let (totals, outcome) = totals(&net, 4_000_000 * MICROSECOND);
            let stats = &totals.stats;
            assert_eq!((stats.completed, stats.verified, outcome.dropped), (4, 4, 0), "{medium:?} {model:?}");
            assert_eq!(stats.payload, 4 << 20, "{medium:?} {model:?}");
        }
    }
}

/// Where they do not wait, frames are dropped when the buffers of a switch are full, and only then; what is
/// missing is sent again. A destination that takes one Transfer of one Block at a time loses nothing.
#[test]
fn ethernet_drops_what_finds_no_room() {
    let small = |change: fn(&mut TransferConfig)| {
        let net = incast(Medium::Ethernet, switch(5), 6, |node| {
            node.protocol.missing_timeout = Some(2_000 * MICROSECOND);
            node.protocol.op_timeout = 1_000 * MICROSECOND;
            node.protocol.max_retry = 20;
            change(node);
        });
        totals(&net, 4_000_000 * MICROSECOND)
    };
    let (free, outcome) = small(|_| ());
    assert_eq!((free.stats.completed, free.stats.verified), (4, 4));
    assert!(outcome.dropped > 100, "{} dropped", outcome.dropped);
    assert!(free.stats.payload > 4 << 20);
    let (paced, outcome) = small(|node| {
        node.receives = Some(1);
        node.job.cts_req = 1;
    });
    assert_eq!((paced.stats.completed, paced.stats.verified, outcome.dropped), (4, 4, 0));
    assert_eq!(paced.stats.payload, 4 << 20);
}

/// Equal numbers whatever the event list and the pipeline, with frames lost, doubled and late besides.
#[test]
fn results_do_not_depend_on_the_kernel() {
    for medium in Medium::ALL {
        let net = incast(medium, switch(5), 4, |node| {
            node.faults = [TransferFaults { lost: 50_000, doubled: 50_000, delayed: 50_000, damaged: 0 }; 2];
            node.delay = Duration(100 * MICROSECOND);
            node.protocol.ordered = false;
            node.protocol.op_timeout *= 4;
            node.protocol.max_retry = 20;
            node.job.blocksize = sizes(medium).0.trailing_zeros() as u16;
            node.job.bytes = 1 << 18;
        });
        let config = Arc::new(net.config.clone());
        let mut found = Vec::new();
        let base = RunOptions::default();
        let heap = RunOptions { list: ListKind::Heap, ..base };
        let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..base };
        for options in [base, heap, unfolded] {
            let mut simulation = models::Simulation::new(Arc::clone(&config), options, ());
            simulation.run(Time(4_000_000 * MICROSECOND), u64::MAX);
            let outcome = simulation.finish().1;
            let totals = outcome.totals.one::<TransferTotals>().expect("one flow");
            assert_eq!((totals.stats.completed, totals.stats.corrupt), (4, 0), "{medium:?} {totals:?}");
            assert!(totals.stats.lost > 0 && totals.stats.doubled > 0 && totals.stats.delayed > 0);
            found.push((outcome.outcome, outcome.trajectory, totals.stats.clone()));
        }
        assert!(found.windows(2).all(|two| two[0] == two[1]), "{medium:?}");
    }
}

/// When the last endpoint was connected.
#[derive(Default)]
struct Connected(Option<u64>);

impl Probe for Connected {
    fn protocol_event(&mut self, event: &ProtocolEvent) {
        if event.fact == ProtocolFact::Connected && event.device == 4 {
            self.0.get_or_insert(event.at.0);
        }
    }
}

/// Proves: ST-A.1-6
///
/// Data that stands still does not keep Control waiting: each channel has buffers of its own.
#[test]
fn control_passes_data_on_four_channels() {
    // All links into the switch are fast, that of the destination is slow: Data fills all buffers.
    let connect = |medium| {
        let mut net = incast(medium, switch(5), 4, |_| ());
        net.config.links[0].char_ps.0 *= 50;
        // The last end connects when the buffers are full, and wants nothing but a small Transfer.
        let late = 3_000 * MICROSECOND;
        let ProtocolConfig::Transfer(last) = &mut net.agent(4).parts[0].protocol else { unreachable!() };
        (last.connect_at, last.job.bytes) = (Time(late), 8);
        for id in 0..5 {
            let ProtocolConfig::Transfer(node) = &mut net.agent(id).parts[0].protocol else { unreachable!() };
            (node.protocol.op_timeout, node.protocol.missing_timeout) = (1 << 50, None);
        }
        let config = Arc::new(net.config.clone());
        let mut connected = Connected::default();
        let mut simulation = models::Watched::new(config, RunOptions::default(), &mut connected);
        simulation.run(Time(2_000_000 * MICROSECOND), u64::MAX);
        simulation.finish();
        let Connected(at) = connected;
        at.expect("it connects") - late
    };
    let (apart, together) = (connect(Medium::Hippi6400), connect(Medium::HippiFp));
    assert!(apart * 4 < together, "{apart} ps beside {together} ps");
}

/// Two hosts with so many interfaces each; the second has the ids behind those of the first, and writes.
fn striped(medium: Medium, into: u16, from: u16, bytes: u64, change: impl Fn(&mut TransferConfig)) -> Net {
    let (stu, blocksize) = sizes(medium);
    let hosts = [(0..into).collect::<Vec<u16>>(), (into..into + from).collect()];
    let mut net = ends(medium, into + from, stu, job(bytes, 24, blocksize), |node| {
        node.peers = if node.node == into { vec![0] } else { vec![] };
        if let Some(host) = hosts.iter().find(|host| host[0] == node.node) {
            node.interfaces.clone_from(host);
            node.protocol.interfaces = host.len() as u8;
        }
        node.protocol.missing_timeout = node.protocol.missing_timeout.map(|time| 4 * time);
        change(node);
    });
    // The other interfaces have no agents.
    net.config.agents.retain(|agent| hosts.iter().any(|host| u32::from(host[0]) == agent.id));
    net
}

/// Proves: ST-A.5-9
///
/// A Write over several interfaces is as fast as the narrower of its ends, octet for octet right.
#[test]
fn stripes_add_up() {
    for medium in [Medium::FibreChannel, Medium::Hippi6400, Medium::Ethernet] {
        for (into, from) in [(1, 1), (2, 2), (4, 4), (1, 2), (2, 1), (3, 2)] {
            let (stu, blocksize) = sizes(medium);
            let bytes = 64 << blocksize;
            let net =
                striped(medium, into, from, bytes, |node| node.job.cts_req = if into == 1 { 4 } else { 24 });
            let time = way(&net, medium, stu).block_time(1 << blocksize);
            let (totals, outcome) = totals(&net, 64 * 8 * time);
            let stats = &totals.stats;
            let case = format!("{medium:?}, {from} to {into}");
            assert_eq!((stats.completed, stats.verified, stats.payload), (1, 1, bytes), "{case} {totals:?}");
            assert_eq!(outcome.dropped, 0, "{case}");
            let took = stats.last_done.unwrap().0 - stats.first_begun.unwrap().0;
            let analytic = 64 * time / u64::from(into.min(from));
            assert!(took >= analytic * 99 / 100, "{case}: {took} ps, {analytic} at least");
            // Of many to many, two may write to one for a while, and another has nothing to do.
            let least = if into.min(from) > 1 { 75 } else { 95 };
            assert!(took * least <= analytic * 100, "{case}: {took} ps instead of {analytic}");
        }
    }
}

/// Frames of one stripe are lost, doubled and late like those of all; results are those of any kernel.
#[test]
fn stripes_lose_nothing_for_good() {
    let net = striped(Medium::FibreChannel, 3, 4, 4 << 20, |node| {
        node.faults = [TransferFaults { lost: 20_000, doubled: 20_000, delayed: 0, damaged: 0 }; 2];
        node.protocol.max_retry = 20;
    });
    let mut found = Vec::new();
    let base = RunOptions::default();
    let heap = RunOptions { list: ListKind::Heap, ..base };
    let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..base };
    for options in [base, heap, unfolded] {
        let mut simulation = models::Simulation::new(Arc::new(net.config.clone()), options, ());
        simulation.run(Time(4_000_000 * MICROSECOND), u64::MAX);
        let outcome = simulation.finish().1;
        let stats = &outcome.totals.one::<TransferTotals>().expect("one flow").stats;
        assert_eq!((stats.completed, stats.verified, stats.corrupt), (1, 1, 0), "{stats:?}");
        assert!(stats.lost > 0 && stats.doubled > 0);
        found.push((
            outcome.outcome,
            outcome.trajectory,
            outcome.totals.one::<TransferTotals>().expect("one flow").clone(),
        ));
    }
    assert!(found.windows(2).all(|two| two[0] == two[1]));
}

/// Octets of all frames, with the device that sent them.
#[derive(Default)]
struct Frames(Vec<(u32, Vec<u8>)>);

impl Probe for Frames {
    fn signal(&mut self, signal: &Signal) {
        if let SignalKind::Frame { octets } = &signal.kind {
            self.0.push((signal.device, octets.clone()));
        }
    }
}

/// Proves: ST-A-1, ST-A.2-7, ST-A.5-10
///
/// What switches need to find the way (12 bits on HIPPI, 24 on Fibre Channel; here the destination id)
/// follows from the universal address, beside the frame: two destinations that only a switch tells apart get
/// frames that differ in that address alone.
#[test]
fn switch_addresses_are_no_part_of_frames() {
    for medium in [Medium::HippiFp, Medium::FibreChannel] {
        let first = |peer: u16| {
            let (stu, blocksize) = sizes(medium);
            let net = ends(medium, 4, stu, job(100_000, 4, blocksize), |node| {
                node.peers = if node.node == 3 { vec![peer] } else { vec![] };
                node.captured = true;
            });
            let config = Arc::new(net.config.clone());
            let mut seen = Frames::default();
            let mut simulation = models::Watched::new(config, RunOptions::default(), &mut seen);
            simulation.run(Time(1_000_000 * MICROSECOND), u64::MAX);
            let outcome = simulation.finish();
            let Frames(frames) = seen;
            let stats = &outcome.totals.one::<TransferTotals>().expect("one flow").stats;
            assert_eq!((stats.verified, stats.foreign), (1, 0), "the switch found the way");
            frames.into_iter().find(|(device, _)| *device == 3).expect("it asks for a connection").1
        };
        let (one, two) = (first(1), first(2));
        let address = |id: u8| [2, 0, 0, 0, 0, id];
        let at = one.windows(6).position(|octets| octets == address(1)).expect("D_ULA");
        assert_eq!(two[at..at + 6], address(2));
        assert_eq!((&one[..at], &one[at + 6..]), (&two[..at], &two[at + 6..]), "{medium:?}");
    }
}

/// What was dropped: of which flow, and how many endpoints do not get it.
#[derive(Default)]
struct Drops(Vec<(u16, u64)>);

impl Probe for Drops {
    fn dropped(&mut self, dropped: &models::probe::Dropped) {
        self.0.push((dropped.flow, dropped.members));
    }
}

/// A frame for a group that finds no room is missing at every member, one for an endpoint there alone.
#[test]
fn a_group_misses_what_is_dropped() {
    for members in [&[2, 3, 4][..], &[1, 2, 3, 4]] {
        let mut net = on_medium(Medium::Ethernet, 5, switch(5));
        net.buffers(2);
        let group = net.multicast(members);
        net.saturated(0, 0, group);
        net.saturated(1, 0, 2);
        let mut simulation =
            models::Simulation::new(Arc::new(net.config.clone()), RunOptions::default(), Drops::default());
        simulation.run(Time(1_000 * MICROSECOND), u64::MAX);
        let (drops, outcome) = simulation.finish();
        assert_eq!(drops.0.len() as u64, outcome.dropped);
        let law = [members.len() as u64, 1];
        let mut of_flow = [0, 0];
        for (flow, missing) in drops.0 {
            of_flow[usize::from(flow)] += 1;
            assert_eq!(missing, law[usize::from(flow)], "flow {flow}");
        }
        assert!(of_flow[0] > 10, "{of_flow:?}");
    }
}

/// A packet behind full buffers, by hand. Of four ports three may send to the fourth, so of the last switch's
/// eight buffers each has every third turn, and of the first one's every ninth; no more than there are
/// sources. What all inputs share counts once. An endpoint keeps nobody waiting.
#[test]
fn a_packet_behind_full_buffers_waits_for_the_turns_of_all() {
    let hop = |inputs: u64, places: [u64; 2]| Hop {
        char_ps: (1_000, 1),
        delimiter: 8,
        framing: Framing::new(false),
        after: 0,
        head: None,
        news: 0,
        is_read: true,
        buffers: [None; PRIORITIES],
        ack_window: 31,
        inputs,
        places,
    };
    let path = |hops: &[Hop]| Path { hops: hops.to_vec(), priority: 0 };
    let (end, switch) = (hop(0, [16, 0]), hop(3, [8, 0]));
    let turn = 100_000;
    for (hops, sources, turns) in [
        (&[end][..], 100, 0),
        (&[switch, end], 100, 24),
        (&[switch, switch, end], 100, 72 + 24),
        (&[switch, switch, end], 5, 40 + 24),
        (&[switch, switch, end], 2, 16 + 16),
        (&[switch, switch, end], 1, 8 + 8),
        (&[switch, hop(3, [8, 5]), end], 100, 72 + 24 + 5),
    ] {
        assert_eq!(path(hops).crowded(92, sources), turns * turn, "{sources} sources, {hops:?}");
    }
}
