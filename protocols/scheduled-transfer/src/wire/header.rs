//! The 40-octet Schedule Header (clause 8, figure 12), big-endian.
//!
//! ```text
//! word 0 | Op:5 | Flags:11 | Param:16 |     word 5 | Offset |
//!      1 | D_Port:16 | S_Port:16     |          6 | Sync   |
//!      2 | D_Key                     |          7 | B_num  |
//!      3 | Cksum:16 | B_id:16        |          8 | D_id   |
//!      4 | Bufx                      |          9 | S_id   |
//! ```
//!
//! Every value of the 320 bits is a header; what an operation makes of the fields is [`Operation`]'s.
//!
//! [`Operation`]: super::Operation

use super::{Error, Flags};
use core::fmt;
use core::ops::Range;

/// Octets of a Schedule Header.
pub const HEADER_BYTES: usize = 40;

/// A field: name, bits counted from the first of the header, and the base in which a number of it is written.
pub type Field = (&'static str, Range<u32>, u32);

/// The fields, Flags bit by bit (8.2, figures 12 and 13).
pub const FIELDS: [Field; 21] = [
    ("op", 0..5, 16),
    ("f", 5..8, 2),
    ("t", 8..9, 10),
    ("i", 9..10, 10),
    ("s", 10..11, 10),
    ("o", 11..12, 10),
    ("l", 12..13, 10),
    ("r", 13..14, 10),
    ("d", 14..16, 10),
    ("param", 16..32, 16),
    ("d_port", 32..48, 16),
    ("s_port", 48..64, 16),
    ("d_key", 64..96, 16),
    ("cksum", 96..112, 16),
    ("b_id", 112..128, 16),
    ("bufx", 128..160, 16),
    ("offset", 160..192, 16),
    ("sync", 192..224, 16),
    ("b_num", 224..256, 16),
    ("d_id", 256..288, 16),
    ("s_id", 288..320, 16),
];

/// Octets of the optional payload of a Control operation (4.2).
pub const OPTIONAL_PAYLOAD_BYTES: usize = 32;

/// Largest Op.
pub const OP_MAX: u8 = 0x1F;

/// Octet offset of Cksum.
pub(crate) const CKSUM_AT: usize = 12;

/// The header in front of an operation's octets, unjudged.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct View<'a>(&'a [u8; HEADER_BYTES]);

impl<'a> View<'a> {
    /// Looks at the first 40 octets; gives the rest too, which is the payload.
    ///
    /// # Errors
    /// [`Error::Length`] if there are fewer.
    pub const fn new(operation: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        match operation.split_first_chunk() {
            Some((header, payload)) => Ok((Self(header), payload)),
            None => Err(Error::Length { found: operation.len() }),
        }
    }

    const fn half(self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    const fn word(self, at: usize) -> u32 {
        u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    /// Op, 0..=31.
    #[must_use]
    pub const fn op(self) -> u8 {
        self.0[0] >> 3
    }

    /// The eleven flag bits.
    #[must_use]
    pub const fn flags(self) -> Flags {
        Flags::from_bits(self.half(0))
    }

    /// Param: Slots, CTS_req, Blocksize, STU_num or T_len16.
    #[must_use]
    pub const fn param(self) -> u16 {
        self.half(2)
    }

    /// Port of the receiver.
    #[must_use]
    pub const fn d_port(self) -> u16 {
        self.half(4)
    }

    /// Port of the sender.
    #[must_use]
    pub const fn s_port(self) -> u16 {
        self.half(6)
    }

    /// Key of the receiver.
    #[must_use]
    pub const fn d_key(self) -> u32 {
        self.word(8)
    }

    /// Checksum, or 0 for none.
    #[must_use]
    pub const fn cksum(self) -> u16 {
        self.half(CKSUM_AT)
    }

    /// EtherType, Max_Block or Mx.
    #[must_use]
    pub const fn b_id(self) -> u16 {
        self.half(14)
    }

    /// Buffer index, or Bufsize.
    #[must_use]
    pub const fn bufx(self) -> u32 {
        self.word(16)
    }

    /// Offset, the sender's Key, or B_seq.
    #[must_use]
    pub const fn offset(self) -> u32 {
        self.word(20)
    }

    /// Sync, Max_STU, T_len's high half, F_Offset, or the Initiator's Bufx.
    #[must_use]
    pub const fn sync(self) -> u32 {
        self.word(24)
    }

    /// Block number, T_len's low half, or the Initiator's Offset.
    #[must_use]
    pub const fn b_num(self) -> u32 {
        self.word(28)
    }

    /// The receiver's sequence id.
    #[must_use]
    pub const fn d_id(self) -> u32 {
        self.word(32)
    }

    /// The sender's sequence id, or Opaque.
    #[must_use]
    pub const fn s_id(self) -> u32 {
        self.word(36)
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Header::from(*self).fmt(f)
    }
}

/// All fields of a Schedule Header.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Header {
    /// Op, 0..=31; more bits are not sent.
    pub op: u8,
    /// Flags.
    pub flags: Flags,
    /// Param.
    pub param: u16,
    /// Port of the receiver.
    pub d_port: u16,
    /// Port of the sender.
    pub s_port: u16,
    /// Key of the receiver.
    pub d_key: u32,
    /// Checksum, or 0 for none.
    pub cksum: u16,
    /// B_id.
    pub b_id: u16,
    /// Bufx.
    pub bufx: u32,
    /// Offset.
    pub offset: u32,
    /// Sync.
    pub sync: u32,
    /// B_num.
    pub b_num: u32,
    /// The receiver's sequence id.
    pub d_id: u32,
    /// The sender's sequence id, or Opaque.
    pub s_id: u32,
}

impl From<View<'_>> for Header {
    fn from(view: View<'_>) -> Self {
        Self {
            op: view.op(),
            flags: view.flags(),
            param: view.param(),
            d_port: view.d_port(),
            s_port: view.s_port(),
            d_key: view.d_key(),
            cksum: view.cksum(),
            b_id: view.b_id(),
            bufx: view.bufx(),
            offset: view.offset(),
            sync: view.sync(),
            b_num: view.b_num(),
            d_id: view.d_id(),
            s_id: view.s_id(),
        }
    }
}

impl Header {
    /// The header in front of an operation's octets, and the payload behind it.
    ///
    /// # Errors
    /// [`Error::Length`] if there are fewer than 40 octets.
    pub fn parse(operation: &[u8]) -> Result<(Self, &[u8]), Error> {
        let (view, payload) = View::new(operation)?;
        Ok((view.into(), payload))
    }

    /// The 40 octets.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let word0 =
            u32::from(self.op & OP_MAX) << 27 | u32::from(self.flags.bits()) << 16 | u32::from(self.param);
        let words = [
            word0,
            u32::from(self.d_port) << 16 | u32::from(self.s_port),
            self.d_key,
            u32::from(self.cksum) << 16 | u32::from(self.b_id),
            self.bufx,
            self.offset,
            self.sync,
            self.b_num,
            self.d_id,
            self.s_id,
        ];
        let mut octets = [0; HEADER_BYTES];
        for (octets, word) in octets.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *octets = word.to_be_bytes();
        }
        octets
    }

    /// Writes the 40 octets to the front of `out`.
    ///
    /// # Errors
    /// [`Error::Buffer`].
    pub fn emit(&self, out: &mut [u8]) -> Result<(), Error> {
        let found = out.len();
        let Some(octets) = out.first_chunk_mut() else {
            return Err(Error::Buffer { needed: HEADER_BYTES, found });
        };
        *octets = self.to_bytes();
        Ok(())
    }

    /// T_len of Request_To_Send, Request_To_Receive and Request_Memory_Region: Sync and B_num.
    #[must_use]
    pub const fn t_len(&self) -> u64 {
        (self.sync as u64) << 32 | self.b_num as u64
    }
}

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Op={:02X} {} {} param={:04X} d_port={:04X} s_port={:04X} d_key={:08X} cksum={:04X} b_id={:04X} \
             bufx={:08X} offset={:08X} sync={:08X} b_num={:08X} d_id={:08X} s_id={:08X}",
            self.op,
            super::operation::name(self.op),
            self.flags,
            self.param,
            self.d_port,
            self.s_port,
            self.d_key,
            self.cksum,
            self.b_id,
            self.bufx,
            self.offset,
            self.sync,
            self.b_num,
            self.d_id,
            self.s_id,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each field as the header has it, in the order of the table.
    fn values(header: &Header) -> [u64; 21] {
        let flag = |flag| u64::from(header.flags.has(flag));
        [
            header.op.into(),
            header.flags.function().into(),
            flag(Flags::SILENT),
            flag(Flags::INTERRUPT),
            flag(Flags::SEND_STATE),
            flag(Flags::OUT_OF_ORDER),
            flag(Flags::LAST),
            flag(Flags::REJECT),
            header.flags.channel().into(),
            header.param.into(),
            header.d_port.into(),
            header.s_port.into(),
            header.d_key.into(),
            header.cksum.into(),
            header.b_id.into(),
            header.bufx.into(),
            header.offset.into(),
            header.sync.into(),
            header.b_num.into(),
            header.d_id.into(),
            header.s_id.into(),
        ]
    }

    #[test]
    fn every_bit_is_one_field_of_the_table_and_read_where_it_is_written() {
        let all = 8 * HEADER_BYTES as u32;
        assert!(FIELDS.iter().flat_map(|(_, bits, _)| bits.clone()).eq(0..all));
        for bit in 0..all {
            // One bit alone, and all but one.
            for (fill, flip) in [(0x00, 0x80), (0xFF, 0x80)] {
                let mut octets = [fill; HEADER_BYTES];
                octets[bit as usize / 8] ^= flip >> (bit % 8);
                let (header, _) = Header::parse(&octets).unwrap();
                assert_eq!(header.to_bytes(), octets);
                for (value, (name, bits, _)) in values(&header).into_iter().zip(FIELDS) {
                    let all = if fill == 0 { 0 } else { (1 << bits.len()) - 1 };
                    let flipped = if bits.contains(&bit) { 1 << (bits.end - 1 - bit) } else { 0 };
                    assert_eq!(value, all ^ flipped, "{name}, bit {bit}");
                }
            }
        }
    }
}
