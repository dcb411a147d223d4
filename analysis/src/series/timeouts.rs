//! `series/timeouts.csv`: who waited for what in vain, when, and what is known of why.

use super::{Columns, start_us};
use crate::csv::{Cell, Column, csv, whole};
use crate::ports::variants;
use crate::report::VariantReport;
use models::probe::{ProtocolFact, TimeoutKind};
use models::stats::{LinkStats, TransferTotals};

/// What is known of why something did not come in time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Why {
    /// The other end was there: a false alarm.
    There,
    /// Nothing of the flow was lost in the run, and all links were whole: so it was late.
    Late,
    /// There was no place for it.
    NoPlace,
    /// The other end or the way to it was gone.
    Gone,
    /// Something was lost or damaged on its way.
    Lost,
    /// It may have been late or lost, or nobody was there.
    Unknown,
}

impl Why {
    /// As the file has it.
    const fn name(self) -> &'static str {
        match self {
            Why::There => "false: the peer was there",
            Why::Late => "late: nothing was lost",
            Why::NoPlace => "no place",
            Why::Gone => "true: the peer or its way was gone",
            Why::Lost => "loss or damage",
            Why::Unknown => "not known",
        }
    }
}

/// Every reason, as the file has it.
pub(crate) const REASONS: [&str; 6] = [
    Why::There.name(),
    Why::Late.name(),
    Why::NoPlace.name(),
    Why::Gone.name(),
    Why::Lost.name(),
    Why::Unknown.name(),
];

/// Whose it is, what was waited for, and why it did not come as far as the kind says it.
const fn told(kind: TimeoutKind) -> (&'static str, &'static str, Why) {
    const LINX: &str = "LINX";
    const SESSIONS: &str = "session management";
    const TRANSFER: &str = "Scheduled Transfer";
    const LOGICAL: &str = "logical layer";
    const LINKS: &str = "links";
    match kind {
        TimeoutKind::PeerCrashed => (LINX, "heartbeat of a peer that had crashed", Why::Gone),
        TimeoutKind::WayBroken => (LINX, "heartbeat over a broken or unwanted way", Why::Gone),
        TimeoutKind::PeerThere => (LINX, "heartbeat of a peer that was there", Why::There),
        TimeoutKind::Connect => (LINX, "answer to a connect", Why::Unknown),
        TimeoutKind::Open => (SESSIONS, "answer to OPEN", Why::Unknown),
        TimeoutKind::Query => (SESSIONS, "answer to a query", Why::Unknown),
        TimeoutKind::Xoff => (SESSIONS, "repeated XOFF", Why::Unknown),
        TimeoutKind::Operation => (TRANSFER, "answer in an operation", Why::Unknown),
        TimeoutKind::Transfer => (TRANSFER, "answer at the last try", Why::Unknown),
        TimeoutKind::Blocks => (TRANSFER, "Blocks that were enabled", Why::Unknown),
        TimeoutKind::Answer => ("application", "answer", Why::Unknown),
        TimeoutKind::Response => (LOGICAL, "response", Why::Unknown),
        TimeoutKind::Register => (LOGICAL, "response of a register", Why::Unknown),
        TimeoutKind::Place => (LOGICAL, "place at the receiver", Why::NoPlace),
        TimeoutKind::Segments => (LOGICAL, "missing segments", Why::Lost),
        TimeoutKind::Acknowledgement => (LINKS, "acknowledgement", Why::Lost),
        TimeoutKind::LinkResponse => (LINKS, "link-response", Why::Lost),
        TimeoutKind::Status => (LINKS, "status of buffers", Why::Lost),
    }
}

/// Whether something of a flow was lost in the run, by the fabric or the scenario, or refused by a host. Who
/// finds an octet wrong discards it all.
fn loses(report: &VariantReport, flow: u16) -> bool {
    let collector = &report.run.collector;
    let index = usize::from(flow);
    let dropped = collector.flows()[index].dropped.iter().sum::<u64>();
    let scenario = report.flows[index].above.map_or(0, |above| above.lost_late + above.touched[0]);
    // What hosts discarded because they waited for the rest was not refused.
    let waited = collector.timeouts().get(&(Some(flow), TimeoutKind::Segments));
    let waited = waited.map_or(0, |bins| bins.values().sum::<u64>());
    let given_up = report.run.outcome.protocols.get(index).map_or(0, |stats| {
        let of = |fact: ProtocolFact| stats.facts[fact as usize];
        of(ProtocolFact::Discarded) + of(ProtocolFact::Abandoned)
    });
    let transfers = report.run.outcome.totals.of_flow::<TransferTotals>(index);
    let damaged = transfers.map_or(0, |totals| totals.stats.damaged);
    dropped + scenario + damaged > 0 || given_up > waited
}

/// Whether a link damaged anything, or was down.
fn links_fail(report: &VariantReport) -> bool {
    let fails =
        |end: &LinkStats| end.damaged_packets + end.damaged_symbols + end.damaged_idle + end.downs > 0;
    report.run.outcome.links.iter().any(|(.., end)| fails(end))
}

/// What the kind says of why, and what the run as a whole says where the kind does not.
fn why(report: &VariantReport, at: &Late) -> Why {
    let (_, _, why) = told(at.kind);
    let loses = match (at.kind, at.flow) {
        (
            TimeoutKind::Operation
            | TimeoutKind::Transfer
            | TimeoutKind::Blocks
            | TimeoutKind::Answer
            | TimeoutKind::Response
            | TimeoutKind::Segments,
            Some(flow),
        ) => loses(report, flow),
        (_, None) => links_fail(report),
        _ => true,
    };
    match loses {
        true => why,
        // What waits at a dead device, or for one, is not lost, and does not come either.
        false if links_fail(report) => Why::Unknown,
        false => Why::Late,
    }
}

/// Timeouts of one kind in a time bin.
pub(super) struct Late {
    flow: Option<u16>,
    kind: TimeoutKind,
    bin: usize,
    count: u64,
}

pub(super) const TIMEOUTS: Columns<Late, 6> = [
    Column::new("flow", "flow; links are nobody's", |report, at| {
        Cell::Text(at.flow.map_or_else(String::new, |flow| report.flows[usize::from(flow)].name.clone()))
    }),
    Column::new("layer", "whose timeout it is", |_, at| Cell::Text(told(at.kind).0.into())),
    Column::new("waited_for", "what did not come in time", |_, at| Cell::Text(told(at.kind).1.into())),
    Column::new("why", "what is known of why", |report, at| Cell::Text(why(report, at).name().into())),
    Column::new("time_us", "beginning of the time bin", |report, at| start_us(report, at.bin)),
    Column::new("timeouts", "timeouts in it", |_, at| whole(at.count)),
];

/// Timeouts over time, of each flow and of links. Nothing without timeouts.
pub fn timeouts_csv(reports: &[VariantReport]) -> Option<String> {
    let all = |report: &VariantReport| -> Vec<Late> {
        let bins = report.run.collector.timeouts().iter();
        bins.flat_map(|(&(flow, kind), bins)| {
            bins.iter().map(move |(&bin, &count)| Late { flow, kind, bin, count })
        })
        .collect()
    };
    let some = reports.iter().any(|report| !report.run.collector.timeouts().is_empty());
    some.then(|| csv(&TIMEOUTS, variants(reports), all))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Each kind is told in words of its own: two that read alike could not be told apart in the file.
    #[test]
    fn kinds_differ_in_words() {
        let words: BTreeSet<_> = TimeoutKind::ALL.map(told).map(|(layer, what, _)| (layer, what)).into();
        assert_eq!(words.len(), TimeoutKind::ALL.len());
    }
}
