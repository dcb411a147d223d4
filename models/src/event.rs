//! What can happen: the kinds of events, their order within an instant, and what they carry.

use sim_core::Context;

/// Order among events of one instant. Arrivals first, so that a decision sees every packet that is there;
/// then what symbols tell; then transmitters that fall idle; then new packets; then cell clocks.
pub(crate) mod class {
    use sim_core::Class;
    pub const ARRIVAL: Class = Class::new(0);
    pub const SYMBOL: Class = Class::new(1);
    pub const DONE: Class = Class::new(2);
    pub const TRAFFIC: Class = Class::new(3);
    pub const TICK: Class = Class::new(4);
    /// Hosts see everything that arrived and was created.
    pub const HOST: Class = Class::new(5);
    pub const WATCH: Class = Class::new(13);
    pub const SAMPLE: Class = Class::new(14);
}

/// What happens. `target` is a port index unless said otherwise.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// A packet reaches eligibility in a switch (folded), or its last octet arrives (unfolded); cut-through:
    /// what is `behind` comes so much later. `destination`: its low half, which says what to fetch.
    Arrive { packet: u32, destination: u16, behind: u32 },
    /// Unfolded: the pipeline is done. Or a packet that had to be stored first is stored, and has been
    /// judged by its link (not `from_wire`).
    Ready { packet: u32, from_wire: bool, behind: u32 },
    /// Cut-through: the last octet is in, the packet is acknowledged.
    Accepted,
    /// A packet's last bit reaches a sink.
    Deliver,
    /// The transmitter falls idle.
    Done,
    /// A credit record becomes visible to a blocked transmitter.
    Wake,
    /// A VoQ message reaches the upstream transmitter.
    Message { field: u16, channel: u8 },
    /// A VoQ message gets its place on the wire: its content is sampled.
    MessageOut,
    /// The generation delay of a message is over.
    MessageDue,
    /// The refresh of a port whose neighbour missed a message.
    Refresh,
    /// A source creates a packet.
    Create,
    /// What an endpoint was due to do is made up now, when the packet that starts thereby reaches the switch,
    /// unless it has been made up since.
    Inject,
    /// A cell clock ticks (target: switch).
    Tick,
    /// A timer or a service of an agent ends.
    Host(HostStep),
    /// Something happens on a link that needs more than the closed form.
    Link(LinkStep),
    /// Observation.
    Sample,
    /// The watchdog looks.
    Watch,
}

/// What happens to a host.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum HostStep {
    /// Its earliest deadline, as far as its timer still has this generation.
    Timer { generation: u32 },
    /// It is done with something received.
    Received,
    /// It is done with something to be sent.
    Sent,
}

/// What happens on a link in symbol granularity, or of another medium than RapidIO, or to a port from
/// outside. The target is the port that acts.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkStep {
    /// A place for a symbol on the wire of this port.
    Poll,
    /// A symbol reaches this port.
    Symbol,
    /// The input side of this port gets to it.
    Control,
    /// The input side of this port gets to a packet.
    Arrive { packet: u32, behind: u32 },
    /// A deadline of the link port.
    Timer { generation: u32 },
    /// A character sent from this port is damaged.
    Error,
    /// The input side of this port gets to a damaged character of the idle sequence.
    Idle,
    /// A status that was lost is told again.
    Tell,
    /// A scheduled fault; the target is its number.
    Fault,
    /// The link of this port runs in symbol granularity from now on.
    Enter,
    /// On another medium than RapidIO: the neighbour has a place more on a channel.
    Credit { channel: u32 },
    /// Where virtual channels share a link by micropackets: a transmission of this port was to end.
    Left,
    /// There, unfolded: a message is at the pins of this port.
    Pins { packet: u32, behind: u32 },
    /// There: a message reaches the device of this port.
    Reach { packet: u32, behind: u32 },
    /// There: a border of micropackets on the wire of this port.
    Border,
    /// restart-from-retry has left this port.
    Resume,
    /// The VoQ register of a port is written; the target is the number of the write.
    Register,
}

