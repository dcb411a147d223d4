//! The protocols that there are.

use super::enumerator::Enumeration;
use super::linx::Linx;
use super::protocol::Protocol;
use super::rpc::Rpc;
use super::session::Session;
use super::transfer::Transfer;
use super::workload::Workload;

/// Every protocol that there is. To add one: a variant here, a line in [`Self::machine`], a configuration
/// in [`crate::config::ProtocolConfig`].
#[derive(Debug)]
pub(crate) enum Machine {
    Workload(Box<Workload>),
    Rpc(Box<Rpc>),
    Enumeration(Box<Enumeration>),
    Session(Box<Session>),
    Linx(Box<Linx>),
    Transfer(Box<Transfer>),
}

impl Machine {
    pub fn machine(&self) -> &dyn Protocol {
        match self {
            Machine::Workload(workload) => &**workload,
            Machine::Rpc(rpc) => &**rpc,
            Machine::Enumeration(host) => &**host,
            Machine::Session(session) => &**session,
            Machine::Linx(linx) => &**linx,
            Machine::Transfer(transfer) => &**transfer,
        }
    }

    pub fn machine_mut(&mut self) -> &mut dyn Protocol {
        match self {
            Machine::Workload(workload) => &mut **workload,
            Machine::Rpc(rpc) => &mut **rpc,
            Machine::Enumeration(host) => &mut **host,
            Machine::Session(session) => &mut **session,
            Machine::Linx(linx) => &mut **linx,
            Machine::Transfer(transfer) => &mut **transfer,
        }
    }
}
