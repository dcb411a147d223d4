//! The result of a run as text for a terminal.

use crate::books::Books;
use crate::num::{Num, change_text, count_text, ratio, three_digits, time_text};
use crate::report::{FlowReport, LatencyReport, Role, VariantReport, baselines, efficiency, retry_share};
use crate::summary::{HostSummary, VariantSummary};
use models::probe::{Cause, ProtocolFact};
use models::stats::LinkStats;
use std::fmt::Write;

/// Flows in a table; the rest is counted.
const FLOWS_LISTED: usize = 12;

/// Rows of cells with aligned columns: the first column to the left, all others to the right.
fn aligned(rows: &[Vec<String>], indent: &str) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = indent.to_string();
        for (column, cell) in row.iter().enumerate() {
            let fill = " ".repeat(widths[column] - cell.chars().count());
            line += &if column == 0 { format!("{cell}{fill}") } else { format!("   {fill}{cell}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

fn load_text(load: f64) -> String {
    format!("{:.1} %", 100.0 * load)
}

/// What became of what was asked for, and how fast: before the latencies of those that arrived.
fn books(flow: &FlowReport) -> Vec<String> {
    let Books { unit, asked, arrived, never, under_way, oldest_ps, .. } = flow.books;
    let known = asked > 0 && !unit.is_empty();
    let count = |count: u64| if known { count_text(count) } else { "-".into() };
    let packets = unit == "packets" || !known;
    vec![
        // "closed loop" says it as well
        if flow.saturated && !flow.closed_loop { format!("{} *", flow.title()) } else { flow.title() },
        if packets { count(asked) } else { format!("{} {unit}", count(asked)) },
        count(arrived),
        count(never),
        count(under_way),
        time_text(oldest_ps.filter(|_| under_way > 0).map_or(f64::NAN, |ps| ps as f64)),
        if flow.closed_loop { "closed loop".into() } else { load_text(flow.offered_load) },
        load_text(flow.accepted_load.value),
        format!("{} Gb/s", three_digits(flow.goodput_gbps.value)),
    ]
}

/// Times of packets, and of how many.
fn times(flow: &FlowReport) -> Vec<String> {
    let hol = format!("{} ({:.0} %)", time_text(flow.hol_ps.value), 100.0 * flow.share(Cause::HeadOfLine));
    vec![
        flow.title(),
        count_text(flow.delivered.packets),
        time_text(flow.network.mean.value),
        time_text(flow.network.p99.value),
        time_text(flow.latency.mean.value),
        time_text(flow.latency.p99.value),
        time_text(flow.latency.max),
        if flow.delivered.packets == 0 { "-".into() } else { hol },
    ]
}

/// What protocols made of a flow, if they run it.
fn protocol(flow: &FlowReport) -> Option<String> {
    let stats = flow.protocol.as_ref()?;
    let times = |what: &str, journeys: &FlowReport| {
        let LatencyReport { mean, p99, max, .. } = journeys.latency;
        format!(
            "{what} {}, mean {}, p99 {}, max {}",
            count_text(journeys.delivered.packets),
            time_text(mean.value),
            time_text(p99.value),
            time_text(max)
        )
    };
    let whole = match (&flow.round_trips, &flow.messages) {
        (Some(trips), _) => times("round trips", trips),
        (None, Some(messages)) => times("messages", messages),
        (None, None) => "nothing arrived in the measured time".into(),
    };
    let mut text =
        format!("{}: {whole}, {:.1} % of the link is payload", flow.name, 100.0 * efficiency(stats));
    let retries = retry_share(stats);
    if retries > 0.0 {
        text += &format!(", {:.1} % answered by RETRY", 100.0 * retries);
    }
    for (fact, what) in [
        (ProtocolFact::Discarded, "discarded"),
        (ProtocolFact::Abandoned, "given up by receivers"),
        (ProtocolFact::Failed, "failed"),
        (ProtocolFact::TimedOut, "timed out"),
    ] {
        let count = stats.facts[fact as usize];
        if count > 0 {
            text += &format!(", {} {what}", count_text(count));
        }
    }
    Some(text)
}

/// The fullest queue of a host.
fn hosts(hosts: &[HostSummary]) -> Option<String> {
    let fullest = hosts.iter().reduce(|a, b| if b.rx_queue_mean.0 > a.rx_queue_mean.0 { b } else { a })?;
    (fullest.rx_queue_mean.0 > 0.0).then(|| {
        let HostSummary { device, rx_queue_mean: Num(mean), rx_queue_max, .. } = fullest;
        format!("fullest host {device}: queue {} mean, {rx_queue_max} max", three_digits(*mean))
    })
}

/// What went wrong on links in symbol granularity, in the whole run.
fn links(report: &VariantReport) -> Option<String> {
    let links = &report.run.outcome.links;
    let mut total = LinkStats::default();
    links.iter().for_each(|(.., stats)| total.add(stats));
    if links.is_empty() || total == (LinkStats { packets: total.packets, ..LinkStats::default() }) {
        return None;
    }
    let damaged = total.damaged_packets + total.damaged_symbols + total.damaged_idle;
    let lost = match (total.lost_no_room, total.lost_on_link) {
        (0, 0) => String::new(),
        (room, link) => format!("; continuous traffic lost {room} without room, {link} by errors"),
    };
    Some(format!(
        "links: {damaged} damaged ({} packets, {} symbols, {} idle), {} packet-retry, {} recoveries, \
         {} timeouts, {} down; {} of {} packets repeated{lost}",
        total.damaged_packets,
        total.damaged_symbols,
        total.damaged_idle,
        total.retries,
        total.recoveries,
        total.timeouts,
        total.downs,
        total.repeated,
        total.packets,
    ))
}

/// The table of one variant.
pub fn variant(report: &VariantReport) -> String {
    let summary = VariantSummary::new(report);
    let window = &report.window;
    let mut out = String::new();
    let mut say = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes any text");
    let span = format!("{} to {}", time_text(window.from_ps as f64), time_text(window.to_ps as f64));
    say(format_args!("{}  (seed {}, measured {span}, warm-up {})", summary.name, summary.seed, window.rule));
    let flows = || {
        let all = [&report.overall].into_iter().filter(|_| report.flows.len() != 1);
        report.flows.iter().take(FLOWS_LISTED).chain(all)
    };
    let table = |titles: &[&str], cells: fn(&FlowReport) -> Vec<String>| {
        let titles = titles.iter().map(|title| (*title).to_string()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(titles).chain(flows().map(cells)).collect();
        aligned(&rows, "  ").trim_end().to_string()
    };
    let asked =
        ["flow", "asked", "arrived", "never", "under way", "oldest", "offered", "accepted", "goodput"];
    say(format_args!("{}", table(&asked, books)));
    let timed = ["times of", "packets", "net mean", "net p99", "mean", "p99", "max", "HOL blocked"];
    say(format_args!("{}", table(&timed, times)));
    if let Some(line) = links(report) {
        say(format_args!("  {line}"));
    }
    if report.flows.len() > FLOWS_LISTED {
        say(format_args!("  {} more flows are in summary.json", report.flows.len() - FLOWS_LISTED));
    }
    if report.flows.iter().chain([&report.overall]).any(|flow| flow.saturated && !flow.closed_loop) {
        let closed = report.flows.iter().any(|flow| flow.closed_loop);
        let or = if closed { ", or a source always has more to send" } else { "" };
        say(format_args!("  * saturated: less than 99 % of what is asked for completes{or}"));
    }
    if let Some(rate) = report.overall.per_slot {
        say(format_args!(
            "  per slot of the cell clock and source {:.4} \u{b1} {:.4} packets",
            rate.value, rate.half_width
        ));
    }
    for line in report.flows.iter().take(FLOWS_LISTED).filter_map(protocol) {
        say(format_args!("  {line}"));
    }
    if let Some(line) = hosts(&summary.hosts) {
        say(format_args!("  {line}"));
    }
    for lines in crate::linx::lines(report) {
        say(format_args!("{lines}"));
    }
    for lines in crate::transfer::lines(report) {
        say(format_args!("{lines}"));
    }
    for lines in crate::program::lines(report) {
        say(format_args!("{lines}"));
    }
    for lines in crate::session::lines(report) {
        say(format_args!("{lines}"));
    }
    let fabric = &summary.fabric;
    let active = report.active_ps();
    let over = (active != window.ps()).then(|| format!(", over all {}:", time_text(active as f64)));
    say(format_args!(
        "  links{} {:.1} % mean, {:.1} % max ({}), own symbols {:.2} %",
        over.unwrap_or_default(),
        100.0 * fabric.link_use_mean.0,
        100.0 * fabric.link_use_max.0,
        fabric.link_use_max_port,
        100.0 * fabric.symbol_use_mean.0
    ));
    let messages = fabric.symbols.voq_riding + fabric.symbols.voq_standalone;
    if messages > 0 || fabric.xoff_edges > 0 {
        say(format_args!(
            "  VoQ messages {} ({} rode), queues stopped {} times, released {} times, staged on average {} \
             packets",
            count_text(messages),
            count_text(fabric.symbols.voq_riding),
            count_text(fabric.xoff_edges),
            count_text(fabric.xon_edges),
            three_digits(fabric.staged_mean_number.0)
        ));
    }
    if fabric.late_hol > 0 {
        say(format_args!(
            "  {} packets found the buffer of a congested output full and blocked their input",
            count_text(fabric.late_hol)
        ));
    }
    let kept = &summary.conservation;
    say(format_args!(
        "  packets {} created, {} copies, {} delivered, {} dropped, {} in flight",
        count_text(kept.injected),
        count_text(kept.replicated),
        count_text(kept.delivered),
        count_text(kept.dropped),
        count_text(kept.in_flight)
    ));
    for line in summary.enumeration.iter().flat_map(|enumeration| enumeration.lines()) {
        say(format_args!("  {line}"));
    }
    if !window.steady {
        say(format_args!("  no steady state was found, or times climb: run longer, or set the warm-up"));
    }
    for stall in &summary.stalls {
        let at = time_text(stall.at_us.0 * 1e6);
        say(format_args!(
            "  {} found at {at}: {}",
            stall.kind,
            stall.walk.first().map_or("", String::as_str)
        ));
    }
    for law in &report.broken {
        say(format_args!("  BROKEN INVARIANT {law}"));
    }
    out
}

/// Plain sentences: what each variant changes against its baseline ([`baselines`]), or what limits the only
/// one.
pub fn conclusion(reports: &[VariantReport]) -> Vec<String> {
    match reports {
        [] => Vec::new(),
        [only] => vec![single(only)],
        _ => {
            let pairs = baselines(reports).into_iter().enumerate();
            let pairs = pairs.filter(|(variant, base)| variant != base);
            pairs.map(|(variant, base)| compared(&reports[base], &reports[variant])).collect()
        }
    }
}

/// Flows that a comparison is about, summed.
struct Class {
    name: String,
    goodput_gbps: f64,
    network_ps: u128,
    hol_ps: u128,
    latency_ps: u128,
    packets: u64,
    never: u64,
    role: Option<Role>,
    /// What its latency is called: that of packets without their source queue, or all of that of what
    /// protocols made of them.
    latency: &'static str,
}

impl Class {
    /// The flows that cause the congestion.
    fn hot(report: &VariantReport) -> Self {
        let flows: Vec<&FlowReport> = report.flows.iter().filter(|f| f.role == Some(Role::Hot)).collect();
        let name = if let [only] = flows[..] { only.name.clone() } else { "hot flows".into() };
        Self::of(&name, flows.into_iter())
    }

    fn of<'a>(name: &str, flows: impl Iterator<Item = &'a FlowReport>) -> Self {
        let empty = Class {
            name: name.into(),
            goodput_gbps: 0.0,
            network_ps: 0,
            hol_ps: 0,
            latency_ps: 0,
            packets: 0,
            never: 0,
            role: None,
            latency: "mean network latency",
        };
        flows.fold(empty, |class, flow| {
            let whole = flow.whole();
            let (latency, network_ps) = match (&flow.round_trips, &flow.messages) {
                (Some(_), _) => ("mean round trip", whole.delivered.latency_ps),
                (None, Some(_)) => ("mean message latency", whole.delivered.latency_ps),
                (None, None) => (class.latency, whole.delivered.network_ps),
            };
            Class {
                goodput_gbps: class.goodput_gbps + flow.goodput_gbps.value,
                network_ps: class.network_ps + network_ps,
                hol_ps: class.hol_ps + u128::from(whole.delivered.hol_ps),
                latency_ps: class.latency_ps + whole.delivered.latency_ps,
                packets: class.packets + whole.delivered.packets,
                never: class.never + flow.books.never,
                role: flow.role,
                latency,
                ..class
            }
        })
    }
}

/// Relative change; from nothing there is none.
fn change(from: f64, to: f64) -> f64 {
    if from > 0.0 { (to - from) / from } else { 0.0 }
}

/// What a comparison is about: the victims if there are any, because they are what a congestion study is
/// about;
/// and the flow that changes most, if that is none of them and changes by more than a tenth.
fn classes(first: &VariantReport, other: &VariantReport) -> Vec<(Class, Class)> {
    let pick = |names: &[&str]| {
        let name = if let [only] = names { only } else { "victims" };
        let of = |report: &VariantReport| Class::of(name, names.iter().filter_map(|name| report.flow(name)));
        (of(first), of(other))
    };
    let moved = |pair: &(Class, Class)| libm::fabs(change(pair.0.goodput_gbps, pair.1.goodput_gbps));
    let common = first.flows.iter().filter(|flow| other.flow(&flow.name).is_some());
    let most = common.map(|flow| pick(&[flow.name.as_str()])).max_by(|a, b| moved(a).total_cmp(&moved(b)));
    let victims = first.flows.iter().filter(|flow| flow.role == Some(Role::Victim));
    let victims: Vec<&str> = victims.map(|flow| flow.name.as_str()).collect();
    if victims.is_empty() {
        return most.into_iter().collect();
    }
    // hot flows have words of their own
    let most = most.filter(|pair| moved(pair) > 0.1 && pair.0.role.is_none());
    std::iter::once(pick(&victims)).chain(most).collect()
}

fn compared(first: &VariantReport, other: &VariantReport) -> String {
    let between = format!("{} \u{2192} {}", first.run.name, other.run.name);
    let mut classes = classes(first, other).into_iter();
    let Some((before, after)) = classes.next() else {
        return format!("{between}: no flow in common");
    };
    let percent = |a: f64, b: f64| change_text(a, b).unwrap_or_else(|| "from nothing".into());
    let (a, b) = (before.goodput_gbps, after.goodput_gbps);
    let mut text = match (all_up(first), all_up(other)) {
        // Nothing is carried: what counts is when the connections are there.
        (Some(before), Some(after)) if a == 0.0 && b == 0.0 => {
            format!("{between}: all up at {before} \u{2192} {after}")
        }
        _ => format!(
            "{between}: {} goodput {} \u{2192} {} Gb/s ({})",
            before.name,
            three_digits(a),
            three_digits(b),
            percent(a, b)
        ),
    };
    if before.never + after.never > 0 {
        let (a, b) = (count_text(before.never), count_text(after.never));
        text += &format!(", never arriving {a} \u{2192} {b}");
    }
    if before.packets > 0 && after.packets > 0 {
        let a = ratio(before.network_ps, before.packets.into());
        let b = ratio(after.network_ps, after.packets.into());
        let moved = percent(a, b);
        text += &format!(", {} {} \u{2192} {} ({moved})", after.latency, time_text(a), time_text(b));
        let blocked = |class: &Class| ratio(class.hol_ps, class.packets.into());
        let worth_a_word = |class: &Class| ratio(class.hol_ps, class.latency_ps) >= 0.01;
        if worth_a_word(&before) || worth_a_word(&after) {
            let (a, b) = (time_text(blocked(&before)), time_text(blocked(&after)));
            text += &format!(", head-of-line blocking {a} \u{2192} {b}");
        }
    }
    let (hot_before, hot_after) = (Class::hot(first), Class::hot(other));
    let (a, b) = (hot_before.goodput_gbps, hot_after.goodput_gbps);
    let moved = if a > 0.0 { libm::fabs(change(a, b)) > 0.1 } else { b > 0.0 };
    if moved && before.role == Some(Role::Victim) {
        let percent = percent(a, b);
        let (a, b) = (three_digits(a), three_digits(b));
        text += &format!(", {} goodput {a} \u{2192} {b} Gb/s ({percent})", hot_after.name);
    }
    for (before, after) in classes {
        let (a, b) = (before.goodput_gbps, after.goodput_gbps);
        let percent = percent(a, b);
        let (a, b) = (three_digits(a), three_digits(b));
        text += &format!(", {} goodput {a} \u{2192} {b} Gb/s ({percent})", before.name);
    }
    let (a, b) = (messages(first), messages(other));
    if a > 0.0 && b > 0.0 && libm::fabs(change(a, b)) > 0.25 {
        let percent = percent(a, b);
        let (a, b) = (count_text(libm::round(a) as u64), count_text(libm::round(b) as u64));
        text += &format!(", VoQ messages {a} \u{2192} {b} in a millisecond ({percent})");
    }
    text
}

/// When all connections of LINX and all conduits were there, if the run has any.
fn all_up(report: &VariantReport) -> Option<String> {
    let outcome = &report.run.outcome;
    let linx = outcome.linx.iter().map(|totals| totals.all_up);
    let up: Vec<_> = linx.chain(outcome.sessions.iter().map(|totals| totals.all_open)).collect();
    let latest = up.iter().copied().collect::<Option<Vec<_>>>().map(|times| times.into_iter().max());
    match latest {
        None => Some("never".into()),
        Some(latest) => latest.map(|time| time_text(time.0 as f64)),
    }
}

/// VoQ messages in a simulated millisecond.
fn messages(report: &VariantReport) -> f64 {
    let ports = report.run.outcome.ports.iter();
    let sum: u64 = ports.map(|(_, _, stats)| stats.voq_riding + stats.voq_standalone).sum();
    ratio(u128::from(sum) * 1_000_000_000, report.active_ps().into())
}

fn single(report: &VariantReport) -> String {
    let all = &report.overall;
    if all.delivered.packets == 0 {
        return "no packet was delivered in the measured time".into();
    }
    // Serialization, propagation and pipeline are there in an empty fabric as well.
    let waits = Cause::ALL
        .into_iter()
        .filter(|cause| !matches!(cause, Cause::Serialization | Cause::Propagation | Cause::Pipeline));
    let worst = waits.max_by_key(|cause| (all.spread.parts_ps[*cause as usize], std::cmp::Reverse(*cause)));
    // Victims first, then others: what did not arrive comes before what did.
    let role = |flow: &&FlowReport| (flow.role != Some(Role::Victim), flow.role == Some(Role::Hot));
    let mut flows: Vec<&FlowReport> = report.flows.iter().collect();
    flows.sort_by_key(role);
    let end = report.run.outcome.end.0;
    let short = flows.into_iter().find(|flow| flow.books.never > 0 || flow.books.grows(end));
    let missing = short.map(|flow| {
        let Books { unit, asked, arrived, never, under_way, oldest_ps, .. } = flow.books;
        let oldest = oldest_ps
            .filter(|_| under_way > 0)
            .map(|ps| format!(", the oldest for {}", time_text(ps as f64)));
        format!(
            "{}: {} of {} {unit} arrived, {} never will, {} are under way{}; ",
            flow.name,
            count_text(arrived),
            count_text(asked),
            count_text(never),
            count_text(under_way),
            oldest.unwrap_or_default()
        )
    });
    let mut text = missing.unwrap_or_default();
    text += &format!(
        "goodput {} Gb/s at {}",
        three_digits(all.goodput_gbps.value),
        if all.closed_loop {
            format!("{} accepted load (closed loop)", load_text(all.accepted_load.value))
        } else {
            format!("{} offered load", load_text(all.offered_load))
        }
    );
    if all.saturated && !all.closed_loop {
        text += &format!(", saturated ({} accepted)", load_text(all.accepted_load.value));
    }
    if let Some(cause) = worst.filter(|cause| all.spread.parts_ps[*cause as usize] > 0) {
        text += &format!("; most waiting is {} ({:.0} % of latency)", cause.name(), 100.0 * all.share(cause));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_characters() {
        let rows =
            [vec!["a".to_string(), "1 \u{b5}s".into()], vec!["long".to_string(), "100 \u{b5}s".into()]];
        assert_eq!(aligned(&rows, "  "), "  a        1 \u{b5}s\n  long   100 \u{b5}s\n");
    }
}
