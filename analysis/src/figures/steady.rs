//! Whose means depend on the length of the run: one decision for each flow and each quantity that is drawn. A
//! hot flow that waits ever longer at its source gets as much as ever, and one whose packets are slow at the
//! beginning of a run may get less than before.

use super::Level;
use super::words::{LISTED, each, listed, place};
use crate::collect::Bin;
use crate::estimate::{TREND_BATCHES, shift};
use crate::num::ratio;
use crate::report::{FlowReport, VariantReport};

/// From this share on it is told that a rate is another one in the second half. Three digits of it are read.
const RATE_SHARE: f64 = 0.01;
/// Likewise of a time, whose mean is less certain: the longest of many decide on it.
const TIME_SHARE: f64 = 0.05;

/// What is drawn of a flow.
#[derive(Copy, Clone)]
pub(super) enum Quantity {
    /// Octets of payload over time.
    Payload,
    /// Time on the link of its sources, over time.
    Load,
    /// Time from creation, of packets or of what protocols make of them.
    Latency(Level),
    /// Time of packets from the first bit.
    Network,
}

/// The value of each part of the measured time, in the order of time; parts of which nothing is known are
/// left out. Empty where there is no such thing, or where the length of the run does not matter: for a rate
/// of a flow that ends, which is over a time of its own, and for the times of what is complete.
fn parts(report: &VariantReport, name: &str, quantity: Quantity) -> Vec<f64> {
    let index = report.number(name);
    let found = index.and_then(|index| Some((index, report.run.collector.flows().get(index)?)));
    let Some((index, data)) = found else { return Vec::new() };
    let (flow, window) = (&report.flows[index], &report.window);
    let complete = flow.rate_span.is_some() && flow.books.under_way == 0 && flow.left == 0;
    let is_rate = matches!(quantity, Quantity::Payload | Quantity::Load);
    if window.ended || complete || is_rate && flow.rate_span.is_some() {
        return Vec::new();
    }
    let bins = match quantity {
        Quantity::Latency(Level { noun: "message", .. }) => data.messages.as_ref().map(|data| &data.bins),
        Quantity::Latency(Level { noun: "round trip", .. }) => {
            data.round_trips.as_ref().map(|data| &data.bins)
        }
        _ => Some(&data.bins),
    };
    let Some(bins) = bins.map(|bins| &bins[..bins.len().min(window.to_bin)]) else { return Vec::new() };
    // before its first source begins it has no rate
    let sources = report.run.config.all_sources().filter(|source| usize::from(source.flow) == index);
    let begin = sources.map(|source| report.run.begin(source)).min().unwrap_or(0);
    let from = window.from_bin.max(begin.div_ceil(report.run.collector.bin_ps()) as usize);
    let count = bins.len().saturating_sub(from);
    let parts = TREND_BATCHES.min(count);
    let edge = |part: usize| from + part * count / parts.max(1);
    let start = |bin: usize| report.run.collector.bin_start(bin).min(window.to_ps);
    let value = |part: usize| {
        let (from, to) = (edge(part), edge(part + 1));
        let sum = |of: fn(&Bin) -> u128| bins[from..to].iter().map(of).sum::<u128>();
        let packets = sum(|bin| bin.packets.into());
        let (all, of) = match quantity {
            Quantity::Payload => (sum(|bin| bin.payload.into()), (start(to) - start(from)).into()),
            Quantity::Load => (sum(|bin| bin.link_ps.into()), (start(to) - start(from)).into()),
            Quantity::Latency(_) => (sum(|bin| bin.latency_ps), packets),
            Quantity::Network => (sum(|bin| bin.network_ps), packets),
        };
        (of > 0).then(|| ratio(all, of))
    };
    (0..parts).filter_map(value).collect()
}

/// From which share on a difference counts. The rate of a flow that gets what it asks for is that of its
/// source: what chance adds to a count of arrivals, three standard deviations of as many, is no change of it.
/// The packets of one that does not may come as regularly as a clock, and then one more or less falls into
/// either half.
fn least(report: &VariantReport, name: &str, quantity: Quantity) -> f64 {
    match quantity {
        Quantity::Latency(_) | Quantity::Network => TIME_SHARE,
        Quantity::Payload | Quantity::Load => {
            let flow = report.flow(name).filter(|flow| flow.delivered.packets > 0);
            let chance = |flow: &FlowReport| {
                let packets = flow.delivered.packets as f64;
                if flow.saturated { 2.0 / packets } else { 3.0 / libm::sqrt(packets) }
            };
            libm::fmax(RATE_SHARE, flow.map_or(0.0, chance))
        }
    }
}

/// Variants and flows in which this quantity is another one in the second half of what is measured, the
/// largest difference first, under a heading; nothing if there are none.
fn told(reports: &[VariantReport], shown: &[&str], quantity: Quantity, heading: &str) -> String {
    let mut some: Vec<(f64, String)> = Vec::new();
    for (report, name) in each(reports, shown) {
        let share = least(report, name, quantity);
        let Some(shift) = shift(&parts(report, name, quantity), share) else { continue };
        let at = match () {
            () if reports.len() == 1 => (*name).to_owned(),
            () => place(shown, name, report),
        };
        some.push((shift, at));
    }
    some.sort_by(|a, b| b.0.total_cmp(&a.0));
    listed(heading, LISTED, some.into_iter().map(|one| one.1))
}

/// For a caption of means.
pub(super) fn means(reports: &[VariantReport], shown: &[&str], quantity: Quantity) -> String {
    told(reports, shown, quantity, "not steady, mean depends on the length of the run")
}

/// For a caption of distributions.
pub(super) fn times(reports: &[VariantReport], shown: &[&str], quantity: Quantity) -> String {
    told(reports, shown, quantity, "times not steady, they depend on the length of the run")
}

/// For a caption of rates beside times.
pub(super) fn rates(reports: &[VariantReport], shown: &[&str]) -> String {
    told(reports, shown, Quantity::Load, "throughput not steady, it depends on the length of the run")
}
