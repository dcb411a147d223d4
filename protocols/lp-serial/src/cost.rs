//! What things cost on a link: bytes of a packet, characters of a symbol, time of a character, and how often
//! a link must say something unasked (Part 6 §1.3, §2.5, §4.7, §5.9, §6.9).
//!
//! Everything is an integer or an exact ratio of integers; rounding is left to whoever keeps the clock.

use crate::control_symbol::Form;
use core::fmt;

/// Size of device IDs, the transport type of a packet (Part 3 §2.4).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum IdSize {
    /// tt = 0: 8 bits.
    #[default]
    Dev8,
    /// tt = 1: 16 bits.
    Dev16,
    /// tt = 2: 32 bits (Rev 3.0 and later).
    Dev32,
}

impl IdSize {
    /// The tt field of packets with this size of device IDs.
    #[must_use]
    pub const fn tt(self) -> u8 {
        self as u8
    }

    /// Bytes that destination and source ID take more than with [`IdSize::Dev8`].
    const fn extra_bytes(self) -> u32 {
        match self {
            Self::Dev8 => 0,
            Self::Dev16 => 2,
            Self::Dev32 => 6,
        }
    }
}

/// Size of the address in packets of type 2, 5 and 6 (Part 1 §3).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum AddressSize {
    /// 34 bits, no extended address.
    #[default]
    Bits34,
    /// 50 bits: 2 bytes of extended address.
    Bits50,
    /// 66 bits: 4 bytes of extended address.
    Bits66,
}

impl AddressSize {
    const fn extra_bytes(self) -> u32 {
        match self {
            Self::Bits34 => 0,
            Self::Bits50 => 2,
            Self::Bits66 => 4,
        }
    }
}

/// Kinds of packets, as far as their size differs.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum PacketClass {
    /// Type 2: NREAD or ATOMIC without data.
    Read,
    /// Type 5: NWRITE, NWRITE_R or ATOMIC with data; 8..=256 bytes in steps of 8.
    Write,
    /// Type 6: SWRITE; 8..=256 bytes in steps of 8.
    StreamWrite,
    /// Type 7: congestion control.
    FlowControl,
    /// Type 8: request or response; 0 bytes, 4 (sent as 8), or 8..=64 in steps of 8.
    Maintenance,
    /// Type 9: start, single or end segment; 0..=256 bytes in steps of 2 (an abort is an end segment without
    /// data).
    DataStreamingStart,
    /// Type 9: continuation segment; 2..=256 bytes in steps of 2.
    DataStreamingContinuation,
    /// Type 9 extended: traffic management.
    TrafficManagement,
    /// Type 10.
    Doorbell,
    /// Type 11: one message segment; 8..=256 bytes in steps of 8.
    Message,
    /// Type 13: response; 0 bytes, or 8..=256 in steps of 8.
    Response,
}

/// Payload sizes of a class in bytes: least, largest, step.
struct PayloadRule {
    min: u32,
    max: u32,
    step: u32,
}

impl PacketClass {
    /// Every class, in order of type.
    pub const ALL: [Self; 11] = [
        Self::Read,
        Self::Write,
        Self::StreamWrite,
        Self::FlowControl,
        Self::Maintenance,
        Self::DataStreamingStart,
        Self::DataStreamingContinuation,
        Self::TrafficManagement,
        Self::Doorbell,
        Self::Message,
        Self::Response,
    ];

    /// The ftype field of its packets (Part 1 Table 4-1).
    #[must_use]
    pub const fn ftype(self) -> u8 {
        match self {
            Self::Read => 2,
            Self::Write => 5,
            Self::StreamWrite => 6,
            Self::FlowControl => 7,
            Self::Maintenance => 8,
            Self::DataStreamingStart | Self::DataStreamingContinuation | Self::TrafficManagement => 9,
            Self::Doorbell => 10,
            Self::Message => 11,
            Self::Response => 13,
        }
    }

    /// Bytes in front of the payload with 8-bit device IDs and a 34-bit address, CRC not counted.
    const fn header_dev8(self) -> u32 {
        match self {
            Self::Read | Self::Write | Self::Maintenance => 10,
            Self::StreamWrite | Self::DataStreamingStart | Self::Doorbell => 8,
            Self::FlowControl | Self::DataStreamingContinuation | Self::Message | Self::Response => 6,
            Self::TrafficManagement => 12,
        }
    }

