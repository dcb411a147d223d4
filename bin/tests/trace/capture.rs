//! `trace --pcapng`: what is in the file, read by a reader of its own and by tshark.

use super::{SMALL, number, riosim, root, trace};
use std::fs;
use std::process::Command;

/// A capture, read by nobody who wrote it.
struct File {
    /// (link type, name, digits of the resolution).
    interfaces: Vec<(u16, String, u8)>,
    /// (interface, instant in its unit, octets).
    records: Vec<(usize, u64, Vec<u8>)>,
}

impl File {
    fn read(octets: &[u8]) -> Self {
        let word = |at: usize| u32::from_le_bytes(octets[at..at + 4].try_into().unwrap());
        let half = |at: usize| u16::from_le_bytes(octets[at..at + 2].try_into().unwrap());
        let mut file = File { interfaces: Vec::new(), records: Vec::new() };
        let mut at = 0;
        while at < octets.len() {
            let length = word(at + 4) as usize;
            assert_eq!(
                (length % 4, word(at + length - 4) as usize),
                (0, length),
                "a block ends as it begins"
            );
            match word(at) {
                0x0A0D_0D0A => assert_eq!((at, word(at + 8)), (0, 0x1A2B_3C4D), "one section, little-endian"),
                1 => {
                    let (mut name, mut digits, mut option) = (String::new(), 6, at + 16);
                    while half(option) != 0 {
                        let value = &octets[option + 4..option + 4 + usize::from(half(option + 2))];
                        match half(option) {
                            2 => name = String::from_utf8(value.to_vec()).unwrap(),
                            9 => digits = value[0],
                            _ => {}
                        }
                        option += 4 + value.len().next_multiple_of(4);
                    }
                    file.interfaces.push((half(at + 8), name, digits));
                }
                6 => {
                    let (captured, original) = (word(at + 20) as usize, word(at + 24) as usize);
                    assert_eq!(captured, original, "nothing is cut");
                    let instant = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
                    let record = octets[at + 28..at + 28 + captured].to_vec();
                    file.records.push((word(at + 8) as usize, instant, record));
                }
                other => panic!("block {other}"),
            }
            at += length;
        }
        file
    }

    /// Of links: (port that sends, picoseconds, pseudo header, octets on the wire), in the order of the file.
    fn crossings(&self) -> Vec<(&str, u64, &[u8], &[u8])> {
        let of_links = self.records.iter().filter(|(interface, ..)| self.interfaces[*interface].0 == 147);
        of_links
            .map(|(interface, at, octets)| {
                let (_, name, digits) = &self.interfaces[*interface];
                assert_eq!(*digits, 9, "nanoseconds");
                let (pseudo, wire) = octets.split_at(octets[1].into());
                assert_eq!(pseudo[0], 1, "version");
                let rest = u64::from(u16::from_be_bytes([pseudo[4], pseudo[5]]));
                assert!(rest < 1_000);
                (name.split(" > ").next().unwrap(), at * 1_000 + rest, pseudo, wire)
            })
            .collect()
    }
}

/// Kinds of records.
const PACKET: u8 = 1;
const SYMBOL: u8 = 2;
const MESSAGE: u8 = 3;

/// The flow that a pseudo header names.
fn flow(pseudo: &[u8]) -> &str {
    std::str::from_utf8(&pseudo[24..24 + usize::from(pseudo[11])]).unwrap()
}

/// What is left of a CRC-16 over octets whose first six bits count as 0; nothing after its own CRC and zeros.
fn crc16(octets: &[u8]) -> u16 {
    octets.iter().enumerate().fold(0xFFFF, |crc, (at, octet)| {
        let octet = if at == 0 { octet & 3 } else { *octet };
        (0..8).rev().fold(crc, |crc: u16, bit| {
            let out = crc >> 15 ^ u16::from(octet >> bit & 1);
            if out == 1 { crc << 1 ^ 0x1021 } else { crc << 1 }
        })
    })
}

