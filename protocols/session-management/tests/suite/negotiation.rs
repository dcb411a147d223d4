//! Attributes of OPEN and ACCEPT: order, repetition, values, choices.

use crate::common::ethernet_offer;
use session_management::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Id, Kind};
use session_management::negotiate::{
    Numbers, Offer, Refusal, Surprise, Terms, check_open, judge_accept, judge_open, propose,
};
use session_management::protocol::{ETHERNET, Protocol, VENDOR_DEFINED};

const OUI: [u8; 7] = [0x00, 0xA0, 0x1E, 0, 0, 0, 0];
const NAME: [u8; 7] = *b"FTPDRCT";
const NUMBER: Attribute = Attribute::message_number(1);
const RETRY: Attribute = Attribute::retry_period(250_000);
const MAC: Attribute = Attribute::mac_address([0, 0xA0, 0x1E, 0, 0, 0x12]);
const MAILBOX: Attribute = Attribute::conveyance(Conveyance::mailbox(2));
const VENDOR: Attribute = Attribute::vendor(OUI);
const OWN: Attribute = Attribute([0x78, 1, 2, 3, 4, 5, 6, 7]);
const FORMAT: Attribute = Attribute::data_header_format(HeaderFormat::Data1);

/// VENDOR in OUI form: three octets and four zeros.
#[test]
fn an_oui_as_a_vendor() {
    assert_eq!(Attribute::oui([0x12, 0x34, 0x56]), [0x12, 0x34, 0x56, 0, 0, 0, 0]);
    assert_eq!(Attribute::vendor(Attribute::oui([0x00, 0xA0, 0x1E])), VENDOR);
}

fn list(attributes: &[Attribute]) -> Attributes {
    attributes.iter().copied().collect()
}

fn check(protocol: u16, attributes: &[Attribute]) -> Result<(), Refusal> {
    check_open(protocol, list(attributes).list())
}

fn judge(offer: &Offer, attributes: &[Attribute]) -> Result<Vec<Attribute>, Refusal> {
    judge_open(offer, list(attributes).list(), Some(2)).map(|agreed| agreed.list().iter().collect())
}

fn plain() -> Offer {
    Offer::plain(Protocol::standard(0x0200).unwrap())
}

/// Proves: SMP-4.2.3-2, SMP-3.5.3-5, SMP-3.5.3-6, SMP-3.5.3-7, SMP-3.8.2-2, SMP-3.5.3.11-1
#[test]
fn order() {
    let number = Err(Refusal::Order(Kind::MessageNumber));
    assert_eq!(check(0x0200, &[RETRY, NUMBER]), number);
    assert_eq!(check(0x0200, &[NUMBER]), Ok(()));
    assert_eq!(check(0x0200, &[NUMBER, FORMAT, RETRY]), Ok(()), "optional ones in any order");
    assert_eq!(check(0x0200, &[NUMBER, RETRY, VENDOR, OWN]), Ok(()));
    assert_eq!(check(0x0200, &[NUMBER, VENDOR, OWN, RETRY]), Err(Refusal::Order(Kind::RetryPeriod)));
    assert_eq!(check(0x0200, &[NUMBER, OWN]), Err(Refusal::Missing(Kind::Vendor)));
    assert_eq!(check(0x0200, &[NUMBER, OWN, VENDOR]), Err(Refusal::Missing(Kind::Vendor)));
    let mtu = Attribute::mtu(1500);
    for required in [[mtu, MAILBOX, MAC], [MAC, mtu, MAILBOX], [MAILBOX, MAC, mtu]] {
        let [a, b, c] = required;
        assert_eq!(check(ETHERNET, &[NUMBER, a, b, c, RETRY]), Ok(()));
        assert!(matches!(check(ETHERNET, &[NUMBER, a, b, RETRY, c]), Err(Refusal::Order(_))));
    }
}

