//! Flows of LINX: every endpoint of `from` and `to` becomes a node.

mod profile;
mod script;
pub(super) mod timers;

use super::messages::{self, Carried};
use super::program;
use super::session::member;
use super::{Beginnings, Cast, Kind, Sized, fits};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::faults::Spells;
use crate::quantities::Quantities;
use crate::spec::*;
use crate::units::{self, Ratio};
use models::config::*;
use models::linx_riocm::Options;
use models::linx_riocm::fragment::{Fragmentation, Limits};
use models::linx_riocm::options::{
    GapTimer, Liveness, MILLISECOND, Opening, Renewal, RepeatedRequest, ResetMode, Supervision,
};
use models::linx_riocm::wire::{FRAG_OCTETS, START_OCTETS};
use models::sim_core::{Duration, Purpose, Stream, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// First of the type 9 streams for LINX, one for each priority: above those of other flows.
const STREAM: u16 = 0xC000;
/// Shares of lost frames are told in parts of this.
const MILLION: u128 = 1_000_000;

/// Flows of LINX.
pub(super) struct Linx;

impl Kind for Linx {
    fn keys(&self) -> &'static [&'static str] {
        &["linx"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.linx.is_some())
    }

    fn needs_arrivals(&self) -> bool {
        false
    }

    fn expand(&self, flow: &mut FlowSpec) {
        expand(flow);
    }

    fn program<'a>(&self, flow: &'a FlowSpec) -> Option<&'a ProgramSpec> {
        flow.linx.as_ref()?.program.as_ref()
    }

    fn program_mut<'a>(&self, flow: &'a mut FlowSpec) -> Option<&'a mut ProgramSpec> {
        flow.linx.as_mut()?.program.as_mut()
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        if let Some(linx) = &flow.linx {
            quantities.all(&format!("{at}/linx"), times(linx));
        }
    }

    fn beginnings(&self, flow: &FlowSpec) -> Option<(&'static str, Beginnings)> {
        flow.linx.as_ref().map(|own| ("linx", beginnings(own)))
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        check(c, at, flow)
    }

    fn expand_endpoint(&self, endpoint: &mut EndpointSpec, used: bool) {
        if used || endpoint.linx.is_some() {
            endpoint.linx = Some(endpoint.linx.clone().unwrap_or_default().over(&defaults()));
        }
    }

    fn expand_overrides(&self, endpoint: &mut EndpointSpec, overrides: &mut [OverrideSpec]) {
        profile::write_out(endpoint, overrides);
    }

    fn read_endpoint(&self, quantities: &mut Quantities<'_>, at: &str, endpoint: &EndpointSpec) {
        if let Some(linx) = &endpoint.linx {
            quantities.all(&format!("{at}/linx"), periods(linx));
        }
    }

    fn idle(&self, flow: &FlowSpec, idle: &mut dyn FnMut(&str, bool, &str, &str)) {
        for (i, fault) in flow.linx.iter().flat_map(|linx| linx.faults.iter().flatten()).enumerate() {
            let once = fault.every.is_some() && fault.times == Some(1);
            let key = format!("linx/faults/{i}/every");
            idle(&key, once, "the fault comes once", "add \"times\": how often it comes");
        }
    }

    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
        let allowed = |octets| (octets <= 65_535, "0 to 65535".to_owned());
        super::mix(c, at, flow, &mut |c, pointer, octets| {
            fits(c, pointer, "message", octets, allowed(octets))
        })
    }

    fn mean_time(&self, c: &Compiler<'_>, source: usize, _: &FlowSpec, sizes: &[Sized]) -> Ratio {
        let node = settings(c, source);
        let kind = match filled(&node.carrier) {
            CarrierKind::Stream => Carried::Stream { mtu: Mtu::MAX.octets() as u32 },
            CarrierKind::Message => Carried::Message { segment: u32::from(*filled(&node.segment)) },
        };
        messages::mean_time(c, source, sizes, &|packet, octets| {
            let frames = frames(octets, *filled(&node.mtu));
            frames.into_iter().map(|octets| messages::chars(kind, octets, packet)).sum()
        })
    }

    fn nodes(
        &self,
        c: &mut Compiler<'_>,
        _: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        nodes(c, cast.at, flow, cast.places, cast.devices)
    }
}

