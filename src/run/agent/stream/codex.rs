//! `codex exec --json`.

use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::run::agent::transcript::Transcript;
use crate::run::agent::usage::{self, Usage};

// An item is reported when it starts and when it completes; it is one call.
const REMEMBERED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Codex {
    begun: VecDeque<String>,
}

impl Codex {
    pub(super) fn read(&mut self, event: &Value, transcript: &mut Transcript) {
        match event["type"].as_str().unwrap_or_default() {
            "thread.started" => transcript.converses(&event["thread_id"]),
            "item.started" | "item.completed" => self.item(&event["item"], event, transcript),
            "turn.completed" => {
                if let Some(tokens) = usage::tokens(&event["usage"]) {
                    transcript.turn(Usage { tokens, cost: None });
                }
            }
            "turn.failed" => fails(&event["error"], transcript),
            "error" => fails(event, transcript),
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

fn fails(error: &Value, transcript: &mut Transcript) {
    transcript.failed = true;
    transcript.says(error["message"].as_str().unwrap_or_default());
}
