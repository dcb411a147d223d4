//! Connections of LINX: what a run came to.

use super::{Get, Protocol, TimeRow, again_us, counted, flow_name, json, on_purpose, stayed, sum_ps};
use crate::books::{Above, Account, Books, Sojourns, Tempo, age, balanced};
use crate::csv::{self, Cell, Column, csv, whole};
use crate::metric::Row;
use crate::num::ratio;
use crate::num::{Num, count_text, three_digits, time_text};
use crate::run::RunData;
use models::Outcome;
use models::sim_core::Time;
use models::stats::{GAP_PARTS, LinxEnd, LinxStats, LinxTotals, Times};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The row of the table.
pub(super) struct Linx;

impl Protocol for Linx {
    fn key(&self) -> &'static str {
        "linx"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        LinxSummary::all(run).into_iter().map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        LinxSummary::all(run).iter().map(LinxSummary::lines).collect()
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let totals = of_flow(run, Some(flow))?;
        let stats = &totals.stats;
        let never = stats.refused + totals.lost + totals.unseen + stats.missing;
        let books = Books {
            oldest_ps: age(run, totals.oldest),
            sojourns: sojourns(run, flow, stats),
            paced: true,
            ..balanced((run, flow), "messages", stats.messages, stats.delivered, never)
        };
        let (times, latency) = asked(stats);
        let above = Above {
            carries: "frames of LINX",
            nothing_else: true,
            latency,
            sum_ps: sum_ps(times),
            count: times.len() as u64,
            touched: [stats.muted, stats.stalled],
            ..Above::default()
        };
        let tempo = Tempo::Counted { octets: stats.octets, span: stats.message_span };
        Some(Account { above: Some(above), ..Account::new(books, tempo) })
    }

    fn asked<'a>(&self, run: &'a RunData, flow: usize) -> Option<Cow<'a, [u64]>> {
        Some(asked(&of_flow(run, Some(flow))?.stats).0.into())
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        // Who is taken for the peer can make messages of it go missing: nothing in LINX stands against that.
        if outcome.totals.of::<LinxTotals>().any(|totals| totals.stats.injected_data > 0) {
            return Vec::new();
        }
        let unsound = outcome.totals.of::<LinxTotals>().filter(|totals| {
            let stats = &totals.stats;
            stats.missing + stats.repeated + stats.unannounced + stats.corrupt > 0
        });
        let text = |totals: &LinxTotals| {
            format!("LINX lost, repeated or changed messages unseen (flow {})", totals.flow)
        };
        unsound.map(text).collect()
    }

    fn last(&self, outcome: &Outcome) -> Option<Time> {
        outcome.totals.of::<LinxTotals>().filter_map(|totals| Some(totals.stats.message_span?.1)).max()
    }

    fn columns(&self) -> &'static [Row<Get>] {
        COLUMNS
    }

    fn times(&self) -> Vec<TimeRow> {
        let first: Get = |run, flow| figure(run, flow, |totals| at_us(totals.first_up));
        let up: Get = |run, flow| figure(run, flow, |totals| again_us(totals.first_up, totals.all_up));
        let again: Get = |run, flow| {
            figure(run, flow, |totals| {
                TimesSummary::new(&totals.stats.reestablished).map_or(f64::NAN, |times| times.max_us.0)
            })
        };
        vec![
            TimeRow {
                words: "time until every connection had come up",
                is_moment: true,
                get: first,
                never_gone: |_, _| false,
            },
            TimeRow {
                words: "since when all connections are up again",
                is_moment: true,
                get: up,
                never_gone: |run, flow| {
                    of_flow(run, flow).is_some_and(|all| stayed(all.first_up, all.all_up))
                },
            },
            TimeRow {
                words: "mean time until a node that went down is missed or tells by coming back, or a broken \
                        way is missed",
                ..TimeRow::of(COLUMNS, "detection_mean_us", false)
            },
            TimeRow {
                words: "mean time to connect again, once both nodes and the way are there",
                ..TimeRow::of(COLUMNS, "reestablishment_mean_us", false)
            },
            TimeRow {
                words: "longest time to connect again, once both nodes and the way are there",
                is_moment: false,
                get: again,
                never_gone: |_, _| false,
            },
        ]
    }

    fn all_up(&self, outcome: &Outcome) -> Vec<Option<Time>> {
        outcome.totals.of::<LinxTotals>().map(|totals| totals.all_up).collect()
    }

    fn management(&self, run: &RunData, flow: usize) -> Option<[u64; 2]> {
        let frames = &counted::<LinxTotals>(run, Some(flow))?.stats.frames;
        let other = frames.sent_management + frames.sent_heartbeats;
        Some([other, other + frames.sent_data])
    }

    fn counts(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let mut all = outcome.totals.of::<LinxTotals>().peekable();
        if all.peek().is_none() {
            return Vec::new();
        }
        vec![("false timeouts", all.map(|totals| totals.stats.false_timeouts).sum())]
    }

    fn measures(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<LinxTotals>();
        if all().next().is_none() {
            return Vec::new();
        }
        vec![
            ("ends of connections that ended", all().flat_map(|totals| totals.stats.ended).sum()),
            ("messages lost with connections", all().map(|totals| totals.lost).sum()),
            ("messages refused without a connection", all().map(|totals| totals.stats.refused).sum()),
            ("frames held until an earlier one came", all().map(|totals| totals.stats.frames.held).sum()),
            (
                "most frames held at once in a connection",
                all().map(|totals| totals.stats.frames.held_max).max().unwrap_or(0),
            ),
            ("octets that receivers had to move", all().map(|totals| totals.stats.moved).sum()),
        ]
    }

    fn nodes(&self, outcome: &Outcome) -> Vec<u32> {
        outcome.totals.of::<LinxTotals>().flat_map(|totals| totals.devices.iter().copied()).collect()
    }

    /// Times between heartbeats, in periods of them.
    fn series(&self, runs: &[&RunData]) -> Option<(&'static str, String)> {
        let some = runs.iter().any(|run| run.outcome.totals.of::<LinxTotals>().next().is_some());
        let variants = runs.iter().map(|run| (run.name.as_str(), *run));
        some.then(|| ("heartbeats.csv", csv(&HEARTBEATS, variants, gaps)))
    }

    fn series_notes(&self) -> Option<(&'static str, Vec<[&'static str; 2]>)> {
        Some(("heartbeats.csv", csv::notes(&HEARTBEATS)))
    }
}

