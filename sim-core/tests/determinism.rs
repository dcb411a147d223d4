//! A world gives one trajectory: with every list, every time, in any pieces; and what the kernel
//! refuses.

use sim_core::{
    ActorId, BucketRing, Class, Context, Duration, Event, EventKey, EventList, Fingerprint, HeapList, Kernel,
    KeySource, Purpose, RingConfig, RunEnd, Shake, Stream, Time, World,
};

const ACTORS: u32 = 200;
const EVENTS_PER_ACTOR: u32 = 3;
const END: Time = Time::from_us(100);

struct Actor {
    keys: KeySource,
    delays: Stream,
    targets: Stream,
}

/// PHOLD: every event makes its actor post one to another actor, some time ahead. What an actor posts depends
/// only on how many events it has handled.
struct Phold {
    actors: Vec<Actor>,
    /// Delays are multiples of this: 1 ps makes ties rare, 100 ns makes them the rule.
    grain: Duration,
    handled: Vec<EventKey>,
    fingerprint: Fingerprint,
}

fn actor_class(actor: u32) -> Class {
    Class::new((actor % 3) as u8)
}

impl Phold {
    fn next(&mut self, actor: u32, now: Time) -> (EventKey, u32) {
        let Actor { keys, delays, targets } = &mut self.actors[actor as usize];
        // Mostly within a microsecond, sometimes far ahead.
        let most = if delays.chance(1, 50) { 20_000_000 } else { 1_000_000 };
        let delay = Duration(1 + delays.below(most) / self.grain.0) * self.grain.0;
        (keys.make(now + delay, actor_class(actor)), targets.below(u64::from(ACTORS)) as u32)
    }
}

impl World for Phold {
    type Payload = u32;

    fn handle<L: EventList<u32>>(&mut self, event: Event<u32>, cx: &mut Context<'_, u32, L>) {
        assert_eq!(cx.key(), event.key);
        assert_eq!(cx.now(), event.key.time());
        self.handled.push(event.key);
        self.fingerprint.record(1, cx.now(), u64::from(event.target), 0);
        let (key, target) = self.next(event.target, cx.now());
        cx.send(key, target, event.payload + 1);
    }
}

fn phold<L: EventList<u32>>(list: L, grain: Duration, shake: Shake) -> Kernel<Phold, L> {
    let actors = (0..ACTORS).map(|number| Actor {
        keys: KeySource::new(ActorId::new(number), shake),
        delays: Stream::new(7, &format!("actor/{number}"), Purpose::ARRIVALS),
        targets: Stream::new(7, &format!("actor/{number}"), Purpose::DESTINATIONS),
    });
    let world =
        Phold { actors: actors.collect(), grain, handled: Vec::new(), fingerprint: Fingerprint::new() };
    let mut kernel = Kernel::new(world, list);
    for actor in 0..ACTORS {
        for _ in 0..EVENTS_PER_ACTOR {
            let (key, target) = kernel.world.next(actor, Time::ZERO);
            kernel.schedule(Event { key, target, payload: 0 });
        }
    }
    kernel
}

fn finished<L: EventList<u32>>(list: L, grain: Duration, shake: Shake) -> Phold {
    let mut kernel = phold(list, grain, shake);
    assert_eq!(kernel.run_until(END), RunEnd::Limit);
    assert_eq!(kernel.now(), END);
    assert_eq!(kernel.pending(), (ACTORS * EVENTS_PER_ACTOR) as usize);
    assert_eq!(kernel.events_handled(), kernel.world.handled.len() as u64);
    kernel.into_world()
}

const GRAINS: [Duration; 2] = [Duration(1), Duration::from_ns(100)];

