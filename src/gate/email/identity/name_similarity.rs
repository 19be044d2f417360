//! Whether two names may belong to one firm: a shorter name, its initials, or the same name in
//! another script, compared by its consonants.

use unicode_script::{Script, UnicodeScript as _};

use super::company_name::{self, CompanyName, Folded, are_common};
use super::words::{Line, NAME_WORDS, NameWord};
use crate::world::page::is_unspaced;

/// The fewest characters of a word that tells a firm where another is written to it.
const MIN_JOINED: usize = 3;

/// The fewest characters that names without spaces begin with alike.
const MIN_ALIKE: usize = 2;

const MAX_INITIALS: usize = 10;

const MAX_WORDS: usize = 7;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Similarity {
    /// It is the company's name, legal forms aside.
    Same,
    /// It may be another name of the company: a shorter one, its initials, another script.
    Kin,
    /// It tells nobody from another: common words, or more words than a name has.
    Unclear,
    /// It is written in a script in which the company's name is not known.
    OtherScript,
    Different,
}

pub(super) fn similarity(name: &CompanyName, text: &str) -> Similarity {
    let whole = Folded::new(text);
    let said = Folded::of_words(company_name::stripped(whole.words()));
    let is_firm = said.words().len() < whole.words().len() && !said.words().is_empty();
    if name.is_spelled(text) {
        Similarity::Same
    } else if name.is_another_branch(text) || name.spellings().any(|own| deals_with(own, &said)) {
        Similarity::Different
    } else if name
        .spellings()
        .any(|own| are_kin(own, &said) && !are_sisters(own, &said))
    {
        Similarity::Kin
    } else if name.spellings().any(|own| are_kin(own, &said)) {
        Similarity::Different
    } else if said.words().len() > MAX_WORDS || are_common(said.words()) && !is_firm {
        Similarity::Unclear
    } else if is_firm && are_common(said.words())
        || name.spellings().any(|own| script(own) == script(&said))
    {
        Similarity::Different
    } else {
        Similarity::OtherScript
    }
}

/// Whether a text begins with the company's name and goes on as the name of another firm.
pub(super) fn extends(name: &CompanyName, text: &str) -> bool {
    let whole = Folded::new(text);
    let said = Folded::of_words(company_name::stripped(whole.words()));
    name.spellings().any(|own| {
        let more = said
            .words()
            .iter()
            .filter(|word| !own.words().contains(word));
        let more: Vec<String> = more.cloned().collect();
        let is_of_group = |word: &String| NAME_WORDS.is(word, NameWord::Group);
        let is_name = said.words().len() <= MAX_WORDS && said.compact().starts_with(own.compact());
        is_name && !more.iter().all(is_of_group) && !are_common(&more)
    })
}

/// Whether a text may be the company's name, written in another script.
pub(super) fn is_in_another_script(name: &CompanyName, text: &str) -> bool {
    let said = Folded::of_words(company_name::stripped(Folded::new(text).words()));
    similarity(name, text) == Similarity::Kin
        && name.spellings().all(|own| script(own) != script(&said))
}

fn deals_with(own: &Folded, said: &Folded) -> bool {
    let is_dealer = |name: &Folded| {
        let line = Line::new(&name.words().join(" "));
        NAME_WORDS.find(&line, NameWord::Dealer).is_some()
    };
    said.contains(own) && is_dealer(said) && !is_dealer(own)
}

/// Whether two firms share a word and each has another: `Acme Foods`, `Acme Logistics`.
fn are_sisters(own: &Folded, said: &Folded) -> bool {
    let (one, two) = (own.compact(), said.compact());
    if one.contains(two) || two.contains(one) || are_initials(own, said) || are_initials(said, own)
    {
        return false;
    }
    let [first, second] = [rest(own, said), rest(said, own)];
    let is_same_script = || {
        let scripts = [&first, &second].map(|rest| rest.chars().find_map(letters_of));
        scripts[0] == scripts[1]
    };
    !first.is_empty() && !second.is_empty() && is_same_script() && !are_alike(&first, &second)
}

/// What a name has that another lacks, without words that a firm's name may go without.
fn rest(of: &Folded, other: &Folded) -> String {
    let is_idle =
        |word: &str| NAME_WORDS.is(word, NameWord::Group) || matches!(word, "and" | "of" | "the");
    let words = of.words().iter().filter(|word| !is_idle(word));
    let left = words.filter_map(|word| {
        let mut behind = other
            .words()
            .iter()
            .filter_map(|other| behind_shared(word, other));
        match behind.next() {
            Some(rest) => (!rest.is_empty()).then_some(rest),
            None => Some(word.as_str()),
        }
    });
    let rest: String = left.collect();
    let alike = rest.chars().zip(other.compact().chars());
    let alike = alike.take_while(|(a, b)| a == b && is_unspaced(*a)).count();
    let behind: String = rest.chars().skip(alike).collect();
    if is_idle(&behind) {
        String::new()
    } else {
        behind
    }
}

