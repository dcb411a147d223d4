//! Receive buffers that keep a link busy, reckoned and simulated.

use models::config::FabricConfig;
use models::probe::{Cause, Delivery, Probe, StagingEdge};
use models::sim_core::Time;
use models::{RunOptions, Watched};
use scenarios::{RunPlan, check_report, load};
use serde_json::{Value, json};
use std::sync::Arc;

const ENOUGH: u8 = 61;

/// One switch with two endpoints; `buffers` receive buffers at the switch. From ep/0 goes what `rows` say,
/// all of it at once; back go the longest packets, one after the other.
fn system(buffers: u8, phy: u64, buffering: &str, rows: &[String]) -> Value {
    let mut switch = json!({
        "input_buffers": buffers, "watermarks": [3, 2, 1], "pipeline": "100 ns", "buffering": buffering
    });
    if buffering != "direct" {
        switch["buffer_packets"] = json!(1000);
    }
    json!({
        "name": "t",
        "topology": {"single_switch": {"ports": 2}},
        "links": {"rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": format!("{phy} ps")},
        "switch": switch,
        "endpoint": {"input_buffers": ENOUGH, "watermarks": [3, 2, 1]},
        "run": {"until": "200 us", "warmup": "0 ps", "sample_every": "off"},
        "traffic": [
            {"name": "there", "arrivals": {"trace": {"rows": rows}}},
            {"name": "back", "from": "ep/1", "to": "ep/0", "size": 256, "priority": 3,
             "arrivals": {"saturated": {}}}
        ]
    })
}