#[test]
fn every_list_gives_the_same_trajectory() {
    for grain in GRAINS {
        let heap = finished(HeapList::new(), grain, Shake::NONE);
        assert!(heap.handled.len() > 30_000, "only {} events", heap.handled.len());
        assert!(heap.handled.is_sorted());
        let configs = [
            RingConfig::for_rate(800, Duration::from_us(1)),
            RingConfig { bucket_width_log2_ps: 0, buckets_log2: 1 },
            RingConfig { bucket_width_log2_ps: 10, buckets_log2: 4 },
            RingConfig { bucket_width_log2_ps: 17, buckets_log2: 10 },
            RingConfig { bucket_width_log2_ps: 40, buckets_log2: 2 },
        ];
        for config in configs {
            let ring = finished(BucketRing::new(config), grain, Shake::NONE);
            assert!(ring.handled == heap.handled, "{config:?} with grain {grain}");
            assert_eq!(ring.fingerprint, heap.fingerprint);
        }
    }
}

/// A change of this value is a change of results.
#[test]
fn trajectory_golden() {
    let phold = finished(HeapList::new(), GRAINS[1], Shake::NONE);
    assert_eq!(phold.fingerprint.to_string(), "f1a72b3883d55193/81962");
}

#[test]
fn runs_repeat_and_may_be_cut_anywhere() {
    let ring = || BucketRing::new(RingConfig::for_rate(800, Duration::from_us(1)));
    let whole = finished(ring(), GRAINS[1], Shake::NONE);
    assert_eq!(finished(ring(), GRAINS[1], Shake::NONE).handled, whole.handled);

    let mut kernel = phold(ring(), GRAINS[1], Shake::NONE);
    let mut pauses = 0;
    while kernel.run_events(END, 97) == RunEnd::Paused {
        pauses += 1;
        assert_eq!(kernel.events_handled(), 97 * pauses);
        assert_eq!(kernel.world.handled.last(), Some(&kernel.last_key()));
        assert_eq!(kernel.now(), kernel.last_key().time());
    }
    assert!(kernel.world.handled == whole.handled);

    let mut kernel = phold(ring(), GRAINS[1], Shake::NONE);
    for limit in (0..=END.as_ps()).step_by(333_333).map(Time).chain([END]) {
        assert_eq!(kernel.run_until(limit), RunEnd::Limit);
        assert_eq!(kernel.now(), limit);
        assert!(kernel.next_key().is_some_and(|key| key.time() > limit));
    }
    assert!(kernel.world.handled == whole.handled);
}

#[test]
fn shake_changes_the_order_of_ties_and_nothing_else() {
    let list = || BucketRing::new(RingConfig::for_rate(800, Duration::from_us(1)));
    let plain = finished(list(), GRAINS[1], Shake::NONE);
    for n in 1..4 {
        let shake = Shake::new(n);
        let shaken = finished(list(), GRAINS[1], shake);
        assert!(shaken.handled.is_sorted());
        assert_eq!(shaken.fingerprint, plain.fingerprint);
        // With the sources given back, the same events in another order ...
        let mut keys: Vec<EventKey> = shaken
            .handled
            .iter()
            .map(|k| EventKey::from_parts(k.time(), k.class(), shake.invert(k.source()), k.sequence()))
            .collect();
        assert!(keys != plain.handled, "shake {n} changes nothing");
        // ... in which only events equal in time and class have changed places,
        let tie = |key: &EventKey| (key.time(), key.class());
        assert!(keys.iter().map(tie).eq(plain.handled.iter().map(tie)));
        // and those of one source have kept theirs: a stable sort by (time, class, source) undoes it.
        keys.sort_by_key(|key| (key.time(), key.class(), key.source()));
        assert!(keys == plain.handled);
    }
}

#[test]
fn without_ties_shake_changes_nothing() {
    let times = |shake| {
        let mut phold = finished(HeapList::new(), Duration(1), shake);
        phold.handled.dedup_by_key(|key| key.time());
        phold.handled.iter().map(|key| key.time()).collect::<Vec<Time>>()
    };
    assert!(times(Shake::NONE) == times(Shake::new(5)));
}

