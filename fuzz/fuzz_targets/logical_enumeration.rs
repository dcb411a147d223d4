//! The enumerating host under any answers: it neither panics nor asks without end, and every phase comes
//! once.
#![no_main]

use libfuzzer_sys::fuzz_target;
use logical::enumeration::{Enables, Enumerator, Event, Options, Phase};

fn run(bytes: &[u8]) {
    let Some((&options, answers)) = bytes.split_first() else { return };
    let enables = Enables {
        block: 0x000B,
        first: 0x00C,
        can_send: 1 << 31,
        can_receive: 1 << 30,
        send: 1 << 7,
        always: 1,
        can_link: 1 << 29,
        link: if options & 8 != 0 { 1 << 4 } else { 0 },
    };
    let mut host = Enumerator::new(Options {
        host: 0,
        large: options & 1 != 0,
        spread: options & 2 != 0,
        enables: (options & 4 != 0).then_some(enables),
        own_ability: 3 << 29,
        own_enables: (options & 16 != 0).then_some(0x200),
    });
    let mut phases = Vec::new();
    let mut answers = answers.chunks(5);
    // Answers that have run out are failures: then it has to come to an end.
    let mut left = 2_000_000u32;
    while host.poll_transmit().is_some() {
        assert!(host.poll_transmit().is_none(), "one request at a time");
        match answers.next() {
            Some(&[kind, a, b, c, d]) if kind % 16 != 0 => {
                // Small numbers are likelier to mean something.
                let word = u32::from_be_bytes([a, b, c, d]);
                host.handle_done(if kind & 0x10 != 0 { word & 0xFF } else { word });
            }
            _ => host.handle_failure(),
        }
        left -= 1;
        assert!(left > 0, "it asks for ever");
    }
    while let Some(event) = host.poll_event() {
        if let Event::Entered(phase) = event {
            phases.push(phase);
        }
    }
    assert_eq!(host.phase(), Phase::Done);
    assert_eq!(phases, Phase::ALL, "phases come once, in order");
}

fuzz_target!(|bytes: &[u8]| run(bytes));
