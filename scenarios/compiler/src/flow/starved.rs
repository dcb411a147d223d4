//! Who may get nothing: messages that are refused again and again, and frames of LINX that others pass.

use super::Sized;
use super::answers::way;
use super::hosts::{Placed, host};
use super::linx::frames;
use super::messages::{self, Carried, Packet};
use super::session::FRAME_HEADER;
use super::transfer::Clock;
use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use crate::units::time_text;
use models::agent::echo::EchoConfig;
use models::config::*;
use models::logical::wire::message::{LETTERS, SEGMENTS_MAX};
use models::lp_serial::cost::{AddressSize, PacketClass, packet_bytes};
use models::path::Roads;
use models::session_management::message::Command;
use models::transfer_rate::Software;
use std::collections::BTreeMap;

/// What a source creates in a picosecond; without end if it always has something to send.
fn rate(source: &SourceConfig) -> f64 {
    match &source.arrivals {
        Arrivals::Poisson { mean } => 1.0 / mean.0 as f64,
        Arrivals::Bernoulli { slot, numerator, denominator } => {
            *numerator as f64 / (slot.0 as f64 * *denominator as f64)
        }
        Arrivals::Constant { interval, .. } => interval.1 as f64 / interval.0 as f64,
        Arrivals::OnOff { on, off, interval } => {
            on.0 as f64 / ((on.0 as f64 + off.0 as f64) * interval.0 as f64)
        }
        Arrivals::Saturated { .. } => f64::INFINITY,
        Arrivals::Replay(_) => 0.0,
    }
}

/// The one device that a source sends to, or its one hot spot, and the share that goes there.
fn aim(destinations: &Destinations) -> Option<(u32, f64)> {
    match destinations {
        Destinations::Hotspot { hot, numerator, denominator, .. } => match &hot[..] {
            &[id] => Some((id, *numerator as f64 / *denominator as f64)),
            _ => None,
        },
        _ => match destinations.listed()? {
            &[id] => Some((id, 1.0)),
            _ => None,
        },
    }
}

/// What an end sends for each message of its source that is answered by RETRY where a host has no place.
struct Refusable {
    each: usize,
    /// Octets of these messages, and of a segment. `None`: doorbells.
    cut: Option<(Vec<Sized>, u32)>,
}

impl Refusable {
    fn of(protocol: &ProtocolConfig, source: &SourceConfig) -> Option<Self> {
        let sizes = || match &source.sizes {
            Sizes::Fixed(size) => vec![(1, *size)],
            Sizes::Mix(sizes) => sizes.to_vec(),
            Sizes::Replay => Vec::new(),
        };
        let one = |carrier: Carrier| match carrier {
            Carrier::Message { segment, .. } => Some((1, Some((sizes(), segment)))),
            Carrier::Doorbell { .. } => Some((1, None)),
            _ => None,
        };
        let (each, cut) = match protocol {
            ProtocolConfig::Workload { carrier } | ProtocolConfig::Rpc { carrier, .. } => one(*carrier)?,
            ProtocolConfig::Session(node) => {
                let SessionData::Message(_) = node.data else { return None };
                let header = Command::from_code(node.header.command()).unwrap_or(Command::Data).header_len();
                let ethernet = matches!(node.protocol, SessionProtocol::Ethernet { .. });
                let frame = if ethernet { FRAME_HEADER } else { 0 };
                let more = (header + usize::from(node.data_offset) + frame) as u16;
                let whole = |(weight, size): (u32, PacketSize)| {
                    (weight, PacketSize { payload: size.payload.saturating_add(more), ..size })
                };
                (1, Some((sizes().into_iter().map(whole).collect(), node.segment)))
            }
            ProtocolConfig::Linx(node) => {
                let Carrier::Message { segment, .. } = node.carrier else { return None };
                let frames = frames(longest(node, Some(source))?, node.mtu);
                let size = |frame: &u32| (1, PacketSize { payload: *frame as u16, wire: 0 });
                (frames.len(), Some((frames.iter().map(size).collect(), segment)))
            }
            other => one(other.plugged::<EchoConfig>()?.carrier)?,
        };
        Some(Refusable { each, cut: cut.map(|(sizes, segment)| (sizes, segment.into())) })
    }

