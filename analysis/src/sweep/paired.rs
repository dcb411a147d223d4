//! What variants change, point by point: paired differences to the first one.
//!
//! A replication has the same random numbers in all variants, so its difference varies far less than either
//! value; the band of a difference is that of the pairs.

use super::compare::{Comparison, Side, compare_one, pairs};
use super::{Data, Frame, METRICS, Mean};

/// The axis that the variants of a scenario become.
const VARIANT: &str = "variant";

/// A variant beside the first one.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The variant, and the values of the axes that are not drawn along and do not move with the one that is.
    pub name: String,
    /// Value of the axis along which it is drawn, and the difference there: variant less the first one.
    pub points: Vec<(f64, Mean)>,
}

/// Differences of one metric in one scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// The variant that the others are compared with.
    pub first: String,
    /// Column of the axis along which lines are drawn: the one that was asked for, or that with the most
    /// numbers. Without one there are no lines.
    pub axis: Option<String>,
    /// Unit of the differences; empty if they have none.
    pub unit: &'static str,
    /// Lines.
    pub lines: Vec<Line>,
    /// Each other variant with its difference over all points.
    pub whole: Vec<(String, Comparison)>,
}

/// Differences between the variants of a sweep, along the axis `x` if it has numbers; `None` if it has no two
/// variants with values.
pub fn paired(frame: &Frame, data: &Data, scope: &str, metric: usize, x: Option<&str>) -> Option<Paired> {
    let variant = frame.axes.iter().position(|axis| axis.name == VARIANT)?;
    let labels = &frame.axes[variant].labels;
    let numbers = |index: &usize| frame.axes[*index].numbers.as_ref().map_or(0, Vec::len);
    let along = || (0..frame.axes.len()).filter(|index| *index != variant && numbers(index) > 0);
    let asked = x.and_then(|x| along().find(|index| frame.axes[*index].name == x));
    let axis = asked.or_else(|| along().rev().max_by_key(numbers));
    let mut found = Paired {
        first: labels[0].clone(),
        axis: axis.map(|index| frame.axes[index].column.clone()),
        unit: METRICS[metric].unit,
        lines: Vec::new(),
        whole: Vec::new(),
    };
    let moves_along = |index: &usize| axis.is_some_and(|axis| frame.together(axis, *index));
    let rest: Vec<usize> =
        (0..frame.axes.len()).filter(|index| *index != variant && !moves_along(index)).collect();
    // Where a line stands among the others: its variant, and its levels of what is not drawn along.
    let mut places: Vec<Vec<u32>> = Vec::new();
    for (level, label) in labels.iter().enumerate().skip(1) {
        let (a, b) = ([(variant, 0)], [(variant, level as u32)]);
        let side = |fixed| Side { frame, data, fixed };
        let Ok(points) = pairs(side(&a), side(&b)) else { continue };
        let whole = compare_one(side(&a), side(&b), &points, scope, metric);
        found.whole.extend(whole.map(|whole| (label.clone(), whole)));
        for (first, other) in points {
            let Some(axis) = axis else { continue };
            let one = compare_one(side(&a), side(&b), &[(first, other)], scope, metric);
            let Some(one) = one else { continue };
            let levels = &frame.points[first as usize].levels;
            let name = rest.iter().fold(label.clone(), |name, index| {
                let other = &frame.axes[*index];
                format!("{name}, {} {}", other.name, other.labels[levels[*index] as usize])
            });
            let at = frame.axes[axis].numbers.as_ref().map_or(f64::NAN, |all| all[levels[axis] as usize]);
            match found.lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push((at, one.difference)),
                None => {
                    let others = rest.iter().map(|index| levels[*index]);
                    let own: Vec<u32> = [level as u32].into_iter().chain(others).collect();
                    let place = places.partition_point(|other| *other < own);
                    places.insert(place, own);
                    found.lines.insert(place, Line { name, points: vec![(at, one.difference)] });
                }
            }
        }
    }
    found.lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.0.total_cmp(&b.0)));
    (!found.whole.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::run;
    use crate::sweep::{FrameAxis, FramePoint, OVERALL};

    fn axis(name: &str, labels: &[&str], numbers: Option<Vec<f64>>) -> FrameAxis {
        FrameAxis {
            name: name.into(),
            column: name.into(),
            unit: String::new(),
            sampled: false,
            labels: labels.iter().map(ToString::to_string).collect(),
            numbers,
        }
    }

    /// By hand: the noise of a replication is the same in both variants, so the difference is 1 at load 0.1
    /// and 2 at 0.2, with no width at all, where either value has one of more than 100. Noise of its own in
    /// one variant, which another seed would be, has a wide band.
    #[test]
    fn the_band_is_that_of_the_pairs() {
        let loads = axis("load", &["0.1", "0.2"], Some(vec![0.1, 0.2]));
        let frame = Frame {
            name: "x".into(),
            title: "x".into(),
            axes: vec![loads, axis("variant", &["before", "same", "other"], None)],
            points: (0..6).map(|n| FramePoint { key: n.to_string(), levels: vec![n / 3, n % 3] }).collect(),
        };
        let mut data = Data::default();
        for (replication, noise) in [0.0, 170.0, -150.0, 30.0].into_iter().enumerate() {
            for load in 0..2 {
                let more = f64::from(load + 1);
                let values = [500.0 + noise, 500.0 + noise + more, 500.0 - noise + more];
                for (variant, value) in values.into_iter().enumerate() {
                    data.runs.insert((3 * load + variant as u32, replication as u32 + 1), run(value));
                }
            }
        }
        let found = paired(&frame, &data, OVERALL, 0, None).unwrap();
        assert_eq!((found.first.as_str(), found.axis.as_deref()), ("before", Some("load")));
        let names: Vec<&str> = found.lines.iter().map(|line| line.name.as_str()).collect();
        assert_eq!(names, ["same", "other"]);
        for (at, wanted) in [(0, 1.0), (1, 2.0)] {
            let (x, same) = found.lines[0].points[at];
            assert_eq!((x, same.mean, same.half_width), (0.1 * wanted, wanted, 0.0));
            let other = found.lines[1].points[at].1;
            assert!(other.half_width > 200.0, "{other:?}");
        }
        let whole: Vec<(&str, &str, f64)> = found
            .whole
            .iter()
            .map(|(name, one)| (name.as_str(), one.verdict.text(), one.difference.mean))
            .collect();
        assert_eq!(whole[0], ("same", "B is higher", 1.5));
        assert_eq!(whole[1].1, "no difference shown");
        let alone = Frame { axes: frame.axes[..1].to_vec(), ..frame };
        assert_eq!(paired(&alone, &data, OVERALL, 0, None), None);
    }

    /// A zip of load and size: a line has a point at each load, and is not called by the size that goes
    /// along.
    #[test]
    fn a_line_goes_along_a_zip() {
        let load = axis("load", &["0.1", "0.2"], Some(vec![0.1, 0.2]));
        let size = axis("size", &["64", "256"], Some(vec![64.0, 256.0]));
        let point = |n: u32| FramePoint { key: n.to_string(), levels: vec![n / 2, n / 2, n % 2] };
        let axes = vec![load, size, axis("variant", &["before", "after"], None)];
        let points = (0..4).map(point).collect();
        let frame = Frame { name: "x".into(), title: "x".into(), axes, points };
        let mut data = Data::default();
        for (point, replication) in [(0, 1), (1, 1), (2, 1), (3, 1)] {
            data.runs.insert((point, replication), run(f64::from(point)));
        }
        let found = paired(&frame, &data, OVERALL, 0, None).unwrap();
        let lines = found.lines.iter().map(|line| (line.name.as_str(), line.points.len()));
        assert_eq!(lines.collect::<Vec<_>>(), [("after", 2)]);
    }

    /// Lines go along the axis that is asked for, in the order of their values and not of their letters.
    #[test]
    fn lines_go_along_what_is_asked_for() {
        let load = axis("load", &["0.1", "0.2"], Some(vec![0.1, 0.2]));
        let length = axis("length", &["1 m", "5 m", "10 m"], Some(vec![1.0, 5.0, 10.0]));
        let point = |n: u32| FramePoint { key: n.to_string(), levels: vec![n / 6, n / 2 % 3, n % 2] };
        let axes = vec![load, length, axis("variant", &["before", "after"], None)];
        let points = (0..12).map(point).collect();
        let frame = Frame { name: "x".into(), title: "x".into(), axes, points };
        let mut data = Data::default();
        for point in 0..12 {
            data.runs.insert((point, 1), run(f64::from(point)));
        }
        let along = |x: Option<&str>| {
            let found = paired(&frame, &data, OVERALL, 0, x).unwrap();
            let names: Vec<String> = found.lines.into_iter().map(|line| line.name).collect();
            (found.axis.unwrap(), names.join("; "))
        };
        let by_length = "after, length 1 m; after, length 5 m; after, length 10 m";
        assert_eq!(along(Some("load")), ("load".into(), by_length.into()));
        let by_load = ("length".to_owned(), "after, load 0.1; after, load 0.2".to_owned());
        assert_eq!(along(Some("length")), by_load);
        // The most numbers, as in figures.
        assert_eq!(along(None), by_load);
    }
}
