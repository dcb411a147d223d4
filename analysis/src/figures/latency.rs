//! Distributions of times, and their tails.

use super::steady::{self, Quantity};
use super::words::{
    LISTED, WORTH_MOST, contents, each, flows_left_out, listed, never_there, not_of, plural, still_under_way,
    unlike, unmeasured, worth_most,
};
use super::{Caption, Curve, LINES_SHOWN, ON_LINKS, ended, joined, subtitle, told, variant_keys};
use crate::axes::{
    Axis, LABEL, MARGIN, PAGE, PANEL, Panel, Stroke, TICK, Ticks, coinciding, heading, legend, legend_height,
    shorten, shorten_name, stroke,
};
use crate::collect::Spread;
use crate::level::{Level, MESSAGES, PACKETS, TRIPS, come_share};
use crate::report::{FlowReport, VariantReport};
use crate::scene::{Align, Scene, text_width};

/// How a distribution is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The share that takes at most so long: half of it is where the median is.
    Distribution,
    /// The share that takes longer, logarithmic: one in a thousand is as far from one in a hundred as that
    /// is from one in ten.
    Tail,
}

/// Tails of what users of the flows wait for.
pub(super) fn tails(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let level = [TRIPS, MESSAGES].into_iter().find(|level| level.is_in(reports)).unwrap_or(PACKETS);
    let what = plural(reports, level);
    let title = match level.noun {
        "packet" => format!("Tails of the latency of {what}, from creation to last bit"),
        "message" => format!("Tails of the latency of {what}, from protocol to protocol"),
        _ => format!("Tails of {what}, from request to response"),
    };
    latency_cdf(caption, reports, &title, Quantity::Latency(level), Shape::Tail)
}

