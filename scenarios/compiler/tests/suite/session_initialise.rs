//! Registers of session management that processors initialise from afar, through the fabric.

use crate::watched::{watched, watched_with};
use models::Outcome;
use models::agent::initialise::{InitialiseStats, InitialiseTotals, ProcessorConfig};
use models::config::{FabricConfig, ProtocolConfig};
use models::probe::{Probe, RegisterEvent, RegisterStep};
use models::session_management::attribute::Attribute;
use models::session_management::register::Contact;
use models::stats::SessionTotals;
use scenarios::load;
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// ep/0 and ep/1 are nodes that read registers, ep/2 to ep/4 are free, and ep/5 sets the fabric up. The nodes
/// open a conduit at 1 ms and send three PDUs over it.
fn scenario(node: Value, processors: &[Value]) -> Value {
    let mut session = json!({"contact": "registers", "poll": "20 us"});
    session.as_object_mut().unwrap().extend(node.as_object().unwrap().clone());
    let mut traffic = vec![json!({
        "name": "pdus", "from": "ep/0", "to": "ep/1", "size": 100, "limit": 3,
        "arrivals": {"constant": {"interval": "10 us", "phase": "0 ps"}}, "session": {"at": "1 ms"}
    })];
    traffic.extend_from_slice(processors);
    json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 6}},
        "configure": {"fabric": {"host": "ep/5"}},
        "endpoint": {"session": session},
        "traffic": traffic,
        "run": {"until": "5 ms", "warmup": "0 ps", "sample_every": "off"}
    })
}

/// Processors that initialise both nodes.
fn flow(name: &str, from: Value, initialise: Value) -> Value {
    json!({"name": name, "from": from, "to": {"cycle": ["ep/0", "ep/1"]}, "initialise": initialise})
}

fn simulate(scenario: &Value) -> Outcome {
    let ((), outcome) = watched(scenario);
    outcome
}

fn sessions(outcome: &Outcome) -> &SessionTotals {
    outcome.totals.one().expect("one flow of sessions")
}

fn initialised(outcome: &Outcome) -> Vec<&InitialiseTotals> {
    outcome.totals.of().collect()
}

/// Visits by how they ended: done, past, found, strangers, given up.
fn ends(stats: &InitialiseStats) -> [u64; 5] {
    [stats.done, stats.past, stats.found, stats.strangers, stats.given_up]
}

/// The nodes have a conduit, over which everything came.
fn assert_up(outcome: &Outcome) {
    let totals = sessions(outcome);
    assert_eq!((totals.pairs, totals.leaked, totals.stats.pdus_delivered), (1, 0, 3), "{totals:?}");
    assert_eq!(totals.stats.failed_opens, 0);
}

/// Whoever writes the registers, they say the same: the node itself, another processor, or each in part. An
/// OPEN that is lost is repeated after the period that they name, 100 us, so that the first PDU takes this
/// long and a few ways of less than 1 us.
///
/// What the last word of a processor says of Max_Attr, 0, changes nothing: readers read all attributes.
///
/// Proves: SMP-3.2-3, SMP-3.2-2, SMP-5.2.4-3
#[test]
fn whoever_writes_registers_they_say_the_same() {
    let lost = |mut scenario: Value| {
        scenario["endpoint"]["session"]["retry"] = json!("100 us");
        let fault = json!([{"from": "ep/0", "to": "ep/1", "message": "open", "nth": 1, "fate": "lose"}]);
        scenario["traffic"][0]["session"]["faults"] = fault;
        scenario["traffic"][0]["arrivals"]["constant"]["phase"] = json!("1100 us");
        simulate(&scenario)
    };
    let all = flow("remote", json!("ep/2"), json!({}));
    let rest = |writes: &str| flow("rest", json!("ep/2"), json!({"stage": 2, "writes": [writes]}));
    let ways = [
        (json!({}), vec![]),
        (json!({"writes": []}), vec![all.clone()]),
        (json!({"writes": ["contact"]}), vec![rest("periods")]),
        (json!({"writes": ["periods"]}), vec![rest("contact")]),
        (
            json!({"writes": []}),
            vec![
                flow("first", json!("ep/2"), json!({"writes": ["contact"]})),
                flow("second", json!("ep/3"), json!({"stage": 2, "writes": ["periods"], "poll": "10 us"})),
            ],
        ),
    ];
    let mut told = Vec::new();
    for (node, processors) in ways {
        let outcome = lost(scenario(node, &processors));
        assert_up(&outcome);
        let stats = &sessions(&outcome).stats;
        assert_eq!(stats.retransmissions, 1);
        for totals in initialised(&outcome) {
            assert_eq!((ends(&totals.stats), totals.together, totals.left), ([2, 0, 0, 0, 0], 0, 0));
        }
        told.push((stats.register_reads, stats.messages, stats.pdus_sent));
    }
    assert!(told.iter().all(|other| *other == told[0]), "{told:?}");
}

