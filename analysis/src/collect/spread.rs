//! Distributions: counted while the simulation runs, read as histograms afterwards.

use crate::estimate::quantile_rank;
use hdrhistogram::Histogram;
use std::ops::Range;

/// Resolution of the latency histograms, picoseconds. A packet's latency is hardly ever below 100 ns, so 64
/// ps keep three digits everywhere and save six doublings of the bucket table.
pub const LATENCY_UNIT_PS: u64 = 64;
/// log2 of the slots of an octave in a histogram of three digits.
const OCTAVE_SLOTS: u32 = 10;
/// Bits of the values of the first two octaves' worth of slots, which are as wide as each other.
const LINEAR_BITS: u32 = LATENCY_UNIT_PS.ilog2() + OCTAVE_SLOTS + 1;

/// Distribution and decomposition of one flow in one segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Picoseconds by cause, summed over packets.
    pub parts_ps: [u128; 13],
    /// Latency.
    pub latency: Spread,
    /// From the first bit on the injection link to the last at the destination.
    pub network: Spread,
}

impl From<&Tallies> for Segment {
    fn from(counted: &Tallies) -> Self {
        Self {
            parts_ps: counted.parts_ps,
            latency: Spread::from(&counted.latency),
            network: Spread::from(&counted.network),
        }
    }
}

/// A histogram with three digits, and the exact extremes that it cannot give.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// Counts in picoseconds; the smallest step is [`LATENCY_UNIT_PS`].
    pub histogram: Histogram<u32>,
    /// Smallest value, `u64::MAX` if there is none.
    pub min: u64,
    /// Largest value, 0 if there is none.
    pub max: u64,
}

impl Spread {
    /// Without values, and with room for those up to `max`. It grows, but that takes longer than to record
    /// what it is for: most have few values.
    fn with_room(max: u64) -> Self {
        let mut histogram = Histogram::new_with_bounds(LATENCY_UNIT_PS, max.max(2 * LATENCY_UNIT_PS), 3)
            .expect("the bounds are those that the histogram accepts");
        histogram.auto(true);
        Self { histogram, min: u64::MAX, max: 0 }
    }

    /// Quantile in picoseconds, never above the exact maximum; `None` if nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.histogram.is_empty() {
            return None;
        }
        // The histogram takes the next rank for some shares that are whole numbers of values.
        let values = self.histogram.len();
        let between = (quantile_rank(q, values) as f64 - 0.5) / values as f64;
        Some(self.histogram.value_at_quantile(between).clamp(self.min, self.max))
    }

    /// Likewise the smallest value that it may be: times are counted in steps, of which
    /// [`quantile`](Self::quantile) is the upper end.
    pub fn quantile_at_least(&self, q: f64) -> Option<u64> {
        let upper = self.quantile(q)?;
        Some(self.histogram.lowest_equivalent(upper).clamp(self.min, self.max))
    }
}

impl Default for Spread {
    fn default() -> Self {
        Self::with_room(0)
    }
}

impl From<&Tally> for Spread {
    fn from(counted: &Tally) -> Self {
        let mut spread = Self { min: counted.min, max: counted.max, ..Self::with_room(counted.max) };
        let slots = counted.used();
        for (slot, &count) in slots.clone().zip(&counted.counts[slots]).filter(|(_, count)| **count > 0) {
            let lowest = Tally::lowest(slot);
            spread.histogram.record_n(lowest, count).expect("the histogram grows to any latency");
        }
        spread
    }
}

/// A [`Segment`] while its packets are counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tallies {
    /// Picoseconds by cause, summed over packets.
    pub parts_ps: [u128; 13],
    /// Latency.
    pub latency: Tally,
    /// From the first bit on the injection link to the last at the destination.
    pub network: Tally,
}

impl Tallies {
    /// Counts a packet.
    #[inline]
    pub(super) fn count(&mut self, parts: &[u64; 13], latency: u64, network: u64) {
        for (sum, part) in self.parts_ps.iter_mut().zip(parts) {
            *sum += u128::from(*part);
        }
        self.latency.count(latency);
        self.network.count(network);
    }

    /// Adds the packets of `other`.
    pub fn merge(&mut self, other: &Tallies) {
        for (sum, part) in self.parts_ps.iter_mut().zip(other.parts_ps) {
            *sum += part;
        }
        self.latency.merge(&other.latency);
        self.network.merge(&other.network);
    }
}

