//! The HTTP requests of a judgement: to its services, and to models that speak the chat protocol.

use std::time::{Duration, Instant, SystemTime};

use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{ClientBuilder, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

use super::api::{Call, CallAnswer, Called};
use super::api::{ChatOrder, Chatted, Said, Usage, endpoint};
use super::run::Secrets;
use crate::world::client::{self, authorities, cause, read_body, retry_after, trusting};

const MAX_BODY_BYTES: u64 = 5 * 1024 * 1024;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

const FIRST_WAIT: Duration = Duration::from_millis(500);

fn block_on<T>(exchange: impl Future<Output = T>) -> Result<T, String> {
    client::block_on(exchange).map_err(|error| format!("no request can be made: {error}"))
}

fn client() -> Result<ClientBuilder, String> {
    let tls = authorities(&[]).and_then(trusting);
    Ok(client::client(tls.map_err(|error| error.to_string())?))
}

/// Calls the service that listens on `port` of 127.0.0.1.
pub(super) fn call(asked: &Call, port: u16) -> Called {
    let answer =
        block_on(call_once(asked, port)).unwrap_or_else(|why| Err(Called::Unanswered(why)));
    answer.map_or_else(|called| called, Called::Answered)
}

async fn call_once(asked: &Call, port: u16) -> Result<CallAnswer, Called> {
    let request = call_request(asked, port).map_err(Called::Unanswered)?;
    let response = request.send().await.map_err(|error| no_answer(&error))?;
    let headers = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let (status, headers) = (response.status().as_u16(), headers.collect());
    let body = read_body(response, MAX_BODY_BYTES).await;
    let body = body.map_err(|error| no_answer(&error))?.ok_or_else(|| {
        Called::Refused(format!("its answer is larger than {MAX_BODY_BYTES} bytes"))
    })?;
    Ok(CallAnswer {
        status,
        headers,
        body,
    })
}

fn call_request(asked: &Call, port: u16) -> Result<RequestBuilder, String> {
    let client = client()?
        .timeout(Duration::from_millis(asked.timeout_ms))
        .build()
        .map_err(|error| error.to_string())?;
    let method = Method::from_bytes(asked.method.as_bytes()).map_err(|error| error.to_string())?;
    let mut headers = HeaderMap::new();
    for (name, value) in &asked.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
        headers.append(name, value);
    }
    let url = format!("http://127.0.0.1:{port}{}", asked.path);
    let request = client.request(method, url).headers(headers);
    Ok(match &asked.body {
        Some(body) => request.body(body.clone()),
        None => request,
    })
}

fn no_answer(error: &reqwest::Error) -> Called {
    if error.is_timeout() {
        return Called::Unanswered("no answer in time".to_owned());
    }
    // A request that could not be sent was not refused by the service.
    if error.is_connect() || error.is_builder() {
        Called::Unanswered(cause(error))
    } else {
        Called::Refused(cause(error))
    }
}

/// Why a model gave no answer in one try.
#[derive(Debug)]
enum NoAnswer {
    /// Another try would fail too.
    Final(String),
    /// Another try may succeed.
    Temporary(String, Option<Duration>),
    /// The operator's setup is wrong.
    Misconfigured(String),
}

/// Asks a model. The error says why it cannot be asked at all.
///
/// In every reason, the key is replaced by the name of its variable. An answer that contains the key
/// is dropped.
pub(super) fn chat(
    order: &ChatOrder,
    lookup: impl Fn(&str) -> Option<String>,
) -> Result<Chatted, String> {
    let refused = |why: String| format!("the model {} cannot be asked: {why}", order.model);
    let secrets =
        Secrets::take(&order.key, lookup).map_err(|missing| refused(missing.to_string()))?;
    let key = order.key.as_deref().and_then(|name| secrets.get(name));
    let began = Instant::now();
    let mut tries = 0;
    let why = loop {
        tries += 1;
        let left = order.timeout().saturating_sub(began.elapsed());
        let (why, retry_after) = match ask_within(order, key, left) {
            Ok((text, usage)) => {
                return Ok(match secrets.spoken_in(text.as_bytes()) {
                    Some(why) => Chatted::Failed(why),
                    None => Chatted::Said(Said {
                        text,
                        usage,
                        millis: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                        tries,
                    }),
                });
            }
            Err(NoAnswer::Misconfigured(why)) => return Err(secrets.hide_in(refused(why))),
            Err(NoAnswer::Final(why)) => break why,
            Err(NoAnswer::Temporary(why, retry_after)) => (why, retry_after),
        };
        match wait_before_next(order, tries, began.elapsed(), retry_after) {
            Next::Wait(wait) => std::thread::sleep(wait),
            Next::NoMore => break why,
            Next::TooLate => break format!("{why}; a next try would come too late"),
        }
    };
    let why = match tries {
        1 => why,
        _ => format!("{why}, after {tries} tries"),
    };
    Ok(Chatted::Failed(secrets.hide_in(why)))
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Wait(Duration),
    NoMore,
    TooLate,
}

