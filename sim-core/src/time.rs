//! Simulated time: instants and spans as whole picoseconds.
//!
//! One unit everywhere, no floats and no wall clock. A `u64` of picoseconds lasts 213 days, and every
//! character time of the LP-Serial rates fits in it with a remainder that the link model carries.
//!
//! Additions and subtractions are plain integer operations: they panic when they overflow in builds with
//! overflow checks (debug and test builds) and wrap otherwise. Where a value may legitimately run out of
//! range, use the `checked_` and `saturating_` forms.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

const PS_PER_NS: u64 = 1_000;
const PS_PER_US: u64 = 1_000_000;
const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant: picoseconds since the start of the simulation.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Time(pub u64);

/// A span between two instants, in picoseconds. Never negative.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Duration(pub u64);

macro_rules! constructors {
    ($name:ident) => {
        impl $name {
            /// Zero picoseconds.
            pub const ZERO: Self = Self(0);
            /// The largest value, 2^64 - 1 ps (about 213 days).
            pub const MAX: Self = Self(u64::MAX);

            /// From picoseconds.
            #[must_use]
            pub const fn from_ps(ps: u64) -> Self {
                Self(ps)
            }

            /// From nanoseconds. Panics if the value does not fit.
            #[must_use]
            pub const fn from_ns(ns: u64) -> Self {
                Self(scaled(ns, PS_PER_NS))
            }

            /// From microseconds. Panics if the value does not fit.
            #[must_use]
            pub const fn from_us(us: u64) -> Self {
                Self(scaled(us, PS_PER_US))
            }

            /// From milliseconds. Panics if the value does not fit.
            #[must_use]
            pub const fn from_ms(ms: u64) -> Self {
                Self(scaled(ms, PS_PER_MS))
            }

            /// From seconds. Panics if the value does not fit (above 18 446 744 s).
            #[must_use]
            pub const fn from_secs(secs: u64) -> Self {
                Self(scaled(secs, PS_PER_S))
            }

            /// The value in picoseconds.
            #[must_use]
            pub const fn as_ps(self) -> u64 {
                self.0
            }

            /// Whether the value is zero.
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// `self + span`, or `None` if it does not fit.
            #[must_use]
            pub const fn checked_add(self, span: Duration) -> Option<Self> {
                match self.0.checked_add(span.0) {
                    Some(ps) => Some(Self(ps)),
                    None => None,
                }
            }

            /// `self + span`, or [`MAX`](Self::MAX) if it does not fit.
            #[must_use]
            pub const fn saturating_add(self, span: Duration) -> Self {
                Self(self.0.saturating_add(span.0))
            }

            /// `self - span`, or `None` if it would be negative.
            #[must_use]
            pub const fn checked_sub(self, span: Duration) -> Option<Self> {
                match self.0.checked_sub(span.0) {
                    Some(ps) => Some(Self(ps)),
                    None => None,
                }
            }

            /// `self - span`, or zero if it would be negative.
            #[must_use]
            pub const fn saturating_sub(self, span: Duration) -> Self {
                Self(self.0.saturating_sub(span.0))
            }
        }

        impl Add<Duration> for $name {
            type Output = Self;
            #[inline]
            fn add(self, span: Duration) -> Self {
                Self(self.0 + span.0)
            }
        }

        impl AddAssign<Duration> for $name {
            #[inline]
            fn add_assign(&mut self, span: Duration) {
                self.0 += span.0;
            }
        }

        impl SubAssign<Duration> for $name {
            #[inline]
            fn sub_assign(&mut self, span: Duration) {
                self.0 -= span.0;
            }
        }

        /// Exact: the largest unit that leaves a whole part, with as many decimals as the value has
        /// (`12.345 us`, `1.000001 s`, `0 ps`).
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_with_unit(self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

constructors!(Time);
constructors!(Duration);

impl Time {
    /// The span from `earlier` to `self`, or `None` if `earlier` is later.
    #[must_use]
    pub const fn checked_since(self, earlier: Time) -> Option<Duration> {
        match self.0.checked_sub(earlier.0) {
            Some(ps) => Some(Duration(ps)),
            None => None,
        }
    }

    /// The span from `earlier` to `self`, or zero if `earlier` is later.
    #[must_use]
    pub const fn saturating_since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }
}

/// The span between two instants; panics in builds with overflow checks if `rhs` is later.
impl Sub for Time {
    type Output = Duration;
    #[inline]
    fn sub(self, rhs: Time) -> Duration {
        Duration(self.0 - rhs.0)
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    #[inline]
    fn sub(self, span: Duration) -> Time {
        Time(self.0 - span.0)
    }
}

impl Sub for Duration {
    type Output = Duration;
    #[inline]
    fn sub(self, rhs: Duration) -> Duration {
        Duration(self.0 - rhs.0)
    }
}

impl Mul<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn mul(self, times: u64) -> Duration {
        Duration(self.0 * times)
    }
}

/// Rounds down. Panics when dividing by zero.
impl Div<u64> for Duration {
    type Output = Duration;
    #[inline]
    fn div(self, parts: u64) -> Duration {
        Duration(self.0 / parts)
    }
}

/// How many whole times `rhs` fits. Panics when `rhs` is zero.
impl Div for Duration {
    type Output = u64;
    #[inline]
    fn div(self, rhs: Duration) -> u64 {
        self.0 / rhs.0
    }
}

/// What is left of `self / rhs`. Panics when `rhs` is zero.
impl Rem for Duration {
    type Output = Duration;
    #[inline]
    fn rem(self, rhs: Duration) -> Duration {
        Duration(self.0 % rhs.0)
    }
}

impl Sum for Duration {
    fn sum<I: Iterator<Item = Duration>>(spans: I) -> Duration {
        spans.fold(Duration::ZERO, Add::add)
    }
}

const fn scaled(value: u64, ps_per_unit: u64) -> u64 {
    match value.checked_mul(ps_per_unit) {
        Some(ps) => ps,
        None => panic!("time does not fit into 64 bits of picoseconds"),
    }
}

fn write_with_unit(ps: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (unit, name, decimals) = match ps {
        PS_PER_S.. => (PS_PER_S, "s", 12),
        PS_PER_MS.. => (PS_PER_MS, "ms", 9),
        PS_PER_US.. => (PS_PER_US, "us", 6),
        PS_PER_NS.. => (PS_PER_NS, "ns", 3),
        _ => return f.pad(&format!("{ps} ps")),
    };
    let (whole, fraction) = (ps / unit, ps % unit);
    if fraction == 0 {
        return f.pad(&format!("{whole} {name}"));
    }
    let digits = format!("{fraction:0decimals$}");
    f.pad(&format!("{whole}.{} {name}", digits.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_is_exact_and_trims() {
        for (ps, text) in [
            (0, "0 ps"),
            (999, "999 ps"),
            (1_000, "1 ns"),
            (1_050, "1.05 ns"),
            (12_345_000, "12.345 us"),
            (12_345_001, "12.345001 us"),
            (250_000_000_000, "250 ms"),
            (1_000_000_000_001, "1.000000000001 s"),
            (u64::MAX, "18446744.073709551615 s"),
        ] {
            assert_eq!(Time(ps).to_string(), text);
            assert_eq!(Duration(ps).to_string(), text);
            assert_eq!(format!("{:?}", Time(ps)), text);
        }
        assert_eq!(format!("{:>8}|{:<8}|", Time(1_050), Duration(3)), " 1.05 ns|3 ps    |");
    }

    #[test]
    fn arithmetic() {
        let t = Time::from_ns(5);
        assert_eq!(t + Duration::from_ps(1), Time(5_001));
        assert_eq!(Time::from_us(1) - t, Duration(995_000));
        assert_eq!(t - Duration(1), Time(4_999));
        assert_eq!(Duration::from_ms(1) * 3 / 2, Duration(1_500_000_000));
        assert_eq!(Duration(17) / Duration(5), 3);
        assert_eq!(Duration(17) % Duration(5), Duration(2));
        assert_eq!([Duration(1), Duration(2)].into_iter().sum::<Duration>(), Duration(3));
        assert_eq!(Time::from_secs(1).as_ps(), 1_000_000_000_000);
        assert!(Time::ZERO.is_zero() && !t.is_zero());
    }

    #[test]
    fn edges() {
        assert_eq!(Time::MAX.checked_add(Duration(1)), None);
        assert_eq!(Time::MAX.saturating_add(Duration(1)), Time::MAX);
        assert_eq!(Time(3).checked_sub(Duration(4)), None);
        assert_eq!(Duration(3).saturating_sub(Duration(4)), Duration::ZERO);
        assert_eq!(Time(3).checked_since(Time(4)), None);
        assert_eq!(Time(4).checked_since(Time(3)), Some(Duration(1)));
        assert_eq!(Time(3).saturating_since(Time(4)), Duration::ZERO);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "overflow")]
    fn negative_span_panics_in_debug() {
        let _ = Time(3) - Time(std::hint::black_box(4));
    }

    #[test]
    #[should_panic(expected = "does not fit")]
    fn constructor_overflow_panics() {
        let _ = Time::from_secs(std::hint::black_box(18_446_745));
    }
}
