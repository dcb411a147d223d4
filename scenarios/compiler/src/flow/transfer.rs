//! Flows of Scheduled Transfer: every endpoint of `from` and `to` becomes an end.

mod check;
mod crowd;
mod declared;
mod few;
mod idle;
mod translators;
mod whole;

use super::hosts as software;
use super::messages;
use super::program::Program;
use super::session::octets;
use super::{Beginnings, Cast, Hosts, Kind, Sized};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::medium;
use crate::quantities::Quantities;
use crate::spec::*;
use crate::translators::{STREAM_STU, stu_max};
use crate::units::Ratio;
pub(super) use crowd::warn as crowds;
use declared::Declared;
use models::config::*;
use models::path::{Paces, Roads};
use models::scheduled_transfer::layout;
use models::scheduled_transfer::llp::Medium as Layer;
use models::scheduled_transfer::wire::header::HEADER_BYTES;
use models::scheduled_transfer::wire::{Attributes, Function};
use models::scheduled_transfer::{Config, Extras};
use models::sim_core::{Duration, Time};
use models::transfer_rate::{Bound, Software, TransferPath};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// First of the type 9 streams for Scheduled Transfer; each flow has its own, and 0x4000 above it one for
/// Control operations of another priority.
const STREAM: u16 = 0x4000;
/// Shares of frames are told in parts of this.
const MILLION: u128 = 1_000_000;
/// Op_timeout, in computed round trips, beside the time for what may wait at the ends.
const TIMEOUT_ROUND_TRIPS: u64 = 10;

/// Flows of Scheduled Transfer.
pub(super) struct Transfer;

impl Kind for Transfer {
    fn keys(&self) -> &'static [&'static str] {
        &["st"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.st.is_some())
    }

    fn needs_arrivals(&self) -> bool {
        false
    }

    fn expand(&self, flow: &mut FlowSpec) {
        expand(flow);
    }

    fn program<'a>(&self, flow: &'a FlowSpec) -> Option<&'a ProgramSpec> {
        flow.st.as_ref()?.program.as_ref()
    }

    fn program_mut<'a>(&self, flow: &'a mut FlowSpec) -> Option<&'a mut ProgramSpec> {
        flow.st.as_mut()?.program.as_mut()
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        if let Some(st) = &flow.st {
            quantities.all(&format!("{at}/st"), times(st));
        }
    }

    fn beginnings(&self, flow: &FlowSpec) -> Option<(&'static str, Beginnings)> {
        flow.st.as_ref().map(|own| ("st", beginnings(own)))
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        check::check(c, at, flow)
    }

    fn has_sources(&self) -> bool {
        false
    }

    fn idle(&self, flow: &FlowSpec, idle: &mut dyn FnMut(&str, bool, &str, &str)) {
        let why = "Transfers are asked for from st.at on, as many as st.count says";
        let help = "use st.at, st.offset and st.count";
        idle("start", flow.start.is_some(), why, help);
        idle("stop", flow.stop.is_some(), why, help);
        for (key, given, why, help) in flow.st.iter().flat_map(idle::of) {
            idle(&format!("st/{key}"), given, why, help);
        }
    }

    fn spare(&self, flow: &FlowSpec, spare: &mut dyn FnMut(&str, bool, &str, &str)) {
        for (key, given, why, help) in flow.st.iter().flat_map(idle::spare) {
            spare(&format!("st/{key}"), given, why, help);
        }
    }

    fn sizes(&self, _: &mut Compiler<'_>, _: &str, _: &FlowSpec) -> Option<Vec<Sized>> {
        Some(super::none())
    }

    fn mean_time(&self, _: &Compiler<'_>, _: usize, _: &FlowSpec, _: &[Sized]) -> Ratio {
        Ratio::whole(1)
    }

    fn hosts(
        &self,
        c: &mut Compiler<'_>,
        at: &str,
        flow: &FlowSpec,
        places: &mut Vec<(usize, Destinations)>,
        devices: &BTreeMap<u32, usize>,
    ) -> Option<Hosts> {
        hosts(c, at, flow, places, devices)
    }

    fn nodes(
        &self,
        c: &mut Compiler<'_>,
        config: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        ends(c, config, flow, cast)
    }
}

/// When the endpoints of a flow begin.
fn beginnings(own: &StSpec) -> Beginnings {
    let spread = filled(&own.spread).get();
    Beginnings { first: filled(&own.at).get(), offset: filled(&own.offset).get(), spread }
}

fn text<U: Unit>(s: &str) -> Option<Quantity<U>> {
    Some(s.into())
}

/// Fills in the defaults of such a flow.
pub(crate) fn expand(flow: &mut FlowSpec) {
    if let Some(st) = &mut flow.st {
        fill(st);
    }
}

/// What a flow is that says nothing of itself.
fn defaults() -> StSpec {
    let mut st = StSpec::default();
    fill(&mut st);
    st
}

