//! Random traffic of every kind.

use crate::draw::Draw;
use crate::generate::{Fields, World, service, us};
use serde_json::{Value, json};

/// One to four flows.
pub fn flows(d: &mut Draw, world: &World) -> Vec<Value> {
    let count = d.of("flows", &[1, 1, 2, 2, 3, 4]);
    let mut flows: Vec<Value> = Vec::new();
    let kinds = ["packets", "trace", "messages", "streams", "rpc", "linx", "session", "st", "echo"];
    for n in 0..count {
        let mut kind = d.of("kind", &kinds);
        let taken = |kind: &str| flows.iter().any(|flow| flow.get(kind).is_some());
        if world.bare {
            kind = if kind == "trace" { kind } else { "packets" };
        } else if world.medium.is_some() {
            kind = "st";
        } else if taken(kind) && !(may_come_again(&flows, kind) && d.chance(60))
            || world.channels && d.chance(60)
        {
            kind = "packets";
        }
        let again = taken(kind);
        let mut flow = Fields::new();
        flow.insert("name".into(), format!("{kind}-{n}").into());
        match kind {
            "packets" => packets(d, world, &mut flow),
            "trace" => trace(d, world, &mut flow),
            "messages" => messages(d, world, &mut flow),
            "streams" => streams(d, world, &mut flow),
            "rpc" => rpc(d, world, &mut flow),
            "linx" => linx(d, world, &mut flow, again),
            "session" => session(d, world, &mut flow, &flows),
            "echo" => echo(d, world, &mut flow),
            _ => transfers(d, world, &mut flow),
        }
        let alone = flow.get("st").is_some_and(|st| st.get("stripes").is_some());
        flows.push(flow.into());
        // Other flows would have to know the same hosts.
        if alone && d.chance(90) {
            break;
        }
    }
    if world.configured && d.chance(if world.writes.is_some() { 95 } else { 20 }) {
        initialise(d, world, &mut flows);
    }
    flows
}

/// Processors that write into registers what nodes do not write themselves, in one stage or in two.
fn initialise(d: &mut Draw, world: &World, flows: &mut Vec<Value>) {
    let own = world.writes.clone().unwrap_or_default();
    let known = |part: &&str| own.iter().any(|own| own == part);
    let rest: Vec<&str> = ["contact", "periods"].into_iter().filter(|part| !known(part)).collect();
    let first = if own.is_empty() || world.writes.is_none() { 1 } else { 2 };
    let mut stages =
        if rest.len() == 2 && d.chance(50) { vec![vec![rest[0]], vec![rest[1]]] } else { vec![rest] };
    if d.chance(30) {
        stages.reverse();
    }
    for (n, writes) in stages.iter().enumerate() {
        let mut fields = Fields::new();
        if first + n > 1 || d.chance(30) {
            fields.insert("stage".into(), (first + n).into());
        }
        if stages.len() > 1 || d.chance(30) {
            fields.insert("writes".into(), json!(writes));
        }
        d.set(&mut fields, 40, "InitialiseSpec/at", &["0 ps", "3 us"]);
        d.set(&mut fields, 40, "InitialiseSpec/offset", &["500 ns", "20 us"]);
        d.set(&mut fields, 10, "InitialiseSpec/lock", &[0, 7, 65_534]);
        if d.chance(80) {
            let time = d.of("InitialiseSpec/poll", &[2, 30]);
            fields.insert("poll".into(), scaled(world, time));
        }
        d.set(&mut fields, 30, "InitialiseSpec/attempts", &[1, 3, 100]);
        let mut flow = Fields::new();
        flow.insert("name".into(), format!("initialise-{n}").into());
        flow.insert("from".into(), json!(d.some(&world.shape.endpoints, 2)));
        flow.insert("to".into(), json!({"uniform": {}}));
        d.set(&mut flow, 30, "initialise/priority", &[0, 2]);
        flow.insert("initialise".into(), fields.into());
        flows.push(flow.into());
    }
}

/// Whether a second flow of this kind has a meaning of its own: other ports, or another protocol.
fn may_come_again(flows: &[Value], kind: &str) -> bool {
    let scripted = |flow: &Value| flow["session"].get("script").is_some();
    kind == "linx" || kind == "session" && !flows.iter().any(scripted)
}

/// Who sends, and to whom.
fn ends(d: &mut Draw, world: &World, flow: &mut Fields, packets: bool) {
    let all = &world.shape.endpoints;
    let pattern =
        ["name", "id", "uniform", "permutation", "incast", "tornado", "neighbour", "cycle", "hotspot"];
    let target = d.any(all);
    let others: Vec<String> = all.iter().filter(|name| **name != target).cloned().collect();
    let some = |d: &mut Draw| -> Value {
        match d.of("from", &["all", "some", "one"]) {
            "all" => json!("all"),
            "some" => d.some(all, 2).into(),
            _ => d.any(all).into(),
        }
    };
    let (from, to) = match d.of("ToPattern", &pattern) {
        "name" => (d.some(&others, 1).into(), json!(target)),
        "uniform" => {
            let mut uniform = Fields::new();
            if d.chance(30) {
                uniform.insert("among".into(), json!(d.some(all, 2)));
            }
            if packets && !world.shape.switches.is_empty() {
                d.set(&mut uniform, 25, "UniformSpec/include_self", &[true, true, true, false]);
            }
            (some(d), json!({"uniform": uniform}))
        }
        "permutation" => {
            let kinds = ["random", "bit_complement", "bit_reverse", "transpose", "shuffle"];
            let mut kind = d.of("PermutationKind", &kinds);
            if !all.len().is_power_of_two() || kind == "transpose" && !all.len().ilog2().is_multiple_of(2) {
                kind = "random";
            }
            let mut permutation = Fields::new();
            permutation.insert("kind".into(), kind.into());
            if kind == "random" {
                if d.chance(30) {
                    permutation.insert("among".into(), json!(d.some(all, 2)));
                }
                d.set(&mut permutation, 40, "PermutationSpec/seed", &[1, 9]);
            }
            (json!("all"), json!({"permutation": permutation}))
        }
        "incast" => (json!("all"), json!({"incast": {"target": target}})),
        "tornado" if all.len() > 2 => (json!("all"), json!({"tornado": {}})),
        "neighbour" => {
            let among = d.some(all, 2);
            match d.of("AmongSpec", &["all", "among"]) {
                "all" => (json!("all"), json!({"neighbour": {}})),
                _ => (json!(among), json!({"neighbour": {"among": among}})),
            }
        }
        "cycle" => {
            let list = d.some(&others, 1);
            (json!(target), json!({"cycle": list}))
        }
        "hotspot" if packets => {
            let mut spot = Fields::new();
            spot.insert("hot".into(), json!([target]));
            spot.insert(
                "share".into(),
                d.of("HotspotSpec/share", &[json!(0.4), json!("20 %"), json!("1/3")]),
            );
            if d.chance(50) {
                spot.insert(
                    "hot_flow".into(),
                    format!("{}-spot", flow["name"].as_str().expect("a name")).into(),
                );
            }
            (json!("all"), json!({"hotspot": spot}))
        }
        "id" if !world.configured && !world.shape.ids.is_empty() => {
            let at = all.iter().position(|name| *name == target).expect("it is one of them");
            (json!(others), json!(world.shape.ids[at]))
        }
        _ => (json!(others), json!(target)),
    };
    flow.insert("from".into(), from);
    flow.insert("to".into(), to);
    if packets && !world.groups.is_empty() && d.chance(50) {
        flow.insert("to".into(), json!(d.any(&world.groups)));
    }
}

