//! The registers of one device.

use super::{Words, feature, offset, operation};
use crate::wire::maintenance::Access;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use lp_serial::cost::AddressSize;

/// Host lock value that means "not locked".
pub const UNLOCKED: u16 = 0xFFFF;

/// Values of the Host Base Device ID Lock and Component Tag CSRs after reset, and the field widths below, are
/// those of Part 3 §3.5.
const BASE_ID_MASK: u32 = 0x00FF_0000;
const LARGE_BASE_ID_MASK: u32 = 0x0000_FFFF;
/// Bit 0 of the Destination ID Select CSR: the Port Select CSR shows four entries.
pub const EXTENDED_CONFIGURATION: u32 = 0x8000_0000;

/// Entries of the route table that one extended access reaches.
const EXTENDED_ENTRIES: u16 = 4;

/// Allowed values of the MTU field of the Data Streaming Logical Layer Control CSR, in 4 bytes.
const MTU_RANGE: core::ops::RangeInclusive<u8> = 8..=64;

/// What a device plugs into its registers: the blocks of extended features that it named when the file was
/// made, and the route table of a switch. All have a default: no block, no route table.
pub trait Device {
    /// The register at byte `offset` (a multiple of 4, at least 4) of block number `block`. The header at
    /// offset 0 belongs to the file.
    fn read_block(&self, block: usize, offset: u32) -> u32 {
        let _ = (block, offset);
        0
    }

    /// A write to the register at byte `offset` of block number `block`.
    fn write_block(&mut self, block: usize, offset: u32, value: u32) {
        let _ = (block, offset, value);
    }

    /// Output port for packets to `destination`.
    fn route(&self, destination: u16) -> u8 {
        let _ = destination;
        0
    }

    /// From now on packets to `destination` go to `port`. A port that does not exist is the device's own
    /// matter: the standard leaves open what then happens.
    fn set_route(&mut self, destination: u16, port: u8) {
        let _ = (destination, port);
    }
}

/// Nothing plugged in.
impl Device for () {}

/// Who made the device, and the assembly it is in.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Identity {
    /// Type of the device, given by its vendor.
    pub device: u16,
    /// Vendor of the device.
    pub vendor: u16,
    /// Revision of the device.
    pub revision: u32,
    /// Type of the assembly, given by its vendor.
    pub assembly: u16,
    /// Vendor of the assembly.
    pub assembly_vendor: u16,
    /// Revision of the assembly.
    pub assembly_revision: u16,
}

/// What kind of device has the registers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Role {
    /// An endpoint, with the device IDs it has after reset.
    Endpoint {
        /// 8-bit device ID.
        base_id: u8,
        /// 16-bit device ID; for large systems only.
        large_base_id: u16,
    },
    /// A switch without a device ID.
    Switch {
        /// How many ports, 2..=255.
        ports: u8,
        /// Largest destination ID of the route table, if it has the standard one.
        route_limit: Option<u16>,
    },
}

/// What an endpoint can do with streams (Part 10 §5.5.3, §5.6.1).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Streaming {
    /// Longest PDU that is received, 1..=65 536 bytes.
    pub max_pdu: u32,
    /// PDUs that can be put together at a time, 1..=65 536.
    pub contexts: u32,
    /// Traffic management types: basic (8), and with it rate (4) and credit (2).
    pub traffic_management: u8,
    /// MTU after reset in bytes: 32..=256 in steps of 4.
    pub mtu: u16,
}

impl Default for Streaming {
    /// 64 KiB PDUs, 16 contexts, no traffic management, segments of 256 bytes.
    fn default() -> Self {
        Self { max_pdu: 65_536, contexts: 16, traffic_management: 0, mtu: 256 }
    }
}

/// A block of extended features: its ID, and how much room it takes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Block {
    /// Extended features ID.
    pub id: u16,
    /// Bytes, header included: at least 4.
    pub octets: u32,
}

