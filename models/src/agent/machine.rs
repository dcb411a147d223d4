//! From settings to the protocols that they are of.

use super::enumerator::Enumeration;
use super::linx::Linx;
use super::protocol::{Conveyance, Protocol};
use super::rpc::Rpc;
use super::session::Session;
use super::transfer::Transfer;
use super::workload::{Sender, Workload};
use crate::config::{Carrier, PartConfig, ProtocolConfig, ProtocolSettings};
use crate::endpoint::traffic::Source;
use logical::engine::message;
use logical::wire::message::SegmentSize;
use std::any::Any;

/// A protocol that brings its own settings: nobody else has to know them.
pub(super) trait Plugged: Protocol + Sized {
    /// What it is set to.
    type Settings: ProtocolSettings;

    /// One end; what drives it, if anything does.
    fn new(settings: &Self::Settings, sender: Sender) -> Self;
}

type Build = fn(&dyn ProtocolSettings, &dyn Fn() -> Sender) -> Option<Box<dyn Protocol>>;

/// Every such protocol.
const PLUGGED: &[Build] = &[plug::<super::echo::Echo>];

/// The protocol, if these settings are its own.
fn plug<P: Plugged>(
    settings: &dyn ProtocolSettings,
    sender: &dyn Fn() -> Sender,
) -> Option<Box<dyn Protocol>> {
    let settings = (settings as &dyn Any).downcast_ref()?;
    Some(Box::new(P::new(settings, sender())))
}

/// The protocol of a part of the endpoint with this path.
pub(super) fn build(seed: u64, path: &str, part: &PartConfig) -> Box<dyn Protocol> {
    let sender = || Sender::new(part.source.as_ref().map(|source| Source::new(seed, source)));
    match &part.protocol {
        &ProtocolConfig::Workload { carrier } => Box::new(Workload::new(sender(), conveyance(carrier))),
        &ProtocolConfig::Rpc { carrier, answer, timeout } => {
            Box::new(Rpc::new(sender(), conveyance(carrier), answer, timeout))
        }
        ProtocolConfig::Session(config) => {
            let path = format!("{path}/{}", part.flow);
            Box::new(Session::new(seed, &path, config, sender()))
        }
        ProtocolConfig::Enumerate { settings, priority, writes } => {
            Box::new(Enumeration::new(settings, *priority, writes))
        }
        ProtocolConfig::Linx(config) => Box::new(Linx::new(seed, config, sender())),
        ProtocolConfig::Transfer(config) => Box::new(Transfer::new(seed, config)),
        ProtocolConfig::Plugged(settings) => {
            let protocol = PLUGGED.iter().find_map(|build| build(&**settings, &sender));
            protocol.unwrap_or_else(|| panic!("settings of a protocol that is not registered: {settings:?}"))
        }
    }
}

/// How a carrier conveys.
pub(super) fn conveyance(carrier: Carrier) -> Conveyance {
    match carrier {
        Carrier::Message { mailbox, segment } => {
            let segment = SegmentSize::ALL.into_iter().find(|size| size.octets() == usize::from(segment));
            let segment = segment.expect("the compiler allows segment sizes only");
            Conveyance::Message { mailbox, segment, order: message::Order::Free }
        }
        Carrier::Stream { cos, stream_id } => Conveyance::Stream { cos, stream_id },
        Carrier::Doorbell { info } => Conveyance::Doorbell { info },
        Carrier::Read => Conveyance::Read,
        Carrier::Write => Conveyance::Write,
    }
}
