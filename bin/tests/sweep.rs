//! Sweeps as a user meets them: the same bytes whoever simulated what, and nothing lost when it is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A place for one test.
struct Home {
    folder: tempfile::TempDir,
}

const RESULTS: [&str; 4] = ["results.csv", "results.parquet", "estimates.csv", "columns.json"];

/// One switch; a run takes about a millisecond of wall-clock time.
const SCENARIO: &str = r#"{
    "name": "small",
    "run": { "until": "20 us", "warmup": "2 us", "sample_every": "off" },
    "topology": { "single_switch": { "ports": 4 } },
    "parameters": { "load": ["/traffic/any/arrivals/poisson/load"] },
    "traffic": [
        { "name": "any", "from": "all", "to": { "uniform": {} }, "arrivals": { "poisson": { "load": 0.5 } } }
    ],
    "variants": [
        { "name": "fifo", "set": { "/switch/input": "fifo" } },
        { "name": "voq", "set": { "/switch/input": "voq" } }
    ]
}"#;

/// 2 variants x 6 loads x 2 depths; 5 replications, or as many as it takes.
const SWEEP: &str = r#"{
    "name": "small",
    "title": "A small sweep",
    "scenario": "small.json",
    "axes": [
        { "parameter": "load", "range": { "from": 0.2, "to": 0.7, "count": 6 } },
        { "name": "buffers", "pointer": "/switch/input_buffers", "values": [8, 16] }
    ],
    "replications": { "count": 5 },
    "plots": [{ "metric": "latency_mean_ns" }]
}"#;

const UNTIL_NARROW: &str = r#""replications": {
        "min": 3, "max": 12, "stop": { "metric": "latency_mean_ns", "half_width": "4 %" }
    }"#;