    const fn has_address(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::StreamWrite)
    }

    const fn payload_rule(self) -> PayloadRule {
        let (min, max, step) = match self {
            Self::Read | Self::FlowControl | Self::TrafficManagement | Self::Doorbell => (0, 0, 1),
            Self::Write | Self::StreamWrite | Self::Message => (8, 256, 8),
            Self::Maintenance => (0, 64, 8),
            Self::DataStreamingStart => (0, 256, 2),
            Self::DataStreamingContinuation => (2, 256, 2),
            Self::Response => (0, 256, 8),
        };
        PayloadRule { min, max, step }
    }
}

/// A payload that a class of packet cannot carry.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PayloadError {
    /// The class.
    pub class: PacketClass,
    /// The payload that was asked for, in bytes.
    pub found: u32,
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PayloadRule { min, max, step } = self.class.payload_rule();
        write!(f, "payload of a {:?} packet: ", self.class)?;
        if max == 0 {
            write!(f, "none is allowed")?;
        } else {
            write!(f, "{min} to {max} bytes in steps of {step}")?;
        }
        write!(f, ", {} given", self.found)
    }
}

impl core::error::Error for PayloadError {}

/// Bytes of a packet in front of its payload, without CRC. The address size matters only to types 2, 5 and 6.
#[must_use]
pub const fn header_bytes(class: PacketClass, id_size: IdSize, address: AddressSize) -> u32 {
    let address_bytes = if class.has_address() { address.extra_bytes() } else { 0 };
    class.header_dev8() + id_size.extra_bytes() + address_bytes
}

/// Bytes of a packet on an 8b/10b link: header, `payload` bytes, one or two CRCs, padding. Delimiters are
/// apart, see [`SymbolSize::delimiter_chars`].
///
/// # Errors
/// [`PayloadError`] if this class cannot carry that payload. Four bytes of maintenance data count as the
/// eight that are sent.
pub const fn packet_bytes(
    class: PacketClass,
    id_size: IdSize,
    payload: u32,
    address: AddressSize,
) -> Result<u32, PayloadError> {
    let rule = class.payload_rule();
    let carried = if matches!(class, PacketClass::Maintenance) && payload == 4 { 8 } else { payload };
    if carried < rule.min || carried > rule.max || !carried.is_multiple_of(rule.step) {
        return Err(PayloadError { class, found: payload });
    }
    let body = header_bytes(class, id_size, address) + carried;
    Ok(crate::packet::sealed_len(body as usize) as u32)
}

/// Bytes of the same packet on an IDLE3 link: a link CRC-32 more, then padding to a multiple of 8 (Part 6 Rev
/// 3.x §2.5).
#[must_use]
pub const fn idle3_packet_bytes(packet_bytes: u32) -> u32 {
    (packet_bytes + 4).next_multiple_of(8)
}

/// Control symbol size, and with it the ackID and buf_status ranges of a link.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum SymbolSize {
    /// 24 bits (IDLE1).
    Short,
    /// 48 bits (IDLE2).
    Long,
    /// 64 bits (IDLE3): timing only in this project.
    Idle3,
}

impl From<Form> for SymbolSize {
    fn from(form: Form) -> Self {
        match form {
            Form::Short => Self::Short,
            Form::Long => Self::Long,
        }
    }
}

impl SymbolSize {
    /// Characters of one control symbol: 4, 8, 8. The cost of a delimiter, and of a symbol that travels
    /// alone.
    #[must_use]
    pub const fn delimiter_chars(self) -> u32 {
        match self {
            Self::Short => 4,
            Self::Long | Self::Idle3 => 8,
        }
    }

    /// Bytes on this kind of link of a packet that has `packet_bytes` on an 8b/10b link.
    #[must_use]
    pub const fn packet_bytes_on_link(self, packet_bytes: u32) -> u32 {
        match self {
            Self::Short | Self::Long => packet_bytes,
            Self::Idle3 => idle3_packet_bytes(packet_bytes),
        }
    }

