//! Figures of a sweep: a metric against one axis as lines with 95 % bands, against two as a heat map, and
//! small multiples over a third.

use super::metrics::{Kind, METRICS};
use super::{Data, Frame, FrameAxis, Mean};
use crate::axes::{
    Axis, GREY, INK, Key, LABEL, MARGIN, PAGE, PANEL, Panel, TICK, Ticks, WHITE, foot, hatch, heading,
    legend, legend_height, shorten, shorten_name, stroke, with_unit,
};
use crate::num::{TimeUnit, three_digits, time_text};
use crate::scene::{Align, Scene, text_width};
use plotters::style::RGBColor;

/// Lines in a panel.
const LINES_SHOWN: usize = 10;
/// Panels on a page.
const PANELS_SHOWN: usize = 12;
/// Values on both axes beyond which lines become a heat map.
const HEAT_FROM: usize = 8;
/// Values that span more than this factor get a logarithmic axis.
const LOG_FROM: f64 = 30.0;
/// Bands are drawn down to this share of the least mean where the axis is logarithmic.
const BAND_BELOW: f64 = 0.1;

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Column: position in [`METRICS`].
    pub metric: usize,
    /// `overall` or a flow.
    pub scope: String,
    /// Horizontal axis.
    pub x: usize,
    /// Lines, or the vertical axis of a heat map.
    pub y: Option<usize>,
    /// Panels.
    pub panels: Option<usize>,
    /// A heat map.
    pub heat: bool,
    /// Logarithmic; `None` decides by the values.
    pub log: Option<bool>,
    /// Axes that stand still, with their level.
    pub fixed: Vec<(usize, u32)>,
}

/// A drawing in both formats.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// SVG text.
    pub svg: String,
    /// PNG file.
    pub png: Vec<u8>,
}

/// Names of axes that a figure may ask for.
#[derive(Copy, Clone, Debug, Default)]
pub struct Wishes<'a> {
    /// Horizontal axis.
    pub x: Option<&'a str>,
    /// Lines or vertical axis.
    pub y: Option<&'a str>,
    /// Panels.
    pub panels: Option<&'a str>,
    /// A heat map.
    pub heat: Option<bool>,
    /// Logarithmic values.
    pub log: Option<bool>,
}

impl Request {
    /// Fills in what is not asked for: the axis with the most numbers lies horizontally, the next one makes
    /// lines, the next one panels; further ones stand still at their first value. Of axes that move together
    /// one is enough: the others go along with it.
    ///
    /// # Errors
    /// If an axis does not exist or is asked for twice, be it by one that moves together with it.
    pub fn new(
        frame: &Frame,
        metric: usize,
        scope: &str,
        wishes: Wishes<'_>,
        mut fixed: Vec<(usize, u32)>,
    ) -> Result<Self, String> {
        let mut free: Vec<usize> = (0..frame.axes.len())
            .filter(|index| frame.axes[*index].labels.len() > 1 || frame.axes.len() == 1)
            .filter(|index| !fixed.iter().any(|(axis, _)| frame.together(*axis, *index)))
            .collect();
        let take = |name: &str, free: &mut Vec<usize>| -> Result<usize, String> {
            let index = frame.axes.iter().position(|axis| axis.name == name);
            let index = index.ok_or_else(|| {
                let names: Vec<&str> = frame.axes.iter().map(|axis| axis.name.as_str()).collect();
                format!("there is no axis \"{name}\"; there are: {}", names.join(", "))
            })?;
            match fixed.iter().find(|(axis, _)| frame.together(*axis, index)) {
                Some((axis, _)) if *axis == index => Err(format!("axis \"{name}\" is asked for twice")),
                Some((axis, _)) => {
                    let held = &frame.axes[*axis].name;
                    Err(format!("axis \"{name}\" stands still: it moves together with \"{held}\""))
                }
                None => {
                    free.retain(|other| !frame.together(index, *other));
                    Ok(index)
                }
            }
        };
        let x = wishes.x.map(|name| take(name, &mut free)).transpose()?;
        let y = wishes.y.map(|name| take(name, &mut free)).transpose()?;
        let panels = wishes.panels.map(|name| take(name, &mut free)).transpose()?;
        let asked: Vec<usize> = [x, y, panels].into_iter().flatten().collect();
        for (place, axis) in asked.iter().enumerate() {
            match asked[..place].iter().find(|other| frame.together(**other, *axis)) {
                Some(other) if other == axis => {
                    return Err("one axis cannot be two things in a figure".into());
                }
                Some(other) => {
                    let [first, second] = [other, axis].map(|axis| &frame.axes[*axis].name);
                    return Err(format!("axes \"{first}\" and \"{second}\" move together: one is enough"));
                }
                None => {}
            }
        }
        let most = |free: &[usize]| {
            let key = |index: &usize| {
                let axis = &frame.axes[*index];
                (axis.numbers.is_some(), axis.labels.len(), std::cmp::Reverse(*index))
            };
            free.iter().copied().max_by_key(key)
        };
        let x = match x.or_else(|| most(&free)) {
            Some(x) => x,
            None => return Err("the sweep has no axis to draw along".into()),
        };
        free.retain(|index| !frame.together(x, *index));
        // what is scattered has no lines
        let scattered = frame.axes[x].sampled;
        let mut next = |wish: Option<usize>| {
            let found = wish.or_else(|| free.iter().copied().find(|index| !frame.axes[*index].sampled));
            free.retain(|index| found.is_none_or(|found| !frame.together(found, *index)));
            found
        };
        let y = next(y);
        let panels = next(panels);
        fixed.extend(free.iter().filter(|index| !frame.axes[**index].sampled).map(|index| (*index, 0)));
        let heat = y.is_some_and(|y| !scattered && wishes.heat.unwrap_or(is_heat(frame, x, y)));
        Ok(Self { metric, scope: scope.into(), x, y, panels, heat, log: wishes.log, fixed })
    }

