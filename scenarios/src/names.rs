//! Patterns for names of devices.

/// Whether `name` matches `pattern`: `*` any characters, `?` one, `{2..5}` a number from 2 to 5.
pub fn matches(pattern: &str, name: &str) -> bool {
    let Some(first) = pattern.chars().next() else { return name.is_empty() };
    match first {
        '*' => {
            let rest = &pattern[1..];
            let starts = name.char_indices().map(|(i, _)| i).chain([name.len()]);
            // Consecutive stars mean one star; without this a row of them would take exponential time.
            if rest.starts_with('*') {
                return matches(rest, name);
            }
            starts.into_iter().any(|i| matches(rest, &name[i..]))
        }
        '?' => {
            let mut chars = name.chars();
            chars.next().is_some() && matches(&pattern[1..], chars.as_str())
        }
        '{' => match range(pattern) {
            Some((low, high, rest)) => {
                let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                // The whole run of digits is the number, or `{1..2}` would match the start of 15.
                name[..digits].parse::<u64>().is_ok_and(|n| (low..=high).contains(&n))
                    && matches(rest, &name[digits..])
            }
            None => name.strip_prefix('{').is_some_and(|name| matches(&pattern[1..], name)),
        },
        _ => name.strip_prefix(first).is_some_and(|name| matches(&pattern[first.len_utf8()..], name)),
    }
}

/// `{2..5}rest` as (2, 5, "rest").
fn range(pattern: &str) -> Option<(u64, u64, &str)> {
    let (inside, rest) = pattern.strip_prefix('{')?.split_once('}')?;
    let (low, high) = inside.split_once("..")?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?, rest))
}

/// Most wild cards in one pattern: matching takes time exponential in their number.
const STARS_MAX: usize = 4;

/// Positions of `names` that the patterns select, in the order of `names`; or the pattern that selects nothing.
pub fn select(patterns: &[String], names: &[&str]) -> Result<Vec<usize>, String> {
    let mut chosen = vec![false; names.len()];
    for pattern in patterns {
        let (text, wanted) = match pattern.strip_prefix('!') {
            Some(text) => (text, false),
            None => (pattern.as_str(), true),
        };
        let mut hit = false;
        if text.matches('*').count() > STARS_MAX {
            return Err(pattern.clone());
        }
        for (slot, name) in chosen.iter_mut().zip(names) {
            if text == "all" || matches(text, name) {
                *slot = wanted;
                hit = true;
            }
        }
        if !hit {
            return Err(pattern.clone());
        }
    }
    Ok(chosen.iter().enumerate().filter(|(_, chosen)| **chosen).map(|(i, _)| i).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("ep/*", "ep/007") && matches("*", "") && matches("g?/sw*", "g1/sw3"));
        assert!(matches("ep/{5..12}", "ep/007") && matches("ep/{5..12}", "ep/12"));
        assert!(!matches("ep/{5..12}", "ep/120") && !matches("ep/{5..12}", "ep/4"));
        assert!(!matches("ep/?", "ep/10") && matches("é?", "éß"));
        let names = ["ep/0", "ep/1", "ep/2"];
        let pick = |list: &[&str]| select(&list.iter().map(|s| s.to_string()).collect::<Vec<_>>(), &names);
        assert_eq!(pick(&["all", "!ep/1"]), Ok(vec![0, 2]));
        assert_eq!(pick(&["ep/2", "ep/0"]), Ok(vec![0, 2]));
        assert_eq!(pick(&["ep/9"]), Err("ep/9".into()));
    }
}
