//! The result of a run as text for a terminal.

use crate::books::Books;
use crate::flows::messages;
use crate::num::{count_text, counted_text, three_digits, time_text};
use crate::ports::Ports;
use crate::report::{FlowReport, VariantReport};
use crate::require;
use crate::summary::{VariantSummary, left_stopped_text, stall_text};
use crate::weight::{RULE, heaviest};
use crate::{links, protocol};
use models::config::{Buffering, DeviceModel};
use models::probe::Cause;
use models::stats::PortStats;
use std::collections::BTreeSet;
use std::fmt::Write;

mod conclusion;

pub use conclusion::conclusion;

/// Flows in a table; the rest is counted.
const FLOWS_LISTED: usize = 12;

/// Rows of cells with aligned columns: the first column to the left, all others to the right.
pub(crate) fn aligned(rows: &[Vec<String>], indent: &str) -> String {
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

/// A column of a table of flows: its heading, what it means, and what stands there.
struct Column {
    title: &'static str,
    about: &'static str,
    cell: fn(&FlowReport) -> String,
}

const fn column(title: &'static str, about: &'static str, cell: fn(&FlowReport) -> String) -> Column {
    Column { title, about, cell }
}

/// Headings of both tables, and what they mean.
pub(crate) fn notes() -> impl Iterator<Item = [&'static str; 2]> {
    BOOKS.iter().chain(&TIMES).map(|column| [column.title, column.about])
}

/// A count of the books, if anything is known of them.
fn kept(books: &Books, count: u64) -> String {
    let known = books.asked > 0 && !books.unit.is_empty();
    if known { count_text(count) } else { "-".into() }
}

/// What became of what was asked for, and how fast: before the latencies of those that arrived.
const BOOKS: [Column; 9] = [
    column(
        "flow",
        "flow and the role that the scenario declares; `*`: it falls behind what is asked for, so all its \
         latencies are those of survivors",
        |flow| if flow.falls_behind { format!("{} *", flow.title()) } else { flow.title() },
    ),
    column(
        "asked",
        "what was asked for in the whole run, in packets, messages, PDUs, requests, echoes or Transfers: \
         the sum of the next three",
        |flow| {
            let Books { unit, asked, .. } = flow.books;
            let plain = unit == "packets" || unit.is_empty() || asked == 0;
            if plain { kept(&flow.books, asked) } else { counted_text(asked, unit) }
        },
    ),
    column("arrived", "of these, what arrived or was answered", |flow| kept(&flow.books, flow.books.arrived)),
    column("never", "of these, what will never arrive: dropped, refused, given up", |flow| {
        kept(&flow.books, flow.books.never)
    }),
    column("under way", "of these, what is still on its way, or waits to begin, when the run ends", |flow| {
        kept(&flow.books, flow.books.under_way)
    }),
    column("oldest", "how long the oldest of these has been under way", |flow| {
        let oldest = flow.books.oldest_ps.filter(|_| flow.books.under_way > 0);
        time_text(oldest.map_or(f64::NAN, |ps| ps as f64))
    }),
    column(
        "offered",
        "load that sources offer in the measured part, as a share of the time of their links; a closed \
         loop has none of its own",
        |flow| match (flow.closed_loop, flow.mixed_loops) {
            (true, _) => "closed loop".into(),
            (_, true) => "closed loops".into(),
            _ => load_text(flow.offered_load),
        },
    ),
    column(
        "accepted",
        "load that the fabric delivers in the measured part, likewise; segments that a host refuses by \
         RETRY count each time",
        |flow| load_text(flow.accepted_load.value),
    ),
    column("goodput", "octets that arrived, each once, over the time that they took", |flow| {
        format!("{} Gb/s", three_digits(flow.goodput_gbps.value))
    }),
];

/// Times of packets, and of how many.
const TIMES: [Column; 8] = [
    column("times of", "flow", FlowReport::title),
    column("packets", "packets of the measured part from which the times are", |flow| {
        count_text(flow.delivered.packets)
    }),
    column(
        "net mean",
        "mean time from the first bit on the link of the source to the last bit at the destination",
        |flow| time_text(flow.network.mean.value),
    ),
    column("net p99", "99th percentile of the same: 99 of 100 packets took not longer", |flow| {
        time_text(flow.network.p99.value)
    }),
    column(
        "mean",
        "mean time from the creation of a packet to its last bit at the destination, so with the source \
         queue",
        |flow| time_text(flow.latency.mean.value),
    ),
    column("p99", "99th percentile of the same; `-` where too few packets arrived to know it", |flow| {
        time_text(flow.latency.p99.value)
    }),
    column("max", "the longest of them", |flow| time_text(flow.latency.max)),
    column(
        "HOL blocked",
        "mean time of a packet behind packets for another output, and its share of the mean latency",
        |flow| match flow.delivered.packets {
            0 => "-".into(),
            _ => {
                let share = 100.0 * flow.share(Cause::HeadOfLine);
                format!("{} ({share:.0} %)", time_text(flow.hol_ps.value))
            }
        },
    ),
];

/// The table with these columns.
fn table<'a>(columns: &[Column], flows: impl Iterator<Item = &'a FlowReport>) -> String {
    let titles = columns.iter().map(|column| column.title.to_owned()).collect();
    let cells = |flow| columns.iter().map(|column| (column.cell)(flow)).collect();
    let rows: Vec<Vec<String>> = std::iter::once(titles).chain(flows.map(cells)).collect();
    aligned(&rows, "  ").trim_end().to_string()
}

