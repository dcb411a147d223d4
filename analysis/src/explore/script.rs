//! Paths of explored conduits, written as scenarios that replay them in the simulator.

use super::Order;
use super::conduit::{Class, Conduit, Configuration, Event, FIRST_STREAM, Final, Message, State};
use super::graph::Model;
use super::sequence::{self, Conversation, follow};
use crate::chart::Chart;
use serde_json::{Value, json};
use session_management::conduit::Algorithm;

/// Names of the nodes.
const NODES: [&str; 2] = Conduit::NODES;
/// REQUEST_TIMEOUT_PERIOD, microseconds.
const TIMEOUT: i64 = 1_000_000;
/// Time between two steps, microseconds: longer than the way through the fabric.
const STEP: i64 = 10;

/// A path with the states between its events.
pub struct Walk<'a> {
    model: &'a Conduit,
    /// Before the first event, then after each.
    states: Vec<State>,
    events: Vec<Event>,
}

impl<'a> Walk<'a> {
    /// Follows a path. None if it is not one of this model.
    #[must_use]
    pub fn new(model: &'a Conduit, path: &[Event]) -> Option<Self> {
        Some(Self { model, states: follow(model, path)?, events: path.to_vec() })
    }

    /// What tells endings apart: records and streams allocated at both nodes.
    #[must_use]
    pub fn ending(&self) -> Final {
        let last = self.states.last().expect("there is an initial state");
        self.model.outcome(last, self.model.is_cut(last)).1
    }

    /// The first calls of create_conduit, where they belong to the initial state.
    fn first_calls(&self) -> usize {
        if self.model.configuration == Configuration::Crossing { 2 } else { 0 }
    }

    /// The chart of the path.
    #[must_use]
    pub fn chart(&self, title: &str, subtitle: &str) -> Chart {
        sequence::chart(self.model, &self.events, title, subtitle).expect("it is a path of this model")
    }

    /// REQUEST_RETRY_PERIOD that gives every OPEN as many repetitions as the model, microseconds.
    fn retry(&self) -> i64 {
        let fault = self.model.fault;
        TIMEOUT / (1 + i64::from(fault.retries) + i64::from(fault.budget.premature))
    }

    /// Instants of the events, in microseconds, at which every timer runs out by itself at its period; none:
    /// no delays of messages give this order.
    #[must_use]
    pub fn instants(&self) -> Option<Vec<i64>> {
        let (retry, calls) = (self.retry(), self.first_calls());
        // Event k happens at `t[k + 1]`; `t[0]` is the beginning.
        let mut at_least: Vec<(usize, usize, i64)> = Vec::new();
        for k in 0..self.events.len() {
            at_least.push((k, k + 1, if k == 0 && calls == 0 { 0 } else { STEP }));
        }
        let exactly = |found: &mut Vec<(usize, usize, i64)>, from, to, time: i64| {
            found.push((from, to, time));
            found.push((to, from, -time));
        };
        for node in 0..2 {
            self.constrain(node, retry, &mut at_least, exactly);
        }
        // The least solution, if there is one.
        let mut t = vec![0; self.states.len()];
        for _ in 0..=t.len() {
            let mut settled = true;
            for &(from, to, time) in &at_least {
                if t[to] < t[from] + time {
                    t[to] = t[from] + time;
                    settled = false;
                }
            }
            if settled {
                return (t[0] == 0).then(|| t.split_off(1));
            }
        }
        None
    }

    /// What the timers of one node demand of the instants.
    fn constrain(
        &self,
        node: usize,
        retry: i64,
        found: &mut Vec<(usize, usize, i64)>,
        exactly: impl Fn(&mut Vec<(usize, usize, i64)>, usize, usize, i64),
    ) {
        // (what, when it was first sent, repetitions).
        let mut running: Vec<(Message, usize, i64)> = Vec::new();
        let mut watch: Option<usize> = None;
        let requests = |state: &State| -> Vec<Message> {
            let opens = state.pending(node).map(|number| Message::Open { number, receive: 0 });
            opens.chain(state.closing(node).iter().map(|&stream| Message::Close(stream))).collect()
        };
        running.extend(requests(&self.states[0]).into_iter().map(|request| (request, 0, 0)));
        for (k, event) in self.events.iter().enumerate() {
            let now = k + 1;
            let same = |request: &Message, other: &Message| match (request, other) {
                (Message::Open { number: a, .. }, Message::Open { number: b, .. }) => a == b,
                (a, b) => a == b,
            };
            match event {
                Event::Repeat(own, message) if *own == node => {
                    if let Some(entry) = running.iter_mut().find(|entry| same(&entry.0, message)) {
                        entry.2 += 1;
                        exactly(found, entry.1, now, entry.2 * retry);
                        if entry.2 * retry >= TIMEOUT {
                            // It would have been given up.
                            found.push((now, now, 1));
                        }
                    }
                }
                Event::GiveUp(own, number) if *own == node => {
                    let open = Message::Open { number: *number, receive: 0 };
                    if let Some(entry) = running.iter().find(|entry| same(&entry.0, &open)) {
                        exactly(found, entry.1, now, TIMEOUT);
                    }
                }
                Event::Watch(own) if *own == node => {
                    if let Some(since) = watch {
                        exactly(found, since, now, TIMEOUT);
                    }
                }
                _ => {}
            }
            // Whatever is still running has not run out before this event.
            for (_, since, repeats) in &running {
                found.push((now, *since, -((repeats + 1) * retry).min(TIMEOUT)));
            }
            if let Some(since) = watch {
                found.push((now, since, -TIMEOUT));
            }
            let after = requests(&self.states[now]);
            running.retain(|entry| after.iter().any(|request| same(&entry.0, request)));
            for request in after {
                if !running.iter().any(|entry| same(&entry.0, &request)) {
                    running.push((request, now, 0));
                }
            }
            watch = match self.states[now].awaits_open(node) {
                true => watch.or(Some(now)),
                false => None,
            };
        }
    }

