//! What is wrong with a message, what that calls for, and that nothing else happens.

use crate::common::{M, P, config, ethernet_offer, protocol};
use proptest::prelude::*;
use session_management::attribute::{HeaderFormat, List};
use session_management::conduit::Algorithm;
use session_management::control::Open;
use session_management::endpoint::{Endpoint, Event, Suspicion};
use session_management::message::{Command, Fault, MAX_PADDING, Message, Mode, Reaction, View};
use session_management::status::{Status, StatusBits};

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn node(mode: Mode) -> Endpoint {
    let mut config = config(P, Algorithm::Corrected);
    config.mode = mode;
    config.offers.push(ethernet_offer(0x34));
    Endpoint::new(config)
}

/// What P answers to a message from M, and whether M is then suspect.
fn answers(mode: Mode, message: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut node = node(mode);
    let streams = node.streams().count();
    node.handle_message(0, M, message);
    let answers = std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets).collect();
    assert_eq!(node.streams().count(), streams, "nothing is opened by {}", View(message));
    (answers, node.suspicion(M) == Some(Suspicion::NonCompliance))
}

fn status(octets: &[u8]) -> Status<'_> {
    match Message::parse(octets, Mode::Validation) {
        Ok(Message::Status(status)) => status,
        other => panic!("STATUS expected, {other:?}"),
    }
}

/// The one answer is a Command Unknown report that echoes the message.
fn reported(mode: Mode, message: &[u8], suspect: bool) {
    let (answers, found) = answers(mode, message);
    assert_eq!(found, suspect, "{}", View(message));
    let [answer] = &answers[..] else { panic!("{answers:02x?}") };
    let report = status(answer);
    assert_eq!((report.cos, report.source, report.stream, report.mailbox), (0, P, 0xFFFF, 2));
    assert_eq!((report.command, report.version), (message[0], message[1]));
    assert_eq!(report.bits, StatusBits::COMMAND_UNKNOWN);
    let echo = report.data.as_flattened();
    let cut = message.len().min(2040);
    assert_eq!(echo[..cut], message[..cut]);
    assert_eq!(echo.len(), cut.next_multiple_of(8));
    assert!(echo[cut..].iter().all(|&octet| octet == 0));
}

fn dropped(mode: Mode, message: &[u8], suspect: bool) {
    assert_eq!(answers(mode, message), (vec![], suspect), "{}", View(message));
}

fn refused(mode: Mode, message: &[u8], suspect: bool) {
    let (answers, found) = answers(mode, message);
    assert_eq!(found, suspect, "{}", View(message));
    let [answer] = &answers[..] else { panic!("{answers:02x?}") };
    let (Ok(Message::Refuse(refuse)), Ok(Message::Open(open))) =
        (Message::parse(answer, Mode::NonValidation), Message::parse(message, Mode::NonValidation))
    else {
        panic!("REFUSE expected, {answer:02x?}");
    };
    assert_eq!((refuse.destination, refuse.protocol), (P, open.protocol));
    assert_eq!(refuse.attributes, open.attributes);
}

const BOTH: [Mode; 2] = [Mode::Validation, Mode::NonValidation];

/// Proves: SMP-3.5-1, SMP-3.5.2.1-1, SMP-3.5.2.1-3, SMP-3.5.2.1-4, SMP-4.3.4-1, SMP-3.7.3-1, SMP-4.2.9-2
/// Proves: SMP-3.8.4-1
/// Proves: SMP-3.6.4-3, SMP-4.2.8-20, SMP-4.2.8-8
#[test]
fn unknown_commands_and_versions() {
    let known = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x10];
    for code in 0..=0xEF {
        assert_eq!(Command::from_code(code).is_some(), known.contains(&code), "{code:#04x}");
        if !known.contains(&code) {
            for mode in BOTH {
                reported(mode, &[code, 1, 0, 0x12, 0, 0x34, 0xAA, 0xBB], false);
            }
        }
    }
    for code in (1..=9).chain(0xF0..=0xFF) {
        let mut message = vec![code; 64];
        message[1] = 2;
        reported(Mode::NonValidation, &message, false);
    }
    let mut message = octets("10020000 00120100 00000000 80000000");
    dropped(Mode::NonValidation, &message, false);
    message[1] = 1;
    assert_eq!(answers(Mode::NonValidation, &message).0.len(), 1);
    // A USERDEFINED without a handler is not understood, and no fault of the sender.
    reported(Mode::Validation, &octets("f1010000 0012ffff"), false);
}

