//! Register block, Component Tag, and how nodes find each other.

use crate::common::{M, Net, P, config, ethernet_offer, protocol};
use session_management::attribute::{Attribute, Attributes, Conveyance, Kind};
use session_management::conduit::Algorithm;
use session_management::endpoint::{Endpoint, Event, MICROSECOND, Refused};
use session_management::message::{Message, Mode};
use session_management::negotiate::check_open;
use session_management::protocol::Protocol;
use session_management::register::{
    Block, Carries, Contact, LockStep, Participation, Report, Writer, advertisement, choose, component_tag,
    lock_step, offset, periods, read_block, tag_counts,
};

const STREAM: Contact = Contact::Stream { stream: 0xFFF0, cos: 0x80 };

/// Proves: SMP-3.2-1, SMP-5.2.1-1, SMP-5.2.3-1, SMP-5.2.3-2, SMP-5.2.3-3, SMP-5.2-1
#[test]
fn words() {
    let mut block = Block::new(0x0100, 16);
    assert_eq!(block.read(offset::HEADER), 0x0100_000C);
    assert_eq!(block.read(offset::WRITE_ENABLE), 0x0000_FFFF);
    assert_eq!(block.read(offset::ADVERTISEMENT) >> 28, 0xF);
    assert_eq!(block.read(offset::ATTRIBUTE_RANGE), 0x0010_00FF);
    for writer in [Writer::Fabric, Writer::Local] {
        block.write(Writer::Local, offset::WRITE_ENABLE, 0x0012);
        block.write(writer, offset::HEADER, 0);
        assert_eq!(block.read(offset::HEADER), 0x0100_000C);
        block.reset();
    }
    assert_eq!(Contact::Mailbox(2).advertisement(), 0x0000_0002);
    assert_eq!(STREAM.advertisement(), 0x1080_FFF0);
    assert_eq!(advertisement(0x0000_0002), Participation::Ready(Contact::Mailbox(2)));
    assert_eq!(advertisement(0x1080_FFF0), Participation::Ready(STREAM));
    assert_eq!(advertisement(0xF000_0000), Participation::None);
    for conveyance in 2..=0xE {
        assert_eq!(advertisement(conveyance << 28), Participation::Unusable);
    }
    for word in [64, 0x1000_FFFF, 0x1000_F000] {
        assert_eq!(advertisement(word), Participation::Unusable);
    }
    // A strict reader reports reserved bits and uses the block nevertheless.
    for (at, word) in [(4, 0x0001_FFFF), (8, 0x0100_0002), (12, 0x0100_0000), (12, 0x0000_1000)] {
        let read = |offset| if offset == at { word } else { [0, 0xFFFF, 2, 0][offset as usize / 4] };
        assert_eq!(read_block(read, Mode::Validation).reports, [Report::Reserved(at)]);
        assert_eq!(read_block(read, Mode::NonValidation).reports, []);
        assert_eq!(
            read_block(read, Mode::Validation).participation,
            Participation::Ready(Contact::Mailbox(2))
        );
    }
}

