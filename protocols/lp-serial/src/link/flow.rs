//! Buffers: what this port has, and what it knows of its partner's (Part 6 §5.9).

use crate::control_symbol::Form;
use crate::cost::{BufStatus, SymbolSize, Watermarks, may_send};

/// What the transmitter knows of the partner's buffers of one VC, by the rules of Part 6 §5.9.2.2.
///
/// Rule 8 forgets the outstanding packets at packet-not-accepted: the partner has stopped. No rule speaks of
/// errors after which it may be accepting still (a timeout, an acknowledgement out of order). Here packets
/// stay charged until the link-response tells their fate, whatever the error: a status that arrives in
/// between is never read as more room than there is.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Credit {
    free: i16,
    outstanding: u16,
}

impl Credit {
    /// Credit of a direction with `outstanding` unacknowledged packets whose partner last told `told`.
    #[must_use]
    pub const fn new(told: u16, outstanding: u16) -> Self {
        Self { free: told as i16 - outstanding as i16, outstanding }
    }

    /// Buffers of the partner that are free even if all outstanding packets are accepted; 0 if there is none.
    #[must_use]
    pub const fn free(self) -> u16 {
        if self.free < 0 { 0 } else { self.free as u16 }
    }

    /// The count of free buffers that the partner told last, less the packets whose fate an error has hidden
    /// since.
    #[must_use]
    pub const fn last_told(self) -> u16 {
        let told = self.free + self.outstanding as i16;
        if told < 0 { 0 } else { told as u16 }
    }

    /// Packets sent and not acknowledged.
    #[must_use]
    pub const fn outstanding(self) -> u16 {
        self.outstanding
    }

    /// Whether a packet of VC0 may be sent.
    #[must_use]
    pub const fn allows(self, prio: u8, watermarks: Watermarks) -> bool {
        may_send(prio, self.free(), watermarks)
    }

    pub(super) const fn sent(&mut self) {
        self.outstanding += 1;
        self.free -= 1;
    }

    /// A packet that was sent waits again; whoever tells of free buffers next does not count it.
    pub(super) const fn take_back(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    pub(super) const fn told(&mut self, status: BufStatus) {
        if let BufStatus::Exactly(told) | BufStatus::AtLeast(told) = status {
            *self = Self::new(told, self.outstanding);
        }
    }

    pub(super) const fn accepted(&mut self, status: BufStatus) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.told(status);
    }

    /// The outstanding packets are settled in another way than by acknowledgements.
    pub(super) const fn settle(&mut self) {
        self.outstanding = 0;
    }
}

/// The receive buffers of one VC.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Buffers {
    total: u16,
    occupied: u16,
    /// Free buffers as last told, or about to be told by a symbol that is due.
    advertised: u16,
}

impl Buffers {
    /// Empty buffers, all of them advertised.
    #[must_use]
    pub const fn new(total: u16) -> Self {
        Self { total, occupied: 0, advertised: total }
    }

    /// Buffers in use by accepted packets.
    #[must_use]
    pub const fn occupied(self) -> u16 {
        self.occupied
    }

    /// Buffers not in use.
    #[must_use]
    pub const fn free(self) -> u16 {
        self.total - self.occupied
    }

    /// The count of free buffers that the partner was told last.
    #[must_use]
    pub const fn advertised(self) -> u16 {
        self.advertised
    }

    pub(super) const fn resume(total: u16, occupied: u16, advertised: u16) -> Self {
        Self { total, occupied, advertised }
    }

    pub(super) const fn occupy(&mut self, occupied: u16) {
        assert!(occupied <= self.total, "more buffers than there are");
        self.occupied = occupied;
    }

    pub(super) const fn take(&mut self) {
        self.occupied += 1;
    }

    pub(super) const fn release(&mut self) {
        self.occupied -= 1;
    }

    /// Samples the count for a symbol that becomes due.
    pub(super) const fn advertise(&mut self) -> u16 {
        self.advertised = self.free();
        self.advertised
    }

    /// One more buffer goes into a symbol that has not left.
    pub(super) const fn amend(&mut self) {
        self.advertised += 1;
    }
}

/// The buf_status of `free` buffers.
pub(super) fn report(form: Form, transmitter_controlled: bool, free: u16) -> u8 {
    if transmitter_controlled {
        SymbolSize::from(form).report_free(free.into()) as u8
    } else {
        form.parameter_max()
    }
}

/// Meaning of a received buf_status.
pub(super) fn read(form: Form, raw: u8) -> BufStatus {
    SymbolSize::from(form).buf_status(raw.into())
}
