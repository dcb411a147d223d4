//! Names in the drawing of a fabric: as much of each path as there is room for, and nothing over anything
//! else.

use super::layout::{Frame, Layout, Node};
use std::collections::BTreeMap;

/// Sizes of letters, with their classes in the style of the page.
const SIZES: [(f64, &str); 3] = [(10.0, "l"), (8.0, "m"), (6.5, "s")];
/// Width of a letter as a part of its size; most are narrower.
const LETTER: f64 = 0.6;
/// Between what stands side by side.
const GAP: f64 = 4.0;
/// Nodes beyond which endpoints have all a name or none: a few would say little.
const NODES_MAX: usize = 160;
/// Half of a box.
const BOX: (f64, f64) = (12.0, 9.0);
/// Radius of a circle.
const CIRCLE: f64 = 6.0;
/// Lines of text below a circle, from its middle.
const BELOW: [f64; 2] = [17.0, 28.0];

/// The name of a node.
#[derive(Clone, Debug)]
pub(super) struct Label {
    pub text: String,
    /// Class of its size.
    pub class: &'static str,
    /// Where its letters stand.
    pub y: f64,
    /// Half of the width that it takes.
    pub half: f64,
}

/// What is occupied: from left to right, from top to bottom.
#[derive(Copy, Clone, Debug)]
struct Room {
    x: [f64; 2],
    y: [f64; 2],
}

impl Room {
    fn around(x: f64, y: f64, (half_width, half_height): (f64, f64)) -> Self {
        Self { x: [x - half_width, x + half_width], y: [y - half_height, y + half_height] }
    }

    fn meets(&self, other: &Room) -> bool {
        let apart = |a: [f64; 2], b: [f64; 2]| a[1] <= b[0] || b[1] <= a[0];
        !apart(self.x, other.x) && !apart(self.y, other.y)
    }

    fn holds(&self, other: &Room) -> bool {
        let within = |a: [f64; 2], b: [f64; 2]| a[0] <= b[0] && b[1] <= a[1];
        within(self.x, other.x) && within(self.y, other.y)
    }
}

/// A way to write names: whole or the shortest end that no other has, in which size, in how many lines below
/// circles.
#[derive(Copy, Clone, Debug)]
struct Way {
    whole: bool,
    size: usize,
    lines: usize,
}

/// From the best one on.
fn ways(lines: usize) -> impl Iterator<Item = Way> {
    let of_size = |size| [true, false].map(move |whole| (whole, size));
    let all = (0..SIZES.len()).flat_map(of_size);
    // whole names in letters that nobody likes to read are not better than short ones
    let all = all.filter(|(whole, size)| !whole || size + 1 < SIZES.len());
    all.flat_map(move |(whole, size)| (1..=lines).map(move |lines| Way { whole, size, lines }))
}

struct Names<'a> {
    layout: &'a Layout,
    /// Shortest ends that are of one node only.
    tails: Vec<&'a str>,
    /// What is taken, and by which node.
    taken: Vec<(Option<usize>, Room)>,
}

/// Ends of a path, the shortest first.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(at, _)| &path[at + 1..]).chain([path])
}

fn title(frame: &Frame) -> Room {
    let width = 11.0 * LETTER * frame.name.chars().count() as f64;
    Room { x: [frame.x + 5.0, frame.x + 5.0 + width], y: [frame.y + 2.0, frame.y + 15.0] }
}

impl<'a> Names<'a> {
    fn new(layout: &'a Layout) -> Self {
        let single = || layout.nodes.iter().filter(|node| node.devices.len() == 1);
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        single().flat_map(|node| ends(&node.name)).for_each(|end| *count.entry(end).or_insert(0) += 1);
        let tail = |node: &'a Node| ends(&node.name).find(|end| count.get(end) == Some(&1));
        let shape =
            |node: &Node| Room::around(node.x, node.y, if node.is_switch { BOX } else { (CIRCLE, CIRCLE) });
        let shapes = layout.nodes.iter().enumerate().map(|(index, node)| (Some(index), shape(node)));
        let titles = layout.frames.iter().map(|frame| (None, title(frame)));
        Self {
            layout,
            tails: layout.nodes.iter().map(|node| tail(node).unwrap_or(&node.name)).collect(),
            taken: shapes.chain(titles).collect(),
        }
    }

    fn is_free(&self, index: usize, room: &Room) -> bool {
        let Layout { width, height, frames, .. } = self.layout;
        let own = |frame: &Frame| Room {
            x: [frame.x, frame.x + frame.width],
            y: [frame.y, frame.y + frame.height],
        };
        Room { x: [0.0, *width], y: [0.0, *height] }.holds(room)
            && frames.iter().map(own).all(|frame| frame.holds(room) || !frame.meets(room))
            && self.taken.iter().all(|(owner, other)| *owner == Some(index) || !other.meets(room))
    }

