//! What protocols take: the arithmetic of their documents.

use super::lab::{CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, Run, SYMBOL, altered, study};
use super::row::{Row, Source};
use models::probe::ProtocolFact;
use models::stats::{LinxTotals, SessionTotals, TransferTotals};
use serde_json::json;

const ROUND_TRIP: Source =
    Source::document("Parts 2, 3, 6, 10: packets, delimiters and pipelines of a round trip, by hand");
const RETRY: Source = Source::derived("one letter every S: of the rest, 1 - R/(w S) or 1 - T/S is refused");
const SEGMENTS: Source =
    Source::document("Part 10: header, data padded to 2, CRCs, padding to 4, for each segment");
const STALLS: Source = Source::document(
    "LINX RIOCM: three heartbeat periods without a sign of life; B in 2 T to 3 T ends (B - 2 T)/T",
);
const CONDUITS: Source =
    Source::document("Annex 2 §3.4: OPEN and ACCEPT each way; a lost message costs one retry period");
const BLOCKS: Source =
    Source::document("ST §4, §6: W Blocks in the time from a Clear_To_Send to the Block's last octet");

const DETECTION: Source = Source::document(
    "LINX RIOCM 10.1.3: a peer that is gone is noticed 2 T to 3 T later, by ticks of the own timer T to 3 T, \
     all alike",
);
const LOSS: Source = Source::document(
    "LINX RIOCM 10.1.3: three heartbeats lost in a row, each with p, end a connection: after \
     T (1 - p^3) / (p^3 (1 - p))",
);
const SET_UP: Source = Source::document(
    "LINX RIOCM 10.1.1: who sends REQ as well is up after 2 ways, a lone initiator after 4, its peer after 3",
);
const SLOTS: Source = Source::document(
    "ST 5.2.5: of S Slots one is kept for the question for more, which takes another: S - 2 STUs and the \
     question in a way there, the time that those behind the first take, and a way back",
);
const SERVED: Source = Source::document(
    "ST 5.2.5 and 10.1: S - 2 STUs and the question, s each at the host, in a way there, their services and \
     a way back",
);

/// One way over the idle switch of the studies for a packet of so many octets, picoseconds.
fn one_way(octets: u64) -> f64 {
    2.0 * ((octets as f64 + SYMBOL) * CHARACTER_PS + ONE_WAY_PS) + PIPELINE_PS
}

/// Requests and responses on an idle fabric.
pub(crate) fn round_trips() -> Vec<Row> {
    let text = include_str!("../../../scenarios/rpc-latency.json");
    // With messages the response of type 13 goes before the answer, at either end.
    let responses = 2.0 * 16.0 * CHARACTER_PS;
    let burst = 15.0 * (268.0 + SYMBOL) * CHARACTER_PS;
    let row = |(variant, law): (&str, f64)| {
        Row::exact("round-trips", format!("rpc-latency, {variant}: mean round trip"), "ns", ROUND_TRIP)
            .expects(law / 1e3)
            .found(study(text, variant).round_trips("rpc").mean_ps() / 1e3)
    };
    [
        ("message-8", 2.0 * one_way(16) + responses),
        ("message-4096", 2.0 * (one_way(268) + burst) + responses),
        ("stream-256", 2.0 * one_way(268)),
        ("read-256", one_way(12) + one_way(268)),
        ("write-256", one_way(272) + one_way(8)),
    ]
    .map(row)
    .into()
}

/// A mailbox that is too slow.
pub(crate) fn retries() -> Vec<Row> {
    let text = include_str!("../../../scenarios/message-retry-storm.json");
    let filled = 1.0 - (268.0 + SYMBOL) * CHARACTER_PS / 1e6;
    let row = |(variant, law): (&str, f64)| {
        let run = study(text, variant);
        let stats = &run.outcome.protocols[0];
        let share = stats.facts[ProtocolFact::Retried as usize] as f64 / stats.requests as f64;
        Row::exact(
            "retries",
            format!("message-retry-storm, {variant}: share of segments answered by RETRY"),
            "",
            RETRY,
        )
        .expects(law)
        .allows(
            0.01 * law,
            "the first letters find the queue empty, and periods are not multiples of each other",
        )
        .found(share)
    };
    [("senders-1", 1.0 - (one_way(268) + one_way(8)) / 4e6), ("senders-2", filled), ("senders-7", filled)]
        .map(row)
        .into()
}

