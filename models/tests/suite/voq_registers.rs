//! Writes to VoQ registers and thresholds while traffic runs: Table 5-4 of Part 12, all its rows and the ways
//! between them; and what a comparison of levels says of what waits.
use crate::common::*;
use models::Outcome;
use models::config::*;
use models::voq_backpressure::csr::{GEN_EN, PART, XOFF};
use sim_core::{Duration, Time};

const END: u64 = 400 * T;
const PROPAGATION: u64 = 20_000;

/// One switch, four endpoints that stage by its ports; 2 takes a packet in `slow` T. Endpoint 0 sends to 2, 1
/// to 3.
fn star(slow: u64, hot: u64) -> Net {
    let mut net = single(4, switch(4));
    let detector = Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::Shared });
    net.backpressure(&StagingConfig::PerPort, detector);
    let s = net.switch_mut(0);
    (s.staging, s.reads_per_input) = (StagingConfig::None, 4);
    net.config.links[2].char_ps = (slow * CHAR_PS, 1);
    net.buffers(40);
    net.burst(0, 0, 2, 0, hot);
    net.constant(1, 0, 3, 70, 0);
    net
}

fn write(net: &mut Net, at: u64, port: u8, mask: u32, value: u32) {
    let device = net.endpoints;
    let change = VoqChange::Register { mask, value };
    net.config.voq_writes.push(VoqWrite { at: Time(at), device, port, change });
}

/// Messages that the switch has sent through a port.
fn sent(outcome: &Outcome, port: u8) -> u64 {
    let stats = totals(outcome, 4, port);
    stats.voq_riding + stats.voq_standalone
}

/// A symbol leaves at once or with the packet on the wire, and is there one propagation later.
fn follows(edge: u64, write: u64) -> bool {
    (write + T_CS + PROPAGATION..=write + T_CS + PROPAGATION + T + T_CS).contains(&edge)
}

/// Row 1 1 from row 1 0 and back, port 3 clear: the write changes what is reported, so it is told, and
/// traffic for port 3 stands meanwhile.
///
/// Proves: VOQ-5.1.2.2-4, VOQ-5.1.2.2-6
#[test]
fn xoff_stops_traffic_and_its_end_lets_it_go() {
    let mut net = star(1, 0);
    write(&mut net, 100 * T, 3, XOFF, XOFF);
    write(&mut net, 200 * T, 3, XOFF, 0);
    let (log, outcome) = net.run(END);
    for device in 0..4 {
        let [(stop, go)] = log.stops(device, 0, 3)[..] else { panic!("{:?}", log.edges) };
        assert!(follows(stop, 100 * T) && follows(go, 200 * T), "{stop} {go}");
    }
    assert_eq!((0..4).map(|port| sent(&outcome, port)).collect::<Vec<_>>(), [2; 4]);
    let inside = |t: u64| t > 102 * T && t < 200 * T;
    assert_eq!(log.of(1).filter(|d| inside(injected_at(d))).count(), 0);
    assert!(log.of(1).filter(|d| injected_at(d) > 200 * T).count() > 100, "it makes up for it");
}

/// Row 1 1 from row 1 0 and back, while port 2 is congested: what is reported does not change, nothing is
/// sent. If the congestion ends under XOFF, nobody hears until XOFF does.
///
/// Proves: VOQ-5.1.2.2-6
#[test]
fn xoff_of_a_congested_port_is_not_told() {
    let base = star(20, 30).run(END);
    let mut net = star(20, 30);
    // The verdict is on from 6 T on, for 20 T a packet.
    write(&mut net, 10 * T, 2, XOFF, XOFF);
    write(&mut net, 12 * T, 2, XOFF, 0);
    let (log, outcome) = net.run(END);
    let stops = |log: &Log| [0, 1].map(|device| log.stops(device, 0, 2));
    assert_eq!((stops(&log), sent(&outcome, 0)), (stops(&base.0), sent(&base.1, 0)));
    let mut net = star(20, 8);
    let whole = net.run(END).0;
    let clear = whole.stops(0, 0, 2)[0].1;
    write(&mut net, 10 * T, 2, XOFF, XOFF);
    write(&mut net, 300 * T, 2, XOFF, 0);
    let (log, _) = net.run(END);
    assert!(clear < 250 * T);
    assert!(follows(log.stops(0, 0, 2)[0].1, 300 * T), "{:?}", log.edges);
}

