//! Reading what result folders hold.

use serde_json::Value;
use std::collections::BTreeMap;

/// A CSV file (RFC 4180): its titles, and its lines.
pub(super) struct Csv {
    titles: Vec<String>,
    lines: Vec<Vec<String>>,
    /// Number of the line of the file in which each begins.
    places: Vec<usize>,
}

impl Csv {
    pub fn new(text: &str) -> Self {
        let mut lines = records(text).into_iter();
        let titles = lines.next().map(|(_, titles)| titles).unwrap_or_default();
        let (places, lines) = lines.unzip();
        Self { titles, lines, places }
    }

    pub fn titles(&self) -> &[String] {
        &self.titles
    }

    /// Lines by their titles.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let lines = self.lines.iter().zip(&self.places);
        lines.map(|(line, place)| Row { titles: &self.titles, line, place: *place })
    }

    pub fn cells(&self) -> &[Vec<String>] {
        &self.lines
    }
}

/// A line of a file.
pub(super) struct Row<'a> {
    titles: &'a [String],
    /// Its cells.
    pub line: &'a [String],
    /// Number of the line of the file in which it begins.
    pub place: usize,
}

impl<'a> Row<'a> {
    /// The cell of a title; a title that is not there has empty cells.
    pub fn get(&self, title: &str) -> &'a str {
        let at = self.titles.iter().position(|known| known == title);
        at.and_then(|at| self.line.get(at)).map_or("", String::as_str)
    }
}

fn records(text: &str) -> Vec<(usize, Vec<String>)> {
    let (mut all, mut line, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let (mut place, mut next) = (1, 1);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        next += usize::from(c == '\n');
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => line.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                line.push(std::mem::take(&mut cell));
                all.push((std::mem::replace(&mut place, next), std::mem::take(&mut line)));
            }
            c => cell.push(c),
        }
    }
    all
}

/// A number of a file; not a number where there is none.
pub(super) fn number(text: &str) -> f64 {
    text.parse().unwrap_or(f64::NAN)
}

/// A list in JSON; what is none is empty.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// A text in JSON.
pub(super) fn word<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

/// A number in JSON; not a number where there is none.
pub(super) fn real(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

/// What ports counted, as `links.csv` has it: by variant, then by port.
pub(super) struct Counts(BTreeMap<String, BTreeMap<String, [f64; 3]>>);

impl Counts {
    pub fn new(links: &str) -> Self {
        let mut all: BTreeMap<String, BTreeMap<String, [f64; 3]>> = BTreeMap::new();
        for row in Csv::new(links).rows() {
            let values = ["packet_share", "hol_ps", "staged_ps"].map(|title| number(row.get(title)));
            let variant = all.entry(row.get("variant").to_owned()).or_default();
            variant.insert(row.get("port").to_owned(), values);
        }
        Self(all)
    }

    fn of(&self, variant: &str, port: &str) -> [f64; 3] {
        let counts = self.0.get(variant).and_then(|ports| ports.get(port));
        counts.copied().unwrap_or([f64::NAN; 3])
    }

    /// Share of time in which the transmitter carried packets.
    pub fn carried(&self, variant: &str, port: &str) -> f64 {
        self.of(variant, port)[0]
    }

    /// Packet-picoseconds blocked at the head of a line in its receive buffers, and held by backpressure at
    /// its transmitter.
    pub fn blocked(&self, variant: &str, port: &str) -> f64 {
        let [_, hol, staged] = self.of(variant, port);
        hol + staged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_are_read() {
        let csv = Csv::new("variant,port,x\na,\"b,\"\"c\"\"\n<\",1\n");
        let row = csv.rows().next().unwrap();
        let cells = ["variant", "port", "x", "y"].map(|title| row.get(title));
        assert_eq!(cells, ["a", "b,\"c\"\n<", "1", ""]);
        assert_eq!((csv.cells().len(), row.place), (1, 2));
        let places: Vec<usize> = Csv::new("x\n\"1\n2\"\n3\n").rows().map(|row| row.place).collect();
        assert_eq!(places, [2, 4]);
    }
}
