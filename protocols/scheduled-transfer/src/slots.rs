//! Slots: how many operations the other end has room for (5.2.5, 7.1).
//!
//! The *view* is a lower bound of the other end's free Slots. Everything sent but Request_Connection and
//! silent Data takes one; a Request_State_Response that this end asked for puts the view right again. One
//! Slot is a reserve, so that ends which are out of Slots can still learn of new ones and part.

use alloc::collections::{BTreeMap, VecDeque};

/// No accounting, in Request_Connection and Connection_Answer; "no update" in Request_State_Response.
pub const UNCOUNTED: u16 = 0xFFFF;

/// What an operation needs of the view.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// An answer, which may leave at view 0: who asks keeps a place for it.
    Response,
    /// Request_State, End, Request_Disconnect: may take the last Slot.
    Reserve,
    /// Leaves one Slot.
    Ordinary,
    /// Takes no Slot: Request_Connection, silent Data.
    Free,
}

/// What shows that an operation has arrived: something of the peer that cannot be without it.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Proof {
    /// The answer to the question with this Sync.
    Answer(u32),
    /// Anything that names this id of this end: the peer has it from the request.
    Id(u32),
    /// Data with this Mx, which the peer has from a Clear_To_Send.
    Index(u16),
}

/// A send that others may overtake.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Recent {
    at: u64,
    channel: u8,
    proof: Option<Proof>,
}

/// What was asked, by Sync.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Asked {
    order: u64,
    sent: u64,
    extra: u64,
}

/// The view, and what is needed to put it right.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Gate {
    view: u16,
    /// All that the other end has.
    slots: u16,
    counted: bool,
    sent: u64,
    asked: BTreeMap<u32, Asked>,
    asks: u64,
    applied: u64,
    /// Recent sends that may not have arrived, on links where they can be overtaken.
    recent: VecDeque<Recent>,
}

impl Gate {
    /// The gate towards an end with so many Slots.
    #[must_use]
    pub const fn new(slots: u16) -> Self {
        Self {
            view: slots,
            slots,
            counted: slots != UNCOUNTED,
            sent: 0,
            asked: BTreeMap::new(),
            asks: 0,
            applied: 0,
            recent: VecDeque::new(),
        }
    }

    /// Lower bound of the free Slots at the other end; meaningless if it does not count.
    #[must_use]
    pub const fn view(&self) -> u16 {
        self.view
    }

    /// Whether the other end counts its Slots.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        self.counted
    }

    /// Slot-consuming operations sent so far.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Answers that are waited for. One to a question before the last that was answered would say nothing
    /// new: it may be lost.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.asked.values().filter(|asked| asked.order > self.applied).count()
    }

    /// Whether the answer to `sync` would say something new.
    #[must_use]
    pub fn is_awaited(&self, sync: u32) -> bool {
        self.asked.get(&sync).is_some_and(|asked| asked.order > self.applied)
    }

    /// Whether an operation of this class may leave; `again` for a repetition.
    #[must_use]
    pub const fn allows(&self, class: Class, again: bool) -> bool {
        !self.counted
            || match class {
                Class::Response | Class::Free => true,
                Class::Reserve => self.view >= 1 || again,
                Class::Ordinary => self.view >= 2,
            }
    }

    /// Counts an operation that leaves. With `window`, sends are remembered for so long, because the link may
    /// let others overtake them; but no answers, for which who asked keeps a place of its own (ST-D50): they
    /// take none of the Slots that it reports.
    pub fn send(&mut self, class: Class, now: u64, channel: u8, window: Option<u64>) {
        if class == Class::Free {
            return;
        }
        self.view = self.view.saturating_sub(1);
        self.sent += 1;
        if let Some(window) = window.filter(|_| self.counted && class != Class::Response) {
            self.forget(now, window);
            self.recent.push_back(Recent { at: now, channel, proof: None });
        }
    }

    fn forget(&mut self, now: u64, window: u64) {
        while self.recent.front().is_some_and(|sent| sent.at.saturating_add(window) < now) {
            self.recent.pop_front();
        }
    }

    /// Says what will show that the operation just sent has arrived. Of one that is sent `again` nothing
    /// shows which of the two it was.
    pub(crate) fn expect(&mut self, proof: Proof, again: bool) {
        if again {
            let before = self.recent.iter_mut().filter(|sent| sent.proof == Some(proof));
            before.for_each(|sent| sent.proof = None);
        } else if let Some(own) = self.recent.back_mut() {
            own.proof = Some(proof);
        }
    }

    /// What `proof` shows has arrived: no later question overtakes it, so its Slot is in what is reported.
    pub fn arrived(&mut self, proof: Proof) {
        if let Some(at) = self.recent.iter().position(|sent| sent.proof == Some(proof)) {
            self.recent.remove(at);
        }
    }

    /// Remembers that the operation just sent asks for Slots under `sync`. What was sent within `window`
    /// before on another channel, or on any if the link reorders, may arrive after it (ST-D52), unless it is
    /// known to have arrived. Without that, ends with few Slots would ask for ever: the questions of an
    /// Op_timeout alone are more than they have.
    pub fn ask(&mut self, sync: u32, now: u64, channel: u8, window: Option<u64>, reorders: bool) {
        let extra = window.map_or(0, |window| {
            self.forget(now, window);
            // The last is the question itself, whose own Slot is in the answer.
            let before = self.recent.iter().take(self.recent.len().saturating_sub(1));
            let overtaken = before.filter(|sent| reorders || sent.channel != channel).count() as u64;
            self.expect(Proof::Answer(sync), false);
            overtaken
        });
        self.asks += 1;
        self.asked.insert(sync, Asked { order: self.asks, sent: self.sent, extra });
    }

    /// The first instant from `now` on at which the answer to a question on Control could say that `need`
    /// Slots are free, as far as this end knows: the question takes one itself, and so does each of the
    /// sends that may arrive after it. Asked earlier, it would only be asked again.
    #[must_use]
    pub fn worth_asking_at(&self, need: u16, now: u64, window: Option<u64>, reorders: bool) -> u64 {
        let (Some(window), Some(room)) = (window, self.slots.checked_sub(need + 1)) else { return now };
        let over = |sent: &Recent| sent.at.saturating_add(window).saturating_add(1);
        let late = |sent: &&Recent| (reorders || sent.channel != 0) && over(sent) > now;
        let too_many = self.recent.iter().filter(late).count().saturating_sub(usize::from(room));
        // They are in the order in which they were sent.
        let last = too_many.checked_sub(1).and_then(|before| self.recent.iter().filter(late).nth(before));
        last.map_or(now, over)
    }

    /// Takes the answer to `sync`; whether there was such a question.
    pub fn answer(&mut self, sync: u32, slots: u16) -> bool {
        let Some(asked) = self.asked.remove(&sync) else { return false };
        self.arrived(Proof::Answer(sync));
        if self.counted && slots != UNCOUNTED && asked.order > self.applied {
            self.applied = asked.order;
            let since = self.sent - asked.sent + asked.extra;
            self.view = u16::try_from(u64::from(slots).saturating_sub(since)).unwrap_or(slots);
        }
        true
    }

    /// The clock was set back.
    pub(crate) fn rebase(&mut self, by: u64) {
        self.recent.iter_mut().for_each(|sent| sent.at = sent.at.saturating_sub(by));
    }

    /// Whether `sync` is waited for.
    #[must_use]
    pub fn is_asked(&self, sync: u32) -> bool {
        self.asked.contains_key(&sync)
    }

    /// No answer to `sync` is waited for any more.
    pub fn drop_question(&mut self, sync: u32) {
        self.asked.remove(&sync);
    }
}
