//! Many switches: bounds and counts that do not depend on how a switch is built.

use super::lab::{replicate, run, scenario};
use super::row::{Known, Row, Source};
use serde_json::{Value, json};

const HOT_SPOT: Source = Source::literature(
    "Pfister and Norton 1985: a hot spot of share h limits N sources to 1/(1 + h (N - 1)). Here the hot \
     endpoint sends nothing: the other N - 1 get 1/((N - 1) (h + (1 - h)/N))",
    Known::Abstract,
);
const CHANNELS: Source = Source::literature(
    "Dally and Towles 2004: uniform traffic on a k-ary n-mesh loads the middle channels with k^(n+1)/4 \
        packets of a \
     cycle of all pairs",
    Known::Abstract,
);
const TORUS: Source = Source::literature(
    "Dally and Towles 2004: uniform traffic on a k-ary n-cube, k odd, loads each channel with \
     N (k^2 - 1) / (8 k) packets of a cycle of all N^2 pairs",
    Known::Abstract,
);
const BISECTION: Source = Source::literature(
    "bisection bound of a k-ary 2-mesh under uniform traffic: 4/k x (N - 1)/N of a link",
    Known::Derived,
);
const HOPS: Source = Source::derived("octets on links = sum over flows of octets x hops");
const BANYAN: Source = Source::literature(
    "Kruskal, Snir, Weiss 1988: stage i of a banyan of k x k switches waits (1 + 4 p/(5 k) (1 - \
        (2/5)^(i-1))) times \
     (1 - 1/k) p / (2 (1 - p)) slots",
    Known::Abstract,
);

fn saturated() -> Value {
    json!({ "saturated": { "backlog": 2 } })
}

/// A hot spot that everybody has to wait for.
pub(crate) fn hot_spot() -> Vec<Row> {
    let ports = 64_u32;
    let row = |h: f64| {
        // The share of one endpoint in Pfister and Norton's model: the hot part, and its part of the rest.
        // The endpoint itself sends to others only, so one source less divides it.
        let share = h + (1.0 - h) / f64::from(ports);
        let flow = json!({
            "name": "f", "from": ["all", "!ep/00"], "size": 256, "address_bits": 66, "arrivals": saturated(),
            "to": { "hotspot": { "hot": ["ep/00"], "share": share } }
        });
        let mut scenario = scenario(
            json!({ "fat_tree": { "ports": 16, "endpoints": ports } }),
            json!([flow]),
            "4 ms",
            "1 ms",
        );
        scenario["switch"] = json!({ "input": "fifo", "arbitration": "oldest_first" });
        let law = 1.0 / (f64::from(ports - 1) * share);
        let loads = replicate(&scenario, 6, |run| {
            let all: u128 = run.config.flows.iter().map(|flow| run.packets(&flow.name).link_ps).sum();
            all as f64 / run.window_ps as f64 / f64::from(ports - 1)
        });
        Row::exact(
            "hot-spot",
            format!("64 endpoints, h = {h}: load that each source gets through"),
            "",
            HOT_SPOT,
        )
        .expects(law)
        .allows(0.01 * law, "the hot share of a finite run is drawn, and its link rests for symbols")
        .found_in(&loads)
    };
    [0.05, 0.1, 0.2].map(row).into()
}

