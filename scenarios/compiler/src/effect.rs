//! Settings that would have no effect where they stand are errors: who wrote one meant something by it.

mod off;

use crate::compiler::Compiler;
use crate::diagnostic::{Diagnostic, Severity};
use crate::names;
use crate::plan::Variant;
use crate::pointer;
use crate::resolved::{Kind, Switch};
use crate::spec::*;
use crate::units;
use models::config::{Buffering, FabricConfig, FaultAction, VoqChange};
use std::collections::BTreeMap;

/// Settings of a switch.
pub(crate) fn switch(c: &mut Compiler<'_>, origin: &str, own: &Switch) {
    let (buffering, reads) = (own.buffering, own.reads_per_input);
    let places = match buffering {
        Buffering::Direct => 0,
        Buffering::Crosspoint { depth: packets }
        | Buffering::Output { packets }
        | Buffering::Shared { packets } => packets,
    };
    if let Some(quota) = own.queue_quota.filter(|quota| *quota >= places) {
        let message = match places {
            0 => "a quota has no effect here: there are no buffers behind the inputs".to_owned(),
            _ => format!("a quota of {quota} has no effect here: the buffer has {places} places"),
        };
        let help = "leave it out, or give a quota below \"buffer_packets\"";
        c.once(Diagnostic::error("SC051", format!("{origin}/queue_quota"), message).help(help));
    }
    if reads > 1 && buffering != Buffering::Direct {
        let message = format!(
            "{reads} reads of an input have no effect here: packets move on as soon as there is room behind \
             inputs"
        );
        let help = "leave it out, or use \"buffering\": \"direct\"";
        c.once(Diagnostic::error("SC051", format!("{origin}/reads_per_input"), message).help(help));
    }
}

/// Latencies of obedience for ports to which nobody speaks: endpoints send no messages.
pub(crate) fn obedience(c: &mut Compiler<'_>) {
    let spec = c.spec;
    for (i, change) in spec.overrides.iter().flatten().enumerate() {
        let (Some(port), Some(voq)) = (&change.port, &change.voq) else { continue };
        if voq.obey_latency.is_none() {
            continue;
        }
        let (mut hit, mut hears) = (false, false);
        for device in 0..c.graph.nodes.len() {
            for number in 0..c.graph.ports(device) {
                if c.graph.is_port_like((device, number), port) {
                    let neighbour = c.neighbours[device][usize::from(number)];
                    hit = true;
                    hears |= neighbour.is_some_and(|(_, other, _)| c.graph.is_switch(other));
                }
            }
        }
        if hit && !hears {
            let message = "this setting has no effect here: no switch sends messages to such a port";
            let help = "leave it out, or set it for ports that face switches";
            let pointer = format!("/overrides/{i}/voq/obey_latency");
            c.once(Diagnostic::error("SC051", pointer, message).help(help));
        }
    }
}

/// Registers of the port of an endpoint.
pub(crate) fn endpoint_port(c: &mut Compiler<'_>, pointer: &str, registers: &PortVoqSpec) {
    for (key, given) in [
        ("gen_sup", *filled(&registers.gen_sup)),
        ("part", !*filled(&registers.part)),
        ("xoff", *filled(&registers.xoff)),
        ("thresholds", registers.thresholds.is_some()),
        ("verdict", registers.verdict.is_some()),
        ("refresh", registers.refresh.is_some()),
        ("generation_delay", registers.generation_delay.is_some()),
        ("after_recovery", registers.after_recovery.is_some()),
    ] {
        if given {
            let message = "this setting has no effect here: an endpoint reports no port, it takes what comes";
            let help =
                "set it for ports of switches; what an endpoint honours is rx_sup, and when, obey_latency";
            c.once(Diagnostic::error("SC051", format!("{pointer}/{key}"), message).help(help));
        }
    }
}

/// What is done on purpose, and when: the run does not get to what comes when it is over.
pub(crate) fn deeds(c: &mut Compiler<'_>) {
    let spec = c.spec;
    let until = c.run.until.0;
    let over = units::time_text(until);
    for (pointer, at) in moments(spec).into_iter().filter(|(_, at)| *at > until) {
        let message = format!("{} is after the run, which is over at {over}", units::time_text(at));
        let help = "an earlier time, or a longer \"run.until\"";
        c.once(Diagnostic::error("SC120", pointer, message).help(help).beyond_run());
    }
    clocks(c);
    for (pointer, period, nothing) in periods(c).into_iter().filter(|(_, period, _)| *period > until) {
        let period = units::time_text(period);
        let message = format!("{nothing}: {period} is longer than the run of {over}");
        let help = "\"off\" if that is meant; otherwise a shorter time, or a longer \"run.until\"";
        c.once(Diagnostic::error("SC120", pointer, message).help(help).beyond_run());
    }
}

