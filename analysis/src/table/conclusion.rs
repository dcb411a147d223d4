//! The sentences at the end: what each variant changes, and what limits one that is compared with none.

use super::load_text;
use crate::baselines::baselines;
use crate::books::Books;
use crate::counts::{self, VOQ_MESSAGES, counts};
use crate::estimate::tells_change;
use crate::num::{change_text, count_text, counted_text, ratio, three_digits, time_text};
use crate::ports::Ports;
use crate::protocol::{self, PROTOCOLS};
use crate::report::{FlowReport, VariantReport, retry_share_of_all};
use crate::run::Role;
use models::probe::Cause;
use models::sim_core::Time;
use std::collections::BTreeSet;

/// Plain sentences: what each variant changes against its baseline ([`baselines`]), or what limits one that
/// is compared with none.
pub fn conclusion(reports: &[VariantReport]) -> Vec<String> {
    match reports {
        [] => Vec::new(),
        [only] => vec![single(only)],
        _ => {
            let bases = baselines(reports);
            let line = |(variant, &base): (usize, &usize)| {
                let report = &reports[variant];
                let has_company = bases.iter().filter(|other| **other == variant).count() > 1;
                match base == variant {
                    true if has_company => None,
                    true => Some(format!("{}: {}", report.run.name, single(report))),
                    false => Some(compared(&reports[base], report)),
                }
            };
            bases.iter().enumerate().filter_map(line).collect()
        }
    }
}

/// Flows that a comparison is about, summed.
struct Class {
    name: String,
    goodput_gbps: f64,
    hol_ps: u128,
    latency_ps: u128,
    packets: u64,
    /// What its latency is of: sum in picoseconds, and how many.
    times: (u128, u64),
    never: u64,
    under_way: u64,
    /// Age of the oldest that is under way, picoseconds; 0: none is, or it is not known.
    oldest_ps: u64,
    /// The longest time of those that arrived, picoseconds.
    longest_ps: f64,
    /// More is asked for than completes: the longer the run, the longer its times.
    falls_behind: bool,
    /// Packets with a source queue that says something: that of a closed loop without end does not.
    has_source_queue: bool,
    role: Option<Role>,
    /// Other flows whose goodput changes as much.
    alike: usize,
    /// What its latency is called: that of packets without their source queue, or all of that of what
    /// protocols made of them.
    latency: &'static str,
}

/// What the mean of packets is called.
const NETWORK: &str = "mean network latency";

impl Class {
    /// For the words about its change.
    fn alike(&self) -> String {
        match self.alike {
            0 => String::new(),
            1 => ", as another flow".into(),
            more => format!(", as {more} other flows"),
        }
    }

    /// Its mean is of too few of those that should have come.
    fn is_of_few(&self) -> bool {
        !tells_change(self.times.1, self.never + self.under_way)
    }

    /// What [`Self::latency`] comes to, picoseconds.
    fn mean_ps(&self) -> f64 {
        ratio(self.times.0, self.times.1.into())
    }

    /// The flows that cause the congestion.
    fn hot(report: &VariantReport) -> Self {
        let flows: Vec<&FlowReport> = report.flows.iter().filter(|f| f.role == Some(Role::Hot)).collect();
        let name = if let [only] = flows[..] { only.name.clone() } else { "hot flows".into() };
        Self::of(&name, flows.into_iter())
    }

