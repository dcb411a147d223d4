//! Points spread over a unit cube: Owen-scrambled Sobol sequences and Latin hypercubes.

use super::spec::SampleMethod;
use models::sim_core::{Purpose, Stream};

/// Coordinates of `points` points along dimension `dimension`, in [0, 1): the same for the same seed for
/// ever.
pub(super) fn unit(method: SampleMethod, seed: u64, points: u32, dimension: u32) -> Vec<f64> {
    match method {
        SampleMethod::Sobol => {
            // the scrambling has 32 bits of seed
            let seed = (seed ^ seed >> 32) as u32;
            (0..points).map(|index| f64::from(sobol_burley::sample(index, dimension, seed))).collect()
        }
        SampleMethod::LatinHypercube => {
            let mut draws = Stream::new(seed, &format!("latin hypercube/{dimension}"), Purpose::PHASE);
            let mut slices: Vec<u32> = (0..points).collect();
            for last in (1..slices.len()).rev() {
                slices.swap(last, draws.below(last as u64 + 1) as usize);
            }
            let place = |slice: u32, draws: &mut Stream| {
                let inside = draws.below(1 << 32) as f64 / (1u64 << 32) as f64;
                (f64::from(slice) + inside) / f64::from(points)
            };
            slices.into_iter().map(|slice| place(slice, &mut draws)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One point in each slice, of every dimension, for both methods (16 is a power of two).
    #[test]
    fn every_slice_has_its_point() {
        for method in [SampleMethod::Sobol, SampleMethod::LatinHypercube] {
            for dimension in 0..5 {
                let mut slices: Vec<u32> =
                    unit(method, 7, 16, dimension).iter().map(|share| (share * 16.0) as u32).collect();
                slices.sort_unstable();
                assert_eq!(slices, (0..16).collect::<Vec<u32>>(), "{method:?} {dimension}");
            }
        }
    }

    /// Two dimensions of a Sobol sequence: every box of an elementary partition has its share.
    #[test]
    fn sobol_is_even_in_the_plane() {
        let (x, y) = (unit(SampleMethod::Sobol, 3, 64, 0), unit(SampleMethod::Sobol, 3, 64, 1));
        for i in 0..8 {
            for j in 0..8 {
                let inside = |share: f64, cell: u32| (share * 8.0) as u32 == cell;
                let count = x.iter().zip(&y).filter(|(x, y)| inside(**x, i) && inside(**y, j)).count();
                assert_eq!(count, 1, "box {i} {j}");
            }
        }
    }

    /// Results refer to points by their values: these must never change.
    #[test]
    fn the_same_for_ever() {
        assert_eq!(unit(SampleMethod::Sobol, 1, 3, 0), SOBOL);
        assert_eq!(unit(SampleMethod::LatinHypercube, 1, 3, 0), LATIN);
        assert_ne!(unit(SampleMethod::Sobol, 2, 3, 0), SOBOL);
    }
    const SOBOL: [f64; 3] = [0.4298055171966553, 0.9787707328796387, 0.17449867725372314];
    const LATIN: [f64; 3] = [0.5679050551261753, 0.1739685337524861, 0.675888845231384];
}