/// What one processor asks for at one node. To find the block: features, pointer, and three headers (link,
/// VoQ backpressure, sessions). Then the stage, the lock read, written and read, the stage again, six words
/// of three attributes, the contact, their count with the end of the stage, that read, and the lock given
/// back and read.
///
/// Proves: SMP-3.2-4, SMP-3.2-5, SMP-5.2.2-2, SMP-5.2.2-3
#[test]
fn what_a_processor_asks_for() {
    let all = flow("remote", json!("ep/2"), json!({}));
    let outcome = simulate(&scenario(json!({"writes": []}), &[all]));
    assert_up(&outcome);
    let totals = initialised(&outcome)[0];
    assert_eq!(totals.processors, 1);
    let (reads, writes) = (5 + 6, 1 + 6 + 1 + 1 + 1);
    assert_eq!((totals.stats.reads, totals.stats.writes), (2 * reads, 2 * writes));
    assert_eq!(totals.stats.holds.len(), 2);
    // One access after the other: it has the first lock back before it takes the second.
    let [first, second] = [totals.stats.holds[0], totals.stats.holds[1]];
    assert!(first.from < first.until.unwrap() && first.until.unwrap() < second.from);
}

/// Two processors want the same, one a little later than the other, by all that a dozen accesses take. Law:
/// one of them does it, at each node; the other comes again and finds it done; never do both count a lock as
/// theirs, and no lock is left.
///
/// Proves: SMP-3.2-4, SMP-3.2-5
#[test]
fn exactly_one_of_two_processors_does_it() {
    let (mut locked, mut beaten, mut both) = (0, 0, 0);
    for offset in (0..8_000).step_by(125) {
        let initialise = json!({"offset": format!("{offset} ns"), "poll": "3 us"});
        let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
        let outcome = simulate(&scenario(json!({"writes": []}), &[all]));
        assert_up(&outcome);
        let totals = initialised(&outcome)[0];
        assert_eq!((totals.processors, totals.together, totals.left), (2, 0, 0), "{offset} ns: {totals:?}");
        assert_eq!(ends(&totals.stats), [2, 2, 0, 0, 0], "{offset} ns: {totals:?}");
        assert_eq!((totals.stats.undone, totals.stats.failed), (0, 0));
        locked += totals.stats.locked;
        beaten += totals.stats.beaten;
        let by: Vec<u16> = totals.stats.holds.iter().map(|hold| hold.by).collect();
        both += usize::from(by[0] != by[1]);
    }
    // All three cases of a race occur, and each of the two wins one node in some of them.
    assert!(locked > 0 && beaten > 0 && both > 0, "{locked} {beaten} {both}");
}

