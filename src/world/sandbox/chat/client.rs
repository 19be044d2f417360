//! One try: a request over HTTP, and what its answer means.

use std::time::{Duration, Instant, SystemTime};

use reqwest::header::HeaderValue;
use reqwest::{Client, Response, StatusCode, header, redirect, retry};
use serde::{Deserialize, Serialize};

use super::{ChatOrder, Chatted, Said, Usage, endpoint};

use crate::world::fetch::http::{cause, retry_after, trusted};

/// The most of the time that setting up a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// Asks once, within `limit`, with the key's value where the order names a key.
///
/// It runs on a runtime of its own, which ends with it: nothing of a try outlives it.
pub(super) fn ask(order: &ChatOrder, key: Option<&str>, limit: Duration) -> Tried {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return Tried::Refused(format!("no request can be made: {error}")),
    };
    let exchange = async { tokio::time::timeout(limit, exchange(order, key)).await };
    match runtime.block_on(exchange) {
        Ok(tried) => tried,
        Err(_) => silent("no complete answer in time".to_owned()),
    }
}

async fn exchange(order: &ChatOrder, key: Option<&str>) -> Tried {
    let request = match request(order, key) {
        Ok(request) => request,
        Err(why) => return Tried::Refused(why),
    };
    match request.send().await {
        Ok(response) => judge(order, response).await,
        Err(error) => silent(format!("it does not answer: {}", cause(&error))),
    }
}

fn request(order: &ChatOrder, key: Option<&str>) -> Result<reqwest::RequestBuilder, String> {
    let url = endpoint(&order.base_url).map_err(|bad| format!("the base URL: {bad}"))?;
    let client = Client::builder()
        .tls_backend_preconfigured(trusted().map_err(|error| error.to_string())?)
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0)
        .http1_only()
        .redirect(redirect::Policy::none())
        .retry(retry::never())
        .referer(false)
        .user_agent(concat!("comail/", env!("CARGO_PKG_VERSION")))
        // Neither the environment's proxy nor the system's.
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())?;
    let body = request_json(order).map_err(|error| error.to_string())?;
    let request = client
        .post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(body);
    Ok(match key {
        Some(key) => request.header(header::AUTHORIZATION, bearer(key, order)?),
        None => request,
    })
}

fn bearer(key: &str, order: &ChatOrder) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(&format!("Bearer {}", key.trim()));
    let mut value = value.map_err(|_| {
        let name = order.key.as_deref().unwrap_or_default();
        format!("what the environment variable {name} holds cannot stand in a header")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What the answer's status means, and its body where that matters.
async fn judge(order: &ChatOrder, response: Response) -> Tried {
    let status = response.status();
    if status.is_success() {
        return match body(order, response).await {
            Ok(body) => match read(&body) {
                Ok((text, usage)) => Tried::Said(text, usage),
                Err(why) => Tried::Settled(why.to_owned()),
            },
            Err(tried) => tried,
        };
    }
    let answers = format!("it answers {status}");
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
            Tried::Refused(format!("{} answers {status}", order.base_url))
        }
        _ if status.is_redirection() => Tried::Settled(format!("{answers}, which is not followed")),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            asked_to_wait(answers, &response)
        }
        _ if status.is_server_error() => asked_to_wait(answers, &response),
        _ => Tried::Settled(answers),
    }
}

fn asked_to_wait(why: String, response: &Response) -> Tried {
    let value = response.headers().get(header::RETRY_AFTER);
    let text = value.and_then(|value| value.to_str().ok());
    let retry_after = text.and_then(|text| retry_after(text, SystemTime::now()));
    Tried::Silent { why, retry_after }
}

/// Reads the body, whose bytes are counted after decompression, as they come.
async fn body(order: &ChatOrder, mut response: Response) -> Result<Vec<u8>, Tried> {
    let most = order.most_bytes;
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len().saturating_add(chunk.len()) as u64 <= most => {
                body.extend_from_slice(&chunk);
            }
            Ok(Some(_)) => {
                return Err(Tried::Settled(format!(
                    "its answer has more than {most} bytes"
                )));
            }
            Ok(None) => return Ok(body),
            Err(error) => return Err(silent(format!("its answer breaks off: {}", cause(&error)))),
        }
    }
}

fn silent(why: String) -> Tried {
    Tried::Silent {
        why,
        retry_after: None,
    }
}

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
pub(super) fn request_json(order: &ChatOrder) -> Result<Vec<u8>, serde_json::Error> {
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

/// The wait before the second try; it doubles for each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Tells how long it has been, and waits.
pub(super) trait Clock {
    /// How long it has been since the start.
    fn passed(&self) -> Duration;

    /// Lets this long pass.
    fn wait(&self, span: Duration);
}

/// The time of this machine.
pub(super) struct SystemClock(Instant);

/// What came of one try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tried {
    /// An answer.
    Said(String, Usage),
    /// None, and another try would bring none.
    Settled(String),
    /// None; another try may bring one.
    Silent {
        /// Why.
        why: String,
        /// How long the server asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// None, and none will come to anybody who asks as the operator set it up.
    Refused(String),
}

/// Why nothing can be asked, by no fault of the model's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(pub String);

impl SystemClock {
    /// The time since now.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn passed(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait(&self, span: Duration) {
        std::thread::sleep(span);
    }
}

