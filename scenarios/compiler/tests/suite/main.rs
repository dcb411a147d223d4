//! Tests of scenario files, in one binary: several would each link all of it.
#![allow(missing_docs)]

mod bad;
mod bad_sweeps;
mod buffers;
mod configure;
mod fabric;
mod faults;
mod golden;
mod linx;
mod linx_frames;
mod loggopsim;
mod mutations;
mod options;
mod plan;
mod points;
mod programs;
mod radius;
mod session;
mod session_bridges;
mod session_conveyances;
mod session_flows;
mod session_initialise;
mod session_messages;
mod session_octets;
mod session_timers;
mod starved;
mod stripes;
mod studies;
mod transfer;
mod transfer_frames;
mod transfer_rates;
mod transfer_settings;
mod translators;
mod vain;
mod walks;
mod watched;
