//! Words and flags of the command line.

pub(crate) mod sweep;

use analysis::review;
use analysis::trace::PacketName;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use models::run::{ListKind, PipelineMode, RunOptions};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use sweep::{CompareArgs, SweepArgs};

/// Deterministic simulator of RapidIO fabrics.
#[derive(Debug, Parser)]
#[command(
    name = "riosim",
    version,
    after_help = "riosim x.json is short for riosim run x.json.\n\nExit status: 0 all is well, 1 an \
                  invariant broke, 2 bad input, 3 a stall ended the run or a program waits for \
                  ever (goal), 4 a requirement of the scenario fails, 130 interrupted."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

/// The words of the command line, with the verb `run` where none is given (`sweep x.json` likewise).
pub(crate) fn with_verb(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.collect();
    let first = words.get(1).map(|word| word.to_string_lossy().into_owned());
    let command = Cli::command();
    let known = |word: &str| {
        command.get_subcommands().any(|verb| verb.get_name() == word)
            || ["help", "-h", "--help", "-V", "--version"].contains(&word)
    };
    if first.as_deref() == Some("sweep") {
        let sweep = command.find_subcommand("sweep").expect("a verb");
        let second = words.get(2).map(|word| word.to_string_lossy().into_owned());
        let known = |word: &str| {
            sweep.get_subcommands().any(|verb| verb.get_name() == word)
                || ["help", "-h", "--help"].contains(&word)
        };
        if second.is_some_and(|word| !known(&word)) {
            words.insert(2, "run".into());
        }
    } else if first.is_some_and(|word| !known(&word)) {
        words.insert(1, "run".into());
    }
    words
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Run a scenario and write its results
    Run(RunArgs),
    /// Write one HTML file about result folders, to be mailed and opened anywhere
    Report(ReportArgs),
    /// Say what binds a flow of a run, or fills a link
    Why(WhyArgs),
    /// Print what happens in a run, event by event, or the life of one packet
    Trace(Box<TraceArgs>),
    /// Check a scenario and say what it comes to, without running it
    Check(CheckArgs),
    /// Print or write a scenario to start from
    Init(InitArgs),
    /// List what scenarios can name
    List {
        /// What to list
        what: Listing,
    },
    /// Simulate many points of a scenario: sweep x.json
    Sweep(SweepArgs),
    /// Compare two sweeps, or two parts of one, by paired differences
    Compare(CompareArgs),
    /// Compare the simulator with literature, the standard and arithmetic
    Validate(ValidateArgs),
    /// Print the JSON Schema of scenario files
    Schema,
    /// Explore every interleaving of a small system and count what they end in
    Explore(ExploreArgs),
    /// Say how long a program (a GOAL file) takes without a fabric, by the LogGOPS model
    Goal(GoalArgs),
    /// Print the fields of octets from the wire as JSON
    Decode {
        /// Format: lp-serial, packet, riocm, smp, st or voq
        format: String,
        /// Octets in hex, for example 803fc1041862; a form can stand in front, as in packet:000A...
        #[arg(required = true)]
        hex: Vec<String>,
    },
    /// Turn what decode prints, from standard input, back into hex
    Encode {
        /// Format: lp-serial, packet, riocm, smp, st or voq
        format: String,
    },
}

/// Flags of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Result folders of runs and of sweeps
    #[arg(value_name = "RESULTS", required = true)]
    pub results: Vec<PathBuf>,
    /// File to write, or - for standard output
    #[arg(long, short, value_name = "FILE", default_value = "review.html")]
    pub output: PathBuf,
    /// Parts of a run that the slider shows at most: fewer make the page smaller
    #[arg(
        long,
        value_name = "N",
        default_value_t = review::FRAMES as u8,
        value_parser = clap::value_parser!(u8).range(1..=review::FRAMES as i64)
    )]
    pub frames: u8,
    /// Print the page to this file, too, as PDF; a Chromium has to be installed
    #[arg(long, value_name = "FILE")]
    pub pdf: Option<PathBuf>,
}

