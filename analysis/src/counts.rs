//! What is counted in a run as a whole, and worth a word beside rates and times.

use crate::ports::Ports;
use crate::protocol;
use crate::report::VariantReport;
use models::config::{DeviceModel, FabricConfig, PortRules};
use models::stats::LinkStats;

/// VoQ messages by which something changed. Their rate has words of its own in comparisons.
pub(crate) const VOQ_MESSAGES: &str = "VoQ messages, without refreshes";
/// Of all flows, also of those that a line beside it does not tell of.
const DROPPED: &str = "packets dropped";

/// Counts of the whole run with what is counted, in the plural; only those that the run could have.
pub(crate) fn counts(report: &VariantReport) -> Vec<(&'static str, u64)> {
    let outcome = &report.run.outcome;
    let mut counts = protocol::all(|protocol| protocol.counts(outcome));
    if !outcome.links.is_empty() {
        counts.push(("repetitions on links", outcome.links.iter().map(|(.., stats)| stats.repeated).sum()));
    }
    // what a single flow of packets lost is said of it
    if report.flows.len() > 1 || report.flows.iter().any(|flow| flow.protocol.is_some()) {
        counts.push((DROPPED, report.overall.dropped));
    }
    let ports = Ports::new(report);
    // where nothing can tell of congestion, no output is told to be congested
    if tells(report, &ports) {
        counts.push((VOQ_MESSAGES, ports.voq_messages() - ports.voq_refresh_messages()));
        let late = ports.sum(|stats| stats.late_hol.into()) as u64;
        counts.push(("late packets for congested outputs", late));
    }
    counts
}

/// Whether VoQ messages came, or may have come. A host may have switched them on.
fn tells(report: &VariantReport, ports: &Ports) -> bool {
    ports.voq_messages() > 0 || can_tell(&report.run.config, |_| true)
}

/// Whether a port of a switch with such rules may send VoQ messages, and some port has a detector that could
/// make it: none may have come of it.
fn can_tell(config: &FabricConfig, fits: impl Fn(PortRules) -> bool) -> bool {
    config.devices.iter().any(|device| {
        let DeviceModel::Switch(switch) = &device.model else { return false };
        let ports = || device.ports.iter().enumerate();
        let judges = ports().any(|(port, _)| switch.rules(port).detector.is_some());
        judges && ports().any(|(port, own)| own.voq.gen_sup && own.voq.gen_en && fits(switch.rules(port)))
    })
}

/// Likewise what a comparison does not say: for figures.
pub(crate) fn measures(report: &VariantReport) -> Vec<(&'static str, u64)> {
    let mut counts = counts(report);
    counts.extend(protocol::all(|protocol| protocol.measures(&report.run.outcome)));
    if let Some(found) = &report.run.outcome.enumeration {
        counts.push(("requests of the host that sets the fabric up", found.packets));
    }
    // Small numbers that explain large ones: a message that is lost, and what stands still for it.
    let outcome = &report.run.outcome;
    if !outcome.links.is_empty() {
        let sum = |of: fn(&LinkStats) -> u64| outcome.links.iter().map(|(.., stats)| of(stats)).sum();
        counts.push(("recoveries of links", sum(|stats| stats.recoveries)));
        counts.push(("link timeouts", sum(|stats| stats.timeouts)));
        counts.push(("refusals (packet-not-accepted)", sum(|stats| stats.not_accepted)));
        counts.push(("refusals without room (packet-retry)", sum(|stats| stats.retries)));
    }
    if report.run.config.stall_after.is_some() {
        counts.push(("stalls that the watchdog found", outcome.stalls.len() as u64));
    }
    let ports = Ports::new(report);
    // as many as may come may be lost: none is, where none came
    if tells(report, &ports) {
        counts.push(("VoQ messages lost on purpose", ports.sum(|stats| stats.voq_lost.into()) as u64));
    }
    // a host may have switched them on
    let refreshed = ports.voq_refresh_messages();
    if refreshed > 0 || can_tell(&report.run.config, |rules| rules.refresh.is_some()) {
        counts.push(("VoQ messages of refreshes", refreshed));
    }
    if tells(report, &ports) {
        counts.push(("characters of VoQ messages with symbols of their own", ports.voq_characters()));
        counts.push(("VoQ messages to neighbours that sent nothing", ports.voq_unheeded()));
    }
    counts
}

/// What a count is called where these runs are told of.
pub(crate) fn name<'a>(what: &'a str, reports: &[&VariantReport]) -> &'a str {
    match what {
        DROPPED if reports.iter().any(|report| report.flows.len() > 1) => "packets dropped of all flows",
        what => what,
    }
}
