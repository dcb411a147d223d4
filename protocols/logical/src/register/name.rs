//! Names of registers, for people.

use super::{offset, serial};
use alloc::format;
use alloc::string::String;

/// Name of the register at a byte offset of the register space; `None` outside of the standard registers
/// below the extended features.
#[must_use]
pub const fn name(offset: u32) -> Option<&'static str> {
    Some(match offset & !3 {
        offset::DEVICE_IDENTITY => "Device Identity",
        offset::DEVICE_INFORMATION => "Device Information",
        offset::ASSEMBLY_IDENTITY => "Assembly Identity",
        offset::ASSEMBLY_INFORMATION => "Assembly Information",
        offset::FEATURES => "Processing Element Features",
        offset::SWITCH_PORT_INFORMATION => "Switch Port Information",
        offset::SOURCE_OPERATIONS => "Source Operations",
        offset::DESTINATION_OPERATIONS => "Destination Operations",
        offset::ROUTE_LIMIT => "Route Table Destination ID Limit",
        offset::STREAMING_INFORMATION => "Data Streaming Information",
        offset::STREAMING_CONTROL => "Data Streaming Logical Layer Control",
        offset::LOGICAL_LAYER_CONTROL => "Logical Layer Control",
        offset::BASE_DEVICE_ID => "Base Device ID",
        offset::HOST_LOCK => "Host Base Device ID Lock",
        offset::COMPONENT_TAG => "Component Tag",
        offset::ROUTE_DESTINATION => "Route Destination ID Select",
        offset::ROUTE_PORT => "Route Port Select",
        offset::DEFAULT_PORT => "Route Default Port",
        _ => return None,
    })
}

/// Name of the register at byte offset `within` of the extended features block with this ID.
#[must_use]
pub fn in_block(id: u16, within: u32) -> String {
    if within == 0 {
        return format!("header of block {id:#06x}");
    }
    if matches!(id, serial::ENDPOINT_ID | serial::SWITCH_ID) {
        if within == serial::GENERAL_CONTROL {
            return "Port General Control".into();
        }
        if let Some(port) = serial::port_of_status(within) {
            return format!("Port {port} Error and Status");
        }
    }
    format!("block {id:#06x} + {within:#x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names() {
        assert_eq!(name(0x68), Some("Host Base Device ID Lock"));
        assert_eq!(name(0x6B), name(0x68));
        assert_eq!(name(0x100), None);
        assert_eq!(in_block(1, 0), "header of block 0x0001");
        assert_eq!(in_block(3, 0x3C), "Port General Control");
        assert_eq!(in_block(3, 0x98), "Port 2 Error and Status");
        assert_eq!(in_block(0xB, 0x10), "block 0x000b + 0x10");
    }
}
