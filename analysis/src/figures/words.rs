//! What captions say of what is drawn.

use super::{FLOWS_SHOWN, joined, notes};
use crate::collect::Bin;
use crate::level::{Level, MESSAGES, left_share, never_share, oldest};
use crate::num::{count_text, ratio, three_digits, time_text};
use crate::protocol;
use crate::report::{FlowReport, VariantReport};
use std::collections::BTreeSet;

/// Many of what this level is about: of messages that carry those of a protocol, what they are.
pub(super) fn plural(reports: &[VariantReport], level: Level) -> String {
    let flows = reports.iter().flat_map(|report| &report.flows).filter(|flow| (level.of)(flow).is_some());
    let own = |flow: &FlowReport| flow.above.filter(|_| level.noun == "message").map(|above| above.carries);
    let what: BTreeSet<Option<&str>> = flows.map(own).collect();
    match what.iter().collect::<Vec<_>>()[..] {
        [Some(carries)] => (*carries).to_owned(),
        [] | [None] => format!("{}s", level.noun),
        // frames of one protocol and messages of another
        _ => {
            let word = |carries: &Option<&str>| {
                let all = carries.unwrap_or("messages");
                all.split(' ').next().unwrap_or(all).to_owned()
            };
            let words: BTreeSet<String> = what.iter().map(word).collect();
            format!("{} of protocols", words.into_iter().collect::<Vec<String>>().join(" and "))
        }
    }
}

/// What users of the flows wait for, if it is not what this level shows.
fn waited_for(reports: &[VariantReport], level: Level) -> Vec<&str> {
    let flows = reports.iter().flat_map(|report| &report.flows).filter(|flow| (level.of)(flow).is_some());
    let above = flows.filter(|flow| flow.above.is_some() && level.noun != "round trip");
    let units: BTreeSet<&str> = above.map(|flow| flow.books.unit).collect();
    units.into_iter().filter(|unit| !unit.is_empty()).collect()
}

/// For the title of what packets or messages do: what users of the flows wait for, if it is not these. The
/// variant with the fastest frames need not have the fastest Transfers. Of several such things, or where
/// what is drawn is called as they are, a caption speaks ([`others_wait`]).
pub(super) fn not_of(reports: &[VariantReport], level: Level) -> String {
    match waited_for(reports, level)[..] {
        [unit] if !plural(reports, level).contains(unit) => format!(", not of {unit}"),
        _ => String::new(),
    }
}

/// For a caption: what users wait for, where the title does not say it.
fn others_wait(reports: &[VariantReport], level: Level) -> String {
    let units = waited_for(reports, level);
    match units.is_empty() || !not_of(reports, level).is_empty() {
        true => String::new(),
        false => format!("users wait for {} of their own, not for these", units.join(" or ")),
    }
}

/// What packets and messages of protocols are, where they are not what users of flows see; what of them
/// is not shown, and what of the time of users is not in them.
pub(super) fn carried(reports: &[VariantReport], level: Level) -> String {
    let (what, lost) = (carried_by(reports, level), notes::translated(reports, level));
    joined(&[&what, notes::permissions(reports, level), &lost])
}

/// What messages are, where they are not what users of flows see, and what of them is not shown.
fn carried_by(reports: &[VariantReport], level: Level) -> String {
    let flows = || {
        let flows = reports.iter().flat_map(|report| &report.flows);
        flows.filter(|flow| level.noun == "message" && (level.of)(flow).is_some())
    };
    let what: BTreeSet<&str> =
        flows().map(|flow| flow.above.map_or("messages", |above| above.carries)).collect();
    let what_is_one = what.len() == 1;
    let mut text = match what.iter().collect::<Vec<&&str>>()[..] {
        [] | [&"messages"] => return String::new(),
        // the title says it
        [only] => (*only).to_owned(),
        _ => format!("messages here are {}", what.into_iter().collect::<Vec<&str>>().join(" or ")),
    };
    let [lost, delayed] =
        [0, 1].map(|n| flows().any(|flow| flow.above.is_some_and(|above| above.touched[n] > 0)));
    if what_is_one && !lost && !delayed {
        return String::new();
    }
    if lost {
        text += ", without those that the scenario loses";
    }
    if delayed {
        text += if lost { " and without its delays" } else { ", without delays that the scenario makes" };
    }
    text
}

