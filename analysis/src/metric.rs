//! Metrics: a row each, with its name, its unit, what it means and how to get it.
//!
//! Whoever shows metrics goes through rows: a heading, a cell, a column of a sweep and its note in the
//! dictionary come from the same row, and nothing is found by its position.

/// What a value is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Count,
    /// Any number.
    Real,
    /// Whether something is so: 1 or 0, which tables write as true or false.
    Flag,
    /// The largest of something: of several runs the largest of all, and not a mean of maxima.
    Most,
}

/// A metric: a column of the tables of a sweep. `G` gets its value; not a number: there is none.
#[derive(Copy, Clone, Debug)]
pub struct Row<G> {
    /// Name, with the unit at the end where there is one.
    pub name: &'static str,
    /// Unit; empty for shares and counts.
    pub unit: &'static str,
    /// Kind.
    pub kind: Kind,
    /// What figures call it.
    pub words: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Left out of tables where no run has it.
    pub(crate) quiet: bool,
    pub(crate) get: G,
}

impl<G: Copy> Row<G> {
    const fn new(
        kind: Kind,
        [name, unit]: [&'static str; 2],
        words: &'static str,
        about: &'static str,
        get: G,
    ) -> Self {
        Self { name, unit, kind, words, about, quiet: false, get }
    }

    pub(crate) const fn real(
        name: &'static str,
        unit: &'static str,
        words: &'static str,
        about: &'static str,
        get: G,
    ) -> Self {
        Self::new(Kind::Real, [name, unit], words, about, get)
    }

    pub(crate) const fn most(
        name: &'static str,
        unit: &'static str,
        words: &'static str,
        about: &'static str,
        get: G,
    ) -> Self {
        Self::new(Kind::Most, [name, unit], words, about, get)
    }

    pub(crate) const fn count(name: &'static str, words: &'static str, about: &'static str, get: G) -> Self {
        Self::new(Kind::Count, [name, ""], words, about, get)
    }

    pub(crate) const fn flag(name: &'static str, words: &'static str, about: &'static str, get: G) -> Self {
        Self::new(Kind::Flag, [name, ""], words, about, get)
    }

    /// Left out of tables where no run has it.
    pub(crate) const fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// This metric, got in another way.
    pub(crate) fn with<H>(&self, get: H) -> Row<H> {
        let &Self { name, unit, kind, words, about, quiet, .. } = self;
        Row { name, unit, kind, words, about, quiet, get }
    }
}

/// 0 or 1.
pub(crate) fn yes(flag: bool) -> f64 {
    f64::from(u8::from(flag))
}
