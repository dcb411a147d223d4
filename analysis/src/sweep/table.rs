//! Tidy tables: a row for each (point, replication, scope), or for each (point, scope).

use super::metrics::{Kind, METRICS, Metric};
use super::{Data, Frame, Mean};
use crate::num::Num;
use serde::Serialize;

/// What the name of a column ends in that has half the widths of intervals, after that of the mean.
pub(crate) const HALF_WIDTH: &str = "_ci95";

/// The cells of a column; `None` where there is nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Real(Vec<Option<f64>>),
    /// Numbers that somebody chose, with all their digits.
    Given(Vec<Option<f64>>),
    /// Yes or no.
    Flag(Vec<Option<bool>>),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Name, with the unit at the end where there is one.
    pub name: String,
    /// Unit; may be empty.
    pub unit: String,
    /// What it is.
    pub about: String,
    /// Cells.
    pub cells: Cells,
}

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Columns, all of the same length.
    pub columns: Vec<Column>,
    /// Number of rows.
    pub rows: usize,
}

impl Table {
    fn push(&mut self, name: impl Into<String>, unit: &str, about: impl Into<String>, cells: Cells) {
        debug_assert!(self.columns.is_empty() || self.rows == cells.len(), "columns of equal length");
        self.rows = cells.len();
        self.columns.push(Column { name: name.into(), unit: unit.into(), about: about.into(), cells });
    }

    /// The table as CSV (RFC 4180, lines end with a line feed); the same bytes everywhere.
    pub fn to_csv(&self) -> String {
        let mut out = String::new();
        for (index, column) in self.columns.iter().enumerate() {
            out += if index > 0 { "," } else { "" };
            out += &quoted(&column.name);
        }
        out.push('\n');
        for row in 0..self.rows {
            for (index, column) in self.columns.iter().enumerate() {
                out += if index > 0 { "," } else { "" };
                match &column.cells {
                    Cells::Text(cells) => out += &cells[row].as_deref().map(quoted).unwrap_or_default(),
                    Cells::Whole(cells) => out += &cells[row].map(|n| n.to_string()).unwrap_or_default(),
                    Cells::Real(cells) => out += &cells[row].map(|n| Num(n).to_string()).unwrap_or_default(),
                    Cells::Given(cells) => out += &cells[row].map(|n| n.to_string()).unwrap_or_default(),
                    Cells::Flag(cells) => out += &cells[row].map(|n| n.to_string()).unwrap_or_default(),
                }
            }
            out.push('\n');
        }
        out
    }

    /// What every column is, as JSON: the dictionary beside the tables.
    pub fn dictionary(&self) -> Vec<ColumnNote<'_>> {
        self.columns.iter().map(ColumnNote::new).collect()
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Text(cells) => cells.len(),
            Cells::Whole(cells) => cells.len(),
            Cells::Real(cells) | Cells::Given(cells) => cells.len(),
            Cells::Flag(cells) => cells.len(),
        }
    }
}

/// What a column is.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnNote<'a> {
    /// Name.
    name: &'a str,
    /// Kind of its cells.
    kind: &'a str,
    /// Unit.
    unit: &'a str,
    /// What it is.
    about: &'a str,
}

