//! Random whole systems: protocols, hosts, clocks, faults, media, programs, enumeration, several together.
//!
//! Each is drawn as the text of a scenario, compiled, run with every check that there is, and held against
//! laws that name no protocol: nothing panics, no invariant is broken, whatever stands still is reported, and
//! what the summary, the series and the tables say is the same. What can be cut also runs on several threads.
//!
//! - `RIOSIM_SYSTEMS_SEED=7` draws another series (default 1).
//! - `RIOSIM_SYSTEMS_FROM=41 RIOSIM_SYSTEMS_COUNT=1` runs system 41 alone; counts are any number.
//! - `RIOSIM_SYSTEMS_ALL=1` goes on after a finding, and tells all of them.
//! - `RIOSIM_SYSTEMS_PRINT=1` prints each system before it runs.
#![allow(missing_docs)]

mod coverage;
mod draw;
mod found;
mod generate;
mod laws;
mod traffic;

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The series of a default run, and how many systems of it are run; then as many of a new series.
const SEED: u64 = 1;
const FIXED: u64 = 70;
const FRESH: u64 = 30;

/// Most systems that the compiler may refuse, of 100: the generator knows its rules.
const REFUSED: usize = 15;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is a whole number, not {text:?}")))
}

/// What becomes of a system.
pub enum Verdict {
    /// All laws hold; `cut`: it was run in parts, too, on several threads.
    Sound { cut: bool },
    /// The compiler refuses it: the code of the first error, and what it says.
    Refused(&'static str, String),
    /// A law does not hold.
    Broken(String),
}

fn quietly<X>(what: impl FnOnce() -> X) -> Result<X, String> {
    catch_unwind(AssertUnwindSafe(what)).map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        text.or_else(|| cause.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

fn judge(seed: u64, index: u64) -> Verdict {
    let text = generate::system(seed, index).0.to_string();
    if number("RIOSIM_SYSTEMS_PRINT").is_some() {
        println!("system {index}: {text}");
    }
    match quietly(|| laws::judge(&text, index.is_multiple_of(3), index.is_multiple_of(5))) {
        Ok(verdict) => verdict,
        Err(panic) => Verdict::Broken(format!("panic: {panic}")),
    }
}

#[test]
fn systems_are_sound() {
    let series: Vec<(u64, u64)> = match number("RIOSIM_SYSTEMS_COUNT") {
        Some(count) => {
            let seed = number("RIOSIM_SYSTEMS_SEED").unwrap_or(SEED);
            let from = number("RIOSIM_SYSTEMS_FROM").unwrap_or(0);
            (from..from + count).map(|index| (seed, index)).collect()
        }
        None => {
            let seed = number("RIOSIM_SYSTEMS_SEED").unwrap_or(SEED);
            let fresh = RandomState::new().build_hasher().finish() >> 16;
            println!("fresh systems: RIOSIM_SYSTEMS_SEED={fresh} RIOSIM_SYSTEMS_COUNT={FRESH}");
            let fixed = (0..FIXED).map(|index| (seed, index));
            fixed.chain((0..FRESH).map(|index| (fresh, index))).collect()
        }
    };
    // What panics here is told in words.
    let hook = std::panic::take_hook();
    if number("RIOSIM_SYSTEMS_LOUD").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let all = number("RIOSIM_SYSTEMS_ALL").is_some();
    let mut refused: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    let mut found: Vec<String> = Vec::new();
    let mut in_parts = 0;
    for &(seed, index) in &series {
        match judge(seed, index) {
            Verdict::Sound { cut } => in_parts += usize::from(cut),
            Verdict::Refused(code, text) => {
                let entry = refused.entry(code).or_insert((0, format!("{index}: {text}")));
                entry.0 += 1;
            }
            Verdict::Broken(why) => {
                let system = generate::system(seed, index).0;
                let text = format!(
                    "system {index} of series {seed}: {why}\n{system}\nagain: RIOSIM_SYSTEMS_SEED={seed} \
                     RIOSIM_SYSTEMS_FROM={index} RIOSIM_SYSTEMS_COUNT=1 cargo test --test systems sound\n"
                );
                if all {
                    println!("FOUND {text}");
                }
                found.push(text);
                if !all {
                    break;
                }
            }
        }
    }
    std::panic::set_hook(hook);
    let count: usize = refused.values().map(|(count, _)| count).sum();
    println!("{} systems, {count} refused, {in_parts} in parts, {} findings", series.len(), found.len());
    for (code, (count, first)) in &refused {
        println!("  {code}: {count}, first {first}");
    }
    assert!(found.is_empty(), "{} of {} systems:\n{}", found.len(), series.len(), found[0]);
    // About 12 in 100 are refused, give or take the root of as many; so six times that is no chance. Of few
    // systems chance decides.
    let chance = 2 * series.len().isqrt();
    let refused_too_often = count * 100 > REFUSED * series.len() + 100 * chance;
    assert!(series.len() < 50 || !refused_too_often, "{count} systems were refused");
    assert!(series.len() < 50 || in_parts > 0, "no system was run on several threads");
}

/// How many are drawn, and not run, to see whether all choices are.
const DRAWN: u64 = 3_400;

/// So many systems draw every option of the schema and every value of every table, but what `NOT_DRAWN`
/// names.
#[test]
fn every_choice_is_drawn() {
    let mut seen = coverage::Seen::new();
    let mut taken = draw::Taken::new();
    for index in 0..DRAWN {
        let (value, draw) = generate::system(SEED, index);
        seen.add(&value);
        for (table, (len, drawn)) in draw.taken {
            let entry = taken.entry(table).or_insert((len, Default::default()));
            assert_eq!(entry.0, len);
            entry.1.extend(drawn);
        }
    }
    let mut missing = seen.missing();
    for (table, (len, drawn)) in &taken {
        missing.extend((0..*len).filter(|n| !drawn.contains(n)).map(|n| format!("value {n} of {table}")));
    }
    assert!(missing.is_empty(), "never drawn: {missing:#?}");
}
