//! The receiving side of a device: reassembly, and the answer to each segment.

use crate::engine::Divisible;
use crate::engine::deadlines::Deadlines;
use crate::wire::message::{Segment, SegmentSize, TargetInfo};
use crate::wire::response::Status;
use alloc::collections::{BTreeMap, VecDeque};

/// What a receiver can do.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// Which of the 64 mailboxes there are, a bit for each; the others answer *error*.
    pub mailboxes: u64,
    /// Most messages in reassembly at a time; the first segment of a further one is answered by *retry*.
    pub contexts: u32,
    /// A message of which no segment came for so long is given up. Picoseconds. It must be longer than
    /// the senders' [`patience`](super::SenderOptions::patience) and a crossing of the network.
    pub timeout: u64,
}

impl Default for Options {
    /// All mailboxes, as many messages as come, 3 ms: more than the senders' patience.
    fn default() -> Self {
        Self { mailboxes: u64::MAX, contexts: u32::MAX, timeout: 3_000_000_000 }
    }
}

/// Which rule a segment broke. Such a segment is answered by *error*, and a message in reassembly for the
/// same source, mailbox and letter is dropped: to its sender it is lost.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Cause {
    /// There is no such mailbox.
    Mailbox,
    /// The packet is none: no data or too much, not a multiple of 8 bytes, less than ssize in a segment
    /// that is not the last, msgseg above msglen, a reserved ssize.
    Malformed,
    /// msglen or ssize is not that of the segments before.
    Inconsistent,
    /// The segment came already, and was not answered by *retry*.
    Repeated,
}

/// What the owner has to know. The mailbox is 0..=63 if the message has one segment, else 0..=3.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Event<P> {
    /// A message is complete.
    Delivered {
        /// Device ID of the sender.
        source: u32,
        /// Mailbox.
        mailbox: u8,
        /// Letter, 0..=3.
        letter: u8,
        /// The message, padded to a multiple of 8 bytes.
        payload: P,
    },
    /// A segment broke a rule.
    Rejected {
        /// Device ID of the sender.
        source: u32,
        /// Mailbox.
        mailbox: u8,
        /// Letter, 0..=3.
        letter: u8,
        /// Which rule.
        cause: Cause,
    },
    /// A message was not completed in time and is forgotten.
    Abandoned {
        /// Device ID of the sender.
        source: u32,
        /// Mailbox.
        mailbox: u8,
        /// Letter, 0..=3.
        letter: u8,
        /// Segments that had come.
        received: u8,
    },
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Segments accepted.
    pub segments: u64,
    /// Messages delivered.
    pub messages: u64,
    /// Segments answered by *retry*.
    pub retries: u64,
    /// Segments answered by *error*.
    pub errors: u64,
    /// Messages given up.
    pub abandoned: u64,
}

/// What names a message in reassembly.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Key {
    source: u32,
    mbox: u8,
    letter: u8,
}

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Context<P> {
    segments: u8,
    size: SegmentSize,
    /// A bit for each segment that came.
    received: u16,
    payload: P,
    until: u64,
}

fn key(source: u32, target: TargetInfo) -> Key {
    Key { source, mbox: target.mbox(), letter: target.letter() }
}

/// The receiving side of a device, see the [module](super).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Receiver<P> {
    options: Options,
    contexts: BTreeMap<Key, Context<P>>,
    /// One entry for each context.
    deadlines: Deadlines<Key>,
    events: VecDeque<Event<P>>,
    counters: Counters,
}

