//! What endpoints do is made up later, and nobody can tell: laws by hand of what is seen between the start of
//! a packet and its arrival at the switch, when that is made up at the latest.
use crate::common::*;
use models::config::*;
use models::voq_backpressure::csr::XOFF;
use models::{Outcome, Progress, RunOptions, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

const PROPAGATION: u64 = 20_000;
const PIPELINE: u64 = 100_000;
/// From the start of a packet to when it can be in the switch.
const LAG: u64 = T + PROPAGATION + PIPELINE;
/// From its start to the other endpoint, without any wait.
const PATH: u64 = LAG + T + PROPAGATION;
/// From a write to the register of a port to when an endpoint hears of it.
const HEARD: u64 = T_CS + PROPAGATION;
/// A packet is created at 0, by an event; the next ones are created then.
const LATER: u64 = 20 * T;

/// Runs to `until` in all four modes: logs, totals and how the run ends are equal. Returns the first.
fn same(net: &Net, until: u64) -> (Log, Outcome, Progress) {
    let config = Arc::new(net.config.clone());
    let mut runs: Vec<(Log, Outcome, Progress)> = ALL_OPTIONS
        .iter()
        .map(|options| {
            let mut sim = Simulation::new(config.clone(), *options, Log::default());
            let progress = sim.run(Time(until), u64::MAX);
            let (log, outcome) = sim.finish();
            (log, outcome, progress)
        })
        .collect();
    let told = |(log, outcome, progress): &(Log, Outcome, Progress)| {
        let Outcome { end, over, ports, outcome, trajectory, stalls, left, .. } = outcome;
        let seen = (&log.edges, &log.samples, stalls, left);
        format!("{progress:?} {end:?} {over} {ports:?} {outcome:?} {trajectory:?} {seen:?}")
    };
    let first = told(&runs[0]);
    for (run, options) in runs.iter().zip(ALL_OPTIONS).skip(1) {
        assert_eq!(told(run), first, "{options:?}");
    }
    runs.swap_remove(0)
}

/// How many events of a kind there are in the fast mode, and in the reference.
fn events(net: &Net, until: u64, kind: &str) -> [u64; 2] {
    [ALL_OPTIONS[1], ALL_OPTIONS[3]].map(|options| {
        let options = RunOptions { profile: true, ..options };
        let mut sim = Simulation::new(Arc::new(net.config.clone()), options, Log::default());
        let _ = sim.run(Time(until), u64::MAX);
        let profile = sim.profile().expect("it was asked for");
        profile.events.iter().find(|(name, _)| *name == kind).map_or(0, |(_, count)| *count)
    })
}

/// A switch, endpoints 0 to 3 at its ports, which stage by these, and a packet from 0 to 3 at 0.
fn star() -> Net {
    star_of(4)
}

/// Likewise with more ports.
fn star_of(ports: usize) -> Net {
    let mut net = single(ports, switch(0));
    net.backpressure(&StagingConfig::PerPort, None);
    net.burst(0, 0, 3, 0, 1);
    net
}

/// The endpoints hear at `from` that the port is stopped, and at `until` that it is not.
fn stop(net: &mut Net, port: u8, from: u64, until: u64) {
    for (at, value) in [(from, XOFF), (until, 0)] {
        if at != u64::MAX {
            let change = VoqChange::Register { mask: XOFF, value };
            let device = net.endpoints;
            net.config.voq_writes.push(VoqWrite { at: Time(at - HEARD), device, port, change });
        }
    }
}

/// Starts of packets of a flow at their source, if nothing held them up afterwards.
fn starts(log: &Log, flow: u16) -> Vec<u64> {
    log.of(flow).map(|d| d.at.0 - PATH).collect()
}

/// Instants around the start of a packet, its end, and its arrival at the switch.
const AROUND: [u64; 14] = [
    0,
    1,
    T / 2,
    T - 1,
    T,
    T + 1,
    T + PROPAGATION,
    2 * T - 1,
    2 * T,
    2 * T + 1,
    LAG - 1,
    LAG,
    LAG + 1,
    LAG + HEARD - T_CS,
];

/// A sample sees every packet that has started as sent, and what has been created as waiting, whether or not
/// the switch has heard of them.
#[test]
fn a_sample_sees_what_has_started() {
    for x in AROUND {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 3);
        net.config.sample_every = Some(Duration(LATER + x));
        let (log, ..) = same(&net, 1_000 * T);
        // At the second one all is over.
        assert_eq!(log.samples.len(), 2, "{x}");
        let s = &log.samples[0];
        let started = (1 + x / T).min(3);
        assert_eq!((s.injected, s.delivered, s.in_flight), (4, 1, 3), "{x}");
        assert_eq!(s.carried_ps[0], (1 + started) * T, "{x}");
        assert_eq!(u64::from(s.output_waiting[0]), 3 - started, "{x}");
        // Two have waited since they were created, or until the one before was out.
        assert_eq!(s.waiting_ps[0], x.min(T) + x.min(2 * T), "{x}");
        // Ports of the switch come after those of the endpoints.
        assert_eq!(s.input_occupancy[4], u32::from(x >= LAG), "{x}");
        assert_eq!(s.in_flight_ps, PATH + 3 * x, "{x}");
    }
}

