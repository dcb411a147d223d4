//! Doorbells of type 10 (Part 2 §3.3.1, §4.2.4): 16 bits for the software at the other end, answered by
//! *done*, *retry* (its queue is full; the doorbell is sent again) or *error*.
//!
//! A doorbell under way is known by its destination and its transaction ID. The standard wants IDs to be
//! unique for each pair of source and destination, over all requests that are answered with a transaction ID.
//! So a device has at most 256 doorbells under way to each other; and a device that also reads and writes
//! gives its doorbells a range of their own.

use super::deadlines::Deadlines;
use super::queue::Queue;
use super::tids::Tids;
use super::{check_request_priority, insert_by_priority};
use crate::wire::doorbell::Doorbell;
use crate::wire::response::Status;
use crate::wire::{Error, Priority};
use alloc::collections::{BTreeMap, VecDeque};

/// How a sender behaves. Times in picoseconds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// First transaction ID for doorbells.
    pub first_tid: u8,
    /// Last one.
    pub last_tid: u8,
    /// A doorbell that is not answered for so long is lost.
    pub response_timeout: u64,
    /// For so long at least its ID is not given to another, and longer if there are others.
    pub linger: u64,
    /// From a *retry* response until the doorbell is sent again.
    pub retry_delay: u64,
}

impl Default for Options {
    /// All transaction IDs, 1 ms for a response, 3 ms of rest, immediate retry.
    fn default() -> Self {
        Self {
            first_tid: 0,
            last_tid: u8::MAX,
            response_timeout: 1_000_000_000,
            linger: 3_000_000_000,
            retry_delay: 0,
        }
    }
}

/// A doorbell to be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ring {
    /// Device ID of the receiver.
    pub destination: u32,
    /// For the software there.
    pub info: u16,
    /// Priority of the packet, at most 2.
    pub priority: Priority,
    /// Comes back in the event that ends the doorbell; means nothing here.
    pub token: u64,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Transmit {
    /// Device ID of the receiver.
    pub destination: u32,
    /// Its priority, at most 2.
    pub priority: Priority,
    /// The packet.
    pub doorbell: Doorbell,
}

/// Why a doorbell failed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Failure {
    /// It was answered by *error*.
    ErrorResponse,
    /// It was not answered in time.
    Timeout,
}

/// The end of a doorbell.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// It was answered by *done*: it is in the queue of the receiver.
    Sent {
        /// From [`Ring::token`].
        token: u64,
    },
    /// It may have been received or not.
    Failed {
        /// From [`Ring::token`].
        token: u64,
        /// Why.
        cause: Failure,
    },
}

/// What happened to a sender so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct SenderCounters {
    /// Packets sent, repetitions included.
    pub packets: u64,
    /// *Retry* responses received.
    pub retries: u64,
    /// *Error* responses received.
    pub errors: u64,
    /// Doorbells not answered in time.
    pub timeouts: u64,
    /// Responses to nothing that is outstanding.
    pub unsolicited: u64,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum State {
    /// To be sent again as soon as possible.
    Ready,
    /// Sent; lost if not answered by then.
    Outstanding { until: u64 },
    /// To be sent again then.
    Held { until: u64 },
}

/// The sending side of a device.
///
/// What may change the answers of the outputs: [`submit`](Self::submit),
/// [`handle_response`](Self::handle_response), [`handle_timeout`](Self::handle_timeout), and
/// [`poll_transmit`](Self::poll_transmit) itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sender {
    options: Options,
    waiting: Queue<Ring>,
    /// To be sent again, by priority, then in the order in which they became so.
    again: VecDeque<(Priority, (u32, u8))>,
    /// By destination and transaction ID.
    active: BTreeMap<(u32, u8), (Ring, State)>,
    /// One entry for each outstanding or held doorbell.
    deadlines: Deadlines<(u32, u8)>,
    tids: Tids,
    events: VecDeque<Event>,
    counters: SenderCounters,
}

