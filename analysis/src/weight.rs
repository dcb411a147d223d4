//! Of many flows those that somebody looks for first.

use crate::report::VariantReport;
use crate::requirement::Subjects;

/// Which they are, where not all are shown.
pub(crate) const RULE: &str =
    "those of which something is required, then declared ones, then those that carry most";

/// These flows by [`RULE`], over all variants; of those that are alike the first ones first.
pub(crate) fn heaviest<'a>(reports: &[VariantReport], names: &[&'a str]) -> Vec<&'a str> {
    let rank = |name: &str| {
        let (mut free, mut undeclared, mut most) = (true, true, 0.0);
        for report in reports {
            let Some(index) = report.number(name) else { continue };
            let of_it = |subjects: &Subjects| match subjects {
                Subjects::Flows(flows) => flows.iter().any(|flow| usize::from(*flow) == index),
                Subjects::Links(_) => false,
            };
            free &= !report.required.iter().any(|one| of_it(&one.subjects));
            undeclared &= report.flows[index].role.is_none();
            // what is not known is not more than anything
            most = f64::max(most, report.flows[index].goodput_gbps.value);
        }
        (free, undeclared, most)
    };
    let mut all: Vec<((bool, bool, f64), &str)> = names.iter().map(|name| (rank(name), *name)).collect();
    all.sort_by(|(a, _), (b, _)| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
    all.into_iter().map(|(_, name)| name).collect()
}
