//! Conduits between endpoints: fields, ends, and what does not fit.

use crate::common::{M, MS, Net, P, config, protocol};
use session_management::attribute::{Attribute, Attributes, List};
use session_management::conduit::{Algorithm, Own, Side};
use session_management::control::{Accept, Open, Refuse};
use session_management::endpoint::{Endpoint, Event, StreamRef};
use session_management::message::{Command, Message, Mode};
use session_management::protocol::StreamClass;
use session_management::register::{Contact, Participation};
use session_management::status::Close;

const L: u64 = MS;

/// A conduit that M has asked for.
fn established() -> Net {
    let mut net = Net::pair(L, Algorithm::Corrected);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.run(10 * MS);
    net
}

fn fields(octets: &[u8]) -> (u16, u16) {
    match Message::parse(octets, Mode::Validation) {
        Ok(Message::Open(Open { attributes, .. }) | Message::Accept(Accept { attributes, .. })) => {
            attributes.conduit_stream().expect("CONDUIT_STREAM")
        }
        other => panic!("{other:?}"),
    }
}

fn open(number: u32, conduit: Option<(u16, u16)>) -> Vec<u8> {
    let list: Attributes = [Some(Attribute::message_number(number))]
        .into_iter()
        .chain([conduit.map(|(transmit, receive)| Attribute::conduit_stream(transmit, receive))])
        .flatten()
        .collect();
    Message::Open(Open { source: M, protocol: 0x0200, attributes: list.list() }).to_vec().unwrap()
}

/// Proves: SMP-3.4-4, SMP-3.4-6, SMP-3.4.1-2, SMP-3.4.1-4
#[test]
fn what_the_fields_say() {
    let net = established();
    let sent =
        |node, command| net.messages(node, command).iter().map(|sent| fields(&sent.1)).collect::<Vec<_>>();
    assert_eq!(sent(M, Command::Open), [(0xFFFF, 0xFFFF)]);
    assert_eq!(sent(P, Command::Accept), [(0xFFFF, 0x2000)]);
    assert_eq!(sent(P, Command::Open), [(0xFFFF, 0x2000)]);
    assert_eq!(sent(M, Command::Accept), [(0x2000, 0x1000)]);
    let [record] = net.nodes[&M].records(P, protocol()) else { panic!() };
    assert_eq!((record.receive, record.transmit), (0x1000, 0x2000));
}

/// Proves: SMP-3.4-3
#[test]
fn a_plain_open_never_matches_a_conduit() {
    let mut net = established();
    let now = net.now;
    net.node(M).open(now, P, protocol()).unwrap();
    net.run(now + 5 * MS);
    assert_eq!(net.nodes[&P].records(M, protocol()).len(), 1);
    assert_eq!(net.nodes[&P].streams().count(), 3, "a stream of its own, and none back");
    // Nor does it begin one.
    let mut node = Endpoint::new(config(P, Algorithm::Corrected));
    node.handle_message(0, M, &open(1, None));
    assert_eq!((node.records(M, protocol()).len(), node.streams().count()), (0, 1));
}

/// Proves: SMP-2.3-5, SMP-3.5.1.8-3, SMP-4.2.7-5, SMP-3.4.3-13
#[test]
fn both_streams_end_together() {
    for closer in [M, P] {
        for side in [Side::Receive, Side::Transmit] {
            let mut net = established();
            let (now, peer) = (net.now, if closer == M { P } else { M });
            let [record] = net.nodes[&closer].records(peer, protocol()) else { panic!() };
            let stream = if side == Side::Receive { record.receive } else { record.transmit };
            net.node(closer).close(now, StreamRef { peer, side, stream }).unwrap();
            net.drain();
            assert_eq!(net.messages(closer, Command::Close).len(), 2, "one for each stream");
            assert_eq!(net.nodes[&closer].streams().count(), 0, "here at once");
            net.run(now + 5_000 * MS);
            for node in net.nodes.values() {
                assert_eq!((node.streams().count(), node.outstanding()), (0, 0));
            }
            assert_eq!(net.nodes[&peer].records(closer, protocol()), []);
            let ended = Event::ConduitEnded { peer: closer, protocol: protocol() };
            assert!(net.events_of(peer).contains(&ended));
        }
    }
}

