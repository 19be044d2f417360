//! Legal forms: the words at the ends of a company's name that say what it is in law.

use std::sync::LazyLock;

use super::folded::Folded;
use crate::base::Digest;
use crate::world::page::is_unspaced;

const LIST: &str = include_str!("../lists/legal_forms.txt");

/// The forms, longest first.
static FORMS: LazyLock<Forms> = LazyLock::new(|| Forms::parse(LIST));

/// The digest of the list.
#[must_use]
pub fn digest() -> Digest {
    Digest::of(LIST.as_bytes())
}

#[derive(Debug, Default)]
struct Forms {
    /// Words that stand before a name.
    leading: Vec<Vec<String>>,
    /// Words that stand after a name.
    trailing: Vec<Vec<String>>,
    /// Words that may be written to a name without a space, on either side.
    joined: Vec<String>,
}

impl Forms {
    /// One form a line: `^Form` stands before a name, `Form` after it, and one in a script
    /// without spaces on either side.
    fn parse(list: &str) -> Self {
        let mut forms = Self::default();
        for line in list.lines().filter(|line| !line.starts_with('#')) {
            let (leading, text) = match line.trim().strip_prefix('^') {
                Some(text) => (true, text),
                None => (false, line.trim()),
            };
            for spelling in [text.to_owned(), text.replace('.', "")] {
                forms.add(&Folded::new(&spelling), leading);
            }
        }
        let longest_first =
            |a: &Vec<String>, b: &Vec<String>| b.concat().len().cmp(&a.concat().len());
        forms.leading.sort_by(longest_first);
        forms.trailing.sort_by(longest_first);
        forms
            .joined
            .sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms
    }

    fn add(&mut self, form: &Folded, leading: bool) {
        let words = form.words().to_vec();
        if words.is_empty() {
            return;
        }
        let unspaced = form.compact().chars().all(is_unspaced);
        // A single character, such as the 주 of (주), begins many a name.
        if unspaced && form.compact().chars().count() > 1 {
            self.joined.push(form.compact().to_owned());
        }
        if leading || unspaced {
            self.leading.push(words.clone());
        }
        if !leading {
            self.trailing.push(words);
        }
    }
}

/// The words without the legal forms at their ends; empty when there is nothing else.
#[must_use]
pub fn stripped(words: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    while strip_one(&mut words) {}
    words
}

/// Whether a legal form that may be joined to a name stands at the end of `text`.
#[must_use]
pub fn ends_with_joined(text: &str) -> bool {
    FORMS
        .joined
        .iter()
        .any(|form| text.ends_with(form.as_str()))
}

/// Whether a legal form that may be joined to a name stands at the start of `text`.
#[must_use]
pub fn starts_with_joined(text: &str) -> bool {
    FORMS
        .joined
        .iter()
        .any(|form| text.starts_with(form.as_str()))
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
    let rest = |word: &String, strip: fn(&str, &str) -> Option<String>| {
        FORMS.joined.iter().find_map(|form| strip(word, form))
    };
    if let Some(word) = words.last_mut()
        && let Some(shorter) = rest(word, |w, f| w.strip_suffix(f).map(str::to_owned))
    {
        *word = shorter;
        return true;
    }
    if let Some(word) = words.first_mut()
        && let Some(shorter) = rest(word, |w, f| w.strip_prefix(f).map(str::to_owned))
    {
        *word = shorter;
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(name: &str) -> String {
        stripped(Folded::new(name).words()).join(" ")
    }

    #[test]
    fn forms_of_many_laws_go() {
        for name in [
            "Acme",
            "Acme Inc.",
            "ACME, Incorporated",
            "Acme Co., Ltd.",
            "Acme Co.,Ltd",
            "Acme LLC",
            "Acme L.L.C.",
            "Acme GmbH",
            "Acme GmbH & Co. KG",
            "Acme AG",
            "Acme S.A.",
            "Acme SA",
            "Acme S.p.A.",
            "Acme B.V.",
            "Acme Pty Ltd",
            "Acme Pty. Ltd.",
            "Acme A/S",
            "Acme Oy",
            "Acme AB",
            "Acme & Co.",
            "Acme Sp. z o.o.",
            "ООО Acme",
            "PT Acme Tbk",
            "㈜Acme",
            "(주)Acme",
            "Acme(주)",
            "주식회사 Acme",
            "Acme 株式会社",
            "㈱Acme",
            "㍿Acme",
            "Acme股份有限公司",
            "Acme有限公司",
            "유한회사 Acme",
            "The Acme Company",
        ] {
            assert_eq!(left(name), "acme", "{name}");
        }
    }

    #[test]
    fn forms_without_spaces_go() {
        assert_eq!(left("주식회사한빛식품"), "한빛식품");
        assert_eq!(left("한빛식품주식회사"), "한빛식품");
        assert_eq!(left("株式会社日立製作所"), "日立製作所");
        assert_eq!(left("재단법인 한빛"), "한빛");
    }

    #[test]
    fn what_only_looks_like_a_form_stays() {
        assert_eq!(left("주성엔지니어링"), "주성엔지니어링");
        assert_eq!(left("AB Volvo Trucks"), "ab volvo trucks");
        assert_eq!(left("Ag Growth"), "ag growth");
        assert_eq!(left("Incora"), "incora");
        assert_eq!(left("Acme Ltd Seoul"), "acme ltd seoul");
    }

    #[test]
    fn nothing_but_form_leaves_nothing() {
        for name in [
            "Co., Ltd.",
            "주식회사",
            "(주)",
            "㈜ 유한회사",
            "Company Inc",
            "&",
            "",
        ] {
            assert_eq!(left(name), "", "{name}");
        }
    }

    #[test]
    fn the_list_names_its_source() {
        assert!(LIST.starts_with("# ") && LIST.contains("Source:"));
    }
}
