//! Flat layouts described by tables, and both verbs over such a description.
//!
//! Where fields lie, how wide they are and how they are written is said by the [tables](Field) of the
//! protocols, and nowhere else: keys are made of rows, and octets are read and written row by row. A
//! [`Form`] adds what follows from fields and is none.
//!
//! A form has two functions: `read` gives *every* field that octets have, derived ones included, and `make`
//! builds octets from the fields that decide them, and reads them again. `encode` compares all that it was
//! given with what was read. So a derived field is checked by the code that prints it, and nothing that was
//! given is silently dropped.

use super::hex::{self, Input};
use super::{CodecError, did_you_mean, json, nearest};
use lp_serial::field;
use serde_json::Value;
use std::borrow::Cow;

pub(super) use lp_serial::field::Field;

/// How a number is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Notation {
    Decimal,
    /// "0x" and at least so many digits.
    Hex(usize),
    /// "0b" and so many digits.
    Binary(usize),
}

/// What values a key has.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Number {
        max: u64,
        notation: Notation,
    },
    /// One of these.
    Name(Vec<&'static str>),
    /// The name of a number, by that number: the one of the key without `_name` at the end. A name may have
    /// several numbers; a number without a name has an empty one.
    Code(Vec<&'static str>),
    /// Hex digits: a multiple of `step` octets, at most so many.
    Octets {
        max: usize,
        step: usize,
    },
    /// Different numbers, each at most so much, ascending.
    Set {
        max: u64,
    },
}

/// One value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Datum {
    Number(u64),
    Name(&'static str),
    Octets(Vec<u8>),
    Set(Vec<u64>),
}

/// A key of a form.
#[derive(Clone, Debug)]
pub(super) struct Key {
    name: &'static str,
    kind: Kind,
    /// Why its value is what it is, if it follows from others.
    rule: Cow<'static, str>,
    /// When there is such a field, if not always.
    only: Cow<'static, str>,
}

impl Key {
    fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, rule: Cow::Borrowed(""), only: Cow::Borrowed("") }
    }

    /// The key of a field of a table.
    pub(super) fn of(&(name, ref bits, base): &Field) -> Self {
        let width = bits.len();
        let notation = match base {
            2 => Notation::Binary(width),
            16 => Notation::Hex(width.div_ceil(4)),
            _ => Notation::Decimal,
        };
        Self::new(name, Kind::Number { max: field::max(bits), notation })
    }

    /// So many hex digits at least, whatever the width.
    pub(super) fn digits(mut self, digits: usize) -> Self {
        if let Kind::Number { notation, .. } = &mut self.kind {
            *notation = Notation::Hex(digits);
        }
        self
    }

    pub(super) fn number(name: &'static str, max: u64) -> Self {
        Self::new(name, Kind::Number { max, notation: Notation::Decimal })
    }

    pub(super) fn name(name: &'static str, allowed: impl IntoIterator<Item = &'static str>) -> Self {
        Self::new(name, Kind::Name(allowed.into_iter().collect()))
    }

    /// The names of the numbers from 0 on of the key without `_name`.
    pub(super) fn code(name: &'static str, names: impl IntoIterator<Item = &'static str>) -> Self {
        Self::new(name, Kind::Code(names.into_iter().collect()))
    }

    pub(super) fn octets(name: &'static str, max: usize) -> Self {
        Self::new(name, Kind::Octets { max, step: 1 })
    }

    /// An even number of octets.
    pub(super) fn half_words(name: &'static str, max: usize) -> Self {
        Self::new(name, Kind::Octets { max, step: 2 })
    }

    pub(super) fn set(name: &'static str, max: u64) -> Self {
        Self::new(name, Kind::Set { max })
    }

    /// The value follows from other fields by this rule.
    pub(super) fn rule(self, rule: impl Into<Cow<'static, str>>) -> Self {
        Self { rule: rule.into(), ..self }
    }

    /// The field exists only then.
    pub(super) fn only(self, only: impl Into<Cow<'static, str>>) -> Self {
        Self { only: only.into(), ..self }
    }

    /// The field whose values this key names, and their names by value.
    #[cfg(test)]
    pub(super) fn code_names(&self) -> Option<(&'static str, &[&'static str])> {
        match &self.kind {
            Kind::Code(names) => Some((self.name.strip_suffix("_name")?, names)),
            _ => None,
        }
    }

    /// Whether this is its name.
    pub(super) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    fn place(&self) -> String {
        format!("/{}", self.name)
    }

    fn error(&self, problem: impl Into<String>) -> CodecError {
        CodecError::new(self.place(), problem)
    }

    /// What may stand there.
    fn allowed(&self) -> String {
        match &self.kind {
            Kind::Number { max: 1, notation: Notation::Decimal } => "0 or 1".into(),
            &Kind::Number { max, notation } => {
                format!("{} to {}", number(0, notation), number(max, notation))
            }
            Kind::Name(names) | Kind::Code(names) => {
                let mut distinct: Vec<&str> = Vec::new();
                for name in names.iter().filter(|name| !name.is_empty()) {
                    if !distinct.contains(name) {
                        distinct.push(name);
                    }
                }
                list(distinct)
            }
            Kind::Octets { max, step: 1 } => format!("text of hex digits, 0 to {max} octets"),
            Kind::Octets { max, .. } => {
                format!("text of hex digits, an even number of octets from 0 to {max}")
            }
            Kind::Set { max } => format!("a list of different numbers, 0 to {max}"),
        }
    }

    /// The value as JSON.
    fn print(&self, datum: &Datum) -> String {
        match (datum, &self.kind) {
            (&Datum::Number(value), Kind::Number { notation: Notation::Decimal, .. }) => value.to_string(),
            (&Datum::Number(value), &Kind::Number { notation, .. }) => {
                format!("\"{}\"", number(value, notation))
            }
            (Datum::Octets(octets), _) => format!("\"{}\"", hex::print(octets)),
            (Datum::Set(members), _) => {
                let members: Vec<String> = members.iter().map(u64::to_string).collect();
                format!("[{}]", members.join(", "))
            }
            (Datum::Name(name), _) => format!("\"{name}\""),
            (Datum::Number(value), _) => value.to_string(),
        }
    }

    /// The value from JSON, within its range.
    fn read(&self, value: &Value) -> Result<Datum, CodecError> {
        let wrong = |hint: &str| {
            Err(self.error(format!("{} found;{hint} allowed: {}", json::shown(value), self.allowed())))
        };
        match &self.kind {
            &Kind::Number { max, .. } => match integer(value) {
                Some(found) if found <= max => Ok(Datum::Number(found)),
                None if value.as_str().is_some_and(|text| digits_of(text).is_none()) => {
                    wrong(" a number in quotes begins with 0x or 0b;")
                }
                _ => wrong(""),
            },
            Kind::Name(names) | Kind::Code(names) => match value.as_str() {
                Some(found) => match names.iter().find(|name| !name.is_empty() && **name == found) {
                    Some(name) => Ok(Datum::Name(name)),
                    None => wrong(&did_you_mean(found, names.iter().copied())),
                },
                None => wrong(""),
            },
            &Kind::Octets { max, step } => {
                let text =
                    value.as_str().map(|text| Input::parse(text).map(|input| (input.form, input.octets())));
                match text {
                    // No digits at all.
                    _ if value.as_str().is_some_and(|text| text.trim().is_empty()) => {
                        Ok(Datum::Octets(vec![]))
                    }
                    Some(Ok((None, Ok(octets)))) if octets.len() % step == 0 && octets.len() <= max => {
                        Ok(Datum::Octets(octets))
                    }
                    Some(Ok((None, Ok(octets)))) => {
                        Err(self.error(format!("{} octets found; allowed: {}", octets.len(), self.allowed())))
                    }
                    Some(Err(error) | Ok((None, Err(error)))) => Err(self.error(error.problem)),
                    Some(Ok((Some(_), _))) | None => wrong(""),
                }
            }
            &Kind::Set { max } => {
                let Some(values) = value.as_array() else { return wrong("") };
                let mut members = Vec::new();
                for member in values {
                    match integer(member) {
                        Some(found) if members.contains(&found) => {
                            return Err(
                                self.error(format!("{found} is listed twice; allowed: {}", self.allowed()))
                            );
                        }
                        Some(found) if found <= max => members.push(found),
                        _ => {
                            let problem = format!(
                                "{} found in the list; allowed: {}",
                                json::shown(member),
                                self.allowed()
                            );
                            return Err(self.error(problem));
                        }
                    }
                }
                members.sort_unstable();
                Ok(Datum::Set(members))
            }
        }
    }
}