/// What a word goes on with behind what it shares with another: nothing, where one of them only
/// shortens the other, and another script's letters (`생활건강` of `lg생활건강` and `lg`).
fn behind_shared<'w>(word: &'w str, other: &str) -> Option<&'w str> {
    let starts_other = |rest: &str| rest.chars().next().is_some_and(is_unspaced);
    if let Some(rest) = word.strip_prefix(other)
        && (rest.is_empty() || starts_other(rest) && !other.chars().any(is_unspaced))
    {
        return Some(rest);
    }
    let is_shorter = word.chars().count().min(other.chars().count()) >= MIN_JOINED
        && (word.starts_with(other) || other.starts_with(word));
    let is_joined = other.strip_prefix(word).is_some_and(starts_other);
    (is_shorter || is_joined).then_some("")
}

fn letters_of(c: char) -> Option<Script> {
    c.is_alphabetic().then(|| match c.script() {
        Script::Hiragana | Script::Katakana => Script::Han,
        script => script,
    })
}

fn are_kin(own: &Folded, said: &Folded) -> bool {
    own.compact() == said.compact() && !own.compact().is_empty()
        || shares_word(own, said)
        || shares_word(said, own)
        || begin_alike(own.compact(), said.compact())
        || are_initials(own, said)
        || are_initials(said, own)
        || sound_alike(own, said)
        || sound_alike(said, own)
}

/// Whether `two` has a word of `one` that tells firms apart, by itself or written to others.
fn shares_word(one: &Folded, two: &Folded) -> bool {
    one.words().iter().any(|word| {
        let length = word.chars().count();
        let tells = length > 1
            && !are_common(std::slice::from_ref(word))
            && !word.bytes().all(|b| b.is_ascii_digit());
        let joined = |other: &String| {
            length >= MIN_JOINED && (other.starts_with(word) || other.ends_with(word))
        };
        tells
            && (two.contains(&Folded::of_words(vec![word.clone()]))
                || two.words().iter().any(joined))
    })
}

fn begin_alike(one: &str, two: &str) -> bool {
    let both = one.chars().zip(two.chars());
    let alike: String = both
        .take_while(|(a, b)| a == b && is_unspaced(*a))
        .map(|(a, _)| a)
        .collect();
    let begins_commonly = alike
        .char_indices()
        .skip(1)
        .any(|(at, c)| are_common(&[alike[..at + c.len_utf8()].to_owned()]));
    let fewest = MIN_ALIKE * if begins_commonly { 2 } else { 1 };
    alike.chars().count() >= fewest
}

/// Whether one word is the beginnings of the other name's words, in order: `KEPCO` of Korea
/// Electric Power Corporation.
fn are_initials(short: &Folded, long: &Folded) -> bool {
    let [word] = short.words() else {
        return false;
    };
    let words = long.words().iter().map(String::as_str);
    let words = words.filter(|word| !matches!(*word, "and" | "of" | "the" | "for"));
    let words: Vec<&str> = words.take(MAX_WORDS).collect();
    let is_short = word.is_ascii() && (2..=MAX_INITIALS).contains(&word.len());
    let whole = [Some(word.as_str()), word.strip_suffix("co")];
    let mut whole = whole.into_iter().flatten();
    is_short && words.len() > 1 && whole.any(|word| is_spelled_by(word, &words))
}

fn is_spelled_by(short: &str, words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return short.is_empty();
    };
    let most = short.len().min(first.len());
    (1..=most).any(|length| {
        let (head, tail) = short.split_at(length);
        first.as_bytes().starts_with(head.as_bytes()) && is_spelled_by(tail, rest)
    })
}

/// Whether the whole of `one` sounds like the first word of `two`, or like all of it.
fn sound_alike(one: &Folded, two: &Folded) -> bool {
    let first = two.words().first().map_or("", String::as_str);
    let core = core(one.compact());
    are_alike(core, first) && !are_common(&[first.to_owned()])
        || are_alike(core, two.compact())
        || are_alike(one.compact(), two.compact())
}

/// A name without spaces less a common word at its beginning or end: `한빛` of `한빛식품`.
fn core(name: &str) -> &str {
    let is_cut = |word: &str| word.chars().nth(1).is_some() && are_common(&[word.to_owned()]);
    let is_enough = |rest: &str| rest.chars().nth(1).is_some() && rest.chars().all(is_unspaced);
    let mut edges = name.char_indices().map(|(at, _)| name.split_at(at));
    let found = edges.find_map(|(head, tail)| {
        if is_cut(tail) && is_enough(head) {
            Some(head)
        } else {
            (is_cut(head) && is_enough(tail)).then_some(tail)
        }
    });
    found.unwrap_or(name)
}

