//! Session management octet by octet: what a node answers to messages written by hand, and what it sends of
//! its own, as its packets carry it.

use crate::watched::{injected, watched};
use models::Probe;
use models::probe::{Crossed, Crossing};
use models::stats::SessionTotals;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Octets of the packets of type 11 messages of ep/1, in hexadecimal digits.
#[derive(Default)]
struct Octets(Vec<String>);

impl Probe for Octets {
    fn follows_wire(&self) -> bool {
        true
    }
    fn crossing(&mut self, crossing: &Crossing<'_>) {
        let Crossed::Packet { body, .. } = crossing.what else { return };
        let (mut octets, body) = (crossing.octets.to_vec(), usize::from(body));
        // A packet of more than 80 octets has a CRC behind these.
        if body > 80 {
            octets.drain(80..82);
        }
        // Two octets of the link and the type, two ids, and two of the segment: length, letter, mailbox.
        let (header, message) = octets[..body].split_at(6);
        if crossing.device == 1 && header[1] & 0xF == 11 {
            self.0.push(message.iter().map(|octet| format!("{octet:02x}")).collect());
        }
    }
}

/// What ep/1 says in flows between ep/0, which says only what is injected, one message each 10 us, and it.
fn said(node: &Value, flows: &[Value], inject: &[&str]) -> (Vec<String>, SessionTotals) {
    let inject = injected(inject);
    let flows: Vec<Value> = (0..)
        .zip(flows)
        .map(|(n, flow)| {
            // What it wants of itself comes with the end of the run.
            let mut session = json!({"opens": "stream", "at": "1 ms"});
            if n == 0 {
                session["inject"] = json!(inject);
            }
            session.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
            let from = session.as_object_mut().unwrap().remove("from").unwrap_or(json!("ep/0"));
            let to = if from == "ep/0" { "ep/1" } else { "ep/0" };
            json!({"name": format!("f{n}"), "from": from, "to": to, "size": 24, "limit": 1,
                   "arrivals": {"constant": {"interval": "10 us", "phase": "0 ps"}}, "session": session})
        })
        .collect();
    let scenario = json!({
        "name": "test",
        "topology": {"single_switch": {"ports": 2}},
        "endpoint": {"session": node},
        "overrides": [{"devices": "ep/0", "endpoint": {"session": {"mute": true}}}],
        "traffic": flows,
        "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
    });
    let (octets, outcome): (Octets, _) = watched(&scenario);
    let totals = outcome.totals.of::<SessionTotals>().next().expect("a flow").clone();
    (octets.0, totals)
}

/// Octets without spaces, in small digits.
fn hex(octets: &str) -> String {
    octets.replace(' ', "").to_lowercase()
}

/// Up to seven octets of zero may follow a message in its segment.
fn expect(said: &[String], expected: &[&str]) {
    assert_eq!(said.len(), expected.len(), "{said:?}");
    for (said, expected) in said.iter().zip(expected) {
        let padding = said.strip_prefix(&hex(expected)).unwrap_or_else(|| panic!("{said}, not {expected}"));
        assert!(padding.len() < 16 && padding.bytes().all(|digit| digit == b'0'), "{said}");
    }
}

fn vendor(name: &str) -> Value {
    json!({"vendor": {"vendor": "EXAMPLE", "name": name}})
}

/// An OPEN of an ordinary protocol.
const OPEN: &str = "0301 0000 0200 0001 F000000300000007";

/// A node that takes frames of 576 to 9 000 octets advertises both ends of the range, as two copies of MTU.
/// What is filtered by identifiers comes with all its copies, whatever the values of the filter; with a
/// filter that fits nothing comes a block without attributes.
///
/// Proves: SMP-4.2.1-7, SMP-4.2.1-8, SMP-3.8.2-3
#[test]
fn a_filter_chooses_attributes() {
    let node = json!({"mtu": {"from": 576, "to": 9000}});
    let answer = |filter: &str| {
        said(&node, &[json!({"ethernet": {"mtu": 9000}})], &[&format!("0101 0000 0001 00 00 0102 {filter}")])
            .0
    };
    let (mtu, conveyance, address) =
        ("80020000 00000240 80020000 00002328", "80010001 00000000", "80030200 00000001");
    expect(&answer("0000 00000000"), &[&format!("02010001 0000C001 0102 0004 {mtu} {conveyance} {address}")]);
    let filter = "0001 00000000 80020000 00000001";
    expect(&answer(filter), &[&format!("02010001 0000C001 0102 0002 {mtu}")]);
    let filter = "0002 00000000 80010000 00000000 80020000 00000000";
    expect(&answer(filter), &[&format!("02010001 0000C001 0102 0003 {mtu} {conveyance}")]);
    expect(&answer("0001 00000000 F0000000 00000000"), &["02010001 0000C001 0102 0000"]);
}

