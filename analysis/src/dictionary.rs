//! What every figure of results is: tables for a page, made of the rows that write the figures.

use crate::flows::{self, PARTS};
use crate::metric::Kind;
use crate::sweep::METRICS;
use crate::{figures, links, ports, series, table};
use models::probe::Cause;

/// A table of the page.
pub struct Table {
    /// By which the page names the place of the table.
    pub name: &'static str,
    /// Its text, in Markdown.
    pub text: String,
}

/// A table with this heading; cells of the first `coded` columns are names of code.
fn table<const N: usize>(
    name: &'static str,
    heading: [&str; N],
    coded: usize,
    rows: impl Iterator<Item = [String; N]>,
) -> Table {
    let line = |cells: &[String; N]| format!("| {} |\n", cells.join(" | "));
    let code = |(column, cell): (usize, String)| match column < coded && !cell.is_empty() {
        true => format!("`{cell}`"),
        false => cell,
    };
    let mut text = line(&heading.map(str::to_owned));
    text += &format!("|{}\n", "---|".repeat(N));
    for row in rows {
        let mut cells = row.into_iter().enumerate().map(code);
        text += &line(&std::array::from_fn(|_| cells.next().expect("a cell for each column")));
    }
    Table { name, text }
}

fn own<const N: usize>(row: [&str; N]) -> [String; N] {
    row.map(str::to_owned)
}

/// Every table, in the order of the page.
pub fn tables() -> Vec<Table> {
    let files = series::notes()
        .into_iter()
        .flat_map(|file| file.columns.into_iter().map(move |[name, about]| own([file.name, name, about])));
    let parts = Cause::ALL.into_iter().zip(PARTS);
    let columns = METRICS.iter().map(|metric| {
        let kind = match metric.kind {
            Kind::Count => "count",
            Kind::Real => "number",
            Kind::Flag => "true or false",
            Kind::Most => "largest",
        };
        own([metric.name, metric.unit, kind, metric.about])
    });
    vec![
        table("terminal", ["column", "what it is"], 0, table::notes().map(own)),
        table("flows", ["key", "unit", "what it is"], 1, flows::notes().map(own)),
        table(
            "causes",
            ["cause", "column of sweeps", "time of a packet"],
            0,
            parts.map(|(cause, [name, _, place])| {
                [cause.name().to_owned(), format!("`part_{name}_ns`"), place.to_owned()]
            }),
        ),
        table("series", ["file", "column", "what it is"], 2, files),
        table("links", ["key", "what it is"], 1, links::notes().map(own)),
        table("fabric", ["key", "what it is"], 1, ports::notes()),
        table("sweeps", ["column", "unit", "kind", "what it is"], 1, columns),
        table(
            "figures",
            ["figure", "what it shows"],
            1,
            figures::list().map(|(name, about)| own([name, about])),
        ),
    ]
}
