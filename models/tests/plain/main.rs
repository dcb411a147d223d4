//! A second opinion: random fabrics, run by the simulator and by a plain one that shares no code with it.
//!
//! `plain` is written from docs/fabric.md, one event for each step, to be read and held against it. Both must
//! agree on each creation, start, delivery with its causes, drop and staging edge, to the picosecond.
//!
//! - `RIOSIM_PLAIN_SEED=17` runs the fabric number 17 alone, and tells more about a difference.
//! - `RIOSIM_PLAIN_COUNT=100000` runs so many fabrics, `RIOSIM_PLAIN_FROM=5000` from that number on,
//!   `RIOSIM_PLAIN_ALL=1` goes on after a difference.
//! - `RIOSIM_PLAIN_LONGER=10` runs each fabric ten times as long.
//! - `RIOSIM_PLAIN_ONLY="refusals in channels=some"` draws fabrics alone in which an option has this value.
#![allow(missing_docs)]

mod generate;
mod laws;
mod plain;
mod record;
mod relations;
mod shrink;

use generate::{Case, Coverage, case};
use record::Record;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Fabrics in a default run: with these numbers, and with new ones each time.
const FIXED: u64 = 300;
const FRESH: u64 = 100;
/// Numbers of fabrics that once differed: a message that is obeyed after the last packet ends the run; a
/// message in whose place a packet begins again on eight lanes; a status with credit that an endpoint did not
/// wait for, at the instant of a creation and before a message.
const KEPT: [u64; 5] = [36_001, 63_607, 18_573, 48_187, 2_035_588];

/// Where two runs part: how much was equal, what either says then.
pub struct Difference {
    pub at: u64,
    pub fast: Vec<Record>,
    pub plain: Vec<Record>,
    pub panic: Option<String>,
}

fn quietly<X>(what: impl FnOnce() -> X) -> Result<X, String> {
    catch_unwind(AssertUnwindSafe(what)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

/// What both runs tell, or the first difference.
pub fn compare(case: &Case) -> Result<Vec<Record>, Difference> {
    let panicked = |who: &str, text: String| Difference {
        at: case.until,
        fast: Vec::new(),
        plain: Vec::new(),
        panic: Some(format!("{who} panicked: {text}")),
    };
    let fast = quietly(|| record::fast(&case.config, case.until)).map_err(|text| panicked("fast", text))?;
    let plain = quietly(|| plain::run(&case.config, case.until)).map_err(|text| panicked("plain", text))?;
    if fast == plain {
        return Ok(fast);
    }
    let equal = fast.iter().zip(&plain).take_while(|(a, b)| a == b).count();
    let first = |records: &[Record]| records.get(equal).map_or(case.until, Record::at);
    let at = first(&fast).min(first(&plain));
    Err(Difference { at, fast, plain, panic: None })
}

/// The difference in words: the records around it.
fn explain(case: &Case, found: &Difference) -> String {
    let mut text = format!(
        "fabric {0}: fast and plain differ at {1} ps\n\
         again: RIOSIM_PLAIN_SEED={0} cargo test -p models --test plain agree\n",
        case.number, found.at
    );
    if let Some(panic) = &found.panic {
        text += panic;
        text.push('\n');
    }
    let missing = |these: &[Record], those: &[Record]| -> Vec<Record> {
        let mut those = those.to_vec();
        let left = these.iter().filter(|record| match those.binary_search(record) {
            Ok(at) => {
                those.remove(at);
                false
            }
            Err(_) => true,
        });
        left.copied().take(6).collect()
    };
    for record in missing(&found.fast, &found.plain) {
        text += &format!("only fast:  {record:?}\n");
    }
    for record in missing(&found.plain, &found.fast) {
        text += &format!("only plain: {record:?}\n");
    }
    let before: Vec<&Record> = found.plain.iter().filter(|record| record.at() < found.at).collect();
    for record in before.iter().rev().take(25).rev() {
        text += &format!("before:     {record:?}\n");
    }
    text + &shrink::compact(case)
}

/// The difference in one line, with what is special in the fabric.
fn brief(case: &Case, found: &Difference) -> String {
    let first = |these: &[Record], those: &[Record]| {
        these.iter().find(|record| those.binary_search(record).is_err()).map(|record| format!("{record:?}"))
    };
    let panic = found.panic.clone().unwrap_or_default();
    let (fast, plain) = (first(&found.fast, &found.plain), first(&found.plain, &found.fast));
    let device = found.plain.iter().find_map(|record| match record {
        Record::Started { device, .. } | Record::Totals { device, .. }
            if found.fast.binary_search(record).is_err() =>
        {
            Some(*device)
        }
        _ => None,
    });
    let about = device.map_or(String::new(), |d| shrink::device(&case.config.devices[d as usize]));
    format!("fabric {} at {}: {panic} fast {fast:?} plain {plain:?} {about}", case.number, found.at)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
}

#[test]
fn fast_and_plain_agree() {
    // What panics here is told in words.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let numbers: Vec<u64> = match (number("RIOSIM_PLAIN_SEED"), number("RIOSIM_PLAIN_COUNT")) {
        (Some(one), _) => vec![one],
        (None, Some(count)) => {
            let from = number("RIOSIM_PLAIN_FROM").unwrap_or(0);
            (from..from + count).collect()
        }
        (None, None) => {
            let fresh = RandomState::new().build_hasher().finish() >> 16;
            println!("fresh fabrics from {fresh} on");
            (0..FIXED).chain(KEPT).chain(fresh..fresh + FRESH).collect()
        }
    };
    let keep_going = number("RIOSIM_PLAIN_ALL").is_some();
    let (mut records, mut refusals, mut failed) = (0, 0, Vec::new());
    let mut first = None;
    for &number in &numbers {
        let case = case(number);
        match compare(&case) {
            Ok(equal) => {
                records += equal.len();
                refusals += u64::from(equal.iter().any(Record::refuses_in_channels));
            }
            Err(found) => {
                failed.push(number);
                if keep_going {
                    println!("{}", brief(&case, &found));
                }
                if first.is_none() {
                    let (small, found) = shrink::shrink(case, found);
                    first = Some(explain(&small, &found));
                }
                if !keep_going {
                    break;
                }
            }
        }
    }
    std::panic::set_hook(hook);
    if let Some(first) = first {
        panic!("{first}\n{} of {} fabrics differ: {failed:?}", failed.len(), numbers.len());
    }
    println!("{} fabrics, {records} records alike; {refusals} with refusals in channels", numbers.len());
    let default = number("RIOSIM_PLAIN_SEED").or(number("RIOSIM_PLAIN_COUNT")).is_none();
    assert!(refusals > 0 || !default, "nothing was refused in channels");
}

/// A symbol brings an endpoint credit and stops its queue at once. What it accepts has cut through, so the
/// credit comes first (F-4), and a packet starts. Fabric 907 639 differed there, twenty times as long.
#[test]
fn a_symbol_for_what_cut_through_brings_credit_first() {
    let mut case = case(907_639);
    case.until *= 20;
    if let Err(found) = compare(&case) {
        panic!("{}", explain(&case, &found));
    }
}

/// Every value of every option is drawn in the default run, or is on the list of what is left out.
#[test]
fn every_option_is_drawn() {
    let mut coverage = Coverage::default();
    for number in 0..FIXED {
        coverage.count(&case(number).config);
    }
    let (table, missing) = coverage.table();
    println!("{table}");
    assert!(missing.is_empty(), "never drawn: {missing:?}\n{table}");
}
