//! A node: all connections of one device ID.

use crate::cids::{Cids, MAX_CONNECTIONS};
use crate::connection::{Connection, Context, Phase, Terms, Timer};
use crate::counters::Counters;
use crate::deadlines::Deadlines;
use crate::event::{ConnectionId, Event, Link, Transmit};
use crate::options::{HB_TMO_DEFAULT, MTU_DEFAULT, MTU_MIN, Options};
use crate::outbox::Outbox;
use crate::wire::{Address, DataKind, Error, Frame, Packet, RIO_FRAME_OCTETS, START_OCTETS, View};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;

/// How a node is set up.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Config {
    /// Its device ID; 8-bit IDs are extended with zeros.
    pub device: u16,
    /// The first connection ID it hands out; 0 counts as 1. The owner should draw it: a restarted node is
    /// told from the one before by its connection IDs, even if it has the same [`Peer::generation`].
    pub first_cid: u16,
    /// Its choices.
    pub options: Options,
}

/// The other end of a connection, and what this end wants.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Peer {
    /// Device ID of the peer.
    pub device: u16,
    /// Port of the connection at the peer.
    pub port: u16,
    /// Port of the connection here.
    pub local_port: u16,
    /// Wanted octets of the longest frame, from 64.
    pub mtu: u16,
    /// Wanted period of heartbeats, units of 100 ms; 0 means 5.
    pub hb_tmo: u8,
    /// Generation of the first attempt.
    pub generation: u8,
}

impl Peer {
    /// Port 1 at both ends, and the default wishes.
    #[must_use]
    pub const fn new(device: u16) -> Self {
        Self { device, port: 1, local_port: 1, mtu: MTU_DEFAULT, hb_tmo: HB_TMO_DEFAULT, generation: 1 }
    }

    /// What frames from this peer to this connection have in common.
    const fn address(&self) -> Address {
        Address { dst_port: self.local_port, sender: self.device, src_port: self.port }
    }
}

/// Why a node or a connection cannot be set up.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ConfigError {
    /// The window of the reordering queue is 0 or above 32767.
    Window {
        /// What was asked for.
        found: u16,
    },
    /// Requests without a pause.
    RequestPeriod,
    /// A connection that is timed out as soon as it is up.
    Periods,
    /// An MTU that no peer accepts.
    Mtu {
        /// What was asked for.
        found: u16,
    },
    /// There is a connection between these ports.
    Taken(ConnectionId),
    /// More connections than there are connection IDs to tell them apart.
    Full,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Window { found } => write!(f, "window: 1 to 32767, {found} found"),
            Self::RequestPeriod => write!(f, "request_period: at least 1, 0 found"),
            Self::Periods => write!(f, "periods: at least 1, 0 found"),
            Self::Mtu { found } => write!(f, "mtu: {MTU_MIN} to 65535, {found} found"),
            Self::Taken(id) => write!(f, "ports: connection {} is between them", id.index()),
            Self::Full => write!(f, "connections: at most {MAX_CONNECTIONS} in a node"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// The connections of one device ID.
///
/// # Calling contract
///
/// Times are in picoseconds and never go back. Inputs: [`handle_frame`](Self::handle_frame),
/// [`handle_timeout`](Self::handle_timeout) at or after [`poll_timeout`](Self::poll_timeout),
/// [`handle_link`](Self::handle_link), and the calls of the link handler: [`connect`](Self::connect),
/// [`disconnect`](Self::disconnect), [`transmit`](Self::transmit). After each, drain
/// [`poll_transmit`](Self::poll_transmit) and [`poll_event`](Self::poll_event) until they give `None`; each
/// of them may have changed, and [`poll_timeout`](Self::poll_timeout) too.
///
/// Frames that arrive at the instant of a deadline come first: hand them in before that instant's timeout.
///
/// No call scans the connections but [`handle_link`](Self::handle_link).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Node {
    device: u16,
    options: Options,
    link_up: bool,
    jitter: usize,
    connections: Vec<Connection>,
    /// Sorted.
    addresses: Vec<(Address, u16)>,
    cids: Cids,
    deadlines: Deadlines,
    counters: Counters,
    out: Outbox,
    events: VecDeque<Event>,
}

