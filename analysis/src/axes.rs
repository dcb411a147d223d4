//! Axes, panels and legends of figures.

use crate::num::{TimeUnit, three_digits};
use crate::scene::{Align, Marker, Scene, Type, text_width};
use plotters::style::RGBColor;

pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(crate) const GREY: RGBColor = RGBColor(0x60, 0x60, 0x60);
pub(crate) const GRID: RGBColor = RGBColor(0xe2, 0xe2, 0xe2);
pub(crate) const SHADE: RGBColor = RGBColor(0xec, 0xec, 0xec);
pub(crate) const WHITE: RGBColor = RGBColor(0xff, 0xff, 0xff);

pub(crate) const TITLE: Type = Type { size: 18.0, bold: true, color: INK };
pub(crate) const SUBTITLE: Type = Type { size: 13.0, bold: false, color: GREY };
pub(crate) const PANEL: Type = Type { size: 13.5, bold: true, color: INK };
pub(crate) const LABEL: Type = Type { size: 13.0, bold: false, color: INK };
pub(crate) const TICK: Type = Type { size: 12.0, bold: false, color: GREY };

/// Width of a page, in page units.
pub(crate) const PAGE: f64 = 960.0;
/// Empty border of a page.
pub(crate) const MARGIN: f64 = 24.0;

/// How the values of an axis are written.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Ticks {
    /// Plain numbers; the label names the unit.
    Plain,
    /// Picoseconds, every tick with its unit (logarithmic axes span several).
    Times,
    /// None: whoever draws the panel writes names there.
    None,
}

/// A range of values.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Axis {
    pub low: f64,
    pub high: f64,
    pub log: bool,
    pub ticks: Ticks,
}

impl Axis {
    /// From zero to a round number not below `max`.
    pub fn from_zero(max: f64) -> Self {
        let max = if max > 0.0 { max } else { 1.0 };
        let step = nice_step(max / 5.0);
        // curves must not touch the top edge
        let high = libm::ceil(max * 1.02 / step) * step;
        Self { low: 0.0, high, log: false, ticks: Ticks::Plain }
    }

    /// Exactly from zero to `max`.
    pub fn exactly(max: f64) -> Self {
        Self { low: 0.0, high: if max > 0.0 { max } else { 1.0 }, log: false, ticks: Ticks::Plain }
    }

    /// From a round number not above `min` to one not below `max`.
    pub fn around(min: f64, max: f64) -> Self {
        let span = if max > min { max - min } else { libm::fmax(libm::fabs(max) * 0.1, 1e-9) };
        let step = nice_step(span / 5.0);
        let (low, high) = (libm::floor(min / step) * step, libm::ceil(max / step) * step);
        let high = if high > low { high } else { low + step };
        Self { low, high, log: false, ticks: Ticks::Plain }
    }

    /// Logarithmic, around picosecond values.
    pub fn log_times(min: f64, max: f64) -> Self {
        let (min, max) = if min > 0.0 && max >= min { (min, max) } else { (1e3, 1e6) };
        Self::log(min, max, Ticks::Times)
    }

    /// Around picosecond values: logarithmic, unless they are so close to each other that a decade around
    /// them would show one step.
    pub fn times(min: f64, max: f64) -> Self {
        if min > 0.0 && min <= max && max <= 2.0 * min {
            // one time alone stands in the middle
            let beside = if min < max { 0.0 } else { 0.1 * min };
            return Self { ticks: Ticks::Times, ..Self::around(min - beside, max + beside) };
        }
        Self::log_times(min, max)
    }

