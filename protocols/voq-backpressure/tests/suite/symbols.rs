//! Golden symbols in both directions, damaged symbols, and laws of the codec over whole symbols.

use lp_serial::control_symbol::{Delimited, Error, View};
use lp_serial::{ControlSymbol, Form};
use proptest::prelude::*;
use voq_backpressure::codec::{self, GROUPS, MAX_PORTS, Message, Stype2, locate};
use voq_backpressure::receiver::{Edge, Receiver, Reception};
use voq_backpressure::symbol::attach;
use voq_backpressure::{ActiveVcs, Ports, QueueMap};

struct Golden {
    id: &'static str,
    fields: [u8; 5],
    command: u8,
    parameter: u16,
    octets: [u8; 6],
    wire: [u8; 8],
    congested: Option<Vec<u16>>,
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    let byte = |index| u8::from_str_radix(&text[2 * index..2 * index + 2], 16).unwrap();
    assert_eq!(text.len(), 2 * N);
    std::array::from_fn(byte)
}

fn golden() -> Vec<Golden> {
    let table = include_str!("golden/symbols.txt");
    let rows = table.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let columns: Vec<&'static str> = line.split_whitespace().collect();
        assert_eq!(columns.len(), 11, "{line}");
        Golden {
            id: columns[0],
            fields: std::array::from_fn(|index| columns[1 + index].parse().unwrap()),
            command: columns[6].parse().unwrap(),
            parameter: u16::from_str_radix(columns[7], 16).unwrap(),
            octets: hex(columns[8]),
            wire: hex(columns[9]),
            congested: match columns[10] {
                "-" => None,
                "none" => Some(Vec::new()),
                ports => Some(ports.split(',').map(|port| port.parse().unwrap()).collect()),
            },
        }
    });
    rows.collect()
}

/// A neighbour of 192 ports, a queue for each.
fn receiver() -> Receiver {
    Receiver::new(QueueMap::one_per_port(MAX_PORTS).unwrap(), ActiveVcs::None, Reception::Honoured)
}

fn no_edge(edge: Edge) {
    panic!("unexpected {edge:?}");
}

fn symbol_of(octets: &[u8]) -> Result<ControlSymbol, Error> {
    ControlSymbol::parse(Form::Long, octets)
}

#[test]
fn golden_table_is_complete() {
    let ids: Vec<_> = golden().iter().map(|row| row.id).collect();
    let expected: Vec<_> = (1..=31).map(|number| format!("VOQ-T{number:02}")).collect();
    assert_eq!(ids, expected);
}

/// Proves: VOQ-3.1-2, VOQ-3.1-4, VOQ-2.1-5, VOQ-1.3-1, VOQ-4.2-2
#[test]
fn golden_symbols_decode() {
    for row in golden() {
        let symbol = symbol_of(&row.octets).unwrap();
        assert_eq!(symbol.fields(), row.fields, "{}", row.id);
        assert_eq!(symbol.stype2(), u16::from(row.command) << 11 | row.parameter, "{}", row.id);
        // Symbol bits 21-34, counted from the most significant bit of 48.
        let bits = row.octets.iter().fold(0u64, |bits, &octet| bits << 8 | u64::from(octet));
        assert_eq!(symbol.stype2(), (bits >> (47 - 34) & 0x3FFF) as u16, "{}", row.id);

        let delimited = Delimited::parse(Form::Long, &row.wire).unwrap();
        assert_eq!(delimited.symbol, symbol, "{}", row.id);
        assert!(delimited.delimiter_agrees(false), "{}", row.id);

        let parsed = Stype2::parse(symbol.stype2());
        match (row.congested, row.command) {
            (Some(ports), _) => {
                let Ok(Stype2::Backpressure(message)) = parsed else { panic!("{}: {parsed:?}", row.id) };
                assert_eq!(message.congested().collect::<Vec<_>>(), ports, "{}", row.id);
            }
            (None, 0) => assert_eq!(parsed, Ok(Stype2::Nop), "{}", row.id),
            (None, command) => {
                assert_eq!(parsed, Err(codec::Error::ReservedCommand { command }), "{}", row.id);
            }
        }
    }
}