    fn of<'a>(name: &str, flows: impl Iterator<Item = &'a FlowReport>) -> Self {
        let empty = Class {
            name: name.into(),
            goodput_gbps: 0.0,
            hol_ps: 0,
            latency_ps: 0,
            packets: 0,
            times: (0, 0),
            never: 0,
            under_way: 0,
            oldest_ps: 0,
            longest_ps: 0.0,
            falls_behind: false,
            has_source_queue: true,
            role: None,
            alike: 0,
            latency: NETWORK,
        };
        let flows: Vec<&FlowReport> = flows.collect();
        let times = |flow: &FlowReport| -> (&'static str, u128, u64) {
            let whole = flow.whole();
            let packets = whole.delivered.packets;
            match (flow.above, &flow.round_trips, &flow.messages) {
                (Some(above), ..) => (above.latency, above.sum_ps, above.count),
                (None, Some(_), _) => ("mean round trip", whole.delivered.latency_ps, packets),
                (None, None, Some(_)) => ("mean message latency", whole.delivered.latency_ps, packets),
                (None, None, None) => (NETWORK, whole.delivered.network_ps, packets),
            }
        };
        // Round trips, messages and packets have no mean in common: all of them are carried by packets.
        let mut kinds = flows.iter().map(|flow| times(flow).0);
        let mixed = kinds.next().is_some_and(|first| kinds.any(|kind| kind != first));
        flows.into_iter().fold(empty, |class, flow| {
            let whole = flow.whole();
            let packets = whole.delivered.packets;
            let (latency, sum_ps, count) = match mixed {
                true => (NETWORK, flow.delivered.network_ps, flow.delivered.packets),
                false => times(flow),
            };
            Class {
                goodput_gbps: class.goodput_gbps + flow.goodput_gbps.value,
                times: (class.times.0 + sum_ps, class.times.1 + count),
                hol_ps: class.hol_ps + u128::from(whole.delivered.hol_ps),
                latency_ps: class.latency_ps + whole.delivered.latency_ps,
                packets: class.packets + packets,
                never: class.never + flow.books.never,
                under_way: class.under_way + flow.books.under_way,
                oldest_ps: class.oldest_ps.max(flow.books.oldest_ps.unwrap_or(0)),
                longest_ps: whole.latency.max.max(class.longest_ps),
                falls_behind: class.falls_behind || flow.falls_behind,
                has_source_queue: class.has_source_queue
                    && flow.protocol.is_none()
                    && !(flow.saturated && flow.closed_loop),
                role: flow.role,
                latency,
                ..class
            }
        })
    }
}

/// How long two runs were.
fn length(first: &VariantReport, other: &VariantReport) -> String {
    let [a, b] = [first, other].map(|report| time_text(report.run.outcome.end.0 as f64));
    if a == b { format!(" in {a}") } else { format!(" in {a} \u{2192} {b}") }
}

/// Whether a change is none, as it is told.
fn is_calm(change: &str) -> bool {
    change.contains('\u{b1}')
}

/// Relative change; from nothing there is none.
fn change(from: f64, to: f64) -> f64 {
    if from > 0.0 { (to - from) / from } else { 0.0 }
}

/// What a comparison is about: the victims if there are any, because they are what a congestion study is
/// about; and the flow that changes most, if that is none of them and changes by more than a tenth. Without
/// victims, and if no goodput changes, it is the first that carries anything; [`slowed`] has a word for
/// another one.
fn classes(first: &VariantReport, other: &VariantReport) -> Vec<(Class, Class)> {
    let pick = |names: &[&str]| {
        let name = if let [only] = names { only } else { "victims" };
        let of = |report: &VariantReport| Class::of(name, names.iter().filter_map(|name| report.flow(name)));
        (of(first), of(other))
    };
    let moved = |pair: &(Class, Class)| libm::fabs(change(pair.0.goodput_gbps, pair.1.goodput_gbps));
    let common = || first.flows.iter().filter(|flow| other.flow(&flow.name).is_some());
    // Accesses to registers are there for something else: the fewer, the better.
    let others = common().any(|flow| !flow.is_of_registers());
    let common = common().filter(|flow| !others || !flow.is_of_registers());
    let pairs: Vec<(Class, Class)> = common.map(|flow| pick(&[flow.name.as_str()])).collect();
    let change_of = |pair: &(Class, Class)| change_text(pair.0.goodput_gbps, pair.1.goodput_gbps);
    let changes: Vec<Option<String>> = pairs.iter().map(change_of).collect();
    let calm = changes.iter().flatten().all(|change| is_calm(change));
    let carries = |pair: &(Class, Class)| pair.0.goodput_gbps + pair.1.goodput_gbps > 0.0;
    let first_most = |best: (Class, Class), pair: (Class, Class)| {
        let more = if calm { carries(&pair) && !carries(&best) } else { moved(&pair) > moved(&best) };
        if more { pair } else { best }
    };
    let most = pairs.into_iter().reduce(first_most).map(|(mut before, after)| {
        // one of several that change alike does not stand out
        let own = change_text(before.goodput_gbps, after.goodput_gbps);
        let moves = own.as_ref().is_some_and(|change| !is_calm(change));
        let alike = changes.iter().filter(|change| moves && **change == own).count();
        before.alike = alike.saturating_sub(1);
        (before, after)
    });
    let victims = first.flows.iter().filter(|flow| flow.role == Some(Role::Victim));
    let victims: Vec<&str> = victims.map(|flow| flow.name.as_str()).collect();
    if victims.is_empty() {
        return most.into_iter().collect();
    }
    // hot flows have words of their own
    let most = most.filter(|pair| moved(pair) > 0.1 && pair.0.role.is_none());
    std::iter::once(pick(&victims)).chain(most).collect()
}