/// Numbers of happenings in a [`Payload`].
#[derive(Copy, Clone)]
#[repr(u8)]
enum Kind {
    Arrive,
    Ready,
    Accepted,
    Deliver,
    Done,
    Wake,
    Message,
    MessageOut,
    MessageDue,
    Refresh,
    Create,
    Inject,
    Tick,
    Host,
    Link,
    Sample,
    Watch,
}

impl Kind {
    const KNOWN: [Kind; 17] = [
        Kind::Arrive,
        Kind::Ready,
        Kind::Accepted,
        Kind::Deliver,
        Kind::Done,
        Kind::Wake,
        Kind::Message,
        Kind::MessageOut,
        Kind::MessageDue,
        Kind::Refresh,
        Kind::Create,
        Kind::Inject,
        Kind::Tick,
        Kind::Host,
        Kind::Link,
        Kind::Sample,
        Kind::Watch,
    ];

    /// By the five bits that an event has for it, so that none is out of range.
    const ALL: [Kind; 32] = {
        let mut all = [Kind::Watch; 32];
        let mut n = 0;
        while n < Kind::KNOWN.len() {
            all[n] = Kind::KNOWN[n];
            n += 1;
        }
        all
    };
}

/// A [`Happening`] in twelve octets: kind, a 16-bit field, a packet, a number.
///
/// Kind, field and packet are one word, put together in a register: an event assembled in memory from smaller
/// parts stalls whoever loads it next. Packed, because events leave four octets beside their target.
#[derive(Copy, Clone, Debug)]
#[repr(C, packed(4))]
pub(crate) struct Payload {
    word: u64,
    extra: u32,
}

impl Payload {
    #[inline(always)]
    fn new(kind: Kind, field: u16, packet: u32, extra: u32) -> Self {
        Payload { word: u64::from(packet) << 32 | u64::from(field) << 16 | kind as u64, extra }
    }

    #[inline(always)]
    pub fn unpack(self) -> Happening {
        let (field, packet, extra) = ((self.word >> 16) as u16, (self.word >> 32) as u32, self.extra);
        match Kind::ALL[(self.word & 31) as usize] {
            Kind::Arrive => Happening::Arrive { packet, destination: field, behind: extra },
            Kind::Ready => Happening::Ready { packet, from_wire: field != 0, behind: extra },
            Kind::Accepted => Happening::Accepted,
            Kind::Deliver => Happening::Deliver,
            Kind::Done => Happening::Done,
            Kind::Wake => Happening::Wake,
            Kind::Message => Happening::Message { field, channel: extra as u8 },
            Kind::MessageOut => Happening::MessageOut,
            Kind::MessageDue => Happening::MessageDue,
            Kind::Refresh => Happening::Refresh,
            Kind::Create => Happening::Create,
            Kind::Inject => Happening::Inject,
            Kind::Tick => Happening::Tick,
            Kind::Host => Happening::Host(HostStep::unpack(field, extra)),
            Kind::Link => Happening::Link(LinkStep::unpack(field, packet, extra)),
            Kind::Sample => Happening::Sample,
            Kind::Watch => Happening::Watch,
        }
    }
}

/// What profiles call the kinds of events: those of [`Kind`], then the steps of links and of hosts.
pub(crate) const KIND_NAMES: [&str; HOST_KINDS + 3] = [
    "arrival at a switch",
    "end of a pipeline",
    "acceptance",
    "delivery",
    "end of a transmission",
    "credit for who waits",
    "VoQ message arrives",
    "VoQ message leaves",
    "VoQ message is due",
    "VoQ refresh",
    "creation",
    "packet of an endpoint, made up",
    "cell clock",
    "host",
    "link",
    "sample",
    "watchdog",
    "link: place for a symbol",
    "link: symbol arrives",
    "link: symbol is read",
    "link: packet arrives",
    "link: deadline",
    "link: damage",
    "link: damaged idle character",
    "link: lost status is told again",
    "link: fault",
    "link: symbols from now on",
    "link: credit of a channel",
    "link: end of a shared transmission",
    "link: message at the pins",
    "link: message arrives",
    "link: border of micropackets",
    "link: restart-from-retry has left",
    "link: VoQ register or thresholds are written",
    "host: timer",
    "host: done with what came",
    "host: done with what leaves",
];

