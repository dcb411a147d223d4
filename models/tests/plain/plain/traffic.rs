//! Sources of packets, F-10 to F-12.

use models::config::*;
use sim_core::{Purpose, Stream};

/// A source and what it has done so far.
pub struct Source {
    pub config: SourceConfig,
    arrivals: Stream,
    destinations: Stream,
    sizes: Stream,
    /// When the next packet is created by itself.
    pub next: Option<u64>,
    /// Packets created.
    pub made: u64,
    /// End of the present burst (OnOff).
    burst_end: u64,
}

/// What a new packet is.
pub struct Made {
    pub destination: u32,
    pub flow: u16,
    pub priority: u8,
    pub size: PacketSize,
}

impl Source {
    pub fn new(seed: u64, config: &SourceConfig) -> Source {
        let stream = |purpose| Stream::new(seed, &config.stream, purpose);
        let mut source = Source {
            config: config.clone(),
            arrivals: stream(Purpose::ARRIVALS),
            destinations: stream(Purpose::DESTINATIONS),
            sizes: stream(Purpose::SIZES),
            next: None,
            made: 0,
            burst_end: 0,
        };
        let start = config.start.0;
        let first = match &config.arrivals {
            Arrivals::Poisson { mean } => Some(start + source.arrivals.exponential_ps(*mean).0),
            Arrivals::Bernoulli { slot, .. } => source.hit(start.div_ceil(slot.0)),
            Arrivals::Constant { phase, .. } => Some(start + phase.0),
            Arrivals::OnOff { on, off, interval } => {
                let bursting = source.arrivals.chance(on.0, on.0 + off.0);
                let pause = if bursting { 0 } else { source.arrivals.exponential_ps(*off).0 };
                source.burst_end = start + pause + source.arrivals.exponential_ps(*on).0;
                let gap = source.arrivals.below(interval.0);
                Some(source.after_burst_time(start + pause, gap))
            }
            Arrivals::Saturated { .. } => Some(start),
            Arrivals::Replay(packets) => packets.first().map(|packet| packet.at.0.max(start)),
        };
        source.next = source.allowed(first);
        source
    }

    /// When so much time within bursts has passed since `at`: pauses do not count.
    fn after_burst_time(&mut self, at: u64, gap: u64) -> u64 {
        let Arrivals::OnOff { on, off, .. } = self.config.arrivals else {
            unreachable!("only it has bursts")
        };
        let (mut at, mut gap) = (at, gap);
        while at + gap >= self.burst_end && self.burst_end < self.config.stop.0 {
            gap -= self.burst_end - at;
            at = self.burst_end + self.arrivals.exponential_ps(off).0;
            self.burst_end = at + self.arrivals.exponential_ps(on).0;
        }
        at + gap
    }

    /// The first slot from `slot` on with a hit.
    fn hit(&mut self, mut slot: u64) -> Option<u64> {
        let Arrivals::Bernoulli { slot: length, numerator, denominator } = self.config.arrivals else {
            return None;
        };
        while slot * length.0 < self.config.stop.0 {
            if self.arrivals.chance(numerator, denominator) {
                return Some(slot * length.0);
            }
            slot += 1;
        }
        None
    }

    /// F-11: nothing at or after `stop`, nor beyond `limit`.
    fn allowed(&self, at: Option<u64>) -> Option<u64> {
        at.filter(|&at| at < self.config.stop.0 && self.made < self.config.limit)
    }

    /// F-16: whether a packet that leaves brings another one.
    pub fn refills(&self, now: u64) -> bool {
        matches!(self.config.arrivals, Arrivals::Saturated { .. }) && self.allowed(Some(now)).is_some()
    }

    /// Draws a packet that is created at `now`, and then when the next one is.
    pub fn make(&mut self, now: u64) -> Made {
        let mut made = Made {
            destination: 0,
            flow: self.config.flow,
            priority: self.config.priority,
            size: PacketSize { payload: 0, wire: 0 },
        };
        fn uniform(stream: &mut Stream, ids: &[u32], except: Option<u32>) -> u32 {
            let count = ids.len() as u64 - u64::from(except.is_some());
            let drawn = stream.below(count) as usize;
            ids[drawn + usize::from(except.is_some_and(|except| drawn >= except as usize))]
        }
        match &self.config.destinations {
            Destinations::Fixed(id) => made.destination = *id,
            Destinations::Cycle(ids) => made.destination = ids[(self.made % ids.len() as u64) as usize],
            Destinations::Uniform { ids, except } => {
                made.destination = uniform(&mut self.destinations, ids, *except);
            }
            Destinations::Hotspot {
                hot,
                hot_except,
                hot_flow,
                numerator,
                denominator,
                cold,
                cold_except,
            } => {
                if self.destinations.chance(*numerator, *denominator) {
                    made.destination = uniform(&mut self.destinations, hot, *hot_except);
                    made.flow = *hot_flow;
                } else {
                    made.destination = uniform(&mut self.destinations, cold, *cold_except);
                }
            }
            Destinations::Replay => {}
        }
        match &self.config.sizes {
            Sizes::Fixed(size) => made.size = *size,
            Sizes::Mix(sizes) => {
                let sum = sizes.iter().map(|size| u64::from(size.0)).sum();
                let mut drawn = self.sizes.below(sum);
                for &(weight, size) in sizes.iter() {
                    if drawn < weight.into() {
                        made.size = size;
                        break;
                    }
                    drawn -= u64::from(weight);
                }
            }
            Sizes::Replay => {}
        }
        if let Arrivals::Replay(packets) = &self.config.arrivals {
            let packet = packets[self.made as usize];
            (made.destination, made.priority, made.size) = (packet.destination, packet.priority, packet.size);
        }
        self.made += 1;
        let start = self.config.start.0;
        let next = match &self.config.arrivals {
            Arrivals::Poisson { mean } => Some(now + self.arrivals.exponential_ps(*mean).0),
            Arrivals::Bernoulli { slot, .. } => self.hit(now / slot.0 + 1),
            Arrivals::Constant { interval: (numerator, denominator), phase } => {
                Some(start + phase.0 + self.made * numerator / denominator)
            }
            Arrivals::OnOff { interval, .. } => {
                let gap = interval.0;
                Some(self.after_burst_time(now, gap))
            }
            Arrivals::Saturated { backlog } => (self.made < (*backlog).into()).then_some(start),
            Arrivals::Replay(packets) => packets.get(self.made as usize).map(|packet| packet.at.0.max(start)),
        };
        self.next = self.allowed(next);
        made
    }
}
