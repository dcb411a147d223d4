//! Synthetic and recorded traffic: when the next packet is created, where it goes, how long it is.

use crate::config::{Arrivals, Destinations, PacketSize, ReplayPacket, Sizes, SourceConfig};
use sim_core::{Duration, Purpose, Stream, Time, prefetch};
use std::hint::select_unpredictable;

/// A packet to be created.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Draw {
    pub destination: u32,
    pub flow: u16,
    pub priority: u8,
    pub size: PacketSize,
}

/// State of one source: what has been drawn in advance in two lines, what each packet needs besides in one.
/// Where that is all (the packets of a Poisson process), making a packet touches no other.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Source {
    /// The next packets of a Poisson process; the first of them has the number `turn`.
    planned: [Planned; AHEAD],
    /// Creation time of the next packet, ps; `u64::MAX` = none (any more).
    pub next: u64,
    made: u64,
    limit: u64,
    stop: u64,
    /// Of a source that goes on after the run: later than all of it. Else never.
    after: u64,
    turn: u8,
    is_planned: bool,
    priority: u8,
    /// If all packets are alike.
    size: Option<PacketSize>,
    rest: Box<Rest>,
}

/// Octets of a source.
pub(crate) const OCTETS: usize = size_of::<Source>() + size_of::<Rest>();

const _: () = assert!(size_of::<Source>() == 192);

/// What a source draws from.
#[derive(Clone, Debug)]
struct Rest {
    config: SourceConfig,
    seed: u64,
    /// Position in a trace or a destination cycle.
    position: usize,
    /// Slots or packets since the start, for exact rational intervals.
    ticks: u64,
    /// End of the current burst.
    burst_end: u64,
    arrivals: Stream,
    destinations: Stream,
    sizes: Stream,
    weight_sum: u64,
    /// Where the next packet goes, if that is drawn at random and has been drawn already: what its way begins
    /// with can be fetched before it is made.
    aim: Option<Aim>,
}

/// Where a packet goes, and what flow it belongs to.
#[derive(Clone, Copy, Debug)]
struct Aim {
    destination: u32,
    flow: u16,
}

/// A packet to come.
#[derive(Clone, Copy, Debug)]
struct Planned {
    /// From the creation of the one before.
    gap: Duration,
    aim: Aim,
}

/// How many packets are drawn together: their logarithms overlap, and so do the lines that are missed.
const AHEAD: usize = 8;

impl Source {
    pub fn new(seed: u64, config: &SourceConfig) -> Self {
        let stream = |purpose| Stream::new(seed, &config.stream, purpose);
        let weight_sum = match &config.sizes {
            Sizes::Mix(mix) => mix.iter().map(|(w, _)| u64::from(*w)).sum(),
            _ => 0,
        };
        let nothing = Planned { gap: Duration::ZERO, aim: Aim { destination: 0, flow: 0 } };
        let mut source = Source {
            planned: [nothing; AHEAD],
            next: config.start.0,
            made: 0,
            limit: config.limit,
            stop: config.stop.0,
            after: if config.goes_on { config.stop.0.saturating_add(1) } else { u64::MAX },
            turn: 0,
            is_planned: matches!(config.arrivals, Arrivals::Poisson { .. }),
            priority: config.priority,
            size: if let Sizes::Fixed(size) = config.sizes { Some(size) } else { None },
            rest: Box::new(Rest {
                config: config.clone(),
                seed,
                position: 0,
                ticks: 0,
                burst_end: 0,
                arrivals: stream(Purpose::ARRIVALS),
                destinations: stream(Purpose::DESTINATIONS),
                sizes: stream(Purpose::SIZES),
                weight_sum,
                aim: None,
            }),
        };
        let first = if source.is_planned {
            source.planned = source.rest.plan();
            config.start.0.saturating_add(source.planned[0].gap.0)
        } else {
            source.rest.first()
        };
        source.next = source.bounded(first);
        source
    }

    /// A source that has made nothing yet makes nothing before `now`: its process begins then, with the same
    /// random numbers.
    pub fn not_before(&mut self, now: u64) {
        debug_assert_eq!(self.made, 0, "a source begins once");
        let Rest { config, seed, .. } = &*self.rest;
        if now > config.start.0 {
            *self = Source::new(*seed, &SourceConfig { start: Time(now), ..config.clone() });
        }
    }

    /// Packets to keep waiting, for closed-loop sources.
    #[inline(always)]
    pub fn backlog(&self) -> Option<u16> {
        if self.is_planned { None } else { self.rest.backlog() }
    }

