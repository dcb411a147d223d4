//! The messages of a rank of a program over a transport that carries PDUs: streams of session management, and
//! LINX connections.
//!
//! A message is cut into PDUs of up to [`PDU_OCTETS`] octets of it, each after a header of its own: the name
//! of the message, its octets, and where the PDU belongs. What a message carries follows from its name, and
//! the receiver looks at every octet. A send that waits for it is confirmed by a PDU of which there is only
//! the header, and whose message has no octets.

use super::data::word;
use super::program::{Program, Want};
use crate::config::{PROGRAM_PDU_HEADER, PROGRAM_PDU_OCTETS, ProgramConfig, ProgramTransport};
use crate::goal::Action;
use crate::observe::stats::{CourierStats, ProgramTotals};
use std::collections::{BTreeMap, VecDeque};

/// Octets of a message in one PDU, at most: a multiple of 8.
const PDU_OCTETS: u64 = PROGRAM_PDU_OCTETS;
/// Name, octets, place.
const HEADER_OCTETS: usize = PROGRAM_PDU_HEADER as usize;

/// What is to be done next.
#[derive(Debug)]
pub(crate) enum Step {
    /// A PDU is to be sent.
    Say { node: u16, pdu: Vec<u8> },
    /// This operation computes for so long.
    Compute { op: u32, time: u64 },
}

/// A message of which PDUs are still to be made.
#[derive(Debug)]
struct Sending {
    node: u16,
    name: u64,
    octets: u64,
    next: u64,
}

/// A rank, with the messages that it sends and gets.
#[derive(Debug)]
pub(crate) struct Courier {
    program: Program,
    sending: VecDeque<Sending>,
    /// Operations that wait for a confirmation, by name.
    awaited: BTreeMap<u64, u32>,
    /// Octets that have come of messages that are not whole, by name.
    coming: BTreeMap<u64, u64>,
    eager: u64,
    stats: CourierStats,
}

impl Courier {
    pub fn new(config: &ProgramConfig) -> Self {
        Courier {
            program: Program::new(config),
            sending: VecDeque::new(),
            awaited: BTreeMap::new(),
            coming: BTreeMap::new(),
            eager: config.eager,
            stats: CourierStats { wanted: config.sends(), ..CourierStats::default() },
        }
    }

    /// What is to be done next, if anything. A PDU is sent as soon as there is somebody to send it to, in
    /// order.
    pub fn poll(&mut self, now: u64) -> Option<Step> {
        loop {
            if let Some(step) = self.cut() {
                return Some(step);
            }
            match self.program.poll(now)? {
                Want::Compute { op, time } => return Some(Step::Compute { op, time }),
                Want::Send { op, node, octets, name } => {
                    self.sending.push_back(Sending { node, name, octets, next: 0 });
                    self.stats.sent += 1;
                    if self.program.is_over(op, false) {
                        self.program.ended(op);
                    } else {
                        self.awaited.insert(name, op);
                    }
                }
            }
        }
    }

    /// The next PDU of the first message.
    fn cut(&mut self) -> Option<Step> {
        let sending = self.sending.front_mut()?;
        let Sending { node, name, octets, next } = *sending;
        let end = octets.min(next + PDU_OCTETS);
        let mut pdu = Vec::with_capacity(HEADER_OCTETS + (end - next) as usize);
        for part in [name, octets, next] {
            pdu.extend_from_slice(&part.to_be_bytes());
        }
        for at in (next..end).step_by(8) {
            pdu.extend_from_slice(&word(name, at / 8)[..(end - at).min(8) as usize]);
        }
        sending.next = end;
        if end == octets {
            self.sending.pop_front();
        }
        Some(Step::Say { node, pdu })
    }