/// Where goodput is that of before, who else waits for longer or less long, by more than a tenth: of these
/// the flow whose mean time changes most.
fn slowed(first: &VariantReport, other: &VariantReport, told: &Class) -> Option<String> {
    let common = first.flows.iter().filter(|flow| flow.name != told.name);
    let pairs = common.filter_map(|flow| {
        let class = |flow: &FlowReport| Class::of(&flow.name, std::iter::once(flow));
        let (before, after) = (class(flow), class(other.flow(&flow.name)?));
        let moves = libm::fabs(change(before.mean_ps(), after.mean_ps()));
        let known = before.latency == after.latency && after.times.1 > 0;
        let known = known && !before.is_of_few() && !after.is_of_few();
        (known && moves > 0.1).then_some((moves, before, after))
    });
    let (_, before, after) = pairs.reduce(|best, pair| if pair.0 > best.0 { pair } else { best })?;
    let (a, b) = (before.mean_ps(), after.mean_ps());
    let percent = change_text(a, b)?;
    Some(format!(
        ", {} of {} {} \u{2192} {} ({percent})",
        before.latency,
        before.name,
        time_text(a),
        time_text(b)
    ))
}

/// Where the hot flows get as much together as before, by more than a tenth which of them gets more or
/// less: one may stand still while another one takes its place.
fn shifted(first: &VariantReport, other: &VariantReport) -> Option<String> {
    let hot = first.flows.iter().filter(|flow| flow.role == Some(Role::Hot));
    let rates = hot.filter_map(|flow| {
        let (a, b) = (flow.goodput_gbps.value, other.flow(&flow.name)?.goodput_gbps.value);
        let moves = if a > 0.0 { libm::fabs(change(a, b)) } else { b };
        (moves > 0.1).then_some((moves, flow.name.as_str(), a, b))
    });
    let (_, name, a, b) = rates.reduce(|best, rate| if rate.0 > best.0 { rate } else { best })?;
    Some(goodput(name, a, b, ""))
}

/// The rate of flows in both runs, as a part of a sentence; `more`: about the change.
fn goodput(name: &str, a: f64, b: f64, more: &str) -> String {
    let percent = change_text(a, b).unwrap_or_else(|| "from nothing".into());
    let (a, b) = (three_digits(a), three_digits(b));
    format!(", goodput of {name} {a} \u{2192} {b} Gb/s ({percent}{more})")
}

