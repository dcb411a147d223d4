//! Numbers in reports: nine significant digits, the same text on every machine.

use serde::{Serialize, Serializer};

/// A floating-point number of a report. Serialised with nine significant digits, `null` if it is not finite.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Num(pub f64);

impl Num {
    /// The value rounded to nine significant digits (correctly rounded through decimal text).
    pub fn rounded(self) -> f64 {
        if self.0 == 0.0 || !self.0.is_finite() {
            return if self.0 == 0.0 { 0.0 } else { self.0 };
        }
        format!("{:.8e}", self.0).parse().expect("a formatted float parses")
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f64(self.rounded())
        } else {
            serializer.serialize_none()
        }
    }
}

impl std::fmt::Display for Num {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_finite() { write!(f, "{}", self.rounded()) } else { Ok(()) }
    }
}

/// `numerator / denominator`, or zero where nothing was counted.
pub(crate) fn ratio(numerator: u128, denominator: u128) -> f64 {
    if denominator == 0 { 0.0 } else { numerator as f64 / denominator as f64 }
}

/// A share of all, in percent: never 100 where it is less, nor 0 where it is more.
pub fn share_text(share: f64) -> String {
    let decimals = (1..9).find(|decimals| {
        let text = format!("{:.*}", *decimals, 100.0 * share);
        let shown: f64 = text.parse().unwrap_or(share);
        (shown < 100.0 || share >= 1.0) && (shown > 0.0 || share <= 0.0)
    });
    format!("{:.*} %", decimals.unwrap_or(9), 100.0 * share)
}

/// A share of all, in percent, with as many digits as [`digits_beside`] has; like [`share_text`] never 100
/// where it is less, nor 0 where it is more.
pub(crate) fn share_beside(share: f64, bound: f64) -> String {
    let is_true = |shown: f64| {
        (shown / 100.0).partial_cmp(&bound) == share.partial_cmp(&bound)
            && (shown < 100.0 || share >= 1.0)
            && (shown > 0.0 || share <= 0.0)
    };
    format!("{} %", digits_that(100.0 * share, is_true))
}

/// Gigabits per second of `octets` in `ps` picoseconds.
pub(crate) fn gbps(octets: u64, ps: u64) -> f64 {
    // bits per picosecond are terabits per second
    ratio(u128::from(octets) * 8_000, u128::from(ps))
}

/// A unit in which times of about the given size read well.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TimeUnit {
    /// Symbol, for example `µs`.
    pub symbol: &'static str,
    /// Picoseconds of one unit.
    pub ps: u64,
}

impl TimeUnit {
    /// Unit for values up to `ps` picoseconds.
    pub fn for_max(ps: f64) -> TimeUnit {
        const UNITS: [TimeUnit; 5] = [
            TimeUnit { symbol: "s", ps: 1_000_000_000_000 },
            TimeUnit { symbol: "ms", ps: 1_000_000_000 },
            TimeUnit { symbol: "µs", ps: 1_000_000 },
            TimeUnit { symbol: "ns", ps: 1_000 },
            TimeUnit { symbol: "ps", ps: 1 },
        ];
        // Two of a unit are enough to use it: 1 500 ns reads better than 1.5 µs on an axis.
        *UNITS.iter().find(|unit| ps >= 2.0 * unit.ps as f64).unwrap_or(&UNITS[4])
    }

    /// `ps` in this unit.
    pub fn scale(self, ps: f64) -> f64 {
        ps / self.ps as f64
    }
}

/// Three significant digits without an exponent: `0`, `0.0123`, `5.32`, `10.7`; from a thousand on all digits
/// before the point: `1 234`.
pub fn three_digits(value: f64) -> String {
    digits(value, 3)
}

/// As many significant digits.
fn digits(value: f64, count: usize) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    // the exponent after rounding: 0.9996 has the one of 1.00
    let scientific = format!("{value:.*e}", count - 1);
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    let decimals = (count as i32 - 1 - exponent.unwrap_or(0)).clamp(0, count as i32 + 3) as usize;
    let size = libm::fabs(value);
    if (999.5..1e15).contains(&size) {
        let sign = if value < 0.0 { "-" } else { "" };
        let text = format!("{size:.decimals$}");
        let (whole, part) = text.split_at(text.find('.').unwrap_or(text.len()));
        return format!("{sign}{}{part}", count_text(whole.parse().expect("digits only")));
    }
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".into() } else { text }
}

