//! The cookie in which a browser keeps a reader's token.

use axum::http::{HeaderMap, header};

use super::token::Token;

const NAME: &str = "comail_token";

/// How clients reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Http,
    /// With TLS, here or in a proxy.
    Https,
}

impl Scheme {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

/// The cookie that no script reads and no other site sends.
pub(super) fn cookie_of(token: &Token, scheme: Scheme) -> String {
    let secure = match scheme {
        Scheme::Http => "",
        Scheme::Https => "; Secure",
    };
    let token = token.reveal();
    format!("{NAME}={token}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

/// The token of the cookie.
pub(super) fn token_of_cookie(headers: &HeaderMap) -> Option<Token> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?.split("; ");
    let mut named = cookies.filter_map(|cookie| cookie.split_once('='));
    let (_, value) = named.find(|(name, _)| *name == NAME)?;
    Token::parse(value)
}
