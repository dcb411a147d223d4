//! Where the octets of a Transfer lie: Blocks, STUs, buffers (6.2.3 to 6.2.8, 6.3).
//!
//! Sizes are powers of two and are given by their exponents. A Transfer of `t_len` octets begins at F_Offset
//! in its first buffer. Every Block but the first and the last has 2^Blocksize octets; the first ends where
//! F_Offset reaches a multiple of that.

use core::num::NonZeroU64;

/// Legal Bufsize and Max_STU (5.2.3, 5.2.4).
pub const BUFFER_EXPONENTS: core::ops::RangeInclusive<u32> = 8..=32;

/// Legal Max_Block and Blocksize (6.2.5, 6.2.6).
pub const BLOCK_EXPONENTS: core::ops::RangeInclusive<u16> = 8..=48;

/// Data operations of a Block: STU_num does not wrap.
pub const STUS_PER_BLOCK: u64 = 65_536;

/// "No particular Block" or "not received": never a Block number.
pub const NO_BLOCK: u32 = u32::MAX;

/// Modulus of B_num: it goes from 0xFFFF_FFFE to 0.
const B_NUM_MODULUS: u64 = u32::MAX as u64;

/// B_num of the Block with this ordinal.
#[must_use]
pub const fn b_num(ordinal: u64) -> u32 {
    (ordinal % B_NUM_MODULUS) as u32
}

/// The ordinal nearest to `near` that has this B_num; `None` for [`NO_BLOCK`].
#[must_use]
pub fn ordinal(b_num: u32, near: u64) -> Option<u64> {
    if b_num == NO_BLOCK {
        return None;
    }
    let round = near - near % B_NUM_MODULUS;
    let here = round.checked_add(b_num.into())?;
    [here.checked_sub(B_NUM_MODULUS), Some(here), here.checked_add(B_NUM_MODULUS)]
        .into_iter()
        .flatten()
        .min_by_key(|candidate| candidate.abs_diff(near))
}

/// B_seq when the Blocks below `next` and no others in a row are correct (6.2.4).
#[must_use]
pub fn b_seq(next: u64) -> u32 {
    next.checked_sub(1).map_or(NO_BLOCK, b_num)
}

/// The Blocks of a Transfer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Layout {
    /// Octets; `None` is unlimited (T_len 0).
    pub t_len: Option<NonZeroU64>,
    /// Exponent of the Block size, 8..=48.
    pub blocksize: u16,
    /// Offset of the first Block in its buffer.
    pub f_offset: u32,
}

impl Layout {
    /// Octets of a Block that is neither first nor last.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        1 << self.blocksize
    }

    /// Octets of the first Block, were the Transfer unlimited.
    const fn first_bytes(&self) -> u64 {
        self.block_bytes() - self.f_offset as u64 % self.block_bytes()
    }

    /// Number of Blocks, `None` if unlimited.
    #[must_use]
    pub fn blocks(&self) -> Option<u64> {
        let t_len = u128::from(self.t_len?.get());
        let lead = u128::from(self.f_offset) % u128::from(self.block_bytes());
        Some((lead + t_len).div_ceil(u128::from(self.block_bytes())) as u64)
    }

    /// Where in the Transfer a Block begins. Saturates far beyond any legal Block.
    #[must_use]
    pub const fn start(&self, ordinal: u64) -> u64 {
        match ordinal.checked_sub(1) {
            None => 0,
            Some(full) => self.first_bytes().saturating_add(full.saturating_mul(self.block_bytes())),
        }
    }

    /// Octets of a Block, 0 beyond the end.
    #[must_use]
    pub fn bytes(&self, ordinal: u64) -> u64 {
        let whole = if ordinal == 0 { self.first_bytes() } else { self.block_bytes() };
        self.t_len.map_or(whole, |t_len| whole.min(t_len.get().saturating_sub(self.start(ordinal))))
    }
}

/// Place in the buffers of a data Destination.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Place {
    /// Buffer index.
    pub bufx: u32,
    /// Octet in that buffer.
    pub offset: u32,
}

impl Place {
    /// The place `bytes` further on, for buffers of 2^`bufsize` octets (6.2.8). Bufx wraps.
    #[must_use]
    pub const fn advance(self, bytes: u64, bufsize: u32) -> Self {
        // Neither the sum nor the quotient reaches 2^65; buffers beyond 2^32 wrap anyway.
        let sum = self.offset as u128 + bytes as u128;
        Self {
            bufx: self.bufx.wrapping_add((sum >> bufsize) as u32),
            offset: (sum & ((1 << bufsize) - 1)) as u32,
        }
    }

    /// Octets up to the end of the buffer, 0 if the offset lies beyond it.
    #[must_use]
    pub const fn room(self, bufsize: u32) -> u64 {
        (1u64 << bufsize).saturating_sub(self.offset as u64)
    }

    /// Octets from `first` to here in consecutive buffers, `None` if that is behind it.
    #[must_use]
    pub const fn distance(self, first: Self, bufsize: u32) -> Option<u128> {
        let buffers = self.bufx.wrapping_sub(first.bufx) as u128;
        ((buffers << bufsize) + self.offset as u128).checked_sub(first.offset as u128)
    }
}

/// STUs of a Block of `bytes` that begins at `place`, cut as large as `stu` octets and buffers allow.
#[must_use]
pub fn stus(place: Place, bytes: u64, bufsize: u32, stu: u64) -> u64 {
    let first = bytes.min(place.room(bufsize));
    let rest = bytes - first;
    let buffer = 1 << bufsize;
    first.div_ceil(stu) + rest / buffer * buffer.div_ceil(stu) + (rest % buffer).div_ceil(stu)
}

/// The largest Max_Block for STUs of up to 2^`stu` octets (6.2.5): no Block needs more than 65 536 Data
/// operations. A payload-less trailer takes numbers of its own.
#[must_use]
pub const fn max_block(stu: u32, trailers: bool) -> u16 {
    let exponent = stu as u16 + if trailers { 15 } else { 16 };
    if exponent < 48 { exponent } else { 48 }
}
