//! Skipping over what is no code: the end of a string or comment that begins at a place.

/// Where a quoted text ends that begins with `quote` at `at`, a backslash hiding what follows it.
/// `None` if nothing ends it; where `one_line` is set, neither does another line.
pub(super) fn quoted(text: &str, at: usize, quote: &str, one_line: bool) -> Option<usize> {
    let mut from = at + quote.len();
    loop {
        let rest = text.get(from..)?;
        if rest.starts_with(quote) {
            return Some(from + quote.len());
        }
        let mut letters = rest.chars();
        let letter = letters.next()?;
        if one_line && letter == '\n' {
            return None;
        }
        from += letter.len_utf8();
        if letter == '\\' {
            from += letters.next()?.len_utf8();
        }
    }
}

/// Where a text ends that `end` ends, whatever stands in it.
pub(super) fn until(text: &str, from: usize, end: &str) -> Option<usize> {
    let found = text.get(from..)?.find(end)?;
    Some(from + found + end.len())
}

/// Where the line ends, before its line end.
pub(super) fn line(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |found| from + found)
}

/// The word that begins at `at`.
pub(super) fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest
        .find(|letter: char| !is_word(letter))
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// Whether a letter is part of names.
pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}