fn arrivals(d: &mut Draw, world: &World, flow: &mut Fields, closed: bool) {
    let loads = [json!(0.05), json!(0.3), json!("50 %"), json!("9/10")];
    let kinds = ["poisson", "bernoulli", "load", "interval", "on_off", "saturated"];
    let mut kind = d.of("ArrivalSpec", &kinds);
    if kind == "saturated" && !closed {
        kind = "poisson";
    }
    let load = d.of("load", &loads);
    let process = match kind {
        "poisson" => json!({"poisson": {"load": load}}),
        "bernoulli" => {
            let mut fields = Fields::new();
            fields.insert("load".into(), load);
            d.set(&mut fields, 15, "BernoulliSpec/slot", &["20 ns"]);
            json!({"bernoulli": fields})
        }
        "load" => json!({"constant": {"load": load}}),
        "interval" => {
            let mut fields = Fields::new();
            fields.insert("interval".into(), d.of("ConstantSpec/interval", &["9 us", "23 us"]).into());
            d.set(&mut fields, 60, "ConstantSpec/phase", &["random", "0 ps", "2 us"]);
            json!({"constant": fields})
        }
        "on_off" => json!({"on_off": {
            "load": d.of("OnOffSpec/load", &[0.1, 0.3]), "on": d.of("on", &["3 us", "6 us"]),
            "off": d.of("off", &["4 us", "6 us"])
        }}),
        _ => {
            let mut fields = Fields::new();
            d.set(&mut fields, 50, "SaturatedSpec/backlog", &[1, 3, 9]);
            json!({"saturated": fields})
        }
    };
    flow.insert("arrivals".into(), process);
    let limited = if world.configured { 100 } else { 90 };
    d.set(flow, limited, "FlowSpec/limit", &[1, 7, 40]);
    if world.configured {
        return;
    }
    if d.chance(20) {
        flow.insert("start".into(), us(d.between(0, world.until / 2)));
    }
    if d.chance(15) {
        flow.insert("stop".into(), us(d.between(world.until / 2 + 1, world.until)));
    }
}

/// Most octets of what hosts send in these runs.
fn sizes(d: &mut Draw, flow: &mut Fields, table: &str, values: &[u64]) {
    if d.chance(60) {
        flow.insert("size".into(), d.of(table, values).into());
    } else if d.chance(40) {
        let (a, b) = (d.any(values), d.any(values));
        let weight = d.of("SizeShare/weight", &[1, 3, 0]);
        flow.insert("size".into(), json!([{"payload": a, "weight": 2}, {"payload": b, "weight": weight}]));
    }
}

fn packets(d: &mut Draw, world: &World, flow: &mut Fields) {
    ends(d, world, flow, true);
    arrivals(d, world, flow, true);
    let kinds = ["nwrite", "swrite", "nread", "data_streaming", "doorbell", "message", "response"];
    let kind = d.of("PacketKind", &kinds);
    if kind != "nwrite" || d.chance(40) {
        flow.insert("packet".into(), kind.into());
    }
    if kind == "nread" || kind == "doorbell" {
        flow.insert("size".into(), 0.into());
    } else {
        sizes(d, flow, "packet/size", &[8, 16, 64, 128, 256]);
    }
    if matches!(kind, "nwrite" | "swrite" | "nread") {
        d.set(flow, 25, "FlowSpec/address_bits", &[34, 50, 66]);
    }
    if world.channels && flow["to"] != "group" && d.chance(70) {
        flow.insert("vc".into(), d.of("FlowSpec/vc", &[0, 1, 2, 3, 4, 5, 6, 7, 8]).into());
    } else {
        d.set(flow, 60, "FlowSpec/priority", &[0, 1, 2, 3]);
    }
}

fn trace(d: &mut Draw, world: &World, flow: &mut Fields) {
    let mut at = 0;
    let rows: Vec<Value> = (0..d.between(1, 30))
        .map_while(|_| {
            at += d.between(0, 2_000_000);
            // What comes when the run is over is an error.
            if at >= world.until * 1_000_000 {
                return None;
            }
            let pair = loop {
                let pair = [d.any(&world.shape.endpoints), d.any(&world.shape.endpoints)];
                if pair[0] != pair[1] {
                    break pair;
                }
            };
            let kind = d.of("ftype", &[5, 6, 9, 11, 13]);
            let octets = d.of("trace/size", &[8, 64, 256]);
            let priority = d.of("trace/priority", &[0, 1, 2, 3]);
            Some(format!("{at},{},{},{octets},{priority},{kind}", pair[0], pair[1]).into())
        })
        .collect();
    flow.insert("arrivals".into(), json!({"trace": {"rows": rows}}));
}

fn priority(d: &mut Draw, flow: &mut Fields) {
    d.set(flow, 50, "protocols/priority", &[0, 1, 2]);
}

fn message(d: &mut Draw) -> (Fields, u64) {
    let mut fields = Fields::new();
    d.set(&mut fields, 50, "MessagesSpec/segment", &[8, 16, 32, 64, 128, 256]);
    let segment = fields.get("segment").and_then(Value::as_u64).unwrap_or(256);
    d.set(&mut fields, 40, "MessagesSpec/mailbox", &[0, 1, 2, 3]);
    (fields, segment)
}