/// How a device is built.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Description {
    /// Who made it.
    pub identity: Identity,
    /// What kind of device it is.
    pub role: Role,
    /// Further bits of [`feature`]; those that follow from other fields are set by the file.
    pub features: u32,
    /// Bits of [`operation`] that it can send.
    pub source_operations: u32,
    /// Bits of [`operation`] that it can receive.
    pub destination_operations: u32,
    /// What it can do with streams; used if one of the operations says streaming.
    pub streaming: Streaming,
    /// Its extended features, in the order of the list.
    pub blocks: Vec<Block>,
}

/// Why a device cannot have such registers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Error {
    /// A switch has 1 to 255 ports.
    Ports {
        /// Ports that were asked for.
        found: u8,
    },
    /// The extended features space has room for 65 280 bytes.
    Blocks {
        /// Bytes that the blocks need.
        needed: u64,
    },
    /// A block has at least its header.
    Block {
        /// Its ID.
        id: u16,
    },
    /// A property of streams is out of its range.
    Streaming {
        /// Which.
        field: &'static str,
        /// What was asked for.
        found: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ports { found } => write!(f, "switch ports: 1 to 255, {found} given"),
            Self::Blocks { needed } => {
                write!(f, "extended features: 65280 bytes of space, {needed} needed")
            }
            Self::Block { id } => write!(f, "extended features block {id:#06x}: at least 4 bytes"),
            Self::Streaming { field, found } => write!(f, "streaming {field}: {found} is out of range"),
        }
    }
}

impl core::error::Error for Error {}

/// A block in its place.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct Placed {
    id: u16,
    next: u16,
    start: u32,
    end: u32,
}

/// The registers of a device.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct RegisterFile {
    identity: Identity,
    role: Role,
    features: u32,
    source_operations: u32,
    destination_operations: u32,
    /// The Data Streaming Information CAR.
    streaming_information: u32,
    /// The Data Streaming Logical Layer Control CSR.
    streaming_control: u32,
    address: AddressSize,
    host_lock: u16,
    component_tag: u32,
    route_destination: u16,
    extended_configuration: bool,
    default_port: u8,
    blocks: Box<[Placed]>,
}

impl RegisterFile {
    /// The registers after reset. Blocks of extended features follow each other from 0x100 on, each at a
    /// multiple of 8.
    ///
    /// # Errors
    /// [`Error`].
    pub fn new(description: Description) -> Result<Self, Error> {
        let Description { identity, role, source_operations, destination_operations, streaming, .. } =
            description;
        let mut features = description.features | feature::ADDRESS_34;
        let derived = feature::SWITCH | feature::STANDARD_ROUTE_TABLE | feature::EXTENDED_FEATURES;
        features &= !derived;
        if let Role::Switch { ports, route_limit } = role {
            if ports < 1 {
                return Err(Error::Ports { found: ports });
            }
            features |= feature::SWITCH;
            if route_limit.is_some() {
                features |= feature::STANDARD_ROUTE_TABLE;
            }
        }
        if features & feature::STANDARD_ROUTE_TABLE == 0 {
            features &= !feature::EXTENDED_ROUTE_TABLE;
        }
        if !description.blocks.is_empty() {
            features |= feature::EXTENDED_FEATURES;
        }
        let (streaming_information, streaming_control) = streaming_registers(streaming)?;
        Ok(Self {
            identity,
            role,
            features,
            source_operations,
            destination_operations,
            streaming_information,
            streaming_control,
            address: AddressSize::Bits34,
            host_lock: UNLOCKED,
            component_tag: 0,
            route_destination: 0,
            extended_configuration: false,
            default_port: 0,
            blocks: place(&description.blocks)?,
        })
    }

    /// The 8-bit device ID of an endpoint.
    #[must_use]
    pub const fn base_id(&self) -> Option<u8> {
        match self.role {
            Role::Endpoint { base_id, .. } => Some(base_id),
            Role::Switch { .. } => None,
        }
    }

    /// The 16-bit device ID of an endpoint in a large system.
    #[must_use]
    pub const fn large_base_id(&self) -> Option<u16> {
        match self.role {
            Role::Endpoint { large_base_id, .. } if self.has(feature::LARGE_SYSTEM) => Some(large_base_id),
            _ => None,
        }
    }

