//! Long random runs of two ports: any interleaving, any damage and loss that ends, any mix of modes. When the
//! faults are over everything arrives, once, in order.

mod common;

use common::{Fault, Item, Pair, config, meta, with_vcs};
use lp_serial::control_symbol::Form;
use lp_serial::link::{Channels, Config, FlowControl, PacketMeta, Traffic, VcConfig};
use proptest::prelude::*;

/// Packets sent by each side.
const PACKETS: u8 = 60;

fn any_config() -> impl Strategy<Value = Config> {
    let single = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 5u16..9, any::<bool>());
    single.prop_map(|(long, receiver, ack_id_in_pna, cancel, buffers, crf)| Config {
        form: if long { Form::Long } else { Form::Short },
        flow: if receiver { FlowControl::Receiver } else { FlowControl::Transmitter },
        ack_id_in_pna,
        cancel,
        buffers,
        crf,
        vc_refresh_period: Some(1),
        ..config()
    })
}

fn any_channels() -> impl Strategy<Value = (Channels, [VcConfig; 8])> {
    let channels = prop_oneof![
        2 => Just(Channels::None),
        1 => Just(Channels::One),
        1 => Just(Channels::Two),
        1 => Just(Channels::Eight)
    ];
    (channels, 1u16..4).prop_map(|(channels, buffers)| {
        (channels, [VcConfig { traffic: Traffic::Reliable, buffers, share: buffers }; 8])
    })
}

fn any_meta() -> impl Strategy<Value = PacketMeta> {
    (any::<bool>(), 0u8..4, any::<bool>()).prop_map(|(vc, prio, crf)| PacketMeta { vc, crf, ..meta(prio) })
}

/// What to do in a step: which side, what, which fault.
type Choice = (bool, u8, u8);

fn choose(pair: &mut Pair, (second, what, fault): Choice) {
    let side = usize::from(second);
    match what % 8 {
        0..=2 => {
            if pair.lines[side].len() < 8 {
                pair.send(side, 0);
            }
        }
        3..=5 => {
            let is_symbol = matches!(pair.lines[1 - side].front(), Some(Item::Symbol(_)));
            let fault = match fault {
                0..=19 => Fault::Damage,
                20..=29 if is_symbol => Fault::Lose,
                _ => Fault::None,
            };
            pair.deliver(side, 0, fault);
        }
        6 => {
            pair.sides[side].consume();
        }
        _ => {
            if pair.is_quiet() {
                pair.sides[side].port.handle_timeout(u64::MAX);
                pair.sides[side].drain();
            } else {
                pair.inside(side, 0);
            }
        }
    }
}

