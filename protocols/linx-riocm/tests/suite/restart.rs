//! A node that restarts with the generation it had: every order of events within budgets of faults.
//!
//! Connection packets, heartbeats and data are three channels each way: frames of one stay in order, as a
//! fabric keeps them for one priority, and overtake those of the others at will. With `any_order` frames
//! overtake each other as they like.

use crate::common::*;
use linx_riocm::{Class, Event, Link, Options, Peer, Phase, Timer};
use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// How much may go wrong.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Budget {
    /// Connection packets lost.
    losses: u8,
    /// Connection packets duplicated.
    duplicates: u8,
    restarts: u8,
    /// Supervision that runs out although the peer is there.
    timeouts: u8,
    /// Messages of each node.
    messages: u8,
    /// Connects of both nodes beyond which a run is not followed.
    connects: u8,
}

const NONE: Budget = Budget { losses: 0, duplicates: 0, restarts: 0, timeouts: 0, messages: 1, connects: 9 };

#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
struct Handler {
    up: bool,
    life: u8,
    sent: u8,
    heard: Option<(u8, u8)>,
    last_life: u8,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct State {
    ends: [End; 2],
    handlers: [Handler; 2],
    channels: [[VecDeque<Vec<u8>>; 3]; 2],
    messages: [u8; 2],
    budget: Budget,
}

struct World {
    any_order: bool,
    restarts: u8,
}

struct Step {
    what: String,
    before: Option<Rc<Step>>,
}

fn told(mut step: Option<&Rc<Step>>) -> String {
    let mut words = vec![];
    while let Some(at) = step {
        words.push(at.what.clone());
        step = at.before.as_ref();
    }
    words.reverse();
    words.join("\n")
}

impl World {
    /// Always the same generation; the connection IDs are others after a restart.
    fn boot(&self, side: usize, restarts: u8) -> End {
        let own = 1 + side as u16;
        let (mtu, hb_tmo) = [(256, 5), (128, 10)][side];
        let peer = Peer { mtu, hb_tmo, generation: 7, ..Peer::new(3 - own) };
        End::new(own, 0x100 * own + 0x40 * u16::from(restarts), peer, Options::default())
    }

    fn start(&self, budget: Budget) -> State {
        let ends = [self.boot(0, 0), self.boot(1, 0)];
        let (handlers, channels) = Default::default();
        State { ends, handlers, channels, messages: [budget.messages; 2], budget }
    }

    fn links(state: &State) -> [Option<Link>; 2] {
        state.ends.each_ref().map(|end| end.node.link(end.id))
    }

    /// Takes what a node sends and says. An error is a broken promise.
    fn drain(&self, state: &mut State, side: usize) -> Result<(), String> {
        let end = &mut state.ends[side];
        while let Some(frame) = end.node.poll_transmit() {
            let channel = match frame.class {
                Class::Connection => 0,
                Class::Heartbeat => 1,
                Class::Data => 2,
            };
            state.channels[side][channel].push_back(frame.octets.to_vec());
        }
        let handler = &mut state.handlers[side];
        while let Some(event) = end.node.poll_event() {
            match event {
                Event::Connected { .. } => {
                    let (life, last_life) = (handler.life + 1, handler.last_life);
                    *handler = Handler { up: true, life, last_life, ..Handler::default() };
                }
                Event::Disconnected { .. } => handler.up = false,
                Event::Deliver { delivery, .. } => {
                    let (life, number) = (delivery.octets[0], delivery.octets[1]);
                    let (expected_life, expected) = handler.heard.unwrap_or((life, 0));
                    let fresh = handler.heard.is_some() || life > handler.last_life;
                    if (life, number) != (expected_life, expected) || !fresh || !handler.up {
                        return Err(format!("{side} heard {life}.{number}, {handler:?}"));
                    }
                    (handler.heard, handler.last_life) = (Some((life, number + 1)), life);
                }
            }
        }
        end.node.take_counters();
        Ok(())
    }

