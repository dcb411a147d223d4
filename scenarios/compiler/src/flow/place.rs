//! Where packets go: senders, destinations, patterns of them, and whether they get there.

use super::{Traffic, ratio};
use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::fabric::Fate;
use crate::names;
use crate::spec::*;
use crate::topology::{good_name, shortened};
use models::config::*;
use std::collections::BTreeMap;
use std::sync::Arc;

impl Traffic<'_> {
    /// Endpoints that send.
    pub(super) fn senders(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<usize>> {
        let Some(from) = &flow.from else {
            let finding = Diagnostic::error("SC005", at, "field \"from\" is missing");
            c.out.push(finding.help("only a trace does without"));
            return None;
        };
        endpoints(c, &format!("{at}/from"), from)
    }

    /// Source and destinations of every sender.
    pub(super) fn places(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        to: &To,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        let at = format!("{at}/to");
        let fixed = |id: u32| Some(sources.iter().map(|&s| (s, Destinations::Fixed(id))).collect());
        match to {
            To::Name(name) => fixed(destination(c, &at, name)?),
            To::Id(id) => {
                let known = c.ids.contains(id) || c.groups.values().any(|group| group == id);
                if !known {
                    let message = format!("destination id {id} belongs to nobody");
                    c.out.push(Diagnostic::error("SC011", at, message));
                    return None;
                }
                fixed(*id)
            }
            To::Pattern(pattern) => self.pattern(c, &at, pattern, index, sources),
        }
    }

    fn pattern(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        pattern: &ToPattern,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        match pattern {
            ToPattern::Uniform(spec) => {
                let devices = among(c, &format!("{at}/uniform/among"), spec.among.as_ref())?;
                let ids = Arc::new(devices.iter().map(|&d| c.ids[d]).collect::<Vec<u32>>());
                let place = positions(&devices);
                let own = |s: usize| place.get(&s).copied();
                let keep_self = *filled(&spec.include_self);
                let places = sources.iter().filter_map(|&s| {
                    let except = if keep_self { None } else { own(s) };
                    let some = ids.len() > usize::from(except.is_some());
                    some.then(|| (s, Destinations::Uniform { ids: Arc::clone(&ids), except }))
                });
                Some(places.collect())
            }
            ToPattern::Permutation(spec) => {
                let devices = among(c, &format!("{at}/permutation/among"), spec.among.as_ref())?;
                let seed = spec.seed.unwrap_or(c.seed);
                match permutation(spec.kind, devices.len(), seed) {
                    Ok(map) => Some(mapped(c, sources, &devices, &map)),
                    Err(why) => {
                        let message = format!("{} endpoints take part: {why}", devices.len());
                        let finding = Diagnostic::error("SC045", format!("{at}/permutation/kind"), message);
                        c.out.push(finding.help("choose others with \"among\", or the kind \"random\""));
                        None
                    }
                }
            }
            ToPattern::Tornado(spec) => {
                let devices = among(c, &format!("{at}/tornado/among"), spec.among.as_ref())?;
                let n = devices.len();
                let map: Vec<usize> = (0..n).map(|i| (i + n.div_ceil(2) - 1) % n).collect();
                Some(mapped(c, sources, &devices, &map))
            }
            ToPattern::Neighbour(spec) => {
                let devices = among(c, &format!("{at}/neighbour/among"), spec.among.as_ref())?;
                let n = devices.len();
                let map: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
                Some(mapped(c, sources, &devices, &map))
            }
            ToPattern::Incast(spec) => {
                let id = destination(c, &format!("{at}/incast/target"), &spec.target)?;
                let others = sources.iter().filter(|&&s| c.ids[s] != id);
                Some(others.map(|&s| (s, Destinations::Fixed(id))).collect())
            }
            ToPattern::Cycle(list) => {
                let mut ids = Vec::new();
                for (i, name) in list.iter().enumerate() {
                    ids.push(destination(c, &format!("{at}/cycle/{i}"), name)?);
                }
                if ids.is_empty() {
                    let message = "the list is empty";
                    c.out.push(
                        Diagnostic::error("SC008", format!("{at}/cycle"), message).help("name at least one"),
                    );
                    return None;
                }
                let ids = Arc::new(ids);
                Some(sources.iter().map(|&s| (s, Destinations::Cycle(Arc::clone(&ids)))).collect())
            }
            ToPattern::Hotspot(spec) => self.hotspot(c, &format!("{at}/hotspot"), spec, index, sources),
        }
    }

    fn hotspot(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        spec: &HotspotSpec,
        index: u16,
        sources: &[usize],
    ) -> Option<Vec<(usize, Destinations)>> {
        let mut hot = endpoints(c, &format!("{at}/hot"), &spec.hot)?;
        by_id(c, &mut hot);
        let share = ratio(c, &format!("{at}/share"), &spec.share)?;
        if share.num == 0 || share.above_one() {
            let message = format!("a share of {share} is not possible");
            let finding = Diagnostic::error("SC008", format!("{at}/share"), message);
            c.out.push(finding.help("allowed: more than 0, at most 1"));
            return None;
        }
        let Some((numerator, denominator)) = share.pair() else {
            let finding = Diagnostic::error("SC008", format!("{at}/share"), "the share has too many digits");
            c.out.push(finding.help("use rounder numbers"));
            return None;
        };
        let name = filled(&spec.hot_flow).clone();
        if let Err(why) = good_name(&name) {
            c.out.push(Diagnostic::error("SC009", format!("{at}/hot_flow"), why));
            return None;
        }
        let hot_flow = self.index(&name);
        if hot_flow != index && !self.demand.hot.contains(&hot_flow) {
            self.demand.hot.push(hot_flow);
        }
        let mut cold: Vec<usize> =
            crate::translators::ends(c).into_iter().filter(|d| !hot.contains(d)).collect();
        by_id(c, &mut cold);
        let of = |list: &[usize]| Arc::new(list.iter().map(|&d| c.ids[d]).collect::<Vec<u32>>());
        let (hot_ids, cold_ids) = (of(&hot), of(&cold));
        if cold.is_empty() && share.num != share.den {
            let message = format!("a share of {share} has no effect here: all endpoints are hot");
            let help = "leave some endpoints cold, or give a share of 1";
            c.out.push(Diagnostic::error("SC051", format!("{at}/share"), message).help(help));
            return None;
        }
        let (hot_place, cold_place) = (positions(&hot), positions(&cold));
        let mut places = Vec::new();
        for &s in sources {
            let (hot_except, cold_except) = (hot_place.get(&s).copied(), cold_place.get(&s).copied());
            let some_hot = hot.len() > usize::from(hot_except.is_some());
            let some_cold = cold.len() > usize::from(cold_except.is_some());
            places.push((
                s,
                match (some_hot, some_cold) {
                    (true, true) => Destinations::Hotspot {
                        hot: Arc::clone(&hot_ids),
                        hot_except,
                        hot_flow,
                        numerator,
                        denominator,
                        cold: Arc::clone(&cold_ids),
                        cold_except,
                    },
                    // The only hot endpoint sends to the others alone, and the reverse.
                    (false, true) => {
                        Destinations::Uniform { ids: Arc::clone(&cold_ids), except: cold_except }
                    }
                    // Where nobody is cold all packets are hot, and reported so.
                    (true, false) => Destinations::Hotspot {
                        hot: Arc::clone(&hot_ids),
                        hot_except,
                        hot_flow,
                        numerator: 1,
                        denominator: 1,
                        cold: Arc::clone(&cold_ids),
                        cold_except,
                    },
                    (false, false) => continue,
                },
            ));
        }
        Some(places)
    }

    /// Reports destinations of a source that its packets do not reach.
    pub(super) fn check_reach(
        &self,
        c: &mut Compiler<'_>,
        at: &str,
        source: usize,
        destinations: &Destinations,
    ) {
        let Some((_, switch, _)) = c.neighbours[source][0] else { return };
        let sole = |id: &u32| c.sole_members.get(id) == Some(&source);
        let alone = match destinations {
            Destinations::Fixed(id) => Some(id).filter(|id| sole(id)),
            Destinations::Cycle(ids) => ids.iter().find(|id| sole(id)),
            _ => None,
        };
        if let Some(id) = alone {
            let name = c.groups.iter().find(|(_, group)| *group == id).map_or("", |(name, _)| name);
            let own = &c.graph.nodes[source].name;
            let message =
                format!("\"{own}\" is the only member of \"{name}\": nobody gets what it sends there");
            let help = "a sender gets no copy: leave it out, or give the group other members";
            c.once(Diagnostic::error("SC047", format!("{at}/to"), message).help(help));
            return;
        }
        let own = first_hops(c, source, destinations);
        let destinations = own.as_ref().unwrap_or(destinations);
        if !c.graph.is_switch(switch) {
            let all = |ids: &[u32]| ids.iter().all(|id| *id == c.ids[switch] || *id == c.ids[source]);
            let reached = match destinations {
                Destinations::Fixed(id) => *id == c.ids[switch],
                Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => all(ids),
                Destinations::Hotspot { hot, cold, .. } => all(hot) && all(cold),
                Destinations::Replay => true,
            };
            if !reached {
                let name = |device: usize| c.graph.nodes[device].name.clone();
                let message = format!(
                    "\"{}\" is linked to \"{}\" alone and reaches nobody else",
                    name(source),
                    name(switch)
                );
                let help = "link both to a switch, or send to each other only";
                c.once(Diagnostic::error("SC020", format!("{at}/to"), message).help(help));
            }
            return;
        }
        if self.walk.lost.is_empty() {
            return;
        }
        let lost = |id: &&u32| {
            // A loop is an error of the routing, reported once for the whole fabric.
            self.walk.lost.get(&(**id, switch as u32)).is_some_and(|fate| !matches!(fate, Fate::Loop(_)))
                && c.ids[source] != **id
        };
        let bad = match destinations {
            Destinations::Fixed(id) => Some(id).filter(lost),
            Destinations::Cycle(ids) => ids.iter().find(lost),
            Destinations::Uniform { ids, .. } => ids.iter().find(lost),
            Destinations::Hotspot { hot, cold, .. } => hot.iter().chain(cold.iter()).find(lost),
            Destinations::Replay => None,
        };
        let Some(&id) = bad else { return };
        let name = |device: usize| c.graph.nodes[device].name.clone();
        let target = c.ids.iter().position(|own| *own == id).map_or_else(|| id.to_string(), name);
        let why = match &self.walk.lost[&(id, switch as u32)] {
            Fate::Dropped(switch) => c.why_dropped(*switch, id),
            Fate::Loop(_) => return,
            Fate::Astray(device) => format!("it arrives at \"{}\"", name(*device as usize)),
        };
        let message =
            format!("a packet from \"{}\" to \"{target}\" (id {id}) does not arrive: {why}", name(source));
        let help = "add a link, a route or a default route, or send elsewhere";
        c.once(Diagnostic::error("SC020", format!("{at}/to"), message).help(help));
    }
}