/// Who has read a range offers one value of it: the largest that it takes itself, and none beyond the range.
///
/// Proves: SMP-3.8.2-5
#[test]
fn an_open_offers_one_value_of_a_range() {
    let advertise =
        "02010000 0001C001 01020004 80020000 00000240 80020000 00002328 80010001 00000002 80030200 00000000";
    for (to, offered) in [(9_000, "00002328"), (4_000, "00000FA0"), (12_000, "00002328")] {
        let node = json!({"mtu": {"from": 576, "to": to}});
        let flow = json!({"ethernet": {"mtu": 9000}, "from": "ep/1", "at": "0 ps", "request": true});
        let (said, _) = said(&node, &[flow], &[advertise]);
        let open = format!(
            "0301 0001 0102 0004 F0000003 00000000 80020000 {offered} 80010001 00000002 80030200 00000001"
        );
        expect(&said, &["0101 0001 0000 00 00 0102 0000 00000000", &open]);
    }
}

/// A peer has advertised MTUs of 576 to 9 000, and refuses the 4 000 that are asked for: one value inside the
/// range is tried, and no more. The next OPEN, which answers a conduit of that peer, asks for an end of the
/// range.
///
/// Proves: SMP-3.8.2-6
#[test]
fn one_value_inside_a_range_is_tried() {
    let rest = "80010001 00000002 80030200 00000000";
    let advertise = format!("02010000 0001C001 01020004 80020000 00000240 80020000 00002328 {rest}");
    let own = "80010001 00000002 80030200 00000001";
    let refuse =
        format!("0501 0000 00 FFFFFF 0102 0005 F0000003 00000000 80020000 00000FA0 {own} F0000004 FFFFFFFF");
    let open = format!("0301 0000 0102 0005 F0000003 00000007 80020000 00000240 {rest} F0000004 FFFFFFFF");
    let node = json!({"mtu": {"from": 576, "to": 4000}});
    let flow = json!({"ethernet": {"mtu": 9000}, "from": "ep/1", "at": "0 ps", "request": true,
                      "opens": "conduit"});
    let (said, _) = said(&node, &[flow], &[&advertise, &refuse, &open]);
    let mtus: Vec<&str> = said
        .iter()
        .filter(|said| said.starts_with("0301"))
        .map(|said| {
            let at = said.find("80020000").expect("an MTU");
            &said[at + 8..at + 16]
        })
        .collect();
    assert_eq!(mtus, ["00000fa0", "00000240"], "{said:?}");
}