pub(super) fn latency_cdf(
    caption: &Caption,
    reports: &[VariantReport],
    title: &str,
    quantity: Quantity,
    shape: Shape,
) -> Option<Scene> {
    let (level, of): (Level, fn(&FlowReport) -> &Spread) = match quantity {
        Quantity::Latency(level) => (level, |flow| &flow.spread.latency),
        _ => (ON_LINKS, |flow| &flow.spread.network),
    };
    if !level.is_in(reports) {
        return None;
    }
    let names = told(reports, level);
    let shown = &worth_most(reports, &names)[..];
    let has_line = |spread: &Spread| match shape {
        Shape::Distribution => !spread.histogram.is_empty(),
        Shape::Tail => spread.histogram.len() >= LEAST_OF_TAIL,
    };
    let few = if shape == Shape::Tail { too_few(reports, shown, level, &of) } else { String::new() };
    let is_drawn = |report: &VariantReport, name: &str| {
        report.flow(name).and_then(level.of).is_some_and(|flow| has_line(of(flow)))
    };
    if !few.is_empty() && !shown.iter().any(|name| reports.iter().any(|report| is_drawn(report, name))) {
        return None;
    }
    // Each flow has its own range: a victim's nanoseconds would vanish on the scale of a hot flow's
    // milliseconds.
    let range = |name: &str, width: f64| {
        let (mut low, mut high, mut step) = (f64::INFINITY, 0.0f64, 0.0f64);
        let spreads = reports.iter().filter_map(|report| report.flow(name).and_then(level.of)).map(&of);
        for spread in spreads.filter(|spread| !spread.histogram.is_empty()) {
            // One packet in ten thousand is not worth a decade of the axis.
            low = low.min(spread.quantile(0.0001).map_or(low, |ps| ps as f64));
            let last = if shape == Shape::Tail { 1.0 } else { 0.9999 };
            // all of the bucket, as it stands where it ends
            let end = |ps: u64| spread.histogram.highest_equivalent(ps) as f64;
            high = high.max(spread.quantile(last).map_or(high, end));
            step = step.max(bucket(spread, high));
        }
        // on an axis of few buckets two times that differ by less than one would be drawn apart
        let least = step * width / SEEN_WIDTH;
        let more = (least - (high - low)).max(0.0) / 2.0;
        if high <= 2.0 * low { Axis::times(low - more, high + more) } else { Axis::times(low, high) }
    };
    let vertical = match shape {
        Shape::Distribution => Axis::exactly(100.0),
        Shape::Tail => {
            // down to what the most that any of them has let see
            let spreads = reports.iter().flat_map(|report| &report.flows).filter_map(level.of).map(&of);
            let most = spreads.map(|spread| spread.histogram.len()).max().unwrap_or(0).max(LEAST_OF_TAIL);
            let low = libm::pow(10.0, libm::floor(libm::log10(100.0 * least_tail(most as f64))));
            Axis { low, high: 100.0, log: true, ticks: Ticks::Plain }
        }
    };
    let there: Vec<usize> =
        (0..reports.len()).filter(|variant| level.is_in(&reports[*variant..=*variant])).collect();
    let parts = there.len().div_ceil(LINES_SHOWN).max(1);
    let groups: Vec<&[usize]> = there.chunks(there.len().div_ceil(parts).max(1)).collect();
    let is_filled =
        |name: &str, group: &[usize]| group.iter().any(|variant| is_drawn(&reports[*variant], name));
    // A panel is named by the first and the last that has a line in it.
    let named = |name: &str, group: &[usize]| {
        let has = |variant: &&usize| is_filled(name, &[**variant]);
        let (first, last) = (group.iter().find(has), group.iter().rev().find(has));
        match (first, last) {
            (Some(first), Some(last)) if first != last => {
                format!("{} to {}", reports[*first].run.name, reports[*last].run.name)
            }
            (Some(only), _) => reports[*only].run.name.clone(),
            _ => String::new(),
        }
    };
    let every = || shown.iter().flat_map(|name| groups.iter().map(move |group| (*name, *group)));
    // Variants in which a flow is not, or nothing of it arrives, have no panel, unless all are so.
    let any = |name: &str| groups.iter().any(|group| is_filled(name, group));
    let kept: Vec<(&str, &[usize])> =
        every().filter(|(name, group)| is_filled(name, group) || !any(name) && group == &groups[0]).collect();
    let panels = || kept.iter().copied();
    let columns = if panels().count() > 1 { 2 } else { 1 };
    let rows = panels().count().max(1).div_ceil(columns);
    let keys = variant_keys(reports, level);
    let (gap, plot) = (74.0, if columns == 1 { 340.0 } else { 230.0 });
    // room for the label and the longest text of a tick, left of each panel
    let texts = vertical.marks().into_iter().map(|(_, text)| text_width(&text, TICK));
    let beside = texts.fold(0.0, f64::max) + 34.0;
    let (left, gap) = (MARGIN + beside.max(58.0), beside.max(gap));
    let width = (PAGE - MARGIN - left - gap * (columns - 1) as f64) / columns as f64;
    let panel_title = |(name, group): (&str, &[usize])| {
        let flow = format!("flow {name}");
        if group.len() < 2 || groups.len() < 2 {
            return shorten_name(&flow, PANEL, width);
        }
        let these = named(name, group);
        let whole = format!("{flow}, {these}");
        match text_width(&whole, PANEL) <= width {
            true => whole,
            false => format!("{}\n{}", shorten_name(&flow, PANEL, width), shorten(&these, PANEL, width)),
        }
    };
    let titles: Vec<String> = panels().map(panel_title).collect();
    // the second line of a title stands where the legend would end
    let high = if titles.iter().any(|title| title.contains('\n')) { 14.0 } else { 0.0 };
    let top = 66.0 + legend_height(&keys, PAGE - 2.0 * MARGIN) + high;
    let panel_at = |index: usize, y: f64| Panel {
        x: left + (index % columns) as f64 * (width + gap),
        y,
        width,
        height: plot,
        horizontal: range(kept[index].0, width),
        vertical,
    };
    let curves = |(name, group): (&str, &[usize]), panel: &Panel| -> Vec<(usize, Curve)> {
        let curve = |variant: &usize| {
            let report = &reports[*variant];
            let spread = report.flow(name).and_then(level.of).map(&of).filter(|spread| has_line(spread))?;
            let arrived = report.flow(name).map_or(1.0, |flow| come_share(report, flow, level));
            let points: Curve = match shape {
                Shape::Distribution => {
                    cdf(spread, panel).into_iter().map(|(ps, share)| (ps, share * arrived)).collect()
                }
                Shape::Tail => tail(spread, arrived, panel),
            };
            Some((*variant, points))
        };
        group.iter().filter_map(curve).collect()
    };
    // how high a panel stands does not matter to what is in it
    let drawn: Vec<Vec<(usize, Curve)>> =
        panels().enumerate().map(|(index, these)| curves(these, &panel_at(index, 0.0))).collect();
    // which lines lie on one another is said below their panel, in as many lines as it takes
    let hidden: Vec<Vec<String>> = drawn
        .iter()
        .enumerate()
        .map(|(index, curves)| {
            let panel = panel_at(index, 0.0);
            let place = |points: &Curve| points.iter().map(|point| panel.place(*point)).collect();
            let places: Vec<(usize, Curve)> =
                curves.iter().map(|(variant, points)| (*variant, place(points))).collect();
            hidden(reports, &places, width)
        })
        .collect();
    let below = hidden.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1);
    let pitch = plot + 92.0 + NOTE_PITCH * below as f64;
    let mut scene = Scene::new(PAGE as u32, (top + rows as f64 * pitch + 8.0) as u32);
    let note = flows_left_out(shown.len(), names.len(), WORTH_MOST);
    let flows = shown.iter().flat_map(|name| reports.iter().filter_map(|one| Some((one, one.flow(name)?))));
    let short = flows.into_iter().any(|(report, flow)| come_share(report, flow, level) < 1.0);
    let (short, share) = match shape {
        Shape::Distribution => (
            if short {
                "what never arrives, or falls behind to the end of a run, is missing to 100 %"
            } else {
                ""
            },
            format!("share of {} within a time", ended(reports, level)),
        ),
        Shape::Tail => (
            if short {
                "what never arrives, or falls behind to the end of a run, takes longer than any time"
            } else {
                ""
            },
            format!(
                "share of {} that take longer than a time, logarithmic, down to where fewer than four \
                 are left",
                plural(reports, level)
            ),
        ),
    };
    let (contents, unlike) = (contents(reports, shown, level), unlike(reports, shown, level));
    let unsteady = steady::times(reports, shown, quantity);
    let waiting = still_under_way(reports, shown, level);
    let unmeasured = unmeasured(reports, shown, level);
    let lost = never_there(reports, shown, level);
    let parts = [&share, &contents, short, &few, &lost, &waiting, &unlike, &unsteady, &unmeasured, &note];
    let more = joined(&parts);
    heading(&mut scene, &format!("{title}{}", not_of(reports, level)), &subtitle(caption, &more));
    legend(&mut scene, (MARGIN, 66.0), PAGE - 2.0 * MARGIN, &keys);
    let what = plural(reports, level);
    // the title says of which protocol
    let short = what.split(" of ").next().unwrap_or(&what);
    let label = match shape {
        Shape::Distribution => format!("{short} (%)"),
        Shape::Tail => {
            // longer than the axis it would run over the legend
            let all = format!("{what} that take longer (%)");
            if text_width(&all, LABEL) <= plot { all } else { format!("{short} that take longer (%)") }
        }
    };
    for (index, (name, group)) in panels().enumerate() {
        let panel = panel_at(index, top + (index / columns) as f64 * pitch + 34.0);
        panel.draw(&mut scene, &titles[index], &format!("latency{}", panel.horizontal.scale_word()), &label);
        let mut filled = false;
        for &(variant, ref points) in &drawn[index] {
            let place = group.iter().position(|other| *other == variant).unwrap_or(0);
            filled |= points.len() > 1;
            let phase = 0.2 + place as f64 / group.len() as f64;
            // the tail at 100 % says nothing more, so it carries no markers
            let rise = &points[..points.len().saturating_sub(1)];
            panel.plot(&mut scene, rise, stroke(variant), phase);
            if let [.., a, b] = points[..] {
                let Stroke { color, dash, .. } = stroke(variant);
                scene.dashed(&[panel.place(a), panel.place(b)], color, 2, dash);
            }
        }
        for (line, text) in hidden[index].iter().enumerate() {
            let at = (panel.x, panel.y + panel.height + 52.0 + NOTE_PITCH * line as f64);
            scene.text(at, text, TICK, Align::Left);
        }
        if !filled {
            let middle = (panel.x + panel.width / 2.0, panel.y + panel.height / 2.0);
            let spreads = reports.iter().filter_map(|report| report.flow(name).and_then(level.of)).map(&of);
            let any = spreads.into_iter().any(|spread| !spread.histogram.is_empty());
            let none =
                if any { "too few for a tail".into() } else { format!("no {}", ended(reports, level)) };
            scene.text(middle, &none, TICK, Align::Center);
        }
    }
    Some(scene)
}

