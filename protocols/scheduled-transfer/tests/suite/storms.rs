//! Many sequences of all kinds at a time, in both directions, over links that repeat and delay.

use crate::common::{A, B, Faults, Pair};
use scheduled_transfer::errors::Logged;
use scheduled_transfer::wire::Function;
use scheduled_transfer::wire::flags::DataChannel;
use scheduled_transfer::{
    Config, ConnectionId, Event, ExposeOptions, Extras, Outcome, Span, TransferOptions,
};
use std::collections::BTreeMap;

/// Octets of the memory of an end.
const MEMORY: usize = 1 << 20;
/// Where memory for what comes begins; below is what goes out.
const FREE: u64 = 1 << 16;
/// Octets of a region: a word, and from [`PLACE`] on room for Puts.
const REGION: u64 = 1 << 16;
const PLACE: u64 = 1024;
/// Longest Transfer.
const LONGEST: u64 = 30_000;
/// Sequences that each end begins.
const WISHES: usize = 12;

/// Numbers that follow from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
        (self.0 >> 33) % bound
    }
}

/// What an end asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wish {
    Write(u64),
    Read(u64),
    Put(u64),
    Get(u64),
    Fetch,
}

/// How a storm is.
#[derive(Clone, Copy, Debug)]
struct Weather {
    slots: u16,
    /// Else frames may come twice and late.
    ordered: bool,
    /// Largest Put and Get, octets.
    longest: u64,
    separate_control: bool,
    silent: bool,
    state_every: u32,
    window: u32,
    together: usize,
}

struct Storm {
    pair: Pair,
    free: [u64; 2],
    connection: [ConnectionId; 2],
    /// The region of the other end, and that of its own.
    region: [u32; 2],
    own_region: [u64; 2],
    /// FetchOps that were begun.
    fetches: [u64; 2],
    /// Where Transfers come to.
    landings: Vec<(usize, Span)>,
    /// Heard so far.
    heard: [usize; 2],
    wishes: [Vec<Wish>; 2],
    running: [BTreeMap<u32, Wish>; 2],
    puts: [BTreeMap<u64, Wish>; 2],
    failed: Vec<(usize, Wish, Outcome)>,
    weather: Weather,
}

impl Storm {
    fn new(seed: u64, weather: Weather) -> Self {
        let mut draws = Draws(seed);
        let a = Config {
            slots: weather.slots,
            ordered: weather.ordered,
            separate_control: Some(weather.separate_control),
            missing_timeout: Some(20 * Config::default().op_timeout),
            ..Config::default()
        };
        let b = Config { first_port: 0x8000, first_key: 0x5E6F_7081, ..a };
        let mut pair = Pair::new(a, b, MEMORY);
        pair.seed(seed + 1);
        pair.tracing = false;
        let (at_a, at_b) = pair.open();
        let wishes = [(); 2].map(|()| {
            (0..WISHES)
                .map(|_| match draws.below(5) {
                    0 => Wish::Write(1 + draws.below(LONGEST)),
                    1 => Wish::Read(1 + draws.below(LONGEST)),
                    2 => Wish::Put(1 + draws.below(weather.longest)),
                    3 => Wish::Get(1 + draws.below(weather.longest)),
                    _ => Wish::Fetch,
                })
                .collect()
        });
        let mut storm = Storm {
            pair,
            free: [FREE; 2],
            connection: [at_a, at_b],
            region: [0; 2],
            own_region: [0; 2],
            fetches: [0; 2],
            landings: vec![],
            heard: [0; 2],
            wishes,
            running: [BTreeMap::new(), BTreeMap::new()],
            puts: [BTreeMap::new(), BTreeMap::new()],
            failed: vec![],
            weather,
        };
        storm.pair.auto = false;
        let often = if weather.ordered { 0 } else { 100 };
        storm.pair.faults = Faults { duplication: often, reorder: often, ..Faults::default() };
        for end in [A, B] {
            let asked = storm.pair.ends[end].request_region(
                storm.pair.now,
                storm.connection[end],
                REGION,
                DataChannel::ONE,
                Extras::default(),
            );
            storm.region[end] = asked.unwrap();
        }
        storm
    }

