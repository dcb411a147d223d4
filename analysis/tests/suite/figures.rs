//! Figures of synthetic runs. The pictures stay in the target directory for a look.

use crate::synthetic::{LENGTH, REFRESH, WITH, WITHOUT, closed_loops, run};
use analysis::figures::{self, Caption, all};
use analysis::num::time_text;
use analysis::{Role, RunData, VariantReport};
use models::config::FlowConfig;
use std::sync::Arc;

fn caption() -> Caption {
    let stamp = "seed 7 · riosim 1.2.3".into();
    Caption { scenario: "hotspot-single-switch".into(), note: String::new(), stamp }
}

/// A figure that has something to show.
fn svg(reports: &[VariantReport], name: &str) -> String {
    figures::svg(&caption(), reports, name).expect("it is drawn")
}

fn write(folder: &str, figures: &[analysis::figures::Figure]) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).unwrap();
    for figure in figures {
        std::fs::write(folder.join(format!("{}.svg", figure.name)), &figure.svg).unwrap();
        std::fs::write(folder.join(format!("{}.png", figure.name)), &figure.png).unwrap();
    }
}

#[test]
fn every_figure_is_drawn_and_svg_is_deterministic() {
    let reports = || [WITHOUT, WITH, REFRESH].map(|mood| VariantReport::new(run(mood)));
    let figures = all(&caption(), &reports());
    write("figures", &figures);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name).collect();
    let every = ["goodput", "load", "throughput", "latency_cdf", "network_latency_cdf", "latency_tail"];
    assert_eq!(names, [&every[..], &["decomposition", "victims", "queues"]].concat());
    for (figure, again) in figures.iter().zip(all(&caption(), &reports())) {
        assert_eq!(figure.svg, again.svg, "{}", figure.name);
        assert_eq!(figure.png, again.png, "{}", figure.name);
        assert!(figure.svg.contains("hotspot-single-switch"), "{} names its scenario", figure.name);
        assert!(figure.svg.contains("seed 7 · riosim 1.2.3"), "{} names seed and version", figure.name);
        assert!(figure.svg.trim_end().ends_with("</svg>"), "{}", figure.name);
        assert!(figure.png.starts_with(b"\x89PNG\r\n\x1a\n"), "{}", figure.name);
    }
}

/// Victims that always have more to send ask for all of their link: what they get of it is the result, and
/// not all of what they are let send.
#[test]
fn victims_of_closed_loops_are_told_by_their_links() {
    let reports = [WITHOUT, WITH].map(|mood| VariantReport::new(closed_loops(mood)));
    let victims = svg(&reports, "victims");
    assert!(victims.contains("accepted (% of its link)"));
    for report in &reports {
        let share = format!("{:.1} %", 100.0 * report.flows[0].accepted_load.value);
        assert!(share != "100.0 %" && victims.contains(&share), "{share}");
    }
    assert!(!victims.contains("100.0 %") && !victims.contains("asked for"));
    // Beside them one whose victims ask for what they get: a line says so.
    let mixed = [reports.into_iter().next().unwrap(), VariantReport::new(run(WITH))];
    let victims = svg(&mixed, "victims");
    assert!(victims.contains("accepted (% of its link; line: asked for)"));
    assert!(!mixed[1].flows[0].closed_loop && mixed[1].flows[0].offered_load < 0.9);
    // Who falls behind waits the longer the longer the run is; who loses does not.
    let mut mixed = mixed;
    let victim = &mut mixed[1].flows[0];
    (victim.books.asked, victim.books.arrived, victim.books.never) = (100, 60, 40);
    victim.falls_behind = false;
    assert!(svg(&mixed, "victims").contains("of what victims asked for in the whole run arrived: 60.0 %"));
    mixed[1].flows[0].falls_behind = true;
    let run = format!("in the whole run, {} long, arrived: 60.0 %", time_text(LENGTH.0 as f64));
    assert!(svg(&mixed, "victims").contains(&run), "{run}");
}

