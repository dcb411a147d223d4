//! A piece of memory that requests can act upon.

use super::responder::{Atomic, Fault, Target};
use crate::wire::address::{Address, Span};
use crate::wire::write::Operation as WriteOperation;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes from an address on; other addresses are a [`Fault`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Memory {
    first: u64,
    bytes: Vec<u8>,
}

impl Memory {
    /// `double_words` double-words of zeros from double-word number `first` on.
    #[must_use]
    pub fn new(first: u64, double_words: usize) -> Self {
        Self { first, bytes: vec![0; 8 * double_words] }
    }

    /// What is in it.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The double-words that a span touches.
    fn touched(&mut self, address: Address, span: Span) -> Result<&mut [u8], Fault> {
        let start = address.double_word().checked_sub(self.first).ok_or(Fault)?;
        let start = usize::try_from(start).ok().and_then(|start| start.checked_mul(8)).ok_or(Fault)?;
        let end = start.checked_add(span.payload_octets().into()).ok_or(Fault)?;
        self.bytes.get_mut(start..end).ok_or(Fault)
    }
}

/// The bytes of a span within the double-words that it touches.
fn of_span(double_words: &mut [u8], span: Span) -> Result<&mut [u8], Fault> {
    let start = usize::from(span.lane());
    double_words.get_mut(start..start + usize::from(span.octets())).ok_or(Fault)
}

impl Target<Vec<u8>> for Memory {
    fn read(&mut self, address: Address, span: Span) -> Result<Vec<u8>, Fault> {
        Ok(self.touched(address, span)?.to_vec())
    }

    fn write(&mut self, address: Address, span: Span, mut data: Vec<u8>) -> Result<(), Fault> {
        let new = of_span(&mut data, span)?;
        of_span(self.touched(address, span)?, span)?.copy_from_slice(new);
        Ok(())
    }

    fn atomic(&mut self, address: Address, span: Span, operation: Atomic<Vec<u8>>) -> Result<Vec<u8>, Fault> {
        let span = match operation {
            Atomic::With(WriteOperation::CompareAndSwap, _) => Span::DOUBLE_WORD,
            _ => span,
        };
        let touched = self.touched(address, span)?;
        let old = touched.to_vec();
        let bytes = of_span(touched, span)?;
        match operation {
            Atomic::Alone(operation) => {
                let number = bytes.iter().fold(0, |number, &byte| number << 8 | u32::from(byte));
                if let Some(number) = operation.apply(number, span.octets()) {
                    let number = number.to_be_bytes();
                    bytes.copy_from_slice(number.get(4 - bytes.len()..).ok_or(Fault)?);
                }
            }
            Atomic::With(operation, mut data) => match operation {
                WriteOperation::CompareAndSwap => {
                    let (compared, new) = data.split_at_checked(8).ok_or(Fault)?;
                    if bytes == compared {
                        bytes.copy_from_slice(new.get(..8).ok_or(Fault)?);
                    }
                }
                WriteOperation::TestAndSwap if bytes.iter().any(|&byte| byte != 0) => {}
                WriteOperation::TestAndSwap | WriteOperation::Swap => {
                    bytes.copy_from_slice(of_span(&mut data, span)?);
                }
                WriteOperation::Nwrite | WriteOperation::NwriteR => return Err(Fault),
            },
        }
        Ok(old)
    }
}
