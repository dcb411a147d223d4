//! Sweeps as a user meets them: the same bytes whoever simulated what, and nothing lost when it is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

mod honest;
mod interrupted;
mod studies;

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

/// Something to require.
const REQUIRED: &str = r#""require": [{ "flow": "any", "goodput": "< GBPS" }],"#;

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

/// A sweep whose requirements fail ended like one in which all hold. Four sources of at least a fifth of
/// links of 20 Gb/s get more than 1 Gb/s through, and not 100, in each of two runs at 24 points.
#[test]
fn requirements_that_fail_are_told_at_the_end() {
    for (limit, told) in [
        ("100 Gb/s", "Requirements of the scenario: PASS, all of them in all 48 runs."),
        ("1 Gb/s", "FAIL, one or more in 48 of 48 runs, at 24 points (column required_fail)."),
    ] {
        let home = Home::new();
        let required = REQUIRED.replace("GBPS", limit);
        home.write("small.json", &SCENARIO.replacen("\"run\"", &format!("{required} \"run\""), 1));
        home.write("sweep.json", &SWEEP.replace("5 }", "2 }"));
        let text = home.ok(&["sweep", "sweep.json", "--out", "study"]);
        assert!(text.contains(told), "{limit}: {text}");
    }
    // Nothing is said where nothing is required.
    let home = Home::new();
    assert!(!home.ok(&["sweep", "sweep.json", "--out", "study"]).contains("Requirements"));
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
    assert!(said.contains("0 runs in") && said.contains("120 runs kept"), "{said}");
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
    assert!(said.contains("(120 runs kept from before)"), "{said}");
    home.ok(&["sweep", "sweep.json", "--out", "fresh", "--quiet"]);
    home.equal("fresh", "grown");
}

/// Replications beyond the smallest number whose interval is narrow enough are discarded, wherever they came
/// from.
#[test]
fn what_was_simulated_beyond_the_stop_rule_does_not_count() {
    let home = Home::new();
    home.ok(&["sweep", "stop.json", "--out", "fresh", "--quiet", "--jobs", "1"]);
    home.write("all.json", &SWEEP.replace("\"count\": 5 }", "\"count\": 12 }"));
    home.ok(&["sweep", "all.json", "--out", "there", "--quiet"]);
    let all = rows(&home.read("there/results.csv")).len();
    let said = home.ok(&["sweep", "stop.json", "--out", "there"]);
    assert!(said.contains("0 runs in"), "{said}");
    home.equal("fresh", "there");
    assert_eq!(all, 24 * 12 * 2);
    let counted = rows(&home.read("there/results.csv")).len();
    assert!(counted < all);
    let law = format!("; 288 runs simulated so far, of which {} count\n", counted / 2);
    assert!(home.ok(&["sweep", "status", "there"]).contains(&law), "{law}");
}

