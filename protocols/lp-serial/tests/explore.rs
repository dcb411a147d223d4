//! Two connected ports, every interleaving: each direction may carry a few items, a few of them may be
//! damaged or lost, timers may run out when nothing is under way (the link timeout is longer than any answer
//! takes), the owner may take received packets away at any time.
//!
//! Safety is checked in every state with `stateright`. That all packets arrive in the end is checked over the
//! graph: from every state a good state can be reached (`eventually` would be unsound on cycles).

mod common;

use common::{Fault, Pair, config, meta, with_vcs};
use lp_serial::cost::Watermarks;
use lp_serial::link::{Channels, Config, FlowControl, OutputState, PacketMeta, Traffic, VcConfig};
use stateright::{Checker, Model, Property};
use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Items that a direction may carry.
const LINE: usize = 3;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Action {
    Send(usize),
    /// A symbol inside a packet; it may cancel it.
    Inside(usize),
    Deliver(usize, Fault),
    Consume(usize),
    Timeout(usize),
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct State {
    pair: Pair,
    /// Damages and losses that may still happen.
    faults: u8,
}

/// What is explored.
struct Link {
    configs: [Config; 2],
    /// Packets by sending side, in order; the number of a packet is its place in this list.
    packets: Vec<(usize, PacketMeta)>,
    faults: u8,
    /// Symbols may be embedded in packets.
    embed: bool,
    /// Packets that have gone from A to B before, so that ackIDs wrap.
    before: u8,
    /// Packets may be retried.
    retries: bool,
}

impl Link {
    fn of_side(&self, side: usize) -> impl Iterator<Item = u8> + '_ {
        (0..self.packets.len()).filter(move |&n| self.packets[n].0 == side).map(|n| n as u8)
    }

    /// Packets that an error may lose: those of continuous VCs.
    fn is_continuous(&self, id: u8) -> bool {
        self.packets[usize::from(id)].1.vc && self.configs[0].vcs[0].traffic == Traffic::Continuous
    }

    /// Everything that was submitted has arrived once (but for continuous traffic), and both sides know it.
    fn is_good(&self, state: &State) -> bool {
        state.pair.sides.iter().enumerate().all(|(side, end)| {
            let arrived = &state.pair.sides[1 - side].delivered;
            end.port.output() == OutputState::Normal
                && self.of_side(side).all(|id| end.report.acknowledged.contains(&id))
                && self.of_side(side).all(|id| self.is_continuous(id) || arrived.contains(&id))
        })
    }
}

