//! Data on open streams: segments, flow control, closing, Ethernet, conveyances.

use crate::common::{M, MS, Net, P, config, ethernet_offer, protocol};
use proptest::prelude::*;
use session_management::attribute::{Attribute, Attributes, Conveyance, HeaderFormat, Id, Kind};
use session_management::conduit::Algorithm;
use session_management::control::{Accept, Open};
use session_management::data::{Data, Header};
use session_management::endpoint::{
    Broadcast, Config, Ending, Endpoint, Event, Order, Refused, StreamRef, Suspicion,
};
use session_management::ethernet::{Bridge, Forward, Port, is_tagged, server_relays};
use session_management::message::{Class, Command, Message, Mode};
use session_management::negotiate::Offer;
use session_management::protocol::{Protocol, StreamClass};
use session_management::register::{Contact, Participation};
use session_management::segment::{Loss, Reassembly, Segments, Shape, max_pdu, max_segment};
use session_management::status::{Close, Flow, FlowControl, Status, StatusBits};

const L: u64 = MS;

/// A network in which a stream from M to P is open; `change` sets P up.
fn opened_with(change: impl Fn(&mut Config)) -> (Net, u16) {
    let configs = [M, P].map(|node| {
        let mut config = config(node, Algorithm::Corrected);
        change(&mut config);
        config
    });
    let mut net = Net::new(L, configs);
    let offered = net.nodes[&M].config().offers[0].protocol;
    net.node(M).open(0, P, offered).unwrap();
    net.run(10 * MS);
    let stream = net.nodes[&M].streams().next().expect("open").0.stream;
    (net, stream)
}

fn opened() -> (Net, u16) {
    opened_with(|_| ())
}

/// P stops the stream from M, which hears of it, and after that time has a PDU. When it was stopped.
fn stopped(net: &mut Net, stream: u16, after: u64) -> u64 {
    let begin = net.now;
    net.node(P).set_ready(begin, M, stream, false).unwrap();
    net.run(begin + after);
    let sending = net.now;
    net.node(M).send_pdu(sending, P, stream, vec![7]).unwrap();
    begin
}

fn pdus(net: &Net, node: u16) -> Vec<Vec<u8>> {
    let pdu = |event: Event| match event {
        Event::Pdu { octets, .. } => Some(octets),
        _ => None,
    };
    net.events_of(node).into_iter().filter_map(pdu).collect()
}

fn losses(net: &Net) -> Vec<Loss> {
    let loss = |event: Event| match event {
        Event::PduLost { why, .. } => Some(why),
        _ => None,
    };
    net.events_of(P).into_iter().filter_map(loss).collect()
}

fn counted(length: usize) -> Vec<u8> {
    (0..length).map(|k| (k % 251) as u8).collect()
}

fn data(stream: u16, (start, end): (bool, bool), tag: Option<u16>, payload: &[u8]) -> Vec<u8> {
    let tag = tag.unwrap_or(stream);
    let header = Header::Data { mailbox: 2, cos: 0, source: M, tag };
    let length = payload.len() as u32;
    Message::Data(Data { header, start, end, length, body: payload }).to_vec().unwrap()
}

/// Proves: SMP-1.2-4, SMP-1.2-6, SMP-4.3.1-2, SMP-4.3.1-3, SMP-4.3.1-11
/// Proves: SMP-4.3.1-7
#[test]
fn pdus_of_any_length_arrive_in_order() {
    let (mut net, stream) = opened();
    let sizes = [0, 1, 4083, 4084, 4085, 8168, 8169, 65535];
    for size in sizes {
        let now = net.now;
        net.node(M).send_pdu(now, P, stream, counted(size)).unwrap();
    }
    net.run(5_000 * MS);
    assert_eq!(pdus(&net, P), sizes.map(counted));
    assert!(net.messages(M, Command::Data).iter().all(|(_, octets)| octets.len() <= 4096));
    let now = net.now;
    assert_eq!(net.node(M).send_pdu(now, P, stream, counted(65536)), Err(Refused::TooLong { max: 65535 }));
    // Idleness closes nothing.
    net.run(1_000_000 * MS);
    assert!(net.nodes[&P].is_open(StreamRef::receive(M, stream)));
}

/// A message without room for payload carries an empty PDU and no other.
#[test]
fn a_message_without_room() {
    let shape = |message| Shape {
        format: HeaderFormat::Data,
        offset: 0,
        message,
        mailbox: 9,
        cos: 1,
        source: M,
        stream: 5,
    };
    assert_eq!(max_segment(HeaderFormat::Data, 0, 12), 0);
    assert!(Segments::new(vec![7]).next(&shape(12)).is_err());
    assert!(Segments::new(vec![7]).next(&shape(13)).is_ok());
    let mut empty = Segments::new(vec![]);
    assert_eq!(empty.next(&shape(12)).unwrap().len(), 12);
    assert!(empty.is_finished());
}

/// Proves: SMP-4.3.1-3, SMP-4.3.1-7, SMP-4.3.2-3, SMP-4.3.3-3, SMP-3.5.3.3-1, SMP-3.5.3.3-3
#[test]
fn sizes_of_segments() {
    use HeaderFormat::{Data, Data1, Data2, Data3};
    assert_eq!(max_segment(Data, 0, 4096), 4084);
    assert_eq!(max_segment(Data, 8, 4096), 4076);
    assert_eq!(max_segment(Data, 8, 256), 236);
    assert_eq!(max_segment(Data, 0, 65535), 4095);
    assert_eq!(max_segment(Data1, 0, 4096), 4080);
    assert_eq!(max_segment(Data2(0), 0, 4096), 4092);
    assert_eq!(max_segment(Data2(0), 0, 65535), 16380);
    assert_eq!([Data, Data1, Data2(7), Data3].map(max_pdu), [65535, 0xFFFF_FFFF, 16380, 65535]);
    for format in [Data, Data1, Data2(9)] {
        for (offset, message) in [(0, 256), (8, 256), (255, 4096)] {
            let shape = Shape { format, offset, message, mailbox: 9, cos: 1, source: M, stream: 5 };
            let pdu = counted(1000);
            let mut segments = Segments::new(pdu.clone());
            let mut whole = Vec::new();
            while !segments.is_finished() {
                let octets = segments.next(&shape).unwrap();
                assert!(octets.len() <= message);
                let Ok(Message::Data(data)) = Message::parse(&octets, Mode::Validation) else { panic!() };
                let (skipped, payload) = data.payload(offset, Mode::Validation).unwrap();
                assert_eq!((skipped.len(), data.start), (offset.into(), whole.is_empty()));
                whole.extend_from_slice(payload);
                assert_eq!(data.end, whole.len() == pdu.len());
                let full = max_segment(format, offset, message);
                assert!(data.end || payload.len() == full, "every segment but the last is full");
            }
            assert_eq!(whole, pdu);
        }
    }
}