impl Sender {
    /// A sender with nothing to send.
    ///
    /// # Panics
    /// If the range of transaction IDs is empty.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            waiting: Queue::new(),
            again: VecDeque::new(),
            active: BTreeMap::new(),
            deadlines: Deadlines::new(),
            tids: Tids::new(options.first_tid, options.last_tid, options.linger),
            events: VecDeque::new(),
            counters: SenderCounters::default(),
        }
    }

    /// Takes a doorbell.
    ///
    /// # Errors
    /// [`Error::Range`] for the priority; it is not taken then.
    pub fn submit(&mut self, ring: Ring) -> Result<(), Error> {
        check_request_priority(ring.priority)?;
        self.waiting.push(ring.destination, ring.priority, ring);
        Ok(())
    }

    /// A response of type 13 from `source`.
    pub fn handle_response(&mut self, now: u64, source: u32, tid: u8, status: Status) {
        match status {
            Status::Done => {}
            Status::Retry => self.counters.retries += 1,
            Status::Error => self.counters.errors += 1,
        }
        let key = (source, tid);
        let Some((ring, state)) = self.active.get_mut(&key) else {
            self.counters.unsolicited += 1;
            if self.tids.came_late(source, tid) {
                self.waiting.go_on(source);
            }
            return;
        };
        let ring = *ring;
        let State::Outstanding { until } = *state else {
            self.counters.unsolicited += 1;
            return;
        };
        self.deadlines.clear(until, key);
        match status {
            Status::Done => {
                self.active.remove(&key);
                self.free(key);
                self.events.push_back(Event::Sent { token: ring.token });
            }
            Status::Retry if self.options.retry_delay == 0 => self.send_again(key),
            Status::Retry => {
                let until = now.saturating_add(self.options.retry_delay);
                *state = State::Held { until };
                self.deadlines.set(until, key);
            }
            Status::Error => {
                self.free(key);
                self.fail(key, Failure::ErrorResponse);
            }
        }
    }

    /// Lets everything happen whose time has come.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some(key) = self.deadlines.pop_due(now) {
            if let State::Held { .. } = self.active[&key].1 {
                self.send_again(key);
            } else {
                let (destination, tid) = key;
                self.counters.timeouts += 1;
                self.tids.rest(now, destination, tid);
                self.fail(key, Failure::Timeout);
            }
        }
        while let Some(destination) = self.tids.pop_rested(now) {
            self.waiting.go_on(destination);
        }
    }

    /// The next packet: repetitions first within a priority, since they hold an ID. Its response is awaited
    /// from `now` on.
    pub fn poll_transmit(&mut self, now: u64) -> Option<Transmit> {
        let again = self.again.front().map(|&(priority, _)| priority);
        let tids = &self.tids;
        let waiting = self.waiting.first(|destination, _| tids.has_one(destination));
        let key = if waiting > again {
            let ring = self.waiting.pop()?;
            let tid = self.tids.take(now, ring.destination)?;
            self.active.insert((ring.destination, tid), (ring, State::Ready));
            (ring.destination, tid)
        } else {
            self.again.pop_front()?.1
        };
        let until = now.saturating_add(self.options.response_timeout);
        let (ring, state) = self.active.get_mut(&key).expect("active");
        *state = State::Outstanding { until };
        self.deadlines.set(until, key);
        self.counters.packets += 1;
        let packet = Doorbell { src_tid: key.1, info: ring.info };
        Some(Transmit { destination: ring.destination, priority: ring.priority, doorbell: packet })
    }

    /// What ended, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.next().into_iter().chain(self.tids.next()).min()
    }

    /// Whether a packet may wait for [`poll_transmit`](Self::poll_transmit): not if that gave none, until
    /// something changes.
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        !self.again.is_empty() || self.waiting.has_turns()
    }

    /// Doorbells that hold a transaction ID.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> SenderCounters {
        self.counters
    }

    fn free(&mut self, (destination, tid): (u32, u8)) {
        self.tids.free(destination, tid);
        self.waiting.go_on(destination);
    }

    fn send_again(&mut self, key: (u32, u8)) {
        let (ring, state) = self.active.get_mut(&key).expect("active");
        *state = State::Ready;
        insert_by_priority(&mut self.again, (ring.priority, key), |&(priority, _)| priority);
    }

    fn fail(&mut self, key: (u32, u8), cause: Failure) {
        let (ring, _) = self.active.remove(&key).expect("active");
        self.events.push_back(Event::Failed { token: ring.token, cause });
    }
}

/// A doorbell in the queue of a receiver.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Received {
    /// Device ID of the sender.
    pub source: u32,
    /// From the sender's software.
    pub info: u16,
}

/// What happened to a receiver so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ReceiverCounters {
    /// Doorbells put into the queue.
    pub accepted: u64,
    /// Doorbells answered by *retry*.
    pub retries: u64,
}

/// The receiving side of a device: a queue.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Receiver {
    capacity: usize,
    queue: VecDeque<Received>,
    counters: ReceiverCounters,
}

impl Receiver {
    /// An empty queue for `capacity` doorbells. With 0, all are answered by *retry*.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, queue: VecDeque::new(), counters: ReceiverCounters::default() }
    }

    /// A type 10 packet from `source`. The answer goes back with its transaction ID, on the way
    /// [`Transport::reply`](crate::wire::Transport::reply) gives.
    pub fn handle_doorbell(&mut self, source: u32, info: u16) -> Status {
        if self.queue.len() >= self.capacity {
            self.counters.retries += 1;
            return Status::Retry;
        }
        self.counters.accepted += 1;
        self.queue.push_back(Received { source, info });
        Status::Done
    }

    /// The oldest doorbell; its place is free then.
    pub fn poll_event(&mut self) -> Option<Received> {
        self.queue.pop_front()
    }

    /// Doorbells in the queue.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queue.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> ReceiverCounters {
        self.counters
    }
}
