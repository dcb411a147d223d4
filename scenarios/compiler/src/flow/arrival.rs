//! When packets are created.

use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, count};
use crate::spec::*;
use crate::units::{self, Ratio};
use models::config::{Arrivals, Destinations};
use models::sim_core::{Duration, Purpose, Stream, Time};

/// A load with many digits counts in parts of this.
const LOAD_PARTS: u128 = 10_000_000_000;

/// Most bursts, in the mean, from one packet to the next.
const BURSTS_MAX: u64 = 1_000;

/// Arrival process of one source whose packets (or messages) take the link for `packet` ps in the mean,
/// and its load if it has one.
pub(super) fn arrivals(
    c: &mut Compiler<'_>,
    at: &str,
    flow: &FlowSpec,
    packet: Ratio,
    stream: &str,
) -> Option<(Arrivals, Option<Ratio>)> {
    let at = format!("{at}/arrivals");
    let Some(process) = &flow.arrivals else {
        // Conduits without PDUs: the limit is 0.
        return Some((Arrivals::Constant { interval: (1, 1), phase: Duration(0) }, None));
    };
    match process {
        ArrivalSpec::Poisson(spec) => {
            let load = load(c, &format!("{at}/poisson/load"), &spec.load)?;
            let mean = packet.over(load).and_then(Ratio::rounded)?;
            Some((Arrivals::Poisson { mean: Duration(mean.max(1)) }, Some(load)))
        }
        ArrivalSpec::Bernoulli(spec) => {
            let pointer = format!("{at}/bernoulli/load");
            let load = load(c, &pointer, &spec.load)?;
            let slot = match &spec.slot {
                Some(slot) => slot.get().max(1),
                None => u64::try_from(packet.num.div_ceil(packet.den)).ok()?,
            };
            if spec.slot.is_some() {
                let next = |start: u64| start.div_ceil(slot).saturating_mul(slot);
                starts(c, flow, &format!("{at}/bernoulli/slot"), next);
            }
            let chance = load.times(Ratio::whole(u128::from(slot)))?.over(packet)?;
            if chance.above_one() {
                let message = format!("a load of {load} needs more than one packet in a slot");
                c.once(Diagnostic::error("SC040", pointer, message).help("make the slot shorter"));
                return None;
            }
            let (numerator, denominator) = chance.pair()?;
            Some((Arrivals::Bernoulli { slot: Duration(slot), numerator, denominator }, Some(load)))
        }
        ArrivalSpec::Constant(spec) => {
            let (interval, load) = match (&spec.load, &spec.interval) {
                (Some(share), None) => {
                    let load = load(c, &format!("{at}/constant/load"), share)?;
                    (packet.over(load)?, load)
                }
                (None, Some(text)) => {
                    let pointer = format!("{at}/constant/interval");
                    let interval = Ratio::whole(u128::from(text.get()));
                    let Some(load) = packet.over(interval).filter(|load| !load.above_one()) else {
                        let shortest = units::time_text(packet.rounded()?);
                        let message = format!("\"{text}\" is shorter than one takes");
                        let help = format!("one, with all its packets, takes {shortest} on this link");
                        c.once(Diagnostic::error("SC040", pointer, message).help(help));
                        return None;
                    };
                    (interval, load)
                }
                _ => {
                    let message = "give \"load\" or \"interval\", and not both";
                    c.once(Diagnostic::error("SC005", format!("{at}/constant"), message));
                    return None;
                }
            };
            let interval = interval.pair()?;
            let phase = match filled(&spec.phase).get() {
                Period::Time(phase) => {
                    starts(c, flow, &format!("{at}/constant/phase"), |start| start.saturating_add(phase));
                    phase
                }
                Period::Auto | Period::Off => {
                    Stream::new(c.seed, stream, Purpose::PHASE).below(interval.0.div_ceil(interval.1))
                }
            };
            Some((Arrivals::Constant { interval, phase: Duration(phase) }, Some(load)))
        }
        ArrivalSpec::OnOff(spec) => {
            let pointer = format!("{at}/on_off/load");
            let load = load(c, &pointer, &spec.load)?;
            let (on, off) = (spec.on.get(), spec.off.get());
            if on == 0 {
                let message = "a burst of no length carries nothing";
                c.once(Diagnostic::error("SC008", format!("{at}/on_off/on"), message));
                return None;
            }
            let whole = Ratio::whole(u128::from(on) + u128::from(off));
            let peak = load.times(whole)?.over(Ratio::whole(u128::from(on)))?;
            if peak.above_one() {
                let message = format!("a load of {load} needs {peak} of the link within bursts");
                let help = "lower the load, or make the bursts longer than the pauses";
                c.once(Diagnostic::error("SC040", pointer, message).help(help));
                return None;
            }
            let interval = packet.over(peak).and_then(Ratio::rounded)?;
            if interval / BURSTS_MAX > on {
                let message = format!("a packet needs the time of {} bursts", interval / on);
                let help =
                    format!("allowed: at most {BURSTS_MAX}; make the bursts longer, or use \"poisson\"");
                c.once(Diagnostic::error("SC008", format!("{at}/on_off/on"), message).help(help));
                return None;
            }
            let (on, off, interval) = (Duration(on), Duration(off), Duration(interval.max(1)));
            Some((Arrivals::OnOff { on, off, interval }, Some(load)))
        }
        ArrivalSpec::Saturated(spec) => Some((Arrivals::Saturated { backlog: *filled(&spec.backlog) }, None)),
        ArrivalSpec::Trace(_) => None,
    }
}

