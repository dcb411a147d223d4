//! Measurement points: the only way in which observers see a running fabric.
//!
//! A [`Probe`] receives values and shared references; it cannot change the simulation, and results with any
//! probe are equal to results with none. Reports may come out of time order (lazily consumed deliveries), so
//! each carries its own time and collectors must not depend on the order of calls.

use sim_core::Time;

/// Where a picosecond of a packet's latency went. Every picosecond has exactly one cause.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// Waiting at the source behind other packets or for the source's own link.
    SourceQueue = 0,
    /// Storing and forwarding, rate mismatch, and the last link once.
    Serialization = 1,
    /// Cable and physical layers.
    Propagation = 2,
    /// Fixed latency of switches.
    Pipeline = 3,
    /// The target was open, but the input was being read for another packet, the packet was behind in its
    /// queue, or the tick of the switch's cell clock had not come.
    InputContention = 4,
    /// The transmitter was busy with other packets or symbols.
    OutputContention = 5,
    /// Behind a packet for another target in a shared queue while the own target was open.
    HeadOfLine = 6,
    /// Held by VoQ backpressure.
    Staged = 7,
    /// No credit: the neighbour has no buffer for the priority.
    NoBuffer = 8,
    /// Link retry or error recovery.
    Recovery = 9,
    /// As many packets are unacknowledged as there are ackIDs: nothing may start, whatever buffers there are.
    NoAckId = 10,
    /// Waiting and service at a host (of messages only: packets end at the port).
    Host = 11,
    /// What the protocol above takes: letters, windows, retries, flow control, its answer (of messages only).
    Protocol = 12,
}

impl Cause {
    /// All causes, in index order.
    pub const ALL: [Cause; 13] = [
        Cause::SourceQueue,
        Cause::Serialization,
        Cause::Propagation,
        Cause::Pipeline,
        Cause::InputContention,
        Cause::OutputContention,
        Cause::HeadOfLine,
        Cause::Staged,
        Cause::NoBuffer,
        Cause::Recovery,
        Cause::NoAckId,
        Cause::Host,
        Cause::Protocol,
    ];

    /// Name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::SourceQueue => "source queue",
            Cause::Serialization => "serialization",
            Cause::Propagation => "propagation",
            Cause::Pipeline => "pipeline",
            Cause::InputContention => "input contention",
            Cause::OutputContention => "output contention",
            Cause::HeadOfLine => "head-of-line blocking",
            Cause::Staged => "staged by backpressure",
            Cause::NoBuffer => "no downstream buffer",
            Cause::Recovery => "link retry or recovery",
            Cause::NoAckId => "no free ackID",
            Cause::Host => "host",
            Cause::Protocol => "flow-controlled by protocol",
        }
    }
}

/// Picoseconds by cause; index with [`Cause`].
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parts {
    /// By cause; the causes exclude each other.
    pub causes: [u64; 13],
    /// *Source time*: what of their sum passed at the source, before the first bit left on the injection link
    /// for the first time, whatever the causes. What comes after it is network latency.
    pub source: u64,
}

impl Parts {
    /// Sum of all causes = the packet's latency.
    #[inline]
    pub fn total(&self) -> u64 {
        self.causes.iter().sum()
    }
}

impl std::ops::Index<Cause> for Parts {
    type Output = u64;
    fn index(&self, cause: Cause) -> &u64 {
        &self.causes[cause as usize]
    }
}

impl std::ops::IndexMut<Cause> for Parts {
    fn index_mut(&mut self, cause: Cause) -> &mut u64 {
        &mut self.causes[cause as usize]
    }
}

/// A packet was created at a source.
#[derive(Copy, Clone, Debug)]
pub struct Offered {
    /// Creation.
    pub at: Time,
    /// Flow index.
    pub flow: u16,
    /// Device index of the source.
    pub source: u32,
    /// Payload octets.
    pub payload: u32,
    /// Picoseconds of the injection link that the packet with its delimiter takes.
    pub link_ps: u64,
}