/// Proves: VOQ-3.1-2, VOQ-3.1-3, VOQ-3.1-8, VOQ-2.1-5
#[test]
fn golden_symbols_encode() {
    for row in golden() {
        let plain = ControlSymbol::from_fields(Form::Long, row.fields, 0).unwrap();
        let symbol = match &row.congested {
            Some(ports) => {
                let group = (row.parameter & 0x1F) * 6;
                let message = Message::about(group, &ports.iter().copied().collect()).unwrap();
                attach(plain, Stype2::Backpressure(message)).unwrap()
            }
            None if row.command == 0 && row.parameter == 0 => attach(plain, Stype2::Nop).unwrap(),
            // What this revision never sends has to be put together by hand.
            None => plain.with_stype2(u16::from(row.command) << 11 | row.parameter).unwrap(),
        };
        let mut octets = [0xA5; 6];
        assert_eq!(symbol.emit(&mut octets), Ok(6));
        assert_eq!(octets, row.octets, "{}", row.id);
        let mut wire = [0xA5; 8];
        assert_eq!(symbol.emit_delimited(false, &mut wire), Ok(8));
        assert_eq!(wire, row.wire, "{}", row.id);
    }
}

/// Proves: VOQ-3.1-4, VOQ-3.1-6, VOQ-3.1-7, VOQ-3.2-5
#[test]
fn golden_symbols_have_the_effect_they_describe() {
    for row in golden() {
        let mut receiver = receiver();
        let mut stopped = Vec::new();
        let symbol = receiver
            .receive_delimited(&row.wire, false, |edge| {
                assert!(edge.stopped);
                stopped.push(edge.queue);
            })
            .unwrap();
        // Whatever stype2 says, the other two functions reach the link layer.
        assert_eq!(symbol.fields(), row.fields, "{}", row.id);
        assert_eq!(stopped, row.congested.clone().unwrap_or_default(), "{}", row.id);
        let counters = receiver.counters();
        assert_eq!(counters.rx_applied, u64::from(row.congested.is_some()), "{}", row.id);
        assert_eq!(counters.rx_reserved, u64::from(row.command > 1), "{}", row.id);
        assert_eq!((counters.crc_errors, counters.framing_errors), (0, 0), "{}", row.id);
    }
}

/// Proves: VOQ-3.1-8, VOQ-3.1-9
#[test]
fn golden_damaged_symbols_change_nothing() {
    // VOQ-N01, N02, N04, N06: last CRC bit, status bit, complemented CRC, two bits.
    for octets in ["803fc1041863", "803fc1841862", "803fc104079d", "90bfc1041862"] {
        let mut receiver = receiver();
        let result = receiver.receive_octets(&hex::<6>(octets), no_edge);
        assert!(matches!(result, Err(Error::Crc { .. })), "{octets}");
        assert!((0..MAX_PORTS).all(|queue| receiver.eligible(queue)));
        assert_eq!(receiver.counters().crc_errors, 1);
    }
    // VOQ-N03: five octets.
    let mut receiver = receiver();
    let truncated = receiver.receive_octets(&hex::<5>("803fc10418"), no_edge);
    assert_eq!(truncated, Err(Error::Length { expected: 6, found: 5 }));
    // VOQ-N05: SC before, PD behind.
    let mismatch = receiver.receive_delimited(&hex::<8>("1c803fc10418627c"), false, no_edge);
    assert_eq!(mismatch, Err(Error::EndDelimiter { expected: 0x1C, found: 0x7C }));
    assert_eq!(receiver.counters().framing_errors, 2);
    assert!((0..MAX_PORTS).all(|queue| receiver.eligible(queue)));
}

#[test]
fn delimiter_that_does_not_suit_is_only_counted() {
    // VOQ-T03 in PD although it delimits nothing.
    let mut receiver = receiver();
    let mut edges = 0;
    receiver.receive_delimited(&hex::<8>("7c803fc10418627c"), false, |_| edges += 1).unwrap();
    assert_eq!((edges, receiver.counters().delimiter_warnings), (1, 1));
    assert!(!receiver.eligible(0));
}

/// Proves: VOQ-2.1-9
#[test]
fn a_message_changes_the_stype2_bits_and_the_crc_alone() {
    let stype2_and_crc = (1u64 << 27) - 1;
    for row in golden() {
        let plain = ControlSymbol::from_fields(Form::Long, row.fields, 0).unwrap();
        for port in 0..MAX_PORTS {
            let message = Message::about(port, &Ports::first(MAX_PORTS)).unwrap();
            let carrying = attach(plain, Stype2::Backpressure(message)).unwrap();
            assert_eq!(carrying.to_bits() & !stype2_and_crc, plain.to_bits() & !stype2_and_crc);
            assert_eq!(carrying.fields(), plain.fields());
        }
    }
}

