//! Which variant each variant is compared with.
//!
//! A comparison says what another fabric or another protocol makes of the same question. Where more is asked
//! for, or something else, a change in percent would say nothing of the fabric.

use crate::report::VariantReport;
use crate::run::{RunData, sources_of};
use models::config::{Arrivals, FabricConfig, PartConfig, ProtocolConfig, Restart, Sizes, SourceConfig};

/// The variant that each variant is compared with; itself if there is none.
///
/// That is the one that the scenario names (`compare_with`). Else it is the first one that asks for the
/// same, unless all names end in a dash and a word (`fifo-30`). Names that cross families with words at their
/// last dash, or else at their first (`fifo-30`, `voq-30`, `fifo-50`, `voq-50`: at least two words come
/// again, and the first family has all of them) are compared with the first of the same word; other names of
/// several families (`on-1`, `on-2`, `off-1`, `off-3`: two sweeps in one file) with the first of the same
/// family, and the first of a family with that of an earlier family that has its word (`off-1` with `on-1`),
/// if there is one. Across the second dimension of a scenario a comparison would say nothing.
///
/// Where that one asks for something else, or lets another accident happen (a message that is lost, doubled
/// or delayed, a node that starts anew, closes or is mute), the first of all that asks for the same takes
/// its place.
pub fn baselines(reports: &[VariantReport]) -> Vec<usize> {
    let by_name = by_name(&reports.iter().map(|report| report.run.name.as_str()).collect::<Vec<&str>>());
    let questions: Vec<Vec<Question>> = reports.iter().map(question).collect();
    let accidents: Vec<Vec<String>> = reports.iter().map(|report| accidents(&report.run.config)).collect();
    let same = |base: usize, variant: usize| {
        let pairs = questions[base].iter().zip(&questions[variant]);
        // without any, it shows what the accident does; two different ones say nothing of each other
        let comparable = accidents[base].is_empty() || accidents[base] == accidents[variant];
        let same = questions[base].len() == questions[variant].len();
        comparable && same && pairs.into_iter().all(|(base, variant)| base.is_same(variant))
    };
    let candidates = |variant: usize| std::iter::once(by_name[variant]).chain(0..variant);
    // who wrote the scenario knows best
    let named = |variant: usize| {
        let name = reports[variant].compare_with.as_ref()?;
        reports.iter().position(|report| report.run.name == *name)
    };
    // who is named by its base is a base itself
    let names_it = |other: usize, variant: usize| other != variant && named(other) == Some(variant);
    let found = |variant| candidates(variant).find(|other| same(*other, variant)).unwrap_or(variant);
    let found = |variant| Some(found(variant)).filter(|other| !names_it(*other, variant)).unwrap_or(variant);
    (0..reports.len()).map(|variant| named(variant).unwrap_or_else(|| found(variant))).collect()
}

fn by_name(all: &[&str]) -> Vec<usize> {
    let split = |at: fn(&'_ str) -> Option<(&'_ str, &'_ str)>| -> Vec<(&str, &str)> {
        all.iter().map(|name| at(name)).collect::<Option<Vec<(&str, &str)>>>().unwrap_or_default()
    };
    let first_of = |names: &[(&str, &str)], part: fn(&(&str, &str)) -> String| -> Vec<usize> {
        let parts: Vec<String> = names.iter().map(part).collect();
        parts.iter().map(|one| parts.iter().position(|other| other == one).unwrap_or(0)).collect()
    };
    // groups with more than one member
    let groups = |firsts: &[usize]| {
        let again = |first: usize| firsts.iter().filter(|other| **other == first).count() > 1;
        (0..firsts.len()).filter(|index| firsts[*index] == *index && again(*index)).count()
    };
    let crossed = |names: &[(&str, &str)]| {
        let words = first_of(names, |name| name.1.to_string());
        let all_in_first = words.iter().all(|first| names[*first].0 == names[0].0);
        (all_in_first && groups(&words) > 1).then_some(words)
    };
    // a family or a word may have dashes of its own
    let (at_last, at_first) = (split(family_and_word), split(|name| name.split_once('-')));
    if let Some(words) = crossed(&at_last).or_else(|| crossed(&at_first)) {
        return words;
    }
    let (words, families) =
        (first_of(&at_last, |name| name.1.to_string()), first_of(&at_last, |name| name.0.to_string()));
    if groups(&families) < 2 {
        return vec![0; all.len()];
    }
    // the first of a family has its word in common with an earlier one, or nobody
    let base = |(index, &family): (usize, &usize)| if family == index { words[index] } else { family };
    families.iter().enumerate().map(base).collect()
}

/// A name in two at its last dash, which is not the minus of `1e-9`.
fn family_and_word(name: &str) -> Option<(&str, &str)> {
    let (family, word) = name.rsplit_once('-')?;
    let exponent = word.bytes().all(|digit| digit.is_ascii_digit())
        && family
            .strip_suffix('e')
            .is_some_and(|number| number.ends_with(|last: char| last.is_ascii_digit()));
    if !exponent {
        return Some((family, word));
    }
    let (family, _) = family.rsplit_once('-')?;
    Some((family, &name[family.len() + 1..]))
}