fn plan(value: &Value) -> RunPlan {
    load(&value.to_string(), "t.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()))
}

/// A long packet and then so many short ones, so often, of priority 3: it needs no more than one free buffer.
fn trains(short: usize, times: usize) -> Vec<String> {
    let row = |octets: u16| format!("0,ep/0,ep/1,{octets},3,5");
    let train = || std::iter::once(row(256)).chain(std::iter::repeat_n(row(8), short));
    (0..times).flat_map(|_| train()).collect()
}

/// The last delivery at ep/1, and how many there were.
#[derive(Default)]
struct Last {
    at: Time,
    count: usize,
}

impl Probe for Last {
    fn delivered(&mut self, delivery: &Delivery) {
        if delivery.flow == 0 {
            self.at = self.at.max(delivery.at);
            self.count += 1;
        }
    }
}

/// When everything is there, of so many rows.
fn takes(system: &Value, rows: usize) -> Time {
    let plan = plan(system);
    let variant = &plan.variants[0];
    let config: Arc<FabricConfig> = Arc::clone(&variant.config);
    let mut last = Last::default();
    let mut simulation = Watched::new(config, RunOptions::default(), &mut last);
    simulation.run(variant.until, u64::MAX);
    simulation.finish();
    assert_eq!(last.count, rows, "all of it is there within the run");
    last.at
}

/// Smallest number of receive buffers with which nothing is lost against as many as there can be.
fn smallest(phy: u64, buffering: &str, rows: &[String]) -> u8 {
    smallest_of(rows.len(), |buffers| system(buffers, phy, buffering, rows))
}

/// The smallest number of buffers with which a system takes as long as with as many as there can be.
fn smallest_of(rows: usize, system: impl Fn(u8) -> Value) -> u8 {
    let takes = |buffers: u8| takes(&system(buffers), rows);
    let ideal = takes(ENOUGH);
    let (mut less, mut enough) = (2, ENOUGH);
    while enough - less > 1 {
        let middle = less.midpoint(enough);
        if takes(middle) == ideal { enough = middle } else { less = middle }
    }
    enough
}

/// How many receive buffers `check` says that the first link needs.
fn said(system: &Value) -> u64 {
    let report = check_report(&plan(system));
    let (before, _) = report.split_once(" receive buffers keep it busy").expect("it is said");
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number")
}

/// `check` says how many receive buffers keep a link busy whatever the order of its packets, and with fewer
/// some order loses throughput. A long packet (112 ns with its delimiter) is followed by short ones (11.2
/// ns); packets of the other direction are long, and symbols take 3.2 ns.
///
/// By hand: a buffer is in use while the long packet is sent, travels, passes the pipeline and is sent on,
/// and until a symbol is back. From one packet of the other direction to the next r short ones are accepted,
/// each with a symbol of which the first rides: r = ceil((112 + 3.2 (r - 1)) / 11.2) = 14. A symbol can so
/// have to wait for 112 + 14 x 3.2 ns. Behind the long packet start as many short ones as fit in 112 (sent
/// on, not with buffers behind the inputs) + 156.8 + 100 (pipeline) + twice the delay of the link.
///
/// With packets of one length this is (3 T + S + pipeline + 2 d) / T, rounded up: r = 1.
#[test]
fn buffers_that_keep_a_link_busy_with_packets_of_mixed_lengths() {
    // In tenths of nanoseconds.
    let law = |held: u64, link: u64| 1 + (held + 1_568 + 1_000 + 2 * link).div_ceil(112);
    for (buffering, held) in [("direct", 1_120), ("output", 0)] {
        // The link is 10 ns long beside the latency of its ends.
        for (phy, reached) in [(30_000, false), (33_000, true), (39_000, true)] {
            let law = law(held, 100 + phy / 100);
            for short in [5, 30, 40, 70] {
                let rows = trains(short, 4_000 / (10 + short));
                let smallest = u64::from(smallest(phy, buffering, &rows));
                assert!(smallest <= law, "{buffering}, {phy} ps, {short}: {smallest} > {law}");
                if short == 70 {
                    assert_eq!(smallest == law, reached, "{buffering}, {phy} ps: {smallest}, {law}");
                }
            }
            let mixed = system(ENOUGH, phy, buffering, &trains(1, 1));
            assert_eq!(said(&mixed), law, "{buffering}, {phy} ps");
            let mixed = plan(&mixed);
            assert!(mixed.warnings.items.is_empty(), "{:?}", mixed.warnings.items);
            // Of one length: with the symbol that frees a buffer 3.2 ns.
            let alike = (1_120 + held + 1_120 + 32 + 1_000 + 2 * (100 + phy / 100)).div_ceil(1_120);
            let rows = trains(0, 300);
            assert_eq!(said(&system(ENOUGH, phy, buffering, &rows)), alike);
            // The two directions are in step, not in the worst one.
            let smallest = u64::from(smallest(phy, buffering, &rows));
            assert!((alike - 1..=alike).contains(&smallest), "{buffering}, {phy} ps: {smallest}, {alike}");
        }
    }
}

/// A switch that cuts through reads a packet while it comes: when all of it is there the buffer is in use
/// only for as long as the head took, 3 octets and a delimiter or 4.4 ns. It was said to be in use for the
/// whole length, and a link that three buffers keep busy to need five.
///
/// By hand, in tenths of nanoseconds, with two symbols for each of the r packets above: its acceptance,
/// and its buffer, which is free later: 1 + ceil((44 + 1120 + r 32 + 1000 + 2 d) / t).
#[test]
fn buffers_that_keep_a_link_busy_where_packets_are_cut_through() {
    let cut = |buffers: u8, phy: u64, rows: &[String]| {
        let mut system = system(buffers, phy, "direct", rows);
        system["switch"]["forwarding"] = json!("cut_through");
        system
    };
    for phy in [10_000, 30_000, 39_000, 80_000, 200_000, 500_000] {
        let law = |symbols: u64, short: u64| {
            1 + (44 + 1_120 + symbols * 32 + 1_000 + 2 * (100 + phy / 100)).div_ceil(short)
        };
        // Of one length: (1120 + 3 x 32) / 1120 is more than one.
        let rows = trains(0, 300);
        assert_eq!(said(&cut(ENOUGH, phy, &rows)), law(4, 1_120), "{phy} ps");
        // The two directions are in step, not in the worst one: a symbol may wait for less than a packet.
        let smallest = u64::from(smallest_of(rows.len(), |buffers| cut(buffers, phy, &rows)));
        assert!((law(4, 1_120) - 1..=law(4, 1_120)).contains(&smallest), "{phy} ps: {smallest}");
        if phy > 100_000 {
            continue;
        }
        for short in [5, 30, 70] {
            let rows = trains(short, 4_000 / (10 + short));
            assert_eq!(said(&cut(ENOUGH, phy, &rows)), law(46, 112), "{phy} ps");
            let smallest = u64::from(smallest_of(rows.len(), |buffers| cut(buffers, phy, &rows)));
            assert!(smallest <= law(46, 112), "{phy} ps, {short}: {smallest}");
        }
    }
}

/// To a faster output a packet is stored first, and read at the pace of that output; to a slower one it is
/// cut through, and read for as long as that takes longer: of two at half the rate for a whole packet
/// more.
#[test]
fn buffers_in_front_of_outputs_of_another_pace() {
    let system = |buffers: u8, cut: bool, widths: [&str; 3], rows: &[String]| {
        let forwarding = if cut { "cut_through" } else { "store_and_forward" };
        let links: Vec<Value> =
            (0..3).map(|n| json!({"link": format!("ep/{n}"), "links": {"width": widths[n]}})).collect();
        json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 3}},
            "links": {"rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": "60 ns"},
            "overrides": links,
            "switch": {"input_buffers": buffers, "watermarks": [3, 2, 1], "pipeline": "100 ns",
                "forwarding": forwarding, "reads_per_input": 2},
            "endpoint": {"input_buffers": ENOUGH, "watermarks": [3, 2, 1]},
            "run": {"until": "400 us", "warmup": "0 ps", "sample_every": "off"},
            "traffic": [
                {"name": "there", "arrivals": {"trace": {"rows": rows}}},
                {"name": "back", "from": "ep/1", "to": "ep/0", "size": 256, "priority": 3,
                 "arrivals": {"saturated": {}}}
            ]
        })
    };
    let rows: Vec<String> = (0..300).map(|n| format!("0,ep/0,ep/{},256,3,5", 1 + n % 2)).collect();
    // In tenths of nanoseconds: 280 characters of 1.6, 0.8 and 0.4 ns.
    for (widths, packet, symbol, held) in [
        // Two faster ones: stored, at most T.
        (["2x", "4x", "4x"], 2_240u64, 64u64, 2_240u64),
        (["1x", "2x", "4x"], 4_480, 128, 4_480),
        // Two at half the rate: H, and 2 T - T.
        (["4x", "2x", "2x"], 1_120, 32, 44 + 1_120),
    ] {
        let law = 1 + (held + packet + 2 * symbol + 1_000 + 2 * 700).div_ceil(packet);
        let smallest = u64::from(smallest_of(rows.len(), |buffers| system(buffers, true, widths, &rows)));
        assert!((law - 1..=law).contains(&smallest), "{widths:?}: {smallest}, {law} by hand");
        let plan = plan(&system(law as u8 - 1, true, widths, &rows));
        let said = plan.warnings.items.iter().find(|item| item.code == "SC071").expect("a warning");
        assert!(said.message.contains(&format!("its link needs {law} for full rate")), "{}", said.message);
    }
}

