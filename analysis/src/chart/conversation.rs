//! What the ends of chosen conversations say to each other in a part of a run.

use super::Chart;
use crate::trace::Filter;
use models::Probe;
use models::config::{FabricConfig, ProtocolConfig};
use models::probe::{Signal, SignalKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Keeps what belongs into a chart and passes a filter.
#[derive(Debug)]
pub struct Conversation {
    config: Arc<FabricConfig>,
    filter: Filter,
    signals: Vec<Signal>,
}

impl Conversation {
    /// Of the devices, flows and the time of a filter.
    #[must_use]
    pub const fn new(config: Arc<FabricConfig>, filter: Filter) -> Self {
        Self { config, filter, signals: Vec::new() }
    }

    /// Lets the ends of protocols tell what they say, whether or not their flows are charted; whether there
    /// are any. What passes a translator is in no chart.
    pub fn prepare(config: &mut FabricConfig) -> bool {
        let mut found = false;
        let passes = !config.translation.translators.is_empty();
        for part in config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
            let charted = match &mut part.protocol {
                ProtocolConfig::Linx(linx) => &mut linx.charted,
                ProtocolConfig::Session(session) => &mut session.charted,
                ProtocolConfig::Transfer(transfer) if !passes => &mut transfer.charted,
                _ => continue,
            };
            (*charted, found) = (true, true);
        }
        found
    }

    /// The chart.
    #[must_use]
    pub fn chart(&self, title: &str, subtitle: &str) -> Chart {
        // Who is spoken to need not answer within the time of the filter.
        let spoken_to = self.signals.iter().filter_map(|signal| match signal.kind {
            SignalKind::Sent { to, .. } | SignalKind::Lost { to, .. } => self.owner(to),
            _ => None,
        });
        let nodes: BTreeSet<u32> = spoken_to.collect();
        Chart::of_signals((title, subtitle), &self.config, nodes, self.signals.iter().collect())
    }

    /// Device of an id.
    fn owner(&self, id: u16) -> Option<u32> {
        self.config.owners.get(usize::from(id)).copied()
    }
}

impl Probe for Conversation {
    fn signal(&mut self, signal: &Signal) {
        let other = match signal.kind {
            SignalKind::Sent { to, .. } | SignalKind::Lost { to, .. } => self.owner(to),
            SignalKind::Arrived { source, .. } => Some(source),
            SignalKind::Note { .. } => None,
            SignalKind::Frame { .. } => return,
        };
        let devices: Vec<u32> = [signal.device].into_iter().chain(other).collect();
        if self.filter.passes(signal.at, &devices, Some(signal.flow)) {
            self.signals.push(signal.clone());
        }
    }
}
