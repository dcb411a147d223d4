//! The merged state graph and what can be asked of it.

use super::intern::Interner;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::hash::Hash;

/// A closed system whose every behaviour is explored.
pub trait Model {
    /// All that decides what can happen next. No clock.
    type State: Clone + Eq + Hash;
    /// One thing that happens.
    type Event: Clone + fmt::Debug;
    /// How a run ended, as far as one cares.
    type Outcome: Ord + Clone;
    /// What tells two endings of the same outcome apart.
    type Final: Ord;

    /// Where runs begin.
    fn initial(&self) -> Self::State;

    /// What can happen in a state, and the state after each. Nothing: a run ends here. Two entries may lead
    /// to the same state; they count as two events.
    fn events(&self, state: &Self::State, found: &mut Vec<(Self::Event, Self::State)>);

    /// Whether a run is stopped here, because more of the same would follow.
    fn is_cut(&self, state: &Self::State) -> bool;

    /// How a run ended that ended or was cut here.
    fn outcome(&self, state: &Self::State, cut: bool) -> (Self::Outcome, Self::Final);
}

/// What ended in one outcome.
#[derive(Debug)]
pub struct Tally<F> {
    /// Interleavings.
    pub paths: u128,
    /// Different endings.
    pub finals: BTreeSet<F>,
    /// Probability under a scheduler that picks uniformly among what can happen.
    pub probability: f64,
}

/// How the runs of a graph end, with cycles or without.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Endings<O> {
    /// States of the graph.
    pub states: usize,
    /// Events from state to state.
    pub transitions: usize,
    /// Different endings of each outcome.
    pub endings: BTreeMap<O, usize>,
    /// Whether a good outcome can be reached from every state.
    pub live: bool,
}

/// The graph has a cycle: there is no number of interleavings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Cyclic;

impl fmt::Display for Cyclic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "state graph: has a cycle, so its interleavings cannot be counted")
    }
}

impl std::error::Error for Cyclic {}

/// Every state that can be reached, each once.
pub struct Graph<'a, M: Model> {
    model: &'a M,
    states: Interner<M::State>,
    /// Successors of state k: `edges[starts[k]..starts[k + 1]]`, in the order of the model.
    edges: Vec<u32>,
    starts: Vec<usize>,
    cut: Vec<bool>,
}

impl<'a, M: Model> Graph<'a, M> {
    /// Explores a model. None if it has more than `max_states` states.
    pub fn explore(model: &'a M, max_states: usize) -> Option<Self> {
        Self::explore_while(model, |states| states <= max_states)
    }

    /// Explores a model as long as `has_room` for so many states, which is asked before each one's successors
    /// are looked for. None if it had not.
    pub fn explore_while(model: &'a M, mut has_room: impl FnMut(usize) -> bool) -> Option<Self> {
        let mut states = Interner::new();
        let (mut edges, mut starts, mut cut) = (Vec::new(), vec![0], Vec::new());
        let mut found = Vec::new();
        states.insert(model.initial());
        let mut next = 0;
        while next < states.states().len() {
            if !has_room(states.states().len()) {
                return None;
            }
            let state = states.states()[next].clone();
            let stopped = model.is_cut(&state);
            if !stopped {
                model.events(&state, &mut found);
                edges.extend(found.drain(..).map(|(_, after)| states.insert(after).0));
            }
            cut.push(stopped);
            starts.push(edges.len());
            next += 1;
        }
        Some(Self { model, states, edges, starts, cut })
    }

