//! `sweep plot`, and the figures that a sweep file asks for.

use super::folder::{Earlier, Folder, Manifest, frame_of};
use crate::cli::sweep::PlotArgs;
use crate::console::print;
use crate::status::Failure;
use analysis::sweep::plot::{Request, Wishes, draw as drawing};
use analysis::sweep::{Data, Frame, METRICS, OVERALL, metric};
use scenarios::Diagnostics;
use scenarios::diagnostic::closest;
use scenarios::sweep::SweepPlan;
use scenarios::sweep::spec::PlotSpec;

/// Position of a metric, or who it may have been.
pub(crate) fn metric_of(name: &str) -> Result<usize, Failure> {
    metric(name).ok_or_else(|| {
        let names = || METRICS.iter().map(|metric| metric.name);
        let meant = closest(name, names()).map(|name| format!("; did you mean \"{name}\"?"));
        let names: Vec<&str> = names().collect();
        Failure::bad_input(format_args!(
            "there is no metric \"{name}\"{}\n  there are: {}",
            meant.unwrap_or_default(),
            names.join(", ")
        ))
    })
}

/// A scope that the runs have. Those that the sweep file names are checked when it is read.
fn scope_of(data: &Data, name: &str) -> Result<(), Failure> {
    let scopes = data.scopes();
    if scopes.is_empty() {
        return Err(Failure::bad_input("no run is finished, so there is nothing to draw yet"));
    }
    if name == OVERALL || scopes.contains(&name) {
        return Ok(());
    }
    let meant = closest(name, scopes.iter().copied()).map(|name| format!("; did you mean \"{name}\"?"));
    Err(Failure::bad_input(format_args!(
        "there is no flow \"{name}\"{}\n  there are: {}",
        meant.unwrap_or_default(),
        scopes.join(", ")
    )))
}

/// Steps of the axis in `axis=value` that have this value. Of axes that move together one may have a value
/// twice.
fn steps_of(frame: &Frame, text: &str) -> Result<(usize, Vec<u32>), Failure> {
    let Some((name, value)) = text.split_once('=') else {
        return Err(Failure::bad_input(format_args!("\"{text}\": expected axis=value")));
    };
    let names = || frame.axes.iter().map(|axis| axis.name.as_str());
    let Some(index) = frame.axes.iter().position(|axis| axis.name == name.trim()) else {
        let meant = closest(name, names()).map(|name| format!("; did you mean \"{name}\"?"));
        let names: Vec<&str> = names().collect();
        return Err(Failure::bad_input(format_args!(
            "there is no axis \"{name}\"{}\n  there are: {}",
            meant.unwrap_or_default(),
            if names.is_empty() { "none".into() } else { names.join(", ") }
        )));
    };
    let axis = &frame.axes[index];
    let value = value.trim();
    let same = |level: usize| {
        let number = axis.numbers.as_ref().map(|numbers| numbers[level]);
        axis.labels[level] == value || value.parse::<f64>().is_ok_and(|value| number == Some(value))
    };
    let steps: Vec<u32> =
        (0..axis.labels.len()).filter(|level| same(*level)).map(|level| level as u32).collect();
    if steps.is_empty() {
        let labels = scenarios::topology::shortened(axis.labels.iter().map(String::as_str));
        return Err(Failure::bad_input(format_args!(
            "axis \"{}\" has no value \"{value}\"\n  values: {labels}",
            axis.name
        )));
    }
    Ok((index, steps))
}

/// Axes that stand still, from `axis=value` each: with the step at which some point has all of these values.
pub(crate) fn fixed(frame: &Frame, texts: &[&str]) -> Result<Vec<(usize, u32)>, Failure> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let held = texts.iter().map(|text| steps_of(frame, text)).collect::<Result<Vec<_>, Failure>>()?;
    let points = frame
        .points
        .iter()
        .filter(|point| held.iter().all(|(axis, steps)| steps.contains(&point.levels[*axis])));
    let mut found: Option<Vec<u32>> = None;
    for point in points {
        let steps: Vec<u32> = held.iter().map(|(axis, _)| point.levels[*axis]).collect();
        match &found {
            Some(other) if *other != steps => {
                return Err(Failure::bad_input(format_args!(
                    "{} is there more than once\n  name a value of an axis that moves together with it, too",
                    texts.join(", ")
                )));
            }
            _ => found = Some(steps),
        }
    }
    let Some(found) = found else {
        return Err(Failure::bad_input(format_args!(
            "no point has {}\n  of axes that move together one value is enough",
            texts.join(", ")
        )));
    };
    Ok(held.iter().map(|(axis, _)| *axis).zip(found).collect())
}

