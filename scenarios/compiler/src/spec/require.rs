//! What results must show.

use super::{Limit, Names, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What results must show, by flows or by links. Every other field is a metric, and its text what it has to
/// be: `"p99.9": "< 2 us"`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RequireSpec {
    /// Flows, each by itself: a pattern or a list of patterns for their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<Names>,
    /// Links, each by itself: a pattern or a list of patterns for links (`sw:0-ep/0`), ports or devices at
    /// their ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Names>,
    /// Metrics, and what they have to be.
    #[serde(flatten)]
    pub metrics: BTreeMap<String, Quantity<Limit>>,
}