    /// What the label of an axis of times adds to the quantity.
    pub fn scale_word(&self) -> &'static str {
        if self.log { " (logarithmic)" } else { "" }
    }

    /// Logarithmic, around positive values.
    pub fn log(min: f64, max: f64, ticks: Ticks) -> Self {
        let mut low = round_down(min * 0.98);
        let mut high = round_up(max * 1.02);
        // one value alone still needs a scale on both sides
        if high / low < 4.0 {
            low = round_down(low * 0.6);
            high = round_up(high * 1.6);
        }
        Self { low, high, log: true, ticks }
    }

    /// Share of the axis below `value`.
    pub fn at(&self, value: f64) -> f64 {
        if self.log {
            libm::log(value / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Values with grid lines, and their texts (empty: a line only).
    pub fn marks(&self) -> Vec<(f64, String)> {
        if self.ticks == Ticks::None {
            return Vec::new();
        }
        if !self.log {
            let unit = (self.ticks == Ticks::Times).then(|| TimeUnit::for_max(self.high));
            let (scale, symbol) =
                unit.map_or((1.0, String::new()), |unit| (unit.ps as f64, format!(" {}", unit.symbol)));
            let step = nice_step((self.high - self.low) / 5.0) / scale;
            let first = libm::ceil(self.low / scale / step - 1e-9) as i64;
            let last = libm::floor(self.high / scale / step + 1e-9) as i64;
            // a step of 2.5 needs one digit more than one of 2
            let decimals = (0..9).find(|&digits| {
                let scaled = step * libm::pow(10.0, f64::from(digits));
                libm::fabs(scaled - libm::round(scaled)) < 1e-6 * scaled
            });
            let decimals = decimals.unwrap_or(9) as usize;
            return (first..=last)
                .map(|index| index as f64 * step)
                .map(|value| (value * scale, format!("{value:.decimals$}{symbol}")))
                .collect();
        }
        let decades = libm::log10(self.high / self.low);
        let labelled: &[f64] = match () {
            () if decades <= 1.1 => &[1.0, 2.0, 3.0, 5.0, 7.0],
            () if decades <= 2.6 => &[1.0, 2.0, 5.0],
            () => &[1.0],
        };
        let lined: &[f64] = if decades > 2.6 { &[1.0, 2.0, 5.0] } else { labelled };
        let mut marks = Vec::new();
        let mut decade = libm::pow(10.0, libm::floor(libm::log10(self.low) + 1e-9));
        while decade <= self.high {
            for mantissa in lined {
                let value = decade * mantissa;
                if value >= self.low * (1.0 - 1e-9) && value <= self.high * (1.0 + 1e-9) {
                    let text = if labelled.contains(mantissa) { self.text(value) } else { String::new() };
                    marks.push((value, text));
                }
            }
            decade *= 10.0;
        }
        marks
    }

    fn text(&self, value: f64) -> String {
        match self.ticks {
            Ticks::Plain | Ticks::None => trim(three_digits(value)),
            Ticks::Times => {
                let unit = TimeUnit::for_max(value * 2.000_001);
                format!("{} {}", trim(three_digits(unit.scale(value))), unit.symbol)
            }
        }
    }
}

/// Without zeros after the decimal point.
fn trim(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

fn nice_step(raw: f64) -> f64 {
    let decade = libm::pow(10.0, libm::floor(libm::log10(raw) + 1e-9));
    let mantissa = raw / decade;
    let round = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|&round| mantissa <= round * 1.000_001);
    round.unwrap_or(10.0) * decade
}

fn round_down(value: f64) -> f64 {
    let decade = libm::pow(10.0, libm::floor(libm::log10(value)));
    [5.0, 2.0, 1.0].into_iter().find(|round| value / decade >= *round).unwrap_or(1.0) * decade
}

fn round_up(value: f64) -> f64 {
    let decade = libm::pow(10.0, libm::floor(libm::log10(value)));
    [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| value / decade <= *round).unwrap_or(10.0) * decade
}

/// How a line is told apart: colour, dashes and marker all differ.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Stroke {
    pub color: RGBColor,
    pub dash: &'static [f64],
    pub marker: Option<Marker>,
}

/// The n-th line of a figure (Okabe-Ito without its yellow, which is too pale for lines).
pub(crate) fn stroke(index: usize) -> Stroke {
    const COLORS: [RGBColor; 14] = [
        RGBColor(0x00, 0x72, 0xb2),
        RGBColor(0xd5, 0x5e, 0x00),
        RGBColor(0x00, 0x9e, 0x73),
        RGBColor(0xcc, 0x79, 0xa7),
        RGBColor(0xe6, 0x9f, 0x00),
        RGBColor(0x56, 0xb4, 0xe9),
        RGBColor(0x00, 0x00, 0x00),
        // the same, darker; pale lines of a sweep are saturated
        RGBColor(0x00, 0x3f, 0x62),
        RGBColor(0x75, 0x34, 0x00),
        RGBColor(0x00, 0x58, 0x40),
        RGBColor(0x70, 0x41, 0x5c),
        RGBColor(0x80, 0x58, 0x00),
        RGBColor(0x2f, 0x63, 0x80),
        RGBColor(0x80, 0x80, 0x80),
    ];
    // Each is told apart within the 36 units of a legend, whose middle lies under a mark.
    const DASHES: [&[f64]; 5] =
        [&[], &[9.0, 4.0], &[3.0, 3.0], &[11.0, 3.0, 3.0, 3.0], &[5.0, 2.0, 2.0, 2.0, 2.0, 2.0]];
    const MARKERS: [Marker; 5] =
        [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];
    Stroke {
        color: COLORS[index % COLORS.len()],
        dash: DASHES[index % DASHES.len()],
        marker: Some(MARKERS[index % MARKERS.len()]),
    }
}

/// A rectangle with axes.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Panel {
    /// Left edge of the plot, without labels.
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub horizontal: Axis,
    pub vertical: Axis,
}

