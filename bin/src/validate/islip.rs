//! iSLIP slot by slot, as McKeown's paper tells it, over a list of arrivals: written for the comparison
//! alone, it shares nothing with the simulator but the random numbers' generator.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// A cell that arrives.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Arrival {
    /// Slot.
    pub slot: u64,
    /// Input.
    pub input: u32,
    /// Output.
    pub output: u32,
}

/// Bernoulli trials at each input, uniform outputs, by slot and input.
pub(crate) fn arrivals(ports: u32, slots: u64, percent: u64, seed: u64) -> Vec<Arrival> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut list = Vec::new();
    for slot in 0..slots {
        for input in 0..ports {
            let (trial, output) = (random.next_u64() % 100, (random.next_u64() % u64::from(ports)) as u32);
            if trial < percent {
                list.push(Arrival { slot, input, output });
            }
        }
    }
    list
}

/// Slots that all cells wait together: a cell that leaves in the slot of its arrival waits none.
pub(crate) fn total_wait(ports: u32, iterations: u8, arrivals: &[Arrival]) -> u64 {
    let n = ports as usize;
    let mut queues = vec![VecDeque::new(); n * n];
    let (mut grant, mut accept) = (vec![0; n], vec![0; n]);
    let (mut total, mut slot, mut left) = (0, 0, arrivals.len());
    let mut arrivals = arrivals.iter().peekable();
    while left > 0 {
        while let Some(cell) = arrivals.next_if(|cell| cell.slot == slot) {
            queues[cell.input as usize * n + cell.output as usize].push_back(slot);
        }
        let (mut partner_of_input, mut partner_of_output) = (vec![None; n], vec![None; n]);
        for iteration in 0..iterations {
            let mut granted = vec![Vec::new(); n];
            for output in 0..n {
                let wants = |input: &usize| {
                    partner_of_input[*input].is_none() && !queues[*input * n + output].is_empty()
                };
                let turn = (0..n).map(|k| (grant[output] + k) % n);
                if let (None, Some(input)) = (partner_of_output[output], { turn }.find(wants)) {
                    granted[input].push(output);
                }
            }
            for input in 0..n {
                let turn = (0..n).map(|k| (accept[input] + k) % n);
                if let Some(output) = { turn }.find(|output| granted[input].contains(output)) {
                    (partner_of_input[input], partner_of_output[output]) = (Some(output), Some(input));
                    if iteration == 0 {
                        (grant[output], accept[input]) = ((input + 1) % n, (output + 1) % n);
                    }
                }
            }
        }
        for (input, output) in partner_of_input.iter().enumerate() {
            if let Some(output) = output {
                let since = queues[input * n + output].pop_front().expect("it asked");
                total += slot - since;
                left -= 1;
            }
        }
        slot += 1;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two cells for one output: one waits a slot; one for another output does not.
    #[test]
    fn a_slot_serves_an_output_once() {
        let cell = |slot, input, output| Arrival { slot, input, output };
        assert_eq!(total_wait(2, 1, &[cell(0, 0, 0), cell(0, 1, 0)]), 1);
        assert_eq!(total_wait(2, 1, &[cell(0, 0, 0), cell(0, 1, 1)]), 0);
        assert_eq!(total_wait(2, 1, &[cell(0, 0, 0), cell(5, 0, 1)]), 0);
    }

    /// All inputs full: after a few slots of one iteration each the pointers have come apart, and every slot
    /// is used.
    #[test]
    fn pointers_come_apart_under_full_load() {
        let cells: Vec<Arrival> =
            (0..4).flat_map(|i| (0..4).map(move |o| Arrival { slot: 0, input: i, output: o })).collect();
        // Every pointer begins at 0: slot 0 serves (0,0); in each slot one more pointer has come apart,
        // so 1, 2, 3, 4 cells are served, and the other six in 3, 2, 1, as the first outputs have none
        // left.
        let served = [1, 2, 3, 4, 3, 2, 1];
        let law: u64 = served.iter().zip(0..).map(|(cells, slot)| cells * slot).sum();
        assert_eq!((served.iter().sum::<u64>(), law), (16, 48));
        assert_eq!(total_wait(4, 1, &cells), law);
    }
}
