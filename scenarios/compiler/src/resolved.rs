//! A scenario with nothing left open.

/// A setting of an expanded scenario.
///
/// # Panics
/// If nobody filled it in: then `expand` has no default for it.
pub(crate) fn filled<T>(setting: &Option<T>) -> &T {
    setting.as_ref().expect("expand writes every default out")
}
