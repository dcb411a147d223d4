//! CPS-1848.

use super::{Fixed, Preset};
use crate::spec::{BufferingKind, InputKind};

pub(super) const CPS_1848: Preset = Preset {
    name: "CPS-1848",
    about: "18 ports, 48 lanes to 6.25 Gbaud, VOQs, crosspoints, 40 multicast masks; buffers not public",
    ports_max: 18,
    baud_max: 6_250_000_000,
    lanes_max: 4,
    lanes_all: 48,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 40,
    fixed: Fixed {
        input: Some(InputKind::Voq),
        buffering: Some(BufferingKind::Crosspoint),
        ..Fixed::NOTHING
    },
};
