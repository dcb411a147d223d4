//! How races ended, who timed out, and when.

use super::charts::{Chart, Series};
use super::files::{Csv, list, number, real, word};
use super::html::Html;
use super::tables::{self, Cell};
use super::{Run, Talk, timeouts};
use crate::num::{count_text, time_text};
use serde_json::Value;

/// What both sides of a protocol should have in the end, and what else there may be.
struct Kind {
    /// The part of `summary.json`.
    part: &'static str,
    what: &'static str,
    /// Pointers to how many were wanted, and how many there are.
    wanted: &'static str,
    there: &'static str,
    /// When the last was there, µs.
    all_us: &'static str,
    /// What should be zero, and what it is called.
    amiss: &'static [(&'static str, &'static str)],
}

const KINDS: [Kind; 5] = [
    Kind {
        part: "sessions",
        what: "conduits",
        wanted: "/wanted",
        there: "/conduits",
        all_us: "/all_open_us",
        amiss: &[
            ("/half_open", "half open"),
            ("/orphans", "records without a peer's"),
            ("/leaked_streams", "leaked streams"),
            ("/failed_opens", "attempts to open that failed"),
            ("/at_record_limit", "nodes at their limit of records"),
        ],
    },
    Kind {
        part: "sessions",
        what: "streams",
        wanted: "/wanted_streams",
        there: "/streams",
        all_us: "/all_open_us",
        amiss: &[
            ("/pdus/lost", "PDUs lost"),
            ("/pdus/lost_unseen", "PDUs lost unseen"),
            ("/pdus/resumed_by_timeout", "streams that a timeout let go on"),
        ],
    },
    Kind {
        part: "linx",
        what: "connections",
        wanted: "/wanted",
        there: "/up",
        all_us: "/all_up_us",
        amiss: &[
            ("/half_up", "up at one end only"),
            ("/false_timeouts", "ends that timed out although the peer was there"),
            ("/ended_ends/timeout", "ends that timed out"),
            ("/ended_ends/peer_reset", "ends that the peer reset"),
            ("/ended_ends/peer_restart", "ends whose peer began anew"),
            ("/ended_ends/link_down", "ends whose link went down"),
            ("/ended_ends/crash", "ends that crashed"),
            ("/messages/lost", "messages lost"),
            ("/messages/lost_unseen", "messages lost unseen"),
        ],
    },
    Kind {
        part: "transfers",
        what: "transfers",
        wanted: "/wanted",
        there: "/completed",
        all_us: "",
        amiss: &[
            ("/under_way", "under way at the end"),
            ("/not_come", "sent and never there whole"),
            ("/aborted/rejected", "rejected"),
            ("/aborted/timeout", "given up after a timeout"),
            ("/aborted/ended_by_peer", "ended by the peer"),
            ("/aborted/disconnected", "ended by a disconnect"),
            ("/aborted/unconfirmed", "unconfirmed"),
            ("/aborted/aborted", "aborted"),
            ("/came_unseen", "of those given up there whole"),
            ("/broken_ends", "broken ends of connections"),
            ("/timeouts", "operations that timed out"),
            ("/program/unfinished", "ranks that are not done"),
        ],
    },
    Kind {
        part: "programs",
        what: "messages of a program",
        wanted: "/messages",
        there: "/received",
        all_us: "/completion_us",
        amiss: &[("/corrupt", "messages that nobody sent"), ("/unfinished", "ranks that are not done")],
    },
];

