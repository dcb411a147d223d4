//! Requirements: each verdict by hand.

use crate::report::run_of;
use crate::synthetic::{LENGTH, WITH, plain, run};
use analysis::require::{Verdict, Wrong, judge, requirement};
use analysis::requirement::{Dimension, Limit, Relation, Requirement, Subjects};
use analysis::sweep::{measure, metric};
use analysis::{Summary, VariantReport, Warmup, table};

fn require(
    subjects: Subjects,
    metric: &str,
    relation: Relation,
    value: f64,
    dimension: Dimension,
) -> Result<Requirement, Wrong> {
    requirement(subjects, metric, Limit { text: format!("{value}"), relation, value, dimension })
}

/// What becomes of a requirement of the first flow.
fn verdict(report: &VariantReport, metric: &str, relation: Relation, value: f64, of: Dimension) -> Verdict {
    let one = require(Subjects::Flows(vec![0]), metric, relation, value, of).expect("a metric");
    let report = VariantReport { required: vec![one], ..report.clone() };
    judge(&report)[0].verdict
}

/// n packets of 1 ns, 2 ns, ... n ns.
fn ladder(n: u64) -> VariantReport {
    let packets: Vec<_> = (1..=n).map(|i| plain(1_000_000 * i, 1_000 * i, 0)).collect();
    VariantReport::new(run_of(&packets, Warmup::Fixed(0), LENGTH.0))
}

/// q^n <= 0.025 takes 368 packets for p99: not one less tells it. A mean takes one, a maximum likewise.
#[test]
fn a_percentile_needs_values_beyond_it() {
    use Dimension::Time;
    for (packets, wanted) in [(367, Verdict::NotEnough), (368, Verdict::Pass)] {
        let report = ladder(packets);
        assert_eq!(verdict(&report, "p99", Relation::Below, 1e6, Time), wanted, "{packets}");
        assert_eq!(verdict(&report, "latency_p99", Relation::Below, 1e6, Time), wanted);
        // by symmetry as many below a percentile of 1
        assert_eq!(verdict(&report, "p1", Relation::Below, 1e6, Time), wanted);
        assert_eq!(verdict(&report, "p99.9", Relation::Below, 1e6, Time), Verdict::NotEnough);
        // the largest of n packets is n ns
        let most = packets as f64 * 1e3;
        assert_eq!(verdict(&report, "max", Relation::AtMost, most, Time), Verdict::Pass);
        assert_eq!(verdict(&report, "max", Relation::Below, most, Time), Verdict::Fail);
        // their mean is (n + 1) / 2 ns
        assert_eq!(verdict(&report, "mean", Relation::Equal, (most + 1e3) / 2.0, Time), Verdict::Pass);
        assert_eq!(verdict(&report, "message_mean", Relation::Below, 1e9, Time), Verdict::NotEnough);
    }
    // Half of 400 packets take 200 ns or less; the histogram has steps of 64 or 128 ps there, and a limit
    // within the step holds.
    let report = ladder(400);
    for (relation, limit, wanted) in [
        (Relation::AtLeast, 200e3, Verdict::Pass),
        (Relation::AtMost, 200e3, Verdict::Pass),
        (Relation::Equal, 200e3, Verdict::Pass),
        (Relation::AtMost, 199.8e3, Verdict::Fail),
        (Relation::Equal, 199.8e3, Verdict::Fail),
        (Relation::AtLeast, 200.2e3, Verdict::Fail),
    ] {
        assert_eq!(verdict(&report, "p50", relation, limit, Time), wanted, "{relation:?} {limit}");
    }
}

