//! The text of a scenario: comments, and where in the text a JSON pointer leads.
//!
//! Scenario files are JSON; `//` starts a comment that runs to the end of the line. Comments are blanked, not
//! cut, so that every offset in the cleaned text is an offset in the file.

use std::ops::Range;

/// Reads a file that a scenario names, by that name.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Replaces `//` comments outside of strings, and the mark that some editors put in front, by spaces.
pub fn blank_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    if chars.next_if_eq(&'\u{feff}').is_some() {
        out.push_str("   ");
    }
    let mut in_string = false;
    while let Some(c) = chars.next() {
        if in_string {
            out.push(c);
            match c {
                '\\' => out.extend(chars.next()),
                '"' => in_string = false,
                _ => {}
            }
        } else if c == '/' && chars.peek() == Some(&'/') {
            out.push(' ');
            while let Some(&next) = chars.peek() {
                if next == '\n' {
                    break;
                }
                chars.next();
                // A character of n octets becomes n spaces: offsets stay what they were.
                out.extend(std::iter::repeat_n(' ', next.len_utf8()));
            }
        } else {
            in_string = c == '"';
            out.push(c);
        }
    }
    out
}

/// One member or element on the way down a pointer.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The key with its quotes, if the value is a member of an object.
    pub key: Option<Range<usize>>,
    /// The value.
    pub value: Range<usize>,
}

/// Finds the deepest existing value on the way of `pointer` in valid JSON text.
pub fn locate(text: &str, pointer: &str) -> Place {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    scanner.space();
    let mut place = Place { key: None, value: scanner.extent() };
    for part in pointer.split('/').skip(1) {
        scanner.at = place.value.start;
        match scanner.child(&unescape(part)) {
            Some(child) => place = child,
            None => break,
        }
    }
    place
}

/// First key that an object of valid JSON text has twice: pointer of the object, key, place of the second.
pub fn duplicate_key(text: &str) -> Option<(String, String, Range<usize>)> {
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0 };
    scanner.space();
    scanner.duplicate("")
}

/// Undoes the escapes of a JSON pointer part.
pub fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// Escapes a key for use in a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Walks over text that serde_json has already accepted; on anything else it stops early instead of failing.
struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Range<usize> {
        let start = self.at;
        self.at += 1;
        while self.at < self.bytes.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at = (self.at + 1).min(self.bytes.len());
        start..self.at
    }

    /// Skips the value at the cursor.
    fn extent(&mut self) -> Range<usize> {
        let start = self.at;
        match self.peek() {
            b'"' => return self.string(),
            b'{' | b'[' => {
                let mut depth = 0usize;
                while self.at < self.bytes.len() {
                    match self.peek() {
                        b'"' => {
                            self.string();
                            continue;
                        }
                        b'{' | b'[' => depth += 1,
                        b'}' | b']' => depth -= 1,
                        _ => {}
                    }
                    self.at += 1;
                    if depth == 0 {
                        break;
                    }
                }
            }
            _ => {
                while !matches!(self.peek(), b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t' | 0) {
                    self.at += 1;
                }
            }
        }
        start..self.at
    }

    /// Key text of a quoted range.
    fn key(&self, range: &Range<usize>) -> String {
        let quoted = std::str::from_utf8(&self.bytes[range.clone()]).unwrap_or("\"\"");
        serde_json::from_str(quoted).unwrap_or_default()
    }

    /// Calls `visit` with every member or element of the container at the cursor until it returns `false`.
    fn children(&mut self, mut visit: impl FnMut(&mut Self, Option<Range<usize>>, usize) -> bool) {
        let object = match self.peek() {
            b'{' => true,
            b'[' => false,
            _ => return,
        };
        self.at += 1;
        for index in 0.. {
            self.space();
            if matches!(self.peek(), b'}' | b']' | 0) {
                self.at += 1;
                return;
            }
            let key = object.then(|| {
                let key = self.string();
                self.space();
                self.at += 1;
                self.space();
                key
            });
            if !visit(self, key, index) {
                return;
            }
            self.space();
            if self.peek() == b',' {
                self.at += 1;
            }
        }
    }

    fn child(&mut self, part: &str) -> Option<Place> {
        let mut found = None;
        self.children(|scanner, key, index| {
            let hit = match &key {
                Some(range) => scanner.key(range) == part,
                None => part.parse() == Ok(index),
            };
            let value = scanner.extent();
            if hit {
                found = Some(Place { key, value });
            }
            !hit
        });
        found
    }

    fn duplicate(&mut self, pointer: &str) -> Option<(String, String, Range<usize>)> {
        let mut seen = std::collections::BTreeSet::new();
        let mut found = None;
        if !matches!(self.peek(), b'{' | b'[') {
            self.extent();
            return None;
        }
        self.children(|scanner, key, index| {
            let part = match &key {
                Some(range) => scanner.key(range),
                None => index.to_string(),
            };
            if let (Some(range), false) = (&key, seen.insert(part.clone())) {
                found = Some((pointer.to_owned(), part, range.clone()));
                return false;
            }
            found = scanner.duplicate(&format!("{pointer}/{}", escape(&part)));
            found.is_none()
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_spaces() {
        let text = "{ // é comment\n \"a//b\": 1 }";
        let clean = blank_comments(text);
        assert_eq!(clean.len(), text.len());
        assert!(clean.contains("a//b") && !clean.contains("comment"));
        assert_eq!(blank_comments("\u{feff}{}"), "   {}");
    }

    #[test]
    fn pointers_lead_to_places() {
        let text = r#"{"a": [1, {"b/c": "x"}], "d": {}}"#;
        assert_eq!(&text[locate(text, "/a/1/b~1c").value], "\"x\"");
        assert_eq!(&text[locate(text, "/a/0").value], "1");
        assert_eq!(&text[locate(text, "/d").key.unwrap()], "\"d\"");
        assert_eq!(&text[locate(text, "/d/none/deeper").value], "{}");
        assert_eq!(locate(text, "").value, 0..text.len());
    }

    #[test]
    fn duplicate_keys_are_found() {
        let (pointer, key, at) = duplicate_key(r#"{"a": [{"b": 1, "c": 2, "b": 3}]}"#).unwrap();
        assert_eq!((pointer.as_str(), key.as_str(), at.start), ("/a/0", "b", 24));
        assert!(duplicate_key(r#"{"a": {"b": 1}, "b": 2}"#).is_none());
    }
}
