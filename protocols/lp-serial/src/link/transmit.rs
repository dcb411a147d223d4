//! The output side: which packet, which symbol, when.

use super::config::PacketMeta;
use super::event::LinkEvent;
use super::flow::report;
use super::init::Phase;
use super::port::{CLASSES, LinkPort, Sent};
use super::recovery::Request;
use super::state::{OutputEvent, OutputState};
use super::timer::LinkTimer;
use crate::control_symbol::{ControlSymbol, LinkRequest, Stype0, Stype1};
use core::fmt::Debug;
use core::hash::Hash;

/// Where the outgoing direction is when it could take a symbol.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Place {
    /// No packet is on the wire.
    Idle,
    /// Inside a packet, at a multiple of four characters.
    Inside,
    /// The last character of a packet has left; a delimiter must follow at once.
    End,
}

/// Whether a symbol may start a packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Starting {
    /// Yes, if it carries the last stype0 function that is due: acknowledgements go first.
    WithLast,
    /// Yes, whatever else is due; that follows the packet. For a driver that commits a packet to a place on
    /// the wire ahead of time: what becomes due after that cannot push it back.
    Now,
    /// No; and there will be a symbol in any case, because the owner has functions of its own (stype2) that
    /// must leave before the next packet.
    Not,
}

/// An offer to send a symbol.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Opportunity {
    /// Where.
    pub place: Place,
    /// Whether it may start a packet.
    pub starting: Starting,
    /// stype0 functions that are due stay: the driver has a place for them later on the wire. The symbol
    /// carries a status, whose buf_status the driver has to replace by what it sent last.
    pub holding: bool,
}

impl Opportunity {
    /// No packet is on the wire.
    pub const IDLE: Self = Self { place: Place::Idle, starting: Starting::WithLast, holding: false };
    /// Inside a packet.
    pub const INSIDE: Self = Self { place: Place::Inside, starting: Starting::WithLast, holding: false };
    /// After the last character of a packet.
    pub const END: Self = Self { place: Place::End, starting: Starting::WithLast, holding: false };
}

/// What leaves now.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Transmit<P> {
    /// The symbol; its stype2 is 0.
    pub symbol: ControlSymbol,
    /// The packet that follows its start-of-packet.
    pub packet: Option<Start<P>>,
}

/// A packet whose transmission begins.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Start<P> {
    /// Which.
    pub packet: P,
    /// What was said of it.
    pub meta: PacketMeta,
    /// The ackID to put into its header.
    pub ack_id: u8,
}

/// A packet that the port has no place for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Full<P>(pub P);

impl<P: Clone + Debug + Eq + Hash> LinkPort<P> {
    /// A packet to be sent. Its copy must be kept until [`LinkEvent::Acknowledged`].
    ///
    /// # Errors
    /// [`Full`] gives it back if as many packets wait as the port may hold.
    pub fn submit(&mut self, packet: P, meta: PacketMeta) -> Result<(), Full<P>> {
        if self.waiting() >= usize::from(self.config.queue) {
            return Err(Full(packet));
        }
        let queue = self.queue_of(meta);
        self.waiting[queue].push_back((packet, meta));
        Ok(())
    }

    /// A multicast-event symbol to be sent: before everything else, also inside a packet.
    pub fn submit_multicast_event(&mut self) {
        self.multicast = self.multicast.saturating_add(1);
    }

    /// Whether a packet like this, submitted now, would be the next to start, as soon as a packet may start:
    /// for sure, so beside waiting packets of channels that take turns with it the answer is no. With it an
    /// owner that chooses late (a switch with its own queues) keeps the port's own queue empty.
    #[must_use]
    pub fn would_start(&self, meta: PacketMeta) -> bool {
        let queue = self.queue_of(meta);
        let ahead = match self.config.vc0_share {
            None if queue < CLASSES => queue..CLASSES,
            _ if queue < CLASSES => queue..self.waiting.len(),
            _ => 0..self.waiting.len(),
        };
        self.may_start()
            && self.has_credit(self.config.channel(meta), meta.prio)
            && self.waiting[ahead].iter().all(|waiting| waiting.is_empty())
    }

    /// Whether a waiting packet would start at an opportunity that permits it.
    #[must_use]
    pub fn can_start(&self) -> bool {
        self.may_start() && (0..self.credits.len() as u8).any(|channel| self.first_waiting(channel).is_some())
    }