/// What is in one distribution or mean, and differs: requests and what answers them.
pub(super) fn answered(reports: &[VariantReport], shown: &[&str], level: Level) -> &'static str {
    let flows = reports.iter().flat_map(|report| &report.flows);
    let mut flows = flows.filter(|flow| shown.contains(&flow.name.as_str()) && (level.of)(flow).is_some());
    let both = |flow: &FlowReport| match level.noun {
        "packet" => flow.protocol.is_some_and(|stats| stats.responses > 0 && stats.requests > 0),
        "message" => flow.round_trips.is_some(),
        _ => false,
    };
    match level.noun {
        _ if !flows.any(both) => "",
        "packet" => "packets are requests and responses alike",
        _ => "messages are requests and answers alike, round trips have a picture of their own",
    }
}

/// For a caption: what a distribution or mean of this level is of, and what users wait for.
pub(super) fn contents(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let (users, carried) = (others_wait(reports, level), carried(reports, level));
    joined(&[&users, &carried, &mixture(reports, shown, level)])
}

/// For a caption: who is in it too little or too long to be compared.
pub(super) fn unlike(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let (stuck, overloads) = (stuck(reports, shown, level), unequal_overloads(reports, shown, level));
    joined(&[&stuck, &overloads, &starved(reports, shown, level)])
}

/// Where the oldest that is under way at the end has waited for longer than any that arrived: it may never.
/// The oldest first.
///
/// It is one of what this level shows: a Transfer may be older than any of its frames, and of those in the
/// network it is not known since when.
pub(super) fn stuck(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let mut all: Vec<(u64, String)> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name) else { continue };
        let Some(longest) = (level.of)(flow).map(|own| own.latency.max) else { continue };
        let waits = oldest(report, flow, level).filter(|ps| *ps as f64 > longest);
        all.extend(waits.map(|ps| (ps, format!("{} {}", place(shown, name, report), time_text(ps as f64)))));
    }
    all.sort_by_key(|(ps, _)| std::cmp::Reverse(*ps));
    listed("some wait for longer than any that arrived", LISTED, all.into_iter().map(|one| one.1))
}

/// Variants without a steady state, for what is counted in all of a run and has no course over time.
pub(super) fn transient(reports: &[VariantReport]) -> String {
    let unsteady = reports.iter().filter(|report| !report.window.steady);
    let unsteady: Vec<String> = unsteady.map(|report| report.run.name.clone()).collect();
    match !unsteady.is_empty() && unsteady.len() == reports.len() {
        true => UNSTEADY.into(),
        false => listed(UNSTEADY, LISTED, unsteady.into_iter()),
    }
}

/// For a caption.
pub(super) const UNSTEADY: &str =
    "runs that are not steady as a whole: load or times change, or somebody begins or ends in them";

