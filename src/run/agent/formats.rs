//! What the output formats of common agents say: tool calls, usage, refused permissions.
//!
//! Fields are read one by one and leniently: agents change their formats, and a field that is
//! missing or has another type must cost one number, never a run.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::transcript::{Stream, StreamForm, Transcript, Usage};
use crate::world::sandbox::Cost;

#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    guessed: bool,
    pub transcript: Transcript,
}

#[derive(Debug)]
enum Form {
    Plain,
    Claude(Claude),
    Codex(Codex),
    Gemini,
    Opencode,
}

impl Reader {
    pub(super) fn new(stream: Stream) -> Self {
        let form = match stream {
            Stream::Plain => Form::Plain,
            Stream::Events(StreamForm::Claude | StreamForm::Cursor) => {
                Form::Claude(Claude::default())
            }
            Stream::Events(StreamForm::Codex) => Form::Codex(Codex::default()),
            Stream::Events(StreamForm::Gemini) => Form::Gemini,
            Stream::Events(StreamForm::Opencode) => Form::Opencode,
        };
        Self {
            guessed: matches!(form, Form::Plain),
            form,
            transcript: Transcript::new(),
        }
    }

    pub(super) fn line(&mut self, line: &[u8]) {
        let transcript = &mut self.transcript;
        let Some(event) = object_in(line) else {
            let text = String::from_utf8_lossy(line);
            if let (Form::Plain, Some(usage)) = (&self.form, usage_in_words(&text)) {
                transcript.turn(usage);
            }
            return transcript.says(&text);
        };
        if matches!(self.form, Form::Plain)
            && let Some(form) = Form::that_begins_with(&event)
        {
            self.form = form;
        }
        match &mut self.form {
            Form::Plain => read_loose(&event, &String::from_utf8_lossy(line), transcript),
            Form::Claude(claude) => claude.read(&event, transcript),
            Form::Codex(codex) => codex.read(&event, transcript),
            Form::Gemini => read_gemini(&event, transcript),
            Form::Opencode => read_opencode(&event, transcript),
        }
    }

    pub(super) fn is_guessed(&self) -> bool {
        self.guessed
    }

    pub(super) fn end(&mut self) {
        if let Form::Claude(claude) = &mut self.form {
            claude.end_turn(&mut self.transcript);
        }
    }
}

impl Form {
    fn that_begins_with(event: &Value) -> Option<Self> {
        let says = |name: &str| event[name].is_string();
        Some(match event["type"].as_str()? {
            "system" if says("subtype") && says("session_id") => Self::Claude(Claude::default()),
            "assistant" if event["message"]["content"].is_array() => {
                Self::Claude(Claude::default())
            }
            "thread.started" if says("thread_id") => Self::Codex(Codex::default()),
            "init" if says("session_id") && says("model") => Self::Gemini,
            "step_start" if says("sessionID") => Self::Opencode,
            _ => return None,
        })
    }
}

fn object_in(line: &[u8]) -> Option<Value> {
    let line = line.trim_ascii();
    if line.first() != Some(&b'{') {
        return None;
    }
    serde_json::from_slice(line).ok()
}

const NOT_GRANTED: [&str; 2] = ["haven't granted it", "requires approval"];

const BYTES_OF_A_TOKEN: u64 = 4;

#[derive(Debug, Default)]
struct Claude {
    turn: Option<Turn>,
}

#[derive(Debug)]
struct Turn {
    id: Option<String>,
    told: u64,
    read: u64,
    // `output_tokens` of a partial message is the count from before its content was written.
    bytes: u64,
}

impl Claude {
    pub(super) fn read(&mut self, event: &Value, transcript: &mut Transcript) {
        transcript.converses(&event["session_id"]);
        let kind = event["type"].as_str().unwrap_or_default();
        if kind != "assistant" {
            self.end_turn(transcript);
        }
        match kind {
            "assistant" => self.answers(&event["message"], transcript),
            "user" => read_tool_result(&event["message"], transcript),
            "tool_call" if event["subtype"] == "started" => {
                read_cursor_call(&event["tool_call"], transcript);
            }
            "result" => read_result(event, transcript),
            _ => {}
        }
    }

    // One answer arrives in several messages that share an id and repeat the same usage numbers.
    fn answers(&mut self, message: &Value, transcript: &mut Transcript) {
        let id = message["id"].as_str().map(str::to_owned);
        let goes_on = matches!(&self.turn, Some(turn) if id.is_some() && turn.id == id);
        if !goes_on {
            self.end_turn(transcript);
        }
        for part in message["content"].as_array().into_iter().flatten() {
            match part["type"].as_str() {
                Some("text") => transcript.says(part["text"].as_str().unwrap_or_default()),
                Some("tool_use") => {
                    let tool = part["name"].as_str().unwrap_or_default();
                    transcript.calls(tool, &part["input"]);
                }
                _ => {}
            }
        }
        let Some(told) = tokens_in(&message["usage"]) else {
            return;
        };
        let written = message["usage"]["output_tokens"].as_u64().unwrap_or(0);
        let turn = self.turn.get_or_insert(Turn {
            id,
            told: 0,
            read: 0,
            bytes: 0,
        });
        turn.told = turn.told.max(told);
        turn.read = turn.read.max(told.saturating_sub(written));
        turn.bytes += message["content"].to_string().len() as u64;
    }

