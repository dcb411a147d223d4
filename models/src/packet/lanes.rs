//! The lanes of all outputs: lists of waiting packets, and what detectors count of them.

use crate::config::PRIORITIES;
use crate::packet::List;
use sim_core::large_pages;

/// Packets that a detector has counted, and in the highest bit whether it is on: both are asked for at once.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Cell(u32);

impl Cell {
    const ON: u32 = 1 << 31;

    pub fn new(packets: u32, on: bool) -> Self {
        Cell(packets | if on { Cell::ON } else { 0 })
    }

    #[inline(always)]
    pub fn packets(self) -> u32 {
        self.0 & !Cell::ON
    }

    #[inline(always)]
    pub fn is_on(self) -> bool {
        self.0 & Cell::ON != 0
    }

    /// One more packet counts.
    #[inline(always)]
    pub fn count_up(&mut self) {
        self.0 += 1;
    }

    /// One less does.
    #[inline(always)]
    pub fn count_down(&mut self) {
        self.0 -= 1;
    }

    /// The detector goes on, or off.
    #[inline(always)]
    pub fn turn(&mut self, on: bool) {
        *self = Cell::new(self.packets(), on);
    }
}

/// What waits in one lane of an output: its packets, and beside them what a detector counts, because whoever
/// touches the one touches the other.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Lane {
    pub list: List,
    pub cell: Cell,
}

/// Lanes of all outputs, priority by priority. Most packets have the lowest one, so what is touched of these
/// lies close together, and those of another come into being with its first packet.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: Vec<Lane>,
    /// From one priority to the next.
    stride: usize,
    /// Of these, belong to somebody.
    used: u32,
}

impl Lanes {
    /// Room for so many lanes of each priority.
    pub fn with_room(stride: usize) -> Self {
        let mut lanes = large_pages(stride * PRIORITIES);
        lanes.resize(stride, Lane::default());
        Lanes { lanes, stride, used: 0 }
    }

    /// The first one of so many more lanes.
    pub fn add(&mut self, count: u32) -> u32 {
        let first = self.used;
        self.used += count;
        assert!(self.used as usize <= self.stride, "there is room for all");
        first
    }

    /// Where `lane` of an output is, of which `first` is the first.
    #[inline(always)]
    pub fn place(&self, first: u32, priority: usize, lane: u32) -> usize {
        let above = if priority == 0 { 0 } else { priority * self.stride };
        (first + lane) as usize + above
    }

    /// The list at a place.
    #[inline(always)]
    pub fn list(&self, place: usize) -> List {
        // Where nobody has put one there are no packets.
        self.lanes.get(place).map_or_else(List::default, |lane| lane.list)
    }

    /// The list at a place, to be changed.
    #[inline(always)]
    pub fn list_mut(&mut self, place: usize) -> &mut List {
        if place >= self.lanes.len() {
            self.open(place);
        }
        &mut self.lanes[place].list
    }

    /// The lanes of the priority of this place, and of those below it, come into being.
    #[cold]
    #[inline(never)]
    fn open(&mut self, place: usize) {
        self.lanes.resize((place / self.stride + 1) * self.stride, Lane::default());
    }

    /// What waits in a lane with the lowest priority.
    #[inline(always)]
    pub fn lowest(&self, lane: u32) -> Option<&Lane> {
        self.lanes.get(lane as usize)
    }

    /// What a detector counts of a lane, whatever the priority.
    #[inline(always)]
    pub fn cell(&mut self, lane: u32) -> &mut Cell {
        &mut self.lanes[lane as usize].cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::NIL;

    /// Law: every lane of every priority has a list of its own, empty until something is put there; those of
    /// a priority take no place before its first packet.
    #[test]
    fn each_lane_of_each_priority_has_its_own_list() {
        let mut lanes = Lanes::with_room(7);
        let outputs = [(lanes.add(3), 3), (lanes.add(4), 4)];
        let all = |lanes: &Lanes| {
            let mut places = Vec::new();
            for (first, count) in outputs {
                for priority in 0..PRIORITIES {
                    places.extend((0..count).map(|lane| lanes.place(first, priority, lane)));
                }
            }
            places
        };
        let places = all(&lanes);
        assert!(places.iter().all(|&place| lanes.list(place).head == NIL));
        assert_eq!(lanes.lanes.len(), 7);
        for (n, &place) in (0..).zip(&places) {
            lanes.list_mut(place).head = n;
        }
        assert_eq!(lanes.lanes.len(), 7 * PRIORITIES);
        let heads: Vec<u32> = places.iter().map(|&place| lanes.list(place).head).collect();
        assert_eq!(heads, (0..7 * PRIORITIES as u32).collect::<Vec<_>>());
    }

    /// Law: the verdict and the count do not disturb each other.
    #[test]
    fn a_cell_keeps_its_count_whatever_the_verdict() {
        let mut cell = Cell::new(3, false);
        cell.turn(true);
        cell.count_up();
        assert!(cell.is_on() && cell.packets() == 4);
        cell.count_down();
        cell.turn(false);
        assert!(!cell.is_on() && cell.packets() == 3);
    }
}
