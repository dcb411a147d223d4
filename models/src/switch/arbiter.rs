//! Who goes first: the policies, the cell clock and iSLIP.
//!
//! One choice serves all: a transmitter among its lanes, an output buffer among the inputs that want to enter
//! it, a virtual channel among its lanes. Pointers name who was served last, one for each output and
//! priority, and turn with every start (with output buffers: with every admission), also of a packet that
//! nobody competes with. Offers that nobody took leave no trace.

use crate::config::{Arbitration, PRIORITIES};
use crate::event::{Cx, Happening, Payload, class};
use crate::ids::Node;
use crate::observe::probe::Probe;
use crate::world::Fabric;
use sim_core::{EventKey, EventList, Time};
use std::hint::select_unpredictable;

/// The first member of a set above `pointer`, wrapping.
#[inline]
pub(crate) fn next_after(set: u64, pointer: u8) -> u32 {
    let after = u32::from(pointer) + 1;
    let above = if after >= 64 { 0 } else { set >> after << after };
    select_unpredictable(above != 0, above, set).trailing_zeros()
}

/// A grant that was accepted.
#[derive(Copy, Clone, Debug, Default)]
struct Match {
    output: u32,
    lane: u32,
    priority: usize,
}

impl<P: Probe> Fabric<P> {
    /// A member of `set` by the policy of a switch; an endpoint serves its queues in turn. `pointer` is who
    /// was served last, `stamp` when the first packet of a member arrived in the switch.
    #[inline(always)]
    pub fn choose(&mut self, owner: Node, set: u64, pointer: u8, stamp: impl Fn(&Self, u32) -> u32) -> u32 {
        let Node::Switch(s) = owner else { return next_after(set, pointer) };
        match self.switches[s].arbitration {
            Arbitration::RoundRobin | Arbitration::Islip { .. } => next_after(set, pointer),
            Arbitration::OldestFirst => self.oldest_of(set, stamp),
            Arbitration::Random => self.random_of(s, set),
        }
    }

    /// The member whose stamp is oldest; stamps wrap.
    #[inline(never)]
    fn oldest_of(&self, set: u64, stamp: impl Fn(&Self, u32) -> u32) -> u32 {
        let mut best = set.trailing_zeros();
        let mut oldest = stamp(self, best);
        let mut left = set & (set - 1);
        while left != 0 {
            let lane = left.trailing_zeros();
            left &= left - 1;
            let other = stamp(self, lane);
            if (other.wrapping_sub(oldest) as i32) < 0 {
                (best, oldest) = (lane, other);
            }
        }
        best
    }

    /// A random member of a set, from the switch's own stream; no draw if there is no choice.
    #[inline(never)]
    fn random_of(&mut self, s: usize, set: u64) -> u32 {
        if set & (set - 1) == 0 {
            return set.trailing_zeros();
        }
        let rng = self.switches[s].rng.as_mut().expect("random arbitration has a stream");
        let mut left = set;
        for _ in 0..rng.below(u64::from(set.count_ones())) {
            left &= left - 1;
        }
        left.trailing_zeros()
    }

    // --- all outputs together --------------------------------------------------------------------

