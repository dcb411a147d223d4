//! Staging inside virtual channels (Part 12 §2.4): each channel of a port has staging queues of its own
//! beside those of VC0. A channel keeps one list for each lane; what a message stops moves aside when it
//! comes to the head of its list, and the packets behind it pass.

use super::channels::VirtualChannels;
use crate::ids::PortId;
use crate::link::Links;
use crate::link::transmit::Pick;
use crate::observe::Build;
use crate::packet::{List, NIL, Packets};
use crate::ports::{PortSet, Ports};

/// Packets of a staging queue of a channel that is stopped, or was until a moment ago.
#[derive(Clone, Debug)]
pub(super) struct Aside {
    queue: u8,
    stopped: bool,
    /// By lane.
    lists: Vec<List>,
}

impl Aside {
    fn is_empty(&self) -> bool {
        self.lists.iter().all(|list| list.head == NIL)
    }
}

impl VirtualChannels {
    /// Whether packets of a staging queue of a channel have to wait for a message.
    pub fn is_stopped(&self, channel: u8, queue: u8) -> bool {
        self.asides[usize::from(channel) - 1].iter().any(|aside| aside.queue == queue && aside.stopped)
    }

    /// A staging queue of a channel stops or goes.
    pub fn stop(&mut self, channel: u8, queue: u8, stopped: bool) {
        let lanes = self.lanes as usize;
        let asides = &mut self.asides[usize::from(channel) - 1];
        match asides.iter_mut().find(|aside| aside.queue == queue) {
            Some(aside) => aside.stopped = stopped,
            None => asides.push(Aside { queue, stopped, lists: vec![List::default(); lanes] }),
        }
        asides.retain(|aside| aside.stopped || !aside.is_empty());
    }

    /// Lanes of a channel with a packet that no message stops. The result may contain lanes whose input is
    /// busy.
    fn ready(&mut self, packets: &mut Packets, channel: u8) -> PortSet {
        let n = usize::from(channel);
        if self.asides[n - 1].is_empty() {
            return self.masks[n];
        }
        let listed = self.masks[n];
        for lane in listed.members() {
            let list = &mut self.lists[(n - 1) * self.lanes as usize + lane as usize];
            while list.head != NIL {
                let queue = packets[list.head].queue;
                let stopped = self.asides[n - 1].iter_mut().find(|aside| aside.queue == queue);
                let Some(aside) = stopped.filter(|aside| aside.stopped) else { break };
                let packet = packets.pop_front(list);
                packets.push_back(&mut aside.lists[lane as usize], packet);
            }
            self.masks[n] &= !PortSet::one_if(lane, list.head == NIL);
        }
        let released = self.asides[n - 1].iter().filter(|aside| !aside.stopped);
        let lanes_of = |aside: &Aside| lanes_with(&aside.lists);
        released.map(lanes_of).fold(self.masks[n], |all, lanes| all | lanes)
    }

    /// The oldest packet of a lane that no message stops.
    fn head(&self, packets: &Packets, channel: u8, lane: u32) -> u32 {
        let n = usize::from(channel) - 1;
        let released = self.asides[n].iter().filter(|aside| !aside.stopped);
        let apart = released.map(|aside| aside.lists[lane as usize].head);
        let heads = std::iter::once(self.lists[n * self.lanes as usize + lane as usize].head).chain(apart);
        let older = |a: u32, b: u32| (packets[a].stamp.wrapping_sub(packets[b].stamp) as i32) < 0;
        let found = heads.filter(|&head| head != NIL).reduce(|a, b| if older(b, a) { b } else { a });
        found.expect("the lane has a packet")
    }

    /// Takes the packet that is the [`head`](Self::head) of a lane out of its list.
    fn take(&mut self, packets: &mut Packets, channel: u8, lane: u32, packet: u32) {
        let n = usize::from(channel) - 1;
        let list = &mut self.lists[n * self.lanes as usize + lane as usize];
        if list.head == packet {
            packets.pop_front(list);
            self.masks[n + 1] &= !PortSet::one_if(lane, list.head == NIL);
            return;
        }
        let apart = self.asides[n].iter_mut().map(|aside| &mut aside.lists[lane as usize]);
        let list = apart.into_iter().find(|list| list.head == packet).expect("it was picked there");
        packets.pop_front(list);
        self.asides[n].retain(|aside| aside.stopped || !aside.is_empty());
    }

    /// Lists of all lanes of all channels.
    fn all_lists(&self) -> impl Iterator<Item = &List> {
        self.lists.iter().chain(self.asides.iter().flatten().flat_map(|aside| &aside.lists))
    }

    /// Whether packets wait in a lane.
    pub fn uses(&self, lane: u32) -> bool {
        let apart = self.asides.iter().flatten().any(|aside| aside.lists[lane as usize].head != NIL);
        apart || self.masks.iter().any(|mask| mask.has(lane))
    }
}

/// Lanes whose list has a packet.
fn lanes_with(lists: &[List]) -> PortSet {
    let filled = (0..).zip(lists).filter(|(_, list)| list.head != NIL);
    filled.fold(PortSet::EMPTY, |lanes, (lane, _)| lanes | PortSet::one(lane))
}

impl<P: Build> Links<P> {
    /// Whether packets of a staging queue of a channel of `port` have to wait for a message.
    pub fn is_stopped_in(&self, port: PortId, channel: u8, queue: u8) -> bool {
        self.channels(port).is_some_and(|channels| channels.is_stopped(channel, queue))
    }

    /// Lanes of a channel of `port` with a packet that no message stops.
    pub(in crate::link) fn ready_in_channel(&mut self, port: PortId, channel: u8) -> P::Ports {
        let end = self.ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let channels = end.channels.as_deref_mut().expect("the port has virtual channels");
        P::Ports::narrowed(channels.ready(&mut self.packets, channel))
    }

    /// The oldest packet of a lane of a channel of `port` that no message stops.
    pub(in crate::link) fn head_in_channel(&self, port: PortId, channel: u8, lane: u32) -> u32 {
        let channels = self.channels(port).expect("the packet waits there");
        channels.head(&self.packets, channel, lane)
    }

    /// Takes a picked packet out of its channel.
    #[cold]
    pub fn take_from_channel(&mut self, port: PortId, pick: Pick) {
        let end = self.ends[port.index()].as_mut().expect("the link runs in symbol granularity");
        let channels = end.channels.as_deref_mut().expect("the packet was picked there");
        channels.take(&mut self.packets, pick.priority, pick.lane.into(), pick.packet);
    }

    /// All packets that wait in channels of `port`, also of stopped queues.
    pub fn stored_in_channels(&self, port: PortId) -> impl Iterator<Item = u32> {
        let lists = self.channels(port).into_iter().flat_map(VirtualChannels::all_lists);
        lists.flat_map(|list| self.packets.iter_list(*list))
    }
}