/// Proves: SMP-5.2.2-1, SMP-5.2.2-2, SMP-5.2.2-3, SMP-5.2.2-4, SMP-5.2.2-5, SMP-5.2.2-7, SMP-5.2.3-4
/// Proves: SMP-5.2.4-3
/// Proves: SMP-3.2-4
/// Proves: SMP-3.2-5
#[test]
fn the_lock() {
    let mut block = Block::new(0, 8);
    assert!(!block.write(Writer::Fabric, offset::ADVERTISEMENT, 2));
    assert!(!block.write(Writer::Fabric, offset::ATTRIBUTE_RANGE, 0));
    assert!(!block.write(Writer::Fabric, offset::ATTRIBUTES, 1));
    assert!(block.write(Writer::Local, offset::ADVERTISEMENT, 2), "locally at any time");
    assert!(!block.write(Writer::Fabric, offset::WRITE_ENABLE, 0xFFFF));
    assert_eq!(lock_step(block.lock(), 0x12), LockStep::Write(0x12));
    assert!(block.write(Writer::Fabric, offset::WRITE_ENABLE, 0xABCD_0012));
    assert_eq!(block.read(offset::WRITE_ENABLE), 0x0000_0012);
    assert_eq!(lock_step(block.lock(), 0x12), LockStep::Held);
    assert_eq!(lock_step(block.lock(), 0x34), LockStep::Busy);
    for other in [0x0034, 0xFFFF] {
        assert!(!block.write(Writer::Fabric, offset::WRITE_ENABLE, other));
        assert_eq!(block.lock(), 0x0012);
    }
    assert!(block.write(Writer::Fabric, offset::ADVERTISEMENT, 3), "by any writer");
    assert_eq!(block.read(offset::ADVERTISEMENT), 3);
    for (at, value, kept) in [
        (offset::ATTRIBUTE_RANGE, 0xFFFF_F305, 0x0008_0305),
        (offset::ATTRIBUTES, 0xF000_0000, 0xF000_0000),
        (offset::ATTRIBUTES + 0x3C, 7, 7),
        (offset::HEADER, 0xFFFF_FFFF, 0x0000_000C),
    ] {
        block.write(Writer::Fabric, at, value);
        assert_eq!(block.read(at), kept, "under the lock by any writer, except header and Max_Attr");
    }
    assert!(block.write(Writer::Fabric, offset::WRITE_ENABLE, 0x0012));
    assert_eq!(block.lock(), 0xFFFF);
}

/// Proves: SMP-3.2-6, SMP-5.2.4-1, SMP-5.2.4-2, SMP-5.2.4-4, SMP-5.2.4-5, SMP-5.2.5-1
#[test]
fn attributes_and_stages() {
    let mut block = Block::new(0, 254);
    let list: Attributes =
        [Attribute::retry_period(250_000), Attribute::timeout_period(500)].into_iter().collect();
    block.announce(Contact::Mailbox(2), &list);
    assert_eq!(block.read(offset::ATTRIBUTE_RANGE), 0x00FE_0002);
    assert_eq!((block.read(0x10), block.read(0x14)), (0xF000_0000, 0x0003_D090));
    let reading = read_block(|offset| block.read(offset), Mode::Validation);
    assert_eq!(reading.attributes, list);
    assert_eq!(periods(&reading.attributes), (Some(250_000), Some(500), None));
    block.write(Writer::Local, 0x7F8, 0x1234_5678);
    assert_eq!((block.read(0x7F8), block.read(0x800)), (0x1234_5678, 0));

    block.write(Writer::Local, offset::ATTRIBUTE_RANGE, 0x0001_0304);
    assert_eq!(block.read(offset::ATTRIBUTE_RANGE), 0x00FE_0304, "Max_Attr is read-only");
    for stage in 0..16 {
        block.write(Writer::Local, offset::ATTRIBUTE_RANGE, stage << 8);
        let expected = match stage {
            0 => Participation::Ready(Contact::Mailbox(2)),
            stage => Participation::Initialising(stage as u8),
        };
        assert_eq!(read_block(|offset| block.read(offset), Mode::Validation).participation, expected);
    }
    block.write(Writer::Local, offset::ATTRIBUTE_RANGE, 0xFF);
    assert!(read_block(|offset| block.read(offset), Mode::Validation).attributes.is_empty());
    let mut small = Block::new(0, 8);
    small.announce(Contact::Mailbox(2), &list);
    small.write(Writer::Local, offset::ATTRIBUTE_RANGE, 200);
    let reading = read_block(|offset| small.read(offset), Mode::NonValidation);
    assert_eq!(reading.attributes.len(), 8);
    assert_eq!(reading.reports, [Report::Count { found: 200, max: 8 }]);
}