/// The keys of all fields of tables.
pub(super) fn keys(tables: &[&[Field]]) -> Vec<Key> {
    rows(tables).map(|row| Key::of(&row)).collect()
}

/// `keys` with `more` behind the one called `name`.
///
/// # Panics
/// If there is no such key.
pub(super) fn after(mut keys: Vec<Key>, name: &str, more: impl IntoIterator<Item = Key>) -> Vec<Key> {
    let at = keys.iter().position(|key| key.name == name).expect("a key of the form");
    keys.splice(at + 1..at + 1, more);
    keys
}

/// `keys` with another one in the place of the one called `name`.
pub(super) fn change(keys: Vec<Key>, name: &str, change: impl Fn(Key) -> Key) -> Vec<Key> {
    keys.into_iter().map(|key| if key.name == name { change(key) } else { key }).collect()
}

/// The fields of tables that follow each other; reserved bits are none.
fn rows<'a>(tables: &'a [&'a [Field]]) -> impl Iterator<Item = Field> + 'a {
    field::chain(tables).filter(|(name, ..)| *name != field::RESERVED)
}

/// Octets of tables that follow each other.
pub(super) fn octets(tables: &[&[Field]]) -> usize {
    field::chain(tables).last().map_or(0, |(_, bits, _)| bits.end as usize / 8)
}

/// Writes the fields of tables that follow each other into `octets`.
pub(super) fn write(
    tables: &[&[Field]],
    octets: &mut [u8],
    value: impl Fn(&'static str) -> Result<u64, CodecError>,
) -> Result<(), CodecError> {
    rows(tables).try_for_each(|(name, bits, _)| {
        field::put(octets, &bits, value(name)?);
        Ok(())
    })
}

/// `"a", "b" or "c"`.
fn list(names: Vec<&str>) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The number as a message and JSON write it.
pub(super) fn number(value: u64, notation: Notation) -> String {
    match notation {
        Notation::Decimal => value.to_string(),
        Notation::Hex(digits) => format!("0x{value:0digits$x}"),
        Notation::Binary(digits) => format!("0b{value:0digits$b}"),
    }
}

/// A JSON number, or text such as "0x1f" or "0b101".
fn integer(value: &Value) -> Option<u64> {
    let Some(text) = value.as_str() else { return value.as_u64() };
    let (digits, radix) = digits_of(text)?;
    // from_str_radix takes a sign.
    let unsigned = digits.starts_with(|first: char| first.is_digit(radix));
    if unsigned { u64::from_str_radix(digits, radix).ok() } else { None }
}

/// The digits behind 0x or 0b, and their base.
fn digits_of(text: &str) -> Option<(&str, u32)> {
    let (prefix, digits) = text.split_at_checked(2)?;
    match prefix {
        "0x" | "0X" => Some((digits, 16)),
        "0b" | "0B" => Some((digits, 2)),
        _ => None,
    }
}

/// Values by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields(Vec<(&'static str, Datum)>);

impl Fields {
    /// Every field of tables that follow each other in `octets`.
    pub(super) fn read(&mut self, tables: &[&[Field]], octets: &[u8]) {
        self.0.extend(rows(tables).map(|(name, bits, _)| (name, Datum::Number(field::get(octets, &bits)))));
    }

    pub(super) fn number(&mut self, key: &'static str, value: impl Into<u64>) {
        self.0.push((key, Datum::Number(value.into())));
    }

    pub(super) fn name(&mut self, key: &'static str, name: &'static str) {
        self.0.push((key, Datum::Name(name)));
    }

    pub(super) fn octets(&mut self, key: &'static str, octets: &[u8]) {
        self.0.push((key, Datum::Octets(octets.to_vec())));
    }

    pub(super) fn set(&mut self, key: &'static str, members: impl Iterator<Item = u16>) {
        self.0.push((key, Datum::Set(members.map(u64::from).collect())));
    }

    /// Another value of a number that was read.
    pub(super) fn change(&mut self, key: &'static str, value: u64) {
        self.0.retain(|(name, _)| *name != key);
        self.number(key, value);
    }

    /// The number of this key; 0 if there is none.
    pub(super) fn value(&self, key: &str) -> u64 {
        match self.get(key) {
            Some(&Datum::Number(value)) => value,
            _ => 0,
        }
    }

    fn get(&self, key: &str) -> Option<&Datum> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, datum)| datum)
    }
}

