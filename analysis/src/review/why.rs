//! Why a flow takes as long as it does, and why a link is as full as it is, in words.

use super::budget::{Budget, Port};
use super::files::{Counts, list, real, word};
use super::tables::whole;
use super::{Run, Variant};
use crate::num::{count_text, counted_text, share_text, time_text};
use models::config::DeviceModel;
use models::probe::Cause;
use serde_json::Value;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// Why this flow takes so long, by name.
    Flow(String),
    /// Why this link is so full, by index.
    Link(usize),
}

/// Share of the time below which an injection link is not what its sources wait for.
const FULL: f64 = 0.9;

/// Share of the time below which waiting binds nobody, but the way itself.
const WAITS: f64 = 0.2;

/// What binds a flow that waits for this, in words; `closed`: it is a closed loop; `busy`: share of the time
/// for which the fullest of its injection links is, not a number if that is not known.
fn binding(cause: Cause, closed: bool, busy: f64) -> &'static str {
    match cause {
        // It creates a packet when one leaves, so it is never faster than its link.
        Cause::SourceQueue if closed => "the backlog that a closed loop keeps at its source",
        Cause::SourceQueue if busy < FULL => {
            "the source: what it sends waits there behind what went before, although the injection link has \
             time to spare"
        }
        Cause::SourceQueue => "the source: it creates faster than its injection link takes",
        Cause::Serialization => "the wire: octets take their time on each link",
        Cause::Propagation => "the wire: signals take their time along it",
        Cause::Pipeline => "the pipelines of switches",
        Cause::InputContention => "inputs of switches: one read at a time",
        Cause::OutputContention => "outputs of switches: others go first there",
        Cause::HeadOfLine => "head of line: packets for other outputs stand in front",
        Cause::Staged => "staging: VoQ backpressure of a congested port further on holds it",
        Cause::NoBuffer => "credits: the neighbour has no free buffer",
        Cause::Recovery => "links that repeat and recover",
        Cause::NoAckId => "ackIDs: too many packets are not acknowledged yet",
        Cause::Host => "hosts: their service times and queues",
        Cause::Protocol => "the protocol: its window, its timers, its repetitions",
    }
}

/// The answers for one variant, in order.
pub fn why(run: &Run, variant: &Variant, questions: &[Question]) -> String {
    let told = list(&run.summary, "variants").iter().find(|told| word(told, "name") == variant.name);
    let told = told.unwrap_or(&Value::Null);
    let budget = Budget::new(&variant.config, &variant.loads);
    let counts = Counts::new(&run.links);
    let mut out = String::new();
    for question in questions {
        out += &format!("{}: ", variant.name);
        match question {
            Question::Flow(name) => {
                let flow = list(told, "flows").iter().find(|flow| word(flow, "name") == name);
                let busy = injection(variant, name, &budget, &counts);
                out += &of_flow(name, flow.unwrap_or(&Value::Null), busy, list(told, "stalls"));
                out += &fullest(variant, name, &budget, &counts);
            }
            Question::Link(link) => out += &of_link(variant, *link, &budget, &counts),
        }
    }
    out
}

