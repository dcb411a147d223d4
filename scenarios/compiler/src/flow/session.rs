//! Flows of session management: every endpoint of `from` and `to` becomes a node.

mod bridge;
mod broadcast;
mod discovery;
pub(super) mod shared;
pub(super) mod timers;
mod vendor;

use super::messages::{self, Carried};
use super::program;
use super::{Beginnings, Cast, Kind, Sized, fits};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::quantities::Quantities;
use crate::resolved::service;
use crate::spec::*;
use crate::topology::shortened;
use crate::units::{self, Ratio};
use models::config::*;
use models::session_management::attribute::HeaderFormat;
use models::session_management::conduit::Algorithm;
use models::session_management::message::{Command, Mode};
use models::session_management::protocol::Protocol;
use models::session_management::register::Contact;
use models::session_management::segment::max_segment;
use models::sim_core::{Duration, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// ProtoID unless the scenario names another: the first of those that anybody may use.
const PROTOCOL: u16 = 0x0200;

/// Octets in front of what an Ethernet frame carries.
pub(super) const FRAME_HEADER: usize = 14;

/// Flows of session management.
pub(super) struct Session;

impl Kind for Session {
    fn keys(&self) -> &'static [&'static str] {
        &["session"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.session.is_some())
    }

    fn needs_arrivals(&self) -> bool {
        false
    }

    fn expand(&self, flow: &mut FlowSpec) {
        expand(flow);
    }

    fn program<'a>(&self, flow: &'a FlowSpec) -> Option<&'a ProgramSpec> {
        flow.session.as_ref()?.program.as_ref()
    }

    fn program_mut<'a>(&self, flow: &'a mut FlowSpec) -> Option<&'a mut ProgramSpec> {
        flow.session.as_mut()?.program.as_mut()
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        if let Some(session) = &flow.session {
            quantities.all(&format!("{at}/session"), times(session));
        }
    }

    fn beginnings(&self, flow: &FlowSpec) -> Option<(&'static str, Beginnings)> {
        flow.session.as_ref().map(|own| ("session", beginnings(own)))
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        check(c, at, flow)
    }

    fn expand_endpoint(&self, endpoint: &mut EndpointSpec, used: bool) {
        if used || endpoint.session.is_some() {
            let mut session = endpoint.session.clone().unwrap_or_default().over(&defaults());
            if let Some(consumer) = session.consumer.as_mut().filter(|own| own.stop_at.is_some()) {
                consumer.go_at.get_or_insert(0);
            }
            endpoint.session = Some(session);
        }
    }

    fn read_endpoint(&self, quantities: &mut Quantities<'_>, at: &str, endpoint: &EndpointSpec) {
        let Some(session) = &endpoint.session else { return };
        let periods = periods(session).into_iter();
        let periods = periods.filter_map(|(key, period)| Some((key.to_owned(), period? as &dyn Written)));
        quantities.all(&format!("{at}/session"), periods.collect());
        if let Some(consumer) = &session.consumer {
            quantities.service(&format!("{at}/session/consumer/service"), Some(&consumer.service));
        }
    }

    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
        super::mix(c, at, flow, &mut |c, pointer, octets| {
            fits(c, pointer, "PDU", octets, check_size(octets, flow))
        })
    }

    fn mean_time(&self, c: &Compiler<'_>, source: usize, _: &FlowSpec, sizes: &[Sized]) -> Ratio {
        // Load is that of messages, whatever carries the data.
        let kind = Carried::Message { segment: messages::SEGMENT.into() };
        messages::mean_time(c, source, sizes, &|packet, octets| messages::chars(kind, octets, packet))
    }

    fn nodes(
        &self,
        c: &mut Compiler<'_>,
        _: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        let nodes = self::cast(c, cast.at, flow, cast.places, cast.ends)?;
        fits_messages(c, cast, flow, &nodes)?;
        above_mtu(c, cast, flow, &nodes);
        Some(nodes)
    }
}

/// When the endpoints of a flow begin.
fn beginnings(own: &SessionSpec) -> Beginnings {
    let spread = filled(&own.spread).get();
    Beginnings { first: filled(&own.at).get(), offset: filled(&own.offset).get(), spread }
}

fn text(s: &str) -> Option<Quantity<Picoseconds>> {
    Some(s.into())
}

/// What a node does unless it is told otherwise. Written out only where flows use it.
pub(crate) fn defaults() -> SessionNodeSpec {
    SessionNodeSpec {
        algorithm: Some(AlgorithmKind::Corrected),
        validation: Some(false),
        management: Some(ManagementKind::Message),
        data: Some(CarrierKind::Message),
        mailbox: Some(0),
        data_mailbox: None,
        stream: Some(0xDFFF),
        cos: Some(0),
        classes: Some(false),
        segment: Some(256),
        retry: text("250 ms"),
        timeout: text("1 s"),
        xon_timeout: text("1 s"),
        record_limit: Some(1 << 16),
        first_stream: Some(0),
        stream_limit: Some(57_344),
        header: Some(HeaderKind::Data),
        data_offset: Some(0),
        data_offset_vendor: None,
        mtu: None,
        reuse_stream: Some(false),
        advertises: Some(true),
        frames_kept: Some(1),
        vendor_attributes: None,
        vendor: None,
        understands: None,
        user_commands: None,
        vendor_streams: None,
        rts: Some(true),
        mute: Some(false),
        contact: Some(ContactKind::Assumed),
        announces: Some(AnnouncesKind::Block),
        writes: Some(RegisterPart::ALL.to_vec()),
        poll: text("1 s"),
        refuses: Some(false),
        consumer: None,
    }
}