    fn end_turn(&mut self, transcript: &mut Transcript) {
        if let Some(turn) = self.turn.take() {
            let guessed = turn.read.saturating_add(turn.bytes / BYTES_OF_A_TOKEN);
            let tokens = turn.told.max(guessed);
            transcript.turn(Usage { tokens, cost: None });
        }
    }
}

fn read_tool_result(message: &Value, transcript: &mut Transcript) {
    for part in message["content"].as_array().into_iter().flatten() {
        let text = part["content"].as_str().unwrap_or_default();
        if part["is_error"] == true && NOT_GRANTED.iter().any(|words| text.contains(words)) {
            transcript.is_denied(text);
        }
    }
}

fn read_cursor_call(call: &Value, transcript: &mut Transcript) {
    for (tool, call) in call.as_object().into_iter().flatten() {
        transcript.calls(tool, call.get("args").unwrap_or(call));
    }
}

fn read_result(event: &Value, transcript: &mut Transcript) {
    transcript.says(event["result"].as_str().unwrap_or_default());
    transcript.failed |= event["is_error"] == true;
    let so_far = transcript.used.unwrap_or_default();
    let tokens = tokens_in(&event["usage"]).unwrap_or(0);
    let cost = cost_in(event);
    if tokens > 0 || cost.is_some() {
        transcript.used_in_all(Usage {
            tokens: tokens.max(so_far.tokens),
            cost: cost.max(so_far.cost),
        });
    }
    for denied in event["permission_denials"].as_array().into_iter().flatten() {
        transcript.is_denied(denied["tool_name"].as_str().unwrap_or("a tool"));
    }
}

// An item is reported when it starts and when it completes; it is one call.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
struct Codex {
    begun: VecDeque<String>,
}

impl Codex {
    pub(super) fn read(&mut self, event: &Value, transcript: &mut Transcript) {
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => transcript.converses(&event["thread_id"]),
            "item.started" | "item.completed" => self.item(&event["item"], event, transcript),
            "turn.completed" => {
                if let Some(tokens) = tokens_in(&event["usage"]) {
                    transcript.turn(Usage { tokens, cost: None });
                }
            }
            "turn.failed" => read_failure(&event["error"], transcript),
            "error" => read_failure(event, transcript),
            _ => {}
        }
    }

    fn item(&mut self, item: &Value, event: &Value, transcript: &mut Transcript) {
        let kind = item["type"].as_str().or(item["item_type"].as_str());
        let ended = event["type"] == "item.completed";
        let call = match kind.unwrap_or_default() {
            "agent_message" | "assistant_message" if ended => {
                return transcript.says(item["text"].as_str().unwrap_or_default());
            }
            "command_execution" => ("command", json!(item["command"])),
            "file_change" => ("file_change", json!(item["changes"])),
            "web_search" => ("web_search", json!(item["query"])),
            "mcp_tool_call" => {
                let tool = item["tool"].as_str().unwrap_or("mcp");
                (tool, json!([item["server"], item["arguments"]]))
            }
            _ => return,
        };
        if ended && item["status"] == "declined" {
            transcript.is_denied(call.0);
        }
        // What one wants to change may be known at the end alone.
        let waits = call.0 == "file_change" && !ended;
        if !waits && self.is_new(item["id"].as_str().unwrap_or_default()) {
            transcript.calls(call.0, &call.1);
        }
    }

    fn is_new(&mut self, id: &str) -> bool {
        let known = !id.is_empty() && self.begun.iter().any(|begun| begun == id);
        if !known {
            self.begun.truncate(REMEMBERED - 1);
            self.begun.push_front(id.to_owned());
        }
        !known
    }
}

fn read_failure(error: &Value, transcript: &mut Transcript) {
    transcript.failed = true;
    transcript.says(error["message"].as_str().unwrap_or_default());
}

fn read_gemini(event: &Value, transcript: &mut Transcript) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["type"].as_str().unwrap_or_default() {
        "init" => transcript.converses(&event["session_id"]),
        "message" if event["role"] != "user" => transcript.says_on(&text(&event["content"])),
        "tool_use" => {
            transcript.says("");
            transcript.calls(&text(&event["tool_name"]), &event["parameters"]);
        }
        "tool_result" => {
            let why = text(&event["error"]["message"]);
            if event["status"] == "error" && why.to_lowercase().contains("denied") {
                transcript.is_denied(&why);
            }
        }
        "error" => transcript.says(&text(&event["message"])),
        "result" => {
            transcript.says("");
            transcript.failed |= event["status"] == "error";
            transcript.says(&text(&event["error"]["message"]));
            if let Some(tokens) = tokens_in(&event["stats"]) {
                transcript.turn(Usage { tokens, cost: None });
            }
        }
        _ => {}
    }
}