/// A packet's last bit arrived at its destination.
#[derive(Copy, Clone, Debug)]
pub struct Delivery {
    /// Arrival of the last bit.
    pub at: Time,
    /// Creation at the source.
    pub created: Time,
    /// Flow index.
    pub flow: u16,
    /// Priority; of packets of VC1 to VC8 it is [`vc_priority`](crate::config::vc_priority).
    pub priority: u8,
    /// Device index of the source.
    pub source: u32,
    /// Device index of the destination.
    pub destination: u32,
    /// Position among the packets of its traffic source: 0, 1, 2 ...
    pub sequence: u64,
    /// Payload octets.
    pub payload: u32,
    /// Picoseconds of the injection link that the packet with its delimiter took.
    pub link_ps: u64,
    /// Where the time went; `parts.total() == at - created`.
    pub parts: Parts,
}

impl Delivery {
    /// The way of the packet that was delivered.
    pub(crate) fn journey(&self) -> Journey {
        Journey {
            at: self.at,
            created: self.created,
            flow: self.flow,
            priority: self.priority,
            source: self.source,
            destination: self.destination,
            sequence: self.sequence,
            payload: self.payload,
            parts: self.parts,
        }
    }
}

impl Delivery {
    /// Source creation to last bit at the destination, picoseconds.
    pub fn latency(&self) -> u64 {
        self.at.0 - self.created.0
    }

    /// First bit on the injection link (of the first transmission, if there were several) to last bit at the
    /// destination, picoseconds: latency without source time.
    pub fn network_latency(&self) -> u64 {
        self.latency() - self.parts.source
    }
}

/// The way of a message, a PDU or a doorbell from protocol to protocol, or there and back.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Journey {
    /// Handed to the protocol at its end.
    pub at: Time,
    /// Sent by the protocol at its beginning.
    pub created: Time,
    /// Flow index.
    pub flow: u16,
    /// Priority of its packets (of a round trip: of the answer's).
    pub priority: u8,
    /// Device index where it began.
    pub source: u32,
    /// Device index where it ended.
    pub destination: u32,
    /// Position among what the source sent: 0, 1, 2 ...
    pub sequence: u64,
    /// Octets, padding not counted (of a round trip: those that count for its user, there and back).
    pub payload: u32,
    /// Where the time went: everything up to the creation of its last-delivered packet, the parts of that
    /// packet, the host; `parts.total() == at - created`.
    pub parts: Parts,
}

impl Journey {
    /// What fingerprints know it by: its sequence and its source.
    pub(crate) fn word(&self) -> u64 {
        self.sequence << 32 | u64::from(self.source)
    }

    /// From protocol to protocol, picoseconds.
    pub fn latency(&self) -> u64 {
        self.at.0 - self.created.0
    }

    /// From protocol to protocol without the source time of its last-delivered packet, and without what
    /// type 9 waited in the source queue before it (of a round trip: in both directions), picoseconds.
    pub fn network_latency(&self) -> u64 {
        self.latency() - self.parts.source
    }
}

/// What happened in the layers above packets.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ProtocolFact {
    /// A receiver answered RETRY: its queue was full.
    Retried = 0,
    /// A receiver discarded a PDU of type 9.
    Discarded = 1,
    /// A receiver gave up a message of which segments were missing, or refused one.
    Abandoned = 2,
    /// A message, doorbell, read or write failed: ERROR, or no answer in time.
    Failed = 3,
    /// An answer did not come in time.
    TimedOut = 4,
    /// A conduit of session management is complete at this end.
    ConduitOpen = 5,
    /// It has ended at this end.
    ConduitEnded = 6,
    /// A LINX connection is up at this end.
    Connected = 7,
    /// It has ended at this end.
    Disconnected = 8,
    /// An OPEN of session management came to nothing, or the peer takes none.
    OpenFailed = 9,
    /// An answer that came late was taken for that of another request, which has its transaction ID now: who
    /// asked cannot tell.
    Mistaken = 10,
}

