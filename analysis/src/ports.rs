//! What the ports of a fabric counted: a row for each metric, from which come the columns of
//! `series/links.csv` and the totals of `summary.json`.

use crate::csv::{Cell, Column, csv};
use crate::num::{Num, ratio};
use crate::report::VariantReport;
use models::stats::PortStats;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A metric of ports: the two ends of every link have it.
pub(crate) struct PortRow {
    /// Column of `links.csv`, with the unit at the end where there is one.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What was counted.
    pub get: fn(&PortStats) -> u128,
    /// How it is written.
    pub shown: Shown,
    /// What becomes of it in `summary.json`.
    pub total: Total,
}

/// How a count is written.
#[derive(Copy, Clone)]
pub(crate) enum Shown {
    /// As it is.
    Count,
    /// Of picoseconds: as a share of this time, picoseconds.
    Share(fn(&VariantReport) -> u64),
    /// Of picoseconds: as microseconds.
    Us,
}

/// All of the run, picoseconds: the time of what goes on when everything has arrived.
fn whole_run(report: &VariantReport) -> u64 {
    report.run.outcome.end.0
}

/// How the ports of a fabric are put together, and under which key if not under the name of the row.
#[derive(Copy, Clone)]
pub(crate) enum Total {
    /// Not at all, or in words of its own.
    None,
    /// The sum, among the control symbols.
    Symbols,
    /// The sum.
    Sum,
    /// The sum of packet-picoseconds as a mean number.
    MeanNumber(&'static str),
    /// The largest.
    Most,
    /// The largest of switches.
    MostOfSwitches(&'static str),
}

const fn row(
    name: &'static str,
    about: &'static str,
    shown: Shown,
    total: Total,
    get: fn(&PortStats) -> u128,
) -> PortRow {
    PortRow { name, about, get, shown, total }
}

/// Every metric of ports, in the order of columns and keys.
pub(crate) static PORT_ROWS: [PortRow; 20] = [
    row(
        "packet_share",
        "share of time in which the transmitter carried packets",
        Shown::Share(VariantReport::active_ps),
        Total::None,
        |stats| stats.packet_ps.into(),
    ),
    row(
        "symbol_share",
        "share of the whole run in which the transmitter carried symbols of its own",
        Shown::Share(whole_run),
        Total::None,
        |stats| stats.symbol_ps.into(),
    ),
    row("packets_sent", "packets whose transmission started", Shown::Count, Total::None, |stats| {
        stats.packets_sent.into()
    }),
    row(
        "status_riding",
        "acknowledgements and status that rode on a delimiter",
        Shown::Count,
        Total::Symbols,
        |stats| stats.status_riding.into(),
    ),
    row(
        "status_standalone",
        "likewise with characters of their own",
        Shown::Count,
        Total::Symbols,
        |stats| stats.status_standalone.into(),
    ),
    row("voq_riding", "VoQ messages that rode", Shown::Count, Total::Symbols, |stats| {
        stats.voq_riding.into()
    }),
    row("voq_standalone", "VoQ messages with a symbol of their own", Shown::Count, Total::Symbols, |stats| {
        stats.voq_standalone.into()
    }),
    row("voq_received", "VoQ messages received and applied", Shown::Count, Total::Symbols, |stats| {
        stats.voq_received.into()
    }),
    row("voq_lost", "VoQ messages lost on purpose", Shown::Count, Total::Symbols, |stats| {
        stats.voq_lost.into()
    }),
    row("voq_refreshes", "refreshes of the whole state", Shown::Count, Total::Symbols, |stats| {
        stats.voq_refreshes.into()
    }),
    row("voq_refresh_messages", "VoQ messages of these refreshes", Shown::Count, Total::None, |stats| {
        stats.voq_refresh_messages.into()
    }),
    row("xoff_edges", "staging queues stopped", Shown::Count, Total::Sum, |stats| stats.xoff_edges.into()),
    row("xon_edges", "staging queues released", Shown::Count, Total::Sum, |stats| stats.xon_edges.into()),
    row(
        "stopped_us",
        "time that staging queues were stopped, summed over queues",
        Shown::Us,
        Total::Sum,
        |stats| stats.stopped_ps.into(),
    ),
    row(
        "longest_stop_us",
        "the longest that one staging queue was stopped without a break",
        Shown::Us,
        Total::None,
        |stats| stats.longest_stop_ps.into(),
    ),
    row(
        "late_hol",
        "packets that blocked their input because the egress queue was full although its detector was on",
        Shown::Count,
        Total::Sum,
        |stats| stats.late_hol.into(),
    ),
    row(
        "hol_ps",
        "packet-picoseconds of head-of-line blocking in the receive buffers",
        Shown::Count,
        Total::None,
        |stats| stats.hol_ps,
    ),
    row(
        "staged_ps",
        "packet-picoseconds held by backpressure at the transmitter",
        Shown::Count,
        Total::MeanNumber("staged_mean_number"),
        |stats| stats.staged_ps,
    ),
    row("input_high_water", "most packets ever in the receive buffers", Shown::Count, Total::Most, |stats| {
        stats.input_high_water.into()
    }),
    row(
        "output_high_water",
        "most packets ever waiting for the transmitter",
        Shown::Count,
        Total::MostOfSwitches("switch_output_high_water"),
        |stats| stats.output_high_water.into(),
    ),
];

/// A port with a link: device, port, totals.
type Port = (u32, u8, PortStats);

/// The ports that have a link, in device and port order; one without a link has no transmitter to speak of.
pub(crate) struct Ports<'a> {
    report: &'a VariantReport,
    linked: Vec<Port>,
}

impl<'a> Ports<'a> {
    pub fn new(report: &'a VariantReport) -> Self {
        Self { report, linked: linked(report) }
    }