/// Rows 0 0 and 0 1: toggling XOFF of port 3 without PART is told by nobody; the next message about a port of
/// its group shows it.
///
/// Proves: VOQ-5.1.2.2-5, VOQ-4.2-9
#[test]
fn without_part_nothing_is_told_for_its_own_sake() {
    let run = |xoff: bool| {
        let mut net = star(20, 0);
        write(&mut net, 0, 3, PART, 0);
        if xoff {
            write(&mut net, 50 * T, 3, XOFF, XOFF);
        }
        // Port 2 becomes congested later.
        net.burst(0, 0, 2, 150 * T, 8);
        net.run(END)
    };
    let (log, outcome) = run(false);
    let first = log.stops(0, 0, 2)[0].0;
    assert!(log.stops(0, 0, 3).is_empty());
    let messages = sent(&outcome, 0);
    let (log, outcome) = run(true);
    assert_eq!(sent(&outcome, 0), messages, "the write is no reason to send");
    assert_eq!(
        (log.stops(0, 0, 2)[0].0, log.stops(0, 0, 3)[0].0),
        (first, first),
        "the message of port 2 shows it"
    );
}

/// What is not told for its own sake is told by the next refresh: from row 1 1 to row 0 0 the stale 1 goes,
/// and with toggled XOFF and without PART the neighbours stop. The law: refreshes are due at multiples of
/// their period, and a write triggers nothing, so each edge follows the first of them after the write
/// (VOQ-D12, VOQ-D18).
///
/// Proves: VOQ-5.1.2.2-5
#[test]
fn a_refresh_tells_what_was_written_without_part() {
    let run = |writes: &[(u64, u32, u32)]| {
        let mut net = star(1, 0);
        net.switch_mut(0).refresh = Some(Duration(50 * T));
        for &(at, mask, value) in writes {
            write(&mut net, at, 3, mask, value);
        }
        net.run(END)
    };
    let (log, outcome) = run(&[(110 * T, XOFF, XOFF), (210 * T, XOFF | PART, 0)]);
    for device in 0..4 {
        let [(stop, go)] = log.stops(device, 0, 3)[..] else { panic!("{:?}", log.edges) };
        assert!(follows(stop, 110 * T) && follows(go, 250 * T), "{stop} {go}");
    }
    assert!(log.of(1).filter(|d| injected_at(d) > 250 * T).count() > 100, "it makes up for it");
    let (log, _) = run(&[(0, PART, 0), (110 * T, XOFF, XOFF), (210 * T, XOFF, 0)]);
    for device in 0..4 {
        let [(stop, go)] = log.stops(device, 0, 3)[..] else { panic!("{:?}", log.edges) };
        assert!(follows(stop, 150 * T) && follows(go, 250 * T), "{stop} {go}");
    }
    // Each is the refresh that was due there anyway.
    let plain = run(&[]).1;
    let refreshes = |outcome: &Outcome| totals(outcome, 4, 0).voq_refreshes;
    assert!(refreshes(&outcome).abs_diff(refreshes(&plain)) <= 1);
}

/// From row 0 1 to row 1 1 and from row 0 0 to row 1 0 of a congested port: PART itself tells what is true,
/// if that changes what is reported (VOQ-D12).
#[test]
fn part_tells_what_is_true() {
    let mut net = star(20, 30);
    write(&mut net, 0, 2, PART, 0);
    write(&mut net, 40 * T, 2, PART, PART);
    let (log, _) = net.run(END);
    assert!(follows(log.stops(0, 0, 2)[0].0, 40 * T), "{:?}", log.edges);
    // It was reported as congested before: no change.
    let mut net = star(1, 0);
    write(&mut net, 0, 3, PART | XOFF, XOFF);
    write(&mut net, 40 * T, 3, PART, PART);
    let (log, outcome) = net.run(END);
    assert_eq!((log.edges.len(), sent(&outcome, 0)), (0, 0));
}

