//! What goes over the wire: the request's body, and what of the answer's is taken.

use serde::{Deserialize, Serialize};

use super::{ChatOrder, Usage};

/// A request's body.
#[derive(Debug, Serialize)]
struct Request<'a> {
    model: &'a str,
    messages: [Message<'a>; 2],
    temperature: u8,
    stream: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

/// An answer's body, of which all else is passed over.
#[derive(Debug, Deserialize)]
struct Answer {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: Words,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Words {
    #[serde(default)]
    content: Option<String>,
}

/// The body of the request.
pub(super) fn request(order: &ChatOrder) -> Result<Vec<u8>, serde_json::Error> {
    let message = |role, content| Message { role, content };
    serde_json::to_vec(&Request {
        model: &order.model,
        messages: [
            message("system", &order.system),
            message("user", &order.prompt),
        ],
        temperature: 0,
        stream: false,
    })
}

/// What the model said by this answer, and what it took; else why it said nothing.
pub(super) fn read(body: &[u8]) -> Result<(String, Usage), &'static str> {
    let answer: Answer =
        serde_json::from_slice(body).map_err(|_| "its answer is not one of the chat protocol")?;
    let first = answer.choices.into_iter().next();
    let choice = first.ok_or("its answer has no choice")?;
    match choice.finish_reason.as_deref() {
        Some("length") => return Err("its answer was cut off at its own limit of tokens"),
        Some("content_filter") => return Err("its answer was held back by a filter"),
        _ => {}
    }
    let text = choice
        .message
        .content
        .filter(|text| !text.trim().is_empty());
    let usage = answer.usage.as_ref().map(Usage::told).unwrap_or_default();
    Ok((text.ok_or("its answer is empty")?, usage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::sandbox::Cost;

    fn answer(rest: &str) -> Result<(String, Usage), &'static str> {
        read(format!(r#"{{"id":"x","choices":[{{"index":0,{rest}}}]}}"#).as_bytes())
    }

    #[test]
    fn takes_the_words_and_what_they_took() {
        let body = br#"{"choices":[{"message":{"role":"assistant","content":" {} "},
            "finish_reason":"stop"}],
            "usage":{"prompt_tokens":7,"completion_tokens":2,"cost":0.25,"more":[1]}}"#;
        let usage = Usage {
            input_tokens: Some(7),
            output_tokens: Some(2),
            cost: Cost::of(0.25),
        };
        assert_eq!(read(body), Ok((" {} ".to_owned(), usage)));
    }

    #[test]
    fn what_it_took_may_be_left_out_or_be_nonsense() {
        let words = r#""message":{"content":"a"}"#;
        assert_eq!(answer(words), Ok(("a".to_owned(), Usage::default())));
        let body = br#"{"choices":[{"message":{"content":"a"}}],
            "usage":{"prompt_tokens":-1,"completion_tokens":"2","cost":"free"}}"#;
        assert_eq!(read(body), Ok(("a".to_owned(), Usage::default())));
        let body = br#"{"choices":[{"message":{"content":"a"}}],"usage":null}"#;
        assert_eq!(read(body), Ok(("a".to_owned(), Usage::default())));
    }

    #[test]
    fn what_says_nothing_is_no_answer() {
        for rest in [
            r#""message":{"content":""}"#,
            r#""message":{"content":" \n"}"#,
            r#""message":{"content":null}"#,
            r#""message":{}"#,
            r#""message":{"content":["a"]}"#,
            r#""finish_reason":"stop""#,
            r#""message":{"content":"a"},"finish_reason":"length""#,
            r#""message":{"content":"a"},"finish_reason":"content_filter""#,
        ] {
            assert!(answer(rest).is_err(), "{rest}");
        }
        for body in [
            &b""[..],
            b"[]",
            b"{}",
            br#"{"choices":[]}"#,
            b"\xff",
            b"data: {}",
        ] {
            assert!(read(body).is_err(), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn asks_for_one_whole_answer_without_chance() {
        let order = ChatOrder {
            base_url: "http://127.0.0.1:1".to_owned(),
            model: "small".to_owned(),
            key: Some("A_KEY".to_owned()),
            system: "Doubt.".to_owned(),
            prompt: "Well?".to_owned(),
            timeout_ms: 1,
            retries: 0,
            most_bytes: 1,
        };
        let body: serde_json::Value = serde_json::from_slice(&request(&order).unwrap()).unwrap();
        let expected = serde_json::json!({
            "model": "small", "temperature": 0, "stream": false,
            "messages": [
                {"role": "system", "content": "Doubt."},
                {"role": "user", "content": "Well?"}]});
        assert_eq!(body, expected);
    }
}
