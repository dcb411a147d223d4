//! The sweeps that come with the project show what their descriptions say, and what `results/reference` has.
//! `BLESS=1` writes the reference anew.

use super::*;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Estimates of a sweep.
struct Estimates {
    text: String,
}

impl Estimates {
    /// Simulates `sweeps/<name>.json`, and compares what its figures show with the reference.
    fn of(name: &str, runs: &str, figures: &[&str]) -> Self {
        let home = Home::new();
        let sweep = root().join("sweeps").join(format!("{name}.json"));
        let sweep = sweep.to_str().unwrap();
        assert!(home.ok(&["sweep", sweep, "--dry-run"]).contains(runs), "{name}");
        home.ok(&["sweep", sweep, "--out", "study", "--quiet"]);
        let estimates = Self { text: home.read("study/estimates.csv") };
        let spec: serde_json::Value = serde_json::from_str(&fs::read_to_string(sweep).unwrap()).unwrap();
        let shown = |plot: &serde_json::Value| {
            let scope = plot["scope"].as_str().unwrap_or("overall").to_owned();
            (scope, plot["metric"].as_str().unwrap().to_owned())
        };
        let shown: Vec<(String, String)> = spec["plots"].as_array().unwrap().iter().map(shown).collect();
        let mut reference = vec![(format!("sweep-{name}.csv"), estimates.only(&shown))];
        for figure in figures {
            reference.push((
                format!("sweep-{name}-{figure}.svg"),
                home.read(&format!("study/figures/{figure}.svg")),
            ));
        }
        for (file, text) in reference {
            let path = root().join("results/reference").join(&file);
            if std::env::var_os("BLESS").is_some() {
                fs::write(&path, &text).unwrap();
            }
            let kept = fs::read_to_string(&path).unwrap_or_default();
            assert!(kept == text, "results/reference/{file} differs; BLESS=1 writes it anew");
        }
        estimates
    }

    /// The table of these (scope, metric), with half widths of intervals.
    fn only(&self, shown: &[(String, String)]) -> String {
        let names: Vec<&str> = self.text.lines().next().unwrap().split(',').collect();
        let metrics = names.iter().position(|name| *name == "runs").unwrap() + 1;
        let wanted = |name: &str| shown.iter().any(|(_, metric)| *metric == name.trim_end_matches("_ci95"));
        let columns: Vec<usize> = (0..names.len()).filter(|at| *at < metrics || wanted(names[*at])).collect();
        let scope = names.iter().position(|name| *name == "scope").unwrap();
        let mut text = String::new();
        for (index, line) in self.text.lines().enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            if index == 0 || shown.iter().any(|(known, _)| *known == cells[scope]) {
                let cells: Vec<&str> = columns.iter().map(|column| cells[*column]).collect();
                text += &cells.join(",");
                text.push('\n');
            }
        }
        text
    }

    /// A metric at the point where these columns have these values.
    fn at(&self, metric: &str, place: &[(&str, &str)]) -> f64 {
        let rows = rows(&self.text);
        let mut found = rows.iter().filter(|row| place.iter().all(|(name, value)| row[*name] == *value));
        let value = found.next().unwrap_or_else(|| panic!("no row {place:?}"))[metric].parse().unwrap();
        assert!(found.next().is_none(), "more than one row {place:?}");
        value
    }
}

/// Within this share of the expected value.
fn near(found: f64, expected: f64, share: f64, what: &str) {
    assert!((found - expected).abs() <= share * expected, "{what}: {found}, expected {expected}");
}

#[test]
fn latency_against_load() {
    let study =
        Estimates::of("latency-vs-load", "100 points, 500 runs", &["latency_mean_ns-by-load-variant"]);
    let at = |metric: &str, load: &str, variant: &str| {
        study.at(metric, &[("load", load), ("variant", variant), ("scope", "overall")])
    };
    // Karol, Hluchyj and Morgan: FIFO inputs saturate at 0.60 for 16 ports; nothing does below
    near(at("accepted_load", "1", "fifo"), 0.60, 0.02, "throughput of FIFO inputs");
    assert!(at("accepted_load", "1", "ideal") > 0.98);
    // Pollaczek and Khinchine: a source is an M/D/1 queue as long as nothing pushes back
    for (load, share) in [("0.2", 0.2), ("0.5", 0.5), ("0.7", 0.7), ("0.8", 0.8)] {
        let wait = 113.6 * share / (2.0 * (1.0 - share));
        near(at("part_source_queue_ns", load, "ideal"), wait, 0.05, "wait at the source");
        // the 16 inputs of an output: one in 16 packets meets nobody else
        near(at("part_output_contention_ns", load, "ideal"), wait * 15.0 / 16.0, 0.06, "wait at the output");
    }
    let order = ["fifo", "backpressure-1", "backpressure-4", "backpressure-all", "ideal"];
    for load in ["0.75", "0.8", "0.85", "0.9", "0.95", "1"] {
        for pair in order.windows(2) {
            let (worse, better) =
                (at("latency_mean_ns", load, pair[0]), at("latency_mean_ns", load, pair[1]));
            assert!(worse > better, "at {load} {} is better than {}", pair[0], pair[1]);
        }
    }
    for variant in order {
        near(at("latency_mean_ns", "0.05", variant), 413.5, 0.005, "an empty switch");
    }
}

