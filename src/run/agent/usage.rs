//! What was used up, in the words of whoever tells.

use serde_json::Value;

use crate::world::sandbox::Cost;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub tokens: u64,
    pub cost: Option<u64>,
}

impl Usage {
    pub(super) fn and(self, other: Self) -> Self {
        let cost = match (self.cost, other.cost) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost,
        }
    }
}

// Input tokens, including those served from a cache.
const READ: [&str; 6] = [
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokenCount",
    "input",
    "prompt",
];

const WRITTEN: [&str; 6] = [
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "candidatesTokenCount",
    "output",
    "candidates",
];

// Input tokens, including those served from a cache.
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

pub(super) fn tokens(told: &Value) -> Option<u64> {
    let (read, written) = (first(told, &READ), first(told, &WRITTEN));
    if read.is_none() && written.is_none() {
        return first(told, &TOTAL);
    }
    let cached = first(told, &CACHED).unwrap_or(0);
    let new = read.unwrap_or(0).saturating_sub(cached);
    let beside = [first(told, &KEPT), first(told, &THOUGHT), written];
    let beside = beside.into_iter().flatten();
    Some(beside.fold(new, u64::saturating_add))
}

pub(super) fn cost(told: &Value) -> Option<u64> {
    let names = ["total_cost_usd", "cost_usd", "costUSD", "cost"];
    let dollars = names.iter().find_map(|name| told.get(name)?.as_f64())?;
    Cost::of(dollars).map(Cost::billionths)
}

fn first(told: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| {
        let told = if name.starts_with('/') {
            told.pointer(name)
        } else {
            told.get(name)
        };
        told?.as_u64()
    })
}

// Aider prints `Tokens: 4.2k sent, 1.1k received. Cost: $0.03 message, $0.05 session.`
pub(super) fn in_words(line: &str) -> Option<Usage> {
    let (tokens, cost) = match line.trim().strip_prefix("Tokens: ")?.split_once(" Cost: $") {
        Some((tokens, cost)) => (tokens, cost.split_whitespace().next()),
        None => (line.trim().strip_prefix("Tokens: ")?, None),
    };
    let mut usage = Usage {
        tokens: 0,
        cost: cost
            .and_then(|cost| Cost::of(cost.replace(',', "").parse().ok()?))
            .map(Cost::billionths),
    };
    for part in tokens.trim_end_matches('.').split(", ") {
        let (number, what) = part.split_once(' ')?;
        if matches!(what, "sent" | "received") {
            usage.tokens = usage.tokens.saturating_add(rounded(number)?);
        }
    }
    Some(usage)
}

fn rounded(number: &str) -> Option<u64> {
    let (number, unit) = match number.strip_suffix(['k', 'K']) {
        Some(number) => (number, 1_000),
        None => number
            .strip_suffix('M')
            .map_or((number, 1), |number| (number, 1_000_000)),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let tenths = match part.chars().next() {
        Some(digit) => u64::from(digit.to_digit(10)?),
        None => 0,
    };
    let whole: u64 = whole.replace(',', "").parse().ok()?;
    Some(whole.checked_mul(unit)?.saturating_add(tenths * unit / 10))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_are_counted_that_no_cache_held() {
        for (told, counted) in [
            (
                json!({"input_tokens": 10, "cache_creation_input_tokens": 200,
                "cache_read_input_tokens": 9_000, "output_tokens": 5}),
                Some(215),
            ),
            (
                json!({"input_tokens": 900, "cached_input_tokens": 800, "output_tokens": 5}),
                Some(105),
            ),
            (
                json!({"prompt_tokens": 90, "completion_tokens": 5, "total_tokens": 95,
                "prompt_tokens_details": {"cached_tokens": 80}}),
                Some(15),
            ),
            (
                json!({"input": 7, "output": 2, "reasoning": 1, "cache": {"read": 50, "write": 40}}),
                Some(50),
            ),
            (json!({"total_tokens": 12}), Some(12)),
            (json!({"output_tokens": 12}), Some(12)),
            (
                json!({"input_tokens": 1, "cached_input_tokens": 9}),
                Some(0),
            ),
            (json!({"input_tokens": "many"}), None),
            (json!({}), None),
            (json!(3), None),
        ] {
            assert_eq!(tokens(&told), counted, "{told}");
        }
    }

    #[test]
    fn a_price_is_told_in_dollars() {
        assert_eq!(cost(&json!({"total_cost_usd": 0.25})), Some(250_000_000));
        assert_eq!(cost(&json!({"cost": 0})), Some(0));
        assert_eq!(cost(&json!({"cost": -1.0})), None);
        assert_eq!(cost(&json!({"cost": "much"})), None);
    }

    #[test]
    fn words_for_people_are_understood() {
        let of = |line| in_words(line).map(|usage| (usage.tokens, usage.cost));
        let line = "Tokens: 4.2k sent, 950 received. Cost: $0.03 message, $0.05 session.";
        assert_eq!(of(line), Some((5_150, Some(30_000_000))));
        let cached = "Tokens: 1.5M sent, 2k cache hit, 1,234 received.";
        assert_eq!(of(cached), Some((1_501_234, None)));
        assert_eq!(of("Tokens: none"), None);
        assert_eq!(of("tokens: 4k sent"), None);
    }
}