/// Writes a capture; what it is said to hold, and the file.
fn captured(scenario: &str, more: &[&str]) -> (String, File, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("links.pcapng");
    let words = [&["trace", "-", "--pcapng", path.to_str().unwrap()], more].concat();
    let (code, out, said) = riosim(&words, scenario);
    assert_eq!(code, Some(0), "{said}");
    let file = File::read(&fs::read(&path).unwrap());
    let (told, held) = out.split_once(" holds ").expect("what the file holds");
    assert_eq!(told, path.display().to_string());
    (held.to_owned(), file, folder)
}

/// Two ends of Scheduled Transfer; a Transfer of two Blocks.
const TRANSFER: &str = r#"{
  "name": "transfer",
  "run": { "until": "100 us", "warmup": "0 ps" },
  "topology": { "single_switch": { "ports": 2 } },
  "traffic": [{ "name": "st", "from": "ep/0", "to": "ep/1", "st": { "bytes": 3000, "block": 2048 } }]
}"#;

/// Frames of Scheduled Transfer, and the packets that carry them.
#[test]
fn frames_as_pcapng() {
    let (out, file, _folder) = captured(TRANSFER, &[]);
    let ethernet = |interface: usize| file.interfaces[interface].0 == 1;
    let frames: Vec<&[u8]> = file
        .records
        .iter()
        .filter(|(interface, ..)| ethernet(*interface))
        .map(|(.., octets)| &octets[..])
        .collect();
    for frame in &frames {
        // 802.3 length, SNAP header of the EtherType 0x8181.
        assert_eq!(usize::from(u16::from_be_bytes([frame[12], frame[13]])), frame.len() - 14);
        assert_eq!(frame[14..22], [0xAA, 0xAA, 3, 0, 0, 0, 0x81, 0x81]);
    }
    // Request_Connection is first, and the payloads behind 62 octets of header are the Transfer.
    assert_eq!(frames[0][22] >> 3, 1);
    assert_eq!(frames.iter().map(|frame| frame.len() - 62).sum::<usize>(), 3000);
    // A frame takes a packet for each 256 octets, and a packet two links.
    let packets: usize = frames.iter().map(|frame| 2 * frame.len().div_ceil(256)).sum();
    assert_eq!(file.crossings().len(), packets);
    let count = frames.len();
    assert_eq!(
        out,
        format!("{packets} packets, 0 control symbols, 0 VoQ messages, {count} Ethernet frames\n")
    );
}

/// Each step of a packet's life is a record, one symbol after it: the start-of-packet that goes ahead.
#[test]
fn packets_are_captured_where_they_start() {
    let (out, file, _folder) = captured(SMALL, &[]);
    let crossings = file.crossings();
    let of = |kind: u8| crossings.iter().filter(move |(_, _, pseudo, _)| pseudo[2] == kind);
    let counts = [PACKET, SYMBOL, MESSAGE].map(|kind| of(kind).count());
    let [packets, symbols, messages] = counts;
    assert_eq!(
        out,
        format!("{packets} packets, {symbols} control symbols, {messages} VoQ messages, 0 Ethernet frames\n")
    );
    assert!(symbols == 0 && messages > 0);
    for (.., wire) in of(MESSAGE) {
        assert_eq!((wire.len(), wire[0] >> 3), (2, 1), "14 bits, CMD 1");
    }
    // Eight characters of a long symbol at 2.5 Gbit/s a lane: 4 lanes of 6.25 Gbaud bring one each 400 ps.
    const SYMBOL_PS: u64 = 8 * 400;
    let mut steps = 0;
    let text = trace(&["--limit", "0", "--only", "delivery", "--flow", "burst"]);
    for line in text.lines() {
        let packet = number(line, "packet");
        let json = trace(&["--packet", &packet, "--json"]);
        for step in json.lines() {
            let step: serde_json::Value = serde_json::from_str(step).unwrap();
            if step["step"] != "started" {
                continue;
            }
            steps += 1;
            let device = step["device"].as_str().unwrap();
            let at = step["at_ps"].as_u64().unwrap() + SYMBOL_PS;
            let (.., pseudo, wire) = crossings
                .iter()
                .find(|(from, instant, ..)| {
                    *instant == at && from.split(':').next() == device.split(':').next()
                })
                .unwrap_or_else(|| panic!("{step} is in no record"));
            assert_eq!((flow(pseudo), pseudo[2]), ("burst", PACKET));
            assert_eq!(wire.len(), 272 + if wire.len() > 272 { 4 } else { 0 });
            // The cause is the longest of the waits.
            let causes = step["causes_ps"].as_object().unwrap();
            let moves = ["serialization", "propagation", "pipeline"];
            let waits = causes.iter().filter(|(name, _)| !moves.contains(&name.as_str()));
            let longest = waits.map(|(_, ps)| ps.as_u64().unwrap()).max().unwrap_or(0);
            let mut waited = [0; 8];
            waited[2..].copy_from_slice(&pseudo[18..24]);
            assert_eq!(u64::from_be_bytes(waited), longest, "{step}");
            assert_eq!(pseudo[9] == 0xFF, longest == 0);
        }
    }
    assert_eq!(steps, of(PACKET).filter(|(_, _, pseudo, _)| flow(pseudo) == "burst").count());
    for (.., wire) in of(PACKET) {
        assert_eq!((wire.len() % 4, crc16(wire)), (0, 0));
    }
}

