//! What a hook answers, in each agent's own JSON.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::agent::HookAgent;
use super::ruling::{Ruled, Ruling};

/// The most bytes of a text that an agent is handed.
const MOST_BYTES: usize = 16 << 10;

/// Whether an agent may stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReply {
    /// It may not: this is what it is to do.
    GoOn(String),
    /// It may, for this reason.
    Stop(String),
}

impl StopReply {
    /// The answer as the agent reads it. What is longer than an agent is handed ends with `whole`,
    /// which says where all of it stands.
    #[must_use]
    pub fn json(&self, agent: HookAgent, whole: &str) -> Value {
        match (self, agent) {
            (Self::GoOn(text), HookAgent::Claude | HookAgent::Codex) => {
                json!({ "decision": "block", "reason": bounded(text, whole) })
            }
            (Self::GoOn(text), HookAgent::Gemini) => {
                json!({ "decision": "deny", "reason": bounded(text, whole) })
            }
            (Self::Stop(why), _) => json!({ "systemMessage": bounded(why, "") }),
        }
    }
}

impl Ruled {
    /// The answer as the agent reads it.
    #[must_use]
    pub fn json(&self, agent: HookAgent) -> Value {
        let why = format!("comail: {}", bounded(&self.why, ""));
        let ruled = if agent.can_ask() {
            self.ruling
        } else {
            refusing(self.ruling)
        };
        let decision = match ruled {
            Ruling::Leave => return json!({}),
            Ruling::Allow => "allow",
            Ruling::Prompt => "ask",
            Ruling::Forbid => "deny",
        };
        match agent {
            HookAgent::Gemini => json!({ "decision": decision, "reason": why }),
            // Codex knows no other word here, and runs what it is answered with one.
            HookAgent::Codex if decision == "allow" => json!({}),
            HookAgent::Claude | HookAgent::Codex => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": decision,
                "permissionDecisionReason": why,
            }}),
        }
    }
}

impl JsonSchema for StopReply {
    fn schema_name() -> Cow<'static, str> {
        "StopReply".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What an agent reads that wants to stop.",
            "type": "object",
            "oneOf": [
                {
                    "description": "It may not, and this is what it is to do.",
                    "properties": {
                        "decision": {"enum": ["block", "deny"]},
                        "reason": {"type": "string"},
                    },
                    "required": ["decision", "reason"],
                },
                {
                    "description": "It may, for this reason.",
                    "properties": {"systemMessage": {"type": "string"}},
                    "required": ["systemMessage"],
                },
            ],
        })
    }
}

impl JsonSchema for Ruled {
    fn schema_name() -> Cow<'static, str> {
        "Ruled".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "What an agent reads that wants to use a tool, in its own words; \
                            nothing where its own permissions decide.",
            "type": "object",
            "properties": {
                "hookSpecificOutput": {
                    "type": "object",
                    "properties": {
                        "hookEventName": {"const": "PreToolUse"},
                        "permissionDecision": {"enum": ["allow", "ask", "deny"]},
                        "permissionDecisionReason": {"type": "string"},
                    },
                    "required": ["hookEventName", "permissionDecision", "permissionDecisionReason"],
                },
                "decision": {"enum": ["allow", "ask", "deny"]},
                "reason": {"type": "string"},
            },
            "dependentRequired": {"decision": ["reason"], "reason": ["decision"]},
        })
    }
}

fn refusing(ruling: Ruling) -> Ruling {
    match ruling {
        Ruling::Prompt => Ruling::Forbid,
        other => other,
    }
}

fn bounded(text: &str, whole: &str) -> String {
    if text.len() <= MOST_BYTES {
        return text.to_owned();
    }
    let mut cut = MOST_BYTES;
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}\n[…]\n{whole}", &text[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_is_answered_in_its_own_words() {
        let all = [Ruling::Allow, Ruling::Leave, Ruling::Prompt, Ruling::Forbid];
        let said = |agent: HookAgent| {
            all.map(|ruling| {
                let json = Ruled::new(ruling, "x").json(agent);
                let own = &json["hookSpecificOutput"]["permissionDecision"];
                let said = own.as_str().or_else(|| json["decision"].as_str());
                said.unwrap_or("-").to_owned()
            })
        };
        assert_eq!(said(HookAgent::Claude), ["allow", "-", "ask", "deny"]);
        assert_eq!(said(HookAgent::Codex), ["-", "-", "deny", "deny"]);
        assert_eq!(said(HookAgent::Gemini), ["allow", "-", "deny", "deny"]);
        let go_on = StopReply::GoOn("x".into());
        assert_eq!(go_on.json(HookAgent::Claude, "")["decision"], "block");
        assert_eq!(go_on.json(HookAgent::Gemini, "")["decision"], "deny");
        let stop = StopReply::Stop("x".into()).json(HookAgent::Codex, "");
        assert_eq!(stop, json!({ "systemMessage": "x" }));
    }

    #[test]
    fn what_is_handed_over_has_a_bound() {
        let long = StopReply::GoOn("ä".repeat(MOST_BYTES)).json(HookAgent::Claude, "ask again");
        let text = long["reason"].as_str().unwrap();
        assert!(text.len() < MOST_BYTES + 100 && text.ends_with("ask again"));
    }
}
