//! The run loop: takes events in the order of their keys and hands them to a world.

use crate::event::{Ahead, Event, EventList, Foresees};
use crate::key::EventKey;
use crate::time::Time;
use std::marker::PhantomData;

/// Everything that is simulated: the actors, and what an event does to them.
pub trait World {
    /// What an event says. Small (12 bytes keep an event at 32) and plain: large things travel as handles.
    type Payload: Copy;

    /// Handles one event. It may change the world and post further events, and sees nothing else.
    fn handle<L: EventList<Self::Payload>>(
        &mut self,
        event: Event<Self::Payload>,
        cx: &mut Context<'_, Self::Payload, L>,
    );

    /// Whether [`foresee`](Self::foresee) is worth its cost: it is where the state does not fit the cache.
    #[inline]
    fn foresees(&self) -> bool {
        false
    }

    /// A hint that `event` will probably be handled soon: the place to [`prefetch`](fn@crate::prefetch) what
    /// its handler will touch, step by step as it comes nearer. It cannot change anything, and it may never
    /// be called.
    #[inline]
    fn foresee(&self, _event: &Event<Self::Payload>, _ahead: Ahead) {}
}

/// A world that events are shown to.
struct Shown<'a, W>(&'a W);

impl<W: World> Foresees<W::Payload> for Shown<'_, W> {
    #[inline(always)]
    fn foresee(&self, event: &Event<W::Payload>, ahead: Ahead) {
        self.0.foresee(event, ahead);
    }
}

/// What a handler sees of the kernel.
#[derive(Debug)]
pub struct Context<'a, P, L> {
    key: EventKey,
    /// The event being handled, before which nothing may be posted any more.
    handled: EventKey,
    list: &'a mut L,
    stop: &'a mut bool,
    payload: PhantomData<fn(P)>,
}

impl<P: Copy, L: EventList<P>> Context<'_, P, L> {
    /// The instant of the event being handled.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Time {
        self.key.time()
    }

    /// The key of the event being handled. A record with a smaller key is visible to this event, one with
    /// a greater key is not yet.
    #[inline]
    #[must_use]
    pub fn key(&self) -> EventKey {
        self.key
    }

    /// A context for something that was due at `key`, before the event being handled, and that is made up
    /// now: [`now`](Self::now) and [`key`](Self::key) are those of then.
    ///
    /// Panics if `key` is after the event being handled.
    #[inline]
    pub fn as_of(&mut self, key: EventKey) -> Context<'_, P, L> {
        assert!(key <= self.handled, "{key} is made up before its time, at {}", self.handled);
        Context { key, handled: self.handled, list: self.list, stop: self.stop, payload: PhantomData }
    }

    /// The key of the event being handled, also while something is [made up](Self::as_of).
    #[inline]
    #[must_use]
    pub fn handled(&self) -> EventKey {
        self.handled
    }

    /// Posts an event.
    ///
    /// Panics unless `key` is after the key of the event being handled. Within one instant that permits
    /// exactly the wake of a record whose key was made earlier and has not been passed; what actors send
    /// each other goes through [`send`](Self::send).
    #[inline(always)]
    pub fn post(&mut self, key: EventKey, target: u32, payload: P) {
        assert!(key > self.handled, "event posted into the past: {key} while handling {}", self.handled);
        self.list.push(Event { key, target, payload });
    }

    /// Posts an event at a later instant: [`post`](Self::post) for everything with a delay.
    ///
    /// Panics unless the time of `key` is after now. Without that, the order of events at one instant
    /// would depend on which of two actors happens to have the smaller number.
    #[inline]
    pub fn send(&mut self, key: EventKey, target: u32, payload: P) {
        assert!(
            key.time() > self.handled.time(),
            "event without delay: {key} while handling {}",
            self.handled
        );
        self.list.push(Event { key, target, payload });
    }

    /// How many events are pending, the one being handled not counted.
    #[inline]
    #[must_use]
    pub fn pending(&self) -> usize {
        self.list.len()
    }

    /// Ends the run after the event being handled, with [`RunEnd::Stopped`].
    #[inline]
    pub fn stop(&mut self) {
        *self.stop = true;
    }
}

