//! Text from outside, made safe within Markdown.

use std::fmt::Write as _;

use jiff::SignedDuration;

use crate::base::text::{Escaped, truncate};

/// The most characters of a name that are shown.
const MOST_OF_NAME: usize = 120;

/// The most characters of a sentence that are shown.
const MOST_OF_SENTENCE: usize = 600;

/// The name on one line, in which nothing is Markdown, HTML or unseen, and no link is made.
#[must_use]
pub fn escaped(name: &str) -> String {
    safe(name, MOST_OF_NAME)
}

/// The same of a sentence.
#[must_use]
pub fn escaped_sentence(text: &str) -> String {
    safe(text, MOST_OF_SENTENCE)
}

fn safe(text: &str, most: usize) -> String {
    let plain = Escaped(&truncate(text, most)).to_string();
    let mut safe = String::with_capacity(plain.len());
    for (at, c) in plain.char_indices() {
        push(&mut safe, c, &plain[..at], &plain[at..]);
    }
    safe
}

fn push(safe: &mut String, c: char, before: &str, rest: &str) {
    match c {
        '<' => safe.push_str("&lt;"),
        '>' => safe.push_str("&gt;"),
        '&' => safe.push_str("&amp;"),
        // Some readers make links of what only looks like an address.
        ':' if rest.starts_with("://") => safe.push_str("&#58;"),
        '.' if ends_in_www(before) => safe.push_str("&#46;"),
        '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '$' => {
            safe.push('\\');
            safe.push(c);
        }
        _ => safe.push(c),
    }
}

fn ends_in_www(text: &str) -> bool {
    let mut last = text.chars().rev().take(3);
    text.len() >= 3 && last.all(|c| c.eq_ignore_ascii_case(&'w'))
}

/// How long it took, to the second; less than that in milliseconds.
#[must_use]
pub fn duration(milliseconds: u64) -> String {
    if milliseconds < 1000 {
        return format!("{milliseconds}ms");
    }
    let seconds = i64::try_from(milliseconds / 1000).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_secs(seconds))
}

/// A table of these heads and rows; `-:` in front of a head puts its column to the right.
///
/// What is in the cells is Markdown already.
#[must_use]
pub fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = String::new();
    let names = heads.iter().map(|head| head.trim_start_matches("-:"));
    line(&mut table, names);
    let rules = heads.iter().map(|head| {
        if head.starts_with("-:") {
            "---:"
        } else {
            "---"
        }
    });
    line(&mut table, rules);
    for row in rows {
        line(&mut table, row.iter().map(String::as_str));
    }
    table
}

fn line<'a>(table: &mut String, cells: impl Iterator<Item = &'a str>) {
    table.push('|');
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(table, " {cell} |");
    }
    table.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_forms_anything() {
        let cases = [
            ("a|b", r"a\|b"),
            (r"a\|b", r"a\\\|b"),
            ("a\nb\r\u{1b}[2J", r"a\\u{a}b\\u{d}\\u{1b}\[2J"),
            ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
            ("&lt;", "&amp;lt;"),
            ("`c` *e* _u_ ~s~", r"\`c\` \*e\* \_u\_ \~s\~"),
            ("![i](u)", r"!\[i\](u)"),
            ("https://evil.example", "https&#58;//evil.example"),
            ("WWW.evil.example", "WWW&#46;evil.example"),
            ("own/data: changed (mode)", "own/data: changed (mode)"),
            ("$x$", r"\$x\$"),
            ("Müller & Söhne, 株式会社", "Müller &amp; Söhne, 株式会社"),
        ];
        for (text, safe) in cases {
            assert_eq!(escaped(text), safe, "{text:?}");
        }
    }

    #[test]
    fn what_is_long_is_cut() {
        assert_eq!(escaped(&"x".repeat(120)).chars().count(), 120);
        let cut = escaped(&"ü".repeat(500));
        assert_eq!(cut.chars().count(), 121);
        assert!(cut.ends_with('…'));
        assert_eq!(escaped_sentence(&"x".repeat(999)).chars().count(), 601);
    }

    #[test]
    fn durations_are_told_as_people_say_them() {
        for (milliseconds, told) in [
            (0, "0ms"),
            (999, "999ms"),
            (1999, "1s"),
            (3_661_000, "1h 1m 1s"),
        ] {
            assert_eq!(duration(milliseconds), told);
        }
    }

    #[test]
    fn a_table_has_its_rows_and_columns() {
        let rows = [vec!["x".to_owned(), "1".to_owned()]];
        assert_eq!(
            table(&["key", "-:count"], &rows),
            "| key | count |\n| --- | ---: |\n| x | 1 |\n"
        );
    }
}