/// Waits for a buffer, of all packets together and of the one that waited longest, and whose: 0 is "hot".
#[derive(Default)]
struct Waits {
    sum: u64,
    longest: [u64; 2],
}

impl Probe for Waits {
    fn delivered(&mut self, delivery: &Delivery) {
        if let Some(longest) = self.longest.get_mut(usize::from(delivery.flow)) {
            let wait = delivery.parts[Cause::NoBuffer];
            self.sum += wait;
            *longest = wait.max(*longest);
        }
    }
}

/// Two send to a hot output of one lane, and one of them as fast as it can to another output, from which as
/// much comes back; an input is read by two outputs at a time, so that this traffic goes on at once.
struct Hot {
    priority: u8,
    /// Of all packets, octets.
    size: u32,
    on: u64,
    length: &'static str,
}

impl Hot {
    fn plan(&self, buffers: u64) -> RunPlan {
        let &Hot { priority, size, on, length } = self;
        let flow = |name: &str, from: Value, to: &str| {
            json!({"name": name, "from": from, "to": to, "priority": priority, "size": size,
                "arrivals": {"saturated": {"backlog": 20}}})
        };
        plan(&json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 4}},
            "links": {"rate": "6.25 Gbaud", "width": "4x", "length": length, "phy_latency": "30 ns"},
            "overrides": [{"link": "ep/2", "links": {"width": "1x"}}],
            "switch": {"input_buffers": buffers, "reads_per_input": 2},
            "endpoint": {"input_buffers": ENOUGH},
            "voq": {"enabled": true, "thresholds": {"on": on, "off": on - 2}, "verdict": "per_ingress"},
            "run": {"until": "300 us", "warmup": "0 ps", "sample_every": "off"},
            "traffic": [
                flow("hot", json!(["ep/0", "ep/1"]), "ep/2"),
                flow("other", json!("ep/0"), "ep/3"),
                flow("back", json!("ep/3"), "ep/0"),
            ]
        }))
    }

    /// What `check` says of the first detector: N_hr, and how many places beyond.
    fn said(&self) -> (u64, u64) {
        let report = check_report(&self.plan(40));
        let number = |before: &str, behind: &str| -> u64 {
            let (text, _) = report.split_once(behind).expect("it is said");
            let (_, number) = text.rsplit_once(before).expect("it is said");
            number.parse().expect("a number")
        };
        (number("takes ", " places above"), number("with ", " more, packets"))
    }

    fn waits(&self, buffers: u64) -> Waits {
        let plan = self.plan(buffers);
        let mut waits = Waits::default();
        let mut simulation =
            Watched::new(Arc::clone(&plan.variants[0].config), RunOptions::default(), &mut waits);
        simulation.run(plan.variants[0].until, u64::MAX);
        simulation.finish();
        waits
    }
}