/// Fills in the defaults of such a flow.
pub(crate) fn expand(flow: &mut FlowSpec) {
    if program::of(flow).is_none() {
        flow.size.get_or_insert(SizeSpec::Fixed(256));
    }
    let Some(session) = &mut flow.session else { return };
    match &mut session.ethernet {
        Some(ethernet) => {
            ethernet.mtu.get_or_insert(1500);
            ethernet.broadcast_every.get_or_insert(0);
            for bridge in ethernet.bridges.iter_mut().flatten() {
                bridge.hosts.get_or_insert(1);
                bridge.rate.get_or_insert_with(|| "1 Gb/s".into());
                bridge.broadcasts.get_or_insert(true);
            }
        }
        None if session.vendor.is_none() => {
            session.protocol.get_or_insert(PROTOCOL);
        }
        None => {}
    }
    if let Some(vendor) = &mut session.vendor {
        vendor.streams.get_or_insert(false);
    }
    session.streams.get_or_insert(1);
    for restart in session.restarts.iter_mut().flatten() {
        restart.reuse.get_or_insert(false);
    }
    for time in [&mut session.at, &mut session.offset, &mut session.spread] {
        time.get_or_insert_with(|| "0 ps".into());
    }
    session.opens.get_or_insert(OpensKind::Conduit);
    session.request.get_or_insert(false);
    session.request_after_refuse.get_or_insert(false);
    session.scan.get_or_insert(false);
    session.chart.get_or_insert(false);
}

/// Every quantity of a flow with its place.
pub(crate) fn times(session: &SessionSpec) -> Vec<(String, &dyn Written)> {
    let own = [
        ("at", &session.at),
        ("offset", &session.offset),
        ("spread", &session.spread),
        ("close_at", &session.close_at),
        ("census", &session.census),
    ];
    let given =
        own.into_iter().filter_map(|(key, time)| Some((key.to_owned(), time.as_ref()? as &dyn Written)));
    let mut times: Vec<(String, &dyn Written)> = given.collect();
    for (i, restart) in session.restarts.iter().flatten().enumerate() {
        times.push((format!("restarts/{i}/at"), &restart.at));
        times.extend(restart.reset.iter().map(|time| (format!("restarts/{i}/reset"), time as &dyn Written)));
    }
    for (i, fault) in session.faults.iter().flatten().enumerate() {
        if let FateSpec::Delay(time) = &fault.fate {
            times.push((format!("faults/{i}/fate/delay"), time));
        }
    }
    for (i, inject) in session.inject.iter().flatten().enumerate() {
        times.push((format!("inject/{i}/at"), &inject.at));
    }
    for (i, command) in session.user_defined.iter().flatten().enumerate() {
        times.push((format!("user_defined/{i}/at"), &command.at));
    }
    let bridges = session.ethernet.iter().flat_map(|ethernet| ethernet.bridges.iter().flatten());
    for (i, rate) in bridges.enumerate().filter_map(|(i, bridge)| Some((i, bridge.rate.as_ref()?))) {
        times.push((format!("ethernet/bridges/{i}/rate"), rate));
    }
    for (i, step) in session.script.iter().flat_map(|script| &script.steps).enumerate() {
        times.push((format!("script/steps/{i}/at"), &step.at));
    }
    times
}

/// Every time of a node with its key.
pub(crate) fn periods(node: &SessionNodeSpec) -> [(&'static str, Option<&Quantity<Picoseconds>>); 4] {
    [
        ("retry", node.retry.as_ref()),
        ("timeout", node.timeout.as_ref()),
        ("xon_timeout", node.xon_timeout.as_ref()),
        ("poll", node.poll.as_ref()),
    ]
}

/// Whether the settings of the flow go together.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
    let before = c.out.len();
    let Some(session) = &flow.session else { return true };
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    if super::kinds(flow) > 1 {
        let help = "what carries messages and data is a setting of the endpoints: endpoint.session";
        mixed("session", "the flow opens conduits and sends something else", help);
    }
    if session.request == Some(true) && session.request_after_refuse == Some(true) {
        let help = "leave one of the two out";
        mixed("session/request_after_refuse", "attributes are asked for before anything is opened", help);
    }
    match flow.arrivals {
        Some(ArrivalSpec::Trace(_)) => {
            mixed("arrivals", "a trace knows no conduits", "use another arrival process");
        }
        Some(ArrivalSpec::Saturated(_)) => {
            let help = "use \"constant\" or another open loop";
            mixed("arrivals", "a closed loop does not see when a PDU is over", help);
        }
        _ => {}
    }
    if session.ethernet.is_some() && session.protocol.is_some() {
        mixed("session/protocol", "Ethernet has a ProtoID of its own", "leave one of the two out");
    }
    if let Some(id) = session.protocol
        && Protocol::standard(id).is_none_or(|protocol| protocol == Protocol::ETHERNET)
    {
        let message = format!("ProtoID {id} is no protocol without attributes");
        let help = "allowed: 0 to 65534 without 257 (vendors) and 258 (use \"ethernet\")";
        c.out.push(Diagnostic::error("SC008", format!("{at}/session/protocol"), message).help(help));
    }
    if flow.priority.is_some_and(|priority| priority > 1) {
        let message = "the class above it would leave no priority for responses";
        let finding = Diagnostic::error("SC008", format!("{at}/priority"), message);
        c.out.push(finding.help("allowed: 0 and 1"));
    }
    check_census(c, at, session);
    vendor::check(c, at, session);
    let sound = c.out.len() == before;
    if session.script.as_ref().and_then(|script| script.realisable) == Some(false) {
        let message = "no delays of messages give this order with timers at their periods: the script fires \
                       them";
        c.out.push(Diagnostic::warning("SC077", format!("{at}/session/script/realisable"), message));
    }
    sound
}

