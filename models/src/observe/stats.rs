//! Totals that the fabric keeps for itself and hands out after a run.

pub(crate) mod linx;
pub(crate) mod program;
pub(crate) mod transfer;
pub(crate) mod translator;

use crate::observe::probe::FACTS;
use crate::observe::totals::FlowTotals;
pub use linx::{GAP_CLASSES, GAP_PARTS, LinxEnd, LinxStats, LinxTotals, Times};
pub use program::{CourierStats, ProgramTotals};
use sim_core::Time;
pub use transfer::{FrameCount, RankStats, TransferEnd, TransferStats, TransferTotals};
pub use translator::{TranslatorPart, TranslatorStats, TranslatorTotals};

/// Totals of one port of one device since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets whose transmission started.
    pub packets_sent: u64,
    /// Picoseconds in which the transmitter carried packets with their delimiters, repetitions included.
    pub packet_ps: u64,
    /// Picoseconds in which the transmitter carried symbols of their own (acknowledgements, status, messages,
    /// closing delimiters).
    pub symbol_ps: u64,
    /// Acknowledgement and status symbols that rode on a delimiter.
    pub status_riding: u64,
    /// Acknowledgement and status symbols that needed their own characters.
    pub status_standalone: u64,
    /// VoQ messages that rode on a symbol that was sent anyway.
    pub voq_riding: u64,
    /// VoQ messages that needed their own symbol.
    pub voq_standalone: u64,
    /// VoQ messages received through this port and applied.
    pub voq_received: u64,
    /// VoQ messages lost on purpose on their way from this port.
    pub voq_lost: u64,
    /// Losses of VoQ messages by number that struck; two may strike one message.
    pub voq_struck: u64,
    /// Refreshes of the whole state sent through this port.
    pub voq_refreshes: u64,
    /// VoQ messages of these refreshes: one for every six ports of the device, and where they are linked with
    /// virtual channels for each of these and VC0.
    pub voq_refresh_messages: u64,
    /// Staging queues of this port stopped (edges).
    pub xoff_edges: u64,
    /// Staging queues of this port released (edges).
    pub xon_edges: u64,
    /// Sum over staging queues of the time stopped, picoseconds.
    pub stopped_ps: u64,
    /// The longest that one staging queue of this port was stopped without a break, picoseconds; a stop that
    /// lasts counts up to the end.
    pub longest_stop_ps: u64,
    /// Packets that came too late for the detector of this port and blocked others (VOQ-2.5-5). With buffers
    /// behind the inputs: they found the buffer of this port full. `Direct`: the detector was on when they
    /// came, as their neighbour was told, and the receive buffer that they took was one of those that packets
    /// of priority 0 need to enter.
    pub late_hol: u64,
    /// Packet-picoseconds of head-of-line blocking suffered in this port's receive buffers.
    pub hol_ps: u128,
    /// Packet-picoseconds held by backpressure at this port's transmitter.
    pub staged_ps: u128,
    /// Most packets ever held in the receive buffers.
    pub input_high_water: u32,
    /// Most packets ever waiting for the transmitter.
    pub output_high_water: u32,
}

/// Totals of one end of a link that runs in symbol granularity. What is damaged counts where it was sent,
/// what is refused where it arrived.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets sent from here that were damaged on their way.
    pub damaged_packets: u64,
    /// Symbols sent from here that were damaged on their way.
    pub damaged_symbols: u64,
    /// Errors that hit the idle sequence sent from here.
    pub damaged_idle: u64,
    /// packet-retry sent: no room.
    pub retries: u64,
    /// packet-not-accepted sent: an error was detected.
    pub not_accepted: u64,
    /// Damage that arrived where it made no difference: the input side was stopped by an error already, or
    /// the packet was cancelled anyway. Together with `not_accepted` this is all damage that arrived.
    pub absorbed: u64,
    /// Recoveries of the output side from the error-stopped state: link-request to link-response.
    pub recoveries: u64,
    /// Link timeouts.
    pub timeouts: u64,
    /// Packets sent from here whose transmission was cut short.
    pub cancelled: u64,
    /// Transmissions of packets that had been sent from here before.
    pub repeated: u64,
    /// Time that these took, picoseconds: part of [`PortStats::packet_ps`].
    pub repeated_ps: u64,
    /// Times that the link went down.
    pub downs: u64,
    /// Time for which it was down or initialised, picoseconds.
    pub down_ps: u64,
    /// Time in which new packets had to wait for retry, recovery or initialisation, picoseconds.
    pub recovery_ps: u64,
    /// Packets sent from here.
    pub packets: u64,
    /// Packets of continuous traffic that found no receive buffer here.
    pub lost_no_room: u64,
    /// Packets of continuous traffic sent from here that an error took.
    pub lost_on_link: u64,
    /// The output side has given up: the two ends disagree, or no answer came.
    pub failed: bool,
}

