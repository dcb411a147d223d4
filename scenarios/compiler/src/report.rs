//! What a scenario comes to, in text: for `check` and for lists.

use crate::check::Judged;
use crate::diagnostic::count;
use crate::fabric;
use crate::flow::{Clock, Slowest};
use crate::plan::{RunPlan, Variant, Warmup};
use crate::presets;
use crate::topology::TOPOLOGIES;
use crate::units::{Ratio, time_text};
use models::config::*;
use models::scheduled_transfer::intermediate::Limits;
use models::transfer_rate::Bound;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Most lines of one table in a report.
const LINES_MAX: usize = 24;

/// What every variant of a scenario comes to: devices, links, routes, lookahead, loads.
pub fn check_report(plan: &RunPlan) -> String {
    check_report_with(plan, &|_| Vec::new())
}

/// Likewise, with lines on what links of a variant are offered, which `offered` reckons.
pub fn check_report_with(plan: &RunPlan, offered: &dyn Fn(&Variant) -> Vec<String>) -> String {
    let mut out = format!("{}: {}\n", plan.name, plan.title);
    let mut first: Option<String> = None;
    for (place, variant) in plan.variants.iter().enumerate() {
        let _ = writeln!(out, "\nvariant {}", variant.name);
        let mut text = String::new();
        describe(variant, &offered(variant), &mut text);
        match &first {
            None => out.push_str(&text),
            Some(first) => {
                // Only what differs: a reader compares variants.
                let known: std::collections::BTreeSet<&str> = first.lines().collect();
                let new: Vec<&str> = text.lines().filter(|line| !known.contains(line)).collect();
                let sets = settings(plan, place);
                out.push_str(&match new.is_empty() {
                    true => format!("  sets {sets}, which changes nothing that is shown here\n"),
                    false => format!("  sets {sets}; it differs from {} in:\n", plan.variants[0].name),
                });
                out.extend(new.iter().map(|line| format!("{line}\n")));
            }
        }
        first.get_or_insert(text);
    }
    if !plan.warnings.items.is_empty() {
        let _ = write!(out, "\n{}", plan.warnings.render());
    }
    out
}

/// What a variant sets, as the file says it; values that are long are left out.
fn settings(plan: &RunPlan, place: usize) -> String {
    const LONG: usize = 24;
    let set = plan.given.pointer(&format!("/variants/{place}/set")).and_then(Value::as_object);
    let one = |(at, value): (&String, &Value)| {
        let value = value.to_string();
        if value.len() > LONG { at.clone() } else { format!("{at} to {value}") }
    };
    let all: Vec<String> = set.into_iter().flatten().map(one).collect();
    if all.is_empty() { "nothing".into() } else { all.join(", ") }
}