fn of_flow(run: &RunData, flow: Option<usize>) -> Option<&LinxTotals> {
    counted(run, flow)
}

/// A class of gaps between heartbeats: of these totals, which class, how many.
struct Gap {
    flow: u16,
    class: usize,
    count: u64,
}

/// Gaps by their class; the last takes everything above it.
fn gaps(run: &RunData) -> Vec<Gap> {
    let of = |totals: &LinxTotals| -> Vec<Gap> {
        let classes = totals.stats.gaps.iter().enumerate().filter(|(_, count)| **count > 0);
        classes.map(|(class, count)| Gap { flow: totals.flow, class, count: *count }).collect()
    };
    run.outcome.totals.of::<LinxTotals>().flat_map(of).collect()
}

const HEARTBEATS: [Column<csv::Get<RunData, Gap>>; 3] = [
    Column::new("flow", "flow", |run, gap| Cell::Text(flow_name(run, gap.flow))),
    Column::new("from_periods", "shortest gap of the class, in periods of heartbeats", |_, gap| {
        Cell::Real(gap.class as f64 / GAP_PARTS as f64)
    }),
    Column::new("heartbeats", "heartbeats that came after such a gap", |_, gap| whole(gap.count)),
];

fn figure(run: &RunData, flow: Option<usize>, of: fn(&LinxTotals) -> f64) -> f64 {
    of_flow(run, flow).map_or(f64::NAN, of)
}

/// An instant, microseconds, if there is one.
fn at_us(at: Option<Time>) -> f64 {
    at.map_or(f64::NAN, |at| at.0 as f64 / 1e6)
}

/// Mean of some times, microseconds, if there are any.
fn mean_us(times: &Times) -> f64 {
    TimesSummary::new(times).map_or(f64::NAN, |times| times.mean_us.0)
}

/// Periods are told by the protocol clock: that of the first node stands for all.
fn clock(run: &RunData) -> f64 {
    let (num, den) = run.config.agents.first().map_or((1, 1), |agent| agent.clock);
    num as f64 / den as f64
}

