//! The Messages API of Anthropic.

use serde_json::{Value, json};

use super::model::{Answer, Event, Output, Protocol, Talk, Tool, text_of};

pub const PROTOCOL: Protocol = Protocol {
    read,
    stream,
    whole,
    refusal,
    says_done: false,
};

fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "user" {
            talk.text.push_str(&text_of(&message["content"]));
            talk.text.push('\n');
        }
        for part in message["content"].as_array().into_iter().flatten() {
            if part["type"] == "tool_result" {
                talk.outputs.push(text_of(&part["content"]));
            }
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    talk.tools = tools
        .map(|tool| Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            input: tool["input_schema"].clone(),
        })
        .collect();
    talk
}

fn content(answer: &Answer<'_>) -> Value {
    match &answer.output {
        Output::Text(text) => json!({"type": "text", "text": text}),
        Output::Call { tool, input } => json!({
            "type": "tool_use",
            "id": format!("toolu_{}", answer.number),
            "name": tool,
            "input": input,
        }),
    }
}

fn stop_reason(answer: &Answer<'_>) -> &'static str {
    match answer.output {
        Output::Text(_) => "end_turn",
        Output::Call { .. } => "tool_use",
    }
}

fn whole(answer: &Answer<'_>) -> Value {
    json!({
        "id": format!("msg_{}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [content(answer)],
        "stop_reason": stop_reason(answer),
        "stop_sequence": null,
        "usage": {"input_tokens": answer.read, "output_tokens": answer.written},
    })
}

fn stream(answer: &Answer<'_>) -> Vec<Event> {
    let mut begun = whole(answer);
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut block = content(answer);
    let delta = match &answer.output {
        Output::Text(text) => {
            block["text"] = json!("");
            json!({"type": "text_delta", "text": text})
        }
        Output::Call { input, .. } => {
            block["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": input.to_string()})
        }
    };
    let events = [
        json!({"type": "message_start", "message": begun}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop_reason(answer), "stop_sequence": null},
            "usage": {"output_tokens": answer.written},
        }),
        json!({"type": "message_stop"}),
    ];
    let names = [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ];
    names.into_iter().map(Some).zip(events).collect()
}

fn refusal(status: u16) -> Value {
    let kind = match status {
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": format!("refused with {status}")}})
}
