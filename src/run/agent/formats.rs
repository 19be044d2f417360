//! What the output of common agents says: tool calls, usage, refused permissions.
//!
//! The formats differ in the types of their events, so one reader knows them all. Fields are
//! read one by one and leniently: agents change their formats, and a field that is missing or has
//! another type must cost one number, never a run.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::iter;

use serde_json::Value;

use super::provider::ProviderError;
use crate::base::Digest;
use crate::base::text::truncate;
use crate::run::detect::tool_call;
use crate::session::Spent;
use crate::world::sandbox::Cost;

// What Claude Code answers to a tool call that needs a permission.
const NOT_GRANTED: [&str; 2] = ["haven't granted it", "requires approval"];

/// What people count as a token is about four bytes.
pub(in crate::run) const BYTES_OF_A_TOKEN: u64 = 4;

// How many items of Codex are remembered.
const MAX_ITEMS: usize = 64;

#[derive(Debug)]
pub(super) struct Reader {
    /// Whether the events are of a format that is known here.
    known: bool,
    guessed: bool,
    turn: Option<Turn>,
    items: VecDeque<String>,
    pub transcript: Transcript,
}

/// One answer of Claude Code. It arrives in several messages, which repeat the same usage.
#[derive(Debug, Default)]
struct Turn {
    id: Option<String>,
    told: u64,
    read: u64,
    // `output_tokens` of a partial message is the count from before its content was written.
    bytes: u64,
}