impl Model for Link {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let [a, b] = self.configs.clone();
        let mut pair = Pair::up(a, b);
        for _ in 0..self.before {
            pair.submit(0, u8::MAX, meta(0));
            assert!(pair.run(0, 100));
        }
        for side in &mut pair.sides {
            side.delivered.clear();
            side.report.acknowledged.clear();
        }
        for (n, &(side, meta)) in self.packets.iter().enumerate() {
            pair.submit(side, n as u8, meta);
        }
        vec![State { pair, faults: self.faults }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let quiet = state.pair.is_quiet();
        for side in 0..2 {
            let end = &state.pair.sides[side];
            if state.pair.lines[side].len() < LINE && end.would_send() {
                actions.push(Action::Send(side));
            }
            if end.on_wire.is_some() && (end.port.wants_cancel() || (self.embed && end.would_embed())) {
                actions.push(Action::Inside(side));
            }
            if let Some(item) = state.pair.lines[1 - side].front() {
                actions.push(Action::Deliver(side, Fault::None));
                if state.faults > 0 {
                    actions.push(Action::Deliver(side, Fault::Damage));
                    if matches!(item, common::Item::Symbol(_)) {
                        actions.push(Action::Deliver(side, Fault::Lose));
                    }
                }
            }
            if !end.holding.is_empty() {
                actions.push(Action::Consume(side));
            }
            if quiet && end.port.poll_timeout().is_some() {
                actions.push(Action::Timeout(side));
            }
        }
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Send(side) => {
                next.pair.send(side, 0);
            }
            Action::Inside(side) => {
                next.pair.inside(side, 0);
            }
            Action::Deliver(side, fault) => {
                next.faults -= u8::from(fault != Fault::None);
                next.pair.deliver(side, 0, fault);
            }
            Action::Consume(side) => {
                next.pair.sides[side].consume();
            }
            Action::Timeout(side) => {
                next.pair.sides[side].port.handle_timeout(u64::MAX);
                next.pair.sides[side].drain();
            }
        }
        // Counters serve as flags here: how often does not make a new state.
        for side in &mut next.pair.sides {
            let report = &mut side.report;
            for counter in [
                &mut report.input_retries,
                &mut report.input_errors,
                &mut report.output_retries,
                &mut report.output_errors,
                &mut report.recovered,
            ] {
                *counter = (*counter).min(1);
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("no packet twice", |_, state: &State| {
                state.pair.sides.iter().all(|side| {
                    side.delivered.iter().enumerate().all(|(n, id)| !side.delivered[..n].contains(id))
                })
            }),
            Property::always(
                "no packet lost: what is acknowledged has arrived",
                |model: &Link, state: &State| {
                    (0..2).all(|side| {
                        let arrived = &state.pair.sides[1 - side].delivered;
                        let mut acknowledged = state.pair.sides[side].report.acknowledged.iter();
                        acknowledged.all(|id| arrived.contains(id) || model.is_continuous(*id))
                    })
                },
            ),
            Property::always("no reorder within a priority", |model: &Link, state: &State| {
                state.pair.sides.iter().all(|side| {
                    let class = |id: &u8| model.packets[usize::from(*id)].1;
                    let ids = &side.delivered;
                    (1..ids.len()).all(|n| {
                        ids[..n].iter().all(|earlier| *earlier < ids[n] || class(earlier) != class(&ids[n]))
                    })
                })
            }),
            Property::always("credit never exceeds buffers", |_, state: &State| {
                (0..2).all(|side| {
                    let sender = &state.pair.sides[side].port;
                    let receiver = &state.pair.sides[1 - side];
                    sender.flow() == FlowControl::Receiver
                        || (sender.credit(0).free() <= receiver.port.buffers(0).free()
                            && receiver.report.input_retries == 0)
                })
            }),
            Property::always("never fatal", |_, state: &State| {
                state.pair.sides.iter().all(|side| !side.report.fatal)
            }),
            Property::sometimes("all packets arrive", |model: &Link, state: &State| model.is_good(state)),
            Property::sometimes("a retry, if the receiver controls", |model: &Link, state: &State| {
                !model.retries || state.pair.sides.iter().any(|side| side.report.output_retries > 0)
            }),
            Property::sometimes("recovery ends", |_, state: &State| {
                state.pair.sides.iter().any(|side| side.report.recovered > 0)
            }),
            Property::sometimes("both sides recover", |_, state: &State| {
                state.pair.sides.iter().all(|side| side.report.recovered > 0)
            }),
        ]
    }
}

/// Explores with `stateright`, then builds the graph and looks for states from which no good state can be
/// reached. Returns the number of states.
fn explore(name: &str, model: Link, retries: bool) -> usize {
    let model = Link { retries, ..model };
    let graph = Graph::of(&model);
    println!(
        "{name}: {} states, {} transitions, {} good states",
        graph.parents.len(),
        graph.edges.len(),
        graph.good.len()
    );
    let stuck = cannot_reach(graph.parents.len(), &graph.edges, &graph.good);
    if let Some(&n) = stuck.first() {
        panic!("{name}: {} states cannot reach a good one, e.g. after {:?}", stuck.len(), graph.path(n));
    }
    assert_eq!(graph.retried, retries, "{name}: whether a retry was ever reached");
    let checker = model.checker().spawn_bfs().join();
    checker.assert_properties();
    assert_eq!(checker.unique_state_count(), graph.parents.len(), "{name}: both explorations see the same");
    graph.parents.len()
}

