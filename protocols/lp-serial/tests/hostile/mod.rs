//! A port whose partner says anything at all, driven by a string of bytes. Also the body of a fuzz target.

use lp_serial::control_symbol::{Cause, ControlSymbol, Form};
use lp_serial::link::{
    Channels, Config, FlowControl, LinkPort, Opportunity, PacketMeta, Place, Reception, Starting, Traffic,
};

/// Reads numbers off the bytes; zeros after their end.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }
}

fn any_config(bytes: &mut Bytes) -> Config {
    let bits = bytes.next();
    let form = if bits & 1 == 0 { Form::Short } else { Form::Long };
    let mut config = Config {
        flow: if bits & 2 == 0 { FlowControl::Receiver } else { FlowControl::Transmitter },
        ack_id_in_pna: bits & 4 != 0,
        cancel: bits & 8 != 0,
        crf: bits & 16 != 0,
        channels: [Channels::None, Channels::One, Channels::Four, Channels::Eight]
            [usize::from(bits >> 5 & 3)],
        response_attempts: (bits & 128 != 0).then_some(3),
        link_timeout: 50,
        status_period: Some(10),
        vc_refresh_period: Some(20),
        ..Config::new(form, 6)
    };
    let bits = bytes.next();
    if bits & 1 != 0 {
        config.vcs[7].traffic = Traffic::Continuous;
    }
    if bits & 2 != 0 {
        config.vcs.iter_mut().for_each(|vc| vc.traffic = Traffic::Continuous);
    }
    config.vc0_share = (bits & 4 != 0).then_some(1);
    config
}

fn any_meta(bits: u8) -> PacketMeta {
    PacketMeta { vc: bits & 1 != 0, crf: bits & 2 != 0, prio: bits >> 2 & 3, octets: u16::from(bits) }
}

/// Carries out the operations that the bytes name.
///
/// # Panics
/// If the port breaks its contract.
pub fn run(bytes: &[u8]) {
    let mut bytes = Bytes(bytes.iter());
    let config = any_config(&mut bytes);
    let form = config.form;
    let hold = usize::from(config.hold);
    let mut port: LinkPort<u8> = LinkPort::new(config).expect("a valid configuration");
    let mut place = Place::Idle;
    let mut holding = Vec::new();
    let mut now = 0u64;
    while bytes.0.len() > 0 {
        match bytes.next() % 12 {
            0 => port.port_initialized(),
            1 if bytes.next() == 0 => {
                port.port_lost(now);
                place = Place::Idle;
            }
            1..=3 => {
                let max = form.parameter_max();
                let fields = [
                    bytes.next() & 7,
                    bytes.next() & max,
                    bytes.next() & max,
                    bytes.next() & 7,
                    bytes.next() & 7,
                ];
                let symbol = ControlSymbol::from_fields(form, fields, 0).expect("fields fit");
                port.handle_symbol(now, symbol);
            }
            // What a partner would say, so that links come up and get somewhere.
            4 => {
                let status = ControlSymbol::from_fields(form, [4, 0, bytes.next() & 15, 7, 0], 0);
                port.handle_symbol(now, status.expect("fields fit"));
            }
            5 | 6 => {
                let bits = bytes.next();
                let ack_id = if bits & 64 == 0 { port.expected_ack_id() } else { bytes.next() };
                let checked = if bits & 128 == 0 { Ok(()) } else { Err(Cause::PacketCrc) };
                if let Reception::Accepted { channel } = port.handle_packet(any_meta(bits), ack_id, checked) {
                    holding.push(channel);
                }
            }
            7 => port.handle_error(Cause::from_code(bytes.next())),
            8 => {
                now += u64::from(bytes.next());
                port.handle_timeout(now);
                assert!(port.poll_timeout().is_none_or(|deadline| deadline > now), "a deadline in the past");
            }
            9 => {
                let _ = port.submit(bytes.next(), any_meta(bytes.next()));
            }
            10 => {
                if let Some(channel) = holding.pop() {
                    port.release(channel);
                }
            }
            _ => {
                let bits = bytes.next();
                if place == Place::Inside && bits & 3 == 0 {
                    port.stomp(bits & 4 != 0);
                }
                let at = match place {
                    Place::Inside if port.wants_cancel() || bits & 8 == 0 => Place::Inside,
                    Place::Inside => Place::End,
                    other => other,
                };
                let cut = at == Place::Inside && port.wants_cancel();
                let starting = match bits >> 4 & 3 {
                    0 => Starting::Not,
                    1 => Starting::Now,
                    _ => Starting::WithLast,
                };
                let left = port.poll_transmit(now, Opportunity { place: at, starting, holding: false });
                assert!(
                    at == Place::Idle || at == Place::Inside || left.is_some(),
                    "a packet without an end"
                );
                place = match left {
                    Some(left) if left.packet.is_some() => Place::Inside,
                    _ if at == Place::Inside && !cut => Place::Inside,
                    _ => Place::Idle,
                };
            }
        }
        while port.poll_event().is_some() {}
        assert!(port.outstanding() <= hold, "more outstanding than held");
        for channel in 0..=port.config().channels.count() {
            let buffers = port.buffers(channel);
            let held = holding.iter().filter(|&&other| other == channel).count();
            assert_eq!(usize::from(buffers.occupied()), held, "buffers of channel {channel}");
        }
    }
}
