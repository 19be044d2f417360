//! Gemini CLI's `--output-format stream-json`.

use serde_json::Value;

use crate::run::agent::findings::Findings;
use crate::run::agent::usage::{self, Usage};

pub(super) fn read(event: &Value, findings: &mut Findings) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match event["type"].as_str().unwrap_or_default() {
        "init" => findings.converses(&event["session_id"]),
        "message" if event["role"] != "user" => findings.says_on(&text(&event["content"])),
        "tool_use" => {
            findings.says("");
            findings.calls(&text(&event["tool_name"]), &event["parameters"]);
        }
        "tool_result" => {
            let why = text(&event["error"]["message"]);
            if event["status"] == "error" && why.to_lowercase().contains("denied") {
                findings.is_denied(&why);
            }
        }
        "error" => findings.says(&text(&event["message"])),
        "result" => {
            findings.says("");
            findings.failed |= event["status"] == "error";
            findings.says(&text(&event["error"]["message"]));
            if let Some(tokens) = usage::tokens(&event["stats"]) {
                findings.turn(Usage { tokens, cost: None });
            }
        }
        _ => {}
    }
}
