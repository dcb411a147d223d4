//! An endpoint: Ports, Keys, connections, and the calls of its upper layer.
//!
//! # Calling contract
//!
//! * In: the upper layer's requests, [`handle`](Endpoint::handle) for each operation that arrives, and
//!   [`handle_timeout`](Endpoint::handle_timeout) when [`poll_timeout`](Endpoint::poll_timeout) is due.
//! * Out: [`poll_transmit`](Endpoint::poll_transmit) until it is empty, [`poll_event`](Endpoint::poll_event),
//!   [`poll_timeout`](Endpoint::poll_timeout).
//!
//! `now` is in picoseconds and never goes back. An early [`handle_timeout`](Endpoint::handle_timeout) does
//! nothing.

mod arrivals;

use crate::checksum;
use crate::config::{Config, Invalid};
use crate::connection::{
    Connection, Context, Declared, ExposeOptions, Extras, State, TransferOptions, Transmit,
};
use crate::errors::{Log, Logged};
use crate::event::{ConnectionId, Event};
use crate::ids::Keys;
use crate::llp::Ula;
use crate::memory::{Memory, Span};
use crate::timers::Timers;
use crate::wire::flags::DataChannel;
use crate::wire::{Body, Function, HEADER_BYTES, Header, Operation};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::ops::Bound;

/// Deadlines of an endpoint.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Deadline {
    Connection(ConnectionId),
    /// A rejected Request_Connection is forgotten.
    Rejected(Ula, u16, u32),
}

/// What became of a Request_Connection, by source address, Port and Key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Requested {
    Connection(ConnectionId),
    Rejected,
}

/// An operation that belongs to no connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Stray {
    to: Ula,
    interface: u8,
    header: Header,
}

/// A Scheduled Transfer endpoint over memory `M`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Endpoint<M> {
    config: Config,
    memory: M,
    /// Protocols inside Scheduled Transfer that each listening Port takes.
    listening: BTreeMap<u16, BTreeSet<u16>>,
    keys: Keys,
    next_port: u16,
    next_connection: u32,
    connections: BTreeMap<ConnectionId, Connection>,
    by_port: BTreeMap<(u16, u32), ConnectionId>,
    requested: BTreeMap<(Ula, u16, u32), Requested>,
    strays: VecDeque<Stray>,
    /// Connections that may have something to send, and the one served last.
    ready: BTreeSet<ConnectionId>,
    served: ConnectionId,
    events: VecDeque<(ConnectionId, Event)>,
    timers: Timers<Deadline>,
    logs: BTreeMap<u16, Log>,
    device_log: Log,
}

impl<M: Memory> Endpoint<M> {
    /// An endpoint without connections.
    ///
    /// # Errors
    /// [`Invalid`].
    pub fn new(config: Config, memory: M) -> Result<Self, Invalid> {
        config.validate()?;
        Ok(Self {
            config,
            memory,
            listening: BTreeMap::new(),
            keys: Keys::new(config.first_key),
            next_port: config.first_port,
            next_connection: 0,
            connections: BTreeMap::new(),
            by_port: BTreeMap::new(),
            requested: BTreeMap::new(),
            strays: VecDeque::new(),
            ready: BTreeSet::new(),
            served: ConnectionId(0),
            events: VecDeque::new(),
            timers: Timers::default(),
            logs: BTreeMap::new(),
            device_log: Log::default(),
        })
    }

    /// The configuration.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The memory.
    #[must_use]
    pub const fn memory(&self) -> &M {
        &self.memory
    }

    /// The memory, for the upper layer's own use.
    pub const fn memory_mut(&mut self) -> &mut M {
        &mut self.memory
    }