/// With N_hr places above `on` packets for the congested output leave a place to the others, which wait for
/// each other's; with W - 1 more none of them waits for a place (docs/scenarios.md).
///
/// By hand, with T = 112 ns of 272 octets and 33.6 ns of 76, S = 3.2, a pipeline of 100, 20 until a message
/// is made, and one way d = 30 + 5 a metre: N_hr = ceil((T + S + 120 + 2 d) / T) + 1, and W - 1 =
/// ceil((2 T + S + 100 + 2 d) / T). What is freed goes to both in turn, so a wait is no longer than two
/// loops of a place, whose symbol may wait for a packet that comes back: 3 T + S + 100 + 2 d each. As nobody
/// is as unlucky as that all the time, fewer places than W - 1 are enough here: how many, was simulated.
///
/// Proves: VOQ-2.5-4
#[test]
fn packets_for_other_outputs_find_a_place() {
    for (priority, size, on, length, law, loop_ps, smallest) in [
        (0, 256, 6, "2 m", (4, 4), 519_200, 1),
        (3, 256, 6, "2 m", (4, 4), 519_200, 1),
        (0, 256, 8, "2 m", (4, 4), 519_200, 1),
        (0, 256, 6, "20 m", (6, 6), 699_200, 2),
        (0, 64, 6, "2 m", (9, 8), 284_000, 2),
    ] {
        let hot = Hot { priority, size, on, length };
        let case = format!("priority {priority}, {size} octets, on {on}, {length}");
        assert_eq!(hot.said(), law, "{case}");
        // The watermark of the priority leaves so many free; one place is for the others.
        let needed = if priority == 3 { 0 } else { 3 } + on + law.0 + 1;
        let at = |more: u64| hot.waits(needed + more);
        assert_eq!(at(law.1).sum, 0, "{case}");
        assert_eq!((at(smallest).sum, at(smallest - 1).sum > 0), (0, true), "{case}");
        assert!(at(0).longest[1] <= 2 * loop_ps, "{case}: {:?}", at(0).longest);
        let few = hot.waits(needed - 4);
        assert!(few.longest[1] > 2 * loop_ps, "{case}: {:?}", few.longest);
    }
}

