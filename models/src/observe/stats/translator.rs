//! Totals of translators.

use crate::observe::totals::FlowTotals;

/// What a translator did for one flow, since the start of the run.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TranslatorStats {
    /// Frames that came.
    pub came: u64,
    /// Operations that it passed on: Control, Data.
    pub passed: [u64; 2],
    /// Octets of these, their headers included.
    pub octets: u64,
    /// Of these, operations whose Max_STU it lowered.
    pub lowered_stu: u64,
    /// And those whose Max_Block it lowered.
    pub lowered_block: u64,
    /// Dropped: longer than what it takes, or than what the medium behind it carries.
    pub too_long: u64,
    /// Dropped: there was no room.
    pub no_room: u64,
    /// No frames of Scheduled Transfer, or for nobody that it knows a way to.
    pub foreign: u64,
    /// Taken, and not passed on at the end of the run.
    pub waiting: u64,
}

impl TranslatorStats {
    /// Operations that it dropped.
    pub fn dropped(&self) -> u64 {
        self.too_long + self.no_room + self.foreign
    }
}

/// One translator in a flow.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TranslatorPart {
    /// Device of its first interface.
    pub device: u32,
    /// Most octets that it held at a time, of all flows.
    pub most_octets: u64,
    /// What it did.
    pub stats: TranslatorStats,
}

/// What the translators of one flow have come to at the end of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranslatorTotals {
    /// Flow.
    pub flow: u16,
    /// In the order of their devices.
    pub translators: Vec<TranslatorPart>,
}

impl FlowTotals for TranslatorTotals {
    fn flow(&self) -> u16 {
        self.flow
    }
}
