//! Random streams that do not disturb each other.
//!
//! Every (seed, actor path, purpose) has a stream of its own, so a further actor, probe or draw moves no
//! other stream, and the variants of one scenario share their random numbers. All draws are built here from
//! the words of ChaCha8, because the sampling methods of general libraries may change between versions;
//! golden tests hold them still. Floats occur only inside the two inverse transforms, through `libm`
//! (software, hence the same on every machine), and are rounded once.

use crate::time::Duration;
use rand::{SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use std::convert::Infallible;

/// What a stream is used for.
///
/// The numbers are part of every result: never renumber, only add. Numbers from 1 000 on are free for
/// models and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Purpose(pub u32);

impl Purpose {
    /// Gaps between arrivals.
    pub const ARRIVALS: Purpose = Purpose(1);
    /// Whom to send to.
    pub const DESTINATIONS: Purpose = Purpose(2);
    /// Sizes of packets and messages.
    pub const SIZES: Purpose = Purpose(3);
    /// Random arbitration.
    pub const ARBITRATION: Purpose = Purpose(4);
    /// Bit errors, losses, outages.
    pub const FAULTS: Purpose = Purpose(5);
    /// Initial offsets of periodic things.
    pub const PHASE: Purpose = Purpose(6);
    /// Service times.
    pub const SERVICE: Purpose = Purpose(7);
    /// Priorities and traffic classes.
    pub const PRIORITIES: Purpose = Purpose(8);
    /// Random back-off and jitter of protocols.
    pub const BACKOFF: Purpose = Purpose(9);
    /// Burst and idle periods.
    pub const BURSTS: Purpose = Purpose(10);
    /// Stalls of hosts.
    pub const STALLS: Purpose = Purpose(11);
    /// Contents of payloads.
    pub const CONTENTS: Purpose = Purpose(12);
}

/// The random words of one purpose of one actor.
///
/// It is also a generator in the sense of the `rand` traits, for interoperation; results that must not
/// change draw through the methods here.
#[derive(Clone, Debug)]
pub struct Stream {
    words: ChaCha8Rng,
}

impl Stream {
    /// The stream of (seed, path, purpose).
    #[must_use]
    pub fn new(seed: u64, path: &str, purpose: Purpose) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..24].copy_from_slice(&path_hash(path).to_le_bytes());
        key[24..28].copy_from_slice(&purpose.0.to_le_bytes());
        key[28..].copy_from_slice(b"rio1");
        Self { words: ChaCha8Rng::from_seed(key) }
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let Ok(word) = self.words.try_next_u64();
        word
    }

    /// Uniform in 0..n, without bias. Panics if `n` is zero.
    ///
    /// The high half of a 64 x 64 bit product; the few low halves that would favour some values are
    /// rejected, so it may take more than one word (with probability below n / 2^64).
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "no number is below zero");
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u64) < threshold {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// True with probability `num / den`, exactly. Panics unless `num <= den` and `den > 0`.
    #[inline]
    pub fn chance(&mut self, num: u64, den: u64) -> bool {
        assert!(num <= den, "probability above one");
        self.below(den) < num
    }

    /// Uniform in `low..=high`. Panics if `low > high`.
    #[inline]
    pub fn uniform_between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "empty range");
        match (high - low).checked_add(1) {
            Some(n) => low + self.below(n),
            None => self.next_u64(),
        }
    }

    /// Exponentially distributed with the given mean, rounded to the nearest picosecond.
    ///
    /// The largest possible value is about 36.7 means (2^-53 is the smallest uniform); it is
    /// [`Duration::MAX`] if that does not fit.
    #[inline]
    pub fn exponential_ps(&mut self, mean: Duration) -> Duration {
        let exact = -libm::log(self.unit()) * mean.0 as f64;
        Duration(libm::round(exact) as u64)
    }

    /// The number of failures before the first success when each trial succeeds with probability
    /// `num / den`: 0, 1, 2, ... `u64::MAX` if `num` is zero (never). Panics unless `num <= den`, `den > 0`.
    ///
    /// One draw however small the probability: the gap to the next bit error costs as much as a packet.
    #[inline]
    pub fn geometric(&mut self, num: u64, den: u64) -> u64 {
        assert!(den > 0 && num <= den, "probability above one");
        let unit = self.unit();
        if num == 0 {
            return u64::MAX;
        }
        if num == den {
            return 0;
        }
        let failure_log = libm::log1p(-(num as f64 / den as f64));
        libm::floor(libm::log(unit) / failure_log) as u64
    }

    /// Uniform in (0, 1], a multiple of 2^-53.
    #[inline]
    fn unit(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.words.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.words.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.words.try_fill_bytes(bytes)
    }
}

/// The frozen hash of an actor's path: 128-bit FNV-1a over its UTF-8 bytes.
///
/// It only has to keep paths apart; ChaCha does the mixing.
#[must_use]
pub const fn path_hash(path: &str) -> u128 {
    let bytes = path.as_bytes();
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u128).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        i += 1;
    }
    hash
}
