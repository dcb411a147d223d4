//! A node that takes part: streams, conduits, requests, flow control.
//!
//! # Calling contract
//!
//! Times are in picoseconds and never go back. Inputs: [`handle_message`](Endpoint::handle_message) for what
//! comes in on the management conveyance or a data mailbox, [`handle_pdu`](Endpoint::handle_pdu) for PDUs of
//! Type 9 data streams, [`handle_participation`](Endpoint::handle_participation) for what the registers of a
//! node say, [`handle_timeout`](Endpoint::handle_timeout) at or after
//! [`poll_timeout`](Endpoint::poll_timeout), and the verbs of the application. After each, drain
//! [`poll_transmit`](Endpoint::poll_transmit) and [`poll_event`](Endpoint::poll_event). A message that was
//! handed out counts as sent.
//!
//! Nothing is scanned: each table is ordered, each deadline stands in one ordered set. What is only
//! remembered (replies, closed streams) has no deadline there; it is dropped when the next input finds it
//! too old.

mod event;
mod expire;
mod flow;
mod memory;
mod open;
mod receive;
mod requests;
mod stream;
mod timers;

pub use event::{Advertised, Ending, Event, OpenFailure, Order, StreamRef, Suspicion, Transmit};
pub use expire::{Deadline, Outstanding};

use crate::attribute::{Attribute, Attributes, Kind, List};
use crate::conduit::{Algorithm, Pairing, Record, Side};
use crate::control::Request as RequestMessage;
use crate::message::{Class, Command, Message, Mode};
use crate::negotiate::{Offer, RETRY_PERIOD, TIMEOUT_PERIOD, XON_TIMEOUT_PERIOD, propose};
use crate::octets::EmitError;
use crate::protocol::{ALL_PROTOCOLS, APPLICATION_STREAMS, BROADCAST_STREAM, NO_STREAM, Protocol};
use crate::register::{Contact, Participation};
use crate::segment::Reassembly;
use crate::status::UserDefined;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use flow::{ContextId, OutContext, OutContextId};
use memory::Memory;
use requests::{Detail, Request, RequestKey};
use stream::Stream;
use timers::{Timer, Timers};

/// Picoseconds in a microsecond.
pub const MICROSECOND: u64 = 1_000_000;

/// Messages that wait for the contact of one peer; further ones are dropped, as a receiver short of room may.
const MAX_PARKED: usize = 64;

/// How Ethernet broadcasts leave (§7.3.2).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Broadcast {
    /// One copy to each known Ethernet peer.
    #[default]
    Unicast,
    /// One copy to this destination ID, which multicast-capable switches know: 0xFE or 0xFFFE.
    Multicast(u16),
}

/// How a node is set up.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Config {
    /// Its device ID; 8-bit IDs with a zero high octet.
    pub node: u16,
    /// Where it takes management messages.
    pub contact: Contact,
    /// Where else it takes them: on the other conveyance, if it is on two (§2.4).
    pub second: Option<Contact>,
    /// Where all others take them, if that is hard-coded and registers are not read.
    pub assumed: Option<Contact>,
    /// Whether reserved fields are checked.
    pub mode: Mode,
    /// How OPEN and ACCEPT are matched to conduits.
    pub algorithm: Algorithm,
    /// Records of one (peer, protocol) at most: where the printed algorithm is stopped.
    pub max_records: usize,
    /// Protocols, in the order of ADVERTISE.
    pub offers: Vec<Offer>,
    /// Whether REQUEST is answered by ADVERTISE; if not, by Command Unknown.
    pub advertises: bool,
    /// Whether this node can send and receive data over Type 9 (DATA3).
    pub type9_data: bool,
    /// Mailbox for data, if not the one for management.
    pub data_mailbox: Option<u8>,
    /// USERDEFINED codes with a handler.
    pub user_commands: Vec<u8>,
    /// OPEN_MESSAGE_NUMBER of the first OPEN. The owner should draw it.
    pub first_number: u32,
    /// The first StreamID handed out to each peer.
    pub first_stream: u16,
    /// StreamIDs of the vendor's range on which data is taken without OPEN (§3.8.2): DATA without Offset
    /// octets, or DATA3, COS 0.
    pub vendor_streams: Vec<u16>,
    /// Streams from one peer at most, resting ones included.
    pub max_streams: u16,
    /// FLOW_CONTROL_XON_TIMEOUT_PERIOD that its registers announce: after it sources of its streams go on
    /// that hear nothing more after XOFF, where OPEN does not say otherwise. Microseconds.
    pub xon_timeout: u32,
    /// Whether a stopped source with data sends RTS.
    pub rts: bool,
    /// Frames kept for a stopped Ethernet stream, at least 1.
    pub pending_frames: usize,
    /// How Ethernet broadcasts leave.
    pub broadcast: Broadcast,
    /// Time between queries about the other streams of a peer that did not know one; none: they are not
    /// checked. Microseconds.
    pub check_interval: Option<u32>,
    /// Time until the registers of a node that is not ready are read again. Microseconds.
    pub register_interval: u32,
}

