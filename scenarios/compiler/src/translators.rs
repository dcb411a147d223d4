//! Translators: which endpoints are their interfaces, which parts of the fabric they join, and which way
//! frames go through them.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::medium;
use crate::spec::*;
use crate::topology::{good_name, shortened};
use models::config::{Medium, NO_OWNER, Translation, Translator, TranslatorInterface};
use models::scheduled_transfer::intermediate::Limits;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Octets of the largest STU on RapidIO, in type 9 streams.
pub(crate) const STREAM_STU: u32 = 32_768;
/// Largest Block.
const GIBIBYTE: u64 = 1 << 30;

/// Octets of the largest STU of a medium.
pub(crate) fn stu_max(medium: Option<Medium>) -> u32 {
    medium.map_or(STREAM_STU, Medium::stu_max)
}

/// Writes the defaults of translators out.
pub(crate) fn expand(translators: &mut [TranslatorSpec]) {
    for translator in translators {
        translator.lowers.get_or_insert(true);
        translator.buffer.get_or_insert(1 << 20);
    }
}

/// The part of the fabric that each device is in: links join it.
fn segments(c: &Compiler<'_>) -> Vec<u32> {
    let mut segments = vec![u32::MAX; c.graph.nodes.len()];
    let mut number = 0;
    for first in 0..segments.len() {
        if segments[first] != u32::MAX {
            continue;
        }
        let mut open = vec![first];
        while let Some(device) = open.pop() {
            if std::mem::replace(&mut segments[device], number) == u32::MAX {
                let others = c.neighbours[device].iter().flatten().map(|&(_, other, _)| other);
                open.extend(others.filter(|&other| segments[other] == u32::MAX));
            }
        }
        number += 1;
    }
    segments
}

/// The interfaces of a translator, those on RapidIO first; `None` if something is wrong.
fn interfaces(
    c: &mut Compiler<'_>,
    at: &str,
    spec: &TranslatorSpec,
    segments: &[u32],
    taken: &mut BTreeMap<usize, String>,
) -> Option<Vec<usize>> {
    let before = c.out.len();
    let mut found: Vec<usize> = Vec::new();
    for (i, name) in spec.interfaces.iter().enumerate() {
        let at = format!("{at}/interfaces/{i}");
        let Some(device) = c.graph.find(name).filter(|&device| !c.graph.is_switch(device)) else {
            let names = c.graph.endpoints.iter().map(|&device| c.graph.nodes[device].name.as_str());
            let finding = Diagnostic::error("SC011", at, format!("there is no endpoint \"{name}\""))
                .help(format!("endpoints: {}", shortened(names.clone())))
                .did_you_mean_name(name, names);
            c.out.push(finding);
            continue;
        };
        if let Some(first) = taken.get(&device) {
            let message = format!("\"{name}\" is an interface already");
            c.out.push(Diagnostic::error("SC107", at, message).also(first.clone(), "the first time"));
            continue;
        }
        taken.insert(device, at.clone());
        let segment = segments[device];
        let name_of = |device: usize| c.graph.nodes[device].name.as_str();
        if let Some(&other) = found.iter().find(|&&other| segments[other] == segment) {
            let message = format!("links join \"{name}\" and \"{}\" already", name_of(other));
            let help = "the interfaces of a translator are in parts of the fabric that no link joins";
            c.out.push(Diagnostic::error("SC107", at, message).help(help));
            continue;
        }
        let others = found.iter().find(|&&other| medium::of(c, other).is_none());
        if let Some(&other) = others.filter(|_| medium::of(c, device).is_none()) {
            let message = format!("\"{}\" is on RapidIO, too", name_of(other));
            let help = "one interface on RapidIO at most: a stream of type 9 belongs to one endpoint";
            c.out.push(Diagnostic::error("SC107", at, message).help(help));
            continue;
        }
        let host = |device: usize| c.devices[device].endpoint().map(|endpoint| endpoint.host.config);
        if let Some(&other) = found.iter().find(|&&other| host(other) != host(device)) {
            let message = format!("\"{name}\" and \"{}\" have different hosts", name_of(other));
            let help = "a translator is one host: give all its interfaces the same \"host\"";
            c.out.push(Diagnostic::error("SC107", at, message).help(help));
            continue;
        }
        found.push(device);
    }
    if c.out.len() == before && found.len() < 2 {
        let finding = Diagnostic::error(
            "SC107",
            format!("{at}/interfaces"),
            "there is nothing between which to translate",
        );
        c.out.push(finding.help("name two endpoints at least"));
    }
    found.sort_by_key(|&device| medium::of(c, device).is_some());
    (c.out.len() == before).then_some(found)
}

