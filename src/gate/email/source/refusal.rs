//! Whether a page states that e-mail addresses may not be collected, or be sent advertisements.
//!
//! Korean sites say so after Article 50-2 of the Network Act (“이메일 무단 수집 거부”), German ones in
//! the Impressum, others in a line of their own. The label of a link to such a statement is not
//! one, and neither is a privacy notice that asks for, or disclaims, the visitor's own address.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use super::super::lists::REFUSALS;
use crate::base::text::lower;
use crate::base::words::rows;
use crate::world::page::Page;

/// How far the parts of a statement stand apart, at most, in bytes.
const NEAR: usize = 400;

const MOST_CHARS: usize = 300;

/// A way in which a language states it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Form {
    /// A whole sentence, as a pattern, that states it without naming mail.
    alone: Option<String>,
    what: Vec<String>,
    deed: Vec<String>,
    not: Vec<String>,
    advert: Vec<String>,
    no: Vec<String>,
    unless: Vec<String>,
}

static FORMS: LazyLock<Vec<Form>> =
    LazyLock::new(|| rows(REFUSALS).into_iter().map(|row| row.word).collect());

/// What any of the forms is about, in one pattern.
static WHAT: LazyLock<Regex> = LazyLock::new(|| {
    let words = FORMS.iter().flat_map(|form| &form.what);
    let words: Vec<String> = words.map(|word| regex::escape(word)).collect();
    Regex::new(&words.join("|")).expect("the words are escaped")
});

/// Whole sentences of any form that need no word for mail.
static ALONE: LazyLock<Regex> = LazyLock::new(|| {
    let patterns = FORMS.iter().filter_map(|form| form.alone.as_deref());
    let patterns: Vec<&str> = patterns.collect();
    let whole = format!("^(?:{})$", patterns.join("|"));
    Regex::new(&whole).unwrap_or_else(|error| panic!("a compiled-in table: {error}"))
});

fn stands_alone(sentence: &str) -> bool {
    sentence.chars().nth(MOST_CHARS).is_none()
        && ALONE.is_match(sentence.trim_matches(|c: char| !c.is_alphanumeric()))
}

/// The sentence in which the page states that e-mail addresses may not be collected, if any.
pub fn states_no_collection(page: &Page) -> Option<String> {
    // A statement may be set over a few lines.
    const LINES: usize = 4;
    (0..page.visible.len()).find_map(|index| {
        let line = &page.visible[index];
        let lower = plain(line);
        let alone = sentences(&lower).find(|sentence| stands_alone(sentence));
        if let Some(alone) = alone {
            return Some(alone.trim().to_owned());
        }
        if !WHAT.is_match(&lower) {
            return None;
        }
        stated(line).or_else(|| {
            let end = page.visible.len().min(index + LINES);
            let lines = page.visible[index..end].iter();
            let joined: Vec<_> = lines.map(|line| head(line, MOST_CHARS)).collect();
            stated(&joined.join(" "))
        })
    })
}

fn plain(text: &str) -> String {
    lower(text).replace('\u{2019}', "'")
}

fn any(text: &str, words: &[String]) -> bool {
    words.iter().any(|word| text.contains(word.as_str()))
}

fn stated(text: &str) -> Option<String> {
    sentences(text).find_map(|sentence| {
        // A word that begins with a space is a word's beginning.
        let lower = format!(" {} ", plain(sentence));
        let lower = without_label(&lower);
        let form = FORMS.iter().any(|form| form.states(&lower));
        form.then(|| head(sentence.trim(), MOST_CHARS).to_owned())
    })
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['。', '!', '?', '！', '？'])
        .flat_map(|part| part.split_inclusive(". "))
}

static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    let label = "(?:무단 ?)?수집 ?거부(하|합|함)?";
    Regex::new(label).expect("the pattern is a constant")
});

/// The text without the label of a link to a statement. Followed by a verb, it is a statement.
fn without_label(lower: &str) -> Cow<'_, str> {
    LABEL.replace_all(lower, |found: &Captures<'_>| {
        let verb = found.get(1);
        verb.map_or_else(String::new, |verb| format!("수집을 거부{}", verb.as_str()))
    })
}

impl Form {
    /// Whether deed and denial stand near each other and near what they are about.
    fn states(&self, lower: &str) -> bool {
        if !any(lower, &self.what) {
            return false;
        }
        let is_denied = |deeds: &[String], denials: &[&[String]]| {
            let mut places = deeds.iter().flat_map(|deed| lower.match_indices(&**deed));
            places.any(|(at, _)| {
                let near = text_near(lower, at);
                any(near, &self.what)
                    && denials.iter().any(|words| any(near, words))
                    && !any(near, &self.unless)
            })
        };
        is_denied(&self.deed, &[&self.not]) || is_denied(&self.advert, &[&self.not, &self.no])
    }
}

