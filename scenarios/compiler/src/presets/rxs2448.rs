//! RXS2448.

use super::{Fixed, Preset};
use crate::spec::{BufferingKind, InputKind};

pub(super) const RXS2448: Preset = Preset {
    name: "RXS2448",
    about: "24 ports, 48 lanes to 12.5 Gbaud, VOQs, crosspoints, 256 multicast masks; buffers not public",
    ports_max: 24,
    baud_max: 12_500_000_000,
    lanes_max: 4,
    lanes_all: 48,
    lanes_least: 1,
    long_symbols: true,
    masks_max: 256,
    fixed: Fixed {
        input: Some(InputKind::Voq),
        buffering: Some(BufferingKind::Crosspoint),
        ..Fixed::NOTHING
    },
};
