//! Pieces of the progress watchdog: following who waits for whom.

use std::fmt::Debug;

/// Who waits for whom. Every node waits for at most one other, so a walk has no choice.
pub trait WaitGraph {
    /// Something that waits or is waited for.
    type Node: Copy + Eq + Debug;

    /// What `node` waits for; `None` if it could go on by itself.
    fn waits_for(&self, node: Self::Node) -> Option<Self::Node>;
}

/// What a walk along a [`WaitGraph`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Walk<N> {
    /// A deadlock: every node waits for the next, the last for the first. It begins with the node of the
    /// cycle that the walk met first; what led there is left out.
    Cycle(Vec<N>),
    /// A stall: from the start to the node that waits for nothing, both included.
    Chain(Vec<N>),
    /// Neither within the limit: the first nodes of the walk.
    Cut(Vec<N>),
}

/// Follows the waits from `start` until something repeats or waits for nothing.
///
/// Walks of up to `limit` different nodes are always decided. Takes O(limit) steps and memory, and compares
/// nodes only for equality (Brent's method), so the result depends on nothing but the graph.
pub fn walk<G: WaitGraph>(graph: &G, start: G::Node, limit: usize) -> Walk<G::Node> {
    let mut path = vec![start];
    let mut anchor = 0;
    let mut power = 1;
    // Brent's method meets a repetition within three times the number of different nodes.
    while path.len() <= limit.saturating_mul(3).saturating_add(3) {
        let here = path[path.len() - 1];
        let Some(next) = graph.waits_for(here) else {
            return Walk::Chain(path);
        };
        if next == path[anchor] {
            let length = path.len() - anchor;
            path.push(next);
            let first = (0..).find(|&i| path[i] == path[i + length]).unwrap_or(anchor);
            return Walk::Cycle(path[first..first + length].to_vec());
        }
        path.push(next);
        if path.len() - 1 - anchor == power {
            anchor = path.len() - 1;
            power *= 2;
        }
    }
    path.truncate(limit);
    Walk::Cut(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Entry `n` is what node `n` waits for.
    struct Waits(Vec<Option<usize>>);

    impl WaitGraph for Waits {
        type Node = usize;

        fn waits_for(&self, node: usize) -> Option<usize> {
            self.0[node]
        }
    }

    #[test]
    fn cycles_and_chains() {
        let graph = Waits(vec![Some(1), Some(2), Some(3), Some(1), Some(5), None, Some(6)]);
        assert_eq!(walk(&graph, 0, 10), Walk::Cycle(vec![1, 2, 3]));
        assert_eq!(walk(&graph, 2, 10), Walk::Cycle(vec![2, 3, 1]));
        assert_eq!(walk(&graph, 4, 10), Walk::Chain(vec![4, 5]));
        assert_eq!(walk(&graph, 5, 10), Walk::Chain(vec![5]));
        assert_eq!(walk(&graph, 6, 10), Walk::Cycle(vec![6]));
    }

    #[test]
    fn long_walks_are_cut() {
        let chain = Waits((1..=1_000).map(Some).chain([None]).collect());
        assert_eq!(walk(&chain, 0, 10), Walk::Cut((0..10).collect()));
        assert_eq!(walk(&chain, 0, 1_001), Walk::Chain((0..=1_000).collect()));
    }

    proptest! {
        #[test]
        fn walk_equals_the_obvious_one(
            waits in prop::collection::vec(prop::option::weighted(0.97, 0usize..60), 60),
            start in 0usize..60,
        ) {
            let graph = Waits(waits);
            let mut path = vec![start];
            let expected = loop {
                match graph.0[path[path.len() - 1]] {
                    None => break Walk::Chain(path),
                    Some(next) => match path.iter().position(|&node| node == next) {
                        Some(first) => break Walk::Cycle(path.split_off(first)),
                        None => path.push(next),
                    },
                }
            };
            let nodes = match &expected {
                Walk::Chain(nodes) => nodes.len(),
                _ => 60,
            };
            prop_assert_eq!(walk(&graph, start, nodes), expected);
        }

        /// The bound that a walk of `limit` different nodes is decided: tails and cycles of all lengths.
        #[test]
        fn a_limit_of_the_number_of_nodes_is_enough(tail in 0usize..70, length in 1usize..70) {
            let nodes = tail + length;
            let graph = Waits((1..nodes).map(Some).chain([Some(tail)]).collect());
            prop_assert_eq!(walk(&graph, 0, nodes), Walk::Cycle((tail..nodes).collect()));
        }
    }
}
