//! The sweeps that come with the project, as a user runs them, against their laws and against what
//! `results/reference` keeps of them: `<sweep>.csv` and one figure each. `BLESS=1` writes those anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

type Row = BTreeMap<String, String>;

/// Runs a sweep; gives its estimates back.
fn run(name: &str, columns: &[&str], figure: &str) -> Vec<Row> {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
    command.args(["sweep", "--quiet", "--out", "there"]).arg(root().join(format!("sweeps/{name}.json")));
    let output = command.current_dir(home.path()).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |file: &str| fs::read_to_string(home.path().join("there").join(file)).unwrap();
    let estimates = read("estimates.csv");
    let mut lines = estimates.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row =
        |line: &str| names.iter().map(|s| s.to_string()).zip(line.split(',').map(String::from)).collect();
    let rows: Vec<Row> = lines.map(row).collect();
    let mut table = columns.join(",") + "\n";
    for row in &rows {
        let cells: Vec<&str> = columns.iter().map(|column| row[*column].as_str()).collect();
        table += &(cells.join(",") + "\n");
    }
    reference(&format!("{name}.csv"), &table);
    reference(&format!("{name}-{figure}.svg"), &read(&format!("figures/{figure}.svg")));
    rows
}

/// Compares with a file of `results/reference`, or writes it.
fn reference(name: &str, text: &str) {
    let path = root().join("results/reference").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
        return;
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let line = kept.lines().zip(text.lines()).position(|(a, b)| a != b);
    let line = line.map_or_else(|| "in length".into(), |line| format!("from line {}", line + 1));
    assert!(kept == text, "results/reference/{name} differs {line}; BLESS=1 writes it anew");
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is \"{}\"", row[column]))
}

/// FIFO inputs saturate where Karol et al. say (0.59 for many ports, 0.60 to 0.62 for 16); every staging
/// queue helps; nothing is better than output buffers that never fill.
#[test]
fn latency_vs_load() {
    let columns = [
        "load",
        "variant",
        "runs",
        "accepted_load",
        "accepted_load_ci95",
        "latency_mean_ns",
        "latency_mean_ns_ci95",
        "latency_p99_ns",
        "latency_p99_ns_ci95",
        "saturated",
    ];
    let rows = run("latency-vs-load", &columns, "latency_mean_ns-by-load-variant");
    let at = |load: &str, variant: &str, column: &str| {
        let row = |row: &&Row| row["load"] == load && row["variant"] == variant && row["scope"] == "overall";
        number(rows.iter().find(row).expect("a point"), column)
    };
    assert_eq!(rows.iter().filter(|row| row["scope"] == "overall").count(), 20 * 5);
    assert!(rows.iter().all(|row| row["runs"] == "5"));
    let variants = ["fifo", "backpressure-1", "backpressure-4", "backpressure-all", "ideal"];
    let full = variants.map(|variant| at("1", variant, "accepted_load"));
    assert!((0.58..0.62).contains(&full[0]), "FIFO saturates at {}", full[0]);
    assert!(full.is_sorted() && full[4] > 0.98, "{full:?}");
    for load in ["0.85", "0.9", "0.95", "1"] {
        let latency = variants.map(|variant| at(load, variant, "latency_mean_ns"));
        assert!(latency.iter().rev().is_sorted(), "load {load}: {latency:?}");
    }
    // an empty switch is the same switch
    let empty = variants.map(|variant| at("0.05", variant, "latency_mean_ns"));
    assert!(empty.iter().all(|latency| (latency / empty[4] - 1.0).abs() < 0.01), "{empty:?}");
}

/// Above the upper threshold there must be room for what is under way, below the lower one enough to send.
#[test]
fn voq_thresholds() {
    let columns = [
        "upper_threshold",
        "lower_threshold",
        "hot_link_x",
        "scope",
        "runs",
        "latency_p99_ns",
        "latency_p99_ns_ci95",
        "late_hol",
        "link_use_max",
        "voq_messages",
    ];
    let figure = "link_use_max-by-upper_threshold-lower_threshold-hot_link";
    let rows = run("voq-thresholds", &columns, figure);
    let overall: Vec<&Row> = rows.iter().filter(|row| row["scope"] == "overall").collect();
    assert_eq!(overall.len(), 8 * 8 * 2);
    for row in overall {
        let (upper, lower) = (number(row, "upper_threshold"), number(row, "lower_threshold"));
        let late = number(row, "late_hol");
        if upper <= 19.0 {
            assert_eq!(late, 0.0, "{upper} {lower}: room for what is under way");
        } else if upper == 23.0 {
            assert!(late > 0.0, "{upper} {lower}: no room for what is under way");
        }
        let busy = number(row, "link_use_max");
        let enough = lower >= 2.0 || row["hot_link_x"] == "1";
        assert_eq!(busy > 0.995, enough, "{upper} {lower}: the hot link is used {busy}");
    }
}