    /// Name for a file: `latency_mean_ns-by-load`. What looks otherwise than without a wish has another one.
    pub fn name(&self, frame: &Frame) -> String {
        let plain = |text: &str| text.replace(|c: char| !c.is_ascii_alphanumeric() && !"-.".contains(c), "_");
        let mut name = METRICS[self.metric].name.to_owned();
        if self.scope != super::OVERALL {
            // of what names of flows have, / alone is not for files; no other name has a +
            name += &format!("-{}", self.scope.replace('/', "+"));
        }
        name += &format!("-by-{}", frame.axes[self.x].name);
        for axis in [self.y, self.panels].into_iter().flatten() {
            name += &format!("-{}", frame.axes[axis].name);
        }
        if self.panels.is_some() && self.y.is_none() {
            name += "-panels";
        }
        let usual = self.y.is_some_and(|y| !frame.axes[self.x].sampled && is_heat(frame, self.x, y));
        if self.heat != usual {
            name += if self.heat { "-heat" } else { "-lines" };
        }
        match self.log {
            Some(true) => name += "-log",
            Some(false) => name += "-linear",
            None => {}
        }
        // figures at different values of an axis are different figures
        for (axis, level) in &self.fixed {
            let FrameAxis { name: axis, labels, .. } = &frame.axes[*axis];
            let (before, label) = (&labels[..*level as usize], plain(&labels[*level as usize]));
            let alike = before.iter().filter(|other| plain(other) == label).count();
            let number = if alike > 0 { format!("~{}", alike + 1) } else { String::new() };
            name += &format!("-{axis}-{label}{number}");
        }
        name
    }
}

/// Whether two axes have so many numbers that they make a map rather than lines.
fn is_heat(frame: &Frame, x: usize, y: usize) -> bool {
    [x, y].into_iter().all(|axis| {
        let axis = &frame.axes[axis];
        axis.numbers.is_some() && axis.labels.len() >= HEAT_FROM
    })
}

/// Draws a figure. `stamp`: what made it, for its foot; may be empty.
pub fn draw(frame: &Frame, data: &Data, request: &Request, stamp: &str) -> Drawing {
    let mut scene = scene(frame, data, request);
    foot(&mut scene, stamp);
    Drawing { svg: scene.to_svg(), png: scene.to_png() }
}

/// An estimate, and whether most of its runs were saturated.
#[derive(Copy, Clone, Debug)]
struct Cell {
    mean: Mean,
    saturated: bool,
}

/// The estimates of a figure: [panel][line][x], for lines and cells alike.
type Cells = Vec<Vec<Vec<Option<Cell>>>>;

fn cells(frame: &Frame, data: &Data, request: &Request) -> Cells {
    let length = |axis: Option<usize>| axis.map_or(1, |axis| frame.axes[axis].labels.len());
    let mut cells =
        vec![vec![vec![None; length(Some(request.x))]; length(request.y)]; length(request.panels)];
    // a time beyond saturation says how long the run was
    let marked = METRICS[request.metric].unit == "ns";
    let flag = super::metric("saturated").expect("a metric");
    for (index, point) in frame.points.iter().enumerate() {
        if request.fixed.iter().any(|(axis, level)| point.levels[*axis] != *level) {
            continue;
        }
        let at = |axis: Option<usize>| axis.map_or(0, |axis| point.levels[axis] as usize);
        let values = data.values(index as u32, &request.scope, request.metric);
        let values: Vec<f64> = values.into_iter().map(|value| value.1).collect();
        let flags = data.values(index as u32, &request.scope, flag);
        let saturated = 2 * flags.iter().filter(|flag| flag.1 != 0.0).count() > flags.len();
        let cell = METRICS[request.metric]
            .together(&values)
            .map(|mean| Cell { mean, saturated: marked && saturated });
        cells[at(request.panels)][at(request.y)][at(Some(request.x))] = cell;
    }
    // where everything is saturated (closed loops are), saying so tells nothing apart
    if cells.iter().flatten().flatten().flatten().all(|cell| cell.saturated) {
        cells.iter_mut().flatten().flatten().flatten().for_each(|cell| cell.saturated = false);
    }
    cells
}

/// How values become texts and places.
struct Scale {
    axis: Axis,
    /// Factor from the unit of the metric to that of the axis.
    factor: f64,
    unit: String,
    /// A band goes on below the axis.
    cut: bool,
}

impl Scale {
    fn new(cells: &Cells, request: &Request) -> Self {
        let metric = &METRICS[request.metric];
        let shown = cells.iter().take(PANELS_SHOWN).flat_map(|lines| {
            let lines_shown = if request.heat { lines.len() } else { LINES_SHOWN };
            lines.iter().take(lines_shown)
        });
        let means: Vec<&Mean> = shown.flatten().flatten().map(|cell| &cell.mean).collect();
        let top = |mean: &&Mean| mean.mean + if mean.half_width.is_finite() { mean.half_width } else { 0.0 };
        let high = means.iter().map(top).fold(0.0, f64::max);
        let bottom = |mean: &&Mean| 2.0 * mean.mean - top(mean);
        let low = means.iter().map(|mean| mean.mean).filter(|mean| *mean > 0.0).fold(f64::INFINITY, f64::min);
        let largest = means.iter().map(|mean| mean.mean).fold(0.0, f64::max);
        let positive = means.iter().all(|mean| mean.mean > 0.0) && !means.is_empty();
        let log = positive && request.log.unwrap_or(largest / low >= LOG_FROM);
        // lines need their zero, colours need their differences
        let smallest = means.iter().map(|mean| mean.mean).fold(f64::INFINITY, f64::min);
        let share = metric.unit.is_empty() && metric.kind == Kind::Real;
        let flag = metric.kind == Kind::Flag;
        let linear = |high: f64, factor: f64| {
            if request.heat && smallest < largest {
                // all colours are used
                let (low, high) = (smallest * factor, largest * factor);
                Axis { low, high, log: false, ticks: Ticks::Plain }
            } else if share && (0.8..1.03).contains(&high) || flag && high >= 0.8 {
                // no more than all, whatever a band reaches
                Axis::exactly(1.05)
            } else {
                Axis::from_zero(high)
            }
        };
        let ps = match metric.unit {
            "ns" => Some(1e3),
            "us" => Some(1e6),
            _ => None,
        };
        // Bands are shown whole, unless one reaches 0 or so: that has no place on a logarithmic axis, and
        // what lies below 0 has none on the other, because nothing that is measured does.
        let floor = low * BAND_BELOW;
        let (least, most, cut) = match log && !request.heat {
            true => {
                let ends = means.iter().map(bottom).filter(|end| *end >= floor);
                (ends.fold(low, f64::min), high, means.iter().map(bottom).any(|end| end < floor))
            }
            false => (low, largest, !request.heat && means.iter().map(bottom).any(|end| end < 0.0)),
        };
        match (ps, log) {
            (Some(ps), true) => Scale {
                axis: Axis::log_times(least * ps, most * ps),
                factor: ps,
                unit: "logarithmic".into(),
                cut,
            },
            (Some(ps), false) => {
                let unit = TimeUnit::for_max(high * ps);
                let factor = ps / unit.ps as f64;
                Scale { axis: linear(high * factor, factor), factor, unit: unit.symbol.into(), cut }
            }
            (None, true) => {
                let axis = Axis::log(least, most, Ticks::Plain);
                Scale { axis, factor: 1.0, unit: unit_and_scale(metric.unit, true), cut }
            }
            (None, false) => {
                let unit = if flag { "share" } else { metric.unit };
                Scale { axis: linear(high, 1.0), factor: 1.0, unit: unit.into(), cut }
            }
        }
    }

