//! `riosim trace`: what happens in a run, event by event, and the life of one packet.

use crate::cli::TraceArgs;
use crate::console::{complain, print};
use crate::inspect::load;
use crate::status::Failure;
use crate::whole;
use analysis::capture::Capture;
use analysis::chart::{Chart, Conversation};
use analysis::num::counted_text;
use analysis::perfetto::Tracks;
use analysis::trace::{Census, Filter, Kind, Life, PacketName, Tracer};
use models::config::FabricConfig;
use models::run::{PipelineMode, Progress, RunOptions};
use models::sim_core::Time;
use models::{Probe, Watched};
use scenarios::{Variant, names, units};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Events between two looks at what was found.
const SLICE: u64 = 1 << 14;

/// Prints a trace.
pub(crate) fn trace(args: &TraceArgs) -> Result<(), Failure> {
    let written = [("pcapng", &args.pcapng), ("perfetto", &args.perfetto), ("chart", &args.chart)];
    for (flag, file) in written {
        let real = |file: &Path| file.canonicalize().ok();
        let Some(file) = file else { continue };
        if real(file).is_some_and(|file| Some(file) == real(&args.scenario.scenario)) {
            let name = file.display();
            return Err(Failure::bad_input(format_args!(
                "--{flag}: {name} is the scenario; expected another file"
            )));
        }
    }
    let plan = load(&args.scenario.scenario, &args.scenario.overrides())?;
    let variant = match &args.variant {
        None => &plan.variants[0],
        Some(name) => plan.variants.iter().find(|variant| variant.name == *name).ok_or_else(|| {
            let all: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
            Failure::bad_input(format_args!("--variant: {name:?} found; allowed: {}", all.join(", ")))
        })?,
    };
    // Nobody looks at queues here.
    let mut config = (*variant.config).clone();
    config.sample_every = None;
    if let Some(file) = &args.chart {
        return chart(args, (&plan.name, variant), config, file);
    }
    if let Some(file) = &args.pcapng {
        return capture(args, variant, config, file);
    }
    let config = Arc::new(config);
    if let Some(file) = &args.perfetto {
        return tracks(args, variant, &config, file);
    }
    let text = match &args.packet {
        Some(name) => life(variant, &config, name, args.json)?,
        None => {
            let limit = if args.limit == 0 { usize::MAX } else { args.limit };
            let filter = filter(args, variant, &config)?;
            let to = filter.to;
            let tracer = Tracer::new(Arc::clone(&config), filter);
            let enough = |tracer: &Tracer, now: Time| {
                let late = to.0.saturating_add(analysis::trace::margin(&config));
                now.0 > late || limit < usize::MAX && tracer.settled(now) > limit
            };
            run(variant, &config, tracer, enough).tell(limit, args.json)
        }
    };
    if text.is_empty() {
        complain("nothing that the flags ask for happens in the run\n");
    }
    print(&text)
}

/// Writes what crosses links to a file.
fn capture(
    args: &TraceArgs,
    variant: &Variant,
    mut config: FabricConfig,
    file: &Path,
) -> Result<(), Failure> {
    Capture::prepare(&mut config);
    let config = Arc::new(config);
    let filter = filter(args, variant, &config)?;
    let to = filter.to;
    let late = |_: &Capture, now: Time| now > to;
    let capture = run(variant, &config, Capture::new(Arc::clone(&config), filter), late);
    let words = capture.words();
    whole::write(file, &capture.to_pcapng())?;
    print(&format!("{} holds {words}\n", file.display()))
}

/// Writes tracks over time to a file.
fn tracks(
    args: &TraceArgs,
    variant: &Variant,
    config: &Arc<FabricConfig>,
    file: &Path,
) -> Result<(), Failure> {
    let filter = filter(args, variant, config)?;
    let to = filter.to;
    let late = |_: &Tracks, now: Time| now > to;
    let (octets, events) = run(variant, config, Tracks::new(Arc::clone(config), filter), late).to_protobuf();
    whole::write(file, &octets)?;
    let events = counted_text(events as u64, "events");
    print(&format!("{} holds {events} for the page ui.perfetto.dev\n", file.display()))
}

