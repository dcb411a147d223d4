//! Threads that do the same windows: who does which part, and where they wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex};

/// How often whoever waits looks before it lets others run.
const SPINS: u32 = 4_000;
/// How often it lets others run before it sleeps, where that may be: between two slices of a run. Who sleeps,
/// or is new, often comes to the processor of whoever woke it, and they take turns for milliseconds.
const TURNS: u32 = 20_000;

/// All threads meet here after each window. The last to come prepares the next one, then all go on.
#[derive(Debug)]
pub(super) struct Meeting {
    threads: u64,
    /// Threads that have come, in all windows together.
    come: AtomicU64,
    /// Windows that are prepared.
    opened: AtomicU64,
    /// A thread has panicked: nobody waits for it.
    broken: AtomicBool,
}

impl Meeting {
    pub fn new(threads: usize) -> Self {
        Meeting {
            threads: threads as u64,
            come: AtomicU64::new(0),
            opened: AtomicU64::new(0),
            broken: AtomicBool::new(false),
        }
    }

    /// The caller has nothing left to do in window `window` (from 0). The last one does `prepare`; all return
    /// when that is done. `false`: somebody has panicked.
    pub fn meet(&self, window: u64, prepare: impl FnOnce()) -> bool {
        if self.come.fetch_add(1, Ordering::AcqRel) + 1 == (window + 1) * self.threads {
            prepare();
            self.opened.store(window + 1, Ordering::Release);
            return true;
        }
        let is_open = || self.opened.load(Ordering::Acquire) > window;
        wait_until(|| is_open() || self.is_broken());
        is_open()
    }

    /// Whether somebody has panicked.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// While this lives, a panic of its thread is noticed by those who wait.
    pub fn watch(&self) -> Alarm<'_> {
        Alarm(self)
    }
}

/// Between the looks of somebody who waits.
fn pause(looks: u32) {
    if looks < SPINS {
        std::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}

/// Waits for somebody at work by looking.
fn wait_until(is_ready: impl Fn() -> bool) {
    let mut looks = 0u32;
    while !is_ready() {
        looks = looks.saturating_add(1);
        pause(looks);
    }
}

/// Threads live as long as a run, and wait here between its slices.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Slices that have begun.
    begun: AtomicU64,
    /// Threads that have done a slice, in all slices together.
    done: AtomicU64,
    /// There are no more slices.
    closed: AtomicBool,
    lock: Mutex<()>,
    bell: Condvar,
}

impl Gate {
    /// The next slice begins.
    pub fn open(&self) {
        self.begun.fetch_add(1, Ordering::Release);
        self.ring();
    }

    /// There are no more slices.
    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.ring();
    }

    /// Wakes who sleeps; whoever is about to has the lock, and looks once more before it does.
    fn ring(&self) {
        drop(self.lock.lock().expect("nobody panics with it"));
        self.bell.notify_all();
    }

    /// Waits for slice `slice` (from 0). `false`: there is none.
    pub fn wait(&self, slice: u64) -> bool {
        let waits = || self.begun.load(Ordering::Acquire) <= slice && !self.closed.load(Ordering::Acquire);
        for looks in 0..SPINS + TURNS {
            if !waits() {
                break;
            }
            pause(looks);
        }
        let guard = self.lock.lock().expect("nobody panics with it");
        drop(self.bell.wait_while(guard, |_| waits()).expect("nobody panics with it"));
        self.begun.load(Ordering::Acquire) > slice
    }

    /// Somebody has done a slice, or will not any more.
    pub fn leave(&self) {
        self.done.fetch_add(1, Ordering::Release);
    }

    /// Waits until `threads` have done all slices that have begun.
    pub fn wait_for_all(&self, threads: u64) {
        let all = self.begun.load(Ordering::Relaxed) * threads;
        wait_until(|| self.done.load(Ordering::Acquire) >= all);
    }
}

/// See [`Meeting::watch`].
pub(super) struct Alarm<'a>(&'a Meeting);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Which parts somebody does in a window. A thread begins with its own, whose state is near, and goes on with
/// what others have left.
#[derive(Debug)]
pub(super) struct Claims(Vec<AtomicU64>);

impl Claims {
    pub fn new(parts: usize) -> Self {
        Claims((0..parts).map(|_| AtomicU64::new(0)).collect())
    }

    /// The parts that thread `thread` of `threads` does in window `window` (from 0).
    pub fn of(&self, window: u64, thread: usize, threads: usize) -> impl Iterator<Item = usize> {
        let parts = self.0.len();
        let own = thread * parts / threads;
        (0..parts).map(move |n| (own + n) % parts).filter(move |&part| {
            let claim = &self.0[part];
            claim.compare_exchange(window, window + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Every part is done once in each window by somebody, and no window begins before the last is over.
    #[test]
    fn windows_follow_each_other() {
        const WINDOWS: u64 = 500;
        for threads in 1..4 {
            let (meeting, claims) = (Meeting::new(threads), Claims::new(5));
            let done = Mutex::new(Vec::new());
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (meeting, claims, done) = (&meeting, &claims, &done);
                    scope.spawn(move || {
                        for window in 0..WINDOWS {
                            for part in claims.of(window, thread, threads) {
                                done.lock().unwrap().push((window, part));
                            }
                            assert!(meeting.meet(window, || {
                                assert_eq!(done.lock().unwrap().len() as u64, (window + 1) * 5);
                            }));
                        }
                    });
                }
            });
            let mut done = done.into_inner().unwrap();
            assert!(done.is_sorted_by_key(|(window, _)| *window));
            done.sort_unstable();
            let law: Vec<_> =
                (0..WINDOWS).flat_map(|window| (0..5).map(move |part| (window, part))).collect();
            assert_eq!(done, law);
        }
    }

    /// Threads do each slice once, whether they sleep between them or not, and end with the last.
    #[test]
    fn threads_live_as_long_as_a_run() {
        const SLICES: u64 = 50;
        let (gate, done) = (Gate::default(), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let mut slice = 0;
                    while gate.wait(slice) {
                        done.fetch_add(1, Ordering::Relaxed);
                        slice += 1;
                        gate.leave();
                    }
                    assert_eq!(slice, SLICES);
                });
            }
            for slice in 0..SLICES {
                if slice % 10 == 0 {
                    // Long enough for others to sleep.
                    (0..SPINS + 2 * TURNS).for_each(pause);
                }
                gate.open();
                gate.wait_for_all(2);
                assert_eq!(done.load(Ordering::Relaxed), 2 * (slice + 1));
            }
            gate.close();
        });
    }

    #[test]
    fn nobody_waits_for_who_has_panicked() {
        let meeting = Meeting::new(2);
        let waits = std::thread::scope(|scope| {
            let waits = scope.spawn(|| meeting.meet(0, || ()));
            let fails = scope.spawn(|| {
                let _alarm = meeting.watch();
                panic!("as the test wants");
            });
            assert!(fails.join().is_err());
            waits.join().unwrap()
        });
        assert!(!waits);
    }
}
