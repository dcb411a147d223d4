//! What a run handled, and where its time went: `riosim run --profile`.
//!
//! Kinds of events, buckets and windows are counted; nothing below the command knows the time. Times are
//! those of the phases of a run, which the command measures, and of the steps of windows, which a run in
//! parts measures with the clock that it is given. How long an event of a kind takes is not known: looking
//! at the clock takes as long as a good part of an event.

use crate::num::{Num, count_text, three_digits};
use crate::table::aligned;
use models::run::{Ledger, Profile};
use models::sim_core::{ListCounts, RingCounts};
use serde::Serialize;

/// Events of a kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindCount {
    /// What happens.
    pub kind: &'static str,
    /// How often.
    pub events: u64,
    /// How often for each packet that crosses a link.
    pub per_packet_hop: Num,
}

/// How the list of pending events went; of all parts together, if the run was cut.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ListReport {
    /// Events posted.
    pub posted: u64,
    /// Events pending when one is taken, on average, in its list.
    pub pending: Num,
    /// Most of them at a time, in one list.
    pub most_pending: u64,
    /// Buckets; none where the list is a heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingReport>,
}

/// How the buckets of a ring were used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RingReport {
    /// Buckets.
    pub buckets: u64,
    /// Width of one, ps.
    pub width_ps: u64,
    /// Share of the buckets that time went over that held an event.
    pub occupied: Num,
    /// Events in a bucket that held any.
    pub events_per_bucket: Num,
    /// Buckets that held 1, 2, 3 to 4, 5 to 8, ... events, each as a share of those that held any.
    pub fill: Vec<(String, Num)>,
    /// Share of the events that were posted to the bucket that is being emptied.
    pub in_bucket: Num,
    /// Share of them that had to go to the heap beside it.
    pub late: Num,
    /// Share that was posted beyond the ring.
    pub overflow: Num,
}

/// Windows of a run in parts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowReport {
    /// How many.
    pub windows: u64,
    /// The longest that one can be, simulated nanoseconds.
    pub lookahead_ns: Num,
    /// Events of a window: mean, median, nine of ten have fewer, most.
    pub events: [Num; 4],
    /// Share of windows in which a part had nothing to do, over all parts.
    pub idle: Num,
    /// Letters between parts in a window, on average.
    pub mail: Num,
    /// Seconds that all threads together spent on events.
    pub events_s: Num,
    /// On mail: taking it in, and gathering it.
    pub mail_s: Num,
    /// Between windows: how far the next one goes.
    pub between_s: Num,
    /// On samples and the watchdog.
    pub looks_s: Num,
}

/// What was counted of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProfileReport {
    /// Kinds of events, the most frequent first. Together they are all events of the run.
    pub events: Vec<KindCount>,
    /// The list of pending events.
    pub list: ListReport,
    /// Windows, if the run was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<WindowReport>,
}

fn share(part: u64, all: u64) -> Num {
    Num(if all == 0 { 0.0 } else { part as f64 / all as f64 })
}

impl RingReport {
    fn new(ring: &RingCounts, posted: u64) -> Self {
        let classes = (0..).zip(&ring.fill).filter(|(_, count)| **count > 0);
        let name = |class: u32| match class {
            0 | 1 => (1 << class).to_string(),
            _ => format!("{} to {}", (1u64 << (class - 1)) + 1, 1u64 << class),
        };
        RingReport {
            buckets: ring.buckets,
            width_ps: ring.width_ps,
            occupied: share(ring.entered, ring.passed),
            events_per_bucket: share(ring.found, ring.entered),
            fill: classes.map(|(class, count)| (name(class), share(*count, ring.entered))).collect(),
            in_bucket: share(ring.in_bucket + ring.late, posted),
            late: share(ring.late, posted),
            overflow: share(ring.beyond, posted),
        }
    }
}

impl ListReport {
    fn new(list: &ListCounts) -> Self {
        ListReport {
            posted: list.posted,
            pending: share(list.pending_sum, list.taken_total()),
            most_pending: list.most_pending,
            ring: list.ring.as_ref().map(|ring| RingReport::new(ring, list.posted)),
        }
    }
}