/// Times from one look, or from one repetition, to the next, and what there is none of before the first.
fn periods(c: &Compiler<'_>) -> Vec<(String, u64, &'static str)> {
    let run = filled(&c.spec.run);
    let mut given = vec![
        ("/run/sample_every".to_owned(), filled(&run.sample_every).get(), "nothing is sampled"),
        ("/run/stall_after".to_owned(), filled(&run.stall_after).get(), "no packet counts as stalled"),
    ];
    if c.voq.enabled {
        // Registers of each port, and where they stand.
        let of_ports = c.registers.iter().flatten().map(|(own, at)| (format!("{at}/refresh"), &own.refresh));
        let all = of_ports.chain([("/voq/refresh".to_owned(), &filled(&c.spec.voq).refresh)]);
        let repeats: BTreeMap<String, Period> =
            all.filter_map(|(at, refresh)| Some((at, refresh.as_ref()?.get()))).collect();
        given.extend(repeats.into_iter().map(|(at, refresh)| (at, refresh, "no VoQ message is repeated")));
    }
    let time = |period| match period {
        Period::Time(time) => Some(time),
        Period::Auto | Period::Off => None,
    };
    given.into_iter().filter_map(|(at, period, nothing)| Some((at, time(period)?, nothing))).collect()
}

/// When something is done on purpose, and where that stands.
fn moments(spec: &Spec) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = Vec::new();
    let mut add = |pointer: String, at: &Quantity<Picoseconds>| all.push((pointer, at.get()));
    for (i, write) in filled(&spec.voq).writes.iter().flatten().enumerate() {
        add(format!("/voq/writes/{i}/at"), &write.at);
    }
    let faults = filled(&spec.faults);
    for (i, fault) in faults.outages.iter().flatten().enumerate() {
        add(format!("/faults/outages/{i}/at"), &fault.at);
    }
    for (i, fault) in faults.lane_losses.iter().flatten().enumerate() {
        add(format!("/faults/lane_losses/{i}/at"), &fault.at);
    }
    for (i, fault) in faults.silent_credits.iter().flatten().enumerate() {
        add(format!("/faults/silent_credits/{i}/at"), &fault.at);
    }
    for (i, fault) in faults.dead_devices.iter().flatten().enumerate() {
        add(format!("/faults/dead_devices/{i}/at"), &fault.at);
    }
    let mut ends = Vec::new();
    for (n, flow) in spec.traffic.iter().enumerate() {
        flow.stop.iter().for_each(|stop| add(format!("/traffic/{n}/stop"), stop));
        if let Some(at) = flow.initialise.as_ref().and_then(|initialise| initialise.at.as_ref()) {
            add(format!("/traffic/{n}/initialise/at"), at);
        }
        if let Some(st) = &flow.st {
            let at = format!("/traffic/{n}/st");
            st.at.iter().for_each(|begin| add(format!("{at}/at"), begin));
            // An end comes so long after its Transfer, and none begins before the connection does.
            let begin = st.at.as_ref().map_or(0, Quantity::get);
            let after = st.end.as_ref().map(|end| end.after.get());
            ends.extend(after.map(|after| (format!("{at}/end/after"), begin.saturating_add(after))));
            let after = st.disconnect_after.as_ref().map(|after| begin.saturating_add(after.get()));
            ends.extend(after.map(|after| (format!("{at}/disconnect_after"), after)));
        }
        if let Some(linx) = &flow.linx {
            let at = format!("/traffic/{n}/linx");
            linx.at.iter().for_each(|begin| add(format!("{at}/at"), begin));
            for (i, fault) in linx.faults.iter().flatten().enumerate() {
                add(format!("{at}/faults/{i}/at"), &fault.at);
            }
            for (i, disconnect) in linx.disconnects.iter().flatten().enumerate() {
                add(format!("{at}/disconnects/{i}/at"), &disconnect.at);
            }
            for (i, inject) in linx.inject.iter().flatten().enumerate() {
                add(format!("{at}/inject/{i}/at"), &inject.at);
            }
        }
        if let Some(session) = &flow.session {
            let at = format!("/traffic/{n}/session");
            session.at.iter().for_each(|begin| add(format!("{at}/at"), begin));
            for (i, step) in session.script.iter().flat_map(|script| &script.steps).enumerate() {
                add(format!("{at}/script/steps/{i}/at"), &step.at);
            }
            for (i, restart) in session.restarts.iter().flatten().enumerate() {
                add(format!("{at}/restarts/{i}/at"), &restart.at);
            }
            for (i, inject) in session.inject.iter().flatten().enumerate() {
                add(format!("{at}/inject/{i}/at"), &inject.at);
            }
            for (i, command) in session.user_defined.iter().flatten().enumerate() {
                add(format!("{at}/user_defined/{i}/at"), &command.at);
            }
            session.close_at.iter().for_each(|close| add(format!("{at}/close_at"), close));
        }
    }
    all.extend(ends);
    all
}

