//! What ends of Scheduled Transfer say in a run, frame by frame: octets of operations, when they leave, and
//! what arrives. Fields are taken out of the octets by hand, from Figure 12.

use crate::stripes::{FAST, SLOW, stripes};
use crate::transfer::pair;
use models::config::{ProtocolConfig, TransferConfig};
use models::probe::{Probe, Signal, SignalKind};
use models::stats::TransferTotals;
use models::{RunOptions, Watched};
use scenarios::load;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Octets in front of an operation on RapidIO: 802.3 and SNAP.
const FRAME: usize = 22;
/// Op codes of Table 2.
const REQUEST_CONNECTION: u8 = 0x01;
const CONNECTION_ANSWER: u8 = 0x02;
const REQUEST_DISCONNECT: u8 = 0x03;
const DISCONNECT_ANSWER: u8 = 0x04;
const DISCONNECT_COMPLETE: u8 = 0x05;
const REQUEST_MEMORY_REGION: u8 = 0x13;
const GET: u8 = 0x15;
/// First octet of FetchOp_Complete: the Op of Get, and F.
const FETCH_OP_COMPLETE: u8 = GET << 3 | 0b111;
const REQUEST_TO_SEND: u8 = 0x16;
const CLEAR_TO_SEND: u8 = 0x1A;
const DATA: u8 = 0x1B;
const REQUEST_STATE: u8 = 0x1C;
const STATE_RESPONSE: u8 = 0x1D;
const END: u8 = 0x1E;
const END_ACK: u8 = 0x1F;

/// An operation that an end has said.
#[derive(Clone, Debug)]
struct Said {
    at: u64,
    device: u32,
    /// Addresses of the frame: who gets it, who sends it.
    to: [u8; 6],
    from: [u8; 6],
    octets: Vec<u8>,
    /// When it arrived; none: it did not, or was lost there.
    arrived: Option<u64>,
}

impl Said {
    fn op(&self) -> u8 {
        self.octets[0] >> 3
    }
    fn param(&self) -> u16 {
        u16::from_be_bytes([self.octets[2], self.octets[3]])
    }
    fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.octets[at..at + 4].try_into().unwrap())
    }
    fn cksum(&self) -> u16 {
        u16::from_be_bytes([self.octets[12], self.octets[13]])
    }
    fn bufx(&self) -> u32 {
        self.word(16)
    }
    fn offset(&self) -> u32 {
        self.word(20)
    }
    fn sync(&self) -> u32 {
        self.word(24)
    }
    fn b_num(&self) -> u32 {
        self.word(28)
    }
    fn d_id(&self) -> u32 {
        self.word(32)
    }
    fn s_id(&self) -> u32 {
        self.word(36)
    }
    fn payload(&self) -> usize {
        self.octets.len() - 40
    }
}

#[derive(Default)]
struct Story {
    said: Vec<Said>,
    frame: Vec<u8>,
    /// What was said under which name.
    named: BTreeMap<(u32, u64), usize>,
    last: Option<usize>,
}

impl Probe for Story {
    fn signal(&mut self, signal: &Signal) {
        match &signal.kind {
            SignalKind::Frame { octets } => self.frame.clone_from(octets),
            &SignalKind::Sent { token, .. } => {
                self.named.insert((signal.device, token), self.said.len());
                let (at, device) = (signal.at.0, signal.device);
                let [to, from] = [0, 6].map(|at| self.frame[at..at + 6].try_into().unwrap());
                let octets = self.frame[FRAME..].to_vec();
                self.said.push(Said { at, device, to, from, octets, arrived: None });
            }
            &SignalKind::Arrived { token, source } => {
                // Of a host with several interfaces the first one has said it, whichever carried it.
                let Some(&at) = self.named.get(&(source, token)) else { return };
                self.said[at].arrived = Some(signal.at.0);
                self.last = Some(at);
            }
            SignalKind::Note { words } if words == "which is lost" => {
                self.said[self.last.expect("something has arrived")].arrived = None;
            }
            _ => {}
        }
    }
}

/// What is said in the only variant of a scenario with one flow, in order, and what comes of it.
fn story(text: &str) -> (Vec<Said>, TransferTotals) {
    story_with(text, |_| ())
}

/// The same, with ends that are changed.
fn story_with(text: &str, change: impl Fn(&mut TransferConfig)) -> (Vec<Said>, TransferTotals) {
    let plan = load(text, "test.json", &[]).unwrap_or_else(|errors| panic!("{}", errors.render()));
    let mut config = (*plan.variants[0].config).clone();
    for part in config.agents.iter_mut().flat_map(|agent| &mut agent.parts) {
        let ProtocolConfig::Transfer(end) = &mut part.protocol else { continue };
        (end.captured, end.charted) = (true, true);
        change(end);
    }
    let mut story = Story::default();
    let mut simulation = Watched::new(Arc::new(config), RunOptions::default(), &mut story);
    simulation.run(plan.variants[0].until, u64::MAX);
    let totals = simulation.finish().totals.one::<TransferTotals>().expect("one flow").clone();
    (story.said, totals)
}

