//! How the command ends.

use std::io::Write;
use std::process::ExitCode;

/// Why the command does not end well.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A law of the simulator broke: a defect, not a property of the scenario.
    Invariant(String),
    /// The scenario, a file or a flag is wrong; the text says where.
    BadInput(String),
    /// The watchdog ended these runs, as the scenario asked for; requirements that do not hold come behind
    /// them.
    Stalled(Vec<String>),
    /// These requirements of the scenario do not hold.
    Required(Vec<String>),
    /// The user interrupted.
    Interrupted,
    /// The user interrupted what can go on later.
    Paused(String),
}

impl Failure {
    /// Bad input with a one-line explanation.
    pub fn bad_input(text: impl std::fmt::Display) -> Self {
        Failure::BadInput(format!("riosim: {text}"))
    }

    /// Exit status.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Invariant(_) => 1,
            Failure::BadInput(_) => 2,
            Failure::Stalled(_) => 3,
            Failure::Required(_) => 4,
            Failure::Interrupted | Failure::Paused(_) => 130,
        }
    }

    /// Says why and gives the exit status.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::BadInput(text) => complain(text),
            Failure::Invariant(text) => complain(&format!("riosim: an invariant broke: {text}")),
            Failure::Stalled(lines) | Failure::Required(lines) => {
                complain(&format!("riosim: {}", lines.join("\nriosim: ")))
            }
            Failure::Interrupted => complain("riosim: interrupted, nothing was written"),
            Failure::Paused(text) => complain(&format!("riosim: interrupted: {text}")),
        }
        ExitCode::from(self.code())
    }
}

/// Prints a line to standard error, if there is anybody to read it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "{}", text.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_manual() {
        let codes = [
            Failure::Invariant(String::new()),
            Failure::bad_input(""),
            Failure::Stalled(Vec::new()),
            Failure::Required(Vec::new()),
            Failure::Interrupted,
            Failure::Paused(String::new()),
        ]
        .map(|failure| failure.code());
        assert_eq!(codes, [1, 2, 3, 4, 130, 130]);
    }
}
