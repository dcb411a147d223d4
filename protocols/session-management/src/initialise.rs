//! How a processor initialises the registers of another device through the fabric, or one stage of that
//! (Annex 2 §3.2).
//!
//! The owner carries each [`Access`] to the device and brings back what came of it. One is under way at a
//! time, and accesses arrive in the order in which they were sent; one of which no answer came may have been
//! carried out twice.
//!
//! The order of steps: the stage is read without the lock, because who waits for his stage has no need of
//! it. The lock is read, written and read again (SMP-3.2-4, SMP-3.2-5). Then the stage is read once more:
//! since the first look somebody else may have had the lock. What is written is counted in the same word that
//! ends the stage, and that word is the last one and is read again: it says whether the lock held until then.
//! The lock is given back by the write that has taken it, and read again too: carried out twice, that write
//! takes the lock once more.

use crate::attribute::Attributes;
use crate::octets::be32;
use crate::register::{Contact, LockStep, NOT_INITIALISED, UNLOCKED, lock_step, offset};
use alloc::collections::VecDeque;

/// The last stage there is.
pub const MAX_STAGE: u8 = 15;

/// What a processor writes into a block, and when it is its turn.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Work {
    /// The stage that it does, 1 to 15.
    pub stage: u8,
    /// The stage that follows, or 0: the block is complete then.
    pub next: u8,
    /// Where the node takes management messages, if it is this processor that says so.
    pub contact: Option<Contact>,
    /// Attributes that come behind those which are there.
    pub attributes: Attributes,
}

/// An access to a register of the block.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Access {
    /// Byte offset in the block.
    pub offset: u32,
    /// What is written; none: it is read.
    pub write: Option<u32>,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum End {
    /// The stage is done, and the lock given back.
    Done,
    /// The stage was done already: the block is in this one, 0 = complete.
    Past(u8),
    /// It is not yet the turn of this stage: the block is in this one.
    Early(u8),
    /// Another processor has the lock, and had it before this one asked for it.
    Locked(u16),
    /// This one has written its value, and then found that of another, who was first.
    Beaten(u16),
    /// More attributes than the block takes.
    NoRoom {
        /// With those of this processor.
        wanted: u16,
        /// Max_Attr.
        max: u8,
    },
    /// The stage is not what was written: somebody has freed the lock meanwhile.
    Undone,
    /// An access to this register was not answered. The lock may have been left behind.
    Failed(u32),
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Step {
    ReadLeft,
    Look,
    ReadLock,
    Take,
    ReadBack,
    LookAgain,
    Write,
    Verify,
    Free,
    ReadFree,
    Ended,
}

/// A processor at the block of another device.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Initialiser {
    own: u16,
    work: Work,
    step: Step,
    under_way: Option<Access>,
    /// What is still to be written under the lock, in order.
    words: VecDeque<(u32, u32)>,
    /// Init_Stage and Num_Attr as they were written.
    range: u32,
    end: Option<End>,
}

impl Initialiser {
    /// `own`: the value with which it takes the lock. None, if that is no value to lock with (0xFFFF), or a
    /// stage is none that registers can say.
    #[must_use]
    pub fn new(own: u16, work: Work) -> Option<Self> {
        let possible = own != UNLOCKED && (1..=MAX_STAGE).contains(&work.stage) && work.next <= MAX_STAGE;
        possible.then(|| Self {
            own,
            work,
            step: Step::Look,
            under_way: None,
            words: VecDeque::new(),
            range: 0,
            end: None,
        })
    }

    /// Begins anew, after an end. Who got no answer may have left the lock behind: it looks there first.
    pub fn begin_again(&mut self) {
        let failed = matches!(self.end(), Some(End::Failed(_)));
        self.step = if failed { Step::ReadLeft } else { Step::Look };
        (self.end, self.under_way) = (None, None);
        self.words.clear();
    }

    /// What is to be done next, if nothing is under way.
    pub fn poll_transmit(&mut self) -> Option<Access> {
        if self.under_way.is_some() {
            return None;
        }
        let read = |offset| Access { offset, write: None };
        let lock = Access { offset: offset::WRITE_ENABLE, write: Some(self.own.into()) };
        let access = match self.step {
            Step::Look | Step::LookAgain | Step::Verify => read(offset::ATTRIBUTE_RANGE),
            Step::ReadLeft | Step::ReadLock | Step::ReadBack | Step::ReadFree => read(offset::WRITE_ENABLE),
            Step::Take | Step::Free => lock,
            Step::Write => {
                let &(offset, word) = self.words.front()?;
                Access { offset, write: Some(word) }
            }
            Step::Ended => return None,
        };
        self.under_way = Some(access);
        Some(access)
    }