fn compared(first: &VariantReport, other: &VariantReport) -> String {
    let between = format!("{} \u{2192} {}", first.run.name, other.run.name);
    let mut classes = classes(first, other).into_iter();
    let Some((before, after)) = classes.next() else {
        return format!("{between}: no flow in common");
    };
    let percent = |a: f64, b: f64| change_text(a, b).unwrap_or_else(|| "from nothing".into());
    let (a, b) = (before.goodput_gbps, after.goodput_gbps);
    let headlines = headlines(first, other);
    let mut text = match (all_up(first), all_up(other), set_up(first, other)) {
        _ if !headlines.is_empty() && a == 0.0 && b == 0.0 => format!("{between}: {headlines}"),
        // Nothing is carried: what counts is when the connections are there.
        (.., Some(done)) if a == 0.0 && b == 0.0 => format!("{between}: {done}"),
        (Some(None), Some(None), None) if a == 0.0 && b == 0.0 => {
            format!("{between}: neither has all of it up")
        }
        (Some(before), Some(after), None) if a == 0.0 && b == 0.0 => {
            let at = |time: Option<Time>| time.map_or("never".into(), |time| time_text(time.0 as f64));
            format!("{between}: all up since {} \u{2192} {}", at(before), at(after))
        }
        _ => format!(
            "{between}: goodput of {} {} \u{2192} {} Gb/s ({}{})",
            before.name,
            three_digits(a),
            three_digits(b),
            percent(a, b),
            before.alike()
        ),
    };
    if !headlines.is_empty() && a + b > 0.0 {
        text += &format!(", {headlines}");
    }
    if before.never + after.never > 0 {
        let (a, b) = (count_text(before.never), count_text(after.never));
        let whose = if first.flows.len() > 1 { format!(" of {}", before.name) } else { String::new() };
        text += &format!(", never arriving{whose} {a} \u{2192} {b}");
    }
    if before.times.1 > 0 && after.times.1 > 0 && before.latency == after.latency {
        let (a, b) = (before.mean_ps(), after.mean_ps());
        let moved = percent(a, b);
        // of who came through where the others did not, too few are no mean to compare
        let few = [&before, &after].into_iter().filter(|class| class.is_of_few()).map(|class| class.times.1);
        let moved = few.min().map_or(moved, |few| format!("no change is told of {few}"));
        text += &format!(", {} {} \u{2192} {} ({moved})", after.latency, time_text(a), time_text(b));
        // What waits before the fabric may hide what happens there, or be all that changes.
        let whole = |class: &Class| ratio(class.latency_ps, class.packets.into());
        let (c, d) = (whole(&before), whole(&after));
        let differs = |ratio: f64| !(0.67..1.5).contains(&ratio);
        if before.has_source_queue && a > 0.0 && c > 0.0 && b > 0.0 && differs((d / c) / (b / a)) {
            text += &format!(", with the time at the source {} \u{2192} {}", time_text(c), time_text(d));
        }
        let run =
            if before.falls_behind || after.falls_behind { length(first, other) } else { String::new() };
        // Means are of those that arrived: who waits for longer than any of these is not in them.
        if [&before, &after].iter().any(|class| class.oldest_ps as f64 > class.longest_ps) {
            let [a, b] = [&before, &after].map(|class| match class.oldest_ps {
                0 => "none".into(),
                ps => time_text(ps as f64),
            });
            text += &format!(" (of what arrived{run}; the oldest that did not: {a} \u{2192} {b})");
        } else if [&before, &after].iter().any(|class| {
            let missing = class.never + class.under_way;
            100 * missing > class.times.1 + missing
        }) {
            text += &format!(" (of what arrived{run})");
        }
    }
    if before.packets > 0 && after.packets > 0 {
        let blocked = |class: &Class| ratio(class.hol_ps, class.packets.into());
        let worth_a_word = |class: &Class| ratio(class.hol_ps, class.latency_ps) >= 0.01;
        if worth_a_word(&before) || worth_a_word(&after) {
            let (a, b) = (time_text(blocked(&before)), time_text(blocked(&after)));
            text += &format!(", head-of-line blocking {a} \u{2192} {b}");
        }
    }
    let (hot_before, hot_after) = (Class::hot(first), Class::hot(other));
    let (a, b) = (hot_before.goodput_gbps, hot_after.goodput_gbps);
    let moved = if a > 0.0 { libm::fabs(change(a, b)) > 0.1 } else { b > 0.0 };
    if moved && before.role == Some(Role::Victim) {
        text += &goodput(&hot_after.name, a, b, "");
    } else if before.role == Some(Role::Victim) {
        text += &shifted(first, other).unwrap_or_default();
    }
    for (before, after) in classes {
        let (a, b) = (before.goodput_gbps, after.goodput_gbps);
        text += &goodput(&before.name, a, b, &before.alike());
    }
    if before.role.is_none()
        && change_text(before.goodput_gbps, after.goodput_gbps).is_some_and(|change| is_calm(&change))
    {
        text += &slowed(first, other, &before).unwrap_or_default();
    }
    // a rate that is rounded to nothing says nothing
    let rates = [first, other].map(message_rate);
    let few = rates.iter().any(|&rate| rate < 0.05);
    let [a, b] = if few { [first, other].map(|report| voq_changes(report) as f64) } else { rates };
    if a > 0.0 && b > 0.0 && libm::fabs(change(a, b)) > 0.25 {
        let percent = percent(a, b);
        let number = |number: f64| match number {
            ..10.0 if !few => format!("{number:.1}"),
            _ => count_text(libm::round(number) as u64),
        };
        let (a, b) = (number(a), number(b));
        let time = if few { "the whole run" } else { "a millisecond" };
        let what = if [first, other].iter().any(|report| Ports::new(report).voq_refresh_messages() > 0) {
            VOQ_MESSAGES
        } else {
            "VoQ messages"
        };
        text += &format!(", {what} {a} \u{2192} {b} in {time} ({percent})");
    }
    text
}