/// Two processors that lock with one value do not see each other, of which the compiler warns: at some offset
/// both count the lock as theirs, and both do the stage.
///
/// Proves: SMP-5.2.2-5
#[test]
fn one_value_locks_for_nobody() {
    let run = |offset: u64| {
        let initialise = json!({"lock": 7, "offset": format!("{offset} ns"), "poll": "3 us"});
        let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
        scenario(json!({"writes": []}), &[all])
    };
    let plan = load(&run(0).to_string(), "test.json", &[]).expect("it is no error");
    let codes: Vec<&str> = plan.warnings.items.iter().map(|item| item.code).collect();
    assert_eq!(codes, ["SC099"]);
    let together = |offset| {
        let outcome = simulate(&run(offset));
        let totals = initialised(&outcome)[0];
        assert!(totals.same_value);
        (totals.together, totals.stats.done)
    };
    let found: Vec<(u64, u64)> = (0..6_000).step_by(300).map(together).collect();
    assert!(found.iter().any(|&(together, done)| together > 0 && done > 2), "{found:?}");
}

/// One endpoint does two stages in two flows. Law: with its id for both the compiler warns, because whoever
/// finds that value takes the lock for its own. With a value of its own for the second flow it does not, and
/// whenever that begins each stage is done once and nobody shares a lock.
///
/// Proves: SMP-3.2-4, SMP-5.2.2-5
#[test]
fn one_processor_in_two_flows_needs_two_values() {
    let run = |at: u64, lock: Option<u16>| {
        let first = flow("first", json!("ep/2"), json!({"writes": ["contact"]}));
        let mut stage = json!({"stage": 2, "writes": ["periods"], "poll": "3 us", "at": format!("{at} ns")});
        if let Some(lock) = lock {
            stage["lock"] = json!(lock);
        }
        scenario(json!({"writes": []}), &[first, flow("second", json!(["ep/2", "ep/3"]), stage)])
    };
    let warned = |lock| {
        let plan = load(&run(0, lock).to_string(), "test.json", &[]).expect("it is no error");
        plan.warnings.items.iter().map(|item| (item.code, item.pointer.clone())).collect::<Vec<_>>()
    };
    assert_eq!(warned(None), [("SC099", "/traffic/2/initialise/lock".to_owned())]);
    // Both ends of the second flow lock with 7 then.
    assert_eq!(warned(Some(7)), [("SC099", "/traffic/2/initialise/lock".to_owned())]);
    for at in (0..6_000).step_by(250) {
        let mut scenario = run(at, Some(7));
        scenario["traffic"][2]["from"] = json!("ep/2");
        assert!(
            load(&scenario.to_string(), "test.json", &[]).expect("it is sound").warnings.items.is_empty()
        );
        let outcome = simulate(&scenario);
        assert_up(&outcome);
        for totals in initialised(&outcome) {
            assert_eq!((ends(&totals.stats), totals.together, totals.left), ([2, 0, 0, 0, 0], 0, 0), "{at}");
            assert!(!totals.same_value && totals.stats.undone == 0, "{at} ns: {totals:?}");
        }
    }
}

/// The processor of a later stage comes first. It takes no lock before its turn, and does its stage when the
/// first is done. A node whose registers are not complete gets no message.
///
/// Proves: SMP-3.2-6, SMP-3.2-7, SMP-5.2.4-5
#[test]
fn a_stage_waits_for_the_one_before() {
    let first = flow("first", json!("ep/3"), json!({"at": "2 ms", "writes": ["contact"]}));
    let second = flow("second", json!("ep/2"), json!({"stage": 2, "writes": ["periods"], "poll": "100 us"}));
    let outcome = simulate(&scenario(json!({"writes": []}), &[first, second]));
    assert_up(&outcome);
    let [first, second] = initialised(&outcome)[..] else { panic!("two flows") };
    assert_eq!((ends(&first.stats), ends(&second.stats)), ([2, 0, 0, 0, 0], [2, 0, 0, 0, 0]));
    // From its begin to 2 ms later every 100 us, to each of two nodes; a look takes less than that.
    assert!((2 * 18..=2 * 21).contains(&second.stats.early), "{second:?}");
    assert_eq!((second.stats.locked, second.stats.beaten, second.stats.holds.len()), (0, 0, 2));
    let done = first.stats.holds.iter().map(|hold| hold.until.unwrap()).max();
    assert!(second.stats.holds.iter().map(|hold| hold.from).max() > done);
    // The conduit is wanted at 1 ms, and there after both stages are done.
    let ready = second.stats.last.unwrap();
    assert!(sessions(&outcome).all_open.unwrap() > ready, "{ready:?}");
    assert!(sessions(&outcome).stats.register_reads > 28, "it is read again and again");
}

