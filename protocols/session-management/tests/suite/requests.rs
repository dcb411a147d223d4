//! REQUEST, OPEN, CLOSE and STATUS queries: who answers what, how often, and what becomes of no answer.

use crate::common::{Fate, M, MS, Net, P, config, ethernet_offer, protocol};
use session_management::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Kind, List};
use session_management::conduit::{Algorithm, Side};
use session_management::control::{Accept, Advertise, Answer, Blocks, Open, Refuse, Request};
use session_management::endpoint::{
    Advertised, Ending, Endpoint, Event, OpenFailure, Refused, StreamRef, Suspicion,
};
use session_management::message::{Command, Message, Mode};
use session_management::negotiate::{Offer, Surprise};
use session_management::protocol::{ETHERNET, Protocol, VENDOR_DEFINED};
use session_management::register::{Contact, Participation};
use session_management::status::{Close, Status, StatusBits};

const L: u64 = MS;
const OUI: [u8; 7] = [0x00, 0xA0, 0x1E, 0, 0, 0, 0];

fn net() -> Net {
    Net::pair(L, Algorithm::Corrected)
}

/// A stream from M to P.
fn opened() -> (Net, StreamRef) {
    let mut net = net();
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(10 * MS);
    let stream = net.nodes[&M].streams().next().unwrap().0;
    (net, stream)
}

fn status(octets: &[u8]) -> Status<'_> {
    match Message::parse(octets, Mode::Validation) {
        Ok(Message::Status(status)) => status,
        other => panic!("{other:?}"),
    }
}

/// Proves: SMP-3.5.3.4-1, SMP-3.5.3.5-1, SMP-3.5.3.5-2, SMP-3.5.3.5-3, SMP-3.7.1-7, SMP-3.7.1-10
#[test]
fn unanswered_requests_are_repeated_and_then_fail() {
    let (mut net, stream) = opened();
    let begin = net.now;
    net.nodes.remove(&P);
    net.node(M).request(begin, P, None, List::default()).unwrap();
    net.node(M).open(begin, P, protocol()).unwrap();
    net.node(M).query(begin, stream).unwrap();
    net.run(begin + 5_000 * MS);
    for command in [Command::Request, Command::Open, Command::Status] {
        let sent: Vec<_> = net.messages(M, command).into_iter().filter(|sent| sent.0 >= begin).collect();
        let times: Vec<u64> = sent.iter().map(|sent| (sent.0 - begin) / MS).collect();
        assert_eq!(times, [0, 250, 500, 750], "{command:?}");
        assert!(sent.iter().all(|(_, octets)| *octets == sent[0].1), "octet for octet");
    }
    let failed: Vec<_> = net.events.iter().filter(|event| event.0 >= begin).collect();
    assert!(failed.iter().all(|event| event.0 == begin + 1_000 * MS));
    assert!(failed.iter().any(|event| event.2 == Event::Suspect { peer: P, why: Suspicion::Timeout }));
    assert!(failed.iter().any(|event| event.2 == Event::RequestFailed { peer: P }));
    assert!(
        failed.iter().any(|event| matches!(event.2, Event::OpenFailed { why: OpenFailure::Timeout, .. }))
    );
}

/// Proves: SMP-3.7.1-8, SMP-3.7.1-9, SMP-4.2.7-4, SMP-3.5.3.5-4
#[test]
fn unanswered_queries_and_closes() {
    let (mut net, stream) = opened();
    net.nodes.remove(&P);
    let begin = net.now;
    net.node(M).query(begin, stream).unwrap();
    net.run(begin + 2_000 * MS);
    assert!(!net.nodes[&M].is_open(stream));
    assert_eq!(net.count(Command::Close), 0, "silently");
    assert!(net.events_of(M).contains(&Event::Ended { stream, why: Ending::NoAnswer }));

    // Periods agreed for the stream govern its CLOSE.
    let mut slow = config(M, Algorithm::Corrected);
    slow.offers[0].open =
        [Attribute::retry_period(10_000), Attribute::timeout_period(35_000)].into_iter().collect();
    let mut net = Net::new(L, [slow, config(P, Algorithm::Corrected)]);
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(10 * MS);
    let stream = net.nodes[&M].streams().next().unwrap().0;
    net.nodes.remove(&P);
    let begin = net.now;
    net.node(M).close(begin, stream).unwrap();
    net.run(begin + 5_000 * MS);
    let times: Vec<u64> = net.messages(M, Command::Close).iter().map(|sent| (sent.0 - begin) / MS).collect();
    assert_eq!(times, [0, 10, 20, 30]);
    assert_eq!(net.nodes[&M].suspicion(P), Some(Suspicion::Timeout));
    assert_eq!(net.nodes[&M].outstanding(), 0);
}

/// Proves: SMP-1.2-1, SMP-1.2-2, SMP-1.2-3, SMP-3.5.2.5-3, SMP-3.5.2.5-6, SMP-3.5.1.4-1, SMP-3.5.1.4-2
/// Proves: SMP-3.8.3-1
/// Proves: SMP-4.2.3-3, SMP-4.2.3-4, SMP-4.2.4-2, SMP-4.2.4-3, SMP-4.2.4-4, SMP-4.2.4-5, SMP-3.5.3.7-1
/// Proves: SMP-3.5.3.7-2
/// Proves: SMP-3.8.1-2, SMP-3.5.3.7-4
#[test]
fn streams_are_opened_by_open_and_accept() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].offers[0].cos = 0x40;
    let mut net = Net::new(L, configs);
    let numbers: Vec<u32> = (0..3).map(|_| net.node(M).open(0, P, protocol()).unwrap()).collect();
    net.run(10 * MS);
    let distinct: std::collections::BTreeSet<_> = numbers.iter().collect();
    assert_eq!(distinct.len(), 3);
    let accepts = net.messages(P, Command::Accept);
    assert_eq!(accepts.len(), 3);
    for ((_, octets), (number, stream)) in accepts.iter().zip(numbers.iter().zip(0x2000u16..)) {
        let Ok(Message::Accept(accept)) = Message::parse(octets, Mode::Validation) else { panic!() };
        assert_eq!((accept.destination, accept.cos, accept.stream), (P, 0x40, stream));
        assert_eq!(accept.attributes.message_number(), Some(*number));
        assert!(net.nodes[&P].is_open(StreamRef::receive(M, stream)));
        assert!(net.nodes[&M].is_open(StreamRef::transmit(P, stream)));
    }
    for (_, octets) in net.messages(M, Command::Open) {
        let Ok(Message::Open(open)) = Message::parse(&octets, Mode::Validation) else { panic!() };
        assert_eq!((open.source, open.attributes.conduit_stream()), (M, None));
    }
    // One way only.
    assert_eq!(net.nodes[&M].streams().filter(|(stream, _)| stream.side == Side::Receive).count(), 0);
    assert_eq!(net.nodes[&P].records(M, protocol()), []);
}