impl LinkStats {
    /// Adds the totals of another end.
    pub fn add(&mut self, other: &LinkStats) {
        self.damaged_packets += other.damaged_packets;
        self.damaged_symbols += other.damaged_symbols;
        self.damaged_idle += other.damaged_idle;
        self.retries += other.retries;
        self.not_accepted += other.not_accepted;
        self.absorbed += other.absorbed;
        self.recoveries += other.recoveries;
        self.timeouts += other.timeouts;
        self.cancelled += other.cancelled;
        self.repeated += other.repeated;
        self.repeated_ps += other.repeated_ps;
        self.downs += other.downs;
        self.down_ps += other.down_ps;
        self.recovery_ps += other.recovery_ps;
        self.packets += other.packets;
        self.lost_no_room += other.lost_no_room;
        self.lost_on_link += other.lost_on_link;
        self.failed |= other.failed;
    }
}

/// Totals of one endpoint that runs protocols.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AgentStats {
    /// Most messages, PDUs and doorbells ever in the host's queue, the one being served included.
    pub rx_high_water: u32,
    /// Messages, PDUs and doorbells in that queue, times the picoseconds that they were there.
    pub rx_depth_ps: u128,
    /// The protocol clock: `now` of protocols = fabric time x this fraction.
    pub clock: (u64, u64),
    /// What its protocols did, all flows together.
    pub flows: FlowStats,
}

/// Totals of the protocols of one flow, since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowStats {
    /// Messages, PDUs, doorbells, reads and writes that protocols sent.
    pub sent: u64,
    /// Of these, not an answer to something received.
    pub asked: u64,
    /// Of what was sent, ended well: answered, or gone where there is no answer.
    pub completed: u64,
    /// Messages, PDUs and doorbells handed to protocols.
    pub delivered: u64,
    /// Answers handed to who had asked, and was still waiting.
    pub round_trips: u64,
    /// Octets of these and of what they answer, padding not counted; an echo counts once.
    pub answered_octets: u64,
    /// Packets made, without responses of the logical layer; repetitions count again.
    pub requests: u64,
    /// Responses of the logical layer.
    pub responses: u64,
    /// Octets that all these packets take on the link, with their delimiters.
    pub link_octets: u64,
    /// Octets handed to protocols, read or written; padding not counted.
    pub payload: u64,
    /// Numbers of [`crate::observe::probe::ProtocolFact`]s, by index.
    pub facts: [u64; FACTS],
}

impl FlowStats {
    /// Adds the totals of another endpoint.
    pub fn add(&mut self, other: &FlowStats) {
        self.sent += other.sent;
        self.asked += other.asked;
        self.completed += other.completed;
        self.delivered += other.delivered;
        self.round_trips += other.round_trips;
        self.answered_octets += other.answered_octets;
        self.requests += other.requests;
        self.responses += other.responses;
        self.link_octets += other.link_octets;
        self.payload += other.payload;
        for (sum, count) in self.facts.iter_mut().zip(other.facts) {
            *sum += count;
        }
    }
}

/// What the ends of a flow have asked and still wait for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Awaited {
    /// How many.
    pub count: u64,
    /// When the oldest was sent.
    pub oldest: Option<Time>,
}

impl Awaited {
    fn add(&mut self, other: Awaited) {
        self.count += other.count;
        self.oldest = earliest(self.oldest, other.oldest);
    }
}

