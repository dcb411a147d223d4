//! What the windows of a run in parts come to, kept for profiles and for predictions.
//!
//! A row is a window: the events of each part, and the ends of letters at groups of parts. A cut into two,
//! four, ... parts is a cut into more of them whose halves are put together again
//! ([`Partition`](super::Partition) halves, and each half again), so one run in many parts says what it would
//! come to in fewer.

/// Rows kept at most: of longer runs every second, fourth, ... window has one.
const ROWS: usize = 1 << 14;

/// Work of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Events, by part.
    pub events: Vec<u32>,
    /// Letters that leave a group, and letters that come to it, together: by group of the finest level, then
    /// of the next.
    ends: Vec<u32>,
}

/// Clock times that were spent in parts of the work, in units of the clock that was given.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Handling events.
    pub events: u64,
    /// Taking mail in, and gathering it.
    pub mail: u64,
    /// Between two windows: how far the next one goes.
    pub between: u64,
    /// Samples and looks of the watchdog, for which nobody works.
    pub looks: u64,
}

impl Spent {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.events + self.mail + self.between + self.looks
    }
}

/// Windows of a run in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Parts of the fabric.
    pub parts: usize,
    /// Longest that a window can be, ps.
    pub lookahead: u64,
    /// Windows.
    pub windows: u64,
    /// Events of all windows.
    pub events: u64,
    /// Letters of all windows.
    pub letters: u64,
    /// Time spent, if whoever ran it has a clock.
    pub spent: Spent,
    /// One window of so many has a row.
    pub every: u64,
    /// Windows 0, `every`, 2 `every`, ...
    pub rows: Vec<Row>,
}

impl Ledger {
    /// Of a run that has not begun, in so many parts, with windows of at most `lookahead` ps.
    pub fn new(parts: usize, lookahead: u64) -> Self {
        Ledger {
            parts,
            lookahead,
            windows: 0,
            events: 0,
            letters: 0,
            spent: Spent::default(),
            every: 1,
            rows: Vec::new(),
        }
    }

    /// How many groups its parts can be put together to, the finest first: each of the next is two of these.
    pub fn levels(&self) -> impl Iterator<Item = usize> + use<> {
        levels(self.parts)
    }

    /// Of a row: events of each of `groups` groups, and the ends of letters that have one of theirs at it.
    ///
    /// Panics unless `groups` is one of [`levels`](Self::levels).
    pub fn groups<'a>(&self, row: &'a Row, groups: usize) -> impl Iterator<Item = (u64, u64)> + use<'a> {
        assert!(self.levels().any(|level| level == groups), "{} parts make no {groups} groups", self.parts);
        let first: usize = self.levels().take_while(|level| *level != groups).sum();
        let events = row.events.chunks(self.parts / groups);
        let events = events.map(|group| group.iter().map(|events| u64::from(*events)).sum());
        events.zip(row.ends[first..first + groups].iter().map(|ends| u64::from(*ends)))
    }

    /// A window is over: the events of each part, and what it has sent to which.
    pub fn enter(&mut self, parts: impl Iterator<Item = (u64, Vec<(u16, u32)>)>) {
        let mut row = Row { events: Vec::with_capacity(self.parts), ends: vec![0; levels(self.parts).sum()] };
        for (from, (events, sent)) in parts.enumerate() {
            self.events += events;
            row.events.push(u32::try_from(events).unwrap_or(u32::MAX));
            for (to, letters) in sent {
                self.letters += u64::from(letters);
                let mut first = 0;
                for level in levels(self.parts) {
                    let [from, to] = [from, usize::from(to)].map(|part| part / (self.parts / level));
                    if from == to {
                        break;
                    }
                    row.ends[first + from] += letters;
                    row.ends[first + to] += letters;
                    first += level;
                }
            }
        }
        if self.windows.is_multiple_of(self.every) {
            if self.rows.len() == ROWS {
                let mut number = 0;
                self.rows.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.every *= 2;
            }
            self.rows.push(row);
        }
        self.windows += 1;
    }
}

/// See [`Ledger::levels`]: halves of halves are those of any cut into so many parts; others are not.
fn levels(parts: usize) -> impl Iterator<Item = usize> {
    let half = move |level: &usize| (parts.is_power_of_two() && *level > 2).then(|| level / 2);
    std::iter::successors(Some(parts), half)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: part 0 sends 3 letters to part 1 and 5 to part 2, part 3 sends 2 to part 0. Four groups: 0
    /// has 3 + 5 + 2 ends, 1 has 3, 2 has 5, 3 has 2. Two groups: 5 + 2 letters cross, with an end in each.
    #[test]
    fn letters_within_a_group_do_not_leave_it() {
        let mut ledger = Ledger::new(4, 40);
        let sent = [vec![(1, 3), (2, 5)], vec![], vec![], vec![(0, 2)]];
        ledger.enter([10, 20, 30, 40].into_iter().zip(sent));
        assert_eq!((ledger.windows, ledger.events, ledger.letters), (1, 100, 10));
        assert!(ledger.levels().eq([4, 2]));
        let row = &ledger.rows[0];
        assert!(ledger.groups(row, 4).eq([(10, 10), (20, 3), (30, 5), (40, 2)]));
        assert!(ledger.groups(row, 2).eq([(30, 7), (70, 7)]));
        // Three parts are no halves of halves.
        assert!(Ledger::new(3, 40).levels().eq([3]));
    }

    /// However long a run is: rows at equal distances from the first window on, and all windows counted.
    #[test]
    fn rows_are_thinned_evenly() {
        let mut ledger = Ledger::new(2, 40);
        let windows = 5 * ROWS as u64 / 2 + 7;
        for window in 0..windows {
            ledger.enter([(window, Vec::new()), (0, Vec::new())].into_iter());
        }
        assert_eq!((ledger.windows, ledger.every), (windows, 4));
        assert_eq!(ledger.rows.len() as u64, windows.div_ceil(4));
        assert!(ledger.rows.iter().zip(0..).all(|(row, n)| row.events[0] == 4 * n));
    }
}
