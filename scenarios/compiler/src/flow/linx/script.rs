//! What a scenario does to connections of LINX at a time: applications that give them up, and frames that
//! leave in the name of nodes.

use super::settings;
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::session::{member, octets};
use crate::spec::*;
use models::config::*;
use models::linx_riocm::wire::{Kind, PROTOCOL, View};
use models::sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// `src` of forged messages.
const FORGED: u32 = u32::MAX;

/// Which peers are given up when, by device.
type Disconnects = BTreeMap<usize, Vec<(u16, LinxAbsence)>>;

/// Devices that these names choose among the nodes. A name that chooses none is told.
fn chosen(
    c: &mut Compiler<'_>,
    at: &str,
    names: &Names,
    by_name: &BTreeMap<String, usize>,
) -> BTreeSet<usize> {
    let all: Vec<&str> = by_name.keys().map(String::as_str).collect();
    match crate::names::select(names.patterns(), &all) {
        Ok(hits) => hits.into_iter().map(|hit| by_name[all[hit]]).collect(),
        Err(pattern) => {
            member(c, names.place(at, &pattern), &pattern, by_name);
            BTreeSet::new()
        }
    }
}

/// What applications give up when.
pub(super) fn disconnects(
    c: &mut Compiler<'_>,
    at: &str,
    linx: &LinxSpec,
    peers: &BTreeMap<usize, BTreeSet<u32>>,
    devices: &BTreeMap<u32, usize>,
    by_name: &BTreeMap<String, usize>,
) -> Disconnects {
    let mut all = Disconnects::new();
    for (i, disconnect) in linx.disconnects.iter().flatten().enumerate() {
        let at = format!("{at}/disconnects/{i}");
        let nodes = chosen(c, &format!("{at}/node"), &disconnect.node, by_name);
        let others = disconnect.peer.as_ref().map(|names| chosen(c, &format!("{at}/peer"), names, by_name));
        let from = disconnect.at.get();
        let until =
            disconnect.lasts.as_ref().map_or(Time::MAX, |lasts| Time(from.saturating_add(lasts.get())));
        let absence = LinxAbsence { from: Time(from), until };
        let mut any = false;
        for &device in &nodes {
            let given_up = |id: &&u32| others.as_ref().is_none_or(|others| others.contains(&devices[*id]));
            for &id in peers[&device].iter().filter(given_up) {
                any = true;
                all.entry(device).or_default().push((id as u16, absence));
            }
        }
        if !any && !nodes.is_empty() && others.is_none_or(|others| !others.is_empty()) {
            let message = "there is no connection between these";
            let finding = Diagnostic::error("SC087", at, message);
            c.out.push(finding.help("name nodes that have connections, and peers of them"));
        }
    }
    all
}

/// What applications give up when, by the ids of both ends.
pub(super) fn absences(
    c: &Compiler<'_>,
    disconnects: &Disconnects,
) -> BTreeMap<(u16, u16), Vec<LinxAbsence>> {
    let mut all: BTreeMap<(u16, u16), Vec<LinxAbsence>> = BTreeMap::new();
    for (&device, given_up) in disconnects {
        for &(peer, absence) in given_up {
            all.entry((c.ids[device] as u16, peer)).or_default().push(absence);
        }
    }
    all
}

/// Frames that leave in the name of nodes, by device.
pub(super) fn injections(
    c: &mut Compiler<'_>,
    at: &str,
    linx: &LinxSpec,
    peers: &BTreeMap<usize, BTreeSet<u32>>,
    by_name: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Vec<LinxInjection>> {
    let mut injections: BTreeMap<usize, Vec<LinxInjection>> = BTreeMap::new();
    for (i, inject) in linx.inject.iter().flatten().enumerate() {
        let at = format!("{at}/inject/{i}");
        let from = member(c, format!("{at}/from"), &inject.from, by_name);
        let to = member(c, format!("{at}/to"), &inject.to, by_name);
        let (Some(from), Some(to)) = (from, to) else { continue };
        let id = c.ids[to];
        if !peers[&from].contains(&id) {
            let message = format!("\"{}\" has no connection to \"{}\"", inject.from, inject.to);
            let finding = Diagnostic::error("SC086", format!("{at}/to"), message);
            c.out.push(finding.help("name a peer: frames go where the node has a connection to"));
            continue;
        }
        let Some((octets, relative)) = frame(c, &at, inject, from) else { continue };
        let injection = LinxInjection { at: Time(inject.at.get()), to: id as u16, octets, relative };
        injections.entry(from).or_default().push(injection);
    }
    injections
}

/// The octets of a frame, and whether those of its connection are added. `None`: they cannot be sent.
fn frame(c: &mut Compiler<'_>, at: &str, inject: &LinxInjectSpec, from: usize) -> Option<(Vec<u8>, bool)> {
    let mut wrong = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC086", format!("{at}{key}"), message).help(help));
        None
    };
    let text = match (&inject.octets, inject.frame) {
        (Some(text), None) => text.as_str(),
        (None, Some(kind)) => {
            if inject.relative.is_some() {
                let message = "a frame that is named is as its connection would send it";
                return wrong("/relative", message, "leave it out, or give \"octets\"");
            }
            return Some((octets(template(kind)).expect("templates are octets"), true));
        }
        (octets, _) => {
            let message = if octets.is_some() { "two frames in one" } else { "a frame without octets" };
            return wrong("", message, "give one of \"octets\" and \"frame\"");
        }
    };
    let node = settings(c, from);
    let most = match filled(&node.carrier) {
        CarrierKind::Stream => 65_535,
        CarrierKind::Message => {
            let segments = if node.mailbox.is_some_and(|mailbox| mailbox > 3) { 1 } else { 16 };
            segments * usize::from(*filled(&node.segment))
        }
    };
    let mut wrong = |message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC086", format!("{at}/octets"), message).help(help));
        None
    };
    let Some(octets) = octets(text).filter(|octets| octets.len() <= most) else {
        let help = format!("allowed: 1 to {most} octets, two hexadecimal digits each");
        return wrong("these are no octets of a frame", &help);
    };
    if begins_message(&octets) && View::new(&octets).src() != Some(FORGED) {
        let help = "write FFFFFFFF to octets 16 to 19, which are \"src\"";
        return wrong("the message would be taken for one of the flow", help);
    }
    Some((octets, inject.relative == Some(true)))
}