    fn successors(&self, state: &State) -> Result<Vec<(String, State)>, String> {
        let mut found = vec![];
        let quiet = state.channels.iter().flatten().all(VecDeque::is_empty);
        let links = Self::links(state);
        let mut act = |what: String, side: usize, change: &mut dyn FnMut(&mut State)| {
            let mut after = state.clone();
            change(&mut after);
            self.drain(&mut after, side).map_err(|why| format!("{what}: {why}"))?;
            found.push((what, after));
            Ok::<(), String>(())
        };
        for side in 0..2 {
            let end = &state.ends[side];
            let (id, phase) = (end.id, end.phase());
            if phase == Phase::Disconnected && state.budget.connects > 0 {
                act(format!("{side} connects"), side, &mut |after| {
                    after.budget.connects -= 1;
                    after.ends[side].node.connect(0, id);
                })?;
            }
            if phase == Phase::Connected && state.messages[side] > 0 {
                act(format!("{side} submits"), side, &mut |after| {
                    after.messages[side] -= 1;
                    let handler = &mut after.handlers[side];
                    let message = [handler.life, handler.sent];
                    handler.sent += 1;
                    after.ends[side].node.transmit(0, id, 5, 9, &message);
                })?;
            }
            if phase != Phase::Disconnected && state.budget.restarts > 0 {
                act(format!("{side} restarts"), side, &mut |after| {
                    let turn = self.restarts - after.budget.restarts + 1;
                    after.budget.restarts -= 1;
                    after.ends[side] = self.boot(side, turn);
                    let life = after.handlers[side].life;
                    after.handlers[side] = Handler { life, ..Handler::default() };
                })?;
            }
            for channel in 0..3 {
                let frames = &state.channels[1 - side][channel];
                let reach = if self.any_order { frames.len() } else { frames.len().min(1) };
                for at in 0..reach {
                    if frames.iter().take(at).any(|other| *other == frames[at]) {
                        continue;
                    }
                    let what = format!("{side} hears {}", hex(&frames[at]));
                    act(what.clone(), side, &mut |after| {
                        let frame = after.channels[1 - side][channel].remove(at).unwrap();
                        after.ends[side].node.handle_frame(0, &frame);
                    })?;
                    if channel == 0 && state.budget.losses > 0 {
                        act(format!("lost: {what}"), side, &mut |after| {
                            after.budget.losses -= 1;
                            after.channels[1 - side][channel].remove(at);
                        })?;
                    }
                    if channel == 0 && state.budget.duplicates > 0 {
                        act(format!("twice: {what}"), side, &mut |after| {
                            after.budget.duplicates -= 1;
                            let frame = frames[at].clone();
                            after.channels[1 - side][channel].push_back(frame);
                        })?;
                    }
                }
            }
            let alive = links[1 - side].zip(links[side]).is_some_and(|(peer, own)| own.cid == peer.peer_cid);
            for timer in Timer::ALL {
                let runs_out = match timer {
                    Timer::Request | Timer::Gap => quiet,
                    Timer::Supervision => quiet && !alive || alive && state.budget.timeouts > 0,
                    Timer::Heartbeat => {
                        let peer = &state.ends[1 - side];
                        quiet && peer.phase() == Phase::Connected && !peer.node.is_proved(peer.id)
                    }
                };
                if runs_out && end.node.timer(id, timer).is_some() {
                    act(format!("{side}: {timer:?} runs out"), side, &mut |after| {
                        if alive && timer == Timer::Supervision {
                            after.budget.timeouts -= 1;
                        }
                        after.ends[side].node.fire(0, id, timer);
                    })?;
                }
            }
        }
        Ok(found)
    }

    /// Whether a run may end here: both up with each other, nothing missing.
    fn is_well(state: &State) -> bool {
        let [Some(x), Some(y)] = Self::links(state) else { return state.budget.connects == 0 };
        let agreed = (x.mtu, x.hb_tmo, x.generation, x.peer_generation, x.cid, x.peer_cid)
            == (y.mtu, y.hb_tmo, y.peer_generation, y.generation, y.peer_cid, y.cid);
        let whole = (0..2).all(|side| {
            let sender = &state.handlers[1 - side];
            state.handlers[side].heard.map_or(sender.sent == 0, |heard| heard == (sender.life, sender.sent))
        });
        agreed && whole
    }

    /// Every state that can be reached; how many. Panics with the way to a broken promise.
    fn explore(&self, budget: Budget) -> usize {
        let mut seen = HashSet::new();
        let mut frontier = VecDeque::from([(self.start(budget), None)]);
        while let Some((state, way)) = frontier.pop_front() {
            let successors = match self.successors(&state) {
                Ok(successors) => successors,
                Err(why) => panic!("{budget:?}\n{}\n{why}", told(way.as_ref())),
            };
            if successors.is_empty() {
                assert!(Self::is_well(&state), "{budget:?}\n{}\nends in {state:#?}", told(way.as_ref()));
            }
            for (what, after) in successors {
                if seen.insert(mark(&after)) {
                    frontier.push_back((after, Some(Rc::new(Step { what, before: way.clone() }))));
                }
            }
        }
        seen.len()
    }
}

/// A state in 128 bits.
fn mark(state: &State) -> (u64, u64) {
    let mut hashers = [DefaultHasher::new(), DefaultHasher::new()];
    1_u8.hash(&mut hashers[1]);
    let [a, b] = hashers.map(|mut hasher| {
        state.hash(&mut hasher);
        hasher.finish()
    });
    (a, b)
}

/// Nothing is lost unseen, comes twice or is mixed with another life, whatever overtakes what.
///
/// Proves: RIOCM-10.1.1-15, RIOCM-10.1.1.1-2, RIOCM-10.1.2-12, RIOCM-RLNH-2
#[test]
fn no_order_of_events_mixes_the_lives_of_a_node_with_one_generation() {
    for (any_order, budget, more_than) in [
        (false, Budget { connects: 3, messages: 2, ..NONE }, 300),
        (false, Budget { losses: 2, connects: 3, ..NONE }, 1_000),
        (false, Budget { timeouts: 1, connects: 3, ..NONE }, 2_000),
        (false, Budget { restarts: 1, connects: 4, ..NONE }, 5_000),
        (false, Budget { restarts: 1, losses: 1, connects: 3, ..NONE }, 5_000),
        (false, Budget { restarts: 1, duplicates: 1, connects: 3, ..NONE }, 5_000),
        (true, Budget { restarts: 1, connects: 3, ..NONE }, 20_000),
        (false, Budget { restarts: 2, connects: 3, ..NONE }, 5_000),
    ] {
        let world = World { any_order, restarts: budget.restarts };
        let states = world.explore(budget);
        println!("{any_order} {budget:?}: {states}");
        assert!(states > more_than, "{budget:?}: {states}");
    }
}
