//! What goes on over time: rates and queues.

use super::words::{WORTH_MOST, flows_left_out, others_text, worth_most};
use super::{
    Caption, Curve, LEAST_POINTS, PACKETS_OF_MEAN, PANELS_SHOWN, POINTS, QUEUES_SHOWN, flow_names, joined,
    left_out, subtitle, with_protocols,
};
use crate::axes::{
    Axis, Key, MARGIN, PAGE, PANEL, Panel, SHADE, heading, legend, legend_height, shorten_name, stroke,
};
use crate::collect::Bin;
use crate::level::PACKETS;
use crate::num::{TimeUnit, counted_text, gbps, ratio, three_digits, time_text};
use crate::report::VariantReport;
use crate::scene::Scene;
use models::stats::TranslatorTotals;
use std::collections::BTreeSet;

/// A scale of time.
#[derive(Copy, Clone, Debug)]
pub(super) struct Scale {
    pub unit: TimeUnit,
    pub end_ps: u64,
    /// A mean is over at least so much time, picoseconds.
    pub least_ps: u64,
}

impl Scale {
    /// How many bins a point stands for. Variants of another length have bins of another width, and are
    /// averaged over the same time.
    pub fn group(&self, bin_ps: u64) -> usize {
        (self.end_ps / POINTS as u64).max(self.least_ps).div_ceil(bin_ps).max(1) as usize
    }

    /// Over how much time a point of this variant is a mean.
    pub fn grain(&self, report: &VariantReport) -> u64 {
        let bin_ps = report.run.collector.bin_ps();
        (bin_ps * self.group(bin_ps) as u64).min(report.window.to_ps.max(1))
    }
}

/// Values of `sum(bins)` in groups of time bins up to a time: (middle of the group in `unit`, value); of few
/// groups both ends of each, which are steps.
pub(super) fn over_time(
    report: &VariantReport,
    scale: Scale,
    value: impl Fn(std::ops::Range<usize>, u64) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let Scale { unit, end_ps, .. } = scale;
    let collector = &report.run.collector;
    let bins = (0..report.window.to_bin).take_while(|bin| collector.bin_start(*bin) < end_ps).count();
    let bin_ps = collector.bin_ps();
    let group = scale.group(bin_ps);
    let at = |bin: usize| collector.bin_start(bin).min(report.window.to_ps);
    let mut edges: Vec<usize> = (0..bins).step_by(group).chain([bins]).collect();
    // A run that ends does so with the end of a packet, which counts there: in less than a whole group at the
    // end that would be a spike, so what is left belongs to the group before it.
    if let [.., last, end] = edges[..]
        && edges.len() > 2
        && at(end) - at(last) < group as u64 * bin_ps
    {
        edges.remove(edges.len() - 2);
    }
    let means = edges.windows(2).filter_map(|edge| {
        let (start, end) = (at(edge[0]), at(edge[1]));
        if end <= start {
            return None;
        }
        Some((start, end, value(edge[0]..edge[1], end - start)?))
    });
    let means: Vec<(u64, u64, f64)> = means.collect();
    // A slope between few means would be drawn where nothing is known of it, and one alone would not be seen.
    if (means.len() as u64) < LEAST_POINTS {
        let step =
            |(start, end, value): (u64, u64, f64)| [start, end].map(|ps| (unit.scale(ps as f64), value));
        return means.into_iter().flat_map(step).collect();
    }
    means.into_iter().map(|(start, end, value)| (unit.scale((start + end) as f64 / 2.0), value)).collect()
}

/// What a panel shows over time.
pub(super) struct Course {
    /// What the vertical axis shows.
    pub label: &'static str,
    /// A line for each key, perhaps empty.
    pub lines: Vec<Vec<(f64, f64)>>,
}

impl Course {
    pub fn high(&self) -> f64 {
        self.lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max)
    }
}