/// Instants of a census at most: each is a line of a series, and every node keeps what it has then.
const CENSUSES: u64 = 10_000;

fn check_census(c: &mut Compiler<'_>, at: &str, session: &SessionSpec) {
    let Some(every) = session.census.as_ref().map(Quantity::get) else { return };
    let until = c.run.until.0;
    if every == 0 || until / every > CENSUSES {
        let message = format!("a census every {} of {}", units::time_text(every), units::time_text(until));
        let help = format!("allowed: 1 to {CENSUSES} times in a run");
        c.out.push(Diagnostic::error("SC090", format!("{at}/session/census"), message).help(help));
    }
}

/// Sizes of PDUs with their weights.
pub(crate) fn check_size(octets: u32, flow: &FlowSpec) -> (bool, String) {
    let mtu = flow.session.as_ref().and_then(|session| session.ethernet.as_ref()?.mtu);
    let most = mtu.map_or(65_535, u32::from);
    (octets > 0 && octets <= most, format!("1 to {most}"))
}

/// What is sent: the place that says so, what it is, and its octets.
fn pdu_sizes(cast: &Cast<'_>, flow: &FlowSpec) -> Vec<(String, &'static str, u64)> {
    let mut sizes = Vec::new();
    match (cast.program, &flow.size) {
        (Some(program), _) => {
            let octets = program.longest_message().min(PROGRAM_PDU_OCTETS) + PROGRAM_PDU_HEADER;
            sizes.push((format!("{}/session/program", cast.at), "PDU of a program", octets));
        }
        (None, Some(SizeSpec::Fixed(octets))) => {
            sizes.push((format!("{}/size", cast.at), "PDU", (*octets).into()))
        }
        (None, Some(SizeSpec::Mix(parts))) => {
            let sent = parts.iter().enumerate().filter(|(_, part)| part.weight > 0);
            let place = |i: usize| format!("{}/size/{i}/payload", cast.at);
            sizes.extend(sent.map(|(i, part)| (place(i), "PDU", part.payload.into())));
        }
        (None, None) => {}
    }
    sizes
}

/// A node sends no frame above the MTU that was agreed (7.2.1), and loses what is longer. Where that is bound
/// to happen it is said: the MTUs of two nodes say what they agree on, if they do at all. Frames that cross a
/// bridge, or go to everybody, are on streams of others.
fn above_mtu(
    c: &mut Compiler<'_>,
    cast: &Cast<'_>,
    flow: &FlowSpec,
    nodes: &BTreeMap<usize, ProtocolConfig>,
) {
    let Some(ethernet) = flow.session.as_ref().and_then(|session| session.ethernet.as_ref()) else { return };
    if ethernet.broadcast_every == Some(1) {
        return;
    }
    let sessions = nodes.iter().filter_map(|(&device, node)| match node {
        ProtocolConfig::Session(node) if node.bridges.is_empty() => Some((device, node)),
        _ => None,
    });
    let sessions: BTreeMap<usize, &SessionConfig> =
        sessions.map(|(device, node)| (device, &**node)).collect();
    let sizes = pdu_sizes(cast, flow);
    for (from, destinations) in cast.places {
        for (&to, receiver) in sessions.iter().filter(|(to, _)| *to != from) {
            let Some(sender) = sessions.get(from) else { continue };
            let goes = match destinations {
                Destinations::Fixed(id) => *id == c.ids[to],
                Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => ids.contains(&c.ids[to]),
                _ => false,
            };
            let agreed = sender.mtu.1.min(receiver.mtu.1);
            if !goes || agreed < sender.mtu.0.max(receiver.mtu.0) {
                continue;
            }
            for (pointer, what, octets) in sizes.iter().filter(|(.., octets)| *octets > agreed.into()) {
                let name = |device: usize| &c.graph.nodes[device].name;
                let message = format!(
                    "\"{}\" and \"{}\" agree on an MTU of {agreed} octets: each {what} of {octets} octets is \
                     lost at its source",
                    name(*from),
                    name(to)
                );
                let less = if sender.mtu.1 <= receiver.mtu.1 { *from } else { to };
                let mtu = format!("{}/session/mtu", c.devices[less].origin);
                let finding = Diagnostic::warning("SC115", pointer, message);
                let finding = finding.help(format!("up to {agreed} octets, or a larger MTU"));
                c.once(finding.also(mtu, "the MTU"));
            }
        }
    }
}

