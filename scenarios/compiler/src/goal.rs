//! GOAL files: programs as schedules, read into [`models::goal::Schedule`].
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   a: send 64b to 1 tag 7     // octets, receiver, tag (default 0)
//!   b: calc 1000 cpu 1         // nanoseconds, processor (default 0)
//!   b requires a               // begins when a is over; irequires: when a has begun
//! }
//! rank 1 { recv 64b from 0 tag 7 }
//! ```
//!
//! Labels belong to their rank; what nobody refers to needs none. Comments go from `//` to the end of the
//! line.

use models::goal::{Action, Event, Invalid, Rank, Schedule};
use models::sim_core::Duration;
use std::collections::BTreeMap;
use std::fmt;

/// Most ranks of a program.
pub const MAX_RANKS: u32 = 1 << 20;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalError {
    /// Line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub message: String,
}

impl fmt::Display for GoalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(f, "{}", self.message)
        } else {
            write!(f, "line {}: {}", self.line, self.message)
        }
    }
}

impl std::error::Error for GoalError {}

/// Words with their lines; braces and the colon behind a label are words of their own.
struct Words<'a> {
    words: std::iter::Peekable<std::vec::IntoIter<(usize, &'a str)>>,
    line: usize,
}

impl<'a> Words<'a> {
    fn new(text: &'a str) -> Self {
        let mut words = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split_once("//").map_or(text, |(code, _)| code);
            for word in text.split_whitespace() {
                let mut rest = word;
                while let Some(at) = rest.find(['{', '}', ':']) {
                    if at > 0 {
                        words.push((line, &rest[..at]));
                    }
                    words.push((line, &rest[at..=at]));
                    rest = &rest[at + 1..];
                }
                if !rest.is_empty() {
                    words.push((line, rest));
                }
            }
        }
        Words { words: words.into_iter().peekable(), line: 0 }
    }

    fn next(&mut self) -> Option<&'a str> {
        let (line, word) = self.words.next()?;
        self.line = line;
        Some(word)
    }

    fn peek(&mut self) -> Option<&'a str> {
        self.words.peek().map(|(_, word)| *word)
    }

    fn wrong<T>(&self, message: impl Into<String>) -> Result<T, GoalError> {
        Err(GoalError { line: self.line, message: message.into() })
    }

    fn need(&mut self, what: &str) -> Result<&'a str, GoalError> {
        match self.next() {
            Some(word) => Ok(word),
            None => self.wrong(format!("the file ends where {what} should be")),
        }
    }

    fn expect(&mut self, wanted: &str) -> Result<(), GoalError> {
        match self.need(&format!("\"{wanted}\""))? {
            word if word == wanted => Ok(()),
            word => self.wrong(format!("found \"{word}\" where \"{wanted}\" should be")),
        }
    }

    fn number<T: TryFrom<u64>>(&mut self, what: &str, suffix: &str) -> Result<T, GoalError> {
        let word = self.need(what)?;
        let digits = word.strip_suffix(suffix).unwrap_or("");
        match digits.parse().ok().and_then(|number: u64| T::try_from(number).ok()) {
            Some(number) if digits.bytes().all(|digit| digit.is_ascii_digit()) => Ok(number),
            _ => self.wrong(format!("found \"{word}\" where {what} should be")),
        }
    }
}

/// In which lines the operations of a file stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines(Vec<Vec<usize>>);

impl Lines {
    /// The line of an operation, from 1.
    ///
    /// # Panics
    /// If there is no such operation in the file.
    pub fn of(&self, rank: u32, op: u32) -> usize {
        self.0[rank as usize][op as usize]
    }
}

/// A dependency whose labels are not resolved yet: (line, who waits, for what, of whom).
type Wish<'a> = (usize, &'a str, Event, &'a str);

/// Reads a file and checks that the program can run.
///
/// # Errors
/// The first mistake: syntax, then what [`Schedule::check`] finds.
pub fn read(text: &str) -> Result<Schedule, GoalError> {
    read_with_lines(text).map(|(schedule, _)| schedule)
}