/// The order class of a packet on a link set up like this.
fn class(config: &Config, meta: PacketMeta) -> (u8, u8, bool) {
    if meta.vc && config.channels != Channels::None {
        (config.channels.channel_of(meta.prio << 1 | u8::from(meta.crf)), 0, false)
    } else {
        (0, meta.prio, meta.crf && config.crf)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_500) })]

    /// Shows: R1.3p6s3.4.2c0869, R1.3p6s5.4.3c0560, R1.3p6s5.9c0559, R2.2p6s5.13.2c0569,
    /// R2.2p6s5.13.2c0571, R2.2p6s5.13.2c0572, R2.2p6s5.13.2c0573, R2.2p6s5.4.1r0001, R2.2p6s5.4.1c0390,
    /// R2.2p6s5.4.1c0391, R2.2p6s5.4.1r0002, R2.2p6s5.4.3r0001, R2.2p6s5.4.3c0399, R2.2p6s5.6.3c0452
    #[test]
    fn everything_arrives_once_and_in_order_when_faults_end(
        first in any_config(),
        (channels, vcs) in any_channels(),
        second_receiver in any::<bool>(),
        metas in proptest::collection::vec(any_meta(), 2 * usize::from(PACKETS)),
        choices in proptest::collection::vec((any::<bool>(), any::<u8>(), any::<u8>()), 0..4_000),
    ) {
        let first = Config { channels, vcs, ..first };
        let mut second = first.clone();
        if second_receiver {
            second.flow = FlowControl::Receiver;
        }
        let mut pair = Pair::up(first.clone(), second);
        let mut submitted = [0u8; 2];
        let meta_of = |side: usize, id: u8| metas[usize::from(id) * 2 + side];
        let submit = |pair: &mut Pair, submitted: &mut [u8; 2], side: usize| {
            let id = submitted[side];
            if id < PACKETS && pair.sides[side].port.submit(id, meta_of(side, id)).is_ok() {
                submitted[side] += 1;
            }
        };
        for (n, &choice) in choices.iter().enumerate() {
            submit(&mut pair, &mut submitted, n % 2);
            choose(&mut pair, choice);
            for side in 0..2 {
                let sender = &pair.sides[side].port;
                if sender.flow() == FlowControl::Transmitter {
                    for channel in 0..=channels.count() {
                        let free = pair.sides[1 - side].port.buffers(channel).free();
                        prop_assert!(sender.credit(channel).free() <= free, "credit exceeds buffers");
                    }
                }
            }
        }
        while submitted != [PACKETS; 2] {
            submit(&mut pair, &mut submitted, 0);
            submit(&mut pair, &mut submitted, 1);
            prop_assert!(pair.settle(20), "recovery ends");
        }
        prop_assert!(pair.settle(20), "recovery ends");
        for side in 0..2 {
            let arrived = &pair.sides[1 - side].delivered;
            let mut sorted = arrived.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..PACKETS).collect::<Vec<_>>(), "all, once");
            for (n, &id) in arrived.iter().enumerate() {
                let class_of = |id: u8| class(&first, meta_of(side, id));
                let behind = |&other: &u8| other > id && class_of(other) == class_of(id);
                prop_assert!(!arrived[..n].iter().any(behind), "in order");
            }
            let report = &pair.sides[side].report;
            prop_assert_eq!(report.acknowledged.len(), usize::from(PACKETS));
            prop_assert!(!report.fatal);
            if pair.sides[side].port.flow() == FlowControl::Transmitter {
                let refused = pair.sides[1 - side].report.input_retries;
                prop_assert_eq!(refused, 0, "what has credit is never retried");
            }
        }
    }

    /// Continuous traffic may be lost, but not doubled or reordered, and reliable traffic beside it is whole.
    ///
    /// Shows: R2.2p6s5.4.2r0001, R2.2p6s5.4.2c0392, R2.2p6s5.4.2c0393, R2.2p6s5.8c0479,
    /// R2.2p6s5.9.1.2c0489
    #[test]
    fn continuous_traffic_is_at_most_once_and_in_order(
        receiver in any::<bool>(),
        kinds in proptest::collection::vec(0u8..3, usize::from(PACKETS)),
        choices in proptest::collection::vec((any::<bool>(), any::<u8>(), any::<u8>()), 0..2_000),
    ) {
        let vcs = [
            VcConfig { buffers: 2, ..VcConfig::default() },
            VcConfig { traffic: Traffic::Continuous, buffers: 2, share: 3 },
        ];
        let mut config = Config { vc_refresh_period: Some(1), ..with_vcs(Channels::Two, &vcs) };
        if receiver {
            config.flow = FlowControl::Receiver;
        }
        let kind = |id: u8| match kinds[usize::from(id)] {
            0 => meta(1),
            1 => PacketMeta { vc: true, ..meta(0) },
            _ => PacketMeta { vc: true, ..meta(2) },
        };
        let mut pair = Pair::up(config.clone(), config);
        let mut next = 0;
        for &choice in &choices {
            if next < PACKETS && pair.sides[0].port.submit(next, kind(next)).is_ok() {
                next += 1;
            }
            choose(&mut pair, choice);
        }
        prop_assert!(pair.settle(20), "recovery ends");
        let arrived = &pair.sides[1].delivered;
        for (n, &id) in arrived.iter().enumerate() {
            prop_assert!(arrived[..n].iter().all(|&other| other != id), "at most once");
            let earlier = |&other: &u8| other < id || kinds[usize::from(other)] != kinds[usize::from(id)];
            prop_assert!(arrived[..n].iter().all(earlier), "in order");
        }
        for id in (0..next).filter(|&id| kinds[usize::from(id)] != 2) {
            prop_assert!(arrived.contains(&id), "reliable packet {} arrives", id);
        }
    }
}
