//! What is seen of one variant between two slices.

use analysis::trace::port_text;
use models::Outcome;
use models::config::FabricConfig;
use models::probe::ProtocolFact;
use models::sim_core::Time;
use std::time::Duration;

/// Rows that are kept of a list.
pub(super) const ROWS: usize = 20;

/// Whether a variant is being simulated.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Waiting,
    Running,
    Over,
}

/// What is seen of a variant.
#[derive(Clone, Debug)]
pub(super) struct Sight {
    pub name: String,
    pub state: State,
    /// Simulated time, picoseconds, and its share of the whole.
    pub now_ps: u64,
    pub share: f64,
    /// Events in a second of wall-clock time; seconds left.
    pub speed: f64,
    pub left_s: f64,
    /// Packets created (copies included), delivered, dropped, under way.
    pub packets: [u64; 4],
    /// Busiest directions of links since the look before, with the share of the time in which they carried
    /// packets.
    pub links: Vec<(String, f64)>,
    /// Ports with stopped staging queues: how many are stopped now, and how often one was.
    pub stopped: Vec<(String, u64, u64)>,
    /// Staging queues that are stopped, and ports that have them.
    pub all_stopped: (u64, usize),
    /// Flows that protocols run.
    pub protocols: Vec<Talk>,
    /// Time and picoseconds of packets of each port at the look before.
    before: (u64, Vec<u64>),
}

/// What the protocols of a flow did so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Talk {
    pub flow: String,
    /// Messages sent; of these, ended well; messages handed over.
    pub counts: [u64; 3],
    /// What they met, in words.
    pub met: String,
}

impl Sight {
    pub fn new(name: &str) -> Self {
        Sight {
            name: name.to_owned(),
            state: State::Waiting,
            now_ps: 0,
            share: 0.0,
            speed: 0.0,
            left_s: f64::INFINITY,
            packets: [0; 4],
            links: Vec::new(),
            stopped: Vec::new(),
            all_stopped: (0, 0),
            protocols: Vec::new(),
            before: (0, Vec::new()),
        }
    }

    /// A look: totals so far of a run that ends at `until`, after so much wall-clock time.
    pub fn update(&mut self, config: &FabricConfig, outcome: &Outcome, until: Time, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        self.now_ps = outcome.end.0;
        self.share = (self.now_ps as f64 / until.0.max(1) as f64).min(1.0);
        self.speed = outcome.events as f64 / seconds;
        self.left_s = seconds / self.share * (1.0 - self.share);
        let Outcome { injected, replicated, delivered, dropped, in_flight, .. } = *outcome;
        self.packets = [injected + replicated, delivered, dropped, in_flight];
        self.see_links(config, outcome);
        self.see_queues(config, outcome);
        let flows = outcome.protocols.iter().zip(&config.flows);
        let talks = flows.filter(|(stats, _)| stats.sent + stats.delivered > 0);
        self.protocols = talks
            .map(|(stats, flow)| Talk {
                flow: flow.name.clone(),
                counts: [stats.sent, stats.completed, stats.delivered],
                met: met(&stats.facts),
            })
            .collect();
    }

    fn see_links(&mut self, config: &FabricConfig, outcome: &Outcome) {
        let (then, ref old) = self.before;
        let span = outcome.end.0.saturating_sub(then);
        let carried = |index: usize| {
            let packet_ps = outcome.ports[index].2.packet_ps;
            packet_ps - old.get(index).copied().unwrap_or(0).min(packet_ps)
        };
        let mut busy: Vec<usize> = (0..outcome.ports.len()).filter(|&index| carried(index) > 0).collect();
        busy.sort_by_key(|&index| (u64::MAX - carried(index), index));
        busy.truncate(ROWS);
        let link = |index: usize| {
            let (device, port, _) = outcome.ports[index];
            (way(config, (device, port)), (carried(index) as f64 / span as f64).min(1.0))
        };
        // Two looks at the same instant have nothing between them.
        if span > 0 {
            self.links = busy.into_iter().map(link).collect();
            self.before = (outcome.end.0, outcome.ports.iter().map(|port| port.2.packet_ps).collect());
        }
    }

    fn see_queues(&mut self, config: &FabricConfig, outcome: &Outcome) {
        let stopped = outcome.ports.iter().filter_map(|(device, port, stats)| {
            let now = stats.xoff_edges - stats.xon_edges;
            (now > 0).then(|| (port_text(config, (*device, *port)), now, stats.xoff_edges))
        });
        self.stopped = stopped.collect();
        self.all_stopped = (self.stopped.iter().map(|port| port.1).sum(), self.stopped.len());
        self.stopped.sort_by_key(|port| u64::MAX - port.1);
        self.stopped.truncate(ROWS);
    }
}

/// A direction of a link, by the port that sends.
fn way(config: &FabricConfig, from: (u32, u8)) -> String {
    let to = config.links.iter().find_map(|link| match from {
        from if from == link.a => Some(link.b),
        from if from == link.b => Some(link.a),
        _ => None,
    });
    let to = to.map_or_else(String::new, |to| port_text(config, to));
    format!("{} > {to}", port_text(config, from))
}

/// What protocols met, as often as it happened.
fn met(facts: &[u64]) -> String {
    let words = |fact| match fact {
        ProtocolFact::Retried => "RETRY",
        ProtocolFact::Discarded => "discarded",
        ProtocolFact::Abandoned => "given up",
        ProtocolFact::Failed => "failed",
        ProtocolFact::TimedOut => "timed out",
        ProtocolFact::ConduitOpen => "ends of conduits opened",
        ProtocolFact::ConduitEnded => "ends of conduits ended",
        ProtocolFact::Connected => "ends of connections up",
        ProtocolFact::Disconnected => "ends of connections down",
        ProtocolFact::OpenFailed => "OPENs failed",
        ProtocolFact::Mistaken => "answers mistaken",
    };
    let happened = ProtocolFact::ALL.into_iter().zip(facts).filter(|(_, count)| **count > 0);
    let happened: Vec<String> = happened.map(|(fact, count)| format!("{count} {}", words(fact))).collect();
    happened.join(", ")
}
