//! The sending side of a device: what leaves next, and what became of it.

use super::{Message, Order};
use crate::engine::deadlines::Deadlines;
use crate::engine::{Divisible, insert_by_priority};
use crate::wire::message::{LETTERS, Segment, TargetInfo};
use crate::wire::response::Status;
use crate::wire::{Error, Priority};
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec;
use alloc::vec::Vec;

/// How a sender behaves. Times in picoseconds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// Messages under way to one mailbox of one destination, 1..=4.
    pub letters: u8,
    /// Segments sent and not answered yet, to all destinations together; at least 1.
    pub window: u32,
    /// A segment that is not answered for so long is lost, and its message with it.
    pub response_timeout: u64,
    /// From a *retry* response until its segment is sent again.
    pub retry_delay: u64,
    /// Longest pause between two segments of a message that has begun; after a longer one it fails.
    /// Receivers must wait longer than that for a segment, and for its way: one that gave up earlier would
    /// have answered *done* to segments it dropped, and the message would be taken for received.
    pub patience: u64,
    /// How long a letter stays out of use after its message failed. At least the time after which receivers
    /// give up a message that is not completed.
    pub linger: u64,
}

impl Default for Options {
    /// 4 letters, 256 segments, 1 ms for a response, immediate retry, pauses of
    /// 2 ms, 3 ms of rest for a letter.
    fn default() -> Self {
        Self {
            letters: LETTERS,
            window: 256,
            response_timeout: 1_000_000_000,
            retry_delay: 0,
            patience: 2_000_000_000,
            linger: 3_000_000_000,
        }
    }
}

/// A packet to be sent.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Transmit<P> {
    /// Device ID of the receiver.
    pub destination: u32,
    /// Its priority, at most 2.
    pub priority: Priority,
    /// The packet.
    pub segment: Segment<P>,
}

/// Why a message failed.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Failure {
    /// A segment was answered by *error*.
    ErrorResponse,
    /// A segment was not answered in time.
    Timeout,
    /// The window, other messages, or the retry delay held a segment back for longer than
    /// [`Options::patience`].
    Stalled,
    /// An earlier part of the same whole failed ([`Order::Part`]); this one was never sent.
    Broken,
}

/// The end of a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Event {
    /// All segments were answered by *done*: it was received.
    Sent {
        /// From [`Message::token`].
        token: u64,
    },
    /// It may have been received or not.
    Failed {
        /// From [`Message::token`].
        token: u64,
        /// Why.
        cause: Failure,
    },
}

/// What happened so far.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Segments sent, repetitions included.
    pub segments: u64,
    /// *Retry* responses received.
    pub retries: u64,
    /// *Error* responses received.
    pub errors: u64,
    /// Segments not answered in time.
    pub timeouts: u64,
    /// Responses to nothing that is outstanding.
    pub unsolicited: u64,
}

/// What names a message under way: destination, mailbox, letter; and whether its last part is a place for up
/// to 16 segments or one upper mailbox number.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Identity {
    destination: u32,
    mbox: u8,
    letter: u8,
    /// The upper mailbox number of a message of one segment.
    xmbox: Option<u8>,
}

/// Priority, and whether a segment has left.
type Urgency = (Priority, bool);

/// Destination and lower mailbox bits: what letters belong to.
type MailboxKey = (u32, u8);

impl Identity {
    const fn mailbox(self) -> MailboxKey {
        (self.destination, self.mbox)
    }
}

/// The letters of a mailbox of a destination, and what waits for one.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Mailbox<P> {
    /// For each letter the values of the msgseg field that are in use, a bit for each.
    busy: [u16; LETTERS as usize],
    /// The letter given last.
    last: u8,
    /// By priority, then in order of submission.
    waiting: VecDeque<Message<P>>,
    /// Groups in which a part failed whose last part has not been submitted yet.
    broken: BTreeSet<u16>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum State {
    /// To be sent as soon as possible.
    Ready,
    /// Sent; lost if not answered by then.
    Outstanding { until: u64 },
    /// To be sent again then.
    Held { until: u64 },
    /// Answered by *done*; or of no interest any more.
    Done,
}

/// A message that has a letter.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Active<P> {
    message: Message<P>,
    segments: Vec<State>,
    /// When a segment left last, unless all that left were refused.
    last_sent: Option<u64>,
    /// The letter is only kept until nothing of the message can be under way any more.
    failed: bool,
}

impl<P> Active<P> {
    fn any(&self, wanted: fn(&State) -> bool) -> bool {
        self.segments.iter().any(wanted)
    }

