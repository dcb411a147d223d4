//! Symbol granularity: the links on which more can happen than the closed form of `transmit` knows.
//!
//! Each end of such a link is a [`LinkPort`]: it decides which symbol leaves and what one that arrives means.
//! The [`Wire`](crate::link::wire::Wire) decides when, exactly as in packet granularity, so both give the
//! same times to the picosecond as long as nothing goes wrong. This module is what stands between them:
//!
//! - `drive` asks for a symbol at every place that the wire has, and commits packets to the wire;
//! - `receive` takes symbols and packets in and keeps the fabric's view of the credit;
//! - `message` carries what Part 12 adds;
//! - `fault` damages things, and takes links down and up;
//! - `channels` is what VC1 to VC8 add;
//! - `granularity` takes links from packet granularity here, and back;
//! - `check` writes and reads bytes, if that was asked for: on any link.
//!
//! *Order within an instant.* What arrives and what is decided comes first; then, at [`POLL`], the symbols of
//! the instant are put together from what is true by then; damage comes last. So whatever becomes due at an
//! instant can still leave with a symbol that begins there, which is what the closed form says.
//!
//! *Who owns a packet.* A packet is the transmitter's until the receiver has accepted it. Its serial number
//! at the transmitter, not its place among the packets, is what the link port keeps for a repetition.

mod aside;
mod channels;
mod check;
mod credit;
mod drive;
mod fault;
mod granularity;
mod message;
mod receive;

pub(crate) use check::Leaves;
pub use check::WireChecked;
pub(crate) use drive::Flight;
pub(crate) use message::MessagePlace;

use crate::config::{FabricConfig, FlowControl, SymbolicLink};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::special;
use crate::observe::Build;
use crate::observe::clock::CHANNELS;
use crate::observe::stats::LinkStats;
pub(crate) use channels::{CHANNEL_COUNT, VirtualChannels};
use fault::Errors;
use granularity::Logged;
use lp_serial::Form;
use lp_serial::control_symbol::{Cause, ControlSymbol, Stype0};
use lp_serial::cost::{SymbolSize, Watermarks};
use lp_serial::link::{Channels, Config, Handover, LinkPort, OutputError, PacketMeta, VcConfig};
use sim_core::{Class, Duration, EventKey, TimerSlot};
use std::collections::{BTreeSet, VecDeque};

/// Most places that are kept without a look at which of them are over.
const PLACES_MAX: usize = 64;

/// Timeouts of a link after which it is said that errors or outages let nothing through: one answer that is
/// lost costs one of them, and that a few in a row are lost may be chance.
const LOST_ANSWERS: u64 = 4;

/// When the symbols of an instant are put together.
const POLL: Class = Class::new(11);
/// When errors strike.
const STRIKE: Class = Class::new(12);

/// A packet that the fabric has handed to the link port and that the partner has not acknowledged.
#[derive(Clone, Debug)]
struct Held {
    serial: u32,
    packet: u32,
    /// What its parts count as its start, and as the time to store it.
    start: u64,
    stored: u64,
    /// Its start-of-packet has left at least once.
    sent: bool,
    /// The present transmission is a repetition.
    again: bool,
    /// Continuous traffic of which nobody knows yet what becomes of it.
    unsettled: bool,
}

/// A transmission of a packet under way.
#[derive(Clone, Debug)]
pub(super) struct Air {
    /// When the receiver judges it.
    key: EventKey,
    serial: u32,
    meta: PacketMeta,
    ack_id: u8,
    damaged: bool,
    /// Its start-of-packet was damaged: what comes is no packet.
    headless: bool,
    /// Its end never comes, or is damaged, or says that it is void.
    void: bool,
}

impl Air {
    fn new(key: EventKey, serial: u32, meta: PacketMeta) -> Self {
        Air { key, serial, meta, ack_id: 0, damaged: false, headless: false, void: false }
    }
}

