//! Folds names and words, so that two spellings of a name compare as equal.
//!
//! Case, width and accents are ignored. `ä`, `ae` and `a` are equal, and so are hiragana and
//! katakana, and the traditional, simplified and Japanese forms of a Chinese character. Folding is
//! idempotent. [`text::fold`](super::text::fold) compares texts letter by letter.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use unicode_normalization::char::decompose_canonical;

use super::text::{case_folded, invisible, is_hangul};

/// Pairs: a character, and the character that it folds to.
const HAN: &str = include_str!("fold/han.txt");

static SIMPLIFIED: LazyLock<FxHashMap<char, char>> = LazyLock::new(|| {
    let lines = HAN.lines().filter(|line| !line.starts_with('#'));
    let pairs = lines.flat_map(|line| {
        let characters: Vec<char> = line.chars().collect();
        let pairs = characters.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        pairs.collect::<Vec<_>>()
    });
    pairs.collect()
});

pub fn fold_spelling(text: &str) -> String {
    // Hangul has no cases and no variants.
    if text.chars().all(|c| c.is_ascii() || is_hangul(c)) {
        return without_doubles(&text.to_ascii_lowercase());
    }
    let mut plain = String::with_capacity(text.len());
    for c in case_folded(text).chars() {
        match c {
            '\u{300}'..='\u{36f}' => {}
            '\u{80}'..='\u{1fff}' => decompose_canonical(c, |part| push_letter(&mut plain, part)),
            _ if invisible(c) => {}
            _ => plain.push(one_of_variants(c)),
        }
    }
    without_doubles(&plain)
}

fn push_letter(plain: &mut String, c: char) {
    match c {
        '\u{300}'..='\u{36f}' => {}
        'æ' => plain.push_str("ae"),
        'œ' => plain.push_str("oe"),
        'þ' => plain.push_str("th"),
        'ø' => plain.push('o'),
        'ł' => plain.push('l'),
        'đ' | 'ð' => plain.push('d'),
        'ı' => plain.push('i'),
        _ if invisible(c) => {}
        _ => plain.push(c),
    }
}

fn one_of_variants(c: char) -> char {
    match u32::from(c) {
        // Each katakana has the code of its hiragana plus 96.
        code @ 0x3041..=0x3096 => char::from_u32(code + 96).unwrap_or(c),
        0x3400..=0x9fff => SIMPLIFIED.get(&c).copied().unwrap_or(c),
        _ => c,
    }
}

/// The shortest word in which `ae`, `oe`, `ue` and `aa` count as one letter. Shorter names would
/// become too short to differ.
const MIN_LETTERS: usize = 4;

/// `muller` for `mueller`, and `arhus` for `aarhus`: spellings for keyboards without `ü` and `å`.
fn without_doubles(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.bytes().position(|b| b.is_ascii_alphabetic()) {
        let (before, from) = rest.split_at(start);
        let end = from.bytes().position(|b| !b.is_ascii_alphabetic());
        let (word, after) = from.split_at(end.unwrap_or(from.len()));
        plain.push_str(before);
        if word.len() < MIN_LETTERS || !word.as_bytes().windows(2).any(is_double) {
            plain.push_str(word);
        } else {
            push_single(&mut plain, word);
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

fn is_double(pair: &[u8]) -> bool {
    matches!(pair, [b'a' | b'o' | b'u', b'e'] | [b'a', b'a'])
}

/// Adds a word of ASCII.
fn push_single(plain: &mut String, word: &str) {
    let mut before = b' ';
    for letter in word.bytes() {
        if !is_double(&[before, letter]) {
            plain.push(char::from(letter));
            before = letter;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::rows;

    #[test]
    fn folds_spellings_of_a_name_to_the_same_text() {
        for (one, other) in rows! {
            "MÜLLER" => "Mueller";
            "Müller" => "Muller";
            "Straße" => "STRASSE";
            "Łódź" => "lodz";
            "Ørsted" => "Oersted";
            "Århus" => "Aarhus";
            "Læsø" => "Laeso";
            "Société Générale" => "societe generale";
            "İSTANBUL" => "istanbul";
            "Işık" => "isik";
            "ＡＣＭＥ" => "acme";
            "ｱｸﾒ" => "アクメ";
            "あくめ" => "アクメ";
            "廣澤" => "広沢";
            "廣澤" => "广泽";
            "國際電氣" => "国際電気";
            "Ac\u{200b}me" => "acme";
        } {
            assert_eq!(fold_spelling(one), fold_spelling(other), "{one} {other}");
        }
    }

    #[test]
    fn keeps_different_names_different() {
        for (one, other) in rows! {
            "ガス" => "カス";
            "한빛" => "한빗";
            "Acme" => "Acne";
            "Oe" => "O";
            "東京" => "京東";
        } {
            assert_ne!(fold_spelling(one), fold_spelling(other), "{one} {other}");
        }
        assert_eq!(fold_spelling("한빛-1 © Ａ"), "한빛-1 © a");
    }

    proptest! {
        #[test]
        fn folding_is_idempotent(text in ".{0,40}") {
            let folded = fold_spelling(&text);
            prop_assert_eq!(fold_spelling(&folded), folded.clone());
        }
    }
}
