//! CPS-1432. Six of its eight quads of lanes make one port of four lanes or two of at most two; the other two
//! make one port.

use super::{Fixed, Preset};

pub(super) const CPS_1432: Preset = Preset {
    name: "CPS-1432",
    about: "14 ports, 32 lanes to 6.25 Gbaud, 40 multicast masks; buffers not public",
    ports_max: 14,
    baud_max: 6_250_000_000,
    lanes_max: 4,
    lanes_all: 32,
    lanes_least: 2,
    long_symbols: true,
    masks_max: 40,
    fixed: Fixed::NOTHING,
};
