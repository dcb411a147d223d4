//! Quantities with units, read exactly: no floating point between the text and the integers.

mod limit;

pub use limit::{Amount, Comparison, Relation};

use std::fmt;

/// A non-negative rational number in lowest terms.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Numerator.
    pub num: u128,
    /// Denominator, never 0.
    pub den: u128,
}

impl Ratio {
    /// `num / den` in lowest terms.
    ///
    /// # Panics
    /// If `den` is 0.
    pub fn new(num: u128, den: u128) -> Self {
        assert!(den > 0, "denominator of a ratio");
        let g = gcd(num, den);
        Self { num: num / g, den: den / g }
    }

    /// A whole number.
    pub fn whole(n: u128) -> Self {
        Self { num: n, den: 1 }
    }

    /// Product, or `None` if it does not fit.
    pub fn times(self, other: Self) -> Option<Self> {
        let (a, b) = (Self::new(self.num, other.den), Self::new(other.num, self.den));
        Some(Self::new(a.num.checked_mul(b.num)?, a.den.checked_mul(b.den)?))
    }

    /// Quotient, or `None` if it does not fit or the divisor is 0.
    pub fn over(self, other: Self) -> Option<Self> {
        if other.num == 0 {
            return None;
        }
        self.times(Self { num: other.den, den: other.num })
    }

    /// Sum, or `None` if it does not fit.
    pub fn plus(self, other: Self) -> Option<Self> {
        let left = self.num.checked_mul(other.den)?;
        let right = other.num.checked_mul(self.den)?;
        Some(Self::new(left.checked_add(right)?, self.den.checked_mul(other.den)?))
    }

    /// Nearest integer, halves up; `None` if it does not fit 64 bits.
    pub fn rounded(self) -> Option<u64> {
        let twice = self.num.checked_mul(2)?.checked_add(self.den)?;
        u64::try_from(twice / self.den.checked_mul(2)?).ok()
    }

    /// The exact integer, if it is one that fits 64 bits.
    pub fn exact(self) -> Option<u64> {
        if self.den == 1 { u64::try_from(self.num).ok() } else { None }
    }

    /// Whether this is more than a whole number.
    pub fn exceeds(self, limit: u64) -> bool {
        self.num / self.den >= u128::from(limit) && self != Ratio::whole(limit.into())
    }

    /// As a pair of 64-bit numbers, if both fit.
    pub fn pair(self) -> Option<(u64, u64)> {
        Some((u64::try_from(self.num).ok()?, u64::try_from(self.den).ok()?))
    }

    /// Whether this is less than another one.
    pub fn is_below(self, other: Self) -> bool {
        let half = |ratio: Self| Self { num: ratio.num >> 1, den: (ratio.den >> 1).max(1) };
        let (mut own, mut other) = (self, other);
        loop {
            if let (Some(left), Some(right)) =
                (own.num.checked_mul(other.den), other.num.checked_mul(own.den))
            {
                return left < right;
            }
            // What does not fit is compared without its last bits.
            (own, other) = (half(own), half(other));
        }
    }

