//! Whose port is whose: devices by number, ports by number in the whole fabric, and their owners.
//!
//! All ports of all devices have one row of numbers, device by device. A port belongs to a switch or to an
//! endpoint, each numbered by itself.

use std::marker::PhantomData;
use std::ops::{Add, Index, IndexMut, Sub};

/// A port, by its number among those of all devices.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct PortId(u32);

impl PortId {
    /// No port.
    pub const NONE: Self = PortId(u32::MAX);

    /// The port with this number, which an event is for.
    #[inline(always)]
    pub const fn new(number: u32) -> Self {
        PortId(number)
    }

    /// Its place in arrays that have one for each port.
    #[inline(always)]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// This port and those after it, so many.
    pub fn span(self, ports: u32) -> impl Iterator<Item = PortId> + Clone {
        (self.0..self.0 + ports).map(PortId)
    }
}

impl From<PortId> for u32 {
    #[inline(always)]
    fn from(port: PortId) -> u32 {
        port.0
    }
}

impl From<PortId> for u64 {
    #[inline(always)]
    fn from(port: PortId) -> u64 {
        port.0.into()
    }
}

/// The port of a device with this number, counted from another one.
impl Add<u32> for PortId {
    type Output = PortId;
    #[inline(always)]
    fn add(self, number: u32) -> PortId {
        PortId(self.0 + number)
    }
}

/// The number of a port, counted from another one of its device.
impl Sub for PortId {
    type Output = u32;
    #[inline(always)]
    fn sub(self, first: PortId) -> u32 {
        self.0 - first.0
    }
}

/// The number of a device among those of its kind: as wide as a register, because these are handed from one
/// function to the next, and a half one has to be widened wherever something is looked up by it.
pub(crate) trait Id: Copy {
    /// The device with this number.
    fn new(number: u32) -> Self;
    /// Its place in a [`ById`].
    fn index(self) -> usize;
}

/// A switch, by its number among switches.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct SwitchId(usize);

impl Id for SwitchId {
    #[inline(always)]
    fn new(number: u32) -> Self {
        SwitchId(number as usize)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0
    }
}

impl From<SwitchId> for u32 {
    #[inline(always)]
    fn from(switch: SwitchId) -> u32 {
        switch.0 as u32
    }
}

/// An endpoint, by its number among endpoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(crate) struct EndpointId(usize);

impl Id for EndpointId {
    #[inline(always)]
    fn new(number: u32) -> Self {
        EndpointId(number as usize)
    }

    #[inline(always)]
    fn index(self) -> usize {
        self.0
    }
}

/// Something for each device of a kind, or for none: by the numbers of that kind, and no others.
#[derive(Clone, Debug)]
pub(crate) struct ById<I, T> {
    all: Vec<T>,
    of: PhantomData<I>,
}

impl<I, T> Default for ById<I, T> {
    fn default() -> Self {
        ById { all: Vec::new(), of: PhantomData }
    }
}

impl<I: Id, T> ById<I, T> {
    /// The number of the next device.
    pub fn next_id(&self) -> I {
        I::new(self.all.len() as u32)
    }

    pub fn push(&mut self, device: T) {
        self.all.push(device);
    }

    /// As many as there are of `other`.
    pub fn resize_as<U>(&mut self, other: &ById<I, U>, with: impl FnMut() -> T) {
        self.all.resize_with(other.all.len(), with);
    }

    #[inline(always)]
    pub fn get(&self, id: I) -> Option<&T> {
        self.all.get(id.index())
    }

    #[inline(always)]
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.all.get_mut(id.index())
    }

    /// All numbers; borrows nothing.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.all.len() as u32).map(I::new)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut()
    }
}

impl<I: Id, T> Index<I> for ById<I, T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, id: I) -> &T {
        &self.all[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for ById<I, T> {
    #[inline(always)]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.all[id.index()]
    }
}

/// A device, by its number among those of its kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Switch(SwitchId),
    Endpoint(EndpointId),
}

/// A [`Node`] in four octets, so that the owners of many ports lie close together: the number of a switch, or
/// the complement of that of an endpoint.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Owner(i32);

impl From<SwitchId> for Owner {
    #[inline(always)]
    fn from(switch: SwitchId) -> Self {
        Owner(switch.0 as i32)
    }
}

impl From<EndpointId> for Owner {
    #[inline(always)]
    fn from(endpoint: EndpointId) -> Self {
        Owner(!(endpoint.0 as i32))
    }
}

impl Owner {
    #[inline(always)]
    pub fn is_switch(self) -> bool {
        self.0 >= 0
    }

    #[inline(always)]
    pub fn node(self) -> Node {
        if self.is_switch() { Node::Switch(self.as_switch()) } else { Node::Endpoint(self.as_endpoint()) }
    }

    /// The switch that it is.
    #[inline(always)]
    fn as_switch(self) -> SwitchId {
        debug_assert!(self.is_switch(), "the port belongs to a switch");
        SwitchId(self.0 as usize)
    }

    /// The endpoint that it is.
    #[inline(always)]
    fn as_endpoint(self) -> EndpointId {
        debug_assert!(!self.is_switch(), "the port belongs to an endpoint");
        EndpointId(!self.0 as usize)
    }
}