    /// Values of the msgseg field it uses.
    fn bits(&self, xmbox: Option<u8>) -> u16 {
        bits(xmbox, self.segments.len())
    }
}

fn bits(xmbox: Option<u8>, segments: usize) -> u16 {
    match xmbox {
        Some(xmbox) => 1 << xmbox,
        None => (u32::from(u16::MAX) >> (16 - segments)) as u16,
    }
}

/// In place of a segment number in a deadline: the end of a letter's rest.
const LINGER: u8 = u8::MAX;

/// The sending side of a device, see the [module](super).
///
/// What may change the answers of the outputs: [`submit`](Self::submit),
/// [`handle_response`](Self::handle_response), [`handle_timeout`](Self::handle_timeout), and
/// [`poll_transmit`](Self::poll_transmit) itself.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sender<P> {
    options: Options,
    mailboxes: BTreeMap<MailboxKey, Mailbox<P>>,
    active: BTreeMap<Identity, Active<P>>,
    /// Messages with a segment that is ready, by priority, then those that have begun, then in the order in
    /// which they became so.
    ready: VecDeque<(Urgency, Identity)>,
    /// One entry for each outstanding or held segment and each resting letter.
    deadlines: Deadlines<(Identity, u8)>,
    outstanding: u32,
    /// The letter given last, to whomever: where a new mailbox goes on.
    last_letter: u8,
    events: VecDeque<Event>,
    counters: Counters,
}