impl Panel {
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x + self.width * self.horizontal.at(x), self.y + self.height * (1.0 - self.vertical.at(y)))
    }

    /// Grid, axes, tick texts, axis labels and a heading of at most two lines above the plot.
    pub fn draw(&self, scene: &mut Scene, heading: &str, x_label: &str, y_label: &str) {
        let (right, bottom) = (self.x + self.width, self.y + self.height);
        let mut widest = 0.0f64;
        for (value, text) in self.vertical.marks() {
            let (_, y) = self.place((self.horizontal.low, value));
            scene.line(&[(self.x, y), (right, y)], GRID, 1);
            scene.text((self.x - 8.0, y + 4.2), &text, TICK, Align::Right);
            widest = widest.max(text_width(&text, TICK));
        }
        self.vertical_grid(scene, !x_label.is_empty());
        scene.line(&[(self.x, self.y), (self.x, bottom), (right, bottom)], GREY, 1);
        for (above, line) in heading.lines().rev().enumerate() {
            scene.text((self.x, self.y - 9.0 - 17.0 * above as f64), line, PANEL, Align::Left);
        }
        if !x_label.is_empty() {
            scene.text((self.x + self.width / 2.0, bottom + 38.0), x_label, LABEL, Align::Center);
        }
        if !y_label.is_empty() {
            scene.text_upwards((self.x - widest - 18.0, self.y + self.height / 2.0), y_label, LABEL);
        }
    }

    /// Vertical grid lines, with the texts of the horizontal axis below.
    pub fn vertical_grid(&self, scene: &mut Scene, texts: bool) {
        let bottom = self.y + self.height;
        let marks = self.horizontal.marks();
        let written = self.written(&marks);
        for ((value, text), written) in marks.iter().zip(written) {
            let (x, _) = self.place((*value, self.vertical.low));
            scene.line(&[(x, self.y), (x, bottom)], GRID, 1);
            if texts && written {
                scene.line(&[(x, bottom), (x, bottom + 4.0)], GREY, 1);
                scene.text((x, bottom + 18.0), text, TICK, Align::Center);
            }
        }
    }

    /// Which marks of the horizontal axis have a text. Where neighbours would touch, texts are left out
    /// regularly, as a gap among others is read over: of a logarithmic axis first all but whole decades, then
    /// every second one, or two of three. The lines stay.
    fn written(&self, marks: &[(f64, String)]) -> Vec<bool> {
        let all: Vec<usize> = (0..marks.len()).filter(|at| !marks[*at].1.is_empty()).collect();
        let is_decade = |at: &usize| {
            let power = libm::log10(marks[*at].0);
            libm::fabs(power - libm::round(power)) < 1e-6
        };
        let decades: Vec<usize> =
            if self.horizontal.log { all.iter().copied().filter(is_decade).collect() } else { Vec::new() };
        let some = if decades.len() > 1 { decades } else { all.clone() };
        let thinned = (1..=some.len()).map(|step| some.iter().copied().step_by(step).collect());
        let apart = |chosen: &Vec<usize>| {
            let ends = |at: usize| {
                let (value, text) = &marks[at];
                let half = text_width(text, TICK) / 2.0;
                let (x, _) = self.place((*value, self.vertical.low));
                (x - half, x + half)
            };
            chosen.windows(2).all(|pair| ends(pair[1]).0 >= ends(pair[0]).1 + 8.0)
        };
        let chosen: Vec<usize> = std::iter::once(all).chain(thinned).find(apart).unwrap_or_default();
        (0..marks.len()).map(|at| chosen.contains(&at)).collect()
    }

    /// A line through values, clipped to the panel's horizontal range by the caller.
    pub fn plot(&self, scene: &mut Scene, values: &[(f64, f64)], stroke: Stroke, phase: f64) {
        let points: Vec<(f64, f64)> = values.iter().map(|value| self.place(*value)).collect();
        scene.dashed(&points, stroke.color, 2, stroke.dash);
        let Some(marker) = stroke.marker else { return };
        for index in marked(&points, self.width / 7.0, phase) {
            scene.marker(points[index], marker, stroke.color);
        }
    }
}

