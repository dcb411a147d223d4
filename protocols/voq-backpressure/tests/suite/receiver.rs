//! The receiver: the golden interpretation sequence, one test per rule, and a naive model of the whole.

use lp_serial::{ControlSymbol, Form};
use proptest::prelude::*;
use std::collections::BTreeSet;
use voq_backpressure::codec::Stype2;
use voq_backpressure::receiver::{Edge, Receiver, Reception};
use voq_backpressure::symbol::Vc;
use voq_backpressure::{ActiveVcs, Carrier, Ports, QueueMap};

fn modulo(ports: u16, queues: u16) -> Receiver {
    Receiver::new(QueueMap::modulo(ports, queues).unwrap(), ActiveVcs::None, Reception::Honoured)
}

/// Applies a field and returns the edges as (VC, queue, stopped).
fn apply(receiver: &mut Receiver, carrier: Carrier, field: u16) -> Vec<(u8, u16, bool)> {
    let mut edges = Vec::new();
    receiver.apply(carrier, field, |edge| edges.push((edge.vc.number(), edge.queue, edge.stopped)));
    edges
}

fn queues(receiver: &Receiver) -> Vec<bool> {
    (0..receiver.map().queues()).map(|queue| receiver.eligible(queue)).collect()
}

const STOP: bool = true;
const GO: bool = false;

/// Vector, field, edges (queue, stop or go), bits of ports that do not exist.
type Step = (&'static str, u16, &'static [(u16, bool)], u64);

const SEQUENCE: [Step; 9] = [
    ("VOQ-V01", 0x840, &[(1, STOP)], 0),
    ("VOQ-V02", 0xC40, &[], 0),
    ("VOQ-V03", 0xC00, &[], 0),
    ("VOQ-V04", 0x821, &[(2, STOP)], 0),
    ("VOQ-V05", 0x800, &[(1, GO)], 0),
    ("VOQ-V06", 0x9E1, &[(3, STOP)], 2),
    ("VOQ-V07", 0x801, &[(2, GO), (3, GO)], 0),
    ("VOQ-V08", 0xFE2, &[], 6),
    ("VOQ-V09", 0x840, &[(1, STOP)], 0),
];

/// Proves: VOQ-2.3-3, VOQ-2.3-4, VOQ-2.3-5, VOQ-2.2-4, VOQ-4.3-2, VOQ-4.3-3
#[test]
fn golden_interpretation_sequence() {
    let mut receiver = modulo(8, 4);
    let mut stopped = BTreeSet::new();
    for (id, field, edges, unmapped) in SEQUENCE {
        let expected: Vec<_> = edges.iter().map(|&(queue, stop)| (0, queue, stop)).collect();
        assert_eq!(apply(&mut receiver, Carrier::Other, field), expected, "{id}");
        assert_eq!(receiver.take_counters().rx_unmapped_port, unmapped, "{id}");
        for &(queue, stop) in edges {
            let changed = if stop { stopped.insert(queue) } else { stopped.remove(&queue) };
            assert!(changed, "{id}");
        }
        // Stopped queues are held, and no other is.
        let expected: Vec<bool> = (0..4).map(|queue| !stopped.contains(&queue)).collect();
        assert_eq!(queues(&receiver), expected, "{id}");
    }
    // VOQ-V09, second half: the link is initialised anew.
    let mut edges = Vec::new();
    receiver.link_init(|edge| edges.push(edge));
    assert_eq!(edges, [Edge { vc: Vc::VC0, queue: 1, stopped: false }]);
    assert_eq!(queues(&receiver), [true; 4]);
}

/// Proves: VOQ-4.3-10, VOQ-4.3-9
#[test]
fn multicast_waits_for_all_of_its_ports() {
    // VOQ-V10, and the same for every set of two and every congested port.
    for first in 0..8u16 {
        for second in 0..8 {
            let set = Ports::from_iter([first, second]);
            for congested in 0..8 {
                let mut receiver = modulo(8, 4);
                let group = congested / 6;
                apply(&mut receiver, Carrier::Other, 0x0800 | 1 << (5 + congested % 6) | group);
                assert_eq!(receiver.eligible_ports(&set), !set.contains(congested));
                apply(&mut receiver, Carrier::Other, 0x0800 | group);
                assert!(receiver.eligible_ports(&set));
            }
        }
    }
    let receiver = modulo(8, 4);
    assert!(receiver.eligible_ports(&Ports::first(192)), "absent ports are clear");
}