/// Proves: SMP-5.3-1, SMP-5.3-2, SMP-5.3-3, SMP-5.3-4, SMP-5.3-5, SMP-3.2-2
#[test]
fn the_component_tag() {
    let low = |stream| Contact::Stream { stream, cos: 7 };
    for (contact, upper) in
        [(Contact::Mailbox(5), 0x8005), (low(0xFFF0), 0xB0F0), (low(0x00F0), 0xA0F0), (low(0), 0xA000)]
    {
        let tag = contact.component_tag(0xBEEF).unwrap();
        assert_eq!(tag, upper << 16 | 0xBEEF);
        assert_eq!(component_tag(tag, 7), Participation::Ready(contact));
    }
    assert_eq!(low(0x0100).component_tag(0), None);
    assert_eq!(component_tag(0x7FFF_FFFF, 0), Participation::None);
    assert_eq!(component_tag(0xC005_0000, 0), Participation::Unusable);
    assert_eq!(component_tag(0xE005_0000, 0), Participation::Unusable);
    assert_eq!(component_tag(0x8040_0000, 0), Participation::Unusable);
    let tag = Participation::Ready(Contact::Mailbox(5));
    assert!(tag_counts(&[], tag, BOTH));
    assert!(!tag_counts(&[Participation::Ready(Contact::Mailbox(2))], tag, BOTH));
    assert!(tag_counts(&[Participation::Ready(low(0x00F0))], tag, BOTH), "for a conveyance no block offers");
    assert!(!tag_counts(&[], Participation::None, BOTH));
}

const BOTH: Carries = Carries { messages: true, streams: true };

/// A tag that names a conveyance which the device does not carry says nothing, nor does one beside a block
/// for its conveyance.
///
/// Proves: SMP-5.1-3
#[test]
fn the_tag_of_a_device_that_cannot() {
    let mailbox = component_tag(0x8005_0000, 7);
    let stream = component_tag(0xB0F0_0000, 7);
    assert_eq!((mailbox, stream), (Participation::Ready(Contact::Mailbox(5)), Participation::Ready(STREAM7)));
    for (messages, streams) in [(false, false), (true, false), (false, true), (true, true)] {
        let carries = Carries { messages, streams };
        let counts = |blocks: &[Participation]| [mailbox, stream].map(|tag| tag_counts(blocks, tag, carries));
        assert_eq!(counts(&[]), [messages, streams], "without a block");
        assert_eq!(counts(&[mailbox]), [false, streams]);
        assert_eq!(counts(&[stream]), [messages, false]);
        assert_eq!(counts(&[mailbox, stream]), [false, false]);
        // A block that says that the node takes no part offers no conveyance.
        assert_eq!(counts(&[Participation::None]), [messages, streams]);
        assert_eq!(counts(&[Participation::Unusable]), [messages, streams]);
        // A node that is not ready gets no message, whatever its tag says.
        assert_eq!(counts(&[Participation::Initialising(1)]), [false, false]);
        assert_eq!(counts(&[Participation::None, Participation::Initialising(15)]), [false, false]);
    }
}

const STREAM7: Contact = Contact::Stream { stream: 0xFFF0, cos: 7 };

/// A node on two conveyances has two blocks: each says its own, neither shows through the other.
///
/// Proves: SMP-2.4-2
#[test]
fn a_block_for_each_conveyance() {
    let mut blocks = [Block::new(0x0200, 16), Block::new(0, 16)];
    let list: Attributes = [Attribute::retry_period(7)].into_iter().collect();
    blocks[0].announce(Contact::Mailbox(2), &list);
    let read = |block: &Block| read_block(|offset| block.read(offset), Mode::Validation);
    assert_eq!(read(&blocks[1]).participation, Participation::None, "it has not been announced");
    blocks[1].announce(STREAM, &Attributes::new());
    assert_eq!(blocks.each_ref().map(|block| block.read(offset::HEADER) >> 16), [0x0200, 0]);
    let [first, second] = blocks.each_ref().map(read);
    assert_eq!(first.participation, Participation::Ready(Contact::Mailbox(2)));
    assert_eq!(second.participation, Participation::Ready(STREAM));
    assert_eq!((first.attributes, second.attributes), (list, Attributes::new()));
}