/// All reachable states by number, and the transitions between them.
struct Graph {
    /// How a state was first reached: from which, by what.
    parents: Vec<Option<(u32, Action)>>,
    edges: Vec<(u32, u32)>,
    good: Vec<u32>,
    /// Some state saw a retry.
    retried: bool,
}

impl Graph {
    fn of(model: &Link) -> Self {
        let fingerprint = |state: &State| {
            let mut hasher = DefaultHasher::new();
            state.hash(&mut hasher);
            hasher.finish()
        };
        let mut open: VecDeque<State> = model.init_states().into();
        let mut seen: BTreeMap<u64, u32> = open.iter().map(|state| (fingerprint(state), 0)).collect();
        let mut graph = Self { parents: vec![None], edges: Vec::new(), good: Vec::new(), retried: false };
        let mut actions = Vec::new();
        let mut at = 0;
        while let Some(state) = open.pop_front() {
            if model.is_good(&state) {
                graph.good.push(at);
            }
            graph.retried |= state.pair.sides.iter().any(|side| side.report.output_retries > 0);
            actions.clear();
            model.actions(&state, &mut actions);
            for &action in &actions {
                let Some(next) = model.next_state(&state, action) else { continue };
                let fresh = graph.parents.len() as u32;
                let to = *seen.entry(fingerprint(&next)).or_insert(fresh);
                if to == fresh {
                    graph.parents.push(Some((at, action)));
                    open.push_back(next);
                }
                graph.edges.push((at, to));
            }
            at += 1;
        }
        graph
    }

    /// The shortest way to a state.
    fn path(&self, state: usize) -> Vec<Action> {
        let mut path = Vec::new();
        let mut at = state;
        while let Some((from, action)) = self.parents[at] {
            path.push(action);
            at = from as usize;
        }
        path.reverse();
        path
    }
}

/// States from which none of `good` can be reached.
fn cannot_reach(states: usize, edges: &[(u32, u32)], good: &[u32]) -> Vec<usize> {
    // Predecessors in one array, by target.
    let mut first = vec![0u32; states + 1];
    for &(_, to) in edges {
        first[to as usize + 1] += 1;
    }
    for n in 0..states {
        first[n + 1] += first[n];
    }
    let mut fill = first.clone();
    let mut predecessors = vec![0u32; edges.len()];
    for &(from, to) in edges {
        predecessors[fill[to as usize] as usize] = from;
        fill[to as usize] += 1;
    }
    let mut reaches = vec![false; states];
    let mut open = good.to_vec();
    for &n in good {
        reaches[n as usize] = true;
    }
    while let Some(n) = open.pop() {
        for &from in &predecessors[first[n as usize] as usize..first[n as usize + 1] as usize] {
            if !std::mem::replace(&mut reaches[from as usize], true) {
                open.push(from);
            }
        }
    }
    (0..states).filter(|&n| !reaches[n]).collect()
}

/// Few buffers and watermarks that let a retry happen at the second packet.
fn tight(base: Config) -> Config {
    let low = Watermarks::new([3, 2, 1]).expect("falling");
    Config { buffers: 3, watermarks: low, accept: low, eager_at: 3, ..base }
}

fn both(config: Config) -> [Config; 2] {
    [config.clone(), config]
}

fn link(config: Config, packets: &[(usize, PacketMeta)], faults: u8) -> Link {
    Link { configs: both(config), packets: packets.to_vec(), faults, embed: false, before: 0, retries: false }
}

fn vc(prio: u8) -> PacketMeta {
    PacketMeta { vc: true, ..meta(prio) }
}