    /// Size of addresses in the packets that this device sends and understands.
    #[must_use]
    pub const fn address_size(&self) -> AddressSize {
        self.address
    }

    /// Device ID of the host that holds the lock.
    #[must_use]
    pub const fn host_lock(&self) -> Option<u16> {
        if self.host_lock == UNLOCKED { None } else { Some(self.host_lock) }
    }

    /// The component tag.
    #[must_use]
    pub const fn component_tag(&self) -> u32 {
        self.component_tag
    }

    /// Port for packets whose destination lies beyond the route table.
    #[must_use]
    pub const fn default_port(&self) -> u8 {
        self.default_port
    }

    /// Size of the segments of streams that this device sends, in bytes.
    #[must_use]
    pub const fn mtu(&self) -> u16 {
        (self.streaming_control & 0xFF) as u16 * 4
    }

    /// Byte offset of block number `block`.
    #[must_use]
    pub fn block_offset(&self, block: usize) -> Option<u32> {
        self.blocks.get(block).map(|block| block.start)
    }

    /// The block at a byte offset of the register space: its number, its ID, and the offset within it.
    #[must_use]
    pub fn block_at(&self, offset: u32) -> Option<(usize, u16, u32)> {
        self.locate(offset).map(|(number, block, within)| (number, block.id, within))
    }

    const fn has(&self, features: u32) -> bool {
        self.features & features == features
    }

    /// Largest destination ID of the standard route table.
    const fn route_limit(&self) -> Option<u16> {
        match self.role {
            Role::Switch { route_limit, .. } => route_limit,
            Role::Endpoint { .. } => None,
        }
    }

    /// The register at a byte offset; the two low bits are ignored. `via` is the port through which the
    /// question came.
    #[must_use]
    pub fn read(&self, offset: u32, via: u8, device: &impl Device) -> u32 {
        let pair = |upper: u16, lower: u16| u32::from(upper) << 16 | u32::from(lower);
        let Identity { device: model, vendor, revision, .. } = self.identity;
        let table = self.route_limit();
        match offset & !3 {
            offset::DEVICE_IDENTITY => pair(model, vendor),
            offset::DEVICE_INFORMATION => revision,
            offset::ASSEMBLY_IDENTITY => pair(self.identity.assembly, self.identity.assembly_vendor),
            offset::ASSEMBLY_INFORMATION => {
                let first = self.blocks.first().map_or(0, |block| block.start as u16);
                pair(self.identity.assembly_revision, first)
            }
            offset::FEATURES => self.features,
            offset::SWITCH_PORT_INFORMATION => match self.role {
                Role::Switch { ports, .. } => u32::from(ports) << 8 | u32::from(via),
                Role::Endpoint { .. } => 0,
            },
            offset::SOURCE_OPERATIONS => self.source_operations,
            offset::DESTINATION_OPERATIONS => self.destination_operations,
            offset::ROUTE_LIMIT => table.unwrap_or(0).into(),
            offset::STREAMING_INFORMATION if self.receives_streams() => self.streaming_information,
            offset::STREAMING_CONTROL if self.sends_streams() => self.streaming_control,
            offset::LOGICAL_LAYER_CONTROL => match self.address {
                AddressSize::Bits34 => feature::ADDRESS_34,
                AddressSize::Bits50 => feature::ADDRESS_50,
                AddressSize::Bits66 => feature::ADDRESS_66,
            },
            offset::BASE_DEVICE_ID => match self.role {
                Role::Endpoint { base_id, .. } => {
                    u32::from(base_id) << 16 | u32::from(self.large_base_id().unwrap_or(0))
                }
                Role::Switch { .. } => 0,
            },
            offset::HOST_LOCK => self.host_lock.into(),
            offset::COMPONENT_TAG => self.component_tag,
            offset::ROUTE_DESTINATION if table.is_some() => {
                let extended = if self.extended_configuration { EXTENDED_CONFIGURATION } else { 0 };
                extended | u32::from(self.route_destination)
            }
            offset::ROUTE_PORT => self
                .selected_entries()
                .map(|(shift, destination)| u32::from(device.route(destination)) << shift)
                .fold(0, |ports, port| ports | port),
            offset::DEFAULT_PORT if table.is_some() => self.default_port.into(),
            offset => match self.locate(offset) {
                Some((_, block, 0)) => pair(block.next, block.id),
                Some((number, _, within)) => device.read_block(number, within),
                None => 0,
            },
        }
    }