impl ProtocolFact {
    /// All facts, in index order.
    pub const ALL: [ProtocolFact; FACTS] = [
        ProtocolFact::Retried,
        ProtocolFact::Discarded,
        ProtocolFact::Abandoned,
        ProtocolFact::Failed,
        ProtocolFact::TimedOut,
        ProtocolFact::ConduitOpen,
        ProtocolFact::ConduitEnded,
        ProtocolFact::Connected,
        ProtocolFact::Disconnected,
        ProtocolFact::OpenFailed,
        ProtocolFact::Mistaken,
    ];
}

/// Kinds of [`ProtocolFact`].
pub const FACTS: usize = 11;

/// A [`ProtocolFact`] with its circumstances.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProtocolEvent {
    /// When.
    pub at: Time,
    /// Flow index.
    pub flow: u16,
    /// Device index where it happened.
    pub device: u32,
    /// What.
    pub fact: ProtocolFact,
}

/// What somebody waited for in vain, as far as it is known why.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TimeoutKind {
    /// A sign of life of a LINX peer that had crashed: the connection ends, as it should.
    PeerCrashed = 0,
    /// Likewise of one to which the way was broken, or where an end did not want the connection any more.
    WayBroken = 1,
    /// Likewise of one that was there, on a way that was whole: a false alarm.
    PeerThere = 2,
    /// An answer of a LINX peer to an attempt to connect.
    Connect = 3,
    /// An answer to OPEN of session management.
    Open = 4,
    /// An answer to a query about a stream of session management: it ends.
    Query = 5,
    /// XOFF, which whoever stops a stream of session management repeats: the stream goes on.
    Xoff = 6,
    /// An answer in an operation of Scheduled Transfer (Op_timeout).
    Operation = 7,
    /// Likewise, for the last time: a Transfer is given up.
    Transfer = 8,
    /// An answer that an application waits for (`rpc`, `echo`).
    Answer = 9,
    /// A response to a request of the logical layer.
    Response = 10,
    /// A response to an access to a register.
    Register = 11,
    /// A place at the receiver of a message: it answered RETRY, or others went first, until the patience of
    /// the sender was over.
    Place = 12,
    /// The rest of a message or a PDU, of which segments had come.
    Segments = 13,
    /// The acknowledgement of a packet on a link.
    Acknowledgement = 14,
    /// A link-response.
    LinkResponse = 15,
    /// A symbol with the state of the receive buffers, which comes now and then on a sound link.
    Status = 16,
    /// Blocks of a Scheduled Transfer that their destination had enabled.
    Blocks = 17,
}

impl TimeoutKind {
    /// All kinds, in index order.
    pub const ALL: [TimeoutKind; 18] = [
        TimeoutKind::PeerCrashed,
        TimeoutKind::WayBroken,
        TimeoutKind::PeerThere,
        TimeoutKind::Connect,
        TimeoutKind::Open,
        TimeoutKind::Query,
        TimeoutKind::Xoff,
        TimeoutKind::Operation,
        TimeoutKind::Transfer,
        TimeoutKind::Answer,
        TimeoutKind::Response,
        TimeoutKind::Register,
        TimeoutKind::Place,
        TimeoutKind::Segments,
        TimeoutKind::Acknowledgement,
        TimeoutKind::LinkResponse,
        TimeoutKind::Status,
        TimeoutKind::Blocks,
    ];
}

/// Somebody waits no longer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// When.
    pub at: Time,
    /// Flow index; `None`: of a link, which is nobody's.
    pub flow: Option<u16>,
    /// Device index of who waited.
    pub device: u32,
    /// For what.
    pub kind: TimeoutKind,
}