/// Three significant digits, and as many more as it takes that `is_true` is so of the number that is read.
pub(crate) fn digits_that(value: f64, is_true: impl Fn(f64) -> bool) -> String {
    /// As many tell every number from all others.
    const ALL: usize = 17;
    let read = |text: &str| text.replace(' ', "").parse().is_ok_and(&is_true);
    let mut texts = (3..ALL).map(|count| digits(value, count));
    texts.find(|text| read(text)).unwrap_or_else(|| digits(value, ALL))
}

/// Three significant digits, and as many more as it takes to be on that side of `bound` on which the value
/// is.
pub(crate) fn digits_beside(value: f64, bound: f64) -> String {
    digits_that(value, |shown| shown.partial_cmp(&bound) == value.partial_cmp(&bound))
}

/// A time with its unit: `312 ns`, `5.41 µs`.
pub fn time_text(ps: f64) -> String {
    time_with(ps, |value, _| three_digits(value))
}

/// A time with its unit, and with as many digits as [`digits_beside`] has.
pub(crate) fn time_beside(ps: f64, bound: f64) -> String {
    time_with(ps, |value, scale| digits_beside(value, bound / scale))
}

fn time_with(ps: f64, text: impl Fn(f64, f64) -> String) -> String {
    if !ps.is_finite() {
        return "-".into();
    }
    if ps < 1.0 {
        return "0".into();
    }
    let unit = [("s", 1e12), ("ms", 1e9), ("µs", 1e6), ("ns", 1e3), ("ps", 1.0)];
    // 999.6 ns must become 1.00 µs, not 1000 ns
    let (symbol, scale) = unit.into_iter().find(|(_, scale)| ps >= 0.9995 * scale).unwrap_or(("ps", 1.0));
    format!("{} {symbol}", text(ps / scale, scale))
}

/// A relative change: `+98 %`, `±0 %`, from ten times on `×12.5`; as many digits as it takes not to read
/// `−100 %` where something is left; `None` from or to nothing known.
pub fn change_text(before: f64, after: f64) -> Option<String> {
    let change = (after - before) / before;
    if !change.is_finite() {
        return None;
    }
    Some(match 100.0 * change {
        percent if libm::fabs(percent) < 0.5 => "±0 %".into(),
        percent if percent >= 899.5 => {
            // three digits of a ratio, also of a large one
            let ratio: f64 = format!("{:.2e}", after / before).parse().expect("a formatted float parses");
            format!("×{}", three_digits(ratio))
        }
        percent => {
            let text = |digits: usize| format!("{percent:+.digits$}");
            let is_all = |digits: &usize| text(*digits).parse() == Ok(-100.0);
            let digits = (0..12).find(|digits| after == 0.0 || !is_all(digits));
            format!("{} %", text(digits.unwrap_or(12))).replace('-', "\u{2212}")
        }
    })
}

/// Likewise, but what is less than half a percent is told, with its sign: `+0.333 %`.
pub fn small_change_text(before: f64, after: f64) -> Option<String> {
    let percent = 100.0 * (after - before) / before;
    if percent == 0.0 || libm::fabs(percent) >= 0.5 {
        return change_text(before, after);
    }
    let sign = if percent < 0.0 { '\u{2212}' } else { '+' };
    percent.is_finite().then(|| format!("{sign}{} %", three_digits(libm::fabs(percent))))
}

/// A change of what is a percentage already, in percentage points: `+3.20 points`, as fine as the larger of
/// the values of [`three_digits`] that it stands beside; `±0 points` where these do not show it. `None` from
/// or to nothing known.
pub(crate) fn points_text(before: f64, after: f64) -> Option<String> {
    let change = after - before;
    if !change.is_finite() {
        return None;
    }
    let decimals = |value: f64| three_digits(value).split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let decimals = decimals(before).max(decimals(after)).min(decimals(change));
    let size = format!("{:.decimals$}", libm::fabs(change));
    let is_nothing = size.bytes().all(|digit| matches!(digit, b'0' | b'.'));
    Some(match change {
        _ if is_nothing || three_digits(before) == three_digits(after) => "±0 points".into(),
        change if change < 0.0 => format!("\u{2212}{size} points"),
        _ => format!("+{size} points"),
    })
}

