//! Large pages for large arrays.

/// Room for `count` values in pages as large as the system gives, if it is worth it.
///
/// Who steps at random through hundreds of megabytes in pages of 4 KiB waits as long for where a page is as
/// for what is in it. So what is that large asks for pages of 2 MiB, before anything is written to it. It is
/// a wish: a system that has none, or gives none, leaves the values where any other vector has them.
#[must_use]
pub fn large_pages<T>(count: usize) -> Vec<T> {
    let values = Vec::with_capacity(count);
    advise(&values);
    values
}

/// Below this nothing is gained: two pages at least shall lie within.
const WORTH: usize = 4 << 20;

/// Asks for large pages where what `values` has room for is large.
#[cfg(target_os = "linux")]
fn advise<T>(values: &Vec<T>) {
    let bytes = values.capacity() * size_of::<T>();
    if bytes < WORTH {
        return;
    }
    // The call takes whole pages only: those that lie within.
    const PAGE: usize = 64 << 10;
    let start = values.as_ptr().addr();
    let from = start.next_multiple_of(PAGE);
    let length = (start + bytes).saturating_sub(from) / PAGE * PAGE;
    let first = values.as_ptr().cast::<u8>().wrapping_add(from - start).cast_mut();
    // SAFETY: the range is within what the vector has allocated, and this advice changes no octet of it.
    #[allow(unsafe_code)]
    unsafe {
        // Whether it was heard does not matter.
        libc::madvise(first.cast(), length, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_values: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Law: whatever its size, the vector is empty, has the room that was asked for and keeps what is put
    /// there, up to its last place.
    #[test]
    fn room_is_room() {
        for count in [0, 1, 3, WORTH / 24, WORTH / 24 + 1, 3 * WORTH / 24 + 7] {
            let mut values: Vec<[u64; 3]> = large_pages(count);
            assert!(values.is_empty() && values.capacity() >= count);
            let place = values.as_ptr();
            values.extend((0..count as u64).map(|n| [n, !n, n * n]));
            assert_eq!(values.as_ptr(), place, "it has not moved");
            assert!((0..count as u64).zip(&values).all(|(n, value)| *value == [n, !n, n * n]));
        }
    }
}
