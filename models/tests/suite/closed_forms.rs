//! Laws of queueing theory and of the VoQ backpressure specification that a run has to meet.
use crate::common::*;
use models::config::*;
use sim_core::Duration;
use std::sync::Arc;

fn star(n: u8, c2_divisor: u64) -> Star {
    // Upstream 0 (hot to 2, victim to 3); competitors on the ports from 4 on, all to 2.
    let mut star = Star::new(4 + n - 1, switch(4 + n - 1));
    // Two flows share the input at up to full rate: one read at a time would be a bottleneck of its own.
    star.switch_mut().reads_per_input = 2;
    // Room for the stopped packets above the watermark that the victims need.
    for p in &mut star.config.devices.last_mut().unwrap().ports {
        p.buffers = 32;
    }
    star.slow_link(2, c2_divisor);
    star
}

const SATURATED: Arrivals = Arrivals::Saturated { backlog: 4 };

/// (hot rate, victim rate) of upstream 0 as fractions of its link.
fn figure_1_1(mut s: Star, n: u8, voq: Option<Verdict>, open: Option<(u64, u64)>) -> (f64, f64) {
    let (hot, victim, other) = (s.flow("hot"), s.flow("victim"), s.flow("other"));
    match (open, voq) {
        (Some((h, v)), _) => {
            let poisson = |percent: u64| Arrivals::Poisson { mean: Duration(T * 100 / percent) };
            s.source(0, hot, poisson(h), Destinations::Fixed(2));
            s.source(0, victim, poisson(v), Destinations::Fixed(3));
        }
        _ => {
            s.source(0, hot, SATURATED, Destinations::Fixed(2));
            s.source(0, victim, SATURATED, Destinations::Fixed(3));
        }
    }
    for k in 1..n {
        s.source(u32::from(3 + k), other, SATURATED, Destinations::Fixed(2));
    }
    if let Some(verdict) = voq {
        // A wide hysteresis lets a shared verdict's shares come near the fluid law: an on-period is many
        // packets.
        let (x_on, x_off) = if verdict == Verdict::Shared { (28, 8) } else { (8, 5) };
        s.backpressure(StagingConfig::PerPort, Detector { x_on, x_off, verdict });
    }
    // Random mixtures in an overloaded FIFO need many packets, saturated sources few.
    let until = if open.is_some() { 60_000_000_000 } else { 6_000_000_000 };
    let (count, outcome) = run(&s.config, until, Count::after(300_000_000));
    assert_eq!(outcome.stalls, []);
    (count.rate(0, until), count.rate(1, until))
}

/// Head-of-line blocking at a FIFO source and what one staging queue for each port gives back (F.5).
///
/// Proves: VOQ-1.1-2, VOQ-1.1-3, VOQ-4.3-3
#[test]
fn victim_throughput_with_fair_arbitration() {
    for (c2_divisor, n) in [(1u64, 2u8), (1, 3), (1, 4), (2, 2), (2, 3), (4, 2), (4, 4)] {
        let share = 1.0 / c2_divisor as f64 / f64::from(n);
        let (hot, victim) = figure_1_1(star(n, c2_divisor), n, None, None);
        let near = |value: f64, law: f64| (value - law).abs() <= 0.01 * law;
        assert!(near(hot, share), "1/{c2_divisor}, {n} inputs, off: hot {hot}, law {share}");
        assert!(near(victim, share), "1/{c2_divisor}, {n} inputs, off: victim {victim}, law {share}");
        let (hot, victim) = figure_1_1(star(n, c2_divisor), n, Some(Verdict::PerIngress), None);
        assert!(near(hot, share), "1/{c2_divisor}, {n} inputs, on: hot {hot}, law {share}");
        assert!(
            near(victim, 1.0 - share),
            "1/{c2_divisor}, {n} inputs, on: victim {victim}, law {}",
            1.0 - share
        );
    }
}

/// Open loop 0.8 / 0.2: V = v s / h without, V = v with backpressure (F.5).
#[test]
fn victim_throughput_of_an_open_loop() {
    let (_, victim) = figure_1_1(star(2, 1), 2, None, Some((80, 20)));
    assert!((victim - 0.125).abs() <= 0.01 * 0.125, "off: {victim}");
    let (_, victim) = figure_1_1(star(2, 1), 2, Some(Verdict::PerIngress), Some((80, 20)));
    assert!((victim - 0.2).abs() <= 0.01 * 0.2, "on: {victim}");
}

