//! What the output of an agent has told so far.

use serde_json::Value;

use super::event::{AgentEvent, ToolCall};
use super::tail::Tail;
use super::usage::Usage;
use crate::session::Spent;

const SAID_BYTES: usize = 1 << 20;

const MOST_EVENTS: usize = 10_000;

const LONGEST_NAME: usize = 300;

#[derive(Debug)]
pub(super) struct Findings {
    pub said: Tail,
    pub used: Option<Usage>,
    pub conversation: Option<String>,
    pub denied: bool,
    pub failed: bool,
    events: Vec<AgentEvent>,
}

impl Findings {
    pub(super) fn new() -> Self {
        Self {
            said: Tail::new(SAID_BYTES),
            used: None,
            conversation: None,
            denied: false,
            failed: false,
            events: Vec::new(),
        }
    }

    pub(super) fn events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn says(&mut self, text: &str) {
        self.said.push(text.as_bytes());
        self.said.push(b"\n");
    }

    pub(super) fn says_on(&mut self, text: &str) {
        self.said.push(text.as_bytes());
    }

    pub(super) fn calls(&mut self, tool: &str, arguments: &Value) {
        self.event(AgentEvent::ToolCall(ToolCall::new(&named(tool), arguments)));
    }

    pub(super) fn turn(&mut self, usage: Usage) {
        self.event(AgentEvent::Turn {
            new_tokens: usage.tokens,
        });
        self.used_in_all(self.used.unwrap_or_default().and(usage));
    }

    pub(super) fn used_in_all(&mut self, usage: Usage) {
        self.used = Some(usage);
        self.event(AgentEvent::Spent(Spent {
            tokens: usage.tokens,
            cost: usage.cost,
            told: true,
        }));
    }

    pub(super) fn converses(&mut self, name: &Value) {
        let Some(name) = name.as_str().filter(|name| is_name(name)) else {
            return;
        };
        if self.conversation.as_deref() != Some(name) {
            self.conversation = Some(name.to_owned());
            self.event(AgentEvent::Conversation(name.to_owned()));
        }
    }

    pub(super) fn is_denied(&mut self, what: &str) {
        self.denied = true;
        self.event(AgentEvent::Denied(named(what)));
    }

    fn event(&mut self, event: AgentEvent) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        }
    }
}

// The name is passed on a command line later, so it must not look like an option.
fn is_name(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    !text.is_empty()
        && text.len() <= LONGEST_NAME
        && !text.starts_with('-')
        && text.bytes().all(plain)
}

fn named(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_is_named_by_what_can_be_no_option() {
        let mut findings = Findings::new();
        for name in [
            json!("--yolo"),
            json!(""),
            json!("a b"),
            json!(7),
            json!("x".repeat(999)),
        ] {
            findings.converses(&name);
        }
        assert_eq!(
            (findings.conversation.take(), findings.events()),
            (None, Vec::new())
        );
        findings.converses(&json!("0c7-a"));
        findings.converses(&json!("0c7-a"));
        assert_eq!(
            findings.events(),
            [AgentEvent::Conversation("0c7-a".to_owned())]
        );
    }

    #[test]
    fn events_that_nobody_takes_cost_no_memory_and_no_count() {
        let mut findings = Findings::new();
        for _ in 0..MOST_EVENTS * 2 {
            findings.turn(Usage {
                tokens: 1,
                cost: None,
            });
        }
        assert_eq!(findings.events().len(), MOST_EVENTS);
        assert_eq!(
            findings.used.map(|used| used.tokens),
            Some(2 * MOST_EVENTS as u64)
        );
        findings.turn(Usage::default());
        assert_eq!(findings.events().len(), 2);
    }
}