/// Proves: SMP-3.8.5-8, SMP-3.7-2
#[test]
fn short_messages() {
    for mode in BOTH {
        dropped(mode, &[], false);
        dropped(mode, &[1], false);
        for command in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0xF0] {
            let header = Command::from_code(command).unwrap().header_len();
            for length in 2..header {
                let mut message = vec![0; length];
                message[..2].copy_from_slice(&[command, 1]);
                reported(mode, &message, true);
            }
        }
        for length in 2..16 {
            let mut message = vec![0; length];
            message[..2].copy_from_slice(&[0x10, 1]);
            dropped(mode, &message, true);
        }
    }
    // The version comes before the length, the command before the version.
    assert_eq!(
        Message::parse(&[3, 2], Mode::Validation),
        Err(Fault::Version { command: Command::Open, found: 2 })
    );
    assert_eq!(Message::parse(&[0x0B, 2], Mode::Validation), Err(Fault::Command { found: 0x0B }));
}

/// Proves: SMP-3.5.2.5-2, SMP-3.5.2.5-5
#[test]
fn lists_counts_and_enumerations() {
    let reported_messages = [
        // R5
        "01010012 00340000 01020001 00000000",
        "02010012 00348004 01010102",
        "02010012 0034c001 01020001",
        "02010012 0034c001",
        "03010012 01020002 f0000003 00000001",
        "04010012 00400100 01020002 f0000003 00000001",
        "05010012 00ffffff 01020002 f0000003 00000001",
        // R6
        "02010012 00344000",
        "02010012 00340001",
        // R8, R10
        "03010012 02000000",
        "03010012 02000001 f0000004 ffffffff",
        "04010012 00400100 01020000",
        "05010012 00ffffff 01020000",
        // R13
        "07014002 00340100 01020000 00000000",
        // R16
        "06010240 00000012 c0060100 68656c6c 6f",
        "09010240 00000012 c0000007 20000000 61626364 6566",
        "0a5ac004 010203",
        // StreamID 0xFFFF, or one that ACCEPT cannot hand out
        "06010240 00000012 c0000000ffff",
        "07014000 0034ffff 01020000 00000000",
        "08010012 00344000 ffff0000 00000000",
        "04010012 0040e000 01020001 f0000003 00000001",
        "04010012 0040f000 01010001 f0000003 00000001",
        // too much behind
        "08010012 00344000 01000000 00000000 00000000 00000000",
        // the sender is another one
        "01010013 00340000 ffff0000 00000000",
        "02010013 00120000",
        "03010013 02000001 f0000003 00000001",
        "f0010000 0013ffff",
        "04010013 00400100 02000001 f0000003 00000001",
    ];
    for mode in BOTH {
        for message in reported_messages {
            if message.starts_with("06010240 00000012 c0000000ffff") {
                reported(mode, &octets("06010240 00000012 c000ffff"), true);
                continue;
            }
            reported(mode, &octets(message), true);
        }
        // DATA2 of more than 16380 octets is a fault even if they are there.
        let mut message = vec![0; 4 + 16383];
        message[..4].copy_from_slice(&[0x0A, 0x5A, 0xFF, 0xFF]);
        reported(mode, &message, true);
    }
}

/// Proves: SMP-4.2.8-9, SMP-3.6.4-4, SMP-4.2.8-11, SMP-3.8.5-6
#[test]
fn malformed_status() {
    for message in [
        "10010001 00340100 00000000 00000000",
        "10010001 00340100 00000000 80000000 00000000 00000000",
        "10010000 0034ffff 00000000 80000000",
        "10010000 00340100 00000000 80000000 00000000 00000000",
    ] {
        for mode in BOTH {
            dropped(mode, &octets(message), true);
        }
    }
    for message in [
        "10010000 00340100 00000000 80000010",
        "10010000 00340100 00010000 80000000",
        "10010000 00340100 00000000 00000003",
        "10010000 00340100 00000000 40000001",
        "10010000 00340100 00000000 80000000 01",
    ] {
        dropped(Mode::Validation, &octets(message), true);
    }
    // Without validation reserved bits do not matter.
    let message = octets("10010000 00340100 00ff0000 8ffffff0");
    assert_eq!(answers(Mode::NonValidation, &message).0.len(), 1);
    let parse = |hex: &str| match Message::parse(&octets(hex), Mode::NonValidation) {
        Ok(Message::Status(status)) => status.bits,
        other => panic!("{other:?}"),
    };
    assert_eq!(parse("10010000 00340100 00000000 40000001"), StatusBits::COMMAND_UNKNOWN);
    assert_eq!(parse("10010000 00340100 00000000 6000000f"), StatusBits::NO_SUCH_STREAM);
}

