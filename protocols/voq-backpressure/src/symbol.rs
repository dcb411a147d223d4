//! How a message rides on a control symbol, and which virtual channel it then speaks of (Part 12 §3.2, §4.2).
//!
//! Without *linking* a message may accompany every stype0 and stype1, and concerns the queues of all virtual
//! channels. With linking (LINK_EN, for devices that stage per port *inside* each VC) it may accompany only a
//! Status symbol, and then concerns VC0, or a VC_Status symbol, and then concerns the VC that this names.

use crate::codec::Stype2;
use lp_serial::control_symbol::Error;
use lp_serial::{ControlSymbol, Form, Stype0, Stype1};

/// A virtual channel, VC0 to VC8.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Vc(u8);

impl Vc {
    /// The channel that every link has.
    pub const VC0: Self = Self(0);

    /// VC `number`, if it is 0..=8.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number <= 8 { Some(Self(number)) } else { None }
    }

    /// Its number, 0..=8.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// How many of VC1 to VC8 are active on a link, beside VC0 (Part 6 Table 3-5).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum ActiveVcs {
    /// None: the link has VC0 alone.
    #[default]
    None,
    /// VC1.
    One,
    /// VC1 and VC5.
    Two,
    /// VC1, VC3, VC5 and VC7.
    Four,
    /// VC1 to VC8.
    Eight,
}

impl ActiveVcs {
    /// Every choice.
    pub const ALL: [Self; 5] = [Self::None, Self::One, Self::Two, Self::Four, Self::Eight];

    const fn optional(self) -> u8 {
        match self {
            Self::None => 0,
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Active channels, VC0 included: 1, 2, 3, 5 or 9.
    #[must_use]
    pub const fn count(self) -> usize {
        1 + self.optional() as usize
    }

    /// The active channel with this position: 0 is VC0, then ascending.
    pub(crate) const fn at(self, slot: usize) -> Vc {
        if slot == 0 { Vc::VC0 } else { Vc((slot as u8 - 1) * (8 / self.optional()) + 1) }
    }

    /// Position of a channel among the active ones.
    pub(crate) fn slot(self, vc: Vc) -> Option<usize> {
        (0..self.count()).find(|&slot| self.at(slot) == vc)
    }

    /// The active channels, VC0 first.
    pub fn iter(self) -> impl Iterator<Item = Vc> {
        (0..self.count()).map(move |slot| self.at(slot))
    }

    /// The channel that a VCID names (its low bits are ignored when fewer than eight are active), or none if
    /// no optional channel is active. Bits above the three of a VCID are ignored.
    #[must_use]
    pub const fn vc_of(self, vcid: u8) -> Option<Vc> {
        let optional = self.optional();
        if optional == 0 {
            return None;
        }
        let stride = 8 / optional;
        Some(Vc((vcid & 7) / stride * stride + 1))
    }
}

/// A control symbol, as far as a message on it is concerned.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Carrier {
    /// stype0 = Status: names VC0.
    Status,
    /// stype0 = VC_Status: names one of VC1 to VC8.
    VcStatus {
        /// VCID, 0..=7.
        vcid: u8,
    },
    /// Any other stype0. stype1 never matters.
    Other,
}

impl Carrier {
    /// What this symbol is as a carrier.
    #[must_use]
    pub const fn of(symbol: &ControlSymbol) -> Self {
        match symbol.stype0() {
            Stype0::Status { .. } => Self::Status,
            Stype0::VcStatus { vcid, .. } => Self::VcStatus { vcid },
            _ => Self::Other,
        }
    }

    /// The carrier that names an active channel; a port without optional channels has only VC0 to name.
    #[must_use]
    pub const fn naming(vc: Vc) -> Self {
        if vc.number() == 0 { Self::Status } else { Self::VcStatus { vcid: vc.number() - 1 } }
    }

    /// Whom a message on this carrier concerns.
    ///
    /// # Errors
    /// [`NoScope`]: with linking on, this symbol names no active channel.
    pub const fn scope(self, linked: bool, vcs: ActiveVcs) -> Result<Scope, NoScope> {
        if !linked {
            return Ok(Scope::AllVcs);
        }
        match self {
            Self::Status => Ok(Scope::One(Vc::VC0)),
            Self::VcStatus { vcid } => match vcs.vc_of(vcid) {
                Some(vc) => Ok(Scope::One(vc)),
                None => Err(NoScope::InactiveVc),
            },
            Self::Other => Err(NoScope::NotAStatus),
        }
    }
}

/// The virtual channels that a message concerns.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Scope {
    /// All of them: linking is off.
    AllVcs,
    /// This one: linking is on.
    One(Vc),
}

/// Why a linked message concerns nobody.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum NoScope {
    /// The symbol is neither Status nor VC_Status.
    NotAStatus,
    /// A VC_Status for a channel that is not active.
    InactiveVc,
}

/// A long control symbol that is about to leave and could carry a message.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Opportunity {
    pub(crate) carrier: Carrier,
    pub(crate) standalone: bool,
}

impl Opportunity {
    /// The symbol leaves anyhow: a message on it costs nothing.
    #[must_use]
    pub const fn riding(carrier: Carrier) -> Self {
        Self { carrier, standalone: false }
    }

    /// The symbol is sent only because [`needs_symbol`](crate::Originator::needs_symbol) asked for it: it
    /// costs eight characters.
    #[must_use]
    pub const fn standalone(carrier: Carrier) -> Self {
        Self { carrier, standalone: true }
    }
}