/// Where what a source sends goes first, if translators are on its way.
fn first_hops(c: &Compiler<'_>, source: usize, destinations: &Destinations) -> Option<Destinations> {
    let through = c.translation.through(source as u32);
    let hop = |id: u32| {
        let hop = u16::try_from(id).ok().and_then(|id| through.get(&id));
        hop.map_or(id, |&hop| hop.into())
    };
    if through.is_empty() {
        return None;
    }
    match destinations {
        Destinations::Fixed(id) => Some(Destinations::Fixed(hop(*id))),
        Destinations::Cycle(ids) | Destinations::Uniform { ids, .. } => {
            Some(Destinations::Cycle(Arc::new(ids.iter().map(|&id| hop(id)).collect())))
        }
        Destinations::Hotspot { .. } | Destinations::Replay => None,
    }
}

/// Endpoints that patterns select.
fn endpoints(c: &mut Compiler<'_>, at: &str, patterns: &Names) -> Option<Vec<usize>> {
    let devices = crate::translators::ends(c);
    let names: Vec<&str> = devices.iter().map(|&d| c.graph.nodes[d].name.as_str()).collect();
    match names::select(patterns.patterns(), &names) {
        Ok(hits) if !hits.is_empty() => Some(hits.into_iter().map(|i| devices[i]).collect()),
        Ok(_) => {
            let finding = Diagnostic::error("SC011", at, "selects no endpoint at all");
            c.out.push(finding);
            None
        }
        Err(pattern) => {
            let switch = c.graph.find(&pattern).is_some();
            let help = match switch {
                true => format!("\"{pattern}\" is a switch; only endpoints send and receive"),
                false => format!("endpoints: {}", shortened(names.iter().copied())),
            };
            let place = patterns.place(at, &pattern);
            let finding = Diagnostic::error("SC011", place, no_match("endpoint", &pattern)).help(help);
            let finding =
                if switch { finding } else { finding.did_you_mean_name(&pattern, names.iter().copied()) };
            c.out.push(finding);
            None
        }
    }
}

