//! A sweep as a part of a report.

use super::folder::{Earlier, FILES, Folder};
use super::{merge, plot};
use crate::status::Failure;
use analysis::review::Sweep;
use analysis::sweep::paired::paired;
use analysis::sweep::table::estimates;
use analysis::sweep::{OVERALL, metric};
use std::path::Path;

/// What a report shows of the folder of a sweep.
pub(crate) fn review(path: &Path) -> Result<Sweep, Failure> {
    let folder = Folder::at(path);
    let manifest = folder.manifest()?;
    let (data, missing) = folder.finished(&manifest, Earlier::Accept)?.data(&manifest);
    let figures = manifest.plots.iter().map(|wanted| plot::shown(&manifest, &data, wanted));
    let paired = manifest.plots.iter().filter_map(|wanted| {
        let scope = wanted.scope.as_deref().unwrap_or(OVERALL);
        let metric = metric(&wanted.metric)?;
        let found = paired(&manifest.frame, &data, scope, metric, wanted.x.as_deref())?;
        Some((format!("{}, {scope}", wanted.metric), found))
    });
    let header = &manifest.made_from;
    let points = manifest.frame.points.len();
    let mut facts = vec![
        ("sweep".to_owned(), manifest.frame.name.clone()),
        ("version".to_owned(), header.riosim.clone()),
        ("hash of the scenario".to_owned(), header.scenario.clone()),
        ("fingerprint of the program".to_owned(), header.reference.clone()),
        ("seed".to_owned(), header.seed.to_string()),
        ("points".to_owned(), format!("{points}, {} of them not finished", missing.len())),
        ("runs that count".to_owned(), data.runs.len().to_string()),
    ];
    if !missing.is_empty() {
        facts.push(("not whole".to_owned(), format!("{} is of what is finished", FILES[2])));
    }
    let unmet = merge::stop_rule(&manifest, &data);
    facts.extend(unmet.lines().map(|line| ("stop rule".to_owned(), line.to_owned())));
    let required = merge::requirements(&data);
    facts.extend(required.lines().map(|line| ("requirements".to_owned(), line.to_owned())));
    Ok(Sweep {
        title: manifest.frame.title.clone(),
        stamp: format!("{}, seed {}, riosim {}", manifest.frame.name, header.seed, header.riosim),
        facts,
        figures: figures.collect::<Result<_, Failure>>()?,
        paired: paired.collect(),
        estimates: estimates(&manifest.frame, &data).to_csv(),
    })
}
