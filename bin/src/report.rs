//! `riosim report` and `riosim why`: what result folders say, as one page or in a few words.

use crate::cli::{ReportArgs, WhyArgs};
use crate::console::print;
use crate::status::Failure;
use crate::{paper, sweep, whole};
use analysis::review::{self, Question, Run, Talk, Variant};
use models::sim_core::path_hash;
use scenarios::{RunPlan, names, presets};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// Writes a page about result folders of runs and sweeps.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    for output in [Some(&args.output), args.pdf.as_ref()].into_iter().flatten() {
        if let Some(folder) = args.results.iter().find(|folder| is_result(folder, output)) {
            return Err(Failure::bad_input(format_args!(
                "{}: a file of the results in {}, of which the page tells; expected another file",
                output.display(),
                folder.display()
            )));
        }
    }
    let browser = args.pdf.as_ref().map(|_| paper::browser()).transpose()?;
    let (mut runs, mut sweeps) = (Vec::new(), Vec::new());
    for folder in &args.results {
        if folder.join(sweep::folder::MANIFEST).is_file() {
            sweeps.push(sweep::review(folder)?);
        } else {
            runs.push(read(folder)?);
        }
    }
    let page = review::page(&runs, &sweeps, env!("CARGO_PKG_VERSION"), args.frames.into());
    if page.len() > review::SIZE_MAX {
        return Err(Failure::bad_input(format_args!(
            "the page would have {} octets; allowed: {}; give fewer result folders",
            page.len(),
            review::SIZE_MAX
        )));
    }
    if args.output.as_os_str() == "-" {
        print(&page)?;
    } else {
        whole::write(&args.output, page.as_bytes())?;
        if args.output.is_file() {
            print(&format!("{} ({} KB)\n", args.output.display(), page.len().div_ceil(1_000)))?;
        }
    }
    if let (Some(file), Some(browser)) = (&args.pdf, &browser) {
        let octets = paper::print(browser, &page)?;
        whole::write(file, &octets)?;
        print(&format!("{} ({} KB)\n", file.display(), octets.len().div_ceil(1_000)))?;
    }
    Ok(())
}

/// Whether a file is one of a result folder, and no page about it.
fn is_result(folder: &Path, file: &Path) -> bool {
    let of = |path: &Path| path.canonicalize().ok();
    let is_page = file.extension().is_some_and(|ending| ending == "html" || ending == "pdf");
    !is_page && of(file).zip(of(folder)).is_some_and(|(file, folder)| file.starts_with(folder))
}

/// Says what binds a flow, or fills a link.
pub(crate) fn why(args: &WhyArgs) -> Result<(), Failure> {
    if args.results.join(sweep::folder::MANIFEST).is_file() {
        return Err(Failure::bad_input(format_args!(
            "{} is the folder of a sweep; expected one of a run",
            args.results.display()
        )));
    }
    let run = read(&args.results)?;
    let chosen: Vec<&Variant> = match &args.variant {
        None => run.variants.iter().collect(),
        Some(name) => {
            let found = run.variants.iter().find(|variant| variant.name == *name);
            let all: Vec<&str> = run.variants.iter().map(|variant| variant.name.as_str()).collect();
            vec![found.ok_or_else(|| {
                Failure::bad_input(format_args!("--variant: {name:?} found; allowed: {}", all.join(", ")))
            })?]
        }
    };
    let mut text = String::new();
    for variant in chosen {
        text += &review::why(&run, variant, &questions(args, variant)?);
    }
    print(&text)
}

/// What is asked of one variant: each flow and each link that a pattern matches.
fn questions(args: &WhyArgs, variant: &Variant) -> Result<Vec<Question>, Failure> {
    let select = |flag: &str, patterns: &[String], all: &[&str], is_named: &dyn Fn(usize, &str) -> bool| {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        names::select_by(patterns, all.len(), is_named).map_err(|pattern| {
            let known = scenarios::topology::shortened(all.iter().copied());
            let begins = all.iter().any(|name| name.starts_with(pattern.as_str()));
            let hint = if begins { format!("; did you mean \"{pattern}*\"?") } else { String::new() };
            Failure::bad_input(format_args!(
                "--{flag}: {pattern:?} matches nothing; there are: {known}{hint}"
            ))
        })
    };
    let flows: Vec<&str> = variant.config.flows.iter().map(|flow| flow.name.as_str()).collect();
    let links: Vec<&str> = variant.links.iter().map(String::as_str).collect();
    let of_flows = select("flow", &args.flow, &flows, &|at, pattern| names::matches(pattern, flows[at]))?;
    // A link is that of its ends, as in requirements.
    let end =
        |(device, port): (u32, u8)| (variant.config.devices[device as usize].path.as_str(), u32::from(port));
    let of_links = select("link", &args.link, &links, &|at, pattern| {
        let link = &variant.config.links[at];
        let all = names::of_link(links[at], [end(link.a), end(link.b)]);
        all.iter().any(|name| names::matches(pattern, name))
    })?;
    let asked = of_flows.into_iter().map(|flow| Question::Flow(flows[flow].to_owned()));
    Ok(asked.chain(of_links.into_iter().map(Question::Link)).collect())
}

