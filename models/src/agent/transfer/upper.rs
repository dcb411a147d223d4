//! The upper layer of an end: when it looks for news, and how long what it finds takes.
//!
//! It does one thing at a time. An interrupt goes first, wherever its operation stands in the queue; the rest
//! is taken in order. A header keeps its Slot until the upper layer is done with it, so a slow one fills the
//! Slots.

use crate::config::UpperLayer;
use scheduled_transfer::event::Event;

/// What it does now.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It takes the first piece of news.
    Take,
    /// It goes on then.
    At(u64),
    /// There is no news.
    Nothing,
}

/// Where it is.
#[derive(Debug)]
pub(super) struct Upper {
    config: UpperLayer,
    /// It takes news until nothing is left.
    looking: bool,
    /// It is at work, until then.
    working: Option<(Work, u64)>,
    /// Interrupts that were handled, and whose news is still in the queue.
    handled: usize,
    /// For how long it has worked, ps.
    pub worked: u64,
}

/// What it works at.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Work {
    Interrupt,
    Header,
}

impl Upper {
    pub fn new(config: UpperLayer) -> Self {
        Upper { config, looking: false, working: None, handled: 0, worked: 0 }
    }

    /// What it does at `now` with this news, the first one first.
    pub fn next<'a>(&mut self, now: u64, mut news: impl Iterator<Item = &'a Event> + Clone) -> Next {
        if self.config.is_immediate() {
            return if news.next().is_some() { Next::Take } else { Next::Nothing };
        }
        let mut header_is_done = false;
        match self.working {
            Some((_, until)) if until > now => return Next::At(until),
            Some((Work::Interrupt, _)) => self.handled += 1,
            Some((Work::Header, _)) => header_is_done = true,
            None => {}
        }
        self.working = None;
        let interrupts = news.clone().filter(|event| matches!(event, Event::Interrupt { .. })).count();
        if interrupts > self.handled {
            self.looking = true;
            // What it was at when the interrupt came is finished first.
            if !header_is_done {
                return self.work(now, Work::Interrupt);
            }
        }
        let Some(first) = news.next() else {
            self.looking = false;
            return Next::Nothing;
        };
        let poll = self.config.poll.0;
        if !self.looking && poll > 0 && !now.is_multiple_of(poll) {
            return Next::At(now.next_multiple_of(poll));
        }
        self.looking = true;
        match first {
            Event::Header { .. } if !header_is_done => return self.work(now, Work::Header),
            Event::Interrupt { .. } => self.handled -= 1,
            _ => {}
        }
        Next::Take
    }

    /// Begins to work, if that takes any time.
    fn work(&mut self, now: u64, work: Work) -> Next {
        let time = match work {
            Work::Interrupt => self.config.interrupt.0,
            Work::Header => self.config.header.0,
        };
        self.worked += time;
        self.working = Some((work, now.saturating_add(time)));
        Next::At(now.saturating_add(time))
    }
}
