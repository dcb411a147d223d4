//! Links in closed form: what a packet costs, and what buffers, ackIDs and columns allow.
use crate::common::*;
use models::config::*;
use models::lp_serial::cost::{AddressSize, IdSize, LaneRate, PacketClass, SymbolSize, Width, packet_bytes};
use models::{Cause, Progress, RunOptions, Simulation};
use sim_core::{Duration, Time};
use std::sync::Arc;

/// Two endpoints and a link.
fn pair(link: LinkConfig, size: PacketSize) -> Net {
    let mut net = Net::new(vec![], &[], &[]);
    for (n, id) in [(0u32, 0u32), (1, 1)] {
        net.config.devices.push(DeviceConfig {
            path: format!("e{n:03}"),
            ports: vec![port()],
            model: DeviceModel::Endpoint(EndpointConfig {
                ids: vec![id],
                staging: StagingConfig::None,
                next_hop: Default::default(),
            }),
        });
    }
    net.endpoints = 2;
    net.config.id_space = 2;
    net.config.owners = vec![0, 1];
    net.config.links = vec![link];
    net.saturated(0, 0, 1).sizes = Sizes::Fixed(size);
    net
}

fn link(rate: LaneRate, width: Width, symbol: SymbolSize, propagation: u64) -> LinkConfig {
    let character = rate.character_ps(width);
    LinkConfig {
        a: (0, 0),
        b: (1, 0),
        char_ps: (character.numerator, character.denominator),
        lanes: width.lanes() as u8,
        symbol_chars: symbol.delimiter_chars() as u8,
        long_symbols: symbol == SymbolSize::Long,
        link_crc: symbol == SymbolSize::Idle3,
        ack_window: symbol.ack_id_window(),
        propagation: Duration(propagation),
    }
}

/// What a link adds is what lp-serial says of its kind, for every length.
#[test]
fn a_link_adds_what_its_kind_adds() {
    for symbol in [SymbolSize::Short, SymbolSize::Long, SymbolSize::Idle3] {
        let link = link(LaneRate::Gbaud6_25, Width::X4, symbol, 5_000);
        for octets in 0..=300 {
            assert_eq!(
                link.packet_octets(octets),
                symbol.packet_bytes_on_link(octets),
                "{symbol:?} {octets}"
            );
        }
    }
}

/// Goodput of a saturated link is payload / (packet + delimiter), to the octet: packet k has arrived exactly
/// when k times both have been sent at the exact rate of the link.
#[test]
fn goodput_is_payload_by_packet_and_delimiter() {
    // Payload, and octets of the packet with 8-bit and 16-bit ids (header, CRCs, padding).
    let table = [(8u32, 20, 24), (16, 28, 32), (32, 44, 48), (64, 76, 80), (128, 144, 144), (256, 272, 272)];
    for (payload, dev8, dev16) in table {
        for (ids, octets) in [(IdSize::Dev8, dev8), (IdSize::Dev16, dev16)] {
            let bytes = packet_bytes(PacketClass::Write, ids, payload, AddressSize::Bits34).unwrap();
            assert_eq!(bytes, octets);
            let size = PacketSize { payload: payload as u16, wire: bytes as u16 };
            for (rate, width, symbol) in [
                (LaneRate::Gbaud1_25, Width::X1, SymbolSize::Short),
                (LaneRate::Gbaud3_125, Width::X4, SymbolSize::Short),
                (LaneRate::Gbaud6_25, Width::X4, SymbolSize::Long),
                (LaneRate::Gbaud5, Width::X16, SymbolSize::Long),
                (LaneRate::Gbaud10_3125, Width::X2, SymbolSize::Idle3),
            ] {
                let link = link(rate, width, symbol, 5_000);
                let (num, den) = link.char_ps;
                let mut net = pair(link, size);
                // Short packets need many buffers for one round trip.
                net.buffers(61);
                let delimiter = u64::from(symbol.delimiter_chars());
                let count = 1_000u64;
                let packet = u64::from(symbol.packet_bytes_on_link(bytes)) + delimiter;
                let until = count * packet * num / den + 5_000;
                let (log, _) = net.run(until);
                assert_eq!(log.deliveries.len() as u64, count, "{rate:?} {width:?} {symbol:?} {payload}");
                for (k, d) in log.deliveries.iter().enumerate() {
                    assert_eq!(d.at.0 - 5_000, (k as u64 + 1) * packet * num / den, "packet {k}");
                }
                // Goodput by capacity = payload by packet with delimiter, as a fraction of integers.
                let goodput: u64 = log.deliveries.iter().map(|d| u64::from(d.payload)).sum();
                let capacity = count * packet;
                assert_eq!(goodput * packet, u64::from(payload) * capacity);
            }
        }
    }
}

