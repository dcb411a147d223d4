//! `sweep plot`, and the figures that a sweep file asks for.

use super::folder::{Earlier, Folder, Manifest};
use crate::cli::sweep::PlotArgs;
use crate::console::print;
use crate::status::Failure;
use analysis::sweep::plot::{Request, Wishes, draw as drawing};
use analysis::sweep::{Data, Frame, METRICS, OVERALL, metric};
use scenarios::diagnostic::closest;
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

/// A scope that the runs have.
fn scope_of(data: &Data, name: &str) -> Result<(), Failure> {
    let scopes = data.scopes();
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

/// `axis=value` as positions.
pub(crate) fn fixed(frame: &Frame, text: &str) -> Result<(usize, u32), Failure> {
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
    let same = |label: &String, number: Option<f64>| {
        label == value || number.is_some_and(|number| value.parse::<f64>().is_ok_and(|other| other == number))
    };
    let numbers = |level: usize| axis.numbers.as_ref().map(|numbers| numbers[level]);
    let level = axis.labels.iter().enumerate().position(|(level, label)| same(label, numbers(level)));
    level.map(|level| (index, level as u32)).ok_or_else(|| {
        let labels = scenarios::topology::shortened(axis.labels.iter().map(String::as_str));
        Failure::bad_input(format_args!(
            "axis \"{}\" has no value \"{value}\"\n  values: {labels}",
            axis.name
        ))
    })
}

/// What made a figure of a sweep.
pub(super) fn stamp(manifest: &Manifest) -> String {
    let header = &manifest.made_from;
    format!("{} · seed {} · riosim {}", manifest.frame.name, header.seed, header.riosim)
}

/// Draws one figure into the folder; gives back its name.
fn figure(
    folder: &Folder,
    manifest: &Manifest,
    data: &Data,
    (metric, scope): (&str, &str),
    wishes: Wishes<'_>,
    fixed: Vec<(usize, u32)>,
) -> Result<String, Failure> {
    scope_of(data, scope)?;
    let frame = &manifest.frame;
    let request =
        Request::new(frame, metric_of(metric)?, scope, wishes, fixed).map_err(Failure::bad_input)?;
    let name = format!("figures/{}", request.name(frame));
    let drawn = drawing(frame, data, &request, &stamp(manifest));
    folder.write(&format!("{name}.svg"), drawn.svg.as_bytes())?;
    folder.write(&format!("{name}.png"), &drawn.png)?;
    Ok(name)
}

/// A figure that the sweep file asks for.
pub(crate) fn draw(
    folder: &Folder,
    manifest: &Manifest,
    data: &Data,
    wanted: &PlotSpec,
) -> Result<(), Failure> {
    let wishes = Wishes {
        x: wanted.x.as_deref(),
        y: wanted.y.as_deref(),
        panels: wanted.panels.as_deref(),
        heat: wanted.heat,
        log: wanted.log,
    };
    let scope = wanted.scope.as_deref().unwrap_or(OVERALL);
    figure(folder, manifest, data, (&wanted.metric, scope), wishes, Vec::new()).map(drop)
}

/// A figure that the sweep file asks for, as text: what it shows, and its SVG.
pub(super) fn shown(
    manifest: &Manifest,
    data: &Data,
    wanted: &PlotSpec,
) -> Result<(String, String), Failure> {
    let wishes = Wishes {
        x: wanted.x.as_deref(),
        y: wanted.y.as_deref(),
        panels: wanted.panels.as_deref(),
        heat: wanted.heat,
        log: wanted.log,
    };
    let scope = wanted.scope.as_deref().unwrap_or(OVERALL);
    scope_of(data, scope)?;
    let request = Request::new(&manifest.frame, metric_of(&wanted.metric)?, scope, wishes, Vec::new());
    let request = request.map_err(Failure::bad_input)?;
    let about = METRICS[request.metric].about;
    Ok((format!("{}, {scope}: {about}", wanted.metric), drawing(&manifest.frame, data, &request, "").svg))
}

/// `riosim sweep plot`
pub(crate) fn plot(args: &PlotArgs) -> Result<(), Failure> {
    let folder = Folder::at(&args.folder);
    let manifest = folder.manifest()?;
    // a look at what is there so far is worth a lot
    let (data, _) = folder.finished(&manifest, Earlier::Accept)?.data(&manifest);
    let fixed: Result<Vec<(usize, u32)>, Failure> =
        args.fixed.iter().map(|text| fixed(&manifest.frame, text)).collect();
    let wishes = Wishes {
        x: args.x.as_deref(),
        y: args.y.as_deref(),
        panels: args.panels.as_deref(),
        heat: args.heat,
        log: args.log,
    };
    let name = figure(&folder, &manifest, &data, (&args.metric, &args.scope), wishes, fixed?)?;
    let words = METRICS[metric_of(&args.metric)?].words;
    let file = folder.path().join(name);
    print(&format!("drawn: {words} ({}), as {}.svg and .png\n", args.scope, file.display()))
}
