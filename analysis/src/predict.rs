//! What a run would take on several cores, from what the windows of a run in parts came to on one.
//!
//! A run in parts goes window by window, and each window takes as long as its busiest part. So the work of
//! each part in each window says what any number of cores could do, without having them: this is arithmetic
//! over measured counts and over three measured costs.
//!
//! - An event, a letter and the pause between two windows cost what they cost on average in the run: time
//!   measured, over how many there were. So the costs give back the measured time of the run itself, exactly,
//!   and a machine that was busy with other things stretches all of them alike.
//! - The parts of a cut into n are halves of halves of a finer one ([`Ledger::groups`]): their work is the
//!   sum, and letters within a group cost nothing.
//! - What cannot be measured on one core is how long n of them take to meet. It is assumed ([`MEETING_NS`]).
//!
//! Not in it: that cores share caches and memory, which makes each slower, and that the state of a part is
//! smaller than that of the whole, which makes it faster.

use crate::num::{Num, count_text, three_digits};
use crate::table::aligned;
use models::run::{Ledger, Row};
use serde::Serialize;

/// Numbers of cores for which a run is predicted.
pub const CORES: [usize; 4] = [2, 4, 16, 64];

/// How much longer a window takes for each core that comes to the meeting at its end, nanoseconds: one line
/// of memory goes to that core when it comes, and one when all go on. An assumption: about 50 ns for a line
/// from one core to another on a server.
pub const MEETING_NS: f64 = 100.0;

/// What the steps of a run in parts cost, nanoseconds.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct Costs {
    /// An event.
    pub event_ns: Num,
    /// A letter from one part to another, both ends together.
    pub letter_ns: Num,
    /// A part, between two windows.
    pub between_ns: Num,
    /// A core, for the meeting at the end of a window; assumed.
    pub meeting_ns: Num,
}

impl Costs {
    /// What was measured, in nanoseconds, and the assumption.
    pub fn of(ledger: &Ledger, meeting_ns: f64) -> Self {
        let spent = ledger.spent;
        // Without a letter the mail is only looked at: that belongs to every part and window.
        let (mail, looking) = if ledger.letters > 0 { (spent.mail, 0) } else { (0, spent.mail) };
        let part_windows = ledger.windows * ledger.parts as u64;
        let each = |time: u64, count: u64| Num(if count == 0 { 0.0 } else { time as f64 / count as f64 });
        Costs {
            event_ns: each(spent.events, ledger.events),
            letter_ns: each(mail, ledger.letters),
            between_ns: each(spent.between + looking, part_windows),
            meeting_ns: Num(meeting_ns),
        }
    }

    /// Nanoseconds of what a group does in a window; letters have two ends.
    fn work(&self, (events, ends): (u64, u64)) -> f64 {
        self.event_ns.0 * events as f64 + self.letter_ns.0 * ends as f64 / 2.0
    }

    /// Seconds of a run that is not cut: its events, and who looks at samples.
    fn whole(&self, ledger: &Ledger) -> f64 {
        (self.event_ns.0 * ledger.events as f64 + ledger.spent.looks as f64) / 1e9
    }

    /// Seconds of the run as it was, all its parts on one core, which meets nobody.
    fn in_parts(&self, ledger: &Ledger) -> f64 {
        let between = self.between_ns.0 * (ledger.windows * ledger.parts as u64) as f64;
        self.whole(ledger) + (self.letter_ns.0 * ledger.letters as f64 + between) / 1e9
    }

    /// On so many cores.
    fn on(&self, ledger: &Ledger, cores: usize) -> OnCores {
        let groups = ledger.levels().filter(|level| *level <= cores).max().unwrap_or(1);
        if groups < 2 {
            let seconds = self.whole(ledger);
            return OnCores {
                cores,
                parts: 1,
                seconds: Num(seconds),
                speed_up: Num(1.0),
                imbalance: Num(1.0),
            };
        }
        let work = |row: &Row| {
            let mut sums = (0.0, 0.0);
            for group in ledger.groups(row, groups) {
                let work = self.work(group);
                sums = (f64::max(sums.0, work), sums.1 + work);
            }
            sums
        };
        let (mut longest, mut all, mut events) = (0.0, 0.0, 0);
        for row in &ledger.rows {
            let (busiest, together) = work(row);
            longest += busiest;
            all += together;
            events += row.events.iter().map(|events| u64::from(*events)).sum::<u64>();
        }
        // Not every window of a long run has a row.
        let share = ledger.events as f64 / events.max(1) as f64;
        let pause = (self.between_ns.0 + self.meeting_ns.0) * (groups as u64 * ledger.windows) as f64;
        let seconds = (longest * share + pause + ledger.spent.looks as f64) / 1e9;
        OnCores {
            cores,
            parts: groups,
            seconds: Num(seconds),
            speed_up: Num(self.whole(ledger) / seconds),
            imbalance: Num(if all > 0.0 { longest * groups as f64 / all } else { 1.0 }),
        }
    }
}