/// One panel for each variant: all with the same axes, unless they are too different to be seen on them.
pub(super) fn panels_over_time(
    title: &str,
    subtitle: &str,
    reports: &[VariantReport],
    mut keys: Vec<(Key, String)>,
    courses: &[Course],
    scales: &Scales,
) -> Scene {
    if reports.iter().any(|report| report.window.from_ps > 0) {
        keys.push((Key::Box(SHADE), "warm-up, not measured".into()));
    }
    let keys = &keys[..];
    let count = courses.len().max(1);
    let top = 66.0 + legend_height(keys, PAGE - 2.0 * MARGIN);
    let plot = match count {
        1 => 320.0,
        2 => 210.0,
        _ => 160.0,
    };
    let pitch = plot + if scales.apart { 92.0 } else { 44.0 };
    // From top to bottom, then the second column.
    let columns = if count > 4 { 2 } else { 1 };
    let rows = count.div_ceil(columns);
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 54.0) as u32);
    // Whoever compares heights does not read captions first.
    let own = if scales.uneven { ", each variant on a vertical axis of its own" } else { "" };
    heading(&mut scene, &format!("{title}{own}"), subtitle);
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, keys);
    let high = courses.iter().map(Course::high).fold(0.0, f64::max);
    let (left, gap) = (MARGIN + 66.0, 74.0);
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    for (index, (report, course)) in reports.iter().zip(courses).enumerate() {
        let Scale { unit, end_ps, .. } = scales.of[index];
        let (row, column) = (index % rows, index / rows);
        let panel = Panel {
            x: left + column as f64 * (width + gap),
            y: top + row as f64 * pitch + 34.0,
            width,
            height: plot,
            horizontal: Axis::exactly(unit.scale(end_ps as f64)),
            vertical: Axis::from_zero(match scales.uneven {
                // of a queue that is as good as empty a tick is no number to read
                true if course.label == QUEUED => course.high().max(1.0),
                true => course.high(),
                false => high,
            }),
        };
        let cut = unit.scale(report.window.from_ps as f64);
        if cut > 0.0 {
            let (x, _) = panel.place((cut, 0.0));
            scene.rect(panel.x, panel.y, x - panel.x, panel.height, SHADE);
        }
        let last = scales.apart || row + 1 == rows || index + 1 == count;
        let x_label = if last { format!("simulated time ({})", unit.symbol) } else { String::new() };
        panel.draw(&mut scene, &shorten_name(&report.run.name, PANEL, width), &x_label, course.label);
        for (line, points) in course.lines.iter().enumerate() {
            let phase = 0.3 + line as f64 / (course.lines.len() as f64 + 0.5);
            panel.plot(&mut scene, points, stroke(line), phase);
        }
    }
    scene
}

/// Label of the axis of queues.
const QUEUED: &str = "packets";

/// So many times as long as the shortest, and the longest has to have a scale of its own: nothing could be
/// seen of the others.
const APART: u64 = 8;

/// So many times as high as the lowest, and the highest leaves nothing to see of the others on one axis.
const UNEVEN: f64 = 10.0;

/// Jumps below this share of what is highest are none to see.
const ROUGH: f64 = 0.01;
/// Larger ones have to be told of.
const CUT: f64 = 0.1;
/// For a subtitle.
const CUT_BURSTS: &str = "bursts that means cut look higher or lower than others";
/// By so much smaller jumps are not just those of means over a little more.
const CALMER: f64 = 3.0;

/// How far lines go up and down from point to point, as a share of what is highest: four of five jumps are
/// not larger. So the few at the beginning and the end of traffic do not count.
pub(super) fn roughness(lines: &[Curve]) -> f64 {
    let high = lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let of = |line: &Curve| {
        let mut jumps: Vec<f64> = line.windows(2).map(|pair| libm::fabs(pair[1].1 - pair[0].1)).collect();
        jumps.sort_by(f64::total_cmp);
        jumps.get(jumps.len() * 4 / 5).copied().unwrap_or(0.0)
    };
    if high > 0.0 { lines.iter().map(of).fold(0.0, f64::max) / high } else { 0.0 }
}

