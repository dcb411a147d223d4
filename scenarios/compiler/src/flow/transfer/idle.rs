//! Settings of Scheduled Transfer that nothing would look at, beside what else the flow says.

use super::{defaults, shares};
use crate::spec::*;

/// A setting, whether it is given in vain, why that is so, and what to do.
type Row = (&'static str, bool, &'static str, &'static str);

/// All such settings. What has its default is not given: it stands in every scenario that is written out.
pub(super) fn of(st: &StSpec) -> Vec<Row> {
    let plain = defaults();
    let kind = st.operation.unwrap_or(TransferKind::Write);
    let in_region = matches!(kind, TransferKind::Put | TransferKind::Get | TransferKind::FetchOp);
    let answers = matches!(kind, TransferKind::Get | TransferKind::FetchOp);
    let fetches = kind == TransferKind::FetchOp;
    let programmed = st.program.is_some();
    let upper = st.upper.clone().unwrap_or_default();
    let takes = |time: &Option<Quantity<Picoseconds>>| {
        time.as_ref().is_some_and(|time| time.read().is_ok_and(|time| time > 0))
    };
    let request = st.request.clone().unwrap_or_default();
    let interrupted = st.interrupt == Some(true) || request.interrupt == Some(true);
    let [_, _, (_, late), _] = shares(st);
    let is_late = late.control.is_some() || late.data.is_some();
    let missing = st.missing_timeout.as_ref().is_some_and(|time| time.read() != Ok(Period::Auto));
    let (no_blocks, transfers) =
        ("put, get and fetch_op have no Blocks to enable", "leave it out, or use \"write\" or \"read\"");
    let (says, program) =
        ("a program says what is sent, and its connections stay", "leave it out, or \"program\"");
    let (word, one) = ("a FetchOp moves one word, in one Data", "leave it out, or use another operation");
    vec![
        ("window", in_region && st.window != plain.window, no_blocks, transfers),
        ("block", in_region && st.block != plain.block, no_blocks, transfers),
        ("state_every", in_region && st.state_every != plain.state_every, no_blocks, transfers),
        ("missing_timeout", in_region && missing, no_blocks, transfers),
        (
            "notify",
            st.notify == Some(true) && answers,
            "Data that answers Get or FetchOp is silent",
            "leave it out, or use another operation",
        ),
        ("checksum_segment", fetches && st.checksum_segment != plain.checksum_segment, word, one),
        ("trailers", fetches && st.trailers != plain.trailers, word, one),
        ("count", programmed && st.count != plain.count, says, program),
        ("concurrent", programmed && st.concurrent != plain.concurrent, says, program),
        ("disconnect", programmed && st.disconnect != plain.disconnect, says, program),
        ("delay", takes(&st.delay) && !is_late, "no frames are late", "add \"delayed\": which frames are"),
        (
            "upper/header",
            takes(&upper.header) && answers,
            "no header of Data that answers Get or FetchOp is delivered",
            "leave it out, or use another operation",
        ),
        (
            "upper/interrupt",
            takes(&upper.interrupt) && !interrupted,
            "nothing interrupts the upper layer",
            "add \"interrupt\": true, or \"request\": {\"interrupt\": true}",
        ),
    ]
}

/// Settings that a sweep or a variant makes say something, by another operation or by what it puts into them.
pub(super) fn spare(st: &StSpec) -> Vec<Row> {
    let kind = st.operation.unwrap_or(TransferKind::Write);
    let receives = matches!(kind, TransferKind::Write | TransferKind::ReadBack);
    let empty = |shares: &Option<FrameShares>| {
        shares.as_ref().is_some_and(|shares| shares.control.is_none() && shares.data.is_none())
    };
    let nothing = st.request.as_ref().is_some_and(|own| own.interrupt.is_none() && own.payload.is_none());
    let (shares_of_nothing, give) =
        ("it names no share of any frames", "give \"control\", \"data\" or both, or leave it out");
    vec![
        (
            "receives",
            st.receives.is_some() && !receives,
            "only what is written waits for a place: who asks has memory for what it asked for",
            "leave it out, or use \"write\"",
        ),
        ("loss", empty(&st.loss), shares_of_nothing, give),
        ("doubled", empty(&st.doubled), shares_of_nothing, give),
        ("delayed", empty(&st.delayed), shares_of_nothing, give),
        ("damaged", empty(&st.damaged), shares_of_nothing, give),
        (
            "request",
            nothing,
            "requests carry nothing then",
            "give \"interrupt\", \"payload\" or both, or leave it out",
        ),
    ]
}
