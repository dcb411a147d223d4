//! The downstream side, one per device: what must be said through which port, and what is said at the next
//! opportunity.
//!
//! A change of a reported status only *marks* its group of six ports, for every port that transmits VoQ
//! symbols. The content of a message is sampled when a symbol leaves ([`Originator::poll_symbol`]), so
//! changes in between coalesce. Marked groups are served round robin, and so are linked channels with marked
//! groups, lest one that chatters starve the others.
//!
//! Which ports are told what depends on [`Verdict`]. *Shared* suits an output-queued switch: one verdict per
//! egress port, told to all. *Per ingress* suits a switch with one queue per (ingress, egress) pair: port u
//! is told the verdicts of the queues that are fed by u.
//!
//! # Calling contract
//!
//! * Inputs: [`set_congested`](Originator::set_congested),
//!   [`set_congested_for`](Originator::set_congested_for), [`write_csr`](Originator::write_csr),
//!   [`write`](Originator::write), [`link_up`](Originator::link_up), [`link_down`](Originator::link_down),
//!   [`link_recovered`](Originator::link_recovered), [`refresh`](Originator::refresh),
//!   [`reset`](Originator::reset). Those that can mark something say at which ports.
//! * Output: [`poll_symbol`](Originator::poll_symbol) for each long control symbol that leaves;
//!   [`needs_symbol`](Originator::needs_symbol) or [`needed_carrier`](Originator::needed_carrier) when none
//!   would. Nothing here ever waits for the other side, and an acknowledgement that is due goes first.

use crate::codec::{Error, GROUPS, Message, PORTS_PER_GROUP, groups_for};
use crate::counters::OriginatorCounters;
use crate::csr::{Block, GEN_EN, LINK_EN, PART, PortCsr, Register, Support, XOFF};
use crate::ports::Ports;
use crate::symbol::{ActiveVcs, Carrier, Opportunity, Scope, Vc};
use alloc::vec;
use alloc::vec::Vec;
use lp_serial::Form;

/// How often the owner should call [`Originator::refresh`], in code-groups per lane, unless it knows better:
/// the longest VC refresh period that Part 6 §5.5.3.2 makes mandatory. Without refresh a lost "clear" stops a
/// queue for ever.
pub const REFRESH_PERIOD_CODE_GROUPS: u32 =
    lp_serial::cost::VC_REFRESH_MANDATORY_UNITS * lp_serial::cost::VC_REFRESH_UNIT_CODE_GROUPS;

/// The round-robin position from which the search begins at group 0.
const BEFORE_FIRST_GROUP: u8 = GROUPS as u8 - 1;

/// Whose queue a verdict is about.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Verdict {
    /// One verdict per egress port, told to every port (output-queued switch).
    #[default]
    Shared,
    /// One verdict per (ingress, egress) pair, told to that ingress port (input-queued switch).
    PerIngress,
}

/// How a device is built and set up.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// Whose queue a verdict is about.
    pub verdict: Verdict,
    /// The virtual channels of ports with [`Support::linking`]; the others have VC0 alone.
    pub vcs: ActiveVcs,
    /// Whether [`Originator::refresh`] does anything (Part 12 §4.2 f).
    pub refresh: bool,
    /// Whether [`Originator::link_recovered`] does anything (Part 12 §4.2 g).
    pub after_recovery: bool,
    /// Offset of the next extended features block, 0 for the last.
    pub next_block: u16,
}

impl Default for Options {
    /// Shared verdicts, VC0 alone, both repairs on, last block.
    fn default() -> Self {
        Self {
            verdict: Verdict::Shared,
            vcs: ActiveVcs::None,
            refresh: true,
            after_recovery: true,
            next_block: 0,
        }
    }
}

/// What a register write did.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Written {
    /// Transmitting ports at which something was marked.
    pub marked: Ports,
    /// Transmitting ports that report another status than before without marking it, because PART is 0: their
    /// neighbours learn of it from the next symbol of that group, and that may be the next refresh (VOQ-D12).
    pub stale: Ports,
    /// The write ended generation at a port whose neighbour may still hold a status of 1: nothing will ever
    /// clear it. A well-behaved manager brings the reported ports to "clear" and lets the symbols leave
    /// before it writes.
    pub abandoned: bool,
}