/// An initiator sends OPEN with the attributes that it prefers. When that is refused, and only then, it asks
/// for those of the peer, and opens again with what they leave: without the vendor's attribute, which the
/// peer does not advertise. It does so once. A peer that says nothing of its attributes is left alone.
///
/// Proves: SMP-3.8.1-3
#[test]
fn who_is_refused_asks_and_opens_again() {
    let (identity, extra) = ("004558414D504C45 0162756C6B000000", "7801020304050607");
    let open = |count: u8, number: u8, attributes: &str| {
        format!("0001 0101 000{count} F0000003 0000000{number} {attributes}")
    };
    let (preferred, left) = (open(4, 0, &format!("{identity} {extra}")), open(3, 1, identity));
    let refuse = |open: &str| format!("0501 0000 00 FFFFFF {}", &open[5..]);
    let request = "0101 0001 0000 00 00 0101 0000 00000000";
    let advertise = format!("02010000 0001C001 0101 0002 {identity}");
    // Nobody speaks it; the command is unknown.
    let (none, unknown) =
        ("02010000 0001C000", format!("1001 00 02 0000 FFFF 00 00 01 01 40000000 {request}"));
    let node = json!({"vendor_attributes": [extra], "understands": ["78"]});
    let answers = |after: bool, inject: &[&str]| {
        let mut flow = vendor("bulk");
        (flow["from"], flow["at"], flow["request_after_refuse"]) =
            (json!("ep/1"), json!("0 ps"), json!(after));
        said(&node, &[flow], inject).0
    };
    let (first, second) = (format!("0301 {preferred}"), format!("0301 {left}"));
    let (refused, again) = (refuse(&preferred), refuse(&left));
    expect(&answers(true, &[]), &[&first]);
    expect(&answers(false, &[&refused, &advertise]), &[&first]);
    expect(&answers(true, &[&refused, &advertise]), &[&first, request, &second]);
    expect(&answers(true, &[&refused, &advertise, &again, &advertise]), &[&first, request, &second]);
    expect(&answers(true, &[&refused, none]), &[&first, request]);
    expect(&answers(true, &[&refused, &unknown]), &[&first, request]);

    // The same between two nodes: a conduit, or three streams, and all that waited for them.
    for (after, opens, streams) in
        [(true, "conduit", 1), (false, "conduit", 1), (true, "stream", 3), (false, "stream", 3)]
    {
        let scenario = json!({
            "name": "test",
            "topology": {"single_switch": {"ports": 2}},
            "overrides": [{"devices": "ep/0", "endpoint": {"session": node}}],
            "traffic": [{
                "name": "f", "from": "ep/0", "to": "ep/1", "size": 24, "limit": 3,
                "arrivals": {"constant": {"interval": "10 us"}},
                "session": {"opens": opens, "streams": streams, "request_after_refuse": after,
                            "vendor": {"vendor": "EXAMPLE", "name": "bulk"}}
            }],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let ((), outcome) = watched(&scenario);
        let totals: &SessionTotals = outcome.totals.one().expect("one flow");
        let stats = &totals.stats;
        let what = format!("{after} {opens}: {totals:?}");
        assert_eq!((stats.failed_opens, stats.pdus_delivered), (streams, 3 * u64::from(after)), "{what}");
        assert_eq!(totals.pairs, u64::from(after && opens == "conduit"), "{what}");
        assert_eq!(
            stats.allocated,
            if opens == "conduit" { 2 } else { streams } * u64::from(after),
            "{what}"
        );
    }
}

/// Two vendor's protocols with 22 attributes each are two blocks of 180 octets. A mailbox of several segments
/// takes both; one above 3 takes one segment of 256 octets, so the answer has the first block alone, and
/// counts one.
///
/// Proves: SMP-4.2.2-11
#[test]
fn an_advertisement_ends_with_a_whole_block() {
    let attributes: Vec<String> = (0..20).map(|n| format!("78000000000000{n:02x}")).collect();
    for (mailbox, blocks) in [(0, 2), (4, 1)] {
        let node = json!({"mailbox": mailbox, "vendor_attributes": attributes, "understands": ["78"]});
        let request = "0101 0000 0001 00 00 0101 0000 00000000";
        let (said, _) = said(&node, &[vendor("bulk"), vendor("more")], &[request]);
        let first = format!(
            "02010001 0000C00{blocks} 0101 0016 004558414D504C45 0162756C6B000000 {}",
            attributes.concat()
        );
        assert_eq!(said.len(), blocks);
        if blocks == 1 {
            expect(&said, &[&first]);
        } else {
            assert!(said[0].starts_with(&hex(&first[..first.len() - 200])), "{said:?}");
        }
    }
}

/// A vendor's protocol has ProtoID 0x0101, and in its OPEN VENDOR stands behind the number, PROTOCOL_NAME
/// behind VENDOR, then what the vendor adds. An OPEN without one of both, or in another order, is refused.
///
/// Proves: SMP-6.1-1, SMP-6.2.1-1, SMP-6.2.2-1, SMP-6.2.3-1, SMP-6.2-2
#[test]
fn vendors_are_named_first() {
    let (vendor_octets, name) = ("004558414D504C45", "0162756C6B000000");
    let mut flow = vendor("bulk");
    (flow["from"], flow["at"]) = (json!("ep/1"), json!("0 ps"));
    let own = json!({"vendor_attributes": ["7801020304050607"], "understands": ["78"]});
    let (octets, _) = said(&own, &[flow], &[]);
    expect(
        &octets,
        &[&format!("0301 0001 0101 0004 F0000003 00000000 {vendor_octets} {name} 7801020304050607")],
    );
    let number = "F0000003 00000007";
    for (count, attributes, taken) in [
        (3, format!("{vendor_octets} {name}"), true),
        (3, format!("{name} {vendor_octets}"), false),
        (2, vendor_octets.to_owned(), false),
        (2, name.to_owned(), false),
        (1, String::new(), false),
    ] {
        let echoed = format!("0101 000{count} {number} {attributes}");
        let (octets, _) = said(&json!({}), &[vendor("bulk")], &[&format!("0301 0000 {echoed}")]);
        let answer = if taken {
            format!("0401 0001 00 00 0000 {echoed}")
        } else {
            format!("0501 0001 00 FFFFFF {echoed}")
        };
        expect(&octets, &[&answer]);
    }
}

/// PROTOCOL_NAME means nothing in a protocol that is no vendor's: its identifier is reserved there, behind
/// VENDOR as well. An OPEN with it is refused, and nobody is suspect, as would be of a known attribute in the
/// wrong place.
///
/// Proves: SMP-6.2.2-2
#[test]
fn only_vendors_have_protocol_names() {
    for echoed in [
        "0200 0002 F000000300000007 0162756C6B000000",
        "0200 0003 F000000300000007 004558414D504C45 0162756C6B000000",
    ] {
        let (octets, totals) = said(&json!({}), &[json!({})], &[&format!("0301 0000 {echoed}")]);
        expect(&octets, &[&format!("0501 0001 00 FFFFFF {echoed}")]);
        assert_eq!(totals.stats.suspects, 0, "{echoed}");
    }
    // VENDOR alone is no mistake.
    let alone = "0200 0002 F000000300000007 004558414D504C45";
    let (octets, _) = said(&json!({}), &[json!({})], &[&format!("0301 0000 {alone}")]);
    expect(&octets, &[&format!("0401 0001 00 00 0000 {alone}")]);
}

/// How data comes is said by DATA_HEADER_FORMAT of the ACCEPT: nothing for DATA, 0x09 for DATA1, 0x0A for
/// DATA2, and 0x0B for type 9, where there is no header at all. A node that takes data by type 11 never says
/// 0x0B, whatever header it wants, and CONVEYANCE is in none of them.
///
/// Proves: SMP-3.5.3.10-4, SMP-4.3.4-2
#[test]
fn the_acceptor_names_the_header_of_data() {
    for (node, format) in [
        (json!({}), None),
        (json!({"header": "data1"}), Some("00000009")),
        (json!({"header": "data2"}), Some("0000000A")),
        (json!({"data": "stream"}), Some("0000000B")),
    ] {
        let (octets, _) = said(&node, &[json!({})], &[OPEN]);
        let accept = match format {
            None => "0401 0001 00 00 0000 0200 0001 F000000300000007".to_owned(),
            Some(format) => format!("0401 0001 00 00 0000 0200 0002 F000000300000007 F0000005 {format}"),
        };
        expect(&octets, &[&accept]);
    }
}

/// Two streams with DATA2 from one sender: the acceptor gives each a value of its own, octet 6 of
/// DATA_HEADER_FORMAT, by which alone their messages are told apart. What has neither value belongs to no
/// stream: it is dropped without a word, as is DATA2 where it was not agreed.
///
/// Proves: SMP-4.3.3-2, SMP-4.3.3-4
#[test]
fn streams_of_data2_are_told_apart_by_an_octet() {
    let accept = |number: u8, stream: u8, format: &str| {
        format!("0401 0001 00 00 000{stream} 0200 0002 F00000030000000{number} F0000005 {format}")
    };
    let (first, second) = (accept(7, 0, "0000000A"), accept(8, 1, "0000010A"));
    let other = "0301 0000 0200 0001 F000000300000008";
    for (data, delivered) in [("0A00C003 010203", 1), ("0A01C003 010203", 1), ("0A02C003 010203", 0)] {
        let (octets, totals) = said(&json!({"header": "data2"}), &[json!({})], &[OPEN, other, data]);
        expect(&octets, &[&first, &second]);
        assert_eq!((totals.stats.pdus_delivered, totals.stats.octets_delivered), (delivered, 3 * delivered));
    }
    let (octets, totals) = said(&json!({}), &[json!({})], &[OPEN, "0A00C003 010203"]);
    assert_eq!((octets.len(), totals.stats.pdus_delivered), (1, 0));
}

/// What holds for DATA holds for DATA1, whose stream stands behind a longer length: one PDU is taken in, one
/// for a stream that is not open gets a STATUS that copies its stream and names the command, and one of
/// another version a report with its octets.
///
/// Proves: SMP-4.3.2-3
#[test]
fn data1_is_treated_like_data() {
    let node = json!({"header": "data1"});
    let data = |version: u8, stream: &str| {
        format!("090{version} 00 00 0000 0000 C000 0006 {stream} 0000 616263646566")
    };
    let accept = "0401 0001 00 00 0000 0200 0002 F000000300000007 F000000500000009";
    let (octets, totals) = said(&node, &[json!({})], &[OPEN, &data(1, "0000")]);
    expect(&octets, &[accept]);
    assert_eq!((totals.stats.pdus_delivered, totals.stats.octets_delivered), (1, 6));
    let (octets, _) = said(&node, &[json!({})], &[OPEN, &data(1, "0123")]);
    expect(&octets, &[accept, "1001 00 00 0000 0123 00 00 09 01 20000001"]);
    let (octets, _) = said(&node, &[json!({})], &[OPEN, &data(2, "0000")]);
    expect(&octets, &[accept, &format!("1001 00 03 0001 FFFF 00 00 09 02 40000000 {}", data(2, "0000"))]);
}

/// A frame on the broadcast stream needs no OPEN: a node with Ethernet takes it from anyone, and gives no
/// stream away for it; for one without it is an unknown stream.
///
/// Proves: SMP-7.3.2-3
#[test]
fn broadcasts_need_no_open() {
    let frame = "0601 00 00 0000 0000 C00E F000 FFFFFFFFFFFF 020000000000 0806";
    let (octets, totals) = said(&json!({}), &[json!({"ethernet": {"mtu": 1500}})], &[frame]);
    assert_eq!((octets.len(), totals.stats.pdus_delivered, totals.stats.allocated), (0, 1, 0));
    let (octets, totals) = said(&json!({}), &[json!({})], &[frame]);
    expect(&octets, &["1001 00 00 0000 F000 00 00 06 01 20000001"]);
    assert_eq!(totals.stats.pdus_delivered, 0);
}

/// Types of the packets that two nodes send.
#[derive(Default)]
struct Types(BTreeSet<u8>);

impl Probe for Types {
    fn follows_wire(&self) -> bool {
        true
    }
    fn crossing(&mut self, crossing: &Crossing<'_>) {
        if let Crossed::Packet { .. } = crossing.what {
            self.0.insert(crossing.octets[1] & 0xF);
        }
    }
}

/// Management by type 11 or type 9, and data by type 11 or type 9: a conduit comes up and carries PDUs in all
/// four ways, over packets of these types and no others. Type 13 answers type 11.
///
/// Proves: SMP-2.4-1
#[test]
fn all_four_pairs_of_conveyances() {
    for (management, data, types) in [
        ("message", "message", &[11, 13][..]),
        ("message", "stream", &[9, 11, 13]),
        ("stream", "message", &[9, 11, 13]),
        ("stream", "stream", &[9]),
    ] {
        let scenario = json!({
            "name": "test",
            "topology": {"single_switch": {"ports": 2}},
            "endpoint": {"session": {"management": management, "data": data}},
            "traffic": [{
                "name": "f", "from": "ep/0", "to": "ep/1", "size": 600, "limit": 3,
                "arrivals": {"constant": {"interval": "10 us"}}, "session": {}
            }],
            "run": {"until": "1 ms", "warmup": "0 ps", "sample_every": "off"}
        });
        let (seen, outcome): (Types, _) = watched(&scenario);
        let totals: &SessionTotals = outcome.totals.one().expect("one flow");
        assert_eq!((totals.pairs, totals.stats.pdus_delivered), (1, 3), "{management}, {data}");
        assert_eq!(seen.0.into_iter().collect::<Vec<_>>(), types, "{management}, {data}");
    }
}
