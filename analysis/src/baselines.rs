//! Which variant each variant is compared with.
//!
//! A comparison says what another fabric or another protocol makes of the same question. Where more is asked
//! for, or something else, a change in percent would say nothing of the fabric.

use crate::report::VariantReport;
use crate::run::{RunData, sources_of};
use models::config::{Arrivals, PartConfig, Sizes, SourceConfig};

/// The variant that each variant is compared with; itself if there is none.
///
/// That is the first one that asks for the same, unless all names end in a dash and a word (`fifo-30`). Names
/// that cross families with words (`fifo-30`, `voq-30`, `fifo-50`, `voq-50`: at least two words come again,
/// and the first family has all of them) are compared with the first of the same word; other names of several
/// families (`on-1`, `on-2`, `off-1`, `off-3`: two sweeps in one file) with the first of the same family.
/// Across the second dimension of a scenario a comparison would say nothing.
///
/// Where that one asks for something else, the first of all that asks for the same takes its place.
pub fn baselines(reports: &[VariantReport]) -> Vec<usize> {
    let by_name = by_name(&reports.iter().map(|report| report.run.name.as_str()).collect::<Vec<&str>>());
    let questions: Vec<Vec<Question>> = reports.iter().map(question).collect();
    let same = |a: usize, b: usize| {
        let pairs = questions[a].iter().zip(&questions[b]);
        questions[a].len() == questions[b].len() && pairs.into_iter().all(|(a, b)| a.is_same(b))
    };
    let candidates = |variant: usize| std::iter::once(by_name[variant]).chain(0..variant);
    (0..reports.len())
        .map(|variant| candidates(variant).find(|other| same(*other, variant)).unwrap_or(variant))
        .collect()
}

fn by_name(all: &[&str]) -> Vec<usize> {
    let names: Option<Vec<(&str, &str)>> = all.iter().map(|name| name.rsplit_once('-')).collect();
    let names = names.unwrap_or_default();
    let first_of = |part: fn(&(&str, &str)) -> String| -> Vec<usize> {
        let parts: Vec<String> = names.iter().map(part).collect();
        parts.iter().map(|one| parts.iter().position(|other| other == one).unwrap_or(0)).collect()
    };
    // groups with more than one member
    let groups = |firsts: &[usize]| {
        let again = |first: usize| firsts.iter().filter(|other| **other == first).count() > 1;
        (0..firsts.len()).filter(|index| firsts[*index] == *index && again(*index)).count()
    };
    let words = first_of(|name| name.1.to_string());
    let families = first_of(|name| name.0.to_string());
    let crossed = words.iter().all(|first| names[*first].0 == names[0].0);
    if crossed && groups(&words) > 1 {
        words
    } else if groups(&families) > 1 {
        families
    } else {
        vec![0; all.len()]
    }
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
    /// Counts may differ by one of a hundred: what ends with the run is asked for while it goes.
    fn is_same(&self, other: &Question) -> bool {
        let counts_agree = self
            .asked
            .zip(other.asked)
            .is_none_or(|(own, other)| 100 * own.abs_diff(other) <= own.max(other));
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
        assert_eq!(by_name(&["fifo-30", "voq-30", "fifo", "voq"]), [0, 0, 0, 0]);
    }
}
