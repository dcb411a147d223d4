//! CSV series and `histograms.json`: long tables, one observation a row, units in the column names.

use crate::num::{Num, gbps, ratio};
use crate::report::VariantReport;
use crate::summary::linked_ports;
use models::stats::GAP_PARTS;
use std::fmt::Write;

/// Ports in `queues.csv`, for each variant; `links.csv` has the high-water marks of all.
pub const QUEUES_LISTED: usize = 64;

/// A field of a CSV file: quoted iff it must be (RFC 4180).
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// Appends one line. Writing to a `String` cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => { writeln!($out, $($arg)*).expect("a string takes any text") };
}

/// Throughput and mean latency of every flow over time.
pub fn flows_csv(reports: &[VariantReport]) -> String {
    let mut out = String::from(
        "variant,flow,time_us,offered_gbps,goodput_gbps,delivered_packets,latency_mean_ns,\
         network_latency_mean_ns,hol_blocked_mean_ns\n",
    );
    for report in reports {
        let collector = &report.run.collector;
        let bin_ps = collector.bin_ps();
        for (flow, data) in report.flows.iter().zip(collector.flows()) {
            for index in 0..report.window.to_bin {
                let (bin, offered) = (&data.bins[index], &data.offered[index]);
                let mean_ns = |sum: u128| {
                    Num(if bin.packets == 0 { f64::NAN } else { ratio(sum, u128::from(bin.packets)) / 1e3 })
                };
                line!(
                    out,
                    "{},{},{},{},{},{},{},{},{}",
                    field(&report.run.name),
                    field(&flow.name),
                    Num(collector.bin_start(index) as f64 / 1e6),
                    Num(gbps(offered.payload, bin_ps)),
                    Num(gbps(bin.payload, bin_ps)),
                    bin.packets,
                    mean_ns(bin.latency_ps),
                    mean_ns(bin.network_ps),
                    mean_ns(bin.hol_ps.into()),
                );
            }
        }
    }
    out
}

/// One past the last bin to write: those of the measured part, and later ones in which something happened
/// that is no packet or message.
fn last_bin(report: &VariantReport, counts: &[[u64; 2]]) -> usize {
    let happened = counts.iter().rposition(|count| *count != [0, 0]).map_or(0, |last| last + 1);
    report.window.to_bin.max(happened)
}

/// Fabric-wide queues and staging edges over time.
pub fn fabric_csv(reports: &[VariantReport]) -> String {
    let mut out = String::from(
        "variant,time_us,in_flight_packets,source_waiting_packets,switch_input_packets,\
         switch_waiting_packets,xoff_edges,xon_edges\n",
    );
    for report in reports {
        let collector = &report.run.collector;
        for index in 0..last_bin(report, collector.staging_edges()) {
            let sample = &collector.samples()[index];
            let mean = |sum: u64| {
                Num(if sample.samples == 0 { f64::NAN } else { ratio(sum.into(), sample.samples.into()) })
            };
            let [xoff, xon] = collector.staging_edges()[index];
            line!(
                out,
                "{},{},{},{},{},{},{xoff},{xon}",
                field(&report.run.name),
                Num(collector.bin_start(index) as f64 / 1e6),
                mean(sample.in_flight),
                mean(sample.source_waiting),
                mean(sample.switch_input),
                mean(sample.switch_waiting),
            );
        }
    }
    out
}

/// Ends of conduits and of connections (LINX, Scheduled Transfer) over time: opened and ended in a time bin,
/// open at its end. Nothing without conduits.
pub fn conduits_csv(reports: &[VariantReport]) -> Option<String> {
    let mut out = String::from("variant,time_us,opened_ends,ended_ends,open_ends\n");
    let mut some = false;
    for report in reports {
        let collector = &report.run.collector;
        let (mut open, last) = (0, last_bin(report, collector.conduits()));
        for (index, [opened, ended]) in collector.conduits().iter().enumerate().take(last) {
            some = true;
            // The printed algorithm says again and again that the same conduit is open.
            open += *opened as i64 - *ended as i64;
            let at = Num(collector.bin_start(index) as f64 / 1e6);
            line!(out, "{},{at},{opened},{ended},{open}", field(&report.run.name));
        }
    }
    some.then_some(out)
}

/// Times between heartbeats of LINX connections, in periods of them. Nothing without connections.
pub fn heartbeats_csv(reports: &[VariantReport]) -> Option<String> {
    let mut out = String::from("variant,flow,from_periods,heartbeats\n");
    let mut some = false;
    for report in reports {
        for totals in &report.run.outcome.linx {
            some = true;
            let flow = field(&report.run.config.flows[usize::from(totals.flow)].name);
            // The last class takes everything above it.
            for (class, count) in totals.stats.gaps.iter().enumerate().filter(|(_, count)| **count > 0) {
                let from = Num(class as f64 / GAP_PARTS as f64);
                line!(out, "{},{flow},{from},{count}", field(&report.run.name));
            }
        }
    }
    some.then_some(out)
}

