//! Virtual channels VC1 to VC8 (Part 6 §5.4, §5.11) of links in symbol granularity.
//!
//! A packet of VC1 to VC8 has its VCID above the four priorities, in the same octet, for its whole life;
//! which channel of a link that is follows from how many channels the link has. Everything else about these
//! packets is here and lies beside what VC0 has:
//!
//! - *Queues.* An output has a list for each channel and input, an endpoint one for each channel. No channel
//!   waits for another, and a channel is a FIFO for each input.
//! - *Choice.* VC0 goes before all, or takes part; among the others the [`Schedule`] of the link port divides
//!   the link by shares of octets.
//! - *Buffers.* Each channel has receive buffers of its own at both ends of a link.
//! - *Loss.* A packet of continuous traffic is not sent again. Whether it has arrived is known at the latest
//!   when the transmitter forgets it; if it has not, it is dropped and counted there.
//!
//! - *Staging.* Each channel has staging queues of its own (`aside.rs`).
//!
//! Ordinary packets pay nothing: a port with channels has a bit in the set of priorities without credit that
//! is never clear, so that every short cut leads here.

use super::End;
use super::aside::Aside;
use crate::config::{ChannelsConfig, PRIORITIES};
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::port::{Port, UNSERVED, reading};
use crate::link::{Links, refresh};
use crate::observe::Build;
use crate::observe::clock::CHANNELS;
use crate::observe::probe::{DropReason, Sample};
use crate::packet::{List, Packet};
use crate::ports::{PortSet, Ports};
use lp_serial::link::{Channels, Config, FlowControl, OpenChannel, PacketMeta, Schedule};
use sim_core::EventList;

/// VC1 to VC8 and, in place 0, VC0.
pub(crate) const CHANNEL_COUNT: usize = 9;

/// The channels of one end of a link.
#[derive(Clone, Debug)]
pub(crate) struct VirtualChannels {
    pub(in crate::link) names: Channels,
    /// Receive buffers in use, by channel (those of VC0 are counted by the port).
    occupied: [u16; CHANNEL_COUNT],
    /// Lanes of the output.
    pub(super) lanes: u32,
    /// Packets that wait for the transmitter, `[(channel - 1) * lanes + lane]`.
    pub(super) lists: Vec<List>,
    /// Packets of stopped staging queues, by `channel - 1`.
    pub(super) asides: Vec<Vec<Aside>>,
    /// Lanes with packets, by channel.
    pub(in crate::link) masks: [PortSet; CHANNEL_COUNT],
    /// Last lane served, by channel.
    pub(in crate::link) pointers: [u8; CHANNEL_COUNT],
    pub(in crate::link) schedule: Schedule,
    /// The packet that is committed next was chosen by the schedule.
    pub(in crate::link) chosen: bool,
    /// Messages through the port are linked with the channels.
    pub linked: bool,
    /// VC_status of all channels is due again.
    refresh_at: u64,
    refresh_every: u64,
}

impl VirtualChannels {
    pub(super) fn new(settings: &ChannelsConfig, port: &Config, lanes: u32) -> Self {
        let refresh = settings.refresh.map_or(u64::MAX, |period| period.0);
        VirtualChannels {
            names: settings.channels,
            occupied: [0; CHANNEL_COUNT],
            lanes,
            lists: vec![List::default(); usize::from(settings.channels.count()) * lanes as usize],
            asides: vec![Vec::new(); settings.channels.count().into()],
            masks: [PortSet::EMPTY; CHANNEL_COUNT],
            pointers: [UNSERVED; CHANNEL_COUNT],
            schedule: Schedule::new(port),
            chosen: false,
            linked: false,
            refresh_at: refresh,
            refresh_every: refresh,
        }
    }

    /// Which channels these are.
    pub fn names(&self) -> Channels {
        self.names
    }

    /// Channel of a packet that has its VCID above the priorities; 0 for VC0.
    pub fn of(&self, priority: u8) -> u8 {
        match priority.checked_sub(PRIORITIES as u8) {
            Some(vcid) => self.names.channel_of(vcid),
            None => 0,
        }
    }

    pub(in crate::link) fn list(&mut self, channel: u8, lane: u32) -> &mut List {
        &mut self.lists[(u32::from(channel - 1) * self.lanes + lane) as usize]
    }

    /// Receive buffers in use by all channels.
    pub fn held(&self) -> u16 {
        self.occupied.iter().sum()
    }

