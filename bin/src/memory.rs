//! Not more runs at a time than fit into memory.
//!
//! The first run goes alone. What it added to the largest resident set of the process is what a run needs; a
//! further one starts only if the system has that much left. Larger points raise the figure as they come. A
//! system that does not tell (anything but Linux) sets no limit but `--jobs`.

use std::path::Path;
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How often memory is measured anew, at most.
const EVERY: Duration = Duration::from_millis(200);
/// Kept free: a tenth of what is available.
const RESERVE: u64 = 10;
/// A run is never thought to need less: allocators keep what was freed.
const LEAST: u64 = 4 << 20;

#[derive(Debug)]
struct State {
    running: usize,
    /// Most at a time since the last measurement.
    most: usize,
    /// Octets of a run, once known.
    per_run: Option<u64>,
    /// More than this at a time do not fit.
    limit: usize,
    measured: Instant,
}

/// Admits runs while there is memory.
#[derive(Debug)]
pub(crate) struct Gate {
    jobs: usize,
    baseline: u64,
    state: Mutex<State>,
    free: Condvar,
    probe: fn() -> Option<Memory>,
}

/// What the system says.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Largest resident set of this process so far.
    peak: u64,
    /// What further allocations could get.
    available: u64,
}

impl Memory {
    /// Octets by which the largest resident set has grown since `before`.
    pub fn grown(self, before: Memory) -> u64 {
        self.peak.saturating_sub(before.peak)
    }

    /// Largest resident set of this process so far, in octets.
    pub fn peak(self) -> u64 {
        self.peak
    }

    /// Octets that further allocations could get.
    pub fn available(self) -> u64 {
        self.available
    }
}

/// Asks the system: `/proc`, and the limits of the control groups that the process is in.
pub(crate) fn ask() -> Option<Memory> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let system = std::fs::read_to_string("/proc/meminfo").ok()?;
    let mut available = kib(&system, "MemAvailable:")?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    if let Some(left) = left_in_groups(&groups, Path::new("/sys/fs/cgroup")) {
        available = available.min(left);
    }
    Some(Memory { peak: kib(&status, "VmHWM:")?, available })
}

/// Octets that the control groups of a process leave it: the least of its own group and those around it.
///
/// `groups` is `/proc/self/cgroup`; batch systems and containers set limits at any level. Version 2 has one
/// tree, version 1 one for memory.
fn left_in_groups(groups: &str, root: &Path) -> Option<u64> {
    let trees = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let words = if controllers.is_empty() {
            (root.to_owned(), ["memory.max", "memory.current", "inactive_file"])
        } else if controllers.split(',').any(|name| name == "memory") {
            let names = ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"];
            (root.join("memory"), names)
        } else {
            return None;
        };
        Some((words, path))
    });
    let left = |folder: &Path, [most, used, files]: [&str; 3]| -> Option<u64> {
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
        let most = number(most)?;
        // copies of files make room when somebody asks
        let stat = read("memory.stat").unwrap_or_default();
        let files = stat.lines().find_map(|line| line.strip_prefix(files)?.trim().parse::<u64>().ok());
        Some(most.saturating_sub(number(used)?.saturating_sub(files.unwrap_or(0))))
    };
    trees
        .flat_map(|((root, names), path)| {
            let own = root.join(path.trim_start_matches('/'));
            let inside = own.ancestors().take_while(|folder| folder.starts_with(&root));
            inside.filter_map(|folder| left(folder, names)).collect::<Vec<u64>>()
        })
        .min()
}

