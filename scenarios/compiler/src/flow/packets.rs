//! Packets without hosts: a kind of packet of some sizes, or a trace.

use super::place::known_destination;
use super::{Kind, Sized, Traffic, arrival};
use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use crate::plan::Offered;
use crate::spec::*;
use crate::units::{self, Ratio};
use models::config::*;
use models::lp_serial::cost::{AddressSize, PacketClass, packet_bytes};
use models::sim_core::Time;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lines of a trace that are shown with what is wrong with them.
const FAULTS_MAX: usize = 5;

/// Flows that name no protocol.
pub(super) struct Packets;

impl Kind for Packets {
    fn keys(&self) -> &'static [&'static str] {
        &["packet"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.packet.is_some())
    }

    fn has_hosts(&self) -> bool {
        false
    }

    fn expand(&self, flow: &mut FlowSpec) {
        if matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) {
            return;
        }
        flow.size.get_or_insert(SizeSpec::Fixed(default_payload(flow.packet)));
        flow.packet.get_or_insert(PacketKind::Nwrite);
        if super::idle::addresses(flow) {
            flow.address_bits.get_or_insert(34);
        }
    }

    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
        sizes(c, at, flow)
    }

    fn mean_time(&self, c: &Compiler<'_>, source: usize, _: &FlowSpec, sizes: &[Sized]) -> Ratio {
        mean_packet_time(c, source, sizes)
    }
}

fn default_payload(packet: Option<PacketKind>) -> u32 {
    match packet {
        Some(PacketKind::Nread | PacketKind::Doorbell) => 0,
        _ => 256,
    }
}

impl Traffic<'_> {
    /// The packets of a trace.
    pub(super) fn trace(
        &mut self,
        c: &mut Compiler<'_>,
        at: &str,
        index: u16,
        flow: &FlowSpec,
        trace: &TraceSpec,
    ) {
        let rows_at = format!("{at}/arrivals/trace");
        let rows = trace.rows.as_deref().unwrap_or_default();
        let mut by_source: BTreeMap<usize, Vec<ReplayPacket>> = BTreeMap::new();
        let owned = c.ids.iter().enumerate().filter(|(_, id)| **id != NO_OWNER);
        let owners: BTreeMap<u32, usize> = owned.map(|(device, &id)| (id, device)).collect();
        let mut faults = 0;
        let (start, stop) = arrival::window(c, at, flow);
        let mut late: Option<(usize, u64)> = None;
        let mut unsent = 0;
        for (i, row) in rows.iter().enumerate() {
            match trace_row(c, &owners, row) {
                Ok((source, packet)) => {
                    if packet.at >= stop && flow.stop.is_none() {
                        late.get_or_insert((i, packet.at.0));
                        unsent += 1;
                    }
                    by_source.entry(source).or_default().push(packet);
                }
                Err(why) => {
                    faults += 1;
                    if faults <= FAULTS_MAX {
                        let message = format!("packet {} of the trace (\"{row}\"): {why}", i + 1);
                        let help = "a line is time_ps,src,dst,bytes,prio,ftype";
                        c.out.push(Diagnostic::error("SC044", rows_at.clone(), message).help(help));
                    }
                }
            }
        }
        if let Some(more) = faults.checked_sub(FAULTS_MAX).filter(|more| *more > 0) {
            let message = format!("{} of the trace are wrong as well", count(more, "more packet"));
            c.out.push(Diagnostic::error("SC044", rows_at.clone(), message));
        }
        if let Some((i, time)) = late {
            let row = &rows[i];
            let (time, until) = (units::time_text(time), units::time_text(stop.0));
            let more = match unsent - 1 {
                0 => String::new(),
                1 => ", and 1 more is not".to_owned(),
                more => format!(", and {more} more are not"),
            };
            let message = format!(
                "packet {} of the trace (\"{row}\") is not sent{more}: it comes at {time}, \
                 the run is over at {until}",
                i + 1
            );
            let at = rows_at.clone();
            // Who makes a run shorter cuts its traces off, too: that takes one change of a file. A flow of
            // which nothing is left is another matter.
            let cut_off = "nothing to do if that is meant: \"stop\" says so, and is not told";
            let found = match unsent == rows.len() {
                true => Diagnostic::error("SC120", at, message).help("a longer \"run.until\"").beyond_run(),
                false => Diagnostic::warning("SC120", at, message).help(cut_off),
            };
            c.out.push(found);
        }
        if rows.is_empty() {
            let message = "the trace has no packets";
            c.once(Diagnostic::error("SC044", rows_at, message).help("give \"file\" or \"rows\""));
        }
        let sources = by_source.len() as u32;
        for (source, mut packets) in by_source {
            packets.sort_by_key(|packet| packet.at);
            self.check_reach(
                c,
                at,
                source,
                &Destinations::Cycle(Arc::new(packets.iter().map(|p| p.destination).collect())),
            );
            self.sources.push(SourceConfig {
                endpoint: source as u32,
                flow: index,
                stream: format!("{}/{}/0", c.graph.nodes[source].name, flow.name),
                priority: flow.priority.unwrap_or(0),
                start,
                stop,
                goes_on: stop >= c.run.until,
                limit: flow.limit.unwrap_or(u64::MAX),
                arrivals: Arrivals::Replay(Arc::new(packets)),
                destinations: Destinations::Replay,
                sizes: Sizes::Replay,
                ftype: 0,
            });
        }
        self.demand.offered.push(Offered { flow: index, sources, load: None, load_most: None });
    }
}