    /// `u64::MAX`: there is nothing more to create.
    fn bounded(&self, at: u64) -> u64 {
        match () {
            () if self.made >= self.limit || at == u64::MAX => u64::MAX,
            () if at >= self.stop => self.after,
            () => at,
        }
    }

    /// Whether a closed-loop source may create another packet at `now`.
    pub fn may_refill(&self, now: u64) -> bool {
        self.made < self.limit && now < self.stop
    }

    /// Draws the packet created at `self.next` (or, closed loop, at `now`) and moves on.
    pub fn draw(&mut self) -> Draw {
        debug_assert!(
            self.next == u64::MAX || self.next < self.stop,
            "a run goes to the stop of what goes on"
        );
        if !self.is_planned {
            return self.draw_anew();
        }
        let Aim { destination, flow } = self.planned[usize::from(self.turn)].aim;
        let size = self.size.unwrap_or_else(|| self.rest.draw_size(None));
        self.made += 1;
        self.turn += 1;
        if usize::from(self.turn) == AHEAD {
            self.turn = 0;
            self.planned = self.rest.plan();
        }
        if self.next != u64::MAX {
            self.next = self.bounded(self.next.saturating_add(self.planned[usize::from(self.turn)].gap.0));
        }
        Draw { destination, flow, priority: self.priority, size }
    }

    /// Likewise, of a source that does not plan.
    #[inline(never)]
    fn draw_anew(&mut self) -> Draw {
        let rest = &mut *self.rest;
        let mut priority = self.priority;
        let replay = match &rest.config.arrivals {
            Arrivals::Replay(records) => Some(records[rest.position]),
            _ => None,
        };
        let Aim { destination, flow } = match rest.aim.take() {
            Some(aim) => aim,
            None => rest.take_aim(),
        };
        let size = self.size.unwrap_or_else(|| rest.draw_size(replay));
        if let Some(record) = replay {
            priority = record.priority;
            rest.position += 1;
        }
        self.made += 1;
        if self.next != u64::MAX {
            let next = rest.after(self.next);
            if let Destinations::Uniform { .. } | Destinations::Hotspot { .. } = rest.config.destinations {
                rest.aim = Some(rest.take_aim());
            }
            self.next = self.bounded(next);
        }
        Draw { destination, flow, priority, size }
    }

    /// Asks for the lines that every packet touches.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.planned[0]);
        prefetch(&self.planned[AHEAD / 2]);
        prefetch(&self.next);
    }

    /// Asks for what packets touch besides that are not planned.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        if !self.is_planned {
            prefetch(&self.rest.config.arrivals);
            prefetch(&self.rest.config.destinations);
            prefetch(&self.rest.arrivals);
            prefetch(&self.rest.destinations);
            prefetch(&self.rest.aim);
        }
    }

    /// Where the next packet goes, if that is known.
    #[inline(always)]
    pub fn aims_at(&self) -> Option<u32> {
        if self.is_planned {
            return Some(self.planned[usize::from(self.turn)].aim.destination);
        }
        self.rest.aim.map(|aim| aim.destination)
    }

    /// Closed loop: `next` is used once, for the first backlog.
    pub fn opened(&mut self) {
        self.next = u64::MAX;
    }

    /// Its flow, if it would create another packet but for the end of the run.
    pub fn goes_on(&self) -> Option<u16> {
        let config = &self.rest.config;
        let more = self.made < self.limit && !matches!(config.arrivals, Arrivals::Replay(_));
        (config.goes_on && more).then_some(config.flow)
    }

    /// Packets created so far.
    pub fn made(&self) -> u64 {
        self.made
    }
}

impl Rest {
    fn backlog(&self) -> Option<u16> {
        match self.config.arrivals {
            Arrivals::Saturated { backlog } => Some(backlog),
            _ => None,
        }
    }

    /// The next packets of a Poisson process.
    #[inline(never)]
    fn plan(&mut self) -> [Planned; AHEAD] {
        let Arrivals::Poisson { mean } = self.config.arrivals else { unreachable!() };
        let gaps: [Duration; AHEAD] = self.arrivals.exponentials_ps(mean);
        gaps.map(|gap| Planned { gap, aim: self.take_aim() })
    }