/// What the handler of [`Scripted`] does at its first event.
#[derive(Clone, Copy)]
enum Script {
    Post(EventKey),
    Send(EventKey),
    Stop,
    /// Makes up what was due at the first key, and posts the second then.
    MakeUp(EventKey, EventKey),
}

struct Scripted {
    script: Option<Script>,
    handled: Vec<EventKey>,
}

impl World for Scripted {
    type Payload = ();

    fn handle<L: EventList<()>>(&mut self, event: Event<()>, cx: &mut Context<'_, (), L>) {
        self.handled.push(event.key);
        match self.script.take() {
            Some(Script::Post(key)) => cx.post(key, 0, ()),
            Some(Script::Send(key)) => cx.send(key, 0, ()),
            Some(Script::Stop) => cx.stop(),
            Some(Script::MakeUp(due, posted)) => {
                let mut then = cx.as_of(due);
                assert_eq!((then.key(), then.now(), then.handled()), (due, due.time(), event.key));
                then.post(posted, 0, ());
                assert_eq!((cx.key(), cx.handled()), (event.key, event.key));
            }
            None => {}
        }
    }
}

fn key(time: u64, class: u8, source: u32, sequence: u64) -> EventKey {
    EventKey::from_parts(Time(time), Class::new(class), ActorId::new(source), sequence)
}

fn scripted(script: Script, keys: &[EventKey]) -> Kernel<Scripted, HeapList<()>> {
    let mut kernel = Kernel::new(Scripted { script: Some(script), handled: Vec::new() }, HeapList::new());
    for &key in keys {
        kernel.schedule(Event { key, target: 0, payload: () });
    }
    kernel
}

/// The event being handled in the tests below.
fn current() -> EventKey {
    key(10, 1, 5, 3)
}

fn run_post(posted: EventKey) -> Vec<EventKey> {
    let mut kernel = scripted(Script::Post(posted), &[current()]);
    assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
    kernel.into_world().handled
}

#[test]
fn a_later_key_of_the_same_instant_may_be_posted() {
    for posted in [key(10, 1, 5, 4), key(10, 1, 6, 1), key(10, 2, 0, 1), key(11, 0, 0, 1)] {
        assert_eq!(run_post(posted), [current(), posted]);
    }
}

#[test]
#[should_panic(expected = "event posted into the past")]
fn posting_without_delay_below_the_current_key_panics() {
    run_post(key(10, 1, 4, 9));
}

#[test]
#[should_panic(expected = "event posted into the past")]
fn posting_the_current_key_again_panics() {
    run_post(current());
}

#[test]
#[should_panic(expected = "event posted into the past")]
fn posting_into_the_past_panics() {
    run_post(key(9, 15, 9, 9));
}

/// What is made up happens at its own time, but what follows from it is posted for after the event in which
/// it is made up.
#[test]
fn what_is_made_up_posts_after_the_event_being_handled() {
    let later = key(10, 1, 5, 4);
    let mut kernel = scripted(Script::MakeUp(key(7, 2, 5, 1), later), &[current()]);
    assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
    assert_eq!(kernel.world.handled, [current(), later]);
}

#[test]
#[should_panic(expected = "event posted into the past: 8 ps class 0 source 1 #1 while handling 10 ps")]
fn what_is_made_up_posts_nothing_before_the_event_being_handled() {
    let _ = scripted(Script::MakeUp(key(7, 2, 5, 1), key(8, 0, 1, 1)), &[current()]).run_until(Time::MAX);
}

#[test]
#[should_panic(expected = "is made up before its time")]
fn nothing_is_made_up_before_it_is_due() {
    let _ = scripted(Script::MakeUp(key(10, 1, 5, 4), key(11, 0, 1, 1)), &[current()]).run_until(Time::MAX);
}

#[test]
#[should_panic(expected = "event without delay: 10 ps class 2 source 9 #9")]
fn sending_without_delay_panics() {
    let _ = scripted(Script::Send(key(10, 2, 9, 9)), &[current()]).run_until(Time::MAX);
}

