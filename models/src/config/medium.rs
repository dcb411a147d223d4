//! Links of other media than RapidIO: what a frame takes of them.
//!
//! A frame of Scheduled Transfer (`scheduled_transfer::llp`) travels as one packet of the fabric. Its length
//! on the wire holds everything that the medium adds, so the times of such a link follow from its octets
//! alone; credits ride on what is sent anyway (control bits of micropackets, words between frames, READY
//! wires) and take nothing.

use crate::ratio::gcd;
use scheduled_transfer::llp::{self, aal5, fibre_channel, hippi_fp, hippi6400};

/// A medium of point-to-point links.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Medium {
    /// HIPPI-6400-PH: micropackets on four virtual channels.
    Hippi6400,
    /// HIPPI-FP on HIPPI-800: bursts of 256 words over a standing connection.
    HippiFp,
    /// Ethernet, full duplex, without pause frames: what finds no room is dropped.
    Ethernet,
    /// ATM with LAN emulation of 802.3: AAL5 in cells.
    AtmLane,
    /// ATM with LAN emulation of DIX Ethernet.
    AtmDix,
    /// ATM with LAN emulation of Token Ring at 4 Mbit/s.
    AtmTokenRing4,
    /// ATM with LAN emulation of Token Ring at 16 Mbit/s.
    AtmTokenRing16,
    /// Fibre Channel, 8b/10b.
    FibreChannel,
}

/// A link that is of such a medium.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MediumLink {
    /// Index of the link. It has no symbols (`symbol_chars` 0), and `char_ps` is [`Medium::octet_ps`].
    pub link: u32,
    /// Its medium: the same on all links of a device.
    pub medium: Medium,
}

/// Octets of a micropacket with its 64 control bits.
const MICROPACKET: u32 = hippi6400::MICROPACKET_BYTES as u32 + 8;
/// LLRC and one word of rest after each burst.
const BURST_TAIL: u32 = 8;
/// A word of rest between packets.
const PACKET_GAP: u32 = 4;
/// Preamble and start delimiter, check sequence, gap between frames (IEEE 802.3).
const ETHERNET: u32 = 8 + 4 + 12;
/// The shortest Ethernet frame, without check sequence.
const ETHERNET_MIN: u32 = 60;
/// A cell with its header.
const CELL: u32 = aal5::CELL_BYTES as u32 + 5;
/// SOF, frame header, CRC, EOF, and the six words between frames (FC-PH).
const FC_FRAME: u32 = 4 + 24 + 4 + 4 + 6 * 4;

impl Medium {
    /// Every medium.
    pub const ALL: [Self; 8] = [
        Self::Hippi6400,
        Self::HippiFp,
        Self::Ethernet,
        Self::AtmLane,
        Self::AtmDix,
        Self::AtmTokenRing4,
        Self::AtmTokenRing16,
        Self::FibreChannel,
    ];