/// Shows: R1.3p6s5.11.2c1020, R1.3p6s5.11.2.6c1035, R1.3p6s5.7.2c0942, R2.2p6s5.13.2c0573,
/// R2.2p6s5.13.2.7c0633, R2.2p6s5.8c0480, R2.2p6s5.9.2c0510
#[test]
fn transmitter_controlled() {
    let packets = [(0, meta(0)), (0, meta(1)), (1, meta(0))];
    explore("transmitter-controlled, 2 + 1 packets, 2 faults", link(tight(config()), &packets, 2), false);
    let packets = [(0, meta(0)), (0, meta(0)), (0, meta(2))];
    let wrapping = Link { before: 30, ..link(tight(config()), &packets, 3) };
    explore("transmitter-controlled, 3 packets, 3 faults, ackIDs wrap", wrapping, false);
}

/// Shows: R2.2p6s5.9.1.5c0501, R2.2p6s5.9.1.5c0502, R2.2p6s5.9.1.3c0491, R1.3p6s5.7.1c0870
#[test]
fn receiver_controlled() {
    let tight = tight(Config { flow: FlowControl::Receiver, ..config() });
    let packets = [(0, meta(0)), (0, meta(0)), (0, meta(2))];
    explore("receiver-controlled, 3 packets, 3 faults", link(tight.clone(), &packets, 3), true);
    let packets = [(0, meta(0)), (0, meta(0)), (1, meta(0))];
    explore("receiver-controlled, 2 + 1 packets, 2 faults", link(tight, &packets, 2), true);
}

/// Shows: R1.3p6s5.3.3c0893, R1.3p6s5.3.3c0895, R1.3p6s5.3.3c0897, R1.3p6s5.3.3c0898, R1.3p6s5.3.3c0900,
/// R2.2p6s5.10c0519, R2.2p6s5.10c0528, R2.2p6s5.5.3.3c0427
#[test]
fn symbols_in_packets_and_packets_that_end_first() {
    let tight = tight(Config { flow: FlowControl::Receiver, ..config() });
    let packets = [(0, meta(0)), (0, meta(0)), (1, meta(0))];
    let embedding = Link { embed: true, ..link(tight.clone(), &packets, 1) };
    explore("receiver-controlled, 2 + 1 packets, 1 fault, embedding", embedding, true);
    let patient = Config { cancel: false, ..tight };
    explore("receiver-controlled, 2 + 1 packets, 1 fault, nothing cut", link(patient, &packets, 1), true);
}

#[test]
fn ack_id_in_packet_not_accepted() {
    let config = Config { ack_id_in_pna: true, ..tight(config()) };
    let packets = [(0, meta(0)), (0, meta(1)), (0, meta(0))];
    explore("ackID in packet-not-accepted, 3 packets, 3 faults", link(config, &packets, 3), false);
}

/// Shows: R2.2p6s5.4.2c0394, R2.2p6s5.9.1.1c0488, R2.2p6s3.4.2c0034
#[test]
fn reliable_vc() {
    let vcs = [VcConfig { buffers: 1, ..VcConfig::default() }];
    let config = Config { flow: FlowControl::Receiver, ..tight(with_vcs(Channels::One, &vcs)) };
    let packets = [(0, vc(0)), (0, meta(0)), (0, vc(0))];
    explore("VC0 and a reliable VC1, 3 packets, 1 fault", link(config, &packets, 1), false);
}

/// Shows: R2.2p6s5.8c0476, R2.2p6s5.8c0479, R2.2p6s5.8c0481, R2.2p6s5.8c0482, R2.2p6s5.13.2.7c0634
#[test]
fn continuous_vc() {
    let vcs = [VcConfig { traffic: Traffic::Continuous, buffers: 1, share: 1 }];
    // Without refresh a lost VC_status would stop the channel for ever.
    let config = Config { vc_refresh_period: Some(1), ..tight(with_vcs(Channels::One, &vcs)) };
    let packets = [(0, vc(0)), (0, meta(0)), (0, vc(0))];
    explore("VC0 and a continuous VC1, 3 packets, 2 faults", link(config, &packets, 2), false);
}
