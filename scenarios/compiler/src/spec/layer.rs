//! Settings in layers: those of all devices, presets, overrides.

use super::*;

/// Settings in layers: what is unset above shows what is below.
pub trait Layer: Clone {
    /// This over `lower`.
    #[must_use]
    fn over(&self, lower: &Self) -> Self;
}

macro_rules! layer {
    ($($type:ident { $($field:ident),* $(; $($deep:ident),*)? })*) => { $(
        impl Layer for $type {
            fn over(&self, lower: &Self) -> Self {
                Self {
                    $($field: self.$field.clone().or_else(|| lower.$field.clone()),)*
                    $($($deep: match (&self.$deep, &lower.$deep) {
                        (Some(up), Some(down)) => Some(up.over(down)),
                        (up, down) => up.clone().or_else(|| down.clone()),
                    },)*)?
                }
            }
        }
    )* };
}

layer! {
    RunSpec { until, warmup, sample_every, stall_after, on_stall, cut_short }
    LinkSpec { medium, rate, width, symbol, length, phy_latency, flow_control, granularity, timeout, vcs }
    SwitchSpec {
        device, input, buffering, buffer_packets, arbitration, iterations, slot, reads_per_input, forwarding,
        pipeline, input_buffers, watermarks, staging, queue_quota, leave_out_stopped; voq
    }
    EndpointSpec { device, input_buffers, watermarks, staging; voq, host, linx, session }
    HostSpec {
        rx_service, tx_service, rx_queue, protocol_clock, response_timeout, retry_delay, stream_packets
    }
    LinxNodeSpec {
        carrier, mailbox, segment, cos, mtu, hb_tmo, connection_priority, heartbeat_priority, data_priorities,
        request_period, reconnect, reconnect_spread, window, fragmentation, profile, request_jitter, liveness,
        supervision, periods, gap_timer, reset_mode, repeated_request, opening, renewal, open_messages,
        longest_message, first_cid, generation
    }
    SessionNodeSpec {
        algorithm, validation, management, data, mailbox, data_mailbox, stream, cos, classes, segment,
        retry, timeout, xon_timeout, record_limit, first_stream, stream_limit, header, data_offset,
        data_offset_vendor, mtu, reuse_stream, advertises, frames_kept, vendor_attributes, vendor,
        understands, user_commands, vendor_streams, rts, mute, contact, announces, writes, poll, refuses,
        consumer
    }
    PortVoqSpec {
        gen_sup, rx_sup, gen_en, part, xoff, link_sup, thresholds, verdict, refresh, generation_delay,
        after_recovery, obey_latency
    }
    VoqSpec {
        enabled, staging, thresholds, verdict, refresh, generation_delay, after_recovery, obey_latency,
        linked, writes
    }
    RoutingSpec { method, root, tables, allow_deadlock }
}