/// Packets and symbols of a link with errors: what is damaged is sent again.
#[test]
fn damage_is_captured() {
    let scenario = r#"{
      "name": "errors",
      "run": { "until": "20 us", "warmup": "0 ps" },
      "topology": { "single_switch": { "ports": 2 } },
      "links": { "granularity": "symbol" },
      "traffic": [
        { "name": "there", "from": "ep/0", "to": "ep/1", "limit": 20,
          "arrivals": { "saturated": { "backlog": 3 } } }
      ],
      "faults": { "corrupt": [{ "device": "ep/0", "port": 0, "what": "packet", "nth": 3 }] }
    }"#;
    let (out, file, _folder) = captured(scenario, &[]);
    let crossings = file.crossings();
    let damaged: Vec<_> = crossings.iter().filter(|(_, _, pseudo, _)| pseudo[3] >> 7 == 1).collect();
    let [(from, at, _, wire)] = damaged[..] else { panic!("{} damaged", damaged.len()) };
    assert_eq!(*from, "ep/0");
    let third =
        crossings.iter().filter(|(port, _, pseudo, _)| port == from && pseudo[2] == PACKET).nth(2).unwrap();
    assert_eq!(third.1, *at);
    let again: Vec<_> = crossings.iter().filter(|(_, _, pseudo, _)| pseudo[3] >> 6 & 1 == 1).collect();
    assert!(again.iter().all(|(port, later, ..)| port == from && later > at));
    assert_eq!(again[0].3, *wire, "with the same ackID");
    let packets = crossings.iter().filter(|(_, _, pseudo, _)| pseudo[2] == PACKET).count();
    assert_eq!(packets, 40 + again.len(), "20 packets on two links");
    let symbols: Vec<_> = crossings.iter().filter(|(_, _, pseudo, _)| pseudo[2] == SYMBOL).collect();
    assert!(out.contains(&format!("{packets} packets, {} control symbols, 0 VoQ", symbols.len())), "{out}");
    // Each packet has a delimiter in front.
    let starts = symbols.iter().filter(|(.., wire)| wire[0] == 0x7C).count();
    assert!(starts >= packets, "{starts}");
    // The receiver says packet-not-accepted (stype0 2) once.
    let refused = symbols.iter().filter(|(port, .., wire)| *port == "sw:0" && wire[1] >> 5 == 2);
    assert_eq!(refused.count(), 1);
}

