//! Two connected ports, every interleaving: each direction may carry a few items, a few of them may be damaged
//! or lost, timers may run out when nothing is under way (the link timeout is longer than any answer takes),
//! the owner may take received packets away at any time.
//!
//! Safety is checked in every state with `stateright`. That all packets arrive in the end is checked over the
//! graph: from every state a good state can be reached (`eventually` would be unsound on cycles).

mod common;

use common::{Fault, Pair, config, meta, receiver_controlled};
use lp_serial::link::{Config, FlowControl, OutputState, PacketMeta};
use stateright::{Checker, Model, Property};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Items that a direction may carry.
const LINE: usize = 3;

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Action {
    Send(usize),
    Cut(usize),
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
}

impl Link {
    fn of_side(&self, side: usize) -> impl Iterator<Item = u8> + '_ {
        (0..self.packets.len()).filter(move |&n| self.packets[n].0 == side).map(|n| n as u8)
    }

    /// Everything that was submitted has arrived once, and both sides know it.
    fn is_good(&self, state: &State) -> bool {
        state.pair.sides.iter().enumerate().all(|(side, end)| {
            let peer = &state.pair.sides[1 - side];
            end.port.output() == OutputState::Normal
                && end.report.acknowledged.len() == self.of_side(side).count()
                && peer.delivered.len() == self.of_side(side).count()
        })
    }
}

impl Model for Link {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let [a, b] = self.configs.clone();
        let mut pair = Pair::up(a, b);
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
            if end.on_wire.is_some() && end.port.wants_cancel() {
                actions.push(Action::Cut(side));
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
            Action::Cut(side) => {
                next.pair.cut(side, 0);
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
            Property::always("no packet lost: what is acknowledged has arrived", |_, state: &State| {
                (0..2).all(|side| {
                    let arrived = &state.pair.sides[1 - side].delivered;
                    state.pair.sides[side].report.acknowledged.iter().all(|id| arrived.contains(id))
                })
            }),
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
    let (states, edges, good, retried) = graph(&model);
    let stuck = cannot_reach(states.len(), &edges, &good);
    if let Some(&n) = stuck.first() {
        panic!(
            "{name}: {} states of {} cannot reach a good one, e.g. {:#?}",
            stuck.len(),
            states.len(),
            states[n]
        );
    }
    assert_eq!(retried, retries, "{name}: whether a retry was ever reached");
    let checker = model.checker().spawn_bfs().join();
    checker.assert_properties();
    println!(
        "{name}: {} states, {} transitions, {} good states; depth {}",
        states.len(),
        edges.len(),
        good.len(),
        checker.max_depth()
    );
    assert_eq!(checker.unique_state_count(), states.len(), "{name}: both explorations see the same states");
    states.len()
}

type Graph = (Vec<State>, Vec<(u32, u32)>, Vec<u32>, bool);

/// All reachable states, the transitions between them, the good ones, and whether any saw a retry.
fn graph(model: &Link) -> Graph {
    let number = |state: &State| {
        let mut hasher = DefaultHasher::new();
        state.hash(&mut hasher);
        hasher.finish()
    };
    let mut states = model.init_states();
    let mut seen: HashMap<u64, u32> = HashMap::from([(number(&states[0]), 0)]);
    let (mut edges, mut good, mut retried) = (Vec::new(), Vec::new(), false);
    let mut actions = Vec::new();
    let mut at = 0;
    while at < states.len() {
        if model.is_good(&states[at]) {
            good.push(at as u32);
        }
        retried |= states[at].pair.sides.iter().any(|side| side.report.output_retries > 0);
        actions.clear();
        model.actions(&states[at], &mut actions);
        for &action in &actions {
            let Some(next) = model.next_state(&states[at], action) else { continue };
            let fresh = states.len() as u32;
            let to = *seen.entry(number(&next)).or_insert(fresh);
            if to == fresh {
                states.push(next);
            }
            edges.push((at as u32, to));
        }
        at += 1;
    }
    (states, edges, good, retried)
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
    let low = lp_serial::cost::Watermarks::new([3, 2, 1]).expect("falling");
    Config { buffers: 3, watermarks: low, accept: low, eager_at: 3, ..base }
}

/// Shows: R2.2p6s5.13.2c0573, R2.2p6s5.8c0480, R2.2p6s5.13.2.7c0633, R1.3p6s5.11.2.6c1035
#[test]
fn transmitter_controlled_with_damage_and_loss() {
    let model = Link {
        configs: [tight(config()), tight(config())],
        packets: vec![(0, meta(0)), (0, meta(1)), (1, meta(0))],
        faults: 1,
    };
    explore("transmitter-controlled, 2 + 1 packets, 1 fault", model, false);
}

/// Shows: R2.2p6s5.9.1.5c0501, R2.2p6s5.9.1.5c0502, R2.2p6s5.9.1.3c0491, R1.3p6s5.7.1c0870
#[test]
fn receiver_controlled_with_damage_and_loss() {
    let model = Link {
        configs: [tight(receiver_controlled()), tight(receiver_controlled())],
        packets: vec![(0, meta(0)), (0, meta(0)), (0, meta(2))],
        faults: 1,
    };
    explore("receiver-controlled, 3 packets, 1 fault", model, true);
}
