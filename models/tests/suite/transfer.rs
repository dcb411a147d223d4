//! Scheduled Transfer over a fabric.
use crate::common::*;
use models::config::*;
use models::goal::{Action, Event, Rank, Schedule, collective};
use models::path::Roads;
use models::run::{ListKind, PipelineMode};
use models::stats::TransferTotals;
use models::transfer_rate::TransferPath;
use models::{Progress, RunOptions};
use sim_core::{Duration, Time};
use std::sync::Arc;

const MICROSECOND: u64 = 1_000_000;

/// The way between two endpoints of a fabric.
fn way(net: &Net, from: u32, to: u32) -> TransferPath {
    let roads = Roads::new(&net.config);
    let path = |from, to| roads.path(from, to).expect("packets arrive");
    TransferPath::new(path(from, to), path(to, from), 1024, Mtu::MAX, IdSize::Dev8)
}

fn job(bytes: u64, count: u64) -> TransferJob {
    TransferJob { bytes, count, ..TransferJob::default() }
}

/// Ends that want `job` of their peers, on one switch, after `change`.
fn ends(
    count: u16,
    job: TransferJob,
    peers: impl Fn(u16) -> Vec<u16>,
    change: impl Fn(&mut TransferConfig),
) -> Net {
    let mut net = single(usize::from(count), switch(count as u8));
    let way = way(&net, 0, 1);
    let timeout = 10 * way.round_trip();
    // Every end may talk to all others, in both directions.
    let enabled = 2 * u64::from(count - 1) * job.enabled();
    let patience = way.patience(timeout, enabled, 1 << job.blocksize);
    let nodes: Vec<TransferConfig> = (0..count)
        .map(|node| {
            let protocol = scheduled_transfer::Config {
                op_timeout: timeout,
                missing_timeout: Some(patience),
                ..scheduled_transfer::Config::default()
            };
            let mut config = transfer_end(node, None, protocol, job);
            config.stream_id = 7;
            config.peers = peers(node);
            change(&mut config);
            config
        })
        .collect();
    net.transfers(nodes);
    net
}

/// Node 0 wants something of node 1.
fn pair(job: TransferJob, change: impl Fn(&mut TransferConfig)) -> Net {
    ends(2, job, |node| if node == 0 { vec![1] } else { vec![] }, change)
}

fn totals(net: &Net, until: u64) -> TransferTotals {
    let (_, outcome) = net.run(until);
    let totals = outcome.totals.one::<TransferTotals>().expect("one flow");
    sound(totals);
    totals.clone()
}

/// What holds in every run.
fn sound(totals: &TransferTotals) {
    let stats = &totals.stats;
    assert_eq!(
        (stats.corrupt, stats.stray_octets, stats.foreign, stats.broken),
        (0, 0, 0, None),
        "{totals:?}"
    );
    assert_eq!((totals.unverified, totals.repeated), (0, 0), "{totals:?}");
    if totals.clean && stats.timeouts == 0 && stats.payload == stats.verified_octets {
        assert_eq!(stats.logged, 0, "{totals:?}");
    }
    let over = stats.completed + stats.aborted.iter().sum::<u64>();
    assert_eq!(stats.begun, over + totals.under_way, "{totals:?}");
}

fn faults(lost: u32, doubled: u32, delayed: u32) -> TransferFaults {
    TransferFaults { lost, doubled, delayed, damaged: 0 }
}

#[test]
fn writes_and_reads_arrive_octet_for_octet() {
    for operation in [Operation::Write, Operation::Read] {
        for bytes in [8, 1_000, 100_001] {
            let net = pair(TransferJob { operation, concurrent: 3, ..job(bytes, 10) }, |_| ());
            let totals = totals(&net, 2_000 * MICROSECOND);
            let stats = &totals.stats;
            assert_eq!((stats.wanted, stats.completed, stats.verified), (10, 10, 10), "{totals:?}");
            assert_eq!(stats.verified_octets, 10 * bytes);
            assert_eq!(stats.payload, stats.verified_octets, "nothing is sent twice");
            assert_eq!((stats.timeouts, stats.connects, stats.opened, stats.closed), (0, 1, 1, [2, 0]));
            assert!(totals.clean);
        }
    }
}

/// Equal numbers whatever the event list and the pipeline.
#[test]
fn results_do_not_depend_on_the_kernel() {
    let all = |node| (0..4).filter(|&peer| peer != node).collect();
    let net = ends(4, TransferJob { concurrent: 2, ..job(20_000, 6) }, all, |node| {
        node.faults = [faults(10_000, 10_000, 0), faults(20_000, 10_000, 20_000)];
        node.protocol.ordered = false;
        node.job.blocksize = 10;
        if node.node == 2 {
            node.job.operation = Operation::Read;
        }
        node.delay = Duration(MICROSECOND);
        node.receives = Some(3);
        node.spread = Duration(MICROSECOND);
    });
    let config = Arc::new(net.config.clone());
    let mut found = Vec::new();
    for options in options() {
        let mut simulation = models::Simulation::new(Arc::clone(&config), options, ());
        assert_eq!(simulation.run(Time(10_000 * MICROSECOND), u64::MAX), Progress::Drained);
        let outcome = simulation.finish().1;
        found.push((
            outcome.totals.one::<TransferTotals>().expect("one flow").clone(),
            outcome.outcome,
            outcome.trajectory,
        ));
    }
    assert!(found.iter().all(|other| *other == found[0]));
    let totals = &found[0].0;
    sound(totals);
    let stats = &totals.stats;
    assert_eq!(stats.completed, 72, "{totals:?}");
    assert!(stats.lost > 20 && stats.doubled > 20 && stats.delayed > 20 && stats.paused > 0, "{totals:?}");
}

