//! The text of what a tool printed: decoded, without colours, and short.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// The longest text of a complaint, in characters.
pub(super) const MOST_CHARS: usize = 300;

static COLOURS: LazyLock<Regex> =
    LazyLock::new(|| constant(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"));

/// The text of `bytes`: by its byte order mark, else as UTF-8, and what is neither as U+FFFD.
pub(super) fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    encoding_rs::UTF_8.decode(bytes).0
}

/// The text of `bytes` as a terminal shows it, without colours.
pub(super) fn printed(bytes: &[u8]) -> String {
    COLOURS.replace_all(&decoded(bytes), "").into_owned()
}

/// `text` on one line, its white space and control characters folded, cut after
/// [`MOST_CHARS`] characters.
pub(super) fn brief(text: &str) -> String {
    let mut line = String::new();
    let mut left = MOST_CHARS;
    let mut space = false;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            space = !line.is_empty();
            continue;
        }
        let needed = 1 + usize::from(space);
        if left < needed {
            line.push('…');
            break;
        }
        left -= needed;
        if space {
            line.push(' ');
            space = false;
        }
        line.push(letter);
    }
    line
}

/// The lines of `text`, without what ends them.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').map(|line| line.trim_end_matches('\r'))
}

/// A regular expression that is part of the program.
pub(super) fn constant(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_short_line() {
        assert_eq!(brief("  a\r\n\tb\u{0}c  "), "a b c");
        let long = brief(&"가 ".repeat(1000));
        assert!(long.ends_with('…'), "{long}");
        assert!(long.chars().count() <= MOST_CHARS + 1, "{long}");
        assert_eq!(brief(&"x".repeat(MOST_CHARS)), "x".repeat(MOST_CHARS));
    }

    #[test]
    fn drops_colours_and_reads_byte_order_marks() {
        assert_eq!(printed(b"\x1b[1;31mFAILED\x1b[0m x"), "FAILED x");
        assert_eq!(printed(b"\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\"), "link");
        assert_eq!(printed(b"\xff\xfea\0b\0"), "ab");
        assert_eq!(printed(b"\xef\xbb\xbf<a/>"), "<a/>");
    }
}
