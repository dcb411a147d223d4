//! Sweeps: what is measured at a point, what replications say together, tables, figures, comparisons.
//!
//! A run becomes one [`ScopeRow`] for all flows together (`overall`) and one for each flow. A [`Frame`] names
//! the axes and the points; [`Data`] holds the rows of all runs that count. From there come
//! [`results`](table::results) (a row for each run and scope), [`estimates`](table::estimates) (a row for
//! each point and scope), [`plot`], [`compare`] and [`paired`].
//!
//! Values are rounded to nine digits before anything is computed from them, so that it makes no difference
//! whether a row comes from memory or from a file.

pub mod compare;
pub mod metrics;
pub mod paired;
pub mod parquet;
pub mod plot;
pub mod table;

use crate::estimate::half_width;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub use metrics::{ARRIVED_SHARE, METRICS, Metric, ScopeRow, measure, metric};

/// Scope of all flows together.
pub const OVERALL: &str = "overall";

/// One axis, as results name it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrameAxis {
    /// Name.
    pub name: String,
    /// Name of its column: with the unit at the end.
    pub column: String,
    /// Unit of its numbers; may be empty.
    pub unit: String,
    /// Whether its values are scattered rather than chosen.
    pub sampled: bool,
    /// What each value is called.
    pub labels: Vec<String>,
    /// The number of each value, if all have one.
    pub numbers: Option<Vec<f64>>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FramePoint {
    /// Hash of what it sets.
    pub key: String,
    /// Level of each axis.
    pub levels: Vec<u32>,
}

/// What the rows of a sweep refer to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Name of the sweep.
    pub name: String,
    /// One line for the head of a report.
    pub title: String,
    /// Axes.
    pub axes: Vec<FrameAxis>,
    /// Points, in order.
    pub points: Vec<FramePoint>,
}

impl Frame {
    /// Whether two axes move together, as those of a `zip` and of a `sample` do: every point has the same
    /// step of both. Axes that are crossed have points where their steps differ.
    pub fn together(&self, a: usize, b: usize) -> bool {
        let moves = self.axes[a].labels.len() > 1 && !self.points.is_empty();
        a == b || moves && self.points.iter().all(|point| point.levels[a] == point.levels[b])
    }

    /// The axes of the `zip` that an axis is of, in order; of others only the axis itself.
    pub fn zipped(&self, axis: usize) -> impl Iterator<Item = usize> {
        let all = 0..self.axes.len();
        all.filter(move |other| axis == *other || !self.axes[axis].sampled && self.together(axis, *other))
    }
}

/// When a point is known well enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopRule {
    /// Column.
    pub metric: String,
    /// Scope.
    pub scope: String,
    /// Largest half width.
    pub half_width: f64,
    /// Whether that is a share of the mean.
    pub relative: bool,
}

impl StopRule {
    /// Half width of the interval of these values, as the rule counts it.
    fn width(&self, values: &[f64]) -> f64 {
        let own = half_width(values);
        if self.relative { own / libm::fabs(mean(values)) } else { own }
    }

    fn is_met(&self, values: &[f64]) -> bool {
        let scale = if self.relative { libm::fabs(mean(values)) } else { 1.0 };
        half_width(values) <= self.half_width * scale
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Points that a stop rule leaves as they are: all their replications are there, and their intervals are
/// wider than it wants.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Missed {
    /// How many they are.
    pub points: usize,
    /// The one with the widest interval.
    pub worst: u32,
    /// Half width of that, as the rule counts it.
    pub half_width: f64,
}

/// How many replications a point has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
    /// Stop rule, if the number is not fixed.
    pub stop: Option<StopRule>,
}