    /// Whether this is more than 1.
    pub fn above_one(self) -> bool {
        self.num > self.den
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 { write!(f, "{}", self.num) } else { write!(f, "{}/{}", self.num, self.den) }
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// Digits that a decimal number may have: enough for every quantity, few enough never to overflow.
const DIGITS_MAX: usize = 30;

/// Reads a plain decimal number such as `6.25`.
pub fn decimal(text: &str) -> Result<Ratio, String> {
    let bad = || format!("\"{text}\" is not a plain decimal number");
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || (text.contains('.') && fraction.is_empty())
    {
        return Err(bad());
    }
    if whole.len() + fraction.len() > DIGITS_MAX {
        return Err(format!("\"{text}\" has more than {DIGITS_MAX} digits"));
    }
    let joined: u128 = format!("{whole}{fraction}").parse().map_err(|_| bad())?;
    Ok(Ratio::new(joined, 10u128.pow(fraction.len() as u32)))
}

/// Says of a text that no number begins that none does, or that it is a negative one.
fn no_number(text: &str) -> String {
    let is_negative =
        text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    format!("\"{text}\" {}", if is_negative { "is negative" } else { "does not start with a number" })
}

/// Splits `6.25 Gbaud` into the number and the unit; the space is optional.
fn quantity(text: &str) -> Result<(Ratio, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return Err(no_number(text));
    }
    Ok((decimal(number)?, unit.trim()))
}

fn scaled(text: &str, units: &[(&str, Ratio)], what: &str) -> Result<Ratio, String> {
    let (number, unit) = quantity(text)?;
    let names: Vec<&str> = units.iter().map(|u| u.0).collect();
    let Some((_, factor)) = units.iter().find(|u| u.0 == unit) else {
        let found = if unit.is_empty() { "has no unit".into() } else { format!("has the unit \"{unit}\"") };
        let guess = names.iter().find(|n| n.eq_ignore_ascii_case(unit));
        let hint = guess.map(|g| format!("; did you mean \"{g}\"?")).unwrap_or_default();
        return Err(format!("\"{text}\" {found}; a {what} ends in one of {}{hint}", names.join(", ")));
    };
    number.times(*factor).ok_or_else(|| format!("\"{text}\" is out of range"))
}

/// Longest time that a scenario may name: 10 000 s, far below the end of the 64-bit picosecond clock.
const PICOSECONDS_MAX: u64 = 10_000_000_000_000_000;

/// Time in picoseconds: `250 ms`, `113.6 ns`.
pub fn time(text: &str) -> Result<u64, String> {
    let w = Ratio::whole;
    let units = [
        ("ps", w(1)),
        ("ns", w(1_000)),
        ("us", w(1_000_000)),
        ("ms", w(1_000_000_000)),
        ("s", w(1_000_000_000_000)),
    ];
    let ps = scaled(text, &units, "time")?;
    if ps.exceeds(PICOSECONDS_MAX) {
        return Err(format!("\"{text}\" is longer than 10000 s"));
    }
    ps.exact().ok_or_else(|| format!("\"{text}\" is not a whole number of picoseconds"))
}

/// Writes picoseconds in the largest unit that shows them exactly.
pub fn time_text(ps: u64) -> String {
    let units =
        [(1_000_000_000_000u64, "s"), (1_000_000_000, "ms"), (1_000_000, "us"), (1_000, "ns"), (1, "ps")];
    for (size, name) in units {
        if ps >= size || size == 1 {
            let (whole, rest) = (ps / size, ps % size);
            if rest == 0 {
                return format!("{whole} {name}");
            }
            let width = size.ilog10() as usize;
            let fraction = format!("{rest:0width$}");
            return format!("{whole}.{} {name}", fraction.trim_end_matches('0'));
        }
    }
    unreachable!("the last unit matches every value")
}

/// About so many octets: what is known no better has no more digits.
pub fn octets_text(octets: u64) -> String {
    let mebi = octets.div_ceil(1 << 20);
    if mebi >= 1 << 10 {
        return format!("{}.{} GiB", mebi >> 10, ((mebi & 1_023) * 10) >> 10);
    }
    let digit = 10u64.pow(mebi.max(1).ilog10());
    format!("{} MiB", (mebi + digit / 2) / digit * digit)
}

/// Lane rate in baud: `6.25 Gbaud`, `3125 Mbaud`.
pub fn rate(text: &str) -> Result<u64, String> {
    let units = [("Gbaud", Ratio::whole(1_000_000_000)), ("Mbaud", Ratio::whole(1_000_000))];
    let baud = scaled(text, &units, "lane rate")?;
    baud.exact().ok_or_else(|| format!("\"{text}\" is not a whole number of baud"))
}

/// Rate of a link of another medium: `1 Gb/s`, `1.0625 Gbaud`.
pub fn data_rate(text: &str) -> Result<u64, String> {
    let units = [
        ("Gb/s", Ratio::whole(1_000_000_000)),
        ("Mb/s", Ratio::whole(1_000_000)),
        ("Gbaud", Ratio::whole(1_000_000_000)),
        ("Mbaud", Ratio::whole(1_000_000)),
    ];
    let rate = scaled(text, &units, "rate")?;
    rate.exact().ok_or_else(|| format!("\"{text}\" is not a whole number of bits in a second"))
}

/// Number of lanes: `4x`.
pub fn width(text: &str) -> Result<u8, String> {
    match text.trim() {
        "1x" => Ok(1),
        "2x" => Ok(2),
        "4x" => Ok(4),
        "8x" => Ok(8),
        "16x" => Ok(16),
        _ => Err(format!("\"{text}\" is not a link width; allowed: 1x, 2x, 4x, 8x, 16x")),
    }
}

/// Signal delay of cable and board: 5 ns for each metre.
const PICOSECONDS_PER_METRE: u128 = 5_000;

/// Propagation in picoseconds of a length: `2 m`, `30 cm`.
pub fn length(text: &str) -> Result<u64, String> {
    let units = [
        ("mm", Ratio::new(1, 1_000)),
        ("cm", Ratio::new(1, 100)),
        ("m", Ratio::whole(1)),
        ("km", Ratio::whole(1_000)),
    ];
    let metres = scaled(text, &units, "length")?;
    let ps = metres.times(Ratio::whole(PICOSECONDS_PER_METRE)).and_then(Ratio::rounded);
    match ps {
        Some(ps) if ps <= 1_000_000_000 => Ok(ps),
        _ => Err(format!("\"{text}\" is longer than 200 km")),
    }
}

/// A share written as a number (`0.3`), a percentage (`"30 %"`) or a fraction (`"1/3"`).
pub fn share(text: &str) -> Result<Ratio, String> {
    let text = text.trim();
    if let Some((num, den)) = text.split_once('/') {
        let (num, den) = (decimal(num.trim())?, decimal(den.trim())?);
        return num.over(den).ok_or_else(|| format!("\"{text}\" divides by zero"));
    }
    if let Some(percent) = text.strip_suffix('%') {
        let value = decimal(percent.trim())?.over(Ratio::whole(100));
        return value.ok_or_else(|| format!("\"{text}\" is out of range"));
    }
    decimal(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_exact() {
        assert_eq!(time("250 ms"), Ok(250_000_000_000));
        assert_eq!(time("113.6ns"), Ok(113_600));
        assert_eq!(rate("6.25 Gbaud"), Ok(6_250_000_000));
        assert_eq!(rate("10.3125 Gbaud"), Ok(10_312_500_000));
        assert_eq!(length("2 m"), Ok(10_000));
        assert_eq!(length("30 cm"), Ok(1_500));
        assert_eq!(width("4x"), Ok(4));
        assert_eq!(share("0.3"), Ok(Ratio { num: 3, den: 10 }));
        assert_eq!(share("30 %"), share("0.3"));
        assert_eq!(share("1/3"), Ok(Ratio { num: 1, den: 3 }));
    }

    #[test]
    fn octets_have_a_digit_or_two() {
        let text = |mebi: u64| octets_text(mebi << 20);
        assert_eq!([0, 1, 14, 15, 960].map(text), ["0 MiB", "1 MiB", "10 MiB", "20 MiB", "1000 MiB"]);
        assert_eq!([1_024, 1_536, 10_300].map(text), ["1.0 GiB", "1.5 GiB", "10.0 GiB"]);
        assert_eq!(octets_text(1), "1 MiB");
    }

    #[test]
    fn bad_quantities_say_what_is_allowed() {
        assert!(time("10").unwrap_err().contains("has no unit"));
        assert!(time("10 NS").unwrap_err().contains("did you mean \"ns\""));
        assert!(time("1.0001 ps").unwrap_err().contains("whole number"));
        assert!(rate("6.25 Gbps").unwrap_err().contains("Gbaud"));
        assert!(time("-1 ns").is_err() && time("").is_err() && time("1. ns").is_err());
        assert!(time("99999999999999999999 s").is_err());
        assert!(width("3x").is_err() && share("1/0").is_err());
    }

    #[test]
    fn times_print_as_they_are_read() {
        for ps in [0, 1, 999, 1_000, 113_600, 1_000_000, 2_500_000_000, 3_000_000_000_001] {
            assert_eq!(time(&time_text(ps)), Ok(ps));
        }
        assert_eq!(time_text(113_600), "113.6 ns");
    }
}