    /// A PDU has come. What it changes shows in [`poll`](Self::poll).
    pub fn heard(&mut self, pdu: &[u8]) {
        let Some([name, whole, at]) = header(pdu) else {
            self.stats.corrupt += 1;
            return;
        };
        let octets = &pdu[HEADER_OCTETS..];
        if whole == 0 {
            match self.awaited.remove(&name) {
                Some(op) => {
                    self.stats.confirmed += 1;
                    self.program.ended(op);
                }
                None => self.stats.corrupt += 1,
            }
            return;
        }
        let mut words = octets.chunks(8).zip(at / 8..);
        let right = at.is_multiple_of(8) && words.all(|(part, n)| part == &word(name, n)[..part.len()]);
        if !right || self.program.sent(name).is_none_or(|(_, octets)| octets != whole) {
            self.stats.corrupt += 1;
            return;
        }
        let there = self.coming.entry(name).or_default();
        *there += octets.len() as u64;
        if *there < whole {
            return;
        }
        self.stats.octets += whole;
        self.coming.remove(&name);
        self.stats.received += 1;
        if whole > self.eager
            && let Some((node, _)) = self.program.sent(name)
        {
            self.sending.push_back(Sending { node, name, octets: 0, next: 0 });
        }
        self.program.arrived(name);
    }

    /// The time of a computation is over.
    pub fn computed(&mut self, op: u32, now: u64) {
        self.program.computed(op, now);
    }
}

/// Name, octets of the message, and where the PDU belongs.
fn header(pdu: &[u8]) -> Option<[u64; 3]> {
    let header: &[u8; HEADER_OCTETS] = pdu.first_chunk()?;
    Some([0, 8, 16].map(|at| header[at..][..8].iter().fold(0, |sum, &octet| sum << 8 | u64::from(octet))))
}

/// Whether a PDU has as many octets as its header says.
pub(crate) fn is_whole(pdu: &[u8]) -> bool {
    let octets = |[_, whole, at]: [u64; 3]| whole.saturating_sub(at).min(PDU_OCTETS);
    header(pdu).is_some_and(|header| (pdu.len() - HEADER_OCTETS) as u64 == octets(header))
}

/// What no other PDU of a program has: the name of the message, and its place in that or that it confirms it.
pub(crate) fn name(pdu: &[u8]) -> Option<(u64, u64)> {
    header(pdu).map(|[name, whole, at]| (name, if whole == 0 { u64::MAX } else { at }))
}

/// The name of the message that a PDU is a part of, if it does not confirm one.
pub(crate) fn message(pdu: &[u8]) -> Option<u64> {
    header(pdu).filter(|[_, whole, _]| *whole > 0).map(|[name, ..]| name)
}

/// What the ranks of one flow have come to. `waiting`: PDUs that wait for a connection, where the books of
/// the transport do not know them; `on_their_way`: messages of which a PDU is on its way, where it knows.
pub(crate) fn audit(
    flow: u16,
    transport: ProgramTransport,
    ranks: &[&Courier],
    waiting: u64,
    on_their_way: Option<u64>,
) -> ProgramTotals {
    let mut stats = CourierStats::default();
    let mut all = Vec::with_capacity(ranks.len());
    for rank in ranks {
        stats.add(&rank.stats);
        all.push(rank.program.stats());
    }
    all.sort_unstable_by_key(|rank| rank.rank);
    ProgramTotals { flow, transport, ranks: all, stats, waiting, on_their_way }
}

