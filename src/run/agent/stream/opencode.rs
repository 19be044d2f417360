//! `opencode run --format json`.

use serde_json::Value;

use crate::run::agent::transcript::Transcript;
use crate::run::agent::usage::{self, Usage};

pub(super) fn read(event: &Value, transcript: &mut Transcript) {
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
            if let Some(tokens) = usage::tokens(&part["tokens"]) {
                let cost = usage::cost(part);
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
