//! The VoQ backpressure register block, extended features ID 0x000B (Part 12 §5.1).
//!
//! | block offset | register |
//! |---|---|
//! | 0x000 | header: offset of the next block (bits 0-15), ID (bits 16-31) |
//! | 0x004, 0x008 | not assigned: read 0 |
//! | 0x00C + 4n | control and status of port n |
//!
//! Bit 0 is the most significant bit, 0x8000_0000. Two of a port's enables belong to the port *through which
//! symbols travel* ([`GEN_EN`], [`LINK_EN`]), two to the port *whose status is reported*, whichever port the
//! symbol uses ([`PART`], [`XOFF`]). There is no enable for reception: a port honours messages iff it
//! supports that.

use crate::codec::{Error, MAX_PORTS};
use alloc::vec::Vec;
use core::fmt;

/// Extended features ID of the block.
pub const EF_ID: u16 = 0x000B;

/// Bit 0, read only: the port can generate symbols.
pub const GEN_SUP: u32 = 0x8000_0000;
/// Bit 1, read only: the port can receive and honour symbols.
pub const RX_SUP: u32 = 0x4000_0000;
/// Bit 2, read only: messages can be linked with virtual channels.
pub const LINK_SUP: u32 = 0x2000_0000;
/// Bit 8: this port transmits VoQ symbols.
pub const GEN_EN: u32 = 0x0080_0000;
/// Bit 9: changes of this port's status are reported.
pub const PART: u32 = 0x0040_0000;
/// Bit 10: this port's reported status is "congested" whatever its queue says.
pub const XOFF: u32 = 0x0020_0000;
/// Bit 11: messages through this port are linked with virtual channels.
pub const LINK_EN: u32 = 0x0010_0000;

/// Block offset of the register of port 0.
pub const FIRST_PORT_OFFSET: u32 = 0x00C;

/// What a port is built for.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Support {
    /// It can generate symbols.
    pub generation: bool,
    /// It can receive and honour symbols.
    pub reception: bool,
    /// It stages inside virtual channels and can link messages with them. A port without VCs cannot.
    pub linking: bool,
}

impl Support {
    /// Everything.
    pub const ALL: Self = Self { generation: true, reception: true, linking: true };
    /// Generation and reception, without virtual channels.
    pub const UNLINKED: Self = Self { generation: true, reception: true, linking: false };
    /// Nothing.
    pub const NONE: Self = Self { generation: false, reception: false, linking: false };
}

/// The control and status register of one port. Enables are set only where support allows it, at all times.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct PortCsr(u32);

impl PortCsr {
    /// The register after reset: support bits as built, all enables 0.
    #[must_use]
    pub const fn new(support: Support) -> Self {
        let generation = if support.generation { GEN_SUP } else { 0 };
        let reception = if support.reception { RX_SUP } else { 0 };
        let linking = if support.linking { LINK_SUP } else { 0 };
        Self(generation | reception | linking)
    }

    /// What a read returns.
    #[must_use]
    pub const fn value(self) -> u32 {
        self.0
    }

    /// Bits that a write changes: [`PART`] and [`XOFF`] always, [`GEN_EN`] and [`LINK_EN`] where supported.
    #[must_use]
    pub const fn write_mask(self) -> u32 {
        let generation = if self.has(GEN_SUP) { GEN_EN } else { 0 };
        let linking = if self.has(LINK_SUP) { LINK_EN } else { 0 };
        PART | XOFF | generation | linking
    }

    /// The register after a write of `value`; read-only and reserved bits stay as they are.
    #[must_use]
    pub const fn written(self, value: u32) -> Self {
        let mask = self.write_mask();
        Self(self.0 & !mask | value & mask)
    }

    /// The register after a reset of the device.
    #[must_use]
    pub const fn reset(self) -> Self {
        self.written(0)
    }

    /// Whether all bits of `mask` are 1.
    #[must_use]
    pub const fn has(self, mask: u32) -> bool {
        self.0 & mask == mask
    }

    /// The status that is reported of this port when its own verdict is `raw`: XOFF or (PART and raw) (Table
    /// 5-4).
    #[must_use]
    pub const fn reported(self, raw: bool) -> bool {
        self.has(XOFF) || self.has(PART) && raw
    }
}

impl fmt::Display for PortCsr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)?;
        let names = [
            (GEN_SUP, "GEN_SUP"),
            (RX_SUP, "RX_SUP"),
            (LINK_SUP, "LINK_SUP"),
            (GEN_EN, "GEN_EN"),
            (PART, "PART"),
            (XOFF, "XOFF"),
            (LINK_EN, "LINK_EN"),
        ];
        for (_, name) in names.into_iter().filter(|&(mask, _)| self.has(mask)) {
            write!(f, " {name}")?;
        }
        Ok(())
    }
}

/// Whether going from one state of a port to another must cause a symbol: it participates afterwards, and
/// what is reported of it changed. States are (register, raw verdict).
///
/// So a port that stops participating leaves its neighbours with the last status until the next symbol of its
/// group.
#[must_use]
pub const fn triggers(before: (PortCsr, bool), after: (PortCsr, bool)) -> bool {
    after.0.has(PART) && after.0.reported(after.1) != before.0.reported(before.1)
}