    /// Octets of its longest packet, without what a link adds.
    fn octets(&self, ids: IdSize) -> u32 {
        let (class, octets) = match &self.cut {
            Some((sizes, segment)) => {
                let most = sizes.iter().map(|(_, size)| u32::from(size.payload)).max().unwrap_or(0);
                (PacketClass::Message, most.min(*segment).next_multiple_of(8))
            }
            None => (PacketClass::Doorbell, 0),
        };
        packet_bytes(class, ids, octets, AddressSize::Bits34).unwrap_or(0)
    }

    /// Where a host refuses what comes, a sender has nothing on its way but what was refused: the segments of
    /// as many messages as there are letters, over and over. How long those take to come once, ps. 0: a
    /// message is one segment.
    fn round(&self, c: &Compiler<'_>, receiver: usize) -> u64 {
        let Some((sizes, segment)) = &self.cut else { return 0 };
        // Longer ones are several messages.
        let most = segment * u32::from(SEGMENTS_MAX);
        let octets = |packet: Packet<'_>, octets: u32| {
            messages::chars(Carried::Message { segment: *segment }, octets.min(most), packet)
        };
        match sizes.iter().any(|(_, size)| u32::from(size.payload) > *segment) {
            true => {
                let one = messages::mean_time(c, receiver, sizes, &octets).rounded().unwrap_or(u64::MAX);
                one.saturating_mul(LETTERS.into())
            }
            false => 0,
        }
    }
}

/// Who sends to a host messages that it may refuse.
#[derive(Default)]
struct Asked {
    /// Id of the host.
    id: u32,
    senders: BTreeMap<u32, Sender>,
    /// They are frames of LINX.
    frames: bool,
    /// Messages in a picosecond, and those of them that are longer than a segment.
    rate: f64,
    long: f64,
    /// All that was refused comes again in this time, ps.
    round: u64,
    /// One that was refused comes back after this time at most, if nothing else is on its way, ps.
    back: u64,
}

/// An endpoint that sends them.
struct Sender {
    id: u32,
    /// From RETRY until it sends again, ps.
    delay: u64,
    /// Octets of a packet.
    octets: u32,
}

impl Asked {
    /// How long a host that refuses some takes for a message, ps. It serves one after the other, but a place
    /// is taken before, if a message has several segments: the first that finds it free takes it, and the
    /// others were refused; each comes again once in a round. Who was refused may come back all at a time,
    /// and until then as many are served as there are places.
    fn taken(&self, rx: f64, places: u64) -> f64 {
        let long = if self.long.is_finite() { self.long / self.rate } else { 1.0 };
        rx.max((rx + long * self.round as f64 + self.back as f64) / places as f64)
    }

    /// How long until the last of those that were refused at a time is back, without competition, ps.
    fn back(&self, roads: &Roads<'_>, host: u32, response: u32) -> u64 {
        let of = |(&device, sender): (&u32, &Sender)| {
            let there = way(roads, (device, self.id), 0, &[sender.octets])?;
            let refusal = way(roads, (host, sender.id), 1, &[response])?;
            Some(there.saturating_add(refusal).saturating_add(sender.delay))
        };
        self.senders.iter().filter_map(of).max().unwrap_or(0)
    }

    /// With so many places each gets what is its due: there is one for each sender, or for all that it may
    /// have on its way at a time, or the host takes more than is sent.
    fn is_enough(&self, rx: f64, places: u64) -> bool {
        let (senders, taken) = (self.senders.len() as u64, self.taken(rx, places));
        let served = places >= senders && taken <= rx;
        self.rate * taken <= 1.0 || served || places >= senders * u64::from(LETTERS)
    }
}