/// A stream that this node has closed is the peer's to hand out again; only one that the peer closed itself,
/// before its ACCEPT or OPEN got here, is dead.
#[test]
fn a_stream_id_is_used_again() {
    let accept = |number: u32| {
        let list = [Attribute::message_number(number).0, Attribute::conduit_stream(0xFFFF, 0x2000).0];
        let accept =
            Accept { destination: P, cos: 0, stream: 0x2000, protocol: 0x0200, attributes: List(&list) };
        Message::Accept(accept).to_vec().unwrap()
    };
    let first = u32::from(M) << 16;
    let mut net = Net::new(L, [config(M, Algorithm::Corrected)]);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.node(M).handle_message(1, P, &accept(first));
    net.node(M).close(2, StreamRef { peer: P, side: Side::Transmit, stream: 0x2000 }).unwrap();
    assert_eq!(net.nodes[&M].records(P, protocol()), []);
    net.node(M).create_conduit(3, P, protocol()).unwrap();
    net.node(M).handle_message(4, P, &accept(first + 1));
    let [record] = net.nodes[&M].records(P, protocol()) else { panic!("one conduit is being opened") };
    assert_eq!((record.transmit, record.own), (0x2000, Own::Answered(first + 1)));
}

/// Proves: SMP-3.5.3.8-2
#[test]
fn an_accept_without_the_attribute() {
    for (given, used) in [(None, true), (Some((0xFFFF, 0x2000)), true), (Some((0xFFFF, 0x2001)), false)] {
        let mut net = Net::new(L, [config(M, Algorithm::Corrected)]);
        net.node(M).create_conduit(0, P, protocol()).unwrap();
        net.drain();
        let mut list = vec![Attribute::message_number(u32::from(M) << 16).0];
        list.extend(given.map(|(transmit, receive)| Attribute::conduit_stream(transmit, receive).0));
        let accept =
            Accept { destination: P, cos: 0, stream: 0x2000, protocol: 0x0200, attributes: List(&list) };
        net.node(M).handle_message(1, P, &Message::Accept(accept).to_vec().unwrap());
        net.drain();
        let transmits: Vec<u16> =
            net.nodes[&M].records(P, protocol()).iter().map(|record| record.transmit).collect();
        assert_eq!(transmits, if used { vec![0x2000] } else { vec![] });
        assert_eq!(net.count(Command::Close), usize::from(!used), "what does not fit is given back");
    }
}

/// Proves: SMP-3.4.3-12
#[test]
fn a_return_open_that_never_comes() {
    let mut net = Net::new(L, [config(M, Algorithm::Corrected)]);
    net.node(M).create_conduit(0, P, protocol()).unwrap();
    net.drain();
    let list = [Attribute::message_number(u32::from(M) << 16).0];
    let accept = Accept { destination: P, cos: 0, stream: 0x2000, protocol: 0x0200, attributes: List(&list) };
    net.now = L;
    net.node(M).handle_message(L, P, &Message::Accept(accept).to_vec().unwrap());
    net.run(L + 999 * MS);
    assert_eq!(net.nodes[&M].records(P, protocol()).len(), 1);
    net.run(L + 1_000 * MS);
    assert_eq!(net.nodes[&M].records(P, protocol()), []);
    assert_eq!(net.messages(M, Command::Close).len(), 1);
}