/// Which points of a line carry a marker: about one at each `spacing` along its longer extent, shifted by
/// `phase` of that. Markers stand on points, or they would seem to be data where there is none.
fn marked(points: &[(f64, f64)], spacing: f64, phase: f64) -> Vec<usize> {
    let mut next = phase * spacing;
    let mut travelled = 0.0;
    let mut found = Vec::new();
    for (index, pair) in points.windows(2).enumerate() {
        let length = libm::fmax(libm::fabs(pair[1].0 - pair[0].0), libm::fabs(pair[1].1 - pair[0].1));
        travelled += length;
        if travelled >= next && length > 0.0 {
            found.push(index + 1);
            next += spacing * (libm::floor((travelled - next) / spacing) + 1.0);
        }
    }
    found
}

/// One entry of a legend.
pub(crate) enum Key {
    Line(Stroke),
    /// Points that no line joins.
    Points(Stroke),
    Box(RGBColor),
    /// A cell of a heat map: of this colour and hatched, or empty.
    Cell(Option<RGBColor>),
}

const KEY_HEIGHT: f64 = 21.0;

impl Key {
    /// How far the text of an entry is from its beginning.
    fn width(&self) -> f64 {
        if matches!(self, Key::Line(_)) { 44.0 } else { 20.0 }
    }
}

/// The text of an entry, which has a row of this width at most.
fn legend_text((key, text): &(Key, String), width: f64) -> String {
    shorten_name(text, LABEL, width - key.width())
}

/// Breaks a legend into rows: (x offset, row) of every entry.
fn legend_places(entries: &[(Key, String)], width: f64) -> Vec<(f64, usize)> {
    let (mut x, mut row) = (0.0, 0);
    entries
        .iter()
        .map(|entry| {
            let needs = entry.0.width() + text_width(&legend_text(entry, width), LABEL) + 22.0;
            if x > 0.0 && x + needs > width {
                (x, row) = (0.0, row + 1);
            }
            let place = (x, row);
            x += needs;
            place
        })
        .collect()
}

/// Height of a legend.
pub(crate) fn legend_height(entries: &[(Key, String)], width: f64) -> f64 {
    legend_places(entries, width).last().map_or(0.0, |(_, row)| (row + 1) as f64 * KEY_HEIGHT)
}

/// Draws a legend with its upper left corner at `(x, y)`.
pub(crate) fn legend(scene: &mut Scene, (x, y): (f64, f64), width: f64, entries: &[(Key, String)]) {
    for (entry, (offset, row)) in entries.iter().zip(legend_places(entries, width)) {
        let (left, middle) = (x + offset, y + (row as f64 + 0.5) * KEY_HEIGHT);
        match &entry.0 {
            Key::Line(stroke) => {
                scene.dashed(&[(left, middle), (left + 36.0, middle)], stroke.color, 2, stroke.dash);
                if let Some(marker) = stroke.marker {
                    scene.marker((left + 18.0, middle), marker, stroke.color);
                }
            }
            Key::Points(stroke) => {
                if let Some(marker) = stroke.marker {
                    scene.marker((left + 6.5, middle), marker, stroke.color);
                }
            }
            Key::Box(color) => scene.rect(left, middle - 6.5, 13.0, 13.0, *color),
            Key::Cell(color) => {
                let (top, size) = (middle - 6.5, (13.0, 13.0));
                if let Some(color) = color {
                    scene.rect(left, top, 13.0, 13.0, *color);
                    hatch(scene, (left, top), size, WHITE);
                }
                scene.frame((left, top), size, GREY);
            }
        }
        let text = legend_text(entry, width);
        scene.text((left + entry.0.width(), middle + 4.6), &text, LABEL, Align::Left);
    }
}

/// From line to line of a hatched rectangle, page units along an edge.
const HATCH: f64 = 7.0;

