//! What a profile decides, and where that is written out.

use crate::spec::*;
use models::linx_riocm::Options;
use models::linx_riocm::options::{
    GapTimer, Liveness, Opening, Renewal, RepeatedRequest, ResetMode, Supervision,
};

/// The machine with a profile.
pub(super) fn options(profile: LinxProfile) -> Options {
    match profile {
        LinxProfile::Standard => Options::default(),
        LinxProfile::LinxForLinux => Options::linx_for_linux(),
    }
}

/// The settings that a profile decides. The jitter of LINX for Linux is uneven about 0, which no setting
/// says.
fn decided(profile: LinxProfile) -> LinxNodeSpec {
    let machine = options(profile);
    LinxNodeSpec {
        request_jitter: (profile == LinxProfile::Standard).then(|| "0 ps".into()),
        liveness: Some(match machine.liveness {
            Liveness::Heartbeat => LinxLiveness::Heartbeat,
            Liveness::Any => LinxLiveness::Any,
        }),
        supervision: Some(match machine.supervision {
            Supervision::Deadline => LinxSupervision::Deadline,
            Supervision::Ticks => LinxSupervision::Ticks,
        }),
        periods: Some(machine.periods),
        gap_timer: match machine.gap_timer {
            GapTimer::Periods => Some("auto".into()),
            GapTimer::Off => Some("off".into()),
            GapTimer::After(_) => None,
        },
        reset_mode: Some(match machine.reset_mode {
            ResetMode::Handshake => LinxResetMode::Handshake,
            ResetMode::Immediate => LinxResetMode::Immediate,
        }),
        repeated_request: Some(match machine.repeated_request {
            RepeatedRequest::Acknowledge => LinxRepeatedRequest::Acknowledge,
            RepeatedRequest::Teardown => LinxRepeatedRequest::Teardown,
        }),
        opening: Some(match machine.opening {
            Opening::Proved => LinxOpening::Proved,
            Opening::AtOnce => LinxOpening::AtOnce,
        }),
        renewal: Some(match machine.renewal {
            Renewal::Connect => LinxRenewal::Connect,
            Renewal::Never => LinxRenewal::Never,
        }),
        open_messages: u16::try_from(machine.limits.open).ok(),
        longest_message: Some(machine.limits.octets),
        ..LinxNodeSpec::default()
    }
}

/// Writes out what profiles decide, for all endpoints and in overrides that choose a profile, as far as that
/// changes nothing.
pub(super) fn write_out(endpoint: &mut EndpointSpec, overrides: &mut [OverrideSpec]) {
    let Some(base) = &mut endpoint.linx else { return };
    let changes = overrides.iter_mut().filter_map(|change| change.endpoint.as_mut()?.linx.as_mut());
    let mut layers: Vec<&mut LinxNodeSpec> = [base].into_iter().chain(changes).collect();
    write(&mut layers, |node| &mut node.request_jitter);
    write(&mut layers, |node| &mut node.liveness);
    write(&mut layers, |node| &mut node.supervision);
    write(&mut layers, |node| &mut node.periods);
    write(&mut layers, |node| &mut node.gap_timer);
    write(&mut layers, |node| &mut node.reset_mode);
    write(&mut layers, |node| &mut node.repeated_request);
    write(&mut layers, |node| &mut node.opening);
    write(&mut layers, |node| &mut node.renewal);
    write(&mut layers, |node| &mut node.open_messages);
    write(&mut layers, |node| &mut node.longest_message);
}

/// Writes one setting into each layer that chooses a profile and does not have it. Nothing, if a layer below
/// has it: that holds under every profile, and what is written above would hide it.
fn write<T>(layers: &mut [&mut LinxNodeSpec], setting: fn(&mut LinxNodeSpec) -> &mut Option<T>) {
    let mut says = false;
    let mut values = Vec::new();
    for layer in layers.iter_mut() {
        let own = setting(layer).is_some();
        values.push(match layer.profile {
            Some(profile) if !own => match setting(&mut decided(profile)).take() {
                Some(value) if !says => Some(value),
                _ => return,
            },
            _ => None,
        });
        says |= own;
    }
    for (layer, value) in layers.iter_mut().zip(values) {
        if value.is_some() {
            *setting(layer) = value;
        }
    }
}