const COLUMNS: &[Row<Get>] = &[
    Row::count(
        "connections",
        "connections",
        "connections of LINX up at both ends at the end",
        |run, flow| figure(run, flow, |totals| totals.up as f64),
    ),
    Row::count(
        "false_timeouts",
        "false timeouts",
        "ends of connections that timed out although the peer was there",
        |run, flow| figure(run, flow, |totals| totals.stats.false_timeouts as f64),
    ),
    Row::real(
        "false_timeouts_per_connection_hour",
        "",
        "false timeouts per connection-hour",
        "the same for each hour that a connection was up, by the protocol clock",
        |run, flow| of_flow(run, flow).and_then(|totals| false_rate(totals, clock(run))).unwrap_or(f64::NAN),
    ),
    Row::real(
        "detection_mean_us",
        "us",
        "mean time to notice that a peer, or the way to it, is down",
        "from the moment at which a peer, or the way to it, went down to the end of a connection (of a \
         way: by a timeout), mean",
        |run, flow| figure(run, flow, |totals| mean_us(&totals.stats.detected)),
    ),
    Row::most(
        "detection_max_us",
        "us",
        "longest time to notice that a peer, or the way to it, is down",
        "from the moment at which a peer, or the way to it, went down to the end of a connection (of a \
         way: by a timeout), maximum",
        |run, flow| {
            figure(run, flow, |totals| {
                TimesSummary::new(&totals.stats.detected).map_or(f64::NAN, |times| times.max_us.0)
            })
        },
    ),
    Row::real(
        "reestablishment_mean_us",
        "us",
        "mean time to connect again",
        "from the end of a connection, once nodes and way were there again, to the next one, mean",
        |run, flow| figure(run, flow, |totals| mean_us(&totals.stats.reestablished)),
    ),
];

/// False timeouts for each hour of a connection, by the protocol clock; `None`: no connection was up.
fn false_rate(totals: &LinxTotals, clock: f64) -> Option<f64> {
    // Both ends of a connection are up for as long as it is.
    let hours = totals.stats.up_ps as f64 / 2.0 * clock / 3.6e15;
    (hours > 0.0).then(|| totals.stats.false_timeouts as f64 / hours)
}

/// Connections of one flow, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct LinxSummary {
    /// Flow.
    pub flow: String,
    /// Nodes.
    pub nodes: u32,
    /// Connections that both ends are configured for.
    pub wanted: u64,
    /// Connections up at both ends at the end of the run, with the same values.
    pub up: u64,
    /// Up at one end only, or with different values.
    pub half_up: u64,
    /// When the last end of all wanted connections came up; `null`: not all are.
    pub all_up_us: Option<Num>,
    /// Ends of connections that came up.
    pub connected_ends: u64,
    /// Why ends ended.
    pub ended_ends: EndSummary,
    /// Ends that sent a RESET and await its answer: neither up nor ended. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub resetting_ends: u64,
    /// Timeouts although the peer was there and the way from it was whole since the last sign of life.
    pub false_timeouts: u64,
    /// False timeouts per hour of a connection, by the protocol clock; `null`: no connection was up.
    pub false_timeouts_per_connection_hour: Option<Num>,
    /// Ends that ended less than three periods after they came up.
    pub flaps: u64,
    /// From the moment at which a peer went down, or the way to it, to the end of a connection with it; of a
    /// way, if a timeout ended it: who is told by a new request has missed nobody.
    pub detection: Option<TimesSummary>,
    /// From the end of a connection, once nodes and way were there again, to the next one. Who is mute or
    /// deaf has no way; who is late has one.
    pub reestablishment: Option<TimesSummary>,
    /// Before heartbeats that came, since the one before or since the beginning of the connection, by the
    /// protocol clock.
    pub heartbeat_gaps: Option<TimesSummary>,
    /// What became of messages. Under a program these are its PDUs: a message of the program may take
    /// several, and confirmations are others (`programs` counts messages).
    pub messages: MessageLedger,
    /// Frames by kind.
    pub frames: FrameSummary,
    /// Octets of memory of the connection managers for each end of a connection.
    pub octets_per_end: Num,
}