/// Proves: SMP-4.3.1-5, SMP-4.2.6-4
#[test]
fn two_streams_of_one_context_never_mix() {
    let (mut net, first) = opened();
    let now = net.now;
    net.node(M).open(now, P, protocol()).unwrap();
    net.run(now + 5 * MS);
    let second = first + 1;
    let now = net.now;
    for stream in [first, second, first, second] {
        net.node(M).send_pdu(now, P, stream, counted(10_000)).unwrap();
    }
    // One segment is out; then the stream is stopped inside its PDU, and the other one has to wait.
    let begun = net.node(M).poll_transmit().unwrap().octets;
    let xoff = |flow| {
        Message::FlowControl(FlowControl { cos: 0, flow, source: M, stream: first, protocol: 0x0200 })
            .to_vec()
            .unwrap()
    };
    net.node(M).handle_message(now, P, &xoff(Flow::Xoff));
    let rts = net.node(M).poll_transmit().unwrap();
    assert_eq!(rts.octets[0], Command::FlowControl.code());
    assert_eq!(net.node(M).poll_transmit(), None);
    net.node(M).handle_message(now, P, &xoff(Flow::Xon));
    net.node(P).handle_message(now, M, &begun);
    net.run(now + 50 * MS);
    assert_eq!((pdus(&net, P).len(), losses(&net)), (4, vec![]));
}

/// Proves: SMP-4.3.1-2
///
/// Segments of a PDU say that they are parts, so that no conveyance lets them overtake one another.
#[test]
fn segments_say_that_they_are_parts() {
    let (mut net, stream) = opened();
    let now = net.now;
    let most = max_segment(HeaderFormat::Data, 0, 4096);
    net.node(M).send_pdu(now, P, stream, counted(2 * most + 1)).unwrap();
    net.node(M).send_pdu(now, P, stream, counted(most)).unwrap();
    let orders: Vec<Order> =
        std::iter::from_fn(|| net.node(M).poll_transmit()).map(|transmit| transmit.order).collect();
    let part = |first, last| Order::Part { cos: 0, first, last };
    assert_eq!(orders, [part(true, false), part(false, false), part(false, true), Order::Whole { cos: 0 }]);
}

/// Proves: SMP-4.3.1-6
#[test]
fn what_is_lost_in_reassembly() {
    let middle = |stated: u16, payload: &[u8]| data(0, (false, false), Some(stated), payload);
    let (start, end) = ((true, false), (false, true));
    type Case = (&'static [(u8, u16)], &'static [Loss]);
    let cases: [Case; 12] = [
        (&[(b'e', 0)], &[Loss::NoStart]),
        (&[(b'm', 12)], &[Loss::NoStart]),
        (&[(b's', 0), (b's', 0), (b'e', 0)], &[Loss::Restarted]),
        (&[(b's', 0), (b'o', 0)], &[Loss::Stream]),
        (&[(b's', 0), (b'm', 13), (b'e', 0)], &[Loss::Length]),
        // A lost PDU is told once: what is left of it is passed over, up to its end or the next start.
        (&[(b's', 0), (b'm', 7), (b'e', 0)], &[Loss::Length]),
        (&[(b'm', 12), (b'm', 12), (b'm', 12), (b'e', 0)], &[Loss::NoStart]),
        (
            &[(b's', 0), (b'm', 7), (b'm', 7), (b's', 0), (b's', 0), (b'e', 0)],
            &[Loss::Length, Loss::Restarted],
        ),
        (&[(b'm', 12), (b'e', 0), (b'm', 12), (b'e', 0)], &[Loss::NoStart, Loss::NoStart]),
        (&[(b's', 0), (b'm', 7), (b'e', 0), (b'e', 0)], &[Loss::Length, Loss::NoStart]),
        (&[(b's', 0), (b'm', 16), (b'm', 15)], &[Loss::PduLength]),
        (&[(b's', 0), (b'm', 12), (b'e', 0)], &[]),
    ];
    for (steps, expected) in cases {
        let (mut net, stream) = opened();
        let now = net.now;
        net.node(M).open(now, P, protocol()).unwrap();
        net.run(now + 5 * MS);
        let sent = net.sent.len();
        for &(step, stated) in steps {
            let octets = match step {
                b's' => data(stream, start, None, &[1; 4]),
                b'm' => middle(stated, &[2; 4]),
                b'e' => data(stream, end, None, &[3; 4]),
                _ => data(stream + 1, end, None, &[4; 4]),
            };
            net.node(P).handle_message(now, M, &octets);
        }
        net.drain();
        assert_eq!(losses(&net), expected, "{steps:?}");
        assert_eq!(net.sent.len(), sent, "no message");
        let whole = pdus(&net, P);
        let restarted = expected.contains(&Loss::Restarted);
        assert_eq!(whole.len(), usize::from(expected.is_empty() || restarted));
    }
    let long = Reassembly::start(1, 10, &[0; 11]);
    assert_eq!(long, Err(Loss::TooLong));
    let mut part = Reassembly::start(1, 10, &[0; 4]).unwrap();
    assert_eq!(part.middle(Some(11), &[0; 4]), Err(Loss::TooLong));
}

/// Proves: SMP-4.3.1-9, SMP-3.8.3-3, SMP-4.2.8-18, SMP-4.2.8-19, SMP-3.5.2.5-4, SMP-7.3.2-3, SMP-1.2-5
#[test]
fn data_on_unknown_streams() {
    let mut node = Endpoint::new(config(P, Algorithm::Corrected));
    let said = |node: &mut Endpoint| {
        let octets = node.poll_transmit()?.octets;
        match Message::parse(&octets, Mode::Validation) {
            Ok(Message::Status(status)) => Some((
                status.command,
                status.source,
                status.stream,
                status.cos,
                status.bits,
                status.data.len(),
            )),
            other => panic!("{other:?}"),
        }
    };
    let unknown = StatusBits::NO_SUCH_STREAM;
    node.handle_message(0, M, &data(0x0BAD, (true, true), None, &[]));
    assert_eq!(said(&mut node), Some((6, M, 0x0BAD, 0, unknown, 0)));
    node.handle_message(99 * MS, M, &data(0x0BAD, (true, true), None, &[]));
    assert_eq!(said(&mut node), None, "not too often");
    node.handle_message(100 * MS, M, &data(0x0BAD, (true, true), None, &[]));
    assert_eq!(said(&mut node).map(|said| said.0), Some(6));
    // Vendor and reserved streams without a definition, broadcast without Ethernet.
    for stream in [0xE000, 0xEFFF, 0xF000, 0xF001] {
        assert_ne!(StreamClass::of(stream), StreamClass::Application);
        node.handle_message(0, M, &data(stream, (true, true), None, &[]));
        assert_eq!(said(&mut node).map(|said| (said.0, said.2)), Some((6, stream)));
    }
    let header = Header::Data1 { mailbox: 2, cos: 9, source: M, tag: 5 };
    let wide = Data { header, start: true, end: true, length: 0, body: &[] };
    node.handle_message(0, M, &Message::Data(wide).to_vec().unwrap());
    assert_eq!(said(&mut node), Some((9, M, 5, 9, unknown, 0)));
    for (flow, source) in [(Flow::Xon, P), (Flow::Xoff, P), (Flow::Rts, M)] {
        let stream = 0x100 + u16::from(flow.code());
        let message = FlowControl { cos: 3, flow, source, stream, protocol: 0x0200 };
        node.handle_message(0, M, &Message::FlowControl(message).to_vec().unwrap());
        assert_eq!(said(&mut node), Some((7, source, stream, 3, unknown, 0)));
    }
    node.handle_pdu(0, M, 4, 0x0777, &[1, 2, 3]);
    assert_eq!(said(&mut node), Some((6, M, 0x0777, 4, unknown, 0)));
    assert_eq!(node.suspicion(M), None);
}

