//! Studies of Scheduled Transfer.

use super::{Study, near};
use analysis::protocol::transfer::goodput_gbps;
use models::config::{AgentConfig, ProtocolConfig, TransferConfig};
use models::path::Roads;
use models::stats::{ProgramTotals, RankStats, TransferTotals, TranslatorTotals};
use models::transfer_rate::TransferPath;

/// What the ends of the only flow of Scheduled Transfer of a variant have come to; all octets were compared.
fn transfers<'a>(study: &'a Study, variant: &str) -> &'a TransferTotals {
    let totals = study
        .of(variant)
        .run
        .outcome
        .totals
        .one::<TransferTotals>()
        .unwrap_or_else(|| panic!("{variant}: one flow"));
    let stats = &totals.stats;
    assert_eq!((stats.completed, stats.verified), (stats.wanted, stats.wanted), "{variant}: {totals:?}");
    totals
}

/// The way of Data of a variant with one pair of ends.
fn way(study: &Study, variant: &str) -> (TransferPath, TransferConfig) {
    let config = &study.of(variant).run.config;
    let (roads, agents) = (Roads::new(config), &config.agents);
    let ProtocolConfig::Transfer(end) = &agents[0].parts[0].protocol else { panic!("Scheduled Transfer") };
    let path = |from: usize, to: usize| roads.path(agents[from].device, agents[to].id).unwrap();
    let (there, back) =
        if end.job.operation.is_read() { (path(1, 0), path(0, 1)) } else { (path(0, 1), path(1, 0)) };
    let stu = 1 << end.protocol.cut_stu;
    let AgentConfig { mtu, ids, .. } = agents[0];
    let way = match end.medium {
        Some(medium) => TransferPath::on_medium(there, back, stu, medium),
        None => TransferPath::new(there, back, stu, mtu, ids),
    };
    (way, (**end).clone())
}

/// W Blocks in the time from the Clear_To_Send of a Block to its last octet, until the path is full.
///
/// Proves: ST-6.2.11-1
#[test]
fn st_cts_window() {
    let study = Study::run("st-cts-window");
    for report in &study.reports {
        let name = report.run.name.as_str();
        let (way, end) = way(&study, name);
        let block = 1u64 << end.job.blocksize;
        let window = if end.job.cts_req == 0 { u64::MAX } else { end.job.cts_req.into() };
        let mut cycle = way.block_latency(block) as f64 / window as f64;
        if end.protocol.slots != u16::MAX {
            // One Slot stays for the question, which takes another.
            cycle += way.question() as f64 / f64::from(end.protocol.slots - 2);
        }
        let law = 8_000.0 * block as f64 / cycle.max(way.block_time(block) as f64);
        let found = rate_of(&study, name);
        assert!((found / law - 1.0).abs() < 0.01, "{name}: {found} Gb/s, the law says {law}");
    }
    let full = 8_000.0 * 8192.0 / way(&study, "16").0.block_time(8192) as f64;
    let found = rate_of(&study, "16");
    assert!(found >= 0.98 * full, "{found} of {full} Gb/s");
}

/// S - 2 STUs in the time of their frames and a round trip of the question for Slots.
#[test]
fn st_slots() {
    let study = Study::run("st-slots");
    let silent = rate_of(&study, "silent-4");
    for slots in [4, 8, 16, 64] {
        let name = slots.to_string();
        let (way, _) = way(&study, &name);
        let frame = way.block_time(1024) as f64;
        let round_trip = way.question() as f64;
        let sent = f64::from(slots - 2);
        let law = 8_000.0 * 1024.0 * sent / (sent * frame + round_trip);
        let found = rate_of(&study, &name);
        assert!((found / law - 1.0).abs() < 0.03, "{name} Slots: {found} Gb/s, the law says {law}");
        assert!(found < silent);
    }
    let uncounted = rate_of(&study, "uncounted");
    near("uncounted Slots", uncounted, silent, 0.01);
}