impl Rule {
    /// How many replications a point needs, as far as replications 1, 2, ... without a gap can tell: `Ok`
    /// with the number that counts, or `Err` with a number worth reaching next.
    ///
    /// The number that counts is the smallest k whose interval over replications 1 to k is narrow enough, so
    /// it does not depend on how many more were simulated.
    ///
    /// # Errors
    /// Not enough yet.
    pub fn settled(&self, runs: &[&Run]) -> Result<u32, u32> {
        let known = runs.len() as u32;
        let Some(stop) = &self.stop else {
            return if known >= self.max { Ok(self.max) } else { Err(self.max) };
        };
        let index = METRICS.iter().position(|metric| metric.name == stop.metric);
        let value = |run: &&Run| {
            let row = run.rows.iter().find(|row| row.scope == stop.scope)?;
            row.value(index?)
        };
        let values: Vec<f64> = runs.iter().map(value).map(|value| value.unwrap_or(f64::NAN)).collect();
        for k in self.min..=self.max.min(known) {
            if stop.is_met(&values[..k as usize]) {
                return Ok(k);
            }
        }
        if known >= self.max {
            return Ok(self.max);
        }
        // a quarter more at a time: few rounds, little in vain
        Err((known + (known / 4).max(1)).clamp(self.min, self.max))
    }

    /// Points with a value in each of their replications, of which there are no more, that are not known as
    /// well as the stop rule wants; `None` if there are none.
    pub fn missed(&self, data: &Data) -> Option<Missed> {
        let stop = self.stop.as_ref()?;
        let index = metric(&stop.metric)?;
        let width = |point: u32| {
            let values = data.values(point, &stop.scope, index);
            let values: Vec<f64> = values.into_iter().map(|value| value.1).collect();
            let whole = values.len() as u32 == self.max && !stop.is_met(&values);
            whole.then(|| (point, stop.width(&values)))
        };
        let points: BTreeSet<u32> = data.runs.keys().map(|run| run.0).collect();
        let missed: Vec<(u32, f64)> = points.into_iter().filter_map(width).collect();
        let (worst, half_width) = missed.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(Missed { points: missed.len(), worst, half_width })
    }
}

/// One finished run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Seed.
    pub seed: u64,
    /// Outcome fingerprint.
    pub outcome: String,
    /// Whether the watchdog ended the run early.
    pub stopped: bool,
    /// Measurements by scope, `overall` first.
    pub rows: Vec<ScopeRow>,
}

/// The runs of a sweep that count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// (point, replication from 1): run.
    pub runs: BTreeMap<(u32, u32), Run>,
}

impl Data {
    /// Runs of a point in the order of their replications.
    pub fn of(&self, point: u32) -> impl Iterator<Item = (u32, &Run)> {
        self.runs.range((point, 0)..=(point, u32::MAX)).map(|((_, replication), run)| (*replication, run))
    }

    /// Values of a metric at a point, for the replications that have one.
    pub fn values(&self, point: u32, scope: &str, metric: usize) -> Vec<(u32, f64)> {
        let value = |(replication, run): (u32, &Run)| {
            let row = run.rows.iter().find(|row| row.scope == scope)?;
            Some((replication, row.value(metric)?))
        };
        self.of(point).filter_map(value).collect()
    }

    /// Scopes, `overall` first, in the order of the first run that has them.
    pub fn scopes(&self) -> Vec<&str> {
        let mut scopes: Vec<&str> = Vec::new();
        for row in self.runs.values().flat_map(|run| &run.rows) {
            if !scopes.contains(&row.scope.as_str()) {
                scopes.push(&row.scope);
            }
        }
        scopes
    }
}

/// A mean over replications.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Mean {
    /// Mean.
    pub mean: f64,
    /// Half width of the 95 % Student t interval; not a number for fewer than two.
    pub half_width: f64,
    /// Replications.
    pub count: usize,
}

impl Mean {
    /// Of independent values; `None` without any.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let known = || Mean { mean: mean(values), half_width: half_width(values), count: values.len() };
        (!values.is_empty()).then(known)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A run whose every metric has this value.
    pub(crate) fn run(value: f64) -> Run {
        let rows = vec![ScopeRow { scope: OVERALL.into(), values: vec![Some(value); METRICS.len()] }];
        Run { seed: 1, outcome: "0".into(), stopped: false, rows }
    }

