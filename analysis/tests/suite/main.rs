//! Tests of collectors, reports, figures and explorations, in one binary: several would each link all of it.
#![allow(missing_docs)]

mod accounts;
mod collect;
mod conduit_races;
mod coverage;
mod fates;
mod figures;
mod linx_races;
mod pictures;
mod predict;
mod replay;
mod report;
mod require;
mod results;
mod rows;
mod runfolder;
mod synthetic;
mod transfer_races;
mod truths;
mod words;
