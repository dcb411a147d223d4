//! Frames that a scenario sends in the name of a node: what its connection would have put into them.

use linx_riocm::wire::{Kind, View};
use linx_riocm::{ConnectionId, Node};

/// What the present connection would put into a frame. Of one that is not up it knows less.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Stamp {
    generation: u8,
    generation_ack: u8,
    dst_port: u16,
    src_port: u16,
    sender: u16,
    dst_cid: u16,
    my_cid: u16,
    seqno: u16,
}

impl Stamp {
    /// Of the connection of a node.
    pub fn of(node: &Node, id: ConnectionId) -> Self {
        let (peer, link) = (node.peer(id), node.link(id));
        Self {
            generation: node.generation(id),
            generation_ack: link.map_or(0, |link| link.peer_generation),
            dst_port: peer.port,
            src_port: peer.local_port,
            sender: node.device(),
            dst_cid: link.map_or(0, |link| link.peer_cid),
            my_cid: link.map_or(0, |link| link.cid),
            seqno: node.next_seqno(id),
        }
    }

    /// Adds all this to the fields of a frame, as far as they are there. One of no known type has those of
    /// RESET or of HEARTBEAT.
    pub fn add_to(&self, octets: &mut [u8]) {
        let Some(code) = View::new(octets).type_code() else { return };
        let unknown = if code & 0x80 != 0 { Kind::Reset } else { Kind::Heartbeat };
        let kind = Kind::from_code(code).unwrap_or(unknown);
        for (name, bits, _) in kind.fields().iter().copied().flatten() {
            let base = match *name {
                "generation" => self.generation.into(),
                "generation_ack" => self.generation_ack.into(),
                "dst_port" => self.dst_port,
                "src_port" => self.src_port,
                "sender" => self.sender,
                "dst_cid" => self.dst_cid,
                "my_cid" => self.my_cid,
                "seqno" => self.seqno,
                _ => continue,
            };
            let place = (bits.start / 8) as usize..(bits.end / 8) as usize;
            match octets.get_mut(place) {
                Some([octet]) => *octet = octet.wrapping_add(base as u8),
                Some([high, low]) => {
                    let sum = u16::from_be_bytes([*high, *low]).wrapping_add(base);
                    [*high, *low] = sum.to_be_bytes();
                }
                _ => {}
            }
        }
    }
}
