//! One run on several threads: each part of the fabric has a collector of its own.

use super::Collector;
use models::probe::Share;

impl Share for Collector {
    fn part(&self) -> Self {
        self.clone()
    }

    /// Samples are of the whole, also of the staging queues that are stopped.
    fn before_sample(&mut self, parts: &[&Self]) {
        if let Some(congestion) = &mut self.congestion {
            congestion.stopped_in(parts.iter().filter_map(|part| part.congestion.as_ref()));
        }
    }

    fn join(&mut self, part: Self) {
        self.merge(&part);
    }
}
