//! Attributes of a tag by where they stand in its bytes.

use std::ops::Range;

/// Where the value of the attribute stands in a start or empty tag, without its quotes.
///
/// Names are compared as written, prefix and all.
pub(super) fn value_range(tag: &[u8], name: &str) -> Option<Range<usize>> {
    let mut at = tag.iter().position(|&byte| byte == b'<')? + 1;
    at = skip(tag, at, |byte| {
        !is_space(byte) && !matches!(byte, b'/' | b'>')
    });
    loop {
        let start = skip(tag, at, is_space);
        let end = skip(tag, start, |byte| {
            !is_space(byte) && !matches!(byte, b'=' | b'/' | b'>')
        });
        if start == end {
            return None;
        }
        let equals = skip(tag, end, is_space);
        if tag.get(equals) != Some(&b'=') {
            return None;
        }
        let open = skip(tag, equals + 1, is_space);
        let quote = *tag.get(open).filter(|byte| matches!(byte, b'"' | b'\''))?;
        let close = skip(tag, open + 1, |byte| byte != quote);
        if close >= tag.len() {
            return None;
        }
        if &tag[start..end] == name.as_bytes() {
            return Some(open + 1..close);
        }
        at = close + 1;
    }
}

/// The value of the attribute, as written.
pub(super) fn value<'a>(tag: &'a [u8], name: &str) -> Option<&'a str> {
    std::str::from_utf8(&tag[value_range(tag, name)?]).ok()
}

/// The first place from `at` on where `wanted` does not hold.
fn skip(tag: &[u8], at: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = tag.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .position(|&byte| !wanted(byte))
        .unwrap_or(rest.len())
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_values_by_whole_names() {
        let tag = b"<x:c x:r=\"Z9\" dr='1'\r\n r = 'A\"1' s=\"\" t=\"a>b\"/>";
        assert_eq!(value(tag, "r"), Some("A\"1"));
        assert_eq!(value(tag, "s"), Some(""));
        assert_eq!(value(tag, "t"), Some("a>b"));
        assert_eq!(value(tag, "x"), None);
    }

    #[test]
    fn damaged_tags_have_no_values() {
        for tag in [
            "",
            "<",
            "<c",
            "<c r",
            "<c r=",
            "<c r=\"1",
            "<c r=1>",
            "<c/>",
            "< >",
            "<c = \"1\">",
        ] {
            assert_eq!(value(tag.as_bytes(), "r"), None, "{tag}");
        }
    }
}
