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
//! Ordinary packets pay nothing: a port with channels has a bit in the set of priorities without credit that
//! is never clear, so that every short cut leads here.

use super::End;
use crate::config::{ChannelsConfig, PRIORITIES};
use crate::event::{Cx, Payload};
use crate::link::Links;
use crate::link::port::{NONE, UNSERVED, reading};
use crate::link::transmit::{Pick, wait_for};
use crate::observe::clock::CHANNELS;
use crate::observe::probe::{DropReason, Probe};
use crate::packet::{List, NIL, Packet, UNSTAGED};
use crate::world::Fabric;
use lp_serial::link::{
    Channels, Config, FlowControl, InputState, OpenChannel, PacketMeta, Reception, Schedule,
};
use sim_core::EventList;

/// VC1 to VC8 and, in place 0, VC0.
const COUNT: usize = 9;

/// The channels of one end of a link.
#[derive(Clone, Debug)]
pub(crate) struct VirtualChannels {
    names: Channels,
    /// Receive buffers in use, by channel (those of VC0 are counted by the port).
    occupied: [u16; COUNT],
    /// Lanes of the output.
    lanes: u32,
    /// Packets that wait for the transmitter, `[(channel - 1) * lanes + lane]`.
    lists: Vec<List>,
    /// Lanes with packets, by channel.
    masks: [u64; COUNT],
    /// Last lane served, by channel.
    pointers: [u8; COUNT],
    schedule: Schedule,
    /// The packet that is committed next was chosen by the schedule.
    chosen: bool,
    /// VC_status of all channels is due again.
    refresh_at: u64,
    refresh_every: u64,
}

impl VirtualChannels {
    pub(super) fn new(settings: &ChannelsConfig, port: &Config, lanes: u32) -> Self {
        let refresh = settings.refresh.map_or(u64::MAX, |period| period.0);
        VirtualChannels {
            names: settings.channels,
            occupied: [0; COUNT],
            lanes,
            lists: vec![List::default(); usize::from(settings.channels.count()) * lanes as usize],
            masks: [0; COUNT],
            pointers: [UNSERVED; COUNT],
            schedule: Schedule::new(port),
            chosen: false,
            refresh_at: refresh,
            refresh_every: refresh,
        }
    }

    /// Channel of a packet that has its VCID above the priorities; 0 for VC0.
    fn of(&self, priority: u8) -> u8 {
        match priority.checked_sub(PRIORITIES as u8) {
            Some(vcid) => self.names.channel_of(vcid),
            None => 0,
        }
    }

    fn list(&mut self, channel: u8, lane: u32) -> &mut List {
        &mut self.lists[(u32::from(channel - 1) * self.lanes + lane) as usize]
    }

    fn head(&self, channel: u8, lane: u32) -> u32 {
        self.lists[(u32::from(channel - 1) * self.lanes + lane) as usize].head
    }

    /// Receive buffers in use by all channels.
    pub(crate) fn held(&self) -> u16 {
        self.occupied.iter().sum()
    }

    /// Whether packets wait in a lane.
    pub(crate) fn uses(&self, lane: u32) -> bool {
        self.masks.iter().any(|mask| mask >> lane & 1 == 1)
    }
}

/// The channels of a link that begins: nothing is in use.
pub(super) fn open(settings: &ChannelsConfig) -> Vec<OpenChannel> {
    let active = &settings.vcs[..usize::from(settings.channels.count())];
    active.iter().map(|vc| OpenChannel { told: vc.buffers, occupied: 0, advertised: vc.buffers }).collect()
}

