//! Ethernet frames of a run as a pcapng file, for the tools that read such files.
//!
//! One interface for each endpoint that sent a frame; each frame once, where it left, with its instant in
//! picoseconds. Block and option numbers are those of the pcapng format.

use crate::trace::Filter;
use models::Probe;
use models::config::{FabricConfig, Medium, ProtocolConfig};
use models::probe::{Signal, SignalKind};
use models::sim_core::Time;
use std::collections::BTreeMap;

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Tells the byte order, which is little-endian.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const ETHERNET: u16 = 1;
const PROGRAM: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const TIME_RESOLUTION: u16 = 9;
/// 10^-12 seconds.
const PICOSECONDS: u8 = 12;
const FRAME_CHECK_OCTETS: u16 = 13;
const DIRECTION: u16 = 2;
const OUTBOUND: u32 = 2;

/// Keeps the frames that pass a filter.
#[derive(Debug)]
pub struct Capture {
    filter: Filter,
    /// (when, device, octets).
    frames: Vec<(Time, u32, Vec<u8>)>,
}

impl Capture {
    /// Of the devices, flows and the time of a filter.
    #[must_use]
    pub const fn new(filter: Filter) -> Self {
        Self { filter, frames: Vec::new() }
    }

    /// Lets the ends of Scheduled Transfer tell of their frames, if they are of Ethernet; whether there are
    /// any.
    pub fn prepare(config: &mut FabricConfig) -> bool {
        let mut found = false;
        for part in config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
            if let ProtocolConfig::Transfer(transfer) = &mut part.protocol
                && matches!(transfer.medium, None | Some(Medium::Ethernet))
            {
                transfer.captured = true;
                found = true;
            }
        }
        found
    }

    /// Frames kept.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The file.
    #[must_use]
    pub fn to_pcapng(&self, config: &FabricConfig) -> Vec<u8> {
        let mut file = Vec::new();
        let mut body = BYTE_ORDER.to_le_bytes().to_vec();
        body.extend(1u16.to_le_bytes());
        body.extend(0u16.to_le_bytes());
        // The length of the section is not said.
        body.extend(u64::MAX.to_le_bytes());
        option(&mut body, PROGRAM, b"riosim");
        block(&mut file, SECTION_HEADER, body);
        let senders: BTreeMap<u32, u32> = self.frames.iter().map(|(_, device, _)| (*device, 0)).collect();
        let senders: BTreeMap<u32, u32> = senders.into_keys().zip(0..).collect();
        for device in senders.keys() {
            let mut body = ETHERNET.to_le_bytes().to_vec();
            // Reserved, and no limit of octets.
            body.extend([0; 6]);
            option(&mut body, INTERFACE_NAME, config.devices[*device as usize].path.as_bytes());
            option(&mut body, TIME_RESOLUTION, &[PICOSECONDS]);
            option(&mut body, FRAME_CHECK_OCTETS, &[0]);
            block(&mut file, INTERFACE, body);
        }
        for (at, device, octets) in &self.frames {
            let mut body = senders[device].to_le_bytes().to_vec();
            body.extend(((at.0 >> 32) as u32).to_le_bytes());
            body.extend((at.0 as u32).to_le_bytes());
            body.extend((octets.len() as u32).to_le_bytes());
            body.extend((octets.len() as u32).to_le_bytes());
            body.extend(octets);
            pad(&mut body);
            option(&mut body, DIRECTION, &OUTBOUND.to_le_bytes());
            block(&mut file, ENHANCED_PACKET, body);
        }
        file
    }
}

impl Probe for Capture {
    fn signal(&mut self, signal: &Signal) {
        let passes = |set: &[bool], index: usize| set.is_empty() || set[index];
        if let SignalKind::Frame { octets } = &signal.kind
            && (self.filter.from..=self.filter.to).contains(&signal.at)
            && passes(&self.filter.devices, signal.device as usize)
            && passes(&self.filter.flows, signal.flow.into())
        {
            self.frames.push((signal.at, signal.device, octets.clone()));
        }
    }
}

fn pad(body: &mut Vec<u8>) {
    body.resize(body.len().next_multiple_of(4), 0);
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    pad(body);
}

/// A block; its options end here.
fn block(file: &mut Vec<u8>, kind: u32, mut body: Vec<u8>) {
    option(&mut body, 0, &[]);
    let length = body.len() as u32 + 12;
    file.extend(kind.to_le_bytes());
    file.extend(length.to_le_bytes());
    file.extend(body);
    file.extend(length.to_le_bytes());
}
