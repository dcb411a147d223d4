//! Whether the settings of a flow of Scheduled Transfer go together.

use super::{declared, millionths, shares};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::kinds;
use crate::flow::session::octets;
use crate::spec::*;
use crate::translators::STREAM_STU;

/// Largest ring, and largest Block.
const GIBIBYTE: u64 = 1 << 30;

/// Whether the settings of the flow go together.
pub(crate) fn check(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
    let before = c.out.len();
    let Some(st) = &flow.st else { return true };
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    if kinds(flow) > 1 {
        let help = "one flow, one kind: Scheduled Transfer brings its own packets";
        mixed("st", "the flow makes Transfers and sends something else", help);
    }
    if flow.arrivals.is_some() {
        let help = "use st.count, st.concurrent and st.at";
        mixed("arrivals", "Transfers are asked for one after the other", help);
    }
    if flow.size.is_some() {
        mixed("size", "the length of a Transfer stands elsewhere", "use st.bytes");
    }
    if flow.limit.is_some() {
        mixed("limit", "the number of Transfers stands elsewhere", "use st.count");
    }
    match (&st.program, st.bytes) {
        (None, None) if st.operation == Some(TransferKind::FetchOp) => {}
        (None, None) => {
            let finding = Diagnostic::error("SC005", format!("{at}/st"), "field \"bytes\" is missing");
            c.out.push(finding.help("only a program and \"fetch_op\" do without"));
        }
        (Some(_), Some(_)) => {
            c.out.push(
                Diagnostic::error("SC048", format!("{at}/st/bytes"), "a program says what it sends")
                    .help("leave \"bytes\" out, or \"program\""),
            );
        }
        _ => {}
    }
    let mut mixed = |key: &str, message: &str, help: &str| {
        c.out.push(Diagnostic::error("SC048", format!("{at}/{key}"), message).help(help));
    };
    if st.program.is_some() && st.operation.is_some_and(|kind| kind != TransferKind::Write) {
        mixed("st/operation", "a program says what it does", "leave \"operation\" out: its sends are Writes");
    }
    if st.stripes.is_some() {
        let plain = matches!(st.operation, None | Some(TransferKind::Write | TransferKind::Read));
        let foreign = [
            ("st/program", st.program.is_some()),
            ("st/operation", !plain),
            ("st/chart", st.chart == Some(true)),
        ];
        for (key, given) in foreign {
            if given {
                mixed(key, "hosts of several interfaces do not have this", "leave it out, or \"stripes\"");
            }
        }
    }
    alone(st, &mut mixed);
    let delayed = st.delayed.as_ref().is_some_and(|shares| shares.control.is_some() || shares.data.is_some());
    if delayed && st.delay.as_ref().map_or(0, Quantity::get) == 0 {
        mixed("st/delayed", "frames are late by no time", "add \"delay\", for example \"10 us\"");
    }
    let mut range = |key: &str, message: String, help: &str| {
        c.out.push(Diagnostic::error("SC008", format!("{at}/{key}"), message).help(help));
    };
    if flow.priority == Some(3) {
        range("priority", "Transfers cannot have priority 3".into(), "allowed: 0 to 2");
    }
    let longest = match st.operation {
        Some(TransferKind::FetchOp) => (8, "allowed: 8, a word"),
        Some(TransferKind::Get) => (65_535, "allowed: 8 to 65535, what T_len of a Get can say"),
        Some(TransferKind::Put) => (1 << 24, "allowed: 8 to 16777216"),
        _ => (u64::MAX, ""),
    };
    if let Some(bytes) = st.bytes.filter(|&bytes| bytes > longest.0) {
        range("st/bytes", format!("{bytes} octets do not go into one such operation"), longest.1);
    }
    let block = *filled(&st.block);
    if !block.is_power_of_two() || !(256..=1 << 30).contains(&block) {
        range(
            "st/block",
            format!("a Block of {block} octets is not possible"),
            "allowed: 256 to 1073741824, powers of two",
        );
    }
    let stu = *filled(&st.stu);
    let carried = c.wires.iter().map(|wire| wire.medium.map_or(STREAM_STU, |(medium, _)| medium.stu_max()));
    let most = carried.max().unwrap_or(STREAM_STU);
    if !(stu.is_power_of_two() && (256..=most).contains(&stu)) {
        let help = format!("allowed: powers of two from 256 to {most}");
        range("st/stu", format!("STUs of {stu} octets are not possible"), &help);
    }
    if filled(&st.op_timeout).get() == Period::Time(0) {
        range(
            "st/op_timeout",
            "an Op_timeout of 0 is not possible".into(),
            "use \"auto\" or a positive time",
        );
    }
    if filled(&st.missing_timeout).get() == Period::Time(0) {
        let help = "use \"auto\", \"off\" or a positive time";
        range("st/missing_timeout", "Blocks cannot be missing at once".into(), help);
    }
    places(st, &mut range);
    for (key, shares) in shares(st) {
        for (class, share) in [("control", &shares.control), ("data", &shares.data)] {
            if let Err(why) = millionths(share.as_ref()) {
                range(&format!("st/{key}/{class}"), why, "allowed: 0 to 1");
            }
        }
    }
    c.out.len() == before
}

