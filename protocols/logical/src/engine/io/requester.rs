//! The side that asks.
//!
//! A request under way is known by its destination and its transaction ID. IDs are given out in turn, and
//! each destination has all of them. A request that is sent again gets a new one, and the one of a request
//! that was not answered in time rests until its response comes, or for [`Options::linger`] if there is no
//! other: a response that comes later than that may be taken for that of another request.
//!
//! Whoever gets no response cannot know whether the request was carried out. Reads, writes and maintenance
//! are sent again, up to [`Options::retries`] times: carrying them out twice is like carrying them out once.
//! (Not so for a write to the Host Base Device ID Lock CSR, which frees the lock the second time; a host has
//! to read it back in any case, Part 3 §3.5.2.) Atomic operations are never sent again.

use crate::engine::check_request_priority;
use crate::engine::deadlines::Deadlines;
use crate::engine::queue::Queue;
use crate::engine::tids::Tids;
use crate::wire::maintenance::Operation as MaintenanceOperation;
use crate::wire::read::Operation as ReadOperation;
use crate::wire::response::{Response, Status};
use crate::wire::{Body, Error, Payload, Priority};
use alloc::collections::{BTreeMap, VecDeque};

/// How a requester behaves. Times in picoseconds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// First transaction ID.
    pub first_tid: u8,
    /// Last one; [`doorbell::Sender`](crate::engine::doorbell::Sender) needs others.
    pub last_tid: u8,
    /// A request that is not answered for so long is sent again, or given up.
    pub response_timeout: u64,
    /// For so long at least its ID is not given to another.
    pub linger: u64,
    /// How often it is sent again.
    pub retries: u8,
    /// Reads, writes and atomic operations under way at a time, at least 1.
    pub window: u8,
    /// Maintenance requests under way at a time, at least 1.
    pub maintenance_window: u8,
}

impl Default for Options {
    /// IDs 0 to 127, 1 ms for a response, 3 ms of rest, 3 repetitions, 16 requests, 1 maintenance request.
    fn default() -> Self {
        Self {
            first_tid: 0,
            last_tid: 127,
            response_timeout: 1_000_000_000,
            linger: 3_000_000_000,
            retries: 3,
            window: 16,
            maintenance_window: 1,
        }
    }
}

/// A request to be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Order<P> {
    /// Device ID that the packet is routed by.
    pub destination: u32,
    /// Priority of the packet: at most 2 if there is a response.
    pub priority: Priority,
    /// A read, a write, a streaming write, or a maintenance request; its transaction ID is replaced.
    pub body: Body<P>,
    /// Comes back in the event that ends the request; means nothing here.
    pub token: u64,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Transmit<P> {
    /// Device ID that the packet is routed by.
    pub destination: u32,
    /// Its priority.
    pub priority: Priority,
    /// What it says.
    pub body: Body<P>,
    /// From [`Order::token`].
    pub token: u64,
}

/// Why a request failed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Failure {
    /// It was answered by ERROR.
    ErrorResponse,
    /// It was answered by something that cannot be an answer to it.
    IllegalResponse,
    /// It was not answered in time, however often it was sent.
    Timeout,
}

/// The end of a request. There is exactly one for each that was taken.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event<P> {
    /// It was carried out; one that has no response was sent.
    Done {
        /// From [`Order::token`].
        token: u64,
        /// What was read, or the old value, of a request that asks for it.
        data: Option<P>,
    },
    /// It was not, or nobody knows.
    Failed {
        /// From [`Order::token`].
        token: u64,
        /// Why.
        cause: Failure,
    },
}

/// What happened to a requester so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Packets sent, repetitions included.
    pub packets: u64,
    /// Packets sent again.
    pub repetitions: u64,
    /// Times that a response did not come.
    pub timeouts: u64,
    /// ERROR responses.
    pub errors: u64,
    /// Responses that are no answer to their request.
    pub illegal: u64,
    /// Responses to nothing that is under way.
    pub unsolicited: u64,
}

/// What the response has to be.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Expected {
    Nothing,
    Done,
    /// So many bytes of payload.
    Data(usize),
    MaintenanceDone,
    MaintenanceData(usize),
}

impl Expected {
    /// `None` if the body is no request.
    fn of<P>(body: &Body<P>) -> Option<Self> {
        Some(match body {
            Body::Read(read) => Self::Data(read.span().payload_octets().into()),
            Body::Write(write) if !write.operation().has_response() => Self::Nothing,
            Body::Write(write) if write.operation().is_atomic() => Self::Data(8),
            Body::Write(_) => Self::Done,
            Body::StreamWrite(_) => Self::Nothing,
            Body::Maintenance(maintenance) => match maintenance.operation() {
                MaintenanceOperation::Read { access, .. } => Self::MaintenanceData(access.payload_octets()),
                MaintenanceOperation::Write { .. } => Self::MaintenanceDone,
                MaintenanceOperation::PortWrite { .. } => Self::Nothing,
                _ => return None,
            },
            _ => return None,
        })
    }

