//! Requests that wait to be sent: by priority, then in order of submission.
//!
//! A request whose destination has no transaction ID left stands aside, and others pass it: those for other
//! destinations, not those behind it in its line, which is of its destination and its priority. So what
//! stands aside are turns of lines, and whoever is first in a line takes its next turn.

use crate::wire::Priority;
use alloc::collections::{BTreeMap, VecDeque};

/// Of requests for one destination with one priority.
type Line = (u32, Priority);

/// Requests that wait.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Queue<T> {
    lines: BTreeMap<Line, VecDeque<T>>,
    /// Whose turn it is, by priority: one turn for each request, but for those that stand aside.
    turns: VecDeque<Line>,
    /// How many turns of a line stand aside, if any.
    aside: BTreeMap<Line, usize>,
}

impl<T> Queue<T> {
    pub(crate) const fn new() -> Self {
        Self { lines: BTreeMap::new(), turns: VecDeque::new(), aside: BTreeMap::new() }
    }

    /// Puts a request behind all of its priority.
    pub(crate) fn push(&mut self, destination: u32, priority: Priority, request: T) {
        let line = (destination, priority);
        self.lines.entry(line).or_default().push_back(request);
        let place = self.turns.partition_point(|turn| turn.1 >= priority);
        self.turns.insert(place, line);
    }

    /// Puts a request in front of all of its priority: it is older than they are.
    pub(crate) fn push_first(&mut self, destination: u32, priority: Priority, request: T) {
        let line = (destination, priority);
        self.lines.entry(line).or_default().push_front(request);
        self.take_turn(line);
    }

    /// The priority of the first request that may be sent. Those before it stand aside from now on.
    pub(crate) fn first(&mut self, may: impl Fn(u32, &T) -> bool) -> Option<Priority> {
        loop {
            let turn = *self.turns.front()?;
            let request = self.lines.get(&turn)?.front()?;
            if may(turn.0, request) {
                return Some(turn.1);
            }
            self.turns.pop_front();
            *self.aside.entry(turn).or_default() += 1;
        }
    }

    /// Takes the request that [`first`](Self::first) was about.
    pub(crate) fn pop(&mut self) -> Option<T> {
        let turn = self.turns.pop_front()?;
        let line = self.lines.get_mut(&turn)?;
        let request = line.pop_front();
        if line.is_empty() {
            self.lines.remove(&turn);
        }
        // Who is first now may need no ID, or there is another.
        self.go_on(turn.0);
        request
    }

    /// A request for this destination need not stand aside any more: the first of the highest priority.
    pub(crate) fn go_on(&mut self, destination: u32) {
        let lowest = (destination, Priority::LOWEST);
        let own = self.aside.range_mut(lowest..).take_while(|(line, _)| line.0 == destination);
        let Some((&line, turns)) = own.last() else { return };
        *turns -= 1;
        if *turns == 0 {
            self.aside.remove(&line);
        }
        self.take_turn(line);
    }

    /// Whether there is one that may be sent, as far as is known.
    pub(crate) fn has_turns(&self) -> bool {
        !self.turns.is_empty()
    }

    /// In front of all others of its priority.
    fn take_turn(&mut self, line: Line) {
        let place = self.turns.partition_point(|turn| turn.1 > line.1);
        self.turns.insert(place, line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn priority(prio: u8) -> Priority {
        Priority::new(prio, false).unwrap()
    }

    /// Two go on at a time: they keep their order, and a higher priority that came later goes before them.
    #[test]
    fn what_stood_aside_keeps_its_order() {
        let mut queue = Queue::new();
        for (prio, request) in [(0, 'a'), (0, 'b'), (0, 'c')] {
            queue.push(7, priority(prio), request);
        }
        queue.push(9, priority(0), 'x');
        assert_eq!(queue.first(|destination, _| destination == 9), Some(priority(0)));
        assert_eq!(queue.pop(), Some('x'));
        queue.push(7, priority(2), 'd');
        assert_eq!(queue.first(|_, _| false), None);
        assert!(!queue.has_turns());
        queue.go_on(7);
        queue.go_on(7);
        queue.go_on(7);
        let all = [(); 4].map(|()| queue.first(|_, _| true).and_then(|_| queue.pop()));
        assert_eq!(all, [Some('d'), Some('a'), Some('b'), Some('c')]);
    }

    /// Destination, priority, number, and whether it needs an ID.
    type Wait = (u32, Priority, u32, bool);

    /// Whether nobody before this place is in its line.
    fn is_first(all: &[Wait], place: usize) -> bool {
        !all[..place].iter().any(|other| (other.0, other.1) == (all[place].0, all[place].1))
    }

    proptest! {
        /// Against a list of all that wait, in order of submission. A destination has some IDs; every second
        /// request needs none. What is taken is the first of its line and of the highest priority that may
        /// be sent, and something is taken whenever the first of some line may be sent.
        #[test]
        fn nobody_is_passed_or_forgotten(
            steps in prop::collection::vec((0..4u8, 0..3u32, 0..3u8, any::<bool>()), 1..200)
        ) {
            let mut queue = Queue::new();
            let mut all: Vec<Wait> = Vec::new();
            let mut ids = [1u32; 3];
            for (number, (what, destination, prio, needs_one)) in (0u32..).zip(steps) {
                let priority = priority(prio);
                let wait = (destination, priority, number, needs_one);
                match what {
                    0 => {
                        queue.push(destination, priority, (number, needs_one));
                        all.push(wait);
                    }
                    1 => {
                        queue.push_first(destination, priority, (number, needs_one));
                        all.insert(0, wait);
                    }
                    2 => {
                        ids[destination as usize] += 1;
                        queue.go_on(destination);
                    }
                    _ => {
                        let may = |to: u32, needs_one: bool| !needs_one || ids[to as usize] > 0;
                        let first = (0..all.len()).filter(|place| is_first(&all, *place));
                        let first = first.map(|place| all[place]).filter(|wait| may(wait.0, wait.3));
                        let best = first.map(|wait| wait.1).max();
                        prop_assert_eq!(queue.first(|to, request| may(to, request.1)), best);
                        if let Some(priority) = best {
                            let (number, needs_one) = queue.pop().expect("one is first");
                            let place = all.iter().position(|wait| wait.2 == number).expect("it waits");
                            prop_assert!(is_first(&all, place) && all[place].1 == priority);
                            ids[all.remove(place).0 as usize] -= u32::from(needs_one);
                        }
                    }
                }
            }
        }
    }
}