/// Occupancy of the queues of ports over time: of the fullest [`QUEUES_LISTED`] ports of each variant.
pub fn queues_csv(reports: &[VariantReport]) -> String {
    let mut out = String::from("variant,port,time_us,input_packets,waiting_packets\n");
    for report in reports {
        let collector = &report.run.collector;
        let mut fullest: Vec<(u64, (u32, u8))> = collector
            .ports()
            .iter()
            .map(|(port, series)| (series.input_sum + series.waiting_sum, *port))
            .filter(|(sum, _)| *sum > 0)
            .collect();
        fullest.sort_by_key(|&(sum, port)| (std::cmp::Reverse(sum), port));
        fullest.truncate(QUEUES_LISTED);
        fullest.sort_by_key(|&(_, port)| port);
        for (_, port) in fullest {
            let name = field(&report.port_name(port.0, port.1));
            for index in 0..report.window.to_bin {
                let samples = u128::from(collector.samples()[index].samples);
                let Some((input, waiting)) = collector.queue(port, index).filter(|_| samples > 0) else {
                    continue;
                };
                line!(
                    out,
                    "{},{name},{},{},{}",
                    field(&report.run.name),
                    Num(collector.bin_start(index) as f64 / 1e6),
                    Num(ratio(input.into(), samples)),
                    Num(ratio(waiting.into(), samples)),
                );
            }
        }
    }
    out
}

/// Latency at many percentiles, per flow and overall.
pub fn percentiles_csv(reports: &[VariantReport]) -> String {
    const PERCENTILES: [&str; 19] = [
        "0", "1", "5", "10", "20", "25", "30", "40", "50", "60", "70", "75", "80", "90", "95", "99", "99.9",
        "99.99", "100",
    ];
    let mut out = String::from("variant,flow,percentile,latency_ns,network_latency_ns\n");
    for report in reports {
        for flow in report.flows.iter().chain([&report.overall]) {
            for percentile in PERCENTILES {
                let q = percentile.parse::<f64>().expect("a constant") / 100.0;
                let (Some(latency), Some(network)) =
                    (flow.spread.latency.quantile(q), flow.spread.network.quantile(q))
                else {
                    continue;
                };
                line!(
                    out,
                    "{},{},{percentile},{},{}",
                    field(&report.run.name),
                    field(&flow.name),
                    Num(latency as f64 / 1e3),
                    Num(network as f64 / 1e3),
                );
            }
        }
    }
    out
}

/// Totals of every transmitter and receiver.
pub fn links_csv(reports: &[VariantReport]) -> String {
    let mut out = String::from(
        "variant,port,packet_share,symbol_share,packets_sent,status_riding,status_standalone,voq_riding,\
         voq_standalone,voq_received,voq_lost,voq_refreshes,xoff_edges,xon_edges,stopped_us,late_hol,hol_ps,\
         staged_ps,input_high_water,output_high_water\n",
    );
    for report in reports {
        let end = u128::from(report.active_ps());
        for (device, port, stats) in linked_ports(report) {
            line!(
                out,
                "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                field(&report.run.name),
                field(&report.port_name(device, port)),
                Num(ratio(stats.packet_ps.into(), end)),
                Num(ratio(stats.symbol_ps.into(), end)),
                stats.packets_sent,
                stats.status_riding,
                stats.status_standalone,
                stats.voq_riding,
                stats.voq_standalone,
                stats.voq_received,
                stats.voq_lost,
                stats.voq_refreshes,
                stats.xoff_edges,
                stats.xon_edges,
                Num(stats.stopped_ps as f64 / 1e6),
                stats.late_hol,
                stats.hol_ps,
                stats.staged_ps,
                stats.input_high_water,
                stats.output_high_water,
            );
        }
    }
    out
}

/// Totals of every endpoint over the whole run.
pub fn endpoints_csv(reports: &[VariantReport]) -> String {
    let mut out = String::from(
        "variant,endpoint,offered_packets,offered_octets,delivered_packets,delivered_octets,latency_mean_ns,\
         latency_max_ns\n",
    );
    for report in reports {
        let totals = report.run.collector.endpoint_totals();
        for (index, (device, total)) in report.run.config.devices.iter().zip(totals).enumerate() {
            if !report.run.collector.is_endpoint(index as u32) {
                continue;
            }
            let received = total.delivered_packets > 0;
            let mean = if received {
                ratio(total.latency_ps, total.delivered_packets.into()) / 1e3
            } else {
                f64::NAN
            };
            let max = if received { total.latency_ps_max as f64 / 1e3 } else { f64::NAN };
            line!(
                out,
                "{},{},{},{},{},{},{},{}",
                field(&report.run.name),
                field(&device.path),
                total.offered_packets,
                total.offered_payload,
                total.delivered_packets,
                total.delivered_payload,
                Num(mean),
                Num(max),
            );
        }
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_only_if_needed() {
        assert_eq!(field("leaf/03:1"), "leaf/03:1");
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
