//! The register file, and the walk along its extended features.

use logical::register::discovery::{End, Found, WALK_MAX};
use logical::register::file::{Block, Description, Error, Identity, Role, Streaming};
use logical::register::{Device, Discovery, RegisterFile, Words, feature, offset, operation};
use logical::wire::Payload;
use logical::wire::maintenance::Access;
use lp_serial::cost::AddressSize;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Blocks that remember what is written, and a route table.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Plugged {
    blocks: BTreeMap<(usize, u32), u32>,
    routes: BTreeMap<u16, u8>,
}

impl Device for Plugged {
    fn read_block(&self, block: usize, offset: u32) -> u32 {
        self.blocks.get(&(block, offset)).copied().unwrap_or(0)
    }

    fn write_block(&mut self, block: usize, offset: u32, value: u32) {
        self.blocks.insert((block, offset), value);
    }

    fn route(&self, destination: u16) -> u8 {
        self.routes.get(&destination).copied().unwrap_or(0xFF)
    }

    fn set_route(&mut self, destination: u16, port: u8) {
        self.routes.insert(destination, port);
    }
}

fn endpoint() -> Description {
    Description {
        identity: Identity {
            device: 0x1234,
            vendor: 0x0038,
            revision: 0x0102_0304,
            assembly: 0x5678,
            assembly_vendor: 0x0039,
            assembly_revision: 0x0A0B,
        },
        role: Role::Endpoint { base_id: 0x7F, large_base_id: 0x1ABC },
        features: feature::MEMORY | feature::PROCESSOR | feature::LARGE_SYSTEM,
        source_operations: operation::READ | operation::DOORBELL,
        destination_operations: operation::WRITE | operation::MESSAGE,
        streaming: Streaming::default(),
        blocks: Vec::new(),
    }
}

fn switch(route_limit: Option<u16>) -> Description {
    Description {
        role: Role::Switch { ports: 18, route_limit },
        features: feature::EXTENDED_ROUTE_TABLE | feature::LARGE_SYSTEM,
        ..endpoint()
    }
}

fn file(description: Description) -> RegisterFile {
    RegisterFile::new(description).unwrap()
}

fn read(file: &RegisterFile, offset: u32) -> u32 {
    file.read(offset, 3, &())
}

#[test]
fn capabilities_of_an_endpoint() {
    let file = file(endpoint());
    let expected = [
        (offset::DEVICE_IDENTITY, 0x1234_0038),
        (offset::DEVICE_INFORMATION, 0x0102_0304),
        (offset::ASSEMBLY_IDENTITY, 0x5678_0039),
        (offset::ASSEMBLY_INFORMATION, 0x0A0B_0000),
        (offset::FEATURES, 0x6000_0011),
        (offset::SWITCH_PORT_INFORMATION, 0),
        (offset::SOURCE_OPERATIONS, 0x0000_8400),
        (offset::DESTINATION_OPERATIONS, 0x0000_4800),
        (offset::ROUTE_LIMIT, 0),
        (offset::STREAMING_INFORMATION, 0),
        (offset::STREAMING_CONTROL, 0),
        (offset::LOGICAL_LAYER_CONTROL, 1),
        (offset::BASE_DEVICE_ID, 0x007F_1ABC),
        (offset::HOST_LOCK, 0xFFFF),
        (offset::COMPONENT_TAG, 0),
        (offset::ROUTE_DESTINATION, 0),
        (offset::ROUTE_PORT, 0),
        (offset::DEFAULT_PORT, 0),
    ];
    for (offset, value) in expected {
        assert_eq!(read(&file, offset), value, "{offset:#04x}");
        // A register is 4 bytes; the low bits of the offset choose none of them.
        assert_eq!(read(&file, offset | 3), value);
    }
}

#[test]
fn capabilities_of_a_switch() {
    let file = file(switch(Some(0x01FF)));
    let expected = [
        (offset::FEATURES, 0x1000_0311),
        // 18 ports, and the one through which the question came.
        (offset::SWITCH_PORT_INFORMATION, 0x0000_1203),
        (offset::ROUTE_LIMIT, 0x01FF),
        (offset::BASE_DEVICE_ID, 0),
        (offset::DEFAULT_PORT, 0),
    ];
    for (offset, value) in expected {
        assert_eq!(read(&file, offset), value, "{offset:#04x}");
    }
    assert_eq!((file.base_id(), file.large_base_id()), (None, None));
}