/// Proves: SMP-3.8.3-1, SMP-3.8.3-2
#[test]
fn a_further_open_may_get_the_same_stream() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].offers[0].reuse = true;
    let mut net = Net::new(L, configs);
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(5 * MS);
    net.node(M).open(5 * MS, P, protocol()).unwrap();
    net.run(10 * MS);
    assert_eq!(net.nodes[&M].streams().count(), 1);
    assert_eq!(net.nodes[&P].streams().count(), 1);
    assert_eq!(net.messages(P, Command::Accept).len(), 2);
    let said = net.messages(P, Command::Status);
    let said = status(&said[0].1);
    assert_eq!((said.bits, said.data.len(), said.command), (StatusBits::FUNCTIONAL, 0, 3));
    assert_eq!((said.source, said.stream), (M, 0x2000));
}

/// Proves: SMP-3.5.3.5-3, SMP-3.7.1-2, SMP-3.4.3-3
#[test]
fn a_repeated_open_gets_the_same_answer() {
    let mut net = net().fate(P, Command::Accept, 1, Fate::Lost);
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(500 * MS);
    let accepts = net.messages(P, Command::Accept);
    assert_eq!(accepts.len(), 2);
    assert_eq!(accepts[0].1, accepts[1].1);
    assert_eq!(net.nodes[&P].counters().allocated, 1);
    // The same number with other octets is refused.
    let number = u32::from(M) << 16;
    let list = [Attribute::message_number(number).0, Attribute::retry_period(9).0];
    let open = Message::Open(Open { source: M, protocol: 0x0200, attributes: List(&list) });
    let now = net.now;
    net.node(P).handle_message(now, M, &open.to_vec().unwrap());
    net.drain();
    assert_eq!(net.messages(P, Command::Refuse).len(), 1);
    assert_eq!(net.nodes[&P].counters().allocated, 1);
}

/// An OPEN takes its values from the peer's ADVERTISE. A wish inside a range is tried once: after REFUSE
/// every range of that protocol is asked for by its ends, at that peer.
///
/// Proves: SMP-3.8.2-6, SMP-3.8.2-5
#[test]
fn one_attempt_inside_a_range() {
    let (retry, timeout) = (Attribute::retry_period, Attribute::timeout_period);
    let block = |low: Attribute, high: Attribute| {
        let list = [low, high, timeout(700), timeout(900)].map(|attribute| attribute.0).concat();
        [&[2, 0, 0, 4][..], &list].concat()
    };
    let advertise = |source: u16| {
        let body = block(retry(10), retry(20));
        let blocks = Blocks::new(&body, 1).unwrap();
        Message::Advertise(Advertise { source, destination: M, answer: Answer::Blocks(blocks) })
            .to_vec()
            .unwrap()
    };
    for conduit in [false, true] {
        let mut config = config(M, Algorithm::Corrected);
        config.offers[0].open = [retry(15), timeout(800)].into_iter().collect();
        let mut net = Net::new(L, [config]);
        let asked = |net: &mut Net, peer: u16| {
            let before = net.sent.len();
            let now = net.now;
            match conduit {
                false => assert!(net.node(M).open(now, peer, protocol()).is_ok()),
                true => assert_eq!(net.node(M).create_conduit(now, peer, protocol()), Ok(true)),
            }
            net.drain();
            let octets = net.sent[before..].iter().find(|sent| sent.octets[0] == 3).unwrap().octets.clone();
            let Ok(Message::Open(open)) = Message::parse(&octets, Mode::Validation) else { panic!() };
            let list = open.attributes.iter().collect::<Vec<_>>();
            let refuse = Refuse { destination: peer, protocol: 0x0200, attributes: open.attributes };
            net.node(M).handle_message(now, peer, &Message::Refuse(refuse).to_vec().unwrap());
            net.drain();
            list[1..]
                .iter()
                .copied()
                .filter(|a| a.kind(0x0200, None) != Kind::ConduitStream)
                .collect::<Vec<_>>()
        };
        assert_eq!(asked(&mut net, P), [retry(15), timeout(800)], "its own wishes");
        for peer in [P, 0x56] {
            net.node(M).request(0, peer, Some(0x0200), List::default()).unwrap();
            net.drain();
            net.node(M).handle_message(0, peer, &advertise(peer));
            assert_eq!(asked(&mut net, peer), [retry(15), timeout(800)], "inside");
            assert!(net.nodes[&M].ends_only(peer, protocol()));
            assert_eq!(asked(&mut net, peer), [retry(10), timeout(700)], "the ends");
            assert_eq!(asked(&mut net, peer), [retry(10), timeout(700)], "for good");
        }
    }
}

