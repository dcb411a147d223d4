//! CSV series and `histograms.json`: long tables, one observation a row, units in the column names.

mod congestion;
mod timeouts;

use crate::collect::{Bin, EndpointTotals, OfferedBin, SampleBin};
use crate::csv::{Cell, Column, Get, csv, notes as notes_of, whole};
use crate::estimate::any_quantile_samples;
use crate::num::{gbps, ratio};
use crate::ports::{links_notes, variants};
use crate::protocol::PROTOCOLS;
use crate::report::{FlowReport, VariantReport};
use crate::run::RunData;

pub use crate::ports::links_csv;
pub(crate) use congestion::{packed, unpacked};
pub(crate) use timeouts::REASONS;
pub use timeouts::timeouts_csv;

/// Ports in `queues.csv`, for each variant, beside those that a figure draws; `links.csv` has the high-water
/// marks of all.
pub const QUEUES_LISTED: usize = 64;
const QUEUED: &str =
    "device and number of the port: of each variant the 64 with most packets, and those that a figure draws";

/// The file without columns.
const CONGESTION: &str = "congestion.json";

/// A file of the folder `series`.
pub struct Series {
    /// Name of the file.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Every file of the folder `series`, of protocols as well, as far as there is something for it.
pub fn all(reports: &[VariantReport]) -> Vec<Series> {
    let runs: Vec<&RunData> = reports.iter().map(|report| &report.run).collect();
    let always = [
        ("flows.csv", flows_csv(reports)),
        ("fabric.csv", fabric_csv(reports)),
        ("queues.csv", queues_csv(reports)),
        ("latency_percentiles.csv", percentiles_csv(reports)),
        ("links.csv", links_csv(reports)),
        ("endpoints.csv", endpoints_csv(reports)),
    ];
    let conduits = conduits_csv(reports).map(|text| ("conduits.csv", text));
    let timeouts = timeouts_csv(reports).map(|text| ("timeouts.csv", text));
    let congestion = congestion::json(reports).map(|text| (CONGESTION, text));
    let protocols = PROTOCOLS.iter().filter_map(|protocol| protocol.series(&runs));
    let files = always.into_iter().chain(conduits).chain(timeouts).chain(congestion).chain(protocols);
    files.map(|(name, text)| Series { name, text }).collect()
}

/// Names of all files that the folder `series` may have.
pub fn names() -> impl Iterator<Item = &'static str> {
    notes().into_iter().map(|file| file.name).chain([CONGESTION])
}

/// What the columns of a file are; `variant` comes before them.
pub struct Notes {
    /// Name of the file.
    pub name: &'static str,
    /// Names, and what they are.
    pub columns: Vec<[&'static str; 2]>,
}

/// Notes of every file with columns.
pub fn notes() -> Vec<Notes> {
    let always = [
        ("flows.csv", notes_of(&FLOWS)),
        ("fabric.csv", notes_of(&FABRIC)),
        ("queues.csv", notes_of(&QUEUES)),
        ("latency_percentiles.csv", notes_of(&PERCENTILES)),
        ("links.csv", links_notes()),
        ("endpoints.csv", notes_of(&ENDPOINTS)),
        ("conduits.csv", notes_of(&CONDUITS)),
        ("timeouts.csv", notes_of(&timeouts::TIMEOUTS)),
    ];
    let protocols = PROTOCOLS.iter().filter_map(|protocol| protocol.series_notes());
    always.into_iter().chain(protocols).map(|(name, columns)| Notes { name, columns }).collect()
}

type Columns<At, const N: usize> = [Column<Get<VariantReport, At>>; N];

/// The beginning of a time bin, microseconds.
fn start_us(report: &VariantReport, bin: usize) -> Cell {
    Cell::Real(report.run.collector.bin_start(bin) as f64 / 1e6)
}

/// A mean; nothing, if there is nothing to divide by.
fn mean(sum: u128, count: u64) -> f64 {
    if count == 0 { f64::NAN } else { ratio(sum, count.into()) }
}

/// A flow in a time bin.
struct FlowBin {
    flow: usize,
    bin: usize,
}

impl FlowBin {
    fn delivered<'a>(&self, report: &'a VariantReport) -> &'a Bin {
        &report.run.collector.flows()[self.flow].bins[self.bin]
    }

    fn offered<'a>(&self, report: &'a VariantReport) -> &'a OfferedBin {
        &report.run.collector.flows()[self.flow].offered[self.bin]
    }

    /// Octets of the bin over its time, Gb/s. The last one ends with what is measured, which is often the end
    /// of a packet, and that counts there: in a shorter bin it would be more than any link carries, so the
    /// last two have the mean of both. What is the only bin, and an instant, counts as if that went on.
    fn rate(&self, report: &VariantReport, octets: impl Fn(&Self) -> u64) -> Cell {
        let (collector, end) = (&report.run.collector, report.window.to_ps);
        let at = |bin| collector.bin_start(bin).min(end);
        let last = report.window.to_bin - 1;
        let is_joined = collector.bin_start(last + 1) > end && self.bin + 1 >= last;
        let (first, last) = if is_joined { (last.saturating_sub(1), last) } else { (self.bin, self.bin) };
        let width = at(last + 1) - at(first);
        let octets = (first..=last).map(|bin| octets(&Self { flow: self.flow, bin })).sum();
        Cell::Real(gbps(octets, if width > 0 { width } else { collector.bin_ps() }))
    }

    /// Mean of a packet delivered, nanoseconds.
    fn mean_ns(&self, report: &VariantReport, of: fn(&Bin) -> u128) -> Cell {
        let bin = self.delivered(report);
        Cell::Real(mean(of(bin), bin.packets) / 1e3)
    }
}