fn plural(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn describe(variant: &Variant, offered: &[String], out: &mut String) {
    let config = &*variant.config;
    let switches = config.devices.iter().filter(|d| matches!(d.model, DeviceModel::Switch(_))).count();
    let endpoints = config.devices.len() - switches;
    // Which ids the host gives, and in which order, is seen when it has.
    let from = if config.enumeration.is_some() { "up to" } else { "from 0 to" };
    let _ = writeln!(
        out,
        "  {}, {} and {}; device ids {from} {}; {} from {}",
        plural(switches, "switch", "switches"),
        count(endpoints, "endpoint"),
        count(config.links.len(), "link"),
        config.id_space - 1,
        count(variant.offered.len(), "flow"),
        count(variant.offered.iter().map(|offered| offered.sources as usize).sum(), "source")
    );
    if let Some(host) = config.enumeration {
        let name = &config.devices[host.host as usize].path;
        let _ = writeln!(
            out,
            "  {name} sets it up: ids, routes{}",
            if host.enables { ", VoQ enables" } else { "" }
        );
    }
    let warmup = match variant.warmup {
        Warmup::Auto => "once it is steady".to_owned(),
        Warmup::Until(at) => format!("from {} on", time_text(at.0)),
    };
    let stall = match config.stall_after {
        Some(after) => {
            format!("a packet that does not move for {} counts as stalled", time_text(after.0))
        }
        None => "stalls are not looked for".to_owned(),
    };
    let _ = writeln!(out, "  runs for {}, measured {warmup}; {stall}", time_text(variant.until.0));
    table(out, "switches", switch_lines(config));
    let detectors: Vec<_> = variant.detectors.iter().filter(|own| own.is_reachable()).collect();
    let told = detectors.iter().map(|own| (own.device, own.port)).collect::<BTreeSet<_>>().len();
    if told > 0 {
        table(out, "detectors of congestion", detector_lines(config, detectors));
    }
    table(out, "links", link_lines(variant));
    let translators = translator_lines(config);
    if !translators.is_empty() {
        table(out, "translators", translators);
    }
    routes(variant, out);
    if let Some(lookahead) = config.links.iter().map(lookahead).min() {
        let _ = writeln!(
            out,
            "  what happens at a device reaches its neighbour after {} at the earliest",
            time_text(lookahead)
        );
    }
    out.push_str(&clock_report(variant));
    let _ = writeln!(out, "  flows:");
    for (name, text) in load_lines(variant) {
        let _ = writeln!(out, "    {name}: {text}");
    }
    if !offered.is_empty() {
        let _ = writeln!(out, "  offered to links if all flows send at a time:");
    }
    for line in offered {
        let _ = writeln!(out, "    {line}");
    }
    let _ = writeln!(out, "  looked at:");
    for line in looked_at(variant, told) {
        let _ = writeln!(out, "    {line}");
    }
}

/// What warnings are about, so many detectors among it, and what of it nobody judged: who reads no warning
/// wants to know what that means.
fn looked_at(variant: &Variant, told: usize) -> Vec<String> {
    let config = &variant.config;
    let Judged { ends, idle, blind, lossy } = crate::check::judged(config);
    let buffers = [
        (idle, "to which nothing comes"),
        (blind, "whose receivers control the flow"),
        (lossy, "of media that lose what finds no room"),
    ];
    let mut lines = vec![looked(format!("the receive buffers of {} of links", count(ends, "end")), &buffers)];
    let watched = |device: usize, own: &SwitchConfig| {
        (0..config.devices[device].ports.len()).filter(|port| own.rules(*port).detector.is_some()).count()
    };
    let of = |(device, own): (usize, &DeviceConfig)| match &own.model {
        DeviceModel::Switch(own) => watched(device, own),
        DeviceModel::Endpoint(_) => 0,
    };
    let all: usize = config.devices.iter().enumerate().map(of).sum();
    if all > 0 {
        let deaf = (all - told, "that never go on, or that nobody hears");
        let detectors = count(told, "detector");
        lines.push(looked(format!("the places above the thresholds of {detectors}"), &[deaf]));
    }
    let loads = variant.offered.iter().filter(|offered| offered.load.is_some()).count();
    let unknown = (variant.offered.len() - loads, "whose load is not known before the run");
    lines.push(looked(
        format!("the loads of {} on the links of their sources", count(loads, "flow")),
        &[unknown],
    ));
    if !variant.require.is_empty() {
        lines.push(format!("{}: their flows, links and units", count(variant.require.len(), "requirement")));
    }
    lines
}

/// What was looked at, and of what was left out how many, and which.
fn looked(what: String, left_out: &[(usize, &str)]) -> String {
    let out: Vec<String> =
        left_out.iter().filter(|(n, _)| *n > 0).map(|(n, which)| format!("{n} {which}")).collect();
    if out.is_empty() { what } else { format!("{what}; not at {}", out.join(", ")) }
}

/// Prints equal lines once, with their number.
fn table(out: &mut String, title: &str, lines: Vec<(String, String)>) {
    let mut groups: Vec<(String, String, usize)> = Vec::new();
    let mut place: BTreeMap<String, usize> = BTreeMap::new();
    for (name, text) in lines {
        match place.get(&text) {
            Some(&i) => groups[i].2 += 1,
            None => {
                place.insert(text.clone(), groups.len());
                groups.push((name, text, 1));
            }
        }
    }
    let _ = writeln!(out, "  {title}:");
    let more = groups.len().saturating_sub(LINES_MAX);
    for (name, text, n) in groups.into_iter().take(LINES_MAX) {
        let _ = match n {
            1 => writeln!(out, "    {name}: {text}"),
            n => writeln!(out, "    {name} and {} more: {text}", n - 1),
        };
    }
    if more > 0 {
        let _ = writeln!(out, "    ... and {more} other kinds");
    }
}

fn switch_lines(config: &FabricConfig) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for (number, device) in (0..).zip(&config.devices) {
        let DeviceModel::Switch(s) = &device.model else { continue };
        let mut detector = match &s.detector {
            _ if !s.port_rules.is_empty() => {
                format!("VoQ messages by rules of each port; {}", staging_text(&s.staging))
            }
            Some(d) => format!(
                "VoQ messages: {}, {}; {}",
                judgement(d),
                s.refresh.map_or("never repeated".into(), |r| format!("repeated every {}", time_text(r.0))),
                staging_text(&s.staging)
            ),
            None => "no VoQ messages".into(),
        };
        let thresholds = |write: &VoqWrite| matches!(write.change, VoqChange::Thresholds { .. });
        if config.voq_writes.iter().any(|write| write.device == number && thresholds(write)) {
            detector.push_str(", thresholds are written during the run");
        }
        if s.leave_out_stopped {
            detector.push_str(", packets that the next hop has stopped are not counted");
        }
        let text = format!(
            "{} ports, {} buffers each, {}, pipeline {}, {detector}",
            device.ports.len(),
            device.ports.first().map_or(0, |p| p.buffers),
            organisation(s),
            time_text(s.pipeline.0)
        );
        lines.push((device.path.clone(), text));
    }
    lines
}