    /// Writes the register at a byte offset; the two low bits are ignored. Bits that are read-only or
    /// reserved stay as they are, and so does a field that would get a reserved value.
    pub fn write(&mut self, offset: u32, value: u32, device: &mut impl Device) {
        match offset & !3 {
            offset::STREAMING_CONTROL if self.sends_streams() => self.write_streaming_control(value),
            offset::LOGICAL_LAYER_CONTROL => {
                let wanted = match value & 7 {
                    feature::ADDRESS_34 => (AddressSize::Bits34, feature::ADDRESS_34),
                    feature::ADDRESS_50 => (AddressSize::Bits50, feature::ADDRESS_50),
                    feature::ADDRESS_66 => (AddressSize::Bits66, feature::ADDRESS_66),
                    _ => return,
                };
                if self.has(wanted.1) {
                    self.address = wanted.0;
                }
            }
            offset::BASE_DEVICE_ID => {
                let large = self.has(feature::LARGE_SYSTEM);
                if let Role::Endpoint { base_id, large_base_id } = &mut self.role {
                    *base_id = ((value & BASE_ID_MASK) >> 16) as u8;
                    if large {
                        *large_base_id = (value & LARGE_BASE_ID_MASK) as u16;
                    }
                }
            }
            offset::HOST_LOCK => self.write_host_lock(value as u16),
            offset::COMPONENT_TAG => self.component_tag = value,
            offset::ROUTE_DESTINATION if self.route_limit().is_some() => {
                let width = if self.has(feature::LARGE_SYSTEM) { 0xFFFF } else { 0xFF };
                self.route_destination = (value & width) as u16;
                self.extended_configuration =
                    self.has(feature::EXTENDED_ROUTE_TABLE) && value & EXTENDED_CONFIGURATION != 0;
            }
            offset::ROUTE_PORT => {
                for (shift, destination) in self.selected_entries() {
                    device.set_route(destination, (value >> shift) as u8);
                }
            }
            offset::DEFAULT_PORT if self.route_limit().is_some() => self.default_port = value as u8,
            offset => {
                if let Some((number, _, within @ 4..)) = self.locate(offset) {
                    device.write_block(number, within, value);
                }
            }
        }
    }

    /// What a maintenance read of `access` brings.
    #[must_use]
    pub fn read_words(&self, access: Access, via: u8, device: &impl Device) -> Words {
        if access.octets() == 4 {
            return Words::register(access, self.read(access.offset(), via, device));
        }
        let mut words = Words::zeroed(access);
        let registers = words.bytes[..usize::from(words.octets)].chunks_exact_mut(4);
        for (register, offset) in registers.zip((access.offset()..).step_by(4)) {
            register.copy_from_slice(&self.read(offset, via, device).to_be_bytes());
        }
        words
    }

    /// Carries out a maintenance write of `access`: as many registers as there is data for, in order.
    pub fn write_words(&mut self, access: Access, data: &[u8], device: &mut impl Device) {
        let (double_words, _) = data.as_chunks::<8>();
        if let (4, [first, ..]) = (access.octets(), double_words) {
            self.write(access.offset(), access.pick(*first), device);
            return;
        }
        let (registers, _) = data.as_chunks::<4>();
        let registers = registers.iter().take(usize::from(access.octets()) / 4);
        for (register, offset) in registers.zip((access.offset()..).step_by(4)) {
            self.write(offset, u32::from_be_bytes(*register), device);
        }
    }

    const fn receives_streams(&self) -> bool {
        self.destination_operations & operation::STREAMING != 0
    }

    const fn sends_streams(&self) -> bool {
        self.source_operations & operation::STREAMING != 0
    }

