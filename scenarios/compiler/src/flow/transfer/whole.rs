//! What has to come whole and in order, and how often it does where frames are lost, late or damaged.

use super::declared::Declared;
use super::{Scale, faults, protocol};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::settings::filled;
use crate::spec::StSpec;
use models::config::{Operation, TransferFaults, TransferJob};
use std::collections::BTreeMap;

/// Share of operations that may be given up without a word.
const RARE: f64 = 1e-3;
/// Share of tries that bring a Put, below which their number says nothing.
const HOPELESS: f64 = 1e-6;

/// The share of tries in which so many STUs come whole and in order. A late one is out of order if others
/// of them follow it and its delay is longer than what they take.
fn whole(faults: TransferFaults, stus: u64, longer: f64) -> f64 {
    let stays = |millionths: u32| 1.0 - f64::from(millionths) / 1e6;
    let intact = stays(faults.lost) * stays(faults.damaged);
    let in_order = 1.0 - f64::from(faults.delayed) / 1e6 * longer;
    let followed = stus.saturating_sub(1);
    libm::pow(intact, stus as f64) * libm::pow(in_order, followed as f64)
}

/// Warns of Gets and Blocks that may come to nothing in all their tries, and of Puts that take more: one STU
/// that is missing or out of order voids them (ST-10.7.4-7).
pub(super) fn warn(
    c: &mut Compiler<'_>,
    at: &str,
    (st, job): (&StSpec, &TransferJob),
    declared: &BTreeMap<usize, Declared>,
    scale: &Scale,
) {
    let found = faults(st, |shares| shares.data.as_ref());
    let shares = [("loss", found.lost), ("delayed", found.delayed), ("damaged", found.damaged)];
    let Some(&(worst, _)) = shares.iter().filter(|share| share.1 > 0).max_by_key(|share| share.1) else {
        return;
    };
    let Some(way) = &scale.way else { return };
    let smallest = declared.iter().min_by_key(|(_, declared)| declared.stu.min(scale.cut));
    let Some((&device, own)) = smallest.filter(|_| *filled(&st.reliable)) else { return };
    let config = protocol(c, (st, own), job, scale, device);
    let (what, octets, tries) = match job.operation {
        Operation::Get | Operation::FetchOp => ("Get", job.bytes, 1 + u64::from(config.max_retry)),
        Operation::Put => ("Put", job.bytes, 1 + u64::from(config.max_retry)),
        // A Block is enabled again as often as requests are, and once more.
        _ if config.out_of_order && config.missing_timeout.is_some() => {
            ("Block", job.bytes.min(1 << job.blocksize), 2 + u64::from(config.max_retry))
        }
        _ => ("Block", job.bytes.min(1 << job.blocksize), 1),
    };
    let stus = octets.div_ceil(own.stu.min(scale.cut).into()).max(1);
    let delay = st.delay.as_ref().map_or(0, |delay| delay.get());
    let longer = (1.0 - way.data_busy() as f64 / delay.max(1) as f64).max(0.0);
    let whole = whole(found, stus, longer);
    let given_up = libm::pow(1.0 - whole, tries as f64);
    if given_up < RARE {
        return;
    }
    let each = format!(
        "a {what} is void if one of its {stus} STUs is lost, damaged or late: {:.1} % of the tries bring \
         it, ",
        whole * 100.0
    );
    let message = match job.operation {
        Operation::Put if whole > HOPELESS => {
            format!("{each}and it is put again until one does, {:.1} tries on average", 1.0 / whole)
        }
        Operation::Put => format!("{each}and it is put again a million times and more"),
        _ => format!("{each}and after {tries} of them {:.1} % have come to nothing", given_up * 100.0),
    };
    let smaller = if what == "Block" { "block" } else { "bytes" };
    let more = if what == "Put" { "" } else { ", or a larger \"max_retry\"" };
    let help = format!("use fewer STUs (smaller \"{smaller}\", larger \"stu\"){more}");
    c.once(Diagnostic::warning("SC119", format!("{at}/st/{worst}"), message).help(help));
}
