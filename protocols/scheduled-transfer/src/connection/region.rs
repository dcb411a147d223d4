//! Persistent regions, and Put, Get and FetchOp on them (6.1.4, 2.3.5, 2.3.6).
//!
//! The *client* asked for the region and issues the operations; the *server* has the memory.

mod client;
mod server;

pub(crate) use client::{Fetch, Get, RegionClient};
pub(crate) use server::RegionServer;