#[test]
fn capabilities_and_reserved_registers_cannot_be_written() {
    let writable = [
        offset::STREAMING_CONTROL,
        offset::LOGICAL_LAYER_CONTROL,
        offset::BASE_DEVICE_ID,
        offset::HOST_LOCK,
        offset::COMPONENT_TAG,
        offset::ROUTE_DESTINATION,
        offset::ROUTE_PORT,
        offset::DEFAULT_PORT,
    ];
    for description in [endpoint(), switch(Some(100)), switch(None)] {
        let before = file(description);
        let mut after = before.clone();
        let offsets = (0..0x400).chain([0xFFFC, 0x1_0000, 0xFF_FFFC]).step_by(4);
        for offset in offsets.filter(|offset| !writable.contains(offset)) {
            for value in [0, 0x5A5A_A5A5, u32::MAX] {
                after.write(offset, value, &mut ());
                assert_eq!(after, before, "{offset:#x}");
            }
        }
        for offset in (0x7C..0x400).step_by(4).chain([0xFFFC, 0x1_0000, 0xFF_FFFC]) {
            assert_eq!(read(&before, offset), 0, "{offset:#x}");
        }
    }
}

#[test]
fn the_host_lock() {
    let mut file = file(endpoint());
    let mut write = |value: u32| {
        file.write(offset::HOST_LOCK, value, &mut ());
        read(&file, offset::HOST_LOCK)
    };
    // Free: any value is taken. 0xFFFF leaves it free.
    assert_eq!(write(0xFFFF), 0xFFFF);
    assert_eq!(write(0x1234_0005), 0x0005);
    // Held: other values are ignored, 0xFFFF too; its own frees it.
    assert_eq!(write(0x0006), 0x0005);
    assert_eq!(write(0xFFFF), 0x0005);
    assert_eq!(write(0x0005), 0xFFFF);
    assert_eq!(write(0x0006), 0x0006);
    assert_eq!(file.host_lock(), Some(6));
}

#[test]
fn the_component_tag_takes_any_value() {
    let mut file = file(switch(None));
    for value in [u32::MAX, 0x8000_0001, 0] {
        file.write(offset::COMPONENT_TAG, value, &mut ());
        assert_eq!((read(&file, offset::COMPONENT_TAG), file.component_tag()), (value, value));
    }
}

#[test]
fn device_ids_are_written_within_their_fields() {
    let mut large = file(endpoint());
    large.write(offset::BASE_DEVICE_ID, 0xFF12_3456, &mut ());
    assert_eq!(read(&large, offset::BASE_DEVICE_ID), 0x0012_3456);
    assert_eq!((large.base_id(), large.large_base_id()), (Some(0x12), Some(0x3456)));

    let mut small = file(Description { features: 0, ..endpoint() });
    small.write(offset::BASE_DEVICE_ID, 0x0012_3456, &mut ());
    assert_eq!(read(&small, offset::BASE_DEVICE_ID), 0x0012_0000);
    assert_eq!((small.base_id(), small.large_base_id()), (Some(0x12), None));

    let mut none = file(switch(None));
    none.write(offset::BASE_DEVICE_ID, 0x0012_3456, &mut ());
    assert_eq!(read(&none, offset::BASE_DEVICE_ID), 0);
}

#[test]
fn only_supported_address_sizes_are_taken() {
    let mut small = file(endpoint());
    let mut wide = file(Description { features: feature::ADDRESS_66, ..endpoint() });
    for (value, expected) in [(4, 1), (2, 1), (1, 1), (0, 1), (7, 1)] {
        small.write(offset::LOGICAL_LAYER_CONTROL, value, &mut ());
        assert_eq!(read(&small, offset::LOGICAL_LAYER_CONTROL), expected);
    }
    for (value, expected) in [(4, 4), (2, 4), (6, 4), (1, 1)] {
        wide.write(offset::LOGICAL_LAYER_CONTROL, value, &mut ());
        assert_eq!(read(&wide, offset::LOGICAL_LAYER_CONTROL), expected);
    }
    wide.write(offset::LOGICAL_LAYER_CONTROL, 4, &mut ());
    assert_eq!(wide.address_size(), AddressSize::Bits66);
}

