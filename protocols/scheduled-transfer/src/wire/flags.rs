//! The eleven flag bits (8.2, figure 13).

use super::Error;
use core::fmt;

/// Flags as they stand in the header: `F<<8 | T<<7 | I<<6 | S<<5 | O<<4 | L<<3 | R<<2 | D`.
#[derive(Clone, Copy, Default, Eq, Hash, PartialEq)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Every bit.
    pub const ALL: Self = Self(0x7FF);
    /// F: function, or attributes of an end.
    pub const F: Self = Self(0x700);
    /// T, Silent: the header is not delivered.
    pub const SILENT: Self = Self(0x080);
    /// I, Interrupt: the receiving upper layer is signalled.
    pub const INTERRUPT: Self = Self(0x040);
    /// S, Send_State: a Request_State_Response is asked for.
    pub const SEND_STATE: Self = Self(0x020);
    /// O, Out_of_Order: the issuer handles Blocks in any order.
    pub const OUT_OF_ORDER: Self = Self(0x010);
    /// L, Last: the last STU of a Block.
    pub const LAST: Self = Self(0x008);
    /// R, Reject.
    pub const REJECT: Self = Self(0x004);
    /// D: the Data Channel.
    pub const D: Self = Self(0x003);

    /// The low eleven bits of `bits`.
    #[must_use]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Eleven bits, 0..=0x7FF.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Whether one of the flags of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Flags of either.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The flags of `other`, if `condition`.
    #[must_use]
    pub const fn with_if(self, other: Self, condition: bool) -> Self {
        if condition { self.with(other) } else { self }
    }

    /// Flags that are not in `mask`.
    #[must_use]
    pub const fn outside(self, mask: Self) -> Self {
        Self(self.0 & !mask.0)
    }

    /// Flags that are in `mask`.
    #[must_use]
    pub const fn inside(self, mask: Self) -> Self {
        Self(self.0 & mask.0)
    }

    /// F, 0..=7.
    #[must_use]
    pub const fn function(self) -> u8 {
        (self.0 >> 8) as u8
    }

    /// D, 0..=3.
    #[must_use]
    pub const fn channel(self) -> u8 {
        (self.0 & 3) as u8
    }

    /// These flags with F (three bits of it).
    #[must_use]
    pub const fn with_function(self, f: u8) -> Self {
        Self(self.0 & !Self::F.0 | (f as u16 & 7) << 8)
    }

    /// These flags with D (two bits of it).
    #[must_use]
    pub const fn with_channel(self, d: u8) -> Self {
        Self(self.0 & !Self::D.0 | d as u16 & 3)
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "F={:03b} ", self.function())?;
        for (letter, flag) in [
            ("T", Self::SILENT),
            ("I", Self::INTERRUPT),
            ("S", Self::SEND_STATE),
            ("O", Self::OUT_OF_ORDER),
            ("L", Self::LAST),
            ("R", Self::REJECT),
        ] {
            if self.has(flag) {
                f.write_str(letter)?;
            }
        }
        let gap = if self.inside(Self::from_bits(0x0FC)) == Self::NONE { "" } else { " " };
        write!(f, "{gap}D={}", self.channel())
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// F of Request_Connection and Connection_Answer: what an end offers.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Attributes {
    /// Persistent memory regions for Put and Get.
    pub persistent: bool,
    /// FetchOp on them; only with `persistent`.
    pub fetch_op: bool,
    /// The byte order of the upper layer.
    pub little_endian: bool,
}

impl Attributes {
    /// F of these attributes. FetchOp without persistent memory is undefined and becomes "neither".
    #[must_use]
    pub const fn bits(self) -> u8 {
        let memory = match (self.persistent, self.fetch_op) {
            (false, _) => 0b00,
            (true, false) => 0b01,
            (true, true) => 0b11,
        };
        (self.little_endian as u8) << 2 | memory
    }

    /// Meaning of F, and whether it was a defined one: 0bx10 reads as 0bx00.
    #[must_use]
    pub const fn parse(f: u8) -> (Self, bool) {
        let persistent = f & 1 == 1;
        let fetch_op = f & 3 == 3;
        (Self { persistent, fetch_op, little_endian: f & 4 == 4 }, f & 3 != 2)
    }
}

/// F of Op 0x15.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Function {
    /// The word plus one, modulo 2^64.
    Increment,
    /// The word minus one, modulo 2^64.
    Decrement,
    /// Zero.
    Clear,
}

impl Function {
    /// The three bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Increment => 0b001,
            Self::Decrement => 0b010,
            Self::Clear => 0b011,
        }
    }

    /// The word after the operation.
    #[must_use]
    pub const fn apply(self, word: u64) -> u64 {
        match self {
            Self::Increment => word.wrapping_add(1),
            Self::Decrement => word.wrapping_sub(1),
            Self::Clear => 0,
        }
    }
}

/// A Data Channel, 1 to 3 (4.1, 8.2).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct DataChannel(u8);

impl DataChannel {
    /// Data Channel 1.
    pub const ONE: Self = Self(1);
    /// Data Channel 2.
    pub const TWO: Self = Self(2);
    /// Data Channel 3, the one for STUs above 2^17 octets.
    pub const THREE: Self = Self(3);

    /// Channel `number`, 1..=3.
    ///
    /// # Errors
    /// [`Error::Range`]; 0 is reserved.
    pub const fn new(number: u8) -> Result<Self, Error> {
        match number {
            1..=3 => Ok(Self(number)),
            _ => Err(Error::Range { field: "Flags.D", max: 3, found: number as u32 }),
        }
    }

    /// 1..=3.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Exponent of the largest STU: 17 on channels 1 and 2, 31 on channel 3.
    #[must_use]
    pub const fn stu_exponent(self) -> u32 {
        if self.0 == 3 { 31 } else { 17 }
    }
}
