//! The table as text, as a page and as a picture.

use super::row::{Expected, Row};
use std::fmt::Write as _;

/// Six significant digits, without trailing zeros, and a power of ten only where zeros would hide the number.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (5 - value.abs().log10().floor() as i64).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Two significant digits of a width.
fn width(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (1 - value.abs().log10().floor() as i64).clamp(0, 9) as usize;
    // What is less than a billionth of its unit comes of adding up floating point.
    let text = format!("{value:.digits$}");
    if text.trim_matches(['0', '.']).is_empty() { "0".into() } else { text }
}

fn expected(row: &Row) -> String {
    match row.expected {
        Expected::Value { value, allowed } if allowed > 0.0 => {
            format!("{} ± {}", number(value), width(allowed))
        }
        Expected::Value { value, .. } => number(value),
        Expected::AtMost { value } => format!("≤ {}", number(value)),
    }
}

fn simulated(row: &Row) -> String {
    match row.half_width {
        Some(half) => format!("{} ± {}", number(row.simulated), width(half)),
        None => number(row.simulated),
    }
}

fn verdict(row: &Row) -> &'static str {
    if row.passes() { "agrees" } else { "DIFFERS" }
}

/// A row of the page.
pub(crate) fn line(row: &Row) -> String {
    let unit = if row.unit.is_empty() { String::new() } else { format!(" [{}]", row.unit) };
    format!("| {}{unit} | {} | {} | {} |", row.what, expected(row), simulated(row), verdict(row))
}

/// For a terminal.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let wide = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    let mut case = "";
    for row in rows {
        if row.case != case {
            let gap = if case.is_empty() { "" } else { "\n" };
            let (of, wide) = (format!("{}: {}", row.case, row.source.text), wide + 2);
            // a source may take more than its column: then the headings have a line of their own
            let (above, left) =
                if of.chars().count() > wide { (of + "\n", String::new()) } else { (String::new(), of) };
            let _ = writeln!(text, "{gap}{above}{left:wide$}  {:>24}  {:>24}", "expected", "simulated");
            case = row.case;
        }
        let pad = wide - row.what.chars().count();
        let (expected, simulated) = (expected(row), simulated(row));
        let _ = writeln!(
            text,
            "  {}{:pad$}  {expected:>24}  {simulated:>24} {:<8}  {}",
            row.what,
            "",
            row.unit,
            verdict(row)
        );
    }
    text
}

/// The page.
pub(crate) fn page(rows: &[Row]) -> String {
    let outside = rows.iter().filter(|row| row.source.outside).count();
    let agree = rows.iter().filter(|row| row.passes()).count();
    let mut text = format!(
        "# Validation\n\n<!-- Made by `riosim validate --out docs`. -->\n\n\
         What the simulator gives, beside what literature, the standard and arithmetic say: {} rows,\n\
         {outside} of them from outside RapidIO. {agree} of {} agree. `riosim validate` runs them \
         anew, `--quick`\n\
         those that take less than a minute together.\n\n\
         *Expected* was written down before anything ran. Where a law is that of fluids, or of an endless\n\
         run, it leaves something open: that is behind its ±, and the reason is under the table.\n\
         *Simulated* is the mean of independent replications with its 99.9 % interval, or one exact value\n\
         where nothing is drawn. A row agrees if the two overlap. A source was *read*, is known from its\n\
         *abstract* or from later literature, or the law was *derived* here.\n\n\
         ![simulated by expected](validation.svg)\n",
        rows.len(),
        rows.len()
    );
    let mut start = 0;
    while start < rows.len() {
        let group = rows[start..].iter().take_while(|row| row.case == rows[start].case).count();
        let group = &rows[start..start + group];
        start += group.len();
        let _ = writeln!(text, "\n## {}\n", group[0].case);
        let mut sources: Vec<_> = Vec::new();
        for row in group {
            if !sources.contains(&row.source) {
                sources.push(row.source);
            }
        }
        for source in sources {
            let _ = writeln!(text, "{} ({}).", source.text, source.known.name());
        }
        text.push_str("\n| what | expected | simulated | |\n|---|---|---|---|\n");
        let mut reasons: Vec<&str> = Vec::new();
        for row in group {
            let _ = writeln!(text, "{}", line(row));
            if !row.reason.is_empty() && !reasons.contains(&row.reason) {
                reasons.push(row.reason);
            }
        }
        for reason in reasons {
            let _ = writeln!(text, "\nWhat the law leaves open: {reason}.");
        }
    }
    text
}

/// Triangles where what goes from and to so many per cent is cut at the edges of the figure.
fn beyond(x: &dyn Fn(f64) -> f64, (from, to): (f64, f64), reach: f64, y: f64, colour: &str) -> String {
    let mut marks = String::new();
    for (cut, edge, way) in [(from < -reach, x(-reach), -1.0), (to > reach, x(reach), 1.0)] {
        if cut {
            let _ = write!(
                marks,
                "<polygon points=\"{:.1},{y:.1} {edge:.1},{:.1} {edge:.1},{:.1}\" fill=\"{colour}\"/>",
                edge + 7.0 * way,
                y - 4.0,
                y + 4.0
            );
        }
    }
    marks
}