    pub fn sum(&self, of: impl Fn(&PortStats) -> u128) -> u128 {
        self.linked.iter().map(|(.., stats)| of(stats)).sum()
    }

    fn most(&self, of: impl Fn(&PortStats) -> u128, of_switches: bool) -> u128 {
        let endpoint = |device: u32| of_switches && self.report.run.collector.is_endpoint(device);
        let ports = self.linked.iter().filter(|(device, ..)| !endpoint(*device));
        ports.map(|(.., stats)| of(stats)).max().unwrap_or(0)
    }

    /// Share of the time that is told of, mean over ports.
    pub fn mean_share(&self, of: impl Fn(&PortStats) -> u128) -> f64 {
        self.mean_over(self.report.active_ps(), of)
    }

    /// Share of the whole run in which transmitters carried symbols of their own, mean over ports.
    pub fn symbol_use(&self) -> f64 {
        self.mean_over(whole_run(self.report), |stats| stats.symbol_ps.into())
    }

    fn mean_over(&self, time: u64, of: impl Fn(&PortStats) -> u128) -> f64 {
        ratio(self.sum(of), u128::from(time) * self.linked.len() as u128)
    }

    /// The first of the transmitters that carried packets for the longest share of the time, and that share.
    pub fn busiest(&self) -> (String, f64) {
        let longer = |best: &'_ Port, port: &'_ Port| port.2.packet_ps > best.2.packet_ps;
        let busiest = self.linked.iter().reduce(|best, port| if longer(best, port) { port } else { best });
        busiest.map_or((String::new(), 0.0), |(device, port, stats)| {
            let share = ratio(stats.packet_ps.into(), self.report.active_ps().into());
            (self.report.port_name(*device, *port), share)
        })
    }

    /// Share of the time in which the transmitter of a port carried packets.
    pub fn use_of(&self, (device, port): (u32, u8)) -> f64 {
        let at = self.linked.binary_search_by_key(&(device, port), |(device, port, _)| (*device, *port));
        let carried = at.map_or(0, |at| self.linked[at].2.packet_ps);
        ratio(carried.into(), self.report.active_ps().into())
    }