/// What made a figure of a sweep.
pub(super) fn stamp(manifest: &Manifest) -> String {
    let header = &manifest.made_from;
    format!("{} · seed {} · riosim {}", manifest.frame.name, header.seed, header.riosim)
}

/// Name of the file of a figure, without its ending.
fn file_of(frame: &Frame, request: &Request) -> String {
    format!("figures/{}", request.name(frame))
}

/// Draws one figure into the folder; gives back its name.
fn figure(folder: &Folder, manifest: &Manifest, data: &Data, request: &Request) -> Result<String, Failure> {
    let name = file_of(&manifest.frame, request);
    let drawn = drawing(&manifest.frame, data, request, &stamp(manifest));
    folder.write(&format!("{name}.svg"), drawn.svg.as_bytes())?;
    folder.write(&format!("{name}.png"), &drawn.png)?;
    Ok(name)
}

/// What a figure shows that the sweep file asks for.
fn wanted_of(frame: &Frame, metric: usize, wanted: &PlotSpec) -> Result<Request, String> {
    let wishes = Wishes {
        x: wanted.x.as_deref(),
        y: wanted.y.as_deref(),
        panels: wanted.panels.as_deref(),
        heat: wanted.heat,
        log: wanted.log,
    };
    Request::new(frame, metric, wanted.scope.as_deref().unwrap_or(OVERALL), wishes, Vec::new())
}

/// Whether the figures of a sweep can be drawn.
pub(super) fn check(plan: &SweepPlan) -> Result<(), Diagnostics> {
    let frame = frame_of(plan);
    plan.check_plots(|wanted| {
        let metric = metric(&wanted.metric).expect("the sweep file was read with these metrics");
        Ok(file_of(&frame, &wanted_of(&frame, metric, wanted)?))
    })
}

/// A figure that the sweep file asks for.
pub(crate) fn draw(
    folder: &Folder,
    manifest: &Manifest,
    data: &Data,
    wanted: &PlotSpec,
) -> Result<(), Failure> {
    let request = wanted_of(&manifest.frame, metric_of(&wanted.metric)?, wanted);
    figure(folder, manifest, data, &request.map_err(Failure::bad_input)?).map(drop)
}

/// A figure that the sweep file asks for, as text: what it shows, and its SVG.
pub(super) fn shown(
    manifest: &Manifest,
    data: &Data,
    wanted: &PlotSpec,
) -> Result<(String, String), Failure> {
    let request = wanted_of(&manifest.frame, metric_of(&wanted.metric)?, wanted);
    let request = request.map_err(Failure::bad_input)?;
    let about = METRICS[request.metric].about;
    let caption = format!("{}, {}: {about}", wanted.metric, request.scope);
    Ok((caption, drawing(&manifest.frame, data, &request, "").svg))
}

/// `riosim sweep plot`
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Failure> {
    let folder = Folder::at(&args.folder);
    let manifest = folder.manifest()?;
    // a look at what is there so far is worth a lot
    let (data, _) = folder.finished(&manifest, Earlier::Accept)?.data(&manifest);
    let held: Vec<&str> = args.fixed.iter().map(String::as_str).collect();
    let fixed = fixed(&manifest.frame, &held)?;
    let wishes = Wishes {
        x: args.x.as_deref(),
        y: args.y.as_deref(),
        panels: args.panels.as_deref(),
        heat: args.heat,
        log: args.log,
    };
    let metric = metric_of(&args.metric)?;
    scope_of(&data, &args.scope)?;
    let request = Request::new(&manifest.frame, metric, &args.scope, wishes, fixed);
    let name = figure(&folder, &manifest, &data, &request.map_err(Failure::bad_input)?)?;
    let words = METRICS[metric].words;
    let file = folder.path().join(name);
    print(&format!("drawn: {words} ({}), as {}.svg and .png\n", args.scope, file.display()))
}
