//! Names with a `*`.

/// Whether a pattern fits a name. `*` stands for any letters, or none.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
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
    use super::fits;

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
            assert!(fits(pattern, name), "{pattern:?} {name:?}");
        }
        for (pattern, name) in [
            ("cape", "Cape"),
            ("cape", "cape2"),
            ("cloth_*", "my cloth_cape"),
            ("a*b*c", "a--c--b"),
            ("ab*ba", "aba"),
            ("", "a"),
        ] {
            assert!(!fits(pattern, name), "{pattern:?} {name:?}");
        }
    }
}