/// Proves: SMP-3.8.2-8, SMP-3.5.3.1-1, SMP-3.5.3.8-1
#[test]
fn what_stands_once_stands_once() {
    for (kind, attribute) in [
        (Kind::Vendor, VENDOR),
        (Kind::ConduitStream, Attribute::conduit_stream(0xFFFF, 0xFFFF)),
        (Kind::DataHeaderFormat, FORMAT),
        (Kind::DataOffset, Attribute::data_offset(4, [0; 5])),
    ] {
        assert_eq!(check(0x0200, &[NUMBER, attribute]), Ok(()));
        assert_eq!(check(0x0200, &[NUMBER, attribute, attribute]), Err(Refusal::Duplicate(kind)));
    }
    assert_eq!(check(0x0200, &[NUMBER, NUMBER]), Err(Refusal::Duplicate(Kind::MessageNumber)));
    let mtu = Attribute::mtu(1500);
    let twice = check(ETHERNET, &[NUMBER, mtu, MAILBOX, MAC, MAC]);
    assert_eq!(twice, Err(Refusal::Duplicate(Kind::MacAddress)));
    let name = Attribute::protocol_name(NAME);
    assert_eq!(check(VENDOR_DEFINED, &[NUMBER, VENDOR, name]), Ok(()));
    assert!(check(VENDOR_DEFINED, &[NUMBER, VENDOR, name, VENDOR]).is_err());
    assert!(check(VENDOR_DEFINED, &[NUMBER, VENDOR, name, name]).is_err());
}

/// Proves: SMP-6.1-1, SMP-6.2-1, SMP-6.2.1-1, SMP-6.2.2-1, SMP-6.2.2-2, SMP-6.2-2, SMP-3.4-2
#[test]
fn vendor_protocols() {
    let name = Attribute::protocol_name(NAME);
    let offer = Offer::plain(Protocol::vendor(OUI, NAME));
    assert_eq!(judge(&offer, &[NUMBER, VENDOR, name]), Ok(vec![NUMBER, VENDOR, name]));
    for wrong in [
        &[NUMBER][..],
        &[NUMBER, VENDOR],
        &[NUMBER, name],
        &[NUMBER, name, VENDOR],
        &[NUMBER, VENDOR, RETRY, name],
        &[NUMBER, RETRY, VENDOR, name],
    ] {
        assert!(judge(&offer, wrong).is_err(), "{wrong:?}");
        assert_eq!(list(wrong).list().protocol(VENDOR_DEFINED), None);
    }
    let identity = list(&[NUMBER, VENDOR, name, RETRY]);
    assert_eq!(identity.list().protocol(VENDOR_DEFINED), Some(Protocol::vendor(OUI, NAME)));
    assert_ne!(Protocol::vendor(OUI, *b"ftpdrct"), Protocol::vendor(OUI, NAME));
    // Elsewhere PROTOCOL_NAME is a reserved identifier.
    assert_eq!(check(0x0200, &[NUMBER, name]), Err(Refusal::NotUnderstood(Kind::Reserved)));
    assert_eq!(Protocol::standard(VENDOR_DEFINED), None);
}

/// Proves: SMP-3.5.3.1-2, SMP-3.5.3.2-1, SMP-3.5.3.3-2, SMP-3.5.3.9-3, SMP-3.5.3.10-2
/// Proves: SMP-3.5.3.10-3
#[test]
fn values() {
    for value in [[0; 7], [1, 2, 3, 4, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1], *b"ABCDEF\0"] {
        let vendor = check(0x0200, &[NUMBER, Attribute::vendor(value)]);
        assert_eq!(vendor, Err(Refusal::Value(Kind::Vendor)), "{value:?}");
        let offset = [NUMBER, Attribute::data_offset_vendor(value), Attribute::data_offset(0, [0; 5])];
        assert_eq!(check(0x0200, &offset), Err(Refusal::Value(Kind::DataOffsetVendor)));
    }
    assert_eq!(check(0x0200, &[NUMBER, Attribute::vendor(*b"RapidIO")]), Ok(()));
    let (of, count) = (Attribute::data_offset_vendor(OUI), Attribute::data_offset(8, [0; 5]));
    assert_eq!(check(0x0200, &[NUMBER, of, count]), Ok(()));
    assert_eq!(check(0x0200, &[NUMBER, count]), Ok(()));
    assert_eq!(check(0x0200, &[NUMBER, of]), Err(Refusal::Missing(Kind::DataOffset)));
    assert_eq!(check(0x0200, &[NUMBER, of, RETRY]), Err(Refusal::Order(Kind::RetryPeriod)));
    let ethernet = [NUMBER, Attribute::mtu(1500), MAILBOX, MAC];
    assert_eq!(check(ETHERNET, &[&ethernet[..], &[of, count]].concat()), Ok(()));
    for period in [Attribute::retry_period(0), Attribute::timeout_period(0), Attribute::xon_timeout_period(0)]
    {
        assert!(matches!(check(0x0200, &[NUMBER, period]), Err(Refusal::Value(_))));
    }
    for octet in [0x00, 0x05, 0x07, 0x0C, 0xFF] {
        let format = Attribute([0xF0, 0, 0, 5, 0, 0, 0, octet]);
        assert_eq!(check(0x0200, &[NUMBER, format]), Err(Refusal::Value(Kind::DataHeaderFormat)));
    }
    for channel in [0x0000, 0x0002, 0xFEFF] {
        let reserved = Attribute::conveyance(Conveyance { channel, info: 0 });
        assert_eq!(check(0x0200, &[NUMBER, reserved]), Err(Refusal::Value(Kind::Conveyance)));
    }
    let vendors = Attribute::conveyance(Conveyance { channel: 0xFF00, info: 0 });
    assert_eq!(check(0x0200, &[NUMBER, vendors]), Err(Refusal::Missing(Kind::Vendor)));
    assert_eq!(check(0x0200, &[NUMBER, vendors, VENDOR]), Ok(()), "anywhere in the list");
    assert!(check(0x0200, &[NUMBER, Attribute::conveyance(Conveyance::mailbox(64))]).is_err());
}

