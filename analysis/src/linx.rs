//! Connections of LINX: what a run came to, for `summary.json` and the terminal.

use crate::num::{Num, count_text, time_text};
use crate::report::VariantReport;
use models::stats::{LinxEnd, LinxTotals, Times};
use serde::Serialize;
use std::fmt::Write;

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
    /// Timeouts although the peer was there and the way to it was whole since the last sign of life.
    pub false_timeouts: u64,
    /// The same per hour of a connection, by the protocol clock; `null`: no connection was up.
    pub false_timeouts_per_connection_hour: Option<Num>,
    /// Ends that ended less than three periods after they came up.
    pub flaps: u64,
    /// From the moment at which a peer went down, or the way to it, to the end of a connection with it.
    pub detection: Option<TimesSummary>,
    /// From the end of a connection, once both nodes were there again, to the next one.
    pub reestablishment: Option<TimesSummary>,
    /// Between heartbeats, by the protocol clock.
    pub heartbeat_gaps: Option<TimesSummary>,
    /// What became of messages.
    pub messages: MessageLedger,
    /// Frames by kind.
    pub frames: FrameSummary,
    /// Octets of memory of the connection managers for each end of a connection.
    pub octets_per_end: Num,
}

/// Ends of connections by reason.
#[derive(Clone, Debug, Serialize)]
pub struct EndSummary {
    /// No sign of life for three periods.
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
    /// Octets of messages sent that their receivers have to move.
    pub moved_octets: u64,
    /// From application to application.
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
    /// Data and heartbeats of no connection.
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
}

fn us(ps: u64) -> Num {
    Num(ps as f64 / 1e6)
}

fn mean_ps(times: &Times) -> f64 {
    times.sum as f64 / times.count.max(1) as f64
}

impl LinxSummary {
    /// Every flow of LINX of a run.
    pub fn all(report: &VariantReport) -> Vec<Self> {
        let config = &report.run.config;
        let name = |flow: u16| config.flows[usize::from(flow)].name.clone();
        // Periods are told by the protocol clock: that of the first node stands for all.
        let (num, den) = config.agents.first().map_or((1, 1), |agent| agent.clock);
        let clock = num as f64 / den as f64;
        report.run.outcome.linx.iter().map(|totals| Self::new(name(totals.flow), totals, clock)).collect()
    }

    fn new(flow: String, totals: &LinxTotals, clock: f64) -> Self {
        let stats = &totals.stats;
        let ended = |end: LinxEnd| stats.ended[end as usize];
        // Both ends of a connection are up for as long as it is.
        let hours = stats.up_ps as f64 / 2.0 * clock / 3.6e15;
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
            },
            false_timeouts: stats.false_timeouts,
            false_timeouts_per_connection_hour: (hours > 0.0)
                .then(|| Num(stats.false_timeouts as f64 / hours)),
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
                latency: TimesSummary::new(&stats.message_ps),
                round_trips: TimesSummary::new(&stats.round_trips),
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
            let _ = write!(out, ", {} half", count_text(self.half_up));
        }
        let ended = &self.ended_ends;
        let reasons = [
            (ended.timeout, "timed out"),
            (ended.peer_reset, "reset by the peer"),
            (ended.peer_restart, "peer restarted"),
            (ended.local, "not deliverable"),
            (ended.link_down, "link down"),
            (ended.crash, "node down"),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, why)| format!("{} {why}", count_text(count)))
            .collect();
        if !reasons.is_empty() {
            let _ = write!(out, "\n    ends that ended: {}", reasons.join(", "));
        }
        if ended.timeout > 0 {
            let _ = write!(out, "\n    false timeouts: {}", count_text(self.false_timeouts));
            if let Some(rate) = self.false_timeouts_per_connection_hour {
                let _ = write!(out, ", {:.4} per connection-hour of the protocol clock", rate.0);
            }
        }
        for (times, what) in [
            (&self.detection, "a peer that went down was noticed after"),
            (&self.reestablishment, "connected again after"),
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
                "\n    messages: {} wanted, {} refused, {} delivered, {} lost with a reset, {} under way",
                count_text(messages.wanted),
                count_text(messages.refused),
                count_text(messages.delivered),
                count_text(messages.lost),
                count_text(messages.under_way)
            );
            if messages.lost_unseen > 0 {
                let lost = count_text(messages.lost_unseen);
                let _ = write!(out, ", {lost} lost in connections that are still up");
            }
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

/// What the terminal shows of connections.
pub(crate) fn lines(report: &VariantReport) -> Vec<String> {
    LinxSummary::all(report).iter().map(LinxSummary::lines).collect()
}