/// Flags of `why`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("asked").required(true).multiple(true)))]
pub(crate) struct WhyArgs {
    /// Result folder of a run
    #[arg(value_name = "RESULTS")]
    pub results: PathBuf,
    /// Flows that match a pattern: why they take so long
    #[arg(long, value_name = "PATTERN", group = "asked")]
    pub flow: Vec<String>,
    /// Links of which the name, or a device or port at an end, matches a pattern: who is on them
    #[arg(long, value_name = "PATTERN", group = "asked")]
    pub link: Vec<String>,
    /// Variant (default: all)
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
}

/// What `explore` explores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    /// Two nodes establish a conduit (session management, Annex 2 §3.4).
    Conduit,
    /// Two nodes connect, exchange messages, restart (LINX RapidIO connection manager).
    Linx,
    /// Two ends connect, write two Blocks or change a word, part (Scheduled Transfer).
    Transfer,
    /// Where STUs lie in buffers (Scheduled Transfer, Figure 11).
    Packing,
    /// The conduit that a scenario opens.
    Scenario(PathBuf),
}

impl FromStr for Subject {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "conduit" => Ok(Self::Conduit),
            "linx" => Ok(Self::Linx),
            "transfer" => Ok(Self::Transfer),
            "packing" => Ok(Self::Packing),
            file if Path::new(file).extension().is_some_and(|extension| extension == "json") => {
                Ok(Self::Scenario(file.into()))
            }
            _ => Err("expected conduit, linx, transfer, packing, or a scenario file (*.json) with sessions"),
        }
    }
}

