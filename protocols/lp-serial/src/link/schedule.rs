//! Whose turn it is among virtual channels (Part 6 §5.11): deficit round robin, so that a channel with demand
//! gets at least its share of what the reserved channels send, whatever the others demand; what a channel
//! does not use is divided by the others. VC0 takes part, or goes before all.

use super::config::Config;
use crate::packet::PACKET_MAX_BYTES;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes that the smallest share is worth in a round: every channel can send a packet in its turn. Shares are
/// relative to each other, so 50 and 50 make the same rounds as 1 and 1: with rounds of 50 packets each a
/// channel would wait for 50 packets of the other.
const QUANTUM: u32 = PACKET_MAX_BYTES as u32;

/// The state of the round; empty for a single-VC port.
///
/// Whoever keeps packets before the port (a switch with its own queues) chooses among them by a schedule of
/// its own, made of the same configuration.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Schedule {
    /// Share of each channel, 0 for a VC0 that goes before all.
    shares: Vec<u16>,
    /// The smallest share.
    least: u32,
    /// Bytes that each channel may still send in its turn, times the smallest share: so they are whole
    /// numbers.
    deficit: Vec<u32>,
    turn: u8,
}

impl Schedule {
    /// The beginning of a round of the channels of `config`.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let count = usize::from(config.channels.count());
        if count == 0 {
            return Self::default();
        }
        let mut shares = vec![config.vc0_share.unwrap_or(0)];
        shares.extend(config.vcs[..count].iter().map(|vc| vc.share));
        let least = shares.iter().filter(|&&share| share > 0).min().map_or(1, |&share| share.into());
        let deficit = shares.iter().map(|&share| u32::from(share) * QUANTUM).collect();
        Self { shares, least, deficit, turn: 0 }
    }

    /// The channel to serve, of those with a demand (bytes of the packet that would be sent). Without any
    /// demand nothing changes.
    pub fn choose(&mut self, demand: impl Fn(u8) -> Option<u16>) -> Option<u8> {
        let reserved_vc0 = self.shares.first().is_some_and(|&share| share != 0);
        if !reserved_vc0 && demand(0).is_some() {
            return Some(0);
        }
        let channels = self.shares.len() as u8;
        if !(0..channels).any(|channel| demand(channel).is_some()) {
            return None;
        }
        loop {
            match demand(self.turn) {
                Some(octets) if u32::from(octets) * self.least <= self.deficit[usize::from(self.turn)] => {
                    return Some(self.turn);
                }
                wanted => self.pass(wanted.is_some()),
            }
        }
    }

    /// The turn goes on. A channel with demand keeps the rest of its deficit, another loses it. Every share
    /// is worth at least a packet, so within two rounds somebody with demand is served.
    fn pass(&mut self, keeps: bool) {
        if !keeps {
            self.deficit[usize::from(self.turn)] = 0;
        }
        self.turn = (self.turn + 1) % self.shares.len() as u8;
        let turn = usize::from(self.turn);
        self.deficit[turn] += u32::from(self.shares[turn]) * QUANTUM;
    }

    /// A packet of `channel` is sent.
    pub fn sent(&mut self, channel: u8, octets: u16) {
        if let Some(deficit) = self.deficit.get_mut(usize::from(channel)) {
            *deficit = deficit.saturating_sub(u32::from(octets) * self.least);
        }
    }
}
