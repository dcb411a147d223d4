//! What the Transfers of all ends come to, seen from above.

use super::Transfer;
use crate::observe::stats::TransferTotals;
use scheduled_transfer::wire::Function;
use sim_core::Time;
use std::collections::BTreeMap;

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
        totals.clean &= node.config.faults.iter().all(|faults| faults.is_none());
        totals.ranks.extend(node.program.as_ref().map(|program| program.stats()));
        for &tag in &node.ledger.verified {
            *verified.entry(tag).or_default() += 1;
        }
    }
    totals.repeated = verified.values().map(|count| count - 1).sum();
    let confirmed = nodes.iter().flat_map(|node| &node.ledger.confirmed);
    totals.unverified = confirmed.filter(|tag| !verified.contains_key(tag)).count() as u64;
    totals.torn = torn(nodes);
    totals.stats.times.sort_unstable();
    totals.done.sort_unstable();
    totals.ranks.sort_unstable_by_key(|rank| rank.rank);
    totals
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