/// PDUs of type 9.
pub(crate) fn segments() -> Vec<Row> {
    let text = include_str!("../../../scenarios/stream-segmentation.json");
    let row = |(variant, mtu, size): (&str, u64, u64)| {
        let count = size.div_ceil(mtu);
        let chars: u64 = (0..count)
            .map(|n| {
                let header = if n == 0 || n + 1 == count { 8 } else { 6 };
                let body = header + (size - n * mtu).min(mtu).next_multiple_of(2);
                (body + if body > 80 { 4 } else { 2 }).next_multiple_of(4) + SYMBOL as u64
            })
            .sum();
        let run = study(text, variant);
        let stats = &run.outcome.protocols[0];
        Row::exact("segments", format!("stream-segmentation, {variant}: payload by characters"), "", SEGMENTS)
            .expects(size as f64 / chars as f64)
            .found(stats.payload as f64 / stats.link_octets as f64)
    };
    [("mtu256-64", 256, 64), ("mtu256-256", 256, 256), ("mtu256-257", 256, 257), ("mtu32-1500", 32, 1_500)]
        .map(row)
        .into()
}

/// Heartbeats over a path that is blocked now and then.
pub(crate) fn stalls() -> Vec<Row> {
    let text = include_str!("../../../scenarios/linx-timeouts.json");
    let draws = 16.0 * 120.0;
    let row = |(variant, law): (&str, f64)| {
        let run = study(text, variant);
        let found =
            run.outcome.totals.one::<LinxTotals>().expect("one flow").stats.false_timeouts as f64 / draws;
        Row::exact(
            "stalls",
            format!("linx-timeouts, {variant}: share of stalls that end a connection"),
            "",
            STALLS,
        )
        .expects(law)
        .allows(3.3 * (law * (1.0 - law) / draws).sqrt(), "3.3 standard deviations of 1 920 draws")
        .found(found)
    };
    [
        ("stall-below", 0.0),
        ("stall-1100", 0.2),
        ("stall-1250", 0.5),
        ("stall-1400", 0.8),
        ("stall-above", 1.0),
        ("ticks-1000", 0.5),
    ]
    .map(row)
    .into()
}

/// Conduits by the corrected algorithm.
pub(crate) fn conduits() -> Vec<Row> {
    let race = include_str!("../../../scenarios/conduit-race-peers.json");
    let one_way = 984_000.0;
    let crossing = study(race, "corrected-crossing");
    let open = |run: &super::lab::Run| {
        run.outcome
            .totals
            .one::<SessionTotals>()
            .expect("one flow")
            .all_open
            .map_or(f64::NAN, |at| at.0 as f64)
    };
    let mut rows = vec![
        Row::exact("conduits", "OPENs that cross: one ways until the conduit is open", "", CONDUITS)
            .expects(2.0)
            .allows(0.1, "an ACCEPT is longer than an OPEN by its CONVEYANCE")
            .found(open(&crossing) / one_way),
    ];
    let storm = study(include_str!("../../../scenarios/conduit-storm.json"), "corrected-64");
    rows.push(
        Row::exact("conduits", "64 nodes power up together: conduits, each once", "conduits", CONDUITS)
            .expects(64.0 * 63.0 / 2.0)
            .found(storm.outcome.totals.one::<SessionTotals>().expect("one flow").pairs as f64),
    );
    rows
}

/// The way of Data of the one flow: see `models::transfer_rate`, whose integers `riosim check` prints.
fn way_of_data(run: &Run) -> models::transfer_rate::TransferPath {
    let agents = &run.config.agents;
    let roads = models::path::Roads::new(&run.config);
    let path = |from: usize, to: usize| roads.path(agents[from].device, agents[to].id).expect("a way");
    let models::config::ProtocolConfig::Transfer(end) = &agents[0].parts[0].protocol else { panic!("ST") };
    models::transfer_rate::TransferPath::new(
        path(0, 1),
        path(1, 0),
        1 << end.protocol.cut_stu,
        agents[0].mtu,
        agents[0].ids,
    )
}