/// A second first OPEN while there is a whole conduit: has the peer restarted?
///
/// Proves: SMP-3.4.3-4, SMP-3.4.3-5
#[test]
fn a_first_open_for_a_whole_conduit() {
    // It has not: refused.
    let mut net = established();
    let now = net.now;
    let octets = open(99, Some((0xFFFF, 0xFFFF)));
    net.node(P).handle_message(now, M, &octets);
    net.run(now + 5 * MS);
    assert_eq!(net.messages(P, Command::Refuse).len(), 0, "asked first");
    net.node(P).handle_message(now + 5 * MS, M, &octets);
    net.drain();
    assert_eq!(net.messages(P, Command::Refuse).len(), 1);
    assert_eq!(net.nodes[&P].records(M, protocol()).len(), 1);
    // It has: the old conduit goes, the new one comes.
    let mut net = established();
    let mut fresh = config(M, Algorithm::Corrected);
    (fresh.first_number, fresh.first_stream) = (0xABCD, 0x1800);
    net.nodes.insert(M, Endpoint::new(fresh));
    let now = net.now;
    net.node(M).create_conduit(now, P, protocol()).unwrap();
    net.run(now + 5_000 * MS);
    for (node, peer) in [(M, P), (P, M)] {
        let [record] = net.nodes[&node].records(peer, protocol()) else {
            panic!("one conduit at {node:#06x}")
        };
        assert!(matches!(record.own, Own::Answered(_)) && record.is_whole());
        assert_eq!(net.nodes[&node].streams().count(), 2, "nothing of the old one is left");
    }
}

/// Proves: SMP-3.4.3-14
#[test]
fn a_call_decides_alone() {
    // Each call takes the endpoint exclusively and decides all there is to decide: the record is final when
    // the call returns, and what is handed out later, in whatever order, decides nothing any more.
    const OTHER: u16 = 0x56;
    let messages = |node: &mut Endpoint| std::iter::from_fn(|| node.poll_transmit()).collect::<Vec<_>>();
    let from = |source: u16| {
        let list: Attributes =
            [Attribute::message_number(7), Attribute::conduit_stream(0xFFFF, 0xFFFF)].into_iter().collect();
        let open = Open { source, protocol: 0x0200, attributes: list.list() };
        Message::Open(open).to_vec().unwrap()
    };
    let mut node = Endpoint::new(config(P, Algorithm::Corrected));
    node.handle_message(0, M, &from(M));
    let [record] = node.records(M, protocol()) else { panic!("one record") };
    assert_eq!((record.receive, record.own), (0x2000, Own::Outstanding(u32::from(P) << 16)));
    assert!(node.streams().any(|(stream, _)| stream == StreamRef::receive(M, 0x2000)), "it is open");
    // A wish between OPEN and ACCEPT, before anything has been handed out: it is that conduit.
    assert_eq!(node.create_conduit(0, M, protocol()), Ok(false));
    // Another peer's OPEN, before anything of the first has been handed out, and after it.
    let (mut eager, mut idle) = (node.clone(), node);
    let first = messages(&mut eager);
    assert_eq!(first.iter().map(|sent| sent.octets[0]).collect::<Vec<_>>(), [4, 3], "ACCEPT and OPEN");
    let (before, streams) = (idle.records(M, protocol()).to_vec(), idle.streams().count());
    assert_eq!((eager.records(M, protocol()), eager.streams().count()), (&before[..], streams));
    for node in [&mut eager, &mut idle] {
        node.handle_message(0, OTHER, &from(OTHER));
        assert_eq!(node.records(M, protocol()), before);
        assert_eq!(node.records(OTHER, protocol()).len(), 1);
    }
    let mut late = [first, messages(&mut eager)].concat();
    let mut together = messages(&mut idle);
    for list in [&mut late, &mut together] {
        list.sort_by_key(|sent| (sent.destination, sent.octets.clone()));
    }
    assert_eq!(late, together);
}