/// Proves: VOQ-4.3-8, VOQ-4.3-9, VOQ-2.3-3, VOQ-2.3-4
#[test]
fn a_shared_queue_is_eligible_iff_all_its_ports_are_clear() {
    // Queue 0 stands for ports 0, 2 and 5; every sequence of two states of group 0.
    for first in 0..64u16 {
        for second in 0..64u16 {
            let map = QueueMap::table(2, [0, 1, 0, 1, 1, 0]).unwrap();
            let mut receiver = Receiver::new(map, ActiveVcs::None, Reception::Honoured);
            let mut before = [true; 2];
            for status in [first, second] {
                let edges = apply(&mut receiver, Carrier::Other, 0x0800 | status << 5);
                let clear = [status & 0b100101 == 0, status & 0b011010 == 0];
                assert_eq!(queues(&receiver), clear);
                let changes = (0..2u16)
                    .filter(|&queue| before[usize::from(queue)] != clear[usize::from(queue)])
                    .map(|queue| (0, queue, !clear[usize::from(queue)]))
                    .collect::<BTreeSet<_>>();
                assert_eq!(edges.len(), changes.len(), "no edge twice, {first:06b} {second:06b}");
                assert_eq!(edges.into_iter().collect::<BTreeSet<_>>(), changes);
                before = clear;
            }
        }
    }
}

/// Congestion that moves within a queue must not let a packet slip out in between.
#[test]
fn congestion_that_moves_within_a_queue_is_no_edge() {
    let mut receiver = modulo(6, 2);
    assert_eq!(apply(&mut receiver, Carrier::Other, 0x820), [(0, 0, STOP)]);
    assert_eq!(apply(&mut receiver, Carrier::Other, 0x880), []);
    assert_eq!(apply(&mut receiver, Carrier::Other, 0x820), []);
}

/// Proves: VOQ-2.2-6
#[test]
fn no_message_stops_the_unstaged_queue() {
    let mut receiver = modulo(192, 192);
    for group in 0..32 {
        apply(&mut receiver, Carrier::Other, 0x0FE0 | group);
    }
    assert!((0..192).all(|queue| !receiver.eligible_hop(Some(queue))));
    assert!(receiver.eligible_hop(None));
}

/// Proves: VOQ-2.2-8, VOQ-4.1-3
#[test]
fn a_port_without_reception_ignores_messages() {
    let map = QueueMap::one_per_port(6).unwrap();
    let mut receiver = Receiver::new(map, ActiveVcs::None, Reception::Ignored);
    assert_eq!(apply(&mut receiver, Carrier::Status, 0x0FE0), []);
    assert_eq!(queues(&receiver), [true; 6]);
    assert_eq!((receiver.counters().rx_unsupported, receiver.counters().rx_applied), (1, 0));
}

/// Proves: VOQ-3.1-6, VOQ-3.1-7, VOQ-3.1-3
#[test]
fn nop_and_reserved_commands_change_nothing() {
    let mut receiver = modulo(192, 192);
    apply(&mut receiver, Carrier::Other, 0x0FE0);
    let before = queues(&receiver);
    receiver.take_counters();
    for field in (0..0x4000).filter(|field| field >> 11 != 1) {
        assert_eq!(apply(&mut receiver, Carrier::Status, field), []);
    }
    assert_eq!(queues(&receiver), before);
    let counters = receiver.counters();
    assert_eq!((counters.rx_reserved, counters.rx_applied, counters.crc_errors), (6 * 2048, 0, 0));
}

#[test]
fn a_short_symbol_says_nothing() {
    let mut receiver = modulo(8, 8);
    let symbol = ControlSymbol::from_fields(Form::Short, [4, 0, 31, 7, 0], 0).unwrap();
    receiver.receive(&symbol, |edge| panic!("{edge:?}"));
    assert_eq!(receiver.counters(), Default::default());
}

