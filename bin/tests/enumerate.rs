//! The study `enumerate`: what the host finds in 64 devices, how long it takes, and what comes after. The
//! summary is kept in `results/reference`; `BLESS=1` writes it anew.

use models::config::{DeviceModel, Egress};
use models::run::{ListKind, PipelineMode, RunOptions};
use models::{Outcome, Simulation};
use scenarios::Variant;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn variants() -> Vec<Variant> {
    let path = root().join("scenarios/enumerate.json");
    let text = fs::read_to_string(&path).unwrap();
    scenarios::load(&text, &path.to_string_lossy(), &[]).unwrap_or_else(|e| panic!("{}", e.render())).variants
}

fn run(variant: &Variant, options: RunOptions) -> Outcome {
    let mut simulation = Simulation::new(Arc::clone(&variant.config), options, ());
    let _ = simulation.run(variant.until, u64::MAX);
    simulation.finish().1
}

fn summary() -> Value {
    let words = ["run", "scenarios/enumerate.json", "--json", "--no-figures", "--out"];
    let home = tempfile::TempDir::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_riosim"))
        .args(words)
        .arg(home.path().join("out"))
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let path = root().join("results/reference/enumerate.json");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let line = kept.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0) + 1;
    assert!(
        kept == text,
        "results/reference/enumerate.json differs from line {line}; BLESS=1 writes it anew"
    );
    serde_json::from_str(&text).unwrap()
}

#[test]
fn what_the_study_says() {
    let summary = summary();
    let of = |name: &str| {
        let all = summary["variants"].as_array().unwrap();
        all.iter().find(|variant| variant["name"] == name).expect("the study has this variant").clone()
    };
    let (fast, slow, builder) = (of("fabric"), of("slow-host"), of("builder"));
    let number = |value: &Value, key: &str| value["enumeration"][key].as_f64().unwrap();
    for variant in [&fast, &slow] {
        let found = ["devices", "switches", "ports", "links", "problems", "repetitions", "timeouts"];
        let found: Vec<f64> = found.iter().map(|key| number(variant, key)).collect();
        // 12 leaves and 4 spines of 12 ports, 48 endpoints; 48 links to endpoints, 48 between switches.
        assert_eq!(found, [64.0, 16.0, 240.0, 96.0, 0.0, 0.0, 0.0]);
        let phases = variant["enumeration"]["phases"].as_array().unwrap();
        let accesses = |phase: &Value| phase["reads"].as_u64().unwrap() + phase["writes"].as_u64().unwrap();
        assert_eq!(phases.iter().map(accesses).sum::<u64>() as f64, number(variant, "requests"));
        // An access moves the 4 octets of a register, and takes two packets of 12 and 20 octets with their
        // delimiters of 8: 48 octets. All are there at the end of the last phase.
        let flows = variant["flows"].as_array().unwrap();
        let flow = flows.iter().find(|flow| flow["name"] == "enumeration").expect("accesses have a flow");
        let (told, accessed) = (&flow["protocol"], number(variant, "requests"));
        for (key, each) in [
            ("requests", 1.0),
            ("responses", 1.0),
            ("payload_octets", 4.0),
            ("delivered_octets", 4.0),
            ("link_octets", 48.0),
        ] {
            assert_eq!(told[key].as_f64(), Some(each * accessed), "{key}");
        }
        let number_of = |value: &Value| value.as_f64().unwrap();
        let rate = number_of(&flow["goodput_gbps"]["value"]);
        let [from, to] = [0, 1].map(|n| number_of(&flow["goodput_over_us"][n]));
        let law = 32.0 * accessed / (to - from) / 1e3;
        assert!((rate / law - 1.0).abs() < 1e-6, "{rate} Gb/s for {law}");
        // The slow host takes a microsecond for the first request, and for the last answer.
        let late = number(variant, "done_us") - to;
        assert!([from, late].iter().all(|time| (0.0..1.001).contains(time)), "{from}, {late}");
        // 48 ids in steps of 4 are 24 writes to each switch; the rest leads the requests there.
        assert!(accesses(&phases[1]) >= 16 * 24);
        assert_eq!(phases[0]["reads"].as_u64(), phases.iter().map(|p| p["reads"].as_u64()).max().unwrap());
    }
    // One microsecond for each request, until the first endpoints may send. (Refresh symbols may get into the
    // way of a packet.)
    let start = |variant: &Value| variant["enumeration"]["phases"][4]["from_us"].as_f64().unwrap();
    let started = fast["enumeration"]["phases"][4]["writes"].as_u64().unwrap() as f64;
    let extra = start(&slow) - start(&fast);
    let requests = number(&fast, "requests") - started;
    assert!((extra - requests).abs() < 1e-3 * requests, "{extra} us for {requests} requests");
    // Then answers have to share the links with traffic.
    assert!(number(&slow, "done_us") - start(&slow) > started);
    // What comes after is the same fabric.
    assert!(builder.get("enumeration").is_none());
    let goodput = |variant: &Value| variant["flows"][0]["goodput_gbps"]["value"].as_f64().unwrap();
    assert!((goodput(&fast) / goodput(&builder) - 1.0).abs() < 0.02);
    assert!(fast["fabric"]["xoff_edges"].as_u64() > Some(0), "the enables work");
}

