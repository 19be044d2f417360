//! Where a quotation stands in a text, whole: it neither begins nor ends inside a word or number.

use unicode_normalization::char::is_combining_mark;

use crate::world::page::is_unspaced;

/// The bytes at which `quote` stands in `text`, one after the other.
pub(super) fn standing<'t>(text: &'t str, quote: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text.get(from..).filter(|_| !quote.is_empty())?.find(quote) {
            let start = from + found;
            let end = start + quote.len();
            if !is_inside(text, start) && !is_inside(text, end) {
                from = end;
                return Some(start);
            }
            from = start + text[start..].chars().next().map_or(1, char::len_utf8);
        }
        None
    })
}

/// Whether byte `at` lies inside a word or a number.
fn is_inside(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at(at);
    let mut left = before.chars().rev();
    let mut right = after.chars();
    let (Some(one), Some(other)) = (left.next(), right.next()) else {
        return false;
    };
    let digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let point = |c: char| matches!(c, '.' | ',' | '٫' | '٬' | '\'' | '’');
    if is_combining_mark(other) {
        return true;
    }
    if is_word(one) && is_word(other) {
        // Scripts without spaces put particles and units right after a name or a number.
        return !(is_unspaced(one) || is_unspaced(other));
    }
    let decimal = (one.is_numeric() && point(other) && digit(right.next()))
        || (point(one) && other.is_numeric() && digit(left.clone().next()));
    let signed = matches!(one, '-' | '−' | '+' | '±' | '.' | ',')
        && other.is_numeric()
        && !left.next().is_some_and(is_word);
    decimal || signed
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(text: &str, quote: &str) -> usize {
        standing(text, quote).count()
    }

    #[test]
    fn a_quotation_that_ends_inside_a_word_or_a_number_is_not_there() {
        for (text, quote) in [
            ("123", "12"),
            ("1.25", "1.2"),
            ("1.25", "25"),
            ("1.25", "1"),
            ("1,234", "1"),
            ("1,234", "234"),
            ("it is -5 here", "5"),
            ("it is .5 here", "5"),
            ("1.25", "1."),
            ("unable", "able"),
            ("snake_case", "case"),
            ("cafe\u{301}", "cafe"),
            ("", "x"),
            ("x", ""),
        ] {
            assert_eq!(stands(text, quote), 0, "{text} {quote}");
        }
    }

    #[test]
    fn a_whole_one_is() {
        for (text, quote) in [
            ("12", "12"),
            ("it costs 12.", "12"),
            ("12, 13", "12"),
            ("(1.2)", "1.2"),
            ("2024-05", "05"),
            ("서울은 12개", "서울"),
            ("12개", "12"),
            ("Acme's", "Acme"),
            ("123 12", "12"),
            ("1212 1 12", "12"),
            ("x-5", "5"),
        ] {
            assert_eq!(stands(text, quote), 1, "{text} {quote}");
        }
        assert_eq!(stands("ab ab ab", "ab"), 3);
    }
}
