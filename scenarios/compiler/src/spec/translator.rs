//! Translators in the scenario language.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device that carries Scheduled Transfer from one medium to another: a translator, bridge or router of the
/// standard. Its interfaces are endpoints, each in a part of the fabric of its own. It takes an operation in
/// whole, after the `rx_service` and `tx_service` of these endpoints, and sends it on in a frame of the other
/// medium; addresses of ends stay. No flow begins or ends at its interfaces: "all" and patterns of flows do
/// not mean them.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TranslatorSpec {
    /// Unique name.
    pub name: String,
    /// Endpoints that are its interfaces, two at least: one on RapidIO at most.
    pub interfaces: Vec<String>,
    /// Octets of the largest STU that it takes, a power of two from 256 (default: what all its media carry,
    /// at most 32768). Longer ones are dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stu: Option<u32>,
    /// Whether it lowers Max_STU to `stu` where a connection is set up through it (default true). Otherwise
    /// the ends do not know what it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowers: Option<bool>,
    /// Octets of the largest Block of Transfers through it, a power of two from 256 to 1073741824: it lowers
    /// Max_Block to that where one is asked for (default: it lowers nothing).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// Octets of operations, headers included, that it holds at a time, both ways together (default
    /// 1048576). What finds no room is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
}
