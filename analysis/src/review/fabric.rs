//! The fabric as a drawing, coloured by what its links do, and the budget of its links.

use super::budget::{Budget, Port};
use super::files::{Counts, list, word};
use super::frames::frames;
use super::html::{Html, escaped};
use super::labels::{Label, labels};
use super::layout::{Layout, Line};
use super::sides::Sides;
use super::tables::{self, Cell};
use super::{Run, Variant};
use crate::num::{count_text, three_digits};
use models::config::{DeviceModel, FabricConfig};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::rc::Rc;

/// Places of the ways of flows in the data of the page, over all flows of a variant.
const WAYS_MAX: usize = 30_000;
/// Shares from which on a colour is used, and what the legend says.
const STEPS: [(f64, &str); 9] = [
    (0.0, "below 1 %"),
    (0.01, "1 %"),
    (0.1, "10 %"),
    (0.25, "25 %"),
    (0.4, "40 %"),
    (0.55, "55 %"),
    (0.7, "70 %"),
    (0.8, "80 %"),
    (0.9, "90 %"),
];

/// The drawings of a run, one for each fabric: variants may change what there is.
pub(super) struct Drawings<'a>(Vec<Drawing<'a>>);

/// What is drawn of the variants with one fabric, and reckoned for them.
struct Drawing<'a> {
    run: &'a Run,
    variants: Vec<&'a Variant>,
    layout: Layout,
    /// Ports with a link, in the order of devices and ports.
    ports: Vec<Port>,
    names: Vec<String>,
    counts: Rc<Counts>,
    budgets: Vec<Budget>,
}

fn step(share: f64) -> usize {
    STEPS.iter().rposition(|(from, _)| share >= *from).unwrap_or(0)
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", 100.0 * share) } else { "-".into() }
}

impl<'a> Drawings<'a> {
    pub fn new(run: &'a Run) -> Self {
        let mut groups: Vec<Vec<&'a Variant>> = Vec::new();
        for variant in &run.variants {
            match groups.iter_mut().find(|group| same(&group[0].config, &variant.config)) {
                Some(group) => group.push(variant),
                None => groups.push(vec![variant]),
            }
        }
        let counts = Rc::new(Counts::new(&run.links));
        Self(groups.into_iter().map(|variants| Drawing::new(run, &counts, variants)).collect())
    }

    /// `first`: the number of the first drawing in the page.
    pub fn show(&self, html: &mut Html, first: usize, parts: usize) {
        html.element(
            "p",
            &[],
            "Endpoints are circles, switches are boxes, modules and chassis are frames around what is in \
             them. A link has the colour of its busier direction. The tab key and the mouse give the \
             numbers of a link.",
        );
        for (number, drawing) in self.0.iter().enumerate() {
            if self.0.len() > 1 {
                let names: Vec<&str> = drawing.variants.iter().map(|variant| variant.name.as_str()).collect();
                html.element("p", &[], &format!("The fabric of {}:", names.join(", ")));
            }
            drawing.show(html, first + number, parts);
        }
    }

