//! A host explores fabrics of plain register files: whatever the graph, it finds everything, and all its
//! routes lead somewhere.

use logical::enumeration::{Enumerator, Event, Found, Kind, Options, Phase, Target, shortest_routes};
use logical::register::file::{Block, Description, Identity, Role, Streaming};
use logical::register::{Device, RegisterFile, Serial, feature, offset, serial};
use proptest::prelude::*;
use std::collections::BTreeSet;

struct Plug {
    serial: Serial,
    table: Vec<u8>,
}

impl Device for Plug {
    fn read_block(&self, _: usize, offset: u32) -> u32 {
        self.serial.read(offset)
    }
    fn write_block(&mut self, _: usize, offset: u32, value: u32) {
        self.serial.write(offset, value);
    }
    fn route(&self, destination: u16) -> u8 {
        self.table[usize::from(destination)]
    }
    fn set_route(&mut self, destination: u16, port: u8) {
        self.table[usize::from(destination)] = port;
    }
}

struct Node {
    file: RegisterFile,
    plug: Plug,
    /// The other end of each port.
    wires: Vec<Option<(usize, u8)>>,
    is_switch: bool,
}

/// Node 0 is the host; nodes 1.. are switches, the rest endpoints.
struct World {
    nodes: Vec<Node>,
    /// Every so many accesses one write is carried out twice, as if its response had been lost.
    doubled: Option<u32>,
    accesses: u32,
}

impl World {
    /// `links`: pairs of switches; `at`: the switch of each endpoint, the first one being the host's.
    fn new(switches: usize, links: &[(usize, usize)], at: &[usize], extended: bool) -> Self {
        let endpoint = |n: usize| if n == 0 { 0 } else { switches + n };
        let mut wires: Vec<Vec<Option<(usize, u8)>>> = vec![Vec::new(); switches + at.len()];
        let mut ends: Vec<(usize, usize)> =
            at.iter().enumerate().map(|(n, s)| (endpoint(n), s + 1)).collect();
        ends.extend(links.iter().map(|(a, b)| (a + 1, b + 1)));
        for (a, b) in ends {
            let (pa, pb) = (wires[a].len() as u8, wires[b].len() as u8 + u8::from(a == b));
            wires[a].push(Some((b, pb)));
            wires[b].push(Some((a, pa)));
        }
        let mut nodes = Vec::new();
        for (n, mut wires) in wires.into_iter().enumerate() {
            let is_switch = (1..=switches).contains(&n);
            if is_switch {
                // A port without a link.
                wires.push(None);
            }
            let ports = wires.len().max(2) as u8;
            let role = match is_switch {
                true => Role::Switch { ports, route_limit: Some(0xFF) },
                false => Role::Endpoint { base_id: 0xFF, large_base_id: 0xFFFF },
            };
            let mut serial = if is_switch { Serial::switch(ports) } else { Serial::endpoint(n == 0) };
            (0..).zip(&wires).for_each(|(port, wire)| serial.set_link(port, wire.is_some()));
            let id = if is_switch { serial::SWITCH_ID } else { serial::ENDPOINT_ID };
            let description = Description {
                identity: Identity { device: n as u16, ..Identity::default() },
                role,
                features: if extended { feature::EXTENDED_ROUTE_TABLE } else { 0 },
                source_operations: 0,
                destination_operations: 0,
                streaming: Streaming::default(),
                blocks: vec![Block { id, octets: serial::octets(ports) }],
            };
            let file = RegisterFile::new(description).unwrap();
            nodes.push(Node { file, plug: Plug { serial, table: vec![0xFF; 256] }, wires, is_switch });
        }
        World { nodes, doubled: None, accesses: 0 }
    }

    fn reach(&self, target: Target) -> Option<(usize, u8)> {
        let Target::Remote { destination, hop_count } = target else { return Some((0, 0)) };
        let (mut at, mut via) = self.nodes[0].wires[0]?;
        for passed in 0..=u8::MAX {
            if !self.nodes[at].is_switch || passed == hop_count {
                return Some((at, via));
            }
            let port = self.nodes[at].plug.table[usize::from(destination)];
            (at, via) = (*self.nodes[at].wires.get(usize::from(port))?)?;
        }
        None
    }

