//! Conduits of session management: what a run came to.

use super::{Get, Protocol, TimeRow, again_us, counted, flow_name, json, on_purpose, stayed, sum_ps};
use crate::books::{Above, Account, Books, Sojourns, Tempo, age, balanced};
use crate::csv::{Cell, Column, Get as Cells, csv, notes, whole};
use crate::metric::{Row, yes};
use crate::num::{Num, count_text, counted_text, ratio, time_text};
use crate::run::RunData;
use models::Outcome;
use models::sim_core::Time;
use models::stats::{SessionCount, SessionTotals};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt::Write;

/// The row of the table.
pub(super) struct Session;

impl Protocol for Session {
    fn key(&self) -> &'static str {
        "sessions"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        SessionSummary::all(run).into_iter().map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        SessionSummary::all(run).iter().map(SessionSummary::lines).collect()
    }

    fn account(&self, run: &RunData, flow: usize) -> Option<Account> {
        let totals = of_flow(run, Some(flow))?;
        let stats = &totals.stats;
        let Fate { asked, never: lost, .. } = fate(totals);
        let oldest = [stats.oldest_waiting, totals.oldest_on_its_way, stats.oldest_held];
        // A PDU arrives when its application is done with it.
        let done = stats.pdus_delivered - stats.pdus_held - stats.pdus_forgotten;
        let books = Books {
            oldest_ps: age(run, oldest.into_iter().flatten().min()),
            sojourns: Sojourns::listed(run, flow, &stats.pdu_ps),
            paced: true,
            ..balanced((run, flow), "PDUs", asked, done, lost + stats.pdus_forgotten)
        };
        let above = Above {
            carries: "messages of sessions",
            nothing_else: false,
            latency: "mean time of a PDU until its application is done",
            sum_ps: sum_ps(&stats.pdu_ps),
            count: stats.pdu_ps.len() as u64,
            at_application_ps: stats.at_application_ps,
            begun: stats.begun,
            stops: stats.stopped,
            touched: [stats.injected[0], stats.injected[2]],
            ..Above::default()
        };
        // what never arrives has no end: so the span goes on for as long as it was tried
        let tried = if books.never > 0 { stats.data_until } else { Time(0) };
        let span = stats.pdu_span.map(|(from, to)| (from, to.max(tried)));
        let octets = stats.octets_delivered - stats.octets_held - stats.octets_forgotten;
        let tempo = Tempo::Counted { octets, span };
        Some(Account { above: Some(above), ..Account::new(books, tempo) })
    }

    fn asked<'a>(&self, run: &'a RunData, flow: usize) -> Option<Cow<'a, [u64]>> {
        Some(of_flow(run, Some(flow))?.stats.pdu_ps[..].into())
    }

    fn last(&self, outcome: &Outcome) -> Option<Time> {
        outcome.totals.of::<SessionTotals>().filter_map(|totals| Some(totals.stats.pdu_span?.1)).max()
    }

    fn columns(&self) -> &'static [Row<Get>] {
        COLUMNS
    }

    fn times(&self) -> Vec<TimeRow> {
        let again: Get = |run, flow| figure(run, flow, |totals| again_us(totals.first_open, totals.all_open));
        vec![
            TimeRow::of(COLUMNS, "all_open_us", true),
            TimeRow {
                words: "since when all conduits are open again, one for each pair",
                is_moment: true,
                get: again,
                never_gone: |run, flow| {
                    of_flow(run, flow).is_some_and(|all| stayed(all.first_open, all.all_open))
                },
            },
        ]
    }

    fn all_up(&self, outcome: &Outcome) -> Vec<Option<Time>> {
        let wanted = outcome.totals.of::<SessionTotals>().filter(|totals| totals.expected > 0);
        wanted.map(|totals| totals.all_open).collect()
    }

    fn standing(&self, outcome: &Outcome) -> Vec<String> {
        let mut said = Vec::new();
        for totals in outcome.totals.of::<SessionTotals>() {
            if totals.wanted_streams > 0 {
                let wanted = counted_text(totals.wanted_streams, "streams");
                said.push(format!("{} of {wanted} open", count_text(totals.streams)));
            }
            if totals.stats.refuses > 0 {
                said.push(format!("{} refused", counted_text(totals.stats.refuses, "OPENs")));
            }
            if totals.closed > 0 {
                said.push(format!("{} closed by who opened them", count_text(totals.closed)));
            }
        }
        said
    }

    fn counts(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<SessionTotals>();
        if all().next().is_none() {
            return Vec::new();
        }
        let sum = |of: fn(&SessionTotals) -> u64| all().map(of).sum();
        let waited = all().map(|totals| totals.stats.consumer_high_water).max();
        vec![
            ("conduits at the end", sum(|totals| totals.pairs)),
            ("duplicate conduits", sum(|totals| totals.duplicates)),
            ("half-open records", sum(|totals| totals.half_open)),
            ("orphan records", sum(|totals| totals.orphans)),
            ("leaked streams", sum(|totals| totals.leaked)),
            ("most PDUs that waited for an application", waited.unwrap_or(0).into()),
        ]
    }

    fn cut(&self, outcome: &Outcome) -> Option<&'static str> {
        let mut all = outcome.totals.of::<SessionTotals>();
        all.any(|totals| totals.stats.limited_at.is_some()).then_some("the limit of records stops a storm")
    }

    fn measures(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = || outcome.totals.of::<SessionTotals>();
        let data = all().map(|totals| totals.stats.data_messages).sum();
        all().next().map(|_| ("messages of data sent, each copy counted", data)).into_iter().collect()
    }

    fn management(&self, run: &RunData, flow: usize) -> Option<[u64; 2]> {
        let stats = &of_flow(run, Some(flow))?.stats;
        Some([stats.messages.saturating_sub(stats.data_messages), stats.messages])
    }

    fn series(&self, runs: &[&RunData]) -> Option<(&'static str, String)> {
        let counted =
            |run: &&RunData| run.outcome.totals.of::<SessionTotals>().any(|totals| !totals.census.is_empty());
        let variants = runs.iter().map(|run| (run.name.as_str(), *run));
        runs.iter().any(counted).then(|| ("sessions.csv", csv(&SESSIONS, variants, counts)))
    }

    fn series_notes(&self) -> Option<(&'static str, Vec<[&'static str; 2]>)> {
        Some(("sessions.csv", notes(&SESSIONS)))
    }

    fn nodes(&self, outcome: &Outcome) -> Vec<u32> {
        outcome
            .totals
            .of::<SessionTotals>()
            .flat_map(|totals| totals.by_node.iter().map(|node| node.0))
            .collect()
    }
}

