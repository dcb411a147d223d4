//! What protocols take: the arithmetic of their documents.

use super::lab::{CHARACTER_PS, ONE_WAY_PS, PIPELINE_PS, SYMBOL, study};
use super::row::{Row, Source};
use models::probe::ProtocolFact;
use models::stats::{LinxTotals, SessionTotals, TransferTotals};

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

/// Windows of Scheduled Transfer.
pub(crate) fn blocks() -> Vec<Row> {
    let text = include_str!("../../../scenarios/st-cts-window.json");
    let row = |window: u32| {
        let run = study(text, &window.to_string());
        let totals = run.outcome.totals.one::<TransferTotals>().expect("one flow");
        let found = analysis::protocol::transfer::goodput_gbps(totals, run.outcome.end.0).unwrap_or(f64::NAN);
        // The way of Data by hand: see `models::transfer_rate`, whose integers `riosim check` prints.
        let agents = &run.config.agents;
        let roads = models::path::Roads::new(&run.config);
        let path = |from: usize, to: usize| roads.path(agents[from].device, agents[to].id).expect("a way");
        let models::config::ProtocolConfig::Transfer(end) = &agents[0].parts[0].protocol else {
            panic!("ST")
        };
        let way = models::transfer_rate::TransferPath::new(
            path(0, 1),
            path(1, 0),
            1 << end.protocol.cut_stu,
            agents[0].mtu,
            agents[0].ids,
            agents[0].idle3,
        );
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
