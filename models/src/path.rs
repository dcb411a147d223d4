//! What a path through the fabric takes without competition: closed forms that reports and defaults use.

use crate::config::{DeviceModel, Egress, FabricConfig, Forwarding, LinkConfig};
use logical::engine::stream::Mtu;
use lp_serial::cost::{AddressSize, IdSize, PacketClass, idle3_packet_bytes, packet_bytes};
use std::collections::BTreeMap;

/// One link on the way, with what comes behind it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Time of a character: numerator and denominator, ps.
    pub char_ps: (u64, u64),
    /// Characters of a delimiter.
    pub delimiter: u32,
    /// From the last bit sent to the packet accepted: the link, and the pipeline of the device behind it, ps.
    pub after: u64,
}

impl Hop {
    /// How long packets of these octets keep the link busy, ps, rounded up.
    pub fn busy(&self, packets: &[u32]) -> u64 {
        let chars: u64 = packets.iter().map(|octets| u64::from(octets + self.delimiter)).sum();
        (chars * self.char_ps.0).div_ceil(self.char_ps.1)
    }
}

/// The links from an endpoint to the owner of a destination id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// In order.
    pub hops: Vec<Hop>,
}

/// A fabric with its links by port.
#[derive(Clone, Debug)]
pub struct Roads<'a> {
    config: &'a FabricConfig,
    links: BTreeMap<(u32, u8), &'a LinkConfig>,
}

impl<'a> Roads<'a> {
    /// The links of a fabric.
    pub fn new(config: &'a FabricConfig) -> Self {
        let ends = config.links.iter().flat_map(|link| [(link.a, link), (link.b, link)]);
        Roads { config, links: ends.collect() }
    }

    /// Follows the routes from an endpoint to the owner of an id. `None` if packets do not arrive, or are
    /// copied on the way.
    pub fn path(&self, from: u32, to: u32) -> Option<Path> {
        let config = self.config;
        let mut hops = Vec::new();
        let (mut device, mut port) = (from, 0);
        // A device is left once at most, unless packets go round.
        for _ in 0..config.devices.len() {
            let link = self.links.get(&(device, port))?;
            (device, _) = if link.a == (device, port) { link.b } else { link.a };
            let mut hop =
                Hop { char_ps: link.char_ps, delimiter: link.symbol_chars.into(), after: link.propagation.0 };
            let DeviceModel::Switch(switch) = &config.devices[device as usize].model else {
                hops.push(hop);
                let arrived = config.owners.get(to as usize) == Some(&device);
                return arrived.then_some(Path { hops });
            };
            hop.after += switch.pipeline.0;
            hops.push(hop);
            let Egress::Port(next) = switch.routes.entries.get(to as usize)?.egress else { return None };
            port = next;
        }
        None
    }
}

impl Path {
    /// Whether every switch takes a packet in whole before it sends it on: then [`latency`](Self::latency) is
    /// exact.
    pub fn is_store_and_forward(config: &FabricConfig) -> bool {
        config.devices.iter().all(|device| match &device.model {
            DeviceModel::Switch(switch) => matches!(switch.forwarding, Forwarding::StoreAndForward),
            DeviceModel::Endpoint(_) => true,
        })
    }

    /// From the start of the first packet to the end of the last at the destination, ps.
    pub fn latency(&self, packets: &[u32]) -> u64 {
        let mut ready = vec![0; packets.len()];
        self.pass(packets, &mut ready);
        ready.last().copied().unwrap_or(0)
    }

    /// From when packets may begin to leave, each, to when they are at the destination, ps. They keep their
    /// order.
    pub fn pass(&self, packets: &[u32], ready: &mut [u64]) {
        for hop in &self.hops {
            let mut free = 0;
            for (ready, &octets) in ready.iter_mut().zip(packets) {
                free = free.max(*ready) + hop.busy(&[octets]);
                *ready = free + hop.after;
            }
        }
    }

    /// How long its slowest link is busy with these packets, ps.
    pub fn busy(&self, packets: &[u32]) -> u64 {
        self.hops.iter().map(|hop| hop.busy(packets)).max().unwrap_or(0)
    }
}

/// Octets on the wire of the packets of a type 9 PDU.
pub fn pdu_packets(octets: u32, mtu: Mtu, ids: IdSize, idle3: bool) -> Vec<u32> {
    let mtu = mtu.octets() as u32;
    let packet = |class, payload: u32| {
        let wire = packet_bytes(class, ids, payload.next_multiple_of(2), AddressSize::Bits34);
        let wire = wire.expect("segments fit into packets");
        if idle3 { idle3_packet_bytes(wire) } else { wire }
    };
    let (full, last) = (octets.saturating_sub(1) / mtu, octets.saturating_sub(1) % mtu + 1);
    let mut packets = Vec::new();
    if full > 0 {
        packets.push(packet(PacketClass::DataStreamingStart, mtu));
        packets.extend((1..full).map(|_| packet(PacketClass::DataStreamingContinuation, mtu)));
    }
    // An end segment has a length, like a single one.
    packets.push(packet(PacketClass::DataStreamingStart, last));
    packets
}