fn text_near(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(NEAR));
    let end = text.floor_char_boundary(at + NEAR);
    &text[start..end]
}

fn head(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most);
    end.map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::words::check;

    fn page(html: &str) -> Page {
        let url = url::Url::parse("https://acme.co.kr/").unwrap();
        Page::parse(
            &url,
            Some("text/html; charset=utf-8"),
            None,
            html.as_bytes(),
        )
        .unwrap()
    }

    fn states(html: &str) -> bool {
        states_no_collection(&page(html)).is_some()
    }

    #[test]
    fn every_language_states_it() {
        check(REFUSALS, |form: &Form, text| match form.alone {
            Some(_) => states(&format!("<p>{text}</p>")),
            None => form.states(&plain(text)),
        });
        assert_eq!(FORMS.iter().filter(|form| form.alone.is_some()).count(), 11);
    }

    const KOREAN: &str = "본 웹사이트에 게시된 이메일 주소가 전자우편 수집 프로그램이나 그 밖의 기술적 장치를 \
        이용하여 무단으로 수집되는 것을 거부하며, 이를 위반시 정보통신망법에 의해 형사처벌됨을 유념하시기 바랍니다.";

    #[test]
    fn statements_are_found() {
        for text in [
            KOREAN,
            "이메일 주소 무단수집을 거부합니다",
            "Harvesting of e-mail addresses from this site is prohibited.",
            "The email addresses on this site may not be collected or used for advertising.",
            "当サイトのメールアドレスの収集を禁止します。",
            "Please do not send unsolicited offers to this e-mail address.",
            "Werbemails an diese E-Mail-Adresse sind nicht erwünscht.",
            "Merci de ne pas utiliser cette adresse : aucun démarchage.",
            "営業メールはお断りします。",
            "광고 메일은 사절합니다.",
            "Geen reclame naar dit adres.",
            "Kontakt. Keine Werbung!",
            "Der Nutzung von im Rahmen der Impressumspflicht veröffentlichten Kontaktdaten durch Dritte zur Übersendung von Werbung wird hiermit ausdrücklich widersprochen.",
        ] {
            assert!(states(&format!("<p>{text}</p>")), "{text}");
        }
        let said = states_no_collection(&page(&format!("<p>안녕하세요. {KOREAN}"))).unwrap();
        assert!(
            said.starts_with("본 웹사이트") && said.ends_with("바랍니다."),
            "{said}"
        );
    }

    #[test]
    fn a_statement_over_several_lines_is_found() {
        assert!(states(
            &KOREAN
                .replace("이용하여 ", "이용하여<br>")
                .replace("거부하며, ", "거부하며,<br>")
        ));
    }

    #[test]
    fn labels_and_privacy_notices_are_not_statements() {
        for html in [
            "<footer><a href=/e>이메일무단수집거부</a> | <a href=/p>개인정보처리방침</a></footer>",
            "<li>이메일 무단 수집 거부<li>본 사이트의 콘텐츠는 저작권법의 보호를 받으며 무단 복제를 금지합니다.",
            "<p>이메일 수집을 위한 동의를 거부합니다 란에 표시할 권리가 있습니다",
            "<p>수집항목: 이름, 이메일. 수집을 거부하실 수 있습니다.",
            "<p>We do not collect email addresses without your consent; it is prohibited.",
            "<p>We collect your email address. Smoking is prohibited.",
            "<p>メールアドレスを取得します。転載を禁止します。",
            "<p>Sie können der Nutzung Ihrer E-Mail-Adresse jederzeit widersprechen.",
            "<p>info@acme.co 이메일 문의",
            "<p>We will not use your email address for marketing.",
            "<p>Bewerbungen nehmen wir nicht per E-Mail an.",
            "<p>Ihre E-Mail-Adresse geben wir nicht für Werbung weiter.",
            "<p>営業時間外のメールには返信できません。ご遠慮なくどうぞ。",
            "<p>No enviamos publicidad a sus clientes por este correo.",
            "<p>Keine Werbung auf unseren Seiten",
            "<p>No advertising costs for our members",
            "<p hidden>Keine Werbung!</p>",
            "<p hidden>Harvesting of e-mail addresses is prohibited.</p>",
        ] {
            assert!(!states(html), "{html}");
        }
    }

    #[test]
    fn hostile_pages_end() {
        assert!(!states(&"이메일 수집을 ".repeat(50_000)));
        assert!(!states(&"<p>email address collect".repeat(50_000)));
    }
}