/// Places are for one congested output at a time: where packets of one input make n of them congested, n
/// (`on` + N_hr) count (docs/scenarios.md). By hand, with WM0 = 4, `on` = 12, N_hr = 4 and W = 5: two outputs
/// that four senders share give an input a quarter each, so it has half of its link for a third one. That is
/// so with 3 + 2 x 16 + 5 = 40 buffers; with the 3 + 16 + 5 = 24 that are enough for one, both fill them
/// below `on`, and it has no more than they. `check` says for how many its places are.
#[test]
fn two_congested_outputs_need_places_for_two() {
    let victim = |buffers: u32, until: u64| {
        let flow = |name: &str, from: &str, to: &str, own: Value| {
            let arrivals = json!({"saturated": own});
            json!({"name": name, "from": from, "to": to, "arrivals": arrivals})
        };
        let plan = plan(&json!({
            "name": "t",
            "topology": {"single_switch": {"ports": 10}},
            "switch": {"reads_per_input": 3, "input_buffers": buffers},
            "voq": {"enabled": true, "thresholds": {"on": 12, "off": 8}},
            "run": {"until": "500 us", "warmup": "0 ps", "sample_every": "off"},
            "traffic": [
                flow("victim", "ep/0", "ep/9", json!({"backlog": 1})),
                flow("hot1", "ep/0", "ep/7", json!({"backlog": 1})),
                flow("hot2", "ep/0", "ep/8", json!({"backlog": 1})),
                flow("others1", "ep/{1..3}", "ep/7", json!({})),
                flow("others2", "ep/{4..6}", "ep/8", json!({})),
            ]
        }));
        let report = check_report(&plan);
        assert!(
            report.contains("all of this while packets of an input wait for one port at a time"),
            "{report}"
        );
        let mut last = Last::default();
        let mut simulation =
            Watched::new(Arc::clone(&plan.variants[0].config), RunOptions::default(), &mut last);
        simulation.run(Time(until), u64::MAX);
        simulation.finish();
        last.count
    };
    // When all that has to fill is full: 2 200 packets of a link.
    let packet = 112_000;
    let later = |buffers: u32| victim(buffers, 3_200 * packet) - victim(buffers, 1_000 * packet);
    let [few, enough] = [24, 40].map(later);
    assert!(enough.abs_diff(1_100) <= 1 && few.abs_diff(550) <= 1, "{few}, {enough}");
}

/// Packets that came too late for the detectors of a switch, in a run of 60 us.
fn late(plan: &RunPlan) -> u64 {
    let variant = &plan.variants[0];
    let mut nobody = Waits::default();
    let mut simulation = Watched::new(Arc::clone(&variant.config), RunOptions::default(), &mut nobody);
    simulation.run(Time(60_000_000), u64::MAX);
    simulation.finish().ports.iter().map(|(.., stats)| stats.late_hol).sum()
}

