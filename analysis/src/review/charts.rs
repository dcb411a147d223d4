//! Charts of a page: SVG whose colours come from the style of the page, so that they follow light and dark.

use super::html::escaped;
use crate::axes::{GREY, both_ends, coinciding};
use crate::num::{count_text, three_digits, time_text};
use crate::palette::cause_color;
use models::probe::Cause;
use plotters::style::RGBColor;
use std::fmt::Write;

/// Colours of series in the style of the page; further series repeat them with another dash.
pub(super) const COLOURS: usize = 8;

/// A line. Of logarithmic axes it is a distribution: each time that occurs, and the share that takes longer.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// Half widths of a band around the line, where it has one: one for each point.
    pub band: Vec<f64>,
}

/// What a chart is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Chart<'a> {
    pub title: String,
    pub x: &'a str,
    pub y: &'a str,
    /// Logarithmic axes; x are picoseconds then.
    pub log: bool,
    pub series: Vec<Series>,
    /// Vertical lines: deadlines.
    pub marks: Vec<(String, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// Room for "100 000" and what the axis is called.
const LEFT: f64 = 72.0;
const BOTTOM: f64 = 46.0;
const TOP: f64 = 14.0;
const RIGHT: f64 = 14.0;

struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let part = if self.log {
            libm::log10(value / self.low) / libm::log10(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        if self.log {
            let first = libm::round(libm::log10(self.low)) as i32;
            let last = libm::round(libm::log10(self.high)) as i32;
            return (first..=last).map(|power| libm::pow(10.0, f64::from(power))).collect();
        }
        let rough = (self.high - self.low) / 5.0;
        let power = libm::pow(10.0, libm::floor(libm::log10(rough)));
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let first = libm::ceil(self.low / step - 1e-4);
        let ticks = (0..=12).map(|n| (first + f64::from(n)) * step);
        ticks.filter(|tick| *tick <= self.high + 1e-4 * step).collect()
    }
}

fn decade(value: f64, up: bool) -> f64 {
    let power = libm::log10(value);
    libm::pow(10.0, if up { libm::ceil(power) } else { libm::floor(power) })
}

impl Chart<'_> {
    fn scales(&self) -> Option<(Scale, Scale)> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let valid = |value: &f64| value.is_finite() && (!self.log || *value > 0.0);
        let marks = self.marks.iter().map(|mark| mark.1);
        let xs: Vec<f64> = points().map(|point| point.0).chain(marks).filter(valid).collect();
        let edges = self.series.iter().flat_map(|series| {
            let band = series.points.iter().zip(&series.band);
            band.flat_map(|((_, y), half)| [y - half, y + half])
        });
        // all take longer than nothing
        let all = self.log.then_some(1.0);
        let ys: Vec<f64> = points().map(|point| point.1).chain(edges).chain(all).filter(valid).collect();
        let most = |all: &[f64]| all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = |all: &[f64]| all.iter().copied().fold(f64::INFINITY, f64::min);
        if points().next().is_none() || xs.is_empty() || ys.is_empty() {
            return None;
        }
        let (x, y) = if self.log {
            let (low, high) = (decade(least(&xs), false), decade(most(&xs), true));
            let y = (decade(least(&ys), false), 1.0);
            ((low, if high > low { high } else { low * 10.0 }), (if y.0 < 1.0 { y.0 } else { 0.1 }, 1.0))
        } else {
            // zero is always seen
            let (low, high) = (least(&ys).min(0.0) * 1.05, most(&ys).max(0.0) * 1.05);
            ((0.0, most(&xs)), (low, if high > low { high } else { low + 1.0 }))
        };
        let x = Scale { low: x.0, high: x.1, from: LEFT, to: WIDTH - RIGHT, log: self.log };
        let y = Scale { low: y.0, high: y.1, from: HEIGHT - BOTTOM, to: TOP, log: self.log };
        (x.high > x.low).then_some((x, y))
    }

    /// Where the points of a line are, page units. Of a distribution all take longer than what is left of the
    /// first, and the last step is down to nothing, which is the lower edge of a logarithmic axis, or to
    /// those that never arrive.
    fn places(&self, series: &Series, x: &Scale, y: &Scale) -> Vec<(f64, f64)> {
        let valid = |(px, py): &&(f64, f64)| px.is_finite() && py.is_finite() && (!self.log || *px > 0.0);
        let place = |&(px, py): &(f64, f64)| {
            let up = if self.log && py <= 0.0 { y.from } else { y.at(py) };
            (x.at(px), up)
        };
        let mut places: Vec<(f64, f64)> = series.points.iter().filter(valid).map(place).collect();
        if self.log && !places.is_empty() {
            places.insert(0, (x.from, y.at(1.0)));
            let &(_, rest) = places.last().expect("there is the first");
            if rest < y.from {
                places.push((x.to, rest));
            }
        }
        places
    }

    /// Names of lines that lie on one another, so that only the last of them is seen.
    pub fn hidden(&self) -> Vec<String> {
        let Some((x, y)) = self.scales() else { return Vec::new() };
        let lines: Vec<(usize, Vec<(f64, f64)>)> =
            self.series.iter().map(|series| self.places(series, &x, &y)).enumerate().collect();
        let names = |group: Vec<usize>| -> String {
            let names: Vec<&str> = group.iter().map(|at| self.series[*at].name.as_str()).collect();
            names.join(" = ")
        };
        coinciding(&lines).into_iter().map(names).collect()
    }

    /// The chart, with its legend as text below; `None` if there is nothing to draw.
    pub fn svg(&self) -> Option<String> {
        let (x, y) = self.scales()?;
        let mut out = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">",
            escaped(&self.title)
        );
        for tick in x.ticks() {
            let at = x.at(tick);
            let text = if self.log { time_text(tick) } else { three_digits(tick) };
            let _ = write!(out, "<path class=\"grid\" d=\"M{at:.1} {TOP}V{:.1}\"/>", HEIGHT - BOTTOM);
            // the last one would be cut off at the edge
            let anchor = if at > WIDTH - 2.0 * RIGHT { "end" } else { "middle" };
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                HEIGHT - BOTTOM + 16.0,
                escaped(&text)
            );
        }
        for tick in y.ticks() {
            let at = y.at(tick);
            let text = if self.log { share_text(tick) } else { three_digits(tick) };
            let _ = write!(out, "<path class=\"grid\" d=\"M{LEFT} {at:.1}H{:.1}\"/>", WIDTH - RIGHT);
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                at + 4.0,
                escaped(&text)
            );
        }
        let _ = write!(
            out,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            (LEFT + WIDTH - RIGHT) / 2.0,
            HEIGHT - 8.0,
            escaped(self.x)
        );
        let _ = write!(
            out,
            "<text class=\"axis\" transform=\"translate(14 {:.1}) rotate(-90)\" \
                 text-anchor=\"middle\">{}</text>",
            (TOP + HEIGHT - BOTTOM) / 2.0,
            escaped(self.y)
        );
        for (place, (name, at)) in self.marks.iter().enumerate() {
            let at = x.at(*at);
            let _ = write!(
                out,
                "<path class=\"mark\" d=\"M{at:.1} {TOP}V{:.1}\"><title>{}</title></path>",
                HEIGHT - BOTTOM,
                escaped(name)
            );
            let left = at > WIDTH * 0.7;
            let (dx, anchor) = if left { (-4.0, "end") } else { (4.0, "start") };
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                at + dx,
                TOP + 12.0 + 14.0 * (place % 4) as f64,
                escaped(name)
            );
        }
        if y.low < 0.0 {
            let _ = write!(out, "<path class=\"zero\" d=\"M{LEFT} {:.1}H{:.1}\"/>", y.at(0.0), WIDTH - RIGHT);
        }
        for (index, series) in self.series.iter().enumerate() {
            if let Some(band) = band(series, &x, &y) {
                let _ = write!(out, "<path class=\"band c{}\" d=\"{band}\"/>", index % COLOURS);
            }
            let places = self.places(series, &x, &y);
            let first = places.first().map(|first| format!("M{:.1} {:.1}", first.0, first.1));
            let mut path = first.unwrap_or_default();
            for at in places.iter().skip(1) {
                let _ = match self.log {
                    // of a distribution each step is one
                    true => write!(path, "H{:.1}V{:.1}", at.0, at.1),
                    false => write!(path, "L{:.1} {:.1}", at.0, at.1),
                };
            }
            let _ = write!(
                out,
                "<path class=\"line c{} d{}\" d=\"{path}\"><title>{}</title></path>",
                index % COLOURS,
                index / COLOURS % 4,
                escaped(&series.name)
            );
        }
        out.push_str("</svg><ul class=\"legend\">");
        for (index, series) in self.series.iter().enumerate() {
            let _ = write!(
                out,
                "<li><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path \
                     class=\"line c{} d{}\" d=\"M0 4H24\"/></svg>{}</li>",
                index % COLOURS,
                index / COLOURS % 4,
                escaped(&series.name)
            );
        }
        out.push_str("</ul>");
        Some(out)
    }
}

