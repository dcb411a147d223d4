//! What congestion costs those who have nothing to do with it, and what freeing them costs the hot flows:
//! variants side by side.

use super::words::UNDER_WAY_SHARE;
use super::{Caption, PACKETS, joined, steady, subtitle};
use crate::axes::{
    Axis, GREY, INK, LABEL, MARGIN, PAGE, PANEL, Panel, TICK, heading, shorten, shorten_name, stroke,
};
use crate::books::Books;
use crate::estimate::quantile_samples;
use crate::num::{counted_text, ratio, three_digits, time_text};
use crate::report::{FlowReport, VariantReport};
use crate::require::users_time;
use crate::run::Role;
use crate::scene::{Align, Marker, Scene, Type, text_width};
use std::collections::BTreeSet;

/// Variants that are shown.
const VARIANTS: std::ops::RangeInclusive<usize> = 2..=30;
const BAR: f64 = 18.0;
const PITCH: f64 = 23.0;
/// More from variant to variant.
const BETWEEN: f64 = 7.0;
const GAP: f64 = 26.0;

/// From line to line of the label of a column.
const LABEL_PITCH: f64 = 15.0;

/// Room for the names of flows.
const FLOW_WIDTH: f64 = 150.0;

/// The title of a flow in so much room: of a long one the name is cut, and what the scenario declares it to
/// be stays.
pub(super) fn with_role(title: &str, width: f64) -> String {
    if text_width(title, TICK) <= width {
        return title.to_owned();
    }
    let (name, role) =
        title.rsplit_once(" (").map_or((title, String::new()), |(name, role)| (name, format!(" ({role}")));
    shorten_name(name, TICK, width - text_width(&role, TICK)) + &role
}

/// Variants whose share of survivors is named, the smallest first.
const SURVIVORS_LISTED: usize = 6;

/// A flow that stands still: its line is more than a tick.
const STILL: Type = Type { bold: true, color: INK, ..TICK };

/// What one column says of each row.
struct Column {
    heading: &'static str,
    label: &'static str,
    /// Not a number: the row has no such thing.
    values: Vec<f64>,
    /// What was asked for, where it is less than the axis.
    marks: Vec<Option<f64>>,
    axis: Axis,
    text: fn(f64) -> String,
}

/// A row: a variant, and one of the flows that are not hot.
struct Row<'a> {
    variant: usize,
    flow: &'a FlowReport,
    /// It begins its variant.
    first: bool,
}

/// Every flow that is not hot and asks for something, with the declared victims first. Each has a row of its
/// own: a mean of two would be that of neither, and those that the scenario calls nothing pay as well.
fn rows(reports: &[VariantReport]) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for (variant, report) in reports.iter().enumerate() {
        let mut flows: Vec<&FlowReport> = report
            .flows
            .iter()
            .filter(|flow| flow.role != Some(Role::Hot) && !flow.carries_nothing())
            .collect();
        flows.sort_by_key(|flow| flow.role != Some(Role::Victim));
        let row = |(n, flow)| Row { variant, flow, first: n == 0 };
        rows.extend(flows.into_iter().enumerate().map(row));
    }
    rows
}

fn of_role(report: &VariantReport, role: Role) -> impl Iterator<Item = &FlowReport> {
    report.flows.iter().filter(move |flow| flow.role == Some(role))
}

