//! What a run came to as a whole, variant by variant: times that protocols exist for, and what was counted.
//! Each has a scale of its own.

use super::bars::{BAR, BAR_PITCH, BASE, GROUP_GAP, ROWS_SHOWN};
use super::words::{LISTED, listed};
use super::{Caption, joined, left_out, subtitle};
use crate::axes::{LABEL, MARGIN, PAGE, PANEL, heading, shorten, shorten_name, stroke};
use crate::baselines::baselines;
use crate::counts::{self, measures};
use crate::estimate::tells_change;
use crate::num::{change_text, count_text, ratio, time_text};
use crate::protocol::PROTOCOLS;
use crate::report::{FlowReport, VariantReport};
use crate::scene::{Align, Scene, text_width};

/// When a fabric that a host sets up is ready.
const SET_UP: &str = "time until the fabric is set up";
/// What comes before the name of a part of it.
const PHASE: &str = "phase of setting up";

/// Least length of a bar of what is there, page units.
const HAIR: f64 = 2.0;

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
    let clocks = clocks(reports);
    let widths = shown.iter().flat_map(|thing| &thing.bars).map(|bar| {
        let name = text_width(&reports[bar.variant].run.name, LABEL).min(230.0);
        name + text_width(&clocks[bar.variant], LABEL)
    });
    let label_width = widths.fold(60.0, f64::max);
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
            let clock = &clocks[*variant];
            let room = label_width - text_width(clock, LABEL);
            let name = shorten_name(&reports[*variant].run.name, LABEL, room) + clock;
            scene.text((left - 10.0, y + BAR / 2.0 + 4.6), &name, LABEL, Align::Right);
            let length = if value.is_finite() && most > 0.0 { width * value / most } else { 0.0 };
            // beside what is very much longer a bar is a hair, and not what is not there
            let length = if *value > 0.0 { length.max(HAIR) } else { length };
            scene.rect(left, y, length, BAR, stroke(*variant).color);
            scene.text((left + length + 7.0, y + BAR / 2.0 + 4.6), text, LABEL, Align::Left);
            y += BAR_PITCH;
        }
        y += 6.0;
    }
    scene
}

/// What stands behind the name of each variant: the scale of its protocol clock, if not all have the same.
fn clocks(reports: &[VariantReport]) -> Vec<String> {
    let clocks: Vec<Vec<String>> = reports.iter().map(VariantReport::protocol_clocks).collect();
    let even = clocks.iter().all(|clock| *clock == clocks[0]);
    let text = |clock: Vec<String>| match even || clock.is_empty() {
        true => String::new(),
        false => format!(" (clock \u{d7} {})", clock.join(", ")),
    };
    clocks.into_iter().map(text).collect()
}

/// What a dash says, if there is one.
fn missing(things: &[Thing], words: &'static str) -> &'static str {
    let some = things.iter().flat_map(|thing| &thing.bars).any(|bar| bar.text == "-");
    if some { words } else { "" }
}

/// Of what less than half of so many variants have the others are not worth a row; and what is to be said of
/// it.
fn without_most(things: &mut [Thing], variants: usize) -> &'static str {
    for thing in things.iter_mut() {
        let have = thing.bars.iter().filter(|bar| bar.value.is_finite()).count();
        if 2 * have < variants {
            thing.bars.retain(|bar| bar.value.is_finite());
        }
    }
    let few = things.iter().any(|thing| thing.bars.len() < variants);
    if few { "of what few variants have only these are shown" } else { "" }
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
    let mut things: Vec<Thing> = things.into_iter().map(thing).collect();
    let few = without_most(&mut things, reports.len());
    let about = "in the whole run; each count has a scale of its own";
    let missing = missing(&things, "-: nothing of the kind can happen in this variant");
    let mut cut: Vec<(&str, Vec<String>)> = Vec::new();
    for report in reports {
        for why in PROTOCOLS.iter().filter_map(|protocol| protocol.cut(&report.run.outcome)) {
            match cut.iter_mut().find(|known| known.0 == why) {
                Some(known) => known.1.push(report.run.name.clone()),
                None => cut.push((why, vec![report.run.name.clone()])),
            }
        }
    }
    let cut: Vec<String> = cut
        .into_iter()
        .map(|(why, variants)| listed(&format!("{why}, and its counts there"), LISTED, variants.into_iter()))
        .collect();
    let cut = cut.join(", ");
    Some(draw(caption, reports, "Counts", &[about, missing, &cut, few, &alike], things))
}

/// A time of a variant.
#[derive(Copy, Clone)]
struct Took {
    ps: f64,
    /// Of which share of what was asked for it is the mean.
    of: f64,
    /// It is the mean of too few to be compared: so many.
    few: Option<u64>,
    /// It is counted from the beginning of the run.
    is_moment: bool,
}

impl Took {
    fn new(ps: f64, is_moment: bool) -> Self {
        Self { ps, of: 1.0, few: None, is_moment }
    }

