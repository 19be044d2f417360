//! Text for people: escaped, cut to a length, compared as a reader sees it, counted.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use icu_casemap::CaseMapper;
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

/// U+2800, Braille without dots: Unicode calls it a symbol, readers see a space.
const BLANK_BRAILLE: char = '\u{2800}';

/// Shows text from outside on one line, with every [unsafe](is_unsafe) character as `\u{…}`.
///
/// Names, pages and submissions may contain control characters that move a terminal's cursor,
/// marks that change the direction of writing, and tag characters (U+E0000), which programs read
/// but people do not see. The joiners of Persian and the variation selectors of rare ideographs
/// are escaped too.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'a>(pub &'a str);

#[derive(Debug, Clone, Copy)]
pub struct EscapedLines<'a>(pub &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_escaped(f, self.0, |_| false)
    }
}

impl fmt::Display for EscapedLines<'_> {
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

/// Escapes the [unsafe](is_unsafe) characters of a JSON document. Its value stays the same.
pub fn escape_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            // serde_json already escapes characters below U+0020. All others are inside strings,
            // where a `\u` escape is allowed.
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Whether a character controls a terminal, separates lines, or is invisible.
pub fn is_unsafe(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}') || invisible(c)
}

/// Whether a character is not displayed (`Default_Ignorable_Code_Point` of UAX #44).
pub fn invisible(c: char) -> bool {
    !c.is_ascii() && CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}

pub fn is_space(c: char) -> bool {
    c.is_whitespace() || c == BLANK_BRAILLE
}

pub fn is_blank(text: &str) -> bool {
    visible_len(text) == 0
}

/// Counts the characters that a reader sees. A run of white space between them counts as one, and so
/// does a letter with its combining marks.
pub fn visible_len(text: &str) -> usize {
    let (mut length, mut gap) = (0, false);
    for c in text.nfc() {
        if is_space(c) {
            gap = length > 0;
        } else if !(c.is_control() || is_combining_mark(c) || invisible(c)) {
            length += 1 + usize::from(gap);
            gap = false;
        }
    }
    length
}

/// Removes invisible characters, replaces each run of white space with one space, and trims.
pub fn normalise(text: &str) -> String {
    let (mut normal, mut gap) = (String::new(), false);
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !normal.is_empty();
        } else if !invisible(c) {
            if gap {
                normal.push(' ');
                gap = false;
            }
            normal.push(c);
        }
    }
    normal
}

/// The text as a reader sees it: [normalised](normalise), in compatibility forms (NFKC).
pub fn visible(text: &str) -> String {
    let normal = normalise(&compatible(text));
    // Removing an invisible character may let its neighbours compose.
    compatible(&normal).into_owned()
}

pub fn fold(text: &str) -> String {
    case_folded(&visible(text))
}

/// The text in NFKC with case folded.
pub fn case_folded(text: &str) -> String {
    if text.chars().all(is_plain) {
        return text.to_ascii_lowercase();
    }
    let normal = compatible(text);
    let cased = CaseMapper::new().fold_string(&normal);
    compatible(&cased).into_owned()
}

/// The text in NFKC, in which most texts are written.
fn compatible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_plain) || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfkc().collect())
    }
}

/// Whether a character is one that NFKC always keeps and that has no case outside of ASCII, in the
/// ranges that make up most long texts.
fn is_plain(c: char) -> bool {
    c.is_ascii() || is_hangul(c) || matches!(c, '\u{4e00}'..='\u{9fff}')
}

pub fn is_hangul(c: char) -> bool {
    matches!(c, '가'..='힣')
}

/// The same as [`str::to_lowercase`], faster for most long texts.
pub fn lower(text: &str) -> String {
    if text.chars().all(is_plain) {
        text.to_ascii_lowercase()
    } else {
        text.to_lowercase()
    }
}

/// The text in NFKC, each run of white space one space. Case and invisible characters stay.
pub fn single_spaced(text: &str) -> Cow<'_, str> {
    // Most keys and headings are normal already, and a list may have a million of them.
    match compatible(text) {
        Cow::Borrowed(text) if is_single_spaced(text) => Cow::Borrowed(text),
        normal => Cow::Owned(normal.split_whitespace().collect::<Vec<_>>().join(" ")),
    }
}

fn is_single_spaced(text: &str) -> bool {
    let other_space = |c: char| c != ' ' && c.is_whitespace();
    let padded = text.starts_with(' ') || text.ends_with(' ');
    !padded && !text.contains("  ") && !text.contains(other_space)
}

pub fn truncate(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

/// Like [`truncate`], but appends the length of the whole text: `abc… (300 bytes)`.
pub fn truncate_with_size(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()).into(),
        None => text.into(),
    }
}

