//! A scenario with nothing left open: typed, complete, with the places of its settings for errors.
//!
//! The only defaults are those that `expand` and the kinds of flows write out; [`filled`] takes them. How
//! layers of settings become one is in [`crate::resolve`].

mod device;
mod enumeration;
mod link;

pub(crate) use device::{Device, Endpoint, Host, Kind, Switch, service};
pub(crate) use enumeration::Enumeration;
pub(crate) use link::Wire;

use crate::plan::Warmup;
use crate::spec::*;
use models::sim_core::{Duration, Time};

/// How long to run and what to watch.
pub(crate) struct Run {
    pub(crate) until: Time,
    pub(crate) warmup: Warmup,
    pub(crate) sample_every: Option<Duration>,
    pub(crate) stall_after: Period,
    pub(crate) on_stall: OnStall,
}

impl Run {
    pub(crate) fn new(spec: &Spec) -> Self {
        let run = filled(&spec.run);
        let until = filled(&run.until).get();
        Self {
            until: Time(until),
            warmup: match filled(&run.warmup).get() {
                Period::Time(time) => Warmup::Until(Time(time)),
                Period::Auto | Period::Off => Warmup::Auto,
            },
            sample_every: match filled(&run.sample_every).get() {
                Period::Off => None,
                Period::Auto => Some(Duration((until / 1_000).max(1))),
                Period::Time(time) => Some(Duration(time)),
            },
            stall_after: filled(&run.stall_after).get(),
            on_stall: *filled(&run.on_stall),
        }
    }
}

/// VoQ backpressure.
pub(crate) struct Voq {
    pub(crate) enabled: bool,
    pub(crate) staging: Staging,
    pub(crate) thresholds: Thresholds,
    /// `None`: by the buffers of each switch.
    pub(crate) verdict: Option<VerdictKind>,
    pub(crate) refresh: Period,
    pub(crate) generation_delay: Duration,
}

impl Voq {
    pub(crate) fn new(spec: &Spec) -> Self {
        let voq = filled(&spec.voq);
        Self {
            enabled: *filled(&voq.enabled),
            staging: filled(&voq.staging).clone(),
            thresholds: *filled(&voq.thresholds),
            verdict: voq.verdict,
            refresh: filled(&voq.refresh).get(),
            generation_delay: Duration(filled(&voq.generation_delay).get()),
        }
    }
}