/// Settings that are nothing without others, or beside others.
fn alone(st: &StSpec, mixed: &mut dyn FnMut(&str, &str, &str)) {
    let kind = st.operation.unwrap_or(TransferKind::Write);
    let is_transfer = matches!(kind, TransferKind::Write | TransferKind::Read | TransferKind::ReadBack);
    let has_length = matches!(kind, TransferKind::ReadBack) || !is_transfer || st.program.is_some();
    let answers = matches!(kind, TransferKind::Get | TransferKind::FetchOp);
    let has_opaque = matches!(kind, TransferKind::Write | TransferKind::ReadBack | TransferKind::Put);
    let late = |shares: &Option<FrameShares>| shares.is_some();
    let in_order = st.out_of_order == Some(false);
    let unchecked = st.checksum == Some(false);
    let unreliable = st.reliable == Some(false);
    let wrong = [
        (
            "function",
            st.function.is_some() && kind != TransferKind::FetchOp,
            "nothing is done to a word",
            "use \"operation\": \"fetch_op\"",
        ),
        (
            "opaque",
            st.opaque.is_some_and(|opaque| opaque != 0) && !has_opaque,
            "only Writes and Puts carry Opaque",
            "leave it out",
        ),
        (
            "interrupt",
            st.interrupt == Some(true) && answers,
            "Data that answers Get or FetchOp does not interrupt",
            "leave it out, or use \"request\": {\"interrupt\": true}",
        ),
        (
            "first_offset",
            st.first_offset.is_some_and(|offset| offset != 0) && !is_transfer,
            "only Transfers have an F_Offset",
            "leave it out",
        ),
        (
            "first_offset",
            st.first_offset.is_some_and(|offset| offset != 0) && st.ring.is_some(),
            "a ring begins where a buffer does",
            "leave it out, or \"ring\"",
        ),
        (
            "ring",
            st.ring.is_some() && has_length,
            "this has a length",
            "only \"write\" and \"read\" go without",
        ),
        (
            "end",
            st.end.is_some() && st.program.is_some(),
            "a program does not end what it sends",
            "leave it out, or \"program\"",
        ),
        (
            "disconnect_after",
            st.disconnect_after.is_some() && st.program.is_some(),
            "connections of a program stay",
            "leave it out, or \"program\"",
        ),
        (
            "damaged",
            unchecked && st.damaged.is_some(),
            "there are no checksums, and nobody sees what is damaged",
            "leave it out, or \"checksum\"",
        ),
        (
            "out_of_order",
            in_order && st.stripes.is_some(),
            "stripes need Blocks in any order",
            "leave it out, or \"stripes\"",
        ),
        (
            "out_of_order",
            in_order && (late(&st.doubled) || late(&st.delayed)),
            "frames that are doubled or late come in any order",
            "leave it out, or \"doubled\" and \"delayed\"",
        ),
        (
            "reliable",
            unreliable && st.program.is_some(),
            "a program has to know what has arrived",
            "leave it out, or \"program\"",
        ),
        (
            "reliable",
            unreliable && kind == TransferKind::ReadBack,
            "what is read back has to have arrived",
            "leave it out, or use \"write\"",
        ),
        (
            "checksum_segment",
            unchecked && st.checksum_segment.is_some_and(|stus| stus != 0),
            "there are no checksums",
            "leave it out, or \"checksum\"",
        ),
        (
            "trailers",
            unchecked && st.trailers == Some(true),
            "there are no checksums",
            "leave it out, or \"checksum\"",
        ),
    ];
    for (key, _, message, help) in wrong.into_iter().filter(|&(_, wrong, ..)| wrong) {
        mixed(&format!("st/{key}"), message, help);
    }
}

/// Where octets lie, and what requests carry.
fn places(st: &StSpec, range: &mut dyn FnMut(&str, String, &str)) {
    let (bufsize, block) = (*filled(&st.bufsize), *filled(&st.block));
    declared::sizes(bufsize, *filled(&st.stu), "st/bufsize", range);
    let offset = *filled(&st.first_offset);
    // Of a buffer that cannot be there is nothing to say but that.
    if bufsize > 0 && offset >= bufsize {
        let message = format!("octet {offset} is not in a buffer of {bufsize}");
        range("st/first_offset", message, &format!("allowed: 0 to {}", bufsize - 1));
    }
    let part = block.max(bufsize).max(1);
    if let Some(ring) = st.ring.filter(|ring| ring % part != 0 || *ring > GIBIBYTE) {
        let message = format!("a ring of {ring} octets does not hold whole Blocks and buffers");
        range("st/ring", message, &format!("allowed: multiples of {part} up to {GIBIBYTE}"));
    }
    let payload = st.request.as_ref().and_then(|request| request.payload.as_ref());
    if payload.is_some_and(|text| octets(text).is_none_or(|octets| octets.len() != 32)) {
        let message = "this is no payload of a Control operation".into();
        range("st/request/payload", message, "allowed: 32 octets, two hexadecimal digits each");
    }
}