/// The script of a name, by its first letter; those that Japanese mixes are one.
fn script(name: &Folded) -> Script {
    let mut letters = name.compact().chars().filter(|c| c.is_alphabetic());
    match letters.next().map_or(Script::Latin, |c| c.script()) {
        Script::Hiragana | Script::Katakana | Script::Bopomofo => Script::Han,
        script => script,
    }
}

const INITIALS: [&str; 19] = [
    "k", "k", "n", "t", "t", "r", "m", "p", "p", "s", "s", "", "s", "s", "s", "k", "t", "p", "h",
];

const FINALS: [&str; 28] = [
    "", "k", "k", "k", "n", "n", "n", "t", "r", "k", "m", "p", "r", "r", "p", "r", "m", "p", "p",
    "t", "t", "n", "t", "t", "k", "t", "p", "h",
];

const KATAKANA: [(&str, &str); 9] = [
    ("k", "カガキギクグケゲコゴ"),
    ("s", "サザシジスズセゼソゾチヂ"),
    ("ts", "ツヅ"),
    ("t", "タダテデトド"),
    ("n", "ナニヌネノン"),
    ("h", "ハヒヘホ"),
    ("p", "フブプバパビピベペボポヴ"),
    ("m", "マミムメモ"),
    ("r", "ラリルレロ"),
];

/// The fewest letters of a skeleton that tell one name from another.
const MIN_CHARS: usize = 3;

/// The same, of two skeletons that agree as a whole.
const MIN_WHOLE: usize = 2;

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
        if a == b { MIN_WHOLE } else { MIN_CHARS }
    };
    let begins =
        |long: &str, short: &str| short.len() >= fewest(long, short) && long.starts_with(short);
    begins(&other, &latin) || begins(&latin, &other)
}

/// The consonants, those that sound alike as one, doubled ones once; `a` represents a vowel at
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
    let mut rows = KATAKANA.iter();
    let row = rows.find(|(_, letters)| letters.contains(c));
    row.map_or("", |(consonant, _)| consonant)
}

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
    use super::Similarity::{Different, Kin, OtherScript, Same, Unclear};
    use super::*;

    fn is(expected: Similarity, cases: &[(&str, &str)]) {
        for (name, text) in cases {
            let found = similarity(&CompanyName::parse(name), text);
            assert_eq!(found, expected, "{name}: {text}");
        }
    }

    #[test]
    fn other_names_of_one_firm() {
        is(
            Same,
            &[
                ("Acme Foods Inc.", "ACME Foods GmbH"),
                ("Müller", "Mueller AG"),
                ("Acme Foods", "acmefoods"),
            ],
        );
        is(
            Kin,
            &[
                ("Acme Foods Inc.", "Acme"),
                ("Acme Foods", "The Acme Group"),
                ("(주)LG생활건강", "LG H&H"),
                ("SK하이닉스", "SK hynix"),
                ("Acme", "AcmeFoods.com"),
                ("Acme Foods", "AF"),
                ("Hanbit Electric Power Corporation", "HEPCO"),
                ("IBM", "Ideal Business Machines Corp."),
                ("한빛식품", "한빛"),
                ("한빛식품", "한빛그룹"),
                ("(주)한빛식품", "Hanbit Foods Co., Ltd."),
                ("Hanbit Foods", "한빛식품(주)"),
                ("株式会社アクメ", "ACME Inc."),
                ("日立製作所", "日立"),
                ("Global Trading Acme", "Acme"),
                ("감마마트", "gamma"),
                ("한국아크메", "Acme"),
                ("Acme Distributors", "Acme Foods Distributors"),
                ("Acme Technology", "Acme Tech Korea Technologies"),
            ],
        );
    }

    #[test]
    fn other_firms() {
        is(
            Different,
            &[
                ("Acme Foods", "Gamma Market"),
                ("Acme Foods", "Beta Foods"),
                ("Acme Foods", "Gammacmeland Ltd."),
                ("한국전자", "한국식품안전"),
                ("서울우유", "서울감마"),
                ("한빛식품 (Hanbit)", "Gamma"),
                ("Acme", "Global Trading Co., Ltd."),
                ("Acme", "Gamma, distributor of Acme"),
                ("한빛식품", "한빛식품 대리점 감마"),
                ("Acme Foods", "Acme Logistics GmbH"),
                ("Acme", "Acme Reparatur Berlin"),
                ("한빛식품", "한빛물류"),
            ],
        );
    }

    #[test]
    fn what_cannot_be_told() {
        is(
            Unclear,
            &[("Acme", "Global Trading"), ("Acme", ""), ("Acme", "Inc.")],
        );
        is(
            OtherScript,
            &[("한빛식품", "Gamma Market"), ("日立製作所", "Hitachi")],
        );
    }

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