/// Proves: SMP-7.1-1, SMP-7.2-1, SMP-7.2.1-1, SMP-7.2.1-2, SMP-7.2.2-1, SMP-7.2.3-2
#[test]
fn ethernet() {
    let offer = ethernet_offer(0x34);
    assert_eq!((offer.protocol.id(), ETHERNET), (0x0102, 0x0102));
    let open = |mtu| [NUMBER, Attribute::mtu(mtu), MAILBOX, MAC];
    for missing in 1..4 {
        let mut short = open(1500).to_vec();
        short.remove(missing);
        assert!(matches!(judge(&offer, &short), Err(Refusal::Missing(_))));
    }
    assert_eq!(judge(&offer, &open(0)), Err(Refusal::Value(Kind::Mtu)));
    assert_eq!(judge(&offer, &open(1500)), Ok(open(1500).to_vec()));
    assert_eq!(judge(&offer, &open(65535)), Ok(open(9000).to_vec()), "never more than is offered");
    assert_eq!(judge(&offer, &open(500)), Err(Refusal::NotOffered(Kind::Mtu)));
    let elsewhere = Attribute::conveyance(Conveyance::mailbox(3));
    let supposed = judge(&offer, &[NUMBER, Attribute::mtu(1500), elsewhere, MAC]);
    assert_eq!(supposed, Ok(open(1500).to_vec()), "the acceptor says where it takes data");
    for mac in [[1, 0, 0, 0, 0, 1], [0; 6]] {
        let mut wrong = open(1500);
        wrong[3] = Attribute::mac_address(mac);
        assert_eq!(judge(&offer, &wrong), Err(Refusal::Value(Kind::MacAddress)));
    }
}

/// Proves: SMP-3.5.3-4, SMP-3.5.3-8, SMP-3.5.3-9
#[test]
fn what_is_not_understood_is_refused() {
    let mut offer = plain();
    for reserved in [[0x03, 0], [0x80, 0x00], [0x80, 0x04], [0xF0, 0x00]] {
        let mut octets = [0; 8];
        octets[..2].copy_from_slice(&reserved);
        octets[3] = 6;
        let refused = judge(&offer, &[NUMBER, Attribute(octets)]);
        assert_eq!(refused, Err(Refusal::NotUnderstood(Kind::Reserved)));
    }
    let vendors = [NUMBER, VENDOR, OWN];
    assert_eq!(judge(&offer, &vendors), Err(Refusal::NotUnderstood(Kind::VendorRange)));
    offer.vendor_attributes.push(Id::Byte(0x78));
    assert_eq!(judge(&offer, &vendors), Ok(vendors.to_vec()));
    // All standard ones are understood.
    let all = [
        NUMBER,
        RETRY,
        Attribute::timeout_period(5),
        Attribute::xon_timeout_period(6),
        Attribute::conduit_stream(0xFFFF, 0xFFFF),
        Attribute::mtu(100),
        MAILBOX,
        Attribute::data_offset_vendor(OUI),
        Attribute::data_offset(1, [0; 5]),
    ];
    assert_eq!(judge(&offer, &all), Ok(all.to_vec()));
}

