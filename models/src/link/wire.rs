//! One direction of a link: when packets and control symbols are on the wire. In packet granularity this is
//! all there is; in symbol granularity `symbol` asks it when, and a link port what.
//!
//! A control symbol carries one stype0 function (acknowledgement or status), one stype1 function (delimiter)
//! and one stype2 function (VoQ message). A symbol that becomes due while a packet is on the wire waits for
//! the delimiter that ends the packet; there, one stype0 and one stype2 function ride for nothing, and each
//! further one costs a symbol of its own before the next packet. On an idle direction a symbol leaves at once
//! and a packet that wants to start inside it waits for its end. So the time at which a symbol leaves is
//! known when it becomes due, which is what lets acknowledgements be records instead of events.
//!
//! After a packet that no other follows at once, an end-of-packet symbol occupies the direction.

/// Which function of a control symbol.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// Acknowledgement or status.
    Stype0,
    /// VoQ message.
    Stype2,
}

/// Where a symbol function went.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct SymbolSlot {
    /// First character of the symbol, ps.
    pub start: u64,
    /// It shares a symbol that is sent anyway.
    pub riding: bool,
}

/// Timing state of one direction. All times in picoseconds.
///
/// Symbols form a *run*: contiguous slots of one symbol time from `run_start`. While `after` is false the run
/// is the one that ends with the start-of-packet of the packet on the wire; otherwise it follows that packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wire {
    /// First character of the last packet's start-of-packet.
    pub packet_start: u64,
    /// End of the last packet; 0 before the first.
    pub packet_end: u64,
    run_start: u64,
    slots: u16,
    used0: u16,
    used2: u16,
    /// Once the run behind the packet is open: where the last status before it leaves, in slots back from the
    /// packet's start-of-packet, from 1; 0 if no status waited there.
    status_back: u8,
    after: bool,
    /// Symbols that took characters of their own (closing delimiters included).
    pub own_symbols: u32,
    /// Status functions that rode on a symbol that was sent anyway; counted by the caller (fills the line).
    pub status_riding: u32,
}

/// Constants of a direction, picoseconds.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WireTiming {
    /// One control symbol.
    pub symbol: u64,
    /// Column time for more than four lanes (ends of bursts are padded), else 0.
    pub column: u64,
}

impl Wire {
    pub fn new() -> Self {
        Wire { after: true, ..Wire::default() }
    }

    #[inline(always)]
    fn any_packet(&self) -> bool {
        self.packet_end != 0
    }

    /// Whether the last stype0 function has not left before `t`.
    #[inline]
    pub(super) fn status_unsent(&self, t: u64, timing: WireTiming) -> bool {
        if self.used0 > 0 {
            return self.run_start + u64::from(self.used0 - 1) * timing.symbol >= t;
        }
        // It may wait on a start-of-packet behind which there is something already.
        self.after
            && self.status_back > 0
            && self.packet_start >= t + u64::from(self.status_back - 1) * timing.symbol
    }

    /// First instant after `end` at which an idle direction can start something: bursts of wide links end on
    /// a column.
    #[inline]
    fn idle_from(&self, end: u64, timing: WireTiming) -> u64 {
        if timing.column == 0 || !self.any_packet() {
            return end;
        }
        self.packet_start + (end - self.packet_start).div_ceil(timing.column) * timing.column
    }

    /// Opens the run that follows the last packet, with its closing delimiter if `t` is past the packet's
    /// end.
    #[inline(always)]
    fn follow(&mut self, t: u64) {
        if !self.after {
            self.after = true;
            self.run_start = self.packet_end;
            let back = if self.used0 == 0 { 0 } else { self.slots + 1 - self.used0 };
            // Between them are messages alone, and never many.
            self.status_back = u8::try_from(back).unwrap_or(0);
            self.slots = 0;
            self.used0 = 0;
            self.used2 = 0;
        }
        if self.slots == 0 && self.any_packet() && t > self.run_start && self.run_start == self.packet_end {
            self.slots = 1;
            self.own_symbols += 1;
        }
    }

    /// A function becomes due at `t`; the slot in which it leaves.
    #[inline(always)]
    pub fn due(&mut self, t: u64, function: Function, timing: WireTiming) -> SymbolSlot {
        let symbol = timing.symbol;
        if !self.after && t <= self.packet_start {
            // The start-of-packet itself, if its first character has not left yet.
            let slot = self.next_slot(t, function, symbol);
            if slot < self.slots {
                self.take(function, slot);
                return SymbolSlot { start: self.run_start + u64::from(slot) * symbol, riding: true };
            }
        }
        self.follow(t);
        let end = self.run_start + u64::from(self.slots) * symbol;
        // A direction whose run is over (or that never sent anything) is idle: a new run starts now.
        if t > self.run_start && t >= end {
            self.run_start = t.max(self.idle_from(end, timing));
            self.slots = 0;
            self.used0 = 0;
            self.used2 = 0;
        }
        let slot = self.next_slot(t, function, symbol);
        let closing = self.any_packet() && self.run_start == self.packet_end && slot == 0;
        let riding = slot < self.slots || closing;
        if slot >= self.slots {
            self.own_symbols += u32::from(slot + 1 - self.slots);
            self.slots = slot + 1;
        }
        self.take(function, slot);
        SymbolSlot { start: self.run_start + u64::from(slot) * symbol, riding }
    }

