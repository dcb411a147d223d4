//! The tables of fields say of every bit what the formats read there.

use logical::wire::{
    address, doorbell, flow_control, maintenance, message, read, response, stream, stream_write,
    traffic_management, write,
};
use lp_serial::cost::AddressSize::Bits34;
use lp_serial::field::{Field, RESERVED, chain, get, max, put};

/// Names of fields with their values.
type Values = Vec<(&'static str, u64)>;

struct Format {
    tables: &'static [&'static [Field]],
    /// The header with which the rows are tried.
    base: &'static [u8],
    read: fn(&[u8]) -> Values,
}

fn of_address(address: address::Address, wdptr: bool) -> Values {
    let (word, xamsbs) = address.last_word();
    vec![("address", word.into()), ("wdptr", wdptr.into()), ("xamsbs", xamsbs.into())]
}

fn of_segment(bytes: &[u8]) -> Values {
    let view = stream::View::new(bytes).unwrap();
    let flags = [view.start(), view.end(), view.extended(), view.odd(), view.pad()].map(u64::from);
    let [start, end, extended, odd, pad] = flags;
    let mut values =
        vec![("cos", view.cos().into()), ("S", start), ("E", end), ("xh", extended), ("O", odd), ("P", pad)];
    if view.start() {
        values.push(("streamID", view.second().into()));
    } else if view.end() {
        values.push(("length", view.second().into()));
    }
    values
}

const FORMATS: [Format; 14] = [
    Format {
        tables: &[&read::FIELDS, &address::FIELDS],
        base: &[0; 6],
        read: |bytes| {
            let view = read::View::new(Bits34, bytes).unwrap();
            let mut values = of_address(view.address(), view.wdptr());
            values.push(("transaction", view.transaction().into()));
            values.push(("rdsize", view.rdsize().into()));
            values.push(("srcTID", view.src_tid().into()));
            values
        },
    },
    Format {
        tables: &[&write::FIELDS, &address::FIELDS],
        base: &[0; 6],
        read: |bytes| {
            let view = write::View::new(Bits34, bytes).unwrap();
            let mut values = of_address(view.address(), view.wdptr());
            values.push(("transaction", view.transaction().into()));
            values.push(("wrsize", view.wrsize().into()));
            values.push(("srcTID", view.src_tid().into()));
            values
        },
    },
    Format {
        tables: &[&stream_write::FIELDS],
        base: &[0; 4],
        read: |bytes| {
            let view = stream_write::View::new(Bits34, bytes).unwrap();
            let mut values = of_address(view.address(), false);
            values.retain(|(name, _)| *name != "wdptr");
            values
        },
    },
    Format {
        tables: &[&flow_control::FIELDS],
        base: &[0; 2],
        read: |bytes| {
            let view = flow_control::View::new(bytes).unwrap();
            vec![
                ("XON", view.xon().into()),
                ("FAM", view.fam().into()),
                ("flowID", view.flow_id().into()),
                ("SOC", view.soc().into()),
            ]
        },
    },
    Format {
        tables: &[&maintenance::REQUEST_FIELDS],
        base: &[0; 6],
        read: |bytes| {
            let view = maintenance::View::new(bytes).unwrap();
            vec![
                ("transaction", view.transaction().into()),
                ("size", view.size_or_status().into()),
                ("srcTID", view.tid().into()),
                ("hop_count", view.hop_count().into()),
                ("config_offset", view.config_offset().into()),
                ("wdptr", view.wdptr().into()),
            ]
        },
    },
    Format {
        tables: &[&maintenance::RESPONSE_FIELDS],
        base: &[0; 6],
        read: |bytes| {
            let view = maintenance::View::new(bytes).unwrap();
            vec![
                ("transaction", view.transaction().into()),
                ("status", view.size_or_status().into()),
                ("targetTID", view.tid().into()),
                ("hop_count", view.hop_count().into()),
            ]
        },
    },
    Format { tables: &stream::SINGLE_FIELDS, base: &[0, 0xC0, 0, 0], read: of_segment },
    Format { tables: &stream::START_FIELDS, base: &[0, 0x80, 0, 0], read: of_segment },
    Format { tables: &stream::CONTINUATION_FIELDS, base: &[0, 0, 0, 0], read: of_segment },
    Format { tables: &stream::END_FIELDS, base: &[0, 0x40, 0, 0], read: of_segment },
    Format {
        tables: &[&traffic_management::FIELDS],
        base: &[0; 8],
        read: |bytes| {
            let view = traffic_management::View::new(bytes).unwrap();
            vec![
                ("cos", view.cos().into()),
                ("xtype", view.xtype().into()),
                ("xh", view.extended().into()),
                ("streamID", view.stream_id().into()),
                ("TM_OP", view.tm_op().into()),
                ("wildcard", view.wildcard().into()),
                ("mask", view.mask().into()),
                ("parameter1", view.parameter1().into()),
                ("parameter2", view.parameter2().into()),
            ]
        },
    },
    Format {
        tables: &[&doorbell::FIELDS],
        base: &[0; 4],
        read: |bytes| {
            let view = doorbell::View::new(bytes).unwrap();
            vec![("srcTID", view.src_tid().into()), ("info", view.info().into())]
        },
    },
    Format {
        tables: &[&message::FIELDS],
        base: &[0; 2],
        read: |bytes| {
            let view = message::View::new(bytes).unwrap();
            let target = view.target_info();
            vec![
                ("msglen", view.msglen().into()),
                ("ssize", view.ssize().into()),
                ("letter", target.letter().into()),
                ("mbox", target.mbox().into()),
                ("msgseg", target.msgseg().into()),
            ]
        },
    },
    Format {
        tables: &[&response::FIELDS],
        base: &[0; 2],
        read: |bytes| {
            let view = response::View::new(bytes).unwrap();
            vec![
                ("transaction", view.transaction().into()),
                ("status", view.status().into()),
                ("targetTID", view.target().into()),
            ]
        },
    },
];