/// What of one flow was still under way when the run ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowLeft {
    /// Packets in the fabric or at their sources, copies counted.
    pub packets: u64,
    /// The same, but a packet that switches will copy counts once for each endpoint that it is to reach.
    pub to_arrive: u64,
    /// When the oldest of them was created.
    pub oldest_packet: Option<Time>,
    /// When the first of those that have left their sources did.
    pub oldest_in_network: Option<Time>,
    /// Messages, PDUs and doorbells that wait at a host or in an engine, or of which a packet is under way; a
    /// PDU may count several times. A message whose engine has given it up is not under way, though a packet
    /// of it may be, and one that has arrived or is lost is not, though its sender may not know.
    pub messages: u64,
    /// When the oldest of these messages, PDUs, doorbells, reads and writes was sent.
    pub oldest_message: Option<Time>,
    /// What its ends wait for, where they wait for answers: what one has given up may be somewhere, and is
    /// not waited for.
    pub awaited: Option<Awaited>,
    /// A source of it would go on, but the run ends. So what it had to do is not done, if a limit is set.
    pub goes_on: bool,
    /// An end of it does something by itself yet: it has a deadline, a plan or something to take.
    pub acts: bool,
    /// An end of it has not begun: the host that sets the fabric up has not let it send.
    pub sleeps: bool,
}

impl FlowLeft {
    /// A packet that so many endpoints are to get; `left`: when it left its source, if it has.
    pub(crate) fn packet(&mut self, created: u64, left: Option<u64>, members: u64) {
        self.packets += 1;
        self.to_arrive += members;
        self.oldest_packet = earliest(self.oldest_packet, Some(Time(created)));
        self.oldest_in_network = earliest(self.oldest_in_network, left.map(Time));
    }

    /// Adds what is under way in a part of the fabric without protocols.
    pub(crate) fn add(&mut self, other: &FlowLeft) {
        self.packets += other.packets;
        self.to_arrive += other.to_arrive;
        self.oldest_packet = earliest(self.oldest_packet, other.oldest_packet);
        self.oldest_in_network = earliest(self.oldest_in_network, other.oldest_in_network);
        self.goes_on |= other.goes_on;
        self.acts |= other.acts;
        self.sleeps |= other.sleeps;
    }

    pub(crate) fn wait(&mut self, awaited: Awaited) {
        self.awaited.get_or_insert_default().add(awaited);
    }

    pub(crate) fn message(&mut self, created: u64) {
        self.messages += 1;
        self.oldest_message = earliest(self.oldest_message, Some(Time(created)));
    }
}

/// The earlier of two instants, as far as there are any.
fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    a.into_iter().chain(b).min()
}