impl<'a> ColumnNote<'a> {
    fn new(column: &'a Column) -> Self {
        let kind = match column.cells {
            Cells::Text(_) => "text",
            Cells::Whole(_) => "integer",
            Cells::Real(_) | Cells::Given(_) => "number",
            Cells::Flag(_) => "boolean",
        };
        Self { name: &column.name, kind, unit: &column.unit, about: &column.about }
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// Columns of the axes, for rows at these points.
fn axes(table: &mut Table, frame: &Frame, points: &[u32]) {
    for (index, axis) in frame.axes.iter().enumerate() {
        let level = |point: &u32| frame.points[*point as usize].levels[index] as usize;
        let about = format!("axis {}", axis.name);
        let cells = match &axis.numbers {
            Some(numbers) if numbers.iter().all(|n| libm::trunc(*n) == *n && libm::fabs(*n) < 9e15) => {
                Cells::Whole(points.iter().map(|point| Some(numbers[level(point)] as i64)).collect())
            }
            Some(numbers) => Cells::Given(points.iter().map(|point| Some(numbers[level(point)])).collect()),
            None => Cells::Text(points.iter().map(|point| Some(axis.labels[level(point)].clone())).collect()),
        };
        table.push(axis.column.as_str(), &axis.unit, about, cells);
    }
}

fn whole(values: impl Iterator<Item = i64>) -> Cells {
    Cells::Whole(values.map(Some).collect())
}

/// Metrics with a column: those of all sweeps, and others if any run has one.
fn shown(data: &Data) -> impl Iterator<Item = (usize, &'static Metric)> {
    let told = |index: usize| {
        let mut rows = data.runs.values().flat_map(|run| &run.rows);
        rows.any(|row| row.value(index).is_some())
    };
    METRICS.iter().enumerate().filter(move |(index, metric)| !metric.quiet || told(*index))
}

/// `results`: a row for each (point, replication, scope), sorted by point, replication, and scope as the
/// scenario lists them.
pub fn results(frame: &Frame, data: &Data) -> Table {
    let rows =
        || data.runs.iter().flat_map(|(at, run)| run.rows.iter().enumerate().map(move |row| (*at, run, row)));
    let points: Vec<u32> = rows().map(|row| row.0.0).collect();
    let mut table = Table::default();
    table.push("point", "", "number of the point", whole(points.iter().map(|p| i64::from(*p))));
    let replications = rows().map(|row| i64::from(row.0.1));
    table.push("replication", "", "number of the replication, from 1", whole(replications));
    let seeds = rows().map(|row| row.1.seed as i64);
    table.push("seed", "", "seed of the run, the same at every point", whole(seeds));
    axes(&mut table, frame, &points);
    let scopes = rows().map(|row| Some(row.2.1.scope.clone())).collect();
    table.push("scope", "", "overall (all flows together), or a flow", Cells::Text(scopes));
    for (index, metric) in shown(data) {
        let values = rows().map(|row| row.2.1.value(index));
        let cells = match metric.kind {
            Kind::Real | Kind::Most => Cells::Real(values.collect()),
            Kind::Count => Cells::Whole(values.map(|value| value.map(|n| n as i64)).collect()),
            Kind::Flag => Cells::Flag(values.map(|value| value.map(|n| n != 0.0)).collect()),
        };
        table.push(metric.name, metric.unit, metric.about, cells);
    }
    let first = |row: &(usize, _)| row.0 == 0;
    let stopped = rows().map(|row| first(&row.2).then_some(row.1.stopped)).collect();
    table.push("stopped", "", "the watchdog ended the run at a stall", Cells::Flag(stopped));
    let outcome = rows().map(|row| first(&row.2).then(|| row.1.outcome.clone())).collect();
    table.push("outcome", "", "fingerprint of deliveries, drops and staging edges", Cells::Text(outcome));
    table
}

/// `estimates`: a row for each (point, scope): means over replications with half widths of 95 % intervals.
pub fn estimates(frame: &Frame, data: &Data) -> Table {
    let mut keys: Vec<(u32, &str)> = Vec::new();
    for ((point, _), run) in &data.runs {
        for row in &run.rows {
            let start = keys.partition_point(|key| key.0 < *point);
            if !keys[start..].contains(&(*point, row.scope.as_str())) {
                keys.push((*point, &row.scope));
            }
        }
    }
    let points: Vec<u32> = keys.iter().map(|key| key.0).collect();
    let mut table = Table::default();
    table.push("point", "", "number of the point", whole(points.iter().map(|p| i64::from(*p))));
    axes(&mut table, frame, &points);
    let scopes = keys.iter().map(|key| Some(key.1.to_owned())).collect();
    table.push("scope", "", "overall (all flows together), or a flow", Cells::Text(scopes));
    let runs: Vec<i64> = keys.iter().map(|key| data.of(key.0).count() as i64).collect();
    table.push("runs", "", "replications that count", whole(runs.iter().copied()));
    for (index, metric) in shown(data) {
        let values = |(point, scope): &(u32, &str)| -> Vec<f64> {
            data.values(*point, scope, index).into_iter().map(|value| value.1).collect()
        };
        let values: Vec<Vec<f64>> = keys.iter().map(values).collect();
        let means: Vec<Option<Mean>> = values.iter().map(|values| metric.together(values)).collect();
        let value = |of: fn(&Mean) -> f64| {
            Cells::Real(means.iter().map(|mean| mean.as_ref().map(of).filter(|n| n.is_finite())).collect())
        };
        let about = match metric.kind {
            Kind::Flag => format!("share of replications: {}", metric.about),
            Kind::Most => format!("largest of the replications: {}", metric.about),
            _ => format!("mean over replications: {}", metric.about),
        };
        table.push(metric.name, metric.unit, about, value(|mean| mean.mean));
        let about = "half width of the 95 % interval of that mean (Student t over replications)";
        table.push(format!("{}{HALF_WIDTH}", metric.name), metric.unit, about, value(|mean| mean.half_width));
        // A run with too few packets has no percentile: the mean is that of the others, which had more.
        let have = || values.iter().map(|values| values.len() as i64);
        if have().zip(&runs).any(|(have, runs)| (1..*runs).contains(&have)) {
            let about = "replications that have one; the mean is theirs alone";
            table.push(format!("{}_runs", metric.name), "", about, whole(have()));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::run;
    use crate::sweep::{FrameAxis, FramePoint};

    fn example() -> (Frame, Data) {
        let axis = |name: &str, unit: &str, labels: [&str; 2], numbers| FrameAxis {
            name: name.into(),
            column: if unit.is_empty() { name.into() } else { [name, unit].join("_") },
            unit: unit.into(),
            sampled: false,
            labels: labels.map(String::from).into(),
            numbers,
        };
        let point = |a, b| FramePoint { key: format!("{a}{b}"), levels: vec![a, b] };
        let frame = Frame {
            name: "x".into(),
            title: "x".into(),
            axes: vec![
                axis("pipeline", "ns", ["0.5 ns", "1 ns"], Some(vec![0.5, 1.0])),
                axis("kind", "", ["a,b", "c"], None),
            ],
            points: vec![point(0, 0), point(0, 1), point(1, 0), point(1, 1)],
        };
        let mut data = Data::default();
        for (point, replication, value) in [(0, 1, 1.0), (0, 2, 3.0), (3, 1, 1.0 / 3.0)] {
            data.runs.insert((point, replication), run(value));
        }
        (frame, data)
    }

    #[test]
    fn csv_is_tidy() {
        let (frame, data) = example();
        let csv = results(&frame, &data).to_csv();
        let lines: Vec<&str> = csv.lines().collect();
        assert!(lines[0].starts_with("point,replication,seed,pipeline_ns,kind,scope,offered_load,"));
        assert!(lines[1].starts_with("0,1,1,0.5,\"a,b\",overall,1,1,"), "{}", lines[1]);
        assert!(lines[3].starts_with("3,1,1,1,c,overall,0.333333333,"), "{}", lines[3]);
        assert!(lines[1].ends_with(",false,0") && lines.len() == 4);
        let width = lines[0].split(',').count();
        assert!(lines[2..].iter().all(|line| line.replace("\"a,b\"", "a").split(',').count() == width));
    }

    /// What differs in the eleventh digit is told apart: every value of an axis has all its digits.
    #[test]
    fn axes_have_all_their_digits() {
        let (mut frame, data) = example();
        frame.axes[0].numbers = Some(vec![10_000_000.04, 10_000_000.08]);
        let csv = results(&frame, &data).to_csv();
        let starts: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
        assert_eq!(starts, ["10000000.04", "10000000.04", "10000000.08"]);
    }

    /// Two runs of which one has no latency: its mean is that of one, and a column says so. All have the
    /// load.
    #[test]
    fn a_mean_of_fewer_runs_says_of_how_many() {
        let (frame, mut data) = example();
        let names = |data: &Data| -> Vec<String> {
            estimates(&frame, data).columns.into_iter().map(|column| column.name).collect()
        };
        assert!(!names(&data).iter().any(|name| name.ends_with("_runs")));
        let index = METRICS.iter().position(|metric| metric.name == "latency_mean_ns").expect("a metric");
        data.runs.get_mut(&(0, 2)).expect("a run").rows[0].values[index] = None;
        let marked: Vec<String> = names(&data).into_iter().filter(|name| name.ends_with("_runs")).collect();
        assert_eq!(marked, ["latency_mean_ns_runs"]);
        let table = estimates(&frame, &data);
        let column = table.columns.iter().find(|column| column.name == marked[0]).expect("a column");
        assert!(matches!(&column.cells, Cells::Whole(cells) if cells[..] == [Some(1), Some(1)]));
    }

    #[test]
    fn estimates_are_means_with_intervals() {
        let (frame, data) = example();
        let table = estimates(&frame, &data);
        let cell = |name: &str, row: usize| {
            let column = table.columns.iter().find(|column| column.name == name).expect("a column");
            match &column.cells {
                Cells::Real(cells) => cells[row],
                Cells::Whole(cells) => cells[row].map(|n| n as f64),
                _ => None,
            }
        };
        assert_eq!((table.rows, cell("runs", 0), cell("runs", 1)), (2, Some(2.0), Some(1.0)));
        assert_eq!(cell("latency_mean_ns", 0), Some(2.0));
        // t(1) = 12.706, s = sqrt 2, n = 2
        assert!((cell("latency_mean_ns_ci95", 0).unwrap() - 12.706_204_7).abs() < 1e-6);
        assert_eq!(cell("latency_mean_ns_ci95", 1), None);
        assert!(table.dictionary().iter().all(|note| !note.about.is_empty()));
    }
}