/// The table of one variant.
pub fn variant(report: &VariantReport) -> String {
    let summary = VariantSummary::new(report);
    let window = &report.window;
    let mut out = String::new();
    let mut say = |text: std::fmt::Arguments<'_>| writeln!(out, "{text}").expect("a string takes any text");
    let span = format!("{} to {}", time_text(window.from_ps as f64), time_text(window.to_ps as f64));
    say(format_args!("{}  (seed {}, measured {span}, warm-up {})", summary.name, summary.seed, window.rule));
    let names: Vec<&str> = report.flows.iter().map(|flow| flow.name.as_str()).collect();
    let shown = &heaviest(std::slice::from_ref(report), &names)[..names.len().min(FLOWS_LISTED)];
    let listed = || report.flows.iter().filter(|flow| shown.contains(&flow.name.as_str()));
    let flows = || {
        let all = [&report.overall].into_iter().filter(|_| report.flows.len() != 1);
        listed().chain(all)
    };
    say(format_args!("{}", table(&BOOKS, flows())));
    say(format_args!("{}", table(&TIMES, flows())));
    for flow in listed() {
        let is_before = |(begin, end): &(u64, u64)| begin < end && *end <= window.from_ps;
        let over = flow.rate_span.filter(is_before).filter(|_| flow.delivered.packets == 0);
        let Some((begin, end)) = over else { continue };
        say(format_args!(
            "  \"{}\" is over before the measured part: its goodput is that of {} to {}, and it has no times",
            flow.name,
            time_text(begin as f64),
            time_text(end as f64)
        ));
    }
    for judged in require::judge(report) {
        say(format_args!("  {}", judged.line()));
    }
    if let Some(line) = links::line(report) {
        say(format_args!("  {line}"));
    }
    if report.flows.len() > FLOWS_LISTED {
        let more = report.flows.len() - FLOWS_LISTED;
        say(format_args!("  {more} more flows are in summary.json; these are {RULE}"));
    }
    if report.overall.falls_behind {
        say(format_args!("  * saturated: less than 99 % of what is asked for completes"));
    }
    if let Some(rate) = report.overall.per_slot {
        say(format_args!(
            "  each source delivers {:.4} \u{b1} {:.4} packets in a slot of the cell clock",
            rate.value, rate.half_width
        ));
    }
    for line in listed().filter_map(messages::line) {
        say(format_args!("  {line}"));
    }
    if let Some(line) = messages::fullest(&summary.hosts) {
        say(format_args!("  {line}"));
    }
    for lines in protocol::all(|protocol| protocol.lines(&report.run)) {
        say(format_args!("{lines}"));
    }
    say_ports(report, &mut say);
    let kept = &summary.conservation;
    say(format_args!(
        "  packets: {} created, {} copies, {} delivered, {} dropped, {} in flight",
        count_text(kept.injected),
        count_text(kept.replicated),
        count_text(kept.delivered),
        count_text(kept.dropped),
        count_text(kept.in_flight)
    ));
    for line in summary.enumeration.iter().flat_map(|enumeration| enumeration.lines()) {
        say(format_args!("  {line}"));
    }
    if window.runs_out {
        say(format_args!(
            "  some Transfers end in the measured part, so means mix the time with them and that without"
        ));
    } else if !window.steady {
        say(format_args!(
            "  not steady: the warm-up has no end, or the load or times change, so means depend on how \
             long it runs; run longer, or set the warm-up"
        ));
    }
    // Several places may wait for one circle.
    let mut told: Vec<(String, usize)> = Vec::new();
    for stall in &summary.stalls {
        let first = stall.walk.first().map_or("", String::as_str);
        let text = stall_text(stall.kind, stall.at_us.0, first);
        match told.iter_mut().find(|(known, _)| *known == text) {
            Some((_, places)) => *places += 1,
            None => told.push((text, 1)),
        }
    }
    for (text, places) in told {
        let from = if places > 1 { format!(" (from {places} places)") } else { String::new() };
        say(format_args!("  {text}{from}"));
    }
    for left in &summary.left_stopped {
        let congested: Vec<&str> = left.congested.iter().map(String::as_str).collect();
        say(format_args!("  {}", left_stopped_text(left.at_us.0, &left.port, &congested)));
    }
    for law in &report.broken {
        say(format_args!("  BROKEN INVARIANT {law}"));
    }
    out
}

