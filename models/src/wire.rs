//! One direction of a link in packet granularity: when packets and control symbols are on the wire.
//!
//! A control symbol carries one stype0 function (acknowledgement or status), one stype1 function (delimiter)
//! and one stype2 function (VoQ message). A symbol that becomes due while a packet is on the wire waits for the
//! delimiter that ends the packet; there, one stype0 and one stype2 function ride for nothing, and each further
//! one costs a symbol of its own before the next packet. On an idle direction a symbol leaves at once and a
//! packet that wants to start inside it waits for its end. So the time at which a symbol leaves is known when
//! it becomes due, which is what lets acknowledgements be records instead of events.
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
    /// End of the last packet.
    pub packet_end: u64,
    run_start: u64,
    symbol: u32,
    /// Column time for more than four lanes (ends of bursts are padded), else 0.
    column: u32,
    slots: u16,
    used0: u16,
    used2: u16,
    after: bool,
    any_packet: bool,
    /// Time taken by symbols of their own (closing delimiters included).
    pub symbol_ps: u64,
}

impl Wire {
    pub fn new(symbol_ps: u64, column_ps: u64) -> Self {
        Wire { symbol: symbol_ps as u32, column: column_ps as u32, after: true, ..Wire::default() }
    }

    /// Duration of one symbol.
    #[inline]
    pub fn symbol(&self) -> u64 {
        u64::from(self.symbol)
    }

    /// First instant after `end` at which an idle direction can start something: bursts of wide links end on a
    /// column.
    #[inline]
    fn idle_from(&self, end: u64) -> u64 {
        if self.column == 0 || !self.any_packet {
            return end;
        }
        let column = u64::from(self.column);
        self.packet_start + (end - self.packet_start).div_ceil(column) * column
    }

    /// Opens the run that follows the last packet, with its closing delimiter if `t` is past the packet's end.
    #[inline]
    fn follow(&mut self, t: u64) {
        if !self.after {
            self.after = true;
            self.run_start = self.packet_end;
            self.slots = 0;
            self.used0 = 0;
            self.used2 = 0;
        }
        if self.slots == 0 && self.any_packet && t > self.run_start && self.run_start == self.packet_end {
            self.slots = 1;
            self.symbol_ps += self.symbol();
        }
    }

    /// A function becomes due at `t`; the slot in which it leaves.
    #[inline]
    pub fn due(&mut self, t: u64, function: Function) -> SymbolSlot {
        let symbol = self.symbol();
        if !self.after {
            // The start-of-packet itself, if its first character has not left yet.
            let used = if function == Function::Stype0 { self.used0 } else { self.used2 };
            let first = t.saturating_sub(self.run_start).div_ceil(symbol) as u16;
            let slot = used.max(first);
            if slot < self.slots && t <= self.packet_start {
                self.take(function, slot);
                return SymbolSlot { start: self.run_start + u64::from(slot) * symbol, riding: true };
            }
        }
        self.follow(t);
        let end = self.run_start + u64::from(self.slots) * symbol;
        // A direction whose run is over (or that never sent anything) is idle: a new run starts now.
        if t > self.run_start && t >= end {
            self.run_start = t.max(self.idle_from(end));
            self.slots = 0;
            self.used0 = 0;
            self.used2 = 0;
        }
        let used = if function == Function::Stype0 { self.used0 } else { self.used2 };
        let first = t.saturating_sub(self.run_start).div_ceil(symbol) as u16;
        let slot = used.max(first);
        let closing = self.any_packet && self.run_start == self.packet_end && slot == 0;
        let riding = slot < self.slots || closing;
        if slot >= self.slots {
            self.symbol_ps += u64::from(slot + 1 - self.slots) * symbol;
            self.slots = slot + 1;
        }
        self.take(function, slot);
        SymbolSlot { start: self.run_start + u64::from(slot) * symbol, riding }
    }

    #[inline]
    fn take(&mut self, function: Function, slot: u16) {
        match function {
            Function::Stype0 => self.used0 = slot + 1,
            Function::Stype2 => self.used2 = slot + 1,
        }
    }