/// When a port is congested.
fn judgement(detector: &Detector) -> String {
    let whose = match detector.verdict {
        Verdict::Shared => "for all inputs together",
        Verdict::PerIngress => "for each input by itself",
    };
    format!("XOFF at {} waiting packets and XON at {}, {whose}", detector.x_on, detector.x_off)
}

/// Places above `on` that each detector needs, and those that there are.
fn detector_lines(config: &FabricConfig, all: Vec<&fabric::Headroom>) -> Vec<(String, String)> {
    let lengths = fabric::Lengths::of(config);
    let line = |found: &fabric::Headroom| {
        let switch = fabric::switch(config, found.device);
        let beyond = match found.beyond {
            // What is not counted has no bound.
            _ if switch.is_some_and(|switch| switch.leave_out_stopped) => {
                "; packets that the next hop has stopped are not counted, and may take them all \
                 (leave_out_stopped)"
                    .into()
            }
            Some(more) => {
                format!("; with {more} more, packets for other ports do not wait for each other's either")
            }
            None => String::new(),
        };
        let since = found.since.map_or(String::new(), |at| format!("from {} on ", time_text(at.0)));
        let crowded = if found.crowded > found.each {
            let most = found.crowded;
            format!("; up to {most} from each if messages about all groups of ports are due at once")
        } else {
            String::new()
        };
        // Buffers of an output, and crosspoints, have places of their own.
        let shares = switch
            .is_some_and(|switch| matches!(switch.buffering, Buffering::Direct | Buffering::Shared { .. }));
        let alone = match shares {
            true => "; all of this while packets of an input wait for one port at a time",
            false => "",
        };
        let text = format!(
            "{since}{}; after XOFF up to {} (N_hr) of {lengths} from each of {} may still come, which \
             takes {} above the threshold; there are {}{beyond}{crowded}{alone}",
            judgement(&found.detector),
            count(found.each as usize, "packet"),
            count(found.neighbours, "neighbour"),
            count(found.needed as usize, "place"),
            found.there
        );
        (fabric::port_name(config, found.device, found.port), text)
    };
    all.into_iter().map(line).collect()
}