/// By hand: of 100 and 300 of two victims 60 and 300 arrive, 90 % of all, and 60 % of the worst. What never
/// comes is longer than any time: where 70 % come, the median of all is what 5/7 of those that came take not
/// longer than, and the 99th percentile is never; where 45 % come, the median is never, too.
#[test]
fn who_never_comes_counts_in_percentiles() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let books = |flow: &mut analysis::report::FlowReport, [asked, arrived]: [u64; 2]| {
        (flow.books.asked, flow.books.arrived, flow.books.never) = (asked, arrived, asked - arrived);
        (flow.falls_behind, flow.closed_loop) = (false, false);
    };
    for report in &mut reports {
        books(&mut report.flows[0], [100, 100]);
    }
    let whole = svg(&reports, "victims");
    assert!(whole.contains("99.9 %") || whole.contains("latency, 99 %"), "{whole}");
    books(&mut reports[1].flows[0], [100, 70]);
    let drawn = svg(&reports, "victims");
    let law = |report: &VariantReport, q: f64| {
        time_text(report.flows[0].spread.latency.quantile(q).expect("some came") as f64)
    };
    assert!(drawn.contains("latency, median") && !drawn.contains("never:"), "{drawn}");
    assert!(drawn.contains(&law(&reports[1], 5.0 / 7.0)) && drawn.contains(&law(&reports[0], 0.5)));
    books(&mut reports[1].flows[0], [100, 45]);
    let drawn = svg(&reports, "victims");
    assert!(drawn.contains("latency, median") && drawn.contains("\nnever\n"), "{drawn}");
    let law = "the median is that of all that was asked for; never: half or more of it never came";
    assert!(drawn.replace('\n', " ").contains(law), "{drawn}");
    // all of the victim comes, so its tail is shown, and half of another flow does not: its tail never ends
    let mut beside = reports.clone();
    books(&mut beside[1].flows[0], [100, 100]);
    let mut other = beside[1].flows[0].clone();
    (other.name, other.role) = ("other".into(), None);
    books(&mut other, [100, 50]);
    beside[1].flows.push(other);
    let drawn = svg(&beside, "victims");
    let shown: Vec<&str> = ["99.9", "99"]
        .into_iter()
        .filter(|percent| drawn.contains(&format!("\nlatency, {percent} %\n")))
        .collect();
    let (name, beyond) = if shown == ["99.9"] { ("99.9th", "0.1") } else { ("99th", "1") };
    let law = format!("the {name} percentile is that of all that was asked for; never: {beyond} % or more");
    assert!(drawn.contains("\nnever\n") && drawn.replace('\n', " ").contains(&law), "{law}: {drawn}");
    // two victims
    let mut second = reports[1].flows[0].clone();
    second.name = "second".into();
    books(&mut second, [300, 300]);
    reports[1].flows.push(second);
    books(&mut reports[1].flows[0], [100, 60]);
    assert!(svg(&reports, "victims").contains("90.0 % in"));
    assert!(svg(&reports, "victims").contains("(of the worst victim 60.0 %)"));
}

/// Beside long names columns are narrow: a label takes two lines there, and does not run into the next one.
#[test]
fn long_labels_of_narrow_columns_take_two_lines() {
    let mut reports = [VariantReport::new(closed_loops(WITHOUT)), VariantReport::new(run(WITH))];
    assert!(svg(&reports, "victims").contains("\naccepted (% of its link; line: asked for)\n"));
    for report in &mut reports {
        report.run.name = "a variant with a name that nobody should choose".into();
        report.flows[0].name = "a flow with a name that is as long as that".into();
    }
    let narrow = svg(&reports, "victims");
    assert!(narrow.contains("\naccepted (% of its link;\n") && narrow.contains("\nline: asked for)\n"));
    assert!(narrow.contains(" percentile (logarithmic)\n") || narrow.contains("\nmedian (logarithmic)\n"));
}

