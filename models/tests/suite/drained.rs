//! A run that ends because nothing is left to do has done everything.
use crate::common::*;
use models::config::*;
use models::{Outcome, Progress, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

/// Runs to `until` in every mode: all end alike. The outcome of the first.
fn end(net: &Net, until: u64, progress: Progress) -> Outcome {
    let outcomes = ALL_OPTIONS.map(|options| {
        let mut sim = Simulation::new(Arc::new(net.config.clone()), options, Log::default());
        assert_eq!(sim.run(Time(until), u64::MAX), progress, "{options:?}");
        sim.finish().1
    });
    for (outcome, options) in outcomes.iter().zip(ALL_OPTIONS) {
        assert_eq!(outcome.end, outcomes[0].end, "{options:?}");
        assert_eq!(outcome.ports, outcomes[0].ports, "{options:?}");
    }
    let [first, ..] = outcomes;
    first
}

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

/// F-114: a run in which everything is over ends with the last thing that happened, however it is run and
/// watched; what is under way at the limit ends the run there.
#[test]
fn a_run_that_is_over_ends_with_its_last_change() {
    // Two links, the pipeline between them.
    let law = 2 * T + 20_000 + 100_000 + 20_000;
    for every in [None, Some(Duration(T / 3)), Some(Duration(50 * T))] {
        let mut net = single(2, switch(2));
        net.config.sample_every = every;
        net.config.stall_after = every;
        net.burst(0, 0, 1, 0, 1);
        assert_eq!(end(&net, 1_000 * T, Progress::Drained).end, Time(law), "{every:?}: the delivery is last");
        assert_eq!(end(&net, law - 1, Progress::Limit).end, Time(law - 1));
        net.switch_mut(0).routes.entries[1].egress = Egress::Drop;
        let dropped = T + 20_000 + 100_000;
        assert_eq!(end(&net, 1_000 * T, Progress::Drained).end, Time(dropped), "{every:?}: the drop is last");
    }
    // Credit for one packet of priority 0: the second starts with the acknowledgement of the first.
    let mut net = single(2, switch(2));
    net.config.devices[1].ports[0].buffers = 4;
    net.burst(0, 0, 1, 0, 2);
    assert_eq!(end(&net, 1_000 * T, Progress::Drained).end, Time(law + T_CS + 20_000 + T + 20_000));
    // A message that nobody obeys is last: its symbol begins at 0, and no packet moves.
    let mut net = single(2, switch(2));
    net.backpressure(&StagingConfig::PerPort, None);
    net.ports_mut(0)[1].voq.xoff = true;
    assert_eq!(end(&net, 1_000 * T, Progress::Drained).end, Time(T_CS + 20_000));
}

/// F-114, F-112: a packet that is left somewhere waits until the limit, and its port says for what.
#[test]
fn what_waits_for_ever_waits_until_the_limit() {
    const END: u64 = 100 * T;
    // The first packet waits for a stopped port, at its source or at the head of a FIFO; there the second
    // stands behind it, for a port that is free.
    for (staged, others) in [(true, false), (true, true), (false, false), (false, true)] {
        let model = SwitchConfig { input: InputQueueing::Fifo, ..switch(4) };
        let mut net = Net::new(vec![model, switch(2)], &[0, 1, 0, 0], &[(0, 1)]);
        net.backpressure(&StagingConfig::PerPort, None);
        let (stopped, device, port, arrived) = if staged {
            net.ports_mut(0)[3].voq.xoff = true;
            (1, 0, 0, 10 * T)
        } else {
            net.endpoint_mut(0).staging = StagingConfig::None;
            net.ports_mut(1)[0].voq.xoff = true;
            (1, 4, 3, 10 * T + T + 20_000 + 100_000)
        };
        net.burst(0, 0, stopped, 10 * T, 1);
        net.burst(0, 0, 2, 10 * T, 1);
        if others {
            net.saturated(2, 0, 3);
        }
        let outcome = end(&net, END, if others { Progress::Limit } else { Progress::Drained });
        assert_eq!(outcome.end, Time(END));
        let at = totals(&outcome, device, port);
        assert_eq!((at.staged_ps, at.stopped_ps), (u128::from(END - arrived), END - T_CS - 20_000));
        assert_eq!(at.longest_stop_ps, at.stopped_ps, "one stop, to the end");
        let behind = if staged { 0 } else { END - (arrived + T) };
        assert_eq!(totals(&outcome, 4, 0).hol_ps, u128::from(behind), "{staged} {others}");
    }
}

/// F-114: one packet each 20 T from a source that goes on at the end of the run. It has not ended with the
/// last of them, whatever has arrived, and nor have samples; one that stops has, and one that made all has.
#[test]
fn what_goes_on_is_not_over_with_its_last_packet() {
    const END: u64 = 50 * T;
    let law = |packets: u64| (packets - 1) * 20 * T + 2 * T + 20_000 + 100_000 + 20_000;
    for (goes_on, stop, limit, expected) in [
        (true, END, u64::MAX, (3, Progress::Limit, END)),
        (true, END, 4, (3, Progress::Limit, END)),
        (true, END, 3, (3, Progress::Drained, law(3))),
        (false, END, u64::MAX, (3, Progress::Drained, law(3))),
        (false, 30 * T, u64::MAX, (2, Progress::Drained, law(2))),
    ] {
        for every in [None, Some(Duration(T))] {
            let mut net = single(2, switch(2));
            net.config.sample_every = every;
            let source = net.constant(0, 0, 1, 5, 0);
            (source.goes_on, source.stop, source.limit) = (goes_on, Time(stop), limit);
            let (packets, progress, at) = expected;
            let outcome = end(&net, END, progress);
            assert_eq!((outcome.delivered, outcome.end), (packets, Time(at)), "{goes_on} {stop} {limit}");
            assert_eq!(outcome.over, progress == Progress::Drained);
        }
    }
}
