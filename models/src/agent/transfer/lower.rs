//! The frames in which operations lie: on RapidIO that of Ethernet 802.3, or, of Data that does not go into
//! one, of DIX Ethernet; on other media their own.

use crate::agent::protocol::Conveyance;
use crate::config::Medium;
use scheduled_transfer::Ula;
use scheduled_transfer::llp;
use scheduled_transfer::llp::{dix, ethernet, fibre_channel, hippi_fp, hippi6400, lane};
use scheduled_transfer::wire::HEADER_BYTES;

/// Octets of the largest payload that goes into a frame: in a type 9 stream, which has 64 KiB for a frame, as
/// on media that carry more.
const LARGEST: usize = 32_768;

/// What a frame brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub to: Ula,
    pub from: Ula,
    pub operation: &'a [u8],
}

/// Whether the medium carries an operation. It has a header.
pub(crate) fn carries(medium: Option<Medium>, operation: &[u8]) -> bool {
    let fits = operation.len() <= HEADER_BYTES + LARGEST;
    fits && medium.is_none_or(|medium| medium.layer().fits(operation).is_ok())
}

/// How an operation on a virtual channel leaves through an interface, and with which priority. On RapidIO:
/// `streams` of Control and of Data.
pub(crate) fn conveyance(
    (medium, interface): (Option<Medium>, u8),
    (cos, streams): (u8, [(u8, u16); 2]),
    channel: u8,
) -> (Conveyance, u8) {
    match medium {
        None => {
            let (priority, stream_id) = streams[usize::from(channel != 0)];
            (Conveyance::stream(cos, stream_id, interface), priority)
        }
        Some(medium) => (Conveyance::Frame { interface }, medium.priority(channel)),
    }
}

/// Octets in front of an operation.
pub(crate) fn overhead(medium: Option<Medium>) -> usize {
    medium.map_or(ethernet::OVERHEAD_BYTES, |medium| medium.layer().overhead_bytes())
}

/// The frame of an operation that the medium carries.
pub(crate) fn emit(medium: Option<Medium>, (d_ula, s_ula): (Ula, Ula), operation: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(overhead(medium) + operation.len() + 64);
    let written = match medium {
        None if llp::Medium::Ethernet.fits(operation).is_err() => {
            dix::Frame { d_ula, s_ula, operation }.emit(&mut out);
            Ok(())
        }
        None | Some(Medium::Ethernet) => ethernet::Frame { d_ula, s_ula, operation }.emit(&mut out),
        Some(Medium::Hippi6400) => hippi6400::Frame { d_ula, s_ula, operation }.emit(&mut out),
        Some(Medium::HippiFp) => hippi_fp::Frame { d_ula, s_ula, operation }.emit(&mut out),
        Some(Medium::FibreChannel) => fibre_channel::Frame { d_ula, s_ula, operation }.emit(&mut out),
        Some(lan @ (Medium::AtmLane | Medium::AtmDix | Medium::AtmTokenRing4 | Medium::AtmTokenRing16)) => {
            let Ula([.., high, low]) = s_ula;
            let lecid = u16::from_be_bytes([high, low]);
            let frame = lane::Frame { lecid, d_ula, s_ula, operation, routing: &[], zero_length: false };
            frame.emit(lan.layer(), &mut out)
        }
    };
    written.expect("the compiler keeps STUs within a frame");
    out
}

/// Reads a frame. `None` if it is none of this medium.
pub(crate) fn parse(medium: Option<Medium>, frame: &[u8]) -> Option<Found<'_>> {
    macro_rules! found {
        ($read:expr) => {
            $read.ok().map(|frame| Found { to: frame.d_ula, from: frame.s_ula, operation: frame.operation })
        };
    }
    match medium {
        None if dix::Frame::is(frame) => found!(dix::Frame::parse(frame)),
        None | Some(Medium::Ethernet) => found!(ethernet::Frame::parse(frame)),
        Some(Medium::Hippi6400) => found!(hippi6400::Frame::parse(frame)),
        Some(Medium::HippiFp) => found!(hippi_fp::Frame::parse(frame)),
        Some(Medium::FibreChannel) => found!(fibre_channel::Frame::parse(frame)),
        Some(lan @ (Medium::AtmLane | Medium::AtmDix | Medium::AtmTokenRing4 | Medium::AtmTokenRing16)) => {
            found!(lane::Frame::parse(lan.layer(), frame))
        }
    }
}
