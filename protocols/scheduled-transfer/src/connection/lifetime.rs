//! Set-up and teardown of a connection (5.1, 2.3.1).

use super::{Connection, Context, Declared, Extras, State, Timer};
use crate::errors::Logged;
use crate::event::{ConnectionId, Event, Failure, Outcome};
use crate::llp::Ula;
use crate::memory::BufferTable;
use crate::slots::{Class, Gate, UNCOUNTED};
use crate::wire::{Body, Header};
use alloc::vec::Vec;

impl Connection {
    /// This end asks for a connection to well-known Port `port` of the device at `peer`.
    pub(crate) fn connect<M>(
        cx: &mut Context<'_, M>,
        id: ConnectionId,
        local: Declared,
        (peer, interface): (Ula, u8),
        (port, ether_type): (u16, u16),
        extras: Extras,
    ) -> Self {
        // Until Connection_Answer the peer is known by its well-known Port alone.
        let remote = Declared { port, slots: UNCOUNTED, ..Declared::default() };
        let mut connection = Self::new(id, local, remote, peer, interface, cx.config);
        connection.ether_type = ether_type;
        connection.extras = extras;
        connection.send_rc(false);
        connection
    }

    /// A peer asked for a connection; the parameters are legal.
    pub(crate) fn incoming<M>(
        cx: &mut Context<'_, M>,
        id: ConnectionId,
        local: Declared,
        remote: Declared,
        (peer, interface): (Ula, u8),
        (port, ether_type): (u16, u16),
    ) -> Self {
        let mut connection = Self::new(id, local, remote, peer, interface, cx.config);
        connection.state = State::RcReceived;
        connection.ether_type = ether_type;
        connection.asked_port = port;
        // By then the peer has given up; an upper layer that never decides holds nothing for ever.
        connection.timers.set(Timer::Connection, cx.after(cx.config.quarantine()));
        cx.events.push_back((id, Event::Incoming { port, ether_type }));
        connection
    }

    fn send_rc(&mut self, again: bool) {
        let Declared { slots, bufsize, key, max_stu, out_of_order, attributes, .. } = self.local;
        let body = Body::RequestConnection {
            attributes: attributes.bits(),
            out_of_order,
            slots,
            ether_type: self.ether_type,
            bufsize,
            key,
            max_stu,
        };
        let extras = self.extras;
        let queued = self.push(Class::Free, body).with_extras(extras).arming(Timer::Connection);
        queued.again = again;
        // D_Key is not known yet.
        queued.header.d_key = 0;
    }

    fn send_ca(&mut self) {
        let Declared { slots, bufsize, key, max_stu, out_of_order, attributes, .. } = self.local;
        let body = Body::ConnectionAnswer {
            attributes: attributes.bits(),
            out_of_order,
            reject: false,
            slots,
            bufsize,
            key,
            max_stu,
        };
        let extras = self.extras;
        self.push(Class::Response, body).with_extras(extras);
    }

    /// The upper layer accepts an incoming connection; whether it could.
    pub(crate) fn accept<M>(&mut self, cx: &mut Context<'_, M>, extras: Extras) -> bool {
        if self.state != State::RcReceived {
            return false;
        }
        self.timers.clear(Timer::Connection);
        self.state = State::Open;
        self.extras = extras;
        self.send_ca();
        cx.events.push_back((self.id, Event::Opened));
        true
    }

    /// Request_Connection came again for this connection.
    pub(crate) fn handle_repeated_rc(&mut self) {
        let waiting =
            self.queue.iter().any(|queued| queued.header.op == crate::wire::Op::ConnectionAnswer as u8);
        if self.state == State::Open && !self.heard && !waiting {
            self.send_ca();
        }
    }

