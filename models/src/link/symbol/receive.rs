//! The receiving side: what arrives, and what it means for the fabric.

use super::{Control, Flying, Judged, News};
use crate::event::{Cx, LinkStep, Payload, class};
use crate::ids::PortId;
use crate::link::Links;
use crate::link::port::Port;
use crate::observe::Build;
use crate::observe::probe::{DropReason, Timeout, TimeoutKind};
use lp_serial::control_symbol::{Cause, Stype1};
use lp_serial::link::{FlowControl, InputState, LinkEvent, LinkTimer, OutputError, PacketMeta, Reception};
use sim_core::{EventKey, EventList, Time};

impl<P: Build> Links<P> {
    /// The output side of `port` hears a symbol; what creations find has been made up. The key of its second
    /// function, if the input side gets to it now: after all that follows from the first.
    pub fn receive_symbol<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        symbol: &Flying,
    ) -> Option<EventKey> {
        let now = cx.now().0;
        if symbol.damaged {
            self.end(port).suspect = true;
            self.ask_again(cx, port);
            let pipeline = self.arriving(port).pipeline;
            let device = self.ports[port.index()].link.device;
            let key = self.key(device, now + pipeline, class::SYMBOL);
            let control = Control { key, symbol: None };
            if pipeline == 0 {
                self.take_in(port, &control);
            } else {
                self.end(port).controls.push_back(control);
                cx.post(key, port.into(), LinkStep::Control.pack());
            }
            return None;
        }
        let end = self.end(port);
        end.link.handle_stype0(now, symbol.symbol.stype0());
        end.calls = true;
        let key = symbol.control?;
        end.controls.push_back(Control { key, symbol: Some(symbol.symbol) });
        if key.time() == cx.now() {
            return Some(key);
        }
        cx.post(key, port.into(), LinkStep::Control.pack());
        None
    }

    /// The input side gets to a symbol that is damaged, or whose second function is no mere delimiter. (Those
    /// are told with the packets.) Whether it still does.
    pub fn control(&mut self, key: EventKey, port: PortId) -> bool {
        let end = self.end(port);
        let Some(n) = end.controls.iter().position(|control| control.key == key) else { return false };
        let control = end.controls.remove(n).expect("found");
        self.take_in(port, &control);
        true
    }

    fn take_in(&mut self, port: PortId, control: &Control) {
        // A link-response is followed by what buffers are free.
        self.count(port, false);
        let end = self.end(port);
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
        self.count(port, false);
    }

    /// The input side gets to a damaged character of the idle sequence.
    pub fn idle_damage(&mut self, port: PortId) {
        let end = self.end(port);
        end.idle_errors -= 1;
        end.absorb();
        end.link.handle_error(Cause::IllegalCharacter);
    }

    /// Whether this is a deadline of the link port, and matters.
    pub fn is_deadline<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        generation: u32,
    ) -> bool {
        let device = self.ports[port.index()].link.device;
        match self.end(port).timer.on_pop(cx.now(), generation) {
            sim_core::TimerPop::Fired => self.end(port).suspect,
            sim_core::TimerPop::Rearm(entry) => {
                let key = self.key(device, entry.at.0, class::SYMBOL);
                cx.post(key, port.into(), LinkStep::Timer { generation: entry.generation }.pack());
                false
            }
            sim_core::TimerPop::Stale => false,
        }
    }

    /// A deadline of the link port is over.
    pub fn time_out(&mut self, now: u64, port: PortId) {
        let end = self.end(port);
        end.link.handle_timeout(now);
        end.calls = true;
    }

    /// The input side of `port` gets to a packet: what its link port says. What is read there has been taken
    /// note of.
    pub fn judge<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        packet: u32,
        behind: u32,
    ) -> Judged {
        let Some(air) = self.take_flight(cx.key(), port) else { return Judged::Gone };
        if air.void {
            self.end(port).stats.absorbed += u64::from(air.damaged);
            return Judged::Gone;
        }
        if behind != 0 {
            // Cut-through: it is judged when its end is in, and on such links it is sound.
            self.end(port).unjudged.push_back(air.meta);
            return Judged::Accepted;
        }
        self.count(port, true);
        let end = self.end(port);
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
            return self.judged_in_channel(cx, port, (packet, air.serial), (before, reception));
        }
        if !matches!(reception, Reception::Accepted { .. }) {
            self.count(port, false);
            self.end(port).retell_withheld();
            return Judged::Refused;
        }
        end.judged = true;
        Judged::Accepted
    }

    /// The fabric has taken a packet in: its acknowledgement is due.
    #[cold]
    pub fn acknowledge(&mut self, port: PortId) {
        let rx = &self.ports[port.index()].rx;
        let in_use = u16::from(rx.in_use());
        let end = self.end(port);
        end.told_early = false;
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
        self.count(port, false);
        self.end(port).link.retell(0);
    }

    /// A receive buffer of `port` is free again, and the partner should know. Whether it may.
    #[cold]
    pub fn tell_release(&mut self, now: u64, port: PortId) -> bool {
        let Port { link, rx, .. } = &self.ports[port.index()];
        let in_use = u16::from(rx.in_use());
        let unsent = link.wire.status_unsent(now, self.timings[link.timing as usize].wire);
        let end = self.end(port);
        if end.withholds {
            return false;
        }
        end.link.occupy(0, in_use + 1);
        if unsent || end.link.flow() == FlowControl::Receiver || !end.link.is_up() {
            end.link.release(0);
        } else {
            // The wire has gone on from the last function: it is too late to add to that.
            end.link.occupy(0, in_use);
            end.link.tell();
        }
        true
    }

    /// The news of the link port of `port` have been carried out: what the fabric knows of the credit is what
    /// the link port knows, and what is due gets its place. `heard`: a symbol, which may change the credit
    /// that somebody waits for. Whether who waits may go on.
    pub fn settle_end<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        heard: bool,
    ) -> bool {
        let recovering = self.ports[port.index()].tx.clock.is_recovering();
        // A symbol that gives credit to whom nobody waits for changes no choice, and so makes none.
        let opened = self.sync(cx.now().0, port) && (recovering || !heard);
        self.arrange(cx, port);
        let rx = &mut self.ports[port.index()].rx;
        let advertised = self.ends[port.index()].as_ref().map(|end| end.link.buffers(0).advertised());
        rx.advertised = advertised.expect("the link runs in symbol granularity") as u8;
        let tx = &mut self.ports[port.index()].tx;
        let goes_on = (heard && tx.credit_waiting) || opened;
        tx.credit_waiting &= !goes_on;
        goes_on
    }

    /// Takes out what the link port reports, up to something that the device has to act on.
    pub fn next_news<L: EventList<Payload>>(&mut self, cx: &mut Cx<'_, L>, port: PortId) -> Option<News> {
        let now = cx.now().0;
        while let Some(event) = self.end(port).link.poll_event() {
            let end = self.end(port);
            match event {
                LinkEvent::Acknowledged(serial) => {
                    (end.refused, end.troubled_since) = (false, None);
                    let lost = end.held.iter().find(|held| held.serial == serial && held.unsettled);
                    let lost = lost.map(|held| held.packet);
                    end.held.retain(|held| held.serial != serial);
                    if let Some(packet) = lost {
                        self.lost_on_link(cx, port, packet);
                    }
                }
                LinkEvent::InputRetry => end.stats.retries += 1,
                LinkEvent::InputError(_) => {
                    end.stats.not_accepted += 1;
                    end.suspect = true;
                }
                LinkEvent::OutputError(error) => {
                    end.suspect = true;
                    end.note_error(now, error);
                    if let OutputError::Timeout(timer) = error {
                        end.stats.timeouts += 1;
                        let kind = match timer {
                            LinkTimer::Acknowledgement => TimeoutKind::Acknowledgement,
                            LinkTimer::LinkResponse => TimeoutKind::LinkResponse,
                            LinkTimer::Status | LinkTimer::VcRefresh => TimeoutKind::Status,
                        };
                        let device = self.ports[port.index()].link.device;
                        self.observe.probe.timeout(&Timeout { at: Time(now), flow: None, device, kind });
                    }
                }
                LinkEvent::Recovered(_) => {
                    end.stats.recoveries += 1;
                    if !end.has_sent() {
                        // It goes on, and nothing has been lost.
                        end.troubled_since = None;
                    }
                    return Some(News::Recovered);
                }
                LinkEvent::Up(_) => {
                    let down = end.down_for(now);
                    end.down_since = None;
                    end.stats.down_ps += down;
                    // While a link is down that says itself why nothing gets through.
                    end.troubled_since = end.troubled_since.map(|since| since + down);
                    end.troubled_since = end.troubled_since.filter(|_| end.has_sent());
                    return Some(News::Initialised);
                }
                LinkEvent::Down => end.stats.downs += 1,
                LinkEvent::OutputRetry => end.refused = true,
                LinkEvent::Withdrawn(_)
                | LinkEvent::Fatal(_)
                | LinkEvent::MulticastEvent
                | LinkEvent::ResetRequested => {}
            }
        }
        None
    }

    /// The link port of `port` has judged a packet of a channel. The channel, if the device takes the packet
    /// now.
    fn judged_in_channel<L: EventList<Payload>>(
        &mut self,
        cx: &mut Cx<'_, L>,
        port: PortId,
        (packet, serial): (u32, u32),
        (before, reception): (InputState, Reception),
    ) -> Judged {
        let priority = self.packets[packet].priority;
        let channel = self.channels_mut(port).of(priority);
        match reception {
            Reception::Accepted { .. } => {
                self.settle_held(port, serial);
                // In the error-stopped state nothing is acknowledged.
                self.end(port).judged = before != InputState::ErrorStopped;
                return Judged::AcceptedInChannel(channel);
            }
            Reception::Lost => {
                self.settle_held(port, serial);
                self.end(port).stats.lost_no_room += 1;
                let flow = self.packets[packet].flow;
                self.drop_packet(cx, packet, port, flow, DropReason::NoRoom);
                self.tell_of_channel(port, Some(channel));
            }
            Reception::Discarded => self.tell_of_channel(port, None),
        }
        Judged::Refused
    }

    /// A packet of a channel has been taken in, or not: the neighbour learns of the buffers of the channel
    /// that it was for, if there is something to tell.
    pub fn tell_of_channel(&mut self, port: PortId, channel: Option<u8>) {
        let end = self.end(port);
        (end.judged, end.told_early) = (false, false);
        self.count(port, false);
        if let Some(channel) = channel {
            self.end(port).link.retell(channel);
        }
    }
}