/// Links, VoQ messages and staging, over the whole run.
fn say_ports(report: &VariantReport, say: &mut dyn FnMut(std::fmt::Arguments<'_>)) {
    let ports = Ports::new(report);
    let active = report.active_ps();
    let (busiest, most) = ports.busiest();
    let over = match active == report.window.ps() {
        true => "the time".to_owned(),
        false => format!("the whole {}", time_text(active as f64)),
    };
    say(format_args!(
        "  links send packets for {:.1} % of {over} on average, the busiest ({busiest}) for {:.1} %; control \
         symbols between packets take {:.2} %",
        100.0 * ports.mean_share(|stats| stats.packet_ps.into()),
        100.0 * most,
        100.0 * ports.symbol_use()
    ));
    let count = |of: fn(&PortStats) -> u64| ports.sum(|stats| of(stats).into()) as u64;
    let xoff_edges = count(|stats| stats.xoff_edges);
    if ports.voq_messages() > 0 || xoff_edges > 0 {
        let parts = [
            (count(|stats| stats.voq_riding), "in a symbol that was sent anyway"),
            (ports.voq_refresh_messages(), "only to repeat what was said"),
            (ports.voq_unheeded(), "to neighbours that sent nothing"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{} {what}", count_text(count))).collect();
        let of_these = if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) };
        say(format_args!(
            "  {}{of_these}\n    staging queues stopped {}, released {}; {} packets stood in \
             stopped queues on average",
            counted_text(ports.voq_messages(), "VoQ messages"),
            counted_text(xoff_edges, "times"),
            counted_text(count(|stats| stats.xon_edges), "times"),
            three_digits(ports.staged_mean_number())
        ));
    }
    let lost = count(|stats| stats.voq_lost);
    if lost > 0 {
        say(format_args!("  {} lost on purpose, as the scenario says", counted_text(lost, "VoQ messages")));
    }
    let never = ports.voq_never_struck();
    if never > 0 {
        let never = count_text(never);
        say(format_args!("  VoQ messages that the scenario was to lose, and that were never sent: {never}"));
    }
    let late_hol = count(|stats| stats.late_hol);
    if late_hol > 0 {
        say(format_args!(
            "  {} came for a congested output before their senders had heard of it, and found too little \
             room: {}",
            counted_text(late_hol, "packets"),
            why_late(report)
        ));
    }
}

/// What packets that came late did not find (F-112), in the switches where some did.
fn why_late(report: &VariantReport) -> String {
    let devices = &report.run.config.devices;
    let late = report.run.outcome.ports.iter().filter(|(.., stats)| stats.late_hol > 0);
    let direct: BTreeSet<bool> = late
        .filter_map(|(device, ..)| match &devices[*device as usize].model {
            DeviceModel::Switch(switch) => Some(matches!(switch.buffering, Buffering::Direct)),
            DeviceModel::Endpoint(_) => None,
        })
        .collect();
    let why = direct.into_iter().map(|direct| match direct {
        true => "fewer buffers of their input were free than its watermark asks for",
        false => "no place behind their input was free",
    });
    why.collect::<Vec<&str>>().join(", or ")
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