fn messages(d: &mut Draw, world: &World, flow: &mut Fields) {
    ends(d, world, flow, false);
    arrivals(d, world, flow, true);
    let (mut fields, segment) = message(d);
    if d.chance(15) {
        fields.insert("mailbox".into(), d.of("mailbox", &[4, 63]).into());
        flow.insert("size".into(), d.of("single/size", &[1, 7, 8]).into());
    } else {
        let most = 16 * segment;
        let drawn = d.of("messages/size", &[1, 8, 100, 500, 4_096]);
        flow.insert("size".into(), drawn.min(most).into());
    }
    flow.insert("messages".into(), fields.into());
    priority(d, flow);
}

fn streams(d: &mut Draw, world: &World, flow: &mut Fields) {
    ends(d, world, flow, false);
    arrivals(d, world, flow, true);
    flow.insert("streams".into(), stream(d, world).into());
    sizes(d, flow, "streams/size", &[1, 2, 77, 256, 1_000, 5_000]);
    priority(d, flow);
}

fn stream(d: &mut Draw, world: &World) -> Fields {
    let mut fields = Fields::new();
    if world.mtu != 256 || d.chance(50) {
        fields.insert("mtu".into(), world.mtu.into());
    }
    d.set(&mut fields, 40, "StreamsSpec/cos", &[0, 1, 7, 255]);
    fields
}

fn rpc(d: &mut Draw, world: &World, flow: &mut Fields) {
    ends(d, world, flow, false);
    arrivals(d, world, flow, true);
    let mut fields = Fields::new();
    d.set(&mut fields, 90, "RpcSpec/via", &["message", "stream", "read", "write"]);
    let via = fields.get("via").and_then(Value::as_str).unwrap_or("message").to_owned();
    match via.as_str() {
        "read" => d.set(&mut fields, 80, "read/response", &[8, 16, 32, 64, 96, 256]),
        "write" => sizes(d, flow, "write/size", &[1, 8, 65, 256]),
        "stream" => {
            sizes(d, flow, "request/size", &[8, 600]);
            d.set(&mut fields, 70, "stream/response", &[1, 8, 900]);
            flow.insert("streams".into(), stream(d, world).into());
        }
        _ => {
            let (fields, segment) = message(d);
            let size = d.of("rpc/size", &[8, 200, 1_000]);
            flow.insert("size".into(), size.min(16 * segment).into());
            flow.insert("messages".into(), fields.into());
            let answer = d.of("message/response", &[8, 128]);
            flow.insert("rpc".into(), json!({"response": answer}));
        }
    }
    if let Some(answer) = flow.get("rpc").and_then(|rpc| rpc.get("response")) {
        fields.insert("response".into(), answer.clone());
    }
    if d.chance(40) {
        let time = d.of("RpcSpec/timeout", &[5, 60]) * world.clock;
        fields.insert("timeout".into(), format!("{time} us").into());
    }
    flow.insert("rpc".into(), fields.into());
    priority(d, flow);
}

fn echo(d: &mut Draw, world: &World, flow: &mut Fields) {
    ends(d, world, flow, false);
    arrivals(d, world, flow, true);
    let mut fields = Fields::new();
    d.set(&mut fields, 60, "EchoSpec/carrier", &["message", "stream"]);
    sizes(d, flow, "echo/size", &[1, 8, 100, 600, 4_096]);
    if d.chance(40) {
        let time = d.of("EchoSpec/timeout", &[5, 60]) * world.clock;
        fields.insert("timeout".into(), format!("{time} us").into());
    }
    flow.insert("echo".into(), fields.into());
    priority(d, flow);
}

fn program(d: &mut Draw, flow: &mut Fields, world: &World, key: &str, fields: &mut Fields) {
    let n = world.shape.endpoints.len();
    let kinds = [
        "allreduce_halving",
        "allreduce_ring",
        "all_to_all",
        "broadcast",
        "reduce",
        "barrier",
        "gather",
        "text",
    ];
    let mut kind = d.of("CollectiveKind", &kinds);
    if kind == "allreduce_halving" && !n.is_power_of_two() {
        kind = "allreduce_ring";
    }
    let mut program = Fields::new();
    if kind == "text" {
        let mut lines = vec![format!("num_ranks {n}")];
        lines.extend(
            ["rank 0 {", "a: calc 500", "b: send 600b to 1 tag 3", "b requires a", "recv 64b from 1", "}"]
                .map(str::to_owned),
        );
        lines.extend(["rank 1 {", "recv 600b from 0 tag 3", "send 64b to 0", "}"].map(str::to_owned));
        program.insert("text".into(), lines.into());
    } else {
        program.insert("collective".into(), kind.into());
        d.set(&mut program, 80, "ProgramSpec/octets", &[1, 100, 3_000]);
        if !program.contains_key("octets") && n > 4 {
            program.insert("octets".into(), 4_000.into());
        }
    }
    d.set(&mut program, 50, "ProgramSpec/eager", &[0, 64, 65_536]);
    fields.insert("program".into(), program.into());
    flow.insert("from".into(), "all".into());
    flow.remove("to");
    let _ = key;
}

/// Times of the protocol clock, given in those of the fabric.
fn scaled(world: &World, time: u64) -> Value {
    format!("{} us", (time * world.clock).max(1)).into()
}