pub fn truncate_start(text: &str, most: usize) -> Cow<'_, str> {
    let first = most
        .checked_sub(1)
        .and_then(|before| text.char_indices().nth_back(before));
    match first {
        Some((at, _)) if at > 0 => format!("…{}", &text[at..]).into(),
        _ => text.into(),
    }
}

/// The count as `u32`, which no real count exceeds.
pub fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The first names, and how many more there are; `None` without any.
pub fn named(names: &[impl AsRef<str>], most: usize) -> Option<String> {
    let first: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = match names.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!first.is_empty()).then(|| format!("{}{more}", first.join(", ")))
}

pub fn plural(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;

    #[test]
    fn escapes_only_invisible_characters() {
        let steering = "a\u{1b}[2Jb\u{9b}31m\u{202e}c\r\nd";
        for (text, escaped) in rows! {
            steering => r"a\u{1b}[2Jb\u{9b}31m\u{202e}c\u{d}\u{a}d";
            "Acme\u{e0001}\u{e0072} Fo\u{200b}ods\u{feff}\u{ad}\u{fff9}"
                => r"Acme\u{e0001}\u{e0072} Fo\u{200b}ods\u{feff}\u{ad}\u{fff9}";
            "한빛 Ünï «Müller» 株式会社 \u{a0}· שלום 😀" => "한빛 Ünï «Müller» 株式会社 \u{a0}· שלום 😀";
        } {
            assert_eq!(Escaped(text).to_string(), escaped);
        }
        assert!(EscapedLines(steering).to_string().contains("\\u{d}\nd"));
    }

    #[test]
    fn escaped_json_has_the_same_value() {
        let evil = "a\u{9b}b\u{7f}\u{202e}\u{2028}\n\u{1b}\u{e0041}\u{200b}";
        let safe = escape_json(&serde_json::to_string(evil).unwrap());
        assert!(!safe.contains(is_unsafe), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), evil);
    }

    #[test]
    fn counts_visible_characters() {
        for (text, length) in [
            ("", 0),
            (" \n", 0),
            ("\u{200b}", 0),
            ("\u{3164}", 0),
            ("\u{2800}", 0),
            ("\u{ad}", 0),
            ("\u{301}\u{302}", 0),
            ("\u{1}", 0),
            ("0", 1),
            ("한", 1),
            ("é", 1),
            ("-", 1),
            ("न", 1),
            ("한빛", 2),
            ("a\u{200b}\u{200b}b", 2),
            ("a\u{301}\u{302}\u{303}", 1),
            ("  a \u{2800} b\n", 3),
        ] {
            assert_eq!(visible_len(text), length, "{text:?}");
            assert_eq!(is_blank(text), length == 0, "{text:?}");
        }
    }

    #[test]
    fn normalises_to_what_a_reader_sees() {
        let hidden =
            "\u{feff} in\u{200b}f\u{ad}o\u{200c}@\u{2060}ac\u{fe0f}me\u{202e}\u{a0}\n\t x ";
        assert_eq!(normalise(hidden), "info@acme x");
        assert_eq!(normalise("\u{3164}"), "", "Hangul filler");
        assert_eq!(normalise("é·–（주）"), "é·–（주）");
        assert_eq!(visible(" ＡＢ\u{200b}C\n\t d "), "ABC d");
        assert_eq!(visible("e\u{200b}\u{301}"), visible("é"));
        assert_ne!(visible("Acme"), visible("acme"));
        assert_eq!(fold("STRASSE"), fold("straße"));
        assert_eq!(single_spaced(" Ａ\t b"), "A b");
        assert!(matches!(single_spaced("a b"), Cow::Borrowed("a b")));
    }

    #[test]
    fn lower_case_is_that_of_the_library() {
        for text in ["ACME 한빛 廣 1", "ÄMTER Σ", "ΣΑΣ", "İ", ""] {
            assert_eq!(lower(text), text.to_lowercase());
        }
        assert_eq!(case_folded("ACME 한빛 廣"), "acme 한빛 廣");
    }

    #[test]
    fn truncates_at_character_boundaries() {
        assert_eq!(truncate("가나", 2), "가나");
        assert_eq!(truncate("가나다", 2), "가나…");
        assert_eq!(truncate_with_size("가나", 2), "가나");
        assert_eq!(truncate_with_size("가나다", 2), "가나… (9 bytes)");
        assert_eq!(truncate_start("가나", 2), "가나");
        assert_eq!(truncate_start("가나다", 2), "…나다");
        assert_eq!(truncate_start("가", 0), "가");
    }

    #[test]
    fn one_takes_the_singular() {
        assert_eq!(plural(0_u32, "row"), "0 rows");
        assert_eq!(plural(1_u32, "row"), "1 row");
        assert_eq!(plural(2_u32, "row"), "2 rows");
    }
}
