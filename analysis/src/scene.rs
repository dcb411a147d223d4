//! What a figure consists of, before it becomes SVG or pixels.
//!
//! A figure is laid out once, into a list of lines, rectangles and texts in page units; both backends draw
//! the same list, so SVG and PNG cannot differ. Text is measured with the embedded font.

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::sync::LazyLock;

/// Pixels of the PNG for one page unit.
const PNG_SCALE: u32 = 2;
/// PNGs are drawn this much larger still and averaged, as [`average`] does: neither backend nor font smooths
/// well enough alone.
const OVERSAMPLING: u32 = 2;
/// Both backends draw into memory.
const NO_FAILURE: &str = "drawing into memory cannot fail";
/// SVG coordinates of one page unit: plotters has only integers, and whole units would make curves jagged.
const SVG_SCALE: u32 = 8;
/// plotters writes `size / 1.24` as the font size of SVG text.
const SVG_TEXT_FACTOR: f64 = 1.24;
/// Where plotters puts the baseline of top-aligned SVG text, in font sizes below the anchor.
const SVG_TOP_BASELINE: f64 = 0.76;

/// Metric twins (Verdana, its ancestor, next) come first, so that a page looks alike everywhere.
const SVG_FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

static REGULAR: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../assets/DejaVuSans-subset.ttf")).expect("the font is embedded")
});
static BOLD: LazyLock<FontRef<'static>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../assets/DejaVuSans-Bold-subset.ttf"))
        .expect("the font is embedded")
});

/// Horizontal alignment of text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Center,
    Right,
}

/// How text looks.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Type {
    /// Size of an em in page units.
    pub size: f64,
    pub bold: bool,
    pub color: RGBColor,
}

/// Shape of a marker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

