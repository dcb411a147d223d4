//! `series/congestion.json`: what each port does over time, as bytes.

use crate::collect::Collector;
use crate::collect::congestion::Frame;
use crate::num::{Num, ratio};
use crate::report::VariantReport;
use serde::Serialize;
use std::collections::BTreeMap;

/// Congestion of one variant, as its file has it.
#[derive(Debug, Serialize)]
struct Told {
    /// Where each frame ends: its last sample.
    frame_us: Vec<Num>,
    /// Device and number of each port.
    ports: Vec<String>,
    /// Share of the time since the last frame in which the transmitter carried packets, in 255ths.
    link_use: String,
    /// Mean packets waiting for the transmitter in that time, rounded up, at most 255.
    waiting: String,
    /// Mean packets in the receive buffers, likewise.
    held: String,
    /// Mean staging queues stopped, likewise.
    stopped: String,
    /// Mean packets that wait for a transmitter in the time of each frame, of all ports together: a sum of
    /// the bytes of `waiting` is more, by up to one for each port.
    waiting_packets: Vec<Num>,
    /// Mean staging queues stopped, likewise.
    stopped_queues: Vec<Num>,
}

/// The file `congestion.json`, if any of these runs kept it.
///
/// Each of the four texts has a byte for each frame and port, frame by frame: a run of zeros is a zero and
/// the
/// length of the run, up to 255; then base64 (RFC 4648). A byte is rounded up, so that what there is does not
/// vanish; what all ports come to together is told beside them, and rounded by nobody.
pub(crate) fn json(reports: &[VariantReport]) -> Option<String> {
    let told = |report: &VariantReport| {
        let told = Told::new(&report.run.collector, report)?;
        Some((report.run.name.clone(), told))
    };
    let variants: BTreeMap<String, Told> = reports.iter().filter_map(told).collect();
    if variants.is_empty() {
        return None;
    }
    let mut text = serde_json::json!({ "format": 1, "variants": variants }).to_string();
    text.push('\n');
    Some(text)
}

impl Told {
    fn new(collector: &Collector, report: &VariantReport) -> Option<Self> {
        let congestion = collector.congestion()?;
        let frames: Vec<&Frame> = congestion.frames().collect();
        if frames.is_empty() {
            return None;
        }
        let mut linked: Vec<(u32, u8)> =
            report.run.config.links.iter().flat_map(|link| [link.a, link.b]).collect();
        linked.sort_unstable();
        let bytes = |of: &dyn Fn(usize, usize) -> u8| -> String {
            let all: Vec<u8> = (0..frames.len())
                .flat_map(|frame| linked.iter().map(move |port| (frame, congestion.place(*port))))
                .map(|(frame, port)| of(frame, port))
                .collect();
            packed(&all)
        };
        let before = |frame: usize| frame.checked_sub(1).map(|before| frames[before]);
        let time = |frame: usize| {
            let time = frames[frame].at - before(frame).map_or(0, |before| before.at);
            time.max(1)
        };
        // so many 255ths or things on average in the time of the frame
        let mean = |frame: usize, whole: u128| whole.div_ceil(u128::from(time(frame))).min(255) as u8;
        let together = |of: &dyn Fn(usize, usize) -> u64| -> Vec<Num> {
            let ports = || linked.iter().map(|port| congestion.place(*port));
            let sum = |frame| ports().map(|port| u128::from(of(frame, port))).sum();
            (0..frames.len()).map(|frame| Num(ratio(sum(frame), time(frame).into()))).collect()
        };
        let link_use = bytes(&|frame, port| {
            // what a retry cut short is given back
            let earlier = before(frame).map_or(0, |before| before.carried[port]);
            mean(frame, u128::from(frames[frame].carried[port].saturating_sub(earlier)) * 255)
        });
        let stopped_for = |frame: usize, port: usize| {
            let earlier = before(frame).map_or(0, |before| before.stopped[port]);
            frames[frame].stopped[port].wrapping_sub(earlier)
        };
        let stopped = bytes(&|frame, port| mean(frame, stopped_for(frame, port).into()));
        let packets =
            |of: fn(&Frame) -> &Vec<u64>| bytes(&|frame, port| mean(frame, of(frames[frame])[port].into()));
        Some(Self {
            frame_us: frames.iter().map(|frame| Num(frame.at as f64 / 1e6)).collect(),
            ports: linked.iter().map(|(device, port)| report.port_name(*device, *port)).collect(),
            link_use,
            waiting: packets(|frame| &frame.waiting),
            held: packets(|frame| &frame.input),
            stopped,
            waiting_packets: together(&|frame, port| frames[frame].waiting[port]),
            stopped_queues: together(&stopped_for),
        })
    }
}

/// Bytes as a file has them.
pub(crate) fn packed(bytes: &[u8]) -> String {
    base64(&short(bytes))
}

/// What [`packed`] made of bytes, which are that many; `None` for any other text.
pub(crate) fn unpacked(text: &str, count: usize) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(count);
    let mut rest = octets(text)?.into_iter();
    while let Some(byte) = rest.next() {
        let times = if byte == 0 { usize::from(rest.next()?) } else { 1 };
        if times > count - out.len() {
            return None;
        }
        out.resize(out.len() + times, byte);
    }
    (out.len() == count).then_some(out)
}

/// Runs of zeros in two bytes.
fn short(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = bytes;
    while let Some((&first, more)) = rest.split_first() {
        out.push(first);
        rest = more;
        if first == 0 {
            let zeros = rest.iter().take(254).take_while(|byte| **byte == 0).count();
            out.push(zeros as u8 + 1);
            rest = &rest[zeros..];
        }
    }
    out
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// What [`base64`] made into a text; `None` for any other text.
fn octets(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=').bytes();
    let values: Option<Vec<u32>> =
        digits.map(|digit| DIGITS.iter().position(|known| *known == digit).map(|at| at as u32)).collect();
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for four in values?.chunks(4) {
        let word = four.iter().enumerate().fold(0, |word, (place, value)| word | value << (18 - 6 * place));
        out.extend(&word.to_be_bytes()[1..four.len()]);
    }
    Some(out)
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let at = |i: usize| u32::from(three.get(i).copied().unwrap_or(0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= three.len() { digit as char } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        for (text, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(text.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    /// What was packed comes back; what nobody packed is refused, also where it says that there is more.
    #[test]
    fn bytes_come_back() {
        for bytes in [&[][..], &[7], &[0; 300], &[7, 0, 0, 0, 9], &[0, 1, 255, 0, 0]] {
            let text = packed(bytes);
            assert_eq!(unpacked(&text, bytes.len()).as_deref(), Some(bytes));
            assert_eq!(unpacked(&text, bytes.len() + 1), None);
        }
        for wrong in ["!", "AP8=", "AA==", "Bwc="] {
            assert_eq!(unpacked(wrong, 1), None, "{wrong}");
        }
    }

    #[test]
    fn runs_of_zeros_are_short() {
        assert_eq!(short(&[7, 0, 0, 0, 9]), [7, 0, 3, 9]);
        assert_eq!(short(&[0; 300]), [0, 255, 0, 45]);
        assert_eq!(short(&[0]), [0, 1]);
        assert!(short(&[]).is_empty());
    }
}
