//! Killed, interrupted, out of space: nothing is lost, doubled or changed.

use super::*;
use std::time::{Duration, Instant};

/// Milliseconds that vary, the same way each time.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// 100 points, 12 replications: long enough to be met at work many times.
fn longer(home: &Home) -> Duration {
    let sweep =
        SWEEP.replace("\"count\": 6 }", "\"count\": 25 }").replace("\"count\": 5 }", "\"count\": 12 }");
    home.write("sweep.json", &sweep);
    let begun = Instant::now();
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    begun.elapsed()
}

/// Stops `sweep run` with this signal at moments spread over its whole life, from its first millisecond to
/// its last file, until `times` of them met it at work. A sweep that was done is compared, and begun anew.
#[cfg(unix)]
fn stopped_at_random(signal: &str, times: u32, mut look: impl FnMut(&Home, &str, &Output)) -> String {
    let home = Home::new();
    let whole = longer(&home).as_millis() as u64;
    let mut moments = Moments(0x9E37_79B9_7F4A_7C15);
    let (mut met, mut missed, mut sweeps, mut records) = (0, 0, 1, 0);
    while met < times {
        let out = format!("stopped-{sweeps}");
        let mut child = home.command(&["sweep", "sweep.json", "--out", &out, "--quiet"]).spawn().unwrap();
        // a start takes some milliseconds that do no work: without them the sweep would never end
        let moment = 5 + moments.next(25) + moments.next((2 * whole / u64::from(times)).clamp(20, whole));
        std::thread::sleep(Duration::from_millis(moment));
        let early = child.try_wait().unwrap().is_none();
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).output();
        let output = child.wait_with_output().unwrap();
        let code = output.status.code();
        met += u32::from(early && code != Some(0));
        missed += u32::from(!early || code == Some(0));
        look(&home, &out, &output);
        // a log only ever grows
        let log = fs::read(home.at(&format!("{out}/tasks/0-of-1.log"))).unwrap_or_default();
        let now = log.iter().filter(|octet| **octet == b'\n').count();
        assert!(now >= records, "{records} runs were durable, {now} are there");
        records = now;
        if code == Some(0) || met == times {
            home.ok(&["sweep", "sweep.json", "--out", &out, "--quiet"]);
            home.equal("whole", &out);
            let log = home.read(&format!("{out}/tasks/0-of-1.log"));
            assert_eq!(log.lines().count(), 1 + 100 * 12, "a header, and every run once");
            (sweeps, records) = (sweeps + 1, 0);
        }
    }
    format!("{met} met a sweep at work, {missed} came too late, {} sweeps of 1200 runs", sweeps - 1)
}

fn times(variable: &str, otherwise: u32) -> u32 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// SIGKILL at random moments: `RIOSIM_KILLS` of them, or a few.
#[cfg(unix)]
#[test]
fn kills_lose_nothing() {
    let kills = times("RIOSIM_KILLS", 8);
    let told = stopped_at_random("-KILL", kills, |_, _, output| {
        assert!(matches!(output.status.code(), None | Some(0)), "{}", text(&output.stderr));
    });
    eprintln!("kills: {told}");
}

/// Ctrl-C at random moments, twelve times or `RIOSIM_INTERRUPTS`.
#[cfg(unix)]
#[test]
fn interrupts_end_in_good_order() {
    let mut orderly = 0;
    let told = stopped_at_random("-INT", times("RIOSIM_INTERRUPTS", 12), |_, _, output| {
        let said = text(&output.stderr);
        match output.status.code() {
            Some(130) => {
                assert!(said.contains("the same command goes on") || said.contains("interrupted"), "{said}");
                orderly += 1;
            }
            // it was done, or not yet watching
            code => assert!(matches!(code, None | Some(0)), "{code:?}: {said}"),
        }
    });
    eprintln!("interrupts: {told}, {orderly} with exit status 130");
    assert!(orderly > 0, "no interrupt met a sweep that was watching");
}

