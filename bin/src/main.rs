//! The `riosim` command.
//!
//! Exit status: 0 all is well, 1 an invariant broke, 2 bad input, 3 a stall ended the run, 4 a requirement
//! of the scenario fails, 130 interrupted.

mod cli;
mod codec;
mod console;
mod explore;
mod goal;
mod inspect;
mod memory;
mod paper;
mod progress;
mod report;
mod require;
mod run;
mod simulate;
mod status;
mod sweep;
mod trace;
mod trial;
mod validate;
mod watch;
mod whole;

use clap::Parser;
use cli::{Cli, Verb, with_verb};
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse_from(with_verb(std::env::args_os()));
    let result = match cli.verb {
        Verb::Run(args) => run::run(&args),
        Verb::Report(args) => report::report(&args),
        Verb::Why(args) => report::why(&args),
        Verb::Trace(args) => trace::trace(&args),
        Verb::Check(args) => inspect::check(&args),
        Verb::Init(args) => inspect::init(&args),
        Verb::List { what } => inspect::list(what),
        Verb::Sweep(args) => sweep::sweep(&args),
        Verb::Compare(args) => sweep::compare(&args),
        Verb::Validate(args) => validate::validate(&args),
        Verb::Schema => inspect::schema(),
        Verb::Explore(args) => explore::explore(&args),
        Verb::Goal(args) => goal::goal(&args),
        Verb::Decode { format, hex } => inspect::decode(&format, &hex),
        Verb::Encode { format } => inspect::encode(&format),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
