//! What is asked of a model that speaks the chat protocol, and what it said.

#[cfg(unix)]
mod client;

use std::fmt;
use std::iter::Sum;
use std::time::Duration;

#[cfg(unix)]
use client::{SystemClock, persist};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use url::Url;

#[cfg(unix)]
use super::secrets::Secrets;

/// One question to a model, everything about it decided but the key's value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatOrder {
    /// What its paths are below, such as `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The model's name at that server.
    pub model: String,
    /// The environment variable that holds the key, where one is needed; never the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What it is told to be.
    pub system: String,
    /// What it is asked.
    pub prompt: String,
    /// How long all tries together may take with the waits between them, in milliseconds.
    pub timeout_ms: u64,
    /// How often it is asked again when no answer came.
    pub retries: u32,
    /// How many bytes an answer may have, its wrapping included.
    pub most_bytes: u64,
}

/// What came of asking a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chatted {
    /// It said something.
    Said(Said),
    /// It did not, and why.
    Failed(String),
}

/// What a model said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its words.
    pub text: String,
    /// What it took of whatever is paid for.
    pub usage: Usage,
    /// How long all tries together took, in milliseconds.
    pub millis: u64,
    /// How many tries it took.
    pub tries: u32,
}

/// What an answer says that it took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Tokens that were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

impl Usage {
    /// What an answer tells under `usage`; whatever is no number is not told.
    ///
    /// Tokens go by the names of the chat protocol, `prompt_tokens` and `completion_tokens`, or by
    /// `input_tokens` and `output_tokens`; `cost` is an amount.
    #[must_use]
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
    /// How long it may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }
}

/// Asks a model, with the variables that `lookup` finds; else why it cannot be asked at all.
///
/// Why it failed has the key's name in place of the key. A model in whose answer the key stands has
/// said nothing.
#[cfg(unix)]
pub(super) fn chat(
    order: &ChatOrder,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Chatted, String> {
    let whose = |why: String| format!("the model {} cannot be asked: {why}", order.model);
    let secrets =
        Secrets::take(&order.key, lookup).map_err(|missing| whose(missing.to_string()))?;
    let key = order.key.as_deref().and_then(|name| secrets.get(name));
    let asked = persist(order, &SystemClock::start(), |limit| {
        client::ask(order, key, limit)
    });
    match asked {
        Ok(Chatted::Said(said)) => match secrets.spoken_in(said.text.as_bytes()) {
            Some(why) => Ok(Chatted::Failed(why)),
            None => Ok(Chatted::Said(said)),
        },
        Ok(Chatted::Failed(why)) => Ok(Chatted::Failed(secrets.hide_in(why))),
        Err(refused) => Err(secrets.hide_in(whose(refused.0))),
    }
}

/// How many of them are one.
const PARTS: u64 = 1_000_000_000;

/// What something cost, in billionths of what its provider bills in: US dollars, as a rule.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Cost(u64);

impl Cost {
    /// The cost that a number means; none for what is no amount.
    #[must_use]
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

    /// It in billionths.
    #[must_use]
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

/// A base URL that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadBaseUrl {
    /// It is none.
    #[error("it is not a URL with http or https")]
    NoUrl,
    /// It would be kept with a secret in it.
    #[error("it holds a user or a password; name a variable that holds the key instead")]
    Credentials,
    /// Nothing can stand after it.
    #[error("it has a query or a fragment; expected what /chat/completions can follow")]
    Query,
}

/// The URL at which a chat is asked for, below `base_url`.
pub fn endpoint(base_url: &str) -> Result<Url, BadBaseUrl> {
    let mut url = Url::parse(base_url).map_err(|_| BadBaseUrl::NoUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadBaseUrl::NoUrl);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadBaseUrl::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BadBaseUrl::Query);
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
    fn stands_below_the_base_url_however_that_ends() {
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
            ("api.test/v1", BadBaseUrl::NoUrl),
            ("file:///v1", BadBaseUrl::NoUrl),
            ("https://me:secret@api.test/v1", BadBaseUrl::Credentials),
            ("https://secret@api.test/v1", BadBaseUrl::Credentials),
            ("https://api.test/v1?key=secret", BadBaseUrl::Query),
            ("https://api.test/v1#a", BadBaseUrl::Query),
        ] {
            assert_eq!(endpoint(base), Err(why), "{base}");
        }
    }
}