pub fn linx_node(d: &mut Draw, world: &World) -> Fields {
    let mut node = Fields::new();
    d.set(&mut node, 60, "LinxNodeSpec/carrier", &["message", "stream"]);
    let stream = node.get("carrier").is_some_and(|carrier| carrier == "stream");
    if stream {
        d.set(&mut node, 30, "LinxNodeSpec/cos", &[0, 5]);
        d.set(&mut node, 60, "stream/mtu", &[64, 300, 2_000, 65_535]);
    } else {
        d.set(&mut node, 30, "LinxNodeSpec/mailbox", &[0, 3]);
        d.set(&mut node, 30, "LinxNodeSpec/segment", &[64, 128, 256]);
        d.set(&mut node, 40, "LinxNodeSpec/mtu", &[64, 200, 1_024]);
        if !node.contains_key("segment") && !node.contains_key("mtu") && d.chance(20) {
            node.insert("mailbox".into(), 9.into());
        }
    }
    d.set(&mut node, 40, "LinxNodeSpec/hb_tmo", &[0, 1, 5, 9]);
    d.set(&mut node, 30, "LinxNodeSpec/connection_priority", &[0, 1, 2]);
    d.set(&mut node, 30, "LinxNodeSpec/heartbeat_priority", &[0, 1, 2]);
    let priorities = [json!([0]), json!([1, 0]), json!([0, 1, 2])];
    d.set(&mut node, 30, "LinxNodeSpec/data_priorities", &priorities);
    if d.chance(50) {
        let time = d.of("LinxNodeSpec/request_period", &[4, 20]);
        node.insert("request_period".into(), scaled(world, time));
    }
    if d.chance(30) {
        let time = d.of("LinxNodeSpec/reconnect", &[0, 10]);
        node.insert("reconnect".into(), scaled(world, time));
    }
    if d.chance(30) {
        node.insert("reconnect_spread".into(), scaled(world, 8));
    }
    d.set(&mut node, 30, "LinxNodeSpec/window", &[1, 8, 64]);
    d.set(&mut node, 40, "LinxNodeSpec/fragmentation", &["simple", "patch"]);
    d.set(&mut node, 40, "LinxNodeSpec/profile", &["standard", "linx_for_linux"]);
    if d.chance(15) {
        node.insert("request_jitter".into(), scaled(world, d.of("LinxNodeSpec/request_jitter", &[1, 3])));
    }
    d.set(&mut node, 12, "LinxNodeSpec/liveness", &["heartbeat", "any"]);
    d.set(&mut node, 12, "LinxNodeSpec/supervision", &["deadline", "ticks"]);
    d.set(&mut node, 12, "LinxNodeSpec/periods", &[1, 2, 7]);
    d.set(&mut node, 12, "LinxNodeSpec/reset_mode", &["handshake", "immediate"]);
    d.set(&mut node, 12, "LinxNodeSpec/repeated_request", &["acknowledge", "teardown"]);
    d.set(&mut node, 12, "LinxNodeSpec/opening", &["proved", "at_once"]);
    d.set(&mut node, 12, "LinxNodeSpec/renewal", &["connect", "never"]);
    if d.chance(15) {
        let time = d.of("LinxNodeSpec/gap_timer", &[json!("off"), json!("auto"), scaled(world, 5)]);
        node.insert("gap_timer".into(), time);
    }
    d.set(&mut node, 8, "LinxNodeSpec/open_messages", &[1, 2, 256]);
    d.set(&mut node, 8, "LinxNodeSpec/longest_message", &[0, 500, 100_000]);
    d.set(&mut node, 8, "LinxNodeSpec/first_cid", &[0, 1, 300]);
    d.set(&mut node, 8, "LinxNodeSpec/generation", &[0, 9, 255]);
    node
}

/// Two ends of a connection of this flow, if they are easily told.
fn linx_pair(d: &mut Draw, world: &World, flow: &Fields) -> Option<(String, String)> {
    let (from, to) = (flow.get("from")?, flow.get("to")?);
    let from: Vec<String> = match from {
        Value::Array(list) => list.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect(),
        Value::String(all) if all == "all" => world.shape.endpoints.clone(),
        Value::String(name) => vec![name.clone()],
        _ => return None,
    };
    let uniform = to["uniform"].as_object().is_some_and(|uniform| !uniform.contains_key("among"));
    let to = match to.as_str().or(to["incast"]["target"].as_str()) {
        Some(name) => name.to_owned(),
        None if uniform => d.any(&world.shape.endpoints),
        None => return None,
    };
    let from: Vec<String> = from.into_iter().filter(|name| *name != to).collect();
    if from.is_empty() || !world.shape.endpoints.contains(&to) {
        return None;
    }
    let (a, b) = (d.any(&from), to);
    Some(if d.chance(50) { (a, b) } else { (b, a) })
}

/// A frame in the name of a node.
fn injection(d: &mut Draw, world: &World, (from, to): &(String, String)) -> Value {
    let kinds = [
        "short",
        "other_protocol",
        "version1",
        "headless",
        "unknown_management",
        "unknown_type",
        "cut_off",
        "short_header",
        "long_payload",
        "stray_fragment",
        "small_mtu",
        "old_reset",
        "wrong_cid",
        "wrong_sender",
        "wrong_port",
    ];
    let octets = [
        "00",
        "22CF 000C 8100 0100 0000 0005 0000 0000",
        "22CF 000E 8200 0100 0000 0005 0000 0000 0001",
        "22CF 000C 8300 0000 0000 0000 0000 0000",
        "22CF 000C 0600 0000 0000 0000 0000 0000",
        "22CF 0018 0101 0000 0000 0000 0000 0000 FFFFFFFF 00000000 00000000",
        "22CF 0018 0201 0001 0000 0000 0000 0000 FFFFFFFF 00000000 00000005",
    ];
    let mut inject = Fields::new();
    inject.insert("at".into(), us(d.between(1, world.until)));
    inject.insert("from".into(), from.clone().into());
    inject.insert("to".into(), to.clone().into());
    if d.chance(60) {
        inject.insert("frame".into(), d.of("LinxFrameKind", &kinds).into());
    } else {
        inject.insert("octets".into(), d.of("LinxInjectSpec/octets", &octets).into());
        d.set(&mut inject, 70, "LinxInjectSpec/relative", &[true, false]);
    }
    inject.into()
}

