//! A question to a model that speaks the chat protocol, and its answer.

use std::fmt;
use std::iter::Sum;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

/// One question to a model, with everything decided except the value of the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatOrder {
    /// The start of every path, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    pub model: String,
    /// The environment variable with the key, if one is needed; never the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub system: String,
    pub prompt: String,
    /// The time for all tries together, including the waits between them.
    pub timeout_ms: u64,
    pub retries: u32,
    /// The most bytes that an answer may have, including the JSON around its text.
    pub most_bytes: u64,
}

/// `T` is what the model says: its text, or in evidence the digest by which that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chatted<T = String> {
    Said(Said<T>),
    Failed(String),
}

impl<T> Chatted<T> {
    pub fn with_text<U, E>(self, convert: impl FnOnce(T) -> Result<U, E>) -> Result<Chatted<U>, E> {
        Ok(match self {
            Self::Said(said) => Chatted::Said(Said {
                text: convert(said.text)?,
                usage: said.usage,
                millis: said.millis,
                tries: said.tries,
            }),
            Self::Failed(why) => Chatted::Failed(why),
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said<T = String> {
    pub text: T,
    pub usage: Usage,
    /// The time of all tries together.
    pub millis: u64,
    pub tries: u32,
}

/// The usage that an answer reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that the model read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// Reads the `usage` of an answer, whichever provider's names it has. What is not a number is
    /// ignored.
    pub fn told(told: &serde_json::Value) -> Self {
        let tokens = |names: [&str; 2]| {
            let mut told = names.into_iter().filter_map(|name| told.get(name));
            told.find_map(serde_json::Value::as_u64)
        };
        let cost = told.get("cost").and_then(serde_json::Value::as_f64);
        Self {
            input_tokens: tokens(["prompt_tokens", "input_tokens"]),
            output_tokens: tokens(["completion_tokens", "output_tokens"]),
            cost: cost.and_then(Cost::of),
        }
    }
}

impl ChatOrder {
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

const PARTS: u64 = 1_000_000_000;

/// A cost, in billionths of the currency in which the provider bills, usually US dollars.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "an amount out of bounds is refused before"
    )]
    pub fn of(amount: f64) -> Option<Self> {
        let parts = (amount * PARTS as f64).round();
        (0.0..u64::MAX as f64)
            .contains(&parts)
            .then_some(Self(parts as u64))
    }

    pub const fn from_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    pub fn billionths(self) -> u64 {
        self.0
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        Self(costs.fold(0, |sum, cost| sum.saturating_add(cost.0)))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:09}", self.0 / PARTS, self.0 % PARTS);
        let short = text.trim_end_matches('0').len();
        // Cents are always shown.
        let cents = text.len() - 7;
        f.write_str(&text[..short.max(cents)])
    }
}

/// The address of a server's chat protocol, or what is wrong with its base URL.
pub fn endpoint(base_url: &str) -> Result<Url, &'static str> {
    const NO_URL: &str = "it is not an http or https URL";
    let mut url = Url::parse(base_url).map_err(|_| NO_URL)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(NO_URL);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "it contains a user or a password; name an environment variable with the key instead",
        );
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("it has a query or a fragment, so /chat/completions cannot follow");
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["chat", "completions"]);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_what_was_paid() {
        let shown = |amount| Cost::of(amount).map(|cost| cost.to_string());
        assert_eq!(shown(0.000_012_5).as_deref(), Some("0.0000125"));
        assert_eq!(shown(2.0).as_deref(), Some("2.00"));
        assert_eq!(shown(0.1).as_deref(), Some("0.10"));
        assert_eq!(shown(0.0).as_deref(), Some("0.00"));
    }

    #[test]
    fn what_is_no_amount_is_no_cost() {
        for amount in [-0.1, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(Cost::of(amount), None, "{amount}");
        }
    }

    #[test]
    fn a_sum_never_overflows() {
        let sum: Cost = [Cost(u64::MAX), Cost(1)].into_iter().sum();
        assert_eq!(sum, Cost(u64::MAX));
    }

    #[test]
    fn the_path_follows_the_base_url_with_or_without_a_slash() {
        for (base, whole) in [
            (
                "http://127.0.0.1:11434/v1",
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                "https://api.test/v1/",
                "https://api.test/v1/chat/completions",
            ),
            ("https://api.test", "https://api.test/chat/completions"),
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), whole);
        }
    }

    #[test]
    fn refuses_what_would_keep_a_secret_or_lead_elsewhere() {
        for (base, why) in [
            ("api.test/v1", "is not an http"),
            ("file:///v1", "is not an http"),
            ("https://me:secret@api.test/v1", "a user or a password"),
            ("https://secret@api.test/v1", "a user or a password"),
            ("https://api.test/v1?key=secret", "a query or a fragment"),
            ("https://api.test/v1#a", "a query or a fragment"),
        ] {
            assert!(endpoint(base).unwrap_err().contains(why), "{base}");
        }
    }
}
