//! A host sets up a fabric by register accesses through the fabric: what it finds is what is there.
use crate::common::*;
use models::config::*;
use models::enumeration::{EnumerationReport, Outline, Unmade, UnmadeBecause, plan};
use models::probe::{Cause, RegisterStep};
use models::voq_backpressure::csr::{PART, XOFF};
use sim_core::{Duration, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

const MS: u64 = 1_000_000_000;

/// Three switches in a row with two, one and three endpoints.
fn net() -> Net {
    let models = vec![switch(0), switch(0), switch(0)];
    Net::new(models, &[0, 0, 1, 2, 2, 2], &[(0, 1), (1, 2)])
}

fn all_pairs(net: &mut Net) {
    for from in 0..net.endpoints {
        for to in (0..net.endpoints).filter(|to| *to != from) {
            net.burst(from, 0, to, 0, 3);
        }
    }
}

fn report(net: &Net, until: u64) -> (Log, EnumerationReport) {
    let (log, outcome) = net.run(until);
    assert_eq!(outcome.dropped, 0);
    (log, outcome.enumeration.expect("a host sets the fabric up"))
}

#[test]
fn what_is_found_is_what_is_there() {
    for host in [0, 2, 5] {
        let mut net = net();
        all_pairs(&mut net);
        net.enumerated_by(host, false);
        let (log, report) = report(&net, 5 * MS);
        assert!(report.as_planned && report.done().is_some());
        assert_eq!((report.problems, report.timeouts, report.repetitions), (0, 0, 0));
        // Every device once, the host first, no switch nearer than one found before it.
        let devices: Vec<u32> = report.devices.iter().map(|d| d.device.expect("it has a tag")).collect();
        assert_eq!(devices[0], host);
        let found: BTreeSet<u32> = devices.iter().copied().collect();
        assert_eq!((devices.len(), found.len()), (9, 9));
        assert!(report.devices.windows(2).all(|pair| pair[0].hops <= pair[1].hops));
        for device in &report.devices {
            let real = &net.config.devices[device.device.unwrap() as usize];
            assert_eq!(usize::from(device.ports), real.ports.len());
            assert_eq!(device.switch, matches!(real.model, DeviceModel::Switch(_)));
            if let DeviceModel::Endpoint(e) = &real.model {
                assert_eq!(device.id, Some(e.ids[0]));
            }
        }
        // Every link once.
        let ends = |a: (u32, u8), b: (u32, u8)| if a < b { (a, b) } else { (b, a) };
        let real: BTreeSet<_> = net.config.links.iter().map(|l| ends(l.a, l.b)).collect();
        let named = |(n, port): (u32, u8)| (devices[n as usize], port);
        let seen: BTreeSet<_> = report.links.iter().map(|&(a, b)| ends(named(a), named(b))).collect();
        assert_eq!((report.links.len(), seen), (real.len(), real));
        // The routes are those that were planned, and all of them lead to where they should.
        let planned = plan(&Outline::of(&net.config).unwrap());
        for (device, table) in &report.tables {
            assert_eq!(*table, planned.tables[*device as usize]);
        }
        assert_eq!(planned.requests, report.packets);
        for flow in 0..30 {
            assert_eq!(log.of(flow).count(), 3, "flow {flow}");
        }
    }
}

/// A switch responds through the port by which it was asked, whatever its table says: before it has a route
/// to the host there is no other way (Part 7 §2.3.1).
#[test]
fn requests_travel_by_hop_count_and_responses_find_back() {
    let mut net = net();
    net.enumerated_by(0, false);
    let (log, report) = report(&net, 5 * MS);
    // Endpoints are devices 0 to 5, switches 6 to 8.
    let first = |device: u32| {
        let carried = |e: &&models::probe::RegisterEvent| {
            e.device == device && matches!(e.step, RegisterStep::CarriedOut { .. })
        };
        *log.accesses.iter().find(carried).expect("every device is asked")
    };
    for (device, hops, via) in [(6, 0, 0), (7, 1, 1), (8, 2, 3), (5, 3, 0)] {
        let access = first(device);
        let RegisterStep::CarriedOut { source, port, offset, write, .. } = access.step else {
            unreachable!()
        };
        assert_eq!((source, port, offset, write), (0, via, 0x68, false), "device {device}");
        let asked = log.accesses.iter().rev().find(|e| e.at < access.at && e.device == 0).unwrap();
        let RegisterStep::Asked { hop_count, destination, .. } = asked.step else { panic!("{asked:?}") };
        assert_eq!((hop_count, destination, asked.tid), (hops, 0xFF, access.tid));
    }
    // One request at a time: asked, carried out, answered.
    let steps: Vec<u8> = log
        .accesses
        .iter()
        .map(|e| match e.step {
            RegisterStep::Asked { .. } => 0,
            RegisterStep::CarriedOut { .. } => 1,
            RegisterStep::Answered { error } => 2 + u8::from(error),
        })
        .collect();
    assert!(steps.chunks(3).all(|access| access == [0, 1, 2]), "{steps:?}");
    assert_eq!(steps.len() as u64, 3 * report.packets);
}

/// Time of one access in closed form: request and response, each a 20-character packet (a double-word of data
/// in one of the two) with its delimiter, one cable, the pipeline of the switch once.
#[test]
fn an_access_takes_its_time() {
    let mut net = single(2, SwitchConfig { pipeline: Duration(100_000), ..switch(0) });
    net.enumerated_by(0, false);
    let (log, _) = report(&net, MS);
    let read = &log.round_trips[0];
    // 10 octets of header, CRC; the response has 8 octets more. Padded to 4. Delimiters of 8.
    let expected = (12 + 8 + 20 + 8) * CHAR_PS + 2 * 20_000 + 100_000;
    assert_eq!(read.latency(), expected);
    assert_eq!(read.parts[Cause::Serialization], 48 * CHAR_PS);
    assert_eq!(read.parts[Cause::Propagation], 40_000);
    assert_eq!(read.parts[Cause::Pipeline], 100_000);
}

/// Endpoints with staging queues and switches that report congestion: the host turns on what the builder
/// would have turned on.
#[test]
fn enables_are_those_that_the_builder_sets() {
    let mut net = net();
    net.backpressure(
        &StagingConfig::PerPort,
        Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }),
    );
    net.config.devices[3].ports[0].voq.rx_sup = false;
    for from in [0, 1, 2, 3] {
        net.saturated(from, 0, 5);
        net.constant(from, 0, 4, 20, 0);
    }
    net.enumerated_by(4, false);
    let (log, report) = report(&net, 5 * MS);
    assert!(report.as_planned);
    for (device, registers) in &report.voq {
        for (port, csr) in net.config.devices[*device as usize].ports.iter().zip(registers) {
            let bit = |mask: u32| csr & mask != 0;
            assert_eq!((port.voq.gen_en, port.voq.part), (bit(0x0080_0000), bit(0x0040_0000)), "{device}");
        }
    }
    let start = report.phases.last().unwrap().from;
    assert!(!log.edges.is_empty() && log.edges.iter().all(|edge| edge.at > start));
    assert!(log.edges.iter().all(|edge| edge.device != 3), "who does not hear is not stopped");
    log.assert_order();
}

