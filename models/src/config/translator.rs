//! Translators: devices that carry Scheduled Transfer from one medium to another.

use super::Medium;
use scheduled_transfer::intermediate::Limits;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The translators of a fabric, and what they join: *segments*, parts of the fabric that no link joins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    /// All translators. Without any there is nothing else.
    pub translators: Vec<Arc<Translator>>,
    /// The segment of each device.
    pub segments: Vec<u32>,
    /// Of each segment: where frames go first to ends in others, the interface of a translator there. Ends
    /// that are not in it are in the segment, or out of reach.
    pub through: Vec<Arc<BTreeMap<u16, u16>>>,
}

/// A step of the way to an end: to the end, or to a translator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Device that sends.
    pub from: u32,
    /// Id that its frames have.
    pub to: u16,
    /// The translator there; `None`: it is the end.
    pub translator: Option<&'a Translator>,
}

impl Translation {
    /// Where frames go first to ends in other segments than that of a device.
    pub fn through(&self, device: u32) -> Arc<BTreeMap<u16, u16>> {
        let segment = self.segments.get(device as usize).map(|&segment| segment as usize);
        segment.map(|segment| Arc::clone(&self.through[segment])).unwrap_or_default()
    }

    /// The way from a device to the end with an id, by translators. `owners`: devices by id.
    pub fn way(&self, from: u32, end: u16, owners: &[u32]) -> Vec<Step<'_>> {
        let mut steps = Vec::new();
        let mut from = from;
        // No translator is passed twice.
        for _ in 0..=self.translators.len() {
            let to = self.through(from).get(&end).copied().unwrap_or(end);
            let has = |translator: &&Arc<Translator>| translator.interfaces.iter().any(|own| own.id == to);
            let translator = self.translators.iter().find(has).filter(|_| to != end);
            let translator = translator.map(|translator| &**translator);
            steps.push(Step { from, to, translator });
            let next = translator.and_then(|translator| {
                let &(interface, _) = translator.ways.get(&end)?;
                owners.get(usize::from(translator.interfaces[usize::from(interface)].id)).copied()
            });
            let Some(next) = next else { break };
            from = next;
        }
        steps
    }
}

/// What a translator is, the same in all flows that pass it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translator {
    /// Its name.
    pub name: String,
    /// Its interfaces, that of the endpoint with the agent first; that on RapidIO is the first, if there is
    /// one.
    pub interfaces: Vec<TranslatorInterface>,
    /// What it lowers Max_STU and Max_Block to where they pass.
    pub limits: Limits,
    /// Octets of the largest STU that it takes, whatever was declared.
    pub stu: u32,
    /// Octets of operations that it holds, from when one has come in whole until it has begun to leave; what
    /// finds no room is dropped.
    pub buffer: u64,
    /// Where frames for an end go on: the interface, and the device that they are for on its medium, which is
    /// the end or the next translator.
    pub ways: BTreeMap<u16, (u8, u16)>,
}

/// An interface of a translator: an endpoint of the fabric.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TranslatorInterface {
    /// Its device id.
    pub id: u16,
    /// The medium of its link, `None` for RapidIO.
    pub medium: Option<Medium>,
}

/// A translator in one flow.
#[derive(Clone, Debug)]
pub struct TranslatorConfig {
    /// What it is.
    pub device: Arc<Translator>,
    /// Priority 0..=2 of packets on RapidIO.
    pub priority: u8,
    /// That of Control operations.
    pub control_priority: u8,
    /// Class of service of the stream on RapidIO.
    pub cos: u8,
    /// The stream on RapidIO.
    pub stream_id: u16,
    /// Whether every frame that leaves as one of Ethernet is told to observers, octet for octet.
    pub captured: bool,
}

impl TranslatorConfig {
    /// Priority and stream of Control operations, and of Data, on RapidIO.
    pub fn streams(&self) -> [(u8, u16); 2] {
        super::transfer::streams(self.priority, self.control_priority, self.stream_id)
    }
}
