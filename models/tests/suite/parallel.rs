//! A fabric in parts, on several threads: whatever the partition, nothing is different.
use crate::common::*;
use crate::look::Looked;
use crate::random_fabrics::{difference, fabric};
use models::config::*;
use models::probe::Share;
use models::run::{Cost, Ledger, ListKind, Parallel, Partition, PipelineMode, Row, Threads, Whole};
use models::{Outcome, Progress, RunOptions, Simulation};
use proptest::prelude::*;
use sim_core::{Duration, Time};
use std::sync::Arc;

impl Share for Log {
    fn part(&self) -> Self {
        Log::default()
    }

    fn join(&mut self, part: Self) {
        assert!(part.samples.is_empty(), "a part does not see the whole");
        self.deliveries.extend(part.deliveries);
        self.edges.extend(part.edges);
    }
}

fn threads(count: usize) -> Threads {
    Threads { count, clock: || 0, ledger: false }
}

/// What is kept of windows adds up to what is known without.
fn ledger_adds_up(ledger: &Ledger, cost: Cost) {
    assert_eq!((ledger.parts, ledger.windows), (cost.parts, cost.windows));
    assert_eq!((ledger.events, ledger.letters), (cost.events, cost.letters));
    assert_eq!(ledger.rows.len() as u64, ledger.windows.div_ceil(ledger.every));
    if ledger.every == 1 {
        let busiest = |row: &Row| row.events.iter().max().map_or(0, |events| u64::from(*events));
        assert_eq!(ledger.rows.iter().map(busiest).sum::<u64>(), cost.longest);
        // Whatever the groups, events are all of them, and every letter that crosses has two ends.
        for level in ledger.levels() {
            let groups = || ledger.rows.iter().flat_map(move |row| ledger.groups(row, level));
            assert_eq!(groups().map(|(events, _)| events).sum::<u64>(), ledger.events);
            let ends: u64 = groups().map(|(_, ends)| ends).sum();
            assert!(ends <= 2 * ledger.letters && ends.is_multiple_of(2));
            assert!(level < ledger.parts || ends == 2 * ledger.letters);
        }
    }
    assert_eq!(ledger.spent.total(), 0, "a clock that stands still");
}

/// All that there is to see of a run, but how many events it took.
fn seen((mut log, outcome): (Log, Outcome), progress: Progress) -> [String; 4] {
    log.deliveries.sort_by_key(|d| (d.at, d.destination, d.source, d.flow, d.sequence));
    log.edges.sort_by_key(|e| (e.at, e.device, e.port, e.queue));
    let outcome = Outcome { events: 0, ..outcome };
    [
        format!("{:?}", log.deliveries),
        format!("{:?}", log.edges),
        format!("{:?}", log.samples),
        format!("{progress:?} {outcome:?}"),
    ]
}

fn whole(config: &Arc<FabricConfig>, options: RunOptions, until: u64) -> [String; 4] {
    let mut run = Simulation::new(config.clone(), options, Log::default());
    let progress = run.run(Time(until), u64::MAX);
    seen(run.finish(), progress)
}

/// In slices of so many events.
fn in_parts(
    config: &Arc<FabricConfig>,
    options: RunOptions,
    until: u64,
    (cut, count): (&Partition, usize),
    slice: u64,
) -> [String; 4] {
    let threads = Threads { ledger: options.profile, ..threads(count) };
    let mut run = Parallel::new(config.clone(), options, Log::default(), cut, threads);
    let mut looked = Looked::default();
    let progress = loop {
        match run.run(Time(until), slice) {
            Progress::Running => looked.after(&run.look()),
            end => break end,
        }
    };
    let (ledger, profile) = (run.ledger(), run.profile());
    let (log, outcome, cost) = run.finish();
    assert_eq!((ledger.is_some(), profile.is_some()), (options.profile, options.profile));
    if let (Some(ledger), Some(profile)) = (ledger, profile) {
        ledger_adds_up(&ledger, cost);
        assert_eq!(profile.events.iter().map(|(_, count)| count).sum::<u64>(), outcome.events);
    }
    assert_eq!((cost.parts, cost.threads), (cut.parts(), count.min(cut.parts())));
    assert!(cost.longest <= cost.events && cost.events <= cost.longest * cost.parts as u64);
    seen((log, outcome), progress)
}