impl Config {
    /// A node that speaks these protocols, with the defaults of the annex.
    #[must_use]
    pub fn new(node: u16, contact: Contact, offers: Vec<Offer>) -> Self {
        Self {
            node,
            contact,
            second: None,
            assumed: None,
            mode: Mode::NonValidation,
            algorithm: Algorithm::Corrected,
            max_records: 1 << 16,
            offers,
            advertises: true,
            type9_data: true,
            data_mailbox: None,
            user_commands: Vec::new(),
            first_number: 0,
            first_stream: 0,
            vendor_streams: Vec::new(),
            max_streams: APPLICATION_STREAMS,
            xon_timeout: XON_TIMEOUT_PERIOD,
            rts: true,
            pending_frames: 1,
            broadcast: Broadcast::Unicast,
            check_interval: Some(10_000),
            register_interval: 1_000_000,
        }
    }
}

impl Config {
    /// Where it takes management messages.
    fn contacts(&self) -> impl Iterator<Item = Contact> {
        [self.contact].into_iter().chain(self.second)
    }

    /// Whether this Type 9 stream is one of management messages.
    fn manages_on(&self, stream: u16) -> bool {
        self.contacts().any(|contact| matches!(contact, Contact::Stream { stream: own, .. } if own == stream))
    }

    /// The mailbox for management messages, if there is one.
    fn mailbox(&self) -> Option<u8> {
        self.contacts().find_map(|contact| match contact {
            Contact::Mailbox(mailbox) => Some(mailbox),
            Contact::Stream { .. } => None,
        })
    }
}

/// Why the application's wish cannot be met.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Refused {
    /// This node does not offer the protocol.
    Protocol,
    /// Registers of the peer say that it takes no part.
    NoParticipant,
    /// The peer has advertised that it does not support the protocol.
    Unsupported,
    /// A REQUEST to that peer is under way.
    Busy,
    /// No such stream is open.
    NoStream,
    /// The PDU is longer than the stream takes.
    TooLong {
        /// Octets that it takes.
        max: u64,
    },
    /// A field cannot hold a value.
    Field(EmitError),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protocol => write!(f, "protocol: not offered by this node"),
            Self::NoParticipant => write!(f, "peer: its registers say that it takes no part"),
            Self::Unsupported => write!(f, "protocol: the peer does not support it"),
            Self::Busy => write!(f, "REQUEST: one is under way to this peer"),
            Self::NoStream => write!(f, "stream: not open"),
            Self::TooLong { max } => write!(f, "PDU: at most {max} octets"),
            Self::Field(error) => write!(f, "{error}"),
        }
    }
}

impl core::error::Error for Refused {}

impl From<EmitError> for Refused {
    fn from(error: EmitError) -> Self {
        Self::Field(error)
    }
}