/// What the nodes of one flow of session management counted, since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionStats {
    /// Registers of other nodes that were read, repetitions not included.
    pub register_reads: u64,
    /// Messages handed out by endpoints, data included.
    pub messages: u64,
    /// OPENs among them, repetitions included.
    pub opens: u64,
    /// ACCEPTs.
    pub accepts: u64,
    /// REFUSEs.
    pub refuses: u64,
    /// CLOSEs, repetitions included.
    pub closes: u64,
    /// XOFFs.
    pub xoffs: u64,
    /// XONs.
    pub xons: u64,
    /// RTSs.
    pub rts: u64,
    /// Messages of data, or PDUs of DATA3.
    pub data_messages: u64,
    /// Octets of all other messages, without what carries them; of those that leave twice, twice.
    pub management_octets: u64,
    /// These messages by what carries them: type 11, type 9.
    pub managed: [u64; 2],
    /// Repetitions of requests.
    pub retransmissions: u64,
    /// Malformed messages received.
    pub malformed: u64,
    /// Messages received and dropped, because the rules say so or for want of room.
    pub dropped: u64,
    /// Receive streams handed out.
    pub allocated: u64,
    /// OPENs that came to nothing.
    pub failed_opens: u64,
    /// Times that a peer became suspect, or more so.
    pub suspects: u64,
    /// Ends of conduits that were complete.
    pub opened: u64,
    /// Ends of conduits that have ended.
    pub ended: u64,
    /// Restarts of nodes.
    pub restarts: u64,
    /// Messages that met the limit of records: the storm was stopped.
    pub limited: u64,
    /// When the first did, ps of the fabric.
    pub limited_at: Option<u64>,
    /// Times that a source was stopped by XOFF.
    pub stopped: u64,
    /// Times that it went on: by XON, because XOFF was not repeated.
    pub resumed: [u64; 2],
    /// PDUs that applications sent.
    pub pdus_sent: u64,
    /// PDUs that reached applications as they were sent, each once.
    pub pdus_delivered: u64,
    /// Those of them that their application is not done with: they wait for it, or it is at them.
    pub pdus_held: u64,
    /// Their octets.
    pub octets_held: u64,
    /// When the oldest of these was sent.
    pub oldest_held: Option<Time>,
    /// PDUs that an application was not done with when its node restarted.
    pub pdus_forgotten: u64,
    /// Their octets.
    pub octets_forgotten: u64,
    /// PDUs that reached applications with other octets than were sent: a message of several was lost, or
    /// came twice, and the protocol does not number them.
    pub pdus_damaged: u64,
    /// PDUs that reached applications once more.
    pub pdus_again: u64,
    /// PDUs of other flows that reached applications of this one: their stream had been given to its
    /// protocol.
    pub pdus_misdelivered: u64,
    /// PDUs refused by an endpoint, or lost in reassembly or while a stream was stopped.
    pub pdus_lost: u64,
    /// Those of them that are longer than their stream, or their receiver, takes.
    pub pdus_too_long: u64,
    /// PDUs whose last message was given up, or taken by the scenario; of the former some may have arrived,
    /// if only the answers were lost.
    pub pdus_failed: u64,
    /// PDUs that still wait at their senders: for a conduit, or for their turn on its stream.
    pub pdus_waiting: u64,
    /// When the oldest of these was sent.
    pub oldest_waiting: Option<Time>,
    /// Frames that wait to leave into a segment behind a bridge.
    pub behind: u64,
    /// PDUs sent as broadcasts.
    pub broadcasts: u64,
    /// Copies of broadcasts that reached applications.
    pub broadcasts_delivered: u64,
    /// Octets of PDUs that reached applications as they were sent, each once.
    pub octets_delivered: u64,
    /// When the first was sent, and when an application was done with the last; or when the last was sent, if
    /// that is later because it never arrived.
    pub pdu_span: Option<(Time, Time)>,
    /// When a message of data was last handed out by an endpoint, or came to a node, whatever became of it.
    pub data_until: Time,
    /// Their times, from being sent until the application that takes them is done with them, ps.
    pub pdu_ps: Vec<u64>,
    /// Of these, how long they were at the application that takes them, ps.
    pub at_application_ps: u128,
    /// PDUs of which the first message has left their node, and how long they waited for that, ps.
    pub begun: (u64, u128),
    /// Most PDUs that ever waited for one application.
    pub consumer_high_water: u32,
    /// Messages lost, duplicated and delayed by the scenario.
    pub injected: [u64; 3],
    /// Messages that the scenario was to lose, to duplicate or to delay by number, and that never left.
    pub never_struck: u64,
    /// Steps of a script that found nothing to do.
    pub missed_steps: u64,
    /// USERDEFINED commands sent, those that a handler took, and those that came back as unknown.
    pub user_defined: [u64; 3],
    /// PDUs that arrived although one of their ends had restarted since they were sent.
    pub former_life: u64,
    /// Ethernet frames that made room for younger ones while their stream was stopped.
    pub frames_dropped: u64,
    /// ACCEPTs of a stream that its source had already.
    pub same_stream: u64,
    /// Answers that a stream is not known.
    pub unknown_streams: u64,
    /// Ethernet frames for a host of which their sender did not know where it is: they went to all nodes.
    pub flooded: u64,
    /// Frames that a broadcast server has repeated, to all that it knows.
    pub repeated: u64,
    /// Frames that came to a node, or into a segment, for which they were not.
    pub foreign: u64,
    /// Frames that came back to who had sent them, and were discarded.
    pub returned: u64,
    /// Frames that hosts behind bridges have got, each broadcast once a segment.
    pub left_fabric: u64,
    /// Copies of broadcasts that bridges have not let through.
    pub filtered: u64,
}