/// The counts of every census of a run, with their flows.
fn counts(run: &RunData) -> Vec<(u16, SessionCount)> {
    let all = run.outcome.totals.of::<SessionTotals>();
    all.flat_map(|totals| totals.census.iter().map(|count| (totals.flow, *count))).collect()
}

const SESSIONS: [Column<Cells<RunData, (u16, SessionCount)>>; 10] = [
    Column::new("flow", "flow", |run, at| Cell::Text(flow_name(run, at.0))),
    Column::new("time_us", "instant of the census", |_, at| Cell::Real(at.1.at.0 as f64 / 1e6)),
    Column::new("conduits", "pairs of records that fit each other", |_, at| whole(at.1.conduits)),
    Column::new("records", "records of conduits", |_, at| whole(at.1.records)),
    Column::new("half_open", "of these, with an unknown side", |_, at| whole(at.1.half_open)),
    Column::new("orphans", "of these, complete and without a partner", |_, at| whole(at.1.orphans)),
    Column::new("streams", "streams open at their receivers", |_, at| whole(at.1.streams)),
    Column::new("leaked_streams", "of these, of no use to anybody", |_, at| whole(at.1.leaked)),
    Column::new("stream_ids", "StreamIDs handed out so far", |_, at| whole(at.1.allocated)),
    Column::new("management_octets", "octets of management messages so far", |_, at| whole(at.1.octets)),
];

fn of_flow(run: &RunData, flow: Option<usize>) -> Option<&SessionTotals> {
    counted(run, flow)
}

fn figure(run: &RunData, flow: Option<usize>, of: fn(&SessionTotals) -> f64) -> f64 {
    of_flow(run, flow).map_or(f64::NAN, of)
}

fn ended(run: &RunData, flow: Option<usize>, how: Ending) -> f64 {
    of_flow(run, flow).map_or(f64::NAN, |totals| yes(Ending::of(totals) == how))
}

