//! Links: what is known of one, complete.

use models::config::{ChannelsConfig, Medium};
use models::lp_serial::cost::{LaneRate, SymbolSize, Width};

/// Timing of one link.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Another medium than RapidIO, and its rate.
    pub medium: Option<(Medium, u64)>,
    pub rate: LaneRate,
    pub width: Width,
    pub symbol: SymbolSize,
    pub propagation: u64,
    pub receiver: bool,
    pub symbolic: bool,
    pub timeout: Option<u64>,
    pub channels: Option<ChannelsConfig>,
    /// Where the settings of the link stand.
    pub pointer: String,
}
