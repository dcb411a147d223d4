//! Messages (type 11), streams (type 9) and requests over either or over reads and writes.

use super::{Cast, Kind, Sized};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::quantities::Quantities;
use crate::spec::*;
use crate::units::Ratio;
use models::config::*;
use models::lp_serial::cost::{AddressSize, PacketClass, packet_bytes};
use std::collections::BTreeMap;

/// Octets of a segment, unless they are given.
pub(super) const SEGMENT: u16 = 256;
/// Octets of a response, unless it is given. Writes have none.
const RESPONSE: u32 = 8;

/// Flows of messages, streams and requests.
pub(super) struct Messages;

impl Kind for Messages {
    fn keys(&self) -> &'static [&'static str] {
        &["messages", "streams", "rpc"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        [flow.messages.is_some(), flow.streams.is_some(), flow.rpc.is_some()]
            .into_iter()
            .filter(|is| *is)
            .count()
    }

    fn expand(&self, flow: &mut FlowSpec) {
        expand(flow);
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        if let Some(rpc) = &flow.rpc {
            let at = format!("{at}/rpc/timeout");
            let given = quantities.value(&at, rpc.timeout.as_ref());
            quantities.patience(at, given == Some(0));
        }
    }

    fn idle(&self, flow: &FlowSpec, idle: &mut dyn FnMut(&str, bool, &str, &str)) {
        let Some(rpc) = &flow.rpc else { return };
        let read = rpc.via == Some(RpcVia::Read);
        idle("size", read && flow.size.is_some(), "a read carries nothing", "use rpc.response: what is read");
        let write = rpc.via == Some(RpcVia::Write) && rpc.response.is_some();
        idle("rpc/response", write, "a write is answered without data", "use \"size\": what is written");
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        check(c, at, flow)
    }

    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
        sizes(c, at, flow)
    }

    fn mean_time(&self, c: &Compiler<'_>, source: usize, flow: &FlowSpec, sizes: &[Sized]) -> Ratio {
        mean_time(c, source, sizes, &|packet, octets| chars(carried(flow), octets, packet))
    }

    fn nodes(
        &self,
        _: &mut Compiler<'_>,
        _: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        let devices = cast.places.iter().map(|(device, _)| device).chain(cast.ends);
        Some(devices.map(|&device| (device, protocol(flow, cast.index))).collect())
    }
}

/// What carries a flow.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Carried {
    Message { segment: u32 },
    Stream { mtu: u32 },
    Read,
    Write,
}

/// What carries a flow, if it is as the file has it or with its defaults.
fn via(flow: &FlowSpec) -> RpcVia {
    let own = if flow.streams.is_some() { RpcVia::Stream } else { RpcVia::Message };
    flow.rpc.as_ref().and_then(|rpc| rpc.via).unwrap_or(own)
}

/// What carries a flow that has its defaults.
fn carried(flow: &FlowSpec) -> Carried {
    match via(flow) {
        RpcVia::Read => Carried::Read,
        RpcVia::Write => Carried::Write,
        RpcVia::Stream => Carried::Stream { mtu: u32::from(*filled(&filled(&flow.streams).mtu)) },
        RpcVia::Message => Carried::Message { segment: u32::from(*filled(&filled(&flow.messages).segment)) },
    }
}

/// Fills in the defaults of such a flow.
pub(crate) fn expand(flow: &mut FlowSpec) {
    let via = via(flow);
    if via != RpcVia::Read {
        flow.size.get_or_insert(SizeSpec::Fixed(256));
    }
    if let Some(rpc) = &mut flow.rpc {
        rpc.via.get_or_insert(via);
        if via != RpcVia::Write {
            rpc.response.get_or_insert(RESPONSE);
        }
        rpc.timeout.get_or_insert("100 ms".into());
    }
    match via {
        RpcVia::Message => {
            let messages = flow.messages.get_or_insert_default();
            messages.mailbox.get_or_insert(0);
            messages.segment.get_or_insert(SEGMENT);
        }
        RpcVia::Stream => {
            let streams = flow.streams.get_or_insert_default();
            streams.cos.get_or_insert(0);
            streams.mtu.get_or_insert(SEGMENT);
        }
        RpcVia::Read | RpcVia::Write => {}
    }
}

/// Whether the settings go together.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
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
    let kind = carried(flow);
    if let Some(rpc) = flow.rpc.as_ref().filter(|_| kind != Carried::Write) {
        let response = *filled(&rpc.response);
        check_size(c, &format!("{at}/rpc/response"), kind, response)?;
        if kind == Carried::Read {
            // Requests say how much is read.
            return Some(vec![(1, PacketSize { payload: response as u16, wire: 0 })]);
        }
    }
    let sizes = super::mix(c, at, flow, &mut |c, pointer, octets| check_size(c, pointer, kind, octets))?;
    if let (Carried::Message { segment }, Some(mailbox)) =
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

pub(super) fn check_size(c: &mut Compiler<'_>, at: &str, kind: Carried, octets: u32) -> Option<()> {
    let (fits, allowed) = match kind {
        Carried::Message { segment } => (
            octets > 0 && octets <= 16 * segment,
            format!("1 to {} (16 segments of {segment})", 16 * segment),
        ),
        Carried::Stream { .. } => (octets > 0 && octets < 65_536, "1 to 65535".to_owned()),
        Carried::Read => (
            [8, 16, 32, 64, 96, 128, 160, 192, 224, 256].contains(&octets),
            "8, 16, and 32 to 256 in steps of 32".to_owned(),
        ),
        Carried::Write => (octets > 0 && octets <= 256, "1 to 256".to_owned()),
    };
    let what = match kind {
        Carried::Message { .. } => "message",
        Carried::Stream { .. } => "PDU",
        Carried::Read => "read",
        Carried::Write => "write",
    };
    super::fits(c, at, what, octets, (fits, allowed))
}