    /// Connection_Answer for the Request_Connection of this connection.
    pub(crate) fn handle_ca<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        from: Ula,
        remote: Declared,
        reject: bool,
    ) {
        match self.state {
            State::RcSent if reject => {
                self.timers.clear(Timer::Connection);
                self.finish(cx, Outcome::Failed(Failure::Rejected));
                self.timers.clear_all();
                self.queue.clear();
                // Nothing of a rejected connection is left at the peer.
                self.state = State::TimeWait;
                self.timers.set(Timer::Connection, cx.after(cx.config.quarantine()));
            }
            State::RcSent => {
                self.timers.clear(Timer::Connection);
                self.queue.clear();
                self.peer = from;
                self.remote = remote;
                self.gate = Gate::new(remote.slots);
                self.retries = 0;
                if !remote.has_legal_bufsize() {
                    cx.log(Logged::Illegal_Bufsize_Error);
                } else if !remote.has_legal_max_stu() {
                    cx.log.counters_mut().illegal_max_stu += 1;
                } else {
                    self.state = State::Open;
                    self.heard = true;
                    cx.events.push_back((self.id, Event::Opened));
                    return;
                }
                self.state = State::RdSent;
                self.send_rd();
            }
            State::Abandoned if !reject => {
                self.peer = from;
                self.remote = remote;
                self.gate = Gate::new(UNCOUNTED);
                // The peer is open: it is taken down under guard, or it stays so for ever.
                self.retries = 0;
                self.state = State::RdSent;
                self.send_rd();
            }
            // A repetition of the answer, or one that nobody waits for any more.
            _ => {}
        }
    }

    /// It may leave at view 0: who takes down asks for no Slots, and would wait for ever. The peer takes it
    /// in any case (ST-D48: teardown cannot be blocked).
    fn send_rd(&mut self) {
        let key = self.local.key;
        let queued = self.push(Class::Reserve, Body::RequestDisconnect { key }).arming(Timer::Connection);
        queued.again = true;
    }

    fn send_da(&mut self, arm: bool) {
        let key = self.local.key;
        let queued = self.push(Class::Response, Body::DisconnectAnswer { key });
        if arm {
            queued.arm = Some(Timer::Connection);
        }
    }

    fn send_dc(&mut self) {
        let key = self.local.key;
        self.push(Class::Response, Body::DisconnectComplete { key });
    }

    /// The upper layer wants the connection gone.
    pub(crate) fn disconnect<M>(&mut self, cx: &mut Context<'_, M>) {
        match self.state {
            State::Open if self.owes_more_than_slots() => {
                // It is asked for more Slots as long as it is open.
                self.closing = true;
                self.retries = 0;
            }
            State::Open => self.take_down(cx),
            State::RcSent => {
                self.abandon(cx);
                self.finish(cx, Outcome::Failed(Failure::Aborted));
            }
            _ => {}
        }
    }

    /// Whether what is owed needs more Slots than this end knows of: answers may leave at view 0, but what
    /// completes a FetchOp leaves the last Slot (ST-5.2.5-4).
    fn owes_more_than_slots(&self) -> bool {
        let owed = || self.queue.iter().filter(|queued| queued.owed);
        owed().any(|queued| queued.class != Class::Response)
            && usize::from(self.gate.view()) <= owed().count()
    }

    fn take_down<M>(&mut self, cx: &mut Context<'_, M>) {
        // What has arrived is answered first: its source waits for that (ST-6.1.3-10).
        let all = !self.owes_more_than_slots();
        let mut owed = core::mem::take(&mut self.queue);
        owed.retain(|queued| queued.owed && (queued.class == Class::Response || all));
        self.abort_all(cx);
        self.queue = owed;
        self.closing = false;
        self.retries = 0;
        self.state = State::RdSent;
        self.send_rd();
    }

    /// The upper layer wants the connection gone, and something has left: what is owed may have.
    pub(super) fn close_when_even<M>(&mut self, cx: &mut Context<'_, M>) {
        if self.closing && self.is_open() && !self.owes_more_than_slots() {
            self.take_down(cx);
        }
    }

    /// The upper layer wants the connection gone, and another question for Slots has found no answer: at some
    /// time nobody will answer.
    pub(super) fn close_in_time<M>(&mut self, cx: &mut Context<'_, M>) {
        if self.closing && self.is_open() {
            self.retries += 1;
            if self.retries > cx.config.max_retry {
                self.take_down(cx);
            }
        }
    }

    fn abandon<M>(&mut self, cx: &mut Context<'_, M>) {
        self.queue.clear();
        self.state = State::Abandoned;
        self.timers.clear_all();
        self.timers.set(Timer::Connection, cx.after(cx.config.quarantine()));
    }

    /// Tells the upper layer that it is over, once: what was given up is taken down in silence.
    fn finish<M>(&mut self, cx: &mut Context<'_, M>, outcome: Outcome) {
        if !core::mem::replace(&mut self.closed, true) {
            cx.events.push_back((self.id, Event::Closed(outcome)));
        }
    }

    /// Every sequence ends without a word; teardown says it all (5.1.2).
    fn abort_all<M>(&mut self, cx: &mut Context<'_, M>) {
        let live: Vec<u32> = self.sequences.keys().copied().collect();
        self.queue.clear();
        for id in live {
            self.fail(cx, id, Failure::Disconnected);
        }
        self.sequences.clear();
        self.requests.clear();
        self.questions.clear();
        self.queue.clear();
        self.outgoing.clear();
        self.timers.clear_all();
        self.buffers = BufferTable::new(self.local.bufsize, 0x100);
    }

    fn time_wait<M>(&mut self, cx: &mut Context<'_, M>) {
        self.state = State::TimeWait;
        self.queue.retain(|queued| queued.class == Class::Response);
        self.timers.clear_all();
        self.timers.set(Timer::Connection, cx.after(cx.config.quarantine()));
    }

    /// Request_Disconnect, Disconnect_Answer or Disconnect_Complete of this connection.
    pub(crate) fn handle_teardown<M>(
        &mut self,
        cx: &mut Context<'_, M>,
        from: Ula,
        header: &Header,
        body: &Body,
    ) {
        self.peer = from;
        let op = header.op;
        match (self.state, body) {
            (State::Open, Body::RequestDisconnect { .. }) => {
                self.abort_all(cx);
                self.finish(cx, Outcome::Complete);
                self.retries = 0;
                self.state = State::DaSent;
                self.send_da(true);
            }
            (State::RdSent, Body::RequestDisconnect { .. }) => {
                self.state = State::Glare { got_da: false, got_dc: false };
                self.send_da(false);
            }
            (State::RdSent, Body::DisconnectAnswer { .. }) => {
                self.send_dc();
                self.finish(cx, Outcome::Complete);
                self.time_wait(cx);
            }
            (State::Glare { got_da, got_dc }, _) => {
                let (mut da, mut dc) = (got_da, got_dc);
                match body {
                    Body::DisconnectAnswer { .. } => {
                        self.queue.retain(|queued| queued.class == Class::Response);
                        self.send_dc();
                        da = true;
                    }
                    Body::DisconnectComplete { .. } => dc = true,
                    _ => self.send_da(false),
                }
                if da && dc {
                    self.finish(cx, Outcome::Complete);
                    self.time_wait(cx);
                } else {
                    self.state = State::Glare { got_da: da, got_dc: dc };
                    if da && !got_da {
                        self.timers.set(Timer::Connection, cx.after(cx.config.quarantine()));
                    }
                }
            }
            (State::DaSent, Body::RequestDisconnect { .. }) => self.send_da(true),
            (State::DaSent, Body::DisconnectComplete { .. }) => self.time_wait(cx),
            (State::TimeWait, Body::RequestDisconnect { .. }) => self.send_da(false),
            (State::TimeWait, Body::DisconnectAnswer { .. }) => self.send_dc(),
            // Its Connection_Answer was lost or is still on its way; Port and Key come with the teardown.
            // That answer opens nothing any more (ST-5.1.2-9).
            (State::RcSent | State::Abandoned, &Body::RequestDisconnect { key }) => {
                self.queue.clear();
                self.timers.clear(Timer::Connection);
                if self.state == State::RcSent {
                    // It was open at the other end.
                    cx.events.push_back((self.id, Event::Opened));
                }
                self.finish(cx, Outcome::Complete);
                self.remote = Declared { port: header.s_port, key, ..self.remote };
                self.gate = Gate::new(UNCOUNTED);
                self.retries = 0;
                self.state = State::DaSent;
                self.send_da(true);
            }
            (State::Open | State::RcSent | State::RcReceived, _) => {
                cx.log(Logged::Unexpected_Opcode_Error { unexpected_opcode_value: op });
            }
            (State::Abandoned, &Body::DisconnectAnswer { key }) => {
                self.remote = Declared { port: header.s_port, key, ..self.remote };
                self.send_dc();
            }
            _ => {}
        }
    }

    pub(super) fn connection_expired<M>(&mut self, cx: &mut Context<'_, M>) -> bool {
        match self.state {
            State::RcSent => {
                if Self::expired(cx, &mut self.retries) {
                    self.send_rc(true);
                } else {
                    self.abandon(cx);
                    self.finish(cx, Outcome::Failed(Failure::Timeout));
                }
            }
            State::RdSent | State::Glare { got_da: false, .. } => {
                if Self::expired(cx, &mut self.retries) {
                    self.send_rd();
                } else {
                    self.finish(cx, Outcome::Failed(Failure::Timeout));
                    self.time_wait(cx);
                }
            }
            State::Glare { got_da: true, .. } => {
                self.finish(cx, Outcome::Complete);
                self.time_wait(cx);
            }
            State::DaSent => {
                if Self::expired(cx, &mut self.retries) {
                    self.send_da(true);
                } else {
                    self.time_wait(cx);
                }
            }
            State::TimeWait | State::Abandoned => return true,
            State::RcReceived => {
                self.finish(cx, Outcome::Failed(Failure::Timeout));
                return true;
            }
            State::Open => {}
        }
        false
    }
}