/// Why a packet was dropped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// The routing table says drop, or the id is not routed.
    Unroutable,
    /// A multicast mask without a port.
    EmptyMask,
    /// No receive buffer where senders do not wait for one: Ethernet, and continuous traffic of virtual
    /// channels.
    NoRoom,
    /// Continuous traffic that an error on a link took; it is not sent again.
    LinkError,
}

/// Something that belongs into a message sequence chart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// When.
    pub at: Time,
    /// Flow index.
    pub flow: u16,
    /// Device index.
    pub device: u32,
    /// What.
    pub kind: SignalKind,
}

/// What a [`Signal`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// A message was handed to the host.
    Sent {
        /// Its name at this device.
        token: u64,
        /// Id of the receiver.
        to: u16,
        /// When the protocol wanted to send it.
        since: Time,
        /// What it says.
        words: String,
    },
    /// A message was handed to the protocol.
    Arrived {
        /// Its name at its sender.
        token: u64,
        /// Device index of the sender.
        source: u32,
    },
    /// A message never leaves.
    Lost {
        /// Id of the receiver.
        to: u16,
        /// What it says.
        words: String,
    },
    /// Something happened at this device.
    Note {
        /// What.
        words: String,
    },
    /// An Ethernet frame was handed to the host.
    Frame {
        /// From the destination address on, without frame check sequence.
        octets: Vec<u8>,
    },
}

/// A packet was dropped.
#[derive(Copy, Clone, Debug)]
pub struct Dropped {
    /// When.
    pub at: Time,
    /// Flow index.
    pub flow: u16,
    /// Device index where it was dropped.
    pub device: u32,
    /// Endpoints that do not get it: of a packet that switches copy those behind this place, else 1.
    pub members: u64,
    /// Why.
    pub reason: DropReason,
}

/// A staging queue stopped or was released.
#[derive(Copy, Clone, Debug)]
pub struct StagingEdge {
    /// When the message was applied.
    pub at: Time,
    /// Device that stages.
    pub device: u32,
    /// Its egress port.
    pub port: u8,
    /// Virtual channel of the link whose queue it is, counted from 1; 0 = VC0.
    pub channel: u8,
    /// Staging queue.
    pub queue: u8,
    /// `true` = stopped (XOFF), `false` = released (XON).
    pub stopped: bool,
}

/// Names a packet for the whole run. The copies of a multicast packet share the name.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId {
    /// Device index of who made it.
    pub source: u32,
    /// Which of its sources made it; the largest numbers stand for agents and registers.
    pub origin: u16,
    /// Position among the packets of that source: 0, 1, 2 ...
    pub sequence: u32,
}

/// A step in the life of a packet.
#[derive(Copy, Clone, Debug)]
pub enum PacketStep {
    /// It was created, and joined the injection queue.
    Created {
        /// Destination id.
        destination: u32,
        /// Flow index.
        flow: u16,
        /// Priority; of packets of VC1 to VC8 it is [`vc_priority`](crate::config::vc_priority).
        priority: u8,
        /// Payload octets.
        payload: u16,
        /// Octets on the wire.
        wire: u16,
    },
    /// A transmitter committed it to the wire.
    Started {
        /// Device index.
        device: u32,
        /// Port through which it leaves.
        port: u8,
        /// When its last character leaves, if nothing cuts it short.
        ends: Time,
        /// Its link sends it again.
        again: bool,
        /// When the next device may do something with it: its pipeline is done, or the last bit is there.
        until: Time,
        /// Where the time from its creation to `until` went. (A packet that a cut-through switch has to store
        /// after all gets the rest with its next step, and so does a message that other virtual channels pass
        /// on its link: `until` is when it were there without them.)
        parts: Parts,
    },
    /// Its transmission ends early, at this instant: the link is lost, or recovers and sends it again. If
    /// that is not behind its start there, it does not begin: something came in between. Of two the earlier
    /// counts.
    Cut {
        /// Device index.
        device: u32,
        /// Port through which it was leaving.
        port: u8,
    },
    /// It ended at a device.
    Ended {
        /// Device index.
        device: u32,
        /// Where its time went; `None`: it was dropped.
        parts: Option<Parts>,
    },
}

