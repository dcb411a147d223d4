//! Flows of messages, streams and requests: what runs on the endpoints at both ends.

use crate::compile::Compiler;
use crate::diagnostic::Diagnostic;
use crate::resolved::{Host, filled};
use crate::spec::*;
use crate::traffic::{self, Sized};
use crate::transfer::Clock;
use crate::units::Ratio;
use models::config::*;
use models::lp_serial::cost::{AddressSize, PacketClass, SymbolSize, packet_bytes};
use std::collections::{BTreeMap, BTreeSet};

/// One end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) device: usize,
    pub(crate) flow: u16,
    /// `None`: it only receives.
    pub(crate) source: Option<SourceConfig>,
    /// What it is, if ends of the flow differ.
    pub(crate) node: Option<ProtocolConfig>,
}

/// How many kinds of protocols a flow names.
fn protocol_kinds(flow: &FlowSpec) -> usize {
    let named = [
        flow.messages.is_some(),
        flow.streams.is_some(),
        flow.rpc.is_some(),
        flow.linx.is_some(),
        flow.session.is_some(),
        flow.st.is_some(),
    ];
    named.into_iter().filter(|is_named| *is_named).count()
}

/// How many kinds of traffic a flow names, bare packets included.
pub(crate) fn kinds(flow: &FlowSpec) -> usize {
    protocol_kinds(flow) + usize::from(flow.packet.is_some())
}

/// Whether the flow runs on hosts and not on links alone.
pub(crate) fn is_protocol(flow: &FlowSpec) -> bool {
    protocol_kinds(flow) > 0
}

/// What carries a flow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Kind {
    Message { segment: u32 },
    Stream { mtu: u32 },
    Read,
    Write,
}

fn kind(flow: &FlowSpec) -> Kind {
    let stream = || Kind::Stream {
        mtu: u32::from(flow.streams.as_ref().and_then(|streams| streams.mtu).unwrap_or(256)),
    };
    let message = || Kind::Message {
        segment: u32::from(flow.messages.as_ref().and_then(|messages| messages.segment).unwrap_or(256)),
    };
    match flow.rpc.as_ref().and_then(|rpc| rpc.via) {
        Some(RpcVia::Read) => Kind::Read,
        Some(RpcVia::Write) => Kind::Write,
        Some(RpcVia::Stream) => stream(),
        Some(RpcVia::Message) => message(),
        None if flow.streams.is_some() => stream(),
        None => message(),
    }
}

/// Fills in the defaults of such a flow.
pub(crate) fn expand(flow: &mut FlowSpec) {
    let kind = kind(flow);
    if kind != Kind::Read {
        flow.size.get_or_insert(SizeSpec::Fixed(256));
    }
    if let Some(rpc) = &mut flow.rpc {
        rpc.via.get_or_insert(match kind {
            Kind::Message { .. } => RpcVia::Message,
            Kind::Stream { .. } => RpcVia::Stream,
            Kind::Read => RpcVia::Read,
            Kind::Write => RpcVia::Write,
        });
        if kind != Kind::Write {
            rpc.response.get_or_insert(8);
        }
        rpc.timeout.get_or_insert("100 ms".into());
    }
    match kind {
        Kind::Message { segment } => {
            let messages = flow.messages.get_or_insert_default();
            messages.mailbox.get_or_insert(0);
            messages.segment.get_or_insert(segment as u16);
        }
        Kind::Stream { mtu } => {
            let streams = flow.streams.get_or_insert_default();
            streams.cos.get_or_insert(0);
            streams.mtu.get_or_insert(mtu as u16);
        }
        Kind::Read | Kind::Write => {}
    }
}

