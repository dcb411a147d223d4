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
