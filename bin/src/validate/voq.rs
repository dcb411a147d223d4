//! Part 12: laws of VoQ backpressure, on the studies as they are shipped.

use super::lab::{CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, Run, SYMBOL, T_PS, altered, run, scenario, study};
use super::row::{Row, Source};
use serde_json::{Value, json};

const BLOCKING: Source = Source::derived(
    "Part 12 §1, Figures 1-1, 1-2: a victim behind a FIFO gets v s/h, with backpressure min(v, 1 - s)",
);
const SHARED: Source =
    Source::derived("Part 12, one verdict for all: shares follow injection rates, rho_i / sum of rho");
const CHATTER: Source =
    Source::derived("Part 12 §2.3: a cycle of h packets costs one XOFF and one XON, 2 mu/h messages");
const REFRESH: Source = Source::derived("Part 12 §4.2: a lost XON holds a queue until the next refresh");
const STAGING: Source =
    Source::derived("Part 12 §2.2: a victim in the staging queue of the hot port gains nothing");

const HEADROOM: Source =
    Source::derived("Part 12 §2.5: ceil(D / T) + 1 places for each neighbour above the upper threshold");
const LOWER: Source =
    Source::derived("Part 12 §2.5: ceil((D + 2 T) / T) packets at the lower threshold keep the output busy");
const RADIUS: Source = Source::derived(
    "Part 12 §2: who leaves at the next switch gets 1 - s; beside the hot packets 1 - 2 s by ingress, \
     2 s shared",
);

/// What is on its way when a queue is stopped, and when it goes on: D is the pipeline, the generation delay,
/// a packet that has just begun, a symbol, and the cable both ways.
pub(crate) fn thresholds() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-headroom.json");
    let late = PIPELINE_PS + 20_000.0 + T_PS + SYMBOL * CHARACTER_PS + 2.0 * ONE_WAY_PS;
    let places = 2.0 * ((late / T_PS).ceil() + 1.0);
    let least = ((late + 2.0 * T_PS) / T_PS).ceil();
    let above = study(text, &format!("headroom-{places}"));
    let below = study(text, &format!("off-{least}"));
    vec![
        Row::exact(
            "voq-thresholds",
            format!("voq-headroom, two neighbours, {places} places above: packets that came too late"),
            "packets",
            HEADROOM,
        )
        .expects(0.0)
        .found(above.port("sw", 2).late_hol as f64),
        Row::exact(
            "voq-thresholds",
            format!("voq-headroom, lower threshold {least}: load of the hot output"),
            "",
            LOWER,
        )
        .expects(1.0)
        .allows(0.001, "one packet at the ends of the window, and symbols on the hot link")
        .found(below.load("hot") + below.load("others")),
    ]
}

/// How far behind a hot port victims are freed; five flows share it.
pub(crate) fn radius() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-radius.json");
    let s = 1.0 / 5.0;
    let row = |(variant, flow, law): (&str, &str, f64)| {
        let what = format!("voq-radius, {variant}: load of the flow {flow}");
        Row::exact("voq-radius", what, "", RADIUS)
            .expects(law)
            .allows(0.01 * law, "one cycle of arbitration at the ends of the window, and symbols")
            .found(study(text, variant).load(flow))
    };
    [
        ("none-1", "victim", s),
        ("ingress-1", "victim", 1.0 - s),
        ("ingress-2", "victim", s),
        ("ingress-2", "beside", 1.0 - 2.0 * s),
        ("shared-2", "beside", 2.0 * s),
    ]
    .map(row)
    .into()
}

/// Figures 1-1 and 1-2.
pub(crate) fn blocking() -> Vec<Row> {
    let text = include_str!("../../../scenarios/hol-blocking.json");
    let s = 1.0 / 3.0;
    let row = |(variant, law): (&str, f64)| {
        let run = study(text, variant);
        Row::exact("voq-blocking", format!("hol-blocking, {variant}: load of the victim"), "", BLOCKING)
            .expects(law)
            .allows(0.001, "one cycle of arbitration at the ends of the window, and symbols on the hot link")
            .found(run.load("victim"))
    };
    [("fifo-switch", s), ("voq-switch", s), ("backpressure", 1.0 - s)].map(row).into()
}