/// Proves: SMP-3.6.3-2, SMP-3.5.1.8-1, SMP-3.5.1.8-2, SMP-4.3.1-13
#[test]
fn data_after_the_end() {
    let (mut net, stream) = opened();
    let now = net.now;
    net.node(P).handle_message(now, M, &data(stream, (true, false), None, &[1; 4]));
    net.node(P).close(now, StreamRef::receive(M, stream)).unwrap();
    net.drain();
    let before = net.sent.len();
    net.node(P).handle_message(now + 999 * MS, M, &data(stream, (false, true), None, &[2; 4]));
    net.drain();
    assert_eq!((net.sent.len(), pdus(&net, P).len()), (before, 0), "no message");
    assert_eq!(losses(&net), [Loss::Closed], "told once, when the stream ended");
    net.node(P).handle_message(now + 1_000 * MS, M, &data(stream, (true, true), None, &[2; 4]));
    net.drain();
    assert_eq!((net.sent.len(), pdus(&net, P).len()), (before + 1, 0), "as for an unknown stream");
}

/// Proves: SMP-4.2.8-15, SMP-3.8.3-4, SMP-3.8.3-5, SMP-4.3.1-10
#[test]
fn a_peer_that_lost_its_streams() {
    let (mut net, stream) = opened();
    for _ in 0..2 {
        let now = net.now;
        net.node(M).open(now, P, protocol()).unwrap();
        net.run(now + 5 * MS);
    }
    // P restarts and has forgotten all.
    net.nodes.insert(P, Endpoint::new(config(P, Algorithm::Corrected)));
    let now = net.now;
    net.node(M).send_pdu(now, P, stream, vec![1]).unwrap();
    net.run(now + 200 * MS);
    assert_eq!(net.nodes[&M].streams().count(), 0);
    let queries: Vec<u64> = net.messages(M, Command::Status).iter().map(|sent| (sent.0 - now) / MS).collect();
    assert_eq!(queries, [12, 22], "one each 10 ms after the news");
    let why = Event::Ended { stream: StreamRef::transmit(P, stream), why: Ending::Unknown };
    assert!(net.events_of(M).contains(&why));
}

/// Proves: SMP-4.3.1-12
#[test]
fn the_wrong_cos() {
    for mode in [Mode::Validation, Mode::NonValidation] {
        let (mut net, stream) = opened_with(|config| config.mode = mode);
        let header = Header::Data { mailbox: 2, cos: 9, source: M, tag: stream };
        let message = Data { header, start: true, end: true, length: 1, body: &[1] };
        let now = net.now;
        net.node(P).handle_message(now, M, &Message::Data(message).to_vec().unwrap());
        net.drain();
        let strict = mode == Mode::Validation;
        assert_eq!(pdus(&net, P).len(), usize::from(!strict));
        assert_eq!(net.nodes[&P].suspicion(M), strict.then_some(Suspicion::NonCompliance));
    }
}

/// Proves: SMP-4.2.6-2, SMP-4.2.6-3, SMP-4.2.6-5, SMP-4.2.6-6, SMP-4.2.6-7, SMP-4.2.6-8, SMP-3.5.1.6-1
/// Proves: SMP-3.6.5-1
/// Proves: SMP-3.7.1-5
#[test]
fn stop_and_go() {
    let (mut net, stream) = opened();
    let receive = StreamRef::receive(M, stream);
    let begin = stopped(&mut net, stream, 5 * MS);
    net.run(begin + 2_600 * MS);
    assert!(pdus(&net, P).is_empty(), "held off longer than the XON timeout");
    let flows = |net: &Net, node: u16| -> Vec<(u64, u8)> {
        let sent = net.messages(node, Command::FlowControl);
        sent.iter().map(|(at, octets)| ((at - begin) / MS, octets[3])).collect()
    };
    assert_eq!(flows(&net, P), [0, 500, 1000, 1500, 2000, 2500].map(|at| (at, 0x00)));
    // RTS ends with the next XOFF.
    assert_eq!(flows(&net, M), [5, 255].map(|at| (at, 0xFF)));
    for (_, octets) in net.messages(P, Command::FlowControl) {
        let Ok(Message::FlowControl(message)) = Message::parse(&octets, Mode::Validation) else { panic!() };
        assert_eq!((message.source, message.stream, message.protocol), (M, stream, 0x0200));
    }
    assert_eq!(net.events_of(P).iter().filter(|e| **e == Event::ReadyToSend { stream: receive }).count(), 2);
    let now = net.now;
    net.node(P).set_ready(now, M, stream, true).unwrap();
    net.run(now + 10 * MS);
    assert_eq!(pdus(&net, P), [[7]]);
    assert_eq!(net.nodes[&P].poll_timeout(), None, "nothing is repeated any more");
    // XON without XOFF changes nothing; RTS is answered when data can be taken.
    let events = net.events_of(M).len();
    for (to, flow, source) in [(M, Flow::Xon, M), (P, Flow::Rts, M)] {
        let message = FlowControl { cos: 0, flow, source, stream, protocol: 0x0200 };
        let now = net.now;
        let from = if to == M { P } else { M };
        net.node(to).handle_message(now, from, &Message::FlowControl(message).to_vec().unwrap());
    }
    let now = net.now;
    net.run(now + 5 * MS);
    assert_eq!(net.events_of(M).len(), events);
    assert_eq!(flows(&net, P).last().map(|last| last.1), Some(0x01));
}

/// A source goes on after the time that the registers of its destination announce, and the destination
/// repeats XOFF after half of that time: so the stream stays stopped, whatever the source announces for
/// streams to it.
///
/// Proves: SMP-3.7.1-5, SMP-3.5.3.6-1
#[test]
fn both_ends_go_by_the_period_of_the_destination() {
    for (own, others) in [(100, 1_000), (1_000, 100), (100, 100)] {
        let period = |node: u16| if node == P { own } else { others };
        let configs = [M, P].map(|node| {
            let mut config = config(node, Algorithm::Corrected);
            (config.assumed, config.xon_timeout) = (None, period(node) * 1_000);
            config
        });
        let mut net = Net::new(L, configs);
        for (node, peer) in [(M, P), (P, M)] {
            let announced = [Attribute::xon_timeout_period(period(peer) * 1_000)].into_iter().collect();
            let ready = Participation::Ready(Contact::Mailbox(2));
            net.node(node).handle_participation(0, peer, ready, &announced);
        }
        net.node(M).open(0, P, protocol()).unwrap();
        net.run(10 * MS);
        let stream = net.nodes[&M].streams().next().expect("open").0.stream;
        let begin = stopped(&mut net, stream, 2 * MS);
        net.run(begin + 5_010 * MS);
        let xoffs = net.messages(P, Command::FlowControl);
        let times: Vec<u64> = xoffs.iter().map(|sent| (sent.0 - begin) / MS).collect();
        let half = u64::from(own) / 2;
        assert_eq!(times, (0..=5_000 / half).map(|nth| nth * half).collect::<Vec<u64>>());
        assert_eq!(net.count(Command::Data), 0, "{own} {others}");
        // Nobody says anything more: the source goes on after the whole time.
        let last = net.now;
        net.nodes.remove(&P);
        net.run(last + 2_000 * MS);
        let sent: Vec<u64> = net.messages(M, Command::Data).iter().map(|sent| sent.0).collect();
        assert_eq!(sent, [xoffs.last().unwrap().0 + L + u64::from(own) * MS]);
    }
}

