//! Messages, PDUs, doorbells, reads, writes and requests without a protocol of the mission above them: their
//! books and rate. What was counted of them stands flow by flow in `summary/messages.rs`, for every protocol
//! that uses them.

use super::Protocol;
use crate::books::{Account, Books, Sojourns, Tempo, age, balanced};
use crate::run::RunData;
use models::config::{Carrier, ProtocolConfig};
use models::probe::ProtocolFact;
use models::stats::{FlowLeft, FlowStats};

/// The row of the table.
pub(super) struct Messages;

impl Protocol for Messages {
    fn key(&self) -> &'static str {
        "messages"
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let parts = run.config.agents.iter().flat_map(|agent| &agent.parts);
        let mut carried =
            parts.filter(|part| usize::from(part.flow) == flow).filter_map(|part| match &part.protocol {
                ProtocolConfig::Workload { carrier } => Some((*carrier, false)),
                ProtocolConfig::Rpc { carrier, .. } => Some((*carrier, true)),
                _ => None,
            });
        let Some((carrier, answered)) = carried.next() else { return accesses(run, flow) };
        let stats = run.outcome.protocols.get(flow)?;
        let left = run.outcome.left.get(flow).copied().unwrap_or_default();
        let data = &run.collector.flows()[flow];
        let journeys = if answered { &data.round_trips } else { &data.messages };
        let (bins, segments) =
            journeys.as_deref().map(|own| (&own.bins[..], &own.segments[..])).unwrap_or_default();
        let books = Books {
            oldest_ps: age(run, left.awaited.map_or(left.oldest_message, |awaited| awaited.oldest)),
            sojourns: Sojourns::counted(run, flow, bins, segments),
            paced: true,
            ..books((run, flow), carrier, stats, answered, &left)
        };
        let tempo = match answered {
            true => Tempo::RoundTrips { octets: stats.answered_octets },
            false => Tempo::Journeys { octets: stats.payload },
        };
        let carries_messages = !matches!(carrier, Carrier::Read | Carrier::Write);
        Some(Account { carries_messages, ..Account::new(books, tempo) })
    }
}

/// Accesses to registers: packets are counted, and the octets of the registers are what they moved.
fn accesses(run: &RunData, flow: usize) -> Option<Account> {
    let mut parts = run.config.agents.iter().flat_map(|agent| &agent.parts);
    parts.find(|part| {
        usize::from(part.flow) == flow && matches!(part.protocol, ProtocolConfig::Enumerate { .. })
    })?;
    let stats = run.outcome.protocols.get(flow)?;
    let Account { books, .. } = Account::of_packets(run, flow);
    let data = &run.collector.flows()[flow];
    let end = match books {
        Books { under_way: 1.., .. } => run.outcome.end,
        Books { never: 1.., .. } => data.extent.last.max(data.last_offer).max(data.last_drop),
        _ => data.extent.last,
    };
    // Until something has arrived the first start is unknown.
    let from = data.extent.first.min(end);
    Some(Account::new(books, Tempo::Over { octets: stats.payload, from: from.0, to: end.0 }))
}

fn books(
    of: (&RunData, usize),
    carrier: Carrier,
    stats: &FlowStats,
    answered: bool,
    left: &FlowLeft,
) -> Books {
    let fact = |fact: ProtocolFact| stats.facts[fact as usize];
    let failed = fact(ProtocolFact::Failed);
    if answered {
        // What is not answered and waited for no longer was given up, whatever came first: its engine failed,
        // or it took too long. An engine may fail later, and so may that of an answer.
        let waited = left.awaited.map_or(0, |awaited| awaited.count);
        let never = stats.asked.saturating_sub(stats.round_trips + waited);
        return balanced(of, "requests", stats.asked, stats.round_trips, never);
    }
    match carrier {
        Carrier::Message { .. } => balanced(of, "messages", stats.asked, stats.delivered, failed),
        Carrier::Doorbell { .. } => balanced(of, "doorbells", stats.asked, stats.delivered, failed),
        Carrier::Read | Carrier::Write => balanced(of, "requests", stats.asked, stats.completed, failed),
        Carrier::Stream { .. } => {
            // Nobody is told of a PDU that was lost on its way; but where nothing waits, nothing will arrive.
            let lost = match left.oldest_message {
                Some(_) => failed + fact(ProtocolFact::Discarded),
                None => u64::MAX,
            };
            balanced(of, "PDUs", stats.asked, stats.delivered, lost)
        }
    }
}
