//! A row: what must come out, what came out, and whether the two agree.

use serde::Serialize;

/// How well the source of an expectation is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Known {
    /// The document was read.
    Read,
    /// The formula or the figure is known from an abstract or from later literature that quotes it.
    Abstract,
    /// Derived here, from first principles.
    Derived,
}

impl Known {
    pub const fn name(self) -> &'static str {
        match self {
            Known::Read => "read",
            Known::Abstract => "abstract",
            Known::Derived => "derived",
        }
    }
}

/// Where an expectation comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Source {
    /// Citation, or the rule.
    pub text: &'static str,
    /// How well it is known.
    pub known: Known,
    /// From outside RapidIO.
    pub outside: bool,
}

impl Source {
    /// From the literature on networks and queues.
    pub const fn literature(text: &'static str, known: Known) -> Self {
        Source { text, known, outside: true }
    }

    /// From a RapidIO document, or from one of the protocols of the mission.
    pub const fn document(text: &'static str) -> Self {
        Source { text, known: Known::Read, outside: false }
    }

    /// Reckoned here.
    pub const fn derived(text: &'static str) -> Self {
        Source { text, known: Known::Derived, outside: false }
    }
}

/// What must come out.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expected {
    /// This value. `allowed` is what the law itself leaves open, in the unit of the row; the row says why.
    Value { value: f64, allowed: f64 },
    /// No more than this.
    AtMost { value: f64 },
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Row {
    /// Group of rows that are simulated together.
    pub case: &'static str,
    /// What is measured.
    pub what: String,
    /// Unit of all numbers of the row.
    pub unit: &'static str,
    /// Where the expectation comes from.
    pub source: Source,
    /// The expectation.
    pub expected: Expected,
    /// Why `allowed` is not zero; empty if it is.
    pub reason: &'static str,
    /// What the simulator gives: the mean of replications, or the one value of a run without chance.
    pub simulated: f64,
    /// Half the 99.9 % interval of that mean; `None`: nothing is drawn, so the value is exact.
    pub half_width: Option<f64>,
}

impl Row {
    /// An expectation of exactly `value`.
    pub fn exact(case: &'static str, what: impl Into<String>, unit: &'static str, source: Source) -> Self {
        Row {
            case,
            what: what.into(),
            unit,
            source,
            expected: Expected::Value { value: 0.0, allowed: 0.0 },
            reason: "",
            simulated: 0.0,
            half_width: None,
        }
    }

    /// Expects this value.
    pub fn expects(mut self, value: f64) -> Self {
        self.expected = Expected::Value { value, allowed: 0.0 };
        self
    }

    /// Expects no more than this.
    pub fn expects_at_most(mut self, value: f64) -> Self {
        self.expected = Expected::AtMost { value };
        self
    }

    /// Leaves so much open, for this reason.
    pub fn allows(mut self, by: f64, reason: &'static str) -> Self {
        if let Expected::Value { allowed, .. } = &mut self.expected {
            *allowed = by;
            self.reason = reason;
        }
        self
    }

    /// The one value of a run without chance.
    pub fn found(mut self, value: f64) -> Self {
        self.simulated = value;
        self
    }

    /// The mean of independent replications.
    pub fn found_in(mut self, replications: &[f64]) -> Self {
        let (mean, half) = interval(replications);
        self.simulated = mean;
        self.half_width = Some(half);
        self
    }

    /// Whether what came out is what must come out.
    pub fn passes(&self) -> bool {
        let half = self.half_width.unwrap_or(0.0);
        // A value that was never computed is no agreement.
        let ulps = 1e-12 * self.simulated.abs();
        match self.expected {
            Expected::Value { value, allowed } => (self.simulated - value).abs() <= allowed + half + ulps,
            Expected::AtMost { value } => self.simulated - half <= value + ulps,
        }
    }
}

/// Two-sided 99.9 % quantiles of Student's t, by degrees of freedom from 1 on. One row in a thousand lies
/// outside by chance, so a table of a hundred rows is nearly always whole.
const T_999: [f64; 31] = [
    636.619, 31.599, 12.924, 8.610, 6.869, 5.959, 5.408, 5.041, 4.781, 4.587, 4.437, 4.318, 4.221, 4.140,
    4.073, 4.015, 3.965, 3.922, 3.883, 3.850, 3.819, 3.792, 3.768, 3.745, 3.725, 3.707, 3.690, 3.674, 3.659,
    3.646, 3.633,
];

/// Mean and half the 99.9 % interval of independent values, two at least.
pub(crate) fn interval(values: &[f64]) -> (f64, f64) {
    assert!(values.len() >= 2, "one replication has no interval");
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = T_999[(values.len() - 2).min(T_999.len() - 1)];
    (mean, t * (variance / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row::exact("case", "what", "ns", Source::derived("by hand"))
    }

    #[test]
    fn the_interval_is_that_of_students_t() {
        // mean 2, standard deviation 1, three values: 31.599 / sqrt(3)
        let (mean, half) = interval(&[1.0, 2.0, 3.0]);
        assert_eq!(mean, 2.0);
        assert!((half - 18.243_7).abs() < 1e-3, "{half}");
    }

    #[test]
    fn a_row_passes_only_within_what_it_allows() {
        assert!(row().expects(5.0).found(5.0).passes());
        assert!(!row().expects(5.0).found(5.001).passes());
        assert!(row().expects(5.0).allows(0.01, "rounding").found(5.001).passes());
        assert!(!row().expects_at_most(5.0).found(5.001).passes());
        assert!(row().expects_at_most(5.0).found(4.0).passes());
        assert!(!row().expects(5.0).found_in(&[6.0, 6.1, 6.2, 5.9, 6.0]).passes());
        assert!(!row().expects(5.0).found(f64::NAN).passes());
    }
}
