//! Verbs that look at scenarios without running them.

use crate::cli::{CheckArgs, InitArgs, Listing};
use crate::codec;
use crate::console::{colours, complain, print};
use crate::require;
use crate::status::Failure;
use scenarios::{Diagnostics, RunPlan, Variant};
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;

/// Reads and compiles a scenario; warnings go to standard error.
pub(crate) fn load(file: &Path, overrides: &[(String, Value)]) -> Result<RunPlan, Failure> {
    Ok(warned(compile(file, overrides)?))
}

/// A scenario as it is.
pub(crate) fn load_file(path: &Path) -> Result<RunPlan, Failure> {
    Ok(warned(compile(path, &[])?))
}

fn compile(path: &Path, overrides: &[(String, Value)]) -> Result<RunPlan, Failure> {
    let (text, name) = read(path)?;
    let plan = scenarios::load(&text, &name, overrides).and_then(require::checked);
    plan.map_err(|errors| Failure::BadInput(rendered(&errors)))
}

fn warned(plan: RunPlan) -> RunPlan {
    if !plan.warnings.items.is_empty() {
        complain(&rendered(&plan.warnings));
    }
    plan
}

pub(crate) fn rendered(findings: &Diagnostics) -> String {
    if colours() { findings.render_coloured() } else { findings.render() }
}

/// Longest input. The largest fabric, every link of it written out, is a tenth of this.
const INPUT_MAX: u64 = 1 << 28;

pub(crate) fn read(path: &Path) -> Result<(String, String), Failure> {
    let (source, name): (std::io::Result<Box<dyn Read>>, String) = if path == Path::new("-") {
        (Ok(Box::new(std::io::stdin().lock())), "standard input".into())
    } else {
        let file = std::fs::File::open(path).map(|file| Box::new(file) as Box<dyn Read>);
        (file, path.display().to_string())
    };
    let failed = |what: &dyn std::fmt::Display| Failure::bad_input(format_args!("{name}: {what}"));
    if path.is_dir() {
        return Err(failed(&"this is a folder; expected a file"));
    }
    let mut octets = Vec::new();
    let source = source.map_err(|error| failed(&error))?;
    source.take(INPUT_MAX + 1).read_to_end(&mut octets).map_err(|error| failed(&error))?;
    if octets.len() as u64 > INPUT_MAX {
        return Err(failed(&format_args!("longer than {} MiB", INPUT_MAX >> 20)));
    }
    let text = String::from_utf8(octets).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        failed(&format_args!("not text: the octet at offset {at} is not UTF-8"))
    })?;
    Ok((text, name))
}

/// `riosim check`: its report ends with the warnings.
pub(crate) fn check(args: &CheckArgs) -> Result<(), Failure> {
    if args.resolved {
        return print(&load(args.scenario.file(), &args.scenario.overrides())?.resolved);
    }
    let plan = compile(args.scenario.file(), &args.scenario.overrides())?;
    let offered = |variant: &Variant| {
        let known = variant.offered.iter().filter_map(|own| Some((own.flow, own.load?)));
        analysis::review::offered(&variant.config, &known.collect())
    };
    print(&scenarios::check_report_with(&plan, &offered))
}

/// `riosim init`
pub(crate) fn init(args: &InitArgs) -> Result<(), Failure> {
    let all = scenarios::templates();
    let Some(template) = all.iter().find(|template| template.name == args.template) else {
        let names: Vec<&str> = all.iter().map(|template| template.name).collect();
        let meant = scenarios::diagnostic::closest(&args.template, names.iter().copied());
        let meant = meant.map_or_else(|| ".".into(), |name| format!("; did you mean {name:?}?"));
        let names = names.join(", ");
        return Err(Failure::bad_input(format_args!(
            "there is no template {:?}{meant} There are: {names}",
            args.template
        )));
    };
    let Some(path) = &args.file else { return print(template.text) };
    // create_new: a scenario that somebody worked on is not a thing to overwrite
    let made = std::fs::File::create_new(path).and_then(|mut file| {
        let done = file.write_all(template.text.as_bytes());
        // nor is a half of one a thing to leave
        if done.is_err() { std::fs::remove_file(path).and(done) } else { done }
    });
    made.map_err(|error| Failure::bad_input(format_args!("{}: {error}", path.display())))
}

/// `riosim list`
pub(crate) fn list(what: Listing) -> Result<(), Failure> {
    let line = |name: &str, about: &str| format!("{name:<32} {about}\n");
    print(&match what {
        Listing::Devices => scenarios::list_devices(),
        Listing::Topologies => scenarios::list_topologies(),
        Listing::Studies => scenarios::STUDIES.iter().map(|study| line(study.file, &study.title())).collect(),
        Listing::Templates => {
            scenarios::templates().iter().map(|template| line(template.name, template.about)).collect()
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
