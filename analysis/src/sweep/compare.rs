//! Paired differences between two sweeps, or two halves of one.
//!
//! Replication r has the same random numbers on both sides (common random numbers), so the difference of a
//! pair varies far less than either value. All means are means over points, each of which weighs the same
//! however many replications it has: a stop rule gives more to those that vary.
//!
//! Replications are independent of each other, points are not: replication r has the same random numbers at
//! all of them. So what point p adds in replication r to the difference, (d_pr - d_p) / (P n_p), is summed
//! over the points first, and the squares of these sums make the variance. Where all points have n
//! replications that is the interval of the n averages over points.

use super::metrics::{ARRIVED_SHARE, METRICS, metric as position};
use super::{Data, Frame, Mean};
use crate::estimate::t_of_95;
use crate::num::{counted_text, share_text};
use std::collections::BTreeMap;

/// One side: a sweep, with some axes standing still.
#[derive(Copy, Clone, Debug)]
pub struct Side<'a> {
    /// Axes and points.
    pub frame: &'a Frame,
    /// Runs.
    pub data: &'a Data,
    /// (axis, level) that the points of this side have.
    pub fixed: &'a [(usize, u32)],
}

/// What the difference says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No pair differs.
    Equal,
    /// The interval is above zero.
    Higher,
    /// The interval is below zero.
    Lower,
    /// The interval contains zero.
    NotShown,
    /// Fewer than two replications have all points: no interval.
    Unknown,
}

impl Verdict {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Verdict::Equal => "equal",
            Verdict::Higher => "B is higher",
            Verdict::Lower => "B is lower",
            Verdict::NotShown => "no difference shown",
            Verdict::Unknown => "fewer than two replications that have all points: no interval",
        }
    }
}

/// Comparison of one metric in one scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// `overall` or a flow.
    pub scope: String,
    /// Position in [`METRICS`].
    pub metric: usize,
    /// Mean of A over the points, of the pairs of each.
    pub a: f64,
    /// Likewise of B.
    pub b: f64,
    /// B - A; its count is that of the replications.
    pub difference: Mean,
    /// Pairs of runs.
    pub pairs: usize,
    /// Points with a pair, of how many that both sides have.
    pub points: [usize; 2],
    /// What it says.
    pub verdict: Verdict,
    /// Of times: the share of what was asked for that arrived in A and in B, if that is not all of it. What
    /// did not arrive is in neither mean.
    pub arrived: Option<[f64; 2]>,
}

impl Comparison {
    /// What the difference says, `verdict` in words, and what it says nothing about: points where a side has
    /// no value, and what did not arrive.
    pub fn said(&self, verdict: &str) -> String {
        let [own, all] = self.points;
        let points = match own < all {
            true => format!(" ({own} of {})", counted_text(all as u64, "points")),
            false => String::new(),
        };
        let arrived = self.arrived.map_or(String::new(), |shares| {
            let [a, b] = shares.map(share_text);
            format!(", of those that arrived: {a} → {b}")
        });
        format!("{verdict}{points}{arrived}")
    }
}

/// Points of both sides that belong together, by the labels of the axes that do not stand still. What moves
/// together with an axis stands still with it.
///
/// # Errors
/// If the sides have no point in common.
pub fn pairs(a: Side<'_>, b: Side<'_>) -> Result<Vec<(u32, u32)>, String> {
    let names = |side: Side<'_>| -> Vec<String> {
        let moving = side.frame.axes.iter().enumerate();
        let still = |index: usize| side.fixed.iter().any(|(axis, _)| side.frame.together(*axis, index));
        let moving = moving.filter(|(index, _)| !still(*index));
        let mut names: Vec<String> = moving.map(|(_, axis)| axis.name.clone()).collect();
        names.sort();
        names
    };
    let (names_a, names_b) = (names(a), names(b));
    if names_a != names_b {
        let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join(", ") };
        return Err(format!(
            "the sides have different axes (A: {}; B: {}): fix what only one of them has, as in \
             FOLDER:axis=value",
            list(&names_a),
            list(&names_b)
        ));
    }
    let coordinates = |side: Side<'_>, levels: &[u32]| -> Option<Vec<String>> {
        if side.fixed.iter().any(|(axis, level)| levels[*axis] != *level) {
            return None;
        }
        let level = |name: &String| {
            let index = side.frame.axes.iter().position(|axis| axis.name == *name)?;
            Some(side.frame.axes[index].labels[levels[index] as usize].clone())
        };
        names_a.iter().map(level).collect()
    };
    let places = |side: Side<'_>| -> BTreeMap<Vec<String>, u32> {
        let points = side.frame.points.iter().enumerate();
        points.filter_map(|(index, point)| Some((coordinates(side, &point.levels)?, index as u32))).collect()
    };
    let places_b = places(b);
    let pairs: Vec<(u32, u32)> =
        places(a).into_iter().filter_map(|(at, point)| Some((point, *places_b.get(&at)?))).collect();
    if pairs.is_empty() { Err("the sides have no point in common".into()) } else { Ok(pairs) }
}