    /// Writes the name of a node, if there is room.
    fn write(&mut self, index: usize, way: Way) -> Option<Label> {
        let node = &self.layout.nodes[index];
        let text = if way.whole { node.name.as_str() } else { self.tails[index] };
        let (size, class) = SIZES[way.size];
        let half = (LETTER * size * text.chars().count() as f64 + GAP) / 2.0;
        let places = if node.is_switch { &[4.0][..] } else { &BELOW[..way.lines] };
        places.iter().find_map(|below| {
            // a box is as wide as its name
            let (half, middle, tall) = if node.is_switch {
                (f64::max(half, BOX.0), node.y, BOX.1)
            } else {
                (half, node.y + below - 3.0, 5.5)
            };
            let room = Room::around(node.x, middle, (half, tall));
            self.is_free(index, &room).then(|| {
                self.taken.push((Some(index), room));
                Label { text: text.into(), class, y: node.y + below, half }
            })
        })
    }

    /// Writes all of these names in the best way in which there is room for all; else each by itself.
    fn write_all(&mut self, nodes: &[usize], lines: usize, found: &mut [Option<Label>]) {
        let before = self.taken.len();
        for way in ways(lines) {
            let all: Option<Vec<Label>> = nodes.iter().map(|index| self.write(*index, way)).collect();
            if let Some(all) = all {
                nodes.iter().zip(all).for_each(|(index, label)| found[*index] = Some(label));
                return;
            }
            self.taken.truncate(before);
        }
        if self.layout.nodes.len() > NODES_MAX && lines > 1 {
            return;
        }
        for index in nodes {
            found[*index] = ways(lines).find_map(|way| self.write(*index, way));
        }
    }
}

/// The names of nodes that stand for one device, where there is room.
pub(super) fn labels(layout: &Layout) -> Vec<Option<Label>> {
    let mut names = Names::new(layout);
    let mut found = vec![None; layout.nodes.len()];
    for is_switch in [true, false] {
        let own = |(index, node): (usize, &Node)| {
            (node.is_switch == is_switch && node.devices.len() == 1).then_some(index)
        };
        let mut own: Vec<usize> = layout.nodes.iter().enumerate().filter_map(own).collect();
        // neighbours stand in turn in the lines below them
        own.sort_by(|a, b| layout.nodes[*a].x.total_cmp(&layout.nodes[*b].x));
        names.write_all(&own, if is_switch { 1 } else { BELOW.len() }, &mut found);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Devices at these places, 200 wide.
    fn texts(nodes: &[(&str, bool, f64, f64)]) -> Vec<String> {
        let node = |(index, (name, is_switch, x, y)): (usize, &(&str, bool, f64, f64))| Node {
            name: (*name).into(),
            devices: vec![index as u32],
            is_switch: *is_switch,
            x: *x,
            y: *y,
        };
        let layout = Layout {
            nodes: nodes.iter().enumerate().map(node).collect(),
            lines: Vec::new(),
            frames: Vec::new(),
            of: Vec::new(),
            width: 200.0,
            height: 200.0,
            grouped: false,
        };
        let label = |label: Option<Label>| {
            label.map_or("-".into(), |Label { text, class, y, .. }| format!("{text} {class} {y}"))
        };
        labels(&layout).into_iter().map(label).collect()
    }

    /// By hand: a letter is 6 wide, and 4 are between names. With room each has its whole path, a switch in
    /// its box; with less they stand in two lines; then only what tells them apart is left, and of that
    /// smaller letters.
    #[test]
    fn names_are_whole_then_short_then_small() {
        let two = |apart: f64| {
            texts(&[
                ("radio/1", false, 60.0, 100.0),
                ("dsp/1", false, 60.0 + apart, 100.0),
                ("sw", true, 60.0, 50.0),
            ])
        };
        assert_eq!(two(60.0), ["radio/1 l 117", "dsp/1 l 117", "sw l 54"]);
        // 46 and 34 wide
        assert_eq!(two(40.0), ["radio/1 l 117", "dsp/1 l 117", "sw l 54"]);
        assert_eq!(two(39.0), ["radio/1 l 117", "dsp/1 l 128", "sw l 54"]);
        // three side by side, of which only ends differ
        let three = |apart: f64| {
            let name = ["host/radio/1", "host/radio/2", "host/radio/3"];
            let at = |n: usize| (name[n], false, 60.0 + n as f64 * apart, 100.0);
            texts(&[at(0), at(1), at(2)])
        };
        // 76 wide, and 10 wide
        assert_eq!(three(38.0), ["host/radio/1 l 117", "host/radio/2 l 128", "host/radio/3 l 117"]);
        assert_eq!(three(37.9), ["1 l 117", "2 l 117", "3 l 117"]);
        // circles are 12 wide, so names of one letter have room; of "1" twice more is told
        let same =
            texts(&[("a/1", false, 60.0, 100.0), ("b/1", false, 75.0, 100.0), ("b/2", false, 90.0, 100.0)]);
        assert_eq!(same, ["a/1 l 117", "b/1 l 128", "b/2 l 117"]);
        // 13 letters in a box: 82, then 66.4
        let boxes = |apart: f64| {
            texts(&[("chassis/sw/01", true, 50.0, 50.0), ("chassis/sw/02", true, 50.0 + apart, 50.0)])
        };
        assert_eq!(boxes(82.0), ["chassis/sw/01 l 54", "chassis/sw/02 l 54"]);
        assert_eq!(boxes(81.0), ["01 l 54", "02 l 54"]);
        // no room at all
        assert_eq!(boxes(20.0), ["-", "-"]);
    }
}