/// Round-robin set of groups that wait for an opportunity; one per transmitting port, and per VC if linked.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Pending {
    groups: u32,
    last: u8,
}

impl Pending {
    const NONE: Self = Self { groups: 0, last: BEFORE_FIRST_GROUP };

    /// The next marked group above the last one, wrapping.
    fn take(&mut self) -> Option<u8> {
        if self.groups == 0 {
            return None;
        }
        // Two shifts, because `last` may be 31 and a shift by 32 is none.
        let above = self.groups & (u32::MAX << 1) << self.last;
        let next = if above == 0 { self.groups } else { above }.trailing_zeros();
        self.groups &= !(1 << next);
        self.last = next as u8;
        Some(self.last)
    }

    /// Marks a full state: it goes out in ascending order.
    fn mark_run(&mut self, groups: u32) {
        self.groups |= groups;
        self.last = BEFORE_FIRST_GROUP;
    }
}

/// Originator of a device with N ports: N numbers per table, N x N / 6 bytes more if verdicts are per
/// ingress, for each virtual channel if a port can link messages with them.
///
/// # Panics
/// All methods with a port number panic if the device has no such port.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Originator {
    options: Options,
    block: Block,
    groups: u16,
    /// Verdicts, six ports to a byte, `groups` bytes per channel, `lanes` channels per row: one row, or one
    /// per ingress port.
    raw: Vec<u8>,
    /// PART and XOFF of all ports in the same shape, so that six reported bits are three bytes away.
    participating: Vec<u8>,
    forced: Vec<u8>,
    /// Ports whose link is up and uses long control symbols.
    long: Ports,
    /// Of these, the ones with GEN_EN.
    active: Ports,
    /// `lanes` entries per port: entry 0 for VC0 or for all VCs, the others for the optional VCs when linked.
    pending: Vec<Pending>,
    /// The channel from which on the next one to be served is looked for, by port.
    turn: Vec<u8>,
    lanes: usize,
    counters: OriginatorCounters,
}

impl Originator {
    /// The originator of a device after reset: all links down, all enables 0. One entry of `support` per
    /// port.
    ///
    /// # Errors
    /// [`Error::Port`] for more than 192 ports.
    pub fn new(support: &[Support], options: Options) -> Result<Self, Error> {
        let block = Block::new(support, options.next_block)?;
        let ports = usize::from(block.len());
        let groups = groups_for(block.len());
        let rows = match options.verdict {
            Verdict::Shared => 1,
            Verdict::PerIngress => ports,
        };
        let lanes = if support.iter().any(|port| port.linking) { options.vcs.count() } else { 1 };
        Ok(Self {
            options,
            block,
            groups,
            raw: vec![0; rows * lanes * usize::from(groups)],
            participating: vec![0; groups.into()],
            forced: vec![0; groups.into()],
            long: Ports::EMPTY,
            active: Ports::EMPTY,
            pending: vec![Pending::NONE; ports * lanes],
            turn: vec![0; ports],
            lanes,
            counters: OriginatorCounters::default(),
        })
    }

    // Inputs.

    /// The device's verdict about an egress port, for all ingress ports. Returns the transmitting ports at
    /// which its group is now marked; a repeated verdict costs a comparison for each channel and marks
    /// nothing.
    pub fn set_congested(&mut self, egress: u16, congested: bool) -> Ports {
        match self.options.verdict {
            Verdict::Shared => self.set_in_all(0, egress, congested),
            Verdict::PerIngress => (0..self.block.len())
                .filter(|&upstream| self.set_congested_for(upstream, egress, congested))
                .collect(),
        }
    }

