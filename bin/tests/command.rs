//! The command as a user meets it: exit status, standard output, what is left on the disk.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A place for one test: scenarios in it, results below it.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
        command.args(words).current_dir(self.path()).stdin(Stdio::null());
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

    /// Everything in the folder, without what the test wrote itself.
    fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(self.path()).unwrap().to_path_buf());
                }
            }
        }
        found.sort();
        found
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

/// The third packet and the tenth symbol are there to be damaged, the millionth packet is not: that is told.
#[test]
fn damage_that_never_strikes_is_told() {
    let home = Home::new();
    let hit =
        |what: &str, nth: u64| format!(r#"{{"device": "sw", "port": 3, "what": "{what}", "nth": {nth}}}"#);
    for (hits, law) in [
        (vec![hit("packet", 3), hit("symbol", 10), hit("packet", 1_000_000)], Some(1)),
        (vec![hit("packet", 1_000_000), hit("symbol", 1_000_000)], Some(2)),
        (vec![hit("packet", 3), hit("symbol", 10)], None),
    ] {
        let scenario = format!(
            r#"{{"name": "x", "run": {{"until": "50 us", "warmup": "0 ps"}},
            "topology": {{"single_switch": {{"ports": 4}}}},
            "traffic": [
                {{"name": "f", "from": "ep/0", "to": "ep/3",
                  "arrivals": {{"constant": {{"interval": "1 us"}}}}}}
            ],
            "faults": {{"corrupt": [{}]}}}}"#,
            hits.join(", ")
        );
        home.write("x.json", &scenario);
        let out = format!("x{}", law.unwrap_or(0));
        let said = home.ok(&["x.json", "--no-figures", "--out", &out]);
        let summary = fs::read_to_string(home.path().join(out).join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        let links = &summary["variants"][0]["links"];
        assert_eq!(links["never_struck"].as_u64(), law, "{hits:?}: {links}");
        let told = law.map(|count| format!("packets or symbols to be damaged were never sent: {count}"));
        assert!(told.iter().all(|told| said.contains(told)), "{said}");
        assert_eq!(said.contains("never sent"), law.is_some(), "{said}");
    }
}

/// Every packet is written and read back at every hop, symbols as well, in both granularities; results are
/// the same.
#[test]
fn what_crosses_links_is_written_and_read_back() {
    let home = Home::new();
    hotspot(&home);
    for granularity in ["packet", "symbol"] {
        let set = format!("/links/granularity=\"{granularity}\"");
        let words = ["x.json", "--until", "60 us", "--warmup", "10 us", "--set", &set, "--quiet", "--out"];
        home.ok(&[&words[..], &["plain"]].concat());
        home.ok(&[&words[..], &["checked", "--wire-check"]].concat());
        let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
        assert_eq!(read("plain/summary.json"), read("checked/summary.json"));
        let perf: serde_json::Value = serde_json::from_str(&read("checked/perf.json")).unwrap();
        for variant in perf["variants"].as_array().unwrap() {
            let share = if granularity == "symbol" { 1.0 } else { 0.0 };
            assert_eq!(variant["symbol_granularity"].as_f64(), Some(share));
            assert_eq!(variant["wire_checked_packets"], variant["packet_hops"]);
            assert!(variant["wire_checked_symbols"].as_u64() > Some(0), "{variant}");
        }
    }
}

/// The template `hotspot`: two variants.
fn hotspot(home: &Home) {
    home.ok(&["init", "hotspot", "x.json"]);
}

#[test]
fn a_run_writes_its_folder_and_tells() {
    let home = Home::new();
    hotspot(&home);
    let said = home.ok(&["x.json", "--out", "there"]);
    assert!(said.contains("goodput of victim "), "{said}");
    assert!(said.trim_end().ends_with("results in there/"), "{said}");
    let files = home.files();
    for name in [
        "resolved.json",
        "summary.json",
        "histograms.json",
        "fingerprints.txt",
        "perf.json",
        "series/flows.csv",
        "series/queues.csv",
        "series/links.csv",
        "figures/goodput.svg",
        "figures/goodput.png",
        "figures/decomposition.svg",
    ] {
        assert!(files.contains(&Path::new("there").join(name)), "{name} is not among {files:?}");
    }
}

