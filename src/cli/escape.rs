//! Text from outside, made safe for a terminal.
//!
//! Names, pages and submissions may hold control characters that move the cursor, or marks
//! that turn the direction of writing; both could make a terminal show what is not so.

use std::fmt::{self, Write as _};

/// Shows a text on one line with its control characters escaped as `\u{…}`.
pub struct Plain<'a>(pub &'a str);

/// Like [`Plain`], but line feeds stay.
pub struct PlainLines<'a>(pub &'a str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, self.0, |_| false)
    }
}

impl fmt::Display for PlainLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, self.0, |c| c == '\n')
    }
}

fn write_escaped(f: &mut fmt::Formatter<'_>, text: &str, keep: fn(char) -> bool) -> fmt::Result {
    for c in text.chars() {
        if is_unsafe(c) && !keep(c) {
            write!(f, "\\u{{{:x}}}", u32::from(c))?;
        } else {
            f.write_char(c)?;
        }
    }
    Ok(())
}

/// Control characters, line separators, and marks of direction (UAX #9 §2).
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' | '\u{61c}'
        )
        || ('\u{202a}'..='\u{202e}').contains(&c)
        || ('\u{2066}'..='\u{2069}').contains(&c)
}

/// JSON text in which no control character, and no mark of direction, is left as it is.
///
/// `serde_json` escapes those below U+0020; the others can stand in JSON within strings alone.
#[must_use]
pub fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            // None of them lies beyond the basic plane, and writing to a string does not fail.
            let _ = write!(safe, "\\u{:04x}", u32::from(c));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_steers_it() {
        let evil = "a\u{1b}[2Jb\u{9b}31m\u{202e}c\r\nd";
        assert_eq!(
            Plain(evil).to_string(),
            "a\\u{1b}[2Jb\\u{9b}31m\\u{202e}c\\u{d}\\u{a}d"
        );
        assert!(PlainLines(evil).to_string().contains("\\u{d}\nd"));
        assert_eq!(Plain("한빛 Ünï").to_string(), "한빛 Ünï");
    }

    #[test]
    fn json_stays_the_same_value() {
        let evil = "a\u{9b}b\u{7f}\u{202e}\u{2028}\n\u{1b}";
        let safe = json(&serde_json::to_string(evil).unwrap());
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), evil);
    }
}