/// Where the steps of links begin in [`KIND_NAMES`], and where those of hosts.
const LINK_KINDS: usize = Kind::KNOWN.len();
const HOST_KINDS: usize = LINK_KINDS + 17;

/// Places of what an overseer does outside of any event list.
pub(crate) const SAMPLE_KIND: usize = Kind::Sample as usize;
pub(crate) const WATCH_KIND: usize = Kind::Watch as usize;

impl Payload {
    /// The place of its kind in [`KIND_NAMES`].
    pub fn kind(&self) -> usize {
        let (kind, step) = ((self.word & 31) as usize, (self.word >> 16) as u16);
        match Kind::ALL[kind] {
            Kind::Link => LINK_KINDS + usize::from(step),
            Kind::Host => HOST_KINDS + usize::from(step),
            _ => kind,
        }
    }
}

impl Happening {
    #[inline(always)]
    pub fn pack(self) -> Payload {
        let of = |kind| Payload::new(kind, 0, 0, 0);
        match self {
            Happening::Arrive { packet, destination, behind } => {
                Payload::new(Kind::Arrive, destination, packet, behind)
            }
            Happening::Ready { packet, from_wire, behind } => {
                Payload::new(Kind::Ready, from_wire.into(), packet, behind)
            }
            Happening::Accepted => of(Kind::Accepted),
            Happening::Deliver => of(Kind::Deliver),
            Happening::Done => of(Kind::Done),
            Happening::Wake => of(Kind::Wake),
            Happening::Message { field, channel } => Payload::new(Kind::Message, field, 0, channel.into()),
            Happening::MessageOut => of(Kind::MessageOut),
            Happening::MessageDue => of(Kind::MessageDue),
            Happening::Refresh => of(Kind::Refresh),
            Happening::Create => of(Kind::Create),
            Happening::Inject => of(Kind::Inject),
            Happening::Tick => of(Kind::Tick),
            Happening::Host(step) => step.pack(),
            Happening::Link(step) => step.pack(),
            Happening::Sample => of(Kind::Sample),
            Happening::Watch => of(Kind::Watch),
        }
    }
}

impl HostStep {
    #[inline(always)]
    pub fn pack(self) -> Payload {
        let (field, extra) = match self {
            HostStep::Timer { generation } => (0, generation),
            HostStep::Received => (1, 0),
            HostStep::Sent => (2, 0),
        };
        Payload::new(Kind::Host, field, 0, extra)
    }

    #[inline(always)]
    fn unpack(field: u16, extra: u32) -> Self {
        match field {
            0 => HostStep::Timer { generation: extra },
            1 => HostStep::Received,
            2 => HostStep::Sent,
            _ => unreachable!("hosts have no step {field}"),
        }
    }
}

impl LinkStep {
    #[inline(always)]
    pub fn pack(self) -> Payload {
        let (field, packet, extra) = match self {
            LinkStep::Poll => (0, 0, 0),
            LinkStep::Symbol => (1, 0, 0),
            LinkStep::Control => (2, 0, 0),
            LinkStep::Arrive { packet, behind } => (3, packet, behind),
            LinkStep::Timer { generation } => (4, 0, generation),
            LinkStep::Error => (5, 0, 0),
            LinkStep::Idle => (6, 0, 0),
            LinkStep::Tell => (7, 0, 0),
            LinkStep::Fault => (8, 0, 0),
            LinkStep::Enter => (9, 0, 0),
            LinkStep::Credit { channel } => (10, 0, channel),
            LinkStep::Left => (11, 0, 0),
            LinkStep::Pins { packet, behind } => (12, packet, behind),
            LinkStep::Reach { packet, behind } => (13, packet, behind),
            LinkStep::Border => (14, 0, 0),
            LinkStep::Resume => (15, 0, 0),
            LinkStep::Register => (16, 0, 0),
        };
        Payload::new(Kind::Link, field, packet, extra)
    }

