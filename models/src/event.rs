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

/// What an event is. `target` is a port index unless said otherwise.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A packet reaches eligibility in a switch (folded), or its last octet arrives (unfolded).
    Arrive,
    /// Unfolded only: the pipeline is done.
    Ready,
    /// Cut-through: the last octet is in, the packet is acknowledged.
    Accepted,
    /// A packet's last bit reaches a sink.
    Deliver,
    /// The transmitter falls idle.
    Done,
    /// A credit record becomes visible to a blocked transmitter.
    Wake,
    /// A VoQ message reaches the upstream transmitter.
    Message,
    /// A VoQ message gets its place on the wire: its content is sampled.
    MessageOut,
    /// The generation delay of a message is over.
    MessageDue,
    /// The refresh of a port whose neighbour missed a message.
    Refresh,
    /// A source creates a packet.
    Create,
    /// A cell clock ticks (target: device).
    Tick,
    /// A timer or a service of an agent ends.
    Host,
    /// Something happens on a link in symbol granularity.
    Link,
    /// Observation.
    Sample,
    /// The watchdog looks.
    Watch,
}

impl Kind {
    const ALL: [Kind; 16] = [
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
        Kind::Tick,
        Kind::Host,
        Kind::Link,
        Kind::Sample,
        Kind::Watch,
    ];
}

/// What an event says: kind, a 16-bit field, a packet, a number.
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
    pub fn new(kind: Kind, field: u16, packet: u32, extra: u32) -> Self {
        Payload { word: u64::from(packet) << 32 | u64::from(field) << 16 | kind as u64, extra }
    }

    #[inline(always)]
    pub fn of(kind: Kind) -> Self {
        Payload::new(kind, 0, 0, 0)
    }

    #[inline(always)]
    pub fn kind(self) -> Kind {
        Kind::ALL[(self.word & 15) as usize]
    }

    #[inline(always)]
    pub fn field(self) -> u16 {
        (self.word >> 16) as u16
    }

    #[inline(always)]
    pub fn packet(self) -> u32 {
        (self.word >> 32) as u32
    }

    #[inline(always)]
    pub fn extra(self) -> u32 {
        self.extra
    }
}

pub(crate) type Cx<'a, L> = Context<'a, Payload, L>;

/// Field of [`Kind::Ready`]: the packet comes from the wire.
pub(crate) const FROM_WIRE: u16 = 1;