    /// How it differs from that of a variant of this name.
    fn against(self, base: Self, name: &str) -> Option<String> {
        let few = [self.few, base.few].into_iter().flatten().min();
        let name = shorten_name(name, LABEL, BASE);
        Some(match few {
            Some(few) => format!("no change is told of {few}"),
            // half of a moment is another one, and nothing is twice as fast
            None if self.is_moment => match time_text(libm::fabs(self.ps - base.ps)).as_str() {
                _ if self.ps == base.ps => format!("as {name}"),
                _ if time_text(self.ps) == time_text(base.ps) => format!("about as {name}"),
                time if self.ps < base.ps => format!("{time} earlier than {name}"),
                time => format!("{time} later than {name}"),
            },
            None => format!("{} against {name}", change_text(base.ps, self.ps)?),
        })
    }
}

/// Times of a variant, each with its name and that of its flow, if it is one of a flow.
fn times(report: &VariantReport) -> Vec<(&'static str, String, Took)> {
    let mut times = Vec::new();
    for (index, flow) in report.flows.iter().enumerate() {
        times.extend(above(flow).map(|(what, took)| (what, flow.name.clone(), took)));
        for row in PROTOCOLS.iter().flat_map(|protocol| protocol.times()) {
            let us = (row.get)(&report.run, Some(index));
            if us.is_finite() {
                times.push((row.words, flow.name.clone(), Took::new(us * 1e6, row.is_moment)));
            }
        }
    }
    if let Some(found) = &report.run.outcome.enumeration {
        if let Some(done) = found.done() {
            times.push((SET_UP, String::new(), Took::new(done.0 as f64, true)));
        }
        for phase in &found.phases {
            let took = phase.until.map(|until| Took::new((until.0 - phase.from.0) as f64, false));
            times.extend(took.map(|took| (PHASE, phase.name.to_owned(), took)));
        }
    }
    times
}

/// Whether what comes again in other variants has never gone in this one.
fn never_gone(report: &VariantReport, what: &str, whose: &str) -> bool {
    let rows = PROTOCOLS.iter().flat_map(|protocol| protocol.times()).filter(|row| row.words == what);
    report
        .number(whose)
        .is_some_and(|index| rows.into_iter().any(|row| (row.never_gone)(&report.run, Some(index))))
}

/// What users of a protocol wait for, where that is not its messages.
fn above(flow: &FlowReport) -> Option<(&'static str, Took)> {
    let above = flow.above.filter(|above| above.count > 0)?;
    let books = &flow.books;
    let of = if books.asked > 0 { ratio(books.arrived.into(), books.asked.into()) } else { 1.0 };
    let few = (!tells_change(above.count, books.never + books.under_way)).then_some(above.count);
    let took = Took::new(ratio(above.sum_ps, above.count.into()), false);
    Some((above.latency, Took { of, few, ..took }))
}

/// Lists of what is alike everywhere, for a caption: the same in all variants, about the same, and both in
/// those that have it. The same is what does not differ at all; three digits that agree are about the same.
fn alike_lists(alike: &[Thing], variants: usize) -> [String; 4] {
    let list = |heading: &str, whole: bool, exact: bool| {
        let is = |thing: &&Thing| {
            let same = thing.bars.iter().all(|bar| bar.value == thing.bars[0].value);
            (thing.bars.len() == variants) == whole && same == exact
        };
        let named = |thing: &Thing| format!("{} {}", thing.what, time_text(thing.bars[0].value));
        let texts: Vec<String> = alike.iter().filter(is).map(named).collect();
        listed(heading, 3, texts.into_iter())
    };
    [
        list("the same in all variants", true, true),
        list("about the same in all variants", true, false),
        list("the same in all variants that have it", false, true),
        list("about the same in all variants that have it", false, false),
    ]
}