/// What IDLE3 adds to a packet stays on its link: of 20 octets 24 are there, of 272 280, and behind a switch
/// they are 20 and 272 again. Each link takes its own time, whichever comes first, stored or cut through.
#[test]
fn what_a_link_adds_does_not_leave_it() {
    let slow = |width| link(LaneRate::Gbaud6_25, width, SymbolSize::Long, 5_000);
    let fast = |width| link(LaneRate::Gbaud10_3125, width, SymbolSize::Idle3, 5_000);
    // Octets with a symbol, times 400 or 200 ps, or 6 700/33 or 13 400/33 ps (8 x 67/64 bits of 10.3125
    // Gbaud).
    let table = [
        ([fast(Width::X4), slow(Width::X4)], [(8, 20, 6_496, 11_200), (256, 272, 58_472, 112_000)]),
        ([slow(Width::X8), fast(Width::X2)], [(8, 20, 5_600, 12_993), (256, 272, 56_000, 116_945)]),
        ([fast(Width::X4), fast(Width::X2)], [(8, 20, 6_496, 12_993), (256, 272, 58_472, 116_945)]),
        ([slow(Width::X8), slow(Width::X4)], [(8, 20, 5_600, 11_200), (256, 272, 56_000, 112_000)]),
    ];
    // Three octets and a symbol.
    let heads = |num: u64, den: u64| 11 * num / den;
    for (links, packets) in table {
        for (payload, wire, first, second) in packets {
            for cuts in [false, true] {
                let mut model = switch(2);
                if cuts {
                    model.forwarding = Forwarding::CutThrough { header: 3 };
                }
                let mut net = single(2, model);
                for (own, kind) in net.config.links.iter_mut().zip(&links) {
                    *own = LinkConfig { a: own.a, b: own.b, ..kind.clone() };
                }
                net.burst(0, 0, 1, 0, 1);
                net.config.sources[0].sizes = Sizes::Fixed(PacketSize { payload, wire });
                let (num, den) = links[0].char_ps;
                let before = if cuts { heads(num, den) } else { first };
                let until = before + 5_000 + 100_000 + second + 5_000;
                let options = RunOptions { wire_check: true, ..RunOptions::default() };
                let mut sim = Simulation::new(Arc::new(net.config), options, Log::default());
                while sim.run(Time(until), u64::MAX) == Progress::Running {}
                let (log, outcome) = sim.finish();
                assert_eq!(log.deliveries[0].at.0, until, "{payload} octets, cuts: {cuts}");
                assert_eq!(outcome.wire_checked.packets, 2);
                let sent = [(0, 0), (2, 1)].map(|(d, p)| totals(&outcome, d, p).packet_ps);
                assert_eq!(sent, [first, second], "{payload} octets, cuts: {cuts}");
            }
        }
    }
}

/// Start of packet k when `window` packets may be on their way and come back after `round_trip`.
fn windowed(k: u64, window: u64, packet: u64, round_trip: u64) -> u64 {
    (k / window) * round_trip.max(window * packet) + (k % window) * packet
}

/// On a long cable a priority may have (buffers - watermark + 1) packets on their way; one round trip is the
/// packet, two propagations and the symbol of the acknowledgement. The start of every packet is known to the
/// picosecond.
#[test]
fn throughput_of_a_long_cable_is_buffers_by_round_trip() {
    for buffers in [5u8, 8, 16, 33] {
        for priority in 0..4u8 {
            for propagation in [2_000_000u64, 5_000_000] {
                let mut net = pair(link(LaneRate::Gbaud6_25, Width::X4, SymbolSize::Long, propagation), SIZE);
                net.buffers(buffers);
                net.config.sources[0].priority = priority;
                let least = [4, 3, 2, 1][priority as usize];
                let window = u64::from(buffers) - least + 1;
                let round_trip = T + T_CS + 2 * propagation;
                let (log, _) = net.run(20 * round_trip);
                assert!(round_trip > window * T, "the cable is long");
                assert!(log.deliveries.len() as u64 >= 18 * window);
                for (k, d) in log.deliveries.iter().enumerate() {
                    let start = windowed(k as u64, window, T, round_trip);
                    assert_eq!(d.at.0, start + T + propagation, "{buffers} buffers, packet {k}");
                }
            }
        }
    }
}

