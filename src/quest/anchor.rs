//! What the operator knows beforehand about a quest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fact from a column of the list that the gate holds submissions against.
///
/// The text is the operator's own, as the sheet shows it: `acme.co.kr`, `www.acme.co.kr/en`
/// and `https://acme.co.kr` all name a site.
#[derive(
    Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// The company's site.
    Site(String),
}

impl Anchor {
    /// What it is, as prompts call it.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Site(_) => "site, as the operator knows it",
        }
    }

    /// The operator's own text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Site(text) => text,
        }
    }

    /// The anchor's text for comparing: without what differs between two spellings of one site.
    #[must_use]
    pub fn folded(&self) -> String {
        match self {
            Self::Site(text) => site_core(text),
        }
    }
}

/// A site's text without what differs between two spellings of one site.
pub(super) fn site_core(text: &str) -> String {
    let lower = text.trim().to_lowercase();
    let bare = lower
        .strip_prefix("https://")
        .or_else(|| lower.strip_prefix("http://"))
        .unwrap_or(&lower);
    let bare = bare.strip_prefix("www.").unwrap_or(bare);
    bare.trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::email;

    #[test]
    fn people_read_the_name_that_prompts_give_it() {
        let site = Anchor::Site("Acme.co.kr/en".to_owned());
        assert!(email::kind().prompt.contains(site.label()));
        assert_eq!(site.text(), "Acme.co.kr/en");
    }
}