/// Scales of time.
pub(super) struct Scales {
    /// Of each variant.
    pub of: Vec<Scale>,
    /// Each has its own.
    pub apart: bool,
    /// Each has a vertical axis of its own.
    pub uneven: bool,
}

impl Scales {
    /// `least`: over how much time a mean should be at least; not more than a twelfth of the scale.
    pub fn new(
        reports: &[VariantReport],
        end: fn(&VariantReport) -> u64,
        least: fn(&VariantReport) -> u64,
    ) -> Self {
        let ends: Vec<u64> = reports.iter().map(end).collect();
        let longest = ends.iter().copied().max().unwrap_or(0);
        let apart = ends.iter().any(|end| end.saturating_mul(APART) < longest);
        let scale = |(report, end): (&VariantReport, &u64)| {
            let end_ps = if apart { *end } else { longest };
            let least_ps = least(report).min(end_ps / LEAST_POINTS);
            Scale { unit: TimeUnit::for_max(end_ps as f64), end_ps, least_ps }
        };
        Self { of: reports.iter().zip(&ends).map(scale).collect(), apart, uneven: false }
    }

    /// Where traffic comes in bursts, means over another time than theirs beat with them: they go up and down
    /// although nothing changes. If some time of up to four times as much has means that jump far less, it
    /// holds whole bursts, and takes the place of the one before. `lines`: what is drawn of a variant.
    pub fn fit_bursts(
        &mut self,
        reports: &[VariantReport],
        lines: &dyn Fn(&VariantReport, Scale) -> Vec<Curve>,
    ) {
        let all: Vec<usize> = (0..reports.len()).collect();
        let together: Vec<&[usize]> = if self.apart { all.chunks(1).collect() } else { vec![&all] };
        for variants in together {
            let Some(bin_ps) = variants.iter().map(|at| reports[*at].run.collector.bin_ps()).min() else {
                continue;
            };
            let rough = |least_ps: u64| {
                let of = |at: &usize| roughness(&lines(&reports[*at], Scale { least_ps, ..self.of[*at] }));
                variants.iter().map(of).fold(0.0, f64::max)
            };
            let end_ps = self.of[variants[0]].end_ps;
            let base = variants.iter().map(|at| self.of[*at].least_ps).fold(end_ps / POINTS as u64, u64::max);
            let before = rough(base);
            let times = (1..=3 * base / bin_ps).map(|bins| base + bins * bin_ps);
            let times = times.filter(|time| *time <= end_ps / LEAST_POINTS);
            let best = times.map(|time| (rough(time), time)).min_by(|a, b| a.0.total_cmp(&b.0));
            if let Some((after, time)) = best
                && before > ROUGH
                && after < before / CALMER
            {
                variants.iter().for_each(|at| self.of[*at].least_ps = time);
            }
        }
    }

    /// Whether what is drawn of some variant goes up and down with the time of its means: one of its own,
    /// which the others do not share, would hold whole bursts.
    pub fn beats(
        &self,
        reports: &[VariantReport],
        lines: &dyn Fn(&VariantReport, Scale) -> Vec<Curve>,
    ) -> bool {
        let mut own = Self { of: self.of.clone(), apart: true, uneven: self.uneven };
        own.fit_bursts(reports, lines);
        let rough = |(report, scale): (&VariantReport, &Scale)| roughness(&lines(report, *scale)) > CUT;
        let pairs = reports.iter().zip(&self.of).zip(&own.of);
        pairs
            .into_iter()
            .any(|((report, shared), own)| shared.least_ps != own.least_ps && rough((report, shared)))
    }