/// Decides about another try, after `tries` that took `passed` in all.
fn wait_before_next(
    order: &ChatOrder,
    tries: u32,
    passed: Duration,
    retry_after: Option<Duration>,
) -> Next {
    let left = order.timeout().saturating_sub(passed);
    if tries > order.retries || left.is_zero() {
        return Next::NoMore;
    }
    let doubled = FIRST_WAIT.saturating_mul(1 << (tries - 1).min(16));
    let wait = retry_after.unwrap_or(doubled);
    if left <= wait {
        Next::TooLate
    } else {
        Next::Wait(wait)
    }
}

type Answer = Result<(String, Usage), NoAnswer>;

fn ask_within(order: &ChatOrder, key: Option<&str>, limit: Duration) -> Answer {
    let exchange = async { tokio::time::timeout(limit, ask(order, key)).await };
    match block_on(exchange).map_err(NoAnswer::Misconfigured)? {
        Ok(answer) => answer,
        Err(_) => Err(temporary("no complete answer in time".to_owned())),
    }
}

async fn ask(order: &ChatOrder, key: Option<&str>) -> Answer {
    let request = chat_request(order, key).map_err(NoAnswer::Misconfigured)?;
    let response = request.send().await;
    let response =
        response.map_err(|error| temporary(format!("it does not answer: {}", cause(&error))))?;
    check_status(order, &response)?;
    let max = order.most_bytes;
    let body = read_body(response, max).await;
    let body = body
        .map_err(|error| temporary(format!("its answer breaks off: {}", cause(&error))))?
        .ok_or_else(|| NoAnswer::Final(format!("its answer has more than {max} bytes")))?;
    read_answer(&body).map_err(|why| NoAnswer::Final(why.to_owned()))
}

fn temporary(why: String) -> NoAnswer {
    NoAnswer::Temporary(why, None)
}

fn chat_request(order: &ChatOrder, key: Option<&str>) -> Result<RequestBuilder, String> {
    let url = endpoint(&order.base_url).map_err(|bad| format!("the base URL: {bad}"))?;
    let client = client()?
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("comail/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())?;
    let request = client
        .post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(request_json(order).to_string());
    let Some(key) = key else {
        return Ok(request);
    };
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(|_| {
        let name = order.key.as_deref().unwrap_or_default();
        format!("the value of the environment variable {name} cannot be sent in a header")
    })?;
    bearer.set_sensitive(true);
    Ok(request.header(header::AUTHORIZATION, bearer))
}

fn check_status(order: &ChatOrder, response: &Response) -> Result<(), NoAnswer> {
    let status = response.status();
    let why = format!("it answers {status}");
    Err(match status {
        _ if status.is_success() => return Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            NoAnswer::Misconfigured(format!("{} answers {status}", order.base_url))
        }
        _ if status.is_redirection() => NoAnswer::Final(format!("{why}, which is not followed")),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            NoAnswer::Temporary(why, asked_wait(response))
        }
        _ if status.is_server_error() => NoAnswer::Temporary(why, asked_wait(response)),
        _ => NoAnswer::Final(why),
    })
}

fn asked_wait(response: &Response) -> Option<Duration> {
    let value = response.headers().get(header::RETRY_AFTER)?;
    retry_after(value.to_str().ok()?, SystemTime::now())
}

fn request_json(order: &ChatOrder) -> Value {
    json!({
        "model": order.model,
        "messages": [
            { "role": "system", "content": order.system },
            { "role": "user", "content": order.prompt },
        ],
        "temperature": 0,
        "stream": false,
    })
}

fn read_answer(body: &[u8]) -> Result<(String, Usage), &'static str> {
    let answer: Value =
        serde_json::from_slice(body).map_err(|_| "its answer is not one of the chat protocol")?;
    let choice = answer.pointer("/choices/0");
    let choice = choice.ok_or("its answer has no choice")?;
    match choice["finish_reason"].as_str() {
        Some("length") => return Err("its answer was cut off at its own limit of tokens"),
        Some("content_filter") => return Err("its answer was held back by a filter"),
        _ => {}
    }
    let text = choice["message"]["content"].as_str();
    let text = text.filter(|text| !text.trim().is_empty());
    let text = text.ok_or("its answer is empty, or not text")?;
    Ok((text.to_owned(), Usage::told(&answer["usage"])))
}

#[cfg(test)]
mod tests {
    use crate::base::rows;
    use std::io::{Read as _, Write as _};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;
    use crate::world::sandbox::Cost;

    fn order(timeout_ms: u64, retries: u32) -> ChatOrder {
        ChatOrder {
            base_url: "http://127.0.0.1:1".to_owned(),
            model: "small".to_owned(),
            key: None,
            system: String::new(),
            prompt: String::new(),
            timeout_ms,
            retries,
            most_bytes: 1,
        }
    }