/// When the endpoints of a flow begin.
fn beginnings(own: &LinxSpec) -> Beginnings {
    let spread = filled(&own.spread).get();
    Beginnings { first: filled(&own.at).get(), offset: filled(&own.offset).get(), spread }
}

fn text(s: &str) -> Option<Quantity<Picoseconds>> {
    Some(s.into())
}

/// What a node does unless it is told otherwise. Written out only where flows use it.
pub(crate) fn defaults() -> LinxNodeSpec {
    LinxNodeSpec {
        carrier: Some(CarrierKind::Message),
        mailbox: Some(0),
        segment: Some(256),
        cos: Some(0),
        mtu: Some(256),
        hb_tmo: Some(5),
        connection_priority: Some(1),
        heartbeat_priority: Some(1),
        data_priorities: Some(vec![0]),
        request_period: text("200 ms"),
        reconnect: text("0 ps"),
        reconnect_spread: text("0 ps"),
        window: Some(64),
        fragmentation: Some(FragmentationKind::Simple),
        profile: Some(LinxProfile::Standard),
        // What the profile decides stands in `profile`.
        ..LinxNodeSpec::default()
    }
}

/// Fills in the defaults of such a flow.
pub(crate) fn expand(flow: &mut FlowSpec) {
    if program::of(flow).is_none() {
        flow.size.get_or_insert(SizeSpec::Fixed(256));
    }
    let Some(linx) = &mut flow.linx else { return };
    for time in [&mut linx.at, &mut linx.offset, &mut linx.spread] {
        time.get_or_insert_with(|| "0 ps".into());
    }
    let port = *linx.src_port.get_or_insert(1);
    linx.dst_port.get_or_insert(port);
    linx.chart.get_or_insert(false);
    for inject in linx.inject.iter_mut().flatten().filter(|inject| inject.frame.is_none()) {
        inject.relative.get_or_insert(false);
    }
    for fault in linx.faults.iter_mut().flatten() {
        fault.times.get_or_insert(1);
        fault.spread.get_or_insert_with(|| "0 ps".into());
    }
}

/// Every time of a flow with its place.
pub(crate) fn times(linx: &LinxSpec) -> Vec<(String, &dyn Written)> {
    let own = [("at", &linx.at), ("offset", &linx.offset), ("spread", &linx.spread)];
    let given =
        own.into_iter().filter_map(|(key, time)| Some((key.to_owned(), time.as_ref()? as &dyn Written)));
    let mut times: Vec<(String, &dyn Written)> = given.collect();
    for (i, fault) in linx.faults.iter().flatten().enumerate() {
        times.push((format!("faults/{i}/at"), &fault.at));
        times.push((format!("faults/{i}/for"), &fault.lasts));
        let more = [("every", &fault.every), ("spread", &fault.spread)];
        times.extend(
            more.into_iter().filter_map(|(key, time)| {
                Some((format!("faults/{i}/{key}"), time.as_ref()? as &dyn Written))
            }),
        );
    }
    for (i, disconnect) in linx.disconnects.iter().flatten().enumerate() {
        times.push((format!("disconnects/{i}/at"), &disconnect.at));
        if let Some(lasts) = &disconnect.lasts {
            times.push((format!("disconnects/{i}/for"), lasts));
        }
    }
    for (i, inject) in linx.inject.iter().flatten().enumerate() {
        times.push((format!("inject/{i}/at"), &inject.at));
    }
    times
}

