//! The forms of the format `packet`: their tables, and the keys that are no field of a table.

use super::{make, read};
use crate::codec::form::{Field, Form, Key, Shape, after, change, keys};
use crate::codec::serial::{crc_keys, header_keys};
use logical::wire;
use logical::wire::flow_control::{self, Command};
use logical::wire::maintenance::{BYTE_OFFSET, TRANSACTION_NAMES};
use logical::wire::response::{Status, transaction_name};
use logical::wire::{
    PAYLOAD_MAX_BYTES, address, doorbell, maintenance, message, response, stream, stream_write,
    traffic_management,
};

/// One layout behind the device IDs.
#[derive(Clone, Copy)]
pub(in crate::codec) struct Layout {
    pub(in crate::codec) form: &'static str,
    pub(in crate::codec) ftype: u8,
    /// They follow each other.
    pub(in crate::codec) tables: &'static [&'static [Field]],
    /// Fields that have the same value in every packet of this form.
    pub(in crate::codec) known: &'static [(&'static str, u64)],
}

const fn layout(
    form: &'static str,
    ftype: u8,
    tables: &'static [&'static [Field]],
    known: &'static [(&'static str, u64)],
) -> Layout {
    Layout { form, ftype, tables, known }
}

const READ: Layout = layout("read", wire::read::FTYPE, &[&wire::read::FIELDS, &address::FIELDS], &[]);
const WRITE: Layout = layout("write", wire::write::FTYPE, &[&wire::write::FIELDS, &address::FIELDS], &[]);
const STREAMING_WRITE: Layout = layout("streaming write", stream_write::FTYPE, &[&stream_write::FIELDS], &[]);
const FLOW_CONTROL: Layout = layout("flow control", flow_control::FTYPE, &[&flow_control::FIELDS], &[]);
const MAINTENANCE_REQUEST: Layout =
    layout("maintenance request", maintenance::FTYPE, &[&maintenance::REQUEST_FIELDS], &[]);
const MAINTENANCE_RESPONSE: Layout =
    layout("maintenance response", maintenance::FTYPE, &[&maintenance::RESPONSE_FIELDS], &[]);
const SINGLE: Layout =
    layout("single segment", stream::FTYPE, &stream::SINGLE_FIELDS, &[("S", 1), ("E", 1), ("xh", 0)]);
const START: Layout =
    layout("start segment", stream::FTYPE, &stream::START_FIELDS, &[("S", 1), ("E", 0), ("xh", 0)]);
const CONTINUATION: Layout = layout(
    "continuation segment",
    stream::FTYPE,
    &stream::CONTINUATION_FIELDS,
    &[("S", 0), ("E", 0), ("xh", 0)],
);
const END: Layout =
    layout("end segment", stream::FTYPE, &stream::END_FIELDS, &[("S", 0), ("E", 1), ("xh", 0)]);
const TRAFFIC_MANAGEMENT: Layout = layout(
    "traffic management",
    traffic_management::FTYPE,
    &[&traffic_management::FIELDS],
    &[("xtype", 0), ("xh", 1)],
);
const DOORBELL: Layout = layout("doorbell", doorbell::FTYPE, &[&doorbell::FIELDS], &[]);
const MESSAGE: Layout = layout("message", message::FTYPE, &[&message::FIELDS], &[]);
const RESPONSE: Layout = layout("response", response::FTYPE, &[&response::FIELDS], &[]);

/// All layouts, in the order of [`forms`].
#[cfg(test)]
pub(in crate::codec) const LAYOUTS: [Layout; 14] = [
    READ,
    WRITE,
    STREAMING_WRITE,
    FLOW_CONTROL,
    MAINTENANCE_REQUEST,
    MAINTENANCE_RESPONSE,
    SINGLE,
    START,
    CONTINUATION,
    END,
    TRAFFIC_MANAGEMENT,
    DOORBELL,
    MESSAGE,
    RESPONSE,
];

/// Names of four-bit codes, of which those without a name are reserved.
fn code(name: &'static str, of: impl Fn(u8) -> Option<&'static str>) -> Key {
    Key::code(name, (0..16).map(|code| of(code).unwrap_or("reserved")))
}

fn transaction(of: impl Fn(u8) -> Option<&'static str>) -> (&'static str, Key) {
    ("transaction", code("transaction_name", of).rule("the name of transaction in this form"))
}

fn status() -> (&'static str, Key) {
    let name = |code| Status::from_code(code).ok().map(Status::name);
    ("status", code("status_name", name).rule("the name of status"))
}