/// Proves: VOQ-3.2-4, VOQ-3.2-5, VOQ-3.2-7, VOQ-3.2-8, VOQ-3.2-1, VOQ-3.2-2, VOQ-2.4-1, VOQ-2.4-3
#[test]
fn scope_with_and_without_linking() {
    let carriers = (0..8)
        .map(|vcid| Carrier::VcStatus { vcid })
        .chain([Carrier::Status, Carrier::Other])
        .collect::<Vec<_>>();
    for vcs in ActiveVcs::ALL {
        for &carrier in &carriers {
            for linked in [false, true] {
                let map = QueueMap::modulo(8, 4).unwrap();
                let mut receiver = Receiver::new(map, vcs, Reception::Honoured);
                receiver.set_linked(linked);
                let named = match carrier {
                    Carrier::Status => Some(Vc::VC0),
                    Carrier::VcStatus { vcid } => vcs.vc_of(vcid),
                    Carrier::Other => None,
                };
                let concerned = |vc: Vc| if linked { named == Some(vc) } else { true };
                let edges = apply(&mut receiver, carrier, 0x840);
                let expected: Vec<_> =
                    vcs.iter().filter(|&vc| concerned(vc)).map(|vc| (vc.number(), 1, STOP)).collect();
                assert_eq!(edges, expected, "{vcs:?} {carrier:?} linked {linked}");
                for vc in vcs.iter() {
                    assert_eq!(receiver.eligible_in(vc, 1), !concerned(vc));
                    assert_eq!(receiver.is_congested(vc, 1), concerned(vc));
                    assert_eq!(receiver.eligible_ports_in(vc, &Ports::from_iter([1])), !concerned(vc));
                    assert!(receiver.eligible_in(vc, 0) && receiver.eligible_in(vc, 2));
                }
                let counters = receiver.counters();
                let violation = linked && carrier == Carrier::Other;
                assert_eq!(counters.rx_link_violation, u64::from(violation));
                assert_eq!(counters.rx_inactive_vc, u64::from(linked && named.is_none() && !violation));
            }
        }
    }
}

/// Golden linked symbols, eight optional channels active: field, carrier, the channel that they stop or
/// clear.
///
/// Proves: VOQ-3.2-1, VOQ-3.2-2, VOQ-3.2-4
#[test]
fn golden_linked_symbols() {
    // VOQ-T19 to T22.
    let rows: [(u64, u8, &[u16]); 4] = [
        (0x908F_C130_02EC, 0, &[2, 3]),
        (0xA00F_C120_3F71, 1, &[9]),
        (0xA27D_C140_4618, 5, &[16]),
        (0xA387_C100_19FC, 8, &[]),
    ];
    for (bits, channel, congested) in rows {
        let map = QueueMap::one_per_port(18).unwrap();
        let mut receiver = Receiver::new(map, ActiveVcs::Eight, Reception::Honoured);
        // Port 0 is congested in all channels; the last symbol clears it in VC8.
        apply(&mut receiver, Carrier::Other, 0x820);
        receiver.set_linked(true);
        let mut edges = Vec::new();
        receiver
            .receive_octets(&bits.to_be_bytes()[2..], |edge| {
                edges.push((edge.vc.number(), edge.queue, edge.stopped));
            })
            .unwrap();
        let mut expected: Vec<_> = congested.iter().map(|&port| (channel, port, STOP)).collect();
        let names_group_0 = bits >> 13 & 0x1F == 0;
        expected.extend(names_group_0.then_some((channel, 0, GO)));
        assert_eq!(edges, expected, "{bits:012x}");
    }
}

#[test]
fn a_new_map_keeps_the_statuses() {
    let mut receiver = modulo(6, 6);
    apply(&mut receiver, Carrier::Other, 0x0800 | 0b001010 << 5);
    let mut edges = Vec::new();
    receiver.remap(QueueMap::modulo(6, 2).unwrap(), |edge| edges.push((edge.queue, edge.stopped)));
    // Queue 1 stays stopped, now for both ports; queue 3 is no more.
    assert_eq!(edges, [(3, GO)]);
    assert_eq!(queues(&receiver), [true, false]);
    assert_eq!(apply(&mut receiver, Carrier::Other, 0x0800 | 0b000010 << 5), []);
    assert_eq!(apply(&mut receiver, Carrier::Other, 0x0800), [(0, 1, GO)]);
}