/// How a form is recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// By this many octets.
    Octets(usize),
    /// By `0x` and at most so many digits: a number of so many bits, not octets. Right-aligned in two octets.
    Number { bits: u32, digits: usize },
    /// Only by its name in front; `read` checks the length.
    Named,
}

/// Octets, and every field of them.
pub(super) type Made = (Vec<u8>, Fields);

/// Every field of octets but the names of codes.
type Read = dyn Fn(&[u8]) -> Result<Fields, CodecError>;

/// The octets for fields, and likewise their fields.
type Make = dyn Fn(&Given<'_>) -> Result<Made, CodecError>;

/// One layout of a format.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    /// In the order in which they are printed.
    pub(super) keys: Vec<Key>,
    pub(super) read: Box<Read>,
    pub(super) make: Box<Make>,
}

impl Form {
    fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Adds the names of codes.
    fn complete(&self, mut fields: Fields) -> Fields {
        for key in &self.keys {
            if let (Kind::Code(names), Some(number)) = (&key.kind, key.name.strip_suffix("_name"))
                && let Some(&Datum::Number(code)) = fields.get(number)
                && let Some(&name) = names.get(code as usize)
            {
                fields.name(key.name, name);
            }
        }
        fields
    }

    /// The octets of this form that `input` writes.
    fn octets(&self, input: &Input<'_>) -> Result<Vec<u8>, CodecError> {
        match self.shape {
            Shape::Named => input.octets(),
            Shape::Octets(expected) => {
                let octets = input.octets()?;
                if octets.len() == expected {
                    return Ok(octets);
                }
                let problem =
                    format!("{} found; form \"{}\" has {expected}", octets_of(octets.len()), self.name);
                Err(CodecError::new("hex", problem))
            }
            Shape::Number { bits, digits } => {
                let max = (1u64 << bits) - 1;
                match u64::from_str_radix(&input.digits, 16) {
                    Ok(value) if value <= max => Ok((value as u16).to_be_bytes().to_vec()),
                    _ => {
                        let allowed = [0, max].map(|value| number(value, Notation::Hex(digits))).join(" to ");
                        let problem = format!("0x{} found; allowed: {allowed} ({bits} bits)", input.digits);
                        Err(CodecError::new(self.name, problem))
                    }
                }
            }
        }
    }