/// Simulated by expected, in per cent of difference, a line each.
pub(crate) fn figure(rows: &[Row]) -> String {
    let shown: Vec<(&Row, f64, f64, f64)> = rows
        .iter()
        .filter_map(|row| match row.expected {
            Expected::Value { value, allowed } if value != 0.0 => {
                let by = 100.0 / value.abs();
                let half = row.half_width.unwrap_or(0.0);
                Some((row, (row.simulated - value) * by, half * by, allowed * by))
            }
            _ => None,
        })
        .collect();
    let reach = 2.5_f64;
    let (left, wide, top, step) = (470.0, 380.0, 76.0, 15.0);
    let height = top + step * shown.len() as f64 + 40.0;
    let x = |percent: f64| left + wide * (percent.clamp(-reach, reach) + reach) / (2.0 * reach);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 880 {height}\" font-family=\"sans-serif\" \
         font-size=\"10\">\n<rect width=\"880\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"24\" font-size=\"15\" font-weight=\"bold\">\
         Simulated against expected, difference in per cent</text>\n\
         <text x=\"16\" y=\"42\" fill=\"#555555\">point: simulated; line: its 99.9 % interval; grey bar: \
         what the law leaves open</text>\n\
         <text x=\"16\" y=\"55\" fill=\"#555555\">what goes on beyond {reach} % has a triangle at the edge, \
         and a point beyond it is a number there; upper bounds and zeros are in the table only</text>\n"
    );
    let bottom = top + step * shown.len() as f64;
    for tick in [-2, -1, 0, 1, 2] {
        let at = x(f64::from(tick));
        let colour = if tick == 0 { "#333333" } else { "#dddddd" };
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"{colour}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{} %</text>",
            bottom + 16.0,
            if tick == 0 { "0".to_owned() } else { format!("{tick:+}") }
        );
    }
    for (n, (row, at, half, allowed)) in shown.iter().enumerate() {
        let y = top + step * (n as f64 + 0.5);
        let colour = if row.passes() { "#0b6fa4" } else { "#c43d00" };
        let label = row.what.replace('&', "&amp;").replace('<', "&lt;");
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>\
             <rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"8\" fill=\"#d9d9d9\"/>\
             <line x1=\"{:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{colour}\" \
             stroke-width=\"1.5\"/>",
            left - 8.0,
            y + 3.5,
            x(-allowed),
            y - 4.0,
            x(*allowed) - x(-allowed),
            x(at - half),
            x(at + half),
        );
        // a point at the edge would be one of that value
        let _ = match at.abs() > reach {
            false => write!(svg, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>", x(*at)),
            true => write!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{}\" fill=\"{colour}\">{at:+.2} %</text>",
                x(*at) - 4.0 * at.signum(),
                y + 3.5,
                if *at < 0.0 { "start" } else { "end" }
            ),
        };
        for (from, to, colour) in [(-allowed, *allowed, "#8a8a8a"), (at - half, at + half, colour)] {
            svg += &beyond(&x, (from, to), reach, y, colour);
        }
        svg.push('\n');
    }
    svg.push_str("</svg>\n");
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::row::Source;

    /// By hand: an interval of 1 to 3 per cent and a law that leaves 4 open are cut at 2.5: one triangle
    /// on the right for the interval, one on each side for the law. What stays within has none, and 0
    /// has no sign.
    #[test]
    fn what_is_cut_is_marked() {
        let row = |simulated: f64, half: f64, allowed: f64| Row {
            simulated,
            half_width: Some(half),
            expected: Expected::Value { value: 100.0, allowed },
            ..Row::exact("c", "what", "ns", Source::document("by hand"))
        };
        let marks = |row| figure(&[row]).matches("<polygon").count();
        assert_eq!(marks(row(100.5, 1.0, 2.4)), 0);
        assert_eq!(marks(row(102.0, 1.0, 2.4)), 1);
        assert_eq!(marks(row(102.0, 1.0, 4.0)), 3);
        // a point that is cut is told: 96.67 of 100 are 3.33 per cent less, and have no point at 2.5
        let points = |row| figure(&[row]).matches("<circle").count();
        assert_eq!((points(row(102.5, 1.0, 4.0)), points(row(96.67, 0.1, 4.0))), (1, 0));
        assert!(figure(&[row(96.67, 0.1, 4.0)]).contains(">-3.33 %<"));
        let svg = figure(&[row(100.0, 1.0, 2.4)]);
        assert!(svg.contains(">0 %<") && !svg.contains("+0 %") && svg.contains(">+1 %<"));
    }

    #[test]
    fn numbers_have_six_digits_and_no_idle_zeros() {
        let texts = [0.0, 0.75, 1.0 / 3.0, 113.6, 131_412.0, 1_234_567.0, -2.5].map(number);
        assert_eq!(texts, ["0", "0.75", "0.333333", "113.6", "131412", "1234567", "-2.5"]);
        assert_eq!([0.0, 0.001_234, 3.21, 45.6].map(width), ["0", "0.0012", "3.2", "46"]);
    }
}