const COLUMNS: &[Row<Get>] = &[
    Row::count("conduits", "conduits", "conduits of session management at the end", |run, flow| {
        figure(run, flow, |totals| totals.pairs as f64)
    }),
    Row::count(
        "leaked_streams",
        "leaked streams",
        "streams at the end that are in no conduit",
        |run, flow| figure(run, flow, |totals| totals.leaked as f64),
    ),
    Row::count(
        "orphan_records",
        "orphan records",
        "complete records of conduits at the end without a partner",
        |run, flow| figure(run, flow, |totals| totals.orphans as f64),
    ),
    Row::count("open_messages", "OPEN messages", "OPENs sent, repetitions included", |run, flow| {
        figure(run, flow, |totals| totals.stats.opens as f64)
    }),
    Row::real(
        "all_open_us",
        "us",
        "time until all conduits are open, one for each pair, and no other records",
        "when the last of all conduits that were wanted was open for the first time",
        |run, flow| figure(run, flow, |totals| totals.first_open.map_or(f64::NAN, |at| us(at.0).0)),
    ),
    Row::flag(
        "ended_storm",
        "runs that end in a storm",
        "the records of a peer reached their limit",
        |run, flow| ended(run, flow, Ending::Storm),
    ),
    Row::flag(
        "ended_duplicate",
        "runs with two conduits",
        "no storm, and two nodes have more than one conduit",
        |run, flow| ended(run, flow, Ending::Duplicate),
    ),
    Row::flag(
        "ended_half_open",
        "runs with half-open records",
        "none of these, and a record has an unknown side",
        |run, flow| ended(run, flow, Ending::HalfOpen),
    ),
    Row::flag(
        "ended_orphan",
        "runs with orphan records",
        "none of these, and a complete record has no partner",
        |run, flow| ended(run, flow, Ending::Orphan),
    ),
    Row::flag(
        "ended_leak",
        "runs that leak streams",
        "none of these, and a stream is in no conduit",
        |run, flow| ended(run, flow, Ending::Leak),
    ),
    Row::flag(
        "ended_one",
        "runs that end well",
        "every wanted conduit is there once, and nothing else",
        |run, flow| ended(run, flow, Ending::One),
    ),
    Row::flag(
        "ended_none",
        "runs without a conduit",
        "nothing is wrong, but not every wanted conduit is there",
        |run, flow| ended(run, flow, Ending::None),
    ),
];

/// Conduits of one flow, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct SessionSummary {
    /// Flow.
    pub flow: String,
    /// Nodes.
    pub nodes: u32,
    /// Pairs of nodes of which at least one wants a conduit at the end.
    pub wanted: u64,
    /// Conduits: pairs of records that fit each other.
    pub conduits: u64,
    /// Streams open at both ends, where nodes open streams and no conduits.
    #[serde(skip_serializing_if = "is_zero")]
    pub streams: u64,
    /// Streams that nodes want at the end, where they open streams and no conduits.
    #[serde(skip_serializing_if = "is_zero")]
    pub wanted_streams: u64,
    /// Peers to which applications have closed what they had opened. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub closed: u64,
    /// Conduits beyond the first of two nodes.
    pub duplicates: u64,
    /// Records at the end.
    pub records: u64,
    /// Records with an unknown side.
    pub half_open: u64,
    /// Complete records without a partner.
    pub orphans: u64,
    /// Streams open at their receiver and in no conduit.
    pub leaked_streams: u64,
    /// When the last end of all wanted conduits was open; `null`: not all are.
    pub all_open_us: Option<Num>,
    /// Ends of conduits that became complete. One that is entered again while it is open does not count
    /// again.
    pub opened_ends: u64,
    /// Ends of conduits that have ended.
    pub ended_ends: u64,
    /// Registers of other nodes that were read through the fabric. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub register_reads: u64,
    /// Messages by kind, over the whole run.
    pub messages: MessageSummary,
    /// OPENs that came to nothing.
    pub failed_opens: u64,
    /// Times that a peer became suspect.
    pub suspects: u64,
    /// Restarts of nodes.
    pub restarts: u64,
    /// Messages dropped because the records of a peer were at their limit.
    pub at_record_limit: u64,
    /// When the first was.
    pub record_limit_us: Option<Num>,
    /// PDUs.
    pub pdus: PduSummary,
    /// Messages lost, duplicated and delayed by the scenario.
    pub injected: InjectedSummary,
    /// Steps of the script that found nothing to do.
    pub missed_steps: u64,
    /// ACCEPTs of a stream that its source had already. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub same_stream: u64,
    /// Answers that a stream is not known, where data goes without OPEN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown_streams: Option<u64>,
    /// Management messages by what carried them, if a node takes them on both conveyances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub management: Option<ManagementSummary>,
    /// What bridges and a broadcast server did, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridged: Option<BridgedSummary>,
    /// USERDEFINED commands, if nodes sent any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_defined: Option<UserDefinedSummary>,
    /// What streams cost, where a census counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<CostSummary>,
}