    /// The packet on the wire cannot be completed (a switch that cuts through found it damaged): it is
    /// cancelled at the next opportunity. `withdraw`: it is not to be sent again.
    ///
    /// # Panics
    /// If no packet is on the wire.
    pub fn stomp(&mut self, withdraw: bool) {
        let Some(packet) = &self.on_wire else { panic!("no packet is on the wire") };
        if let Some(last) = self.sent.back_mut() {
            last.withdrawn |= withdraw;
        } else if withdraw {
            // A retry has put it back already, and restart-from-retry will cancel it.
            for waiting in &mut self.waiting {
                if let Some(at) = waiting.iter().position(|(other, _)| other == packet) {
                    waiting.remove(at);
                    self.events.push_back(LinkEvent::Withdrawn(packet.clone()));
                    break;
                }
            }
        }
        self.stomp = true;
    }

    /// Whether an [`Opportunity::INSIDE`] would cancel the packet on the wire. A driver that does not embed
    /// symbols asks this after every input while a packet is on the wire.
    #[must_use]
    pub fn wants_cancel(&self) -> bool {
        let recovers =
            matches!(self.request, Request::Due { .. }) || self.output == OutputState::RetryStopped;
        self.phase.is_up() && self.on_wire.is_some() && (self.stomp || (self.config.cancel && recovers))
    }

    /// The symbol that leaves at this opportunity, if any; at [`Place::End`] there always is one. A symbol
    /// carries one stype0 function; unless the driver wants it otherwise a packet starts only with the last
    /// one that is due, so acknowledgements leave before responses to what they acknowledge.
    ///
    /// # Panics
    /// If `at` contradicts what the port knows: a packet is on the wire or not.
    pub fn poll_transmit(&mut self, now: u64, at: Opportunity) -> Option<Transmit<P>> {
        match self.phase {
            Phase::Down => return None,
            Phase::Initialising { .. } => return self.poll_initialising(now),
            Phase::Up => {}
        }
        assert!(
            (at.place == Place::Idle) == self.on_wire.is_none(),
            "{:?} although the packet on the wire is {:?}",
            at.place,
            self.on_wire
        );
        let before = if at.holding { 0 } else { self.outbox.len() };
        let (stype1, packet) = self.choose(now, at);
        if stype1 == Stype1::Nop && before == 0 && at.starting != Starting::Not {
            return None;
        }
        Some(Transmit { symbol: self.symbol(now, stype1, at.holding), packet })
    }

    fn poll_initialising(&mut self, now: u64) -> Option<Transmit<P>> {
        if self.outbox.len() == 0 && !self.phase.send_status() {
            return None;
        }
        let symbol = self.symbol(now, Stype1::Nop, false);
        self.complete_initialisation(now);
        Some(Transmit { symbol, packet: None })
    }

    /// A symbol with the stype0 function that is next, if they are not held back.
    fn symbol(&mut self, now: u64, stype1: Stype1, holding: bool) -> ControlSymbol {
        let due = if holding { None } else { self.outbox.pop() };
        let controlled = self.is_transmitter_controlled();
        let stype0 = match due {
            Some(due) => due.function(&self.config, controlled, self.expected),
            // Says nothing new: what changed since is due, or rides on the next acknowledgement. Of what
            // changed while the link was down nothing is due: until it is up the count is of this instant.
            None => {
                let vc0 = &mut self.buffers[0];
                let free = if self.phase.is_up() { vc0.advertised() } else { vc0.advertise() };
                let buf_status = report(self.config.form, controlled, free);
                Stype0::Status { ack_id_status: self.expected, buf_status }
            }
        };
        if due.is_none_or(|due| due.tells_of() == Some(0)) {
            let period = if self.phase.is_up() {
                self.config.status_period
            } else {
                Some(self.config.status_period.unwrap_or(self.config.link_timeout))
            };
            self.timers.set(LinkTimer::Status, period.map(|period| now.saturating_add(period)));
        }
        ControlSymbol::new(self.config.form, stype0, stype1).expect("every field is within its width")
    }