/// Warns of hosts with fewer places than endpoints that ask them for more than they serve. All of these wait
/// for a place, and each comes back a fixed time after it was refused: those that come back when a place has
/// just been taken do so each time. With as many places as senders nobody was seen to starve. A host that
/// takes all of them as long as it refuses none comes to refuse some by chance, and takes less from then on
/// if they have several segments: so what it takes then is what they are held against.
pub(super) fn by_retry(c: &mut Compiler<'_>, config: &FabricConfig) {
    let devices = super::devices(c);
    let mut asked: BTreeMap<usize, Asked> = BTreeMap::new();
    let parts = config.agents.iter().flat_map(|agent| agent.parts.iter().map(move |part| (agent, part)));
    for (agent, part) in parts {
        // Of who ends by itself nobody starves: who is refused gets its turn when the others are done.
        let source = part.source.as_ref().filter(|source| source.limit == u64::MAX);
        let refusable = source.and_then(|source| Some((source, Refusable::of(&part.protocol, source)?)));
        let Some((source, refusable)) = refusable else { continue };
        let Some((id, share)) = aim(&source.destinations) else { continue };
        let Some(&device) = devices.get(&id) else { continue };
        let rate = rate(source) * share * refusable.each as f64;
        if rate > 0.0 {
            let round = refusable.round(c, device);
            let all = asked.entry(device).or_default();
            let delay = Clock(agent.clock).fabric(agent.retry_delay);
            all.id = id;
            all.senders
                .insert(agent.device, Sender { id: agent.id, delay, octets: refusable.octets(agent.ids) });
            all.frames |= matches!(part.protocol, ProtocolConfig::Linx(_));
            all.rate += rate;
            all.long += if round > 0 { rate } else { 0.0 };
            all.round = all.round.saturating_add(round);
        }
    }
    let mut roads = None;
    for (device, mut all) in asked {
        let Software { rx, places, .. } = Software::mean(&host(c, device).config);
        // Hosts that take no time have no queue.
        if rx == 0 {
            continue;
        }
        let time = rx as f64;
        if places < all.senders.len() as u64 * u64::from(LETTERS) && all.senders.len() > 1 {
            // Roads know every link of the fabric, which may be many.
            let roads = roads.get_or_insert_with(|| Roads::new(config));
            let response = packet_bytes(PacketClass::Response, c.id_size(), 0, AddressSize::Bits34);
            all.back = all.back(roads, device as u32, response.unwrap_or(0));
        }
        if all.is_enough(time, places) {
            continue;
        }
        let (name, senders) = (&c.graph.nodes[device].name, all.senders.len());
        let enough = (places..).find(|&places| all.is_enough(time, places)).unwrap_or(places);
        let taken = time_text(all.taken(time, places).ceil() as u64);
        let what = if all.frames { "frames of messages" } else { "messages" };
        let message = format!(
            "\"{name}\" has {} for {what} of {}: once it refuses some it takes one in {taken}, and more are \
             sent; who is refused by RETRY may come back too late each time, and get little or nothing",
            count(places as usize, "place"),
            count(senders, "endpoint")
        );
        let at = format!("{}/host/rx_queue", c.devices[device].origin);
        let help = format!("use {enough} places or more, or let less than one in {taken} be sent");
        c.once(Diagnostic::warning("SC116", at, message).help(help));
    }
}

/// The longest message that a node of LINX sends, in octets.
fn longest(node: &LinxConfig, source: Option<&SourceConfig>) -> Option<u32> {
    let own = source.filter(|source| source.limit > 0).map(|source| match &source.sizes {
        Sizes::Fixed(size) => u32::from(size.payload),
        Sizes::Mix(sizes) => sizes.iter().map(|(_, size)| size.payload).max().unwrap_or(0).into(),
        Sizes::Replay => 0,
    });
    let program = node.program.as_ref().map(|program| u32::try_from(program.longest()).unwrap_or(u32::MAX));
    [own, program, node.reply].into_iter().flatten().max()
}

/// Frames of LINX that come to a host.
struct Coming {
    senders: usize,
    /// Frames from one of them that can be under way before all are served.
    each: usize,
    /// Frames from all that can wait at a time.
    waits: usize,
    places: usize,
}

impl Coming {
    /// If so many endpoints send what this one sends at the same time: the frames of a message, or, where the
    /// host takes less in the long run, those of all messages.
    fn of(
        c: &Compiler<'_>,
        placed: &Placed,
        (whole, kind): (&[u32], Carried),
        (device, senders): (usize, usize),
    ) -> Self {
        let host = &host(c, device).config;
        let Software { rx, places, .. } = Software::longest(host);
        let of_message = |source: &SourceConfig| rate(source) * whole.len() as f64;
        let asked = placed.source.as_ref().filter(|source| source.limit > 0);
        let busy = asked.map_or(0.0, of_message) * senders as f64 * Software::mean(host).rx as f64;
        let (each, served) = match asked {
            Some(source) if busy > 1.0 => {
                let limit = usize::try_from(source.limit).unwrap_or(usize::MAX);
                (whole.len().saturating_mul(limit), 0)
            }
            // What is served while they come does not wait.
            _ => (whole.len(), Self::time(c, placed.device, whole, kind).checked_div(rx).unwrap_or(u64::MAX)),
        };
        let waits =
            each.saturating_mul(senders).saturating_sub(usize::try_from(served).unwrap_or(usize::MAX));
        Coming { senders, each, waits, places: places as usize }
    }