impl Program {
    /// The node that sends the message with this name, and its octets. `None`: nobody does.
    pub(super) fn sent(&self, name: u64) -> Option<(u16, u64)> {
        let (node, rank, op) = self.sender(name)?;
        match rank.ops().get(op)?.action {
            Action::Send { octets, .. } => Some((node, octets)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Event, Schedule};
    use sim_core::Duration;
    use std::sync::Arc;

    /// Two ranks: the first sends two messages of one tag, the second receives both, then answers.
    fn ranks(octets: u64) -> [Courier; 2] {
        let mut schedule = Schedule::new(2);
        let rank = &mut schedule.ranks[0];
        let sends = [octets, octets].map(|octets| rank.push(Action::Send { octets, to: 1, tag: 3 }));
        let receive = rank.push(Action::Receive { octets: 5, from: 1, tag: 0 });
        sends.iter().for_each(|&send| rank.wait(receive, Event::End, send));
        let rank = &mut schedule.ranks[1];
        let receives = [octets, octets].map(|octets| rank.push(Action::Receive { octets, from: 0, tag: 3 }));
        let answer = rank.push(Action::Send { octets: 5, to: 0, tag: 0 });
        receives.iter().for_each(|&receive| rank.wait(answer, Event::End, receive));
        schedule.check().unwrap();
        let (schedule, nodes) = (Arc::new(schedule), Arc::new(vec![7, 9]));
        [0, 1].map(|rank| {
            let (schedule, nodes) = (Arc::clone(&schedule), Arc::clone(&nodes));
            Courier::new(&ProgramConfig { schedule, nodes, rank, eager: 50_000 })
        })
    }

    fn said(courier: &mut Courier, now: u64) -> Vec<(u16, Vec<u8>)> {
        let steps = std::iter::from_fn(|| courier.poll(now));
        steps
            .map(|step| match step {
                Step::Say { node, pdu } => (node, pdu),
                Step::Compute { .. } => panic!("nobody computes"),
            })
            .collect()
    }

    /// Two processors compute 0 to 10 and 0 to 4; then the second 20 to 26 and the first 22 to 30: the rank
    /// computes for 10 and for 10, not for 28.
    #[test]
    fn what_two_processors_compute_at_once_counts_once() {
        let mut schedule = Schedule::new(1);
        let rank = &mut schedule.ranks[0];
        for (time, cpu) in [(10, 0), (4, 1), (8, 0), (6, 1)] {
            rank.push_on(Action::Calculate(Duration(time)), cpu);
        }
        rank.wait(2, Event::End, 0);
        rank.wait(3, Event::End, 1);
        let (schedule, nodes) = (Arc::new(schedule), Arc::new(vec![7]));
        let mut one = Courier::new(&ProgramConfig { schedule, nodes, rank: 0, eager: 50_000 });
        let computes = |courier: &mut Courier, now: u64| std::iter::from_fn(|| courier.poll(now)).count();
        assert_eq!(computes(&mut one, 0), 2);
        one.computed(1, 20);
        assert_eq!(computes(&mut one, 20), 1);
        one.computed(0, 22);
        assert_eq!(computes(&mut one, 22), 1);
        let all = audit(0, ProgramTransport::Linx, &[&one], 0, None);
        assert_eq!(all.ranks[0].computed, Duration(20));
    }

    #[test]
    fn messages_come_in_order_and_long_ones_are_confirmed() {
        for (octets, pdus, confirmed) in [(1, 1, 0), (16_384, 1, 0), (16_385, 2, 0), (60_001, 4, 2)] {
            let [mut one, mut two] = ranks(octets);
            let out = said(&mut one, 0);
            assert_eq!(out.len(), 2 * pdus);
            assert!(out.iter().all(|(node, _)| *node == 9));
            // The second message overtakes the first.
            let (first, second) = out.split_at(pdus);
            second.iter().chain(&first[..pdus - 1]).for_each(|(_, pdu)| two.heard(pdu));
            assert_eq!(said(&mut two, 1).len(), confirmed / 2, "the answer waits for the first message");
            two.heard(&first[pdus - 1].1);
            let back = said(&mut two, 2);
            assert_eq!(back.len(), 1 + confirmed / 2);
            let all = audit(0, ProgramTransport::Linx, &[&one, &two], 0, None);
            assert_eq!(all.ranks[0].end, None);
            // The confirmation of the second message was taken before.
            if confirmed > 0 {
                let name = one.awaited.keys().next_back().copied().unwrap();
                let header = [name, 0, 0].map(u64::to_be_bytes).concat();
                one.heard(&header);
            }
            back.iter().for_each(|(node, pdu)| {
                assert_eq!(*node, 7);
                one.heard(pdu);
            });
            assert!(said(&mut one, 3).is_empty());
            let all = audit(0, ProgramTransport::Linx, &[&two, &one], 0, None);
            assert!(all.ranks.iter().all(|rank| rank.end.is_some()), "{all:?}");
            assert_eq!((all.ranks[0].rank, all.stats.corrupt), (0, 0));
            assert_eq!((all.stats.sent, all.stats.received, all.stats.confirmed), (3, 3, confirmed as u64));
            assert_eq!(all.stats.octets, 2 * octets + 5);
        }
    }

    #[test]
    fn wrong_octets_are_noticed() {
        let [mut one, mut two] = ranks(100);
        let (_, pdu) = said(&mut one, 0).swap_remove(0);
        for at in 0..pdu.len() {
            let mut wrong = pdu.clone();
            wrong[at] ^= 0x40;
            two.heard(&wrong);
        }
        two.heard(&pdu[..5]);
        let all = audit(0, ProgramTransport::Session, &[&two], 0, None);
        assert_eq!((all.stats.received, all.stats.corrupt), (0, pdu.len() as u64 + 1));
    }
}
