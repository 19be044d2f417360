//! `--output-format stream-json` of Claude Code, and of those that write as it does.

use serde_json::Value;

use crate::run::agent::transcript::Transcript;
use crate::run::agent::usage::{self, Usage};

const NOT_GRANTED: [&str; 2] = ["haven't granted it", "requires approval"];

const BYTES_OF_A_TOKEN: u64 = 4;

#[derive(Debug, Default)]
pub(super) struct Claude {
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
            "user" => hears(&event["message"], transcript),
            "tool_call" if event["subtype"] == "started" => calls(&event["tool_call"], transcript),
            "result" => ends(event, transcript),
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
        let Some(told) = usage::tokens(&message["usage"]) else {
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

    pub(super) fn end_turn(&mut self, transcript: &mut Transcript) {
        if let Some(turn) = self.turn.take() {
            let guessed = turn.read.saturating_add(turn.bytes / BYTES_OF_A_TOKEN);
            let tokens = turn.told.max(guessed);
            transcript.turn(Usage { tokens, cost: None });
        }
    }
}

fn hears(message: &Value, transcript: &mut Transcript) {
    for part in message["content"].as_array().into_iter().flatten() {
        let text = part["content"].as_str().unwrap_or_default();
        if part["is_error"] == true && NOT_GRANTED.iter().any(|words| text.contains(words)) {
            transcript.is_denied(text);
        }
    }
}

fn calls(call: &Value, transcript: &mut Transcript) {
    for (tool, call) in call.as_object().into_iter().flatten() {
        transcript.calls(tool, call.get("args").unwrap_or(call));
    }
}

fn ends(event: &Value, transcript: &mut Transcript) {
    transcript.says(event["result"].as_str().unwrap_or_default());
    transcript.failed |= event["is_error"] == true;
    let so_far = transcript.used.unwrap_or_default();
    let tokens = usage::tokens(&event["usage"]).unwrap_or(0);
    let cost = usage::cost(event);
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