impl Home {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        home.write("small.json", SCENARIO);
        home.write("sweep.json", SWEEP);
        home.write("stop.json", &SWEEP.replace(r#""replications": { "count": 5 }"#, UNTIL_NARROW));
        home
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.at(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
        command.args(words).current_dir(self.folder.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Runs and expects exit status 0; gives standard output back.
    fn ok(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}\n{}", output.status, text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs and expects exit status 2; gives standard error back.
    fn refused(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
        said
    }

    /// All results of two folders are the same bytes.
    fn equal(&self, one: &str, other: &str) {
        for name in RESULTS {
            let read = |folder: &str| fs::read(self.at(folder).join(name)).unwrap();
            assert!(read(one) == read(other), "{name} of {other} differs");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

#[test]
fn threads_and_shards_do_not_show() {
    for sweep in ["sweep.json", "stop.json"] {
        let home = Home::new();
        home.ok(&["sweep", sweep, "--out", "one", "--quiet", "--jobs", "1"]);
        home.ok(&["sweep", sweep, "--out", "two", "--quiet", "--jobs", "2"]);
        home.equal("one", "two");
        // 8 shards, the last one first
        for shard in (0..8).rev() {
            home.ok(&["sweep", sweep, "--out", "eight", "--quiet", "--shard", &format!("{shard}/8")]);
        }
        assert_eq!(fs::read_dir(home.at("eight/tasks")).unwrap().count(), 8);
        home.ok(&["sweep", "merge", "eight", "--quiet"]);
        home.equal("one", "eight");
        let figure = "figures/latency_mean_ns-by-load-buffers-variant.svg";
        assert_eq!(home.read(&format!("one/{figure}")), home.read(&format!("eight/{figure}")));
        // another seed: a comparison that can fail
        home.write("other.json", &home.read(sweep).replacen('{', "{ \"seed\": 2,", 1));
        home.ok(&["sweep", "other.json", "--out", "other", "--quiet"]);
        assert_ne!(home.read("one/results.csv"), home.read("other/results.csv"));
    }
}

/// The results as rows of (column, cell).
fn rows(csv: &str) -> Vec<std::collections::BTreeMap<&str, &str>> {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines.map(|line| names.iter().copied().zip(line.split(',')).collect()).collect()
}

#[test]
fn replications_share_their_seeds_and_points_share_no_rows() {
    let home = Home::new();
    home.ok(&["sweep", "stop.json", "--out", "there", "--quiet"]);
    let csv = home.read("there/results.csv");
    let rows = rows(&csv);
    let mut seeds = std::collections::BTreeMap::new();
    let mut counts = std::collections::BTreeMap::new();
    for row in &rows {
        assert_eq!(*seeds.entry(row["replication"]).or_insert(row["seed"]), row["seed"]);
        *counts.entry((row["point"], row["scope"])).or_insert(0) += 1;
    }
    let different: std::collections::BTreeSet<&&str> = seeds.values().collect();
    assert_eq!(different.len(), seeds.len(), "every replication has a seed of its own");
    assert_eq!(counts.len(), 24 * 2, "24 points, each with overall and one flow");
    let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
    assert!(*least >= 3 && *most <= 12 && least < most, "the stop rule decides: {least} to {most}");
    // what a run of the same seed says by hand
    let row = rows.iter().find(|row| row["load"] == "0.5" && row["variant"] == "voq").unwrap();
    let words =
        ["small.json", "--json", "--out", "hand", "--seed", row["seed"], "--set", "/switch/input_buffers=8"];
    let summary: serde_json::Value = serde_json::from_str(&home.ok(&words)).unwrap();
    let mean = &summary["variants"][1]["overall"]["latency_ns"]["mean"]["value"];
    assert_eq!(mean.as_f64().unwrap(), row["latency_mean_ns"].parse::<f64>().unwrap());
}

/// Milliseconds that vary, the same way each time.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_millis(self.0 % below)
    }
}

/// Kills of `sweep run` at moments spread over its whole life: `RIOSIM_KILLS` of them, or a few.
#[cfg(unix)]
#[test]
fn kills_lose_nothing() {
    let kills = std::env::var("RIOSIM_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let home = Home::new();
    let sweep =
        SWEEP.replace("\"count\": 6 }", "\"count\": 51 }").replace("\"count\": 5 }", "\"count\": 12 }");
    home.write("sweep.json", &sweep);
    let begun = Instant::now();
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    let whole = begun.elapsed().as_millis() as u64;
    let mut moments = Moments(0x9E37_79B9_7F4A_7C15);
    let (mut met, mut records) = (0, 0);
    for _ in 0..kills {
        // a start takes some milliseconds that do no work: without them the sweep would never end
        let moment = Duration::from_millis(30) + moments.next((2 * whole / kills).max(20));
        let mut child = home.command(&["sweep", "sweep.json", "--out", "killed", "--quiet"]).spawn().unwrap();
        std::thread::sleep(moment);
        let early = child.try_wait().unwrap().is_none();
        met += u64::from(early);
        child.kill().unwrap();
        child.wait().unwrap();
        // a log only ever grows
        let log = fs::read(home.at("killed/tasks/0-of-1.log")).unwrap_or_default();
        let now = log.iter().filter(|octet| **octet == b'\n').count();
        assert!(now >= records, "{records} runs were durable, {now} are there");
        records = now;
    }
    home.ok(&["sweep", "sweep.json", "--out", "killed", "--quiet"]);
    home.equal("whole", "killed");
    let log = home.read("killed/tasks/0-of-1.log");
    let runs: Vec<&str> = log.lines().skip(1).collect();
    assert_eq!(runs.len(), 204 * 12, "a run is in the log once");
    eprintln!("{met} of {kills} kills met the sweep at work, {} runs", runs.len());
    assert!(met > 0, "no kill met the sweep at work");
}

/// Ctrl-C at moments spread over the life of a sweep: `RIOSIM_INTERRUPTS` of them, or a few.
#[cfg(unix)]
#[test]
fn interrupts_end_in_good_order() {
    let interrupts = std::env::var("RIOSIM_INTERRUPTS").ok().and_then(|text| text.parse().ok()).unwrap_or(5);
    let home = Home::new();
    let sweep =
        SWEEP.replace("\"count\": 6 }", "\"count\": 51 }").replace("\"count\": 5 }", "\"count\": 12 }");
    home.write("sweep.json", &sweep);
    let begun = Instant::now();
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    let whole = begun.elapsed().as_millis() as u64;
    let mut moments = Moments(0xD1B5_4A32_D192_ED03);
    let mut met = 0;
    for _ in 0..interrupts {
        let child =
            home.command(&["sweep", "sweep.json", "--out", "interrupted", "--quiet"]).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(40) + moments.next((2 * whole / interrupts).max(20)));
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).output();
        let output = child.wait_with_output().unwrap();
        let said = text(&output.stderr);
        match output.status.code() {
            Some(130) => {
                assert!(said.contains("the same command goes on") || said.contains("interrupted"), "{said}");
                met += 1;
            }
            // it was done, or not yet watching
            code => assert!(code == Some(0) || code.is_none(), "{code:?}: {said}"),
        }
    }
    home.ok(&["sweep", "sweep.json", "--out", "interrupted", "--quiet"]);
    home.equal("whole", "interrupted");
    eprintln!("{met} of {interrupts} interrupts met the sweep at work");
    assert!(met > 0, "no interrupt met the sweep at work");
}

#[test]
fn a_changed_scenario_is_refused_unless_asked() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet"]);
    // words may change, numbers may not
    home.write(
        "small.json",
        &SCENARIO.replace("\"name\": \"small\",", "\"name\": \"small\", \"title\": \"x\","),
    );
    let said = home.ok(&["sweep", "sweep.json", "--out", "there"]);
    assert!(said.contains("0 runs in") && said.contains("120 kept"), "{said}");
    home.write("small.json", &SCENARIO.replace("\"20 us\"", "\"21 us\""));
    let said = home.refused(&["sweep", "sweep.json", "--out", "there"]);
    assert!(said.contains("120 runs of something else: the scenario has changed"), "{said}");
    assert!(said.contains("--restart") && said.contains("--accept-changes"), "{said}");
    let before = home.read("there/results.csv");
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet", "--accept-changes"]);
    assert_eq!(before, home.read("there/results.csv"));
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet", "--restart"]);
    assert_ne!(before, home.read("there/results.csv"));
    // another seed is another experiment as well
    home.write("sweep.json", &SWEEP.replacen('{', "{ \"seed\": 7,", 1));
    let said = home.refused(&["sweep", "sweep.json", "--out", "there"]);
    assert!(said.contains("the seed was 1 and is 7"), "{said}");
    // another program: what a log says about it is text
    home.write("sweep.json", SWEEP);
    let manifest = home.read("there/sweep.json");
    let at = manifest.find("\"reference\":\"").unwrap() + 13;
    home.write("there/sweep.json", &format!("{}0000000000000000{}", &manifest[..at], &manifest[at + 16..]));
    let said = home.refused(&["sweep", "sweep.json", "--out", "there"]);
    assert!(said.contains("this build of riosim gives other results"), "{said}");
}

#[test]
fn a_sweep_that_grows_keeps_its_points() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "grown", "--quiet"]);
    let larger = SWEEP
        .replace("\"values\": [8, 16]", "\"values\": [8, 12, 16]")
        .replace("\"count\": 5 }", "\"count\": 6 }");
    home.write("sweep.json", &larger);
    let said = home.ok(&["sweep", "sweep.json", "--out", "grown"]);
    assert!(said.contains("(120 kept from before)"), "{said}");
    home.ok(&["sweep", "sweep.json", "--out", "fresh", "--quiet"]);
    home.equal("fresh", "grown");
}