/// Pictures are what is missing, and nothing else changes.
/// What a protocol takes for 1 ms is 1 us of the fabric: `check` and `run` say it in the same words.
#[test]
fn times_of_protocols_that_are_not_those_of_the_fabric_are_told() {
    let home = Home::new();
    let scenario = |clock: u32| {
        let host = serde_json::json!({"protocol_clock": clock, "response_timeout": "1 ms"});
        serde_json::json!({
            "name": "clocks", "topology": {"single_switch": {"ports": 2}}, "endpoint": {"host": host},
            "traffic": [{
                "name": "f", "from": "ep/0", "to": "ep/1", "size": 8, "rpc": {"via": "message"},
                "arrivals": {"constant": {"interval": "1 us"}}
            }],
            "run": {"until": "10 us", "warmup": "0 ps"}
        })
        .to_string()
    };
    home.write("fast.json", &scenario(1_000));
    home.write("true.json", &scenario(1));
    let words = "ep/0 and 1 more: the protocol clock runs 1000 times as fast: what a protocol takes for 1 ms \
                 is 1 us of the fabric, and its response timeout 1 us\n";
    assert!(home.ok(&["check", "fast.json"]).contains(words));
    assert!(home.ok(&["run", "fast.json", "--no-figures"]).contains(words));
    assert!(!home.ok(&["check", "true.json"]).contains("protocol clock"));
    assert!(!home.ok(&["run", "true.json", "--no-figures"]).contains("protocol clock"));
}

#[test]
fn without_figures_there_is_everything_else() {
    let home = Home::new();
    hotspot(&home);
    home.ok(&["x.json", "--out", "drawn", "--quiet"]);
    home.ok(&["x.json", "--out", "plain", "--quiet", "--no-figures"]);
    let files = home.files();
    let of = |folder: &str| -> Vec<PathBuf> {
        files.iter().filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_owned())).collect()
    };
    let (drawn, plain) = (of("drawn"), of("plain"));
    let pictures = |path: &&PathBuf| {
        let over_time = path.ends_with("series/congestion.json");
        path.starts_with("figures") || path.starts_with("charts") || over_time
    };
    assert!(drawn.iter().filter(pictures).count() > 4, "{drawn:?}");
    assert_eq!(
        plain.iter().collect::<Vec<_>>(),
        drawn.iter().filter(|path| !pictures(path)).collect::<Vec<_>>()
    );
    for name in plain.iter().filter(|name| !name.ends_with("perf.json")) {
        let read = |folder: &str| fs::read(home.path().join(folder).join(name)).unwrap();
        assert!(read("drawn") == read("plain"), "{} differs", name.display());
    }
}

#[test]
fn results_go_to_the_name_of_the_scenario() {
    let home = Home::new();
    hotspot(&home);
    let scenario: serde_json::Value =
        serde_json::from_str(&home.ok(&["check", "x.json", "--resolved"])).unwrap();
    let results = home.path().join("results").join(scenario["name"].as_str().unwrap());
    home.ok(&["run", "x.json", "--quiet"]);
    assert!(results.join("summary.json").is_file());
    assert_eq!(home.ok(&["run", "x.json", "--quiet", "--keep"]), "");
    assert!(results.with_extension("1").join("summary.json").is_file());
}

#[test]
fn two_runs_give_the_same_bytes() {
    let home = Home::new();
    hotspot(&home);
    home.ok(&["x.json", "--out", "one", "--quiet"]);
    for (out, flags) in [
        ("again", &[][..]),
        ("one-job", &["--jobs", "1"]),
        ("heap", &["--event-list", "heap"]),
        ("unfolded", &["--pipeline", "unfolded"]),
    ] {
        let mut words = vec!["x.json", "--out", out, "--quiet"];
        words.extend(flags);
        home.ok(&words);
        for name in ["summary.json", "fingerprints.txt", "series/flows.csv", "figures/throughput.svg"] {
            let read = |folder: &str| fs::read(home.path().join(folder).join(name)).unwrap();
            assert!(read("one") == read(out), "{name} of {out} differs");
        }
    }
    home.ok(&["x.json", "--out", "other-time", "--quiet", "--until", "900 us"]);
    let read = |folder: &str| fs::read(home.path().join(folder).join("summary.json")).unwrap();
    assert!(read("one") != read("other-time"), "a comparison that cannot fail");
}