/// Windows of Scheduled Transfer.
pub(crate) fn blocks() -> Vec<Row> {
    let text = include_str!("../../../scenarios/st-cts-window.json");
    let row = |window: u32| {
        let run = study(text, &window.to_string());
        let totals = run.outcome.totals.one::<TransferTotals>().expect("one flow");
        let found = analysis::protocol::transfer::goodput_gbps(totals, run.outcome.end.0).unwrap_or(f64::NAN);
        let way = way_of_data(&run);
        let block = 8_192_u64;
        let cycle = (way.block_latency(block) as f64 / f64::from(window)).max(way.block_time(block) as f64);
        let law = 8_000.0 * block as f64 / cycle;
        Row::exact("blocks", format!("st-cts-window, {window} Blocks enabled: payload rate"), "Gb/s", BLOCKS)
            .expects(law)
            .allows(0.01 * law, "the first and the last Block of 512")
            .found(found)
    };
    [1, 2, 3, 16].map(row).into()
}

fn connections(run: &Run) -> &LinxTotals {
    run.outcome.totals.one::<LinxTotals>().expect("one flow")
}

/// Stalls of 2.4 s, and peers that go down, by periods of heartbeats.
pub(crate) fn detection() -> Vec<Row> {
    let text = include_str!("../../../scenarios/linx-detection.json");
    let draws = 16.0 * 60.0_f64;
    let mut rows = Vec::new();
    for (variant, period, stalls, mean, variance) in [
        ("deadline-10", 1.0, 0.4, 2.5, 1.0 / 12.0),
        ("deadline-8", 0.8, 1.0, 2.5, 1.0 / 12.0),
        ("deadline-12", 1.2, 0.0, 2.5, 1.0 / 12.0),
        // The sum of two even distributions.
        ("ticks-10", 1.0, 1.0 - 0.6_f64.powi(2) / 2.0, 2.0, 1.0 / 6.0),
        ("ticks-14", 1.4, (2.4_f64 / 1.4 - 1.0).powi(2) / 2.0, 2.0, 1.0 / 6.0),
    ] {
        let run = study(text, variant);
        let stats = &connections(&run).stats;
        let reason = "3.3 standard deviations of 960 draws";
        rows.push(
            Row::exact(
                "detection",
                format!("linx-detection, {variant}: share of stalls that end a connection"),
                "",
                STALLS,
            )
            .expects(stalls)
            .allows(3.3 * (stalls * (1.0 - stalls) / draws).sqrt(), reason)
            .found(stats.false_timeouts as f64 / draws),
        );
        let found = stats.detected.sum as f64 / stats.detected.count as f64 / 1e12 / period;
        let what = format!("linx-detection, {variant}: mean time to notice that a peer is gone");
        rows.push(
            Row::exact("detection", what, "periods", DETECTION)
                .expects(mean)
                .allows(3.3 * (variance / draws).sqrt(), reason)
                .found(found),
        );
        let what = format!("linx-detection, {variant}: longest time to notice it");
        // A frame is under way for less than a microsecond.
        rows.push(
            Row::exact("detection", what, "periods", DETECTION)
                .expects_at_most(3.0 + 1e-6 / period)
                .found(stats.detected.max as f64 / 1e12 / period),
        );
    }
    let text = include_str!("../../../scenarios/linx-timeouts.json");
    for (variant, p) in [("loss-10", 0.1_f64), ("loss-20", 0.2)] {
        let run = study(text, variant);
        let stats = &connections(&run).stats;
        let mean = 0.5 * (1.0 - p.powi(3)) / (p.powi(3) * (1.0 - p));
        // As many as there are, each after an exponential time.
        let count = stats.up_ps as f64 / 1e12 / mean;
        let what = format!("linx-timeouts, {variant}: mean time until three heartbeats in a row are lost");
        rows.push(
            Row::exact("detection", what, "s", LOSS)
                .expects(mean)
                .allows(3.3 * mean / count.sqrt(), "3.3 standard deviations of as many as there are")
                .found(stats.up_ps as f64 / 1e12 / stats.false_timeouts as f64),
        );
    }
    rows
}