/// A log on a full disk: the message says so, nothing is lost, and the same command goes on when there is
/// room.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_with_a_message_and_goes_on() {
    let home = Home::new();
    // a file that grows no further than this, for the process and what it starts
    let limited = |kib: u32| {
        let words = format!(
            "trap '' XFSZ; ulimit -f {kib}; exec {} sweep sweep.json --out small --quiet --jobs 1",
            env!("CARGO_BIN_EXE_riosim")
        );
        let mut command = Command::new("bash");
        command.args(["-c", &words]).current_dir(home.folder.path()).stdin(Stdio::null());
        command.output().unwrap()
    };
    let output = limited(40);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("0-of-1.log: File too large"), "{said}");
    assert!(said.contains("the same command goes on"), "{said}");
    let log = home.read("small/tasks/0-of-1.log");
    assert!(log.ends_with('\n') && log.lines().count() > 2, "{} lines", log.lines().count());
    home.ok(&["sweep", "sweep.json", "--out", "small", "--quiet"]);
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    home.equal("whole", "small");
}

/// A file system of 512 KiB that is full of something else: the message says so, nothing is lost, and the
/// same command goes on when there is room. It needs a mount of its own, and says why
/// where it cannot have one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_file_system_ends_with_a_message_and_goes_on() {
    let home = Home::new();
    fs::create_dir(home.at("disk")).unwrap();
    let script = r#"
        mount -t tmpfs -o size=512k none disk || exit 77
        # room for some runs
        head -c 480000 /dev/zero > disk/ballast
        "$0" sweep sweep.json --out disk/sweep --quiet
        echo "first $?" && cp disk/sweep/tasks/0-of-1.log log-when-full
        # room for all runs (120 kB, and more where times have more digits), not for results of 68 kB
        truncate -s 360000 disk/ballast
        "$0" sweep sweep.json --out disk/sweep --quiet
        echo "second $?" && rm disk/ballast
        "$0" sweep sweep.json --out disk/sweep
        echo "third $?" && cp -r disk/sweep small"#;
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_riosim")]);
    let output = match command.current_dir(home.folder.path()).stdin(Stdio::null()).output() {
        Ok(output) if text(&output.stdout).contains("first") => output,
        Ok(output) => return eprintln!("skipped: {}", text(&output.stderr)),
        Err(error) => return eprintln!("skipped: unshare: {error}"),
    };
    let (told, said) = (text(&output.stdout), text(&output.stderr));
    for expected in ["first 2", "second 2", "third 0"] {
        assert!(told.contains(expected), "{expected}: {told}\n{said}");
    }
    for expected in ["0-of-1.log: No space left", "results.csv: No space left"] {
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(said.matches("the same command goes on from there").count(), 2, "{said}");
    let log = home.read("log-when-full");
    let kept = log.lines().count() - 1;
    assert!(log.ends_with('\n') && kept > 0, "{kept} runs");
    assert!(kept < 120 && told.contains("(120 runs kept from before)"), "{kept}: {told}");
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    home.equal("whole", "small");
    eprintln!("{kept} of 120 runs were kept on the full file system");
}

/// Tasks that start at the same moment and all have process number 1, as in containers.
#[cfg(target_os = "linux")]
#[test]
fn shards_in_containers_do_not_meet() {
    let home = Home::new();
    home.ok(&["sweep", "sweep.json", "--out", "whole", "--quiet"]);
    let namespace = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    let inside = || {
        let mut command = Command::new("unshare");
        command.args(namespace).current_dir(home.folder.path()).stdin(Stdio::null());
        command
    };
    match inside().arg("true").output() {
        Ok(output) if output.status.success() => {}
        Ok(output) => return eprintln!("skipped: unshare: {}", text(&output.stderr).trim()),
        Err(error) => return eprintln!("skipped: unshare: {error}"),
    }
    let start = |shard: usize| {
        let mut command = inside();
        command.arg(env!("CARGO_BIN_EXE_riosim")).args(["sweep", "sweep.json", "--out", "eight", "--quiet"]);
        command.args(["--shard", &format!("{shard}/8")]).stderr(Stdio::piped()).spawn().unwrap()
    };
    let tasks: Vec<std::process::Child> = (0..8).map(start).collect();
    for task in tasks {
        let output = task.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    home.ok(&["sweep", "merge", "eight", "--quiet"]);
    home.equal("whole", "eight");
}