    /// Nothing can be seen of what is low on the axis of what is very much higher.
    pub fn level(&mut self, courses: &[Course]) {
        let high = courses.iter().map(Course::high).fold(0.0, f64::max);
        let is_flat = |course: &Course| course.high() > 0.0 && course.high() * UNEVEN < high;
        self.uneven |= courses.iter().any(is_flat);
    }

    /// For a subtitle.
    pub fn note(&self) -> &'static str {
        // the title speaks of vertical axes
        if self.apart { "each variant has a time axis of its own" } else { "" }
    }

    /// Over how much time [`over_time`] averages, for a subtitle: bursts that are shorter look lower than
    /// they are.
    pub fn grain(&self, reports: &[VariantReport]) -> String {
        let grains: BTreeSet<u64> =
            reports.iter().zip(&self.of).map(|(report, scale)| scale.grain(report)).collect();
        let text = |ps: &u64| time_text(*ps as f64);
        let last = "the last over the rest as well";
        match (grains.first(), grains.last()) {
            (Some(one), Some(other)) if one == other => format!("means over {}, {last}", text(one)),
            (Some(least), Some(most)) => format!("means over {} to {}, {last}", text(least), text(most)),
            _ => String::new(),
        }
    }
}

/// The end of what is measured; or of what arrives, if that is over long before.
pub(super) fn busy_end(report: &VariantReport) -> u64 {
    let (collector, end) = (&report.run.collector, report.window.to_ps);
    let last = |bins: &[Bin]| bins.iter().rposition(|bin| bin.payload > 0);
    let bin = collector.flows().iter().filter_map(|flow| last(&flow.bins)).max();
    let last = bin.map(|bin| collector.bin_start(bin + 1).min(end));
    last.filter(|last| *last < end / 4).unwrap_or(end)
}

/// Link time and payload of the longest packets of a variant: of the bin in which they are longest on
/// average.
pub(super) fn longest_packet(report: &VariantReport) -> (u64, u64) {
    let bins = report.run.collector.flows().iter().flat_map(|flow| &flow.bins);
    let bins = bins.filter(|bin| bin.packets > 0);
    bins.map(|bin| (bin.link_ps / bin.packets, bin.payload / bin.packets)).max().unwrap_or((0, 0))
}

/// What one of the longest packets more or less makes in a mean, where that is more than a hundredth of what
/// is drawn.
fn one_packet(panels: &[VariantReport], scales: &Scales, courses: &[Course]) -> String {
    let error = |((report, scale), course): ((&VariantReport, &Scale), &Course)| {
        let (octets, grain) = (longest_packet(report).1, scale.grain(report));
        let one = gbps(octets, grain);
        (one > 0.01 * course.high()).then_some((one, octets, grain, course.high()))
    };
    let errors = panels.iter().zip(&scales.of).zip(courses).filter_map(error);
    let Some((most, octets, grain, high)) =
        errors.reduce(|most, error| if error.0 > most.0 { error } else { most })
    else {
        return String::new();
    };
    let (unit, factor) = unit_of_rates(high);
    format!(
        "a packet counts where it ends: one of {} makes {} {unit} in a mean over {}",
        counted_text(octets, "octets"),
        three_digits(most * factor),
        time_text(grain as f64)
    )
}

/// Unit of rates up to `high` Gb/s, and how many of it a Gb/s is.
fn unit_of_rates(high: f64) -> (&'static str, f64) {
    match high {
        ..1e-4 if high > 0.0 => ("kb/s", 1e6),
        ..0.1 if high > 0.0 => ("Mb/s", 1e3),
        _ => ("Gb/s", 1.0),
    }
}

/// One unit for panels whose lines go up to these rates, Gb/s, or they would be read for each other: that of
/// the lowest, if the highest is no number of five digits in it, or else that of the highest. `None` where
/// the lowest would be less than a thousandth then: each has its own.
pub(super) fn unit_of_panels(highs: impl Iterator<Item = f64>) -> Option<(&'static str, f64)> {
    let busy: Vec<f64> = highs.filter(|high| *high > 0.0).collect();
    let (least, most) =
        (busy.iter().copied().fold(f64::INFINITY, f64::min), busy.iter().copied().fold(0.0, f64::max));
    let [low, high] = [least, most].map(unit_of_rates);
    match () {
        () if most * low.1 < 1e4 => Some(low),
        () if least * high.1 >= 1e-3 => Some(high),
        () => None,
    }
}

