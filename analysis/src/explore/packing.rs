//! Where the STUs of a Transfer lie in the buffers of its destination (Figure 11 of the standard): as a table
//! and as a picture of what an end of Scheduled Transfer really sends.

use crate::axes::{GREY, GRID, INK, LABEL, MARGIN, PAGE, PANEL, SHADE, TICK, WHITE, heading};
use crate::scene::{Align, Scene, text_width};
use plotters::style::RGBColor;
use scheduled_transfer::llp::Medium;
use scheduled_transfer::memory::Pattern;
use scheduled_transfer::wire::{HEADER_BYTES, Op};
use scheduled_transfer::{
    Config, ConnectionId, Endpoint, Event, ExposeOptions, Extras, Span, TransferOptions, Ula,
};
use std::fmt::Write;

/// A Transfer and the sizes that decide where it is cut.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Packing {
    /// What it shows.
    pub title: &'static str,
    /// Octets of the Transfer.
    pub octets: u64,
    /// Where its first octet lies in its first buffer.
    pub offset: u64,
    /// Exponent of the buffers.
    pub bufsize: u32,
    /// Exponent of the Blocks.
    pub blocksize: u16,
    /// Exponent of the largest STU.
    pub max_stu: u32,
}

/// The three examples of Figure 11: 26 000 octets in seven buffers of 4 KiB.
pub const EXAMPLES: [Packing; 3] = {
    const fn example(title: &'static str, blocksize: u16, max_stu: u32) -> Packing {
        Packing { title, octets: 26_000, offset: 0x600, bufsize: 12, blocksize, max_stu }
    }
    [
        example("(a) Blocks of a buffer", 12, 12),
        example("(b) four Blocks to a buffer", 10, 10),
        example("(c) Blocks of two buffers", 13, 12),
    ]
};

/// An STU as it was sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stu {
    /// B_num of its Block.
    pub block: u32,
    /// STU_num.
    pub number: u16,
    /// Its buffer, counted from the first.
    pub buffer: u32,
    /// Where it lies in it.
    pub offset: u32,
    /// Its octets.
    pub octets: u32,
}

const PORT: u16 = 0x14;
const ALL_CHANNELS: u8 = 0b1111;

fn ula(end: usize) -> Ula {
    Ula([2, 0, 0, 0, 0, end as u8])
}

impl Packing {
    /// The STUs, in the order in which a real end sends them to another. `None` if the sizes do not go
    /// together.
    pub fn stus(&self) -> Option<Vec<Stu>> {
        let config = Config {
            bufsize: self.bufsize,
            max_stu: self.max_stu,
            slots: scheduled_transfer::slots::UNCOUNTED,
            // Takes STUs of any size.
            medium: Medium::Hippi6400,
            ..Config::default()
        };
        let memory = Pattern::new((self.offset + self.octets).next_multiple_of(1 << self.bufsize), 0);
        let end = || Endpoint::new(config, memory.clone()).ok();
        let mut ends = [end()?, end()?];
        ends[1].listen(PORT, 0);
        ends[0].connect(0, (ula(1), 0), (PORT, 0), Extras::default());
        let mut stus: Vec<Stu> = Vec::new();
        let mut first = None;
        loop {
            let mut silent = true;
            for from in 0..2 {
                let mut octets = Vec::new();
                while let Some(sent) = ends[from].poll_transmit(0, 0, ALL_CHANNELS, &mut octets) {
                    silent = false;
                    let header = sent.header;
                    if header.op == Op::Data as u8 {
                        let first = *first.get_or_insert(header.bufx);
                        stus.push(Stu {
                            block: header.b_num,
                            number: header.param,
                            buffer: header.bufx.wrapping_sub(first),
                            offset: header.offset,
                            octets: (octets.len() - HEADER_BYTES) as u32,
                        });
                    }
                    ends[1 - from].handle(0, (ula(from), 0), &octets);
                    octets.clear();
                }
                while let Some((connection, news)) = ends[from].poll_event() {
                    silent = false;
                    self.heard(&mut ends[from], connection, news);
                }
            }
            if silent {
                return (!stus.is_empty()).then_some(stus);
            }
        }
    }