/// Who reads a node on two conveyances sends where it takes messages itself, or to the first. A node of which
/// a part is still being initialised gets nothing.
///
/// Proves: SMP-3.3-2, SMP-3.3-5, SMP-5.3-5, SMP-3.2-7
#[test]
fn a_reader_chooses_its_own_conveyance() {
    let ready = Participation::Ready;
    let (mailbox, stream) = (Contact::Mailbox(2), STREAM);
    let (initialising, none) = (Participation::Initialising(3), Participation::None);
    for (own, blocks, tag, chosen) in [
        (mailbox, vec![ready(mailbox), ready(stream)], none, ready(mailbox)),
        (stream, vec![ready(mailbox), ready(stream)], none, ready(stream)),
        // Whatever the mailbox, whatever the stream.
        (Contact::Mailbox(63), vec![ready(stream), ready(mailbox)], none, ready(mailbox)),
        // There is no choice.
        (stream, vec![ready(mailbox)], none, ready(mailbox)),
        (stream, vec![none, ready(mailbox)], none, ready(mailbox)),
        // The mailbox stands in the tag.
        (mailbox, vec![ready(stream)], ready(mailbox), ready(mailbox)),
        (stream, vec![ready(stream)], ready(mailbox), ready(stream)),
        (mailbox, vec![], ready(stream), ready(stream)),
        (mailbox, vec![initialising, ready(mailbox)], none, initialising),
        (mailbox, vec![ready(mailbox), initialising], none, initialising),
        (mailbox, vec![Participation::Unusable, none], none, Participation::Unusable),
        (mailbox, vec![none], none, none),
        (mailbox, vec![], none, none),
    ] {
        assert_eq!(choose(own, &blocks, tag), chosen, "{own:?} {blocks:?} {tag:?}");
    }
}

/// A node on two conveyances takes messages on either, names its mailbox in STATUS, and hands its stream of
/// management messages out to nobody.
///
/// Proves: SMP-2.4-4, SMP-4.2.8-13
#[test]
fn a_node_takes_messages_on_both_conveyances() {
    for (first, second) in [(Contact::Mailbox(5), STREAM), (STREAM, Contact::Mailbox(5))] {
        let mut config = config(P, Algorithm::Corrected);
        (config.contact, config.second, config.first_stream) = (first, Some(second), 0x2000);
        let mut node = Endpoint::new(config);
        let open = |number| [3, 1, 0, 0x12, 2, 0, 0, 1, 0xF0, 0, 0, 3, 0, 0, 0, number];
        node.handle_message(0, M, &open(0));
        node.handle_pdu(0, M, 0x80, 0xFFF0, &open(1));
        assert_eq!(node.counters().received, 2);
        assert_eq!(node.streams().count(), 2);
        // An unknown command, by type 9.
        node.handle_pdu(0, M, 0x80, 0xFFF0, &[0x0C, 1]);
        let status = std::iter::from_fn(|| node.poll_transmit()).find(|message| message.octets[0] == 0x10);
        let status = status.unwrap().octets;
        let Ok(Message::Status(status)) = Message::parse(&status, Mode::Validation) else { panic!() };
        assert_eq!(status.mailbox, 5);
    }
    let mut config = config(P, Algorithm::Corrected);
    config.second = Some(Contact::Stream { stream: 0x2001, cos: 0 });
    let mut node = Endpoint::new(config);
    for number in 0..3u8 {
        node.handle_message(0, M, &[3, 1, 0, 0x12, 2, 0, 0, 1, 0xF0, 0, 0, 3, 0, 0, 0, number]);
    }
    let streams: Vec<u16> = node.streams().map(|(stream, _)| stream.stream).collect();
    assert_eq!(streams, [0x2000, 0x2002, 0x2003]);
}

fn unconfigured() -> Endpoint {
    let mut config = config(M, Algorithm::Corrected);
    config.assumed = None;
    Endpoint::new(config)
}