/// Every VoQ message that leaves is there: those of refreshes, which repeat to sinks what was said, and those
/// that are lost, with a mark.
#[test]
fn all_voq_messages_are_captured() {
    for (study, variant, lost) in [
        ("hol-blocking", "backpressure", 0),
        ("voq-lost-xon", "refresh-off", 1),
        ("voq-lost-xon", "refresh-on", 1),
        ("voq-lost-xon", "damaged", 1),
    ] {
        let scenario = fs::read_to_string(root().join("scenarios").join(format!("{study}.json"))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        for granularity in ["packet", "symbol"] {
            let set = format!("/links/granularity={granularity}");
            let common = ["--until", "150 us", "--set", "/run/warmup=0 ps", "--set", &set];
            let words =
                [&["run", "-", "--quiet", "--no-figures", "--out", out.to_str().unwrap()], &common[..]];
            let (code, _, said) = riosim(&words.concat(), &scenario);
            assert_eq!(code, Some(0), "{said}");
            let summary = fs::read_to_string(out.join("summary.json")).unwrap();
            let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
            let mut variants = summary["variants"].as_array().unwrap().iter();
            let told = variants.find(|told| told["name"] == variant).unwrap();
            let of = |key: &str| told["fabric"]["symbols"][key].as_u64().unwrap();
            assert_eq!(of("voq_lost"), lost);
            assert!(of("voq_refreshes") > 0 || variant != "backpressure", "{granularity}");
            let (_, file, _folder) = captured(&scenario, &[&["--variant", variant], &common[..]].concat());
            let crossings = file.crossings();
            // The third octet behind the delimiter of a symbol ends with cmd of stype2.
            let messages = crossings.iter().filter(|(_, _, pseudo, wire)| match pseudo[2] {
                SYMBOL => wire[3] & 7 == 1,
                kind => kind == MESSAGE,
            });
            let marks: Vec<bool> = messages.map(|(.., pseudo, _)| pseudo[3] >> 7 == 1).collect();
            let marked = marks.iter().filter(|mark| **mark).count() as u64;
            let sent = of("voq_riding") + of("voq_standalone");
            let found = (marks.len() as u64, marked);
            assert_eq!(found, (sent, lost), "{study} {variant} {granularity}");
        }
    }
}

#[test]
fn captures_are_filtered() {
    let all = captured(SMALL, &[]).1;
    let all: Vec<_> = all.crossings().into_iter().map(|it| (it.0.to_owned(), it.1, it.2.to_vec())).collect();
    let some = |more: &[&str]| {
        let (_, file, _folder) = captured(SMALL, more);
        let some: Vec<_> =
            file.crossings().into_iter().map(|it| (it.0.to_owned(), it.1, it.2.to_vec())).collect();
        assert!(some.iter().all(|one| all.contains(one)), "{more:?}");
        some
    };
    let burst = some(&["--flow", "burst"]);
    assert_eq!(burst.len(), all.iter().filter(|(.., pseudo)| flow(pseudo) == "burst").count());
    let (early, late) = (some(&["--to", "18 us"]), some(&["--from", "18000001 ps"]));
    assert_eq!(early.len() + late.len(), all.len());
    assert!(!early.is_empty() && !late.is_empty());
    let one = some(&["--device", "ep/2"]);
    let of_one = |name: &str| name == "ep/2" || name == "sw:2";
    assert_eq!(one.len(), all.iter().filter(|(name, ..)| of_one(name)).count());
}

/// Captures of every protocol under tshark with the dissector, where it is installed.
#[test]
fn tshark_reads_captures() {
    if Command::new("tshark").arg("--version").output().is_err() {
        eprintln!("tshark is not installed: nobody else reads captures here");
        return;
    }
    let file = |name: &str| fs::read_to_string(root().join("scenarios").join(name)).unwrap();
    let small = |name: &str| (file(name), vec!["--to", "60 us"]);
    let cases = [
        (SMALL.to_owned(), vec![], "maintenance request"),
        (TRANSFER.to_owned(), vec![], "Request_Connection"),
        (small("linx-crossing-connect.json").0, small("linx-crossing-connect.json").1, "RIO_CONN_REQ"),
        (small("session-figure-3-1.json").0, small("session-figure-3-1.json").1, "ADVERTISE"),
        (
            small("link-errors.json").0,
            vec!["--to", "3 us", "--set", "/links/granularity=symbol"],
            "start-of-packet",
        ),
    ];
    for (scenario, more, words) in cases {
        let (_, read, folder) = captured(&scenario, &more);
        let path = folder.path().join("links.pcapng");
        let script = format!("lua_script:{}", root().join("docs/riosim.lua").display());
        let output = Command::new("tshark")
            .args(["-X", &script, "-r", path.to_str().unwrap(), "-V"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for wrong in ["Malformed", "Lua Error"] {
            let line = text.lines().find(|line| line.contains(wrong));
            assert_eq!(line, None, "{words}");
        }
        assert!(text.contains(words), "{words}");
        let all = text.lines().filter(|line| line.starts_with("Frame ")).count();
        assert_eq!(all, read.records.len());
        let output = Command::new("capinfos").args(["-c", "-M", path.to_str().unwrap()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(&format!(" {all}\n")), "{text}");
    }
}

/// Packets at an interval from ep/0 to ep/1, on links with these settings.
fn steady(links: &str, count: u32, interval: &str, more: &str) -> String {
    format!(
        r#"{{
          "name": "steady",
          "run": {{ "until": "30 us", "warmup": "0 ps" }},
          "topology": {{ "single_switch": {{ "ports": 2 }} }},
          "links": {{ {links} }},
          "traffic": [{{
            "name": "q", "from": "ep/0", "to": "ep/1", "size": 8, "limit": {count},
            "arrivals": {{ "constant": {{ "interval": "{interval}", "phase": "0 ps" }} }}
          }}]{more}
        }}"#
    )
}

/// The six ackID bits of what a port sends, without what it sends again.
fn ack_bits(file: &File, sender: &str) -> Vec<u8> {
    let crossings = file.crossings();
    let first = |pseudo: &[u8]| pseudo[2] == PACKET && pseudo[3] >> 6 & 1 == 0;
    crossings
        .iter()
        .filter(|(from, _, pseudo, _)| *from == sender && first(pseudo))
        .map(|it| it.3[0] >> 2)
        .collect()
}

/// The first packet after reset has ackID 0, each next one 1 more. Long symbols, and IDLE3 in the packet,
/// have 64 of them; short ones have 32, left-justified in the six bits.
///
/// Shows: R2.2p6s5.6.2c0443, R2.2p6s5.6.2c0445, R2.2p6s5.6.2c0446
#[test]
fn ack_ids_count_packets_from_zero() {
    const COUNT: u32 = 130;
    let long: fn(u32) -> u32 = |n| n % 64;
    let short: fn(u32) -> u32 = |n| n % 32 * 2;
    for (links, law) in [
        (r#""granularity": "packet""#, long),
        (r#""granularity": "symbol""#, long),
        (r#""granularity": "packet", "symbol": "short", "rate": "5 Gbaud""#, short),
        (r#""granularity": "symbol", "symbol": "short", "rate": "5 Gbaud""#, short),
        (r#""rate": "10.3125 Gbaud""#, long),
    ] {
        let (_, file, _folder) = captured(&steady(links, COUNT, "100 ns", ""), &[]);
        let expected: Vec<u8> = (0..COUNT).map(|n| law(n) as u8).collect();
        for sender in ["ep/0", "sw:1"] {
            assert_eq!(ack_bits(&file, sender), expected, "{sender}, {links}");
        }
    }
}

/// Where a link runs in packet granularity but for an error or an outage, ackIDs go on at both changes.
#[test]
fn ack_ids_go_on_when_a_link_changes_its_granularity() {
    const COUNT: u8 = 60;
    // A link on which something is damaged by its number begins in symbol granularity.
    for (begins, faults) in [
        (SYMBOL, r#""corrupt": [{ "device": "ep/0", "port": 0, "what": "packet", "nth": 3 }]"#),
        (
            PACKET,
            r#""outages": [{ "link": "ep/0", "at": "1 us", "for": "1 us", "every": "3 us", "times": 2 }]"#,
        ),
    ] {
        let scenario = steady("", COUNT.into(), "400 ns", &format!(r#", "faults": {{ {faults} }}"#));
        let (_, file, _folder) = captured(&scenario, &[]);
        let crossings = file.crossings();
        let of_sender = crossings.iter().filter(|(from, ..)| *from == "ep/0");
        let kinds: Vec<u8> = of_sender.map(|(_, _, pseudo, _)| pseudo[2]).collect();
        assert!(kinds.contains(&SYMBOL), "{faults}");
        assert_eq!((kinds[0], *kinds.last().unwrap()), (begins, PACKET), "{faults}");
        assert_eq!(ack_bits(&file, "ep/0"), (0..COUNT).collect::<Vec<_>>(), "{faults}");
    }
}

/// The first 16 bits: ackID, VC, CRF, then prio, tt and ftype, which are those of the packet that the
/// scenario names.
#[test]
fn first_half_words_name_the_packet() {
    const PRIORITY: u8 = 2;
    let kinds: [(&str, u32, u8); 7] = [
        ("nread", 0, 2),
        ("nwrite", 8, 5),
        ("swrite", 8, 6),
        ("data_streaming", 8, 9),
        ("doorbell", 0, 10),
        ("message", 8, 11),
        ("response", 8, 13),
    ];
    for (bits, tt) in [(8, 0), (16, 1)] {
        let scenario = |traffic: &str| {
            format!(
                r#"{{
                  "name": "kinds", "id_bits": {bits},
                  "run": {{ "until": "20 us", "warmup": "0 ps" }},
                  "topology": {{ "single_switch": {{ "ports": 2 }} }},
                  "traffic": [{traffic}]
                }}"#
            )
        };
        let second = |ftype: u8| PRIORITY << 6 | tt << 4 | ftype;
        let flows = kinds.map(|(kind, size, _)| {
            format!(
                r#"{{ "name": "{kind}", "from": "ep/0", "to": "ep/1", "packet": "{kind}", "size": {size},
                  "priority": {PRIORITY}, "limit": 2,
                  "arrivals": {{ "constant": {{ "interval": "1 us", "phase": "0 ps" }} }} }}"#
            )
        });
        let (_, file, _folder) = captured(&scenario(&flows.join(", ")), &[]);
        let crossings = file.crossings();
        for (kind, _, ftype) in kinds {
            let of_kind = crossings.iter().filter(|(_, _, pseudo, _)| flow(pseudo) == kind);
            let found: Vec<_> = of_kind.map(|(.., wire)| (wire[0] & 3, wire[1])).collect();
            assert_eq!(found, [(0, second(ftype)); 4], "{kind}, two packets on two links, {bits} bits");
        }
        // A trace names each packet.
        let rows = kinds.map(|(_, size, ftype)| format!(r#""0,ep/0,ep/1,{size},{PRIORITY},{ftype}""#));
        let trace =
            format!(r#"{{ "name": "t", "arrivals": {{ "trace": {{ "rows": [{}] }} }} }}"#, rows.join(", "));
        let (_, file, _folder) = captured(&scenario(&trace), &[]);
        let crossings = file.crossings();
        let at_first = crossings.iter().filter(|(from, ..)| *from == "ep/0");
        let found: Vec<_> = at_first.map(|(.., wire)| wire[1]).collect();
        assert_eq!(found, kinds.map(|(.., ftype)| second(ftype)), "{bits} bits");
    }
}

/// A hot spot sends packets of one kind under two names, and two sources under one name two kinds.
#[test]
fn first_half_words_are_those_of_the_source() {
    let scenario = r#"{
      "name": "hot",
      "run": { "until": "20 us", "warmup": "0 ps" },
      "topology": { "single_switch": { "ports": 4 } },
      "traffic": [
        { "name": "a", "from": "ep/0", "packet": "swrite", "size": 8, "limit": 20,
          "to": { "hotspot": { "hot": "ep/1", "share": "50 %", "hot_flow": "hot" } },
          "arrivals": { "constant": { "interval": "200 ns", "phase": "0 ps" } } },
        { "name": "b", "from": "ep/0", "packet": "response", "size": 8, "limit": 20, "priority": 1,
          "to": { "hotspot": { "hot": "ep/2", "share": "50 %", "hot_flow": "hot" } },
          "arrivals": { "constant": { "interval": "200 ns", "phase": "0 ps" } } }
      ]
    }"#;
    let (_, file, _folder) = captured(scenario, &[]);
    let crossings = file.crossings();
    let found: std::collections::BTreeSet<(&str, u8)> =
        crossings.iter().map(|(_, _, pseudo, wire)| (flow(pseudo), wire[1])).collect();
    // Priority 0 and ftype 6, priority 1 and ftype 13.
    let expected = [("a", 0x06), ("b", 0x4D), ("hot", 0x06), ("hot", 0x4D)];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}
