//! Why one variant of the study `voq-radius` falls short of its law, window by window.

use models::probe::{PacketId, PacketStep, StagingEdge};
use models::sim_core::Time;
use models::{Probe, RunOptions, Watched};
use scenarios::load;

/// Starts and stops that matter, in picoseconds. Devices are named by their numbers in `names`.
#[derive(Default)]
struct Seen {
    names: Vec<String>,
    /// Starts at switch 3 into the link to switch 4; of these, hot packets.
    chain: Vec<(u64, bool)>,
    /// Starts of the first neighbour of the hot port.
    neighbour: Vec<u64>,
    /// Edges of the staging queue of switch 3 for the hot port, stopped or not.
    edges: Vec<(u64, bool)>,
}

impl Seen {
    fn is(&self, device: u32, name: &str) -> bool {
        self.names[device as usize] == name
    }
}

impl Probe for Seen {
    fn follows_packets(&self) -> bool {
        true
    }
    fn packet(&mut self, at: Time, id: PacketId, step: &PacketStep) {
        let &PacketStep::Started { device, port, .. } = step else { return };
        if self.is(device, "sw/3") && port == 1 {
            // The second flow of that device.
            let hot = self.is(id.source, "upstream") && id.origin == 1;
            self.chain.push((at.0, hot));
        } else if self.is(device, "other/1") {
            self.neighbour.push(at.0);
        }
    }
    fn staging_edge(&mut self, edge: &StagingEdge) {
        if self.is(edge.device, "sw/3") && (edge.port, edge.queue) == (1, 1) {
            self.edges.push((edge.at.0, edge.stopped));
        }
    }
}

/// The hot port of switch 4 lets all five that send there go at one instant and stops them together, a
/// window w later. Law: whose link idles at its begin starts packets at 0, T, 2 T ... before w, so `ceil(w
/// / T)`. The link of the chain carries victims, too: if one of them ends r after the begin, hot packets
/// start from there on, `ceil((w - r) / T)` of them. With w = 3.79 T a neighbour has four, and the chain
/// four, or three if a victim has begun a fifth of a packet before, or later. Windows of both kinds follow
/// each other, nearly in turn: of 19 and of 20 packets the chain has 3 and 4, so 7/39 of the port and not
/// 1/5.
#[test]
fn who_shares_its_link_with_victims_starts_late() {
    const T: u64 = 284 * 400;
    let text = std::fs::read_to_string("../voq-radius.json").expect("the study");
    let plan = load(&text, "voq-radius.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let variant = plan.variants.iter().find(|variant| variant.name == "shared-4").expect("a variant");
    let mut seen = Seen { names: variant.labels.devices.clone(), ..Seen::default() };
    let mut simulation = Watched::new(variant.config.clone(), RunOptions::default(), &mut seen);
    simulation.run(variant.until, u64::MAX);
    simulation.finish();
    let warm = seen.edges.iter().position(|&(at, stopped)| at > 200_000_000 && !stopped).unwrap();
    let (mut windows, mut late, mut chain) = (0, 0, 0);
    for pair in seen.edges[warm..].chunks_exact(2) {
        let [(begin, false), (end, true)] = *pair else { panic!("edges alternate: {pair:?}") };
        let within = |at: u64| (begin..end).contains(&at);
        let starts = |rest: u64| (end - begin - rest).div_ceil(T);
        let neighbour = seen.neighbour.iter().filter(|&&at| within(at)).count() as u64;
        assert_eq!(neighbour, starts(0), "at {begin}");
        let before = seen.chain.iter().rfind(|start| start.0 < begin).expect("there were others").0;
        let rest = (before + T).saturating_sub(begin);
        let hot = seen.chain.iter().filter(|&&(at, hot)| hot && within(at)).count() as u64;
        assert_eq!(hot, starts(rest), "at {begin}, {rest} ps late");
        (windows, late, chain) = (windows + 1, late + u64::from(hot < neighbour), chain + hot);
        assert_eq!(neighbour, 4);
    }
    let share = chain as f64 / (chain + 4 * 4 * windows) as f64;
    assert!(windows > 500 && (share - 7.0 / 39.0).abs() < 0.002, "{late} of {windows} are late: {share}");
}