fn fill(st: &mut StSpec) {
    let filled = StSpec {
        operation: st.operation.or(Some(TransferKind::Write)),
        count: st.count.or(Some(1)),
        concurrent: st.concurrent.or(Some(1)),
        window: st.window.or(Some(8)),
        block: st.block.or(Some(8_192)),
        stu: st.stu.or(Some(1_024)),
        slots: st.slots.or(Some(64)),
        notify: st.notify.or(Some(false)),
        state_every: st.state_every.or(Some(0)),
        checksum: st.checksum.or(Some(true)),
        disconnect: st.disconnect.or(Some(true)),
        op_timeout: st.op_timeout.take().or(text("auto")),
        max_retry: st.max_retry.or(Some(3)),
        missing_timeout: st.missing_timeout.take().or(text("auto")),
        cos: st.cos.or(Some(0)),
        at: st.at.take().or(text("0 ps")),
        offset: st.offset.take().or(text("0 ps")),
        spread: st.spread.take().or(text("0 ps")),
        opaque: st.opaque.or(Some(0)),
        channel: st.channel.or(Some(1)),
        interrupt: st.interrupt.or(Some(false)),
        bufsize: st.bufsize.or(Some(65_536)),
        first_offset: st.first_offset.or(Some(0)),
        out_of_order: st.out_of_order.or(Some(true)),
        reliable: st.reliable.or(Some(true)),
        checksum_segment: st.checksum_segment.or(Some(0)),
        trailers: st.trailers.or(Some(false)),
        byte_order: st.byte_order.or(Some(ByteOrderKind::Big)),
        chart: st.chart.or(Some(false)),
        ..st.clone()
    };
    *st = filled;
    if st.operation == Some(TransferKind::FetchOp) {
        st.function = st.function.or(Some(FunctionKind::Increment));
    }
    if let Some(upper) = &mut st.upper {
        for time in [&mut upper.header, &mut upper.poll, &mut upper.interrupt] {
            *time = time.take().or(text("0 ps"));
        }
    }
    // What says nothing stays as it is, and is told.
    if let Some(request) = st.request.as_mut().filter(|request| request.payload.is_some()) {
        request.interrupt = request.interrupt.or(Some(false));
    }
    if let Some(end) = &mut st.end {
        end.by = end.by.or(Some(EnderKind::From));
    }
}

/// Every time of a flow with its key.
pub(crate) fn times(st: &StSpec) -> Vec<(String, &dyn Written)> {
    fn of<U: Unit>(time: &Option<Quantity<U>>) -> Option<&dyn Written> {
        time.as_ref().map(|time| time as &dyn Written)
    }
    let all = [
        ("op_timeout", of(&st.op_timeout)),
        ("missing_timeout", of(&st.missing_timeout)),
        ("at", of(&st.at)),
        ("offset", of(&st.offset)),
        ("spread", of(&st.spread)),
        ("delay", of(&st.delay)),
        ("disconnect_after", of(&st.disconnect_after)),
        ("upper/header", st.upper.as_ref().and_then(|upper| of(&upper.header))),
        ("upper/poll", st.upper.as_ref().and_then(|upper| of(&upper.poll))),
        ("upper/interrupt", st.upper.as_ref().and_then(|upper| of(&upper.interrupt))),
        ("end/after", st.end.as_ref().map(|end| &end.after as &dyn Written)),
    ];
    all.into_iter().filter_map(|(key, time)| Some((key.to_owned(), time?))).collect()
}

