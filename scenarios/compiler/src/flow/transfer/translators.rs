//! What stands between the ends of a flow, and whether its ends are on media that go with that.

use super::declared::Declared;
use super::lowered;
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::Hosts;
use crate::medium;
use crate::spec::*;
use crate::translators::stu_max;
use models::config::{Medium, Translator};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What stands between the ends of a flow.
#[derive(Default)]
pub(super) struct Between {
    /// Translators by the device of their first interface.
    pub devices: BTreeMap<usize, Arc<Translator>>,
    /// Control and Data may overtake each other on some medium of the flow.
    pub overtakes: bool,
}

/// The translators that a flow passes. `owners`: devices by id. `None` if its ends do not go with them.
pub(super) fn between(
    c: &mut Compiler<'_>,
    owners: &[u32],
    (at, flow): (&str, &FlowSpec),
    ends: &BTreeSet<usize>,
    hosts: &Hosts,
    declared: &BTreeMap<usize, Declared>,
) -> Option<Between> {
    let mut between = Between::default();
    if c.translation.translators.is_empty() {
        return Some(between);
    }
    let before = c.out.len();
    interfaces(c, at, ends, hosts);
    settings(c, (at, flow), ends, declared);
    if c.out.len() > before {
        return None;
    }
    // Of two segments all ways are alike.
    let segment = |device: usize| c.translation.segments[device];
    let pairs = ends.iter().flat_map(|&from| ends.iter().map(move |&to| (from, to)));
    let apart: BTreeMap<(u32, u32), (usize, usize)> = pairs
        .map(|(from, to)| ((segment(from), segment(to)), (from, to)))
        .filter(|((a, b), _)| a != b)
        .collect();
    let mut blocked = None;
    for &(from, to) in apart.values() {
        let steps = c.translation.way(from as u32, c.ids[to] as u16, owners);
        let passed = || steps.iter().filter_map(|step| step.translator);
        for own in passed() {
            let whole = c.translation.translators.iter().find(|other| std::ptr::eq(&***other, own));
            if let Some(whole) = whole {
                between.devices.insert(owners[usize::from(own.interfaces[0].id)] as usize, Arc::clone(whole));
            }
        }
        let cut = declared[&to].stu.min(stu_max(medium::of(c, from)));
        let cut = passed().map(lowered).fold(cut, u32::min);
        if let Some(own) = passed().find(|own| cut > own.stu) {
            blocked.get_or_insert((from, to, cut, own.name.clone(), own.stu));
        }
    }
    if let Some((from, to, cut, translator, stu)) = blocked {
        let name = |device: usize| &c.graph.nodes[device].name;
        let message = format!(
            "STUs of {cut} octets from \"{}\" to \"{}\" do not pass \"{translator}\", which takes {stu}",
            name(from),
            name(to)
        );
        let help = "let it lower Max_STU (\"lowers\": true), or use smaller ones";
        c.once(Diagnostic::warning("SC107", format!("{at}/st/stu"), message).help(help));
    }
    let media = ends.iter().map(|&device| medium::of(c, device));
    let passed = between.devices.values().flat_map(|own| own.interfaces.iter().map(|own| own.medium));
    between.overtakes =
        !between.devices.is_empty() && media.chain(passed).flatten().any(|medium| medium.channels() > 1);
    Some(between)
}

/// Ends are no interfaces of translators, and the interfaces of a host are in one part of the fabric.
fn interfaces(c: &mut Compiler<'_>, at: &str, ends: &BTreeSet<usize>, hosts: &Hosts) {
    let name = |device: usize| c.graph.nodes[device].name.clone();
    let own = |&device: &usize| vec![device];
    let mut found = Vec::new();
    for device in ends.iter().flat_map(|device| hosts.get(device).cloned().unwrap_or_else(|| own(device))) {
        let id = c.ids[device];
        let taken = |own: &&Arc<Translator>| own.interfaces.iter().any(|own| u32::from(own.id) == id);
        if c.translation.translators.iter().any(|own| taken(&own)) {
            let message = format!("\"{}\" is an interface of a translator", name(device));
            let help = "name the endpoints that send and receive, and not those between them";
            found.push(Diagnostic::error("SC048", format!("{at}/st"), message).help(help));
        }
    }
    for host in hosts.values().filter(|host| host.len() > 1) {
        let other =
            host.iter().find(|&&device| c.translation.segments[device] != c.translation.segments[host[0]]);
        if let Some(&other) = other {
            let message = format!("no link joins \"{}\" and \"{}\"", name(host[0]), name(other));
            let help = "the interfaces of a host are in one part of the fabric";
            found.push(Diagnostic::error("SC048", format!("{at}/st/stripes"), message).help(help));
        }
    }
    found.into_iter().take(1).for_each(|finding| c.once(finding));
}

/// Whether each end can be what the flow says on its medium.
fn settings(
    c: &mut Compiler<'_>,
    (at, flow): (&str, &FlowSpec),
    ends: &BTreeSet<usize>,
    declared: &BTreeMap<usize, Declared>,
) {
    let Some(st) = &flow.st else { return };
    let media: BTreeSet<Option<Medium>> = ends.iter().map(|&device| medium::of(c, device)).collect();
    if let [Some(medium)] = media.iter().copied().collect::<Vec<_>>()[..] {
        let passes_rapidio = c.translation.translators.iter().flat_map(|own| &own.interfaces);
        if !passes_rapidio.clone().any(|own| own.medium.is_none()) {
            medium::check_streams(c, at, flow, medium);
        }
    }
    if st.chart == Some(true) {
        let message = "what passes a translator is not in a chart";
        c.once(Diagnostic::error("SC048", format!("{at}/st/chart"), message).help("leave it out"));
    }
    for (&device, own) in declared {
        let medium = medium::of(c, device);
        let most = stu_max(medium);
        if own.stu > most {
            let (name, medium) = (&c.graph.nodes[device].name, medium.map_or("RapidIO", Medium::name));
            let message =
                format!("\"{name}\" is on {medium}, which does not carry STUs of {} octets", own.stu);
            let help = format!("give it a \"stu\" of {most} at most by \"ends\", or all of them");
            c.once(Diagnostic::error("SC008", format!("{at}/st/stu"), message).help(help));
        }
    }
}