    /// How many packets may be sent and not yet acknowledged: 31, 63, 4095 (Part 6 §3.3). One less than
    /// there are ackIDs, so that "none" and "all" differ.
    #[must_use]
    pub const fn ack_id_window(self) -> u16 {
        match self {
            Self::Short => 31,
            Self::Long => 63,
            Self::Idle3 => 4095,
        }
    }

    /// Meaning of a received buf_status; values above the range count as "receiver controlled".
    #[must_use]
    pub const fn buf_status(self, raw: u16) -> BufStatus {
        let receiver_controlled = self.ack_id_window();
        if raw >= receiver_controlled {
            BufStatus::ReceiverControlled
        } else if raw == receiver_controlled - 1 {
            BufStatus::AtLeast(raw)
        } else {
            BufStatus::Exactly(raw)
        }
    }

    /// The buf_status that reports `free` maximum-size buffers under transmitter-controlled flow control:
    /// exact up to 29 (61, 4093), then "at least" 30 (62, 4094).
    #[must_use]
    pub const fn report_free(self, free: u32) -> u16 {
        let at_least = self.ack_id_window() - 1;
        if free >= at_least as u32 { at_least } else { free as u16 }
    }
}

/// What a buf_status says about the free maximum-size packet buffers of the port that sent it (Part 6 §6.9).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum BufStatus {
    /// So many.
    Exactly(u16),
    /// So many or more.
    AtLeast(u16),
    /// Not told: send blind, and be answered with packet-retry when there is no room.
    ReceiverControlled,
}

/// Transmitter-controlled flow control: how many buffers must be free before a packet of a priority may be
/// sent (Part 6 §6.9).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Watermarks([u16; 3]);

impl Default for Watermarks {
    /// 4, 3, 2: the defaults of Part 6.
    fn default() -> Self {
        Self([4, 3, 2])
    }
}

impl Watermarks {
    /// Watermarks for priority 0, 1 and 2; priority 3 needs one free buffer.
    ///
    /// # Errors
    /// Gives the three values back unless `[0] > [1] > [2] > 0`.
    pub const fn new(watermarks: [u16; 3]) -> Result<Self, [u16; 3]> {
        let [wm0, wm1, wm2] = watermarks;
        if wm0 > wm1 && wm1 > wm2 && wm2 > 0 { Ok(Self(watermarks)) } else { Err(watermarks) }
    }

    /// The highest watermark: with so many buffers free every priority may be sent.
    #[must_use]
    pub const fn highest(self) -> u16 {
        self.0[0]
    }

    /// Free buffers needed by `priority`; 1 for priority 3 and above.
    #[must_use]
    pub const fn needed(self, priority: u8) -> u16 {
        if priority < 3 { self.0[priority as usize] } else { 1 }
    }
}

/// Whether a packet of `priority` (0 lowest, 3 highest) may be sent when the link partner has `free` buffers:
/// at or above WM0 any, at or above WM1 1-3, at or above WM2 2-3, below WM2 only 3, and none without a free
/// buffer.
#[must_use]
pub const fn may_send(priority: u8, free: u16, watermarks: Watermarks) -> bool {
    free >= watermarks.needed(priority)
}

/// Lanes of a link.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Width {
    /// 1x; every port can do it.
    X1,
    /// 2x.
    X2,
    /// 4x.
    X4,
    /// 8x.
    X8,
    /// 16x.
    X16,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Self; 5] = [Self::X1, Self::X2, Self::X4, Self::X8, Self::X16];

    /// How many lanes.
    #[must_use]
    pub const fn lanes(self) -> u32 {
        1 << self as u32
    }

    /// `characters` rounded up to whole columns: what a packet or symbol occupies when nothing follows it at
    /// once (Part 6 §4.7: on 8x and 16x the rest of the column is filled).
    #[must_use]
    pub const fn whole_columns(self, characters: u64) -> u64 {
        characters.next_multiple_of(self.lanes() as u64)
    }
}

/// Lane rate (Part 6 §1.3).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum LaneRate {
    /// 1.25 Gbaud, 8b/10b.
    Gbaud1_25,
    /// 2.5 Gbaud, 8b/10b.
    Gbaud2_5,
    /// 3.125 Gbaud, 8b/10b.
    Gbaud3_125,
    /// 5 Gbaud, 8b/10b.
    Gbaud5,
    /// 6.25 Gbaud, 8b/10b; long control symbols only.
    Gbaud6_25,
    /// 10.3125 Gbaud, 64b/67b: timing only.
    Gbaud10_3125,
    /// 12.5 Gbaud, 64b/67b: timing only.
    Gbaud12_5,
    /// 25.78125 Gbaud, 64b/67b: timing only.
    Gbaud25_78125,
}