/// Whatever is written is the same with several threads, but for `perf.json`, which says how it went.
#[test]
fn several_threads_give_the_same_bytes() {
    let home = Home::new();
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/perf/b-fattree-hotspot.json");
    let file = scenario.to_str().unwrap();
    let perf = |out: &str| -> serde_json::Value {
        let text = fs::read_to_string(home.path().join(out).join("perf.json")).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap()["variants"][0]["threads"].clone()
    };
    for (out, threads) in [("one", "1"), ("two", "2"), ("three", "3")] {
        home.ok(&[
            file,
            "--until",
            "20 us",
            "--set",
            "/run/sample_every=\"1 us\"",
            "--threads",
            threads,
            "--out",
            out,
        ]);
    }
    let names: Vec<PathBuf> = home.files();
    let names: Vec<&Path> = names.iter().filter_map(|path| path.strip_prefix("one").ok()).collect();
    assert!(names.contains(&Path::new("series/congestion.json")), "{names:?}");
    for name in names.into_iter().filter(|name| *name != Path::new("perf.json")) {
        let read = |folder: &str| fs::read(home.path().join(folder).join(name)).unwrap();
        assert!(read("one") == read("two") && read("one") == read("three"), "{} differs", name.display());
    }
    assert_eq!(perf("one"), serde_json::Value::Null);
    let (two, three) = (perf("two"), perf("three"));
    assert_eq!([&two["count"], &two["partitions"]], [2, 2]);
    assert_eq!([&three["count"], &three["partitions"]], [3, 3]);
    // 2 m at 5 ns, the physical layers 30 ns, a symbol 3.2 ns: 43.2 ns, and a sample each microsecond.
    let windows = two["windows"].as_u64().unwrap();
    assert!(windows <= 20_000_000 / 43_200 + 20 + 1, "{windows}");
    assert!(two["events_per_window"].as_f64().unwrap() > 100.0, "{two}");
    assert!((1.0..2.0).contains(&two["imbalance"].as_f64().unwrap()), "{two}");
    assert!((0.0..1.0).contains(&two["waiting"].as_f64().unwrap()), "{two}");
}

/// A fabric that cannot be cut runs on one thread, and the command says why.
#[test]
fn one_switch_runs_on_one_thread() {
    let home = Home::new();
    hotspot(&home);
    let said = home.ok(&["x.json", "--out", "whole", "--threads", "2"]);
    assert!(
        said.contains("on one thread, because endpoints stay with their switch, and there is no second one"),
        "{said}"
    );
    let perf = fs::read_to_string(home.path().join("whole/perf.json")).unwrap();
    let because = "\"because\": \"endpoints stay with their switch, and there is no second one\"";
    assert!(perf.contains(because), "{perf}");
    let said = home.ok(&["x.json", "--out", "one"]);
    assert!(!said.contains("on one thread"), "{said}");
}

/// Cores that no variant takes are shared among the variants, with the same results; one of this fabric is
/// too short for a trial, so what was begun is what is kept.
#[test]
fn idle_cores_are_used() {
    let home = Home::new();
    let said = tree(&home, "left", &[]);
    assert!(!said.contains("on one thread"), "{said}");
    tree(&home, "one", &["--threads", "1"]);
    tree(&home, "jobs", &["--jobs", &std::thread::available_parallelism().unwrap().to_string()]);
    for folder in ["one", "jobs"] {
        same_but_for_perf(&home, "left", folder);
    }
    // One variant is one job, however many are allowed.
    let cores = std::thread::available_parallelism().unwrap().get();
    for folder in ["left", "jobs"] {
        let count = cost(&home, folder)["threads"]["count"].as_u64();
        assert_eq!(count, (cores > 1).then_some(cores as u64), "{folder}");
    }
    assert!(cost(&home, "one")["threads"].is_null());
}

/// All files of two result folders are the same, but for `perf.json`.
fn same_but_for_perf(home: &Home, one: &str, other: &str) {
    let files = home.files();
    let of = |folder: &str| -> Vec<PathBuf> {
        files.iter().filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_owned())).collect()
    };
    assert_eq!(of(one), of(other));
    for name in of(one).iter().filter(|name| *name != Path::new("perf.json")) {
        let read = |folder: &str| fs::read(home.path().join(folder).join(name)).unwrap();
        assert!(read(one) == read(other), "{} differs", name.display());
    }
}

/// Variant 0 of `perf.json`.
fn cost(home: &Home, folder: &str) -> serde_json::Value {
    let text = fs::read_to_string(home.path().join(folder).join("perf.json")).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["variants"][0].clone()
}

/// 256 endpoints for a while, with ten samples.
fn tree(home: &Home, out: &str, more: &[&str]) -> String {
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios/perf/b-fattree-hotspot.json");
    let words = [scenario.to_str().unwrap(), "--until", "10 us", "--set", "/run/sample_every=\"1 us\""];
    home.ok(&[&words[..], &["--no-figures", "--out", out], more].concat())
}