#[test]
fn a_host_that_is_too_impatient_repeats_and_gives_up() {
    let mut net = net();
    all_pairs(&mut net);
    net.enumerated_by(0, false);
    // Enough for the neighbour, not for what lies behind it.
    net.agent(0).response_timeout = 300_000;
    let (log, outcome) = net.run(5 * MS);
    let report = outcome.enumeration.expect("a host");
    assert!(report.problems > 0);
    assert!(report.timeouts > 0 && report.repetitions > 0 && report.repetitions <= 3 * report.problems + 3);
    assert_eq!(outcome.in_flight, 0);
    let started = log.deliveries.iter().any(|d| usize::from(d.flow) < net.config.sources.len());
    assert!(!started || report.as_planned, "nothing goes where nobody knows");
}

/// A service time of the host comes before every request.
#[test]
fn a_slow_host_takes_longer() {
    let mut net = net();
    net.enumerated_by(0, false);
    let (_, fast) = report(&net, 5 * MS);
    net.agent(0).host.tx_service = ServiceTime::Fixed(Duration(2_000_000));
    let (_, slow) = report(&net, 5 * MS);
    assert_eq!(fast.packets, slow.packets);
    let done = |report: &EnumerationReport| report.done().unwrap();
    assert_eq!(done(&slow).0 - done(&fast).0, 2_000_000 * slow.packets);
    assert!(done(&fast) > Time(0));
}

