//! Arithmetic of ratios of integers: a time of characters is a numerator and a denominator.

/// The greatest common divisor of two numbers.
pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Whether one ratio, numerator and denominator, is less than another.
#[must_use]
pub fn is_less(own: (u64, u64), other: (u64, u64)) -> bool {
    let [own, other] = [own, other].map(|(num, den)| (u128::from(num), u128::from(den)));
    own.0 * other.1 < other.0 * own.1
}