    /// The node that packets for an id get to from `from`.
    fn follow(&self, from: usize, id: u16) -> Option<usize> {
        let mut at = from;
        for _ in 0..self.nodes.len() {
            if !self.nodes[at].is_switch {
                return Some(at);
            }
            let port = self.nodes[at].plug.table[usize::from(id)];
            at = self.nodes[at].wires.get(usize::from(port)).copied()??.0;
        }
        None
    }

    fn carry_out(&mut self, host: &mut Enumerator, mut silent: impl FnMut(usize) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(request) = host.poll_transmit() {
            self.accesses += 1;
            match self.reach(request.target) {
                Some((at, via)) if !silent(at) => {
                    let Node { file, plug, .. } = &mut self.nodes[at];
                    let offset = request.access.offset();
                    match request.write {
                        Some(value) => {
                            file.write(offset, value, plug);
                            if self.doubled.is_some_and(|every| self.accesses.is_multiple_of(every)) {
                                file.write(offset, value, plug);
                            }
                            host.handle_done(0);
                        }
                        None => host.handle_done(file.read(offset, via, plug)),
                    }
                }
                _ => host.handle_failure(),
            }
            events.extend(std::iter::from_fn(|| host.poll_event()));
        }
        events.extend(std::iter::from_fn(|| host.poll_event()));
        events
    }
}

const HOST: Options =
    Options { host: 0, large: false, spread: false, enables: None, own_ability: 0, own_enables: None };

/// What the host says it found against what is there.
fn check(world: &World, host: &Enumerator) {
    let devices = host.devices();
    // Component tags say which node is which.
    let node_of = |device: usize| {
        world.nodes.iter().position(|node| node.file.component_tag() == device as u32 + 1).unwrap()
    };
    let nodes: BTreeSet<usize> = (0..devices.len()).map(node_of).collect();
    assert_eq!((devices.len(), nodes.len()), (world.nodes.len(), world.nodes.len()));
    for (device, found) in devices.iter().enumerate() {
        let node = &world.nodes[node_of(device)];
        assert_eq!(found.is_switch(), node.is_switch);
        let neighbours: Vec<Option<(usize, u8)>> =
            found.neighbours.iter().map(|end| end.map(|(other, port)| (node_of(other), port))).collect();
        assert_eq!(neighbours, node.wires, "device {device}");
        assert_eq!(node.file.host_lock(), None);
        assert!(node.plug.serial.is_discovered());
    }
    let ids: Vec<(u16, usize)> =
        (0..).zip(devices).filter_map(|(device, found)| Some((found.id()?, node_of(device)))).collect();
    // The tables that the host shows are those that it wrote.
    assert_eq!(host.routes().len(), devices.len());
    for (device, found) in devices.iter().enumerate().filter(|(_, found)| found.is_switch()) {
        for &(id, _) in &ids {
            let written = world.nodes[node_of(device)].plug.table[usize::from(id)];
            assert_eq!(host.routes()[device][usize::from(id)], Some(written), "{found:?}, id {id}");
        }
    }
    for &(id, node) in &ids {
        let own = &world.nodes[node];
        assert!(own.file.base_id() == Some(id as u8) && own.plug.serial.is_enabled());
        for from in (0..world.nodes.len()).filter(|from| world.nodes[*from].is_switch) {
            assert_eq!(world.follow(from, id), Some(node), "id {id} from {from}");
        }
    }
}