    const fn is_maintenance(self) -> bool {
        matches!(self, Self::MaintenanceDone | Self::MaintenanceData(_))
    }
}

/// Whether carrying out the request twice is like carrying it out once.
fn is_repeatable<P>(body: &Body<P>) -> bool {
    match body {
        Body::Read(read) => read.operation() == ReadOperation::Nread,
        Body::Write(write) => !write.operation().is_atomic(),
        _ => true,
    }
}

/// A request that waits to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Waiting<P> {
    order: Order<P>,
    expected: Expected,
    /// Times it may still be sent again.
    retries: u8,
    repeated: bool,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Active<P> {
    order: Order<P>,
    retries: u8,
    expected: Expected,
    until: u64,
}

/// The asking side of a device.
///
/// What may change the answers of the outputs: [`submit`](Self::submit), the `handle_*` functions, and
/// [`poll_transmit`](Self::poll_transmit) itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Requester<P> {
    options: Options,
    /// Reads and writes; repetitions go first.
    waiting: Queue<Waiting<P>>,
    /// Maintenance, likewise.
    maintenance_waiting: Queue<Waiting<P>>,
    /// By destination and transaction ID.
    active: BTreeMap<(u32, u8), Active<P>>,
    /// How many of them are maintenance requests.
    maintenance_active: u8,
    /// One entry for each active request.
    deadlines: Deadlines<(u32, u8)>,
    tids: Tids,
    events: VecDeque<Event<P>>,
    counters: Counters,
}

impl<P: Clone + Payload> Requester<P> {
    /// A requester with nothing to ask.
    ///
    /// # Panics
    /// If the range of transaction IDs is empty, or a window is 0.
    #[must_use]
    pub fn new(options: Options) -> Self {
        assert!(options.window > 0 && options.maintenance_window > 0, "requests under way: at least one");
        Self {
            options,
            waiting: Queue::new(),
            maintenance_waiting: Queue::new(),
            active: BTreeMap::new(),
            maintenance_active: 0,
            deadlines: Deadlines::new(),
            tids: Tids::new(options.first_tid, options.last_tid, options.linger),
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Takes a request.
    ///
    /// # Errors
    /// [`Error::Value`] if the body is no request of this engine, [`Error::Range`] if its priority leaves
    /// none for the response. It is not taken then.
    pub fn submit(&mut self, order: Order<P>) -> Result<(), Error> {
        let Some(expected) = Expected::of(&order.body) else {
            let found = order.body.ftype().into();
            return Err(Error::Value { field: "ftype", found, rule: "a request of type 2, 5, 6 or 8" });
        };
        if expected != Expected::Nothing {
            check_request_priority(order.priority)?;
        }
        let (destination, priority, retries) = (order.destination, order.priority, self.options.retries);
        let waiting = Waiting { order, expected, retries, repeated: false };
        self.queue(&waiting).push(destination, priority, waiting);
        Ok(())
    }

    /// A response of type 13 from `source`. Those to messages belong to nothing here.
    pub fn handle_response(&mut self, source: u32, response: Response<P>) {
        let (tid, status, data) = match response {
            Response::Io { target_tid, status } => (target_tid, status, None),
            Response::Data { target_tid, payload } => (target_tid, Status::Done, Some(payload)),
            Response::Message { .. } => {
                self.counters.unsolicited += 1;
                return;
            }
        };
        self.finish(source, tid, status, data, false);
    }

    /// What a type 8 packet from `source` says. A switch without a device ID answers as the one that the
    /// request was routed by. Requests belong to nothing here.
    pub fn handle_maintenance(&mut self, source: u32, operation: MaintenanceOperation<P>) {
        let (tid, status, data) = match operation {
            MaintenanceOperation::ReadDone { target_tid, payload } => {
                (target_tid, Status::Done, Some(payload))
            }
            MaintenanceOperation::WriteDone { target_tid } => (target_tid, Status::Done, None),
            MaintenanceOperation::ReadError { target_tid }
            | MaintenanceOperation::WriteError { target_tid } => (target_tid, Status::Error, None),
            _ => {
                self.counters.unsolicited += 1;
                return;
            }
        };
        self.finish(source, tid, status, data, true);
    }

    /// Lets everything happen whose time has come.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some((destination, tid)) = self.deadlines.pop_due(now) {
            let Some(active) = self.remove((destination, tid)) else { continue };
            self.tids.rest(now, destination, tid);
            self.counters.timeouts += 1;
            let Active { order, retries, expected, .. } = active;
            match retries.checked_sub(1) {
                Some(retries) if is_repeatable(&order.body) => {
                    let (destination, priority) = (order.destination, order.priority);
                    let waiting = Waiting { order, expected, retries, repeated: true };
                    self.queue(&waiting).push_first(destination, priority, waiting);
                }
                _ => self.events.push_back(Event::Failed { token: order.token, cause: Failure::Timeout }),
            }
        }
        while let Some(destination) = self.tids.pop_rested(now) {
            self.go_on(destination);
        }
    }