    /// Receive buffers of a channel in use.
    pub fn held_by(&self, channel: u8) -> u16 {
        self.occupied[usize::from(channel)]
    }
}

/// The channels of a link that begins: nothing is in use.
pub(super) fn open(settings: &ChannelsConfig) -> Vec<OpenChannel> {
    let active = &settings.vcs[..usize::from(settings.channels.count())];
    active.iter().map(|vc| OpenChannel { told: vc.buffers, occupied: 0, advertised: vc.buffers }).collect()
}

impl Packet {
    /// What a link port needs to know of the packet.
    pub(super) fn meta(&self) -> PacketMeta {
        match self.priority.checked_sub(PRIORITIES as u8) {
            Some(vcid) => PacketMeta::of_vc(vcid, self.wire),
            None => PacketMeta::new(self.priority, self.wire),
        }
    }
}

impl End {
    /// Packets of VC0 that take credit: on their way, and committed.
    pub(super) fn outstanding_in_vc0(&self) -> u16 {
        match &self.channels {
            None => (self.link.outstanding() + self.link.waiting()) as u16,
            Some(_) => self.link.credit(0).outstanding() + self.link.waiting_in(0) as u16,
        }
    }

    /// VCIDs that may not start; `normal`: nothing keeps packets waiting but credit.
    pub(super) fn channel_gate(&self, normal: bool, window: u16) -> u16 {
        let Some(channels) = &self.channels else { return 0 };
        let taken = self.link.outstanding() + self.link.waiting();
        let open = |vcid: u8| {
            let channel = channels.names.channel_of(vcid);
            let credit = usize::from(self.link.credit(channel).free()) > self.link.waiting_in(channel);
            let goes = credit || self.link.flow() == FlowControl::Receiver;
            if normal {
                goes && taken < usize::from(window)
            } else {
                self.link.would_start(PacketMeta::of_vc(vcid, 0))
            }
        };
        (0..8).filter(|&vcid| !open(vcid)).fold(CHANNELS, |gate, vcid| gate | 1 << (PRIORITIES as u8 + vcid))
    }

    /// The link port learns how many buffers of the channels are in use.
    pub(super) fn count_channels(&mut self, withholds: bool) {
        let Some(channels) = &self.channels else { return };
        for channel in 1..=channels.names.count() {
            let all = self.link.config().vcs[usize::from(channel) - 1].buffers;
            let in_use = channels.occupied[usize::from(channel)];
            self.link.occupy(channel, if withholds { all } else { in_use });
        }
    }

    /// The neighbour is told of the buffers of all channels.
    pub(super) fn tell_all(&mut self) {
        self.link.tell();
        if self.channels.is_some() {
            self.link.tell_channels();
        }
    }
}

impl<P: Build> Links<P> {
    /// The channels of the link of `port`, if it has any.
    pub fn channels(&self, port: PortId) -> Option<&VirtualChannels> {
        self.ends.get(port.index())?.as_ref()?.channels.as_deref()
    }

    /// Channel in which the link of `port` carries packets of a priority, or of the VCID above the
    /// priorities; 0 for VC0.
    pub fn channel_of(&self, port: PortId, priority: u8) -> u8 {
        if usize::from(priority) < PRIORITIES {
            return 0;
        }
        self.channels(port).map_or(0, |channels| channels.of(priority))
    }

    /// What a sample sees of `port`, behind the ports that it has seen.
    pub fn see_port(&mut self, port: PortId, sample: &mut Sample) {
        let Port { tx, rx, .. } = &self.ports[port.index()];
        let in_channels = self.channels(port).map_or(0, |channels| u32::from(channels.held()));
        let (held, waiting) = (u32::from(rx.occupied) + in_channels, tx.waiting);
        sample.input_occupancy.push(held);
        sample.output_waiting.push(waiting);
        sample.carried_ps.push(tx.packet_ps);
        let queues = self.observe.occupancy.of(port).expect("queues are integrated where somebody samples");
        sample.input_ps.push(queues.input.close(sample.at, held.into()));
        sample.waiting_ps.push(queues.waiting.close(sample.at, waiting.into()));
    }

    pub fn channels_mut(&mut self, port: PortId) -> &mut VirtualChannels {
        self.end(port).channels.as_deref_mut().expect("packets of a VC stay on links that have it")
    }

