//! The originator against a naive model of its state table: exhaustively for a small device, by random events
//! for larger ones. The model keeps sets of (port, channel, group), looks at every port for every event, and
//! shares no code with the originator but the numbers of the register bits.

use lp_serial::Form;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use voq_backpressure::csr::{GEN_EN, GEN_SUP, LINK_EN, LINK_SUP, PART, Support, XOFF};
use voq_backpressure::originator::{Options, Verdict};
use voq_backpressure::symbol::Vc;
use voq_backpressure::{ActiveVcs, Carrier, Opportunity, Originator};

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Model {
    ports: u16,
    options: Options,
    enables: Vec<u32>,
    support: Vec<u32>,
    /// (upstream, channel, egress)
    raw: BTreeSet<(u16, u8, u16)>,
    long: BTreeSet<u16>,
    dirty: BTreeSet<(u16, u8, u16)>,
    last: BTreeMap<(u16, u8), u16>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Congested(u16, bool),
    CongestedFor(u16, u16, bool),
    /// Of the channel with this position among the active ones.
    CongestedIn(u16, usize, u16, bool),
    Write(u16, u32),
    LinkUp(u16, Form),
    LinkDown(u16),
    Recovered(u16),
    Refresh(u16),
    Poll(u16, Carrier),
    Reset,
}

impl Model {
    fn new(support: &[Support], options: Options) -> Self {
        let bits = |support: &Support| {
            let generation = if support.generation { GEN_SUP } else { 0 };
            let linking = if support.linking { LINK_SUP } else { 0 };
            generation | linking
        };
        Self {
            ports: support.len() as u16,
            options,
            enables: vec![0; support.len()],
            support: support.iter().map(bits).collect(),
            raw: BTreeSet::new(),
            long: BTreeSet::new(),
            dirty: BTreeSet::new(),
            last: BTreeMap::new(),
        }
    }

    fn enabled(&self, port: u16, bit: u32) -> bool {
        self.enables[usize::from(port)] & bit != 0
    }

    fn transmits(&self, port: u16) -> bool {
        self.enabled(port, GEN_EN) && self.long.contains(&port)
    }

    /// What `upstream` is told for a channel.
    fn reported(&self, upstream: u16, channel: u8, egress: u16) -> bool {
        let linked = self.enabled(upstream, LINK_EN);
        let mut raw = self.raw.iter().filter(|&&(u, _, e)| (u, e) == (upstream, egress));
        let raw = raw.any(|&(_, vc, _)| !linked || vc == channel);
        self.enabled(egress, XOFF) || self.enabled(egress, PART) && raw
    }

    /// Channels in which verdicts may differ.
    fn told_apart(&self) -> Vec<u8> {
        let any = self.support.iter().any(|support| support & LINK_SUP != 0);
        self.options.vcs.iter().map(Vc::number).filter(|&number| any || number == 0).collect()
    }

    /// Where marks of a port are kept: one place, or one per channel.
    fn channels(&self, port: u16) -> Vec<u8> {
        if self.enabled(port, LINK_EN) { self.options.vcs.iter().map(Vc::number).collect() } else { vec![0] }
    }

    fn mark(&mut self, port: u16, group: u16) {
        for channel in self.channels(port) {
            self.dirty.insert((port, channel, group));
        }
    }

    fn mark_all(&mut self, port: u16) {
        for group in 0..self.ports.div_ceil(6) {
            self.mark(port, group);
        }
        self.last.retain(|&(owner, _), _| owner != port);
    }

    fn forget(&mut self, port: u16) {
        self.dirty.retain(|&(owner, ..)| owner != port);
        self.last.retain(|&(owner, _), _| owner != port);
    }

    fn upstreams(&self) -> std::ops::Range<u16> {
        0..self.ports
    }

    /// Carries out `change` and marks what it changed for those that are told.
    fn changing(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.clone();
        change(self);
        for upstream in self.upstreams().filter(|&upstream| self.transmits(upstream)).collect::<Vec<_>>() {
            let channels = self.told_apart();
            for (egress, &channel) in
                (0..self.ports).flat_map(|egress| channels.iter().map(move |vc| (egress, vc)))
            {
                let told = |model: &Self| model.reported(upstream, channel, egress);
                if told(self) != told(&before) && self.enabled(egress, PART) {
                    let through = if self.enabled(upstream, LINK_EN) { channel } else { 0 };
                    self.dirty.insert((upstream, through, egress / 6));
                }
            }
        }
    }

