//! Frames of modules and chassis in the drawing.

use crate::Home;
use serde_json::{Value, json};

/// A thing in the drawing: name, left, top, right and bottom.
type Place = (String, [f64; 4]);

fn number(markup: &str, attribute: &str) -> f64 {
    let (_, rest) =
        markup.split_once(&format!(" {attribute}=\"")).unwrap_or_else(|| panic!("{attribute}: {markup}"));
    rest.split('"').next().unwrap().parse().unwrap()
}

/// The frames and the devices of a page with one drawing.
fn drawn(home: &Home, topology: &Value, traffic: &Value) -> [Vec<Place>; 2] {
    home.write(
        "t.json",
        &json!({
            "name": "t", "topology": topology,
            "run": {"until": "1 us", "warmup": "0 ps", "stall_after": "off"},
            "routing": {"allow_deadlock": true},
            "traffic": [{"name": "any", "from": traffic, "to": {"uniform": {}},
                         "arrivals": {"poisson": {"load": 0.1}}}]
        }),
    );
    home.ends(&["t.json", "--out", "t", "--quiet", "--no-figures"], 0);
    home.ends(&["report", "t", "-o", "t.html"], 0);
    let page = home.read("t.html");
    let frame = |markup: &str| {
        let name =
            markup.split_once("<text").unwrap().1.split_once('>').unwrap().1.split('<').next().unwrap();
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| number(markup, name));
        (name.to_owned(), [x, y, x + width, y + height])
    };
    let device = |markup: &str| {
        let name = markup.split_once("<title>").unwrap().1.split('<').next().unwrap();
        let place = match markup.contains("<circle") {
            true => [("cx", 6.0), ("cy", 6.0)].map(|(at, r)| (number(markup, at) - r, 2.0 * r)),
            false => {
                [("x", "width"), ("y", "height")].map(|(at, size)| (number(markup, at), number(markup, size)))
            }
        };
        let [(x, width), (y, height)] = place;
        (name.to_owned(), [x, y, x + width, y + height])
    };
    let frames = page.split("<g class=\"module\">").skip(1).map(frame).collect();
    [frames, page.split("<g class=\"dev\"").skip(1).map(device).collect()]
}

fn inside(inner: &[f64; 4], outer: &[f64; 4]) -> bool {
    inner[0] > outer[0] && inner[1] > outer[1] && inner[2] < outer[2] && inner[3] < outer[3]
}

fn apart(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1]
}

/// What begins with the name of a frame lies in it, and nothing else touches it.
fn hold(frames: &[Place], things: &[Place]) {
    for (name, frame) in frames {
        for (other, place) in things.iter().chain(frames).filter(|(other, _)| other != name) {
            let within = other.starts_with(&format!("{name}/"));
            let around = name.starts_with(&format!("{other}/"));
            let good = if within { inside(place, frame) } else { around || apart(place, frame) };
            assert!(good, "{other} at {place:?}, {name} at {frame:?}");
        }
    }
}

/// Two chassis of a backplane and two boards each, joined by a switch that is in none of them, and an
/// endpoint that hangs on it.
#[test]
fn modules_and_chassis_are_framed() {
    let mut devices = vec![json!({"name": "core", "ports": 4}), json!({"name": "monitor"})];
    let mut links = vec![json!({"a": "core:3", "b": "monitor"})];
    let mut wanted = Vec::new();
    for chassis in 0..2 {
        let at = |name: &str| format!("c{chassis}/{name}");
        wanted.push(format!("c{chassis}"));
        devices.push(json!({"name": at("backplane"), "ports": 4}));
        links.push(json!({"a": format!("core:{chassis}"), "b": at("backplane:0")}));
        for board in 0..2 {
            let of = |name: &str| at(&format!("board{board}/{name}"));
            wanted.push(at(&format!("board{board}")));
            devices.push(json!({"name": of("sw"), "ports": 4}));
            links.push(json!({"a": at(&format!("backplane:{}", board + 1)), "b": of("sw:0")}));
            for (port, cpu) in ["cpu/a", "cpu/b"].into_iter().enumerate() {
                devices.push(json!({"name": of(cpu)}));
                links.push(json!({"a": of(&format!("sw:{}", port + 1)), "b": of(cpu)}));
            }
        }
    }
    let home = Home::new();
    let [frames, things] =
        drawn(&home, &json!({"explicit": {"devices": devices, "links": links}}), &json!("all"));
    let names: Vec<&str> = frames.iter().map(|frame| frame.0.as_str()).collect();
    // two CPUs are of one kind, no link is between them
    assert_eq!(names, wanted);
    assert_eq!(things.len(), devices.len());
    hold(&frames, &things);
    let groups = json!({"dragonfly": {"groups": 3, "switches_per_group": 2, "endpoints_per_switch": 2}});
    let [frames, things] = drawn(&home, &groups, &json!("all"));
    assert_eq!(frames.len(), 3, "{frames:?}");
    hold(&frames, &things);
}

/// Names that only number devices of a kind frame nothing.
#[test]
fn kinds_of_devices_are_no_modules() {
    let home = Home::new();
    for topology in [
        json!({"fat_tree": {"ports": 4, "endpoints": 8}}),
        json!({"chain": {"switches": 3, "endpoints_per_switch": 2}}),
        json!({"mesh": {"size": [3, 3]}}),
        json!({"star": {"arms": 3, "endpoints_per_arm": 2}}),
    ] {
        let [frames, things] = drawn(&home, &topology, &json!("all"));
        assert!(frames.is_empty() && !things.is_empty(), "{topology}: {frames:?}");
    }
}
