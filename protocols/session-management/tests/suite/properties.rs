//! Sequences of messages, however malformed.

use crate::common::{M, MS, P, config, ethernet_offer, protocol};
use proptest::prelude::*;
use session_management::attribute::Attribute;
use session_management::conduit::{Algorithm, Side};
use session_management::endpoint::{Endpoint, StreamRef};
use session_management::message::{Command, Message, Mode};
use session_management::negotiate::check_open;
use session_management::protocol::StreamClass;
use std::collections::BTreeSet;

/// Nodes that send to P.
const SENDERS: [u16; 2] = [M, 0x0056];

fn attribute() -> impl Strategy<Value = [u8; 8]> {
    let small = 0u16..4;
    prop_oneof![
        any::<u32>().prop_map(|n| Attribute::message_number(n % 6).0),
        (small.clone(), small).prop_map(|(a, b)| {
            let stream = |k: u16| if k == 0 { 0xFFFF } else { 0x1FFF + k };
            Attribute::conduit_stream(stream(a), stream(b)).0
        }),
        (0u32..3).prop_map(|n| Attribute::retry_period(n * 100_000).0),
        (0u32..3).prop_map(|n| Attribute::timeout_period(n * 100_000).0),
        (0u16..2000).prop_map(|mtu| Attribute::mtu(mtu).0),
        any::<[u8; 8]>(),
    ]
}

/// A message with plausible fields, sometimes with a wrong octet, sometimes cut.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![Just(M), Just(P), Just(0x56), any::<u16>()];
    let stream = prop_oneof![4 => 0x2000u16..0x2004, 1 => Just(0xFFFF), 1 => Just(0xF000), 1 => any::<u16>()];
    let protocol = prop_oneof![4 => Just(0x0200u16), 1 => Just(0x0102), 1 => any::<u16>()];
    let list = proptest::collection::vec(attribute(), 0..4);
    let fields = (id.clone(), id, stream, protocol, list, any::<[u8; 8]>());
    let made =
        (0u8..12, any::<u32>(), fields).prop_map(|(kind, number, (a, b, stream, protocol, list, noise))| {
            let mut out = Vec::new();
            let be = u16::to_be_bytes;
            let mut attributes = vec![Attribute::message_number(number % 6).0];
            attributes.extend(list);
            let count = be(attributes.len() as u16);
            let put = |out: &mut Vec<u8>, parts: &[&[u8]]| {
                parts.iter().for_each(|part| out.extend_from_slice(part))
            };
            match kind {
                0 => put(&mut out, &[&[1, 1], &be(a), &be(b), &[0, 0], &be(protocol), &[0; 6]]),
                1 => put(&mut out, &[&[2, 1], &be(a), &be(b), &[0x80, 1], &be(protocol), &[0; 6]]),
                2 | 3 => {
                    put(&mut out, &[&[3, 1], &be(a), &be(protocol), &count, attributes.as_flattened()]);
                }
                4 => put(
                    &mut out,
                    &[
                        &[4, 1],
                        &be(a),
                        &[0, 0],
                        &be(stream),
                        &be(protocol),
                        &count,
                        attributes.as_flattened(),
                    ],
                ),
                5 => put(
                    &mut out,
                    &[
                        &[5, 1],
                        &be(a),
                        &[0, 0xFF, 0xFF, 0xFF],
                        &be(protocol),
                        &count,
                        attributes.as_flattened(),
                    ],
                ),
                6 => {
                    put(&mut out, &[&[6, 1, 2, 0, 0, 0], &be(a), &[noise[0] & 0xC0, 8], &be(stream), &noise])
                }
                7 => {
                    let flow = [0, 1, 0xFF, noise[0]][usize::from(noise[1] % 4)];
                    put(&mut out, &[&[7, 1, 0, flow], &be(a), &be(stream), &be(protocol), &[0; 6]]);
                }
                8 => put(&mut out, &[&[8, 1], &be(a), &be(b), &[0, 0], &be(stream), &[0; 6]]),
                9 => {
                    let bits = [0x8000_0000u32, 0x2000_0001, 0x2000_0000, 0x4000_0000, 2];
                    let bits = bits[usize::from(noise[1] % 5)].to_be_bytes();
                    let command = [0, 3, 8, 0x10][usize::from(noise[2] % 4)];
                    put(&mut out, &[&[0x10, 1, 0, 0], &be(a), &be(stream), &[2, 0, command, 1], &bits]);
                }
                10 => put(&mut out, &[&[0x0A, noise[0] % 3, 0xC0, 4], &noise[..4]]),
                _ => put(&mut out, &[&[0xF0, 1, 0, 0], &be(a), &be(stream), &noise]),
            }
            out
        });
    (made, any::<u16>(), any::<u8>(), 0u8..20).prop_map(|(mut octets, at, value, what)| {
        match what {
            0 => octets.truncate(usize::from(at) % (octets.len() + 1)),
            1 => {
                let at = usize::from(at) % octets.len();
                octets[at] = value;
            }
            2 => octets.extend_from_slice(&[value; 3]),
            _ => {}
        }
        octets
    })
}

