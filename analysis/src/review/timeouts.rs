//! Timeouts on a time line: who waited for what in vain, when, and what is known of why.

use super::Run;
use super::charts::{self, Strip};
use super::files::{Csv, list, number};
use super::html::Html;
use super::tables::{self, Cell};
use crate::num::{count_text, time_text};
use crate::series::REASONS;
use serde_json::Value;

/// Rows that are drawn; the table below has all.
const ROWS: usize = 24;
/// Parts of the time that a row tells apart.
const PARTS: usize = 130;

/// The timeouts of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    variant: String,
    flow: String,
    layer: String,
    waited_for: String,
    why: String,
    /// Beginnings of time bins, µs, and timeouts in them.
    at: Vec<(f64, u64)>,
}

impl Row {
    fn count(&self) -> u64 {
        self.at.iter().map(|(_, count)| count).sum()
    }

    /// Who waited.
    fn who(&self) -> &str {
        if self.flow.is_empty() { &self.layer } else { &self.flow }
    }
}

/// Rows of the file, in its order.
fn rows(csv: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in Csv::new(csv).rows() {
        let cell = |title| line.get(title).to_owned();
        let row = Row {
            variant: cell("variant"),
            flow: cell("flow"),
            layer: cell("layer"),
            waited_for: cell("waited_for"),
            why: cell("why"),
            at: Vec::new(),
        };
        let point = (number(line.get("time_us")), line.get("timeouts").parse().unwrap_or(0));
        match rows.last_mut().filter(|last| **last == Row { at: last.at.clone(), ..row.clone() }) {
            Some(last) => last.at.push(point),
            None => rows.push(Row { at: vec![point], ..row }),
        }
    }
    rows
}

/// The time line, and a table of what is on it.
pub(super) fn show(html: &mut Html, section: usize, run: &Run) {
    let rows = rows(&run.timeouts);
    if rows.is_empty() {
        html.element("p", &[("class", "soft")], "The folder tells of no timeouts over time.");
        return;
    }
    let variants = list(&run.summary, "variants");
    let length = variants.iter().filter_map(|variant| variant["duration_us"].as_f64()).fold(0.0, f64::max);
    let several = variants.len() > 1;
    let strip = |row: &Row| {
        let mut parts = vec![0; PARTS];
        for (at, count) in &row.at {
            let part = if length > 0.0 { at / length * PARTS as f64 } else { 0.0 };
            parts[(part as usize).min(PARTS - 1)] += count;
        }
        let of = if several { format!("{}, {}", row.who(), row.variant) } else { row.who().to_owned() };
        Strip {
            name: of,
            about: row.waited_for.clone(),
            class: REASONS.iter().position(|why| *why == row.why).unwrap_or(REASONS.len() - 1),
            parts,
        }
    };
    let mut shown: Vec<&Row> = rows.iter().collect();
    shown.truncate(ROWS);
    let strips: Vec<Strip> = shown.into_iter().map(strip).collect();
    let part = time_text(length * 1e6 / PARTS as f64);
    let title = format!("Timeouts over time ({})", tables::stamp(run));
    html.raw("<figure>").element("figcaption", &[], &title);
    let total: u64 = rows.iter().map(Row::count).sum();
    let label = format!(
        "{title}: {} timeouts in {} rows; the table below has their numbers and times",
        count_text(total),
        rows.len()
    );
    html.drawing(&charts::strips(&label, length, &REASONS, &strips));
    let about = format!(
        "A row for each flow, or for links, and what it waited for. A stroke is a part of {part}; the \
         higher, the more timeouts, up to the most in one part of that row, whose number stands at the end."
    );
    html.element("p", &[("class", "soft")], &about);
    if rows.len() > strips.len() {
        let more = rows.len() - strips.len();
        html.element("p", &[("class", "soft")], &format!("{more} more rows are in the table."));
    }
    html.raw("</figure>\n");
    let head = ["variant", "flow", "layer", "waited for", "why", "timeouts", "first", "last"];
    let cells: Vec<Vec<Cell>> = rows
        .iter()
        .map(|row| {
            let ends = [row.at.first(), row.at.last()].map(|at| at.map_or(f64::NAN, |at| at.0));
            let mut cells: Vec<Cell> = [&row.variant, &row.flow, &row.layer, &row.waited_for, &row.why]
                .map(|text| Cell::text(text))
                .into();
            cells.push(Cell::number(&Value::from(row.count()), |n| count_text(n as u64)));
            cells.extend(ends.map(|us| Cell::real(us, |us| time_text(us * 1e6))));
            cells
        })
        .collect();
    tables::table(html, &format!("timeouts{section}"), "Timeouts by what was waited for", &head, &cells);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: lines of one kind are a row, those of another flow or another reason are not.
    #[test]
    fn lines_of_a_kind_are_a_row() {
        let csv = "variant,flow,layer,waited_for,why,time_us,timeouts\n\
                   a,f,LINX,heartbeat,no place,1,2\na,f,LINX,heartbeat,no place,3,4\n\
                   a,f,LINX,heartbeat,lost or damaged,3,1\na,,links,acknowledgement,lost or damaged,0,7\n\
                   b,,links,acknowledgement,lost or damaged,0,7\n";
        let rows = rows(csv);
        let counts: Vec<(&str, &str, u64)> =
            rows.iter().map(|row| (row.variant.as_str(), row.who(), row.count())).collect();
        assert_eq!(counts, [("a", "f", 6), ("a", "f", 1), ("a", "links", 7), ("b", "links", 7)]);
        assert_eq!(rows[0].at, [(1.0, 2), (3.0, 4)]);
    }
}