/// Kinds of events are all events, on one thread and on several, with any list; and whatever is written is
/// the same. What was not asked for is not there.
#[test]
fn a_profile_counts_every_event() {
    let home = Home::new();
    let said = tree(&home, "plain", &[]);
    assert!(!said.contains("profile"), "{said}");
    let plain = cost(&home, "plain");
    assert!(plain["profile"].is_null() && plain["prediction"].is_null());
    assert!(plain["phases"]["simulate_s"].as_f64() > Some(0.0), "{plain}");
    for (out, more) in [("one", &[][..]), ("heap", &["--event-list", "heap"]), ("two", &["--threads", "2"])] {
        let said = tree(&home, out, &[&["--profile"], more].concat());
        assert!(said.contains("profile of base\n  events") && said.contains("s simulating"), "{said}");
        same_but_for_perf(&home, "plain", out);
        let cost = cost(&home, out);
        let profile = &cost["profile"];
        let kinds = profile["events"].as_array().unwrap();
        let count = |kind: &serde_json::Value| kind["events"].as_u64().unwrap();
        assert_eq!(Some(kinds.iter().map(count).sum()), cost["events"].as_u64());
        assert!(kinds.is_sorted_by_key(|kind| std::cmp::Reverse(count(kind))), "{profile}");
        let samples = kinds.iter().find(|kind| kind["kind"] == "sample").map(count);
        assert_eq!(samples, Some(10), "at 1 to 10 us");
        assert_eq!(profile["list"]["ring"].is_null(), out == "heap");
        assert_eq!(profile["windows"].is_null(), out != "two");
        if out == "two" {
            assert_eq!(profile["windows"]["windows"], cost["threads"]["windows"]);
            // 2 m at 5 ns, the physical layers 30 ns, a symbol 3.2 ns.
            assert_eq!(profile["windows"]["lookahead_ns"].as_f64(), Some(43.2));
        }
    }
}

/// A run that is to be predicted runs in parts on one thread, with the same results. 24 switches make at most
/// 16 parts that are halves of halves, so 64 cores do no more than 16.
#[test]
fn a_prediction_changes_no_result() {
    let home = Home::new();
    tree(&home, "plain", &[]);
    let said = tree(&home, "predicted", &["--predict"]);
    assert!(said.contains("base on several cores: measured in 16 parts on one core"), "{said}");
    same_but_for_perf(&home, "plain", "predicted");
    let cost = cost(&home, "predicted");
    assert!(cost["threads"].is_null(), "nobody asked for threads");
    let prediction = &cost["prediction"];
    let seconds = |value: &serde_json::Value| value.as_f64().unwrap();
    let cores: Vec<(u64, u64, f64)> = (prediction["predicted"].as_array().unwrap().iter())
        .map(|on| (on["cores"].as_u64().unwrap(), on["parts"].as_u64().unwrap(), seconds(&on["seconds"])))
        .collect();
    let named: Vec<(u64, u64)> = cores.iter().map(|(cores, parts, _)| (*cores, *parts)).collect();
    assert_eq!(named, [(2, 2), (4, 4), (16, 16), (64, 16)]);
    assert_eq!(cores[2].2, cores[3].2);
    assert!(seconds(&prediction["one_core_s"]) <= seconds(&prediction["in_parts_s"]));
    assert!(seconds(&prediction["in_parts_s"]) <= seconds(&cost["wall_s"]), "{cost}");
}