/// Numbers of what happened.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Messages taken in.
    pub received: u64,
    /// Malformed ones among them.
    pub malformed: u64,
    /// Messages dropped because the rules say so, or for want of room.
    pub dropped: u64,
    /// Messages handed out, by kind.
    pub opens: u64,
    /// ACCEPTs handed out.
    pub accepts: u64,
    /// REFUSEs handed out.
    pub refuses: u64,
    /// CLOSEs handed out.
    pub closes: u64,
    /// All messages handed out.
    pub sent: u64,
    /// Repetitions among them.
    pub retransmissions: u64,
    /// Receive streams allocated.
    pub allocated: u64,
}

/// What is known of the way to a peer.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
enum Reach {
    /// Its registers were not read, or it is not ready.
    #[default]
    Unknown,
    /// They are being read.
    Asked,
    /// It takes messages there.
    At(Contact),
    /// It takes no part.
    None,
}

/// What is known of a peer.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
struct Peer {
    reach: Reach,
    /// Node-wide periods from its registers.
    retry: Option<u32>,
    timeout: Option<u32>,
    xon_timeout: Option<u32>,
    /// Attributes of protocols in its registers.
    defaults: Attributes,
    suspicion: Option<Suspicion>,
    /// It does not know REQUEST.
    mute: bool,
    /// Attributes that it has advertised, by protocol, and ProtoIDs that it does not support.
    advertised: Vec<(Protocol, Attributes)>,
    unsupported: Vec<u16>,
    /// Where the search for a free StreamID goes on, and how many are taken.
    next_stream: u16,
    /// Likewise in the vendor's range, from its beginning.
    next_vendor: u16,
    taken: u32,
    next_specific: u8,
    /// Requests and messages that wait for its contact.
    parked: Vec<RequestKey>,
    waiting: Vec<(Class, Vec<u8>)>,
    /// Protocols for which an intermediate value was refused.
    ends_only: Vec<Protocol>,
    /// Streams still to be checked.
    checks: VecDeque<StreamRef>,
}

/// One node.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Endpoint {
    config: Config,
    now: u64,
    next_number: u32,
    peers: BTreeMap<u16, Peer>,
    streams: BTreeMap<StreamRef, Stream>,
    /// Streams by (peer, Implementation-Specific) of DATA2.
    specifics: BTreeMap<(u16, u8), u16>,
    pairings: BTreeMap<(u16, Protocol), Pairing>,
    requests: BTreeMap<(u16, RequestKey), Request>,
    memory: Memory,
    /// Nothing: the PDU is lost, and what is left of it is passed over.
    reassembly: BTreeMap<ContextId, Option<Reassembly>>,
    contexts: BTreeMap<OutContextId, OutContext>,
    ready: VecDeque<OutContextId>,
    ethernet_peers: BTreeSet<u16>,
    /// OPENs for conduits that are longer than the peer takes, until their record knows.
    stillborn: Vec<u32>,
    high: VecDeque<Transmit>,
    low: VecDeque<Transmit>,
    events: VecDeque<Event>,
    timers: Timers,
    counters: Counters,
}

