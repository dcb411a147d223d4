//! Engines: the rules that span packets: what is sent next, what a packet that came in means, what has to
//! happen by when.
//!
//! 1. [`divisible`]: bytes or a length: one machine serves both.
//! 2. [`io`]: types 2, 5, 6 and 8: reads, writes and maintenance (Part 1).
//! 3. [`message`]: type 11, data messages of up to 4096 bytes, each segment answered (Part 2).
//! 4. [`doorbell`]: type 10, 16 bits, answered (Part 2).
//! 5. [`stream`]: type 9, PDUs of up to 64 KiB, not answered; traffic management (Part 10).
//!
//! # Calling contract
//!
//! * Nothing here has a clock: `now` is an argument, in picoseconds, and must not go back between calls.
//! * Inputs are `submit` and `handle_*`. Outputs are drained after every input: `poll_transmit` while there
//!   is room for a packet on the way out, `poll_event` until it gives `None`, then `poll_timeout`.
//! * A receiver answers at once: `handle_segment` and `handle_doorbell` return the response, so there is
//!   exactly one to each request. It goes the way [`Transport::reply`](crate::wire::Transport::reply) gives.
//! * `handle_timeout` may be called at any time; it does nothing before the instant `poll_timeout` names.
//!   After it `poll_timeout` lies in the future.
//! * Deadlines are kept in order: no call looks at all contexts.
//! * Contexts are allocated when they are opened. An idle machine owns no memory beside itself.
//!
//! # Panic contract
//!
//! Nothing that came off the wire panics. Values that the *owner* passes are checked where they enter, and
//! the error says what is wrong with them.

use crate::wire::{Error, Priority, fits};
use alloc::collections::VecDeque;

mod deadlines;
pub mod divisible;
pub mod doorbell;
pub mod io;
pub mod message;
mod queue;
pub mod stream;
mod tids;

pub use divisible::Divisible;

/// Highest priority of a request that is answered: the response needs a higher one (Part 6 §5.5.2).
pub const REQUEST_PRIORITY_MAX: u8 = 2;

fn check_request_priority(priority: Priority) -> Result<(), Error> {
    fits("prio", priority.prio().into(), REQUEST_PRIORITY_MAX.into())
}

/// Puts an item behind all items of its priority and before those of lower ones.
fn insert_by_priority<T, K: Ord>(queue: &mut VecDeque<T>, item: T, priority: impl Fn(&T) -> K) {
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

    #[test]
    fn insertion_keeps_the_order_within_a_priority() {
        let mut queue = VecDeque::new();
        for (prio, crf, name) in
            [(0, true, 'a'), (2, true, 'b'), (0, false, 'c'), (0, true, 'd'), (2, true, 'e'), (0, false, 'f')]
        {
            let item = (Priority::new(prio, crf).unwrap(), name);
            insert_by_priority(&mut queue, item, |&(priority, _)| priority);
        }
        assert!(queue.iter().map(|&(_, name)| name).eq("beadcf".chars()));
    }
}
