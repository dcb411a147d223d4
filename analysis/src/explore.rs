//! Exhaustive exploration of protocol races.
//!
//! A [`Model`] is a closed system: nodes, channels between them, a budget of faults. It says what can happen
//! in a state, and when to stop. [`Graph`] holds every state that can be reached, each once, and answers:
//!
//! - [`tally`](Graph::tally): how many *interleavings* (maximal sequences of events) end in which outcome,
//!   counted by dynamic programming over the merged graph in 128 bits, and how probable they are under a
//!   scheduler that picks uniformly among what can happen;
//! - [`shortest`](Graph::shortest): a shortest sequence of events to a state of one's choice;
//! - [`trapped`](Graph::trapped): a shortest way to a state from which nothing good can be reached any more.
//!   That is the sound reading of "eventually" on graphs with cycles: backward reachability from good states.
//!
//! Time is not part of a state. Timers are events with a guard; a model leaves out the orders that no
//! periods allow.
//!
//! A general model checker would hold the same states a second time and cannot count paths; breadth-first
//! search over the graph that the counting needs anyway gives the shortest paths. So there is none here.
//!
//! Models: [`conduit`], the establishment of conduits of session management; [`linx`], a LINX connection over
//! RapidIO from its establishment to restarts; [`transfer`], a Scheduled Transfer connection, a Write and a
//! FetchOp on it.

pub mod channel;
pub mod conduit;
pub mod graph;
mod intern;
pub mod linx;
pub mod packing;
pub mod script;
pub mod sequence;
mod table;
pub mod transfer;

pub use channel::{Channel, Order};
pub use graph::{Cyclic, Endings, Graph, Model, Tally};
pub use table::{Row, conduit_row, conduit_table};
