//! What the Transfers of all ends come to, seen from above.

use super::Transfer;
use crate::observe::stats::TransferTotals;
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

/// FetchOps that were not atomic. Each word says how many were before; so no two are equal, and a word that
/// was incremented so often has given all smaller ones. One whose answer is not known may have been executed.
fn torn(nodes: &[&Transfer]) -> u64 {
    let mut torn = 0;
    for (node, count) in nodes.iter().filter_map(|node| Some((node.config.node, node.counted()?))) {
        let fetches = || nodes.iter().filter_map(|other| other.ledger.fetches.get(&node));
        let mut words: Vec<u64> = fetches().flat_map(|fetches| &fetches.words).copied().collect();
        let begun: u64 = fetches().map(|fetches| fetches.begun).sum();
        let known = words.len() as u64;
        words.sort_unstable();
        words.dedup();
        torn += known - words.len() as u64;
        torn += words.iter().filter(|&&word| word >= count).count() as u64;
        torn += known.saturating_sub(count) + count.saturating_sub(begun);
    }
    torn
}
