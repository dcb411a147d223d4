//! Tsi721.

use super::{Fixed, Preset};

pub(super) const TSI721: Preset = Preset {
    name: "Tsi721",
    about: "PCI Express bridge, 4x to 5 Gbaud, no VoQ backpressure",
    ports_max: 1,
    baud_max: 5_000_000_000,
    lanes_max: 4,
    lanes_all: 4,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 0,
    fixed: Fixed::NOTHING,
};
