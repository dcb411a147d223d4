//! Smaller fabrics with the same fault, and a fabric in few lines.

use crate::generate::Case;
use crate::{Difference, compare};
use models::config::*;
use sim_core::Duration;

/// Takes away what the difference does not need.
pub fn shrink(mut case: Case, mut found: Difference) -> (Case, Difference) {
    let mut tries = 0;
    let mut attempt = |case: &mut Case, found: &mut Difference, change: &dyn Fn(&mut Case)| {
        let mut smaller = case.clone();
        change(&mut smaller);
        tries += 1;
        if tries > 600 {
            return false;
        }
        match compare(&smaller) {
            Err(next) if next.panic.is_some() == found.panic.is_some() => {
                (*case, *found) = (smaller, next);
                true
            }
            _ => false,
        }
    };
    for _ in 0..3 {
        if found.panic.is_none() {
            let until = found.at;
            attempt(&mut case, &mut found, &|c| c.until = until);
        }
        let mut source = case.config.sources.len();
        while source > 0 {
            source -= 1;
            attempt(&mut case, &mut found, &|c| {
                c.config.sources.remove(source);
            });
        }
        for source in 0..case.config.sources.len() {
            for limit in [1, 2, 3, 5, 8, 13, 21] {
                let now = case.config.sources[source].limit;
                if limit < now && attempt(&mut case, &mut found, &|c| c.config.sources[source].limit = limit)
                {
                    break;
                }
            }
            attempt(&mut case, &mut found, &|c| c.config.sources[source].priority = 0);
            attempt(&mut case, &mut found, &|c| {
                let source = &mut c.config.sources[source];
                if let Sizes::Mix(sizes) = &source.sizes {
                    source.sizes = Sizes::Fixed(sizes[0].1);
                }
            });
        }
        attempt(&mut case, &mut found, &|c| c.config.shake = 0);
        attempt(&mut case, &mut found, &|c| c.config.symbol_losses.clear());
        attempt(&mut case, &mut found, &|c| c.config.voq_writes.clear());
        let mut write = case.config.voq_writes.len();
        while write > 0 {
            write -= 1;
            attempt(&mut case, &mut found, &|c| {
                c.config.voq_writes.remove(write);
            });
        }
        attempt(&mut case, &mut found, &|c| c.config.symbolic.clear());
        for device in 0..case.config.devices.len() {
            attempt(&mut case, &mut found, &|c| {
                c.config.devices[device].ports.iter_mut().for_each(|p| p.voq = PortVoq::default());
            });
            attempt(&mut case, &mut found, &|c| {
                c.config.devices[device].ports.iter_mut().for_each(|p| p.buffers = 40);
            });
            let changes: [fn(&mut SwitchConfig); 15] = [
                |s| s.port_rules.clear(),
                |s| s.leave_out_stopped = false,
                |s| s.queue_quota = None,
                |s| s.detector = None,
                |s| s.refresh = None,
                |s| s.generation_delay = Duration(0),
                |s| s.staging = StagingConfig::None,
                |s| s.slot = None,
                |s| s.pipeline = Duration(100_000),
                |s| s.forwarding = Forwarding::StoreAndForward,
                |s| s.arbitration = Arbitration::RoundRobin,
                |s| s.reads_per_input = 1,
                |s| s.buffering = Buffering::Direct,
                |s| s.input = InputQueueing::Voq,
                |s| s.routes.masks.iter_mut().for_each(|mask| *mask &= PortSet::of(0)),
            ];
            for change in changes {
                attempt(&mut case, &mut found, &|c| {
                    if let DeviceModel::Switch(s) = &mut c.config.devices[device].model {
                        change(s);
                    }
                });
            }
            attempt(&mut case, &mut found, &|c| {
                if let DeviceModel::Endpoint(e) = &mut c.config.devices[device].model {
                    e.staging = StagingConfig::None;
                }
            });
        }
        for link in 0..case.config.links.len() {
            attempt(&mut case, &mut found, &|c| {
                let link = &mut c.config.links[link];
                (link.char_ps, link.lanes, link.symbol_chars) = ((400, 1), 4, 8);
                (link.long_symbols, link.ack_window) = (true, 63);
            });
            attempt(&mut case, &mut found, &|c| c.config.links[link].propagation = Duration(40_000));
            attempt(&mut case, &mut found, &|c| c.config.links[link].ack_window = 4_095);
        }
    }
    (case, found)
}

