//! What a host found out about a fabric, and how long it took: for `summary.json` and for people.

use crate::num::{Num, count_text, counted_text, time_text};
use crate::report::VariantReport;
use models::enumeration::{EnumerationReport, Unmade, UnmadeBecause};
use serde::Serialize;
use std::fmt::Write;

/// The enumeration of one variant.
#[derive(Clone, Debug, Serialize)]
pub struct EnumerationSummary {
    /// Name of the host.
    pub host: String,
    /// When traffic could start everywhere; `null`: the run ended before, or it never could.
    pub done_us: Option<Num>,
    /// Devices found, the host included.
    pub devices: u64,
    /// Of these, switches.
    pub switches: u64,
    /// Ports of all devices.
    pub ports: u64,
    /// Links found.
    pub links: u64,
    /// How often a device did not answer, was held by another host, or got no id; a device may count in
    /// several phases.
    pub problems: u64,
    /// Changes of registers that were due after the set-up, and were not made.
    pub unmade: Vec<UnmadeSummary>,
    /// Whether every endpoint got an id, and that which was planned for it.
    pub as_planned: bool,
    /// Endpoints, the host among them and those that no link leads to.
    pub endpoints: u64,
    /// Of these, got none.
    pub unnamed: u64,
    /// Of these, were never told that they may send: their traffic was not started.
    pub silent: u64,
    // An endpoint got another id than was planned.
    #[serde(skip)]
    astray: bool,
    // When the host had nothing more to do.
    #[serde(skip)]
    finished_us: Option<Num>,
    /// Register accesses, those of later changes and repetitions included.
    pub requests: u64,
    /// Requests sent again.
    pub repetitions: u64,
    /// Responses that did not come in time.
    pub timeouts: u64,
    /// Phases in order.
    pub phases: Vec<PhaseSummary>,
    /// Devices in the order in which they were found.
    pub found: Vec<FoundSummary>,
}

/// One change of a register that was not made.
#[derive(Clone, Debug, Serialize)]
pub struct UnmadeSummary {
    /// Switch and port.
    pub port: String,
    /// When it was due.
    pub due_us: Num,
    /// Why: `no answer to the read` (it is as it was), `no answer to the write` (nobody knows), `the run
    /// ended before`.
    pub why: &'static str,
}

/// One phase.
#[derive(Clone, Debug, Serialize)]
pub struct PhaseSummary {
    /// Name.
    pub name: &'static str,
    /// Beginning.
    pub from_us: Num,
    /// End; `null`: the run ended before.
    pub to_us: Option<Num>,
    /// Registers read.
    pub reads: u64,
    /// Registers written.
    pub writes: u64,
}

/// One device.
#[derive(Clone, Debug, Serialize)]
pub struct FoundSummary {
    /// Name; `null` if it lost its tag again.
    pub device: Option<String>,
    /// Component tag.
    pub tag: u32,
    /// Destination id of an endpoint.
    pub id: Option<u32>,
    /// Ports.
    pub ports: u8,
    /// Switches between it and the host.
    pub hops: u8,
    /// When it was found.
    pub at_us: Num,
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

impl EnumerationSummary {
    /// The enumeration of a variant, if a host set its fabric up.
    pub fn new(report: &VariantReport) -> Option<Self> {
        let config = &report.run.config;
        let found = report.run.outcome.enumeration.as_ref()?;
        let EnumerationReport { phases, devices, links, problems, as_planned, .. } = found;
        let unmade = |change: &Unmade| UnmadeSummary {
            port: format!("{}:{}", config.devices[change.device as usize].path, change.port),
            due_us: us(change.due.0),
            why: match change.why {
                UnmadeBecause::Unread => "no answer to the read",
                UnmadeBecause::Unconfirmed => "no answer to the write",
                UnmadeBecause::Waiting => "the run ended before",
            },
        };
        let &EnumerationReport { endpoints, unnamed, silent, astray, .. } = found;
        let name = |device: u32| config.devices[device as usize].path.clone();
        Some(Self {
            host: name(config.enumeration?.host),
            done_us: found.all_started().map(|at| us(at.0)),
            devices: devices.len() as u64,
            switches: devices.iter().filter(|device| device.switch).count() as u64,
            ports: devices.iter().map(|device| u64::from(device.ports)).sum(),
            links: links.len() as u64,
            problems: *problems,
            unmade: found.unmade.iter().map(unmade).collect(),
            as_planned: *as_planned,
            endpoints,
            unnamed,
            silent,
            astray,
            finished_us: found.done().map(|at| us(at.0)),
            requests: found.packets,
            repetitions: found.repetitions,
            timeouts: found.timeouts,
            phases: phases
                .iter()
                .map(|phase| PhaseSummary {
                    name: phase.name,
                    from_us: us(phase.from.0),
                    to_us: phase.until.map(|at| us(at.0)),
                    reads: phase.reads,
                    writes: phase.writes,
                })
                .collect(),
            found: devices
                .iter()
                .map(|device| FoundSummary {
                    device: device.device.map(name),
                    tag: device.tag,
                    id: device.id,
                    ports: device.ports,
                    hops: device.hops,
                    at_us: us(device.at.0),
                })
                .collect(),
        })
    }

    /// For a terminal: lines without indentation.
    pub fn lines(&self) -> Vec<String> {
        let done = match self.finished_us {
            Some(at) => format!("in {}", time_text(at.0 * 1e6)),
            None => "and did not finish".into(),
        };
        let mut lines = vec![format!(
            "{} set up {} devices ({} switches, {} links) {done}: {} register accesses, {} repeated, \
             {}",
            self.host,
            count_text(self.devices),
            count_text(self.switches),
            count_text(self.links),
            count_text(self.requests),
            count_text(self.repetitions),
            counted_text(self.problems, "problems"),
        )];
        let mut phases = String::from("how long each phase took (register accesses):");
        for (n, phase) in self.phases.iter().enumerate() {
            let took = match phase.to_us {
                Some(to) => time_text((to.0 - phase.from_us.0) * 1e6),
                None => "not finished".into(),
            };
            let accesses = count_text(phase.reads + phase.writes);
            let comma = if n == 0 { "" } else { "," };
            write!(phases, "{comma} {} {took} ({accesses})", phase.name).expect("a string takes any text");
        }
        lines.push(phases);
        if let Some(first) = self.unmade.first() {
            let UnmadeSummary { port, due_us, why } = first;
            let due = time_text(due_us.0 * 1e6);
            lines.push(match self.unmade.len() {
                1 => format!("a change of a register was not made: {port}, due at {due} ({why})"),
                n => format!(
                    "{} changes of registers were not made, the first: {port}, due at {due} ({why})",
                    count_text(n as u64)
                ),
            });
        }
        let endpoints = counted_text(self.endpoints, "endpoints");
        if self.astray {
            lines.push("an endpoint got another id than was planned: no traffic was started".into());
        } else if self.silent > 0 {
            let silent = count_text(self.silent);
            let unnamed = match self.unnamed {
                0 => String::new(),
                unnamed => format!(", {} of them without an id", count_text(unnamed)),
            };
            lines.push(format!(
                "{silent} of {endpoints} were never told to begin{unnamed}: no traffic was started there"
            ));
        } else if self.unnamed > 0 {
            lines.push(format!("{} of {endpoints} got no id", count_text(self.unnamed)));
        }
        lines
    }
}