/// What is at an offset of the block.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Register {
    /// The block header.
    Header,
    /// The control and status register of a port.
    Port(u16),
    /// Nothing: reads 0, writes are ignored.
    Unassigned,
}

/// Byte offset in the block of a port's register.
///
/// # Errors
/// [`Error::Port`] from port 192 on.
pub const fn port_offset(port: u16) -> Result<u32, Error> {
    if port < MAX_PORTS { Ok(FIRST_PORT_OFFSET + 4 * port as u32) } else { Err(Error::Port { found: port }) }
}

/// The registers of a device: one per port, also for ports that support nothing. A device has the block iff
/// [`Block::exists`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    next: u16,
    ports: Vec<PortCsr>,
}

impl Block {
    /// The block of a device with one entry of `support` per port; `next` is the offset of the next extended
    /// features block in the device's register space, 0 for the last one.
    ///
    /// # Errors
    /// [`Error::Port`] for more than 192 ports: no register, and no message, can name those beyond.
    pub fn new(support: &[Support], next: u16) -> Result<Self, Error> {
        if support.len() > usize::from(MAX_PORTS) {
            let found = u16::try_from(support.len() - 1).unwrap_or(u16::MAX);
            return Err(Error::Port { found });
        }
        Ok(Self { next, ports: support.iter().copied().map(PortCsr::new).collect() })
    }