/// What the users of a flow ask for.
struct Question {
    flow: String,
    /// Protocol times a fabric time.
    clocks: Vec<String>,
    /// When its sources create what, in any order.
    sources: Vec<String>,
    /// Endpoints where protocols run it.
    nodes: usize,
    /// How many were asked for, where protocols run it and the fabric does not decide: sources may always
    /// have more. Packets without a protocol are what their sources say.
    asked: Option<u64>,
}

impl Question {
    /// Counts may differ by one of twenty: what ends with the run is asked for while it goes, and who lost a
    /// question does not answer it.
    fn is_same(&self, other: &Question) -> bool {
        let counts_agree =
            self.asked.zip(other.asked).is_none_or(|(own, other)| 20 * own.abs_diff(other) <= own.max(other));
        counts_agree
            && self.flow == other.flow
            && self.clocks == other.clocks
            && self.sources == other.sources
            && self.nodes == other.nodes
    }
}

fn question(report: &VariantReport) -> Vec<Question> {
    let clocks = report.protocol_clocks();
    let of = |(index, flow): (usize, &crate::report::FlowReport)| {
        let RunData { config, .. } = &report.run;
        let mut sources: Vec<String> = sources_of(config, index as u16).map(creates).collect();
        sources.sort();
        let runs_it = |part: &PartConfig| usize::from(part.flow) == index;
        let agents = config.agents.iter().filter(|agent| agent.parts.iter().any(runs_it));
        Question {
            flow: flow.name.clone(),
            clocks: clocks.clone(),
            sources,
            nodes: agents.count(),
            asked: (flow.protocol.is_some() && !flow.closed_loop).then_some(flow.books.asked),
        }
    };
    report.flows.iter().enumerate().map(of).collect()
}

/// What the scenario lets happen to single messages and nodes, in any order. How much of everything is lost
/// is a quantity, whose values can be compared.
fn accidents(config: &FabricConfig) -> Vec<String> {
    let mut all: Vec<String> = config.symbol_losses.iter().map(|loss| format!("{loss:?}")).collect();
    for agent in &config.agents {
        for part in &agent.parts {
            let ProtocolConfig::Session(session) = &part.protocol else { continue };
            let at = agent.device;
            all.extend(session.faults.iter().map(|fault| format!("{at} {fault:?}")));
            all.extend(session.mute.then(|| format!("{at} is mute")));
            all.extend(session.close_at.map(|time| format!("{at} closes at {} ps", time.0)));
            let restart = |restart: &Restart| {
                let reset = restart.reset.map(|time| format!(", reset for {} ps", time.0));
                format!("{at} restarts at {} ps{}", restart.at.0, reset.unwrap_or_default())
            };
            all.extend(session.restarts.iter().map(restart));
        }
    }
    all.sort();
    all
}

/// When a source creates what, without where it is and how that is carried.
fn creates(source: &SourceConfig) -> String {
    let SourceConfig { start, stop, limit, arrivals, sizes, .. } = source;
    let sizes = match sizes {
        Sizes::Fixed(size) => vec![(1, size.payload)],
        Sizes::Mix(sizes) => sizes.iter().map(|(weight, size)| (*weight, size.payload)).collect(),
        Sizes::Replay => Vec::new(),
    };
    let arrivals = match arrivals {
        Arrivals::Replay(packets) => format!("{} packets", packets.len()),
        other => format!("{other:?}"),
    };
    format!("{start:?} {stop:?} {limit} {arrivals} {sizes:?}")
}

#[cfg(test)]
mod tests {
    use super::by_name;

    #[test]
    fn variants_are_compared_within_their_group() {
        assert_eq!(by_name(&["a", "b", "c"]), [0, 0, 0]);
        assert_eq!(by_name(&["fifo-30", "voq-30", "fifo-50", "voq-50"]), [0, 0, 2, 2]);
        assert_eq!(by_name(&["fifo-30", "fifo-50", "voq-30", "voq-50"]), [0, 1, 0, 1]);
        assert_eq!(by_name(&["fifo-30", "voq-30", "voq-50"]), [0, 0, 0]);
        // fifo-2 has no partner
        assert_eq!(by_name(&["fifo-2", "fifo-4", "fifo-8", "islip-4", "islip-8"]), [0, 1, 2, 1, 2]);
        assert_eq!(by_name(&["on-1", "on-2", "off-0", "off-1", "off-2"]), [0, 0, 2, 2, 2]);
        // two sweeps, whose first ones ask the same
        assert_eq!(by_name(&["on-1", "on-2", "off-1", "off-3"]), [0, 0, 0, 2]);
        assert_eq!(by_name(&["a-0", "a-1e-9", "a-1e-8", "b-0", "b-1e-9", "b-1e-8"]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(by_name(&["fifo-30", "voq-30", "fifo", "voq"]), [0, 0, 0, 0]);
        // words with dashes
        assert_eq!(by_name(&["a-32", "a-64", "b-32", "c-32", "a-32-data", "b-32-data"]), [0, 1, 0, 0, 4, 4]);
    }
}
