//! Frozen mixing of words: changing anything here changes fingerprints and shaken orders of every run.

/// Full 64 x 64 -> 128 bit product, high half folded onto the low half.
#[inline]
pub(crate) const fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

/// A bijection on words in which every input bit changes every output bit with probability near one half
/// (the finaliser of SplitMix64).
#[inline]
pub(crate) const fn finish(word: u64) -> u64 {
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
