//! The side that is asked.
//!
//! It has no state: each request is carried out and answered at once. What a device cannot do is answered by
//! ERROR.

use crate::wire::address::{Address, Span};
use crate::wire::maintenance::{Access, HOP_COUNT_MAX, Maintenance, Operation as MaintenanceOperation};
use crate::wire::read::Operation as ReadOperation;
use crate::wire::response::{Response, Status};
use crate::wire::write::Operation as WriteOperation;
use crate::wire::{Body, Packet, Payload};

/// A request cannot be carried out: the response is ERROR.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Fault;

/// An operation that reads and writes without anything in between.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Atomic<P> {
    /// Of type 2: what becomes of the bytes depends on them alone.
    Alone(ReadOperation),
    /// Of type 5: with data. Two double-words of it in a compare-and-swap.
    With(WriteOperation, P),
}

/// What requests act upon. Whatever a device does not have is a [`Fault`].
///
/// Data of up to 8 bytes lies in a double-word where it lies in memory; other bytes of it mean nothing.
pub trait Target<P> {
    /// Reads: as many double-words as the span touches.
    ///
    /// # Errors
    /// [`Fault`].
    fn read(&mut self, address: Address, span: Span) -> Result<P, Fault> {
        let _ = (address, span);
        Err(Fault)
    }

    /// Writes the bytes of the span.
    ///
    /// # Errors
    /// [`Fault`].
    fn write(&mut self, address: Address, span: Span, data: P) -> Result<(), Fault> {
        let _ = (address, span, data);
        Err(Fault)
    }

    /// Reads, and writes what the operation makes of it; returns the double-word as it was before.
    ///
    /// # Errors
    /// [`Fault`].
    fn atomic(&mut self, address: Address, span: Span, operation: Atomic<P>) -> Result<P, Fault> {
        let _ = (address, span, operation);
        Err(Fault)
    }

    /// Reads registers.
    ///
    /// # Errors
    /// [`Fault`].
    fn read_registers(&mut self, access: Access) -> Result<P, Fault> {
        let _ = access;
        Err(Fault)
    }

    /// Writes registers.
    ///
    /// # Errors
    /// [`Fault`].
    fn write_registers(&mut self, access: Access, data: P) -> Result<(), Fault> {
        let _ = (access, data);
        Err(Fault)
    }

    /// A report came in.
    fn port_write(&mut self, source: u32, data: P) {
        let _ = (source, data);
    }
}

/// Carries out a request of type 2, 5, 6 or 8 and gives the response, if it has one. Other packets have no
/// effect.
pub fn serve<P: Payload>(packet: Packet<P>, target: &mut impl Target<P>) -> Option<Packet<P>> {
    let Packet { transport, body } = packet;
    let response = match body {
        Body::Read(read) => {
            let (address, span) = (read.address(), read.span());
            let result = match read.operation() {
                ReadOperation::Nread => target.read(address, span),
                operation => target.atomic(address, span, Atomic::Alone(operation)),
            };
            with_data(read.src_tid(), span.payload_octets().into(), result)
        }
        Body::Write(write) => {
            let (operation, target_tid) = (write.operation(), write.src_tid());
            let (address, span) = (write.address(), write.written());
            let data = write.into_payload();
            if operation.is_atomic() {
                let result = target.atomic(address, span, Atomic::With(operation, data));
                with_data(target_tid, 8, result)
            } else {
                let status = match target.write(address, span, data) {
                    Ok(()) => Status::Done,
                    Err(Fault) => Status::Error,
                };
                if !operation.has_response() {
                    return None;
                }
                Body::Response(Response::Io { target_tid, status })
            }
        }
        Body::StreamWrite(write) => {
            let (address, span) = (write.address(), Span::whole(write.payload().octets() as u16));
            // There is nobody to tell of a fault.
            let _ = target.write(address, span, write.into_payload());
            return None;
        }
        Body::Maintenance(maintenance) => {
            let operation = match maintenance.into_operation() {
                MaintenanceOperation::Read { src_tid: target_tid, access } => {
                    match target.read_registers(access) {
                        Ok(payload) => MaintenanceOperation::ReadDone { target_tid, payload },
                        Err(Fault) => MaintenanceOperation::ReadError { target_tid },
                    }
                }
                MaintenanceOperation::Write { src_tid: target_tid, access, payload } => {
                    match target.write_registers(access, payload) {
                        Ok(()) => MaintenanceOperation::WriteDone { target_tid },
                        Err(Fault) => MaintenanceOperation::WriteError { target_tid },
                    }
                }
                MaintenanceOperation::PortWrite { payload, .. } => {
                    target.port_write(transport.source(), payload);
                    return None;
                }
                _ => return None,
            };
            Body::Maintenance(Maintenance::new(HOP_COUNT_MAX, operation).ok()?)
        }
        _ => return None,
    };
    Some(Packet { transport: transport.reply(), body: response })
}

/// The response with what was read, if it has the length that was asked for.
fn with_data<P: Payload>(target_tid: u8, octets: usize, result: Result<P, Fault>) -> Body<P> {
    Body::Response(match result {
        Ok(payload) if payload.octets() == octets => Response::Data { target_tid, payload },
        _ => Response::Io { target_tid, status: Status::Error },
    })
}