/// The owner of every port, and the first port of every device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    owners: Vec<Owner>,
    /// The owners of [`GROUP`] ports in one word, where that is possible: of them a line holds those of 128
    /// ports, and every event asks.
    groups: Vec<Group>,
    first: Vec<PortId>,
}

/// Ports whose owners may be one word.
const GROUP: usize = 8;

/// The owner of all ports of a group, if it is a switch; or of the first, if each belongs to an endpoint, and
/// these are numbered as the ports are; or [`Group::MIXED`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Group(i32);

impl Group {
    const MIXED: Self = Group(i32::MIN);

    fn of(owners: &[Owner]) -> Self {
        let [first, ..] = owners else { return Group::MIXED };
        let here = Group(first.0);
        let fits = owners.len() == GROUP && (0..GROUP).all(|place| here.owner(place) == Some(owners[place]));
        if fits { here } else { Group::MIXED }
    }

    /// The owner of a port of the group.
    #[inline(always)]
    fn owner(self, place: usize) -> Option<Owner> {
        let back = if self.0 < 0 { place as i32 } else { 0 };
        (self != Group::MIXED).then(|| Owner(self.0 - back))
    }
}

impl Nodes {
    /// One more device, with so many ports.
    pub fn push(&mut self, owner: Owner, ports: usize) {
        self.first.push(PortId(self.owners.len() as u32));
        self.owners.resize(self.owners.len() + ports, owner);
        // The last group may have been open.
        self.groups.pop();
        let open = self.owners[self.groups.len() * GROUP..].chunks(GROUP);
        self.groups.extend(open.map(Group::of));
    }

    /// The owner of a port.
    #[inline(always)]
    pub fn owner(&self, port: PortId) -> Owner {
        match self.groups[port.index() / GROUP].owner(port.index() % GROUP) {
            Some(owner) => owner,
            None => self.owners[port.index()],
        }
    }

    #[inline(always)]
    pub fn node(&self, port: PortId) -> Node {
        self.owner(port).node()
    }

    #[inline(always)]
    pub fn is_switch(&self, port: PortId) -> bool {
        self.owner(port).is_switch()
    }

    /// The switch that a port belongs to.
    #[inline(always)]
    pub fn switch(&self, port: PortId) -> SwitchId {
        self.owner(port).as_switch()
    }

    /// The endpoint that a port belongs to.
    #[inline(always)]
    pub fn endpoint(&self, port: PortId) -> EndpointId {
        self.owner(port).as_endpoint()
    }

    /// The first port of a device.
    #[inline(always)]
    pub fn first_port(&self, device: u32) -> PortId {
        self.first[device as usize]
    }

    /// The port of the fabric with this number at a device.
    pub fn port(&self, (device, number): (u32, u8)) -> PortId {
        self.first_port(device) + u32::from(number)
    }

    /// The number of a port at its device.
    #[inline(always)]
    pub fn number(&self, device: u32, port: PortId) -> u8 {
        (port - self.first_port(device)) as u8
    }

    /// The endpoint of a device, which is one.
    pub fn endpoint_of(&self, device: u32) -> EndpointId {
        self.endpoint(self.first_port(device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbered_through_all_devices() {
        let mut nodes = Nodes::default();
        nodes.push(EndpointId(0).into(), 1);
        nodes.push(SwitchId(0).into(), 3);
        nodes.push(EndpointId(1).into(), 1);
        assert_eq!(
            [0, 1, 3, 4].map(|port| nodes.node(PortId(port))),
            [
                Node::Endpoint(EndpointId(0)),
                Node::Switch(SwitchId(0)),
                Node::Switch(SwitchId(0)),
                Node::Endpoint(EndpointId(1))
            ]
        );
        assert_eq!((nodes.port((1, 2)), nodes.number(1, PortId(3))), (PortId(3), 2));
        assert_eq!((nodes.endpoint_of(2), nodes.is_switch(PortId(4))), (EndpointId(1), false));
    }

    /// Whether a group has one switch, endpoints in a row, or a border in it: each port has its own owner.
    #[test]
    fn owners_of_groups_are_those_of_ports() {
        let mut nodes = Nodes::default();
        let (mut law, mut devices) = (Vec::new(), [0, 0]);
        for ports in [1, 1, 1, 20, 1, 1, 1, 1, 1, 1, 1, 1, 1, 16, 3] {
            let (owner, node) = if ports == 1 {
                let endpoint = EndpointId(devices[0]);
                (endpoint.into(), Node::Endpoint(endpoint))
            } else {
                let switch = SwitchId(devices[1]);
                (switch.into(), Node::Switch(switch))
            };
            devices[usize::from(ports != 1)] += 1;
            nodes.push(owner, ports);
            law.resize(law.len() + ports, node);
        }
        let found: Vec<Node> = (0..law.len() as u32).map(|port| nodes.node(PortId(port))).collect();
        assert_eq!(found, law);
        let words = nodes.groups.iter().filter(|group| **group != Group::MIXED);
        assert!(words.clone().any(|group| group.0 >= 0) && words.clone().any(|group| group.0 < 0));
    }
}