/// Whether the settings go together.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
    let before = c.out.len();
    crate::program::check(c, at, flow);
    if c.out.len() > before {
        return false;
    }
    if flow.linx.is_some() {
        return crate::linx::check(c, at, flow);
    }
    if flow.session.is_some() {
        return crate::session::check(c, at, flow);
    }
    if flow.st.is_some() {
        return crate::transfer::check(c, at, flow);
    }
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
        false
    };
    let via = flow.rpc.as_ref().and_then(|rpc| rpc.via);
    let (messages, streams) = (flow.messages.is_some(), flow.streams.is_some());
    if messages && (streams || matches!(via, Some(RpcVia::Stream | RpcVia::Read | RpcVia::Write))) {
        let help = "one flow, one kind: make another flow, or leave \"messages\" out";
        return mixed("messages", "the flow sends messages and something else", help);
    }
    if streams && matches!(via, Some(RpcVia::Message | RpcVia::Read | RpcVia::Write)) {
        let help = "one flow, one kind: make another flow, or leave \"streams\" out";
        return mixed("streams", "the flow sends PDUs and something else", help);
    }
    if flow.packet.is_some() {
        let help = "the packets of messages, streams and requests are made by the endpoints";
        return mixed("packet", "the kind of packet follows from the kind of flow", help);
    }
    if matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) {
        let help = "a trace lists packets; use another arrival process";
        return mixed("arrivals", "a trace knows no messages, streams or requests", help);
    }
    if flow.priority == Some(3) {
        let at = format!("{at}/priority");
        let message = "messages, streams and requests cannot have priority 3";
        let help = "allowed: 0 to 2; a response takes the priority above that of its request";
        c.out.push(Diagnostic::error("SC008", at, message).help(help));
        return false;
    }
    if let Some(streams) = &flow.streams
        && let Some(mtu) = streams.mtu
    {
        let at = format!("{at}/streams/mtu");
        if Mtu::from_bytes(mtu).is_err() {
            let message = format!("an MTU of {mtu} octets is not possible");
            c.out.push(Diagnostic::error("SC008", at, message).help("allowed: 32 to 256 in steps of 4"));
            return false;
        }
        let before = c.spec.traffic.iter().enumerate().take_while(|(_, other)| !std::ptr::eq(*other, flow));
        let other = before.into_iter().find_map(|(i, other)| {
            let other = other.streams.as_ref()?.mtu?;
            (other != mtu).then_some((i, other))
        });
        if let Some((i, other)) = other {
            let message = format!("an MTU of {mtu} octets, and one of {other} before");
            let finding = Diagnostic::error("SC049", at, message).help("the MTU is that of the whole system");
            c.out.push(finding.also(format!("/traffic/{i}/streams/mtu"), "the other one"));
            return false;
        }
    }
    true
}

/// Sizes of messages with their weights; the wire has nothing to say about them.
pub(crate) fn sizes(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
    if flow.st.is_some() || crate::program::of(flow).is_some() {
        // Transfers have a length of their own, and so have the messages of programs.
        return Some(vec![(1, PacketSize { payload: 0, wire: 0 })]);
    }
    let kind = kind(flow);
    let response = flow.rpc.as_ref().and_then(|rpc| rpc.response).unwrap_or(8);
    if kind == Kind::Read {
        // Requests say how much is read.
        check_size(c, &format!("{at}/rpc/response"), flow, kind, response)?;
        return Some(vec![(1, PacketSize { payload: response as u16, wire: 0 })]);
    }
    if flow.rpc.is_some() && kind != Kind::Write {
        check_size(c, &format!("{at}/rpc/response"), flow, kind, response)?;
    }
    let parts: Vec<(u32, u32, String)> = match flow.size.as_ref()? {
        SizeSpec::Fixed(payload) => vec![(1, *payload, format!("{at}/size"))],
        SizeSpec::Mix(list) => {
            let at = |i: usize| format!("{at}/size/{i}/payload");
            list.iter().enumerate().map(|(i, part)| (part.weight, part.payload, at(i))).collect()
        }
    };
    let mut sizes = Vec::new();
    for (weight, payload, pointer) in parts {
        check_size(c, &pointer, flow, kind, payload)?;
        if weight > 0 {
            sizes.push((weight, PacketSize { payload: payload as u16, wire: 0 }));
        }
    }
    if sizes.is_empty() {
        let message = "the weights do not sum to a positive 32-bit number";
        c.once(Diagnostic::error("SC008", format!("{at}/size"), message));
        return None;
    }
    if let (Kind::Message { segment }, Some(mailbox)) =
        (kind, flow.messages.as_ref().and_then(|messages| messages.mailbox))
        && mailbox > 3
        && sizes.iter().any(|(_, size)| u32::from(size.payload) > segment)
    {
        let message = format!("mailbox {mailbox} takes messages of one segment only");
        let help = "allowed: 0 to 3 for longer messages";
        c.once(Diagnostic::error("SC008", format!("{at}/messages/mailbox"), message).help(help));
        return None;
    }
    Some(sizes)
}