/// Flags of `explore`.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// conduit: two nodes establish a conduit (session management); linx: two nodes connect, exchange
    /// messages, restart; transfer: two ends connect, write two Blocks or change a word, part (Scheduled
    /// Transfer); packing: nothing is explored, but drawn where STUs lie in buffers (Scheduled Transfer); or
    /// a scenario file: the conduit that it opens, with its accidents at any message
    #[arg(value_name = "SUBJECT")]
    pub subject: Subject,
    /// Of conduit: literal, minimal, corrected (default: all)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub algorithm: Vec<String>,
    /// What goes wrong: none, LOSS1, RETX1, DUP1, RESTART1, ... (default: none)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub fault: Vec<String>,
    /// Of conduit: MS, PEERS, CROSS; of transfer: connection, write, read, put, get,
    /// fetch-op, common (default: all)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub configuration: Vec<String>,
    /// Order of delivery: fifo, any (default: both)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub order: Vec<String>,
    /// Of a scenario: variants of it (default: all)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub variant: Vec<String>,
    /// Of conduit: OPENs beyond which a run is cut and called a storm (default: 6); of linx:
    /// connects beyond which it is cut (default: 9 in order, 3 in any order)
    #[arg(long, value_name = "N")]
    pub limit: Option<u32>,
    /// Print a shortest run that ends like this instead of the table: one, none, duplicate, leak,
    /// half-open, orphan, storm; up, missing, stuck, disagreement, message, contract, cut; of transfer done,
    /// given up, stuck, octets, twice, contract, logged, invariant
    #[arg(long, value_name = "CLASS")]
    pub path: Option<String>,
    /// Write that run to a folder: path.svg, path.png and path.txt show it; path.json replays one of conduits
    /// in the simulator. Of conduits without --path: a shortest run to each bad ending, each to a folder in
    /// it
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Flags of `validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Only the cases that take less than a minute together
    #[arg(long)]
    pub quick: bool,
    /// Only these cases, by name
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub case: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write validation.md and validation.svg to a folder
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// Flags of `goal`.
#[derive(Debug, Args)]
pub(crate) struct GoalArgs {
    /// GOAL file
    pub file: PathBuf,
    /// L: from sender to receiver
    #[arg(long, value_name = "TIME", default_value = "200 ns")]
    pub latency: String,
    /// o: processor time of a message, at either end
    #[arg(long, value_name = "TIME", default_value = "0 ns")]
    pub overhead: String,
    /// g: from one message to the next at a NIC
    #[arg(long, value_name = "TIME", default_value = "0 ns")]
    pub gap: String,
    /// G: each octet after the first, at a NIC
    #[arg(long, value_name = "TIME", default_value = "1 ns")]
    pub gap_per_octet: String,
    /// O: each octet after the first, at a processor
    #[arg(long, value_name = "TIME", default_value = "0 ns")]
    pub overhead_per_octet: String,
    /// S: the sends of longer messages are over when they are received (default: of none)
    #[arg(long, value_name = "OCTETS")]
    pub eager: Option<u64>,
    /// By which rules
    #[arg(long, value_name = "RULES", default_value = "loggopsim")]
    pub rules: RulesArg,
    /// Print JSON, with every rank
    #[arg(long)]
    pub json: bool,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RulesArg {
    /// Those of LogGOPSim, to the nanosecond
    Loggopsim,
    /// Long messages ask for clearance; messages occupy the processor while they come in
    Processor,
    /// Long messages ask for clearance; messages occupy the processor when they are whole
    Pipelined,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Device presets
    Devices,
    /// Kinds of topology
    Topologies,
    /// Scenarios that come with the project
    Studies,
    /// Scenarios to start from (riosim init)
    Templates,
}

/// A scenario file and changes to it.
#[derive(Debug, Args)]
pub(crate) struct ScenarioArgs {
    /// Scenario file, or - for standard input
    #[arg(value_name = "SCENARIO")]
    pub scenario: PathBuf,
    /// Replace a value of the scenario: --set /traffic/0/arrivals/poisson/load=0.7
    #[arg(long = "set", value_name = "/POINTER=VALUE", value_parser = parse_set)]
    set: Vec<(String, Value)>,
    /// Seed of all randomness
    #[arg(long, value_parser = not_negative, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// End of the run, for example "5 ms"
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Permute the order of simultaneous events; 0 = as the rules say
    #[arg(
        long,
        value_name = "N",
        hide_short_help = true,
        value_parser = not_negative,
        allow_negative_numbers = true
    )]
    shake: Option<u64>,
}

impl ScenarioArgs {
    /// Changes in the order in which they apply: flags of their own win over `--set`.
    pub fn overrides(&self) -> Vec<(String, Value)> {
        let own = [
            ("/seed", self.seed.map(Value::from)),
            ("/run/until", self.until.clone().map(Value::from)),
            ("/shake", self.shake.map(Value::from)),
        ];
        let own = own.into_iter().filter_map(|(pointer, value)| Some((pointer.to_string(), value?)));
        self.set.iter().cloned().chain(own).collect()
    }
}

/// A scenario of which a part is measured.
#[derive(Debug, Args)]
pub(crate) struct MeasuredArgs {
    #[command(flatten)]
    whole: ScenarioArgs,
    /// What to cut off at the beginning: a time, or auto
    #[arg(long, value_name = "TIME")]
    warmup: Option<String>,
}

impl MeasuredArgs {
    pub fn file(&self) -> &Path {
        &self.whole.scenario
    }

    /// As [`ScenarioArgs::overrides`].
    pub fn overrides(&self) -> Vec<(String, Value)> {
        let warmup = self.warmup.clone().map(|time| ("/run/warmup".to_owned(), time.into()));
        self.whole.overrides().into_iter().chain(warmup).collect()
    }
}

/// Flags of `run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub scenario: MeasuredArgs,
    /// Result folder (default: results/ and the name of the scenario)
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print summary.json instead of tables
    #[arg(long)]
    pub json: bool,
    /// No progress bar and no tables
    #[arg(long, short)]
    pub quiet: bool,
    /// Show on the terminal how far it is, the busiest links, stopped queues and what protocols did; no
    /// result depends on it
    #[arg(long, conflicts_with = "quiet")]
    pub watch: bool,
    /// Keep the earlier results beside the new ones, as FOLDER.1, FOLDER.2, ...
    #[arg(long)]
    pub keep: bool,
    /// Draw no pictures (figures/, charts/), which take most of the time of a short run
    #[arg(long)]
    pub no_figures: bool,
    /// Event list of the kernel; no result depends on it
    #[arg(long, value_name = "KIND", default_value = "ring", hide_short_help = true)]
    event_list: EventListArg,
    /// How pipeline latency becomes events; no result depends on it
    #[arg(long, value_name = "MODE", default_value = "folded", hide_short_help = true)]
    pipeline: PipelineArg,
    /// Write every packet and control symbol as bytes at every hop, read it back and compare; no result
    /// depends on it
    #[arg(long, hide_short_help = true)]
    wire_check: bool,
    /// Variants to simulate at the same time (default: one for each core); no result depends on it
    #[arg(long, value_name = "N", hide_short_help = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Count events by kind, how the event list was used, and windows of a run on several threads: a table,
    /// and in perf.json; no result depends on it. Variants run one by one, unless --jobs says otherwise
    #[arg(long)]
    pub profile: bool,
    /// Say how long each variant would take on 2, 4, 16 and 64 cores, from what a run in parts on one core
    /// measures: a table, and in perf.json; no result depends on it. Variants run one by one, unless --jobs
    /// says otherwise
    #[arg(long, conflicts_with = "threads")]
    pub predict: bool,
    /// Threads for each variant, 0 = all cores (default: the cores that no variant takes, where several are
    /// faster); no result depends on it. What cannot be cut into parts runs on one thread, and says why
    #[arg(long, value_name = "N", hide_short_help = true)]
    threads: Option<u16>,
}