    /// The device's verdict about one (ingress, egress) pair. Returns whether the group of `egress` is now
    /// marked at port `upstream`. With [`Verdict::Shared`] this is [`set_congested`](Self::set_congested):
    /// there is only one verdict.
    pub fn set_congested_for(&mut self, upstream: u16, egress: u16, congested: bool) -> bool {
        self.set_in_all(upstream, egress, congested).contains(upstream)
    }

    /// The device's verdict about an egress port for traffic of one virtual channel, of `upstream` alone with
    /// [`Verdict::PerIngress`]. Returns the transmitting ports at which its group is now marked: through a
    /// linked port that channel is told; through others that the port is congested, if it is for any channel.
    ///
    /// # Panics
    /// If no port of the device can link messages with channels and `vc` is not VC0, or if the channel is not
    /// active.
    pub fn set_congested_in(&mut self, upstream: u16, vc: Vc, egress: u16, congested: bool) -> Ports {
        let slot = self.options.vcs.slot(vc).filter(|&slot| slot < self.lanes);
        self.set_in(slot.expect("the virtual channel is told apart"), upstream, egress, congested)
    }

    /// Writes the control and status register of a port, as a maintenance write does.
    pub fn write_csr(&mut self, port: u16, value: u32) -> Written {
        let (before, after) = self.block.write_port(port, value);
        let (group, bit) = self.place(port);
        let (participating, forced) = (self.participating[group], self.forced[group]);
        set_bit(&mut self.participating[group], bit, after.has(PART));
        set_bit(&mut self.forced[group], bit, after.has(XOFF));

        let mut written = Written::default();
        self.move_pending(port, before, after);
        self.update_active(port);
        match (before.has(GEN_EN), after.has(GEN_EN)) {
            (false, true) if self.mark_full_state(port) => written.marked.insert(port),
            (true, false) => {
                self.clear_pending(port);
                written.abandoned = self.reports_congestion(port);
            }
            _ => {}
        }
        for upstream in self.active.iter() {
            let was_linked = if upstream == port { before.has(LINK_EN) } else { self.is_linked(upstream) };
            // With the linking mode everything may mean something else to the neighbour.
            let all = was_linked != self.is_linked(upstream);
            for other in (0..usize::from(self.groups)).filter(|&other| all || other == group) {
                let (participating, forced) = match other == group {
                    true => (participating, forced),
                    false => (self.participating[other], self.forced[other]),
                };
                for slot in 0..self.lanes {
                    let raw = self.raw_of(upstream, was_linked.then_some(slot), other);
                    let told = forced | participating & raw;
                    let changed = told ^ self.status(upstream, slot, other as u16);
                    if changed & self.participating[other] != 0 {
                        self.mark(upstream, slot, 1 << other);
                        written.marked.insert(upstream);
                    }
                    if changed & !self.participating[other] != 0 {
                        written.stale.insert(upstream);
                    }
                }
            }
        }
        written
    }

    /// A maintenance write to a byte offset of the register block; offsets without a port register ignore it.
    pub fn write(&mut self, offset: u32, value: u32) -> Written {
        match self.block.locate(offset) {
            Register::Port(port) => self.write_csr(port, value),
            Register::Header | Register::Unassigned => Written::default(),
        }
    }

    /// The link of a port is initialised, with control symbols of this form. The neighbour knows nothing,
    /// which means "all clear": groups with a reported 1 are marked. Returns whether there are any.
    pub fn link_up(&mut self, port: u16, form: Form) -> bool {
        match form {
            Form::Long => self.long.insert(port),
            Form::Short => self.long.remove(port),
        }
        self.update_active(port);
        if !self.active.contains(port) {
            self.clear_pending(port);
            return false;
        }
        let mut all = 0;
        for slot in 0..self.lanes {
            let reporting = (0..self.groups).filter(|&group| self.status(port, slot, group) != 0);
            let groups = reporting.fold(0, |groups, group| groups | 1 << group);
            if let Some(pending) = self.lanes_in_use(port).get_mut(slot) {
                pending.mark_run(groups);
            }
            all |= groups;
        }
        self.begin_anew(port);
        all != 0
    }

