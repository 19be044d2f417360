//! Texts as long as a page has room for.

/// `text`, of which no more than some `most` bytes are shown.
#[must_use]
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let ends = text.char_indices().map(|(at, _)| at);
    let end = ends.take_while(|at| *at <= most).last().unwrap_or(0);
    let head = text.get(..end).unwrap_or_default();
    format!("{head}… ({} bytes)", text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_says_how_long_it_is() {
        assert_eq!(clipped("short", 5), "short");
        assert_eq!(clipped("longer", 5), "longe… (6 bytes)");
        assert_eq!(clipped("가나", 4), "가… (6 bytes)");
        assert_eq!(clipped("가", 0), "… (3 bytes)");
    }
}
