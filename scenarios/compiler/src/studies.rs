//! The studies that come with the project, as they lie beside this crate.

use serde_json::Value;

/// A study.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Study {
    /// Its file in the folder `scenarios`.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! studies {
    ($($name:literal),* $(,)?) => {
        &[$(Study {
            file: concat!($name, ".json"),
            text: include_str!(concat!("../../", $name, ".json")),
        }),*]
    };
}

/// All of them, in the order in which they are read best.
pub const STUDIES: &[Study] = studies![
    "hol-blocking",
    "hol-staging-queues",
    "hol-saturation",
    "voq-headroom",
    "voq-chatter",
    "voq-shared-threshold",
    "voq-unequal-neighbours",
    "voq-lost-xon",
    "voq-radius",
    "voq-radius-tree",
    "hotspot-fattree",
    "link-efficiency",
    "link-distance",
    "link-errors",
    "retry-storm",
    "priority-inversion",
    "vc-isolation",
    "voq-channels",
    "message-retry-storm",
    "stream-segmentation",
    "rpc-latency",
    "enumerate",
    "conduit-race-peers",
    "conduit-leak",
    "conduit-storm",
    "session-message-loss",
    "session-figure-3-1",
    "session-figure-3-2",
    "session-figure-3-3",
    "session-figure-3-4",
    "session-figure-3-5",
    "session-xoff",
    "session-registers",
    "linx-crossing-connect",
    "linx-timeouts",
    "linx-detection",
    "linx-lost-xon",
    "linx-reboot-storm",
    "linx-reboot-jitter",
    "linx-reorder",
    "linx-fragmentation",
    "goal-transports",
    "st-collectives",
    "st-cts-window",
    "st-delivery",
    "st-incast",
    "st-lossy",
    "st-media",
    "st-media-incast",
    "st-striping",
    "st-translator",
    "st-slots",
    "st-vs-voq",
    "ethernet-bridge",
    "ethernet-broadcast",
    "ethernet-multicast",
];

impl Study {
    /// What it shows: the `title` in its text.
    pub fn title(&self) -> String {
        let scenario: Value = serde_json::from_str(self.text).expect("tests read every study");
        scenario["title"].as_str().expect("tests look for a title").to_owned()
    }
}