fn check_size(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec, kind: Kind, octets: u32) -> Option<()> {
    let (fits, allowed) = match kind {
        _ if flow.linx.is_some() => crate::linx::check_size(octets),
        _ if flow.session.is_some() => crate::session::check_size(octets, flow),
        Kind::Message { segment } => (
            octets > 0 && octets <= 16 * segment,
            format!("1 to {} (16 segments of {segment})", 16 * segment),
        ),
        Kind::Stream { .. } => (octets > 0 && octets < 65_536, "1 to 65535".to_owned()),
        Kind::Read => (
            [8, 16, 32, 64, 96, 128, 160, 192, 224, 256].contains(&octets),
            "8, 16, and 32 to 256 in steps of 32".to_owned(),
        ),
        Kind::Write => (octets > 0 && octets <= 256, "1 to 256".to_owned()),
    };
    if fits {
        return Some(());
    }
    let what = match kind {
        _ if flow.linx.is_some() => "message",
        _ if flow.session.is_some() => "PDU",
        Kind::Message { .. } => "message",
        Kind::Stream { .. } => "PDU",
        Kind::Read => "read",
        Kind::Write => "write",
    };
    let message = format!("a {what} cannot have {octets} octets");
    c.once(Diagnostic::error("SC041", at, message).help(format!("allowed: {allowed}")));
    None
}

/// Endpoints that receive what these sources send. Empty for traffic without hosts.
pub(crate) fn ends(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    places: &[(usize, Destinations)],
) -> Option<BTreeSet<usize>> {
    let mut ends = BTreeSet::new();
    if !is_protocol(flow) {
        return Some(ends);
    }
    let devices = devices(c);
    for (_, destinations) in places {
        let ids = match destinations {
            Destinations::Fixed(id) => std::slice::from_ref(id),
            Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => &ids[..],
            Destinations::Hotspot { .. } | Destinations::Replay => {
                let message = "a hot spot is made of packets, not of messages, streams or requests";
                let help = "make two flows, one to the hot endpoints and one to all";
                c.once(Diagnostic::error("SC048", format!("{at}/to"), message).help(help));
                return None;
            }
        };
        for id in ids {
            match devices.get(id) {
                Some(&device) => {
                    ends.insert(device);
                }
                None => {
                    let message = "a multicast group receives no messages, streams or requests";
                    c.once(Diagnostic::error("SC048", format!("{at}/to"), message).help("name endpoints"));
                    return None;
                }
            }
        }
    }
    for (source, _) in places {
        ends.remove(source);
    }
    Some(ends)
}

/// Endpoints by id.
pub(crate) fn devices(c: &Compiler<'_>) -> BTreeMap<u32, usize> {
    c.graph.endpoints.iter().map(|&device| (c.ids[device], device)).collect()
}