/// Whether octets are a frame that a message begins with.
fn begins_message(octets: &[u8]) -> bool {
    let view = View::new(octets);
    let kind = view.type_code().and_then(Kind::from_code);
    let begins = matches!(kind, Some(Kind::Single | Kind::FragStart | Kind::PatchStart));
    begins && view.protocol() == Some(PROTOCOL) && view.src().is_some()
}

/// The octets of a frame that is wrong in one point; what its connection knows is added.
fn template(kind: LinxFrameKind) -> &'static str {
    match kind {
        LinxFrameKind::Short => "22CF00",
        LinxFrameKind::OtherProtocol => "1234 000C 0600 0000 0000 0000 0000 0000",
        LinxFrameKind::Version1 => "8911 000C 8100 0100 0000 0005 0000 0000",
        LinxFrameKind::Headless => "22CF 000A 8100 0100 0000 0005 0000",
        LinxFrameKind::UnknownManagement => "22CF 000C 8400 0000 0000 0000 0000 0000",
        LinxFrameKind::UnknownType => "22CF 000C 0700 0000 0000 0000 0000 0000",
        LinxFrameKind::CutOff => {
            "22CF 0020 0101 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000008 00010203"
        }
        LinxFrameKind::ShortHeader => "22CF 000C 0101 0000 0000 0000 0000 0000",
        LinxFrameKind::LongPayload => {
            "22CF 001C 0101 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000009 00010203"
        }
        LinxFrameKind::StrayFragment => "22CF 0010 03FE 0000 0000 0000 0000 0000 00010203",
        LinxFrameKind::SmallMtu => "22CF 000C 8100 003F 0000 0005 0000 0000",
        LinxFrameKind::OldReset => "22CF 000C 8301 0000 0000 0000 0000 0000",
        LinxFrameKind::WrongCid => "22CF 000C 0600 0000 0000 7777 0000 0000",
        LinxFrameKind::WrongSender => "22CF 000C 0600 0000 0000 0000 0100 0000",
        LinxFrameKind::WrongPort => "22CF 000C 0600 0000 7000 0000 0000 0000",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::linx_riocm::wire::{Error, Frame};

    /// Each is wrong in the point that it is named for.
    #[test]
    fn templates_are_what_they_are_called() {
        let error = |kind| Frame::parse(&octets(template(kind)).unwrap()).err();
        use LinxFrameKind as K;
        assert_eq!(error(K::Short), Some(Error::RioFrame { found: 3 }));
        assert_eq!(error(K::OtherProtocol), Some(Error::Protocol { found: 0x1234 }));
        assert_eq!(error(K::Version1), Some(Error::Protocol { found: 0x8911 }));
        assert_eq!(error(K::Headless), Some(Error::Unattributable { found: 10 }));
        assert_eq!(error(K::UnknownManagement), Some(Error::Type { found: 0x84 }));
        assert_eq!(error(K::UnknownType), Some(Error::Type { found: 7 }));
        assert_eq!(error(K::CutOff), Some(Error::Truncated { size: 32, found: 28 }));
        assert_eq!(error(K::ShortHeader), Some(Error::HeaderSize { kind: Kind::Single, found: 12 }));
        let long = Error::PayloadSize { kind: Kind::Single, found: 9, payload: 4 };
        assert_eq!(error(K::LongPayload), Some(long));
        // The others are well-formed, and wrong where a connection knows better.
        for kind in [K::StrayFragment, K::SmallMtu, K::OldReset, K::WrongCid, K::WrongSender, K::WrongPort] {
            assert_eq!(error(kind), None, "{kind:?}");
        }
    }
}