fn events(node: &mut Endpoint) -> Vec<Event> {
    std::iter::from_fn(|| node.poll_event()).collect()
}

/// Proves: SMP-3.2-7, SMP-3.6.1-1, SMP-5.1-1, SMP-3.3-1, SMP-3.3-2
#[test]
fn nothing_is_sent_before_the_registers_are_read() {
    let mut node = unconfigured();
    node.open(0, P, protocol()).unwrap();
    assert_eq!(events(&mut node), [Event::ReadRegisters { peer: P }]);
    assert_eq!(node.poll_transmit(), None);
    node.handle_participation(5, P, Participation::Initialising(3), &Attributes::new());
    assert_eq!((node.poll_transmit(), events(&mut node).len()), (None, 0));
    assert_eq!(node.poll_timeout(), Some(5 + 1_000_000 * MICROSECOND));
    node.handle_timeout(5 + 1_000_000 * MICROSECOND);
    assert_eq!(events(&mut node), [Event::ReadRegisters { peer: P }]);
    let ready = 2_000_000 * MICROSECOND;
    let attributes = [Attribute::retry_period(100), Attribute::timeout_period(300)].into_iter().collect();
    node.handle_participation(ready, P, Participation::Ready(STREAM), &attributes);
    let open = node.poll_transmit().unwrap();
    assert_eq!((open.destination, open.conveyance, open.octets[0]), (P, STREAM, 3));
    // The periods are those of the peer's registers, and they begin now.
    let mut times = Vec::new();
    while let Some(at) = node.poll_timeout() {
        node.handle_timeout(at);
        times.extend(node.poll_transmit().map(|_| (at - ready) / MICROSECOND));
    }
    assert_eq!(times, [100, 200]);
    assert!(matches!(events(&mut node)[..], [Event::Suspect { .. }, Event::OpenFailed { .. }]));
}

/// Proves: SMP-3.2-1, SMP-5.2.3-1
#[test]
fn a_node_that_takes_no_part() {
    for participation in [Participation::None, Participation::Unusable] {
        let mut node = unconfigured();
        node.create_conduit(0, P, protocol()).unwrap();
        node.handle_participation(1, P, participation, &Attributes::new());
        assert_eq!(node.poll_transmit(), None);
        assert!(events(&mut node).iter().any(|event| matches!(event, Event::OpenFailed { .. })));
        assert_eq!(node.records(P, protocol()), [], "nothing is left of the attempt");
        assert_eq!(node.open(2, P, protocol()), Err(Refused::NoParticipant));
    }
}

/// An answer waits until it is known where to send it.
///
/// Proves: SMP-3.6.1-1
#[test]
fn answers_wait_too() {
    let mut node = unconfigured();
    node.handle_message(0, P, &[0x0C, 1]);
    assert!(events(&mut node).contains(&Event::ReadRegisters { peer: P }));
    assert_eq!(node.poll_transmit(), None);
    node.handle_participation(1, P, Participation::Ready(Contact::Mailbox(9)), &Attributes::new());
    let report = node.poll_transmit().unwrap();
    assert_eq!((report.conveyance, report.octets[0]), (Contact::Mailbox(9), 0x10));
}

/// Proves: SMP-2.4-4, SMP-2.4-6, SMP-4.2-2
#[test]
fn limits_of_conveyances() {
    assert_eq!(Contact::Mailbox(3).max_message(), 4096);
    assert_eq!(Contact::Mailbox(4).max_message(), 256);
    assert_eq!(STREAM.max_message(), 65535);
    // An OPEN that does not fit fails here, a conduit with it.
    let mut config = config(M, Algorithm::Corrected);
    config.assumed = Some(Contact::Mailbox(4));
    config.offers[0].open = (0..40).map(|k| Attribute::retry_period(k + 1)).collect();
    let mut node = Endpoint::new(config);
    node.create_conduit(0, P, protocol()).unwrap();
    assert_eq!(node.poll_transmit(), None);
    assert!(events(&mut node).iter().any(|event| matches!(event, Event::OpenFailed { .. })));
    assert_eq!(node.records(P, protocol()), []);
    // The stream of management messages is never handed out.
    let mut config = crate::common::config(P, Algorithm::Corrected);
    config.contact = Contact::Stream { stream: 0x2001, cos: 0 };
    let mut node = Endpoint::new(config);
    for number in 0..3u8 {
        node.handle_message(0, M, &[3, 1, 0, 0x12, 2, 0, 0, 1, 0xF0, 0, 0, 3, 0, 0, 0, number]);
    }
    let streams: Vec<u16> = node.streams().map(|(stream, _)| stream.stream).collect();
    assert_eq!(streams, [0x2000, 0x2002, 0x2003]);
}

