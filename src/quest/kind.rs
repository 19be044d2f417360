//! A quest kind without its gate.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::field::NO_EXAMPLE;
use super::{Field, FieldName, Key};

/// What an agent reads about the quests of one kind, and what it fills in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestKind {
    pub name: Cow<'static, str>,
    /// What one quest is about, in the singular: `company`. Also the flag that names the key.
    pub unit: Cow<'static, str>,
    pub prompt: Cow<'static, str>,
    /// The columns of the list that the prompt and the gate name.
    pub columns: Vec<String>,
    pub example_key: Cow<'static, str>,
    /// The fields of a submission, in the order in which people fill them in.
    pub fields: Vec<Field>,
    /// The field that results show first.
    pub answer: Option<FieldName>,
}

impl QuestKind {
    /// The key of the example; `None` without an example.
    pub fn example_key(&self) -> Option<Key> {
        let key = (self.example_key != NO_EXAMPLE).then_some(&self.example_key)?;
        Key::new(key).ok()
    }

    pub fn result_fields(&self) -> Vec<FieldName> {
        let names = || self.fields.iter().map(|field| &field.name);
        let answer = names().filter(|name| Some(*name) == self.answer.as_ref());
        let others = names().filter(|name| Some(*name) != self.answer.as_ref());
        answer.chain(others).cloned().collect()
    }
}

/// A fact from a column of the list that the gate holds submissions against.
///
/// The text is the operator's own, as the sheet shows it: `acme.co.kr`, `www.acme.co.kr/en`
/// and `https://acme.co.kr` all name a site.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    Site(String),
}

impl Anchor {
    pub fn label(&self) -> &'static str {
        match self {
            Self::Site(_) => "known site",
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Self::Site(text) => text,
        }
    }

    /// The anchor's text for comparison, without what differs between spellings of a site.
    pub fn folded(&self) -> String {
        let lower = self.text().trim().to_lowercase();
        let bare = lower
            .strip_prefix("https://")
            .or_else(|| lower.strip_prefix("http://"))
            .unwrap_or(&lower);
        let bare = bare.strip_prefix("www.").unwrap_or(bare);
        bare.trim_end_matches('/').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::email;

    #[test]
    fn results_show_the_answer_first() {
        let fields = email::kind().result_fields();
        assert_eq!(fields, [email::EMAIL, email::SITE, email::SOURCE]);
    }

    #[test]
    fn anchor_label_matches_the_prompt() {
        let site = Anchor::Site("Acme.co.kr/en".to_owned());
        assert!(email::kind().prompt.contains(site.label()));
        assert_eq!(site.text(), "Acme.co.kr/en");
    }
}
