//! Whose port is whose: devices by number, ports by number in the whole fabric, and their owners.
//!
//! All ports of all devices have one row of numbers, device by device. A port belongs to a switch or to an
//! endpoint, each numbered by itself.

use std::ops::{Add, Sub};

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

/// A device, by its number among those of its kind.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    Switch(usize),
    Endpoint(usize),
}

/// A [`Node`] in four octets, so that the owners of many ports lie close together: the number of a switch, or
/// the complement of that of an endpoint.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Owner(i32);

impl Owner {
    /// The owner of the ports of a switch.
    #[inline(always)]
    pub fn switch(number: usize) -> Self {
        Owner(number as i32)
    }

    /// The owner of the port of an endpoint.
    #[inline(always)]
    pub fn endpoint(number: usize) -> Self {
        Owner(!(number as i32))
    }

    #[inline(always)]
    pub fn is_switch(self) -> bool {
        self.0 >= 0
    }

    #[inline(always)]
    pub fn node(self) -> Node {
        if self.is_switch() { Node::Switch(self.0 as usize) } else { Node::Endpoint(!self.0 as usize) }
    }

    /// The number of a switch, which it is.
    #[inline(always)]
    pub fn as_switch(self) -> usize {
        debug_assert!(self.is_switch(), "the port belongs to a switch");
        self.0 as usize
    }

    /// The number of an endpoint, which it is.
    #[inline(always)]
    pub fn as_endpoint(self) -> usize {
        debug_assert!(!self.is_switch(), "the port belongs to an endpoint");
        !self.0 as usize
    }
}

/// The owner of every port, and the first port of every device.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nodes {
    owners: Vec<Owner>,
    first: Vec<PortId>,
}

impl Nodes {
    /// One more device, with so many ports.
    pub fn push(&mut self, owner: Owner, ports: usize) {
        self.first.push(PortId(self.owners.len() as u32));
        self.owners.resize(self.owners.len() + ports, owner);
    }

    /// The owner of a port.
    #[inline(always)]
    pub fn owner(&self, port: PortId) -> Owner {
        self.owners[port.index()]
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
    pub fn switch(&self, port: PortId) -> usize {
        self.owner(port).as_switch()
    }

    /// The endpoint that a port belongs to.
    #[inline(always)]
    pub fn endpoint(&self, port: PortId) -> usize {
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
    pub fn endpoint_of(&self, device: u32) -> usize {
        self.endpoint(self.first_port(device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_numbered_through_all_devices() {
        let mut nodes = Nodes::default();
        nodes.push(Owner::endpoint(0), 1);
        nodes.push(Owner::switch(0), 3);
        nodes.push(Owner::endpoint(1), 1);
        assert_eq!(
            [0, 1, 3, 4].map(|port| nodes.node(PortId(port))),
            [Node::Endpoint(0), Node::Switch(0), Node::Switch(0), Node::Endpoint(1)]
        );
        assert_eq!((nodes.port((1, 2)), nodes.number(1, PortId(3))), (PortId(3), 2));
        assert_eq!((nodes.endpoint_of(2), nodes.is_switch(PortId(4))), (1, false));
    }
}