/// Proves: VOQ-2.1-2, VOQ-2.1-3, VOQ-2.1-4
#[test]
fn every_port_through_a_whole_symbol() {
    for port in 0..MAX_PORTS {
        let mut receiver = receiver();
        for congested in [true, false] {
            let set = if congested { Ports::from_iter([port]) } else { Ports::EMPTY };
            let message = Message::about(port, &set).unwrap();
            let plain = ControlSymbol::from_fields(Form::Long, [4, 1, 62, 7, 0], 0).unwrap();
            let mut wire = [0; 8];
            attach(plain, Stype2::Backpressure(message)).unwrap().emit_delimited(false, &mut wire).unwrap();
            let mut edges = Vec::new();
            receiver.receive_delimited(&wire, false, |edge| edges.push((edge.queue, edge.stopped))).unwrap();
            assert_eq!(edges, [(port, congested)]);
        }
    }
}

/// Proves: VOQ-2.1-7
#[test]
fn every_parameter_of_a_message_is_applied() {
    for parameter in 0..2048u16 {
        let mut receiver = receiver();
        let symbol = ControlSymbol::from_fields(Form::Long, [4, 0, 31, 7, 0], 0x0800 | parameter).unwrap();
        let mut stopped = Vec::new();
        receiver.receive(&symbol, |edge| stopped.push(edge.queue));
        let base = 6 * (parameter % GROUPS);
        let expected: Vec<u16> =
            (0..6).filter(|offset| parameter >> 5 >> offset & 1 == 1).map(|offset| base + offset).collect();
        assert_eq!(stopped, expected, "parameter {parameter:#x}");
    }
}

/// Proves: VOQ-3.1-8
#[test]
fn every_one_and_two_bit_error_is_detected() {
    for row in golden() {
        let good = row.octets.iter().fold(0u64, |bits, &octet| bits << 8 | u64::from(octet));
        for first in 0..48 {
            for second in first..48 {
                // Equal positions: a single error.
                let damaged = good ^ (1 << first | 1 << second);
                let mut receiver = receiver();
                let result = receiver.receive_octets(&damaged.to_be_bytes()[2..], no_edge);
                assert!(matches!(result, Err(Error::Crc { .. })), "{} bits {first} {second}", row.id);
            }
        }
    }
}

proptest! {
    /// Proves: VOQ-3.1-1
    #[test]
    fn encoding_a_decoded_symbol_gives_it_back(info in 0u64..1 << 35) {
        let bits = info << 13 | u64::from(lp_serial::crc::bitwise::crc13(info));
        let octets = &bits.to_be_bytes()[2..];
        let symbol = symbol_of(octets).unwrap();
        let mut out = [0xA5; 6];
        symbol.emit(&mut out).unwrap();
        prop_assert_eq!(&out[..], octets);
        // Likewise through the meaning of stype2, wherever it has one of this revision.
        match Stype2::parse(symbol.stype2()) {
            Ok(Stype2::Nop) => {}
            Ok(message) => prop_assert_eq!(attach(symbol, message), Ok(symbol)),
            Err(error) => {
                let reserved = matches!(error, codec::Error::ReservedCommand { .. });
                prop_assert!(reserved);
            }
        }
    }

    /// Proves: VOQ-3.1-9
    #[test]
    fn any_octets_are_taken_without_panic(
        octets in proptest::collection::vec(any::<u8>(), 0..12), linked: bool, busy: bool,
        vcs in proptest::sample::select(&ActiveVcs::ALL[..]), ports in 1u16..=192,
    ) {
        let mut receiver = Receiver::new(QueueMap::single(ports).unwrap(), vcs, Reception::Honoured);
        receiver.set_linked(linked);
        let result = receiver.receive_octets(&octets, |_| {});
        if octets.len() != 6 {
            prop_assert_eq!(result, Err(Error::Length { expected: 6, found: octets.len() }));
        }
        let _ = receiver.receive_delimited(&octets, busy, |_| {});
        // Random octets rarely have a good CRC: give them one.
        let info = octets.iter().fold(0u64, |bits, &octet| bits << 8 | u64::from(octet)) & ((1 << 35) - 1);
        let good = View::from_bits(Form::Long, info << 13 | u64::from(lp_serial::crc::crc13(info)));
        receiver.receive(&ControlSymbol::from_view(good).unwrap(), |_| {});
    }

    /// Proves: VOQ-2.1-3
    #[test]
    fn ports_that_cannot_be_addressed_are_an_error_value(port in MAX_PORTS..) {
        prop_assert_eq!(locate(port), Err(codec::Error::Port { found: port }));
        prop_assert_eq!(Message::about(port, &Ports::EMPTY), Err(codec::Error::Port { found: port }));
    }
}