fn kib(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

impl Gate {
    /// Admits at most `jobs` runs at a time.
    pub fn new(jobs: usize) -> Self {
        Self::with(jobs, ask)
    }

    fn with(jobs: usize, probe: fn() -> Option<Memory>) -> Self {
        let now = probe();
        let state = State {
            running: 0,
            most: 0,
            per_run: None,
            limit: if now.is_some() { 1 } else { jobs },
            measured: Instant::now(),
        };
        let baseline = now.map_or(0, |memory| memory.peak);
        Self { jobs, baseline, state: Mutex::new(state), free: Condvar::new(), probe }
    }

    /// Waits until there is room, then runs.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let lock = || self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut state = lock();
        while state.running >= state.limit.max(1) {
            state = self.free.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
        state.running += 1;
        state.most = state.most.max(state.running);
        drop(state);
        let result = work();
        let mut state = lock();
        state.running -= 1;
        if state.per_run.is_none() || state.measured.elapsed() > EVERY {
            self.measure(&mut state);
        }
        drop(state);
        self.free.notify_all();
        result
    }

    fn measure(&self, state: &mut State) {
        state.measured = Instant::now();
        let Some(memory) = (self.probe)() else { return };
        let runs = state.most.max(1) as u64;
        let grown = (memory.peak.saturating_sub(self.baseline) / runs).max(LEAST);
        let per_run = state.per_run.map_or(grown, |known| known.max(grown));
        state.per_run = Some(per_run);
        // what the other runs of this moment hold is not available any more
        let more = (memory.available - memory.available / RESERVE) / per_run;
        state.limit = (state.running as u64 + more).clamp(1, self.jobs as u64) as usize;
    }

    /// Octets that a run needs, as far as known, and how many fit at a time.
    pub fn known(&self) -> (Option<u64>, usize) {
        let state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        (state.per_run, state.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    /// Most of `runs` runs at a time on `jobs` threads, each of which takes a barrier-free moment.
    fn most_at_a_time(gate: &Gate, jobs: usize, runs: usize) -> usize {
        let (now, most, left) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(runs));
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_ok()
                    {
                        gate.run(|| {
                            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            std::thread::yield_now();
                            now.fetch_sub(1, Ordering::SeqCst);
                        });
                    }
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn large_runs_go_one_by_one() {
        static PEAK: AtomicU64 = AtomicU64::new(0);
        // every look finds the process 1 GiB larger, and 512 MiB left
        let probe = || {
            let peak = PEAK.fetch_add(1 << 30, Ordering::SeqCst);
            Some(Memory { peak, available: 512 << 20 })
        };
        let gate = Gate::with(8, probe);
        assert_eq!(most_at_a_time(&gate, 8, 100), 1);
        assert_eq!(gate.known().1, 1);
    }

    #[test]
    fn small_runs_use_all_jobs() {
        let gate = Gate::with(8, || Some(Memory { peak: 1 << 20, available: 1 << 40 }));
        gate.run(|| ());
        assert_eq!(gate.known(), (Some(LEAST), 8));
        let gate = Gate::with(3, || None);
        assert_eq!(gate.known(), (None, 3));
        assert!(most_at_a_time(&gate, 8, 100) <= 3);
    }

    #[test]
    fn control_groups_limit_from_any_level() {
        let root = tempfile::tempdir().unwrap();
        let group = |name: &str, files: &[(&str, &str)]| {
            let folder = root.path().join(name);
            std::fs::create_dir_all(&folder).unwrap();
            for (file, text) in files {
                std::fs::write(folder.join(file), text).unwrap();
            }
        };
        group("batch", &[("memory.max", "1000\n"), ("memory.current", "700\n")]);
        group("batch/job", &[("memory.max", "max\n"), ("memory.current", "600\n")]);
        group("batch/job/task", &[("memory.max", "900"), ("memory.current", "500")]);
        let left = |groups: &str| left_in_groups(groups, root.path());
        assert_eq!(left("0::/batch/job/task\n"), Some(300));
        // of what the tasks use, copies of files do not count
        group("batch", &[("memory.stat", "anon 200\ninactive_file 500\n")]);
        assert_eq!(left("0::/batch/job/task\n"), Some(400));
        assert_eq!(left("0::/elsewhere\n"), None);
        assert_eq!(left("1:cpu:/batch\n"), None);
        let old = [("memory.limit_in_bytes", "5000"), ("memory.usage_in_bytes", "1")];
        group("memory/slurm", &old);
        assert_eq!(left("5:cpu:/slurm\n4:hugetlb,memory:/slurm/job\n0::/\n"), Some(4999));
    }

    #[test]
    fn a_panic_frees_its_place() {
        let gate = Gate::with(1, || None);
        gate.run(|| std::panic::catch_unwind(|| panic!("a run that breaks")).is_err());
        gate.run(|| ());
        assert_eq!(gate.state.lock().unwrap().running, 0);
    }
}