    /// The next packet. Its response is awaited from `now` on. Maintenance goes before other requests of the
    /// same priority.
    pub fn poll_transmit(&mut self, now: u64) -> Option<Transmit<P>> {
        let [maintenance, other] = [true, false].map(|maintenance| {
            if !self.may_send(maintenance) {
                return None;
            }
            let queue = if maintenance { &mut self.maintenance_waiting } else { &mut self.waiting };
            let tids = &self.tids;
            queue.first(|destination, next| next.expected == Expected::Nothing || tids.has_one(destination))
        });
        let queue = if maintenance >= other { &mut self.maintenance_waiting } else { &mut self.waiting };
        maintenance.max(other)?;
        let Waiting { mut order, expected, retries, repeated } = queue.pop()?;
        let (destination, priority, token) = (order.destination, order.priority, order.token);
        self.counters.packets += 1;
        self.counters.repetitions += u64::from(repeated);
        if expected == Expected::Nothing {
            self.events.push_back(Event::Done { token, data: None });
            return Some(Transmit { destination, priority, body: order.body, token });
        }
        let tid = self.tids.take(now, destination)?;
        order.body = order.body.with_tid(tid);
        let body = order.body.clone();
        let until = now.saturating_add(self.options.response_timeout);
        self.deadlines.set(until, (destination, tid));
        self.maintenance_active += u8::from(expected.is_maintenance());
        self.active.insert((destination, tid), Active { order, retries, expected, until });
        Some(Transmit { destination, priority, body, token })
    }

    /// What ended, in order.
    pub fn poll_event(&mut self) -> Option<Event<P>> {
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
        self.maintenance_waiting.has_turns() && self.may_send(true)
            || self.waiting.has_turns() && self.may_send(false)
    }

    /// Requests that hold a transaction ID.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// Whether `tid` is one of those that this requester gives out: whom a response of type 13 belongs to.
    #[must_use]
    pub const fn owns(&self, tid: u8) -> bool {
        self.options.first_tid <= tid && tid <= self.options.last_tid
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    fn queue(&mut self, waiting: &Waiting<P>) -> &mut Queue<Waiting<P>> {
        match waiting.order.body {
            Body::Maintenance(_) => &mut self.maintenance_waiting,
            _ => &mut self.waiting,
        }
    }

    /// There may be a transaction ID for a destination.
    fn go_on(&mut self, destination: u32) {
        self.maintenance_waiting.go_on(destination);
        self.waiting.go_on(destination);
    }

    fn may_send(&self, maintenance: bool) -> bool {
        let maintenance_active = usize::from(self.maintenance_active);
        let (mine, window) = if maintenance {
            (maintenance_active, self.options.maintenance_window)
        } else {
            (self.active.len() - maintenance_active, self.options.window)
        };
        mine < usize::from(window)
    }

    fn remove(&mut self, key: (u32, u8)) -> Option<Active<P>> {
        let active = self.active.remove(&key)?;
        self.maintenance_active -= u8::from(active.expected.is_maintenance());
        Some(active)
    }

    fn finish(&mut self, source: u32, tid: u8, status: Status, data: Option<P>, maintenance: bool) {
        let key = (source, tid);
        let matches = |active: &&Active<P>| active.expected.is_maintenance() == maintenance;
        let Some(active) = self.active.get(&key).filter(matches) else {
            self.counters.unsolicited += 1;
            if self.tids.came_late(source, tid) {
                self.go_on(source);
            }
            return;
        };
        self.deadlines.clear(active.until, key);
        let (token, expected) = (active.order.token, active.expected);
        self.remove(key);
        self.tids.free(source, tid);
        self.go_on(source);
        let wanted = match expected {
            Expected::Data(octets) | Expected::MaintenanceData(octets) => Some(octets),
            _ => None,
        };
        let event = match (status, data) {
            (Status::Error, _) => {
                self.counters.errors += 1;
                Event::Failed { token, cause: Failure::ErrorResponse }
            }
            (Status::Done, data) if data.as_ref().map(Payload::octets) == wanted => {
                Event::Done { token, data }
            }
            _ => {
                self.counters.illegal += 1;
                Event::Failed { token, cause: Failure::IllegalResponse }
            }
        };
        self.events.push_back(event);
    }
}
