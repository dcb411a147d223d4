//! Virtual channels VC1 to VC8 of a link, F-130 to F-137, F-140.

use super::{Name, Port, World};
use models::config::*;
use models::lp_serial::link::{FlowControl, Traffic};

/// What a unit of share is worth in a round, octets.
const QUANTUM: u64 = 280;
/// Kinds of packets at a port: four priorities of VC0, and up to eight channels.
pub const KINDS: usize = PRIORITIES + 8;

/// The channels of an end of a link; VC0 has the place 0, where only the schedule knows it.
pub struct Vcs {
    /// Buffers of each, at both ends.
    buffers: Vec<i64>,
    /// The sender sends without credit, and what finds no room is lost or refused.
    pub blind: bool,
    /// Channels of continuous traffic.
    continuous: Vec<bool>,
    /// Sender, F-42.
    free: Vec<i64>,
    outstanding: Vec<i64>,
    /// Receiver, F-40; the last status, and when its symbol begins.
    pub occupied: Vec<i64>,
    pub advertised: Vec<i64>,
    pub last_status: Vec<Option<(usize, u64)>>,
    /// F-134.
    turns: Turns,
    /// F-136.
    refresh: Option<u64>,
    refresh_due: u64,
    /// The channel of the packet that is being taken in, whose status is not due yet.
    pub taking_in: Option<usize>,
}

/// F-134: whose turn it is among VC0 and the channels.
#[derive(Clone)]
pub struct Turns {
    shares: Vec<u64>,
    /// The smallest of those that are not 0.
    least: u64,
    /// In octets times `least`.
    deficit: Vec<u64>,
    turn: usize,
}

impl Turns {
    pub fn new(config: &ChannelsConfig) -> Turns {
        let active = &config.vcs[..usize::from(config.channels.count())];
        let own = active.iter().map(|vc| vc.share.into());
        let shares: Vec<u64> = std::iter::once(config.vc0_share.unwrap_or(0).into()).chain(own).collect();
        let least = shares.iter().copied().filter(|share| *share > 0).min().unwrap_or(1);
        Turns { deficit: shares.iter().map(|share| share * QUANTUM).collect(), shares, least, turn: 0 }
    }

    /// VC0 and the channels.
    pub fn count(&self) -> usize {
        self.shares.len()
    }

    /// VC0 goes before all channels.
    pub fn vc0_is_first(&self) -> bool {
        self.shares[0] == 0
    }

    /// Whose turn it is if these have so many octets to send.
    pub fn choose(&mut self, octets: &[Option<u64>]) -> Option<usize> {
        if octets.iter().all(Option::is_none) {
            return None;
        }
        if self.vc0_is_first() && octets[0].is_some() {
            return Some(0);
        }
        while octets[self.turn].is_none_or(|octets| octets * self.least > self.deficit[self.turn]) {
            if octets[self.turn].is_none() {
                self.deficit[self.turn] = 0;
            }
            self.turn = (self.turn + 1) % self.shares.len();
            self.deficit[self.turn] += self.shares[self.turn] * QUANTUM;
        }
        Some(self.turn)
    }

    /// A packet of the channel takes so many octets.
    pub fn take(&mut self, channel: usize, octets: u64) {
        self.deficit[channel] = self.deficit[channel].saturating_sub(octets * self.least);
    }
}

impl Vcs {
    pub fn new(config: &ChannelsConfig, flow: FlowControl) -> Vcs {
        let active = &config.vcs[..usize::from(config.channels.count())];
        let buffers: Vec<i64> = std::iter::once(0).chain(active.iter().map(|vc| vc.buffers.into())).collect();
        let continuous = active.iter().map(|vc| vc.traffic == Traffic::Continuous);
        let count = buffers.len();
        Vcs {
            blind: flow == FlowControl::Receiver,
            continuous: std::iter::once(false).chain(continuous).collect(),
            free: buffers.clone(),
            outstanding: vec![0; count],
            occupied: vec![0; count],
            advertised: buffers.clone(),
            last_status: vec![None; count],
            turns: Turns::new(config),
            refresh: config.refresh.map(|period| period.0),
            refresh_due: config.refresh.map_or(u64::MAX, |period| period.0),
            taking_in: None,
            buffers,
        }
    }

    pub fn count(&self) -> usize {
        self.buffers.len() - 1
    }

    /// F-130: the channel of a packet on this link, 0 for VC0.
    pub fn of(&self, priority: usize) -> usize {
        let Some(vc) = priority.checked_sub(PRIORITIES) else { return 0 };
        vc * self.count() / 8 + 1
    }

    /// F-131: there is credit for a packet of the channel.
    fn has_credit(&self, channel: usize) -> bool {
        self.blind || self.free[channel] >= 1
    }

    /// F-132: what the receiver says of a channel.
    fn says(&self, channel: usize) -> i64 {
        self.buffers[channel] - self.occupied[channel]
    }
}

impl Port {
    /// F-130: a packet is of continuous traffic on the link of this port.
    pub fn is_continuous(&self, priority: usize) -> bool {
        self.channels.as_ref().is_some_and(|channels| channels.continuous[channels.of(priority)])
    }