    /// A value on the axis, within it.
    fn place(&self, value: f64) -> f64 {
        (value * self.factor).clamp(self.axis.low, self.axis.high)
    }

    fn text(&self, value: f64) -> String {
        if self.axis.ticks == Ticks::Times { time_text(value) } else { three_digits(value) }
    }
}

/// A step of an axis and of those that move with it: `size 64, length 1`. Values that are words say what they
/// are by themselves, unless `all` are named.
fn step(frame: &Frame, axis: usize, level: usize, all: bool) -> String {
    let parts = frame.zipped(axis).map(|axis| {
        let axis = &frame.axes[axis];
        let label = &axis.labels[level];
        let named = all || axis.numbers.is_some();
        if named { format!("{} {label}", axis.name.replace('_', " ")) } else { label.replace('_', " ") }
    });
    parts.collect::<Vec<String>>().join(", ")
}

fn axis_label(axis: &FrameAxis, room: f64) -> String {
    with_unit(&axis.name.replace('_', " "), &axis.unit, room)
}

/// A unit, if there is one, and whether its axis is logarithmic.
fn unit_and_scale(unit: &str, log: bool) -> String {
    let parts = [unit, if log { "logarithmic" } else { "" }];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<&str>>().join(", ")
}

/// Places of the values of the horizontal axis, the axis, and what it is called in so much room.
fn horizontal(axis: &FrameAxis, room: f64) -> (Vec<f64>, Axis, String) {
    let Some(numbers) = &axis.numbers else {
        let count = axis.labels.len();
        let places = (0..count).map(|index| index as f64).collect();
        let span = Axis { low: -0.5, high: count as f64 - 0.5, log: false, ticks: Ticks::None };
        return (places, span, axis_label(axis, room));
    };
    let mut numbers = numbers.clone();
    let mut unit = axis.unit.as_str();
    if unit == "ns" {
        // Seconds in nanoseconds have too many zeros.
        let seen = TimeUnit::for_max(numbers.iter().copied().fold(0.0, f64::max) * 1e3);
        numbers.iter_mut().for_each(|number| *number *= 1e3 / seen.ps as f64);
        unit = seen.symbol;
    }
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // whoever asked for equal ratios gets to see them equal
    let steps: Vec<f64> = numbers.windows(2).map(|pair| pair[1] / pair[0]).collect();
    let equal = steps.len() > 1 && steps.iter().all(|step| libm::fabs(step / steps[0] - 1.0) < 0.35);
    let span = if low > 0.0 && high / low >= 10.0 && (equal || axis.sampled) {
        Axis { low: low * 0.93, high: high * 1.07, log: true, ticks: Ticks::Plain }
    } else if low >= 0.0 && low <= 0.4 * high {
        Axis { high: high * 1.02, ..Axis::exactly(high) }
    } else {
        let margin = if high > low { 0.04 * (high - low) } else { libm::fabs(high) * 0.1 + 0.5 };
        Axis { low: low - margin, high: high + margin, log: false, ticks: Ticks::Plain }
    };
    let said = unit_and_scale(unit, span.log);
    (numbers, span, with_unit(&axis.name.replace('_', " "), &said, room))
}

fn scene(frame: &Frame, data: &Data, request: &Request) -> Scene {
    let cells = cells(frame, data, request);
    let scale = Scale::new(&cells, request);
    let panels = cells.len().min(PANELS_SHOWN);
    let lines = cells[0].len();
    let y = request.y.map(|y| &frame.axes[y]);
    let keys: Vec<(Key, String)> = match request.y {
        Some(axis) if !request.heat => (0..lines.min(LINES_SHOWN))
            .map(|index| (Key::Line(stroke(index)), step(frame, axis, index, false)))
            .collect(),
        Some(_) => cell_keys(&cells[..panels]),
        None => Vec::new(),
    };
    let columns = match panels {
        1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let rows = panels.div_ceil(columns);
    let bar = if request.heat { 96.0 } else { 0.0 };
    let top = 70.0 + legend_height(&keys, PAGE - 2.0 * MARGIN);
    // room for what stands left of a panel
    let names = match (request.heat, y) {
        (true, Some(axis)) => axis.labels.iter().map(|label| text_width(label, TICK)).fold(0.0, f64::max),
        _ => scale.axis.marks().iter().map(|mark| text_width(&mark.1, TICK)).fold(0.0, f64::max),
    };
    let inset = names.min(150.0) + 34.0;
    let width = (PAGE - 2.0 * MARGIN - bar) / columns as f64 - inset - 10.0;
    let plot = if columns == 1 { 360.0 } else { (width * 0.8).min(230.0) };
    let pitch = plot + 88.0;
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 8.0) as u32);
    let words = METRICS[request.metric].words;
    let title = words[..1].to_uppercase() + &words[1..];
    heading(&mut scene, &title, &subtitle(frame, data, request, (&cells, &scale), lines));
    legend(&mut scene, (MARGIN, 70.0), PAGE - 2.0 * MARGIN, &keys);
    let x_axis = &frame.axes[request.x];
    let (places, span, x_label) = horizontal(x_axis, width);
    for (panel_index, lines) in cells.iter().take(panels).enumerate() {
        let panel = Panel {
            x: MARGIN + (panel_index % columns) as f64 * (width + inset + 10.0) + inset,
            y: top + (panel_index / columns) as f64 * pitch + 34.0,
            width,
            height: plot,
            horizontal: span,
            vertical: scale.axis,
        };
        let name = request.panels.map_or(String::new(), |axis| step(frame, axis, panel_index, true));
        let name = shorten_name(&name, PANEL, width);
        if request.heat {
            let rows = y.expect("a heat map has two axes");
            heat(&mut scene, &panel, &name, (x_axis, rows), lines, &scale);
        } else {
            let label =
                if panel_index % columns == 0 { with_unit(words, &scale.unit, plot) } else { String::new() };
            panel.draw(&mut scene, &name, &x_label, &label);
            if x_axis.numbers.is_none() {
                category_names(&mut scene, &panel, &x_axis.labels);
            }
            curves(&mut scene, &panel, &places, lines, &scale, x_axis.sampled);
        }
        if lines.iter().flatten().all(Option::is_none) {
            let middle = (panel.x + panel.width / 2.0, panel.y + panel.height / 2.0);
            scene.text(middle, "no run has a value here", TICK, Align::Center);
        }
    }
    if request.heat {
        colour_bar(&mut scene, top + 34.0, plot, &scale);
    }
    scene
}