/// A filter tells what it names, VENDOR too: only of a vendor's protocol it always stays.
#[test]
fn a_filter_names_vendor_or_not() {
    let own = Attribute([0x78, 1, 2, 3, 4, 5, 6, 7]);
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    let all = [Attribute::retry_period(5), Attribute::vendor(OUI), own];
    configs[1].offers[0].advertise = all.into_iter().collect();
    let mut net = Net::new(L, configs);
    for (filter, expected) in [(&all[..1], &all[..1]), (&all[1..2], &all[1..2]), (&[][..], &all[..])] {
        let now = net.now;
        let list: Attributes = filter.iter().copied().collect();
        net.node(M).request(now, P, Some(0x0200), list.list()).unwrap();
        net.run(now + 5 * MS);
        let told = net.events_of(M).into_iter().rev().find_map(|event| match event {
            Event::Advertised { answer: Advertised::Blocks(blocks), .. } => Some(blocks),
            _ => None,
        });
        assert_eq!(told, Some(vec![(0x0200, expected.iter().copied().collect())]));
    }
}

/// What a peer advertises goes into the OPENs to it alone, and its mailbox into CONVEYANCE; one that says
/// that it does not support a protocol gets no OPEN for it, until it says that it does.
///
/// Proves: SMP-3.4.1-7, SMP-7.2.2-1
#[test]
fn each_peer_has_attributes_of_its_own() {
    const Q: u16 = 0x56;
    let boxes = [(M, 1), (P, 2), (Q, 3)];
    let configs = boxes.map(|(node, mailbox)| {
        let mut config = config(node, Algorithm::Corrected);
        let own: Attributes = [Attribute::conveyance(Conveyance::mailbox(mailbox))].into_iter().collect();
        (config.offers[0].open, config.offers[0].advertise) = (own.clone(), own);
        config.data_mailbox = Some(mailbox);
        config
    });
    let mailbox = |octets: &[u8]| match Message::parse(octets, Mode::Validation) {
        Ok(Message::Open(Open { attributes, .. }) | Message::Accept(Accept { attributes, .. })) => {
            attributes.find(0x0200, Kind::Conveyance).unwrap().as_conveyance().as_mailbox().unwrap()
        }
        other => panic!("{other:?}"),
    };
    for asks in [false, true] {
        let mut net = Net::new(L, configs.clone());
        if asks {
            for peer in [P, Q] {
                net.node(M).request(0, peer, Some(0x0200), List::default()).unwrap();
            }
            net.run(5 * MS);
        }
        for peer in [P, Q] {
            let now = net.now;
            net.node(M).create_conduit(now, peer, protocol()).unwrap();
        }
        net.run(20 * MS);
        let opens: Vec<u8> = net.messages(M, Command::Open).iter().map(|sent| mailbox(&sent.1)).collect();
        assert_eq!(opens, if asks { [2, 3] } else { [1, 1] });
        for (node, own) in boxes {
            assert!(net.messages(node, Command::Accept).iter().all(|sent| mailbox(&sent.1) == own));
        }
        for peer in [P, Q] {
            assert_eq!(net.nodes[&M].records(peer, protocol()).len(), 1);
            assert_eq!(net.nodes[&peer].records(M, protocol()).len(), 1);
            let stream = net.nodes[&M].records(peer, protocol())[0].transmit;
            let now = net.now;
            net.node(M).send_pdu(now, peer, stream, vec![1, 2, 3]).unwrap();
            let sent = net.node(M).poll_transmit().unwrap();
            assert_eq!(sent.conveyance, Contact::Mailbox(if peer == P { 2 } else { 3 }));
        }
    }
    let mut net = Net::new(L, configs);
    let answer = |supported: bool| {
        let body = [0x02, 0, 0, 0];
        let blocks = Blocks::new(&body, 1).unwrap();
        let answer = if supported { Answer::Blocks(blocks) } else { Answer::Unsupported };
        Message::Advertise(Advertise { source: P, destination: M, answer }).to_vec().unwrap()
    };
    for supported in [false, true, false] {
        let now = net.now;
        net.node(M).request(now, P, Some(0x0200), List::default()).unwrap();
        net.drain();
        net.flight.clear();
        net.node(M).handle_message(now, P, &answer(supported));
        net.drain();
        let opened = net.node(M).open(now, P, protocol()).map(drop);
        assert_eq!(opened, if supported { Ok(()) } else { Err(Refused::Unsupported) });
        let wanted = net.node(M).create_conduit(now, P, protocol());
        assert_eq!(wanted, if supported { Ok(true) } else { Err(Refused::Unsupported) });
        let other = net.node(M).open(now, Q, protocol()).map(drop);
        assert_eq!(other, Ok(()), "that peer alone");
    }
}

/// Proves: SMP-3.6.2-1
#[test]
fn refuse_leaves_nothing() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].offers.clear();
    let mut net = Net::new(L, configs);
    let wish: Attributes = [Attribute::retry_period(9)].into_iter().collect();
    let number = net.node(M).open_with(0, P, protocol(), &wish, true).unwrap();
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.run(5_000 * MS);
    for node in net.nodes.values() {
        assert_eq!((node.streams().count(), node.outstanding()), (0, 0));
    }
    assert_eq!(net.nodes[&M].records(P, protocol()), []);
    assert!(net.events_of(M).contains(&Event::OpenFailed {
        peer: P,
        protocol: protocol(),
        number,
        why: OpenFailure::Refused
    }));
    assert!(net.nodes[&M].ends_only(P, protocol()));
}