#[derive(Clone, Debug, PartialEq)]
enum Item {
    Path { points: Vec<(f64, f64)>, color: RGBColor, width: u32 },
    Polygon { points: Vec<(f64, f64)>, color: RGBAColor },
    Text { at: (f64, f64), text: String, look: Type, align: Align, upwards: bool },
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scene {
    width: u32,
    height: u32,
    items: Vec<Item>,
    /// How far below its place everything is drawn from now on.
    down: f64,
}

/// Width of a text in page units.
pub(crate) fn text_width(text: &str, look: Type) -> f64 {
    let font = font(look);
    let scaled = font.as_scaled(pixel_scale(font, 100.0));
    let mut width = 0.0;
    let mut previous = None;
    for glyph in text.chars().map(|c| font.glyph_id(c)) {
        if let Some(previous) = previous {
            width += scaled.kern(previous, glyph);
        }
        width += scaled.h_advance(glyph);
        previous = Some(glyph);
    }
    f64::from(width) * look.size / 100.0
}

fn font(look: Type) -> &'static FontRef<'static> {
    if look.bold { &BOLD } else { &REGULAR }
}

/// Text as XML 1.0 takes it: there is no way to write most control characters in it.
fn writable(text: &str) -> String {
    let barred = |c| {
        let control = matches!(c, '\0'..='\x1F') && !matches!(c, '\t' | '\n' | '\r');
        control || matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    text.replace(barred, "\u{fffd}")
}

/// ab_glyph measures sizes from ascent to descent; everybody else measures the em.
fn pixel_scale(font: &FontRef<'static>, em: f64) -> PxScale {
    let units = f64::from(font.units_per_em().unwrap_or(2048.0));
    PxScale::from((em * f64::from(font.height_unscaled()) / units) as f32)
}

impl Scene {
    pub fn new(width: u32, height: u32) -> Self {
        Self { width, height, items: Vec::new(), down: 0.0 }
    }

    /// Makes the page this much longer, above all that is drawn from now on.
    pub fn make_room(&mut self, more: u32) {
        self.height += more;
        self.down += f64::from(more);
    }

    /// Width of the page.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// A line of text below everything else, `from` the left edge, for which the page gets `room` longer.
    pub fn sign(&mut self, (from, room): (f64, u32), text: &str, look: Type) {
        self.height += room;
        let at = (from, f64::from(self.height) - 0.5 * look.size);
        self.items.push(Item::Text { at, text: text.into(), look, align: Align::Left, upwards: false });
    }

    fn lowered(&self, points: &[(f64, f64)]) -> Vec<(f64, f64)> {
        points.iter().map(|(x, y)| (*x, y + self.down)).collect()
    }

    pub fn line(&mut self, points: &[(f64, f64)], color: RGBColor, width: u32) {
        // A thick line that turns back has a spike at its corner: it ends there, and another one begins.
        let turns_back = |corner: &[(f64, f64)]| {
            let [a, b, c] = [corner[0], corner[1], corner[2]];
            (b.0 - a.0) * (c.0 - b.0) + (b.1 - a.1) * (c.1 - b.1) < 0.0
        };
        let mut from = 0;
        for (index, corner) in points.windows(3).enumerate() {
            if turns_back(corner) {
                let points = self.lowered(&points[from..index + 2]);
                self.items.push(Item::Path { points, color, width });
                from = index + 1;
            }
        }
        if points.len() > from + 1 {
            let points = self.lowered(&points[from..]);
            self.items.push(Item::Path { points, color, width });
        }
    }

    /// A line of `dash` on and off lengths; an empty pattern is a solid line.
    pub fn dashed(&mut self, points: &[(f64, f64)], color: RGBColor, width: u32, dash: &[f64]) {
        if dash.is_empty() {
            return self.line(points, color, width);
        }
        let mut piece: Vec<(f64, f64)> = points.first().copied().into_iter().collect();
        let (mut slot, mut left) = (0, dash[0]);
        for pair in points.windows(2) {
            let ((mut x, mut y), (x1, y1)) = (pair[0], pair[1]);
            loop {
                let length = libm::hypot(x1 - x, y1 - y);
                if length <= left {
                    left -= length;
                    if slot % 2 == 0 {
                        piece.push((x1, y1));
                    }
                    break;
                }
                (x, y) = (x + (x1 - x) * left / length, y + (y1 - y) * left / length);
                if slot % 2 == 0 {
                    piece.push((x, y));
                    self.line(&piece, color, width);
                    piece.clear();
                } else {
                    piece = vec![(x, y)];
                }
                slot = (slot + 1) % dash.len();
                left = dash[slot];
            }
        }
        self.line(&piece, color, width);
    }

    pub fn polygon(&mut self, points: &[(f64, f64)], color: RGBColor) {
        self.veil(points, color, 1.0);
    }

    /// An area through which what lies below is seen: `share` of the colour covers it.
    pub fn veil(&mut self, points: &[(f64, f64)], color: RGBColor, share: f64) {
        self.items.push(Item::Polygon { points: self.lowered(points), color: color.mix(share) });
    }

    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, color: RGBColor) {
        self.polygon(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height)], color);
    }

    /// The edges of a rectangle.
    pub fn frame(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), color: RGBColor) {
        let (right, bottom) = (x + width, y + height);
        self.line(&[(x, y), (right, y), (right, bottom), (x, bottom), (x, y)], color, 1);
    }

    /// Text with its baseline at `at`.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, look: Type, align: Align) {
        let at = (x, y + self.down);
        self.items.push(Item::Text { at, text: text.into(), look, align, upwards: false });
    }

    /// A value beside its bar, on white: lines of a grid do not run through it.
    pub fn value(&mut self, (x, y): (f64, f64), text: &str, look: Type) {
        let white = RGBColor(255, 255, 255);
        self.rect(x - 2.0, y - 0.8 * look.size, text_width(text, look) + 4.0, look.size, white);
        self.text((x, y), text, look, Align::Left);
    }

    /// Text that reads from bottom to top, centred at `at`.
    pub fn text_upwards(&mut self, (x, y): (f64, f64), text: &str, look: Type) {
        let at = (x, y + self.down);
        self.items.push(Item::Text { at, text: text.into(), look, align: Align::Center, upwards: true });
    }

    pub fn marker(&mut self, at: (f64, f64), marker: Marker, color: RGBColor) {
        self.marker_of(at, marker, color, 4.0);
    }

    /// A marker of radius `r`, page units.
    pub fn marker_of(&mut self, (x, y): (f64, f64), marker: Marker, color: RGBColor, r: f64) {
        let white = RGBColor(255, 255, 255);
        match marker {
            Marker::Circle | Marker::Square | Marker::Triangle | Marker::Diamond => {
                let outline = |r: f64| -> Vec<(f64, f64)> {
                    match marker {
                        Marker::Circle => (0..16)
                            .map(|step| {
                                let angle = f64::from(step) * std::f64::consts::PI / 8.0;
                                (x + r * libm::cos(angle), y + r * libm::sin(angle))
                            })
                            .collect(),
                        Marker::Square => {
                            let r = 0.88 * r;
                            vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)]
                        }
                        Marker::Triangle => {
                            let (h, w) = (1.15 * r, 1.1 * r);
                            vec![(x, y - h), (x + w, y + 0.75 * h), (x - w, y + 0.75 * h)]
                        }
                        _ => {
                            let r = 1.2 * r;
                            vec![(x, y - r), (x + r, y), (x, y + r), (x - r, y)]
                        }
                    }
                };
                // a white rim keeps markers apart where lines cross
                self.polygon(&outline(r + 1.2), white);
                self.polygon(&outline(r), color);
            }
            Marker::Cross => {
                self.line(&[(x - r, y - r), (x + r, y + r)], color, 2);
                self.line(&[(x - r, y + r), (x + r, y - r)], color, 2);
            }
        }
    }

    /// The figure as SVG text; the same bytes for the same scene on every machine.
    pub fn to_svg(&self) -> String {
        let (width, height) = (self.width * SVG_SCALE, self.height * SVG_SCALE);
        let mut out = String::new();
        {
            let mut backend = SVGBackend::with_string(&mut out, (width, height));
            self.draw(&mut backend, SVG_SCALE, |backend, text| {
                let (at, style) = text.svg(f64::from(SVG_SCALE));
                backend.draw_text(&writable(text.text), &style, at).expect("text into a string");
            });
            backend.present().expect("drawing into a string");
        }
        let drawn = format!("width=\"{width}\" height=\"{height}\"");
        out.replacen(&drawn, &format!("width=\"{}\" height=\"{}\"", self.width, self.height), 1)
    }

    /// The figure as a PNG file of twice the page size.
    pub fn to_png(&self) -> Vec<u8> {
        let scale = PNG_SCALE * OVERSAMPLING;
        let (width, height) = (self.width * scale, self.height * scale);
        let mut large = vec![0; (width * height * 3) as usize];
        {
            let mut backend = BitMapBackend::with_buffer(&mut large, (width, height));
            self.draw(&mut backend, scale, |backend, text| text.rasterise(backend, f64::from(scale)));
            backend.present().expect("drawing into memory");
        }
        let (out_width, out_height) = (self.width * PNG_SCALE, self.height * PNG_SCALE);
        let pixels = average(&large, width as usize);
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, out_width, out_height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().expect("writing into memory");
        writer.write_image_data(&pixels).expect("as many pixels as announced");
        writer.finish().expect("writing into memory");
        file
    }

    fn draw<B: DrawingBackend>(&self, backend: &mut B, scale: u32, text: impl Fn(&mut B, &TextItem<'_>)) {
        let factor = f64::from(scale);
        let at = |&(x, y): &(f64, f64)| (libm::round(x * factor) as i32, libm::round(y * factor) as i32);
        let corner = ((self.width * scale) as i32, (self.height * scale) as i32);
        backend.draw_rect((0, 0), corner, &WHITE, true).expect(NO_FAILURE);
        for item in &self.items {
            match item {
                Item::Path { points, color, width } => {
                    let style =
                        ShapeStyle { color: color.to_rgba(), filled: false, stroke_width: width * scale };
                    let mut points: Vec<(i32, i32)> = points.iter().map(at).collect();
                    points.dedup();
                    if points.len() > 1 {
                        backend.draw_path(points, &style).expect(NO_FAILURE);
                    }
                }
                Item::Polygon { points, color } => {
                    let points: Vec<(i32, i32)> = points.iter().map(at).collect();
                    // an axis-parallel rectangle has sharp edges only as a rectangle
                    if let [a, b, c, d] = points[..]
                        && a.1 == b.1
                        && c.1 == d.1
                        && a.0 == d.0
                        && b.0 == c.0
                    {
                        if a.0 < c.0 && a.1 < c.1 {
                            let inner = if scale > 1 { (c.0 - 1, c.1 - 1) } else { c };
                            backend.draw_rect(a, inner, color, true).expect(NO_FAILURE);
                        }
                    } else {
                        backend.fill_polygon(points, color).expect(NO_FAILURE);
                    }
                }
                Item::Text { at, text: words, look, align, upwards } => {
                    text(
                        backend,
                        &TextItem { at: *at, text: words, look: *look, align: *align, upwards: *upwards },
                    );
                }
            }
        }
    }

    /// The first text that is not wholly on the page, or that overlaps another.
    #[cfg(test)]
    pub fn text_trouble(&self) -> Option<String> {
        let mut boxes: Vec<([f64; 4], &str)> = Vec::new();
        for item in &self.items {
            let Item::Text { at: (x, y), text, look, align, upwards } = item else { continue };
            let width = text_width(text, *look);
            let start = match align {
                Align::Left => 0.0,
                Align::Center => -width / 2.0,
                Align::Right => -width,
            };
            // height of capitals, depth of descenders
            let (up, down) = (0.73 * look.size, 0.2 * look.size);
            let area = if *upwards {
                [x - up, y - start - width, x + down, y - start]
            } else {
                [x + start, y - up, x + start + width, y + down]
            };
            let page = [f64::from(self.width), f64::from(self.height)];
            if area[0] < 0.0 || area[1] < 0.0 || area[2] > page[0] || area[3] > page[1] {
                return Some(format!("{text:?} leaves the page"));
            }
            for (other, theirs) in &boxes {
                let apart =
                    area[2] <= other[0] || other[2] <= area[0] || area[3] <= other[1] || other[3] <= area[1];
                if !apart {
                    return Some(format!("{text:?} overlaps {theirs:?}"));
                }
            }
            boxes.push((area, text));
        }
        None
    }
}