/// The ackID window limits in the same way: 31 packets with short symbols, 63 with long ones.
#[test]
fn the_ack_id_window_limits_packets_on_their_way() {
    for (symbol, window) in [(SymbolSize::Short, 31u64), (SymbolSize::Long, 63)] {
        let propagation = 10_000_000;
        let size = PacketSize { payload: 8, wire: 20 };
        let mut net = pair(link(LaneRate::Gbaud6_25, Width::X4, symbol, propagation), size);
        // More buffers than any buf_status could tell, so that only the window limits.
        net.buffers(100);
        let symbol_ps = u64::from(symbol.delimiter_chars()) * CHAR_PS;
        let packet = 20 * CHAR_PS + symbol_ps;
        let round_trip = packet + symbol_ps + 2 * propagation;
        let (log, _) = net.run(10 * round_trip);
        assert!(log.deliveries.len() as u64 >= 8 * window);
        for (k, d) in log.deliveries.iter().enumerate() {
            let start = windowed(k as u64, window, packet, round_trip);
            assert_eq!(d.at.0, start + packet + propagation, "{symbol:?}, packet {k}");
        }
    }
}

/// A burst of a wide link ends on a column: a packet that follows after a gap starts at the next column after
/// the closing delimiter, one that follows at once needs no padding.
#[test]
fn the_tail_of_a_burst_on_a_wide_link_is_padded_to_a_column() {
    for width in Width::ALL {
        for payload in (8..=256u32).step_by(8) {
            let bytes = packet_bytes(PacketClass::Write, IdSize::Dev8, payload, AddressSize::Bits34).unwrap();
            let size = PacketSize { payload: payload as u16, wire: bytes as u16 };
            let link = link(LaneRate::Gbaud6_25, width, SymbolSize::Long, 20_000);
            let character = link.char_ps.0;
            assert_eq!(link.char_ps.1, 1);
            let length = (u64::from(bytes) + 8) * character;
            for gap in [0, 1, 8 * character] {
                let mut net = pair(link.clone(), size);
                net.config.sources.clear();
                net.config.flows.clear();
                net.burst(0, 0, 1, 0, 2);
                net.burst(0, 0, 1, 2 * length + gap, 1);
                net.config.sources.iter_mut().for_each(|s| s.sizes = Sizes::Fixed(size));
                let (log, _) = net.run(10 * length + 1_000_000);
                let starts: Vec<u64> = log.deliveries.iter().map(|d| d.at.0 - 20_000 - length).collect();
                assert_eq!(starts[..2], [0, length], "back to back");
                let characters = 2 * (u64::from(bytes) + 8);
                let lanes = if width.lanes() > 4 { u64::from(width.lanes()) } else { 1 };
                // The column grid begins with the last packet, which is what the model remembers.
                let tail = (u64::from(bytes) + 8 + 8).next_multiple_of(lanes);
                let idle = (u64::from(bytes) + 8 + tail) * character;
                let law = if gap == 0 { characters * character } else { idle.max(2 * length + gap) };
                assert_eq!(starts[2], law, "{width:?}, payload {payload}, gap {gap}");
            }
        }
    }
}