/// Two switches with two links between them, and one before them. The host gives an id another of the two
/// links while traffic runs: from then on what its packets wait for, at the switch before and at an endpoint,
/// is the port that they leave through now. Port 2 of the switch in the middle leads there until half time,
/// port 3 afterwards; each is said to be congested once in either half.
///
/// Proves: VOQ-2.2-5
#[test]
fn next_hops_follow_a_route_that_the_host_changes() {
    const WINDOWS: [(u8, u64, bool); 4] = [(2, 20, true), (3, 30, false), (2, 60, false), (3, 70, true)];
    let unit = MS / 100;
    let mut net = Net::new(vec![switch(0); 3], &[0, 1, 2], &[(0, 1), (1, 2), (1, 2)]);
    net.backpressure(&StagingConfig::PerPort, None);
    net.buffers(60);
    // Forty packets in the time of a stop: fewer than there are buffers.
    net.constant(0, 0, 2, 10, 0);
    net.constant(1, 0, 2, 10, T / 2);
    net.enumerated_by(0, false);
    let middle = net.endpoints + 1;
    for (port, at, _) in WINDOWS {
        for (at, value) in [(at, XOFF), (at + 5, 0)] {
            let at = Time(at * unit);
            let change = VoqChange::Register { mask: XOFF, value };
            net.config.voq_writes.push(VoqWrite { at, device: middle, port, change });
        }
    }
    let planned = plan(&Outline::of(&net.config).unwrap());
    let id = planned.ids[2].expect("an endpoint has an id");
    assert_eq!(planned.tables[middle as usize][id as usize], Some(2), "the lowest port");
    let write = |offset: u32, value: u32| HostWrite {
        at: Time(MS / 2),
        device: 2,
        port: 0,
        destination: id as u16,
        hop_count: 1,
        offset,
        mask: u32::MAX,
        value,
    };
    for part in net.config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
        if let ProtocolConfig::Enumerate { writes, .. } = &mut part.protocol {
            *writes = Arc::new(vec![write(0x70, id), write(0x74, 3)]);
        }
    }
    let (log, outcome) = net.run(MS);
    let report = outcome.enumeration.expect("a host sets the fabric up");
    assert!(report.done().is_some_and(|done| done.0 < 20 * unit) && outcome.dropped == 0);
    for flow in 0..2 {
        for (port, at, stopped) in WINDOWS {
            // A message needs its time, and what was stopped leaves in a row afterwards.
            let within = (at * unit + 20 * T)..(at + 4) * unit;
            let staged: Vec<bool> = log
                .of(flow)
                .filter(|delivery| within.contains(&delivery.created.0))
                .map(|delivery| delivery.parts[Cause::Staged] > 0)
                .collect();
            assert!(staged.len() > 25, "flow {flow}: {} packets", staged.len());
            assert!(staged.iter().all(|&staged| staged == stopped), "flow {flow}, port {port} at {at} %");
        }
    }
}

/// Observers change nothing, whether they look or not.
#[test]
fn nobody_sees_a_difference_for_having_looked() {
    let mut net = net();
    all_pairs(&mut net);
    net.enumerated_by(1, true);
    let (_, seen) = net.run(5 * MS);
    let config = std::sync::Arc::new(net.config.clone());
    let mut unseen = models::Simulation::new(config, models::RunOptions::default(), ());
    let _ = unseen.run(Time(5 * MS), u64::MAX);
    let unseen = unseen.finish().1;
    assert_eq!((seen.outcome, seen.trajectory), (unseen.outcome, unseen.trajectory));
    assert_eq!((seen.enumeration, seen.ports), (unseen.enumeration, unseen.ports));
}

/// A symbol or a packet of the set-up is damaged: what a request loses by it is recovery, also if a switch is
/// what it was for.
#[test]
fn a_set_up_over_damaged_symbols_keeps_its_books() {
    let mut late = 0;
    for side in 0..2 {
        for nth in 1..30 {
            let mut net = net();
            net.enumerated_by(0, false);
            let mut damage: [Damage; 2] = Default::default();
            match nth % 3 {
                0 => damage[side].packets = vec![nth / 3],
                _ => damage[side].symbols = vec![nth],
            }
            net.config.symbolic = vec![SymbolicLink {
                link: 0,
                flow: FlowControl::Transmitter,
                timeout: Duration(100_000_000),
                status_period: Duration(4_096 * CHAR_PS),
                throughout: false,
                channels: None,
                damage,
            }];
            let (log, report) = report(&net, 5 * MS);
            assert!(report.as_planned && report.done().is_some(), "{side} {nth}");
            let at_switch = log.deliveries.iter().filter(|d| d.destination >= net.endpoints);
            late += at_switch.filter(|d| d.parts[Cause::Recovery] > 0).count();
        }
    }
    assert!(late > 10, "{late} requests to switches were late");
}