proptest! {
    #![proptest_config(property(160, 37))]

    /// Any partition, any number of threads, any slices, both pipelines and both event lists: the same as
    /// one thread, the watchdog's words included. Nor does it change anything what is counted of it.
    #[test]
    fn parts_and_threads_change_nothing(
        seed in any::<u64>(), voq in any::<bool>(), watched in any::<bool>(), lot in any::<u64>(),
        count in 1..4usize, heap in any::<bool>(), unfolded in any::<bool>(), checks in any::<bool>(),
        profile in any::<bool>(),
    ) {
        let mut net = fabric(seed, voq);
        if watched {
            net.config.stall_after = Some(Duration(40 * T));
            net.config.stop_on_stall = seed % 3 == 0;
        }
        let config = Arc::new(net.config);
        let options = RunOptions {
            list: if heap { ListKind::Heap } else { ListKind::Ring },
            pipeline: if unfolded { PipelineMode::Unfolded } else { PipelineMode::Folded },
            wire_check: checks,
            profile,
        };
        match Partition::by_lot(&config, 3, lot) {
            Err(why) => prop_assert!([Whole::OnePiece, Whole::Symbols].contains(&why), "{why}"),
            Ok(cut) => {
                let until = 700 * T;
                let law = whole(&config, RunOptions { profile: false, ..options }, until);
                let slice = if lot % 2 == 0 { u64::MAX } else { 1 + lot % 5_000 };
                let found = in_parts(&config, options, until, (&cut, count), slice);
                for (law, found) in law.iter().zip(&found) {
                    prop_assert!(law == found, "{cut:?}: {}", difference(law, found));
                }
            }
        }
    }
}

/// Two switches, two endpoints each, 20 ns between them.
fn pair() -> Net {
    let mut net = Net::new(vec![switch(3), switch(3)], &[0, 0, 1, 1], &[(0, 1)]);
    net.config.links.iter_mut().for_each(|link| link.propagation = Duration(20_000));
    net
}

/// Endpoints go with their switch; the window is the way and one symbol.
#[test]
fn a_part_is_a_switch_with_its_endpoints() {
    let net = pair();
    let cut = Partition::new(&net.config, 8);
    assert_eq!(cut, Err(Whole::TooSmall), "10 directions carry less than 64 packets in 23 ns");
    let cut = (0..).find_map(|lot| Partition::by_lot(&net.config, 2, lot).ok()).unwrap();
    let part = |device| cut.part(device);
    assert_eq!([part(0), part(1), part(2), part(3)], [part(4), part(4), part(5), part(5)]);
    assert_ne!(part(4), part(5));
    assert_eq!(cut.lookahead(), 20_000 + T_CS);
}

/// One packet between the parts, alone: every hop is a window of its own, and the mail is the packet, the
/// status that accepts it, and nothing else.
#[test]
fn the_mail_of_one_packet() {
    let mut net = pair();
    net.burst(0, 0, 2, 1_000, 1);
    let cut = (0..).find_map(|lot| Partition::by_lot(&net.config, 2, lot).ok()).unwrap();
    let config = Arc::new(net.config);
    let mut run = Parallel::new(config, RunOptions::default(), (), &cut, threads(2));
    assert_eq!(run.run(Time(100 * T), u64::MAX), Progress::Drained);
    let ((), outcome, cost) = run.finish();
    assert_eq!((outcome.delivered, outcome.packet_hops), (1, 3));
    assert_eq!(cost.letters, 2);
}

