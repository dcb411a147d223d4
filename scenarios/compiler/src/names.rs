//! Patterns for names of devices.

/// Most wild cards in one pattern: matching takes time exponential in their number.
const STARS_MAX: usize = 4;

/// Whether `name` matches `pattern`: `*` any characters (at most four times), `?` one, `{2..5}` a number from
/// 2 to 5.
pub fn matches(pattern: &str, name: &str) -> bool {
    pattern.matches('*').count() <= STARS_MAX && rest_matches(pattern, name)
}

fn rest_matches(mut pattern: &str, mut name: &str) -> bool {
    while let Some(first) = pattern.chars().next() {
        if first == '*' {
            let mut starts = name.char_indices().map(|(i, _)| i).chain([name.len()]);
            return starts.any(|i| rest_matches(&pattern[1..], &name[i..]));
        }
        if let Some((low, high, rest)) = range(pattern) {
            // The whole run of digits is the number, or `{1..2}` would match the start of 15.
            let digits = name.len() - name.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if !name[..digits].parse::<u64>().is_ok_and(|n| (low..=high).contains(&n)) {
                return false;
            }
            (pattern, name) = (rest, &name[digits..]);
            continue;
        }
        let Some(found) = name.chars().next() else { return false };
        if first != '?' && first != found {
            return false;
        }
        (pattern, name) = (&pattern[first.len_utf8()..], &name[found.len_utf8()..]);
    }
    name.is_empty()
}

/// `{2..5}rest` as (2, 5, "rest").
fn range(pattern: &str) -> Option<(u64, u64, &str)> {
    let (inside, rest) = pattern.strip_prefix('{')?.split_once('}')?;
    let (low, high) = inside.split_once("..")?;
    Some((low.trim().parse().ok()?, high.trim().parse().ok()?, rest))
}

/// Positions of `names` that the patterns select, in the order of `names`; or the pattern that selects
/// nothing.
pub fn select(patterns: &[String], names: &[&str]) -> Result<Vec<usize>, String> {
    select_by(patterns, names.len(), |at, pattern| matches(pattern, names[at]))
}

/// The names by which a link is found: its own, and those of the device and the port at each end, which are
/// given by the name of the device and the number of the port.
pub fn of_link(label: &str, ends: [(&str, u32); 2]) -> [String; 5] {
    let [(a, at_a), (b, at_b)] = ends;
    [label.into(), a.into(), format!("{a}:{at_a}"), b.into(), format!("{b}:{at_b}")]
}

/// [`select`] among `count` things, of which `is_named` knows whether a pattern matches one.
pub fn select_by(
    patterns: &[String],
    count: usize,
    is_named: impl Fn(usize, &str) -> bool,
) -> Result<Vec<usize>, String> {
    let mut chosen = vec![false; count];
    for pattern in patterns {
        let (text, wanted) = match pattern.strip_prefix('!') {
            Some(text) => (text, false),
            None => (pattern.as_str(), true),
        };
        let mut hit = false;
        for (at, slot) in chosen.iter_mut().enumerate() {
            if text == "all" || is_named(at, text) {
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
        assert!(matches("{a}", "{a}") && !matches("*****", "x"));
        assert!(!matches("ep/?", "ep/10") && matches("é?", "éß"));
        let names = ["ep/0", "ep/1", "ep/2"];
        let pick = |list: &[&str]| select(&list.iter().map(|s| s.to_string()).collect::<Vec<_>>(), &names);
        assert_eq!(pick(&["all", "!ep/1"]), Ok(vec![0, 2]));
        assert_eq!(pick(&["ep/2", "ep/0"]), Ok(vec![0, 2]));
        assert_eq!(pick(&["ep/9"]), Err("ep/9".into()));
    }
}