/// A run on so many cores.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
pub struct OnCores {
    /// Cores.
    pub cores: usize,
    /// Parts of the fabric, one for each core that has something to do.
    pub parts: usize,
    /// How long it takes from the first event to the last.
    pub seconds: Num,
    /// Time on one core, not cut, over that.
    pub speed_up: Num,
    /// Work of the busiest part of each window over that of an average part: 1 is balanced.
    pub imbalance: Num,
}

/// What `perf.json` says of a run that was to be predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Prediction {
    /// It cannot be cut, so it takes what it takes.
    Whole {
        /// Why.
        because: String,
    },
    /// It ran in parts on one core.
    Parts {
        /// Parts.
        parts: usize,
        /// Windows in which the parts did not hear of each other.
        windows: u64,
        /// The longest that a window can be, simulated nanoseconds.
        lookahead_ns: Num,
        /// Events in a window, on average.
        events_per_window: Num,
        /// Letters between parts in a window, on average.
        mail_per_window: Num,
        /// What the steps cost.
        costs: Costs,
        /// Seconds in which one thread looked at samples while all others waited: part of every time below.
        samples_s: Num,
        /// Measured seconds in parts on one core, which the costs give back.
        in_parts_s: Num,
        /// Seconds on one core, not cut.
        one_core_s: Num,
        /// On several.
        predicted: Vec<OnCores>,
    },
}

impl Prediction {
    /// From the windows of a run in parts on one core, whose clock gave nanoseconds.
    pub fn new(ledger: &Ledger, cores: &[usize], meeting_ns: f64) -> Self {
        let costs = Costs::of(ledger, meeting_ns);
        let a_window = |count: u64| Num(count as f64 / ledger.windows.max(1) as f64);
        Prediction::Parts {
            parts: ledger.parts,
            windows: ledger.windows,
            lookahead_ns: Num(ledger.lookahead as f64 / 1e3),
            events_per_window: a_window(ledger.events),
            mail_per_window: a_window(ledger.letters),
            costs,
            samples_s: Num(ledger.spent.looks as f64 / 1e9),
            in_parts_s: Num(costs.in_parts(ledger)),
            one_core_s: Num(costs.whole(ledger)),
            predicted: cores.iter().map(|cores| costs.on(ledger, *cores)).collect(),
        }
    }

    /// For a terminal; each line ends with a line feed.
    pub fn text(&self) -> String {
        match self {
            Prediction::Whole { because } => format!("on any number of cores as on one, because {because}\n"),
            Prediction::Parts {
                parts,
                windows,
                lookahead_ns,
                events_per_window,
                mail_per_window,
                costs,
                samples_s,
                in_parts_s,
                one_core_s,
                predicted,
            } => {
                let short = |value: &Num| three_digits(value.0);
                let mut text = format!(
                    "measured in {parts} parts on one core: {} s for {} windows of at most {} ns, \
                     with {} events and {} letters each\n",
                    short(in_parts_s),
                    count_text(*windows),
                    short(lookahead_ns),
                    short(events_per_window),
                    short(mail_per_window),
                );
                text += &format!(
                    "an event takes {} ns, a letter {}, a part between windows {}; a core that meets \
                     others is assumed to take {}\n",
                    short(&costs.event_ns),
                    short(&costs.letter_ns),
                    short(&costs.between_ns),
                    short(&costs.meeting_ns),
                );
                if samples_s.0 > 0.0 {
                    text += &format!(
                        "one thread looked at samples for {} s, which is part of every time below\n",
                        short(samples_s)
                    );
                }
                let words = ["cores", "parts", "predicted", "speed-up", "busiest part over average"];
                let mut rows = vec![words.map(str::to_owned).to_vec()];
                let one = ["1", "1", &format!("{} s", short(one_core_s)), "1", "1"];
                rows.push(one.map(str::to_owned).to_vec());
                rows.extend(predicted.iter().map(|on| {
                    vec![
                        on.cores.to_string(),
                        on.parts.to_string(),
                        format!("{} s", short(&on.seconds)),
                        short(&on.speed_up),
                        short(&on.imbalance),
                    ]
                }));
                text + &aligned(&rows, "  ")
            }
        }
    }
}