    /// Mean number of packets held by backpressure.
    pub fn staged_mean_number(&self) -> f64 {
        ratio(self.sum(|stats| stats.staged_ps), self.report.active_ps().into())
    }

    /// VoQ messages sent.
    pub fn voq_messages(&self) -> u64 {
        self.sum(|stats| u128::from(stats.voq_riding + stats.voq_standalone)) as u64
    }

    /// Of these, messages of refreshes, which say again what was said; a change that waits to be said is in
    /// one of them. Those of the last refresh may not have gone out.
    pub fn voq_refresh_messages(&self) -> u64 {
        let of = |(.., stats): &Port| stats.voq_refresh_messages.min(stats.voq_riding + stats.voq_standalone);
        self.linked.iter().map(of).sum()
    }

    /// Characters that VoQ messages cost: those of symbols of their own. One that rides costs none.
    pub fn voq_characters(&self) -> u64 {
        let links = self.report.run.config.links.iter();
        let sent = |end| {
            let at = self.linked.binary_search_by_key(&end, |(device, port, _)| (*device, *port));
            at.map_or(0, |at| self.linked[at].2.voq_standalone)
        };
        links.map(|link| u64::from(link.symbol_chars) * (sent(link.a) + sent(link.b))).sum()
    }

    /// VoQ messages to neighbours that sent no packet through that link: there was nothing to stop.
    pub fn voq_unheeded(&self) -> u64 {
        let silent: BTreeSet<(u32, u8)> = self
            .linked
            .iter()
            .filter(|(.., stats)| stats.packets_sent == 0)
            .map(|(device, port, _)| (*device, *port))
            .collect();
        let links = self.report.run.config.links.iter();
        let to: BTreeSet<(u32, u8)> = links
            .flat_map(|link| [(link.a, link.b), (link.b, link.a)])
            .filter(|(_, to)| silent.contains(to))
            .map(|(from, _)| from)
            .collect();
        let heard = self.linked.iter().filter(|(device, port, _)| to.contains(&(*device, *port)));
        heard.map(|(.., stats)| stats.voq_riding + stats.voq_standalone).sum()
    }

    /// VoQ messages to be lost by number that were never sent.
    pub fn voq_never_struck(&self) -> u64 {
        let planned = self.report.run.config.symbol_losses.len() as u64;
        planned.saturating_sub(self.sum(|stats| stats.voq_struck.into()) as u64)
    }

    /// The part `fabric` of `summary.json`.
    pub fn summary(&self) -> Value {
        let (port, most) = self.busiest();
        let mut fabric = Map::new();
        let mut put = |key: &str, value: Value| fabric.insert(key.into(), value);
        let of_fabric = [
            json!(Num(self.mean_share(|stats| stats.packet_ps.into()))),
            json!(Num(most)),
            json!(port),
            json!(Num(self.symbol_use())),
            json!(self.report.run.outcome.packet_hops),
        ];
        for ([key, _], value) in FABRIC.iter().zip(of_fabric) {
            put(key, value);
        }
        let symbols = PORT_ROWS.iter().filter(|row| matches!(row.total, Total::Symbols));
        let symbols = symbols.map(|row| (row.name.to_owned(), json!(self.sum(row.get) as u64)));
        let mut symbols: Map<String, Value> = symbols.collect();
        for (key, _, get) in &SYMBOLS {
            let count = get(self);
            if count > 0 {
                symbols.insert((*key).into(), json!(count));
            }
        }
        put("symbols", Value::Object(symbols));
        for row in &PORT_ROWS {
            if let Some((key, value)) = self.total(row) {
                put(key, value);
            }
        }
        Value::Object(fabric)
    }