/// Neighbours that are stopped together.
pub(crate) fn shared() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-shared-threshold.json");
    let row = |(variant, law): (&str, f64)| {
        let run = study(text, variant);
        Row::exact(
            "voq-shared",
            format!("voq-shared-threshold, {variant}: hot load of the device with a victim"),
            "",
            SHARED,
        )
        .expects(law)
        .allows(0.03, "the law is that of fluids: packets are whole, and messages take their time")
        .found(run.load("hot"))
    };
    let mut rows: Vec<Row> = [
        ("n-2", 1.0 / 3.0),
        ("n-3", 1.0 / 5.0),
        ("n-4", 1.0 / 7.0),
        ("half-2", 1.0 / 6.0),
        ("open-2", 0.8 / 1.8),
    ]
    .map(row)
    .into();
    let run = study(include_str!("../../../scenarios/voq-unequal-neighbours.json"), "saturated");
    rows.push(
        Row::exact(
            "voq-shared",
            "voq-unequal-neighbours: load of who honours messages beside one who does not",
            "",
            SHARED,
        )
        .expects(0.0)
        .found(run.load("hot")),
    );
    rows
}

/// Messages against hysteresis.
pub(crate) fn chatter() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-chatter.json");
    let row = |h: u64| {
        let run = study(text, &format!("hysteresis-{h}"));
        let left = run.port("sw", 2).packets_sent;
        let most =
            [1, 2, 3, 4].map(|port| run.port("sw", port)).map(|port| port.voq_riding + port.voq_standalone);
        Row::exact("voq-chatter", format!("hysteresis {h}: messages of one port"), "messages", CHATTER)
            .expects_at_most((2 * left / h + 2) as f64)
            .found(most.into_iter().max().expect("four ports") as f64)
    };
    [1, 4, 16].map(row).into()
}

/// A lost XON.
pub(crate) fn refresh() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-lost-xon.json");
    let (lost, intact) = (study(text, "refresh-on"), study(text, "intact"));
    let period = 16.0 * 1024.0 * 1_600.0;
    vec![
        Row::exact(
            "voq-refresh",
            "a lost XON with refresh: longest latency of the stopped flow",
            "us",
            REFRESH,
        )
        .expects_at_most((period + intact.packets("hot").most_ps as f64) / 1e6)
        .found(lost.packets("hot").most_ps as f64 / 1e6),
    ]
}

/// Victims in the hot port's staging queue.
pub(crate) fn staging() -> Vec<Row> {
    let text = include_str!("../../../scenarios/hol-staging-queues.json");
    let (s, victim, hot) = (1.0 / 7.0, 0.1, 0.3);
    let run = study(text, "queues-1");
    let flows = [1, 3, 4, 5, 6, 7].map(|port| run.load(&format!("victim-{port}")));
    let mean = flows.iter().sum::<f64>() / 6.0;
    // A fluid would get exactly that; the mixture of so many Poisson packets is drawn.
    let packets = run.window_ps as f64 / T_PS * victim * s / hot * 6.0;
    let law = victim * s / hot;
    vec![
        Row::exact(
            "voq-staging",
            "one staging queue: mean load of six victims at 0.1 beside a hot flow at 0.3",
            "",
            STAGING,
        )
        .expects(law)
        .allows(3.3 * law / packets.sqrt(), "3.3 standard deviations of the packets drawn")
        .found(mean),
    ]
}

const OPEN: Source = Source::derived(
    "Part 12 §1: of what a device offers, h to the hot port and v to a free one, a FIFO brings v s/h, \
     staging min(v, 1 - s)",
);
const HONOURS: Source = Source::derived(
    "Part 12 §4.3: beside x of a neighbour that honours nothing 1 - x is left under one verdict for all, a \
     fair share by ingress",
);
const OVERSHOOT: Source = Source::derived(
    "Part 12 §2.5: one neighbour, whose own packet sets the threshold off, sends floor(D/T) + 1 more",
);
const CYCLE: Source =
    Source::derived("Part 12 §2.3: a cycle of stop and go takes lambda (h + lambda D) / (mu (lambda - mu))");