impl Reader {
    /// `read` is the length of what the agent was started with.
    pub(super) fn new(stream: Stream, read: u64, resumed: Option<(String, Totals)>) -> Self {
        Self {
            known: stream == Stream::Events,
            guessed: stream != Stream::Events,
            turn: None,
            items: VecDeque::new(),
            transcript: Transcript::new(read, resumed),
        }
    }

    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        let Some(event) = object_in(line) else {
            return self.transcript.says(&String::from_utf8_lossy(line));
        };
        self.known |= begins_known_format(&event);
        if self.known {
            self.event(&event, line.len() as u64);
        } else {
            read_loose(&event, &String::from_utf8_lossy(line), &mut self.transcript);
        }
    }

    fn event(&mut self, event: &Value, bytes: u64) {
        let kind = event["type"].as_str().unwrap_or_default();
        if kind != "assistant" {
            self.end();
        }
        let transcript = &mut self.transcript;
        transcript.converses(event);
        let part = &event["part"];
        let status_is = |word: &str| event["status"] == word;
        let is_error = event["is_error"] == true || status_is("error");
        match kind {
            // Claude Code, and agents that print the same: Amp, Cursor, Qwen
            "assistant" => {
                self.transcript.speaks(bytes);
                self.answers(event);
            }
            "system" if event["subtype"] == "api_retry" => {
                transcript.refuses(&event["error_status"], &event["error"]);
                // The second refusal in a row came after the agent had renewed its login.
                if transcript.provider == Some(ProviderError::NotLoggedIn)
                    && event["attempt"].as_u64() >= Some(2)
                {
                    transcript.complains("the provider of the model refuses the login");
                    transcript.event(AgentEvent::NotLoggedIn);
                }
            }
            "user" => {
                transcript.hears(bytes);
                for part in event["message"]["content"].as_array().into_iter().flatten() {
                    let text = part["content"].as_str().unwrap_or_default();
                    let is_denied = NOT_GRANTED.iter().any(|words| text.contains(words));
                    transcript.denied |= part["is_error"] == true && is_denied;
                }
            }
            "tool_call" if event["subtype"] == "started" => {
                transcript.speaks(bytes);
                for (tool, call) in event["tool_call"].as_object().into_iter().flatten() {
                    transcript.calls(tool, call.get("args").unwrap_or(call));
                }
            }
            "tool_call" if event["subtype"] == "completed" => transcript.hears(bytes),
            // Claude Code and Gemini
            "result" => {
                transcript.end_line();
                let texts = [&event["result"], &event["error"]["message"]];
                for text in texts.into_iter().filter_map(Value::as_str) {
                    // Claude Code tells the status apart from the text.
                    if is_error && event.get("api_error_status").is_some() {
                        transcript.complains(text);
                    } else if is_error {
                        transcript.fails(text);
                    } else {
                        transcript.says(text);
                    }
                }
                transcript.refuses(&event["api_error_status"], &Value::Null);
                if let Some(tokens) = tokens_in(&event["stats"]) {
                    transcript.turn(spent(tokens, None));
                }
                read_totals(event, transcript);
                let denied = event["permission_denials"].as_array();
                transcript.denied |= denied.is_some_and(|denied| !denied.is_empty());
            }
            // Gemini
            "message" if event["role"] != "user" => {
                let text = event["content"].as_str().unwrap_or_default();
                transcript.speaks(text.len() as u64);
                transcript.says_on(text);
            }
            "tool_result" => {
                transcript.hears(bytes);
                let why = event["error"]["message"].as_str().unwrap_or_default();
                transcript.denied |= status_is("error") && why.to_lowercase().contains("denied");
            }
            // Gemini and OpenCode
            "tool_use" => {
                transcript.end_line();
                transcript.speaks(bytes);
                // OpenCode reports a call once it has ended.
                if !part["state"]["status"].is_null() {
                    transcript.hears(0);
                }
                let tool = event["tool_name"].as_str().or(part["tool"].as_str());
                let arguments = event.get("parameters").unwrap_or(&part["state"]["input"]);
                transcript.calls(tool.unwrap_or_default(), arguments);
                let why = part["state"]["error"].as_str().unwrap_or_default();
                transcript.denied |= why.contains("rejected permission");
            }
            // OpenCode
            "text" => {
                transcript.speaks(bytes);
                transcript.says(part["text"].as_str().unwrap_or_default());
            }
            "step_finish" => {
                if let Some(tokens) = tokens_in(&part["tokens"]) {
                    transcript.turn(spent(tokens, cost_in(part)));
                }
            }
            // Codex
            "item.started" | "item.completed" => self.item(&event["item"], kind, bytes),
            "turn.completed" => {
                if let Some(tokens) = tokens_in(&event["usage"]) {
                    let new = new_of(tokens, transcript.totals.tokens);
                    transcript.totals.tokens = tokens;
                    transcript.turn(spent(new, None));
                }
            }
            "turn.failed" | "error" => {
                let error = &event["error"];
                let texts = [
                    &error["message"],
                    &error["data"]["message"],
                    &error["name"],
                    &event["message"],
                ];
                let text = texts.into_iter().find_map(Value::as_str);
                transcript.fails(text.unwrap_or_default());
                transcript.refuses(&error["data"]["statusCode"], &Value::Null);
            }
            _ => {}
        }
    }

    fn answers(&mut self, event: &Value) {
        let message = &event["message"];
        let is_error = event["is_api_error_message"] == true;
        if is_error {
            let (status, error) = (&event["api_error_status"], &event["error"]);
            self.transcript.refuses(status, error);
        } else {
            self.transcript.provider = None;
        }
        let id = message["id"].as_str().map(str::to_owned);
        let goes_on = matches!(&self.turn, Some(turn) if id.is_some() && turn.id == id);
        if !goes_on {
            self.end();
        }
        for part in message["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text") => {
                    let text = part["text"].as_str().unwrap_or_default();
                    // The result repeats the text of an error.
                    if !is_error {
                        self.transcript.says(text);
                    }
                }
                Some("tool_use") => {
                    let tool = part["name"].as_str().unwrap_or_default();
                    self.transcript.calls(tool, &part["input"]);
                }
                _ => {}
            }
        }
        let Some(told) = tokens_in(&message["usage"]) else {
            return;
        };
        let written = message["usage"]["output_tokens"].as_u64().unwrap_or(0);
        let turn = self.turn.get_or_insert_default();
        turn.id = id;
        turn.told = turn.told.max(told);
        turn.read = turn.read.max(told.saturating_sub(written));
        turn.bytes += message["content"].to_string().len() as u64;
    }

    pub(super) fn end(&mut self) {
        if let Some(turn) = self.turn.take() {
            let guessed = turn.read.saturating_add(turn.bytes / BYTES_OF_A_TOKEN);
            let tokens = turn.told.max(guessed);
            self.transcript.turn(spent(tokens, None));
        }
    }

    // An item of Codex is reported when it starts and when it completes; it is one call.
    fn item(&mut self, item: &Value, event: &str, bytes: u64) {
        let kind = item["type"].as_str().or(item["item_type"].as_str());
        let ended = event == "item.completed";
        let (tool, arguments) = match kind.unwrap_or_default() {
            "agent_message" | "assistant_message" if ended => {
                let text = item["text"].as_str().unwrap_or_default();
                self.transcript.speaks(bytes);
                return self.transcript.says(text);
            }
            "reasoning" if ended => return self.transcript.speaks(bytes),
            "command_execution" => ("command".to_owned(), &item["command"]),
            "file_change" => ("file_change".to_owned(), &item["changes"]),
            "web_search" => ("web_search".to_owned(), &item["query"]),
            "mcp_tool_call" => {
                let name = |of: &str| item[of].as_str().unwrap_or_default().to_owned();
                (name("server") + "_" + &name("tool"), &item["arguments"])
            }
            _ => return,
        };
        self.transcript.denied |= ended && item["status"] == "declined";
        let id = item["id"].as_str().unwrap_or_default();
        let is_new = id.is_empty() || !self.items.iter().any(|known| known == id);
        // The changes of a file may be known only at the end.
        let waits = tool == "file_change" && !ended;
        if !waits && is_new {
            self.items.truncate(MAX_ITEMS - 1);
            self.items.push_front(id.to_owned());
            self.transcript.speaks(0);
            self.transcript.calls(&tool, arguments);
        }
        if ended {
            self.transcript.hears(bytes);
        }
    }
}

