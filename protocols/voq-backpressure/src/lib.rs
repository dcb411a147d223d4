//! RapidIO Part 12 VoQ backpressure: stype2 symbols, congestion state, staging maps, CSR block