/// All identifiers are taken: REFUSE, and nothing is left of the OPEN.
#[test]
fn no_identifier_no_stream() {
    for conduit in [None, Some((0xFFFF, 0xFFFF))] {
        let mut config = config(P, Algorithm::Corrected);
        config.max_streams = 1;
        let mut node = Endpoint::new(config);
        let answers = |node: &mut Endpoint| {
            let sent = std::iter::from_fn(|| node.poll_transmit());
            sent.map(|sent| sent.octets[0]).filter(|&code| code != 3).collect::<Vec<_>>()
        };
        node.handle_message(0, M, &open(1, None));
        assert_eq!(answers(&mut node), [Command::Accept.code()]);
        node.handle_message(0, M, &open(2, conduit));
        assert_eq!(answers(&mut node), [Command::Refuse.code()]);
        assert_eq!((node.streams().count(), node.outstanding()), (1, 0));
        assert_eq!(node.records(M, protocol()), []);
        // The same OPEN gets the same answer.
        node.handle_message(0, M, &open(2, conduit));
        assert_eq!(answers(&mut node), [Command::Refuse.code()]);
    }
}

/// Proves: SMP-3.7.1-3
#[test]
fn no_room() {
    // Too many messages for a node whose contact is not known: dropped.
    let mut config = config(P, Algorithm::Corrected);
    (config.max_streams, config.assumed) = (1, None);
    let mut node = Endpoint::new(config);
    for number in 0..100 {
        node.handle_message(0, M, &open(number, None));
    }
    assert_eq!(node.streams().count(), 1);
    assert_eq!(node.counters().dropped, 100 - 64);
    assert_eq!(node.poll_transmit(), None);
}

/// Proves: SMP-3.5.2.5-1, SMP-4.2.5-2
#[test]
fn ranges_of_numbers() {
    for stream in 0..=u16::MAX {
        let expected = match stream {
            0..=0xDFFF => StreamClass::Application,
            0xE000..=0xEFFF => StreamClass::Vendor,
            0xF000..=0xFFFE => StreamClass::Reserved,
            0xFFFF => StreamClass::Invalid,
        };
        assert_eq!(StreamClass::of(stream), expected);
    }
    // Every nack-type but 0 is reserved: a fault in validation mode, else taken for 0.
    let list = [Attribute::message_number(1).0];
    let refuse = Refuse { destination: P, protocol: 0x0200, attributes: List(&list) };
    let mut octets = Message::Refuse(refuse).to_vec().unwrap();
    for kind in 1..=255 {
        octets[4] = kind;
        assert!(Message::parse(&octets, Mode::Validation).is_err());
        assert_eq!(Message::parse(&octets, Mode::NonValidation), Ok(Message::Refuse(refuse)));
    }
}

fn messages(node: &mut Endpoint) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets).collect()
}

/// M's own OPEN is out, and P has answered it.
fn answered(node: &mut Endpoint, number: u32, stream: u16) {
    let list = [Attribute::message_number(number).0, Attribute::conduit_stream(0xFFFF, stream).0];
    let accept = Accept { destination: P, cos: 0, stream, protocol: 0x0200, attributes: List(&list) };
    node.handle_message(0, P, &Message::Accept(accept).to_vec().unwrap());
}

fn return_open(number: u32, receive: u16) -> Vec<u8> {
    let list: Attributes =
        [Attribute::message_number(number), Attribute::conduit_stream(0xFFFF, receive)].into_iter().collect();
    Message::Open(Open { source: P, protocol: 0x0200, attributes: list.list() }).to_vec().unwrap()
}