/// What the registers of a peer say of a protocol's attribute goes into OPENs to it, for each protocol whose
/// OPENs have it; periods are the peer's too.
///
/// Proves: SMP-5.2.5-3
#[test]
fn registers_say_what_a_peer_takes() {
    const Q: u16 = 0x56;
    let mailbox = |mailbox| Attribute::conveyance(Conveyance::mailbox(mailbox));
    let mut config = config(M, Algorithm::Corrected);
    config.assumed = None;
    config.offers[0].open =
        [Attribute::timeout_period(5), Attribute::mtu(1500), mailbox(2)].into_iter().collect();
    config.offers.push(ethernet_offer(0x12));
    let mut node = Endpoint::new(config);
    let registers: Attributes =
        [Attribute::retry_period(100), Attribute::mtu(600), mailbox(7), Attribute::mac_address([2; 6])]
            .into_iter()
            .collect();
    node.handle_participation(0, P, Participation::Ready(Contact::Mailbox(2)), &registers);
    node.handle_participation(0, Q, Participation::Ready(Contact::Mailbox(2)), &Attributes::new());
    for (peer, mtu, data) in [(P, 600, 7), (Q, 1500, 2)] {
        for protocol in [protocol(), Protocol::ETHERNET] {
            node.open(0, peer, protocol).unwrap();
            let octets = node.poll_transmit().unwrap().octets;
            let Ok(Message::Open(open)) = Message::parse(&octets, Mode::Validation) else { panic!() };
            let found = |kind| open.attributes.find(protocol.id(), kind);
            assert_eq!(found(Kind::Mtu), Some(Attribute::mtu(mtu)), "{protocol:?}");
            assert_eq!(found(Kind::Conveyance), Some(mailbox(data)));
            let mac =
                (protocol == Protocol::ETHERNET).then(|| Attribute::mac_address([0, 0xA0, 0x1E, 0, 0, 0x12]));
            assert_eq!(found(Kind::MacAddress), mac, "its own");
            assert_eq!(check_open(protocol.id(), open.attributes), Ok(()));
        }
    }
    assert_eq!(node.poll_timeout(), Some(100 * MICROSECOND));
}

/// Every message of a PDU fits the mailbox that it goes to.
///
/// Proves: SMP-2.4-5
#[test]
fn messages_fit_their_mailbox() {
    for mailbox in 0..64 {
        let contact = Contact::Mailbox(mailbox);
        let configs = [M, P].map(|node| {
            let mut config = config(node, Algorithm::Corrected);
            (config.contact, config.assumed) = (contact, Some(contact));
            config
        });
        let mut net = Net::new(1, configs);
        net.node(M).open(0, P, protocol()).unwrap();
        net.run(10);
        let stream = net.nodes[&M].streams().next().unwrap().0.stream;
        net.node(M).send_pdu(10, P, stream, vec![0; 5000]).unwrap();
        let node = net.node(M);
        let sent: Vec<usize> =
            std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets.len()).collect();
        let max = if mailbox < 4 { 4096 } else { 256 };
        assert_eq!(sent.iter().max(), Some(&max), "mailbox {mailbox}");
        assert!(max % 8 == 0, "so that no padding makes it longer");
    }
}