/// A node takes data in a mailbox of its own. Whoever has not asked supposes nothing in its OPEN, and hears
/// of it in ACCEPT; data by type 9 needs no mailbox.
///
/// Proves: SMP-3.3-4, SMP-3.5.1.4-1
#[test]
fn the_mailbox_of_data_stands_in_accept() {
    let management = [Contact::Mailbox(2), Contact::Stream { stream: 0xFFF0, cos: 0x80 }];
    for (contact, mailbox) in management.into_iter().flat_map(|contact| [2, 5].map(|own| (contact, own))) {
        let configs = [M, P].map(|node| {
            let mut config = config(node, Algorithm::Corrected);
            (config.contact, config.assumed) = (contact, Some(contact));
            config.data_mailbox = (node == P).then_some(mailbox);
            config
        });
        let mut net = Net::new(L, configs);
        net.node(M).create_conduit(0, P, protocol()).unwrap();
        net.run(10 * MS);
        let record = net.nodes[&M].records(P, protocol())[0];
        let now = net.now;
        net.node(M).send_pdu(now, P, record.transmit, vec![1]).unwrap();
        net.node(P).send_pdu(now, M, record.receive, vec![1]).unwrap();
        assert_eq!(net.node(M).poll_transmit().unwrap().conveyance, Contact::Mailbox(mailbox));
        assert_eq!(net.node(P).poll_transmit().unwrap().conveyance, contact);
        let with = |node: u16| {
            let accept = net.messages(node, Command::Accept)[0].1.clone();
            let Ok(Message::Accept(accept)) = Message::parse(&accept, Mode::Validation) else { panic!() };
            accept.attributes.find(0x0200, Kind::Conveyance).is_some()
        };
        assert_eq!((with(M), with(P)), (false, contact != Contact::Mailbox(mailbox)));
    }
}

/// What waits at a source when its stream is closed is lost there, and the source says so.
#[test]
fn what_has_not_left_a_closed_stream_is_lost() {
    let (mut net, stream) = opened();
    let now = net.now;
    net.node(P).set_ready(now, M, stream, false).unwrap();
    net.run(now + 5 * MS);
    for _ in 0..3 {
        net.node(M).send_pdu(now + 5 * MS, P, stream, vec![7]).unwrap();
    }
    net.node(M).close(now + 6 * MS, StreamRef::transmit(P, stream)).unwrap();
    net.run(now + 20 * MS);
    let lost = Event::PduLost { peer: P, why: Loss::Closed };
    assert_eq!(net.events_of(M).iter().filter(|event| **event == lost).count(), 3);
    assert_eq!((losses(&net), net.count(Command::Data)), (vec![], 0));
}

/// Proves: SMP-3.5.3.6-1, SMP-3.5.3.6-2, SMP-4.2.6-7
#[test]
fn a_stopped_stream_goes_on_by_itself() {
    let (mut net, stream) = opened();
    let begin = net.now;
    let xoff = FlowControl { cos: 0, flow: Flow::Xoff, source: M, stream, protocol: 0x0200 };
    let xoff = Message::FlowControl(xoff).to_vec().unwrap();
    net.node(M).handle_message(begin, P, &xoff);
    net.node(M).send_pdu(begin, P, stream, vec![7]).unwrap();
    net.drain();
    let rts: Vec<u64> = {
        net.nodes.remove(&P);
        net.run(begin + 999 * MS);
        net.messages(M, Command::FlowControl).iter().map(|sent| (sent.0 - begin) / MS).collect()
    };
    assert_eq!(rts, [0, 250, 500, 750]);
    assert_eq!(net.count(Command::Data), 0);
    net.node(M).handle_message(begin + 999 * MS, P, &xoff);
    net.run(begin + 1_998 * MS);
    assert_eq!(net.count(Command::Data), 0, "a further XOFF restarts the time");
    net.run(begin + 1_999 * MS);
    assert_eq!(net.count(Command::Data), 1);
    let resumed = Event::Resumed { stream: StreamRef::transmit(P, stream), timeout: true };
    assert!(net.events_of(M).contains(&resumed));
}

/// Proves: SMP-4.2.6-9
#[test]
fn flow_control_that_does_not_fit() {
    let (mut net, stream) = opened();
    let now = net.now;
    for (to, flow, source, protocol) in [
        (M, Flow::Xoff, M, 0x0201),
        (M, Flow::Rts, M, 0x0200),
        (P, Flow::Xoff, M, 0x0200),
        (P, Flow::Xon, M, 0x0200),
    ] {
        let message = FlowControl { cos: 0, flow, source, stream, protocol };
        let from = if to == M { P } else { M };
        let at = now + 200 * MS * u64::from(protocol + u16::from(flow.code()));
        net.node(to).handle_message(at, from, &Message::FlowControl(message).to_vec().unwrap());
        let answer = net.node(to).poll_transmit().expect("an answer").octets;
        let Ok(Message::Status(status)) = Message::parse(&answer, Mode::Validation) else { panic!() };
        assert_eq!((status.bits, status.command), (StatusBits::NO_SUCH_STREAM, 7));
    }
    net.drain();
    assert!(net.nodes[&M].is_open(StreamRef::transmit(P, stream)));
    assert!(!net.events_of(M).iter().any(|event| matches!(event, Event::Stopped { .. })));
}

/// Proves: SMP-3.7.2-1, SMP-3.7.2-2
#[test]
fn high_goes_before_low() {
    use Command as C;
    for (command, class) in [
        (C::Accept, Class::High),
        (C::Close, Class::High),
        (C::FlowControl, Class::High),
        (C::Status, Class::High),
        (C::Open, Class::Low),
        (C::Request, Class::Low),
        (C::Advertise, Class::Low),
        (C::Refuse, Class::Low),
        (C::Data, Class::Low),
        (C::Data1, Class::Low),
        (C::Data2, Class::Low),
        (C::UserDefined(0xF0), Class::Low),
    ] {
        assert_eq!(command.class(), class);
    }
    let (mut net, stream) = opened();
    let (now, node) = (net.now, net.node(M));
    node.send_pdu(now, P, stream, vec![1]).unwrap();
    node.send_user_defined(now, P, (0xF0, 0), None, &[]).unwrap();
    node.open(now, P, protocol()).unwrap();
    node.query(now, StreamRef::transmit(P, stream)).unwrap();
    let order: Vec<u8> = std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets[0]).collect();
    assert_eq!(order, [0x10, 0xF0, 0x03, 0x06]);
}

