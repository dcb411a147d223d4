//! What arrives at an endpoint: the checks that come before any connection (clause 10), set-up and teardown.

use super::{Endpoint, Requested, Stray, extras_of};
use crate::checksum;
use crate::connection::{Connection, Context, Declared, State};
use crate::errors::{Log, Logged};
use crate::event::ConnectionId;
use crate::llp::Ula;
use crate::memory::Memory;
use crate::wire::{Attributes, Body, Flags, Header, OPTIONAL_PAYLOAD_BYTES, Op, Operation};

impl<M: Memory> Endpoint<M> {
    /// An operation arrived on `interface` from `from`; `octets` is Schedule Header and payload.
    pub fn handle(&mut self, now: u64, (from, interface): (Ula, u8), octets: &[u8]) {
        let Ok((header, payload)) = Header::parse(octets) else {
            self.device_log.counters_mut().illegal_length += 1;
            return;
        };
        let is_data = header.op == Op::Data as u8;
        let legal = if is_data {
            payload.len() <= crate::llp::STU_MAX_BYTES
        } else {
            payload.is_empty() || payload.len() == OPTIONAL_PAYLOAD_BYTES
        };
        if !legal {
            self.device_log.counters_mut().illegal_length += 1;
            return;
        }
        if !is_data && self.config.check && !checksum::is_intact(octets) {
            self.device_log.push(now, Logged::Cksum_Error);
            return;
        }
        match Op::parse(header.op) {
            Err(_) => {
                let undefined = Logged::Undefined_Opcode_Error { undefined_opcode_value: header.op };
                self.device_log.push(now, undefined);
            }
            Ok(Op::RequestConnection) => self.handle_rc(now, (from, interface), &header, payload),
            Ok(Op::ConnectionAnswer) => self.handle_ca(now, from, &header, payload),
            Ok(Op::RequestDisconnect | Op::DisconnectAnswer | Op::DisconnectComplete) => {
                self.handle_teardown(now, (from, interface), &header);
            }
            Ok(_) => {
                let Some(id) = self.find(now, &header) else { return };
                self.with(now, id, |connection, cx| {
                    connection.handle(cx, (from, interface), &header, payload)
                });
            }
        }
    }

    /// The connection of D_Port, D_Key and S_Port; else the error is logged.
    fn find(&mut self, now: u64, header: &Header) -> Option<ConnectionId> {
        if let Some(&id) = self.by_port.get(&(header.d_port, header.d_key)) {
            let connection = self.connections.get(&id)?;
            if connection.remote().port == header.s_port || connection.state() == State::RcSent {
                return Some(id);
            }
            self.log_at(header.d_port).push(now, Logged::Invalid_Port_Error);
            return None;
        }
        let port_known = self.by_port.range((header.d_port, 0)..=(header.d_port, u32::MAX)).next().is_some();
        let port = header.d_port;
        if port_known || self.listening.contains_key(&port) {
            self.log_at(port).push(now, Logged::Invalid_Key_Error);
        } else {
            self.device_log.push(now, Logged::Invalid_Port_Error);
        }
        None
    }

    fn log_at(&mut self, port: u16) -> &mut Log {
        self.logs.entry(port).or_default()
    }

    fn handle_rc(&mut self, now: u64, (from, interface): (Ula, u8), header: &Header, payload: &[u8]) {
        let Ok(Operation { interrupt, body, .. }) = Operation::parse(header) else { return };
        let Body::RequestConnection { attributes, out_of_order, slots, ether_type, bufsize, key, max_stu } =
            body
        else {
            return;
        };
        let name = (from, header.s_port, key);
        match self.requested.get(&name) {
            Some(&Requested::Connection(id)) => {
                self.with(now, id, |connection, _| connection.handle_repeated_rc());
                return;
            }
            Some(Requested::Rejected) => {
                return self.reject_connection(now, (from, interface), header.d_port, (header.s_port, key));
            }
            None => {}
        }
        let (attributes, defined) = Attributes::parse(attributes);
        let remote = Declared { port: header.s_port, key, slots, bufsize, max_stu, out_of_order, attributes };
        let port = header.d_port;
        let error = match self.listening.get(&port) {
            None => {
                self.device_log.push(now, Logged::Invalid_Port_Error);
                true
            }
            Some(known) if !known.contains(&ether_type) => {
                self.log_at(port).push(now, Logged::Unknown_EtherType_Error);
                true
            }
            Some(_) if !remote.has_legal_bufsize() => {
                self.log_at(port).push(now, Logged::Illegal_Bufsize_Error);
                true
            }
            Some(_) if !remote.has_legal_max_stu() => {
                self.log_at(port).counters_mut().illegal_max_stu += 1;
                true
            }
            Some(_) => false,
        };
        if error {
            return self.reject_connection(now, (from, interface), port, (header.s_port, key));
        }
        self.log_flags(now, port, header, body.mask(), defined);
        let (port_own, key_own) = (self.assign_port(), self.keys.assign(now));
        let local = Declared::local(&self.config, port_own, key_own);
        let id = self.next_id();
        let log = self.logs.entry(local.port).or_default();
        let mut cx =
            Context { now, config: &self.config, memory: &mut self.memory, log, events: &mut self.events };
        let connection =
            Connection::incoming(&mut cx, id, local, remote, (from, interface), (port, ether_type));
        connection.deliver_extras(&mut cx, header.op, extras_of(interrupt, payload));
        self.requested.insert(name, Requested::Connection(id));
        self.insert(id, connection);
    }