/// Says so if a flow is over when it would send something: at `first` of its start.
fn starts(c: &mut Compiler<'_>, flow: &FlowSpec, pointer: &str, first: impl Fn(u64) -> u64) {
    let start = flow.start.as_ref().map_or(0, Quantity::get);
    let until = c.run.until.0;
    let stop = flow.stop.as_ref().map_or(until, Quantity::get);
    let first = first(start);
    // What is wrong with start and stop themselves is said of them.
    if first >= stop && start < stop {
        let (first, stop) = (units::time_text(first), units::time_text(stop));
        let message =
            format!("flow \"{}\" sends nothing: it would begin at {first}, and is over at {stop}", flow.name);
        let help = "a shorter time, or a later \"stop\" or \"run.until\"";
        c.once(Diagnostic::error("SC050", pointer, message).help(help).beyond_run());
    }
}

/// When the endpoints of a flow begin: the first at some time, each other so much after the one before it,
/// and each of them up to so much later, at random.
pub(crate) struct Beginnings {
    pub first: u64,
    pub offset: u64,
    pub spread: u64,
}

impl Beginnings {
    /// When the endpoint at this place of `from` begins, without what is drawn.
    pub fn of(&self, position: u64) -> u64 {
        self.first.saturating_add(position.saturating_mul(self.offset))
    }

    /// Whether all of them begin before the run is over.
    pub fn check(&self, c: &mut Compiler<'_>, at: &str, places: &[(usize, Destinations)]) {
        let until = c.run.until.0;
        let over = units::time_text(until);
        // That the first one is too late is said of its own time.
        if self.first > until {
            return;
        }
        let mut late = places.iter().zip(0..).filter(|(_, position)| self.of(*position) > until);
        if let Some(((device, _), position)) = late.next() {
            let others = match late.count() {
                0 => String::new(),
                more => format!("; {} later still", count(more, "endpoint")),
            };
            let name = &c.graph.nodes[*device].name;
            let begin = units::time_text(self.of(position));
            let message = format!("\"{name}\" would begin at {begin}, and the run is over at {over}{others}");
            let help = "a shorter time, fewer endpoints in \"from\", or a longer \"run.until\"";
            c.once(Diagnostic::error("SC120", format!("{at}/offset"), message).help(help).beyond_run());
            return;
        }
        let latest = self.of((places.len() as u64).saturating_sub(1)).saturating_add(self.spread);
        if latest > until {
            let latest = units::time_text(latest);
            let message = format!("some may begin as late as {latest}, and the run is over at {over}");
            let help = "nothing to do if that is meant; otherwise a shorter time, or a longer \"run.until\"";
            c.once(Diagnostic::warning("SC120", format!("{at}/spread"), message).help(help));
        }
    }
}

/// Ratio of a share.
pub(super) fn ratio(c: &mut Compiler<'_>, at: &str, share: &Share) -> Option<Ratio> {
    match share.read() {
        Ok(value) => Some(value),
        Err(why) => {
            let help = "allowed: a number (0.3), a percentage (\"30 %\") or a fraction (\"1/3\")";
            c.once(Diagnostic::error("SC007", at, why).help(help));
            None
        }
    }
}

/// A load: more than 0, at most 1.
fn load(c: &mut Compiler<'_>, at: &str, share: &Share) -> Option<Ratio> {
    // A negative number is a load out of range before it is a text that cannot be read.
    let value = if share.is_negative() { Ratio::whole(0) } else { ratio(c, at, share)? };
    if value.num == 0 || value.above_one() {
        let message = format!("a load of {share} cannot be offered");
        let help = "allowed: more than 0, at most 1 (the link is busy all the time)";
        c.once(Diagnostic::error("SC040", at, message).help(help));
        return None;
    }
    if value.num <= u128::from(u32::MAX) && value.den <= 1_000_000_000_000 {
        return Some(value);
    }
    // What a program computed has 17 digits, of which the last ones say nothing.
    let parts = value.times(Ratio::whole(LOAD_PARTS)).and_then(Ratio::rounded)?;
    if parts == 0 {
        let message = format!("a load of {share} is too small");
        c.once(Diagnostic::error("SC040", at, message).help("allowed: at least 0.0000000001"));
        return None;
    }
    Some(Ratio::new(u128::from(parts), LOAD_PARTS))
}

/// Start and stop of a flow.
pub(super) fn window(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> (Time, Time) {
    let until = c.run.until.0;
    // Programs and Transfers say themselves when they start.
    let start = flow.start.as_ref().map_or(0, Quantity::get);
    let stop = flow.stop.as_ref().map_or(until, Quantity::get);
    if start >= stop {
        let (key, what) = if flow.stop.is_some() { ("stop", "stops") } else { ("start", "starts") };
        let message = format!(
            "flow \"{}\" {what} too {}: it would run from {} to {}",
            flow.name,
            if key == "stop" { "early" } else { "late" },
            units::time_text(start),
            units::time_text(stop)
        );
        let found =
            Diagnostic::error("SC050", format!("{at}/{key}"), message).help("start < stop <= run.until");
        c.once(if start >= until { found.beyond_run() } else { found });
    }
    (Time(start), Time(stop))
}
