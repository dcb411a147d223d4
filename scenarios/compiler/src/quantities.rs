//! Reading quantities where they stand, so that an error names that place. What is read, [`crate::check`] and
//! the kinds of flows say.

use crate::diagnostic::Diagnostic;
use crate::spec::*;

/// Where quantities are read, and the errors go.
pub(crate) struct Quantities<'a> {
    pub out: &'a mut Vec<Diagnostic>,
    /// Links are of another medium than RapidIO unless they say what they are.
    pub media: bool,
}

impl Quantities<'_> {
    /// What can be read; an error is told.
    pub fn report<T>(&mut self, at: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|why| self.out.push(Diagnostic::error("SC007", at, why))).ok()
    }

    /// The value of a quantity that is there and can be read.
    pub fn value<U: Unit>(&mut self, at: &str, quantity: Option<&Quantity<U>>) -> Option<U::Value> {
        self.report(at, quantity?.read())
    }

    /// Quantities by their keys below `at`.
    pub fn all(&mut self, at: &str, quantities: Vec<(String, &dyn Written)>) {
        for (key, quantity) in quantities {
            if let Some(why) = quantity.wrong() {
                self.out.push(Diagnostic::error("SC007", format!("{at}/{key}"), why));
            }
        }
    }

    /// How long an answer may take.
    pub fn patience(&mut self, at: String, none: bool) {
        if none {
            let message = "nothing is answered in no time";
            self.out.push(Diagnostic::error("SC008", at, message).help("for example \"1 ms\""));
        }
    }

    /// A service time.
    pub fn service(&mut self, at: &str, service: Option<&ServiceSpec>) {
        match service {
            Some(ServiceSpec::Fixed(time)) => {
                self.value(at, Some(time));
            }
            Some(ServiceSpec::Random(ServiceKind::Exponential(mean))) => {
                self.value(&format!("{at}/exponential"), Some(mean));
            }
            Some(ServiceSpec::Random(ServiceKind::Uniform([low, high]))) => {
                let at = format!("{at}/uniform");
                let low = self.value(&format!("{at}/0"), Some(low));
                let high = self.value(&format!("{at}/1"), Some(high));
                if let (Some(low), Some(high)) = (low, high)
                    && low > high
                {
                    let message = "the shortest service time is longer than the longest";
                    self.out.push(Diagnostic::error("SC050", at, message).help("give the shorter first"));
                }
            }
            None => {}
        }
    }
}