/// What tells the upper layer sets the pace: its time for a header, the Slots that fill from poll to poll,
/// its time for an interrupt. A small Read waits for two polls, or for handlers.
#[test]
fn st_delivery() {
    let study = Study::run("st-delivery");
    let silent = rate_of(&study, "silent");
    let kib = 8_000.0 * 1_024.0;
    let laws = [
        ("headers-0.2", kib / 200_000.0),
        ("headers-0.5", kib / 500_000.0),
        ("headers-1", kib / 1_000_000.0),
        ("polled-20", 62.0 * kib / 20_000_000.0),
        ("interrupts-2", 8.0 * kib / 2_000_000.0),
        ("interrupts-5", 8.0 * kib / 5_000_000.0),
        ("interrupts-10", 8.0 * kib / 10_000_000.0),
    ];
    for (variant, law) in laws {
        let found = rate_of(&study, variant);
        if law < 0.95 * silent {
            near(variant, found, law, 0.02 * law);
        } else {
            // As much as the path has, beside the questions for Slots.
            assert!((0.9 * silent..=1.001 * silent).contains(&found), "{variant}: {found} Gb/s");
        }
        assert_eq!(transfers(&study, variant).stats.timeouts, 0, "{variant}");
    }
    let times = |variant| &transfers(&study, variant).stats.times[..];
    // From a poll to a poll: the request waits for one at B, and 4 096 STUs are 62 for each of 67.
    assert_eq!(times("polled-50"), [68 * 50_000_000]);
    assert_eq!(times("polled-100"), [68 * 100_000_000]);
    let (alone, polled, told) = (times("small-silent"), times("small-polled"), times("small-interrupts"));
    // The first one begins between polls.
    assert!(polled[..99].iter().all(|&time| time == 40_000_000), "{polled:?}");
    // Most Reads without an upper layer wait a little for each other as well, so means differ by less.
    let shortest = alone.iter().min().expect("a hundred Reads");
    let handlers = told.iter().map(|time| time - shortest);
    assert!(handlers.clone().all(|time| (2_000_000..=3_000_000).contains(&time)), "{told:?}, {alone:?}");
}

/// A Block that misses one of its eight frames is sent again; nothing is lost for good, and nothing is wrong.
#[test]
fn st_lossy() {
    let study = Study::run("st-lossy");
    for (variant, loss) in [("0", 0.0_f64), ("0.1", 0.001), ("1", 0.01), ("3", 0.03), ("reads", 0.01)] {
        let stats = &transfers(&study, variant).stats;
        let again = stats.payload as f64 / stats.verified_octets as f64 - 1.0;
        let law = (1.0 - loss).powi(-8) - 1.0;
        near(&format!("repeated payload, {variant}"), again, law, 0.002 + 0.15 * law);
        assert_eq!((stats.exhausted, stats.lost > 0), (0, loss > 0.0), "{variant}");
    }
    let stats = &transfers(&study, "late").stats;
    assert!(stats.doubled > 1_000 && stats.delayed > 1_000 && stats.lost == 0, "{stats:?}");
    let rate = |variant| rate_of(&study, variant);
    assert!(rate("0") > rate("0.1") && rate("0.1") > rate("1") && rate("1") > rate("3"));
}

/// On every medium a Write comes to what its frames leave of the link; `results/reference` has the integers.
#[test]
fn st_media() {
    let study = Study::run("st-media");
    for report in &study.reports {
        let name = report.run.name.as_str();
        let (way, end) = way(&study, name);
        let block = 1u64 << end.job.blocksize;
        let analytic = 8_000.0 * block as f64 / way.block_time(block) as f64;
        let totals = transfers(&study, name);
        let found = rate_of(&study, name);
        let least = if totals.clean { 0.98 } else { 0.85 };
        assert!((least..=1.0).contains(&(found / analytic)), "{name}: {found} of {analytic} Gb/s");
        assert_eq!(totals.stats.payload == totals.stats.verified_octets, totals.clean, "{name}");
    }
}