/// The link of a processor goes down while it has the lock of the first node. The other one respects that,
/// and gives the node up after ten attempts; the second node it initialises. The first never gets a message.
///
/// Proves: SMP-3.2-4, SMP-3.2-7
#[test]
fn a_lock_that_is_left_behind_is_respected() {
    let initialise = json!({"offset": "1 us", "poll": "100 us", "attempts": 10});
    let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
    let mut scenario = scenario(json!({"writes": []}), &[all]);
    let outcome = simulate(&scenario);
    let hold = initialised(&outcome)[0].stats.holds[0];
    let middle = (hold.from.0 + hold.until.unwrap().0) / 2;
    let outage = json!([{"link": "ep/2:0", "at": format!("{middle} ps")}]);
    scenario["faults"] = json!({"outages": outage});
    let outcome = simulate(&scenario);
    let totals = initialised(&outcome)[0];
    // Of its own two visits one processor ends none in time, or gives both up; the other one ends one of two.
    assert_eq!((totals.stats.done, totals.stats.past, totals.together), (1, 0, 0), "{totals:?}");
    assert!(totals.stats.locked >= 10, "{totals:?}");
    assert_eq!(totals.stats.holds.iter().filter(|hold| hold.until.is_none()).count(), 1);
    let totals = sessions(&outcome);
    assert_eq!((totals.pairs, totals.stats.pdus_delivered, totals.stats.failed_opens), (0, 0, 0));
}

/// A node without a block: both CARs of operations, its Component Tag, which is written and read again. The
/// lower half of the tag is that of who sets the fabric up. A second processor finds it said.
///
/// Proves: SMP-5.1-3, SMP-5.3-1, SMP-3.2-2
#[test]
fn a_component_tag_is_written_from_afar() {
    let node = json!({"mailbox": 2, "announces": "component_tag", "writes": []});
    let all = flow("remote", json!("ep/2"), json!({}));
    let outcome = simulate(&scenario(node.clone(), &[all]));
    assert_up(&outcome);
    let stats = &initialised(&outcome)[0].stats;
    assert_eq!((ends(stats), stats.holds.len()), ([2, 0, 0, 0, 0], 0));
    assert_eq!((stats.reads, stats.writes), (2 * (4 + 3 + 1), 2));
    let found = &outcome.enumeration.as_ref().unwrap().devices;
    assert!(found.iter().all(|found| found.device.is_some()), "the numbers of the host are still there");
    let later = flow("remote", json!(["ep/2", "ep/3"]), json!({"offset": "500 us"}));
    let outcome = simulate(&scenario(node, &[later]));
    assert_up(&outcome);
    assert_eq!(ends(&initialised(&outcome)[0].stats), [2, 2, 0, 0, 0]);
}

/// Who visits all endpoints finds the nodes among them, also those that initialise themselves, by their
/// blocks and by their Component Tags.
///
/// Proves: SMP-3.3-6
#[test]
fn who_looks_finds_who_takes_part() {
    for announces in ["block", "component_tag"] {
        let all =
            json!({"name": "remote", "from": "ep/2", "to": {"uniform": {}}, "initialise": {"at": "500 us"}});
        let outcome = simulate(&scenario(json!({"announces": announces}), &[all]));
        assert_up(&outcome);
        let stats = &initialised(&outcome)[0].stats;
        assert_eq!((ends(stats), stats.writes), ([0, 0, 2, 3, 0], 0), "{announces}: {stats:?}");
    }
}

