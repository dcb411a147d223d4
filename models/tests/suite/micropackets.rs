//! Virtual channels of HIPPI-6400 share a link by micropackets.
//!
//! The law (docs/transfer.md, "Channels"): a link is a row of slots of one micropacket. Who begins on an idle
//! link begins at once, the lowest channel first. At the end of each slot the next one belongs to the first
//! channel after that of the last micropacket, in the order VC0, VC1, VC2, VC3, VC0, that has something: a
//! message that has begun, or one that waits and has room at the neighbour. What arrives at the end of a slot
//! is in time for the next one; what an endpoint makes at that instant is not. A channel sends one message
//! after the other.
use crate::common::*;
use models::config::*;
use models::probe::Delivery;
use models::{Probe, Progress, RunOptions, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

/// A micropacket: 32 octets and 64 control bits at 8 Gb/s.
const M: u64 = 40_000;
/// Propagation and pipeline of the fabrics of these tests.
const WAY: u64 = 20_000;
const PIPELINE: u64 = 100_000;
/// Micropackets of a message of 32 KiB: 24 octets of headers, 40 of the Schedule Header.
const LONG: u64 = (24 + 40 + 32_768) / 32;
/// Those of an operation of Control without payload.
const CONTROL: u64 = (24 + 40) / 32;

/// So many micropackets.
fn micropackets(n: u64) -> Sizes {
    Sizes::Fixed(PacketSize { payload: (n * 32) as u16, wire: (n * 40) as u16 })
}

/// Priority of a virtual channel.
fn priority(channel: usize) -> u8 {
    Medium::Hippi6400.priority(channel as u8)
}

/// Endpoints of switches in a row, all links HIPPI-6400.
fn net(at: &[usize], model: &SwitchConfig) -> Net {
    let switches = at.iter().max().unwrap() + 1;
    let trunks: Vec<(usize, usize)> = (1..switches).map(|s| (s - 1, s)).collect();
    let mut net = Net::new(vec![model.clone(); switches], at, &trunks);
    for (index, link) in net.config.links.iter_mut().enumerate() {
        link.char_ps = Medium::Hippi6400.octet_ps(Medium::Hippi6400.rates()[0]);
        (link.lanes, link.symbol_chars, link.long_symbols, link.ack_window) = (1, 0, false, u16::MAX);
        net.config.media.push(MediumLink { link: index as u32, medium: Medium::Hippi6400 });
    }
    net
}

/// One message of a channel; its flow is the number of messages before it.
fn message(net: &mut Net, from: u32, channel: usize, to: u32, at: u64, length: u64) {
    net.burst(from, priority(channel), to, at, 1);
    net.config.sources.last_mut().unwrap().sizes = micropackets(length);
}

/// Messages of a channel that never end.
fn saturated(net: &mut Net, from: u32, channel: usize, to: u32, length: u64) {
    net.saturated(from, priority(channel), to).sizes = micropackets(length);
}

/// Deliveries by flow: (creation, arrival), and the flows in the order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
struct Arrived {
    flows: Vec<Vec<(u64, u64)>>,
    order: Vec<usize>,
}

impl Probe for Arrived {
    fn delivered(&mut self, d: &Delivery) {
        assert_eq!(d.parts.total(), d.latency(), "the causes add up");
        let flow = usize::from(d.flow);
        if self.flows.len() <= flow {
            self.flows.resize(flow + 1, Vec::new());
        }
        self.flows[flow].push((d.created.0, d.at.0));
        self.order.push(flow);
    }
}

/// What arrives until then, equal in every mode of the kernel.
fn arrived(net: &Net, until: u64) -> Arrived {
    let config = Arc::new(net.config.clone());
    let found = ALL_OPTIONS.map(|options: RunOptions| {
        let mut simulation = Simulation::new(config.clone(), options, Arrived::default());
        assert_ne!(simulation.run(Time(until), u64::MAX), Progress::Stalled);
        let (found, outcome) = simulation.finish();
        (found, outcome.outcome, outcome.trajectory, outcome.dropped)
    });
    assert!(found.windows(2).all(|two| two[0] == two[1]));
    let [(found, _, _, dropped), ..] = found;
    assert_eq!(dropped, 0);
    found
}

/// Every way a switch can queue, read one message of a channel at a time.
fn models() -> Vec<SwitchConfig> {
    let cut = Forwarding::CutThrough { header: 8 };
    vec![
        switch(0),
        SwitchConfig { input: InputQueueing::Fifo, ..switch(0) },
        SwitchConfig { arbitration: Arbitration::OldestFirst, ..switch(0) },
        SwitchConfig { arbitration: Arbitration::Random, ..switch(0) },
        SwitchConfig { arbitration: Arbitration::Islip { iterations: 2 }, ..switch(0) },
        SwitchConfig { buffering: Buffering::Crosspoint { depth: 2 }, ..switch(0) },
        SwitchConfig { buffering: Buffering::Output { packets: 2 }, ..switch(0) },
        SwitchConfig { forwarding: cut, ..switch(0) },
        SwitchConfig { forwarding: cut, input: InputQueueing::Fifo, ..switch(0) },
    ]
}

// --- one link ------------------------------------------------------------------------------------

/// Slots until message `n` of several has left that are all there when the link is idle, one on each channel,
/// the lowest channel first: its own, and before its last one each channel before it has had as many as it
/// has itself, each channel after it one less, unless they had enough.
fn together(lengths: &[u64], n: usize) -> u64 {
    let own = lengths[n];
    let before: u64 = lengths[..n].iter().map(|&length| length.min(own)).sum();
    let after: u64 = lengths[n + 1..].iter().map(|&length| length.min(own - 1)).sum();
    before + own + after
}

/// Messages that are there together leave one micropacket each in turn: two of m and n micropackets end after
/// m + min(n, m - 1) and n + min(m, n) slots; three and four by the same law.
#[test]
fn messages_that_are_there_together_leave_in_turn() {
    assert_eq!((together(&[3, 5], 0), together(&[3, 5], 1)), (3 + 2, 5 + 3));
    assert_eq!((together(&[5, 3], 0), together(&[5, 3], 1)), (5 + 3, 3 + 3));
    let mut cases: Vec<Vec<u64>> = vec![vec![LONG, CONTROL], vec![CONTROL, LONG], vec![LONG, LONG]];
    for a in 1..=4 {
        cases.push(vec![a]);
        for b in 1..=4 {
            cases.push(vec![a, b]);
            cases.extend((1..=3).map(|c| vec![a, b, c]));
        }
    }
    cases.extend([vec![1, 1, 1, 1], vec![4, 3, 2, 1], vec![1, 2, 3, 4], vec![2, 9, 1, 5]]);
    for lengths in cases {
        let first = 4 - lengths.len();
        let mut net = net(&[0; 5], &switch(0));
        let at = 7_000;
        for (n, &length) in lengths.iter().enumerate() {
            // Each to an endpoint of its own: the next link is its alone.
            message(&mut net, 0, first + n, 1 + n as u32, at, length);
        }
        let found = arrived(&net, 1_000_000_000);
        for (n, &length) in lengths.iter().enumerate() {
            let end = at + together(&lengths, n) * M;
            let expected = end + WAY + PIPELINE + length * M + WAY;
            assert_eq!(found.flows[n], [(at, expected)], "{lengths:?}: message {n}");
        }
    }
}

/// Behind a switch that cuts through, each ends as much after its end on the link before as its head came
/// after its head there, if it has its own link: eight octets, the way and the pipeline.
#[test]
fn a_message_that_is_cut_through_ends_a_head_after_its_end_before() {
    let model = SwitchConfig { forwarding: Forwarding::CutThrough { header: 8 }, ..switch(0) };
    let behind = 8 * M / 40 + WAY + PIPELINE;
    for lengths in [vec![1, 1], vec![5, 2], vec![2, 5], vec![3, 7, 4, 1], vec![LONG, CONTROL, LONG]] {
        let mut net = net(&[0; 5], &model);
        for (n, &length) in lengths.iter().enumerate() {
            message(&mut net, 0, n, 1 + n as u32, 7_000, length);
        }
        // A second of each channel right behind, as short as can be: what is known of the first must last.
        for n in 0..lengths.len() {
            message(&mut net, 0, n, 1 + n as u32, 7_001, 1);
        }
        let found = arrived(&net, 1_000_000_000);
        let ready = |(id, &left): (usize, &u64)| {
            let channel = id % lengths.len();
            Ready { at: 7_000 + u64::from(id != channel), rank: channel, channel, left, id }
        };
        let all = [&lengths[..], &vec![1; lengths.len()]].concat();
        for (id, end) in link(all.iter().enumerate().map(ready).collect(), false) {
            let made = 7_000 + u64::from(id >= lengths.len());
            assert_eq!(found.flows[id], [(made, end + behind + WAY)], "{lengths:?}: {id}");
        }
    }
}

/// A message that is made `after` another has begun gets the first slot that begins later, and from then on
/// every second one.
#[test]
fn a_message_that_comes_later_gets_the_next_slot() {
    for (m, n) in [(1, 1), (2, 1), (5, 3), (5, 9), (LONG, CONTROL)] {
        for after in [1, M / 2, M - 1, M, M + 1, 3 * M + M / 2, m * M - 1] {
            if after >= m * M {
                continue;
            }
            for channels in [[1, 2], [2, 1], [3, 0]] {
                let mut net = net(&[0; 3], &switch(0));
                message(&mut net, 0, channels[0], 1, 0, m);
                message(&mut net, 0, channels[1], 2, after, n);
                let found = arrived(&net, 1_000_000_000);
                // Slots of the first that are over by then, and what it has left.
                let gone = after / M + 1;
                let left = m - gone;
                let ends =
                    [if left == 0 { m } else { gone + left + left.min(n) }, gone + n + left.min(n - 1)];
                for ((flow, length), made) in [m, n].into_iter().enumerate().zip([0, after]) {
                    let expected = ends[flow] * M + WAY + PIPELINE + length * M + WAY;
                    assert_eq!(found.flows[flow], [(made, expected)], "{m}, {n} after {after}: {flow}");
                }
            }
        }
    }
}

// --- several links -------------------------------------------------------------------------------

/// A message that is ready for a link at an instant.
#[derive(Copy, Clone, Debug)]
struct Ready {
    at: u64,
    /// Who goes first on an idle link among those of an instant.
    rank: usize,
    channel: usize,
    /// Micropackets left.
    left: u64,
    id: usize,
}

/// When the last micropacket of each message leaves a link, slot by slot. `in_time`: what becomes ready at
/// the end of a slot is in time for the next one.
fn link(mut ready: Vec<Ready>, in_time: bool) -> Vec<(usize, u64)> {
    ready.sort_by_key(|message| (message.at, message.rank));
    let mut ends = Vec::new();
    let (mut now, mut last) = (0, 3);
    while !ready.is_empty() {
        let first = |channel: usize| {
            let has = |m: &Ready| m.channel == channel && (m.at < now || in_time && now > 0 && m.at == now);
            ready.iter().position(has)
        };
        let n = (1..=4).find_map(|n| first((last + n) % 4)).unwrap_or_else(|| {
            now = ready[0].at;
            0
        });
        now += M;
        last = ready[n].channel;
        ready[n].left -= 1;
        if ready[n].left == 0 {
            ends.push((ready.remove(n).id, now));
        }
    }
    ends
}

/// Random messages of two endpoints, VC0 and VC2 of the one, VC1 and VC3 of the other, through a trunk to two
/// others, VC0 and VC1 to the one: every arrival is that of the row of slots, at each of three links.
#[test]
fn every_micropacket_has_its_slot() {
    let models = [
        switch(0),
        SwitchConfig { input: InputQueueing::Fifo, ..switch(0) },
        SwitchConfig { arbitration: Arbitration::OldestFirst, ..switch(0) },
        SwitchConfig { reads_per_input: 4, ..switch(0) },
    ];
    let mut late = 0;
    for seed in 0..240 {
        let mut draw = Draw(seed);
        let mut net = net(&[0, 0, 1, 1], &models[seed as usize % models.len()]);
        // Half of them meet at ends of slots.
        let step = if seed % 8 < 4 { M } else { 1 };
        let span = draw.of(&[2, 20, 200, 2_000]) * M;
        let mut messages: Vec<Ready> = Vec::new();
        for id in 0..1 + draw.below(30) as usize {
            let channel = draw.below(4) as usize;
            let most = draw.of(&[1, 3, 30, 300]);
            let left = 1 + draw.below(most);
            let at = draw.below(span / step) * step;
            messages.push(Ready { at, rank: channel, channel, left, id });
        }
        for m in &messages {
            message(&mut net, m.channel as u32 % 2, m.channel, 2 + m.channel as u32 / 2, m.at, m.left);
        }
        // The way of the messages of one input of the next device.
        let next = |ends: Vec<(usize, u64)>, rank: usize| {
            let ready = |(id, end)| Ready { at: end + WAY + PIPELINE, rank, ..messages[id] };
            ends.into_iter().map(ready).collect::<Vec<Ready>>()
        };
        let some = |ready: &[Ready], which: &dyn Fn(usize) -> bool| {
            ready.iter().copied().filter(|m| which(m.channel)).collect::<Vec<Ready>>()
        };
        let mut trunk = next(link(some(&messages, &|channel| channel % 2 == 0), false), 0);
        trunk.extend(next(link(some(&messages, &|channel| channel % 2 == 1), false), 1));
        let last = next(link(trunk, true), 0);
        let mut ends = link(some(&last, &|channel| channel < 2), true);
        ends.extend(link(some(&last, &|channel| channel >= 2), true));
        let found = arrived(&net, 1_000_000_000);
        for (id, end) in ends {
            let Ready { at, left, .. } = messages[id];
            assert_eq!(found.flows[id], [(at, end + WAY)], "seed {seed}: {id} of {messages:?}");
            late += u64::from(end + WAY > at + 3 * (left * M + WAY) + 2 * PIPELINE);
        }
    }
    assert!(late > 1_000, "many of them met others: {late}");
}

/// An operation of Control behind messages of 32 KiB of another channel, which have the same way: each of its
/// two micropackets waits for at most one of theirs at each link.
#[test]
fn control_does_not_wait_for_a_message_of_another_channel() {
    for model in models() {
        let mut net = net(&[0, 0, 1, 1], &model);
        saturated(&mut net, 0, 1, 3, LONG);
        let every = Arrivals::Constant { interval: (1_111_111, 1), phase: Duration(1_000_000) };
        net.source(0, priority(0), every, Destinations::Fixed(3)).sizes = micropackets(CONTROL);
        let found = arrived(&net, 600_000_000);
        let alone = 3 * (CONTROL * M + WAY) + 2 * PIPELINE;
        // A head of eight octets decides.
        let head = 8 * M / 40;
        let alone = match model.forwarding {
            Forwarding::StoreAndForward => alone,
            Forwarding::CutThrough { .. } => alone - 2 * (CONTROL * M - head),
        };
        let times: Vec<u64> = found.flows[1].iter().map(|(made, at)| at - made).collect();
        assert!(times.len() > 530, "{model:?}: {} arrived", times.len());
        let range = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
        assert!(
            range.0 >= alone + M && range.1 <= alone + 3 * CONTROL * M,
            "{model:?}: {range:?}, alone {alone}"
        );
        // And the messages take what Control leaves.
        let used = CONTROL * M * 600_000_000 / 1_111_111;
        let most = (600_000_000 - used) / (LONG * M);
        let bulk = found.flows[0].len() as u64;
        assert!((most - 3..=most).contains(&bulk), "{model:?}: {bulk} of {most}");
    }
}

/// Control on an idle channel waits at most one micropacket of each other channel at every link, whatever is
/// sent from the same input to the same or to other outputs, and never because the input is being read or
/// because another channel has no room.
#[test]
fn an_idle_channel_waits_a_micropacket_of_each_other_a_hop() {
    for model in models() {
        for others in 0..=3usize {
            // Endpoints 0 and 1 at the first switch, 2 and 3 at the second.
            let mut net = net(&[0, 0, 1, 1], &model);
            for channel in 1..=others {
                saturated(&mut net, 0, channel, 2, 1_000);
                saturated(&mut net, 1, channel, 3, 1_000);
            }
            let every = Arrivals::Constant { interval: (1_111_111, 1), phase: Duration(1_000_000) };
            net.source(0, priority(0), every, Destinations::Fixed(3)).sizes = micropackets(1);
            let found = arrived(&net, 100_000_000);
            let alone = 3 * (M + WAY) + 2 * PIPELINE;
            let cut = matches!(model.forwarding, Forwarding::CutThrough { .. });
            // A head of eight octets of the one micropacket decides.
            let alone = if cut { alone - 2 * (M - 8 * M / 40) } else { alone };
            let times: Vec<u64> = found.flows[2 * others].iter().map(|(made, at)| at - made).collect();
            assert!(times.len() > 85, "{} arrived", times.len());
            let most = alone + 3 * others as u64 * M;
            let range = (*times.iter().min().unwrap(), *times.iter().max().unwrap());
            assert!(range.0 >= alone && range.1 <= most, "{model:?} {others}: {range:?}, {alone} to {most}");
            assert!(others == 0 || range.1 > alone, "it waits at least once");
        }
    }
}

/// Saturated channels share a link equally, to a message, and fill it: n times 25 % of four, 100 % of one.
/// Long and short messages alike.
#[test]
fn saturated_channels_share_the_link_equally() {
    for model in models() {
        for channels in 1..=4usize {
            let mut net = net(&[0, 0, 1, 1], &model);
            let lengths = [200, 50, 200, 20];
            for (channel, length) in lengths.into_iter().enumerate().take(channels) {
                saturated(&mut net, 0, channel, 2, length);
            }
            let span = 4_000 * M;
            let found = arrived(&net, span);
            for (channel, found) in found.flows.iter().enumerate() {
                let length = lengths[channel] * M;
                let share = span / channels as u64;
                let sent = found.len() as u64 * length;
                // What is under way at the end: a message on each of three links; and the way itself.
                let slack = 4 * length + 3 * (WAY + PIPELINE);
                assert!(
                    (share - slack..=share + M).contains(&sent),
                    "{model:?}: channel {channel} of {channels} got {sent} of {share} ps"
                );
            }
        }
    }
}

/// Equal sources of one channel at different inputs get equal shares, also where their messages end together
/// and others pass them.
#[test]
fn inputs_share_a_channel_equally() {
    for model in models() {
        if model.arbitration == Arbitration::Random {
            continue;
        }
        let mut net = net(&[0, 0, 0, 1, 1], &model);
        for from in 0..3 {
            saturated(&mut net, from, 1, 3, 100);
            saturated(&mut net, from, 1, 4, 100);
        }
        net.constant(0, priority(0), 4, 10, 0).sizes = micropackets(1);
        let found = arrived(&net, 30_000 * M).flows;
        let from: Vec<usize> = (0..3).map(|n| found[2 * n].len() + found[2 * n + 1].len()).collect();
        assert!(from.iter().all(|one| one.abs_diff(from[0]) <= 6), "{model:?}: {from:?}");
        let all = from.iter().sum::<usize>();
        assert!(all > 270, "{model:?}: {all} of 300");
    }
}

/// Outputs that want one channel of an input read it in turn, also one that always has something on another
/// channel, and so never waits idly.
#[test]
fn outputs_share_a_channel_of_an_input_in_turn() {
    for arbitration in [Arbitration::RoundRobin, Arbitration::OldestFirst] {
        let mut net = net(&[0; 4], &SwitchConfig { arbitration, ..switch(0) });
        for to in [2, 3] {
            let one_after_the_other = Arrivals::Saturated { backlog: 1 };
            let source = net.source(0, priority(1), one_after_the_other, Destinations::Fixed(to));
            source.sizes = micropackets(10);
        }
        saturated(&mut net, 1, 2, 3, 1_000);
        let found = arrived(&net, 60_000 * M);
        let mut ahead = 0i64;
        for flow in found.order {
            ahead += [1, -1, 0][flow];
            assert!(ahead.abs() <= 2, "the two flows take turns");
        }
        // To the second of them 20 slots a message, to the first 10, one after the other.
        assert!(found.flows[0].len() > 1_900, "{arbitration:?}: {}", found.flows[0].len());
    }
}

/// Whatever the switches are, however few places they have and whoever waits for whom: every message arrives,
/// the causes of its latency add up to it, all modes agree, and no event posts itself again and again: a slot
/// of a link makes at most four (a border, an end that is not true any more, a look for micropackets that are
/// late, a tick), a message at a hop at most 24 others.
#[test]
fn every_message_arrives_after_so_many_events() {
    for seed in 0..160 {
        let mut draw = Draw(1_000 + seed);
        let depth = 1 + draw.below(3) as u16;
        let model = SwitchConfig {
            input: draw.of(&[InputQueueing::Voq, InputQueueing::Fifo]),
            buffering: draw.of(&[
                Buffering::Direct,
                Buffering::Direct,
                Buffering::Crosspoint { depth },
                Buffering::Output { packets: depth },
            ]),
            arbitration: draw.of(&[
                Arbitration::RoundRobin,
                Arbitration::OldestFirst,
                Arbitration::Random,
                Arbitration::Islip { iterations: 1 },
                Arbitration::Islip { iterations: 3 },
            ]),
            reads_per_input: draw.of(&[1, 1, 2, 4]),
            forwarding: draw.of(&[
                Forwarding::StoreAndForward,
                Forwarding::CutThrough { header: 4 },
                Forwarding::CutThrough { header: 90 },
            ]),
            slot: draw.of(&[None, None, None, Some(Duration(M))]),
            pipeline: draw.of(&[Duration(PIPELINE), Duration(0), Duration(3 * M)]),
            ..switch(0)
        };
        let at = draw.of(&[vec![0, 0, 0], vec![0, 0, 1, 1], vec![0, 1, 2, 3], vec![0, 0, 0, 1, 2, 2]]);
        let mut net = net(&at, &model);
        net.buffers(1 + draw.below(3) as u8);
        let (span, most) = (draw.of(&[1, 100, 3_000]) * M, draw.of(&[1, 4, 40, 200]));
        let step = draw.of(&[1, M]);
        let (mut messages, mut slots) = (0, 0);
        for _ in 0..1 + draw.below(30) {
            let from = draw.below(at.len() as u64);
            let to = (from + 1 + draw.below(at.len() as u64 - 1)) % at.len() as u64;
            let (channel, length) = (draw.below(4) as usize, 1 + draw.below(most));
            let made = draw.below(span) / step * step;
            message(&mut net, from as u32, channel, to as u32, made, length);
            let links = 2 + at[from as usize].abs_diff(at[to as usize]) as u64;
            (messages, slots) = (messages + links, slots + links * length);
        }
        let events = 1_000 + 24 * messages + 4 * slots;
        let config = Arc::new(net.config.clone());
        let found = ALL_OPTIONS.map(|options: RunOptions| {
            let mut simulation = Simulation::new(config.clone(), options, Arrived::default());
            let progress = simulation.run(Time(1 << 50), events);
            assert_eq!(progress, Progress::Drained, "seed {seed}: {events} events, {model:?}");
            let (found, outcome) = simulation.finish();
            assert_eq!((outcome.in_flight, outcome.dropped), (0, 0), "seed {seed}");
            (found, outcome.outcome, outcome.trajectory)
        });
        assert!(found.windows(2).all(|two| two[0] == two[1]), "seed {seed}: the modes agree");
    }
}