/// Queueing, buffering, arbitration and forwarding in the words of the scenario language.
fn organisation(s: &SwitchConfig) -> String {
    let input = match s.input {
        InputQueueing::Fifo => "FIFO inputs",
        InputQueueing::Voq => "a queue for each output",
    };
    let buffering = match s.buffering {
        Buffering::Direct => match s.reads_per_input {
            1 => "one read of an input at a time".to_owned(),
            n => format!("{n} reads of an input at a time"),
        },
        Buffering::Crosspoint { depth } => format!("crosspoints of {depth} packets"),
        Buffering::Output { packets } => format!("output buffers of {packets} packets"),
        Buffering::Shared { packets } => format!("one pool of {packets} packets of each priority"),
    };
    let arbitration = s.arbitration.words();
    let forwarding = match s.forwarding {
        Forwarding::StoreAndForward => "store and forward",
        Forwarding::CutThrough { .. } => "cut-through",
    };
    let slot = s.slot.map_or(String::new(), |slot| format!(", cell clock {}", time_text(slot.0)));
    let quota = s.queue_quota.map_or(String::new(), |n| format!(", {n} of a staging queue"));
    format!("{input}, {buffering}{quota}, {arbitration}, {forwarding}{slot}")
}

fn staging_text(staging: &StagingConfig) -> String {
    match staging {
        StagingConfig::None => "no staging".into(),
        StagingConfig::PerPort => "one staging queue for each port".into(),
        StagingConfig::Modulo(n) => format!("{n} staging queues"),
        StagingConfig::Table(_) => "staging queues by table".into(),
    }
}

/// What translators join, and what they have room for.
fn translator_lines(config: &FabricConfig) -> Vec<(String, String)> {
    let line = |own: &Arc<Translator>| {
        let medium = |own: &TranslatorInterface| own.medium.map_or("rapidio", Medium::name);
        let media: Vec<&str> = own.interfaces.iter().map(medium).collect();
        let stu =
            if own.limits.max_stu < Limits::NONE.max_stu { "Max_STU is lowered" } else { "nobody is told" };
        let block = match own.limits.max_block {
            most if most < Limits::NONE.max_block => format!("Max_Block is lowered to {}", 1u64 << most),
            _ => "Max_Block stays".into(),
        };
        let text = format!(
            "{}; STUs of up to {} octets, {stu}; {block}; {} octets of memory",
            media.join(" and "),
            own.stu,
            own.buffer
        );
        (own.name.clone(), text)
    };
    config.translation.translators.iter().map(line).collect()
}

/// One-way delay plus the time of the shortest message, a control symbol: what parallel windows can be long.
fn lookahead(link: &LinkConfig) -> u64 {
    link.propagation.0 + u64::from(link.symbol_chars) * link.char_ps.0 / link.char_ps.1
}

fn link_lines(variant: &Variant) -> Vec<(String, String)> {
    let named = variant.config.links.iter().zip(&variant.labels.links);
    let media = &variant.config.media;
    // Of all sources: asked once, and not for each link.
    let loops = fabric::Loops::of(&variant.config);
    let lengths = loops.lengths;
    named
        .zip(0..)
        .map(|((link, name), number)| {
            let gigabits = 8_000.0 * link.char_ps.1 as f64 / link.char_ps.0 as f64;
            if let Some(media) = media.iter().find(|media| media.link == number) {
                let text = format!(
                    "{}, {gigabits:.3} Gb/s with all that is between frames, {} one way",
                    media.medium.name(),
                    time_text(link.propagation.0)
                );
                return (name.clone(), text);
            }
            let text = format!(
                "{}x, {gigabits:.3} Gb/s, control symbols of {} characters, {} one way; {} receive buffers \
                 keep it busy with packets of {lengths} that go on at once",
                link.lanes,
                link.symbol_chars,
                time_text(link.propagation.0),
                loops.of_link(link)
            );
            (name.clone(), text)
        })
        .collect()
}

