//! Virtual channels of links.

use super::{Quantity, StatusTime};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Virtual channels beside VC0 (Part 6 §5.4.2). Packets of flows with `vc` travel in them: in their order,
/// and independent of all other channels. Both ends of the link are alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VcsSpec {
    /// How many: 0 (none), 1 (VC1), 2 (VC1 and VC5), 4 (VC1, VC3, VC5, VC7) or 8.
    #[schemars(schema_with = "count_schema")]
    pub count: u8,
    /// Receive buffers of each of them at both ends, in packets of maximum size, beside those of VC0
    /// (default 4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 61))]
    pub buffers: Option<u8>,
    /// Shares of the link in the order of the channels, relative to each other (default 1 each): 50 and 50
    /// are 1 and 1. What a channel does not use goes to the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 1)))]
    pub shares: Option<Vec<u16>>,
    /// Share of VC0. Without it VC0 goes before all other channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub vc0_share: Option<u16>,
    /// How many of the channels, from the highest downwards, carry continuous traffic (CT): a packet that is
    /// damaged, or refused by a receiver without room, is lost and not sent again (default 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 8))]
    pub continuous: Option<u8>,
    /// Period in which VC_status of all channels is repeated: "default" (16 x 1024 code-groups), "off" or a
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Quantity<StatusTime>>,
}

impl VcsSpec {
    /// Fills in what is not said.
    pub fn fill(&mut self) {
        self.buffers.get_or_insert(4);
        self.shares.get_or_insert_with(|| vec![1; usize::from(self.count)]);
        self.continuous.get_or_insert(0);
        self.refresh.get_or_insert_with(|| "default".into());
    }
}

fn count_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "integer", "enum": [0, 1, 2, 4, 8]})
}
