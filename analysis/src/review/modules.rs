//! Modules and chassis: devices whose names begin alike, drawn in one box.

use models::config::{DeviceModel, FabricConfig};
use std::collections::{BTreeMap, BTreeSet};

/// A box in the drawing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// What the names of its devices begin with.
    pub name: String,
    pub devices: BTreeSet<u32>,
}

impl Module {
    /// How many boxes it may lie in.
    pub fn depth(&self) -> usize {
        self.name.matches('/').count()
    }

    /// Whether that one lies in this one.
    pub fn holds(&self, name: &str) -> bool {
        name.strip_prefix(self.name.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Devices make a module if all before a slash in their names is the same, and links among them hold them
/// together: `leaf/0` and `leaf/1` are of one kind, `board/switch` and `board/cpu` are of one board. Of
/// switches alone there have to be several such groups, or it would be all switches of a chain or a mesh.
pub(super) fn modules(config: &FabricConfig) -> Vec<Module> {
    let mut named: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for (device, own) in config.devices.iter().enumerate() {
        for (slash, _) in own.path.match_indices('/') {
            named.entry(&own.path[..slash]).or_default().insert(device as u32);
        }
    }
    let is_switch = |device: &u32| matches!(config.devices[*device as usize].model, DeviceModel::Switch(_));
    let modules: Vec<Module> = named
        .into_iter()
        .filter(|(_, devices)| devices.len() > 1 && hangs_together(config, devices))
        .map(|(name, devices)| Module { name: name.to_owned(), devices })
        .collect();
    let only_switches = modules.iter().all(|module| module.devices.iter().all(is_switch));
    if modules.len() == 1 && only_switches { Vec::new() } else { modules }
}

fn hangs_together(config: &FabricConfig, devices: &BTreeSet<u32>) -> bool {
    let links: Vec<[u32; 2]> = config
        .links
        .iter()
        .map(|link| [link.a.0, link.b.0])
        .filter(|ends| ends.iter().all(|end| devices.contains(end)))
        .collect();
    let mut reached: BTreeSet<u32> = devices.iter().take(1).copied().collect();
    loop {
        let before = reached.len();
        for ends in &links {
            if ends.iter().any(|end| reached.contains(end)) {
                reached.extend(ends);
            }
        }
        if reached.len() == before {
            return before == devices.len();
        }
    }
}