/// Packets of what carries so many octets, in order: how many, of what class, with how much payload each.
pub(super) fn packets(kind: Carried, octets: u32) -> Vec<(u32, PacketClass, u32)> {
    // How many are full, and what is in the last.
    let cut = |most: u32| ((octets - 1) / most, (octets - 1) % most + 1);
    match kind {
        Carried::Message { segment } => {
            let (full, last) = cut(segment);
            vec![(full, PacketClass::Message, segment), (1, PacketClass::Message, last.next_multiple_of(8))]
        }
        Carried::Stream { mtu } => {
            let (full, last) = cut(mtu);
            vec![
                (full.min(1), PacketClass::DataStreamingStart, mtu),
                (full.saturating_sub(1), PacketClass::DataStreamingContinuation, mtu),
                (1, PacketClass::DataStreamingStart, last.next_multiple_of(2)),
            ]
        }
        Carried::Read => vec![(1, PacketClass::Read, 0)],
        Carried::Write => vec![(1, PacketClass::Write, octets.next_multiple_of(8))],
    }
}

/// Octets of each of these packets without what a link adds, in order. `None`: one of them cannot be.
pub(super) fn octets_of(packets: Vec<(u32, PacketClass, u32)>, ids: IdSize) -> Option<Vec<u32>> {
    let all = packets.into_iter().filter(|(count, ..)| *count > 0).map(|(count, class, payload)| {
        let octets = packet_bytes(class, ids, payload, AddressSize::Bits34).ok()?;
        Some(std::iter::repeat_n(octets, count as usize))
    });
    Some(all.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Characters on a link of what carries so many octets; `packet` knows those of a packet with its delimiter.
pub(super) fn chars(kind: Carried, octets: u32, packet: &dyn Fn(PacketClass, u32) -> u128) -> u128 {
    let all = packets(kind, octets).into_iter().filter(|(count, ..)| *count > 0);
    all.map(|(count, class, payload)| u128::from(count) * packet(class, payload)).sum()
}

/// Characters of a packet of a class with so much payload, with its delimiter.
pub(super) type Packet<'a> = &'a dyn Fn(PacketClass, u32) -> u128;

/// Mean time that a message with all delimiters keeps the injection link busy, in picoseconds, exactly; its
/// responses go the other way. `whole` gives its characters on the link.
pub(super) fn mean_time(
    c: &Compiler<'_>,
    source: usize,
    sizes: &[Sized],
    whole: &dyn Fn(Packet<'_>, u32) -> u128,
) -> Ratio {
    let Some((link, _, _)) = c.neighbours[source][0] else { return Ratio::whole(1) };
    let wire = &c.wires[link];
    let packet = |class: PacketClass, payload: u32| {
        let octets = packet_bytes(class, c.id_size(), payload, AddressSize::Bits34);
        let octets = wire.symbol.packet_bytes_on_link(octets.expect("segments fit into packets"));
        u128::from(octets + wire.symbol.delimiter_chars())
    };
    let weights: u128 = sizes.iter().map(|(weight, _)| u128::from(*weight)).sum();
    let sum: u128 = sizes
        .iter()
        .map(|(weight, size)| u128::from(*weight) * whole(&packet, u32::from(size.payload)))
        .sum();
    let one = wire.rate.character_ps(wire.width);
    Ratio::new(sum * u128::from(one.numerator), weights.max(1) * u128::from(one.denominator))
}

/// The MTU of type 9, of the whole system. `None`: there can be none like that, and [`check`] says so.
pub(super) fn mtu(spec: &Spec) -> Option<Mtu> {
    Mtu::from_bytes(mtu_octets(spec)).ok()
}

/// Its octets, as they are written.
pub(super) fn mtu_octets(spec: &Spec) -> u16 {
    let mtu = spec.traffic.iter().find_map(|flow| flow.streams.as_ref()?.mtu);
    mtu.unwrap_or(Mtu::MAX.octets() as u16)
}

/// Flows have streams of their own, above those that session management hands out, also for vendors: two
/// protocols cannot send in one stream, each with a priority of its own.
pub(super) fn stream_of(flow: u16) -> u16 {
    const FIRST: u16 = 0xF000;
    const MANY: u16 = 0x0FFF;
    if flow < MANY { FIRST + flow } else { flow }
}

fn protocol(spec: &FlowSpec, flow: u16) -> ProtocolConfig {
    let carrier = match carried(spec) {
        Carried::Message { segment } => {
            Carrier::Message { mailbox: *filled(&filled(&spec.messages).mailbox), segment: segment as u16 }
        }
        Carried::Stream { .. } => {
            Carrier::Stream { cos: *filled(&filled(&spec.streams).cos), stream_id: stream_of(flow) }
        }
        Carried::Read => Carrier::Read,
        Carried::Write => Carrier::Write,
    };
    match &spec.rpc {
        None => ProtocolConfig::Workload { carrier },
        Some(rpc) => ProtocolConfig::Rpc {
            carrier,
            // A write is answered without data.
            answer: if carrier == Carrier::Write { 0 } else { *filled(&rpc.response) },
            timeout: filled(&rpc.timeout).get(),
        },
    }
}
