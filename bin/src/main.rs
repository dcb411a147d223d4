//! The `riosim` command.
//!
//! Exit status: 0 all is well, 1 an invariant broke, 2 bad input, 3 a stall ended the run, 130 interrupted.

mod cli;
mod console;
mod inspect;
mod progress;
mod run;
mod simulate;
mod status;

use clap::Parser;
use cli::{Cli, Verb};
use status::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match (cli.verb, cli.run) {
        (Some(Verb::Run(args)), _) | (None, Some(args)) => run::run(&args),
        (Some(Verb::Check(args)), _) => inspect::check(&args),
        (Some(Verb::Init(args)), _) => inspect::init(&args),
        (Some(Verb::List { what }), _) => inspect::list(what),
        (Some(Verb::Schema), _) => inspect::schema(),
        (None, None) => Err(Failure::bad_input("no scenario was named; riosim --help shows what there is")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