    /// How it is written on the command line.
    fn written(&self) -> String {
        match self.shape {
            Shape::Octets(octets) => format!("{octets} ({})", self.name),
            Shape::Number { bits, .. } => {
                format!("a number of up to {bits} bits with 0x in front ({})", self.name)
            }
            Shape::Named => format!("any {name} as {name}:HEX", name = self.name),
        }
    }

    /// Canonical text of the octets.
    fn print_hex(&self, octets: &[u8]) -> String {
        match self.shape {
            Shape::Octets(_) | Shape::Named => hex::print(octets),
            Shape::Number { digits, .. } => {
                let value = octets.iter().fold(0, |value, &octet| value << 8 | u64::from(octet));
                number(value, Notation::Hex(digits))
            }
        }
    }

    fn print_json(&self, fields: &Fields) -> String {
        let mut lines = vec![format!("  \"form\": \"{}\"", self.name)];
        let present = self.keys.iter().filter_map(|key| Some((key, fields.get(key.name)?)));
        lines.extend(present.map(|(key, datum)| format!("  \"{}\": {}", key.name, key.print(datum))));
        format!("{{\n{}\n}}", lines.join(",\n"))
    }
}

/// `1 octet`, `5 octets`.
pub(super) fn octets_of(count: usize) -> String {
    if count == 1 { "1 octet".into() } else { format!("{count} octets") }
}

