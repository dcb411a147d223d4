//! Input that no scenario is: every kind ends with exit status 2, a message that names the place, and nothing
//! written.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Longest message: whoever made the file shall be able to read it.
const MESSAGE_MAX: usize = 10_000;

fn riosim(home: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
    command.args(words).current_dir(home).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    command.output().unwrap()
}

/// Runs what must be refused; gives the message.
fn refused(home: &Path, words: &[&str]) -> String {
    let output = riosim(home, words);
    let said = String::from_utf8(output.stderr).expect("messages are UTF-8");
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert_eq!(output.stdout, b"", "{words:?}");
    assert!(said.len() < MESSAGE_MAX, "{words:?}: {} octets", said.len());
    assert!(!said.contains("panicked"), "{words:?}: {said}");
    assert!(!said.chars().any(|c| c.is_control() && c != '\n'), "{words:?}: {said:?}");
    said
}

fn names(home: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(home).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A scenario file of these octets is refused.
fn file(octets: &[u8]) -> String {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("x.json"), octets).unwrap();
    let said = refused(home.path(), &["x.json"]);
    assert!(said.contains("x.json"), "{said}");
    assert_eq!(names(home.path()), ["x.json"]);
    said
}

fn minimal() -> (TempDir, String) {
    let home = TempDir::new().unwrap();
    assert!(riosim(home.path(), &["init", "minimal", "ok.json"]).status.success());
    let text = fs::read_to_string(home.path().join("ok.json")).unwrap();
    (home, text)
}

/// A trace is not written over the scenario that it is of.
#[test]
fn a_scenario_is_not_its_own_trace() {
    let (home, text) = minimal();
    fs::create_dir(home.path().join("sub")).unwrap();
    for (flag, file) in [("--pcapng", "ok.json"), ("--perfetto", "./ok.json"), ("--chart", "sub/../ok.json")]
    {
        let said = refused(home.path(), &["trace", "ok.json", flag, file]);
        assert!(said.contains(&format!("{flag}: {file} is the scenario")), "{said}");
        assert_eq!(fs::read_to_string(home.path().join("ok.json")).unwrap(), text);
    }
}

#[test]
fn noise() {
    // xorshift: the same 200 000 octets every time
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut octets = Vec::new();
    while octets.len() < 200_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        octets.extend(state.to_le_bytes());
    }
    assert!(file(&octets).contains("UTF-8"));
    octets.iter_mut().for_each(|octet| *octet &= 0x7F);
    file(&octets);
    file(&vec![0; 1_000_000]);
}

#[test]
fn nothing() {
    for text in ["", "  \n\n", "// only words\n", "\u{feff}"] {
        assert!(file(text.as_bytes()).contains("nothing in the file"), "{text:?}");
    }
}

#[test]
fn deep_nesting() {
    let n = 100_000;
    for text in [
        "[".repeat(n),
        "[".repeat(n) + &"]".repeat(n),
        "{\"a\":".repeat(n) + "1" + &"}".repeat(n),
        "[".repeat(120) + &"]".repeat(120),
    ] {
        file(text.as_bytes());
    }
}

#[test]
fn long_lines_names_and_numbers() {
    let long = "9".repeat(100_000);
    assert!(file(format!("{{\"name\": {long}}}").as_bytes()).contains("x.json:1:"));
    file(format!("{{\"name\": \"{long}\"}}").as_bytes());
    file(format!("{{\"{long}\": 1}}").as_bytes());
    let many: Vec<String> = (0..5_000).map(|n| format!("\"k{n}\": 1")).collect();
    let (home, text) = minimal();
    fs::write(home.path().join("x.json"), format!("{{{}}}", many.join(", "))).unwrap();
    let said = String::from_utf8(riosim(home.path(), &["x.json"]).stderr).unwrap();
    assert!(said.contains("and 49") && said.len() < 40_000, "{} octets", said.len());
    // the same as one line: columns are those of the file
    let end = text.rfind('}').unwrap();
    let one: String = text[..end].lines().map(|line| line.split("//").next().unwrap()).collect();
    let one = format!("{one},{}\"sede\": 7}}", " ".repeat(70_000));
    fs::write(home.path().join("x.json"), &one).unwrap();
    let column = one.find("\"sede\"").unwrap() + 1;
    let said = refused(home.path(), &["x.json"]);
    assert!(said.contains(&format!("x.json:1:{column}]")) && said.contains("\"seed\"?"), "{said}");
}