/// `again`: endpoints may have a node of LINX in another flow.
fn linx(d: &mut Draw, world: &World, flow: &mut Fields, again: bool) {
    let mut fields = Fields::new();
    if again || d.chance(20) {
        fields.insert("src_port".into(), d.of("LinxSpec/src_port", &[0, 2, 3]).into());
    }
    d.set(&mut fields, 8, "LinxSpec/dst_port", &[1, 7]);
    if d.chance(25) {
        program(d, flow, world, "linx", &mut fields);
    } else {
        ends(d, world, flow, false);
        if d.chance(85) {
            arrivals(d, world, flow, false);
        }
        sizes(d, flow, "linx/size", &[1, 100, 700, 9_000]);
        d.set(&mut fields, 40, "LinxSpec/reply", &[1, 500]);
    }
    begin(d, &mut fields);
    if d.chance(30) {
        let mut loss = Fields::new();
        let shares = [json!(0.0), json!(0.05), json!("30 %")];
        d.set(&mut loss, 50, "LinxLossSpec/connection", &shares);
        d.set(&mut loss, 50, "LinxLossSpec/heartbeat", &shares);
        d.set(&mut loss, 50, "LinxLossSpec/data", &shares);
        fields.insert("loss".into(), loss.into());
    }
    if d.chance(40) {
        let kinds = ["stall", "mute", "deaf", "link_down", "crash"];
        let mut fault = Fields::new();
        // Only those that take part in any case have faults.
        let nodes = if flow["from"].is_array() { flow["from"].clone() } else { "all".into() };
        let nodes = match (&flow["from"], d.of("LinxFaultSpec/node", &["one", "all"])) {
            (Value::Array(list), "one") => d.any(list),
            (Value::String(name), _) if name != "all" => name.clone().into(),
            (_, "one") if flow.get("to").is_none() => d.any(&world.shape.endpoints).into(),
            _ => nodes,
        };
        fault.insert("node".into(), nodes);
        fault.insert("kind".into(), d.of("LinxFaultKindSpec", &kinds).into());
        fault.insert("at".into(), us(d.between(1, world.until / 2)));
        fault.insert("for".into(), d.of("LinxFaultSpec/for", &["2 us", "30 us"]).into());
        d.set(&mut fault, 30, "LinxFaultSpec/spread", &["4 us"]);
        if d.chance(40) {
            fault.insert("every".into(), "45 us".into());
            fault.insert("times".into(), d.of("LinxFaultSpec/times", &[2, 4]).into());
        }
        fields.insert("faults".into(), json!([fault]));
    }
    if let Some(ends) = linx_pair(d, world, flow) {
        if d.chance(60) {
            let count = d.between(1, 4);
            let frames: Vec<Value> = (0..count).map(|_| injection(d, world, &ends)).collect();
            fields.insert("inject".into(), frames.into());
        }
        if d.chance(30) {
            let mut disconnect = Fields::new();
            disconnect.insert("node".into(), ends.0.into());
            if d.chance(50) {
                disconnect.insert("peer".into(), ends.1.into());
            }
            disconnect.insert("at".into(), us(d.between(0, world.until)));
            d.set(&mut disconnect, 60, "LinxDisconnectSpec/for", &["1 us", "15 us"]);
            fields.insert("disconnects".into(), json!([disconnect]));
        }
    }
    d.set(&mut fields, 20, "LinxSpec/chart", &[true, false]);
    flow.insert("linx".into(), fields.into());
}

/// When nodes begin.
fn begin(d: &mut Draw, fields: &mut Fields) {
    d.set(fields, 40, "begin/at", &["0 ps", "3 us"]);
    d.set(fields, 30, "begin/offset", &["500 ns", "4 us"]);
    d.set(fields, 30, "begin/spread", &["2 us", "20 us"]);
}

fn period(d: &mut Draw, world: &World, node: &mut Fields, key: &str, values: [u64; 2]) {
    if d.chance(40) {
        let time = d.of(&format!("SessionNodeSpec/{key}"), &values);
        node.insert(key.into(), scaled(world, time));
    }
}

pub fn session_node(d: &mut Draw, world: &World) -> Fields {
    let mut node = Fields::new();
    d.set(&mut node, 60, "SessionNodeSpec/algorithm", &["literal", "minimal", "corrected"]);
    d.set(&mut node, 30, "SessionNodeSpec/validation", &[true, false]);
    d.set(&mut node, 50, "SessionNodeSpec/management", &["message", "stream", "both"]);
    d.set(&mut node, 50, "SessionNodeSpec/data", &["message", "stream"]);
    d.set(&mut node, 25, "SessionNodeSpec/mailbox", &[0, 3, 9]);
    d.set(&mut node, 25, "SessionNodeSpec/data_mailbox", &[1, 2]);
    d.set(&mut node, 20, "SessionNodeSpec/stream", &[57_343, 57_000]);
    d.set(&mut node, 20, "SessionNodeSpec/cos", &[0, 3]);
    d.set(&mut node, 20, "SessionNodeSpec/classes", &[true, false]);
    d.set(&mut node, 25, "SessionNodeSpec/segment", &[64, 128, 256]);
    period(d, world, &mut node, "retry", [3, 20]);
    period(d, world, &mut node, "timeout", [30, 80]);
    period(d, world, &mut node, "poll", [2, 30]);
    d.set(&mut node, 30, "SessionNodeSpec/record_limit", &[1, 20]);
    d.set(&mut node, 20, "SessionNodeSpec/first_stream", &[0, 57_343]);
    d.set(&mut node, 20, "SessionNodeSpec/stream_limit", &[1, 3, 57_344]);
    d.set(&mut node, 4, "SessionNodeSpec/mute", &[true, false]);
    d.set(&mut node, 2, "SessionNodeSpec/refuses", &[true, false]);
    if world.configured {
        d.set(&mut node, 50, "SessionNodeSpec/contact", &["assumed", "registers"]);
        match node.get("management").and_then(Value::as_str) {
            None | Some("message") => {
                d.set(&mut node, 30, "SessionNodeSpec/announces", &["block", "component_tag"]);
            }
            Some("both") => {
                d.set(&mut node, 40, "both/announces", &["block", "block_and_tag"]);
            }
            Some(_) => {}
        }
        let writes = [json!([]), json!(["contact"]), json!(["periods"]), json!(["periods", "contact"])];
        d.set(&mut node, 40, "SessionNodeSpec/writes", &writes);
    }
    if node.get("data").is_none_or(|data| data == "message") {
        d.set(&mut node, 30, "SessionNodeSpec/header", &["data", "data1", "data2"]);
    }
    d.set(&mut node, 10, "SessionNodeSpec/advertises", &[true, false]);
    if d.chance(15) {
        let codes = d.of("SessionNodeSpec/user_commands", &[vec![240], vec![255], vec![240, 247]]);
        node.insert("user_commands".into(), codes.into());
    }
    if d.chance(10) {
        let streams = d.of("SessionNodeSpec/vendor_streams", &[vec![57_344], vec![57_344, 61_439]]);
        node.insert("vendor_streams".into(), streams.into());
    }
    // Only some kinds of flows know these.
    if d.chance(4) {
        d.set(&mut node, 50, "SessionNodeSpec/reuse_stream", &[true, false]);
        d.set(&mut node, 50, "SessionNodeSpec/data_offset", &[1, 8]);
        d.set(&mut node, 50, "SessionNodeSpec/frames_kept", &[1, 4]);
        let mtus = [json!(1_000), json!({"from": 64, "to": 9_000})];
        d.set(&mut node, 30, "SessionNodeSpec/mtu", &mtus);
        let attributes = [json!(["7801020304050607"]), json!(["ef01000000000000", "fe00000000000000"])];
        d.set(&mut node, 30, "SessionNodeSpec/vendor_attributes", &attributes);
        if node.contains_key("vendor_attributes") && d.chance(50) {
            let known = d.of("SessionNodeSpec/understands", &[vec!["78"], vec!["ef01", "fe000000"]]);
            node.insert("understands".into(), known.into());
        }
        d.set(&mut node, 50, "SessionNodeSpec/vendor", &["EXAMPLE", "00:1b:21"]);
        d.set(&mut node, 50, "SessionNodeSpec/data_offset_vendor", &["EXAMPLE", "00:1b:21"]);
    }
    if d.chance(40) {
        let mut consumer = Fields::new();
        consumer.insert("service".into(), service(d));
        d.set(&mut consumer, 70, "ConsumerSpec/stop_at", &[2, 8]);
        if consumer.contains_key("stop_at") {
            d.set(&mut consumer, 60, "ConsumerSpec/go_at", &[0, 1]);
            period(d, world, &mut node, "xon_timeout", [5, 50]);
            d.set(&mut node, 50, "SessionNodeSpec/rts", &[true, false]);
        }
        node.insert("consumer".into(), consumer.into());
    }
    node
}

