//! Quotes what came from outside, so that it is short and shows what it hides.

const LONGEST: usize = 120;

/// `text` in quotes, control and invisible characters escaped, cut after 120 characters.
#[must_use]
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => format!("{text:?}"),
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or_default();
            format!("{shown:?}… ({} bytes)", text.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_cuts() {
        assert_eq!(quoted("a\u{1b}[2J\u{200b}"), r#""a\u{1b}[2J\u{200b}""#);
        assert_eq!(quoted(&"가".repeat(LONGEST)).chars().count(), LONGEST + 2);
        let long = quoted(&"가".repeat(LONGEST + 1));
        assert!(long.ends_with("… (363 bytes)"), "{long}");
    }
}