/// The outline of a band: along its upper edge, and back along the lower one.
fn band(series: &Series, x: &Scale, y: &Scale) -> Option<String> {
    let places = series.points.iter().zip(&series.band).filter(|(_, half)| half.is_finite());
    let upper = places.clone().map(|((px, py), half)| (x.at(*px), y.at(py + half)));
    let lower = places.rev().map(|((px, py), half)| (x.at(*px), y.at(py - half)));
    let corners: Vec<String> = upper.chain(lower).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    (!corners.is_empty()).then(|| format!("M{}Z", corners.join("L")))
}

/// A share on a logarithmic axis: `10 %`, `0.1 %`.
fn share_text(share: f64) -> String {
    let percent = 100.0 * share;
    let decimals = (-libm::floor(libm::log10(percent))).clamp(0.0, 12.0) as usize;
    format!("{percent:.decimals$} %")
}

/// What happens in each part of some time.
#[derive(Clone, Debug)]
pub(super) struct Strip {
    /// Whose it is, and what it is.
    pub name: String,
    pub about: String,
    /// Its colour.
    pub class: usize,
    /// How often in each part.
    pub parts: Vec<u64>,
}

/// Strips over `length` µs, one below the other: in each a stroke for every part in which something happens,
/// as high as that is often, beside the most of the strip. `classes`: what colours say; the word before a
/// colon stands beside the strip.
pub(super) fn strips(title: &str, length: f64, classes: &[&str], strips: &[Strip]) -> String {
    const PITCH: f64 = 36.0;
    let (left, right) = (240.0, WIDTH - 100.0);
    let bottom = TOP + PITCH * strips.len() as f64;
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"{}\">",
        bottom + BOTTOM,
        escaped(title)
    );
    let x =
        Scale { low: 0.0, high: if length > 0.0 { length } else { 1.0 }, from: left, to: right, log: false };
    for tick in x.ticks() {
        let at = x.at(tick);
        let _ = write!(
            out,
            "<path class=\"grid\" d=\"M{at:.1} {TOP}V{bottom:.1}\"/><text class=\"tick\" x=\"{at:.1}\" \
             y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            bottom + 16.0,
            escaped(&time_text(tick * 1e6))
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">time</text>",
        (left + right) / 2.0,
        bottom + BOTTOM - 8.0
    );
    for (number, strip) in strips.iter().enumerate() {
        let foot = TOP + PITCH * (number + 1) as f64 - 4.0;
        let most = strip.parts.iter().copied().max().unwrap_or(0);
        for (class, text, up) in [("axis", &strip.name, 15.0), ("tick", &strip.about, 2.0)] {
            let _ = write!(
                out,
                "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                left - 8.0,
                foot - up,
                escaped(&both_ends(text, 35))
            );
        }
        let _ = write!(out, "<path class=\"grid\" d=\"M{left} {foot:.1}H{right:.1}\"/>");
        let mut strokes = String::new();
        let width = (right - left) / strip.parts.len().max(1) as f64;
        for (part, count) in strip.parts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let height = 4.0 + 24.0 * *count as f64 / most as f64;
            let at = left + width * (part as f64 + 0.5);
            let _ = write!(strokes, "M{at:.1} {foot:.1}v-{height:.1}");
        }
        let _ = write!(out, "<path class=\"line c{}\" d=\"{strokes}\"/>", strip.class % COLOURS);
        // the class in a word as well: colours alone tell nobody who does not see them
        let word = classes.get(strip.class).and_then(|class| class.split(':').next()).unwrap_or("");
        for (text, up) in [(word, 15.0), (&format!("most: {}", count_text(most)), 2.0)] {
            let _ = write!(
                out,
                "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                right + 8.0,
                foot - up,
                escaped(text)
            );
        }
    }
    out.push_str("</svg><ul class=\"legend\">");
    for (index, class) in classes.iter().enumerate() {
        if strips.iter().any(|strip| strip.class == index) {
            let _ = write!(
                out,
                "<li><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><path \
                 class=\"line c{}\" d=\"M4 8V0M12 8V3M20 8V0\"/></svg>{}</li>",
                index % COLOURS,
                escaped(class)
            );
        }
    }
    out.push_str("</ul>");
    out
}