fn routes(variant: &Variant, out: &mut String) {
    let (config, routes) = (&*variant.config, &variant.routes);
    let wrong = fabric::check_next_hops(config);
    let lost = match routes.lost {
        0 if routes.cut_off > 0 => {
            let others = count(routes.cut_off, "endpoint");
            format!("every id that the host gives is reached; it cannot reach {others}")
        }
        0 => "every id is reached from every switch with endpoints".to_owned(),
        lost => format!("{lost} times an id is not reached from a switch with endpoints"),
    };
    let verdict = match &routes.circle {
        Some(cycle) => format!("a circle of {} links can deadlock", cycle.len()),
        None if routes.stopping.is_some() => "routes alone cannot deadlock, VoQ messages may".to_owned(),
        // A pool full of packets one way keeps those the other way from the outputs that are free.
        None if fabric::shared_pools(config).count() > 1 => {
            "routes alone cannot deadlock, pools that outputs share may".to_owned()
        }
        None => "no deadlock is possible".to_owned(),
    };
    let agree = match wrong.len() {
        0 => "each routing table names as next port the one that the neighbour will choose".to_owned(),
        wrong => {
            format!("{wrong} times a routing table names a next port that the neighbour will not choose")
        }
    };
    let turns = match routes.turns {
        0 => "no packet goes from one link between switches to another".to_owned(),
        turns => format!(
            "packets go in {} from one link between switches to another",
            count(turns as usize, "way")
        ),
    };
    let _ = writeln!(out, "  routes: {lost}\n    {verdict} ({turns})\n    {agree}");
}

fn load_lines(variant: &Variant) -> Vec<(String, String)> {
    let line = |offered: &crate::plan::Offered| {
        let name = variant.labels.flows.get(usize::from(offered.flow)).cloned().unwrap_or_default();
        let load = match offered.load {
            Some(least) => {
                let whose = if offered.sources == 1 { "its link" } else { "the link of each" };
                let text = |(num, den): (u64, u64)| Ratio::new(num.into(), den.into()).to_string();
                let to = offered.load_most.filter(|most| *most != least);
                let to = to.map_or(String::new(), |most| format!(" to {}", text(most)));
                format!("load {}{to} of {whose}", text(least))
            }
            None => "load not known before the run".into(),
        };
        let rate = transfer_text(&variant.config, offered.flow).unwrap_or_default();
        (name, format!("{}, {load}{rate}", count(offered.sources as usize, "source")))
    };
    variant.offered.iter().map(line).collect()
}