/// Whether some of them always have more to send: what such a flow offers is what the fabric lets in.
fn greedy(rows: &[Row<'_>]) -> bool {
    rows.iter().any(|row| row.flow.closed_loop)
}

/// Share of what a flow asks for that arrives, in percent. One that always has more to send asks for all of
/// its link, so with such flows it is the share of the link of a source.
fn accepted(flow: &FlowReport, greedy: bool) -> f64 {
    100.0 * flow.accepted_load.value / if greedy { 1.0 } else { flow.offered_load }
}

/// How far into the tail of the victims' latencies their number lets see.
struct Tail {
    heading: &'static str,
    label: &'static str,
    /// Quantile; `None`: the mean of those that arrived.
    quantile: Option<f64>,
    /// What lies beyond it.
    beyond: &'static str,
}

/// Percentiles are those of all that was asked for: what never comes takes longer than any time.
const TAILS: [Tail; 4] = [
    Tail {
        heading: "latency, 99.9 %",
        label: "99.9th percentile (logarithmic)",
        quantile: Some(0.999),
        beyond: "0.1 %",
    },
    Tail {
        heading: "latency, 99 %",
        label: "99th percentile (logarithmic)",
        quantile: Some(0.99),
        beyond: "1 %",
    },
    Tail { heading: "latency, median", label: "median (logarithmic)", quantile: Some(0.5), beyond: "half" },
    Tail {
        heading: "latency, mean",
        label: "mean of those that arrived (logarithmic)",
        quantile: None,
        beyond: "",
    },
];

/// A label in lines that have so much room: parted before it says what a mark is, or how its axis is.
fn label_lines(label: &str, room: f64) -> Vec<&str> {
    let part = || label.find("; ").map(|at| at + 1).or_else(|| label.find(" ("));
    match part().filter(|_| text_width(label, TICK) > room) {
        Some(at) => vec![&label[..at], label[at..].trim_start()],
        None => vec![label],
    }
}

impl Tail {
    /// What it is called.
    fn name(&self) -> &'static str {
        self.label.split(" (").next().unwrap_or(self.label)
    }

    /// Picoseconds; infinite if more than what is beyond the quantile never comes; `None` if too few arrived
    /// to know it.
    fn of(&self, report: &VariantReport, flow: &FlowReport) -> Option<f64> {
        let (time, came) = users_time(report, report.number(&flow.name)?, self.quantile);
        // what never comes is known to be longer, so it counts among the values as well
        let needed = self.quantile.map_or(0.0, |q| there(report, flow) * quantile_samples(q) as f64);
        Some(time).filter(|time| time.is_infinite() || *time > 0.0 && came as f64 >= needed)
    }
}

