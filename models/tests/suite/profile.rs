//! What a run has handled, by kind.
use crate::common::*;
use models::Simulation;
use models::config::*;
use sim_core::{Duration, Time};
use std::sync::Arc;

/// A hundred packets through one switch, alone, three packet times from one to the next: what there is, by
/// kind. Nobody samples.
fn kinds(forwarding: Forwarding, buffers: u8, option: usize) -> Vec<(&'static str, u64)> {
    let mut net = single(2, SwitchConfig { forwarding, ..switch(2) });
    net.buffers(buffers);
    let arrivals = Arrivals::Constant { interval: (3 * T, 1), phase: Duration(0) };
    net.source(0, 0, arrivals, Destinations::Fixed(1)).limit = 100;
    let config = Arc::new(net.config);
    let run = |profile| {
        let options = models::RunOptions { profile, ..ALL_OPTIONS[option] };
        let mut run = Simulation::new(config.clone(), options, Log::default());
        let _ = run.run(Time(400 * T), u64::MAX);
        let profile = run.profile();
        (profile, run.finish())
    };
    let ((profile, (log, outcome)), (nothing, (law, plain))) = (run(true), run(false));
    assert_eq!(nothing, None);
    assert_eq!(format!("{:?} {outcome:?}", log.deliveries), format!("{:?} {plain:?}", law.deliveries));
    let profile = profile.expect("it was asked for");
    assert_eq!(profile.events.iter().map(|(_, count)| count).sum::<u64>(), outcome.events);
    assert_eq!(profile.list.ring.is_some(), option % 2 == 1);
    profile.events
}

/// By hand. Where nobody waits: what the endpoint does is made up as the packet arrives at the switch (the
/// first creation is an event, before anything runs); the sink takes what it gets. Where one buffer more than
/// the highest watermark is there, the release of each is told at once, so the end of each transmission out
/// of it is an event, and with cut-through its acceptance, too. Unfolded, every step is one: in, through the
/// pipeline, out at either end, and delivered.
#[test]
fn kinds_of_events_of_a_packet() {
    let cut_through = Forwarding::CutThrough { header: 16 };
    let made_up = "packet of an endpoint, made up";
    for forwarding in [Forwarding::StoreAndForward, cut_through] {
        let law = [("arrival at a switch", 1), ("creation", 1), (made_up, 99)];
        assert_eq!(kinds(forwarding, 16, 1), law);
    }
    let [arrival, end, creation] = ["arrival at a switch", "end of a transmission", "creation"];
    let law = [(arrival, 100), (end, 100), (creation, 100)];
    assert_eq!(kinds(Forwarding::StoreAndForward, 5, 0), law);
    let law = [(arrival, 100), ("acceptance", 100), (end, 100), (creation, 100)];
    assert_eq!(kinds(cut_through, 5, 1), law);
    let law = [(arrival, 100), ("end of a pipeline", 100), ("delivery", 100), (end, 200), (creation, 100)];
    assert_eq!(kinds(Forwarding::StoreAndForward, 16, 2), law);
}