/// The form of a layout, with keys that are no fields, each behind the one that is named.
fn form(layout: Layout, more: impl IntoIterator<Item = (&'static str, Key)>) -> Form {
    let mut head = change(header_keys(), "ftype", |key| key.rule("that of the form"));
    head.extend(["destinationID", layout.second_id()].map(|name| Key::number(name, u32::MAX.into())));

    // The address is one number, wherever its bits are.
    let mut body = change(keys(layout.tables), "address", |_| Key::of(&address::BYTE_ADDRESS));
    body.retain(|key| !key.is("xamsbs"));
    for (name, _) in layout.known {
        body = change(body, name, |key| key.rule("that of the form"));
    }
    body = change(body, "O", |key| key.rule("whether the half-words of data are odd in number"));
    body = change(body, "P", |key| key.rule("whether the last half-word has one byte of data"));
    for (name, key) in more {
        body = after(body, name, [key]);
    }

    let tail = crc_keys("in packets of more than 80 octets without CRC");
    let keys = head.into_iter().chain(body).chain(tail).collect();
    Form {
        name: layout.form,
        shape: Shape::Named,
        keys,
        read: Box::new(move |octets| read(&layout, octets)),
        make: Box::new(move |given| make(&layout, given)),
    }
}

/// The forms of this format.
pub(in crate::codec) fn forms() -> Vec<Form> {
    let data = || Key::octets("data", PAYLOAD_MAX_BYTES);
    let tables = "Part 1 Tables 4-3 and 4-4: the size and wdptr";
    let bytes = || Key::number("bytes", PAYLOAD_MAX_BYTES as u64).rule(tables);
    let lane = || Key::number("lane", 7).rule(tables);
    let maintenance_name = |code: u8| TRANSACTION_NAMES.get(usize::from(code)).copied();
    let commands = (0..16).map(|code| Command::name(code >= 8, code % 8).unwrap_or("reserved"));
    let target = message::FIELDS.iter().skip(2).zip(["the first two", "the next two", "the last four"]);
    let [letter, mbox, msgseg] = [0, 1, 2].map(|index| {
        let (row, bits) = target.clone().nth(index).expect("three rows");
        Key::of(row)
            .rule(format!("{bits} bits of targetTID, which is target_info"))
            .only("with transaction 1 (message)")
    });
    vec![
        form(
            READ,
            [
                transaction(|code| wire::read::Operation::from_code(code).ok().map(|it| it.name())),
                ("wdptr", bytes()),
                ("bytes", lane()),
            ],
        ),
        form(
            WRITE,
            [
                transaction(|code| wire::write::Operation::from_code(code).ok().map(|it| it.name())),
                ("wdptr", bytes()),
                ("bytes", lane()),
                ("lane", data()),
            ],
        ),
        form(STREAMING_WRITE, [("address", data())]),
        form(
            FLOW_CONTROL,
            [("FAM", Key::name("command_name", commands).rule("Part 9 Table 3-2: XON and FAM"))],
        ),
        form(
            MAINTENANCE_REQUEST,
            [
                transaction(maintenance_name),
                (
                    "wdptr",
                    Key::of(&BYTE_OFFSET)
                        .rule("config_offset in bytes, and 4 more for the second register")
                        .only("in read and write requests"),
                ),
                ("offset", bytes()),
                ("bytes", data().only("in write and port-write requests")),
            ],
        ),
        form(
            MAINTENANCE_RESPONSE,
            [
                transaction(maintenance_name),
                status(),
                ("hop_count", data().only("in read responses with status 0 (DONE)")),
            ],
        ),
        form(SINGLE, [("streamID", data())]),
        form(START, [("streamID", data())]),
        form(CONTINUATION, [("xh", data())]),
        form(END, [("length", data())]),
        form(
            TRAFFIC_MANAGEMENT,
            [(
                "TM_OP",
                code("TM_OP_name", |code| {
                    traffic_management::Operation::from_code(code).ok().map(|it| it.name())
                })
                .rule("the name of TM_OP"),
            )],
        ),
        form(DOORBELL, []),
        form(
            MESSAGE,
            [
                (
                    "ssize",
                    Key::number("segment_bytes", PAYLOAD_MAX_BYTES as u64).rule("Part 2 Table 4-3: ssize"),
                ),
                (
                    "msgseg",
                    Key::number("mailbox", u64::from(message::EXTENDED_MAILBOXES) - 1)
                        .rule("mbox, and with msglen 0 also 4 times msgseg, which then is xmbox"),
                ),
                ("mailbox", data()),
            ],
        ),
        form(
            RESPONSE,
            [
                transaction(transaction_name),
                status(),
                ("targetTID", letter),
                ("letter", mbox),
                ("mbox", msgseg),
                ("msgseg", data().only("with transaction 8 (with data)")),
            ],
        ),
    ]
}