#[test]
#[should_panic(expected = "duplicate event key: 20 ps class 0 source 1 #1")]
fn a_duplicate_key_panics() {
    let _ = scripted(Script::Post(key(20, 0, 1, 1)), &[current(), key(20, 0, 1, 1)]).run_until(Time::MAX);
}

#[test]
fn a_stopped_run_goes_on() {
    let keys = [current(), key(10, 1, 6, 1), key(20, 0, 0, 1)];
    let mut kernel = scripted(Script::Stop, &keys);
    assert_eq!(kernel.run_until(Time::MAX), RunEnd::Stopped);
    assert_eq!((kernel.events_handled(), kernel.pending(), kernel.now()), (1, 2, Time(10)));
    assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
    assert_eq!(kernel.now(), Time(20));
    assert_eq!(kernel.world.handled, keys);
}

#[test]
fn ends_and_clock() {
    let mut kernel = scripted(Script::Post(key(30, 0, 0, 1)), &[current()]);
    assert_eq!(kernel.run_until(Time(9)), RunEnd::Limit);
    assert_eq!(kernel.now(), Time(9));
    assert_eq!(kernel.run_events(Time::MAX, 0), RunEnd::Paused);
    assert_eq!(kernel.run_until(Time(10)), RunEnd::Limit);
    assert_eq!((kernel.events_handled(), kernel.last_key()), (1, current()));
    assert_eq!(kernel.run_until(Time(5)), RunEnd::Limit);
    assert_eq!(kernel.now(), Time(10));
    kernel.schedule(Event { key: key(10, 1, 5, 4), target: 0, payload: () });
    assert_eq!(kernel.run_until(Time(1_000)), RunEnd::Empty);
    assert_eq!((kernel.now(), kernel.events_handled()), (Time(30), 3));
}

#[test]
#[should_panic(expected = "event scheduled into the past")]
fn scheduling_before_the_clock_panics() {
    let mut kernel = scripted(Script::Stop, &[current()]);
    assert_eq!(kernel.run_until(Time(9)), RunEnd::Limit);
    kernel.schedule(Event { key: key(8, 0, 0, 1), target: 0, payload: () });
}

#[test]
#[should_panic(expected = "event scheduled into the past")]
fn scheduling_before_the_last_event_panics() {
    let mut kernel = scripted(Script::Stop, &[current()]);
    assert_eq!(kernel.run_until(Time(10)), RunEnd::Stopped);
    kernel.schedule(Event { key: key(10, 0, 0, 1), target: 0, payload: () });
}

/// Posts two events with each of its first three, and writes down how many are pending before and after.
#[derive(Default)]
struct Counting(Vec<(usize, usize)>);

impl World for Counting {
    type Payload = u32;

    fn handle<L: EventList<u32>>(&mut self, event: Event<u32>, cx: &mut Context<'_, u32, L>) {
        let before = cx.pending();
        if event.payload < 3 {
            for n in 0..2u64 {
                let at = Time(cx.now().0 + 10 + n);
                let key = KeySource::new(ActorId::new(2 * event.payload + n as u32 + 1), Shake::NONE)
                    .make(at, Class::new(0));
                // The second of each pair goes on.
                cx.send(key, 0, if n == 1 { event.payload + 1 } else { 9 });
            }
        }
        self.0.push((before, cx.pending()));
    }
}

/// What is pending is what was posted and not handled; the event being handled is not.
#[test]
fn a_world_sees_how_many_events_are_pending() {
    fn seen<L: EventList<u32>>(list: L) -> Vec<(usize, usize)> {
        let mut kernel = Kernel::new(Counting::default(), list);
        let key = KeySource::new(ActorId::new(0), Shake::NONE).make(Time(1), Class::new(0));
        kernel.schedule(Event { key, target: 0, payload: 0 });
        assert_eq!(kernel.run_until(Time(1_000)), RunEnd::Empty);
        kernel.into_world().0
    }
    let law = [(0, 2), (1, 1), (0, 2), (1, 1), (0, 2), (1, 1), (0, 0)];
    assert_eq!(seen(HeapList::new()), law);
    assert_eq!(seen(BucketRing::new(RingConfig::for_rate(800, Duration::from_us(1)))), law);
}

