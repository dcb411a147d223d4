//! One Virtual Connection: set-up, teardown, Slots, and the sequences that run on it (5, state tables 2.3).
//!
//! Both ends of a connection are equal. What differs is the role in one sequence: *source* sends Data,
//! *destination* receives them, *client* and *server* of a region.

mod blocks;
mod destination;
mod landing;
mod lifetime;
mod receive;
mod region;
mod send;
mod source;

pub use destination::ExposeOptions;
pub use send::Transmit;
pub use source::TransferOptions;

use crate::config::Config;
use crate::errors::{Log, Logged};
use crate::event::{ConnectionId, Event, Failure, Outcome};
use crate::ids::{Ids, MemoryIndices};
use crate::layout::BUFFER_EXPONENTS;
use crate::llp::Ula;
use crate::memory::BufferTable;
use crate::slots::{Class, Gate};
use crate::timers::Timers;
use crate::wire::{Attributes, Body, Header, Operation};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use blocks::Blocks;
use destination::Destination;
use region::{Fetch, Get, RegionClient, RegionServer};
use send::Queued;
use source::Source;

/// What a connection needs of its endpoint while it handles something.
pub(crate) struct Context<'a, M> {
    pub(crate) now: u64,
    pub(crate) config: &'a Config,
    pub(crate) memory: &'a mut M,
    pub(crate) log: &'a mut Log,
    pub(crate) events: &'a mut VecDeque<(ConnectionId, Event)>,
}

impl<M> Context<'_, M> {
    fn log(&mut self, entry: Logged) {
        self.log.push(self.now, entry);
    }

    fn after(&self, wait: u64) -> u64 {
        self.now.saturating_add(wait)
    }
}

/// State of set-up and teardown (2.3.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum State {
    /// Request_Connection is out.
    RcSent,
    /// Request_Connection came; the upper layer decides.
    RcReceived,
    /// Both ends know each other.
    Open,
    /// Request_Disconnect is out.
    RdSent,
    /// Both ends sent Request_Disconnect.
    Glare {
        /// The peer has answered ours.
        got_da: bool,
        /// The peer has completed its own.
        got_dc: bool,
    },
    /// Disconnect_Answer is out.
    DaSent,
    /// Over; Port and Key are kept for late repetitions.
    TimeWait,
    /// Request_Connection was given up; a late answer is taken down.
    Abandoned,
}

/// What an end declares in Request_Connection or Connection_Answer.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Declared {
    /// Port.
    pub port: u16,
    /// Key.
    pub key: u32,
    /// Slots.
    pub slots: u16,
    /// Exponent of the receive buffers.
    pub bufsize: u32,
    /// Exponent of the largest STU received.
    pub max_stu: u32,
    /// Blocks in any order.
    pub out_of_order: bool,
    /// Regions, FetchOp, byte order.
    pub attributes: Attributes,
}

impl Declared {
    /// What this end declares.
    pub(crate) const fn local(config: &Config, port: u16, key: u32) -> Self {
        Self {
            port,
            key,
            slots: config.slots,
            bufsize: config.bufsize,
            max_stu: config.max_stu,
            out_of_order: config.out_of_order,
            attributes: config.attributes,
        }
    }

    /// Whether Bufsize is 8 to 32.
    pub(crate) fn has_legal_bufsize(&self) -> bool {
        BUFFER_EXPONENTS.contains(&self.bufsize)
    }

    /// Whether Max_STU is 8 to 32 and at most Bufsize.
    pub(crate) fn has_legal_max_stu(&self) -> bool {
        BUFFER_EXPONENTS.contains(&self.max_stu) && self.max_stu <= self.bufsize
    }
}

/// Names of deadlines.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Timer {
    /// Set-up, teardown or the wait after it.
    Connection,
    /// No Slots and nothing asked.
    Slots,
    /// What a sequence waits for follows from its state.
    Sequence(u32),
    /// A Put of a region waits for its confirmation.
    Put(u32, u64),
    /// The tombstone of a FetchOp.
    Replay(u32, u32),
}

/// What runs under an id of this end.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Sequence {
    Source(Source),
    Destination(Destination),
    Client(RegionClient),
    Server(RegionServer),
    Get(Get),
    Fetch(Fetch),
    /// Over; the id is stale. `reply_reject` answers a repeated request with R=1.
    Tombstone {
        reply_reject: bool,
        logged: bool,
        fetch: Option<(u32, u32)>,
        is_get: bool,
    },
}

