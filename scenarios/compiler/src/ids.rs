//! Destination ids of endpoints and multicast groups.

use crate::compiler::Compiler;
use crate::configure;
use crate::diagnostic::Diagnostic;
use crate::topology;
use models::config::NO_OWNER;
use std::collections::BTreeMap;

impl Compiler<'_> {
    /// Gives every endpoint and every group its id: that of the file, or the lowest free one.
    pub fn identifiers(&mut self) {
        let spec = self.spec;
        let endpoints = self.graph.endpoints.clone();
        let groups = spec.multicast.as_deref().unwrap_or_default();
        let given = |device: usize| self.graph.nodes[device].id;
        let largest =
            endpoints.iter().filter_map(|&d| given(d)).chain(groups.iter().filter_map(|g| g.id)).max();
        let needed =
            (endpoints.len() + groups.len()).max(largest.map_or(0, |id| (id as usize).saturating_add(1)));
        // A host needs one more, which nobody gets.
        let needed = needed + usize::from(configure::setup(spec).is_some());
        self.id_bits = spec.id_bits.unwrap_or(if needed > 256 { 16 } else { 8 });
        let limit = 1u32 << self.id_bits;
        let mut owner: BTreeMap<u32, String> = BTreeMap::new();
        let mut found = Vec::new();
        let claims = endpoints
            .iter()
            .filter_map(|&d| Some((given(d)?, format!("{}/id", self.graph.nodes[d].pointer))))
            .chain(
                groups.iter().enumerate().filter_map(|(i, g)| Some((g.id?, format!("/multicast/{i}/id")))),
            );
        for (id, pointer) in claims {
            if id >= limit {
                let message = format!("destination id {id} does not fit {} bits", self.id_bits);
                let help = format!("allowed: 0 to {}", limit - 1);
                let wider =
                    if self.id_bits == 8 { "or \"id_bits\": 16" } else { "wider ids are not modelled" };
                found.push(Diagnostic::error("SC017", pointer, message).help(help).help(wider));
            } else if let Some(first) = owner.get(&id) {
                let message = format!("destination id {id} is used twice");
                found.push(Diagnostic::error("SC016", pointer, message).also(first.clone(), "the first one"));
            } else {
                owner.insert(id, pointer);
            }
        }
        let mut free = (0..limit).filter(|id| !owner.contains_key(id));
        let mut short = false;
        let mut next = |given: Option<u32>, short: &mut bool| {
            given.unwrap_or_else(|| {
                free.next().unwrap_or_else(|| {
                    *short = true;
                    0
                })
            })
        };
        self.ids = vec![NO_OWNER; self.graph.nodes.len()];
        for &device in &endpoints {
            self.ids[device] = next(self.graph.nodes[device].id, &mut short);
        }
        let mut group_ids = BTreeMap::new();
        for (i, group) in groups.iter().enumerate() {
            let id = next(group.id, &mut short);
            let taken = self.graph.find(&group.name).is_some() || group_ids.contains_key(&group.name);
            if let Err(why) = topology::good_name(&group.name) {
                found.push(Diagnostic::error("SC009", format!("/multicast/{i}/name"), why));
            } else if taken {
                let message = format!("\"{}\" is already the name of a device or group", group.name);
                found.push(Diagnostic::error("SC023", format!("/multicast/{i}/name"), message));
            }
            group_ids.insert(group.name.clone(), id);
        }
        if short {
            let message = format!("{needed} destination ids do not fit {} bits", self.id_bits);
            let help =
                if self.id_bits == 8 { "use \"id_bits\": 16" } else { "at most 65536 ids are modelled" };
            found.push(Diagnostic::error("SC017", "/id_bits", message).help(help));
        }
        self.groups = group_ids;
        self.out.append(&mut found);
    }
}
