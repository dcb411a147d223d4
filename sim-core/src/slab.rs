//! Dense storage with 32-bit handles.

use std::ops::{Index, IndexMut};

/// In debug builds the top bits of a handle count how often its place was reused.
#[cfg(debug_assertions)]
const INDEX_BITS: u32 = 26;
#[cfg(not(debug_assertions))]
const INDEX_BITS: u32 = 32;
const INDEX_MASK: u32 = u32::MAX >> (32 - INDEX_BITS);

/// A place in a [`Slab`]: 4 bytes, so that it travels in event payloads.
///
/// In debug builds it also carries a generation, so its bits differ from those of a release build: never
/// put a handle into a fingerprint or a result. [`index`](Self::index) is the same in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Handle(u32);

impl Handle {
    /// The place, usable as an index into arrays that run beside the slab.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & INDEX_MASK) as usize
    }
}

/// Values in stable places; a freed place is the next to be used again (it is still in the cache).
///
/// Debug builds recognise handles whose value was removed, even when the place is used again (with a
/// generation of 6 bits: one stale handle in 64 goes unnoticed at worst), and hold at most 2^26 values.
/// Release builds see only whether the place is in use, and hold at most 2^32 - 1.
#[derive(Clone, Debug)]
pub struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<u32>,
    #[cfg(debug_assertions)]
    generations: Vec<u8>,
}

impl<T> Slab<T> {
    /// An empty slab.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
            #[cfg(debug_assertions)]
            generations: Vec::new(),
        }
    }

    /// An empty slab with room for `values`.
    #[must_use]
    pub fn with_capacity(values: usize) -> Self {
        Self { places: Vec::with_capacity(values), ..Self::new() }
    }

    /// Stores a value in the place freed last, or in a new one.
    ///
    /// Panics when the slab is full.
    #[inline]
    pub fn insert(&mut self, value: T) -> Handle {
        if let Some(index) = self.free.pop() {
            self.places[index as usize] = Some(value);
            return self.handle(index);
        }
        let index = self.places.len();
        assert!(index < INDEX_MASK as usize, "slab is full");
        self.places.push(Some(value));
        #[cfg(debug_assertions)]
        self.generations.push(0);
        self.handle(index as u32)
    }

    /// Takes the value out. Panics if the handle is stale.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> T {
        self.check(handle);
        let value = self.places[handle.index()].take().expect("stale handle");
        #[cfg(debug_assertions)]
        {
            let generation = &mut self.generations[handle.index()];
            *generation = generation.wrapping_add(1) & (u32::MAX >> INDEX_BITS) as u8;
        }
        self.free.push(handle.index() as u32);
        value
    }

    /// The value, or `None` if its place is free. Panics in debug builds if the handle is stale.
    #[inline]
    #[must_use]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        self.check(handle);
        self.places.get(handle.index())?.as_ref()
    }

    /// The value, or `None` if its place is free. Panics in debug builds if the handle is stale.
    #[inline]
    #[must_use]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        self.check(handle);
        self.places.get_mut(handle.index())?.as_mut()
    }

    /// How many values are stored.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Whether nothing is stored.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number of values ever stored at once.
    #[inline]
    #[must_use]
    pub fn high_water(&self) -> usize {
        self.places.len()
    }

    /// The values and their handles, in the order of their places.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.places
            .iter()
            .enumerate()
            .filter_map(|(index, place)| place.as_ref().map(|value| (self.handle(index as u32), value)))
    }

    #[cfg(debug_assertions)]
    fn handle(&self, index: u32) -> Handle {
        Handle(u32::from(self.generations[index as usize]) << INDEX_BITS | index)
    }

    #[cfg(not(debug_assertions))]
    #[inline]
    fn handle(&self, index: u32) -> Handle {
        Handle(index)
    }

    #[inline]
    fn check(&self, handle: Handle) {
        #[cfg(debug_assertions)]
        if let Some(&generation) = self.generations.get(handle.index()) {
            assert!(u32::from(generation) == handle.0 >> INDEX_BITS, "stale handle");
        }
        #[cfg(not(debug_assertions))]
        let _ = handle;
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Panics if the handle is stale.
impl<T> Index<Handle> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, handle: Handle) -> &T {
        self.get(handle).expect("stale handle")
    }
}

/// Panics if the handle is stale.
impl<T> IndexMut<Handle> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, handle: Handle) -> &mut T {
        self.get_mut(handle).expect("stale handle")
    }
}