/// What an answer to a Sync means.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Question {
    /// The sequence it is about, none for Slots alone.
    owner: Option<u32>,
    /// The Block that was asked about.
    block: Option<u64>,
    /// The sequence whose Data asked: what ends at the other end is answered no more.
    data_of: Option<u32>,
}

/// Interrupt and optional payload of a Control operation that an upper layer causes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Extras {
    /// I.
    pub interrupt: bool,
    /// 32 octets for the other upper layer.
    pub payload: Option<[u8; 32]>,
}

/// One Virtual Connection of an endpoint.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Connection {
    id: ConnectionId,
    state: State,
    local: Declared,
    remote: Declared,
    ether_type: u16,
    /// The well-known Port that the peer asked for.
    asked_port: u16,
    /// Where operations without a place of their own go, and through which interface.
    peer: Ula,
    interface: u8,
    reliable: bool,
    /// The upper layer wants it gone; what is owed to the peer waits for Slots.
    closing: bool,
    /// The upper layer was told that it is over.
    closed: bool,
    extras: Extras,
    retries: u32,
    gate: Gate,
    occupied: u32,
    ids: Ids,
    sync: u32,
    indices: MemoryIndices,
    buffers: BufferTable,
    sequences: BTreeMap<u32, Sequence>,
    /// Local ids by the peer's id of its requests, tombstones included.
    requests: BTreeMap<(u8, u32), u32>,
    questions: BTreeMap<u32, Question>,
    logged_stale: BTreeSet<u32>,
    queue: VecDeque<Queued>,
    outgoing: Blocks,
    timers: Timers<Timer>,
    /// Clear_To_Send that have left.
    permitted: u64,
    /// Blocks were enabled since Data last took a Slot.
    permitted_since_data: bool,
    heard: bool,
}