/// Management messages by what carried them.
#[derive(Clone, Debug, Serialize)]
pub struct ManagementSummary {
    /// By type 11.
    pub messages: u64,
    /// By type 9.
    pub streams: u64,
}

impl ManagementSummary {
    fn new(totals: &SessionTotals) -> Option<Self> {
        let [messages, streams] = totals.stats.managed;
        totals.on_both.then_some(Self { messages, streams })
    }
}

/// Frames that went elsewhere than along one stream.
#[derive(Clone, Debug, Serialize)]
pub struct BridgedSummary {
    /// Frames for a host of which their sender did not know where it is: they went to all nodes.
    pub flooded: u64,
    /// Frames that a broadcast server repeated to all others.
    pub repeated: u64,
    /// Frames that came to a node, or into a segment, for which they were not.
    pub foreign: u64,
    /// Frames that came back to who had sent them.
    pub returned: u64,
    /// Frames that hosts behind bridges have got, each broadcast once a segment.
    pub left_fabric: u64,
    /// Copies of broadcasts that bridges have not let through.
    pub filtered: u64,
}

impl BridgedSummary {
    fn new(totals: &SessionTotals) -> Option<Self> {
        let stats = &totals.stats;
        totals.bridged.then_some(Self {
            flooded: stats.flooded,
            repeated: stats.repeated,
            foreign: stats.foreign,
            returned: stats.returned,
            left_fabric: stats.left_fabric,
            filtered: stats.filtered,
        })
    }

    /// A line for a terminal, with the break before it.
    fn line(&self) -> String {
        let [flooded, repeated, left, foreign, returned] =
            [self.flooded, self.repeated, self.left_fabric, self.foreign, self.returned].map(count_text);
        format!(
            "\n    Ethernet: {flooded} frames to all for want of an address, {repeated} repeated by the \
             server, {left} left into segments; {foreign} discarded as somebody else's, {returned} as one's \
             own"
        )
    }
}

/// USERDEFINED commands.
#[derive(Clone, Debug, Serialize)]
pub struct UserDefinedSummary {
    /// Sent.
    pub sent: u64,
    /// Taken by a handler.
    pub handled: u64,
    /// Reported to their senders as unknown.
    pub unknown: u64,
}

impl UserDefinedSummary {
    fn new([sent, handled, unknown]: [u64; 3]) -> Option<Self> {
        (sent > 0).then_some(Self { sent, handled, unknown })
    }
}

/// What streams cost: a leaked one as much as any other, and nobody gives it back.
#[derive(Clone, Debug, Serialize)]
pub struct CostSummary {
    /// StreamIDs taken at the end.
    pub stream_ids: u64,
    /// Most StreamIDs that one node has given to one other.
    pub most_of_a_pair: u64,
    /// How many that node has for another at most.
    pub limit_of_a_pair: u64,
    /// Of all that this node has for another (`stream_limit`, 57 344 without it), the share of these.
    pub share_of_stream_ids: Num,
    /// Octets of all management messages.
    pub management_octets: u64,
    /// Octets of management messages for each StreamID that was handed out; `null`: none was.
    pub octets_a_stream: Option<Num>,
}