/// What was said by an end, with this op code.
fn of(said: &[Said], device: u32, op: u8) -> Vec<&Said> {
    said.iter().filter(|said| (said.device, said.op()) == (device, op)).collect()
}

/// A scenario with another seed.
fn seeded(text: &str, seed: u32) -> String {
    text.replace(r#""name": "test","#, &format!(r#""name": "test", "seed": {seed},"#))
}

/// A medium that loses two of five Control operations. Whoever is asked to disconnect answers at once, each
/// time that it is asked, also two Op_timeouts and more after its first answer; each answer that arrives is
/// completed at once. Once an end has said one of the three operations of teardown it says nothing else. What
/// is repeated is the same, octet by octet, but for the Sync of Request_State, which is another each time: so
/// the source asks for a state whose response was lost.
///
/// Proves: ST-5.1.2-4, ST-5.1.2-6, ST-5.1.2-7, ST-10.2-13, ST-10.2-14
#[test]
fn operations_are_repeated_as_they_are_and_answered_each_time() {
    const OP_TIMEOUT: u64 = 20_000_000;
    let text = pair("", r#""bytes": 3000, "op_timeout": "20 us", "max_retry": 12, "loss": {"control": 0.4}"#);
    let (mut late, mut states) = (0, 0);
    for seed in 1..=20 {
        let (said, totals) = story(&seeded(&text, seed));
        assert_eq!((totals.stats.verified, totals.stats.exhausted), (1, 0), "seed {seed}: {totals:?}");
        let times = |device, op| -> Vec<u64> { of(&said, device, op).iter().map(|said| said.at).collect() };
        let arrivals = |device, op| -> Vec<u64> {
            of(&said, device, op).iter().filter_map(|said| said.arrived).collect()
        };
        let (asked, answers) = (arrivals(0, REQUEST_DISCONNECT), times(1, DISCONNECT_ANSWER));
        assert!(asked.iter().all(|at| answers.contains(at)), "seed {seed}: {asked:?} {answers:?}");
        late += asked.iter().filter(|&&at| at >= answers[0] + 2 * OP_TIMEOUT).count();
        let (answered, done) = (arrivals(1, DISCONNECT_ANSWER), times(0, DISCONNECT_COMPLETE));
        assert!(answered.iter().all(|at| done.contains(at)), "seed {seed}: {answered:?} {done:?}");
        for device in 0..2 {
            let teardown = |said: &&Said| (REQUEST_DISCONNECT..=DISCONNECT_COMPLETE).contains(&said.op());
            let own: Vec<&Said> = said.iter().filter(|said| said.device == device).collect();
            let first = own.iter().position(teardown).expect("it is taken down");
            assert!(own[first..].iter().all(teardown), "seed {seed}");
        }
        let mut same: BTreeMap<_, Vec<&Said>> = BTreeMap::new();
        for said in said.iter().filter(|said| said.op() != DATA) {
            same.entry((said.device, said.op(), said.d_id(), said.s_id(), said.b_num()))
                .or_default()
                .push(said);
        }
        // What is guarded.
        let guarded =
            [REQUEST_CONNECTION, REQUEST_TO_SEND, REQUEST_STATE, REQUEST_DISCONNECT, DISCONNECT_ANSWER, END];
        for (key, all) in same.into_iter().filter(|(key, _)| guarded.contains(&key.1)) {
            let plain = |said: &Said| {
                let mut octets = said.octets.clone();
                octets[12..14].fill(0);
                if said.op() == REQUEST_STATE {
                    octets[24..28].fill(0);
                }
                octets
            };
            assert!(all.iter().all(|said| plain(said) == plain(all[0])), "seed {seed}: {all:?}");
            if key.1 == REQUEST_STATE {
                let syncs: BTreeSet<u32> = all.iter().map(|said| said.sync()).collect();
                assert_eq!(syncs.len(), all.len(), "seed {seed}: {all:?}");
                states += usize::from(all.len() > 1);
            }
        }
    }
    assert!(late > 0 && states > 0, "{late} late repetitions, {states} repeated Request_States");
}

/// A peer that is never heard. Law: the first operation leaves 1 + Max_Retry times, one Op_timeout after the
/// other, the same each time. Op_timeout runs out as often, and the last time the end gives up: it does not
/// begin its Transfer.
///
/// Proves: ST-10.1-1, ST-10.1-6, ST-10.1-7, ST-10.1-8, ST-10.1-9
#[test]
fn a_silent_peer_is_given_up_after_max_retry() {
    for (retries, timeout) in [(0u64, 20), (2, 20), (5, 70)] {
        let (said, totals) = story(&pair(
            "",
            &format!(
                r#""bytes": 3000, "op_timeout": "{timeout} us", "max_retry": {retries},
                   "loss": {{"control": 1}}"#
            ),
        ));
        let times: Vec<u64> = said.iter().map(|said| said.at).collect();
        assert_eq!(times, (0..=retries).map(|n| n * timeout * 1_000_000).collect::<Vec<_>>());
        assert!(said.iter().all(|again| again.op() == REQUEST_CONNECTION && again.octets == said[0].octets));
        let stats = &totals.stats;
        assert_eq!((stats.timeouts, stats.exhausted, stats.begun), (1 + retries, 1, 0), "{totals:?}");
    }
}

/// What both ends declare when a connection is set up: Bufsize and Max_STU as exponents, and their Slots. No
/// STU is larger. Who does not count Slots says 0xFFFF then and in each state; it is never asked for more.
/// The most that can be counted is 0xFFFE; no end has more that it counts.
///
/// Proves: ST-5.2.3-1, ST-5.2.4-1, ST-5.2.5-6, ST-5.2.5-8, ST-5.2.5-18
#[test]
fn ends_declare_exponents_and_slots() {
    for (bufsize, stu, slots) in [
        (1u64 << 8, 1u32 << 8, 3u16),
        (1 << 12, 1 << 9, 4),
        (1 << 16, 1 << 10, 65_534),
        (1 << 32, 1 << 10, 65_535),
        (1 << 12, 1 << 9, 65_535),
    ] {
        let (said, totals) = story(&pair(
            "",
            &format!(
                r#""bytes": 20000, "block": 4096, "bufsize": {bufsize}, "stu": {stu}, "slots": {slots},
                   "window": 1, "state_every": 1"#
            ),
        ));
        assert_eq!(totals.stats.verified, 1, "{totals:?}");
        for (device, op) in [(0, REQUEST_CONNECTION), (1, CONNECTION_ANSWER)] {
            let [said] = of(&said, device, op)[..] else { panic!("one each") };
            let declared = (said.bufx(), said.sync(), said.param());
            assert_eq!(declared, (bufsize.trailing_zeros(), stu.trailing_zeros(), slots));
        }
        let data = of(&said, 0, DATA);
        assert_eq!(data.iter().map(|said| said.payload()).max(), Some(stu as usize));
        let states = of(&said, 1, STATE_RESPONSE);
        assert!(states.len() >= 5);
        assert!(states.iter().all(|said| if slots == 65_535 {
            said.param() == slots
        } else {
            said.param() < slots
        }));
    }
    // Where each Data takes a Slot, who has four is asked for more, and who does not count never is.
    for (slots, asked) in [(4, true), (65_535, false)] {
        let st = format!(r#""bytes": 20000, "window": 1, "notify": true, "slots": {slots}"#);
        assert_eq!(!of(&story(&pair("", &st)).0, 0, REQUEST_STATE).is_empty(), asked);
    }
}

/// Three Writes that their application ends, or that of the other end, in the middle; or at once, when the
/// initiator does not know yet what the other end calls them. Law: End carries the ids of both, so it waits
/// for the first word of the other end and leaves with that. From the arrival of an End on nothing is said of
/// its Transfer any more, no permission and no Data, but End_Ack, one for each End; unless the teardown says
/// that as well.
///
/// Proves: ST-6.1.1.4-3, ST-6.1.1.4-4, ST-6.1.1.4-9
#[test]
fn after_an_end_there_is_end_ack_alone() {
    for (after, by) in [("1 ns", 0u32), ("3 us", 0), ("8 us", 0), ("3 us", 1), ("8 us", 1)] {
        let by_name = ["from", "to"][by as usize];
        let (said, totals) = story(&pair(
            "",
            &format!(
                r#""bytes": 100000, "block": 4096, "count": 3, "concurrent": 3,
                   "end": {{"after": "{after}", "by": "{by_name}"}}"#
            ),
        ));
        assert_eq!((totals.stats.completed, totals.stats.begun), (0, 3), "{totals:?}");
        let ends = of(&said, by, END);
        assert_eq!(ends.len(), 3);
        let (mut acks, mut under_way) = (0, 0);
        for end in ends {
            let at = end.arrived.expect("nothing is lost");
            let other = 1 - by;
            // Control of the other end names the Transfer by its own id, Data by that of the receiver.
            let about = |said: &&Said| {
                said.device == other
                    && match said.op() {
                        DATA => said.d_id() == end.s_id(),
                        CLEAR_TO_SEND | STATE_RESPONSE | REQUEST_STATE | END_ACK | REQUEST_TO_SEND => {
                            said.s_id() == end.d_id()
                        }
                        _ => false,
                    }
            };
            let later: Vec<&Said> = said.iter().filter(about).filter(|said| said.at >= at).collect();
            assert!(later.iter().all(|said| said.op() == END_ACK), "{after} {by_name}: {later:?}");
            acks += later.len();
            under_way +=
                said.iter().filter(about).filter(|said| said.at < at && said.op() != REQUEST_TO_SEND).count();
            if after == "1 ns" {
                let known = said.iter().filter(|said| said.device == other && said.d_id() == end.s_id());
                let known = known.filter_map(|said| said.arrived).min().expect("it answers");
                assert_eq!(end.at, known, "it leaves when the other id is known");
            }
            assert_ne!(end.d_id(), 0);
        }
        assert!(under_way > 0, "there was something to say");
        assert!(acks == 3 || by == 1 && acks < 3, "{after} {by_name}: {acks}");
    }
}

/// The end that was connected to takes the connection down so long after it was open there. Law: the
/// sequence is Request_Disconnect by that end then, Disconnect_Answer by the other one when that arrives, and
/// Disconnect_Complete when the answer does. What is under way fails at both ends, and nothing else is said
/// of it. If the end that connected does the same before it knows, each of the two is answered and completed
/// by itself.
///
/// Proves: ST-5.1.2-1, ST-5.1.2-8, ST-5.1.2-9
#[test]
fn either_end_takes_a_connection_down() {
    let alone = [(REQUEST_DISCONNECT, 1), (DISCONNECT_ANSWER, 0), (DISCONNECT_COMPLETE, 1)];
    for (operation, bytes, after, done) in [
        ("write", 3_000, "100 us", 1),
        ("read", 3_000, "100 us", 1),
        ("put", 3_000, "100 us", 1),
        ("write", 1_000_000, "70 us", 0),
        ("read", 1_000_000, "70 us", 0),
        ("put", 1_000_000, "70 us", 0),
    ] {
        let (said, totals) = story(&pair(
            "",
            &format!(
                r#""operation": "{operation}", "bytes": {bytes}, "disconnect": false,
                   "disconnect_after": "{after}""#
            ),
        ));
        let stats = &totals.stats;
        let cut_off = stats.aborted[models::stats::TransferEnd::Disconnected as usize];
        assert_eq!((stats.completed, cut_off, stats.closed), (done, 1 - done, [2, 0]), "{totals:?}");
        assert_eq!((totals.under_way, stats.kept_octets), (0, 0), "{operation} {after}: {totals:?}");
        let teardown: Vec<&Said> = said
            .iter()
            .filter(|said| (REQUEST_DISCONNECT..=DISCONNECT_COMPLETE).contains(&said.op()))
            .collect();
        assert_eq!(teardown.iter().map(|said| (said.op(), said.device)).collect::<Vec<_>>(), alone);
        let opened = of(&said, 1, CONNECTION_ANSWER)[0].at;
        let wait = after.trim_end_matches(" us").parse::<u64>().unwrap() * 1_000_000;
        let [asked, answered, done] = [0, 1, 2].map(|n| teardown[n]);
        assert_eq!((asked.at, answered.at), (opened + wait, asked.arrived.unwrap()));
        assert_eq!(done.at, answered.arrived.unwrap());
        for first in [asked, answered] {
            let later = said.iter().filter(|said| said.device == first.device && said.at > first.at);
            assert!(later.into_iter().all(|said| said.op() == DISCONNECT_COMPLETE), "{operation} {after}");
        }
    }
    // Both at a time: the other end says it when its Transfer is over, this one within the way of a frame.
    let over = of(&story(&pair("", r#""bytes": 3000"#)).0, 0, REQUEST_DISCONNECT)[0].clone();
    let opened = of(&story(&pair("", r#""bytes": 3000"#)).0, 1, CONNECTION_ANSWER)[0].at;
    let after = (over.at + over.arrived.unwrap()) / 2 - opened;
    let st = format!(r#""bytes": 3000, "disconnect_after": "{after} ps""#);
    let (said, totals) = story(&pair("", &st));
    assert_eq!((totals.stats.completed, totals.stats.closed), (1, [2, 0]), "{totals:?}");
    for (device, other) in [(0, 1), (1, 0)] {
        let [asked] = of(&said, device, REQUEST_DISCONNECT)[..] else { panic!("one each") };
        let [answer] = of(&said, other, DISCONNECT_ANSWER)[..] else { panic!("one each") };
        let [done] = of(&said, device, DISCONNECT_COMPLETE)[..] else { panic!("one each") };
        assert_eq!((answer.at, done.at), (asked.arrived.unwrap(), answer.arrived.unwrap()));
    }
}

/// An application ends the region that Puts, Gets or FetchOps work on: the one that asked for it, or its
/// owner. Law: End leaves once and is answered by End_Ack once, unless the teardown says that as well; what
/// both ends have under way there fails with the region, and nobody says anything of it any more: no Data, no
/// request, no answer. No other region is asked for, so the rest is never begun. Memory is
/// given back, but for the word that all count with.
///
/// Proves: ST-6.1.1.4-6
#[test]
fn the_end_of_a_region_ends_all_that_works_on_it() {
    for (operation, bytes) in [("put", 20_000), ("get", 20_000), ("fetch_op", 8)] {
        let after = if bytes == 8 { "10 us" } else { "50 us" };
        let of_bytes = if bytes == 8 { String::new() } else { format!(r#""bytes": {bytes}, "#) };
        for (by, disconnect) in [(0u32, true), (0, false), (1, true), (1, false)] {
            let what = format!("{operation}, by {by}, disconnect {disconnect}");
            let by_name = ["from", "to"][by as usize];
            let (said, totals) = story(&pair(
                "",
                &format!(
                    r#""operation": "{operation}", {of_bytes}"count": 100, "concurrent": 4,
                       "disconnect": {disconnect}, "end": {{"after": "{after}", "by": "{by_name}"}}"#
                ),
            ));
            let stats = &totals.stats;
            let failed: u64 = stats.aborted.iter().sum();
            let why = [models::stats::TransferEnd::Aborted, models::stats::TransferEnd::EndedByPeer];
            assert_eq!(stats.aborted[why[by as usize] as usize], failed, "{what}: {totals:?}");
            assert!(stats.completed > 0 && (1..=4).contains(&failed), "{what}: {totals:?}");
            assert_eq!(stats.never_begun, 100 - stats.completed - failed, "{what}: {totals:?}");
            let kept = if operation == "fetch_op" { 8 } else { 0 };
            assert_eq!((totals.under_way, stats.kept_octets), (0, kept), "{what}: {totals:?}");
            assert_eq!((stats.logged, totals.torn, stats.broken), (0, 0, None), "{what}: {totals:?}");
            assert_eq!(of(&said, 0, REQUEST_MEMORY_REGION).len(), 1, "{what}");
            let [end] = of(&said, by, END)[..] else { panic!("{what}: one End") };
            let place = said.iter().position(|said| said.op() == END).expect("there is one");
            let arrived = end.arrived.expect("nothing is lost");
            for device in [by, 1 - by] {
                let since = |(at, said): &(usize, &Said)| match device == by {
                    true => *at > place,
                    false => said.at >= arrived,
                };
                let later = said.iter().enumerate().filter(|(_, said)| said.device == device);
                let later = later.filter(since).map(|(_, said)| said);
                // Who has ended it still confirms words that were on their way (6.1.4.4).
                let confirms = |said: &&Said| device == by && said.octets[0] == FETCH_OP_COMPLETE;
                let later: Vec<u8> = later.filter(|said| !confirms(said)).map(Said::op).collect();
                let teardown = REQUEST_DISCONNECT..=DISCONNECT_COMPLETE;
                let (acks, other): (Vec<u8>, Vec<u8>) = later.iter().partition(|&&op| op == END_ACK);
                assert!(other.iter().all(|op| teardown.contains(op)), "{what}: {later:?}");
                assert_eq!(other.is_empty(), !disconnect, "{what}: {later:?}");
                // Who is told answers, also if it takes the connection down then.
                assert_eq!(acks.len(), usize::from(device != by), "{what}: {later:?}");
            }
        }
    }
}

/// A source that sends smaller STUs than it may offers Blocks that need 65 536 of them at most, whatever the
/// destination would like: with STUs of 256 octets, 2 to the power of 24 octets. A trailer takes a number
/// too, so half of that. The destination keeps to it.
///
/// Proves: ST-6.2.5-4
#[test]
fn blocks_of_small_stus_have_few_enough_of_them() {
    for (cut, block, more, exponent) in [
        (256u32, 1u64 << 26, "", 24u16),
        (512, 1 << 26, "", 25),
        (1_024, 1 << 27, "", 26),
        (256, 1 << 20, "", 20),
        (256, 1 << 26, r#", "trailers": true"#, 23),
        (1_024, 1 << 27, r#", "trailers": true"#, 25),
    ] {
        for (operation, source, destination) in [("write", 0, 1), ("read", 1, 0)] {
            let (said, _) = story(&pair(
                "",
                &format!(
                    r#""operation": "{operation}", "bytes": {block}, "block": {block},
                       "ends": [{{"endpoints": "ep/{source}", "cut": {cut}}}],
                       "end": {{"after": "30 us"}}{more}"#
                ),
            ));
            let request = of(&said, source, REQUEST_TO_SEND)[0];
            let max_block = u16::from_be_bytes([request.octets[14], request.octets[15]]);
            assert_eq!(max_block, exponent, "{cut} {block}{more}");
            let permitted = of(&said, destination, CLEAR_TO_SEND);
            assert!(!permitted.is_empty() && permitted.iter().all(|said| said.param() == exponent));
            let data = of(&said, source, DATA);
            assert!(data.len() > 10 && data.iter().all(|said| said.payload() == cut as usize));
        }
    }
    // The other way it sends what it sent.
    let st = r#""operation": "read", "bytes": 65536, "ends": [{"endpoints": "ep/0", "cut": 256}]"#;
    assert_eq!(of(&story(&pair("", st)).0, 1, DATA).len(), 64);
}

/// Operations arrive with a wrong bit. Law: whoever checks takes none of them, and logs each: a Control
/// operation by itself, so a peer of which none is right is as silent as one that is not there; of Data the
/// Block, once, so where a Block is one Data, each. All the same all Transfers end well, and not one octet is
/// wrong.
///
/// Proves: ST-8.3.3-1
#[test]
fn what_is_damaged_counts_for_nothing() {
    let (said, totals) = story(&pair(
        "",
        r#""bytes": 3000, "op_timeout": "20 us", "max_retry": 5, "damaged": {"control": 1}"#,
    ));
    assert!(said.iter().all(|said| said.op() == REQUEST_CONNECTION));
    assert_eq!((said.len(), totals.stats.damaged, totals.stats.logged), (6, 6, 6), "{totals:?}");
    assert_eq!((totals.stats.exhausted, totals.stats.opened), (1, 0), "{totals:?}");

    let mut damaged = 0;
    for (operation, more) in [("write", ""), ("read", ""), ("put", ""), ("write", r#", "trailers": true"#)] {
        // Of two wrong bits under one checksum, one pair in 32 would not be seen: there are seldom two.
        for (block, segment, data, control) in [
            (1_024, 1, "0.05", "0"),
            (8_192, 1, "0.01", "0"),
            (8_192, 0, "0.01", "0.02"),
            (8_192, 2, "0.01", "0.02"),
        ] {
            let blocks = if operation == "put" { String::new() } else { format!(r#""block": {block}, "#) };
            let segment = if operation == "put" { 1 } else { segment };
            let (_, totals) = story(&pair(
                "",
                &format!(
                    r#""operation": "{operation}", "bytes": 100000, "count": 4, {blocks}
                       "checksum_segment": {segment},
                       "max_retry": 20, "damaged": {{"control": {control}, "data": {data}}}{more}"#
                ),
            ));
            let stats = &totals.stats;
            let what = format!("{operation}{more}, {block} {segment}, {data} {control}");
            assert_eq!((stats.completed, stats.verified, stats.corrupt), (4, 4, 0), "{what}: {totals:?}");
            assert_eq!(
                (stats.stray_octets, stats.broken, totals.unverified),
                (0, None, 0),
                "{what}: {totals:?}"
            );
            damaged += stats.damaged;
            assert!((1..=stats.damaged).contains(&stats.logged), "{what}: {totals:?}");
            if block == 1_024 && operation != "put" {
                assert_eq!(stats.logged, stats.damaged, "{what}: {totals:?}");
            }
        }
    }
    assert!(damaged > 100, "{damaged}");
}

/// Puts go to one place, one after the other, and are put again until they are whole. Law: a wrong bit of one
/// that is given up changes nothing of what is whole, also when it comes late, so where each Data has a Cksum
/// of its own no place has a wrong octet; where one is for all of them the octets lie there, and are told as
/// those of another Put. Each Put is confirmed, and none is lost or changed unseen. It was in 4 of 25 runs.
///
/// Two wrong bits of one Put at the same place of 16-bit words, one set and one cleared, leave a sum as it
/// is: so with seed 47, in bits 4 and 52 of two words. No Cksum can see that, and the books tell it.
///
/// Proves: ST-8.3.3-3, ST-10.4-1
#[test]
fn late_puts_with_a_wrong_bit_are_none() {
    let mut overwritten = [0, 0];
    for (segment, overwritten) in (0..).zip(&mut overwritten) {
        for delay in ["20 us", "200 us"] {
            let text = pair(
                "",
                &format!(
                    r#""operation": "put", "bytes": 4096, "stu": 1024, "count": 10, "concurrent": 1,
                       "checksum_segment": {segment}, "delay": "{delay}", "delayed": {{"data": 0.1}},
                       "damaged": {{"data": 0.05}}"#
                ),
            );
            for seed in 1..=60 {
                let (_, totals) = story(&seeded(&text, seed));
                let (stats, what) = (&totals.stats, format!("{segment}, {delay}, {seed}: {totals:?}"));
                let unseen = u64::from((segment, delay, seed) == (0, "200 us", 47));
                let found = (stats.completed, stats.corrupt, stats.broken);
                assert_eq!(found, (10, unseen, None), "{what}");
                let seen = stats.verified + totals.overwritten + unseen;
                assert_eq!((seen, totals.unverified, totals.torn), (10, unseen, 0), "{what}");
                *overwritten += totals.overwritten;
            }
        }
    }
    // With one Cksum for all STUs one Put more lies under a word that is wrong.
    assert_eq!(overwritten, [5, 4]);
}

/// A region that Puts go to lives on when all of them are over, and as long as the connection does: its
/// memory is kept. Teardown ends it without an End.
///
/// Proves: ST-6.1.4.1-6
#[test]
fn a_region_lives_as_long_as_its_connection() {
    for (disconnect, kept) in [(false, 3_000), (true, 0)] {
        let (said, totals) = story(&pair(
            "",
            &format!(r#""operation": "put", "bytes": 3000, "count": 4, "disconnect": {disconnect}"#),
        ));
        assert_eq!((totals.stats.verified, totals.stats.kept_octets), (4, kept), "{totals:?}");
        // The machine itself finds nothing of a connection that is gone.
        assert_eq!(totals.stats.broken, None);
        assert!(said.iter().all(|said| ![END, END_ACK].contains(&said.op())));
        assert_eq!(of(&said, 1, DISCONNECT_ANSWER).len(), usize::from(disconnect));
    }
}

/// FetchOp names a word of 64 bits in the region by an Offset that is a multiple of 8, whichever function it
/// has, and the value comes back in 8 octets of Data.
///
/// Proves: ST-6.1.4.4-1
#[test]
fn fetch_op_names_an_aligned_word() {
    for function in ["increment", "decrement", "clear"] {
        let (said, _) = story(&pair(
            "",
            &format!(r#""operation": "fetch_op", "count": 9, "concurrent": 3, "function": "{function}""#),
        ));
        let fetches: Vec<&Said> =
            of(&said, 0, GET).into_iter().filter(|said| (1..=3).contains(&(said.octets[0] & 7))).collect();
        assert_eq!(fetches.len(), 9);
        assert!(fetches.iter().all(|said| said.offset() % 8 == 0));
        let data = of(&said, 1, DATA);
        assert_eq!(data.iter().map(|said| said.payload()).collect::<Vec<_>>(), [8; 9]);
    }
}

/// Where permissions let Blocks begin that follow the first one, of 26 000 octets from octet 1 536 of a
/// buffer of 4 KiB: at the beginning of a buffer if a Block has at least as much as one, else at a multiple
/// of the Block.
///
/// Proves: ST-6.2.6-9
#[test]
fn blocks_begin_where_buffers_or_blocks_do() {
    for (block, stu) in
        [(512u32, 512), (1_024, 512), (2_048, 1_024), (4_096, 1_024), (8_192, 1_024), (16_384, 512)]
    {
        for (operation, destination) in [("write", 1), ("read", 0)] {
            let (said, totals) = story(&pair(
                "",
                &format!(
                    r#""operation": "{operation}", "bytes": 26000, "bufsize": 4096, "first_offset": 1536,
                       "block": {block}, "stu": {stu}"#
                ),
            ));
            assert_eq!(totals.stats.verified, 1);
            let permitted = of(&said, destination, CLEAR_TO_SEND);
            assert_eq!(permitted[0].offset(), 1_536);
            assert_eq!(u32::from(permitted[0].param()), block.trailing_zeros());
            let unit = if block >= 4_096 { 4_096 } else { block };
            let later = || permitted.iter().filter(|said| said.b_num() > 0);
            assert!(later().count() > 0 && later().all(|said| said.offset() % 4_096 % unit == 0));
            assert!(block < 4_096 || later().all(|said| said.offset() == 0), "{block}: {permitted:?}");
        }
    }
}

/// Data of a Write gets lost. Nothing guards it: where the destination does not care, no STU leaves twice, no
/// permission is given again, and the Transfer is still under way at the end. Where its upper layer waits for
/// so long, the Block that is missing is permitted once more, so long after the last Data came, and the
/// Transfer ends well.
///
/// Proves: ST-10.1-4, ST-10.1-5, ST-10.7.8-1
#[test]
fn the_destination_decides_how_long_it_waits_for_data() {
    let run = |timeout: &str| {
        let text = pair(
            "",
            &format!(
                r#""bytes": 200000, "missing_timeout": "{timeout}", "loss": {{"data": 0.02}}, "count": 1"#
            ),
        );
        let (said, totals) = story(&text);
        let mut permitted: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut sent: BTreeMap<(u32, u16), u64> = BTreeMap::new();
        for said in &said {
            match (said.device, said.op()) {
                (1, CLEAR_TO_SEND) => permitted.entry(said.b_num()).or_default().push(said.at),
                (0, DATA) => *sent.entry((said.b_num(), said.param())).or_default() += 1,
                _ => {}
            }
        }
        let arrived: Vec<u64> = of(&said, 0, DATA).iter().filter_map(|said| said.arrived).collect();
        (permitted, sent, arrived, totals)
    };
    let (permitted, sent, _, totals) = run("off");
    assert!(totals.stats.lost > 0 && totals.under_way == 1 && totals.stats.timeouts == 0, "{totals:?}");
    assert!(permitted.values().all(|times| times.len() == 1) && sent.values().all(|&times| times == 1));
    for (timeout, picoseconds) in [("50 us", 50_000_000), ("120 us", 120_000_000)] {
        let (permitted, _, arrived, totals) = run(timeout);
        assert_eq!((totals.stats.verified, totals.under_way, totals.stats.timeouts), (1, 0, 0), "{totals:?}");
        let again: Vec<u64> = permitted.values().flat_map(|times| &times[1..]).copied().collect();
        let first = *again.iter().min().expect("a Block is permitted again");
        let last = arrived.iter().filter(|&&at| at < first).max().unwrap();
        assert_eq!(first - last, picoseconds, "{timeout}: {again:?}");
    }
}

/// Each end has its own mind about checksums: one that has none sends none, and takes what comes with them.
///
/// Proves: ST-8.3-2
#[test]
fn checksums_are_up_to_each_end() {
    let text = pair("", r#""bytes": 65536, "ends": [{"endpoints": "ep/1", "checksum": false}]"#)
        .replace(r#""from": "ep/0", "to": "ep/1""#, r#""from": "all", "to": {"neighbour": {}}"#);
    let (said, totals) = story(&text);
    assert_eq!((totals.stats.verified, totals.stats.corrupt), (2, 0), "{totals:?}");
    let protected = |device| of(&said, device, DATA).iter().filter(|said| said.cksum() != 0).count();
    assert_eq!([0, 1].map(protected), [8, 0]);
    // All Data has a wrong bit: who looks takes none of it, who does not takes all, and keeps wrong octets.
    for looks in [true, false] {
        let text = pair("", r#""bytes": 65536, "max_retry": 1"#);
        let (_, totals) = story_with(&text, |end| {
            end.protocol.check = looks;
            end.faults[1].damaged = 1_000_000;
        });
        let stats = &totals.stats;
        let found = (stats.completed, stats.corrupt, stats.logged > 0);
        assert_eq!(found, if looks { (0, 0, true) } else { (1, 1, false) }, "{totals:?}");
    }
}

/// One interface sends to a host of four. The request goes to the one that set the connection up; each
/// permission comes from the interface that wants the Block, and its Data goes there.
///
/// Proves: ST-B.3-1
#[test]
fn each_interface_asks_for_its_own_blocks() {
    let (said, totals) = story(&stripes([1, 4], [FAST, SLOW], "", r#""bytes": 200000, "block": 2048"#));
    assert_eq!(totals.stats.verified_octets, 200_000, "{totals:?}");
    let answer = said.iter().find(|said| said.op() == CONNECTION_ANSWER).expect("it is set up");
    let requests: Vec<&Said> = said.iter().filter(|said| said.op() == REQUEST_TO_SEND).collect();
    assert!(!requests.is_empty() && requests.iter().all(|said| said.to == answer.from));
    let permitted = said.iter().filter(|said| said.op() == CLEAR_TO_SEND);
    let by: BTreeMap<u32, [u8; 6]> = permitted.map(|said| (said.b_num(), said.from)).collect();
    assert_eq!(by.values().collect::<BTreeSet<_>>().len(), 4);
    let data: Vec<&Said> = said.iter().filter(|said| said.op() == DATA).collect();
    assert!(data.len() > 100 && data.iter().all(|said| said.to == by[&said.b_num()]));
}

/// Data of FetchOps gets lost. The initiator asks again after one Op_timeout without Data, by the same
/// operation with the same F-id, octet by octet; the word is counted once for each, whatever was repeated.
///
/// Proves: ST-6.1.4.4-12
#[test]
fn a_fetch_op_without_data_is_asked_again() {
    const OP_TIMEOUT: u64 = 30_000_000;
    let st = r#""operation": "fetch_op", "count": 40, "op_timeout": "30 us", "max_retry": 20,
                "loss": {"data": 0.3}"#;
    let (said, totals) = story(&pair("", st));
    assert_eq!((totals.stats.completed, totals.torn, totals.repeated), (40, 0, 0), "{totals:?}");
    let mut asked: BTreeMap<&[u8], Vec<u64>> = BTreeMap::new();
    for fetch in of(&said, 0, GET).into_iter().filter(|said| (1..=3).contains(&(said.octets[0] & 7))) {
        asked.entry(&fetch.octets).or_default().push(fetch.at);
    }
    assert_eq!(asked.len(), 40, "each has octets of its own");
    let lost = of(&said, 1, DATA).iter().filter(|data| data.arrived.is_none()).count();
    let again: usize = asked.values().map(|times| times.len() - 1).sum();
    assert!(lost > 5 && again == lost, "{again} times again, {lost} lost");
    for times in asked.values() {
        assert!(times.windows(2).all(|pair| pair[1] - pair[0] == OP_TIMEOUT), "{times:?}");
    }
}

/// One end writes to two others over its one link: their connections take turns, so STUs of Blocks of both
/// are interleaved on the link, one after the other while both have permissions. Each Block has its own place
/// at its destination.
///
/// Proves: ST-6.2.7-8
#[test]
fn stus_of_different_blocks_are_interleaved() {
    let st = r#""bytes": 65536, "block": 16384, "window": 0"#;
    let text = pair("", st)
        .replace(r#""ports": 2"#, r#""ports": 3"#)
        .replace(r#""to": "ep/1""#, r#""to": {"cycle": ["ep/1", "ep/2"]}"#);
    let (said, totals) = story(&text);
    assert_eq!(totals.stats.verified, 2, "{totals:?}");
    let data = of(&said, 0, DATA);
    assert_eq!(data.len(), 2 * 64);
    let inside = |data: &Said| data.param() > 0 && data.param() < 15;
    let turns = data.windows(2).filter(|pair| pair[0].to != pair[1].to);
    let turns = turns.filter(|pair| inside(pair[0]) && inside(pair[1])).count();
    assert!(turns > 80, "{turns} turns from one Block to the other within both");
}