    /// The second function of the symbol, carried out.
    fn choose(&mut self, now: u64, at: Opportunity) -> (Stype1, Option<Start<P>>) {
        let may_cut = at.place != Place::Inside || self.config.cancel;
        if may_cut && let Request::Due { back_up_to } = self.request {
            self.send_link_request(now, back_up_to);
            return (Stype1::LinkRequest(LinkRequest::InputStatus), None);
        }
        if may_cut && self.output == OutputState::RetryStopped {
            self.cut_transmission();
            (self.output, _) = self.output.on(OutputEvent::Restarted);
            return (Stype1::RestartFromRetry, None);
        }
        if self.stomp && at.place != Place::Idle {
            self.cut_transmission();
            return (Stype1::Stomp, None);
        }
        if self.multicast > 0 && at.place != Place::End {
            self.multicast -= 1;
            return (Stype1::MulticastEvent, None);
        }
        if at.place == Place::Inside {
            return (Stype1::Nop, None);
        }
        self.on_wire = None;
        let may_start = match at.starting {
            Starting::WithLast => self.outbox.len() <= 1 && self.multicast == 0,
            Starting::Now => true,
            Starting::Not => false,
        };
        if may_start && let Some(start) = self.start(now) {
            return (Stype1::StartOfPacket, Some(start));
        }
        (if at.place == Place::End { Stype1::EndOfPacket } else { Stype1::Nop }, None)
    }

    fn send_link_request(&mut self, now: u64, back_up_to: Option<u8>) {
        self.cut_transmission();
        self.request = Request::Outstanding;
        self.timers.set(LinkTimer::LinkResponse, Some(now.saturating_add(self.config.link_timeout)));
        if let Some(ack_id) = back_up_to.filter(|&ack_id| self.can_back_up(ack_id)) {
            self.back_up(ack_id, OutputEvent::Requested);
        }
    }

    /// The packet on the wire ends here and counts as not sent.
    pub(super) fn cut_transmission(&mut self) {
        if self.on_wire.take().is_some()
            && let Some(last) = self.sent.back_mut()
        {
            last.cancelled = true;
        }
        self.stomp = false;
    }

    /// The link is lost, and with it the answer to a packet that was cut: it waits again.
    pub(super) fn take_back_cut(&mut self) {
        let cancelled = self.sent.back().is_some_and(|last| last.cancelled);
        let Some(cut) = cancelled.then(|| self.sent.pop_back()).flatten() else { return };
        let channel = self.config.channel(cut.meta);
        self.credits[usize::from(channel)].take_back();
        if cut.withdrawn {
            self.events.push_back(LinkEvent::Withdrawn(cut.packet));
        } else {
            let queue = self.queue_of(cut.meta);
            self.waiting[queue].push_front((cut.packet, cut.meta));
        }
    }

    /// Whether the state of the output side and the ackID window let a packet start.
    fn may_start(&self) -> bool {
        let window = usize::from(self.config.hold);
        // A stomped packet brings a retry: what followed it would be ignored.
        let stomped = self.sent.back().is_some_and(|last| last.cancelled);
        self.phase.is_up() && self.output == OutputState::Normal && self.sent.len() < window && !stomped
    }

    /// Takes the next packet.
    fn start(&mut self, now: u64) -> Option<Start<P>> {
        if !self.may_start() {
            return None;
        }
        let mut schedule = core::mem::take(&mut self.schedule);
        let channel = schedule.choose(|channel| {
            let queue = self.first_waiting(channel)?;
            self.waiting[queue].front().map(|(_, meta)| meta.octets)
        });
        self.schedule = schedule;
        let queue = self.first_waiting(channel?)?;
        let (packet, meta) = self.waiting[queue].pop_front()?;
        let channel = self.config.channel(meta);
        self.schedule.sent(channel, meta.octets);
        let ack_id = self.next_ack_id();
        if self.is_transmitter_controlled() {
            self.credits[usize::from(channel)].sent();
        }
        self.sent.push_back(Sent {
            packet: packet.clone(),
            meta,
            at: now,
            cancelled: false,
            withdrawn: false,
        });
        self.on_wire = Some(packet.clone());
        if self.sent.len() == 1 {
            self.time_acknowledgement();
        }
        Some(Start { packet, meta, ack_id })
    }

    /// The queue of `channel` whose head may be sent: in VC0 the highest class that waits, if it has credit.
    /// Lower classes need at least as much.
    fn first_waiting(&self, channel: u8) -> Option<usize> {
        let mut queues = match channel {
            0 => 0..CLASSES,
            _ => CLASSES + usize::from(channel) - 1..CLASSES + usize::from(channel),
        };
        let queue = queues.rfind(|&queue| !self.waiting[queue].is_empty())?;
        let (_, meta) = self.waiting[queue].front()?;
        self.has_credit(channel, meta.prio).then_some(queue)
    }

    /// Where a packet waits.
    pub(super) fn queue_of(&self, meta: PacketMeta) -> usize {
        match self.config.channel(meta) {
            0 => usize::from(meta.prio & 3) << 1 | usize::from(meta.crf && self.config.crf),
            channel => CLASSES + usize::from(channel) - 1,
        }
    }
}