/// Proves: SMP-3.8.5-1, SMP-3.8.5-2, SMP-3.8.5-4, SMP-3.8.5-5, SMP-3.8.5-7
#[test]
fn reserved_fields() {
    let reports = [
        "01010012 00340001 ffff0000 00000000",
        "01010012 00340000 ffff0000 00000100",
        "01010012 00340000 ffff0001 00000000 80020000 00000000",
        "02010012 00348001 01020000 00000001",
        "02010012 0034c001 02000000 00000001",
        "02010012 0034c001 01020001 80020100 00000240 00000000",
        "04010012 01400100 01020001 f0000003 00000001",
        "05010012 01ffffff 01020001 f0000003 00000001",
        "05010012 00fffffe 01020001 f0000003 00000001",
        "07014000 00340100 01020000 00000001",
        "08010012 00344001 01000000 00000000",
        "08010012 00344000 01000000 00010000",
        "08010012 00344000 01000000 00000000 01",
        "06010240 00010012 c0050100 68656c6c 6f",
        "06010240 00000012 d0050100 68656c6c 6f",
        "09010240 00000012 c0000006 20000001 61626364 6566",
        "f0010001 0012ffff",
    ];
    for message in reports {
        let message = octets(message);
        let strict = Message::parse(&message, Mode::Validation);
        assert!(matches!(strict, Err(Fault::Reserved { .. })), "{strict:?}");
        assert!(Message::parse(&message, Mode::NonValidation).is_ok());
        reported(Mode::Validation, &message, true);
    }
    let open =
        octets("03010012 01020004 f0000003 00000001 80020001 000005dc 80010001 00000002 800300a0 1e000012");
    refused(Mode::Validation, &open, true);
    let mut padded = octets("03010012 02000001 f0000003 00000001");
    padded.push(1);
    refused(Mode::Validation, &padded, true);
    // The first octet of DATA_HEADER_FORMAT's pair is not looked at unless it selects DATA2.
    let proposal = octets("03010012 02000002 f0000003 00000001 f0000005 00005a09");
    assert!(Message::parse(&proposal, Mode::Validation).is_ok());
}

/// Proves: SMP-3.5.1.3-1, SMP-3.5.1.5-1, SMP-4.2.5-3, SMP-3.5.2.2-4, SMP-3.4.1-5, SMP-3.4-5, SMP-3.4.3-9
/// Proves: SMP-3.6.2-1
#[test]
fn opens_that_are_refused() {
    for mode in BOTH {
        for (message, suspect) in [
            // unsupported protocols
            ("03010012 ffff0001 f0000003 00000001", false),
            ("03010012 03330001 f0000003 00000001", false),
            // number not first, twice
            ("03010012 02000002 f0000000 0003d090 f0000003 00000001", true),
            ("03010012 02000002 f0000003 00000001 f0000003 00000001", true),
            // not understood
            ("03010012 02000002 f0000003 00000001 01000000 00000000", false),
            ("03010012 02000002 f0000003 00000001 f0000006 00000000", false),
            // periods of zero
            ("03010012 02000002 f0000003 00000001 f0000000 00000000", true),
            ("03010012 02000002 f0000003 00000001 f0000001 00000000", true),
            // conduits that cannot be
            ("03010012 02000002 f0000003 00000001 f0000004 1000ffff", false),
            ("03010012 02000002 f0000003 00000001 f0000004 ffff1000", false),
            // Ethernet without MAC_ADDRESS
            ("03010012 01020003 f0000003 00000001 80020000 000005dc 80010001 00000002", false),
        ] {
            refused(mode, &octets(message), suspect);
        }
    }
}

