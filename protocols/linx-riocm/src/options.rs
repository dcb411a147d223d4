//! What a node may do differently where the text leaves room.

use crate::fragment::{Fragmentation, Limits};
use alloc::vec::Vec;

/// Picoseconds in a millisecond.
pub const MILLISECOND: u64 = 1_000_000_000;

/// Picoseconds in the unit of `hb_tmo`: 100 ms.
pub const PERIOD_UNIT: u64 = 100 * MILLISECOND;

/// The smallest MTU that is accepted, octets.
pub const MTU_MIN: u16 = 64;

/// The MTU wanted by default, octets.
pub const MTU_DEFAULT: u16 = 256;

/// What a configured `hb_tmo` of 0 stands for, units of 100 ms.
pub const HB_TMO_DEFAULT: u8 = 5;

/// Packets that a sequence number may be ahead, less one; default of [`Options::window`].
pub const WINDOW_DEFAULT: u16 = 64;

/// Periods without a sign of life after which a connection is timed out, as the text has it; default of
/// [`Options::periods`].
pub const PERIODS: u8 = 3;

/// What happens after a local problem.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum ResetMode {
    /// RESET is sent; the link handler hears of it when the peer answers or supervision expires.
    #[default]
    Handshake,
    /// The link handler hears of it at once, nothing is sent, and no RESET is answered or judged by its
    /// generation.
    Immediate,
}

/// What a REQ means to a connection that is up.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum RepeatedRequest {
    /// A late duplicate, if it agrees with what was negotiated and nothing was exchanged yet: answered by an
    /// ACK. Else the end of the connection: the peer has begun anew, perhaps with the generation it had.
    #[default]
    Acknowledge,
    /// The end of the connection.
    Teardown,
}

/// What is a sign of life.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Liveness {
    /// Heartbeats.
    #[default]
    Heartbeat,
    /// Heartbeats and data.
    Any,
}

/// When a silent connection is timed out.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Supervision {
    /// [`Options::periods`] after the last sign of life.
    #[default]
    Deadline,
    /// At as many ticks of the own heartbeat timer after it: up to a period sooner.
    Ticks,
}

/// When the first message may leave.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Opening {
    /// When the peer has proved that it is up with this connection: a heartbeat or data for its ID came.
    /// Messages wait for that, and a heartbeat leaves as soon as the own end is up.
    #[default]
    Proved,
    /// As soon as the own end is up.
    AtOnce,
}

/// When a connection takes a new generation.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum Renewal {
    /// At every connect.
    #[default]
    Connect,
    /// Never: it keeps the one it was made with.
    Never,
}

/// How long a gap in the sequence numbers may stay open.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub enum GapTimer {
    /// [`Options::periods`] of heartbeats.
    #[default]
    Periods,
    /// So many picoseconds.
    After(u64),
    /// For ever.
    Off,
}

/// The choices of a node, for all its connections.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Options {
    /// Time between two REQ. Picoseconds, at least 1. Default 200 ms.
    pub request_period: u64,
    /// Added to `request_period`, one after the other and again from the first. Picoseconds, each above
    /// `-request_period`. The owner draws them; none by default.
    pub jitter: Vec<i64>,
    /// Distance of sequence numbers that no longer fits the reordering queue, 1..=32767. Default 64.
    pub window: u16,
    /// Bounds on messages under way.
    pub limits: Limits,
    /// How long messages are cut.
    pub fragmentation: Fragmentation,
    /// How long a gap may stay open.
    pub gap_timer: GapTimer,
    /// What happens after a local problem.
    pub reset_mode: ResetMode,
    /// What a REQ means to a connection that is up.
    pub repeated_request: RepeatedRequest,
    /// What is a sign of life.
    pub liveness: Liveness,
    /// When a silent connection is timed out.
    pub supervision: Supervision,
    /// Periods without a sign of life after which it is, at least 1. Default 3, which is what the text says.
    pub periods: u8,
    /// When the first message may leave.
    pub opening: Opening,
    /// When a connection takes a new generation.
    pub renewal: Renewal,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            request_period: 200 * MILLISECOND,
            jitter: Vec::new(),
            window: WINDOW_DEFAULT,
            limits: Limits::default(),
            fragmentation: Fragmentation::default(),
            gap_timer: GapTimer::default(),
            reset_mode: ResetMode::default(),
            repeated_request: RepeatedRequest::default(),
            liveness: Liveness::default(),
            supervision: Supervision::default(),
            periods: PERIODS,
            opening: Opening::default(),
            renewal: Renewal::default(),
        }
    }
}

impl Options {
    /// What LINX for Linux 2.5.1 does. Its jitter, uniform from -128 ms to 127 ms, is for the owner to draw.
    #[must_use]
    pub fn linx_for_linux() -> Self {
        Self {
            gap_timer: GapTimer::Off,
            reset_mode: ResetMode::Immediate,
            repeated_request: RepeatedRequest::Teardown,
            liveness: Liveness::Any,
            supervision: Supervision::Ticks,
            opening: Opening::AtOnce,
            renewal: Renewal::Never,
            ..Self::default()
        }
    }
}
