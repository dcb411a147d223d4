//! What the stages of the compilation of one variant share: the scenario, what is known of the fabric so far,
//! and what was found. [`crate::compile`] says in which order they come.

use crate::diagnostic::Diagnostic;
use crate::resolved::{Device, Enumeration, Run, Voq, Wire};
use crate::spec::*;
use crate::topology::Graph;
use models::lp_serial::cost::IdSize;
use std::collections::{BTreeMap, BTreeSet};

/// What all stages of the compilation of one variant share.
pub(crate) struct Compiler<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) out: &'a mut Vec<Diagnostic>,
    pub(crate) graph: Graph,
    pub(crate) neighbours: Vec<Vec<Option<(usize, usize, u8)>>>,
    pub(crate) seed: u64,
    pub(crate) run: Run,
    pub(crate) voq: Voq,
    pub(crate) devices: Vec<Device>,
    pub(crate) wires: Vec<Wire>,
    pub(crate) ids: Vec<u32>,
    pub(crate) groups: BTreeMap<String, u32>,
    pub(crate) id_bits: u8,
    /// A host sets the fabric up.
    pub(crate) host: Option<Enumeration>,
    seen: BTreeSet<(&'static str, String)>,
}

impl<'a> Compiler<'a> {
    /// An expanded scenario and its graph; the stages fill in the rest.
    pub(crate) fn new(spec: &'a Spec, graph: Graph, out: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            spec,
            out,
            neighbours: graph.neighbours(),
            graph,
            seed: *filled(&spec.seed),
            run: Run::new(spec),
            voq: Voq::new(spec),
            devices: Vec::new(),
            wires: Vec::new(),
            ids: Vec::new(),
            groups: BTreeMap::new(),
            id_bits: 8,
            host: None,
            seen: BTreeSet::new(),
        }
    }

    /// Reports a finding once per code and place, however many devices share the place.
    pub(crate) fn once(&mut self, finding: Diagnostic) {
        if self.seen.insert((finding.code, finding.pointer.clone())) {
            self.out.push(finding);
        }
    }

    pub(crate) fn device_names(&self) -> Vec<&str> {
        self.graph.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    /// Width of the ids that packets carry.
    pub(crate) fn id_size(&self) -> IdSize {
        if self.id_bits == 8 { IdSize::Dev8 } else { IdSize::Dev16 }
    }
}

/// Message for a pattern without a match.
pub(crate) fn no_match(what: &str, pattern: &str) -> String {
    format!("\"{pattern}\" matches no {what}")
}
