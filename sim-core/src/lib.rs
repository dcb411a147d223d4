//! Deterministic discrete-event kernel: time, order, event lists, timers, random streams, fingerprints
