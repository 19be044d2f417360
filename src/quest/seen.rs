//! What an answer's pages were judged by.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What decides which part of a page a reader sees.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Seen {
    /// A browser showed the page.
    Rendered,
    /// The page's own HTML and style rules, without a browser.
    Markup,
}
