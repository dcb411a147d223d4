//! What the Transfers of all ends come to, seen from above.

use super::Transfer;
use super::ledger::{Begun, Found, Look, Spoiled};
use crate::agent::data::word;
use crate::observe::stats::TransferTotals;
use scheduled_transfer::wire::Function;
use sim_core::Time;
use std::collections::{BTreeMap, BTreeSet};

/// Looks at all ends of one flow.
pub(crate) fn audit(flow: u16, nodes: &[&Transfer]) -> TransferTotals {
    let mut totals =
        TransferTotals { flow, nodes: nodes.len() as u32, clean: true, ..TransferTotals::default() };
    let mut verified: BTreeMap<u64, u64> = BTreeMap::new();
    for node in nodes {
        let stats = node.totals();
        let is_done = stats.completed + stats.aborted.iter().sum::<u64>() == stats.wanted;
        totals.done.extend(stats.last_done.filter(|_| is_done && node.program.is_none()));
        totals.stats.add(&stats);
        totals.under_way += node.own_running();
        totals.oldest = totals.oldest.into_iter().chain(node.oldest().map(Time)).min();
        // Who ends a Transfer without a length may do so while Clear_To_Sends come through other interfaces,
        // which are stale by then, and are logged (ST-D8).
        let overtakes = node.config.job.ring.is_some() && node.config.interfaces.len() > 1;
        totals.clean &= !overtakes && node.config.faults.iter().all(|faults| faults.is_none());
        totals.ranks.extend(node.program.as_ref().map(|program| program.stats()));
        for &tag in &node.ledger.verified {
            *verified.entry(tag).or_default() += 1;
        }
    }
    totals.repeated = verified.values().map(|count| count - 1).sum();
    totals.stats.partial_octets += partly_put(nodes, &verified);
    let places = Places::of(nodes);
    totals.stats.corrupt += places.corrupt;
    let waiting: BTreeSet<u64> = nodes.iter().flat_map(|node| node.not_looked_at()).collect();
    for tag in nodes.iter().flat_map(|node| &node.ledger.confirmed) {
        let count = match tag {
            _ if verified.contains_key(tag) => continue,
            _ if waiting.contains(tag) || places.waiting.contains(tag) => &mut totals.not_looked_at,
            _ if places.overwritten.contains(tag) => &mut totals.overwritten,
            _ => &mut totals.unverified,
        };
        *count += 1;
    }
    let sent_off = nodes.iter().flat_map(|node| &node.ledger.sent_off);
    let came = |tag: &u64| {
        verified.contains_key(tag)
            || waiting.contains(tag)
            || places.waiting.contains(tag)
            || places.overwritten.contains(tag)
    };
    totals.not_come = sent_off.filter(|tag| !came(tag)).count() as u64;
    let given_up = nodes.iter().flat_map(|node| &node.ledger.given_up);
    totals.came_unseen = given_up.filter(|tag| came(tag)).count() as u64;
    totals.torn = torn(nodes);
    totals.stats.times.sort_unstable();
    totals.done.sort_unstable();
    totals.ranks.sort_unstable_by_key(|rank| rank.rank);
    totals
}

/// Octets of Puts that are not over, in their places: each word of a place says by itself whose it is. What
/// its owner has seen whole is not among them.
fn partly_put(nodes: &[&Transfer], verified: &BTreeMap<u64, u64>) -> u64 {
    let owners: BTreeMap<u16, &&Transfer> = nodes.iter().map(|node| (node.config.node, node)).collect();
    let puts = nodes.iter().flat_map(|node| node.puts_under_way());
    let puts = puts.filter(|put| !verified.contains_key(&put.tag));
    puts.filter_map(|Begun { to, put, tag }| Some(owners.get(&to)?.octets_of_put(put, tag))).sum()
}

/// What became of Puts in their places. The upper layer of their owner looks when it has time; what arrives
/// there meanwhile, a later Put or late Data of one that was given up, is found instead, or among the octets.
#[derive(Debug, Default)]
struct Places {
    /// Tags of Puts that wait for the upper layer, whole.
    waiting: BTreeSet<u64>,
    /// Tags of Puts in whose places others are, or octets of others.
    overwritten: BTreeSet<u64>,
    /// Places with octets of nobody who had put into them.
    corrupt: u64,
}

/// Where a Put is to go: its source, its owner, its number.
type Goal = (u64, u16, u64);

/// Every Put that was begun.
#[derive(Debug, Default)]
struct Puts {
    /// What was meant to go there: one tag, unless the number is used again by another connection.
    meant: BTreeMap<Goal, BTreeSet<u64>>,
    /// Tags that went to a place, which is the number modulo that of places.
    placed: BTreeMap<Goal, BTreeSet<u64>>,
}

impl Puts {
    fn of(nodes: &[&Transfer]) -> Puts {
        let mut puts = Puts::default();
        let owners: BTreeMap<u16, u64> = nodes.iter().map(|node| (node.config.node, node.places())).collect();
        for node in nodes {
            for &Begun { to, put, tag } in &node.ledger.puts {
                let Some(places) = owners.get(&to) else { continue };
                let source = node.config.node.into();
                puts.meant.entry((source, to, put)).or_default().insert(tag);
                puts.placed.entry((source, to, put % places)).or_default().insert(tag);
            }
        }
        puts
    }
}

