//! Replies over HTTP.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::desk::{ErrorDocument, Reply};

/// The exit code of the command that a call stands for.
pub const EXIT_HEADER: &str = "comail-exit";

/// When a client should try again what cannot be answered now.
const RETRY_SECONDS: u16 = 2;

const LOGIN: &str = include_str!("login.html");

/// The reply to a client without a valid token.
pub fn unauthorised() -> Reply {
    let why = "this server needs a valid token";
    problem(StatusCode::UNAUTHORIZED, "token", why)
}

/// An error as `--json` prints it.
pub(super) fn problem(status: StatusCode, kind: &str, why: &str) -> Reply {
    Reply {
        exit: 1,
        status: status.as_u16(),
        body: json!(ErrorDocument::new(kind, why)).to_string(),
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let is_json = self.body.starts_with('{');
        let content = if is_json {
            "application/json"
        } else {
            "text/plain; charset=utf-8"
        };
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content));
        headers.insert(EXIT_HEADER, HeaderValue::from(u16::from(self.exit)));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let plain = HeaderValue::from_static("nosniff");
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, plain);
        if self.status == StatusCode::SERVICE_UNAVAILABLE.as_u16() {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
        }
        response
    }
}

/// The reply to a worker who asks for what readers may see.
pub(super) fn readers_only() -> Response {
    let why = "this needs a reader's token, which `comail token new --reader` makes";
    problem(StatusCode::FORBIDDEN, "token", why).into_response()
}

/// The reply to a client without a valid token, the same for every path: a browser gets the form.
pub(super) fn refused(headers: &HeaderMap) -> Response {
    let accept = headers.get(header::ACCEPT).and_then(|it| it.to_str().ok());
    if accept.is_some_and(|accept| accept.contains("text/html")) {
        html(StatusCode::UNAUTHORIZED, LOGIN.to_owned())
    } else {
        let mut response = unauthorised().into_response();
        let scheme = HeaderValue::from_static("Bearer");
        response
            .headers_mut()
            .insert(header::WWW_AUTHENTICATE, scheme);
        response
    }
}

pub(super) fn html(status: StatusCode, text: String) -> Response {
    const HEADERS: [(HeaderName, &str); 5] = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, "frame-ancestors 'none'"),
        // Under `no-referrer`, a browser would send the form from the origin `null`.
        (header::REFERRER_POLICY, "same-origin"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
}
