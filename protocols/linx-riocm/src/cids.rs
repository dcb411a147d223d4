//! Connection IDs of a node: handed out in turn, looked up in two steps.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// IDs per page.
const PAGE: u16 = 64;

/// Pages of all IDs.
const PAGES: u16 = 1024;

/// A place of a page that no connection has.
const FREE: u16 = u16::MAX;

/// Connections that a node may have: so many IDs rest at any time that none comes back before 256 others
/// were handed out.
pub const MAX_CONNECTIONS: usize = 65_535 - 256;

#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Page {
    used: u16,
    owner: [u16; PAGE as usize],
}

/// Which connection has which ID. ID 0 is never handed out.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Cids {
    next: u16,
    /// The page of the first ID handed out, which is the first of `pages`.
    base: u16,
    pages: Vec<Option<Box<Page>>>,
}

impl Cids {
    /// `first` is the first ID handed out; 0 counts as 1.
    pub(crate) fn new(first: u16) -> Self {
        let next = first.max(1);
        Self { next, base: next / PAGE, pages: Vec::new() }
    }

    /// Where an ID stands: its page, and the place there.
    fn place(&self, cid: u16) -> (usize, usize) {
        let page = (cid / PAGE).wrapping_sub(self.base) % PAGES;
        (usize::from(page), usize::from(cid % PAGE))
    }

    /// An ID for connection `owner`, below [`MAX_CONNECTIONS`].
    pub(crate) fn take(&mut self, owner: u16) -> u16 {
        loop {
            let cid = self.next;
            self.next = self.next.wrapping_add(1).max(1);
            if self.owner(cid).is_none() {
                let (page, place) = self.place(cid);
                if self.pages.len() <= page {
                    self.pages.resize_with(page + 1, || None);
                }
                let page = self.pages[page]
                    .get_or_insert_with(|| Box::new(Page { used: 0, owner: [FREE; PAGE as usize] }));
                page.used += 1;
                page.owner[place] = owner;
                return cid;
            }
        }
    }

    /// Gives an ID back.
    pub(crate) fn release(&mut self, cid: u16) {
        let (at, place) = self.place(cid);
        let slot = &mut self.pages[at];
        if let Some(page) = slot {
            debug_assert_ne!(page.owner[place], FREE);
            page.owner[place] = FREE;
            page.used -= 1;
            if page.used == 0 {
                *slot = None;
            }
        }
    }

    /// The connection with this ID.
    pub(crate) fn owner(&self, cid: u16) -> Option<u16> {
        let (page, place) = self.place(cid);
        let owner = self.pages.get(page)?.as_ref()?.owner[place];
        (owner != FREE).then_some(owner)
    }

    /// Octets of memory beside those of the structure itself.
    pub(crate) fn heap_octets(&self) -> usize {
        self.pages.capacity() * size_of::<Option<Box<Page>>>()
            + self.pages.iter().flatten().count() * size_of::<Page>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves: RIOCM-10.1.1.2-5
    #[test]
    fn an_id_is_unique_and_rests_before_it_comes_back() {
        let mut cids = Cids::new(0xFFF0);
        let lasting: Vec<u16> = (0..1_000).map(|owner| cids.take(owner)).collect();
        let mut seen = [None; 1 << 16];
        for turn in 0..200_000_u32 {
            let cid = cids.take(2_000);
            assert!(cid != 0 && !lasting.contains(&cid));
            assert!(seen[usize::from(cid)].is_none_or(|last| turn - last > 256), "{cid} after {turn}");
            seen[usize::from(cid)] = Some(turn);
            assert_eq!(cids.owner(cid), Some(2_000));
            cids.release(cid);
            assert_eq!(cids.owner(cid), None);
        }
        for (owner, cid) in lasting.into_iter().enumerate() {
            assert_eq!(cids.owner(cid), Some(owner as u16));
        }
    }
}
