//! Links of other media than RapidIO in the fabric.
//!
//! Such a link has no symbols and no records of credit. Its sender knows how many places the neighbour has
//! left on each channel ([`Channels`]), and a freed place comes back as an event, one propagation later. So
//! nothing here is on the way of packets of RapidIO: their transmitters never look.
//!
//! The receiving device tells every release ([`crate::link::port::LinkEnd::eager_at`] is above all counts);
//! endpoints have no buffers of their own, so the place that a frame takes there is free as soon as it has
//! arrived. Where nobody waits for room (Ethernet) a frame that finds none is dropped.

use crate::config::Medium;
use crate::event::{Cx, Payload};
use crate::ids::{Node, PortId, SwitchId};
use crate::link::Links;
use crate::link::interleave::Interleave;
use crate::link::port::special;
use crate::link::symbol::Flight;
use crate::observe::Build;
use crate::observe::probe::DropReason;
use scheduled_transfer::llp::{ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use sim_core::EventList;
use std::collections::BTreeSet;

/// Credits beyond any use: what blocks is [`Channels`].
const PLENTY: i16 = i16::MAX / 2;

/// What a sender knows of its neighbour's buffers.
#[derive(Clone, Debug)]
pub(crate) struct Channels {
    pub medium: Medium,
    /// Free places by priority; a medium of one channel has one number for all, the first.
    free: [u8; 4],
    /// Places that are free, of which the sender hears later.
    pub coming: u32,
    /// Channel of the packet that is being read for this output.
    pub reading: u8,
    /// Messages on the wire, where channels share it.
    pub interleave: Option<Box<Interleave>>,
}

impl Channels {
    fn new(medium: Medium, places: u8) -> Self {
        let interleave = (medium.channels() > 1).then(|| Box::new(Interleave::new()));
        Channels { medium, free: [places; 4], coming: 0, reading: 0, interleave }
    }

    pub fn of(&self, priority: u8) -> u8 {
        if self.medium.channels() == 4 { priority } else { 0 }
    }

    /// Priorities that have to wait, as bits.
    fn blocked(&self) -> u16 {
        if !self.medium.is_lossless() {
            return 0;
        }
        let empty = |channel: u8| self.free[usize::from(channel)] == 0;
        (0..4).filter(|&priority| empty(self.of(priority))).fold(0, |bits, priority| bits | 1 << priority)
    }
}

/// What gave a place free.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Freed {
    /// The read for this output is over.
    Read(PortId),
    /// A packet of this priority moved on.
    Moved(u8),
}

/// A frame, written again from what is read of it.
fn again(medium: Medium, frame: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(frame.len());
    let written = match medium {
        Medium::Ethernet => ethernet::Frame::parse(frame).ok()?.emit(&mut out),
        Medium::Hippi6400 => hippi6400::Frame::parse(frame).ok()?.emit(&mut out),
        Medium::HippiFp => hippi_fp::Frame::parse(frame).ok()?.emit(&mut out),
        Medium::FibreChannel => fibre_channel::Frame::parse(frame).ok()?.emit(&mut out),
        Medium::AtmLane | Medium::AtmDix | Medium::AtmTokenRing4 | Medium::AtmTokenRing16 => {
            lane::Frame::parse(medium.layer(), frame).ok()?.emit(medium.layer(), &mut out)
        }
    };
    written.ok().map(|_| out)
}