impl WindowReport {
    /// Of a run in parts whose clock gave nanoseconds.
    pub fn new(ledger: &Ledger) -> Self {
        let rows = || ledger.rows.iter().map(|row| row.events.iter());
        let mut events: Vec<u64> = rows().map(|row| row.map(|events| u64::from(*events)).sum()).collect();
        events.sort_unstable();
        let at = |share: f64| {
            let rank = (events.len() as f64 * share) as usize;
            Num(events.get(rank.min(events.len().saturating_sub(1))).map_or(0.0, |events| *events as f64))
        };
        let idle = rows().flatten().filter(|events| **events == 0).count() as u64;
        let seconds = |time: u64| Num(time as f64 / 1e9);
        WindowReport {
            windows: ledger.windows,
            lookahead_ns: Num(ledger.lookahead as f64 / 1e3),
            events: [share(ledger.events, ledger.windows), at(0.5), at(0.9), at(1.0)],
            idle: share(idle, (ledger.rows.len() * ledger.parts) as u64),
            mail: share(ledger.letters, ledger.windows),
            events_s: seconds(ledger.spent.events),
            mail_s: seconds(ledger.spent.mail),
            between_s: seconds(ledger.spent.between),
            looks_s: seconds(ledger.spent.looks),
        }
    }
}

impl ProfileReport {
    /// Of a run in which packets crossed so many links.
    pub fn new(profile: &Profile, packet_hops: u64, ledger: Option<&Ledger>) -> Self {
        let count = |(kind, events): &(&'static str, u64)| KindCount {
            kind,
            events: *events,
            per_packet_hop: share(*events, packet_hops),
        };
        let mut events: Vec<KindCount> = profile.events.iter().map(count).collect();
        events.sort_by_key(|kind| std::cmp::Reverse(kind.events));
        ProfileReport { events, list: ListReport::new(&profile.list), windows: ledger.map(WindowReport::new) }
    }

    /// For a terminal; each line ends with a line feed.
    pub fn text(&self) -> String {
        let cells = |cells: [String; 3]| cells.to_vec();
        let per_hop = |value: f64| format!("{value:.4}");
        let mut rows = vec![cells(["events".into(), "a packet-hop".into(), "all".into()])];
        rows.extend(
            self.events.iter().map(|kind| {
                cells([kind.kind.into(), per_hop(kind.per_packet_hop.0), count_text(kind.events)])
            }),
        );
        let (events, hop) = (self.events.iter())
            .fold((0, 0.0), |(events, hop), kind| (events + kind.events, hop + kind.per_packet_hop.0));
        rows.push(cells(["all".into(), per_hop(hop), count_text(events)]));
        let mut text = aligned(&rows, "  ");
        let list = &self.list;
        text += &format!(
            "  event list: {} posted, {} pending on average, at most {}\n",
            count_text(list.posted),
            three_digits(list.pending.0),
            count_text(list.most_pending)
        );
        if let Some(ring) = &list.ring {
            text += &ring.text();
        }
        if let Some(windows) = &self.windows {
            text += &windows.text();
        }
        text
    }
}

fn percent(share: &Num) -> String {
    format!("{} %", three_digits(100.0 * share.0))
}

impl RingReport {
    fn text(&self) -> String {
        let fill: Vec<String> =
            self.fill.iter().map(|(events, share)| format!("{events}: {}", percent(share))).collect();
        format!(
            "  {} buckets of {} ps: {} of those gone over held events, {} each ({})\n  posted to the bucket \
             being emptied {}, too far from its end {}, beyond the ring {}\n",
            count_text(self.buckets),
            count_text(self.width_ps),
            percent(&self.occupied),
            three_digits(self.events_per_bucket.0),
            fill.join(", "),
            percent(&self.in_bucket),
            percent(&self.late),
            percent(&self.overflow),
        )
    }
}

impl WindowReport {
    fn text(&self) -> String {
        let [mean, median, most_of_them, most] = self.events.map(|events| three_digits(events.0));
        let seconds = |time: &Num| format!("{} s", three_digits(time.0));
        format!(
            "  {} windows of at most {} ns: {mean} events each (median {median}, nine of ten below \
             {most_of_them}, at most {most}), {} letters; a part had nothing to do in {}\n  \
             threads spent {} on events, {} on mail, {} between windows, {} on samples\n",
            count_text(self.windows),
            three_digits(self.lookahead_ns.0),
            three_digits(self.mail.0),
            percent(&self.idle),
            seconds(&self.events_s),
            seconds(&self.mail_s),
            seconds(&self.between_s),
            seconds(&self.looks_s),
        )
    }
}
