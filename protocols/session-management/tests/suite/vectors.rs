//! Every message of the specification's test vectors, written and read.

use session_management::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Kind};
use session_management::control::{Accept, Advertise, Answer, Blocks, Open, ProtocolList, Refuse, Request};
use session_management::data::{Data, Header};
use session_management::message::{Message, Mode};
use session_management::status::{Close, Flow, FlowControl, Status, StatusBits, UserDefined};

const M: u16 = 0x0012;
const P: u16 = 0x0034;
const OUI: [u8; 7] = [0x00, 0xA0, 0x1E, 0, 0, 0, 0];
const FTP: [u8; 7] = *b"FTPDRCT";
const NAMED: [u8; 7] = *b"RapidIO";
const ONE: [u8; 7] = [0, 0, 0, 0, 0, 0, 1];
const MAC_M: [u8; 6] = [0x00, 0xA0, 0x1E, 0, 0, 0x12];

fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// The message has these octets, and these octets are the message, in both modes.
fn both_ways(message: Message<'_>, hex: &str) {
    let expected = octets(hex);
    assert_eq!(message.octets(), expected.len(), "{message:?}");
    assert_eq!(message.to_vec().unwrap(), expected, "{message:?}");
    for mode in [Mode::Validation, Mode::NonValidation] {
        assert_eq!(Message::parse(&expected, mode), Ok(message));
    }
    // A conveyance may pad.
    let mut padded = expected.clone();
    padded.resize(expected.len().next_multiple_of(8), 0);
    if !matches!(message, Message::UserDefined(_) | Message::Data(_)) {
        assert_eq!(Message::parse(&padded, Mode::Validation), Ok(message));
    }
}

fn list<const N: usize>(attributes: [Attribute; N]) -> Attributes {
    attributes.into_iter().collect()
}

fn ethernet_open() -> Attributes {
    list([
        Attribute::message_number(1),
        Attribute::mtu(1500),
        Attribute::conveyance(Conveyance::mailbox(2)),
        Attribute::mac_address(MAC_M),
    ])
}

fn ftp() -> Attributes {
    list([Attribute::vendor(OUI), Attribute::protocol_name(FTP)])
}

/// Proves: SMP-4.2.1-1, SMP-4.2.1-2, SMP-4.2.1-3, SMP-4.2.1-4, SMP-1.6-1, SMP-3.5.2.2-1, SMP-3.5.2.3-1
#[test]
fn request() {
    let request = |cos, protocol, attributes: &Attributes, hex| {
        let attributes = attributes.list();
        both_ways(Message::Request(Request { source: M, destination: P, cos, protocol, attributes }), hex);
    };
    let none = Attributes::new();
    request(0, 0xFFFF, &none, "01010012 00340000 ffff0000 00000000");
    request(0x20, 0x0102, &none, "01010012 00342000 01020000 00000000");
    let filter = list([Attribute::mtu(0), Attribute([0x80, 0x01, 0, 0, 0, 0, 0, 0])]);
    request(0, 0x0102, &filter, "01010012 00340000 01020002 00000000 80020000 00000000 80010000 00000000");
    request(0, 0x0101, &ftp(), "01010012 00340000 01010002 00000000 0000a01e 00000000 01465450 44524354");
}

