//! The conduits of a scenario, explored: who opens, by which algorithm, with as many accidents of each kind
//! as the scenario plans, at any message and any time.

use super::{OPENS, Selected, select};
use crate::cli::ExploreArgs;
use analysis::explore::Order;
use analysis::explore::conduit::{Budget, Conduit, Configuration, FAULTS, Fault};
use models::config::{FabricConfig, Fate, ProtocolConfig, SessionConfig, Wanted};
use scenarios::{RunPlan, Variant};
use std::collections::BTreeMap;

/// What to explore, each with the variants that mean it, and what cannot be explored.
pub(super) fn models(args: &ExploreArgs, plan: &RunPlan) -> Result<(Vec<Selected>, Vec<String>), String> {
    for (flag, names) in [("algorithm", &args.algorithm), ("configuration", &args.configuration)] {
        if !names.is_empty() {
            return Err(format!("--{flag}: not with a scenario, which says it"));
        }
    }
    let orders = select("order", &args.order, &Order::ALL, |known| known.name())?;
    let faults = select("fault", &args.fault, &FAULTS, |fault: &Fault| fault.name)?;
    let mut found: Vec<Selected> = Vec::new();
    let mut left_out = Vec::new();
    let all: Vec<&Variant> = plan.variants.iter().collect();
    for variant in select("variant", &args.variant, &all, |variant| variant.name.as_str())? {
        let explored = nodes(&variant.config).and_then(|nodes| match args.fault[..] {
            [] => Ok((nodes, vec![fault(&nodes)?])),
            _ => Ok((nodes, faults.clone())),
        });
        let (nodes, faults) = match explored {
            Ok(explored) => explored,
            Err(problem) => {
                left_out.push(format!("variant {}: {problem}", variant.name));
                continue;
            }
        };
        for &fault in &faults {
            for &order in &orders {
                let configuration = match nodes[1].creates {
                    Some(_) => Configuration::Peers,
                    None => Configuration::MasterSlave,
                };
                let model = Conduit {
                    algorithms: nodes.map(|node| node.algorithm),
                    limit: args.limit.unwrap_or(OPENS),
                    ..Conduit::new(nodes[0].algorithm, fault, configuration, order)
                };
                match found.iter_mut().find(|(known, _)| *known == model) {
                    Some((_, variants)) => variants.push(variant.name.clone()),
                    None => found.push((model, vec![variant.name.clone()])),
                }
            }
        }
    }
    if found.is_empty() { Err(left_out.join("; ")) } else { Ok((found, left_out)) }
}

/// The two nodes of the only flow with sessions; the first one opens.
fn nodes(config: &FabricConfig) -> Result<[&SessionConfig; 2], String> {
    let mut flows: BTreeMap<u16, Vec<&SessionConfig>> = BTreeMap::new();
    for part in config.agents.iter().flat_map(|agent| &agent.parts) {
        if let ProtocolConfig::Session(session) = &part.protocol {
            flows.entry(part.flow).or_default().push(session);
        }
    }
    if flows.len() != 1 {
        return Err(format!("{} flows have sessions; exactly one can be explored", flows.len()));
    }
    let nodes = flows.into_values().next().expect("there is one");
    let count = nodes.len();
    let [first, second] = nodes[..] else {
        return Err(format!("{count} nodes have sessions; exactly two can be explored"));
    };
    for node in [first, second] {
        let what = [
            (matches!(node.wanted, Wanted::Streams(_)), "opens streams, not conduits"),
            (matches!(node.wanted, Wanted::Nothing(_)), "opens nothing"),
            (node.restarts.iter().any(|restart| restart.reuses), "uses StreamIDs again when it restarts"),
            (node.mute, "is mute"),
            (node.refuses, "refuses everything"),
            (node.script.is_some(), "follows a script, which is one path"),
            (!node.injections.is_empty(), "sends octets that are injected"),
        ];
        if let Some((_, what)) = what.iter().find(|(is, _)| *is) {
            return Err(format!("node {} {what}; this cannot be explored", node.node));
        }
    }
    match (&first.creates, &second.creates) {
        (None, None) => Err("nobody opens a conduit".into()),
        (None, Some(_)) => Ok([second, first]),
        (Some(_), _) => Ok([first, second]),
    }
}

/// As many accidents of each kind as both nodes plan. Delays are what any order of delivery explores.
fn fault(nodes: &[&SessionConfig; 2]) -> Result<Fault, String> {
    let mut budget = Budget::default();
    for node in nodes {
        let count = |fate: fn(&Fate) -> bool| {
            u8::try_from(node.faults.iter().filter(|fault| fate(&fault.fate)).count()).unwrap_or(u8::MAX)
        };
        budget.losses = budget.losses.saturating_add(count(|fate| matches!(fate, Fate::Lose)));
        budget.duplicates = budget.duplicates.saturating_add(count(|fate| matches!(fate, Fate::Duplicate)));
        budget.restarts =
            budget.restarts.saturating_add(u8::try_from(node.restarts.len()).unwrap_or(u8::MAX));
    }
    FAULTS.into_iter().find(|known| known.budget == budget).ok_or_else(|| {
        let Budget { losses, duplicates, restarts, .. } = budget;
        let names: Vec<&str> = FAULTS.iter().map(|known| known.name).collect();
        format!(
            "{losses} losses, {duplicates} duplicates and {restarts} restarts together are not explored; \
             --fault takes one of: {}",
            names.join(", ")
        )
    })
}
