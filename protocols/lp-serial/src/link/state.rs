//! The four stop states as two tables, one for each side of the port (Part 6 §5.9.1.4, §5.9.1.5, §5.13.2.6,
//! §5.13.2.7, Annex C). Each side is in one of three states, because an error ends a retry exchange; the two
//! sides know nothing of each other. The tables are in the documentation of [`link`](super).

/// State of the input side of a port.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum InputState {
    /// Packets are accepted.
    #[default]
    Normal,
    /// A packet was retried; packets are ignored until restart-from-retry or link-request.
    RetryStopped,
    /// An error was detected; packets are ignored until link-request.
    ErrorStopped,
}

/// What the input side can meet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum InputEvent {
    /// An error-free packet in order, and room for it.
    Packet,
    /// An error-free packet in order, and no room for it. CT packets never count as this.
    NoRoom,
    /// A packet with an error, or with an unexpected ackID.
    PacketError,
    /// A packet in progress was cancelled by stomp.
    Stomp,
    /// A damaged symbol, an illegal character, loss of synchronisation, or an stype1 function out of place.
    LinkError,
    /// restart-from-retry.
    RestartFromRetry,
    /// link-request/input-status.
    LinkRequest,
}

/// What the input side does.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum InputAction {
    /// Nothing; a packet is discarded.
    Ignore,
    /// The packet is taken and acknowledged.
    Accept,
    /// packet-retry for the expected ackID.
    Retry,
    /// packet-not-accepted.
    NotAccept,
    /// link-response, and the buffer status of all active VCs.
    Respond,
}

impl InputState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Normal, Self::RetryStopped, Self::ErrorStopped];

    /// The table of the input side.
    #[must_use]
    pub const fn on(self, event: InputEvent, multiple_vcs: bool) -> (Self, InputAction) {
        use InputAction::{Accept, Ignore, NotAccept, Respond, Retry};
        use InputState::{ErrorStopped, Normal, RetryStopped};
        match (self, event) {
            (_, InputEvent::LinkRequest) => (Normal, Respond),
            (ErrorStopped, _) => (ErrorStopped, Ignore),
            (_, InputEvent::LinkError) => (ErrorStopped, NotAccept),
            (RetryStopped, InputEvent::RestartFromRetry) => (Normal, Ignore),
            (RetryStopped, _) => (RetryStopped, Ignore),
            (Normal, InputEvent::Packet) => (Normal, Accept),
            (Normal, InputEvent::NoRoom | InputEvent::Stomp) if !multiple_vcs => (RetryStopped, Retry),
            (Normal, _) => (ErrorStopped, NotAccept),
        }
    }
}

/// State of the output side of a port.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum OutputState {
    /// Packets are sent.
    #[default]
    Normal,
    /// packet-retry came; restart-from-retry is to be sent.
    RetryStopped,
    /// An error came; the packets wait for the link-response.
    ErrorStopped,
}

/// What the output side can meet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OutputEvent {
    /// packet-accepted for the oldest packet outstanding.
    Accepted,
    /// packet-retry for the oldest packet outstanding, single VC.
    Retry,
    /// See the tables.
    Error,
    /// restart-from-retry has been sent.
    Restarted,
    /// link-request has been sent, after a packet-not-accepted that told the ackID.
    Requested,
    /// The link-response that was asked for, with a possible ackID_status.
    Response,
}

/// What the output side does.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum OutputAction {
    /// Nothing.
    Ignore,
    /// The oldest packet is the partner's now.
    Acknowledge,
    /// All outstanding packets wait again.
    BackUp,
    /// A link-request becomes due.
    Request,
}

