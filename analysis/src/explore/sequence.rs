//! Paths of explorations in words, and as message sequence charts.

use super::Model;
use crate::chart::{Chart, Line, What};

/// What an event of a model of two nodes is.
#[derive(Clone, Debug)]
pub enum Happening<M> {
    /// A message arrives at a node.
    Delivered(usize, M),
    /// A message to a node is lost.
    Lost(usize, M),
    /// A message to a node is there twice.
    Duplicated(usize, M),
    /// Something happens at a node, or at nobody in particular.
    Noted(Option<usize>, String),
}

/// A model of two nodes that talk to each other.
pub trait Conversation: Model<Event: PartialEq> {
    /// Names of the nodes.
    const NODES: [&'static str; 2];
    /// What they say.
    type Message: Clone + PartialEq;

    /// Messages on their way from a node to the other, in a state.
    fn in_flight(state: &Self::State, from: usize) -> Vec<Self::Message>;

    /// A message in words.
    fn words(message: &Self::Message) -> String;

    /// What an event is.
    fn happening(event: &Self::Event) -> Happening<Self::Message>;

    /// What a node did before the first event: what it then has in flight follows from it.
    fn opening(&self, node: usize) -> Option<String>;

    /// Of messages that a node sends in one event, those of a lower rank come first.
    fn rank(_message: &Self::Message) -> u8 {
        0
    }
}

/// How often each kind of accident happens, in words: number, what happens once, what happens more often.
pub(super) fn accidents(kinds: &[(u8, &str, &str)]) -> String {
    let happened = kinds.iter().filter(|(count, ..)| *count > 0);
    let words: Vec<String> = happened
        .map(|(count, one, more)| match count {
            1 => format!("1 {one}"),
            _ => format!("{count} {more}"),
        })
        .collect();
    if words.is_empty() { "nothing goes wrong".to_owned() } else { words.join(", ") }
}

/// The states along a path, the initial one first. None if it is not one of this model.
pub fn follow<M: Model<Event: PartialEq>>(model: &M, path: &[M::Event]) -> Option<Vec<M::State>> {
    let mut states = vec![model.initial()];
    let mut found = Vec::new();
    for event in path {
        model.events(states.last()?, &mut found);
        let next = found.drain(..).find(|(possible, _)| possible == event);
        states.push(next?.1);
    }
    Some(states)
}

/// An event in a sentence.
pub fn sentence<M: Conversation>(event: &M::Event) -> String {
    let way = |to: usize, arrow: &str| format!("{} {arrow} {}", M::NODES[1 - to], M::NODES[to]);
    match M::happening(event) {
        Happening::Delivered(to, message) => format!("{}: {}", way(to, "->"), M::words(&message)),
        Happening::Lost(to, message) => format!("{}: {} is lost", way(to, "-x"), M::words(&message)),
        Happening::Duplicated(to, message) => {
            format!("{}: {} is duplicated", way(to, "=>"), M::words(&message))
        }
        Happening::Noted(Some(node), words) => format!("{}: {words}", M::NODES[node]),
        Happening::Noted(None, words) => words,
    }
}

/// What an event sends: (sender, message).
fn sent<M: Conversation>(before: &M::State, event: &M::Event, after: &M::State) -> Vec<(usize, M::Message)> {
    let mut sent = Vec::new();
    for from in 0..2 {
        let mut old = M::in_flight(before, from);
        if let Happening::Delivered(to, message) | Happening::Lost(to, message) = M::happening(event)
            && to != from
            && let Some(place) = old.iter().position(|known| *known == message)
        {
            old.remove(place);
        }
        for message in M::in_flight(after, from) {
            match old.iter().position(|known| *known == message) {
                Some(place) => _ = old.remove(place),
                None => sent.push((from, message)),
            }
        }
    }
    // The order of a channel may be that of contents.
    sent.sort_by_key(|(_, message)| M::rank(message));
    sent
}

/// Lines of a chart, and the messages that are under way.
struct Drawing<M: Conversation> {
    lines: Vec<Line>,
    /// (sender, message, number).
    flight: Vec<(usize, M::Message, usize)>,
    number: usize,
}

impl<M: Conversation> Drawing<M> {
    fn line(&mut self, node: usize, what: What) {
        self.lines.push(Line { at: String::new(), node, what });
    }

    fn launch(&mut self, sent: Vec<(usize, M::Message)>) {
        for (from, message) in sent {
            let words = M::words(&message);
            self.line(from, What::Sent { message: self.number, to: 1 - from, words });
            self.flight.push((from, message, self.number));
            self.number += 1;
        }
    }

    /// Takes a message to `to` out of what is under way.
    fn land(&mut self, to: usize, message: &M::Message) -> Option<usize> {
        let found = self.flight.iter().position(|(from, known, _)| *from != to && known == message)?;
        Some(self.flight.remove(found).2)
    }
}

/// The chart of a path. None if it is not one of this model.
pub fn chart<M: Conversation>(model: &M, path: &[M::Event], title: &str, subtitle: &str) -> Option<Chart> {
    let states = follow(model, path)?;
    let mut drawing = Drawing::<M> { lines: Vec::new(), flight: Vec::new(), number: 0 };
    for node in 0..2 {
        if let Some(words) = model.opening(node) {
            drawing.line(node, What::Note(words));
        }
        drawing.launch(M::in_flight(&states[0], node).into_iter().map(|message| (node, message)).collect());
    }
    for (event, pair) in path.iter().zip(states.windows(2)) {
        let sent = sent::<M>(&pair[0], event, &pair[1]);
        match M::happening(event) {
            Happening::Delivered(to, message) => {
                if let Some(message) = drawing.land(to, &message) {
                    drawing.line(to, What::Arrived { message });
                }
            }
            Happening::Lost(to, message) => {
                if let Some(message) = drawing.land(to, &message) {
                    drawing.line(1 - to, What::Lost { message });
                }
            }
            Happening::Duplicated(to, message) => {
                let words = format!("{} is there twice", M::words(&message));
                drawing.line(1 - to, What::Note(words));
            }
            Happening::Noted(node, words) => {
                let node = node.or(sent.first().map(|(from, _)| *from)).unwrap_or(0);
                drawing.line(node, What::Note(words));
            }
        }
        drawing.launch(sent);
    }
    let nodes = M::NODES.map(String::from).to_vec();
    let (title, subtitle, stamp) = (title.to_owned(), subtitle.to_owned(), String::new());
    Some(Chart { title, subtitle, stamp, nodes, lines: drawing.lines })
}