/// Mean time that a message with all delimiters keeps the injection link busy, in picoseconds, exactly; its
/// responses go the other way.
pub(crate) fn mean_time(c: &Compiler<'_>, source: usize, flow: &FlowSpec, sizes: &[Sized]) -> Ratio {
    let Some((link, _, _)) =
        c.neighbours[source][0].filter(|_| flow.st.is_none() && crate::program::of(flow).is_none())
    else {
        return Ratio::whole(1);
    };
    let wire = &c.wires[link];
    let packet = |class: PacketClass, payload: u32| {
        let octets = packet_bytes(class, traffic::id_size(c), payload, AddressSize::Bits34);
        let octets = wire.symbol.packet_bytes_on_link(octets.expect("segments fit into packets"));
        u128::from(octets + wire.symbol.delimiter_chars())
    };
    let chars = |kind: Kind, octets: u32| match kind {
        Kind::Message { segment } => {
            let last = (octets - 1) % segment + 1;
            u128::from((octets - 1) / segment) * packet(PacketClass::Message, segment)
                + packet(PacketClass::Message, last.next_multiple_of(8))
        }
        Kind::Stream { mtu } => {
            let (full, last) = ((octets - 1) / mtu, (octets - 1) % mtu + 1);
            let end = packet(PacketClass::DataStreamingStart, last.next_multiple_of(2));
            match full {
                0 => end,
                _ => {
                    packet(PacketClass::DataStreamingStart, mtu)
                        + u128::from(full - 1) * packet(PacketClass::DataStreamingContinuation, mtu)
                        + end
                }
            }
        }
        Kind::Read => packet(PacketClass::Read, 0),
        Kind::Write => packet(PacketClass::Write, octets.next_multiple_of(8)),
    };
    let node = flow.linx.as_ref().map(|_| crate::linx::settings(c, source));
    let whole = |octets: u32| match &node {
        None => chars(kind(flow), octets),
        Some(node) => {
            let kind = match node.carrier {
                Some(CarrierKind::Stream) => Kind::Stream { mtu: Mtu::MAX.octets() as u32 },
                _ => Kind::Message { segment: node.segment.unwrap_or(256).into() },
            };
            let frames = crate::linx::frames(octets, node.mtu.unwrap_or(256));
            frames.into_iter().map(|octets| chars(kind, octets)).sum()
        }
    };
    let weights: u128 = sizes.iter().map(|(weight, _)| u128::from(*weight)).sum();
    let sum: u128 =
        sizes.iter().map(|(weight, size)| u128::from(*weight) * whole(u32::from(size.payload))).sum();
    let one = wire.rate.character_ps(wire.width);
    Ratio::new(sum * u128::from(one.numerator), weights.max(1) * u128::from(one.denominator))
}

/// The MTU of type 9, of the whole system.
pub(crate) fn mtu(spec: &Spec) -> Mtu {
    let mtu = spec.traffic.iter().find_map(|flow| flow.streams.as_ref()?.mtu);
    mtu.and_then(|octets| Mtu::from_bytes(octets).ok()).unwrap_or(Mtu::MAX)
}

/// How long a response may take, unless it is given, in time of the fabric.
const RESPONSE_TIMEOUT: u64 = 1_000_000_000;

/// The software of an endpoint.
///
/// # Panics
/// If the device is a switch.
pub(crate) fn host<'a>(c: &'a Compiler<'_>, device: usize) -> &'a Host {
    &c.devices[device].endpoint().expect("flows end at endpoints").host
}

/// The protocol clock of an endpoint; 1 if it is none, of which [`agents`] complains.
pub(crate) fn ratio(c: &Compiler<'_>, device: usize) -> (u64, u64) {
    *host(c, device).clock.as_ref().unwrap_or(&(1, 1))
}

/// An endpoint that is an interface of a host in one flow is nothing else in another: what comes through
/// it is that host's.
fn check_interfaces(c: &mut Compiler<'_>, parts: &[Placed]) {
    let interfaces = |placed: &Placed| match &placed.node {
        Some(ProtocolConfig::Transfer(end)) => end.interfaces.clone(),
        _ => vec![c.ids[placed.device] as u16],
    };
    // The hosts by the ids of their interfaces, each with a flow that makes it one.
    let mut hosts: BTreeMap<u16, (u16, Vec<u16>)> = BTreeMap::new();
    for placed in parts {
        let own = interfaces(placed);
        for &id in own.iter().filter(|_| own.len() > 1) {
            hosts.entry(id).or_insert_with(|| (placed.flow, own.clone()));
        }
    }
    for placed in parts {
        let own = interfaces(placed);
        let other = own.iter().find_map(|id| Some((*id, hosts.get(id).filter(|host| host.1 != own)?)));
        let Some((id, (flow, host))) = other.filter(|(_, (_, host))| own != host[..1]) else { continue };
        let name = |id: u16| {
            let device = c.ids.iter().position(|own| *own == u32::from(id)).expect("somebody has the id");
            c.graph.nodes[device].name.clone()
        };
        let message =
            format!("\"{}\" is an interface of the host \"{}\" in another flow", name(id), name(host[0]));
        let finding = Diagnostic::error("SC048", format!("/traffic/{}/st", placed.flow), message)
            .help("name the first endpoint of that host, or give both flows the same hosts")
            .also(format!("/traffic/{flow}/st/stripes"), "the other flow");
        c.out.push(finding);
        return;
    }
}

