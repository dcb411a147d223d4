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
    pub until: Time,
    pub warmup: Warmup,
    pub sample_every: Period,
    pub stall_after: Period,
    pub on_stall: OnStall,
}

impl Run {
    pub fn new(spec: &Spec) -> Self {
        let run = filled(&spec.run);
        let until = filled(&run.until).get();
        Self {
            until: Time(until),
            warmup: match filled(&run.warmup).get() {
                Period::Time(time) => Warmup::Until(Time(time)),
                Period::Auto | Period::Off => Warmup::Auto,
            },
            sample_every: filled(&run.sample_every).get(),
            stall_after: filled(&run.stall_after).get(),
            on_stall: *filled(&run.on_stall),
        }
    }
}

/// VoQ backpressure.
pub(crate) struct Voq {
    pub enabled: bool,
    pub staging: Staging,
    pub thresholds: Thresholds,
    pub verdict: VerdictKind,
    pub refresh: Period,
    pub generation_delay: Duration,
    pub after_recovery: bool,
    pub obey_latency: Duration,
    pub linked: bool,
}

impl Voq {
    pub fn new(spec: &Spec) -> Self {
        let voq = filled(&spec.voq);
        Self {
            enabled: *filled(&voq.enabled),
            staging: filled(&voq.staging).clone(),
            thresholds: *filled(&voq.thresholds),
            verdict: *filled(&voq.verdict),
            refresh: filled(&voq.refresh).get(),
            generation_delay: Duration(filled(&voq.generation_delay).get()),
            after_recovery: *filled(&voq.after_recovery),
            obey_latency: Duration(filled(&voq.obey_latency).get()),
            linked: *filled(&voq.linked),
        }
    }
}