    /// The link of a port is no longer initialised.
    pub fn link_down(&mut self, port: u16) {
        self.clear_pending(port);
        self.long.remove(port);
        self.update_active(port);
    }

    /// The link of a port recovered from an error without initialisation: a message may have been lost, so
    /// the full state is marked, if [`Options::after_recovery`] is on. Returns whether it was.
    pub fn link_recovered(&mut self, port: u16) -> bool {
        self.options.after_recovery && self.mark_full_state(port)
    }

    /// The refresh timer of a port expired: marks the full state, if [`Options::refresh`] is on. Returns
    /// whether it did.
    pub fn refresh(&mut self, port: u16) -> bool {
        let marked = self.options.refresh && self.mark_full_state(port);
        self.counters.refreshes += u64::from(marked);
        marked
    }

    /// The device is reset: enables 0, verdicts clear, links down.
    pub fn reset(&mut self) {
        self.block.reset();
        self.raw.fill(0);
        self.participating.fill(0);
        self.forced.fill(0);
        self.pending.fill(Pending::NONE);
        self.turn.fill(0);
        self.long = Ports::EMPTY;
        self.active = Ports::EMPTY;
    }

    // Outputs.

    /// A long control symbol is about to leave through `port`. Returns the field to put on it, sampled now;
    /// none means NOP. The message counts as sent.
    ///
    /// A port without GEN_EN, or whose link is down or on short symbols, never has one. With linking on only
    /// Status and VC_Status get one, about the channel that they name.
    pub fn poll_symbol(&mut self, port: u16, opportunity: Opportunity) -> Option<u16> {
        if !self.active.contains(port) {
            return None;
        }
        let lane = match opportunity.carrier.scope(self.is_linked(port), self.options.vcs).ok()? {
            Scope::AllVcs => 0,
            Scope::One(vc) => self.options.vcs.slot(vc)?,
        };
        let group = self.pending[usize::from(port) * self.lanes + lane].take()?;
        self.turn[usize::from(port)] = ((lane + 1) % self.lanes) as u8;
        if opportunity.standalone {
            self.counters.tx_standalone += 1;
        } else {
            self.counters.tx_riding += 1;
        }
        let status = self.status(port, lane, group.into());
        Some(Message::new(group, status).ok()?.to_field())
    }

    /// Whether something waits for an opportunity at `port`: the link layer may then send a symbol for it
    /// alone.
    #[must_use]
    pub fn needs_symbol(&self, port: u16) -> bool {
        self.pending_of(port).iter().any(|pending| pending.groups != 0)
    }

    /// The symbol that something waits for at `port`: Status, or the VC_Status of the next channel with a
    /// marked group after the one that was served last, cyclically.
    #[must_use]
    pub fn needed_carrier(&self, port: u16) -> Option<Carrier> {
        let first = usize::from(self.turn[usize::from(port)]);
        let mut lanes = (first..first + self.lanes).map(|lane| lane % self.lanes);
        let lane = lanes.find(|&lane| self.pending_of(port)[lane].groups != 0)?;
        Some(Carrier::naming(self.options.vcs.at(lane)))
    }

    /// Messages that wait at `port`.
    #[must_use]
    pub fn pending_messages(&self, port: u16) -> u32 {
        self.pending_of(port).iter().map(|pending| pending.groups.count_ones()).sum()
    }

    // Getters.

    /// The register block, for reads.
    #[must_use]
    pub const fn block(&self) -> &Block {
        &self.block
    }

    /// How the device was made.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Ports that transmit VoQ symbols: GEN_EN set, link up, long control symbols. Their refresh timers run.
    #[must_use]
    pub const fn active(&self) -> Ports {
        self.active
    }

    /// Whether messages through `port` are linked with virtual channels.
    #[must_use]
    pub fn is_linked(&self, port: u16) -> bool {
        self.block.port(port).has(LINK_EN)
    }