    fn set_raw(&mut self, upstream: u16, channels: &[u8], egress: u16, congested: bool) {
        for &channel in channels {
            if congested {
                self.raw.insert((upstream, channel, egress));
            } else {
                self.raw.remove(&(upstream, channel, egress));
            }
        }
    }

    /// Whose traffic a verdict for `upstream` is about.
    fn judged(&self, upstream: u16) -> Vec<u16> {
        match self.options.verdict {
            Verdict::Shared => self.upstreams().collect(),
            Verdict::PerIngress => vec![upstream],
        }
    }

    fn write(&mut self, port: u16, value: u32) {
        let index = usize::from(port);
        let old = self.enables[index];
        let mut new = value & (PART | XOFF);
        if self.support[index] & GEN_SUP != 0 {
            new |= value & GEN_EN;
        }
        if self.support[index] & LINK_SUP != 0 {
            new |= value & LINK_EN;
        }
        // What waits moves with the linking mode, before anything else happens.
        let waiting: BTreeSet<u16> =
            self.dirty.iter().filter(|&&(owner, ..)| owner == port).map(|&(.., group)| group).collect();
        let last = self.last.get(&(port, 0)).copied();
        self.changing(|model| {
            model.enables[index] = new;
            if (old ^ new) & LINK_EN != 0 {
                model.forget(port);
                for &group in &waiting {
                    model.mark(port, group);
                }
                for channel in model.channels(port) {
                    model.last.extend(last.map(|last| ((port, channel), last)));
                }
            }
            if old & GEN_EN == 0 && new & GEN_EN != 0 && model.long.contains(&port) {
                model.mark_all(port);
            }
            if old & GEN_EN != 0 && new & GEN_EN == 0 {
                model.forget(port);
            }
        });
    }

    fn poll(&mut self, port: u16, carrier: Carrier) -> Option<u16> {
        let channel = match (self.enabled(port, LINK_EN), carrier) {
            (false, _) | (true, Carrier::Status) => 0,
            (true, Carrier::VcStatus { vcid }) => self.options.vcs.vc_of(vcid)?.number(),
            (true, Carrier::Other) => return None,
        };
        let waiting: Vec<u16> = self
            .dirty
            .iter()
            .filter(|&&(owner, of, _)| (owner, of) == (port, channel))
            .map(|&(.., group)| group)
            .collect();
        let above = self.last.get(&(port, channel)).map_or(0, |last| last + 1);
        let group = *waiting.iter().find(|&&group| group >= above).or(waiting.first())?;
        self.dirty.remove(&(port, channel, group));
        self.last.insert((port, channel), group);
        let congested = (0..6)
            .filter(|offset| 6 * group + offset < self.ports)
            .filter(|offset| self.reported(port, channel, 6 * group + offset));
        Some(0x0800 | congested.map(|offset| 0x20 << offset).sum::<u16>() | group)
    }

    fn handle(&mut self, event: Event) -> Option<u16> {
        match event {
            Event::Congested(egress, congested) => self.changing(|model| {
                for upstream in model.upstreams() {
                    model.set_raw(upstream, &model.told_apart(), egress, congested);
                }
            }),
            Event::CongestedFor(upstream, egress, congested) => self.changing(|model| {
                for upstream in model.judged(upstream) {
                    model.set_raw(upstream, &model.told_apart(), egress, congested);
                }
            }),
            Event::CongestedIn(upstream, slot, egress, congested) => self.changing(|model| {
                let channels = model.told_apart();
                for upstream in model.judged(upstream) {
                    model.set_raw(upstream, &[channels[slot % channels.len()]], egress, congested);
                }
            }),
            Event::Write(port, value) => self.write(port, value),
            Event::LinkUp(port, form) => {
                self.long.remove(&port);
                if form == Form::Long {
                    self.long.insert(port);
                }
                if self.transmits(port) {
                    self.last.retain(|&(owner, _), _| owner != port);
                    for channel in self.channels(port) {
                        let congested =
                            (0..self.ports).filter(|&egress| self.reported(port, channel, egress));
                        let groups: Vec<u16> = congested.map(|egress| egress / 6).collect();
                        self.dirty.extend(groups.into_iter().map(|group| (port, channel, group)));
                    }
                } else {
                    self.forget(port);
                }
            }
            Event::LinkDown(port) => {
                self.long.remove(&port);
                self.forget(port);
            }
            Event::Recovered(port) if self.options.after_recovery && self.transmits(port) => {
                self.mark_all(port)
            }
            Event::Refresh(port) if self.options.refresh && self.transmits(port) => self.mark_all(port),
            Event::Recovered(_) | Event::Refresh(_) => {}
            Event::Poll(port, carrier) => return self.poll(port, carrier),
            Event::Reset => {
                self.enables.fill(0);
                self.raw.clear();
                self.long.clear();
                self.dirty.clear();
                self.last.clear();
            }
        }
        None
    }
}