    /// How long these frames take to leave an endpoint, ps.
    fn time(c: &Compiler<'_>, device: usize, whole: &[u32], kind: Carried) -> u64 {
        let frames = whole.iter().map(|frame| (1, PacketSize { payload: *frame as u16, wire: 0 }));
        let mean = messages::mean_time(c, device, &frames.collect::<Vec<_>>(), &|packet, octets| {
            messages::chars(kind, octets, packet)
        });
        let software = Software::shortest(&host(c, device).config).tx;
        mean.rounded().unwrap_or(u64::MAX).max(software).saturating_mul(whole.len() as u64 - 1)
    }
}

/// Warns of messages of LINX that an end does not take, and of frames that so many others pass that the
/// window of the receiver does not reach: because they have a lower priority, or because a host without a
/// place refuses them and takes those behind them.
pub(super) fn of_linx(c: &Compiler<'_>, parts: &[Placed]) -> Vec<Diagnostic> {
    let nodes = || {
        parts.iter().filter_map(|placed| match &placed.node {
            Some(ProtocolConfig::Linx(node)) => Some((placed, &**node)),
            _ => None,
        })
    };
    let windows: BTreeMap<(u16, u16), (usize, &LinxConfig)> =
        nodes().map(|(placed, node)| ((node.node, node.port), (placed.device, node))).collect();
    let mut found = Vec::new();
    for (placed, node) in nodes() {
        let Some(octets) = longest(node, placed.source.as_ref()) else { continue };
        let peers = || node.peers.iter().filter_map(|&peer| windows.get(&(peer, node.peer_port)));
        let whole = frames(octets, node.mtu);
        let frames = whole.len();
        let Some(window) = peers().map(|(_, peer)| usize::from(peer.options.window)).min() else { continue };
        let name = |device: usize| &c.graph.nodes[device].name;
        let (sender, origin) = (name(placed.device), &c.devices[placed.device].origin);
        let (Some(low), Some(high)) = (node.data_priorities.iter().min(), node.data_priorities.iter().max())
        else {
            continue;
        };
        let takes = |device: usize, own: &LinxConfig| (own.options.limits.octets, device);
        let all = peers().map(|&(device, peer)| takes(device, peer)).chain([takes(placed.device, node)]);
        // Of equal ones a receiver.
        if let Some((most, device)) = all.min_by_key(|(most, _)| *most).filter(|(most, _)| *most < octets) {
            let message = format!(
                "\"{}\" takes messages of up to {most} octets: one of {octets} from \"{sender}\" resets the \
                 connection",
                name(device)
            );
            let at = format!("{}/linx/longest_message", c.devices[device].origin);
            found.push(Diagnostic::warning("SC115", at, message).help("shorter messages, or a longer limit"));
        }
        if low < high && frames > window {
            let message = format!(
                "a message of {octets} octets is {frames} frames of \"{sender}\", and those of priority \
                 {high} pass those of priority {low}: a frame that {window} others pass (\"window\") ends \
                 the connection"
            );
            let help =
                format!("use one priority, a \"window\" of {frames}, longer frames, or shorter messages");
            let at = format!("{origin}/linx/data_priorities");
            found.push(Diagnostic::warning("SC117", at, message).help(help));
        }
        let Carrier::Message { segment, .. } = node.carrier else { continue };
        let kind = Carried::Message { segment: segment.into() };
        let refuses = peers().find_map(|&(device, peer)| {
            let comes = Coming::of(c, placed, (&whole, kind), (device, peer.peers.len()));
            (comes.each > window && comes.waits > comes.places).then_some((device, comes))
        });
        if let Some((device, comes)) = refuses {
            let message = format!(
                "\"{}\" has {} for frames of {} that come faster than it takes them: it refuses some by \
                 RETRY, and a frame that {window} others pass (\"window\") ends the connection; a message of \
                 {octets} octets is {}",
                name(device),
                count(comes.places, "place"),
                count(comes.senders, "endpoint"),
                count(frames, "frame")
            );
            let help = match comes.waits {
                usize::MAX => "let them send less than it takes".into(),
                waits => format!("use {waits} places or more, or a \"window\" of {}", comes.each),
            };
            let at = format!("{}/host/rx_queue", c.devices[device].origin);
            found.push(Diagnostic::warning("SC116", at, message).help(help));
        }
    }
    found
}