impl<P: Divisible> Sender<P> {
    /// A sender with nothing to send.
    ///
    /// # Panics
    /// If there are to be no letters or more than 4, or the window is 0.
    #[must_use]
    pub fn new(options: Options) -> Self {
        assert!((1..=LETTERS).contains(&options.letters), "letters: 1 to 4");
        assert!(options.window > 0, "window: at least 1");
        Self {
            options,
            mailboxes: BTreeMap::new(),
            active: BTreeMap::new(),
            ready: VecDeque::new(),
            deadlines: Deadlines::new(),
            outstanding: 0,
            last_letter: options.letters - 1,
            events: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    /// Takes a message. Messages to the same mailbox of the same destination get their letters by priority,
    /// then in this order; they may be completed in another.
    ///
    /// # Errors
    /// Those of [`Message::check`]; nothing is taken then.
    pub fn submit(&mut self, message: Message<P>) -> Result<(), Error> {
        message.check()?;
        let key = (message.destination, message.mailbox & 3);
        let last = self.last_letter;
        let mailbox = self.mailboxes.entry(key).or_insert_with(|| Mailbox {
            busy: [0; LETTERS as usize],
            last,
            waiting: VecDeque::new(),
            broken: BTreeSet::new(),
        });
        insert_by_priority(&mut mailbox.waiting, message, |message| message.priority);
        self.start_waiting(key);
        Ok(())
    }

    /// Messages that were taken and have not ended, in no order that means anything.
    pub fn pending(&self) -> impl Iterator<Item = &Message<P>> {
        let waiting = self.mailboxes.values().flat_map(|mailbox| &mailbox.waiting);
        waiting.chain(self.active.values().filter(|active| !active.failed).map(|active| &active.message))
    }

    /// A response of type 13 from `source`.
    pub fn handle_response(&mut self, now: u64, source: u32, target: TargetInfo, status: Status) {
        match status {
            Status::Done => {}
            Status::Retry => self.counters.retries += 1,
            Status::Error => self.counters.errors += 1,
        }
        let Some((identity, index)) = self.find(source, target) else {
            self.counters.unsolicited += 1;
            return;
        };
        let active = self.active.get_mut(&identity).expect("found");
        let state = &mut active.segments[usize::from(index)];
        let State::Outstanding { until } = *state else {
            self.counters.unsolicited += 1;
            // A receiver that errs about a segment it had accepted has dropped the message.
            if (*state, status) == (State::Done, Status::Error) && !active.failed {
                self.fail(now, identity, Failure::ErrorResponse);
            }
            return;
        };
        self.deadlines.clear(until, (identity, index));
        self.outstanding -= 1;
        match status {
            Status::Retry if !active.failed => {
                let until = now.saturating_add(self.options.retry_delay);
                let at_once = self.options.retry_delay == 0;
                *state = if at_once { State::Ready } else { State::Held { until } };
                if !active.any(|state| matches!(state, State::Done | State::Outstanding { .. })) {
                    // Nothing was accepted: no receiver loses patience.
                    active.last_sent = None;
                }
                if at_once {
                    self.enqueue(identity);
                } else {
                    self.deadlines.set(until, (identity, index));
                }
            }
            Status::Error if !active.failed => {
                *state = State::Done;
                self.fail(now, identity, Failure::ErrorResponse);
            }
            _ => {
                *state = State::Done;
                self.conclude(now, identity);
            }
        }
    }

    /// Lets everything happen whose time has come.
    pub fn handle_timeout(&mut self, now: u64) {
        while let Some((identity, index)) = self.deadlines.pop_due(now) {
            if index == LINGER {
                self.retire(identity);
                continue;
            }
            let active = self.active.get_mut(&identity).expect("a deadline belongs to a message");
            let state = &mut active.segments[usize::from(index)];
            if let State::Held { .. } = state {
                *state = State::Ready;
                self.enqueue(identity);
                continue;
            }
            *state = State::Done;
            self.outstanding -= 1;
            self.counters.timeouts += 1;
            if active.failed {
                self.conclude(now, identity);
            } else {
                self.fail(now, identity, Failure::Timeout);
            }
        }
    }

    /// The next packet, if there is one and the window has room. Its response is awaited from `now` on. A
    /// message that has paused for too long fails here, so events may follow.
    pub fn poll_transmit(&mut self, now: u64) -> Option<Transmit<P>> {
        if self.outstanding >= self.options.window {
            return None;
        }
        loop {
            let &(_, identity) = self.ready.front()?;
            let last_sent = self.active[&identity].last_sent;
            if last_sent.is_none_or(|sent| now <= sent.saturating_add(self.options.patience)) {
                return Some(self.transmit(now, identity));
            }
            self.fail(now, identity, Failure::Stalled);
        }
    }

    /// Sends the first ready segment of the message at the head of the ready list.
    fn transmit(&mut self, now: u64, identity: Identity) -> Transmit<P> {
        let active = self.active.get_mut(&identity).expect("a ready message is active");
        let mut ready = active.segments.iter_mut().enumerate().filter(|(_, state)| **state == State::Ready);
        let (index, state) = ready.next().expect("a ready message has a ready segment");
        let last = ready.next().is_none();
        let until = now.saturating_add(self.options.response_timeout);
        *state = State::Outstanding { until };
        active.last_sent = Some(now);
        let (index, priority) = (index as u8, active.message.priority);
        let segment = active.message.segment(identity.letter, index);
        if last {
            self.ready.pop_front();
        } else {
            // It stays at the head: what has begun goes before what has not.
            self.ready[0].0 = (priority, true);
        }
        self.deadlines.set(until, (identity, index));
        self.outstanding += 1;
        self.counters.segments += 1;
        Transmit { destination: identity.destination, priority, segment }
    }

    /// What ended, in order.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.deadlines.next()
    }

    /// Whether a packet waits for [`poll_transmit`](Self::poll_transmit) and the window has room for it.
    #[must_use]
    pub fn wants_transmit(&self) -> bool {
        !self.ready.is_empty() && self.outstanding < self.options.window
    }

    /// Segments sent and not answered yet.
    #[must_use]
    pub const fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// Letters in use, those at rest after a failure included.
    #[must_use]
    pub fn active(&self) -> usize {
        self.active.len()
    }

    /// Whether nothing waits, is under way or rests: the state is that of a new sender, but for counters and
    /// the turn of the letters.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.mailboxes.is_empty() && self.events.is_empty()
    }

    /// What happened so far.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The message and the segment a response is about.
    fn find(&self, source: u32, target: TargetInfo) -> Option<(Identity, u8)> {
        let identity = Identity {
            destination: source,
            mbox: target.mbox(),
            letter: target.letter(),
            xmbox: Some(target.msgseg()),
        };
        if self.active.contains_key(&identity) {
            return Some((identity, 0));
        }
        let identity = Identity { xmbox: None, ..identity };
        let active = self.active.get(&identity)?;
        (usize::from(target.msgseg()) < active.segments.len()).then_some((identity, target.msgseg()))
    }

