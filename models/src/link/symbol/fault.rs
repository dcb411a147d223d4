//! What goes wrong: damaged characters, links that go down and come back, receivers that fall silent.

use super::STRIKE;
use crate::config::Damage;
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::{LinkTiming, Port};
use crate::link::wire::WireTiming;
use crate::observe::Build;
use crate::ratio::gcd;
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
    fn next_at(&self) -> Option<u64> {
        self.random.as_ref()?;
        let (num, den) = self.char_ps;
        let since = u128::from(self.next) * u128::from(num) / u128::from(den);
        u64::try_from(since).ok()?.checked_add(self.origin).filter(|&at| at != u64::MAX)
    }

    /// The error of this instant: what it damages, and the next one.
    fn damage(&mut self, now: u64) {
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
        if let Some(at) = self.next_at() {
            let left = u128::from(at.saturating_sub(now)) * u128::from(self.char_ps.1);
            self.next = u64::try_from(left / u128::from(self.char_ps.0)).unwrap_or(u64::MAX);
        }
        (self.origin, self.char_ps) = (now, char_ps);
    }
}

impl<P: Build> Links<P> {
    /// First errors, and all scheduled faults.
    pub fn bootstrap_faults(&mut self, schedule: &mut impl FnMut(Event<Payload>)) {
        for port in PortId::new(0).span(self.ends.len() as u32) {
            let Some(at) = self.ends[port.index()].as_ref().and_then(|end| end.errors.next_at()) else {
                continue;
            };
            let key = self.key(self.ports[port.index()].link.device, at, STRIKE);
            self.observe.pending += 1;
            schedule(Event { key, target: port.into(), payload: LinkStep::Error.pack() });
        }
        self.bootstrap_changes(schedule);
        for (n, fault) in self.config.clone().faults.iter().enumerate() {
            let key = self.observe.keys.make(fault.at, class::HOST);
            let payload = LinkStep::Fault.pack();
            schedule(Event { key, target: n as u32, payload });
        }
    }

    /// The direction that leaves `port` has another number of lanes from now on.
    fn change_width(&mut self, port: PortId, from: u64, to: u64, now: u64) {
        let link = &self.ports[port.index()].link;
        let old = self.timings[link.timing as usize];
        let (num, den) = (old.char_num * from, old.char_den * to);
        let common = gcd(num, den);
        let (num, den) = (num / common, den / common);
        let timing = LinkTiming {
            wire: WireTiming {
                symbol: (old.symbol_chars * num).div_ceil(den),
                column: if to > 4 { to * num / den } else { 0 },
            },
            ..old.paced((num, den))
        };
        let number = self.timing_number(timing);
        self.ports[port.index()].keep_time(number);
        self.cold[port.index()].carry = 0;
        self.end(port).errors.rebase(now, (num, den));
    }

    /// A character that leaves `port` now is damaged: in a packet, in a symbol, or between them.
    pub fn damage<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let now = cx.now().0;
        let timing = &self.timings[self.ports[port.index()].tx.timing as usize];
        let (symbol, way) = (timing.wire.symbol, timing.propagation + timing.pipeline);
        let device = self.ports[port.index()].link.device;
        let end = self.end(port);
        end.errors.damage(now);
        let next = end.errors.next_at();
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
            let key = self.key(device, at, STRIKE);
            self.observe.pending += 1;
            cx.post(key, port.into(), LinkStep::Error.pack());
        }
        if idle {
            let key = self.key(device, now + way, class::SYMBOL);
            self.post_idle_damage(cx, port, key);
        }
    }

    /// The receiver of `port` tells no free buffers from now on, or tells them again.
    pub fn withhold_credits(&mut self, port: PortId, withholds: bool) {
        self.end(port).withholds = withholds;
        self.count(port, false);
        if !withholds {
            self.end(port).tell_all();
        }
    }

    /// A status that was lost is told again.
    pub fn tell_now(&mut self, port: PortId) {
        self.count(port, false);
        let end = self.end(port);
        end.told_again = false;
        end.tell_all();
    }

    /// From its next initialisation on the link has so many lanes.
    pub fn take_lanes(&mut self, port: PortId, lanes: u8) {
        self.end(port).lanes = Some(lanes);
    }

    /// The link of `port` is lost. Whether it was there.
    pub fn take_down(&mut self, now: u64, port: PortId) -> bool {
        let Links { ports, ends, timings, .. } = self;
        let Port { tx, link, .. } = &mut ports[port.index()];
        let end = ends[port.index()].as_mut().expect("faults are for symbolic links");
        if end.link.is_down() {
            return false;
        }
        end.link.port_lost(now);
        // What has arrived goes on through the pipeline; the rest is lost on the way.
        let pipeline = timings[link.timing as usize].pipeline;
        end.air.retain(|air| air.key.time().0 <= now + pipeline);
        end.flying.clear();
        end.due.clear();
        end.places.clear();
        end.written.clear();
        // What has not left by now does not count.
        tx.packet_ps -= link.wire.beyond(now);
        let cut = end.on_wire;
        if let Some((_, until)) = cut {
            end.cut_short(until.saturating_sub(now));
            end.on_wire = None;
            end.stats.cancelled += 1;
        }
        let unstarted = end.committed.take();
        let lost = end.message.take().is_some();
        if end.carrier.take().is_some() {
            // Told when the link is up again.
            tx.voq_pending = false;
        }
        end.down_since = end.down_since.or(Some(now));
        if end.has_sent() {
            // What the link cuts off again and again gets through no more than what errors strike.
            end.troubled_since.get_or_insert(now);
        }
        link.wire.silence(now);
        (end.before, end.last) = (None, None);
        for (serial, _) in cut.into_iter().chain(unstarted) {
            self.tell_cut(port, serial, now);
        }
        if lost {
            self.message_lost(port);
        }
        true
    }

    /// The link of `port` begins to initialise, if it is down. What is read there has been taken note of.
    pub fn bring_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) {
        let now = cx.now().0;
        let end = self.end(port);
        if !end.link.is_down() {
            return;
        }
        if let Some(lanes) = end.lanes.take() {
            let before = std::mem::replace(&mut end.lanes_now, lanes);
            self.change_width(port, u64::from(before), u64::from(lanes), now);
        }
        self.count(port, false);
        let end = self.end(port);
        end.link.port_initialized();
        (end.calls, end.suspect) = (true, true);
        self.arrange(cx, port);
    }
}
