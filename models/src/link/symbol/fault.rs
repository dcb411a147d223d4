//! What goes wrong: damaged characters, links that go down and come back, receivers that fall silent.

use super::STRIKE;
use crate::config::{Damage, FaultAction};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::link::Links;
use crate::link::port::{LinkTiming, Port};
use crate::link::wire::WireTiming;
use crate::observe::probe::Probe;
use crate::world::Fabric;
use sim_core::{Event, EventList, Purpose, Stream};

/// Damage on the way from one end.
#[derive(Clone, Debug)]
pub(super) struct Errors {
    /// Random errors: stream, probability for a character, characters of an error.
    random: Option<(Stream, (u64, u64), u64)>,
    /// Time of a character as a fraction, the instant from which characters are counted, and the next one to
    /// be damaged.
    char_ps: (u64, u64),
    origin: u64,
    next: u64,
    /// Everything sent before this instant is damaged.
    until: u64,
    packets: Scheduled,
    symbols: Scheduled,
}

/// Damage by number.
#[derive(Clone, Debug, Default)]
struct Scheduled {
    wanted: Vec<u64>,
    at: usize,
    seen: u64,
}

impl Scheduled {
    /// One more; whether it is to be damaged.
    fn count(&mut self) -> bool {
        self.seen += 1;
        let hit = self.wanted.get(self.at) == Some(&self.seen);
        self.at += usize::from(hit);
        hit
    }
}

impl Errors {
    pub fn new(seed: u64, damage: &Damage, char_ps: (u64, u64)) -> Self {
        let random = damage.errors.as_ref().map(|errors| {
            let stream = Stream::new(seed, &errors.stream, Purpose::FAULTS);
            (stream, errors.probability, u64::from(errors.burst))
        });
        let scheduled = |wanted: &[u64]| Scheduled { wanted: wanted.to_vec(), ..Scheduled::default() };
        let mut errors = Errors {
            random,
            char_ps,
            origin: 0,
            next: 0,
            until: 0,
            packets: scheduled(&damage.packets),
            symbols: scheduled(&damage.symbols),
        };
        errors.draw();
        errors
    }

    /// The gap to the next error: one draw, however long the way there.
    fn draw(&mut self) {
        if let Some((stream, (num, den), _)) = &mut self.random {
            self.next = self.next.saturating_add(stream.geometric(*num, *den));
        }
    }

    /// When the next error strikes, if there will be one in the time that can be told.
    fn strikes_at(&self) -> Option<u64> {
        self.random.as_ref()?;
        let (num, den) = self.char_ps;
        let since = u128::from(self.next) * u128::from(num) / u128::from(den);
        u64::try_from(since).ok()?.checked_add(self.origin).filter(|&at| at != u64::MAX)
    }

    /// The error of this instant: what it damages, and the next one.
    fn strike(&mut self, now: u64) {
        let Some((.., burst)) = self.random else { return };
        let (num, den) = self.char_ps;
        self.until = self.until.max(now + (burst * num).div_ceil(den));
        self.next += burst;
        self.draw();
    }

    /// No damage is left over from before `now`, or bound to come by number.
    pub fn is_over(&self, now: u64) -> bool {
        let done = |scheduled: &Scheduled| scheduled.at == scheduled.wanted.len();
        self.until <= now && done(&self.packets) && done(&self.symbols)
    }

    /// A symbol leaves now; whether it is damaged already.
    pub fn symbol(&mut self, now: u64) -> bool {
        self.symbols.count() | (now < self.until)
    }

    /// A packet begins, its first character at `first`; whether it is damaged already.
    pub fn packet(&mut self, first: u64) -> bool {
        self.packets.count() | (first < self.until)
    }

    /// From `now` on a character takes another time.
    fn rebase(&mut self, now: u64, char_ps: (u64, u64)) {
        if let Some(at) = self.strikes_at() {
            let left = u128::from(at.saturating_sub(now)) * u128::from(self.char_ps.1);
            self.next = u64::try_from(left / u128::from(self.char_ps.0)).unwrap_or(u64::MAX);
        }
        (self.origin, self.char_ps) = (now, char_ps);
    }
}