#[test]
fn the_route_table_is_reached_entry_by_entry() {
    let mut file = file(Description { features: feature::LARGE_SYSTEM, ..switch(Some(0x01FF)) });
    let mut device = Plugged::default();
    // Without extended configuration the other three ports and the enable bit are reserved.
    file.write(offset::ROUTE_DESTINATION, 0xFFFF_0102, &mut device);
    assert_eq!(file.read(offset::ROUTE_DESTINATION, 0, &device), 0x0000_0102);
    file.write(offset::ROUTE_PORT, 0x0403_0201, &mut device);
    assert_eq!(device.routes, BTreeMap::from([(0x0102, 1)]));
    assert_eq!(file.read(offset::ROUTE_PORT, 0, &device), 0x01);

    file.write(offset::DEFAULT_PORT, 0xFFFF_FF07, &mut device);
    assert_eq!((file.read(offset::DEFAULT_PORT, 0, &device), file.default_port()), (7, 7));
}

#[test]
fn extended_configuration_reaches_four_entries() {
    let mut file = file(switch(Some(0x01FF)));
    let mut device = Plugged::default();
    file.write(offset::ROUTE_DESTINATION, 0x8000_01FE, &mut device);
    assert_eq!(file.read(offset::ROUTE_DESTINATION, 0, &device), 0x8000_01FE);
    file.write(offset::ROUTE_PORT, 0x0403_0201, &mut device);
    // The table ends here.
    assert_eq!(device.routes, BTreeMap::from([(0x01FE, 1), (0x01FF, 2)]));
    assert_eq!(file.read(offset::ROUTE_PORT, 0, &device), 0x0201);
    file.write(offset::ROUTE_DESTINATION, 0x8000_0010, &mut device);
    file.write(offset::ROUTE_PORT, 0x0403_0201, &mut device);
    assert_eq!(file.read(offset::ROUTE_PORT, 0, &device), 0x0403_0201);
    assert_eq!(device.routes[&0x13], 4);
}

/// The enable bit goes with each write, and a destination that is none of the standard's bits does not set
/// it.
#[test]
fn extended_configuration_ends_with_a_write_without_its_bit() {
    let mut file = file(switch(Some(0x01FF)));
    for (value, shown, entries) in [
        (0x8000_0010u32, 0x8000_0010u32, vec![0x10, 0x11, 0x12, 0x13]),
        (0x0000_0020, 0x0000_0020, vec![0x20]),
        (0x7FFF_0030, 0x0000_0030, vec![0x30]),
        (0x8000_0040, 0x8000_0040, vec![0x40, 0x41, 0x42, 0x43]),
    ] {
        let mut device = Plugged::default();
        file.write(offset::ROUTE_DESTINATION, value, &mut device);
        assert_eq!(file.read(offset::ROUTE_DESTINATION, 0, &device), shown);
        file.write(offset::ROUTE_PORT, 0x0403_0201, &mut device);
        assert_eq!(device.routes.into_keys().collect::<Vec<_>>(), entries);
    }
}

#[test]
fn small_systems_select_8_bit_destinations() {
    let mut file = file(Description { features: 0, ..switch(Some(0xFF)) });
    file.write(offset::ROUTE_DESTINATION, 0x0000_0102, &mut ());
    assert_eq!(read(&file, offset::ROUTE_DESTINATION), 0x02);
}

#[test]
fn a_switch_without_the_standard_table_has_none_of_its_registers() {
    let mut file = file(switch(None));
    let mut device = Plugged::default();
    for offset in [offset::ROUTE_DESTINATION, offset::ROUTE_PORT, offset::DEFAULT_PORT] {
        file.write(offset, 0x1234_5678, &mut device);
        assert_eq!(file.read(offset, 0, &device), 0);
    }
    assert!(device.routes.is_empty());
    // Nor the bits that announce them.
    assert_eq!(read(&file, offset::FEATURES), 0x1000_0011);
}