/// Cell clocks that let nothing through: their second tick comes when the run is over, and at the first, at
/// 0, nothing has arrived.
fn clocks(c: &mut Compiler<'_>) {
    let until = c.run.until;
    let found: Vec<(String, u64)> = c
        .devices
        .iter()
        .filter_map(|device| match &device.kind {
            Kind::Switch(own) => own.slot.map(|slot| (format!("{}/slot", device.origin), slot.0)),
            Kind::Endpoint(_) => None,
        })
        .filter(|(_, slot)| *slot > until.0)
        .collect();
    for (pointer, slot) in found {
        let message = format!(
            "no packet leaves: a cell clock of {} ticks at 0 and when the run is over, at {}",
            units::time_text(slot),
            units::time_text(until.0)
        );
        let help = "a shorter period, or a longer \"run.until\"";
        c.once(Diagnostic::error("SC050", pointer, message).help(help).beyond_run());
    }
}

/// Settings that are about something which the scenario does not have.
pub(crate) fn moot(c: &mut Compiler<'_>) {
    let spec = c.spec;
    for (n, flow) in spec.traffic.iter().enumerate() {
        // Injected messages may be anything, and what a bridge has not learnt goes to everybody.
        let plain = flow.session.iter().filter(|session| session.inject.is_none());
        let ethernet = plain.filter_map(|session| session.ethernet.as_ref());
        let idle = |own: &EthernetSpec| {
            own.server.is_some() && own.bridges.is_none() && own.broadcast_every.unwrap_or(0) == 0
        };
        if ethernet.into_iter().any(idle) {
            let message = "a server has no effect here: nobody sends broadcasts";
            let help = "leave it out, or give \"broadcast_every\"";
            let pointer = format!("/traffic/{n}/session/ethernet/server");
            c.once(Diagnostic::error("SC051", pointer, message).help(help));
        }
    }
    let outages = filled(&spec.faults).outages.iter().flatten().enumerate();
    for (i, _) in outages.filter(|(_, outage)| outage.every.is_some() && outage.times.unwrap_or(1) == 1) {
        let message = "a period has no effect here: the links go down once";
        let help = "add \"times\": how often they do";
        c.once(Diagnostic::error("SC051", format!("/faults/outages/{i}/every"), message).help(help));
    }
}

/// Lanes that links lose: each time some, and none that a rate of errors is about. Which lanes are left is
/// not known here: errors fall on all of them alike.
pub(crate) fn lanes(c: &mut Compiler<'_>, config: &FabricConfig) {
    let faults = filled(&c.spec.faults);
    let losses: Vec<(u64, u8)> = faults.lane_losses.iter().flatten().map(loss).collect();
    let mut widths: BTreeMap<u32, u8> = BTreeMap::new();
    for fault in &config.faults {
        let FaultAction::Lanes(left) = fault.action else { continue };
        let before = widths.insert(fault.link, left);
        let Some(before) = before.filter(|before| left >= *before) else { continue };
        let place = losses.iter().position(|loss| *loss == (fault.at.0, left)).unwrap_or(0);
        let message =
            format!("the link has fallen back to {before}x before: it cannot come back with {left}x");
        let help = "each loss leaves fewer lanes than the one before it";
        let pointer = format!("/faults/lane_losses/{place}/width");
        c.once(Diagnostic::error("SC067", pointer, message).help(help));
    }
    for (i, errors) in faults.bit_errors.iter().flatten().enumerate() {
        let BitErrorRate::Lanes(rates) = &errors.rate else { continue };
        let uneven = rates.iter().any(|rate| Some(rate) != rates.first());
        let about = |link: &u32, errors: &BitErrorSpec| {
            let edge = &c.graph.edges[*link as usize];
            [edge.a, edge.b].into_iter().any(|end| c.graph.is_end_like(end, &errors.link))
        };
        // The last entry about a link counts.
        let later = || faults.bit_errors.iter().flatten().skip(i + 1);
        let meets = |link: &u32| about(link, errors) && !later().any(|errors| about(link, errors));
        let Some(link) = widths.keys().copied().find(meets).filter(|_| uneven) else { continue };
        let edge = &c.graph.edges[link as usize];
        let name = format!("{} - {}", c.graph.port_name(edge.a), c.graph.port_name(edge.b));
        let message = format!("the link {name} loses lanes: which rates are left is not known");
        let help = "give one rate for all lanes of it";
        c.once(Diagnostic::error("SC067", format!("/faults/bit_errors/{i}/rate"), message).help(help));
    }
}

