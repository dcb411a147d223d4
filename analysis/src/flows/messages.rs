//! Flows of messages, streams and requests, and the hosts that they run on.

use super::{Decomposition, EstimateSummary, LatencySummary};
use crate::num::{Num, clock_text, count_text, counted_text, ratio, three_digits, time_text};
use crate::report::{FlowReport, LatencyReport, VariantReport, efficiency, retry_share};
use models::probe::ProtocolFact;
use models::stats::FlowStats;
use serde::Serialize;

/// A flow of messages, streams or requests, above its packets. Counts are those of the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct ProtocolSummary {
    /// Messages, PDUs, doorbells, reads and writes sent, answers of protocols included.
    pub sent: u64,
    /// Of these, ended well: answered, or gone where there is no answer.
    pub completed: u64,
    /// Messages, PDUs and doorbells handed to protocols.
    pub delivered: u64,
    /// Packets made, without responses of the logical layer; repetitions count again.
    pub requests: u64,
    /// Responses of the logical layer.
    pub responses: u64,
    /// Share of RETRY among the requests; `null`: there were none.
    pub retry_share: Num,
    /// What went wrong.
    #[serde(flatten)]
    pub facts: FactCounts,
    /// Payload octets handed to protocols, read or written; padding not counted.
    pub payload_octets: u64,
    /// Octets of all packets with their delimiters on the links of their senders.
    pub link_octets: u64,
    /// Octets that who uses the flow got, each once: `payload_octets` without repetitions and without the
    /// headers of what runs above.
    pub delivered_octets: Option<u64>,
    /// The former divided by `link_octets`; `null` where switches copy packets of the flow.
    pub efficiency: Num,
    /// From protocol to protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<JourneySummary>,
    /// From the request to its response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trips: Option<JourneySummary>,
}

impl ProtocolSummary {
    pub(super) fn new(flow: &FlowReport) -> Option<Self> {
        let stats = flow.protocol.as_ref()?;
        Some(Self {
            sent: stats.sent,
            completed: stats.completed,
            delivered: stats.delivered,
            requests: stats.requests,
            responses: stats.responses,
            retry_share: Num(retry_share(flow)),
            facts: FactCounts::new(stats),
            payload_octets: stats.payload,
            link_octets: stats.link_octets,
            delivered_octets: flow.once,
            efficiency: Num(efficiency(flow)),
            messages: flow.messages.as_deref().map(JourneySummary::new),
            round_trips: flow.round_trips.as_deref().map(JourneySummary::new),
        })
    }
}

/// What went wrong above packets.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct FactCounts {
    /// RETRY responses: the queue of a host was full.
    pub retries: u64,
    /// PDUs that receivers discarded.
    pub discarded: u64,
    /// Messages that receivers gave up or refused; one of which segments come later than that, twice.
    pub abandoned: u64,
    /// Messages, doorbells, reads and writes that failed: ERROR, or not answered in time.
    pub failed: u64,
    /// Requests and echoes whose answer did not come in time; of LINX ends of connections that timed out, of
    /// Scheduled Transfer operations that did.
    pub timed_out: u64,
    /// Answers that came so late that they were taken for those of other requests with the same transaction
    /// IDs: who asks cannot tell, but what ended with them was not answered. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub mistaken: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl FactCounts {
    fn new(stats: &FlowStats) -> Self {
        let of = |fact: ProtocolFact| stats.facts[fact as usize];
        Self {
            retries: of(ProtocolFact::Retried),
            discarded: of(ProtocolFact::Discarded),
            abandoned: of(ProtocolFact::Abandoned),
            failed: of(ProtocolFact::Failed),
            timed_out: of(ProtocolFact::TimedOut),
            mistaken: of(ProtocolFact::Mistaken),
        }
    }
}

/// Messages or round trips in the measured part.
#[derive(Clone, Debug, Serialize)]
pub struct JourneySummary {
    /// How many.
    pub count: u64,
    /// That of the flow.
    pub goodput_gbps: EstimateSummary,
    /// Share that arrived of what was due (as in `books`), only where it is not all: times are of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrived_share: Option<Num>,
    /// How long.
    pub latency_ns: LatencySummary,
    /// Where the time went.
    pub decomposition: Decomposition,
}

impl JourneySummary {
    fn new(report: &FlowReport) -> Self {
        Self {
            count: report.delivered.packets,
            goodput_gbps: EstimateSummary::scaled(report.goodput_gbps, 1.0),
            arrived_share: None,
            latency_ns: LatencySummary::new(&report.latency),
            decomposition: Decomposition::new(report),
        }
    }
}