/// The counters of a [`Spread`], slot by slot those of its histogram. The histogram takes a hundred
/// instructions for a value, because it can do more than count; here it is the index and an addition, and two
/// of them are part of every delivery.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// By slot, as far as values were met.
    counts: Vec<u32>,
    /// Smallest value, `u64::MAX` if there is none.
    pub min: u64,
    /// Largest value, 0 if there is none.
    pub max: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self { counts: Vec::new(), min: u64::MAX, max: 0 }
    }
}

impl Tally {
    #[inline]
    fn count(&mut self, ps: u64) {
        let slot = Self::slot(ps);
        if slot >= self.counts.len() {
            self.grow(slot);
        }
        self.counts[slot] = self.counts[slot].saturating_add(1);
        self.min = self.min.min(ps);
        self.max = self.max.max(ps);
    }

    /// Up to the end of the slot's octave. Into zeroed memory: `resize` would write each zero, in builds
    /// without optimisation one by one.
    #[cold]
    fn grow(&mut self, slot: usize) {
        let mut counts = vec![0; (slot | ((1 << OCTAVE_SLOTS) - 1)) + 1];
        counts[..self.counts.len()].copy_from_slice(&self.counts);
        self.counts = counts;
    }

    /// Steps of one unit to begin with; from there on an octave has as many slots as its values have steps
    /// of three digits.
    #[inline]
    fn slot(ps: u64) -> usize {
        let octave = (ps | ((1 << LINEAR_BITS) - 1)).ilog2() + 1 - LINEAR_BITS;
        (octave << OCTAVE_SLOTS) as usize + (ps >> (octave + LATENCY_UNIT_PS.ilog2())) as usize
    }

    /// The smallest value of a slot.
    fn lowest(slot: usize) -> u64 {
        let octave = (slot >> OCTAVE_SLOTS).saturating_sub(1);
        ((slot - (octave << OCTAVE_SLOTS)) as u64) << (octave as u32 + LATENCY_UNIT_PS.ilog2())
    }

    /// The slots of all its values: those below and above are empty, and are most of a tally of few values.
    fn used(&self) -> Range<usize> {
        if self.min > self.max { 0..0 } else { Self::slot(self.min)..Self::slot(self.max) + 1 }
    }

    /// How many values there are.
    pub fn values(&self) -> u64 {
        self.counts[self.used()].iter().map(|&count| u64::from(count)).sum()
    }

    /// Adds the values of `other`.
    pub fn merge(&mut self, other: &Tally) {
        if other.counts.len() > self.counts.len() {
            self.grow(other.counts.len() - 1);
        }
        let used = other.used();
        for (sum, count) in self.counts[used.clone()].iter_mut().zip(&other.counts[used]) {
            *sum = sum.saturating_add(*count);
        }
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ends of every slot, and every size of number.
    #[test]
    fn a_tally_counts_as_the_histogram_does() {
        let ends = (0..60_u32).flat_map(|bits| {
            let octave = 1_u64 << bits;
            [octave - 1, octave, octave + octave / 3, octave * 2 - 1]
        });
        let slots =
            (0..20 << OCTAVE_SLOTS).flat_map(|slot| [Tally::lowest(slot), Tally::lowest(slot + 1) - 1]);
        let (mut counted, mut whole) = (Tally::default(), Spread::default());
        for ps in ends.chain(slots) {
            counted.count(ps);
            whole.histogram.record(ps).unwrap();
            (whole.min, whole.max) = (whole.min.min(ps), whole.max.max(ps));
        }
        let spread = Spread::from(&counted);
        assert_eq!(spread, whole);
        for q in [0.0, 0.01, 0.5, 0.9, 1.0] {
            assert_eq!(spread.quantile(q), whole.quantile(q), "{q}");
        }
    }

    /// Parts of a run may be counted apart.
    #[test]
    fn tallies_join_to_the_tally_of_all() {
        let (mut all, mut parts) = (Tally::default(), [Tally::default(), Tally::default()]);
        for n in 0..1_000_u64 {
            all.count(n * n * n);
            parts[(n % 3 / 2) as usize].count(n * n * n);
        }
        let [mut first, mut second] = parts;
        let long_first = first.clone();
        first.merge(&second);
        assert_eq!(first, all);
        second.merge(&long_first);
        assert_eq!(second, all);
    }
}
