//! Links of other media than RapidIO.

use crate::compiler::Compiler;
use crate::configure;
use crate::diagnostic::Diagnostic;
use crate::resolved::Wire;
use crate::spec::*;
use models::config::{FabricConfig, Medium, MediumLink};
use models::lp_serial::cost::{LaneRate, SymbolSize, Width};

/// The medium that a link names; none for RapidIO.
pub(crate) fn named(kind: Option<MediumKind>) -> Option<Medium> {
    match kind? {
        MediumKind::RapidIo => None,
        MediumKind::Hippi6400 => Some(Medium::Hippi6400),
        MediumKind::HippiFp => Some(Medium::HippiFp),
        MediumKind::Ethernet => Some(Medium::Ethernet),
        MediumKind::AtmLane => Some(Medium::AtmLane),
        MediumKind::AtmDix => Some(Medium::AtmDix),
        MediumKind::AtmTokenRing4 => Some(Medium::AtmTokenRing4),
        MediumKind::AtmTokenRing16 => Some(Medium::AtmTokenRing16),
        MediumKind::FibreChannel => Some(Medium::FibreChannel),
    }
}

/// A rate as scenario files write it.
fn rate_text(medium: Medium, rate: u64) -> String {
    let unit = if medium == Medium::FibreChannel { "baud" } else { "b/s" };
    let (size, prefix) = if rate >= 1_000_000_000 { (1_000_000_000, 'G') } else { (1_000_000, 'M') };
    let (whole, rest) = (rate / size, rate % size);
    let width = size.ilog10() as usize;
    let digits = format!("{whole}.{rest:0width$}");
    format!("{} {prefix}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// What a link of a medium has if the file says nothing else, over what a link of RapidIO has.
pub(crate) fn defaults(medium: Option<Medium>, rapidio: LinkSpec) -> LinkSpec {
    let Some(medium) = medium else { return rapidio };
    let rate = rate_text(medium, medium.rates()[0]);
    LinkSpec { rate: Some(rate.as_str().into()), width: None, symbol: None, flow_control: None, ..rapidio }
}

/// The wire of a link of a medium.
pub(crate) fn wire(
    c: &mut Compiler<'_>,
    ends: [usize; 2],
    medium: Medium,
    settings: &LinkSpec,
    propagation: u64,
    pointer: &str,
) -> Wire {
    let name = medium.name();
    let text = filled(&settings.rate);
    let rate = match text.get().data.ok().filter(|rate| medium.rates().contains(rate)) {
        Some(rate) => rate,
        None => {
            let mut rates = medium.rates().to_vec();
            rates.sort_unstable();
            let rates: Vec<String> = rates.into_iter().map(|rate| rate_text(medium, rate)).collect();
            let message = format!("\"{text}\" is not a rate of {name}");
            let help = format!("allowed: {}", rates.join(", "));
            c.once(Diagnostic::error("SC038", format!("{pointer}/rate"), message).help(help));
            medium.rates()[0]
        }
    };
    let foreign = [
        ("width", settings.width.is_some(), "lanes"),
        ("symbol", settings.symbol.is_some(), "control symbols"),
        (
            "flow_control",
            settings.flow_control == Some(FlowControlKind::Receiver),
            "receiver-controlled flow control",
        ),
        ("granularity", settings.granularity == Some(GranularityKind::Symbol), "symbol granularity"),
        ("timeout", settings.timeout.is_some(), "acknowledgements"),
        ("vcs", settings.vcs.is_some(), "virtual channels of RapidIO"),
    ];
    for (key, given, what) in foreign {
        if given {
            let message = format!("a link of {name} has no {what}");
            c.once(Diagnostic::error("SC080", format!("{pointer}/{key}"), message).help("leave it out"));
        }
    }
    for device in ends {
        let preset = c.devices[device].preset;
        if preset.name != "generic" {
            let message = format!("a {} has no ports of {name}", preset.name);
            let help = "use \"device\": \"generic\"";
            c.once(Diagnostic::error("SC080", format!("{pointer}/medium"), message).help(help));
        }
    }
    Wire {
        medium: Some((medium, rate)),
        // What nobody asks of such a link.
        rate: LaneRate::Gbaud6_25,
        width: Width::X1,
        symbol: SymbolSize::Idle3,
        propagation,
        receiver: false,
        symbolic: false,
        timeout: None,
        channels: None,
        pointer: pointer.to_owned(),
    }
}

/// The medium of the links of a device; none for RapidIO.
pub(crate) fn of(c: &Compiler<'_>, device: usize) -> Option<Medium> {
    let (link, _, _) = c.neighbours[device].iter().flatten().next()?;
    c.wires[*link].medium.map(|(medium, _)| medium)
}

/// Whether what the file says of the whole fabric goes with its media.
pub(crate) fn check(c: &mut Compiler<'_>) {
    let Some((medium, _)) = c.wires.iter().find_map(|wire| wire.medium) else { return };
    for device in 0..c.graph.nodes.len() {
        let ports = c.neighbours[device].iter().enumerate();
        let named: Vec<(usize, &str)> = ports
            .filter_map(|(port, neighbour)| Some((port, name(&c.wires[neighbour.as_ref()?.0]))))
            .collect();
        let other = named.iter().find(|(_, name)| *name != named[0].1);
        if let Some((port, other)) = other {
            let path = &c.graph.nodes[device].name;
            let message = format!(
                "\"{path}\" has a link of {} at port {} and one of {other} at port {port}",
                named[0].1, named[0].0
            );
            let pointer = c.graph.nodes[device].pointer.clone();
            let help = "all links of a device are of one medium; endpoints can be interfaces of a translator";
            c.once(Diagnostic::error("SC080", pointer, message).help(help));
        }
    }
    let name = medium.name();
    let spec = c.spec;
    let whole = [
        ("/voq/enabled", c.voq.enabled, "VoQ backpressure is a part of RapidIO"),
        (
            "/multicast",
            spec.multicast.iter().flatten().next().is_some(),
            "multicast masks are a part of RapidIO",
        ),
        ("/configure", configure::setup(spec).is_some(), "the registers of a fabric are a part of RapidIO"),
    ];
    for (pointer, given, what) in whole {
        if given {
            let message = format!("{what}, and there are links of {name}");
            c.once(Diagnostic::error("SC080", pointer, message).help("leave it out"));
        }
    }
}

fn name(wire: &Wire) -> &'static str {
    wire.medium.map_or("rapidio", |(medium, _)| medium.name())
}

/// Whether a flow can run between endpoints on such links.
pub(crate) fn check_flow(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec, sources: &[usize]) {
    let Some(medium) = sources.iter().find_map(|&device| of(c, device)) else { return };
    let name = medium.name();
    let Some(st) = &flow.st else {
        let message = format!("the endpoints have links of {name}");
        let help = "only Scheduled Transfer (\"st\") runs over other media than RapidIO";
        c.once(Diagnostic::error("SC080", at, message).help(help));
        return;
    };
    // With translators each end is looked at by itself.
    if !c.translation.translators.is_empty() {
        return;
    }
    check_streams(c, at, flow, medium);
    let stu = *filled(&st.stu);
    if stu > medium.stu_max() {
        let message = format!("{name} does not carry STUs of {stu} octets");
        let help = format!("allowed: powers of two from 256 to {}", medium.stu_max());
        c.once(Diagnostic::error("SC008", format!("{at}/st/stu"), message).help(help));
    }
}

/// Names what only streams of RapidIO have, in a flow that is on this medium.
pub(crate) fn check_streams(c: &mut Compiler<'_>, at: &str, flow: &FlowSpec, medium: Medium) {
    let Some(st) = &flow.st else { return };
    let name = medium.name();
    let channels = match medium.channels() {
        1 => "there is one channel for everything",
        _ => "Control goes on virtual channel 0, Data on 1",
    };
    for (key, given) in [
        ("priority", *filled(&flow.priority) != 0),
        ("st/control_priority", st.control_priority.is_some()),
        ("st/cos", *filled(&st.cos) != 0),
    ] {
        if given {
            let message = format!("{name} knows no such thing");
            c.once(Diagnostic::error("SC080", format!("{at}/{key}"), message).help(channels));
        }
    }
}

/// Tells the fabric.
pub(crate) fn apply(c: &mut Compiler<'_>, config: &mut FabricConfig) {
    let links = c.wires.iter().zip(&mut config.links).zip(0..);
    for ((wire, link), number) in links {
        let Some((medium, rate)) = wire.medium else { continue };
        link.char_ps = medium.octet_ps(rate);
        (link.lanes, link.symbol_chars, link.long_symbols, link.ack_window) = (1, 0, false, u16::MAX);
        config.media.push(MediumLink { link: number, medium });
    }
    // The source side of a HIPPI connection names its way with 12 bits (HIPPI-SC).
    const HIPPI_IDS: u32 = 1 << 12;
    let hippi = c.wires.iter().any(|wire| wire.medium.is_some_and(|(medium, _)| medium == Medium::HippiFp));
    if hippi && config.id_space > HIPPI_IDS {
        let message = format!("an id of {} does not fit the 12 bits of a HIPPI address", config.id_space - 1);
        c.once(Diagnostic::error("SC080", "/topology", message).help("allowed: ids 0 to 4095"));
    }
}