/// Times that are the purpose of protocols, variant by variant; of a single run as well, as no other picture
/// has them. `None`: there are none, or all variants have the same.
pub(super) fn taken(caption: &Caption, reports: &[VariantReport]) -> Option<Scene> {
    let found: Vec<_> = reports.iter().map(times).collect();
    let mut kinds: Vec<(&str, &str)> = Vec::new();
    for (what, whose, _) in found.iter().flatten() {
        if !kinds.contains(&(*what, whose)) {
            kinds.push((what, whose));
        }
    }
    if kinds.is_empty() {
        return None;
    }
    let several = |what: &str| kinds.iter().filter(|kind| kind.0 == what).count() > 1;
    let bases = baselines(reports);
    let thing = |(what, whose): &(&str, &str)| {
        let of = |variant: usize| {
            found[variant].iter().find(|time| (time.0, &*time.1) == (*what, *whose)).map(|time| time.2)
        };
        let bar = |variant: usize| {
            let Some(took) = of(variant) else {
                // who has nothing to set up is not one that never came to it
                let is_there =
                    [SET_UP, PHASE].contains(what) && reports[variant].run.outcome.enumeration.is_none();
                let (value, text) = match () {
                    () if is_there => (0.0, "set up from the start"),
                    // what was there all the time is no worse than what came back
                    () if never_gone(&reports[variant], what, whose) => (f64::NAN, "never down"),
                    () => (f64::NAN, "-"),
                };
                return Bar { variant, value, text: text.into() };
            };
            let base = bases[variant];
            let name = &reports[base].run.name;
            let change = of(base).filter(|_| base != variant).and_then(|base| took.against(base, name));
            let mut text = time_text(took.ps);
            if took.of < 1.0 {
                text += &format!(", of {:.1} %", 100.0 * took.of);
            }
            text += &change.map_or(String::new(), |change| format!("  ({change})"));
            Bar { variant, value: took.ps, text }
        };
        let what = if several(what) { format!("{what}: {whose}") } else { (*what).to_owned() };
        Thing { what, bars: (0..reports.len()).map(bar).collect() }
    };
    let mut things: Vec<Thing> = kinds.iter().map(thing).collect();
    without_most(&mut things, reports.len());
    // what is alike everywhere, or as far as it is told, is no result, and nor is a phase in which there is
    // nothing to do
    let is_alike = |thing: &Thing| {
        let told = |bar: &Bar| time_text(bar.value);
        thing.bars.len() > 1 && thing.bars.iter().all(|bar| told(bar) == told(&thing.bars[0]))
    };
    let (mut alike, things): (Vec<Thing>, Vec<Thing>) = things.into_iter().partition(is_alike);
    if things.is_empty() {
        return None;
    }
    alike.retain(|thing| thing.bars[0].value > 0.0);
    // who knows the whole can do without the parts
    if alike.iter().any(|thing| thing.what == SET_UP) {
        alike.retain(|thing| !thing.what.starts_with(PHASE));
    }
    let [every, every_about, some_alike, some_about] = alike_lists(&alike, reports.len());
    let mut things = things;
    let few = without_most(&mut things, reports.len());
    let some = found.iter().flatten().any(|time| time.2.of < 1.0);
    let some =
        if some { "of x %: of so many of those that were asked for, the others have no time" } else { "" };
    let about = "in the whole run; each time has a scale of its own, from zero";
    let missing = missing(&things, "-: it never came to that, or the variant has nothing of the kind");
    Some(draw(
        caption,
        reports,
        "How long it takes",
        &[about, some, missing, few, &every, &every_about, &some_alike, &some_about],
        things,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A moment is later by a time. Twice the time since the beginning of a run is twice nothing.
    #[test]
    fn moments_differ_by_a_time() {
        let moment = |ps| Took::new(ps, true);
        let says = |a: Took, b: Took| a.against(b, "base").expect("both are there");
        assert_eq!(says(moment(8.02e9), moment(432e3)), "8.02 ms later than base");
        assert_eq!(says(moment(1e6), moment(4e6)), "3.00 \u{b5}s earlier than base");
        assert_eq!(says(moment(1_000_001e3), moment(1_000_002e3)), "about as base");
        assert_eq!(says(moment(1_000_001e3), moment(1_000_001e3)), "as base");
        let time = |ps| Took::new(ps, false);
        assert_eq!(says(time(3e6), time(2e6)), "+50 % against base");
        assert_eq!(time(3e6).against(time(0.0), "base"), None);
    }

    /// 10.306 and 10.332 us both read 10.3 us, and are about the same; 5 and 5 us are the same.
    #[test]
    fn only_equal_times_are_the_same() {
        let thing = |what: &str, times: &[f64]| {
            let bar = |(variant, ps): (usize, &f64)| Bar { variant, value: *ps, text: String::new() };
            Thing { what: what.into(), bars: times.iter().enumerate().map(bar).collect() }
        };
        let alike = [
            thing("a", &[10.306e6, 10.306e6, 10.332e6]),
            thing("b", &[5e6, 5e6, 5e6]),
            thing("c", &[1.001e6, 1.002e6]),
            thing("d", &[7e6, 7e6]),
        ];
        let said = [
            "the same in all variants: b 5.00 \u{b5}s",
            "about the same in all variants: a 10.3 \u{b5}s",
            "the same in all variants that have it: d 7.00 \u{b5}s",
            "about the same in all variants that have it: c 1.00 \u{b5}s",
        ];
        assert_eq!(alike_lists(&alike, 3), said);
    }

    /// Two round trips of four thousand are no mean to compare.
    #[test]
    fn a_mean_of_few_is_not_compared() {
        let time = |few| Took { few, ..Took::new(3e6, false) };
        assert_eq!(time(Some(2)).against(time(None), "base").as_deref(), Some("no change is told of 2"));
        assert_eq!(time(None).against(time(Some(4)), "base").as_deref(), Some("no change is told of 4"));
        assert_eq!(time(None).against(time(None), "base").as_deref(), Some("\u{b1}0 % against base"));
    }

    /// Names and roles of flows that are too long lose of the name, and nothing of the role.
    #[test]
    fn roles_are_not_cut() {
        let short = super::super::victims::with_role("a flow with a name without an end (victim)", 120.0);
        assert!(
            short.starts_with("a fl") && short.ends_with("end (victim)") && short.contains('\u{2026}'),
            "{short}"
        );
        assert!(text_width(&short, crate::axes::TICK) <= 120.0);
    }
}
