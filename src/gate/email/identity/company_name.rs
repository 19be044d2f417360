//! A company's name as it is looked for: folded, in each of its spellings, and without its legal
//! form. Legal forms and common words come from lists.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::words::{Kinded, Side};
use crate::base::fold::fold_spelling;
use crate::base::words::rows;
use crate::gate::email::lists::{COMMON_WORDS, LEGAL_FORMS};
use crate::world::page::is_unspaced;

/// The fewest characters that tell a company from another.
const MIN_CHARS: usize = 3;

/// The same, of a name with characters of a script without spaces.
const MIN_UNSPACED: usize = 2;

const MAX_CHARS: usize = 200;

/// A company's name in every spelling that tells it from another; there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyName {
    spellings: Vec<Spelling>,
    /// What stands in brackets in the script of the name, such as the town of a branch.
    branches: Vec<Folded>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Spelling {
    name: Folded,
    may_be_place: bool,
}

impl CompanyName {
    /// The name that `text` spells.
    ///
    /// What stands in brackets is a spelling of its own where it is written in another kind of
    /// script than the rest: `한빛식품 (Hanbit Foods)`, but not `한빛식품 (서울 본사)`.
    pub fn parse(text: &str) -> Self {
        let normal: String = text.nfkc().collect();
        let (outside, inside) = split_brackets(&normal);
        let rest = Folded::new(&outside);
        let inside = inside.iter().map(|part| Folded::new(part));
        let (others, mut branches): (Vec<Folded>, Vec<Folded>) =
            inside.partition(|part| is_written_unspaced(part) != is_written_unspaced(&rest));
        branches.retain(|part| !stripped(part.words()).is_empty());
        let mut spellings: Vec<Spelling> = Vec::new();
        let own = [rest.clone(), Folded::new(&normal)].map(|name| (name, false));
        let others = others.into_iter().map(|name| (name, true));
        for (spelling, in_brackets) in own.into_iter().chain(others) {
            let name = Folded::of_words(stripped(spelling.words()));
            if tells_apart(&name) && !spellings.iter().any(|known| known.name == name) {
                let may_be_place = in_brackets && name.words().len() == 1;
                spellings.push(Spelling { name, may_be_place });
            }
        }
        Self {
            spellings,
            branches,
        }
    }

    /// Whether no spelling tells the company from another: too short, too long, nothing but a
    /// legal form, or nothing but common words.
    pub fn is_weak(&self) -> bool {
        self.spellings.is_empty()
    }

    pub(super) fn spellings(&self) -> impl Iterator<Item = &Folded> {
        self.spellings.iter().map(|spelling| &spelling.name)
    }

    pub fn is_in(&self, text: &Folded) -> bool {
        self.spellings
            .iter()
            .any(|spelling| text.contains(&spelling.name))
    }

    /// The name without a single word in brackets: that of `한빛식품 (Gimpo)` is the city, and
    /// not the company.
    pub fn without_places(&self) -> Self {
        let mut spellings = self.spellings.clone();
        spellings.retain(|known| !known.may_be_place);
        Self {
            spellings,
            branches: self.branches.clone(),
        }
    }

    /// Whether both names have something in brackets, and not the same: `Acme (Leeds) Ltd` is not
    /// `Acme (York) Ltd`.
    pub(super) fn is_another_branch(&self, text: &str) -> bool {
        let Self { branches, .. } = Self::parse(text);
        let mut own = self.branches.iter();
        !branches.is_empty() && !self.branches.is_empty() && !own.any(|own| branches.contains(own))
    }

    /// Whether `text` is the name in some spelling, with or without a legal form, and nothing
    /// else.
    pub fn is_spelled(&self, text: &str) -> bool {
        let Self { spellings, .. } = Self::parse(text);
        let is_spelled = spellings.iter().any(|found| {
            let mut own = self.spellings.iter();
            own.any(|own| {
                own.name.compact() == found.name.compact() && found.name.contains(&own.name)
            })
        });
        is_spelled && !self.is_another_branch(text)
    }
}

fn tells_apart(name: &Folded) -> bool {
    let fewest = if is_written_unspaced(name) {
        MIN_UNSPACED
    } else {
        MIN_CHARS
    };
    let characters = name.compact().chars().count();
    (fewest..=MAX_CHARS).contains(&characters) && !are_common(name.words())
}

fn is_written_unspaced(name: &Folded) -> bool {
    name.compact().chars().any(is_unspaced)
}