struct TextItem<'a> {
    at: (f64, f64),
    text: &'a str,
    look: Type,
    align: Align,
    upwards: bool,
}

impl TextItem<'_> {
    /// Anchor and style for the SVG backend.
    fn svg(&self, scale: f64) -> ((i32, i32), TextStyle<'static>) {
        let weight = if self.look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let size = self.look.size * scale;
        let mut font = FontDesc::new(FontFamily::Name(SVG_FAMILY), size * SVG_TEXT_FACTOR, weight);
        if self.upwards {
            font = font.transform(FontTransform::Rotate270);
        }
        let anchor = match self.align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        let style =
            TextStyle { font, color: self.look.color.to_backend_color(), pos: Pos::new(anchor, VPos::Top) };
        let rise = SVG_TOP_BASELINE * size;
        let (x, y) = (self.at.0 * scale, self.at.1 * scale);
        let (x, y) = if self.upwards { (x - rise, y) } else { (x, y - rise) };
        ((libm::round(x) as i32, libm::round(y) as i32), style)
    }

    /// Draws glyph outlines; plotters' own bitmap text ignores side bearings.
    fn rasterise<B: DrawingBackend>(&self, backend: &mut B, scale: f64) {
        let font = font(self.look);
        let px = pixel_scale(font, self.look.size * scale);
        let scaled = font.as_scaled(px);
        let width = text_width(self.text, self.look) * scale;
        let start = match self.align {
            Align::Left => 0.0,
            Align::Center => -width / 2.0,
            Align::Right => -width,
        };
        let (x0, y0) = (self.at.0 * scale, self.at.1 * scale);
        let mut pen = start as f32;
        let mut previous = None;
        for id in self.text.chars().map(|c| font.glyph_id(c)) {
            if let Some(previous) = previous {
                pen += scaled.kern(previous, id);
            }
            previous = Some(id);
            let glyph = Glyph { id, scale: px, position: point(pen, 0.0) };
            pen += scaled.h_advance(id);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            outline.draw(|x, y, coverage| {
                let along = f64::from(bounds.min.x) + f64::from(x);
                let down = f64::from(bounds.min.y) + f64::from(y);
                let (x, y) = if self.upwards { (x0 + down, y0 - along) } else { (x0 + along, y0 + down) };
                let color = self.look.color.mix(f64::from(coverage.min(1.0))).to_backend_color();
                let pixel = (libm::round(x) as i32, libm::round(y) as i32);
                // beyond the page there is nothing to draw on
                let _ = backend.draw_pixel(pixel, color);
            });
        }
    }
}

