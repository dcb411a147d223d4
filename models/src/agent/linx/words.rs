//! What happens, in the words of charts.

use linx_riocm::wire::{Frame, Packet};
use linx_riocm::{Link, Reason};

/// A frame in words.
pub(super) fn frame_words(octets: &[u8]) -> String {
    let Ok(Frame { packet, .. }) = Frame::parse(octets) else {
        return format!("{} octets", octets.len());
    };
    match packet {
        Packet::Request { generation, mtu, hb_tmo } => format!("REQ {generation} ({mtu}, {hb_tmo})"),
        Packet::Ack { generation, mtu_ack, generation_ack, hb_tmo_ack, my_cid } => {
            format!("ACK {generation} to {generation_ack} ({mtu_ack}, {hb_tmo_ack}), cid {my_cid}")
        }
        Packet::Reset { generation } => format!("RESET {generation}"),
        Packet::Heartbeat { .. } => "HEARTBEAT".into(),
        Packet::Data(data) => {
            let name = data.kind.kind().name().trim_start_matches("RIO_");
            format!("{name} {}, message {}, {} octets", data.seqno, data.msgid, data.payload.len())
        }
    }
}

/// A connection that is up, in words.
pub(super) fn up_words(link: &Link) -> String {
    format!("up: MTU {}, hb_tmo {}", link.mtu, link.hb_tmo)
}

/// A connection that is not any more, in words.
pub(super) fn down_words(reason: Reason) -> String {
    format!("ended: {reason}")
}