/// A return OPEN that comes after its peer has closed the stream which it names belongs to a conduit that is
/// gone: it does not become part of the next one.
#[test]
fn a_return_open_of_a_conduit_that_is_gone() {
    for closed in [true, false] {
        let mut node = Endpoint::new(config(M, Algorithm::Corrected));
        let number = u32::from(M) << 16;
        node.create_conduit(0, P, protocol()).unwrap();
        if closed {
            answered(&mut node, number, 0x2000);
            let close = Close { source: M, destination: P, cos: 0, stream: 0x2000 };
            node.handle_message(0, P, &Message::Close(close).to_vec().unwrap());
            assert_eq!(node.records(P, protocol()), []);
            node.create_conduit(0, P, protocol()).unwrap();
        }
        messages(&mut node);
        node.handle_message(0, P, &return_open(9, 0x2000));
        let sent: Vec<u8> = messages(&mut node).iter().map(|octets| octets[0]).collect();
        let [record] = node.records(P, protocol()) else { panic!("the new one") };
        if closed {
            assert_eq!(sent, [Command::Refuse.code()]);
            assert_eq!((record.receive, record.transmit), (0xFFFF, 0xFFFF), "it still waits for its own");
        } else {
            assert_eq!(sent, [Command::Accept.code()]);
            assert_eq!((record.receive, record.transmit), (0x1000, 0x2000));
        }
    }
}

/// A CLOSE overtakes the ACCEPT whose stream it names: that stream carries nothing any more, so the ACCEPT is
/// answered by CLOSE and makes no conduit, whatever the peer has opened in return.
///
/// Proves: SMP-3.7.2-3, SMP-3.5.1.8-1
#[test]
fn an_accept_of_a_stream_that_is_closed_already() {
    for (returned, closed) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut node = Endpoint::new(config(M, Algorithm::Corrected));
        node.create_conduit(0, P, protocol()).unwrap();
        if returned {
            // The peer asks for the conduit by itself, so its OPEN names no stream.
            node.handle_message(0, P, &return_open(9, 0xFFFF));
        }
        messages(&mut node);
        if closed {
            let close = Close { source: M, destination: P, cos: 0, stream: 0x2000 };
            node.handle_message(0, P, &Message::Close(close).to_vec().unwrap());
            messages(&mut node);
        }
        answered(&mut node, u32::from(M) << 16, 0x2000);
        let sent: Vec<u8> = messages(&mut node).iter().map(|octets| octets[0]).collect();
        let of_each = |closed: bool| if closed { 1 + usize::from(returned) } else { 0 };
        assert_eq!(sent, vec![Command::Close.code(); of_each(closed)], "{returned}");
        let conduits: Vec<u16> = node.records(P, protocol()).iter().map(|record| record.transmit).collect();
        assert_eq!(conduits, if closed { vec![] } else { vec![0x2000] }, "{returned}");
    }
}

/// A record that knows a stream to the peer from the peer's OPEN alone ends when the peer does not answer the
/// question for that stream, at its deadline and not with its own OPEN.
#[test]
fn a_question_for_a_stream_that_is_not_open_yet() {
    let mut node = Endpoint::new(config(M, Algorithm::Corrected));
    node.create_conduit(0, P, protocol()).unwrap();
    node.handle_message(0, P, &return_open(1, 0x2000));
    assert_eq!(node.records(P, protocol())[0].transmit, 0x2000);
    let short: Attributes = [Attribute::timeout_period(100_000)].into_iter().collect();
    node.handle_participation(10 * MS, P, Participation::Ready(Contact::Mailbox(2)), &short);
    messages(&mut node);
    // The peer begins anew, as it seems.
    node.handle_message(20 * MS, P, &return_open(2, 0xFFFF));
    let sent: Vec<u8> = messages(&mut node).iter().map(|octets| octets[0]).collect();
    assert_eq!(sent, [Command::Status.code()], "does it still have its stream?");
    node.handle_timeout(119 * MS);
    assert_eq!(node.records(P, protocol()).len(), 1);
    node.handle_timeout(120 * MS);
    assert_eq!(node.records(P, protocol()), []);
    let ended = Event::ConduitEnded { peer: P, protocol: protocol() };
    assert!(std::iter::from_fn(|| node.poll_event()).any(|event| event == ended));
}