/// Proves: SMP-2.4-1, SMP-2.4-3, SMP-3.3-3, SMP-3.3-4, SMP-4.3.5-1, SMP-4.3.5-2, SMP-1.2-5, SMP-3.5.3.10-4
/// Proves: SMP-4.3.4-2
#[test]
fn the_four_pairs_of_conveyances() {
    let management = [Contact::Mailbox(2), Contact::Stream { stream: 0xFFF0, cos: 0x80 }];
    for contact in management {
        for type9 in [false, true] {
            let mut wish = Attributes::new();
            let (mut net, stream) = opened_with(|config| {
                (config.contact, config.assumed) = (contact, Some(contact));
                config.data_mailbox = Some(5);
                config.offers[0].cos = 0x33;
                if type9 {
                    config.offers[0].header = HeaderFormat::Data3;
                } else {
                    config.offers[0].open =
                        [Attribute::conveyance(Conveyance::mailbox(5))].into_iter().collect();
                }
            });
            wish.push(Attribute::mtu(1));
            let (now, node) = (net.now, net.node(M));
            node.send_pdu(now, P, stream, counted(100)).unwrap();
            let sent = node.poll_transmit().unwrap();
            assert_eq!(sent.destination, P);
            let receiver = net.node(P);
            if type9 {
                assert_eq!(sent.conveyance, Contact::Stream { stream, cos: 0x33 });
                assert_eq!(sent.octets, counted(100), "no header");
                receiver.handle_pdu(now, M, 0x33, stream, &sent.octets);
            } else {
                assert_eq!(sent.conveyance, Contact::Mailbox(5));
                receiver.handle_message(now, M, &sent.octets);
            }
            // XOFF goes to the management contact of the source.
            receiver.set_ready(now, M, stream, false).unwrap();
            let xoff = receiver.poll_transmit().unwrap();
            assert_eq!(xoff.conveyance, contact);
            // RTS goes where the data goes; a stream of type 9 has no room for it.
            let source = net.node(M);
            source.handle_message(now, P, &xoff.octets);
            source.send_pdu(now, P, stream, vec![1]).unwrap();
            let rts = source.poll_transmit().unwrap();
            assert_eq!(rts.octets[..4], [7, 1, 0x33, 0xFF]);
            assert_eq!((rts.class, rts.destination), (Class::High, P));
            assert_eq!(rts.conveyance, if type9 { contact } else { Contact::Mailbox(5) });
            // XON goes as XOFF does, and each is taken wherever it comes from.
            let receiver = net.node(P);
            receiver.handle_message(now, M, &rts.octets);
            receiver.set_ready(now, M, stream, true).unwrap();
            let xon = receiver.poll_transmit().unwrap();
            assert_eq!((xon.octets[3], xon.conveyance), (1, contact));
            net.node(M).handle_message(now, P, &xon.octets);
            let ready = Event::ReadyToSend { stream: StreamRef::receive(M, stream) };
            net.drain();
            assert!(net.events_of(P).contains(&ready));
            assert_eq!(pdus(&net, P), [counted(100)]);
        }
    }
    // Nothing agreed: data goes where management messages go.
    for contact in management {
        let (mut net, stream) =
            opened_with(|config| (config.contact, config.assumed) = (contact, Some(contact)));
        let now = net.now;
        net.node(M).send_pdu(now, P, stream, vec![1]).unwrap();
        let sent = net.node(M).poll_transmit().unwrap();
        assert_eq!(sent.conveyance, contact);
        if let Contact::Stream { stream, cos } = contact {
            net.node(P).handle_pdu(now, M, cos, stream, &sent.octets);
        } else {
            net.node(P).handle_message(now, M, &sent.octets);
        }
        net.drain();
        assert_eq!(pdus(&net, P).len(), 1);
    }
}

/// Proves: SMP-4.3.3-2, SMP-4.3.3-3, SMP-4.3.3-4
#[test]
fn data2_streams_are_told_apart_by_one_octet() {
    let (mut net, first) = opened_with(|config| config.offers[0].header = HeaderFormat::Data2(0));
    let now = net.now;
    net.node(M).open(now, P, protocol()).unwrap();
    net.run(now + 5 * MS);
    let now = net.now;
    for (stream, octet) in [(first, 1), (first + 1, 2)] {
        net.node(M).send_pdu(now, P, stream, vec![octet; 3]).unwrap();
    }
    net.run(now + 5 * MS);
    let sent = net.messages(M, Command::Data2);
    assert_ne!(sent[0].1[1], sent[1].1[1]);
    assert!(sent.iter().all(|(_, octets)| octets[2] >> 6 == 0b11), "unsegmented");
    let got: Vec<(u16, Vec<u8>)> = net
        .events_of(P)
        .into_iter()
        .filter_map(|event| match event {
            Event::Pdu { stream, octets, .. } => Some((stream.stream, octets)),
            _ => None,
        })
        .collect();
    assert_eq!(got, [(first, vec![1; 3]), (first + 1, vec![2; 3])]);
    let long = net.node(M).send_pdu(now, P, first, counted(4093));
    assert_eq!(long, Err(Refused::TooLong { max: 4092 }));
    // Segments are put together; another octet names no stream.
    let specific = sent[0].1[1];
    for (first_octet, start, end) in [(specific, true, false), (specific, false, true), (0x77, true, true)] {
        let header = Header::Data2 { specific: first_octet };
        let message = Data { header, start, end, length: 2, body: &[9, 9] };
        net.node(P).handle_message(now, M, &Message::Data(message).to_vec().unwrap());
    }
    let before = net.sent.len();
    net.drain();
    assert_eq!(pdus(&net, P).last(), Some(&vec![9; 4]));
    assert_eq!((pdus(&net, P).len(), net.sent.len()), (3, before));
}

/// Proves: SMP-4.3.2-3, SMP-3.5.3.9-1, SMP-3.5.3.2-1, SMP-3.5.3.3-1
#[test]
fn data1_with_offset_octets() {
    let offset =
        [Attribute::data_offset_vendor([0, 0xA0, 0x1E, 0, 0, 0, 0]), Attribute::data_offset(8, [0; 5])];
    let (mut net, stream) = opened_with(|config| {
        config.offers[0].header = HeaderFormat::Data1;
        config.offers[0].open = offset.into_iter().collect();
    });
    let now = net.now;
    net.node(M).send_pdu(now, P, stream, counted(100_000)).unwrap();
    net.run(now + 100 * MS);
    assert_eq!(pdus(&net, P), [counted(100_000)]);
    let (_, first) = &net.messages(M, Command::Data1)[0];
    assert_eq!((first.len(), &first[16..24]), (4096, &[0; 8][..]));
}