/// For a caption, where packets or messages of a flow are not all what users wait for, or not of one size,
/// and differ in that from variant to variant: a variant with more small ones looks faster, whatever its data
/// do.
pub(super) fn mixture(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    /// Shares are in percent.
    type Of = fn(&VariantReport, usize, Level) -> Option<f64>;
    if level.noun == "round trip" {
        return String::new();
    }
    let messages = plural(reports, MESSAGES);
    let messages = messages.split(" of ").next().unwrap_or(&messages);
    let shares: [(String, Of); 2] = [
        ("responses among packets".into(), |report, index, level| {
            let stats = report.flows[index].protocol.as_ref().filter(|_| level.noun == "packet")?;
            let made = stats.requests + stats.responses;
            (made > 0).then(|| 100.0 * ratio(stats.responses.into(), made.into()))
        }),
        (format!("management among {messages}"), |report, index, _| {
            let (other, all) = management(report, index).map(|([other, all], _)| (other, all))?;
            (all > 0).then(|| 100.0 * ratio(other.into(), all.into()))
        }),
    ];
    let extremes = |name: &str, of: &dyn Fn(&VariantReport, usize) -> Option<f64>| {
        let own = |report: &VariantReport| {
            let index = report.number(name)?;
            of(report, index)
        };
        let mut values: Vec<(f64, usize)> =
            reports.iter().enumerate().filter_map(|(n, report)| Some((own(report)?, n))).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        Some((*values.first()?, *values.last()?))
    };
    let at = |name: &str, variant: usize| place(shown, name, &reports[variant]);
    // some of those sent did not come, and nobody counted which
    let of_sent = |name: &str, variant: usize| {
        let index = reports[variant].number(name);
        let all_came = index.and_then(|index| management(&reports[variant], index)).is_none_or(|told| told.1);
        if all_came { "" } else { " of those sent" }
    };
    let shares = shares.map(|(what, of)| {
        let widest = shown.iter().filter_map(|name| Some((*name, extremes(name, &|r, n| of(r, n, level))?)));
        let widest = widest.max_by(|a, b| (a.1.1.0 - a.1.0.0).total_cmp(&(b.1.1.0 - b.1.0.0)));
        let sent = |name, variant| if what.starts_with("management") { of_sent(name, variant) } else { "" };
        widest.and_then(|(name, (least, most))| match () {
            () if most.0 < 100.0 * MIXED => None,
            // that is no mixture
            () if least.0 > 99.5 => None,
            () if most.0 - least.0 < 100.0 * MIXED => {
                Some(format!("{what} {:.0} %{}", most.0, sent(name, most.1)))
            }
            () => {
                let [from, to] = [least, most]
                    .map(|(share, n)| format!("{share:.0} %{} in {}", sent(name, n), at(name, n)));
                Some(format!("{what} {from}, {to}"))
            }
        })
    });
    let alike = if shares[0].is_some() { "" } else { answered(reports, shown, level) };
    let mut told: Vec<String> = shares.into_iter().flatten().collect();
    let octets = |report: &VariantReport, index: usize| {
        let flow = report.flows[index].protocol.as_ref().and((level.of)(&report.flows[index]))?;
        let Bin { payload, packets, .. } = flow.delivered;
        (packets > 0).then(|| ratio(payload.into(), packets.into()))
    };
    let widest = shown.iter().filter_map(|name| Some((*name, extremes(name, &octets)?)));
    let widest = widest.max_by(|a, b| (a.1.1.0 - a.1.0.0).total_cmp(&(b.1.1.0 - b.1.0.0)));
    told.extend(widest.filter(|(_, (least, most))| most.0 - least.0 > MIXED * most.0).map(
        |(name, (least, most))| {
            let text = |(octets, n): (f64, usize)| format!("{octets:.0} in {}", at(name, n));
            let one = match level.noun {
                "message" if !messages.contains(' ') => messages.trim_end_matches('s'),
                noun => noun,
            };
            format!("mean octets of a {one} {}, {}", text(least), text(most))
        },
    ));
    let all_other = |report: &VariantReport, name: &str| {
        let index = report.number(name)?;
        protocol::management(&report.run, index).map(|[other, all]| all > 0 && other == all)
    };
    let mut other = each(reports, shown).filter_map(|(report, name)| all_other(report, name)).peekable();
    let all_management = other.peek().is_some() && other.all(|is| is);
    let nothing_else = format!("all {messages} are management, none is data");
    let nothing_else = if all_management { nothing_else } else { String::new() };
    let mixed = if told.is_empty() { String::new() } else { format!("a mixture: {}", told.join("; ")) };
    joined(&[&nothing_else, &mixed, alike])
}

/// Of the messages of a flow that arrived those that keep connections or conduits, and all; and whether it is
/// so: else it is that of those that were sent.
///
/// Switches copy data and nothing else, so what arrived more than once is none of the others.
pub(super) fn management(report: &VariantReport, index: usize) -> Option<([u64; 2], bool)> {
    let [other, sent] = protocol::management(&report.run, index)?;
    let flow = &report.flows[index];
    let stats = flow.protocol?;
    let none_lost = flow.dropped == 0 && flow.left == 0 && flow.books.never == 0;
    let all_came = stats.sent == sent && (stats.delivered == sent || flow.copied && none_lost);
    Some(([other, if all_came { stats.delivered.max(other) } else { sent }], all_came))
}

/// From this share on a mixture is worth a word.
const MIXED: f64 = 0.05;

/// Times that differ by no more than this share are as long as each other.
const ALIKE_SHARE: f64 = 0.05;

/// Flows that fall behind for longer in one variant than in another, the shortest and the longest: their
/// latency grows with that, so it is no difference of the variants. What waits at its source does not yet
/// take network time.
pub(super) fn unequal_overloads(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    if !level.since_creation {
        return String::new();
    }
    let busy = |report: &VariantReport, name: &str| {
        let index = report.number(name).filter(|index| report.flows[*index].falls_behind)?;
        let data = &report.run.collector.flows()[index];
        Some(data.last_offer.0.saturating_sub(data.extent.first.0)).filter(|ps| *ps > 0)
    };
    let told = |name: &&str| {
        let times = reports.iter().filter_map(|report| Some((busy(report, name)?, &report.run.name)));
        let mut times: Vec<(u64, &String)> = times.collect();
        times.sort_by_key(|time| time.0);
        let (least, most) = (times.first()?, times.last()?);
        let differ = most.0 as f64 > (1.0 + ALIKE_SHARE) * least.0 as f64;
        let text = |(ps, variant): &(u64, &String)| format!("{} in {variant}", time_text(*ps as f64));
        differ.then(|| format!("{name} for {}, {}", text(least), text(most)))
    };
    let told: Vec<String> = shown.iter().filter_map(told).collect();
    listed("latency grows for as long as a flow asks for more than it gets", LISTED, told.into_iter())
}