    /// A connection, until it is forgotten.
    #[must_use]
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(&id)
    }

    /// Connections that are not forgotten, those in quarantine included.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.values()
    }

    /// The log of a Port, if anything was ever logged there or the Port is in use.
    #[must_use]
    pub fn log(&self, port: u16) -> Option<&Log> {
        self.logs.get(&port)
    }

    /// Every log entry of every Port, by Port.
    pub fn log_entries(&self) -> impl Iterator<Item = (u16, u64, Logged)> {
        let of = |(&port, log): (&u16, &Log)| -> Vec<(u16, u64, Logged)> {
            log.entries().iter().map(|&(time, entry)| (port, time, entry)).collect()
        };
        self.logs.iter().flat_map(of)
    }

    /// Times that Blocks which had been enabled did not come in time, on all Ports.
    #[must_use]
    pub fn overdue(&self) -> u64 {
        self.logs.values().map(|log| log.counters().overdue).sum()
    }

    /// Takes all entries out of all logs; what belongs to no Port first.
    pub fn take_log(&mut self) -> Vec<(u64, Logged)> {
        let mut entries = self.device_log.drain();
        self.logs.values_mut().for_each(|log| entries.append(&mut log.drain()));
        entries
    }

    /// Sets the clock back: what was at `by` is now at 0, and what was earlier is at 0 as well. Entries of
    /// the logs keep their times. For explorations, where states that differ in their time alone are one
    /// state.
    pub fn rebase(&mut self, by: u64) {
        self.keys.rebase(by);
        self.timers.rebase(by);
        self.connections.values_mut().for_each(|connection| connection.rebase(by));
    }

    /// The log of what matched no Port.
    #[must_use]
    pub const fn device_log(&self) -> &Log {
        &self.device_log
    }

    /// Takes connections on well-known Port `port` for the protocol `ether_type` (0: none inside).
    pub fn listen(&mut self, port: u16, ether_type: u16) {
        self.listening.entry(port).or_default().insert(ether_type);
    }

    fn assign_port(&mut self) -> u16 {
        loop {
            let port = self.next_port;
            self.next_port = self.next_port.checked_add(1).unwrap_or(self.config.first_port.max(1));
            let used = self.by_port.range((port, 0)..=(port, u32::MAX)).next().is_some();
            if port != 0 && !used && !self.listening.contains_key(&port) {
                return port;
            }
        }
    }

    /// Asks the device at `peer` for a connection to its well-known Port `port`, through `interface`.
    pub fn connect(
        &mut self,
        now: u64,
        (peer, interface): (Ula, u8),
        (port, ether_type): (u16, u16),
        extras: Extras,
    ) -> ConnectionId {
        let (port_own, key_own) = (self.assign_port(), self.keys.assign(now));
        let local = Declared::local(&self.config, port_own, key_own);
        let id = self.next_id();
        let log = self.logs.entry(local.port).or_default();
        let mut cx =
            Context { now, config: &self.config, memory: &mut self.memory, log, events: &mut self.events };
        let connection =
            Connection::connect(&mut cx, id, local, (peer, interface), (port, ether_type), extras);
        self.insert(id, connection);
        id
    }

    const fn next_id(&mut self) -> ConnectionId {
        self.next_connection += 1;
        ConnectionId(self.next_connection)
    }

    fn insert(&mut self, id: ConnectionId, connection: Connection) {
        let local = connection.local();
        self.by_port.insert((local.port, local.key), id);
        self.connections.insert(id, connection);
        self.settle(id);
    }

    /// Runs `act` on a connection with its context; brings deadlines and readiness up to date.
    fn with<T>(
        &mut self,
        now: u64,
        id: ConnectionId,
        act: impl FnOnce(&mut Connection, &mut Context<'_, M>) -> T,
    ) -> Option<T> {
        let connection = self.connections.get_mut(&id)?;
        let log = self.logs.entry(connection.local().port).or_default();
        let mut cx =
            Context { now, config: &self.config, memory: &mut self.memory, log, events: &mut self.events };
        let value = act(connection, &mut cx);
        self.settle(id);
        Some(value)
    }

    fn settle(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get(&id) else { return };
        match connection.poll_timeout() {
            Some(at) => self.timers.set(Deadline::Connection(id), at),
            None => self.timers.clear(Deadline::Connection(id)),
        }
        if connection.has_output() {
            self.ready.insert(id);
        }
    }

    /// Accepts an incoming connection; whether it still waits.
    pub fn accept(&mut self, now: u64, id: ConnectionId, extras: Extras) -> bool {
        self.with(now, id, |connection, cx| connection.accept(cx, extras)).unwrap_or(false)
    }

    /// Refuses an incoming connection; whether it still waits.
    pub fn refuse_connection(&mut self, now: u64, id: ConnectionId) -> bool {
        let Some(connection) = self.connections.get(&id) else { return false };
        if connection.state() != State::RcReceived {
            return false;
        }
        let (peer, interface) = (connection.peer(), connection.interface());
        let (remote, port) = (*connection.remote(), connection.asked_port());
        self.forget(now, id);
        self.reject_connection(now, (peer, interface), port, (remote.port, remote.key));
        true
    }

    /// Takes a connection down, or gives its set-up up. What has arrived is answered first, for which it may
    /// have to ask for Slots; what is under way fails.
    pub fn disconnect(&mut self, now: u64, id: ConnectionId) {
        self.with(now, id, |connection, cx| connection.disconnect(cx));
    }

    /// Whether operations of this connection that expect an answer are guarded.
    pub fn set_reliable(&mut self, id: ConnectionId, reliable: bool) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.set_reliable(reliable);
        }
    }

    /// Writes `span` to the other end; the id of the Transfer, `None` if the connection is not open or the
    /// channel does not exist.
    pub fn write(&mut self, now: u64, id: ConnectionId, span: Span, options: TransferOptions) -> Option<u32> {
        self.with(now, id, |connection, cx| {
            cx.memory
                .contains(span.address, span.bytes)
                .then(|| connection.write(cx.config, span, options))?
        })?
    }

    /// Reads from the other end into `span`; the id of the Transfer. With `unlimited`, `span` is a ring.
    pub fn read(
        &mut self,
        now: u64,
        id: ConnectionId,
        (span, unlimited): (Span, bool),
        channel: DataChannel,
        options: ExposeOptions,
        extras: Extras,
    ) -> Option<u32> {
        self.with(now, id, |connection, cx| {
            let exists = cx.memory.contains(span.address, span.bytes);
            exists.then(|| connection.read(cx.config, span, unlimited, channel, options, extras))?
        })?
    }

    /// Gives memory for a Transfer that was offered; whether it could.
    pub fn expose(
        &mut self,
        now: u64,
        id: ConnectionId,
        transfer: u32,
        span: Span,
        options: ExposeOptions,
    ) -> bool {
        self.with(now, id, |connection, cx| connection.expose(cx, transfer, span, options)).unwrap_or(false)
    }

    /// Serves a Read that was requested; whether it could.
    pub fn serve(
        &mut self,
        now: u64,
        id: ConnectionId,
        transfer: u32,
        span: Span,
        options: TransferOptions,
    ) -> bool {
        self.with(now, id, |connection, cx| {
            cx.memory.contains(span.address, span.bytes)
                && connection.serve(cx.config, transfer, span, options)
        })
        .unwrap_or(false)
    }

    /// The ring of an unlimited Transfer holds `total` octets so far; `last` if there are no more to come.
    /// Whether that was news.
    pub fn supply(&mut self, now: u64, id: ConnectionId, transfer: u32, total: u64, last: bool) -> bool {
        self.with(now, id, |connection, cx| connection.supply(cx, transfer, total, last)).unwrap_or(false)
    }

    /// Tells the requester of a Transfer or region to wait.
    pub fn pause(&mut self, now: u64, id: ConnectionId, sequence: u32) -> bool {
        self.with(now, id, |connection, _| connection.pause(sequence)).unwrap_or(false)
    }

    /// Refuses a Transfer or region.
    pub fn refuse(&mut self, now: u64, id: ConnectionId, sequence: u32) -> bool {
        self.with(now, id, |connection, cx| connection.refuse(cx, sequence)).unwrap_or(false)
    }

    /// Ends a Transfer or region.
    pub fn end(&mut self, now: u64, id: ConnectionId, sequence: u32) -> bool {
        self.with(now, id, |connection, cx| connection.end(cx, sequence)).unwrap_or(false)
    }

    /// Enables a missing Block again; whether Out_of_Order is agreed and the Block is missing.
    pub fn reissue(&mut self, now: u64, id: ConnectionId, transfer: u32, block: u64) -> bool {
        self.with(now, id, |connection, cx| connection.reissue(cx, transfer, block)).unwrap_or(false)
    }

    /// Asks for a persistent region of `t_len` octets; its id, `None` if the other end has none.
    pub fn request_region(
        &mut self,
        now: u64,
        id: ConnectionId,
        t_len: u64,
        channel: DataChannel,
        extras: Extras,
    ) -> Option<u32> {
        self.with(now, id, |connection, cx| connection.request_region(cx.config, t_len, channel, extras))?
    }

    /// Grants a region; whether it could.
    pub fn grant(&mut self, now: u64, id: ConnectionId, region: u32, span: Span) -> bool {
        self.with(now, id, |connection, cx| connection.grant(cx, region, span)).unwrap_or(false)
    }

    /// Puts `span` at octet `offset` of a region; the number of the Put.
    pub fn put(
        &mut self,
        now: u64,
        id: ConnectionId,
        (region, offset): (u32, u64),
        span: Span,
        options: TransferOptions,
    ) -> Option<u64> {
        self.with(now, id, |connection, cx| {
            let exists = cx.memory.contains(span.address, span.bytes);
            exists.then(|| connection.put(cx.config, region, offset, span, options))?
        })?
    }

    /// Gets up to 65 535 octets from octet `offset` of a region into `span`; the id.
    pub fn get(
        &mut self,
        now: u64,
        id: ConnectionId,
        (region, offset): (u32, u64),
        span: Span,
        extras: Extras,
    ) -> Option<u32> {
        self.with(now, id, |connection, cx| connection.get(cx, region, offset, span, extras))?
    }

    /// FetchOp on the word at octet `offset` of a region, a multiple of 8; the old word goes to `address`, as
    /// it lay there, and into an event. Gives the id.
    pub fn fetch_op(
        &mut self,
        now: u64,
        id: ConnectionId,
        (region, offset): (u32, u64),
        function: Function,
        address: u64,
        extras: Extras,
    ) -> Option<u32> {
        self.with(now, id, |connection, cx| {
            connection.fetch_op(cx, region, offset, function, address, extras)
        })?
    }

    fn forget(&mut self, now: u64, id: ConnectionId) {
        let Some(connection) = self.connections.remove(&id) else { return };
        let local = connection.local();
        self.by_port.remove(&(local.port, local.key));
        self.keys.release(local.key, now);
        self.timers.clear(Deadline::Connection(id));
        self.ready.remove(&id);
        self.requested.retain(|_, requested| *requested != Requested::Connection(id));
    }

    fn reject_connection(
        &mut self,
        now: u64,
        (to, interface): (Ula, u8),
        port: u16,
        (s_port, key): (u16, u32),
    ) {
        self.requested.insert((to, s_port, key), Requested::Rejected);
        let until = now.saturating_add(self.config.quarantine());
        self.timers.set(Deadline::Rejected(to, s_port, key), until);
        let body = Body::ConnectionAnswer {
            attributes: 0,
            out_of_order: false,
            reject: true,
            slots: 0,
            bufsize: 0,
            key: 0,
            max_stu: 0,
        };
        let operation = Operation { d_port: s_port, s_port: port, d_key: key, interrupt: false, body };
        self.strays.push_back(Stray { to, interface, header: operation.header() });
    }

    /// The next operation for `interface` on one of `channels` (bit n for channel n, 0 for Control): its
    /// octets replace those of `out`. `None` if nothing may leave there now.
    pub fn poll_transmit(
        &mut self,
        now: u64,
        interface: u8,
        channels: u8,
        out: &mut Vec<u8>,
    ) -> Option<Transmit> {
        out.clear();
        if channels & 1 != 0
            && let Some(at) = self.strays.iter().position(|stray| stray.interface == interface)
            && let Some(Stray { to, mut header, .. }) = self.strays.remove(at)
        {
            if self.config.compute {
                header.cksum = checksum::of_operation(&header, &[]);
            }
            out.extend_from_slice(&header.to_bytes());
            return Some(Transmit { to, interface, channel: 0, header });
        }
        // Round robin from the connection after the one served last.
        let mut cursor = self.served;
        for _ in 0..self.ready.len() {
            let after = self.ready.range((Bound::Excluded(cursor), Bound::Unbounded)).next();
            let Some(&id) = after.or_else(|| self.ready.first()) else { break };
            cursor = id;
            let transmit = self
                .with(now, id, |connection, cx| connection.poll_transmit(cx, interface, channels, out))
                .flatten();
            // Slots may have been asked for meanwhile.
            let transmit = transmit.or_else(|| {
                self.with(now, id, |connection, cx| connection.poll_transmit(cx, interface, channels, out))
                    .flatten()
            });
            if !self.connections.get(&id).is_some_and(Connection::has_output) {
                self.ready.remove(&id);
            }
            if transmit.is_some() {
                self.served = id;
                debug_assert!(out.len() >= HEADER_BYTES);
                return transmit;
            }
        }
        None
    }

    /// The next piece of news.
    pub fn poll_event(&mut self) -> Option<(ConnectionId, Event)> {
        let (id, event) = self.events.pop_front()?;
        if let Event::Header { .. } = event
            && let Some(connection) = self.connections.get_mut(&id)
        {
            connection.header_taken();
        }
        Some((id, event))
    }

    /// News that waits to be polled, the next one first. A header among it keeps its Slot.
    pub fn waiting(&self) -> impl Iterator<Item = &(ConnectionId, Event)> + Clone {
        self.events.iter()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.timers.next()
    }

    /// Handles every deadline up to `now`.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some(deadline) = self.timers.expire(now) {
            match deadline {
                Deadline::Connection(id) => {
                    if self.with(now, id, |connection, cx| connection.handle_timeout(cx)) == Some(true) {
                        self.forget(now, id);
                    }
                }
                Deadline::Rejected(from, port, key) => {
                    self.requested.remove(&(from, port, key));
                }
            }
        }
    }

    /// Checks what must always hold (section 2.4 of the requirements).
    ///
    /// # Errors
    /// What does not hold.
    pub fn check_invariants(&self) -> Result<(), &'static str> {
        for (id, connection) in &self.connections {
            connection.check_invariants()?;
            let local = connection.local();
            if self.by_port.get(&(local.port, local.key)) != Some(id) || !self.keys.is_blocked(local.key) {
                return Err("a connection does not own its Port and Key");
            }
        }
        if self.by_port.len() != self.connections.len() {
            return Err("a Port and Key belong to no connection");
        }
        Ok(())
    }
}

fn extras_of(interrupt: bool, payload: &[u8]) -> Extras {
    Extras { interrupt, payload: payload.try_into().ok() }
}