/// Tries until an answer comes, each try within the time that it is given.
pub(super) fn persist(
    order: &ChatOrder,
    clock: &dyn Clock,
    mut try_once: impl FnMut(Duration) -> Tried,
) -> Result<Chatted, Refused> {
    let failed = |tries: u32, why: String| {
        let why = match tries {
            1 => why,
            _ => format!("{why}, after {tries} tries"),
        };
        Ok(Chatted::Failed(why))
    };
    let mut tries = 0;
    loop {
        tries += 1;
        let left = order.timeout().saturating_sub(clock.passed());
        let (why, retry_after) = match try_once(left) {
            Tried::Said(text, usage) => {
                let millis = u64::try_from(clock.passed().as_millis()).unwrap_or(u64::MAX);
                return Ok(Chatted::Said(Said {
                    text,
                    usage,
                    millis,
                    tries,
                }));
            }
            Tried::Refused(why) => return Err(Refused(why)),
            Tried::Settled(why) => return failed(tries, why),
            Tried::Silent { why, retry_after } => (why, retry_after),
        };
        let left = order.timeout().saturating_sub(clock.passed());
        if tries > order.retries || left.is_zero() {
            return failed(tries, why);
        }
        let wait = retry_after.unwrap_or_else(|| backoff(tries));
        if left <= wait {
            return failed(tries, format!("{why}; a next try would come too late"));
        }
        clock.wait(wait);
    }
}

/// The wait after try number `tried`, from 1.
fn backoff(tried: u32) -> Duration {
    FIRST_WAIT.saturating_mul(1 << (tried - 1).min(16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::sandbox::Cost;
    use std::cell::{Cell, RefCell};

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
        let body: serde_json::Value =
            serde_json::from_slice(&request_json(&order).unwrap()).unwrap();
        let expected = serde_json::json!({
        "model": "small", "temperature": 0, "stream": false,
        "messages": [
            {"role": "system", "content": "Doubt."},
            {"role": "user", "content": "Well?"}]});
        assert_eq!(body, expected);
    }

    /// A clock that stands but for what is waited and worked.
    #[derive(Default)]
    struct Hand {
        passed: Cell<Duration>,
        waits: RefCell<Vec<u128>>,
    }

    impl Clock for Hand {
        fn passed(&self) -> Duration {
            self.passed.get()
        }

        fn wait(&self, span: Duration) {
            self.waits.borrow_mut().push(span.as_millis());
            self.passed.set(self.passed.get() + span);
        }
    }

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

    fn silent(retry_after: Option<u64>) -> Tried {
        Tried::Silent {
            why: "silence".to_owned(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    fn said() -> Tried {
        Tried::Said("No.".to_owned(), Usage::default())
    }

    /// What comes of these tries, each of which takes a second, and what was waited between them.
    fn outcome(order: &ChatOrder, tries: &[Tried]) -> (Result<Chatted, Refused>, Vec<u128>) {
        let clock = Hand::default();
        let mut tries = tries.iter().cloned();
        let outcome = persist(order, &clock, |left| {
            assert!(!left.is_zero(), "a try without time");
            clock
                .passed
                .set(clock.passed.get() + Duration::from_secs(1));
            tries.next().expect("no more tries than were scripted")
        });
        assert_eq!(tries.next(), None, "a try that was not made");
        (outcome, clock.waits.into_inner())
    }

    fn failure(outcome: Result<Chatted, Refused>) -> String {
        match outcome {
            Ok(Chatted::Failed(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn silence_is_asked_again_after_waits_that_double() {
        let (answer, waits) = outcome(
            &order(60_000, 3),
            &[silent(None), silent(None), silent(None), said()],
        );
        let said = Chatted::Said(Said {
            text: "No.".to_owned(),
            usage: Usage::default(),
            millis: 7_500,
            tries: 4,
        });
        assert_eq!(answer, Ok(said));
        assert_eq!(waits, [500, 1_000, 2_000]);
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_asks() {
        let (answer, waits) = outcome(
            &order(60_000, 2),
            &[silent(Some(7)), silent(Some(0)), said()],
        );
        assert!(matches!(answer, Ok(Chatted::Said(_))), "{answer:?}");
        assert_eq!(waits, [7_000, 0]);
    }

    #[test]
    fn nobody_waits_beyond_the_time_there_is() {
        let (answer, waits) = outcome(&order(60_000, 2), &[silent(Some(59))]);
        assert!(failure(answer).contains("too late"));
        assert_eq!(waits, []);
        let (answer, _) = outcome(&order(60_000, 2), &[silent(Some(u64::MAX))]);
        assert!(failure(answer).contains("too late"));
        let (answer, _) = outcome(&order(1_400, 2), &[silent(None)]);
        assert!(failure(answer).contains("too late"));
        let (answer, _) = outcome(&order(1_000, 2), &[silent(None)]);
        assert_eq!(failure(answer), "silence");
    }

    #[test]
    fn no_more_tries_are_made_than_were_ordered() {
        let (answer, waits) = outcome(&order(60_000, 1), &[silent(None), silent(None)]);
        assert_eq!(failure(answer), "silence, after 2 tries");
        assert_eq!(waits, [500]);
        let (answer, _) = outcome(&order(60_000, 0), &[silent(None)]);
        assert_eq!(failure(answer), "silence");
    }

    #[test]
    fn what_another_try_would_not_change_is_not_tried_again() {
        let (answer, _) = outcome(&order(60_000, 2), &[Tried::Settled("no".to_owned())]);
        assert_eq!(failure(answer), "no");
        let (answer, _) = outcome(&order(60_000, 2), &[Tried::Refused("key".to_owned())]);
        assert_eq!(answer, Err(Refused("key".to_owned())));
    }

    #[test]
    fn no_number_of_tries_overflows_the_wait() {
        assert_eq!(backoff(u32::MAX), FIRST_WAIT * 65_536);
    }
}