/// An endpoint that runs protocols, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct HostSummary {
    /// Path of the endpoint.
    pub device: String,
    /// Most messages, PDUs and doorbells ever in the queue of the host, the one being served included. The
    /// place that one takes with its first packet counts here when its last has come, so a host may refuse
    /// while this says that there was a place.
    pub rx_queue_max: u32,
    /// Mean number of them over time.
    pub rx_queue_mean: Num,
    /// Messages, PDUs, doorbells, reads and writes sent.
    pub sent: u64,
    /// Of these, ended well.
    pub completed: u64,
    /// Messages, PDUs and doorbells handed to protocols here.
    pub delivered: u64,
    /// Packets made, without responses of the logical layer.
    pub requests: u64,
    /// Responses made: DONE, RETRY, ERROR, and what was read here.
    pub responses: u64,
    /// What went wrong here: retries and discarded PDUs are the receiver's, failures the sender's.
    #[serde(flatten)]
    pub facts: FactCounts,
    /// Time of protocols by time of the fabric, where it is not 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_clock: Option<String>,
}

/// Most hosts listed: those with the fullest queues on average.
const HOSTS_LISTED: usize = 64;

impl HostSummary {
    pub(crate) fn all(report: &VariantReport) -> Vec<Self> {
        let outcome = &report.run.outcome;
        let summary = outcome.agents.iter().map(|(device, host)| Self {
            device: report.run.config.devices[*device as usize].path.clone(),
            rx_queue_max: host.rx_high_water,
            rx_queue_mean: Num(ratio(host.rx_depth_ps, report.active_ps().into())),
            sent: host.flows.sent,
            completed: host.flows.completed,
            delivered: host.flows.delivered,
            requests: host.flows.requests,
            responses: host.flows.responses,
            facts: FactCounts::new(&host.flows),
            protocol_clock: (host.clock.0 != host.clock.1).then(|| clock_text(host.clock)),
        });
        let mut hosts: Vec<Self> = summary.collect();
        // The sort is stable, and so is what is left: equal queues stay in the order of devices.
        if hosts.len() > HOSTS_LISTED {
            hosts.sort_by(|a, b| b.rx_queue_mean.0.total_cmp(&a.rx_queue_mean.0));
            hosts.truncate(HOSTS_LISTED);
        }
        hosts
    }
}

/// What protocols made of a flow, if they run it, for a terminal.
pub(crate) fn line(flow: &FlowReport) -> Option<String> {
    let stats = flow.protocol.as_ref()?;
    let times = |what: &str, journeys: &FlowReport| {
        let LatencyReport { mean, p99, max, .. } = journeys.latency;
        format!(
            "{}, mean {}, p99 {}, max {}",
            counted_text(journeys.delivered.packets, what),
            time_text(mean.value),
            time_text(p99.value),
            time_text(max)
        )
    };
    let whole = match (&flow.round_trips, &flow.messages) {
        (Some(trips), _) => times("round trips", trips),
        (None, Some(messages)) => times(flow.above.map_or("messages", |above| above.carries), messages),
        (None, None) => "nothing arrived in the measured time".into(),
    };
    let payload = match efficiency(flow) {
        _ if flow.copied => "switches copy its packets, so what arrives is no share of what was sent".into(),
        share if share.is_nan() => "nothing was sent for it".into(),
        share => format!("{:.1} % of the octets sent for it are payload", 100.0 * share),
    };
    let mut text = format!("{}: {whole}, {payload}", flow.name);
    let retries = retry_share(flow);
    if retries > 0.0 {
        text += &format!(", {:.1} % answered by RETRY (accepted load counts them)", 100.0 * retries);
    }
    for (fact, what) in [
        (ProtocolFact::Discarded, "discarded"),
        (ProtocolFact::Abandoned, "given up by receivers"),
        (ProtocolFact::Failed, "failed"),
        (ProtocolFact::TimedOut, "not answered in time"),
        (ProtocolFact::Mistaken, "ended by the late answer to another"),
    ] {
        let count = stats.facts[fact as usize];
        // Where a protocol runs above, a timeout is one of its own, and it tells of it.
        let own = fact == ProtocolFact::TimedOut && flow.above.is_some();
        if count > 0 && !own {
            text += &format!(", {} {what}", count_text(count));
        }
    }
    Some(text)
}

/// The fullest queue of a host, for a terminal.
pub(crate) fn fullest(hosts: &[HostSummary]) -> Option<String> {
    let fullest = hosts.iter().reduce(|a, b| if b.rx_queue_mean.0 > a.rx_queue_mean.0 { b } else { a })?;
    (fullest.rx_queue_mean.0 > 0.0).then(|| {
        let HostSummary { device, rx_queue_mean: Num(mean), rx_queue_max, .. } = fullest;
        format!(
            "the fullest host, {device}, has {} in its queue on average (messages, PDUs and doorbells), at \
             most {rx_queue_max}",
            three_digits(*mean)
        )
    })
}