/// Proves: SMP-3.8.2-3, SMP-3.8.2-4, SMP-3.8.2-7
#[test]
fn copies_are_ranges_and_sets() {
    let mtu = |values: &[u16]| list(&values.iter().map(|&value| Attribute::mtu(value)).collect::<Vec<_>>());
    let numbers = |values: &[u16]| Numbers::of(mtu(values).list(), ETHERNET, Kind::Mtu);
    assert_eq!(numbers(&[]), Numbers::Any);
    assert_eq!(numbers(&[9000, 576]), Numbers::Range(576, 9000));
    assert_eq!(numbers(&[1, 2, 3]), Numbers::Set(vec![1, 2, 3]));
    assert!(numbers(&[576, 9000]).contains(1000) && !numbers(&[1, 2, 900]).contains(500));

    let offer = |values: &[Attribute]| Offer { advertise: list(values), ..plain() };
    let retry = Attribute::retry_period;
    let chosen = |own: &[u32], asked: &[u32]| {
        let own: Vec<_> = own.iter().map(|&value| retry(value)).collect();
        let asked: Vec<_> = asked.iter().map(|&value| retry(value)).collect();
        judge(&offer(&own), &[&[NUMBER][..], &asked].concat()).map(|agreed| {
            assert_eq!(agreed.len(), 2, "one value of each");
            agreed[1].value32()
        })
    };
    let none = Err(Refusal::NotOffered(Kind::RetryPeriod));
    assert_eq!(chosen(&[], &[7]), Ok(7));
    assert_eq!(chosen(&[], &[7, 9]), Ok(7));
    assert_eq!(chosen(&[8], &[7, 9]), Ok(8));
    assert_eq!(chosen(&[10, 20], &[15, 40]), Ok(15));
    assert_eq!(chosen(&[10, 20], &[1, 40]), Ok(10));
    assert_eq!(chosen(&[10, 20], &[21, 40]), none);
    assert_eq!(chosen(&[10, 20, 30], &[1, 20]), Ok(20));
    assert_eq!(chosen(&[10, 20, 30], &[25]), none);
    let boxes = [1, 2, 3].map(|mailbox| Attribute::conveyance(Conveyance::mailbox(mailbox)));
    let two = offer(&boxes[1..]);
    let open = [NUMBER, boxes[0], boxes[2]];
    assert_eq!(judge(&two, &open), Ok(vec![NUMBER, boxes[2]]));
}