/// A symbol under way.
#[derive(Clone, Debug)]
pub(crate) struct Flying {
    key: EventKey,
    start: u64,
    symbol: ControlSymbol,
    /// Serial of the packet that it starts, and of the packet that it ends.
    starts: Option<u32>,
    ends: Option<u32>,
    pub damaged: bool,
    /// When the input side gets to its second function, if that is no mere delimiter.
    control: Option<EventKey>,
}

/// What a link port says of a packet that its input side has got to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It was cut off on the way.
    Gone,
    /// The device does not get it.
    Refused,
    /// The device takes it, and then has it acknowledged.
    Accepted,
    /// The device takes it into a buffer of this channel, and then [tells](Links::tell_of_channel).
    AcceptedInChannel(u8),
}

/// What has happened to a link that its device has to act on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// The output side has recovered from an error: what it had told may have been lost.
    Recovered,
    /// The link is initialised: its neighbour knows nothing, and what the neighbour had said is void.
    Initialised,
}

/// What the input side still has to come to.
#[derive(Clone, Debug)]
struct Control {
    key: EventKey,
    /// `None`: something damaged.
    symbol: Option<ControlSymbol>,
}

/// One end of a link in symbol granularity.
#[derive(Clone, Debug)]
pub(crate) struct End {
    link: LinkPort<u32>,
    held: Vec<Held>,
    serial: u32,
    /// Serial and start of the packet that the fabric has committed to the wire and that has not begun.
    committed: Option<(u32, u64)>,
    /// A packet that observers saw when it was committed in packet granularity, with its start then.
    shown: Option<(u32, u64)>,
    /// Serial and end of the packet on the wire.
    on_wire: Option<(u32, u64)>,
    /// Start and end of the last packet committed, and of the one before it.
    last: Option<(u64, u64)>,
    before: Option<(u64, u64)>,
    /// When symbols begin that have their place on the wire, the ends of packets included.
    places: BTreeSet<u64>,
    /// Symbols before this instant have left.
    polled: u64,
    /// Up to this instant restart-from-retry is on the wire: nothing new is committed.
    resumes: u64,
    /// Instant of the posted poll, `u64::MAX` = none.
    posted: u64,
    /// Arrival of the functions that are due, oldest first.
    due: VecDeque<EventKey>,
    air: VecDeque<Air>,
    flying: VecDeque<Flying>,
    /// At the receiving side.
    controls: VecDeque<Control>,
    /// The packet that the fabric takes in now has been judged.
    judged: bool,
    /// Its acknowledgement has its place already, because a message came behind it.
    told_early: bool,
    /// Cut-through: packets whose end has not come.
    unjudged: VecDeque<PacketMeta>,
    /// Something was lost since the link was last clean: deadlines matter.
    suspect: bool,
    timer: TimerSlot,
    status_period: u64,
    told_again: bool,
    /// The partner has refused a packet and accepted none since.
    refused: bool,
    /// When an error or an outage first kept a packet from the partner, or an answer was lost, since it last
    /// accepted one.
    troubled_since: Option<u64>,
    /// While the link initialises: the link port may have something to say.
    calls: bool,
    /// The stype2 message that leaves with the symbol of this instant.
    pub message: Option<(EventKey, u16)>,
    /// stype2 messages that nobody hears, with the instants from which on they leave, and whether they are
    /// lost: those of refreshes that are no events, and those that are lost on purpose. They are there for
    /// observers of the wire alone.
    written: VecDeque<(u64, u16, bool)>,
    /// stype0 functions that have left.
    popped: u64,
    /// Which of them all is the status that carries the message that is due (linked with channels).
    carrier: Option<u64>,
    /// It has left just now, sound or damaged.
    carries: Option<(ControlSymbol, bool)>,
    /// buf_status in the last symbol that had one.
    told: u8,
    /// The port tells no free buffers.
    withholds: bool,
    /// Lanes from the next initialisation on.
    lanes: Option<u8>,
    lanes_now: u8,
    down_since: Option<u64>,
    errors: Errors,
    channels: Option<Box<VirtualChannels>>,
    /// The link runs in packet granularity except around errors.
    changes: bool,
    /// In packet granularity: packets that may be outstanding, and perhaps some before them.
    log: VecDeque<Logged>,
    /// Not back to packet granularity up to this instant.
    stay_until: u64,
    /// The key of a symbol for whose arrival a wake is posted at the partner.
    woken: Option<EventKey>,
    /// Damaged characters of the idle sequence on their way here.
    idle_errors: u32,
    pub stats: LinkStats,
}