/// What is enabled has to fit into the buffers where nobody waits for room.
#[test]
fn st_media_incast() {
    let study = Study::run("st-media-incast");
    let rate = |variant| rate_of(&study, variant);
    for variant in ["ethernet-1", "ethernet-paced", "hippi-6400"] {
        let (way, _) = way(&study, variant);
        let law = 8_000.0 * 1_024.0 / way.block_time(1_024) as f64;
        near(variant, rate(variant), law, 0.01 * law);
        assert_eq!(study.of(variant).run.outcome.dropped, 0, "{variant}");
    }
    for variant in ["ethernet-16", "ethernet-4"] {
        assert!(study.of(variant).run.outcome.dropped > 1_000 && rate(variant) < 1.0, "{variant}");
    }
}

/// Stripes add up, whoever has them; `results/reference` has the integers.
///
/// Proves: ST-B.2-1, ST-B.2-2, ST-B.3-2, ST-B.4-1
#[test]
fn st_striping() {
    let study = Study::run("st-striping");
    let rate = |variant| rate_of(&study, variant);
    let one = {
        let (way, end) = way(&study, "1to1");
        8_000.0 * (1u64 << end.job.blocksize) as f64 / way.block_time(1 << end.job.blocksize) as f64
    };
    // 1to4slow: one after the other, so the slowest sets the pace of all four.
    for (variant, stripes) in [
        ("1to1", 1.0),
        ("2to1", 2.0),
        ("4to1", 4.0),
        ("4to1slow", 7.0),
        ("1to4", 4.0),
        ("1to4slow", 4.0),
        ("4to4", 4.0),
    ] {
        near(variant, rate(variant), stripes * one, 0.015 * stripes * one);
        let stats = &transfers(&study, variant).stats;
        assert_eq!(stats.payload, stats.verified_octets, "{variant}: nothing is sent twice");
    }
    let lossy = &transfers(&study, "4to1lossy").stats;
    assert!(lossy.lost > 0 && lossy.payload > lossy.verified_octets && rate("4to1lossy") > one);
}

/// The slower medium sets the pace, whatever is in front of it: an Ethernet frame of 1 KiB is 1 110 octets,
/// one of Fibre Channel with 8 KiB takes 8 496. A translator that takes longer sets it itself, Clear_To_Send
/// included. Where no Max_STU is lowered nothing arrives; where what is enabled does not fit, much is sent
/// again.
///
/// Proves: ST-5.2.4-5, ST-6.2.5-5, ST-A.1-8, ST-B.2-1
#[test]
fn st_translator() {
    let study = Study::run("st-translator");
    let totals = |variant: &str| {
        let totals = &study.of(variant).run.outcome.totals;
        (
            totals.one::<TransferTotals>().expect("one flow"),
            totals.one::<TranslatorTotals>().expect("one flow"),
        )
    };
    let dropped = |variant: &str| -> u64 {
        totals(variant).1.translators.iter().map(|translator| translator.stats.dropped()).sum()
    };
    let ethernet = 1_024.0 / 1_110.0;
    let fibre_channel = 8_192.0 / 8_496.0 * 0.85;
    let slow = 8.0 * 1_024.0 / 12_000.0 * 64.0 / 65.0;
    for (variant, law) in [
        ("one", ethernet),
        ("two", ethernet),
        ("slow", slow),
        ("lowered", ethernet),
        ("stripe", fibre_channel),
        ("stripes", 4.0 * fibre_channel),
    ] {
        // A Transfer begins and ends with a round trip.
        near(variant, rate_of(&study, variant), law, 0.01 * law);
        assert_eq!(transfers(&study, variant).stats.logged + dropped(variant), 0, "{variant}");
    }
    let (unlowered, _) = totals("unlowered");
    assert_eq!((unlowered.stats.completed, unlowered.stats.verified_octets), (0, 0));
    assert_eq!(dropped("unlowered"), unlowered.stats.data.frames, "every STU");
    assert!(transfers(&study, "buffer").stats.payload > 9 << 19 && dropped("buffer") > 0);
    assert!(rate_of(&study, "buffer") < 0.5 * ethernet);
    // Eight Blocks of 8 KiB, a header of 40 octets for each 1 KiB.
    let most = totals("lowered").1.translators[0].most_octets;
    assert!((60_000..=8 * 8 * 1_064).contains(&most), "{most}");
}