const LOST: Source = Source::derived(
    "Part 12 §4.2: a lost XON waits for the next refresh, half a period on average, without refresh for ever",
);
const STAGED: Source = Source::derived(
    "Part 12 §2.2: staging grows at h - s; a burst of b packets needs b (1 - s/h) places; S places are full \
     after S / (h - s)",
);

const HOL: &str = include_str!("../../../scenarios/hol-blocking.json");

fn constant(load: f64) -> Value {
    json!({ "constant": { "load": load } })
}

fn saturated(backlog: u32) -> Value {
    json!({ "saturated": { "backlog": backlog } })
}

/// Victims beside a hot flow that is no matter of taking turns: offered loads, and a hot link of one lane.
pub(crate) fn open() -> Vec<Row> {
    let place = |at: &str, value| (at.to_owned(), value);
    let run = |staged: bool, others: Value, (hot, victim): (Value, Value), width: &str| {
        let places = [
            place("/traffic/others/from", others),
            place("/traffic/hot/arrivals", hot),
            place("/traffic/victim/arrivals", victim),
            place("/topology/explicit/links/1/set", json!({ "width": width })),
            place("/voq/enabled", json!(staged)),
            place("/run/until", json!("4 ms")),
        ];
        let places: Vec<(&str, Value)> = places.iter().map(|(at, value)| (&**at, value.clone())).collect();
        altered(HOL, &places)
    };
    let row = |what: String, law: f64, found: f64| {
        Row::exact("voq-open", what, "", OPEN)
            .expects(law)
            .allows(0.01 * law, "cycles at the ends of the window, and symbols on the links")
            .found(found)
    };
    let one = json!(["other/1"]);
    let two = json!(["other/1", "other/2"]);
    let offered = |staged| run(staged, one.clone(), (constant(0.8), constant(0.2)), "4x");
    let narrow = |staged| run(staged, two.clone(), (saturated(1), saturated(1)), "1x");
    let (s, quarter) = (1.0 / 2.0, 1.0 / 12.0);
    let (held, freed) = (offered(false), offered(true));
    let (beside, apart) = (narrow(false), narrow(true));
    vec![
        row("0.8 hot and 0.2 offered, a FIFO: load of the victim".into(), 0.2 * s / 0.8, held.load("victim")),
        row("0.8 hot and 0.2 offered, staged: load of the victim".into(), 0.2, freed.load("victim")),
        row("0.8 hot and 0.2 offered, staged: load of the hot flow".into(), s, freed.load("hot")),
        row("a hot link of one lane, a FIFO: load of the victim".into(), quarter, beside.load("victim")),
        row("a hot link of one lane, staged: load of the victim".into(), 1.0 - quarter, apart.load("victim")),
    ]
}

/// Who honours messages beside one who does not.
pub(crate) fn honours() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-unequal-neighbours.json");
    let some = altered(text, &[("/traffic/others/arrivals", constant(0.6))]);
    let fair = study(text, "per-ingress");
    let row = |what: &str, law: f64, run: &Run| {
        Row::exact("voq-honours", format!("voq-unequal-neighbours, {what}: load of who honours"), "", HONOURS)
            .expects(law)
            .allows(0.01 * law, "cycles at the ends of the window, and symbols on the hot link")
            .found(run.load("hot"))
    };
    vec![row("0.6 beside it", 0.4, &some), row("judged by ingress", 0.5, &fair)]
}

