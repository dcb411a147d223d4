//! The error log of a Port (clause 10, table 10), and diagnostics that the draft has no entry for.

use alloc::vec::Vec;

/// Logged errors, spelled as in table 10.
#[allow(non_camel_case_types, reason = "the draft's own names")]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Logged {
    /// 10.4.
    Cksum_Error,
    /// 10.5.1; the value stored with it is Undefined_Opcode_Value.
    Undefined_Opcode_Error {
        /// The five bits.
        undefined_opcode_value: u8,
    },
    /// 10.5.2; the value stored with it is Unexpected_Opcode_Value.
    Unexpected_Opcode_Error {
        /// The five bits.
        unexpected_opcode_value: u8,
    },
    /// 10.6.1.
    Invalid_Key_Error,
    /// 10.6.1.
    Invalid_Port_Error,
    /// 10.6.2.
    Slots_Exceeded_Error,
    /// 10.6.3.
    Unknown_EtherType_Error,
    /// 10.6.4.
    Illegal_Bufsize_Error,
    /// 10.6.5.
    Illegal_STU_Size_Error,
    /// 10.7.1.
    Invalid_D_id_Error,
    /// 10.7.2.
    Invalid_Mx_Error,
    /// 10.7.4.
    Out_Of_Range_B_num_Error,
    /// 10.7.4.
    Out_Of_Range_Bufx_Error,
    /// 10.7.4.
    Oversized_Offset_Error,
    /// 10.7.4.
    Out_Of_Order_STU_Error,
    /// 10.7.5.
    Out_Of_Order_B_num,
    /// 10.7.6.
    Illegal_Blocksize_Error,
    /// 10.7.7.
    Improper_Flag_Use_Error {
        /// The flags that the operation does not list.
        flags: u16,
    },
    /// 10.1.
    Op_timeout_Occurance,
    /// 10.1.
    Max_Retry_Occurance,
}

/// Diagnostics for what table 10 does not name.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Counters {
    /// Operations that are neither Data, 40 nor 72 octets long.
    pub illegal_length: u64,
    /// Requests with D = 0 or a channel that the lower layer lacks.
    pub bad_data_channel: u64,
    /// RC or CA with Max_STU below 8, above 32 or above Bufsize.
    pub illegal_max_stu: u64,
    /// RTS with Max_Block outside 8 to 48.
    pub illegal_max_block: u64,
    /// FetchOps whose Offset is no multiple of 8.
    pub fetch_op_misaligned: u64,
    /// Blocks whose last Data has no checksum though one before had.
    pub unprotected_tail: u64,
    /// Headers that did not fit though Slots are not counted.
    pub header_queue_overflow: u64,
    /// Times that Blocks which had been enabled did not come in time: they are enabled again, or the Transfer
    /// is given up ([`missing_timeout`](crate::Config::missing_timeout)).
    pub overdue: u64,
}

/// The log of one Port, oldest first. What does not fit is counted, so a hostile peer cannot fill memory.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub struct Log {
    entries: Vec<(u64, Logged)>,
    lost: u64,
    counters: Counters,
}

/// Entries that a log keeps until they are read.
pub const LOG_ENTRIES: usize = 4096;

impl Log {
    /// Appends an entry.
    pub fn push(&mut self, now: u64, entry: Logged) {
        if self.entries.len() < LOG_ENTRIES {
            self.entries.push((now, entry));
        } else {
            self.lost += 1;
        }
    }

    /// (time, entry), oldest first.
    #[must_use]
    pub fn entries(&self) -> &[(u64, Logged)] {
        &self.entries
    }

    /// Entries that did not fit.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Entries equal to `entry`.
    #[must_use]
    pub fn count(&self, entry: Logged) -> usize {
        self.entries.iter().filter(|&&(_, logged)| logged == entry).count()
    }

    /// The diagnostics.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(crate) const fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// Takes all entries out.
    pub fn drain(&mut self) -> Vec<(u64, Logged)> {
        core::mem::take(&mut self.entries)
    }
}