fn of_flow(name: &str, flow: &Value, busy: f64, stalls: &[Value]) -> String {
    let (level, parts, mean) = whole(flow);
    let books = &flow["books"];
    let count = |key: &str| books[key].as_u64().unwrap_or(0);
    let mut out = format!("flow {name}");
    let share = books["arrived_share"].as_f64();
    if let Some(share) = share {
        let text = ["arrived", "asked", "never", "under_way"].map(|key| count_text(count(key)));
        out += &format!(
            ", of which {} arrived ({} of {}; {} never will, {} are under way at the end)",
            share_text(share),
            text[0],
            text[1],
            text[2],
            text[3]
        );
    }
    let refused = refused(flow);
    let unit = books["unit"].as_str().unwrap_or("packets");
    if level == "packets" && unit != level && count("arrived") == 0 && count("asked") > 0 {
        out += &format!(
            ": none of {} {unit} arrived, so no time can be divided; {} never will, {} are under way at the \
             end\n",
            count_text(count("asked")),
            count_text(count("never")),
            count_text(count("under_way"))
        );
        return out + &refused + &standing(name, stalls);
    }
    if !mean.is_finite() {
        out += ": nothing was delivered in the measured part, so no time can be divided\n";
        return out + &refused + &standing(name, stalls);
    }
    let users = &flow["users"];
    let level = if level == "messages" { users["carried_by"].as_str().unwrap_or(level) } else { level };
    let arrived = share.is_some() && unit == level;
    let level = if arrived { format!("{level} that arrived") } else { level.to_owned() };
    let of_users = of_users(users);
    let share = |cause: Cause| real(&parts[cause.name()]["share"]);
    let mut causes: Vec<(Cause, f64)> = Cause::ALL.into_iter().map(|cause| (cause, share(cause))).collect();
    // of equals the first, as causes are listed
    causes.sort_by(|a, b| b.1.total_cmp(&a.1));
    let physics = |cause: Cause| matches!(cause, Cause::Serialization | Cause::Propagation | Cause::Pipeline);
    let waits: f64 = causes.iter().filter(|(cause, _)| !physics(*cause)).map(|(_, share)| share).sum();
    let (worst, most) = *causes
        .iter()
        .find(|(cause, _)| waits < WAITS || !physics(*cause))
        .expect("there are causes of both kinds");
    let waiting = causes.iter().find(|(cause, share)| !physics(*cause) && *share >= 0.0005);
    let waiting = waiting
        .filter(|_| waits < WAITS)
        .map(|(cause, share)| format!("; of the waiting most is {} ({:.1} %)", cause.name(), 100.0 * share));
    out += &format!(
        ": {}{level} take {} on average, {:.1} % of it waiting; what binds {} {} ({}, {:.1} %, {}){}\n",
        of_users.as_deref().unwrap_or_default(),
        time_text(mean * 1e3),
        100.0 * waits,
        if of_users.is_some() { "these is" } else { "is" },
        binding(worst, flow["closed_loop"] == true, busy),
        worst.name(),
        100.0 * most,
        time_text(mean * 1e3 * most),
        waiting.unwrap_or_default()
    );
    for (cause, share) in causes.iter().filter(|(_, share)| *share >= 0.0005) {
        out +=
            &format!("  {:<34} {:>5.1} %  {}\n", cause.name(), 100.0 * share, time_text(mean * 1e3 * share));
    }
    out + &refused + &standing(name, stalls)
}

/// What users of a flow wait for, above its messages, in words; none: that is not told, or there are none.
fn of_users(users: &Value) -> Option<String> {
    let mean = real(&users["mean_us"]);
    if !mean.is_finite() {
        return None;
    }
    let time = |us: f64| time_text(us * 1e6);
    let mut out = format!("{} {}", word(users, "time"), time(mean));
    // What takes no time is not told.
    let [source, application] = ["source_us", "application_us"].map(|key| users[key].as_f64().unwrap_or(0.0));
    let stops = users["stops"].as_u64().unwrap_or(0);
    for (spent, place) in [(source, "before the first of it leaves"), (application, "at that application")] {
        if spent > 0.0 {
            out += &format!(", {} {place}", time(spent));
        }
    }
    if source + application > mean / 2.0 {
        let what = match () {
            () if stops > 0 => format!(
                "the application of its destination, which stops the stream ({})",
                counted_text(stops, "times")
            ),
            () if application > source => "the application of its destination".to_owned(),
            () => "its stream: it waits until that is open and has a place".to_owned(),
        };
        out += &format!("; what binds it is {what}");
    }
    Some(out + "; below it, ")
}

/// Which share of the packets of a flow were sent for nothing, because a host had no place for them.
fn refused(flow: &Value) -> String {
    let share = real(&flow["protocol"]["retry_share"]);
    if share.is_nan() || share < 0.0005 {
        return String::new();
    }
    format!(
        "  {:.1} % of the packets of requests are answered by RETRY: their host has no place for them \
         (\"rx_queue\"), and what they carry is sent again\n",
        100.0 * share
    )
}

