//! Flows of echoes: what is sent comes back at once.

use super::messages::{self, Carried};
use super::{Cast, Kind, Sized};
use crate::compiler::Compiler;
use crate::diagnostic::Diagnostic;
use crate::quantities::Quantities;
use crate::spec::{ArrivalSpec, CarrierKind, EchoSpec, FlowSpec, SizeSpec, filled};
use crate::units::Ratio;
use models::agent::echo::EchoConfig;
use models::config::{Carrier, FabricConfig, ProtocolConfig};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Flows of echoes.
pub(super) struct Echo;

fn spec(flow: &FlowSpec) -> &EchoSpec {
    filled(&flow.echo)
}

fn carried(c: &Compiler<'_>, flow: &FlowSpec) -> Carried {
    match filled(&spec(flow).carrier) {
        CarrierKind::Message => Carried::Message { segment: messages::SEGMENT.into() },
        CarrierKind::Stream => Carried::Stream { mtu: messages::mtu_octets(c.spec).into() },
    }
}

impl Kind for Echo {
    fn keys(&self) -> &'static [&'static str] {
        &["echo"]
    }

    fn named(&self, flow: &FlowSpec) -> usize {
        usize::from(flow.echo.is_some())
    }

    fn expand(&self, flow: &mut FlowSpec) {
        flow.size.get_or_insert(SizeSpec::Fixed(256));
        let echo = flow.echo.get_or_insert_default();
        echo.carrier.get_or_insert(CarrierKind::Message);
        echo.timeout.get_or_insert("100 ms".into());
    }

    fn read(&self, quantities: &mut Quantities<'_>, at: &str, flow: &FlowSpec) {
        if let Some(echo) = &flow.echo {
            let at = format!("{at}/echo/timeout");
            let given = quantities.value(&at, echo.timeout.as_ref());
            quantities.patience(at, given == Some(0));
        }
    }

    fn check(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> bool {
        let (code, key, message, help) = if super::kinds(flow) > 1 {
            let help = "one flow, one kind: what carries echoes is \"echo.carrier\"";
            ("SC048", "echo", "the flow sends echoes and something else", help)
        } else if matches!(flow.arrivals, Some(ArrivalSpec::Trace(_))) {
            let help = "a trace lists packets; use another arrival process";
            ("SC048", "arrivals", "a trace knows no echoes", help)
        } else if flow.priority == Some(3) {
            let help = "allowed: 0 to 2; a response takes the priority above that of its request";
            ("SC008", "priority", "echoes cannot have priority 3", help)
        } else {
            return true;
        };
        c.out.push(Diagnostic::error(code, format!("{at}/{key}"), message).help(help));
        false
    }

    fn sizes(&self, c: &mut Compiler<'_>, at: &str, flow: &FlowSpec) -> Option<Vec<Sized>> {
        let kind = carried(c, flow);
        super::mix(c, at, flow, &mut |c, pointer, octets| messages::check_size(c, pointer, kind, octets))
    }

    fn mean_time(&self, c: &Compiler<'_>, source: usize, flow: &FlowSpec, sizes: &[Sized]) -> Ratio {
        let kind = carried(c, flow);
        messages::mean_time(c, source, sizes, &|packet, octets| messages::chars(kind, octets, packet))
    }

    fn nodes(
        &self,
        _: &mut Compiler<'_>,
        _: &FabricConfig,
        flow: &FlowSpec,
        cast: &Cast<'_>,
    ) -> Option<BTreeMap<usize, ProtocolConfig>> {
        let EchoSpec { carrier, timeout } = spec(flow);
        let carrier = match filled(carrier) {
            CarrierKind::Message => Carrier::Message { mailbox: 0, segment: messages::SEGMENT },
            CarrierKind::Stream => Carrier::Stream { cos: 0, stream_id: messages::stream_of(cast.index) },
        };
        let config = Arc::new(EchoConfig { carrier, timeout: filled(timeout).get() });
        let devices = cast.places.iter().map(|(device, _)| device).chain(cast.ends);
        Some(devices.map(|&device| (device, ProtocolConfig::Plugged(config.clone()))).collect())
    }
}