/// One verdict for all upstreams: shares follow the injection rates while XON (F.6), within 0.03.
#[test]
fn victim_throughput_with_a_shared_verdict() {
    let saturated = [(1u64, 2u8, 1.0 / 3.0), (1, 3, 0.2), (1, 4, 1.0 / 7.0), (2, 2, 1.0 / 6.0)];
    for (c2_divisor, n, law) in saturated {
        let mut s = star(n, c2_divisor);
        s.switch_mut().buffering = Buffering::Output { packets: 64 };
        s.switch_mut().input = InputQueueing::Fifo;
        let (hot, victim) = figure_1_1(s, n, Some(Verdict::Shared), None);
        println!("1/{c2_divisor} {n}: hot {hot:.4} law {law:.4} victim {victim:.4}");
        assert!((hot - law).abs() <= 0.03, "1/{c2_divisor}, {n} inputs: hot {hot}, law {law}");
        assert!((victim - (1.0 - law)).abs() <= 0.03, "1/{c2_divisor}, {n} inputs: victim {victim}");
    }
    let mut s = star(2, 1);
    s.switch_mut().buffering = Buffering::Output { packets: 64 };
    let (hot, victim) = figure_1_1(s, 2, Some(Verdict::Shared), Some((80, 20)));
    assert!((hot - 0.8 / 1.8).abs() <= 0.03, "hot {hot}");
    assert!((victim - 0.2).abs() <= 0.03 * 0.2, "victim {victim}");
}

/// Mean wait at a source link with Poisson arrivals and fixed packets: rho T / (2 (1 - rho)) within 2 %.
#[test]
fn source_queue_is_m_d_1() {
    for (load, packets) in [(30u64, 2_000_000u64), (60, 4_000_000), (90, 10_400_000)] {
        let mut s = Star::new(2, switch(2));
        let flow = s.flow("f");
        s.source(0, flow, Arrivals::Poisson { mean: Duration(T * 100 / load) }, Destinations::Fixed(1));
        let until = packets * T * 100 / load;
        let (count, outcome) = run(&s.config, until, Count::after(until / 50));
        assert!(outcome.delivered as f64 > packets as f64 * 0.97);
        let mean = count.wait_ps as f64 / count.delivered[0] as f64;
        let rho = load as f64 / 100.0;
        let law = rho * T as f64 / (2.0 * (1.0 - rho));
        println!("load {rho}: mean wait {mean:.0} ps, law {law:.0} ps, {} packets", count.delivered[0]);
        assert!((mean - law).abs() <= 0.02 * law, "load {rho}: {mean} against {law}");
    }
}

/// Saturation of an N x N FIFO switch (Karol, Hluchyj, Morgan 1987), within 0.004.
#[test]
fn head_of_line_saturation() {
    let table = [
        (2u8, 0.7500),
        (3, 0.6825),
        (4, 0.6553),
        (5, 0.6399),
        (6, 0.6302),
        (7, 0.6234),
        (8, 0.6184),
        (16, 0.6016),
        (32, 0.5936),
        (64, 0.5897),
    ];
    for (n, law) in table {
        let rate = saturation(n, InputQueueing::Fifo, Arbitration::Random);
        println!("N = {n}: {rate:.4}, literature {law:.4}");
        assert!((rate - law).abs() <= 0.004, "N = {n}: {rate} against {law}");
    }
}

/// With a queue for each output and iSLIP the same switch carries what is offered, far above 0.5858.
#[test]
fn islip_carries_a_load_of_95_percent() {
    for n in [4u8, 16] {
        let slot = T + 2 * T_CS;
        let arbitration = Arbitration::Islip { iterations: 4 };
        let mut s = Star::new(n, SwitchConfig { arbitration, slot: Some(Duration(slot)), ..switch(n) });
        for p in &mut s.config.devices.last_mut().unwrap().ports {
            p.buffers = 61;
        }
        let flow = s.flow("uniform");
        let ids: Arc<Vec<u32>> = Arc::new((0..u32::from(n)).collect());
        for e in 0..u32::from(n) {
            let arrivals = Arrivals::Bernoulli { slot: Duration(slot), numerator: 95, denominator: 100 };
            s.source(e, flow, arrivals, Destinations::Uniform { ids: ids.clone(), except: None });
        }
        let until = 30_000 * slot;
        let (count, outcome) = run(&s.config, until, Count::default());
        let carried = outcome.delivered as f64 / count.offered[0] as f64;
        println!("N = {n}: {carried:.4} of an offered load of 0.95");
        assert!(carried > 0.99, "N = {n}: {carried}");
    }
}

/// Packets for each output and slot of a saturated switch with a cell clock.
fn saturation(n: u8, input: InputQueueing, arbitration: Arbitration) -> f64 {
    let slot = T + 2 * T_CS;
    let model = SwitchConfig { input, arbitration, slot: Some(Duration(slot)), ..switch(n) };
    let mut s = Star::new(n, model);
    for p in &mut s.config.devices.last_mut().unwrap().ports {
        p.buffers = if input == InputQueueing::Voq { 61 } else { 16 };
    }
    let flow = s.flow("uniform");
    let ids: Arc<Vec<u32>> = Arc::new((0..u32::from(n)).collect());
    for e in 0..u32::from(n) {
        s.source(e, flow, SATURATED, Destinations::Uniform { ids: ids.clone(), except: None });
    }
    let slots = 400_000 / u64::from(n) + 4_000;
    let (from, until) = (1_000 * slot, (1_000 + slots) * slot);
    let (count, _) = run(&s.config, until, Count::after(from));
    count.delivered[0] as f64 / slots as f64 / f64::from(n)
}