/// Reads the folder of a run, and compiles its scenario once more.
fn read(folder: &Path) -> Result<Run, Failure> {
    let text = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|error| {
            Failure::bad_input(format_args!("{}: {error}; expected a result folder", path.display()))
        })
    };
    let json = |name: &str| -> Result<Value, Failure> {
        let wrong = |error| Failure::bad_input(format_args!("{}: {error}", folder.join(name).display()));
        serde_json::from_str(&text(name)?).map_err(wrong)
    };
    let text_if = |name: &str| folder.join(name).is_file().then(|| text(name)).transpose();
    let optional = |name: &str| folder.join(name).is_file().then(|| json(name)).transpose();
    let summary = json("summary.json")?;
    let resolved = text("resolved.json")?;
    let place = folder.join("resolved.json").display().to_string();
    let plan =
        scenarios::load(&resolved, &place, &[]).map_err(|errors| Failure::BadInput(errors.render()))?;
    let told: Vec<&str> = summary["variants"]
        .as_array()
        .map_or(&[][..], Vec::as_slice)
        .iter()
        .filter_map(|variant| variant["name"].as_str())
        .collect();
    let known: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    if told != known {
        return Err(Failure::bad_input(format_args!(
            "{}: summary.json tells of the variants {}, and resolved.json has {}",
            folder.display(),
            told.join(", "),
            known.join(", ")
        )));
    }
    let mut origin = optional("origin.json")?;
    let given = origin.as_mut().map(|origin| origin["given"].take()).filter(|given| !given.is_null());
    let version = origin.as_ref().and_then(|origin| Some(origin["riosim"].as_str()?.to_owned()));
    let hash = path_hash(&resolved);
    let resolved: Value = serde_json::from_str(&resolved).expect("it was read a moment ago");
    let run = Run {
        title: plan.title.clone(),
        description: plan.description.clone(),
        hash: format!("{:016x}", (hash >> 64) as u64 ^ hash as u64),
        version,
        summary,
        histograms: json("histograms.json")?,
        vendor: vendor(&resolved),
        resolved,
        given,
        congestion: optional("series/congestion.json")?,
        flows: text("series/flows.csv")?,
        fabric: text("series/fabric.csv")?,
        links: text("series/links.csv")?,
        conduits: text_if("series/conduits.csv")?.unwrap_or_default(),
        timeouts: text_if("series/timeouts.csv")?.unwrap_or_default(),
        talks: plan
            .variants
            .iter()
            .filter_map(|variant| {
                let text = text_if(&format!("charts/{}.txt", variant.name)).transpose()?;
                Some(text.map(|text| Talk { variant: variant.name.clone(), text }))
            })
            .collect::<Result<_, Failure>>()?,
        warnings: plan
            .warnings
            .items
            .iter()
            .map(|item| format!("{} {}: {}", item.code, item.pointer, item.message))
            .collect(),
        variants: variants(&plan),
    };
    review::check(&run)
        .map_err(|wrong| Failure::bad_input(format_args!("{}", folder.join(wrong).display())))?;
    Ok(run)
}

fn variants(plan: &RunPlan) -> Vec<Variant> {
    let loads = |variant: &scenarios::Variant| {
        variant.offered.iter().filter_map(|offered| Some((offered.flow, offered.load?))).collect()
    };
    let variant = |variant: &scenarios::Variant| Variant {
        name: variant.name.clone(),
        config: Arc::clone(&variant.config),
        links: variant.labels.links.clone(),
        loads: loads(variant),
    };
    plan.variants.iter().map(variant).collect()
}

/// Settings that the presets of a resolved scenario fix, with the values that they fix.
fn vendor(resolved: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (section, fixed) in [
        (
            "switch",
            resolved["switch"]["device"].as_str().and_then(presets::switch).map(|preset| {
                serde_json::to_value(preset.switch_settings()).expect("settings are JSON values")
            }),
        ),
        (
            "endpoint",
            resolved["endpoint"]["device"].as_str().and_then(presets::endpoint).map(|preset| {
                serde_json::to_value(preset.endpoint_settings()).expect("settings are JSON values")
            }),
        ),
    ] {
        // generic devices are nobody's
        if resolved[section]["device"] == "generic" {
            continue;
        }
        for (key, value) in fixed.as_ref().and_then(Value::as_object).into_iter().flatten() {
            match value {
                Value::Object(inner) => found.extend(
                    inner
                        .iter()
                        .filter(|(name, value)| resolved[section][key][name.as_str()] == **value)
                        .map(|(name, _)| format!("/{section}/{key}/{name}")),
                ),
                value if resolved[section][key] == *value => {
                    found.insert(format!("/{section}/{key}"));
                }
                _ => {}
            }
        }
    }
    found
}