    /// A packet of a channel waits for `port` from `at` on, behind the others of its lane.
    pub(in crate::link) fn store_in_channel(&mut self, port: PortId, lane: u32, packet: u32, at: u64) {
        let priority = self.packets[packet].priority;
        let end = self.ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let channels = end.channels.as_deref_mut().expect("packets of a VC stay on links that have it");
        let channel = channels.of(priority);
        channels.masks[usize::from(channel)] |= PortSet::one(lane);
        self.packets.push_back(channels.list(channel, lane), packet);
        let tx = &mut self.ports[port.index()].tx;
        tx.stored += 1;
        tx.waiting += 1;
        tx.high_water = tx.high_water.max(tx.waiting);
        self.observe.occupancy.waits(port, at);
    }

    /// Receive buffers of a channel of `port` that are free.
    pub fn free_in_channel(&mut self, port: PortId, channel: u8) -> u16 {
        let end = self.end(port);
        let held = end.channels.as_ref().map_or(0, |channels| channels.held_by(channel));
        end.link.config().vcs[usize::from(channel) - 1].buffers - held
    }

    /// A packet is committed to the wire of a port with channels.
    pub(super) fn launched_with_channels(&mut self, port: PortId, packet: u32, now: u64) {
        let record = &self.packets[packet];
        let (priority, octets, input) = (record.priority, record.wire, u32::from(record.input));
        let base = self.base_of(port);
        let channels = self.channels_mut(port);
        let channel = channels.of(priority);
        channels.pointers[usize::from(channel)] = input as u8;
        if !std::mem::take(&mut channels.chosen) {
            // It came while nobody else waited.
            channels.schedule.choose(|other| (other == channel).then_some(octets));
        }
        channels.schedule.sent(channel, octets);
        if now >= channels.refresh_at {
            // Without a loss a refresh tells nothing new: one run is made up before the link is used again.
            channels.refresh_at = now + channels.refresh_every;
            self.end(port).link.tell_channels();
        }
        if self.channels_mut(port).linked && now >= self.ports[port.index()].tx.refresh_at {
            self.refresh_linked(now, port);
        }
        if channel != 0 && self.nodes.is_switch(port) {
            let from = self.channels_mut(base + input).of(priority);
            self.ports[port.index()].tx.reading_kind = reading::channel(from);
        }
    }

    /// The refresh of a port whose messages are linked with channels: one for each group and channel, on a
    /// status of that, behind the packet that has been committed.
    fn refresh_linked(&mut self, now: u64, port: PortId) {
        let tx = &mut self.ports[port.index()].tx;
        let cold = &mut self.cold[port.index()];
        if cold.refresh_event == now {
            return;
        }
        tx.refresh_at = refresh::due_after(tx.refresh_at, now, cold.refresh_every);
        cold.stats.voq_refreshes += 1;
        let groups = self.voq_groups(port);
        let channels = self.channels_mut(port).names().count();
        for channel in (0..groups).flat_map(|_| 0..=channels) {
            self.end(port).tell_of(channel);
            let stats = &mut self.cold[port.index()].stats;
            stats.voq_riding += 1;
            stats.voq_refresh_messages += 1;
        }
    }

    /// The transmitter of `port` forgets a packet of continuous traffic that has not arrived.
    pub(super) fn lost_on_link<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
    ) {
        self.end(port).stats.lost_on_link += 1;
        let flow = self.packets[packet].flow;
        self.drop_packet(cx, packet, port, flow, DropReason::LinkError);
    }

    // --- waiting and choice ----------------------------------------------------------------------

    // --- arrival ---------------------------------------------------------------------------------

    /// A packet takes a receive buffer of a channel of `port` at `at`.
    pub fn occupy_channel(&mut self, port: PortId, channel: u8, at: u64) {
        self.observe.occupancy.buffered(port, at);
        let channels = self.channels_mut(port);
        channels.occupied[usize::from(channel)] += 1;
        let held = channels.held();
        let rx = &mut self.ports[port.index()].rx;
        rx.high_water = rx.high_water.max(rx.occupied.saturating_add(held.min(255) as u8));
    }

    // --- leaving ---------------------------------------------------------------------------------

    /// A receive buffer of a channel of `port` is free again from `at` on. Whether the link port tells it.
    #[cold]
    pub fn release_channel(&mut self, port: PortId, channel: u8, at: u64) -> bool {
        self.observe.occupancy.released(port, at);
        let in_use = &mut self.channels_mut(port).occupied[usize::from(channel)];
        *in_use -= 1;
        let in_use = *in_use;
        let end = self.end(port);
        if end.withholds {
            return false;
        }
        end.link.occupy(channel, in_use + 1);
        end.link.release(channel);
        true
    }
}
