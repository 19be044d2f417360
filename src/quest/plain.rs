//! Text from outside, made safe to show.
//!
//! Names, pages and submissions may hold control characters that move a terminal's cursor,
//! marks that turn the direction of writing, and characters that are shown as nothing: tags
//! (U+E0000) can say to a program what no person sees. A few honest names lose a little by
//! it: the joiners of Persian, the variation marks of rare ideographs.

use std::fmt::{self, Write as _};

use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};

/// Shows a text on one line with what is unsafe in it escaped as `\u{…}`.
#[derive(Debug, Clone, Copy)]
pub struct Plain<'a>(pub &'a str);

/// Like [`Plain`], but line feeds stay.
#[derive(Debug, Clone, Copy)]
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

/// Whether a reader would not see the character for what it is: a control character, a line
/// separator, an annotation mark, or one that is shown as nothing (`Default_Ignorable_Code_Point`
/// of UAX #44, marks of direction among them).
#[must_use]
pub fn is_unsafe(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}')
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

/// JSON text in which nothing [unsafe](is_unsafe) is left as it is.
///
/// `serde_json` escapes those below U+0020; the others can stand in JSON within strings alone.
#[must_use]
pub fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
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
    fn nothing_is_shown_that_steers_a_terminal() {
        let evil = "a\u{1b}[2Jb\u{9b}31m\u{202e}c\r\nd";
        assert_eq!(
            Plain(evil).to_string(),
            "a\\u{1b}[2Jb\\u{9b}31m\\u{202e}c\\u{d}\\u{a}d"
        );
        assert!(PlainLines(evil).to_string().contains("\\u{d}\nd"));
    }

    #[test]
    fn nothing_is_said_unseen() {
        let tagged = "Acme\u{e0001}\u{e0072}\u{e006d} Fo\u{200b}ods\u{feff}\u{ad}\u{fff9}";
        assert_eq!(
            Plain(tagged).to_string(),
            "Acme\\u{e0001}\\u{e0072}\\u{e006d} Fo\\u{200b}ods\\u{feff}\\u{ad}\\u{fff9}"
        );
    }

    #[test]
    fn what_is_seen_stays() {
        let seen = "한빛 Ünï «Müller» 株式会社 \u{a0}· שלום 😀";
        assert_eq!(Plain(seen).to_string(), seen);
    }

    #[test]
    fn json_stays_the_same_value() {
        let evil = "a\u{9b}b\u{7f}\u{202e}\u{2028}\n\u{1b}\u{e0041}\u{200b}";
        let safe = json(&serde_json::to_string(evil).unwrap());
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), evil);
    }
}
