//! Engines: the rules that span packets. Each has the verbs `submit` and `handle_*` for what comes in,
//! `poll_transmit` and `poll_event` for what goes out, and `poll_timeout` for when to call
//! `handle_timeout`. `now` is in picoseconds. State is plain data: it can be cloned, compared and hashed.