/// From line to line of what stands below a panel.
const NOTE_PITCH: f64 = 14.0;

/// Lines of text of this width that say which lines of a panel lie on one another: only the last of them is
/// seen. Empty if none do.
fn hidden(reports: &[VariantReport], lines: &[(usize, Curve)], width: f64) -> Vec<String> {
    let groups = coinciding(lines);
    if groups.is_empty() {
        return Vec::new();
    }
    let names = |group: &Vec<usize>| {
        let names: Vec<&str> = group.iter().map(|variant| reports[*variant].run.name.as_str()).collect();
        names.join(" = ")
    };
    let text = format!("one line: {}", groups.iter().map(names).collect::<Vec<String>>().join("; "));
    let mut texts: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match texts.last_mut() {
            Some(last) if text_width(&format!("{last} {word}"), TICK) <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => texts.push(word.to_owned()),
        }
    }
    texts.iter().map(|text| shorten(text, TICK, width)).collect()
}

/// What is less than this is not seen apart, page units.
const SEEN_WIDTH: f64 = 1.5;

/// Width of the bucket in which a time is counted, picoseconds.
pub(super) fn bucket(spread: &Spread, ps: f64) -> f64 {
    let ps = ps as u64;
    (spread.histogram.highest_equivalent(ps) - spread.histogram.lowest_equivalent(ps) + 1) as f64
}