    /// The first slot of the run that is free for `function` and has not begun before `t`.
    #[inline(always)]
    fn next_slot(&self, t: u64, function: Function, symbol: u64) -> u16 {
        let used = if function == Function::Stype0 { self.used0 } else { self.used2 };
        // Nearly always the run lies ahead, and the division is not needed.
        if t <= self.run_start { used } else { used.max((t - self.run_start).div_ceil(symbol) as u16) }
    }

    #[inline]
    fn take(&mut self, function: Function, slot: u16) {
        match function {
            Function::Stype0 => self.used0 = slot + 1,
            Function::Stype2 => self.used2 = slot + 1,
        }
    }

    /// A packet that takes `length` with its start-of-packet is committed at `t >= packet_end`; its start.
    #[inline(always)]
    pub(super) fn start_packet(&mut self, t: u64, length: u64, timing: WireTiming) -> u64 {
        debug_assert!(t >= self.packet_end, "the packet on the wire runs to its end");
        self.follow(t);
        let symbol = timing.symbol;
        let start = if self.slots == 0 {
            // Back to back, or the very first packet: the start-of-packet is a new slot.
            self.run_start = t.max(self.run_start);
            self.slots = 1;
            self.run_start
        } else {
            let last = self.run_start + u64::from(self.slots - 1) * symbol;
            let end = last + symbol;
            if last >= t {
                // The last waiting symbol becomes the start-of-packet: its own characters are saved.
                self.own_symbols -= 1;
                last
            } else {
                let from = self.idle_from(end, timing);
                if t < from && from == end {
                    self.slots += 1;
                    end
                } else {
                    self.run_start = t.max(from);
                    self.slots = 1;
                    self.used0 = 0;
                    self.used2 = 0;
                    self.run_start
                }
            }
        };
        self.after = false;
        self.packet_start = start;
        self.packet_end = start + length;
        start
    }
}

/// What symbol granularity asks besides.
impl Wire {
    /// Earliest instant from `t` on at which a further packet could start.
    pub(super) fn free_at(&self, t: u64, timing: WireTiming) -> u64 {
        self.clone().start_packet(t.max(self.packet_end), 1, timing)
    }

    /// An stype1 function becomes due at `t`, and no symbol is waiting that could carry it: when its symbol
    /// begins.
    pub fn request(&mut self, t: u64, timing: WireTiming) -> u64 {
        let slot = self.due(t, Function::Stype0, timing);
        // The function takes nothing but characters: acknowledgements may ride on its symbol.
        self.used0 -= 1;
        slot.start
    }

    /// The packet on the wire ends early, at `at`; symbols that wait for its end move up.
    pub fn cut(&mut self, at: u64) {
        if self.after && self.run_start == self.packet_end {
            self.run_start = at;
        }
        self.packet_end = at;
    }

    /// Another packet starts in the place of the last one committed, which has not begun: it takes `length`.
    /// Symbols that wait for the end move with it.
    pub fn replace(&mut self, length: u64) {
        let end = self.packet_start + length;
        if self.after && self.run_start == self.packet_end {
            self.run_start = end;
        }
        self.packet_end = end;
    }

    /// The last packet committed does not start after all: its start-of-packet becomes a symbol like others,
    /// and symbols that wait for its end move up, to `next`. `last`: start and end of the packet before it.
    pub(super) fn retract(&mut self, next: u64, last: Option<(u64, u64)>) {
        if self.after && self.run_start == self.packet_end {
            self.run_start = next;
        }
        self.status_back = 0;
        (self.packet_start, self.packet_end) = last.unwrap_or_default();
        self.after = true;
        self.own_symbols += 1;
    }

    /// End of the last stype2 function, unless a packet was committed after it.
    pub(super) fn last_message(&self, timing: WireTiming) -> Option<u64> {
        (self.after && self.used2 > 0).then(|| self.run_start + u64::from(self.used2) * timing.symbol)
    }

    /// What of the last packet lies after `end`.
    pub fn beyond(&self, end: u64) -> u64 {
        self.packet_end.saturating_sub(end.max(self.packet_start))
    }