#[test]
fn a_ring_is_found_both_ways_round_and_closed() {
    let mut world = World::new(4, &[(0, 1), (1, 2), (2, 3), (3, 0)], &[0, 2, 2], false);
    let mut host = Enumerator::new(HOST);
    assert!(host.routes().is_empty(), "there is none before they are planned");
    let events = world.carry_out(&mut host, |_| false);
    check(&world, &host);
    let phases: Vec<Phase> = events
        .iter()
        .filter_map(|event| if let Event::Entered(p) = event { Some(*p) } else { None })
        .collect();
    assert_eq!(phases, Phase::ALL);
    // The far switch is found once; the second way to it is a link.
    let discovered = events.iter().filter(|event| matches!(event, Event::Discovered(_))).count();
    let linked = events.iter().filter(|event| matches!(event, Event::Linked(..))).count();
    assert_eq!((discovered, linked), (7, 7));
    assert_eq!(host.devices().iter().map(|found| found.hops).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 3, 3]);
}

#[test]
fn extended_access_sets_four_routes_at_a_time() {
    let mut accesses = Vec::new();
    for extended in [false, true] {
        let mut world = World::new(2, &[(0, 1)], &[0, 0, 0, 0, 1, 1, 1, 1, 1], extended);
        let mut host = Enumerator::new(HOST);
        world.carry_out(&mut host, |_| false);
        check(&world, &host);
        accesses.push(world.accesses);
    }
    // 9 ids: 18 writes to each switch, or 2 for each four and 2 for the last one.
    assert_eq!(accesses[0] - accesses[1], 2 * (18 - 6));
}

/// A write whose response was lost is carried out twice; that frees a lock, and reading it back shows it.
#[test]
fn locks_survive_repeated_writes() {
    for every in 3..9 {
        let mut world = World::new(2, &[(0, 1)], &[0, 1, 1], false);
        world.doubled = Some(every);
        let mut host = Enumerator::new(HOST);
        let events = world.carry_out(&mut host, |_| false);
        assert!(!events.iter().any(|event| matches!(event, Event::Foreign { .. })), "every {every}");
        assert_eq!(host.devices().len(), 5, "every {every}");
    }
}

#[test]
fn a_device_of_another_host_is_left_alone() {
    let mut world = World::new(2, &[(0, 1)], &[0, 0, 1], false);
    let Node { file, plug, .. } = &mut world.nodes[2];
    file.write(offset::HOST_LOCK, 7, plug);
    let mut host = Enumerator::new(HOST);
    let events = world.carry_out(&mut host, |_| false);
    assert!(events.contains(&Event::Foreign { via: (1, 2), holder: 7 }), "{events:?}");
    assert_eq!(host.devices().len(), 3, "host, first switch, its endpoint");
    assert_eq!(world.nodes[2].file.host_lock(), Some(7));
    assert_eq!(world.nodes[2].file.component_tag(), 0);
}

/// What a host before left locked under our id is taken over.
#[test]
fn an_old_lock_of_our_own_is_no_loop() {
    let mut world = World::new(1, &[], &[0, 0], false);
    let Node { file, plug, .. } = &mut world.nodes[1];
    file.write(offset::HOST_LOCK, 0, plug);
    let mut host = Enumerator::new(HOST);
    world.carry_out(&mut host, |_| false);
    check(&world, &host);
}

#[test]
fn silent_devices_do_not_stop_the_host() {
    // From the beginning, or only after it was found.
    for (patience, found) in [(0, 3), (9, 4)] {
        let mut world = World::new(2, &[(0, 1)], &[0, 0, 1], false);
        let mut host = Enumerator::new(HOST);
        let mut asked = 0;
        let events = world.carry_out(&mut host, |node| {
            asked += u32::from(node == 2);
            node == 2 && asked > patience
        });
        assert_eq!(host.phase(), Phase::Done);
        assert_eq!(host.devices().len(), found);
        let unreachable = events.contains(&Event::Unreachable { via: (1, 2) });
        let lost = events.contains(&Event::Lost { device: 3 });
        assert_eq!((unreachable, lost), (patience == 0, patience != 0), "{events:?}");
        let enabled = |node: usize| world.nodes[node].plug.serial.is_enabled();
        assert!(enabled(3), "the endpoint beside the host works");
    }
}