    /// The access was carried out; `word`: what was read. Ignored if none is under way.
    pub fn handle_done(&mut self, word: u32) {
        if self.under_way.take().is_none() {
            return;
        }
        match self.step {
            Step::ReadLeft if word as u16 == self.own => self.step = Step::LookAgain,
            Step::ReadLeft => self.step = Step::Look,
            Step::Look => match self.turn(word) {
                None => self.step = Step::ReadLock,
                Some(end) => self.finish(end),
            },
            Step::ReadLock => self.lock(word, End::Locked),
            Step::Take => self.step = Step::ReadBack,
            Step::ReadBack => self.lock(word, End::Beaten),
            Step::LookAgain => match self.turn(word).or_else(|| self.plan(word)) {
                None => self.step = Step::Write,
                end => self.give_back(end),
            },
            Step::Write => {
                self.words.pop_front();
                if self.words.is_empty() {
                    self.step = Step::Verify;
                }
            }
            Step::Verify => {
                let held = word & 0x0FFF == self.range;
                self.give_back(Some(if held { End::Done } else { End::Undone }));
            }
            Step::Free => self.step = Step::ReadFree,
            // Who finds its own value has written it twice.
            Step::ReadFree if word as u16 == self.own => self.step = Step::Free,
            Step::ReadFree => self.step = Step::Ended,
            Step::Ended => {}
        }
    }

    /// The access was not answered. Ignored if none is under way.
    pub fn handle_failure(&mut self) {
        if let Some(access) = self.under_way.take() {
            self.finish(End::Failed(access.offset));
        }
    }

    /// Whether it counts the lock as its own: it has read its own value, and does not yet give the lock back.
    #[must_use]
    pub const fn holds(&self) -> bool {
        matches!(self.step, Step::LookAgain | Step::Write | Step::Verify)
    }

    /// How it ended, if it has.
    #[must_use]
    pub const fn end(&self) -> Option<End> {
        match self.step {
            Step::Ended => self.end,
            _ => None,
        }
    }

    fn finish(&mut self, end: End) {
        (self.step, self.end) = (Step::Ended, Some(end));
    }

    fn give_back(&mut self, end: Option<End>) {
        (self.step, self.end) = (Step::Free, end);
        self.words.clear();
    }

    /// Why it is not the turn of this stage, if it is not.
    const fn turn(&self, range: u32) -> Option<End> {
        match (range >> 8 & 0xF) as u8 {
            stage if stage == self.work.stage => None,
            stage if stage == 0 || stage > self.work.stage => Some(End::Past(stage)),
            stage => Some(End::Early(stage)),
        }
    }

    fn lock(&mut self, word: u32, taken: fn(u16) -> End) {
        match lock_step(word as u16, self.own) {
            LockStep::Write(_) => self.step = Step::Take,
            LockStep::Held => self.step = Step::LookAgain,
            LockStep::Busy => self.finish(taken(word as u16)),
        }
    }

    /// Finds out what is to be written: attributes behind those which are there, the contact, and last the
    /// word that counts the attributes and ends the stage. Why nothing is, if nothing can be.
    fn plan(&mut self, range: u32) -> Option<End> {
        let (max, count) = ((range >> 16) as u8, range as u8);
        let there = if count == NOT_INITIALISED { 0 } else { count };
        let more = self.work.attributes.len() as u16;
        let wanted = u16::from(there) + more;
        if wanted > max.into() {
            return Some(End::NoRoom { wanted, max });
        }
        let begin = offset::ATTRIBUTES + 8 * u32::from(there);
        for (at, attribute) in (begin..).step_by(8).zip(self.work.attributes.list().iter()) {
            self.words.push_back((at, be32(&attribute.0, 0)));
            self.words.push_back((at + 4, be32(&attribute.0, 4)));
        }
        if let Some(contact) = self.work.contact {
            self.words.push_back((offset::ADVERTISEMENT, contact.advertisement()));
        }
        // Registers without attributes count as not initialised until the last stage is done.
        let count = if wanted == 0 && self.work.next != 0 { count } else { wanted as u8 };
        self.range = u32::from(self.work.next) << 8 | u32::from(count);
        self.words.push_back((offset::ATTRIBUTE_RANGE, self.range));
        None
    }
}