/// Without GEN_EN a port says nothing: who was stopped stays so (VOQ-D34). With it again, everything is told,
/// one group here.
///
/// Proves: VOQ-4.2-1
#[test]
fn generation_can_be_turned_off_and_on() {
    let mut net = star(20, 8);
    let clear = net.run(END).0.stops(0, 0, 2)[0].1;
    write(&mut net, 20 * T, 0, GEN_EN, 0);
    let (log, outcome) = net.run(END);
    assert_eq!(log.stops(0, 0, 2)[0].1, u64::MAX, "it never hears that port 2 is clear");
    assert!(log.stops(1, 0, 2)[0].1.abs_diff(clear) < T, "others do");
    assert!(outcome.in_flight > 0);
    write(&mut net, 350 * T, 0, GEN_EN, GEN_EN);
    let (log, _) = net.run(END);
    assert!(clear < 300 * T && follows(log.stops(0, 0, 2)[0].1, 350 * T), "{:?}", log.edges);
}

/// As [`star`], with these thresholds. Endpoint 2 takes 500 T for a packet, so from 20 T on all of `hot` wait
/// but the one that it has; nobody else sends.
fn standing(verdict: Verdict, (x_on, x_off): (u16, u16), hot: u64, delay: u64) -> Net {
    let mut net = star(500, hot);
    net.config.sources.retain(|source| source.endpoint == 0);
    let s = net.switch_mut(0);
    s.detector = Some(Detector { x_on, x_off, verdict });
    s.generation_delay = Duration(delay);
    net
}

fn thresholds(net: &mut Net, at: u64, port: u8, (x_on, x_off): (u16, u16)) {
    let device = net.endpoints;
    let change = VoqChange::Thresholds { x_on, x_off };
    net.config.voq_writes.push(VoqWrite { at: Time(at), device, port, change });
}

/// Endpoints to which nothing else goes.
const QUIET: [u32; 2] = [0, 1];

/// When they hear of a write: the message leaves at once after the generation delay.
fn heard(write: u64, delay: u64) -> u64 {
    write + delay + T_CS + PROPAGATION
}

/// Nine packets wait. An `on` of 9 stops their queue when it is written, and the generation delay later, as
/// if the ninth came then; one of 10 does not. `verdict` says who hears of it.
///
/// Proves: VOQ-4.2-5, VOQ-4.2-6, VOQ-2.5-1
#[test]
fn a_lower_on_stops_at_once() {
    for delay in [0, 70_000] {
        for (x_on, stops) in [(9, true), (10, false), (1, true)] {
            let mut net = standing(Verdict::Shared, (40, 0), 10, delay);
            thresholds(&mut net, 100 * T, 2, (x_on, 0));
            let (log, outcome) = net.run(END);
            for device in QUIET {
                let law = stops.then_some((heard(100 * T, delay), u64::MAX));
                assert_eq!(log.stops(device, 0, 2), law.into_iter().collect::<Vec<_>>(), "{x_on} {delay}");
            }
            let told = u64::from(stops);
            assert_eq!([0, 1, 2, 3].map(|port| sent(&outcome, port)), [told; 4]);
        }
    }
    // Six of one endpoint and three of another: each is told of its own.
    let law = |x_on: u16| {
        let mut net = standing(Verdict::PerIngress, (40, 0), 7, 0);
        net.burst(1, 0, 2, 50 * T, 3);
        thresholds(&mut net, 100 * T, 2, (x_on, 0));
        let log = net.run(END).0;
        QUIET.map(|device| log.stops(device, 0, 2).first().map(|stop| stop.0))
    };
    let heard = Some(heard(100 * T, 0));
    assert_eq!([7, 6, 4, 3].map(law), [[None, None], [heard, None], [heard, None], [heard, heard]]);
}