    /// Creation of the first packet, before bounds.
    fn first(&mut self) -> u64 {
        let start = self.config.start.0;
        match &self.config.arrivals {
            Arrivals::Poisson { .. } => unreachable!("its packets are planned"),
            Arrivals::Bernoulli { slot, .. } => {
                self.ticks = start.div_ceil(slot.0);
                self.next_slot()
            }
            Arrivals::Constant { phase, .. } => start + phase.0,
            Arrivals::OnOff { off, on, interval } => {
                // In the middle of things: in a burst as often as bursts last, anywhere between two packets.
                let (off, on, interval) = (*off, *on, *interval);
                let in_burst = self.arrivals.chance(on.0, on.0.saturating_add(off.0));
                let pause = if in_burst { 0 } else { self.arrivals.exponential_ps(off).0 };
                let begin = start.saturating_add(pause);
                self.burst_end = begin.saturating_add(self.arrivals.exponential_ps(on).0);
                let left = self.arrivals.below(interval.0.max(1));
                self.in_bursts(begin, left, (on, off))
            }
            Arrivals::Saturated { .. } => start,
            Arrivals::Replay(records) => records.first().map_or(u64::MAX, |r| r.at.0.max(start)),
        }
    }

    /// The slot in which the next packet comes, from `ticks` on; where it comes no more before the source
    /// stops, that instant.
    fn next_slot(&mut self) -> u64 {
        let Arrivals::Bernoulli { slot, numerator, denominator } = self.config.arrivals else {
            unreachable!()
        };
        loop {
            let tick = self.ticks;
            self.ticks += 1;
            if tick.saturating_mul(slot.0) >= self.config.stop.0 {
                return self.config.stop.0;
            }
            if self.arrivals.chance(numerator, denominator) {
                return tick * slot.0;
            }
        }
    }

    /// Creation of the packet after one at `at`, before bounds.
    fn after(&mut self, at: u64) -> u64 {
        match &self.config.arrivals {
            Arrivals::Poisson { .. } => unreachable!("its packets are planned"),
            Arrivals::Bernoulli { .. } => self.next_slot(),
            Arrivals::Constant { interval, phase } => {
                self.ticks += 1;
                let (num, den) = *interval;
                let offset = u128::from(self.ticks) * u128::from(num) / u128::from(den);
                (u128::from(self.config.start.0) + u128::from(phase.0) + offset).min(u128::from(u64::MAX))
                    as u64
            }
            Arrivals::OnOff { on, off, interval } => {
                let (on, off, interval) = (*on, *off, *interval);
                self.in_bursts(at, interval.0, (on, off))
            }
            Arrivals::Saturated { .. } => u64::MAX,
            Arrivals::Replay(records) => {
                let start = self.config.start.0;
                records.get(self.position).map_or(u64::MAX, |r| r.at.0.max(start))
            }
        }
    }

    /// When `left` of the time within bursts has passed since `at`, an instant within a burst. What is left
    /// of the gap between two packets at the end of a burst goes on in the next: a burst may be shorter
    /// than the gap, and carries a packet only as often as its length says.
    fn in_bursts(&mut self, mut at: u64, mut left: u64, (on, off): (Duration, Duration)) -> u64 {
        while at.saturating_add(left) >= self.burst_end && self.burst_end < self.config.stop.0 {
            left -= self.burst_end - at;
            at = self.burst_end.saturating_add(self.arrivals.exponential_ps(off).0);
            self.burst_end = at.saturating_add(self.arrivals.exponential_ps(on).0);
        }
        at.saturating_add(left)
    }

    /// How long the next packet is.
    fn draw_size(&mut self, replay: Option<ReplayPacket>) -> PacketSize {
        match &self.config.sizes {
            Sizes::Fixed(size) => *size,
            Sizes::Mix(mix) => {
                let mut point = self.sizes.below(self.weight_sum);
                let mut found = mix[mix.len() - 1].1;
                for (weight, size) in mix.iter() {
                    if point < u64::from(*weight) {
                        found = *size;
                        break;
                    }
                    point -= u64::from(*weight);
                }
                found
            }
            Sizes::Replay => replay.expect("a trace names the size").size,
        }
    }

    /// Where the next packet goes.
    #[inline(always)]
    fn take_aim(&mut self) -> Aim {
        let mut flow = self.config.flow;
        let destination = match &self.config.destinations {
            Destinations::Fixed(id) => *id,
            Destinations::Cycle(ids) => {
                let id = ids[self.position % ids.len()];
                self.position += 1;
                id
            }
            Destinations::Uniform { ids, except } => pick(&mut self.destinations, ids, *except),
            Destinations::Hotspot {
                hot,
                hot_except,
                hot_flow,
                numerator,
                denominator,
                cold,
                cold_except,
            } => {
                let hit = self.destinations.chance(*numerator, *denominator);
                flow = select_unpredictable(hit, *hot_flow, flow);
                let ids = select_unpredictable(hit, hot, cold);
                let except = select_unpredictable(hit, hot_except, cold_except);
                pick(&mut self.destinations, ids, *except)
            }
            Destinations::Replay => {
                let Arrivals::Replay(records) = &self.config.arrivals else {
                    unreachable!("a trace names the destination")
                };
                records[self.position].destination
            }
        };
        Aim { destination, flow }
    }
}

