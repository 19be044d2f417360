//! The part of an agent's output that is kept: its text, its calls and its usage.

use std::collections::VecDeque;
use std::iter;

use serde_json::Value;

use super::provider::ProviderError;
use super::usage::{Tokens, spent};
use crate::base::Digest;
use crate::base::text::truncate;
use crate::run::detect::tool_call;
use crate::session::Spent;

pub(in crate::run) const BYTES_OF_A_TOKEN: u64 = 4;

/// What an agent reported for a whole conversation: Claude Code the cost, Codex the tokens. After a
/// resume, they include what earlier starts used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// In billionths of a US dollar.
    pub(super) cost: u64,
    pub(super) tokens: u64,
    /// The length of the conversation, which each call of the model is sent again.
    pub(super) bytes: u64,
}

const SAID_BYTES: usize = 1 << 20;

const COMPLAINT_BYTES: usize = 8 << 10;

pub(super) const MAX_EVENTS: usize = 10_000;

const MAX_NAME: usize = 300;

pub(super) const MAX_DOING: usize = 200;

#[derive(Debug)]
pub(super) struct Transcript {
    pub said: Tail,
    /// Errors, which are not searched for an answer.
    pub complaints: Tail,
    pub used: Option<Spent>,
    pub totals: Totals,
    pub conversation: Option<String>,
    pub denied: bool,
    pub provider: Option<ProviderError>,
    /// The length of the agent's command line and input.
    read: u64,
    /// The bytes that were sent in the model calls with an answer.
    sent: u64,
    /// Whether the model has yet to answer the end of the conversation.
    awaits: bool,
    /// The conversation that the agent was asked to continue.
    resumed: Option<String>,
    events: Vec<AgentEvent>,
    /// Its last line of text or last tool call, until it is taken.
    doing: Option<String>,
}

impl Transcript {
    pub(super) fn new(read: u64, resumed: Option<(String, Totals)>) -> Self {
        let (resumed, totals) = resumed.unzip();
        let mut totals = totals.unwrap_or_default();
        totals.bytes = totals.bytes.saturating_add(read);
        Self {
            said: Tail::new(SAID_BYTES),
            complaints: Tail::new(COMPLAINT_BYTES),
            used: None,
            totals,
            conversation: None,
            denied: false,
            provider: None,
            read,
            sent: 0,
            awaits: true,
            resumed,
            events: Vec::new(),
            doing: None,
        }
    }

    pub(super) fn doing(&mut self) -> Option<String> {
        self.doing.take()
    }

    fn does(&mut self, text: &str) {
        if let Some(line) = text.trim().lines().next_back() {
            self.doing = Some(truncate(line.trim_start(), MAX_DOING).into_owned());
        }
    }

    pub(super) fn events(&mut self) -> Vec<AgentEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn says(&mut self, text: &str) {
        self.provider = None;
        self.does(text);
        self.said.push(text.as_bytes());
        self.said.push(b"\n");
    }

    pub(super) fn complains(&mut self, text: &str) {
        self.complaints.push(text.as_bytes());
        self.complaints.push(b"\n");
    }

    /// Takes an error that ended the agent or its turn.
    pub(super) fn fails(&mut self, text: &str) {
        self.provider = ProviderError::of_text(text);
        self.complains(text);
    }

    /// Reads why the provider refused the agent: the HTTP status, or Claude Code's word for it.
    pub(super) fn refuses(&mut self, status: &Value, error: &Value) {
        self.provider = match (status.as_u64(), error.as_str()) {
            (Some(status), _) => ProviderError::of_status(status),
            (None, Some("authentication_failed")) => Some(ProviderError::NotLoggedIn),
            (None, Some("rate_limit")) => Some(ProviderError::Busy),
            (None, None) => self.provider,
            (None, Some(_)) => None,
        };
    }

    pub(super) fn says_on(&mut self, text: &str) {
        self.provider = None;
        self.said.push(text.as_bytes());
        self.does(&self.said.end(MAX_DOING));
    }

