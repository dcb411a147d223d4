//! Order: what backpressure releases comes out as it went in.
use crate::common::*;
use models::config::*;
use sim_core::Duration;

/// Two switches; the first stages by the ports of the second. While the queue of port 1 is stopped, packets
/// for ports 1 and 0 alternate in one input.
///
/// Proves: VOQ-4.3-7
#[test]
fn a_stopped_queue_keeps_its_order_behind_packets_of_another_queue() {
    let mut net = Net::new(vec![switch(2), switch(3)], &[0, 1, 1], &[(0, 1)]);
    let detector = Detector { x_on: 3, x_off: 1, verdict: Verdict::PerIngress };
    net.backpressure(&StagingConfig::PerPort, Some(detector));
    net.endpoint_mut(0).staging = StagingConfig::None;
    net.buffers(40);
    net.slow(2, 8);
    // The trunk is the slowest but one: packets wait for it.
    net.config.links[3].char_ps.0 *= 2;
    let interval = (T * 3, 2);
    let both = Destinations::Cycle(std::sync::Arc::new(vec![2, 1]));
    net.source(0, 0, Arrivals::Constant { interval, phase: Duration(0) }, both);
    let (log, outcome) = net.run(2_000 * T);
    assert!(totals(&outcome, 3, 1).xoff_edges > 10, "the trunk stages");
    log.assert_order();
}
