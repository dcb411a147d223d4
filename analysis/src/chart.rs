//! Message sequence charts: what the nodes of a protocol say to each other, as SVG, PNG and text.
//!
//! Time runs down, one line for each thing that happens, so nothing lies on top of anything else; instants
//! stand at the left. The same module draws runs and paths of explorations.

mod conversation;

pub use conversation::Conversation;

use crate::axes::{GREY, INK, PAGE, WHITE, foot, heading};
use crate::num::{counted_text, time_text};
use crate::protocol;
use crate::report::VariantReport;
use crate::scene::{Align, Scene, Type, text_width};
use models::config::FabricConfig;
use models::probe::{Signal, SignalKind};
use plotters::style::RGBColor;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of a chart; what comes later is counted.
const LINES_SHOWN: usize = 120;

/// Lines that follow each other at once are as far apart as those with a second between them.
const NO_SCALE: &str = "time is not to scale: a line for each thing that happens, its instant at the left";

/// What happens in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A message leaves a node for another; its number names the arrow.
    Sent {
        /// Number of the message.
        message: usize,
        /// Column of the receiver.
        to: usize,
        /// What it says.
        words: String,
    },
    /// A message arrives.
    Arrived {
        /// Number of the message.
        message: usize,
    },
    /// A message is lost.
    Lost {
        /// Number of the message.
        message: usize,
    },
    /// Something happens at a node.
    Note(String),
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When, in the words of the left margin; may be empty.
    pub at: String,
    /// Column of the node.
    pub node: usize,
    /// What happens.
    pub what: What,
}

/// A message sequence chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// What it is about.
    pub title: String,
    /// More about that; may be empty.
    pub subtitle: String,
    /// What made it, for its foot: [`crate::figures::stamp`]; may be empty.
    pub stamp: String,
    /// Names of the columns.
    pub nodes: Vec<String>,
    /// What happens, from top to bottom.
    pub lines: Vec<Line>,
}

/// An arrow of a chart.
struct Arrow<'a> {
    from: usize,
    to: usize,
    begin: usize,
    /// Line in which it ends, and whether it arrives; none: it is still under way.
    end: Option<(usize, bool)>,
    words: &'a str,
}

const LINK: RGBColor = RGBColor(0, 114, 178);
const LOST: RGBColor = RGBColor(213, 94, 0);

/// Characters of an arrow that is only begun or only ended in a line, between nodes so far apart.
fn part(distance: usize, words: &str) -> usize {
    (distance / 2 + 4).max(words.chars().count() + 6).min(distance - 1)
}

/// How many messages begin in these lines, and how many notes they have.
fn told(lines: &[Line], messages: &str) -> String {
    let count = |is: fn(&What) -> bool| lines.iter().filter(|line| is(&line.what)).count() as u64;
    let begin = counted_text(count(|what| matches!(what, What::Sent { .. })), messages);
    match count(|what| matches!(what, What::Note(_))) {
        0 => begin,
        notes => format!("{begin} and {}", counted_text(notes, "notes")),
    }
}

impl Chart {
    /// The charts of the runs of a scenario whose flows are charted, with the names of the variants.
    /// `stamp` makes the foot of runs: each chart has its own, with its own seed.
    pub fn of_runs(
        scenario: &str,
        stamp: impl Fn(&[VariantReport]) -> String,
        reports: &[VariantReport],
    ) -> Vec<(String, Self)> {
        let charted = reports.iter().filter(|report| !report.run.collector.signals().is_empty());
        let alone = reports.len() == 1;
        let of = |report: &VariantReport| {
            let stamp = stamp(std::slice::from_ref(report));
            let chart = Self { stamp, ..Self::of_run(scenario, report, alone) };
            (report.run.name.clone(), chart)
        };
        charted.map(of).collect()
    }

    /// `alone`: the scenario has no other variants.
    fn of_run(scenario: &str, report: &VariantReport, alone: bool) -> Self {
        let nodes = protocol::all(|protocol| protocol.nodes(&report.run.outcome));
        let subtitle = if alone { "" } else { report.run.name.as_str() };
        let subtitle =
            if subtitle.is_empty() { NO_SCALE.into() } else { format!("{subtitle} · {NO_SCALE}") };
        let signals = report.run.collector.signals().iter().collect();
        Self::of_signals((scenario, &subtitle), &report.run.config, nodes.into_iter().collect(), signals)
    }