/// What a flow of Scheduled Transfer comes to without competition.
fn transfer_text(config: &FabricConfig, flow: u16) -> Option<String> {
    let Slowest { way, end, clock, stripes, interfaces, slots, crowded, squeezed, time, bound } =
        crate::flow::slowest(config, flow)?;
    let is_plain = stripes == 1 && end.program.is_none();
    let missed = [crowded, squeezed, stripes > 1];
    let stripes = match (stripes, interfaces) {
        (1, 1) => String::new(),
        (1, n) => format!(" over one of {n} interfaces"),
        (n, _) => format!(" on each of {n} stripes"),
    };
    let block = 1u64 << end.job.blocksize;
    let operation = end.job.operation;
    let (source, destination) = if operation.is_read() { ("to", "from") } else { ("from", "to") };
    let bound = match bound {
        Bound::Links => "the links are the bound".to_owned(),
        Bound::Buffers => "the receive buffers or ackIDs of a link on the way are the bound".to_owned(),
        Bound::Permissions => "Clear_To_Send on the way back is the bound".to_owned(),
        Bound::Sending => format!("tx_service of the hosts in \"{source}\" is the bound"),
        Bound::Receiving => format!("rx_service of the hosts in \"{destination}\" is the bound"),
        Bound::Window => format!("the window of {} is the bound", count(end.job.enabled() as usize, "Block")),
        Bound::Slots => format!("{slots} Slots are the bound"),
        Bound::Translator => "rx_service or tx_service of a translator is the bound".to_owned(),
        Bound::Upper => format!("the upper layer of the hosts in \"{destination}\" is the bound"),
    };
    let gbps = |octets: f64, time: u64| 8_000.0 * octets / time as f64;
    let most = gbps(end.job.unit() as f64, time);
    // What the operations of this flow leave of that: so many at a time, each of which takes so long.
    let at_a_time = end.job.at_a_time();
    // Of a program nobody knows that; striped Transfers are told by their stripes.
    let alone = if is_plain { way.alone(&end) } else { 0 };
    let own = gbps(at_a_time as f64 * end.job.bytes as f64, alone);
    let short = alone > 0 && own < most * (1.0 - SHORT);
    let rate = if short {
        let (name, each) = (operation_name(operation), time_text(alone));
        let several = count(at_a_time as usize, name);
        format!(
            "{} of payload on the slowest path{stripes}: the bound is {several} of {} octets at a time, \
             {each} each; for long or many ones {}: {bound}",
            rate_text(own),
            end.job.bytes,
            rate_text(most)
        )
    } else {
        format!("{} of payload on the slowest path{stripes}: {bound}", rate_text(most))
    };
    // Questions for Slots that take more than a fiftieth of the time do not all fit beside Data.
    let asks = way.asked(1, slots) > time / 50;
    let rate = match &uncounted(&end, slots, missed, short, asks)[..] {
        [] => rate,
        left => format!("{rate}; at most that, for this does not count {}", left.join(", and ")),
    };
    let period = |time: u64| time_text(clock.fabric(time));
    let round_trip = time_text(way.round_trip());
    let timeout = period(end.protocol.op_timeout);
    // What goes into a region, or comes from there, needs no permission and has no Blocks.
    if operation.is_in_region() {
        return Some(format!(
            "; without other traffic {rate}; a round trip takes {round_trip}; Op_timeout {timeout}"
        ));
    }
    // Clear_To_Send and what a window has to cover go with the links and hosts alone.
    let (cts, busy) = way.cts_share(block);
    let missing = match end.protocol.missing_timeout {
        Some(time) => format!("missing Blocks after {}", period(time)),
        None => "missing Blocks are not asked for".into(),
    };
    Some(format!(
        "; without other traffic {rate}; Clear_To_Send takes {:.2} % of the way back; a round trip takes \
         {round_trip}, and {} on their way cover it; Op_timeout {timeout}, {missing}",
        100.0 * cts as f64 / busy as f64,
        count(way.block_latency(block).div_ceil(busy) as usize, "Block"),
    ))
}

/// What a rate leaves out that can make it smaller. `crowded`: more may come at a time than a host has places
/// for; `squeezed`: than a translator has room for; `striped`: both ends have several interfaces. `short`:
/// operations end before a window is full. `asks`: questions for Slots take time.
fn uncounted(
    end: &TransferConfig,
    slots: u16,
    [crowded, squeezed, striped]: [bool; 3],
    short: bool,
    asks: bool,
) -> Vec<&'static str> {
    let (upper, job) = (&end.upper, &end.job);
    let in_region = job.operation.is_in_region();
    let both_ways = job.operation == Operation::ReadBack && job.at_a_time() > 1;
    let delivered = job.notify && slots != u16::MAX;
    // No frame crosses a receive buffer, and nobody knows where in one a Put or Get begins. A word lies
    // in one.
    let is_cut = matches!(job.operation, Operation::Put | Operation::Get);
    let left = [
        (upper.poll.0 > 0 || upper.interrupt.0 > 0, "when the upper layer looks"),
        (is_cut, "that buffers cut frames short"),
        (slots != u16::MAX && (in_region || short), "Slots that operations of less than a window wait for"),
        (asks && !in_region && !short, "Slots that Clear_To_Send waits for"),
        (delivered, "that questions for Slots wait behind Data"),
        (both_ways, "that what goes out and what comes back wait for each other"),
        (end.protocol.trailers, "trailers"),
        (crowded, "frames that find no place in rx_queue, without which Transfers may fail"),
        (striped, "that Blocks from several interfaces meet at one"),
        (squeezed, "frames that find no room in a translator, without which Transfers may fail"),
    ];
    left.into_iter().filter_map(|(left, what)| left.then_some(what)).collect()
}