impl LaneRate {
    /// Every rate, slowest first.
    pub const ALL: [Self; 8] = [
        Self::Gbaud1_25,
        Self::Gbaud2_5,
        Self::Gbaud3_125,
        Self::Gbaud5,
        Self::Gbaud6_25,
        Self::Gbaud10_3125,
        Self::Gbaud12_5,
        Self::Gbaud25_78125,
    ];

    /// Thousands of bits on the wire per second and lane, coding included.
    #[must_use]
    pub const fn kbaud(self) -> u64 {
        match self {
            Self::Gbaud1_25 => 1_250_000,
            Self::Gbaud2_5 => 2_500_000,
            Self::Gbaud3_125 => 3_125_000,
            Self::Gbaud5 => 5_000_000,
            Self::Gbaud6_25 => 6_250_000,
            Self::Gbaud10_3125 => 10_312_500,
            Self::Gbaud12_5 => 12_500_000,
            Self::Gbaud25_78125 => 25_781_250,
        }
    }

    /// Whether the lane is 64b/67b coded. If not it is 8b/10b.
    #[must_use]
    pub const fn is_64b67b(self) -> bool {
        matches!(self, Self::Gbaud10_3125 | Self::Gbaud12_5 | Self::Gbaud25_78125)
    }

    /// Exact time of one character (8 bits of data) on a link of this rate and `width`, in picoseconds.
    ///
    /// On 64b/67b links a character is an eighth of a codeword of 67 bits.
    #[must_use]
    pub const fn character_ps(self, width: Width) -> Ratio {
        // 10^9 ps per ms and kbaud = bits per ms: bits * 10^9 / kbaud picoseconds.
        let (bits, per) = if self.is_64b67b() { (67, 8) } else { (10, 1) };
        Ratio::new(bits * 1_000_000_000, per * self.kbaud() * width.lanes() as u64)
    }

    /// Exact time of one character or code-group of a single lane, in picoseconds: the unit of the `*_PERIOD`
    /// constants.
    #[must_use]
    pub const fn lane_character_ps(self) -> Ratio {
        self.character_ps(Width::X1)
    }
}

/// An exact positive ratio in lowest terms.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Ratio {
    /// Numerator.
    pub numerator: u64,
    /// Denominator, at least 1.
    pub denominator: u64,
}

impl Ratio {
    const fn new(numerator: u64, denominator: u64) -> Self {
        let (mut divisor, mut rest) = (numerator, denominator);
        while rest != 0 {
            (divisor, rest) = (rest, divisor % rest);
        }
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// `count` times this ratio, in whole units; what is left over, in units of 1/denominator, stays in
    /// `remainder` for the next call. So the sum over any sequence of calls is exact.
    ///
    /// `remainder` begins at 0 and stays below the denominator.
    ///
    /// # Panics
    /// In builds with overflow checks, if `count` times the numerator exceeds `u64` (3 * 10^14 characters).
    pub const fn times(self, count: u64, remainder: &mut u64) -> u64 {
        let total = count * self.numerator + *remainder;
        *remainder = total % self.denominator;
        total / self.denominator
    }
}

/// A symbol with the buf_status of VC0 must be sent at least once in so many code-groups per lane (Part 6
/// §5.5.3).
pub const STATUS_PERIOD_CODE_GROUPS: u32 = 1024;

/// Unit of the VC refresh period, in code-groups per lane (Part 6 §5.5.3.2).
pub const VC_REFRESH_UNIT_CODE_GROUPS: u32 = 1024;

/// Longest VC refresh period, in units, that every device must support.
pub const VC_REFRESH_MANDATORY_UNITS: u32 = 16;

/// A clock compensation sequence must be sent at least once in so many code-groups per lane (Part 6 §4.7.1).
pub const COMPENSATION_PERIOD_MAX_CODE_GROUPS: u32 = 5000;

/// How often a clock compensation sequence is recommended, in code-groups per lane.
pub const COMPENSATION_PERIOD_CODE_GROUPS: u32 = 4096;

/// Characters per lane of a clock compensation sequence on an 8b/10b link: K, R, R, R on all lanes at once.
pub const COMPENSATION_CHARS_PER_LANE: u32 = 4;

/// Codewords per lane of a skip ordered sequence, the clock compensation of an IDLE3 link.
pub const IDLE3_SKIP_CODEWORDS_PER_LANE: u32 = 7;

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    use AddressSize::{Bits34, Bits50, Bits66};
    use IdSize::{Dev8, Dev16, Dev32};

