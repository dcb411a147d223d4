//! Flows of echoes.

use super::{CarrierKind, Picoseconds, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Messages that come back at once.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EchoSpec {
    /// What carries them both ways (default message): messages of segments of 256 octets in mailbox 0, or a
    /// stream of class 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carrier: Option<CarrierKind>,
    /// What has not come back by then is lost, by the protocol clock (default "100 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Quantity<Picoseconds>>,
}