/// What is outside of brackets, and what is in each of them.
fn split_brackets(text: &str) -> (String, Vec<String>) {
    let (mut outside, mut inside) = (String::new(), Vec::new());
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '[' | '【' | '〔' => {
                depth += 1;
                if depth == 1 {
                    inside.push(String::new());
                    outside.push(' ');
                }
            }
            ')' | ']' | '】' | '〕' => depth = depth.saturating_sub(1),
            _ if depth == 0 => outside.push(c),
            _ => inside.last_mut().into_iter().for_each(|part| part.push(c)),
        }
    }
    (outside, inside)
}

static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lines = COMMON_WORDS.lines().filter(|line| !line.starts_with('#'));
    lines
        .flat_map(|line| Folded::new(line).words().to_vec())
        .collect()
});

/// Whether every word is common; true of no words at all.
pub fn are_common(words: &[String]) -> bool {
    words.iter().all(|word| WORDS.contains(word))
}

static FORMS: LazyLock<Forms> = LazyLock::new(Forms::read);

#[derive(Debug, Default)]
struct Forms {
    leading: Vec<Vec<String>>,
    trailing: Vec<Vec<String>>,
    /// Words that may be written to a name without a space, on either side.
    joined: Vec<(String, Side)>,
}

impl Forms {
    fn read() -> Self {
        let mut forms = Self::default();
        for row in rows::<Kinded<Side>>(LEGAL_FORMS) {
            let Kinded { text, kind } = row.word;
            for spelling in [text.clone(), text.replace('.', "")] {
                forms.add(&Folded::new(&spelling), kind);
            }
        }
        let longest_first =
            |a: &Vec<String>, b: &Vec<String>| b.concat().len().cmp(&a.concat().len());
        forms.leading.sort_by(longest_first);
        forms.trailing.sort_by(longest_first);
        forms
            .joined
            .sort_by_key(|(form, _)| std::cmp::Reverse(form.len()));
        forms
    }

    fn add(&mut self, form: &Folded, side: Side) {
        let words = form.words().to_vec();
        if words.is_empty() {
            return;
        }
        let unspaced = form.compact().chars().all(is_unspaced);
        // A single character, such as the 주 of (주), begins many a name.
        if unspaced && form.compact().chars().count() > 1 {
            self.joined.push((form.compact().to_owned(), side));
        }
        if matches!(side, Side::Before | Side::Either) {
            self.leading.push(words.clone());
        }
        if matches!(side, Side::After | Side::Either) {
            self.trailing.push(words);
        }
    }
}

/// The words without the legal forms at their ends; empty when there is nothing else.
pub fn stripped(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    while strip_one(&mut words) {}
    words
}

fn strip_one(words: &mut Vec<String>) -> bool {
    let forms = &*FORMS;
    if let Some(form) = forms.trailing.iter().find(|form| words.ends_with(form)) {
        words.truncate(words.len() - form.len());
        return true;
    }
    if let Some(form) = forms.leading.iter().find(|form| words.starts_with(form)) {
        words.drain(..form.len());
        return true;
    }
    // What "Smith & Co." leaves.
    if words.last().is_some_and(|word| word == "and") {
        words.pop();
        return true;
    }
    strip_joined(words)
}

fn strip_joined(words: &mut [String]) -> bool {
    let joined = |but: Side| FORMS.joined.iter().filter(move |(_, side)| *side != but);
    if let Some(word) = words.last_mut()
        && let Some(shorter) =
            joined(Side::Before).find_map(|(form, _)| word.strip_suffix(form.as_str()))
    {
        *word = shorter.to_owned();
        return true;
    }
    // `公司成立于1998年` begins with the word for a company, not with a name.
    if let Some(word) = words.first_mut()
        && let Some(shorter) =
            joined(Side::After).find_map(|(form, _)| word.strip_prefix(form.as_str()))
    {
        *word = shorter.to_owned();
        return true;
    }
    false
}

/// A name this long, in characters, of a script without spaces is found inside a word too.
const LONG_ENOUGH: usize = 4;

/// A text as its words, and the same without what parts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    words: Vec<String>,
    compact: String,
    /// Where in `compact` a word begins, or a script without spaces meets one with, ascending;
    /// the text's length at the end.
    edges: Vec<usize>,
}

fn is_han(c: char) -> bool {
    use unicode_script::{Script, UnicodeScript as _};
    c.script() == Script::Han
}