    /// The verdict about `egress` for traffic from `upstream`, in any channel.
    #[must_use]
    pub fn raw(&self, upstream: u16, egress: u16) -> bool {
        let (group, bit) = self.place(egress);
        self.raw_of(upstream, None, group) & bit != 0
    }

    /// What `upstream` is told about `egress`, for any channel.
    #[must_use]
    pub fn reported(&self, upstream: u16, egress: u16) -> bool {
        let (group, bit) = self.place(egress);
        (self.forced[group] | self.participating[group] & self.raw_of(upstream, None, group)) & bit != 0
    }

    /// What `upstream` is told about `egress` for traffic of a virtual channel; through a port that is not
    /// linked all channels are told the same.
    #[must_use]
    pub fn reported_in(&self, upstream: u16, vc: Vc, egress: u16) -> bool {
        let (group, bit) = self.place(egress);
        let slot = self.options.vcs.slot(vc).unwrap_or(0);
        self.status(upstream, slot, group as u16) & bit != 0
    }

    /// What was counted so far.
    #[must_use]
    pub const fn counters(&self) -> OriginatorCounters {
        self.counters
    }

    /// What was counted since the last call; counting begins anew. A state explorer calls it so that states
    /// which differ only in their history are equal.
    pub fn take_counters(&mut self) -> OriginatorCounters {
        core::mem::take(&mut self.counters)
    }

    // Inner parts.

    /// Sets a verdict for one channel: where its group is now marked.
    fn set_in(&mut self, slot: usize, upstream: u16, egress: u16, congested: bool) -> Ports {
        let (group, bit) = self.place(egress);
        let cell = self.cell(upstream, slot, group);
        if (self.raw[cell] & bit != 0) == congested {
            return Ports::EMPTY;
        }
        let before = self.raw_of(upstream, None, group);
        self.raw[cell] ^= bit;
        if self.participating[group] & !self.forced[group] & bit == 0 {
            return Ports::EMPTY;
        }
        let for_any = (before ^ self.raw_of(upstream, None, group)) & bit != 0;
        let mut marked = Ports::EMPTY;
        for port in self.active.iter() {
            let concerned = self.options.verdict == Verdict::Shared || port == upstream;
            if concerned && (for_any || self.is_linked(port)) {
                self.mark(port, slot, 1 << group);
                marked.insert(port);
            }
        }
        marked
    }

    /// Sets a verdict for all channels.
    fn set_in_all(&mut self, upstream: u16, egress: u16, congested: bool) -> Ports {
        let lanes = 0..self.lanes;
        lanes.fold(Ports::EMPTY, |all, slot| all.union(self.set_in(slot, upstream, egress, congested)))
    }

    /// Index of a port's group and its bit in the group.
    fn place(&self, port: u16) -> (usize, u8) {
        assert!(port < self.block.len(), "the device has no port {port}");
        (usize::from(port / PORTS_PER_GROUP), 1 << (port % PORTS_PER_GROUP))
    }

    /// Where the verdicts of a group stand.
    fn cell(&self, upstream: u16, slot: usize, group: usize) -> usize {
        let row = match self.options.verdict {
            Verdict::Shared => 0,
            Verdict::PerIngress => usize::from(upstream),
        };
        (row * self.lanes + slot) * usize::from(self.groups) + group
    }

    /// The six verdicts of a group: of a channel, or those of any.
    fn raw_of(&self, upstream: u16, slot: Option<usize>, group: usize) -> u8 {
        match slot {
            Some(slot) => self.raw[self.cell(upstream, slot, group)],
            None => (0..self.lanes).fold(0, |any, slot| any | self.raw[self.cell(upstream, slot, group)]),
        }
    }

    /// The six reported bits of a group, as `upstream` is told them for a channel.
    fn status(&self, upstream: u16, slot: usize, group: u16) -> u8 {
        let group = usize::from(group);
        let raw = self.raw_of(upstream, self.is_linked(upstream).then_some(slot), group);
        self.forced[group] | self.participating[group] & raw
    }

    fn reports_congestion(&self, upstream: u16) -> bool {
        (0..self.groups).any(|group| (0..self.lanes).any(|slot| self.status(upstream, slot, group) != 0))
    }