/// An event for the originator. What its inputs say about marks is compared with what waits before and
/// after.
fn handle(device: &mut Originator, model: &Model, event: Event) -> Option<u16> {
    let ports = device.block().len();
    let marks = |found: bool, device: &Originator, port: u16| {
        assert!(!found || device.needs_symbol(port), "{event:?}: told of a mark at {port} that is not there");
    };
    match event {
        Event::Congested(egress, congested) => {
            let marked = device.set_congested(egress, congested);
            (0..ports).for_each(|port| marks(marked.contains(port), device, port));
        }
        Event::CongestedFor(upstream, egress, congested) => {
            let marked = device.set_congested_for(upstream, egress, congested);
            marks(marked, device, upstream);
        }
        Event::CongestedIn(upstream, slot, egress, congested) => {
            let channels = model.told_apart();
            let vc = Vc::new(channels[slot % channels.len()]).unwrap();
            let marked = device.set_congested_in(upstream, vc, egress, congested);
            (0..ports).for_each(|port| marks(marked.contains(port), device, port));
        }
        Event::Write(port, value) => {
            let written = device.write_csr(port, value);
            (0..ports).for_each(|port| marks(written.marked.contains(port), device, port));
        }
        Event::LinkUp(port, form) => {
            let marked = device.link_up(port, form);
            marks(marked, device, port);
        }
        Event::LinkDown(port) => device.link_down(port),
        Event::Recovered(port) => {
            let marked = device.link_recovered(port);
            marks(marked, device, port);
        }
        Event::Refresh(port) => {
            let marked = device.refresh(port);
            marks(marked, device, port);
        }
        Event::Poll(port, carrier) => return device.poll_symbol(port, Opportunity::riding(carrier)),
        Event::Reset => device.reset(),
    }
    None
}

fn step(device: &mut Originator, model: &mut Model, event: Event) {
    let before = device.clone();
    let (found, expected) = (handle(device, model, event), model.handle(event));
    assert_eq!(found, expected, "{event:?} on {before:?}");
    device.take_counters();
    for port in 0..model.ports {
        let waiting = model.dirty.iter().filter(|&&(owner, ..)| owner == port).count();
        assert_eq!(device.pending_messages(port), waiting as u32, "{event:?} at port {port} on {before:?}");
        assert_eq!(device.active().contains(port), model.transmits(port), "{event:?}");
        if device.needs_symbol(port) {
            let carrier = device.needed_carrier(port).unwrap();
            let served = device.clone().poll_symbol(port, Opportunity::standalone(carrier));
            assert!(served.is_some(), "{event:?}: the symbol that is asked for helps");
        }
    }
}