impl Folded {
    /// Folds `text` as [`fold_spelling`] does, and parts it into words: apostrophes are dropped, `&`
    /// is read as "and", and whatever is neither letter, digit nor mark parts words.
    pub fn new(text: &str) -> Self {
        let folded = fold_spelling(text);
        let mut parted = String::with_capacity(folded.len());
        for c in folded.chars() {
            match c {
                '\'' | '’' | 'ʼ' | '`' => {}
                '&' => parted.push_str(" and "),
                _ if c.is_alphanumeric() || is_combining_mark(c) => parted.push(c),
                _ => parted.push(' '),
            }
        }
        Self::of_words(parted.split_whitespace().map(str::to_owned).collect())
    }

    pub fn of_words(words: Vec<String>) -> Self {
        let mut edges = Vec::with_capacity(words.len() + 1);
        let mut compact = String::new();
        for word in &words {
            let mut before = None;
            for c in word.chars() {
                let unspaced = Some(is_unspaced(c));
                if before != unspaced {
                    edges.push(compact.len());
                }
                before = unspaced;
                compact.push(c);
            }
        }
        edges.push(compact.len());
        Self {
            words,
            compact,
            edges,
        }
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }

    pub fn compact(&self) -> &str {
        &self.compact
    }

    /// Whether it is written in Chinese characters alone.
    pub fn is_han(&self) -> bool {
        self.compact.chars().all(is_han)
    }

    /// Whether it has Chinese characters.
    pub fn has_han(&self) -> bool {
        self.compact.chars().any(is_han)
    }

    /// Whether the text contains `name`.
    ///
    /// The text may join the words of the name, and part them anywhere in a script without
    /// spaces; of other words it must not part one (`The One` is no `Theone`). The match must begin
    /// and end at the edge of a word, where a script without spaces meets one with, or next to a
    /// legal form (`주식회사한빛`). A name of four characters or more in scripts without spaces may
    /// be anywhere in a word, since particles and titles lean on it.
    pub fn contains(&self, name: &Self) -> bool {
        let needle = name.compact.as_str();
        match needle.chars().next() {
            None => false,
            Some(first) if is_unspaced(first) => self
                .compact
                .match_indices(needle)
                .any(|(at, _)| self.begins_at(at, needle) && self.stands_at(at, name)),
            Some(_) => {
                let mut edges = self.edges.iter();
                edges.any(|at| self.compact[*at..].starts_with(needle) && self.stands_at(*at, name))
            }
        }
    }

    fn stands_at(&self, at: usize, name: &Self) -> bool {
        self.ends_at(at + name.compact.len(), &name.compact) && self.parts_no_word(at, name)
    }

    fn begins_at(&self, at: usize, needle: &str) -> bool {
        let before = &self.compact[..at];
        let leans = needle.chars().next().is_some_and(is_unspaced);
        let mut forms = FORMS.joined.iter();
        let mut joined = || forms.any(|(form, _)| before.ends_with(form.as_str()));
        self.is_edge(at) || leans && (is_long_enough(needle) || joined())
    }

    fn ends_at(&self, at: usize, needle: &str) -> bool {
        let after = &self.compact[at..];
        let leans = needle.chars().next_back().is_some_and(is_unspaced);
        let mut forms = FORMS.joined.iter();
        let mut joined = || forms.any(|(form, _)| after.starts_with(form.as_str()));
        self.is_edge(at) || leans && (is_long_enough(needle) || joined())
    }

    /// Whether every edge inside the match at `start` is one of `name` as well, or lies between
    /// characters of scripts without spaces.
    fn parts_no_word(&self, start: usize, name: &Self) -> bool {
        let end = start + name.compact.len();
        let first = self.edges.partition_point(|edge| *edge <= start);
        let inside = self.edges[first..].iter().take_while(|edge| **edge < end);
        inside.map(|edge| edge - start).all(|edge| {
            let leans = |c: Option<char>| c.is_some_and(is_unspaced);
            name.is_edge(edge)
                || leans(name.compact[..edge].chars().next_back())
                    && leans(name.compact[edge..].chars().next())
        })
    }

    fn is_edge(&self, at: usize) -> bool {
        self.edges.binary_search(&at).is_ok()
    }
}

