//! Looks at a run that goes on: it does not notice, and what is seen adds up.
use crate::common::*;
use crate::random_fabrics::{fabric, with_agents};
use models::run::PipelineMode;
use models::stats::PortStats;
use models::{Outcome, Progress, RunOptions, Simulation};
use proptest::prelude::*;
use sim_core::Time;
use std::sync::Arc;

/// What was seen at the look before.
#[derive(Default)]
pub struct Looked {
    ports: Vec<PortStats>,
    delivered: u64,
    pub looks: u64,
}

impl Looked {
    /// Checks a look: packets are conserved, no transmitter was busy for longer than there was time, no queue
    /// was released more often than stopped, and no count has become smaller.
    pub fn after(&mut self, seen: &Outcome) {
        let Outcome { end, injected, replicated, delivered, dropped, in_flight, .. } = *seen;
        assert_eq!(injected + replicated, delivered + dropped + in_flight);
        assert!(delivered >= self.delivered);
        let ports: Vec<PortStats> = seen.ports.iter().map(|port| port.2).collect();
        self.ports.resize(ports.len(), PortStats::default());
        for (port, before) in ports.iter().zip(&self.ports) {
            assert!(port.packet_ps <= end.0 && port.xon_edges <= port.xoff_edges, "{end:?}: {port:?}");
            let counts = |of: &PortStats| [of.packets_sent, of.packet_ps, of.xoff_edges, of.stopped_ps];
            let grown = counts(port).into_iter().zip(counts(before)).all(|(now, then)| now >= then);
            assert!(grown, "{end:?}: {before:?} became {port:?}");
        }
        (self.ports, self.delivered) = (ports, delivered);
        self.looks += 1;
    }
}

proptest! {
    #![proptest_config(property(80, 53))]

    /// In slices with a look behind each, and at once without any.
    #[test]
    fn looks_change_nothing(
        seed in any::<u64>(), voq in any::<bool>(), agents in any::<bool>(), slice in 1..2_000u64,
    ) {
        let mut net = fabric(seed, voq);
        if agents {
            with_agents(&mut net, seed);
        }
        let config = Arc::new(net.config);
        let run = |slice: u64, looked: &mut Looked| {
            let mut run = Simulation::new(config.clone(), RunOptions::default(), Log::default());
            while run.run(Time(300 * T), slice) == Progress::Running {
                looked.after(&run.look());
            }
            let (log, outcome) = run.finish();
            (format!("{:?}", log.deliveries), format!("{:?}", log.edges), format!("{outcome:?}"))
        };
        let (mut looked, mut blind) = (Looked::default(), Looked::default());
        prop_assert_eq!(run(slice, &mut looked), run(u64::MAX, &mut blind));
        prop_assert_eq!(blind.looks, 0);
    }

    /// Who has enough after some events has what a run up to that instant has, also where others of the same
    /// instant were still to come.
    #[test]
    fn who_stops_has_the_whole_instant(
        seed in any::<u64>(), voq in any::<bool>(), agents in any::<bool>(), events in 1..3_000u64,
        unfolded in any::<bool>(),
    ) {
        let mut net = fabric(seed, voq);
        if agents {
            with_agents(&mut net, seed);
        }
        let config = Arc::new(net.config);
        let pipeline = if unfolded { PipelineMode::Unfolded } else { PipelineMode::Folded };
        let run = |until: Time, events: u64| {
            let options = RunOptions { pipeline, ..RunOptions::default() };
            let mut run = Simulation::new(config.clone(), options, Log::default());
            let progress = run.run(until, events);
            let now = run.now();
            let (log, outcome) = run.finish();
            (progress, now, format!("{:?} {:?} {outcome:?}", log.deliveries, log.edges))
        };
        let (progress, now, some) = run(Time(300 * T), events);
        if progress == Progress::Running {
            prop_assert_eq!(some, run(now, u64::MAX).2);
        }
    }
}