impl Packet {
    /// What a link port needs to know of the packet.
    pub(crate) fn meta(&self) -> PacketMeta {
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
    pub(super) fn count_channels(&mut self, mute: bool) {
        let Some(channels) = &self.channels else { return };
        for channel in 1..=channels.names.count() {
            let all = self.link.config().vcs[usize::from(channel) - 1].buffers;
            let in_use = channels.occupied[usize::from(channel)];
            self.link.occupy(channel, if mute { all } else { in_use });
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

impl<P: Probe> Links<P> {
    /// The channels of the link of `port`, if it has any.
    pub(crate) fn channels(&self, port: u32) -> Option<&VirtualChannels> {
        self.ends.get(port as usize)?.as_ref()?.channels.as_deref()
    }

    fn channels_mut(&mut self, port: u32) -> &mut VirtualChannels {
        self.end(port).channels.as_deref_mut().expect("packets of a VC stay on links that have it")
    }

    /// A packet of a channel waits for `port` behind the others of its lane.
    fn store_in_channel(&mut self, port: u32, lane: u32, packet: u32) {
        let priority = self.packets[packet].priority;
        let end = self.ends[port as usize].as_mut().expect("the link runs in symbol granularity");
        let channels = end.channels.as_deref_mut().expect("packets of a VC stay on links that have it");
        let channel = channels.of(priority);
        channels.masks[usize::from(channel)] |= 1 << lane;
        self.packets.push_back(channels.list(channel, lane), packet);
        let tx = &mut self.ports[port as usize].tx;
        tx.stored += 1;
        tx.waiting += 1;
        tx.high_water = tx.high_water.max(tx.waiting);
    }

    /// A packet of a channel, created at `at`, joins the injection queue of an endpoint.
    #[cold]
    pub(crate) fn queue_in_channel(&mut self, port: u32, packet: u32, at: u64) {
        self.begin_wait_at(port, packet, at, false);
        self.store_in_channel(port, 0, packet);
    }

    /// Takes a picked packet out of its channel.
    #[cold]
    pub(crate) fn take_from_channel(&mut self, port: u32, pick: Pick) {
        let end = self.ends[port as usize].as_mut().expect("the link runs in symbol granularity");
        let channels = end.channels.as_deref_mut().expect("the packet was picked there");
        let list = channels.list(pick.priority, pick.lane.into());
        self.packets.pop_front(list);
        if list.head == NIL {
            channels.masks[usize::from(pick.priority)] &= !(1 << pick.lane);
        }
    }

    /// A packet is committed to the wire of a port with channels.
    pub(super) fn launched_with_channels(&mut self, port: u32, packet: u32, now: u64) {
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
        if channel != 0 && self.nodes.is_switch(port) {
            let from = self.channels_mut(base + input).of(priority);
            self.ports[port as usize].tx.reading_kind = reading::channel(from);
        }
    }

    /// The transmitter of `port` forgets a packet of continuous traffic that has not arrived.
    pub(super) fn lost_on_link<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, packet: u32) {
        self.end(port).stats.lost_on_link += 1;
        let flow = self.packets[packet].flow;
        self.drop_packet(cx, packet, port, flow, DropReason::LinkError);
    }
}

impl<P: Probe> Fabric<P> {
    // --- waiting and choice ----------------------------------------------------------------------

    /// [`select`](Self::select) at a port with channels.
    #[cold]
    pub(crate) fn select_channels<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) -> Pick {
        let mut offers = [Pick::NONE; COUNT];
        let (mut busy, mut no_credit) = (0, false);
        offers[0] = self.select_priority(cx, port, &mut busy, &mut no_credit);
        let gate = self.links.ports[port as usize].tx.clock.blocked();
        let names = self.links.channels_mut(port).names;
        for channel in 1..=names.count() {
            let lanes = self.links.channels_mut(port).masks[usize::from(channel)];
            if lanes == 0 {
                continue;
            }
            if gate >> (PRIORITIES as u8 + names.vcid_of(channel)) & 1 == 1 {
                no_credit = true;
                continue;
            }
            let free = self.readable(cx, port, lanes, 0);
            busy |= lanes & !free;
            if free != 0 {
                let lane = self.lane_of_channel(port, channel, free);
                let packet = self.links.channels_mut(port).list(channel, lane).head;
                let pick = Pick { packet, parked: Pick::IN_CHANNEL, priority: channel, lane: lane as u8 };
                offers[usize::from(channel)] = pick;
            }
        }
        let octets = offers.map(|pick| (pick.packet != NIL).then(|| self.links.packets[pick.packet].wire));
        let channels = self.links.channels_mut(port);
        match channels.schedule.choose(|channel| octets[usize::from(channel)]) {
            Some(0) => {
                channels.chosen = true;
                offers[0]
            }
            Some(channel) => {
                channels.chosen = true;
                offers[usize::from(channel)]
            }
            None => {
                self.await_inputs(cx, port, busy);
                if no_credit {
                    self.links.await_credit(cx, port);
                }
                Pick::NONE
            }
        }
    }

    /// Which of `lanes` is next in a channel.
    fn lane_of_channel(&mut self, port: u32, channel: u8, lanes: u64) -> u32 {
        let pointer = self.links.channels_mut(port).pointers[usize::from(channel)];
        self.choose(self.links.nodes.node(port), lanes, pointer, |fabric, lane| {
            let channels = fabric.links.channels(port).expect("the packet waits there");
            fabric.links.packets[channels.head(channel, lane)].stamp
        })
    }

    // --- arrival ---------------------------------------------------------------------------------

    /// The link port of `port` has judged a packet of a channel.
    pub(super) fn judged_in_channel<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        (packet, serial): (u32, u32),
        (before, reception): (InputState, Reception),
    ) {
        let peer = self.links.ports[port as usize].rx.peer;
        let priority = self.links.packets[packet].priority;
        let channel = self.links.channels_mut(port).of(priority);
        match reception {
            Reception::Accepted { .. } => {
                self.links.end(peer).held(serial).unsettled = false;
                // In the error-stopped state nothing is acknowledged.
                self.links.end(port).judged = before != InputState::ErrorStopped;
                if self.links.nodes.is_switch(port) {
                    self.arrive_in_channel(cx, port, packet, channel);
                } else {
                    self.links.deliver(port, packet, cx.now());
                }
            }
            Reception::Lost => {
                self.links.end(peer).held(serial).unsettled = false;
                self.links.end(port).stats.lost_no_room += 1;
                let flow = self.links.packets[packet].flow;
                self.links.drop_packet(cx, packet, port, flow, DropReason::NoRoom);
            }
            Reception::Discarded => {}
        }
        self.links.end(port).judged = false;
        self.count(cx, port, false);
        if reception != Reception::Discarded {
            self.links.end(port).link.retell(channel);
        }
        self.after_link_port(cx, port, false);
    }

    /// A packet of a channel is eligible in a switch: it is routed, and starts or waits.
    fn arrive_in_channel<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        channel: u8,
    ) {
        let s = self.links.nodes.switch(port);
        let switch = &mut self.switches[s];
        let record = &mut self.links.packets[packet];
        let hop =
            switch.routes.get(record.destination as usize).filter(|hop| u32::from(hop.egress) < switch.ports);
        let Some(&hop) = hop else {
            let flow = record.flow;
            self.links.drop_packet(cx, packet, port, flow, DropReason::Unroutable);
            return;
        };
        switch.stamp = switch.stamp.wrapping_add(1);
        let (input, output) = (port - switch.base, switch.base + u32::from(hop.egress));
        record.next_hop = hop.next_hop;
        record.queue = UNSTAGED;
        record.share = NONE;
        record.stamp = switch.stamp;
        record.input = input as u8;
        record.port = output;
        let priority = record.priority;
        let channels = self.links.channels_mut(port);
        channels.occupied[usize::from(channel)] += 1;
        let held = channels.held();
        let rx = &mut self.links.ports[port as usize].rx;
        rx.high_water = rx.high_water.max(rx.occupied.saturating_add(held.min(255) as u8));
        if self.may_start(cx, output, priority, UNSTAGED) && self.readable(cx, output, 1 << input, 0) != 0 {
            self.start(cx, output, packet, false);
            return;
        }
        self.consume(cx, output, cx.key());
        self.links.ports[port as usize].tx.wanted |= 1 << hop.egress;
        let Links { ports, packets, .. } = &mut self.links;
        wait_for(&ports[output as usize].tx.clock, &mut packets[packet], cx.now().0, false);
        self.links.store_in_channel(output, input, packet);
        self.try_output(cx, output);
    }

    // --- leaving ---------------------------------------------------------------------------------

    /// A receive buffer of a channel of `port` is free again.
    #[cold]
    pub(crate) fn release_channel<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        channel: u8,
    ) {
        let in_use = &mut self.links.channels_mut(port).occupied[usize::from(channel)];
        *in_use -= 1;
        let in_use = *in_use;
        let end = self.links.end(port);
        if end.mute {
            return;
        }
        end.link.occupy(channel, in_use + 1);
        end.link.release(channel);
        self.after_link_port(cx, port, false);
    }
}