/// Counts that both have, and that differ.
fn headlines(first: &VariantReport, other: &VariantReport) -> String {
    let (before, after) = (counts(first), counts(other));
    let pairs = before.into_iter().filter(|(what, _)| *what != VOQ_MESSAGES).filter_map(|(what, a)| {
        let b = after.iter().find(|(other, _)| *other == what)?.1;
        let what = counts::name(what, &[first, other]);
        (a != b).then(|| format!("{what} {} \u{2192} {}", count_text(a), count_text(b)))
    });
    pairs.collect::<Vec<String>>().join(", ")
}

/// When that was done that flows which carry nothing are for, in both runs.
fn set_up(first: &VariantReport, other: &VariantReport) -> Option<String> {
    let of = |report: &VariantReport| {
        let mut all = PROTOCOLS.iter().map(|protocol| protocol.set_up(&report.run.outcome));
        all.find_map(|done| done)
    };
    let ((what, a), (_, b)) = (of(first)?, of(other)?);
    Some(format!("{what} {} \u{2192} {}", time_text(a.0 as f64), time_text(b.0 as f64)))
}

/// When all that protocols set up (connections, conduits) was there, if the run has any; `Some(None)`: it
/// never was.
fn all_up(report: &VariantReport) -> Option<Option<Time>> {
    let up = protocol::all(|protocol| protocol.all_up(&report.run.outcome));
    match up.into_iter().collect::<Option<Vec<Time>>>() {
        None => Some(None),
        Some(times) => times.into_iter().max().map(Some),
    }
}

/// VoQ messages in a simulated millisecond, once the fabric is set up, without those of refreshes: they come
/// whether something changes or not.
fn message_rate(report: &VariantReport) -> f64 {
    let set_up = report.run.outcome.enumeration.as_ref().and_then(|found| found.done());
    let set_up = set_up.map_or(0, |at| at.0);
    let messages = u128::from(voq_changes(report));
    ratio(messages * 1_000_000_000, report.active_ps().saturating_sub(set_up).into())
}

/// VoQ messages of the whole run, without those of refreshes.
fn voq_changes(report: &VariantReport) -> u64 {
    let ports = Ports::new(report);
    ports.voq_messages() - ports.voq_refresh_messages()
}

