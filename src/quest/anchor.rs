//! What the operator knows beforehand about a quest.

use serde::{Deserialize, Serialize};

/// A fact from a column of the list that the gate holds submissions against.
///
/// The text is the operator's own, as the sheet shows it: `acme.co.kr`, `www.acme.co.kr/en`
/// and `https://acme.co.kr` all name a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchor {
    /// The company's site.
    Site(String),
}
