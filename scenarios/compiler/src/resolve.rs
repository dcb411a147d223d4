//! The settings of devices and links: those of all, presets and overrides in layers, and what comes out.

mod device;
mod link;