/// Within an instant `order` decides, and it is made of class, source and sequence in this order.
#[test]
fn the_order_of_a_key_decides_within_an_instant() {
    let mut keys = Vec::new();
    for actor in [0, 1, 77] {
        let mut source = KeySource::new(ActorId::new(actor), Shake::NONE);
        for n in 0..6u8 {
            keys.push(source.make(Time(5), Class::new(n % 3)));
        }
    }
    for a in &keys {
        let parts = |key: &EventKey| (key.class(), key.source(), key.sequence());
        assert_ne!(a.order(), 0, "sequences begin with 1");
        for b in &keys {
            assert_eq!(a.order().cmp(&b.order()), a.cmp(b));
            assert_eq!(a.order().cmp(&b.order()), parts(a).cmp(&parts(b)));
        }
    }
}

/// A list that hands its only event out twice.
struct Stutter(Vec<Event<()>>);

impl EventList<()> for Stutter {
    fn push(&mut self, event: Event<()>) {
        self.0.extend([event; 2]);
    }

    fn pop_before(&mut self, _: Time) -> Option<Event<()>> {
        self.0.pop()
    }

    fn peek_key(&mut self) -> Option<EventKey> {
        self.0.first().map(|event| event.key)
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// The kernel does not rely on its list: an event that it has handled is out of order.
#[test]
#[should_panic(expected = "event out of order")]
fn a_list_that_hands_an_event_out_twice_panics() {
    let mut kernel = Kernel::new(Scripted { script: None, handled: Vec::new() }, Stutter(Vec::new()));
    kernel.schedule(Event { key: key(5, 1, 1, 1), target: 0, payload: () });
    let _ = kernel.run_until(Time(9));
}

/// What concludes a run is behind the last event, not at its key.
#[test]
#[should_panic(expected = "concluded in the past")]
fn concluding_at_the_key_of_the_last_event_panics() {
    let mut kernel = scripted(Script::Stop, &[key(5, 1, 1, 1)]);
    assert_eq!(kernel.run_until(Time(9)), RunEnd::Stopped);
    kernel.conclude(key(5, 1, 1, 1), |_, _| ());
}

/// A world that looks ahead is shown what comes, and one that does not is shown nothing.
#[test]
fn who_looks_ahead_is_shown_events() {
    struct Ahead {
        foresees: bool,
        shown: std::cell::Cell<u64>,
    }
    impl World for Ahead {
        type Payload = ();

        fn handle<L: EventList<()>>(&mut self, _: Event<()>, _: &mut Context<'_, (), L>) {}

        fn foresees(&self) -> bool {
            self.foresees
        }

        fn foresee(&self, _: &Event<()>, _: sim_core::Ahead) {
            self.shown.set(self.shown.get() + 1);
        }
    }
    for foresees in [false, true] {
        let list = BucketRing::new(RingConfig { bucket_width_log2_ps: 3, buckets_log2: 8 });
        let mut kernel = Kernel::new(Ahead { foresees, shown: 0.into() }, list);
        for n in 1..=20 {
            kernel.schedule(Event { key: key(8 * n, 1, 1, n), target: 0, payload: () });
        }
        assert_eq!(kernel.run_until(Time::MAX), RunEnd::Empty);
        assert_eq!(kernel.events_handled(), 20);
        // The first of 20 buckets is entered unseen. The four after it are seen together, at one to four
        // distances each, and each of the other 15 at all four: 4 + (1 + 2 + 3) + 15 x 4.
        assert_eq!(kernel.world.shown.get(), if foresees { 70 } else { 0 });
    }
}
