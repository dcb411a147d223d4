//! State machines of the logical layers that carry messages: what is sent next, what a packet that came in
//! means, what has to happen by when.
//!
//! 1. [`payload`]: bytes or a length: one machine serves both.
//! 2. [`message`]: type 11, data messages of up to 4096 bytes, each segment answered (Part 2).
//! 3. [`doorbell`]: type 10, 16 bits, answered (Part 2).
//! 4. [`stream`]: type 9, PDUs of up to 64 KiB, not answered; traffic management (Part 10).
//!
//! # Calling contract
//!
//! * Nothing here has a clock: `now` is an argument, in picoseconds, and must not go back between calls.
//! * Inputs are `submit` and `handle_*`. Outputs are drained after every input: `poll_transmit` while there is
//!   room for a packet on the way out, `poll_event` until it gives `None`, then `poll_timeout`.
//! * A receiver answers at once: `handle_segment` and `handle_doorbell` return the response, so there is
//!   exactly one to each request. It has the priority [`response_priority`] gives.
//! * `handle_timeout` may be called at any time; it does nothing before the instant `poll_timeout` names. After
//!   it `poll_timeout` lies in the future.
//! * Deadlines are kept in order: no call looks at all contexts.
//! * Contexts are allocated when they are opened. An idle machine owns no memory beside itself.
//!
//! # Panic contract
//!
//! Nothing that came off the wire panics. Values that the *owner* passes are checked where they enter, and the
//! error says what is wrong with them.

use alloc::collections::VecDeque;

mod deadlines;
pub mod doorbell;
pub mod message;
pub mod payload;
pub mod stream;

pub use payload::{Length, Payload};

/// Highest priority of a request; 3 is left for responses (Part 6 §5.5.2, deadlock avoidance).
pub const REQUEST_PRIORITY_MAX: u8 = 2;

/// Priority of the response to a request of priority `request`: one higher, and never above 3.
#[must_use]
pub const fn response_priority(request: u8) -> u8 {
    if request >= REQUEST_PRIORITY_MAX { 3 } else { request + 1 }
}

/// What became of a request; the status field of a type 13 response.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Status {
    /// Completed.
    Done,
    /// Not accepted for lack of room: send it again.
    Retry,
    /// Cannot be completed.
    Error,
}

/// Puts an item behind all items of its priority and before those of lower ones.
fn insert_by_priority<T>(queue: &mut VecDeque<T>, item: T, priority: impl Fn(&T) -> u8) {
    let mine = priority(&item);
    match queue.back() {
        Some(last) if priority(last) < mine => {
            let place = queue.partition_point(|other| priority(other) >= mine);
            queue.insert(place, item);
        }
        _ => queue.push_back(item),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows: the response to a request has the next higher priority (Part 6 §5.5.2).
    #[test]
    fn responses_overtake_their_requests() {
        assert_eq!([0, 1, 2, 3].map(response_priority), [1, 2, 3, 3]);
    }

    #[test]
    fn insertion_keeps_the_order_within_a_priority() {
        let mut queue = VecDeque::new();
        for item in [(0, 'a'), (2, 'b'), (1, 'c'), (0, 'd'), (2, 'e'), (1, 'f')] {
            insert_by_priority(&mut queue, item, |&(priority, _)| priority);
        }
        assert_eq!(queue, [(2, 'b'), (2, 'e'), (1, 'c'), (1, 'f'), (0, 'a'), (0, 'd')]);
    }
}