/// Uniform over `ids` without position `except`.
#[inline(always)]
fn pick(stream: &mut Stream, ids: &[u32], except: Option<u32>) -> u32 {
    let n = stream.below(ids.len() as u64 - u64::from(except.is_some())) as usize;
    ids[n + usize::from(except.is_some_and(|hole| n >= hole as usize))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(seed: u64, arrivals: Arrivals, stop: u64) -> Source {
        let config = SourceConfig {
            endpoint: 0,
            flow: 0,
            stream: "ep/0/f/0".into(),
            priority: 0,
            start: Time::ZERO,
            stop: Time(stop),
            goes_on: false,
            limit: u64::MAX,
            arrivals,
            destinations: Destinations::Fixed(1),
            sizes: Sizes::Fixed(PacketSize { payload: 8, wire: 20 }),
            ftype: 5,
        };
        Source::new(seed, &config)
    }

    /// A source that plans makes the packets that come of drawing from its streams one by one: gaps from the
    /// one, destinations from the other, over several plans, up to its limit and its stop.
    #[test]
    fn plans_are_what_is_drawn_one_by_one() {
        const MEAN: Duration = Duration(1_000_000);
        let config = |limit, stop| SourceConfig {
            limit,
            destinations: Destinations::Uniform { ids: vec![5, 6, 7, 8, 9].into(), except: Some(2) },
            ..source(3, Arrivals::Poisson { mean: MEAN }, stop).rest.config
        };
        for (limit, stop) in [(u64::MAX, 40_000_000), (21, u64::MAX), (0, u64::MAX), (8, u64::MAX)] {
            let mut planned = Source::new(3, &config(limit, stop));
            let stream = |purpose| Stream::new(3, "ep/0/f/0", purpose);
            let (mut gaps, mut ways) = (stream(Purpose::ARRIVALS), stream(Purpose::DESTINATIONS));
            let mut at = gaps.exponential_ps(MEAN).0;
            let mut made = 0;
            while made < limit && at < stop {
                let law = [5, 6, 8, 9][ways.below(4) as usize];
                assert_eq!((planned.next, planned.aims_at()), (at, Some(law)));
                assert_eq!(planned.draw().destination, law);
                at += gaps.exponential_ps(MEAN).0;
                made += 1;
            }
            assert_eq!((planned.next, planned.made()), (u64::MAX, made));
        }
    }

    /// On and off alternate with exponential lengths of mean a and b, in equilibrium from the start; in
    /// on-time a packet comes every i, the first anywhere. So the expected number of packets in a time T is
    /// T a / (a + b) / i, for any lengths. On-time in T has the variance 2 a^2 b^2 T / (a + b)^3, and a
    /// packet more or less at the ends.
    #[test]
    fn bursts_offer_what_was_asked_for_however_short_they_are() {
        for (on, off, interval) in [
            (1_000_000u64, 1_000_000u64, 945_000u64),
            (10_000, 40_000, 600_000),
            (500_000, 50_000, 700_000),
            (60_000_000, 20_000_000, 500_000),
            (1_000_000, 0, 999_999),
        ] {
            let until = 4_000 * (on + off + interval);
            let arrivals =
                Arrivals::OnOff { on: Duration(on), off: Duration(off), interval: Duration(interval) };
            let mut made = 0u64;
            let sources = 40;
            for seed in 0..sources {
                let mut source = source(seed, arrivals.clone(), until);
                let mut last = None;
                while source.next != u64::MAX {
                    assert!(
                        last.is_none_or(|last| source.next >= last + interval),
                        "closer than the interval"
                    );
                    last = Some(source.next);
                    source.draw();
                }
                made += source.made();
            }
            let (a, b, time) = (on as f64, off as f64, until as f64 * sources as f64);
            let law = time * a / (a + b) / interval as f64;
            let deviation = (2.0 * a * a * b * b * time / (a + b).powi(3)).sqrt() / interval as f64;
            let allowed = 4.0 * (deviation + (sources as f64).sqrt());
            let off_by = (made as f64 - law).abs();
            assert!(off_by < allowed, "{on}, {off}, {interval}: {made}, law {law}, allowed {allowed}");
        }
    }
}
