//! Scenario files: spec, expand, check, compile