/// Proves: SMP-4.2.2-1, SMP-4.2.2-2, SMP-4.2.2-3, SMP-4.2.2-4, SMP-4.2.2-5, SMP-4.2.2-6, SMP-4.2.2-7
/// Proves: SMP-4.2.2-10
#[test]
fn advertise() {
    let advertise = |answer, hex| {
        both_ways(Message::Advertise(Advertise { source: P, destination: M, answer }), hex);
    };
    let ids = [[0x01, 0x01], [0x01, 0x02], [0x02, 0x00], [0x02, 0x01]];
    advertise(Answer::Protocols(ProtocolList(&ids[1..2])), "02010034 00128001 01020000 00000000");
    advertise(Answer::Protocols(ProtocolList(&ids[..3])), "02010034 00128003 01010102 02000000");
    advertise(Answer::Protocols(ProtocolList(&ids)), "02010034 00128004 01010102 02000201");
    advertise(Answer::Unsupported, "02010034 00120000");
    let one = octets("01020004 80020000 00000240 80020000 00002328 80010001 00000002 800300a0 1e000034");
    advertise(
        Answer::Blocks(Blocks::new(&one, 1).unwrap()),
        "02010034 0012c001 01020004 80020000 00000240 80020000 00002328 80010001
         00000002 800300a0 1e000034 00000000",
    );
    let two =
        octets("01010002 0000a01e 00000000 01465450 44524354 01010002 00526170 6964494f 01000000 00000001");
    let blocks = Blocks::new(&two, 2).unwrap();
    let read: Vec<_> =
        blocks.iter().map(|block| (block.protocol, Attributes::from(block.attributes))).collect();
    let named = list([Attribute::vendor(NAMED), Attribute::protocol_name(ONE)]);
    assert_eq!(read, [(0x0101, ftp()), (0x0101, named)]);
    advertise(
        Answer::Blocks(blocks),
        "02010034 0012c002 01010002 0000a01e 00000000 01465450 44524354 01010002
         00526170 6964494f 01000000 00000001",
    );
    let empty = octets("02000000");
    advertise(Answer::Blocks(Blocks::new(&empty, 1).unwrap()), "02010034 0012c001 02000000 00000000");
}

/// Proves: SMP-4.2.3-1, SMP-3.5.3-1, SMP-3.5.3-2, SMP-3.5.3.1-4, SMP-3.5.3.8-1
#[test]
fn open() {
    let open = |source, protocol, attributes: &Attributes, hex| {
        let attributes = attributes.list();
        both_ways(Message::Open(Open { source, protocol, attributes }), hex);
    };
    open(
        M,
        0x0102,
        &ethernet_open(),
        "03010012 01020004 f0000003 00000001 80020000 000005dc 80010001 00000002
         800300a0 1e000012",
    );
    let timers = list([
        Attribute::message_number(0xCAFE_0001),
        Attribute::retry_period(250_000),
        Attribute::timeout_period(1_000_000),
        Attribute::xon_timeout_period(1_000_000),
        Attribute::conduit_stream(0xFFFF, 0xFFFF),
    ]);
    open(
        M,
        0x0200,
        &timers,
        "03010012 02000005 f0000003 cafe0001 f0000000 0003d090 f0000001 000f4240
         f0000002 000f4240 f0000004 ffffffff",
    );
    let back = list([Attribute::message_number(7), Attribute::conduit_stream(0xFFFF, 0x2000)]);
    open(P, 0x0200, &back, "03010034 02000002 f0000003 00000007 f0000004 ffff2000");
    let widths = list([
        Attribute::message_number(2),
        Attribute::vendor(NAMED),
        Attribute::protocol_name(ONE),
        Attribute([0x78, 1, 2, 3, 4, 5, 6, 7]),
        Attribute([0xEF, 0, 10, 11, 12, 13, 14, 15]),
        Attribute([0xFE, 0, 0, 0, 0xDE, 0xAD, 0xBE, 0xEF]),
    ]);
    open(
        M,
        0x0101,
        &widths,
        "03010012 01010006 f0000003 00000002 00526170 6964494f 01000000 00000001
         78010203 04050607 ef000a0b 0c0d0e0f fe000000 deadbeef",
    );
    let offset = list([
        Attribute::message_number(3),
        Attribute::data_offset_vendor(OUI),
        Attribute::data_offset(8, [0x11, 0x22, 0x33, 0x44, 0x55]),
    ]);
    open(M, 0x0200, &offset, "03010012 02000003 f0000003 00000003 0200a01e 00000000 80030811 22334455");
}