    fn total(&self, row: &PortRow) -> Option<(&'static str, Value)> {
        let end = self.report.active_ps();
        let number = match row.total {
            Total::None | Total::Symbols => return None,
            Total::Sum => self.sum(row.get),
            Total::Most => self.most(row.get, false),
            Total::MostOfSwitches(_) => self.most(row.get, true),
            Total::MeanNumber(key) => return Some((key, json!(Num(ratio(self.sum(row.get), end.into()))))),
        };
        Some((row.key()?, row.shown.json(number, self.report)))
    }
}

impl PortRow {
    /// Under which key all ports are put together, if they are.
    fn key(&self) -> Option<&'static str> {
        match self.total {
            Total::None | Total::Symbols => None,
            Total::Sum | Total::Most => Some(self.name),
            Total::MostOfSwitches(key) | Total::MeanNumber(key) => Some(key),
        }
    }
}

/// What the part `fabric` of `summary.json` says of all ports before the rows: key, and what it is.
const FABRIC: [[&str; 2]; 5] = [
    ["link_use_mean", "share of time in which transmitters carried packets, mean over directions"],
    ["link_use_max", "likewise of the busiest direction"],
    ["link_use_max_port", "its transmitter, `device:port`"],
    [
        "symbol_use_mean",
        "share of the whole run in which transmitters carried symbols of their own, mean over directions",
    ],
    ["packet_hops", "packets that began to cross a link, once for each link on their way"],
];

