//! The register file under any accesses, and discovery in any register space: what is read-only stays,
//! reads of several registers agree with reads of each, and every walk ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::register::discovery::{End, WALK_MAX};
use logical::register::file::{Block, Description, Identity, Role, Streaming};
use logical::register::{Device, Discovery, RegisterFile, feature, operation};
use logical::wire::maintenance::Access;
use std::collections::BTreeMap;

#[derive(Default)]
struct Plugged {
    registers: BTreeMap<(usize, u32), u32>,
    routes: BTreeMap<u16, u8>,
}

impl Device for Plugged {
    fn read_block(&self, block: usize, offset: u32) -> u32 {
        assert!(offset >= 4 && offset % 4 == 0);
        self.registers.get(&(block, offset)).copied().unwrap_or(0)
    }

    fn write_block(&mut self, block: usize, offset: u32, value: u32) {
        assert!(offset >= 4 && offset % 4 == 0);
        self.registers.insert((block, offset), value);
    }

    fn route(&self, destination: u16) -> u8 {
        self.routes.get(&destination).copied().unwrap_or(0)
    }

    fn set_route(&mut self, destination: u16, port: u8) {
        self.routes.insert(destination, port);
    }
}

fn walk(mut read: impl FnMut(u32) -> Option<u32>) -> Discovery {
    let mut discovery = Discovery::new();
    for _ in 0..WALK_MAX + 3 {
        let Some(access) = discovery.poll_transmit() else { break };
        match read(access.offset()) {
            Some(value) => discovery.handle_read(value),
            None => discovery.handle_failure(),
        }
    }
    assert!(discovery.end().is_some() && discovery.blocks().len() <= WALK_MAX);
    discovery
}

fn run(bytes: &[u8]) {
    let Some((&[kind, limit, size], rest)) = bytes.split_first_chunk() else { return };
    let limit = u16::from(limit);
    let role = if kind & 1 == 0 {
        Role::Endpoint { base_id: 1, large_base_id: 2 }
    } else {
        Role::Switch { ports: 8, route_limit: (kind & 2 == 0).then_some(limit) }
    };
    let features = if kind & 4 == 0 { 0 } else { feature::LARGE_SYSTEM | feature::EXTENDED_ROUTE_TABLE };
    let blocks: Vec<Block> =
        (0..u16::from(kind >> 4)).map(|id| Block { id, octets: 4 + u32::from(size) }).collect();
    let count = blocks.len();
    let mut file = RegisterFile::new(Description {
        identity: Identity::default(),
        role,
        features,
        source_operations: operation::STREAMING,
        destination_operations: operation::STREAMING,
        streaming: Streaming::default(),
        blocks,
    })
    .unwrap();
    let mut device = Plugged::default();
    let capabilities = |file: &RegisterFile, device: &Plugged| -> Vec<u32> {
        (0..0x40).step_by(4).map(|at| file.read(at, 3, device)).collect()
    };
    let before = capabilities(&file, &device);
    for &[a, b, c, d, e, f, g] in rest.as_chunks::<7>().0 {
        let octets = [4, 8, 16, 32, 64][usize::from(g) % 5];
        let offset = u32::from_be_bytes([0, a & 1, b, c]) & if octets == 4 { !3 } else { !7 };
        let access = Access::new(offset, octets).unwrap();
        let data = [d, e, f, g].repeat(access.payload_octets() / 4);
        file.write_words(access, &data, &mut device);
        let words = file.read_words(access, 3, &device);
        if octets > 4 {
            for (word, at) in words.as_ref().chunks(4).zip((offset..).step_by(4)) {
                assert_eq!(word, file.read(at, 3, &device).to_be_bytes());
            }
        } else {
            assert_eq!(words.value(access), file.read(offset, 3, &device));
        }
    }
    assert_eq!(capabilities(&file, &device), before);
    assert!(device.routes.keys().all(|&destination| destination <= limit));

    let found = walk(|offset| Some(file.read(offset, 3, &device)));
    assert_eq!(found.end(), Some(if count == 0 { End::NoList } else { End::Complete }));
    assert_eq!(found.blocks().len(), count);
    // A register space of these bytes.
    let words = rest.as_chunks::<4>().0;
    walk(|offset| words.get(offset as usize / 4 % 128).map(|word| u32::from_be_bytes(*word)));
    let mut answers = words.iter();
    walk(|_| answers.next().map(|word| u32::from_be_bytes(*word) & !0x0007_0000 | 8));
}

fuzz_target!(|bytes: &[u8]| run(bytes));