/// Puts devices of which one is drawn, or whose places say who sends to whom, into the order of their ids: it
/// must not depend on the order in which the file lists them.
fn by_id(c: &Compiler<'_>, devices: &mut [usize]) {
    devices.sort_by_key(|&device| c.ids[device]);
}

/// Endpoints that take part, in the order of their ids.
fn among(c: &mut Compiler<'_>, at: &str, names: Option<&Names>) -> Option<Vec<usize>> {
    let mut devices = match names {
        Some(names) => endpoints(c, at, names)?,
        None => crate::translators::ends(c),
    };
    by_id(c, &mut devices);
    Some(devices)
}

/// Destination id of a name: an endpoint, a multicast group, or digits.
fn destination(c: &mut Compiler<'_>, at: &str, name: &str) -> Option<u32> {
    if let Some(id) = known_destination(c, name) {
        return Some(id);
    }
    let endpoints = c.graph.endpoints.iter().map(|&d| c.graph.nodes[d].name.as_str());
    let names: Vec<&str> = endpoints.chain(c.groups.keys().map(String::as_str)).collect();
    let message = format!("there is no endpoint or multicast group \"{name}\"");
    let finding = Diagnostic::error("SC011", at, message)
        .help(format!("destinations: {}", shortened(names.iter().copied())))
        .did_you_mean_name(name, names.iter().copied());
    c.out.push(finding);
    None
}