fn session(d: &mut Draw, world: &World, flow: &mut Fields, before: &[Value]) {
    let mut fields = Fields::new();
    let kinds = ["plain", "plain", "program", "ethernet", "stream", "script", "vendor", "unopened"];
    let mut kind = d.of("session", &kinds);
    // Where flows meet at a node, each has a protocol of its own.
    let again = before.iter().filter(|flow| flow.get("session").is_some()).count();
    let spoken = |kind: &str| before.iter().any(|flow| flow["session"].get(kind).is_some());
    if again > 0 && (matches!(kind, "script" | "unopened") || spoken(kind)) {
        kind = "plain";
    }
    let target = d.any(&world.shape.endpoints);
    let others: Vec<String> = world.shape.endpoints.iter().filter(|name| **name != target).cloned().collect();
    let one = d.any(&others);
    if kind == "program" {
        program(d, flow, world, "session", &mut fields);
    } else {
        if kind == "script" || d.chance(50) {
            let from = if kind == "script" { vec![one.clone()] } else { d.some(&others, 1) };
            flow.insert("from".into(), json!(from));
            flow.insert("to".into(), json!(target));
        } else {
            ends(d, world, flow, false);
        }
        if kind != "script" && d.chance(85) {
            arrivals(d, world, flow, false);
        }
        sizes(d, flow, "session/size", &[1, 60, 900, 5_000]);
    }
    match kind {
        "ethernet" => {
            let mut ethernet = Fields::new();
            d.set(&mut ethernet, 40, "EthernetSpec/mtu", &[5_000, 9_000]);
            if !ethernet.contains_key("mtu") {
                flow.insert("size".into(), 60.into());
            }
            d.set(&mut ethernet, 50, "EthernetSpec/broadcast_every", &[0, 1, 4]);
            if world.broadcast && d.chance(90) {
                ethernet.insert("multicast".into(), "everybody".into());
                flow.insert("from".into(), "all".into());
                flow.insert("to".into(), json!({"uniform": {}}));
            }
            let names: Vec<String> = match flow.get("from") {
                Some(from) if from == "all" => world.shape.endpoints.clone(),
                Some(Value::Array(from)) if flow["to"].is_string() => from
                    .iter()
                    .chain([&flow["to"]])
                    .filter_map(|name| name.as_str().map(str::to_owned))
                    .collect(),
                _ => Vec::new(),
            };
            if !names.is_empty() && d.chance(60) {
                let mut bridge = json!({"node": d.any(&names)});
                let own = bridge.as_object_mut().expect("an object");
                d.set(own, 60, "BridgeSpec/hosts", &[1, 2, 40]);
                d.set(own, 60, "BridgeSpec/rate", &["1 Gb/s", "100 Mb/s", "25 Gb/s"]);
                d.set(own, 40, "BridgeSpec/broadcasts", &[true, false]);
                ethernet.insert("bridges".into(), json!([bridge]));
            }
            // Each of the others has to meet it.
            let meets = flow.get("to").filter(|to| to.is_string()).cloned();
            let broadcasts = ethernet.get("broadcast_every").is_some_and(|every| *every != 0);
            let alone = broadcasts && !ethernet.contains_key("multicast");
            if let Some(server) = meets.filter(|_| alone).filter(|_| d.chance(50)) {
                ethernet.insert("server".into(), server);
            }
            fields.insert("ethernet".into(), ethernet.into());
        }
        "stream" => {
            fields.insert("opens".into(), "stream".into());
            d.set(&mut fields, 40, "SessionSpec/streams", &[1, 2, 5]);
        }
        "vendor" => {
            let names =
                [json!({"vendor": "EXAMPLE", "name": "bulk"}), json!({"vendor": "00:1b:21", "name": "x"})];
            let mut vendor = d.of("SessionSpec/vendor", &names);
            if d.chance(50) {
                vendor["streams"] = d.of("VendorSpec/streams", &[true, false]).into();
            }
            fields.insert("vendor".into(), vendor);
        }
        "unopened" => {
            fields.insert(
                "opens".into(),
                json!({"vendor_stream": d.of("OpensKind/vendor_stream", &[57_344, 61_439])}),
            );
        }
        "script" => {
            let step = |at: &str, node: &str, peer: &str, action: Value| {
                json!({
                    "at": at, "node": node, "peer": peer, "do": action
                })
            };
            let steps = vec![
                step("1 us", &one, &target, json!("create")),
                step("3 us", &one, &target, json!({"duplicate": "OPEN 0 (F,F)"})),
                step("4 us", &one, &target, json!({"deliver": "OPEN 0 (F,F)"})),
                step("9 us", &one, &target, json!({"lose": "OPEN 0 (F,F)"})),
                step("10 us", &one, &target, json!({"repeat": "OPEN 0 (F,F)"})),
                step("12 us", &target, &one, json!("watch")),
                step("13 us", &target, &one, json!({"query": 0})),
                step("15 us", &one, &target, json!({"give_up": 0})),
                step("20 us", &target, &one, json!("restart")),
            ];
            let keep = d.some(&steps, 1);
            fields.insert(
                "script".into(),
                json!({"realisable": d.of("realisable", &[true, false]), "steps": keep}),
            );
        }
        _ => {
            d.set(&mut fields, 20, "SessionSpec/protocol", &[512, 600]);
            d.set(&mut fields, 10, "SessionSpec/opens", &["conduit"]);
        }
    }
    if again > 0 && !matches!(kind, "ethernet" | "vendor") {
        fields.insert("protocol".into(), (700 + again).into());
    }
    if kind != "unopened" {
        d.set(&mut fields, 15, "SessionSpec/request", &[true, false]);
        if fields.get("request").is_none_or(|request| request == false) {
            d.set(&mut fields, 20, "SessionSpec/request_after_refuse", &[true, false]);
        }
    }
    if world.scans && kind != "unopened" && kind != "program" && kind != "script" {
        d.set(&mut fields, 90, "SessionSpec/scan", &[true, false]);
    }
    begin(d, &mut fields);
    if kind != "program" && kind != "unopened" && d.chance(20) {
        fields.insert("close_at".into(), us(d.between(world.until / 4, world.until)));
    }
    let pair = flow.get("to").is_some_and(Value::is_string) && flow["from"].is_array();
    let source = if pair { flow["from"][0].as_str().map(str::to_owned) } else { None };
    if d.chance(20) {
        let node = source.clone().map_or(json!("all"), Value::from);
        if source.is_some() || flow.get("to").is_none() || flow["from"] == "all" {
            let mut restart = json!({"node": node, "at": us(d.between(5, world.until))});
            if d.chance(50) {
                restart["reuse"] = d.of("RestartSpec/reuse", &[true, false]).into();
            }
            if d.chance(30) {
                restart["reset"] = d.of("RestartSpec/reset", &["0 ps", "7 us", "30 us"]).into();
            }
            fields.insert("restarts".into(), json!([restart]));
        }
    }
    if let Some(source) = source.filter(|_| kind != "script") {
        let to = flow["to"].clone();
        let commands = ["open", "accept", "refuse", "data", "flow_control", "close", "status"];
        let fates = [json!("lose"), json!("duplicate"), json!({"delay": "6 us"})];
        if d.chance(50) {
            let faults: Vec<Value> = (0..d.between(1, 3))
                .map(|_| {
                    let (mut a, mut b) = (json!(source), to.clone());
                    if d.chance(50) {
                        std::mem::swap(&mut a, &mut b);
                    }
                    json!({"from": a, "to": b, "message": d.of("CommandKind", &commands),
                           "nth": d.of("MessageFaultSpec/nth", &[1, 2, 5]), "fate": d.of("FateSpec", &fates)})
                })
                .collect();
            fields.insert("faults".into(), faults.into());
        }
        if d.chance(25) {
            let code = d.of("UserCommandSpec/code", &[240, 255]);
            let mut command = json!({"at": "4 us", "from": source, "to": to, "code": code});
            if d.chance(60) {
                command["octets"] = d.of("UserCommandSpec/octets", &["01 02", "ff"]).into();
            }
            fields.insert("user_defined".into(), json!([command]));
        }
        if d.chance(35) {
            let octets =
                d.of("InjectSpec/octets", &["10 00", "00", "ff ff ff ff ff ff ff ff", "2000000000000000"]);
            fields
                .insert("inject".into(), json!([{"at": "5 us", "from": source, "to": to, "octets": octets}]));
        }
    }
    d.set(&mut fields, 20, "SessionSpec/chart", &[true, false]);
    d.set(&mut fields, 25, "SessionSpec/census", &["1 us", "6999 ns"]);
    flow.insert("session".into(), fields.into());
    d.set(flow, 30, "session/priority", &[0, 1]);
}