/// By so much the operations of a flow have to stay below the rate of long ones to be named as the bound.
const SHORT: f64 = 0.05;

const fn operation_name(operation: Operation) -> &'static str {
    match operation {
        Operation::Write => "Write",
        Operation::Read => "Read",
        Operation::ReadBack => "written and read Transfer",
        Operation::Put => "Put",
        Operation::Get => "Get",
        Operation::FetchOp => "FetchOp",
    }
}

/// What becomes of times of protocols where their clock is not that of the fabric; empty where all are.
pub fn clock_report(variant: &Variant) -> String {
    let mut out = String::new();
    let clocks = clock_lines(&variant.config);
    if !clocks.is_empty() {
        table(&mut out, "hosts", clocks);
    }
    out
}

fn clock_lines(config: &FabricConfig) -> Vec<(String, String)> {
    let scaled = config.agents.iter().filter(|agent| agent.clock.0 != agent.clock.1);
    let line = |agent: &AgentConfig| {
        let (clock, (num, den)) = (Clock(agent.clock), agent.clock);
        let ratio = Ratio::new(num.into(), den.into());
        let text = format!(
            "the protocol clock runs {ratio} times as fast: what a protocol takes for 1 ms is {} of the \
             fabric, and its response timeout {}",
            time_text(clock.fabric(1_000_000_000)),
            time_text(clock.fabric(agent.response_timeout)),
        );
        (config.devices[agent.device as usize].path.clone(), text)
    };
    scaled.map(line).collect()
}

/// A rate in Gb/s: three decimals, but four digits of a low one.
fn rate_text(gigabits: f64) -> String {
    let zeros = if gigabits > 0.0 { -libm::floor(libm::log10(gigabits)) } else { 0.0 };
    format!("{gigabits:.*} Gb/s", 3 + zeros.clamp(0.0, 9.0) as usize)
}

/// Device presets, one a line.
pub fn list_devices() -> String {
    let mut out = String::from("switches\n");
    for preset in presets::SWITCHES {
        let _ = writeln!(out, "  {:<10} {}", preset.name, preset.about);
    }
    out.push_str("endpoints\n");
    for preset in presets::ENDPOINTS {
        let _ = writeln!(out, "  {:<10} {}", preset.name, preset.about);
    }
    out
}

/// Kinds of topology, one a line.
pub fn list_topologies() -> String {
    TOPOLOGIES.iter().map(|(name, about)| format!("{name:<14} {about}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Law: what is told is within half a unit of the third decimal, and within a thousandth of the rate.
    #[test]
    fn low_rates_keep_their_digits() {
        let told = [0.0, 7.1891e-3, 1.6e-4, 0.099_96, 0.5, 1.0, 12.345_6].map(rate_text);
        let words = ["0.000", "0.007189", "0.0001600", "0.09996", "0.5000", "1.000", "12.346"];
        assert_eq!(told, words.map(|word| format!("{word} Gb/s")));
        for n in 1..400 {
            let rate = 1.13_f64.powi(n) * 1e-12;
            let text = rate_text(rate);
            let read: f64 = text.trim_end_matches(" Gb/s").parse().unwrap();
            assert!((read - rate).abs() <= (0.000_501_f64).min(rate / 1_000.0).max(5e-13), "{rate} {text}");
        }
    }
}
