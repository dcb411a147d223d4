//! The text that snippets in messages are cut from.
//!
//! A scenario comes from anywhere: its lines may be as long as the file, and its octets may mean something to
//! a terminal. An excerpt has the lines of the text, but a long one is cut to what surrounds the place that a
//! message is about, and control characters are shown as `?`. Lines and columns remain those of the file.

use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};

/// Longest line that is shown whole, in octets.
const LINE_MAX: usize = 240;
/// What is kept of a long line in front of the place.
const BEFORE: usize = 60;
const CUT: char = '…';

/// The text as messages show it.
pub(crate) struct Excerpt<'a> {
    file: &'a str,
    text: String,
    lines: Vec<Line>,
}

/// What is kept of a line.
struct Line {
    /// Where the line begins in the file.
    start: usize,
    /// What is kept of it, in the file.
    from: usize,
    to: usize,
    /// Where that is in the excerpt.
    at: usize,
}

impl<'a> Excerpt<'a> {
    /// An excerpt of `text` that shows what is at `places`.
    pub fn new(file: &'a str, text: &str, places: impl Iterator<Item = usize> + Clone) -> Self {
        let mut out = String::with_capacity(text.len());
        let mut lines = Vec::new();
        let mut start = 0;
        for whole in text.split_inclusive('\n') {
            let line = whole.strip_suffix('\n').unwrap_or(whole);
            let line = line.strip_suffix('\r').unwrap_or(line);
            let (mut from, mut to) = (0, line.len());
            if line.len() > LINE_MAX {
                let here = |place: usize| (start..start + whole.len()).contains(&place);
                let place = places.clone().find(|&place| here(place)).map_or(0, |place| place - start);
                from = boundary(line, place.saturating_sub(BEFORE));
                to = boundary(line, from + LINE_MAX);
            }
            out.extend((from > 0).then_some(CUT));
            lines.push(Line { start, from: start + from, to: start + to, at: out.len() });
            line[from..to].chars().for_each(|c| show(c, &mut out));
            out.extend((to < line.len()).then_some(CUT));
            out.push_str(&whole[line.len()..]);
            start += whole.len();
        }
        Self { file, text: out, lines }
    }

    /// Where the octet `offset` of the file is in the excerpt, or the nearest one that is kept.
    pub fn offset(&self, offset: usize) -> usize {
        let line = self.lines.partition_point(|line| line.start <= offset);
        match line.checked_sub(1).and_then(|line| self.lines.get(line)) {
            Some(line) => line.at + offset.clamp(line.from, line.to) - line.from,
            None => 0,
        }
    }

    /// The column in the file of what is at `at` and in `column` of the excerpt.
    fn column(&self, at: usize, column: usize) -> usize {
        let line = self.lines.partition_point(|line| line.at <= at);
        match line.checked_sub(1).and_then(|line| self.lines.get(line)) {
            Some(line) if line.from > line.start => {
                (column + line.from - line.start).saturating_sub(CUT.len_utf8())
            }
            _ => column,
        }
    }
}

/// The last boundary between characters up to `at`.
fn boundary(line: &str, at: usize) -> usize {
    (0..=at.min(line.len())).rev().find(|&at| line.is_char_boundary(at)).unwrap_or(0)
}

/// As many octets as `c` has.
fn show(c: char, out: &mut String) {
    if c == '\u{feff}' {
        out.push_str("   ");
    } else if c.is_control() && c != '\t' {
        out.extend(std::iter::repeat_n('?', c.len_utf8()));
    } else {
        out.push(c);
    }
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'b>(
        &'b self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'b> + 'b>, MietteError> {
        let inner = self.text.read_span(span, before, after)?;
        // without context the column is the one that the message gives
        let alone = before == 0 && after == 0;
        let column = if alone { self.column(span.offset(), inner.column()) } else { inner.column() };
        Ok(Box::new(MietteSpanContents::new_named(
            self.file.to_owned(),
            inner.data(),
            *inner.span(),
            inner.line(),
            column,
            inner.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, place: usize) -> Excerpt<'_> {
        Excerpt::new("x", text, std::iter::once(place))
    }

    #[test]
    fn ordinary_lines_stay() {
        let text = "{\n\t\"é\": 1\r\n}";
        let all = excerpt(text, 3);
        assert_eq!(all.text, text);
        assert!((0..=text.len()).all(|at| all.offset(at) == at || !text.is_char_boundary(at) || at == 11));
        assert!((0..text.len()).all(|at| all.column(at, 7) == 7));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("a\n{}X{}\nb", "é".repeat(5_000), "y".repeat(5_000));
        let place = text.find('X').unwrap();
        let all = excerpt(&text, place);
        assert!(all.text.len() < 2 * LINE_MAX, "{}", all.text.len());
        let at = all.offset(place);
        assert_eq!(&all.text[at..=at], "X");
        let column = at - all.text[..at].rfind('\n').unwrap() - 1;
        assert_eq!(all.column(at, column), 10_000);
        assert!(all.text.starts_with("a\n…é") && all.text.ends_with("y…\nb"));
        assert_eq!(&all.text[all.offset(text.len() - 1)..], "b");
    }

    #[test]
    fn terminals_get_no_orders() {
        assert_eq!(excerpt("\u{feff}a\u{1b}[2Jb\u{85}c\0", 0).text, "   a?[2Jb??c?");
    }

    #[test]
    fn nothing_to_show() {
        assert_eq!((excerpt("", 0).offset(9), excerpt("", 0).column(0, 0)), (0, 0));
    }

    #[test]
    fn columns_are_those_of_the_file_wherever_the_cut_is() {
        for length in [LINE_MAX, LINE_MAX + 1, LINE_MAX + BEFORE, 3 * LINE_MAX] {
            for place in 0..length {
                let text = format!("{}X{}", "a".repeat(place), "b".repeat(length - place));
                let all = excerpt(&text, place);
                let span = SourceSpan::from((all.offset(place), 1));
                let read = all.read_span(&span, 0, 0).unwrap();
                assert_eq!((read.data(), read.column()), (&b"X"[..], place), "{length}");
            }
        }
    }
}
