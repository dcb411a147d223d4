//! What a run came to as a whole, variant by variant: times that protocols exist for, and what was counted.
//! Each has a scale of its own.

use super::bars::{BAR, BAR_PITCH, BASE, GROUP_GAP, ROWS_SHOWN};
use super::{Caption, joined, left_out, listed, subtitle};
use crate::axes::{LABEL, MARGIN, PAGE, PANEL, heading, shorten, stroke};
use crate::baselines::baselines;
use crate::counts::{self, measures};
use crate::num::{change_text, count_text, ratio, time_text};
use crate::protocol::PROTOCOLS;
use crate::report::{FlowReport, VariantReport};
use crate::scene::{Align, Scene, text_width};

/// One thing: a bar for each variant that could have it.
struct Thing {
    what: String,
    bars: Vec<Bar>,
}

struct Bar {
    variant: usize,
    /// Not a number: there is none.
    value: f64,
    /// What stands beside it.
    text: String,
}

/// The first of these things for which there is room, with their variants under one another.
fn draw(
    caption: &Caption,
    reports: &[VariantReport],
    title: &str,
    notes: &[&str],
    things: Vec<Thing>,
) -> Scene {
    let all = things.len();
    let (mut shown, mut bars) = (Vec::new(), 0);
    for thing in things {
        bars += thing.bars.len();
        if bars > ROWS_SHOWN && !shown.is_empty() {
            break;
        }
        shown.push(thing);
    }
    let names = shown.iter().flat_map(|thing| &thing.bars).map(|bar| &reports[bar.variant].run.name);
    let label_width = names.map(|name| text_width(name, LABEL)).fold(60.0, f64::max).min(230.0);
    let rows: usize = shown.iter().map(|thing| thing.bars.len()).sum();
    let texts = shown.iter().flat_map(|thing| &thing.bars).map(|bar| text_width(&bar.text, LABEL));
    let beside = texts.fold(0.0, f64::max) + 7.0;
    let top = 82.0;
    let height = rows as f64 * BAR_PITCH + shown.len() as f64 * GROUP_GAP + 14.0;
    let mut scene = Scene::new(PAGE as u32, (top + height) as u32);
    let left_out = left_out(shown.len(), all, "quantities");
    let more: Vec<&str> = notes.iter().copied().chain([left_out.as_str()]).collect();
    heading(&mut scene, title, &subtitle(caption, &joined(&more)));
    let left = MARGIN + label_width + 10.0;
    let width = PAGE - MARGIN - left - beside;
    let mut y = top;
    for Thing { what, bars } in &shown {
        y += GROUP_GAP - 6.0;
        let what = shorten(what, PANEL, PAGE - 2.0 * MARGIN);
        scene.text((MARGIN, y - 8.0), &what, PANEL, Align::Left);
        let most = bars.iter().map(|bar| bar.value).filter(|value| value.is_finite()).fold(0.0, f64::max);
        for Bar { variant, value, text } in bars {
            let name = shorten(&reports[*variant].run.name, LABEL, label_width);
            scene.text((left - 10.0, y + BAR / 2.0 + 4.6), &name, LABEL, Align::Right);
            let length = if value.is_finite() && most > 0.0 { width * value / most } else { 0.0 };
            scene.rect(left, y, length, BAR, stroke(*variant).color);
            scene.text((left + length + 7.0, y + BAR / 2.0 + 4.6), text, LABEL, Align::Left);
            y += BAR_PITCH;
        }
        y += 6.0;
    }
    scene
}