const FLOWS: Columns<FlowBin, 8> = [
    Column::new("flow", "flow", |report, at| Cell::Text(report.flows[at.flow].name.clone())),
    Column::new("time_us", "beginning of the time bin", |report, at| start_us(report, at.bin)),
    Column::new(
        "offered_gbps",
        "payload created; the last two bins have the mean of both where the last one is shorter",
        |report, at| at.rate(report, |at| at.offered(report).payload),
    ),
    // no goodput: packets know nothing of what is said again, or of headers above them
    Column::new("delivered_gbps", "payload of all packets delivered, likewise", |report, at| {
        at.rate(report, |at| at.delivered(report).payload)
    }),
    Column::new("delivered_packets", "packets delivered", |report, at| whole(at.delivered(report).packets)),
    Column::new("latency_mean_ns", "creation to last bit at the destination, mean", |report, at| {
        at.mean_ns(report, |bin| bin.latency_ps)
    }),
    Column::new(
        "network_latency_mean_ns",
        "likewise, from the first bit on the injection link on",
        |report, at| at.mean_ns(report, |bin| bin.network_ps),
    ),
    Column::new("hol_blocked_mean_ns", "head-of-line blocking of a packet, mean", |report, at| {
        at.mean_ns(report, |bin| bin.hol_ps.into())
    }),
];

/// Throughput and mean latency of every flow over time.
pub fn flows_csv(reports: &[VariantReport]) -> String {
    csv(&FLOWS, variants(reports), |report| {
        let flows = report.run.collector.flows().len().min(report.flows.len());
        let bins = |flow| (0..report.window.to_bin).map(move |bin| FlowBin { flow, bin });
        (0..flows).flat_map(bins).collect()
    })
}

/// One past the last bin to write: those of the measured part, and later ones in which something happened
/// that is no packet or message.
fn last_bin(report: &VariantReport, counts: &[[u64; 2]]) -> usize {
    let happened = counts.iter().rposition(|count| *count != [0, 0]).map_or(0, |last| last + 1);
    report.window.to_bin.max(happened)
}

/// Mean over the time of the samples in a bin.
fn sampled(report: &VariantReport, bin: usize, of: fn(&SampleBin) -> u128) -> Cell {
    let sample = &report.run.collector.samples()[bin];
    Cell::Real(mean(of(sample), sample.ps))
}

const FABRIC: Columns<usize, 7> = [
    Column::new("time_us", "beginning of the time bin", |report, bin| start_us(report, *bin)),
    Column::new(
        "in_flight_packets",
        "packets in the fabric and at their sources, mean over time; between two observations evenly",
        |report, bin| sampled(report, *bin, |sample| sample.in_flight),
    ),
    Column::new("source_waiting_packets", "of these, waiting at their sources", |report, bin| {
        sampled(report, *bin, |sample| sample.source_waiting)
    }),
    Column::new("switch_input_packets", "in the receive buffers of switches", |report, bin| {
        sampled(report, *bin, |sample| sample.switch_input)
    }),
    Column::new("switch_waiting_packets", "waiting for transmitters of switches", |report, bin| {
        sampled(report, *bin, |sample| sample.switch_waiting)
    }),
    Column::new("xoff_edges", "staging queues stopped", |report, bin| {
        whole(report.run.collector.staging_edges()[*bin][0])
    }),
    Column::new("xon_edges", "staging queues released", |report, bin| {
        whole(report.run.collector.staging_edges()[*bin][1])
    }),
];

