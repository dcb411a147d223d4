//! Links: what a file may say of all, of some, and of one.

use super::{Lanes, Length, Picoseconds, Quantity, Rate, VcsSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a link.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// What the link is (default rapidio). Over other media runs Scheduled Transfer alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub medium: Option<MediumKind>,
    /// Lane rate: "1.25", "2.5", "3.125", "5" or "6.25 Gbaud" (8b/10b), "10.3125", "12.5" or "25.78125 Gbaud"
    /// (64b/67b). Default "6.25 Gbaud". Other media: "6.4 Gb/s" (hippi-6400); "800 Mb/s" (hippi-fp); "10",
    /// "100 Mb/s", "1" (default), "2.5", "10", "25", "40", "100 Gb/s" (ethernet); "155.52",
    /// "622.08 Mb/s" (default), "2.48832 Gb/s" (atm-*); "1.0625" (default), "2.125", "4.25",
    /// "8.5 Gbaud" (fibre-channel).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Quantity<Rate>>,
    /// Lanes: "1x", "2x", "4x", "8x", "16x". Default "4x".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Quantity<Lanes>>,
    /// Control symbol of an 8b/10b link (default: long where rate and devices allow it).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<SymbolKind>,
    /// Length of the cable or trace at 5 ns for each metre. Default "2 m".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<Quantity<Length>>,
    /// Fixed one-way latency of both physical layers together. Default "30 ns".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phy_latency: Option<Quantity<Picoseconds>>,
    /// Who looks after the receive buffers (default transmitter). With `receiver` the link runs in symbol
    /// granularity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow_control: Option<FlowControlKind>,
    /// How the link is simulated (default packet; faults and receiver-controlled flow control need symbol).
    /// Times are the same with both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granularity: Option<GranularityKind>,
    /// Time after which an answer of the neighbour counts as lost, in symbol granularity (default: 100 us,
    /// and at least what 128 packets and 4 round trips take).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Quantity<Picoseconds>>,
    /// Virtual channels beside VC0 (default none). With them the link runs in symbol granularity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vcs: Option<VcsSpec>,
}

/// What a link is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MediumKind {
    /// LP-Serial.
    #[serde(rename = "rapidio")]
    RapidIo,
    /// HIPPI-6400-PH: micropackets, four virtual channels with buffers of their own.
    #[serde(rename = "hippi-6400")]
    Hippi6400,
    /// HIPPI-FP on HIPPI-800: bursts of 256 words.
    #[serde(rename = "hippi-fp")]
    HippiFp,
    /// Ethernet, full duplex: switches drop frames that find no buffer.
    #[serde(rename = "ethernet")]
    Ethernet,
    /// ATM with LAN emulation of 802.3: AAL5 in cells.
    #[serde(rename = "atm-lane")]
    AtmLane,
    /// ATM with LAN emulation of DIX Ethernet.
    #[serde(rename = "atm-dix")]
    AtmDix,
    /// ATM with LAN emulation of Token Ring at 4 Mbit/s, whose frames are longer.
    #[serde(rename = "atm-token-ring-4")]
    AtmTokenRing4,
    /// ATM with LAN emulation of Token Ring at 16 Mbit/s, whose frames are longer still.
    #[serde(rename = "atm-token-ring-16")]
    AtmTokenRing16,
    /// Fibre Channel, 8b/10b: one Sequence for each operation.
    #[serde(rename = "fibre-channel")]
    FibreChannel,
}

/// Who looks after the receive buffers of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowControlKind {
    /// The transmitter knows how many are free and sends only what fits.
    Transmitter,
    /// The receiver refuses what does not fit, and it is sent again.
    Receiver,
}

/// How a link is simulated.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GranularityKind {
    /// In closed form: what happens if nothing goes wrong.
    Packet,
    /// Symbol by symbol.
    Symbol,
}

/// Control symbol of an 8b/10b link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// Long where rate and devices allow it.
    Auto,
    /// 24 bits, 4 characters, up to 5 Gbaud.
    Short,
    /// 48 bits, 8 characters.
    Long,
}