    /// Its name, as in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hippi6400 => "hippi-6400",
            Self::HippiFp => "hippi-fp",
            Self::Ethernet => "ethernet",
            Self::AtmLane => "atm-lane",
            Self::AtmDix => "atm-dix",
            Self::AtmTokenRing4 => "atm-token-ring-4",
            Self::AtmTokenRing16 => "atm-token-ring-16",
            Self::FibreChannel => "fibre-channel",
        }
    }

    /// How Scheduled Transfer lies in its frames.
    pub const fn layer(self) -> llp::Medium {
        match self {
            Self::Hippi6400 => llp::Medium::Hippi6400,
            Self::HippiFp => llp::Medium::HippiFp,
            Self::Ethernet => llp::Medium::Ethernet,
            Self::AtmLane => llp::Medium::Lane8023,
            Self::AtmDix => llp::Medium::LaneDix,
            Self::AtmTokenRing4 => llp::Medium::TokenRing4,
            Self::AtmTokenRing16 => llp::Medium::TokenRing16,
            Self::FibreChannel => llp::Medium::FibreChannel,
        }
    }

    /// Rates, the usual one first: bit/s of data, or baud on Fibre Channel, or of the SONET line on ATM.
    pub const fn rates(self) -> &'static [u64] {
        match self {
            Self::Hippi6400 => &[6_400_000_000],
            Self::HippiFp => &[800_000_000],
            Self::Ethernet => &[
                1_000_000_000,
                10_000_000,
                100_000_000,
                2_500_000_000,
                10_000_000_000,
                25_000_000_000,
                40_000_000_000,
                100_000_000_000,
            ],
            Self::AtmLane | Self::AtmDix | Self::AtmTokenRing4 | Self::AtmTokenRing16 => {
                &[622_080_000, 155_520_000, 2_488_320_000]
            }
            Self::FibreChannel => &[1_062_500_000, 2_125_000_000, 4_250_000_000, 8_500_000_000],
        }
    }

    /// Time of an octet on the wire at one of its rates, ps: numerator and denominator.
    ///
    /// The 32 octets of data of a micropacket take 40 ns, and so do its 40 octets; 26 of 27 octets of a SONET
    /// line are cells; an octet of Fibre Channel is ten bits.
    pub const fn octet_ps(self, rate: u64) -> (u64, u64) {
        let (num, den) = match self {
            Self::Hippi6400 => (32 * 8_000_000_000_000, 40 * rate),
            Self::HippiFp | Self::Ethernet => (8_000_000_000_000, rate),
            Self::AtmLane | Self::AtmDix | Self::AtmTokenRing4 | Self::AtmTokenRing16 => {
                (27 * 8_000_000_000_000, 26 * rate)
            }
            Self::FibreChannel => (10_000_000_000_000, rate),
        };
        let divisor = gcd(num, den);
        (num / divisor, den / divisor)
    }

    /// Octets on the wire of a frame with so many octets, all that keeps the next one away included.
    pub const fn wire_octets(self, frame: u32) -> u32 {
        match self {
            Self::Hippi6400 => frame.div_ceil(hippi6400::MICROPACKET_BYTES as u32) * MICROPACKET,
            Self::HippiFp => frame + frame.div_ceil(hippi_fp::BURST_BYTES as u32) * BURST_TAIL + PACKET_GAP,
            Self::Ethernet => ETHERNET + if frame < ETHERNET_MIN { ETHERNET_MIN } else { frame },
            Self::AtmLane | Self::AtmDix | Self::AtmTokenRing4 | Self::AtmTokenRing16 => {
                frame.div_ceil(aal5::CELL_BYTES as u32) * CELL
            }
            Self::FibreChannel => {
                let limit = fibre_channel::FRAME_MAX_BYTES as u32;
                frame.next_multiple_of(4) + frame.div_ceil(limit) * FC_FRAME
            }
        }
    }

    /// Octets on the wire of an operation: header and payload.
    pub const fn operation_octets(self, operation: u32) -> u32 {
        self.wire_octets(self.layer().frame_bytes(operation as usize) as u32)
    }

    /// Channels with receive buffers of their own.
    pub const fn channels(self) -> u8 {
        if matches!(self, Self::Hippi6400) { 4 } else { 1 }
    }

    /// Whether a sender waits for room. Otherwise a switch drops what finds none.
    pub const fn is_lossless(self) -> bool {
        !matches!(self, Self::Ethernet)
    }

    /// Largest STU, octets: that of the medium, at most 32 KiB.
    pub const fn stu_max(self) -> u32 {
        let exponent = self.layer().stu_exponent();
        1 << if exponent < 15 { exponent } else { 15 }
    }

    /// Priority of the packets of virtual channel 0 to 3: Control goes first. One channel has priority 0.
    pub const fn priority(self, virtual_channel: u8) -> u8 {
        if self.channels() == 4 { 3 - virtual_channel } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_frames_take() {
        // 24 + 40 + 1 024 octets are 34 micropackets.
        assert_eq!(Medium::Hippi6400.operation_octets(1_064), 34 * 40);
        assert_eq!(Medium::Hippi6400.operation_octets(40), 2 * 40);
        // 32 + 40 + 2 048 = 2 120 octets: two whole bursts and a short one.
        assert_eq!(Medium::HippiFp.operation_octets(2_088), 2_120 + 3 * 8 + 4);
        assert_eq!(Medium::Ethernet.operation_octets(40), 62 + 24);
        assert_eq!(Medium::Ethernet.wire_octets(14), 84);
        assert_eq!(Medium::Ethernet.wire_octets(1_514), 1_538);
        // 24 + 40 + 8 192 + 8 = 8 264 octets are 173 cells.
        assert_eq!(Medium::AtmLane.operation_octets(8_232), 173 * 53);
        // 24 + 40 + 1 024 + 8 = 1 096 octets are 23 cells; 4 168 are 87, and 16 456 are 343.
        assert_eq!(Medium::AtmDix.operation_octets(1_064), 23 * 53);
        assert_eq!(Medium::AtmTokenRing4.operation_octets(4_136), 87 * 53);
        assert_eq!(Medium::AtmTokenRing16.operation_octets(16_424), 343 * 53);
        assert_eq!(Medium::FibreChannel.wire_octets(2_112), 2_112 + 60);
        assert_eq!(Medium::FibreChannel.operation_octets(2_048 + 40), 2_112 + 60);
        assert_eq!(Medium::FibreChannel.operation_octets(4_096 + 40), 4_160 + 2 * 60);
    }

    #[test]
    fn what_octets_take() {
        assert_eq!(Medium::Hippi6400.octet_ps(6_400_000_000), (1_000, 1));
        assert_eq!(Medium::HippiFp.octet_ps(800_000_000), (10_000, 1));
        assert_eq!(Medium::Ethernet.octet_ps(10_000_000_000), (800, 1));
        assert_eq!(Medium::FibreChannel.octet_ps(1_062_500_000), (160_000, 17));
        // 149.76 Mbit/s of cells.
        assert_eq!(Medium::AtmLane.octet_ps(155_520_000), (6_250_000, 117));
        for medium in Medium::ALL {
            let longest = medium.operation_octets(40 + medium.stu_max());
            assert!(longest <= u32::from(u16::MAX), "{medium:?}");
            for &rate in medium.rates() {
                let (num, den) = medium.octet_ps(rate);
                assert!(num / den >= 80 && gcd(num, den) == 1);
            }
        }
    }
}
