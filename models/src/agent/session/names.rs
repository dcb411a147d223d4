//! What a message says, in the words of charts and scripts.

use session_management::conduit::Side;
use session_management::control::{Accept, Open, Refuse};
use session_management::data::Data;
use session_management::endpoint::OpenFailure;
use session_management::message::{Command, Message, Mode};
use session_management::protocol::NO_STREAM;
use session_management::status::{Close, Flow, Status, StatusBits};

/// A StreamID, or F where it is not known.
fn stream(id: u16) -> String {
    if id == NO_STREAM { "F".to_owned() } else { format!("{id:#06x}") }
}

/// A message in words. Messages with the same words are repetitions or copies of each other.
pub(super) fn words(octets: &[u8]) -> String {
    let Ok(message) = Message::parse(octets, Mode::NonValidation) else {
        let command = octets.first().copied();
        return match (command.and_then(Command::from_code), command) {
            (Some(command), _) => format!("malformed {}", command.name()),
            (None, Some(code)) => format!("command {code:#04x}"),
            (None, None) => "nothing".into(),
        };
    };
    match message {
        Message::Open(Open { attributes, .. }) => {
            let number = attributes.message_number().unwrap_or_default();
            match attributes.conduit_stream() {
                Some((transmit, receive)) => {
                    format!("OPEN {number} ({},{})", stream(transmit), stream(receive))
                }
                None => format!("OPEN {number}"),
            }
        }
        Message::Accept(Accept { attributes, stream: id, .. }) => {
            let number = attributes.message_number().unwrap_or_default();
            match attributes.conduit_stream() {
                Some((transmit, receive)) => {
                    format!("ACCEPT {number} ({},{})", stream(transmit), stream(receive))
                }
                None => format!("ACCEPT {number} {}", stream(id)),
            }
        }
        Message::Refuse(Refuse { attributes, .. }) => {
            format!("REFUSE {}", attributes.message_number().unwrap_or_default())
        }
        Message::Close(Close { stream: id, .. }) => format!("CLOSE {}", stream(id)),
        Message::Status(Status { stream: id, bits, command, .. }) => {
            let what = if bits.has(StatusBits::REQUEST) {
                "query"
            } else if bits.has(StatusBits::COMMAND_UNKNOWN) {
                "Command Unknown"
            } else if command == Command::Close.code() {
                "Closed"
            } else if bits.has(StatusBits::NO_SUCH_STREAM) {
                "Stream Unknown"
            } else {
                "Functional"
            };
            format!("STATUS {} {what}", stream(id))
        }
        Message::FlowControl(flow) => {
            let what = match flow.flow {
                Flow::Rts => "RTS",
                Flow::Xoff => "XOFF",
                Flow::Xon => "XON",
            };
            format!("{what} {}", stream(flow.stream))
        }
        Message::Data(data) => data_words(&data),
        other => other.command().name().to_owned(),
    }
}

fn data_words(data: &Data<'_>) -> String {
    let place = match (data.start, data.end) {
        (true, true) => "",
        (true, false) => " start",
        (false, true) => " end",
        (false, false) => " middle",
    };
    match data.stream() {
        Some(id) => format!("{} {}{place}", data.command().name(), stream(id)),
        None => format!("{}{place}", data.command().name()),
    }
}

/// DATA3 has no words of its own.
pub(super) fn data3_words(id: u16) -> String {
    format!("DATA3 {}", stream(id))
}

/// The stream that the words of a CLOSE or a query name.
pub(super) fn stream_in(words: &str) -> Option<u16> {
    let id = words.split(' ').nth(1)?.strip_prefix("0x")?;
    u16::from_str_radix(id, 16).ok()
}

/// The number that the words of an OPEN name.
pub(super) fn number_in(words: &str) -> Option<u32> {
    words.strip_prefix("OPEN ")?.split(' ').next()?.parse().ok()
}

/// What happened to a conduit, in words.
pub(super) fn conduit_words(receive: u16, transmit: u16) -> String {
    format!("conduit ({},{})", stream(receive), stream(transmit))
}

/// No OPEN is sent, because the peer has said that it takes none.
pub(super) const NO_OPEN: &str = "no OPEN: the peer takes no part";

/// An OPEN that has come to nothing, in words.
pub(super) fn failed_words(number: u32, why: OpenFailure) -> String {
    let why = match why {
        OpenFailure::Refused => "it is refused",
        OpenFailure::NotUnderstood => "it is not understood",
        OpenFailure::Timeout => "there is no answer",
        OpenFailure::Unusable(_) => "its ACCEPT is of no use",
        OpenFailure::Superseded => "its conduit has changed",
        OpenFailure::NoParticipant => "the peer takes no part",
        OpenFailure::TooLong => "it is too long",
    };
    format!("OPEN {number} fails: {why}")
}

/// A stream that opens, in words.
pub(super) fn opened_words(side: Side, id: u16) -> String {
    let which = if side == Side::Receive { "receive" } else { "transmit" };
    format!("{which} stream {} is open", stream(id))
}

/// A stream of this end that ends, in words.
pub(super) fn ended_words(side: Side, id: u16) -> String {
    let which = if side == Side::Receive { "receive" } else { "transmit" };
    format!("{which} stream {} ends", stream(id))
}
