//! A run that ends because nothing is left to do has done everything.
mod common;
use common::*;
use models::{Progress, Simulation};
use sim_core::Time;
use std::sync::Arc;

#[test]
fn a_drained_run_has_delivered_every_packet_in_every_mode() {
    for options in ALL_OPTIONS {
        let mut net = single(3, switch(3));
        net.burst(0, 0, 2, 0, 10);
        net.burst(1, 0, 2, 0, 10);
        let mut sim = Simulation::new(Arc::new(net.config.clone()), options, Log::default());
        assert_eq!(sim.run(Time(1_000 * T), u64::MAX), Progress::Drained);
        let (log, outcome) = sim.finish();
        assert_eq!((outcome.delivered, outcome.in_flight), (20, 0), "{options:?}");
        assert_eq!(log.deliveries.len(), 20);
    }
}
