//! One direction of a link: packets, and control symbols in places of their own.

use models::config::LinkConfig;
use std::collections::BTreeSet;

/// A control symbol on the wire: what it carries.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Its stype0 function is used: a status.
    status: bool,
    /// Its stype2 function is used: a message of Part 12.
    message: bool,
}

/// Which function of a symbol is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Function {
    Status,
    Message,
}

/// One direction of a link, F-20.
#[derive(Clone)]
pub struct Wire {
    /// Time of a character as a fraction.
    character: (u64, u64),
    /// Characters of a symbol.
    symbol_chars: u64,
    /// F-2: the link has a CRC of its own.
    link_crc: bool,
    /// Length of a column, with more than four lanes.
    column: Option<u64>,
    /// F-3.
    carry: u64,
    /// Start of the run of symbols, and its places.
    run: u64,
    places: Vec<Place>,
    /// The run lies before the last packet: its last place is that packet's start.
    before_packet: bool,
    /// Start and end of the last packet, and of the one before it.
    packet: Option<(u64, u64)>,
    last: Option<(u64, u64)>,
    /// When symbols begin that have their places, ends of packets included.
    symbols: BTreeSet<u64>,
    /// F-27: places so far that are no start-of-packet.
    pub places_alone: u64,
}

/// Where a function has its place.
pub struct Due {
    /// When its symbol begins.
    pub begins: u64,
    /// It rides on a symbol that is sent anyway.
    pub rides: bool,
}

impl Wire {
    pub fn new(link: &LinkConfig) -> Wire {
        let LinkConfig { char_ps: character, symbol_chars, lanes, link_crc, .. } = *link;
        let column = (lanes > 4).then(|| u64::from(lanes) * character.0 / character.1);
        Wire {
            character,
            symbol_chars: symbol_chars.into(),
            link_crc,
            column,
            carry: 0,
            run: 0,
            places: Vec::new(),
            before_packet: false,
            packet: None,
            last: None,
            symbols: BTreeSet::new(),
            places_alone: 0,
        }
    }

    /// F-2: S.
    pub fn symbol(&self) -> u64 {
        (self.symbol_chars * self.character.0).div_ceil(self.character.1)
    }

    /// F-2: the header time without regard to T.
    pub fn header(&self, octets: u64) -> u64 {
        (octets + self.symbol_chars) * self.character.0 / self.character.1
    }

    /// F-2: octets of a packet here; `octets` is what goes from end to end.
    fn framed(&self, octets: u64) -> u64 {
        if !self.link_crc {
            return octets;
        }
        // Four octets of CRC; filled up to eights.
        let with_crc = octets + 4;
        with_crc + (8 - with_crc % 8) % 8
    }

    /// F-2: T of a packet, by itself.
    pub fn alone(&self, octets: u64) -> u64 {
        self.header(self.framed(octets))
    }

    /// F-2, F-3: T of the packet that is committed now.
    fn length(&mut self, octets: u64) -> u64 {
        let whole = (self.framed(octets) + self.symbol_chars) * self.character.0 + self.carry;
        self.carry = whole % self.character.1;
        whole / self.character.1
    }

    /// F-21: from when on the direction is idle if a run ends at `end`.
    fn idle_from(&self, end: u64) -> u64 {
        match (self.packet, self.column) {
            (Some((start, _)), Some(column)) => start + (end - start).div_ceil(column) * column,
            _ => end,
        }
    }

    fn run_end(&self) -> u64 {
        self.run + self.places.len() as u64 * self.symbol()
    }

    /// F-22.
    fn follow(&mut self, now: u64) {
        let Some((_, end)) = self.packet else { return };
        if self.before_packet {
            (self.run, self.before_packet) = (end, false);
            self.places.clear();
        }
        if self.places.is_empty() && self.run == end && now > end {
            self.places.push(Place::default());
            self.places_alone += 1;
        }
    }

    /// F-23: a function becomes due now.
    pub fn due(&mut self, function: Function, now: u64) -> Due {
        let symbol = self.symbol();
        let first_free = |places: &[Place], run: u64| {
            let used =
                |place: &Place| if function == Function::Status { place.status } else { place.message };
            let used = places.iter().rposition(used).map_or(0, |last| last + 1);
            used.max(now.saturating_sub(run).div_ceil(symbol) as usize)
        };
        let mut at = first_free(&self.places, self.run);
        let rides_before = match self.packet {
            Some((start, _)) => self.before_packet && now <= start && at < self.places.len(),
            None => false,
        };
        let mut rides = true;
        if !rides_before {
            self.follow(now);
            if now > self.run && now >= self.run_end() {
                self.run = now.max(self.idle_from(self.run_end()));
                self.places.clear();
            }
            at = first_free(&self.places, self.run);
            let closes = at == 0 && self.packet.is_some_and(|(_, end)| end == self.run);
            rides = at < self.places.len() || closes;
            while self.places.len() <= at {
                self.places.push(Place::default());
                self.places_alone += 1;
            }
        }
        match function {
            Function::Status => self.places[at].status = true,
            Function::Message => self.places[at].message = true,
        }
        let begins = self.run + at as u64 * symbol;
        self.symbols.insert(begins);
        Due { begins, rides }
    }