impl CostSummary {
    fn new(totals: &SessionTotals) -> Option<Self> {
        let (octets, allocated) = (totals.stats.management_octets, totals.stats.allocated);
        let (most, limit) = totals.most_from_one;
        (!totals.census.is_empty()).then(|| Self {
            stream_ids: totals.taken,
            most_of_a_pair: most,
            limit_of_a_pair: limit,
            share_of_stream_ids: Num(ratio(most.into(), limit.into())),
            management_octets: octets,
            octets_a_stream: (allocated > 0).then(|| Num(octets as f64 / allocated as f64)),
        })
    }

    /// A line for a terminal, with the break before it.
    fn line(&self) -> String {
        let octets =
            self.octets_a_stream.map_or(String::new(), |octets| format!(", {octets} for each StreamID"));
        format!(
            "\n    StreamIDs: {} taken, at most {} of {} by one node for one other; management messages \
             have {}{octets}",
            count_text(self.stream_ids),
            count_text(self.most_of_a_pair),
            count_text(self.limit_of_a_pair),
            counted_text(self.management_octets, "octets"),
        )
    }
}

/// How the conduits of a flow end.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Ending {
    /// The limit of records was reached.
    Storm,
    /// Two nodes have more than one conduit.
    Duplicate,
    /// A record with an unknown side.
    HalfOpen,
    /// A complete record without a partner.
    Orphan,
    /// A stream in no conduit.
    Leak,
    /// Every wanted conduit is there once, and nothing else.
    One,
    /// Nothing is wrong, but not every wanted conduit is there.
    None,
}

impl Ending {
    /// How the conduits of a flow ended, in the classes of explorations: the first that applies.
    fn of(totals: &SessionTotals) -> Self {
        match totals {
            _ if totals.stats.limited_at.is_some() => Ending::Storm,
            _ if totals.duplicates > 0 => Ending::Duplicate,
            _ if totals.half_open > 0 => Ending::HalfOpen,
            _ if totals.orphans > 0 => Ending::Orphan,
            _ if totals.leaked > 0 => Ending::Leak,
            _ if totals.pairs == totals.expected => Ending::One,
            _ => Ending::None,
        }
    }
}

/// Messages handed out by endpoints, by kind.
#[derive(Clone, Debug, Serialize)]
pub struct MessageSummary {
    /// All, data included.
    pub all: u64,
    /// OPEN, repetitions included.
    pub open: u64,
    /// ACCEPT.
    pub accept: u64,
    /// REFUSE.
    pub refuse: u64,
    /// CLOSE, repetitions included.
    pub close: u64,
    /// XOFF.
    pub xoff: u64,
    /// XON.
    pub xon: u64,
    /// RTS.
    pub rts: u64,
    /// Data.
    pub data: u64,
    /// Repetitions of requests.
    pub retransmissions: u64,
    /// Received malformed.
    pub malformed: u64,
    /// Received and dropped.
    pub dropped: u64,
}

/// PDUs from application to application.
#[derive(Clone, Debug, Serialize)]
pub struct PduSummary {
    /// Sent, broadcasts included.
    pub sent: u64,
    /// Delivered as they were sent, each copy of a broadcast counted.
    pub delivered: u64,
    /// Refused by an endpoint, lost in reassembly, while a stream was stopped, or at a source whose stream
    /// was closed.
    pub lost: u64,
    /// Those of them that are longer than their stream, or their receiver, takes. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub too_long: u64,
    /// Lost without a word here: whole on their way, or at a receiver without such a stream, or broadcasts
    /// for peers that were not known yet.
    pub lost_unseen: u64,
    /// Delivered with other octets than were sent: a message of several was lost or came twice, which the
    /// protocol cannot see. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub damaged: u64,
    /// Delivered once more. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub again: u64,
    /// Of other flows, delivered here: a node that restarted gave their stream to the protocol of this one.
    /// Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub misdelivered: u64,
    /// Still waiting at their senders: for a conduit, or for their turn on its stream.
    pub waiting: u64,
    /// Under way when the run ended: on the fabric, in parts at a receiver, in a segment behind a bridge, or
    /// held up by the scenario. With it the sum is whole: asked for (`sent`, where each broadcast counts once
    /// for every peer, without copies that bridges keep back) = `delivered` + `lost` + `lost_unseen` +
    /// `damaged` + `waiting` + `under_way`.
    pub under_way: u64,
    /// Broadcasts sent.
    pub broadcasts: u64,
    /// Copies of broadcasts delivered.
    pub broadcasts_delivered: u64,
    /// Octets delivered.
    pub octets: u64,
    /// Mean time from application to application; `null`: none was measured, as those of a program are not.
    pub mean_us: Option<Num>,
    /// The longest.
    pub max_us: Option<Num>,
    /// Times that a source was stopped.
    pub stopped: u64,
    /// Times that it went on by XON.
    pub resumed: u64,
    /// Times that it went on because XOFF was not repeated.
    pub resumed_by_timeout: u64,
    /// Most PDUs that ever waited for one application.
    pub consumer_high_water: u32,
    /// Of those delivered, PDUs that their application is not done with when the run ends: they wait, or it
    /// is at them. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub at_application: u64,
    /// Of those delivered, PDUs that their application was not done with when its node restarted. Only if
    /// there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten: u64,
    /// Delivered although one of their ends had restarted since they were sent. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub former_life: u64,
}

