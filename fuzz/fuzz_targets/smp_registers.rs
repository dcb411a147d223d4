//! Register blocks and Component Tags: any words have a meaning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use session_management::message::Mode;
use session_management::register::{Block, Writer, component_tag, read_block};

fuzz_target!(|words: Vec<(bool, u16, u32)>| {
    let mut block = Block::new(0, 8);
    for (local, offset, value) in words {
        let writer = if local { Writer::Local } else { Writer::Fabric };
        let header = block.read(0);
        block.write(writer, u32::from(offset), value);
        assert_eq!(block.read(0), header);
        let _ = component_tag(value, 0);
        let reading = read_block(|offset| block.read(offset), Mode::Validation);
        assert!(reading.attributes.len() <= 8);
    }
});