    /// A scenario that replays the path in the simulator.
    #[must_use]
    pub fn scenario(&self, class: Class) -> Value {
        let model = self.model;
        let instants = self.instants();
        let realisable = instants.is_some();
        let calls = self.first_calls() as i64;
        let at = |k: usize| match &instants {
            Some(instants) => instants[k],
            None => STEP * (k as i64 + calls),
        };
        let step = |time: i64, node: usize, action: Value| {
            let (node, peer) = (NODES[node], NODES[1 - node]);
            json!({"at": format!("{time} us"), "node": node, "peer": peer, "do": action})
        };
        let mut steps: Vec<Value> = (0..calls as usize).map(|node| step(0, node, json!("create"))).collect();
        for (k, event) in self.events.iter().enumerate() {
            let (node, action) = match event {
                Event::Create(node) => (*node, json!("create")),
                Event::Deliver(to, message) => (1 - to, json!({"deliver": message.to_string()})),
                Event::Lose(to, message) => (1 - to, json!({"lose": message.to_string()})),
                Event::Duplicate(to, message) => (1 - to, json!({"duplicate": message.to_string()})),
                Event::Repeat(node, message) => (*node, json!({"repeat": message.to_string()})),
                Event::GiveUp(node, number) => (*node, json!({"give_up": number})),
                Event::Verify(node, stream) => (*node, json!({"query": stream})),
                Event::Watch(node) => (*node, json!("watch")),
                Event::Restart(node) => (*node, json!("restart")),
            };
            steps.push(step(at(k), node, action));
        }
        let last = self.events.len().checked_sub(1).map_or(0, at);
        let name = |algorithm: Algorithm| algorithm.name();
        let order = if model.order == Order::Fifo { "in order" } else { "in any order" };
        let both = model.algorithms[0] == model.algorithms[1];
        let title = format!(
            "{}{}, {}, {}, {order}: {}",
            name(model.algorithms[0]),
            if both { String::new() } else { format!(" and {}", name(model.algorithms[1])) },
            model.configuration.name(),
            model.fault.name,
            class.name()
        );
        let label = if realisable {
            "With delays of messages as here every timer runs out by itself at its period."
        } else {
            "No delays of messages give this order with timers at their periods: the script fires them."
        };
        let overrides: Vec<Value> = (0..2)
            .map(|node| {
                let session = json!({
                    "algorithm": name(model.algorithms[node]),
                    "first_stream": FIRST_STREAM[node],
                });
                json!({"devices": NODES[node], "endpoint": {"session": session}})
            })
            .collect();
        json!({
            "name": format!("path-{}-{}", name(model.algorithms[0]), class.name()),
            "title": title,
            "description": ["A shortest path to this ending.", label],
            "topology": {"explicit": {
                "devices": [
                    {"name": NODES[0], "id": 1}, {"name": NODES[1], "id": 2}, {"name": "switch", "ports": 2},
                ],
                "links": [{"a": "switch:0", "b": NODES[0]}, {"a": "switch:1", "b": NODES[1]}],
            }},
            "endpoint": {"session": {
                "retry": format!("{} us", self.retry()),
                "timeout": format!("{TIMEOUT} us"),
            }},
            "overrides": overrides,
            "traffic": [{
                "name": "conduit",
                "from": NODES[0],
                "to": NODES[1],
                "session": {"chart": true, "script": {"realisable": realisable, "steps": steps}},
            }],
            "run": {
                "until": format!("{} us", last + STEP), "sample_every": "off", "stall_after": "off",
            },
        })
    }
}