#[test]
fn ids_run_out() {
    // 255 ids: 0 is the host, 255 is nobody's.
    let mut at = vec![0];
    for switch in 0..2 {
        at.extend(std::iter::repeat_n(switch, 128));
    }
    let mut world = World::new(2, &[(0, 1)], &at, false);
    let mut host = Enumerator::new(HOST);
    let events = world.carry_out(&mut host, |_| false);
    let without: Vec<&Found> =
        host.devices().iter().filter(|found| found.kind == Kind::Endpoint { id: None }).collect();
    assert_eq!(without.len(), 2);
    assert_eq!(events.iter().filter(|event| matches!(event, Event::NoId { .. })).count(), 2);
    assert_eq!(host.devices().iter().filter_map(Found::id).max(), Some(254));
}

/// Two switches of which only one leads to the other: devices may say anything.
#[test]
fn contradictory_devices_have_no_route() {
    let device = |kind, neighbours: Vec<Option<(usize, u8)>>| Found {
        kind,
        identity: 0,
        features: 0,
        hops: 0,
        up: vec![true; neighbours.len()],
        neighbours,
        via: None,
        abilities: vec![],
        serial: None,
        enables: None,
    };
    let switch = Kind::Switch { ports: 2, entry: 0 };
    let devices = [
        device(switch, vec![Some((2, 0)), Some((1, 0))]),
        device(switch, vec![None, None]),
        device(Kind::Endpoint { id: Some(0) }, vec![Some((0, 0))]),
    ];
    for spread in [false, true] {
        assert_eq!(shortest_routes(&devices, spread), [vec![Some(0)], vec![None], vec![]]);
    }
}

/// 255 ports are as many as a switch can say that it has.
#[test]
fn a_switch_with_every_port_number() {
    let mut world = World::new(1, &[], &[0; 254], true);
    let mut host = Enumerator::new(HOST);
    world.carry_out(&mut host, |_| false);
    check(&world, &host);
    let switch = host.devices().iter().find(|found| found.is_switch()).unwrap();
    assert_eq!(switch.neighbours.len(), 255);
}

#[test]
fn answers_to_nothing_are_ignored() {
    let mut host = Enumerator::new(HOST);
    let fresh = host.clone();
    host.handle_done(5);
    host.handle_failure();
    assert_eq!(host, fresh);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any connected graph of switches, with parallel links and loops of any length.
    #[test]
    fn every_graph_is_found(
        parents in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        extra in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..8),
        at in prop::collection::vec(any::<prop::sample::Index>(), 1..20),
        spread: bool, extended: bool,
    ) {
        let switches = parents.len() + 1;
        let mut links: Vec<(usize, usize)> =
            parents.iter().enumerate().map(|(n, parent)| (parent.index(n + 1), n + 1)).collect();
        links.extend(
            extra.iter().map(|(a, b)| (a.index(switches), b.index(switches))).filter(|(a, b)| a != b),
        );
        let at: Vec<usize> = at.iter().map(|switch| switch.index(switches)).collect();
        let mut world = World::new(switches, &links, &at, extended);
        let mut host = Enumerator::new(Options { spread, ..HOST });
        let events = world.carry_out(&mut host, |_| false);
        check(&world, &host);
        prop_assert!(events.iter().all(|event| matches!(
            event, Event::Entered(_) | Event::Discovered(_) | Event::Linked(..)
        )));
    }

    /// Whatever devices answer, nothing panics and the host comes to an end.
    #[test]
    fn any_answer_is_survived(answers in prop::collection::vec(any::<u32>(), 1..64), failures: u64) {
        let mut host = Enumerator::new(HOST);
        for n in 0..50_000usize {
            if host.poll_transmit().is_none() {
                prop_assert_eq!(host.phase(), Phase::Done);
                break;
            }
            prop_assert_eq!(host.poll_transmit(), None, "one at a time");
            if failures >> (n % 64) & 1 == 1 {
                host.handle_failure();
            } else {
                host.handle_done(answers[n % answers.len()] ^ (n as u32).rotate_left(n as u32 % 32));
            }
        }
    }
}