#[derive(Clone, Debug)]
enum Step {
    Message(u16, Vec<u8>),
    Wait(u64),
    Create,
    Open,
    Close(usize),
    Ready(usize, bool),
    Send(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (proptest::sample::select(SENDERS.to_vec()), message())
            .prop_map(|(from, octets)| Step::Message(from, octets)),
        2 => (0u64..1500).prop_map(|ms| Step::Wait(ms * MS)),
        1 => Just(Step::Create),
        1 => Just(Step::Open),
        1 => (0usize..8).prop_map(Step::Close),
        1 => (0usize..8, any::<bool>()).prop_map(|(at, ready)| Step::Ready(at, ready)),
        1 => (0usize..8).prop_map(Step::Send),
    ]
}

fn node(mode: Mode, algorithm: Algorithm) -> Endpoint {
    let mut config = config(P, algorithm);
    config.mode = mode;
    config.first_number = 0;
    config.max_streams = 16;
    config.max_records = 32;
    config.offers.push(ethernet_offer(0x34));
    for offer in &mut config.offers {
        offer.min_period = 100_000;
    }
    Endpoint::new(config)
}

fn receive_streams(node: &Endpoint) -> BTreeSet<StreamRef> {
    node.streams().map(|(stream, _)| stream).filter(|stream| stream.side == Side::Receive).collect()
}

/// One message, and what must hold after any.
fn deliver(node: &mut Endpoint, now: u64, from: u16, octets: &[u8], mode: Mode) -> Result<(), TestCaseError> {
    let before = receive_streams(node);
    let parsed = Message::parse(octets, mode);
    node.handle_message(now, from, octets);
    let new: Vec<StreamRef> = receive_streams(node).difference(&before).copied().collect();
    let answers: Vec<Vec<u8>> = std::iter::from_fn(|| node.poll_transmit()).map(|sent| sent.octets).collect();
    match parsed {
        Ok(Message::Open(open)) if open.source == from => {
            prop_assert!(new.len() <= 1, "one OPEN, one stream");
            if check_open(open.protocol, open.attributes).is_err() {
                prop_assert!(new.is_empty(), "opened what should be refused");
                prop_assert!(answers.iter().any(|answer| answer[0] == Command::Refuse.code()));
            }
            for stream in &new {
                prop_assert_eq!(StreamClass::of(stream.stream), StreamClass::Application);
                prop_assert!(answers.iter().any(|answer| answer[0] == Command::Accept.code()));
            }
        }
        _ => prop_assert!(new.is_empty(), "only OPEN opens"),
    }
    if let Err(fault) = parsed {
        if octets.first() == Some(&Command::Status.code()) {
            prop_assert!(answers.is_empty(), "a malformed STATUS was answered: {}", fault);
        }
        prop_assert!(answers.len() <= 1);
    }
    for answer in &answers {
        // REFUSE echoes what it refuses, reserved octets included.
        let echo = answer[0] == Command::Refuse.code();
        let mode = if echo { Mode::NonValidation } else { Mode::Validation };
        prop_assert!(Message::parse(answer, mode).is_ok(), "own messages are valid: {answer:02x?}");
    }
    while node.poll_event().is_some() {}
    Ok(())
}

