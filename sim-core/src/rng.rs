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
        exponential(self.unit(), mean)
    }

    /// The next `N` values of [`exponential_ps`](Self::exponential_ps) with one mean, at about half the cost
    /// each: their logarithms do not wait for each other.
    #[inline]
    pub fn exponentials_ps<const N: usize>(&mut self, mean: Duration) -> [Duration; N] {
        let units: [f64; N] = std::array::from_fn(|_| self.unit());
        units.map(|unit| exponential(unit, mean))
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

/// The exponential quantile of `1 - unit`, to the nearest picosecond, halves up.
#[inline]
fn exponential(unit: f64, mean: Duration) -> Duration {
    let exact = -libm::log(unit) * mean.0 as f64;
    // `libm::round` goes a long way; this difference is exact.
    let whole = exact as u64;
    Duration(whole.saturating_add(u64::from(exact - whole as f64 >= 0.5)))
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    fn golden_stream() -> Stream {
        Stream::new(42, "sw/0007/port/3", Purpose::ARRIVALS)
    }

    fn draws<T>(count: usize, mut draw: impl FnMut(&mut Stream) -> T) -> Vec<T> {
        let mut stream = golden_stream();
        (0..count).map(|_| draw(&mut stream)).collect()
    }

    /// The first two are published test vectors of FNV-1a.
    #[test]
    fn path_hash_golden() {
        assert_eq!(path_hash("a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        assert_eq!(path_hash("foobar"), 0x343e_1662_793c_64bf_6f0d_3597_ba44_6f18);
        assert_eq!(path_hash("sw/0007/port/3"), 0xb5b1_26fa_a883_0b6d_4fe7_eca7_b633_163b);
    }

    /// Computed with an independent implementation of ChaCha8.
    #[test]
    fn words_golden() {
        let words = draws(40, Stream::next_u64);
        assert_eq!(
            words[..4],
            [0x2616_ffc8_888b_9834, 0x9d98_1943_fa4f_743b, 0xefb3_df6a_8993_23b4, 0xcf94_8aaa_5376_f8ec]
        );
        assert_eq!([words[32], words[39]], [0x235c_f333_2b13_326a, 0x17a1_4834_e904_c89e]);
        let mut other = Stream::new(0, "", Purpose::ARBITRATION);
        assert_eq!([other.next_u64(), other.next_u64()], [0xb078_8d11_df12_a8f1, 0x061e_8a8a_568e_eb92]);
    }

    #[test]
    fn draws_golden() {
        assert_eq!(draws(12, |s| s.below(10)), [1, 6, 9, 8, 8, 0, 3, 5, 4, 8, 9, 2]);
        assert_eq!(
            draws(8, |s| s.exponential_ps(Duration::from_us(1)).0),
            [1_905_230, 485_154, 65_778, 209_659, 205_507, 3_121_031, 1_135_990, 668_546]
        );
        assert_eq!(
            golden_stream().exponentials_ps::<8>(Duration::from_us(1)).map(|gap| gap.0).to_vec(),
            draws(8, |s| s.exponential_ps(Duration::from_us(1)).0)
        );
        assert_eq!(draws(8, |s| s.geometric(1, 100)), [189, 48, 6, 20, 20, 310, 113, 66]);
        let hits = draws(16, |s| u8::from(s.chance(1, 3)));
        assert_eq!(hits, [1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 1, 0]);
        assert_eq!(draws(8, |s| s.uniform_between(64, 256)), [92, 182, 244, 220, 221, 72, 125, 162]);
    }

    #[test]
    fn seed_path_and_purpose_select_the_stream() {
        let first = |seed, path, purpose| Stream::new(seed, path, purpose).next_u64();
        let reference = first(1, "a/1", Purpose::SIZES);
        assert_eq!(first(1, "a/1", Purpose::SIZES), reference);
        assert_ne!(first(2, "a/1", Purpose::SIZES), reference);
        assert_ne!(first(1, "a/2", Purpose::SIZES), reference);
        assert_ne!(first(1, "a/1", Purpose::PHASE), reference);
    }

    #[test]
    fn below_is_uniform_and_in_range() {
        let mut counts = [0u32; 7];
        let mut stream = golden_stream();
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        // Chi squared with 6 degrees of freedom: 22.5 is exceeded once in a thousand streams.
        let chi2: f64 = counts.iter().map(|&count| (f64::from(count) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 22.5, "{counts:?}");
        // Three quarters of 2^64: without rejection, every third value would come twice as often.
        let n = 3 << 62;
        let low = (0..30_000).filter(|_| stream.below(n).is_multiple_of(3)).count();
        assert!((9_600..10_400).contains(&low), "{low}");
        assert_eq!(stream.below(1), 0);
    }

    #[test]
    fn moments() {
        let mut stream = golden_stream();
        let n = 200_000u64;
        let mean = Duration::from_ns(500);
        let (mut sum, mut squares) = (0u128, 0u128);
        for _ in 0..n {
            let gap = u128::from(stream.exponential_ps(mean).0);
            sum += gap;
            squares += gap * gap;
        }
        // Standard errors: 0.22 % of the mean, 0.5 % of the mean square.
        assert!((497_000..503_000).contains(&(sum as u64 / n)), "{}", sum as u64 / n);
        let mean_square = (squares / u128::from(n)) as u64;
        assert!((490_000_000_000..510_000_000_000).contains(&mean_square), "{mean_square}");
        let failures: u64 = (0..n).map(|_| stream.geometric(1, 50)).sum();
        // Mean 49, standard error 0.11.
        assert!((48 * n + n / 2..49 * n + n / 2).contains(&failures), "{failures}");
        let hits = (0..n).filter(|_| stream.chance(3, 10)).count();
        assert!((59_200..60_800).contains(&hits), "{hits}");
    }

    #[test]
    fn extremes() {
        let mut stream = golden_stream();
        assert!(!stream.chance(0, 5));
        assert!(stream.chance(5, 5));
        assert_eq!(stream.geometric(0, 9), u64::MAX);
        assert_eq!(stream.geometric(9, 9), 0);
        assert_eq!(stream.uniform_between(7, 7), 7);
        let word = stream.clone().next_u64();
        assert_eq!(stream.uniform_between(0, u64::MAX), word);
        assert_eq!(stream.exponential_ps(Duration::ZERO), Duration::ZERO);
        let longest = (0..100).map(|_| stream.exponential_ps(Duration::MAX)).max();
        assert_eq!(longest, Some(Duration::MAX));
    }

    /// The uniform of a word is in (0, 1]: its upper 53 bits and one, so that its logarithm exists. A mean of
    /// 2^60 ps shows the last of them.
    #[test]
    fn the_uniform_of_a_word_is_never_zero() {
        let mut stream = golden_stream();
        for _ in 0..100 {
            let word = stream.clone().next_u64();
            let unit = ((word >> 11) + 1) as f64 / (1_u64 << 53) as f64;
            let mean = Duration(1 << 60);
            assert_eq!(stream.exponential_ps(mean), exponential(unit, mean));
        }
    }

    /// Whoever is sure of the outcome draws as well: what comes after it does not depend on a probability.
    #[test]
    fn a_sure_outcome_takes_its_word() {
        let mut after = golden_stream();
        after.next_u64();
        for num in [0, 4, 9] {
            let mut stream = golden_stream();
            stream.geometric(num, 9);
            assert_eq!(stream.next_u64(), after.clone().next_u64(), "{num} of 9");
        }
    }

    /// Their numbers are part of every result.
    #[test]
    fn purposes_keep_their_numbers() {
        let all = [
            Purpose::ARRIVALS,
            Purpose::DESTINATIONS,
            Purpose::SIZES,
            Purpose::ARBITRATION,
            Purpose::FAULTS,
            Purpose::PHASE,
            Purpose::SERVICE,
            Purpose::PRIORITIES,
            Purpose::BACKOFF,
            Purpose::BURSTS,
            Purpose::STALLS,
            Purpose::CONTENTS,
        ];
        assert_eq!(all.map(|purpose| purpose.0), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    }

    /// Between 2^51 and 2^52 a float is a whole number or a half of one.
    #[test]
    fn halves_of_a_picosecond_are_rounded_up() {
        let (mut halves, mut wholes) = (0, 0);
        for mean in 1_u64 << 52..(1 << 52) + 40 {
            let exact = -libm::log(0.5) * mean as f64;
            let found = exponential(0.5, Duration(mean)).0;
            if exact == exact.floor() {
                wholes += 1;
                assert_eq!(found, exact as u64);
            } else {
                halves += 1;
                assert_eq!(found, exact as u64 + 1);
            }
        }
        assert!(halves > 10 && wholes > 10, "{halves} halves, {wholes} whole ones");
    }

    #[test]
    fn the_traits_give_the_same_words() {
        let mut by_trait = golden_stream();
        let mut bytes = [0; 8];
        Rng::fill_bytes(&mut by_trait, &mut bytes);
        let mut own = golden_stream();
        assert_eq!(u64::from_le_bytes(bytes), own.next_u64());
        assert_eq!(Rng::next_u64(&mut by_trait), own.next_u64());
        assert_eq!(u64::from(Rng::next_u32(&mut by_trait)), own.next_u64() & 0xffff_ffff);
    }

    #[test]
    #[should_panic(expected = "no number is below zero")]
    fn below_zero_panics() {
        golden_stream().below(0);
    }
}