    /// F-140: a channel has a free buffer.
    pub fn channel_has_room(&self, channel: usize) -> bool {
        self.channels.as_ref().is_none_or(|channels| channels.says(channel) >= 1)
    }

    /// The channel of a packet on the link of this port, 0 for VC0.
    pub fn channel(&self, priority: usize) -> usize {
        self.channels.as_ref().map_or(0, |channels| channels.of(priority))
    }

    /// In which lanes of this port a packet waits: a priority of VC0, or beyond them a channel.
    pub fn kind(&self, priority: usize) -> usize {
        match self.channel(priority) {
            0 => priority,
            channel => PRIORITIES + channel - 1,
        }
    }

    /// F-131.
    pub fn channel_has_credit(&self, channel: usize) -> bool {
        let channels = self.channels.as_ref().expect("it is a channel of this link");
        self.outstanding < self.window && channels.has_credit(channel)
    }

    /// F-131: a packet of the channel is committed.
    pub fn charge(&mut self, channel: usize) {
        self.outstanding += 1;
        if channel == 0 {
            self.free -= 1;
            self.in_vc0 += 1;
        } else if let Some(channels) = &mut self.channels {
            channels.free[channel] -= 1;
            channels.outstanding[channel] += 1;
        }
    }

    /// F-42, F-131: a status tells of a channel, and accepts so many packets of it.
    pub fn learn(&mut self, channel: usize, accepted: i64, buffers: i64) {
        self.outstanding -= accepted;
        if channel == 0 {
            self.in_vc0 -= accepted;
            self.free = buffers - self.in_vc0;
        } else if let Some(channels) = &mut self.channels {
            channels.outstanding[channel] -= accepted;
            channels.free[channel] = buffers - channels.outstanding[channel];
        }
    }

    /// F-41, F-132: what a status of a channel says that becomes due now.
    pub fn advertise(&mut self, channel: usize) -> i64 {
        if channel == 0 {
            self.advertised = self.buffers - (self.occupied - self.unaccepted).max(0);
            return self.advertised;
        }
        let channels = self.channels.as_mut().expect("it is a channel of this link");
        channels.advertised[channel] = channels.says(channel);
        channels.advertised[channel]
    }

    /// The receive buffers in use by a channel, F-40.
    pub fn occupied(&mut self, channel: usize) -> &mut i64 {
        match (&mut self.channels, channel) {
            (Some(channels), 1..) => &mut channels.occupied[channel],
            _ => &mut self.occupied,
        }
    }

    /// What the last status of a channel says, and when it begins.
    pub fn last_told(&mut self, channel: usize) -> (&mut i64, &mut Option<(usize, u64)>) {
        match (&mut self.channels, channel) {
            (Some(channels), 1..) => (&mut channels.advertised[channel], &mut channels.last_status[channel]),
            _ => (&mut self.advertised, &mut self.last_status),
        }
    }

    /// F-134: a packet of the channel is committed; nobody else was there to choose from if it was not
    /// `chosen`.
    pub fn schedule(&mut self, channel: usize, octets: u64, chosen: bool) {
        let Some(channels) = &mut self.channels else { return };
        if !chosen {
            let alone = (0..=channels.count()).map(|other| (other == channel).then_some(octets));
            channels.turns.choose(&alone.collect::<Vec<_>>());
        }
        channels.turns.take(channel, octets);
    }
}

impl World<'_> {
    /// A packet is taken in. F-133: whether it is one of continuous traffic without room, where nobody waits
    /// for credit.
    pub fn loses(&mut self, d: usize, p: usize, name: Name) -> bool {
        let priority = self.packets[name].priority;
        let stopped = self.devices[d].ports[p].is_error_stopped();
        let port = self.port(d, p);
        let channel = port.channel(priority);
        let continuous = port.is_continuous(priority);
        let Some(channels) = &mut port.channels else { return false };
        // F-141: nothing is told of what comes while the input is stopped.
        channels.taking_in = (!stopped).then_some(channel);
        let lost = continuous && channels.blind && channels.says(channel) < 1;
        port.link.lost_no_room += u64::from(lost);
        lost
    }

    /// F-134: whose turn it is at a port, if these are the heads of VC0 and of its channels.
    pub fn whose_turn(&mut self, d: usize, p: usize, heads: &[Option<Name>]) -> Option<usize> {
        let octets: Vec<_> = heads.iter().map(|head| Some(u64::from(self.packets[(*head)?].wire))).collect();
        match &mut self.port(d, p).channels {
            Some(channels) => channels.turns.choose(&octets),
            None => octets[0].map(|_| 0),
        }
    }

    /// F-136: VC_status of all channels becomes due with a packet that is committed.
    pub fn refresh_channels(&mut self, d: usize, p: usize) {
        let now = self.now;
        let Some(channels) = &mut self.port(d, p).channels else { return };
        let Some(period) = channels.refresh else { return };
        if now < channels.refresh_due {
            return;
        }
        channels.refresh_due = now + period;
        let count = channels.count();
        self.tell_acceptance(d, p);
        for channel in 1..=count {
            self.tell_of(d, p, channel, 0);
        }
    }
}