/// Counts of VoQ messages that stand among the symbols only where there are any.
type Symbols = (&'static str, &'static str, fn(&Ports<'_>) -> u64);
const SYMBOLS: [Symbols; 3] = [
    ("voq_refresh_messages", "VoQ messages that only repeat what was said, if there are any", |ports| {
        ports.voq_refresh_messages()
    }),
    ("voq_unheeded", "VoQ messages to neighbours that sent nothing, if there are any", |ports| {
        ports.voq_unheeded()
    }),
    (
        "voq_never_struck",
        "VoQ messages that were to be lost by number and were never sent, if there are any",
        |ports| ports.voq_never_struck(),
    ),
];

/// What each value of the part `fabric` of `summary.json` is.
pub(crate) fn notes() -> impl Iterator<Item = [String; 2]> {
    let first = FABRIC.iter().map(|row| row.map(str::to_owned));
    let own = |key: &str, about: &str| [format!("symbols.{key}"), about.to_owned()];
    let symbols = PORT_ROWS.iter().filter(|row| matches!(row.total, Total::Symbols));
    let symbols = symbols.map(move |row| own(row.name, row.about));
    let symbols = symbols.chain(SYMBOLS.iter().map(move |(key, about, _)| own(key, about)));
    let together = |row: &'static PortRow| {
        let how = match row.total {
            Total::None | Total::Symbols => return None,
            Total::Sum => "sum over ports",
            Total::Most => "the largest of a port",
            Total::MostOfSwitches(_) => "the largest of a port of a switch",
            Total::MeanNumber(_) => "as a mean number of packets, all ports together",
        };
        Some([row.key()?.to_owned(), format!("{}: {how}", row.about)])
    };
    first.chain(symbols).chain(PORT_ROWS.iter().filter_map(together))
}

impl Shown {
    fn json(self, number: u128, report: &VariantReport) -> Value {
        match self {
            Shown::Count => json!(number as u64),
            Shown::Share(time) => json!(Num(ratio(number, time(report).into()))),
            Shown::Us => json!(Num(ratio(number, 1_000_000))),
        }
    }

    fn cell(self, number: u128, report: &VariantReport) -> Cell {
        match self {
            Shown::Count => Cell::Whole(number as i128),
            Shown::Share(time) => Cell::Real(ratio(number, time(report).into())),
            Shown::Us => Cell::Real(number as f64 / 1e6),
        }
    }
}

fn linked(report: &VariantReport) -> Vec<Port> {
    let mut linked: Vec<(u32, u8)> =
        report.run.config.links.iter().flat_map(|link| [link.a, link.b]).collect();
    linked.sort_unstable();
    let ports = report.run.outcome.ports.iter();
    ports.filter(|(device, port, _)| linked.binary_search(&(*device, *port)).is_ok()).copied().collect()
}

impl PortRow {
    fn cell(&self, report: &VariantReport, port: &Port) -> Cell {
        self.shown.cell((self.get)(&port.2), report)
    }
}

/// Column of `links.csv` before those of the rows.
const PORT: [&str; 2] = ["port", "device and number of the port"];

/// What the columns of `links.csv` are.
pub(crate) fn links_notes() -> Vec<[&'static str; 2]> {
    std::iter::once(PORT).chain(PORT_ROWS.iter().map(|row| [row.name, row.about])).collect()
}

/// Totals of every transmitter and receiver.
pub fn links_csv(reports: &[VariantReport]) -> String {
    type Cells<'a> = Box<dyn Fn(&VariantReport, &Port) -> Cell + 'a>;
    let name: Cells<'_> = Box::new(|report, port| Cell::Text(report.port_name(port.0, port.1)));
    let mut columns = vec![Column { name: PORT[0], about: PORT[1], get: name }];
    for row in &PORT_ROWS {
        let get: Cells<'_> = Box::new(|report, port| row.cell(report, port));
        columns.push(Column { name: row.name, about: row.about, get });
    }
    csv(&columns, variants(reports), linked)
}

/// The subjects of a file, with their names.
pub(crate) fn variants(reports: &[VariantReport]) -> impl Iterator<Item = (&str, &VariantReport)> {
    reports.iter().map(|report| (report.run.name.as_str(), report))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Every field of [`PortStats`] by its name, as text: from its `Debug`, so none can be forgotten here.
    fn fields(stats: &PortStats) -> BTreeMap<String, String> {
        let text = format!("{stats:?}");
        let (_, fields) = text.split_once('{').unwrap();
        let fields = fields.trim_end_matches('}').split(',').filter_map(|field| field.split_once(':'));
        fields.map(|(name, value)| (name.trim().into(), value.trim().into())).collect()
    }

    /// Different in every field.
    const STATS: PortStats = PortStats {
        packets_sent: 2,
        packet_ps: 3_000_000,
        symbol_ps: 5_000_000,
        status_riding: 7,
        status_standalone: 11,
        voq_riding: 13,
        voq_standalone: 17,
        voq_received: 19,
        voq_lost: 23,
        voq_struck: 0,
        voq_refreshes: 29,
        voq_refresh_messages: 33,
        xoff_edges: 31,
        xon_edges: 37,
        stopped_ps: 41_000_000,
        longest_stop_ps: 67_000_000,
        late_hol: 43,
        hol_ps: 47,
        staged_ps: 53,
        input_high_water: 59,
        output_high_water: 61,
    };

    /// A counter that no row shows fails, and so does a row that shows another one than its name says.
    #[test]
    fn every_counter_of_a_port_has_the_row_of_its_name() {
        let mut fields = fields(&STATS);
        // of losses that struck only those are told that did not: `voq_never_struck`
        assert!(fields.remove("voq_struck").is_some());
        let values: BTreeSet<&String> = fields.values().collect();
        assert_eq!((values.len(), fields.len()), (fields.len(), PORT_ROWS.len()));
        let mut names = BTreeSet::new();
        for row in &PORT_ROWS {
            assert!(names.insert(row.name) && !row.about.is_empty(), "{}", row.name);
            let field = match row.name {
                "packet_share" => "packet_ps",
                "symbol_share" => "symbol_ps",
                "stopped_us" => "stopped_ps",
                "longest_stop_us" => "longest_stop_ps",
                name => name,
            };
            assert_eq!((row.get)(&STATS).to_string(), fields[field], "{}", row.name);
            assert_eq!(matches!(row.shown, Shown::Share(_)), row.name.ends_with("_share"), "{}", row.name);
            assert_eq!(matches!(row.shown, Shown::Us), row.name.ends_with("_us"), "{}", row.name);
        }
    }
}
