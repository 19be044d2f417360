//! What is asked of a model that speaks the chat protocol, and what it said.

#[cfg(unix)]
mod client;
mod cost;
mod endpoint;
#[cfg(unix)]
mod persist;
#[cfg(unix)]
mod wire;

pub use cost::Cost;
pub use endpoint::{BadBaseUrl, endpoint};

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(unix)]
use self::persist::{SystemClock, persist};
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