impl OutputState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Normal, Self::RetryStopped, Self::ErrorStopped];

    /// The table of the output side.
    #[must_use]
    pub const fn on(self, event: OutputEvent) -> (Self, OutputAction) {
        use OutputAction::{Acknowledge, BackUp, Ignore, Request};
        use OutputState::{ErrorStopped, Normal, RetryStopped};
        match (self, event) {
            (ErrorStopped, OutputEvent::Response | OutputEvent::Requested) => (Normal, BackUp),
            (ErrorStopped, _) => (ErrorStopped, Ignore),
            (Normal, OutputEvent::Accepted) => (Normal, Acknowledge),
            (Normal, OutputEvent::Retry) => (RetryStopped, BackUp),
            (RetryStopped, OutputEvent::Restarted) => (Normal, Ignore),
            (_, OutputEvent::Error) => (ErrorStopped, Request),
            (RetryStopped, OutputEvent::Accepted | OutputEvent::Retry) => (ErrorStopped, Request),
            (
                Normal | RetryStopped,
                OutputEvent::Restarted | OutputEvent::Requested | OutputEvent::Response,
            ) => (self, Ignore),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Input events in the order of the table, each with its row for (single VC, multiple VCs).
    const INPUT_EVENTS: [InputEvent; 7] = [
        InputEvent::Packet,
        InputEvent::NoRoom,
        InputEvent::PacketError,
        InputEvent::Stomp,
        InputEvent::LinkError,
        InputEvent::RestartFromRetry,
        InputEvent::LinkRequest,
    ];

    /// Shows: R2.2p6s5.9.1.4c0493, R2.2p6s5.9.1.4c0494, R2.2p6s5.9.1.4c0496, R2.2p6s5.13.2.6c0616,
    /// R2.2p6s5.13.2.6c0621, R2.2p6s5.10c0524, R2.2p6s5.10c0525, R2.2p6s5.10c0527, R2.2p6s5.7c0467,
    /// R2.2p6s5.7c0468, R2.2p6s5.7c0472, R2.2p6s5.7c0473, R1.3p6s5.11.2.6c1031, R1.3p6s5.11.2.6c1043,
    /// R1.3p6s5.7.2.1c0911
    #[test]
    fn input_table_is_complete() {
        use InputAction::{Accept, Ignore, NotAccept, Respond, Retry};
        use InputState::{ErrorStopped as E, Normal as N, RetryStopped as R};
        // Columns: normal, retry-stopped, error-stopped.
        let single = [
            [(N, Accept), (R, Ignore), (E, Ignore)],
            [(R, Retry), (R, Ignore), (E, Ignore)],
            [(E, NotAccept), (R, Ignore), (E, Ignore)],
            [(R, Retry), (R, Ignore), (E, Ignore)],
            [(E, NotAccept), (E, NotAccept), (E, Ignore)],
            [(E, NotAccept), (N, Ignore), (E, Ignore)],
            [(N, Respond), (N, Respond), (N, Respond)],
        ];
        let mut multiple = single;
        multiple[1][0] = (E, NotAccept);
        multiple[3][0] = (E, NotAccept);
        for (table, multiple_vcs) in [(single, false), (multiple, true)] {
            for (event, row) in INPUT_EVENTS.into_iter().zip(table) {
                for (state, expected) in InputState::ALL.into_iter().zip(row) {
                    assert_eq!(state.on(event, multiple_vcs), expected, "{state:?} {event:?} {multiple_vcs}");
                }
            }
        }
    }

    /// Shows: R2.2p6s5.9.1.5c0497, R2.2p6s5.9.1.5c0498, R2.2p6s5.13.2.7c0629, R2.2p6s5.13.2.7c0630,
    /// R1.3p6s5.11.2.6c1033, R1.3p6s5.11.2.6c1045
    #[test]
    fn output_table_is_complete() {
        use OutputAction::{Acknowledge, BackUp, Ignore, Request};
        use OutputState::{ErrorStopped as E, Normal as N, RetryStopped as R};
        let table = [
            (OutputEvent::Accepted, [(N, Acknowledge), (E, Request), (E, Ignore)]),
            (OutputEvent::Retry, [(R, BackUp), (E, Request), (E, Ignore)]),
            (OutputEvent::Error, [(E, Request), (E, Request), (E, Ignore)]),
            (OutputEvent::Restarted, [(N, Ignore), (N, Ignore), (E, Ignore)]),
            (OutputEvent::Requested, [(N, Ignore), (R, Ignore), (N, BackUp)]),
            (OutputEvent::Response, [(N, Ignore), (R, Ignore), (N, BackUp)]),
        ];
        for (event, row) in table {
            for (state, expected) in OutputState::ALL.into_iter().zip(row) {
                assert_eq!(state.on(event), expected, "{state:?} {event:?}");
            }
        }
    }
}
