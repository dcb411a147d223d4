//! How much of what was asked for has arrived, level by level: packets, or what protocols made of them.
//!
//! Times are of those that arrived, and those that did not would have taken longer than any of them. So
//! whoever speaks of times (figures, requirements, comparisons, answers) asks here of which share they are.

use crate::books::{Books, Sojourns};
use crate::num::ratio;
use crate::report::{FlowReport, VariantReport};
use models::stats::FlowStats;

/// What a figure is about: packets, or what protocols made of them. `None`: the flow has no such thing.
#[derive(Copy, Clone)]
pub(crate) struct Level {
    /// One of them.
    pub noun: &'static str,
    /// How they end.
    pub ends: &'static str,
    /// Whether times are counted from when one is made, as its age is.
    pub since_creation: bool,
    /// Whether the time that packets wait for the link of their source belongs to it in any case. That of
    /// packets above saturation would flatten everything else.
    pub with_source_queue: bool,
    /// What a reader may take it for, and is not.
    pub trap: &'static str,
    pub of: fn(&FlowReport) -> Option<&FlowReport>,
}

pub(crate) const PACKETS: Level = Level {
    noun: "packet",
    ends: "delivered",
    since_creation: true,
    with_source_queue: false,
    trap: "",
    of: |flow| Some(flow),
};
pub(crate) const MESSAGES: Level = Level {
    noun: "message",
    ends: "delivered",
    since_creation: true,
    with_source_queue: true,
    trap: "source queue: also before its packets exist, and of later ones while earlier are sent",
    of: |flow| flow.messages.as_deref().filter(|messages| messages.delivered.packets > 0),
};
pub(crate) const TRIPS: Level = Level {
    noun: "round trip",
    ends: "completed",
    since_creation: true,
    with_source_queue: true,
    trap: "",
    of: |flow| flow.round_trips.as_deref().filter(|trips| trips.delivered.packets > 0),
};

impl Level {
    pub fn is_in(&self, reports: &[VariantReport]) -> bool {
        reports.iter().flat_map(|report| &report.flows).any(|flow| (self.of)(flow).is_some())
    }
}

/// Whether the flow has messages that its books do not count: a protocol runs over them that sends nothing
/// else, or they are requests and their answers.
fn carries_messages(flow: &FlowReport) -> bool {
    let is_all =
        flow.above.map_or(matches!(flow.books.unit, "requests" | "echoes"), |above| above.nothing_else);
    is_all && flow.carries_messages
}

/// What became of messages that books do not count: arrived, lost in the fabric, and not there. What the
/// scenario loses is none of these.
fn carried_books(flow: &FlowReport, level: Level) -> Option<[u64; 3]> {
    let stats = flow.protocol.filter(|_| level.noun == "message" && carries_messages(flow))?;
    let lost_late = flow.above.map_or(0, |above| above.lost_late);
    let missing = stats.sent.saturating_sub(stats.delivered + lost_late);
    let never = missing.min(flow.dropped);
    // what a translator dropped arrived there, and has a time like the others
    Some([stats.delivered, never, missing - never])
}

/// Whether books count the packets of the flow, because there is nothing above them: a multicast packet
/// stands there for each endpoint that is to get it, whether switches have copied it or not.
fn counts_packets(flow: &FlowReport) -> bool {
    let Books { unit, asked, arrived, never, under_way, .. } = flow.books;
    flow.protocol.is_none() && unit == "packets" && asked > 0 && asked == arrived + never + under_way
}

/// What became of what was asked for of this level, as far as anything counts it: arrived, never will, under
/// way at the end. The messages of a protocol that has others of its own above (frames of LINX, parts of
/// PDUs) are not what its books count.
fn counts(flow: &FlowReport, level: Level) -> [u64; 3] {
    let Books { arrived, never, under_way, .. } = flow.books;
    match carried_books(flow, level) {
        _ if level.noun == "packet" && counts_packets(flow) => [arrived, never, under_way],
        _ if level.noun == "packet" => [flow.arrived, flow.dropped, flow.left],
        _ if tells(flow, level) => [arrived, never, under_way],
        Some(carried) => carried,
        None => [0; 3],
    }
}

/// Share of what was asked for that had not arrived when the run ended.
pub(crate) fn under_way_share(flow: &FlowReport, level: Level) -> f64 {
    let [arrived, never, left] = counts(flow, level);
    ratio(left.into(), (arrived + never + left).into())
}

/// What arrived as a share of what was due. 1 where nothing was.
fn share((arrived, due): (u64, u64)) -> f64 {
    if due > 0 { ratio(arrived.into(), due.into()) } else { 1.0 }
}

/// What arrived of this level, and what was due: what is left behind is, and what is merely on its way is
/// not.
fn due(report: &VariantReport, flow: &FlowReport, level: Level) -> (u64, u64) {
    let [arrived, never, left] = counts(flow, level);
    let left = if is_behind(report, flow, level) { left } else { 0 };
    (arrived, arrived + never + left)
}

/// Likewise of all that was asked for, where what is still under way is left behind. Curves, captions,
/// requirements and means all ask here.
pub(crate) fn come_share(report: &VariantReport, flow: &FlowReport, level: Level) -> f64 {
    share(due(report, flow, level))
}

/// Likewise what never arrives.
pub(crate) fn never_share(report: &VariantReport, flow: &FlowReport, level: Level) -> f64 {
    let [_, never, _] = counts(flow, level);
    let (_, due) = due(report, flow, level);
    if due > 0 { ratio(never.into(), due.into()) } else { 0.0 }
}

