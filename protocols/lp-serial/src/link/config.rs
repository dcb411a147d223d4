//! What a port is and how it is set up.

use crate::control_symbol::Form;
use crate::cost::{SymbolSize, Watermarks};
use crate::packet::Header;
use core::fmt;

/// How many of VC1 to VC8 are active beside VC0 (Part 6 §5.4.2, Table 5-1). A link end that knows fewer VCs
/// than its partner ignores the low bits of the VC name, so the name of a VC is stable.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Channels {
    /// Single-VC mode: VC0 alone.
    #[default]
    None,
    /// VC1.
    One,
    /// VC1 and VC5.
    Two,
    /// VC1, VC3, VC5, VC7.
    Four,
    /// VC1 to VC8.
    Eight,
}

impl Channels {
    /// Active VCs beside VC0: 0, 1, 2, 4, 8.
    #[must_use]
    pub const fn count(self) -> u8 {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Bits at the low end of a VC name that do not matter.
    const fn ignored_bits(self) -> u8 {
        match self {
            Self::None | Self::One => 3,
            Self::Two => 2,
            Self::Four => 1,
            Self::Eight => 0,
        }
    }

    /// Channel of a VCID, 0..=7: 1..=[`count`](Self::count), or 0 if no VC but VC0 is active.
    #[must_use]
    pub const fn channel_of(self, vcid: u8) -> u8 {
        if matches!(self, Self::None) { 0 } else { 1 + ((vcid & 7) >> self.ignored_bits()) }
    }

    /// VCID that names `channel`, 1..=[`count`](Self::count); bits that do not matter are 0.
    #[must_use]
    pub const fn vcid_of(self, channel: u8) -> u8 {
        (channel - 1) << self.ignored_bits()
    }
}

/// What happens to a damaged or refused packet of an optional VC (Part 6 §5.4.2). VC0 is always reliable.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Traffic {
    /// RT: sent again until it is accepted.
    #[default]
    Reliable,
    /// CT: lost.
    Continuous,
}

/// One of VC1 to VC8.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct VcConfig {
    /// Reliable or continuous.
    pub traffic: Traffic,
    /// Receive buffers of this VC, maximum-size packets, at least 1.
    pub buffers: u16,
    /// Share of the link relative to the shares of the other VCs, at least 1.
    pub share: u16,
}

impl Default for VcConfig {
    fn default() -> Self {
        Self { traffic: Traffic::Reliable, buffers: 4, share: 1 }
    }
}

/// Who looks after the receive buffers (Part 6 §5.9).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FlowControl {
    /// The receiver retries what it has no room for. Every port can do it.
    Receiver,
    /// The transmitter knows how many buffers are free.
    Transmitter,
}

/// A port. Both ends of a link have the same `form`, `channels` and `ack_id_in_pna`.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Config {
    /// Control symbols in use.
    pub form: Form,
    /// Packets that may be sent and not yet acknowledged, 1..=the ackID window of `form` (31 or 63).
    pub hold: u16,
    /// Submitted packets that may wait in the port, at least 1. Packets that come back do not count.
    pub queue: u16,
    /// Receive buffers of VC0, maximum-size packets, at least the highest of `accept`.
    pub buffers: u16,
    /// Free buffers of the partner that a priority needs, in transmitter-controlled mode.
    pub watermarks: Watermarks,
    /// Free buffers of this port that a packet of a priority needs to be accepted.
    pub accept: Watermarks,
    /// A freed buffer is told at once iff the last count told was at most this; otherwise it is told with the
    /// next symbol that has to be sent. At least the highest watermark less one, and more by what the partner
    /// can send until the next symbol is there: otherwise it may idle for a buffer that is free.
    pub eager_at: u16,
    /// Best flow control that the port can do; which is used is negotiated.
    pub flow: FlowControl,
    /// Active virtual channels.
    pub channels: Channels,
    /// VC1 to VC8 by channel; entries beyond [`Channels::count`] have no meaning.
    pub vcs: [VcConfig; 8],
    /// Share of VC0 if it takes part in the bandwidth reservation; `None`: strict priority over the others.
    pub vc0_share: Option<u16>,
    /// Whether CRF is understood: at equal priority CRF = 1 passes CRF = 0. Otherwise CRF is ignored.
    pub crf: bool,
    /// Error recovery with ackID in packet-not-accepted (optional for both 8b/10b symbols).
    pub ack_id_in_pna: bool,
    /// Whether recovery cancels a packet that is on the wire, or lets it end first.
    pub cancel: bool,
    /// Time from the start of a packet to its acknowledgement, and from link-request to link-response, ps,
    /// after which the answer counts as lost. Longer than any round trip with the packets that may be ahead.
    pub link_timeout: u64,
    /// Link-requests without an answer after which the port gives up (at least 1); `None`: never.
    pub response_attempts: Option<u8>,
    /// A symbol with buf_status of VC0 leaves at least so often, ps; `None`: the owner sees to it.
    pub status_period: Option<u64>,
    /// VC_status of every active VC leaves so often, ps; `None`: the owner sees to it.
    pub vc_refresh_period: Option<u64>,
}