fn single(report: &VariantReport) -> String {
    let all = &report.overall;
    if all.delivered.packets == 0 {
        return "no packet was delivered in the measured time".into();
    }
    // Serialization, propagation and pipeline are there in an empty fabric as well.
    let waits = Cause::ALL
        .into_iter()
        .filter(|cause| !matches!(cause, Cause::Serialization | Cause::Propagation | Cause::Pipeline));
    // Of what users of the flows wait for. Of what they have from a protocol above messages it is not known,
    // so if there is nothing else it is of these messages. Accesses to registers are not asked for by users.
    let plain = |flow: &FlowReport| flow.above.is_none() && !flow.is_of_registers();
    let below = match report.flows.iter().any(plain) {
        true => None,
        false => report.flows.iter().find_map(|flow| flow.above),
    };
    let seen = |flow: &&FlowReport| if below.is_some() { flow.above.is_some() } else { plain(flow) };
    let parts = |cause: Cause| -> u128 {
        let flows = report.flows.iter().filter(seen);
        flows.map(|flow| flow.whole().spread.parts_ps[cause as usize]).sum()
    };
    let worst = waits.max_by_key(|cause| (parts(*cause), std::cmp::Reverse(*cause)));
    // Victims first, then others: what did not arrive comes before what did.
    let role = |flow: &&FlowReport| (flow.role != Some(Role::Victim), flow.role == Some(Role::Hot));
    let mut flows: Vec<&FlowReport> = report.flows.iter().collect();
    flows.sort_by_key(role);
    let end = report.run.outcome.end.0;
    let mut short = flows.into_iter().filter(|flow| flow.books.is_short(end) || report.stands_still(flow));
    let missing = short.next().map(|flow| {
        let Books { unit, asked, arrived, never, under_way, oldest_ps, .. } = flow.books;
        let oldest = oldest_ps
            .filter(|_| under_way > 0)
            .map(|ps| format!(", the oldest for {}", time_text(ps as f64)));
        format!(
            "{}: {} of {} arrived, {} never will, {} under way{}; ",
            flow.name,
            count_text(arrived),
            counted_text(asked, unit),
            count_text(never),
            count_text(under_way),
            oldest.unwrap_or_default()
        )
    });
    let mut text = missing.unwrap_or_default();
    // What follows is of all flows, and not of the one that was named.
    let (lose, rest): (Vec<&FlowReport>, Vec<&FlowReport>) = short.partition(|flow| flow.books.never > 0);
    // Who falls behind is told below.
    let wait = rest.into_iter().filter(|flow| !flow.falls_behind).count();
    for (count, one, more) in
        [(lose.len(), "loses something", "lose something"), (wait, "is not done", "are not done")]
    {
        if count > 0 {
            let verb = if count == 1 { one } else { more };
            text += &format!("{} {verb}, too; ", counted_text(count as u64, "other flows"));
        }
    }
    if !text.is_empty() && report.flows.len() > 1 {
        text += "all flows: ";
    }
    if all.books.asked == 0 && all.goodput_gbps.value == 0.0 {
        // Nothing is carried: what counts is what was set up.
        let all_up = all_up(report);
        let up = all_up.flatten().map(|at| format!("all up since {}", time_text(at.0 as f64)));
        let counts = protocol::all(|protocol| protocol.counts(&report.run.outcome))
            .into_iter()
            .filter(|(_, count)| *count > 0);
        let counts = counts.map(|(what, count)| format!("{what}: {}", count_text(count)));
        let told: Vec<String> = up.into_iter().chain(counts).collect();
        let standing = protocol::all(|protocol| protocol.standing(&report.run.outcome));
        return text
            + &match all_up {
                _ if !told.is_empty() => told.join(", "),
                Some(None) => "not all that is wanted is up".into(),
                None if !standing.is_empty() => standing.join(", "),
                None | Some(Some(_)) => "nothing is asked for".into(),
            };
    }
    text += &format!(
        "goodput {} Gb/s at {}",
        three_digits(all.goodput_gbps.value),
        if all.closed_loop || all.mixed_loops {
            let which = if all.closed_loop { "closed loop" } else { "closed loops and others" };
            format!("{} accepted load ({which})", load_text(all.accepted_load.value))
        } else {
            format!("{} offered load", load_text(all.offered_load))
        }
    );
    let retried = retry_share_of_all(report);
    if retried > 0.0 {
        text += &format!(", with {:.1} % of the packets of requests refused by RETRY", 100.0 * retried);
    }
    if report.overall.falls_behind {
        let behind: Vec<&str> =
            report.flows.iter().filter(|flow| flow.falls_behind).map(|flow| flow.name.as_str()).collect();
        text += &match behind[..] {
            [only] if report.flows.len() > 1 => format!(", \"{only}\" falls behind"),
            [_, ..] if behind.len() < report.flows.len() => format!(", {} flows fall behind", behind.len()),
            _ => format!(", saturated ({} accepted)", load_text(all.accepted_load.value)),
        };
    }
    if let Some(cause) = worst.filter(|cause| parts(*cause) > 0) {
        let share = ratio(parts(cause), Cause::ALL.into_iter().map(parts).sum());
        // who has no time is told of by nothing that is said of times
        let timed = |flow: &&FlowReport| flow.whole().delivered.packets > 0;
        let told: Vec<&FlowReport> = report.flows.iter().filter(seen).filter(timed).collect();
        let kind = |flow: &&FlowReport| match (below, &flow.round_trips, &flow.messages) {
            (Some(above), ..) => above.carries,
            (None, Some(_), _) => "round trips",
            (None, None, Some(_)) => "messages",
            (None, None, None) => "packets",
        };
        let kinds = told.iter().map(kind).collect::<BTreeSet<&str>>();
        let kinds = kinds.into_iter().collect::<Vec<&str>>().join(" and ");
        let (of, their) = match &told[..] {
            _ if kinds == "packets" && told.len() == report.flows.len() => (String::new(), "latency"),
            [only] if below.is_none() && report.flows.len() > 1 => {
                (format!(" of {kinds} of \"{}\"", only.name), "their latency")
            }
            [one, more @ ..] if !more.is_empty() && told.len() < report.flows.len() => {
                let others = counted_text(more.len() as u64, "other flows");
                (format!(" of {kinds} of \"{}\" and {others}", one.name), "their latency")
            }
            _ => (format!(" of {kinds}"), "their latency"),
        };
        text += &format!("; most waiting{of} is {} ({:.0} % of {their})", cause.name(), 100.0 * share);
    }
    text
}