    fn update_active(&mut self, port: u16) {
        if self.long.contains(port) && self.block.port(port).has(GEN_EN) {
            self.active.insert(port);
        } else {
            self.active.remove(port);
        }
    }

    fn pending_of(&self, port: u16) -> &[Pending] {
        &self.pending[usize::from(port) * self.lanes..][..self.lanes]
    }

    /// The sets in use at a port: one, or one per active channel.
    fn lanes_in_use(&mut self, port: u16) -> &mut [Pending] {
        let used = if self.is_linked(port) { self.lanes } else { 1 };
        &mut self.pending[usize::from(port) * self.lanes..][..used]
    }

    /// Marks groups for a channel; through a port that is not linked all channels are told together.
    fn mark(&mut self, port: u16, slot: usize, groups: u32) {
        let in_use = self.lanes_in_use(port);
        let last = in_use.len() - 1;
        in_use[slot.min(last)].groups |= groups;
    }

    fn mark_run(&mut self, port: u16, groups: u32) {
        for pending in self.lanes_in_use(port) {
            pending.mark_run(groups);
        }
        self.begin_anew(port);
    }

    /// Channels are served from the first one on.
    fn begin_anew(&mut self, port: u16) {
        self.turn[usize::from(port)] = 0;
    }

    fn mark_full_state(&mut self, port: u16) -> bool {
        let transmits = self.active.contains(port);
        if transmits {
            self.mark_run(port, u32::MAX >> (GROUPS - self.groups));
        }
        transmits
    }

    fn clear_pending(&mut self, port: u16) {
        self.pending[usize::from(port) * self.lanes..][..self.lanes].fill(Pending::NONE);
        self.begin_anew(port);
    }

    /// When linking is turned on or off, what waits must wait where it will be looked for.
    fn move_pending(&mut self, port: u16, before: PortCsr, after: PortCsr) {
        let lanes = &mut self.pending[usize::from(port) * self.lanes..][..self.lanes];
        match (before.has(LINK_EN), after.has(LINK_EN)) {
            (false, true) => lanes.fill(lanes[0]),
            (true, false) => {
                let groups = lanes.iter().fold(0, |groups, pending| groups | pending.groups);
                let last = lanes[0].last;
                lanes.fill(Pending::NONE);
                lanes[0] = Pending { groups, last };
            }
            _ => {}
        }
    }
}

fn set_bit(byte: &mut u8, bit: u8, value: bool) {
    if value {
        *byte |= bit;
    } else {
        *byte &= !bit;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_groups_are_taken_round_robin_and_wrap() {
        let mut pending = Pending { groups: 1 << 31 | 1 << 4 | 1, last: 4 };
        assert_eq!(pending.take(), Some(31));
        pending.groups |= 1 << 31;
        assert_eq!([pending.take(), pending.take(), pending.take()], [Some(0), Some(4), Some(31)]);
        assert_eq!(pending.take(), None);
        pending.groups = 1 << 2 | 1 << 30;
        pending.last = 10;
        pending.mark_run(1 << 3);
        assert_eq!([pending.take(), pending.take(), pending.take()], [Some(2), Some(3), Some(30)]);
    }

    #[test]
    fn tables_are_as_large_as_the_device() {
        let shared = Originator::new(&[Support::UNLINKED; 8], Options::default()).unwrap();
        assert_eq!([shared.raw.len(), shared.forced.len(), shared.pending.len()], [2, 2, 8]);
        let options = Options { verdict: Verdict::PerIngress, vcs: ActiveVcs::Eight, ..Options::default() };
        let input_queued = Originator::new(&[Support::UNLINKED; 8], options).unwrap();
        assert_eq!([input_queued.raw.len(), input_queued.pending.len()], [16, 8]);
        let linked = Originator::new(&[Support::ALL; 8], options).unwrap();
        assert_eq!([linked.pending.len(), linked.raw.len()], [72, 144]);
    }
}