/// A message has to have room for payload behind the octets of an Offset (§4.3.1), and a PDU behind a
/// header of DATA2 is never segmented (§4.3.3): the message that takes it has to fit into the mailbox of
/// its receiver. Who accepts a stream says what header and which mailbox.
fn fits_messages(
    c: &mut Compiler<'_>,
    cast: &Cast<'_>,
    flow: &FlowSpec,
    nodes: &BTreeMap<usize, ProtocolConfig>,
) -> Option<()> {
    let session = flow.session.as_ref()?;
    if matches!(filled(&session.opens), OpensKind::VendorStream(_)) {
        // These go behind a header of DATA.
        return Some(());
    }
    let nodes = || {
        nodes.iter().filter_map(|(&device, node)| match node {
            ProtocolConfig::Session(node) => Some((device, node)),
            _ => None,
        })
    };
    let around = if session.ethernet.is_some() { FRAME_HEADER } else { 0 };
    let sizes = pdu_sizes(cast, flow);
    let before = c.out.len();
    for (device, node) in nodes() {
        let SessionData::Message(mailbox) = node.data else { continue };
        // Who opens a stream says how many octets stand before the payload.
        let opens = |other: &SessionConfig| {
            cast.program.is_some() || other.creates.iter().any(|own| own.peers.contains(&node.node.into()))
        };
        let others = nodes().filter(|(other, own)| *other != device && opens(own));
        let Some((opener, offset)) =
            others.map(|(other, own)| (other, own.data_offset)).max_by_key(|(_, offset)| *offset)
        else {
            continue;
        };
        let message = Contact::Mailbox(mailbox).max_message();
        let room = max_segment(node.header, offset, message);
        if room == 0 {
            let name = &c.graph.nodes[device].name;
            let text = format!(
                "{offset} octets before the payload leave no room for it in a message of {message} octets, \
                 the longest that mailbox {mailbox} of \"{name}\" takes"
            );
            let at = format!("{}/session/data_offset", c.devices[opener].origin);
            let help = "fewer octets, or a mailbox from 0 to 3";
            let mailbox = format!("{}/session/mailbox", c.devices[device].origin);
            c.once(Diagnostic::error("SC041", at, text).help(help).also(mailbox, "the mailbox"));
            continue;
        }
        if !matches!(node.header, HeaderFormat::Data2(_)) {
            continue;
        }
        let most = room.saturating_sub(around) as u64;
        for (pointer, what, octets) in sizes.iter().filter(|(.., octets)| *octets > most) {
            let name = &c.graph.nodes[device].name;
            let message = format!(
                "a {what} of {octets} octets does not fit into one message to \"{name}\", and DATA2 has no \
                 parts"
            );
            let help = format!("allowed: up to {most} octets; or another header");
            let header = format!("{}/session/header", c.devices[device].origin);
            let finding = Diagnostic::error("SC041", pointer, message).help(help).also(header, "the header");
            c.once(finding);
        }
    }
    (c.out.len() == before).then_some(())
}

/// A node opens nothing to itself: PDUs to it would wait for ever.
fn not_to_itself(c: &mut Compiler<'_>, at: &str, places: &[(usize, Destinations)]) {
    for (device, destinations) in places {
        let spared = matches!(destinations, Destinations::Uniform { except: Some(_), .. });
        if !spared && destinations.listed().unwrap_or_default().contains(&c.ids[*device]) {
            let message = format!("\"{}\" would send PDUs to itself", c.graph.nodes[*device].name);
            let finding = Diagnostic::error("SC047", format!("{at}/to"), message);
            c.once(finding.help("leave it out of \"from\" or of \"to\""));
        }
    }
}

/// Nodes of session management, by device.
fn cast(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    places: &[(usize, Destinations)],
    ends: &BTreeSet<usize>,
) -> Option<BTreeMap<usize, ProtocolConfig>> {
    let all = |destinations: &Destinations| match destinations {
        Destinations::Fixed(id) => Arc::new(vec![*id]),
        Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => Arc::clone(ids),
        _ => Arc::default(),
    };
    let everybody = flow.session.as_ref().and_then(|session| session.ethernet.as_ref());
    if everybody.is_none_or(|ethernet| ethernet.broadcast_every != Some(1)) {
        not_to_itself(c, at, places);
    }
    let openers = places.iter().zip(0..).map(|((device, destinations), position)| {
        let own = c.ids[*device];
        let mut peers = all(destinations);
        if peers.contains(&own) {
            Arc::make_mut(&mut peers).retain(|&peer| peer != own);
        }
        Member { device: *device, peers: Some(peers), position }
    });
    let others = ends.iter().map(|&device| Member { device, peers: None, position: 0 });
    let members = openers.chain(others).collect();
    let nodes = nodes(c, at, flow, members)?;
    let node = |(device, node)| (device, ProtocolConfig::Session(Box::new(node)));
    Some(nodes.into_iter().map(node).collect())
}

/// An endpoint that takes part, with the ids that it opens conduits to.
pub(crate) struct Member {
    pub device: usize,
    pub peers: Option<Arc<Vec<u32>>>,
    /// Position among those that open conduits.
    pub position: u64,
}