/// One device fills the buffer of a link that is so slow that nothing leaves meanwhile. D is that of the
/// thresholds, but nothing is in the way of a message.
pub(crate) fn overshoot() -> Vec<Row> {
    let on = 4_u32;
    let row = |metres: u32| {
        let topology = json!({ "explicit": {
            "devices": [{ "name": "sw", "ports": 2 }, { "name": "a" }, { "name": "b" }],
            "links": [
                { "a": "sw:0", "b": "a", "set": { "length": format!("{metres} m") } },
                { "a": "sw:1", "b": "b", "set": { "rate": "1.25 Gbaud", "width": "1x" } }
            ]
        } });
        let flow = json!([{
            "name": "f", "from": "a", "to": "b", "size": 256, "address_bits": 66, "arrivals": saturated(2)
        }]);
        let mut scenario = scenario(topology, flow, "20 us", "0 ps");
        scenario["switch"] = json!({ "buffering": "output", "buffer_packets": 61, "input_buffers": 61 });
        scenario["voq"] = json!({
            "enabled": true, "staging": "per_port", "verdict": "shared", "thresholds": { "on": on, "off": 0 }
        });
        let one_way = 30_000.0 + 5_000.0 * f64::from(metres);
        let late = PIPELINE_PS + 20_000.0 + SYMBOL * CHARACTER_PS + 2.0 * one_way;
        let most = f64::from(run(&scenario).port("sw", 1).output_high_water);
        Row::exact("voq-overshoot", format!("{metres} m: packets above the threshold"), "packets", OVERSHOOT)
            .expects((late / T_PS).floor() + 1.0)
            .found(most - f64::from(on))
    };
    [2, 20, 40, 100].map(row).into()
}

/// How often a queue stops whose neighbour offers as much as it may: upstream takes turns, so lambda is 3/2.
pub(crate) fn cycle() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-chatter.json");
    let late = (PIPELINE_PS + 20_000.0 + SYMBOL * CHARACTER_PS + 2.0 * ONE_WAY_PS) / T_PS;
    let row = |h: u32| {
        let run = study(text, &format!("hysteresis-{h}"));
        let (lambda, mu) = (1.5, 1.0);
        let cycle = lambda * (f64::from(h) + lambda * late) / (mu * (lambda - mu));
        let left = run.port("sw", 2).packets_sent as f64;
        let stops = run.port("upstream", 0).xoff_edges as f64;
        Row::exact("voq-cycle", format!("hysteresis {h}: packets that leave in a cycle"), "packets", CYCLE)
            .expects(cycle)
            .allows(0.1 * cycle, "the law is that of fluids, and a message waits for a delimiter")
            .found(left / stops)
    };
    [16, 32].map(row).into()
}

/// A lost XON at 16 phases of the refresh, and without any.
pub(crate) fn lost() -> Vec<Row> {
    let text = include_str!("../../../scenarios/voq-lost-xon.json");
    let period = 16.0 * 1024.0 * 1_600.0;
    let (phases, stop) = (16_u32, |run: &Run| run.port("upstream", 0).longest_stop_ps as f64);
    let start = |phase: u32| json!(format!("{} ps", (period / f64::from(phases)) as u64 * u64::from(phase)));
    let quiet = ("/traffic/victim/limit", json!(0));
    let intact = altered(text, &[quiet.clone(), ("/faults/lose_voq_symbols", json!([]))]);
    let later = |phase| {
        let at =
            [("/traffic/hot/start", start(phase)), ("/traffic/others/start", start(phase)), quiet.clone()];
        stop(&altered(text, &at)) - stop(&intact)
    };
    let mean = (0..phases).map(later).sum::<f64>() / f64::from(phases);
    let never = altered(text, &[("/voq/refresh", json!("off")), ("/run/warmup", json!("500 us"))]);
    vec![
        Row::exact("voq-lost", "a lost XON with refresh, 16 phases: mean wait for the next one", "us", LOST)
            .expects(period / 2e6)
            .allows(period / 32e6, "half the step from phase to phase")
            .found(mean / 1e6),
        Row::exact(
            "voq-lost",
            "a lost XON without refresh: packets of the stopped flow later",
            "packets",
            LOST,
        )
        .expects(0.0)
        .found(never.packets("hot").count as f64),
    ]
}