/// Fabric-wide queues and staging edges over time.
pub fn fabric_csv(reports: &[VariantReport]) -> String {
    csv(&FABRIC, variants(reports), |report| {
        (0..last_bin(report, report.run.collector.staging_edges())).collect()
    })
}

/// Ends of conduits and connections in a time bin.
struct Ends {
    bin: usize,
    opened: u64,
    ended: u64,
    open: i64,
}

const CONDUITS: Columns<Ends, 4> = [
    Column::new("time_us", "beginning of the time bin", |report, at| start_us(report, at.bin)),
    Column::new("opened_ends", "ends opened in it", |_, at| whole(at.opened)),
    Column::new("ended_ends", "ends that ended in it", |_, at| whole(at.ended)),
    Column::new("open_ends", "ends open when it is over", |_, at| whole(at.open)),
];

/// Ends of conduits and of connections (LINX, Scheduled Transfer) over time: opened and ended in a time bin,
/// open at its end. Nothing without conduits.
pub fn conduits_csv(reports: &[VariantReport]) -> Option<String> {
    let ends = |report: &VariantReport| -> Vec<Ends> {
        let counts = report.run.collector.conduits();
        let mut now = 0;
        let mut at = |(bin, &[opened, ended]): (usize, &[u64; 2])| {
            // The printed algorithm says again and again that the same conduit is open.
            now += opened as i64 - ended as i64;
            Ends { bin, opened, ended, open: now }
        };
        counts.iter().enumerate().take(last_bin(report, counts)).map(&mut at).collect()
    };
    let some = reports.iter().any(|report| !ends(report).is_empty());
    some.then(|| csv(&CONDUITS, variants(reports), ends))
}

/// Mean packets in the queues of a port in a time bin.
struct Queue {
    port: (u32, u8),
    bin: usize,
    input: f64,
    waiting: f64,
}

const QUEUES: Columns<Queue, 4> = [
    Column::new("port", QUEUED, |report, at| Cell::Text(report.port_name(at.port.0, at.port.1))),
    Column::new("time_us", "beginning of the time bin", |report, at| start_us(report, at.bin)),
    Column::new(
        "input_packets",
        "packets in its receive buffers, from their acceptance on (the end of a pipeline), mean over time",
        |_, at| Cell::Real(at.input),
    ),
    Column::new("waiting_packets", "packets waiting for its transmitter, likewise", |_, at| {
        Cell::Real(at.waiting)
    }),
];

/// Occupancy of the queues of ports over time: of the fullest [`QUEUES_LISTED`] ports of each variant, and of
/// those whose queues are drawn. Hosts are among the fullest, and source queues are not drawn.
pub fn queues_csv(reports: &[VariantReport]) -> String {
    let drawn = crate::figures::queues_drawn(reports);
    csv(&QUEUES, variants(reports), |report| {
        let collector = &report.run.collector;
        let mut fullest: Vec<(u128, (u32, u8))> = collector
            .ports()
            .iter()
            .map(|(port, series)| (series.input + series.waiting, *port))
            .filter(|(sum, _)| *sum > 0)
            .collect();
        fullest.sort_by_key(|&(sum, port)| (std::cmp::Reverse(sum), port));
        let mut place = 0;
        fullest.retain(|(_, (device, port))| {
            place += 1;
            place <= QUEUES_LISTED || drawn.contains(&report.port_name(*device, *port))
        });
        fullest.sort_by_key(|&(_, port)| port);
        let bins = |port: (u32, u8)| {
            (0..report.window.to_bin).filter_map(move |bin| {
                let time = collector.samples()[bin].ps;
                let (input, waiting) = collector.queue(port, bin).filter(|_| time > 0)?;
                let mean = |sum: u64| ratio(sum.into(), time.into());
                Some(Queue { port, bin, input: mean(input), waiting: mean(waiting) })
            })
        };
        fullest.into_iter().flat_map(|(_, port)| bins(port)).collect()
    })
}

/// A percentile of a flow, or of all flows.
struct Percentile {
    /// One past the last flow: all flows.
    flow: usize,
    percentile: &'static str,
    latency_ps: u64,
    network_ps: u64,
}

/// Flows, then all of them together.
fn flows_and_all(report: &VariantReport) -> impl Iterator<Item = &FlowReport> {
    report.flows.iter().chain([&report.overall])
}