/// The nodes of a flow. Nothing if something is wrong.
pub(crate) fn nodes(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    members: Vec<Member>,
) -> Option<Vec<(usize, SessionConfig)>> {
    let session = flow.session.as_ref()?;
    let before = c.out.len();
    let by_name: BTreeMap<String, usize> =
        members.iter().map(|member| (c.graph.nodes[member.device].name.clone(), member.device)).collect();
    let mut directory = BTreeMap::new();
    let mut settings = BTreeMap::new();
    for member in &members {
        let found = settings_of(c, member.device, session)?;
        let opens = !matches!(filled(&session.opens), OpensKind::VendorStream(_));
        if *filled(&found.node.refuses) && member.peers.is_some() && opens {
            let name = c.graph.nodes[member.device].name.clone();
            let message = format!("\"{name}\" opens what it refuses itself");
            let place = format!("{}/session/refuses", c.devices[member.device].origin);
            c.out.push(Diagnostic::error("SC048", place, message).help("leave it out of from"));
        }
        directory.insert(c.ids[member.device] as u16, found.announcement);
        settings.insert(member.device, found);
    }
    let used = Used::in_scenario(c);
    let settled = settings.iter().map(|(&device, found)| (device, vain(&found.node, used)));
    super::idle::of_nodes(c, "session", settled);
    let directory = Arc::new(directory);
    let at = format!("{at}/session");
    let faults = faults(c, &at, session, &by_name);
    let scripts = scripts(c, &at, session, &by_name);
    let restarts = restarts(c, &at, session, &by_name);
    let injections = injections(c, &at, session, &by_name);
    let tags = settings.values().any(|found| *filled(&found.node.announces) == AnnouncesKind::ComponentTag);
    let beside = settings.values().any(|found| *filled(&found.node.announces) == AnnouncesKind::BlockAndTag);
    let scans = discovery::scans(c, &at, session, &settings);
    let group = broadcast::group(c, &at, session, &by_name, &directory);
    let bridged = bridge::bridged(c, &at, session, &by_name, &members);
    let commands = vendor::commands(c, &at, session, &by_name);
    let vendor = session.vendor.as_ref().and_then(|vendor| vendor::identity(vendor).ok());
    if c.out.len() > before {
        return None;
    }
    let protocol = match (&session.ethernet, vendor) {
        (Some(ethernet), _) => {
            let broadcast_every = *filled(&ethernet.broadcast_every);
            SessionProtocol::Ethernet { broadcast_every, multicast: group }
        }
        (None, Some((vendor, name))) => {
            let streams = session.vendor.as_ref().and_then(|vendor| vendor.streams) == Some(true);
            SessionProtocol::Vendor { vendor, name, streams }
        }
        (None, None) => SessionProtocol::Plain(*filled(&session.protocol)),
    };
    let beginnings = beginnings(session);
    let nodes = members.into_iter().map(|Member { device, peers, position }| {
        let Found { node, poll, vendor, .. } = &settings[&device];
        let name = &c.graph.nodes[device].name;
        let creates = peers.map(|peers| Creates {
            at: Time(beginnings.of(position)),
            spread: Duration(beginnings.spread),
            peers,
            stream: format!("{name}/{}/create", flow.name),
        });
        let unopened = matches!(filled(&session.opens), OpensKind::VendorStream(_));
        let doubled = |faults: &Vec<MessageFault>| faults.iter().any(|fault| fault.fate == Fate::Duplicate);
        let repeated = |steps: &Vec<(Time, ScriptStep)>| {
            steps.iter().any(|(_, step)| matches!(step, ScriptStep::Duplicate { .. }))
        };
        let doubles = faults.values().any(doubled) || scripts.values().any(repeated);
        let closes = creates.is_some() && session.close_at.is_some();
        let config = SessionConfig {
            node: c.ids[device] as u16,
            algorithm: match filled(&node.algorithm) {
                AlgorithmKind::Literal => Algorithm::Literal,
                AlgorithmKind::Minimal => Algorithm::Minimal,
                AlgorithmKind::Corrected => Algorithm::Corrected,
            },
            mode: if *filled(&node.validation) { Mode::Validation } else { Mode::NonValidation },
            data: match filled(&node.data) {
                CarrierKind::Stream => SessionData::Stream,
                CarrierKind::Message => {
                    SessionData::Message(node.data_mailbox.unwrap_or(*filled(&node.mailbox)))
                }
            },
            protocol,
            server: bridged.server,
            bridges: Arc::clone(&bridged.bridges),
            cos: *filled(&node.cos),
            classes: *filled(&node.classes),
            segment: *filled(&node.segment),
            priority: *filled(&flow.priority),
            record_limit: *filled(&node.record_limit),
            first_number: 0,
            first_stream: *filled(&node.first_stream),
            stream_limit: *filled(&node.stream_limit),
            header: match filled(&node.header) {
                HeaderKind::Data => HeaderFormat::Data,
                HeaderKind::Data1 => HeaderFormat::Data1,
                HeaderKind::Data2 => HeaderFormat::Data2(0),
            },
            data_offset: *filled(&node.data_offset),
            offset_vendor: vendor.offset_vendor,
            mtu: vendor::mtus(node, session),
            reuses: *filled(&node.reuse_stream),
            advertises: *filled(&node.advertises),
            frames_kept: *filled(&node.frames_kept),
            attributes: vendor.attributes.clone(),
            vendor: vendor.vendor,
            understands: vendor.understands.clone(),
            user_commands: node.user_commands.clone().unwrap_or_default(),
            commands: commands.get(&device).cloned().unwrap_or_default(),
            vendor_streams: node.vendor_streams.clone().unwrap_or_default(),
            // Filled in when all flows are known.
            lives: Arc::default(),
            rts: *filled(&node.rts),
            mute: *filled(&node.mute),
            directory: Arc::clone(&directory),
            contacts: match filled(&node.contact) {
                ContactKind::Registers => ContactSource::Registers,
                ContactKind::Assumed => ContactSource::Assumed,
            },
            poll: *poll,
            announces: c.host.is_some(),
            own: OwnRegisters {
                contact: filled(&node.writes).contains(&RegisterPart::Contact),
                periods: filled(&node.writes).contains(&RegisterPart::Periods),
                // Filled in when all flows are known.
                next: 0,
            },
            blocks: match (filled(&node.announces), filled(&node.management)) {
                (AnnouncesKind::ComponentTag, _) => 0,
                (AnnouncesKind::Block, ManagementKind::Both) => 2,
                _ => 1,
            },
            tagged: *filled(&node.announces) != AnnouncesKind::Block,
            reads_tags: tags,
            reads_beside: beside,
            scans: scans.iter().copied().filter(|&id| id != c.ids[device] as u16).collect(),
            asks_first: *filled(&session.request),
            asks_after: *filled(&session.request_after_refuse),
            refuses: *filled(&node.refuses),
            wanted: match filled(&session.opens) {
                OpensKind::Stream => Wanted::Streams(*filled(&session.streams)),
                OpensKind::VendorStream(stream) => Wanted::Nothing(*stream),
                OpensKind::Conduit => Wanted::Conduits,
            },
            injections: injections.get(&device).cloned().unwrap_or_default(),
            // A script says itself who opens what when.
            creates: creates.filter(|_| session.script.is_none() && !unopened),
            close_at: session.close_at.as_ref().filter(|_| closes).map(|time| Time(time.get())),
            restarts: restarts.get(&device).cloned().unwrap_or_default(),
            consumer: node.consumer.as_ref().map(|consumer| Consumer {
                service: service(&consumer.service),
                stop_at: consumer.stop_at.unwrap_or(u32::MAX),
                go_at: consumer.go_at.unwrap_or(0),
            }),
            faults: faults.get(&device).cloned().unwrap_or_default(),
            doubles,
            script: session.script.is_some().then(|| scripts.get(&device).cloned().unwrap_or_default()),
            program: None,
            charted: *filled(&session.chart),
            census: session.census.as_ref().map(|every| Duration(every.get())),
        };
        (device, config)
    });
    Some(nodes.collect())
}

