//! RapidIO switches, links, endpoints and traffic: the world that sim-core runs
