//! The nodes of the vectors, a script for one of them, and a medium between both.
#![allow(dead_code, reason = "each test file uses a part")]

use linx_riocm::options::{MILLISECOND, Opening};
use linx_riocm::wire::{Address, Data, DataKind, Frame, Message, Packet};
use linx_riocm::{Config, ConnectionId, Event, Node, Options, Peer, Phase};

pub fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

pub fn hex(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// `count` octets that count up from `first`.
pub fn pay(count: usize, first: u8) -> Vec<u8> {
    (0..count).map(|index| first.wrapping_add(index as u8)).collect()
}

pub const X_TO_Y: Address = Address { dst_port: 2, sender: 1, src_port: 1 };
pub const REQUEST_X: &str = "22cf000c810101000002000500010001";
pub const REQUEST_Y: &str = "22cf000c814200800001000a00020002";
pub const ACK_Y: &str = "22cf000e824200800001010a000200020022";
pub const ACK_X: &str = "22cf000e820100800002420a000100010011";
pub const RESET_X: &str = "22cf000c830100000002000000010001";
pub const RESET_Y: &str = "22cf000c834200000001000000020002";
pub const HEARTBEAT_X: &str = "22cf000c060000000002002200010001";
pub const HEARTBEAT_Y: &str = "22cf000c060000000001001100020002";
pub const SINGLE_X: &str = "22cf00200101000000020022000100010000000500000009000000080001020304050607";

/// One node with one connection.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct End {
    pub node: Node,
    pub id: ConnectionId,
    pub now: u64,
}

impl End {
    pub fn new(device: u16, first_cid: u16, peer: Peer, options: Options) -> Self {
        let mut node = Node::new(Config { device, first_cid, options }).unwrap();
        let id = node.add(peer).unwrap();
        Self { node, id, now: 0 }
    }

    /// X of the vectors.
    pub fn x(options: Options) -> Self {
        let peer = Peer { device: 2, port: 2, local_port: 1, mtu: 256, hb_tmo: 5, generation: 1 };
        Self::new(1, 0x11, peer, options)
    }

    /// Y of the vectors.
    pub fn y(options: Options) -> Self {
        let peer = Peer { device: 1, port: 1, local_port: 2, mtu: 128, hb_tmo: 10, generation: 0x42 };
        Self::new(2, 0x22, peer, options)
    }

    /// Y after its connect, with its REQ sent.
    pub fn connecting(options: Options) -> Self {
        let mut end = Self::y(options);
        end.node.connect(0, end.id);
        assert_eq!(end.sent(), [REQUEST_Y]);
        end
    }

    /// Y after the REQ of X and its own ACK.
    pub fn acked(options: Options) -> Self {
        let mut end = Self::connecting(options);
        end.hear(REQUEST_X);
        assert_eq!(end.sent(), [ACK_Y]);
        end
    }

    /// Y, up since time 0. Whether X is, Y does not know.
    pub fn unproved(options: Options) -> Self {
        let opening = options.opening;
        let mut end = Self::acked(options);
        end.hear(ACK_X);
        let sent: &[&str] = if opening == Opening::Proved { &[ACK_Y, HEARTBEAT_Y] } else { &[ACK_Y] };
        assert_eq!((end.sent(), end.told()), (sent.iter().map(|&s| s.into()).collect(), vec!["Up".into()]));
        end
    }

    /// Y, up with X since time 0.
    pub fn connected(options: Options) -> Self {
        let mut end = Self::unproved(options);
        end.hear(HEARTBEAT_X);
        assert!(end.node.is_drained());
        end.node.take_counters();
        end
    }

    /// Y after a malformed packet.
    pub fn resetting(options: Options) -> Self {
        let mut end = Self::connected(options);
        end.hear("22cf000c070100000002002200010001");
        assert_eq!((end.sent(), end.told()), (vec![RESET_Y.into()], vec![]));
        end
    }

    pub fn phase(&self) -> Phase {
        self.node.phase(self.id)
    }

    pub fn hear(&mut self, frame: &str) {
        self.node.handle_frame(self.now, &octets(frame));
    }

    pub fn hear_data(&mut self, dst_cid: u16, seqno: u16, kind: DataKind, msgid: u8, payload: &[u8]) {
        let mut frame = vec![];
        let data = Data { dst_cid, seqno, msgid, kind, payload };
        Frame { address: X_TO_Y, packet: Packet::Data(data) }.emit(&mut frame);
        self.node.handle_frame(self.now, &frame);
    }

    /// A SINGLE whose octets say its number.
    pub fn hear_single(&mut self, seqno: u16) {
        let kind = DataKind::Single(Message { src: 5, dst: 9, payl_size: 2 });
        self.hear_data(0x22, seqno, kind, 0, &seqno.to_be_bytes());
    }

    /// Runs every timer up to `now`.
    pub fn wait(&mut self, now: u64) {
        while let Some(at) = self.node.poll_timeout().filter(|&at| at <= now) {
            self.node.handle_timeout(at);
        }
        self.now = now;
    }

    /// Frames to be sent, as hex digits.
    pub fn sent(&mut self) -> Vec<String> {
        let mut frames = vec![];
        while let Some(frame) = self.node.poll_transmit() {
            frames.push(hex(frame.octets));
        }
        frames
    }

    /// Events in short.
    pub fn told(&mut self) -> Vec<String> {
        let mut told = vec![];
        while let Some(event) = self.node.poll_event() {
            told.push(match event {
                Event::Connected { .. } => "Up".into(),
                Event::Disconnected { reason, .. } => format!("Down({reason})"),
                Event::Deliver { .. } => "Deliver".into(),
            });
        }
        told
    }

    /// What [`hear_single`](Self::hear_single) brought.
    pub fn delivered(&mut self) -> Vec<u16> {
        let mut numbers = vec![];
        while let Some(event) = self.node.poll_event() {
            if let Event::Deliver { delivery, .. } = event {
                numbers.push(u16::from_be_bytes(delivery.octets.try_into().unwrap()));
            }
        }
        numbers
    }

    /// Frames and events in short, and where the connection went.
    pub fn effect(&mut self, before: Phase) -> String {
        let mut effect = vec![];
        while let Some(frame) = self.node.poll_transmit() {
            let kind = Frame::parse(frame.octets).unwrap().packet.kind();
            effect.push(kind.name().trim_start_matches("RIO_").trim_start_matches("CONN_").to_string());
        }
        effect.extend(self.told());
        if self.phase() != before {
            effect.push(format!("-> {:?}", self.phase()));
        }
        effect.join(" ")
    }
}

pub const fn ms(time: u64) -> u64 {
    time * MILLISECOND
}

/// A small generator, so that a test is one number.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }

    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }
}
