//! Schedules of common collective operations, as libraries of message passing do them.

use super::{Action, Event, Schedule};

/// Builds the program of one rank.
struct Writer<'a> {
    schedule: &'a mut Schedule,
    tag: u32,
}

impl Writer<'_> {
    fn send(&mut self, rank: u32, octets: u64, to: u32, after: Option<u32>) -> u32 {
        let tag = self.tag;
        self.add(rank, Action::Send { octets: octets.max(1), to, tag }, after)
    }

    fn receive(&mut self, rank: u32, octets: u64, from: u32, after: Option<u32>) -> u32 {
        let tag = self.tag;
        self.add(rank, Action::Receive { octets: octets.max(1), from, tag }, after)
    }

    fn add(&mut self, rank: u32, action: Action, after: Option<u32>) -> u32 {
        let program = &mut self.schedule.ranks[rank as usize];
        let op = program.push(action);
        if let Some(after) = after {
            program.wait(op, Event::End, after);
        }
        op
    }
}

fn write(ranks: u32, program: impl FnOnce(&mut Writer<'_>)) -> Schedule {
    let mut schedule = Schedule::new(ranks);
    program(&mut Writer { schedule: &mut schedule, tag: 0 });
    schedule
}

/// Allreduce by recursive halving and doubling (Rabenseifner): in round k halves of what is left are
/// exchanged with the rank 2^k away, then the results come back the other way. A send waits for the receive
/// before it. What cannot be halved is an octet longer at the rank whose bit k is 1.
///
/// # Panics
/// Unless `ranks` is a power of two.
#[must_use]
pub fn allreduce_halving(ranks: u32, octets: u64) -> Schedule {
    assert!(ranks.is_power_of_two(), "halving needs a power of two, not {ranks} ranks");
    let rounds = ranks.trailing_zeros();
    write(ranks, |w| {
        for rank in 0..ranks {
            // What the rank keeps of what is left, and what the other one keeps. They differ in bit k alone,
            // so the same is left at both.
            let mut left = octets;
            let shares: Vec<(u64, u64)> = (0..rounds)
                .map(|round| {
                    let (lower, upper) = (left / 2, left.div_ceil(2));
                    let halves = if rank >> round & 1 == 0 { (lower, upper) } else { (upper, lower) };
                    left = halves.0;
                    halves
                })
                .collect();
            let mut last = None;
            for round in 0..rounds {
                let (peer, (own, other)) = (rank ^ 1 << round, shares[round as usize]);
                w.send(rank, other, peer, last);
                last = Some(w.receive(rank, own, peer, None));
            }
            for round in (0..rounds).rev() {
                let (peer, (own, other)) = (rank ^ 1 << round, shares[round as usize]);
                w.send(rank, own, peer, last);
                last = Some(w.receive(rank, other, peer, None));
            }
        }
    })
}

/// Allreduce on a ring: 2 (n-1) rounds of a share of 1/n each. Of what cannot be divided the first shares
/// have an octet more; each share goes once round to be summed, and once to be given to all, so all messages
/// together have 2 (n-1) times the octets of the vector. A share of nothing is a message of one octet.
#[must_use]
pub fn allreduce_ring(ranks: u32, octets: u64) -> Schedule {
    write(ranks, |w| {
        for rank in 0..ranks {
            let (next, before) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
            let n = u64::from(ranks);
            let share = |number: u64| octets / n + u64::from(number < octets % n);
            let mut last = None;
            // In round k a rank passes on what it got in round k - 1, and gets the share before that. A rank
            // begins with its own; after n - 1 rounds the sum of the share behind its own is there, and goes
            // on.
            for round in 0..2 * (n - 1) {
                let number = (u64::from(rank) + 2 * n - round) % n;
                w.send(rank, share(number), next, last);
                last = Some(w.receive(rank, share((number + n - 1) % n), before, None));
            }
        }
    })
}

/// All-to-all, linear: everything at once; every rank begins with its next one.
#[must_use]
pub fn all_to_all(ranks: u32, octets_per_pair: u64) -> Schedule {
    write(ranks, |w| {
        for rank in 0..ranks {
            for distance in 1..ranks {
                w.send(rank, octets_per_pair, (rank + distance) % ranks, None);
                w.receive(rank, octets_per_pair, (rank + ranks - distance) % ranks, None);
            }
        }
    })
}

/// Broadcast from rank 0 down a binomial tree, the farthest first.
#[must_use]
pub fn broadcast(ranks: u32, octets: u64) -> Schedule {
    write(ranks, |w| {
        for rank in 0..ranks {
            // The lowest set bit says from whom it comes, those below it to whom it goes.
            let (received, below) = match rank {
                0 => (None, ranks.next_power_of_two()),
                _ => {
                    let bit = rank & rank.wrapping_neg();
                    (Some(w.receive(rank, octets, rank - bit, None)), bit)
                }
            };
            let mut bit = below >> 1;
            while bit > 0 {
                if rank + bit < ranks {
                    w.send(rank, octets, rank + bit, received);
                }
                bit >>= 1;
            }
        }
    })
}

/// Reduction to rank 0 up a binomial tree.
#[must_use]
pub fn reduce(ranks: u32, octets: u64) -> Schedule {
    write(ranks, |w| {
        for rank in 0..ranks {
            let lowest = rank & rank.wrapping_neg();
            let mut received = Vec::new();
            let mut bit = 1;
            while bit < ranks && (rank == 0 || bit < lowest) {
                if rank + bit < ranks {
                    received.push(w.receive(rank, octets, rank + bit, None));
                }
                bit <<= 1;
            }
            if rank != 0 {
                let send = w.send(rank, octets, rank - lowest, None);
                for op in received {
                    w.schedule.ranks[rank as usize].wait(send, Event::End, op);
                }
            }
        }
    })
}

/// Barrier by dissemination: in round k every rank tells the one 2^k further on.
#[must_use]
pub fn barrier(ranks: u32) -> Schedule {
    write(ranks, |w| {
        for rank in 0..ranks {
            let (mut last, mut distance) = (None, 1);
            while distance < ranks {
                w.send(rank, 1, (rank + distance) % ranks, last);
                last = Some(w.receive(rank, 1, (rank + ranks - distance) % ranks, last));
                distance <<= 1;
            }
        }
    })
}

/// Gathers from all ranks at rank 0, linear: the incast.
#[must_use]
pub fn gather(ranks: u32, octets: u64) -> Schedule {
    write(ranks, |w| {
        for rank in 1..ranks {
            w.send(rank, octets, 0, None);
            w.receive(0, octets, rank, None);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::loggops::{LogGops, Rules, run};
    use super::*;
    use sim_core::Duration;
    use std::sync::Arc;

    /// Time in units of a message that takes 1 to arrive and nothing else.
    fn steps(schedule: Schedule) -> u64 {
        schedule.check().expect("it can run");
        let parameters = LogGops {
            latency: Duration::from_ns(1),
            overhead: Duration(0),
            gap: Duration(0),
            gap_per_octet: Duration(0),
            overhead_per_octet: Duration(0),
            eager_octets: u64::MAX,
            rules: Rules::Pipelined,
        };
        run(Arc::new(schedule), parameters).unwrap().end().expect("it ends").as_ps() / 1_000
    }

    #[test]
    fn every_collective_takes_its_rounds_and_messages() {
        for n in 1..=20u32 {
            let levels = u64::from(n.next_power_of_two().trailing_zeros());
            let ranks = u64::from(n);
            let check = |name: &str, schedule: Schedule, rounds: u64, messages: u64| {
                assert_eq!(schedule.messages(), messages, "{name} of {n}");
                assert_eq!(steps(schedule), rounds, "{name} of {n}");
            };
            check("broadcast", broadcast(n, 8), if n == 1 { 0 } else { depth(n) }, ranks - 1);
            check("reduce", reduce(n, 8), if n == 1 { 0 } else { depth(n) }, ranks - 1);
            check("barrier", barrier(n), levels, levels * ranks);
            check("gather", gather(n, 8), u64::from(n > 1), ranks - 1);
            check("all-to-all", all_to_all(n, 8), u64::from(n > 1), ranks * (ranks - 1));
            check("ring", allreduce_ring(n, 8), 2 * (ranks - 1), 2 * ranks * (ranks - 1));
            if n.is_power_of_two() {
                check("halving", allreduce_halving(n, 64), 2 * levels, 2 * levels * ranks);
            }
        }
    }

    /// Every share goes round twice, less the hop to who has it already: 2 (n-1) times the octets of the
    /// vector, whether they can be divided or not. Each rank sends all shares but one, twice.
    #[test]
    fn a_ring_moves_the_vector_and_no_octet_more() {
        for n in 1..=9u64 {
            for octets in n..4 * n {
                let schedule = allreduce_ring(n as u32, octets);
                assert_eq!(schedule.octets(), 2 * (n - 1) * octets, "{octets} octets on {n}");
                for (rank, program) in schedule.ranks.iter().enumerate() {
                    let sent: u64 = program
                        .ops()
                        .iter()
                        .map(|op| if let Action::Send { octets, .. } = op.action { octets } else { 0 })
                        .sum();
                    // All but the share behind its own, then all but the one behind that.
                    let share = |number: usize| octets / n + u64::from((number as u64 % n) < octets % n);
                    let law = if n == 1 { 0 } else { 2 * octets - share(rank + 1) - share(rank + 2) };
                    assert_eq!(sent, law, "rank {rank}: {octets} octets on {n}");
                }
            }
        }
    }

    /// Depth of the binomial tree: the most ones in a rank.
    fn depth(n: u32) -> u64 {
        (0..n).map(|rank| u64::from(rank.count_ones())).max().unwrap_or(0)
    }
}