fn ethernet(change: impl Fn(&mut Config)) -> (Net, u16) {
    opened_with(|config| {
        config.offers = vec![ethernet_offer(config.node as u8)];
        change(config);
    })
}

/// Proves: SMP-7.2.1-2, SMP-7.2.3-1, SMP-7.3.1-1, SMP-7.3.1-2
#[test]
fn ethernet_frames() {
    let (mut net, stream) = ethernet(|config| config.pending_frames = 2);
    let now = net.now;
    let frame = |kind: [u8; 2], payload: usize| {
        let mut frame = vec![0x02; 12];
        frame.extend_from_slice(&kind);
        frame.resize(14 + payload, 0);
        frame
    };
    let node = net.node(M);
    assert_eq!(node.send_pdu(now, P, stream, frame([8, 0], 1500)), Ok(()));
    assert!(node.send_pdu(now, P, stream, frame([8, 0], 1501)).is_err());
    assert_eq!(node.send_pdu(now, P, stream, frame([0x81, 0], 1504)), Ok(()), "4 octets of tag");
    assert!(node.send_pdu(now, P, stream, frame([0x81, 0], 1505)).is_err());
    net.run(now + 10 * MS);
    assert_eq!(pdus(&net, P).len(), 2);
    let agreed = net.nodes[&M].agreed(StreamRef::transmit(P, stream)).unwrap();
    let mac = agreed.find(0x0102, session_management::attribute::Kind::MacAddress).unwrap();
    assert_eq!(mac.value48()[5], P as u8, "the address of the node that sends the ACCEPT");
    // Stopped: the two youngest frames are kept.
    let now = net.now;
    net.node(P).set_ready(now, M, stream, false).unwrap();
    net.run(now + 5 * MS);
    for size in 1..=5 {
        net.node(M).send_pdu(now, P, stream, frame([8, 0], size)).unwrap();
    }
    let now = net.now;
    net.node(P).set_ready(now, M, stream, true).unwrap();
    net.run(now + 10 * MS);
    let sizes: Vec<usize> = pdus(&net, P)[2..].iter().map(|frame| frame.len() - 14).collect();
    assert_eq!(sizes, [4, 5]);
    let dropped = net.events_of(M).iter().filter(|e| matches!(e, Event::FrameDropped { .. })).count();
    assert_eq!(dropped, 3);
}

/// A server that relays what clients send it, and broadcasts it: every client gets each frame once, and two
/// servers do not send each other's broadcasts in a circle.
///
/// Proves: SMP-7.3.2-6
#[test]
fn a_server_never_relays_a_broadcast() {
    const SERVERS: [u16; 2] = [P, 0x56];
    let configs = [M, P, 0x56].map(|node| {
        let mut config = config(node, Algorithm::Corrected);
        config.offers = vec![ethernet_offer(node as u8)];
        config
    });
    let mut net = Net::new(L, configs);
    net.node(M).open(0, P, Protocol::ETHERNET).unwrap();
    net.run(10 * MS);
    let stream = net.nodes[&M].streams().next().unwrap().0.stream;
    for (node, peer) in [(P, M), (P, 0x56), (0x56, P), (0x56, M)] {
        net.node(node).add_ethernet_peer(peer);
    }
    let frame = vec![0xFF; 20];
    let now = net.now;
    net.node(M).send_pdu(now, P, stream, frame.clone()).unwrap();
    let (mut heard, mut seen) = (Vec::new(), net.events.len());
    for step in 1..20 {
        net.run(now + step * MS);
        let new = net.events[seen..].to_vec();
        for (_, node, event) in new {
            if let Event::Pdu { stream, octets, .. } = event {
                heard.push((node, stream.stream));
                assert_eq!(octets, frame);
                if SERVERS.contains(&node) && server_relays(stream.stream) {
                    let now = net.now;
                    net.node(node).broadcast(now, &octets).unwrap();
                }
            }
        }
        seen = net.events.len().max(seen);
    }
    // The client's frame reaches its server on their stream, and everybody else as that server's broadcast,
    // once.
    heard.sort_unstable();
    let mut expected = [(M, 0xF000), (P, stream), (0x56, 0xF000)];
    expected.sort_unstable();
    assert_eq!(heard, expected);
}

/// Proves: SMP-7.3.2-1, SMP-7.3.2-2, SMP-7.3.2-3, SMP-7.3.2-4, SMP-7.3.2-5
#[test]
fn broadcasts() {
    let (mut net, _) = ethernet(|_| ());
    net.node(M).add_ethernet_peer(0x56);
    let now = net.now;
    let frame = [0xFF; 20];
    net.node(M).broadcast(now, &frame).unwrap();
    net.drain();
    let copies: Vec<(u16, Vec<u8>)> = net
        .sent
        .iter()
        .filter(|sent| sent.octets[0] == 6)
        .map(|sent| (sent.to, sent.octets.clone()))
        .collect();
    assert_eq!(copies.iter().map(|copy| copy.0).collect::<Vec<_>>(), [P, 0x56]);
    net.run(now + 5 * MS);
    let broadcast = StreamRef::receive(M, 0xF000);
    let got = Event::Pdu { stream: broadcast, cos: 0, octets: frame.to_vec() };
    assert!(net.events_of(P).contains(&got), "from any node, without OPEN");
    // Nothing else applies to 0xF000.
    let mut answers = Vec::new();
    for message in [
        Message::Close(Close { source: M, destination: P, cos: 0, stream: 0xF000 }),
        Message::FlowControl(FlowControl {
            cos: 0,
            flow: Flow::Rts,
            source: M,
            stream: 0xF000,
            protocol: 0x0102,
        }),
    ] {
        net.node(P).handle_message(now, M, &message.to_vec().unwrap());
        let octets = net.node(P).poll_transmit().unwrap().octets;
        let Ok(Message::Status(Status { bits, .. })) = Message::parse(&octets, Mode::Validation) else {
            panic!()
        };
        answers.push(bits);
    }
    assert_eq!(answers, [StatusBits::NO_SUCH_STREAM; 2]);
    for destination in [0xFE, 0xFFFE] {
        let (mut net, _) = ethernet(|config| config.broadcast = Broadcast::Multicast(destination));
        let node = net.node(M);
        node.broadcast(now, &[0xFF; 20]).unwrap();
        let sent: Vec<_> = std::iter::from_fn(|| node.poll_transmit()).collect();
        assert_eq!((sent.len(), sent[0].destination), (1, destination));
    }
    let mut plain = Endpoint::new(config(M, Algorithm::Corrected));
    assert_eq!(plain.broadcast(0, &frame), Err(Refused::Protocol));
}