const _: () = assert!(OVERSAMPLING == 2);

/// Averages squares of two by two pixels. Half of the time that a figure takes, so by pixels and not by
/// octets: also where a build is hardly optimised.
fn average(pixels: &[u8], width: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(pixels.len() / 4);
    for rows in pixels.chunks_exact(2 * 3 * width) {
        let (upper, lower) = rows.split_at(3 * width);
        for (a, b) in upper.as_chunks::<6>().0.iter().zip(lower.as_chunks::<6>().0) {
            let mean = |n: usize| {
                let sum = u16::from(a[n]) + u16::from(a[n + 3]) + u16::from(b[n]) + u16::from(b[n + 3]);
                ((sum + 2) / 4) as u8
            };
            out.extend_from_slice(&[mean(0), mean(1), mean(2)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Type = Type { size: 10.0, bold: false, color: RGBColor(0, 0, 0) };

    #[test]
    fn text_is_as_wide_as_the_font_says() {
        // DejaVu Sans: 0 is 1303 of 2048 units wide, a blank 651
        assert!((text_width("0", LOOK) - 13030.0 / 2048.0).abs() < 0.01);
        assert!((text_width("0 0", LOOK) - (2.0 * 13030.0 + 6510.0) / 2048.0).abs() < 0.02);
        for needed in ['µ', '×', '·', '–', '→', '±', '%'] {
            assert_ne!(font(LOOK).glyph_id(needed).0, 0, "{needed} is not in the font");
        }
    }

    /// Titles and names come from users: letters of Europe are drawn, and any other as an empty box, so that
    /// none is missing.
    #[test]
    fn no_letter_of_a_name_is_lost() {
        for look in [LOOK, Type { bold: true, ..LOOK }] {
            let drawn = |c: char| {
                let glyph = font(look).glyph_id(c).with_scale(20.0);
                (glyph.id.0, font(look).outline_glyph(glyph).is_some())
            };
            for letter in "üéøŁčßΩλЖя€".chars() {
                let (glyph, visible) = drawn(letter);
                assert!(glyph != 0 && visible, "{letter}");
            }
            assert_eq!(drawn('日'), (0, true));
        }
    }

    /// XML 1.0 has neither U+0007 nor U+FFFE, in any way of writing.
    #[test]
    fn svg_has_no_character_that_xml_bars() {
        let mut scene = Scene::new(100, 100);
        scene.text((0.0, 50.0), "a\u{7}b\u{fffe}c & d", LOOK, Align::Left);
        let svg = scene.to_svg();
        assert!(svg.contains("a\u{fffd}b\u{fffd}c &amp; d"), "{svg}");
    }

    #[test]
    fn dashes_have_their_length() {
        let mut scene = Scene::new(100, 100);
        scene.dashed(&[(0.0, 0.0), (5.0, 0.0), (20.0, 0.0)], BLACK, 1, &[4.0, 2.0]);
        let pieces: Vec<(f64, f64)> = scene
            .items
            .iter()
            .map(|item| match item {
                Item::Path { points, .. } => (points[0].0, points[points.len() - 1].0),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(pieces, [(0.0, 4.0), (6.0, 10.0), (12.0, 16.0), (18.0, 20.0)]);
    }

    #[test]
    fn averaging_halves_an_image() {
        let pixels = [0, 10, 20, 4, 10, 20, 8, 10, 20, 4, 30, 20];
        assert_eq!(average(&pixels, 2), [4, 15, 20]);
    }
}
