//! What an agent does, as its output tells it.

use serde_json::Value;

use crate::base::Digest;
use crate::run::detect::{Own, canonical};
use crate::session::Spent;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    ToolCall(ToolCall),
    Turn { new_tokens: u64 },
    Spent(Spent),
    Conversation(String),
    Denied(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub tool: String,
    pub arguments: Digest,
    pub own: Option<Own>,
}

impl ToolCall {
    #[must_use]
    pub fn new(tool: &str, arguments: &Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: canonical::digest(arguments),
            own: Own::in_arguments(arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_keys_hides_no_repeat() {
        let read = |text: &str| ToolCall::new("Bash", &serde_json::from_str(text).unwrap());
        let one = read(r#"{"command": "ls", "in": {"a": [1, {"x": 1, "y": 2}], "b": 2}}"#);
        let same = read(r#"{"in": {"b": 2, "a": [1, {"y": 2, "x": 1}]}, "command": "ls"}"#);
        assert_eq!(one, same);
        let other = read(r#"{"in": {"b": 2, "a": [{"y": 2, "x": 1}, 1]}, "command": "ls"}"#);
        assert_ne!(one, other);
        assert_ne!(
            one,
            ToolCall {
                tool: "Read".to_owned(),
                ..one.clone()
            }
        );
    }

    #[test]
    fn no_value_is_taken_for_another() {
        let values = [
            json!({"a": "1"}),
            json!({"a": 1}),
            json!({"a": [1]}),
            json!({"a,b": 1}),
            json!([]),
            json!({}),
            json!(null),
            json!("null"),
            json!([[], []]),
            json!([[[]]]),
        ];
        for (index, one) in values.iter().enumerate() {
            for other in &values[..index] {
                assert_ne!(ToolCall::new("t", one), ToolCall::new("t", other));
            }
        }
    }
}