/// Values of several flows are not put together: each has its own row, also one that is neither victim nor
/// hot. A flow that is hot in one variant and not in the other is called so in neither.
#[test]
fn figures_say_whose_value_they_show() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let hot = reports[0].flows.iter().position(|flow| flow.role == Some(Role::Hot)).expect("one is hot");
    reports.iter_mut().for_each(|report| report.flows[hot].name = "bulk".into());
    let rows = |reports: &[VariantReport], name: &str| {
        svg(reports, "victims").lines().filter(|line| line.trim() == name).count()
    };
    assert_eq!(rows(&reports, "bulk"), 0);
    assert!(svg(&reports, "goodput").contains("flow bulk (hot)"));
    reports[1].flows[hot].role = Some(Role::Victim);
    let bars = svg(&reports, "goodput");
    assert!(bars.contains("flow bulk") && !bars.contains("(hot)") && !bars.contains("(victim)"));
    // a third is left behind: the mean is of the others
    assert!(!svg(&reports, "decomposition").contains(", of 66.7 %"));
    let flow = &mut reports[1].flows[hot];
    let left = flow.books.arrived / 2;
    (flow.books.under_way, flow.falls_behind) = (left, true);
    flow.books.asked = flow.books.arrived + left;
    assert!(svg(&reports, "decomposition").contains(", of 66.7 %"));
    // where some never arrive, the few left behind count, too
    let flow = &mut reports[1].flows[hot];
    let arrived = flow.books.arrived;
    (flow.books.never, flow.books.under_way) = (arrived, arrived / 125);
    flow.books.asked = 2 * arrived + arrived / 125;
    assert!(svg(&reports, "decomposition").contains(", of 49.8 %"));
    reports[1].flows.push(reports[0].flows[hot].clone());
    reports[1].flows.last_mut().unwrap().role = Some(Role::Hot);
    assert_eq!(rows(&reports, "bulk (victim)"), 1);
    reports[1].flows[hot].role = None;
    assert_eq!((rows(&reports, "bulk (victim)"), rows(&reports, "bulk")), (0, 1));
}

/// A bar that another one flattens has its value beside it; bars that can be read do not need one.
#[test]
fn flattened_bars_have_their_value_beside_them() {
    let mut reports = [WITHOUT, WITH].map(|mood| VariantReport::new(run(mood)));
    let words = "too short to read";
    assert!(!svg(&reports, "decomposition").contains(words));
    // where the source queue is most, the rest has a panel of its own
    let queue = &mut reports[0].flows[0].spread.parts_ps[0];
    *queue = (*queue).max(1) * 1_000_000;
    let flow = &mut reports[0].flows[0];
    let parts = flow.spread.parts_ps.iter_mut().skip(1);
    parts.for_each(|part| *part /= 1_000);
    let left: u128 = flow.spread.parts_ps.iter().skip(1).sum();
    let mean = left as f64 / flow.delivered.packets as f64;
    let (figure, value) = (svg(&reports, "decomposition"), analysis::num::time_text(mean));
    assert!(figure.contains(words) && figure.contains(&value), "{value}");
}

/// Nothing may break where there is nothing to show.
#[test]
fn a_run_without_packets_still_has_figures() {
    let full = run(WITH);
    let config = Arc::clone(&full.config);
    let collector =
        analysis::Collector::new(&analysis::CollectorConfig::new(&config, crate::synthetic::LENGTH));
    let empty = RunData {
        collector,
        outcome: models::Outcome { ports: full.outcome.ports.clone(), ..models::Outcome::default() },
        ..full
    };
    let figures = all(&caption(), &[VariantReport::new(empty)]);
    write("figures-empty", &figures);
    // All but goodput: nobody asked for anything, and nothing came.
    assert_eq!(figures.len(), 6);
    assert!(figures.iter().all(|figure| figure.name != "goodput"));
}

/// Many flows and long names: the layout must hold.
#[test]
fn one_variant_with_many_flows() {
    let mut data = run(WITHOUT);
    let mut config = (*data.config).clone();
    config.flows = (0..9).map(|n| FlowConfig { name: format!("tenant {n} bulk transfers") }).collect();
    let mut collector =
        analysis::Collector::new(&analysis::CollectorConfig::new(&config, crate::synthetic::LENGTH));
    for (index, mut delivery) in crate::synthetic::deliveries(WITHOUT, 3).into_iter().enumerate() {
        delivery.flow = (index * index % 9) as u16;
        models::Probe::delivered(&mut collector, &delivery);
    }
    data.config = Arc::new(config);
    data.collector = collector;
    data.name = "a variant with a name that is much longer than anybody should choose".into();
    let figures = all(&caption(), &[VariantReport::new(data)]);
    write("figures-many", &figures);
    // Flows 0, 1, 4 and 7 carry something; the others have no bar.
    assert!(figures[0].svg.contains("tenant 7") && !figures[0].svg.contains("tenant 8"));
}