impl<P: Probe> Links<P> {
    /// First errors, and all scheduled faults.
    pub(crate) fn bootstrap_faults(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        for port in 0..self.ends.len() as u32 {
            let Some(at) = self.ends[port as usize].as_ref().and_then(|end| end.errors.strikes_at()) else {
                continue;
            };
            let key = self.key(self.ports[port as usize].rx.device, at, STRIKE);
            self.observe.pending += 1;
            schedule(Event { key, target: port, payload: LinkStep::Error.pack() });
        }
        self.bootstrap_changes(schedule);
        for (n, fault) in self.config.clone().faults.iter().enumerate() {
            let key = self.observe.keys.make(fault.at, class::HOST);
            let payload = LinkStep::Fault.pack();
            schedule(Event { key, target: n as u32, payload });
        }
    }

    /// A partner that initialises counts what it hears, and begins anew with every error: it hears a status
    /// each period until it is up.
    pub(super) fn tell_until_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let peer = self.ports[port as usize].rx.peer;
        let partner = &self.end(peer).link;
        if !(partner.is_up() || partner.is_down()) {
            self.tell_again(cx, port);
        }
    }

    /// A symbol of `port` was lost: what it told about buffers is told again, once, a period later.
    pub(super) fn tell_again<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let end = self.end(port);
        if std::mem::replace(&mut end.told_again, true) {
            return;
        }
        let at = cx.now().0 + end.status_period;
        let key = self.key(self.ports[port as usize].rx.device, at, class::SYMBOL);
        cx.post(key, port, LinkStep::Tell.pack());
    }

    /// The direction that leaves `port` has another number of lanes from now on.
    fn change_width(&mut self, port: u32, from: u64, to: u64, now: u64) {
        let rx = &self.ports[port as usize].rx;
        let old = self.timings[rx.timing as usize];
        let (num, den) = (old.char_num * from, old.char_den * to);
        let common = gcd(num, den);
        let (num, den) = (num / common, den / common);
        let timing = LinkTiming {
            char_num: num,
            char_den: den,
            wire: WireTiming {
                symbol: (old.symbol_chars * num).div_ceil(den),
                column: if to > 4 { to * num / den } else { 0 },
            },
            ..old
        };
        let number = self.timing_number(timing);
        let both = &mut self.ports[port as usize];
        (both.tx.timing, both.rx.timing) = (number, number);
        self.cold[port as usize].carry = 0;
        self.end(port).errors.rebase(now, (num, den));
    }
}

