//! The host that sets the fabric up.

use models::config::{EnumerationConfig, ProtocolConfig};
use models::enumeration::Plan;

/// A host that sets the fabric up, and what will come of it.
pub(crate) struct Enumeration {
    pub config: EnumerationConfig,
    pub priority: u8,
    pub plan: Plan,
}

impl Enumeration {
    /// What runs on the host.
    pub fn protocol(&self) -> ProtocolConfig {
        ProtocolConfig::Enumerate { settings: self.config, priority: self.priority }
    }
}
