//! How an end is set up. All times are picoseconds.

use crate::llp::Medium;
use crate::wire::Attributes;

/// Parameters of an endpoint and all its Ports.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Config {
    /// Op_timeout: how long an answer may take (10.1).
    pub op_timeout: u64,
    /// Max_Retry: how often an operation is sent again (10.1).
    pub max_retry: u32,
    /// How long a decision may take after Request_Answer, in Op_timeouts.
    pub pending_timeouts: u32,
    /// Whether everything that expects an answer is guarded, and Transfers and Puts are confirmed. Otherwise
    /// only connection set-up and teardown are.
    pub reliable: bool,
    /// Slots that each connection advertises; 0xFFFF does not count.
    pub slots: u16,
    /// Exponent of the receive buffers, 8..=32.
    pub bufsize: u32,
    /// Exponent of the largest STU received, 8..=31 and at most Bufsize.
    pub max_stu: u32,
    /// Exponent of the largest STU cut, whatever the peer and the medium take.
    pub cut_stu: u32,
    /// Blocks may be sent and received in any order; needed for retransmission and striping.
    pub out_of_order: bool,
    /// Regions, FetchOp, byte order.
    pub attributes: Attributes,
    /// Whether received checksums are verified.
    pub check: bool,
    /// Whether checksums are sent.
    pub compute: bool,
    /// Data operations of a checksum segment, 0 for one segment a Block.
    pub segment_stus: u32,
    /// Whether the last checksum of a Block travels in a Data operation of its own.
    pub trailers: bool,
    /// FetchOp values that a region keeps for repetition.
    pub replay_values: usize,
    /// After how long without progress a data Destination re-issues the Clear_To_Send of missing Blocks, up
    /// to 1 + Max_Retry times before it ends the Transfer (or reports them once, if Out_of_Order is not
    /// agreed); `None` leaves that to the upper layer.
    pub missing_timeout: Option<u64>,
    /// The lower layer: limits of STUs, order of channels.
    pub medium: Medium,
    /// Exponent of the largest STU that the lower layer carries, where that is not what frames of `medium`
    /// hold.
    pub stu_carried: Option<u32>,
    /// Whether Control has a channel of its own, so that Data and Control may overtake each other; `None`: as
    /// usual on `medium`. On ATM it may have a VCC of its own or share one.
    pub separate_control: Option<bool>,
    /// Data Channels of the lower layer, bit n for channel n.
    pub data_channels: u8,
    /// Whether the lower layer keeps the order of what it carries on one channel.
    pub ordered: bool,
    /// Number of interfaces, 1..=255.
    pub interfaces: u8,
    /// Where Keys begin; the caller draws it.
    pub first_key: u32,
    /// Where Ports of connections begin.
    pub first_port: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            op_timeout: 1_000_000_000,
            max_retry: 3,
            pending_timeouts: 10,
            reliable: true,
            slots: 64,
            bufsize: 16,
            max_stu: 10,
            cut_stu: 31,
            out_of_order: true,
            attributes: Attributes { persistent: true, fetch_op: true, little_endian: false },
            check: true,
            compute: true,
            segment_stus: 0,
            trailers: false,
            replay_values: 64,
            missing_timeout: None,
            medium: Medium::Ethernet,
            stu_carried: None,
            separate_control: None,
            data_channels: 0b1110,
            ordered: true,
            interfaces: 1,
            first_key: 1,
            first_port: 0x4000,
        }
    }
}

/// Why a configuration cannot be used.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Invalid {
    /// The field.
    pub field: &'static str,
    /// What is allowed.
    pub rule: &'static str,
}

impl core::fmt::Display for Invalid {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}: {}", self.field, self.rule)
    }
}

impl core::error::Error for Invalid {}

impl Config {
    /// Quarantine of what is finished: (Max_Retry + 2) Op_timeouts.
    #[must_use]
    pub const fn quarantine(&self) -> u64 {
        (self.max_retry as u64 + 2).saturating_mul(self.op_timeout)
    }

    /// How long the decision about a pending request is waited for.
    #[must_use]
    pub const fn pending(&self) -> u64 {
        (self.pending_timeouts as u64).saturating_mul(self.op_timeout)
    }

    /// How long a send may be overtaken by another, `None` on a medium that is one FIFO: so long what was
    /// sent on other channels does not count as arrived (ST-5.2.5-10).
    #[must_use]
    pub const fn overtaking(&self) -> Option<u64> {
        let separate = match self.separate_control {
            Some(separate) => separate,
            None => !self.medium.single_fifo(),
        };
        if self.ordered && !separate { None } else { Some(self.op_timeout) }
    }

    /// Exponent of the largest STU that the lower layer carries.
    pub(crate) const fn carried(&self) -> u32 {
        match self.stu_carried {
            Some(exponent) => exponent,
            None => self.medium.stu_exponent(),
        }
    }

    /// Whether the lower layer has Data Channel `number`.
    pub(crate) const fn has_channel(&self, number: u8) -> bool {
        number >= 1 && number <= 3 && self.data_channels >> number & 1 == 1
    }

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`Invalid`], the first field that breaks its rule.
    pub fn validate(&self) -> Result<(), Invalid> {
        let rules = [
            (self.op_timeout > 0, "op_timeout", "more than 0 ps"),
            ((8..=32).contains(&self.bufsize), "bufsize", "8 to 32"),
            ((8..=31).contains(&self.max_stu), "max_stu", "8 to 31"),
            (self.max_stu <= self.bufsize, "max_stu", "at most bufsize"),
            (self.max_stu <= self.carried(), "max_stu", "at most what the lower layer carries"),
            ((8..=31).contains(&self.cut_stu), "cut_stu", "8 to 31"),
            (self.interfaces > 0, "interfaces", "1 to 255"),
            (self.data_channels & !0b1110 == 0 && self.data_channels != 0, "data_channels", "bits 1 to 3"),
            (self.ordered || self.out_of_order, "out_of_order", "needed on a medium that reorders"),
        ];
        match rules.into_iter().find(|&(holds, ..)| !holds) {
            Some((_, field, rule)) => Err(Invalid { field, rule }),
            None => Ok(()),
        }
    }
}