/// Proves: SMP-3.5.1.1-1, SMP-3.5.1.2-1, SMP-4.2.1-5, SMP-4.2.1-6, SMP-3.3-7, SMP-3.9-2
#[test]
fn protocols_are_advertised() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].offers.push(ethernet_offer(0x34));
    let mut net = Net::new(L, configs);
    net.node(M).request(0, P, None, List::default()).unwrap();
    assert!(net.node(M).request(0, P, None, List::default()).is_err(), "one at a time");
    net.run(5 * MS);
    let advertised = |net: &Net| {
        net.events_of(M).into_iter().rev().find_map(|event| match event {
            Event::Advertised { answer, .. } => Some(answer),
            _ => None,
        })
    };
    assert_eq!(advertised(&net), Some(Advertised::Protocols(vec![0x0200, ETHERNET])));
    net.node(M).request(5 * MS, P, Some(ETHERNET), List::default()).unwrap();
    net.run(10 * MS);
    let block = ethernet_offer(0x34).advertise;
    assert_eq!(advertised(&net), Some(Advertised::Blocks(vec![(ETHERNET, block)])));
    net.node(M).request(10 * MS, P, Some(0x0333), List::default()).unwrap();
    net.run(15 * MS);
    assert_eq!(advertised(&net), Some(Advertised::Unsupported));
    net.node(P).request(15 * MS, M, Some(0x0200), List::default()).unwrap();
    net.run(20 * MS);
    assert_eq!(net.messages(M, Command::Advertise).len(), 1);
    // Without a REQUEST it is dropped.
    let advertise = Message::Advertise(Advertise { source: P, destination: M, answer: Answer::Unsupported });
    let before = net.events.len();
    net.node(M).handle_message(20 * MS, P, &advertise.to_vec().unwrap());
    net.drain();
    assert_eq!((net.events.len(), net.nodes[&M].counters().dropped), (before, 1));
    assert_eq!(net.count(Command::Status), 0);
}

fn advertise_for(offers: Vec<Offer>, contact: Contact, protocol: u16, filter: &[Attribute]) -> Vec<u8> {
    let mut node = config(P, Algorithm::Corrected);
    (node.offers, node.assumed) = (offers, Some(contact));
    let mut node = session_management::Endpoint::new(node);
    let filter: Attributes = filter.iter().copied().collect();
    let request = Request { source: M, destination: P, cos: 0x55, protocol, attributes: filter.list() };
    node.handle_message(0, M, &Message::Request(request).to_vec().unwrap());
    node.poll_transmit().unwrap().octets
}

fn blocks(octets: &[u8]) -> Vec<(u16, Vec<Attribute>)> {
    let Ok(Message::Advertise(Advertise { answer: Answer::Blocks(blocks), .. })) =
        Message::parse(octets, Mode::Validation)
    else {
        panic!("{octets:02x?}");
    };
    blocks.iter().map(|block| (block.protocol, block.attributes.iter().collect())).collect()
}

/// Proves: SMP-4.2.1-7, SMP-4.2.1-8, SMP-3.5.3-10, SMP-4.2.2-8, SMP-4.2.2-9
#[test]
fn filters() {
    let mailbox = Contact::Mailbox(2);
    let ethernet = || vec![ethernet_offer(0x34)];
    let ids = |octets: &[u8]| -> Vec<Kind> {
        let (_, list) = &blocks(octets)[0];
        let list: Attributes = list.iter().copied().collect();
        list.list().kinds(ETHERNET).map(|(kind, _)| kind).collect()
    };
    let answer = advertise_for(ethernet(), mailbox, ETHERNET, &[Attribute::mtu(0)]);
    assert_eq!(ids(&answer), [Kind::Mtu, Kind::Mtu], "by identifier, whatever the value");
    let lone = Attribute([0x80, 0x03, 0, 0, 0, 0, 0, 0]);
    assert_eq!(ids(&advertise_for(ethernet(), mailbox, ETHERNET, &[lone])), [Kind::MacAddress]);
    let unknown = advertise_for(ethernet(), mailbox, ETHERNET, &[Attribute([0x05; 8])]);
    assert_eq!(blocks(&unknown), [(ETHERNET, vec![])]);

    let name = |name| Protocol::vendor(OUI, name);
    let vendors = || vec![Offer::plain(name(*b"FTPDRCT")), Offer::plain(name(*b"OTHERPR"))];
    assert_eq!(blocks(&advertise_for(vendors(), mailbox, VENDOR_DEFINED, &[])).len(), 2);
    let filter = [Attribute::vendor(OUI), Attribute::protocol_name(*b"OTHERPR")];
    assert_eq!(
        blocks(&advertise_for(vendors(), mailbox, VENDOR_DEFINED, &filter)),
        [(VENDOR_DEFINED, filter.to_vec())]
    );
    // A vendor that nobody here is: the protocol is supported, nothing of it fits.
    let stranger = [Attribute::vendor(*b"RapidIO")];
    let none = advertise_for(vendors(), mailbox, VENDOR_DEFINED, &stranger);
    assert_eq!(none[6..8], [0xC0, 1], "S = 1, A = 1");
    assert_eq!(blocks(&none), [(VENDOR_DEFINED, vec![])]);
    assert_eq!(advertise_for(ethernet(), mailbox, VENDOR_DEFINED, &stranger)[6..8], [0, 0], "not supported");
    // Any other protocol has one block; a list is a list even if it is empty.
    let mixed = || [vendors(), ethernet()].concat();
    assert_eq!(blocks(&advertise_for(mixed(), mailbox, ETHERNET, &[])).len(), 1);
    assert_eq!(advertise_for(mixed(), mailbox, 0xFFFF, &[])[6..12], [0x80, 2, 1, 1, 1, 2]);
    assert_eq!(advertise_for(vec![], mailbox, 0xFFFF, &[])[6..], [0x80, 0]);
    let narrow = [filter[0], filter[1], Attribute::mtu(0)];
    assert_eq!(
        blocks(&advertise_for(vendors(), mailbox, VENDOR_DEFINED, &narrow)),
        [(VENDOR_DEFINED, filter.to_vec())],
        "the identity is always returned"
    );
    let each = [*b"FTPDRCT", *b"OTHERPR"]
        .map(|name| (VENDOR_DEFINED, vec![Attribute::vendor(OUI), Attribute::protocol_name(name)]));
    let other = [Attribute::mtu(0)];
    assert_eq!(blocks(&advertise_for(vendors(), mailbox, VENDOR_DEFINED, &other)), each, "unasked too");
    // It selects, and reduces nothing.
    let mut more = Offer::plain(name(*b"FTPDRCT"));
    let all = [&each[0].1[..], &[Attribute::retry_period(5)]].concat();
    more.advertise = all.iter().copied().collect();
    let answer = advertise_for(vec![more], mailbox, VENDOR_DEFINED, &filter[..1]);
    assert_eq!(blocks(&answer), [(VENDOR_DEFINED, all)]);
}