/// Every combination that must not matter.
fn options() -> Vec<RunOptions> {
    let heap = RunOptions { list: ListKind::Heap, ..RunOptions::default() };
    let unfolded = RunOptions { pipeline: PipelineMode::Unfolded, ..RunOptions::default() };
    vec![RunOptions::default(), heap, unfolded]
}

#[test]
fn what_is_lost_is_sent_again() {
    for operation in [Operation::Write, Operation::Read] {
        let net = pair(TransferJob { operation, concurrent: 2, ..job(200_000, 10) }, |node| {
            node.faults = [faults(10_000, 0, 0); 2];
        });
        let totals = totals(&net, 20_000 * MICROSECOND);
        let stats = &totals.stats;
        assert_eq!((stats.completed, stats.verified), (10, 10), "{totals:?}");
        assert!(stats.lost > 10 && stats.payload > stats.verified_octets, "{totals:?}");
    }
}

/// With a window that covers the round trip the path carries what headers leave of it.
#[test]
fn one_write_fills_the_path() {
    let bytes = 4 << 20;
    let net = pair(TransferJob { cts_req: 4, ..job(bytes, 1) }, |_| ());
    let way = way(&net, 0, 1);
    let block = 1 << 13;
    assert!(4 * way.block_time(block) >= way.block_latency(block), "the window covers the round trip");
    let totals = totals(&net, 20_000 * MICROSECOND);
    let [time] = totals.stats.times[..] else { panic!("{totals:?}") };
    let least = bytes / block * way.block_time(block);
    let efficiency = least as f64 / time as f64;
    assert!((0.98..=1.0).contains(&efficiency), "{efficiency}, {least} of {time} ps");
}

/// Throughput against the window: W Blocks in the time from a permission to the end of its Block.
#[test]
fn a_small_window_sets_the_pace() {
    let bytes = 1 << 20;
    for (blocksize, window) in [(10, 1), (10, 2), (12, 1), (13, 1)] {
        let block = 1u64 << blocksize;
        let net = pair(TransferJob { cts_req: window, blocksize, ..job(bytes, 1) }, |_| ());
        let way = way(&net, 0, 1);
        let cycle = way.block_latency(block).div_ceil(window.into()).max(way.block_time(block));
        let law = bytes / block * cycle;
        let totals = totals(&net, 20_000 * MICROSECOND);
        let [time] = totals.stats.times[..] else { panic!("{totals:?}") };
        let error = time as f64 / law as f64 - 1.0;
        assert!(error.abs() < 0.02, "window {window} of {block}: {time} for {law} ps, {error}");
    }
}

#[test]
fn a_destination_takes_a_few_at_a_time() {
    let net = ends(
        5,
        job(50_000, 3),
        |node| if node == 0 { vec![] } else { vec![0] },
        |node| {
            node.receives = Some(1);
            node.protocol.op_timeout *= 10;
            node.protocol.missing_timeout = None;
        },
    );
    let totals = totals(&net, 5_000 * MICROSECOND);
    let stats = &totals.stats;
    assert_eq!((stats.completed, stats.timeouts), (12, 0), "{totals:?}");
    assert!(stats.paused >= 3, "{totals:?}");
}

/// A Write is complete for its source as soon as the protocol at the other end says so. The upper layer
/// there looks every 20 us: at 20 us it accepts the connection, at 40 us it exposes memory, at 60 us it sees
/// what has come. When the run ends before, the Transfer is neither verified nor lost.
#[test]
fn what_the_upper_layer_has_not_looked_at_is_not_lost() {
    let net = pair(job(4_000, 1), |config| {
        config.protocol.op_timeout = 1_000 * MICROSECOND;
        config.upper.poll = Duration(u64::from(config.node) * 20 * MICROSECOND);
    });
    let told = |until: u64| {
        let totals = totals(&net, until);
        (totals.stats.completed, totals.not_looked_at, totals.stats.verified, totals.overwritten)
    };
    assert_eq!(told(60 * MICROSECOND - 1), (1, 1, 0, 0));
    assert_eq!(told(60 * MICROSECOND + 1), (1, 0, 1, 0));
}

