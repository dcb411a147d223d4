//! Verbs that look at scenarios without running them.

use crate::cli::{CheckArgs, InitArgs, Listing, ScenarioArgs};
use crate::codec;
use crate::console::{colours, complain, print};
use crate::status::Failure;
use scenarios::{Diagnostics, RunPlan};
use std::io::{Read, Write};
use std::path::Path;

/// Reads and compiles a scenario; warnings go to standard error.
pub(crate) fn load(args: &ScenarioArgs) -> Result<RunPlan, Failure> {
    let (text, name) = read(&args.scenario)?;
    let rendered = |findings: &Diagnostics| {
        if colours() { findings.render_coloured() } else { findings.render() }
    };
    let plan = scenarios::load(&text, &name, &args.overrides())
        .map_err(|errors| Failure::BadInput(rendered(&errors)))?;
    if !plan.warnings.items.is_empty() {
        complain(&rendered(&plan.warnings));
    }
    Ok(plan)
}

fn read(path: &Path) -> Result<(String, String), Failure> {
    if path == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().read_to_string(&mut text);
        read.map_err(|error| Failure::bad_input(format_args!("standard input: {error}")))?;
        return Ok((text, "standard input".into()));
    }
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Failure::bad_input(format_args!("{}: {error}", path.display())))?;
    Ok((text, path.display().to_string()))
}

/// `riosim check`
pub(crate) fn check(args: &CheckArgs) -> Result<(), Failure> {
    let plan = load(&args.scenario)?;
    print(&if args.resolved { plan.resolved } else { scenarios::check_report(&plan) })
}

/// `riosim init`
pub(crate) fn init(args: &InitArgs) -> Result<(), Failure> {
    let all = scenarios::templates();
    let Some(template) = all.iter().find(|template| template.name == args.template) else {
        let names: Vec<&str> = all.iter().map(|template| template.name).collect();
        let meant = scenarios::diagnostic::closest(&args.template, names.iter().copied());
        let meant = meant.map(|name| format!("; did you mean {name:?}?")).unwrap_or_default();
        let names = names.join(", ");
        return Err(Failure::bad_input(format_args!(
            "there is no template {:?}{meant} There are: {names}",
            args.template
        )));
    };
    let Some(path) = &args.file else { return print(template.text) };
    let failed = |error| Failure::bad_input(format_args!("{}: {error}", path.display()));
    // create_new: a scenario that somebody worked on is not a thing to overwrite
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    file.write_all(template.text.as_bytes()).map_err(failed)
}

/// `riosim list`
pub(crate) fn list(what: Listing) -> Result<(), Failure> {
    let pairs = |pairs: &mut dyn Iterator<Item = (&'static str, &'static str)>| -> String {
        pairs.map(|(name, about)| format!("{name:<32} {about}\n")).collect()
    };
    print(&match what {
        Listing::Devices => scenarios::list_devices(),
        Listing::Topologies => scenarios::list_topologies(),
        Listing::Studies => pairs(&mut scenarios::list_studies().iter().copied()),
        Listing::Templates => {
            pairs(&mut scenarios::templates().iter().map(|template| (template.name, template.about)))
        }
    })
}

/// `riosim schema`
pub(crate) fn schema() -> Result<(), Failure> {
    print(&scenarios::schema())
}

/// `riosim decode`
pub(crate) fn decode(format: &str, hex: &[String]) -> Result<(), Failure> {
    let text = codec::decode(format, &hex.join(" ")).map_err(Failure::bad_input)?;
    print(&(text + "\n"))
}

/// `riosim encode`
pub(crate) fn encode(format: &str) -> Result<(), Failure> {
    let (json, _) = read(Path::new("-"))?;
    let text = codec::encode(format, &json).map_err(Failure::bad_input)?;
    print(&(text + "\n"))
}
