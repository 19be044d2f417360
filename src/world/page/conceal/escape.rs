//! Escapes in names and values of style sheets (CSS Syntax §4.3.7).

use std::borrow::Cow;

/// The character that is escaped, and what follows it; `text` begins behind the backslash.
pub(super) fn escaped(text: &str) -> Option<(char, &str)> {
    const MOST_DIGITS: usize = 6;
    let digits = text.bytes().take(MOST_DIGITS);
    let count = digits.take_while(u8::is_ascii_hexdigit).count();
    if count == 0 {
        let c = text.chars().next()?;
        return Some((c, &text[c.len_utf8()..]));
    }
    let (digits, rest) = text.split_at(count);
    let code = u32::from_str_radix(digits, 16).ok();
    let c = code.and_then(char::from_u32).unwrap_or('\u{fffd}');
    let rest = rest.strip_prefix("\r\n").unwrap_or(rest);
    Some((
        c,
        rest.strip_prefix([' ', '\n', '\t', '\u{c}'])
            .unwrap_or(rest),
    ))
}

/// The text with its escapes read.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    let Some((head, mut rest)) = text.split_once('\\') else {
        return Cow::Borrowed(text);
    };
    let mut out = head.to_owned();
    while let Some((c, after)) = escaped(rest) {
        out.push(c);
        let Some((plain, next)) = after.split_once('\\') else {
            out.push_str(after);
            break;
        };
        out.push_str(plain);
        rest = next;
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read() {
        for (text, read) in [
            ("display", "display"),
            ("d\\69splay", "display"),
            ("d\\000069splay", "display"),
            ("d\\69 splay", "display"),
            ("displa\\y", "display"),
            ("n\\6fne\\", "none"),
            ("\\", ""),
            ("a\\110000z", "a\u{fffd}z"),
        ] {
            assert_eq!(unescaped(text), read, "{text}");
        }
    }
}