/// Every time of a node with its key.
pub(crate) fn periods(node: &LinxNodeSpec) -> Vec<(String, &dyn Written)> {
    let all = [
        ("request_period", &node.request_period),
        ("reconnect", &node.reconnect),
        ("reconnect_spread", &node.reconnect_spread),
        ("request_jitter", &node.request_jitter),
    ];
    let all =
        all.into_iter().filter_map(|(key, time)| Some((key.to_owned(), time.as_ref()? as &dyn Written)));
    let gap = node.gap_timer.as_ref().map(|time| ("gap_timer".to_owned(), time as &dyn Written));
    all.chain(gap).collect()
}

/// Whether the settings of the flow go together.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
    let before = c.out.len();
    let Some(linx) = &flow.linx else { return true };
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    if super::kinds(flow) > 1 {
        let help = "what carries frames is a setting of the endpoints: endpoint.linx.carrier";
        mixed("linx", "the flow makes LINX connections and sends something else", help);
    }
    match flow.arrivals {
        Some(ArrivalSpec::Trace(_)) => {
            mixed("arrivals", "a trace knows no connections", "use another arrival process");
        }
        Some(ArrivalSpec::Saturated(_)) => {
            let help = "use \"constant\" or another open loop";
            mixed("arrivals", "a closed loop does not see when a message is over", help);
        }
        _ => {}
    }
    if flow.priority.is_some_and(|priority| priority > 0) {
        let help = "use endpoint.linx: connection_priority, heartbeat_priority, data_priorities";
        mixed("priority", "frames of LINX have priorities by their kind", help);
    }
    for (i, fault) in linx.faults.iter().flatten().enumerate() {
        let key = format!("linx/faults/{i}");
        if fault.lasts.get() == 0 {
            mixed(&format!("{key}/for"), "what lasts no time is no fault", "for example \"1 s\"");
        }
        let again = fault.every.as_ref().map(Quantity::get);
        if again.is_none() && fault.times.is_some_and(|times| times > 1) {
            mixed(&key, "a fault that comes again needs \"every\"", "add \"every\"");
        }
        let longest = fault.lasts.get().saturating_add(filled(&fault.spread).get());
        if again.is_some_and(|every| every <= longest) {
            let help =
                "\"every\" counts from beginning to beginning, and is more than \"for\" and \"spread\"";
            mixed(&format!("{key}/every"), "the fault would come again before it is over", help);
        }
    }
    for (i, disconnect) in linx.disconnects.iter().flatten().enumerate() {
        if disconnect.lasts.as_ref().is_some_and(|lasts| lasts.get() == 0) {
            let key = format!("linx/disconnects/{i}/for");
            mixed(&key, "who connects again at once has not disconnected", "for example \"1 s\"");
        }
    }
    if let Some(loss) = &linx.loss {
        for (key, share) in shares(loss) {
            if let Err(why) = millionths(share) {
                let finding = Diagnostic::error("SC008", format!("{at}/linx/loss/{key}"), why);
                c.out.push(finding.help("allowed: 0 to 1"));
            }
        }
    }
    c.out.len() == before
}

