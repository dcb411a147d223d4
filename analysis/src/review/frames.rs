//! Congestion over time for the slider: as the folder has it, or in fewer parts.

use super::files::{list, real};
use crate::num::Num;
use crate::series::{packed, unpacked};
use serde_json::{Value, json};

/// How bytes of several parts become one, by their mean.
type Round = fn(f64) -> f64;

/// What a file kept of a variant with so many ports, in `most` parts at most. What is no such file is left as
/// it is.
pub(super) fn frames(kept: &Value, ports: usize, most: usize) -> Value {
    let ends: Vec<f64> = list(kept, "frame_us").iter().map(real).collect();
    let at_once = ends.len().div_ceil(most.max(1)).max(1);
    let coarser = |key: &str, round: Round| -> Value {
        let bytes = kept[key].as_str().and_then(|text| unpacked(text, ends.len() * ports));
        match bytes.filter(|_| at_once > 1) {
            Some(bytes) => packed(&together(&bytes, &ends, ports, at_once, round)).into(),
            None => kept[key].clone(),
        }
    };
    let use_of = coarser("link_use", libm::round);
    // what there is of packets and queues must not vanish
    let [wait, held, stop] = ["waiting", "held", "stopped"].map(|key| coarser(key, libm::ceil));
    let whole = list(kept, "frame_us").chunks(at_once).filter_map(<[Value]>::last);
    let whole: Vec<Num> = whole.map(|end| Num(real(end))).collect();
    let [waits, stops] = ["waiting_packets", "stopped_queues"].map(|key| totals(kept, key, &ends, at_once));
    json!({"t": whole, "use": use_of, "wait": wait, "held": held, "stop": stop,
           "waits": waits, "stops": stops})
}

/// Mean of what is there in each of these parts, which end at `ends`, by how long each of them is.
fn mean(parts: &[usize], ends: &[f64], there: impl Fn(usize) -> f64) -> f64 {
    let begin = |part: usize| if part > 0 { ends[part - 1] } else { 0.0 };
    let width = |part: usize| ends[part] - begin(part);
    let time: f64 = parts.iter().map(|part| width(*part)).sum();
    let sum: f64 = parts.iter().map(|part| there(*part) * width(*part)).sum();
    if time > 0.0 { sum / time } else { 0.0 }
}

/// What all ports come to together, in as many parts: `null` if the file does not have it.
fn totals(kept: &Value, key: &str, ends: &[f64], at_once: usize) -> Value {
    let all = list(kept, key);
    if all.len() != ends.len() {
        return Value::Null;
    }
    let parts: Vec<usize> = (0..ends.len()).collect();
    let means = parts.chunks(at_once).map(|parts| Num(mean(parts, ends, |part| real(&all[part]))));
    json!(means.collect::<Vec<Num>>())
}

/// Means over `at_once` parts.
fn together(bytes: &[u8], ends: &[f64], ports: usize, at_once: usize, round: Round) -> Vec<u8> {
    let mean = |parts: &[usize], port: usize| {
        let mean = mean(parts, ends, |part| f64::from(bytes[part * ports + port]));
        // a mean of equal numbers is that number, however the division ends
        round(mean - 1e-9).clamp(0.0, 255.0) as u8
    };
    let parts: Vec<usize> = (0..ends.len()).collect();
    let mut out = Vec::new();
    for parts in parts.chunks(at_once) {
        out.extend((0..ports).map(|port| mean(parts, port)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: two ports, three parts of 1, 3 and 1 us, two at once: (1 x 10 + 3 x 20) / 4 = 17.5 of use,
    /// and of packets (1 x 0 + 3 x 1) / 4, rounded up; the third stays alone. Of both ports together
    /// (1 x 0.5 + 3 x 1.5) / 4 = 1.25 wait, though the bytes add up to 3. A file without these has none.
    #[test]
    fn parts_become_one_by_their_length() {
        let kept = json!({"frame_us": [1.0, 4.0, 5.0], "link_use": packed(&[10, 0, 20, 0, 30, 255]),
                          "waiting": packed(&[0, 2, 1, 2, 0, 0]),
                          "held": packed(&[0; 6]), "stopped": packed(&[0; 6]),
                          "waiting_packets": [0.5, 1.5, 0.0]});
        let told = frames(&kept, 2, 2);
        assert_eq!(told["t"], json!([4.0, 5.0]));
        let bytes = |key: &str| unpacked(told[key].as_str().unwrap(), 4).unwrap();
        assert_eq!(bytes("use"), [17, 0, 30, 255]);
        assert_eq!(bytes("wait"), [1, 2, 0, 0]);
        assert_eq!((&told["waits"], &told["stops"]), (&json!([1.25, 0.0]), &Value::Null));
        // as many as there are: nothing is changed
        let whole = frames(&kept, 2, 3);
        assert_eq!((&whole["use"], &whole["t"]), (&kept["link_use"], &json!([1.0, 4.0, 5.0])));
    }
}
