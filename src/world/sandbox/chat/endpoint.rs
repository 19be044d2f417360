//! Where a server that speaks the chat protocol is asked.

use url::Url;

/// A base URL that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadBaseUrl {
    /// It is none.
    #[error("it is not a URL with http or https")]
    NoUrl,
    /// It would be kept with a secret in it.
    #[error("it holds a user or a password; name a variable that holds the key instead")]
    Credentials,
    /// Nothing can stand after it.
    #[error("it has a query or a fragment; expected what /chat/completions can follow")]
    Query,
}

/// The URL at which a chat is asked for, below `base_url`.
pub fn endpoint(base_url: &str) -> Result<Url, BadBaseUrl> {
    let mut url = Url::parse(base_url).map_err(|_| BadBaseUrl::NoUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(BadBaseUrl::NoUrl);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BadBaseUrl::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(BadBaseUrl::Query);
    }
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(["chat", "completions"]);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stands_below_the_base_url_however_that_ends() {
        for (base, whole) in [
            (
                "http://127.0.0.1:11434/v1",
                "http://127.0.0.1:11434/v1/chat/completions",
            ),
            (
                "https://api.test/v1/",
                "https://api.test/v1/chat/completions",
            ),
            ("https://api.test", "https://api.test/chat/completions"),
        ] {
            assert_eq!(endpoint(base).unwrap().as_str(), whole);
        }
    }

    #[test]
    fn refuses_what_would_keep_a_secret_or_lead_elsewhere() {
        for (base, why) in [
            ("api.test/v1", BadBaseUrl::NoUrl),
            ("file:///v1", BadBaseUrl::NoUrl),
            ("https://me:secret@api.test/v1", BadBaseUrl::Credentials),
            ("https://secret@api.test/v1", BadBaseUrl::Credentials),
            ("https://api.test/v1?key=secret", BadBaseUrl::Query),
            ("https://api.test/v1#a", BadBaseUrl::Query),
        ] {
            assert_eq!(endpoint(base), Err(why), "{base}");
        }
    }
}