#[test]
fn every_bit_is_one_field_or_reserved() {
    for format in FORMATS {
        let header = 8 * format.base.len() as u32;
        let bits: Vec<u32> = chain(format.tables).flat_map(|(_, bits, _)| bits).collect();
        // The View of a continuation is tried with room for the field that others have.
        let end = if format.tables == stream::CONTINUATION_FIELDS { 16 } else { header };
        assert!(bits.iter().copied().eq(0..end), "{:?}", format.tables);
    }
}

#[test]
fn a_format_reads_each_field_where_the_table_says() {
    for format in FORMATS {
        let rows: Vec<Field> = chain(format.tables).collect();
        for (name, bits, _) in &rows {
            let walking = bits.clone().map(|bit| 1 << (bits.end - 1 - bit));
            for pattern in walking.chain([0, max(bits)]) {
                let mut octets = format.base.to_vec();
                put(&mut octets, bits, pattern);
                for (found, value) in (format.read)(&octets) {
                    // Another S or E is another format, in which the table says nothing of the rest.
                    let Some((_, bits, _)) = rows.iter().find(|row| row.0 == found) else {
                        let other = octets[1] & 0xC0 != format.base[1] & 0xC0;
                        assert!(other || ["O", "P"].contains(&found), "{found} is in no table");
                        continue;
                    };
                    assert_eq!(value, get(&octets, bits), "{found} after {name}");
                }
            }
        }
        let read = (format.read)(format.base);
        for (name, ..) in rows.iter().filter(|row| row.0 != RESERVED) {
            assert!(read.iter().any(|(found, _)| found == name), "{name} is not read");
        }
    }
}

#[test]
fn an_address_is_the_number_of_a_double_word_wherever_its_bits_lie() {
    let (_, bits, _) = address::BYTE_ADDRESS;
    for bit in bits.start + 3..bits.end {
        let byte = 1u64 << bit;
        let address = address::Address::new(Bits34, byte / 8).unwrap();
        assert_eq!(address.byte(), u128::from(byte));
        let (word, xamsbs) = address.last_word();
        let [(_, low, _), _, (_, high, _)] = &address::FIELDS;
        assert!(u64::from(word) <= max(low) && u64::from(xamsbs) <= max(high));
        assert_eq!(u64::from(xamsbs) << low.len() | u64::from(word), byte / 8);
    }
}
