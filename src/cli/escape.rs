//! Text from outside, made safe for a terminal, as it is and within JSON.

pub use crate::quest::plain::{Plain, PlainLines};

use std::fmt::Write as _;

use crate::quest::plain::is_unsafe;

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
    fn json_stays_the_same_value() {
        let evil = "a\u{9b}b\u{7f}\u{202e}\u{2028}\n\u{1b}\u{e0041}\u{200b}";
        let safe = json(&serde_json::to_string(evil).unwrap());
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), evil);
    }
}
