//! Requirements of scenarios, as results judge them.

use crate::console::colours;
use crate::status::Failure;
use analysis::VariantReport;
use analysis::require::{self, Judged, Verdict};
use analysis::requirement::{self, Limit};
use scenarios::units::Ratio;
use scenarios::{Amount, Diagnostics, Relation, RunPlan, Variant, Wrong};

/// A requirement of a scenario for the room that judges it.
fn judged(
    required: &scenarios::Requirement,
    links: &[String],
) -> Result<requirement::Requirement, require::Wrong> {
    let subjects = match &required.subjects {
        scenarios::Subjects::Flows(flows) => requirement::Subjects::Flows(flows.clone()),
        scenarios::Subjects::Links(all) => {
            let named = |link: &u32| (*link, links.get(*link as usize).cloned().unwrap_or_default());
            requirement::Subjects::Links(all.iter().map(named).collect())
        }
    };
    let amount = match required.wanted.amount {
        Amount::Time(ps) => requirement::Amount::Time(ps),
        Amount::Rate(bits) => requirement::Amount::Rate(bits),
        Amount::Share(Ratio { num, den }) => requirement::Amount::Share(num, den),
        Amount::Number(Ratio { num, den }) => requirement::Amount::Number(num, den),
    };
    let relation = match required.wanted.relation {
        Relation::Below => requirement::Relation::Below,
        Relation::AtMost => requirement::Relation::AtMost,
        Relation::Equal => requirement::Relation::Equal,
        Relation::AtLeast => requirement::Relation::AtLeast,
        Relation::Above => requirement::Relation::Above,
    };
    let limit = Limit::new(required.wanted.text.clone(), relation, amount);
    require::requirement(subjects, &required.metric, limit)
}

/// Whether results know the metric of a requirement.
fn known(required: &scenarios::Requirement) -> Result<(), Wrong> {
    judged(required, &[]).map(drop).map_err(|wrong| match wrong {
        require::Wrong::Metric(names) => Wrong::Metric(names),
        require::Wrong::Unit(allowed) => Wrong::Unit(allowed),
    })
}

/// Refuses a plan whose requirements name metrics that results do not have.
pub(crate) fn checked(plan: RunPlan) -> Result<RunPlan, Diagnostics> {
    plan.check_requirements(&known).map(|()| plan)
}

/// Likewise the scenario of a sweep.
pub(crate) fn check_sweep(plan: &scenarios::sweep::SweepPlan) -> Result<(), Failure> {
    plan.check_requirements(&known).map_err(|errors| {
        Failure::BadInput(if colours() { errors.render_coloured() } else { errors.render() })
    })
}

/// A report that knows what is required of its run.
///
/// # Errors
/// A point of a sweep has set a requirement to something that its metric cannot be.
pub(crate) fn required(report: VariantReport, variant: &Variant) -> Result<VariantReport, Failure> {
    let links = &variant.labels.links;
    let required = variant.require.iter().map(|one| {
        judged(one, links).map_err(|wrong| {
            let allowed = match wrong {
                require::Wrong::Metric(names) => names.join(", "),
                require::Wrong::Unit(allowed) => allowed.to_owned(),
            };
            let found = &one.wanted.text;
            Failure::bad_input(format_args!("{}: \"{found}\" found; allowed: {allowed}", one.at))
        })
    });
    Ok(VariantReport { required: required.collect::<Result<_, Failure>>()?, ..report })
}

/// Exit status 4, if a requirement of any variant fails.
pub(crate) fn verdict(reports: &[VariantReport]) -> Result<(), Failure> {
    let failed = |report: &VariantReport| -> Vec<String> {
        let judged: Vec<Judged> = require::judge(report);
        let failed = judged.iter().filter(|one| one.verdict == Verdict::Fail);
        failed.map(|one| format!("variant {:?}: {}", report.run.name, one.line())).collect()
    };
    let lines: Vec<String> = reports.iter().flat_map(failed).collect();
    if lines.is_empty() { Ok(()) } else { Err(Failure::Required(lines)) }
}
