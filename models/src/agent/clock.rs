//! The protocol clock: fabric time, scaled by an exact rational.

/// `now` of protocols = fabric time x `num / den`. With more than 1 timeouts of seconds meet congestion of
/// microseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProtocolClock {
    num: u64,
    den: u64,
}

impl ProtocolClock {
    /// Panics unless both are positive.
    pub fn new((num, den): (u64, u64)) -> Self {
        assert!(num > 0 && den > 0, "a protocol clock of {num}/{den} does not run");
        ProtocolClock { num, den }
    }

    /// As a fraction.
    pub fn ratio(self) -> (u64, u64) {
        (self.num, self.den)
    }

    /// What protocols are told at fabric time `t`: rounded down.
    #[inline]
    pub fn now(self, t: u64) -> u64 {
        if self.num == self.den {
            return t;
        }
        clamp(u128::from(t) * u128::from(self.num) / u128::from(self.den))
    }

    /// The first instant of the fabric at which protocols are told at least `deadline`: rounded up.
    #[inline]
    pub fn fabric(self, deadline: u64) -> u64 {
        if self.num == self.den {
            return deadline;
        }
        clamp((u128::from(deadline) * u128::from(self.den)).div_ceil(u128::from(self.num)))
    }
}

fn clamp(value: u128) -> u64 {
    value.min(u128::from(u64::MAX)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A deadline is met at the first instant at which the protocol can see it, and not before.
        #[test]
        fn deadlines_come_neither_early_nor_late(
            num in 1u64..1_000_000, den in 1u64..1_000_000, deadline in 0u64..1 << 44,
        ) {
            let clock = ProtocolClock::new((num, den));
            let at = clock.fabric(deadline);
            prop_assert!(clock.now(at) >= deadline);
            prop_assert!(at == 0 || clock.now(at - 1) < deadline);
        }
    }
}