/// What operations carry, where octets lie and what ends declare.
fn settings(d: &mut Draw, fields: &mut Fields, stripes: bool, flow: &Fields) {
    let kind = fields.get("operation").and_then(Value::as_str).unwrap_or("write").to_owned();
    let program = fields.contains_key("program");
    let is_transfer = matches!(kind.as_str(), "write" | "read" | "read_back");
    let shuffled = stripes || fields.contains_key("doubled") || fields.contains_key("delayed");
    d.set(fields, 15, "StSpec/channel", &[1, 2, 3]);
    if matches!(kind.as_str(), "write" | "read_back" | "put") {
        d.set(fields, 15, "StSpec/opaque", &[0_u32, 7, 0xDEAD_BEEF]);
    }
    if !matches!(kind.as_str(), "get" | "fetch_op") {
        d.set(fields, 15, "StSpec/interrupt", &[true, false]);
    }
    if d.chance(15) {
        let mut request = Fields::new();
        d.set(&mut request, 60, "RequestSpec/interrupt", &[true, false]);
        let payload = ["00".repeat(32), "0123456789abcdef".repeat(4)];
        d.set(&mut request, 60, "RequestSpec/payload", &payload);
        fields.insert("request".into(), request.into());
    }
    if kind == "fetch_op" {
        d.set(fields, 50, "StSpec/function", &["increment", "decrement", "clear"]);
    }
    d.set(fields, 25, "StSpec/bufsize", &[8_192_u64, 65_536, 1 << 32]);
    if is_transfer && !program && kind != "read_back" && d.chance(20) {
        let buffers = fields.get("bufsize").and_then(Value::as_u64).unwrap_or(65_536);
        if buffers <= 65_536 {
            fields.insert("ring".into(), d.of("StSpec/ring", &[65_536, 131_072]).into());
        }
    } else if is_transfer {
        d.set(fields, 25, "StSpec/first_offset", &[0, 100, 1_536]);
    }
    if !program && d.chance(15) {
        let mut end = Fields::new();
        end.insert("after".into(), d.of("EndSpec/after", &["3 us", "30 us"]).into());
        d.set(&mut end, 50, "EndSpec/by", &["from", "to"]);
        fields.insert("end".into(), end.into());
    }
    if !shuffled {
        d.set(fields, 15, "StSpec/out_of_order", &[true, false]);
    }
    if !program && kind != "read_back" {
        d.set(fields, 15, "StSpec/reliable", &[true, false]);
    }
    if fields.get("checksum").is_none_or(|checksum| checksum == true) {
        d.set(fields, 15, "StSpec/checksum_segment", &[0, 1, 3]);
        d.set(fields, 15, "StSpec/trailers", &[true, false]);
    }
    if d.chance(25) {
        let mut upper = Fields::new();
        d.set(&mut upper, 50, "UpperSpec/header", &["0 ps", "100 ns", "2 us"]);
        d.set(&mut upper, 40, "UpperSpec/poll", &["0 ps", "3 us", "20 us"]);
        d.set(&mut upper, 40, "UpperSpec/interrupt", &["0 ps", "1 us"]);
        fields.insert("upper".into(), upper.into());
    }
    d.set(fields, 15, "StSpec/byte_order", &["big", "little"]);
    let unchecked = fields.get("checksum").is_some_and(|checksum| checksum == false);
    if !unchecked && d.chance(15) {
        let shares = [json!({"control": 0.02}), json!({"data": "3 %"}), json!({"control": 0.1, "data": 0.1})];
        fields.insert("damaged".into(), d.of("StSpec/damaged", &shares));
        // Two wrong bits under one checksum may cancel, and that is no mistake of the program.
        if kind != "fetch_op" {
            fields.insert("checksum_segment".into(), 1.into());
        }
    }
    if !program {
        d.set(fields, 10, "StSpec/disconnect_after", &["2 us", "40 us"]);
    }
    // The last endpoint of `from` may be named, or a pattern.
    let named = flow.get("from").and_then(Value::as_array).and_then(|names| names.last()).cloned();
    if let Some(endpoints) = named.filter(|_| d.chance(50) && !stripes) {
        let mut end = Fields::new();
        end.insert("endpoints".into(), endpoints);
        d.set(&mut end, 40, "StEndSpec/stu", &[256]);
        d.set(&mut end, 30, "StEndSpec/cut", &[256]);
        d.set(&mut end, 50, "StEndSpec/bufsize", &[65_536_u64, 1 << 32]);
        if fields.contains_key("ring") {
            end.remove("bufsize");
        }
        d.set(&mut end, 50, "StEndSpec/slots", &[3, 16]);
        if !shuffled {
            d.set(&mut end, 50, "StEndSpec/out_of_order", &[true, false]);
        }
        d.set(&mut end, 50, "StEndSpec/byte_order", &["big", "little"]);
        if !fields.contains_key("damaged") {
            d.set(&mut end, 50, "StEndSpec/checksum", &[true, false]);
        }
        fields.insert("ends".into(), json!([end]));
    }
}

