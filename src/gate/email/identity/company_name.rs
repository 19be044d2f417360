//! A company's name, as it is looked for: in each of its spellings, without its legal form.

use unicode_normalization::UnicodeNormalization as _;

use super::common_words;
use super::folded::Folded;
use super::legal_forms;
use crate::world::page::is_unspaced;

/// The fewest characters that tell a company from another.
const FEWEST: usize = 3;

/// The same, of a name with characters of a script without spaces.
const FEWEST_UNSPACED: usize = 2;

/// The longest name that is looked for, in characters.
const LONGEST: usize = 200;

/// A company's name in every spelling that tells it from another; there may be none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompanyName {
    spellings: Vec<Spelling>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Spelling {
    name: Folded,
    /// Whether it may say where the company sits.
    may_be_place: bool,
}

impl CompanyName {
    /// The name that `text` spells.
    ///
    /// What stands in brackets is a spelling of its own where it is written in another kind of
    /// script than the rest: `한빛식품 (Hanbit Foods)`, but not `한빛식품 (서울 본사)`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let normal: String = text.nfkc().collect();
        let Bracketed { outside, inside } = Bracketed::parse(&normal);
        let rest = Folded::new(&outside);
        let others = inside.iter().map(|part| Folded::new(part));
        let others = others.filter(|part| is_written_unspaced(part) != is_written_unspaced(&rest));
        let mut spellings: Vec<Spelling> = Vec::new();
        let own = [rest.clone(), Folded::new(&normal)].map(|name| (name, false));
        for (spelling, in_brackets) in own.into_iter().chain(others.map(|name| (name, true))) {
            let name = Folded::of_words(legal_forms::stripped(spelling.words()));
            if tells_apart(&name) && !spellings.iter().any(|known| known.name == name) {
                let may_be_place = in_brackets && name.words().len() == 1;
                spellings.push(Spelling { name, may_be_place });
            }
        }
        Self { spellings }
    }

    /// Whether no spelling tells the company from another: too short, too long, nothing but a
    /// legal form, or nothing but common words.
    #[must_use]
    pub fn is_weak(&self) -> bool {
        self.spellings.is_empty()
    }

    /// The spellings, without legal forms.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &Folded> {
        self.spellings.iter().map(|spelling| &spelling.name)
    }

    /// Whether the text holds the name in some spelling.
    #[must_use]
    pub fn is_in(&self, text: &Folded) -> bool {
        self.spellings
            .iter()
            .any(|spelling| text.contains(&spelling.name))
    }

    /// The name without a single word in brackets: that of `한빛식품 (Gimpo)` is the city, and
    /// not the company.
    #[must_use]
    pub fn without_places(&self) -> Self {
        let mut spellings = self.spellings.clone();
        spellings.retain(|known| !known.may_be_place);
        Self { spellings }
    }

    /// Whether `text` is the name in some spelling, with or without a legal form, and nothing
    /// else.
    #[must_use]
    pub fn is_spelled(&self, text: &str) -> bool {
        let Self { spellings } = Self::parse(text);
        spellings.iter().any(|found| {
            let mut own = self.spellings.iter();
            own.any(|own| {
                own.name.compact() == found.name.compact() && found.name.contains(&own.name)
            })
        })
    }
}

fn tells_apart(name: &Folded) -> bool {
    let fewest = if is_written_unspaced(name) {
        FEWEST_UNSPACED
    } else {
        FEWEST
    };
    let characters = name.compact().chars().count();
    (fewest..=LONGEST).contains(&characters) && !common_words::are_common(name.words())
}

fn is_written_unspaced(name: &Folded) -> bool {
    name.compact().chars().any(is_unspaced)
}

/// A text parted into what stands in brackets and what does not.
struct Bracketed {
    outside: String,
    inside: Vec<String>,
}

impl Bracketed {
    /// Reads an unclosed bracket as closed at the end.
    fn parse(text: &str) -> Self {
        let mut outside = String::new();
        let mut inside: Vec<String> = Vec::new();
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
                _ => {
                    if let Some(part) = inside.last_mut() {
                        part.push(c);
                    }
                }
            }
        }
        Self { outside, inside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(name: &str, text: &str) -> bool {
        CompanyName::parse(name).is_in(&Folded::new(text))
    }

    fn is_weak(name: &str) -> bool {
        CompanyName::parse(name).is_weak()
    }

    #[test]
    fn the_legal_form_does_not_count_on_either_side() {
        assert!(finds("Acme Foods Inc.", "© ACME FOODS Co., Ltd."));
        assert!(finds("㈜한빛 식품", "주식회사한빛식품 대표이사"));
        assert!(!finds("Acme Foods Inc.", "Acme Inc."));
    }

    #[test]
    fn a_name_in_brackets_counts_in_another_script() {
        let name = "한빛식품 (Hanbit Foods)";
        assert!(finds(name, "Hanbit Foods"));
        assert!(finds(name, "한빛식품(주)"));
        assert!(finds("Hanbit Foods [한빛식품]", "한빛식품"));
        assert!(!finds("한빛식품 (서울본사)", "서울본사 안내"));
        assert!(!finds("한빛식품 (Seoul)", "Seoul"));
        assert!(finds("(Hanbit Foods)", "hanbit foods"));
        assert!(finds("(주) 한빛식품 (Hanbit)", "주식회사 한빛식품"));
    }

    #[test]
    fn a_word_in_brackets_may_be_a_place() {
        let beside = |name: &str, text: &str| {
            let name = CompanyName::parse(name).without_places();
            name.is_in(&Folded::new(text))
        };
        assert!(!beside("한빛식품 (Gimpo)", "1 Main St, Gimpo-si"));
        assert!(!beside("Hanbit Foods (안산)", "안산 공장"));
        assert!(beside("한빛식품 (Gimpo)", "한빛식품, Gimpo"));
        assert!(beside("한빛식품 (Hanbit Foods)", "Hanbit Foods, Gimpo"));
        assert!(beside("(Hanbit)", "Hanbit, Gimpo"));
        assert!(finds("한빛식품 (Hanbit)", "© Hanbit"));
    }

    #[test]
    fn short_and_common_names_are_weak() {
        for name in [
            "",
            "3M",
            "LG (주)",
            "Ab Inc.",
            "빛",
            "(주)빛",
            "Co., Ltd.",
            "주식회사",
            "㈜",
            "Group",
            "Global Trading Co., Ltd.",
            "Korea",
            "그룹",
            "(주)코리아",
            "시스템 (System)",
            "!!!",
        ] {
            assert!(is_weak(name), "{name}");
        }
        assert!(is_weak(&"a".repeat(100_000)));
    }

    #[test]
    fn their_neighbours_are_not() {
        for name in [
            "IBM",
            "농심",
            "LG전자",
            "Acme Group",
            "한빛그룹",
            "3M Korea 한국쓰리엠",
        ] {
            assert!(!is_weak(name), "{name}");
        }
    }

    #[test]
    fn brackets_that_do_not_match_do_no_harm() {
        assert!(finds("Acme (Foods", "Acme"));
        assert!(finds("Acme) Foods", "Acme Foods"));
        assert!(is_weak(&"(".repeat(100_000)));
    }
}