fn begins_known_format(event: &Value) -> bool {
    let says = |name: &str| event[name].is_string();
    match event["type"].as_str() {
        Some("system") => says("subtype") && says("session_id"),
        Some("assistant") => event["message"]["content"].is_array(),
        Some("thread.started") => says("thread_id"),
        Some("init") => says("session_id") && says("model"),
        Some("step_start") => says("sessionID"),
        _ => false,
    }
}

fn object_in(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(line).ok()
}

// The totals may leave out what was interrupted, so they never lower the sum.
fn read_totals(event: &Value, transcript: &mut Transcript) {
    let so_far = transcript.used.unwrap_or_default();
    let tokens = tokens_in(&event["usage"]).unwrap_or(0);
    let cost = cost_in(event).map(|cost| {
        let new = new_of(cost, transcript.totals.cost);
        transcript.totals.cost = cost;
        so_far.cost.unwrap_or(0).saturating_add(new)
    });
    if tokens > 0 || cost.is_some() {
        let tokens = tokens.max(so_far.tokens);
        transcript.used_in_all(spent(tokens, cost.max(so_far.cost)));
    }
}

/// What was added to a total since it was last read. A total that is lower than before began again.
fn new_of(total: u64, before: u64) -> u64 {
    total.checked_sub(before).unwrap_or(total)
}

/// What an agent reported for a whole conversation: Claude Code the cost, Codex the tokens. After a
/// resume, they include what earlier starts used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// In billionths of a US dollar.
    cost: u64,
    tokens: u64,
    /// The length of the conversation, which each call of the model is sent again.
    bytes: u64,
}

const ARGUMENTS: [&str; 5] = ["input", "arguments", "args", "parameters", "params"];

const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];

const TEXTS: [&str; 5] = ["text", "content", "message", "result", "response"];

const KINDS_WITH_TEXT: [&str; 6] = [
    "assistant",
    "message",
    "result",
    "text",
    "error",
    "agent_message",
];

fn read_loose(event: &Value, line: &str, transcript: &mut Transcript) {
    let kind = event["type"].as_str().unwrap_or_default();
    transcript.converses(event);
    let used = used_in(event);
    if let Some(spent) = used {
        transcript.turn(spent);
    }
    if let Some((tool, arguments)) = call_in(kind, event) {
        return transcript.calls(tool, arguments);
    }
    let text = TEXTS.iter().find_map(|name| event[*name].as_str());
    match text.filter(|_| KINDS_WITH_TEXT.contains(&kind)) {
        Some(text) if kind == "error" || event["is_error"] == true => transcript.fails(text),
        Some(text) => transcript.says(text),
        // A line about usage must not be taken for the answer, which is the last object.
        None if used.is_some() => {}
        None => transcript.says(line),
    }
}

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

