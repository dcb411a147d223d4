//! RapidIO switches, links, endpoints and traffic: the world that `sim-core` runs.
//!
//! A [`config::FabricConfig`] is compiled, dense, valid input. A [`Simulation`] runs it and tells a [`Probe`]
//! what happens; [`Simulation::finish`] gives back the probe and the totals. Results do not depend on the
//! probe, the event list or the way in which pipelines become events.
//!
//! ```
//! use models::config::*;
//! use models::sim_core::{Duration, Time};
//! use models::{Progress, RunOptions, Simulation};
//! use std::sync::Arc;
//!
//! // Two endpoints on one link of 4x 6.25 Gbaud: 400 ps for a character.
//! let endpoint = |path: &str, id| DeviceConfig {
//!     path: path.into(),
//!     ports: vec![PortConfig { buffers: 16, watermarks: [4, 3, 2], voq: PortVoq::default() }],
//!     model: DeviceModel::Endpoint(EndpointConfig {
//!         ids: vec![id],
//!         staging: StagingConfig::None,
//!         next_hop: Arc::default(),
//!     }),
//! };
//! let config = FabricConfig {
//!     seed: 1,
//!     devices: vec![endpoint("a", 0), endpoint("b", 1)],
//!     links: vec![LinkConfig {
//!         a: (0, 0),
//!         b: (1, 0),
//!         char_ps: (400, 1),
//!         lanes: 4,
//!         symbol_chars: 8,
//!         long_symbols: true,
//!         link_crc: false,
//!         ack_window: 63,
//!         propagation: Duration(40_000),
//!     }],
//!     id_space: 2,
//!     owners: vec![0, 1],
//!     flows: vec![FlowConfig { name: "a to b".into() }],
//!     sources: vec![SourceConfig {
//!         endpoint: 0,
//!         flow: 0,
//!         stream: "a/0".into(),
//!         priority: 0,
//!         start: Time::ZERO,
//!         stop: Time::MAX,
//!         goes_on: false,
//!         limit: u64::MAX,
//!         arrivals: Arrivals::Saturated { backlog: 1 },
//!         destinations: Destinations::Fixed(1),
//!         sizes: Sizes::Fixed(PacketSize { payload: 256, wire: 272 }),
//!         ftype: 5,
//!     }],
//!     ..FabricConfig::default()
//! };
//! let mut simulation = Simulation::new(Arc::new(config), RunOptions::default(), ());
//! // 1 000 packets of 272 octets and their delimiters take 1 000 * 280 * 400 ps; the last bit travels 40 ns.
//! assert_eq!(simulation.run(Time(1_000 * 280 * 400 + 40_000), u64::MAX), Progress::Limit);
//! let ((), outcome) = simulation.finish();
//! assert_eq!(outcome.delivered, 1_000);
//! ```

// From the bottom up; `xtask edges` checks that no room names one above it.
pub mod config;
mod event;
pub mod goal;
mod ids;
pub mod path;
mod ports;
pub mod ratio;
pub mod transfer_rate;

mod observe;

mod packet;

mod link;

mod voq;

mod endpoint;
mod switch;

mod registers;

pub mod agent;

mod world;

mod cut;

pub mod run;

// The crates above may use only this one: what they need of the layers below comes from here.
pub use linx_riocm;
pub use logical;
pub use lp_serial;
pub use scheduled_transfer;
pub use session_management;
pub use sim_core;
pub use voq_backpressure;

pub use link::symbol::WireChecked;
pub use observe::probe::{Cause, Parts, Probe};
pub use observe::{probe, stats, totals};
pub use registers::enumeration;
pub use run::{LeftStopped, Outcome, Parallel, Progress, RunOptions, Simulation, Watched};