/// What the flows of sessions of a scenario do at all: of the nodes of one others may open something. Octets
/// that are injected may be any message.
#[derive(Copy, Clone, Debug)]
struct Used {
    /// Streams are opened.
    opens: bool,
    /// Some of them as conduits.
    pairs: bool,
    /// Attributes are asked for.
    asks: bool,
    /// An application stops streams.
    stops: bool,
    /// OPENs have vendors' attributes.
    vendors: bool,
}

impl Used {
    fn in_scenario(c: &Compiler<'_>) -> Self {
        let any = |does: &dyn Fn(&SessionSpec) -> bool| {
            let mut sessions = c.spec.traffic.iter().filter_map(|flow| flow.session.as_ref());
            sessions.any(|own| own.inject.is_some() || does(own))
        };
        let nodes = || c.devices.iter().filter_map(|device| device.endpoint()?.session.as_ref());
        let stops = |node: &SessionNodeSpec| node.consumer.as_ref().is_some_and(|own| own.stop_at.is_some());
        let injected = any(&|_| false);
        let opens = any(&|own| !matches!(filled(&own.opens), OpensKind::VendorStream(_)));
        Used {
            opens,
            pairs: any(&|own| matches!(filled(&own.opens), OpensKind::Conduit)),
            asks: any(&|own| *filled(&own.request) || *filled(&own.request_after_refuse)),
            stops: injected || opens && nodes().any(stops),
            vendors: injected || opens && nodes().any(has_attributes),
        }
    }
}

/// Whether a node has vendors' attributes in its OPENs.
fn has_attributes(node: &SessionNodeSpec) -> bool {
    node.vendor_attributes.iter().flatten().next().is_some()
}

/// Settings of a node that may be in vain: the key, whether it is given, whether it is in vain, why, and what
/// to do. What has its default is not given.
fn vain(node: &SessionNodeSpec, used: Used) -> [super::idle::Vain; 23] {
    let Used { opens, pairs, asks, stops, vendors } = used;
    let (plain, managed) = (defaults(), *filled(&node.management));
    let streamed = *filled(&node.data) == CarrierKind::Stream;
    let time = |period: &Option<Quantity<Picoseconds>>| period.as_ref().map(Quantity::get);
    let consumer = |own: &dyn Fn(&ConsumerSpec) -> bool| node.consumer.as_ref().is_some_and(own);
    let elsewhere = match streamed {
        true => ("data goes there by type 9", "leave it out, or use data: \"message\""),
        false => ("data without OPEN goes where management goes", "leave it out, or open streams"),
    };
    let nothing = ("nobody opens a stream", "leave it out, or open streams");
    let why = |some: (&'static str, &'static str)| if opens { some } else { nothing };
    let row = |key, given, vain, (why, help)| (key, given, vain, why, help);
    let of_streams = |key, given| row(key, given, !opens, nothing);
    let stop = why(("no application stops a stream", "leave it out, or give a consumer \"stop_at\""));
    let of_stops = |key, given| row(key, given, !stops, stop);
    let repeats = |key, given| {
        row(key, given, !(opens | asks), ("no OPEN and no REQUEST is sent", "leave it out, or open streams"))
    };
    let conduits = why(("nobody opens a conduit", "leave it out, or use opens: \"conduit\""));
    let foreign =
        why(("no OPEN has a vendor's attribute", "leave it out, or give nodes \"vendor_attributes\""));
    [
        row("algorithm", node.algorithm != plain.algorithm, !pairs, conduits),
        of_streams("header", node.header != plain.header),
        of_streams("data_offset", node.data_offset != plain.data_offset),
        of_streams("data_offset_vendor", node.data_offset_vendor.is_some()),
        of_streams("first_stream", node.first_stream != plain.first_stream),
        of_streams("stream_limit", node.stream_limit != plain.stream_limit),
        of_streams("record_limit", node.record_limit != plain.record_limit),
        of_streams("vendor_attributes", has_attributes(node)),
        of_streams("vendor", node.vendor.is_some()),
        row("understands", node.understands.iter().flatten().next().is_some(), !vendors, foreign),
        of_streams("refuses", node.refuses != plain.refuses),
        repeats("retry", time(&node.retry) != time(&plain.retry)),
        repeats("timeout", time(&node.timeout) != time(&plain.timeout)),
        of_stops("xon_timeout", time(&node.xon_timeout) != time(&plain.xon_timeout)),
        of_stops("rts", node.rts != plain.rts),
        of_stops("frames_kept", node.frames_kept != plain.frames_kept),
        of_streams("consumer/stop_at", consumer(&|own| own.stop_at.is_some())),
        (
            "advertises",
            node.advertises != plain.advertises,
            !asks,
            "nobody asks for attributes",
            "leave it out, or use session.request or request_after_refuse",
        ),
        (
            "mailbox",
            node.mailbox != plain.mailbox,
            managed == ManagementKind::Stream && (streamed || node.data_mailbox.is_some() || !opens),
            "nothing goes there by type 11 that would take it",
            "leave it out, or use management: \"message\"",
        ),
        ("data_mailbox", node.data_mailbox.is_some(), streamed || !opens, elsewhere.0, elsewhere.1),
        (
            "stream",
            node.stream != plain.stream,
            managed == ManagementKind::Message,
            "no management message goes there by type 9",
            "leave it out, or use management: \"stream\" or \"both\"",
        ),
        (
            "poll",
            time(&node.poll) != time(&plain.poll),
            node.contact != Some(ContactKind::Registers),
            "the node reads no registers",
            "leave it out, or use contact: \"registers\"",
        ),
        (
            "consumer/go_at",
            consumer(&|own| own.go_at.is_some()),
            consumer(&|own| own.stop_at.is_none()),
            "the streams never stop",
            "give \"stop_at\" as well, or leave it out",
        ),
    ]
}