/// Proves: SMP-3.5.3-11, SMP-3.5.3.9-1, SMP-3.5.3.9-4
#[test]
fn accepts() {
    let offer = plain();
    let open = list(&[NUMBER, RETRY, Attribute::mtu(1500)]);
    let judge = |accept: &[Attribute]| judge_accept(&offer, open.list(), list(accept).list());
    let terms = |accept: &[Attribute]| {
        let agreed = judge(accept).unwrap();
        Terms::of(0x0200, agreed.list(), 1, 2, 3)
    };
    let bare = terms(&[NUMBER]);
    assert_eq!((bare.retry, bare.mtu, bare.header), (250_000, Some(1500), HeaderFormat::Data));
    assert_eq!((bare.timeout, bare.xon_timeout, bare.offset), (2, 3, 0), "defaults");
    assert_eq!(terms(&[NUMBER, FORMAT]).header, HeaderFormat::Data1);
    assert_eq!(terms(&[NUMBER, RETRY, Attribute::mtu(1400)]).mtu, Some(1400));
    assert_eq!(terms(&[RETRY, NUMBER]).retry, 250_000, "the number may stand anywhere");
    assert_eq!(judge(&[NUMBER, Attribute::mtu(1501)]), Err(Surprise::Value(Kind::Mtu)));
    assert_eq!(judge(&[NUMBER, Attribute::retry_period(9)]), Err(Surprise::Value(Kind::RetryPeriod)));
    assert_eq!(judge(&[NUMBER, OWN]), Err(Surprise::NotUnderstood(Kind::VendorRange)));
    let reserved = Attribute([0x05; 8]);
    assert_eq!(judge(&[NUMBER, reserved]), Err(Surprise::NotUnderstood(Kind::Reserved)));
    let format = Attribute([0xF0, 0, 0, 5, 0, 0, 0, 8]);
    assert_eq!(judge(&[NUMBER, format]), Err(Surprise::Value(Kind::DataHeaderFormat)));
    assert_eq!(
        judge(&[NUMBER, Attribute::xon_timeout_period(0)]),
        Err(Surprise::Value(Kind::XonTimeoutPeriod))
    );
    // Some of the attributes: the others are those of the OPEN. None stands twice.
    let some = terms(&[NUMBER, Attribute::mtu(1400)]);
    assert_eq!((some.retry, some.mtu), (250_000, Some(1400)));
    assert_eq!(judge(&[NUMBER, RETRY, RETRY]), Err(Surprise::Value(Kind::RetryPeriod)));
    assert_eq!(judge(&[NUMBER, NUMBER]), Err(Surprise::Value(Kind::MessageNumber)));
    // Of copies that the ACCEPT says nothing of the least counts; a proposed header does not.
    let ranged = list(&[NUMBER, Attribute::mtu(9000), Attribute::mtu(576), FORMAT]);
    let agreed = judge_accept(&offer, ranged.list(), list(&[NUMBER]).list()).unwrap();
    assert_eq!(agreed, list(&[NUMBER, Attribute::mtu(576)]));
    // With data on a stream of type 9 the mailbox of the OPEN is void.
    let type9 = Attribute::data_header_format(HeaderFormat::Data3);
    let boxed = list(&[NUMBER, MAILBOX]);
    let agreed = judge_accept(&offer, boxed.list(), list(&[NUMBER, type9]).list()).unwrap();
    assert_eq!(agreed, list(&[NUMBER, type9]));
    // Two attributes of Ethernet have one identifier.
    let offset = [Attribute::data_offset_vendor(OUI), Attribute::data_offset(8, [0; 5])];
    let both = list(&[&[NUMBER, Attribute::mtu(1500), MAILBOX, MAC][..], &offset].concat());
    assert_eq!(judge_accept(&ethernet_offer(0x34), both.list(), both.list()), Ok(both.clone()));
    // A proposal in an OPEN binds nobody.
    let proposed = judge_open(&offer, list(&[NUMBER, FORMAT]).list(), None).unwrap();
    assert_eq!(proposed, list(&[NUMBER]));
}

/// Proves: SMP-3.8.2-1, SMP-3.8.2-5, SMP-3.5.3-12, SMP-3.8.2-6, SMP-3.5.3-10
#[test]
fn proposals_from_an_advertisement() {
    let offer = plain();
    let (low, high) = (Attribute::mtu(576), Attribute::mtu(9000));
    let reserved = Attribute([0x05; 8]);
    let block = list(&[reserved, low, high, RETRY, VENDOR, OWN]);
    let propose = |wishes: &[Attribute], ends_only| {
        let proposal = propose(&offer, block.list(), list(wishes).list(), ends_only);
        (proposal.attributes.list().iter().collect::<Vec<_>>(), proposal.intermediate)
    };
    assert_eq!(propose(&[], false), (vec![low, high, RETRY, VENDOR], false));
    assert_eq!(propose(&[high], false), (vec![high, RETRY, VENDOR], false));
    let between = Attribute::mtu(1500);
    assert_eq!(propose(&[between], false), (vec![between, RETRY, VENDOR], true));
    assert_eq!(propose(&[between], true), (vec![low, RETRY, VENDOR], false));
    assert_eq!(propose(&[Attribute::mtu(9001)], false), (vec![high, RETRY, VENDOR], false));
    let other = Attribute::retry_period(9);
    assert_eq!(propose(&[other], false), (vec![low, high, RETRY, VENDOR], false));
}

/// MAC_ADDRESS and DATA_OFFSET have one identifier: the one is the opener's own, the other stays.
///
/// Proves: SMP-3.5.3.3-2, SMP-3.8.2-1
#[test]
fn offset_octets_beside_an_address() {
    let offset =
        [Attribute::data_offset_vendor([0, 0x1B, 0x21, 0, 0, 0, 0]), Attribute::data_offset(4, [0; 5])];
    let own = Attribute::mac_address([2, 0, 0, 0, 0, 9]);
    let block = list(&[Attribute::mtu(1500), MAILBOX, MAC, offset[0], offset[1]]);
    let offer = Offer::plain(Protocol::ETHERNET);
    let proposal = propose(&offer, block.list(), list(&[own]).list(), false);
    let expected = [Attribute::mtu(1500), MAILBOX, own, offset[0], offset[1]];
    assert_eq!(proposal.attributes.list().iter().collect::<Vec<_>>(), expected);
}