/// Proves: SMP-4.2.2-11
#[test]
fn long_advertisements_are_cut_at_a_block() {
    let small = Contact::Mailbox(4);
    let offers: Vec<Offer> = (0..30u8).map(|k| Offer::plain(Protocol::vendor(OUI, [b'A' + k; 7]))).collect();
    let answer = advertise_for(offers.clone(), small, VENDOR_DEFINED, &[]);
    assert!(answer.len() <= 256);
    // 8 octets of header, 20 for each block.
    assert_eq!(blocks(&answer).len(), 12);
    let plain: Vec<Offer> = (0..200).map(|k| Offer::plain(Protocol::standard(0x0200 + k).unwrap())).collect();
    let answer = advertise_for(plain, small, 0xFFFF, &[]);
    let Ok(Message::Advertise(Advertise { answer: Answer::Protocols(list), .. })) =
        Message::parse(&answer, Mode::Validation)
    else {
        panic!()
    };
    assert_eq!((answer.len(), list.iter().len()), (256, 124));
}

/// Proves: SMP-4.2.2-12
#[test]
fn which_advertisement_answers_a_request() {
    let block = [0x01, 0x02, 0, 0, 0x02, 0x00, 0, 0];
    let other = [0x02, 0x00, 0, 0];
    let blocks = |octets| Answer::Blocks(Blocks::new(octets, octets.len() as u16 / 4).unwrap());
    let list = |ids: &'static [[u8; 2]]| Answer::Protocols(session_management::control::ProtocolList(ids));
    for (asked, answer, fits) in [
        (None, Answer::Unsupported, true),
        (None, list(&[]), true),
        (None, blocks(&block[..]), false),
        (Some(ETHERNET), Answer::Unsupported, true),
        (Some(ETHERNET), blocks(&block[..]), true),
        (Some(ETHERNET), blocks(&other[..]), false),
        (Some(ETHERNET), list(&[[1, 2]]), true),
        (Some(ETHERNET), list(&[[1, 2], [2, 0]]), false),
    ] {
        let mut net = net();
        net.node(M).request(0, P, asked, List::default()).unwrap();
        let message = Message::Advertise(Advertise { source: P, destination: M, answer });
        net.node(M).handle_message(1, P, &message.to_vec().unwrap());
        assert_eq!(net.nodes[&M].outstanding() == 0, fits, "{asked:?} {answer:?}");
    }
}

/// Proves: SMP-3.8.1-1, SMP-3.8.1-3, SMP-3.8.1-4, SMP-4.2.8-16
#[test]
fn a_peer_without_request() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].advertises = false;
    let mut net = Net::new(L, configs);
    for now in [0, 10 * MS] {
        net.now = now;
        net.node(M).request(now, P, None, List::default()).unwrap();
        net.run(now + 5 * MS);
    }
    assert_eq!(net.count(Command::Request), 1, "remembered");
    let told =
        net.events_of(M).iter().filter(|event| **event == Event::RequestUnsupported { peer: P }).count();
    assert_eq!(told, 2);
    assert_eq!(net.nodes[&M].suspicion(P), None);
    net.node(M).open(20 * MS, P, protocol()).unwrap();
    net.run(30 * MS);
    assert_eq!(net.nodes[&M].streams().count(), 1);
}

fn report(command: u8, echo: &[u8]) -> Vec<u8> {
    let mut data = echo.to_vec();
    data.resize(echo.len().next_multiple_of(8), 0);
    let status = Status {
        cos: 0,
        source: P,
        stream: 0xFFFF,
        mailbox: 2,
        command,
        version: 1,
        bits: StatusBits::COMMAND_UNKNOWN,
        data: data.as_chunks().0,
    };
    Message::Status(status).to_vec().unwrap()
}

/// Proves: SMP-4.2.8-16, SMP-4.2.8-17, SMP-4.2.8-10
#[test]
fn reports_end_requests() {
    let mut net = net();
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.drain();
    let open = net.messages(M, Command::Open)[0].1.clone();
    // Another number is another OPEN.
    let mut wrong = open.clone();
    wrong[15] ^= 1;
    net.node(M).handle_message(1, P, &report(3, &wrong));
    assert_eq!(net.nodes[&M].outstanding(), 1);
    net.node(M).handle_message(1, P, &report(3, &open));
    assert_eq!(net.nodes[&M].outstanding(), 0);
    assert_eq!(net.nodes[&M].records(P, protocol()), []);

    let (mut net, stream) = opened();
    let now = net.now;
    net.node(M).close(now, stream).unwrap();
    net.drain();
    let close = net.messages(M, Command::Close)[0].1.clone();
    net.node(M).handle_message(now, P, &report(8, &close));
    assert_eq!((net.nodes[&M].outstanding(), net.nodes[&M].is_open(stream)), (0, false));
    assert_eq!(net.nodes[&M].suspicion(P), Some(Suspicion::NonCompliance));
    // What fits nothing is only told.
    let before = net.sent.len();
    net.node(M).handle_message(now, P, &report(0x44, &[0x44, 1]));
    net.drain();
    assert_eq!(net.sent.len(), before);
    assert!(net.events_of(M).iter().any(|event| matches!(event, Event::Status { command: 0x44, .. })));
}