    fn room(&mut self, end: usize, bytes: u64) -> Span {
        let span = Span::new(self.free[end], bytes);
        self.free[end] = (self.free[end] + bytes).next_multiple_of(1 << 15);
        span
    }

    fn options(&self) -> TransferOptions {
        TransferOptions {
            silent: self.weather.silent,
            state_every: self.weather.state_every,
            ..TransferOptions::default()
        }
    }

    /// Blocks of one STU where frames come late: no other overtakes a part of them.
    fn exposure(&self) -> ExposeOptions {
        let blocksize = if self.weather.ordered { 12 } else { 10 };
        ExposeOptions { window: self.weather.window, blocksize }
    }

    fn hear(&mut self) {
        for end in [A, B] {
            while self.heard[end] < self.pair.events[end].len() {
                let (connection, event) = self.pair.events[end][self.heard[end]];
                self.heard[end] += 1;
                self.react(end, connection, event);
            }
        }
    }

    fn react(&mut self, end: usize, connection: ConnectionId, event: Event) {
        let now = self.pair.now;
        match event {
            Event::WriteOffered { id, t_len, .. } => {
                let span = self.room(end, t_len);
                self.landings.push((end, span));
                let options = self.exposure();
                assert!(self.pair.ends[end].expose(now, connection, id, span, options));
            }
            Event::ReadRequested { id, t_len } => {
                let options = self.options();
                assert!(self.pair.ends[end].serve(now, connection, id, Span::new(0, t_len), options));
            }
            Event::RegionRequested { id, t_len } => {
                let span = self.room(end, t_len);
                self.own_region[end] = span.address;
                self.pair.ends[end].memory_mut()[span.address as usize..][..8].fill(0);
                assert!(self.pair.ends[end].grant(now, connection, id, span));
            }
            Event::Finished { id, outcome, .. } => {
                if let Some(wish) = self.running[end].remove(&id)
                    && outcome != Outcome::Complete
                {
                    self.failed.push((end, wish, outcome));
                }
            }
            Event::PutFinished { put, outcome, .. } => {
                if let Some(wish) = self.puts[end].remove(&put)
                    && outcome != Outcome::Complete
                {
                    self.failed.push((end, wish, outcome));
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, end: usize) {
        let (now, connection, region) = (self.pair.now, self.connection[end], self.region[end]);
        let ready = self.pair.has(end, |event| *event == Event::RegionReady { id: region });
        while ready && self.running[end].len() + self.puts[end].len() < self.weather.together {
            let Some(wish) = self.wishes[end].pop() else { return };
            let options = self.options();
            match wish {
                Wish::Write(bytes) => {
                    let id =
                        self.pair.ends[end].write(now, connection, Span::new(0, bytes), options).unwrap();
                    self.running[end].insert(id, wish);
                }
                Wish::Read(bytes) => {
                    let span = self.room(end, bytes);
                    self.landings.push((end, span));
                    let options = self.exposure();
                    let (to, channel) = ((span, false), DataChannel::ONE);
                    let id =
                        self.pair.ends[end].read(now, connection, to, channel, options, Extras::default());
                    self.running[end].insert(id.unwrap(), wish);
                }
                Wish::Put(bytes) => {
                    let span = Span::new(0, bytes);
                    let put =
                        self.pair.ends[end].put(now, connection, (region, PLACE), span, options).unwrap();
                    self.puts[end].insert(put, wish);
                }
                Wish::Get(bytes) => {
                    let span = self.room(end, bytes);
                    let id =
                        self.pair.ends[end].get(now, connection, (region, PLACE), span, Extras::default());
                    self.running[end].insert(id.unwrap(), wish);
                }
                Wish::Fetch => {
                    let span = self.room(end, 8);
                    self.fetches[end] += 1;
                    let (to, function) = ((region, 0), Function::Increment);
                    let id = self.pair.ends[end].fetch_op(
                        now,
                        connection,
                        to,
                        function,
                        span.address,
                        Extras::default(),
                    );
                    self.running[end].insert(id.unwrap(), wish);
                }
            }
        }
    }

    /// Runs until all is over.
    fn run(&mut self) {
        let until = self.pair.now + 10_000_000_000_000;
        loop {
            self.hear();
            for end in [A, B] {
                self.begin(end);
            }
            self.pair.settle();
            self.hear();
            let idle = |end: usize| {
                self.wishes[end].is_empty() && self.running[end].is_empty() && self.puts[end].is_empty()
            };
            if idle(A) && idle(B) {
                return;
            }
            assert!(self.pair.step(until), "stuck: {:?} {:?} {:?}", self.running, self.puts, self.wishes);
        }
    }

    /// Everything is over, whole and where it should be, and each FetchOp was executed once.
    fn judge(&self) {
        assert_eq!(self.failed, [], "{:?}", self.weather);
        for &(end, span) in &self.landings {
            let [there, here] = [1 - end, end].map(|end| self.pair.ends[end].memory());
            let come = &here[span.address as usize..][..span.bytes as usize];
            assert!(come == &there[..span.bytes as usize], "{span:?} of {end}, {:?}", self.weather);
        }
        for end in [A, B] {
            let word = &self.pair.ends[end].memory()[self.own_region[end] as usize..][..8];
            let count = u64::from_be_bytes(word.try_into().unwrap());
            assert_eq!(count, self.fetches[1 - end], "{:?}", self.weather);
        }
    }
}

/// On a link that keeps the order and loses nothing, nothing expires and nothing is wrong, however many
/// sequences go at a time, and however few Slots there are. Control of its own channel overtakes Data: then
/// headers of Data need Slots for what may be under way, so here they are silent.
///
/// Proves: ST-4.2-7
#[test]
fn nothing_expires_where_nothing_is_lost() {
    for seed in 0..24 {
        let mut draws = Draws(seed);
        let separate_control = draws.below(2) == 0;
        let weather = Weather {
            slots: [4, 5, 8, 64, 0xFFFF][draws.below(5) as usize],
            ordered: true,
            longest: LONGEST,
            separate_control,
            silent: separate_control || draws.below(2) == 0,
            state_every: draws.below(3) as u32,
            window: 1 + draws.below(12) as u32,
            together: [1, 2, 4, 12][draws.below(4) as usize],
        };
        let mut storm = Storm::new(seed, weather);
        storm.run();
        storm.judge();
        storm.pair.assert_clean();
    }
}

/// Frames that come twice and late lose nothing: everything is there in the end, once, and nobody gives
/// up, with three Slots more than sequences at a time. Puts and Gets have one STU each, because one whose
/// STUs come in another order is void (ST-10.7.4-7).
///
/// Proves: ST-4.2-7, ST-6.1.4.4-9
#[test]
fn frames_that_come_twice_and_late_lose_nothing() {
    for seed in 0..12 {
        let mut draws = Draws(seed);
        let together = [1, 2, 4, 12][draws.below(4) as usize];
        let weather = Weather {
            slots: [together as u16 + 3, 64, 0xFFFF][draws.below(3) as usize],
            ordered: false,
            longest: 900,
            separate_control: draws.below(2) == 0,
            silent: true,
            state_every: draws.below(3) as u32,
            window: 1 + draws.below(12) as u32,
            together,
        };
        let mut storm = Storm::new(seed, weather);
        storm.run();
        storm.judge();
        for end in [A, B] {
            assert!(!storm.pair.logged(end).contains(&Logged::Max_Retry_Occurance), "{weather:?}");
        }
    }
}