    fn answer(rest: &str) -> Result<(String, Usage), &'static str> {
        read_answer(format!(r#"{{"id":"x","choices":[{{"index":0,{rest}}}]}}"#).as_bytes())
    }

    #[test]
    fn reads_the_text_and_its_usage() {
        let used = Usage {
            input_tokens: Some(7),
            output_tokens: Some(2),
            cost: Cost::of(0.25),
        };
        let none = Usage::default();
        for (usage, expected) in rows! {
            r#","usage":{"prompt_tokens":7,"completion_tokens":2,"cost":0.25,"more":[1]}"# => used;
            "" => none;
            r#","usage":null"# => none;
            r#","usage":{"prompt_tokens":-1,"completion_tokens":"2","cost":"free"}"# => none;
        } {
            let choice =
                r#"{"message":{"role":"assistant","content":" {} "},"finish_reason":"stop"}"#;
            let body = format!(r#"{{"choices":[{choice}]{usage}}}"#);
            let expected = Ok((" {} ".to_owned(), expected));
            assert_eq!(read_answer(body.as_bytes()), expected, "{usage}");
        }
    }

    #[test]
    fn a_reply_without_text_is_not_an_answer() {
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
            assert!(read_answer(body).is_err(), "{body:?}");
        }
    }

    #[test]
    fn waits_double_and_respect_the_server_and_the_time_that_is_left() {
        let wait = |millis| Next::Wait(Duration::from_millis(millis));
        for (timeout_ms, retries, tries, passed_ms, retry_after, expected) in [
            (60_000, 3, 1, 1_000, None, wait(500)),
            (60_000, 3, 2, 1_000, None, wait(1_000)),
            (60_000, 3, 3, 1_000, None, wait(2_000)),
            (60_000, 3, 4, 1_000, None, Next::NoMore),
            (60_000, 2, 1, 1_000, Some(7), wait(7_000)),
            (60_000, 2, 2, 1_000, Some(0), wait(0)),
            (60_000, 2, 1, 1_000, Some(59), Next::TooLate),
            (60_000, 2, 1, 1_000, Some(u64::MAX), Next::TooLate),
            (1_400, 2, 1, 1_000, None, Next::TooLate),
            (1_000, 2, 1, 1_000, None, Next::NoMore),
            (60_000, 0, 1, 1_000, None, Next::NoMore),
            (u64::MAX, u32::MAX, u32::MAX - 1, 0, None, wait(500 << 16)),
        ] {
            let passed = Duration::from_millis(passed_ms);
            let retry_after = retry_after.map(Duration::from_secs);
            let next = wait_before_next(&order(timeout_ms, retries), tries, passed, retry_after);
            assert_eq!(next, expected, "{tries} of {retries}, {retry_after:?}");
        }
    }

    const ASKED: &[u8] = b"\r\n\r\n";

    fn asked(timeout_ms: u64) -> Call {
        Call {
            service: "api".to_owned(),
            method: "GET".to_owned(),
            path: "/a".to_owned(),
            headers: Vec::new(),
            body: None,
            timeout_ms,
        }
    }

    /// The outcome of a call to a server that sends these bytes and closes the connection.
    fn called(answer: &[u8]) -> Called {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = listener.accept().unwrap();
                let (mut read, mut chunk) = (Vec::new(), [0; 1024]);
                while !read.ends_with(ASKED) {
                    let more = stream.read(&mut chunk).unwrap();
                    assert_ne!(more, 0, "a whole request");
                    read.extend_from_slice(&chunk[..more]);
                }
                // The client may close the connection early.
                let _ = stream.write_all(answer);
            });
            call(&asked(60_000), port)
        })
    }

    #[test]
    fn a_reply_that_cannot_be_read_counts_as_refused() {
        for (answer, is_read) in rows! {
            &b""[..] => false;
            b"what?\r\n\r\n" => false;
            b"HTTP/1.1 200" => false;
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}" => false;
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" => false;
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}" => false;
            b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n" => true;
            b"HTTP/1.1 302 Elsewhere\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n" => true;
            b"HTTP/1.0 200 OK\r\n\r\nto the end" => true;
        } {
            match called(answer) {
                Called::Answered(_) if is_read => {}
                Called::Refused(_) if !is_read => {}
                outcome => panic!("{outcome:?}"),
            }
        }
        let mut large = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        let over = usize::try_from(MAX_BODY_BYTES).unwrap() + 1;
        large.resize(large.len() + over, b'x');
        match called(&large) {
            Called::Refused(why) => assert!(why.contains("larger"), "{why}"),
            outcome => panic!("{outcome:?}"),
        }
    }

    #[test]
    fn a_missing_or_slow_service_is_unanswered() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let slow = call(&asked(50), port);
        assert!(matches!(slow, Called::Unanswered(_)), "{slow:?}");
        drop(listener);
        let gone = call(&asked(60_000), port);
        assert!(matches!(gone, Called::Unanswered(_)), "{gone:?}");
    }
}