pub(super) fn class(kind: PacketKind) -> PacketClass {
    match kind {
        PacketKind::Nwrite => PacketClass::Write,
        PacketKind::Swrite => PacketClass::StreamWrite,
        PacketKind::Nread => PacketClass::Read,
        PacketKind::DataStreaming => PacketClass::DataStreamingStart,
        PacketKind::Doorbell => PacketClass::Doorbell,
        PacketKind::Message => PacketClass::Message,
        PacketKind::Response => PacketClass::Response,
    }
}

/// Sizes of a flow on an 8b/10b link.
fn sizes(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
    let kind = class(*filled(&flow.packet));
    let address = match flow.address_bits {
        Some(66) => AddressSize::Bits66,
        Some(50) => AddressSize::Bits50,
        _ => AddressSize::Bits34,
    };
    let parts: Vec<(u32, u32, String)> = match flow.size.as_ref()? {
        SizeSpec::Fixed(payload) => vec![(1, *payload, format!("{at}/size"))],
        SizeSpec::Mix(list) => {
            let at = |i: usize| format!("{at}/size/{i}/payload");
            list.iter().enumerate().map(|(i, part)| (part.weight, part.payload, at(i))).collect()
        }
    };
    let total: u64 = parts.iter().map(|part| u64::from(part.0)).sum();
    if total == 0 || total > u64::from(u32::MAX) {
        let message = "the weights do not sum to a positive 32-bit number";
        c.once(Diagnostic::error("SC008", format!("{at}/size"), message));
        return None;
    }
    let mut sizes = Vec::new();
    for (weight, payload, pointer) in parts {
        match packet_bytes(kind, c.id_size(), payload, address) {
            Ok(wire) => sizes.push((weight, PacketSize { payload: payload as u16, wire: wire as u16 })),
            Err(error) => {
                let message = format!("a packet cannot carry {payload} octets");
                c.once(Diagnostic::error("SC041", pointer, message).help(error.to_string()));
                return None;
            }
        }
    }
    // A weight of 0 is never drawn.
    sizes.retain(|(weight, _)| *weight > 0);
    Some(sizes)
}

/// Mean time that a packet with its delimiter keeps the injection link busy, in picoseconds, exactly.
fn mean_packet_time(c: &Compiler<'_>, source: usize, sizes: &[Sized]) -> Ratio {
    let Some((link, _, _)) = c.neighbours[source][0] else { return Ratio::whole(1) };
    let wire = &c.wires[link];
    let on_link = |size: &PacketSize| wire.symbol.packet_bytes_on_link(size.wire.into());
    let chars = |size: &PacketSize| u128::from(on_link(size) + wire.symbol.delimiter_chars());
    let weights: u128 = sizes.iter().map(|(w, _)| u128::from(*w)).sum();
    let chars: u128 = sizes.iter().map(|(w, size)| u128::from(*w) * chars(size)).sum();
    let one = wire.rate.character_ps(wire.width);
    Ratio::new(chars * u128::from(one.numerator), weights.max(1) * u128::from(one.denominator))
}

/// One line of a trace: source device and packet.
fn trace_row(
    c: &Compiler<'_>,
    owners: &BTreeMap<u32, usize>,
    row: &str,
) -> Result<(usize, ReplayPacket), String> {
    let fields: Vec<&str> = row.split(',').map(str::trim).collect();
    let [time, src, dst, bytes, prio, ftype] = fields[..] else {
        return Err(format!("{} fields instead of 6", fields.len()));
    };
    let id = |text: &str| match known_destination(c, text) {
        Some(id) => Some(id),
        None => text.parse().ok().filter(|id| owners.contains_key(id) || c.groups.values().any(|g| g == id)),
    };
    let at = time.parse::<u64>().map_err(|_| format!("\"{time}\" is not a time in picoseconds"))?;
    let source = id(src).and_then(|id| owners.get(&id).copied());
    let source = source.ok_or_else(|| format!("\"{src}\" is not an endpoint"))?;
    let destination = id(dst).ok_or_else(|| format!("\"{dst}\" is not a destination"))?;
    let payload = bytes.parse::<u32>().map_err(|_| format!("\"{bytes}\" is not a number of octets"))?;
    let priority = prio.parse::<u8>().ok().filter(|p| *p < 4);
    let priority = priority.ok_or_else(|| format!("\"{prio}\" is not a priority from 0 to 3"))?;
    let kind = match ftype {
        "2" => PacketClass::Read,
        "5" => PacketClass::Write,
        "6" => PacketClass::StreamWrite,
        "9" => PacketClass::DataStreamingStart,
        "10" => PacketClass::Doorbell,
        "11" => PacketClass::Message,
        "13" => PacketClass::Response,
        other => return Err(format!("type {other} is not one of 2, 5, 6, 9, 10, 11, 13")),
    };
    let wire = packet_bytes(kind, c.id_size(), payload, AddressSize::Bits34).map_err(|e| e.to_string())?;
    let size = PacketSize { payload: payload as u16, wire: wire as u16 };
    Ok((source, ReplayPacket { at: Time(at), destination, size, priority, ftype: kind.ftype() }))
}
