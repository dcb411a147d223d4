//! What each end declares: the settings of the flow, and what single ends have instead.

use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::flow::session::member;
use crate::spec::*;
use std::collections::BTreeMap;

/// What an end declares when a connection is set up.
#[derive(Copy, Clone)]
pub(super) struct Declared {
    /// Octets of the largest STU that it receives.
    pub stu: u32,
    /// Octets of the largest STU that it sends.
    pub cut: u32,
    pub bufsize: u64,
    pub slots: u16,
    pub out_of_order: bool,
    pub little_endian: bool,
    pub checksum: bool,
}

impl Declared {
    fn of(st: &StSpec) -> Self {
        Declared {
            stu: *filled(&st.stu),
            cut: *filled(&st.stu),
            bufsize: *filled(&st.bufsize),
            slots: *filled(&st.slots),
            out_of_order: *filled(&st.out_of_order),
            little_endian: st.byte_order == Some(ByteOrderKind::Little),
            checksum: *filled(&st.checksum),
        }
    }

    fn with(self, end: &StEndSpec) -> Self {
        Declared {
            stu: end.stu.unwrap_or(self.stu),
            cut: end.cut.unwrap_or(self.cut),
            bufsize: end.bufsize.unwrap_or(self.bufsize),
            slots: end.slots.unwrap_or(self.slots),
            out_of_order: end.out_of_order.unwrap_or(self.out_of_order),
            little_endian: end.byte_order.map_or(self.little_endian, |order| order == ByteOrderKind::Little),
            checksum: end.checksum.unwrap_or(self.checksum),
        }
    }
}

/// Whether buffers can have this size, beside such STUs.
pub(super) fn sizes(bufsize: u64, stu: u32, key: &str, range: &mut dyn FnMut(&str, String, &str)) {
    const LARGEST: u64 = 1 << 32;
    let least = u64::from(stu).max(256);
    if !bufsize.is_power_of_two() || !(least..=LARGEST).contains(&bufsize) {
        let message = format!("receive buffers of {bufsize} octets are not possible");
        range(key, message, &format!("allowed: powers of two from {least} to {LARGEST}, \"stu\" at least"));
    }
}

/// What each of these devices declares. `None` if something is wrong.
pub(super) fn all(
    c: &mut Compiler<'_>,
    at: &str,
    st: &StSpec,
    devices: impl Iterator<Item = usize>,
) -> Option<BTreeMap<usize, Declared>> {
    let before = c.out.len();
    let mut declared: BTreeMap<usize, Declared> = devices.map(|device| (device, Declared::of(st))).collect();
    let by_name: BTreeMap<String, usize> =
        declared.keys().map(|&device| (c.graph.nodes[device].name.clone(), device)).collect();
    let names: Vec<&str> = by_name.keys().map(String::as_str).collect();
    for (i, end) in st.ends.iter().flatten().enumerate() {
        let at = format!("{at}/st/ends/{i}");
        match crate::names::select(end.endpoints.patterns(), &names) {
            Ok(hits) => {
                for device in hits.into_iter().map(|hit| by_name[names[hit]]) {
                    let own = declared[&device].with(end);
                    declared.insert(device, own);
                    judge(c, &at, st, (end, own));
                }
            }
            Err(pattern) => {
                member(c, end.endpoints.place(&format!("{at}/endpoints"), &pattern), &pattern, &by_name);
            }
        }
    }
    (c.out.len() == before).then_some(declared)
}

/// Whether an end can be like this.
fn judge(c: &mut Compiler<'_>, at: &str, st: &StSpec, (end, own): (&StEndSpec, Declared)) {
    let most = *filled(&st.stu);
    let impossible = |stu: u32| !stu.is_power_of_two() || !(256..=most).contains(&stu);
    let wrong = [("stu", own.stu), ("cut", own.cut)].into_iter().find(|(_, stu)| impossible(*stu));
    if let Some((key, stu)) = wrong {
        let message = format!("STUs of {stu} octets are not possible");
        let help = format!("allowed: powers of two from 256 to {most}, what \"st\" has");
        c.once(Diagnostic::error("SC008", format!("{at}/{key}"), message).help(help));
        return;
    }
    if !own.checksum && st.damaged.is_some() {
        let finding =
            Diagnostic::error("SC048", format!("{at}/checksum"), "nobody sees what is damaged then");
        c.once(finding.help("leave it out, or \"damaged\""));
        return;
    }
    let mut range = |key: &str, message: String, help: &str| {
        c.once(Diagnostic::error("SC008", format!("{at}/{key}"), message).help(help));
    };
    let key = if end.bufsize.is_some() { "bufsize" } else { "stu" };
    sizes(own.bufsize, own.stu, key, &mut range);
    let offset = *filled(&st.first_offset);
    if offset >= own.bufsize {
        let message = format!("st.first_offset is {offset}, and that is not in a buffer of {}", own.bufsize);
        range("bufsize", message, "use larger buffers, or a smaller \"first_offset\"");
    }
    if st.ring.is_some_and(|ring| ring % own.bufsize != 0) {
        let message = format!("st.ring is no multiple of a buffer of {}", own.bufsize);
        range("bufsize", message, "use smaller buffers, or a larger \"ring\"");
    }
    if !own.out_of_order && (st.stripes.is_some() || st.doubled.is_some() || st.delayed.is_some()) {
        let help = "leave it out, or \"stripes\", \"doubled\" and \"delayed\"";
        let finding = Diagnostic::error("SC048", format!("{at}/out_of_order"), "Blocks come in any order");
        c.once(finding.help(help));
    }
}