/// Each endpoint sends one packet to each other: exact counts on every channel.
pub(crate) fn channels() -> Vec<Row> {
    let mut rows = Vec::new();
    for (size, middle) in [(vec![8_u32, 8], ("sw/3-0", 128.0)), (vec![4, 4, 4], ("sw/1-0-0", 64.0))] {
        let (device, law) = middle;
        let count: u32 = size.iter().product();
        let flow = json!({
            "name": "f", "from": "all", "size": 64, "limit": count - 1, "arrivals": saturated(),
            "to": { "uniform": {} }
        });
        let mut scenario = scenario(json!({ "mesh": { "size": size } }), json!([flow]), "1 ms", "0 ps");
        // One flow for each source, with the others in turn.
        let names = run(&{
            let mut empty = scenario.clone();
            empty["traffic"][0]["limit"] = json!(0);
            empty
        })
        .config;
        let endpoints: Vec<&str> =
            names.devices.iter().map(|d| d.path.as_str()).filter(|path| path.starts_with("ep/")).collect();
        scenario["traffic"] = endpoints
            .iter()
            .enumerate()
            .map(|(n, from)| {
                // Everybody begins with the next one, so that no endpoint is everybody's first.
                let others: Vec<&str> = endpoints[n + 1..].iter().chain(&endpoints[..n]).copied().collect();
                json!({
                    "name": format!("f{n}"), "from": from, "size": 64, "limit": count - 1,
                    "arrivals": saturated(), "to": { "cycle": others }
                })
            })
            .collect();
        let run = run(&scenario);
        assert_eq!(run.outcome.in_flight, 0, "all have arrived");
        let of_middle = (0..16).filter_map(|port| {
            let number = run.config.devices.iter().position(|d| d.path == device)? as u32;
            run.outcome.ports.iter().find(|(d, p, _)| (*d, *p) == (number, port))
        });
        let most = of_middle.map(|(.., stats)| stats.packets_sent).max().expect("it has ports");
        let dimensions = size.len();
        rows.push(
            Row::exact(
                "channels",
                format!("{dimensions}-dimensional mesh of {count}: packets on a middle channel"),
                "packets",
                CHANNELS,
            )
            .expects(law)
            .found(most as f64),
        );
        // Manhattan distance and the two links at the ends.
        let at = |n: u32| -> Vec<i64> {
            let mut left = n;
            size.iter()
                .rev()
                .map(|k| {
                    let x = left % k;
                    left /= k;
                    i64::from(x)
                })
                .collect()
        };
        let hops: i64 = (0..count)
            .flat_map(|a| (0..count).map(move |b| (a, b)))
            .filter(|(a, b)| a != b)
            .map(|(a, b)| 2 + at(a).iter().zip(at(b)).map(|(x, y)| (x - y).abs()).sum::<i64>())
            .sum();
        let sent: u64 = run.outcome.ports.iter().map(|(.., stats)| stats.packets_sent).sum();
        rows.push(
            Row::exact(
                "channels",
                format!("{dimensions}-dimensional mesh of {count}: packets on all links"),
                "packets",
                HOPS,
            )
            .expects(hops as f64)
            .found(sent as f64),
        );
    }
    rows.extend(torus());
    rows
}

/// Likewise on a torus by shortest ways. Rings of odd length have no ties, so all channels carry the same.
/// Few packets are under way at a time, because ways round a ring could wait for each other.
fn torus() -> Vec<Row> {
    let k = 5_u32;
    let count = k * k;
    let endpoint = |n: u32| format!("ep/{:02}", n % count);
    let flow = |n: u32| {
        let others: Vec<String> = (n + 1..n + count).map(endpoint).collect();
        json!({
            "name": format!("f{n}"), "from": endpoint(n), "size": 64, "limit": count - 1,
            "arrivals": { "constant": { "interval": "1 us" } }, "to": { "cycle": others }
        })
    };
    let topology = json!({ "torus": { "size": [k, k] } });
    let mut scenario = scenario(topology, (0..count).map(flow).collect(), "1 ms", "0 ps");
    scenario["routing"] = json!({ "method": "shortest", "allow_deadlock": true });
    let run = run(&scenario);
    assert_eq!(run.outcome.in_flight, 0, "all have arrived");
    let between = |device: u32, port: u8| {
        let number = |path: &str| run.config.devices.iter().position(|d| d.path == path);
        let ends = run.config.links.iter().find(|link| [link.a, link.b].contains(&(device, port)));
        let ends = ends.map(|link| [link.a.0, link.b.0]).expect("every port has a link");
        (0..count).all(|n| !ends.contains(&(number(&endpoint(n)).expect("an endpoint") as u32)))
    };
    let sent = |(device, port, stats): &(u32, u8, models::stats::PortStats)| {
        between(*device, *port).then_some(stats.packets_sent)
    };
    let channels: Vec<u64> = run.outcome.ports.iter().filter_map(sent).collect();
    assert_eq!(channels.len() as u32, 4 * count);
    let ends = [("fullest", channels.iter().max()), ("emptiest", channels.iter().min())];
    let row = |(name, found): (&str, Option<&u64>)| {
        let what = format!("2-dimensional torus of {count}: packets on the {name} channel");
        Row::exact("channels", what, "packets", TORUS)
            .expects(f64::from(count * (k * k - 1)) / f64::from(8 * k))
            .found(*found.expect("there are channels") as f64)
    };
    ends.map(row).into()
}