/// What of a flow stood still when the watchdog looked, and why: no time of what arrived tells of it.
fn standing(name: &str, stalls: &[Value]) -> String {
    let whose = format!(":{name}:");
    let walks = stalls.iter().filter(|stall| list(stall, "walk").iter().any(|step| names(step, &whose)));
    let line = |stall: &Value| {
        let steps: Vec<&str> = list(stall, "walk").iter().filter_map(Value::as_str).collect();
        let (kind, at) = (word(stall, "kind"), time_text(real(&stall["at_us"]) * 1e6));
        format!("  {kind} found at {at}: {}\n", steps.join("; "))
    };
    walks.map(line).collect()
}

fn names(step: &Value, whose: &str) -> bool {
    step.as_str().is_some_and(|step| step.contains(whose))
}

/// For which share of the time the fullest injection link of a flow is busy; not a number: it is not known.
fn injection(variant: &Variant, name: &str, budget: &Budget, counts: &Counts) -> f64 {
    let Some(index) = variant.config.flows.iter().position(|flow| flow.name == name) else { return f64::NAN };
    let is_endpoint =
        |port: &&Port| matches!(variant.config.devices[port.0 as usize].model, DeviceModel::Endpoint(_));
    let ports = budget.flows[index].keys().filter(is_endpoint);
    let carried = ports.map(|port| counts.carried(&variant.name, &port_name(variant, *port)));
    carried.fold(f64::NAN, f64::max)
}

/// Where the flow meets others, the fullest first.
fn fullest(variant: &Variant, name: &str, budget: &Budget, counts: &Counts) -> String {
    let Some(index) = variant.config.flows.iter().position(|flow| flow.name == name) else {
        return String::new();
    };
    let mut ports: Vec<(f64, Port)> = budget.flows[index]
        .keys()
        .map(|port| (counts.carried(&variant.name, &port_name(variant, *port)), *port))
        .collect();
    ports.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut out = String::new();
    if ports.is_empty() {
        return "  its ways are not known before the run\n".into();
    }
    let planned = if budget.planned { " of the plan" } else { "" };
    out += &format!(
        "  the fullest links on its ways, and who is on them by routes{planned} and offered loads:\n"
    );
    for (carried, port) in ports.iter().take(3) {
        out += &format!(
            "    from {}: busy {:.1} % of the run; {}\n",
            port_name(variant, *port),
            100.0 * carried,
            budget.users(&variant.config, *port)
        );
    }
    out
}

fn port_name(variant: &Variant, port: Port) -> String {
    format!("{}:{}", variant.config.devices[port.0 as usize].path, port.1)
}