/// A message is about six ports, and the next one is asked for when it has left. By hand, with 16 lanes of
/// 1.25 Gbaud: 28 characters of a packet of 8 octets take 14 ns = T, a long symbol of 8 takes 4 ns, one way
/// is 40 ns, so D = T + 4 + 200 + 80 = 298 ns and N_hr = ceil(298 / 14) + 1 = 23. Of four groups the last one
/// is told 3 (200 + T) = 642 ns later: ceil(940 / 14) + 1 = 69. Of six ports there is one group.
///
/// Proves: VOQ-2.5-4, VOQ-2.4-3
#[test]
fn places_for_packets_that_come_until_the_last_group_is_told() {
    let hot = |ports: u32, places: u32| {
        let to = if ports > 10 { "ep/04" } else { "ep/4" };
        plan(&json!({
            "name": "t",
            "seed": 396,
            "run": {"until": "60 us", "warmup": "0 ps", "sample_every": "off"},
            "topology": {"single_switch": {"ports": ports}},
            "links": {"rate": "1.25 Gbaud", "width": "16x", "symbol": "long", "length": "2 m",
                "phy_latency": "30 ns"},
            "switch": {"buffering": "crosspoint", "buffer_packets": places, "input_buffers": 61,
                "pipeline": "0 ps"},
            "endpoint": {"input_buffers": 61},
            "voq": {"enabled": true, "thresholds": {"on": 2, "off": 1}, "verdict": "shared",
                "generation_delay": "200 ns", "refresh": "off"},
            "traffic": [
                {"name": "h", "from": ["all", format!("!{to}")], "to": to, "size": 8,
                    "arrivals": {"saturated": {}}},
                {"name": "u", "from": "all", "to": {"uniform": {}}, "size": 8,
                    "arrivals": {"poisson": {"load": 0.3}}}
            ]
        }))
    };
    let line = |ports: u32| {
        let report = check_report(&hot(ports, 100));
        let line = report.lines().find(|line| line.contains("(N_hr)")).expect("a detector");
        line.to_owned()
    };
    let [one, four] = [6, 24].map(line);
    assert!(one.contains(" 23 packets (N_hr)") && !one.contains("at once"), "{one}");
    assert!(four.contains(" 23 packets (N_hr)") && four.contains("; up to 69 from each if"), "{four}");
    assert_eq!((late(&hot(6, 2 + 23)), late(&hot(24, 2 + 69))), (0, 0));
    assert!(late(&hot(24, 2 + 23)) > 0);
}

/// First edges of queue 4 of each channel.
#[derive(Default)]
struct Edges(std::collections::BTreeMap<u8, Time>);

impl Probe for Edges {
    fn staging_edge(&mut self, edge: &StagingEdge) {
        if edge.stopped && edge.queue == 4 {
            self.0.entry(edge.channel).or_insert(edge.at);
        }
    }
}

/// All packets for one endpoint are in one channel, and there is some traffic in each of the others, whose
/// verdicts change all the time. Which channel that is makes no difference: the neighbours hear of it after a
/// message for each of nine channels, each after its generation delay and behind a packet.
///
/// Proves: VOQ-4.2-3, VOQ-2.4-3
#[test]
fn no_channel_waits_for_others_that_chatter() {
    for hot in [1, 4, 8u8] {
        let light = (1..=8).filter(|vc| *vc != hot).map(|vc| {
            json!({"name": format!("u{vc}"), "from": "all", "to": {"uniform": {}}, "size": 8, "vc": vc,
                "arrivals": {"poisson": {"load": 0.07}}})
        });
        let first = json!({"name": "hot", "from": ["all", "!ep/4"], "to": "ep/4", "size": 8, "vc": hot,
            "arrivals": {"saturated": {}}});
        let traffic: Vec<Value> = std::iter::once(first).chain(light).collect();
        let plan = plan(&json!({
            "name": "t",
            "run": {"until": "60 us", "warmup": "0 ps", "sample_every": "off"},
            "topology": {"single_switch": {"ports": 6}},
            "links": {"rate": "6.25 Gbaud", "width": "4x", "length": "2 m", "phy_latency": "30 ns",
                "vcs": {"count": 8, "buffers": 31, "refresh": "off"}},
            "switch": {"pipeline": "0 ps", "reads_per_input": 8},
            "voq": {"enabled": true, "linked": true, "thresholds": {"on": 2, "off": 1}, "verdict": "shared",
                "generation_delay": "200 ns", "refresh": "off"},
            "traffic": traffic
        }));
        let mut edges = Edges::default();
        let config = Arc::clone(&plan.variants[0].config);
        let mut simulation = Watched::new(config, RunOptions::default(), &mut edges);
        simulation.run(Time(60_000_000), u64::MAX);
        simulation.finish();
        // Five senders fill a queue within a few packets of 11.2 ns, and 9 (200 + 11.2) ns are 1.9 us.
        let told = edges.0.get(&hot).expect("it is told");
        assert!(told.0 < 2_500_000, "channel {hot} at {told:?}");
    }
}
