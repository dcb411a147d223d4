//! What vendors add to sessions, and what else an OPEN may ask for: identities, attributes, commands, streams
//! without OPEN, MTUs.

use super::{filled, member, octets};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::spec::*;
use models::config::UserCommand;
use models::session_management::attribute::{Attribute, Id, is_vendor_value};
use models::session_management::protocol::StreamClass;
use models::sim_core::Time;
use std::collections::BTreeMap;

/// StreamIDs of the vendors' range.
const STREAMS: &str = "allowed: 57344 to 61439";
/// Octets of user data of a command: with its header they fit one packet.
const USER_DATA: usize = 240;

/// What a node knows of vendors' attributes.
pub(super) struct Known {
    pub attributes: Vec<Attribute>,
    /// Whose they are, where the protocol does not say it.
    pub vendor: Option<[u8; 7]>,
    /// Whose the Offset octets are, if anybody's.
    pub offset_vendor: Option<[u8; 7]>,
    pub understands: Vec<Id>,
}

/// Values of VENDOR and PROTOCOL_NAME.
pub(super) type Identity = ([u8; 7], [u8; 7]);
/// The key of what cannot be read, and what is allowed.
pub(super) type Wrong = (&'static str, &'static str);

/// What VENDOR may be.
const VENDOR: &str = "allowed: seven characters, or three octets such as \"00:1b:21\"";

/// The value of VENDOR.
fn value(vendor: &str) -> Option<[u8; 7]> {
    let oui: Option<Vec<u8>> = vendor
        .split(':')
        .map(|part| octets(part).filter(|part| part.len() == 1))
        .collect::<Option<Vec<_>>>()
        .map(|parts| parts.concat());
    let value = match oui {
        Some(oui) if oui.len() == 3 => Some([oui[0], oui[1], oui[2], 0, 0, 0, 0]),
        _ => vendor.as_bytes().try_into().ok(),
    };
    value.filter(|value| is_vendor_value(*value))
}

/// The identity of a protocol. The error: the key of what cannot be read, and what is allowed.
pub(super) fn identity(vendor: &VendorSpec) -> Result<Identity, Wrong> {
    let value = value(&vendor.vendor).ok_or(("vendor", VENDOR))?;
    let mut name = [0; 7];
    let given = vendor.name.as_bytes();
    if given.is_empty() || given.len() > name.len() {
        return Err(("name", "allowed: one to seven characters"));
    }
    name[..given.len()].copy_from_slice(given);
    Ok((value, name))
}

/// Whether what the flow says of vendors, streams and commands goes together.
pub(super) fn check(c: &mut Compiler<'_>, at: &str, session: &SessionSpec) {
    let mut no = |key: &str, message: String, help: &str| {
        c.out.push(Diagnostic::error("SC091", format!("{at}/session/{key}"), message).help(help));
    };
    if let Some(vendor) = &session.vendor {
        let other =
            if session.ethernet.is_some() { Some("ethernet") } else { session.protocol.map(|_| "protocol") };
        if let Some(other) = other {
            no(other, "a vendor's protocol has a ProtoID of its own".into(), "leave one of the two out");
        }
        if let Err((key, help)) = identity(vendor) {
            no(&format!("vendor/{key}"), format!("no {key} of a vendor's protocol"), help);
        }
    }
    match session.opens {
        Some(OpensKind::VendorStream(stream)) => {
            if StreamClass::of(stream) != StreamClass::Vendor {
                let message = format!("StreamID {stream} is not of the vendors' range");
                no("opens/vendor_stream", message, STREAMS);
            }
            let later =
                |time: &Option<Quantity<Picoseconds>>| time.as_ref().is_some_and(|time| time.get() > 0);
            let idle = [
                ("at", later(&session.at)),
                ("offset", later(&session.offset)),
                ("spread", later(&session.spread)),
                ("streams", session.streams.is_some_and(|streams| streams > 1)),
                ("ethernet", session.ethernet.is_some()),
                ("vendor", session.vendor.is_some()),
                ("program", session.program.is_some()),
                ("close_at", session.close_at.is_some()),
                ("request", session.request == Some(true)),
                ("request_after_refuse", session.request_after_refuse == Some(true)),
            ];
            for (key, _) in idle.into_iter().filter(|(_, given)| *given) {
                no(key, "nothing is opened".into(), "leave it out, or open streams");
            }
        }
        Some(OpensKind::Stream) => {}
        _ => {
            if session.streams.is_some_and(|streams| streams > 1) {
                no("streams", "a conduit has one stream each way".into(), "use opens: \"stream\"");
            }
        }
    }
}