#[test]
fn what_is_missing_is_said() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "part", "--quiet", "--shard", "1/3"]);
    let said = home.refused(&["sweep", "merge", "part"]);
    assert!(said.contains("16 of 24 points are not finished") && said.contains("--partial"), "{said}");
    home.ok(&["sweep", "merge", "part", "--partial", "--quiet"]);
    assert_eq!(rows(&home.read("part/results.csv")).len(), 8 * 5 * 2);
    let said = home.ok(&["sweep", "status", "part"]);
    assert!(said.contains("8 of 24 points are finished (33 %)"), "{said}");
    let said = home.refused(&["sweep", "cancel", "part"]);
    assert!(said.contains("never submitted"), "{said}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let home = Home::new();
    for (from, to, words) in [
        ("\"parameter\": \"load\"", "\"parameter\": \"laod\"", ["SW003", "did you mean \"load\"?"]),
        ("\"to\": 0.7", "\"to\": 1.7", ["/axes/0/range", "load"]),
        ("\"count\": 5", "\"count\": 0", ["/replications/count", "at least 1"]),
        ("\"latency_mean_ns\"", "\"latency_men_ns\"", ["SW008", "did you mean \"latency_mean_ns\"?"]),
        ("/switch/input_buffers", "/switch/input_bufers", ["/axes/1", "input_buffers"]),
        ("\"small.json\"", "\"smal.json\"", ["SW009", "smal.json"]),
        ("\"axes\"", "\"axis\"", ["SC004", "\"axes\"?"]),
        ("[8, 16]", "[8, 160]", ["/axes/1/values/1", "160"]),
    ] {
        home.write("wrong.json", &SWEEP.replace(from, to));
        let said = home.refused(&["sweep", "wrong.json", "--out", "there"]);
        assert!(words.iter().all(|word| said.contains(word)), "{to}: {said}");
        assert!(!home.at("there/results.csv").exists());
    }
    let said = home.refused(&["sweep", "sweep.json", "--shard", "8/8"]);
    assert!(said.contains("counted from 0"), "{said}");
    home.write("file", "mine");
    fs::create_dir(home.at("foreign")).unwrap();
    home.write("foreign/file", "mine");
    for out in ["file", "foreign"] {
        let said = home.refused(&["sweep", "sweep.json", "--out", out]);
        assert!(said.contains("is not the folder of a sweep"), "{said}");
    }
    assert_eq!(fs::read_dir(home.at("foreign")).unwrap().count(), 1);
}

