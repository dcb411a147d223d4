//! Scenarios to start from: small, complete, with comments.

/// A scenario to start from.
#[derive(Copy, Clone, Debug)]
pub struct Template {
    /// Name for the command line.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// The file.
    pub text: &'static str,
}

/// Scenarios to start from.
pub fn templates() -> &'static [Template] {
    &[
        Template {
            name: "minimal",
            about: "one switch, four endpoints, random traffic: the shortest scenario",
            text: include_str!("../templates/minimal.json"),
        },
        Template {
            name: "hotspot",
            about: "one switch, a hot port and its victims, without and with VoQ backpressure",
            text: include_str!("../templates/hotspot.json"),
        },
        Template {
            name: "fat-tree",
            about: "64 endpoints on a fat tree, three loads",
            text: include_str!("../templates/fat-tree.json"),
        },
        Template {
            name: "explicit",
            about: "devices and links one by one, two switches of different kinds, a routing entry by hand",
            text: include_str!("../templates/explicit.json"),
        },
    ]
}
