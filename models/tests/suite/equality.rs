//! Speed changes nothing: event lists, pipeline folding, probes.
use crate::common::*;
use models::config::*;
use sim_core::Duration;

fn same_everywhere(config: &FabricConfig, until: u64) {
    let mut first = None;
    for options in ALL_OPTIONS {
        let (count, outcome) = run_with(config, until, Count::default(), options);
        assert!(outcome.delivered > 100, "the run moves packets: {outcome:?}");
        let ports = outcome.ports.clone();
        let seen = (
            outcome.outcome,
            outcome.trajectory,
            outcome.packet_hops,
            outcome.delivered,
            count.latency,
            ports,
        );
        match &first {
            None => first = Some(seen),
            Some(first) => {
                assert_eq!(first.2, seen.2, "{options:?}: packet hops");
                assert_eq!(first.0, seen.0, "{options:?}: outcome");
                assert_eq!(first.1, seen.1, "{options:?}: trajectory");
                assert_eq!(first.4, seen.4, "{options:?}");
                assert_eq!(first.5, seen.5, "{options:?}: port totals");
            }
        }
    }
}

#[test]
fn uniform_traffic_through_one_switch() {
    let mut star = Star::new(8, switch(8));
    uniform(&mut star, 60);
    same_everywhere(&star.config, 200_000_000);
}

#[test]
fn overload_with_few_buffers() {
    let mut star = Star::new(6, switch(6));
    uniform(&mut star, 98);
    for device in &mut star.config.devices {
        for p in &mut device.ports {
            p.buffers = 5;
        }
    }
    same_everywhere(&star.config, 200_000_000);
}

#[test]
fn every_organisation_of_a_switch() {
    for input in [InputQueueing::Fifo, InputQueueing::Voq] {
        for buffering in
            [Buffering::Direct, Buffering::Crosspoint { depth: 2 }, Buffering::Output { packets: 4 }]
        {
            for arbitration in [
                Arbitration::RoundRobin,
                Arbitration::OldestFirst,
                Arbitration::Random,
                Arbitration::Islip { iterations: 2 },
            ] {
                for slot in [None, Some(Duration(T + 2 * T_CS))] {
                    let model = SwitchConfig { input, buffering, arbitration, slot, ..switch(5) };
                    let mut star = Star::new(5, model);
                    uniform(&mut star, 70);
                    same_everywhere(&star.config, 60_000_000);
                }
            }
        }
    }
}

#[test]
fn cut_through() {
    let model = SwitchConfig { forwarding: Forwarding::CutThrough { header: 4 }, ..switch(5) };
    let mut star = Star::new(5, model);
    star.slow_link(2, 2);
    uniform(&mut star, 40);
    same_everywhere(&star.config, 100_000_000);
}

#[test]
fn backpressure_shared_and_per_ingress() {
    for verdict in [Verdict::Shared, Verdict::PerIngress] {
        for staging in [StagingConfig::PerPort, StagingConfig::Modulo(2)] {
            let mut star = Star::new(6, switch(6));
            uniform(&mut star, 95);
            star.slow_link(1, 2);
            star.backpressure(staging.clone(), Detector { x_on: 4, x_off: 2, verdict });
            same_everywhere(&star.config, 200_000_000);
        }
    }
}