/// The fields that JSON gives, each within its range.
pub(super) struct Given<'a> {
    form: &'a Form,
    fields: Fields,
}

impl Given<'_> {
    pub(super) fn get(&self, key: &str) -> Option<u64> {
        match self.fields.get(key)? {
            Datum::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The number, or else the only one that its name has.
    pub(super) fn need(&self, key: &str) -> Result<u64, CodecError> {
        if let Some(code) = self.get(key) {
            return Ok(code);
        }
        let name_key = format!("{key}_name");
        let Some(Kind::Code(names)) = self.form.key(&name_key).map(|key| &key.kind) else {
            return Err(self.missing(key, ""));
        };
        let Some(name) = self.text(&name_key) else {
            return Err(self.missing(key, &format!(", or a name in {name_key}")));
        };
        let mut codes = names.iter().zip(0u64..).filter(|(known, _)| **known == name).map(|(_, code)| code);
        match (codes.next(), codes.next()) {
            (Some(code), None) => Ok(code),
            _ => Err(self.missing(key, &format!("; {name_key} \"{name}\" does not tell which"))),
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&'static str> {
        match self.fields.get(key)? {
            Datum::Name(name) => Some(name),
            _ => None,
        }
    }

    pub(super) fn need_text(&self, key: &str, hint: &str) -> Result<&'static str, CodecError> {
        self.text(key).ok_or_else(|| self.missing(key, hint))
    }

    pub(super) fn need_octets(&self, key: &str) -> Result<&[u8], CodecError> {
        self.octets(key).ok_or_else(|| self.missing(key, ""))
    }

    pub(super) fn octets(&self, key: &str) -> Option<&[u8]> {
        match self.fields.get(key)? {
            Datum::Octets(octets) => Some(octets),
            _ => None,
        }
    }

    pub(super) fn members(&self, key: &str) -> Option<&[u64]> {
        match self.fields.get(key)? {
            Datum::Set(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn missing(&self, key: &str, hint: &str) -> CodecError {
        let allowed = self.form.key(key).map_or_else(String::new, Key::allowed);
        CodecError::new(
            format!("/{key}"),
            format!("missing; form \"{}\" needs it, allowed: {allowed}{hint}", self.form.name),
        )
    }

    /// The complaint about the first of `keys` that is given, where there is no such field.
    pub(super) fn refuse(&self, keys: &[&str]) -> Result<(), CodecError> {
        match self
            .form
            .keys
            .iter()
            .find(|key| keys.contains(&key.name) && self.fields.get(key.name).is_some())
        {
            Some(key) => Err(out_of_place(key)),
            None => Ok(()),
        }
    }
}

fn out_of_place(key: &Key) -> CodecError {
    key.error(format!("out of place; allowed only {}", key.only))
}

/// Bytes to JSON; a form without a name in front is recognised by the number of octets.
pub(super) fn decode(forms: &[Form], text: &str) -> Result<String, CodecError> {
    decode_by(forms, text, recognise)
}

/// Bytes to JSON; `choose` recognises a form without a name in front.
pub(super) fn decode_by<'a>(
    forms: &'a [Form],
    text: &str,
    choose: fn(&'a [Form], &Input<'_>) -> Result<&'a Form, CodecError>,
) -> Result<String, CodecError> {
    let input = Input::parse(text)?;
    let form = match input.form {
        Some(name) => {
            // On the command line "short-delimited" needs no quotes.
            let spaced = name.replace(['-', '_'], " ");
            find(forms, &spaced, |allowed| {
                let hint = did_you_mean(&spaced, names(forms));
                CodecError::new(
                    "form",
                    format!("{name:?} is unknown;{hint} allowed before the colon: {allowed}"),
                )
            })?
        }
        None => choose(forms, &input)?,
    };
    let octets = form.octets(&input)?;
    Ok(form.print_json(&form.complete((form.read)(&octets)?)))
}

/// JSON to bytes.
pub(super) fn encode(forms: &[Form], text: &str) -> Result<String, CodecError> {
    let entries = json::object(text)?;
    let form = match entries.iter().find(|(key, _)| key == "form") {
        Some((_, value)) => {
            let name = value.as_str().unwrap_or_default();
            find(forms, name, |allowed| {
                let hint = did_you_mean(name, names(forms));
                let found = json::shown(value);
                CodecError::new("/form", format!("{found} found;{hint} allowed: {allowed}"))
            })?
        }
        None => {
            let known = |key: &str| forms.iter().any(|form| form.key(key).is_some());
            let meant =
                entries.iter().find(|(key, _)| !known(key) && nearest(key, ["form"].into_iter()).is_some());
            return Err(match meant {
                Some((key, _)) => {
                    CodecError::new(format!("/{}", key.escape_debug()), "no such key; did you mean \"form\"?")
                }
                None => CodecError::new(
                    "/form",
                    format!(
                        "missing; it says which layout this is, allowed: {}",
                        list(names(forms).collect())
                    ),
                ),
            });
        }
    };

    let mut fields = Fields::default();
    for (name, value) in entries.iter().filter(|(name, _)| name != "form") {
        let key = form.key(name).ok_or_else(|| unknown_key(forms, form, name))?;
        fields.0.push((key.name, key.read(value)?));
    }
    let given = Given { form, fields };
    let (octets, made) = (form.make)(&given)?;
    let made = form.complete(made);
    for key in &form.keys {
        match (given.fields.get(key.name), made.get(key.name)) {
            (Some(_), None) => return Err(out_of_place(key)),
            (Some(found), Some(right)) if found != right => {
                let (found, right) = (key.print(found), key.print(right));
                let rule = if key.rule.is_empty() { String::new() } else { format!(" ({})", key.rule) };
                return Err(key.error(format!("{found} found, but the other fields make it {right}{rule}")));
            }
            _ => {}
        }
    }
    Ok(form.print_hex(&octets))
}

fn names(forms: &[Form]) -> impl Iterator<Item = &'static str> {
    forms.iter().map(|form| form.name)
}

fn find<'a>(
    forms: &'a [Form],
    name: &str,
    error: impl FnOnce(String) -> CodecError,
) -> Result<&'a Form, CodecError> {
    forms.iter().find(|form| form.name == name).ok_or_else(|| error(list(names(forms).collect())))
}

