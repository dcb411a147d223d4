//! Persistent regions: the application puts into a region of each peer, gets from it, or increments a word of
//! it.
//!
//! A region for Puts has a place for each Put that may be on its way; Put n goes to place n modulo their
//! number, and begins when the one before it there is over. So its owner knows where to look when it has
//! arrived. All who get a region get the same octets. All who increment (decrement, clear) a word of a peer
//! do so with the same word, over one region each; [`super::audit`] looks whether that was atomic.

use super::ledger::{Begun, Found, Look, Running, Stage};
use super::{Ended, Transfer, channel};
use crate::agent::data::word;
use crate::agent::protocol::Cx;
use crate::config::Operation;
use crate::observe::probe::ProtocolFact;
use scheduled_transfer::event::Event;
use scheduled_transfer::wire::Function;
use scheduled_transfer::{ConnectionId, Failure, Memory, Span};
use std::collections::BTreeMap;

/// Octets of a word.
pub(super) const WORD: u64 = 8;

/// Regions of a connection.
#[derive(Debug, Default)]
pub(super) struct Regions {
    /// That of the peer: its id, and whether it can be used.
    peer: Option<(u32, bool)>,
    /// Puts that are not over.
    pub puts: BTreeMap<u64, Running>,
    /// The Put that comes next.
    next: u64,
    /// Those of this end, by id.
    own: BTreeMap<u32, Span>,
}

impl Regions {
    /// Whether this end has such a region.
    pub fn has(&self, id: u32) -> bool {
        self.own.contains_key(&id)
    }

    /// Whether a region, that of the peer or one of this end, is not over.
    pub fn is_on(&self, id: u32) -> bool {
        self.has(id) || self.peer.is_some_and(|(region, _)| region == id)
    }
}

impl Transfer {
    /// Places for Puts in a region.
    pub(super) fn places(&self) -> u64 {
        self.config.job.concurrent.into()
    }

    /// Octets of a place for a Put.
    fn place_octets(&self) -> u64 {
        self.config.job.bytes.next_multiple_of(WORD)
    }

    fn region_octets(&self) -> u64 {
        let job = &self.config.job;
        match job.operation {
            Operation::Put => self.place_octets() * self.places(),
            Operation::FetchOp => WORD,
            _ => job.bytes,
        }
    }

    /// Begins own operations up to the limit; takes the connection down when all are over.
    pub(super) fn begin_in_region(&mut self, cx: &mut Cx<'_>, id: ConnectionId) {
        let job = self.config.job;
        let octets = self.region_octets();
        loop {
            let Some(link) = self.links.get_mut(&id).filter(|link| link.own.is_some()) else { return };
            let own = link.own_running();
            if link.begun == job.count {
                return self.all_begun(cx.now, id, own);
            }
            let Some((region, ready)) = link.regions.peer else {
                let (channel, extras) = (channel(&job), job.extras);
                let asked = self.endpoint.request_region(cx.now, id, octets, channel, extras);
                link.regions.peer = asked.map(|region| (region, false));
                return;
            };
            let first = link.regions.puts.first_key_value().map(|(&put, _)| put);
            let taken = first.is_some_and(|first| first + u64::from(job.concurrent) <= link.regions.next);
            if !ready || taken || own >= job.concurrent as usize {
                return;
            }
            let begun = match job.operation {
                Operation::Put => {
                    let tag = self.name();
                    let span = self.endpoint.memory_mut().source(tag, job.bytes);
                    self.put(cx, id, Running::outgoing(span, tag).begun(cx.fabric_now))
                }
                Operation::FetchOp => self.fetch(cx, id, region),
                _ => {
                    let span = self.endpoint.memory_mut().destination(job.bytes);
                    let got = self.endpoint.get(cx.now, id, (region, 0), span, job.extras);
                    let running = Running::incoming(span).begun(cx.fabric_now);
                    self.is_running(id, got, Running { stage: Stage::Got, ..running })
                }
            };
            if !begun {
                return;
            }
            self.ledger.begun(cx.fabric_now);
            if let Some(link) = self.links.get_mut(&id) {
                link.begun += 1;
            }
        }
    }

