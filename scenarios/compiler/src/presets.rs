//! Device presets. They carry only values that vendors or the standard publish; everything else keeps the
//! generic default, which is a choice of this project and no statement about the device.
//!
//! Each device is a file and its name in one of the lists below.

mod cps_1432;
mod cps_1616;
mod cps_1848;
mod generic;
mod rxs2448;
mod tsi578;
mod tsi721;

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
    /// Settings that it fixes.
    pub fixed: Fixed,
}

/// Settings that a preset fixes.
pub struct Fixed {
    /// How packets wait at an input.
    pub input: Option<InputKind>,
    /// What stands between inputs and transmitters.
    pub buffering: Option<BufferingKind>,
    /// Packets that a buffer behind the inputs holds.
    pub buffer_packets: Option<u16>,
    /// Receive buffers of each port.
    pub input_buffers: Option<u8>,
    /// Watermarks.
    pub watermarks: Option<[u8; 3]>,
    /// GEN_SUP of all ports.
    pub gen_sup: bool,
    /// RX_SUP of all ports.
    pub rx_sup: bool,
}

impl Fixed {
    /// No public part implements Part 12; everything else is open.
    const NOTHING: Self = Self {
        input: None,
        buffering: None,
        buffer_packets: None,
        input_buffers: None,
        watermarks: None,
        gen_sup: false,
        rx_sup: false,
    };
}

/// Presets of switches; the first is the default.
pub const SWITCHES: &[Preset] = &[
    generic::SWITCH,
    cps_1848::CPS_1848,
    cps_1616::CPS_1616,
    cps_1432::CPS_1432,
    tsi578::TSI578,
    rxs2448::RXS2448,
];

/// Presets of endpoints; the first is the default.
pub const ENDPOINTS: &[Preset] = &[generic::ENDPOINT, tsi721::TSI721];

/// Preset of a switch.
pub fn switch(name: &str) -> Option<&'static Preset> {
    SWITCHES.iter().find(|preset| preset.name == name)
}

/// Preset of an endpoint.
pub fn endpoint(name: &str) -> Option<&'static Preset> {
    ENDPOINTS.iter().find(|preset| preset.name == name)
}

impl Preset {
    fn abilities(&self) -> Option<PortVoqSpec> {
        let Fixed { gen_sup, rx_sup, .. } = self.fixed;
        Some(PortVoqSpec { gen_sup: Some(gen_sup), rx_sup: Some(rx_sup), ..PortVoqSpec::default() })
    }

    /// Settings of a switch that the preset fixes.
    pub fn switch_settings(&self) -> SwitchSpec {
        let Fixed { input, buffering, buffer_packets, input_buffers, watermarks, .. } = self.fixed;
        let voq = self.abilities();
        SwitchSpec {
            input,
            buffering,
            buffer_packets,
            input_buffers,
            watermarks,
            voq,
            ..SwitchSpec::default()
        }
    }

    /// Settings of an endpoint that the preset fixes.
    pub fn endpoint_settings(&self) -> EndpointSpec {
        let Fixed { input_buffers, watermarks, .. } = self.fixed;
        EndpointSpec { input_buffers, watermarks, voq: self.abilities(), ..EndpointSpec::default() }
    }
}
