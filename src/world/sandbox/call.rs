//! One HTTP request to a service on this machine.

use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, redirect};

use super::workshop::{Call, CallAnswer, Called};

/// The most bytes of an answer that are read.
const MOST_BODY_BYTES: usize = 5 * 1024 * 1024;

/// Asks the service that listens at `port` of 127.0.0.1. Redirects are answers, not followed.
pub(super) fn call(asked: &Call, port: u16) -> Called {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let answer = match runtime {
        Ok(runtime) => runtime.block_on(exchange(asked, port)),
        Err(error) => Err(Called::Unanswered(error.to_string())),
    };
    answer.map_or_else(|called| called, Called::Answered)
}

async fn exchange(asked: &Call, port: u16) -> Result<CallAnswer, Called> {
    let request = request(asked, port).map_err(Called::Unanswered)?;
    let mut response = request.send().await.map_err(|error| none(&error))?;
    let named = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let (status, headers) = (response.status().as_u16(), named.collect());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| none(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_BODY_BYTES {
            let why = format!("its answer is larger than {MOST_BODY_BYTES} bytes");
            return Err(Called::Refused(why));
        }
    }
    Ok(CallAnswer {
        status,
        headers,
        body,
    })
}

fn request(asked: &Call, port: u16) -> Result<RequestBuilder, String> {
    let client = Client::builder()
        .no_proxy()
        .tls_backend_preconfigured(no_tls().map_err(|error| error.to_string())?)
        .redirect(redirect::Policy::none())
        .timeout(Duration::from_millis(asked.timeout_ms))
        .build()
        .map_err(|error| error.to_string())?;
    let method = Method::from_bytes(asked.method.as_bytes()).map_err(|error| error.to_string())?;
    let url = format!("http://127.0.0.1:{port}{}", asked.path);
    let request = client.request(method, url).headers(headers(asked)?);
    Ok(match &asked.body {
        Some(body) => request.body(body.clone()),
        None => request,
    })
}

/// What it means that no whole answer came.
fn none(error: &reqwest::Error) -> Called {
    let why = plain(error);
    // Nobody has taken what could not be sent, and whoever is slow may be so for all.
    if error.is_connect() || error.is_timeout() || error.is_builder() {
        Called::Unanswered(why)
    } else {
        Called::Refused(why)
    }
}

/// A client has to have some; with no roots it trusts nobody, and http needs none.
fn no_tls() -> Result<rustls::ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(config)
}

fn headers(asked: &Call) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &asked.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| error.to_string())?;
        let value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// What went wrong, with what led to it and without the address, which differs each time.
fn plain(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    if error.is_timeout() {
        String::from("no answer in time")
    } else {
        cause.to_string()
    }
}

#[cfg(test)]
mod tests;
