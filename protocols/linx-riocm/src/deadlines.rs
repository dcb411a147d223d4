//! The deadlines of many connections: an indexed heap, one entry per connection at most. An entry has four
//! below it, side by side in memory: a heartbeat takes its entry from the top to the bottom each time, and
//! with many connections every step is a line of memory that nobody has touched for long.

use alloc::vec::Vec;

/// Entries below an entry.
const BELOW: usize = 4;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// Deadlines by connection; the earliest is at hand. Equal deadlines come in the order of the connections.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct Deadlines {
    heap: Vec<(u64, u32)>,
    place: Vec<u32>,
}

impl Deadlines {
    /// Makes room for one more connection.
    pub(crate) fn grow(&mut self) {
        self.place.push(ABSENT);
    }

    /// The earliest deadline and whose it is.
    pub(crate) fn first(&self) -> Option<(u64, u32)> {
        self.heap.first().copied()
    }

    /// Sets, moves or clears the deadline of a connection.
    pub(crate) fn set(&mut self, connection: u32, deadline: Option<u64>) {
        let place = self.place[connection as usize];
        match (place, deadline) {
            (ABSENT, None) => {}
            (ABSENT, Some(at)) => {
                self.heap.push((at, connection));
                self.up(self.heap.len() - 1);
            }
            (place, Some(at)) => {
                let place = place as usize;
                if self.heap[place].0 != at {
                    self.heap[place].0 = at;
                    let place = self.up(place);
                    self.down(place);
                }
            }
            (place, None) => {
                let place = place as usize;
                self.heap.swap_remove(place);
                self.place[connection as usize] = ABSENT;
                if place < self.heap.len() {
                    let place = self.up(place);
                    self.down(place);
                }
            }
        }
    }

    /// Octets of memory beside those of the structure itself.
    pub(crate) fn heap_octets(&self) -> usize {
        self.heap.capacity() * size_of::<(u64, u32)>() + self.place.capacity() * size_of::<u32>()
    }

    /// Moves the entry towards the top; returns where it stays.
    fn up(&mut self, mut at: usize) -> usize {
        let entry = self.heap[at];
        while at > 0 && entry < self.heap[(at - 1) / BELOW] {
            self.put(at, self.heap[(at - 1) / BELOW]);
            at = (at - 1) / BELOW;
        }
        self.put(at, entry);
        at
    }

    fn down(&mut self, mut at: usize) {
        let entry = self.heap[at];
        loop {
            let first = BELOW * at + 1;
            let last = (first + BELOW).min(self.heap.len());
            let Some(child) = (first..last).min_by_key(|&child| self.heap[child]) else { break };
            if entry <= self.heap[child] {
                break;
            }
            self.put(at, self.heap[child]);
            at = child;
        }
        self.put(at, entry);
    }

    fn put(&mut self, at: usize, entry: (u64, u32)) {
        self.heap[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_smallest_of_all(
            steps in prop::collection::vec((0..20_u32, prop::option::of(0..50_u64)), 1..400)
        ) {
            let mut heap = Deadlines::default();
            let mut plain = [None; 20];
            (0..20).for_each(|_| heap.grow());
            for (connection, deadline) in steps {
                heap.set(connection, deadline);
                plain[connection as usize] = deadline;
                let least = (0..).zip(plain).filter_map(|(who, at)| Some((at?, who))).min();
                prop_assert_eq!(heap.first(), least);
            }
        }
    }
}