/// What arrives of these flows over time, Gb/s; of a flow that the variant does not have nothing.
pub(super) fn rates(report: &VariantReport, scale: Scale, flows: &[&str]) -> Vec<Curve> {
    let line = |name: &&str| {
        let Some(index) = report.number(name) else { return Vec::new() };
        let bins = &report.run.collector.flows()[index].bins;
        over_time(report, scale, |range, ps| Some(gbps(bins[range].iter().map(|bin| bin.payload).sum(), ps)))
    };
    flows.iter().map(line).collect()
}

/// Likewise of all other flows together, of which there are some.
fn rates_of_others(report: &VariantReport, scale: Scale, shown: &[&str]) -> Curve {
    let all = report.flows.iter().zip(report.run.collector.flows());
    let others: Vec<_> =
        all.filter(|(flow, _)| !shown.contains(&&*flow.name)).map(|(_, data)| data).collect();
    if others.is_empty() {
        return Vec::new();
    }
    over_time(report, scale, |range, ps| {
        let sum = others.iter().flat_map(|data| &data.bins[range.clone()]).map(|bin| bin.payload).sum();
        Some(gbps(sum, ps))
    })
}

/// What is added up in a line of throughput.
fn both_ways(reports: &[VariantReport]) -> &'static str {
    match with_protocols(reports).next().is_some() {
        true => {
            "payload of all packets delivered, also of those that say or repeat something; of a flow that a \
             protocol runs in both directions together, which may be more than a link carries in one"
        }
        false => "payload of all packets delivered",
    }
}

/// What is counted on several links, for a caption.
pub(super) fn twice(reports: &[VariantReport]) -> &'static str {
    let translated = |report: &VariantReport| {
        report.run.outcome.totals.of::<TranslatorTotals>().any(|totals| !totals.translators.is_empty())
    };
    match reports.iter().any(translated) {
        true => {
            "what a translator passes on is delivered once more, and counts on each link that it is sent on"
        }
        false => "",
    }
}

pub(super) fn throughput(caption: &Caption, reports: &[VariantReport]) -> Scene {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let names = flow_names(panels, PACKETS);
    let shown = &worth_most(panels, &names)[..];
    let mut scales = Scales::new(panels, busy_end, |report| longest_packet(report).0 * PACKETS_OF_MEAN);
    scales.fit_bursts(panels, &|report, scale| rates(report, scale, shown));
    // Flows that there is no room for are one line, or traffic would seem to end with those that are shown.
    let rest: Vec<&str> = names.iter().copied().filter(|name| !shown.contains(name)).collect();
    let others = rest.len();
    let drawn = |(report, scale): (&VariantReport, &Scale)| {
        let mut lines = rates(report, *scale, shown);
        lines.extend((others > 0).then(|| rates_of_others(report, *scale, shown)));
        lines
    };
    let lines: Vec<_> = panels.iter().zip(&scales.of).map(drawn).collect();
    let cut = lines.iter().any(|lines| roughness(lines) > CUT);
    let cut = if cut { CUT_BURSTS } else { "" };
    let mut courses: Vec<Course> =
        lines.into_iter().map(|lines| Course { label: "in packets (Gb/s)", lines }).collect();
    scales.level(&courses);
    let coarse = one_packet(panels, &scales, &courses);
    let unit = unit_of_panels(courses.iter().map(Course::high));
    for course in &mut courses {
        let (unit, factor) = unit.unwrap_or_else(|| unit_of_rates(course.high()));
        course.label = match unit {
            "kb/s" => "in packets (kb/s)",
            "Mb/s" => "in packets (Mb/s)",
            _ => "in packets (Gb/s)",
        };
        course.lines.iter_mut().flatten().for_each(|point| point.1 *= factor);
    }
    let keys: Vec<(Key, String)> = shown
        .iter()
        .enumerate()
        .map(|(index, name)| (Key::Line(stroke(index)), format!("flow {name}")))
        .chain((others > 0).then(|| (Key::Line(stroke(shown.len())), others_text(&rest))))
        .collect();
    let notes = joined(&[
        both_ways(panels),
        twice(panels),
        &coarse,
        cut,
        &scales.grain(panels),
        scales.note(),
        &flows_left_out(shown.len(), names.len(), WORTH_MOST),
        &left_out(panels.len(), reports.len(), "variants"),
    ]);
    let text = subtitle(caption, &notes);
    panels_over_time("Throughput over time", &text, panels, keys, &courses, &scales)
}