/// What cannot be cut is not predicted, and the command says why; threads and a prediction of them are two
/// ways to run.
#[test]
fn who_is_alone_is_not_predicted() {
    let home = Home::new();
    hotspot(&home);
    let said = home.ok(&["x.json", "--out", "whole", "--no-figures", "--predict"]);
    let because = "endpoints stay with their switch, and there is no second one";
    assert!(said.contains(&format!("on any number of cores as on one, because {because}")), "{said}");
    assert_eq!(cost(&home, "whole")["prediction"], serde_json::json!({ "because": because }));
    let refused = home.run(&["x.json", "--predict", "--threads", "2"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn resolved_reproduces_the_run() {
    let home = Home::new();
    hotspot(&home);
    home.ok(&["x.json", "--out", "one", "--quiet", "--set", "/seed=9", "--until", "400 us"]);
    home.ok(&["one/resolved.json", "--out", "two", "--quiet"]);
    let read = |path: &str| fs::read_to_string(home.path().join(path)).unwrap();
    assert_eq!(read("one/summary.json"), read("two/summary.json"));
    assert!(read("one/summary.json").contains("\"seed\": 9"));
}

#[test]
fn json_is_the_summary() {
    let home = Home::new();
    hotspot(&home);
    let said = home.ok(&["x.json", "--out", "there", "--json"]);
    assert_eq!(said, fs::read_to_string(home.path().join("there/summary.json")).unwrap());
    let value: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(value["variants"].as_array().unwrap().len(), 2);
    for variant in value["variants"].as_array().unwrap() {
        let kept = &variant["conservation"];
        let count = |key: &str| kept[key].as_u64().unwrap();
        assert!(count("delivered") > 0);
        assert_eq!(
            count("injected") + count("replicated"),
            count("delivered") + count("dropped") + count("in_flight")
        );
        assert_eq!(kept["broken"], serde_json::json!([]));
    }
}

#[test]
fn bad_input_writes_nothing() {
    let home = Home::new();
    hotspot(&home);
    home.write("syntax.json", "{ \"name\": ");
    home.write("unknown.json", "{ \"name\": \"x\", \"topologie\": {} }");
    let before = home.files();
    for words in [
        &["syntax.json"][..],
        &["unknown.json"],
        &["missing.json"],
        &["run", "missing.json"],
        &["check", "syntax.json"],
        &["x.json", "--set", "/no/such/field=1"],
        &["x.json", "--set", "without-a-slash=1"],
        &["x.json", "--until", "soon"],
        &["x.json", "--event-list", "tree"],
        &["init", "no-such-template", "y.json"],
        &["init", "hotspot", "x.json"],
        &["list", "planets"],
        &["x.json", "--out", "."],
        &["x.json", "--watch"],
        &["x.json", "--watch", "--quiet"],
    ] {
        let output = home.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{words:?}: {}", text(&output.stdout));
        assert!(!output.stderr.is_empty(), "{words:?}");
        assert_eq!(home.files(), before, "{words:?} wrote something");
    }
    // what is wrong with a scenario names the place
    let said = text(&home.run(&["unknown.json"]).stderr);
    assert!(said.contains("topologie"), "{said}");
    let said = text(&home.run(&["init", "nope"]).stderr);
    assert!(said.contains("there is no template \"nope\". There are: "), "{said}");
    let said = text(&home.run(&["init", "hotspots"]).stderr);
    assert!(said.contains("\"hotspots\"; did you mean \"hotspot\"? There are: "), "{said}");
    let said = text(&home.run(&["x.json", "--watch"]).stderr);
    assert!(said.contains("--watch: standard error is no terminal"), "{said}");
}

/// On a terminal that `script` makes, a run that is watched writes the same bytes, and gives the screen back
/// at its end and at Ctrl-C.
#[test]
fn a_watched_run_leaves_the_terminal_as_it_was() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("script is not installed: nobody makes a terminal here");
        return;
    }
    let home = Home::new();
    hotspot(&home);
    let watched = |more: &str, words: &str| {
        let program = env!("CARGO_BIN_EXE_riosim");
        let line =
            format!("stty rows 30 cols 100; exec '{program}' x.json --watch --no-figures --out there {more}");
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).current_dir(home.path());
        let mut script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut keys, mut screen) = (script.stdin.take(), script.stdout.take().unwrap());
        let mut shown = Vec::new();
        let mut block = [0; 4096];
        loop {
            let length = screen.read(&mut block).unwrap();
            if length == 0 {
                break;
            }
            shown.extend(&block[..length]);
            if !words.is_empty() && String::from_utf8_lossy(&shown).contains(words) {
                // Ctrl-C, once.
                keys.take().into_iter().for_each(|mut keys| keys.write_all(&[3]).unwrap());
            }
        }
        let code = script.wait().unwrap().code();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let (drawn, after) = shown.rsplit_once("\u{1b}[?1049l").expect("the screen is given back");
        assert_eq!(drawn.matches("\u{1b}[?1049h").count(), 1, "{shown}");
        assert!(
            after.contains("\u{1b}[?25h") && !after.contains("\u{1b}[?25l"),
            "the cursor is back: {after}"
        );
        (code, after.to_owned())
    };
    let (code, after) = watched("--until '10 s'", "Ctrl-C ends the run");
    assert_eq!(code, Some(130), "{after}");
    assert!(after.contains("interrupted, nothing was written"), "{after}");
    let (code, after) = watched("", "");
    assert_eq!(code, Some(0), "{after}");
    home.ok(&["x.json", "--no-figures", "--out", "alone"]);
    let files = |folder: &str| {
        let files = home.files().into_iter().filter(|file| file.starts_with(folder));
        let files = files.map(|file| (file.strip_prefix(folder).unwrap().to_owned(), file));
        let told = files.filter(|(name, _)| name != Path::new("perf.json"));
        told.map(|(name, file)| (name, fs::read(home.path().join(file)).unwrap())).collect::<Vec<_>>()
    };
    let (there, alone) = (files("there"), files("alone"));
    assert!(there == alone && there.len() > 5, "{} and {} files", there.len(), alone.len());
}

