//! Threads that do the same windows: who does which part, and where they wait for each other.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How often whoever waits looks before it lets others run.
const SPINS: u32 = 4_000;

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
        let mut spins = 0;
        while self.opened.load(Ordering::Acquire) <= window {
            if self.broken.load(Ordering::Relaxed) {
                return false;
            }
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
            } else {
                std::thread::yield_now();
            }
        }
        true
    }

    /// While this lives, a panic of its thread is noticed by those who wait.
    pub fn watch(&self) -> Alarm<'_> {
        Alarm(self)
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