/// The first of them that all victims of all variants have, and that nobody's missing hides; else the median,
/// which hides least.
fn tail(reports: &[VariantReport], rows: &[Row<'_>]) -> Option<&'static Tail> {
    let of = |tail: &Tail| -> Option<Vec<f64>> {
        let victims = rows.iter().filter(|row| row.flow.role == Some(Role::Victim));
        victims.map(|row| tail.of(&reports[row.variant], row.flow)).collect()
    };
    let all_come = |tail: &&Tail| of(tail).is_some_and(|values| values.iter().all(|ps| ps.is_finite()));
    let percentile = |tail: &&Tail| tail.quantile.is_some();
    TAILS
        .iter()
        .filter(percentile)
        .find(all_come)
        .or_else(|| TAILS.iter().rfind(|tail| percentile(tail) && of(tail).is_some()))
        .or_else(|| TAILS.iter().find(|tail| of(tail).is_some()))
}

/// What victims asked for, and how much of it arrived: in the whole run, without what is merely on its way
/// at its end.
fn asked(report: &VariantReport, flow: &FlowReport) -> (u64, u64) {
    let Books { asked, arrived, never, .. } = flow.books;
    if report.leaves_behind(flow) { (asked, arrived) } else { (arrived + never, arrived) }
}

/// The share of it that arrived.
fn there(report: &VariantReport, flow: &FlowReport) -> f64 {
    let (asked, arrived) = asked(report, flow);
    if asked > 0 { ratio(arrived.into(), asked.into()) } else { 1.0 }
}

/// Where much of what victims asked for did not arrive, of all of them together and of the worst of several.
/// If more is asked for than arrives latencies grow with the run, so its length is told.
fn survivors(reports: &[VariantReport]) -> String {
    let share = |report: &VariantReport| {
        let of = |(all, came): (u64, u64), flow: &FlowReport| {
            let (asked, arrived) = asked(report, flow);
            (all + asked, came + arrived)
        };
        let (asked, arrived) = of_role(report, Role::Victim).fold((0, 0), of);
        if asked > 0 { ratio(arrived.into(), asked.into()) } else { 1.0 }
    };
    let mut few: Vec<(f64, &VariantReport)> = reports.iter().map(|report| (share(report), report)).collect();
    few.retain(|few| few.0 < 1.0 - UNDER_WAY_SHARE);
    few.sort_by(|a, b| a.0.total_cmp(&b.0));
    if few.is_empty() {
        return String::new();
    }
    let text = |(share, report): &(f64, &VariantReport)| {
        let each: Vec<f64> = of_role(report, Role::Victim).map(|flow| there(report, flow)).collect();
        let least = each.iter().copied().fold(1.0, f64::min);
        let worst = match each.len() > 1 && least < share - UNDER_WAY_SHARE {
            true => format!(" (of the worst victim {:.1} %)", 100.0 * least),
            false => String::new(),
        };
        format!("{:.1} % in {}{worst}", 100.0 * share, report.run.name)
    };
    let listed: Vec<String> = few.iter().take(SURVIVORS_LISTED).map(text).collect();
    let more = match few.len().saturating_sub(SURVIVORS_LISTED) {
        0 => String::new(),
        more => format!(" and more in {more} other variants"),
    };
    let behind = few.iter().filter(|few| of_role(few.1, Role::Victim).any(|flow| flow.falls_behind));
    let ends: BTreeSet<u64> = behind.map(|few| few.1.run.outcome.end.0).collect();
    let end = |ps: Option<&u64>| ps.map_or(String::new(), |ps| time_text(*ps as f64));
    let run = match ends.len() {
        0 => String::new(),
        1 => format!(", {} long,", end(ends.first())),
        _ => format!(", {} to {} long,", end(ends.first()), end(ends.last())),
    };
    format!("of what victims asked for in the whole run{run} arrived: {}{more}", listed.join(", "))
}

/// Payload of the hot flows, Gb/s: of Scheduled Transfer, octets compared at their destination.
fn hot(report: &VariantReport) -> f64 {
    let rate = |flow: &FlowReport| flow.goodput_gbps.value;
    of_role(report, Role::Hot).map(rate).sum()
}

/// What of each flow stands still while others go on: their rate and their latency may be the best of
/// all for it. In the measured part nothing of it arrives although something waits all of that time, or
/// the watchdog found it.
fn standing(report: &VariantReport) -> String {
    let of = |flow: &FlowReport| {
        let Books { under_way, unit, oldest_ps, .. } = flow.books;
        let waits = oldest_ps.is_some_and(|ps| ps >= report.window.ps());
        let stands = under_way > 0 && (waits && flow.delivered.packets == 0 || report.stands_still(flow));
        let oldest =
            oldest_ps.map_or(String::new(), |ps| format!(", the oldest for {}", time_text(ps as f64)));
        let count = counted_text(under_way, unit);
        stands.then(|| format!("{} stands still: {count} under way to the end{oldest}", flow.name))
    };
    report.flows.iter().filter_map(of).collect::<Vec<String>>().join("; ")
}

/// Sums over different flows are no comparison.
fn other_hot_flows(reports: &[VariantReport]) -> String {
    fn names(report: &VariantReport) -> Vec<&str> {
        of_role(report, Role::Hot).map(|flow| flow.name.as_str()).collect()
    }
    let Some(first) = reports.first().map(names) else { return String::new() };
    let others: Vec<&VariantReport> = reports.iter().filter(|report| names(report) != first).collect();
    let Some(other) = others.first().map(|report| names(report)) else { return String::new() };
    let variants: Vec<&str> = others.iter().map(|report| report.run.name.as_str()).collect();
    format!("hot flows: {} in {}, elsewhere {}", other.join(" + "), variants.join(", "), first.join(" + "))
}

/// The figure, if some variants have victims that offer a load, and hot flows.
pub(super) fn victims(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let has = |report: &VariantReport, role| of_role(report, role).next().is_some();
    let both = |report: &VariantReport| has(report, Role::Victim) && has(report, Role::Hot);
    if !VARIANTS.contains(&reports.len()) || !reports.iter().all(both) {
        return None;
    }
    let mut rows = rows(reports);
    let greedy = greedy(&rows);
    let declared = |row: &&Row<'_>| row.flow.role == Some(Role::Victim);
    if !rows.iter().filter(declared).all(|row| accepted(row.flow, greedy).is_finite()) {
        return None;
    }
    let tail = tail(reports, &rows)?;
    let time = |row: &Row<'_>| tail.of(&reports[row.variant], row.flow).unwrap_or(0.0);
    // Who is done before anything is measured would have a row of nothing.
    rows.retain(|row| declared(&row) || accepted(row.flow, greedy).is_finite() || time(row) > 0.0);
    let rows = rows;
    let is_known = |value: &f64| *value > 0.0 && value.is_finite();
    let known = |values: &[f64]| values.iter().copied().filter(is_known).collect::<Vec<f64>>();
    let most = |values: &[f64]| known(values).into_iter().fold(0.0, f64::max);
    let tails: Vec<f64> = rows.iter().map(time).collect();
    let never = tails.iter().any(|time| time.is_infinite());
    let least = known(&tails).into_iter().fold(f64::INFINITY, f64::min);
    // the hot flows of a variant are one sum, which stands in its first row
    let rate = |row: &Row<'_>| if row.first { hot(&reports[row.variant]) } else { f64::NAN };
    let rates: Vec<f64> = rows.iter().map(rate).collect();
    let none = || vec![None; rows.len()];
    // Whoever gets all that it asks for must not look worse than one that asks for more.
    let asks = |row: &Row<'_>| (!row.flow.closed_loop).then_some(100.0 * row.flow.offered_load);
    let marks: Vec<Option<f64>> = if greedy { rows.iter().map(asks).collect() } else { none() };
    let columns = [
        Column {
            heading: "throughput",
            label: match greedy {
                true if marks.iter().any(Option::is_some) => "accepted (% of its link; line: asked for)",
                true => "accepted (% of its link)",
                false => "accepted (% of offered)",
            },
            values: rows.iter().map(|row| accepted(row.flow, greedy)).collect(),
            marks,
            axis: Axis::exactly(100.0),
            text: |value| format!("{value:.1} %"),
        },
        Column {
            heading: tail.heading,
            label: tail.label,
            axis: Axis::log_times(least, most(&tails)),
            values: tails,
            marks: none(),
            text: time_text,
        },
        Column {
            heading: "all hot flows",
            label: "payload rate (Gb/s)",
            axis: Axis::from_zero(most(&rates)),
            values: rates,
            marks: none(),
            text: three_digits,
        },
    ];
    let name = |row: &Row<'_>| {
        let variant = reports[row.variant].run.name.as_str();
        if row.first { (variant.to_owned(), row.flow.title()) } else { (String::new(), row.flow.title()) }
    };
    let names: Vec<(String, String)> = rows.iter().map(name).collect();
    let widest = |of: fn(&(String, String)) -> &str, look| {
        names.iter().map(|name| text_width(of(name), look)).fold(0.0, f64::max)
    };
    let variant_width = widest(|name| &name.0, LABEL).clamp(60.0, 150.0);
    let flow_width = widest(|name| &name.1, TICK).min(FLOW_WIDTH);
    let left = MARGIN + variant_width + 10.0 + flow_width + 10.0;
    let mut y = 102.0 + 6.0;
    let mut places = Vec::new();
    let mut still: Vec<(f64, String)> = Vec::new();
    for (n, row) in rows.iter().enumerate() {
        y += if n > 0 && row.first { BETWEEN } else { 0.0 };
        places.push(y);
        y += PITCH;
        let last = rows.get(n + 1).is_none_or(|next| next.first);
        let text = if last { standing(&reports[row.variant]) } else { String::new() };
        if !text.is_empty() {
            still.push((y, text));
            y += PITCH;
        }
    }
    let (top, height) = (102.0, y - 102.0);
    let width = (PAGE - MARGIN - left - 2.0 * GAP) / 3.0;
    // labels stand below the middles of their columns, which are this far apart
    let labels = columns.each_ref().map(|column| label_lines(column.label, width + GAP - 8.0));
    let below = LABEL_PITCH * labels.iter().map(|lines| lines.len() - 1).max().unwrap_or(0) as f64;
    let mut scene = Scene::new(PAGE as u32, (top + height + 60.0 + below) as u32);
    let declared = "victims and hot flows as the scenario declares them";
    let others = other_hot_flows(reports);
    let title = "What congestion costs the flows that are not hot";
    let (short, measured) = (survivors(reports), "throughput is that of the measured part");
    // of which part of the run each share is
    let measured = if short.is_empty() || greedy { "" } else { measured };
    let never = match (never, tail.quantile) {
        (true, Some(_)) => format!(
            "the {} is that of all that was asked for; never: {} or more of it never came",
            tail.name(),
            tail.beyond
        ),
        (false, Some(_)) if !short.is_empty() => "percentiles are those of all that was asked for".into(),
        _ => String::new(),
    };
    let mut shown: Vec<&str> = Vec::new();
    for row in &rows {
        if !shown.contains(&row.flow.name.as_str()) {
            shown.push(&row.flow.name);
        }
    }
    let rates = steady::rates(reports, &shown);
    let times = steady::times(reports, &shown, steady::Quantity::Latency(PACKETS));
    let more = joined(&[declared, &others, &short, measured, &never, &rates, &times]);
    heading(&mut scene, title, &subtitle(caption, &more));
    for (n, column) in columns.iter().enumerate() {
        // Room for the value behind the longest bar.
        let x = left + n as f64 * (width + GAP);
        let (horizontal, vertical) = (column.axis, Axis::exactly(1.0));
        let panel = Panel { x, y: top, width: width - 62.0, height, horizontal, vertical };
        panel.vertical_grid(&mut scene, true);
        scene.line(&[(x, top), (x, top + height)], GREY, 1);
        scene.text((x, top - 10.0), column.heading, PANEL, Align::Left);
        let middle = x + panel.width / 2.0;
        for (line, text) in labels[n].iter().enumerate() {
            let y = top + height + 38.0 + LABEL_PITCH * line as f64;
            scene.text((middle, y), text, TICK, Align::Center);
        }
        for (at, &value) in column.values.iter().enumerate() {
            let (y, look) = (places[at], stroke(rows[at].variant));
            if value.is_infinite() {
                scene.value((x + 6.0, y + BAR / 2.0 + 4.6), "never", TICK);
                continue;
            }
            if !value.is_finite() || column.axis.log && value <= 0.0 {
                continue;
            }
            let (mut end, _) = panel.place((value, 0.0));
            match column.axis.log {
                // a logarithmic axis has no zero where a bar could begin
                true => {
                    scene.marker_of((end, y + BAR / 2.0), Marker::Circle, look.color, 5.5);
                    end += 5.0;
                }
                false => scene.rect(x, y, (end - x).max(0.0), BAR, look.color),
            }
            let mark = column.marks[at].map(|mark| panel.place((mark, 0.0)).0);
            if let Some(mark) = mark {
                scene.line(&[(mark, y - 2.0), (mark, y + BAR + 2.0)], INK, 3);
            }
            let end = mark.map_or(end, |mark| end.max(mark));
            scene.value((end + 6.0, y + BAR / 2.0 + 4.6), &(column.text)(value), TICK);
        }
    }
    for (y, text) in &still {
        let at = (left, y + BAR / 2.0 + 4.6);
        scene.value(at, &shorten(text, STILL, PAGE - MARGIN - left), STILL);
    }
    for (name, y) in names.iter().zip(&places) {
        let y = y + BAR / 2.0 + 4.6;
        scene.text((MARGIN, y), &shorten_name(&name.0, LABEL, variant_width), LABEL, Align::Left);
        scene.text((left - 10.0, y), &with_role(&name.1, flow_width), TICK, Align::Right);
    }
    Some(scene)
}
