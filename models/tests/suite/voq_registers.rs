//! Writes to VoQ registers while traffic runs: Table 5-4 of Part 12, all its rows and the ways between them.
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
    net.config.voq_writes.push(VoqWrite { at: Time(at), device, port, mask, value });
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