#[test]
fn streaming_registers() {
    let description = Description {
        source_operations: operation::STREAMING,
        destination_operations: operation::STREAMING,
        streaming: Streaming { max_pdu: 65_536, contexts: 32, traffic_management: 0b1100, mtu: 64 },
        ..endpoint()
    };
    let mut file = file(description.clone());
    assert_eq!(read(&file, offset::STREAMING_INFORMATION), 0x0000_0020);
    assert_eq!(read(&file, offset::STREAMING_CONTROL), 0xC000_0010);
    assert_eq!(file.mtu(), 64);
    // Types are read-only; modes that are not supported and MTUs out of 8 to 64 keep the old value.
    let cases = [
        (0xF1FF_FF40, 0xC100_0040),
        (0x0200_0008, 0xC200_0008),
        (0x0300_0009, 0xC200_0009),
        (0x0400_0041, 0xC200_0009),
        (0x0800_0007, 0xC200_0009),
        (0x0000_0020, 0xC000_0020),
    ];
    for (written, expected) in cases {
        file.write(offset::STREAMING_CONTROL, written, &mut ());
        assert_eq!(read(&file, offset::STREAMING_CONTROL), expected, "{written:#010x}");
    }
    assert_eq!(file.mtu(), 128);

    let refused = |streaming| RegisterFile::new(Description { streaming, ..description.clone() });
    for (field, found, streaming) in [
        ("max_pdu", 0, Streaming { max_pdu: 0, ..Streaming::default() }),
        ("max_pdu", 65_537, Streaming { max_pdu: 65_537, ..Streaming::default() }),
        ("contexts", 0, Streaming { contexts: 0, ..Streaming::default() }),
        ("traffic_management", 4, Streaming { traffic_management: 4, ..Streaming::default() }),
        ("mtu", 28, Streaming { mtu: 28, ..Streaming::default() }),
        ("mtu", 34, Streaming { mtu: 34, ..Streaming::default() }),
        ("mtu", 260, Streaming { mtu: 260, ..Streaming::default() }),
    ] {
        assert_eq!(refused(streaming), Err(Error::Streaming { field, found }));
    }
}

#[test]
fn impossible_devices() {
    let switch = |ports| Description { role: Role::Switch { ports, route_limit: None }, ..endpoint() };
    assert_eq!(RegisterFile::new(switch(0)), Err(Error::Ports { found: 0 }));
    // A switch at the end of a line has one, and PortTotal says so.
    assert!(RegisterFile::new(switch(1)).is_ok());
    let blocks = |blocks| RegisterFile::new(Description { blocks, ..endpoint() });
    let huge = Block { id: 1, octets: 0xFF00 };
    assert!(blocks(vec![huge]).is_ok());
    assert_eq!(blocks(vec![huge, Block { id: 2, octets: 4 }]), Err(Error::Blocks { needed: 0xFF08 }));
    assert_eq!(blocks(vec![Block { id: 2, octets: 3 }]), Err(Error::Block { id: 2 }));
}

fn with_blocks(octets: &[u32]) -> RegisterFile {
    let blocks = octets.iter().zip(0x000B..).map(|(&octets, id)| Block { id, octets }).collect();
    file(Description { blocks, ..endpoint() })
}

#[test]
fn blocks_form_a_list_of_aligned_headers() {
    let mut file = with_blocks(&[0x54, 0x10, 4]);
    let mut device = Plugged::default();
    assert_eq!(read(&file, offset::FEATURES) & feature::EXTENDED_FEATURES, feature::EXTENDED_FEATURES);
    assert_eq!(read(&file, offset::ASSEMBLY_INFORMATION), 0x0A0B_0100);
    let headers = [(0x100, 0x0158_000B), (0x158, 0x0168_000C), (0x168, 0x0000_000D)];
    for (number, (at, value)) in headers.into_iter().enumerate() {
        assert_eq!((file.block_offset(number), read(&file, at)), (Some(at), value));
        // The header belongs to the file.
        file.write(at, 0xFFFF_FFFF, &mut device);
    }
    assert!(device.blocks.is_empty());
    // The last register of the first block, the gap behind it, the second block, what lies behind the last.
    for (at, value) in [(0x150, 1), (0x154, 2), (0x15C, 3), (0x164, 4), (0x16C, 5)] {
        file.write(at, value, &mut device);
    }
    assert_eq!(device.blocks, BTreeMap::from([((0, 0x50), 1), ((1, 4), 3), ((1, 12), 4)]));
    assert_eq!([0x150, 0x154, 0x15C, 0x164, 0x16C].map(|at| file.read(at, 0, &device)), [1, 0, 3, 4, 0]);
}