fn shares(loss: &LinxLossSpec) -> [(&'static str, Option<&Share>); 3] {
    [
        ("connection", loss.connection.as_ref()),
        ("heartbeat", loss.heartbeat.as_ref()),
        ("data", loss.data.as_ref()),
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

/// Octets of the frames of a message.
pub(crate) fn frames(octets: u32, mtu: u16) -> Vec<u32> {
    let (first, more) = (u32::from(mtu) - START_OCTETS as u32, u32::from(mtu) - FRAG_OCTETS as u32);
    let mut frames = vec![START_OCTETS as u32 + octets.min(first)];
    let mut rest = octets.saturating_sub(first);
    while rest > 0 {
        frames.push(FRAG_OCTETS as u32 + rest.min(more));
        rest = rest.saturating_sub(more);
    }
    frames
}

/// Where an endpoint stands in a flow.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Side {
    From,
    To,
}

/// The ports of a flow, and the endpoints that have them.
struct Ports {
    src: u16,
    dst: u16,
    sides: BTreeMap<usize, Side>,
}

impl Ports {
    fn of(linx: &LinxSpec) -> Self {
        let (src, dst) = (*filled(&linx.src_port), *filled(&linx.dst_port));
        Self { src, dst, sides: BTreeMap::new() }
    }

    /// The endpoint is on this side. A node has one port, on whichever side it is.
    fn take(&mut self, c: &mut Compiler<'_>, at: &str, device: usize, side: Side) {
        if *self.sides.entry(device).or_insert(side) == side || self.src == self.dst {
            return;
        }
        let name = c.graph.nodes[device].name.clone();
        let (src, dst) = (self.src, self.dst);
        let message = format!("\"{name}\" is in \"from\" and in \"to\": its port would be {src} and {dst}");
        let finding = Diagnostic::error("SC085", format!("{at}/linx"), message);
        c.once(finding.help("give both ends one port, or make two flows"));
    }

    /// The port of an endpoint, and that of its peers.
    fn both(&self, device: usize) -> (u16, u16) {
        match self.sides.get(&device) {
            Some(Side::To) => (self.dst, self.src),
            Some(Side::From) | None => (self.src, self.dst),
        }
    }
}

/// What a node of a flow is set to.
pub(crate) fn settings(c: &Compiler<'_>, device: usize) -> LinxNodeSpec {
    filled(&c.devices[device].endpoint().expect("flows end at endpoints").linx).clone()
}

/// The nodes of a flow, by device. Nothing if something is wrong.
pub(crate) fn nodes(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    places: &[(usize, Destinations)],
    devices: &BTreeMap<u32, usize>,
) -> Option<BTreeMap<usize, ProtocolConfig>> {
    let linx = flow.linx.as_ref()?;
    let before = c.out.len();
    // Both ends of a connection are configured for it.
    let mut peers: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    let mut ports = Ports::of(linx);
    for (device, destinations) in places {
        // A rank that talks to nobody is a node all the same: its program computes.
        peers.entry(*device).or_default();
        let ids = destinations.listed().unwrap_or_default();
        let own = c.ids[*device];
        let spared = matches!(destinations, Destinations::Uniform { except: Some(_), .. });
        if ids.contains(&own) && !spared {
            let message = format!("\"{}\" would connect to itself", c.graph.nodes[*device].name);
            let finding = Diagnostic::error("SC047", format!("{at}/to"), message);
            c.once(finding.help("leave it out of \"from\" or of \"to\""));
        }
        for &id in ids.iter().filter(|&&id| id != own) {
            peers.entry(*device).or_default().insert(id);
            peers.entry(devices[&id]).or_default().insert(own);
            ports.take(c, at, *device, Side::From);
            ports.take(c, at, devices[&id], Side::To);
        }
    }
    let by_name: BTreeMap<String, usize> =
        peers.keys().map(|&device| (c.graph.nodes[device].name.clone(), device)).collect();
    let at = format!("{at}/linx");
    let faults = faults(c, &at, flow, linx, &by_name);
    // Faults of a kind that overlap are one: a node is back when the last of them is over.
    let away = faults.iter().map(|(&device, faults)| {
        let mut spells = Spells::default();
        for fault in faults.iter().filter(|fault| fault.kind != LinxFaultKind::Stall) {
            spells.add(fault.kind, fault.from.0, Some(fault.until.0 - fault.from.0));
        }
        let one = |(kind, from, until): (LinxFaultKind, u64, Option<u64>)| LinxFault {
            kind,
            from: Time(from),
            until: Time(until.unwrap_or(u64::MAX)),
        };
        let mut away: Vec<LinxFault> = spells.merged().into_iter().map(one).collect();
        away.sort_unstable_by_key(|fault| (fault.from, fault.until, fault.kind));
        (c.ids[device] as u16, away)
    });
    let outages = Arc::new(away.filter(|(_, away)| !away.is_empty()).collect::<BTreeMap<_, _>>());
    let disconnects = script::disconnects(c, &at, linx, &peers, devices, &by_name);
    let absences = Arc::new(script::absences(c, &disconnects));
    let injections = script::injections(c, &at, linx, &peers, &by_name);
    let positions: BTreeMap<usize, u64> = places.iter().map(|(device, _)| *device).zip(0..).collect();
    let loss = linx.loss.clone().unwrap_or_default();
    let loss = shares(&loss).map(|(_, share)| millionths(share).expect("shares were checked"));
    let beginnings = beginnings(linx);
    let all: Vec<_> = peers.keys().map(|&device| (device, vain(&settings(c, device)))).collect();
    super::idle::of_nodes(c, "linx", all.into_iter());
    let mut nodes = BTreeMap::new();
    for (device, peers) in peers {
        let node = settings(c, device);
        check_node(c, device, &node);
        let position = positions.get(&device).copied().unwrap_or(0);
        let (port, peer_port) = ports.both(device);
        let config = LinxConfig {
            node: c.ids[device] as u16,
            port,
            peer_port,
            carrier: match filled(&node.carrier) {
                CarrierKind::Stream => Carrier::Stream { cos: *filled(&node.cos), stream_id: STREAM },
                CarrierKind::Message => {
                    Carrier::Message { mailbox: *filled(&node.mailbox), segment: *filled(&node.segment) }
                }
            },
            connection_priority: *filled(&node.connection_priority),
            heartbeat_priority: *filled(&node.heartbeat_priority),
            data_priorities: filled(&node.data_priorities).clone(),
            mtu: *filled(&node.mtu),
            hb_tmo: *filled(&node.hb_tmo),
            reconnect_after: filled(&node.reconnect).get(),
            reconnect_spread: filled(&node.reconnect_spread).get(),
            options: options(c, device, port, &node),
            first_cid: node.first_cid,
            generation: node.generation,
            peers: peers.into_iter().map(|id| id as u16).collect(),
            connect_at: Time(beginnings.of(position)),
            spread: Duration(beginnings.spread),
            loss,
            faults: faults.get(&device).cloned().unwrap_or_default(),
            outages: Arc::clone(&outages),
            disconnects: disconnects.get(&device).cloned().unwrap_or_default(),
            absences: Arc::clone(&absences),
            injections: injections.get(&device).cloned().unwrap_or_default(),
            reply: linx.reply.map(u32::from),
            program: None,
            charted: *filled(&linx.chart),
            stream: format!("{}/{}/linx", c.graph.nodes[device].name, flow.name),
        };
        nodes.insert(device, ProtocolConfig::Linx(Box::new(config)));
    }
    (c.out.len() == before).then_some(nodes)
}

/// Settings of a node that may be in vain: the key, whether it is given, whether it is in vain, why, and what
/// to do. What has its default is not given.
fn vain(node: &LinxNodeSpec) -> [super::idle::Vain; 3] {
    let (streamed, plain) = (node.carrier == Some(CarrierKind::Stream), defaults());
    let message = "leave it out, or use carrier: \"message\"";
    let stream = "leave it out, or use carrier: \"stream\"";
    [
        ("mailbox", node.mailbox != plain.mailbox, streamed, "type 9 has no mailboxes", message),
        ("segment", node.segment != plain.segment, streamed, "PDUs of type 9 are cut at the MTU", message),
        ("cos", node.cos != plain.cos, !streamed, "type 11 has no classes of service", stream),
    ]
}

/// Most of what LINX for Linux adds to the time between two REQ, or takes away: it draws a signed octet.
const JITTER_MS: u64 = 128;
/// Draws before they begin again.
const JITTERS: usize = 251;

fn options(c: &Compiler<'_>, device: usize, port: u16, node: &LinxNodeSpec) -> Options {
    let base = profile::options(*filled(&node.profile));
    Options {
        request_period: filled(&node.request_period).get(),
        jitter: jitter(c, device, port, node),
        window: *filled(&node.window),
        limits: Limits {
            open: node.open_messages.map_or(base.limits.open, usize::from),
            octets: node.longest_message.unwrap_or(base.limits.octets),
        },
        fragmentation: match filled(&node.fragmentation) {
            FragmentationKind::Patch => Fragmentation::Patch,
            FragmentationKind::Simple => Fragmentation::Simple,
        },
        gap_timer: node.gap_timer.as_ref().map_or(base.gap_timer, |time| match time.get() {
            Period::Auto => GapTimer::Periods,
            Period::Off => GapTimer::Off,
            Period::Time(time) => GapTimer::After(time),
        }),
        reset_mode: node.reset_mode.map_or(base.reset_mode, |mode| match mode {
            LinxResetMode::Handshake => ResetMode::Handshake,
            LinxResetMode::Immediate => ResetMode::Immediate,
        }),
        repeated_request: node.repeated_request.map_or(base.repeated_request, |request| match request {
            LinxRepeatedRequest::Acknowledge => RepeatedRequest::Acknowledge,
            LinxRepeatedRequest::Teardown => RepeatedRequest::Teardown,
        }),
        liveness: node.liveness.map_or(base.liveness, |liveness| match liveness {
            LinxLiveness::Heartbeat => Liveness::Heartbeat,
            LinxLiveness::Any => Liveness::Any,
        }),
        supervision: node.supervision.map_or(base.supervision, |supervision| match supervision {
            LinxSupervision::Deadline => Supervision::Deadline,
            LinxSupervision::Ticks => Supervision::Ticks,
        }),
        periods: node.periods.unwrap_or(base.periods),
        opening: node.opening.map_or(base.opening, |opening| match opening {
            LinxOpening::Proved => Opening::Proved,
            LinxOpening::AtOnce => Opening::AtOnce,
        }),
        renewal: node.renewal.map_or(base.renewal, |renewal| match renewal {
            LinxRenewal::Connect => Renewal::Connect,
            LinxRenewal::Never => Renewal::Never,
        }),
    }
}

/// What is added to the time between two REQ, or taken away: the jitter of the file, or that of the profile.
fn jitter(c: &Compiler<'_>, device: usize, port: u16, node: &LinxNodeSpec) -> Vec<i64> {
    let name = &c.graph.nodes[device].name;
    // Cores have jitter of their own; that of the first has the name it always had.
    let path = if port == 1 { format!("{name}/linx jitter") } else { format!("{name}/linx jitter {port}") };
    let mut draws = Stream::new(c.seed, &path, Purpose::PHASE);
    match (&node.request_jitter, filled(&node.profile)) {
        (Some(time), _) if time.get() == 0 => Vec::new(),
        (Some(time), _) => {
            let most = time.get();
            (0..JITTERS).map(|_| draws.uniform_between(0, 2 * most) as i64 - most as i64).collect()
        }
        (None, LinxProfile::LinxForLinux) => {
            let mut draw = || draws.below(2 * JITTER_MS) as i64 - JITTER_MS as i64;
            (0..JITTERS).map(|_| draw() * MILLISECOND as i64).collect()
        }
        (None, LinxProfile::Standard) => Vec::new(),
    }
}

/// Whether the settings of a node are possible.
fn check_node(c: &mut Compiler<'_>, device: usize, node: &LinxNodeSpec) {
    let at = format!("{}/linx", c.devices[device].origin);
    let name = c.graph.nodes[device].name.clone();
    if c.ids[device] > u32::from(u16::MAX) {
        let message = format!("\"{name}\" has an id of more than 16 bits");
        c.once(Diagnostic::error("SC008", at.clone(), message).help("LINX knows 8 and 16 bits"));
    }
    let (mtu, segment) = (*filled(&node.mtu), *filled(&node.segment));
    let segments = if node.mailbox.is_some_and(|mailbox| mailbox > 3) { 1 } else { 16 };
    if node.carrier != Some(CarrierKind::Stream) && mtu > segments * segment {
        let message = format!("\"{name}\" cannot send frames of {mtu} octets");
        let help = format!("{segments} segments of {segment} octets hold {}", segments * segment);
        c.once(Diagnostic::error("SC008", format!("{at}/mtu"), message).help(help));
    }
    let priorities = filled(&node.data_priorities);
    if priorities.is_empty() || priorities.iter().any(|&priority| priority > 2) {
        let message = format!("data frames of \"{name}\" cannot have these priorities");
        let finding = Diagnostic::error("SC008", format!("{at}/data_priorities"), message);
        c.once(finding.help("allowed: a list of 0, 1 and 2, for example [0]"));
    }
    if filled(&node.request_period).get() == 0 {
        let message = format!("\"{name}\" would send requests without a pause");
        c.once(
            Diagnostic::error("SC008", format!("{at}/request_period"), message).help("use a positive time"),
        );
    }
    let period = filled(&node.request_period).get();
    if let Some(jitter) = node.request_jitter.as_ref().map(Quantity::get)
        && jitter > 0
        && jitter >= period
    {
        let message = format!("\"{name}\" would repeat a request before it has sent it");
        let finding = Diagnostic::error("SC087", format!("{at}/request_jitter"), message);
        c.once(finding.help(format!("allowed: less than request_period, {}", units::time_text(period))));
    }
    if node.gap_timer.as_ref().is_some_and(|time| time.get() == Period::Time(0)) {
        let message = format!("\"{name}\" would never wait for a frame that another one has overtaken");
        let finding = Diagnostic::error("SC087", format!("{at}/gap_timer"), message);
        c.once(finding.help("allowed: a positive time, \"auto\" or \"off\""));
    }
}

fn faults(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    linx: &LinxSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<LinxFault>> {
    let seed = c.seed;
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    let mut faults: BTreeMap<usize, Vec<LinxFault>> = BTreeMap::new();
    for (i, fault) in linx.faults.iter().flatten().enumerate() {
        let at = format!("{at}/faults/{i}/node");
        let kind = match fault.kind {
            LinxFaultKindSpec::Stall => LinxFaultKind::Stall,
            LinxFaultKindSpec::Mute => LinxFaultKind::Mute,
            LinxFaultKindSpec::Deaf => LinxFaultKind::Deaf,
            LinxFaultKindSpec::LinkDown => LinxFaultKind::LinkDown,
            LinxFaultKindSpec::Crash => LinxFaultKind::Crash,
        };
        let (begin, lasts) = (fault.at.get(), fault.lasts.get());
        // A fault that comes once comes again never.
        let every = fault.every.as_ref().map_or(0, Quantity::get);
        let spread = filled(&fault.spread).get();
        match crate::names::select(fault.node.patterns(), &names) {
            Ok(hits) => {
                let devices: BTreeSet<usize> = hits.into_iter().map(|hit| by_name[names[hit]]).collect();
                for device in devices {
                    let path = format!("{}/{}/faults/{i}", c.graph.nodes[device].name, flow.name);
                    let mut draws = Stream::new(seed, &path, Purpose::STALLS);
                    let windows = (0..*filled(&fault.times)).map(|turn| {
                        let later = if spread == 0 { 0 } else { draws.uniform_between(0, spread) };
                        let from =
                            begin.saturating_add(every.saturating_mul(turn.into())).saturating_add(later);
                        LinxFault { kind, from: Time(from), until: Time(from.saturating_add(lasts)) }
                    });
                    faults.entry(device).or_default().extend(windows);
                }
            }
            Err(pattern) => {
                member(c, fault.node.place(&at, &pattern), &pattern, by_name);
            }
        }
    }
    faults
}