/// The agents of all endpoints that take part in such flows.
pub(crate) fn agents(c: &mut Compiler<'_>, parts: Vec<Placed>) -> Vec<AgentConfig> {
    check_interfaces(c, &parts);
    let mut by_device: BTreeMap<usize, Vec<PartConfig>> = BTreeMap::new();
    for Placed { device, flow, source, node } in parts {
        let protocol = match (node, c.spec.traffic.get(usize::from(flow)), &c.host) {
            (Some(node), ..) => node,
            (None, Some(spec), _) => protocol(spec, flow),
            // The only flow of messages that the file does not list.
            (None, None, Some(host)) => host.protocol(),
            (None, None, None) => unreachable!("hot flows are made of packets"),
        };
        by_device.entry(device).or_default().push(PartConfig { flow, protocol, source });
    }
    let mtu = mtu(c.spec);
    let mut agents = Vec::new();
    for (device, mut parts) in by_device {
        parts.sort_by_key(|part| part.flow);
        if let Err(why) = &host(c, device).clock {
            let at = format!("{}/host/protocol_clock", c.devices[device].origin);
            let message = format!("a protocol clock that does not run: {why}");
            let help = "allowed: a number (1000) or a fraction (\"1/3\") above 0";
            c.once(Diagnostic::error("SC008", at, message).help(help));
        }
        let (host, clock) = (host(c, device), ratio(c, device));
        let idle3 =
            c.neighbours[device][0].is_some_and(|(link, _, _)| c.wires[link].symbol == SymbolSize::Idle3);
        let response_timeout = match host.response_timeout {
            Period::Time(time) => time,
            Period::Auto | Period::Off => Clock(clock).protocol(RESPONSE_TIMEOUT).max(1),
        };
        let config = AgentConfig {
            device: device as u32,
            id: c.ids[device],
            ids: traffic::id_size(c),
            idle3,
            host: host.config,
            clock,
            response_timeout,
            retry_delay: host.retry_delay,
            mtu,
            parts,
        };
        agents.push(config);
    }
    agents
}

/// Flows have streams of their own, above those that session management hands out: two protocols cannot send
/// in one stream, each with a priority of its own.
fn stream_of(flow: u16) -> u16 {
    const FIRST: u16 = 0xE000;
    const MANY: u16 = 0x1000;
    if flow < MANY { FIRST + flow } else { flow }
}

fn protocol(spec: &FlowSpec, flow: u16) -> ProtocolConfig {
    let carrier = match kind(spec) {
        Kind::Message { segment } => Carrier::Message {
            mailbox: spec.messages.as_ref().and_then(|messages| messages.mailbox).unwrap_or(0),
            segment: segment as u16,
        },
        Kind::Stream { .. } => Carrier::Stream {
            cos: spec.streams.as_ref().and_then(|streams| streams.cos).unwrap_or(0),
            stream_id: stream_of(flow),
        },
        Kind::Read => Carrier::Read,
        Kind::Write => Carrier::Write,
    };
    match &spec.rpc {
        None => ProtocolConfig::Workload { carrier },
        Some(rpc) => ProtocolConfig::Rpc {
            carrier,
            answer: rpc.response.unwrap_or(8),
            timeout: filled(&rpc.timeout).get(),
        },
    }
}