    /// Gives letters to the messages at the head of a mailbox, and to those behind who do not have to
    /// wait for one before them to end; and forgets a mailbox that has nothing left.
    fn start_waiting(&mut self, key: MailboxKey) {
        let Some(mailbox) = self.mailboxes.get_mut(&key) else { return };
        let mut at = 0;
        while let Some(message) = mailbox.waiting.get(at) {
            if let Order::Part { group, first, last } = message.order
                && mailbox.broken.contains(&group)
            {
                if first || last {
                    mailbox.broken.remove(&group);
                }
                if !first {
                    let message = mailbox.waiting.remove(at).expect("looked at");
                    self.events.push_back(Event::Failed { token: message.token, cause: Failure::Broken });
                    continue;
                }
            }
            if message.order != Order::Free {
                let identity = |letter, xmbox| Identity { destination: key.0, mbox: key.1, letter, xmbox };
                let mut begun = self.active.range(identity(0, None)..=identity(LETTERS, None));
                let mut before = mailbox.waiting.range(..at);
                if begun.any(|(_, active)| active.message.order.excludes(message.order))
                    || before.any(|earlier| earlier.order.excludes(message.order))
                {
                    at += 1;
                    continue;
                }
            }
            let segments = message.segments();
            let xmbox = (segments == 1).then_some(message.mailbox >> 2);
            let wanted = bits(xmbox, segments);
            let free = |letter: &u8| mailbox.busy[usize::from(*letter)] & wanted == 0;
            let letter = match message.letter {
                Some(chosen) => Some(chosen).filter(free),
                None => {
                    let letters = self.options.letters;
                    (1..=letters).map(|step| (mailbox.last + step) % letters).find(free)
                }
            };
            let Some(letter) = letter else { break };
            mailbox.last = letter;
            self.last_letter = letter;
            mailbox.busy[usize::from(letter)] |= wanted;
            let message = mailbox.waiting.remove(at).expect("looked at");
            let identity = Identity { destination: key.0, mbox: key.1, letter, xmbox };
            let entry = ((message.priority, false), identity);
            insert_by_priority(&mut self.ready, entry, |&(urgency, _)| urgency);
            let segments = vec![State::Ready; segments];
            self.active.insert(identity, Active { message, segments, last_sent: None, failed: false });
        }
        if mailbox.busy == [0; LETTERS as usize] && mailbox.waiting.is_empty() && mailbox.broken.is_empty() {
            self.mailboxes.remove(&key);
        }
    }

    /// Puts a message with a ready segment into the ready list, unless it is there.
    fn enqueue(&mut self, identity: Identity) {
        let active = &self.active[&identity];
        if active.segments.iter().filter(|&&state| state == State::Ready).count() == 1 {
            let entry = ((active.message.priority, true), identity);
            insert_by_priority(&mut self.ready, entry, |&(urgency, _)| urgency);
        }
    }

    /// The message is lost. Its letter is kept while responses may come, and for a rest after that.
    fn fail(&mut self, now: u64, identity: Identity, cause: Failure) {
        let active = self.active.get_mut(&identity).expect("fails once");
        active.failed = true;
        let mut was_ready = false;
        for (index, state) in active.segments.iter_mut().enumerate() {
            match *state {
                State::Ready => was_ready = true,
                State::Held { until } => self.deadlines.clear(until, (identity, index as u8)),
                State::Outstanding { .. } | State::Done => continue,
            }
            *state = State::Done;
        }
        if was_ready {
            self.ready.retain(|&(_, other)| other != identity);
        }
        self.events.push_back(Event::Failed { token: active.message.token, cause });
        let broken = match active.message.order {
            Order::Part { group, last: false, .. } => Some(group),
            _ => None,
        };
        let mailbox = self.mailboxes.get_mut(&identity.mailbox()).expect("a message has a mailbox");
        mailbox.broken.extend(broken);
        self.conclude(now, identity);
        if broken.is_some() {
            self.start_waiting(identity.mailbox());
        }
    }

    /// A segment needs nothing any more; perhaps that was the last.
    fn conclude(&mut self, now: u64, identity: Identity) {
        let active = &self.active[&identity];
        if active.failed {
            if active.any(|state| matches!(state, State::Outstanding { .. })) {
                return;
            }
            if self.options.linger > 0 {
                self.deadlines.set(now.saturating_add(self.options.linger), (identity, LINGER));
            } else {
                self.retire(identity);
            }
        } else if !active.any(|state| *state != State::Done) {
            self.events.push_back(Event::Sent { token: active.message.token });
            self.retire(identity);
        }
    }

    /// The letter is free again.
    fn retire(&mut self, identity: Identity) {
        let active = self.active.remove(&identity).expect("retires once");
        let mailbox = self.mailboxes.get_mut(&identity.mailbox()).expect("a message has a mailbox");
        mailbox.busy[usize::from(identity.letter)] &= !active.bits(identity.xmbox);
        self.start_waiting(identity.mailbox());
    }
}