/// Pacing keeps the bystander free, and so does backpressure. What they cost the writers is measured: pacing
/// less than a tenth, backpressure nothing.
#[test]
fn st_incast() {
    let study = Study::run("st-incast");
    let bystander = |variant| study.flow(variant, "bystander").latency.mean.value;
    let free = bystander("voq-st-paced");
    for (variant, least, most) in [
        // It grows as long as the run goes on.
        ("uncontrolled", 100.0, f64::INFINITY),
        ("st-all", 100.0, f64::INFINITY),
        ("st-paced", 0.99, 1.1),
        ("voq-uncontrolled", 0.99, 1.5),
    ] {
        let times = bystander(variant) / free;
        assert!((least..most).contains(&times), "{variant}: {times} times as long");
    }
    assert!(study.load("uncontrolled", "bystander") < 0.1, "most never gets through");
    for variant in ["st-paced", "voq-uncontrolled", "voq-st-paced"] {
        near(variant, study.load(variant, "bystander"), 0.25, 0.002);
    }
    near("voq-st-all", study.load("voq-st-all", "bystander"), 0.24, 0.005);
    // Measured while all write: what is let in at once takes half of what the bystander asks for.
    let st_all = study.load("st-all", "bystander");
    assert!((0.11..0.15).contains(&st_all), "{st_all}");
    for variant in ["st-all", "st-paced", "voq-st-all", "voq-st-paced"] {
        let totals = study
            .of(variant)
            .run
            .outcome
            .totals
            .one::<TransferTotals>()
            .unwrap_or_else(|| panic!("{variant}: one flow"));
        assert!(totals.stats.completed < totals.stats.wanted, "{variant}: the writers write to the end");
    }
    let rate = |variant| study.flow(variant, "writers").goodput_gbps.value;
    for (variant, least) in [("st-paced", 0.9), ("voq-st-all", 0.99), ("voq-st-paced", 0.9)] {
        assert!(rate(variant) > least * rate("st-all"), "{variant}: {} Gb/s", rate(variant));
    }
    let latency = |variant| study.flow(variant, "writers").network.mean.value;
    assert!(3.0 * latency("st-paced") < latency("st-all"), "little waits on the way");
}

/// Of Transfers that no program asks for, Gb/s.
fn rate_of(study: &Study, variant: &str) -> f64 {
    let totals = transfers(study, variant);
    assert!(totals.ranks.is_empty());
    goodput_gbps(totals, study.of(variant).run.outcome.end.0).expect("something has begun")
}

/// When the last rank of a program was done, ps.
fn done(study: &Study, variant: &str) -> f64 {
    let ranks = &transfers(study, variant).ranks;
    assert_eq!(ranks.len(), 16);
    ranks.iter().map(|rank| rank.end.expect("every rank is done").0).max().unwrap() as f64
}

/// Collective operations take what their rounds and their octets take, and a little more.
#[test]
fn st_collectives() {
    let study = Study::run("st-collectives");
    let config = &study.of("barrier").run.config;
    let roads = Roads::new(config);
    let agents = &config.agents;
    let AgentConfig { mtu, ids, .. } = agents[0];
    let way = |from: usize, to: usize| {
        let path = |from: usize, to: usize| roads.path(agents[from].device, agents[to].id).unwrap();
        TransferPath::new(path(from, to), path(to, from), 1024, mtu, ids)
    };
    // Neighbours share a leaf, others are two levels apart: request, permission and a short frame, 4 times.
    let rounds = |to: usize| 4.0 * 1.5 * way(0, to).question() as f64;
    let barrier = done(&study, "barrier") - 2.0 * way(0, 15).question() as f64;
    assert!((0.8 * rounds(1)..1.1 * rounds(15)).contains(&barrier), "{barrier} ps");
    // Octets that each rank has to send, at the rate of its link.
    let frame = way(0, 15).block_time(1024) as f64;
    for (variant, octets, most) in [
        ("allreduce-halving", 2.0 * 262_144.0 * 15.0 / 16.0, 1.15),
        ("allreduce-ring", 2.0 * 262_144.0 * 15.0 / 16.0, 1.3),
        ("all-to-all", 15.0 * 16_384.0, 1.25),
    ] {
        let times = done(&study, variant) / (octets / 1_024.0 * frame);
        assert!((1.0..most).contains(&times), "{variant}: {times} times the least");
    }
    assert!(done(&study, "all-to-all-lossy") > done(&study, "all-to-all"));
    assert!(transfers(&study, "all-to-all-lossy").stats.lost > 0);
}

