//! Texts with gaps: `[..]` stands for any characters of a line, a line `[...]` for any lines.

/// Whether `text` is what `shown` shows.
pub fn matches(shown: &str, text: &str) -> bool {
    let shown: Vec<&str> = shown.lines().collect();
    let text: Vec<&str> = text.lines().collect();
    lines_match(&shown, &text)
}

fn lines_match(shown: &[&str], text: &[&str]) -> bool {
    match shown.split_first() {
        None => text.is_empty(),
        Some((&"[...]", rest)) => (0..=text.len()).any(|skip| lines_match(rest, &text[skip..])),
        Some((line, rest)) => text
            .split_first()
            .is_some_and(|(first, text)| line_matches(line, first) && lines_match(rest, text)),
    }
}

fn line_matches(shown: &str, text: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            starts.any(|at| line_matches(after, &rest[at..]))
        }),
    }
}

#[test]
fn gaps_match_what_they_stand_for_and_nothing_else() {
    assert!(matches("a\n[...]\nd", "a\nb\nc\nd\n"));
    assert!(matches("a\n[...]\nd", "a\nd\n"));
    assert!(!matches("a\n[...]\nd", "a\nb\n"));
    assert!(matches("in [..]/x of [..]", "in /tmp/ü/x of 3"));
    assert!(!matches("in [..]/x", "in /tmp/y"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
}
