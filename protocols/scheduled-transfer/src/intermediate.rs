//! Devices between the ends (3.1.14): what they may change in an operation that passes.
//!
//! A translator, bridge or router with smaller buffers lowers Max_STU where a connection is set up (5.2.4)
//! and Max_Block where a Transfer is asked for (6.2.5); that is how its limits reach the ends (A.1, A.2). All
//! else passes as it is, Opaque among it. The end of the connection that checks a Cksum knows nothing of the
//! device, so a Cksum that is there is corrected with the field.

use crate::checksum;
use crate::layout::{BLOCK_EXPONENTS, BUFFER_EXPONENTS};
use crate::wire::header::{CKSUM_AT, HEADER_BYTES};
use crate::wire::{OPTIONAL_PAYLOAD_BYTES, Op};

/// Octet offset of the low half of Sync, where Max_STU is: no legal value reaches the high half.
const MAX_STU_AT: usize = 26;
/// Octet offset of B_id, where Max_Block is.
const MAX_BLOCK_AT: usize = 14;

/// What a device between the ends has room for.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Limits {
    /// Exponent of the largest STU, 8..=32.
    pub max_stu: u32,
    /// Exponent of the largest Block, 8..=48.
    pub max_block: u16,
}

impl Limits {
    /// A device without limits of its own.
    pub const NONE: Self = Self { max_stu: *BUFFER_EXPONENTS.end(), max_block: *BLOCK_EXPONENTS.end() };
}

/// What was lowered.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Lowered {
    /// Max_STU of a Request_Connection or Connection_Answer.
    MaxStu,
    /// Max_Block of a Request_To_Send.
    MaxBlock,
}

/// Lowers what an operation declares to the limits of a device that it passes; gives what was lowered.
///
/// Values that no end may declare pass as they are: the other end refuses them, and would not if a device
/// made them legal. Octets that are no such operation pass, too.
pub fn lower(operation: &mut [u8], limits: &Limits) -> Option<Lowered> {
    if operation.len() != HEADER_BYTES && operation.len() != HEADER_BYTES + OPTIONAL_PAYLOAD_BYTES {
        return None;
    }
    let half = |at: usize| u16::from_be_bytes([operation[at], operation[at + 1]]);
    let (at, limit, lowered) = match operation[0] >> 3 {
        op if op == Op::RequestConnection as u8 || op == Op::ConnectionAnswer as u8 => {
            let declared = u32::from(half(MAX_STU_AT - 2)) << 16 | u32::from(half(MAX_STU_AT));
            let is_legal = BUFFER_EXPONENTS.contains(&declared);
            (MAX_STU_AT, limits.max_stu as u16, is_legal.then_some(Lowered::MaxStu)?)
        }
        op if op == Op::RequestToSend as u8 => {
            let is_legal = BLOCK_EXPONENTS.contains(&half(MAX_BLOCK_AT));
            (MAX_BLOCK_AT, limits.max_block, is_legal.then_some(Lowered::MaxBlock)?)
        }
        _ => return None,
    };
    let declared = half(at);
    if declared <= limit {
        return None;
    }
    let cksum = checksum::updated(half(CKSUM_AT), declared, limit);
    operation[at..at + 2].copy_from_slice(&limit.to_be_bytes());
    operation[CKSUM_AT..CKSUM_AT + 2].copy_from_slice(&cksum.to_be_bytes());
    Some(lowered)
}