    /// A packet that takes `length` with its start-of-packet is committed at `t >= packet_end`; its start.
    #[inline]
    pub fn start_packet(&mut self, t: u64, length: u64) -> u64 {
        debug_assert!(t >= self.packet_end, "the packet on the wire runs to its end");
        self.follow(t);
        let symbol = self.symbol();
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
                self.symbol_ps -= symbol;
                last
            } else {
                let from = self.idle_from(end);
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
        self.any_packet = true;
        self.packet_start = start;
        self.packet_end = start + length;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TC: u64 = 3_200;
    const T: u64 = 113_600;

    fn wire() -> Wire {
        Wire::new(TC, 0)
    }

    #[test]
    fn back_to_back_packets_cost_one_delimiter_each() {
        let mut w = wire();
        assert_eq!(w.start_packet(0, T), 0);
        assert_eq!(w.start_packet(T, T), T);
        assert_eq!(w.packet_end, 2 * T);
        assert_eq!(w.symbol_ps, 0);
    }

    /// Proves: VOQ-2.5-6
    #[test]
    fn one_status_and_one_message_ride_free_and_each_further_one_costs_a_symbol() {
        let mut w = wire();
        w.start_packet(0, T);
        let a = w.due(10, Function::Stype0);
        let b = w.due(20, Function::Stype2);
        assert_eq!(a, SymbolSlot { start: T, riding: true });
        assert_eq!(b, SymbolSlot { start: T, riding: true });
        assert_eq!(w.clone().start_packet(T, T), T, "both ride on the next start-of-packet");
        let c = w.due(30, Function::Stype2);
        assert_eq!(c, SymbolSlot { start: T + TC, riding: false });
        assert_eq!(w.start_packet(T, T), T + TC, "the further one costs its characters before the packet");
        assert_eq!(w.symbol_ps, TC);
    }

    #[test]
    fn a_symbol_on_an_idle_direction_leaves_at_once_and_delays_a_start_inside_it() {
        let mut w = wire();
        let s = w.due(50_000, Function::Stype0);
        assert_eq!(s, SymbolSlot { start: 50_000, riding: false });
        assert_eq!(w.start_packet(51_000, T), 53_200);
        let mut w = wire();
        w.due(50_000, Function::Stype0);
        assert_eq!(w.start_packet(53_200, T), 53_200);
        let mut w = wire();
        w.due(50_000, Function::Stype0);
        assert_eq!(w.start_packet(50_000, T), 50_000, "at the same instant the symbol is the delimiter");
        assert_eq!(w.symbol_ps, 0);
    }

    #[test]
    fn the_closing_delimiter_occupies_an_idle_direction() {
        let mut w = wire();
        w.start_packet(0, T);
        assert_eq!(w.start_packet(T + 1, T), T + TC);
        assert_eq!(w.symbol_ps, TC);
        let mut w = wire();
        w.start_packet(0, T);
        assert_eq!(w.due(T + 1, Function::Stype0), SymbolSlot { start: T + TC, riding: false });
        let mut w = wire();
        w.start_packet(0, T);
        assert_eq!(w.due(T - 1, Function::Stype0), SymbolSlot { start: T, riding: true });
        assert_eq!(w.start_packet(T + 5, T), T + TC);
    }

    #[test]
    fn a_function_due_with_the_start_of_packet_rides_on_it() {
        let mut w = wire();
        w.start_packet(1_000, T);
        assert_eq!(w.due(1_000, Function::Stype0), SymbolSlot { start: 1_000, riding: true });
        assert_eq!(w.due(1_000, Function::Stype2), SymbolSlot { start: 1_000, riding: true });
        let next = w.due(1_000, Function::Stype0);
        assert_eq!(next, SymbolSlot { start: 1_000 + T, riding: true });
        let late = w.due(1_001, Function::Stype2);
        assert_eq!(late, SymbolSlot { start: 1_000 + T, riding: true });
    }

    #[test]
    fn wide_links_pad_the_end_of_a_burst_to_a_column() {
        // 16 lanes: a column is 16 characters, a symbol 8; 276 + 8 characters end inside a column.
        let mut w = Wire::new(800, 1_600);
        let length = 284 * 100;
        assert_eq!(w.start_packet(0, length), 0);
        assert_eq!(w.start_packet(length, length), length, "back to back needs no padding");
        let mut w = Wire::new(800, 1_600);
        w.start_packet(0, length);
        // 28 400 + closing delimiter 800 = 29 200 -> column end 30 400.
        assert_eq!(w.start_packet(length + 1, length), 30_400);
    }
}