/// Every reachable state of a device of seven ports (two groups) with one port that transmits, in every
/// linking mode, and every event in each of them.
///
/// Proves: VOQ-4.2-1, VOQ-4.2-3, VOQ-4.2-5, VOQ-4.2-9, VOQ-3.2-3, VOQ-4.1-4
/// Proves: VOQ-5.1.2.2-4, VOQ-5.1.2.2-6, VOQ-5.1.2.2-7
#[test]
fn state_table_exhaustively() {
    let options = Options { vcs: ActiveVcs::One, ..Options::default() };
    let support = [Support::ALL; 7];
    let mut events = vec![
        Event::LinkUp(0, Form::Long),
        Event::LinkUp(0, Form::Short),
        Event::LinkDown(0),
        Event::Recovered(0),
        Event::Refresh(0),
        Event::Reset,
    ];
    for carrier in [Carrier::Other, Carrier::Status, Carrier::VcStatus { vcid: 0 }] {
        events.push(Event::Poll(0, carrier));
    }
    for congested in [false, true] {
        events.extend([Event::Congested(0, congested), Event::Congested(6, congested)]);
    }
    for enables in 0..8u32 {
        let bits = [GEN_EN, LINK_EN, PART];
        let value = (0..3).filter(|bit| enables >> bit & 1 == 1).map(|bit| bits[bit as usize]).sum();
        events.push(Event::Write(0, value));
    }
    events.extend([0, PART, XOFF, PART | XOFF].map(|value| Event::Write(6, value)));

    let start = (Originator::new(&support, options).unwrap(), Model::new(&support, options));
    let mut seen = HashSet::from([start.0.clone()]);
    let mut left = VecDeque::from([start]);
    let mut transitions = 0u32;
    while let Some((device, model)) = left.pop_front() {
        for &event in &events {
            let (mut device, mut model) = (device.clone(), model.clone());
            step(&mut device, &mut model, event);
            transitions += 1;
            if seen.insert(device.clone()) {
                left.push_back((device, model));
            }
        }
    }
    // Against vacuity: the walk is as large as it was when it was written.
    assert_eq!((seen.len(), transitions), (5_536, 138_400));
}

fn event(ports: u16) -> impl Strategy<Value = Event> {
    let port = move || 0..ports;
    let bits = prop_oneof![Just(0), Just(GEN_EN)].prop_flat_map(|base| {
        proptest::sample::subsequence(vec![PART, XOFF, LINK_EN], 0..=3)
            .prop_map(move |bits| base | bits.into_iter().sum::<u32>())
    });
    let carrier = prop_oneof![
        Just(Carrier::Other),
        Just(Carrier::Status),
        (0u8..8).prop_map(|vcid| Carrier::VcStatus { vcid }),
    ];
    let form = prop_oneof![3 => Just(Form::Long), 1 => Just(Form::Short)];
    prop_oneof![
        4 => (port(), any::<bool>()).prop_map(|(egress, congested)| Event::Congested(egress, congested)),
        4 => (port(), port(), any::<bool>())
            .prop_map(|(upstream, egress, congested)| Event::CongestedFor(upstream, egress, congested)),
        6 => (port(), 0usize..9, port(), any::<bool>()).prop_map(|(upstream, slot, egress, congested)| {
            Event::CongestedIn(upstream, slot, egress, congested)
        }),
        4 => (port(), bits).prop_map(|(port, value)| Event::Write(port, value)),
        3 => (port(), form).prop_map(|(port, form)| Event::LinkUp(port, form)),
        1 => port().prop_map(Event::LinkDown),
        1 => port().prop_map(Event::Recovered),
        1 => port().prop_map(Event::Refresh),
        6 => (port(), carrier).prop_map(|(port, carrier)| Event::Poll(port, carrier)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Proves: VOQ-4.2-1, VOQ-4.2-4, VOQ-4.2-5, VOQ-4.2-9, VOQ-2.5-2, VOQ-5.1.2.2-6, VOQ-4.2-3
    #[test]
    fn originator_equals_its_model(
        (ports, events) in (1u16..14).prop_flat_map(|ports| {
            (Just(ports), proptest::collection::vec(event(ports), 0..120))
        }),
        per_ingress: bool, refresh: bool, after_recovery: bool,
        vcs in proptest::sample::select(&ActiveVcs::ALL[..]),
        support_bits: u32,
    ) {
        let verdict = if per_ingress { Verdict::PerIngress } else { Verdict::Shared };
        let options = Options { verdict, vcs, refresh, after_recovery, next_block: 0 };
        let support: Vec<Support> = (0..ports)
            .map(|port| Support {
                generation: support_bits >> (2 * port) & 1 == 0,
                reception: true,
                linking: support_bits >> (2 * port + 1) & 1 == 0,
            })
            .collect();
        let mut device = Originator::new(&support, options).unwrap();
        let mut model = Model::new(&support, options);
        for event in events {
            step(&mut device, &mut model, event);
        }
    }
}