#[test]
fn the_fabric_is_the_one_that_the_file_describes() {
    for variant in variants().iter().filter(|variant| variant.config.enumeration.is_some()) {
        let outcome = run(variant, RunOptions::default());
        let report = outcome.enumeration.expect("a host");
        assert!(report.as_planned && outcome.dropped == 0);
        let config = &variant.config;
        let real: Vec<u32> = report.devices.iter().map(|found| found.device.unwrap()).collect();
        let ends = |a: (u32, u8), b: (u32, u8)| if a < b { (a, b) } else { (b, a) };
        let name = |(n, port): (u32, u8)| (real[n as usize], port);
        let mut found: Vec<_> = report.links.iter().map(|&(a, b)| ends(name(a), name(b))).collect();
        let mut links: Vec<_> = config.links.iter().map(|link| ends(link.a, link.b)).collect();
        found.sort_unstable();
        links.sort_unstable();
        assert_eq!(found, links);
        // Follow every id from every switch by what the registers say at the end.
        let next = |device: u32, id: u32| {
            let (_, table) = report.tables.iter().find(|(switch, _)| *switch == device)?;
            let port = table[id as usize].expect("every id has a route");
            config.links.iter().find_map(|link| match (device, port) {
                end if end == link.a => Some(link.b.0),
                end if end == link.b => Some(link.a.0),
                _ => None,
            })
        };
        for (device, endpoint) in config.devices.iter().enumerate() {
            let DeviceModel::Endpoint(endpoint) = &endpoint.model else { continue };
            for (switch, _) in &report.tables {
                let mut at = *switch;
                for _ in 0..4 {
                    at = next(at, endpoint.ids[0]).unwrap_or(at);
                }
                assert_eq!(at, device as u32);
            }
        }
        for (switch, table) in &report.tables {
            let DeviceModel::Switch(compiled) = &config.devices[*switch as usize].model else { panic!() };
            for (written, route) in table.iter().zip(compiled.routes.entries.iter()) {
                assert_eq!(written.map_or(Egress::Drop, Egress::Port), route.egress);
            }
        }
    }
}

#[test]
fn speed_changes_nothing() {
    let variant = &variants()[0];
    let mut short = variant.clone();
    short.until = models::sim_core::Time(2_500_000_000);
    let fast = run(&short, RunOptions::default());
    let (list, pipeline) = (ListKind::Heap, PipelineMode::Unfolded);
    let slow = run(&short, RunOptions { list, pipeline, ..RunOptions::default() });
    assert_eq!((fast.outcome, fast.trajectory), (slow.outcome, slow.trajectory));
    assert_eq!((fast.enumeration, fast.ports), (slow.enumeration, slow.ports));
}