/// What the scenario did to messages.
#[derive(Clone, Debug, Serialize)]
pub struct InjectedSummary {
    /// Lost.
    pub lost: u64,
    /// Duplicated.
    pub duplicated: u64,
    /// Delayed.
    pub delayed: u64,
    /// To be lost, duplicated or delayed by number, and never sent. Only if there are such.
    #[serde(skip_serializing_if = "is_zero")]
    pub never_struck: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

/// What became of PDUs, each copy of a broadcast counted.
#[derive(Copy, Clone)]
struct Fate {
    asked: u64,
    /// Will never arrive as they were sent.
    never: u64,
    /// Wait at their senders.
    waiting: u64,
    /// Neither arrived nor lost, and wait no more.
    under_way: u64,
}

fn fate(totals: &SessionTotals) -> Fate {
    let stats = &totals.stats;
    let copies = stats.broadcasts * u64::from(totals.nodes.saturating_sub(1));
    let asked = stats.pdus_sent - stats.broadcasts + copies.saturating_sub(stats.filtered);
    // Nobody is told of a PDU of type 9 that was lost whole. What is under way is somewhere, and what is
    // nowhere will not arrive.
    let under_way = stats.pdus_waiting + totals.on_their_way + stats.behind;
    // What did not arrive as it was sent did not arrive.
    let missing = asked.saturating_sub(stats.pdus_delivered);
    let nowhere = missing.saturating_sub(under_way);
    // A frame for several nodes is several PDUs, or one that switches copy: what is known to be lost says
    // more of these, at the most that all of them are.
    let mut never = nowhere;
    if totals.multicast || stats.broadcasts + stats.flooded + stats.repeated > 0 {
        let known = (stats.pdus_lost + stats.pdus_failed + stats.pdus_damaged).min(missing);
        let copied = totals.multicast && totals.on_their_way > 0;
        never = if copied { known } else { nowhere.max(known) };
    }
    let waiting = stats.pdus_waiting.min(missing - never);
    Fate { asked, never, waiting, under_way: missing - never - waiting }
}

impl SessionSummary {
    /// Every flow of session management of a run.
    pub fn all(run: &RunData) -> Vec<Self> {
        let all = run.outcome.totals.of::<SessionTotals>();
        all.map(|totals| Self::new(flow_name(run, totals.flow), totals, fate(totals))).collect()
    }

