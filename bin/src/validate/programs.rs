//! Programs by the LogGOPS model, without a fabric.

use super::row::{Known, Row, Source};
use models::goal::loggops::{self, LogGops, Rules};
use models::goal::{Action, Event, Rank, Schedule, collective};
use models::sim_core::Duration;
use std::sync::Arc;

const LOGGOPS: Source = Source::literature(
    "LogGOPSim (Hoefler, Schneider, Lumsdaine 2010), run on the same programs",
    Known::Read,
);
const BY_HAND: Source = Source::literature(
    "Culler and others 1993, LogP: rounds of a collective operation, by hand",
    Known::Derived,
);

const SWEEP: Source = Source::literature(
    "Hoisie, Lubeck, Wasserman 2000: a wavefront is a pipeline of as many steps as there are blocks, and \
     diagonals behind the first, by hand",
    Known::Derived,
);

/// L = 200 ns, G = 1 ns for an octet, nothing else takes time.
const FAST: LogGops = LogGops {
    latency: Duration::from_ns(200),
    overhead: Duration(0),
    gap: Duration(0),
    gap_per_octet: Duration::from_ns(1),
    overhead_per_octet: Duration(0),
    eager_octets: u64::MAX,
    rules: Rules::LogGopSim,
};

/// L = 2 500, o = 1 500, g = 1 000, G = 6, S = 65 535.
const SLOW: LogGops = LogGops {
    latency: Duration::from_ns(2_500),
    overhead: Duration::from_ns(1_500),
    gap: Duration::from_ns(1_000),
    gap_per_octet: Duration::from_ns(6),
    eager_octets: 65_535,
    ..FAST
};

fn ns(schedule: Schedule, parameters: LogGops) -> f64 {
    let end = loggops::run(Arc::new(schedule), parameters).ok().and_then(|done| done.end());
    end.map_or(f64::NAN, |end| end.as_ps() as f64 / 1e3)
}

/// Collective operations of many ranks.
pub(crate) fn collectives() -> Vec<Row> {
    let allreduce = || collective::allreduce_halving(64, 65_536);
    let all_to_all = || collective::all_to_all(32, 4_096);
    let figure = |what: &str, found: f64, law: f64| {
        Row::exact("collectives", what, "ns", LOGGOPS).expects(law).found(found)
    };
    // A message of 8 octets: the first octet needs no gap. Six rounds of a barrier of 64 ranks.
    let round = 200.0 + 7.0;
    vec![
        figure("allreduce of 64 KiB, 64 ranks, L 200, G 1", ns(allreduce(), FAST), 131_412.0),
        figure(
            "allreduce of 64 KiB, 64 ranks, L 2500, o 1500, g 1000, G 6",
            ns(allreduce(), SLOW),
            840_072.0,
        ),
        figure("all-to-all of 4 KiB, 32 ranks, L 200, G 1", ns(all_to_all(), FAST), 133_145.0),
        figure(
            "all-to-all of 4 KiB, 32 ranks, L 2500, o 1500, g 1000, G 6",
            ns(all_to_all(), SLOW),
            932_170.0,
        ),
        Row::exact("collectives", "broadcast of 8 octets to 64 ranks, a binomial tree", "ns", BY_HAND)
            .expects(6.0 * round)
            .found(ns(collective::broadcast(64, 8), FAST)),
    ]
}

/// A wavefront: a block at each rank of a grid waits for those of its western and northern neighbours,
/// computes, and goes to the eastern and the southern one. The corner, from which it comes, takes twice as
/// long.
struct Wavefront {
    /// Ranks from west to east and from north to south.
    side: u32,
    blocks: u32,
    octets: u64,
    work: Duration,
}

impl Wavefront {
    fn work(&self, rank: u32) -> Duration {
        if rank == 0 { Duration(2 * self.work.0) } else { self.work }
    }

    fn schedule(&self) -> Schedule {
        let (side, octets) = (self.side, self.octets);
        let mut schedule = Schedule::new(side * side);
        for (n, rank) in (0..side * side).zip(&mut schedule.ranks) {
            let (west, north) = (n % side > 0, n / side > 0);
            let (east, south) = (n % side + 1 < side, n / side + 1 < side);
            let from = [west.then(|| n - 1), north.then(|| n - side)];
            let to = [east.then(|| n + 1), south.then(|| n + side)];
            let mut before = None;
            for _ in 0..self.blocks {
                let after = |rank: &mut Rank, action, others: &[u32]| {
                    let op = rank.push(action);
                    others.iter().for_each(|&other| rank.wait(op, Event::End, other));
                    op
                };
                let behind: Vec<u32> = before.into_iter().collect();
                let received = from.into_iter().flatten();
                let mut ready: Vec<u32> = received
                    .map(|from| after(rank, Action::Receive { octets, from, tag: 0 }, &behind))
                    .collect();
                ready.extend(behind);
                let done = after(rank, Action::Calculate(self.work(n)), &ready);
                // One after the other, and nothing else meanwhile.
                let sent = to
                    .into_iter()
                    .flatten()
                    .fold(done, |last, to| after(rank, Action::Send { octets, to, tag: 0 }, &[last]));
                before = Some(sent);
            }
        }
        schedule
    }