/// Proves: SMP-3.7.3-2, SMP-3.7.3-3
#[test]
fn suspicion_is_a_flag() {
    let mut node = node(Mode::NonValidation);
    node.handle_message(0, M, &[3, 1, 0]);
    assert_eq!(node.suspicion(M), Some(Suspicion::NonCompliance));
    let events: Vec<Event> = std::iter::from_fn(|| node.poll_event()).collect();
    assert!(events.contains(&Event::Suspect { peer: M, why: Suspicion::NonCompliance }));
    // It opens streams as before, and that does not clear it.
    node.handle_message(1, M, &octets("03010012 02000001 f0000003 00000001"));
    assert_eq!(node.streams().count(), 1);
    assert_eq!(node.suspicion(M), Some(Suspicion::NonCompliance));
    node.clear_suspicion(M);
    assert_eq!(node.suspicion(M), None);
    // Timeout suspicion ends with the next well-formed message.
    node.open(2, M, protocol()).unwrap();
    node.handle_timeout(10_000_000_000_000);
    node.handle_timeout(10_000_000_000_000);
    assert_eq!(node.suspicion(M), Some(Suspicion::Timeout));
    node.handle_message(10_000_000_000_001, M, &octets("05010012 00ffffff 02000001 f0000003 00000009"));
    assert_eq!(node.suspicion(M), None);
}

/// Any octets: either a message that is the same octets again, or a fault with a text.
fn total(octets: &[u8]) {
    assert!(!View(octets).to_string().is_empty());
    for mode in BOTH {
        match Message::parse(octets, mode) {
            Ok(message) => {
                assert_eq!(Some(message.command()), View(octets).command());
                let written = message.to_vec().expect("what was read can be written");
                let compared = written.len().min(octets.len());
                if mode == Mode::Validation {
                    // Only padding is lost, and only zeros.
                    assert_eq!(written[..compared], octets[..compared]);
                    assert!(octets[compared..].iter().all(|&octet| octet == 0));
                    assert!(octets.len() - compared <= MAX_PADDING);
                    assert_eq!(Message::parse(&written, mode), Ok(message));
                } else {
                    assert!(Message::parse(&written, mode).is_ok());
                }
            }
            Err(fault) => {
                assert!(!fault.to_string().is_empty());
                let is_status = View(octets).command() == Some(Command::Status);
                assert!(!is_status || fault.reaction() == Reaction::Drop);
            }
        }
    }
}

fn message_like() -> impl Strategy<Value = Vec<u8>> {
    let known = [1u8, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x10, 0xF0];
    let head = (proptest::sample::select(known.to_vec()), prop_oneof![9 => Just(1u8), 1 => any::<u8>()]);
    let body = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..80),
        proptest::collection::vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..80),
    ];
    (head, body).prop_map(|((command, version), mut body)| {
        body.splice(0..0, [command, version]);
        body
    })
}

proptest! {
    #[test]
    fn any_octets_are_read_without_panic(octets in proptest::collection::vec(any::<u8>(), 0..100)) {
        total(&octets);
    }

    #[test]
    fn messages_with_any_fields_are_read_without_panic(octets in message_like()) {
        total(&octets);
    }

    /// Proves: SMP-3.5.2.2-5
    #[test]
    fn another_sender_is_never_believed(source in any::<u16>()) {
        let attributes = [[0xF0, 0, 0, 3, 0, 0, 0, 1]];
        let open = Open { source, protocol: 0x0200, attributes: List(&attributes) };
        let message = Message::Open(open).to_vec().unwrap();
        let mut node = node(Mode::NonValidation);
        node.handle_message(0, M, &message);
        prop_assert_eq!(node.streams().count() == 1, source == M);
        prop_assert_eq!(node.suspicion(M).is_some(), source != M);
    }
}