impl Places {
    fn of(nodes: &[&Transfer]) -> Places {
        let (puts, mut places) = (Puts::of(nodes), Places::default());
        for owner in nodes {
            for look in &owner.ledger.looks {
                places.judge(&puts, owner, look, false);
            }
            for look in owner.puts_to_look_at() {
                places.judge(&puts, owner, &look, true);
            }
        }
        places
    }

    /// A look at a place of `owner`. The source of all that is put there stands in each tag.
    fn judge(&mut self, puts: &Puts, owner: &Transfer, look: &Look, waits: bool) {
        let first = match &look.found {
            Found::Whole(tag) => *tag,
            Found::Mixed(octets) => octets.first_chunk().map_or(0, |tag| u64::from_be_bytes(*tag)),
        };
        // What came late with a wrong bit, of a Put that was given up, lies there as well: nobody has
        // taken it for whole. A wrong bit of the Put that is looked at must have been found.
        let place = look.put % owner.places();
        let late = owner.ledger.spoiled.iter();
        let late = late.filter(|late| late.put != look.put && late.put % owner.places() == place);
        let late: Vec<&Spoiled> = late.collect();
        let begins = late.iter().find(|late| late.word == first.to_be_bytes());
        let source = begins.map_or(first >> 32, |late| late.source);
        let (to, none) = (owner.config.node, BTreeSet::new());
        let meant = puts.meant.get(&(source, to, look.put)).unwrap_or(&none);
        let placed = puts.placed.get(&(source, to, place)).unwrap_or(&none);
        match &look.found {
            Found::Whole(tag) if meant.contains(tag) && waits => self.waiting.extend(meant),
            Found::Whole(tag) if meant.contains(tag) => {}
            Found::Whole(tag) if placed.contains(tag) => self.overwritten.extend(meant),
            Found::Mixed(octets) if all_are_of(octets, placed, &late) => self.overwritten.extend(meant),
            _ => self.corrupt += 1,
        }
    }
}

/// Each word is what one of these tags has there, or one of those that came late and wrong.
fn all_are_of(octets: &[u8], tags: &BTreeSet<u64>, late: &[&Spoiled]) -> bool {
    let mut words = octets.chunks(8).zip(0..);
    words.all(|(part, at)| {
        tags.iter().any(|&tag| part == &word(tag, at)[..part.len()])
            || late.iter().any(|late| late.word == part)
    })
}

/// FetchOps that were not atomic: by what they returned, and by what is left of each word.
fn torn(nodes: &[&Transfer]) -> u64 {
    let mut torn = 0;
    for (node, left) in nodes.iter().filter_map(|node| Some((node, node.counted()?))) {
        let fetches = || nodes.iter().filter_map(|other| other.ledger.fetches.get(&node.config.node));
        let words: Vec<u64> = fetches().flat_map(|fetches| &fetches.words).copied().collect();
        let begun: u64 = fetches().map(|fetches| fetches.begun).sum();
        torn += match node.config.job.function {
            Function::Increment => not_counted(words, left, begun),
            // The word before the n-th was -n.
            Function::Decrement => {
                not_counted(words.into_iter().map(u64::wrapping_neg).collect(), left.wrapping_neg(), begun)
            }
            Function::Clear => not_cleared(&words, left, begun),
        };
    }
    torn
}

/// Each word says how many were before; so no two are equal, and a word that was incremented so often has
/// given all smaller ones. One whose answer is not known may have been executed.
fn not_counted(mut words: Vec<u64>, count: u64, begun: u64) -> u64 {
    let known = words.len() as u64;
    words.sort_unstable();
    words.dedup();
    let twice = known - words.len() as u64;
    let beyond = words.iter().filter(|&&word| word >= count).count() as u64;
    twice + beyond + known.saturating_sub(count) + count.saturating_sub(begun)
}

/// The word began as 1. The first who cleared it got that, all others got 0, and 0 is left. If the first
/// got no answer, nobody has it.
fn not_cleared(words: &[u64], left: u64, begun: u64) -> u64 {
    let ones = words.iter().filter(|&&word| word == 1).count() as u64;
    let foreign = words.iter().filter(|&&word| word > 1).count() as u64;
    let nobody = ones == 0 && begun == words.len() as u64 && begun > 0;
    let untouched = left != 0 && !words.is_empty();
    foreign + ones.saturating_sub(1) + u64::from(nobody) + u64::from(untouched)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: three who count from 0, and a word that is 3 then; and each way in which that can be wrong.
    #[test]
    fn words_tell_whether_fetch_ops_were_atomic() {
        assert_eq!(not_counted(vec![2, 0, 1], 3, 3), 0);
        assert_eq!(not_counted(vec![2, 0], 3, 3), 0, "one answer is lost");
        assert_eq!(not_counted(vec![0, 0, 1], 3, 3), 1, "two got the same");
        assert_eq!(not_counted(vec![0, 1, 3], 3, 3), 1, "a value that nobody left");
        assert_eq!(not_counted(vec![0, 1, 2], 4, 3), 1, "one was executed twice");
        assert_eq!(not_cleared(&[0, 1, 0], 0, 3), 0);
        assert_eq!(not_cleared(&[0, 0], 0, 3), 0, "the answer with 1 is lost");
        assert_eq!(not_cleared(&[0, 0, 0], 0, 3), 1, "nobody got the 1");
        assert_eq!(not_cleared(&[1, 1, 0], 0, 3), 1, "two got it");
        assert_eq!(not_cleared(&[1, 0, 0], 1, 3), 1, "it was not cleared");
        assert_eq!(not_cleared(&[], 1, 0), 0);
    }
}