    fn log_flags(&mut self, now: u64, port: u16, header: &Header, mask: Flags, defined: bool) {
        let undefined = if defined { Flags::NONE } else { header.flags.inside(Flags::F) };
        let improper = header.flags.outside(mask).with(undefined);
        if improper != Flags::NONE {
            self.log_at(port).push(now, Logged::Improper_Flag_Use_Error { flags: improper.bits() });
        }
    }

    fn handle_ca(&mut self, now: u64, from: Ula, header: &Header, payload: &[u8]) {
        let Ok(Operation { interrupt, body, .. }) = Operation::parse(header) else { return };
        let Body::ConnectionAnswer { attributes, out_of_order, reject, slots, bufsize, key, max_stu } = body
        else {
            return;
        };
        let (attributes, defined) = Attributes::parse(attributes);
        let remote = Declared { port: header.s_port, key, slots, bufsize, max_stu, out_of_order, attributes };
        let waiting = self.by_port.get(&(header.d_port, header.d_key)).copied().filter(|id| {
            self.connections.get(id).is_some_and(|connection| match connection.state() {
                State::RcSent | State::Abandoned => true,
                State::RcReceived => false,
                // A repetition has the four values of the connection.
                _ => connection.remote().port == remote.port && (reject || connection.remote().key == key),
            })
        });
        let Some(id) = waiting else {
            let unexpected = Logged::Unexpected_Opcode_Error { unexpected_opcode_value: header.op };
            return self.device_log.push(now, unexpected);
        };
        let fresh = self.connections.get(&id).is_some_and(|connection| connection.state() == State::RcSent);
        if fresh {
            self.log_flags(now, header.d_port, header, body.mask(), defined);
        }
        self.with(now, id, |connection, cx| {
            connection.handle_ca(cx, from, remote, reject);
            if fresh {
                connection.deliver_extras(cx, header.op, extras_of(interrupt, payload));
            }
        });
    }

    fn handle_teardown(&mut self, now: u64, (from, interface): (Ula, u8), header: &Header) {
        let Ok(Operation { body, .. }) = Operation::parse(header) else { return };
        let id = self.by_port.get(&(header.d_port, header.d_key)).copied().filter(|id| {
            self.connections.get(id).is_some_and(|connection| match connection.state() {
                // The Port of the peer comes with its answer, which this has overtaken.
                State::RcSent => matches!(body, Body::RequestDisconnect { .. }),
                State::Abandoned => true,
                _ => connection.remote().port == header.s_port,
            })
        });
        if let Some(id) = id {
            self.with(now, id, |connection, cx| connection.handle_teardown(cx, from, header, &body));
            return;
        }
        // No such connection: the peer is let out with what it sent (10.6.1).
        let answer = match body {
            Body::RequestDisconnect { .. } => Body::DisconnectAnswer { key: header.d_key },
            Body::DisconnectAnswer { .. } => Body::DisconnectComplete { key: header.d_key },
            _ => return,
        };
        let operation = Operation {
            d_port: header.s_port,
            s_port: header.d_port,
            d_key: header.offset,
            interrupt: false,
            body: answer,
        };
        self.strays.push_back(Stray { to: from, interface, header: operation.header() });
    }
}