/// Proves: SMP-4.2.4-1, SMP-4.2.5-1, SMP-3.5.3.9-2, SMP-4.2-1
#[test]
fn accept_and_refuse() {
    let accept = |destination, cos, stream, protocol, attributes: &Attributes, hex| {
        let attributes = attributes.list();
        both_ways(Message::Accept(Accept { destination, cos, stream, protocol, attributes }), hex);
    };
    let bare = list([Attribute::message_number(1)]);
    accept(P, 0x40, 0x0100, 0x0102, &bare, "04010034 00400100 01020001 f0000003 00000001");
    let first = list([
        Attribute::message_number(0xCAFE_0001),
        Attribute::conduit_stream(0xFFFF, 0x2000),
        Attribute::data_header_format(HeaderFormat::Data1),
    ]);
    accept(
        P,
        0x40,
        0x2000,
        0x0200,
        &first,
        "04010034 00402000 02000003 f0000003 cafe0001 f0000004 ffff2000 f0000005
         00000009",
    );
    let second = list([Attribute::message_number(7), Attribute::conduit_stream(0x2000, 0x1000)]);
    accept(
        M,
        0x40,
        0x1000,
        0x0200,
        &second,
        "04010012 00401000 02000002 f0000003 00000007 f0000004 20001000",
    );
    let data2 =
        list([Attribute::message_number(4), Attribute::data_header_format(HeaderFormat::Data2(0x5A))]);
    accept(P, 0, 0xDFFF, 0x0200, &data2, "04010034 0000dfff 02000002 f0000003 00000004 f0000005 00005a0a");

    let echoed = ethernet_open();
    both_ways(
        Message::Refuse(Refuse { destination: P, protocol: 0x0102, attributes: echoed.list() }),
        "05010034 00ffffff 01020004 f0000003 00000001 80020000 000005dc 80010001
         00000002 800300a0 1e000012",
    );
}

/// Proves: SMP-4.2.6-1, SMP-4.2.7-1
#[test]
fn flow_control_and_close() {
    for (flow, hex) in [(Flow::Xoff, "00"), (Flow::Xon, "01"), (Flow::Rts, "ff")] {
        let message = FlowControl { cos: 0x40, flow, source: M, stream: 0x0100, protocol: 0x0102 };
        both_ways(Message::FlowControl(message), &format!("070140{hex} 00120100 01020000 00000000"));
    }
    both_ways(
        Message::Close(Close { source: M, destination: P, cos: 0x40, stream: 0x0100 }),
        "08010012 00344000 01000000 00000000",
    );
}

/// Proves: SMP-4.2.8-1, SMP-4.2.8-2
#[test]
fn status() {
    let status = |cos, source, stream, mailbox, (command, version), bits, data: &str, hex| {
        let data = octets(data);
        let (bits, data) = (StatusBits(bits), data.as_chunks().0);
        both_ways(
            Message::Status(Status { cos, source, stream, mailbox, command, version, bits, data }),
            hex,
        );
    };
    status(0x40, M, 0x0100, 2, (8, 1), 0x2000_0000, "", "10014000 00120100 02000801 20000000");
    status(0x40, M, 0x0100, 3, (0, 0), 0x8000_000A, "", "10014000 00120100 03000000 8000000a");
    status(
        0x40,
        M,
        0x0100,
        2,
        (0x10, 1),
        6,
        "01020004 f0000003 00000001 80020000 000005dc 80010001 00000002 800300a0 1e000012 00000000",
        "10014005 00120100 02001001 00000006 01020004 f0000003 00000001 80020000
         000005dc 80010001 00000002 800300a0 1e000012 00000000",
    );
    status(0x40, M, 0x0BAD, 2, (7, 1), 0x2000_0001, "", "10014000 00120bad 02000701 20000001");
    status(
        0,
        P,
        0xFFFF,
        2,
        (0x0C, 1),
        0x4000_0000,
        "0c010012 0034aabb",
        "10010001 0034ffff 02000c01 40000000 0c010012 0034aabb",
    );
    status(
        0,
        P,
        0xFFFF,
        2,
        (4, 2),
        0x4000_0000,
        "04020012 00401000 02000001 f0000003 00000007 00000000",
        "10010003 0034ffff 02000402 40000000 04020012 00401000 02000001 f0000003
         00000007 00000000",
    );
}

/// Proves: SMP-4.2.9-1
#[test]
fn user_defined() {
    let data = [1, 2, 3, 4, 5, 6, 7, 8];
    let message = UserDefined::new(0xF0, 0, M, 0xE001, &data).unwrap();
    both_ways(Message::UserDefined(message), "f0010000 0012e001 01020304 05060708");
    both_ways(Message::UserDefined(UserDefined::new(0xFF, 9, M, 0xFFFF, &[]).unwrap()), "ff010900 0012ffff");
    assert!(UserDefined::new(0xEF, 0, M, 0xFFFF, &[]).is_err());
}