/// Cores of this machine, as far as it lets us use them.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl RunArgs {
    /// Threads for each variant, if somebody says how many.
    pub fn threads(&self) -> Option<usize> {
        self.threads.map(|threads| if threads == 0 { cores() } else { threads.into() })
    }

    /// What the kernel needs to know.
    pub fn options(&self) -> RunOptions {
        RunOptions {
            list: match self.event_list {
                EventListArg::Heap => ListKind::Heap,
                EventListArg::Ring => ListKind::Ring,
            },
            pipeline: match self.pipeline {
                PipelineArg::Folded => PipelineMode::Folded,
                PipelineArg::Unfolded => PipelineMode::Unfolded,
            },
            wire_check: self.wire_check,
            profile: self.profile,
        }
    }
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum EventListArg {
    /// Binary heap, the reference
    Heap,
    /// Bucket ring, the fast one
    Ring,
}

#[derive(Copy, Clone, Debug, ValueEnum)]
enum PipelineArg {
    /// One event for arrival and pipeline
    Folded,
    /// Every step is an event, the reference
    Unfolded,
}

/// Flags of `trace`.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Variant (default: the first)
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Print the life of this packet: 1 is the first that was created; or as the lines about stalls name it
    #[arg(
        long,
        value_name = "N|DEVICE:FLOW:N",
        value_parser = parse_packet,
        conflicts_with_all = ["only", "device", "flow", "from", "to", "limit"]
    )]
    pub packet: Option<PacketName>,
    /// Write what crosses the links to this file instead, in pcapng form: packets, control symbols, frames
    #[arg(long, value_name = "FILE", conflicts_with_all = ["packet", "only", "json", "limit"])]
    pub pcapng: Option<PathBuf>,
    /// Write ports, queues, staging, protocols and the ways of packets as tracks to this file, for Perfetto
    #[arg(long, value_name = "FILE", conflicts_with_all = ["packet", "only", "json", "limit", "pcapng"])]
    pub perfetto: Option<PathBuf>,
    /// Draw what the ends of protocols say to each other as a chart to this file: .svg, .png or .txt
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["packet", "only", "json", "limit", "pcapng", "perfetto"]
    )]
    pub chart: Option<PathBuf>,
    /// Only kinds of events: register, delivery, drop, edge, message, fact
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Only what happens at, or comes from, devices that match a pattern
    #[arg(long, value_name = "PATTERN")]
    pub device: Vec<String>,
    /// Only flows that match a pattern; register accesses belong to the flow enumeration
    #[arg(long, value_name = "PATTERN")]
    pub flow: Vec<String>,
    /// Only from this instant on
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Only up to this instant
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Most events to print; 0 = all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
    /// One JSON object for each event
    #[arg(long)]
    pub json: bool,
}

/// Flags of `check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub scenario: MeasuredArgs,
    /// Print the scenario with every default written out
    #[arg(long)]
    pub resolved: bool,
}

/// Flags of `init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Name of the template (riosim list templates)
    pub template: String,
    /// File to write (default: standard output); an existing file is not overwritten
    pub file: Option<PathBuf>,
}

fn parse_number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a number from 1 on".into()),
        Ok(number) => Ok(number),
    }
}

fn parse_packet(text: &str) -> Result<PacketName, String> {
    let Some((rest, number)) = text.rsplit_once(':') else {
        return parse_number(text).map(PacketName::Number);
    };
    let (device, flow) = rest.split_once(':').ok_or("expected a number, or DEVICE:FLOW:NUMBER")?;
    let number = u32::try_from(parse_number(number)?).map_err(|_| "there are not so many packets")?;
    Ok(PacketName::OfSource { device: device.into(), flow: flow.into(), number })
}

