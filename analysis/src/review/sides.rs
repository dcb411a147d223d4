//! What the script colours and tells: each direction of a link, or what all links between two groups do.

use super::layout::Layout;
use crate::collect::congestion::PORTS_MAX;

/// Directions that are told as one.
pub(super) struct Side {
    pub name: String,
    /// The ports that transmit there, by their place among all ports.
    pub ports: Vec<usize>,
}

/// All of them, and where they lie in the drawing.
pub(super) struct Sides {
    pub all: Vec<Side>,
    /// The side of each port; none for links inside a group.
    pub of_port: Vec<Option<usize>>,
    /// The sides of each line.
    pub of_line: Vec<Vec<usize>>,
}

impl Sides {
    /// `ends`: of each line, the two ports of each of its links, the one at the node where it begins first.
    pub fn new(layout: &Layout, names: &[String], ends: &[Vec<[usize; 2]>]) -> Self {
        let mut of_port = vec![None; names.len()];
        // Frames are of ports, and larger fabrics have none: two numbers for each line keep the page small.
        if layout.grouped && names.len() > PORTS_MAX {
            let mut all = Vec::new();
            for (line, ends) in layout.lines.iter().zip(ends) {
                for (way, node) in [line.from, line.to].into_iter().enumerate() {
                    let ports: Vec<usize> = ends.iter().map(|end| end[way]).collect();
                    ports.iter().for_each(|port| of_port[*port] = Some(all.len()));
                    all.push(Side { name: layout.nodes[node].name.clone(), ports });
                }
            }
            let of_line = (0..layout.lines.len()).map(|line| vec![2 * line, 2 * line + 1]).collect();
            return Self { all, of_port, of_line };
        }
        let side = |(port, name): (usize, &String)| Side { name: name.clone(), ports: vec![port] };
        of_port.iter_mut().enumerate().for_each(|(port, side)| *side = Some(port));
        let of_line = ends.iter().map(|ends| ends.concat()).collect();
        Self { all: names.iter().enumerate().map(side).collect(), of_port, of_line }
    }

    /// A number for each: that of its busiest port.
    pub fn most(&self, of_port: impl Fn(usize) -> f64) -> impl Iterator<Item = f64> {
        self.all.iter().map(move |side| side.ports.iter().map(|port| of_port(*port)).fold(f64::NAN, f64::max))
    }
}