/// After everything is closed and all time has passed, no StreamID is missing.
fn no_leak(node: &mut Endpoint, mut now: u64) -> Result<u64, TestCaseError> {
    let next = |node: &Endpoint| node.streams().next().map(|(stream, _)| stream);
    while let Some(stream) = next(node) {
        node.close(now, stream).unwrap();
    }
    for _ in 0..100_000 {
        let Some(at) = node.poll_timeout() else { break };
        now = now.max(at);
        node.handle_timeout(now);
        while node.poll_transmit().is_some() {}
        while node.poll_event().is_some() {}
    }
    prop_assert_eq!(node.poll_timeout(), None);
    prop_assert_eq!(node.outstanding(), 0);
    // The longest period is 2^32 us, and an identifier rests for two.
    now += 10_000_000 * MS;
    for sender in SENDERS {
        for number in 0..16u8 {
            let [high, low] = sender.to_be_bytes();
            let open = [3, 1, high, low, 2, 1, 0, 1, 0xF0, 0, 0, 3, 0xAB, 0, 0, number];
            node.handle_message(now, sender, &open);
        }
    }
    Ok(now)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Proves: SMP-3.5.2.5-2, SMP-4.2.8-9, SMP-3.7.1-2, SMP-3.7.2-3, SMP-1.2-3
    #[test]
    fn any_sequence_of_messages(
        steps in proptest::collection::vec(step(), 1..60),
        strict in any::<bool>(),
        algorithm in proptest::sample::select(Algorithm::ALL.to_vec()),
    ) {
        let mode = if strict { Mode::Validation } else { Mode::NonValidation };
        let mut node = node(mode, algorithm);
        let mut now = 0;
        for step in steps {
            match step {
                Step::Message(from, octets) => deliver(&mut node, now, from, &octets, mode)?,
                Step::Wait(time) => {
                    now += time;
                    let mut rounds = 0;
                    while let Some(at) = node.poll_timeout().filter(|&at| at <= now) {
                        rounds += 1;
                        prop_assert!(rounds < 10_000, "a timer that never rests");
                        node.handle_timeout(at);
                        while node.poll_transmit().is_some() {}
                    }
                }
                Step::Create => { node.create_conduit(now, M, protocol()).unwrap(); }
                Step::Open => { node.open(now, M, protocol()).unwrap(); }
                Step::Close(at) => {
                    let stream = node.streams().nth(at).map(|(stream, _)| stream);
                    if let Some(stream) = stream { node.close(now, stream).unwrap(); }
                }
                Step::Ready(at, ready) => {
                    let stream = receive_streams(&node).into_iter().nth(at);
                    if let Some(stream) = stream {
                        node.set_ready(now, stream.peer, stream.stream, ready).unwrap();
                    }
                }
                Step::Send(at) => {
                    let stream = node.streams().map(|(stream, _)| stream).nth(at);
                    if let Some(stream) = stream.filter(|stream| stream.side == Side::Transmit) {
                        let _ = node.send_pdu(now, stream.peer, stream.stream, vec![0; 5000]);
                    }
                }
            }
            while node.poll_transmit().is_some() {}
            while node.poll_event().is_some() {}
            if algorithm == Algorithm::Corrected {
                prop_assert!(node.records(M, protocol()).len() <= 1);
            }
        }
        no_leak(&mut node, now)?;
    }

    /// Whatever happened before, all StreamIDs can be handed out in the end.
    #[test]
    fn no_stream_id_leaks(
        steps in proptest::collection::vec((proptest::sample::select(SENDERS.to_vec()), message()), 1..80),
    ) {
        let mut config = config(P, Algorithm::Corrected);
        config.max_streams = 16;
        config.offers.push(session_management::negotiate::Offer::plain(
            session_management::protocol::Protocol::standard(0x0201).unwrap(),
        ));
        for offer in &mut config.offers {
            offer.min_period = 100_000;
        }
        let mut node = Endpoint::new(config);
        let mut now = 0;
        for (from, octets) in steps {
            now += 10 * MS;
            node.handle_message(now, from, &octets);
            let mut rounds = 0;
            while let Some(at) = node.poll_timeout().filter(|&at| at <= now) {
                rounds += 1;
                prop_assert!(rounds < 10_000, "a timer that never rests");
                node.handle_timeout(at);
                while node.poll_transmit().is_some() {}
            }
        }
        no_leak(&mut node, now)?;
        for sender in SENDERS {
            let open = receive_streams(&node).iter().filter(|stream| stream.peer == sender).count();
            prop_assert_eq!(open, 16);
        }
    }
}