    fn put(&mut self, cx: &mut Cx<'_>, id: ConnectionId, running: Running) -> bool {
        let (places, octets) = (self.places(), self.place_octets());
        let options = self.options();
        let Some(link) = self.links.get_mut(&id) else { return false };
        let Some((region, _)) = link.regions.peer else { return false };
        let offset = link.regions.next % places * octets;
        let Some(put) = self.endpoint.put(cx.now, id, (region, offset), running.span, options) else {
            self.endpoint.memory_mut().free(running.span);
            return false;
        };
        link.regions.next = put + 1;
        self.ledger.puts.extend(link.own.map(|to| Begun { to, put, tag: running.tag }));
        link.regions.puts.insert(put, running);
        true
    }

    fn fetch(&mut self, cx: &mut Cx<'_>, id: ConnectionId, region: u32) -> bool {
        let span = self.endpoint.memory_mut().destination(WORD);
        let (function, extras) = (self.config.job.function, self.config.job.extras);
        let to = (region, 0);
        let fetch = self.endpoint.fetch_op(cx.now, id, to, function, span.address, extras);
        let running = Running::outgoing(span, 0).begun(cx.fabric_now);
        let begun = self.is_running(id, fetch, Running { stage: Stage::Fetch, ..running });
        if let Some(peer) = self.links.get(&id).and_then(|link| link.own).filter(|_| begun) {
            self.ledger.fetches.entry(peer).or_default().begun += 1;
        }
        begun
    }

    /// The word of this end, which begins as 0; one that is cleared begins as 1, or there is nothing to
    /// clear.
    fn counter(&mut self) -> Span {
        if let Some(span) = self.counter {
            return span;
        }
        let memory = self.endpoint.memory_mut();
        let span = memory.destination(WORD);
        if self.config.job.function == Function::Clear {
            memory.write(span.address, &self.config.octets_of(1));
        }
        self.counter = Some(span);
        span
    }

    /// A peer wants a region.
    pub(super) fn region_requested(&mut self, cx: &Cx<'_>, connection: ConnectionId, id: u32, octets: u64) {
        if octets != self.region_octets() || !self.config.job.operation.is_in_region() {
            self.endpoint.refuse(cx.now, connection, id);
            return;
        }
        let span = match self.config.job.operation {
            Operation::FetchOp => self.counter(),
            Operation::Get => {
                let tag = self.name();
                self.endpoint.memory_mut().source(tag, octets)
            }
            _ => self.endpoint.memory_mut().destination(octets),
        };
        if self.endpoint.grant(cx.now, connection, id, span)
            && let Some(link) = self.links.get_mut(&connection)
        {
            link.regions.own.insert(id, span);
            self.plan_end(cx.fabric_now, connection, id, false);
        } else if self.counter != Some(span) {
            self.endpoint.memory_mut().free(span);
        }
    }

    pub(super) fn region_ready(&mut self, cx: &mut Cx<'_>, connection: ConnectionId) {
        if let Some(Some((id, ready))) = self.links.get_mut(&connection).map(|link| &mut link.regions.peer) {
            *ready = true;
            let id = *id;
            self.plan_end(cx.fabric_now, connection, id, true);
        }
        self.begin(cx, connection);
    }

    /// A region of this end, or that of the peer, may be no more.
    pub(super) fn region_finished(
        &mut self,
        cx: &mut Cx<'_>,
        connection: ConnectionId,
        id: u32,
        outcome: Ended,
    ) {
        let (job, memory) = (self.config.job, self.endpoint.memory_mut());
        let Some(link) = self.links.get_mut(&connection) else { return };
        if link.regions.peer.is_some_and(|(region, _)| region == id) {
            link.regions.peer = None;
            let ended = matches!(outcome, Ended::Complete | Ended::Failed(Failure::EndedByPeer));
            if job.end.is_some() && ended {
                // An application ended it. Nobody asks for another: what is not begun will never be.
                self.ledger.stats.never_begun += job.count - std::mem::replace(&mut link.begun, job.count);
                let own = link.own_running();
                return self.all_begun(cx.now, connection, own);
            }
            self.endpoint.disconnect(cx.now, connection);
        } else if let Some(span) = link.regions.own.remove(&id)
            && self.counter != Some(span)
        {
            memory.free(span);
        }
    }