/// The settings of a node, and what others know of it.
struct Found {
    node: SessionNodeSpec,
    announcement: Announcement,
    /// Microseconds.
    poll: u32,
    vendor: vendor::Known,
}

fn settings_of(c: &mut Compiler<'_>, device: usize, session: &SessionSpec) -> Option<Found> {
    let node = filled(&c.devices[device].endpoint()?.session).clone();
    let at = format!("{}/session", c.devices[device].origin);
    let name = c.graph.nodes[device].name.clone();
    let before = c.out.len();
    let (mailbox, stream, cos) = (*filled(&node.mailbox), *filled(&node.stream), *filled(&node.cos));
    let streamed = Contact::Stream { stream, cos };
    let (contact, second) = match filled(&node.management) {
        ManagementKind::Stream => (streamed, None),
        ManagementKind::Message => (Contact::Mailbox(mailbox), None),
        ManagementKind::Both => (Contact::Mailbox(mailbox), Some(streamed)),
    };
    if ![contact].into_iter().chain(second).all(Contact::is_valid) {
        let message = format!("\"{name}\" cannot take management messages on stream {stream}");
        let finding = Diagnostic::error("SC008", format!("{at}/stream"), message);
        c.once(finding.help("allowed: 0 to 65534 without 61440 (Ethernet broadcast)"));
    }
    if node.contact == Some(ContactKind::Registers) && c.host.is_none() {
        let message = "nobody gives devices their registers";
        let finding = Diagnostic::error("SC048", format!("{at}/contact"), message);
        c.once(finding.help("set up the fabric by a host (configure.fabric), or use \"assumed\""));
    }
    let mut periods = [0; 4];
    for ((key, text), period) in self::periods(&node).into_iter().zip(&mut periods) {
        let time = text.expect("a node has all its periods").get();
        let micros = time / 1_000_000;
        if !time.is_multiple_of(1_000_000) || micros == 0 || micros > u64::from(u32::MAX) {
            let message = format!("a period of {} cannot be announced", units::time_text(time));
            let finding = Diagnostic::error("SC008", format!("{at}/{key}"), message);
            c.once(finding.help("allowed: whole microseconds, 1 us to 4294 s"));
        }
        *period = micros as u32;
    }
    let typed_data = *filled(&node.data) == CarrierKind::Stream;
    if let Some(consumer) = &node.consumer
        && let (Some(stop), go) = (consumer.stop_at, consumer.go_at.unwrap_or(0))
        && go >= stop
    {
        let message = format!("the streams would go on at {go} PDUs, but stop at {stop}");
        let finding = Diagnostic::error("SC032", format!("{at}/consumer"), message);
        c.once(finding.help("go_at < stop_at"));
    }
    let vendor = vendor::settings(c, &at, &name, &node, session);
    discovery::check_announcement(c, &at, &node, (contact, second));
    discovery::check_writes(c, &at, &node);
    let [retry, timeout, xon, poll] = periods;
    let announcement = Announcement { contact, second, periods: [retry, timeout, xon], typed_data };
    (c.out.len() == before).then_some(Found { node, announcement, poll, vendor })
}

/// The device of a name among the nodes.
pub(crate) fn member(
    c: &mut Compiler<'_>,
    at: String,
    name: &str,
    by_name: &BTreeMap<String, usize>,
) -> Option<usize> {
    if let Some(&device) = by_name.get(name) {
        return Some(device);
    }
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    let finding = Diagnostic::error("SC011", at, format!("\"{name}\" takes no part in this flow"))
        .help(format!("nodes: {}", shortened(names.iter().copied())))
        .did_you_mean_name(name, names.iter().copied());
    c.out.push(finding);
    None
}

