//! The forms of the format `packet`: what fields each has, and in which bits.

use super::{make, read};
use crate::codec::form::{Form, Key, Shape};
use crate::codec::serial::{FTYPE_NAMES, TT_NAMES};
use logical::wire::PAYLOAD_MAX_BYTES;

/// A bit field of a layout.
pub(super) enum Piece {
    /// So many bits of this key.
    Field(&'static str, u32),
    /// Likewise, with a name for each code.
    Code(&'static str, u32, &'static str, &'static [&'static str]),
    /// The value is always the same in this form.
    Known(&'static str, u32, u64),
    /// Reserved.
    Zero(u32),
    /// Bits 3 to 31 of the byte address.
    Address,
    /// Bits 32 and 33 of the byte address.
    Xamsbs,
    /// Whether the number of half-words of data is odd.
    Odd,
    /// Whether the data has an odd number of bytes.
    Pad,
}

use Piece::{Address, Code, Field, Known, Odd, Pad, Xamsbs, Zero};

pub(super) struct Layout {
    pub(super) form: &'static str,
    pub(super) ftype: u8,
    pub(super) pieces: &'static [Piece],
}

static READ_NAMES: [&str; 16] = names(&[
    (4, "NREAD"),
    (12, "ATOMIC increment"),
    (13, "ATOMIC decrement"),
    (14, "ATOMIC set"),
    (15, "ATOMIC clear"),
]);
static WRITE_NAMES: [&str; 16] = names(&[
    (4, "NWRITE"),
    (5, "NWRITE_R"),
    (12, "ATOMIC swap"),
    (13, "ATOMIC compare-and-swap"),
    (14, "ATOMIC test-and-swap"),
]);
static MAINTENANCE_NAMES: [&str; 16] = names(&[
    (0, "read request"),
    (1, "write request"),
    (2, "read response"),
    (3, "write response"),
    (4, "port-write request"),
]);
static RESPONSE_NAMES: [&str; 16] = names(&[(0, "without data"), (1, "message"), (8, "with data")]);
static STATUS_NAMES: [&str; 16] = names(&[(0, "DONE"), (3, "RETRY"), (7, "ERROR")]);
static OPERATION_NAMES: [&str; 16] = names(&[(0, "basic"), (1, "rate"), (2, "credit"), (3, "application")]);

/// Names by XON and FAM.
pub(super) static COMMAND_NAMES: [&str; 16] = {
    let mut commands = names(&[
        (0, "XOFF"),
        (2, "XOFF(ARB)"),
        (3, "XOFF(ARB)"),
        (4, "RELEASE"),
        (5, "RELEASE"),
        (8, "XON"),
        (10, "XON(ARB)"),
        (11, "XON(ARB)"),
    ]);
    commands[12] = "REQUEST single PDU";
    commands[13] = "REQUEST single PDU";
    commands[14] = "REQUEST multi-PDU";
    commands[15] = "REQUEST multi-PDU";
    commands
};

const fn names(known: &[(usize, &'static str)]) -> [&'static str; 16] {
    let mut names = ["reserved"; 16];
    let mut index = 0;
    while index < known.len() {
        names[known[index].0] = known[index].1;
        index += 1;
    }
    names
}

const READ: Layout = Layout {
    form: "read",
    ftype: 2,
    pieces: &[
        Code("transaction", 4, "transaction_name", &READ_NAMES),
        Field("rdsize", 4),
        Field("srcTID", 8),
        Address,
        Field("wdptr", 1),
        Xamsbs,
    ],
};
const WRITE: Layout = Layout {
    form: "write",
    ftype: 5,
    pieces: &[
        Code("transaction", 4, "transaction_name", &WRITE_NAMES),
        Field("wrsize", 4),
        Field("srcTID", 8),
        Address,
        Field("wdptr", 1),
        Xamsbs,
    ],
};
const STREAMING_WRITE: Layout =
    Layout { form: "streaming write", ftype: 6, pieces: &[Address, Zero(1), Xamsbs] };
const FLOW_CONTROL: Layout = Layout {
    form: "flow control",
    ftype: 7,
    pieces: &[Field("XON", 1), Field("FAM", 3), Zero(4), Field("flowID", 7), Field("SOC", 1)],
};
const MAINTENANCE_REQUEST: Layout = Layout {
    form: "maintenance request",
    ftype: 8,
    pieces: &[
        Code("transaction", 4, "transaction_name", &MAINTENANCE_NAMES),
        Field("size", 4),
        Field("srcTID", 8),
        Field("hop_count", 8),
        Field("config_offset", 21),
        Field("wdptr", 1),
        Zero(2),
    ],
};
const MAINTENANCE_RESPONSE: Layout = Layout {
    form: "maintenance response",
    ftype: 8,
    pieces: &[
        Code("transaction", 4, "transaction_name", &MAINTENANCE_NAMES),
        Code("status", 4, "status_name", &STATUS_NAMES),
        Field("targetTID", 8),
        Field("hop_count", 8),
        Zero(24),
    ],
};
const SINGLE: Layout = Layout {
    form: "single segment",
    ftype: 9,
    pieces: &[
        Field("cos", 8),
        Known("S", 1, 1),
        Known("E", 1, 1),
        Zero(3),
        Known("xh", 1, 0),
        Odd,
        Pad,
        Field("streamID", 16),
    ],
};
const START: Layout = Layout {
    form: "start segment",
    ftype: 9,
    pieces: &[
        Field("cos", 8),
        Known("S", 1, 1),
        Known("E", 1, 0),
        Zero(3),
        Known("xh", 1, 0),
        Zero(2),
        Field("streamID", 16),
    ],
};
const CONTINUATION: Layout = Layout {
    form: "continuation segment",
    ftype: 9,
    pieces: &[Field("cos", 8), Known("S", 1, 0), Known("E", 1, 0), Zero(3), Known("xh", 1, 0), Zero(2)],
};
const END: Layout = Layout {
    form: "end segment",
    ftype: 9,
    pieces: &[
        Field("cos", 8),
        Known("S", 1, 0),
        Known("E", 1, 1),
        Zero(3),
        Known("xh", 1, 0),
        Odd,
        Pad,
        Field("length", 16),
    ],
};
const TRAFFIC_MANAGEMENT: Layout = Layout {
    form: "traffic management",
    ftype: 9,
    pieces: &[
        Field("cos", 8),
        Zero(2),
        Known("xtype", 3, 0),
        Known("xh", 1, 1),
        Zero(2),
        Field("streamID", 16),
        Code("TM_OP", 4, "TM_OP_name", &OPERATION_NAMES),
        Zero(1),
        Field("wildcard", 3),
        Field("mask", 8),
        Field("parameter1", 8),
        Field("parameter2", 8),
    ],
};
const DOORBELL: Layout =
    Layout { form: "doorbell", ftype: 10, pieces: &[Zero(8), Field("srcTID", 8), Field("info", 16)] };
const MESSAGE: Layout = Layout {
    form: "message",
    ftype: 11,
    pieces: &[
        Field("msglen", 4),
        Field("ssize", 4),
        Field("letter", 2),
        Field("mbox", 2),
        Field("msgseg", 4),
    ],
};
const RESPONSE: Layout = Layout {
    form: "response",
    ftype: 13,
    pieces: &[
        Code("transaction", 4, "transaction_name", &RESPONSE_NAMES),
        Code("status", 4, "status_name", &STATUS_NAMES),
        Field("targetTID", 8),
    ],
};

const fn head(second_id: &'static str) -> [Key; 10] {
    [
        Key::number("ackID", 63),
        Key::number("VC", 1),
        Key::number("CRF", 1),
        Key::number("prio", 3),
        Key::number("tt", 3),
        Key::name("tt_name", &TT_NAMES).rule("the name of tt"),
        Key::number("ftype", 15).rule("that of the form"),
        Key::name("ftype_name", &FTYPE_NAMES).rule("the name of ftype"),
        Key::number("destinationID", u32::MAX as u64),
        Key::number(second_id, u32::MAX as u64),
    ]
}

static HEAD: [Key; 10] = head("sourceID");
static FLOW_CONTROL_HEAD: [Key; 10] = head("tgtdestinationID");

const fn transaction(names: &'static [&'static str]) -> [Key; 2] {
    [
        Key::number("transaction", 15),
        Key::name("transaction_name", names).rule("the name of transaction in this form"),
    ]
}

const STATUS: [Key; 2] =
    [Key::number("status", 15), Key::name("status_name", &STATUS_NAMES).rule("the name of status")];

const ADDRESS: Key = Key::hex("address", 9, 0x3_FFFF_FFFF);
const BYTES: Key = Key::number("bytes", 256).rule("Part 1 Tables 4-3 and 4-4: the size and wdptr");
const LANE: Key = Key::number("lane", 7).rule("Part 1 Tables 4-3 and 4-4: the size and wdptr");
const DATA: Key = Key::octets("data", PAYLOAD_MAX_BYTES);
const ODD: Key = Key::number("O", 1).rule("whether the half-words of data are odd in number");
const PAD: Key = Key::number("P", 1).rule("whether the last half-word has one byte of data");
const S: Key = Key::number("S", 1).rule("that of the form");
const E: Key = Key::number("E", 1).rule("that of the form");
const XH: Key = Key::number("xh", 1).rule("that of the form");
const COS: Key = Key::number("cos", 255);
const STREAM_ID: Key = Key::number("streamID", 0xFFFF);

static READ_TRANSACTION: [Key; 2] = transaction(&READ_NAMES);
static WRITE_TRANSACTION: [Key; 2] = transaction(&WRITE_NAMES);
static MAINTENANCE_TRANSACTION: [Key; 2] = transaction(&MAINTENANCE_NAMES);
static RESPONSE_TRANSACTION: [Key; 2] = transaction(&RESPONSE_NAMES);
static STATUS_KEYS: [Key; 2] = STATUS;

static READ_KEYS: [Key; 6] =
    [Key::number("rdsize", 15), Key::number("srcTID", 255), ADDRESS, Key::number("wdptr", 1), BYTES, LANE];
static WRITE_KEYS: [Key; 7] = [
    Key::number("wrsize", 15),
    Key::number("srcTID", 255),
    ADDRESS,
    Key::number("wdptr", 1),
    BYTES,
    LANE,
    DATA,
];
static STREAMING_WRITE_KEYS: [Key; 2] = [ADDRESS, DATA];
static FLOW_CONTROL_KEYS: [Key; 5] = [
    Key::number("XON", 1),
    Key::number("FAM", 7),
    Key::name("command_name", &COMMAND_NAMES).rule("Part 9 Table 3-2: XON and FAM"),
    Key::number("flowID", 127),
    Key::number("SOC", 1),
];
static MAINTENANCE_REQUEST_KEYS: [Key; 8] = [
    Key::number("size", 15),
    Key::number("srcTID", 255),
    Key::number("hop_count", 255),
    Key::hex("config_offset", 6, 0x1F_FFFF),
    Key::number("wdptr", 1),
    Key::hex("offset", 6, 0xFF_FFFF)
        .rule("config_offset in bytes, and 4 more for the second register")
        .only("in read and write requests"),
    BYTES,
    DATA.only("in write and port-write requests"),
];
static MAINTENANCE_RESPONSE_KEYS: [Key; 3] = [
    Key::number("targetTID", 255),
    Key::number("hop_count", 255),
    DATA.only("in read responses with status 0 (DONE)"),
];
static SINGLE_KEYS: [Key; 8] = [COS, S, E, XH, ODD, PAD, STREAM_ID, DATA];
static START_KEYS: [Key; 6] = [COS, S, E, XH, STREAM_ID, DATA];
static CONTINUATION_KEYS: [Key; 5] = [COS, S, E, XH, DATA];
static END_KEYS: [Key; 8] = [COS, S, E, XH, ODD, PAD, Key::number("length", 0xFFFF), DATA];
static TRAFFIC_MANAGEMENT_KEYS: [Key; 10] = [
    COS,
    Key::number("xtype", 7).rule("that of the form"),
    XH,
    STREAM_ID,
    Key::number("TM_OP", 15),
    Key::name("TM_OP_name", &OPERATION_NAMES).rule("the name of TM_OP"),
    Key::binary("wildcard", 3),
    Key::hex("mask", 2, 255),
    Key::hex("parameter1", 2, 255),
    Key::hex("parameter2", 2, 255),
];
static DOORBELL_KEYS: [Key; 2] = [Key::number("srcTID", 255), Key::hex("info", 4, 0xFFFF)];
static MESSAGE_KEYS: [Key; 8] = [
    Key::number("msglen", 15),
    Key::number("ssize", 15),
    Key::number("segment_bytes", 256).rule("Part 2 Table 4-3: ssize"),
    Key::number("letter", 3),
    Key::number("mbox", 3),
    Key::number("msgseg", 15),
    Key::number("mailbox", 63).rule("mbox, and with msglen 0 also 4 times msgseg, which then is xmbox"),
    DATA,
];
static RESPONSE_KEYS: [Key; 5] = [
    Key::number("targetTID", 255),
    Key::number("letter", 3)
        .rule("the first two bits of targetTID, which is target_info")
        .only("with transaction 1 (message)"),
    Key::number("mbox", 3)
        .rule("the next two bits of targetTID, which is target_info")
        .only("with transaction 1 (message)"),
    Key::number("msgseg", 15)
        .rule("the last four bits of targetTID, which is target_info")
        .only("with transaction 1 (message)"),
    DATA.only("with transaction 8 (with data)"),
];

static TAIL: [Key; 2] = [
    Key::hex("crc16_first", 4, 0xFFFF)
        .rule("CRC-16 of the first 80 octets, ackID taken as 0")
        .only("in packets of more than 80 octets without CRC"),
    Key::hex("crc16", 4, 0xFFFF).rule("CRC-16 of all before it, ackID taken as 0"),
];

/// The forms of this format.
pub(in crate::codec) static FORMS: [Form; 14] = [
    Form {
        name: "read",
        shape: Shape::Named,
        keys: &[&HEAD, &READ_TRANSACTION, &READ_KEYS, &TAIL],
        read: |octets| read(&READ, octets),
        make: |given| make(&READ, given),
    },
    Form {
        name: "write",
        shape: Shape::Named,
        keys: &[&HEAD, &WRITE_TRANSACTION, &WRITE_KEYS, &TAIL],
        read: |octets| read(&WRITE, octets),
        make: |given| make(&WRITE, given),
    },
    Form {
        name: "streaming write",
        shape: Shape::Named,
        keys: &[&HEAD, &STREAMING_WRITE_KEYS, &TAIL],
        read: |octets| read(&STREAMING_WRITE, octets),
        make: |given| make(&STREAMING_WRITE, given),
    },
    Form {
        name: "flow control",
        shape: Shape::Named,
        keys: &[&FLOW_CONTROL_HEAD, &FLOW_CONTROL_KEYS, &TAIL],
        read: |octets| read(&FLOW_CONTROL, octets),
        make: |given| make(&FLOW_CONTROL, given),
    },
    Form {
        name: "maintenance request",
        shape: Shape::Named,
        keys: &[&HEAD, &MAINTENANCE_TRANSACTION, &MAINTENANCE_REQUEST_KEYS, &TAIL],
        read: |octets| read(&MAINTENANCE_REQUEST, octets),
        make: |given| make(&MAINTENANCE_REQUEST, given),
    },
    Form {
        name: "maintenance response",
        shape: Shape::Named,
        keys: &[&HEAD, &MAINTENANCE_TRANSACTION, &STATUS_KEYS, &MAINTENANCE_RESPONSE_KEYS, &TAIL],
        read: |octets| read(&MAINTENANCE_RESPONSE, octets),
        make: |given| make(&MAINTENANCE_RESPONSE, given),
    },
    Form {
        name: "single segment",
        shape: Shape::Named,
        keys: &[&HEAD, &SINGLE_KEYS, &TAIL],
        read: |octets| read(&SINGLE, octets),
        make: |given| make(&SINGLE, given),
    },
    Form {
        name: "start segment",
        shape: Shape::Named,
        keys: &[&HEAD, &START_KEYS, &TAIL],
        read: |octets| read(&START, octets),
        make: |given| make(&START, given),
    },
    Form {
        name: "continuation segment",
        shape: Shape::Named,
        keys: &[&HEAD, &CONTINUATION_KEYS, &TAIL],
        read: |octets| read(&CONTINUATION, octets),
        make: |given| make(&CONTINUATION, given),
    },
    Form {
        name: "end segment",
        shape: Shape::Named,
        keys: &[&HEAD, &END_KEYS, &TAIL],
        read: |octets| read(&END, octets),
        make: |given| make(&END, given),
    },
    Form {
        name: "traffic management",
        shape: Shape::Named,
        keys: &[&HEAD, &TRAFFIC_MANAGEMENT_KEYS, &TAIL],
        read: |octets| read(&TRAFFIC_MANAGEMENT, octets),
        make: |given| make(&TRAFFIC_MANAGEMENT, given),
    },
    Form {
        name: "doorbell",
        shape: Shape::Named,
        keys: &[&HEAD, &DOORBELL_KEYS, &TAIL],
        read: |octets| read(&DOORBELL, octets),
        make: |given| make(&DOORBELL, given),
    },
    Form {
        name: "message",
        shape: Shape::Named,
        keys: &[&HEAD, &MESSAGE_KEYS, &TAIL],
        read: |octets| read(&MESSAGE, octets),
        make: |given| make(&MESSAGE, given),
    },
    Form {
        name: "response",
        shape: Shape::Named,
        keys: &[&HEAD, &RESPONSE_TRANSACTION, &STATUS_KEYS, &RESPONSE_KEYS, &TAIL],
        read: |octets| read(&RESPONSE, octets),
        make: |given| make(&RESPONSE, given),
    },
];