/// What a scenario's users ask for has the times that are required, and not what carries it. The first OPEN
/// is lost, and comes again after 250 ms: so all three PDUs take that long, though no message takes 1 us. A
/// message of LINX of 60 000 octets is 250 frames of 240 octets and more, which take 110.4 ns each one after
/// the other, but each a fraction of that. Five of them tell no p99, whatever their frames are. A Transfer of
/// 1 MiB takes 0.42 ms at 20 Gb/s, and each of its frames some microseconds.
#[test]
fn users_wait_for_what_they_ask_for() {
    use Dimension::Time;
    let of = |flow: &str, until: &str| {
        let text = format!(
            r#"{{"name": "users", "topology": {{"single_switch": {{"ports": 2}}}},
            "run": {{"until": "{until}", "warmup": "0 ps", "sample_every": "off"}},
            "traffic": [{{"name": "f", "from": "ep/0", "to": "ep/1", {flow}}}]}}"#
        );
        crate::truths::run(&text, "users").remove(0)
    };
    let every = |interval: &str| {
        format!(r#""arrivals": {{"constant": {{"interval": "{interval}", "phase": "0 ps"}}}}"#)
    };
    let lost = r#""session": {"faults": [{"from": "ep/0", "to": "ep/1",
        "message": "open", "nth": 1, "fate": "lose"}]}"#;
    let pdus = of(&format!(r#""size": 64, "limit": 3, {lost}, {}"#, every("1 us")), "10 s");
    let linx = |reply: &str| {
        let own = format!(r#""linx": {{{reply}}}, "size": 60000, "limit": 5, "start": "1 ms""#);
        of(&format!("{own}, {}", every("1 ms")), "20 ms")
    };
    let transfer = of(r#""st": {"bytes": 1048576, "count": 2}"#, "10 ms");
    for (report, most, least) in [
        (pdus, 251e9, 249e9),
        (linx(""), 38e6, 250.0 * 110_400.0),
        (linx(r#""reply": 60000"#), 76e6, 500.0 * 110_400.0),
        (transfer, 1e9, 0.42e9),
    ] {
        for metric in ["mean", "max"] {
            let is = |relation, limit| verdict(&report, metric, relation, limit, Time);
            let found = [is(Relation::Below, most), is(Relation::Above, least), is(Relation::Below, least)];
            let said = table::variant(&report);
            assert_eq!(found, [Verdict::Pass, Verdict::Pass, Verdict::Fail], "{metric}: {said}");
        }
        assert_eq!(verdict(&report, "p99", Relation::Below, most, Time), Verdict::NotEnough);
        assert_eq!(verdict(&report, "message_mean", Relation::Below, least, Time), Verdict::Pass);
    }
}

#[test]
fn each_relation_is_what_its_sign_says() {
    use Relation::{Above, AtLeast, AtMost, Below, Equal};
    let report = ladder(10);
    for (relation, verdicts) in [
        (Below, [false, false, true]),
        (AtMost, [false, true, true]),
        (Equal, [false, true, false]),
        (AtLeast, [true, true, false]),
        (Above, [true, false, false]),
    ] {
        let found = [9e3, 10e3, 11e3].map(|limit| verdict(&report, "max", relation, limit, Dimension::Time));
        let wanted = verdicts.map(|holds| if holds { Verdict::Pass } else { Verdict::Fail });
        assert_eq!(found, wanted, "{relation:?}");
    }
}

/// Packets of 1 ns arrived, and one is under way for 5 us: the maximum is more than that, whatever comes
/// of it. A limit above says nothing yet, and is judged by what arrived; if nothing did, nothing is known.
#[test]
fn what_is_under_way_takes_longer_than_it_has_taken() {
    use Dimension::Time;
    use Relation::{Above, AtLeast, AtMost, Below, Equal};
    use Verdict::{Fail, NotEnough, Pass};
    let oldest = models::sim_core::Time(LENGTH.0 - 5_000_000);
    let left = models::stats::FlowLeft {
        packets: 1,
        to_arrive: 1,
        oldest_packet: Some(oldest),
        ..Default::default()
    };
    let arrived = [plain(1_000_000, 1_000, 0), plain(2_000_000, 1_000, 0)];
    let with = |packets: &[_]| {
        let mut data = run_of(packets, Warmup::Fixed(0), LENGTH.0);
        data.outcome.left = vec![left; 2];
        VariantReport::new(data)
    };
    let (some, none) = (with(&arrived), with(&[]));
    for (relation, limit, of_some, of_none) in [
        (Below, 1e6, Fail, Fail),
        (Below, 5e6, Fail, Fail),
        (AtMost, 4e6, Fail, Fail),
        (Equal, 1e6, Fail, Fail),
        (AtLeast, 5e6, Pass, Pass),
        (Above, 1e6, Pass, Pass),
        (Below, 6e6, Pass, NotEnough),
        (AtMost, 5e6, Pass, NotEnough),
    ] {
        for metric in ["max", "latency_max"] {
            let found = [&some, &none].map(|report| verdict(report, metric, relation, limit, Time));
            assert_eq!(found, [of_some, of_none], "{metric} {relation:?} {limit}");
        }
    }
    // from the first bit on the link on it may be younger
    assert_eq!(verdict(&some, "network_latency_max", Below, 1e6, Time), Pass);
    let one = require(Subjects::Flows(vec![0]), "max", Below, 1e6, Time).unwrap();
    let judged = &judge(&VariantReport { required: vec![one], ..some })[0];
    assert!(
        judged.line().ends_with(": more than 5.00 \u{b5}s, as one is under way for so long"),
        "{judged:?}"
    );
}

/// Packets under way at the end are no loss; a drop is one.
#[test]
fn delivered_is_what_arrived_of_what_was_due() {
    let mut data =
        run_of(&[plain(1_000_000, 1_000, 0), plain(2_000_000, 1_000, 0)], Warmup::Fixed(0), LENGTH.0);
    data.outcome.left = vec![models::stats::FlowLeft { packets: 2, to_arrive: 2, ..Default::default() }; 2];
    let share = |data: &analysis::RunData, relation, value| {
        verdict(&VariantReport::new(data.clone()), "delivered", relation, value, Dimension::Share)
    };
    assert_eq!(share(&data, Relation::Equal, 1.0), Verdict::Pass);
    data.outcome.left.clear();
    data.collector = {
        let mut collector = data.collector.clone();
        models::probe::Probe::dropped(
            &mut collector,
            &models::probe::Dropped {
                at: models::sim_core::Time(3_000_000),
                flow: 0,
                device: 0,
                members: 1,
                reason: models::probe::DropReason::NoRoom,
            },
        );
        collector
    };
    assert_eq!(share(&data, Relation::Equal, 1.0), Verdict::Fail);
    assert_eq!(share(&data, Relation::Below, 0.67), Verdict::Pass);
}

/// What is required is what is shown: summary, terminal and sweep say the same.
#[test]
fn verdicts_are_told_everywhere() {
    let mut report = VariantReport::new(run(WITH));
    assert!(!Summary::new("s", std::slice::from_ref(&report)).to_json().contains("\"require\""));
    let column = |name: &str| metric(name).expect("a metric");
    assert_eq!(measure(&report)[0].value(column("required_fail")), None);
    let flows = || Subjects::Flows(vec![0, 1]);
    let link = Subjects::Links(vec![(0, "sw:0-ep/0".into())]);
    report.required = vec![
        require(flows(), "goodput", Relation::Above, 0.0, Dimension::Rate).unwrap(),
        require(flows(), "max", Relation::Below, 1.0, Dimension::Time).unwrap(),
        require(link, "use", Relation::AtMost, 1.0, Dimension::Share).unwrap(),
    ];
    let summary: serde_json::Value =
        serde_json::from_str(&Summary::new("s", std::slice::from_ref(&report)).to_json()).unwrap();
    let told = summary["variants"][0]["require"].as_array().unwrap();
    let verdicts: Vec<&str> = told.iter().map(|one| one["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["PASS", "PASS", "FAIL", "FAIL", "PASS"]);
    let flow = &summary["variants"][0]["flows"][0];
    assert_eq!(told[0]["measured"], flow["goodput_gbps"]["value"]);
    assert_eq!(told[2]["measured"], flow["latency_ns"]["max"]);
    let text = table::variant(&report);
    assert_eq!(text.matches("FAIL: flow ").count(), 2, "{text}");
    let rows = measure(&report);
    let value = |row: usize, name: &str| rows[row].value(column(name));
    assert_eq!((value(0, "required_pass"), value(0, "required_fail")), (Some(3.0), Some(2.0)));
    assert_eq!((value(1, "required_pass"), value(1, "required_fail")), (Some(1.0), Some(1.0)));
    assert_eq!(value(0, "required_unknown"), Some(0.0));
}

/// The busier direction of a link counts: ports 0 of ep/0 and of the switch carried 1 ms and 1.3 ms of 2 ms.
#[test]
fn links_are_judged_by_their_busier_direction() {
    let mut report = VariantReport::new(run(WITH));
    let link = report.run.config.links[0].clone();
    let carried =
        |end| report.run.outcome.ports.iter().find(|port| (port.0, port.1) == end).unwrap().2.packet_ps;
    let most = carried(link.a).max(carried(link.b)) as f64 / report.active_ps() as f64;
    assert!(carried(link.a) != carried(link.b));
    let links = Subjects::Links(vec![(0, "one".into())]);
    report.required = vec![require(links, "use", Relation::Equal, most, Dimension::Share).unwrap()];
    let judged = judge(&report);
    assert_eq!((judged[0].verdict, judged[0].measured), (Verdict::Pass, most));
}

#[test]
fn metrics_and_units_that_are_not_there_are_refused() {
    use Dimension::{Number, Rate, Share, Time};
    let flows = || Subjects::Flows(vec![0]);
    let links = || Subjects::Links(vec![(0, "l".into())]);
    let wrong = |subjects, name, dimension| require(subjects, name, Relation::Below, 1.0, dimension).err();
    for name in ["p", "p0", "p100", "p+9", "latency", "use", "pfail", "hol_p99", "goodput_gbps"] {
        let Some(Wrong::Metric(names)) = wrong(flows(), name, Time) else { panic!("{name} is no metric") };
        assert!(names.iter().any(|known| known == "goodput"), "{names:?}");
    }
    assert_eq!(wrong(links(), "p99", Time), Some(Wrong::Metric(vec!["use".into()])));
    for (name, dimension) in
        [("p99", Share), ("goodput", Time), ("delivered", Rate), ("dropped_packets", Share)]
    {
        assert!(matches!(wrong(flows(), name, dimension), Some(Wrong::Unit(_))), "{name}");
    }
    for (name, dimension) in [
        ("p99.99", Time),
        ("network_latency_p75", Time),
        ("round_trip_max", Time),
        ("part_hol_blocking", Time),
        ("accepted_load", Share),
        ("accepted_load", Number),
        ("false_timeouts", Number),
        ("detection_mean", Time),
        ("dropped_packets", Number),
    ] {
        assert_eq!(wrong(flows(), name, dimension), None, "{name}");
    }
}