/// Three Puts, one after the other, with one place between them. All are there within 10 us; the upper layer
/// looks at the first at once, and then needs 50 us for its header. When it looks for the second, it finds
/// the third. With a place for each nothing is lost.
#[test]
fn a_put_that_was_overwritten_before_anybody_looked_is_told() {
    let put = |concurrent| TransferJob { operation: Operation::Put, concurrent, ..job(800, 3) };
    let run = |concurrent, header: u64| {
        let net = pair(put(concurrent), |config| config.upper.header = Duration(header * MICROSECOND));
        let totals = totals(&net, 1_000 * MICROSECOND);
        (totals.stats.completed, totals.stats.verified, totals.overwritten, totals.not_looked_at)
    };
    assert_eq!(run(1, 50), (3, 2, 1, 0));
    assert_eq!(run(3, 50), (3, 3, 0, 0));
    assert_eq!(run(1, 0), (3, 3, 0, 0));
    // It has not come to the second yet, and the third is there.
    assert_eq!(run(1, 2_000), (3, 1, 1, 1));
    assert_eq!(run(3, 2_000), (3, 1, 0, 2));
}

/// Nobody answers: every connection is given up after 1 + Max_Retry requests.
#[test]
fn a_dead_medium_ends_in_failure() {
    let net = pair(job(1_000, 5), |node| node.faults = [faults(1_000_000, 0, 0); 2]);
    let totals = totals(&net, 2_000 * MICROSECOND);
    let stats = &totals.stats;
    assert_eq!((stats.wanted, stats.begun, stats.opened, stats.closed), (5, 0, 0, [0, 1]), "{totals:?}");
    assert_eq!((stats.control.frames, stats.timeouts, stats.exhausted), (4, 4, 1), "{totals:?}");
}

/// A program on as many ends as it has ranks, rank n on node n.
fn program(schedule: Schedule, change: impl Fn(&mut TransferConfig)) -> Net {
    let schedule = Arc::new(schedule);
    let count = schedule.ranks.len() as u16;
    let nodes: Arc<Vec<u16>> = Arc::new((0..count).collect());
    let all = |node| (0..count).filter(|&peer| peer != node).collect();
    ends(count, job(1 << 16, 1), all, |node| {
        let (schedule, nodes) = (Arc::clone(&schedule), Arc::clone(&nodes));
        let program = ProgramConfig { schedule, nodes, rank: node.node.into(), eager: 4096 };
        node.program = Some(program);
        change(node);
    })
}

/// Programs end, on a sound medium and on one that loses frames; and earlier on the sound one.
#[test]
fn programs_come_to_their_end() {
    for schedule in [
        collective::allreduce_halving(8, 65_536),
        collective::all_to_all(5, 3_000),
        collective::broadcast(7, 20_000),
        collective::barrier(6),
    ] {
        let (ranks, messages, octets) = (schedule.ranks.len(), schedule.messages(), schedule.octets());
        let mut ends = Vec::new();
        for lost in [0, 5_000] {
            let net = program(schedule.clone(), |node| node.faults = [faults(lost, 0, 0); 2]);
            let totals = totals(&net, 20_000 * MICROSECOND);
            let stats = &totals.stats;
            assert_eq!((stats.wanted, stats.completed, stats.verified), (messages, messages, messages));
            assert!(stats.verified_octets >= octets);
            assert_eq!(totals.ranks.len(), ranks);
            let end = totals.ranks.iter().map(|rank| rank.end.expect("over")).max();
            ends.push((end, stats.lost > 0));
        }
        assert!(ends[0].0 <= ends[1].0, "{ends:?}");
    }
}

/// Two ranks in turn: computing and one way of a message, many times.
#[test]
fn a_program_takes_what_its_parts_take() {
    let mut schedule = Schedule::new(2);
    let (rounds, time, octets) = (50, Duration(MICROSECOND), 1_024);
    for (own, other) in [(0, 1), (1, 0)] {
        let rank = &mut schedule.ranks[own];
        let mut before = None;
        for _ in 0..rounds {
            let turn = |rank: &mut Rank, action, before: Option<u32>| {
                let op = rank.push(action);
                before.into_iter().for_each(|before| rank.wait(op, Event::End, before));
                Some(op)
            };
            let (from, to) = (other as u32, other as u32);
            let send = [Action::Calculate(time), Action::Send { octets, to, tag: 1 }];
            let receive = [Action::Receive { octets, from, tag: 1 }];
            let (first, second) =
                if own == 0 { (&send[..], &receive[..]) } else { (&receive[..], &send[..]) };
            for &action in first.iter().chain(second) {
                before = turn(rank, action, before);
            }
        }
    }
    schedule.check().unwrap();
    let net = program(schedule, |_| ());
    let way = way(&net, 0, 1);
    let totals = totals(&net, 1_000 * MICROSECOND);
    // Request, permission, Data: then the message is there.
    let message = way.question() + way.round_trip() - way.question() / 2;
    let law = 2 * rounds * (MICROSECOND + message);
    let ends: Vec<u64> = totals.ranks.iter().map(|rank| rank.end.expect("over").0).collect();
    let (last, computed) = (ends.iter().max().unwrap(), totals.ranks[0].computed.0);
    let set_up = 3 * way.round_trip();
    assert!((law..law + set_up + law / 50).contains(last), "{last} ps, the law says {law}");
    assert_eq!(computed, rounds * MICROSECOND);
}