    fn new(flow: String, totals: &SessionTotals, fate: Fate) -> Self {
        let Fate { never, waiting, under_way, .. } = fate;
        let stats = &totals.stats;
        let taken = stats.pdu_ps.len();
        let lost = stats.pdus_lost.min(never.saturating_sub(stats.pdus_damaged));
        Self {
            flow,
            nodes: totals.nodes,
            wanted: totals.expected,
            conduits: totals.pairs,
            streams: totals.streams,
            wanted_streams: totals.wanted_streams,
            closed: totals.closed,
            duplicates: totals.duplicates,
            records: totals.records,
            half_open: totals.half_open,
            orphans: totals.orphans,
            leaked_streams: totals.leaked,
            all_open_us: totals.all_open.map(|at| us(at.0)),
            opened_ends: stats.opened,
            ended_ends: stats.ended,
            register_reads: stats.register_reads,
            messages: MessageSummary {
                all: stats.messages,
                open: stats.opens,
                accept: stats.accepts,
                refuse: stats.refuses,
                close: stats.closes,
                xoff: stats.xoffs,
                xon: stats.xons,
                rts: stats.rts,
                data: stats.data_messages,
                retransmissions: stats.retransmissions,
                malformed: stats.malformed,
                dropped: stats.dropped,
            },
            failed_opens: stats.failed_opens,
            suspects: stats.suspects,
            restarts: stats.restarts,
            at_record_limit: stats.limited,
            record_limit_us: stats.limited_at.map(us),
            pdus: PduSummary {
                sent: stats.pdus_sent,
                delivered: stats.pdus_delivered,
                lost,
                too_long: stats.pdus_too_long.min(lost),
                lost_unseen: never.saturating_sub(stats.pdus_damaged + lost),
                damaged: stats.pdus_damaged,
                again: stats.pdus_again,
                misdelivered: stats.pdus_misdelivered,
                waiting,
                under_way,
                broadcasts: stats.broadcasts,
                broadcasts_delivered: stats.broadcasts_delivered,
                octets: stats.octets_delivered,
                mean_us: (taken > 0).then(|| Num(sum_ps(&stats.pdu_ps) as f64 / 1e6 / taken as f64)),
                max_us: stats.pdu_ps.last().map(|&last| us(last)),
                stopped: stats.stopped,
                resumed: stats.resumed[0],
                resumed_by_timeout: stats.resumed[1],
                consumer_high_water: stats.consumer_high_water,
                at_application: stats.pdus_held,
                forgotten: stats.pdus_forgotten,
                former_life: stats.former_life,
            },
            injected: InjectedSummary {
                lost: stats.injected[0],
                duplicated: stats.injected[1],
                delayed: stats.injected[2],
                never_struck: stats.never_struck,
            },
            missed_steps: stats.missed_steps,
            same_stream: stats.same_stream,
            unknown_streams: totals.unopened.then_some(stats.unknown_streams),
            management: ManagementSummary::new(totals),
            bridged: BridgedSummary::new(totals),
            user_defined: UserDefinedSummary::new(stats.user_defined),
            cost: CostSummary::new(totals),
        }
    }

    /// Nothing but wanted conduits is left, and each once.
    fn is_sound(&self) -> bool {
        self.duplicates + self.half_open + self.orphans + self.leaked_streams == 0
    }