/// A run that ends between the start of a packet and its arrival at the switch has it under way, and the part
/// of it that has left.
#[test]
fn a_run_ends_with_what_has_started() {
    for x in AROUND {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 3);
        let (_, outcome, progress) = same(&net, LATER + x);
        let sent = totals(&outcome, 0, 0);
        assert_eq!((outcome.injected, outcome.delivered, outcome.in_flight), (4, 1, 3), "{x}");
        assert_eq!((progress, outcome.end), (Progress::Limit, Time(LATER + x)));
        assert_eq!((sent.packets_sent, sent.packet_ps), (1 + (1 + x / T).min(3), T + x.min(3 * T)), "{x}");
    }
}

/// A message about another port changes nothing for a packet that has started, or is about to.
#[test]
fn a_message_about_another_port_holds_nothing_up() {
    for at in AROUND.into_iter().map(|x| LATER + x).chain([LATER - 1]) {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 3);
        stop(&mut net, 2, at, at + 5 * T);
        let (log, ..) = same(&net, 1_000 * T);
        assert_eq!(starts(&log, 1), [LATER, LATER + T, LATER + 2 * T], "{at}");
        assert_eq!(log.stops(0, 0, 2), [(at, at + 5 * T)]);
    }
}

/// A message stops each packet that would start at its instant or later, and none that has started before.
#[test]
fn a_message_stops_what_has_not_started() {
    for at in AROUND.into_iter().map(|x| LATER + x).chain([LATER - 1, LATER - T]) {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 3);
        let go = at + 5 * T;
        stop(&mut net, 1, at, go);
        let (log, ..) = same(&net, 1_000 * T);
        let early = [0, 1, 2].map(|n| LATER + n * T).into_iter().filter(|start| *start < at);
        let late = (0..3).map(|n| go.max(LATER) + n * T);
        let law: Vec<u64> = early.chain(late).take(3).collect();
        assert_eq!(starts(&log, 1), law, "{at}");
        assert_eq!(log.stops(0, 0, 1), [(at, go)]);
    }
}

/// What is created at the instant of the message that lets it go starts then, and so do the packets behind
/// it, back to back.
#[test]
fn a_creation_at_the_instant_of_a_release() {
    for (from, go) in [(5, LATER), (15, LATER), (15, LATER - 1), (15, LATER + 1)] {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 3);
        stop(&mut net, 1, from * T, go);
        let (log, ..) = same(&net, 1_000 * T);
        let law = [0, 1, 2].map(|n| go.max(LATER) + n * T);
        assert_eq!(starts(&log, 1), law, "{go}");
    }
}

/// While a queue is stopped each creation is an event. Two packets of it are let go: the second starts when
/// the first is out, also if the next packet is created, for another port, before anybody hears of that.
#[test]
fn a_creation_after_an_end_that_is_made_up() {
    let go = LATER + 10 * T;
    // Queues of a few ports have lists of their own; sets and further ports move aside when they are stopped.
    for (ports, stopped, set) in [(4, 1, false), (4, 1, true), (72, 70, false)] {
        for x in [1, T / 2, T - 1, T, T + T_CS, T + T_CS + 1, T + LAG / 2] {
            let mut net = star_of(ports);
            // Both copies leave at a time.
            net.switch_mut(0).reads_per_input = 4;
            let to = if set { net.multicast(&[stopped, 2]) } else { stopped };
            net.burst(0, 0, to, LATER, 2);
            net.burst(0, 0, 3, go + T + x, 1);
            stop(&mut net, stopped as u8, LATER - T, go);
            let (log, ..) = same(&net, 1_000 * T);
            let mut held = starts(&log, 1);
            held.sort_unstable();
            let copies = if set { 2 } else { 1 };
            let law = [go, go + T].into_iter().flat_map(|at| std::iter::repeat_n(at, copies));
            assert_eq!(held, law.collect::<Vec<u64>>(), "{x}");
            assert_eq!(starts(&log, 2), [go + T + x.max(T)], "{x}");
        }
    }
}