/// What cells look like whose colour does not say it, of these panels.
fn cell_keys(panels: &[Vec<Vec<Option<Cell>>>]) -> Vec<(Key, String)> {
    let all = || panels.iter().flatten().flatten();
    let mut keys = Vec::new();
    if all().flatten().any(|cell| cell.saturated) {
        keys.push((Key::Cell(Some(colour(0.3))), "saturated".to_owned()));
    }
    if all().any(Option::is_none) && all().any(Option::is_some) {
        keys.push((Key::Cell(None), "no run has a value here".to_owned()));
    }
    keys
}

fn subtitle(
    frame: &Frame,
    data: &Data,
    request: &Request,
    (cells, scale): (&Cells, &Scale),
    lines: usize,
) -> String {
    let mut parts = vec![frame.title.clone()];
    if request.scope != super::OVERALL {
        parts.push(format!("flow {}", request.scope));
    }
    let mut told: Vec<usize> = Vec::new();
    for (axis, level) in &request.fixed {
        if !told.contains(axis) {
            parts.push(step(frame, *axis, *level as usize, true));
            told.extend(frame.zipped(*axis));
        }
    }
    // of lines and panels their names say it; a scale has the numbers of one axis
    for axis in [Some(request.x), request.y.filter(|_| request.heat)].into_iter().flatten() {
        for other in frame.zipped(axis).filter(|other| *other != axis) {
            parts.push(format!("{} moves with {}", frame.axes[other].name, frame.axes[axis].name));
        }
    }
    let all = || cells.iter().flatten().flatten().flatten();
    let counts = || all().map(|cell| cell.mean.count);
    let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let bands = if request.heat { "" } else { ", bands: 95 % intervals of the mean" };
    parts.push(match (least, most) {
        _ if data.runs.is_empty() => "no runs".into(),
        (_, 0) => "no run has a value".into(),
        (_, 1) => "one run each".into(),
        (least, most) if METRICS[request.metric].kind == Kind::Most && least == most => {
            format!("largest of {most} runs")
        }
        (least, most) if METRICS[request.metric].kind == Kind::Most => {
            format!("largest of {least} to {most} runs")
        }
        (least, most) if least == most => format!("mean of {most} runs{bands}"),
        (least, most) => format!("means of {least} to {most} runs{bands}"),
    });
    if !request.heat && all().any(|cell| cell.saturated) {
        parts.push("pale: saturated".into());
    }
    if scale.cut {
        parts.push(match scale.axis.log {
            true => "bands that reach 0 or so end at the axis".into(),
            false => "bands that reach below 0 end at the axis".into(),
        });
    }
    if request.log == Some(true) && !scale.axis.log && all().next().is_some() {
        parts.push("linear, as a logarithmic axis has no place for 0".into());
    }
    if !request.heat && lines > LINES_SHOWN {
        parts.push(format!("first {LINES_SHOWN} of {lines} lines"));
    }
    if cells.len() > PANELS_SHOWN {
        parts.push(format!("first {PANELS_SHOWN} of {} panels", cells.len()));
    }
    parts.join(" · ")
}

/// A paler colour: `share` of it on white.
fn pale(color: RGBColor, share: f64) -> RGBColor {
    let mix = |part: u8| (f64::from(part) * share + 255.0 * (1.0 - share)) as u8;
    RGBColor(mix(color.0), mix(color.1), mix(color.2))
}

/// Shares of the colour of a line that its band has, through which others are seen, and what is saturated.
const BAND: f64 = 0.25;
const SATURATED: f64 = 0.5;