/// Offsets in the block: Lock_Val, Advertisement, Attribute Range, the first attribute. EF_ID of the block,
/// and the Component Tag.
const LOCK: u32 = 0x4;
const ADVERTISEMENT: u32 = 0x8;
const ATTRIBUTE_RANGE: u32 = 0xC;
const ATTRIBUTES: u32 = 0x10;
const SESSIONS: u16 = 0x000C;
const COMPONENT_TAG: u32 = 0x6C;

/// An access to a register of an endpoint, in the order in which they were carried out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Carried {
    device: u32,
    /// EF_ID of the block that it is in, and the offset there; else the offset of the register.
    block: Option<u16>,
    offset: u32,
    /// Offset of the register itself.
    at: u32,
    value: u32,
    write: bool,
}

#[derive(Default)]
struct Accesses(Vec<Carried>, Vec<u64>);

impl Probe for Accesses {
    fn register(&mut self, event: &RegisterEvent) {
        let RegisterStep::CarriedOut { offset, block, value, write, .. } = event.step else { return };
        let (at, offset) = (offset, block.map_or(offset, |block| block.1));
        let block = block.map(|block| block.0);
        self.0.push(Carried { device: event.device, block, offset, at, value, write });
        self.1.push(event.at.0);
    }
}

fn accesses(scenario: &Value) -> (Vec<Carried>, Outcome) {
    let (seen, outcome): (Accesses, _) = watched(scenario);
    (seen.0, outcome)
}

/// The same, each with when it was carried out.
fn timed(scenario: &Value) -> (Vec<(u64, Carried)>, Outcome) {
    let (seen, outcome): (Accesses, _) = watched(scenario);
    (seen.1.into_iter().zip(seen.0).collect(), outcome)
}

/// What nodes say that nobody has initialised yet: another processor does it at 2 ms, and the first reads are
/// at 1 ms. Until then Conveyance is 0xF, and bit 0 of the Component Tag is 0 where that says it; so they get
/// no message. Afterwards they are found.
///
/// Proves: SMP-3.2-1, SMP-3.2-7
#[test]
fn power_up_leaves_a_node_outside() {
    let late = flow("remote", json!("ep/2"), json!({"at": "2 ms"}));
    let (seen, outcome) =
        accesses(&scenario(json!({"writes": [], "mailbox": 2}), std::slice::from_ref(&late)));
    assert_up(&outcome);
    let said = |offset: u32| -> Vec<(bool, u32)> {
        let found = seen
            .iter()
            .filter(|access| (access.block, access.device, access.offset) == (Some(SESSIONS), 1, offset));
        found.map(|access| (access.write, access.value)).collect()
    };
    let told = said(ADVERTISEMENT);
    let written = told.iter().position(|access| access.0).expect("the processor writes it");
    assert!(written > 10, "{told:?}");
    assert!(told[..written].iter().all(|&access| access == (false, 0xF000_0000)), "{told:?}");
    assert!(told.len() > written + 1 && told[written..].iter().all(|access| access.1 == 2), "{told:?}");
    // Stage 1 says that somebody will do it: who reads that comes again.
    assert!(said(ATTRIBUTE_RANGE)[0].1 >> 8 & 0xF == 1);

    let node = json!({"mailbox": 2, "announces": "component_tag", "writes": []});
    let (seen, _) = accesses(&scenario(node, &[late]));
    let tags: Vec<(bool, u32)> = seen
        .iter()
        .filter(|access| (access.block, access.device, access.offset) == (None, 1, COMPONENT_TAG))
        .map(|access| (access.write, access.value >> 31))
        .collect();
    let announced = tags.iter().position(|&tag| tag == (true, 1)).expect("the processor writes it");
    assert!(announced > 0 && tags[..announced].iter().all(|tag| tag.1 == 0), "{tags:?}");
    assert!(tags[announced..].iter().all(|tag| tag.1 == 1), "{tags:?}");
}