/// On average a queue that is drawn has so many packets at least, in thousandths of one: of less nothing
/// would be seen.
const LEAST_QUEUE: u64 = 10;

/// A queue of a variant: thousandths of a packet in it on average, its port, and whether it waits for the
/// output there (else in the input buffers).
type QueueMean = (u64, String, bool);

fn queue_text((_, name, waiting): &QueueMean) -> String {
    format!("{} {name}", if *waiting { "waiting for output" } else { "input buffers of" })
}

/// The queues of switches, the fullest first. Source queues are left out: above saturation they would flatten
/// everything else.
fn queue_means(report: &VariantReport) -> Vec<QueueMean> {
    let collector = &report.run.collector;
    let mut means = Vec::new();
    for ((device, port), series) in collector.ports().iter().filter(|_| collector.has_queues()) {
        if collector.is_endpoint(*device) || series.ps == 0 {
            continue;
        }
        let name = report.port_name(*device, *port);
        for (sum, waiting) in [(series.input, false), (series.waiting, true)] {
            means.push(((sum * 1_000 / u128::from(series.ps)) as u64, name.clone(), waiting));
        }
    }
    means.sort_by(fuller_first);
    means
}

pub(super) fn is_seen(queue: &&QueueMean) -> bool {
    queue.0 >= LEAST_QUEUE
}

fn fuller_first(a: &QueueMean, b: &QueueMean) -> std::cmp::Ordering {
    b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}

/// The queues that are drawn, the same in every panel: the fullest of each variant, then the second of each,
/// and so on, those of the fullest variant first. What is [`LEAST_QUEUE`] in its own variant is one of them,
/// however full those of others are: a panel may have an axis of its own.
pub(super) fn chosen(means: &[Vec<QueueMean>]) -> Vec<QueueMean> {
    let mut peaks: Vec<QueueMean> = Vec::new();
    for rank in 0..QUEUES_SHOWN {
        let mut round: Vec<&QueueMean> = means.iter().filter_map(|panel| panel.get(rank)).collect();
        round.retain(is_seen);
        round.sort_by(|a, b| fuller_first(a, b));
        for queue in round {
            if peaks.len() < QUEUES_SHOWN
                && !peaks.iter().any(|peak| (&peak.1, peak.2) == (&queue.1, queue.2))
            {
                peaks.push(queue.clone());
            }
        }
    }
    peaks
}

/// Names of the ports whose queues [`queues`] draws.
pub(crate) fn queues_drawn(reports: &[VariantReport]) -> BTreeSet<String> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let means: Vec<Vec<QueueMean>> = panels.iter().map(queue_means).collect();
    chosen(&means).into_iter().map(|queue| queue.1).collect()
}

