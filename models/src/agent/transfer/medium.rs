//! What goes wrong with frames on their last step, on purpose: they crossed the fabric, and it costs what it
//! costs.

use crate::config::{TransferConfig, TransferFaults};
use sim_core::{Purpose, Stream};

/// What becomes of one copy of a frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Handed over now.
    Now,
    /// So many ps later.
    Later(u64),
}

/// The last step.
#[derive(Debug)]
pub(super) struct Medium {
    faults: [TransferFaults; 2],
    delay: u64,
    /// None if nothing goes wrong.
    draws: Option<Box<Stream>>,
}

impl Medium {
    pub fn new(seed: u64, config: &TransferConfig) -> Self {
        let some = config.faults.iter().any(|faults| !faults.is_none());
        let draws = some.then(|| Box::new(Stream::new(seed, &config.stream, Purpose::FAULTS)));
        Medium { faults: config.faults, delay: config.delay.0, draws }
    }

    /// What is drawn for a frame that arrives with a wrong bit, whichever that is; `None`: it has none.
    pub fn damage(&mut self, is_data: bool) -> Option<u64> {
        let share = self.faults[usize::from(is_data)].damaged;
        let draws = self.draws.as_deref_mut().filter(|_| share > 0)?;
        draws.chance(share.into(), 1_000_000).then(|| draws.below(1 << 32))
    }

    /// The copies of a frame that arrive: none if it is lost.
    pub fn copies(&mut self, is_data: bool) -> [Option<Fate>; 2] {
        let Some(draws) = &mut self.draws else { return [Some(Fate::Now), None] };
        let faults = self.faults[usize::from(is_data)];
        let mut happens = |share: u32| share > 0 && draws.chance(share.into(), 1_000_000);
        if happens(faults.lost) {
            return [None, None];
        }
        let doubled = happens(faults.doubled);
        let delayed = [happens(faults.delayed), doubled && happens(faults.delayed)];
        let mut fate = |late: bool| match late && self.delay > 0 {
            true => Fate::Later(draws.uniform_between(0, self.delay)),
            false => Fate::Now,
        };
        [Some(fate(delayed[0])), doubled.then(|| fate(delayed[1]))]
    }
}