/// A device in few words.
pub fn device(device: &DeviceConfig) -> String {
    match &device.model {
        DeviceModel::Endpoint(e) => format!("endpoint {:?}", e.staging),
        DeviceModel::Switch(s) => format!(
            "switch {:?} {:?} {:?} slot {:?} reads {} {:?} {:?} refresh {:?}",
            s.input,
            s.buffering,
            s.arbitration,
            s.slot.is_some(),
            s.reads_per_input,
            s.forwarding,
            s.detector,
            s.refresh.is_some()
        ),
    }
}

/// A fabric in few lines.
pub fn compact(case: &Case) -> String {
    let config = &case.config;
    let mut text =
        format!("fabric {} until {} seed {} shake {}\n", case.number, case.until, config.seed, config.shake);
    for (n, device) in config.devices.iter().enumerate() {
        let ports: Vec<String> = device
            .ports
            .iter()
            .map(|p| {
                let v = p.voq;
                let bits = [(v.gen_sup, 'g'), (v.rx_sup, 'r'), (v.gen_en, 'e'), (v.part, 'p'), (v.xoff, 'x')];
                let bits: String = bits.iter().filter(|b| b.0).map(|b| b.1).collect();
                format!("{}/{:?}/{bits}", p.buffers, p.watermarks)
            })
            .collect();
        match &device.model {
            DeviceModel::Endpoint(e) => {
                text += &format!("  {n} endpoint {:?} table {:?} ports {ports:?}\n", e.staging, e.next_hop);
            }
            DeviceModel::Switch(s) => {
                text += &format!(
                    "  {n} switch {:?} {:?} {:?} slot {:?} reads {} {:?} pipeline {} {:?} refresh {:?} \
                        delay {} \
                     staging {:?}\n    ports {ports:?}\n",
                    s.input,
                    s.buffering,
                    s.arbitration,
                    s.slot.map(|s| s.0),
                    s.reads_per_input,
                    s.forwarding,
                    s.pipeline.0,
                    s.detector,
                    s.refresh.map(|r| r.0),
                    s.generation_delay.0,
                    s.staging
                );
                let routes: Vec<String> =
                    s.routes.entries.iter().map(|r| format!("{:?}>{}", r.egress, r.next_hop)).collect();
                text += &format!(
                    "    routes {routes:?} masks {:?} {:?}\n",
                    s.routes.masks, s.routes.mask_next_hops
                );
            }
        }
    }
    for (n, l) in config.links.iter().enumerate() {
        text += &format!(
            "  link {n} {:?} - {:?} char {:?} x{} symbol {} long {} window {} propagation {}\n",
            l.a, l.b, l.char_ps, l.lanes, l.symbol_chars, l.long_symbols, l.ack_window, l.propagation.0
        );
    }
    for s in &config.symbolic {
        text += &format!("  symbolic {} {:?} throughout {}\n", s.link, s.flow, s.throughout);
    }
    for loss in &config.symbol_losses {
        text += &format!("  {loss:?}\n");
    }
    for write in &config.voq_writes {
        text += &format!("  {write:?}\n");
    }
    for (n, s) in config.sources.iter().enumerate() {
        text += &format!(
            "  source {n} at {} flow {} priority {} from {} to {} limit {} {:?} {:?} {:?}\n",
            s.endpoint, s.flow, s.priority, s.start.0, s.stop.0, s.limit, s.arrivals, s.destinations, s.sizes
        );
    }
    text
}