impl<P: Build> Links<P> {
    /// Gives symbolic links their ends, each link up and idle.
    pub fn set_up_links(&mut self) {
        let config = self.config.clone();
        for detail in &config.symbolic {
            let link = &config.links[detail.link as usize];
            let index = |(device, port): (u32, u8)| self.nodes.port((device, port));
            let ports = [index(link.a), index(link.b)];
            self.ends.resize_with(self.ports.len(), || None);
            let stores = ports.iter().all(|&port| {
                let tx = &self.ports[port.index()].tx;
                self.timings[tx.timing as usize].header == 0
            });
            let changes = stores
                && !detail.throughout
                && detail.flow == FlowControl::Transmitter
                && detail.channels.is_none();
            let by_number = detail.damage.iter().any(|d| !(d.packets.is_empty() && d.symbols.is_empty()));
            let at_once = config.faults.iter().any(|fault| fault.link == detail.link && fault.at.0 == 0);
            for (side, port) in ports.into_iter().enumerate() {
                let lanes = self.cold[port.index()].lane_count;
                let eager_at = self.ports[port.index()].rx.eager_at;
                self.ends[port.index()] = Some(Box::new(End::new(&config, detail, side, lanes, eager_at)));
                if let Some(multiple) = &detail.channels {
                    let clock = &mut self.ports[port.index()].tx.clock;
                    clock.set_channels(multiple.channels.count());
                    clock.set_gate(0, CHANNELS);
                }
                self.end(port).changes = changes;
                let waits = changes && !by_number && !at_once;
                let bits = if waits { special::WATCHED } else { special::SYMBOLS };
                self.ports[port.index()].run_specially(bits, 0);
                if detail.flow == FlowControl::Receiver {
                    self.ports[port.index()].tx.free = i16::MAX / 2;
                }
            }
        }
    }

    pub fn end(&mut self, port: PortId) -> &mut End {
        self.ends[port.index()].as_mut().expect("the link runs in symbol granularity")
    }

    /// Totals of the ends of links, in the order of ports.
    pub fn link_totals(&self, now: u64) -> Vec<(u32, u8, LinkStats)> {
        let mut totals = Vec::new();
        for (port, end) in self.ends.iter().enumerate() {
            let Some(end) = end else { continue };
            let device = self.ports[port].link.device;
            let mut stats = end.stats;
            stats.recovery_ps = self.ports[port].tx.clock.recovery_total(now);
            stats.down_ps += end.down_for(now);
            stats.failed = end.link.has_failed();
            totals.push((device, self.nodes.number(device, PortId::new(port as u32)), stats));
        }
        totals
    }
}