/// A count with thin groups of three digits: `1 234 567`.
pub fn count_text(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Times added up, picoseconds.
pub(crate) fn sum_ps(times: &[u64]) -> u128 {
    times.iter().map(|&time| u128::from(time)).sum()
}

/// A count with what is counted, which is given in the plural: `1 Transfer`, `2 Transfers`, `1 frame of
/// LINX`.
pub fn counted_text(count: u64, unit: &str) -> String {
    if count != 1 {
        return format!("{} {unit}", count_text(count));
    }
    let at = [" of ", " for "].iter().filter_map(|of| unit.find(of)).min();
    let (many, of) = unit.split_at(at.unwrap_or(unit.len()));
    let one = match many {
        "echoes" => "echo",
        _ => many.strip_suffix('s').unwrap_or(many),
    };
    format!("1 {one}{of}")
}

/// A protocol clock as text.
pub(crate) fn clock_text((num, den): (u64, u64)) -> String {
    if den == 1 { num.to_string() } else { format!("{num}/{den}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_is_one() {
        assert_eq!(counted_text(1, "Transfers"), "1 Transfer");
        assert_eq!(counted_text(1, "echoes"), "1 echo");
        assert_eq!(counted_text(1, "messages of sessions"), "1 message of sessions");
        assert_eq!(counted_text(1, "waits for Blocks"), "1 wait for Blocks");
        assert_eq!(counted_text(1, "other errors"), "1 other error");
        assert_eq!(counted_text(1_000, "PDUs"), "1 000 PDUs");
        assert_eq!(counted_text(0, "packets"), "0 packets");
    }

    #[test]
    fn nine_significant_digits() {
        // a share is never rounded to all or to nothing
        let shares = [1.0, 0.2, 0.9996, 0.00001, 0.0].map(share_text);
        assert_eq!(shares, ["100.0 %", "20.0 %", "99.96 %", "0.001 %", "0.0 %"]);
        let text = |value: f64| serde_json::to_string(&Num(value)).unwrap();
        assert_eq!(text(1.0 / 3.0), "0.333333333");
        assert_eq!(text(2.0e9 / 3.0), "666666667.0");
        assert_eq!(text(-0.0), "0.0");
        assert_eq!(text(f64::NAN), "null");
        assert_eq!(text(f64::INFINITY), "null");
        assert_eq!(text(123_456_789_012.0), "123456789000.0");
    }

    #[test]
    fn rates() {
        // 256 octets in 409.6 ns are 5 Gb/s.
        assert_eq!(gbps(256, 409_600), 5.0);
        assert_eq!(gbps(1, 0), 0.0);
    }

    /// Percentages change in points: from 20 to 30 per cent by ten, and not by a half; and from nothing, too.
    #[test]
    fn percentages_change_in_points() {
        assert_eq!(points_text(20.0, 30.0).as_deref(), Some("+10.0 points"));
        assert_eq!(points_text(87.5, 12.25).as_deref(), Some("\u{2212}75.2 points"));
        assert_eq!(points_text(0.0, 5.0).as_deref(), Some("+5.00 points"));
        assert_eq!(points_text(0.0, 0.0).as_deref(), Some("±0 points"));
        // 99.7 and 99.7 on the page
        assert_eq!(points_text(99.71, 99.74).as_deref(), Some("±0 points"));
        assert_eq!(points_text(6.2475, 6.2542).as_deref(), Some("±0 points"));
        assert_eq!(points_text(0.012, 0.034).as_deref(), Some("+0.0220 points"));
        // 39.95 reads 40.0 and 39.92 reads 39.9, but no tenth is between them, as little as up to 39.99
        assert_eq!(points_text(39.9545, 39.9174).as_deref(), Some("±0 points"));
        assert_eq!(points_text(39.9545, 39.9937).as_deref(), Some("±0 points"));
        assert_eq!(points_text(69.7495, 69.7507).as_deref(), Some("±0 points"));
        assert_eq!(points_text(6.24, 6.2551).as_deref(), Some("+0.02 points"));
        // as fine as the finer of both: 100 stands beside 99.7
        assert_eq!(points_text(99.9996, 99.7219).as_deref(), Some("\u{2212}0.3 points"));
        assert_eq!(points_text(0.0012, 50.0).as_deref(), Some("+50.0 points"));
        assert_eq!(points_text(f64::NAN, 1.0), None);
    }

    /// What is read is on that side of a bound on which the value is, with three digits if these do.
    #[test]
    fn digits_do_not_pass_a_bound() {
        assert_eq!(time_beside(256_275.0, 256_000.0), "256.3 ns");
        assert_eq!(time_beside(328_959.0, 329_000.0), "328.96 ns");
        assert_eq!(time_beside(256_000.0, 256_000.0), "256 ns");
        assert_eq!(time_beside(256_275.0, 300_000.0), "256 ns");
        // in the unit of the value
        assert_eq!(time_beside(999_700.0, 1_000_000.0), "0.9997 µs");
        assert_eq!(digits_beside(4.32356, 4.323), "4.324");
        assert_eq!(digits_beside(4.323, 4.323), "4.323");
        assert_eq!(digits_beside(1_234.4, 1_234.0), "1 234.4");
        assert_eq!(digits_beside(0.0, 0.0), "0");
        assert_eq!(share_beside(0.799_96, 0.8), "79.996 %");
        assert_eq!(share_beside(0.123_456_789, 0.8), "12.3 %");
        assert_eq!(share_beside(0.999_99, 0.9), "99.999 %");
        assert_eq!([share_beside(1.0, 1.0), share_beside(0.0, 0.5)], ["100 %", "0 %"]);
    }

    #[test]
    fn readable_numbers() {
        assert_eq!(three_digits(5.321), "5.32");
        assert_eq!(three_digits(10.66), "10.7");
        assert_eq!(three_digits(1234.4), "1 234");
        assert_eq!(three_digits(999.6), "1 000");
        assert_eq!(three_digits(999.4), "999");
        assert_eq!(three_digits(-12_345.0), "-12 345");
        assert_eq!(three_digits(0.012_34), "0.0123");
        assert_eq!(three_digits(0.0), "0");
        assert_eq!(three_digits(-2.5), "-2.50");
        assert_eq!(time_text(312_000.0), "312 ns");
        assert_eq!(time_text(999_600.0), "1.00 µs");
        assert_eq!(time_text(5_412_345.0), "5.41 µs");
        assert_eq!(count_text(1_234_567), "1 234 567");
        assert_eq!(count_text(12), "12");
        assert_eq!(change_text(5.4, 10.7).as_deref(), Some("+98 %"));
        assert_eq!(change_text(10.0, 5.0).as_deref(), Some("\u{2212}50 %"));
        assert_eq!(change_text(10.0, 10.01).as_deref(), Some("±0 %"));
        assert_eq!(change_text(2.0, 25.0).as_deref(), Some("×12.5"));
        assert_eq!(change_text(1.0, 660_020.0).as_deref(), Some("×660 000"));
        // what is left is not nothing
        assert_eq!(change_text(9.2, 0.0046).as_deref(), Some("\u{2212}99.95 %"));
        assert_eq!(change_text(100.0, 0.3).as_deref(), Some("\u{2212}99.7 %"));
        assert_eq!(change_text(100.0, 0.5).as_deref(), Some("\u{2212}99.5 %"));
        assert_eq!(change_text(100.0, 0.6).as_deref(), Some("\u{2212}99 %"));
        assert_eq!(change_text(1e9, 1.0).as_deref(), Some("\u{2212}99.9999999 %"));
        assert_eq!(change_text(100.0, 0.0).as_deref(), Some("\u{2212}100 %"));
        assert_eq!(change_text(0.0, 25.0), None);
        assert_eq!(change_text(0.0, 0.0), None);
        assert_eq!(small_change_text(300.0, 301.0).as_deref(), Some("+0.333 %"));
        assert_eq!(small_change_text(1_000.0, 999.0).as_deref(), Some("\u{2212}0.100 %"));
        assert_eq!(small_change_text(7.0, 7.0).as_deref(), Some("±0 %"));
        assert_eq!(small_change_text(10.0, 5.0).as_deref(), Some("\u{2212}50 %"));
        assert_eq!(small_change_text(0.0, 0.0), None);
        assert_eq!(TimeUnit::for_max(1.5e6).symbol, "ns");
        assert_eq!(TimeUnit::for_max(2.5e6).symbol, "µs");
    }
}
