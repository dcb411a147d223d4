//! A sweep on a real cluster of one machine: `munged`, `slurmctld` and `slurmd` in a temporary folder, a job
//! array of 8 tasks, one of them killed and requeued in the middle. The merged result is that of one process.
//!
//! It needs root and the Debian packages `slurm-wlm` and `munge`, and takes some twenty seconds, so it runs
//! only where `RIOSIM_SLURM` is set (`.ci/run` does that) and says why where it does not.

#![cfg(unix)]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 7] = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel"];
/// Longest that anything may take.
const PATIENCE: Duration = Duration::from_secs(80);

/// Why the test cannot run here.
fn obstacle() -> Option<String> {
    if std::env::var_os("RIOSIM_SLURM").is_none() {
        return Some("RIOSIM_SLURM is not set".into());
    }
    let id = Command::new("id").arg("-u").output().ok()?;
    if String::from_utf8_lossy(&id.stdout).trim() != "0" {
        return Some("it needs root".into());
    }
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|program| find(program).is_none()).collect();
    (!missing.is_empty()).then(|| format!("not installed: {}", missing.join(", ")))
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    path.split(':').map(|folder| Path::new(folder).join(program)).find(|path| path.is_file())
}

/// Daemons in a folder; both end with it.
struct Cluster {
    folder: tempfile::TempDir,
    daemons: Vec<Child>,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Cluster {
    fn start() -> Self {
        let mut cluster = Cluster { folder: tempfile::tempdir().unwrap(), daemons: Vec::new() };
        let at = cluster.path().to_path_buf();
        let host = Command::new("hostname").arg("-s").output().unwrap();
        let host = String::from_utf8(host.stdout).unwrap().trim().to_owned();
        for name in ["state", "spool", "munge"] {
            fs::create_dir(at.join(name)).unwrap();
        }
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(at.join("munge/key"), [0x5a; 128]).unwrap();
        fs::set_permissions(at.join("munge/key"), fs::Permissions::from_mode(0o400)).unwrap();
        let shown = at.display();
        let conf = format!(
            "ClusterName=riosim\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={}\nSlurmdPort={}\n\
             AuthType=auth/munge\nAuthInfo=socket={shown}/munge/socket\nSlurmUser=root\nSlurmdUser=root\n\
             StateSaveLocation={shown}/state\nSlurmdSpoolDir={shown}/spool\n\
             SlurmctldPidFile={shown}/slurmctld.pid\nSlurmdPidFile={shown}/slurmd.pid\n\
             SlurmctldLogFile={shown}/slurmctld.log\nSlurmdLogFile={shown}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             SchedulerParameters=sched_interval=1,batch_sched_delay=0\n\
             JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
             MpiDefault=none\nReturnToService=2\nKillWait=2\nJobRequeue=1\n\
             SlurmdParameters=config_overrides\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n\
             PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n",
            free_port(),
            free_port()
        );
        fs::write(at.join("slurm.conf"), conf).unwrap();
        let munge = |flag: &str, name: &str| format!("--{flag}={shown}/munge/{name}");
        let flags = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            munge("socket", "socket"),
            munge("key-file", "key"),
            munge("pid-file", "pid"),
            munge("seed-file", "seed"),
            munge("log-file", "log"),
        ];
        cluster.daemon("munged", &flags);
        cluster.wait("munged", || at.join("munge/socket").exists());
        cluster.daemon("slurmctld", &["-D".into(), "-i".into()]);
        cluster.daemon("slurmd", &["-D".into()]);
        let mut state = String::new();
        cluster.wait("a node that is idle", || {
            let output = cluster.ask("sinfo", &["--noheader", "--format=%t"]);
            state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            state == "idle"
        });
        cluster
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn daemon(&mut self, program: &str, flags: &[String]) {
        let log = fs::File::create(self.path().join(format!("{program}.out"))).unwrap();
        let mut command = Command::new(find(program).unwrap());
        command.args(flags).env("SLURM_CONF", self.path().join("slurm.conf")).stdin(Stdio::null());
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        self.daemons.push(child);
    }

    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(self.path()).stdin(Stdio::null());
        command.env("SLURM_CONF", self.path().join("slurm.conf"));
        command
    }

    fn ask(&self, program: &str, words: &[&str]) -> Output {
        self.command(program, words).output().unwrap()
    }

