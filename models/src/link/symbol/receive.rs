//! The receiving side: what arrives, and what it means for the fabric.

use super::Control;
use crate::event::{Cx, LinkStep, Payload, class};
use crate::observe::probe::Probe;
use crate::world::Fabric;
use lp_serial::control_symbol::{Cause, Stype1};
use lp_serial::link::{FlowControl, LinkEvent, OutputError, PacketMeta, Reception};
use sim_core::{EventList, Time};

impl<P: Probe> Fabric<P> {
    /// A symbol reaches `port`.
    pub(crate) fn symbol_arrives<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let now = cx.now().0;
        let peer = self.links.ports[port as usize].rx.peer;
        let sender = self.links.end(peer);
        // What was on a wire that broke is not there any more.
        let Some(n) = sender.flying.iter().position(|symbol| symbol.key == cx.key()) else { return };
        let symbol = sender.flying.remove(n).expect("found");
        let mut at_once = None;
        if symbol.damaged {
            self.links.end(port).suspect = true;
            self.links.tell_again(cx, peer);
            let pipeline = self.links.timings[self.links.ports[peer as usize].tx.timing as usize].pipeline;
            let device = self.links.ports[port as usize].rx.device;
            let key = self.links.key(device, now + pipeline, class::SYMBOL);
            let control = Control { key, symbol: None };
            if pipeline == 0 {
                self.take_in(cx, port, &control);
            } else {
                self.links.end(port).controls.push_back(control);
                cx.post(key, port, LinkStep::Control.pack());
            }
        } else {
            self.make_up(cx, port, self.links.ports[port as usize].tx.credit_waiting);
            let end = self.links.end(port);
            end.link.handle_stype0(now, symbol.symbol.stype0());
            end.calls = true;
            match symbol.control.map(|key| Control { key, symbol: Some(symbol.symbol) }) {
                Some(control) if control.key.time() > cx.now() => {
                    cx.post(control.key, port, LinkStep::Control.pack());
                    end.controls.push_back(control);
                }
                control => at_once = control,
            }
        }
        self.after_link_port(cx, port, true);
        if let Some(control) = at_once {
            // What follows from the first function comes before.
            self.take_in(cx, port, &control);
            self.after_link_port(cx, port, false);
        }
        self.links.try_leave(now, port);
    }

    /// The input side gets to a symbol that is damaged, or whose second function is no mere delimiter. (Those
    /// are told with the packets.)
    pub(super) fn control<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let end = self.links.end(port);
        let Some(n) = end.controls.iter().position(|control| control.key == cx.key()) else { return };
        let control = end.controls.remove(n).expect("found");
        self.take_in(cx, port, &control);
        self.after_link_port(cx, port, false);
    }

    fn take_in<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, control: &Control) {
        // A link-response is followed by what buffers are free.
        self.count(cx, port, false);
        let end = self.links.end(port);
        match control.symbol {
            Some(symbol) => {
                if symbol.stype1() == Stype1::Stomp {
                    end.link.handle_stype1(Stype1::StartOfPacket);
                }
                end.link.handle_stype1(symbol.stype1());
            }
            None => {
                end.absorb();
                end.link.handle_error(Cause::SymbolCrc);
            }
        }
        self.count(cx, port, false);
    }

    /// The input side gets to a damaged character of the idle sequence.
    pub(super) fn idle_damage<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let end = self.links.end(port);
        end.idle_errors -= 1;
        end.absorb();
        end.link.handle_error(Cause::IllegalCharacter);
        self.after_link_port(cx, port, false);
        let peer = self.links.ports[port as usize].rx.peer;
        self.links.tell_until_up(cx, peer);
    }

    /// A deadline of the link port.
    pub(super) fn deadline<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, generation: u32) {
        let now = cx.now();
        let device = self.links.ports[port as usize].rx.device;
        match self.links.end(port).timer.on_pop(now, generation) {
            sim_core::TimerPop::Fired => {}
            sim_core::TimerPop::Rearm(entry) => {
                let key = self.links.key(device, entry.at.0, class::SYMBOL);
                cx.post(key, port, LinkStep::Timer { generation: entry.generation }.pack());
                return;
            }
            sim_core::TimerPop::Stale => return,
        }
        if self.links.end(port).suspect {
            self.make_up(cx, port, false);
            let end = self.links.end(port);
            end.link.handle_timeout(now.0);
            end.calls = true;
            self.after_link_port(cx, port, false);
        }
    }

    /// The input side of `port` gets to a packet.
    pub(crate) fn packet_arrives<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        packet: u32,
        behind: u32,
    ) {
        let peer = self.links.ports[port as usize].rx.peer;
        let sender = self.links.end(peer);
        let Some(n) = sender.air.iter().position(|air| air.key == cx.key()) else { return };
        let air = sender.air.remove(n).expect("found");
        if air.void {
            self.links.end(port).stats.absorbed += u64::from(air.damaged);
            return;
        }
        if behind != 0 {
            // Cut-through: it is judged when its end is in, and on such links it is sound.
            self.links.end(port).unjudged.push_back(air.meta);
            self.arrive(cx, port, packet, behind);
            return;
        }
        self.count(cx, port, true);
        let end = self.links.end(port);
        if air.damaged {
            end.absorb();
        }
        let before = end.link.input();
        let reception = if air.headless {
            end.link.handle_error(Cause::IllegalCharacter);
            Reception::Discarded
        } else {
            end.link.handle_stype1(Stype1::StartOfPacket);
            let checked = if air.damaged { Err(Cause::PacketCrc) } else { Ok(()) };
            let reception = end.link.handle_packet(air.meta, air.ack_id, checked);
            end.link.handle_stype1(Stype1::EndOfPacket);
            reception
        };
        if air.meta.vc {
            self.judged_in_channel(cx, port, (packet, air.serial), (before, reception));
            return;
        }
        if !matches!(reception, Reception::Accepted { .. }) {
            self.count(cx, port, false);
            self.links.end(port).retell_mute();
            self.after_link_port(cx, port, false);
            return;
        }
        end.judged = true;
        if self.links.nodes.is_switch(port) {
            self.arrive(cx, port, packet, 0);
        } else {
            self.reach_endpoint(cx, port, packet, cx.now());
        }
    }

    /// The fabric has taken a packet in: its acknowledgement is due.
    #[cold]
    pub(crate) fn acknowledge<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let rx = &self.links.ports[port as usize].rx;
        let in_use = u16::from(rx.occupied.saturating_sub(rx.unaccepted));
        let end = self.links.end(port);
        if !std::mem::take(&mut end.judged) {
            let meta = end.unjudged.pop_front().unwrap_or(PacketMeta::new(3, 0));
            end.link.occupy(0, in_use.saturating_sub(1));
            end.link.handle_stype1(Stype1::StartOfPacket);
            let reception = end.link.handle_packet(meta, end.link.expected_ack_id(), Ok(()));
            end.link.handle_stype1(Stype1::EndOfPacket);
            assert!(
                matches!(reception, Reception::Accepted { .. }),
                "a packet cut through cannot be refused"
            );
        }
        self.count(cx, port, false);
        self.links.end(port).link.retell(0);
        self.after_link_port(cx, port, false);
        self.tell_releases(cx, port);
    }

    /// A receive buffer of `port` is free again, and the partner should know.
    #[cold]
    pub(crate) fn release_told<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let rx = &self.links.ports[port as usize].rx;
        let in_use = u16::from(rx.occupied.saturating_sub(rx.unaccepted));
        let unsent = rx.wire.status_unsent(cx.now().0, self.links.timings[rx.timing as usize].wire);
        let end = self.links.end(port);
        if end.mute {
            return;
        }
        end.link.occupy(0, in_use + 1);
        if unsent || end.link.flow() == FlowControl::Receiver || !end.link.is_up() {
            end.link.release(0);
        } else {
            // The wire has gone on from the last function: it is too late to add to that.
            end.link.occupy(0, in_use);
            end.link.tell();
        }
        self.after_link_port(cx, port, false);
        self.tell_releases(cx, port);
    }

    /// The link port learns how many buffers are in use; `truly`: even if it must not tell.
    pub(super) fn count<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, truly: bool) {
        if self.links.nodes.is_switch(port) {
            let s = self.links.nodes.switch(port);
            let input = port - self.switches[s].base;
            if self.switches[s].reads_of[input as usize].outputs != 0 {
                self.prune(s, input, cx.key());
            }
        }
        let rx = &self.links.ports[port as usize].rx;
        let in_use = u16::from(rx.occupied.saturating_sub(rx.unaccepted));
        let total = u16::from(rx.buffers);
        let end = self.links.end(port);
        let mute = end.mute && !truly;
        end.link.occupy(0, if mute { total } else { in_use });
        end.count_channels(mute);
    }

    /// Creations come before what changes the credit that they would find: those before now, or also those of
    /// now if somebody waits for the change.
    pub(super) fn make_up<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32, waits: bool) {
        if !self.links.nodes.is_switch(port)
            && (waits || self.links.ports[port as usize].tx.clock.blocked() != 0)
        {
            let e = self.links.nodes.endpoint(port);
            if let Some(until) = cx.now().0.checked_sub(u64::from(!waits)) {
                self.materialise(cx, e, until);
            }
        }
    }

    /// The link port of `port` has met something: what follows from it. `heard`: a symbol, which may change
    /// the credit that somebody waits for.
    pub(super) fn after_link_port<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: u32,
        heard: bool,
    ) {
        self.drain(cx, port);
        let opened = self.sync(cx, port);
        self.links.arrange(cx, port);
        let rx = &mut self.links.ports[port as usize].rx;
        let advertised = self.links.ends[port as usize].as_ref().map(|end| end.link.buffers(0).advertised());
        rx.advertised = advertised.expect("the link runs in symbol granularity") as u8;
        let tx = &mut self.links.ports[port as usize].tx;
        if (heard && tx.credit_waiting) || opened {
            tx.credit_waiting = false;
            if self.links.nodes.is_switch(port) {
                self.try_output(cx, port);
            } else {
                let e = self.links.nodes.endpoint(port);
                self.endpoint_turn(cx, e);
            }
        }
    }

    /// Takes out what the link port reports.
    pub(super) fn drain<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        let now = cx.now().0;
        while let Some(event) = self.links.end(port).link.poll_event() {
            let end = self.links.end(port);
            match event {
                LinkEvent::Acknowledged(serial) => {
                    end.refused = false;
                    let lost = end.held.iter().find(|held| held.serial == serial && held.unsettled);
                    let lost = lost.map(|held| held.packet);
                    end.held.retain(|held| held.serial != serial);
                    if let Some(packet) = lost {
                        self.links.lost_on_link(cx, port, packet);
                    }
                }
                LinkEvent::InputRetry => end.stats.retries += 1,
                LinkEvent::InputError(_) => {
                    end.stats.not_accepted += 1;
                    end.suspect = true;
                }
                LinkEvent::OutputError(error) => {
                    end.stats.timeouts += u64::from(matches!(error, OutputError::Timeout(_)));
                    end.suspect = true;
                }
                LinkEvent::Recovered(_) => {
                    end.stats.recoveries += 1;
                    self.link_recovered(cx, port);
                }
                LinkEvent::Up(_) => {
                    if let Some(since) = end.down_since.take() {
                        end.stats.down_ps += now - since;
                    }
                    self.link_initialised(cx, port);
                }
                LinkEvent::Down => end.stats.downs += 1,
                LinkEvent::OutputRetry => end.refused = true,
                LinkEvent::Withdrawn(_)
                | LinkEvent::Fatal(_)
                | LinkEvent::MulticastEvent
                | LinkEvent::ResetRequested => {}
            }
        }
    }

    /// What the fabric knows of the credit of `port` is what its link port knows. Whether a priority that
    /// could not start now can.
    pub(super) fn sync<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) -> bool {
        let now = cx.now().0;
        let end = self.links.ends[port as usize].as_ref().expect("the link runs in symbol granularity");
        let normal = end.is_normal();
        let outstanding = (end.link.outstanding() + end.link.waiting()) as u16;
        let in_vc0 = end.outstanding_in_vc0();
        let credit = end.link.credit(0);
        let receiver = end.link.flow() == FlowControl::Receiver;
        let free = if receiver { i16::MAX / 2 } else { credit.last_told() as i16 - in_vc0 as i16 };
        let timing = &self.links.timings[self.links.ports[port as usize].tx.timing as usize];
        let gate = if normal {
            timing.blocked(free, outstanding)
        } else {
            let may = |p: u8| now >= end.resumes && end.link.would_start(PacketMeta::new(p, 0));
            (0..4).fold(0, |gate, p| if may(p) { gate } else { gate | 1 << p })
        };
        let gate = u16::from(gate) | end.channel_gate(normal, timing.ack_window);
        let idle = normal && end.link.outstanding() == 0;
        let recovering = self.links.ports[port as usize].tx.clock.is_recovering();
        if recovering == normal || gate != self.links.ports[port as usize].tx.clock.blocked() {
            self.make_up_past(cx, port);
        }
        if idle && self.links.end(port).link.input() == lp_serial::link::InputState::Normal {
            self.links.end(port).suspect = false;
        }
        let tx = &mut self.links.ports[port as usize].tx;
        let before = tx.clock.blocked();
        (tx.free, tx.outstanding) = (free, outstanding);
        if recovering && normal {
            tx.clock.end_recovery(now, tx.done.time().0, tx.waiting > 0);
        } else if !recovering && !normal {
            tx.clock.begin_recovery(now);
        }
        tx.clock.set_gate(now, gate);
        before & !gate != 0
    }

    fn make_up_past<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: u32) {
        if !self.links.nodes.is_switch(port) && cx.now() != Time::ZERO {
            let e = self.links.nodes.endpoint(port);
            self.materialise(cx, e, cx.now().0 - 1);
        }
    }
}