    #[inline(always)]
    fn unpack(field: u16, packet: u32, extra: u32) -> Self {
        match field {
            0 => LinkStep::Poll,
            1 => LinkStep::Symbol,
            2 => LinkStep::Control,
            3 => LinkStep::Arrive { packet, behind: extra },
            4 => LinkStep::Timer { generation: extra },
            5 => LinkStep::Error,
            6 => LinkStep::Idle,
            7 => LinkStep::Tell,
            8 => LinkStep::Fault,
            9 => LinkStep::Enter,
            10 => LinkStep::Credit { channel: extra },
            11 => LinkStep::Left,
            12 => LinkStep::Pins { packet, behind: extra },
            13 => LinkStep::Reach { packet, behind: extra },
            14 => LinkStep::Border,
            15 => LinkStep::Resume,
            16 => LinkStep::Register,
            _ => unreachable!("links have no step {field}"),
        }
    }
}

pub(crate) type Cx<'a, L> = Context<'a, Payload, L>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever happens is the same after its way through the event list.
    #[test]
    fn what_is_packed_is_unpacked() {
        let (packet, behind, generation) = (u32::MAX, 0x8000_0001, 7);
        let steps = [
            LinkStep::Poll,
            LinkStep::Symbol,
            LinkStep::Control,
            LinkStep::Arrive { packet, behind },
            LinkStep::Timer { generation },
            LinkStep::Error,
            LinkStep::Idle,
            LinkStep::Tell,
            LinkStep::Fault,
            LinkStep::Enter,
            LinkStep::Credit { channel: 3 },
            LinkStep::Left,
            LinkStep::Pins { packet, behind },
            LinkStep::Reach { packet, behind },
            LinkStep::Border,
            LinkStep::Resume,
            LinkStep::Register,
        ];
        let hosts = [HostStep::Timer { generation }, HostStep::Received, HostStep::Sent];
        let others = [
            Happening::Arrive { packet, destination: 0xFFFE, behind },
            Happening::Ready { packet, from_wire: true, behind },
            Happening::Ready { packet, from_wire: false, behind: 0 },
            Happening::Accepted,
            Happening::Deliver,
            Happening::Done,
            Happening::Wake,
            Happening::Message { field: 0x3FFF, channel: 8 },
            Happening::MessageOut,
            Happening::MessageDue,
            Happening::Refresh,
            Happening::Create,
            Happening::Inject,
            Happening::Tick,
            Happening::Sample,
            Happening::Watch,
        ];
        let all = steps.map(Happening::Link).into_iter().chain(hosts.map(Happening::Host)).chain(others);
        let mut kinds = std::collections::BTreeSet::new();
        for happening in all {
            assert_eq!(happening.pack().unpack(), happening);
            kinds.insert(happening.pack().kind());
        }
        // Each has a place among the names: all but the two whose steps have places of their own.
        let law = (0..KIND_NAMES.len()).filter(|kind| !["host", "link"].contains(&KIND_NAMES[*kind]));
        assert!(kinds.into_iter().eq(law));
        let place = |happening: Happening| KIND_NAMES[happening.pack().kind()];
        assert_eq!(place(Happening::Wake), "credit for who waits");
        assert_eq!([KIND_NAMES[SAMPLE_KIND], KIND_NAMES[WATCH_KIND]], ["sample", "watchdog"]);
        assert_eq!(
            place(Happening::Link(LinkStep::Register)),
            "link: VoQ register or thresholds are written"
        );
        assert_eq!(place(Happening::Host(HostStep::Sent)), "host: done with what leaves");
    }
}