    /// Runs riosim and expects success; gives standard output back.
    fn riosim(&self, words: &[&str]) -> String {
        let output = self.ask(env!("CARGO_BIN_EXE_riosim"), words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {}\n{said}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Looks until it is so; with the logs of the daemons if it never is.
    fn wait(&self, what: &str, mut so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !so() {
            if begun.elapsed() > PATIENCE {
                let queue = self.ask("squeue", &["--array"]);
                let mut logs = String::from_utf8_lossy(&queue.stdout).into_owned();
                for name in ["munged.out", "slurmctld.out", "slurmd.out", "slurmctld.log", "slurmd.log"] {
                    logs += &format!("\n{name}:\n");
                    let text = fs::read_to_string(self.path().join(name)).unwrap_or_default();
                    let lines: Vec<&str> = text.lines().collect();
                    logs += &lines[lines.len().saturating_sub(15)..].join("\n");
                }
                panic!("waited in vain for {what}\n{logs}");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // what still runs after a failure ends with its job, not with slurmd
        let _ = self.command("scancel", &["--signal=KILL", "--full", "--user=root"]).output();
        let _ = self.command("scancel", &["--user=root"]).output();
        for daemon in self.daemons.iter_mut().rev() {
            // slurmd ends what it started only if it is asked to end
            let _ = Command::new("kill").arg(daemon.id().to_string()).status();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(5) && matches!(daemon.try_wait(), Ok(None)) {
                std::thread::sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

const SWEEP: &str = r#"{
    "name": "on-slurm",
    "scenario": "x.json",
    "axes": [{ "pointer": "/traffic/hot/priority", "values": [0, 1] },
             { "pointer": "/links/length", "range": { "from": 1, "to": 16, "count": 16 }, "unit": "m" }],
    "replications": { "count": 2 },
    "plots": [{ "metric": "goodput_gbps" }]
}"#;

#[test]
fn an_array_of_tasks_gives_what_one_process_gives() {
    if let Some(why) = obstacle() {
        eprintln!("skipped: the test of the Slurm engine did not run: {why}");
        return;
    }
    let cluster = Cluster::start();
    let at = |name: &str| cluster.path().join(name);
    cluster.riosim(&["init", "hotspot", "x.json"]);
    // long enough to meet a task in the middle of its work
    let scenario = fs::read_to_string(at("x.json")).unwrap().replace("\"1 ms\"", "\"10 ms\"");
    fs::write(at("x.json"), scenario).unwrap();
    fs::write(at("sweep.json"), SWEEP).unwrap();
    cluster.riosim(&["sweep", "sweep.json", "--out", "alone", "--quiet"]);

    let words = ["sweep", "sweep.json", "--out", "with 'quotes'", "--engine", "slurm", "--array-size", "8"];
    let said = cluster.riosim(&[&words[..], &["--time", "10", "--partition", "main"]].concat());
    assert!(said.contains("of 8 tasks"), "{said}");
    let jobs = fs::read_to_string(at("with 'quotes'/slurm/jobs.json")).unwrap();
    let jobs: serde_json::Value = serde_json::from_str(&jobs).unwrap();
    let task = format!("{}_3", jobs["array"].as_str().unwrap());

    // kill a task that has finished some of its runs, and let Slurm start it anew
    let log = at("with 'quotes'/tasks/3-of-8.log");
    let lines = || fs::read_to_string(&log).map_or(0, |text| text.lines().count());
    cluster.wait("the first runs of task 3", || lines() >= 3);
    let requeued = cluster.ask("scontrol", &["requeue", &task]);
    let said = String::from_utf8_lossy(&requeued.stderr);
    assert!(requeued.status.success(), "{said}");
    let before = lines();
    assert!(before < 17, "task 3 was done before it could be killed");
    let again = ["sweep", "sweep.json", "--out", "with 'quotes'", "--engine", "slurm"];
    let second = cluster.ask(env!("CARGO_BIN_EXE_riosim"), &again);
    let refused = String::from_utf8_lossy(&second.stderr);
    assert!(second.status.code() == Some(2) && refused.contains("already"), "{refused}");
    // Slurm lets a requeued job wait for two minutes. Here a few seconds are enough, and are needed: slurmd
    // takes a job that begins in the second in which it was killed for the one that was killed.
    let mut hurried = false;
    cluster.wait("the requeued task", || {
        let shown = cluster.ask("scontrol", &["show", "job", &task]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        if !hurried && shown.contains("JobState=PENDING") {
            let update = ["update", &format!("JobId={task}"), "StartTime=now+3"];
            hurried = cluster.ask("scontrol", &update).status.success();
        }
        shown.contains("Restarts=1") && shown.contains("JobState=RUNNING")
    });
    assert!(cluster.riosim(&["sweep", "status", "with 'quotes'"]).contains("of 64 points"));
    cluster.wait("the merged results", || {
        at("with 'quotes'/figures/goodput_gbps-by-length-priority-variant.png").exists()
    });

    for name in [
        "results.csv",
        "results.parquet",
        "estimates.csv",
        "columns.json",
        "figures/goodput_gbps-by-length-priority-variant.svg",
    ] {
        let read = |folder: &str| fs::read(at(folder).join(name)).unwrap();
        assert!(read("alone") == read("with 'quotes'"), "{name} differs");
    }
    let said = cluster.riosim(&["sweep", "status", "with 'quotes'"]);
    assert!(said.contains("64 of 64 points"), "{said}");

    // a sweep that is cancelled keeps what is finished
    let words = ["sweep", "sweep.json", "--out", "cancelled", "--engine", "slurm", "--array-size", "2"];
    cluster.riosim(&words);
    let log = at("cancelled/tasks/0-of-2.log");
    cluster.wait("a run", || fs::read_to_string(&log).is_ok_and(|text| text.lines().count() >= 2));
    assert!(cluster.riosim(&["sweep", "cancel", "cancelled"]).contains("cancelled jobs"));
    cluster.wait("an empty queue", || cluster.ask("squeue", &["--noheader"]).stdout.is_empty());
    cluster.riosim(&["sweep", "sweep.json", "--out", "cancelled", "--quiet"]);
    let read = |folder: &str| fs::read(at(folder).join("results.parquet")).unwrap();
    assert!(read("alone") == read("cancelled"), "a cancelled sweep that goes on differs");
}