fn count(told: &Value, pointer: &str) -> u64 {
    told.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// What came of it, in words.
fn outcome(kind: &Kind, told: &Value) -> String {
    let (wanted, there) = (count(told, kind.wanted), count(told, kind.there));
    let amiss = kind.amiss.iter().map(|(pointer, words)| (count(told, pointer), *words));
    let number = [(wanted.saturating_sub(there), "missing"), (there.saturating_sub(wanted), "too many")];
    let all: Vec<String> = number
        .into_iter()
        .chain(amiss)
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{words}: {}", count_text(count)))
        .collect();
    if all.is_empty() { "as wanted".into() } else { all.join(", ") }
}

/// Outcomes, what was open and what ended over time, and who said what to whom.
pub(super) fn show(html: &mut Html, section: usize, run: &Run) {
    let mut rows = Vec::new();
    for variant in list(&run.summary, "variants") {
        for kind in &KINDS {
            let told = list(variant, kind.part).iter().filter(|told| count(told, kind.wanted) > 0);
            rows.extend(told.map(|told| {
                let number =
                    |pointer| Cell::number(&Value::from(count(told, pointer)), |n| count_text(n as u64));
                let all = told.pointer(kind.all_us).unwrap_or(&Value::Null);
                vec![
                    Cell::text(word(variant, "name")),
                    Cell::text(word(told, "flow")),
                    Cell::text(kind.what),
                    number(kind.wanted),
                    number(kind.there),
                    Cell::real(real(all), |us| time_text(us * 1e6)),
                    Cell::text(&outcome(kind, told)),
                ]
            }));
        }
    }
    if rows.is_empty() && run.talks.is_empty() {
        html.element(
            "p",
            &[],
            "No conduits, streams, connections or transfers are opened between endpoints.",
        );
    }
    if !rows.is_empty() {
        let head = ["variant", "flow", "of", "wanted", "there at the end", "all there after", "outcome"];
        tables::table(html, &format!("outcomes{section}"), "What came of it", &head, &rows);
    }
    time_line(html, run);
    timeouts::show(html, section, run);
    talks(html, &run.talks);
}

/// How many ends of conduits or connections are open, and how many have ended until then.
fn time_line(html: &mut Html, run: &Run) {
    let (mut open, mut ended): (Vec<Series>, Vec<Series>) = (Vec::new(), Vec::new());
    for row in Csv::new(&run.conduits).rows() {
        let name = row.get("variant");
        if open.last().is_none_or(|series| series.name != name) {
            for all in [&mut open, &mut ended] {
                all.push(Series { name: name.into(), ..Series::default() });
            }
        }
        let time = number(row.get("time_us"));
        let (Some(open), Some(ended)) = (open.last_mut(), ended.last_mut()) else { continue };
        open.points.push((time, number(row.get("open_ends"))));
        let before = ended.points.last().map_or(0.0, |point| point.1);
        ended.points.push((time, before + number(row.get("ended_ends"))));
    }
    let ends = |series: &[Series]| series.iter().flat_map(|one| &one.points).any(|point| point.1 > 0.0);
    if !ends(&open) && !ends(&ended) {
        return;
    }
    // A point for each bin: of one nothing can be drawn.
    let one_bin = open.iter().all(|series| series.points.len() < 2);
    for (series, what, none) in [
        (
            open,
            "Ends of conduits and connections that are open",
            "No end of a conduit or a connection was open when a time bin was over.",
        ),
        (
            ended,
            "Ends that have ended until then, by timeouts or otherwise",
            "No end of a conduit or a connection ended in any variant.",
        ),
    ] {
        let some = ends(&series);
        let empty = match some && one_bin {
            true => {
                "Without samples (run.sample_every) there is one time bin, which series/conduits.csv has."
            }
            false => none,
        };
        let series = if some { series } else { Vec::new() };
        tables::steps(
            html,
            Chart {
                title: format!("{what} ({})", tables::stamp(run)),
                y: "ends",
                series,
                ..Chart::default()
            },
            empty,
        );
    }
}

/// Who said what to whom, as text: it can be searched, and read aloud.
fn talks(html: &mut Html, talks: &[Talk]) {
    for talk in talks {
        // what is closed is not printed
        html.open("details", if talks.len() <= 3 { &[("open", "")] } else { &[] });
        let title = format!("Sequence chart of {}", talk.variant);
        html.element("summary", &[], &title);
        html.open("pre", &[("class", "talk"), ("tabindex", "0"), ("role", "region"), ("aria-label", &title)]);
        html.text(&talk.text).close("pre").close("details");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// By hand: two for one wanted, and what the race left behind.
    #[test]
    fn outcomes_in_words() {
        let [conduits, _, connections, transfers, programs] = &KINDS;
        let told = json!({"wanted": 1, "conduits": 2, "orphans": 1_960, "leaked_streams": 3});
        assert_eq!(
            outcome(conduits, &told),
            "too many: 1, records without a peer's: 1 960, leaked streams: 3"
        );
        assert_eq!(outcome(conduits, &json!({"wanted": 2, "conduits": 2, "orphans": 0})), "as wanted");
        let told = json!({"wanted": 5, "up": 3, "half_up": 2, "ended_ends": {"timeout": 1}});
        assert_eq!(outcome(connections, &told), "missing: 2, up at one end only: 2, ends that timed out: 1");
        let told = json!({"wanted": 1, "completed": 1, "aborted": {}, "program": {"unfinished": 0}});
        assert_eq!(outcome(transfers, &told), "as wanted");
        // Three messages, of which two ranks wait for one another's.
        let told = json!({"messages": 3, "received": 1, "unfinished": 2});
        assert_eq!(outcome(programs, &told), "missing: 2, ranks that are not done: 2");
        assert_eq!(outcome(programs, &json!({"messages": 3, "received": 3, "unfinished": 0})), "as wanted");
    }
}