/// Reads a file as [`read`] does, and says in which lines its operations stand.
///
/// # Errors
/// Those of [`read`].
pub fn read_with_lines(text: &str) -> Result<(Schedule, Lines), GoalError> {
    let mut words = Words::new(text);
    words.expect("num_ranks")?;
    let ranks: u32 = words.number("the number of ranks", "")?;
    if ranks == 0 || ranks > MAX_RANKS {
        return words.wrong(format!("{ranks} ranks are not possible; allowed: 1 to {MAX_RANKS}"));
    }
    let mut schedule = Schedule::new(ranks);
    let mut seen = vec![false; ranks as usize];
    let mut lines = Lines(vec![Vec::new(); ranks as usize]);
    let mut octets = 0;
    while let Some(word) = words.next() {
        if word != "rank" {
            return words.wrong(format!("found \"{word}\" where \"rank\" should be"));
        }
        let number: u32 = words.number("the number of a rank", "")?;
        match seen.get_mut(number as usize) {
            None => return words.wrong(format!("there is no rank {number}; allowed: 0 to {}", ranks - 1)),
            Some(seen) if *seen => return words.wrong(format!("rank {number} is there twice")),
            Some(seen) => *seen = true,
        }
        words.expect("{")?;
        let (rank, places) = rank(&mut words, ranks, &mut octets)?;
        schedule.ranks[number as usize] = rank;
        lines.0[number as usize] = places;
    }
    schedule.check().map_err(|error| {
        let line = match error {
            Invalid::Circle { rank, op } | Invalid::NoRank { rank, op, .. } => lines.of(rank, op),
            Invalid::Unmatched { .. } | Invalid::Length { .. } => 0,
        };
        GoalError { line, message: error.to_string() }
    })?;
    Ok((schedule, lines))
}

/// The operations of a rank, and their lines. `octets`: what all ranks so far send.
fn rank(words: &mut Words<'_>, ranks: u32, octets: &mut u64) -> Result<(Rank, Vec<usize>), GoalError> {
    let mut rank = Rank::default();
    let mut lines = Vec::new();
    let mut labels: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wishes: Vec<Wish<'_>> = Vec::new();
    loop {
        let word = words.need("an operation or \"}\"")?;
        match (word, words.peek()) {
            ("}", _) => break,
            (label, Some(":")) => {
                words.next();
                let kind = words.need("an operation")?;
                lines.push(words.line);
                let op = operation(words, kind, ranks, &mut rank, octets)?;
                if labels.insert(label, op).is_some() {
                    return words.wrong(format!("label \"{label}\" is there twice in this rank"));
                }
            }
            (label, Some(kind @ ("requires" | "irequires"))) => {
                words.next();
                let event = if kind == "requires" { Event::End } else { Event::Begin };
                let other = words.need("a label")?;
                wishes.push((words.line, label, event, other));
            }
            (kind, _) => {
                lines.push(words.line);
                operation(words, kind, ranks, &mut rank, octets)?;
            }
        }
    }
    for (line, label, event, other) in wishes {
        let find = |label: &str| match labels.get(label) {
            Some(op) => Ok(*op),
            None => Err(GoalError {
                line,
                message: format!("no operation of this rank has the label \"{label}\""),
            }),
        };
        rank.wait(find(label)?, event, find(other)?);
    }
    Ok((rank, lines))
}

fn operation(
    words: &mut Words<'_>,
    kind: &str,
    ranks: u32,
    rank: &mut Rank,
    sent: &mut u64,
) -> Result<u32, GoalError> {
    let action = match kind {
        "send" | "recv" => {
            let octets: u64 = words.number("a number of octets (\"64b\")", "b")?;
            if kind == "send" {
                match sent.checked_add(octets) {
                    Some(sum) => *sent = sum,
                    None => return words.wrong("all sends together have more than 2^64 - 1 octets"),
                }
            }
            if octets == 0 {
                return words.wrong("a message of no octets is not possible; allowed: 1b and more");
            }
            words.expect(if kind == "send" { "to" } else { "from" })?;
            let other: u32 = words.number("the number of a rank", "")?;
            if other >= ranks {
                return words.wrong(format!("there is no rank {other}; allowed: 0 to {}", ranks - 1));
            }
            let tag = option(words, "tag")?;
            match kind {
                "send" => Action::Send { octets, to: other, tag },
                _ => Action::Receive { octets, from: other, tag },
            }
        }
        "calc" => {
            let ns: u64 = words.number("a number of nanoseconds", "")?;
            match ns.checked_mul(1_000) {
                Some(ps) => Action::Calculate(Duration(ps)),
                None => return words.wrong(format!("{ns} ns are more than a run can have")),
            }
        }
        other => {
            let allowed =
                "send, recv, calc, \"LABEL: operation\", \"LABEL requires LABEL\", \"LABEL irequires LABEL\"";
            return words.wrong(format!("found \"{other}\"; allowed: {allowed}"));
        }
    };
    let cpu: u32 = option(words, "cpu")?;
    match u16::try_from(cpu) {
        Ok(cpu) => Ok(rank.push_on(action, cpu)),
        Err(_) => words.wrong(format!("there is no processor {cpu}; allowed: 0 to 65535")),
    }
}

