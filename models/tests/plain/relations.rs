//! What must not change, over the same random fabrics: times when all of them are doubled, anything when
//! devices are numbered otherwise, anything when something is added that nobody uses.

use crate::generate::{Case, case};
use crate::laws::ordinary_switch;
use crate::record::{self, Record};
use models::config::*;
use models::run::Partition;
use sim_core::{Duration, Stream, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Fabrics for each relation.
const FABRICS: u64 = 120;

fn records(config: &FabricConfig, until: u64) -> Vec<Record> {
    record::fast(config, until)
}

fn assert_equal(case: &Case, what: &str, one: &[Record], other: &[Record]) {
    if let Some(at) = one.iter().zip(other).position(|(a, b)| a != b) {
        panic!("fabric {}: {what}: {:?} became {:?}", case.number, one[at], other[at]);
    }
    assert_eq!(one.len(), other.len(), "fabric {}: {what}", case.number);
}

/// Makes every time of a fabric one that doubles exactly: no fractions of a picosecond, and no draws of
/// times.
fn exact(config: &mut FabricConfig) {
    for link in &mut config.links {
        link.char_ps = (link.char_ps.0 / link.char_ps.1, 1);
    }
    for source in &mut config.sources {
        source.arrivals = match std::mem::replace(&mut source.arrivals, Arrivals::Saturated { backlog: 1 }) {
            Arrivals::Poisson { mean } => Arrivals::Bernoulli { slot: mean, numerator: 2, denominator: 3 },
            Arrivals::OnOff { interval, .. } => {
                Arrivals::Constant { interval: (interval.0, 1), phase: Duration(7) }
            }
            Arrivals::Constant { interval, phase } => {
                Arrivals::Constant { interval: (interval.0 / interval.1, 1), phase }
            }
            other => other,
        };
    }
}

/// Everything takes twice as long.
fn doubled(mut config: FabricConfig) -> FabricConfig {
    let twice = |time: &mut Duration| time.0 *= 2;
    let later = |time: &mut Time| time.0 = time.0.saturating_mul(2);
    for device in &mut config.devices {
        if let DeviceModel::Switch(switch) = &mut device.model {
            twice(&mut switch.pipeline);
            twice(&mut switch.generation_delay);
            switch.slot.iter_mut().for_each(twice);
            switch.refresh.iter_mut().for_each(twice);
            for rules in &mut switch.port_rules {
                twice(&mut rules.generation_delay);
                rules.refresh.iter_mut().for_each(twice);
            }
        }
        device.ports.iter_mut().for_each(|port| twice(&mut port.voq.obey));
    }
    config.voq_writes.iter_mut().for_each(|write| later(&mut write.at));
    for link in &mut config.links {
        link.char_ps.0 *= 2;
        twice(&mut link.propagation);
    }
    for link in &mut config.symbolic {
        twice(&mut link.timeout);
        twice(&mut link.status_period);
        if let Some(refresh) = link.channels.as_mut().and_then(|channels| channels.refresh.as_mut()) {
            twice(refresh);
        }
    }
    for source in &mut config.sources {
        later(&mut source.start);
        later(&mut source.stop);
        match &mut source.arrivals {
            Arrivals::Bernoulli { slot, .. } => twice(slot),
            Arrivals::Constant { interval, phase } => {
                interval.0 *= 2;
                twice(phase);
            }
            Arrivals::Replay(packets) => {
                Arc::make_mut(packets).iter_mut().for_each(|packet| later(&mut packet.at));
            }
            _ => {}
        }
    }
    config
}

/// A record with its times halved.
fn halved(record: &Record) -> Record {
    let half = |time: u64| {
        assert!(time.is_multiple_of(2), "{record:?}");
        time / 2
    };
    let parts = |mut parts: models::probe::Parts| {
        parts.causes.iter_mut().for_each(|part| *part = half(*part));
        parts.source = half(parts.source);
        parts
    };
    let mut new = *record;
    match &mut new {
        Record::Created { at, .. } | Record::Edge { at, .. } | Record::Dropped { at, .. } => *at = half(*at),
        Record::Started { at, until, parts: all, .. } => {
            (*at, *until, *all) = (half(*at), half(*until), parts(*all));
        }
        Record::Delivered { at, created, link_ps, parts: all, .. } => {
            (*at, *created, *link_ps, *all) = (half(*at), half(*created), half(*link_ps), parts(*all));
        }
        Record::Link { at, totals, .. } => {
            *at = half(*at);
            (totals[4], totals[5]) = (half(totals[4]), half(totals[5]));
        }
        Record::Totals { at, totals, .. } => {
            *at = half(*at);
            for time in record::TIMES {
                totals[time] = half(totals[time]);
            }
        }
    }
    new
}

#[test]
fn twice_the_time_scale_twice_the_times() {
    for number in 0..FABRICS {
        let mut case = case(number);
        exact(&mut case.config);
        let once = records(&case.config, case.until);
        let twice: Vec<Record> =
            records(&doubled(case.config.clone()), 2 * case.until).iter().map(halved).collect();
        assert_equal(&case, "doubled", &once, &twice);
    }
}

/// F-27: a transmitter carries packets and symbols one after the other, so both together take no longer than
/// the run, wherever that ends.
#[test]
fn no_port_is_busy_for_longer_than_the_run() {
    let mut cut = 0;
    for number in 0..FABRICS {
        let case = case(number);
        for part in 1..=8 {
            let until = case.until * part / 8 + part;
            for record in records(&case.config, until) {
                let Record::Totals { at, totals: [_, packets, symbols, ..], .. } = record else { continue };
                assert!(packets + symbols <= at, "fabric {number} up to {until}: {record:?}");
                cut += usize::from(packets + symbols == at);
            }
        }
    }
    assert!(cut > 0, "no port is busy all the time");
}

/// A fabric as `config`, with endpoints and switches numbered from the other end.
fn renumbered(config: &FabricConfig) -> (FabricConfig, Vec<u32>) {
    let endpoints =
        config.devices.iter().filter(|d| matches!(d.model, DeviceModel::Endpoint(_))).count() as u32;
    let all = config.devices.len() as u32;
    let new: Vec<u32> =
        (0..all).map(|d| if d < endpoints { endpoints - 1 - d } else { endpoints + all - 1 - d }).collect();
    let to = |device: u32| new[device as usize];
    let mut changed = config.clone();
    for (old, device) in config.devices.iter().enumerate() {
        changed.devices[new[old] as usize] = device.clone();
    }
    for link in &mut changed.links {
        (link.a.0, link.b.0) = (to(link.a.0), to(link.b.0));
    }
    changed.owners.iter_mut().filter(|owner| **owner != NO_OWNER).for_each(|owner| *owner = to(*owner));
    changed.sources.iter_mut().for_each(|source| source.endpoint = to(source.endpoint));
    changed.symbol_losses.iter_mut().for_each(|loss| loss.device = to(loss.device));
    changed.voq_writes.iter_mut().for_each(|write| write.device = to(write.device));
    (changed, new)
}

/// Instants at which two devices act at once are served in the order of their numbers; with propagations and
/// phases of their own there are none.
fn apart(case: &mut Case) {
    let mut draw = Stream::new(case.number, "relations", sim_core::Purpose(1_001));
    for link in &mut case.config.links {
        link.propagation.0 += 1 + draw.below(40_000);
    }
    for source in &mut case.config.sources {
        source.start.0 += 1 + draw.below(100_000);
        source.stop.0 = source.stop.0.saturating_add(100_000);
    }
}

#[test]
fn other_numbers_of_devices_change_nothing() {
    for number in 0..FABRICS {
        let mut case = case(number);
        apart(&mut case);
        // A cell clock ticks everywhere at once.
        if case.config.devices.iter().any(|d| matches!(&d.model, DeviceModel::Switch(s) if s.slot.is_some()))
        {
            continue;
        }
        let before = records(&case.config, case.until);
        let (config, new) = renumbered(&case.config);
        let mut old = vec![0; new.len()];
        new.iter().enumerate().for_each(|(before, &after)| old[after as usize] = before as u32);
        let mut after = records(&config, case.until);
        for record in &mut after {
            match record {
                Record::Created { id, .. } => id.source = old[id.source as usize],
                Record::Started { device, id, .. } => {
                    *device = old[*device as usize];
                    id.source = old[id.source as usize];
                }
                Record::Edge { device, .. }
                | Record::Dropped { device, .. }
                | Record::Link { device, .. }
                | Record::Totals { device, .. } => {
                    *device = old[*device as usize];
                }
                Record::Delivered { source, destination, .. } => {
                    *source = old[*source as usize];
                    *destination = old[*destination as usize];
                }
            }
        }
        after.sort();
        assert_equal(&case, "renumbered", &before, &after);
    }
}

/// Two more endpoints, with a link of their own that they fill, and a switch that is linked to nobody. It has
/// so many ports that all sets of ports are wider.
fn with_strangers(config: &FabricConfig) -> FabricConfig {
    let mut changed = config.clone();
    let Some(like) = config.sources.iter().find(|source| !matches!(source.sizes, Sizes::Replay)) else {
        return changed;
    };
    let first = changed.devices.len() as u32;
    let (id, flow) = (changed.id_space, changed.flows.len() as u16);
    changed.id_space += 2;
    changed.flows.push(FlowConfig { name: "strangers".into() });
    for n in 0..2 {
        changed.owners.push(first + n);
        changed.devices.push(DeviceConfig {
            path: format!("x{n}"),
            ports: vec![PortConfig { buffers: 8, watermarks: [4, 3, 2], voq: PortVoq::default() }],
            model: DeviceModel::Endpoint(EndpointConfig {
                ids: vec![id + n],
                staging: StagingConfig::None,
                next_hop: Arc::default(),
            }),
        });
        changed.sources.push(SourceConfig {
            endpoint: first + n,
            flow,
            stream: format!("strangers {n}"),
            priority: 0,
            start: Time::ZERO,
            stop: Time::MAX,
            goes_on: false,
            limit: u64::MAX,
            arrivals: Arrivals::Saturated { backlog: 2 },
            destinations: Destinations::Fixed(id + 1 - n),
            sizes: like.sizes.clone(),
            ftype: like.ftype,
        });
    }
    changed.devices.push(DeviceConfig {
        path: "x2".into(),
        ports: vec![PortConfig { buffers: 8, watermarks: [4, 3, 2], voq: PortVoq::default() }; 65],
        model: DeviceModel::Switch(ordinary_switch(RouteTable::default())),
    });
    changed.links.push(LinkConfig { a: (first, 0), b: (first + 1, 0), ..config.links[0].clone() });
    changed
}

#[test]
fn what_nobody_uses_changes_nothing() {
    let (mut strangers, mut detectors) = (0, 0);
    for number in 0..FABRICS {
        let case = case(number);
        let before = records(&case.config, case.until);
        let own = case.config.devices.len() as u32;

        let mut sampled = case.config.clone();
        sampled.sample_every = match sampled.sample_every {
            Some(_) => None,
            None => Some(Duration(case.until / 17)),
        };
        assert_equal(&case, "sampled", &before, &records(&sampled, case.until));

        let mut after = records(&with_strangers(&case.config), case.until);
        let all = after.len();
        after.retain(|record| match *record {
            Record::Created { id, .. } | Record::Started { id, .. } => id.source < own,
            Record::Delivered { source, .. } => source < own,
            Record::Edge { device, .. }
            | Record::Dropped { device, .. }
            | Record::Link { device, .. }
            | Record::Totals { device, .. } => device < own,
        });
        strangers += u32::from(after.len() < all);
        assert_equal(&case, "two strangers", &before, &after);

        // Detectors that never see enough, where nobody speaks of congestion.
        let mut detecting = case.config.clone();
        let channels = case.config.symbolic.iter().any(|link| link.channels.is_some());
        let quiet = !channels
            && case.config.devices.iter().all(|device| {
                device.ports.iter().all(|port| port.voq == PortVoq::default())
                    && !matches!(&device.model, DeviceModel::Switch(s) if s.detector.is_some())
            });
        if !quiet {
            continue;
        }
        for link in &case.config.links {
            for (device, port) in [link.a, link.b] {
                let voq = &mut detecting.devices[device as usize].ports[port as usize].voq;
                (voq.gen_sup, voq.gen_en, voq.part) = (true, link.long_symbols, true);
            }
        }
        for device in &mut detecting.devices {
            if let DeviceModel::Switch(switch) = &mut device.model {
                let verdict = if number % 2 == 0 { Verdict::Shared } else { Verdict::PerIngress };
                switch.detector = Some(Detector { x_on: u16::MAX, x_off: 0, verdict });
                detectors += 1;
            }
        }
        // Only a switch with a detector counts who is late for it.
        let nobody_late = |mut records: Vec<Record>| {
            for record in &mut records {
                if let Record::Totals { totals, .. } = record {
                    totals[record::LATE_HOL] = 0;
                }
            }
            records.sort();
            records
        };
        let detected = nobody_late(records(&detecting, case.until));
        assert_equal(&case, "detectors", &nobody_late(before), &detected);
    }
    assert!(u64::from(strangers) > FABRICS / 2 && detectors > FABRICS / 4, "{strangers}, {detectors}");
}

/// What a start tells of where the time went is all the time since the creation, also of packets that were
/// refused before.
/// However a fabric is cut, and on however many threads: the same.
#[test]
fn parts_change_nothing() {
    let (mut cuts, mut symbolic) = (0, 0);
    let count = std::env::var("RIOSIM_PARTS_COUNT").map_or(FABRICS, |text| text.parse().expect("a number"));
    for number in 0..count {
        let case = case(number);
        let before = records(&case.config, case.until);
        for lot in 0..2 {
            let Ok(cut) = Partition::by_lot(&case.config, 2 + lot as usize, number ^ lot) else { continue };
            let threads = 1 + (number + lot) as usize % 3;
            let after = record::parallel(&case.config, case.until, &cut, threads);
            assert_equal(&case, &format!("{cut:?} on {threads} threads"), &before, &after);
            cuts += 1;
            symbolic += usize::from(!case.config.symbolic.is_empty());
        }
    }
    assert!(
        cuts * 2 > count && symbolic * 20 > cuts as usize,
        "{cuts} cuts, {symbolic} beside symbolic links"
    );
}

#[test]
fn what_a_start_tells_adds_up() {
    let (mut starts, mut late) = (0, 0);
    for number in 0..FABRICS {
        let case = case(number);
        let records = records(&case.config, case.until);
        let mut created = BTreeMap::new();
        for record in &records {
            match *record {
                Record::Created { at, id, .. } => {
                    created.insert((id.source, id.origin, id.sequence), at);
                }
                Record::Started { id, until, parts, .. } => {
                    let since = created[&(id.source, id.origin, id.sequence)];
                    assert_eq!(parts.total(), until - since, "fabric {number}: {record:?}");
                    starts += 1;
                    late += u32::from(parts[models::probe::Cause::Recovery] > 0);
                }
                _ => {}
            }
        }
    }
    assert!(starts > 5_000 && late > 20, "{starts} starts, {late} of packets that were refused");
}
