//! How a name sounds, as far as Hangul, Kana and Latin letters agree on it: its consonants.

/// The consonants of Hangul's initial letters, in the order of Unicode.
const INITIALS: [&str; 19] = [
    "k", "k", "n", "t", "t", "r", "m", "p", "p", "s", "s", "", "s", "s", "s", "k", "t", "p", "h",
];

/// The consonants of Hangul's final letters, in the order of Unicode; none comes first.
const FINALS: [&str; 28] = [
    "", "k", "k", "k", "n", "n", "n", "t", "r", "k", "m", "p", "r", "r", "p", "r", "m", "p", "p",
    "t", "t", "n", "t", "t", "k", "t", "p", "h",
];

/// Katakana by the consonant that they begin with.
const KATAKANA: [(&str, &str); 8] = [
    ("k", "カガキギクグケゲコゴ"),
    ("s", "サザシジスズセゼソゾチヂ"),
    ("ts", "ツヅ"),
    ("t", "タダテデトド"),
    ("n", "ナニヌネノン"),
    ("h", "ハヒヘホ"),
    ("p", "フブプバパビピベペボポヴ"),
    ("m", "マミムメモ"),
];

/// The fewest letters of a skeleton that tell one name from another.
const FEWEST: usize = 3;

/// The same, of two skeletons that agree as a whole.
const FEWEST_WHOLE: usize = 2;

/// Whether one of the names, without spaces and in lower case, may be the other as another
/// script spells it, or its beginning.
pub(super) fn are_alike(one: &str, two: &str) -> bool {
    let is_latin = |text: &str| text.bytes().all(|b| b.is_ascii_alphanumeric());
    let (latin, other) = match (is_latin(one), is_latin(two)) {
        (true, false) => (one, two),
        (false, true) => (two, one),
        _ => return false,
    };
    let (Some(latin), Some(other)) = (skeleton(latin), skeleton(other)) else {
        return false;
    };
    let fewest = |a: &str, b: &str| {
        if a == b { FEWEST_WHOLE } else { FEWEST }
    };
    let begins =
        |long: &str, short: &str| short.len() >= fewest(long, short) && long.starts_with(short);
    begins(&other, &latin) || begins(&latin, &other)
}

/// The consonants, those that sound alike as one, doubled ones once; `a` stands for a vowel at
/// the beginning. None of a text that holds another script's letters.
fn skeleton(text: &str) -> Option<String> {
    let mut skeleton = Skeleton::default();
    let letters: Vec<char> = text.chars().collect();
    for (at, c) in letters.iter().enumerate() {
        match u32::from(*c) {
            code @ 0xac00..=0xd7a3 => {
                let index = usize::try_from(code - 0xac00).ok()?;
                skeleton.push(INITIALS[index / 588]);
                skeleton.push("");
                skeleton.push(FINALS[index % 28]);
            }
            // Hiragana stand 96 before their Katakana.
            code @ 0x3041..=0x3096 => skeleton.push(kana(char::from_u32(code + 96)?)),
            0x30a1..=0x30fc => skeleton.push(kana(*c)),
            _ if c.is_ascii_digit() => {}
            _ if c.is_ascii() => {
                let next = letters.get(at + 1).copied().unwrap_or(' ');
                let before = at.checked_sub(1).map_or(' ', |at| letters[at]);
                skeleton.push(latin(before, *c, next));
            }
            _ => return None,
        }
    }
    Some(skeleton.0)
}

fn kana(c: char) -> &'static str {
    match c {
        'ラ' | 'リ' | 'ル' | 'レ' | 'ロ' => "r",
        _ => KATAKANA
            .iter()
            .find(|(_, letters)| letters.contains(c))
            .map_or("", |(consonant, _)| consonant),
    }
}

/// What the Latin letter between two others sounds like.
fn latin(before: char, c: char, next: char) -> &'static str {
    let is_vowel = |c| matches!(c, 'a' | 'e' | 'i' | 'o' | 'u');
    match c {
        'h' if matches!(before, 'c' | 's' | 'p' | 't' | 'g') => "",
        'g' if before == 'n' && !is_vowel(next) => "",
        't' if next == 'h' => "s",
        'p' if next == 'h' => "p",
        'c' if matches!(next, 'e' | 'i' | 'y' | 'h') => "s",
        'c' | 'g' | 'k' | 'q' => "k",
        'x' => "ks",
        'b' | 'p' | 'v' | 'f' => "p",
        'd' | 't' => "t",
        's' | 'z' | 'j' => "s",
        'm' => "m",
        'n' => "n",
        'h' => "h",
        'l' | 'r' => "r",
        _ => "",
    }
}

#[derive(Default)]
struct Skeleton(String);

impl Skeleton {
    /// Adds a consonant, or a vowel where it is empty. The sound that is spelled `l` or `r`, and
    /// often not at all, counts at the beginning alone.
    fn push(&mut self, consonant: &str) {
        if self.0.is_empty() && consonant.is_empty() {
            self.0.push('a');
        } else if (consonant != "r" || self.0.is_empty()) && !self.0.ends_with(consonant) {
            self.0.push_str(consonant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_two_scripts_sound_alike() {
        for (one, two) in [
            ("한빛식품", "hanbit"),
            ("hanbit", "한빛"),
            ("에이크미", "acme"),
            ("アクメ", "acme"),
            ("삼성전자", "samsung"),
            ("농심", "nongshim"),
            ("현대자동차", "hyundai"),
            ("롯데", "lotte"),
            ("ヤマハ", "yamaha"),
            ("스마트전자", "smart"),
        ] {
            assert!(are_alike(one, two), "{one} {two}");
        }
    }

    #[test]
    fn others_do_not() {
        for (one, two) in [
            ("한빛식품", "gamma"),
            ("에이크미", "gamma"),
            ("한빛식품", "beta"),
            ("기아", "kao"),
            ("日立", "hitachi"),
            ("acme", "acme"),
            ("한빛", "한빛"),
            ("", "acme"),
        ] {
            assert!(!are_alike(one, two), "{one} {two}");
        }
    }
}