/// ep/1 announces itself and is up. Its hardware is reset at 2 ms, and its software needs 300 us. ep/2 reads
/// the registers of both nodes all the time. Law: what it reads of ep/1 is its contact, then, from the reset
/// on, Conveyance 0xF in stage 1 with nobody's lock and no attributes, or bit 0 of the Component Tag 0 where
/// that says it, until the software is up, and its contact again. A node whose software alone restarts says
/// the same all the time. Who wants a conduit with it in the meantime has one when its software is up; of a
/// node that has no stages it learns that it takes no part, and has none.
///
/// Proves: SMP-3.2-1
#[test]
fn a_hardware_reset_leaves_a_node_outside() {
    const FROM: u64 = 2_000_000_000;
    const UNTIL: u64 = 2_300_000_000;
    for (announces, offset, outside) in
        [("block", ADVERTISEMENT, 0xF000_0000), ("component_tag", COMPONENT_TAG, 0)]
    {
        let mut alone = 0;
        for reset in [false, true] {
            let mut restart = json!({"node": "ep/1", "at": "2 ms"});
            if reset {
                restart["reset"] = json!("300 us");
            }
            // Who initialises what is initialised finds that, at each visit, and comes again.
            let visits: Vec<Value> = (0..60)
                .map(|n| {
                    let at = format!("{} us", 1_000 + 50 * n);
                    flow(&format!("visit-{n}"), json!("ep/2"), json!({"at": at, "attempts": 1}))
                })
                .collect();
            let mut scenario = scenario(json!({"mailbox": 2, "announces": announces}), &visits);
            scenario["traffic"][0]["session"]["restarts"] = json!([restart]);
            scenario["traffic"][0]["arrivals"]["constant"]["phase"] = json!("2100 us");
            let (seen, outcome) = timed(&scenario);
            let of_node = seen.iter().filter(|(_, access)| (access.device, access.offset) == (1, offset));
            let block = (announces == "block").then_some(SESSIONS);
            let told: Vec<(u64, u32)> = of_node
                .filter(|(_, access)| access.block == block && !access.write)
                .map(|(at, access)| (*at, access.value))
                .collect();
            let up = told.iter().find(|(at, _)| *at < FROM).expect("it is read before").1;
            assert_ne!(up, outside, "{announces}");
            let inside = |at: u64| reset && (FROM..UNTIL).contains(&at);
            assert!(told.iter().filter(|(at, _)| inside(*at)).count() >= 5 || !reset, "{told:?}");
            assert!(told.iter().filter(|(at, _)| *at > UNTIL).count() >= 5, "{told:?}");
            for &(at, value) in &told {
                let law = if inside(at) { outside } else { up };
                // Of the tag the lower half is the number that the host of the fabric has given.
                let both = if block.is_none() { [value >> 16, law >> 16] } else { [value, law] };
                assert_eq!(both[0], both[1], "{announces}, reset {reset}: at {at} ps");
            }
            let during = |offset: u32, mask: u32| -> Vec<u32> {
                let found = seen.iter().filter(|(at, access)| {
                    inside(*at) && (access.device, access.offset, access.block) == (1, offset, Some(SESSIONS))
                });
                found.filter(|(_, access)| !access.write).map(|(_, access)| access.value & mask).collect()
            };
            if block.is_some() && reset {
                let stages = during(ATTRIBUTE_RANGE, 0xFFF);
                assert!(!stages.is_empty() && stages.iter().all(|&word| word == 0x1FF), "{stages:x?}");
                assert!(during(LOCK, u32::MAX).iter().all(|&lock| lock == 0xFFFF));
            }
            // Who has a conduit from before is told that its stream is unknown, or nothing.
            let stats = &sessions(&outcome).stats;
            let told = u64::from(!reset);
            assert_eq!((stats.restarts, stats.unknown_streams, stats.pdus_delivered), (1, told, 0));

            // Who wants a conduit with it in the meantime waits.
            scenario["traffic"][0]["session"]["at"] = json!("2100 us");
            let outcome = simulate(&scenario);
            if block.is_none() && reset {
                // A tag says no more than that it takes no part, so nobody comes again.
                assert_eq!((sessions(&outcome).pairs, sessions(&outcome).stats.failed_opens), (0, 1));
                continue;
            }
            assert_up(&outcome);
            let open = sessions(&outcome).all_open.expect("it opens").0;
            if reset {
                // It looks again each 20 us, and a look takes less than all that follows.
                let took = open.checked_sub(UNTIL).expect("not while it is outside");
                assert!(took <= 2 * alone + 20_000_000, "{announces}: {took} ps, {alone} without a reset");
            } else {
                alone = open - 2_100_000_000;
            }
        }
    }
}