/// When lanes are lost, and how many are left.
fn loss(loss: &LaneLossSpec) -> (u64, u8) {
    (loss.at.get(), loss.width.as_ref().map_or(1, Quantity::get))
}

/// What is so whether a file says it or not.
pub(crate) struct Anyway {
    /// What switches have of the settings at which not all of them look.
    pub switch: SwitchSpec,
    /// What hosts have of theirs.
    pub host: &'static HostSpec,
    /// Whether a flow is one of a protocol that runs on hosts.
    pub runs_on_hosts: fn(&FlowSpec) -> bool,
    /// The program of a flow, with the key of what carries its messages.
    pub program_of: fn(&FlowSpec) -> Option<(&'static str, &ProgramSpec)>,
}

/// Of what has no effect, the errors about what is set at these places (`paths`: a place, and who sets it).
pub(crate) fn set_in_vain<'a>(
    moot: &'a [Diagnostic],
    paths: &'a [(String, String)],
) -> impl Iterator<Item = &'a Diagnostic> {
    moot.iter().filter(|item| {
        item.severity == Severity::Error
            && paths.iter().any(|(path, _)| pointer::beneath(path, &item.pointer).is_some())
    })
}

/// Settings that have no effect in any run of a plan. Variants may share a setting that some of them do
/// without: they cannot take it away.
///
/// `given` is the file as it was written, without defaults.
pub(crate) fn in_no_run(
    given: &Spec,
    anyway: &Anyway,
    compiled: &[(Spec, Option<Variant>)],
    out: &mut Vec<Diagnostic>,
) {
    let runs: &[&Spec] = &compiled.iter().map(|(spec, _)| spec).collect::<Vec<&Spec>>();
    switched_off(runs, out);
    let run = |spec: &Spec| filled(&spec.run).clone();
    let watched = |spec: &&Spec| filled(&run(spec).stall_after).read() != Ok(Period::Off);
    let stops = |spec: &&Spec| run(spec).on_stall == Some(OnStall::Stop);
    if runs.iter().any(stops) && !runs.iter().any(watched) {
        // A sweep may switch the watch on.
        let message = "this has no effect here: nobody looks for stalls while \"run.stall_after\" is \"off\"";
        let finding = Diagnostic::warning("SC051", "/run/on_stall", message);
        out.push(finding.help("leave it out, or give \"run.stall_after\""));
    }
    let mut useless = |pointer: String, message: &str, help: &str| {
        out.push(Diagnostic::error("SC051", pointer, message).help(help));
    };
    let method = |spec: &Spec| match spec.routing.as_ref().and_then(|routing| routing.method) {
        None | Some(RoutingMethod::Auto) => spec.topology.method(),
        Some(method) => method,
    };
    let rooted = |spec: &&Spec| spec.routing.as_ref().is_some_and(|routing| routing.root.is_some());
    let mut rooted = runs.iter().copied().filter(rooted).peekable();
    if rooted.peek().is_some() && rooted.all(|spec| method(spec) != RoutingMethod::UpDown) {
        let message = "a root has no effect here: only \"up_down\" has one";
        let help = "leave it out, or use \"method\": \"up_down\"";
        useless("/routing/root".into(), message, help);
    }
    let coarse = |run: &Variant| run.config.symbolic.is_empty();
    if !compiled.is_empty() && compiled.iter().all(|(_, run)| run.as_ref().is_some_and(coarse)) {
        let message = "this has no effect here: in packet granularity no symbol is lost, and nothing waits \
                       for one";
        let help = "leave it out, or give \"granularity\": \"symbol\"";
        let overrides = given.overrides.iter().flatten().enumerate();
        let overrides = overrides.map(|(n, own)| (format!("/overrides/{n}/links/timeout"), &own.links));
        let all = std::iter::once(("/links/timeout".to_owned(), &given.links)).chain(overrides);
        for (pointer, links) in all {
            if links.as_ref().is_some_and(|links| links.timeout.is_some()) {
                useless(pointer, message, help);
            }
        }
    }
    let seed = |spec: &Spec, n: usize| match spec.traffic.get(n).and_then(|flow| flow.to.as_ref()) {
        Some(To::Pattern(ToPattern::Permutation(own))) => Some((own.kind, own.seed)),
        _ => None,
    };
    for n in 0..runs.first().map_or(0, |spec| spec.traffic.len()) {
        let mut all = runs.iter().filter_map(|spec| seed(spec, n)).peekable();
        if all.peek().is_some() && all.all(|(kind, seed)| kind != PermutationKind::Random && seed.is_some()) {
            let message = "a seed has no effect here: this permutation is not drawn";
            let help = "leave it out, or use the kind \"random\"";
            useless(format!("/traffic/{n}/to/permutation/seed"), message, help);
        }
    }
    barriers(runs, anyway, out);
    off::check(given, anyway, compiled, out);
    if off::is_on(compiled) {
        unjudged(compiled, out);
    }
}

