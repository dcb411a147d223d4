//! The register space of a device: capability and command registers of Parts 1, 3 and 10, and the list of
//! extended features (Part 1 §5, Part 3 §3, Part 10 §5).
//!
//! | offset | register | of |
//! |---|---|---|
//! | 0x00, 0x04 | Device Identity, Device Information CAR | all |
//! | 0x08, 0x0C | Assembly Identity, Assembly Information CAR | all |
//! | 0x10 | Processing Element Features CAR | all |
//! | 0x14 | Switch Port Information CAR | switches |
//! | 0x18, 0x1C | Source, Destination Operations CAR | all |
//! | 0x34 | Switch Route Table Destination ID Limit CAR | switches with a standard route table |
//! | 0x3C | Data Streaming Information CAR | endpoints that receive streams |
//! | 0x48 | Data Streaming Logical Layer Control CSR | endpoints that send streams |
//! | 0x4C | Processing Element Logical Layer Control CSR | all |
//! | 0x60 | Base Device ID CSR | endpoints |
//! | 0x68 | Host Base Device ID Lock CSR | all |
//! | 0x6C | Component Tag CSR | all |
//! | 0x70, 0x74 | Standard Route Configuration Destination ID Select, Port Select CSR | as 0x34 |
//! | 0x78 | Standard Route Default Port CSR | as 0x34 |
//! | 0x100.. | extended features blocks | all that have some |
//!
//! Everything else reads 0, and writes to it are ignored. So are writes to CARs. Neither is an error: a
//! register access never fails (Part 1 §5.2).
//!
//! Bit 0 is the most significant bit.
//!
//! 1. [`mod@file`]: the registers of one device; what it plugs into them comes through [`Device`].
//! 2. [`discovery`]: how another device finds the extended features blocks.
//! 3. [`serial`]: the block of the LP-Serial physical layer, as far as a host needs it.
//! 4. [`name`](mod@name): what registers are called.

pub mod discovery;
pub mod file;
pub mod name;
pub mod serial;

pub use discovery::Discovery;
pub use file::{Device, RegisterFile};
pub use serial::Serial;

use crate::wire::Payload;
use crate::wire::maintenance::{Access, PAYLOAD_MAX_BYTES};

/// Byte offsets of registers.
pub mod offset {
    /// Device Identity CAR.
    pub const DEVICE_IDENTITY: u32 = 0x00;
    /// Device Information CAR.
    pub const DEVICE_INFORMATION: u32 = 0x04;
    /// Assembly Identity CAR.
    pub const ASSEMBLY_IDENTITY: u32 = 0x08;
    /// Assembly Information CAR; bits 16-31 point to the first extended features block.
    pub const ASSEMBLY_INFORMATION: u32 = 0x0C;
    /// Processing Element Features CAR.
    pub const FEATURES: u32 = 0x10;
    /// Switch Port Information CAR.
    pub const SWITCH_PORT_INFORMATION: u32 = 0x14;
    /// Source Operations CAR.
    pub const SOURCE_OPERATIONS: u32 = 0x18;
    /// Destination Operations CAR.
    pub const DESTINATION_OPERATIONS: u32 = 0x1C;
    /// Switch Route Table Destination ID Limit CAR.
    pub const ROUTE_LIMIT: u32 = 0x34;
    /// Data Streaming Information CAR.
    pub const STREAMING_INFORMATION: u32 = 0x3C;
    /// Data Streaming Logical Layer Control CSR.
    pub const STREAMING_CONTROL: u32 = 0x48;
    /// Processing Element Logical Layer Control CSR.
    pub const LOGICAL_LAYER_CONTROL: u32 = 0x4C;
    /// Base Device ID CSR.
    pub const BASE_DEVICE_ID: u32 = 0x60;
    /// Host Base Device ID Lock CSR.
    pub const HOST_LOCK: u32 = 0x68;
    /// Component Tag CSR.
    pub const COMPONENT_TAG: u32 = 0x6C;
    /// Standard Route Configuration Destination ID Select CSR.
    pub const ROUTE_DESTINATION: u32 = 0x70;
    /// Standard Route Configuration Port Select CSR.
    pub const ROUTE_PORT: u32 = 0x74;
    /// Standard Route Default Port CSR.
    pub const DEFAULT_PORT: u32 = 0x78;
    /// First byte of the extended features space.
    pub const EXTENDED_FEATURES: u32 = 0x100;
    /// First byte behind the extended features space.
    pub const EXTENDED_FEATURES_END: u32 = 0x1_0000;
}