impl Endpoint {
    /// A node after reset.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let next_number = config.first_number;
        Self {
            config,
            now: 0,
            next_number,
            peers: BTreeMap::new(),
            streams: BTreeMap::new(),
            specifics: BTreeMap::new(),
            pairings: BTreeMap::new(),
            requests: BTreeMap::new(),
            memory: Memory::default(),
            reassembly: BTreeMap::new(),
            contexts: BTreeMap::new(),
            ready: VecDeque::new(),
            ethernet_peers: BTreeSet::new(),
            stillborn: Vec::new(),
            high: VecDeque::new(),
            low: VecDeque::new(),
            events: VecDeque::new(),
            timers: Timers::default(),
            counters: Counters::default(),
        }
    }

    // Verbs of the application.

    /// Asks a peer for its protocols, or for the attributes of one; `filter` names attributes to be told.
    ///
    /// # Errors
    /// [`Refused::Busy`] while another REQUEST to this peer is under way.
    pub fn request(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Option<u16>,
        filter: List<'_>,
    ) -> Result<(), Refused> {
        self.advance(now);
        if self.requests.contains_key(&(peer, RequestKey::Advertise)) {
            return Err(Refused::Busy);
        }
        self.check_reach(peer)?;
        if self.peers.get(&peer).is_some_and(|peer| peer.mute) {
            self.event(Event::RequestUnsupported { peer });
            return Ok(());
        }
        let protocol = protocol.unwrap_or(ALL_PROTOCOLS);
        let message = Message::Request(RequestMessage {
            source: self.config.node,
            destination: peer,
            cos: 0,
            protocol,
            attributes: filter,
        });
        let (octets, periods) = (message.to_vec()?, self.periods(peer));
        let detail = Detail::Advertise { protocol, whole: filter.is_empty() };
        self.submit(now, peer, RequestKey::Advertise, octets.into(), detail, periods);
        Ok(())
    }

    /// Asks for a stream to a peer, with the attributes of this node's offer, or with what they leave of the
    /// peer's ADVERTISE (§3.8.2). Returns the OPEN_MESSAGE_NUMBER.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn open(&mut self, now: u64, peer: u16, protocol: Protocol) -> Result<u32, Refused> {
        let (attributes, intermediate) = self.attributes_for(peer, protocol);
        self.open_with(now, peer, protocol, &attributes, intermediate)
    }

    /// What an OPEN to a peer carries, and whether a value inside a range is among it.
    fn attributes_for(&self, peer: u16, protocol: Protocol) -> (Attributes, bool) {
        let Some(offer) = self.offer(protocol) else { return Default::default() };
        let known = self.peers.get(&peer).map_or(&[][..], |peer| &peer.advertised);
        match known.iter().find(|(advertised, _)| *advertised == protocol) {
            None => self.with_defaults(peer, offer),
            Some((_, block)) => {
                let ends_only = self.ends_only(peer, protocol);
                let proposal = propose(offer, block.list(), offer.open.list(), ends_only);
                (proposal.attributes, proposal.intermediate)
            }
        }
    }

    /// What an OPEN to a peer carries that has not advertised the protocol: this node's wishes, and where
    /// the peer's registers say what it takes, what they leave of them (§5.2.5).
    fn with_defaults(&self, peer: u16, offer: &Offer) -> (Attributes, bool) {
        let known = self.peers.get(&peer).map(|peer| peer.defaults.list()).filter(|list| !list.is_empty());
        let Some(known) = known else { return (offer.open.clone(), false) };
        let (id, ends_only) = (offer.protocol.id(), self.ends_only(peer, offer.protocol));
        let (mut attributes, mut intermediate) = (Attributes::new(), false);
        for (kind, wish) in offer.open.list().kinds(id) {
            let block: Attributes =
                known.kinds(id).filter(|&(found, _)| found == kind).map(|(_, found)| found).collect();
            if block.is_empty() {
                attributes.push(wish);
                continue;
            }
            let one: Attributes = [wish].into_iter().collect();
            let proposal = propose(offer, block.list(), one.list(), ends_only);
            intermediate |= proposal.intermediate;
            // Of several mailboxes one is enough; a range gives one value too.
            proposal.attributes.list().iter().take(1).for_each(|attribute| attributes.push(attribute));
        }
        (attributes, intermediate)
    }

    /// Opens a conduit with attributes of the caller's, as [`propose`] makes them.
    /// `intermediate`: a value inside a range is among them.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn open_with(
        &mut self,
        now: u64,
        peer: u16,
        protocol: Protocol,
        attributes: &Attributes,
        intermediate: bool,
    ) -> Result<u32, Refused> {
        self.advance(now);
        self.offer(protocol).ok_or(Refused::Protocol)?;
        self.check_reach(peer)?;
        self.check_support(peer, protocol)?;
        Ok(self.send_open(now, peer, protocol, attributes, None, intermediate))
    }

    /// Whether only the ends of ranges may be proposed to a peer for a protocol.
    #[must_use]
    pub fn ends_only(&self, peer: u16, protocol: Protocol) -> bool {
        self.peers.get(&peer).is_some_and(|peer| peer.ends_only.contains(&protocol))
    }

    /// Wants a conduit with a peer. Returns whether an OPEN was sent: if there is a record already, it is
    /// that conduit.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn create_conduit(&mut self, now: u64, peer: u16, protocol: Protocol) -> Result<bool, Refused> {
        self.advance(now);
        self.offer(protocol).ok_or(Refused::Protocol)?;
        self.check_reach(peer)?;
        self.check_support(peer, protocol)?;
        let algorithm = self.config.algorithm;
        Ok(self.with_pairing(now, peer, protocol, |pairing, actions| pairing.create(algorithm, actions)))
    }

    /// Closes a stream, and with it its conduit.
    ///
    /// # Errors
    /// [`Refused::NoStream`].
    pub fn close(&mut self, now: u64, stream: StreamRef) -> Result<(), Refused> {
        self.advance(now);
        let protocol = self.streams.get(&stream).ok_or(Refused::NoStream)?.protocol;
        let StreamRef { peer, side, stream: id } = stream;
        if !self.with_pairing(now, peer, protocol, |pairing, actions| pairing.end(side, id, actions)) {
            self.close_stream(now, stream, Ending::Local);
        }
        Ok(())
    }

    /// Asks the peer by a STATUS query whether it has a stream.
    ///
    /// # Errors
    /// [`Refused::NoStream`].
    pub fn query(&mut self, now: u64, stream: StreamRef) -> Result<(), Refused> {
        self.advance(now);
        self.streams.get(&stream).ok_or(Refused::NoStream)?;
        self.send_query(now, stream);
        Ok(())
    }

    /// Sends a USERDEFINED command.
    ///
    /// # Errors
    /// [`Refused::Field`] for a code below 0xF0.
    pub fn send_user_defined(
        &mut self,
        now: u64,
        peer: u16,
        (code, cos): (u8, u8),
        stream: Option<u16>,
        data: &[u8],
    ) -> Result<(), Refused> {
        self.advance(now);
        let stream = stream.unwrap_or(NO_STREAM);
        let message = UserDefined::new(code, cos, self.config.node, stream, data)?;
        self.transmit(peer, Class::Low, Message::UserDefined(message).to_vec()?);
        Ok(())
    }

    /// Ends a suspicion, whatever its reason.
    pub fn clear_suspicion(&mut self, peer: u16) {
        if self.peer_mut(peer).suspicion.take().is_some() {
            self.event(Event::Cleared { peer });
        }
    }

    // What the outside world says.

    /// What the registers of a node say, with its node-wide attributes. A node that is not ready is asked for
    /// again later.
    pub fn handle_participation(
        &mut self,
        now: u64,
        peer: u16,
        participation: Participation,
        attributes: &Attributes,
    ) {
        self.advance(now);
        let (retry, timeout, xon_timeout) = crate::register::periods(attributes);
        let entry = self.peer_mut(peer);
        (entry.retry, entry.timeout, entry.xon_timeout) = (retry, timeout, xon_timeout);
        entry.defaults = crate::register::of_protocols(attributes);
        match participation {
            Participation::Ready(contact) => {
                entry.reach = Reach::At(contact);
                let (parked, waiting) =
                    (core::mem::take(&mut entry.parked), core::mem::take(&mut entry.waiting));
                for (class, octets) in waiting {
                    self.transmit(peer, class, octets);
                }
                for key in parked {
                    self.start_parked(now, peer, key);
                }
            }
            Participation::Initialising(_) => {
                entry.reach = Reach::Asked;
                let again = u64::from(self.config.register_interval) * MICROSECOND;
                self.timers.set(Timer::Registers(peer), now.saturating_add(again));
            }
            Participation::None | Participation::Unusable => {
                entry.reach = Reach::None;
                entry.waiting = Vec::new();
                for key in core::mem::take(&mut entry.parked) {
                    self.drop_parked(now, peer, key);
                }
            }
        }
    }

    /// An OPEN may turn out to be longer than the contact takes.
    fn start_parked(&mut self, now: u64, peer: u16, key: RequestKey) {
        let max = self.contact(peer).map_or(0, Contact::max_message);
        let fits = self.requests.get(&(peer, key)).is_none_or(|request| request.octets.len() <= max);
        if fits {
            self.start(now, peer, key);
        } else if let Some(request) = self.requests.remove(&(peer, key)) {
            self.request_lost(now, peer, key, request.detail, OpenFailure::TooLong);
        }
    }

    fn drop_parked(&mut self, now: u64, peer: u16, key: RequestKey) {
        if let Some(request) = self.requests.remove(&(peer, key)) {
            self.request_lost(now, peer, key, request.detail, OpenFailure::NoParticipant);
        }
    }

    fn request_lost(&mut self, now: u64, peer: u16, key: RequestKey, detail: Detail, why: OpenFailure) {
        match (key, detail) {
            (RequestKey::Open(number), Detail::Open { protocol, conduit, .. }) => {
                self.open_failed(now, peer, protocol, number, conduit, why);
            }
            (RequestKey::Advertise, _) => self.event(Event::RequestFailed { peer }),
            _ => {}
        }
    }

    /// Wants to know what the registers of a node say, if it does not know already (§3.3: a scan for
    /// participants): [`Event::ReadRegisters`] follows. Whether it is known already where the node takes
    /// messages.
    pub fn look_at(&mut self, peer: u16) -> bool {
        self.ask_registers(peer);
        self.contact(peer).is_some()
    }

    /// Does what is due.
    pub fn handle_timeout(&mut self, now: u64) {
        self.advance(now);
        while let Some(timer) = self.timers.pop(now) {
            match timer {
                Timer::Request(peer, key) => self.request_due(now, peer, key),
                Timer::Watch(peer, protocol) => self.watch_due(now, peer, protocol),
                Timer::Xon(stream) => self.xon_due(now, stream),
                Timer::Refresh(stream) => self.refresh_due(now, stream),
                Timer::Rts(stream) => self.rts_due(now, stream),
                Timer::Check(peer) => self.check_due(now, peer),
                Timer::Registers(peer) => self.event(Event::ReadRegisters { peer }),
            }
        }
    }

    // Outputs.

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.timers.next()
    }

    /// The next message: high class first, then low, then data, context by context.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        let next = self.high.pop_front().or_else(|| self.low.pop_front());
        let next = match next {
            Some(next) => next,
            None => self.next_data()?,
        };
        self.counters.sent += 1;
        Some(next)
    }

    /// The next message other than data of streams, for owners that hold data back while earlier data is
    /// under way: what they have handed on no XOFF stops.
    pub fn poll_control(&mut self) -> Option<Transmit> {
        let next = self.high.pop_front().or_else(|| self.low.pop_front())?;
        self.counters.sent += 1;
        Some(next)
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    // Getters.

    /// How the node is set up.
    #[must_use]
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Open streams, by peer.
    pub fn streams(&self) -> impl Iterator<Item = (StreamRef, Protocol)> + '_ {
        self.streams.iter().map(|(&stream, open)| (stream, open.protocol))
    }

    /// Whether a stream is open.
    #[must_use]
    pub fn is_open(&self, stream: StreamRef) -> bool {
        self.streams.contains_key(&stream)
    }

    /// The protocol of a stream, if it is open.
    #[must_use]
    pub fn protocol(&self, stream: StreamRef) -> Option<Protocol> {
        self.streams.get(&stream).map(|open| open.protocol)
    }

    /// The attributes that govern a stream.
    #[must_use]
    pub fn agreed(&self, stream: StreamRef) -> Option<List<'_>> {
        self.streams.get(&stream).map(|open| open.attributes.list())
    }

    /// Records of conduits with a peer.
    #[must_use]
    pub fn records(&self, peer: u16, protocol: Protocol) -> &[Record] {
        self.pairings.get(&(peer, protocol)).map_or(&[], Pairing::records)
    }

    /// Records of conduits, by peer and protocol.
    pub fn conduits(&self) -> impl Iterator<Item = (u16, Protocol, &[Record])> + '_ {
        self.pairings.iter().map(|(&(peer, protocol), pairing)| (peer, protocol, pairing.records()))
    }

    /// OPEN_MESSAGE_NUMBER of the next OPEN.
    #[must_use]
    pub const fn next_number(&self) -> u32 {
        self.next_number
    }

    /// Why a peer is suspect, if it is.
    #[must_use]
    pub fn suspicion(&self, peer: u16) -> Option<Suspicion> {
        self.peers.get(&peer)?.suspicion
    }

    /// Whether a CLOSE of a stream is not answered yet.
    #[must_use]
    pub fn is_closing(&self, stream: StreamRef) -> bool {
        self.requests.contains_key(&(stream.peer, RequestKey::Close(stream.side, stream.stream)))
    }

    /// Requests that are not answered yet.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.requests.len()
    }

    // Common to all parts.

    /// Time goes on; what is remembered for too long is forgotten.
    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        for (peer, returned) in self.memory.forget(self.now) {
            let taken = &mut self.peer_mut(peer).taken;
            *taken = taken.saturating_sub(returned);
        }
    }

    fn event(&mut self, event: Event) {
        self.events.push_back(event);
    }

    fn peer_mut(&mut self, peer: u16) -> &mut Peer {
        let first = self.config.first_stream;
        self.peers.entry(peer).or_insert_with(|| Peer { next_stream: first, ..Peer::default() })
    }

    fn offer(&self, protocol: Protocol) -> Option<&Offer> {
        self.config.offers.iter().find(|offer| offer.protocol == protocol)
    }

    fn contact(&self, peer: u16) -> Option<Contact> {
        match self.peers.get(&peer).map(|peer| peer.reach) {
            Some(Reach::At(contact)) => Some(contact),
            _ => self.config.assumed,
        }
    }

    fn check_reach(&self, peer: u16) -> Result<(), Refused> {
        match self.peers.get(&peer).map(|peer| peer.reach) {
            Some(Reach::None) => Err(Refused::NoParticipant),
            _ => Ok(()),
        }
    }

    fn check_support(&self, peer: u16, protocol: Protocol) -> Result<(), Refused> {
        let not = self.peers.get(&peer).is_some_and(|peer| peer.unsupported.contains(&protocol.id()));
        if not { Err(Refused::Unsupported) } else { Ok(()) }
    }

    /// Retry and timeout period for REQUEST and OPEN to a peer, in microseconds.
    fn periods(&self, peer: u16) -> (u32, u32) {
        let peer = self.peers.get(&peer);
        let retry = peer.and_then(|peer| peer.retry).unwrap_or(RETRY_PERIOD);
        (retry, peer.and_then(|peer| peer.timeout).unwrap_or(TIMEOUT_PERIOD))
    }

    /// How long a source waits after XOFF of a peer that says nothing more.
    fn xon_period(&self, peer: u16) -> u32 {
        self.peers.get(&peer).and_then(|peer| peer.xon_timeout).unwrap_or(XON_TIMEOUT_PERIOD)
    }

    /// The data source of a stream: SourceID of the messages about it.
    const fn source_of(&self, stream: StreamRef) -> u16 {
        match stream.side {
            Side::Receive => stream.peer,
            Side::Transmit => self.config.node,
        }
    }

    fn ask_registers(&mut self, peer: u16) {
        let entry = self.peer_mut(peer);
        if entry.reach == Reach::Unknown {
            entry.reach = Reach::Asked;
            self.event(Event::ReadRegisters { peer });
        }
    }

    /// Hands a control message out, or keeps it until the contact of the peer is known.
    fn transmit(&mut self, peer: u16, class: Class, octets: Vec<u8>) {
        let Some(contact) = self.contact(peer) else {
            let entry = self.peer_mut(peer);
            if entry.reach == Reach::None || entry.waiting.len() >= MAX_PARKED {
                self.counters.dropped += 1;
            } else {
                entry.waiting.push((class, octets));
                self.ask_registers(peer);
            }
            return;
        };
        match octets.first().copied().and_then(Command::from_code) {
            Some(Command::Open) => self.counters.opens += 1,
            Some(Command::Accept) => self.counters.accepts += 1,
            Some(Command::Refuse) => self.counters.refuses += 1,
            Some(Command::Close) => self.counters.closes += 1,
            _ => {}
        }
        let order = Order::Free;
        let message = Transmit { destination: peer, conveyance: contact, class, order, stream: None, octets };
        match class {
            Class::High => self.high.push_back(message),
            Class::Low => self.low.push_back(message),
        }
    }

    fn send(&mut self, peer: u16, message: &Message<'_>) {
        match message.to_vec() {
            Ok(octets) => self.transmit(peer, message.command().class(), octets),
            Err(_) => self.counters.dropped += 1,
        }
    }

    fn suspect(&mut self, peer: u16, why: Suspicion) {
        let suspicion = &mut self.peer_mut(peer).suspicion;
        if suspicion.is_none_or(|before| before < why) {
            *suspicion = Some(why);
            self.event(Event::Suspect { peer, why });
        }
    }

    /// The own MAC address, if this node speaks Ethernet.
    fn mac(&self) -> Option<Attribute> {
        let offer = self.offer(Protocol::ETHERNET)?;
        offer.open.list().find(offer.protocol.id(), Kind::MacAddress)
    }

    /// Whether ACCEPT may hand a StreamID out.
    fn is_free(&self, peer: u16, stream: u16) -> bool {
        let stream_ref = StreamRef::receive(peer, stream);
        !self.config.manages_on(stream)
            && stream != BROADCAST_STREAM
            && !self.config.vendor_streams.contains(&stream)
            && !self.streams.contains_key(&stream_ref)
            && !self.memory.rests(stream_ref)
    }

    /// A free StreamID for data from `peer`: one for applications, or of the vendor's range if that is the
    /// rule of its protocol (§3.5.2.5).
    fn allocate(&mut self, peer: u16, protocol: Protocol) -> Option<u16> {
        let max = u32::from(self.config.max_streams.min(APPLICATION_STREAMS));
        let vendor = self.offer(protocol).is_some_and(|offer| offer.vendor_streams);
        let (least, end) =
            if vendor { (APPLICATION_STREAMS, BROADCAST_STREAM) } else { (0, APPLICATION_STREAMS) };
        let entry = self.peer_mut(peer);
        if entry.taken >= max {
            return None;
        }
        let first = match vendor {
            true => least + entry.next_vendor % (end - least),
            false => entry.next_stream,
        };
        let mut stream = first;
        loop {
            let next = if stream + 1 >= end { least } else { stream + 1 };
            if self.is_free(peer, stream) {
                let entry = self.peer_mut(peer);
                match vendor {
                    true => entry.next_vendor = next - least,
                    false => entry.next_stream = next,
                }
                entry.taken += 1;
                self.counters.allocated += 1;
                return Some(stream);
            }
            stream = next;
            if stream == first {
                return None;
            }
        }
    }
}
