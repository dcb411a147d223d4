//! Part 12: laws of VoQ backpressure, on the studies as they are shipped.

use super::lab::{CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, SYMBOL, T_PS, study};
use super::row::{Row, Source};

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
    let mut rows: Vec<Row> = [("n-2", 1.0 / 3.0), ("n-3", 1.0 / 5.0), ("n-4", 1.0 / 7.0)].map(row).into();
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