/// Colour of a cause of this name, as in figures.
fn colour(cause: &str) -> String {
    let known = Cause::ALL.into_iter().find(|known| known.name() == cause);
    let RGBColor(red, green, blue) = known.map_or(GREY, cause_color);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Bars that each add up to a whole: name of the bar, its total in picoseconds, and its parts, which are
/// causes.
pub(super) fn bars(title: &str, parts: &[&str], rows: &[(String, f64, Vec<f64>)]) -> String {
    let height = 26.0 * rows.len() as f64 + 30.0;
    let most = rows.iter().map(|row| row.1).fold(0.0, f64::max);
    let (left, width) = (210.0, 430.0);
    let mut out = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{}\">",
        escaped(title)
    );
    for (number, (name, total, shares)) in rows.iter().enumerate() {
        let y = 26.0 * number as f64 + 8.0;
        let shown = both_ends(name, 29);
        let _ = write!(
            out,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            y + 14.0,
            escaped(&shown)
        );
        let mut x = left;
        let whole = if most > 0.0 { total / most * width } else { 0.0 };
        for (index, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let w = share * whole;
            let _ = write!(
                out,
                "<rect class=\"part\" fill=\"{}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{w:.2}\" \
                     height=\"18\"><title>{}: {} {:.1} %</title></rect>",
                colour(parts[index]),
                escaped(name),
                escaped(parts[index]),
                100.0 * share
            );
            x += w;
        }
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            x + 5.0,
            y + 14.0,
            escaped(&time_text(*total))
        );
    }
    out.push_str("</svg><ul class=\"legend\">");
    let used = |index: usize| rows.iter().any(|row| row.2[index] > 0.0);
    for (_, part) in parts.iter().enumerate().filter(|(index, _)| used(*index)) {
        let _ = write!(
            out,
            "<li><svg class=\"key\" viewBox=\"0 0 24 8\" aria-hidden=\"true\"><rect class=\"part\" \
                 fill=\"{}\" width=\"24\" height=\"8\"/></svg>{}</li>",
            colour(part),
            escaped(part)
        );
    }
    out.push_str("</ul>");
    out
}