impl<P: Divisible> Receiver<P> {
    /// A receiver with nothing in reassembly.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            options,
            contexts: BTreeMap::new(),
            deadlines: Deadlines::new(),
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// A type 11 packet from `source`. The answer goes back with the segment's target, on the
    /// way [`Transport::reply`](crate::wire::Transport::reply) gives.
    ///
    /// `room` says whether the owner can take one more message for this mailbox, beside those that are in
    /// reassembly ([`contexts`](Self::contexts)). It matters for the first segment of a message only: a
    /// message that was begun has its place.
    pub fn handle_segment(&mut self, now: u64, source: u32, segment: Segment<P>, room: bool) -> Status {
        let (mailbox, letter) = (segment.mailbox(), segment.target().letter());
        let key = key(source, segment.target());
        let single = segment.segments() == 1;
        if let Some(cause) = self.broken_rule(key, &segment) {
            return self.reject(key, mailbox, single, cause);
        }
        let open = !single && self.contexts.contains_key(&key);
        let context_left = single || self.contexts.len() < self.options.contexts as usize;
        if !(open || room && context_left) {
            self.counters.retries += 1;
            return Status::Retry;
        }
        self.counters.segments += 1;
        if single {
            self.deliver(source, mailbox, letter, segment.into_payload());
        } else if let Some(payload) = self.accept(now, key, segment) {
            self.deliver(source, mailbox, letter, payload);
        }
        Status::Done
    }

    /// A type 11 packet from `source` that is no [`Segment`], with msglen and target as it has them. The
    /// answer is always *error*.
    pub fn handle_malformed(&mut self, source: u32, msglen: u8, target: TargetInfo) -> Status {
        let single = msglen == 0;
        let mailbox = if single { target.extended_mailbox() } else { target.mbox() };
        self.reject(key(source, target), mailbox, single, Cause::Malformed)
    }

    /// Gives up the messages whose time has come.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some(key) = self.deadlines.pop_due(now) {
            let context = self.close(key).expect("a deadline belongs to a context");
            self.counters.abandoned += 1;
            self.events.push_back(Event::Abandoned {
                source: key.source,
                mailbox: key.mbox,
                letter: key.letter,
                received: context.received.count_ones() as u8,
            });
        }
    }

    /// What happened, in order.
    pub fn poll_event(&mut self) -> Option<Event<P>> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.next()
    }

    /// Messages in reassembly. Each will need a place with the owner.
    #[must_use]
    pub fn contexts(&self) -> usize {
        self.contexts.len()
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    fn broken_rule(&self, key: Key, segment: &Segment<P>) -> Option<Cause> {
        if self.options.mailboxes >> segment.mailbox() & 1 == 0 {
            return Some(Cause::Mailbox);
        }
        let context = self.contexts.get(&key).filter(|_| segment.segments() > 1)?;
        if (context.segments, context.size) != (segment.segments(), segment.size()) {
            return Some(Cause::Inconsistent);
        }
        (context.received >> segment.index() & 1 == 1).then_some(Cause::Repeated)
    }

    fn reject(&mut self, key: Key, mailbox: u8, single: bool, cause: Cause) -> Status {
        let Key { source, letter, .. } = key;
        self.counters.errors += 1;
        self.events.push_back(Event::Rejected { source, mailbox, letter, cause });
        if !single {
            self.close(key);
        }
        Status::Error
    }

    /// Adds a segment to its message; returns the message if it is complete.
    fn accept(&mut self, now: u64, key: Key, segment: Segment<P>) -> Option<P> {
        let until = now.saturating_add(self.options.timeout);
        let context = self.contexts.entry(key).or_insert_with(|| Context {
            segments: segment.segments(),
            size: segment.size(),
            received: 0,
            payload: P::default(),
            until,
        });
        self.deadlines.clear(context.until, key);
        context.received |= 1 << segment.index();
        context.payload.write(usize::from(segment.index()) * segment.size().octets(), segment.payload());
        if context.received.count_ones() == u32::from(segment.segments()) {
            return self.contexts.remove(&key).map(|context| context.payload);
        }
        context.until = until;
        self.deadlines.set(until, key);
        None
    }

    fn close(&mut self, key: Key) -> Option<Context<P>> {
        let context = self.contexts.remove(&key)?;
        self.deadlines.clear(context.until, key);
        Some(context)
    }

    fn deliver(&mut self, source: u32, mailbox: u8, letter: u8, payload: P) {
        self.counters.messages += 1;
        self.events.push_back(Event::Delivered { source, mailbox, letter, payload });
    }
}