    /// F-27: what of the last packet lies beyond the end of the run.
    pub fn beyond(&self, until: u64) -> u64 {
        self.packet.map_or(0, |(start, end)| end.saturating_sub(until.max(start)))
    }

    /// F-27: what of the places lies beyond the end of the run, with the padding between them.
    pub fn places_beyond(&self, until: u64) -> u64 {
        let last = match self.packet {
            Some((start, _)) if self.before_packet => start,
            _ => self.run_end(),
        };
        let packet = if self.before_packet { 0 } else { self.beyond(until) };
        last.saturating_sub(until + packet)
    }

    /// F-24: where a packet that is committed now starts, and what becomes of the run.
    fn place_start(&mut self, now: u64) -> u64 {
        self.follow(now);
        let end = self.run_end();
        if self.places.is_empty() {
            self.run = now.max(self.run);
            self.places.push(Place::default());
            self.run
        } else if end - self.symbol() >= now {
            // A symbol that waits becomes the start-of-packet.
            self.places_alone -= 1;
            end - self.symbol()
        } else if now < end && self.idle_from(end) <= end {
            self.places.push(Place::default());
            end
        } else {
            self.run = now.max(self.idle_from(end));
            self.places = vec![Place::default()];
            self.run
        }
    }

    /// F-24: a packet is committed now. Its start and its length.
    pub fn commit(&mut self, now: u64, octets: u64) -> (u64, u64) {
        let start = self.place_start(now);
        let length = self.length(octets);
        self.before_packet = true;
        self.last = self.packet.replace((start, start + length));
        self.symbols.extend([start, start + length]);
        (start, length)
    }

    /// F-124: where a packet would start that is committed at `from`, or after the one on the wire.
    pub fn next_start(&self, from: u64) -> u64 {
        let from = self.packet.map_or(from, |(_, end)| from.max(end));
        self.clone().place_start(from)
    }

    /// F-123: the first symbol that has its place now or later, the end of a packet included.
    pub fn next_symbol(&self, now: u64) -> Option<u64> {
        self.symbols.range(now..).next().copied()
    }

    /// F-123: a symbol of its own for an stype1 function. When it begins.
    pub fn request(&mut self, now: u64) -> u64 {
        let begins = self.due(Function::Status, now).begins;
        self.places.iter_mut().rev().find(|place| place.status).expect("just placed").status = false;
        begins
    }

    /// F-123: the packet on the wire is cut at the next multiple of four characters after its
    /// start-of-packet, if it lasts longer than that. When it ends then.
    pub fn cut(&mut self, now: u64) -> Option<u64> {
        let (start, end) = self.packet.expect("it is on the wire");
        let begun = start + self.symbol();
        let four = |n: u64| begun + 4 * n * self.character.0 / self.character.1;
        let cut = (0..).map(four).find(|&at| at >= now).expect("it goes on for ever");
        (cut < end).then(|| {
            self.end_at(cut);
            cut
        })
    }

    /// The last packet ends then, and what waits for that moves with it.
    fn end_at(&mut self, at: u64) {
        let (start, end) = self.packet.expect("there is one");
        if !self.before_packet && self.run == end {
            self.run = at;
        }
        self.packet = Some((start, at));
        let moved = self.symbols.split_off(&end);
        self.symbols.extend(moved.into_iter().map(|symbol| symbol - end + at));
    }

    /// F-124: another packet begins in the place of the one that was committed. Its length.
    pub fn replace(&mut self, octets: u64) -> u64 {
        let (start, _) = self.packet.expect("one was committed");
        let length = self.length(octets);
        self.end_at(start + length);
        length
    }

    /// F-123: the packet that was committed does not begin: its start-of-packet is a symbol like others, and
    /// what waits for its end moves up to `next`.
    pub fn take_back(&mut self, next: u64) {
        if self.before_packet {
            let (_, end) = self.packet.expect("one was committed");
            self.symbols.remove(&end);
        }
        self.end_at(next);
        (self.packet, self.before_packet) = (self.last, false);
        self.places_alone += 1;
    }
}