/// What is pending stays so and nothing else begins, whatever is wrong with a message.
///
/// Proves: SMP-3.8.5-9
#[test]
fn a_rejected_command_does_nothing() {
    for mode in BOTH {
        let mut node = node(mode);
        node.request(0, M, None, List::default()).unwrap();
        node.create_conduit(0, M, protocol()).unwrap();
        node.open(0, M, protocol()).unwrap();
        node.handle_message(0, M, &octets("03010012 02000001 f0000003 00000001"));
        node.handle_message(0, M, &octets("06010200 00000012 80012000 aa"));
        let stream = node.streams().next().unwrap().0;
        node.query(0, stream).unwrap();
        while node.poll_transmit().is_some() {}
        let state = |node: &Endpoint| {
            (
                node.streams().collect::<Vec<_>>(),
                node.records(M, protocol()).to_vec(),
                (node.outstanding(), node.poll_timeout(), node.next_number()),
                (node.counters().allocated, node.counters().retransmissions),
            )
        };
        let before = state(&node);
        assert_eq!((before.2.0, before.0.len()), (4, 1), "REQUEST, two OPENs, a query");
        for (message, answers) in [
            // R6: an ADVERTISE that answers no REQUEST
            ("02010012 00344000", 1),
            ("02010012 00340001", 1),
            // R5
            ("02010012 0034c001 01020001", 1),
            ("04010012 00402001 02000002 f0000003 00340000", 1),
            ("05010012 00ffffff 02000002 f0000003 00340000", 1),
            // R8, R10, R13, R16, R2, R1
            ("03010012 02000001 f0000004 ffffffff", 1),
            ("04010012 00402001 02000000", 1),
            ("05010012 00ffffff 02000000", 1),
            ("07010002 00122000 02000000 00000000", 1),
            ("06010200 00000012 40ff2000 bb", 1),
            ("08020012 00340000 20000000 00000000", 1),
            ("0b010012 00340000 20000000 00000000", 1),
            // R3: a STATUS that would close the stream
            ("10020000 00122000 02000801 20000001", 0),
            ("10010002 00122000 02000801 20000001", 0),
        ] {
            node.handle_message(1, M, &octets(message));
            assert_eq!(state(&node), before, "{message}");
            let said: Vec<u8> =
                std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets[0]).collect();
            assert_eq!(said, vec![0x10; answers], "{message}");
        }
        // The ADVERTISE that does answer the REQUEST is still taken.
        node.handle_message(2, M, &octets("02010012 00348001 02000000 00000000"));
        assert_eq!(node.outstanding(), before.2.0 - 1);
    }
}

/// Padding of data messages: up to 7 octets, of zeros where that is checked, never a part of the PDU. Of
/// USERDEFINED it goes to the user.
///
/// Proves: SMP-4.3.2-4, SMP-3.8.5-7
#[test]
fn padding() {
    let opened = |mode, header| {
        let mut config = config(P, Algorithm::Corrected);
        (config.mode, config.user_commands) = (mode, vec![0xF1]);
        config.offers[0].header = header;
        let mut node = Endpoint::new(config);
        node.handle_message(0, M, &octets("03010012 02000001 f0000003 00000001"));
        while node.poll_transmit().is_some() || node.poll_event().is_some() {}
        node
    };
    let headers = [
        (HeaderFormat::Data, "06010200 00000012 c0032000 010203"),
        (HeaderFormat::Data1, "09010200 00000012 c0000003 20000000 010203"),
        (HeaderFormat::Data2(0), "0a00c003 010203"),
    ];
    for mode in BOTH {
        for (header, message) in headers {
            for (count, octet) in (0..=8).map(|count| (count, 0)).chain([(1, 1), (7, 0x80)]) {
                let mut node = opened(mode, header);
                let mut message = octets(message);
                message.extend(vec![octet; count]);
                node.handle_message(1, M, &message);
                let events: Vec<Event> = std::iter::from_fn(|| node.poll_event()).collect();
                let pdu = events
                    .iter()
                    .any(|event| matches!(event, Event::Pdu { octets, .. } if octets == &[1, 2, 3]));
                let fits = count <= 7 && (octet == 0 || mode == Mode::NonValidation);
                assert_eq!(pdu, fits, "{mode:?} {header:?} {count} times {octet}");
                let said: Vec<u8> =
                    std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets[0]).collect();
                assert_eq!(said, if fits { vec![] } else { vec![0x10] });
                assert_eq!(node.suspicion(M).is_some(), !fits);
            }
        }
        let mut node = opened(mode, HeaderFormat::Data);
        node.handle_message(1, M, &octets("f1010000 0012ffff 68690000 00000000 00000000 00000000"));
        let user = node.poll_event();
        assert!(matches!(&user, Some(Event::UserDefined { octets, .. }) if octets.len() == 16), "{user:?}");
    }
}