pub(super) fn known_destination(c: &Compiler<'_>, name: &str) -> Option<u32> {
    let device = c.graph.find(name).filter(|&d| !c.graph.is_switch(d));
    device.map(|d| c.ids[d]).or_else(|| c.groups.get(name).copied())
}

/// Position of every device in a list.
fn positions(devices: &[usize]) -> BTreeMap<usize, u32> {
    devices.iter().zip(0..).map(|(&device, position)| (device, position)).collect()
}

/// Positions to destinations; who is mapped to itself sends nothing.
fn mapped(
    c: &Compiler<'_>,
    sources: &[usize],
    devices: &[usize],
    map: &[usize],
) -> Vec<(usize, Destinations)> {
    let place: BTreeMap<usize, usize> = devices.iter().enumerate().map(|(i, &d)| (d, i)).collect();
    let target = |source: usize| place.get(&source).map(|&i| devices[map[i]]).filter(|&t| t != source);
    sources.iter().filter_map(|&s| Some((s, Destinations::Fixed(c.ids[target(s)?])))).collect()
}

/// Image of every position under a permutation.
pub(crate) fn permutation(kind: PermutationKind, n: usize, seed: u64) -> Result<Vec<usize>, String> {
    if kind == PermutationKind::Random {
        return Ok(random_derangement(n, seed));
    }
    if !n.is_power_of_two() {
        return Err("their number is not a power of two".into());
    }
    let bits = n.trailing_zeros();
    let reverse = |i: usize| if bits == 0 { i } else { i.reverse_bits() >> (usize::BITS - bits) };
    match kind {
        PermutationKind::BitComplement => Ok((0..n).map(|i| !i & (n - 1)).collect()),
        PermutationKind::BitReverse => Ok((0..n).map(reverse).collect()),
        PermutationKind::Transpose if !bits.is_multiple_of(2) => {
            Err("their number is not a power of four, so it is no square".into())
        }
        PermutationKind::Transpose => {
            let half = bits / 2;
            Ok((0..n).map(|i| (i >> half) | (i << half) & (n - 1)).collect())
        }
        PermutationKind::Shuffle => {
            Ok((0..n).map(|i| if bits == 0 { i } else { (i << 1 | i >> (bits - 1)) & (n - 1) }).collect())
        }
        PermutationKind::Random => unreachable!("handled above"),
    }
}

/// A random permutation without fixed points, each of them as likely: shuffled by Fisher and Yates, again and
/// again until nobody is mapped to itself, which takes e = 2.7 times on average. Who is alone stays so.
fn random_derangement(n: usize, seed: u64) -> Vec<usize> {
    // SplitMix64 (Steele, Lea, Flood 2014): fixed here because a library may change its stream.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    };
    let mut map: Vec<usize> = (0..n).collect();
    while n > 1 && (0..).zip(&map).any(|(place, &to): (usize, _)| place == to) {
        for i in (1..n).rev() {
            let j = ((u128::from(next()) * (i as u128 + 1)) >> 64) as usize;
            map.swap(i, j);
        }
    }
    map
}