/// Proves: SMP-7.3.3-1, SMP-7.3.3-2, SMP-7.3.3-3, SMP-7.3.3-4, SMP-7.3.3-5
#[test]
fn bridges() {
    let mac = |last| [2, 0, 0, 0, 0, last];
    let frame = |to: [u8; 6], from: [u8; 6]| [&to[..], &from, &[8, 0]].concat();
    let (all, group) = ([0xFF; 6], [1, 0, 0x5E, 0, 0, 1]);
    let mut bridge = Bridge::new(true);
    let everywhere = Forward { flood: true, broadcast: true, ..Forward::default() };
    let outside = Forward { flood: true, ..Forward::default() };
    assert_eq!(bridge.forward(Port::External(1), &frame(all, mac(1))), everywhere);
    assert_eq!(bridge.forward(Port::External(1), &frame(group, mac(1))), everywhere);
    assert_eq!(
        bridge.forward(Port::NodeBroadcast(7), &frame(all, mac(7))),
        outside,
        "not back into the fabric"
    );
    assert_eq!(bridge.port(mac(7)), Some(Port::Node(7)));
    let to_node = Forward { node: Some(7), ..Forward::default() };
    let to_port = Forward { external: Some(1), ..Forward::default() };
    assert_eq!(bridge.forward(Port::External(1), &frame(mac(7), mac(1))), to_node);
    assert_eq!(bridge.forward(Port::Node(7), &frame(mac(1), mac(7))), to_port);
    assert_eq!(bridge.forward(Port::External(1), &frame(mac(1), mac(2))), Forward::default());
    assert_eq!(bridge.forward(Port::External(1), &frame(mac(9), mac(1))), everywhere, "not learnt yet");
    assert_eq!(bridge.forward(Port::NodeBroadcast(8), &frame(mac(7), mac(8))), Forward::default());
    // What a server repeats teaches nothing, goes out, and not back.
    assert_eq!(bridge.forward(Port::Repeated, &frame(all, mac(20))), outside);
    assert_eq!(bridge.forward(Port::Repeated, &frame(mac(7), mac(20))), Forward::default());
    assert_eq!(bridge.port(mac(20)), None);
    bridge.learn(mac(21), Port::Node(9));
    assert_eq!(bridge.port(mac(21)), Some(Port::Node(9)));
    // It follows an address that moves.
    bridge.forward(Port::External(2), &frame(all, mac(7)));
    assert_eq!(bridge.port(mac(7)), Some(Port::External(2)));
    bridge.broadcasts = false;
    assert_eq!(bridge.forward(Port::External(1), &frame(all, mac(1))), Forward::default());
    assert_eq!(bridge.forward(Port::External(1), &[0; 11]), Forward::default());
    assert!(!is_tagged(&frame(all, mac(1))));
}

proptest! {
    /// Any PDU through any shape comes out as it was.
    #[test]
    fn segments_make_the_pdu_again(
        length in 0usize..3000,
        offset in 0u8..20,
        message in 40usize..300,
        wide in any::<bool>(),
    ) {
        let format = if wide { HeaderFormat::Data1 } else { HeaderFormat::Data };
        let shape = Shape { format, offset, message, mailbox: 0, cos: 0, source: M, stream: 3 };
        let (pdu, mut segments) = (counted(length), Segments::new(counted(length)));
        let (mut part, mut whole) = (None::<Reassembly>, None);
        while !segments.is_finished() {
            let octets = segments.next(&shape).unwrap();
            let Ok(Message::Data(data)) = Message::parse(&octets, Mode::Validation) else { panic!() };
            let (_, payload) = data.payload(offset, Mode::Validation).unwrap();
            match (data.start, data.end) {
                (true, true) => whole = Some(payload.to_vec()),
                (true, false) => part = Some(Reassembly::start(3, 65535, payload).unwrap()),
                (false, false) => part.as_mut().unwrap().middle(data.pdu_length(), payload).unwrap(),
                (false, true) => whole = part.take().unwrap().end(data.stream().unwrap(), payload).ok(),
            }
        }
        prop_assert_eq!(whole, Some(pdu));
    }
}