#[test]
fn a_dry_run_lists_and_writes_nothing() {
    let home = Home::new();
    let before = fs::read_dir(home.folder.path()).unwrap().count();
    let said = home.ok(&["sweep", "sweep.json", "--dry-run"]);
    assert!(said.contains("24 points, 120 runs") && said.contains("variant"), "{said}");
    let said = home.ok(&["sweep", "stop.json", "--dry-run"]);
    assert!(said.contains("24 points, 72 to 288 runs"), "{said}");
    assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), before);
}

#[test]
fn slurm_scripts_without_slurm() {
    let home = Home::new();
    let words = ["sweep", "sweep.json", "--out", "it's here", "--engine", "slurm", "--no-submit"];
    home.ok(&[&words[..], &["--array-size", "8", "--mem", "2G", "--time", "1:00:00"]].concat());
    let array = home.read("it's here/slurm/array.sbatch");
    for line in ["#SBATCH --array=0-7", "#SBATCH --mem=2G", "#SBATCH --time=1:00:00", "#SBATCH --requeue"] {
        assert!(array.lines().any(|found| found == line), "{array}");
    }
    assert!(array.contains("--shard \"$SLURM_ARRAY_TASK_ID/8\""), "{array}");
    // what the script says is what a task does
    for task in 0..8 {
        let mut command = Command::new("sh");
        command.arg(home.at("it's here/slurm/array.sbatch")).env("SLURM_ARRAY_TASK_ID", task.to_string());
        assert!(command.status().unwrap().success());
    }
    assert!(Command::new("sh").arg(home.at("it's here/slurm/merge.sbatch")).status().unwrap().success());
    home.ok(&["sweep", "sweep.json", "--out", "alone", "--quiet"]);
    home.equal("alone", "it's here");
}

#[test]
fn comparisons_are_paired() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let said = home.ok(&["compare", "a:variant=fifo", "a:variant=voq", "--scope", "overall"]);
    assert!(said.contains("12 points in common"), "{said}");
    let line = |said: &str, metric: &str| {
        said.lines().find(|line| line.contains(&format!(" {metric} "))).unwrap_or_default().to_owned()
    };
    assert!(line(&said, "latency_mean_ns").ends_with("B is lower"), "{said}");
    assert!(line(&said, "offered_load").ends_with("equal"), "{said}");
    assert!(line(&said, "part_hol_blocking_ns").ends_with("B is lower"), "{said}");
    let json = home.ok(&["compare", "a:buffers=8", "a:buffers=16", "--json", "--metric", "goodput_gbps"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json[0]["pairs"].as_u64(), json[0]["replications"].as_u64()), (Some(60), Some(5)));
    let said = home.refused(&["compare", "a:variant=fifi", "a"]);
    assert!(said.contains("has no value \"fifi\""), "{said}");
    let said = home.refused(&["compare", "a:variant=fifo", "a"]);
    assert!(said.contains("different axes"), "{said}");
    home.ok(&["small.json", "--out", "run", "--quiet"]);
    let said = home.refused(&["compare", "a", "run"]);
    assert!(said.contains("folder of a single run"), "{said}");
}