impl Connection {
    fn new(
        id: ConnectionId,
        local: Declared,
        remote: Declared,
        peer: Ula,
        interface: u8,
        config: &Config,
    ) -> Self {
        Self {
            id,
            state: State::RcSent,
            local,
            remote,
            ether_type: 0,
            asked_port: 0,
            peer,
            interface,
            reliable: config.reliable,
            closing: false,
            closed: false,
            extras: Extras::default(),
            retries: 0,
            gate: Gate::new(remote.slots),
            occupied: 0,
            ids: Ids::new(1),
            sync: 0,
            indices: MemoryIndices::default(),
            buffers: BufferTable::new(local.bufsize, 0x100),
            sequences: BTreeMap::new(),
            requests: BTreeMap::new(),
            questions: BTreeMap::new(),
            logged_stale: BTreeSet::new(),
            queue: VecDeque::new(),
            outgoing: Blocks::default(),
            timers: Timers::default(),
            permitted: 0,
            permitted_since_data: false,
            heard: false,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn id(&self) -> ConnectionId {
        self.id
    }

    /// Set-up and teardown.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// The interface that set it up.
    #[must_use]
    pub const fn interface(&self) -> u8 {
        self.interface
    }

    pub(crate) const fn asked_port(&self) -> u16 {
        self.asked_port
    }

    /// What this end declared.
    #[must_use]
    pub const fn local(&self) -> &Declared {
        &self.local
    }

    /// What the other end declared.
    #[must_use]
    pub const fn remote(&self) -> &Declared {
        &self.remote
    }

    /// The address that operations without a place of their own go to.
    #[must_use]
    pub const fn peer(&self) -> Ula {
        self.peer
    }

    /// The view of the other end's Slots.
    #[must_use]
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Slots of this end that headers occupy which the upper layer has not taken.
    #[must_use]
    pub const fn occupied_slots(&self) -> u32 {
        self.occupied
    }

    /// Whether both ends declared Out_of_Order.
    #[must_use]
    pub const fn out_of_order_agreed(&self) -> bool {
        self.local.out_of_order && self.remote.out_of_order
    }

    /// Sequences that are not over.
    #[must_use]
    pub fn live_sequences(&self) -> usize {
        self.sequences.values().filter(|sequence| !matches!(sequence, Sequence::Tombstone { .. })).count()
    }

    /// Whether what expects an answer is guarded.
    pub(crate) const fn set_reliable(&mut self, reliable: bool) {
        self.reliable = reliable;
    }

    /// The upper layer has taken a header.
    pub(crate) const fn header_taken(&mut self) {
        self.occupied = self.occupied.saturating_sub(1);
    }

    /// The clock was set back.
    pub(crate) fn rebase(&mut self, by: u64) {
        self.gate.rebase(by);
        self.indices.rebase(by);
        self.timers.rebase(by);
        for sequence in self.sequences.values_mut() {
            if let Sequence::Source(source) = sequence {
                source.rebase(by);
            }
        }
    }

    /// The next deadline.
    pub(crate) fn poll_timeout(&self) -> Option<u64> {
        self.timers.next()
    }

    fn operation(&self, body: Body, interrupt: bool) -> Operation {
        Operation {
            d_port: self.remote.port,
            s_port: self.local.port,
            d_key: self.remote.key,
            interrupt,
            body,
        }
    }

    fn header(&self, body: Body) -> Header {
        self.operation(body, false).header()
    }

    /// Queues a Control operation to the peer's usual address.
    fn push(&mut self, class: Class, body: Body) -> &mut Queued {
        let header = self.header(body);
        self.push_header(class, header)
    }

    fn push_header(&mut self, class: Class, header: Header) -> &mut Queued {
        self.queue.push_back(Queued::new(class, header, self.peer, self.interface));
        let last = self.queue.len() - 1;
        &mut self.queue[last]
    }

    /// Queues an answer to a request that the peer guards. It goes before all Clear_To_Send of Transfers that
    /// have one already: there may be so many that they wait for Slots for longer than any guard.
    fn push_answer(&mut self, header: Header, interface: u8) -> &mut Queued {
        let at = self.queue.iter().position(|queued| queued.further).unwrap_or(self.queue.len());
        self.queue.insert(at, Queued::new(Class::Ordinary, header, self.peer, interface));
        &mut self.queue[at]
    }

    /// Counts an expiry (10.1): `true` if the operation is sent again, `false` if it is given up.
    fn expired<M>(cx: &mut Context<'_, M>, retries: &mut u32) -> bool {
        cx.log(Logged::Op_timeout_Occurance);
        let again = *retries < cx.config.max_retry;
        if again {
            *retries += 1;
        } else {
            cx.log(Logged::Max_Retry_Occurance);
        }
        again
    }

    /// Handles every deadline up to now. `true` if the connection is over and can be forgotten.
    pub(crate) fn handle_timeout<M: crate::memory::Memory>(&mut self, cx: &mut Context<'_, M>) -> bool {
        while let Some(timer) = self.timers.expire(cx.now) {
            match timer {
                Timer::Connection => {
                    if self.connection_expired(cx) {
                        return true;
                    }
                }
                Timer::Slots => {
                    // Otherwise nothing was asked yet.
                    if self.gate.outstanding() > 0 {
                        self.close_in_time(cx);
                    }
                    self.ask_for_slots();
                }
                Timer::Sequence(id) => self.sequence_expired(cx, id),
                Timer::Put(id, put) => self.put_expired(cx, id, put),
                Timer::Replay(id, fetch) => self.replay_expired(id, fetch),
            }
        }
        false
    }

    fn sequence_expired<M: crate::memory::Memory>(&mut self, cx: &mut Context<'_, M>, id: u32) {
        match self.sequences.get(&id) {
            Some(Sequence::Source(_)) => self.source_expired(cx, id),
            Some(Sequence::Destination(_)) => self.destination_expired(cx, id),
            Some(Sequence::Client(_)) => self.client_expired(cx, id),
            Some(Sequence::Server(_)) => self.server_expired(cx, id),
            Some(Sequence::Get(_)) => self.get_expired(cx, id),
            Some(Sequence::Fetch(_)) => self.fetch_expired(cx, id),
            Some(Sequence::Tombstone { .. }) => {
                self.sequences.remove(&id);
                self.requests.retain(|_, local| *local != id);
            }
            None => {}
        }
    }

    /// A new id with its sequence.
    fn begin(&mut self, sequence: Sequence) -> u32 {
        let sequences = &self.sequences;
        let id = self.ids.assign(|id| sequences.contains_key(&id));
        self.sequences.insert(id, sequence);
        id
    }

    /// The sequence is over: nothing of it is sent any more, its id is kept as stale for the quarantine.
    fn bury<M>(&mut self, cx: &Context<'_, M>, id: u32, reply_reject: bool) {
        let fetch = match self.sequences.get(&id) {
            Some(Sequence::Fetch(fetch)) => Some((fetch.region_peer_id(), fetch.last_sync())),
            _ => None,
        };
        let is_get = matches!(self.sequences.get(&id), Some(Sequence::Get(_)));
        let gone =
            self.sequences.insert(id, Sequence::Tombstone { reply_reject, logged: false, fetch, is_get });
        self.drop_sends(id);
        let until = cx.after(cx.config.quarantine());
        match gone {
            Some(Sequence::Destination(destination)) => {
                for mx in destination.indices() {
                    self.indices.retire(mx, until);
                }
                if let Some(place) = destination.first_place() {
                    self.buffers.retire(place.bufx);
                }
            }
            Some(Sequence::Server(server)) => {
                if let Some((mx, place)) = server.exposed() {
                    self.indices.retire(mx, until);
                    self.buffers.retire(place.bufx);
                }
                for fetch in server.replays() {
                    self.timers.clear(Timer::Replay(id, fetch));
                }
            }
            Some(Sequence::Get(get)) => {
                self.indices.retire(get.mx(), until);
                self.buffers.retire(get.place().bufx);
            }
            Some(Sequence::Fetch(fetch)) => {
                self.indices.retire(fetch.mx(), until);
                self.buffers.retire(fetch.place().bufx);
            }
            Some(Sequence::Client(client)) => {
                for put in client.puts() {
                    self.timers.clear(Timer::Put(id, put));
                }
            }
            _ => {}
        }
        self.timers.set(Timer::Sequence(id), until);
    }

    /// Nothing that the sequence wanted to send leaves any more. What it has asked is answered all the same,
    /// and tells of Slots (ST-5.2.5-10).
    fn drop_sends(&mut self, id: u32) {
        self.queue.retain(|queued| queued.owner != Some(id));
        self.outgoing.retain(|block| block.owner != id);
        let gate = &mut self.gate;
        self.questions.retain(|sync, question| {
            if question.owner != Some(id) {
                return true;
            }
            (question.owner, question.block) = (None, None);
            let awaited = gate.is_awaited(*sync);
            if !awaited {
                gate.drop_question(*sync);
            }
            awaited
        });
    }

    /// The other end has ended the sequence: what Data of it has asked since is discarded with it, and nobody
    /// answers. Request_State is answered even then.
    fn drop_questions_of_data(&mut self, id: u32) {
        let gate = &mut self.gate;
        let before = self.questions.len();
        self.questions.retain(|sync, question| {
            let of_others = question.data_of != Some(id);
            if !of_others {
                gate.drop_question(*sync);
            }
            of_others
        });
        if self.questions.len() < before {
            // Whoever waits for Slots asks anew, unless another answer is on its way.
            self.timers.clear(Timer::Slots);
        }
    }

    /// Whether the request of a sequence waits to leave for the first time: the peer knows nothing of it.
    fn is_unasked(&self, id: u32) -> bool {
        self.queue.iter().any(|queued| queued.owner == Some(id) && !queued.again)
    }

    fn finished<M>(&self, cx: &mut Context<'_, M>, id: u32, outcome: Outcome, bytes: u64) {
        cx.events.push_back((self.id, Event::Finished { id, outcome, bytes }));
    }

    /// A live sequence fails; nothing is sent about it.
    fn fail<M>(&mut self, cx: &mut Context<'_, M>, id: u32, failure: Failure) {
        let silent = match self.sequences.get(&id) {
            None | Some(Sequence::Tombstone { .. }) => return,
            Some(Sequence::Source(source)) => source.is_reported(),
            Some(Sequence::Destination(destination)) => destination.is_reported(),
            Some(Sequence::Client(client)) => client.is_reported(),
            _ => false,
        };
        self.fail_parts(cx, id, failure);
        let bytes = match self.sequences.get(&id) {
            Some(Sequence::Destination(destination)) => destination.bytes(),
            Some(Sequence::Source(source)) => source.confirmed_bytes(),
            _ => 0,
        };
        self.bury(cx, id, failure == Failure::Rejected);
        if !silent {
            self.finished(cx, id, Outcome::Failed(failure), bytes);
        }
    }
}