/// GEN_EN of a port is cleared while its neighbour has been told that port 2 is congested (VOQ-D34): nothing
/// is sent there any more, what it holds back stands for good, and the run tells of the write. It does not
/// where nothing had been told, nor of a port whose GEN_EN stays or comes back.
#[test]
fn who_falls_silent_leaves_its_neighbour_stopped() {
    let run = |writes: &[(u64, u8, u32, u32)], delay: u64| {
        let mut net = standing(Verdict::Shared, (9, 0), 10, delay);
        writes.iter().for_each(|&(at, port, mask, value)| write(&mut net, at * T, port, mask, value));
        let (log, outcome) = net.run(6_000 * T);
        let left = outcome.left_stopped(&net.config);
        (log, left.into_iter().map(|left| (left.at.0 / T, left.port, left.congested)).collect::<Vec<_>>())
    };
    let (log, left) = run(&[(2, 1, GEN_EN, 0), (100, 0, GEN_EN, 0)], 0);
    assert_eq!(left, [(100, (4, 0), vec![2])]);
    // The one neighbour hears of the first edge alone, another of none, the third of both.
    let [(stop, end)] = log.stops(0, 0, 2)[..] else { panic!("{:?}", log.edges) };
    assert!(stop < 20 * T && end == u64::MAX, "{stop} {end}");
    assert!(log.stops(1, 0, 2).is_empty(), "{:?}", log.edges);
    let [(_, end)] = log.stops(3, 0, 2)[..] else { panic!("{:?}", log.edges) };
    assert!(end < 6_000 * T);
    // With a delay of 50 T: the XON of port 3 is due, and what was told stands; the XOFF is due, and never
    // leaves.
    let on_off = [(100, 3, XOFF, XOFF), (200, 3, XOFF, 0)];
    assert_eq!(run(&[&on_off[..], &[(210, 1, GEN_EN, 0)]].concat(), 50 * T).1, [(210, (4, 1), vec![2, 3])]);
    assert_eq!(run(&[on_off[0], (110, 1, GEN_EN, 0)], 50 * T).1, [(110, (4, 1), vec![2])]);
    assert_eq!(run(&[on_off[0], (10, 1, GEN_EN, 0)], 50 * T).1, []);
    // Who speaks again says all anew.
    assert_eq!(run(&[&on_off[..], &[(210, 1, GEN_EN, 0), (400, 1, GEN_EN, GEN_EN)]].concat(), 0).1, []);
}

/// Nine packets wait, and the ninth has stopped their queue. An `off` of 9 releases it when it is written,
/// one of 8 when the next packet goes.
///
/// Proves: VOQ-4.2-5, VOQ-4.2-6
#[test]
fn a_higher_off_releases_at_once() {
    for delay in [0, 70_000] {
        // When the packet that 2 is sent first has left, the next one goes.
        let next = T + PROPAGATION + 100_000 + 500 * T;
        for (x_off, law) in [(9, heard(200 * T, delay)), (12, heard(200 * T, delay)), (8, heard(next, delay))]
        {
            let mut net = standing(Verdict::Shared, (9, 0), 10, delay);
            thresholds(&mut net, 200 * T, 2, (20, x_off));
            let (log, _) = net.run(600 * T);
            for device in QUIET {
                let [(stop, go)] = log.stops(device, 0, 2)[..] else { panic!("{:?}", log.edges) };
                assert!(stop < 20 * T, "{stop}");
                assert_eq!(go, law, "{x_off} {delay}");
            }
        }
    }
}

/// Between `off` and `on` a queue stays what it was: nine wait, and a write of 10 and 8, or of what holds
/// already, or to a port for which nothing waits, leaves a stopped queue stopped and others going. Then
/// nothing at all is different from a run without it.
///
/// Proves: VOQ-4.2-6
#[test]
fn a_write_between_the_thresholds_changes_nothing() {
    for verdict in [Verdict::Shared, Verdict::PerIngress] {
        for before in [(9, 0), (40, 0)] {
            let run = |written: Option<(u8, (u16, u16))>| {
                let mut net = standing(verdict, before, 10, 0);
                net.constant(1, 0, 3, 70, 0);
                written.into_iter().for_each(|(port, new)| thresholds(&mut net, 100 * T, port, new));
                let (log, outcome) = net.run(END);
                assert_eq!(log.stops(0, 0, 2).len(), usize::from(before.0 == 9));
                let told = format!("{:?} {:?} {:?}", log.edges, log.deliveries, outcome.ports);
                (told, outcome.outcome, outcome.trajectory)
            };
            let base = run(None);
            for written in [(2, (10, 8)), (2, before), (3, (1, 0)), (0, (1, 0))] {
                assert!(run(Some(written)) == base, "{before:?} {written:?}");
            }
        }
    }
}

