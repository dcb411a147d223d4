//! `decode` and `encode`: what bytes on a link say, as JSON, and back.
//!
//! `decode` prints the fields of a symbol, a message or a packet under the names of its specification;
//! `encode` makes the bytes again. For every input that `decode` accepts, `encode` gives back the same bytes,
//! as lowercase hex digits without separators.
//!
//! A field that follows from others (a name, the congested ports, a CRC) may be left out of the JSON. If it
//! is there, it must be right: JSON that contradicts itself is an error, never a guess.
//!
//! # Adding a format
//!
//! A format is one row of [`TABLE`]. Flat layouts are [forms](form::Form) over the tables of fields that
//! their protocol crate has, and get both verbs from them; a format with nested JSON brings its own two
//! functions.

mod form;
mod hex;
mod json;
mod packet;
mod riocm;
mod serial;
mod smp;
mod st;
mod voq;

#[cfg(test)]
mod dissector;
#[cfg(test)]
mod tests;

use std::fmt;

/// What both verbs know about one format.
struct Format {
    name: &'static str,
    about: &'static str,
    decode: fn(&str) -> Result<String, CodecError>,
    encode: fn(&str) -> Result<String, CodecError>,
}

/// Every format.
const TABLE: &[Format] = &[
    Format {
        name: "lp-serial",
        about: "control symbols and packet framing, Part 6",
        decode: |hex| form::decode(&serial::forms(), hex),
        encode: |json| form::encode(&serial::forms(), json),
    },
    Format {
        name: "packet",
        about: "whole packets, Parts 1, 2, 9 and 10",
        decode: |hex| form::decode_by(&packet::forms(), hex, packet::recognise),
        encode: |json| form::encode(&packet::forms(), json),
    },
    Format {
        name: "riocm",
        about: "frames of the LINX RapidIO connection manager",
        decode: |hex| form::decode_by(&riocm::forms(), hex, |forms, _| Ok(&forms[0])),
        encode: |json| form::encode(&riocm::forms(), json),
    },
    Format {
        name: "smp",
        about: "session management messages, Annex 2",
        decode: smp::decode,
        encode: smp::encode,
    },
    Format {
        name: "st",
        about: "Scheduled Transfer headers, operations and frames",
        decode: |hex| form::decode(&st::forms(), hex),
        encode: |json| form::encode(&st::forms(), json),
    },
    Format {
        name: "voq",
        about: "VoQ backpressure messages, Part 12",
        decode: |hex| form::decode(&voq::forms(), hex),
        encode: |json| form::encode(&voq::forms(), json),
    },
];

const NAMES: [&str; TABLE.len()] = {
    let mut names = [""; TABLE.len()];
    let mut index = 0;
    while index < TABLE.len() {
        names[index] = TABLE[index].name;
        index += 1;
    }
    names
};

/// Why an input has no other side: the place, what was found there, and what is allowed. One line.
///
/// The place is `/key` in JSON, the name of the field in bytes, and `hex`, `json`, `form` or `format` when
/// the input fails before it has fields.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CodecError {
    place: String,
    problem: String,
}

impl CodecError {
    fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { place: place.into(), problem: problem.into() }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.problem)
    }
}

impl std::error::Error for CodecError {}

/// The names of the formats.
pub(crate) fn formats() -> &'static [&'static str] {
    &NAMES
}

/// The fields of `hex` as pretty JSON without a final newline.
///
/// Spaces, underscores, `0x` and capitals are accepted. The form follows from the length; a form that does
/// not show its length, or one that is meant in spite of it, is named in front: `packet:HEX`.
///
/// # Errors
/// [`CodecError`] if there is no such format, or `hex` breaks one of its rules.
pub(crate) fn decode(format: &str, hex: &str) -> Result<String, CodecError> {
    (find(format)?.decode)(hex)
}

/// The hex digits of what `json` says, without a final newline.
///
/// # Errors
/// [`CodecError`] if there is no such format, or `json` breaks one of its rules or contradicts itself.
pub(crate) fn encode(format: &str, json: &str) -> Result<String, CodecError> {
    (find(format)?.encode)(json)
}

fn find(name: &str) -> Result<&'static Format, CodecError> {
    TABLE.iter().find(|format| format.name == name).ok_or_else(|| {
        let allowed: Vec<String> =
            TABLE.iter().map(|format| format!("{} ({})", format.name, format.about)).collect();
        let hint = did_you_mean(name, formats().iter().copied());
        CodecError::new("format", format!("{name:?} is unknown;{hint} allowed: {}", allowed.join(", ")))
    })
}

/// ` did you mean "..."?` or nothing, to be put behind a semicolon.
fn did_you_mean<'a>(found: &str, allowed: impl Iterator<Item = &'a str>) -> String {
    nearest(found, allowed).map_or_else(String::new, |name| format!(" did you mean {name:?}?"))
}

/// The first of the most similar names, if it is similar enough to be meant.
fn nearest<'a>(found: &str, allowed: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const SIMILAR: f64 = 0.8;
    let found = found.to_lowercase();
    let mut best = (SIMILAR, None);
    for name in allowed {
        let similarity = strsim::jaro_winkler(&found, &name.to_lowercase());
        if similarity > best.0 {
            best = (similarity, Some(name));
        }
    }
    best.1
}
