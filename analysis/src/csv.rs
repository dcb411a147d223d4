//! CSV files from rows: a column is its name, what it means, and how to get a cell.

use crate::num::Num;
use std::fmt::{self, Display, Formatter, Write};

/// A cell.
pub(crate) enum Cell {
    Whole(i128),
    /// Nothing, if it is not a number.
    Real(f64),
    Text(String),
}

impl Display for Cell {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Whole(number) => number.fmt(f),
            Cell::Real(number) => Num(*number).fmt(f),
            Cell::Text(text) => f.write_str(&field(text)),
        }
    }
}

pub(crate) fn whole(number: impl Into<i128>) -> Cell {
    Cell::Whole(number.into())
}

/// A field of a CSV file: quoted iff it must be (RFC 4180).
pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// Gets a cell of a file about `S`, with a line for each `At`.
pub(crate) type Get<S, At> = fn(&S, &At) -> Cell;

/// A column of a file.
pub(crate) struct Column<G> {
    /// Name, with the unit at the end where there is one.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    pub get: G,
}

impl<G: Copy> Column<G> {
    pub const fn new(name: &'static str, about: &'static str, get: G) -> Self {
        Self { name, about, get }
    }
}

/// Names of columns, and what they are.
pub(crate) fn notes<G: Copy>(columns: &[Column<G>]) -> Vec<[&'static str; 2]> {
    columns.iter().map(|column| [column.name, column.about]).collect()
}

/// A file: `variant`, then these columns; of each variant the lines that `lines` names.
pub(crate) fn csv<'a, S: 'a, At, G: Fn(&S, &At) -> Cell>(
    columns: &[Column<G>],
    variants: impl IntoIterator<Item = (&'a str, &'a S)>,
    lines: impl Fn(&'a S) -> Vec<At>,
) -> String {
    let mut out = String::from("variant");
    for column in columns {
        debug_assert!(!column.about.is_empty(), "a column that nobody explains");
        out.push(',');
        out += column.name;
    }
    out.push('\n');
    for (name, subject) in variants {
        let name = field(name);
        for at in lines(subject) {
            out += &name;
            for column in columns {
                write!(out, ",{}", (column.get)(subject, &at)).expect("a string takes any text");
            }
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_if_needed() {
        assert_eq!(field("leaf/03:1"), "leaf/03:1");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
