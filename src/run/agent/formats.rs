//! Reads the output of common agents: tool calls, usage, refused permissions.
//!
//! The formats have different event types, so one reader handles them all. Fields are read one by one
//! and leniently: agents change their formats, and a missing or mistyped field may cost one number,
//! but never a run.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use serde_json::Value;

use super::provider::ProviderError;
use super::transcript::{AgentEvent, BYTES_OF_A_TOKEN, Totals, Transcript};
use super::usage::{Tokens, cost_in, spent, tokens_in, used_in};

// What Claude Code answers to a tool call that needs a permission.
const NOT_GRANTED: [&str; 2] = ["haven't granted it", "requires approval"];

// How many items of Codex are remembered.
const MAX_ITEMS: usize = 64;

#[derive(Debug)]
pub(super) struct Reader {
    /// Whether the events have a known format.
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
    cached: u64,
    read: u64,
    // `output_tokens` of a partial message is the count from before its content was written.
    bytes: u64,
}

impl Reader {
    /// `read` is the length of the agent's command line and input.
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
                // Before its second attempt, the agent has renewed its login.
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
            "result" => read_result(event, is_error, transcript),
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
                    transcript.turn(tokens, cost_in(part));
                }
            }
            // Codex
            "item.started" | "item.completed" => self.item(&event["item"], kind, bytes),
            "turn.completed" => {
                if let Some(tokens) = tokens_in(&event["usage"]) {
                    let all = new_of(tokens.all, transcript.totals.tokens);
                    transcript.totals.tokens = tokens.all;
                    let cached = tokens.cached.min(all);
                    transcript.turn(Tokens { all, cached }, None);
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
        turn.told = turn.told.max(told.all);
        turn.cached = turn.cached.max(told.cached);
        turn.read = turn.read.max(told.all.saturating_sub(written));
        turn.bytes += message["content"].to_string().len() as u64;
    }

    pub(super) fn end(&mut self) {
        if let Some(turn) = self.turn.take() {
            let guessed = turn.read.saturating_add(turn.bytes / BYTES_OF_A_TOKEN);
            let all = turn.told.max(guessed);
            let cached = turn.cached;
            self.transcript.turn(Tokens { all, cached }, None);
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
        // The changes of a file may be complete only at the end.
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

fn read_result(event: &Value, is_error: bool, transcript: &mut Transcript) {
    transcript.end_line();
    let texts = [&event["result"], &event["error"]["message"]];
    for text in texts.into_iter().filter_map(Value::as_str) {
        // Claude Code reports the status separately from the text.
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
        transcript.turn(tokens, None);
    }
    read_totals(event, transcript);
    let denied = event["permission_denials"].as_array();
    transcript.denied |= denied.is_some_and(|denied| !denied.is_empty());
}

// The totals may leave out what was interrupted, so they never lower the sum.
fn read_totals(event: &Value, transcript: &mut Transcript) {
    let so_far = transcript.used.unwrap_or_default();
    let tokens = tokens_in(&event["usage"]).map_or(0, |tokens| tokens.all);
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

/// The increase of a total since the last reading. A total that is lower than before started over.
fn new_of(total: u64, before: u64) -> u64 {
    total.checked_sub(before).unwrap_or(total)
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
    if let Some((tokens, cost)) = used {
        transcript.turn(tokens, cost);
    }
    if let Some((tool, arguments)) = call_in(kind, event) {
        return transcript.calls(tool, arguments);
    }
    let text = TEXTS.iter().find_map(|name| event[*name].as_str());
    match text.filter(|_| KINDS_WITH_TEXT.contains(&kind)) {
        Some(text) if kind == "error" || event["is_error"] == true => transcript.fails(text),
        Some(text) => transcript.says(text),
        // The last object is the answer, so a line about usage must not be kept.
        None if used.is_some() => {}
        None => transcript.says(line),
    }
}

fn call_in<'a>(kind: &str, event: &'a Value) -> Option<(&'a str, &'a Value)> {
    if !kind.contains("tool") || kind.contains("result") {
        return None;
    }
    let tool = NAMES.iter().find_map(|name| event[*name].as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|name| event.get(*name))?;
    Some((tool, arguments))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Text, in which a line may be a JSON event. The first event decides which known format it
    /// is; otherwise common field names such as `tool` and `usage` are read.
    Plain,
    /// The same from a known agent.
    Text,
    /// Events of a known format.
    Events,
}
