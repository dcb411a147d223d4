//! What a scenario requires of a run: of whom, which metric, and what it has to be. `require.rs` judges.

/// What a value is measured in.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Picoseconds.
    Time,
    /// Gigabits in a second.
    Rate,
    /// A part of one, written as a percentage.
    Share,
    /// Without a unit.
    Number,
}

/// How what was measured has to compare with a limit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Less.
    Below,
    /// Not more.
    AtMost,
    /// The same.
    Equal,
    /// Not less.
    AtLeast,
    /// More.
    Above,
}

impl Relation {
    /// Whether it holds for no value from this one on, or for all of them.
    pub fn is_settled_from(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Below | Relation::AtMost => !self.holds(value, limit),
            Relation::Equal => value > limit && !self.holds(value, limit),
            Relation::AtLeast | Relation::Above => self.holds(value, limit),
        }
    }

    /// Whether it does.
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Relation::Below => value < limit,
            Relation::AtMost => value <= limit,
            // both are rounded decimals, or counts
            Relation::Equal => libm::fabs(value - limit) <= 1e-12 * libm::fabs(limit),
            Relation::AtLeast => value >= limit,
            Relation::Above => value > limit,
        }
    }
}

/// What a metric has to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// As the scenario writes it.
    pub text: String,
    /// How the two compare.
    pub relation: Relation,
    /// With what: picoseconds, Gb/s, parts of one, or a number.
    pub value: f64,
    /// Which of these.
    pub dimension: Dimension,
}

/// With what a metric is compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Picoseconds.
    Time(u64),
    /// Bits in a second.
    Rate(u64),
    /// A part of one, written as a percentage or a fraction: numerator and denominator.
    Share(u128, u128),
    /// Without a unit: numerator and denominator.
    Number(u128, u128),
}

impl Limit {
    /// As the scenario says it.
    pub fn new(text: String, relation: Relation, amount: Amount) -> Self {
        let (value, dimension) = match amount {
            Amount::Time(ps) => (ps as f64, Dimension::Time),
            Amount::Rate(bits) => (bits as f64 / 1e9, Dimension::Rate),
            Amount::Share(num, den) => (num as f64 / den as f64, Dimension::Share),
            Amount::Number(num, den) => (num as f64 / den as f64, Dimension::Number),
        };
        Self { text, relation, value, dimension }
    }
}

/// Of whom something is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subjects {
    /// Each of these flows.
    Flows(Vec<u16>),
    /// Each of these links, with its name: the busier of its two directions counts.
    Links(Vec<(u32, String)>),
}

/// A requirement of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Requirement {
    /// Of whom.
    pub subjects: Subjects,
    /// Name of the metric.
    pub metric: String,
    /// What it has to be.
    pub limit: Limit,
}