    /// The model answers. Each of its calls was sent the whole conversation.
    pub(super) fn speaks(&mut self, bytes: u64) {
        if std::mem::take(&mut self.awaits) {
            self.sent = self.sent.saturating_add(self.totals.bytes);
        }
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        self.estimates();
    }

    /// A tool answers the model.
    pub(super) fn hears(&mut self, bytes: u64) {
        self.awaits = true;
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        self.estimates();
    }

    fn estimates(&mut self) {
        if self.used.is_none() {
            self.event(AgentEvent::Estimate(self.estimate()));
        }
    }

    pub(super) fn has_answered(&self) -> bool {
        self.sent > 0
    }

    /// The tokens that were sent in all model calls, including those from a cache: reported numbers
    /// include them too.
    pub(super) fn estimate(&self) -> u64 {
        let awaited = if self.awaits { self.totals.bytes } else { 0 };
        self.sent.saturating_add(awaited) / BYTES_OF_A_TOKEN
    }

    pub(super) fn end_line(&mut self) {
        if self.said.bytes.back().is_some_and(|byte| *byte != b'\n') {
            self.said.push(b"\n");
        }
    }

    pub(super) fn calls(&mut self, tool: &str, arguments: &Value) {
        self.provider = None;
        self.does(&called(tool, arguments));
        if let Some(call) = tool_call(tool, arguments) {
            self.event(AgentEvent::ToolCall(call));
        }
    }

    pub(super) fn turn(&mut self, of_turn: Tokens, cost: Option<u64>) {
        self.event(AgentEvent::Turn {
            new_tokens: of_turn.all.saturating_sub(of_turn.cached),
        });
        let so_far = self.used.unwrap_or_default();
        let costs = [so_far.cost, cost].into_iter().flatten();
        let tokens = so_far.tokens.saturating_add(of_turn.all);
        self.used_in_all(spent(tokens, costs.reduce(u64::saturating_add)));
    }

    pub(super) fn used_in_all(&mut self, used: Spent) {
        self.used = Some(used);
        self.event(AgentEvent::Spent(used));
    }

    pub(super) fn converses(&mut self, event: &Value) {
        let names = ["session_id", "sessionID", "thread_id", "conversation_id"];
        let names = names.into_iter().filter_map(|name| event[name].as_str());
        for name in names.filter(|name| is_name(name)) {
            if self.resumed.take().is_some_and(|resumed| resumed != name) {
                // It began another conversation, whose totals begin at zero.
                self.totals = Totals {
                    bytes: self.read,
                    ..Totals::default()
                };
            }
            if self.conversation.as_deref() != Some(name) {
                self.conversation = Some(name.to_owned());
                self.event(AgentEvent::Conversation(name.to_owned()));
            }
        }
    }

    pub(super) fn event(&mut self, event: AgentEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }
}

/// A tool call on one line: the name of the tool and its arguments that are text.
fn called(tool: &str, arguments: &Value) -> String {
    let texts: Vec<&str> = match arguments {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().filter_map(Value::as_str).collect(),
        Value::Object(members) => members.values().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let words = texts.into_iter().flat_map(str::split_whitespace);
    // No word is shorter than one character.
    let words = iter::once(tool).chain(words).take(MAX_DOING);
    words.collect::<Vec<_>>().join(" ")
}

// The name is later passed on a command line, so it must not look like an option.
fn is_name(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    !text.is_empty() && text.len() <= MAX_NAME && !text.starts_with('-') && text.bytes().all(plain)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// It called a tool other than comail.
    ToolCall(Digest),
    Turn {
        /// Without those from a cache.
        new_tokens: u64,
    },
    Spent(Spent),
    /// The estimated tokens, as long as it has not reported any.
    Estimate(u64),
    Conversation(String),
    /// The provider keeps refusing its login.
    NotLoggedIn,
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

    fn end(&self, most: usize) -> String {
        let from = self.bytes.len().saturating_sub(most);
        let bytes: Vec<u8> = self.bytes.range(from..).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn text(&self) -> String {
        self.end(self.most)
    }
}

pub(in crate::run) fn end_of(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}