impl End {
    fn new(config: &FabricConfig, detail: &SymbolicLink, side: usize, lanes: u32, eager_at: u8) -> Self {
        let link = &config.links[detail.link as usize];
        let (own, partner) = if side == 0 { (link.a, link.b) } else { (link.b, link.a) };
        let port = |(device, port): (u32, u8)| &config.devices[device as usize].ports[port as usize];
        let (own, partner) = (port(own), port(partner));
        let watermarks = |w: [u8; 3]| Watermarks::new(w.map(u16::from)).expect("watermarks fall");
        let form = if link.symbol_chars == 4 { Form::Short } else { Form::Long };
        let multiple = detail.channels.as_deref();
        let settings = Config {
            channels: multiple.map_or(Channels::None, |multiple| multiple.channels),
            vcs: multiple.map_or([VcConfig::default(); 8], |multiple| multiple.vcs),
            vc0_share: multiple.and_then(|multiple| multiple.vc0_share),
            hold: link.ack_window,
            queue: u16::MAX,
            watermarks: watermarks(partner.watermarks),
            accept: watermarks(own.watermarks),
            eager_at: eager_at.into(),
            flow: detail.flow,
            link_timeout: detail.timeout.0,
            ..Config::new(form, own.buffers.into())
        };
        let clean = Handover {
            flow: detail.flow,
            next_ack_id: 0,
            outstanding: Vec::new(),
            transmitting: false,
            told: partner.buffers.into(),
            expected_ack_id: 0,
            occupied: 0,
            advertised: own.buffers.into(),
            arriving: false,
            unsent: Vec::new(),
            channels: multiple.map_or(Vec::new(), channels::open),
        };
        let channels = multiple.map(|multiple| Box::new(VirtualChannels::new(multiple, &settings, lanes)));
        End {
            link: LinkPort::resume(settings, clean).expect("the compiler checks buffers and windows"),
            held: Vec::new(),
            serial: 0,
            committed: None,
            shown: None,
            on_wire: None,
            last: None,
            before: None,
            places: BTreeSet::new(),
            polled: 0,
            resumes: 0,
            posted: u64::MAX,
            due: VecDeque::new(),
            air: VecDeque::new(),
            flying: VecDeque::new(),
            controls: VecDeque::new(),
            judged: false,
            told_early: false,
            unjudged: VecDeque::new(),
            suspect: false,
            timer: TimerSlot::new(),
            status_period: detail.status_period.0,
            told_again: false,
            refused: false,
            troubled_since: None,
            calls: false,
            message: None,
            written: VecDeque::new(),
            popped: 0,
            carrier: None,
            carries: None,
            told: match detail.flow {
                FlowControl::Receiver => form.parameter_max(),
                FlowControl::Transmitter => SymbolSize::from(form).report_free(own.buffers.into()) as u8,
            },
            withholds: false,
            lanes: None,
            lanes_now: link.lanes,
            down_since: None,
            errors: Errors::new(config.seed, &detail.damage[side], link.char_ps),
            channels,
            changes: false,
            log: VecDeque::new(),
            stay_until: 0,
            woken: None,
            idle_errors: 0,
            stats: LinkStats::default(),
        }
    }

    /// Messages through it are linked with virtual channels.
    pub fn is_linked(&self) -> bool {
        self.channels.as_ref().is_some_and(|channels| channels.linked)
    }

    /// Channels beside VC0 with which messages through it are linked.
    pub fn linked_channels(&self) -> u8 {
        let linked = self.channels.as_ref().filter(|channels| channels.linked);
        linked.map_or(0, |channels| channels.names().count())
    }

    /// A status of a channel becomes due, 0 for VC0.
    pub fn tell_of(&mut self, channel: u8) {
        self.link.tell_of(channel);
    }

    pub(super) fn is_down(&self) -> bool {
        self.link.is_down()
    }

    /// Nothing will move here unless somebody helps.
    pub fn is_gone(&self) -> bool {
        self.link.is_down() || self.link.has_failed()
    }

    /// Since when the link is not up, if it was taken down.
    pub fn down_since(&self) -> Option<u64> {
        self.down_since
    }

    /// Nothing keeps new packets waiting but credit.
    fn is_normal(&self) -> bool {
        let own = usize::from(self.committed.is_some());
        self.link.is_up()
            && self.link.output() == lp_serial::link::OutputState::Normal
            && !self.link.has_failed()
            && self.link.waiting() == own
    }

    /// What becomes of a packet of continuous traffic is known.
    pub(super) fn settled(&mut self, serial: u32) {
        self.held(serial).unsettled = false;
    }

    /// A damaged character of the idle sequence is on its way here.
    pub(super) fn expect_idle_damage(&mut self) {
        self.idle_errors += 1;
    }