    /// What lies after `end` up to the last slot, the last packet not included: time of symbols that have
    /// their slots, and padding between them.
    pub fn symbols_beyond(&self, end: u64, timing: WireTiming) -> u64 {
        let (last, packet) = match self.after {
            true => (self.run_start + u64::from(self.slots) * timing.symbol, self.beyond(end)),
            // The last slot is that of the packet.
            false => (self.packet_start, 0),
        };
        last.saturating_sub(end + packet)
    }

    /// Start and end of the last packet.
    pub(super) fn last_packet(&self) -> Option<(u64, u64)> {
        self.any_packet().then_some((self.packet_start, self.packet_end))
    }

    /// The wire is silent from `t` on: whatever was on it is gone.
    pub(super) fn silence(&mut self, t: u64) {
        let kept = Wire { own_symbols: self.own_symbols, status_riding: self.status_riding, ..Wire::new() };
        *self = Wire { run_start: t, ..kept };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TC: u64 = 3_200;
    const T: u64 = 113_600;

    const FOUR: WireTiming = WireTiming { symbol: TC, column: 0 };
    const SIXTEEN: WireTiming = WireTiming { symbol: 800, column: 1_600 };

    fn wire() -> Wire {
        Wire::new()
    }

    #[test]
    fn a_status_can_be_amended_until_its_symbol_begins() {
        let mut w = wire();
        assert!(!w.status_unsent(0, FOUR), "there is none yet");
        for n in 0..3 {
            // Each follows the one before, and leaves at `at`.
            let at = w.due(1_000 + n, Function::Stype0, FOUR).start;
            assert_eq!(at, 1_000 + n * TC);
            assert!(w.status_unsent(at - 1, FOUR) && w.status_unsent(at, FOUR));
            assert!(!w.status_unsent(at + 1, FOUR));
        }
        // What is due later in the run is another function.
        w.due(1_003, Function::Stype2, FOUR);
        assert!(!w.status_unsent(1_000 + 2 * TC + 1, FOUR));
    }

    /// Ten statuses that become due within 1 ns take 32 ns. A packet takes the place of the last one.
    #[test]
    fn only_what_lies_before_an_end_counts() {
        let mut w = wire();
        assert_eq!(w.symbols_beyond(0, FOUR), 0);
        for n in 0..10 {
            w.due(n * 100, Function::Stype0, FOUR);
        }
        assert_eq!(w.own_symbols, 10);
        let beyond = |w: &Wire, ends: [u64; 4]| ends.map(|end| w.symbols_beyond(end, FOUR));
        assert_eq!(beyond(&w, [0, 5 * TC + 700, 9 * TC, 10 * TC]), [10 * TC, 4 * TC + 2_500, TC, 0]);
        assert_eq!(w.start_packet(1_000, T, FOUR), 9 * TC);
        assert_eq!(w.own_symbols, 9);
        assert_eq!(beyond(&w, [1_000, 8 * TC, 9 * TC, 10 * TC]), [9 * TC - 1_000, TC, 0, 0]);
        // Behind the packet, from 142.4 ns on: its delimiter carries two functions, the next symbol one.
        let end = 9 * TC + T;
        for (t, function) in [(1_001, Function::Stype0), (1_002, Function::Stype0), (1_003, Function::Stype2)]
        {
            w.due(50_000 + t, function, FOUR);
        }
        assert_eq!(w.own_symbols, 11);
        assert_eq!(
            beyond(&w, [8 * TC, 60_000, end + 1_200, end + 2 * TC]),
            [3 * TC, 2 * TC, 2 * TC - 1_200, 0]
        );
    }

    #[test]
    fn back_to_back_packets_cost_one_delimiter_each() {
        let mut w = wire();
        assert_eq!(w.start_packet(0, T, FOUR), 0);
        assert_eq!(w.start_packet(T, T, FOUR), T);
        assert_eq!(w.packet_end, 2 * T);
        assert_eq!(w.own_symbols, 0);
    }

    /// Proves: VOQ-2.5-6
    #[test]
    fn one_status_and_one_message_ride_free_and_each_further_one_costs_a_symbol() {
        let mut w = wire();
        w.start_packet(0, T, FOUR);
        let a = w.due(10, Function::Stype0, FOUR);
        let b = w.due(20, Function::Stype2, FOUR);
        assert_eq!(a, SymbolSlot { start: T, riding: true });
        assert_eq!(b, SymbolSlot { start: T, riding: true });
        assert_eq!(w.clone().start_packet(T, T, FOUR), T, "both ride on the next start-of-packet");
        let c = w.due(30, Function::Stype2, FOUR);
        assert_eq!(c, SymbolSlot { start: T + TC, riding: false });
        assert_eq!(
            w.start_packet(T, T, FOUR),
            T + TC,
            "the further one costs its characters before the packet"
        );
        assert_eq!(w.own_symbols, 1);
    }

    #[test]
    fn a_symbol_on_an_idle_direction_leaves_at_once_and_delays_a_start_inside_it() {
        let mut w = wire();
        let s = w.due(50_000, Function::Stype0, FOUR);
        assert_eq!(s, SymbolSlot { start: 50_000, riding: false });
        assert_eq!(w.start_packet(51_000, T, FOUR), 53_200);
        let mut w = wire();
        w.due(50_000, Function::Stype0, FOUR);
        assert_eq!(w.start_packet(53_200, T, FOUR), 53_200);
        let mut w = wire();
        w.due(50_000, Function::Stype0, FOUR);
        assert_eq!(
            w.start_packet(50_000, T, FOUR),
            50_000,
            "at the same instant the symbol is the delimiter"
        );
        assert_eq!(w.own_symbols, 0);
    }

    #[test]
    fn the_closing_delimiter_occupies_an_idle_direction() {
        let mut w = wire();
        w.start_packet(0, T, FOUR);
        assert_eq!(w.start_packet(T + 1, T, FOUR), T + TC);
        assert_eq!(w.own_symbols, 1);
        let mut w = wire();
        w.start_packet(0, T, FOUR);
        assert_eq!(w.due(T + 1, Function::Stype0, FOUR), SymbolSlot { start: T + TC, riding: false });
        let mut w = wire();
        w.start_packet(0, T, FOUR);
        assert_eq!(w.due(T - 1, Function::Stype0, FOUR), SymbolSlot { start: T, riding: true });
        assert_eq!(w.start_packet(T + 5, T, FOUR), T + TC);
    }

    #[test]
    fn a_function_due_with_the_start_of_packet_rides_on_it() {
        let mut w = wire();
        w.start_packet(1_000, T, FOUR);
        assert_eq!(w.due(1_000, Function::Stype0, FOUR), SymbolSlot { start: 1_000, riding: true });
        assert_eq!(w.due(1_000, Function::Stype2, FOUR), SymbolSlot { start: 1_000, riding: true });
        let next = w.due(1_000, Function::Stype0, FOUR);
        assert_eq!(next, SymbolSlot { start: 1_000 + T, riding: true });
        let late = w.due(1_001, Function::Stype2, FOUR);
        assert_eq!(late, SymbolSlot { start: 1_000 + T, riding: true });
    }

    /// F-45: the last status has not left as long as the start-of-packet on which it rides has not begun,
    /// also if something waits behind that packet already.
    #[test]
    fn a_status_on_a_start_of_packet_is_unsent_until_that_begins() {
        let mut w = wire();
        assert_eq!(w.due(0, Function::Stype2, FOUR).start, 0);
        assert_eq!(w.start_packet(1, T, FOUR), TC, "behind the symbol on the wire");
        let on_it = SymbolSlot { start: TC, riding: true };
        assert_eq!(w.due(2, Function::Stype0, FOUR), on_it);
        assert!(w.status_unsent(3, FOUR));
        assert_eq!(w.due(3, Function::Stype2, FOUR), on_it);
        assert_eq!(w.due(4, Function::Stype2, FOUR).start, TC + T, "the start-of-packet has one message");
        assert!(w.status_unsent(5, FOUR));
        assert!(w.status_unsent(TC, FOUR), "its place begins now");
        assert!(!w.status_unsent(TC + 1, FOUR));
        // A status behind the packet is the last one from then on.
        assert_eq!(w.due(TC + 2, Function::Stype0, FOUR).start, TC + T);
        assert!(w.status_unsent(TC + T, FOUR));
        assert!(!w.status_unsent(TC + T + 1, FOUR));
        // Without a status before the packet none is unsent.
        let mut w = wire();
        w.due(0, Function::Stype2, FOUR);
        w.start_packet(1, T, FOUR);
        w.due(2, Function::Stype2, FOUR);
        w.due(3, Function::Stype2, FOUR);
        assert!(!w.status_unsent(4, FOUR));
    }

    #[test]
    fn wide_links_pad_the_end_of_a_burst_to_a_column() {
        // 16 lanes: a column is 16 characters, a symbol 8; 276 + 8 characters end inside a column.
        let mut w = Wire::new();
        let length = 284 * 100;
        assert_eq!(w.start_packet(0, length, SIXTEEN), 0);
        assert_eq!(w.start_packet(length, length, SIXTEEN), length, "back to back needs no padding");
        let mut w = Wire::new();
        w.start_packet(0, length, SIXTEEN);
        // 28 400 + closing delimiter 800 = 29 200 -> column end 30 400.
        assert_eq!(w.start_packet(length + 1, length, SIXTEEN), 30_400);
    }
}