/// Compares these pairs of points in every metric and scope that both sides have.
pub fn compare(a: Side<'_>, b: Side<'_>, pairs: &[(u32, u32)]) -> Vec<Comparison> {
    let scopes_b = b.data.scopes();
    let scopes = a.data.scopes().into_iter().filter(|scope| scopes_b.contains(scope));
    let mut found = Vec::new();
    for scope in scopes {
        for metric in 0..METRICS.len() {
            found.extend(compare_one(a, b, pairs, scope, metric));
        }
    }
    found
}

/// Means over pairs of which share arrived; `None`: all of it in both, or it is not known.
fn arrived(a: Side<'_>, b: Side<'_>, pairs: &[(u32, u32)], scope: &str) -> Option<[f64; 2]> {
    let shares = compare_one(a, b, pairs, scope, position(ARRIVED_SHARE)?)?;
    let shares = [shares.a, shares.b];
    shares.iter().any(|share| *share < 1.0).then_some(shares)
}

/// Likewise in one metric and scope; `None` without a pair of values.
pub fn compare_one(
    a: Side<'_>,
    b: Side<'_>,
    pairs: &[(u32, u32)],
    scope: &str,
    metric: usize,
) -> Option<Comparison> {
    // Of each point with pairs: (replication, value of A, value of B).
    let of_point = |&(point_a, point_b): &(u32, u32)| -> Vec<(u32, f64, f64)> {
        let theirs = b.data.values(point_b, scope, metric);
        let other = |replication: u32| theirs.iter().find(|(number, _)| *number == replication);
        let ours = a.data.values(point_a, scope, metric).into_iter();
        ours.filter_map(|(replication, value)| Some((replication, value, other(replication)?.1))).collect()
    };
    let every = pairs.iter().map(|pair| (*pair, of_point(pair)));
    let (own, points): (Vec<_>, Vec<_>) = every.filter(|(_, point)| !point.is_empty()).unzip();
    let difference = mean_difference(&points)?;
    let values = || points.iter().flatten();
    let over_points = |value: fn(&(u32, f64, f64)) -> f64| {
        let mean = |point: &Vec<_>| point.iter().map(value).sum::<f64>() / point.len() as f64;
        points.iter().map(mean).sum::<f64>() / points.len() as f64
    };
    let verdict = match () {
        () if values().all(|(_, a, b)| a == b) => Verdict::Equal,
        () if !difference.half_width.is_finite() => Verdict::Unknown,
        () if difference.mean - difference.half_width > 0.0 => Verdict::Higher,
        () if difference.mean + difference.half_width < 0.0 => Verdict::Lower,
        () => Verdict::NotShown,
    };
    Some(Comparison {
        scope: scope.into(),
        metric,
        a: over_points(|pair| pair.1),
        b: over_points(|pair| pair.2),
        difference,
        pairs: values().count(),
        points: [own.len(), pairs.len()],
        verdict,
        arrived: METRICS[metric].is_of_arrived().then(|| arrived(a, b, &own, scope)).flatten(),
    })
}