/// The processor of ep/3 has another mind about what nodes say of themselves, which no scenario can do.
fn other_words(config: &mut FabricConfig) {
    let agent = config.agents.iter_mut().find(|agent| agent.device == 3).expect("it is a processor");
    for part in &mut agent.parts {
        let ProtocolConfig::Plugged(settings) = &part.protocol else { continue };
        let own: &dyn Any = &**settings;
        let mut own = own.downcast_ref::<ProcessorConfig>().expect("it has no other part").clone();
        let tasks = own.visits.iter_mut().filter_map(|visit| visit.task.as_mut());
        for work in tasks.flat_map(|task| &mut task.blocks) {
            work.contact = Some(Contact::Mailbox(3));
            work.attributes =
                [Attribute::retry_period(777), Attribute::timeout_period(999)].into_iter().collect();
        }
        part.protocol = ProtocolConfig::Plugged(Arc::new(own));
    }
}

/// Two processors with one value undo each other's locks, so that some of their writes come while nobody has
/// the lock. They write different words. The nodes read all of it all the time. All that is read is what a
/// block by hand says, to which the writes of the run are done: Lock_Val takes a value if it is free and is
/// freed by the same one; else what is written under the lock counts, and what is written without it does
/// not. Some reads are between a write that does not count and one that does, so that they show it, of the
/// contact, the range of attributes and an attribute.
///
/// Proves: SMP-5.2.2-1, SMP-5.2.3-4
#[test]
fn without_the_lock_nothing_is_written() {
    let (mut in_vain, mut contacts, mut reads) = (0, 0, 0);
    let mut shown: BTreeMap<u32, u32> = BTreeMap::new();
    for offset in (0..6_000).step_by(150) {
        let initialise = json!({"lock": 7, "offset": format!("{offset} ns"), "poll": "3 us"});
        let all = flow("remote", json!(["ep/2", "ep/3"]), initialise);
        let mut scenario = scenario(json!({"writes": [], "poll": "1 us"}), &[all]);
        scenario["traffic"][0]["session"]["at"] = json!("0 ps");
        let (Accesses(seen, _), _) = watched_with(&scenario, other_words);
        let mut words: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        // What was last written there in vain.
        let mut vain: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for access in seen.iter().filter(|access| access.block == Some(SESSIONS)) {
            let at = (access.device, access.offset);
            let lock = words.get(&(access.device, LOCK)).copied().unwrap_or(0xFFFF);
            match (access.write, access.offset) {
                (true, LOCK) => {
                    let freed = lock == access.value;
                    let next = if freed {
                        0xFFFF
                    } else if lock == 0xFFFF {
                        access.value
                    } else {
                        lock
                    };
                    words.insert(at, next);
                }
                (true, _) if lock == 0xFFFF => {
                    in_vain += 1;
                    vain.insert(at, access.value);
                    contacts += u32::from(access.offset == ADVERTISEMENT);
                }
                // Max_Attr is written by nobody.
                (true, ATTRIBUTE_RANGE) => {
                    words.insert(at, access.value & 0xFFF);
                    vain.remove(&at);
                }
                (true, _) => {
                    words.insert(at, access.value);
                    vain.remove(&at);
                }
                (false, offset) => {
                    let known = words.get(&at).copied();
                    let mask = if offset == ATTRIBUTE_RANGE { 0xFFF } else { u32::MAX };
                    let reset = match offset {
                        LOCK => Some(0xFFFF),
                        ADVERTISEMENT => Some(0xF000_0000),
                        _ => None,
                    };
                    if let Some(expected) = known.or(reset) {
                        assert_eq!(access.value & mask, expected, "{offset:x} at {} ns", offset);
                        reads += 1;
                        let other = vain.get(&at).is_some_and(|vain| vain & mask != expected);
                        *shown.entry(offset).or_default() += u32::from(other);
                    }
                }
            }
        }
    }
    assert!(in_vain > 0 && contacts > 0 && reads > 1_000, "{in_vain} {contacts} {reads}");
    let attributes: u32 = shown.range(ATTRIBUTES..).map(|(_, reads)| reads).sum();
    assert!(shown[&ADVERTISEMENT] > 0 && shown[&ATTRIBUTE_RANGE] > 0 && attributes > 0, "{shown:?}");
}