/// A vendor's protocol is opened like any other: its name, standard optional attributes, its own ones. A peer
/// that does not understand those is asked without them. Streams without OPEN (§3.8.2 allows vendors such)
/// are not taken up: data on one is answered like data on any stream that is not open.
///
/// Proves: SMP-6.2.3-1, SMP-3.9-1, SMP-3.8.3-3
#[test]
fn a_vendor_protocol_is_opened_like_any_other() {
    const OUI: [u8; 7] = Attribute::oui([0, 0xA0, 0x1E]);
    let (name, further) = (*b"FTPDRCT", Attribute([0x78, 1, 2, 3, 4, 5, 6, 7]));
    let own = Protocol::vendor(OUI, name);
    let (mut net, stream) = opened_with(|config| {
        config.offers = vec![Offer::plain(own)];
        config.offers[0].open.push(Attribute::retry_period(5));
        config.offers[0].open.push(further);
        config.offers[0].vendor_attributes = vec![Id::Byte(0x78)];
    });
    assert_eq!(net.nodes[&P].streams().next(), Some((StreamRef::receive(M, stream), own)));
    let number = Attribute::message_number(u32::from(M) << 16);
    let all =
        [number, Attribute::vendor(OUI), Attribute::protocol_name(name), Attribute::retry_period(5), further];
    for (from, command) in [(M, Command::Open), (P, Command::Accept)] {
        let octets = net.messages(from, command)[0].1.clone();
        let found = match Message::parse(&octets, Mode::Validation) {
            Ok(Message::Open(Open { attributes, .. }) | Message::Accept(Accept { attributes, .. })) => {
                attributes.iter().collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found, all, "{command:?}");
    }
    // Another vendor's protocol of the same ProtoID is another one, and so is another name.
    for (vendor, name) in [(*b"RapidIO", name), (OUI, *b"ftpdrct")] {
        let other = Protocol::vendor(vendor, name);
        let mut asking = config(M, Algorithm::Corrected);
        asking.offers = vec![Offer::plain(other)];
        let mut offering = config(P, Algorithm::Corrected);
        offering.offers = vec![Offer::plain(own)];
        let mut net = Net::new(L, [asking, offering]);
        net.node(M).open(0, P, other).unwrap();
        net.run(10 * MS);
        assert_eq!((net.count(Command::Accept), net.count(Command::Refuse)), (0, 1));
    }
    let now = net.now;
    for stream in [0xE000, 0xEFFF] {
        net.node(P).handle_message(now, M, &data(stream, (true, true), None, &[1, 2, 3]));
        let octets = net.node(P).poll_transmit().unwrap().octets;
        let Ok(Message::Status(Status { bits, stream: said, .. })) =
            Message::parse(&octets, Mode::Validation)
        else {
            panic!()
        };
        assert_eq!((bits, said), (StatusBits::NO_SUCH_STREAM, stream));
    }
    net.drain();
    assert_eq!(pdus(&net, P), Vec::<Vec<u8>>::new());
}

/// Each COS is one that a stream can have, and all data of one COS leave with one priority.
///
/// Proves: SMP-3.5.2.4-1, SMP-1.5-1
#[test]
fn every_cos() {
    for cos in 0..=255 {
        let (mut net, first) = opened_with(|config| config.offers[0].cos = cos);
        let now = net.now;
        net.node(M).open(now, P, protocol()).unwrap();
        net.run(now + 5 * MS);
        let now = net.now;
        for stream in [first, first + 1] {
            net.node(M).send_pdu(now, P, stream, counted(5000)).unwrap();
        }
        let node = net.node(M);
        let sent: Vec<_> = std::iter::from_fn(|| node.poll_transmit()).collect();
        assert_eq!(sent.len(), 4);
        for message in &sent {
            assert_eq!((message.octets[3], message.class), (cos, Class::Low));
            net.node(P).handle_message(now, M, &message.octets);
        }
        net.drain();
        for stream in [first, first + 1] {
            let stream = StreamRef::receive(M, stream);
            assert!(net.events_of(P).contains(&Event::Pdu { stream, cos, octets: counted(5000) }));
        }
    }
}

/// Two sources use one StreamID, and one of them two COS: the consumer is told which stream of which
/// source it is, and the COS.
///
/// Proves: SMP-2.3-1
#[test]
fn consumers() {
    const Q: u16 = 0x56;
    let mut net = Net::new(L, [M, P, Q].map(|node| config(node, Algorithm::Corrected)));
    for source in [M, Q] {
        net.node(source).open(0, P, protocol()).unwrap();
    }
    net.run(10 * MS);
    let now = net.now;
    let send = |source, cos, octet| {
        let header = Header::Data { mailbox: 2, cos, source, tag: 0x2000 };
        Message::Data(Data { header, start: true, end: true, length: 1, body: &[octet] }).to_vec().unwrap()
    };
    let sent = [(M, 0, 1), (Q, 0, 2), (M, 9, 3)];
    for (source, cos, octet) in sent {
        net.node(P).handle_message(now, source, &send(source, cos, octet));
    }
    net.drain();
    let got: Vec<Event> =
        net.events_of(P).into_iter().filter(|event| matches!(event, Event::Pdu { .. })).collect();
    let expected = sent.map(|(source, cos, octet)| {
        let stream = StreamRef::receive(source, 0x2000);
        Event::Pdu { stream, cos, octets: vec![octet] }
    });
    assert_eq!(got, expected);
}

/// A sender names the mailbox to which it sends. A wrong one makes another context, and nothing else.
///
/// Proves: SMP-4.3.1-8
#[test]
fn the_mailbox_of_data() {
    for mailbox in [0, 2, 63] {
        let (mut net, stream) = opened_with(|config| {
            (config.contact, config.assumed) = (Contact::Mailbox(mailbox), Some(Contact::Mailbox(mailbox)));
        });
        let now = net.now;
        net.node(M).send_pdu(now, P, stream, counted(5000)).unwrap();
        let node = net.node(M);
        for sent in std::iter::from_fn(|| node.poll_transmit()) {
            assert_eq!((sent.octets[2], sent.conveyance), (mailbox, Contact::Mailbox(mailbox)));
        }
    }
    let (mut net, stream) = opened();
    let now = net.now;
    let part = |mailbox, start, octet: u8| {
        let header = Header::Data { mailbox, cos: 0, source: M, tag: stream };
        let message = Data { header, start, end: !start, length: 1, body: &[octet] };
        Message::Data(message).to_vec().unwrap()
    };
    for (mailbox, start, octet) in [(2, true, 1), (9, true, 2), (200, true, 3), (9, false, 4), (2, false, 5)]
    {
        net.node(P).handle_message(now, M, &part(mailbox, start, octet));
    }
    let sent = net.sent.len();
    net.drain();
    assert_eq!(pdus(&net, P), [[2, 4], [1, 5]], "each context by itself");
    assert_eq!((losses(&net), net.sent.len()), (vec![], sent));
    assert_eq!(net.nodes[&P].suspicion(M), None);
}

/// A frame that has been begun is sent to its end: what is dropped for want of room is the oldest of the
/// rest.
///
/// Proves: SMP-7.3.1-3
#[test]
fn a_frame_that_has_been_begun() {
    for keep in [1, 2] {
        let (mut net, stream) = ethernet(|config| {
            config.pending_frames = keep;
            let own = config.offers[0].open.list().iter().skip(1).collect::<Vec<_>>();
            config.offers[0].open = std::iter::once(Attribute::mtu(9000)).chain(own).collect();
        });
        let now = net.now;
        let frame = |size: usize| [&[2; 12][..], &[8, 0], &vec![7; size]].concat();
        net.node(M).send_pdu(now, P, stream, frame(8500)).unwrap();
        let begun = net.node(M).poll_transmit().unwrap().octets;
        assert_eq!(begun[8] >> 6, 0b10, "the first of several");
        let xoff = FlowControl { cos: 0, flow: Flow::Xoff, source: M, stream, protocol: 0x0102 };
        net.node(M).handle_message(now, P, &Message::FlowControl(xoff).to_vec().unwrap());
        for size in 1..=5 {
            net.node(M).send_pdu(now, P, stream, frame(size)).unwrap();
        }
        net.node(P).handle_message(now, M, &begun);
        let xon = FlowControl { flow: Flow::Xon, ..xoff };
        net.node(M).handle_message(now, P, &Message::FlowControl(xon).to_vec().unwrap());
        net.run(now + 20 * MS);
        let sizes: Vec<usize> = pdus(&net, P).iter().map(|pdu| pdu.len() - 14).collect();
        assert_eq!(sizes, if keep == 1 { vec![8500, 5] } else { vec![8500, 4, 5] });
        assert_eq!(losses(&net), []);
    }
}

/// Data with another header than the one agreed is dropped and counted (D68): nothing is delivered or said,
/// and the PDU that has begun on its context goes on.
#[test]
fn data_with_another_header() {
    let (mut net, stream) = opened();
    let now = net.now;
    let dropped = net.nodes[&P].counters().dropped;
    let wide = |start| {
        let header = Header::Data1 { mailbox: 2, cos: 0, source: M, tag: stream.into() };
        let message = Data { header, start, end: true, length: 1, body: &[9] };
        Message::Data(message).to_vec().unwrap()
    };
    let two = Data { header: Header::Data2 { specific: 0 }, start: true, end: true, length: 1, body: &[9] };
    net.node(P).handle_message(now, M, &data(stream, (true, false), None, &[1]));
    for other in [wide(true), wide(false), Message::Data(two).to_vec().unwrap()] {
        net.node(P).handle_message(now, M, &other);
    }
    net.node(P).handle_message(now, M, &data(stream, (false, true), None, &[2]));
    let sent = net.sent.len();
    net.drain();
    assert_eq!((pdus(&net, P), losses(&net), net.sent.len()), (vec![vec![1, 2]], vec![], sent));
    assert_eq!(net.nodes[&P].counters().dropped, dropped + 3);
    assert_eq!(net.nodes[&P].suspicion(M), None);
    // A PDU of Type 9 has no header, so that it is on no stream with one.
    net.node(P).handle_pdu(now, M, 0, stream, &[1, 2, 3]);
    let octets = net.node(P).poll_transmit().unwrap().octets;
    let Ok(Message::Status(status)) = Message::parse(&octets, Mode::Validation) else { panic!() };
    assert_eq!((status.command, status.bits), (6, StatusBits::NO_SUCH_STREAM));
    assert!(net.nodes[&P].is_open(StreamRef::receive(M, stream)));
}
