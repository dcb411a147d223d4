use super::*;
use crate::progress::Bars;
use crate::simulate::{self, Way};
use analysis::{Summary, VariantReport};
use models::Outcome;
use models::sim_core::Time;
use models::stats::PortStats;
use ratatui::backend::TestBackend;

fn plan(name: &str, set: &[(&str, serde_json::Value)]) -> RunPlan {
    let template = scenarios::templates().iter().find(|template| template.name == name).unwrap();
    let set: Vec<_> = set.iter().map(|(at, value)| ((*at).to_owned(), value.clone())).collect();
    scenarios::load(template.text, "template", &set).unwrap()
}

fn lines(terminal: &Terminal<TestBackend>) -> Vec<String> {
    let buffer = terminal.backend().buffer();
    let row = |y| (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..buffer.area.height).map(|y| row(y).trim_end().to_owned()).collect()
}

/// Totals at an instant: the first port has carried packets for so long, and has had so many stops and
/// releases.
fn totals(plan: &RunPlan, at: u64, packet_ps: u64, [xoff_edges, xon_edges]: [u64; 2]) -> Outcome {
    let config = &plan.variants[0].config;
    let stats = PortStats { packet_ps, xoff_edges, xon_edges, ..PortStats::default() };
    let ports = vec![(config.links[0].a.0, config.links[0].a.1, stats)];
    Outcome { end: Time(at), ports, injected: 1_200, delivered: 1_000, in_flight: 200, ..Outcome::default() }
}

/// 60 of the last 100 ns, although 10 of 100 before: the share is that since the look before.
#[test]
fn what_is_seen_is_drawn() {
    let plan = plan("hotspot", &[]);
    let config = &plan.variants[0].config;
    let mut sight = Sight::new("base");
    let second = Duration::from_secs(1);
    sight.update(config, &totals(&plan, 100_000, 10_000, [1, 0]), Time(400_000), second);
    assert_eq!(sight.links.iter().map(|link| link.1).collect::<Vec<_>>(), [0.1]);
    sight.update(config, &totals(&plan, 200_000, 70_000, [7, 4]), Time(400_000), second);
    // Nothing has happened since, not even time: what was seen stays.
    sight.update(config, &totals(&plan, 200_000, 70_000, [7, 4]), Time(400_000), second);
    sight.state = State::Running;
    assert_eq!((sight.share, sight.all_stopped), (0.5, (3, 1)));
    let mut first = Sight::new("first");
    first.state = State::Over;
    let sights = [first, sight];
    let mut terminal = Terminal::new(TestBackend::new(100, 20)).unwrap();
    terminal.draw(|frame| screen::draw(frame, "A hot spot", &sights)).unwrap();
    let drawn = lines(&terminal);
    assert_eq!(drawn[0], "A hot spot");
    assert_eq!(drawn[1], "1 of 2 variants are done, 1 runs now");
    assert!(drawn[2].starts_with("base ") && drawn[2].contains("50%"), "{drawn:#?}");
    assert!(drawn[2].ends_with("200 ns, 0 M events/s, up to 1 s left"), "{drawn:#?}");
    assert_eq!(drawn[4], "base: 1 200 packets created, 1 000 delivered, 0 dropped, 200 under way");
    let has = |words: &str| drawn.iter().any(|line| line.contains(words));
    let name = |(device, port): (u32, u8)| {
        let device = &config.devices[device as usize];
        if device.ports.len() > 1 { format!("{}:{port}", device.path) } else { device.path.clone() }
    };
    let link = &config.links[0];
    assert!(has(&format!("60 %   {} > {}", name(link.a), name(link.b))), "{drawn:#?}");
    assert!(has("Stopped queues: 3 at 1 ports"), "{drawn:#?}");
    assert!(has(&format!("3           7            {}", name(link.a))), "{drawn:#?}");
    assert_eq!(drawn[19], "Ctrl-C ends the run");
    // No size is too small to be drawn on.
    for (width, height) in [(1, 1), (20, 3), (300, 2)] {
        let mut small = Terminal::new(TestBackend::new(width, height)).unwrap();
        small.draw(|frame| screen::draw(frame, "A hot spot", &sights)).unwrap();
    }
}

/// A run that is watched at every slice gives the same bytes, on one thread and in parts.
#[test]
fn watching_changes_no_byte() {
    watched(&plan("hotspot", &[("/run/until", "20 ms".into())]), 1);
    let mut parts = plan("fat-tree", &[]);
    parts.variants.truncate(1);
    watched(&parts, 2);
}

fn watched(plan: &RunPlan, threads: usize) {
    let never = AtomicBool::new(false);
    let summary = |way: Way, onlooker: &dyn Onlooker| {
        let finished = simulate::all(plan, way, 1, onlooker, &never).unwrap();
        let reports: Vec<_> = finished.into_iter().map(|one| VariantReport::new(one.data)).collect();
        Summary::new(&plan.name, &reports).to_json()
    };
    let names = || plan.variants.iter().map(|variant| variant.name.as_str());
    let way = Way { threads, ..Way::default() };
    let watch = Watch::on(TestBackend::new(100, 30), plan, Duration::ZERO, || true).unwrap();
    assert_eq!(summary(way, &Bars::new(true, names())), summary(way, &watch));
    let board = watch.board();
    assert!(board.sights.iter().all(|sight| sight.state == State::Over && sight.packets[0] > 0));
    assert!(lines(&board.terminal).iter().any(|line| line.contains(" packets created, ")));
}