fn read_opencode(event: &Value, transcript: &mut Transcript) {
    transcript.converses(&event["sessionID"]);
    let part = &event["part"];
    match event["type"].as_str().unwrap_or_default() {
        "text" => transcript.says(part["text"].as_str().unwrap_or_default()),
        "tool_use" => {
            let tool = part["tool"].as_str().unwrap_or_default();
            transcript.calls(tool, &part["state"]["input"]);
            let why = part["state"]["error"].as_str().unwrap_or_default();
            if why.contains("rejected permission") {
                transcript.is_denied(why);
            }
        }
        "step_finish" => {
            if let Some(tokens) = tokens_in(&part["tokens"]) {
                let cost = cost_in(part);
                transcript.turn(Usage { tokens, cost });
            }
        }
        "error" => {
            transcript.failed = true;
            let error = &event["error"];
            let why = error["data"]["message"].as_str().or(error["name"].as_str());
            transcript.says(why.unwrap_or_default());
        }
        _ => {}
    }
}

const ABOUT: [&str; 14] = [
    "type",
    "usage",
    "cost",
    "cost_usd",
    "costUSD",
    "total_cost_usd",
    "model",
    "session_id",
    "conversation_id",
    "thread_id",
    "timestamp",
    "id",
    "role",
    "duration_ms",
];

const ARGUMENTS: [&str; 5] = ["input", "arguments", "args", "parameters", "params"];

const NAMES: [&str; 4] = ["name", "tool", "tool_name", "function"];

const TEXTS: [&str; 5] = ["text", "content", "message", "result", "response"];

fn read_loose(event: &Value, line: &str, transcript: &mut Transcript) {
    let kind = event["type"].as_str().unwrap_or_default();
    for name in ["session_id", "conversation_id", "thread_id"] {
        transcript.converses(&event[name]);
    }
    if let Some(usage) = used_in(event) {
        transcript.turn(usage);
    }
    if let Some((tool, arguments)) = call_in(kind, event) {
        return transcript.calls(tool, arguments);
    }
    if only_tells(event) {
        return;
    }
    let text = TEXTS.iter().find_map(|name| event[*name].as_str());
    match text {
        Some(text) if tells(kind) => transcript.says(text),
        _ => transcript.says(line),
    }
    transcript.failed |= tells(kind) && event["is_error"] == true;
}

pub(super) fn used_in(told: &Value) -> Option<Usage> {
    let tokens = tokens_in(&told["usage"]).or_else(|| tokens_in(&told["stats"]));
    let by_model = || {
        let models = told["stats"]["models"].as_object()?;
        let each = models
            .values()
            .filter_map(|model| tokens_in(&model["tokens"]));
        Some(each.fold(0, u64::saturating_add))
    };
    let tokens = tokens.or_else(by_model)?;
    Some(Usage {
        tokens,
        cost: cost_in(told).or_else(|| cost_in(&told["usage"])),
    })
}

fn call_in<'a>(kind: &str, event: &'a Value) -> Option<(&'a str, &'a Value)> {
    if !kind.contains("tool") || kind.contains("result") {
        return None;
    }
    let tool = NAMES.iter().find_map(|name| event[*name].as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|name| event.get(*name))?;
    Some((tool, arguments))
}

fn only_tells(event: &Value) -> bool {
    let told = event.as_object().is_some_and(|members| {
        members.contains_key("usage") || members.contains_key("session_id") || tells_cost(members)
    });
    let mut names = event
        .as_object()
        .into_iter()
        .flat_map(|members| members.keys());
    told && names.all(|name| ABOUT.contains(&name.as_str()))
}

fn tells_cost(members: &serde_json::Map<String, Value>) -> bool {
    members.contains_key("total_cost_usd")
}

fn tells(kind: &str) -> bool {
    matches!(
        kind,
        "assistant" | "message" | "result" | "text" | "error" | "agent_message"
    )
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

fn tokens_in(told: &Value) -> Option<u64> {
    let (read, written) = (first_number(told, &INPUT), first_number(told, &OUTPUT));
    if read.is_none() && written.is_none() {
        return first_number(told, &TOTAL);
    }
    let cached = first_number(told, &CACHED).unwrap_or(0);
    let new = read.unwrap_or(0).saturating_sub(cached);
    let beside = [
        first_number(told, &KEPT),
        first_number(told, &THOUGHT),
        written,
    ];
    let beside = beside.into_iter().flatten();
    Some(beside.fold(new, u64::saturating_add))
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

// Aider prints `Tokens: 4.2k sent, 1.1k received. Cost: $0.03 message, $0.05 session.`
fn usage_in_words(line: &str) -> Option<Usage> {
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
mod tests;
