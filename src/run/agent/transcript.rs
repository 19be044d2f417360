//! What the output of an agent has said so far.

use std::collections::VecDeque;

use serde_json::Value;

use crate::base::Digest;
use crate::run::detect::tool_call;
use crate::session::Spent;

const SAID_BYTES: usize = 1 << 20;

const MAX_EVENTS: usize = 10_000;

const MAX_NAME: usize = 300;

#[derive(Debug)]
pub(super) struct Transcript {
    pub said: Tail,
    pub used: Option<Spent>,
    pub conversation: Option<String>,
    pub denied: bool,
    events: Vec<AgentEvent>,
}

impl Transcript {
    pub(super) fn new() -> Self {
        Self {
            said: Tail::new(SAID_BYTES),
            used: None,
            conversation: None,
            denied: false,
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

    pub(super) fn end_line(&mut self) {
        if self.said.bytes.back().is_some_and(|byte| *byte != b'\n') {
            self.said.push(b"\n");
        }
    }

    pub(super) fn calls(&mut self, tool: &str, arguments: &Value) {
        self.event(AgentEvent::ToolCall(ToolCall::new(&named(tool), arguments)));
    }

    pub(super) fn turn(&mut self, of_turn: Spent) {
        self.event(AgentEvent::Turn {
            new_tokens: of_turn.tokens,
        });
        let so_far = self.used.unwrap_or_default();
        let costs = [so_far.cost, of_turn.cost].into_iter().flatten();
        let tokens = so_far.tokens.saturating_add(of_turn.tokens);
        self.used_in_all(spent(tokens, costs.reduce(u64::saturating_add)));
    }

    pub(super) fn used_in_all(&mut self, used: Spent) {
        self.used = Some(used);
        self.event(AgentEvent::Spent(used));
    }

    /// Takes the name of the conversation from an event that has one.
    pub(super) fn converses(&mut self, event: &Value) {
        let names = ["session_id", "sessionID", "thread_id", "conversation_id"];
        let names = names.into_iter().filter_map(|name| event[name].as_str());
        for name in names.filter(|name| is_name(name)) {
            if self.conversation.as_deref() != Some(name) {
                self.conversation = Some(name.to_owned());
                self.event(AgentEvent::Conversation(name.to_owned()));
            }
        }
    }

    fn event(&mut self, event: AgentEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }
}

// The name is passed on a command line later, so it must not look like an option.
fn is_name(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    !text.is_empty() && text.len() <= MAX_NAME && !text.starts_with('-') && text.bytes().all(plain)
}

fn named(text: &str) -> String {
    text.chars().take(MAX_NAME).collect()
}

/// What the agent reports to have used.
pub(super) fn spent(tokens: u64, cost: Option<u64>) -> Spent {
    let told = true;
    Spent { tokens, cost, told }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    ToolCall(ToolCall),
    Turn { new_tokens: u64 },
    Spent(Spent),
    Conversation(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    pub tool: String,
    /// None for a call of comail itself.
    pub digest: Option<Digest>,
}

impl ToolCall {
    pub fn new(tool: &str, arguments: &Value) -> Self {
        Self {
            tool: tool.to_owned(),
            digest: tool_call(tool, arguments),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Text, in which a line may be a JSON event. The first event decides which known format it
    /// is; otherwise common field names such as `tool` and `usage` are read.
    Plain,
    /// Events of a format that is known here.
    Events,
}

#[derive(Debug)]
pub(super) struct Tail {
    bytes: VecDeque<u8>,
    most: usize,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        let bytes = VecDeque::new();
        Self { bytes, most }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let mut bytes = front.to_vec();
        bytes.extend_from_slice(back);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

pub(super) fn end_of(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

#[cfg(test)]
mod tests;