    /// A lock that nobody holds takes any value; the holder's own value frees it; others are ignored.
    fn write_host_lock(&mut self, value: u16) {
        if self.host_lock == UNLOCKED {
            self.host_lock = value;
        } else if self.host_lock == value {
            self.host_lock = UNLOCKED;
        }
    }

    fn write_streaming_control(&mut self, value: u32) {
        let [types, _, _, _] = self.streaming_control.to_be_bytes();
        let [modes, _, _, mtu] = value.to_be_bytes();
        let [old_modes, _, _, old_mtu] = self.streaming_control.to_be_bytes();
        let mode = modes & 0x0F;
        let supported = match mode {
            0 => true,
            1 => types & 0x80 != 0,
            2 => types & 0x40 != 0,
            3 => types & 0x20 != 0,
            4 => types & 0x60 == 0x60,
            _ => false,
        };
        let modes = if supported { types & 0xF0 | mode } else { old_modes };
        let mtu = if MTU_RANGE.contains(&mtu) { mtu } else { old_mtu };
        self.streaming_control = u32::from_be_bytes([modes, 0, 0, mtu]);
    }

    /// Entries of the route table that the Port Select CSR shows: (shift of the port in the register,
    /// destination ID). None beyond the table, where the standard leaves open what happens.
    fn selected_entries(&self) -> impl Iterator<Item = (u32, u16)> + use<> {
        let first = self.route_destination;
        let count = if self.extended_configuration { EXTENDED_ENTRIES } else { 1 };
        let limit = self.route_limit();
        (0..count).filter_map(move |index| {
            let destination = first.checked_add(index)?;
            (destination <= limit?).then_some((8 * u32::from(index), destination))
        })
    }

    /// The block at a byte offset of the register space: its number, itself, and the offset within it.
    fn locate(&self, offset: u32) -> Option<(usize, Placed, u32)> {
        let number = self.blocks.partition_point(|block| block.end <= offset);
        let block = *self.blocks.get(number)?;
        Some((number, block, offset.checked_sub(block.start)?))
    }
}

/// The Data Streaming Information CAR and the Data Streaming Logical Layer Control CSR after reset.
fn streaming_registers(streaming: Streaming) -> Result<(u32, u32), Error> {
    let Streaming { max_pdu, contexts, traffic_management, mtu } = streaming;
    let range = |field, found: u32| Err(Error::Streaming { field, found });
    // 65 536 is written as 0.
    if !(1..=65_536).contains(&max_pdu) {
        return range("max_pdu", max_pdu);
    }
    if !(1..=65_536).contains(&contexts) {
        return range("contexts", contexts);
    }
    if !matches!(traffic_management, 0 | 0b1000 | 0b1100 | 0b1010 | 0b1110) {
        return range("traffic_management", traffic_management.into());
    }
    let blocks = u8::try_from(mtu / 4).unwrap_or(0);
    if !mtu.is_multiple_of(4) || !MTU_RANGE.contains(&blocks) {
        return range("mtu", mtu.into());
    }
    let information = (max_pdu & 0xFFFF) << 16 | contexts & 0xFFFF;
    Ok((information, u32::from(traffic_management) << 28 | u32::from(blocks)))
}

/// Blocks one behind the other, each at a multiple of 8.
fn place(blocks: &[Block]) -> Result<Box<[Placed]>, Error> {
    let mut needed = 0;
    let mut placed = Vec::with_capacity(blocks.len());
    for &Block { id, octets } in blocks {
        if octets < 4 {
            return Err(Error::Block { id });
        }
        let start = u64::from(offset::EXTENDED_FEATURES) + needed;
        needed += u64::from(octets).next_multiple_of(8);
        if start + u64::from(octets) > u64::from(offset::EXTENDED_FEATURES_END) {
            return Err(Error::Blocks { needed });
        }
        let (start, end) = (start as u32, start as u32 + octets.next_multiple_of(4));
        placed.push(Placed { id, next: 0, start, end });
    }
    for number in 1..placed.len() {
        placed[number - 1].next = placed[number].start as u16;
    }
    Ok(placed.into_boxed_slice())
}