/// Proves: SMP-3.6.3-1, SMP-4.2.7-2, SMP-4.2.7-3, SMP-3.5.1.8-1, SMP-3.5.1.8-4, SMP-3.5.2.2-3, SMP-2.3-2
/// Proves: SMP-4.2.8-14, SMP-4.2.7-7, SMP-4.2.7-8
#[test]
fn either_end_closes() {
    for closer in [M, P] {
        let (mut net, stream) = opened();
        let now = net.now;
        let own = if closer == M { stream } else { StreamRef::receive(M, stream.stream) };
        net.node(closer).close(now, own).unwrap();
        net.run(now + 10 * MS);
        assert!(net.nodes.values().all(|node| node.streams().count() == 0 && node.outstanding() == 0));
        let other = if closer == M { P } else { M };
        let close = &net.messages(closer, Command::Close)[0].1;
        let Ok(Message::Close(close)) = Message::parse(close, Mode::Validation) else { panic!() };
        assert_eq!((close.source, close.destination), (M, P), "whoever sends it");
        let reply = net.messages(other, Command::Status);
        let said = status(&reply[0].1);
        assert_eq!((said.source, said.stream, said.cos, said.mailbox), (M, stream.stream, 0, 2));
        assert_eq!((said.command, said.version, said.data.len()), (8, 1, 0));
        assert_eq!(said.bits, StatusBits::CLOSED);
        // A repetition gets the same answer.
        let octets = net.messages(closer, Command::Close)[0].1.clone();
        let now = net.now;
        net.node(other).handle_message(now, closer, &octets);
        net.drain();
        assert_eq!(net.messages(other, Command::Status)[1].1, reply[0].1);
    }
    // A stream that is not there, with any COS, or between other nodes.
    let (mut net, stream) = opened();
    let now = net.now;
    for (source, destination, id, bits, open) in [
        (M, P, 0x0BAD, StatusBits::NO_SUCH_STREAM, true),
        (P, M, stream.stream, StatusBits::NO_SUCH_STREAM, true),
        (0x77, 0x78, stream.stream, StatusBits::NO_SUCH_STREAM, true),
        (M, P, 0xF000, StatusBits::NO_SUCH_STREAM, true),
        (M, P, stream.stream, StatusBits::CLOSED, false),
    ] {
        let close = Message::Close(Close { source, destination, cos: 0x99, stream: id });
        net.node(P).handle_message(now, M, &close.to_vec().unwrap());
        let answer = net.node(P).poll_transmit().unwrap();
        let said = status(&answer.octets);
        assert_eq!((said.bits, said.cos, said.source, said.stream), (bits, 0x99, source, id));
        assert_eq!(net.nodes[&P].is_open(StreamRef::receive(M, stream.stream)), open);
    }
}

/// Proves: SMP-4.2.7-6
#[test]
fn closes_that_cross() {
    let (mut net, stream) = opened();
    let now = net.now;
    net.node(M).close(now, stream).unwrap();
    net.node(P).close(now, StreamRef::receive(M, stream.stream)).unwrap();
    net.run(now + 5_000 * MS);
    assert_eq!((net.count(Command::Close), net.count(Command::Status)), (2, 2));
    assert!(net.nodes.values().all(|node| node.outstanding() == 0 && node.suspicion(M).is_none()));
}

/// Proves: SMP-4.2.8-3, SMP-4.2.8-4, SMP-4.2.8-5, SMP-4.2.8-12, SMP-3.6.4-1, SMP-3.6.4-2, SMP-4.2.8-7
/// Proves: SMP-3.5.1.9-2
#[test]
fn queries() {
    let (mut net, stream) = opened();
    let now = net.now;
    net.node(M).query(now, stream).unwrap();
    net.run(now + 5 * MS);
    let asked = net.messages(M, Command::Status);
    let asked = status(&asked[0].1);
    assert_eq!((asked.source, asked.stream), (M, stream.stream));
    assert_eq!(asked.bits, StatusBits::REQUEST.with(StatusBits::FUNCTIONAL));
    assert_eq!((asked.command, asked.version, asked.data.len()), (0, 0, 0));
    let told = net.messages(P, Command::Status);
    let told = status(&told[0].1);
    assert_eq!(told.bits, StatusBits::FUNCTIONAL.with(StatusBits::READY_TO_RECEIVE));
    assert_eq!((told.command, told.version, told.source), (0x10, 1, M));
    let number = Attribute::message_number(u32::from(M) << 16).0;
    let mut expected = vec![0x02, 0x00, 0x00, 0x01];
    expected.extend_from_slice(&number);
    expected.extend_from_slice(&[0; 4]);
    assert_eq!(told.data.as_flattened(), expected);
    assert_eq!(net.nodes[&M].outstanding(), 0);
    // Asked from the other end, in XOFF, and about what is not there.
    net.node(P).set_ready(now, M, stream.stream, false).unwrap();
    let mut query = asked_octets(M, stream.stream);
    net.drain();
    net.node(P).handle_message(now, M, &query);
    assert_eq!(status(&net.node(P).poll_transmit().unwrap().octets).bits, StatusBits::FUNCTIONAL);
    query = asked_octets(M, 0x0BAD);
    net.node(P).handle_message(now, M, &query);
    let answer = net.node(P).poll_transmit().unwrap().octets;
    assert_eq!((status(&answer).bits, status(&answer).data.len()), (StatusBits::NO_SUCH_STREAM, 0));
    // A stream of neither is nobody's business.
    query = asked_octets(0x77, 0x2000);
    net.node(P).handle_message(now, M, &query);
    assert_eq!(net.node(P).poll_transmit(), None);
}

fn asked_octets(source: u16, stream: u16) -> Vec<u8> {
    let bits = StatusBits::REQUEST;
    let query = Status { cos: 0, source, stream, mailbox: 2, command: 0, version: 0, bits, data: &[] };
    Message::Status(query).to_vec().unwrap()
}

/// Proves: SMP-4.2.8-6
#[test]
fn a_reply_holds_254_attributes_at_most() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    let own = |k: u16| Attribute([0xFE, 0, (k >> 8) as u8, k as u8, 0, 0, 0, 0]);
    for config in &mut configs {
        config.offers[0].vendor_attributes = (0..300).map(|k| own(k).id()).collect();
        config.offers[0].open = std::iter::once(Attribute::vendor(OUI)).chain((0..300).map(own)).collect();
    }
    let mut net = Net::new(L, configs);
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(5 * MS);
    let stream = net.nodes[&M].streams().next().unwrap().0;
    net.node(M).query(5 * MS, stream).unwrap();
    net.run(10 * MS);
    let told = net.messages(P, Command::Status);
    let told = status(&told[0].1);
    assert_eq!((told.data.len(), &told.data[0][2..4]), (255, &[0, 254][..]));
}