/// Bits of the Processing Element Features CAR.
pub mod feature {
    /// Bit 0: a bridge to something else.
    pub const BRIDGE: u32 = 0x8000_0000;
    /// Bit 1: has memory that others can address.
    pub const MEMORY: u32 = 0x4000_0000;
    /// Bit 2: has a processor.
    pub const PROCESSOR: u32 = 0x2000_0000;
    /// Bit 3: a switch.
    pub const SWITCH: u32 = 0x1000_0000;
    /// Bit 20: takes part in flow arbitration (Part 9).
    pub const FLOW_ARBITRATION: u32 = 0x0000_0800;
    /// Bit 21: multicast (Part 11).
    pub const MULTICAST: u32 = 0x0000_0400;
    /// Bit 22: several entries of the route table at a time.
    pub const EXTENDED_ROUTE_TABLE: u32 = 0x0000_0200;
    /// Bit 23: the standard route table registers exist.
    pub const STANDARD_ROUTE_TABLE: u32 = 0x0000_0100;
    /// Bit 24: flow control (Part 9).
    pub const FLOW_CONTROL: u32 = 0x0000_0080;
    /// Bit 26: critical request flow (Part 6).
    pub const CRITICAL_REQUEST_FLOW: u32 = 0x0000_0020;
    /// Bit 27: 16-bit device IDs.
    pub const LARGE_SYSTEM: u32 = 0x0000_0010;
    /// Bit 28: the pointer to the extended features is valid.
    pub const EXTENDED_FEATURES: u32 = 0x0000_0008;
    /// Bit 29: 66-bit addresses.
    pub const ADDRESS_66: u32 = 0x0000_0004;
    /// Bit 30: 50-bit addresses.
    pub const ADDRESS_50: u32 = 0x0000_0002;
    /// Bit 31: 34-bit addresses; always set.
    pub const ADDRESS_34: u32 = 0x0000_0001;
}

/// Bits of the Source and Destination Operations CARs.
pub mod operation {
    /// Bit 12: traffic management of streams.
    pub const TRAFFIC_MANAGEMENT: u32 = 0x0008_0000;
    /// Bit 13: data streaming.
    pub const STREAMING: u32 = 0x0004_0000;
    /// Bit 16: reads.
    pub const READ: u32 = 0x0000_8000;
    /// Bit 17: writes.
    pub const WRITE: u32 = 0x0000_4000;
    /// Bit 18: streaming writes.
    pub const STREAM_WRITE: u32 = 0x0000_2000;
    /// Bit 19: writes with response.
    pub const WRITE_WITH_RESPONSE: u32 = 0x0000_1000;
    /// Bit 20: messages.
    pub const MESSAGE: u32 = 0x0000_0800;
    /// Bit 21: doorbells.
    pub const DOORBELL: u32 = 0x0000_0400;
    /// Bit 22: compare-and-swap.
    pub const COMPARE_AND_SWAP: u32 = 0x0000_0200;
    /// Bit 23: test-and-swap.
    pub const TEST_AND_SWAP: u32 = 0x0000_0100;
    /// Bit 24: atomic increment.
    pub const INCREMENT: u32 = 0x0000_0080;
    /// Bit 25: atomic decrement.
    pub const DECREMENT: u32 = 0x0000_0040;
    /// Bit 26: atomic set.
    pub const SET: u32 = 0x0000_0020;
    /// Bit 27: atomic clear.
    pub const CLEAR: u32 = 0x0000_0010;
    /// Bit 28: atomic swap.
    pub const SWAP: u32 = 0x0000_0008;
    /// Bit 29: port-writes.
    pub const PORT_WRITE: u32 = 0x0000_0004;
}

/// Registers as a maintenance packet carries them: 8 to 64 bytes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Words {
    bytes: [u8; PAYLOAD_MAX_BYTES],
    octets: u8,
}

impl Words {
    /// Room for what `access` means, all 0.
    #[must_use]
    pub const fn zeroed(access: Access) -> Self {
        Self { bytes: [0; PAYLOAD_MAX_BYTES], octets: access.payload_octets() as u8 }
    }

    /// One register, in the half of a double-word where `access` has it.
    #[must_use]
    pub fn register(access: Access, value: u32) -> Self {
        let mut words = Self::zeroed(access);
        words.bytes[..8].copy_from_slice(&access.place(value));
        words
    }

    /// The value of the one register that `access` means.
    #[must_use]
    pub const fn value(&self, access: Access) -> u32 {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        access.pick([a, b, c, d, e, f, g, h])
    }
}

impl AsRef<[u8]> for Words {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.octets)]
    }
}

impl Payload for Words {
    fn octets(&self) -> usize {
        self.octets.into()
    }
}