#[test]
fn accesses_of_several_registers() {
    let mut file = file(switch(Some(0xFF)));
    let access = |offset, octets| Access::new(offset, octets).unwrap();
    // One register lies in the half of the double-word that its offset names.
    let word = file.read_words(access(0x04, 4), 0, &());
    assert_eq!(word.as_ref(), [0, 0, 0, 0, 1, 2, 3, 4]);
    assert_eq!(word.value(access(0x04, 4)), 0x0102_0304);
    assert_eq!(file.read_words(access(0x00, 4), 0, &()).as_ref(), [0x12, 0x34, 0, 0x38, 0, 0, 0, 0]);
    let all = file.read_words(access(0, 64), 0, &());
    assert_eq!((all.octets(), &all.as_ref()[..8]), (64, &[0x12, 0x34, 0, 0x38, 1, 2, 3, 4][..]));
    assert_eq!(all.as_ref()[0x10..0x14], read(&file, 0x10).to_be_bytes());

    // Lock and tag at once.
    file.write_words(access(0x68, 8), &[0, 0, 0, 9, 0xA, 0xB, 0xC, 0xD], &mut ());
    assert_eq!((file.host_lock(), file.component_tag()), (Some(9), 0x0A0B_0C0D));
    // Less data than announced writes less.
    file.write_words(access(0x60, 16), &[0, 1, 2, 3, 4, 5, 6, 7], &mut ());
    assert_eq!((file.host_lock(), file.component_tag()), (Some(9), 0x0A0B_0C0D));
    let tag = access(0x6C, 4);
    file.write_words(tag, Words::register(tag, 77).as_ref(), &mut ());
    assert_eq!((file.host_lock(), file.component_tag()), (Some(9), 77));
    file.write_words(tag, &[], &mut ());
    assert_eq!(file.component_tag(), 77);
}

/// Carries reads until the walk ends; `memory` gives the value of a register.
fn walk(mut memory: impl FnMut(u32) -> Option<u32>) -> (Discovery, usize) {
    let mut discovery = Discovery::new();
    let mut reads = 0;
    while let Some(access) = discovery.poll_transmit() {
        assert_eq!(access.octets(), 4);
        assert_eq!(discovery.poll_transmit(), None, "one read at a time");
        match memory(access.offset()) {
            Some(value) => discovery.handle_read(value),
            None => discovery.handle_failure(),
        }
        reads += 1;
        assert!(reads <= WALK_MAX + 2);
    }
    assert!(discovery.end().is_some());
    (discovery, reads)
}

#[test]
fn discovery_finds_the_blocks_of_a_register_file() {
    let file = with_blocks(&[0x54, 0x10, 4]);
    let (discovery, reads) = walk(|offset| Some(read(&file, offset)));
    assert_eq!(discovery.end(), Some(End::Complete));
    let expected = [(0x100, 0x0B), (0x158, 0x0C), (0x168, 0x0D)].map(|(offset, id)| Found { offset, id });
    assert_eq!((discovery.blocks(), reads), (&expected[..], 5));
    assert_eq!((discovery.find(0x0C), discovery.find(0x0E)), (Some(0x158), None));

    let (none, reads) = walk(|offset| Some(read(&with_blocks(&[]), offset)));
    assert_eq!((none.end(), none.blocks(), reads), (Some(End::NoList), &[][..], 1));
}

/// A register space with these headers: (offset, next).
fn list(first: u16, headers: &[(u16, u16)]) -> impl FnMut(u32) -> Option<u32> {
    let headers: BTreeMap<u32, u16> = headers.iter().map(|&(at, next)| (at.into(), next)).collect();
    move |offset| {
        Some(match offset {
            offset::FEATURES => feature::EXTENDED_FEATURES,
            offset::ASSEMBLY_INFORMATION => 0x1234_0000 | u32::from(first),
            offset => u32::from(headers.get(&offset).copied().unwrap_or(0)) << 16 | 1,
        })
    }
}