/// Puts a message, or NOP, on a symbol.
///
/// # Errors
/// The Part 6 range error if the symbol is short and the field is not NOP: a short symbol has no place for
/// it.
pub fn attach(symbol: ControlSymbol, stype2: Stype2) -> Result<ControlSymbol, Error> {
    symbol.with_stype2(stype2.emit())
}

/// The symbol that is sent just to carry a message: Status or VC_Status, with NOP as stype1.
/// [`Carrier::Other`] gives Status too.
///
/// # Errors
/// The Part 6 range error if `ack_id_status` or `buf_status` exceeds 63, or a VCID exceeds 7.
pub fn standalone(
    carrier: Carrier,
    ack_id_status: u8,
    buf_status: u8,
    stype2: Stype2,
) -> Result<ControlSymbol, Error> {
    let stype0 = match carrier {
        Carrier::VcStatus { vcid } => Stype0::VcStatus { vcid, buf_status },
        Carrier::Status | Carrier::Other => Stype0::Status { ack_id_status, buf_status },
    };
    attach(ControlSymbol::new(Form::Long, stype0, Stype1::Nop)?, stype2)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::codec::Message;
    use std::vec::Vec;

    fn numbers(vcs: ActiveVcs) -> Vec<u8> {
        vcs.iter().map(Vc::number).collect()
    }

    /// Proves: VOQ-3.2-8
    #[test]
    fn vcid_is_decoded_with_the_number_of_active_channels() {
        // Optional channels, the active ones, what VCID 0 to 7 name (0: nothing).
        let table: [(ActiveVcs, &[u8], [u8; 8]); 5] = [
            (ActiveVcs::None, &[0], [0; 8]),
            (ActiveVcs::One, &[0, 1], [1; 8]),
            (ActiveVcs::Two, &[0, 1, 5], [1, 1, 1, 1, 5, 5, 5, 5]),
            (ActiveVcs::Four, &[0, 1, 3, 5, 7], [1, 1, 3, 3, 5, 5, 7, 7]),
            (ActiveVcs::Eight, &[0, 1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4, 5, 6, 7, 8]),
        ];
        for (vcs, active, named) in table {
            assert_eq!(numbers(vcs), active);
            for (vcid, expected) in named.into_iter().enumerate() {
                let found = vcs.vc_of(vcid as u8);
                assert_eq!(found.map_or(0, Vc::number), expected, "{vcs:?} VCID {vcid}");
                assert!(found.is_none_or(|vc| vcs.slot(vc).is_some()));
            }
            for vc in vcs.iter().skip(1) {
                let Carrier::VcStatus { vcid } = Carrier::naming(vc) else { panic!("{vc:?}") };
                assert_eq!(vcs.vc_of(vcid), Some(vc));
            }
        }
    }

    /// Proves: VOQ-3.2-1, VOQ-3.2-2, VOQ-3.2-5, VOQ-2.4-2, VOQ-4.2-2
    #[test]
    fn scope_of_every_symbol() {
        for stype0 in 0..8 {
            for parameter0 in 0..64 {
                for (stype1, cmd) in [(0, 0), (1, 0), (2, 0), (3, 0), (4, 4), (5, 0), (7, 0)] {
                    let fields = [stype0, parameter0, 3, stype1, cmd];
                    let symbol = ControlSymbol::from_fields(Form::Long, fields, 0x0820).unwrap();
                    let carrier = Carrier::of(&symbol);
                    for vcs in ActiveVcs::ALL {
                        assert_eq!(carrier.scope(false, vcs), Ok(Scope::AllVcs));
                        // The three bits above VCID are ignored on receive.
                        let linked = match (stype0, vcs.vc_of(parameter0 & 7)) {
                            (4, _) => Ok(Scope::One(Vc::VC0)),
                            (5, Some(vc)) => Ok(Scope::One(vc)),
                            (5, None) => Err(NoScope::InactiveVc),
                            _ => Err(NoScope::NotAStatus),
                        };
                        assert_eq!(carrier.scope(true, vcs), linked, "{symbol} {vcs:?}");
                    }
                }
            }
        }
    }

    /// Proves: VOQ-3.2-1, VOQ-3.2-2
    #[test]
    fn standalone_symbols_name_the_channel() {
        let message = Stype2::Backpressure(Message::new(1, 0b001000).unwrap());
        let vc0 = standalone(Carrier::naming(Vc::VC0), 9, 7, message).unwrap();
        assert_eq!(vc0.stype0(), Stype0::Status { ack_id_status: 9, buf_status: 7 });
        for number in 1..=8 {
            let vc = Vc::new(number).unwrap();
            let symbol = standalone(Carrier::naming(vc), 9, 7, message).unwrap();
            // parameter0 is 0b000 and then VCID.
            assert_eq!(symbol.fields(), [5, number - 1, 7, 7, 0]);
            assert_eq!(symbol.stype2(), 0x0901);
        }
        assert_eq!(Vc::new(9), None);
    }

    /// Proves: VOQ-3-1
    #[test]
    fn a_short_symbol_has_no_place_for_a_message() {
        let status = Stype0::Status { ack_id_status: 0, buf_status: 31 };
        let symbol = ControlSymbol::new(Form::Short, status, Stype1::Nop).unwrap();
        let message = Stype2::Backpressure(Message::new(0, 0).unwrap());
        assert!(matches!(attach(symbol, message), Err(Error::Range { .. })));
        assert_eq!(attach(symbol, Stype2::Nop), Ok(symbol));
    }
}