/// The host changes registers of switches when the fabric is set up: it reads and writes each of them through
/// the fabric, in order, and what it writes is obeyed.
///
/// Proves: VOQ-5.1-2
#[test]
fn the_host_changes_registers_through_the_fabric() {
    let mut net = net();
    let detector = Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress });
    net.backpressure(&StagingConfig::PerPort, detector);
    net.enumerated_by(4, false);
    let switch = net.endpoints;
    let planned = plan(&Outline::of(&net.config).unwrap());
    let first = planned.voq[switch as usize].expect("a switch with VoQ has the block");
    // The first id that leads through the switch, and the switches before it.
    let towards = |id: usize| {
        let mut at = net.neighbours[4][0].0;
        for hops in 0..8u8 {
            if at == switch {
                return Some(hops);
            }
            let port = planned.tables.get(at as usize)?.get(id).copied().flatten()?;
            at = net.neighbours[at as usize].get(usize::from(port))?.0;
        }
        None
    };
    let (destination, hop_count) = (0..8u16).find_map(|id| Some((id, towards(id.into())?))).unwrap();
    let write = |at: u64, port: u32, value: u32| HostWrite {
        at: Time(at),
        device: switch,
        port: port as u8,
        destination,
        hop_count,
        offset: first + 4 * port,
        mask: XOFF,
        value,
    };
    let writes = Arc::new(vec![write(0, 1, XOFF), write(0, 0, XOFF), write(MS / 2, 1, 0)]);
    for part in net.config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
        if let ProtocolConfig::Enumerate { writes: all, .. } = &mut part.protocol {
            *all = writes.clone();
        }
    }
    let (log, report) = report(&net, MS);
    let value = |port: usize| report.voq.iter().find(|(device, _)| *device == switch).unwrap().1[port];
    assert_eq!([0, 1].map(|port| value(port) & (XOFF | PART)), [XOFF | PART, PART]);
    // Each change is a read and a write, after all that sets the fabric up.
    let done = report.phases.last().unwrap().until.unwrap().0;
    let asked =
        log.accesses.iter().filter(|access| access.at.0 >= done).filter_map(|access| match access.step {
            RegisterStep::Asked { offset, write, .. } if (first..first + 8).contains(&offset) => {
                Some((offset - first, write.map(|value| value & XOFF)))
            }
            _ => None,
        });
    let pairs = [(4, None), (4, Some(XOFF)), (0, None), (0, Some(XOFF)), (4, None), (4, Some(0))];
    assert_eq!(asked.collect::<Vec<_>>(), pairs);
    // These six are no repetitions, and each was answered.
    let enumerated: u64 = report.phases.iter().map(|phase| phase.reads + phase.writes).sum();
    assert_eq!((report.packets, report.repetitions, report.timeouts), (enumerated + 6, 0, 0));
    for (port, end) in [(1, true), (0, false)] {
        let [(stop, go)] = log.stops(0, 0, port)[..] else { panic!("{:?}", log.edges) };
        assert!(stop > done && stop < MS / 2 && (go != u64::MAX) == end, "{stop} {go}");
    }
}

/// A switch at the end of a line has one port, and its registers say so.
#[test]
fn a_switch_of_one_port_is_found() {
    let mut net = Net::new(vec![switch(0)], &[0], &[]);
    net.enumerated_by(0, false);
    let (_, report) = report(&net, MS);
    let ports: Vec<(bool, u8)> = report.devices.iter().map(|device| (device.switch, device.ports)).collect();
    assert_eq!((ports, report.problems), (vec![(false, 1), (true, 1)], 0));
}

/// The host asks for a change where no way leads to: four times, and then it tells of one problem.
#[test]
fn a_change_that_nobody_answers_is_a_problem() {
    let mut net = net();
    net.enumerated_by(0, false);
    let nowhere = |at: u64| HostWrite {
        at: Time(at),
        device: 6,
        port: 1,
        destination: 200,
        hop_count: 7,
        offset: 0x100,
        mask: XOFF,
        value: XOFF,
    };
    for part in net.config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
        if let ProtocolConfig::Enumerate { writes, .. } = &mut part.protocol {
            *writes = Arc::new(vec![nowhere(0), nowhere(5 * MS), nowhere(5 * MS + 1)]);
        }
    }
    let (_, outcome) = net.run(5 * MS);
    let report = outcome.enumeration.expect("a host");
    assert_eq!((report.problems, report.repetitions), (1, 3));
    // The second was due when the run ended, the third was not.
    let unmade = |due: u64, why: UnmadeBecause| Unmade { device: 6, port: 1, due: Time(due), why };
    let all = [unmade(0, UnmadeBecause::Unread), unmade(5 * MS, UnmadeBecause::Waiting)];
    assert_eq!(report.unmade, all);
}
