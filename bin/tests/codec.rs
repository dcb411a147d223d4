//! `riosim decode` and `riosim encode` as a shell sees them.

use serde_json::{Map, Value};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_riosim"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The command may end without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn succeed(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn fail(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn vectors() -> Vec<Map<String, Value>> {
    include_str!("../src/codec/vectors.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn decode_and_encode_every_vector() {
    for row in vectors() {
        let hex = row["hex"].as_str().unwrap();
        let id = row["id"].as_str().unwrap();
        if id.starts_with("VOQ-N") {
            assert!(!fail(&["decode", "voq", hex], "").is_empty());
            continue;
        }
        let forms = match row.get("wire") {
            Some(wire) => vec![("voq", hex), ("voq", wire.as_str().unwrap()), ("lp-serial", hex)],
            None => vec![("packet", hex)],
        };
        assert_eq!(id.starts_with("PKT-"), forms[0].0 == "packet", "{id}");
        for (format, hex) in forms {
            let json = succeed(&["decode", format, hex], "");
            assert_eq!(succeed(&["encode", format], &json), format!("{hex}\n"), "{json}");
        }
    }
}

#[test]
fn packets_and_fields_have_their_own_spelling() {
    for (format, input, canonical) in [
        ("lp-serial", "packet:000A 0102 0003 ABCD 5366 0000", "000a01020003abcd53660000"),
        ("lp-serial", "0x80_ff_0f", "80ff0f"),
        ("lp-serial", "short-delimited:1c80ff0f", "1c80ff0f"),
        ("voq", "0x841", "0x841"),
        ("voq", "stype2:0841", "0x841"),
    ] {
        let json = succeed(&["decode", format, input], "");
        assert_eq!(succeed(&["encode", format], &json), format!("{canonical}\n"));
    }
}

#[test]
fn bad_input_ends_with_status_2_and_one_line() {
    for (arguments, input, part) in [
        (&["decode", "vok", "00"][..], "", "did you mean \"voq\"?"),
        (&["decode", "voq", "803fc1041863"], "", "crc13: 0x1863 found, but the other bits make it 0x1862"),
        (&["encode", "voq"], "{\"form\": \"stype2\", \"s2_cmd\": 8}", "/s2_cmd: 8 found; allowed: 0 to 7"),
        // An ADVERTISE whose four octets of padding are missing.
        (&["decode", "smp", "020100340012800101020000"], "", "message: 12 octets, with the padding"),
        (&["encode", "voq"], "", "json: nothing found; allowed: an object in braces"),
    ] {
        let message = fail(arguments, input);
        assert!(message.contains(part), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
    }
}