/// Hatches a rectangle. Lines go on from one rectangle to its neighbour, and a small one has some, too.
pub(crate) fn hatch(scene: &mut Scene, (x, y): (f64, f64), (width, height): (f64, f64), color: RGBColor) {
    let pitch = HATCH.min(0.5 * (width + height));
    // along a line x + y is the same
    let (first, last) =
        (libm::ceil((x + y) / pitch) as i64, libm::floor((x + width + y + height) / pitch) as i64);
    for sum in (first..=last).map(|line| line as f64 * pitch) {
        let (left, right) = (libm::fmax(x, sum - y - height), libm::fmin(x + width, sum - y));
        if right > left {
            scene.line(&[(left, sum - left), (right, sum - right)], color, 1);
        }
    }
}

/// A label of so much room: of a long one the words are cut, and the unit at its end stays.
pub(crate) fn with_unit(words: &str, unit: &str, room: f64) -> String {
    let end = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    let all = format!("{words}{end}");
    if text_width(&all, LABEL) <= room {
        return all;
    }
    shorten(words, LABEL, room - text_width(&end, LABEL)) + &end
}

/// Title and subtitle; returns where the rest may begin.
pub(crate) fn heading(scene: &mut Scene, title: &str, subtitle: &str) -> f64 {
    let width = PAGE - 2.0 * MARGIN;
    // What does not fit into one line takes two, or three, closer to the title; more make the page longer.
    let lines = lines(subtitle, width);
    let longer = (PITCH * lines.len().saturating_sub(3) as f64).ceil() as u32;
    let (at, first, pitch) = match lines.len() {
        0 | 1 => (34.0, 55.0, 0.0),
        2 => (27.0, 45.0, 16.0),
        _ => (22.0, 37.5, PITCH),
    };
    // A title that is too long for its line is written smaller: its end may be what it is not about.
    let needs = text_width(title, TITLE);
    let look = if needs > width { Type { size: TITLE.size * width / needs, ..TITLE } } else { TITLE };
    scene.text((MARGIN, at), title, look, Align::Left);
    for (n, line) in lines.into_iter().enumerate() {
        scene.text(
            (MARGIN, first + pitch * n as f64),
            &shorten(line, SUBTITLE, width),
            SUBTITLE,
            Align::Left,
        );
    }
    scene.make_room(longer);
    66.0
}

/// One small line at the foot of a page, which it makes longer; nothing if there is nothing to say.
pub(crate) fn foot(scene: &mut Scene, text: &str) {
    if text.is_empty() {
        return;
    }
    const LOOK: Type = Type { size: 10.0, bold: false, color: GREY };
    let room = f64::from(scene.width()) - 2.0 * MARGIN;
    scene.sign((MARGIN, 16), &shorten(text, LOOK, room), LOOK);
}

/// From line to line of a subtitle of three and more.
const PITCH: f64 = 13.5;
/// The most lines that a subtitle takes.
const LINES: usize = 10;

/// Lines of a subtitle; what does not fit into the last is left there.
fn lines(subtitle: &str, width: f64) -> Vec<&str> {
    let (mut lines, mut rest) = (Vec::new(), subtitle);
    while lines.len() + 1 < LINES
        && let Some((first, second)) = halves(rest, width)
    {
        lines.push(first);
        rest = second;
    }
    lines.push(rest);
    lines
}

/// Two lines of a subtitle that is wider than `width`: parted at a dot, or else between words, as late as it
/// fits.
fn halves(subtitle: &str, width: f64) -> Option<(&str, &str)> {
    if text_width(subtitle, SUBTITLE) <= width {
        return None;
    }
    let fits = |(at, _): &(usize, &str)| text_width(&subtitle[..*at], SUBTITLE) <= width;
    // A line of which little is used is worth less than a sentence that is kept together.
    let long = |(at, _): &(usize, &str)| text_width(&subtitle[..*at], SUBTITLE) >= 0.4 * width;
    let (at, sign) = subtitle
        .rmatch_indices(" · ")
        .find(fits)
        .filter(|(at, sign)| {
            long(&(*at, sign)) || text_width(&subtitle[at + sign.len()..], SUBTITLE) <= width
        })
        .or_else(|| subtitle.rmatch_indices(' ').filter(|(at, _)| !in_number(subtitle, *at)).find(fits))
        // A word that is longer than a line must not hide what follows it.
        .or_else(|| subtitle.char_indices().map(|(at, _)| (at, "")).skip(1).take_while(fits).last())?;
    Some((&subtitle[..at], &subtitle[at + sign.len()..]))
}

/// Whether the space at `at` parts thousands of a number, a name that ends in a digit from its count, or "3
/// more".
fn in_number(text: &str, at: usize) -> bool {
    if text[at..].starts_with(" more") {
        return true;
    }
    let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    digit(text.as_bytes()[..at].last()) && digit(text.as_bytes().get(at + 1))
}