/// Ends of connections by reason.
#[derive(Clone, Debug, Serialize)]
pub struct EndSummary {
    /// No sign of life for so many periods as `periods` says, three as a rule.
    pub timeout: u64,
    /// The peer sent RESET.
    pub peer_reset: u64,
    /// The peer has started anew.
    pub peer_restart: u64,
    /// This node could not deliver.
    pub local: u64,
    /// The local link went down.
    pub link_down: u64,
    /// This node went down.
    pub crash: u64,
    /// The application of this node asked for it. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub requested: u64,
}

/// Some times.
#[derive(Clone, Debug, Serialize)]
pub struct TimesSummary {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_us: Num,
    /// Their mean.
    pub mean_us: Num,
    /// The longest.
    pub max_us: Num,
}

impl TimesSummary {
    fn of(all: &[u64]) -> Option<Self> {
        let mut times = Times::default();
        all.iter().for_each(|&time| times.record(time));
        Self::new(&times)
    }

    fn new(times: &Times) -> Option<Self> {
        (times.count > 0).then(|| Self {
            count: times.count,
            min_us: us(times.min),
            mean_us: Num(mean_ps(times) / 1e6),
            max_us: us(times.max),
        })
    }
}

/// Every message that an application wanted to send is in one of `refused`, `delivered`, `lost`,
/// `lost_unseen`,
/// `missing` and `under_way`; `missing`, `repeated`, `unannounced` and `corrupt` are 0 in a sound system.
#[derive(Clone, Debug, Serialize)]
pub struct MessageLedger {
    /// Messages that applications wanted to send, answers included.
    pub wanted: u64,
    /// Refused because the connection was not up.
    pub refused: u64,
    /// Handed to applications.
    pub delivered: u64,
    /// Lost with a connection whose end was told.
    pub lost: u64,
    /// Lost in a connection that is still up: neither end knows (yet).
    pub lost_unseen: u64,
    /// On their way at the end of the run.
    pub under_way: u64,
    /// Missing between two of one connection.
    pub missing: u64,
    /// Came a second time, or after a later one.
    pub repeated: u64,
    /// Connections of a peer that began without the end of the one before having been told.
    pub unannounced: u64,
    /// Messages whose octets are not those that were sent.
    pub corrupt: u64,
    /// Octets delivered.
    pub octets: u64,
    /// Octets of these that their receivers had to move to put messages together.
    pub moved_octets: u64,
    /// From application to application, of messages that are no answers.
    pub latency: Option<TimesSummary>,
    /// From requests to their answers.
    pub round_trips: Option<TimesSummary>,
}

/// Frames of all nodes.
#[derive(Clone, Debug, Serialize)]
pub struct FrameSummary {
    /// REQ, ACK and RESET sent.
    pub management: u64,
    /// Heartbeats sent.
    pub heartbeats: u64,
    /// Data frames sent.
    pub data: u64,
    /// Heartbeats accepted.
    pub heartbeats_accepted: u64,
    /// Data frames that waited for others.
    pub held: u64,
    /// Most that waited at once in one connection.
    pub held_max: u64,
    /// Data frames whose number had been there.
    pub old_data: u64,
    /// Data and heartbeats of no connection, and management of no peer or of an unknown kind.
    pub stray: u64,
    /// RESET of another generation.
    pub old_resets: u64,
    /// Malformed.
    pub malformed: u64,
    /// Waited for the end of a stall.
    pub stalled: u64,
    /// Lost on purpose.
    pub muted: u64,
    /// Came to a node that was deaf or down.
    pub unheard: u64,
    /// For a port that no core of the device has. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub portless: u64,
    /// What the scenario sent in the name of nodes, and what was made of frames that are not in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injected: Option<InjectedSummary>,
}