    /// A few lines for a terminal.
    fn lines(&self) -> String {
        let nodes = format!("of {} nodes ({}):", count_text(self.nodes.into()), self.flow);
        let mut out = match (self.wanted, self.wanted_streams) {
            (0, 1..) => {
                let [open, wanted] = [self.streams, self.wanted_streams].map(count_text);
                format!("  streams {nodes} {open} of {wanted} wanted")
            }
            (0, 0) => {
                let there = count_text(self.conduits + self.streams);
                format!("  conduits and streams {nodes} {there}, none wanted")
            }
            (wanted, _) => {
                // with duplicates there are more than anybody wants
                let between = if self.conduits > wanted { "there, where" } else { "of" };
                let [open, wanted] = [self.conduits, wanted].map(count_text);
                let are = if between == "of" { "" } else { "are " };
                format!("  conduits {nodes} {open} {between} {wanted} {are}wanted")
            }
        };
        if self.closed > 0 {
            let _ = write!(out, ", {} closed by who opened them", count_text(self.closed));
        }
        if let Some(at) = self.all_open_us {
            let _ = write!(out, ", all open at {}", time_text(at.0 * 1e6));
        }
        if !self.is_sound() {
            let bad = [
                (self.duplicates, "duplicates"),
                (self.half_open, "half-open records"),
                (self.orphans, "orphan records"),
                (self.leaked_streams, "leaked streams"),
            ];
            let bad = bad.into_iter().filter(|(count, _)| *count > 0);
            let bad: Vec<String> = bad.map(|(count, what)| counted_text(count, what)).collect();
            let _ = write!(out, "; {}", bad.join(", "));
        }
        if self.streams > 0 && self.wanted > 0 {
            let _ = write!(out, "; {}", counted_text(self.streams, "streams"));
        }
        if self.register_reads > 0 {
            let _ = write!(out, "\n    {} registers read", count_text(self.register_reads));
        }
        let messages = &self.messages;
        let _ = write!(
            out,
            "\n    messages: {} OPEN, {} ACCEPT, {} REFUSE, {} CLOSE; sent again: {}",
            count_text(messages.open),
            count_text(messages.accept),
            count_text(messages.refuse),
            count_text(messages.close),
            count_text(messages.retransmissions)
        );
        if self.suspects > 0 {
            let times = counted_text(self.suspects, "times");
            let _ = write!(out, "; a peer became suspect (it did not answer, or not by the rules) {times}");
        }
        if let Some(ManagementSummary { messages, streams }) = self.management {
            let [messages, streams] = [messages, streams].map(count_text);
            let _ = write!(out, "\n    management messages: {messages} by type 11, {streams} by type 9");
        }
        let InjectedSummary { lost, duplicated, delayed, never_struck } = self.injected;
        out += &on_purpose("messages", [lost, duplicated, delayed, 0]);
        if delayed > 0 {
            out += " (times of messages are without that, those of PDUs with it)";
        }
        if never_struck > 0 {
            let never = count_text(never_struck);
            let _ = write!(
                out,
                "\n    messages that the scenario was to touch, and that were never sent: {never}"
            );
        }
        if let Some(at) = self.record_limit_us {
            let at = time_text(at.0 * 1e6);
            let _ = write!(out, "\n    stopped at the limit of records from {at} on");
        }
        if let Some(UserDefinedSummary { sent, handled, unknown }) = self.user_defined {
            let [sent, handled, unknown] = [sent, handled, unknown].map(count_text);
            let _ = write!(out, "\n    USERDEFINED: {sent} sent, {handled} handled, {unknown} unknown");
        }
        if let Some(unknown) = self.unknown_streams {
            let told = count_text(unknown);
            let _ = write!(out, "\n    data without OPEN: {told} answers that the stream is not known");
        }
        if let Some(bridged) = &self.bridged {
            out += &bridged.line();
        }
        if let Some(cost) = &self.cost {
            out += &cost.line();
        }
        let pdus = &self.pdus;
        if pdus.misdelivered > 0 {
            let count = counted_text(pdus.misdelivered, "PDUs");
            let _ = write!(out, "\n    {count} of other flows delivered here: the stream had been theirs");
        }
        if pdus.sent > 0 {
            let _ = write!(
                out,
                "\n    PDUs: {} sent, {} delivered, {} lost{}, {} waiting",
                count_text(pdus.sent),
                count_text(pdus.delivered),
                count_text(pdus.lost),
                match pdus.too_long {
                    0 => String::new(),
                    n if n == pdus.lost => " (longer than their stream takes)".to_owned(),
                    n => format!(" ({} of them longer than their stream takes)", count_text(n)),
                },
                count_text(pdus.waiting)
            );
            if pdus.lost_unseen > 0 {
                let _ = write!(out, ", {} lost without a word", count_text(pdus.lost_unseen));
            }
            if pdus.damaged > 0 {
                let _ = write!(out, ", {} delivered with parts missing or twice", count_text(pdus.damaged));
            }
            if pdus.again > 0 {
                let _ = write!(out, ", {} delivered a second time", count_text(pdus.again));
            }
            // those of a program are not timed one by one
            if let (Some(mean), Some(longest)) = (pdus.mean_us, pdus.max_us) {
                let [mean, longest] = [mean, longest].map(|time| time_text(time.0 * 1e6));
                let _ = write!(out, "; mean {mean}, longest {longest} until the application is done");
            }
            if pdus.consumer_high_water > 1 {
                let waited = count_text(pdus.consumer_high_water.into());
                let _ = write!(out, "; up to {waited} waited for their application");
            }
            if pdus.at_application > 0 {
                let held = count_text(pdus.at_application);
                let _ = write!(out, "; it is not done with {held} at the end");
            }
            if pdus.forgotten > 0 {
                let _ = write!(out, "; restarts forgot {} of them", count_text(pdus.forgotten));
            }
            if pdus.stopped > 0 {
                let _ = write!(
                    out,
                    "; {} XOFF, {} XON, {} RTS",
                    count_text(messages.xoff),
                    count_text(messages.xon),
                    count_text(messages.rts)
                );
            }
        }
        out
    }
}