/// Draws what the ends of protocols say to each other.
fn chart(
    args: &TraceArgs,
    (scenario, variant): (&str, &Variant),
    mut config: FabricConfig,
    file: &Path,
) -> Result<(), Failure> {
    let ending = file.extension().and_then(|ending| ending.to_str());
    let draw: fn(&Chart) -> Vec<u8> = match ending {
        Some("svg") => |chart| chart.to_svg().into_bytes(),
        Some("png") => Chart::to_png,
        Some("txt") => |chart| chart.to_text().into_bytes(),
        _ => {
            let name = file.display();
            return Err(Failure::bad_input(format_args!(
                "--chart: {name} found; allowed: .svg, .png or .txt"
            )));
        }
    };
    if !Conversation::prepare(&mut config) {
        let why = match config.translation.translators.is_empty() {
            true => "no flow of the scenario has linx, session or st",
            false => "what passes a translator is not in a chart",
        };
        return Err(Failure::bad_input(format_args!("--chart: {why}")));
    }
    let config = Arc::new(config);
    let filter = filter(args, variant, &config)?;
    let to = filter.to;
    let late = |_: &Conversation, now: Time| now > to;
    let told = run(variant, &config, Conversation::new(Arc::clone(&config), filter), late);
    let version = env!("CARGO_PKG_VERSION");
    let stamp = format!("{scenario} · seed {} · riosim {version}", variant.config.seed);
    let chart = Chart { stamp, ..told.chart(scenario, &variant.name) };
    whole::write(file, &draw(&chart))?;
    print(&format!("{} shows the conversation: {}\n", file.display(), chart.told()))
}

/// Runs until the observer has enough, or to the end.
fn run<P: Probe + Send>(
    variant: &Variant,
    config: &Arc<FabricConfig>,
    probe: P,
    enough: impl Fn(&P, Time) -> bool,
) -> P {
    // Everything is an event then, so observers hear of it in time.
    let options = RunOptions { pipeline: PipelineMode::Unfolded, ..RunOptions::default() };
    let probe = Mutex::new(probe);
    let mut shared = &probe;
    let mut simulation = Watched::new(Arc::clone(config), options, &mut shared);
    while simulation.run(variant.until, SLICE) == Progress::Running {
        if enough(&probe.lock().expect("the run goes on"), simulation.now()) {
            break;
        }
    }
    simulation.finish();
    probe.into_inner().expect("the run is over")
}

fn life(
    variant: &Variant,
    config: &Arc<FabricConfig>,
    name: &PacketName,
    json: bool,
) -> Result<String, Failure> {
    let census = Census::new(Arc::clone(config), name.clone());
    let census = run(variant, config, census, Census::is_done);
    let all = census.len();
    let (id, number) = census.find().ok_or_else(|| match name {
        PacketName::Number(number) => {
            Failure::bad_input(format_args!("--packet: {number} found; allowed: 1 to {all}"))
        }
        PacketName::OfSource { device, flow, number } => Failure::bad_input(format_args!(
            "--packet: \"{device}\" sends no packet {number} in a flow \"{flow}\"; packets of all \
             protocols of a device are counted together, and so are those of the two halves of a hotspot"
        )),
    })?;
    // The same run once more: it is the same.
    let whole = config.devices.iter().any(|device| match &device.model {
        models::config::DeviceModel::Switch(switch) => !switch.routes.masks.is_empty(),
        models::config::DeviceModel::Endpoint(_) => false,
    });
    let life = run(variant, config, Life::new(id), |life, _| !whole && life.has_ended());
    Ok(life.tell(config, number, json))
}

fn filter(args: &TraceArgs, variant: &Variant, config: &FabricConfig) -> Result<Filter, Failure> {
    let time = |flag: &str, text: &Option<String>, or: Time| match text {
        None => Ok(or),
        Some(text) => {
            let parsed = units::time(text).map(Time);
            parsed.map_err(|why| Failure::bad_input(format_args!("--{flag}: {why}")))
        }
    };
    let kinds = args.only.iter().map(|wanted| {
        let known = Kind::ALL.into_iter().find(|kind| kind.name() == wanted);
        known.ok_or_else(|| {
            let all = Kind::ALL.map(Kind::name).join(", ");
            Failure::bad_input(format_args!("--only: {wanted:?} found; allowed: {all}"))
        })
    });
    let select = |flag: &str, patterns: &[String], all: Vec<&str>| {
        if patterns.is_empty() {
            return Ok(Vec::new());
        }
        let hits = names::select(patterns, &all)
            .map_err(|pattern| Failure::bad_input(format_args!("--{flag}: {pattern:?} matches nothing")))?;
        let mut wanted = vec![false; all.len()];
        hits.into_iter().for_each(|hit| wanted[hit] = true);
        Ok(wanted)
    };
    let (from, to) = (time("from", &args.from, Time::ZERO)?, time("to", &args.to, Time::MAX)?);
    if from > to {
        let (from, to) = (units::time_text(from.0), units::time_text(to.0));
        return Err(Failure::bad_input(format_args!("--from: {from} found; allowed: up to --to ({to})")));
    }
    if from > variant.until {
        let (from, end) = (units::time_text(from.0), units::time_text(variant.until.0));
        return Err(Failure::bad_input(format_args!(
            "--from: {from} found; allowed: up to the end of the run ({end})"
        )));
    }
    let devices = config.devices.iter().map(|device| device.path.as_str()).collect();
    let flows = config.flows.iter().map(|flow| flow.name.as_str()).collect();
    Ok(Filter {
        kinds: kinds.collect::<Result<_, _>>()?,
        devices: select("device", &args.device, devices)?,
        flows: select("flow", &args.flow, flows)?,
        from,
        to,
    })
}
