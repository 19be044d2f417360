//! What robots.txt lets the program read (RFC 9309): pure decisions over answers.

mod rules;

use std::time::Duration;

use url::Url;

use crate::world::{Fetched, Unanswered};
pub use rules::Rules;

/// The name by which robots.txt addresses the program.
pub const PRODUCT_TOKEN: &str = "comail";

/// The most redirects that are followed to a robots.txt (RFC 9309 §2.3.1.2).
pub const MAX_REDIRECTS: usize = 5;

/// What is parsed of a robots.txt, in bytes (RFC 9309 §2.5).
const MAX_PARSED_BYTES: usize = 500 * 1024;

/// What the robots.txt of one origin says.
#[derive(Debug, Clone, PartialEq)]
pub enum RobotsRules {
    /// There is none: everything may be read.
    AllowAll,
    /// The server is in trouble or its answer has no end: nothing may be read.
    DisallowAll,
    /// It did not answer: nothing may be read until it does.
    Unreachable(Unanswered),
    /// These rules.
    Listed(Rules),
}

/// Whether a page may be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It may.
    Granted,
    /// robots.txt forbids it.
    Refused,
    /// robots.txt did not answer.
    Unknown(Unanswered),
}

/// The robots.txt of the origin that `url` lies in.
#[must_use]
pub fn robots_url(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots.set_fragment(None);
    robots
}

/// Whether `silence`, met at `url`, is robots.txt's way to say that there is none: a client
/// error (RFC 9309 §2.3.1.3). 429 asks for patience and says nothing.
#[must_use]
pub fn means_no_rules(url: &Url, silence: &Unanswered) -> bool {
    url.path() == "/robots.txt" && client_error(silence)
}

fn client_error(silence: &Unanswered) -> bool {
    silence
        .status
        .is_some_and(|status| (400..500).contains(&status) && status != 429)
}

/// The rules that the last answer on the way to a robots.txt gives (RFC 9309 §2.3.1).
///
/// A redirect counts as none, as one does whose target nobody can follow.
#[must_use]
pub fn robots_rules(fetched: &Fetched) -> RobotsRules {
    match fetched {
        Fetched::Response(response) if (200..300).contains(&response.status) => {
            let parsed = response.body.len().min(MAX_PARSED_BYTES);
            RobotsRules::Listed(Rules::parse(PRODUCT_TOKEN, &response.body[..parsed]))
        }
        // A host that does not exist forbids nothing; the page's own fetch says that it is gone.
        Fetched::Response(_) | Fetched::NoSuchHost => RobotsRules::AllowAll,
        Fetched::TooLarge { .. } => RobotsRules::DisallowAll,
        Fetched::Unanswered(silence) if client_error(silence) => RobotsRules::AllowAll,
        Fetched::Unanswered(silence) => match silence.status {
            Some(500..) => RobotsRules::DisallowAll,
            _ => RobotsRules::Unreachable(silence.clone()),
        },
    }
}

impl RobotsRules {
    /// Whether `url`, which lies in the rules' origin, may be read.
    #[must_use]
    pub fn permission(&self, url: &Url) -> Permission {
        match self {
            // RFC 9309 §2.2.2: "/robots.txt" itself is always allowed.
            _ if url.path() == "/robots.txt" => Permission::Granted,
            Self::AllowAll => Permission::Granted,
            Self::Listed(rules) if rules.allow(url) => Permission::Granted,
            Self::Listed(_) | Self::DisallowAll => Permission::Refused,
            Self::Unreachable(silence) => Permission::Unknown(silence.clone()),
        }
    }

    /// The time between requests that the rules ask for.
    #[must_use]
    pub fn crawl_delay(&self) -> Option<Duration> {
        match self {
            Self::Listed(rules) => rules.crawl_delay(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Response, Silence};

    fn answer(status: u16, body: &[u8]) -> Fetched {
        Fetched::Response(Response {
            status,
            content_type: None,
            location: None,
            refresh: None,
            body: body.to_vec(),
        })
    }

    fn permission(fetched: &Fetched) -> Permission {
        robots_rules(fetched).permission(&Url::parse("https://acme.com/contact").unwrap())
    }

    #[test]
    fn a_missing_file_forbids_nothing() {
        let forbidden = |status| Fetched::Unanswered(Unanswered::status(status));
        for fetched in [
            answer(404, b"User-agent: *\nDisallow: /"),
            answer(301, b""),
            Fetched::NoSuchHost,
            forbidden(401),
            forbidden(403),
        ] {
            assert_eq!(permission(&fetched), Permission::Granted, "{fetched:?}");
        }
    }

    #[test]
    fn a_server_in_trouble_forbids_everything() {
        for status in [500, 503] {
            let fetched = Fetched::Unanswered(Unanswered::status(status));
            assert_eq!(permission(&fetched), Permission::Refused);
        }
        assert_eq!(
            permission(&Fetched::TooLarge { limit_bytes: 1 }),
            Permission::Refused
        );
        for silence in [
            Unanswered::status(429),
            Unanswered::new(Silence::Timeout, "late"),
        ] {
            let fetched = Fetched::Unanswered(silence.clone());
            assert_eq!(permission(&fetched), Permission::Unknown(silence));
        }
    }

    #[test]
    fn reads_the_first_500_kibibytes() {
        let mut body = b"User-agent: *\n".to_vec();
        body.resize(MAX_PARSED_BYTES - 14, b'\n');
        body.extend(b"Disallow: /a\n\nDisallow: /contact\n");
        assert_eq!(permission(&answer(200, &body)), Permission::Granted);
        body.drain(20..60);
        assert_eq!(permission(&answer(200, &body)), Permission::Refused);
    }

    #[test]
    fn tells_no_rules_from_no_answer() {
        let robots = robots_url(&Url::parse("https://acme.com:8443/a?b#c").unwrap());
        assert_eq!(robots.as_str(), "https://acme.com:8443/robots.txt");
        assert!(means_no_rules(&robots, &Unanswered::status(403)));
        assert!(!means_no_rules(&robots, &Unanswered::status(503)));
        assert!(!means_no_rules(&robots, &Unanswered::status(429)));
        let page = Url::parse("https://acme.com/").unwrap();
        assert!(!means_no_rules(&page, &Unanswered::status(403)));
    }
}