fn curves(
    scene: &mut Scene,
    panel: &Panel,
    places: &[f64],
    lines: &[Vec<Option<Cell>>],
    scale: &Scale,
    sampled: bool,
) {
    let at = |x: f64, value: f64| panel.place((x, scale.place(value)));
    // runs of neighbours that all have a value
    let pieces = |line: &[Option<Cell>]| -> Vec<Vec<(f64, Cell)>> {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| places[*a].total_cmp(&places[*b]));
        let mut pieces = vec![Vec::new()];
        for index in order {
            match line[index] {
                Some(cell) => pieces.last_mut().expect("never empty").push((places[index], cell)),
                None => pieces.push(Vec::new()),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    };
    for (index, line) in lines.iter().take(LINES_SHOWN).enumerate() {
        let color = pale(stroke(index).color, BAND);
        for piece in pieces(line) {
            let known = piece.iter().map(|(x, cell)| (*x, cell.mean));
            let known: Vec<(f64, Mean)> = known.filter(|(_, mean)| mean.half_width.is_finite()).collect();
            if !sampled && known.len() > 1 && known.len() == piece.len() {
                let upper = known.iter().map(|(x, mean)| at(*x, mean.mean + mean.half_width));
                let lower = known.iter().rev().map(|(x, mean)| at(*x, mean.mean - mean.half_width));
                scene.veil(&upper.chain(lower).collect::<Vec<_>>(), stroke(index).color, BAND);
            } else {
                for (x, mean) in known {
                    let ends = [at(x, mean.mean - mean.half_width), at(x, mean.mean + mean.half_width)];
                    scene.line(&ends, color, 3);
                }
            }
        }
    }
    for (index, line) in lines.iter().take(LINES_SHOWN).enumerate() {
        let look = stroke(index);
        for piece in pieces(line) {
            let points: Vec<((f64, f64), bool)> =
                piece.iter().map(|(x, cell)| (at(*x, cell.mean.mean), cell.saturated)).collect();
            let color = |saturated: bool| if saturated { pale(look.color, SATURATED) } else { look.color };
            if !sampled {
                // stretches of one colour; the step into saturation has that of what is before it
                for stretch in stretches(&points) {
                    let saturated = stretch[0].1;
                    let places: Vec<(f64, f64)> = stretch.iter().map(|point| point.0).collect();
                    scene.dashed(&places, color(saturated), 2, look.dash);
                }
            }
            for (point, saturated) in points {
                if let Some(marker) = look.marker {
                    scene.marker(point, marker, color(saturated));
                }
            }
        }
    }
}

/// Neighbours of one kind, each with the first of the next kind, where its line ends.
fn stretches<P: Copy>(points: &[(P, bool)]) -> Vec<&[(P, bool)]> {
    let mut all = Vec::new();
    let mut from = 0;
    for same in points.chunk_by(|a, b| a.1 == b.1) {
        let to = from + same.len();
        all.push(&points[from..(to + 1).min(points.len())]);
        from = to;
    }
    all
}

/// Names below a panel, thinned until they do not touch.
fn category_names(scene: &mut Scene, panel: &Panel, labels: &[String]) {
    let step = panel.width / labels.len() as f64;
    let mut free_from = f64::NEG_INFINITY;
    for (index, label) in labels.iter().enumerate() {
        let x = panel.x + (index as f64 + 0.5) * step;
        let label = shorten_name(label, TICK, (step - 6.0).max(40.0));
        let half = text_width(&label, TICK) / 2.0;
        if x - half >= free_from {
            scene.text((x, panel.y + panel.height + 18.0), &label, TICK, Align::Center);
            free_from = x + half + 6.0;
        }
    }
}

fn heat(
    scene: &mut Scene,
    panel: &Panel,
    name: &str,
    (x_axis, y_axis): (&FrameAxis, &FrameAxis),
    lines: &[Vec<Option<Cell>>],
    scale: &Scale,
) {
    let (columns, rows) = (x_axis.labels.len(), y_axis.labels.len());
    let (width, height) = (panel.width / columns as f64, panel.height / rows as f64);
    for (row, line) in lines.iter().enumerate() {
        for (column, cell) in line.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let share = scale.axis.at(scale.place(cell.mean.mean));
            let x = panel.x + column as f64 * width;
            let y = panel.y + panel.height - (row + 1) as f64 * height;
            scene.rect(x, y, width + 0.3, height + 0.3, colour(share));
            if cell.saturated {
                // on light colours dark lines are seen
                hatch(scene, (x, y), (width, height), if share > 0.6 { INK } else { WHITE });
            }
        }
    }
    let bottom = panel.y + panel.height;
    scene.frame((panel.x, panel.y), (panel.width, panel.height), GREY);
    category_names(scene, panel, &x_axis.labels);
    let mut free_below = f64::INFINITY;
    let mut widest = 0.0f64;
    for (row, label) in y_axis.labels.iter().enumerate() {
        let y = bottom - (row as f64 + 0.5) * height + 4.2;
        if y <= free_below {
            let label = shorten_name(label, TICK, 150.0);
            scene.text((panel.x - 8.0, y), &label, TICK, Align::Right);
            widest = widest.max(text_width(&label, TICK));
            free_below = y - 16.0;
        }
    }
    if !name.is_empty() {
        scene.text((panel.x, panel.y - 9.0), name, PANEL, Align::Left);
    }
    let middle = (panel.x + panel.width / 2.0, bottom + 38.0);
    scene.text(middle, &axis_label(x_axis, panel.width), LABEL, Align::Center);
    let side = (panel.x - widest - 18.0, panel.y + panel.height / 2.0);
    scene.text_upwards(side, &axis_label(y_axis, panel.height), LABEL);
}

