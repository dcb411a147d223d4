//! Translators: what passed them, what they lowered, what they dropped.

use super::{Protocol, flow_name, json};
use crate::num::{count_text, counted_text};
use crate::run::RunData;
use models::Outcome;
use models::stats::{TranslatorPart, TranslatorTotals};
use serde::Serialize;
use serde_json::Value;

/// The row of the table.
pub(super) struct Translator;

impl Protocol for Translator {
    fn key(&self) -> &'static str {
        "translators"
    }

    fn summary(&self, run: &RunData) -> Vec<Value> {
        TranslatorSummary::all(run).map(json).collect()
    }

    fn lines(&self, run: &RunData) -> Vec<String> {
        TranslatorSummary::all(run).map(|translator| translator.lines()).collect()
    }

    fn broken(&self, outcome: &Outcome) -> Vec<String> {
        let all = outcome.totals.of::<TranslatorTotals>().flat_map(|totals| &totals.translators);
        let unsound = all.filter(|part| {
            let stats = &part.stats;
            stats.came != stats.passed.iter().sum::<u64>() + stats.waiting + stats.dropped()
        });
        unsound.map(|part| format!("a translator lost or made operations: {part:?}")).collect()
    }

    fn counts(&self, outcome: &Outcome) -> Vec<(&'static str, u64)> {
        let all = outcome.totals.of::<TranslatorTotals>().flat_map(|totals| &totals.translators);
        let dropped: Vec<u64> = all.map(|part| part.stats.dropped()).collect();
        if dropped.is_empty() {
            return Vec::new();
        }
        vec![("operations that translators dropped", dropped.iter().sum())]
    }
}

/// What a translator did for one flow, over the whole run.
#[derive(Clone, Debug, Serialize)]
pub struct TranslatorSummary {
    /// Flow.
    pub flow: String,
    /// Translator.
    pub translator: String,
    /// Control operations that it passed on.
    pub control: u64,
    /// Data operations that it passed on.
    pub data: u64,
    /// Octets of all of them, headers of operations included.
    pub octets: u64,
    /// Operations whose Max_STU it lowered: two for each connection, as a rule.
    pub lowered_stu: u64,
    /// Operations whose Max_Block it lowered: one for each Transfer, as a rule.
    pub lowered_block: u64,
    /// Operations dropped: longer than what it takes, or what the medium behind it carries.
    pub too_long: u64,
    /// Operations dropped because its memory was full.
    pub no_room: u64,
    /// Frames dropped that were none of Scheduled Transfer, or for nobody that it knows a way to.
    pub foreign: u64,
    /// Most octets that it held at a time, of all flows.
    pub most_octets: u64,
}

impl TranslatorSummary {
    /// Every translator of every flow of a run.
    pub fn all(run: &RunData) -> impl Iterator<Item = Self> {
        let all = run.outcome.totals.of::<TranslatorTotals>();
        all.flat_map(|totals| totals.translators.iter().map(|part| Self::new(run, totals.flow, part)))
    }

    fn new(run: &RunData, flow: u16, part: &TranslatorPart) -> Self {
        let config = &run.config;
        let first = |id: u16| config.owners.get(usize::from(id)) == Some(&part.device);
        let mut all = config.translation.translators.iter();
        let own = all.find(|own| own.interfaces.first().is_some_and(|own| first(own.id)));
        let stats = &part.stats;
        Self {
            flow: flow_name(run, flow),
            translator: own.map(|own| own.name.clone()).unwrap_or_default(),
            control: stats.passed[0],
            data: stats.passed[1],
            octets: stats.octets,
            lowered_stu: stats.lowered_stu,
            lowered_block: stats.lowered_block,
            too_long: stats.too_long,
            no_room: stats.no_room,
            foreign: stats.foreign,
            most_octets: part.most_octets,
        }
    }

    /// A few lines for a terminal.
    fn lines(&self) -> String {
        let mut text = format!(
            "  translator {} ({}): {} and {} passed, up to {} held",
            self.translator,
            self.flow,
            counted_text(self.control, "Control operations"),
            counted_text(self.data, "Data operations"),
            counted_text(self.most_octets, "octets"),
        );
        let counts = [
            (self.lowered_stu, "Max_STU lowered"),
            (self.lowered_block, "Max_Block lowered"),
            (self.too_long, "dropped: too long"),
            (self.no_room, "dropped: no room"),
            (self.foreign, "dropped: not known"),
        ];
        for (count, what) in counts.into_iter().filter(|(count, _)| *count > 0) {
            text += &format!("\n    {} {what}", count_text(count));
        }
        text
    }
}
