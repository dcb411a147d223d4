//! Requirements: which flows and links they speak of. What a metric is, those know who make results; they are
//! asked once for a whole scenario ([`unknown`]).

use crate::compiler::{Compiler, no_match};
use crate::diagnostic::Diagnostic;
use crate::names;
use crate::plan::{Labels, Requirement, Subjects};
use crate::source;
use crate::spec::*;
use crate::topology::shortened;
use crate::units::Amount;
use std::collections::BTreeSet;

/// What is wrong with the metric of a requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// There is none of this name; there are these.
    Metric(Vec<String>),
    /// It is measured in other units: these.
    Unit(&'static str),
}

/// Whether results have the metric of a requirement, and in the unit that it names.
pub type KnowMetric<'a> = &'a dyn Fn(&Requirement) -> Result<(), Wrong>;

impl Compiler<'_> {
    /// The requirements of the file; a metric of a requirement is one of its own.
    pub fn requirements(&mut self, labels: &Labels) -> Vec<Requirement> {
        let spec = self.spec;
        let mut all = Vec::new();
        for (i, require) in spec.require.iter().flatten().enumerate() {
            let at = format!("/require/{i}");
            let Some((patterns, subjects)) = self.subjects(&at, require, labels) else { continue };
            if require.metrics.is_empty() {
                let message = "this requires nothing: no metric is named";
                let help = "for example \"p99\": \"< 2 us\" of a flow, or \"use\": \"< 80 %\" of a link";
                self.out.push(Diagnostic::error("SC101", at, message).help(help));
                continue;
            }
            for (metric, limit) in &require.metrics {
                all.push(Requirement {
                    at: format!("{at}/{}", source::escape(metric)),
                    patterns: patterns.clone(),
                    subjects: subjects.clone(),
                    metric: metric.clone(),
                    wanted: limit.get(),
                });
            }
        }
        all
    }

    fn subjects(&mut self, at: &str, require: &RequireSpec, labels: &Labels) -> Option<(String, Subjects)> {
        let (key, names) = match (&require.flow, &require.link) {
            (Some(names), None) => ("flow", names),
            (None, Some(names)) => ("link", names),
            (flow, _) => {
                let message = match flow {
                    Some(_) => "a requirement is of flows or of links, not of both",
                    None => "whose requirement is this? neither \"flow\" nor \"link\" is given",
                };
                let help = "give one of \"flow\" and \"link\"";
                self.out.push(Diagnostic::error("SC100", at, message).help(help));
                return None;
            }
        };
        let patterns = names.patterns();
        let found = match key {
            "flow" => {
                let flows: Vec<&str> = labels.flows.iter().map(String::as_str).collect();
                names::select(patterns, &flows)
            }
            _ => self.links(patterns, labels),
        };
        let wrong = match found {
            Ok(hits) if hits.is_empty() => None,
            Ok(hits) if key == "flow" => {
                let flows = hits.into_iter().map(|hit| hit as u16).collect();
                return Some((patterns.join(" "), Subjects::Flows(flows)));
            }
            Ok(hits) => {
                let links = hits.into_iter().map(|hit| hit as u32).collect();
                return Some((patterns.join(" "), Subjects::Links(links)));
            }
            Err(pattern) => Some(pattern),
        };
        let at = format!("{at}/{key}");
        let (code, all) = if key == "flow" { ("SC062", &labels.flows) } else { ("SC102", &labels.links) };
        let all = || all.iter().map(String::as_str);
        let help = format!("{key}s: {}", shortened(all()));
        self.out.push(match wrong {
            Some(pattern) => {
                let place = names.place(&at, &pattern);
                let finding = Diagnostic::error(code, place, no_match(key, &pattern)).help(help);
                finding.did_you_mean(&pattern, all())
            }
            // Each of them matches something.
            None => {
                let message =
                    format!("{} leaves no {key}: what is chosen is taken away again", patterns.join(" "));
                Diagnostic::error(code, at, message).help(help)
            }
        });
        None
    }

    /// Links that the patterns select: by their whole name, or by a port or device at one end.
    fn links(&self, patterns: &[String], labels: &Labels) -> Result<Vec<usize>, String> {
        let ends = |(device, port): (usize, u8)| (self.graph.nodes[device].name.as_str(), u32::from(port));
        names::select_by(patterns, labels.links.len(), |at, pattern| {
            let edge = &self.graph.edges[at];
            let all = names::of_link(&labels.links[at], [ends(edge.a), ends(edge.b)]);
            all.iter().any(|name| names::matches(pattern, name))
        })
    }
}

/// What is wrong with the metrics of requirements, each place once.
pub(crate) fn unknown<'a>(
    all: impl Iterator<Item = &'a Requirement>,
    known: KnowMetric<'_>,
) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut out = Vec::new();
    for requirement in all.filter(|requirement| seen.insert((&requirement.at, &requirement.metric))) {
        let Requirement { at, metric, wanted, subjects, .. } = requirement;
        let of = match subjects {
            Subjects::Flows(_) => "a flow",
            Subjects::Links(_) => "a link",
        };
        out.extend(known(requirement).err().map(|wrong| match wrong {
            Wrong::Metric(names) => {
                let message = format!("there is no metric \"{metric}\" of {of}");
                let help = format!("allowed: {}", names.join(", "));
                let guess = names.iter().map(String::as_str);
                Diagnostic::error("SC103", at, message).help(help).did_you_mean(metric, guess).at_key()
            }
            Wrong::Unit(allowed) => {
                let found = match wanted.amount {
                    Amount::Time(_) => "a time",
                    Amount::Rate(_) => "a rate",
                    Amount::Share(_) => "a share",
                    Amount::Number(_) => "a number without a unit",
                };
                let message = format!("\"{}\" is {found}, which \"{metric}\" is not", wanted.text);
                Diagnostic::error("SC104", at, message).help(format!("allowed: {allowed}"))
            }
        }));
    }
    out
}
