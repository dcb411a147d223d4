//! Links of other media than RapidIO, alone and with Scheduled Transfer on them.
mod common;
use common::*;
use models::config::*;
use models::path::Roads;
use models::stats::TransferTotals;
use models::transfer_rate::TransferPath;
use models::{Progress, RunOptions, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

const MICROSECOND: u64 = 1_000_000;

/// Endpoints on a switch, all links of `medium` at its usual rate.
fn on_medium(medium: Medium, endpoints: usize, model: SwitchConfig) -> Net {
    let mut net = single(endpoints, model);
    for (index, link) in net.config.links.iter_mut().enumerate() {
        link.char_ps = medium.octet_ps(medium.rates()[0]);
        (link.lanes, link.symbol_chars, link.long_symbols, link.ack_window) = (1, 0, false, u16::MAX);
        net.config.media.push(MediumLink { link: index as u32, medium });
    }
    net
}

fn way(net: &Net, medium: Medium, stu: u32) -> TransferPath {
    let roads = Roads::new(&net.config);
    let path = |from, to| roads.path(from, to).expect("packets arrive");
    TransferPath::on_medium(path(0, 1), path(1, 0), stu, medium)
}

/// Every end but the first wants `job` of the first, or the second of the first alone.
fn ends(medium: Medium, count: u16, stu: u32, job: TransferJob, change: impl Fn(&mut TransferConfig)) -> Net {
    let mut net = on_medium(medium, usize::from(count), SwitchConfig { reads_per_input: 4, ..switch(count as u8) });
    let way = way(&net, medium, stu);
    let timeout = 10 * way.round_trip();
    let patience = way.patience(timeout, 2 * u64::from(count) * job.enabled(), 1 << job.blocksize);
    let nodes: Vec<TransferConfig> = (0..count)
        .map(|node| {
            let mut config = TransferConfig {
                node,
                medium: Some(medium),
                priority: 0,
                cos: 0,
                stream_id: 0,
                protocol: scheduled_transfer::Config {
                    op_timeout: timeout,
                    missing_timeout: Some(patience),
                    medium: medium.layer(),
                    max_stu: stu.trailing_zeros(),
                    cut_stu: stu.trailing_zeros(),
                    pending_timeouts: 1_000_000,
                    ..scheduled_transfer::Config::default()
                },
                job,
                peers: if node == 0 { vec![] } else { vec![0] },
                connect_at: Time(u64::from(node) * 77_000),
                spread: Duration(0),
                receives: None,
                faults: [TransferFaults::default(); 2],
                delay: Duration(0),
                program: None,
                stream: format!("e{node:03}/transfer"),
                charted: false,
                captured: false,
            };
            change(&mut config);
            config
        })
        .collect();
    let ids: Vec<u32> = (0..u32::from(count)).collect();
    net.conversation(ProtocolConfig::Transfer(Box::new(nodes[0].clone())), &ids, &[]);
    for (&id, node) in ids.iter().zip(nodes) {
        net.agent(id).parts[0].protocol = ProtocolConfig::Transfer(Box::new(node));
    }
    net
}

fn job(bytes: u64, window: u16, blocksize: u16) -> TransferJob {
    TransferJob {
        read: false,
        bytes,
        count: 1,
        concurrent: 1,
        cts_req: window,
        blocksize,
        notify: false,
        state_every: 0,
        disconnect: true,
    }
}

fn totals(net: &Net, until: u64) -> (TransferTotals, models::Outcome) {
    let options = RunOptions { wire_check: true, ..RunOptions::default() };
    let mut simulation = Simulation::new(Arc::new(net.config.clone()), options, ());
    assert_ne!(simulation.run(Time(until), u64::MAX), Progress::Stalled);
    let ((), outcome) = simulation.finish();
    let [totals] = &outcome.transfers[..] else { panic!("one flow") };
    let stats = &totals.stats;
    let wrong = (stats.corrupt, stats.stray_octets, stats.foreign, stats.broken);
    assert_eq!(wrong, (0, 0, 0, None), "{totals:?}");
    assert_eq!((totals.unverified, totals.repeated), (0, 0), "{totals:?}");
    (totals.clone(), outcome)
}

/// Whole STU, exponent of the Block.
fn sizes(medium: Medium) -> (u32, u16) {
    match medium {
        Medium::Ethernet => (1_024, 13),
        Medium::AtmLane => (8_192, 16),
        Medium::Hippi6400 | Medium::HippiFp | Medium::FibreChannel => (16_384, 17),
    }
}

/// One Write comes to at least 98 % of what its path can carry, and every octet is right.
#[test]
fn a_write_fills_each_medium() {
    for medium in Medium::ALL {
        let (stu, blocksize) = sizes(medium);
        let net = ends(medium, 2, stu, job(16 << 20, 8, blocksize), |_| ());
        let way = way(&net, medium, stu);
        let block = 1u64 << blocksize;
        let analytic = u128::from(way.block_time(block)) * (16 << 20) / u128::from(block);
        let (totals, outcome) = totals(&net, analytic as u64 * 2);
        let stats = &totals.stats;
        assert_eq!((stats.completed, stats.verified, stats.timeouts, stats.logged), (1, 1, 0, 0), "{medium:?}");
        assert_eq!(stats.payload, 16 << 20, "nothing is sent twice");
        let took = stats.last_done.unwrap().0 - stats.first_begun.unwrap().0;
        assert!(u128::from(took) >= analytic, "{medium:?} is faster than its link");
        assert!(u128::from(took) * 98 <= analytic * 100, "{medium:?}: {took} ps instead of {analytic}");
        assert_eq!(outcome.dropped, 0);
        assert!(outcome.wire_checked.packets > 0 && outcome.wire_checked.symbols == 0);
    }
}