    fn heard(&self, end: &mut Endpoint<Pattern>, connection: ConnectionId, news: Event) {
        match news {
            Event::Incoming { .. } => _ = end.accept(0, connection, Extras::default()),
            // Only the end that writes has nothing to expect of the other.
            Event::Opened if end.connection(connection).is_some_and(|it| it.peer() == ula(1)) => {
                let options = TransferOptions { max_block: self.blocksize, ..TransferOptions::default() };
                end.write(0, connection, Span::new(0, self.octets), options);
            }
            Event::WriteOffered { id, t_len, .. } => {
                let options = ExposeOptions { window: 0, blocksize: self.blocksize };
                end.expose(0, connection, id, Span::new(self.offset, t_len), options);
            }
            _ => {}
        }
    }
}

/// The examples as a table.
#[must_use]
pub fn table(examples: &[Packing]) -> String {
    let mut text = String::new();
    for example in examples {
        let _ = writeln!(
            text,
            "{}: a Transfer of {} octets that begins at offset {:#x} of its first buffer; buffers of {} \
             octets, Blocks of {}, STUs of at most {}",
            example.title,
            example.octets,
            example.offset,
            1u64 << example.bufsize,
            1u64 << example.blocksize,
            1u64 << example.max_stu
        );
        let _ = writeln!(text, "  Block  STU  buffer  offset in it  octets of the STU");
        for stu in example.stus().into_iter().flatten() {
            let Stu { block, number, buffer, offset, octets } = stu;
            let _ = writeln!(text, "  {block:>5}  {number:>3}  {buffer:>6}  {offset:>#12x}  {octets:>17}");
        }
    }
    text
}

const BUFFER: RGBColor = SHADE;
const BLOCKS: [RGBColor; 2] = [RGBColor(0x9e, 0xc9, 0xe9), RGBColor(0xc9, 0xe2, 0xf3)];
const ROW: f64 = 24.0;
const EXAMPLE: f64 = 172.0;

fn scene(examples: &[Packing]) -> Scene {
    let height = 96.0 + EXAMPLE * examples.len() as f64;
    let mut scene = Scene::new(PAGE as u32, height as u32);
    let subtitle = "one Transfer in the buffers of its destination: Blocks and STUs as they are sent";
    heading(&mut scene, "Packing of STUs", subtitle);
    for (n, example) in examples.iter().enumerate() {
        draw(&mut scene, example, 100.0 + EXAMPLE * n as f64);
    }
    scene
}

/// One example: its buffers, the Transfer in them with its Blocks, and the STUs.
fn draw(scene: &mut Scene, example: &Packing, top: f64) {
    let Some(stus) = example.stus() else { return };
    let size = 1u64 << example.bufsize;
    let buffers = (example.offset + example.octets).div_ceil(size);
    let left = MARGIN + 80.0;
    let width = PAGE - MARGIN - left;
    let x = |octet: u64| left + width * octet as f64 / (buffers * size) as f64;
    let place = |stu: &Stu| u64::from(stu.buffer) * size + u64::from(stu.offset);
    scene.text((MARGIN, top), example.title, PANEL, Align::Left);
    let rows = [top + 22.0, top + 22.0 + ROW + 16.0, top + 22.0 + 2.0 * (ROW + 16.0)];
    for (y, name) in rows.into_iter().zip(["buffers", "Blocks", "STUs"]) {
        scene.text((left - 10.0, y + ROW / 2.0 + 4.6), name, LABEL, Align::Right);
    }
    for buffer in 0..buffers {
        let (from, to) = (x(buffer * size), x((buffer + 1) * size));
        scene.rect(from, rows[0], to - from, ROW, BUFFER);
        frame(scene, (from, to), rows[0]);
        scene.line(&[(to, rows[0] + ROW), (to, rows[2] + ROW)], GRID, 1);
        let name = if buffer == 0 { "Bufx".into() } else { format!("Bufx + {buffer}") };
        scene.text(((from + to) / 2.0, rows[0] + ROW / 2.0 + 4.2), &name, TICK, Align::Center);
    }
    // The Offset: what is left free in the first buffer.
    let (edge, begin) = (x(0), x(example.offset));
    scene.line(&[(edge, rows[0] + ROW + 8.0), (begin, rows[0] + ROW + 8.0)], GREY, 1);
    scene.line(&[(begin, rows[0] + ROW), (begin, rows[1])], GREY, 1);
    scene.text((left - 10.0, rows[0] + ROW + 12.0), "Offset", TICK, Align::Right);
    let mut block = 0;
    while let Some(first) = stus.iter().find(|stu| stu.block == block) {
        let octets: u64 = stus.iter().filter(|stu| stu.block == block).map(|stu| u64::from(stu.octets)).sum();
        let (from, to) = (x(place(first)), x(place(first) + octets));
        scene.rect(from, rows[1], to - from, ROW, BLOCKS[block as usize % 2]);
        frame(scene, (from, to), rows[1]);
        fit(scene, (from, to), rows[1], &block.to_string());
        block += 1;
    }
    for stu in &stus {
        let (from, to) = (x(place(stu)), x(place(stu) + u64::from(stu.octets)));
        scene.rect(from, rows[2], to - from, ROW, WHITE);
        frame(scene, (from, to), rows[2]);
        fit(scene, (from, to), rows[2], &stu.octets.to_string());
    }
}

