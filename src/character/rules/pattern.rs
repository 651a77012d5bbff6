//! Name patterns with `*` as a wildcard.

/// Returns whether a pattern matches a name. `*` stands for any characters, or none.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name) in [
            ("cape", "cape"),
            ("cloth_*", "cloth_cape"),
            ("cloth_*", "cloth_"),
            ("*cape", "red cape"),
            ("*cape*", "a cape of mine"),
            ("a*b*c", "a--b--c"),
            ("a*b*c", "abbcc"),
            ("*", ""),
            ("é*", "été"),
        ] {
            assert!(matches(pattern, name), "{pattern:?} {name:?}");
        }
        for (pattern, name) in [
            ("cape", "Cape"),
            ("cape", "cape2"),
            ("cloth_*", "my cloth_cape"),
            ("a*b*c", "a--c--b"),
            ("ab*ba", "aba"),
            ("", "a"),
        ] {
            assert!(!matches(pattern, name), "{pattern:?} {name:?}");
        }
    }
}
