//! Hex digits as people write them.

use super::CodecError;

/// A command-line argument, taken apart.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Input<'a> {
    /// What stands before a colon.
    pub(super) form: Option<&'a str>,
    /// The digits alone, lowercase.
    pub(super) digits: String,
    /// Whether this is one word that begins with `0x`, and so may be a number.
    pub(super) prefixed: bool,
}

impl<'a> Input<'a> {
    /// Takes `[form:]digits` apart. White space, underscores and a `0x` before each word are dropped.
    pub(super) fn parse(text: &'a str) -> Result<Self, CodecError> {
        let (form, rest) = match text.split_once(':') {
            Some((form, rest)) => (Some(form.trim()), rest),
            None => (None, text),
        };
        let before = text.chars().count() - rest.chars().count();
        let mut digits = String::new();
        let (mut words, mut last_prefixed, mut odd) = (0, false, None);
        let mut characters = rest.chars().enumerate().peekable();
        while characters.next_if(|(_, character)| character.is_whitespace()).is_some() {}
        while characters.peek().is_some() {
            words += 1;
            let begin = digits.len();
            last_prefixed = false;
            let mut first = true;
            while let Some((index, character)) =
                characters.next_if(|(_, character)| !character.is_whitespace())
            {
                let x_follows = |&(_, next): &(usize, char)| matches!(next, 'x' | 'X');
                if first && character == '0' && characters.next_if(x_follows).is_some() {
                    last_prefixed = true;
                } else if character.is_ascii_hexdigit() {
                    digits.push(character.to_ascii_lowercase());
                } else if character != '_' {
                    let problem = format!(
                        "{character:?} at character {} is no hex digit; allowed: 0-9, a-f, A-F, spaces, \
                         underscores, 0x in front",
                        before + index + 1
                    );
                    return Err(CodecError::new("hex", problem));
                }
                first = false;
            }
            if last_prefixed && (digits.len() - begin) % 2 == 1 {
                odd.get_or_insert(begin..digits.len());
            }
            while characters.next_if(|(_, character)| character.is_whitespace()).is_some() {}
        }
        match odd {
            _ if digits.is_empty() => Err(CodecError::new("hex", "no digits found; allowed: 0-9, a-f, A-F")),
            Some(odd) if words > 1 => {
                let word = &digits[odd];
                let problem = format!("0x{word} found; allowed: two digits for each octet");
                Err(CodecError::new("hex", problem))
            }
            _ => Ok(Self { form, digits, prefixed: words == 1 && last_prefixed }),
        }
    }

    /// The digits as octets.
    pub(super) fn octets(&self) -> Result<Vec<u8>, CodecError> {
        octets(&self.digits).ok_or_else(|| {
            let digits = if self.digits.len() == 1 { "digit" } else { "digits" };
            let problem = format!("{} {digits} found; allowed: two for each octet", self.digits.len());
            CodecError::new("hex", problem)
        })
    }
}

/// Two digits for each octet, nothing else.
pub(super) fn octets(digits: &str) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|&[high, low]| Some(value(high)? << 4 | value(low)?)).collect()
}

/// Lowercase digits.
pub(super) fn print(octets: &[u8]) -> String {
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_case_and_prefixes_do_not_matter() {
        for text in ["803fc1", "80 3F c1", " 0x803FC1\n", "0x80 0x3f 0XC1", "80_3f_c1", "8 03f c1"] {
            let input = Input::parse(text).unwrap();
            assert_eq!((input.form, input.digits.as_str()), (None, "803fc1"), "{text}");
            assert_eq!(input.octets().unwrap(), [0x80, 0x3F, 0xC1]);
        }
        let named = Input::parse("packet: 0x00 0a").unwrap();
        assert_eq!((named.form, named.digits.as_str(), named.prefixed), (Some("packet"), "000a", false));
        assert!(Input::parse("0x841").unwrap().prefixed);
        assert!(!Input::parse("841").unwrap().prefixed);
    }
}