/// Either keeps victims free of a hot endpoint, its own pacing or backpressure; the hot flow loses little.
#[test]
fn st_vs_voq() {
    let study = Study::run("st-vs-voq");
    let tail = |variant| study.flow(variant, "victims").latency.p999.value;
    let free = tail("st").min(tail("voq-writes"));
    for variant in ["st", "voq-writes", "voq-st"] {
        near(variant, study.load(variant, "victims"), study.flow(variant, "victims").offered_load, 0.003);
        assert!(tail(variant) < 1.5 * free, "{variant}: {} ps", tail(variant));
    }
    assert!(study.load("writes", "victims") < 0.92 * study.flow("writes", "victims").offered_load);
    assert!(tail("writes") > 50.0 * free, "{} ps", tail("writes"));
    let writes = study.flow("writes", "writers").goodput_gbps.value;
    near(
        "the hot link is full",
        study.flow("voq-writes", "writers").goodput_gbps.value,
        writes,
        0.01 * writes,
    );
    for variant in ["st", "voq-st"] {
        let totals = study.of(variant).run.outcome.totals.one::<TransferTotals>().expect("one flow");
        assert_eq!((totals.stats.verified, totals.stats.timeouts), (totals.stats.completed, 0), "{variant}");
        // Headers take 6 % more than those of writes.
        let rate = study.flow(variant, "writers").goodput_gbps.value;
        let told = goodput_gbps(totals, study.of(variant).run.outcome.end.0).expect("something has begun");
        near(variant, told, rate, 1e-9 * rate);
        assert!((0.88..0.97).contains(&(rate / writes)), "{variant}: {rate} Gb/s of {writes}");
    }
}

/// The messages arrive whatever carries them; what each transport costs.
#[test]
fn goal_transports() {
    let study = Study::run("goal-transports");
    let st = transfers(&study, "st");
    let end = |ranks: &[RankStats]| {
        assert_eq!(ranks.len(), 16);
        ranks.iter().map(|rank| rank.end.expect("every rank is done").0).max().unwrap()
    };
    let mut ends = vec![end(&st.ranks)];
    for variant in ["session-message", "session-stream", "linx-message", "linx-stream"] {
        let totals = study
            .of(variant)
            .run
            .outcome
            .totals
            .one::<ProgramTotals>()
            .unwrap_or_else(|| panic!("{variant}: one program"));
        let stats = &totals.stats;
        assert_eq!((stats.sent, stats.received, stats.corrupt), (128, 128, 0), "{variant}");
        assert_eq!(stats.octets, st.stats.verified_octets, "{variant}");
        // Half of the messages have more than 8 KiB.
        assert_eq!(stats.confirmed, 64, "{variant}");
        ends.push(end(&totals.ranks));
    }
    assert_eq!(st.stats.completed, 128);
    // Octets that each rank has to send, at the rate of its link without any header.
    let least = 2.0 * 65_536.0 * 15.0 / 16.0 * 8.0 / 20.0 * 1_000.0;
    assert!(ends.iter().all(|&end| end as f64 > least), "{ends:?}");
    let [_, session11, session9, linx11, linx9] = ends[..] else { unreachable!("five variants") };
    assert!(session9 < session11 && linx9 < linx11, "type 9 waits for nothing: {ends:?}");
}
