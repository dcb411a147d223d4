//! Standard output and standard error.

use crate::status::Failure;
pub(crate) use crate::status::complain;
use std::io::{ErrorKind, IsTerminal, Write};

/// Prints to standard output. A reader that went away (`riosim list devices | head -1`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::bad_input(format_args!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Whether standard error takes colours.
pub(crate) fn colours() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