    pub(super) fn put_finished(
        &mut self,
        cx: &mut Cx<'_>,
        connection: ConnectionId,
        put: u64,
        outcome: Ended,
    ) {
        let link = self.links.get_mut(&connection);
        let Some(running) = link.and_then(|link| link.regions.puts.remove(&put)) else { return };
        if outcome == Ended::Failed(Failure::Unconfirmed) {
            // Something of it was lost; the protocol leaves it to the application.
            self.ledger.stats.put_again += 1;
            if self.put(cx, connection, running) {
                return;
            }
            let gone = Ended::Failed(Failure::Disconnected);
            self.ledger.finished(&running, gone, self.endpoint.memory(), cx.fabric_now);
        } else {
            self.ledger.finished(&running, outcome, self.endpoint.memory(), cx.fabric_now);
            self.endpoint.memory_mut().free(running.span);
        }
        if outcome != Ended::Complete {
            cx.emit(ProtocolFact::Failed);
        }
        self.begin(cx, connection);
    }

    pub(super) fn put_arrived(&mut self, connection: ConnectionId, id: u32, put: u64, now: u64) {
        if let Some(look) = self.look_at(connection, id, put) {
            self.ledger.put_arrived(look, self.config.job.bytes, now);
        }
    }

    /// What is in the place of a Put to this end.
    fn look_at(&self, connection: ConnectionId, id: u32, put: u64) -> Option<Look> {
        let region = self.links.get(&connection)?.regions.own.get(&id)?;
        let place = put % self.places() * self.place_octets();
        let span = Span::new(region.address + place, self.config.job.bytes);
        let memory = self.endpoint.memory();
        let found = memory.verify(span).map_or_else(|| Found::Mixed(memory.octets_of(span)), Found::Whole);
        Some(Look { put, found })
    }

    /// Puts of this end that are not over.
    pub(super) fn puts_under_way(&self) -> impl Iterator<Item = Begun> {
        let links = self.links.values().filter_map(|link| Some((link.own?, &link.regions.puts)));
        links.flat_map(|(to, puts)| {
            puts.iter().map(move |(&put, running)| Begun { to, put, tag: running.tag })
        })
    }

    /// Octets in the places of this end that are those of a Put to it.
    pub(super) fn octets_of_put(&self, put: u64, tag: u64) -> u64 {
        let (place, bytes) = (put % self.places() * self.place_octets(), self.config.job.bytes);
        let regions = self.links.values().flat_map(|link| link.regions.own.values());
        let there = |region: &Span| {
            let octets = self.endpoint.memory().octets_of(Span::new(region.address + place, bytes));
            let words = octets.chunks(WORD as usize).zip(0..);
            let own = words.filter(|&(part, at)| part == &word(tag, at)[..part.len()]);
            own.map(|(part, _)| part.len() as u64).sum::<u64>()
        };
        regions.map(there).sum()
    }

    /// What has arrived at this end and waits for its upper layer: Puts, as they are now.
    pub(super) fn puts_to_look_at(&self) -> impl Iterator<Item = Look> {
        self.endpoint.waiting().filter_map(|&(connection, ref event)| match *event {
            Event::PutArrived { id, put } => self.look_at(connection, id, put),
            _ => None,
        })
    }

    pub(super) fn fetched(&mut self, cx: &mut Cx<'_>, connection: ConnectionId, id: u32, word: u64) {
        let Some(link) = self.links.get_mut(&connection) else { return };
        let (Some(running), Some(peer)) = (link.running.remove(&id), link.own) else { return };
        self.endpoint.memory_mut().free(running.span);
        self.ledger.fetches.entry(peer).or_default().words.push(word);
        self.ledger.stats.verified += 1;
        self.ledger.stats.verified_octets += WORD;
        self.ledger.completed(running.begun.unwrap_or(cx.fabric_now), cx.fabric_now);
        self.begin(cx, connection);
    }

    /// The connection is gone, and its regions with it.
    pub(super) fn close_regions(&mut self, cx: &mut Cx<'_>, connection: ConnectionId) {
        let Some(link) = self.links.get_mut(&connection) else { return };
        let regions = std::mem::take(&mut link.regions);
        for running in regions.puts.into_values() {
            let outcome = Ended::Failed(Failure::Disconnected);
            self.ledger.finished(&running, outcome, self.endpoint.memory(), cx.fabric_now);
            self.endpoint.memory_mut().free(running.span);
            cx.emit(ProtocolFact::Failed);
        }
        for span in regions.own.into_values().filter(|&span| self.counter != Some(span)) {
            self.endpoint.memory_mut().free(span);
        }
    }

    /// The word of this end, if it has one, in its byte order.
    pub(super) fn counted(&self) -> Option<u64> {
        self.counter.map(|span| self.config.word_of(self.endpoint.memory().word_at(span.address)))
    }
}