/// Points of a cumulative distribution in percent, thinned to what can be seen. Every bucket stands where it
/// ends, also the last one, of which the maximum is known: else two flows that share it would differ.
pub(super) fn cdf(spread: &Spread, panel: &Panel) -> Vec<(f64, f64)> {
    let total = spread.histogram.len() as f64;
    let axis = panel.horizontal;
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut seen = 0u64;
    for bucket in spread.histogram.iter_recorded() {
        let before = 100.0 * seen as f64 / total;
        seen += bucket.count_since_last_iteration();
        let ps = bucket.value_iterated_to() as f64;
        let share = 100.0 * seen as f64 / total;
        if ps < axis.low {
            points = vec![(axis.low, share)];
            continue;
        }
        if ps > axis.high {
            points.push((axis.high, before));
            return points;
        }
        if points.is_empty() {
            points.push((ps, 0.0));
        }
        let last = points[points.len() - 1];
        let wide = panel.width * (axis.at(ps) - axis.at(last.0)) >= SEEN_WIDTH;
        if points.len() > 1 && !wide && share - last.1 < 0.8 && seen < spread.histogram.len() {
            continue;
        }
        // Between two values that occur there is none.
        if wide {
            points.push((ps, before));
        }
        points.push((ps, share));
    }
    // every packet has arrived from the maximum on
    if let Some(&(_, share)) = points.last() {
        points.push((axis.high, share));
    }
    points
}

/// The smallest share beyond a percentile that is told of so many values ([`quantile_samples`]): with fewer
/// beyond it, nothing in the data bounds it.
pub(super) fn least_tail(values: f64) -> f64 {
    1.0 - libm::pow(0.025, 1.0 / values)
}

/// Of fewer values there is no tail: a first step would be down to less than is told of so few.
pub(super) const LEAST_OF_TAIL: u64 = 10;

/// Flows with too few values for a tail: they have no line.
fn too_few(
    reports: &[VariantReport],
    shown: &[&str],
    level: Level,
    of: &impl Fn(&FlowReport) -> &Spread,
) -> String {
    let mut few: Vec<String> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name).and_then(level.of) else { continue };
        let values = of(flow).histogram.len();
        if (1..LEAST_OF_TAIL).contains(&values) {
            few.push(format!("{values} of {name} in {}", report.run.name));
        }
    }
    listed("too few for a tail", LISTED, few.into_iter())
}

/// Points of the share that takes longer than a time, percent, where `arrived` of all arrive: a step down at
/// each latency that occurs. Steps that nobody would see apart are one. It ends where too few are left, which
/// would make steps of chance.
pub(super) fn tail(spread: &Spread, arrived: f64, panel: &Panel) -> Vec<(f64, f64)> {
    let (across, up) = (panel.horizontal, panel.vertical);
    let total = spread.histogram.len();
    if total == 0 {
        return Vec::new();
    }
    let least = 100.0 * least_tail(total as f64 / arrived);
    let longer = |seen: u64| 100.0 * (1.0 - arrived * seen as f64 / total as f64);
    let mut points = vec![(across.low, 100.0)];
    let mut seen = 0;
    for bucket in spread.histogram.iter_recorded() {
        let before = longer(seen);
        seen += bucket.count_since_last_iteration();
        let ps = bucket.value_iterated_to() as f64;
        if longer(seen) < least {
            let at = ps.max(across.low);
            points.extend([(at, before), (at, least)]);
            return points;
        }
        if ps < across.low {
            points = vec![(across.low, longer(seen))];
            continue;
        }
        let last = points[points.len() - 1];
        let right = panel.width * (across.at(ps) - across.at(last.0));
        let down = panel.height * (up.at(last.1) - up.at(longer(seen)));
        if right < SEEN_WIDTH && down < SEEN_WIDTH && seen < total {
            continue;
        }
        if right >= SEEN_WIDTH {
            points.push((ps, before));
        }
        points.push((ps, longer(seen)));
    }
    // what never arrives is still to come
    points.push((across.high, longer(total)));
    points
}
