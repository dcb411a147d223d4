//! Numbers that name things: protocols, streams, nodes (Annex 2 §3.5.2, §6).

/// Vendor-defined protocols share this ProtoID (§6.1).
pub const VENDOR_DEFINED: u16 = 0x0101;
/// Ethernet encapsulation (§7.1).
pub const ETHERNET: u16 = 0x0102;
/// In REQUEST: the list of protocols. Reserved elsewhere (§3.5.2.3).
pub const ALL_PROTOCOLS: u16 = 0xFFFF;

/// "Stream not known", and an invalid StreamID (§3.5.2.5).
pub const NO_STREAM: u16 = 0xFFFF;
/// Ethernet broadcast: needs no OPEN (§7.3.2).
pub const BROADCAST_STREAM: u16 = 0xF000;
/// Application streams are `0..APPLICATION_STREAMS` (§3.5.2.5).
pub const APPLICATION_STREAMS: u16 = 0xE000;

/// Who may use a StreamID (§3.5.2.5).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum StreamClass {
    /// 0x0000 to 0xDFFF, opened by OPEN and ACCEPT alone.
    Application,
    /// 0xE000 to 0xEFFF, no OPEN needed.
    Vendor,
    /// 0xF000 to 0xFFFE, no OPEN needed.
    Reserved,
    /// 0xFFFF.
    Invalid,
}

impl StreamClass {
    /// The class of a StreamID.
    #[must_use]
    pub const fn of(stream: u16) -> Self {
        match stream {
            0..=0xDFFF => Self::Application,
            0xE000..=0xEFFF => Self::Vendor,
            0xF000..=0xFFFE => Self::Reserved,
            NO_STREAM => Self::Invalid,
        }
    }
}

/// The identity of a vendor-defined protocol: exact comparison of 7 octets each (§6.2).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct VendorProtocol {
    /// Value of VENDOR.
    pub vendor: [u8; 7],
    /// Value of PROTOCOL_NAME.
    pub name: [u8; 7],
}

/// What two ends must agree on to speak of the same protocol: the ProtoID, and for 0x0101 vendor and name
/// too.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Protocol {
    id: u16,
    vendor: Option<VendorProtocol>,
}

impl Protocol {
    /// Ethernet encapsulation.
    pub const ETHERNET: Self = Self { id: ETHERNET, vendor: None };

    /// Below all others, for ranges of ordered tables.
    pub(crate) const LEAST: Self = Self { id: 0, vendor: None };
    /// Above all others.
    pub(crate) const GREATEST: Self =
        Self { id: u16::MAX, vendor: Some(VendorProtocol { vendor: [0xFF; 7], name: [0xFF; 7] }) };

    /// A protocol with a number of its own; none for 0x0101, which does not say which protocol it is, and
    /// 0xFFFF, which is none.
    #[must_use]
    pub const fn standard(id: u16) -> Option<Self> {
        match id {
            VENDOR_DEFINED | ALL_PROTOCOLS => None,
            _ => Some(Self { id, vendor: None }),
        }
    }

    /// A vendor-defined protocol.
    #[must_use]
    pub const fn vendor(vendor: [u8; 7], name: [u8; 7]) -> Self {
        Self { id: VENDOR_DEFINED, vendor: Some(VendorProtocol { vendor, name }) }
    }

    /// ProtoID.
    #[must_use]
    pub const fn id(self) -> u16 {
        self.id
    }

    /// Vendor and name, for ProtoID 0x0101.
    #[must_use]
    pub const fn vendor_protocol(self) -> Option<VendorProtocol> {
        self.vendor
    }
}
