//! `riosim goal` against LogGOPSim: times of drawn programs that the program built from its public source
//! (github.com/spcl/LogGOPSim, commit 76451de, g++ 12) gave, to the nanosecond.

use models::goal::loggops::{LogGops, Rules, run};
use models::sim_core::Duration;
use scenarios::goal::read;
use std::fmt::Write;
use std::sync::Arc;

/// Numbers below a bound, by SplitMix64.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}

/// A program: the first third of the seeds has few operations, the second more than 16 that are free at
/// once, the last several processors.
fn program(seed: u64) -> String {
    let mut draw = Draw(seed);
    let ranks = 2 + draw.below(4);
    let kind = seed / 12;
    let messages = if kind == 1 { 60 + draw.below(60) } else { 4 + draw.below(16) };
    let mut operations = vec![Vec::new(); ranks as usize];
    for _ in 0..messages {
        let (from, to, tag) = (draw.below(ranks), draw.below(ranks), draw.below(2));
        // All of one sender, receiver and tag have one length.
        let octets = 1 + (from * 977 + to * 331 + tag * 1_409 + seed * 71) % 2_000;
        operations[from as usize].push(format!("send {octets}b to {to} tag {tag}"));
        operations[to as usize].push(format!("recv {octets}b from {from} tag {tag}"));
    }
    let mut text = format!("num_ranks {ranks}\n");
    for (rank, mut operations) in operations.into_iter().enumerate() {
        for _ in 0..draw.below(6) {
            operations.push(format!("calc {}", draw.below(4) * draw.below(3_000)));
        }
        writeln!(text, "rank {rank} {{").unwrap();
        let number = operations.len() as u64;
        for left in (1..=number).rev() {
            let operation = operations.swap_remove(draw.below(left) as usize);
            let processor = if kind == 2 { format!(" cpu {}", draw.below(2)) } else { String::new() };
            writeln!(text, "l{left}: {operation}{processor}").unwrap();
            // What came before has a higher number. Few dependencies, or hardly a program ends.
            let other = left + 1 + draw.below(4);
            if other <= number && draw.below(if kind == 1 { 24 } else { 3 }) == 0 {
                let word = ["requires", "irequires"][draw.below(2) as usize];
                writeln!(text, "l{left} {word} l{other}").unwrap();
            }
        }
        text.push_str("}\n");
    }
    text
}

/// When the last rank is done, by each of the parameters; 0: never.
const TIMES: [[u64; 3]; 36] = [
    [14_824, 29_684, 17_202],
    [14_596, 71_408, 27_598],
    [13_503, 38_996, 16_317],
    [16_825, 72_600, 28_616],
    [0, 0, 0],
    [13_254, 60_786, 28_707],
    [0, 0, 0],
    [15_683, 0, 0],
    [11_191, 47_700, 15_815],
    [21_863, 65_763, 38_404],
    [11_152, 43_062, 18_534],
    [9408, 47_878, 17_663],
    [38_565, 254_608, 102_140],
    [34_571, 214_357, 90_056],
    [49_587, 326_034, 135_414],
    [38_305, 292_474, 117_636],
    [42_411, 273_844, 106_822],
    [37_436, 223_024, 87_442],
    [51_388, 315_912, 132_152],
    [90_394, 667_102, 272_020],
    [68_707, 492_098, 204_309],
    [49_471, 357_312, 0],
    [39_520, 277_956, 103_052],
    [38_610, 236_058, 90_323],
    [7614, 59_828, 18_874],
    [10_571, 76_726, 25_926],
    [10_742, 52_352, 20_578],
    [9569, 55_950, 17_401],
    [11_462, 51_446, 21_497],
    [0, 0, 0],
    [10_076, 52_490, 18_338],
    [11_723, 47_393, 16_661],
    [6188, 46_718, 14_981],
    [0, 0, 0],
    [10_779, 39_759, 19_267],
    [19_821, 37_601, 24_308],
];

/// L, o, g, O, G in ns, S in octets.
const PARAMETERS: [[u64; 6]; 3] =
    [[200, 0, 0, 0, 1, 0xFFFF_FFFF], [2_500, 1_500, 1_000, 0, 6, 900], [7, 3, 11, 2, 1, 64]];

#[test]
fn drawn_programs_take_the_time_that_loggopsim_says() {
    for (seed, times) in (0..).zip(TIMES) {
        let schedule = Arc::new(read(&program(seed)).expect("it is a program"));
        for ([latency, overhead, gap, overhead_per_octet, gap_per_octet, eager_octets], ns) in
            PARAMETERS.into_iter().zip(times)
        {
            let parameters = LogGops {
                latency: Duration::from_ns(latency),
                overhead: Duration::from_ns(overhead),
                gap: Duration::from_ns(gap),
                gap_per_octet: Duration::from_ns(gap_per_octet),
                overhead_per_octet: Duration::from_ns(overhead_per_octet),
                eager_octets,
                rules: Rules::default(),
            };
            let done = run(schedule.clone(), parameters).expect("no time is too long");
            let end = done.end().map_or(0, |end| end.as_ps() / 1_000);
            assert_eq!(end, ns, "program {seed}, {parameters:?}:\n{}", program(seed));
        }
    }
}
