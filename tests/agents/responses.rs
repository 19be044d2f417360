//! Responses, as `OpenAI` offers them.

use serde_json::{Value, json};

use super::chat;
use super::model::{Answer, Event, Output, Protocol, Talk, Tool, text_of};

pub const PROTOCOL: Protocol = Protocol {
    read,
    stream,
    whole,
    refusal: chat::refusal,
    says_done: false,
};

fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for item in body["input"].as_array().into_iter().flatten() {
        match item["type"].as_str() {
            Some("function_call_output" | "custom_tool_call_output") => {
                talk.outputs.push(text_of(&item["output"]));
            }
            _ if item["role"] == "user" => {
                talk.text.push_str(&text_of(&item["content"]));
                talk.text.push('\n');
            }
            _ => {}
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    talk.tools = tools
        .filter(|tool| tool["type"] == "function")
        .map(|tool| Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            input: tool["parameters"].clone(),
        })
        .collect();
    talk
}

fn item(answer: &Answer<'_>) -> Value {
    match &answer.output {
        Output::Text(text) => json!({
            "type": "message",
            "id": format!("msg_{}", answer.number),
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        Output::Call { tool, input } => json!({
            "type": "function_call",
            "id": format!("fc_{}", answer.number),
            "call_id": format!("call_{}", answer.number),
            "name": tool,
            "arguments": input.to_string(),
            "status": "completed",
        }),
    }
}

fn whole(answer: &Answer<'_>) -> Value {
    json!({
        "id": format!("resp_{}", answer.number),
        "object": "response",
        "status": "completed",
        "model": answer.model,
        "output": [item(answer)],
        "usage": {
            "input_tokens": answer.read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": answer.written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.read + answer.written,
        },
    })
}

fn stream(answer: &Answer<'_>) -> Vec<Event> {
    let response = whole(answer);
    let begun = json!({"id": response["id"], "object": "response", "status": "in_progress"});
    let events = [
        ("response.created", json!({"response": begun})),
        (
            "response.output_item.done",
            json!({"output_index": 0, "item": item(answer)}),
        ),
        ("response.completed", json!({"response": response})),
    ];
    let typed = events.into_iter().map(|(name, mut event)| {
        event["type"] = json!(name);
        (Some(name), event)
    });
    typed.collect()
}