    /// The instant at which the outputs of switch `s` choose together: the next tick of its cell clock, or,
    /// without one, the end of this instant. Posted once.
    pub fn post_tick<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize) {
        let switch = &mut self.switches[s];
        if switch.tick_posted {
            return;
        }
        switch.tick_posted = true;
        let (device, slot) = (switch.device, switch.slot);
        let now = cx.now().0;
        // At a boundary this very instant still counts, because ticks come last; the tick itself asks for the
        // next one.
        let on_boundary = || now.is_multiple_of(slot) && cx.key() < EventKey::floor(Time(now), class::TICK);
        let at = match slot {
            // What links do when they train or time out comes after the ticks of its instant.
            0 => now + u64::from(cx.key() >= EventKey::floor(Time(now), class::HOST)),
            _ if on_boundary() => now,
            _ => (now / slot + 1) * slot,
        };
        let key = self.links.key(device, at, class::TICK);
        cx.post(key, s as u32, Happening::Tick.pack());
    }

    pub fn tick<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: u32) {
        let s = s as usize;
        self.switches[s].tick_posted = false;
        let starts = self.links.observe.ledger.packet_hops;
        let mut unfinished = self.choose_together(cx, s);
        if self.switches[s].channel_reads.is_some() {
            self.outputs_look(cx, s);
            // Who started does not want other inputs any more: somebody else may read them.
            unfinished |= self.links.observe.ledger.packet_hops != starts;
        }
        let switch = &self.switches[s];
        let again = if switch.slot == 0 {
            unfinished
        } else {
            (switch.base..switch.base + switch.ports).any(|o| self.links.ports[o as usize].tx.stored > 0)
        };
        if again {
            self.post_tick(cx, s);
        }
    }

    /// All idle outputs choose among all inputs that can be read, in rounds of request, grant and accept:
    /// iSLIP with priorities (McKeown 1999, section VI), and with a cell clock every policy. An input
    /// requests each output at the highest priority that it has for it; an output grants the highest request,
    /// among equals by the policy; an input accepts the highest grants, among equals by its pointer, as many
    /// as it has reads left. Who got nothing goes on with what is left: iSLIP for so many rounds, others to
    /// the end. Pointers of iSLIP move only past grants accepted in the first round. Gives back whether an
    /// output is left idle though an input that can be read asks for it: without a cell clock that is another
    /// match.
    fn choose_together<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, s: usize) -> bool {
        let (rounds, slips) = match self.switches[s].arbitration {
            Arbitration::Islip { iterations } if self.switches[s].direct => (iterations, true),
            _ => (u8::MAX, false),
        };
        let (base, ports) = (self.switches[s].base, self.switches[s].ports);
        // Requests to each output, by priority.
        let mut requests = [[0u64; PRIORITIES]; 64];
        let mut outputs = 0u64;
        let mut open = 0u64;
        for n in 0..ports {
            let lanes = self.requests_to(cx, base + n, &mut requests[n as usize]);
            outputs |= u64::from(lanes != 0) << n;
            open |= lanes;
        }
        let mut reads = [0u32; 64];
        for lane in (0..ports).filter(|lane| open >> lane & 1 == 1) {
            self.prune(s, lane, cx.key());
            let switch = &self.switches[s];
            let in_use = switch.reads_of[lane as usize].outputs.count_ones();
            reads[lane as usize] = match &switch.channel_reads {
                Some(reads) => (0..PRIORITIES).map(|channel| reads.left(lane, channel)).sum(),
                None if switch.direct => switch.reads - in_use,
                None => ports,
            };
        }
        let mut matches = [Match::default(); 64];
        let mut count = 0;
        for round in 0..rounds {
            // Grants to each input, by priority.
            let mut grants = [[0u64; PRIORITIES]; 64];
            let mut granted = 0u64;
            for n in (0..ports).filter(|n| outputs >> n & 1 == 1) {
                let asks = &requests[n as usize];
                let Some(priority) = (0..PRIORITIES).rev().find(|&p| asks[p] & open != 0) else { continue };
                let pointer = self.links.ports[(base + n) as usize].tx.pointers[priority];
                let asking = asks[priority] & open;
                let lane = self.choose(Node::Switch(s), asking, pointer, |fabric, lane| {
                    fabric.links.packets[fabric.links.head_of(base + n, priority, lane).packet].stamp
                });
                grants[lane as usize][priority] |= 1 << n;
                granted |= 1 << lane;
            }
            if granted == 0 {
                break;
            }
            for lane in (0..ports).filter(|lane| granted >> lane & 1 == 1) {
                for priority in (0..PRIORITIES).rev() {
                    let mut offers = grants[lane as usize][priority];
                    let mut last = self.switches[s].reads_of[lane as usize].last[priority];
                    while offers != 0 && reads[lane as usize] > 0 {
                        if let Some(reads) = &self.switches[s].channel_reads {
                            let same = |m: &&Match| (m.lane, m.priority) == (lane, priority);
                            let taken = matches[..count].iter().filter(same).count() as u32;
                            if taken >= reads.left(lane, priority) {
                                // The channel is read as often as it may: nobody asks for it again.
                                requests.iter_mut().for_each(|asks| asks[priority] &= !(1 << lane));
                                break;
                            }
                        }
                        let output = next_after(offers, last);
                        last = output as u8;
                        offers &= !(1 << output);
                        outputs &= !(1 << output);
                        reads[lane as usize] -= 1;
                        open &= !(u64::from(reads[lane as usize] == 0) << lane);
                        if slips && round == 0 {
                            self.switches[s].reads_of[lane as usize].last[priority] = last;
                            self.links.ports[(base + output) as usize].tx.pointers[priority] = lane as u8;
                        }
                        matches[count] = Match { output, lane, priority };
                        count += 1;
                    }
                }
            }
        }
        let asks =
            |n: &u32| outputs >> n & 1 == 1 && requests[*n as usize].iter().any(|lanes| lanes & open != 0);
        let unfinished = (0..ports).any(|n| asks(&n));
        for &Match { output, lane, priority } in &matches[..count] {
            let port = base + output;
            let pick = self.links.head_of(port, priority, lane);
            self.links.take(port, pick);
            // A start turns the pointers; iSLIP has turned them as far as it may.
            let pointers =
                (self.links.ports[port as usize].tx.pointers, self.switches[s].reads_of[lane as usize].last);
            self.start(cx, port, pick.packet, true);
            if slips {
                (
                    self.links.ports[port as usize].tx.pointers,
                    self.switches[s].reads_of[lane as usize].last,
                ) = pointers;
            }
        }
        // Outputs that lost to another output of the same input wait for the end of that read.
        for n in (0..ports).filter(|n| outputs >> n & 1 == 1) {
            let lanes = requests[n as usize].iter().fold(0, |all, lanes| all | lanes);
            self.await_inputs(cx, base + n, lanes & !open);
        }
        unfinished
    }

    /// Who asks an idle output for what; all lanes that do. For what cannot be asked for now the output
    /// waits.
    fn requests_to<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        output: u32,
        requests: &mut [u64; PRIORITIES],
    ) -> u64 {
        if self.links.ports[output as usize].tx.stored == 0 {
            return 0;
        }
        if self.links.ports[output as usize].tx.done > cx.key() {
            self.links.post_done(cx, output);
            return 0;
        }
        if self.links.ports[output as usize].tx.clock.blocked() != 0 {
            self.consume(cx, output, cx.key());
        }
        let (mut asked, mut busy, mut no_credit) = (0u64, 0u64, false);
        for priority in (0..PRIORITIES).rev() {
            let lanes = self.links.eligible(output, priority) & !asked;
            if lanes == 0 {
                continue;
            }
            if self.links.ports[output as usize].tx.clock.blocked() & (1 << priority) != 0 {
                no_credit = true;
                continue;
            }
            let direct = self.switches[self.links.nodes.switch(output)].direct;
            requests[priority] = if direct { self.readable(cx, output, lanes, priority) } else { lanes };
            busy |= lanes & !requests[priority];
            asked |= lanes;
        }
        self.await_inputs(cx, output, busy);
        if no_credit {
            self.links.await_credit(cx, output);
        }
        asked & !busy
    }
}
