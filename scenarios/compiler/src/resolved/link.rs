//! Links: what is known of one, complete.

use models::config::{ChannelsConfig, Medium};
use models::lp_serial::cost::{LaneRate, SymbolSize, Width};

/// Timing of one link.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// Another medium than RapidIO, and its rate.
    pub(crate) medium: Option<(Medium, u64)>,
    pub(crate) rate: LaneRate,
    pub(crate) width: Width,
    pub(crate) symbol: SymbolSize,
    pub(crate) propagation: u64,
    pub(crate) receiver: bool,
    pub(crate) symbolic: bool,
    pub(crate) timeout: Option<u64>,
    pub(crate) channels: Option<ChannelsConfig>,
    /// Where the settings of the link stand.
    pub(crate) pointer: String,
}
