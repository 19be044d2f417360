//! Chat completions, as `OpenAI` offers them.

use serde_json::{Value, json};

use super::model::{Answer, Event, Output, Protocol, Talk, Tool, text_of};

pub const PROTOCOL: Protocol = Protocol {
    read,
    stream,
    whole,
    refusal,
    says_done: true,
};

fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for message in body["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("tool") => talk.outputs.push(text_of(&message["content"])),
            Some("user") => {
                talk.text.push_str(&text_of(&message["content"]));
                talk.text.push('\n');
            }
            _ => {}
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    talk.tools = tools
        .map(|tool| Tool {
            name: tool["function"]["name"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            input: tool["function"]["parameters"].clone(),
        })
        .collect();
    talk
}

fn message(answer: &Answer<'_>) -> (Value, &'static str) {
    match &answer.output {
        Output::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Output::Call { tool, input } => {
            let call = json!({
                "index": 0,
                "id": format!("call_{}", answer.number),
                "type": "function",
                "function": {"name": tool, "arguments": input.to_string()},
            });
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            (message, "tool_calls")
        }
    }
}

fn usage(answer: &Answer<'_>) -> Value {
    json!({
        "prompt_tokens": answer.read,
        "completion_tokens": answer.written,
        "total_tokens": answer.read + answer.written,
    })
}

fn whole(answer: &Answer<'_>) -> Value {
    let (message, finish) = message(answer);
    json!({
        "id": format!("chatcmpl-{}", answer.number),
        "object": "chat.completion",
        "created": 1,
        "model": answer.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage(answer),
    })
}

fn stream(answer: &Answer<'_>) -> Vec<Event> {
    let (message, finish) = message(answer);
    let chunk = |choices: Value, usage: Value| {
        json!({
            "id": format!("chatcmpl-{}", answer.number),
            "object": "chat.completion.chunk",
            "created": 1,
            "model": answer.model,
            "choices": choices,
            "usage": usage,
        })
    };
    let chunks = [
        chunk(
            json!([{"index": 0, "delta": message, "finish_reason": null}]),
            Value::Null,
        ),
        chunk(
            json!([{"index": 0, "delta": {}, "finish_reason": finish}]),
            Value::Null,
        ),
        chunk(json!([]), usage(answer)),
    ];
    chunks.into_iter().map(|chunk| (None, chunk)).collect()
}

pub fn refusal(status: u16) -> Value {
    let code = match status {
        401 => "invalid_api_key",
        429 => "rate_limit_exceeded",
        _ => "server_error",
    };
    json!({"error": {"message": format!("refused with {status}"), "type": code, "code": code}})
}