    /// What each direction has to carry beside what it carries.
    pub fn budget(&self, html: &mut Html, section: usize) {
        html.element(
            "p",
            &[],
            "Expected is the load that routes and offered loads make of each \
             direction of a link: each flow's share of its sources' injection link time, by the \
             routes of the tables. Measured is the share of the whole run in which its transmitter \
             carried packets, warm-up included, up to the last arrival where all is over before its end. \
             What closed loops, traces and protocols send is not known before the run; where such flows \
             pass, the expected load is that of the others (at least).",
        );
        if self.0.iter().flat_map(|drawing| &drawing.budgets).any(|budget| budget.planned) {
            html.element(
                "p",
                &[],
                "A host sets this fabric up during the run, and something fails in it: expected loads are by \
                 the routes of its plan, and it may have led packets around what was down.",
            );
        }
        if self.0.iter().flat_map(|drawing| &drawing.budgets).any(|budget| budget.too_large) {
            html.element(
                "p",
                &[],
                "There are too many pairs of sources and destinations to follow: \
                 expected loads are left out.",
            );
        }
        let mut order: Vec<(f64, &Drawing<'_>, usize, usize)> = Vec::new();
        for drawing in &self.0 {
            for (variant, budget) in drawing.budgets.iter().enumerate() {
                for (index, port) in drawing.ports.iter().enumerate() {
                    let measured = drawing.carried_by(variant, index);
                    order.push((measured.max(budget.of(*port).0), drawing, variant, index));
                }
            }
        }
        // the fullest first: of equals in the order of the fabric
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let row =
            |&(_, drawing, variant, index): &(f64, &Drawing<'_>, usize, usize)| drawing.row(variant, index);
        let rows: Vec<Vec<Cell>> = order.iter().take(tables::ROWS).map(row).collect();
        let head = [
            "variant",
            "from port",
            "expected",
            "that is",
            "measured",
            "expected rate",
            "flows, by their share",
        ];
        let (id, caption) = (format!("budget{section}"), "Load of each direction of each link");
        tables::first_rows(html, &id, caption, &head, &rows, order.len());
    }

    /// What the script needs of each; `section`: where the table of flows is.
    pub fn data(&self, section: usize, parts: usize) -> Vec<Value> {
        self.0.iter().map(|drawing| drawing.data(section, parts)).collect()
    }
}

/// Whether two variants have the same devices and links.
fn same(a: &FabricConfig, b: &FabricConfig) -> bool {
    fn devices(config: &FabricConfig) -> impl Iterator<Item = (&str, usize, bool)> {
        let is_switch = |model: &DeviceModel| matches!(model, DeviceModel::Switch(_));
        config.devices.iter().map(move |one| (one.path.as_str(), one.ports.len(), is_switch(&one.model)))
    }
    a.links.iter().map(|link| (link.a, link.b)).eq(b.links.iter().map(|link| (link.a, link.b)))
        && devices(a).eq(devices(b))
}

impl<'a> Drawing<'a> {
    fn new(run: &'a Run, counts: &Rc<Counts>, variants: Vec<&'a Variant>) -> Self {
        let config = &variants[0].config;
        let mut ports: Vec<Port> = config.links.iter().flat_map(|link| [link.a, link.b]).collect();
        ports.sort_unstable();
        let name = |port: &Port| format!("{}:{}", config.devices[port.0 as usize].path, port.1);
        Self {
            run,
            layout: Layout::new(config),
            names: ports.iter().map(name).collect(),
            ports,
            counts: Rc::clone(counts),
            budgets: variants.iter().map(|variant| Budget::new(&variant.config, &variant.loads)).collect(),
            variants,
        }
    }

    fn port(&self, port: Port) -> usize {
        self.ports.binary_search(&port).expect("a port with a link")
    }

    /// The two directions of each link of a line, from where the line begins first.
    fn ends(&self, line: &Line) -> Vec<[usize; 2]> {
        let links = &self.variants[0].config.links;
        let both = |link: &u32| {
            let link = &links[*link as usize];
            let forth = self.layout.of[link.a.0 as usize] == line.from;
            let (first, second) = if forth { (link.a, link.b) } else { (link.b, link.a) };
            [self.port(first), self.port(second)]
        };
        line.links.iter().map(both).collect()
    }

    fn label(&self, line: &Line) -> String {
        match line.links[..] {
            [one] => self.variants[0].links[one as usize].clone(),
            _ => {
                let name = |node: usize| &self.layout.nodes[node].name;
                format!("{} links, {} - {}", line.links.len(), name(line.from), name(line.to))
            }
        }
    }

    /// Largest use of a line in a variant.
    fn carried(&self, variant: &str, line: &Line) -> f64 {
        let ends = self.ends(line).into_iter().flatten();
        ends.map(|port| self.counts.carried(variant, &self.names[port])).fold(0.0, f64::max)
    }

    fn title(&self, variant: &str, line: &Line) -> String {
        let ends = self.ends(line);
        let text = |port: usize| {
            let name = &self.names[port];
            format!("from {name} {}", percent(self.counts.carried(variant, name)))
        };
        match ends[..] {
            [[a, b]] => format!("{}: {}, {}", self.label(line), text(a), text(b)),
            _ => format!("{}: busiest direction {}", self.label(line), percent(self.carried(variant, line))),
        }
    }

    fn svg(&self, number: usize) -> String {
        let Layout { nodes, lines, frames, width, height, .. } = &self.layout;
        let variant = self.variants[0].name.as_str();
        let mut out = format!(
            "<svg class=\"fabric{}\" id=\"fabric{number}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
                 role=\"group\" \
             aria-label=\"The fabric: {} devices and {} links\">",
            if lines.len() > 200 { " many" } else { "" },
            self.variants[0].config.devices.len(),
            self.variants[0].config.links.len()
        );
        for frame in frames {
            let _ = write!(
                out,
                "<g class=\"module\"><rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" \
                     rx=\"5\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                frame.x,
                frame.y,
                frame.width,
                frame.height,
                frame.x + 5.0,
                frame.y + 12.0,
                escaped(&frame.name)
            );
        }
        for (index, line) in lines.iter().enumerate() {
            let (a, b) = (&nodes[line.from], &nodes[line.to]);
            let path = if line.bend == 0.0 {
                format!("M{:.1} {:.1}L{:.1} {:.1}", a.x, a.y, b.x, b.y)
            } else {
                let (dx, dy) = (b.x - a.x, b.y - a.y);
                let length = libm::sqrt(dx * dx + dy * dy).max(1.0);
                let (x, y) = (
                    (a.x + b.x) / 2.0 + dy / length * line.bend * 2.0,
                    (a.y + b.y) / 2.0 - dx / length * line.bend * 2.0,
                );
                format!("M{:.1} {:.1}Q{x:.1} {y:.1} {:.1} {:.1}", a.x, a.y, b.x, b.y)
            };
            let _ = write!(
                out,
                "<path class=\"ln u{}\" data-l=\"{index}\" d=\"{path}\"><title>{}</title></path>",
                step(self.carried(variant, line)),
                escaped(&self.title(variant, line))
            );
        }
        let labels = labels(&self.layout);
        for (index, (node, label)) in nodes.iter().zip(&labels).enumerate() {
            let (x, y) = (node.x, node.y);
            let _ = write!(out, "<g class=\"dev\" data-d=\"{index}\"><title>{}</title>", escaped(&node.name));
            if node.is_switch {
                let half = label.as_ref().map_or(12.0, |label| label.half);
                let _ = write!(
                    out,
                    "<rect class=\"dv\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"18\" rx=\"3\"/>",
                    x - half,
                    y - 9.0,
                    2.0 * half
                );
            } else {
                let _ = write!(out, "<circle class=\"dv\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"6\"/>");
            }
            if let Some(Label { text, class, y, .. }) = label {
                let text = escaped(text);
                let _ = write!(out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{text}</text>");
            }
            out.push_str("</g>");
        }
        out.push_str("</svg>");
        out
    }

    fn show(&self, html: &mut Html, number: usize, parts: usize) {
        let run = self.run;
        if self.layout.grouped {
            html.element(
                "p",
                &[],
                "Devices are drawn in groups, because there are more than can be seen; a line stands for all \
                 links between two groups, and has the numbers of the busiest of them.",
            );
        }
        let there = self.moves();
        let kept = parts > 0 && there > 0;
        html.open("div", &[("class", "tools"), ("data-drawing", &number.to_string())]);
        html.raw("<label>Variant <select data-is=\"variant\">");
        for (index, variant) in self.variants.iter().enumerate() {
            html.element("option", &[("value", &index.to_string())], &variant.name);
        }
        html.raw(
            "</select></label><label>Colour <select data-is=\"measure\"><option \
             value=\"use\">use</option><option value=\"blocked\">blocked time</option><option \
             value=\"expected\">expected load</option>",
        );
        if kept {
            html.raw("<option value=\"held\">full receive buffers</option>");
        }
        for (index, variant) in self.variants.iter().enumerate().filter(|_| self.variants.len() > 1) {
            html.element(
                "option",
                &[("value", &format!("less{index}"))],
                &format!("use, less that of {}", variant.name),
            );
        }
        html.raw(
            "</select></label><label>Flow <select data-is=\"flow\"><option \
             value=\"\">all</option></select></label>",
        );
        if kept {
            html.raw(
                "<label>Time <input type=\"range\" data-is=\"time\" min=\"-1\" value=\"-1\" \
                 aria-label=\"Time\"></label><button type=\"button\" data-is=\"play\">Play</button>",
            );
        }
        html.raw("</div>");
        if !kept {
            let why = match (&run.congestion, parts) {
                (Some(_), 0) => {
                    "The bytes of congestion over time would make the page larger than 5 MB: it is left out."
                }
                _ => {
                    "The folder does not have congestion over time: runs without figures or samples do \
                         not keep it, and neither do fabrics of more than 4 096 ports."
                }
            };
            html.element("p", &[("class", "soft")], why);
        }
        if kept && there > parts {
            let text = format!(
                "The slider shows means over parts of the {there} that the folder has: at most {parts} parts."
            );
            html.element("p", &[("class", "soft")], &text);
        }
        html.raw("<figure>").drawing(&self.svg(number));
        let stamp = format!("Devices and links ({})", tables::stamp(self.run));
        html.element("figcaption", &[("class", "soft")], &stamp).raw("</figure>");
        html.raw("<ul class=\"scale\" aria-label=\"Colours\">");
        for (index, (_, words)) in STEPS.iter().enumerate() {
            html.raw("<li>").open("i", &[("class", &format!("u{index}"))]).close("i");
            html.text(&if index == 0 { (*words).to_owned() } else { format!("from {words}") }).raw("</li>");
        }
        html.raw("</ul>");
        html.open(
            "div",
            &[
                ("class", "told"),
                ("id", &format!("told{number}")),
                ("role", "status"),
                ("aria-live", "polite"),
            ],
        );
        html.raw("</div>");
    }

    /// The most parts of the run that the file kept of a variant.
    fn moves(&self) -> usize {
        let all = self.run.congestion.as_ref().map(|kept| &kept["variants"]);
        let kept = self.variants.iter().filter_map(|variant| Some(&all?[variant.name.as_str()]));
        kept.filter(|kept| self.frames(kept)).map(|kept| list(kept, "frame_us").len()).max().unwrap_or(0)
    }

    /// Whether what a file kept is of these ports.
    fn frames(&self, kept: &Value) -> bool {
        let ports = list(kept, "ports");
        ports.len() == self.names.len() && ports.iter().zip(&self.names).all(|(a, b)| a == b.as_str())
    }

    /// Share of time in which a port carried packets.
    fn carried_by(&self, variant: usize, index: usize) -> f64 {
        self.counts.carried(&self.variants[variant].name, &self.names[index])
    }

    /// A direction of a link in the table.
    fn row(&self, variant: usize, index: usize) -> Vec<Cell> {
        let port = self.ports[index];
        let measured = self.carried_by(variant, index);
        let (variant, budget) = (self.variants[variant], &self.budgets[variant]);
        let (expected, open) = budget.of(port);
        // of what nobody knows before the run nothing is expected
        let known = if budget.too_large || (open && expected == 0.0) { f64::NAN } else { expected };
        let share = |share: f64| Cell::real(share, percent);
        vec![
            Cell::text(&variant.name),
            Cell::text(&self.names[index]),
            share(known),
            Cell::text(if !open {
                "all"
            } else if known.is_nan() {
                "not known"
            } else {
                "at least"
            }),
            share(measured),
            Cell::real(known * rate(variant, port), |gbps| format!("{} Gb/s", three_digits(gbps))),
            Cell::text(&self.passing(variant, budget, port)),
        ]
    }

    fn passing(&self, variant: &Variant, budget: &Budget, port: Port) -> String {
        let mut flows: Vec<(f64, &str)> = budget
            .flows
            .iter()
            .zip(&variant.config.flows)
            .filter_map(|(parts, flow)| Some((*parts.get(&port)?, flow.name.as_str())))
            .collect();
        flows.sort_by(|a, b| b.0.total_cmp(&a.0));
        let more = flows.len().saturating_sub(3);
        let text = |(load, name): &(f64, &str)| {
            if load.is_nan() { (*name).to_owned() } else { format!("{name} {}", percent(*load)) }
        };
        let mut all: Vec<String> = flows.iter().take(3).map(text).collect();
        if more > 0 {
            all.push(format!("and {} more", count_text(more as u64)));
        }
        all.join(", ")
    }

    /// What the script needs.
    fn data(&self, section: usize, parts: usize) -> Value {
        let run = self.run;
        let short = |value: f64| -> Value {
            // four digits are more than a colour or a hint needs
            format!("{value:.4}")
                .parse::<f64>()
                .ok()
                .filter(|n| n.is_finite())
                .map_or(Value::Null, |n| json!(n))
        };
        let layout = &self.layout;
        let ends: Vec<Vec<[usize; 2]>> = layout.lines.iter().map(|line| self.ends(line)).collect();
        let sides = Sides::new(layout, &self.names, &ends);
        let of_line = layout.lines.iter().zip(&sides.of_line);
        let lines: Vec<Value> = of_line.map(|(line, own)| json!([self.label(line), own])).collect();
        let mut own: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); layout.nodes.len()];
        for ((device, _), side) in self.ports.iter().zip(&sides.of_port) {
            own[layout.of[*device as usize]].extend(side);
        }
        let nodes: Vec<Value> =
            layout.nodes.iter().zip(&own).map(|(node, own)| json!([node.name, own])).collect();
        let variants: Vec<Value> = self
            .variants
            .iter()
            .zip(&self.budgets)
            .map(|(variant, budget)| {
                let of = |get: &dyn Fn(usize) -> f64| -> Vec<Value> { sides.most(get).map(short).collect() };
                let expected = |port: usize| match budget.too_large {
                    true => f64::NAN,
                    false => budget.of(self.ports[port]).0,
                };
                let kept = run.congestion.as_ref().map(|all| &all["variants"][variant.name.as_str()]);
                let kept = kept.filter(|kept| parts > 0 && self.frames(kept));
                let frames = kept.map(|kept| frames(kept, self.names.len(), parts));
                json!({
                    "name": variant.name,
                    "use": of(&|port| self.counts.carried(&variant.name, &self.names[port])),
                    "blocked": of(&|port| self.counts.blocked(&variant.name, &self.names[port]) / 1e6),
                    "expected": of(&expected),
                    "flows": self.ways(variant, budget, &sides),
                    "frames": frames,
                })
            })
            .collect();
        let names: Vec<&str> = sides.all.iter().map(|side| side.name.as_str()).collect();
        json!({ "section": section, "ports": names, "lines": lines, "nodes": nodes, "variants": variants })
    }

    /// Each flow: its name, what it passes, and where its time goes.
    fn ways(&self, variant: &Variant, budget: &Budget, sides: &Sides) -> Vec<Value> {
        let told = list(&self.run.summary, "variants").iter().find(|told| word(told, "name") == variant.name);
        let flows: BTreeMap<&str, &Value> = told
            .map_or(&[][..], |told| list(told, "flows"))
            .iter()
            .map(|flow| (word(flow, "name"), flow))
            .collect();
        let side = |port: &Port| sides.of_port[self.port(*port)];
        let passed: Vec<BTreeSet<usize>> =
            budget.flows.iter().map(|parts| parts.keys().filter_map(side).collect()).collect();
        let places: usize = passed.iter().map(BTreeSet::len).sum();
        let flow = |(way, flow): (&BTreeSet<usize>, &models::config::FlowConfig)| {
            let way: Vec<usize> = if places <= WAYS_MAX { way.iter().copied().collect() } else { Vec::new() };
            let text = flows.get(flow.name.as_str()).map_or(String::new(), |told| spent(told));
            json!([flow.name, way, text])
        };
        passed.iter().zip(&variant.config.flows).map(flow).collect()
    }
}

/// Rate of the link of a port, with all that is between packets; Gb/s.
fn rate(variant: &Variant, port: Port) -> f64 {
    let link = variant.config.links.iter().find(|link| link.a == port || link.b == port);
    link.map_or(f64::NAN, |link| 8_000.0 * link.char_ps.1 as f64 / link.char_ps.0 as f64)
}

/// Where the mean time of a flow goes, largest first.
fn spent(flow: &Value) -> String {
    let (level, parts, mean) = tables::whole(flow);
    if !mean.is_finite() {
        return "nothing was delivered in the measured part".into();
    }
    let shares = parts.as_object().into_iter().flatten();
    let mut shares: Vec<(&str, f64)> =
        shares.map(|(cause, part)| (cause.as_str(), part["share"].as_f64().unwrap_or(0.0))).collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let text: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share >= 0.0005)
        .map(|(cause, share)| format!("{cause} {}", percent(*share)))
        .collect();
    format!("mean time of {level} {}: {}", crate::num::time_text(mean * 1e3), text.join(", "))
}