impl<P: Probe> Fabric<P> {
    /// Something happens to a symbolic link.
    pub(crate) fn link_event<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        target: u32,
        step: LinkStep,
    ) {
        // Errors alone do not keep a run going, and nobody waits for news of buffers.
        if !matches!(step, LinkStep::Error | LinkStep::Credit { .. }) {
            self.links.observe.last_event = cx.now().0;
        }
        match step {
            LinkStep::Poll => self.poll(cx, target),
            LinkStep::Symbol => self.symbol_arrives(cx, target),
            LinkStep::Control => self.control(cx, target),
            LinkStep::Arrive { packet, behind } => self.packet_arrives(cx, target, packet, behind),
            LinkStep::Timer { generation } => self.deadline(cx, target, generation),
            LinkStep::Error => self.error(cx, target),
            LinkStep::Idle => self.idle_damage(cx, target),
            LinkStep::Enter => {
                self.enter(cx, target);
                for port in [target, self.links.ports[target as usize].rx.peer] {
                    self.links.end(port).stay_until = cx.now().0 + 1;
                }
            }
            LinkStep::Resume => self.after_link_port(cx, target, false),
            LinkStep::Credit { channel } => self.credit_returned(cx, target, channel),
            LinkStep::Left => self.message_ended(cx, target),
            LinkStep::Pins { packet, behind } => self.links.message_at_pins(cx, target, packet, behind),
            LinkStep::Reach { packet, behind } => self.message_reached(cx, target, packet, behind),
            LinkStep::Border => self.border(cx, target),
            LinkStep::Tell => {
                self.count(cx, target, false);
                let end = self.links.end(target);
                end.told_again = false;
                end.tell_all();
                self.after_link_port(cx, target, false);
                self.links.tell_until_up(cx, target);
            }
            LinkStep::Fault => self.fault(cx, target),
        }
    }

    /// A character that leaves `port` now is damaged: in a packet, in a symbol, or between them.
    fn error<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let now = cx.now().0;
        self.links.observe.pending -= 1;
        // Errors alone do not keep a run going.
        if cx.pending() == self.links.observe.pending {
            self.settle(cx, cx.key());
            if self.links.is_idle(cx) && !self.links.whispers(now) {
                return;
            }
        }
        self.enter(cx, port);
        let timing = &self.links.timings[self.links.ports[port as usize].tx.timing as usize];
        let (symbol, way) = (timing.wire.symbol, timing.propagation + timing.pipeline);
        let (peer, device) =
            (self.links.ports[port as usize].tx.peer, self.links.ports[port as usize].rx.device);
        let end = self.links.end(port);
        end.errors.strike(now);
        let next = end.errors.strikes_at();
        let down = end.link.is_down();
        let last = end.flying.back_mut().filter(|last| now < last.start + symbol);
        let mut idle = false;
        if down {
            // Nothing is sent that could be damaged.
        } else if let Some(last) = last {
            if !last.damaged {
                last.damaged = true;
                end.stats.damaged_symbols += 1;
            }
            let (starts, ends) = (last.starts, last.ends);
            if let Some(air) = ends.and_then(|serial| end.flight(serial)) {
                air.void = true;
            }
            if let Some(air) = starts.and_then(|serial| end.flight(serial)) {
                air.headless = true;
            }
        } else if let Some((serial, _)) = end.on_wire {
            if let Some(air) = end.flight(serial).filter(|air| !air.damaged) {
                air.damaged = true;
                end.stats.damaged_packets += 1;
            }
        } else {
            end.stats.damaged_idle += 1;
            idle = true;
        }
        end.suspect |= !down;
        if let Some(at) = next {
            let key = self.links.key(device, at, STRIKE);
            self.links.observe.pending += 1;
            cx.post(key, port, LinkStep::Error.pack());
        }
        if idle {
            let key = self.links.key(device, now + way, class::SYMBOL);
            self.links.end(peer).idle_errors += 1;
            cx.post(key, peer, LinkStep::Idle.pack());
        }
    }

    /// A scheduled fault.
    fn fault<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, number: u32) {
        let fault = self.links.config.faults[number as usize];
        let link = &self.links.config.links[fault.link as usize];
        let ports = [link.a, link.b].map(|(device, port)| self.links.nodes.port((device, port)));
        match fault.action {
            FaultAction::Down => self.take_down(cx, ports),
            FaultAction::Up => self.bring_up(cx, ports),
            FaultAction::Lanes(lanes) => {
                ports.iter().for_each(|&port| self.links.end(port).lanes = Some(lanes))
            }
            FaultAction::Credits(side, told) => {
                let port = ports[usize::from(side)];
                self.links.end(port).mute = !told;
                self.count(cx, port, false);
                if told {
                    self.links.end(port).tell_all();
                }
                self.after_link_port(cx, port, false);
            }
        }
    }

    fn take_down<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, ports: [u32; 2]) {
        let now = cx.now().0;
        for port in ports {
            self.make_up(cx, port, false);
            let Links { ports, ends, timings, .. } = &mut self.links;
            let Port { tx, rx } = &mut ports[port as usize];
            let end = ends[port as usize].as_mut().expect("faults are for symbolic links");
            if end.link.is_down() {
                continue;
            }
            end.link.port_lost();
            // What has arrived goes on through the pipeline; the rest is lost on the way.
            let pipeline = timings[rx.timing as usize].pipeline;
            end.air.retain(|air| air.key.time().0 <= now + pipeline);
            end.flying.clear();
            end.due.clear();
            end.places.clear();
            // What has not left by now does not count.
            tx.packet_ps -= rx.wire.beyond(now);
            if let Some((_, until)) = end.on_wire {
                end.cut_short(until.saturating_sub(now));
                end.on_wire = None;
                end.stats.cancelled += 1;
            }
            end.committed = None;
            let lost = end.message.take().is_some();
            end.down_since = end.down_since.or(Some(now));
            rx.wire.silence(now);
            (end.before, end.last) = (None, None);
            if lost {
                self.links.message_lost(port);
            }
            self.link_lost(port);
        }
        for port in ports {
            self.after_link_port(cx, port, false);
        }
    }

    fn bring_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, ports: [u32; 2]) {
        let now = cx.now().0;
        for port in ports {
            let end = self.links.end(port);
            if !end.link.is_down() {
                continue;
            }
            if let Some(lanes) = end.lanes.take() {
                let before = std::mem::replace(&mut end.lanes_now, lanes);
                self.links.change_width(port, u64::from(before), u64::from(lanes), now);
            }
            self.count(cx, port, false);
            let end = self.links.end(port);
            end.link.port_initialized();
            (end.calls, end.suspect) = (true, true);
            self.links.arrange(cx, port);
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
