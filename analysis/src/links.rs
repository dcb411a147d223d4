//! Links in symbol granularity: what went wrong, and what was done about it. A row for each metric of an end;
//! damage counts where it was sent, refusal where it arrived.

use crate::num::{Num, count_text, counted_text};
use crate::report::VariantReport;
use models::config::Damage;
use models::stats::LinkStats;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// A metric of an end of a link; of all ends together their sum.
struct LinkRow {
    /// Key in `summary.json`; what ends in `_us` was counted in picoseconds.
    key: &'static str,
    /// What it is.
    about: &'static str,
    get: fn(&LinkStats) -> u64,
    /// Left out if it is 0.
    quiet: bool,
}

const fn row(key: &'static str, about: &'static str, get: fn(&LinkStats) -> u64) -> LinkRow {
    LinkRow { key, about, get, quiet: false }
}

/// Only continuous traffic is lost.
const fn quiet(key: &'static str, about: &'static str, get: fn(&LinkStats) -> u64) -> LinkRow {
    LinkRow { quiet: true, ..row(key, about, get) }
}

/// Keys, and what they mean.
pub(crate) fn notes() -> impl Iterator<Item = [&'static str; 2]> {
    LINK_ROWS.iter().map(|row| [row.key, row.about])
}

static LINK_ROWS: [LinkRow; 17] = [
    row("damaged_packets", "packets sent from here that were damaged on their way", |end| {
        end.damaged_packets
    }),
    row("damaged_symbols", "control symbols sent from here that were damaged on their way", |end| {
        end.damaged_symbols
    }),
    row("damaged_idle", "errors that hit the idle sequence sent from here", |end| end.damaged_idle),
    row("packet_retry", "packet-retry sent from here: there was no room", |end| end.retries),
    row(
        "packet_not_accepted",
        "packet-not-accepted sent from here: an error was found, or there is no room, where flow control is \
         that of the receiver and links have virtual channels",
        |end| end.not_accepted,
    ),
    row(
        "recoveries",
        "recoveries of this transmitter from an error, from link-request to link-response",
        |end| end.recoveries,
    ),
    row("timeouts", "times that an acknowledgement or a response did not come in time", |end| end.timeouts),
    row("cancelled", "packets sent from here that were cut short", |end| end.cancelled),
    row("packets", "packets sent from here, each once", |end| end.packets),
    row("repeated", "transmissions of packets that had been sent from here before", |end| end.repeated),
    row("repeated_us", "time that repetitions took on the link", |end| end.repeated_ps),
    row(
        "recovery_us",
        "time in which new packets had to wait for a retry, a recovery or an initialisation",
        |end| end.recovery_ps,
    ),
    row("downs", "times that the link went down", |end| end.downs),
    row("down_us", "time for which it was down or came up", |end| end.down_ps),
    quiet("lost_no_room", "packets of continuous traffic that found no receive buffer here", |end| {
        end.lost_no_room
    }),
    quiet("lost_on_link", "packets of continuous traffic sent from here that an error took", |end| {
        end.lost_on_link
    }),
    row("failed", "1: this transmitter has given up, because the ends disagree or no answer came", |end| {
        end.failed.into()
    }),
];

impl LinkRow {
    fn entry<'a>(&self, ends: impl Iterator<Item = &'a LinkStats>) -> Option<(String, Value)> {
        let sum: u64 = ends.map(self.get).sum();
        let value = if self.key.ends_with("_us") { json!(Num(sum as f64 / 1e6)) } else { json!(sum) };
        (sum > 0 || !self.quiet).then(|| (self.key.to_owned(), value))
    }
}

/// Some ends together.
fn entries<'a>(ends: impl Iterator<Item = &'a LinkStats> + Clone) -> Value {
    let entries: Map<String, Value> = LINK_ROWS.iter().filter_map(|row| row.entry(ends.clone())).collect();
    entries.into()
}

/// Nothing is to be told but packets.
fn is_quiet(stats: &LinkStats) -> bool {
    *stats == LinkStats { packets: stats.packets, ..LinkStats::default() }
}