    /// What was told, with title and subtitle; `nodes` have columns even if they told nothing.
    fn of_signals(
        (title, subtitle): (&str, &str),
        config: &FabricConfig,
        mut nodes: BTreeSet<u32>,
        mut signals: Vec<&Signal>,
    ) -> Self {
        signals.sort_by_key(|signal| signal.at);
        let owners = &config.owners;
        // Whoever told something is a node, too.
        nodes.extend(signals.iter().map(|signal| signal.device));
        // In the order of ids.
        let mut columns: Vec<u32> = owners.iter().copied().filter(|owner| nodes.contains(owner)).collect();
        columns.dedup();
        let column = |device: u32| columns.iter().position(|known| *known == device).unwrap_or(0);
        let of_id = |id: u16| owners.get(usize::from(id)).map_or(0, |&device| column(device));
        let path = |device: &u32| config.devices[*device as usize].path.clone();
        let mut chart = Self {
            title: title.to_owned(),
            subtitle: subtitle.to_owned(),
            stamp: String::new(),
            nodes: columns.iter().map(path).collect(),
            lines: Vec::new(),
        };
        let mut messages = 0;
        let mut names: BTreeMap<(u32, u64), usize> = BTreeMap::new();
        // A delayed message begins when the protocol sent it.
        let mut lines: Vec<(u64, Line)> = Vec::new();
        for signal in signals {
            let node = column(signal.device);
            let mut add = |at: u64, what: What| {
                lines.push((at, Line { at: time_text(at as f64), node, what }));
            };
            match &signal.kind {
                SignalKind::Sent { token, to, since, words } => {
                    names.insert((signal.device, *token), messages);
                    add(since.0, What::Sent { message: messages, to: of_id(*to), words: words.clone() });
                    messages += 1;
                }
                SignalKind::Arrived { token, source } => {
                    if let Some(&message) = names.get(&(*source, *token)) {
                        add(signal.at.0, What::Arrived { message });
                    }
                }
                SignalKind::Lost { to, words } => {
                    add(signal.at.0, What::Sent { message: messages, to: of_id(*to), words: words.clone() });
                    add(signal.at.0, What::Lost { message: messages });
                    messages += 1;
                }
                SignalKind::Note { words } => add(signal.at.0, What::Note(words.clone())),
                SignalKind::Frame { .. } => {}
            }
        }
        lines.sort_by_key(|(at, _)| *at);
        chart.lines = lines.into_iter().map(|(_, line)| line).collect();
        chart
    }

    /// Lines that are shown, and those that are not.
    fn shown(&self) -> (&[Line], &[Line]) {
        self.lines.split_at(self.lines.len().min(LINES_SHOWN))
    }

    /// Messages that begin, and notes, in words.
    pub fn told(&self) -> String {
        told(&self.lines, "messages")
    }