#[test]
fn thresholds() {
    let figures = ["late_hol-by-upper-lower-hot_link-linear", "link_use_max-by-upper-lower-hot_link"];
    let study = Estimates::of("voq-thresholds", "128 points, 384 runs", &figures);
    let at = |metric: &str, scope: &str, upper: &str, lower: &str, link: &str| {
        study.at(metric, &[("upper", upper), ("lower", lower), ("hot_link_x", link), ("scope", scope)])
    };
    let overall = |metric: &str, upper, lower, link| at(metric, "overall", upper, lower, link);
    // without room above the upper threshold packets block their input, with it none does
    assert!(overall("late_hol", "23", "7", "1") > 0.0);
    assert_eq!(overall("late_hol", "9", "7", "1"), 0.0);
    // without enough below the lower one the output idles
    assert!(overall("link_use_max", "9", "0", "4") < 0.95);
    assert!(overall("link_use_max", "9", "7", "4") > 0.999);
    // what is between them saves messages
    for link in ["1", "4"] {
        assert!(overall("voq_messages", "23", "0", link) < 0.7 * overall("voq_messages", "9", "7", link));
    }
}

#[test]
fn conduit_offset() {
    let study = Estimates::of("conduit-offset", "63 points, 6300 runs", &["ended_storm-by-offset-variant"]);
    let at = |metric: &str, offset: &str, variant: &str| {
        study.at(metric, &[("offset_ns", offset), ("variant", variant), ("scope", "overall")])
    };
    for offset in ["0", "250", "500", "1000", "1500", "2000", "3000", "5000"] {
        for variant in ["literal", "minimal", "corrected"] {
            // Every run ends in one way or the other.
            let (one, storm) = (at("ended_one", offset, variant), at("ended_storm", offset, variant));
            assert!((one + storm - 1.0).abs() < 1e-9, "{variant} at {offset}: {one} + {storm}");
        }
        for variant in ["minimal", "corrected"] {
            assert_eq!(at("ended_one", offset, variant), 1.0, "{variant} at {offset}");
        }
        // The OPEN takes longer than the offset: two exponential times of 500 ns, and 0.2 us on the wire.
        let x = (offset.parse::<f64>().unwrap() - 200.0).max(0.0) / 500.0;
        let expected = (1.0 + x) * (-x).exp();
        let found = at("ended_storm", offset, "literal");
        // Three standard deviations of 100 runs.
        assert!((found - expected).abs() <= 0.15, "at {offset}: {found}, expected {expected}");
    }
}

#[test]
fn linx_hb_tmo() {
    let figures =
        ["false_timeouts_per_connection_hour-by-blocked-hb_tmo", "detection_mean_us-by-blocked-hb_tmo"];
    let study = Estimates::of("linx-hb-tmo", "80 points, 320 runs", &figures);
    for (hb_tmo, period) in [("2", 200.0), ("3", 300.0), ("5", 500.0), ("10", 1_000.0), ("15", 1_500.0)] {
        for blocked in (1..=16).map(|quarter| 250.0 * f64::from(quarter)) {
            let at = |metric: &str| {
                let point =
                    [("hb_tmo", hb_tmo), ("blocked_ns", &format!("{}", blocked * 1e6)), ("scope", "overall")];
                study.at(metric, &point)
            };
            // Blocked for B: never up to 2 T, always from 3 T on.
            let expected = (blocked / period - 2.0).clamp(0.0, 1.0);
            let found = at("false_timeouts") / 160.0;
            // Three standard deviations of 640 stalls.
            let tolerance = 3.0 * (expected * (1.0 - expected) / 640.0).sqrt();
            assert!((found - expected).abs() <= tolerance, "{hb_tmo}, {blocked} ms: {found}, not {expected}");
            // Silent from an instant between two heartbeats on: 2.5 T, on average of 64 nodes.
            let noticed = at("detection_mean_us") / 1e3 / period;
            assert!(
                (noticed - 2.5).abs() < 3.0 / (12.0 * 64.0_f64).sqrt(),
                "{hb_tmo}: noticed after {noticed} T"
            );
        }
    }
}

#[test]
fn linx_congestion() {
    let study = Estimates::of("linx-congestion", "36 points, 144 runs", &["false_timeouts-by-burst-variant"]);
    for burst in (16..=48).step_by(4) {
        let at = |variant: &str| {
            let point = [("burst", &*format!("{burst}")), ("variant", variant), ("scope", "overall")];
            study.at("false_timeouts", &point)
        };
        // Blocked for so many periods, at the priority of the data: never up to 2, always from 3 on. Much
        // later what comes after the burst is blocked as well.
        // A packet of 256 octets for a 34-bit address is 280 characters long.
        let blocked = 7.0 * f64::from(burst) * 112.0 / 10_000.0;
        let beside = at("beside");
        match blocked {
            ..2.0 => assert_eq!(beside, 0.0, "bursts of {burst}"),
            ..3.0 => assert!((10.0..70.0).contains(&beside), "bursts of {burst}: {beside}"),
            ..3.6 => assert_eq!(beside, 70.0, "bursts of {burst}"),
            _ => assert!(beside > 70.0, "bursts of {burst}: {beside}"),
        }
        assert_eq!(at("above"), 0.0, "bursts of {burst}");
        // Backpressure helps others, not these; in one queue with everything else, all suffer. By how much is
        // measured.
        if blocked > 3.0 {
            assert!(at("beside-voq") > beside && at("beside-voq-1") > at("beside-voq"), "bursts of {burst}");
        }
    }
}