#[test]
fn verbs_that_only_tell() {
    let home = Home::new();
    hotspot(&home);
    let before = home.files();
    assert!(home.ok(&["check", "x.json"]).contains("victim"));
    for what in ["devices", "topologies", "studies", "templates"] {
        assert!(home.ok(&["list", what]).lines().count() > 1, "{what}");
    }
    let schema: serde_json::Value = serde_json::from_str(&home.ok(&["schema"])).unwrap();
    assert!(schema.is_object());
    assert!(home.ok(&["--help"]).contains("Exit status"));
    assert!(home.ok(&["--version"]).starts_with("riosim "));
    assert_eq!(home.files(), before);
    // every template is a scenario
    for line in home.ok(&["list", "templates"]).lines() {
        let name = line.split_whitespace().next().unwrap();
        home.ok(&["init", name, &format!("{name}.json")]);
        home.ok(&["check", &format!("{name}.json")]);
    }
}

#[test]
fn standard_input_is_a_scenario() {
    let home = Home::new();
    hotspot(&home);
    let file = fs::File::open(home.path().join("x.json")).unwrap();
    let output = home.command(&["check", "-"]).stdin(file).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), home.ok(&["check", "x.json"]));
}

/// `riosim schema | head -1`: the reader has gone before the first byte.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_not_a_panic() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home.command(&["schema"]).stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stderr), "");
}

/// Load is what goes into the fabric: three copies of a packet do not make three of it.
#[test]
fn multicast_counts_once_as_load() {
    let home = Home::new();
    home.write(
        "x.json",
        r#"{
            "name": "copies",
            "run": { "until": "1 ms", "warmup": "100 us" },
            "topology": { "single_switch": { "ports": 4 } },
            "multicast": [{ "name": "group", "members": ["ep/1", "ep/2", "ep/3"] }],
            "traffic": [{ "name": "news", "from": "ep/0", "to": "group",
                          "arrivals": { "constant": { "load": 0.3 } } }]
        }"#,
    );
    let summary: serde_json::Value = serde_json::from_str(&home.ok(&["x.json", "--json"])).unwrap();
    let flow = &summary["variants"][0]["flows"][0];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let (offered, accepted) = (number(&flow["offered_load"]), number(&flow["accepted_load"]["value"]));
    assert!((offered - 0.3).abs() < 0.001 && (accepted - 0.3).abs() < 0.001, "{offered}, {accepted}");
    assert_eq!(flow["saturated"], serde_json::json!(false));
    let copies = number(&flow["delivered_packets"]) / number(&flow["offered_packets"]);
    assert!((copies - 3.0).abs() < 0.01, "{copies} copies");
    assert_eq!(summary["variants"][0]["overall"]["accepted_load"], flow["accepted_load"]);
}

/// Nothing but a lost message holds the queue: the watchdog must find it.
const LOST_XON: &str = r#"{
    "name": "lost-xon",
    "run": { "until": "1 ms", "stall_after": "50 us", "on_stall": "stop" },
    "topology": { "explicit": {
        "devices": [{ "name": "sw", "ports": 3 }, { "name": "up" }, { "name": "hot" }, { "name": "other" }],
        "links": [{ "a": "sw:0", "b": "up" }, { "a": "sw:1", "b": "hot" }, { "a": "sw:2", "b": "other" }]
    } },
    "voq": { "enabled": true, "staging": "per_port", "thresholds": { "on": 8, "off": 4 },
             "verdict": "per_ingress", "refresh": "off" },
    "traffic": [
        { "name": "a", "from": "up", "to": "hot", "arrivals": { "saturated": {} }, "size": 256 },
        { "name": "b", "from": "other", "to": "hot", "arrivals": { "saturated": {} }, "size": 256,
          "stop": "100 us" }
    ],
    "faults": { "lose_voq_symbols": [{ "device": "sw", "port": 0, "kind": "xon", "nth": 1 }] }
}"#;