    #[test]
    fn header_bytes_of_every_class_and_id_size() {
        let table = [
            (PacketClass::Read, [10, 12, 16]),
            (PacketClass::Write, [10, 12, 16]),
            (PacketClass::StreamWrite, [8, 10, 14]),
            (PacketClass::FlowControl, [6, 8, 12]),
            (PacketClass::Maintenance, [10, 12, 16]),
            (PacketClass::DataStreamingStart, [8, 10, 14]),
            (PacketClass::DataStreamingContinuation, [6, 8, 12]),
            (PacketClass::TrafficManagement, [12, 14, 18]),
            (PacketClass::Doorbell, [8, 10, 14]),
            (PacketClass::Message, [6, 8, 12]),
            (PacketClass::Response, [6, 8, 12]),
        ];
        assert_eq!(table.map(|(class, _)| class), PacketClass::ALL);
        for (class, expected) in table {
            assert_eq!(
                [Dev8, Dev16, Dev32].map(|ids| header_bytes(class, ids, Bits34)),
                expected,
                "{class:?}"
            );
            let address = [Bits34, Bits50, Bits66].map(|address| header_bytes(class, Dev8, address));
            let first = expected[0];
            let addressed =
                matches!(class, PacketClass::Read | PacketClass::Write | PacketClass::StreamWrite);
            let steps = if addressed { [first, first + 2, first + 4] } else { [first; 3] };
            assert_eq!(address, steps, "{class:?}");
        }
    }

    #[test]
    fn read_request_and_response_agree_with_annex_d() {
        // Part 6 Annex D: a read request is 12 bytes, a read response 8 bytes and data, with one CRC each.
        assert_eq!(packet_bytes(PacketClass::Read, Dev8, 0, Bits34), Ok(12));
        assert_eq!(packet_bytes(PacketClass::Response, Dev8, 64, Bits34), Ok(8 + 64));
    }

    /// Payload; NWRITE with Dev8, Dev16, Dev16 on IDLE3; payload share in per mille with short and long
    /// symbols (Dev8), short and long (Dev16), IDLE3 (Dev16).
    const EFFICIENCY: [(u32, [u32; 3], [u32; 5]); 6] = [
        (8, [20, 24, 32], [333, 286, 286, 250, 200]),
        (16, [28, 32, 40], [500, 444, 444, 400, 333]),
        (32, [44, 48, 56], [667, 615, 615, 571, 500]),
        (64, [76, 80, 88], [800, 762, 762, 727, 667]),
        (128, [144, 144, 152], [865, 842, 865, 842, 800]),
        (256, [272, 272, 280], [928, 914, 928, 914, 889]),
    ];

    #[test]
    fn packet_bytes_and_efficiency_of_writes() {
        let per_mille = |payload: u32, packet: u32, symbol: SymbolSize| {
            let total = packet + symbol.delimiter_chars();
            (payload * 1000 + total / 2) / total
        };
        for (payload, [dev8, dev16, idle3], shares) in EFFICIENCY {
            assert_eq!(packet_bytes(PacketClass::Write, Dev8, payload, Bits34), Ok(dev8));
            assert_eq!(packet_bytes(PacketClass::Write, Dev16, payload, Bits34), Ok(dev16));
            assert_eq!(idle3_packet_bytes(dev16), idle3);
            assert_eq!(SymbolSize::Idle3.packet_bytes_on_link(dev16), idle3);
            assert_eq!(SymbolSize::Long.packet_bytes_on_link(dev16), dev16);
            let found = [
                per_mille(payload, dev8, SymbolSize::Short),
                per_mille(payload, dev8, SymbolSize::Long),
                per_mille(payload, dev16, SymbolSize::Short),
                per_mille(payload, dev16, SymbolSize::Long),
                per_mille(payload, idle3, SymbolSize::Idle3),
            ];
            assert_eq!(found, shares, "payload {payload}");
        }
    }