/// A write decides what is judged from then on: with 12 in place of 4 the twelfth packet that waits stops its
/// queue. They come T apart, from 100 T on.
///
/// Proves: VOQ-4.2-6
#[test]
fn what_comes_later_is_judged_by_what_was_written() {
    let stop = |written: Option<u16>| {
        let mut net = standing(Verdict::PerIngress, (4, 0), 1, 0);
        net.burst(0, 0, 2, 100 * T, 20);
        written.into_iter().for_each(|x_on| thresholds(&mut net, 50 * T, 2, (x_on, 0)));
        net.run(END).0.stops(0, 0, 2)[0].0
    };
    assert_eq!(stop(Some(12)) - stop(None), 8 * T);
    assert_eq!(stop(Some(4)), stop(None));
}

/// Beside registers: without PART nobody is told of it, and PART tells what is true; a port without GEN_EN
/// tells nothing, and all with it; under XOFF nothing changes, and after it the verdict is what it became.
///
/// Proves: VOQ-4.2-1, VOQ-4.2-9, VOQ-5.1.2.2-6
#[test]
fn thresholds_beside_registers() {
    let lowered = |port: u8, bits: &[(u64, u32, u32)]| {
        let mut net = standing(Verdict::Shared, (40, 0), 10, 0);
        bits.iter().for_each(|&(at, mask, value)| write(&mut net, at, port, mask, value));
        thresholds(&mut net, 100 * T, 2, (4, 0));
        net.config.voq_writes.sort_by_key(|write| write.at);
        let log = net.run(END).0;
        QUIET.map(|device| log.stops(device, 0, 2))
    };
    let from = |at: u64| vec![(heard(at, 0), u64::MAX)];
    assert_eq!(lowered(2, &[(50 * T, PART, 0)]), [vec![], vec![]]);
    assert_eq!(lowered(2, &[(50 * T, PART, 0), (200 * T, PART, PART)]), [from(200 * T), from(200 * T)]);
    assert_eq!(lowered(0, &[(50 * T, GEN_EN, 0)]), [vec![], from(100 * T)]);
    let again = lowered(0, &[(50 * T, GEN_EN, 0), (200 * T, GEN_EN, GEN_EN)]);
    assert_eq!(again, [from(200 * T), from(100 * T)]);
    let forced = lowered(2, &[(50 * T, XOFF, XOFF), (200 * T, XOFF, 0)]);
    assert_eq!(forced, [from(50 * T), from(50 * T)]);
}

/// Endpoint 0 sends without a pause. From a write that stops it to the last packet that starts passes what
/// any message takes, and the obey latency of its port: no packet starts later, and those before start T
/// apart as ever, so three T of it are three packets more.
///
/// Proves: VOQ-4.3-11
#[test]
fn a_written_threshold_is_obeyed_after_the_obey_latency() {
    let starts = |obey: u64| {
        let mut net = standing(Verdict::PerIngress, (140, 0), 150, 0);
        net.buffers(200);
        net.config.devices[0].ports[0].voq.obey = Duration(obey);
        // No status is on the wire then.
        let at = 100 * T + T / 2;
        thresholds(&mut net, at, 2, (50, 0));
        let (log, outcome) = net.run(END);
        let stop = heard(at, 0) + obey;
        assert_eq!(log.stops(0, 0, 2), [(stop, u64::MAX)]);
        let sent = totals(&outcome, 0, 0).packets_sent;
        assert_eq!(sent, stop / T + 1, "one at 0, and one each T");
        sent
    };
    let plain = starts(0);
    assert_eq!([T / 4, T / 2, T, 3 * T].map(starts), [plain, plain + 1, plain + 1, plain + 3]);
}
