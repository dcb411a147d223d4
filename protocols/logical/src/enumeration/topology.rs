//! What a host found, and the routes that follow from it.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// A port of a found device: (its number, port).
pub type End = (usize, u8);

/// What a found device is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Kind {
    /// An endpoint with the device ID that it was given; `None` if there was none left.
    Endpoint {
        /// Its device ID.
        id: Option<u16>,
    },
    /// A switch.
    Switch {
        /// Its ports.
        ports: u8,
        /// Port through which it was found.
        entry: u8,
    },
}

/// A device that was found. Its component tag is its number plus 1.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Found {
    /// What it is.
    pub kind: Kind,
    /// Its Device Identity CAR.
    pub identity: u32,
    /// Its Processing Element Features CAR.
    pub features: u32,
    /// Switches between it and the host.
    pub hops: u8,
    /// Where each of its ports leads.
    pub neighbours: Vec<Option<End>>,
    /// From which end it was found; `None` for the host itself.
    pub via: Option<End>,
    /// Ports whose link is up.
    pub up: Vec<bool>,
    /// What each port said of its abilities; empty without such a block.
    pub abilities: Vec<u32>,
    /// Offset of the block of the LP-Serial physical layer.
    pub serial: Option<u16>,
    /// Offset of the block of per-port enables.
    pub enables: Option<u16>,
}

impl Found {
    /// Whether it is a switch.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        matches!(self.kind, Kind::Switch { .. })
    }

    /// Its device ID, if it is an endpoint that has one.
    #[must_use]
    pub const fn id(&self) -> Option<u16> {
        match self.kind {
            Kind::Endpoint { id } => id,
            Kind::Switch { .. } => None,
        }
    }

    /// The port that leads to another device; the lowest if there are several.
    #[must_use]
    pub fn port_to(&self, device: usize) -> Option<u8> {
        let at = self.neighbours.iter().position(|end| end.is_some_and(|(other, _)| other == device))?;
        Some(at as u8)
    }
}

/// Shortest paths: for each device the egress port for every device ID up to the largest that was given,
/// `None` where nothing leads there. Endpoints have no table.
///
/// Among equally short ways a switch takes the lowest port, or with `spread` port number (ID modulo ways).
/// Lowest ports make a mesh whose ports are in the order of its dimensions dimension-ordered; spreading uses
/// all spines of a fat tree.
#[must_use]
pub fn shortest_routes(devices: &[Found], spread: bool) -> Vec<Vec<Option<u8>>> {
    let ids = devices.iter().filter_map(Found::id).max().map_or(0, |id| usize::from(id) + 1);
    let mut tables: Vec<Vec<Option<u8>>> =
        devices.iter().map(|device| vec![None; if device.is_switch() { ids } else { 0 }]).collect();
    // Endpoints of one switch share their distances.
    let mut by_switch: Vec<Vec<(u16, u8)>> = vec![Vec::new(); devices.len()];
    for device in devices {
        if let (Some(id), Some(Some((switch, port)))) = (device.id(), device.neighbours.first().copied()) {
            by_switch[switch].push((id, port));
        }
    }
    for (last, endpoints) in by_switch.iter().enumerate() {
        if endpoints.is_empty() || !devices[last].is_switch() {
            continue;
        }
        let distance = distances(devices, last);
        for (switch, device) in devices.iter().enumerate().filter(|(_, device)| device.is_switch()) {
            let Some(here) = distance[switch] else { continue };
            let ways: Vec<u8> = (0..=u8::MAX)
                .zip(&device.neighbours)
                .filter(|(_, end)| end.is_some_and(|(next, _)| distance[next].is_some_and(|d| d + 1 == here)))
                .map(|(port, _)| port)
                .collect();
            for &(id, port) in endpoints {
                tables[switch][usize::from(id)] = if switch == last {
                    Some(port)
                } else {
                    // Devices that contradict each other may leave no way at all.
                    let way = if spread { usize::from(id).checked_rem(ways.len()) } else { Some(0) };
                    way.and_then(|way| ways.get(way)).copied()
                };
            }
        }
    }
    tables
}

/// Links between each switch and `from`.
fn distances(devices: &[Found], from: usize) -> Vec<Option<u32>> {
    let mut distance = vec![None; devices.len()];
    distance[from] = Some(0);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((at, here)) = queue.pop_front() {
        for &(next, _) in devices[at].neighbours.iter().flatten() {
            if devices[next].is_switch() && distance[next].is_none() {
                distance[next] = Some(here + 1);
                queue.push_back((next, here + 1));
            }
        }
    }
    distance
}
