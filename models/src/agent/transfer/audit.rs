//! What the Transfers of all ends come to, seen from above.

use super::Transfer;
use crate::stats::TransferTotals;
use std::collections::BTreeMap;

/// Looks at all ends of one flow.
pub(crate) fn audit(flow: u16, nodes: &[&Transfer]) -> TransferTotals {
    let mut totals =
        TransferTotals { flow, nodes: nodes.len() as u32, clean: true, ..TransferTotals::default() };
    let mut verified: BTreeMap<u64, u64> = BTreeMap::new();
    for node in nodes {
        totals.stats.add(&node.totals());
        totals.under_way += node.own_running();
        totals.clean &= node.config.faults.iter().all(|faults| faults.is_none());
        totals.ranks.extend(node.program.as_ref().map(|program| program.stats()));
        for &tag in &node.ledger.verified {
            *verified.entry(tag).or_default() += 1;
        }
    }
    totals.repeated = verified.values().map(|count| count - 1).sum();
    let confirmed = nodes.iter().flat_map(|node| &node.ledger.confirmed);
    totals.unverified = confirmed.filter(|tag| !verified.contains_key(tag)).count() as u64;
    totals.stats.times.sort_unstable();
    totals.ranks.sort_unstable_by_key(|rank| rank.rank);
    totals
}