/// Octets that leave a transmitter of a RapidIO link.
#[derive(Copy, Clone, Debug)]
pub struct Crossing<'a> {
    /// First bit of the octets.
    pub at: Time,
    /// Device index.
    pub device: u32,
    /// Port through which they leave.
    pub port: u8,
    /// As they are sent.
    pub octets: &'a [u8],
    /// What they are.
    pub what: Crossed,
}

/// What crosses a link.
#[derive(Copy, Clone, Debug)]
pub enum Crossed {
    /// A packet with its CRCs, without delimiters.
    Packet {
        /// Its name.
        id: PacketId,
        /// Flow index.
        flow: u16,
        /// Staging queue that it was in; `None`: no message stops such packets here.
        queue: Option<u8>,
        /// Octets without CRCs and padding.
        body: u16,
        /// A traffic source made it: only its first two octets and its CRCs are those of a real packet, then
        /// come the id of its destination and its number in four octets each, then filler.
        filler: bool,
        /// It has left before, and is sent again.
        again: bool,
        /// The link damages it.
        damaged: bool,
        /// Where the time from its creation went, until it is at the next device.
        parts: Parts,
    },
    /// A control symbol with its delimiters, of a link in symbol granularity.
    Symbol {
        /// The link damages it, or nobody hears the VoQ message on it.
        damaged: bool,
    },
    /// The 14 stype2 bits of a VoQ message in two octets. In packet granularity nobody knows the rest of its
    /// symbol.
    Message {
        /// It is lost.
        damaged: bool,
    },
}

/// A step of a register access through the fabric.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum RegisterStep {
    /// The request joined the injection queue of who asks.
    Asked {
        /// The request.
        packet: PacketId,
        /// Destination id of the packet.
        destination: u32,
        /// Switches that it shall pass.
        hop_count: u8,
        /// Byte offset of the register.
        offset: u32,
        /// What is to be written; `None` = it is read.
        write: Option<u32>,
    },
    /// The device that was asked carried it out, and made the response.
    CarriedOut {
        /// Id of who asks.
        source: u32,
        /// Device index of who asks.
        asker: u32,
        /// Port through which the request came.
        port: u8,
        /// Byte offset of the register.
        offset: u32,
        /// Extended features block: its id, and the offset in it.
        block: Option<(u16, u32)>,
        /// What was read or written.
        value: u32,
        /// It was a write.
        write: bool,
    },
    /// The response reached who asked.
    Answered {
        /// ERROR instead of DONE.
        error: bool,
    },
}

/// A [`RegisterStep`] with its circumstances.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegisterEvent {
    /// When.
    pub at: Time,
    /// Device index where it happened.
    pub device: u32,
    /// Transaction id: with who asks it joins the steps of one access.
    pub tid: u8,
    /// Flow of the request.
    pub flow: u16,
    /// What.
    pub step: RegisterStep,
}

/// What a sample sees. All values are packets.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// When.
    pub at: Time,
    /// When the one before was, 0 if this is the first.
    pub since: Time,
    /// `(device, port)` of every entry below, fixed during a run.
    pub ports: std::sync::Arc<Vec<(u32, u8)>>,
    /// Packets in the receive buffers of the port, times the picoseconds that they were there since the last
    /// sample. Divided by the time since then it is their mean number.
    pub input_ps: Vec<u64>,
    /// Likewise packets of this device that waited for the port's transmitter (endpoints: the injection
    /// queue).
    pub waiting_ps: Vec<u64>,
    /// Packets held in the receive buffers of the port.
    pub input_occupancy: Vec<u32>,
    /// Packets of this device that wait for the port's transmitter (endpoints: the injection queue).
    pub output_waiting: Vec<u32>,
    /// Time that the transmitter of the port has carried packets, picoseconds; the one that it carries now
    /// counts as a whole.
    pub carried_ps: Vec<u64>,
    /// Packets created so far.
    pub injected: u64,
    /// Additional copies made by multicast so far.
    pub replicated: u64,
    /// Packets delivered so far.
    pub delivered: u64,
    /// Packets dropped so far.
    pub dropped: u64,
    /// Packets that exist now.
    pub in_flight: u64,
    /// Packets that existed, times the picoseconds that they did since the last sample.
    pub in_flight_ps: u64,
}