/// A status that becomes due while a packet leaves rides on the symbol that ends it; all others have symbols
/// of their own. So it is also where the switch asks for credit before it hears of the packet.
#[test]
fn a_status_waits_for_a_packet_that_is_made_up() {
    const COUNT: u64 = 30;
    for n in 0..COUNT {
        // Delivery `n` is in the middle of the packet.
        let start = PATH + n * T - T / 2;
        let mut net = single(2, switch(2));
        net.burst(1, 0, 0, 0, COUNT);
        net.burst(0, 0, 1, 0, 1);
        net.burst(0, 0, 1, start, 1);
        let (log, outcome, _) = same(&net, 1_000 * T);
        assert_eq!(starts(&log, 0), (0..COUNT).map(|n| n * T).collect::<Vec<_>>(), "{n}");
        assert_eq!(starts(&log, 2), [start], "{n}");
        let sent = totals(&outcome, 0, 0);
        assert_eq!((sent.status_riding, sent.status_standalone), (1, COUNT - 1), "{n}");
    }
}

/// An endpoint takes packets back to back with so many buffers that its switch hears of each in time; what
/// it sends itself meanwhile changes nothing. `pipeline` T in the switch: so much later the switch would
/// hear of what is made up.
#[test]
fn what_is_made_up_takes_no_credit_away() {
    const COUNT: u64 = 40;
    for (pipeline, buffers) in [(1, 6), (1, 9), (1, 16), (20, 6), (20, 12), (20, 16), (20, 40)] {
        let lag = T + PROPAGATION + pipeline * T;
        let path = lag + T + PROPAGATION;
        for n in 1..COUNT {
            let start = path + n * T - T / 2;
            let mut net = single(2, SwitchConfig { pipeline: Duration(pipeline * T), ..switch(2) });
            net.buffers(60);
            net.config.devices[0].ports[0].buffers = buffers;
            net.burst(1, 0, 0, 0, COUNT);
            net.burst(0, 0, 1, 0, 1);
            net.burst(0, 0, 1, start, 2);
            let (log, ..) = same(&net, 1_000 * T);
            let arrivals = |flow| log.of(flow).map(|d| d.at.0).collect::<Vec<_>>();
            assert_eq!(arrivals(0), (0..COUNT).map(|n| path + n * T).collect::<Vec<_>>(), "{buffers} {n}");
            assert_eq!(arrivals(2), [path + start, path + start + T], "{buffers} {n}");
        }
    }
}

/// An endpoint whose switch has `buffers`, of which the last three are not for priority 0: each packet starts
/// when it is there, when the one before is out, and when the buffer of an earlier one is free again and that
/// has been heard, not before.
#[test]
fn a_burst_runs_out_of_credit() {
    let lag = T + PROPAGATION + 3 * T;
    // It takes a buffer until it has been sent on.
    let round_trip = lag + T + T_CS + PROPAGATION;
    for buffers in 5..=20u8 {
        for burst in [2 * T + T_CS, 2 * T + T / 5, 2 * T + T / 3, 3 * T, 4 * T + T / 5, 7 * T] {
            let mut net = single(2, SwitchConfig { pipeline: Duration(3 * T), ..switch(2) });
            net.buffers(60);
            net.config.devices[2].ports[0].buffers = buffers;
            net.burst(0, 0, 1, 0, 2);
            net.burst(0, 0, 1, burst, 12);
            let (log, ..) = same(&net, 1_000 * T);
            let mut law: Vec<u64> = Vec::new();
            for n in 0..14usize {
                let created = if n < 2 { 0 } else { burst };
                let out = law.last().map_or(0, |start| start + T);
                let room = (n + 3).checked_sub(buffers.into()).map_or(0, |earlier| law[earlier] + round_trip);
                law.push(created.max(out).max(room));
            }
            let mut seen: Vec<u64> = log.deliveries.iter().map(|d| d.at.0 - lag - T - PROPAGATION).collect();
            seen.sort_unstable();
            assert_eq!(seen, law, "{buffers} buffers, {burst} ps");
        }
    }
}