/// `None` if the run took no samples, or no queue ever held anything to speak of.
pub(super) fn queues(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let panels = &reports[..reports.len().min(PANELS_SHOWN)];
    let means: Vec<Vec<QueueMean>> = panels.iter().map(queue_means).collect();
    let fullest = means.iter().flatten().map(|queue| queue.0).max().unwrap_or(0);
    // what is always empty tells nothing
    if fullest < LEAST_QUEUE {
        return None;
    }
    let all: BTreeSet<(&str, bool)> = means.iter().flatten().map(|queue| (&*queue.1, queue.2)).collect();
    let all = all.len();
    let peaks = chosen(&means);
    let missed = |panel: &[QueueMean]| {
        let own = panel.first().filter(is_seen)?;
        let shown = peaks.iter().any(|peak| (&peak.1, peak.2) == (&own.1, own.2));
        (!shown).then(|| queue_text(own))
    };
    let missed: Vec<String> = panels
        .iter()
        .zip(&means)
        .filter_map(|(report, panel)| Some(format!("{} of {}", missed(panel)?, report.run.name)))
        .collect();
    let missed = match &missed[..] {
        [] => String::new(),
        [only] => format!("not shown, though the fullest: {only}"),
        [first, rest @ ..] => format!("not shown, though the fullest: {first}, and {} more", rest.len()),
    };
    let lengths = |report: &VariantReport, scale: Scale| -> Vec<Curve> {
        let collector = &report.run.collector;
        let line = |(_, name, waiting): &QueueMean| {
            let mut ports = collector.ports().iter().map(|(port, _)| *port);
            let Some(port) = ports.find(|(device, port)| report.port_name(*device, *port) == *name) else {
                return Vec::new();
            };
            over_time(report, scale, |range, _| {
                let time: u64 = collector.samples()[range.clone()].iter().map(|bin| bin.ps).sum();
                let sum: u128 = range
                    .filter_map(|bin| collector.queue(port, bin))
                    .map(|(input, output)| u128::from(if *waiting { output } else { input }))
                    .sum();
                (time > 0).then(|| ratio(sum, time.into()))
            })
        };
        peaks.iter().map(line).collect()
    };
    let mut scales = Scales::new(panels, |report| report.window.to_ps, |_| 0);
    scales.fit_bursts(panels, &lengths);
    let cut = if scales.beats(panels, &lengths) { CUT_BURSTS } else { "" };
    let courses: Vec<Course> = panels
        .iter()
        .zip(&scales.of)
        .map(|(report, scale)| Course { label: QUEUED, lines: lengths(report, *scale) })
        .collect();
    scales.level(&courses);
    let keys: Vec<(Key, String)> = peaks
        .iter()
        .enumerate()
        .map(|(index, queue)| (Key::Line(stroke(index)), queue_text(queue)))
        .collect();
    let note = if all > peaks.len() && peaks.len() == 1 {
        "the fullest queue of switches on average".into()
    } else if all > peaks.len() {
        let of = if panels.len() > 1 {
            ": of each variant the fullest one, then the second of each, and so on"
        } else {
            ""
        };
        // of these some were not chosen, although they are the fullest of their variant
        let empty = means.iter().flat_map(|panel| panel.iter().take(peaks.len()));
        let empty = empty.into_iter().any(|queue| !is_seen(&queue));
        let least = LEAST_QUEUE as f64 / 1e3;
        let least = if empty { format!(", none of less than {least} packets") } else { String::new() };
        format!("the {} fullest queues of switches on average{of}{least}", peaks.len())
    } else {
        String::new()
    };
    let both = peaks.iter().any(|peak| peak.2) && peaks.iter().any(|peak| !peak.2);
    let twice = "a packet in an input buffer that waits for an output is in both lines";
    let twice = if both { twice } else { "" };
    let left_out = left_out(panels.len(), reports.len(), "variants");
    let grain = scales.grain(panels);
    let more = joined(&[&note, &missed, twice, cut, &grain, scales.note(), &left_out]);
    let text = subtitle(caption, &more);
    Some(panels_over_time("Queue occupancy over time", &text, panels, keys, &courses, &scales))
}