    /// What it has told is to be told again, so much later; `None`: that is bound to happen already.
    pub(super) fn tells_again(&mut self) -> Option<u64> {
        let bound = std::mem::replace(&mut self.told_again, true);
        (!bound).then_some(self.status_period)
    }

    /// What it has told is bound to be told again.
    pub fn tells_later(&self) -> bool {
        self.told_again
    }

    /// Something was lost, and packets are outstanding: an answer or a timeout says what has become of them.
    pub fn awaits_answer(&self) -> bool {
        self.suspect && self.link.outstanding() > 0
    }

    /// Its link is there and not yet up.
    pub(super) fn is_initialising(&self) -> bool {
        !(self.link.is_up() || self.link.is_down())
    }

    /// The symbol that is heard at `key` is not on its way any more.
    pub(super) fn arrived(&mut self, key: EventKey) -> Option<Flying> {
        let n = self.flying.iter().position(|symbol| symbol.key == key)?;
        self.flying.remove(n)
    }

    /// The transmission that is judged at `key` is not on its way any more.
    pub(super) fn landed(&mut self, key: EventKey) -> Option<Air> {
        let n = self.air.iter().position(|air| air.key == key)?;
        self.air.remove(n)
    }

    fn held(&mut self, serial: u32) -> &mut Held {
        let found = self.held.iter_mut().find(|held| held.serial == serial);
        found.expect("what the link port sends is held")
    }

    /// There is a place for a symbol at `at`.
    pub fn place(&mut self, at: u64) {
        self.places.insert(at);
    }

    /// The partner has refused a packet and accepted none since.
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Packets have begun to leave, and are not acknowledged.
    fn has_sent(&self) -> bool {
        self.held.iter().any(|held| held.sent)
    }

    /// This packet has begun to leave, and is not acknowledged.
    pub fn holds(&self, packet: u32) -> bool {
        self.held.iter().any(|held| held.sent && held.packet == packet)
    }

    /// Since when errors and outages have let no packet through to the partner, if it has been so for
    /// `patience` at least and for so long that it is no matter of a few answers. Outages do not count.
    pub fn troubled_since(&self, now: u64, patience: u64) -> Option<u64> {
        let answers = LOST_ANSWERS.saturating_mul(self.link.config().link_timeout);
        let since = self.troubled_since? + self.down_for(now);
        (now - since >= patience.max(answers)).then_some(since)
    }

    /// For how long the link has not been up, if it is not.
    fn down_for(&self, now: u64) -> u64 {
        self.down_since.map_or(0, |since| now - since)
    }

    /// The output side has an error to recover from: it matters to packets that were sent, and to those that
    /// wait if the recovery does not come to its end.
    fn note_error(&mut self, now: u64, error: OutputError) {
        let matters = match error {
            OutputError::NotAccepted(Cause::LackOfResources) => false,
            OutputError::Timeout(_) => true,
            _ => self.has_sent(),
        };
        if matters {
            self.troubled_since.get_or_insert(now);
        }
    }

    /// Whether a packet of VC0 of `priority` may leave when the partner tells of so many free buffers.
    pub fn may_send(&self, told: u16, priority: u8) -> bool {
        let watermarks = self.link.config().watermarks;
        self.link.flow() == FlowControl::Receiver || told >= watermarks.needed(priority)
    }

    /// Whether a packet of VC0 of `priority` would be accepted here with so many buffers free.
    pub fn has_room(&self, free: u16, priority: u8) -> bool {
        free >= self.link.config().accept.needed(priority)
    }

    /// The packet on the wire ends earlier than it would `by` so much, and so does its repetition, if it is
    /// one.
    fn cut_short(&mut self, by: u64) -> u64 {
        let repeats = |serial| self.held.iter().any(|held| held.serial == serial && held.again);
        if self.on_wire.is_some_and(|(serial, _)| repeats(serial)) {
            self.stats.repeated_ps -= by;
        }
        by
    }