/// From this share on it is worth a word in a figure how much is under way.
pub(super) const UNDER_WAY_SHARE: f64 = 0.01;
/// So many variants and flows are named in a caption.
pub(super) const LISTED: usize = 4;

/// Where much of what was asked for was left behind when the run ended: this is the slowest, and is missing
/// in the distribution. The most of it first. What is merely on its way is neither told nor missing.
pub(super) fn still_under_way(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let left = |report: &VariantReport, flow: &FlowReport| left_share(report, flow, level);
    largest_first("not there at the end", reports, shown, left, UNDER_WAY_SHARE)
}

/// Where some of what was asked for never arrives: it is missing in the distribution as well, and however
/// little it is a tail ends there. The most of it first.
pub(super) fn never_there(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let lost = |report: &VariantReport, flow: &FlowReport| never_share(report, flow, level);
    largest_first("never arrives", reports, shown, lost, f64::MIN_POSITIVE)
}

/// Shares of flows from `least` on under a heading, the largest first.
fn largest_first(
    heading: &str,
    reports: &[VariantReport],
    shown: &[&str],
    of: impl Fn(&VariantReport, &FlowReport) -> f64,
    least: f64,
) -> String {
    let shares = each(reports, shown).filter_map(|(report, name)| {
        let share = of(report, report.flow(name)?);
        (share >= least).then(|| (share, place(shown, name, report)))
    });
    let mut shares: Vec<(f64, String)> = shares.collect();
    shares.sort_by(|a, b| b.0.total_cmp(&a.0));
    let percent = |share: f64| match 100.0 * share {
        much @ 0.995.. => format!("{much:.0} %"),
        little => format!("{} %", three_digits(little)),
    };
    listed(heading, LISTED, shares.iter().map(|(share, at)| format!("{at} {}", percent(*share))))
}

/// The flows that are shown, in each variant.
pub(super) fn each<'a>(
    reports: &'a [VariantReport],
    shown: &'a [&'a str],
) -> impl Iterator<Item = (&'a VariantReport, &'a str)> {
    reports.iter().flat_map(|report| shown.iter().map(move |name| (report, *name)))
}

/// Of which flow something is said in a caption, and of which variant: there may be only one flow.
pub(super) fn place(shown: &[&str], name: &str, report: &VariantReport) -> String {
    let variant = &report.run.name;
    if shown.len() == 1 { variant.clone() } else { format!("{name} in {variant}") }
}

/// The first of `texts`, `most` at most, and how many more there are, under a heading; nothing if there are
/// none.
pub(super) fn listed(heading: &str, most: usize, texts: impl ExactSizeIterator<Item = String>) -> String {
    let all = texts.len();
    let mut shown: Vec<String> = texts.take(most).collect();
    if all > most {
        shown.push(format!("{} more", all - most));
    }
    if shown.is_empty() { String::new() } else { format!("{heading}: {}", shown.join(", ")) }
}

/// Variants in which a flow has nothing in the measured part, though something of it arrived before: they
/// have no line.
pub(super) fn unmeasured(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    let mut none: Vec<String> = Vec::new();
    for (report, name) in each(reports, shown) {
        let Some(flow) = report.flow(name).filter(|flow| flow.arrived > 0) else { continue };
        if (level.of)(flow).is_some_and(|flow| flow.delivered.packets == 0) {
            none.push(format!("{name} in {}", report.run.name));
        }
    }
    if none.is_empty() { String::new() } else { format!("nothing in the measured part: {}", none.join(", ")) }
}

/// A source that waits for its own packets makes few of them where they are slow. From less than this share
/// of the link time that another one like it gets on, a distribution of these few says little.
const FEW_SHARE: f64 = 0.25;