/// Octets of programs that are barriers in every run. What collectives have anyway says nothing: a file with
/// all defaults written out gives it to barriers, too.
fn barriers(runs: &[&Spec], anyway: &Anyway, out: &mut Vec<Diagnostic>) {
    for n in 0..runs.first().map_or(0, |spec| spec.traffic.len()) {
        let programs = || runs.iter().filter_map(|spec| (anyway.program_of)(spec.traffic.get(n)?));
        let is_barrier = |own: &ProgramSpec| own.collective == Some(CollectiveKind::Barrier);
        let given = |own: &ProgramSpec| own.octets.is_some_and(|octets| octets != ProgramSpec::VECTOR);
        let Some((key, _)) = programs().find(|(_, own)| given(own)) else { continue };
        if programs().all(|(_, own)| is_barrier(own)) {
            let message = "this has no effect here: messages of a barrier carry no vector";
            let finding = Diagnostic::error("SC051", format!("/traffic/{n}/{key}/program/octets"), message);
            out.push(finding.help("leave it out, or use another collective operation"));
        }
    }
}

/// Thresholds written for ports that nothing judges in any run.
fn unjudged(compiled: &[(Spec, Option<Variant>)], out: &mut Vec<Diagnostic>) {
    let all = || compiled.iter();
    if all().any(|(_, run)| run.is_none()) {
        return;
    }
    let entry = |spec: &Spec, n: usize| Some(spec.voq.as_ref()?.writes.as_ref()?.get(n)?.clone());
    for n in 0.. {
        let mut entries = all().filter_map(|(spec, run)| Some((entry(spec, n)?, run.as_ref()?))).peekable();
        if entries.peek().is_none() {
            return;
        }
        let mut given = entries.filter(|(write, _)| write.thresholds.is_some()).peekable();
        let judged = |(write, run): (VoqWriteSpec, &Variant)| {
            run.config.voq_writes.iter().any(|made| {
                let port = crate::fabric::port_name(&run.config, made.device, made.port);
                matches!(made.change, VoqChange::Thresholds { .. }) && names::matches(&write.port, &port)
            })
        };
        if given.peek().is_some() && !given.any(judged) {
            let message = "thresholds have no effect here: no switch that this names sends messages";
            let help = "leave them out, or let one of its ports send messages (GEN_EN)";
            out.push(Diagnostic::error("SC051", format!("/voq/writes/{n}/thresholds"), message).help(help));
        }
    }
}

/// Flows that send nothing in any run, because their limit is 0. That may be meant: a variant or a sweep
/// switches such a flow on.
fn switched_off(runs: &[&Spec], out: &mut Vec<Diagnostic>) {
    for n in 0..runs.first().map_or(0, |spec| spec.traffic.len()) {
        let mut flows = runs.iter().filter_map(|spec| spec.traffic.get(n)).peekable();
        let Some(name) = flows.peek().map(|flow| flow.name.clone()) else { continue };
        if flows.all(|flow| flow.limit == Some(0)) {
            let message = format!("flow \"{name}\" sends nothing in any run: its limit is 0");
            let finding = Diagnostic::warning("SC113", format!("/traffic/{n}/limit"), message);
            out.push(finding.help("nothing to do if it is switched off on purpose"));
        }
    }
}