/// Why a run returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum RunEnd {
    /// Every event up to the limit is handled; later ones are pending.
    Limit,
    /// Nothing is pending.
    Empty,
    /// A handler asked for it with [`Context::stop`].
    Stopped,
    /// The permitted number of events is handled ([`Kernel::run_events`] only).
    Paused,
}

/// A world, its pending events, and the clock.
#[derive(Clone, Debug)]
pub struct Kernel<W, L> {
    /// The world. Between runs it may be read and changed freely.
    pub world: W,
    list: L,
    last: EventKey,
    now: Time,
    handled: u64,
}

impl<W: World, L: EventList<W::Payload>> Kernel<W, L> {
    /// A kernel at time zero. The list may already hold events.
    #[must_use]
    pub fn new(world: W, list: L) -> Self {
        Self { world, list, last: EventKey::MIN, now: Time::ZERO, handled: 0 }
    }

    /// Adds an event from outside, before the first run or between two.
    ///
    /// Panics if it lies in the past: before [`now`](Self::now), or not after the last handled event.
    pub fn schedule(&mut self, event: Event<W::Payload>) {
        let (key, last, now) = (event.key, self.last, self.now);
        assert!(
            key.time() >= now && key > last,
            "event scheduled into the past: {key} at {now}, after {last}"
        );
        self.list.push(event);
    }

    /// Handles every event at or before `limit`.
    pub fn run_until(&mut self, limit: Time) -> RunEnd {
        self.run_events(limit, u64::MAX)
    }

    /// Handles the events at or before `limit`, but at most `max_events` of them; for whoever wants to show
    /// progress or to look for an interrupt in between. Cutting a run into pieces changes nothing.
    pub fn run_events(&mut self, limit: Time, max_events: u64) -> RunEnd {
        let mut stop = false;
        for _ in 0..max_events {
            let world = &self.world;
            let event = if world.foresees() {
                self.list.pop_foreseeing(limit, &Shown(world))
            } else {
                self.list.pop_before(limit)
            };
            let Some(event) = event else {
                if self.list.is_empty() {
                    return RunEnd::Empty;
                }
                self.now = self.now.max(limit);
                return RunEnd::Limit;
            };
            assert!(event.key > self.last, "event out of order: {} after {}", event.key, self.last);
            self.last = event.key;
            self.now = event.key.time();
            self.handled += 1;
            let mut cx = Context {
                key: event.key,
                handled: event.key,
                list: &mut self.list,
                stop: &mut stop,
                payload: PhantomData,
            };
            self.world.handle(event, &mut cx);
            if stop {
                return RunEnd::Stopped;
            }
        }
        RunEnd::Paused
    }

    /// The clock: the limit of the last run if it ended with [`RunEnd::Limit`], else the time of the last
    /// handled event.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The key of the last handled event, [`EventKey::MIN`] before the first.
    #[must_use]
    pub fn last_key(&self) -> EventKey {
        self.last
    }

    /// The key of the next event.
    pub fn next_key(&mut self) -> Option<EventKey> {
        self.list.peek_key()
    }

    /// Lets the world do something at `key`, as the handler of an event with this key would; such an event is
    /// not needed. What is posted stays pending.
    ///
    /// Panics if `key` is not after the last handled event.
    pub fn conclude<R>(
        &mut self,
        key: EventKey,
        what: impl FnOnce(&mut W, &mut Context<'_, W::Payload, L>) -> R,
    ) -> R {
        assert!(key > self.last, "concluded in the past: {key}, after {}", self.last);
        let mut stop = false;
        let mut cx =
            Context { key, handled: key, list: &mut self.list, stop: &mut stop, payload: PhantomData };
        what(&mut self.world, &mut cx)
    }

    /// How many events were handled since the start.
    #[must_use]
    pub fn events_handled(&self) -> u64 {
        self.handled
    }

    /// How many events are pending.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.list.len()
    }

    /// The pending events.
    #[must_use]
    pub fn list(&self) -> &L {
        &self.list
    }

    /// Ends the simulation and gives the world back.
    #[must_use]
    pub fn into_world(self) -> W {
        self.world
    }
}