/// Proves: SMP-4.3.1-1, SMP-4.3.1-2, SMP-4.3.1-4, SMP-4.3.2-1, SMP-4.3.2-2, SMP-4.3.3-1, SMP-3.5.3.3-3
/// Proves: SMP-3.5.2.1-2
#[test]
fn data() {
    let data = |header, (start, end), length, body: &[u8], hex| {
        both_ways(Message::Data(Data { header, start, end, length, body }), hex);
    };
    let plain = |cos, tag| Header::Data { mailbox: 2, cos, source: M, tag };
    let wide = |tag| Header::Data1 { mailbox: 2, cos: 0x40, source: M, tag };
    let counted: Vec<u8> = (0..20).collect();
    data(plain(0x40, 0x0100), (true, true), 5, b"hello", "06010240 00000012 c0050100 68656c6c 6f");
    data(
        plain(0x40, 0x0100),
        (true, false),
        8,
        &counted[..8],
        "06010240 00000012 80080100 00010203 04050607",
    );
    data(plain(0x40, 20), (false, false), 8, &counted[8..16], "06010240 00000012 00080014 08090a0b 0c0d0e0f");
    data(plain(0x40, 0x0100), (false, true), 4, &counted[16..], "06010240 00000012 40040100 10111213");
    let offset = octets("a0a1a2a3 a4a5a6a7 01020304");
    data(plain(0, 0x0101), (true, true), 4, &offset, "06010200 00000012 c0040101 a0a1a2a3 a4a5a6a7 01020304");
    let with_offset = Data { header: plain(0, 0x0101), start: true, end: true, length: 4, body: &offset };
    assert_eq!(with_offset.payload(8, Mode::Validation), Ok((&offset[..8], &offset[8..])));
    let frame = octets("ffffffffffff 00a01e000012 0806");
    data(
        plain(0, 0xF000),
        (true, true),
        14,
        &frame,
        "06010200 00000012 c00ef000 ffffffff ffff00a0 1e000012 0806",
    );
    data(wide(0x2000), (true, true), 6, b"abcdef", "09010240 00000012 c0000006 20000000 61626364 6566");
    data(
        wide(70_000),
        (false, false),
        4,
        &[0xDE, 0xAD, 0xBE, 0xEF],
        "09010240 00000012 00000004 00011170 deadbeef",
    );
    data(Header::Data2 { specific: 0x5A }, (true, true), 3, &[1, 2, 3], "0a5ac003 010203");
}

/// Proves: SMP-3.5.3.10-1, SMP-3.5.3.3-1, SMP-3.5.3-3, SMP-3.5.3-4
#[test]
fn what_identifiers_mean() {
    let kind = |octets: [u8; 8], protocol, before| Attribute(octets).kind(protocol, before);
    let mut id = [0x80, 0x03, 8, 0, 0, 0, 0, 0];
    assert_eq!(kind(id, 0x0102, None), Kind::MacAddress);
    assert_eq!(kind(id, 0x0102, Some(Kind::DataOffsetVendor)), Kind::DataOffset);
    assert_eq!(kind(id, 0x0200, None), Kind::DataOffset);
    id[..2].copy_from_slice(&[0x01, 0]);
    assert_eq!(kind(id, 0x0101, None), Kind::ProtocolName);
    assert_eq!(kind(id, 0x0102, None), Kind::Reserved);
    for (first, second, expected) in [
        (0x77, 0, Kind::Reserved),
        (0x78, 0, Kind::VendorRange),
        (0x7F, 0, Kind::VendorRange),
        (0x80, 0, Kind::Reserved),
        (0xEE, 0xFF, Kind::Reserved),
        (0xEF, 0x00, Kind::VendorRange),
        (0xEF, 0xFF, Kind::VendorRange),
        (0xF0, 0x01, Kind::Reserved),
        (0xFD, 0xFF, Kind::Reserved),
        (0xFE, 0x00, Kind::VendorRange),
        (0xFF, 0xFF, Kind::VendorRange),
    ] {
        assert_eq!(
            kind([first, second, 0, 9, 0, 0, 0, 0], 0x0200, None),
            expected,
            "{first:02x}{second:02x}"
        );
    }
    assert_eq!(Conveyance::mailbox(63).as_mailbox(), Some(63));
    assert_eq!(Conveyance { channel: 1, info: 64 }.as_mailbox(), None);
    assert_eq!(Conveyance { channel: 2, info: 1 }.as_mailbox(), None);
    assert_eq!(Attribute::data_offset(8, [0; 5]).0[2], 8);
}