/// Two nodes over one idle switch, 80 m of cable at either side.
pub(crate) fn set_up() -> Vec<Row> {
    let text = include_str!("../../../scenarios/linx-crossing-connect.json");
    let one_way =
        |octets: f64| 2.0 * ((octets + SYMBOL) * CHARACTER_PS + 30_000.0 + 80.0 * 5_000.0) + PIPELINE_PS;
    // REQ has 16 octets and ACK 18: messages of 16 and 24 octets, behind 8 of header and CRC, and each is
    // answered by a response before anything else leaves.
    let (request, acknowledge, response) = (one_way(24.0), one_way(32.0), (8.0 + SYMBOL) * CHARACTER_PS);
    // In a PDU both are of the same length: 8 of header, data, CRC, padding to 4.
    let pdu = one_way(28.0);
    let row = |what: &str, variant: &str, law: f64, start: f64| {
        let up = connections(&study(text, variant)).all_up.map_or(f64::NAN, |at| at.0 as f64);
        Row::exact("set-up", format!("linx-crossing-connect, {what}"), "ns", SET_UP)
            .expects(law / 1e3)
            .found((up - start) / 1e3)
    };
    vec![
        row("requests cross: both ends are up", "crossing", request + response + acknowledge, 0.0),
        row(
            "a lone initiator is up",
            "lone-initiator",
            request + 3.0 * (response + acknowledge),
            1_200_000.0,
        ),
        row("requests cross in PDUs: both ends are up", "over-streams", 2.0 * pdu, 0.0),
    ]
}

/// Few Slots, on the way alone and with a host that takes its time for each frame.
pub(crate) fn slots() -> Vec<Row> {
    let text = include_str!("../../../scenarios/st-slots.json");
    let (stu, service) = (1_024.0, 2e6_f64);
    let row = |slots: u32, served: bool| {
        let count = ("/traffic/write/st/slots", json!(slots));
        let host =
            ("/overrides", json!([{ "devices": "B", "endpoint": { "host": { "rx_service": "2 us" } } }]));
        let until = ("/run/until", json!("40 ms"));
        let run = if served { altered(text, &[count, host, until]) } else { altered(text, &[count]) };
        let totals = run.outcome.totals.one::<TransferTotals>().expect("one flow");
        let found = analysis::protocol::transfer::goodput_gbps(totals, run.outcome.end.0).unwrap_or(f64::NAN);
        let way = way_of_data(&run);
        // A way of Data and one of an answer; meanwhile the others follow, and the question.
        let (there_and_back, question) = (way.round_trip() as f64, way.question() as f64);
        let sent = f64::from(slots - 2);
        let (what, source, pace, own, asking) = if served {
            ("and 2 us for each frame at the host", SERVED, service, service, service)
        } else {
            // Half a round trip of the question is two links of 100 m and a pipeline.
            let asking = (question / 2.0 - PIPELINE_PS) / 2.0 - 530_000.0;
            ("nothing at the host", SLOTS, way.block_time(stu as u64) as f64, 0.0, asking)
        };
        let passed = |stus: f64| there_and_back + own + (stus - 1.0) * pace;
        // A Request_To_Send and its Clear_To_Send go before, and the last Data is answered unasked.
        let cycles = (1_024.0 / sent).ceil() - 1.0;
        let whole = question + own + cycles * (passed(sent) + asking) + passed(1_024.0 - cycles * sent);
        let law = 8_000.0 * 1_024.0 * stu / whole;
        Row::exact("slots", format!("st-slots, {slots} Slots, {what}: payload rate"), "Gb/s", source)
            .expects(law)
            .found(found)
    };
    [(4, false), (8, false), (16, false), (64, false), (4, true), (8, true), (16, true)]
        .map(|(slots, served)| row(slots, served))
        .into()
}
