//! The host that sets the fabric up.

use models::config::{EnumerationConfig, HostWrite, ProtocolConfig};
use models::enumeration::Plan;
use std::sync::Arc;

/// A host that sets the fabric up, and what will come of it.
pub(crate) struct Enumeration {
    pub config: EnumerationConfig,
    pub priority: u8,
    pub plan: Plan,
    /// Registers that it changes afterwards, in the order of time.
    pub writes: Vec<HostWrite>,
}

impl Enumeration {
    /// What runs on the host.
    pub fn protocol(&self) -> ProtocolConfig {
        let writes = Arc::new(self.writes.clone());
        ProtocolConfig::Enumerate { settings: self.config, priority: self.priority, writes }
    }
}