/// Likewise of the packets of all flows together.
pub(crate) fn packets_share(report: &VariantReport) -> f64 {
    let all = report.flows.iter().map(|flow| due(report, flow, PACKETS));
    share(all.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1)))
}

/// Share of what was asked for that is left behind at the end; 0 where it is merely on its way, as some
/// always is.
pub(crate) fn left_share(report: &VariantReport, flow: &FlowReport, level: Level) -> f64 {
    if is_behind(report, flow, level) { under_way_share(flow, level) } else { 0.0 }
}

fn is_behind(report: &VariantReport, flow: &FlowReport, level: Level) -> bool {
    report.leaves_behind(flow) || piles_up(report, flow, level)
}

/// Whether more of this level is under way at the end than a flow that keeps up has ([`Books::grows`]), where
/// the books of the flow do not judge it: frames that keep connections are asked for by nobody, and go astray
/// all the same.
fn piles_up(report: &VariantReport, flow: &FlowReport, level: Level) -> bool {
    let carried = carried_books(flow, level);
    let own = match carried {
        Some([arrived, _, left]) => Some((arrived, left)),
        None => (level.noun == "packet" && flow.books.asked == 0).then_some((flow.arrived, flow.left)),
    };
    let Some((arrived, under_way)) = own else { return false };
    let index = report.number(&flow.name);
    let data = index.map(|index| &report.run.collector.flows()[index]);
    let own = data.map(|data| match &data.messages {
        Some(messages) if carried.is_some() => (&messages.bins[..], &messages.segments[..]),
        _ => (&data.bins[..], &data.segments[..]),
    });
    let (bins, segments) = own.unwrap_or_default();
    let books = Books {
        asked: arrived + under_way,
        arrived,
        under_way,
        oldest_ps: oldest(report, flow, level),
        sojourns: Sojourns::counted(&report.run, index.unwrap_or(0), bins, segments),
        paced: true,
        ..Books::default()
    };
    books.grows(report.run.outcome.end.0)
}

/// Whether books count what this level of messages or round trips shows.
fn tells(flow: &FlowReport, level: Level) -> bool {
    let Books { unit, arrived, .. } = flow.books;
    let counted = |of: fn(&FlowStats) -> u64| flow.protocol.as_ref().map(of) == Some(arrived);
    match level.noun {
        "message" if flow.above.is_some() => false,
        "message" => matches!(unit, "messages" | "PDUs" | "doorbells") && counted(|stats| stats.delivered),
        "round trip" => matches!(unit, "requests" | "echoes") && counted(|stats| stats.round_trips),
        // requests wait for their answers, and packets do not
        _ => false,
    }
}

/// Age of the oldest of this level that is under way at the end, picoseconds, where it is known.
pub(crate) fn oldest(report: &VariantReport, flow: &FlowReport, level: Level) -> Option<u64> {
    if !level.since_creation {
        return None;
    }
    if level.noun == "packet" && flow.books.unit == "packets" || tells(flow, level) {
        return flow.books.oldest_ps.filter(|_| flow.books.under_way > 0);
    }
    let index = report.number(&flow.name)?;
    let left = report.run.outcome.left.get(index)?;
    crate::books::age(
        &report.run,
        match level.noun {
            "packet" => left.oldest_packet,
            "message" => left.oldest_message.filter(|_| carries_messages(flow)),
            _ => None,
        },
    )
}

/// For how long a packet of a flow has been in the network that is still there at the end, picoseconds: of
/// the one that left its source first.
pub(crate) fn oldest_in_network(report: &VariantReport, index: usize) -> Option<u64> {
    let left = report.run.outcome.left.get(index)?;
    crate::books::age(&report.run, left.oldest_in_network)
}

/// Share of what users of a flow, or of all flows, asked for that arrived, of what was due: what is merely on
/// its way at the end is not. `None` where nothing was due.
pub(crate) fn users_share(report: &VariantReport, flow: Option<usize>) -> Option<f64> {
    let flows = report.flows.iter().enumerate().filter(|(index, _)| flow.is_none_or(|flow| flow == *index));
    let (arrived, due) = flows.fold((0, 0), |(arrived, due), (_, flow)| {
        let left = if report.leaves_behind(flow) { flow.books.under_way } else { 0 };
        let own = flow.books.arrived + flow.books.never + left;
        (arrived + flow.books.arrived, due + own)
    });
    (due > 0).then(|| ratio(arrived.into(), due.into()))
}

/// Where the quantile `q` of all that was asked for lies among those that arrived, which are this share of
/// it: what never comes takes longer than any time. `None`: it is one of those that never come.
pub(crate) fn among_arrived(q: f64, share: f64) -> Option<f64> {
    (q <= share).then(|| (q / share).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::among_arrived;

    /// Of n of which k arrive the first k have a time: the j-th of all is the j-th of those, the k-th too,
    /// however slow the others are.
    #[test]
    fn the_slowest_that_arrived_has_a_time() {
        for n in 1..=60_u32 {
            for k in 1..=n {
                let place = |j: u32| among_arrived(f64::from(j) / f64::from(n), f64::from(k) / f64::from(n));
                for j in 1..=k {
                    let own = place(j).expect("one that arrived") * f64::from(k);
                    assert!((own - f64::from(j)).abs() < 1e-9, "{j} of {n}, of which {k} arrive: {own}");
                }
                assert!(k == n || place(k + 1).is_none(), "{k} of {n}");
            }
        }
    }
}
