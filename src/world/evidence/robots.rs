//! What evidence says of the robots.txt that a page stands under.

use url::Url;

use super::{Evidence, PageAnswer};
use crate::world::fetch::robots::{MAX_REDIRECTS, means_no_rules, robots_url};

impl Evidence {
    /// Whether the robots.txt of `page` was asked for, and gave no answer.
    ///
    /// A server in trouble forbids all (RFC 9309 §2.3.1.4) and has said nothing of its own.
    #[must_use]
    pub fn robots_unanswered(&self, page: &Url) -> bool {
        let mut url = robots_url(page);
        for _ in 0..=MAX_REDIRECTS {
            let location = match self.page(&url) {
                Some(PageAnswer::Unanswered(why)) => return !means_no_rules(&url, why),
                Some(PageAnswer::Response(stored)) => stored.head.location.as_deref(),
                _ => return false,
            };
            match location.and_then(|location| url.join(location).ok()) {
                Some(target) => url = target,
                None => return false,
            }
            url.set_fragment(None);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(exchanges: &[(&str, &str)]) -> Evidence {
        let exchanges: Vec<String> = exchanges
            .iter()
            .map(|(url, answer)| format!(r#"{{"get":{{"url":"{url}","answer":{answer}}}}}"#))
            .collect();
        let text = format!(r#"{{"exchanges":[{}]}}"#, exchanges.join(","));
        serde_json::from_str(&text).unwrap()
    }

    fn silent(status: u16) -> String {
        format!(
            r#"{{"unanswered":{{"silence":"status","detail":"HTTP status {status}","status":{status}}}}}"#
        )
    }

    fn response(status: u16, location: &str) -> String {
        let body = format!(r#"{{"sha256":"{}","bytes":0}}"#, "0".repeat(64));
        format!(r#"{{"response":{{"status":{status}{location},"body":{body}}}}}"#)
    }

    fn said(exchanges: &[(&str, &str)]) -> bool {
        let page = Url::parse("https://acme.com/contact?x=1").unwrap();
        evidence(exchanges).robots_unanswered(&page)
    }

    const ROBOTS: &str = "https://acme.com/robots.txt";

    #[test]
    fn a_server_in_trouble_has_not_answered() {
        assert!(said(&[(ROBOTS, &silent(503))]));
        assert!(said(&[(ROBOTS, &silent(429))]));
        assert!(!said(&[(ROBOTS, &silent(403))]));
        assert!(!said(&[(ROBOTS, &response(200, ""))]));
        assert!(!said(&[("https://www.acme.com/robots.txt", &silent(503))]));
        assert!(!said(&[]));
    }

    #[test]
    fn redirects_are_followed_to_who_did_not_answer() {
        let elsewhere = response(301, r#","location":"https://www.acme.com/r.txt#x""#);
        let www = "https://www.acme.com/r.txt";
        assert!(said(&[(ROBOTS, &elsewhere), (www, &silent(500))]));
        assert!(!said(&[(ROBOTS, &elsewhere), (www, &response(200, ""))]));
        let circle = response(301, r#","location":"/robots.txt""#);
        assert!(!said(&[(ROBOTS, &circle)]));
    }
}