fn frame(scene: &mut Scene, (from, to): (f64, f64), y: f64) {
    scene.line(&[(from, y), (to, y), (to, y + ROW), (from, y + ROW), (from, y)], INK, 1);
}

/// Words in the middle of a box, if there is room.
fn fit(scene: &mut Scene, (from, to): (f64, f64), y: f64, words: &str) {
    if text_width(words, TICK) + 4.0 < to - from {
        scene.text(((from + to) / 2.0, y + ROW / 2.0 + 4.2), words, TICK, Align::Center);
    }
}

/// The picture as SVG.
#[must_use]
pub fn svg(examples: &[Packing]) -> String {
    scene(examples).to_svg()
}

/// The picture as PNG.
#[must_use]
pub fn png(examples: &[Packing]) -> Vec<u8> {
    scene(examples).to_png()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stu((block, number): (u32, u16), (buffer, offset): (u32, u32), octets: u32) -> Stu {
        Stu { block, number, buffer, offset, octets }
    }

    /// The examples of Figure 11 with the numbers of the requirements' vectors P-a, P-b, P-c.
    #[test]
    fn examples_are_those_of_the_figure() {
        let [a, b, c] = EXAMPLES.map(|example| example.stus().expect("the sizes go together"));
        let middle = (1..6).map(|n| stu((n, 0), (n, 0), 4096));
        let whole: Vec<Stu> = [stu((0, 0), (0, 0x600), 2560)]
            .into_iter()
            .chain(middle)
            .chain([stu((6, 0), (6, 0), 2960)])
            .collect();
        assert_eq!(a, whole);

        assert_eq!(b.len(), 26);
        let first =
            [stu((0, 0), (0, 0x600), 512), stu((1, 0), (0, 0x800), 1024), stu((2, 0), (0, 0xC00), 1024)];
        assert_eq!(b[..3], first);
        assert_eq!(b[25], stu((25, 0), (6, 0x800), 912));

        let pairs = [((0, 0), 0x600, 2560), ((0, 1), 0, 4096), ((1, 0), 0, 4096), ((1, 1), 0, 4096)];
        let pairs = pairs.into_iter().chain([((2, 0), 0, 4096), ((2, 1), 0, 4096), ((3, 0), 0, 2960)]);
        let expected: Vec<Stu> =
            pairs.zip(0..).map(|((name, at, octets), n)| stu(name, (n, at), octets)).collect();
        assert_eq!(c, expected);
    }

    #[test]
    fn the_picture_has_no_text_on_text() {
        let scene = scene(&EXAMPLES);
        assert_eq!(scene.text_trouble(), None);
        assert!(scene.to_svg().contains("(c) Blocks of two buffers"));
        let text = table(&EXAMPLES);
        assert_eq!(text.lines().count(), 3 * 2 + 7 + 26 + 7);
    }
}