/// The smallest and the largest MTU of a node.
pub(super) fn mtus(node: &SessionNodeSpec, session: &SessionSpec) -> (u16, u16) {
    match (node.mtu, &session.ethernet) {
        (Some(MtuSpec::One(mtu)), _) => (mtu, mtu),
        (Some(MtuSpec::Range(range)), _) => (range.from, range.to),
        (None, Some(ethernet)) => (*filled(&ethernet.mtu), *filled(&ethernet.mtu)),
        (None, None) => (u16::MAX, u16::MAX),
    }
}

/// The identifier that hexadecimal digits name, if it is of a vendors' range.
fn identifier(text: &str) -> Option<Id> {
    let given = octets(text)?;
    let mut attribute = [0; 8];
    attribute.get_mut(..given.len())?.copy_from_slice(&given);
    let id = Attribute(attribute).id();
    let width = match id {
        Id::Byte(_) => 1,
        Id::Half(_) => 2,
        Id::Word(_) => 4,
    };
    (width == given.len() && id.is_vendor()).then_some(id)
}

/// Whether the settings of a node go with the flow, and what they say of vendors' attributes.
pub(super) fn settings(
    c: &mut Compiler<'_>,
    at: &str,
    name: &str,
    node: &SessionNodeSpec,
    session: &SessionSpec,
) -> Known {
    // A node may speak Ethernet, or open streams, in another flow.
    let sessions = || c.spec.traffic.iter().filter_map(|flow| flow.session.as_ref());
    let any_ethernet = sessions().any(|session| session.ethernet.is_some());
    // Octets that are injected may be any message.
    let any = |of: &dyn Fn(&SessionSpec) -> bool| sessions().any(|own| own.inject.is_some() || of(own));
    let any_commands = any(&|session| session.user_defined.is_some());
    let any_unopened = any(&|session| matches!(session.opens, Some(OpensKind::VendorStream(_))));
    let any_streams = sessions().any(|session| session.opens == Some(OpensKind::Stream));
    let mut no = |key: &str, message: String, help: &str| {
        c.once(Diagnostic::error("SC091", format!("{at}/{key}"), message).help(help));
    };
    let ethernet = session.ethernet.is_some();
    if *filled(&node.header) != HeaderKind::Data && *filled(&node.data) == CarrierKind::Stream {
        no("header", format!("data to \"{name}\" goes by type 9, without a header"), "use data: \"message\"");
    }
    if *filled(&node.data_offset) > 0 && ethernet && node.data_offset_vendor.is_none() {
        let help = "say whose they are (data_offset_vendor), or leave it out";
        no("data_offset", "Ethernet knows no Offset octets but a vendor's".into(), help);
    }
    let mut whose = |key: &'static str, text: &Option<String>| {
        let found = value(text.as_deref()?);
        if found.is_none() {
            no(key, "this is no value of VENDOR".into(), VENDOR);
        }
        found
    };
    let offset_vendor = whose("data_offset_vendor", &node.data_offset_vendor);
    let vendor = whose("vendor", &node.vendor);
    match node.mtu {
        Some(_) if !any_ethernet => {
            no("mtu", "only Ethernet has an MTU".into(), "use session.ethernet, or leave it out");
        }
        Some(MtuSpec::Range(MtuRange { from, to })) if from > to => {
            no("mtu", format!("the range from {from} to {to} is empty"), "from <= to");
        }
        _ => {}
    }
    if *filled(&node.frames_kept) > 1 && !any_ethernet {
        let help = "use session.ethernet, or leave it out";
        no("frames_kept", "only frames of Ethernet are dropped while a stream is stopped".into(), help);
    }
    if *filled(&node.reuse_stream) && !any_streams {
        no("reuse_stream", "nobody opens a further stream".into(), "use opens: \"stream\", or leave it out");
    }
    if node.user_commands.iter().flatten().next().is_some() && !any_commands {
        let help = "use session.user_defined or session.inject, or leave it out";
        no("user_commands", "nobody sends a USERDEFINED command".into(), help);
    }
    if node.vendor_streams.iter().flatten().next().is_some() && !any_unopened {
        let help = "use opens: {\"vendor_stream\": N}, or leave it out";
        no("vendor_streams", "nobody sends data without OPEN".into(), help);
    }
    let mut attributes = Vec::new();
    for (i, text) in node.vendor_attributes.iter().flatten().enumerate() {
        let octets = octets(text).and_then(|octets| <[u8; 8]>::try_from(octets).ok()).map(Attribute);
        match octets.filter(|attribute| attribute.id().is_vendor()) {
            Some(attribute) => attributes.push(attribute),
            None => {
                let help = "allowed: eight octets that begin with 78 to 7f, ef, or fe and ff";
                no(&format!("vendor_attributes/{i}"), "this is no attribute of a vendor".into(), help);
            }
        }
    }
    let any = node.vendor_attributes.iter().flatten().next().is_some();
    if any && session.vendor.is_none() && node.vendor.is_none() {
        let help = "use session.vendor or endpoint.session.vendor, or leave them out";
        no("vendor_attributes", "nobody says which vendor's attributes these are".into(), help);
    }
    if node.vendor.is_some() && session.vendor.is_some() {
        no("vendor", "the protocol says whose its attributes are".into(), "leave it out");
    }
    let mut understands: Vec<Id> = Vec::new();
    for (i, text) in node.understands.iter().flatten().enumerate() {
        match identifier(text) {
            Some(id) => understands.push(id),
            None => {
                let help = "allowed: \"78\" to \"7f\", \"ef00\" to \"efff\", \"fe000000\" to \"ffffffff\"";
                no(&format!("understands/{i}"), format!("\"{text}\" names no attribute of a vendor"), help);
            }
        }
    }
    for (i, code) in node.user_commands.iter().flatten().enumerate() {
        if *code < 240 {
            let message = format!("{code} is no code of a USERDEFINED command");
            no(&format!("user_commands/{i}"), message, "allowed: 240 to 255");
        }
    }
    for (i, stream) in node.vendor_streams.iter().flatten().enumerate() {
        if StreamClass::of(*stream) != StreamClass::Vendor {
            let message = format!("StreamID {stream} is not of the vendors' range");
            no(&format!("vendor_streams/{i}"), message, STREAMS);
        }
    }
    Known { attributes, vendor, offset_vendor, understands }
}

/// USERDEFINED commands, by the device that sends them.
pub(super) fn commands(
    c: &mut Compiler<'_>,
    at: &str,
    session: &SessionSpec,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<UserCommand>> {
    let mut commands: BTreeMap<usize, Vec<UserCommand>> = BTreeMap::new();
    for (i, command) in session.user_defined.iter().flatten().enumerate() {
        let at = format!("{at}/user_defined/{i}");
        let from = member(c, format!("{at}/from"), &command.from, by_name);
        let to = member(c, format!("{at}/to"), &command.to, by_name);
        let data = command.octets.as_deref().map_or(Some(Vec::new()), octets);
        let data = data.filter(|data| data.len() <= USER_DATA);
        if data.is_none() {
            let finding = Diagnostic::error("SC091", format!("{at}/octets"), "this is no user data");
            c.out.push(finding.help("allowed: up to 240 octets, two hexadecimal digits each"));
        }
        let (Some(from), Some(to), Some(data)) = (from, to, data) else { continue };
        let (at, to) = (Time(command.at.get()), c.ids[to] as u16);
        let command = UserCommand { at, to, code: command.code, data };
        commands.entry(from).or_default().push(command);
    }
    commands
}