#[test]
fn figures_on_demand() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let said = home.ok(&["sweep", "plot", "a", "--metric", "goodput_gbps", "--y", "buffers", "--heat"]);
    assert_eq!(said.trim(), "a/figures/goodput_gbps-by-load-buffers-variant.svg and .png");
    let said = home.ok(&["sweep", "plot", "a", "--scope", "any", "--x", "variant", "--where", "load=0.7"]);
    assert_eq!(said.trim(), "a/figures/latency_mean_ns-any-by-variant-buffers.svg and .png");
    for (words, expected) in [
        (["--metric", "godput_gbps"], "did you mean \"goodput_gbps\"?"),
        (["--scope", "an"], "there is no flow \"an\""),
        (["--x", "lode"], "there is no axis"),
        (["--where", "load=9"], "has no value \"9\""),
    ] {
        let said = home.refused(&[&["sweep", "plot", "a"], &words[..]].concat());
        assert!(said.contains(expected), "{words:?}: {said}");
    }
}

/// A log on a full disk: the message says so, nothing is lost, and the same command goes on when there is
/// room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_with_a_message_and_goes_on() {
    let home = Home::new();
    // a file that grows no further than this, for the process and what it starts
    let limited = |kib: u32| {
        let words = format!(
            "trap '' XFSZ; ulimit -f {kib}; exec {} sweep sweep.json --out small --quiet --jobs 1",
            env!("CARGO_BIN_EXE_riosim")
        );
        let mut command = Command::new("bash");
        command.args(["-c", &words]).current_dir(home.folder.path()).stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = limited(40);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot write the log of this sweep: File too large"), "{said}");
    assert!(said.contains("the same command goes on"), "{said}");
    let log = home.read("small/tasks/0-of-1.log");
    assert!(log.ends_with('\n') && log.lines().count() > 2, "{} lines", log.lines().count());
    home.ok(&["sweep", "sweep.json", "--out", "small", "--quiet"]);
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    home.equal("whole", "small");
}

/// One queue with a constant service time and random arrivals, at load 0.5: packets wait for T / 2 on average
/// (Pollaczek and Khinchine), where T is what a packet takes on the link.
const M_D_1: &str = r#"{
    "name": "m-d-1",
    "run": { "until": "150 us", "warmup": "30 us", "sample_every": "off" },
    "topology": { "single_switch": { "ports": 2 } },
    "switch": { "input_buffers": 60 },
    "traffic": [
        { "name": "one", "from": "ep/0", "to": "ep/1", "size": 256,
          "arrivals": { "poisson": { "load": 0.5 } } }
    ]
}"#;

/// A run of it: mean wait and the half width that the run gives of itself, and the true mean; nanoseconds.
fn m_d_1(replication: u32, until: &str) -> (f64, f64, f64) {
    use analysis::sweep::{measure, metric};
    use analysis::{Collector, CollectorConfig, RunData, VariantReport, Warmup};
    let seed = scenarios::sweep::replication_seed(1, replication);
    let set = [("/seed".to_owned(), seed.into()), ("/run/until".to_owned(), until.into())];
    let plan = scenarios::load(M_D_1, "m-d-1", &set).unwrap();
    let variant = &plan.variants[0];
    let collector = Collector::new(&CollectorConfig::new(&variant.config, variant.until));
    let mut simulation =
        models::Simulation::new(variant.config.clone(), models::run::RunOptions::default(), collector);
    let _ = simulation.run(variant.until, u64::MAX);
    let (collector, outcome) = simulation.finish();
    let scenarios::Warmup::Until(cut) = variant.warmup else { panic!("a fixed warm-up") };
    let report = VariantReport::new(RunData {
        name: "base".into(),
        config: variant.config.clone(),
        collector,
        outcome,
        warmup: Warmup::Fixed(cut.0),
        victims: Vec::new(),
        hot: Vec::new(),
    });
    let wait = measure(&report)[0].values[metric("part_source_queue_ns").unwrap()].unwrap();
    let delivered = &report.overall.delivered;
    let service = delivered.link_ps as f64 / delivered.packets as f64 / 1e3;
    // beyond the wait the latency is constant, so its interval is that of the wait
    (wait, report.overall.latency.mean.half_width / 1e3, service / 2.0)
}

