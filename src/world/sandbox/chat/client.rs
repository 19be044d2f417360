//! One try: a request over HTTP, and what its answer means.

use std::time::{Duration, SystemTime};

use reqwest::header::{self, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect, retry};

use super::persist::Tried;
use super::{ChatOrder, endpoint, wire};
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
    let body = wire::request(order).map_err(|error| error.to_string())?;
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
            Ok(body) => match wire::read(&body) {
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
