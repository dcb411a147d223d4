//! RapidIO Part 6 LP-Serial: control symbols, CRCs, packet framing
