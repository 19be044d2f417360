//! Reads the tokens and the cost that an agent reports, under the names that agents use.

use serde_json::Value;

use crate::session::Spent;
use crate::world::sandbox::Cost;

/// The tokens of a report: those that the model was sent, including those from a cache, and those that
/// it wrote. Estimates count the same way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    pub all: u64,
    /// Those that came from a cache.
    pub cached: u64,
}

impl Tokens {
    fn and(self, other: Self) -> Self {
        Self {
            all: self.all.saturating_add(other.all),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

/// The tokens, and the cost if it is reported.
pub(super) fn used_in(told: &Value) -> Option<(Tokens, Option<u64>)> {
    let by_model = || {
        let models = told["stats"]["models"].as_object()?.values();
        let each = models.filter_map(|model| tokens_in(&model["tokens"]));
        Some(each.fold(Tokens::default(), Tokens::and))
    };
    let tokens = tokens_in(&told["usage"]).or_else(|| tokens_in(&told["stats"]));
    let tokens = tokens.or_else(by_model)?;
    let cost = cost_in(told).or_else(|| cost_in(&told["usage"]));
    Some((tokens, cost))
}

const INPUT: [&str; 6] = [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokenCount",
    "prompt",
    "input",
];

const OUTPUT: [&str; 6] = [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "output",
    "candidates",
];

// Input tokens that are written to a cache, not included in the others.
const KEPT: [&str; 2] = ["cache_creation_input_tokens", "/cache/write"];

const THOUGHT: [&str; 2] = ["reasoning", "thoughts"];

// Input tokens from a cache, included in the others.
const CACHED: [&str; 5] = [
    "cached_input_tokens",
    "/prompt_tokens_details/cached_tokens",
    "/input_tokens_details/cached_tokens",
    "cachedContentTokenCount",
    "cached",
];

// The same, not included in the others.
const CACHED_APART: [&str; 2] = ["cache_read_input_tokens", "/cache/read"];

const TOTAL: [&str; 3] = ["total_tokens", "totalTokens", "total"];

pub(super) fn tokens_in(told: &Value) -> Option<Tokens> {
    let number = |names: &[&str]| first_number(told, names);
    let apart = number(&CACHED_APART);
    let parts = [
        number(&INPUT),
        number(&OUTPUT),
        number(&KEPT),
        number(&THOUGHT),
        apart,
    ];
    let parts = parts.into_iter().flatten();
    let all = number(&TOTAL).or_else(|| parts.reduce(u64::saturating_add))?;
    let cached = number(&CACHED).or(apart).unwrap_or(0).min(all);
    Some(Tokens { all, cached })
}

pub(super) fn cost_in(told: &Value) -> Option<u64> {
    let names = ["total_cost_usd", "cost_usd", "costUSD", "cost"];
    let dollars = names.iter().find_map(|name| told.get(name)?.as_f64())?;
    Cost::of(dollars).map(Cost::billionths)
}

fn first_number(told: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| {
        let told = if name.starts_with('/') {
            told.pointer(name)
        } else {
            told.get(name)
        };
        told?.as_u64()
    })
}

/// The usage that the agent reports.
pub(super) fn spent(tokens: u64, cost: Option<u64>) -> Spent {
    let told = true;
    Spent { tokens, cost, told }
}
