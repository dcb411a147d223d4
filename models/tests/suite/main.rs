//! Tests of the fabric. They are one binary, because each one of its own would compile the whole fabric
//! again.
#![allow(missing_docs)]

mod agents;
mod arbitration;
mod backpressure;
mod channel_backpressure;
mod channels;
mod chatter;
mod closed_forms;
mod common;
mod corners;
mod drained;
mod enumeration;
mod equality;
mod faults;
mod folding;
mod headroom;
mod injection;
mod large_switch;
mod links;
mod linx;
mod look;
mod media;
mod micropackets;
mod multicast;
mod occupancy;
mod ordering;
mod parallel;
mod port_rules;
mod priority;
mod profile;
mod random_fabrics;
mod session;
mod shake;
mod transfer;
mod voq_registers;