impl Config {
    /// A single-VC port of `form` with `buffers` receive buffers: transmitter-controlled if the partner can
    /// do it too, watermarks 4, 3, 2, full ackID window, link timeout 4 s (Part 6 §6.6.2.2 asks for 3 to 6 s
    /// after reset), no periodic symbols.
    #[must_use]
    pub fn new(form: Form, buffers: u16) -> Self {
        let watermarks = Watermarks::default();
        let window = SymbolSize::from(form).ack_id_window();
        Self {
            form,
            hold: window,
            queue: window,
            buffers,
            watermarks,
            accept: watermarks,
            eager_at: watermarks.highest(),
            flow: FlowControl::Transmitter,
            channels: Channels::None,
            vcs: [VcConfig::default(); 8],
            vc0_share: None,
            crf: true,
            ack_id_in_pna: false,
            cancel: true,
            link_timeout: 4_000_000_000_000,
            response_attempts: None,
            status_period: None,
            vc_refresh_period: None,
        }
    }

    /// Checks what the fields demand of each other.
    ///
    /// # Errors
    /// The first field that breaks its rule.
    pub fn check(&self) -> Result<(), ConfigError> {
        let window = SymbolSize::from(self.form).ack_id_window();
        let active = &self.vcs[..usize::from(self.channels.count())];
        let reliable_first = active.is_sorted_by_key(|vc| vc.traffic == Traffic::Continuous);
        let rules = [
            (self.hold >= 1 && self.hold <= window, ConfigError::Hold { max: window, found: self.hold }),
            (self.queue >= 1, ConfigError::Queue),
            (
                self.buffers >= self.accept.highest(),
                ConfigError::Buffers { min: self.accept.highest(), found: self.buffers },
            ),
            (active.iter().all(|vc| vc.buffers >= 1 && vc.share >= 1), ConfigError::Vc),
            (self.vc0_share != Some(0), ConfigError::Vc),
            (reliable_first, ConfigError::ContinuousOrder),
            (self.link_timeout >= 1, ConfigError::LinkTimeout),
            (self.response_attempts != Some(0), ConfigError::Attempts),
        ];
        match rules.into_iter().find(|&(holds, _)| !holds) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// The channel (0 for VC0) of a packet.
    #[must_use]
    pub const fn channel(&self, meta: PacketMeta) -> u8 {
        if meta.vc { self.channels.channel_of(meta.prio << 1 | meta.crf as u8) } else { 0 }
    }

    /// Whether a channel, 0 for VC0, runs continuous traffic.
    #[must_use]
    pub fn is_continuous(&self, channel: u8) -> bool {
        channel != 0 && self.vcs[usize::from(channel) - 1].traffic == Traffic::Continuous
    }

    /// Distance from one ackID to another, upwards.
    pub(super) const fn distance(&self, from: u8, to: u8) -> u8 {
        to.wrapping_sub(from) & self.form.parameter_max()
    }
}

/// A rule that a [`Config`] breaks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum ConfigError {
    /// `hold` is not from 1 to the ackID window.
    Hold {
        /// The ackID window.
        max: u16,
        /// The value given.
        found: u16,
    },
    /// `queue` is 0.
    Queue,
    /// Fewer receive buffers than the highest of the `accept` watermarks: priority 0 would never be accepted.
    Buffers {
        /// The highest watermark.
        min: u16,
        /// The value given.
        found: u16,
    },
    /// An active VC has no buffers or no share.
    Vc,
    /// Continuous traffic is enabled from the highest VC downwards.
    ContinuousOrder,
    /// `link_timeout` is 0.
    LinkTimeout,
    /// `response_attempts` is 0.
    Attempts,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hold { max, found } => write!(f, "hold: 1 to {max} packets, {found} given"),
            Self::Queue => f.write_str("queue: at least 1 packet"),
            Self::Buffers { min, found } => {
                write!(f, "buffers: at least the highest accept watermark, {min}; {found} given")
            }
            Self::Vc => f.write_str("vcs: an active VC needs at least 1 buffer and a share of at least 1"),
            Self::ContinuousOrder => f.write_str("vcs: continuous VCs come after all reliable ones"),
            Self::LinkTimeout => f.write_str("link_timeout: at least 1 ps"),
            Self::Attempts => f.write_str("response_attempts: at least 1"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// What the link needs to know of a packet.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PacketMeta {
    /// VC bit: prio and CRF name a VC.
    pub vc: bool,
    /// Priority, 0..=3.
    pub prio: u8,
    /// Critical request flow.
    pub crf: bool,
    /// Bytes on the link; only the shares of the VCs use them.
    pub octets: u16,
}

impl PacketMeta {
    /// A packet of VC0 with CRF 0.
    #[must_use]
    pub const fn new(prio: u8, octets: u16) -> Self {
        Self { vc: false, prio: prio & 3, crf: false, octets }
    }

    /// A packet of the optional VC with this VCID, 0..=7.
    #[must_use]
    pub const fn of_vc(vcid: u8, octets: u16) -> Self {
        Self { vc: true, prio: vcid >> 1 & 3, crf: vcid & 1 == 1, octets }
    }

    /// What a header says.
    #[must_use]
    pub const fn of(header: Header, octets: u16) -> Self {
        Self { vc: header.virtual_channel() != 0, prio: header.prio(), crf: header.crf(), octets }
    }
}