impl Node {
    /// A node without connections, its link up.
    ///
    /// # Errors
    /// [`ConfigError::Window`], [`ConfigError::RequestPeriod`], [`ConfigError::Periods`].
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        let Config { device, first_cid, options } = config;
        if !(1..1 << 15).contains(&options.window) {
            return Err(ConfigError::Window { found: options.window });
        }
        if options.request_period == 0 {
            return Err(ConfigError::RequestPeriod);
        }
        if options.periods == 0 {
            return Err(ConfigError::Periods);
        }
        Ok(Self {
            device,
            options,
            link_up: true,
            jitter: 0,
            connections: Vec::new(),
            addresses: Vec::new(),
            cids: Cids::new(first_cid),
            deadlines: Deadlines::default(),
            counters: Counters::default(),
            out: Outbox::default(),
            events: VecDeque::new(),
        })
    }

    /// Adds a connection. It stays passive until it is connected.
    ///
    /// # Errors
    /// [`ConfigError::Mtu`], [`ConfigError::Taken`], [`ConfigError::Full`].
    pub fn add(&mut self, peer: Peer) -> Result<ConnectionId, ConfigError> {
        if peer.mtu < MTU_MIN {
            return Err(ConfigError::Mtu { found: peer.mtu });
        }
        if self.connections.len() >= MAX_CONNECTIONS {
            return Err(ConfigError::Full);
        }
        let place = match self.find(peer.address()) {
            Ok(place) => return Err(ConfigError::Taken(ConnectionId(self.addresses[place].1))),
            Err(place) => place,
        };
        let id = self.connections.len() as u16;
        self.addresses.insert(place, (peer.address(), id));
        self.connections.push(Connection::new(peer, self.options.renewal));
        self.deadlines.grow();
        Ok(ConnectionId(id))
    }

    fn find(&self, address: Address) -> Result<usize, usize> {
        self.addresses.binary_search_by_key(&address, |entry| entry.0)
    }

    /// Runs `act` on a connection and notes when it next has something to do.
    fn with<T>(
        &mut self,
        now: u64,
        id: ConnectionId,
        act: impl FnOnce(&mut Connection, &mut Context<'_>) -> T,
    ) -> T {
        let connection = &mut self.connections[id.index()];
        let mut cx = Context {
            now,
            id,
            device: self.device,
            link_up: self.link_up,
            options: &self.options,
            jitter: &mut self.jitter,
            cids: &mut self.cids,
            counters: &mut self.counters,
            out: &mut self.out,
            events: &mut self.events,
        };
        let done = act(connection, &mut cx);
        self.deadlines.set(u32::from(id.0), connection.deadline());
        done
    }

    // Calls of the link handler.

    /// Begins to establish a connection. No effect unless it is disconnected.
    ///
    /// # Panics
    /// Like all calls with an `id`: if this node has no such connection.
    pub fn connect(&mut self, now: u64, id: ConnectionId) {
        self.with(now, id, Connection::connect);
    }

    /// Ends a connection or the attempt to establish it. No effect if it is disconnected.
    pub fn disconnect(&mut self, now: u64, id: ConnectionId) {
        self.with(now, id, Connection::disconnect);
    }

    /// Sends a message from link address `src` to `dst`, or keeps it until the peer has proved that it is up
    /// ([`Options::opening`]). It is dropped and counted unless the connection is up; one that is longer than
    /// [`Limits::octets`](crate::fragment::Limits::octets) resets it.
    pub fn transmit(&mut self, now: u64, id: ConnectionId, src: u32, dst: u32, octets: &[u8]) {
        self.with(now, id, |connection, cx| connection.transmit(cx, src, dst, octets));
    }

    // What happens.

    /// The local link has gone down or come up. While it is down nothing is sent, and nobody connects.
    pub fn handle_link(&mut self, now: u64, up: bool) {
        if up != self.link_up {
            self.link_up = up;
            for id in 0..self.connections.len() as u16 {
                self.with(now, ConnectionId(id), Connection::handle_link);
            }
        }
    }

    /// A data frame could not be sent, or was answered by an error: a message cannot be delivered, so the
    /// connection is reset (10.1). `cid` is that of [`Link::cid`] when the frame was handed out: no effect if
    /// that connection is no longer up. REQ, ACK and RESET are repeated or unreliable, and lost heartbeats
    /// are noticed by the peer: they are nothing to be told of.
    pub fn handle_send_failure(&mut self, now: u64, id: ConnectionId, cid: u16) {
        self.with(now, id, |connection, cx| connection.handle_send_failure(cx, cid));
    }

    /// A frame, or what the medium says is one. Returns the connection that it was for, in whatever state
    /// that is; none if it belongs to no connection.
    pub fn handle_frame(&mut self, now: u64, octets: &[u8]) -> Option<ConnectionId> {
        // What ran out before this came; at the same instant, what comes is first.
        self.expire(now, |at, now| at < now);
        let view = View::new(octets);
        match Frame::parse(octets) {
            Ok(Frame { address, packet }) => match packet {
                Packet::Request { generation, mtu, hb_tmo } => {
                    let wish = Terms { generation, mtu, hb_tmo };
                    self.for_peer(now, address, |connection, cx| connection.handle_request(cx, wish))
                }
                Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, my_cid } => {
                    let terms = Terms { generation, mtu: mtu_ack, hb_tmo: hb_tmo_ack };
                    self.for_peer(now, address, |connection, cx| {
                        connection.handle_ack(cx, terms, generation_ack, my_cid);
                    })
                }
                Packet::Reset { generation } => {
                    self.for_peer(now, address, |connection, cx| connection.handle_reset(cx, generation))
                }
                Packet::Heartbeat { dst_cid } => self.for_cid(now, dst_cid, address, |connection, cx| {
                    connection.handle_heartbeat(cx, dst_cid)
                }),
                Packet::Data(data) => {
                    let size = usize::from(view.size().unwrap_or(0));
                    let frame = &octets[..RIO_FRAME_OCTETS + size];
                    let single = matches!(data.kind, DataKind::Single(_));
                    self.for_cid(now, data.dst_cid, address, |connection, cx| {
                        if single && frame.len() > START_OCTETS + data.payload.len() {
                            cx.counters.surplus += 1;
                        }
                        connection.handle_data(cx, frame, &data);
                    })
                }
            },
            Err(Error::RioFrame { .. } | Error::Protocol { .. }) => {
                self.counters.foreign += 1;
                None
            }
            Err(Error::Unattributable { .. }) => {
                self.counters.unattributable += 1;
                None
            }
            // Connection packets are unreliable anyway: they never reset.
            Err(_) if view.type_code().is_some_and(|code| code & 0x80 != 0) => {
                self.counters.stray_management += 1;
                None
            }
            Err(_) => self.for_cid(now, view.dst_cid()?, view.address()?, Connection::handle_malformed),
        }
    }

    fn for_peer(
        &mut self,
        now: u64,
        address: Address,
        act: impl FnOnce(&mut Connection, &mut Context<'_>),
    ) -> Option<ConnectionId> {
        let Ok(place) = self.find(address) else {
            self.counters.stray_management += 1;
            return None;
        };
        let id = ConnectionId(self.addresses[place].1);
        self.with(now, id, act);
        Some(id)
    }

    fn for_cid(
        &mut self,
        now: u64,
        cid: u16,
        address: Address,
        act: impl FnOnce(&mut Connection, &mut Context<'_>),
    ) -> Option<ConnectionId> {
        // A restarted peer may use the ID that another one was given: who sent it must fit, too.
        match self.cids.owner(cid).filter(|&id| self.peer(ConnectionId(id)).address() == address) {
            Some(id) => {
                self.with(now, ConnectionId(id), act);
                Some(ConnectionId(id))
            }
            None => {
                self.counters.stray += 1;
                None
            }
        }
    }

    /// Does what is due at `now` or before.
    pub fn handle_timeout(&mut self, now: u64) {
        self.expire(now, |at, now| at <= now);
    }

    fn expire(&mut self, now: u64, is_due: impl Fn(u64, u64) -> bool) {
        while let Some((_, id)) = self.deadlines.first().filter(|&(at, _)| is_due(at, now)) {
            let id = ConnectionId(id as u16);
            self.with(now, id, |connection, cx| {
                for timer in Timer::ALL {
                    if connection.timer(timer).is_some_and(|at| is_due(at, now)) {
                        connection.handle_timer(cx, timer);
                    }
                }
            });
        }
    }

    /// Lets a timer run out whatever the time is, for those who explore all orders of events. No effect if
    /// it is not armed.
    pub fn fire(&mut self, now: u64, id: ConnectionId, timer: Timer) {
        self.with(now, id, |connection, cx| connection.handle_timer(cx, timer));
    }

    // What to do about it.

    /// The next frame to be sent.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        self.out.pop()
    }

    /// The next call to the link handler.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.first().map(|(at, _)| at)
    }

    // What there is.

    /// Device ID.
    #[must_use]
    pub fn device(&self) -> u16 {
        self.device
    }

    /// Connections.
    pub fn ids(&self) -> impl Iterator<Item = ConnectionId> + use<> {
        (0..self.connections.len() as u16).map(ConnectionId)
    }

    /// How a connection was set up.
    #[must_use]
    pub fn peer(&self, id: ConnectionId) -> &Peer {
        self.connections[id.index()].peer()
    }

    /// What a connection does.
    #[must_use]
    pub fn phase(&self, id: ConnectionId) -> Phase {
        self.connections[id.index()].phase()
    }

    /// What was negotiated, while the connection is up.
    #[must_use]
    pub fn link(&self, id: ConnectionId) -> Option<Link> {
        self.connections[id.index()].link()
    }

    /// The generation of the present attempt of a connection, or of its last one.
    #[must_use]
    pub fn generation(&self, id: ConnectionId) -> u8 {
        self.connections[id.index()].generation()
    }

    /// The sequence number of the data packet that leaves next over a connection; 0 while it is not up.
    #[must_use]
    pub fn next_seqno(&self, id: ConnectionId) -> u16 {
        self.connections[id.index()].next_seqno()
    }

    /// Whether a connection is up and its peer has proved that it is, too: messages leave at once.
    #[must_use]
    pub fn is_proved(&self, id: ConnectionId) -> bool {
        self.connections[id.index()].is_proved()
    }

    /// When a timer of a connection runs out, if it is armed.
    #[must_use]
    pub fn timer(&self, id: ConnectionId, timer: Timer) -> Option<u64> {
        self.connections[id.index()].timer(timer)
    }

    /// What was counted.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What was counted since the last time, or the beginning.
    pub fn take_counters(&mut self) -> Counters {
        core::mem::take(&mut self.counters)
    }

    /// Whether nothing is to be sent or told.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.out.is_empty() && self.events.is_empty()
    }

    /// Octets of memory, without those of packets that wait for others.
    #[must_use]
    pub fn octets(&self) -> usize {
        size_of::<Self>()
            + self.connections.capacity() * size_of::<Connection>()
            + self.addresses.capacity() * size_of::<(Address, u16)>()
            + self.cids.heap_octets()
            + self.deadlines.heap_octets()
            + self.out.heap_octets()
            + self.events.capacity() * size_of::<Event>()
    }
}
