//! Reads how many tokens an agent reports, and what they cost, under the names that agents use.

use serde_json::Value;

use crate::session::Spent;
use crate::world::sandbox::Cost;

pub(super) fn used_in(told: &Value) -> Option<Spent> {
    let by_model = || {
        let models = told["stats"]["models"].as_object()?.values();
        let each = models.filter_map(|model| tokens_in(&model["tokens"]));
        Some(each.fold(0, u64::saturating_add))
    };
    let tokens = tokens_in(&told["usage"]).or_else(|| tokens_in(&told["stats"]));
    let tokens = tokens.or_else(by_model)?;
    let cost = cost_in(told).or_else(|| cost_in(&told["usage"]));
    Some(spent(tokens, cost))
}

// Input tokens, including those served from a cache.
const INPUT: [&str; 6] = [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokenCount",
    "input",
    "prompt",
];

const OUTPUT: [&str; 6] = [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "output",
    "candidates",
];

// Input tokens that are written to a cache.
const KEPT: [&str; 2] = ["cache_creation_input_tokens", "/cache/write"];

const THOUGHT: [&str; 2] = ["reasoning", "thoughts"];

const CACHED: [&str; 5] = [
    "cached_input_tokens",
    "/prompt_tokens_details/cached_tokens",
    "/input_tokens_details/cached_tokens",
    "cachedContentTokenCount",
    "cached",
];

const TOTAL: [&str; 3] = ["total_tokens", "totalTokens", "total"];

pub(super) fn tokens_in(told: &Value) -> Option<u64> {
    let (read, written) = (first_number(told, &INPUT), first_number(told, &OUTPUT));
    if read.is_none() && written.is_none() {
        return first_number(told, &TOTAL);
    }
    let cached = first_number(told, &CACHED).unwrap_or(0);
    let new = read.unwrap_or(0).saturating_sub(cached);
    let others = [
        first_number(told, &KEPT),
        first_number(told, &THOUGHT),
        written,
    ];
    let others = others.into_iter().flatten();
    Some(others.fold(new, u64::saturating_add))
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

/// What the agent reports to have used.
pub(super) fn spent(tokens: u64, cost: Option<u64>) -> Spent {
    let told = true;
    Spent { tokens, cost, told }
}