    fn arrows(&self) -> BTreeMap<usize, Arrow<'_>> {
        let mut arrows = BTreeMap::new();
        for (at, line) in self.shown().0.iter().enumerate() {
            match &line.what {
                What::Sent { message, to, words } => {
                    arrows.insert(*message, Arrow { from: line.node, to: *to, begin: at, end: None, words });
                }
                What::Arrived { message } => {
                    if let Some(arrow) = arrows.get_mut(message) {
                        // A duplicate arrives twice: the first is the arrow, the second a line of text.
                        arrow.end.get_or_insert((at, true));
                    }
                }
                What::Lost { message } => {
                    if let Some(arrow) = arrows.get_mut(message) {
                        arrow.end.get_or_insert((at, false));
                    }
                }
                What::Note(_) => {}
            }
        }
        arrows
    }

    fn more(&self) -> Option<String> {
        let (_, more) = self.shown();
        // Ends of messages that are shown may be all that is left.
        let begins = |line: &Line| matches!(line.what, What::Sent { .. } | What::Note(_));
        more.iter().any(begins).then(|| format!("… and {}", told(more, "more messages")))
    }

    /// Text for a terminal: nodes side by side, an arrow where a message begins and one where it ends.
    pub fn to_text(&self) -> String {
        let (shown, _) = self.shown();
        let lengths = shown.iter().filter_map(|line| match &line.what {
            What::Sent { words, .. } => Some(words.chars().count()),
            _ => None,
        });
        // Room for the longest words with a space and a piece of the arrow on either side.
        let between = (lengths.max().unwrap_or(0) + 5).max(34);
        let margin = shown.iter().map(|line| line.at.chars().count()).max().unwrap_or(0) + 2;
        let columns = self.nodes.len();
        let width = margin + between * columns;
        let place = |column: usize| margin + between * column + 2;
        let mut out = String::new();
        let mut push = |row: Vec<char>| {
            out += row.into_iter().collect::<String>().trim_end();
            out.push('\n');
        };
        let write = |row: &mut Vec<char>, at: usize, text: &str| {
            for (k, letter) in text.chars().enumerate() {
                if at + k >= row.len() {
                    row.resize(at + k + 1, ' ');
                }
                row[at + k] = letter;
            }
        };
        let mut head = vec![' '; width];
        for (column, name) in self.nodes.iter().enumerate() {
            write(&mut head, place(column), name);
        }
        push(head);
        let arrows = self.arrows();
        let mut skip = false;
        for (at, line) in shown.iter().enumerate() {
            if std::mem::take(&mut skip) {
                continue;
            }
            let mut row = vec![' '; width];
            write(&mut row, 0, &line.at);
            (0..columns).for_each(|column| row[place(column)] = '|');
            let own = place(line.node);
            match &line.what {
                What::Note(words) => write(&mut row, own + 2, words),
                What::Sent { message, to, words } => {
                    let other = place(*to);
                    // Nothing happens in between: one arrow. Otherwise the line ends in the middle.
                    let end = arrows.get(message).and_then(|arrow| arrow.end);
                    let whole = end == Some((at + 1, true));
                    let lost = end == Some((at + 1, false));
                    skip = whole || lost;
                    let (low, high) = (own.min(other), own.max(other));
                    let length = if whole { high - low - 1 } else { part(high - low, words) };
                    let from = if other > own { own + 1 } else { own - length };
                    (from..from + length).for_each(|k| row[k] = '-');
                    let tip = if other > own { from + length - 1 } else { from };
                    row[tip] = match (whole, lost, other > own) {
                        (true, _, true) => '>',
                        (true, _, false) => '<',
                        (_, true, _) => 'x',
                        _ => '.',
                    };
                    let start = from + (length.saturating_sub(words.chars().count() + 2)) / 2;
                    write(&mut row, start, &format!(" {words} "));
                }
                What::Arrived { message } | What::Lost { message } => {
                    let Some(arrow) = arrows.get(message) else { continue };
                    let other = place(arrow.from);
                    let arrived = matches!(line.what, What::Arrived { .. });
                    let receiver = place(arrow.to);
                    let length = part(receiver.abs_diff(other), arrow.words);
                    let from = if other < receiver { receiver - length } else { receiver + 1 };
                    (from..from + length).for_each(|k| row[k] = '-');
                    let (first, tip) = (from, from + length - 1);
                    let mark = if arrived { if other < receiver { '>' } else { '<' } } else { 'x' };
                    if other < receiver {
                        (row[first], row[tip]) = ('.', mark);
                    } else {
                        (row[first], row[tip]) = (mark, '.');
                    }
                    let start = from + (length.saturating_sub(arrow.words.chars().count() + 2)) / 2;
                    write(&mut row, start, &format!(" {} ", arrow.words));
                }
            }
            push(row);
        }
        if let Some(more) = self.more() {
            out += &more;
            out.push('\n');
        }
        out
    }

    fn scene(&self) -> Scene {
        const LINE: f64 = 17.0;
        /// Instants.
        const LEFT: f64 = 80.0;
        /// Notes of the outer columns.
        const NOTES: f64 = 200.0;
        let (shown, _) = self.shown();
        let columns = self.nodes.len().max(1);
        let gaps = (columns - 1).max(1) as f64;
        let gap = ((PAGE - LEFT - 2.0 * NOTES) / gaps).max(330.0);
        let width = LEFT + 2.0 * NOTES + gap * gaps;
        let tall = 64.0 + 30.0 + LINE * (shown.len() + 2) as f64 + 20.0;
        let mut scene = Scene::new(width as u32, tall as u32);
        scene.rect(0.0, 0.0, width, tall, WHITE);
        let arrows = self.arrows();
        let key = |says: bool, words: &'static str| if says { words } else { "" };
        let lost = arrows.values().any(|arrow| matches!(arrow.end, Some((_, false))));
        let open = arrows.values().any(|arrow| arrow.end.is_none());
        let keys = [
            self.subtitle.as_str(),
            key(lost, "a cross: lost on its way"),
            key(open, "without a point: nobody was there to take it, or it came after what is shown"),
        ];
        let subtitle: Vec<&str> = keys.into_iter().filter(|part| !part.is_empty()).collect();
        let top = heading(&mut scene, &self.title, &subtitle.join(" \u{b7} ")) + 22.0;
        let small = Type { size: 11.0, bold: false, color: INK };
        let name = Type { size: 12.0, bold: true, color: INK };
        let faint = Type { size: 10.0, bold: false, color: GREY };
        let x = |column: usize| LEFT + NOTES + gap * column as f64;
        let y = |line: usize| top + 16.0 + LINE * line as f64;
        for (column, text) in self.nodes.iter().enumerate() {
            scene.text((x(column), top - 8.0), text, name, Align::Center);
            let end = y(shown.len());
            scene.line(&[(x(column), top), (x(column), end)], GREY, 1);
        }
        let mut before = "";
        for (at, line) in shown.iter().enumerate() {
            if line.at != before {
                scene.text((LEFT - 8.0, y(at) + 4.0), &line.at, faint, Align::Right);
                before = &line.at;
            }
            if let What::Note(words) = &line.what {
                scene.rect(x(line.node) - 3.0, y(at) - 3.0, 6.0, 6.0, INK);
                let (side, align) = if line.node == 0 { (-9.0, Align::Right) } else { (9.0, Align::Left) };
                scene.text((x(line.node) + side, y(at) + 4.0), words, faint, align);
            }
        }
        for arrow in arrows.values() {
            let (begin, from) = (y(arrow.begin), x(arrow.from));
            let (end, arrives) = match arrow.end {
                Some((line, arrives)) => (y(line), arrives),
                None => (y(shown.len()), false),
            };
            let whole = x(arrow.to) - from;
            let reach = if arrives { 1.0 } else { 0.55 };
            // The arrow of a message that arrives in the next line is nearly level.
            let tip = (from + reach * whole, if arrives { end } else { begin + 0.55 * LINE });
            let color = if arrives || arrow.end.is_none() { LINK } else { LOST };
            scene.line(&[(from, begin), tip], color, 1);
            let length = libm::hypot(tip.0 - from, tip.1 - begin).max(1.0);
            let (dx, dy) = ((tip.0 - from) / length, (tip.1 - begin) / length);
            if arrives {
                let back = (tip.0 - 9.0 * dx, tip.1 - 9.0 * dy);
                let side = (-3.5 * dy, 3.5 * dx);
                let corners = [tip, (back.0 + side.0, back.1 + side.1), (back.0 - side.0, back.1 - side.1)];
                scene.polygon(&corners, color);
            } else if arrow.end.is_some() {
                for (a, b) in [((-4.0, -4.0), (4.0, 4.0)), ((-4.0, 4.0), (4.0, -4.0))] {
                    scene.line(&[(tip.0 + a.0, tip.1 + a.1), (tip.0 + b.0, tip.1 + b.1)], LOST, 2);
                }
            }
        }
        // The words stand where the message begins, above its arrow, and no other goes through them.
        for arrow in arrows.values() {
            let whole = x(arrow.to) - x(arrow.from);
            let wide = text_width(arrow.words, small);
            let shift = (14.0 + wide / 2.0).min(libm::fabs(whole) / 2.0);
            let at = (x(arrow.from) + if whole < 0.0 { -shift } else { shift }, y(arrow.begin) - 3.0);
            let color = if matches!(arrow.end, Some((_, false))) { LOST } else { LINK };
            scene.rect(at.0 - wide / 2.0 - 2.0, at.1 - 9.0, wide + 4.0, 11.0, WHITE);
            scene.text(at, arrow.words, Type { color, ..small }, Align::Center);
        }
        if let Some(more) = self.more() {
            scene.text((x(0), y(shown.len() + 1)), &more, small, Align::Left);
        }
        foot(&mut scene, &self.stamp);
        scene
    }

    /// The chart as SVG.
    pub fn to_svg(&self) -> String {
        self.scene().to_svg()
    }

    /// The chart as PNG.
    pub fn to_png(&self) -> Vec<u8> {
        self.scene().to_png()
    }
}
