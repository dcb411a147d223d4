//! Ethernet frames in streams, and nodes between the fabric and an Ethernet (Annex 2 §7).
//!
//! A PDU is a frame from its destination address to the end of its payload: no preamble, no frame check
//! sequence. MTU counts its payload alone.

use alloc::collections::BTreeMap;

/// EtherTypes of VLAN tags.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xA8]];

/// Whether a frame has a VLAN tag.
#[must_use]
pub fn is_tagged(frame: &[u8]) -> bool {
    frame.get(12..14).is_some_and(|kind| TAGS.iter().any(|tag| tag == kind))
}

/// Destination and source address of a frame.
#[must_use]
pub fn addresses(frame: &[u8]) -> Option<([u8; 6], [u8; 6])> {
    let (destination, rest) = frame.split_first_chunk()?;
    Some((*destination, *rest.first_chunk()?))
}

/// Whether an address names a group. Multicast is treated as broadcast.
#[must_use]
pub const fn is_group(address: [u8; 6]) -> bool {
    address[0] & 1 == 1
}

/// A side of an ingress/egress node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Port {
    /// A node of the fabric, by its stream.
    Node(u16),
    /// What came from this node on StreamID 0xF000.
    NodeBroadcast(u16),
    /// What a broadcast server repeats on StreamID 0xF000: that does not say where it came from.
    Repeated,
    /// An Ethernet port.
    External(u8),
}

/// Where a frame goes.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Forward {
    /// To this node, by its stream.
    pub node: Option<u16>,
    /// To this Ethernet port.
    pub external: Option<u8>,
    /// To all Ethernet ports but the one it came from.
    pub flood: bool,
    /// To the fabric, by the broadcast mechanism.
    pub broadcast: bool,
}

/// An ingress/egress node as a layer-2 switch: it learns where addresses are.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Bridge {
    /// Whether broadcasts pass between fabric and Ethernet.
    pub broadcasts: bool,
    learnt: BTreeMap<[u8; 6], Port>,
}

impl Bridge {
    /// A bridge that knows no address.
    #[must_use]
    pub const fn new(broadcasts: bool) -> Self {
        Self { broadcasts, learnt: BTreeMap::new() }
    }

    /// Where an address was seen last.
    #[must_use]
    pub fn port(&self, address: [u8; 6]) -> Option<Port> {
        self.learnt.get(&address).copied()
    }

    /// Teaches it where an address is: that of a node came with its OPEN or ACCEPT (MAC_ADDRESS).
    pub fn learn(&mut self, address: [u8; 6], port: Port) {
        self.learnt.insert(address, port);
    }

    /// Where a frame goes that came from `port`. A frame that came on StreamID 0xF000 never goes back into
    /// the fabric: everybody has it already. A frame for an unknown address goes everywhere else.
    pub fn forward(&mut self, port: Port, frame: &[u8]) -> Forward {
        let Some((destination, source)) = addresses(frame) else { return Forward::default() };
        if !is_group(source) && port != Port::Repeated {
            let port = if let Port::NodeBroadcast(node) = port { Port::Node(node) } else { port };
            self.learnt.insert(source, port);
        }
        let from_external = matches!(port, Port::External(_));
        let everywhere = Forward { flood: true, broadcast: from_external, ..Forward::default() };
        if is_group(destination) {
            return if self.broadcasts { everywhere } else { Forward::default() };
        }
        match (self.port(destination), port) {
            (Some(known), port) if known == port => Forward::default(),
            (Some(Port::External(to)), _) => Forward { external: Some(to), ..Forward::default() },
            (Some(_), Port::NodeBroadcast(_) | Port::Repeated) => Forward::default(),
            (Some(Port::Node(to) | Port::NodeBroadcast(to)), _) => {
                Forward { node: Some(to), ..Forward::default() }
            }
            (None | Some(Port::Repeated), _) => everywhere,
        }
    }
}

/// What a vendor's broadcast server does with a frame: a client sends it on its stream to the server, and the
/// server broadcasts it. What the server itself receives as a broadcast it never sends again.
#[must_use]
pub const fn server_relays(stream: u16) -> bool {
    stream != crate::protocol::BROADCAST_STREAM
}