/// Makes a span the shortest that holds what it held, and `more`.
pub(crate) fn widen(span: &mut Option<(Time, Time)>, more: Option<(Time, Time)>) {
    *span = match (*span, more) {
        (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
        (one, other) => one.or(other),
    };
}

impl SessionStats {
    /// An application wants to send a PDU.
    pub(crate) fn asked(&mut self, now: Time) {
        self.pdus_sent += 1;
        widen(&mut self.pdu_span, Some((now, now)));
    }

    /// The first message of a PDU that was sent at `sent` leaves its node.
    pub(crate) fn begins(&mut self, sent: Time, now: Time) {
        self.begun.0 += 1;
        self.begun.1 += u128::from(now.0.saturating_sub(sent.0));
    }

    /// A PDU that was sent at `sent`, and came at `came`, is done with.
    pub(crate) fn taken(&mut self, sent: Time, came: Time, now: Time) {
        self.at_application_ps += u128::from(now.0 - came.0);
        widen(&mut self.pdu_span, Some((sent, now)));
        self.pdu_ps.push(now.0 - sent.0);
    }

    /// Adds the totals of another node.
    pub fn add(&mut self, other: &SessionStats) {
        self.register_reads += other.register_reads;
        self.messages += other.messages;
        self.opens += other.opens;
        self.accepts += other.accepts;
        self.refuses += other.refuses;
        self.closes += other.closes;
        self.xoffs += other.xoffs;
        self.xons += other.xons;
        self.rts += other.rts;
        self.data_messages += other.data_messages;
        self.management_octets += other.management_octets;
        for (sum, count) in self.managed.iter_mut().zip(other.managed) {
            *sum += count;
        }
        self.retransmissions += other.retransmissions;
        self.malformed += other.malformed;
        self.dropped += other.dropped;
        self.allocated += other.allocated;
        self.failed_opens += other.failed_opens;
        self.suspects += other.suspects;
        self.opened += other.opened;
        self.ended += other.ended;
        self.restarts += other.restarts;
        self.limited += other.limited;
        self.limited_at = self.limited_at.into_iter().chain(other.limited_at).min();
        self.stopped += other.stopped;
        self.resumed[0] += other.resumed[0];
        self.resumed[1] += other.resumed[1];
        self.pdus_sent += other.pdus_sent;
        self.pdus_delivered += other.pdus_delivered;
        self.pdus_held += other.pdus_held;
        self.oldest_held = self.oldest_held.into_iter().chain(other.oldest_held).min();
        self.octets_held += other.octets_held;
        self.pdus_forgotten += other.pdus_forgotten;
        self.octets_forgotten += other.octets_forgotten;
        self.pdus_damaged += other.pdus_damaged;
        self.pdus_again += other.pdus_again;
        self.pdus_misdelivered += other.pdus_misdelivered;
        self.pdus_lost += other.pdus_lost;
        self.pdus_too_long += other.pdus_too_long;
        self.pdus_failed += other.pdus_failed;
        self.pdus_waiting += other.pdus_waiting;
        self.oldest_waiting = self.oldest_waiting.into_iter().chain(other.oldest_waiting).min();
        self.behind += other.behind;
        self.broadcasts += other.broadcasts;
        self.broadcasts_delivered += other.broadcasts_delivered;
        self.octets_delivered += other.octets_delivered;
        widen(&mut self.pdu_span, other.pdu_span);
        self.data_until = self.data_until.max(other.data_until);
        self.pdu_ps.extend(&other.pdu_ps);
        self.at_application_ps += other.at_application_ps;
        self.begun.0 += other.begun.0;
        self.begun.1 += other.begun.1;
        self.consumer_high_water = self.consumer_high_water.max(other.consumer_high_water);
        self.never_struck += other.never_struck;
        for (sum, count) in self.injected.iter_mut().zip(other.injected) {
            *sum += count;
        }
        self.missed_steps += other.missed_steps;
        for (sum, count) in self.user_defined.iter_mut().zip(other.user_defined) {
            *sum += count;
        }
        self.former_life += other.former_life;
        self.frames_dropped += other.frames_dropped;
        self.same_stream += other.same_stream;
        self.unknown_streams += other.unknown_streams;
        self.flooded += other.flooded;
        self.repeated += other.repeated;
        self.foreign += other.foreign;
        self.returned += other.returned;
        self.left_fabric += other.left_fabric;
        self.filtered += other.filtered;
    }
}

/// What the nodes of one flow of session management have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionTotals {
    /// Flow.
    pub flow: u16,
    /// Nodes.
    pub nodes: u32,
    /// Pairs of nodes of which at least one wants a conduit at the end.
    pub expected: u64,
    /// Streams that nodes want at the end, where they open streams and no conduits.
    pub wanted_streams: u64,
    /// Peers to which applications have closed what they had opened: they want nothing there any more.
    pub closed: u64,
    /// Conduits: pairs of records that fit each other.
    pub pairs: u64,
    /// Streams that are open at both ends, where nodes open streams and no conduits.
    pub streams: u64,
    /// Conduits beyond the first of a pair of nodes.
    pub duplicates: u64,
    /// Records.
    pub records: u64,
    /// Records with an unknown side.
    pub half_open: u64,
    /// Complete records without a partner.
    pub orphans: u64,
    /// Streams that are open at their receiver and in no conduit.
    pub leaked: u64,
    /// When the last end of all wanted conduits was open; none: not all are, or there are other records.
    pub all_open: Option<Time>,
    /// When each end of all conduits that were ever wanted had been open, perhaps not all at a time; none:
    /// one never was, or there are other records.
    pub first_open: Option<Time>,
    /// Data goes on a stream that needs no OPEN.
    pub unopened: bool,
    /// A node takes management messages on both conveyances.
    pub on_both: bool,
    /// Broadcasts are copied by switches.
    pub multicast: bool,
    /// There is a bridge or a broadcast server.
    pub bridged: bool,
    /// PDUs of which something is on its way, and nothing waits at their senders any more: each once.
    pub on_their_way: u64,
    /// When the oldest of these was sent, as far as it says so.
    pub oldest_on_its_way: Option<Time>,
    /// What the nodes counted.
    pub stats: SessionStats,
    /// Every record, by device and peer.
    pub ends: Vec<ConduitEnd>,
    /// (device, leaked streams, receive streams handed out) of every node.
    pub by_node: Vec<(u32, u64, u64)>,
    /// StreamIDs that nodes have given to others, at the end.
    pub taken: u64,
    /// Most receive streams that one node has open from one peer, and how many it allows: so many of its
    /// StreamIDs are taken.
    pub most_from_one: (u64, u64),
    /// What there was at the instants of a census, in their order; empty without one.
    pub census: Vec<SessionCount>,
}

/// Conduits, records and streams of all nodes of a flow at one instant.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCount {
    /// When. What happens at the instant itself has happened.
    pub at: Time,
    /// Conduits: pairs of records that fit each other.
    pub conduits: u64,
    /// Records.
    pub records: u64,
    /// Records with an unknown side.
    pub half_open: u64,
    /// Complete records without a partner.
    pub orphans: u64,
    /// Streams that are open at their receivers: so many StreamIDs are taken.
    pub streams: u64,
    /// Of these, streams that are of no use: in no conduit, or, where none are wanted, unknown to their
    /// source.
    pub leaked: u64,
    /// StreamIDs handed out so far.
    pub allocated: u64,
    /// Octets of management messages sent so far.
    pub octets: u64,
}

impl FlowTotals for SessionTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}

/// A record of a conduit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ConduitEnd {
    /// Device whose record it is.
    pub device: u32,
    /// Id of the other node.
    pub peer: u16,
    /// Stream on which it receives; 0xFFFF: not known.
    pub receive: u16,
    /// Stream on which it sends; 0xFFFF: not known.
    pub transmit: u16,
    /// The other node has a record that fits.
    pub matched: bool,
    /// When the conduit with that peer was complete last, if it is.
    pub opened: Option<Time>,
}