/// Closed loops that deliver few packets beside others like them: beside themselves in other variants, and
/// beside other closed loops of their variant. As many as they can be, their packets are those that had to
/// wait least often. The fewest first.
pub(super) fn starved(reports: &[VariantReport], shown: &[&str], level: Level) -> String {
    // Endless loops only: who ends has made all that it had to. Where protocols run a flow, a host or the
    // size of what it asks for may be why.
    let rate = |flow: &FlowReport| {
        let endless = flow.closed_loop && flow.rate_span.is_none() && flow.protocol.is_none();
        let loops = endless && (level.of)(flow).is_some();
        // Long packets are as many as short ones by the time that they take.
        loops.then_some(flow.accepted_load.value)
    };
    let most = |of: &mut dyn Iterator<Item = &FlowReport>| of.filter_map(rate).fold(0.0, f64::max);
    let busiest = most(&mut reports.iter().flat_map(|report| &report.flows));
    let mut few: Vec<(f64, String)> = Vec::new();
    for report in reports {
        let peers = most(&mut report.flows.iter());
        for flow in report.flows.iter().filter(|flow| shown.contains(&flow.name.as_str())) {
            let Some(own) = rate(flow) else { continue };
            let best = most(&mut reports.iter().filter_map(|other| other.flow(&flow.name))).max(peers);
            if own < FEW_SHARE * best {
                let (name, variant) = (&flow.name, &report.run.name);
                let at = if reports.len() > 1 { format!("{name} in {variant}") } else { name.clone() };
                let count = count_text(flow.delivered.packets);
                let share = 100.0 * own / busiest;
                few.push((own / busiest, format!("{at} {count} (a source {share:.1} % of the busiest)")));
            }
        }
    }
    few.sort_by(|a, b| a.0.total_cmp(&b.0));
    listed("closed loops make few packets where they are slow", LISTED, few.into_iter().map(|few| few.1))
}

/// The flows that are drawn, [`FLOWS_SHOWN`] at most: the first of each variant, then the second of each,
/// and so on. In a variant those come first that the scenario declares, then those that carry most; flows
/// that carry nothing for anybody, because they keep connections or set something up, come last. Flows that
/// differ by less than a twentieth of the most that one carries are alike, so that flows that do the same
/// are not chosen by chance. Of those that go up and down together from variant to variant one is enough,
/// as long as others wait.
pub(super) fn worth_most<'a>(reports: &[VariantReport], names: &[&'a str]) -> Vec<&'a str> {
    let idle =
        |name: &str| reports.iter().filter_map(|report| report.flow(name)).all(FlowReport::carries_nothing);
    let payload_of = |report: &VariantReport, index: usize| -> u64 {
        report.run.collector.flows()[index].bins.iter().map(|bin| bin.payload).sum()
    };
    // what it carries in each variant, in tenths of the most
    let course = |name: &str| -> Vec<Option<u64>> {
        let of = |report: &VariantReport| {
            let index = report.number(name)?;
            Some(payload_of(report, index))
        };
        let all: Vec<Option<u64>> = reports.iter().map(of).collect();
        let most = all.iter().flatten().copied().max().unwrap_or(0).max(1);
        all.into_iter().map(|own| Some((10 * own? + most / 2) / most)).collect()
    };
    let rank = |report: &VariantReport| -> Vec<&'a str> {
        let payload = |index: usize| payload_of(report, index);
        let most = (0..report.flows.len()).map(payload).max().unwrap_or(0).max(1);
        let key = |index: usize| {
            let twentieths = u128::from(payload(index)) * 20 / u128::from(most);
            let flow = &report.flows[index];
            (idle(&flow.name), flow.role.is_none(), std::cmp::Reverse(twentieths))
        };
        let here = |name: &&'a str| Some((key(report.number(name)?), *name));
        let mut here: Vec<_> = names.iter().filter_map(here).collect();
        here.sort_by_key(|(key, _)| *key);
        here.into_iter().map(|(_, name)| name).collect()
    };
    let ranks: Vec<Vec<&str>> = reports.iter().map(rank).collect();
    let (mut chosen, mut courses): (Vec<&str>, Vec<_>) = (Vec::new(), Vec::new());
    for others_wait in [true, false] {
        for place in 0..names.len() {
            for name in ranks.iter().filter_map(|rank| rank.get(place)) {
                if chosen.len() == FLOWS_SHOWN || chosen.contains(name) {
                    continue;
                }
                let own = course(name);
                // who carries nothing is drawn before others only where there is nobody else
                let waits = others_wait && (courses.contains(&own) || place > 0 && idle(name));
                if !waits {
                    chosen.push(name);
                    courses.push(own);
                }
            }
        }
    }
    names.iter().copied().filter(|name| chosen.contains(name)).collect()
}

/// For the key of their line. Of two the names: one of them may be called like all that are left.
pub(super) fn others_text(others: &[&str]) -> String {
    match others {
        [only] => format!("flow {only}"),
        [one, two] => format!("flows {one} and {two} together"),
        many => format!("{} other flows together", many.len()),
    }
}

/// For a subtitle, where not all flows are drawn.
pub(super) fn flows_left_out(shown: usize, all: usize, rule: &str) -> String {
    if shown < all { format!("{shown} of {all} flows: {rule}") } else { String::new() }
}

/// Which flows are drawn over time, and as distributions.
pub(super) const WORTH_MOST: &str = "those that differ or carry most, declared ones first";