    /// The packet whose end was to be at `end` ends at `at`: what waited for that moves with it.
    fn shift(&mut self, end: u64, at: u64) {
        let moved = self.places.split_off(&end);
        self.places.extend(moved.into_iter().map(|place| place - end + at));
        // A function that has its place before that is on the wire by then.
        self.due.iter_mut().for_each(|key| {
            *key = if at < end { key.earlier(Duration(end - at)) } else { key.later(Duration(at - end)) };
        });
    }

    /// The last transmission of a packet.
    fn flight(&mut self, serial: u32) -> Option<&mut Air> {
        self.air.iter_mut().rev().find(|air| air.serial == serial)
    }

    /// A port that tells no free buffers tells none with what became due just now, either.
    fn retell_withheld(&mut self) {
        if self.withholds {
            self.link.retell(0);
        }
    }

    /// A symbol tells of free buffers; `holding`: nothing new, what there is to tell is due later; `of`: the
    /// channel of which it tells.
    fn tell(&mut self, symbol: &mut ControlSymbol, holding: bool, of: Option<u8>) {
        let stype0 = match symbol.stype0() {
            Stype0::Status { ack_id_status, .. } if holding => {
                Stype0::Status { ack_id_status, buf_status: self.told }
            }
            Stype0::Status { buf_status, .. }
            | Stype0::PacketAccepted { buf_status, .. }
            | Stype0::PacketRetry { buf_status, .. } => {
                if of.is_none_or(|channel| channel == 0) {
                    self.told = buf_status;
                }
                return;
            }
            _ => return,
        };
        *symbol = ControlSymbol::new(symbol.form(), stype0, symbol.stype1()).expect("it was one before");
    }

    /// Something damaged is here: it makes no difference if the input side is stopped by an error.
    fn absorb(&mut self) {
        let stopped = self.link.input() == lp_serial::link::InputState::ErrorStopped;
        self.stats.absorbed += u64::from(stopped);
    }

    /// Whether something is on its way to the partner.
    pub fn is_busy(&self) -> bool {
        !(self.air.is_empty() && self.flying.is_empty() && self.due.is_empty())
    }

    /// It tells no free buffers any more, and no symbol that says otherwise is on its way or will be
    /// repeated: whatever becomes of the link, no credit comes.
    pub fn is_mute(&self) -> bool {
        let tells_some = |flying: &Flying| match flying.symbol.stype0() {
            Stype0::Status { buf_status, .. }
            | Stype0::PacketAccepted { buf_status, .. }
            | Stype0::PacketRetry { buf_status, .. } => buf_status > 0,
            _ => false,
        };
        self.withholds && self.told == 0 && !self.flying.iter().any(tells_some)
    }

    /// Buffers for this channel, 0 for VC0, of which the partner has told, if no packet is on its way to it.
    pub fn told_at_rest(&self, channel: u8) -> Option<u16> {
        let rests = self.air.is_empty() && self.on_wire.is_none();
        rests.then(|| self.link.credit(channel).last_told())
    }

    /// The first packet that has begun to leave and is not acknowledged.
    pub fn first_sent(&self) -> Option<u32> {
        self.held.iter().find(|held| held.sent).map(|held| held.packet)
    }

    /// A symbol that leaves from `at` on shows a message that nobody hears.
    pub fn write_only(&mut self, at: u64, field: u16, lost: bool) {
        self.written.push_back((at, field, lost));
    }

    /// The message of [`write_only`](Self::write_only) that the symbol of this instant shows, and whether it
    /// is lost.
    fn shown(&mut self, now: u64) -> Option<(u16, bool)> {
        let &(at, field, lost) = self.written.front()?;
        if at > now {
            return None;
        }
        self.written.pop_front();
        Some((field, lost))
    }

    /// In packet granularity: a symbol has its place at `at`.
    pub fn note_place(&mut self, now: u64, at: u64) {
        self.place(at);
        if self.places.len() > PLACES_MAX {
            // The last one that has begun may still be on the wire.
            if let Some(&begun) = self.places.range(..=now).next_back() {
                self.places = self.places.split_off(&begun);
            }
        }
    }
}