/// What stands in staging queues under 0.8 of a link where there is a third of one.
pub(crate) fn staged() -> Vec<Row> {
    let (h, s) = (0.8, 1.0 / 3.0);
    let most = |until: &str, limit: u32| {
        let run = altered(
            HOL,
            &[
                ("/traffic/hot/arrivals", constant(h)),
                ("/traffic/hot/limit", json!(limit)),
                ("/traffic/victim/limit", json!(0)),
                ("/run/warmup", json!("0 ps")),
                ("/run/until", json!(until)),
            ],
        );
        f64::from(run.port("upstream", 0).output_high_water)
    };
    let hysteresis = 4.0;
    let row = |what: &str, law: f64, found: f64| {
        Row::exact("voq-staged", what, "packets", STAGED)
            .expects(law)
            .allows(hysteresis + 1.0, "where in a cycle of stop and go the two ends are")
            .found(found)
    };
    vec![
        row(
            "0.8 offered where 1/3 is: packets staged in 100 us",
            (h - s) * 100e6 / T_PS,
            most("200 us", 1_000_000) - most("100 us", 1_000_000),
        ),
        row(
            "a burst at 0.8 where 1/3 is: places for 400 packets more",
            400.0 * (1.0 - s / h),
            most("1 ms", 600) - most("1 ms", 200),
        ),
        cascade(),
    ]
}

/// Three switches in a row, the last link a quarter: from the stop of the second trunk, whose queue grows
/// then, to the stop of the first, when S packets are staged behind it.
fn cascade() -> Row {
    let (places, h, s) = (160_u32, 0.55, 0.25);
    let topology = json!({ "explicit": {
        "devices": [
            { "name": "x", "ports": 3 }, { "name": "y", "ports": 2 }, { "name": "z", "ports": 2 },
            { "name": "a" }, { "name": "b" }
        ],
        "links": [
            { "a": "x:0", "b": "a" }, { "a": "x:1", "b": "y:0" }, { "a": "y:1", "b": "z:0" },
            { "a": "z:1", "b": "b", "set": { "width": "1x" } }
        ]
    } });
    let flow = json!([{
        "name": "f", "from": "a", "to": "b", "size": 256, "address_bits": 66, "arrivals": constant(h)
    }]);
    let stopped = |device: &str, port: u8, us: f64| {
        let mut scenario = scenario(topology.clone(), flow.clone(), &format!("{us} us"), "0 ps");
        scenario["switch"] = json!({ "input_buffers": 61, "arbitration": "round_robin" });
        scenario["voq"] = json!({
            "enabled": true, "staging": "per_port", "verdict": "per_ingress",
            "thresholds": { "on": 4, "off": 2 }
        });
        let detector = json!({ "verdict": "shared", "thresholds": { "on": places, "off": places - 4 } });
        scenario["overrides"] = json!([{ "devices": "y", "switch": {
            "buffering": "output", "buffer_packets": 2 * places, "voq": detector
        } }]);
        run(&scenario).port(device, port).xoff_edges > 0
    };
    // The first instant at which the run has seen a stop, by halving, to a hundredth of a packet.
    let first = |device, port| {
        let (mut before, mut after) = (0.0_f64, 200.0_f64);
        while after - before > 0.001 {
            let middle = (before + after) / 2.0;
            if stopped(device, port, (middle * 1e6).round() / 1e6) { after = middle } else { before = middle }
        }
        after * 1e6
    };
    let grown = first("x", 1) - first("y", 1);
    let burst = 4.0 + (PIPELINE_PS + 20_000.0 + SYMBOL * CHARACTER_PS + 2.0 * ONE_WAY_PS) / T_PS;
    let law = f64::from(places) / (h - s);
    Row::exact(
        "voq-staged",
        "160 places behind 0.55 where 1/4 is: time until they are full",
        "packet times",
        STAGED,
    )
    .expects(law)
    .allows(burst / (h - s), "a cycle of stop and go, and the packets of a loop")
    .found(grown / T_PS)
}