/// Frames that the scenario sent in the name of nodes, and frames of all kinds that came and were not taken,
/// each for its reason. Further reasons stand beside it: `malformed`, `stray`, `portless`, `old_resets`,
/// `old_data`.
#[derive(Clone, Debug, Serialize)]
pub struct InjectedSummary {
    /// Frames sent in the name of nodes.
    pub sent: u64,
    /// Messages that came of them.
    pub forged: u64,
    /// Of another protocol or version, or shorter than rio_frame.
    pub foreign: u64,
    /// Ended before they said who sends them.
    pub unattributable: u64,
    /// For a connection that is not up.
    pub untimely: u64,
    /// Requests below the smallest MTU.
    pub below_minimum_mtu: u64,
    /// Had octets behind the message; taken.
    pub surplus: u64,
    /// Longer than the MTU of the connection; taken.
    pub above_mtu: u64,
    /// Data frames whose number was held already.
    pub duplicates: u64,
    /// ACKs that were not answered.
    pub acks_withheld: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

fn mean_ps(times: &Times) -> f64 {
    times.sum as f64 / times.count.max(1) as f64
}

/// Of messages and answers. Those of answers are told from when the message that they answer was sent, so its
/// own time is in them, too: once is enough.
fn sojourns(run: &RunData, flow: usize, stats: &LinxStats) -> Sojourns {
    let [messages, trips] = [&stats.message_ps, &stats.round_trips];
    let answered = ratio(trips.len() as u128, messages.len() as u128);
    let twice = (sum_ps(messages) as f64 * answered) as u128;
    let sum = sum_ps(messages) + sum_ps(trips).saturating_sub(twice);
    Sojourns::new(run, flow, sum, messages.iter().min().copied())
}

/// Times of what applications wait for, and what comparisons call their mean: answers if there are any.
fn asked(stats: &LinxStats) -> (&[u64], &'static str) {
    match &stats.round_trips[..] {
        [] => (&stats.message_ps, "mean message latency"),
        trips => (trips, "mean round trip"),
    }
}

impl LinxSummary {
    /// Every flow of LINX of a run.
    pub fn all(run: &RunData) -> Vec<Self> {
        let clock = clock(run);
        let all = run.outcome.totals.of::<LinxTotals>();
        all.map(|totals| Self::new(flow_name(run, totals.flow), totals, clock)).collect()
    }

    fn new(flow: String, totals: &LinxTotals, clock: f64) -> Self {
        let stats = &totals.stats;
        let ended = |end: LinxEnd| stats.ended[end as usize];
        let frames = &stats.frames;
        Self {
            flow,
            nodes: totals.nodes,
            wanted: totals.wanted,
            up: totals.up,
            half_up: totals.half_up,
            all_up_us: totals.all_up.map(|at| us(at.0)),
            connected_ends: stats.connected,
            ended_ends: EndSummary {
                timeout: ended(LinxEnd::Timeout),
                peer_reset: ended(LinxEnd::PeerReset),
                peer_restart: ended(LinxEnd::PeerRestart),
                local: ended(LinxEnd::Local),
                link_down: ended(LinxEnd::LinkDown),
                crash: ended(LinxEnd::Crash),
                requested: ended(LinxEnd::Requested),
            },
            resetting_ends: totals.resetting,
            false_timeouts: stats.false_timeouts,
            false_timeouts_per_connection_hour: false_rate(totals, clock).map(Num),
            flaps: stats.flaps,
            detection: TimesSummary::new(&stats.detected),
            reestablishment: TimesSummary::new(&stats.reestablished),
            heartbeat_gaps: TimesSummary::new(&stats.heartbeat_gaps),
            messages: MessageLedger {
                wanted: stats.messages,
                refused: stats.refused,
                delivered: stats.delivered,
                lost: totals.lost,
                lost_unseen: totals.unseen,
                under_way: totals.under_way,
                missing: stats.missing,
                repeated: stats.repeated,
                unannounced: stats.unannounced,
                corrupt: stats.corrupt,
                octets: stats.octets,
                moved_octets: stats.moved,
                latency: TimesSummary::of(&stats.message_ps),
                round_trips: TimesSummary::of(&stats.round_trips),
            },
            frames: FrameSummary {
                management: frames.sent_management,
                heartbeats: frames.sent_heartbeats,
                data: frames.sent_data,
                heartbeats_accepted: frames.heartbeats,
                held: frames.held,
                held_max: frames.held_max,
                old_data: frames.old_data,
                stray: frames.stray + frames.stray_management,
                old_resets: frames.old_resets,
                malformed: frames.malformed,
                stalled: stats.stalled,
                muted: stats.muted,
                unheard: stats.unheard,
                portless: stats.portless,
                injected: (stats.injected > 0).then_some(InjectedSummary {
                    sent: stats.injected,
                    forged: stats.forged,
                    foreign: frames.foreign,
                    unattributable: frames.unattributable,
                    untimely: frames.untimely,
                    below_minimum_mtu: frames.below_minimum_mtu,
                    surplus: frames.surplus,
                    above_mtu: frames.above_mtu,
                    duplicates: frames.duplicates,
                    acks_withheld: frames.acks_withheld,
                }),
            },
            octets_per_end: Num(totals.memory as f64 / (2 * totals.wanted).max(1) as f64),
        }
    }