/// Packets and symbols that were to be damaged by number and were never sent. Where there are random errors,
/// too, nobody knows which damage was whose, and nothing is said.
fn never_struck(report: &VariantReport) -> u64 {
    let config = &report.run.config;
    let struck: BTreeMap<(u32, u8), u64> = report
        .run
        .outcome
        .links
        .iter()
        .map(|(device, port, stats)| ((*device, *port), stats.damaged_packets + stats.damaged_symbols))
        .collect();
    let sides = config.symbolic.iter().flat_map(|symbolic| {
        let link = &config.links[symbolic.link as usize];
        symbolic.damage.iter().zip([link.a, link.b])
    });
    let planned =
        sides.filter(|(damage, _)| damage.errors.as_ref().is_none_or(|errors| errors.probability.0 == 0));
    let missing = |(damage, end): (&Damage, (u32, u8))| {
        let all = (damage.packets.len() + damage.symbols.len()) as u64;
        all.saturating_sub(struck.get(&end).copied().unwrap_or(0))
    };
    planned.map(missing).sum()
}

/// The part `links` of `summary.json`, if there are such links: all ends together, and each end at which
/// anything is to be told, by port; and damage that never struck, if there is any.
pub(crate) fn summary(report: &VariantReport) -> Option<Value> {
    let links = &report.run.outcome.links;
    let told = links.iter().filter(|(.., stats)| !is_quiet(stats));
    let ends: BTreeMap<String, Value> = told
        .map(|(device, port, stats)| (report.port_name(*device, *port), entries(std::iter::once(stats))))
        .collect();
    if links.is_empty() {
        return None;
    }
    let mut all = json!({ "total": entries(links.iter().map(|(.., stats)| stats)), "ends": ends });
    let missing = never_struck(report);
    if missing > 0 {
        all["never_struck"] = missing.into();
    }
    Some(all)
}

/// What went wrong in the whole run, for a terminal.
pub(crate) fn line(report: &VariantReport) -> Option<String> {
    let links = &report.run.outcome.links;
    let mut total = LinkStats::default();
    links.iter().for_each(|(.., stats)| total.add(stats));
    let missing = never_struck(report);
    if links.is_empty() || is_quiet(&total) && missing == 0 {
        return None;
    }
    let happened = [
        (total.damaged_packets, "damaged packets"),
        (total.damaged_symbols, "damaged symbols"),
        (total.damaged_idle, "errors in idle sequences"),
        (total.retries, "packets refused by packet-retry"),
        (total.recoveries, "recoveries"),
        (total.timeouts, "timeouts"),
        (total.downs, "times that an end was down"),
        (total.failed.into(), "ends that gave up, at least"),
        (total.lost_no_room, "packets of continuous traffic lost for want of room"),
        (total.lost_on_link, "packets of continuous traffic lost by errors"),
        (missing, "packets or symbols to be damaged were never sent"),
    ];
    let happened = happened.into_iter().filter(|(count, _)| *count > 0);
    let parts = happened.map(|(count, what)| format!("; {what}: {}", count_text(count)));
    Some(format!(
        "links with errors, outages or refusals: {}, {}{}",
        counted_text(total.packets, "packets"),
        counted_text(total.repeated, "repetitions"),
        parts.collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every end counts something different, so two keys with one getter, or a key twice, fail.
    #[test]
    fn every_key_is_a_metric_of_its_own() {
        let end = LinkStats {
            damaged_packets: 2,
            damaged_symbols: 3,
            damaged_idle: 5,
            retries: 7,
            not_accepted: 11,
            absorbed: 13,
            recoveries: 17,
            timeouts: 19,
            cancelled: 23,
            repeated: 29,
            repeated_ps: 31,
            downs: 37,
            down_ps: 41,
            recovery_ps: 43,
            packets: 47,
            lost_no_room: 53,
            lost_on_link: 59,
            failed: true,
        };
        let keys: BTreeSet<&str> = LINK_ROWS.iter().map(|row| row.key).collect();
        let values: BTreeSet<u64> = LINK_ROWS.iter().map(|row| (row.get)(&end)).collect();
        assert_eq!((keys.len(), values.len()), (LINK_ROWS.len(), LINK_ROWS.len()));
        let told = entries(std::iter::once(&end));
        assert_eq!(
            (&told["packet_retry"], &told["down_us"], &told["failed"]),
            (&json!(7), &json!(41e-6), &json!(1))
        );
        // all that an end counts, but what made no difference
        assert_eq!(format!("{end:?}").matches(": ").count(), LINK_ROWS.len() + 1);
        let calm = entries(std::iter::once(&LinkStats::default()));
        assert!(calm.get("lost_no_room").is_none() && calm.get("failed").is_some());
    }
}