fn transfers(d: &mut Draw, world: &World, flow: &mut Fields) {
    let mut fields = Fields::new();
    let stripes = !world.configured
        && world.shape.endpoints.len() >= 4
        && (flow["name"] == "st-0" && d.chance(40) || d.chance(3));
    if stripes {
        let all = &world.shape.endpoints;
        flow.insert("from".into(), json!(all[..2]));
        flow.insert("to".into(), json!({"cycle": all[2..4]}));
        fields.insert("stripes".into(), json!({"from": d.of("StripesSpec/from", &[1, 2]), "to": 2}));
        fields.insert("bytes".into(), 20_000.into());
        d.set(&mut fields, 40, "stripes/operation", &["write", "read"]);
    } else if d.chance(20) {
        program(d, flow, world, "st", &mut fields);
    } else {
        ends(d, world, flow, false);
        let kinds = ["write", "read", "read_back", "put", "get", "fetch_op"];
        d.set(&mut fields, 85, "StSpec/operation", &kinds);
        if fields.get("operation").is_none_or(|kind| kind != "fetch_op") {
            fields.insert("bytes".into(), d.of("StSpec/bytes", &[8, 100, 1_024, 5_000, 20_000]).into());
        }
        d.set(&mut fields, 60, "StSpec/count", &[1, 2, 5]);
        d.set(&mut fields, 40, "StSpec/concurrent", &[1, 2, 4]);
    }
    d.set(&mut fields, 40, "StSpec/window", &[0, 1, 4]);
    d.set(&mut fields, 40, "StSpec/block", &[256, 1_024, 8_192]);
    if matches!(world.medium, Some("ethernet" | "atm-dix")) {
        d.set(&mut fields, 40, "StSpec/stu", &[256, 512, 1_024]);
    } else if world.medium.is_none() {
        d.set(&mut fields, 40, "stream/stu", &[256, 1_024, 4_096]);
        d.set(&mut fields, 15, "StSpec/control_priority", &[0, 1, 2]);
    } else if world.medium == Some("atm-token-ring-4") {
        d.set(&mut fields, 40, "ring/stu", &[256, 1_024, 4_096]);
    } else {
        d.set(&mut fields, 40, "media/stu", &[256, 1_024, 8_192]);
    }
    d.set(&mut fields, 30, "StSpec/receives", &[1, 2]);
    d.set(&mut fields, 30, "StSpec/slots", &[3, 64, 65_535]);
    d.set(&mut fields, 20, "StSpec/notify", &[true, false]);
    d.set(&mut fields, 20, "StSpec/state_every", &[0, 1, 3]);
    d.set(&mut fields, 20, "StSpec/checksum", &[true, false]);
    d.set(&mut fields, 20, "StSpec/disconnect", &[true, false]);
    if d.chance(30) {
        let time = d.of("StSpec/op_timeout", &[8, 60]);
        fields.insert("op_timeout".into(), scaled(world, time));
    } else {
        d.set(&mut fields, 5, "st/op_timeout", &["auto"]);
    }
    d.set(&mut fields, 30, "StSpec/max_retry", &[0, 1, 5]);
    if d.chance(20) {
        fields.insert("missing_timeout".into(), scaled(world, 25));
    } else {
        d.set(&mut fields, 20, "StSpec/missing_timeout", &["auto", "off"]);
    }
    d.set(&mut fields, 20, "StSpec/cos", &[0, 2]);
    if world.medium.is_some() {
        fields.remove("cos");
    }
    begin(d, &mut fields);
    let shares = [json!({"control": 0.02}), json!({"data": "5 %"}), json!({"control": 0.1, "data": 0.1})];
    d.set(&mut fields, 25, "StSpec/loss", &shares);
    d.set(&mut fields, 15, "StSpec/doubled", &shares);
    if d.chance(15) {
        fields.insert("delayed".into(), d.of("StSpec/delayed", &shares));
        fields.insert("delay".into(), d.of("StSpec/delay", &["1 us", "15 us"]).into());
    }
    if !stripes {
        d.set(&mut fields, 15, "StSpec/chart", &[true, false]);
    }
    settings(d, &mut fields, stripes, flow);
    flow.insert("st".into(), fields.into());
    if world.medium.is_none() {
        priority(d, flow);
    }
}