fn faults(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<MessageFault>> {
    let mut faults: BTreeMap<usize, Vec<MessageFault>> = BTreeMap::new();
    for (i, fault) in session.faults.iter().flatten().enumerate() {
        let at = format!("{at}/faults/{i}");
        let from = member(c, format!("{at}/from"), &fault.from, by_name);
        let to = member(c, format!("{at}/to"), &fault.to, by_name);
        let (Some(from), Some(to)) = (from, to) else { continue };
        let same = |other: &MessageFaultSpec| {
            (&other.from, &other.to, other.message, other.nth)
                == (&fault.from, &fault.to, fault.message, fault.nth)
        };
        if session.faults.iter().flatten().take(i).any(same) {
            let message = "this fault has no effect here: an earlier one is about the same message";
            let help = "leave one of them out, or give another \"nth\"";
            c.once(Diagnostic::error("SC051", at.clone(), message).help(help));
        }
        faults.entry(from).or_default().push(MessageFault {
            to: c.ids[to] as u16,
            command: match fault.message {
                CommandKind::Open => Command::Open,
                CommandKind::Accept => Command::Accept,
                CommandKind::Refuse => Command::Refuse,
                CommandKind::Data => Command::Data,
                CommandKind::FlowControl => Command::FlowControl,
                CommandKind::Close => Command::Close,
                CommandKind::Status => Command::Status,
            },
            nth: fault.nth,
            fate: match &fault.fate {
                FateSpec::Lose => Fate::Lose,
                FateSpec::Duplicate => Fate::Duplicate,
                FateSpec::Delay(time) => Fate::Delay(Duration(time.get())),
            },
        });
    }
    faults
}

/// The octets of a text of hexadecimal digits.
pub(crate) fn octets(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let pairs = digits.chunks(2).map(|pair| match pair {
        [high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
        }
        _ => None,
    });
    pairs.collect::<Option<Vec<u8>>>().filter(|octets| !octets.is_empty())
}

fn injections(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<(Time, u16, Vec<u8>)>> {
    let mut injections: BTreeMap<usize, Vec<(Time, u16, Vec<u8>)>> = BTreeMap::new();
    for (i, inject) in session.inject.iter().flatten().enumerate() {
        let at = format!("{at}/inject/{i}");
        let from = member(c, format!("{at}/from"), &inject.from, by_name);
        let to = member(c, format!("{at}/to"), &inject.to, by_name);
        let octets = octets(&inject.octets).filter(|octets| octets.len() <= 256);
        if octets.is_none() {
            let finding =
                Diagnostic::error("SC008", format!("{at}/octets"), "these are no octets of a message");
            c.out.push(finding.help("allowed: 1 to 256 octets, two hexadecimal digits each"));
        }
        let (Some(from), Some(to), Some(octets)) = (from, to, octets) else { continue };
        let time = Time(inject.at.get());
        injections.entry(from).or_default().push((time, c.ids[to] as u16, octets));
    }
    injections
}

fn scripts(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<(Time, ScriptStep)>> {
    let mut scripts: BTreeMap<usize, Vec<(Time, ScriptStep)>> = BTreeMap::new();
    for (i, step) in session.script.iter().flat_map(|script| &script.steps).enumerate() {
        let at = format!("{at}/script/steps/{i}");
        let node = member(c, format!("{at}/node"), &step.node, by_name);
        let peer = member(c, format!("{at}/peer"), &step.peer, by_name);
        let (Some(node), Some(peer)) = (node, peer) else { continue };
        let peer = c.ids[peer] as u16;
        let message = String::clone;
        let action = match &step.action {
            StepAction::Create => ScriptStep::Create { peer },
            StepAction::Deliver(words) => ScriptStep::Deliver { peer, message: message(words) },
            StepAction::Lose(words) => ScriptStep::Lose { peer, message: message(words) },
            StepAction::Duplicate(words) => ScriptStep::Duplicate { peer, message: message(words) },
            StepAction::Repeat(words) => ScriptStep::Repeat { peer, message: message(words) },
            StepAction::GiveUp(number) => ScriptStep::GiveUp { peer, number: *number },
            StepAction::Watch => ScriptStep::Watch { peer },
            StepAction::Query(stream) => ScriptStep::Query { peer, stream: *stream },
            StepAction::Restart => ScriptStep::Restart,
        };
        scripts.entry(node).or_default().push((Time(step.at.get()), action));
    }
    scripts
}

fn restarts(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<Restart>> {
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    let mut restarts: BTreeMap<usize, Vec<Restart>> = BTreeMap::new();
    for (i, restart) in session.restarts.iter().flatten().enumerate() {
        let at = format!("{at}/restarts/{i}/node");
        match crate::names::select(restart.node.patterns(), &names) {
            Ok(hits) => {
                let devices: BTreeSet<usize> = hits.into_iter().map(|hit| by_name[names[hit]]).collect();
                for device in devices {
                    let (at, reuses) = (Time(restart.at.get()), *filled(&restart.reuse));
                    let reset = restart.reset.as_ref().map(|time| Duration(time.get()));
                    restarts.entry(device).or_default().push(Restart { at, reuses, reset });
                }
            }
            Err(pattern) => {
                member(c, restart.node.place(&at, &pattern), &pattern, by_name);
            }
        }
    }
    restarts
}