/// The block of VoQ backpressure of an endpoint has a header, two words that are not assigned and the
/// register of port 0: the block of sessions follows after 16 octets. That of the switch with its six ports
/// has six.
///
/// Proves: VOQ-5.1.2-1, VOQ-5.1.2-2
#[test]
fn an_endpoint_has_the_register_of_one_port() {
    const VOQ: u16 = 0x000B;
    let all = flow("remote", json!("ep/2"), json!({}));
    let mut scenario = scenario(json!({"writes": []}), &[all]);
    scenario["voq"] = json!({"enabled": true});
    scenario["overrides"] = json!([{"port": "sw:4", "voq": {"gen_sup": false, "rx_sup": false}}]);
    let (seen, _) = accesses(&scenario);
    let header = seen.iter().find(|access| (access.block, access.device, access.offset) == (Some(VOQ), 1, 0));
    let header = header.expect("the list of blocks is walked");
    assert_eq!((header.value >> 16) - header.at, 16);
    // Of the switch, the one device that is no endpoint, the host reads a register of each port, and of the
    // one that supports nothing that it does not.
    let ports: BTreeMap<u32, u32> = seen
        .iter()
        .filter(|access| {
            access.block == Some(VOQ) && access.device == 6 && access.offset >= 0xC && !access.write
        })
        .map(|access| (access.offset, access.value >> 29))
        .collect();
    let expected = (0..6).map(|port| (0xC + 4 * port, if port == 4 { 0b000 } else { 0b110 }));
    assert_eq!(ports, expected.collect::<BTreeMap<_, _>>());
}

/// ep/0 opens streams to ep/1 at 1 ms, and its own registers do not say yet where it takes the answers: ep/1
/// reads them again 1 ms later, when another processor has written them. It keeps 64 answers until then, and
/// has no room for more: those are dropped without a word. The timers of the opener bring them again after
/// 250 ms, and in the end all streams are open, each once.
///
/// Proves: SMP-3.7.1-3
#[test]
fn what_there_is_no_room_for_comes_again() {
    for (streams, again) in [(64, 0), (100, 36)] {
        let scenario = json!({
            "name": "test",
            "topology": {"single_switch": {"ports": 4}},
            "configure": {"fabric": {"host": "ep/3"}},
            "endpoint": {"session": {"contact": "registers", "poll": "1 ms"}},
            "overrides": [{"devices": "ep/0", "endpoint": {"session": {"writes": []}}}],
            "traffic": [
                {"name": "f", "from": "ep/0", "to": "ep/1",
                 "session": {"opens": "stream", "streams": streams, "at": "1 ms"}},
                {"name": "remote", "from": "ep/2", "to": "ep/0", "initialise": {"at": "1500 us"}}
            ],
            "run": {"until": "400 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let outcome = simulate(&scenario);
        let stats = &sessions(&outcome).stats;
        assert_eq!((stats.allocated, stats.failed_opens), (streams, 0), "{stats:?}");
        assert_eq!((stats.dropped, stats.retransmissions), (again, again), "{stats:?}");
    }
}