const PERCENTILES: Columns<Percentile, 4> = [
    Column::new("flow", "flow, or overall", |report, at| {
        Cell::Text(report.flows.get(at.flow).unwrap_or(&report.overall).name.clone())
    }),
    Column::new(
        "percentile",
        "so many of 100 packets took not longer; those of which too few packets came are left out",
        |_, at| Cell::Text(at.percentile.into()),
    ),
    Column::new("latency_ns", "creation to last bit at the destination", |_, at| {
        Cell::Real(at.latency_ps as f64 / 1e3)
    }),
    Column::new("network_latency_ns", "likewise, from the first bit on the injection link on", |_, at| {
        Cell::Real(at.network_ps as f64 / 1e3)
    }),
];

/// Latency at many percentiles, per flow and overall; what is not known anywhere else is not told here.
pub fn percentiles_csv(reports: &[VariantReport]) -> String {
    const LISTED: [&str; 19] = [
        "0", "1", "5", "10", "20", "25", "30", "40", "50", "60", "70", "75", "80", "90", "95", "99", "99.9",
        "99.99", "100",
    ];
    csv(&PERCENTILES, variants(reports), |report| {
        let at = |(flow, told): (usize, &FlowReport), percentile: &'static str| {
            let q = percentile.parse::<f64>().expect("a constant") / 100.0;
            let known = told.spread.latency.histogram.len() >= any_quantile_samples(q);
            let (latency, network) = (told.spread.latency.quantile(q)?, told.spread.network.quantile(q)?);
            known.then_some(Percentile { flow, percentile, latency_ps: latency, network_ps: network })
        };
        let flows = flows_and_all(report).enumerate();
        flows.flat_map(|flow| LISTED.into_iter().filter_map(move |listed| at(flow, listed))).collect()
    })
}

/// Octets, packets and times of an endpoint; by device.
fn received(report: &VariantReport, device: usize, of: fn(&EndpointTotals) -> f64) -> Cell {
    let total = &report.run.collector.endpoint_totals()[device];
    Cell::Real(if total.delivered_packets > 0 { of(total) / 1e3 } else { f64::NAN })
}

const ENDPOINTS: Columns<usize, 7> = [
    Column::new("endpoint", "device", |report, &device| {
        Cell::Text(report.run.config.devices[device].path.clone())
    }),
    Column::new(
        "offered_packets",
        "packets created here, accesses to registers and their answers too",
        |report, &device| whole(report.run.collector.endpoint_totals()[device].offered_packets),
    ),
    Column::new("offered_octets", "their payload", |report, &device| {
        whole(report.run.collector.endpoint_totals()[device].offered_payload)
    }),
    Column::new("delivered_packets", "packets that arrived here, of these too", |report, &device| {
        whole(report.run.collector.endpoint_totals()[device].delivered_packets)
    }),
    Column::new("delivered_octets", "their payload", |report, &device| {
        whole(report.run.collector.endpoint_totals()[device].delivered_payload)
    }),
    Column::new("latency_mean_ns", "of packets that arrived here, mean", |report, &device| {
        received(report, device, |total| ratio(total.latency_ps, total.delivered_packets.into()))
    }),
    Column::new("latency_max_ns", "likewise, maximum", |report, &device| {
        received(report, device, |total| total.latency_ps_max as f64)
    }),
];

/// Totals of every endpoint over the whole run.
pub fn endpoints_csv(reports: &[VariantReport]) -> String {
    csv(&ENDPOINTS, variants(reports), |report| {
        let devices = 0..report.run.config.devices.len();
        devices.filter(|device| report.run.collector.is_endpoint(*device as u32)).collect()
    })
}

/// Latency histograms of the measured part: `[largest picosecond of the bucket, packets]` pairs.
pub fn histograms_json(reports: &[VariantReport]) -> String {
    let pairs = |histogram: &hdrhistogram::Histogram<u32>| -> serde_json::Value {
        let recorded = histogram.iter_recorded();
        recorded.map(|value| serde_json::json!([value.value_iterated_to(), value.count_at_value()])).collect()
    };
    let variants: serde_json::Map<String, serde_json::Value> = reports
        .iter()
        .map(|report| {
            let flows: serde_json::Map<String, serde_json::Value> = report
                .flows
                .iter()
                .chain([&report.overall])
                .map(|flow| {
                    let value = serde_json::json!({
                        "latency": pairs(&flow.spread.latency.histogram),
                        "network_latency": pairs(&flow.spread.network.histogram),
                    });
                    (flow.name.clone(), value)
                })
                .collect();
            (report.run.name.clone(), flows.into())
        })
        .collect();
    let mut text = serde_json::json!({ "unit": "ps", "variants": variants }).to_string();
    text.push('\n');
    text
}