fn shares(st: &StSpec) -> [(&'static str, FrameShares); 4] {
    let of = |shares: &Option<FrameShares>| shares.clone().unwrap_or_default();
    [
        ("loss", of(&st.loss)),
        ("doubled", of(&st.doubled)),
        ("delayed", of(&st.delayed)),
        ("damaged", of(&st.damaged)),
    ]
}

fn millionths(share: Option<&Share>) -> Result<u32, String> {
    let Some(share) = share else { return Ok(0) };
    let value = share.read()?;
    if value.above_one() {
        return Err(format!("a share of {value} is not possible"));
    }
    Ok((value.num * MILLION / value.den) as u32)
}

/// What becomes of frames of a class.
fn faults(st: &StSpec, class: impl Fn(&FrameShares) -> Option<&Share>) -> TransferFaults {
    let [lost, doubled, delayed, damaged] =
        shares(st).map(|(_, shares)| millionths(class(&shares)).expect("shares were checked"));
    TransferFaults { lost, doubled, delayed, damaged }
}

/// The ends of a flow, by device.
pub(crate) fn ends(
    c: &mut Compiler<'_>,
    config: &FabricConfig,
    flow: &FlowSpec,
    &Cast { at, index, places, devices, hosts, program, .. }: &Cast<'_>,
) -> Option<BTreeMap<usize, ProtocolConfig>> {
    let st = flow.st.as_ref()?;
    let mut peers: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    // How many connections each end has.
    let mut connections: BTreeMap<usize, u64> = BTreeMap::new();
    let mut positions: BTreeMap<usize, u64> = BTreeMap::new();
    for ((device, destinations), position) in places.iter().zip(0..) {
        let ids = destinations.listed().unwrap_or_default();
        let own = c.ids[*device];
        let others: BTreeSet<u32> = ids.iter().copied().filter(|&id| id != own).collect();
        for id in &others {
            *connections.entry(*device).or_default() += 1;
            *connections.entry(devices[id]).or_default() += 1;
        }
        positions.insert(*device, position);
        peers.insert(*device, others);
    }
    if let Some((&device, _)) = connections.iter().find(|(device, _)| c.ids[**device] > u32::from(u16::MAX)) {
        let message = format!("\"{}\" has an id of more than 16 bits", c.graph.nodes[device].name);
        c.once(Diagnostic::error("SC008", format!("{at}/from"), message));
        return None;
    }
    // Of a program nobody says how many go at a time, but no more than these can.
    let under_way = program.map(Program::under_way);
    let job = TransferJob {
        operation: match filled(&st.operation) {
            TransferKind::Read => Operation::Read,
            TransferKind::ReadBack => Operation::ReadBack,
            TransferKind::Put => Operation::Put,
            TransferKind::Get => Operation::Get,
            TransferKind::FetchOp => Operation::FetchOp,
            TransferKind::Write => Operation::Write,
        },
        bytes: st.bytes.unwrap_or_else(|| program.map_or(8, Program::longest_message)),
        count: under_way.map_or(*filled(&st.count), u64::from),
        concurrent: under_way.unwrap_or(*filled(&st.concurrent)),
        cts_req: *filled(&st.window),
        blocksize: filled(&st.block).trailing_zeros() as u16,
        notify: *filled(&st.notify),
        state_every: *filled(&st.state_every),
        disconnect: *filled(&st.disconnect),
        disconnect_after: st.disconnect_after.as_ref().map(|time| Duration(time.get())),
        channel: *filled(&st.channel),
        opaque: *filled(&st.opaque),
        interrupt: *filled(&st.interrupt),
        function: match st.function {
            None | Some(FunctionKind::Increment) => Function::Increment,
            Some(FunctionKind::Decrement) => Function::Decrement,
            Some(FunctionKind::Clear) => Function::Clear,
        },
        first_offset: *filled(&st.first_offset),
        ring: st.ring,
        end: st.end.as_ref().map(|end| TransferEnding {
            after: Duration(end.after.get()),
            by_asker: *filled(&end.by) == EnderKind::From,
        }),
        extras: extras(st),
    };
    let most = connections.values().copied().max().unwrap_or(1);
    // Each has two ends.
    let all = connections.values().sum::<u64>() / 2;
    let hosts_of = connections.keys().chain(positions.keys()).copied().collect::<BTreeSet<usize>>();
    let declared = declared::all(c, at, st, hosts_of.iter().copied())?;
    let between = translators::between(c, &config.owners, (at, flow), &hosts_of, hosts, &declared)?;
    // The smallest STUs have the most frames in front of an answer, and the largest take longest each.
    let cut = declared.values().map(|declared| declared.cut).min().unwrap_or(*filled(&st.stu));
    let stu = declared.values().map(|declared| declared.stu).min().map_or(cut, |stu| stu.min(cut));
    let largest = declared.values().map(|declared| declared.cut.min(declared.stu)).max().unwrap_or(stu);
    let software = patient(c, &hosts_of);
    let longest = |stu| {
        let way = longest(c, config, (&peers, hosts), (stu, *filled(&flow.priority)));
        way.map(|way| way.between(software, software))
    };
    let way = longest(stu);
    let slow = if largest == stu { None } else { longest(largest) };
    let separate_control = st.control_priority.is_some_and(|own| own != *filled(&flow.priority));
    // An order that one medium on the way does not keep is none at its ends.
    let separate_control = separate_control || between.overtakes;
    let bufsize = declared.values().map(|declared| declared.bufsize).min().unwrap_or(*filled(&st.bufsize));
    let scale = Scale { way, slow, connections: [most, all], separate_control, bufsize, cut };
    few::warn(c, at, (st, &job), &declared, &scale);
    whole::warn(c, at, (st, &job), &declared, &scale);
    let beginnings = beginnings(st);
    let alone = |device: usize| vec![device];
    let interfaces = |device: usize| hosts.get(&device).cloned().unwrap_or_else(|| alone(device));
    let mut ends = BTreeMap::new();
    for device in hosts_of {
        let protocol = protocol(c, (st, &declared[&device]), &job, &scale, device);
        let position = positions.get(&device).copied().unwrap_or(0);
        let end = TransferConfig {
            node: c.ids[device] as u16,
            medium: medium::of(c, device),
            interfaces: interfaces(device).iter().map(|&device| c.ids[device] as u16).collect(),
            priority: *filled(&flow.priority),
            control_priority: st.control_priority.unwrap_or(*filled(&flow.priority)),
            cos: *filled(&st.cos),
            stream_id: STREAM + index,
            protocol: Config { interfaces: interfaces(device).len() as u8, ..protocol },
            job,
            peers: peers.get(&device).into_iter().flatten().map(|&id| id as u16).collect(),
            through: c.translation.through(device as u32),
            connect_at: Time(beginnings.of(position)),
            spread: Duration(beginnings.spread),
            receives: st.receives,
            upper: upper(st),
            faults: [faults(st, |shares| shares.control.as_ref()), faults(st, |shares| shares.data.as_ref())],
            delay: Duration(st.delay.as_ref().map_or(0, Quantity::get)),
            program: None,
            stream: format!("{}/{}/st", c.graph.nodes[device].name, flow.name),
            charted: *filled(&st.chart),
            captured: false,
        };
        ends.insert(device, ProtocolConfig::Transfer(Box::new(end)));
    }
    ends.extend(between.devices.into_iter().map(|(device, translator)| {
        let own = TranslatorConfig {
            device: translator,
            priority: *filled(&flow.priority),
            control_priority: st.control_priority.unwrap_or(*filled(&flow.priority)),
            cos: *filled(&st.cos),
            stream_id: STREAM + index,
            captured: false,
        };
        (device, ProtocolConfig::Translator(Box::new(own)))
    }));
    Some(ends)
}

/// The upper layer of an end.
fn upper(st: &StSpec) -> UpperLayer {
    let Some(upper) = &st.upper else { return UpperLayer::default() };
    let of = |time: &Option<Quantity<Picoseconds>>| Duration(filled(time).get());
    UpperLayer { header: of(&upper.header), poll: of(&upper.poll), interrupt: of(&upper.interrupt) }
}

/// Interrupt and payload of requests.
fn extras(st: &StSpec) -> Extras {
    let Some(request) = &st.request else { return Extras::default() };
    let octets = |text: &String| octets(text).and_then(|octets| octets.try_into().ok());
    let payload = request.payload.as_ref().map(|text| octets(text).expect("payloads were checked"));
    Extras { interrupt: request.interrupt == Some(true), payload }
}

/// Joins endpoints to hosts: what is left are the first ones, which write to the first ones. `None` if
/// something is wrong.
pub(crate) fn hosts(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    places: &mut Vec<(usize, Destinations)>,
    devices: &BTreeMap<u32, usize>,
) -> Option<Hosts> {
    let mut hosts = Hosts::new();
    let Some(stripes) = flow.st.as_ref().and_then(|st| st.stripes) else { return Some(hosts) };
    let mut wrong = |key: &str, message: String, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    let sources: Vec<usize> = places.iter().map(|(device, _)| *device).collect();
    let mut targets = BTreeSet::new();
    for (_, destinations) in places.iter() {
        match destinations {
            Destinations::Fixed(id) => targets.extend(devices.get(id).copied()),
            Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => {
                targets.extend(ids.iter().filter_map(|id| devices.get(id).copied()));
            }
            // Somebody else complains.
            Destinations::Hotspot { .. } | Destinations::Replay => return Some(hosts),
        }
    }
    let targets: Vec<usize> = targets.into_iter().collect();
    if let Some(&both) = sources.iter().find(|device| targets.contains(device)) {
        let name = c.graph.nodes[both].name.clone();
        c.out.push(
            Diagnostic::error("SC048", format!("{at}/to"), format!("\"{name}\" is on both sides"))
                .help("hosts of several interfaces write to others"),
        );
        return None;
    }
    for (key, devices, number) in [("from", &sources, stripes.from), ("to", &targets, stripes.to)] {
        let number = usize::from(number);
        if devices.len() % number != 0 {
            let message = format!("{} endpoints are no hosts of {number} interfaces", devices.len());
            wrong(key, message, "name a multiple of the number of interfaces");
            return None;
        }
        hosts.extend(devices.chunks(number).map(|host| (host[0], host.to_vec())));
    }
    let medium = |device: usize| {
        let link = c.neighbours[device][0].map(|(link, _, _)| &c.wires[link]);
        link.and_then(|wire| wire.medium).map(|(medium, _)| medium)
    };
    let foreign = hosts.values().find(|host| host.iter().any(|&device| medium(device) != medium(host[0])));
    if let Some(host) = foreign {
        let name = c.graph.nodes[host[0]].name.clone();
        let message = format!("interfaces of \"{name}\" are on different media");
        wrong("st/stripes", message, "give all interfaces of a host links of one medium");
        return None;
    }
    let first = targets.chunks(usize::from(stripes.to)).map(|host| c.ids[host[0]]).collect();
    let all = Arc::new(first);
    *places = sources
        .chunks(usize::from(stripes.from))
        .map(|host| (host[0], Destinations::Cycle(Arc::clone(&all))))
        .collect();
    Some(hosts)
}

/// What the periods of a flow follow from.
struct Scale {
    /// The way with the longest round trip, between hosts as slow as any of the flow.
    way: Option<TransferPath>,
    /// The way with the longest round trip where STUs are the largest of all ends; `None`: all are alike.
    slow: Option<TransferPath>,
    /// Connections of the end that has most, and all.
    connections: [u64; 2],
    /// Control has a priority of its own.
    separate_control: bool,
    /// The smallest buffers of all ends, octets.
    bufsize: u64,
    /// The smallest STUs that an end sends where it could send larger ones, octets.
    cut: u32,
}

/// A host as slow as the slowest of these in everything, with as many places as any.
fn patient(c: &Compiler<'_>, devices: &BTreeSet<usize>) -> Software {
    let all = devices.iter().map(|&device| Software::longest(&software::host(c, device).config));
    all.fold(Software::default(), |a, b| Software {
        rx: a.rx.max(b.rx),
        tx: a.tx.max(b.tx),
        places: a.places.max(b.places),
    })
}

/// How long an answer may take on a way although nothing is lost, ps: computed round trips, or what the
/// buffers of switches hold in front if that takes longer, and what waits at the ends.
fn waits(way: &TransferPath, (job, slots): (&TransferJob, u16), scale: &Scale, block: u64) -> u64 {
    let [most, all] = scale.connections;
    let frames = all.saturating_mul(enabled_frames(job, way.stu()));
    let crowded = way.round_trip().saturating_add(way.crowded(all, frames));
    let links = TIMEOUT_ROUND_TRIPS.saturating_mul(way.round_trip()).max(crowded);
    // At both ends, Blocks of all their connections may be in front; and of each no more Control operations
    // than it has Slots.
    let ends = most.saturating_mul(2);
    let enabled = ends.saturating_mul(job.enabled());
    let queued = ends.saturating_mul(job.enabled().min(slots.into()));
    let contention = way.contention(queued, enabled, block);
    // Data that answers goes at once, all of it: neither a window nor Slots hold it back.
    let asked = job.at_a_time().saturating_mul(ends);
    let answers = match job.operation {
        Operation::Get | Operation::FetchOp => way.answers(asked, job.bytes, scale.bufsize),
        _ => 0,
    };
    // More Clear_To_Send than the source has Slots are asked for in parts.
    let beyond = match slots {
        u16::MAX => 0,
        _ if job.operation.is_in_region() => 0,
        slots => job.enabled().saturating_sub(slots.into()),
    };
    let gate = way.gate(beyond, slots);
    links.saturating_add(contention).saturating_add(answers).saturating_add(gate)
}

/// Parameters of the protocol machine of an end. Times that are given are times of its protocol clock; those
/// that are not are as long in the fabric at every end, whatever its clock.
fn protocol(
    c: &Compiler<'_>,
    (st, declared): (&StSpec, &Declared),
    job: &TransferJob,
    scale: &Scale,
    device: usize,
) -> Config {
    let clock = Clock(software::ratio(c, device));
    let way = scale.way.as_ref();
    let separate_control = scale.separate_control;
    let slots = declared.slots;
    // A Transfer that is shorter is one Block of its length. A trailer takes no longer than an STU.
    let trailer = if *filled(&st.trailers) { declared.stu.min(scale.cut).into() } else { 0 };
    let block = (1u64 << job.blocksize).min(job.bytes.max(1)).saturating_add(trailer);
    // At both ends, Blocks of all their connections may be in front.
    let ends = scale.connections[0].saturating_mul(2);
    let enabled = ends.saturating_mul(job.enabled());
    // At both ends, headers of all Data that can be enabled may wait, as far as there are Slots.
    let stus = block.div_ceil(declared.stu.min(scale.cut).into()).saturating_add(2);
    let delivered = enabled.saturating_mul(stus).min(ends.saturating_mul(slots.into()));
    let ways = [&scale.way, &scale.slow].into_iter().flatten();
    let automatic = ways.map(|way| waits(way, (job, slots), scale, block)).max().unwrap_or(0);
    let automatic = automatic.saturating_add(upper(st).wait(delivered).saturating_mul(2));
    let op_timeout = match filled(&st.op_timeout).get() {
        Period::Time(time) => time,
        Period::Auto | Period::Off => clock.protocol(automatic).max(1),
    };
    let defaults = Config::default();
    let [_, (_, doubled), (_, delayed), _] = shares(st);
    let ordered = [doubled, delayed].iter().all(|shares| shares.control.is_none() && shares.data.is_none());
    let medium = medium::of(c, device);
    let layer = medium.map_or(Layer::Ethernet, Medium::layer);
    let channels = medium.is_some_and(|medium| medium.channels() > 1);
    let config = Config {
        op_timeout,
        max_retry: *filled(&st.max_retry),
        // A destination that lets others go first takes its time.
        pending_timeouts: 1_000_000,
        slots,
        max_stu: declared.stu.trailing_zeros(),
        cut_stu: declared.cut.trailing_zeros(),
        bufsize: declared.bufsize.trailing_zeros(),
        out_of_order: declared.out_of_order,
        reliable: *filled(&st.reliable),
        attributes: Attributes { little_endian: declared.little_endian, ..defaults.attributes },
        segment_stus: *filled(&st.checksum_segment),
        trailers: *filled(&st.trailers),
        check: declared.checksum,
        compute: declared.checksum,
        missing_timeout: None,
        medium: layer,
        stu_carried: medium.is_none().then_some(STREAM_STU.trailing_zeros()),
        separate_control: Some(separate_control || channels),
        ordered,
        ..defaults
    };
    let patience = way.map(|way| {
        let op_timeout = clock.fabric(op_timeout);
        // Of Blocks that are one Data without a trailer each may ask.
        let each_asks = job.state_every == 1 && block <= u64::from(way.stu());
        // Headers of all that is enabled may wait for Slots that are free and do not count as free.
        let held = match config.overtaking() {
            Some(_) if job.holds_slots(slots) && !each_asks => {
                way.overtaken(op_timeout, enabled.saturating_mul(stus), slots)
            }
            _ => 0,
        };
        let delivery = way.delivery(job, &upper(st), slots, enabled);
        clock.protocol(way.patience(op_timeout, enabled, block).saturating_add(held).saturating_add(delivery))
    });
    let missing_timeout = match filled(&st.missing_timeout).get() {
        Period::Off => None,
        Period::Auto => Some(patience.unwrap_or(op_timeout)),
        Period::Time(time) => Some(time),
    };
    Config { missing_timeout, ..config }
}

/// The way with the longest round trip of all pairs.
fn longest(
    c: &Compiler<'_>,
    config: &FabricConfig,
    (peers, hosts): (&BTreeMap<usize, BTreeSet<u32>>, &Hosts),
    (stu, priority): (u32, u8),
) -> Option<TransferPath> {
    let roads = Roads::new(config);
    let ids = c.id_size();
    let owner = |id: u32| config.owners.get(id as usize).copied();
    let interfaces = |device: usize| hosts.get(&device).cloned().unwrap_or_else(|| vec![device]);
    let ends = peers.iter().flat_map(|(&from, ids)| ids.iter().map(move |&id| (from, id)));
    let pairs = ends.flat_map(|(from, id)| {
        let to = owner(id).map_or_else(Vec::new, |device| interfaces(device as usize));
        let from = interfaces(from);
        from.into_iter().flat_map(move |from| to.clone().into_iter().map(move |to| (from, c.ids[to])))
    });
    let ways = pairs.filter_map(|(from, id)| {
        let steps = config.translation.way(from as u32, u16::try_from(id).ok()?, &config.owners);
        let stu = steps.iter().filter_map(|step| step.translator).map(lowered).fold(stu, u32::min);
        let leg = |from: usize, id: u32| {
            let there = roads.path(from as u32, id)?.at(priority);
            let back = roads.path(owner(id)?, c.ids[from])?.at(priority);
            Some(match medium::of(c, from) {
                Some(medium) => TransferPath::on_medium(there, back, stu, medium),
                None => TransferPath::new(there, back, stu, messages::mtu(c.spec)?, ids),
            })
        };
        let software = |device: usize| Software::longest(&software::host(c, device).config);
        over(&steps, |step| leg(step.from as usize, step.to.into()), |device| software(device as usize))
    });
    ways.max_by_key(TransferPath::round_trip)
}

/// Octets of the largest STU of connections through a translator, as far as it says so.
fn lowered(translator: &Translator) -> u32 {
    1 << translator.limits.max_stu.min(31)
}

/// The way by these steps, each of which is a leg; `software`: that of a translator, by the device from which
/// its frames go on.
fn over<'a>(
    steps: &[Step<'a>],
    leg: impl Fn(&Step<'a>) -> Option<TransferPath>,
    software: impl Fn(u32) -> Software,
) -> Option<TransferPath> {
    let mut legs = steps.iter();
    let mut way = leg(legs.next()?)?;
    for step in legs {
        way = way.then(software(step.from), leg(step)?);
    }
    Some(way)
}

/// A protocol clock: so much time of protocols passes in so much time of the fabric.
#[derive(Copy, Clone)]
pub(crate) struct Clock(pub(crate) (u64, u64));

impl Clock {
    /// The time of protocols in which this time of the fabric passes, rounded up.
    pub fn protocol(self, fabric: u64) -> u64 {
        let (num, den) = self.0;
        scaled(fabric, num, den)
    }

    /// The time of the fabric in which this time of protocols passes, rounded up.
    pub fn fabric(self, protocol: u64) -> u64 {
        let (num, den) = self.0;
        scaled(protocol, den, num)
    }
}

fn scaled(time: u64, num: u64, den: u64) -> u64 {
    let scaled = (u128::from(time) * u128::from(num)).div_ceil(u128::from(den));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// The slowest way of a flow without competition.
pub(crate) fn slowest(config: &FabricConfig, flow: u16) -> Option<Slowest<'_>> {
    let roads = Roads::new(config);
    let mut known = Paces::new();
    let mut worst: Option<Slowest<'_>> = None;
    for agent in &config.agents {
        for part in agent.parts.iter().filter(|part| part.flow == flow) {
            let ProtocolConfig::Transfer(end) = &part.protocol else { continue };
            let [stripes, interfaces] = stripes(config, flow, end);
            for &peer_id in &end.peers {
                let pair = Pair::new(config, &roads, (agent, end, flow), peer_id)?;
                let outpaced = pair.is_outpaced();
                let Pair { way, end, slots, stu, destination, room, .. } = pair;
                let clock = Clock(agent.clock);
                let op_timeout = clock.fabric(end.protocol.op_timeout);
                let (time, bound) = way.bound(&end, slots, stripes as u64, op_timeout, &mut known);
                let frames = enabled_frames(&end.job, stu);
                let crowded = outpaced && frames > destination.places;
                let squeezed = frames.saturating_mul(u64::from(stu) + HEADER_BYTES as u64) > room;
                // of equal ones the last
                if worst.as_ref().is_none_or(|worst| worst.time <= time) {
                    worst = Some(Slowest {
                        way,
                        end,
                        clock,
                        stripes,
                        interfaces,
                        slots,
                        crowded,
                        squeezed,
                        time,
                        bound,
                    });
                }
            }
        }
    }
    worst
}

/// Frames of Data that a job may have on their way at a time over one connection.
fn enabled_frames(job: &TransferJob, stu: u32) -> u64 {
    let unit = u64::from(stu);
    let frames = match job.operation.is_in_region() {
        true => job.bytes.div_ceil(unit).saturating_mul(job.concurrent.into()),
        false => job.enabled().saturating_mul((1u64 << job.blocksize).div_ceil(unit)),
    };
    // What is left of a Block that ends with its Transfer is no more than that.
    frames.min(job.bytes.div_ceil(unit).saturating_mul(job.at_a_time()))
}

/// Two ends of a flow, and what goes between them.
struct Pair<'a> {
    way: TransferPath,
    /// The end that asks, with the Blocks that translators leave it.
    end: Cow<'a, TransferConfig>,
    /// Slots of the end that receives Data.
    slots: u16,
    /// Octets of an STU.
    stu: u32,
    /// Device of the host to which Data goes, and what frames take there in the mean.
    to: u32,
    destination: Software,
    /// No translator is between them.
    is_direct: bool,
    /// Octets of operations that each translator between them holds at a time at least.
    room: u64,
}

impl<'a> Pair<'a> {
    /// Time from one frame of Data to the next, as fast as they come, ps.
    fn pace(&self) -> u64 {
        let [source, _] = self.way.hosts;
        self.way.data_busy().max(source.tx)
    }

    /// Whether Data comes faster than its host takes it.
    fn is_outpaced(&self) -> bool {
        self.destination.rx >= self.pace().max(1)
    }

    /// Of an end of a flow and its peer. `None`: there is no way between them.
    fn new(
        config: &'a FabricConfig,
        roads: &Roads<'a>,
        (agent, end, flow): (&'a AgentConfig, &'a TransferConfig, u16),
        peer_id: u16,
    ) -> Option<Self> {
        let owner = *config.owners.get(usize::from(peer_id))?;
        let own = Software::mean(&agent.host);
        let other = roads.agent(owner);
        let theirs = other.map_or_else(Software::default, |other| Software::mean(&other.host));
        let is_read = end.job.operation.is_read();
        let (source, destination) = if is_read { (theirs, own) } else { (own, theirs) };
        let peer = end_of(other, flow).unwrap_or(end);
        let receiver = if is_read { end } else { peer };
        // From the source of the octets to their destination.
        let (from, to) = if is_read { (owner, agent.id as u16) } else { (agent.device, peer_id) };
        let steps = config.translation.way(from, to, &config.owners);
        let passed = || steps.iter().filter_map(|step| step.translator);
        let sender = if is_read { peer } else { end };
        let cut = sender.protocol.cut_stu.min(receiver.protocol.max_stu);
        let stu = passed().map(lowered).fold(1 << cut, u32::min);
        // A medium that carries no longer ones bounds what is cut for it.
        let stu = if steps.len() > 1 { stu.min(stu_max(sender.medium)) } else { stu };
        let slots = receiver.protocol.slots;
        // What a source says of Blocks follows from its STUs, and may be lowered on the way.
        let most = layout::max_block(cut, sender.protocol.trailers);
        let most = passed().map(|own| own.limits.max_block).min().unwrap_or(u16::MAX).min(most);
        let blocksize = end.job.blocksize.min(most);
        // No frame crosses the border of a Block; in a region there are none.
        let block = 1u32.checked_shl(blocksize.into()).unwrap_or(u32::MAX);
        let stu = if end.job.operation.is_in_region() { stu } else { stu.min(block) };
        let way = without_competition(config, roads, &steps, (stu, sender.priority))?;
        let way = way.between(source, destination);
        let end = match blocksize == end.job.blocksize {
            true => Cow::Borrowed(end),
            false => {
                let job = TransferJob { blocksize, ..end.job };
                Cow::Owned(TransferConfig { job, ..TransferConfig::clone(end) })
            }
        };
        let to = if is_read { agent.device } else { owner };
        let room = passed().map(|own| own.buffer).min().unwrap_or(u64::MAX);
        Some(Pair { way, end, slots, stu, to, destination, is_direct: steps.len() == 1, room })
    }
}

/// The way by these steps, with hosts that take no time and translators that take what they take in the mean.
fn without_competition(
    config: &FabricConfig,
    roads: &Roads<'_>,
    steps: &[Step<'_>],
    (stu, priority): (u32, u8),
) -> Option<TransferPath> {
    let owner = |id: u16| config.owners.get(usize::from(id)).copied();
    let leg = |step: &Step<'_>| {
        let DeviceModel::Endpoint(own) = &config.devices[step.from as usize].model else { return None };
        let there = roads.path(step.from, step.to.into())?.at(priority);
        let back = roads.path(owner(step.to)?, *own.ids.first()?)?.at(priority);
        Some(match roads.medium(step.from) {
            Some(medium) => TransferPath::on_medium(there, back, stu, medium),
            None => {
                // The first interface of a translator, and that on RapidIO is the first, has an agent.
                let AgentConfig { mtu, ids, .. } = roads.agent(step.from)?;
                TransferPath::new(there, back, stu, *mtu, *ids)
            }
        })
    };
    let software = |from: u32| {
        let has = |own: &&Translator| own.interfaces.iter().any(|own| owner(own.id) == Some(from));
        let translator = steps.iter().filter_map(|step| step.translator).find(has);
        let first = translator.and_then(|own| roads.agent(owner(own.interfaces[0].id)?));
        first.map_or_else(Software::default, |first| Software::mean(&first.host))
    };
    over(steps, leg, software)
}

/// The slowest way of a flow.
pub(crate) struct Slowest<'a> {
    pub way: TransferPath,
    /// The end that asks, with the Blocks that translators leave it.
    pub end: Cow<'a, TransferConfig>,
    pub clock: Clock,
    pub stripes: usize,
    /// Interfaces of the end that has more.
    pub interfaces: usize,
    /// Slots of the destination.
    pub slots: u16,
    /// Frames that are enabled at a time come faster than the host of the destination takes them, and do not
    /// all find a place there: some are discarded.
    pub crowded: bool,
    /// Frames that are enabled at a time do not all find room in a translator: some may be dropped there.
    pub squeezed: bool,
    /// How long a Block takes at the best rate, ps.
    pub time: u64,
    /// What sets that.
    pub bound: Bound,
}

/// The end of a flow at an agent.
fn end_of(agent: Option<&AgentConfig>, flow: u16) -> Option<&TransferConfig> {
    agent?.parts.iter().filter(|part| part.flow == flow).find_map(|part| match &part.protocol {
        ProtocolConfig::Transfer(end) => Some(&**end),
        _ => None,
    })
}

/// The interfaces of an end and of its first peer: of the one that has fewer, so many Blocks may be under way
/// at once, and of the other one.
fn stripes(config: &FabricConfig, flow: u16, end: &TransferConfig) -> [usize; 2] {
    let parts = config.agents.iter().flat_map(|agent| &agent.parts).filter(|part| part.flow == flow);
    let mut ends = parts.filter_map(|part| match &part.protocol {
        ProtocolConfig::Transfer(end) => Some(&**end),
        _ => None,
    });
    let peer = ends.find(|other| end.peers.first() == Some(&other.node));
    peer.map_or([1, 1], |peer| {
        let [own, theirs] = [end, peer].map(|end| end.interfaces.len());
        [own.min(theirs), own.max(theirs)]
    })
}
