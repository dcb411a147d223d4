//! Device presets. They carry only values that vendors or the standard publish; everything else keeps the
//! generic default, which is a choice of this project and no statement about the device.

use crate::spec::{BufferingKind, EndpointSpec, InputKind, PortVoqSpec, SwitchSpec};

/// What a preset knows about a device.
pub struct Preset {
    /// Name in scenario files.
    pub name: &'static str,
    /// One line for lists.
    pub about: &'static str,
    /// Most ports; 1 = endpoint.
    pub ports_max: u8,
    /// Fastest lane in baud.
    pub baud_max: u64,
    /// Widest port in lanes.
    pub lanes_max: u8,
    /// Lanes of all ports together.
    pub lanes_all: u16,
    /// Lanes that a port takes, however narrow it is.
    pub lanes_least: u8,
    /// Whether its links can run the long control symbol.
    pub long_symbols: bool,
    /// Multicast masks.
    pub masks_max: usize,
}

/// Presets of switches; the first is the default.
pub const SWITCHES: &[Preset] = &[
    Preset {
        name: "generic",
        about: "any rate, up to 64 ports, generates and honours VoQ messages",
        ports_max: 64,
        baud_max: u64::MAX,
        lanes_max: 16,
        lanes_all: u16::MAX,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 256,
    },
    Preset {
        name: "CPS-1848",
        about: "18 ports, 48 lanes to 6.25 Gbaud, VOQs, crosspoints, 40 multicast masks; buffers not public",
        ports_max: 18,
        baud_max: 6_250_000_000,
        lanes_max: 4,
        lanes_all: 48,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 40,
    },
    Preset {
        name: "CPS-1616",
        about: "16 ports, 16 lanes to 6.25 Gbaud, 40 multicast masks; buffers not public",
        ports_max: 16,
        baud_max: 6_250_000_000,
        lanes_max: 4,
        lanes_all: 16,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 40,
    },
    Preset {
        name: "Tsi578",
        about: "16 ports of 1x or 8 of 4x to 3.125 Gbaud, 8 packets in and out, 8 multicast masks",
        ports_max: 16,
        baud_max: 3_125_000_000,
        lanes_max: 4,
        lanes_all: 32,
        lanes_least: 2,
        long_symbols: false,
        masks_max: 8,
    },
    Preset {
        name: "RXS2448",
        about: "24 ports, 48 lanes to 12.5 Gbaud, VOQs, crosspoints, 256 multicast masks; buffers not public",
        ports_max: 24,
        baud_max: 12_500_000_000,
        lanes_max: 4,
        lanes_all: 48,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 256,
    },
];

/// Presets of endpoints; the first is the default.
pub const ENDPOINTS: &[Preset] = &[
    Preset {
        name: "generic",
        about: "any rate, honours VoQ messages",
        ports_max: 1,
        baud_max: u64::MAX,
        lanes_max: 16,
        lanes_all: u16::MAX,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 0,
    },
    Preset {
        name: "Tsi721",
        about: "PCI Express bridge, 4x to 5 Gbaud, no VoQ backpressure",
        ports_max: 1,
        baud_max: 5_000_000_000,
        lanes_max: 4,
        lanes_all: 4,
        lanes_least: 1,
        long_symbols: true,
        masks_max: 0,
    },
];

/// Preset of a switch.
pub fn switch(name: &str) -> Option<&'static Preset> {
    SWITCHES.iter().find(|preset| preset.name == name)
}

/// Preset of an endpoint.
pub fn endpoint(name: &str) -> Option<&'static Preset> {
    ENDPOINTS.iter().find(|preset| preset.name == name)
}

fn abilities(gen_sup: bool, rx_sup: bool) -> Option<PortVoqSpec> {
    Some(PortVoqSpec { gen_sup: Some(gen_sup), rx_sup: Some(rx_sup), ..PortVoqSpec::default() })
}

/// Settings that a switch preset fixes.
pub fn switch_settings(name: &str) -> SwitchSpec {
    let crosspoints = SwitchSpec {
        input: Some(InputKind::Voq),
        buffering: Some(BufferingKind::Crosspoint),
        // No public part implements Part 12.
        voq: abilities(false, false),
        ..SwitchSpec::default()
    };
    match name {
        "CPS-1848" | "RXS2448" => crosspoints,
        "CPS-1616" => SwitchSpec { voq: abilities(false, false), ..SwitchSpec::default() },
        "Tsi578" => SwitchSpec {
            input: Some(InputKind::Fifo),
            buffering: Some(BufferingKind::Output),
            buffer_packets: Some(8),
            input_buffers: Some(8),
            watermarks: Some([4, 3, 2]),
            voq: abilities(false, false),
            ..SwitchSpec::default()
        },
        _ => SwitchSpec { voq: abilities(true, true), ..SwitchSpec::default() },
    }
}

/// Settings that an endpoint preset fixes.
pub fn endpoint_settings(name: &str) -> EndpointSpec {
    let honours = name != "Tsi721";
    EndpointSpec { voq: abilities(false, honours), ..EndpointSpec::default() }
}