    /// Whether at least one port supports something; if not, the device must not show the block.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.ports.iter().any(|port| port.value() & (GEN_SUP | RX_SUP | LINK_SUP) != 0)
    }

    /// Ports of the device.
    #[must_use]
    pub fn len(&self) -> u16 {
        self.ports.len() as u16
    }

    /// Whether the device has no port at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// What is at a byte offset of the block. The two low bits, which select a byte of a register, are
    /// ignored.
    #[must_use]
    pub fn locate(&self, offset: u32) -> Register {
        match offset & !3 {
            0 => Register::Header,
            offset if offset < FIRST_PORT_OFFSET => Register::Unassigned,
            offset => match u16::try_from((offset - FIRST_PORT_OFFSET) / 4) {
                Ok(port) if port < self.len() => Register::Port(port),
                _ => Register::Unassigned,
            },
        }
    }

    /// The register at a byte offset of the block; 0 where there is none.
    #[must_use]
    pub fn read(&self, offset: u32) -> u32 {
        match self.locate(offset) {
            Register::Header => u32::from(self.next) << 16 | u32::from(EF_ID),
            Register::Port(port) => self.port(port).value(),
            Register::Unassigned => 0,
        }
    }

    /// The register of a port.
    ///
    /// # Panics
    /// If the device has no such port.
    #[must_use]
    pub fn port(&self, port: u16) -> PortCsr {
        self.ports[usize::from(port)]
    }

    /// Writes the register of a port; returns it as it was and as it is.
    ///
    /// # Panics
    /// If the device has no such port.
    pub(crate) fn write_port(&mut self, port: u16, value: u32) -> (PortCsr, PortCsr) {
        let register = &mut self.ports[usize::from(port)];
        let before = *register;
        *register = before.written(value);
        (before, *register)
    }

    pub(crate) fn reset(&mut self) {
        for port in &mut self.ports {
            *port = port.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::string::ToString;

    const RECEPTION: Support = Support { generation: false, reception: true, linking: false };

    /// Vector, what is built in, the writes, what a read returns then.
    const GOLDEN: [(&str, Support, &[u32], u32); 9] = [
        ("VOQ-C04", Support::ALL, &[], 0xE000_0000),
        ("VOQ-C05", Support::ALL, &[0xFFFF_FFFF], 0xE0F0_0000),
        ("VOQ-C06", Support::UNLINKED, &[], 0xC000_0000),
        ("VOQ-C07", Support::UNLINKED, &[0xFFFF_FFFF], 0xC0E0_0000),
        ("VOQ-C08", Support::NONE, &[0xFFFF_FFFF], 0x0060_0000),
        ("VOQ-C09", Support::UNLINKED, &[0x00C0_0000], 0xC0C0_0000),
        ("VOQ-C10", Support::UNLINKED, &[0x00C0_0000, 0x00E0_0000], 0xC0E0_0000),
        ("VOQ-C11", Support::UNLINKED, &[0x00C0_0000, 0], 0xC000_0000),
        ("VOQ-C12", RECEPTION, &[0x00F0_0000], 0x4060_0000),
    ];

    /// Proves: VOQ-5.1.2.2-1, VOQ-5.1.2.2-2
    #[test]
    fn golden_register_values() {
        for (id, support, writes, expected) in GOLDEN {
            let register =
                writes.iter().fold(PortCsr::new(support), |register, &value| register.written(value));
            assert_eq!(register.value(), expected, "{id}");
        }
    }

    /// Proves: VOQ-5.1-1
    #[test]
    fn header_is_read_only() {
        // VOQ-C01, VOQ-C02.
        for (next, expected) in [(0x0600, 0x0600_000B), (0, 0x0000_000B)] {
            let mut device = crate::Originator::new(
                &[Support::ALL; 2],
                crate::originator::Options { next_block: next, ..Default::default() },
            )
            .unwrap();
            device.write(0, 0xFFFF_FFFF);
            assert_eq!(device.block().read(0), expected);
        }
    }

    /// Proves: VOQ-5.1-2
    #[test]
    fn port_registers_are_where_they_belong() {
        // VOQ-C03.
        let golden = [(0, 0x00C), (1, 0x010), (4, 0x01C), (17, 0x050), (190, 0x304), (191, 0x308)];
        let block = Block::new(&[Support::ALL; 192], 0).unwrap();
        for (port, offset) in golden {
            assert_eq!(port_offset(port), Ok(offset));
            assert_eq!(block.locate(offset), Register::Port(port));
        }
        for port in 0..192 {
            assert_eq!(block.locate(port_offset(port).unwrap()), Register::Port(port));
        }
        assert_eq!(port_offset(192), Err(Error::Port { found: 192 }));
        assert_eq!(Block::new(&[Support::ALL; 193], 0), Err(Error::Port { found: 192 }));
    }

    /// Proves: VOQ-5.1.2-1, VOQ-5.1.2-2
    #[test]
    fn one_register_per_port_and_none_beyond() {
        for ports in [1u16, 2, 18, 192] {
            let support: std::vec::Vec<Support> =
                (0..ports).map(|port| if port % 2 == 0 { Support::ALL } else { Support::NONE }).collect();
            let mut device = crate::Originator::new(&support, Default::default()).unwrap();
            for offset in (4..0x1000).step_by(4) {
                let port =
                    (offset >= 0xC).then(|| (offset - 0xC) / 4).filter(|&port| port < u32::from(ports));
                device.write(offset, 0xFFFF_FFFF);
                let expected = match port {
                    None => 0,
                    Some(port) if port % 2 == 0 => 0xE0F0_0000,
                    // An unsupported port has its register: support bits 0, PART and XOFF as written.
                    Some(_) => 0x0060_0000,
                };
                assert_eq!(device.block().read(offset), expected, "{ports} ports, offset {offset:#x}");
            }
        }
    }

    #[test]
    fn the_block_exists_if_any_port_supports_anything() {
        assert!(!Block::new(&[Support::NONE; 4], 0).unwrap().exists());
        assert!(Block::new(&[Support::NONE, RECEPTION], 0).unwrap().exists());
    }

    /// Proves: VOQ-5.1.2.2-4
    #[test]
    fn truth_table_of_the_reported_status() {
        // PART, XOFF, raw, reported.
        let rows = [
            (0, 0, false, false),
            (0, 0, true, false),
            (0, XOFF, false, true),
            (0, XOFF, true, true),
            (PART, 0, false, false),
            (PART, 0, true, true),
            (PART, XOFF, false, true),
            (PART, XOFF, true, true),
        ];
        for (part, xoff, raw, reported) in rows {
            assert_eq!(PortCsr::new(Support::NONE).written(part | xoff).reported(raw), reported);
        }
    }

    /// Proves: VOQ-4.2-9, VOQ-5.1.2.2-4, VOQ-5.1.2.2-6
    #[test]
    fn every_transition_triggers_as_the_table_says() {
        let states = || {
            [0, PART, XOFF, PART | XOFF]
                .into_iter()
                .flat_map(|bits| [false, true].map(|raw| (PortCsr::new(Support::ALL).written(bits), raw)))
        };
        for before in states() {
            for after in states() {
                let found = triggers(before, after);
                if !after.0.has(PART) {
                    assert!(!found, "{before:?} {after:?}");
                    continue;
                }
                let status = |(register, raw): (PortCsr, bool)| match (register.has(PART), register.has(XOFF))
                {
                    (_, true) => true,
                    (true, false) => raw,
                    (false, false) => false,
                };
                assert_eq!(found, status(before) != status(after), "{before:?} {after:?}");
            }
        }
    }

    #[test]
    fn display_names_the_bits() {
        let register = PortCsr::new(Support::UNLINKED).written(GEN_EN | PART);
        assert_eq!(register.to_string(), "0xc0c00000 GEN_SUP RX_SUP GEN_EN PART");
    }

    proptest! {
        /// Proves: VOQ-5.1.2.2-1, VOQ-5.1.2.2-2
        #[test]
        fn writes_touch_only_writable_bits(
            generation: bool, reception: bool, linking: bool, first: u32, second: u32,
        ) {
            let reset = PortCsr::new(Support { generation, reception, linking });
            let register = reset.written(first).written(second);
            let expected = second & (PART | XOFF)
                | if generation { second & GEN_EN } else { 0 }
                | if linking { second & LINK_EN } else { 0 };
            prop_assert_eq!(register.value(), reset.value() | expected);
            prop_assert_eq!(register.reset(), reset);
        }
    }
}