/// No routing brings more over the middle than its links carry.
pub(crate) fn bisection() -> Vec<Row> {
    let flow = json!({
        "name": "f", "from": "all", "to": { "uniform": {} }, "size": 256, "address_bits": 66,
        "arrivals": saturated()
    });
    let scenario = scenario(json!({ "mesh": { "size": [8, 8] } }), json!([flow]), "600 us", "200 us");
    let loads = replicate(&scenario, 4, |run| run.load("f") / 64.0);
    vec![
        Row::exact(
            "bisection",
            "8 x 8 mesh, saturated, uniform: load that each source gets through",
            "",
            BISECTION,
        )
        .expects_at_most(4.0 / 8.0 * 63.0 / 64.0)
        .found_in(&loads),
    ]
}

/// Buffered banyan of 2 x 2 switches with a cell clock.
pub(crate) fn banyan() -> Vec<Row> {
    let lines = 8_usize;
    let stages = 3;
    let shuffle = |line: usize| (line * 2) % lines + (line * 2) / lines;
    let mut devices = Vec::new();
    let mut links = Vec::new();
    for n in 0..lines {
        devices.push(json!({ "name": format!("s/{n}"), "id": n }));
        devices.push(json!({ "name": format!("d/{n}"), "id": lines + n }));
    }
    for stage in 0..stages {
        for n in 0..lines / 2 {
            devices.push(json!({ "name": format!("x{stage}/{n}"), "ports": 4 }));
        }
        for line in 0..lines {
            let entry = shuffle(line);
            let before = match stage {
                0 => format!("s/{line}"),
                _ => format!("x{}/{}:{}", stage - 1, line / 2, 2 + line % 2),
            };
            links.push(json!({ "a": before, "b": format!("x{stage}/{}:{}", entry / 2, entry % 2) }));
        }
    }
    for line in 0..lines {
        links.push(json!({ "a": format!("x2/{}:{}", line / 2, 2 + line % 2), "b": format!("d/{line}") }));
    }
    let (slot_ns, packet_ps) = (117_u64, super::lab::T_PS);
    let row = |p: f64| {
        let flow = json!({
            "name": "f", "from": "s/*", "to": { "uniform": { "among": "d/*" } },
            "size": 256, "address_bits": 66,
            "arrivals": { "bernoulli": {
                "load": p * packet_ps / (slot_ns * 1_000) as f64, "slot": format!("{slot_ns} ns")
            } }
        });
        let topology = json!({ "explicit": { "devices": devices, "links": links } });
        let mut scenario = scenario(topology, json!([flow]), "8 ms", "1 ms");
        scenario["routing"] = json!({ "allow_deadlock": true });
        scenario["switch"] = json!({
            "input": "voq", "buffering": "output", "buffer_packets": 4096, "arbitration": "oldest_first",
            "slot": format!("{slot_ns} ns"), "input_buffers": 32
        });
        let waits = replicate(&scenario, 12, |run| {
            let tally = run.packets("f");
            (tally.mean_ps() - tally.least_ps as f64) / (slot_ns * 1_000) as f64
        });
        let first = 0.5 * p / (2.0 * (1.0 - p));
        let law: f64 = (0..stages).map(|i| first * (1.0 + 4.0 * p / 10.0 * (1.0 - 0.4_f64.powi(i)))).sum();
        Row::exact("banyan", format!("three stages of 2 x 2 switches: mean wait at p = {p}"), "slots", BANYAN)
            .expects(law)
            .allows(0.02 * law, "the law of later stages is an approximation")
            .found_in(&waits)
    };
    [0.4, 0.6].map(row).into()
}