/// What cannot be cut says why.
#[test]
fn what_is_left_whole() {
    let star = Star::new(4, switch(4)).config;
    assert_eq!(Partition::new(&star, 2), Err(Whole::OnePiece));
    let mut net = pair();
    net.agent(0);
    assert_eq!(Partition::by_lot(&net.config, 2, 0), Err(Whole::Protocols));
    let mut net = pair();
    net.config.faults.push(Fault { at: Time(0), link: 0, action: FaultAction::Down });
    assert_eq!(Partition::by_lot(&net.config, 2, 0), Err(Whole::Faults));
    // Both ends of a link in symbol granularity go together: of two switches that leaves one piece, of three
    // in a chain two.
    let symbolic = |link: usize| SymbolicLink {
        link: link as u32,
        flow: FlowControl::Transmitter,
        timeout: Duration(100 * T),
        status_period: Duration(20 * T),
        throughout: true,
        channels: None,
        damage: Default::default(),
    };
    for (mut net, law) in [(chain(2), Some(Whole::Symbols)), (chain(3), None)] {
        let joins = |l: &LinkConfig| l.a.0.min(l.b.0) >= net.endpoints;
        let first = net.config.links.iter().position(joins).unwrap();
        net.config.symbolic = vec![symbolic(first)];
        assert_eq!(Partition::new(&net.config, 2).err().filter(|why| *why != Whole::TooSmall), law);
    }
}

/// Switches in a chain: contiguous pieces of it, each with its share of ports, and as few cut links as
/// there are parts.
#[test]
fn parts_of_a_chain_are_pieces() {
    let n = 24;
    let net = chain(n);
    for parts in [2, 3, 4, 6] {
        let cut = Partition::new(&net.config, parts).unwrap();
        assert_eq!(cut.parts(), parts);
        let crossing = net.config.links.iter().filter(|l| cut.part(l.a.0) != cut.part(l.b.0)).count();
        assert_eq!(crossing, parts - 1);
        let share = |part| (0..n as u32).filter(|s| cut.part(net.endpoints + s) == part).count();
        let shares: Vec<usize> = (0..parts as u16).map(share).collect();
        assert!(shares.iter().all(|share| share.abs_diff(n / parts) <= 1), "{shares:?}");
    }
}

/// `n` switches in a chain, with two endpoints each.
fn chain(n: usize) -> Net {
    let at: Vec<usize> = (0..n).flat_map(|s| [s, s]).collect();
    let trunks: Vec<(usize, usize)> = (1..n).map(|s| (s - 1, s)).collect();
    let mut net = Net::new((0..n).map(|_| switch(4)).collect(), &at, &trunks);
    net.config.links.iter_mut().for_each(|link| link.propagation = Duration(400_000));
    net
}

/// A cut into fewer parts is one into more, put together again: what is kept of windows relies on it.
#[test]
fn halves_of_halves_are_the_parts_of_a_finer_cut() {
    let net = chain(48);
    let fine = Partition::new(&net.config, 16).unwrap();
    assert_eq!(fine.parts(), 16);
    for parts in [2, 4, 8] {
        let cut = Partition::new(&net.config, parts).unwrap();
        for device in 0..net.config.devices.len() as u32 {
            assert_eq!(usize::from(cut.part(device)), usize::from(fine.part(device)) / (16 / parts));
        }
    }
}

/// A message that clears a queue is lost between two parts: the watchdog, which sees both, says so in the
/// same words.
#[test]
fn a_message_lost_between_parts_is_told() {
    let mut net = pair();
    net.backpressure(
        &StagingConfig::PerPort,
        Some(Detector { x_on: 4, x_off: 2, verdict: Verdict::PerIngress }),
    );
    net.slow(2, 3);
    net.burst(0, 0, 2, 0, 60);
    net.config.stall_after = Some(Duration(300 * T));
    let trunk = net.config.links.last().unwrap();
    let (device, port) = if trunk.a.0 == 5 { trunk.a } else { trunk.b };
    assert_eq!(device, 5, "the switch with the slow endpoint");
    net.config.symbol_losses = vec![SymbolLoss { device, port, kind: LossKind::Xon, nth: 1 }];
    let config = Arc::new(net.config);
    let cut = (0..).find_map(|lot| Partition::by_lot(&config, 2, lot).ok()).unwrap();
    let law = whole(&config, RunOptions::default(), 2_000 * T);
    assert!(law[3].contains("the message that says so never came"), "{}", law[3]);
    let found = in_parts(&config, RunOptions::default(), 2_000 * T, (&cut, 2), u64::MAX);
    assert!(law == found, "{}", difference(&law.concat(), &found.concat()));
}
