//! All outputs choose together: the cell clock and iSLIP.

use super::Switch;
use crate::config::{Arbitration, PRIORITIES};
use crate::event::{Cx, Payload};
use crate::ids::PortId;
use crate::link::Links;
use crate::observe::Build;
use crate::ports::Ports;
use sim_core::EventList;

/// A grant that was accepted.
#[derive(Copy, Clone, Debug, Default)]
struct Match {
    output: u32,
    lane: u32,
    priority: usize,
}

impl<S: Ports> Switch<S> {
    pub fn tick<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) {
        self.tick_posted = false;
        let starts = links.observe.ledger.packet_hops;
        let mut unfinished = self.choose_together(links, cx);
        if self.channel_reads.is_some() {
            self.outputs_look(links, cx);
            // Who started does not want other inputs any more: somebody else may read them.
            unfinished |= links.observe.ledger.packet_hops != starts;
        }
        let switch = &*self;
        let again = if switch.slot == 0 {
            unfinished
        } else {
            (switch.base.span(switch.ports)).any(|o| links.ports[o.index()].tx.stored > 0)
        };
        if again {
            self.post_tick(links, cx);
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
    fn choose_together<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
    ) -> bool {
        let (rounds, slips) = match self.arbitration {
            Arbitration::Islip { iterations } if self.direct => (iterations, true),
            _ => (u8::MAX, false),
        };
        let (base, ports) = (self.base, self.ports);
        // Requests to each output, by priority.
        let mut requests = S::each([S::EMPTY; PRIORITIES]);
        let mut outputs = S::EMPTY;
        let mut open = S::EMPTY;
        for n in 0..ports {
            let lanes = self.requests_to(links, cx, base + n, &mut requests[n as usize]);
            outputs |= S::one_if(n, !lanes.is_empty());
            open |= lanes;
        }
        let mut reads = S::each(0u32);
        for lane in open.members() {
            self.prune(links, lane, cx.key());
            let switch = &*self;
            let in_use = links.ports[(self.base + lane).index()].rx.readers.count();
            reads[lane as usize] = match &switch.channel_reads {
                Some(reads) => (0..PRIORITIES).map(|channel| reads.left(lane, channel)).sum(),
                None if switch.direct => switch.reads - in_use,
                None => ports,
            };
        }
        let mut matches = S::each(Match::default());
        let mut count = 0;
        for round in 0..rounds {
            // Grants to each input, by priority.
            let mut grants = S::each([S::EMPTY; PRIORITIES]);
            let mut granted = S::EMPTY;
            for n in outputs.members() {
                let asks = &requests[n as usize];
                let Some(priority) = (0..PRIORITIES).rev().find(|&p| !(asks[p] & open).is_empty()) else {
                    continue;
                };
                let pointer = links.ports[(base + n).index()].tx.pointers[priority];
                let asking = asks[priority] & open;
                let lane = self.choose(links, (base + n, priority), asking, pointer, |_, links, lane| {
                    links.packets[links.head_of(base + n, priority, lane).packet].stamp
                });
                grants[lane as usize][priority] |= S::one(n);
                granted |= S::one(lane);
            }
            if granted.is_empty() {
                break;
            }
            for lane in granted.members() {
                for priority in (0..PRIORITIES).rev() {
                    let mut offers = grants[lane as usize][priority];
                    let mut last = links.ports[(self.base + lane).index()].rx.last[priority];
                    while !offers.is_empty() && reads[lane as usize] > 0 {
                        if let Some(reads) = &self.channel_reads {
                            let same = |m: &&Match| (m.lane, m.priority) == (lane, priority);
                            let taken = matches.as_ref()[..count].iter().filter(same).count() as u32;
                            if taken >= reads.left(lane, priority) {
                                // The channel is read as often as it may: nobody asks for it again.
                                let all = requests.as_mut().iter_mut();
                                all.for_each(|asks| asks[priority] &= !S::one(lane));
                                break;
                            }
                        }
                        let output = offers.next_after(last);
                        last = output as u8;
                        offers &= !S::one(output);
                        outputs &= !S::one(output);
                        reads[lane as usize] -= 1;
                        open &= !S::one_if(lane, reads[lane as usize] == 0);
                        if slips && round == 0 {
                            links.ports[(self.base + lane).index()].rx.last[priority] = last;
                            links.ports[(base + output).index()].tx.pointers[priority] = lane as u8;
                        }
                        matches[count] = Match { output, lane, priority };
                        count += 1;
                    }
                }
            }
        }
        let asks =
            |n: u32| outputs.has(n) && requests[n as usize].iter().any(|&lanes| !(lanes & open).is_empty());
        let unfinished = (0..ports).any(asks);
        for &Match { output, lane, priority } in &matches.as_ref()[..count] {
            let port = base + output;
            let pick = links.head_of(port, priority, lane);
            links.take(port, pick, cx.now().0);
            // A start turns the pointers; iSLIP has turned them as far as it may.
            let pointers =
                (links.ports[port.index()].tx.pointers, links.ports[(self.base + lane).index()].rx.last);
            self.start(links, cx, port, pick.packet, true);
            if slips {
                (links.ports[port.index()].tx.pointers, links.ports[(self.base + lane).index()].rx.last) =
                    pointers;
            }
        }
        // Outputs that lost to another output of the same input wait for the end of that read.
        for n in outputs.members() {
            let lanes = requests[n as usize].iter().fold(S::EMPTY, |all, &lanes| all | lanes);
            self.await_inputs(links, cx, lanes & !open);
        }
        unfinished
    }

    /// Who asks an idle output for what; all lanes that do. For what cannot be asked for now the output
    /// waits.
    fn requests_to<P: Build<Ports = S>, L: EventList<Payload>>(
        &mut self,
        links: &mut Links<P>,
        cx: &mut Cx<'_, L>,
        output: PortId,
        requests: &mut [S; PRIORITIES],
    ) -> S {
        if links.ports[output.index()].tx.stored == 0 {
            return S::EMPTY;
        }
        if links.ports[output.index()].tx.done > cx.key() {
            links.post_done(cx, output);
            return S::EMPTY;
        }
        if links.ports[output.index()].tx.clock.blocked() != 0 {
            links.consume(cx, output, cx.key());
        }
        let (mut asked, mut busy, mut no_credit) = (S::EMPTY, S::EMPTY, false);
        for priority in (0..PRIORITIES).rev() {
            let lanes = links.eligible(output, priority) & !asked;
            if lanes.is_empty() {
                continue;
            }
            if links.ports[output.index()].tx.clock.blocked() & (1 << priority) != 0 {
                no_credit = true;
                continue;
            }
            let direct = self.direct;
            requests[priority] =
                if direct { self.readable(links, cx, output, lanes, priority) } else { lanes };
            busy |= lanes & !requests[priority];
            asked |= lanes;
        }
        self.await_inputs(links, cx, busy);
        if no_credit {
            links.await_credit(cx, output);
        }
        asked & !busy
    }
}
