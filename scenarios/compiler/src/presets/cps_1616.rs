//! CPS-1616.

use super::{Fixed, Preset};

pub(super) const CPS_1616: Preset = Preset {
    name: "CPS-1616",
    about: "16 ports, 16 lanes to 6.25 Gbaud, 40 multicast masks; buffers not public",
    ports_max: 16,
    baud_max: 6_250_000_000,
    lanes_max: 4,
    lanes_all: 16,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 40,
    fixed: Fixed::NOTHING,
};