/// Inside channels, beyond the first word of ports, and counted: every stop and release of `remap` and
/// `apply`.
#[test]
fn a_new_map_keeps_the_statuses_of_every_channel() {
    let mut receiver =
        Receiver::new(QueueMap::one_per_port(80).unwrap(), ActiveVcs::Two, Reception::Honoured);
    receiver.set_linked(true);
    // VC1: ports 2 and 3; VC5: ports 72 and 75. (VCIDs name the channels.)
    let vcs: Vec<Vc> = ActiveVcs::Two.iter().collect();
    let vcid = |vc: Vc| (0..8).find(|&vcid| ActiveVcs::Two.vc_of(vcid) == Some(vc)).expect("it has one");
    apply(&mut receiver, Carrier::VcStatus { vcid: vcid(vcs[1]) }, 0x0800 | 0b001100 << 5);
    apply(&mut receiver, Carrier::VcStatus { vcid: vcid(vcs[2]) }, 0x0800 | 0b001001 << 5 | 12);
    assert_eq!(receiver.take_counters().xoff_edges, 4);
    let mut edges = Vec::new();
    receiver.remap(QueueMap::modulo(80, 3).unwrap(), |edge| edges.push((edge.vc, edge.queue, edge.stopped)));
    // VC1: queues 2 and 3 become 2 and 0. VC5: 72 and 75 are both in queue 0 now.
    let of =
        |n: usize| -> BTreeSet<_> { edges.iter().filter(|e| e.0 == vcs[n]).map(|e| (e.1, e.2)).collect() };
    assert_eq!(of(0), BTreeSet::new());
    assert_eq!(of(1), BTreeSet::from([(0, STOP), (3, GO)]));
    assert_eq!(of(2), BTreeSet::from([(0, STOP), (72, GO), (75, GO)]));
    let counters = receiver.take_counters();
    assert_eq!((counters.xoff_edges, counters.xon_edges), (2, 3));
    // A queue goes on when the last of its ports is clear, and only in its own channel.
    for (status, edge) in [(0b001000, None), (0b000000, Some((vcs[2].number(), 0, GO)))] {
        let carrier = Carrier::VcStatus { vcid: vcid(vcs[2]) };
        let edges = apply(&mut receiver, carrier, 0x0800 | status << 5 | 12);
        assert_eq!(edges, edge.into_iter().collect::<Vec<_>>());
        assert!(!receiver.eligible_in(vcs[1], 0) && !receiver.eligible_in(vcs[1], 2));
    }
    assert_eq!(receiver.counters().xon_edges, 1);
    let clear =
        |vc: Vc, ports: &[u16]| receiver.eligible_ports_in(vc, &Ports::from_iter(ports.iter().copied()));
    assert!(clear(vcs[0], &[2, 3, 72, 75]) && clear(vcs[2], &[2, 3, 72, 75]) && clear(vcs[1], &[72, 75, 4]));
    assert!(!clear(vcs[1], &[2]) && !clear(vcs[1], &[3, 79]));
}

/// Ports of the second and third word keep multicast packets back like those of the first.
#[test]
fn every_word_of_a_set_of_ports_counts() {
    for port in [0u16, 63, 64, 127, 128, 191] {
        let mut set = Ports::EMPTY;
        assert!(set.is_empty());
        assert_eq!(set.len(), 0);
        set.insert(port);
        assert!(!set.is_empty() && set.len() == 1 && set.contains(port), "{port}");
        let mut receiver = modulo(192, 192);
        apply(&mut receiver, Carrier::Other, 0x0800 | (1 << (5 + port % 6)) | (port / 6));
        assert!(!receiver.eligible_ports(&set));
        assert!(!receiver.eligible_ports(&Ports::first(192)));
        set.remove(port);
        assert!(set.is_empty() && receiver.eligible_ports(&set));
    }
    // The same place in two words, of which neither hides the other.
    for pair in [[5u16, 69], [69, 133], [5, 133]] {
        let set: Ports = pair.into_iter().collect();
        assert!(!set.is_empty() && set.len() == 2, "{pair:?}");
    }
}

