//! Blocks and options of the pcapng format, little-endian; numbers are those of the format.

const SECTION_HEADER: u32 = 0x0A0D_0D0A;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// Tells the byte order.
const BYTE_ORDER: u32 = 0x1A2B_3C4D;
const PROGRAM: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_DESCRIPTION: u16 = 3;
const TIME_RESOLUTION: u16 = 9;
const FRAME_CHECK_OCTETS: u16 = 13;
const DIRECTION: u16 = 2;
const OUTBOUND: u32 = 2;

/// Numbers of what interfaces carry.
pub(super) mod link_type {
    pub(in crate::capture) const ETHERNET: u16 = 1;
    /// The first of those that users give a meaning.
    pub(in crate::capture) const USER0: u16 = 147;
}

/// A file that begins with a section.
pub(super) fn section() -> Vec<u8> {
    let mut body = BYTE_ORDER.to_le_bytes().to_vec();
    body.extend(1u16.to_le_bytes());
    body.extend(0u16.to_le_bytes());
    // The length of the section is not said.
    body.extend(u64::MAX.to_le_bytes());
    option(&mut body, PROGRAM, b"riosim");
    let mut file = Vec::new();
    block(&mut file, SECTION_HEADER, body);
    file
}

/// An interface whose instants are multiples of 10^-`digits` seconds. They have numbers: 0, 1, ...
pub(super) fn interface(file: &mut Vec<u8>, link_type: u16, name: &str, description: &str, digits: u8) {
    let mut body = link_type.to_le_bytes().to_vec();
    // Reserved, and no limit of octets.
    body.extend([0; 6]);
    option(&mut body, INTERFACE_NAME, name.as_bytes());
    option(&mut body, INTERFACE_DESCRIPTION, description.as_bytes());
    option(&mut body, TIME_RESOLUTION, &[digits]);
    if link_type == link_type::ETHERNET {
        option(&mut body, FRAME_CHECK_OCTETS, &[0]);
    }
    block(file, INTERFACE, body);
}

/// Octets that leave through an interface at an instant, in its unit.
pub(super) fn record(file: &mut Vec<u8>, interface: u32, at: u64, octets: &[u8]) {
    let mut body = interface.to_le_bytes().to_vec();
    body.extend(((at >> 32) as u32).to_le_bytes());
    body.extend((at as u32).to_le_bytes());
    body.extend((octets.len() as u32).to_le_bytes());
    body.extend((octets.len() as u32).to_le_bytes());
    body.extend(octets);
    pad(&mut body);
    option(&mut body, DIRECTION, &OUTBOUND.to_le_bytes());
    block(file, ENHANCED_PACKET, body);
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
