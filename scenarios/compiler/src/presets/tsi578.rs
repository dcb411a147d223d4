//! Tsi578.

use super::{Fixed, Preset};
use crate::spec::{BufferingKind, InputKind};

pub(super) const TSI578: Preset = Preset {
    name: "Tsi578",
    about: "16 ports of 1x or 8 of 4x to 3.125 Gbaud, 8 packets in and out, 8 multicast masks",
    ports_max: 16,
    baud_max: 3_125_000_000,
    lanes_max: 4,
    lanes_all: 32,
    lanes_least: 2,
    long_symbols: false,
    masks_max: 8,
    fixed: Fixed {
        input: Some(InputKind::Fifo),
        buffering: Some(BufferingKind::Output),
        buffer_packets: Some(8),
        input_buffers: Some(8),
        watermarks: Some([4, 3, 2]),
        ..Fixed::NOTHING
    },
};