/// The form that digits without a name have.
fn recognise<'a>(forms: &'a [Form], input: &Input<'_>) -> Result<&'a Form, CodecError> {
    let is_number = |form: &&Form| {
        matches!(form.shape, Shape::Number { bits, .. }
            if input.prefixed && input.digits.len() <= bits.div_ceil(4) as usize)
    };
    if let Some(form) = forms.iter().find(is_number) {
        return Ok(form);
    }
    let length = input.octets().map_err(|mut error| {
        for form in forms.iter().filter(|form| matches!(form.shape, Shape::Number { .. })) {
            error.problem += &format!(", or {}", form.written());
        }
        error
    })?;
    let length = length.len();
    let fits = |form: &&Form| matches!(form.shape, Shape::Octets(octets) if octets == length);
    forms.iter().find(fits).ok_or_else(|| {
        let allowed: Vec<String> = forms.iter().map(Form::written).collect();
        let problem = format!("{} fit no form; allowed: {}", octets_of(length), allowed.join(", "));
        CodecError::new("hex", problem)
    })
}

fn unknown_key(forms: &[Form], form: &Form, name: &str) -> CodecError {
    let owners: Vec<&str> =
        forms.iter().filter(|other| other.key(name).is_some()).map(|other| other.name).collect();
    let problem = if !owners.is_empty() {
        format!("form \"{}\" has no such key; allowed: in form {}", form.name, list(owners))
    } else if let Some(meant) = nearest(name, form.keys.iter().map(|key| key.name)) {
        format!("no such key; did you mean \"{meant}\"?")
    } else {
        let keys: Vec<&str> = ["form"].into_iter().chain(form.keys.iter().map(|key| key.name)).collect();
        format!("no such key; allowed in form \"{}\": {}", form.name, keys.join(", "))
    };
    CodecError::new(format!("/{}", name.escape_debug()), problem)
}