fn is_long_enough(needle: &str) -> bool {
    needle.chars().filter(|c| is_unspaced(*c)).count() >= LONG_ENOUGH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::base::words::check;

    fn finds(name: &str, text: &str) -> bool {
        CompanyName::parse(name).is_in(&Folded::new(text))
    }

    fn is_weak(name: &str) -> bool {
        CompanyName::parse(name).is_weak()
    }

    #[test]
    fn legal_forms_and_brackets_do_not_count_or_count_apart() {
        let hanbit = "한빛식품 (Hanbit Foods)";
        for (name, text, expected) in rows! {
            "Acme Foods Inc.", "© ACME FOODS Co., Ltd." => true;
            "㈜한빛 식품", "주식회사한빛식품 대표이사" => true;
            "Acme Foods Inc.", "Acme Inc." => false;
            hanbit, "Hanbit Foods" => true;
            hanbit, "한빛식품(주)" => true;
            "Hanbit Foods [한빛식품]", "한빛식품" => true;
            "한빛식품 (서울본사)", "서울본사 안내" => false;
            "한빛식품 (Seoul)", "Seoul" => false;
            "(Hanbit Foods)", "hanbit foods" => true;
            "(주) 한빛식품 (Hanbit)", "주식회사 한빛식품" => true;
            "한빛식품 (Hanbit)", "© Hanbit" => true;
            "Acme (Foods", "Acme" => true;
            "Acme) Foods", "Acme Foods" => true;
        } {
            assert_eq!(finds(name, text), expected, "{name}: {text}");
        }
    }

    #[test]
    fn a_word_in_brackets_may_be_a_place() {
        for (name, text, expected) in rows! {
            "한빛식품 (Gimpo)", "1 Main St, Gimpo-si" => false;
            "Hanbit Foods (안산)", "안산 공장" => false;
            "한빛식품 (Gimpo)", "한빛식품, Gimpo" => true;
            "한빛식품 (Hanbit Foods)", "Hanbit Foods, Gimpo" => true;
            "(Hanbit)", "Hanbit, Gimpo" => true;
        } {
            let name = CompanyName::parse(name).without_places();
            assert_eq!(name.is_in(&Folded::new(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_branch_in_another_town_is_another_firm() {
        for (name, text, expected) in rows! {
            "Acme Motors (Leeds) Ltd", "Acme Motors (York) Ltd" => false;
            "Acme Motors (Leeds) Ltd", "Acme Motors (Leeds) Limited" => true;
            "Acme Motors (Leeds) Ltd", "Acme Motors Ltd" => true;
            "Acme Motors Ltd", "Acme Motors (York) Ltd" => true;
            "(주)아크메(부산)", "아크메(인천)" => false;
            "(주)아크메(부산)", "(주)아크메" => true;
            "佰川（上海）贸易有限公司", "佰川（北京）贸易有限公司" => false;
            // The name in another script.
            "아크메 (Acme)", "아크메 (Foods)" => true;
        } {
            let name = CompanyName::parse(name);
            assert_eq!(name.is_spelled(text), expected, "{text}");
        }
    }

    #[test]
    fn short_and_common_names_are_weak_and_their_neighbours_are_not() {
        let weak = " | 3M | LG (주) | Ab Inc. | 빛 | (주)빛 | Co., Ltd. | 주식회사 | ㈜ | Group |
            Global Trading Co., Ltd. | Korea | 그룹 | (주)코리아 | 시스템 (System) | !!!";
        for name in weak.split('|') {
            assert!(is_weak(name), "{name}");
        }
        assert!(is_weak(&"a".repeat(100_000)) && is_weak(&"(".repeat(100_000)));
        let own = "IBM | 농심 | LG전자 | Acme Group | 한빛그룹 | 3M Korea 한국쓰리엠";
        for name in own.split('|') {
            assert!(!is_weak(name), "{name}");
        }
    }

    #[test]
    fn one_word_that_is_not_common_suffices() {
        for (name, expected) in rows! {
            "GLOBAL Trading" => true;
            "코리아" => true;
            "Global Acme Trading" => false;
            "Globalis" => false;
        } {
            assert_eq!(are_common(Folded::new(name).words()), expected, "{name}");
        }
    }

    #[test]
    fn the_list_names_its_source() {
        assert!(COMMON_WORDS.starts_with("# ") && COMMON_WORDS.contains("Source:"));
    }

    #[test]
    fn legal_forms_go_where_they_stand_and_nowhere_else() {
        check(LEGAL_FORMS, |_: &Kinded<Side>, text| {
            matches!(left(text).as_str(), "acme" | "아크메")
        });
    }

    fn left(name: &str) -> String {
        stripped(Folded::new(name).words()).join(" ")
    }

    #[test]
    fn forms_of_many_laws_go() {
        let names = "
            Acme | Acme Inc. | ACME, Incorporated | Acme Co., Ltd. | Acme Co.,Ltd |
            Acme LLC | Acme L.L.C. | Acme GmbH | Acme GmbH & Co. KG | Acme AG |
            Acme S.A. | Acme SA | Acme S.p.A. | Acme B.V. | Acme Pty Ltd |
            Acme Pty. Ltd. | Acme A/S | Acme Oy | Acme AB | Acme & Co. |
            Acme Sp. z o.o. | ООО Acme | PT Acme Tbk | ㈜Acme | (주)Acme |
            Acme(주) | 주식회사 Acme | Acme 株式会社 | ㈱Acme | ㍿Acme |
            Acme股份有限公司 | Acme有限公司 | 유한회사 Acme | The Acme Company";
        for name in names.split('|') {
            assert_eq!(left(name), "acme", "{name}");
        }
    }

    #[test]
    fn forms_without_spaces_go_and_what_only_looks_like_one_stays() {
        for (name, expected) in rows! {
            "주식회사한빛식품" => "한빛식품";
            "한빛식품주식회사" => "한빛식품";
            "株式会社日立製作所" => "日立製作所";
            "재단법인 한빛" => "한빛";
            "주성엔지니어링" => "주성엔지니어링";
            "AB Volvo Trucks" => "ab volvo trucks";
            "Ag Growth" => "ag growth";
            "Incora" => "incora";
            "Acme Ltd Seoul" => "acme ltd seoul";
            "Co., Ltd." => "";
            "주식회사" => "";
            "(주)" => "";
            "㈜ 유한회사" => "";
            "Company Inc" => "";
            "&" => "";
            "" => "";
        } {
            assert_eq!(left(name), fold_spelling(expected), "{name}");
        }
    }

    fn holds(text: &str, name: &str) -> bool {
        Folded::new(text).contains(&Folded::new(name))
    }

    #[test]
    fn a_name_is_found_where_it_stands_alone() {
        for (text, name, expected) in rows! {
            // Case, width, spacing and punctuation do not count.
            "Welcome to ＡＣＭＥ-Foods!", "acme foods" => true;
            "AcmeFoods", "Acme Foods" => true;
            "Johnson & Johnson", "JOHNSON AND JOHNSON" => true;
            "Straße AG", "STRASSE" => true;
            "ONeill's", "O’Neills" => true;
            "한빛 식품", "한빛식품" => true;
            "한\u{200b}빛식품", "한빛 식품" => true;
            "ﾋﾀﾁ 製作所", "ヒタチ" => true;
            // A word with spaces stands alone.
            "About Acme.", "Acme" => true;
            "Acme는 좋은 회사", "Acme" => true;
            "an ana", "ana" => true;
            "we are the one", "Theone" => false;
            "data base", "Database" => false;
            "Acmerica", "Acme" => false;
            "MyAcme", "Acme" => false;
            "acme2", "Acme" => false;
            "2acme", "Acme" => false;
            "Dracme", "Acme" => false;
            "ac me", "Acme" => false;
            // A long name without spaces is found inside a word, a short one is not.
            "한빛식품은 식품을 만든다", "한빛식품" => true;
            "東京日本電機工業へ", "日本電機工業" => true;
            "(주)한빛 대표 김", "한빛" => true;
            "주식회사한빛", "한빛" => true;
            "한빛주식회사", "한빛" => true;
            "한빛 | HANBIT", "한빛" => true;
            "대한빛나라", "한빛" => false;
            "한빛나라", "한빛" => false;
            "큰한빛", "한빛" => false;
            // Nothing is in nothing.
            "", "acme" => false;
            "acme", "" => false;
            "---", "-" => false;
        } {
            assert_eq!(holds(text, name), expected, "{text}: {name}");
        }
    }

    #[test]
    fn texts_made_to_be_slow_are_not() {
        let text = Folded::new(&"b".repeat(1 << 17));
        assert!(!text.contains(&Folded::new(&"b".repeat(199))));
        let text = Folded::new(&"a ".repeat(1 << 16));
        assert!(!text.contains(&Folded::new(&format!("{}b", "a ".repeat(99)))));
        let text = Folded::new(&"가".repeat(1 << 16));
        assert!(!text.contains(&Folded::new(&format!("{}a", "가".repeat(198)))));
        let text = Folded::new(&"가나".repeat(1 << 15));
        assert!(!text.contains(&Folded::new("가나")));
    }

    proptest::proptest! {
        #[test]
        fn every_text_folds_and_contains_its_words(text in ".{0,40}") {
            let folded = Folded::new(&text);
            for word in folded.words() {
                proptest::prop_assert!(folded.contains(&Folded::of_words(vec![word.clone()])));
            }
        }
    }
}