/// A sequence from dark blue to yellow that gets lighter all the way, so that it survives grey print (stops
/// of viridis by Smith and van der Walt, public domain).
fn colour(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 6] = [
        (68.0, 1.0, 84.0),
        (65.0, 68.0, 135.0),
        (42.0, 120.0, 142.0),
        (34.0, 168.0, 132.0),
        (122.0, 209.0, 81.0),
        (253.0, 231.0, 37.0),
    ];
    let at = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let index = (at as usize).min(STOPS.len() - 2);
    let part = at - index as f64;
    let mix = |a: f64, b: f64| (a + (b - a) * part) as u8;
    let (a, b) = (STOPS[index], STOPS[index + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

fn colour_bar(scene: &mut Scene, top: f64, height: f64, scale: &Scale) {
    const PIECES: u32 = 128;
    let x = PAGE - MARGIN - 84.0;
    for piece in 0..PIECES {
        let share = f64::from(piece) / f64::from(PIECES);
        let piece_height = height / f64::from(PIECES);
        let y = top + height * (1.0 - share) - piece_height;
        scene.rect(x, y, 14.0, piece_height + 0.3, colour(share));
    }
    let mut free_below = f64::INFINITY;
    for (value, text) in scale.axis.marks() {
        let y = top + height * (1.0 - scale.axis.at(value)) + 4.2;
        if !text.is_empty() && y <= free_below {
            let text = if scale.axis.ticks == Ticks::Times { scale.text(value) } else { text };
            scene.text((x + 20.0, y), &text, TICK, Align::Left);
            free_below = y - 16.0;
        }
    }
    // a unit and that it is logarithmic are wider than the bar together
    for (below, part) in [20.0, 36.0].into_iter().zip(scale.unit.split(", ")) {
        scene.text((x, top + height + below), &shorten(part, TICK, 84.0), TICK, Align::Left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::run;
    use crate::sweep::{FramePoint, OVERALL, metric};

    fn named(name: &str, labels: Vec<String>) -> FrameAxis {
        let column = name.into();
        FrameAxis { name: name.into(), column, unit: String::new(), sampled: false, labels, numbers: None }
    }

    fn numbers(name: &str, unit: &str, count: u32) -> FrameAxis {
        let numbers: Vec<f64> = (1..=count).map(|n| f64::from(n) / f64::from(count)).collect();
        let labels = numbers.iter().map(f64::to_string).collect();
        FrameAxis { numbers: Some(numbers), unit: unit.into(), ..named(name, labels) }
    }

    fn words_axis(name: &str, labels: &[&str]) -> FrameAxis {
        let labels = labels.iter().map(ToString::to_string).collect();
        named(name, labels)
    }

    /// Every combination, with values that grow over three decades.
    fn example(axes: Vec<FrameAxis>) -> (Frame, Data) {
        let all: usize = axes.iter().map(|axis| axis.labels.len()).product();
        let mut points = Vec::new();
        let mut data = Data::default();
        for index in 0..all {
            let mut rest = index;
            let mut levels = vec![0; axes.len()];
            for (slot, axis) in levels.iter_mut().zip(&axes).rev() {
                *slot = (rest % axis.labels.len()) as u32;
                rest /= axis.labels.len();
            }
            points.push(FramePoint { key: index.to_string(), levels });
            for replication in 1..=3u32 {
                let value = 100.0 * (1.0 + index as f64) * (1.0 + 0.1 * f64::from(replication));
                data.runs.insert((index as u32, replication), run(value));
            }
        }
        (Frame { name: "x".into(), title: "An example".into(), axes, points }, data)
    }

    /// The first two axes move together, the others are crossed.
    fn zipped(axes: Vec<FrameAxis>) -> (Frame, Data) {
        let (mut frame, mut data) = example(axes);
        let all: Vec<bool> = frame.points.iter().map(|point| point.levels[0] == point.levels[1]).collect();
        let mut is_there = all.iter();
        frame.points.retain(|_| *is_there.next().unwrap());
        let there: Vec<u32> = (0..all.len() as u32).filter(|point| all[*point as usize]).collect();
        let runs = std::mem::take(&mut data.runs).into_iter();
        data.runs = runs
            .filter_map(|((point, run), value)| {
                Some(((there.iter().position(|other| *other == point)? as u32, run), value))
            })
            .collect();
        (frame, data)
    }

    fn latency() -> usize {
        metric("latency_mean_ns").unwrap()
    }

    #[test]
    fn texts_stay_on_the_page_and_apart() {
        for axes in [
            vec![numbers("load", "", 20), words_axis("variant", &["fifo", "one queue", "ideal"])],
            vec![numbers("load", "", 12), numbers("pipeline", "ns", 12)],
            vec![numbers("a", "", 10), numbers("b", "", 9), words_axis("variant", &["x", "y", "z"])],
            vec![words_axis("variant", &["fifo", "one queue", "ideal"])],
            vec![numbers("load", "", 20), words_axis("kind", &["a", "b"]), numbers("k", "", 7)],
        ] {
            let (frame, data) = example(axes);
            for name in ["latency_mean_ns", "goodput_gbps", "accepted_load", "part_hol_blocking_ns"] {
                for log in [None, Some(false), Some(true)] {
                    let wishes = Wishes { log, ..Wishes::default() };
                    let index = metric(name).unwrap();
                    let request = Request::new(&frame, index, OVERALL, wishes, Vec::new()).unwrap();
                    assert_eq!(scene(&frame, &data, &request).text_trouble(), None, "{request:?}");
                }
            }
        }
    }

    /// A figure of axes of which two move together has a value everywhere: whichever of them makes panels,
    /// lines or the scale, the other goes along, and is named beside it.
    #[test]
    fn axes_that_move_together_are_one() {
        let (frame, data) =
            zipped(vec![numbers("size", "", 3), words_axis("how", &["a", "b", "c"]), numbers("load", "", 4)]);
        assert_eq!(frame.points.len(), 12);
        let ask = |x, y, panels| {
            let wishes = Wishes { x, y, panels, ..Wishes::default() };
            Request::new(&frame, latency(), OVERALL, wishes, Vec::new())
        };
        for (x, y, panels, shape) in [
            (None, None, None, (2, Some(0), None)),
            (None, Some("how"), None, (2, Some(1), None)),
            (None, None, Some("how"), (2, None, Some(1))),
            (Some("size"), None, None, (0, Some(2), None)),
            (Some("how"), None, Some("load"), (1, None, Some(2))),
        ] {
            let request = ask(x, y, panels).unwrap();
            assert_eq!(
                (request.x, request.y, request.panels, &request.fixed[..]),
                (shape.0, shape.1, shape.2, &[][..])
            );
            let cells = cells(&frame, &data, &request);
            let all: Vec<_> = cells.iter().flatten().flatten().collect();
            assert!(all.len() == 12 && all.iter().all(|cell| cell.is_some()), "{request:?}");
        }
        let second = &frame.axes[0].labels[1];
        let text = |request: &Request| draw(&frame, &data, request, "").svg;
        assert!(text(&ask(None, None, None).unwrap()).contains(&format!("size {second}, b")));
        assert!(text(&ask(None, None, Some("how")).unwrap()).contains(&format!("size {second}, how b")));
        assert!(text(&ask(Some("size"), None, None).unwrap()).contains("how moves with size"));
        assert!(ask(Some("size"), Some("how"), None).unwrap_err().contains("move together"));
        // one that stands still holds the other, and says so
        let wishes = Wishes::default();
        let request = Request::new(&frame, latency(), OVERALL, wishes, vec![(0, 1)]).unwrap();
        assert_eq!(
            (request.x, request.y, request.panels, &request.fixed[..]),
            (2, None, None, &[(0, 1)][..])
        );
        assert!(text(&request).contains(&format!("size {second}, how b")));
        let wishes = Wishes { panels: Some("how"), ..wishes };
        let refused = Request::new(&frame, latency(), OVERALL, wishes, vec![(0, 1)]).unwrap_err();
        assert!(refused.contains("moves together with \"size\""), "{refused}");
    }

    #[test]
    fn axes_are_chosen() {
        let (frame, _) = example(vec![
            words_axis("variant", &["fifo", "voq"]),
            numbers("load", "", 20),
            numbers("k", "", 4),
        ]);
        let request = Request::new(&frame, latency(), OVERALL, Wishes::default(), Vec::new()).unwrap();
        assert_eq!((request.x, request.y, request.panels, request.heat), (1, Some(0), Some(2), false));
        assert_eq!(request.name(&frame), "latency_mean_ns-by-load-variant-k");
        let wishes = Wishes { x: Some("k"), heat: Some(true), y: Some("load"), ..Wishes::default() };
        let request = Request::new(&frame, latency(), OVERALL, wishes, vec![(0, 1)]).unwrap();
        assert_eq!((request.x, request.y, request.panels, request.heat), (2, Some(1), None, true));
        let twice = Wishes { x: Some("k"), y: Some("k"), ..Wishes::default() };
        assert!(Request::new(&frame, latency(), OVERALL, twice, Vec::new()).is_err());
        let nothing = Wishes { x: Some("lode"), ..Wishes::default() };
        assert!(Request::new(&frame, latency(), OVERALL, nothing, Vec::new()).unwrap_err().contains("load"));
    }

    /// Figures of different flows, and at different values of an axis, have different files.
    #[test]
    fn no_two_figures_have_one_file() {
        let (frame, _) = example(vec![numbers("load", "", 3), words_axis("kind", &["a b", "a_b", "a/b"])]);
        let name = |scope: &str, fixed: Vec<(usize, u32)>| {
            Request::new(&frame, latency(), scope, Wishes::default(), fixed).unwrap().name(&frame)
        };
        assert_eq!(name("hot/a", Vec::new()), "latency_mean_ns-hot+a-by-load-kind");
        assert_eq!(name("hot_a", Vec::new()), "latency_mean_ns-hot_a-by-load-kind");
        let files = [0, 1, 2].map(|level| name(OVERALL, vec![(1, level)]));
        assert_eq!(files, ["a_b", "a_b~2", "a_b~3"].map(|end| format!("latency_mean_ns-by-load-kind-{end}")));
        // panels are no lines, and a map is none
        let named = |other: FrameAxis, of: u32, wishes: Wishes<'_>| {
            let (frame, _) = example(vec![numbers("load", "", of), other]);
            Request::new(&frame, latency(), OVERALL, wishes, Vec::new()).unwrap().name(&frame)
        };
        let heat = |heat| Wishes { x: Some("load"), y: Some("k"), heat, ..Wishes::default() };
        let plain = "latency_mean_ns-by-load-k";
        for (of, wish, end) in [
            (3, None, ""),
            (3, Some(false), ""),
            (3, Some(true), "-heat"),
            (10, None, ""),
            (10, Some(true), ""),
            (10, Some(false), "-lines"),
        ] {
            assert_eq!(named(numbers("k", "", 10), of, heat(wish)), format!("{plain}{end}"));
        }
        for (log, end) in [(None, ""), (Some(true), "-log"), (Some(false), "-linear")] {
            let wishes = Wishes { log, ..heat(None) };
            assert_eq!(named(numbers("k", "", 10), 3, wishes), format!("{plain}{end}"));
        }
        let panels = Wishes { panels: Some("k"), ..Wishes::default() };
        assert_eq!(named(words_axis("k", &["a", "b"]), 3, panels), format!("{plain}-panels"));
    }

    /// In a heat map what is saturated is hatched, and what no run has measured is white; a key says so, only
    /// where there are such cells. By hand: of 100 cells the last ten are saturated, and the first two have
    /// no value. A cell is w wide and h high with w + h > 14, so two lines and more cross it.
    #[test]
    fn cells_without_a_time_of_their_own_have_a_key() {
        let (frame, mut data) = example(vec![numbers("load", "", 10), numbers("k", "", 10)]);
        let flag = metric("saturated").unwrap();
        data.runs.values_mut().for_each(|run| run.rows[0].values[flag] = Some(0.0));
        let wishes = Wishes { heat: Some(true), ..Wishes::default() };
        let request = Request::new(&frame, latency(), OVERALL, wishes, Vec::new()).unwrap();
        let drawn = |data: &Data| {
            let scene = scene(&frame, data, &request);
            assert_eq!(scene.text_trouble(), None);
            scene.to_svg()
        };
        let (saturated, empty) = ("\nsaturated\n", "\nno run has a value here\n");
        let plain = drawn(&data);
        assert!(!plain.contains(saturated) && !plain.contains(empty), "{plain}");
        data.runs.retain(|(point, _), _| *point >= 2);
        let white = drawn(&data);
        assert!(!white.contains(saturated) && white.matches(empty).count() == 1, "{white}");
        for ((point, _), run) in &mut data.runs {
            run.rows[0].values[flag] = Some(f64::from(u8::from(*point >= 90)));
        }
        let hatched = drawn(&data);
        assert!(hatched.matches(saturated).count() == 1 && hatched.matches(empty).count() == 1, "{hatched}");
        let lines = |svg: &str| svg.matches("<polyline").count();
        assert!(lines(&hatched) >= lines(&white) + 20, "{} {}", lines(&hatched), lines(&white));
        // what is no time is as good as any other
        let request = Request { metric: metric("goodput_gbps").unwrap(), ..request };
        assert!(!draw(&frame, &data, &request, "").svg.contains(saturated));
    }

    /// A label that is longer than its axis would run over what stands above: its words are cut, as the title
    /// has them, and its unit stays. Who asks for a logarithmic axis hears why there is none.
    #[test]
    fn long_labels_and_zeros_have_their_place() {
        let axes = vec![numbers("load", "", 5), words_axis("k", &["a"]), words_axis("p", &["x", "y", "z"])];
        let (frame, mut data) = example(axes);
        let index = metric("hol_mean_number").unwrap();
        let wishes = Wishes { x: Some("load"), panels: Some("p"), log: Some(true), ..Wishes::default() };
        let request = Request::new(&frame, index, OVERALL, wishes, Vec::new()).unwrap();
        let (long, linear) = ("packets blocked at the head of a line (", "linear, as a logarithmic");
        let drawn = scene(&frame, &data, &request).to_svg();
        assert!(!drawn.contains(long) && !drawn.contains(linear), "{drawn}");
        assert!(drawn.contains("… (packets, logarithmic)"), "{drawn}");
        // the three runs of a point
        data.runs.values_mut().take(3).for_each(|run| run.rows[0].values[index] = Some(0.0));
        assert!(scene(&frame, &data, &request).to_svg().contains(linear));
        let request = Request { log: None, ..request };
        assert!(!scene(&frame, &data, &request).to_svg().contains(linear));
    }

    /// On a logarithmic axis bands were cut at ends that were those of the means: of 357.6 +- 236 the upper
    /// quarter. One that goes down to a twentieth of its mean ends at the axis, and that is said.
    #[test]
    fn bands_have_their_place_on_logarithmic_axes() {
        let (frame, data) = example(vec![numbers("load", "", 2)]);
        let request = Request::new(&frame, latency(), OVERALL, Wishes::default(), Vec::new()).unwrap();
        let of = |least: f64, half_width: f64| {
            let cell =
                |mean, half_width| Some(Cell { mean: Mean { mean, half_width, count: 4 }, saturated: false });
            let cells = vec![vec![vec![cell(least, half_width), cell(357.6, 236.0)]]];
            let scale = Scale::new(&cells, &request);
            let told = subtitle(&frame, &data, &request, (&cells, &scale), 1);
            (scale, told)
        };
        let drawn = |half_width: f64| {
            let (scale, told) = of(1.0, half_width);
            let Axis { low, high, log, .. } = scale.axis;
            (log && high >= 593.6e3, low <= 1e3 * (1.0 - half_width), told.contains("bands that reach 0"))
        };
        assert_eq!(drawn(0.2), (true, true, false));
        assert_eq!(drawn(0.8), (true, true, false));
        assert_eq!(drawn(0.95), (true, false, true));
        // A linear axis ends at 0.
        for (half_width, cut) in [(299.0, false), (301.0, true)] {
            let (scale, told) = of(300.0, half_width);
            assert!(!scale.axis.log && scale.axis.low == 0.0);
            assert_eq!(told.contains("bands that reach below 0 end at the axis"), cut, "{told}");
        }
    }

    /// Values of a factor each are drawn at equal distances, and the axis says why.
    #[test]
    fn a_horizontal_axis_says_that_it_is_logarithmic() {
        let axis = |numbers: &[f64], unit: &str| FrameAxis {
            numbers: Some(numbers.to_vec()),
            unit: unit.into(),
            ..named("the_time", numbers.iter().map(f64::to_string).collect())
        };
        let label = |numbers: &[f64], unit: &str| horizontal(&axis(numbers, unit), 800.0).2;
        assert_eq!(label(&[1.0, 10.0, 100.0], ""), "the time (logarithmic)");
        assert_eq!(label(&[1e3, 1e4, 1e5], "ns"), "the time (µs, logarithmic)");
        assert_eq!(label(&[1e3, 2e3, 3e3], "ns"), "the time (µs)");
        assert_eq!(label(&[1.0, 2.0, 3.0], ""), "the time");
    }

    /// Three lines have three bands, and each is seen through those that are drawn above it.
    #[test]
    fn bands_do_not_hide_each_other() {
        let (frame, data) = example(vec![numbers("load", "", 5), words_axis("k", &["a", "b", "c"])]);
        let request = Request::new(&frame, latency(), OVERALL, Wishes::default(), Vec::new()).unwrap();
        let svg = draw(&frame, &data, &request, "").svg;
        assert_eq!(svg.matches("<polygon opacity=\"0.25\"").count(), 3, "{svg}");
    }

    /// What is saturated is drawn paler and said so; nothing is where nothing else is.
    #[test]
    fn saturation_shows() {
        let (frame, mut data) = example(vec![numbers("load", "", 8)]);
        let flag = metric("saturated").unwrap();
        let mut told = |from: u32, name: &str| {
            for ((point, replication), run) in &mut data.runs {
                // one of three runs is not enough
                let saturated = *point >= from || *replication == 1;
                run.rows[0].values[flag] = Some(f64::from(u8::from(saturated)));
            }
            let request =
                Request::new(&frame, metric(name).unwrap(), OVERALL, Wishes::default(), Vec::new()).unwrap();
            let cells = cells(&frame, &data, &request);
            let pale = cells[0][0].iter().flatten().filter(|cell| cell.saturated).count();
            (pale, draw(&frame, &data, &request, "").svg.contains("pale: saturated"))
        };
        assert_eq!(told(5, "latency_mean_ns"), (3, true));
        assert_eq!(told(5, "goodput_gbps"), (0, false));
        assert_eq!(told(8, "latency_mean_ns"), (0, false));
        assert_eq!(told(0, "latency_mean_ns"), (0, false));
        let kinds = |flags: &[bool]| {
            let points: Vec<(usize, bool)> = flags.iter().copied().enumerate().collect();
            stretches(&points).iter().map(|stretch| (stretch[0].0, stretch.len())).collect::<Vec<_>>()
        };
        assert_eq!(kinds(&[false, false, true, true]), [(0, 3), (2, 2)]);
        assert_eq!(kinds(&[]), []);
    }

    #[test]
    fn the_same_bytes_each_time() {
        let (frame, data) = example(vec![numbers("load", "", 9), numbers("k", "", 9)]);
        let request = Request::new(&frame, latency(), OVERALL, Wishes::default(), Vec::new()).unwrap();
        assert!(request.heat);
        let made = || draw(&frame, &data, &request, "a sweep · seed 1 · riosim 0.1.0").svg;
        assert_eq!(made(), made());
        assert!(made().contains("a sweep · seed 1 · riosim 0.1.0"));
    }

    #[test]
    fn nothing_to_draw_is_a_page_all_the_same() {
        let (frame, _) = example(vec![numbers("load", "", 9)]);
        let request = Request::new(&frame, latency(), OVERALL, Wishes::default(), Vec::new()).unwrap();
        assert_eq!(scene(&frame, &Data::default(), &request).text_trouble(), None);
        let drawn = draw(&frame, &Data::default(), &request, "").svg;
        assert!(drawn.contains("no run has a value here"));
    }
}