fn call_in<'a>(kind: &str, event: &'a Value) -> Option<(&'a str, &'a Value)> {
    if !kind.contains("tool") || kind.contains("result") {
        return None;
    }
    let tool = NAMES.iter().find_map(|name| event[*name].as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|name| event.get(*name))?;
    Some((tool, arguments))
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

fn tokens_in(told: &Value) -> Option<u64> {
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

fn cost_in(told: &Value) -> Option<u64> {
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

const SAID_BYTES: usize = 1 << 20;

const COMPLAINT_BYTES: usize = 8 << 10;

const MAX_EVENTS: usize = 10_000;

const MAX_NAME: usize = 300;

const MAX_DOING: usize = 200;

#[derive(Debug)]
pub(super) struct Transcript {
    pub said: Tail,
    /// Errors, in which no answer is searched.
    pub complaints: Tail,
    pub used: Option<Spent>,
    pub totals: Totals,
    pub conversation: Option<String>,
    pub denied: bool,
    pub provider: Option<ProviderError>,
    /// The length of what the agent was started with.
    read: u64,
    /// What the calls of the model that it has answered were sent, in bytes.
    sent: u64,
    /// Whether the model has yet to answer what the conversation ends with.
    awaits: bool,
    /// The conversation that the agent was asked to continue.
    resumed: Option<String>,
    events: Vec<AgentEvent>,
    /// The last line that it said or the tool that it called since, until it is taken.
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
        let mut lines = text.lines().rev().map(str::trim);
        if let Some(line) = lines.find(|line| !line.is_empty()) {
            self.doing = Some(truncate(line, MAX_DOING).into_owned());
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
    fn fails(&mut self, text: &str) {
        self.provider = ProviderError::of_text(text);
        self.complains(text);
    }

    /// Reads why the provider refused the agent: the HTTP status, or Claude Code's word for it.
    fn refuses(&mut self, status: &Value, error: &Value) {
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

    /// The model answers, after it was sent the whole conversation.
    fn speaks(&mut self, bytes: u64) {
        if std::mem::take(&mut self.awaits) {
            self.sent = self.sent.saturating_add(self.totals.bytes);
        }
        self.totals.bytes = self.totals.bytes.saturating_add(bytes);
        self.estimates();
    }

    /// A tool answers the model.
    fn hears(&mut self, bytes: u64) {
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

    /// How many tokens the calls of the model were sent, if all of them were billed in full.
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

    fn event(&mut self, event: AgentEvent) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }
}

/// A tool call on one line: the tool and the texts among its arguments.
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

// The name is passed on a command line later, so it must not look like an option.
fn is_name(text: &str) -> bool {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    !text.is_empty() && text.len() <= MAX_NAME && !text.starts_with('-') && text.bytes().all(plain)
}

/// What the agent reports to have used.
pub(super) fn spent(tokens: u64, cost: Option<u64>) -> Spent {
    let told = true;
    Spent { tokens, cost, told }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEvent {
    /// It called a tool other than comail.
    ToolCall(Digest),
    Turn {
        new_tokens: u64,
    },
    Spent(Spent),
    /// The tokens that it must have used, where it has not reported any so far.
    Estimate(u64),
    Conversation(String),
    /// The provider keeps refusing its login.
    NotLoggedIn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Text, in which a line may be a JSON event. The first event decides which known format it
    /// is; otherwise common field names such as `tool` and `usage` are read.
    Plain,
    /// The same, printed by a known agent.
    Text,
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

    fn end(&self, most: usize) -> String {
        let from = self.bytes.len().saturating_sub(most);
        let bytes: Vec<u8> = self.bytes.range(from..).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(super) fn text(&self) -> String {
        let (front, back) = self.bytes.as_slices();
        let mut bytes = front.to_vec();
        bytes.extend_from_slice(back);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

pub(in crate::run) fn end_of(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}