    #[test]
    fn packet_bytes_of_the_leanest_256_byte_packets() {
        for class in [PacketClass::StreamWrite, PacketClass::Message, PacketClass::DataStreamingContinuation]
        {
            assert_eq!(packet_bytes(class, Dev8, 256, Bits34), Ok(268), "{class:?}");
        }
    }

    #[test]
    fn longest_packets() {
        let longest = |ids| packet_bytes(PacketClass::Write, ids, 256, Bits66);
        assert_eq!([Dev8, Dev16, Dev32].map(longest), [Ok(276), Ok(276), Ok(280)]);
        assert_eq!(idle3_packet_bytes(280), 288);
    }

    #[test]
    fn every_legal_packet_fits_and_is_a_multiple_of_four() {
        for class in PacketClass::ALL {
            for ids in [Dev8, Dev16, Dev32] {
                let mut legal = 0;
                for payload in 0..300 {
                    if let Ok(bytes) = packet_bytes(class, ids, payload, Bits66) {
                        legal += 1;
                        assert!(bytes % 4 == 0 && bytes as usize <= crate::packet::PACKET_MAX_BYTES);
                    }
                }
                assert!(legal > 0, "{class:?}");
            }
        }
    }

    #[test]
    fn payloads_that_a_class_cannot_carry() {
        let bad = [
            (PacketClass::Read, 8),
            (PacketClass::Write, 0),
            (PacketClass::Write, 12),
            (PacketClass::Write, 264),
            (PacketClass::StreamWrite, 4),
            (PacketClass::Maintenance, 72),
            (PacketClass::Maintenance, 12),
            (PacketClass::DataStreamingStart, 3),
            (PacketClass::DataStreamingContinuation, 0),
            (PacketClass::Doorbell, 2),
            (PacketClass::Message, 0),
            (PacketClass::Response, 4),
        ];
        for (class, payload) in bad {
            let error = PayloadError { class, found: payload };
            assert_eq!(packet_bytes(class, Dev8, payload, Bits34), Err(error));
        }
        assert_eq!(
            PayloadError { class: PacketClass::Write, found: 12 }.to_string(),
            "payload of a Write packet: 8 to 256 bytes in steps of 8, 12 given"
        );
        assert_eq!(
            PayloadError { class: PacketClass::Doorbell, found: 2 }.to_string(),
            "payload of a Doorbell packet: none is allowed, 2 given"
        );
        assert_eq!(
            packet_bytes(PacketClass::Maintenance, Dev8, 4, Bits34),
            packet_bytes(PacketClass::Maintenance, Dev8, 8, Bits34)
        );
    }

    #[test]
    fn time_of_a_character() {
        let exact = |rate: LaneRate, width| {
            let Ratio { numerator, denominator } = rate.character_ps(width);
            (numerator, denominator)
        };
        // Picoseconds per character of one lane.
        let one_lane =
            [(8000, 1), (4000, 1), (3200, 1), (2000, 1), (1600, 1), (26_800, 33), (670, 1), (10_720, 33)];
        assert_eq!(LaneRate::ALL.map(|rate| exact(rate, Width::X1)), one_lane);
        assert_eq!(exact(LaneRate::Gbaud3_125, Width::X4), (800, 1));
        assert_eq!(exact(LaneRate::Gbaud5, Width::X4), (500, 1));
        assert_eq!(exact(LaneRate::Gbaud6_25, Width::X16), (100, 1));
        assert_eq!(exact(LaneRate::Gbaud10_3125, Width::X4), (6700, 33));
        assert_eq!(exact(LaneRate::Gbaud12_5, Width::X16), (335, 8));
    }

    #[test]
    fn a_wider_link_is_exactly_so_many_times_faster() {
        for rate in LaneRate::ALL {
            let lane = rate.lane_character_ps();
            for width in Width::ALL {
                let Ratio { numerator, denominator } = rate.character_ps(width);
                let lanes = u64::from(width.lanes());
                assert_eq!(numerator * lanes * lane.denominator, lane.numerator * denominator);
            }
        }
    }