/// Proves: SMP-3.5.2.5-7
#[test]
fn a_stream_id_rests() {
    let mut configs = [config(M, Algorithm::Corrected), config(P, Algorithm::Corrected)];
    configs[1].max_streams = 1;
    let mut net = Net::new(L, configs);
    net.node(M).open(0, P, protocol()).unwrap();
    net.run(5 * MS);
    let stream = net.nodes[&M].streams().next().unwrap().0;
    net.node(M).close(5 * MS, stream).unwrap();
    net.run(1_500 * MS);
    net.node(M).open(1_500 * MS, P, protocol()).unwrap();
    net.run(1_600 * MS);
    assert_eq!(net.messages(P, Command::Refuse).len(), 1, "the only StreamID rests");
    net.run(2_100 * MS);
    net.node(M).open(2_100 * MS, P, protocol()).unwrap();
    net.run(2_200 * MS);
    assert_eq!(net.nodes[&M].streams().count(), 1);
}

/// Proves: SMP-4.2.4-8, SMP-3.5.3-11, SMP-3.4.3-10, SMP-4.3.4-2
#[test]
fn accepts_that_cannot_be_used() {
    let accept = |stream, protocol, list: &[Attribute]| {
        let list: Attributes = list.iter().copied().collect();
        Message::Accept(session_management::control::Accept {
            destination: P,
            cos: 0,
            stream,
            protocol,
            attributes: list.list(),
        })
        .to_vec()
        .unwrap()
    };
    let number = Attribute::message_number(u32::from(M) << 16);
    let data3 = Attribute::data_header_format(session_management::attribute::HeaderFormat::Data3);
    for (octets, why) in [
        (accept(5, 0x0201, &[number]), Some(Surprise::Protocol)),
        (accept(5, 0x0200, &[number, Attribute([0x05; 8])]), Some(Surprise::NotUnderstood(Kind::Reserved))),
        (accept(5, 0x0200, &[number, data3]), Some(Surprise::Conveyance)),
        (accept(5, 0x0200, &[Attribute::message_number(9)]), None),
    ] {
        let mut node = config(M, Algorithm::Corrected);
        node.type9_data = false;
        let mut net = Net::new(L, [node]);
        net.node(M).open(0, P, protocol()).unwrap();
        net.drain();
        net.node(M).handle_message(1, P, &octets);
        net.drain();
        let close = &net.messages(M, Command::Close)[0].1;
        let Ok(Message::Close(close)) = Message::parse(close, Mode::Validation) else { panic!() };
        assert_eq!((close.source, close.destination, close.stream), (M, P, 5));
        assert_eq!(net.nodes[&M].streams().count(), 0);
        let failed = net.events_of(M).into_iter().find_map(|event| match event {
            Event::OpenFailed { why: OpenFailure::Unusable(why), .. } => Some(why),
            _ => None,
        });
        assert_eq!(failed, why);
    }
}

/// A REFUSE for want of a StreamID stays one, though a StreamID has come free before the OPEN is
/// repeated: the initiator has taken the first REFUSE and would drop an ACCEPT, so that its stream would
/// stay here for ever.
///
/// Proves: SMP-3.7.1-2, SMP-3.4.3-3
#[test]
fn a_refused_open_stays_refused() {
    let open = |number: u32, retry: u32| {
        let list = [Attribute::message_number(number).0, Attribute::retry_period(retry).0];
        Message::Open(Open { source: M, protocol: 0x0200, attributes: List(&list) }).to_vec().unwrap()
    };
    let codes = |node: &mut Endpoint| -> Vec<Vec<u8>> {
        std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets).collect()
    };
    let mut config = config(P, Algorithm::Corrected);
    config.max_streams = 1;
    let mut node = Endpoint::new(config);
    node.handle_message(0, M, &open(1, 9));
    node.handle_message(0, M, &open(1, 9));
    node.close(1, StreamRef::receive(M, 0x2000)).unwrap();
    // The peer answers the CLOSE.
    let closed = Status {
        cos: 0,
        source: M,
        stream: 0x2000,
        mailbox: 2,
        command: 8,
        version: 1,
        bits: StatusBits::CLOSED,
        data: &[],
    };
    node.handle_message(2, M, &Message::Status(closed).to_vec().unwrap());
    codes(&mut node);
    // The StreamID rests for two periods, the repetition comes after that.
    let free = 1 + 2_000 * MS;
    node.handle_message(free - 1, M, &open(2, 9));
    let first = codes(&mut node);
    assert_eq!(first[0][0], Command::Refuse.code());
    node.handle_message(free + 250 * MS, M, &open(2, 9));
    assert_eq!(codes(&mut node), first);
    assert_eq!(node.streams().count(), 0);
    // An OPEN with the number of another one is refused as often as it comes.
    let mut at = free + 250 * MS;
    for _ in 0..6 {
        at += 900 * MS;
        node.handle_message(at, M, &open(2, 8));
        assert_eq!(codes(&mut node)[0][0], Command::Refuse.code());
    }
    // Another OPEN gets the stream.
    node.handle_message(at, M, &open(3, 9));
    assert_eq!(codes(&mut node)[0][0], Command::Accept.code());
}

/// With a retry period that is not below the timeout a request is sent once.
///
/// Proves: SMP-3.5.3.5-5
#[test]
fn a_retry_period_not_below_the_timeout() {
    for (retry, times) in [(99, 2), (100, 1), (101, 1), (5_000, 1)] {
        let mut node = Endpoint::new(config(M, Algorithm::Corrected));
        let registers: Attributes =
            [Attribute::retry_period(retry), Attribute::timeout_period(100)].into_iter().collect();
        node.handle_participation(0, P, Participation::Ready(Contact::Mailbox(2)), &registers);
        node.open(0, P, protocol()).unwrap();
        let mut sent = Vec::new();
        loop {
            sent.extend(std::iter::from_fn(|| node.poll_transmit()));
            let Some(at) = node.poll_timeout() else { break };
            node.handle_timeout(at);
        }
        assert_eq!((sent.len(), node.outstanding()), (times, 0), "{retry} us");
    }
    for zero in [Attribute::retry_period(0), Attribute::timeout_period(0)] {
        let list = [Attribute::message_number(1).0, zero.0];
        let open = Message::Open(Open { source: M, protocol: 0x0200, attributes: List(&list) });
        let mut node = Endpoint::new(config(P, Algorithm::Corrected));
        node.handle_message(0, M, &open.to_vec().unwrap());
        assert_eq!(node.poll_transmit().unwrap().octets[0], Command::Refuse.code());
    }
}

