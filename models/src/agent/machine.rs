//! From settings to the protocols that they are of.

use super::enumerator::Enumeration;
use super::linx::Linx;
use super::protocol::{Conveyance, Cx, Outcome, Protocol, Received, Token};
use super::rpc::Rpc;
use super::session::{Role, Session};
use super::transfer::Transfer;
use super::transfer::translator::{self, Translator};
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
const PLUGGED: &[Build] = &[plug::<super::echo::Echo>, plug::<super::initialise::Processor>];

/// The protocol, if these settings are its own.
fn plug<P: Plugged>(
    settings: &dyn ProtocolSettings,
    sender: &dyn Fn() -> Sender,
) -> Option<Box<dyn Protocol>> {
    let settings = (settings as &dyn Any).downcast_ref()?;
    Some(Box::new(P::new(settings, sender())))
}

/// A part whose protocol is run by another part of its endpoint, which has all that is said under its flow.
#[derive(Debug)]
struct Guest;

impl Protocol for Guest {
    fn received(&mut self, _: &mut Cx<'_>, _: Received) {}

    fn outcome(&mut self, _: &mut Cx<'_>, _: Token, _: Outcome) {}
}

/// The protocols of the parts of the endpoint with this path, and by which part each is run: the flows of
/// session management have one node there, that of the first of them, and so has a translator.
pub(super) fn build(seed: u64, path: &str, parts: &[PartConfig]) -> Vec<(Box<dyn Protocol>, usize)> {
    let is_session = |part: &PartConfig| matches!(part.protocol, ProtocolConfig::Session(_));
    let node = parts.iter().position(is_session);
    let is_translator = |part: &PartConfig| matches!(part.protocol, ProtocolConfig::Translator(_));
    let device = parts.iter().position(is_translator);
    let machine = |(number, part): (usize, &PartConfig)| match (node, device) {
        (Some(node), _) if is_session(part) && number == node => (session(seed, path, parts), number),
        (Some(node), _) if is_session(part) => (Box::new(Guest) as Box<dyn Protocol>, node),
        (_, Some(device)) if is_translator(part) && number == device => (translator(parts), number),
        (_, Some(device)) if is_translator(part) => (Box::new(Guest) as Box<dyn Protocol>, device),
        _ => (one(seed, part), number),
    };
    parts.iter().enumerate().map(machine).collect()
}

fn sender(seed: u64, part: &PartConfig) -> Sender {
    Sender::new(part.source.as_ref().map(|source| Source::new(seed, source)))
}

/// The node of session management of an endpoint.
fn session(seed: u64, path: &str, parts: &[PartConfig]) -> Box<dyn Protocol> {
    let roles = (0..).zip(parts).filter_map(|(number, part)| match &part.protocol {
        ProtocolConfig::Session(config) => {
            Some(Role { part: number, flow: part.flow, config, sender: sender(seed, part) })
        }
        _ => None,
    });
    Box::new(Session::new(seed, path, roles.collect()))
}

/// The translator of which an endpoint is the first interface.
fn translator(parts: &[PartConfig]) -> Box<dyn Protocol> {
    let roles = (0..).zip(parts).filter_map(|(number, part)| match &part.protocol {
        ProtocolConfig::Translator(config) => {
            Some((part.flow, translator::Role { part: number, config: config.clone() }))
        }
        _ => None,
    });
    Box::new(Translator::new(roles))
}

/// The protocol of a part that runs it alone.
fn one(seed: u64, part: &PartConfig) -> Box<dyn Protocol> {
    let sender = || sender(seed, part);
    match &part.protocol {
        &ProtocolConfig::Workload { carrier } => Box::new(Workload::new(sender(), conveyance(carrier))),
        &ProtocolConfig::Rpc { carrier, answer, timeout } => {
            Box::new(Rpc::new(sender(), conveyance(carrier), answer, timeout))
        }
        ProtocolConfig::Session(_) | ProtocolConfig::Translator(_) => {
            unreachable!("all of an endpoint make one node")
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