/// A number of 64 bits. clap would take `-1` for a flag.
fn not_negative(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

fn parse_set(text: &str) -> Result<(String, Value), String> {
    let (pointer, value) = text.split_once('=').ok_or("expected /POINTER=VALUE")?;
    if !pointer.starts_with('/') {
        return Err(format!("{pointer:?} is not a JSON pointer: it does not begin with /"));
    }
    // what is not JSON is a string: "6.25 Gbaud" needs no second pair of quotes
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((pointer.into(), value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The reference of the command line shows the help of every verb, and of every verb of a verb.
    #[test]
    fn no_verb_is_missing_in_the_reference() {
        let page = include_str!("../../docs/reference/command-line.md");
        let mut commands = vec![("riosim".to_owned(), Cli::command())];
        while let Some((name, command)) = commands.pop() {
            assert!(page.contains(&format!("\n## {name}\n")), "{name}");
            assert!(page.contains(&format!("\n$ {name} --help\n")), "{name}");
            commands.extend(
                command.get_subcommands().map(|verb| (format!("{name} {}", verb.get_name()), verb.clone())),
            );
        }
    }

    fn parse(words: &[&str]) -> Result<Verb, clap::Error> {
        Cli::try_parse_from(with_verb(words.iter().map(OsString::from))).map(|cli| cli.verb)
    }

    #[test]
    fn a_file_alone_is_a_run() {
        for words in [
            &["riosim", "x.json", "--seed", "7"][..],
            &["riosim", "--seed", "7", "x.json"],
            &["riosim", "run", "x.json", "--seed=7"],
        ] {
            let Ok(Verb::Run(run)) = parse(words) else { panic!("{words:?} is not a run") };
            assert_eq!(run.scenario.file(), Path::new("x.json"));
            assert_eq!(run.scenario.overrides(), [("/seed".to_string(), json!(7))]);
        }
        assert!(matches!(parse(&["riosim", "schema"]), Ok(Verb::Schema)));
        assert!(parse(&["riosim"]).is_err() && parse(&["riosim", "--seed", "7"]).is_err());
    }

    #[test]
    fn flags_win_over_set() {
        let words =
            ["riosim", "check", "x", "--until", "5 ms", "--set", "/run/until=1 ms", "--set", "/seed=3"];
        let Ok(Verb::Check(args)) = parse(&words) else { panic!("check") };
        let overrides = args.scenario.overrides();
        assert_eq!(overrides.last(), Some(&("/run/until".to_string(), json!("5 ms"))));
        assert_eq!(overrides[..2], [("/run/until".into(), json!("1 ms")), ("/seed".into(), json!(3))]);
    }

    /// What is no seed is told as such, and not taken for a flag.
    #[test]
    fn a_negative_seed_is_no_flag() {
        let error = parse(&["riosim", "check", "x", "--seed", "-1"]).unwrap_err().to_string();
        assert!(
            error.contains("'-1' for '--seed") && error.contains("from 0 to 18446744073709551615"),
            "{error}"
        );
    }

    /// One of two flags is wanted, and which.
    #[test]
    fn why_asks_for_a_flow_or_a_link() {
        let error = parse(&["riosim", "why", "x"]).unwrap_err().to_string();
        assert!(error.contains("--flow <PATTERN>|--link <PATTERN>"), "{error}");
        for words in [&["--flow", "a"][..], &["--link", "b"], &["--flow", "a", "--link", "b"]] {
            assert!(parse(&[&["riosim", "why", "x"], words].concat()).is_ok());
        }
    }

    #[test]
    fn values_are_json_or_text() {
        assert_eq!(parse_set("/a=1=2"), Ok(("/a".into(), json!("1=2"))));
        assert_eq!(parse_set("/a/0=[1,2]"), Ok(("/a/0".into(), json!([1, 2]))));
        assert_eq!(parse_set("/a=true"), Ok(("/a".into(), json!(true))));
        assert_eq!(parse_set("/a=6.25 Gbaud"), Ok(("/a".into(), json!("6.25 Gbaud"))));
        assert!(parse_set("a=1").is_err() && parse_set("/a").is_err());
    }
}