/// Mean over points of what B is more than A, with its 95 % interval; `None` without a pair.
///
/// The interval has as many degrees of freedom as it would if all points went up and down together: their
/// standard errors add up then, and so do the errors of these, each of which is one part in the root of twice
/// n_p - 1. Points that do not vary have no say in it.
fn mean_difference(points: &[Vec<(u32, f64, f64)>]) -> Option<Mean> {
    let all = points.len() as f64;
    let differences = |point: &[(u32, f64, f64)]| -> Vec<(u32, f64)> {
        point.iter().map(|(replication, a, b)| (*replication, b - a)).collect()
    };
    let (mut mean, mut errors, mut loose) = (0.0, 0.0, 0.0);
    let mut sums: BTreeMap<u32, f64> = BTreeMap::new();
    for point in points.iter().map(|point| differences(point)) {
        let n = point.len() as f64;
        let own = point.iter().map(|(_, value)| value).sum::<f64>() / n;
        mean += own / all;
        // of one value nobody knows how it varies
        let freedom = n - 1.0;
        let widened = libm::sqrt(n / freedom);
        let mut squares = 0.0;
        for (replication, value) in point {
            let part = if freedom > 0.0 { (value - own) * widened / (all * n) } else { f64::NAN };
            *sums.entry(replication).or_default() += part;
            squares += part * part;
        }
        let error = libm::sqrt(squares);
        errors += error;
        loose += error / libm::sqrt(freedom);
    }
    let count = sums.len();
    let variance: f64 = sums.values().map(|sum| sum * sum).sum();
    let half_width = match variance {
        known if known.is_nan() => f64::NAN,
        0.0 => 0.0,
        _ => {
            // a hair more: of equal points it is a whole number
            let freedom = (errors / loose) * (errors / loose) * (1.0 + 1e-9);
            t_of_95((freedom as u32).max(1)) * libm::sqrt(variance)
        }
    };
    (count > 0).then_some(Mean { mean, half_width, count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::run;
    use crate::sweep::{FrameAxis, FramePoint, OVERALL};

    fn side(labels: &[&str], value: impl Fn(u32, u32) -> f64) -> (Frame, Data) {
        let axis = FrameAxis {
            name: "load".into(),
            column: "load".into(),
            unit: String::new(),
            sampled: false,
            labels: labels.iter().map(ToString::to_string).collect(),
            numbers: None,
        };
        let points = (0..labels.len() as u32).map(|n| FramePoint { key: n.to_string(), levels: vec![n] });
        let points: Vec<FramePoint> = points.collect();
        let mut data = Data::default();
        for point in 0..points.len() as u32 {
            for replication in 1..=4 {
                data.runs.insert((point, replication), run(value(point, replication)));
            }
        }
        (Frame { name: "x".into(), title: "x".into(), axes: vec![axis], points }, data)
    }

    fn verdict(a: &(Frame, Data), b: &(Frame, Data)) -> Comparison {
        let side = |pair: &'static (Frame, Data)| Side { frame: &pair.0, data: &pair.1, fixed: &[] };
        // tests may leak
        let (a, b) = (side(Box::leak(Box::new(a.clone()))), side(Box::leak(Box::new(b.clone()))));
        let pairs = pairs(a, b).unwrap();
        compare(a, b, &pairs).into_iter().find(|found| found.scope == OVERALL).unwrap()
    }

    /// The noise of replications is a hundred times the difference; only pairs can show it.
    #[test]
    fn common_random_numbers_show_small_differences() {
        let noise = |replication: u32| [0.0, 70.0, -50.0, 30.0][replication as usize - 1];
        let a = side(&["0.1", "0.2"], |_, r| 500.0 + noise(r));
        let b = side(&["0.2", "0.1"], |_, r| 501.0 + noise(r) + 0.001 * f64::from(r));
        let found = verdict(&a, &b);
        assert_eq!((found.verdict, found.pairs, found.difference.count), (Verdict::Higher, 8, 4));
        assert!((found.difference.mean - 1.0025).abs() < 1e-9);
        assert_eq!(verdict(&b, &a).verdict, Verdict::Lower);
        assert_eq!(verdict(&a, &a).verdict, Verdict::Equal);
        let c = side(&["0.1", "0.2"], |_, r| 500.0 - noise(r));
        assert_eq!(verdict(&a, &c).verdict, Verdict::NotShown);
    }

    /// A point that varies has more replications than one that does not. By hand: the differences are 1, 1
    /// at the first point and 10, 14, 12, 8 at the second, so their mean is (1 + 11) / 2 = 6, and that of A
    /// and B as many more or less: no weight goes by replications. Only the second point has a width, with
    /// three degrees of freedom: t = 3.182 446, s = 2.581 989, over two points and the root of four
    /// replications.
    #[test]
    fn every_point_weighs_the_same() {
        let more = [[1.0, 1.0, 0.0, 0.0], [10.0, 14.0, 12.0, 8.0]];
        let noise = |r: u32| 7.0 * f64::from(r);
        let a = side(&["calm", "wild"], |point, r| 100.0 * f64::from(point) + noise(r));
        let mut b = side(&["calm", "wild"], |point, r| {
            100.0 * f64::from(point) + noise(r) + more[point as usize][r as usize - 1]
        });
        b.1.runs.retain(|(point, replication), _| *point == 1 || *replication <= 2);
        let found = verdict(&a, &b);
        assert_eq!((found.pairs, found.difference.count, found.verdict), (6, 4, Verdict::Higher));
        assert!((found.difference.mean - 6.0).abs() < 1e-12);
        assert!((found.b - found.a - 6.0).abs() < 1e-12, "{found:?}");
        // of A: 10.5 and 100 + 17.5
        assert!((found.a - (10.5 + 117.5) / 2.0).abs() < 1e-12);
        let half = 3.182_446_305 * 2.581_988_897 / 2.0 / 2.0;
        assert!((found.difference.half_width - half).abs() < 1e-8, "{found:?}");
        // one pair says nothing of how it varies
        b.1.runs.retain(|(point, replication), _| *point == 1 || *replication == 1);
        let found = verdict(&a, &b);
        assert!(found.difference.half_width.is_nan() && found.difference.mean == 6.0, "{found:?}");
        assert_eq!(found.verdict, Verdict::Unknown);
    }

    /// With equal numbers the interval is that of the averages over points of each replication, whether these
    /// go up and down together or against each other.
    #[test]
    fn equal_numbers_give_the_interval_of_averages() {
        let against = [[1.0, 3.0, 2.0, 2.0], [5.0, 3.5, 4.0, 4.5]];
        let together = [[1.0, 3.0, 2.0, 2.0], [2.0, 6.0, 3.0, 4.0]];
        for more in [against, together] {
            let a = side(&["0.1", "0.2"], |_, r| f64::from(r));
            let b = side(&["0.1", "0.2"], |point, r| f64::from(r) + more[point as usize][r as usize - 1]);
            let averages: Vec<f64> = (0..4).map(|r| (more[0][r] + more[1][r]) / 2.0).collect();
            let (found, wanted) = (verdict(&a, &b).difference, Mean::of(&averages).unwrap());
            assert!((found.mean - wanted.mean).abs() < 1e-12);
            assert!((found.half_width - wanted.half_width).abs() < 1e-9, "{found:?} {wanted:?}");
        }
    }

    /// Of A everything arrives, of B a half: times are of those, and say so; loads are not of them.
    #[test]
    fn a_comparison_of_survivors_says_of_what_share() {
        let b = side(&["0.1"], |_, _| 400.0);
        let with = |(frame, mut data): (Frame, Data), share: Option<f64>| {
            let at = position(ARRIVED_SHARE).unwrap();
            data.runs.values_mut().for_each(|run| run.rows[0].values[at] = share);
            (frame, data)
        };
        let arrived = |a: Option<f64>, b_share: Option<f64>, metric: &str| {
            let (a, b) = (with(side(&["0.1"], |_, _| 500.0), a), with(b.clone(), b_share));
            let (a, b) =
                (Side { frame: &a.0, data: &a.1, fixed: &[] }, Side { frame: &b.0, data: &b.1, fixed: &[] });
            compare_one(a, b, &[(0, 0)], OVERALL, position(metric).unwrap()).unwrap().arrived
        };
        for metric in ["latency_mean_ns", "network_latency_p99_ns", "latency_max_ns", "part_staged_ns"] {
            assert_eq!(arrived(Some(1.0), Some(0.5), metric), Some([1.0, 0.5]), "{metric}");
            assert_eq!(arrived(Some(1.0), Some(1.0), metric), None);
            // results of an earlier version do not say
            assert_eq!(arrived(None, Some(0.5), metric), None);
        }
        for metric in ["accepted_load", "goodput_gbps", "stalls", "warmup_us"] {
            assert_eq!(arrived(Some(1.0), Some(0.5), metric), None, "{metric}");
        }
    }

    /// By hand: at the second of two points nothing arrives in B, so there is no time to compare, and of the
    /// first a half arrives. A time is of the first point alone, and so is the share that it tells; the
    /// share itself is of both: 1 and (0.5 + 0) / 2.
    #[test]
    fn a_comparison_of_some_points_says_of_how_many() {
        let (time, share) = (position("latency_p99_ns").unwrap(), position(ARRIVED_SHARE).unwrap());
        let a = side(&["0.1", "0.2"], |_, _| 500.0);
        let mut b = side(&["0.1", "0.2"], |_, r| 400.0 + f64::from(r));
        let told = |a: &(Frame, Data), b: &(Frame, Data), metric| {
            let (a, b) =
                (Side { frame: &a.0, data: &a.1, fixed: &[] }, Side { frame: &b.0, data: &b.1, fixed: &[] });
            compare_one(a, b, &[(0, 0), (1, 1)], OVERALL, metric).unwrap()
        };
        let mut whole = a.clone();
        whole.1.runs.values_mut().for_each(|run| run.rows[0].values[share] = Some(1.0));
        let a = whole;
        for ((point, _), run) in &mut b.1.runs {
            run.rows[0].values[share] = Some(if *point == 0 { 0.5 } else { 0.0 });
            if *point == 1 {
                run.rows[0].values[time] = None;
            }
        }
        let found = told(&a, &b, time);
        assert_eq!((found.points, found.pairs, found.arrived), ([1, 2], 4, Some([1.0, 0.5])));
        let law = "B is lower (1 of 2 points), of those that arrived: 100.0 % → 50.0 %";
        assert_eq!(found.said(found.verdict.text()), law);
        let shares = told(&a, &b, share);
        assert_eq!((shares.points, shares.a, shares.b), ([2, 2], 1.0, 0.25));
        assert_eq!(shares.said("lower"), "lower");
    }

    /// Two axes of a zip, crossed with a load: each step of one has one step of the other, so holding either
    /// leaves the points of one load beside those of the same load.
    #[test]
    fn what_moves_together_stands_still_together() {
        let (mut frame, data) = side(&["0.1", "0.2"], |_, _| 1.0);
        let named = |name: &str| FrameAxis { name: name.into(), ..frame.axes[0].clone() };
        frame.axes = vec![named("size"), named("length"), frame.axes[0].clone()];
        let points = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]];
        let point = |levels: [u32; 3]| FramePoint { key: format!("{levels:?}"), levels: levels.to_vec() };
        frame.points = points.map(point).to_vec();
        let whole = Side { frame: &frame, data: &data, fixed: &[] };
        for (axis, wanted) in [(0, [(0, 2), (1, 3)]), (1, [(0, 2), (1, 3)]), (2, [(0, 1), (2, 3)])] {
            let (first, second) = ([(axis, 0)], [(axis, 1)]);
            let (a, b) = (Side { fixed: &first, ..whole }, Side { fixed: &second, ..whole });
            assert_eq!(pairs(a, b), Ok(wanted.to_vec()));
        }
    }

    #[test]
    fn points_meet_by_their_values() {
        let a = side(&["0.1", "0.2", "0.3"], |point, _| f64::from(point));
        let b = side(&["0.3", "0.4"], |_, _| 2.0);
        let (a_side, b_side) =
            (Side { frame: &a.0, data: &a.1, fixed: &[] }, Side { frame: &b.0, data: &b.1, fixed: &[] });
        assert_eq!(pairs(a_side, b_side), Ok(vec![(2, 0)]));
        // one axis each, which stands still: the two points meet
        let fixed = Side { fixed: &[(0, 2)], ..a_side };
        assert_eq!(pairs(fixed, Side { fixed: &[(0, 1)], ..b_side }), Ok(vec![(2, 1)]));
        assert!(pairs(fixed, b_side).unwrap_err().contains("different axes"));
    }
}
