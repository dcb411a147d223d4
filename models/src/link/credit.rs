//! When a freed receive buffer is told at once, and when it may wait for the next acknowledgement.
//!
//! The last status sent from a port said that A buffers are free. If nothing more is told, the neighbour
//! hears of a buffer freed since with the acknowledgement of its next packet. Up to then it has started that
//! packet and whatever fits into the loop from the packet's end to the instant at which the acknowledgement
//! is back: N packets and no more. It can be short of a buffer only if N packets leave fewer than the highest
//! watermark WM0, so a release is told at once iff
//!
//! > A - N < WM0, with N = ceil(loop / T_min)
//!
//! The loop: propagation, the pipeline of this device, the longest packet of the other direction, whose
//! delimiter the symbol has to wait for, the symbols that have gathered there, the padding of a column, the
//! symbol, propagation. `T_min` is the time of the shortest packet that the fabric can carry.
//!
//! So no transmitter idles for a buffer that is free and could have been told, and ports that never come near
//! their last buffers pay nothing.

use crate::config::{FabricConfig, LinkConfig, PortConfig, ProtocolConfig, SourceConfig};

/// The shortest packet: a response without data between 8-bit ids (Part 3 §2), octets.
const SHORTEST: u32 = 8;
/// The longest packet that may be (Part 6 §2.5), octets.
const LONGEST: u32 = 276;
/// Packets of a host that sets the fabric up which can be under way at a time: a request and a repetition.
const SETTING_UP: u64 = 2;

/// Lengths of the packets that a fabric can carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// Octets on the wire without delimiter and without what a link adds.
    shortest: u32,
    longest: u32,
    /// Packets beside these that can be under way at a time.
    more: u64,
}

impl Lengths {
    /// Those of the sources; protocols use packets of any length.
    pub fn of(config: &FabricConfig) -> Self {
        let (mut shortest, mut longest) = (u32::MAX, 0);
        for (least, most) in config.sources.iter().filter_map(SourceConfig::lengths) {
            shortest = shortest.min(least.into());
            longest = longest.max(most.into());
        }
        let mut parts = config.agents.iter().flat_map(|agent| &agent.parts);
        if parts.any(|part| !matches!(part.protocol, ProtocolConfig::Enumerate { .. })) {
            shortest = shortest.min(SHORTEST);
            longest = longest.max(LONGEST);
        }
        let (shortest, longest) = if longest == 0 { (SHORTEST, LONGEST) } else { (shortest, longest) };
        Lengths { shortest, longest, more: if config.enumeration.is_some() { SETTING_UP } else { 0 } }
    }

    /// At or below this count of free buffers told last a release is told at once, for packets that reach
    /// `receiver` over `link` and then take `pipeline` picoseconds.
    pub fn eager_at(&self, link: &LinkConfig, pipeline: u64, receiver: &PortConfig) -> u8 {
        let under_way = self.under_way(link, pipeline).min(link.ack_window.into());
        let short = u64::from(receiver.watermarks[0]) - 1 + under_way;
        u8::try_from(short).unwrap_or(u8::MAX).min(receiver.buffers)
    }

    /// Whether an endpoint with the port `receiver`, which takes packets at once, never leaves its switch
    /// without credit, even if what has arrived is told up to `late` picoseconds later than it arrived.
    pub fn has_room(&self, link: &LinkConfig, late: u64, receiver: &PortConfig) -> bool {
        let under_way = self.under_way(link, late) + 2;
        under_way + u64::from(receiver.watermarks[0]) < u64::from(receiver.buffers)
            && under_way < u64::from(link.ack_window)
    }

    /// Packets that can be under way, or not acknowledged, if that takes `delay` picoseconds at the receiver.
    fn under_way(&self, link: &LinkConfig, delay: u64) -> u64 {
        let (num, den) = link.char_ps;
        let symbol_chars = u64::from(link.symbol_chars);
        let time = |wire: u32| (u64::from(link.packet_octets(wire)) + symbol_chars) * num / den;
        let (least, most) = (time(self.shortest).max(1), time(self.longest) + 1);
        let symbol = (symbol_chars * num).div_ceil(den);
        let column = u64::from(link.lanes) * num / den;
        // The acknowledgements of what arrives while the longest packet leaves need a symbol each.
        let gathered = most.div_ceil(least) + 1;
        let round = 2 * link.propagation.0 + delay + most + gathered * symbol + column;
        round.div_ceil(least) + self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PortVoq;
    use sim_core::Duration;

    /// 4x 6.25 Gbaud, 276 octets: T = 113.6 ns, a symbol 3.2 ns.
    const T: Lengths = Lengths { shortest: 276, longest: 276, more: 0 };

    fn eager(lengths: Lengths, propagation: u64, buffers: u8) -> u8 {
        let link = LinkConfig {
            a: (0, 0),
            b: (1, 0),
            char_ps: (400, 1),
            lanes: 4,
            symbol_chars: 8,
            long_symbols: true,
            link_crc: false,
            ack_window: 63,
            propagation: Duration(propagation),
        };
        let port = PortConfig { buffers, watermarks: [4, 3, 2], voq: PortVoq::default() };
        lengths.eager_at(&link, 100_000, &port)
    }

    #[test]
    fn the_watermark_and_what_fits_into_the_loop() {
        // 2 x 20 ns, the pipeline, a packet the other way, its symbols and column: 264.8 ns and 1 ps, three
        // packets.
        assert_eq!(eager(T, 20_000, 61), 4 - 1 + 3);
        // 100 m: 10.8 packets.
        assert_eq!(eager(T, 500_000, 61), 4 - 1 + 11);
        assert_eq!(eager(T, 500_000, 8), 8, "not more than there are");
        // The shortest packets, 6.4 ns each: 36 of their symbols gather.
        let short = Lengths { shortest: 8, ..T };
        let round = 2 * 20_000 + 100_000 + 113_601 + 19 * 3_200 + 1_600u64;
        assert_eq!(u64::from(eager(short, 20_000, 61)), 4 - 1 + round.div_ceil(6_400));
        assert_eq!(eager(Lengths { more: 2, ..T }, 20_000, 61), 4 - 1 + 3 + 2);
    }
}