    /// States.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cut.len()
    }

    /// Never: there is always the initial state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cut.is_empty()
    }

    /// Events that lead from a state to a state.
    #[must_use]
    pub fn transitions(&self) -> usize {
        self.edges.len()
    }

    fn after(&self, state: usize) -> &[u32] {
        &self.edges[self.starts[state]..self.starts[state + 1]]
    }

    fn is_end(&self, state: usize) -> bool {
        self.after(state).is_empty()
    }

    /// Interleavings, different endings and probability of each outcome.
    ///
    /// # Errors
    /// [`Cyclic`].
    ///
    /// # Panics
    /// If there are 2^128 interleavings or more.
    pub fn tally(&self) -> Result<BTreeMap<M::Outcome, Tally<M::Final>>, Cyclic> {
        let count = self.len();
        let mut before = vec![0u32; count];
        for &to in &self.edges {
            before[to as usize] += 1;
        }
        let (mut paths, mut probability) = (vec![0u128; count], vec![0f64; count]);
        (paths[0], probability[0]) = (1, 1.0);
        let mut ready = if before[0] == 0 { vec![0] } else { Vec::new() };
        let (mut done, mut tallies) = (0, BTreeMap::new());
        while let Some(state) = ready.pop() {
            done += 1;
            let (reached, share) = (paths[state], probability[state]);
            if self.is_end(state) {
                let (outcome, last) = self.model.outcome(&self.states.states()[state], self.cut[state]);
                let tally = tallies.entry(outcome).or_insert_with(|| Tally {
                    paths: 0,
                    finals: BTreeSet::new(),
                    probability: 0.0,
                });
                tally.paths = tally.paths.checked_add(reached).expect("fewer than 2^128 interleavings");
                tally.finals.insert(last);
                tally.probability += share;
                continue;
            }
            let after = self.after(state);
            let each = share / after.len() as f64;
            for &to in after {
                let to = to as usize;
                paths[to] = paths[to].checked_add(reached).expect("fewer than 2^128 interleavings");
                probability[to] += each;
                before[to] -= 1;
                if before[to] == 0 {
                    ready.push(to);
                }
            }
        }
        if done == count { Ok(tallies) } else { Err(Cyclic) }
    }

    /// Outcomes that can be reached, with cycles or without.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<M::Outcome, BTreeSet<M::Final>> {
        let mut outcomes: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for state in (0..self.len()).filter(|&state| self.is_end(state)) {
            let (outcome, last) = self.model.outcome(&self.states.states()[state], self.cut[state]);
            outcomes.entry(outcome).or_default().insert(last);
        }
        outcomes
    }

    /// How many different endings each outcome has, and whether a good one can always be reached.
    #[must_use]
    pub fn endings(&self, good: impl Fn(&M::Outcome) -> bool) -> Endings<M::Outcome> {
        Endings {
            states: self.len(),
            transitions: self.transitions(),
            endings: self.outcomes().into_iter().map(|(outcome, finals)| (outcome, finals.len())).collect(),
            live: self.trapped(good).is_none(),
        }
    }

    /// A shortest run to an ending with an outcome that `wanted` takes.
    pub fn shortest(&self, wanted: impl Fn(&M::Outcome) -> bool) -> Option<Vec<M::Event>> {
        let target = |state: usize| {
            self.is_end(state) && wanted(&self.model.outcome(&self.states.states()[state], self.cut[state]).0)
        };
        self.path(target)
    }

    /// A shortest run to a state from which no ending with a good outcome can be reached. None: a good ending
    /// is always possible.
    pub fn trapped(&self, good: impl Fn(&M::Outcome) -> bool) -> Option<Vec<M::Event>> {
        let mut back: Vec<Vec<u32>> = vec![Vec::new(); self.len()];
        for state in 0..self.len() {
            for &to in self.after(state) {
                back[to as usize].push(state as u32);
            }
        }
        let ends = (0..self.len()).filter(|&state| self.is_end(state));
        let mut work: Vec<usize> = ends
            .filter(|&state| good(&self.model.outcome(&self.states.states()[state], self.cut[state]).0))
            .collect();
        let mut safe = vec![false; self.len()];
        work.iter().for_each(|&state| safe[state] = true);
        while let Some(state) = work.pop() {
            for &from in &back[state] {
                if !std::mem::replace(&mut safe[from as usize], true) {
                    work.push(from as usize);
                }
            }
        }
        self.path(|state| !safe[state])
    }

    /// Breadth first; events are asked of the model again along the way found.
    fn path(&self, target: impl Fn(usize) -> bool) -> Option<Vec<M::Event>> {
        let mut from: Vec<Option<(u32, u32)>> = vec![None; self.len()];
        let mut queue = VecDeque::from([0usize]);
        let mut seen = vec![false; self.len()];
        seen[0] = true;
        while let Some(state) = queue.pop_front() {
            if target(state) {
                let (mut events, mut at, mut found) = (Vec::new(), state, Vec::new());
                while let Some((before, event)) = from[at] {
                    self.model.events(&self.states.states()[before as usize], &mut found);
                    events.push(found.swap_remove(event as usize).0);
                    found.clear();
                    at = before as usize;
                }
                events.reverse();
                return Some(events);
            }
            for (event, &to) in self.after(state).iter().enumerate() {
                if !std::mem::replace(&mut seen[to as usize], true) {
                    from[to as usize] = Some((state as u32, event as u32));
                    queue.push_back(to as usize);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two counters up to `end` each; with `wrap`, the first one may go back to 0.
    struct Counters {
        end: u8,
        wrap: bool,
    }

    impl Model for Counters {
        type State = (u8, u8);
        type Event = (char, u8);
        type Outcome = bool;
        type Final = (u8, u8);

        fn initial(&self) -> (u8, u8) {
            (0, 0)
        }

        fn events(&self, &(a, b): &(u8, u8), found: &mut Vec<((char, u8), (u8, u8))>) {
            if a < self.end {
                found.push((('a', a), (a + 1, b)));
            }
            if b < self.end {
                found.push((('b', b), (a, b + 1)));
            }
            if self.wrap && a == self.end && b < self.end {
                found.push((('w', a), (0, b)));
            }
        }

        fn is_cut(&self, state: &(u8, u8)) -> bool {
            *state == (0, self.end)
        }

        fn outcome(&self, &state: &(u8, u8), cut: bool) -> (bool, (u8, u8)) {
            (cut, state)
        }
    }

    #[test]
    fn paths_are_binomials() {
        let model = Counters { end: 10, wrap: false };
        let graph = Graph::explore(&model, 1_000).unwrap();
        let tally = graph.tally().unwrap();
        // Of the 20-choose-10 ways, one goes through the cut corner, and it stops there.
        assert_eq!((tally[&true].paths, tally[&false].paths), (1, 184_756 - 1));
        assert_eq!(tally[&false].finals.len(), 1);
        let sum: f64 = tally.values().map(|tally| tally.probability).sum();
        assert!((sum - 1.0).abs() < 1e-12 && (tally[&true].probability - 1.0 / 1024.0).abs() < 1e-15);
        assert_eq!(graph.len(), 121);
        assert!(Graph::explore(&model, 100).is_none());
    }

    #[test]
    fn shortest_paths_and_traps() {
        let model = Counters { end: 2, wrap: false };
        let graph = Graph::explore(&model, 100).unwrap();
        assert_eq!(graph.shortest(|&cut| cut), Some(vec![('b', 0), ('b', 1)]));
        assert_eq!(graph.shortest(|&cut| !cut).map(|path| path.len()), Some(4));
        // Once a has moved, the corner is out of reach.
        assert_eq!(graph.trapped(|&cut| cut), Some(vec![('a', 0)]));
        assert_eq!(graph.trapped(|_| true), None);
    }

    #[test]
    fn cycles_have_no_count_but_outcomes() {
        let model = Counters { end: 2, wrap: true };
        let graph = Graph::explore(&model, 100).unwrap();
        assert!(matches!(graph.tally(), Err(Cyclic)));
        assert_eq!(graph.outcomes().len(), 2);
        assert_eq!(graph.trapped(|_| true), None);
    }
}