/// A rule about what no run measures ends no point before `max`, and that is said.
#[test]
fn a_stop_rule_without_a_value_is_told() {
    let home = Home::new();
    let rule =
        r#""replications": { "min": 2, "max": 3, "stop": { "metric": "connections", "half_width": "5 %" } }"#;
    home.write("never.json", &SWEEP.replace(r#""replications": { "count": 5 }"#, rule));
    let said = home.ok(&["sweep", "never.json", "--out", "never"]);
    assert_eq!(rows(&home.read("never/results.csv")).len(), 24 * 3 * 2);
    assert!(said.contains("The stop rule says nothing about 24 points"), "{said}");
    assert!(said.contains("connections of overall") && said.contains("all 3 runs"), "{said}");
    let said = home.ok(&["sweep", "stop.json", "--out", "there"]);
    assert!(!said.contains("The stop rule says nothing"), "{said}");
}

/// Points that a stop rule leaves too wide are counted, at the end, by `status` and in a report, with the
/// widest: as the estimates have them, which are of all four runs then. A wider limit is met everywhere.
#[test]
fn points_that_a_stop_rule_leaves_too_wide_are_told() {
    let home = Home::new();
    let sweep = |name: &str, wanted: &str| {
        let rule = format!(
            r#""replications": {{
                "min": 3, "max": 4, "stop": {{ "metric": "latency_mean_ns", "half_width": "{wanted}" }}
            }}"#
        );
        home.write(&format!("{name}.json"), &SWEEP.replace(r#""replications": { "count": 5 }"#, &rule));
        home.ok(&["sweep", &format!("{name}.json"), "--out", name])
    };
    let said = sweep("strict", "4 %");
    let estimates = home.read("strict/estimates.csv");
    let number =
        |row: &std::collections::BTreeMap<&str, &str>, title: &str| row[title].parse::<f64>().unwrap();
    let share = |row: &std::collections::BTreeMap<&str, &str>| {
        number(row, "latency_mean_ns_ci95") / number(row, "latency_mean_ns")
    };
    let all = rows(&estimates);
    let wide: Vec<_> = all.iter().filter(|row| row["scope"] == "overall" && share(row) > 0.04).collect();
    assert!((1..24).contains(&wide.len()), "some of the points: {estimates}");
    let worst = wide.iter().max_by(|a, b| share(a).total_cmp(&share(b))).unwrap();
    let law = format!(
        "The stop rule is not met at {} of 24 points, which have all 4 runs: of latency_mean_ns of overall \
         it wants ± 4.0 % of its mean, and at the worst of them, point {}, there is ± {} of its mean.\n",
        wide.len(),
        worst["point"],
        analysis::num::share_text(share(worst))
    );
    assert!(said.contains(&law), "{law}{said}");
    assert!(home.ok(&["sweep", "status", "strict"]).contains(&law));
    home.ok(&["report", "strict", "-o", "strict.html"]);
    assert!(home.read("strict.html").contains(law.trim_end()));
    assert!(!sweep("loose", "10000 %").contains("stop rule"));
    assert!(!home.ok(&["sweep", "status", "loose"]).contains("stop rule"));
}

/// The figure of a flow was refused where no run has finished, after all tables were written.
#[test]
fn what_no_run_has_measured_is_merged_and_drawn_as_empty() {
    let home = Home::new();
    let plots = r#""plots": [{ "metric": "latency_mean_ns", "scope": "any" }]"#;
    home.write("any.json", &SWEEP.replace(r#""plots": [{ "metric": "latency_mean_ns" }]"#, plots));
    home.ok(&["sweep", "any.json", "--out", "none", "--quiet", "--shard", "29/30"]);
    home.ok(&["sweep", "merge", "none", "--partial", "--quiet"]);
    assert_eq!(home.read("none/results.csv").lines().count(), 1);
    let figure = home.read("none/figures/latency_mean_ns-any-by-load-buffers-variant.svg");
    assert!(figure.contains("no run has a value here"), "{figure}");
    for scope in ["any", "overall"] {
        let said = home.refused(&["sweep", "plot", "none", "--metric", "latency_mean_ns", "--scope", scope]);
        assert!(said.contains("no run is finished"), "{said}");
    }
}

/// What is for Slurm alone does nothing here, and a sweep that was to be submitted is not simulated here.
#[test]
fn flags_of_slurm_are_for_slurm() {
    let home = Home::new();
    for flag in [&["--no-submit"][..], &["--partition", "main"], &["--array-size", "3"], &["--mem", "1M"]] {
        let said = home.refused(&[&["sweep", "sweep.json", "--out", "there"], flag].concat());
        assert!(said.contains(&format!("{}: expected --engine slurm", flag[0])), "{said}");
    }
    assert!(!home.folder.path().join("there").exists());
}

#[test]
fn what_is_missing_is_said() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "part", "--quiet", "--shard", "1/3"]);
    let said = home.refused(&["sweep", "merge", "part"]);
    assert!(said.contains("16 of 24 points are not finished") && said.contains("--partial"), "{said}");
    let said = home.ok(&["sweep", "merge", "part", "--partial"]);
    assert!(
        said.contains("\n16 of 24 points are not finished: tables and figures have what there is\n"),
        "{said}"
    );
    assert_eq!(rows(&home.read("part/results.csv")).len(), 8 * 5 * 2);
    let said = home.ok(&["sweep", "status", "part"]);
    assert!(said.contains("8 of 24 points are finished (33 %); 40 runs simulated so far\n"), "{said}");
    // Two tasks are listed, each with its runs and the time they took.
    home.ok(&["sweep", "sweep.json", "--out", "part", "--quiet", "--shard", "0/3"]);
    let said = home.ok(&["sweep", "status", "part"]);
    let table: Vec<&str> = said.lines().skip(2).collect();
    assert!(table[0].trim_start().starts_with("task  finished runs  time they took"), "{said}");
    assert!(table[1].contains("0/3") && table[1].contains(" 40 ") && table[2].contains("1/3"), "{said}");
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

/// Loss of a link at 15 us, of a run of 20 us: points that end before it say so, once, and which they are. A
/// setting that only some of them use is no mistake; one that none uses is.
#[test]
fn what_the_scenario_says_to_points_is_told_once() {
    let home = Home::new();
    let outage = r#""faults": { "outages": [{ "link": "ep/1", "at": "15 us", "for": "1 us" }] },"#;
    let scenario = SCENARIO.replace(r#""parameters""#, &format!("{outage} \"parameters\""));
    home.write("late.json", &scenario);
    let until = |values: &str| {
        let axis = format!(r#"{{ "name": "until", "pointer": "/run/until", "values": {values} }}"#);
        let buffers = r#"{ "name": "buffers", "pointer": "/switch/input_buffers", "values": [8, 16] }"#;
        SWEEP
            .replace("small.json", "late.json")
            .replace(buffers, &axis)
            .replace("\"count\": 5", "\"count\": 2")
    };
    home.write("sweep.json", &until(r#"["10 us", "20 us"]"#));
    for words in [&["sweep", "sweep.json", "--dry-run"][..], &["sweep", "sweep.json", "--out", "there"]] {
        let output = home.run(words);
        let said = text(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.matches("15 us is after the run, which is over at 10 us").count(), 1, "{said}");
        let words: Vec<&str> = said.split_whitespace().filter(|word| *word != "│").collect();
        let words = words.join(" ");
        assert!(words.contains("(at load 0.2, until 10 us, variant fifo;"), "{said}");
        assert!(words.contains("and 9 more)"), "{said}");
    }
    // who goes on from there has been told
    let again = home.run(&["sweep", "sweep.json", "--out", "there"]);
    assert!(!text(&again.stderr).contains("after the run"), "{}", text(&again.stderr));
    home.write("late.json", &scenario.replace("20 us", "12 us"));
    assert!(home.ok(&["sweep", "sweep.json", "--dry-run"]).contains("24 points"));
    home.write("sweep.json", &until(r#"["10 us", "11 us"]"#));
    let said = home.refused(&["sweep", "sweep.json", "--dry-run"]);
    assert!(said.contains("SC120") && said.contains("/faults/outages/0/at"), "{said}");
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

/// A cluster that cannot be asked, or says what nobody understands, is no cluster without jobs: nothing is
/// submitted twice. Jobs that it has forgotten are over.
#[cfg(unix)]
#[test]
fn what_slurm_does_not_say_is_not_known() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let says = |program: &str, text: &str| {
        let path = home.at(program);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    let run = |words: &[&str]| {
        let path = format!("{}:{}", home.folder.path().display(), std::env::var("PATH").unwrap());
        let output = home.command(words).env("PATH", path).output().unwrap();
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    let submit = ["sweep", "sweep.json", "--out", "there", "--engine", "slurm"];
    says("squeue", ":");
    says("scancel", ":");
    says("sbatch", "echo hello");
    let (code, said) = run(&submit);
    assert!(code == Some(2) && said.contains("sbatch says \"hello\", and not the number of a job"), "{said}");
    says("sbatch", "echo submitted >> sbatch.log; echo 17");
    assert_eq!(run(&submit).0, Some(0));
    let submitted = || home.read("sbatch.log").lines().count();
    let before = submitted();
    says("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1");
    let (code, said) = run(&submit);
    assert!(code == Some(2) && said.contains("is not known") && said.contains("Unable to contact"), "{said}");
    let (_, said) = run(&["sweep", "status", "there"]);
    assert!(said.contains("whether Slurm still has job 17 is not known"), "{said}");
    assert_eq!(submitted(), before);
    says("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
    assert!(run(&["sweep", "status", "there"]).1.contains("Slurm has no job of this sweep any more"));
    assert_eq!((run(&submit).0, submitted()), (Some(0), 2 * before));
}

/// What is wrong with a point, and what the scenario says to one, is known before any task waits for its
/// turn.
#[test]
fn slurm_is_asked_for_nothing_that_is_wrong() {
    let home = Home::new();
    let words = |sweep| ["sweep", sweep, "--out", "there", "--engine", "slurm", "--no-submit"];
    home.write("wrong.json", &SWEEP.replace("[8, 16]", "[8, 0]"));
    let said = home.refused(&words("wrong.json"));
    assert!(said.contains("input_buffers") && said.contains("nothing was simulated"), "{said}");
    assert!(!home.at("there").exists(), "{said}");
    home.write("warned.json", &SWEEP.replace("[8, 16]", "[8, 5]"));
    let output = home.run(&words("warned.json"));
    let (told, law) = (text(&output.stderr), text(&home.run(&["sweep", "warned.json", "--dry-run"]).stderr));
    assert!(output.status.success() && told.contains("SC071") && told == law, "{told}\n{law}");
}

/// What is refused leaves no folder behind, and one that is there as it was.
#[test]
fn a_refused_sweep_writes_nothing() {
    let home = Home::new();
    let refused = |sweep: &str, why: &str| {
        home.write("wrong.json", sweep);
        let said = home.refused(&["sweep", "wrong.json", "--out", "there"]);
        assert!(said.contains(why), "{said}");
    };
    let wrong = SWEEP.replace("[8, 16]", "[8, 0]");
    refused(&wrong, "nothing was simulated");
    let largest = UNTIL_NARROW.replace("mean_ns", "max_ns");
    refused(&SWEEP.replace(r#""replications": { "count": 5 }"#, &largest), "SW007");
    assert!(!home.at("there").exists());
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet"]);
    let before = home.read("there/sweep.json");
    refused(&wrong, "nothing was simulated");
    assert_eq!(home.read("there/sweep.json"), before);
    assert!(fs::read_dir(home.at("there/figures")).unwrap().count() > 0);
}

/// Of a sweep that becomes another one in the same folder no figure stays that it would not draw.
#[test]
fn figures_are_those_of_the_sweep() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet"]);
    let figures = || {
        let names = fs::read_dir(home.at("there/figures")).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let first = figures();
    home.write("sweep.json", &SWEEP.replace("latency_mean_ns", "goodput_gbps"));
    home.ok(&["sweep", "sweep.json", "--out", "there", "--quiet"]);
    let second = figures();
    assert!(!first.is_empty() && !second.is_empty());
    assert!(first.iter().all(|name| !second.contains(name)), "{first:?} {second:?}");
}

/// All runs of before that count are kept, however many a point took.
#[test]
fn runs_that_are_kept_are_counted() {
    let home = Home::new();
    let first = home.ok(&["sweep", "stop.json", "--out", "there"]);
    let second = home.ok(&["sweep", "stop.json", "--out", "there"]);
    let runs = |said: &str, end: &str| -> u64 {
        let (before, _) = said.split_once(end).unwrap_or_else(|| panic!("{said}"));
        before.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let made = runs(&first, " runs in ");
    assert!(made > 24 * 3, "some points take more than the least: {first}");
    // what was begun in vain does not count
    let counted =
        home.read("there/results.csv").lines().filter(|line| line.contains(",overall,")).count() as u64;
    assert_eq!(
        (runs(&second, " runs in "), runs(&second, " runs kept from before")),
        (0, counted),
        "{second}"
    );
    assert!(counted <= made);
}

#[test]
fn comparisons_are_paired() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let said = home.ok(&["compare", "a:variant=fifo", "a:variant=voq", "--scope", "overall"]);
    let line = |said: &str, metric: &str| {
        said.lines().find(|line| line.contains(&format!(" {metric} "))).unwrap_or_default().to_owned()
    };
    // at the highest load less is done than asked for, and times are of what arrived
    let survivors = line(&said, "latency_mean_ns");
    assert!(survivors.ends_with("B is lower, of those that arrived: 98.3 % → 99.6 %"), "{said}");
    assert!(line(&said, "offered_load").ends_with("equal"), "{said}");
    assert!(line(&said, "part_hol_blocking_ns").contains("B is lower, of those that arrived"), "{said}");
    // Every metric of the table is explained below it, with its unit, and no other.
    let (table, below) = said.split_once("\nMeans over 12 points").unwrap();
    let metrics: Vec<&str> =
        table.lines().skip(4).map(|line| line.split_whitespace().nth(1).unwrap()).collect();
    let told: Vec<&str> =
        below.lines().filter_map(|line| line.strip_prefix("  ")?.split("  ").next()).collect();
    assert_eq!(metrics, told, "{said}");
    assert!(below.lines().any(|line| line.starts_with("  latency_p99_ns ") && line.ends_with(", in ns")));
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

/// Axes of a zip are one for every command: a value of one of them holds the other. In a sample a value may
/// be there twice, and another axis tells which is meant.
#[test]
fn axes_of_a_zip_are_one() {
    let home = Home::new();
    let zip = r#"{"zip": [{"pointer": "/switch/input_buffers", "name": "buffers", "values": [8, 16, 32]},
        {"pointer": "/links/length", "name": "length", "values": ["2 m", "4 m", "8 m"]}]}"#;
    let small = fs::read_to_string(home.at("small.json")).unwrap();
    let sweep = format!(
        r#"{{"name": "zip", "scenario": {small}, "axes": [{zip}],
        "plots": [{{"metric": "latency_mean_ns", "x": "buffers", "y": "length"}}]}}"#
    );
    home.write("zip.json", &sweep);
    let said = home.refused(&["sweep", "zip.json", "--out", "zip"]);
    assert!(said.contains("/plots/0") && said.contains("move together"), "{said}");
    home.write("zip.json", &sweep.replace(r#", "y": "length""#, ""));
    home.ok(&["sweep", "zip.json", "--out", "zip", "--quiet"]);
    for [a, b] in [["zip:buffers=8", "zip:length=8 m"], ["zip:buffers=8", "zip:buffers=16,length=4 m"]] {
        let said = home.ok(&["compare", a, b, "--metric", "latency_mean_ns"]);
        assert!(said.contains("\nMeans over 2 points "), "{said}");
    }
    let said = home.refused(&["compare", "zip:buffers=8", "zip:buffers=8,length=8 m"]);
    assert!(said.contains("no point has buffers=8, length=8 m"), "{said}");
    let drawn =
        ["sweep", "plot", "zip", "--metric", "latency_mean_ns", "--where", "buffers=8", "--x", "length"];
    let said = home.refused(&drawn);
    assert!(said.contains("\"length\" stands still: it moves together with \"buffers\""), "{said}");
    let sample = r#"{"sample": {"method": "sobol", "points": 4, "axes": [
        {"pointer": "/switch/input_buffers", "name": "buffers", "range": {"from": 8, "to": 9},
            "integer": true},
        {"parameter": "load", "range": {"from": 0.2, "to": 0.6}}]}}"#;
    home.write("some.json", &format!(r#"{{"name": "some", "scenario": {small}, "axes": [{sample}]}}"#));
    home.ok(&["sweep", "some.json", "--out", "some", "--quiet"]);
    let results = home.read("some/estimates.csv");
    let all = rows(&results);
    let load_of = |buffers| all.iter().find(|row| row["buffers"] == buffers).unwrap()["load"];
    let said = home.refused(&["compare", "some:buffers=8", "some:buffers=9"]);
    assert!(said.contains("buffers=8 is there more than once"), "{said}");
    let [a, b] = ["8", "9"].map(|buffers| format!("some:buffers={buffers},load={}", load_of(buffers)));
    assert!(home.ok(&["compare", &a, &b]).contains("\nMeans over 2 points "));
}

/// A figure that cannot be drawn is refused before anything runs, with its place.
#[test]
fn figures_are_checked_before_the_run() {
    let home = Home::new();
    let without = |plots: &str| {
        let scenario = SCENARIO.split("\"variants\"").next().unwrap().trim_end().trim_end_matches(',');
        format!(r#"{{ "name": "none", "scenario": {scenario} }}, "plots": {plots} }}"#)
    };
    home.write("none.json", &without(r#"[{ "metric": "latency_mean_ns" }]"#));
    let one = r#""plots": [{ "metric": "latency_mean_ns" }"#;
    let wrong =
        |more: &str| SWEEP.replace(one, &format!("{one}, {{ \"metric\": \"latency_mean_ns\"{more} }}"));
    home.write("twice.json", &wrong(r#", "scope": "overall""#));
    for (file, expected) in [
        ("none.json", "/plots/0: the sweep has no axis to draw along"),
        (
            "twice.json",
            "/plots/1: the figure would take the place of another one: figures/latency_mean_ns-by-",
        ),
    ] {
        for more in [&[][..], &["--dry-run"]] {
            let said = home.refused(&[&["sweep", file, "--out", "there"], more].concat());
            assert!(said.replace("\n  │ ", " ").contains(expected) && said.contains("SW008"), "{said}");
            assert!(!home.at("there").exists());
        }
    }
    home.write("other.json", &wrong(r#", "x": "variant""#));
    home.ok(&["sweep", "other.json", "--dry-run"]);
    home.write("none.json", &without("[]"));
    home.ok(&["sweep", "none.json", "--dry-run"]);
}

#[test]
fn figures_on_demand() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let said = home.ok(&["sweep", "plot", "a", "--metric", "goodput_gbps", "--y", "buffers", "--heat"]);
    assert_eq!(
        said.trim(),
        "drawn: goodput (overall), as a/figures/goodput_gbps-by-load-buffers-variant-heat.svg and .png"
    );
    let said = home.ok(&["sweep", "plot", "a", "--scope", "any", "--x", "variant", "--where", "load=0.7"]);
    assert_eq!(
        said.trim(),
        "drawn: mean latency (any), as a/figures/latency_mean_ns-any-by-variant-buffers-load-0.7.svg and .png"
    );
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

/// Where Python has some of the usual readers, all of them read what we write.
#[test]
fn parquet_is_readable_elsewhere() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "a", "--quiet"]);
    let python = std::env::var("RIOSIM_PYTHON").unwrap_or_else(|_| "python3".into());
    let script = r#"
import csv, importlib.util, sys
path = sys.argv[1]
rows = list(csv.DictReader(open(path + ".csv")))
columns = ["load", "variant", "latency_mean_ns", "saturated", "seed"]
readers = {}
if importlib.util.find_spec("duckdb"):
    import duckdb
    readers["duckdb"] = lambda: duckdb.sql(f"select {', '.join(columns)} from '{path}.parquet'").fetchall()
if importlib.util.find_spec("polars"):
    import polars
    readers["polars"] = lambda: polars.read_parquet(path + ".parquet").select(columns).rows()
if importlib.util.find_spec("pandas") and importlib.util.find_spec("pyarrow"):
    import pandas
    readers["pandas"] = lambda: pandas.read_parquet(path + ".parquet")[columns].values.tolist()
for name, read in readers.items():
    table = read()
    assert len(table) == len(rows) == 240, (name, len(table))
    for a, b in zip(table, rows):
        assert a[0] == float(b["load"]) and a[1] == b["variant"], (a, b)
        assert a[2] == float(b["latency_mean_ns"]), (a, b)
        assert a[3] == (b["saturated"] == "true") and a[4] == int(b["seed"]), (a, b)
print(", ".join(readers) or "none")
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
