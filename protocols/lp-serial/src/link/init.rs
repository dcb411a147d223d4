//! Link initialisation, in a simple form: counting status symbols (Part 6 §5.5.3.1).
//!
//! | phase | sends | leaves when |
//! |---|---|---|
//! | down | nothing | the port is initialised (lanes aligned) |
//! | calling | a status per period | an error-free status came |
//! | counting | 15 status symbols, then one per period | 7 error-free ones came in a row, 15 were sent |
//! | up | everything | the port is no longer initialised |
//!
//! Lane synchronisation and training are the driver's: it calls
//! [`port_initialized`](super::LinkPort::port_initialized).

/// Status symbols that must come without an error in between.
pub const STATUS_RECEIVED: u8 = 7;

/// Status symbols that must be sent after the first came.
pub const STATUS_SENT: u8 = 15;

/// Phase of a link.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(super) enum Phase {
    #[default]
    Down,
    Initialising {
        heard: bool,
        received: u8,
        sent: u8,
        /// A status of the period is due.
        due: bool,
    },
    Up,
}

impl Phase {
    pub(super) const CALLING: Self = Self::Initialising { heard: false, received: 0, sent: 0, due: true };

    pub(super) const fn is_up(self) -> bool {
        matches!(self, Self::Up)
    }

    /// An error-free status came.
    pub(super) fn status_received(&mut self) {
        if let Self::Initialising { heard, received, .. } = self {
            *heard = true;
            *received = (*received + 1).min(STATUS_RECEIVED);
        }
    }

    /// An error came.
    pub(super) fn error(&mut self) {
        if let Self::Initialising { received, .. } = self {
            *received = 0;
        }
    }

    /// The period is over.
    pub(super) fn period_over(&mut self) {
        if let Self::Initialising { due, .. } = self {
            *due = true;
        }
    }

    /// Whether a status leaves now; counts it.
    pub(super) fn send_status(&mut self) -> bool {
        let Self::Initialising { heard, sent, due, .. } = self else { return false };
        let counted = *heard && *sent < STATUS_SENT;
        if counted {
            *sent += 1;
        }
        core::mem::take(due) || counted
    }

    /// Whether everything is counted.
    pub(super) const fn is_complete(self) -> bool {
        matches!(self, Self::Initialising { received: STATUS_RECEIVED, sent: STATUS_SENT, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows: R2.2p6s5.5.3.1c0412, R2.2p6s5.5.3.1c0413, R2.2p6s5.5.3.1c0414, R1.3p6s5.3.2c0820,
    /// R1.3p6s5.3.2c0821
    #[test]
    fn counting() {
        let mut phase = Phase::CALLING;
        assert!(phase.send_status(), "one at once");
        assert!(!phase.send_status(), "then one a period");
        phase.period_over();
        assert!(phase.send_status());
        phase.status_received();
        for _ in 0..STATUS_SENT {
            assert!(!phase.is_complete());
            assert!(phase.send_status());
        }
        assert!(!phase.send_status());
        for _ in 1..STATUS_RECEIVED - 1 {
            phase.status_received();
        }
        phase.error();
        for _ in 0..STATUS_RECEIVED {
            assert!(!phase.is_complete(), "seven in a row");
            phase.status_received();
        }
        assert!(phase.is_complete());
    }
}
