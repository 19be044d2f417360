//! The page about the session at `/`, for people, and the form that asks for a reader's token.

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use url::form_urlencoded;

use super::cookie::{Scheme, cookie_of};
use super::desk::{Call, Form};
use super::http::{Asked, Caller, Hosts, Server, body_of};
use super::reply::{html, readers_only, refused};
use super::token::{Grant, Token};

const MAX_LOGIN_BYTES: usize = 4096;

pub(super) async fn show(State(server): Asked, request: Request) -> Response {
    let Some(caller) = request.extensions().get::<Caller>() else {
        return refused(request.headers());
    };
    if caller.grant != Grant::Reader {
        return readers_only();
    }
    let reply = server.answer(caller, Call::Page, Form::Json).await;
    match StatusCode::from_u16(reply.status) {
        Ok(StatusCode::OK) => html(StatusCode::OK, reply.body),
        _ => reply.into_response(),
    }
}

/// Keeps the token of the form in a cookie.
pub(super) async fn log_in(State(server): Asked, request: Request) -> Response {
    let headers = request.headers().clone();
    if request.method() != Method::POST {
        return refused(&headers);
    }
    let body = match body_of(request.into_body(), MAX_LOGIN_BYTES).await {
        Ok(body) => body,
        Err(refused) => return refused.into_response(),
    };
    let mut fields = form_urlencoded::parse(&body);
    let named = fields.find(|(name, _)| name == "token");
    let token = named.and_then(|(_, value)| Token::parse(value.trim()));
    match token {
        Some(token) if is_readers(&server, &token) => welcome(&server, &token),
        _ => refused(&headers),
    }
}

/// Whether it is a reader's. A worker's token has no use for a browser.
fn is_readers(server: &Server, token: &Token) -> bool {
    matches!(server.grant(token), Ok(Some(Grant::Reader)))
}

fn welcome(server: &Server, token: &Token) -> Response {
    let scheme = match &server.hosts {
        Hosts::Any => Scheme::Http,
        Hosts::Only { scheme, .. } => *scheme,
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    // A token has only characters that a header may have.
    if let Ok(cookie) = HeaderValue::from_str(&cookie_of(token, scheme)) {
        let headers = response.headers_mut();
        headers.insert(header::SET_COOKIE, cookie);
        headers.insert(header::LOCATION, HeaderValue::from_static("/"));
    }
    response
}
