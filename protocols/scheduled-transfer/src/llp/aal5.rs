//! AAL5 CPCS-PDU: SDU, zero padding, CPCS-UU, CPI, Length, CRC-32; a multiple of 48 octets (A.4).

use super::Error;
use alloc::vec::Vec;

/// Payload octets of an ATM cell.
pub const CELL_BYTES: usize = 48;

/// UU, CPI, Length, CRC-32.
pub const TRAILER_BYTES: usize = 8;

const POLYNOMIAL: u32 = 0x04C1_1DB7;

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        let mut rest = (octet as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            rest = if rest >> 31 == 1 { rest << 1 ^ POLYNOMIAL } else { rest << 1 };
            bit += 1;
        }
        table[octet] = rest;
        octet += 1;
    }
    table
};

/// CRC-32, most significant bit first, all ones at the start, complemented at the end.
#[must_use]
pub fn crc32(octets: &[u8]) -> u32 {
    !octets.iter().fold(u32::MAX, |crc, octet| crc << 8 ^ TABLE[usize::from((crc >> 24) as u8 ^ octet)])
}

/// Octets of the PDU around an SDU.
#[must_use]
pub const fn pdu_bytes(sdu: usize) -> usize {
    (sdu + TRAILER_BYTES).next_multiple_of(CELL_BYTES)
}

/// Makes the octets of `out` from `start` on, an SDU of at most 65 535 octets, a PDU.
pub(super) fn close(out: &mut Vec<u8>, start: usize) {
    let sdu = out.len() - start;
    debug_assert!(sdu <= usize::from(u16::MAX));
    out.resize(start + pdu_bytes(sdu) - 4, 0);
    let end = out.len();
    out[end - 2..].copy_from_slice(&(sdu as u16).to_be_bytes());
    let crc = crc32(&out[start..]);
    out.extend_from_slice(&crc.to_be_bytes());
}

/// The SDU of a PDU. UU, CPI and padding are not looked at.
///
/// # Errors
/// [`Error::LengthField`] if Length does not suit the number of cells, [`Error::Crc`].
pub fn sdu(pdu: &[u8]) -> Result<&[u8], Error> {
    let wrong = |found| Error::LengthField { field: "AAL5 Length", max: pdu.len(), found };
    if pdu.is_empty() || !pdu.len().is_multiple_of(CELL_BYTES) {
        return Err(wrong(pdu.len()));
    }
    let Some((rest, &[high, low, a, b, c, d])) = pdu.split_last_chunk() else {
        return Err(wrong(pdu.len()));
    };
    if crc32(&pdu[..pdu.len() - 4]) != u32::from_be_bytes([a, b, c, d]) {
        return Err(Error::Crc);
    }
    let length = usize::from(u16::from_be_bytes([high, low]));
    if pdu_bytes(length) != pdu.len() {
        return Err(wrong(length));
    }
    rest.get(..length).ok_or(wrong(length))
}

/// The cells of a PDU, and whether each carries the end-of-PDU indication.
pub fn cells(pdu: &[u8]) -> impl Iterator<Item = (&[u8; CELL_BYTES], bool)> {
    let cells = pdu.as_chunks::<CELL_BYTES>().0;
    cells.iter().enumerate().map(move |(index, cell)| (cell, index + 1 == cells.len()))
}
