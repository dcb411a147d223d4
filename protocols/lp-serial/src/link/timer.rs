//! The timers of a port: at most one deadline of each kind.

/// What a port waits for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[repr(u8)]
pub enum LinkTimer {
    /// The acknowledgement of the oldest packet outstanding.
    Acknowledgement = 0,
    /// The link-response.
    LinkResponse = 1,
    /// The next symbol with the buf_status of VC0.
    Status = 2,
    /// The next VC_status symbols.
    VcRefresh = 3,
}

impl LinkTimer {
    /// Every timer.
    pub const ALL: [Self; 4] = [Self::Acknowledgement, Self::LinkResponse, Self::Status, Self::VcRefresh];
}

/// Deadlines, in the owner's unit of time.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct TimerTable([Option<u64>; 4]);

impl TimerTable {
    pub(super) fn set(&mut self, timer: LinkTimer, deadline: Option<u64>) {
        self.0[timer as usize] = deadline;
    }

    /// The earliest deadline.
    pub(super) fn next(&self) -> Option<u64> {
        self.0.iter().flatten().copied().min()
    }

    /// Stops `timer` if its deadline is not later than `now`; whether it was.
    pub(super) fn expire(&mut self, timer: LinkTimer, now: u64) -> bool {
        let expired = self.0[timer as usize].is_some_and(|deadline| deadline <= now);
        if expired {
            self.0[timer as usize] = None;
        }
        expired
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