impl<P: Build> Links<P> {
    /// A packet finds no receive buffer: it is dropped, where senders do not wait for room.
    #[cold]
    pub fn overflows<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, packet: u32) {
        // Both ends are of one medium.
        let lossy = self.cold[port.index()].channels.as_ref().is_some_and(|c| !c.medium.is_lossless());
        assert!(lossy, "a receive buffer overflows: transmitter-controlled flow control failed");
        self.ports[port.index()].rx.occupied -= 1;
        self.observe.occupancy.released(port, cx.now().0);
        let flow = self.packets[packet].flow;
        self.drop_packet(cx, packet, port, flow, DropReason::NoRoom);
    }

    /// `--wire-check`: a frame is written again from what is read of it.
    pub(super) fn check_frame(&mut self, port: PortId, packet: u32) {
        let medium = self.channels_of(port).medium;
        let wire = self.packets[packet].wire;
        let frame = self.packets.frames.get(packet).expect("links of other media carry frames");
        let octets = frame.payload.as_bytes().expect("a frame has octets");
        assert_eq!(medium.wire_octets(octets.len() as u32), wire.into(), "wire check: length of a frame");
        let again = again(medium, octets);
        assert_eq!(again.as_deref(), Some(octets), "wire check: frame");
        self.wire_checked.packet(octets);
    }

    /// A frame has been committed to the wire of `port`.
    pub(super) fn started_on_medium<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        flight: &Flight,
    ) {
        let record = &self.packets[packet];
        let priority = record.priority;
        // Its credit is counted here, not there.
        let tx = &mut self.ports[port.index()].tx;
        (tx.free, tx.outstanding) = (PLENTY, 0);
        let channels = self.channels_of(port);
        let channel = channels.of(priority);
        channels.reading = channel;
        let interleaved = channels.interleave.is_some();
        let channels = self.channels_of(port);
        if channels.medium.is_lossless() {
            channels.free[usize::from(channel)] -= 1;
            let blocked = channels.blocked();
            let tx = &mut self.ports[port.index()].tx;
            tx.clock.set_blocked(cx.now().0, blocked);
            let timing = self.timings[tx.timing as usize];
            if timing.to_sink {
                let at = flight.arrival.time().0 + timing.propagation;
                self.channels_of(port).coming += 1;
                if !interleaved {
                    self.foresee_credit(cx, port, at, channel);
                }
            }
        }
    }

    /// A receive buffer of `port` is free: the news for the sender, if it waits for room.
    pub fn return_place<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, freed: Freed) {
        let own = self.channels_of(port);
        if !own.medium.is_lossless() {
            return;
        }
        let channel = match freed {
            Freed::Moved(priority) => own.of(priority),
            Freed::Read(output) => self.channels_of(output).reading,
        };
        let timing = &self.timings[self.ports[port.index()].link.timing as usize];
        let at = cx.now().0 + timing.propagation;
        self.return_credit(cx, port, at, channel);
    }

    /// A packet of a channel that shares its link has reached the sink behind `port`: its place is free.
    pub fn return_at_sink<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId, packet: u32) {
        let priority = self.packets[packet].priority;
        let channel = self.channels_of(port).of(priority);
        let at = cx.now().0 + self.arriving(port).propagation;
        self.post_credit(cx, port, at, channel);
    }

    /// The sender of `port` hears of a free place. Whether somebody waited for it.
    pub fn credit_returned(&mut self, now: u64, port: PortId, channel: u32) -> bool {
        let channels = self.channels_of(port);
        channels.coming -= 1;
        channels.free[channel as usize] += 1;
        let blocked = channels.blocked();
        let tx = &mut self.ports[port.index()].tx;
        tx.clock.set_blocked(now, blocked);
        std::mem::take(&mut tx.credit_waiting)
    }

    /// Makes links what the configuration says. Switches whose channels share links.
    pub fn set_up_media(&mut self) -> BTreeSet<SwitchId> {
        let config = self.config.clone();
        let mut shared = BTreeSet::new();
        for media in &config.media {
            let link = &config.links[media.link as usize];
            let [a, b] = [link.a, link.b].map(|end| self.nodes.port(end));
            for (port, peer) in [(a, b), (b, a)] {
                let mut bits = special::MEDIUM;
                if media.medium.channels() > 1 {
                    bits |= special::INTERLEAVED;
                    if let Node::Switch(s) = self.nodes.node(port) {
                        shared.insert(s);
                    }
                }
                let state = &mut self.ports[port.index()];
                state.run_specially(bits, 0);
                let rx = &mut state.rx;
                let own = rx.buffers;
                rx.eager_at = u8::MAX;
                rx.buffers = own * media.medium.channels();
                rx.advertised = rx.buffers;
                self.cold[peer.index()].channels = Some(Box::new(Channels::new(media.medium, own)));
                self.ports[port.index()].tx.free = PLENTY;
                if !self.nodes.is_switch(port) {
                    self.deliver_by_events(port);
                }
            }
        }
        shared
    }
}