    /// Every message is accounted for.
    fn is_sound(&self) -> bool {
        let messages = &self.messages;
        messages.missing + messages.repeated + messages.unannounced + messages.corrupt == 0
    }

    /// A few lines for a terminal.
    fn lines(&self) -> String {
        let mut out = format!(
            "  LINX connections of {} nodes ({}): {} of {} up",
            count_text(self.nodes.into()),
            self.flow,
            count_text(self.up),
            count_text(self.wanted)
        );
        if let Some(at) = self.all_up_us {
            let _ = write!(out, ", the last since {}", time_text(at.0 * 1e6));
        }
        if self.half_up > 0 {
            let _ = write!(out, ", {} at one end only or with different values", count_text(self.half_up));
        }
        let ended = &self.ended_ends;
        let reasons = [
            (ended.timeout, "timed out"),
            (ended.peer_reset, "reset by the peer"),
            (ended.peer_restart, "begun anew by the peer"),
            (ended.local, "not deliverable"),
            (ended.link_down, "link down"),
            (ended.crash, "node down"),
            (ended.requested, "asked for"),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("{} {why}", count_text(count)))
            .collect();
        if !reasons.is_empty() {
            let _ = write!(out, "\n    ends of connections that went down: {}", reasons.join(", "));
        }
        if ended.timeout > 0 {
            let count = count_text(self.false_timeouts);
            let _ = write!(out, "\n    false timeouts, of peers that were there: {count}");
            let rate = self.false_timeouts_per_connection_hour.filter(|_| self.false_timeouts > 0);
            if let Some(rate) = rate {
                let rate = three_digits(rate.0);
                let _ = write!(out, ", that is {rate} for each connection and hour of the protocol clock");
            }
        }
        for (times, what) in [
            (&self.detection, "a peer that went down, or the way to it, was noticed after"),
            (
                &self.reestablishment,
                "connected again, counted from when both nodes and the way were there, after",
            ),
        ] {
            if let Some(times) = times {
                let [min, mean, max] =
                    [times.min_us, times.mean_us, times.max_us].map(|time| time_text(time.0 * 1e6));
                let _ = write!(out, "\n    {what} {min} to {max}, mean {mean}");
            }
        }
        let messages = &self.messages;
        if messages.wanted > 0 {
            let _ = write!(
                out,
                "\n    messages: {} asked for, {} delivered, {} refused without a connection, {} lost with a \
                 connection, {} under way",
                count_text(messages.wanted),
                count_text(messages.delivered),
                count_text(messages.refused),
                count_text(messages.lost),
                count_text(messages.under_way)
            );
            if messages.lost_unseen > 0 {
                let lost = count_text(messages.lost_unseen);
                let _ = write!(out, ", {lost} lost in connections that are still up");
            }
        }
        if self.frames.held > 0 {
            let [held, most] = [self.frames.held, self.frames.held_max].map(count_text);
            let _ =
                write!(out, "\n    frames that waited for an earlier one: {held}, at most {most} at once");
        }
        if messages.moved_octets > 0 {
            let moved = count_text(messages.moved_octets);
            let _ = write!(out, "\n    octets that receivers had to move to put messages together: {moved}");
        }
        out += &on_purpose("frames", [self.frames.muted, 0, self.frames.stalled, 0]);
        if self.frames.stalled > 0 {
            out += " (times of frames are without that)";
        }
        if let Some(injected) = &self.frames.injected {
            let sent = count_text(injected.sent);
            let _ = write!(out, "\n    frames that the scenario sent in the name of nodes: {sent}");
        }
        if !self.is_sound() {
            let _ = write!(
                out,
                "\n    BROKEN: {} missing, {} repeated, {} unannounced, {} corrupt",
                messages.missing, messages.repeated, messages.unannounced, messages.corrupt
            );
        }
        out
    }
}