#[test]
fn a_stall_that_stops_the_run_is_status_3() {
    let home = Home::new();
    home.write("x.json", LOST_XON);
    let output = home.run(&["x.json", "--out", "there", "--quiet"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("stalled") && said.contains("packet"), "{said}");
    // what led to the stall is worth a look
    let summary = fs::read_to_string(home.path().join("there/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["variants"][0]["stalls"].as_array().unwrap().len(), 1);
    // as if it were found before the end: the first look is too early, and there is no other but the last
    let late = home.run(&["x.json", "--out", "late", "--quiet", "--set", "/run/stall_after=600 us"]);
    assert_eq!(late.status.code(), Some(3), "{}", text(&late.stderr));
    // each variant that was stopped is named
    let two = LOST_XON.replacen('{', r#"{ "variants": [{ "name": "one" }, { "name": "other" }],"#, 1);
    home.write("two.json", &two);
    let output = home.run(&["two.json", "--out", "both", "--quiet"]);
    let said = text(&output.stderr);
    let named = |name: &str| said.contains(&format!("stalled: variant \"{name}\" was stopped"));
    assert!(output.status.code() == Some(3) && named("one") && named("other"), "{said}");
    // a requirement that does not hold is told as well
    home.write(
        "asked.json",
        &LOST_XON.replacen('{', r#"{ "require": [{ "flow": "a", "delivered": "100 %" }],"#, 1),
    );
    let output = home.run(&["asked.json", "--out", "asked", "--quiet"]);
    let said = text(&output.stderr);
    assert!(
        output.status.code() == Some(3) && said.contains("stalled: ") && said.contains("FAIL: "),
        "{said}"
    );
    // the same stall, only reported
    let output = home.run(&["x.json", "--out", "there", "--quiet", "--set", "/run/on_stall=report"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// By Ctrl-C, and as clusters do it.
#[cfg(unix)]
#[test]
fn an_interrupt_writes_nothing() {
    use std::io::Write;
    let home = Home::new();
    hotspot(&home);
    let before = home.files();
    let scenario = fs::read_to_string(home.path().join("x.json")).unwrap();
    for signal in ["-INT", "-TERM"] {
        // a run that would take days
        let words = ["run", "-", "--out", "there", "--until", "1000 s"];
        let mut child = home
            .command(&words)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        // More than a pipe holds: once this is written, the child reads, so it already watches for
        // interrupts.
        pipe.write_all(scenario.as_bytes()).unwrap();
        pipe.write_all(&[b'\n'; 1 << 20]).unwrap();
        drop(pipe);
        let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{signal}: {}", text(&output.stderr));
        assert_eq!(text(&output.stdout), "", "{signal}");
        assert!(text(&output.stderr).contains("interrupted"), "{signal}");
        assert_eq!(home.files(), before, "{signal}");
    }
}

/// A program of two ranks, and one with a mistake.
#[test]
fn programs_are_timed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.goal");
    let run = |text: &str, more: &[&str]| {
        fs::write(&file, text).unwrap();
        Command::new(env!("CARGO_BIN_EXE_riosim")).arg("goal").arg(&file).args(more).output().unwrap()
    };
    let program =
        "num_ranks 2\nrank 0 {\na: calc 500\nb: send 101b to 1\nb requires a\n}\nrank 1 { recv 101b from 0 }";
    let output = run(program, &[]);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "2 ranks, 1 message, 101 octets\n\
         done after 800 ns (800000 ps); on average a rank spends 68.75 % of that without computing\n"
    );
    let output = run("num_ranks 2\nrank 0 { send 1b to 2 }", &[]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.ends_with("x.goal: line 2: there is no rank 2; allowed: 0 to 1\n"), "{said}");
    let output = run(program, &["--latency", "0 ns"]);
    assert_eq!(output.status.code(), Some(2));
    for octets in ["18446744073709551615", "20000000000000000"] {
        let program = format!(
            "num_ranks 2\nrank 0 {{\nsend 1b to 1\nsend {octets}b to 1 tag 1 }}\n\
             rank 1 {{\nrecv 1b from 0\nrecv {octets}b from 0 tag 1 }}"
        );
        if octets.starts_with('2') {
            let output = run(&program, &[]);
            assert_eq!((output.status.code(), output.stdout), (Some(2), vec![]), "{octets}");
            let said = String::from_utf8(output.stderr).unwrap();
            let end = "line 4: rank 0: operation 1 ends after more than 18446744073709551615 ps (213 days)\n";
            assert!(said.ends_with(end), "{said}");
            let output = run(&program, &["--gap-per-octet", "0 ns"]);
            assert!(String::from_utf8(output.stdout).unwrap().contains("(200000 ps)"));
        } else {
            let output = run(&program, &[]);
            assert_eq!((output.status.code(), output.stdout), (Some(2), vec![]), "{octets}");
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(
                said.ends_with("x.goal: line 4: all sends together have more than 2^64 - 1 octets\n"),
                "{said}"
            );
        }
    }
    let early = "num_ranks 1\nrank 0 {\na: calc 10\nb: calc 5 cpu 1\nb requires a\n}";
    let output = run(early, &[]);
    assert!(String::from_utf8(output.stdout).unwrap().contains("(10000 ps)"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("line 4: begins before what it waits for is over"), "{said}");
    let output = run(early, &["--rules", "processor"]);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert!(String::from_utf8(output.stdout).unwrap().contains("(15000 ps)"));
    // Both receive before they send.
    let dead = "num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b to 1\nb requires a\n}\n\
                rank 1 {\na: calc 5\nb: recv 8b from 0\nc: send 8b to 0\nb requires a\nc requires b\n}";
    for rules in ["loggopsim", "processor", "pipelined"] {
        let output = run(dead, &["--rules", rules]);
        assert_eq!(output.status.code(), Some(3), "{rules}");
        assert!(String::from_utf8(output.stdout).unwrap().ends_with("\n2 ranks wait for ever\n"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.ends_with("x.goal: line 3: rank 0 waits here for ever\n"), "{said}");
    }
}

/// A scenario says who opens, by which algorithm, and what goes wrong; every bad ending has its path.
#[test]
fn a_scenario_is_explored() {
    let home = Home::new();
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let race = shipped.join("conduit-race-peers.json");
    let text = home.ok(&["explore", race.to_str().unwrap(), "--order", "fifo", "--out", "paths"]);
    let row = |name: &str| -> Vec<&str> {
        text.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect()
    };
    assert_eq!(row("literal")[5..], ["200", "8/1", "-", "-", "-", "-", "-", "192/2"]);
    assert_eq!(row("corrected")[7..], ["-"; 6]);
    assert!(text.contains("\n  as in: corrected-crossing, corrected-half, corrected-after\n"), "{text}");
    assert!(
        text.ends_with("paths/literal-none-peers-fifo-storm: delays of messages can bring this about\n"),
        "{text}"
    );
    let folders: Vec<_> = fs::read_dir(home.path().join("paths")).unwrap().collect();
    assert_eq!(folders.len(), 1);

    let losses = shipped.join("session-message-loss.json");
    let text = home.ok(&["explore", losses.to_str().unwrap(), "--order", "fifo", "--fault", "none"]);
    assert!(
        text.ends_with("not explored: variant corrected-mute: node 2 is mute; this cannot be explored\n"),
        "{text}"
    );

    // a path is that of one variant
    let path = ["explore", losses.to_str().unwrap(), "--order", "fifo", "--fault", "none", "--path", "one"];
    let said = home.run(&path);
    assert!(String::from_utf8_lossy(&said.stderr).contains("takes one variant, fault and order"), "{said:?}");
    let name = "corrected-open-lost";
    assert!(home.ok(&[&path[..], &["--variant", name]].concat()).contains("OPEN"));

    for (name, problem) in [
        ("hol-blocking", "0 flows have sessions; exactly one can be explored"),
        ("conduit-storm", "32 nodes have sessions; exactly two can be explored"),
        ("session-figure-3-1", "node 1 opens streams, not conduits; this cannot be explored"),
    ] {
        let file = shipped.join(format!("{name}.json"));
        let output = home.run(&["explore", file.to_str().unwrap()]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(problem), "{said}");
    }
}

/// A path of an exploration, written, and run again: it ends in the same way.
#[test]
fn a_path_is_replayed() {
    let home = Home::new();
    let select = ["--algorithm", "literal", "--fault", "LOSS1", "--configuration", "MS", "--order", "fifo"];
    let words = [&["explore", "conduit"][..], &select, &["--path", "leak", "--out", "leak"]].concat();
    assert!(home.ok(&words).contains("is lost"));
    for file in ["path.svg", "path.png", "path.txt"] {
        assert!(home.path().join("leak").join(file).is_file(), "{file}");
    }
    home.ok(&["leak/path.json", "--out", "replay", "--quiet"]);
    let summary = fs::read_to_string(home.path().join("replay/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let conduits = &summary["variants"][0]["sessions"][0];
    let found =
        ["conduits", "leaked_streams", "orphans", "half_open", "missed_steps"].map(|key| &conduits[key]);
    assert_eq!(found.map(|value| value.as_u64()), [1, 1, 0, 0, 0].map(Some));
    assert!(home.path().join("replay/charts/base.svg").is_file());
}

/// Examples of the help and of the page of traces are commands that work.
#[test]
fn examples_are_taken_at_their_word() {
    let home = Home::new();
    home.ok(&["init", "minimal", "m.json"]);
    for verb in ["run", "trace", "check"] {
        let help = home.ok(&[verb, "--help"]);
        let (_, example) = help.split_once("Replace a value of the scenario: ").expect("an example");
        let words: Vec<&str> = example.lines().next().unwrap().split(' ').collect();
        home.ok(&[&["check", "m.json"], &words[..]].concat());
    }
    std::os::unix::fs::symlink(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../scenarios"),
        home.path().join("scenarios"),
    )
    .unwrap();
    let page = include_str!("../../docs/trace.md");
    let commands = page.lines().filter_map(|line| line.strip_prefix("riosim trace "));
    let mut count = 0;
    for command in commands {
        let command = command.split(" #").next().unwrap().trim().replace('"', "");
        // a time is one word
        let words = command.replace(" us", "us").replace(" ms", "ms");
        home.ok(&[&["trace"], &words.split_whitespace().collect::<Vec<&str>>()[..]].concat());
        count += 1;
    }
    assert_eq!(count, 7);
}