    fn rule(half_width: f64, relative: bool) -> Rule {
        let stop = StopRule { metric: "latency_mean_ns".into(), scope: OVERALL.into(), half_width, relative };
        Rule { min: 2, max: 8, stop: Some(stop) }
    }

    /// Intervals of 10, 12 / 10, 12, 11 / ...: 12.7, 2.48, 1.3 and less.
    #[test]
    fn the_smallest_number_counts_however_many_there_are() {
        let runs: Vec<Run> = [10.0, 12.0, 11.0, 11.0, 10.5, 11.5, 11.0, 11.0].map(run).into();
        let all: Vec<&Run> = runs.iter().collect();
        for width in [13.0, 2.5, 1.4, 0.9, 0.01] {
            let full = rule(width, false).settled(&all).unwrap();
            for known in 0..=all.len() {
                match rule(width, false).settled(&all[..known]) {
                    Ok(k) => assert_eq!(k, full),
                    Err(next) => assert!(next > known as u32 && next <= 8 && (known as u32) < full),
                }
            }
        }
        assert_eq!(rule(2.5, false).settled(&all), Ok(3));
        assert_eq!(rule(2.5 / 11.0, true).settled(&all), Ok(3));
        assert_eq!(rule(1e-9, false).settled(&all), Ok(8));
    }

    /// By hand: half widths of two values are t times half of their distance, t = 12.706 2. Points of 10 and
    /// 12, of 10 and 10.1, of 10 and 11, and one that is begun; wanted are 0.7, or 0.066 of the mean, so the
    /// first (12.7, 1.155 of 11) and the third (6.35, 0.605 of 10.5) do not get there, and the second (0.635,
    /// 0.063 of 10.05) does.
    #[test]
    fn points_that_do_not_get_there_are_counted() {
        let mut data = Data::default();
        for (point, values) in [&[10.0, 12.0][..], &[10.0, 10.1], &[10.0, 11.0], &[5.0]].iter().enumerate() {
            for (place, value) in values.iter().enumerate() {
                data.runs.insert((point as u32, place as u32 + 1), run(*value));
            }
        }
        for (wanted, relative, law) in [(0.7, false, 12.706_2), (0.066, true, 12.706_2 / 11.0)] {
            let rule = Rule { max: 2, ..rule(wanted, relative) };
            let missed = rule.missed(&data).expect("two of them");
            assert_eq!((missed.points, missed.worst), (2, 0));
            assert!((missed.half_width - law).abs() < 1e-4, "{missed:?}");
            assert_eq!(Rule { max: 3, ..rule.clone() }.missed(&data), None, "there may be more replications");
            assert_eq!(Rule { stop: None, ..rule }.missed(&data), None);
        }
        assert_eq!(Rule { max: 2, ..rule(20.0, false) }.missed(&data), None);
        // of what a run has no value nobody knows how wide it is
        data.runs.get_mut(&(0, 1)).unwrap().rows[0].values.fill(None);
        let missed = Rule { max: 2, ..rule(0.7, false) }.missed(&data).expect("the third");
        assert_eq!((missed.points, missed.worst), (1, 2));
    }

    #[test]
    fn a_value_that_is_missing_settles_nothing() {
        let mut runs: Vec<Run> = [10.0; 8].map(run).into();
        runs[0].rows[0].values.fill(None);
        let all: Vec<&Run> = runs.iter().collect();
        assert_eq!(rule(1.0, false).settled(&all[..7]), Err(8));
        assert_eq!(rule(1.0, false).settled(&all), Ok(8));
    }

    #[test]
    fn fixed_numbers() {
        let runs: Vec<Run> = [1.0; 3].map(run).into();
        let all: Vec<&Run> = runs.iter().collect();
        let rule = Rule { min: 3, max: 3, stop: None };
        assert_eq!((rule.settled(&all), rule.settled(&all[..1])), (Ok(3), Err(3)));
    }
}