impl Sample {
    /// One at `at` that has seen nothing yet.
    pub(crate) fn begin(&mut self, at: Time) {
        (self.since, self.at) = (self.at, at);
        self.input_ps.clear();
        self.waiting_ps.clear();
        self.input_occupancy.clear();
        self.output_waiting.clear();
        self.carried_ps.clear();
        for count in [&mut self.injected, &mut self.replicated, &mut self.delivered, &mut self.dropped] {
            *count = 0;
        }
        (self.in_flight, self.in_flight_ps) = (0, 0);
    }
}

/// An observer. Every method has an empty default, so a probe names only what it needs.
pub trait Probe {
    /// Whether [`packet`](Self::packet) is called: every packet has several steps in every device. Asked
    /// once, when the run begins.
    fn follows_packets(&self) -> bool {
        false
    }
    /// Whether steps of different devices may be told in any order, as far as their times tell it: what an
    /// endpoint does may then be made up later. Asked once, when the run begins.
    fn follows_in_any_order(&self) -> bool {
        false
    }
    /// A step in the life of a packet.
    fn packet(&mut self, _at: Time, _id: PacketId, _step: &PacketStep) {}
    /// Whether [`crossing`](Self::crossing) is called: then all that crosses a RapidIO link is written as
    /// octets. Asked once, when the run begins.
    fn follows_wire(&self) -> bool {
        false
    }
    /// Octets leave a transmitter.
    fn crossing(&mut self, _crossing: &Crossing<'_>) {}
    /// A packet was created.
    fn offered(&mut self, _offered: &Offered) {}
    /// A packet arrived.
    fn delivered(&mut self, _delivery: &Delivery) {}
    /// A packet was dropped.
    fn dropped(&mut self, _dropped: &Dropped) {}
    /// A message, a PDU or a doorbell was handed to a protocol.
    fn message(&mut self, _message: &Journey) {}
    /// An answer was handed to who had asked.
    fn round_trip(&mut self, _whole: &Journey) {}
    /// A step of a register access through the fabric.
    fn register(&mut self, _event: &RegisterEvent) {}
    /// Something happened above packets.
    fn protocol_event(&mut self, _event: &ProtocolEvent) {}
    /// Somebody waits no longer.
    fn timeout(&mut self, _timeout: &Timeout) {}
    /// A message of a protocol whose flow is charted, or a note about it.
    fn signal(&mut self, _signal: &Signal) {}
    /// A staging queue changed.
    fn staging_edge(&mut self, _edge: &StagingEdge) {}
    /// Periodic observation (`sample_every`).
    fn sample(&mut self, _sample: &Sample) {}
}

/// An observer of which each part of a fabric that is cut can have one; together they come to what one would
/// have come to.
pub trait Share: Probe + Send + Sized {
    /// An observer for a part, which has seen nothing; before anything happens.
    #[must_use]
    fn part(&self) -> Self;
    /// The next that this observer, that of the whole, is told of is a sample. `parts` have been told of
    /// everything before it.
    fn before_sample(&mut self, _parts: &[&Self]) {}
    /// The run is over: adds what the observer of a part was told.
    fn join(&mut self, part: Self);
}

/// Observes nothing.
impl Probe for () {}

impl Share for () {
    fn part(&self) -> Self {}
    fn join(&mut self, (): Self) {}
}