/// What a dash says, if there is one.
fn missing(things: &[Thing], words: &'static str) -> &'static str {
    let some = things.iter().flat_map(|thing| &thing.bars).any(|bar| !bar.value.is_finite());
    if some { words } else { "" }
}

/// What was counted in each run as a whole. `None`: nothing was, or there is nothing to set it beside.
pub(super) fn counted(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let mut things: Vec<(&str, Vec<(usize, u64)>)> = Vec::new();
    for (variant, report) in reports.iter().enumerate() {
        for (what, count) in measures(report) {
            match things.iter_mut().find(|thing| thing.0 == what) {
                Some(thing) => thing.1.push((variant, count)),
                None => things.push((what, vec![(variant, count)])),
            }
        }
    }
    let all_reports: Vec<&VariantReport> = reports.iter().collect();
    let whole = |counts: &[(usize, u64)]| counts.len() == reports.len();
    let even = |counts: &[(usize, u64)]| counts.iter().all(|count| count.1 == counts[0].1);
    // what is alike everywhere is no result, but a reader of the others has to know of it
    let alike: Vec<String> = things
        .iter()
        .filter(|(_, counts)| whole(counts) && even(counts) && counts[0].1 > 0)
        .map(|(what, counts)| format!("{} {}", counts::name(what, &all_reports), count_text(counts[0].1)))
        .collect();
    let alike = listed("the same in all variants", 3, alike.into_iter());
    // Of what only some variants could have, it is a result that they have any.
    things.retain(|(_, counts)| !even(counts) || !whole(counts) && counts[0].1 > 0);
    if things.is_empty() {
        return None;
    }
    let thing = |(what, counts): (&str, Vec<(usize, u64)>)| {
        let bar = |variant: usize| {
            let count = counts.iter().find(|count| count.0 == variant).map(|count| count.1);
            let text = count.map_or("-".into(), count_text);
            Bar { variant, value: count.map_or(f64::NAN, |count| count as f64), text }
        };
        Thing {
            what: counts::name(what, &all_reports).to_owned(),
            bars: (0..reports.len()).map(bar).collect(),
        }
    };
    let things: Vec<Thing> = things.into_iter().map(thing).collect();
    let about = "in the whole run; each count has a scale of its own";
    let missing = missing(&things, "-: nothing of the kind can happen in this variant");
    Some(draw(caption, reports, "Counts", &[about, missing, &alike], things))
}

/// A time of a variant, picoseconds, and of which share of what was asked for it is the mean.
#[derive(Copy, Clone)]
struct Took {
    ps: f64,
    of: f64,
}

/// Times of a variant, each with its name and that of its flow, if it is one of a flow.
fn times(report: &VariantReport) -> Vec<(&'static str, String, Took)> {
    let mut times = Vec::new();
    for (index, flow) in report.flows.iter().enumerate() {
        times.extend(above(flow).map(|(what, took)| (what, flow.name.clone(), took)));
        for (what, get) in PROTOCOLS.iter().flat_map(|protocol| protocol.times()) {
            let us = get(&report.run, Some(index));
            if us.is_finite() {
                times.push((what, flow.name.clone(), Took { ps: us * 1e6, of: 1.0 }));
            }
        }
    }
    if let Some(found) = &report.run.outcome.enumeration {
        if let Some(done) = found.done() {
            times.push((
                "time until the fabric is set up",
                String::new(),
                Took { ps: done.0 as f64, of: 1.0 },
            ));
        }
        for phase in &found.phases {
            let took = phase.until.map(|until| Took { ps: (until.0 - phase.from.0) as f64, of: 1.0 });
            times.extend(took.map(|took| ("phase of setting up", phase.name.to_owned(), took)));
        }
    }
    times
}

/// What users of a protocol wait for, where that is not its messages.
fn above(flow: &FlowReport) -> Option<(&'static str, Took)> {
    let above = flow.above.filter(|above| above.count > 0)?;
    let books = &flow.books;
    let of = if books.asked > 0 { ratio(books.arrived.into(), books.asked.into()) } else { 1.0 };
    Some((above.latency, Took { ps: ratio(above.sum_ps, above.count.into()), of }))
}

/// Times that are the purpose of protocols, variant by variant. `None`: there are none, or no variants to
/// compare.
pub(super) fn taken(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let found: Vec<_> = reports.iter().map(times).collect();
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for (what, whose, _) in found.iter().flatten() {
        if !kinds.contains(&(*what, whose)) {
            kinds.push((what, whose));
        }
    }
    if kinds.is_empty() || reports.len() < 2 {
        return None;
    }
    let several = |what: &str| kinds.iter().filter(|kind| kind.0 == what).count() > 1;
    let bases = baselines(reports);
    let thing = |(what, whose): &(&str, &str)| {
        let of = |variant: usize| {
            found[variant].iter().find(|time| (time.0, &*time.1) == (*what, *whose)).map(|time| time.2)
        };
        let bar = |variant: usize| {
            let Some(took) = of(variant) else { return Bar { variant, value: f64::NAN, text: "-".into() } };
            let base = bases[variant];
            let change = of(base).filter(|_| base != variant).and_then(|base| change_text(base.ps, took.ps));
            let mut text = time_text(took.ps);
            if took.of < 1.0 {
                text += &format!(", of {:.1} %", 100.0 * took.of);
            }
            text += &change.map_or(String::new(), |change| {
                format!("  ({change} against {})", shorten(&reports[base].run.name, LABEL, BASE))
            });
            Bar { variant, value: took.ps, text }
        };
        let what = if several(what) { format!("{what}: {whose}") } else { (*what).to_owned() };
        Thing { what, bars: (0..reports.len()).map(bar).collect() }
    };
    let mut things: Vec<Thing> = kinds.iter().map(thing).collect();
    // Of what few have the others are not worth a row.
    let mut few = false;
    for thing in &mut things {
        let have = thing.bars.iter().filter(|bar| bar.value.is_finite()).count();
        if 2 * have < reports.len() {
            thing.bars.retain(|bar| bar.value.is_finite());
            few = true;
        }
    }
    let few = if few { "of what few variants have only these are shown" } else { "" };
    // what is alike everywhere is no result, and nor is a phase in which there is nothing to do
    let is_alike = |thing: &Thing| {
        thing.bars.len() == reports.len() && thing.bars.iter().all(|bar| bar.value == thing.bars[0].value)
    };
    let (alike, things): (Vec<Thing>, Vec<Thing>) = things.into_iter().partition(is_alike);
    if things.is_empty() {
        return None;
    }
    let alike = alike.iter().filter(|thing| thing.bars[0].value > 0.0);
    let alike: Vec<String> =
        alike.map(|thing| format!("{} {}", thing.what, time_text(thing.bars[0].value))).collect();
    let alike = listed("the same in all variants", 3, alike.into_iter());
    let some = found.iter().flatten().any(|time| time.2.of < 1.0);
    let some =
        if some { "of x %: of so many of those that were asked for, the others have no time" } else { "" };
    let about = "in the whole run; each time has a scale of its own, from zero";
    let missing = missing(&things, "-: it never came to that, or the variant has nothing of the kind");
    Some(draw(caption, reports, "How long it takes", &[about, some, missing, few, &alike], things))
}