#[test]
fn discovery_reports_broken_lists() {
    let cases = [
        (list(0, &[]), End::BadPointer { found: 0 }, 0),
        (list(0xF8, &[]), End::BadPointer { found: 0xF8 }, 0),
        (list(0x104, &[]), End::BadPointer { found: 0x104 }, 0),
        (list(0x100, &[(0x100, 0x101)]), End::BadPointer { found: 0x101 }, 1),
        (list(0x100, &[(0x100, 0x100)]), End::Loop { to: 0x100 }, 1),
        (list(0x100, &[(0x100, 0x200), (0x200, 0x300), (0x300, 0x200)]), End::Loop { to: 0x200 }, 3),
        (list(0xFFF8, &[]), End::Complete, 1),
    ];
    for (memory, end, blocks) in cases {
        let (discovery, _) = walk(memory);
        assert_eq!((discovery.end(), discovery.blocks().len()), (Some(end), blocks));
    }
}

#[test]
fn discovery_reads_64_headers_at_most() {
    let chain = |length: u16| -> Vec<(u16, u16)> {
        (0..length).map(|n| (0x100 + 8 * n, if n + 1 < length { 0x108 + 8 * n } else { 0 })).collect()
    };
    let (whole, _) = walk(list(0x100, &chain(64)));
    assert_eq!((whole.end(), whole.blocks().len()), (Some(End::Complete), 64));
    let (long, reads) = walk(list(0x100, &chain(65)));
    assert_eq!((long.end(), long.blocks().len(), reads), (Some(End::TooLong), 64, 66));
}

#[test]
fn discovery_ends_where_a_read_fails() {
    for failing in [offset::FEATURES, offset::ASSEMBLY_INFORMATION, 0x100] {
        let mut memory = list(0x100, &[(0x100, 0)]);
        let (discovery, _) = walk(|offset| if offset == failing { None } else { memory(offset) });
        assert_eq!(discovery.end(), Some(End::Unreachable { offset: failing }));
    }
    // Answers that nobody asked for change nothing.
    let mut discovery = Discovery::new();
    discovery.handle_read(0);
    discovery.handle_failure();
    assert_eq!(discovery, Discovery::new());
}

proptest! {
    #[test]
    fn any_space_is_walked_to_an_end(values in proptest::collection::vec(any::<u32>(), 80)) {
        let mut values = values.into_iter();
        let (discovery, _) = walk(|_| values.next().map(|value| value & !0x0007_0000 | 8));
        prop_assert!(discovery.blocks().len() <= WALK_MAX);
    }

    /// What is written and read in any order never changes what is read-only, and whatever is read of several
    /// registers is what is read of each.
    #[test]
    fn any_accesses(
        writes in proptest::collection::vec((0u32..0x180, any::<u32>()), 0..40), is_switch in any::<bool>(),
    ) {
        let mut description = if is_switch { switch(Some(300)) } else { endpoint() };
        description.blocks = vec![Block { id: 0x0B, octets: 0x20 }, Block { id: 0x0C, octets: 0x0C }];
        let mut file = file(description);
        let mut device = Plugged::default();
        let before: Vec<u32> = (0..0x40).step_by(4).map(|at| file.read(at, 0, &device)).collect();
        for (at, value) in writes {
            file.write(at, value, &mut device);
        }
        let after: Vec<u32> = (0..0x40).step_by(4).map(|at| file.read(at, 0, &device)).collect();
        prop_assert_eq!(before, after);
        for (start, octets) in [(0, 64), (0x40, 64), (0x60, 32), (0x100, 16), (0x108, 8)] {
            let words = file.read_words(Access::new(start, octets).unwrap(), 0, &device);
            for (word, at) in words.as_ref().chunks(4).zip((start..).step_by(4)) {
                prop_assert_eq!(word, file.read(at, 0, &device).to_be_bytes());
            }
        }
    }
}