/// An empty path in closed form. Store and forward: every link takes the whole packet. Cut-through: every
/// link but the last takes the header with its delimiter. Propagation on every link, the pipeline in every
/// switch.
#[test]
fn latency_of_an_empty_path() {
    for switches in 1..=5u64 {
        for (forwarding, header) in [
            (Forwarding::StoreAndForward, None),
            (Forwarding::CutThrough { header: 4 }, Some(4u64)),
            (Forwarding::CutThrough { header: 12 }, Some(12)),
        ] {
            let n = switches as usize;
            let models = vec![SwitchConfig { forwarding, ..switch(0) }; n];
            let trunks: Vec<(usize, usize)> = (1..n).map(|s| (s - 1, s)).collect();
            let mut net = Net::new(models, &[0, n - 1], &trunks);
            // One at a time.
            net.constant(0, 0, 1, 2, 0);
            let (log, _) = net.run(5_000 * T);
            let stored = header.map_or(T, |octets| (octets + 8) * CHAR_PS);
            let law = switches * (stored + 100_000) + T + (switches + 1) * 20_000;
            assert!(log.deliveries.len() > 90);
            for d in &log.deliveries {
                assert_eq!(d.latency(), law, "{switches} switches, {forwarding:?}");
                assert_eq!(d.parts[Cause::Serialization], switches * stored + T);
            }
        }
    }
    // A faster output would run dry: the packet is stored there whatever the switch can do.
    let model = SwitchConfig { forwarding: Forwarding::CutThrough { header: 4 }, ..switch(2) };
    let mut net = single(2, model);
    net.slow(0, 2);
    net.constant(0, 0, 1, 2, 0);
    let (log, _) = net.run(1_000 * T);
    assert!(log.deliveries.iter().all(|d| d.latency() == 2 * T + T + 100_000 + 2 * 20_000));
    // A slower output lets it through.
    let model = SwitchConfig { forwarding: Forwarding::CutThrough { header: 4 }, ..switch(2) };
    let mut net = single(2, model);
    net.slow(1, 2);
    net.constant(0, 0, 1, 2, 0);
    let (log, _) = net.run(1_000 * T);
    assert!(log.deliveries.iter().all(|d| d.latency() == 12 * CHAR_PS + 2 * T + 100_000 + 2 * 20_000));
    assert!(log.deliveries.iter().all(|d| d.at > Time::ZERO));
}

/// Behind a switch a buffer comes back after the packet, the propagation, the pipeline, the packet again
/// while the next link takes it out of its buffer (not where there are buffers behind the inputs), a symbol,
/// and the propagation. A priority may have (buffers - watermark + 1) packets in that loop; where that is
/// enough to fill it the link never idles. The start of every packet is known to the picosecond.
#[test]
fn throughput_behind_a_switch_is_buffers_by_loop() {
    let (mut limited, mut full) = (0, 0);
    let buffering = [Buffering::Direct, Buffering::Crosspoint { depth: 2 }, Buffering::Output { packets: 2 }];
    for (buffering, held) in buffering.into_iter().zip([true, false, false]) {
        for buffers in [5u8, 6, 8, 12, 16, 24, 40] {
            for priority in 0..4u8 {
                for (character, lanes) in [(1_600u64, 1), (CHAR_PS, 4), (CHAR_PS / 4, 16)] {
                    for propagation in [20_000u64, 70_000, 250_000, 530_000, 2_000_000] {
                        let packet = 284 * character;
                        let symbol = 8 * character;
                        let mut net = single(2, SwitchConfig { buffering, ..switch(2) });
                        for link in &mut net.config.links {
                            (link.char_ps.0, link.lanes) = (character, lanes);
                        }
                        net.config.links[0].propagation = Duration(propagation);
                        net.buffers(buffers);
                        net.saturated(0, priority, 1);
                        let least = [4, 3, 2, 1][priority as usize];
                        let window = u64::from(buffers) - least + 1;
                        let there = packet + propagation + 100_000;
                        let round = there + if held { packet } else { 0 } + symbol + propagation;
                        if round > window * packet && round < window * packet + 2 * symbol {
                            // The closing delimiter is still on the wire when the buffer comes back.
                            continue;
                        }
                        let (log, _) = net.run(12 * round.max(window * packet));
                        assert!(log.deliveries.len() as u64 >= 10 * window);
                        for (k, d) in log.deliveries.iter().enumerate() {
                            let start = windowed(k as u64, window, packet, round);
                            let law = start + there + packet + 20_000;
                            let told =
                                format!("{buffering:?}, {buffers}, {priority}, {lanes}x {propagation}");
                            assert_eq!(d.at.0, law, "{told}: packet {k}");
                        }
                        limited += u32::from(round > window * packet);
                        full += u32::from(round <= window * packet);
                    }
                }
            }
        }
    }
    assert!(limited > 300 && full > 300, "{limited} {full}");
}