/// A packet that was to be made up, and is stopped for ever: whoever looks then sees that nothing is left to
/// happen, and is the last to look.
#[test]
fn nobody_waits_for_what_was_to_be_made_up() {
    for x in [0, 1, T, LAG - 1, LAG, LAG + 1] {
        let mut net = star();
        net.burst(0, 0, 1, LATER, 2);
        stop(&mut net, 1, 10 * T, u64::MAX);
        net.config.sample_every = Some(Duration(LATER + x));
        let (log, outcome, _) = same(&net, 1_000 * T);
        assert_eq!((log.samples.len(), outcome.in_flight), (1, 2), "{x}");
        net.config.sample_every = None;
        net.config.stall_after = Some(Duration(LATER + x));
        let (_, outcome, _) = same(&net, 1_000 * T);
        assert_eq!(outcome.stalls.len(), 1, "{x}");
        assert_eq!(outcome.stalls[0].at, Time(LATER + x));
        assert_eq!(events(&net, 1_000 * T, "watchdog"), [1, 1], "{x}");
    }
}

/// Observers look as long as something is left to happen, and once more.
#[test]
fn who_looks_at_what_is_made_up_looks_as_often() {
    for every in [T / 3, T, LAG - 1, LAG, LAG + 1, PATH - 1, PATH, PATH + 1] {
        let mut net = star();
        net.constant(0, 0, 1, 20, 5 * T).limit = 10;
        net.config.sample_every = Some(Duration(every));
        let last = 5 * T + 9 * 5 * T + PATH;
        let (log, ..) = same(&net, 1_000 * T);
        assert_eq!(log.samples.len() as u64, last.div_ceil(every), "{every}");
    }
}

/// A run at whose end nothing is left to happen says so, although what happened last was to be made up; also
/// if what is created was stopped before it could be expected.
#[test]
fn a_run_that_ends_before_what_was_stopped_is_made_up() {
    for (ports, stopped) in [(4, 1), (72, 70)] {
        for (end, left) in [(LATER, 2), (LATER + 5 * T, 3)] {
            for x in [0, 1, T, LAG - 1, LAG, LAG + 1] {
                let mut net = star_of(ports);
                net.burst(0, 0, stopped, LATER, 2);
                if left == 3 {
                    net.burst(0, 0, stopped, LATER + 5 * T, 1);
                }
                stop(&mut net, stopped as u8, 10 * T, u64::MAX);
                let (_, outcome, progress) = same(&net, end + x);
                assert_eq!((progress, outcome.in_flight), (Progress::Drained, left), "{end} {x}");
            }
        }
    }
}

/// A message that nobody has to obey, at the instant of a creation, changes nothing: what becomes due on the
/// wire meanwhile has its place before the next packet. With `n` acknowledgements due while a packet leaves,
/// one rides on the symbol that follows it and the others have one each, which the next packet waits for.
#[test]
fn a_message_at_the_instant_of_a_creation_leaves_the_wire_in_order() {
    let small = PacketSize { payload: 8, wire: 20 };
    let small_time = 28 * CHAR_PS;
    for message in [false, true] {
        for n in 1..=6u64 {
            let mut net = star();
            net.buffers(60);
            net.burst(0, 0, 3, LATER, 2);
            // From the first one's start to its end at the other end.
            let first = LATER + T / 4 - 2 * (small_time + PROPAGATION) - PIPELINE;
            net.burst(1, 0, 0, first, n);
            net.config.sources.last_mut().unwrap().sizes = Sizes::Fixed(small);
            if message {
                stop(&mut net, 2, LATER, LATER + 30 * T);
            }
            let (log, outcome, _) = same(&net, 1_000 * T);
            assert_eq!(starts(&log, 1), [LATER, LATER + T + (n - 1) * T_CS], "{message} {n}");
            let sent = totals(&outcome, 0, 0);
            assert_eq!((sent.status_riding, sent.status_standalone), (1, n - 1), "{message} {n}");
        }
    }
}

/// Beside an agent nothing is made up: what it sends finds the packets of a source where they are, the first
/// on the wire and the second waiting.
#[test]
fn an_agent_sends_while_a_packet_leaves() {
    for x in [1, T / 2, T - 1, T + 1] {
        let mut net = star();
        // Enough for the shortest packets that an agent may send.
        net.buffers(250);
        net.config.links.iter_mut().for_each(|link| link.ack_window = 4_095);
        net.burst(0, 0, 1, LATER, 2);
        let arrivals = Arrivals::Constant { interval: (1_000 * T, 1), phase: Duration(LATER + x) };
        let source = sender(Destinations::Fixed(1), arrivals, 64, 1);
        net.conversation(ProtocolConfig::Workload { carrier: MESSAGE }, &[0, 1], &[(0, source)]);
        let (log, ..) = same(&net, 500 * T);
        assert_eq!(log.messages.len(), 1);
        assert_eq!(starts(&log, 1), [LATER, LATER + T], "{x}");
    }
}
