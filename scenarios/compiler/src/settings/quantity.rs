//! Quantities as the file writes them, read once: the text for whoever writes the scenario out again, the
//! value for everybody else.

use crate::units::{self, Ratio};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// How the text of a quantity is read.
pub trait Unit {
    /// What comes out.
    type Value: Clone + fmt::Debug + PartialEq + Eq;

    /// Reads a text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    fn read(text: &str) -> Result<Self::Value, String>;
}

/// A quantity with its unit. That its text can be read is checked by `check::quantities` before anybody asks
/// for the value, because only there the place of an error is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quantity<U: Unit> {
    text: String,
    value: Result<U::Value, String>,
}

impl<U: Unit> Quantity<U> {
    /// What the text says.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(&self) -> Result<U::Value, String> {
        self.value.clone()
    }

    /// The value of a quantity that has been checked.
    ///
    /// # Panics
    /// If the text cannot be read: then the check of quantities has missed this one.
    pub fn get(&self) -> U::Value {
        self.value.clone().unwrap_or_else(|why| panic!("{why}: this quantity was not checked"))
    }
}

impl<U: Unit> From<&str> for Quantity<U> {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), value: U::read(text) }
    }
}

impl<U: Unit> fmt::Display for Quantity<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl<U: Unit> Serialize for Quantity<U> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de, U: Unit> Deserialize<'de> for Quantity<U> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self { value: U::read(&text), text })
    }
}

impl<U: Unit> JsonSchema for Quantity<U> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// A quantity of whatever unit, for those that only ask whether it can be read.
pub trait Written {
    /// What is wrong with the text.
    fn wrong(&self) -> Option<&str>;
}

impl<U: Unit> Written for Quantity<U> {
    fn wrong(&self) -> Option<&str> {
        self.value.as_ref().err().map(String::as_str)
    }
}

/// A time, or a word in its place.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Period {
    /// "auto", "default", "random": it follows from something else.
    Auto,
    /// "off".
    Off,
    /// Picoseconds.
    Time(u64),
}

/// A time, or one of some words; an error names them if they are told.
fn period(text: &str, words: &[(&str, Period)], told: bool) -> Result<Period, String> {
    if let Some((_, period)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(*period);
    }
    units::time(text).map(Period::Time).map_err(|why| {
        let words: Vec<String> = words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
        if told { format!("{why}; also allowed: {}", words.join(", ")) } else { why }
    })
}

macro_rules! periods {
    ($($(#[$doc:meta])* $unit:ident, $told:literal: $($word:literal $value:ident),*;)*) => { $(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum $unit {}

        impl Unit for $unit {
            type Value = Period;
            fn read(text: &str) -> Result<Period, String> {
                period(text, &[$(($word, Period::$value)),*], $told)
            }
        }
    )* };
}

periods! {
    /// A time, or "auto".
    AutoTime, true: "auto" Auto;
    /// A time, "auto" or "off".
    AutoOffTime, true: "auto" Auto, "off" Off;
    /// A time, or "auto"; errors speak of the time alone.
    ResponseTime, false: "auto" Auto;
    /// A time, "default" or "off".
    RefreshTime, true: "default" Auto, "off" Off;
    /// A time, "default" or "off"; errors speak of the time alone.
    StatusTime, false: "default" Auto, "off" Off;
    /// A time, or "off".
    OffTime, true: "off" Off;
    /// A time, or "random".
    RandomTime, true: "random" Auto;
}

macro_rules! units {
    ($($(#[$doc:meta])* $unit:ident $value:ty, $read:expr;)*) => { $(
        $(#[$doc])*
        #[derive(Copy, Clone, Debug, PartialEq, Eq)]
        pub enum $unit {}

        impl Unit for $unit {
            type Value = $value;
            fn read(text: &str) -> Result<$value, String> {
                $read(text)
            }
        }
    )* };
}

units! {
    /// A time in picoseconds.
    Picoseconds u64, units::time;
    /// A length as the time of propagation along it, picoseconds.
    Length u64, units::length;
    /// Lanes of a link.
    Lanes u8, units::width;
    /// A rate, which means one thing to LP-Serial and another to other media.
    Rate Rates, |text| Ok::<_, String>(Rates { lane: units::rate(text), data: units::data_rate(text) });
}

/// What the text of a rate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Of a lane, in baud.
    pub lane: Result<u64, String>,
    /// Of a link of another medium, in bits a second or baud.
    pub data: Result<u64, String>,
}

/// A share: a number (`0.3`), a percentage (`"30 %"`) or a fraction (`"1/3"`), read exactly.
#[derive(Clone, Debug)]
pub struct Share {
    written: ShareText,
    value: Result<Ratio, String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum ShareText {
    /// A JSON number: its shortest decimal text is what counts.
    Number(serde_json::Number),
    Text(String),
}

impl Share {
    /// All of it.
    pub fn one() -> Self {
        ShareText::Number(1.into()).into()
    }

    /// The exact ratio.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(&self) -> Result<Ratio, String> {
        self.value.clone()
    }

    /// Whether it is a number below 0, which no ratio can say.
    pub fn is_negative(&self) -> bool {
        matches!(&self.written, ShareText::Number(number) if number.as_f64().is_some_and(|v| v < 0.0))
    }
}

impl From<ShareText> for Share {
    fn from(written: ShareText) -> Self {
        let value = match &written {
            ShareText::Number(number) => match number.as_f64() {
                // Display of f64 is the shortest text that reads back as the same number, never with an
                // exponent.
                Some(value) if !number.is_u64() => units::share(&value.to_string()),
                _ => units::share(&number.to_string()),
            },
            ShareText::Text(text) => units::share(text),
        };
        Self { written, value }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            ShareText::Number(number) => write!(f, "{number}"),
            ShareText::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ShareText::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for Share {
    fn schema_name() -> Cow<'static, str> {
        "Share".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A share: a number (0.3), a percentage (\"30 %\") or a fraction (\"1/3\").",
            "type": ["number", "string"]
        })
    }
}