    #[test]
    fn times_of_symbol_packet_and_refresh() {
        // Rate, width; a long symbol, 276 + 8 characters, 16 x 1024 code-groups of a lane, in picoseconds.
        let table = [
            (LaneRate::Gbaud1_25, Width::X1, [64_000, 2_272_000, 131_072_000]),
            (LaneRate::Gbaud2_5, Width::X1, [32_000, 1_136_000, 65_536_000]),
            (LaneRate::Gbaud3_125, Width::X4, [6_400, 227_200, 52_428_800]),
            (LaneRate::Gbaud5, Width::X4, [4_000, 142_000, 32_768_000]),
            (LaneRate::Gbaud6_25, Width::X4, [3_200, 113_600, 26_214_400]),
        ];
        for (rate, width, expected) in table {
            let character = rate.character_ps(width);
            let refresh = VC_REFRESH_MANDATORY_UNITS * VC_REFRESH_UNIT_CODE_GROUPS;
            let found = [
                character.times(u64::from(SymbolSize::Long.delimiter_chars()), &mut 0),
                character.times(284, &mut 0),
                rate.lane_character_ps().times(u64::from(refresh), &mut 0),
            ];
            assert_eq!(found, expected, "{rate:?} {width:?}");
        }
    }

    #[test]
    fn windows_and_buffer_status_ranges() {
        let table =
            [(SymbolSize::Short, 31, 29), (SymbolSize::Long, 63, 61), (SymbolSize::Idle3, 4095, 4093)];
        for (size, window, exact) in table {
            assert_eq!(size.ack_id_window(), window);
            assert_eq!(size.buf_status(0), BufStatus::Exactly(0));
            assert_eq!(size.buf_status(exact), BufStatus::Exactly(exact));
            assert_eq!(size.buf_status(exact + 1), BufStatus::AtLeast(exact + 1));
            assert_eq!(size.buf_status(exact + 2), BufStatus::ReceiverControlled);
            for free in 0..5000 {
                let told = size.buf_status(size.report_free(free));
                let expected = if free <= u32::from(exact) {
                    BufStatus::Exactly(free as u16)
                } else {
                    BufStatus::AtLeast(exact + 1)
                };
                assert_eq!(told, expected);
            }
        }
        assert_eq!([Form::Short, Form::Long].map(SymbolSize::from), [SymbolSize::Short, SymbolSize::Long]);
    }

    #[test]
    fn permission_by_priority_and_free_buffers() {
        // Free buffers 0..=5 across; priorities 0..=3 down.
        let allowed = [
            [false, false, false, false, true, true],
            [false, false, false, true, true, true],
            [false, false, true, true, true, true],
            [false, true, true, true, true, true],
        ];
        for (priority, row) in allowed.iter().enumerate() {
            for (free, &expected) in row.iter().enumerate() {
                let found = may_send(priority as u8, free as u16, Watermarks::default());
                assert_eq!(found, expected, "priority {priority}, {free} free");
            }
        }
        assert_eq!(Watermarks::new([9, 5, 1]).map(Watermarks::highest), Ok(9));
        for bad in [[3, 3, 2], [4, 2, 2], [4, 3, 0], [2, 3, 4]] {
            assert_eq!(Watermarks::new(bad), Err(bad));
        }
    }

    #[test]
    fn columns() {
        assert_eq!(Width::ALL.map(Width::lanes), [1, 2, 4, 8, 16]);
        assert_eq!(Width::ALL.map(|width| width.whole_columns(284)), [284, 284, 284, 288, 288]);
    }

    proptest! {
        #[test]
        fn carried_remainders_lose_nothing(counts in proptest::collection::vec(0u64..5000, 1..50)) {
            for rate in LaneRate::ALL {
                let character = rate.character_ps(Width::X16);
                let mut remainder = 0;
                let parts: u64 = counts.iter().map(|&count| character.times(count, &mut remainder)).sum();
                let mut whole_remainder = 0;
                let whole = character.times(counts.iter().sum(), &mut whole_remainder);
                prop_assert_eq!((parts, remainder), (whole, whole_remainder));
            }
        }
    }
}
