//! Rust text without its comments and strings, so that rules look at code only.

use std::ops::Range;

/// `text` with every octet of comments, strings and characters replaced by a space. Lines stay where they
/// are.
pub(crate) fn code(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b'/' if bytes[at..].starts_with(b"//") => find(bytes, at, b"\n").unwrap_or(bytes.len()),
            b'/' if bytes[at..].starts_with(b"/*") => block(bytes, at),
            b'"' => string(bytes, at),
            b'r' if !word_before(bytes, at) || bytes[at - 1] == b'b' => raw(bytes, at).unwrap_or(at),
            b'\'' => character(bytes, at),
            _ => at,
        };
        if end == at {
            at += 1;
            continue;
        }
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// `code` without its modules of unit tests.
pub(crate) fn without_tests(code: &str) -> String {
    let mut out = code.as_bytes().to_vec();
    for (at, mark) in code.match_indices("#[cfg(test)]") {
        let rest = code[at + mark.len()..].trim_start();
        if !rest.starts_with("mod ") {
            continue;
        }
        let range = braces(code, at);
        out[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// From `at` to the end of the next pair of braces, or of the declaration.
fn braces(code: &str, at: usize) -> Range<usize> {
    let mut depth = 0u32;
    for (i, byte) in code.bytes().enumerate().skip(at) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at..i + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at..i + 1,
            _ => {}
        }
    }
    at..code.len()
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && is_word(bytes[at - 1])
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    bytes[from..].windows(what.len()).position(|window| window == what).map(|i| from + i)
}

fn block(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0u32;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += 1;
        }
    }
    at.min(bytes.len())
}

fn string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn raw(bytes: &[u8], at: usize) -> Option<usize> {
    let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
    let open = at + 1 + hashes;
    if bytes.get(open) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.extend(std::iter::repeat_n(b'#', hashes));
    Some(find(bytes, open + 1, &close).map_or(bytes.len(), |end| end + close.len()))
}

/// A character, or nothing where the quote begins a lifetime.
fn character(bytes: &[u8], at: usize) -> usize {
    let long = |from: usize| find(bytes, from, b"'").map_or(at, |end| end + 1);
    match bytes.get(at + 1) {
        Some(b'\\') => long(at + 3),
        Some(byte) if *byte >= 0x80 => long(at + 2),
        Some(_) if bytes.get(at + 2) == Some(&b'\'') => at + 3,
        _ => at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_is_left() {
        for (text, left) in [
            ("a // b\nc", "a c"),
            ("a /* b /* c */ d\n */ e", "a e"),
            (r#"a "b\"c" d"#, "a d"),
            (r##"a r#"b"c"# d"##, "a d"),
            (r#"br"x" y"#, "b y"),
            ("var\"x\"", "var"),
            ("'a' 'b: '\\'' '\\u{1}' '\"' &'a x", "'b: &'a x"),
            ("'é' x", "x"),
            ("\"// no\" x", "x"),
            ("\"open", ""),
        ] {
            let code = code(text);
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), left, "{text}");
            assert_eq!((code.len(), code.find('\n')), (text.len(), text.find('\n')), "{text}");
        }
    }

    #[test]
    fn modules_of_tests_go() {
        let text =
            "a\n#[cfg(test)]\nmod tests {\n b { c }\n}\nd\n#[cfg(test)]\nuse e;\n#[cfg(test)]\nmod f;\ng";
        let left = without_tests(text);
        assert_eq!(left.split_whitespace().collect::<Vec<_>>(), ["a", "d", "#[cfg(test)]", "use", "e;", "g"]);
        assert_eq!(left.lines().count(), text.lines().count());
    }
}
