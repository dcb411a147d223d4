//! From the settings of applications to those of the node that they share.

use super::application::address;
use crate::config::{SessionConfig, SessionData, SessionProtocol};
use session_management::attribute::{Attribute, Conveyance as DataChannel, HeaderFormat};
use session_management::endpoint::{Broadcast, Config};
use session_management::negotiate::Offer;
use session_management::protocol::Protocol as Spoken;
use session_management::register::Contact;

/// What an application speaks.
pub(super) fn spoken(protocol: SessionProtocol) -> Spoken {
    match protocol {
        SessionProtocol::Plain(id) => Spoken::standard(id).expect("the compiler allows such protocols only"),
        SessionProtocol::Vendor { vendor, name, .. } => Spoken::vendor(vendor, name),
        SessionProtocol::Ethernet { .. } => Spoken::ETHERNET,
    }
}

/// What a node offers for one application.
fn offer(config: &SessionConfig) -> Offer {
    let own = config.directory[&config.node];
    let mut offer = Offer::plain(spoken(config.protocol));
    offer.cos = config.cos;
    offer.reuse = config.reuses;
    offer.vendor_streams = matches!(config.protocol, SessionProtocol::Vendor { streams: true, .. });
    offer.vendor_attributes.clone_from(&config.understands);
    let mut open: Vec<Attribute> = offer.open.list().iter().collect();
    let (mut more, ethernet) = (Vec::new(), matches!(config.protocol, SessionProtocol::Ethernet { .. }));
    if ethernet {
        let (least, mtu) = config.mtu;
        more.extend((least < mtu).then_some(Attribute::mtu(least)));
        let mailbox = match (config.data, own.contact) {
            (SessionData::Message(mailbox), _) | (_, Contact::Mailbox(mailbox)) => mailbox,
            _ => 0,
        };
        open.push(Attribute::mtu(mtu));
        open.push(Attribute::conveyance(DataChannel::mailbox(mailbox)));
        open.push(Attribute::mac_address(address(config.node)));
        offer.advertise = more.into_iter().chain(open.iter().copied()).collect();
    }
    match config.data {
        SessionData::Stream => offer.header = HeaderFormat::Data3,
        SessionData::Message(mailbox) => {
            offer.header = config.header;
            if own.contact != Contact::Mailbox(mailbox) && !ethernet {
                open.push(Attribute::conveyance(DataChannel::mailbox(mailbox)));
                offer.advertise = open.iter().copied().collect();
            }
        }
    }
    let mut vendors = Vec::new();
    if config.data_offset > 0 || config.offset_vendor.is_some() {
        let offset = Attribute::data_offset(config.data_offset, [0; 5]);
        match config.offset_vendor {
            Some(vendor) => vendors.extend([Attribute::data_offset_vendor(vendor), offset]),
            None => open.push(offset),
        }
    }
    vendors.extend(config.vendor.map(Attribute::vendor));
    vendors.extend(&config.attributes);
    offer.advertise = offer.advertise.list().iter().chain(vendors.iter().copied()).collect();
    open.extend(vendors);
    offer.open = open.into_iter().collect();
    offer
}

/// A node with its applications. Their settings of the node are the same.
pub(super) fn endpoint_config(apps: &[&SessionConfig]) -> Config {
    let config = apps[0];
    let own = config.directory[&config.node];
    let offers = if config.refuses { Vec::new() } else { apps.iter().map(|config| offer(config)).collect() };
    let mut endpoint = Config::new(config.node, own.contact, offers);
    endpoint.second = own.second;
    endpoint.mode = config.mode;
    endpoint.algorithm = config.algorithm;
    endpoint.max_records = config.record_limit as usize;
    endpoint.first_number = config.first_number;
    endpoint.first_stream = config.first_stream;
    endpoint.rts = config.rts;
    endpoint.xon_timeout = own.periods[2];
    for app in apps {
        if let SessionProtocol::Ethernet { multicast: Some(group), .. } = app.protocol {
            endpoint.broadcast = Broadcast::Multicast(group);
        }
    }
    endpoint.max_streams = config.stream_limit;
    endpoint.advertises = config.advertises;
    endpoint.pending_frames = config.frames_kept.into();
    endpoint.user_commands.clone_from(&config.user_commands);
    endpoint.vendor_streams.clone_from(&config.vendor_streams);
    endpoint.register_interval = config.poll;
    if let SessionData::Message(mailbox) = config.data {
        endpoint.data_mailbox = Some(mailbox);
    }
    endpoint
}