/// What a translator has room for. `None` if something is wrong.
fn limits(
    c: &mut Compiler<'_>,
    at: &str,
    spec: &TranslatorSpec,
    interfaces: &[usize],
) -> Option<(u32, Limits)> {
    let before = c.out.len();
    let carried = interfaces.iter().map(|&device| stu_max(medium::of(c, device))).min().unwrap_or(STREAM_STU);
    let mut wrong = |key: &str, message: String, help: String| {
        c.out.push(Diagnostic::error("SC008", format!("{at}/{key}"), message).help(help));
    };
    let stu = spec.stu.unwrap_or(carried);
    if !stu.is_power_of_two() || !(256..=carried).contains(&stu) {
        let help = format!("allowed: powers of two from 256 to {carried}, what all its media carry");
        wrong("stu", format!("STUs of {stu} octets do not pass"), help);
    }
    let block = spec.block.unwrap_or(GIBIBYTE);
    if !block.is_power_of_two() || !(256..=GIBIBYTE).contains(&block) {
        let help = format!("allowed: powers of two from 256 to {GIBIBYTE}");
        wrong("block", format!("a Block of {block} octets is not possible"), help);
    }
    let (least, buffer) = (u64::from(stu) + 72, *filled(&spec.buffer));
    if buffer < least {
        let help = format!("allowed: {least} at least, the longest operation");
        wrong("buffer", format!("{buffer} octets hold no STU of {stu}"), help);
    }
    let max_stu = if *filled(&spec.lowers) { stu.trailing_zeros() } else { Limits::NONE.max_stu };
    let max_block = spec.block.map_or(Limits::NONE.max_block, |block| block.trailing_zeros() as u16);
    (c.out.len() == before).then_some((stu, Limits { max_stu, max_block }))
}

/// Endpoints at which flows begin and end: those that are no interfaces of translators.
pub(crate) fn ends(c: &Compiler<'_>) -> Vec<usize> {
    let interfaces = c.translation.translators.iter().flat_map(|own| &own.interfaces);
    let taken: BTreeSet<u32> = interfaces.map(|own| own.id.into()).collect();
    c.graph.endpoints.iter().copied().filter(|&device| !taken.contains(&c.ids[device])).collect()
}

/// Reads the translators of a scenario. Ids are known.
pub(crate) fn resolve(c: &mut Compiler<'_>) -> Translation {
    let specs = c.spec.translators.iter().flatten();
    let specs: Vec<(usize, &TranslatorSpec)> = specs.enumerate().collect();
    if specs.is_empty() {
        return Translation::default();
    }
    let segments = segments(c);
    let (mut taken, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut found = Vec::new();
    for (i, spec) in specs {
        let at = format!("/translators/{i}");
        if let Err(why) = good_name(&spec.name) {
            c.out.push(Diagnostic::error("SC009", format!("{at}/name"), why));
        }
        if let Some(first) = names.insert(spec.name.as_str(), i) {
            let message = format!("a second translator is called \"{}\"", spec.name);
            let finding = Diagnostic::error("SC046", format!("{at}/name"), message);
            c.out.push(finding.also(format!("/translators/{first}/name"), "the first one"));
        }
        let Some(own) = interfaces(c, &at, spec, &segments, &mut taken) else { continue };
        let Some((stu, limits)) = limits(c, &at, spec, &own) else { continue };
        let interface =
            |&device: &usize| TranslatorInterface { id: c.ids[device] as u16, medium: medium::of(c, device) };
        let translator = Translator {
            name: spec.name.clone(),
            interfaces: own.iter().map(interface).collect(),
            limits,
            stu,
            buffer: *filled(&spec.buffer),
            ways: BTreeMap::new(),
        };
        found.push((own, translator));
    }
    join(c, segments, found)
}

/// Finds the ways: over the fewest translators, among equals those named first.
fn join(c: &Compiler<'_>, segments: Vec<u32>, found: Vec<(Vec<usize>, Translator)>) -> Translation {
    let count = segments.iter().max().map_or(0, |&last| last as usize + 1);
    let of = |device: usize| segments[device] as usize;
    let interfaces: BTreeSet<usize> = found.iter().flat_map(|(own, _)| own).copied().collect();
    // The ends by segment.
    let mut ends: Vec<Vec<u16>> = vec![Vec::new(); count];
    for &device in c.graph.endpoints.iter().filter(|device| !interfaces.contains(device)) {
        if let Ok(id) = u16::try_from(c.ids[device])
            && c.ids[device] != NO_OWNER
        {
            ends[of(device)].push(id);
        }
    }
    let mut through: Vec<BTreeMap<u16, u16>> = vec![BTreeMap::new(); count];
    let mut ways: Vec<BTreeMap<u16, (u8, u16)>> = vec![BTreeMap::new(); found.len()];
    for (target, ids) in ends.iter().enumerate().filter(|(_, ids)| !ids.is_empty()) {
        // Of each segment that is reached: the id to which frames go first; 0 steps: the end itself.
        let mut first: Vec<Option<Option<u16>>> = vec![None; count];
        first[target] = Some(None);
        let mut open = VecDeque::from([target]);
        while let Some(near) = open.pop_front() {
            for (number, (own, _)) in found.iter().enumerate() {
                let Some(out) = own.iter().position(|&device| of(device) == near) else { continue };
                let mut leads = false;
                for &device in own.iter().filter(|&&device| first[of(device)].is_none()).collect::<Vec<_>>() {
                    first[of(device)] = Some(Some(c.ids[device] as u16));
                    open.push_back(of(device));
                    leads = true;
                }
                if leads {
                    let next = first[near].flatten();
                    ways[number].extend(ids.iter().map(|&id| (id, (out as u8, next.unwrap_or(id)))));
                }
            }
        }
        for (segment, first) in first.iter().enumerate() {
            if let Some(hop) = first.flatten() {
                through[segment].extend(ids.iter().map(|&id| (id, hop)));
            }
        }
    }
    let translators =
        found.into_iter().zip(ways).map(|((_, own), ways)| Arc::new(Translator { ways, ..own }));
    Translation {
        translators: translators.collect(),
        segments,
        through: through.into_iter().map(Arc::new).collect(),
    }
}
