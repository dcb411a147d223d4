//! Processors that initialise the registers of session management of other devices.

use super::{Picoseconds, Quantity, RegisterPart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The endpoints of `from` are processors that initialise the registers of session management of the
/// endpoints of `to` through the fabric (Annex 2 §3.2), one node after the other. Several of them want the
/// same stage: who takes the lock of a node does it there, and the others come again and find it done. What a
/// node does not write itself (`endpoint.session.writes`) such flows have to write, stage by stage. It takes
/// `configure.fabric`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InitialiseSpec {
    /// When the processors begin, after the host has let them send (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Quantity<Picoseconds>>,
    /// Each begins this much after the one before it (default "0 ps").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<Quantity<Picoseconds>>,
    /// The stage of initialisation that they do, 1 (default) to 15. The stages of a node come one after the
    /// other; what it writes itself is stage 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 15))]
    pub stage: Option<u8>,
    /// What they write, with the values that the settings of the node have (default: what the node does not
    /// write itself).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<RegisterPart>>,
    /// The value with which they take locks, 0 to 65534 (default: each its own device id). The lock does not
    /// know who writes: two processors with one value do not see each other, and one that is in two flows
    /// does not see itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 65534))]
    pub lock: Option<u16>,
    /// How long a processor waits before it comes again to a node whose lock another has, or whose stage is
    /// not theirs yet, by the protocol clock (default "1 ms").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Quantity<Picoseconds>>,
    /// How often a processor comes to a node before it gives it up (default: it never does).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub attempts: Option<u32>,
}