fn of_link(variant: &Variant, index: usize, budget: &Budget, counts: &Counts) -> String {
    let link = &variant.config.links[index];
    let mut out = format!("link {}\n", variant.links[index]);
    if budget.planned {
        out += "  expected by routes of the plan: the host may have led packets around what was down\n";
    }
    for (port, peer) in [(link.a, link.b), (link.b, link.a)] {
        let (name, other) = (port_name(variant, port), port_name(variant, peer));
        let (expected, open) = budget.of(port);
        let carried = counts.carried(&variant.name, &name);
        let least = if open { "at least " } else { "" };
        let word = match () {
            () if budget.too_large => "expected load not reckoned".to_owned(),
            () => format!("expected {least}{:.1} % while its flows send", 100.0 * expected),
        };
        out += &format!(
            "  from {name}: busy {:.1} % of the run, {word}; {}\n",
            100.0 * carried,
            budget.users(&variant.config, port)
        );
        let blocked = counts.blocked(&variant.name, &other);
        if blocked > 0.0 {
            out += &format!(
                "    at {other}: {} of packet time blocked at the head of a line or held by backpressure\n",
                time_text(blocked)
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// What waits at its source waits for its link, or is the backlog of a closed loop, which is never faster
    /// than its link.
    #[test]
    fn a_closed_loop_is_not_faster_than_its_link() {
        let share = |cause: &Cause| match cause {
            Cause::SourceQueue => 0.9,
            Cause::Serialization => 0.1,
            _ => 0.0,
        };
        let causes = Cause::ALL.iter().map(|cause| (cause.name().to_owned(), json!({"share": share(cause)})));
        let decomposition = Value::Object(causes.collect());
        let told = |closed: bool, busy: f64| {
            let latency = json!({"mean": {"value": 1_000.0}});
            let flow = json!({"closed_loop": closed, "latency_ns": latency, "decomposition": decomposition});
            of_flow("f", &flow, busy, &[])
        };
        let (open, closed, window) = (told(false, 0.95), told(true, 0.95), told(false, 0.01));
        assert!(
            window.contains(
                "behind what went before, although the injection link has time to spare (source queue"
            ),
            "{window}"
        );
        assert!(open.contains("faster than its injection link takes (source queue, 90.0 %"), "{open}");
        // a fifth arrived, and the watchdog says where the rest stands
        let latency = json!({"mean": {"value": 404.0}});
        let books = json!({"asked": 500, "arrived": 100, "never": 0, "under_way": 400, "arrived_share": 0.2});
        let flow = json!({"books": books, "latency_ns": latency, "decomposition": decomposition});
        let walk = |name: &str| json!([format!("packet a:{name}:7 to id 1 waits in sw: its link is down")]);
        let stall = |name: &str| json!({"at_us": 228.0, "kind": "stall", "walk": walk(name)});
        let stuck = of_flow("f", &flow, 0.1, &[stall("f"), stall("g")]);
        let first = "flow f, of which 20.0 % arrived (100 of 500; 0 never will, 400 are under way at the \
                     end): packets that arrived take 404 ns on average";
        assert!(stuck.starts_with(first), "{stuck}");
        let last = "  stall found at 228 µs: packet a:f:7 to id 1 waits in sw: its link is down\n";
        assert!(stuck.ends_with(last) && !stuck.contains("a:g:7"), "{stuck}");
        // no message arrived, because RETRY refuses its packets, which arrive fast enough
        let books = json!({"unit": "messages", "asked": 4, "arrived": 0, "never": 0, "under_way": 4});
        let protocol = json!({"retry_share": 0.99339207, "messages": null});
        let latency = json!({"mean": {"value": 442.0}});
        let flow = json!({
            "books": books, "latency_ns": latency, "decomposition": decomposition, "protocol": protocol
        });
        let starved = "flow f: none of 4 messages arrived, so no time can be divided; 0 never will, 4 are \
                       under way at the end\n  99.3 % of the packets of requests are answered by RETRY: \
                       their host has no place for them (\"rx_queue\"), and what they carry is sent again\n";
        assert_eq!(of_flow("f", &flow, 0.1, &[]), starved);
        // PDUs wait for their application, and not for the wire that carries their messages
        let users = |source: f64, application: f64, stops: u64| {
            let users = json!({
                "carried_by": "messages of sessions", "time": "mean time of a PDU", "mean_us": 10.0,
                "source_us": source, "application_us": application, "stops": stops
            });
            let share = |cause: &Cause| json!({"share": f64::from(u8::from(*cause == Cause::Serialization))});
            let parts: serde_json::Map<_, _> =
                Cause::ALL.iter().map(|cause| (cause.name().to_owned(), share(cause))).collect();
            let messages = json!({"latency_ns": {"mean": {"value": 400.0}}, "decomposition": parts});
            let flow = json!({"books": {}, "users": users, "protocol": {"messages": messages}});
            of_flow("f", &flow, 0.1, &[])
        };
        let stopped = "flow f: mean time of a PDU 10.0 µs, 4.00 µs before the first of it leaves, 2.00 µs at \
                       that application; what binds it is the application of its destination, which stops \
                       the stream (1 time); below it, messages of sessions take 400 ns on average, 0.0 % of \
                       it waiting; what binds these is the wire: octets take their time on each link";
        assert!(users(4.0, 2.0, 1).starts_with(stopped), "{}", users(4.0, 2.0, 1));
        let binds = |text: String| text.split("what binds it is ").nth(1).map(|text| text[..20].to_owned());
        assert_eq!(binds(users(4.0, 2.0, 0)).as_deref(), Some("its stream: it waits"));
        assert_eq!(binds(users(2.0, 4.0, 0)).as_deref(), Some("the application of i"));
        assert_eq!(binds(users(1.0, 2.0, 1)), None);
        assert!(closed.contains("backlog that a closed loop keeps at its source (source queue"), "{closed}");
    }
}