/// Who is named where; and data flows from the instant at which ACCEPT is sent, and has come.
///
/// Proves: SMP-3.5.2.2-2, SMP-4.2.4-7, SMP-3.5.1.9-1
#[test]
fn senders_name_themselves() {
    let mut net = net();
    net.node(M).request(0, P, None, List::default()).unwrap();
    net.node(M).send_user_defined(0, P, (0xF3, 0), None, &[]).unwrap();
    net.node(M).open(0, P, protocol()).unwrap();
    let mut octets: Vec<Vec<u8>> = Vec::new();
    while let Some(sent) = net.node(M).poll_transmit() {
        octets.push(sent.octets);
    }
    let id = |node: u16| node.to_be_bytes();
    assert_eq!(octets.iter().map(|octets| octets[0]).collect::<Vec<_>>(), [1, 0xF3, 3]);
    assert_eq!([&octets[0][2..4], &octets[0][4..6]], [id(M), id(P)]);
    assert_eq!([&octets[1][4..6], &octets[2][2..4]], [id(M), id(M)]);
    net.node(P).handle_message(0, M, &octets[0]);
    let advertise = net.node(P).poll_transmit().unwrap().octets;
    assert_eq!([&advertise[2..4], &advertise[4..6]], [id(P), id(M)]);
    net.node(M).handle_message(0, P, &advertise);
    net.node(P).handle_message(0, M, &octets[2]);
    let accept = net.node(P).poll_transmit().unwrap().octets;
    net.node(M).handle_message(0, P, &accept);
    net.node(M).send_pdu(0, P, 0x2000, vec![1, 2, 3]).unwrap();
    let data = net.node(M).poll_transmit().unwrap().octets;
    net.node(P).handle_message(0, M, &data);
    net.node(P).set_ready(0, M, 0x2000, false).unwrap();
    let xoff = net.node(P).poll_transmit().unwrap().octets;
    net.node(M).handle_message(0, P, &xoff);
    net.drain();
    let got = Event::Pdu { stream: StreamRef::receive(M, 0x2000), cos: 0, octets: vec![1, 2, 3] };
    assert!(net.events_of(P).contains(&got));
    assert_eq!(net.sent.len(), 0, "nothing of all that calls for STATUS");
}

/// ACCEPT has what is agreed in the order of the OPEN, each value once, CONDUIT_STREAM as the acceptor sees
/// it, and the data header as the last of the optional ones.
///
/// Proves: SMP-4.2.4-6
#[test]
fn the_list_of_an_accept() {
    let own = Attribute([0x78, 1, 2, 3, 4, 5, 6, 7]);
    let mut config = config(P, Algorithm::Corrected);
    config.offers[0].header = HeaderFormat::Data1;
    config.offers[0].vendor_attributes = vec![own.id()];
    let mut node = Endpoint::new(config);
    let (retry, timeout, xon) =
        (Attribute::retry_period, Attribute::timeout_period(700), Attribute::xon_timeout_period(800));
    let (number, vendor) = (Attribute::message_number(7), Attribute::vendor(OUI));
    let open = Attribute::conduit_stream(0xFFFF, 0xFFFF);
    let asked = [number, xon, retry(30), open, retry(10), timeout, vendor, own].map(|asked| asked.0);
    let message = Message::Open(Open { source: M, protocol: 0x0200, attributes: List(&asked) });
    node.handle_message(0, M, &message.to_vec().unwrap());
    let octets = node.poll_transmit().unwrap().octets;
    let Ok(Message::Accept(accept)) = Message::parse(&octets, Mode::Validation) else { panic!() };
    let seen = Attribute::conduit_stream(0xFFFF, 0x2000);
    let header = Attribute::data_header_format(HeaderFormat::Data1);
    let expected = [number, xon, retry(10), seen, timeout, header, vendor, own];
    assert_eq!(accept.attributes.iter().collect::<Vec<_>>(), expected);
    // OMN alone: the values of the OPEN stand.
    let mut node = Endpoint::new(crate::common::config(M, Algorithm::Corrected));
    let wish = [retry(7_000), timeout].into_iter().collect();
    let number = node.open_with(0, P, protocol(), &wish, false).unwrap();
    let list = [Attribute::message_number(number).0];
    let accept = Accept { destination: P, cos: 0, stream: 5, protocol: 0x0200, attributes: List(&list) };
    node.handle_message(0, P, &Message::Accept(accept).to_vec().unwrap());
    let agreed: Vec<_> = node.agreed(StreamRef::transmit(P, 5)).unwrap().iter().collect();
    assert_eq!(agreed, [Attribute::message_number(number), retry(7_000), timeout]);
}

/// Proves: SMP-4.2.8-13
#[test]
fn the_mailbox_of_a_status() {
    for (contact, mailbox) in [
        (Contact::Mailbox(9), 9),
        (Contact::Mailbox(63), 63),
        (Contact::Stream { stream: 0xFF11, cos: 8 }, 0),
    ] {
        let mut config = config(P, Algorithm::Corrected);
        config.contact = contact;
        let mut node = Endpoint::new(config);
        let close = Message::Close(Close { source: M, destination: P, cos: 0, stream: 5 });
        for octets in [&close.to_vec().unwrap()[..], &asked_octets(M, 5), &[0x0C, 1]] {
            node.handle_message(0, M, octets);
            assert_eq!(status(&node.poll_transmit().unwrap().octets).mailbox, mailbox);
        }
    }
}