    /// When the last block is over, ns: it leaves the corner last of all, and meets nobody on its way. A
    /// message takes `m` at either end; that to the south leaves after that to the east, and then the corner
    /// begins the next block.
    fn law(&self, latency: f64) -> f64 {
        let (m, work) = ((self.octets - 1) as f64, self.work.0 as f64 / 1e3);
        let side = self.side as usize;
        let blocks = f64::from(self.blocks);
        let mut done = vec![blocks * 2.0 * work + (blocks - 1.0) * m];
        for n in 1..side * side {
            let west = (n % side > 0).then(|| done[n - 1] + latency);
            let north = (n / side > 0).then(|| {
                let above = n - side;
                done[above] + latency + if n % side + 1 < side { m } else { 0.0 }
            });
            let mut arrivals: Vec<f64> = west.into_iter().chain(north).collect();
            arrivals.sort_by(f64::total_cmp);
            done.push(arrivals.into_iter().fold(0.0, |free: f64, at| free.max(at) + m) + work);
        }
        done[side * side - 1]
    }
}

/// A message as `sweep3d.txt` writes it: `s36000>2#6000` is sent to rank 2 with tag 6000, `r36000<1#3000` is
/// received from rank 1.
fn message(word: &str) -> Option<Action> {
    let (ends, tag) = word.split_once('#')?;
    let (octets, peer) = ends.split_once(['<', '>'])?;
    let (way, octets) = octets.split_at_checked(1)?;
    let (octets, peer, tag) = (octets.parse().ok()?, peer.parse().ok()?, tag.parse().ok()?);
    match way {
        "s" => Some(Action::Send { octets, to: peer, tag }),
        "r" => Some(Action::Receive { octets, from: peer, tag }),
        _ => None,
    }
}

/// A recorded run of Sweep3D on a grid of 2 x 2 ranks; the head of the file says how it is written.
fn sweep3d() -> Schedule {
    let text = include_str!("sweep3d.txt");
    let program = |section: &str| {
        let (mut rank, mut names, mut waits) = (Rank::default(), Vec::new(), Vec::new());
        for line in section.lines().skip(1) {
            if let Some((name, action)) = line.split_once(" = ") {
                names.push((name, message(action).expect("a message")));
                continue;
            }
            for word in line.split(' ') {
                let (what, after) =
                    word.split_once('@').map_or((word, None), |(what, after)| (what, Some(after)));
                let named = names.iter().find(|(name, _)| *name == what).map(|(_, action)| *action);
                let us = || what.parse().ok().map(|us| Action::Calculate(Duration::from_us(us)));
                let action = named.or_else(|| message(what)).or_else(us).expect("an operation");
                let usual = if matches!(action, Action::Calculate(_)) { "-3" } else { "1" };
                let own = rank.push(action);
                for other in after.unwrap_or(usual).split(',').filter(|other| !other.is_empty()) {
                    let by: i32 = other.parse().expect("a distance");
                    waits.push((own, own.checked_add_signed(by).expect("an operation")));
                }
            }
        }
        waits.into_iter().for_each(|(own, other)| rank.wait(own, Event::End, other));
        rank
    };
    Schedule { ranks: text.split("\nrank ").skip(1).map(program).collect() }
}

/// A wavefront by hand, and a recorded one with the times that LogGOPSim gives it.
pub(crate) fn sweeps() -> Vec<Row> {
    let grid = Wavefront { side: 4, blocks: 10, octets: 1_000, work: Duration::from_us(25) };
    let row = |what: &str, source, law: f64, found: f64| {
        Row::exact("sweeps", what, "ns", source).expects(law).found(found)
    };
    vec![
        row(
            "a wavefront of 10 blocks over 4 x 4 ranks, 25 us each, L 200, G 1",
            SWEEP,
            grid.law(200.0),
            ns(grid.schedule(), FAST),
        ),
        row("Sweep3D, recorded, 4 ranks, L 200, G 1", LOGGOPS, 41_985_851_552.0, ns(sweep3d(), FAST)),
        row(
            "Sweep3D, recorded, 4 ranks, L 2500, o 1500, g 1000, G 6",
            LOGGOPS,
            42_441_534_548.0,
            ns(sweep3d(), SLOW),
        ),
    ]
}