/// `name NUMBER`, or 0.
fn option(words: &mut Words<'_>, name: &str) -> Result<u32, GoalError> {
    if words.peek() != Some(name) {
        return Ok(0);
    }
    words.next();
    words.number(&format!("a number behind \"{name}\""), "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::goal::collective;
    use proptest::prelude::*;
    use std::fmt::Write;

    #[test]
    fn the_example_is_read() {
        let text = "num_ranks 2\nrank 0 {\na: send 64b to 1 tag 7 // x\nb: calc 1000 cpu 1\nb requires a\n}\n\
                    rank 1 { recv 64b from 0 tag 7 }";
        let mut schedule = Schedule::new(2);
        let a = schedule.ranks[0].push(Action::Send { octets: 64, to: 1, tag: 7 });
        let b = schedule.ranks[0].push_on(Action::Calculate(Duration::from_ns(1_000)), 1);
        schedule.ranks[0].wait(b, Event::End, a);
        schedule.ranks[1].push(Action::Receive { octets: 64, from: 0, tag: 7 });
        assert_eq!(read(text), Ok(schedule));
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, message) in [
            ("", "the file ends where \"num_ranks\" should be"),
            ("num_ranks 0", "line 1: 0 ranks are not possible; allowed: 1 to 1048576"),
            ("num_ranks x", "line 1: found \"x\" where the number of ranks should be"),
            ("num_ranks 1\nrank 1 {}", "line 2: there is no rank 1; allowed: 0 to 0"),
            ("num_ranks 1\nrank 0 {}\nrank 0 {}", "line 3: rank 0 is there twice"),
            ("num_ranks 1\nrank 0 {", "line 2: the file ends where an operation or \"}\" should be"),
            (
                "num_ranks 1\nrank 0 {\nwait 5 }",
                "line 3: found \"wait\"; allowed: send, recv, calc, \"LABEL: operation\", \
                 \"LABEL requires LABEL\", \"LABEL irequires LABEL\"",
            ),
            (
                "num_ranks 1\nrank 0 {\nsend 5 to 0 }",
                "line 3: found \"5\" where a number of octets (\"64b\") should be",
            ),
            ("num_ranks 1\nrank 0 {\nsend 5b from 0 }", "line 3: found \"from\" where \"to\" should be"),
            ("num_ranks 1\nrank 0 {\nsend 5b to 4 }", "line 3: there is no rank 4; allowed: 0 to 0"),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2 }",
                "line 4: label \"a\" is there twice in this rank",
            ),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\nb requires a }",
                "line 4: no operation of this rank has the label \"b\"",
            ),
            (
                "num_ranks 1\nrank 0 {\na: calc 1\na requires a }",
                "line 3: rank 0: operation 0 waits for itself, through others",
            ),
            (
                "num_ranks 2\nrank 0 {\nsend 18446744073709551615b to 1\nsend 1b to 1 }",
                "line 4: all sends together have more than 2^64 - 1 octets",
            ),
            (
                "num_ranks 2\nrank 0 { send 1b to 1 }",
                "rank 0 sends 1 messages with tag 0 to rank 1, which receives 0",
            ),
        ] {
            assert_eq!(read(text).expect_err(text).to_string(), message);
        }
    }

    /// What the generators make, as text.
    fn written(schedule: &Schedule) -> String {
        let mut text = format!("num_ranks {}\n", schedule.ranks.len());
        for (number, rank) in schedule.ranks.iter().enumerate() {
            writeln!(text, "rank {number} {{").unwrap();
            for (op, operation) in rank.ops().iter().enumerate() {
                let line = match operation.action {
                    Action::Send { octets, to, tag } => format!("send {octets}b to {to} tag {tag}"),
                    Action::Receive { octets, from, tag } => format!("recv {octets}b from {from} tag {tag}"),
                    Action::Calculate(time) => format!("calc {}", time.as_ps() / 1_000),
                };
                writeln!(text, "l{op}: {line}").unwrap();
            }
            for (op, event, next) in rank.dependencies() {
                let word = if event == Event::End { "requires" } else { "irequires" };
                writeln!(text, "l{next} {word} l{op}").unwrap();
            }
            text.push_str("}\n");
        }
        text
    }

    #[test]
    fn collectives_come_back() {
        for schedule in [
            collective::allreduce_halving(16, 4_096),
            collective::all_to_all(5, 100),
            collective::broadcast(9, 64),
            collective::reduce(9, 64),
            collective::barrier(6),
        ] {
            assert_eq!(read(&written(&schedule)), Ok(schedule));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(words in prop::collection::vec(
            prop::sample::select(vec![
                "num_ranks", "2", "rank", "0", "1", "{", "}", "a:", "b:", "send", "recv", "calc", "8b", "to",
                "from", "tag", "cpu", "requires", "irequires", "a", "b", "\n", "//", ":",
                "99999999999999999999",
            ]),
            0..40,
        )) {
            let _ = read(&words.join(" "));
            let _ = read(&format!("num_ranks 2 rank 0 {{ {} }}", words.join(" ")));
        }
    }
}
