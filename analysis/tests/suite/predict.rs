//! What windows of a run in parts say of more cores: arithmetic that can be done by hand.

use analysis::num::Num;
use analysis::predict::{OnCores, Prediction};
use analysis::profile::WindowReport;
use models::run::{Ledger, Spent};

/// Letters: from a part, to a part, how many.
type Letters = [(u16, u16, u32)];

fn ledger(parts: usize, windows: &[(&[u64], &Letters)], spent: Spent) -> Ledger {
    let mut ledger = Ledger::new(parts, 43_200);
    for (events, letters) in windows {
        let sent = (0..parts as u16).map(|part| {
            let from = letters.iter().filter(|(from, ..)| *from == part);
            from.map(|(_, to, count)| (*to, *count)).collect::<Vec<_>>()
        });
        ledger.enter(events.iter().copied().zip(sent));
    }
    Ledger { spent, ..ledger }
}

/// Seconds in parts on one core, on one core, and on more.
fn predicted(ledger: &Ledger, cores: &[usize], meeting_ns: f64) -> (f64, f64, Vec<OnCores>) {
    match Prediction::new(ledger, cores, meeting_ns) {
        Prediction::Parts { in_parts_s, one_core_s, predicted, .. } => {
            (in_parts_s.0, one_core_s.0, predicted)
        }
        Prediction::Whole { because } => panic!("it was cut: {because}"),
    }
}

/// Sums of a few floating-point numbers.
fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-12 * right.abs()
}

/// By hand. 18 events in 1 800 ns are 100 ns each, 8 letters in 160 ns 20 ns each (10 at either end), 2
/// windows of 4 parts in 80 ns 10 ns each; samples take 50 ns, a meeting 5 ns for each core.
///
/// Four cores: the busiest part of the first window has 4 events and the ends of 4 letters, 440 ns; of the
/// second 6 and 4, 640 ns. Two windows of four cores pause for (10 + 5) * 8 = 120 ns. With samples 1 250 ns.
/// Two: parts 0 and 1 have 6 events, and of their letters 2 cross: 620 ns; then 6 and 4, 640 ns. 60 ns of
/// pauses: 1 370 ns. One: 1 800 + 50. The work of four: 440 + 220 + 110 + 110 and 0 + 640 + 200 + 240 are
/// 1 960.
#[test]
fn two_windows_by_hand() {
    let first: &Letters = &[(0, 1, 2), (0, 2, 1), (3, 0, 1)];
    let windows: [(&[u64], &Letters); 2] = [(&[4, 2, 1, 1], first), (&[0, 6, 2, 2], &[(1, 3, 4)])];
    let spent = Spent { events: 1_800, mail: 160, between: 80, looks: 50 };
    let ledger = ledger(4, &windows, spent);
    let (in_parts, one, on) = predicted(&ledger, &[1, 2, 4, 16], 5.0);
    assert!(near(in_parts, 2_090e-9) && near(one, 1_850e-9));
    let law = [1_850.0, 1_370.0, 1_250.0, 1_250.0];
    for (on, law) in on.iter().zip(law) {
        assert!(near(on.seconds.0 * 1e9, law) && near(on.speed_up.0, 1_850.0 / law), "{on:?}");
    }
    assert_eq!(on.iter().map(|on| on.parts).collect::<Vec<_>>(), [1, 2, 4, 4]);
    assert!(near(on[2].imbalance.0, 1_080.0 * 4.0 / 1_960.0), "{:?}", on[2]);
    // Two windows, of 8 and 10 events; one part of eight had none; 8 letters.
    let windows = WindowReport::new(&ledger);
    assert_eq!(windows.events, [9.0, 10.0, 10.0, 10.0].map(Num));
    assert_eq!((windows.idle, windows.mail, windows.lookahead_ns), (Num(0.125), Num(4.0), Num(43.2)));
    assert_eq!((windows.events_s, windows.looks_s), (Num(1.8e-6), Num(5e-8)));
}

/// Some windows of eight parts, none of which are alike.
fn uneven(letters: u32) -> Ledger {
    let row = |window: u64| -> Vec<u64> { (0..8).map(|part| (window * 7 + part * part * 3) % 23).collect() };
    let rows: Vec<Vec<u64>> = (0..50).map(row).collect();
    let mail = [(0, 1, letters), (5, 2, 3 * letters), (7, 6, 2 * letters)];
    let mail: Vec<_> = mail.into_iter().filter(|(.., count)| *count > 0).collect();
    let windows: Vec<(&[u64], &Letters)> = rows.iter().map(|row| (&row[..], &mail[..])).collect();
    ledger(8, &windows, Spent { events: 123_457, mail: 7_919, between: 3_301, looks: 557 })
}

/// On one core it takes what was measured, whatever was measured and with or without mail.
#[test]
fn on_one_core_it_is_what_was_measured() {
    for letters in [0, 1, 10] {
        let ledger = uneven(letters);
        let (in_parts, one, on) = predicted(&ledger, &[1], 100.0);
        assert!(near(in_parts, (123_457 + 7_919 + 3_301 + 557) as f64 / 1e9), "{in_parts}");
        assert!(near(one, (123_457 + 557) as f64 / 1e9) && near(on[0].seconds.0, one));
    }
}

/// No work is lost: cores together take at least as long as one, and the busiest is not busier than all.
#[test]
fn work_is_conserved() {
    for letters in [0, 4] {
        let ledger = uneven(letters);
        let (in_parts, one, on) = predicted(&ledger, &[2, 4, 8], 0.0);
        for on in on {
            let together = on.seconds.0 * on.cores as f64;
            assert!(together >= one && on.seconds.0 <= in_parts, "{on:?}");
            assert!(on.speed_up.0 <= on.cores as f64 && on.imbalance.0 >= 1.0, "{on:?}");
        }
    }
}

/// Parts alike that say nothing to each other and meet at no cost: as many times faster as there are cores,
/// or parts if those are fewer.
#[test]
fn equal_parts_share_alike() {
    for parts in [2, 4, 16, 64] {
        let events = vec![7; parts];
        let windows = [(&events[..], &[][..]); 3];
        let ledger = ledger(parts, &windows, Spent { events: 21 * parts as u64 * 64, ..Spent::default() });
        for on in predicted(&ledger, &[1, 2, 4, 16, 64, 256], 0.0).2 {
            assert_eq!(on.speed_up.0, on.cores.min(parts) as f64, "{on:?}");
            assert_eq!(on.imbalance.0, 1.0);
        }
    }
}

/// A long run has rows for some of its windows, and all of its work.
#[test]
fn what_has_no_row_counts() {
    let events: &[u64] = &[3, 3];
    let windows = vec![(events, &[][..]); 50_000];
    let ledger = ledger(2, &windows, Spent { events: 300_000, ..Spent::default() });
    assert!(ledger.every > 1);
    assert_eq!(predicted(&ledger, &[2], 0.0).2[0].speed_up, Num(2.0));
}