/// The model: a set of (channel, port), and a queue is stopped iff one of its ports is in it.
#[derive(Clone, Debug)]
struct Model {
    vcs: Vec<u8>,
    map: Vec<u16>,
    congested: BTreeSet<(u8, u16)>,
}

impl Model {
    fn stopped(&self) -> BTreeSet<(u8, u16)> {
        self.congested.iter().map(|&(vc, port)| (vc, self.map[usize::from(port)])).collect()
    }

    fn apply(&mut self, vcs: &[u8], field: u16) {
        for offset in 0..6 {
            let port = 6 * (field & 0x1F) + offset;
            if port >= self.map.len() as u16 {
                continue;
            }
            for &vc in vcs {
                if field >> (5 + offset) & 1 == 1 {
                    self.congested.insert((vc, port));
                } else {
                    self.congested.remove(&(vc, port));
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Input {
    Field(u16, u8),
    LinkInit,
    Linked(bool),
}

fn input() -> impl Strategy<Value = Input> {
    prop_oneof![
        // Mostly low groups, so that messages meet.
        8 => (0u16..64, 0u16..4, 0u8..10).prop_map(|(status, group, carrier)| {
            Input::Field(0x0800 | status << 5 | group, carrier)
        }),
        2 => (0u16..0x4000, 0u8..10).prop_map(|(field, carrier)| Input::Field(field, carrier)),
        1 => Just(Input::LinkInit),
        1 => any::<bool>().prop_map(Input::Linked),
    ]
}

proptest! {
    /// Proves: VOQ-2.3-3, VOQ-2.3-4, VOQ-4.3-3, VOQ-3.2-4, VOQ-3.2-5, VOQ-2.2-4
    #[test]
    fn receiver_equals_its_model(
        map in proptest::collection::vec(0u16..5, 1..24),
        vcs in proptest::sample::select(&ActiveVcs::ALL[..]),
        inputs in proptest::collection::vec(input(), 0..60),
    ) {
        let queue_map = QueueMap::table(5, map.iter().copied()).unwrap();
        let mut receiver = Receiver::new(queue_map, vcs, Reception::Honoured);
        let numbers: Vec<u8> = vcs.iter().map(Vc::number).collect();
        let mut model = Model { vcs: numbers, map, congested: BTreeSet::new() };
        let mut linked = false;
        for input in inputs {
            let before = model.stopped();
            let mut edges = Vec::new();
            let note = |edge: Edge| edges.push((edge.vc.number(), edge.queue, edge.stopped));
            match input {
                Input::LinkInit => {
                    model.congested.clear();
                    receiver.link_init(note);
                }
                Input::Linked(value) => {
                    linked = value;
                    receiver.set_linked(value);
                }
                Input::Field(field, number) => {
                    let (carrier, named) = match number {
                        8 => (Carrier::Status, Some(Vc::VC0)),
                        9 => (Carrier::Other, None),
                        vcid => (Carrier::VcStatus { vcid }, vcs.vc_of(vcid)),
                    };
                    let named = named.map(Vc::number).into_iter().collect();
                    let concerned = if linked { named } else { model.vcs.clone() };
                    if let Ok(Stype2::Backpressure(_)) = Stype2::parse(field) {
                        model.apply(&concerned, field);
                    }
                    receiver.apply(carrier, field, note);
                }
            }
            let after = model.stopped();
            let expected: BTreeSet<_> = before
                .symmetric_difference(&after)
                .map(|&(vc, queue)| (vc, queue, after.contains(&(vc, queue))))
                .collect();
            prop_assert_eq!(edges.len(), expected.len());
            prop_assert_eq!(edges.into_iter().collect::<BTreeSet<_>>(), expected);
            for vc in vcs.iter() {
                for queue in 0..5 {
                    prop_assert_eq!(receiver.eligible_in(vc, queue), !after.contains(&(vc.number(), queue)));
                }
                for port in 0..24 {
                    let congested = model.congested.contains(&(vc.number(), port));
                    prop_assert_eq!(receiver.is_congested(vc, port), congested);
                    prop_assert_eq!(receiver.eligible_ports_in(vc, &Ports::from_iter([port])), !congested);
                }
            }
        }
    }
}
