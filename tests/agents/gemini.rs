//! `generateContent` of Gemini.

use serde_json::{Value, json};

use super::model::{Answer, Event, Output, Protocol, Talk, Tool, text_of};

pub const PROTOCOL: Protocol = Protocol {
    read,
    stream,
    whole,
    refusal,
    says_done: false,
};

/// The model that a path such as `/v1beta/models/NAME:generateContent` names.
pub fn model_in(path: &str) -> Option<&str> {
    let (_, name) = path.split_once("/models/")?;
    name.split(':').next()
}

fn read(body: &Value) -> Talk {
    let mut talk = Talk::default();
    for content in body["contents"].as_array().into_iter().flatten() {
        if content["role"] == "user" {
            talk.text.push_str(&text_of(&content["parts"]));
            talk.text.push('\n');
        }
        for part in content["parts"].as_array().into_iter().flatten() {
            let response = &part["functionResponse"]["response"];
            if response.is_object() {
                let text = response["output"].as_str().or(response["error"].as_str());
                let text = text.map_or_else(|| response.to_string(), str::to_owned);
                talk.outputs.push(text);
            }
        }
    }
    let tools = body["tools"].as_array().into_iter().flatten();
    let declared = tools.filter_map(|tool| tool["functionDeclarations"].as_array());
    talk.tools = declared
        .flatten()
        .map(|tool| Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            input: tool["parametersJsonSchema"].clone(),
        })
        .collect();
    talk
}

fn whole(answer: &Answer<'_>) -> Value {
    let part = match &answer.output {
        Output::Text(text) => json!({"text": text}),
        Output::Call { tool, input } => json!({"functionCall": {"name": tool, "args": input}}),
    };
    json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": [part]},
            "finishReason": "STOP",
        }],
        "modelVersion": answer.model,
        "responseId": format!("answer-{}", answer.number),
        "usageMetadata": {
            "promptTokenCount": answer.read,
            "candidatesTokenCount": answer.written,
            "totalTokenCount": answer.read + answer.written,
        },
    })
}

fn stream(answer: &Answer<'_>) -> Vec<Event> {
    vec![(None, whole(answer))]
}

fn refusal(status: u16) -> Value {
    let word = match status {
        401 => "UNAUTHENTICATED",
        429 => "RESOURCE_EXHAUSTED",
        _ => "UNAVAILABLE",
    };
    let message = format!("refused with {status}");
    json!({"error": {"code": status, "message": message, "status": word}})
}