/// The text, or its beginning with an ellipsis if it is wider than `width`.
pub(crate) fn shorten(text: &str, look: Type, width: f64) -> String {
    if text_width(text, look) <= width {
        return text.into();
    }
    let mut short = text.to_string();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.trim_end());
        if text_width(&candidate, look) <= width {
            return candidate;
        }
    }
    String::new()
}

/// The name, or its beginning and its end if it is wider than `width`: long names of one figure mostly begin
/// alike.
pub(crate) fn shorten_name(name: &str, look: Type, width: f64) -> String {
    let letters = name.chars().count();
    let cut = |kept: usize| both_ends(name, kept);
    let fits = |text: &String| text_width(text, look) <= width;
    (0..=letters).rev().map(cut).find(fits).unwrap_or_default()
}

/// So many letters of a name: half of them are its first, half its last. All of them if it has no more.
pub(crate) fn both_ends(name: &str, letters: usize) -> String {
    let all: Vec<char> = name.chars().collect();
    if letters >= all.len() {
        return name.to_owned();
    }
    let first: String = all[..letters.div_ceil(2)].iter().collect();
    let last: String = all[all.len() - letters / 2..].iter().collect();
    format!("{}…{}", first.trim_end(), last.trim_start())
}

/// Lines of a panel that lie on one another, so that only the last is seen: places of their lines. Each point
/// of one lies on the other, wherever that has points of its own: they are thinned where nobody sees it.
pub(crate) fn coinciding(lines: &[(usize, Vec<(f64, f64)>)]) -> Vec<Vec<usize>> {
    /// Less than half a line apart, page units.
    const SEEN: f64 = 0.75;
    // from a point to the stretch between two others
    let apart = |at: (f64, f64), pair: &[(f64, f64)]| {
        let (from, to) = (pair[0], pair[1]);
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let square = dx * dx + dy * dy;
        let along = if square > 0.0 { ((at.0 - from.0) * dx + (at.1 - from.1) * dy) / square } else { 0.0 };
        let along = along.clamp(0.0, 1.0);
        libm::hypot(at.0 - from.0 - along * dx, at.1 - from.1 - along * dy)
    };
    let beside = |a: &[(f64, f64)], b: &[(f64, f64)]| {
        a.iter().all(|point| b.windows(2).any(|pair| apart(*point, pair) < SEEN))
    };
    let on = |a: &[(f64, f64)], b: &[(f64, f64)]| a.len() > 1 && b.len() > 1 && beside(a, b) && beside(b, a);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (at, (_, line)) in lines.iter().enumerate() {
        match groups.iter_mut().find(|group| on(&lines[group[0]].1, line)) {
            Some(group) => group.push(at),
            None => groups.push(vec![at]),
        }
    }
    groups.retain(|group| group.len() > 1);
    groups.into_iter().map(|group| group.into_iter().map(|at| lines[at].0).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flat line of three points and one of two are one line, and one that is a unit higher at its end is
    /// another.
    #[test]
    fn lines_with_other_points_may_be_one() {
        let lines = [
            (3, vec![(0.0, 0.0), (10.0, 0.0), (10.0, 50.0)]),
            (5, vec![(0.0, 0.0), (4.0, 0.1), (10.0, 0.0), (10.0, 20.0), (10.0, 50.0)]),
            (7, vec![(0.0, 0.0), (10.0, 0.0), (10.0, 51.0)]),
        ];
        assert_eq!(coinciding(&lines), [[3, 5]]);
        assert!(coinciding(&lines[1..]).is_empty());
    }

    /// A word that is longer than a line is parted, and what follows it is there.
    #[test]
    fn long_words_hide_nothing() {
        let text = format!("{} · and what is said", "\u{8a9e}".repeat(200));
        let lines = lines(&text, 600.0);
        assert!(lines.len() > 2 && lines.iter().all(|line| text_width(line, SUBTITLE) <= 600.0), "{lines:?}");
        assert_eq!(lines.concat().replace(" · ", ""), text.replace(" · ", ""));
    }

    fn texts(axis: Axis) -> Vec<String> {
        axis.marks().into_iter().map(|(_, text)| text).filter(|text| !text.is_empty()).collect()
    }

    /// Where not all texts have room they are left out regularly: of 1 to 1 000 on a logarithmic axis the
    /// decades, on a narrower one every second decade; of a linear axis every second, or two of three.
    #[test]
    fn texts_of_an_axis_are_left_out_regularly() {
        let texts = |horizontal: Axis, width: f64| -> Vec<String> {
            let vertical = Axis::exactly(1.0);
            let panel = Panel { x: 0.0, y: 0.0, width, height: 10.0, horizontal, vertical };
            let marks = horizontal.marks();
            let written = panel.written(&marks);
            marks.into_iter().zip(written).filter(|mark| mark.1).map(|mark| mark.0.1).collect()
        };
        let log = |high| Axis { low: 1e6, high, log: true, ticks: Ticks::Times };
        let five = ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms"];
        assert_eq!(texts(log(1e10), 400.0), five);
        assert_eq!(texts(log(1e10), 150.0), ["1 µs", "100 µs", "10 ms"]);
        assert_eq!(texts(log(1e8), 400.0), ["1 µs", "2 µs", "5 µs", "10 µs", "20 µs", "50 µs", "100 µs"]);
        assert_eq!(texts(log(1e8), 190.0), ["1 µs", "10 µs", "100 µs"]);
        assert_eq!(texts(Axis::exactly(100.0), 200.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(texts(Axis::exactly(100.0), 80.0), ["0", "40", "80"]);
    }

    #[test]
    fn linear_marks_are_round() {
        let axis = Axis::from_zero(10.7);
        assert_eq!(axis.high, 12.5);
        assert_eq!(texts(axis), ["0.0", "2.5", "5.0", "7.5", "10.0", "12.5"]);
        assert_eq!(texts(Axis::from_zero(38.0)), ["0", "10", "20", "30", "40"]);
        assert_eq!(texts(Axis::exactly(1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(Axis::from_zero(0.0)).first().map(String::as_str), Some("0.00"));
    }

    #[test]
    fn logarithmic_marks_carry_units() {
        assert_eq!(
            texts(Axis::log_times(450_000.0, 8_000_000.0)),
            ["200 ns", "500 ns", "1 µs", "2 µs", "5 µs", "10 µs"]
        );
        assert_eq!(texts(Axis::log_times(3e5, 4e9)), ["1 µs", "10 µs", "100 µs", "1 ms"]);
        let one = Axis::log_times(1e6, 1e6);
        assert!(one.low < 1e6 && one.high > 1e6 && texts(one).len() >= 3);
    }

    /// Values within a factor of two get an axis of their own size, or all would be one step.
    #[test]
    fn close_times_have_a_linear_axis() {
        let axis = Axis::times(989_000.0, 1_051_000.0);
        assert!(!axis.log && axis.scale_word().is_empty());
        assert_eq!(texts(axis), ["980 ns", "1000 ns", "1020 ns", "1040 ns", "1060 ns"]);
        assert_eq!(texts(Axis::times(2e6, 3.9e6)), ["2.0 µs", "2.5 µs", "3.0 µs", "3.5 µs", "4.0 µs"]);
        assert!(Axis::times(1e6, 2.1e6).log);
        let one = Axis::times(208.8e3, 208.8e3);
        assert!(!one.log && one.low < 208e3 && one.high > 210e3);
    }

    /// A line ends between words, and never within a number or between a name and its count.
    #[test]
    fn numbers_are_not_parted() {
        for (text, kept) in [
            ("few: b in shares-3-1 3 961 (a source)", "shares-3-1 3 961"),
            ("of 12 672", "12 672"),
            ("a phase of 3 us and 2 more", "2 more"),
        ] {
            let least = text_width(kept, SUBTITLE).ceil() as u32;
            for width in (least.max(110)..400).map(f64::from) {
                let shown = lines(text, width);
                assert!(shown.iter().any(|line| line.contains(kept)), "{width}: {shown:?}");
            }
        }
    }

    /// A marker where the line has come as far as the spacing asks for, on the next point of it; the next one
    /// after that again.
    #[test]
    fn markers_stand_on_points() {
        let line: Vec<(f64, f64)> = [0.0, 4.0, 11.0, 12.0, 45.0, 46.0, 51.0].map(|x| (x, 0.0)).into();
        // due at 5, 15 and, as 45 has passed 25 to 45 already, at 55
        assert_eq!(marked(&line, 10.0, 0.5), [2, 4]);
        assert_eq!(marked(&line, 10.0, 0.1), [1, 2, 4, 6]);
    }

    #[test]
    fn long_names_are_shortened() {
        let short = shorten("a rather long subtitle that goes on", SUBTITLE, 100.0);
        assert!(short.ends_with('…') && text_width(&short, SUBTITLE) <= 100.0);
        assert_eq!(shorten("short", SUBTITLE, 100.0), "short");
        // Both begin alike, and their ends tell them apart.
        let names = ["queue-for-each-output-with-16-entries", "queue-for-each-output-with-32-entries"];
        let [one, other] = names.map(|name| shorten_name(name, SUBTITLE, 150.0));
        assert!(one != other && one.starts_with("queue") && one.ends_with("entries"), "{one} {other}");
        assert!(text_width(&one, SUBTITLE) <= 150.0);
        assert_eq!((both_ends("abcdef", 3).as_str(), both_ends("abc", 3).as_str()), ("ab…f", "abc"));
    }

    #[test]
    fn long_subtitles_take_two_lines() {
        let width = text_width("a study of something · share of", SUBTITLE);
        assert_eq!(halves("a study · share", width), None);
        let parts = halves("a study of something · share of all of it", width);
        assert_eq!(parts, Some(("a study of something", "share of all of it")));
        let parts = halves("share of all the things that are sent and come", width);
        let (first, second) = parts.expect("it is longer");
        assert!(text_width(first, SUBTITLE) <= width && first.starts_with("share of all"), "{first}");
        assert_eq!(format!("{first} {second}"), "share of all the things that are sent and come");
    }

    #[test]
    fn longer_ones_take_more_and_lose_nothing() {
        let text = "a study of something · share of all of it · messages here are others · clock x 1000";
        let width = text_width("share of all of it · messages", SUBTITLE);
        let found = lines(text, width);
        assert_eq!(
            found,
            ["a study of something", "share of all of it", "messages here are others", "clock x 1000"]
        );
        let all = lines(text, 1.5 * width);
        assert!(
            all.len() <= LINES && all.iter().all(|line| text_width(line, SUBTITLE) <= 1.5 * width),
            "{all:?}"
        );
        assert_eq!(lines("short", width), ["short"]);
        // Three lines find room beside the title; a longer page is drawn further down.
        let page = |subtitle: &str| {
            let mut scene = Scene::new(PAGE as u32, 200);
            heading(&mut scene, "A title", subtitle);
            scene.text((MARGIN, 80.0), "what is below", LABEL, Align::Left);
            assert_eq!(scene.text_trouble(), None);
            scene
        };
        let sentence = "a sentence of about a third of a line, which is not short at all · ";
        let [plain, long] = [6, 20].map(|times| page(&sentence.repeat(times)));
        let is_longer = |scene: &Scene| !scene.to_svg().contains("height=\"200\"");
        assert!(!is_longer(&plain) && is_longer(&long));
    }

    /// A title stays on the page, all of it.
    #[test]
    fn long_titles_are_smaller() {
        let title = "Tails of the latency of frames of Scheduled Transfer, from protocol to protocol, not of \
                     Transfers";
        let mut scene = Scene::new(PAGE as u32, 200);
        heading(&mut scene, title, "short");
        assert!(text_width(title, TITLE) > PAGE - 2.0 * MARGIN);
        assert_eq!(scene.text_trouble(), None);
        assert!(scene.to_svg().contains(title));
    }

    #[test]
    fn legends_wrap() {
        let entries: Vec<(Key, String)> =
            (0..6).map(|index| (Key::Line(stroke(index)), format!("entry number {index}"))).collect();
        assert_eq!(legend_height(&entries, 2000.0), KEY_HEIGHT);
        let rows = legend_height(&entries, 400.0) / KEY_HEIGHT;
        assert_eq!(rows, 3.0);
    }

    /// A name that is wider than the legend has its beginning and its end there, and no more than its row.
    #[test]
    fn one_long_word_stays_within_the_legend() {
        let entry = (Key::Line(stroke(0)), format!("a{}z", "W".repeat(120)));
        let text = legend_text(&entry, 400.0);
        let right = entry.0.width() + text_width(&text, LABEL);
        assert!(right <= 400.0 && right > 380.0, "{right}");
        assert!(text.starts_with("aW") && text.contains('…') && text.ends_with("Wz"), "{text}");
        let mut scene = Scene::new(PAGE as u32, 100);
        legend(&mut scene, (MARGIN, 0.0), PAGE - 2.0 * MARGIN, &[entry]);
        assert_eq!(scene.text_trouble(), None);
    }
}