/// Over 200 sweeps of 10 replications each, the 95 % interval covers the true mean in 90 to 99 % of cases;
/// and so does the interval that a longer run gives of itself, over 200 seeds.
#[test]
fn intervals_are_honest() {
    let share = |hits: Vec<bool>| hits.iter().filter(|hit| **hit).count() as f64 / hits.len() as f64;
    let runs: Vec<(f64, f64, f64)> = (1..=2_000).map(|replication| m_d_1(replication, "150 us")).collect();
    let hit = |group: &[(f64, f64, f64)]| {
        let values: Vec<f64> = group.iter().map(|run| run.0).collect();
        let mean = analysis::sweep::Mean::of(&values).unwrap();
        (mean.mean - group[0].2).abs() <= mean.half_width
    };
    let sweeps = share(runs.chunks(10).map(hit).collect());
    let alone = |replication| {
        let (wait, half_width, truth) = m_d_1(replication, "3 ms");
        (wait - truth).abs() <= half_width
    };
    let alone = share((1..=200).map(alone).collect());
    eprintln!("covered: {sweeps} by replications, {alone} by the batch means of a run");
    assert!((0.90..=0.99).contains(&sweeps), "intervals over replications cover {sweeps}");
    assert!((0.90..=0.99).contains(&alone), "intervals of single runs cover {alone}");
}

/// Where Python has one of the usual readers, it reads what we write.
#[test]
fn parquet_is_readable_elsewhere() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let python = std::env::var("RIOSIM_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = r#"
import csv, importlib.util, sys
path = sys.argv[1]
rows = list(csv.DictReader(open(path + ".csv")))
if importlib.util.find_spec("duckdb"):
    import duckdb
    columns = "load, variant, latency_mean_ns, saturated, seed"
    kind, table = "duckdb", duckdb.sql(f"select {columns} from '{path}.parquet'").fetchall()
elif importlib.util.find_spec("polars"):
    import polars
    frame = polars.read_parquet(path + ".parquet")
    kind, table = "polars", frame.select("load", "variant", "latency_mean_ns", "saturated", "seed").rows()
elif importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"):
    import pandas
    frame = pandas.read_parquet(path + ".parquet")
    kind, table = "pandas", frame[["load", "variant", "latency_mean_ns", "saturated", "seed"]].values.tolist()
else:
    print("none")
    sys.exit()
assert len(table) == len(rows) == 240, len(table)
for a, b in zip(table, rows):
    assert a[0] == float(b["load"]) and a[1] == b["variant"] and a[2] == float(b["latency_mean_ns"]), (a, b)
    assert a[3] == (b["saturated"] == "true") and a[4] == int(b["seed"]), (a, b)
print(kind)
"#;
    let output = Command::new(&python).args(["-c", script]).arg(home.at("a/results")).output();
    match output {
        Ok(output) if text(&output.stdout).trim() == "none" => {
            eprintln!("skipped: {python} has none of duckdb, polars, pandas with pyarrow");
        }
        Ok(output) => {
            let said = text(&output.stderr);
            assert!(output.status.success(), "{said}");
            eprintln!("read by {}", text(&output.stdout).trim());
        }
        Err(error) => eprintln!("skipped: {python}: {error}"),
    }
}

/// The studies that come with the project are well formed.
#[test]
fn the_studies_have_their_points() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sweeps");
    let home = Home::new();
    for (name, points) in
        [("latency-vs-load", "100 points, 500 runs"), ("voq-thresholds", "128 points, 384 runs")]
    {
        let path = folder.join(format!("{name}.json"));
        let said = home.ok(&["sweep", path.to_str().unwrap(), "--dry-run"]);
        assert!(said.contains(points), "{name}: {said}");
    }
}