#[test]
fn numbers_out_of_range() {
    let (home, _) = minimal();
    for seed in ["1e26", "18446744073709551616", "-1", "1.5", "1e400", "NaN", "0x10", "null", ""] {
        let said = refused(home.path(), &["check", "ok.json", "--set", &format!("/seed={seed}")]);
        assert!(said.contains("/seed"), "{seed}: {said}");
    }
    for seed in ["1.0", "1e3", "-0", "18446744073709551615"] {
        let output = riosim(home.path(), &["check", "ok.json", "--set", &format!("/seed={seed}")]);
        assert!(output.status.success(), "{seed}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for until in ["9999999999 s", "0 s", "1e30 s", "99999999999999999999999 s", "-1 ms", "1 year"] {
        refused(home.path(), &["check", "ok.json", &format!("--until={until}")]);
    }
    for topology in [
        r#"{"mesh": {"size": [4000000000, 4000000000]}}"#,
        r#"{"torus": {"size": [1000, 1000, 1000]}}"#,
        r#"{"single_switch": {"ports": 4294967295}}"#,
        r#"{"chain": {"switches": 4294967295, "endpoints_per_switch": 4294967295}}"#,
        r#"{"fat_tree": {"levels": 4294967295, "ports": 4294967294}}"#,
    ] {
        let said = refused(home.path(), &["check", "ok.json", "--set", &format!("/topology={topology}")]);
        assert!(said.contains("/topology"), "{said}");
    }
}

#[test]
fn files_of_other_editors() {
    let (home, text) = minimal();
    fs::write(home.path().join("bom.json"), format!("\u{feff}{text}")).unwrap();
    fs::write(home.path().join("crlf.json"), text.replace('\n', "\r\n")).unwrap();
    let said = |name| {
        let output = riosim(home.path(), &["check", name]);
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    assert_eq!(said("ok.json"), said("bom.json"));
    assert_eq!(said("ok.json"), said("crlf.json"));
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    file(&utf16);
}

#[test]
fn orders_to_the_terminal_are_not_passed_on() {
    file(b"{\"name\": \"a\x1b[2J\", \x1b]0;title\x07}");
    file(b"{\"\\u001b[2J\": 1, \"name\": \"\\u009b31m\"}");
}

#[test]
fn paths_that_are_no_files() {
    let (home, _) = minimal();
    fs::create_dir(home.path().join("folder")).unwrap();
    assert!(refused(home.path(), &["folder"]).contains("folder"));
    assert!(refused(home.path(), &["missing.json"]).contains("missing.json"));
    assert!(refused(home.path(), &["ok.json/x.json"]).contains("ok.json/x.json"));
    assert!(refused(home.path(), &["-"]).contains("standard input"));
}

#[test]
fn outputs_that_cannot_be() {
    let (home, text) = minimal();
    fs::write(home.path().join("file"), "mine").unwrap();
    for out in ["file", "file/below", "file/far/below", ".", "..", "/", "ok.json"] {
        let said = refused(home.path(), &["ok.json", "--quiet", "--out", out]);
        assert!(said.contains("cannot write results to"), "{out}: {said}");
    }
    assert_eq!(names(home.path()), ["file", "ok.json"]);
    assert_eq!(fs::read(home.path().join("file")).unwrap(), b"mine");
    // found before the simulation, not after it: this one would take hours
    refused(home.path(), &["ok.json", "--quiet", "--until", "9000 s", "--out", "file"]);
    refused(home.path(), &["init", "minimal", "ok.json"]);
    refused(home.path(), &["init", "minimal", "no/such/x.json"]);
    assert_eq!(fs::read_to_string(home.path().join("ok.json")).unwrap(), text);
}

/// For the privileged user nothing is unreadable; then there is nothing to see.
#[cfg(unix)]
#[test]
fn what_the_permissions_forbid() {
    use std::os::unix::fs::PermissionsExt;
    let (home, _) = minimal();
    let mode = |name: &str, mode| {
        fs::set_permissions(home.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    fs::copy(home.path().join("ok.json"), home.path().join("private.json")).unwrap();
    mode("private.json", 0);
    if fs::read(home.path().join("private.json")).is_ok() {
        return;
    }
    assert!(refused(home.path(), &["private.json"]).contains("private.json"));
    fs::create_dir(home.path().join("results")).unwrap();
    mode("results", 0o555);
    let said = refused(home.path(), &["ok.json", "--until", "9000 s"]);
    assert!(said.contains("cannot write results to"), "{said}");
    mode("results", 0o755);
    assert_eq!(names(&home.path().join("results")), [""; 0]);
}

/// What is no regular file stays what it is: a pipe passes the octets on, a device says what it says, a link
/// leads to the file or the folder that is written.
#[cfg(unix)]
#[test]
fn outputs_that_are_no_regular_files() {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    let (home, _) = minimal();
    let home = home.path();
    let at = |name: &str| home.join(name);
    let link = |to: &str, name: &str| symlink(to, at(name)).unwrap();
    let ok = |words: &[&str]| {
        let output = riosim(home, words);
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let trace = |file: &str| ["trace", "ok.json", "--to", "1 us", "--pcapng", file].map(str::to_owned);
    let traced = |file: &str| ok(&trace(file).each_ref().map(String::as_str));
    traced("plain");
    let plain = fs::read(at("plain")).unwrap();
    // a pipe holds it, so nobody needs to read meanwhile
    assert!((1..60_000).contains(&plain.len()), "{} octets", plain.len());
    assert!(Command::new("mkfifo").arg(at("fifo")).status().unwrap().success());
    let mut reader = fs::File::options().read(true).write(true).open(at("fifo")).unwrap();
    traced("fifo");
    assert!(at("fifo").symlink_metadata().unwrap().file_type().is_fifo());
    let mut found = vec![0; plain.len()];
    reader.read_exact(&mut found).unwrap();
    assert_eq!(found, plain);
    // a link to a link, and one to what is not there yet
    fs::create_dir(at("else")).unwrap();
    fs::write(at("else/file"), "old").unwrap();
    link("file", "else/second");
    link("else/second", "first");
    link("else/new", "dangling");
    link("circle", "circle");
    traced("first");
    traced("dangling");
    assert_eq!(fs::read(at("else/file")).unwrap(), plain);
    assert_eq!(fs::read(at("else/new")).unwrap(), plain);
    assert_eq!(names(&at("else")), ["file", "new", "second"]);
    for name in ["first", "dangling", "else/second"] {
        assert!(at(name).symlink_metadata().unwrap().is_symlink(), "{name}");
    }
    let said = refused(home, &trace("circle").each_ref().map(String::as_str));
    assert!(said.contains("cannot write circle"), "{said}");
    // folders of results likewise, the first time and again
    link("else/results", "out");
    for _ in 0..2 {
        ok(&["ok.json", "--quiet", "--until", "2 us", "--out", "out"]);
        assert!(at("out").symlink_metadata().unwrap().is_symlink());
        assert!(at("else/results/summary.json").is_file());
    }
    assert_eq!(names(&at("else")), ["file", "new", "results", "second"]);
    ok(&["report", "out", "-o", "first"]);
    assert!(at("first").symlink_metadata().unwrap().is_symlink());
    if Path::new("/dev/full").exists() {
        link("/dev/full", "full");
        let said = refused(home, &trace("full").each_ref().map(String::as_str));
        assert!(said.contains("cannot write full: No space left"), "{said}");
    }
}

/// Whatever prints a table ends with exit status 2 where nobody can take it.
#[test]
fn a_full_output_is_told() {
    let full = Path::new("/dev/full");
    if !full.exists() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("one.goal"), "num_ranks 1\nrank 0 {\nl1: calc 10\n}\n").unwrap();
    for words in
        [&["goal", "one.goal"][..], &["goal", "one.goal", "--json"], &["explore", "packing"], &["schema"]]
    {
        let out = fs::File::options().write(true).open(full).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_riosim"));
        let ended = command.args(words).current_dir(home.path()).stdout(out).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{words:?}: {said}");
        assert!(said.contains("cannot write to standard output"), "{words:?}: {said}");
    }
}
