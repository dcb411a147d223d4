//! The extended features block of the LP-Serial physical layer (Part 6 §6.6), as far as whoever explores a
//! system needs it.
//!
//! | block offset | register |
//! |---|---|
//! | 0x00 | header: offset of the next block (bits 0-15), ID (bits 16-31) |
//! | 0x3C | Port General Control: bit 0 Host, bit 1 Master Enable, bit 2 Discovered |
//! | 0x58 + 0x20 n | Port n Error and Status: bit 30 port OK, bit 31 port uninitialised |
//!
//! Everything else reads 0. Bit 0 is the most significant bit. A switch has the Discovered bit only.

use alloc::vec;
use alloc::vec::Vec;

/// Extended features ID of an endpoint's block.
pub const ENDPOINT_ID: u16 = 0x0001;
/// Extended features ID of the block of a switch without a device ID.
pub const SWITCH_ID: u16 = 0x0003;

/// Block offset of the Port General Control CSR.
pub const GENERAL_CONTROL: u32 = 0x3C;
/// The device is a host.
pub const HOST: u32 = 0x8000_0000;
/// The device may issue requests.
pub const MASTER_ENABLE: u32 = 0x4000_0000;
/// A host has found the device.
pub const DISCOVERED: u32 = 0x2000_0000;

/// The port is initialised and exchanges symbols without errors.
pub const PORT_OK: u32 = 0x0000_0002;
/// The port is not initialised.
pub const PORT_UNINITIALISED: u32 = 0x0000_0001;

const FIRST_STATUS: u32 = 0x58;
const PORT_STRIDE: u32 = 0x20;
const FIRST_PORT: u32 = 0x40;

/// Block offset of the Port n Error and Status CSR.
#[must_use]
pub const fn status_offset(port: u8) -> u32 {
    FIRST_STATUS + PORT_STRIDE * port as u32
}

/// Bytes of the block of a device with so many ports.
#[must_use]
pub const fn octets(ports: u8) -> u32 {
    FIRST_PORT + PORT_STRIDE * ports as u32
}

/// Whose status is at a block offset.
#[must_use]
pub const fn port_of_status(offset: u32) -> Option<u8> {
    match offset.checked_sub(FIRST_STATUS) {
        Some(beyond) if beyond.is_multiple_of(PORT_STRIDE) && beyond / PORT_STRIDE < 256 => {
            Some((beyond / PORT_STRIDE) as u8)
        }
        _ => None,
    }
}

/// The registers of one device. The header belongs to the [`RegisterFile`](super::RegisterFile).
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Serial {
    control: u32,
    writable: u32,
    up: Vec<bool>,
}

impl Serial {
    /// An endpoint after reset; a host is enabled and discovered from the beginning (Part 7 §2.3.1).
    #[must_use]
    pub fn endpoint(host: bool) -> Self {
        let control = if host { HOST | MASTER_ENABLE | DISCOVERED } else { 0 };
        Self { control, writable: HOST | MASTER_ENABLE | DISCOVERED, up: vec![false] }
    }

    /// A switch after reset.
    #[must_use]
    pub fn switch(ports: u8) -> Self {
        Self { control: 0, writable: DISCOVERED, up: vec![false; ports.into()] }
    }

    /// The link of a port came up or went down. A port that does not exist has none.
    pub fn set_link(&mut self, port: u8, up: bool) {
        if let Some(link) = self.up.get_mut(usize::from(port)) {
            *link = up;
        }
    }

    /// Whether the device may issue requests; a switch has none to issue.
    #[must_use]
    pub const fn is_enabled(&self) -> bool {
        self.control & MASTER_ENABLE != 0
    }

    /// Whether a host has found the device.
    #[must_use]
    pub const fn is_discovered(&self) -> bool {
        self.control & DISCOVERED != 0
    }

    /// The register at a byte offset of the block.
    #[must_use]
    pub fn read(&self, offset: u32) -> u32 {
        if offset == GENERAL_CONTROL {
            return self.control;
        }
        match port_of_status(offset).and_then(|port| self.up.get(usize::from(port))) {
            Some(true) => PORT_OK,
            Some(false) => PORT_UNINITIALISED,
            None => 0,
        }
    }

    /// Writes the register at a byte offset of the block.
    pub fn write(&mut self, offset: u32, value: u32) {
        if offset == GENERAL_CONTROL {
            self.control = self.control & !self.writable | value & self.writable;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_where_part_6_has_them() {
        assert_eq!([0, 1, 15].map(status_offset), [0x58, 0x78, 0x238]);
        for port in 0..=255 {
            assert_eq!(port_of_status(status_offset(port)), Some(port));
        }
        assert_eq!([0x54, 0x5C, 0x3C].map(port_of_status), [None; 3]);
        // There is no port 256, and none at an address between two.
        let beyond = status_offset(255) + PORT_STRIDE;
        assert_eq!([beyond, beyond + 0x1000 * PORT_STRIDE, beyond - 4].map(port_of_status), [None; 3]);
        assert!(status_offset(63) + 4 <= octets(64));
    }

    #[test]
    fn a_switch_is_discovered_but_never_enabled() {
        let mut switch = Serial::switch(3);
        assert!(!switch.is_discovered());
        switch.write(GENERAL_CONTROL, !DISCOVERED);
        assert!(!switch.is_discovered(), "other bits do not count");
        switch.write(GENERAL_CONTROL, 0xFFFF_FFFF);
        assert_eq!(switch.read(GENERAL_CONTROL), DISCOVERED);
        assert!(switch.is_discovered() && !switch.is_enabled());
    }

    #[test]
    fn agents_wait_and_hosts_do_not() {
        let mut agent = Serial::endpoint(false);
        assert_eq!(agent.read(GENERAL_CONTROL), 0);
        agent.write(GENERAL_CONTROL, HOST | MASTER_ENABLE);
        assert!(agent.is_enabled() && !agent.is_discovered());
        agent.write(GENERAL_CONTROL, MASTER_ENABLE | DISCOVERED | 1);
        assert_eq!(agent.read(GENERAL_CONTROL), 0x6000_0000, "reserved bits stay 0");
        assert!(agent.is_enabled() && agent.is_discovered());
        assert_eq!(Serial::endpoint(true).read(GENERAL_CONTROL), 0xE000_0000);
    }

    #[test]
    fn links_show_in_the_status_of_their_port() {
        let mut switch = Serial::switch(2);
        switch.set_link(1, true);
        switch.set_link(7, true);
        assert_eq!(switch.read(status_offset(0)), PORT_UNINITIALISED);
        assert_eq!(switch.read(status_offset(1)), PORT_OK);
        assert_eq!(switch.read(status_offset(2)), 0);
        switch.write(status_offset(1), 0);
        assert_eq!(switch.read(status_offset(1)), PORT_OK, "status is read only");
    }
}
