//! What a metric has to be, as a requirement writes it: a comparison and a quantity.

use super::{Ratio, data_rate, decimal, share, time};

/// What a metric has to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// As the file writes it.
    pub text: String,
    /// How the two compare.
    pub relation: Relation,
    /// With what.
    pub amount: Amount,
}

impl Comparison {
    /// Reads `< 2 us`.
    ///
    /// # Errors
    /// What is wrong with the text, and what is allowed.
    pub fn read(text: &str) -> Result<Self, String> {
        let text = text.trim();
        // the longer signs first
        let signs = [
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Below),
            (">", Relation::Above),
            ("=", Relation::Equal),
        ];
        let hit = signs.into_iter().find_map(|(sign, relation)| Some((text.strip_prefix(sign)?, relation)));
        let (rest, relation) = hit.unwrap_or((text, Relation::Equal));
        let amount = Amount::read(rest.trim()).map_err(|why| {
            format!("{why}; a requirement is <, <=, =, >= or > and a quantity, for example \"< 2 us\"")
        })?;
        Ok(Self { text: text.to_owned(), relation, amount })
    }
}

/// How what was measured compares with a limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `=`, or no sign
    Equal,
    /// `>=`
    AtLeast,
    /// `>`
    Above,
}

/// A quantity by its unit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Picoseconds.
    Time(u64),
    /// Bits in a second.
    Rate(u64),
    /// A percentage or a fraction, as a part of one.
    Share(Ratio),
    /// Without a unit: a count, or a part of one.
    Number(Ratio),
}

impl Amount {
    fn read(text: &str) -> Result<Self, String> {
        let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
        match text[end..].trim() {
            "" => decimal(text).map(Self::Number),
            "%" => share(text).map(Self::Share),
            "ps" | "ns" | "us" | "ms" | "s" => time(text).map(Self::Time),
            "Gb/s" | "Mb/s" => data_rate(text).map(Self::Rate),
            rest if end != 0 && rest.starts_with('/') => match share(text) {
                Ok(share) => Ok(Self::Share(share)),
                Err(_) => Err(format!("\"{text}\" is no fraction of two numbers, as shares alone may be")),
            },
            _ if end == 0 => Err(super::no_number(text)),
            unit => Err(format!(
                "\"{text}\" has the unit \"{unit}\"; allowed: ps, ns, us, ms, s, Gb/s, Mb/s, %, none"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_read_exactly() {
        let read = |text: &str| Comparison::read(text).map(|found| (found.relation, found.amount));
        let ratio = |num, den| Ratio { num, den };
        assert_eq!(read("< 2 us"), Ok((Relation::Below, Amount::Time(2_000_000))));
        assert_eq!(read(" <=1.5ns "), Ok((Relation::AtMost, Amount::Time(1_500))));
        assert_eq!(read("100 %"), Ok((Relation::Equal, Amount::Share(ratio(1, 1)))));
        assert_eq!(read(">= 99.9 %"), Ok((Relation::AtLeast, Amount::Share(ratio(999, 1_000)))));
        assert_eq!(read(">= 999/1000"), read(">= 99.9 %"));
        assert_eq!(read("< 2 / 3"), Ok((Relation::Below, Amount::Share(ratio(2, 3)))));
        assert_eq!(read("> 1.5 Gb/s"), Ok((Relation::Above, Amount::Rate(1_500_000_000))));
        assert_eq!(read("= 0"), Ok((Relation::Equal, Amount::Number(ratio(0, 1)))));
        for bad in
            ["", "<", "fast", "< -1 us", "< 1 parsec", "!= 3", "== 3", "< 0.1 ps", "> 1 2", "< 1/3 us", "1/0"]
        {
            assert!(read(bad).unwrap_err().contains("a requirement is <"), "{bad}");
        }
    }
}
