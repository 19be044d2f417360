//! Gemini CLI's `--output-format stream-json`.

use serde_json::Value;

use crate::run::agent::transcript::Transcript;
use crate::run::agent::usage::{self, Usage};

pub(super) fn read(event: &Value, transcript: &mut Transcript) {
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
            if let Some(tokens) = usage::tokens(&event["stats"]) {
                transcript.turn(Usage { tokens, cost: None });
            }
        }
        _ => {}
    }
}
