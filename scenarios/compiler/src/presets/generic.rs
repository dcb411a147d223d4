//! Devices without a vendor.

use super::{Fixed, Preset};

pub(super) const SWITCH: Preset = Preset {
    name: "generic",
    about: "any rate, up to 192 ports, generates and honours VoQ messages",
    ports_max: models::config::PORTS_MAX as u8,
    baud_max: u64::MAX,
    lanes_max: 16,
    lanes_all: u16::MAX,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 256,
    fixed: Fixed { gen_sup: true, rx_sup: true, ..Fixed::NOTHING },
};

pub(super) const ENDPOINT: Preset = Preset {
    name: "generic",
    about: "any rate, honours VoQ messages",
    ports_max: 1,
    baud_max: u64::MAX,
    lanes_max: 16,
    lanes_all: u16::MAX,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 0,
    fixed: Fixed { rx_sup: true, ..Fixed::NOTHING },
};
