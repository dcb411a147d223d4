//! What the stages of the compilation of one variant share: the scenario, what is known of the fabric so far,
//! and what was found. [`crate::compile`] says in which order they come.

use crate::diagnostic::{Diagnostic, Severity};
use crate::resolved::{Device, Enumeration, Run, Voq, Wire};
use crate::spec::*;
use crate::topology::Graph;
use models::config::Translation;
use models::lp_serial::cost::IdSize;
use std::collections::{BTreeMap, BTreeSet};

/// What all stages of the compilation of one variant share.
pub(crate) struct Compiler<'a> {
    pub spec: &'a Spec,
    pub out: &'a mut Vec<Diagnostic>,
    pub graph: Graph,
    pub neighbours: Vec<Vec<Option<(usize, usize, u8)>>>,
    pub seed: u64,
    pub run: Run,
    pub voq: Voq,
    pub devices: Vec<Device>,
    pub wires: Vec<Wire>,
    /// Part 12 settings of every port, and where they stand.
    pub registers: Vec<Vec<(PortVoqSpec, String)>>,
    pub ids: Vec<u32>,
    pub groups: BTreeMap<String, u32>,
    /// Groups with one member, by id, and that member.
    pub sole_members: BTreeMap<u32, usize>,
    /// Ids that tables of the file drop, by switch and id, and where they say so.
    pub dropped: BTreeMap<(u32, u32), String>,
    pub id_bits: u8,
    /// A host sets the fabric up.
    pub host: Option<Enumeration>,
    /// Endpoints that this host cannot reach, because links are down from start to end.
    pub cut_off: usize,
    /// Translators, and the parts of the fabric that they join.
    pub translation: Translation,
    seen: BTreeSet<(&'static str, String)>,
}

impl<'a> Compiler<'a> {
    /// An expanded scenario and its graph; the stages fill in the rest.
    pub fn new(spec: &'a Spec, graph: Graph, out: &'a mut Vec<Diagnostic>) -> Self {
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
            registers: Vec::new(),
            ids: Vec::new(),
            groups: BTreeMap::new(),
            sole_members: BTreeMap::new(),
            dropped: BTreeMap::new(),
            id_bits: 8,
            host: None,
            cut_off: 0,
            translation: Translation::default(),
            seen: BTreeSet::new(),
        }
    }

    /// Reports a finding once per code and place, however many devices share the place.
    pub fn once(&mut self, finding: Diagnostic) {
        if self.seen.insert((finding.code, finding.pointer.clone())) {
            self.out.push(finding);
        }
    }

    /// Whether something is wrong that was found so far.
    pub fn has_errors(&self) -> bool {
        self.out.iter().any(|found| found.severity == Severity::Error)
    }

    pub fn device_names(&self) -> Vec<&str> {
        self.graph.nodes.iter().map(|node| node.name.as_str()).collect()
    }

    /// Width of the ids that packets carry.
    pub fn id_size(&self) -> IdSize {
        if self.id_bits == 8 { IdSize::Dev8 } else { IdSize::Dev16 }
    }
}

/// Message for a pattern without a match.
pub(crate) fn no_match(what: &str, pattern: &str) -> String {
    format!("\"{pattern}\" matches no {what}")
}
