//! Whether robots.txt allows a URL (RFC 9309): pure decisions over answers.
//!
//! Rules are not compiled to regular expressions: a hostile file of 500 KiB takes no more time than an
//! honest one, and an invalid rule does not affect the others.

use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_encode};
use url::{Position, Url};

use crate::world::{Fetched, Unanswered};

pub const PRODUCT_TOKEN: &str = "comail";

/// The most redirects that are followed to a robots.txt (RFC 9309 §2.3.1.2).
pub const MAX_REDIRECTS: usize = 5;

/// How many bytes of a robots.txt are parsed (RFC 9309 §2.5).
const MAX_PARSED_BYTES: usize = 500 * 1024;

pub fn robots_url(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots.set_fragment(None);
    robots
}

/// Whether `silence` at `url` means that there is no robots.txt: a client error (RFC 9309 §2.3.1.3),
/// except 429, which only asks to wait.
pub fn means_no_rules(url: &Url, silence: &Unanswered) -> bool {
    url.path() == "/robots.txt" && client_error(silence)
}

fn client_error(silence: &Unanswered) -> bool {
    silence
        .status
        .is_some_and(|status| (400..500).contains(&status) && status != 429)
}

/// The rules in the last answer for a robots.txt (RFC 9309 §2.3.1). The error says why there is no
/// answer; nothing may be read until there is one.
///
/// A redirect that could not be followed counts as a file without rules.
pub fn robots_rules(fetched: &Fetched) -> Result<Rules, Unanswered> {
    match fetched {
        Fetched::Response(response) if (200..300).contains(&response.status) => {
            let parsed = response.body.len().min(MAX_PARSED_BYTES);
            Ok(Rules::parse(PRODUCT_TOKEN, &response.body[..parsed]))
        }
        // A host that does not exist forbids nothing; the fetch of the page reports that it is missing.
        Fetched::Response(_) | Fetched::NoSuchHost => Ok(Rules::default()),
        Fetched::TooLarge { .. } => Ok(Rules::nothing_allowed()),
        Fetched::Unanswered(silence) if client_error(silence) => Ok(Rules::default()),
        Fetched::Unanswered(silence) => match silence.status {
            // The server has an error, and may have rules that it cannot send.
            Some(500..) => Ok(Rules::nothing_allowed()),
            _ => Err(silence.clone()),
        },
    }
}

const MAX_CRAWL_DELAY_SECS: f64 = 86_400.0;

/// The octets that stay escaped: all except unreserved ones (RFC 3986 §2.3).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The default is no rule: everything is allowed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    pub crawl_delay: Option<Duration>,
}

#[derive(Debug, Clone, PartialEq)]
struct Rule {
    allow: bool,
    pattern: Vec<u8>,
}

impl Rules {
    fn nothing_allowed() -> Self {
        let everything = Rule {
            allow: false,
            pattern: b"/".to_vec(),
        };
        Self {
            rules: vec![everything],
            crawl_delay: None,
        }
    }

    /// The rules in `text` for `product`, or for `*` if no group names it.
    ///
    /// Groups of the same name add up. Unknown lines are skipped, and so are rules before the first
    /// group.
    pub fn parse(product: &str, text: &[u8]) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut own = None::<Self>;
        let mut all = Self::default();
        let (mut names_own, mut names_all, mut has_rules) = (false, false, false);
        for line in text.split(|&b| matches!(b, b'\n' | b'\r' | 0)) {
            let line = line.split(|&b| b == b'#').next().unwrap_or_default();
            let Some(colon) = line.iter().position(|&b| b == b':') else {
                continue;
            };
            let (field, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            let field = field.to_ascii_lowercase();
            if field == b"user-agent" {
                if has_rules {
                    (names_own, names_all, has_rules) = (false, false, false);
                }
                names_all |= value == b"*";
                if names(product, value) {
                    names_own = true;
                    own.get_or_insert_default();
                }
                continue;
            }
            has_rules |= matches!(field.as_slice(), b"allow" | b"disallow" | b"crawl-delay");
            if names_own {
                own.get_or_insert_default().add(&field, value);
            }
            if names_all {
                all.add(&field, value);
            }
        }
        own.unwrap_or(all)
    }

    fn add(&mut self, field: &[u8], value: &[u8]) {
        match field {
            // An empty pattern matches nothing.
            b"allow" | b"disallow" if !value.is_empty() => self.rules.push(Rule {
                allow: field == b"allow",
                pattern: normal(value),
            }),
            b"crawl-delay" => self.crawl_delay = self.crawl_delay.or_else(|| delay(value)),
            _ => {}
        }
    }

    /// Whether `url` may be read: the longest matching pattern decides and, between equals, the one that
    /// allows (RFC 9309 §2.2.2). "/robots.txt" itself is always allowed.
    pub fn allow(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" {
            return true;
        }
        let path = normal(url[Position::BeforePath..Position::AfterQuery].as_bytes());
        self.rules
            .iter()
            .filter(|rule| matches(&rule.pattern, &path))
            .max_by_key(|rule| (rule.pattern.len(), rule.allow))
            .is_none_or(|rule| rule.allow)
    }
}

/// Whether a `User-agent` line names `product`; a version after the token is ignored.
fn names(product: &str, value: &[u8]) -> bool {
    let token = |b: &u8| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_');
    let end = value.iter().position(|b| !token(b)).unwrap_or(value.len());
    value[..end].eq_ignore_ascii_case(product.as_bytes())
}

fn delay(seconds: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(seconds).ok()?.parse().ok()?;
    if seconds.is_nan() {
        return None;
    }
    Duration::try_from_secs_f64(seconds.min(MAX_CRAWL_DELAY_SECS)).ok()
}

/// The octets for comparing: those that need no escape are decoded, all others escaped uniformly.
/// Reserved characters and their escapes remain different (RFC 9309 §2.2.2).
fn normal(path: &[u8]) -> Vec<u8> {
    let mut normal = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&first, tail)) = rest.split_first() {
        let escape = rest
            .get(..3)
            .filter(|escape| first == b'%' && escape[1..].iter().all(u8::is_ascii_hexdigit));
        if let Some(escape) = escape {
            for octet in percent_decode(escape) {
                normal.extend(percent_encode(&[octet], ENCODED).flat_map(str::bytes));
            }
            rest = &rest[3..];
        } else {
            if first.is_ascii_graphic() {
                normal.push(first);
            } else {
                normal.extend(percent_encode(&[first], ENCODED).flat_map(str::bytes));
            }
            rest = tail;
        }
    }
    normal
}

/// Whether `pattern` matches the start of `path`: `*` matches any octets, and `$` at the
/// end for the path's end (RFC 9309 §2.2.3).
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(|&b| b == b'*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !to_the_end || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if to_the_end && parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match find(part, rest) {
            Some(found) => rest = &rest[found + part.len()..],
            None => return false,
        }
    }
    true
}

fn find(part: &[u8], text: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return Some(0);
    }
    text.windows(part.len()).position(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rows;
    use crate::world::{Response, UnansweredKind};
    use proptest::prelude::*;

    fn answer(status: u16, body: &[u8]) -> Fetched {
        Fetched::Response(Response {
            status,
            content_type: None,
            location: None,
            refresh: None,
            disposition: None,
            body: body.to_vec(),
        })
    }

    /// Whether a page may be read; the error says why nobody knows.
    fn may_read(fetched: &Fetched) -> Result<bool, Unanswered> {
        let url = Url::parse("https://acme.com/contact").unwrap();
        robots_rules(fetched).map(|rules| rules.allow(&url))
    }

    #[test]
    fn a_missing_file_forbids_nothing_and_a_server_in_trouble_everything() {
        let silent = |status| Fetched::Unanswered(Unanswered::status(status));
        let late = Unanswered::new(UnansweredKind::Timeout, "late");
        for (fetched, expected) in [
            (answer(404, b"User-agent: *\nDisallow: /"), Ok(true)),
            (answer(301, b""), Ok(true)),
            (Fetched::NoSuchHost, Ok(true)),
            (silent(401), Ok(true)),
            (silent(403), Ok(true)),
            (silent(500), Ok(false)),
            (silent(503), Ok(false)),
            (Fetched::TooLarge { limit_bytes: 1 }, Ok(false)),
            (silent(429), Err(Unanswered::status(429))),
            (Fetched::Unanswered(late.clone()), Err(late)),
        ] {
            assert_eq!(may_read(&fetched), expected, "{fetched:?}");
        }
    }

    #[test]
    fn reads_the_first_500_kibibytes() {
        let mut body = b"User-agent: *\n".to_vec();
        body.resize(MAX_PARSED_BYTES - 14, b'\n');
        body.extend(b"Disallow: /a\n\nDisallow: /contact\n");
        assert_eq!(may_read(&answer(200, &body)), Ok(true));
        body.drain(20..60);
        assert_eq!(may_read(&answer(200, &body)), Ok(false));
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

    fn allowed(text: &str, path: &str) -> bool {
        let url = Url::parse("https://acme.com").unwrap().join(path).unwrap();
        Rules::parse("comail", text.as_bytes()).allow(&url)
    }

    #[test]
    fn groups_and_the_longest_of_their_rules_decide() {
        let own = "User-agent: *\nDisallow: /\n\nUser-agent: Comail/1.0\nDisallow: /private\n";
        let others = "User-agent: comailer\nUser-agent: comail-x\nDisallow: /\n";
        let several = "user-agent: a\nUser-Agent: *\nDisallow: /a # why\n\nSitemap: x\n\
                       User-agent: b\nDisallow: /b\nUser-agent: *\rDisallow : /c\n";
        let empty = "User-agent: comail\nDisallow:\nUser-agent: *\nDisallow: /";
        let shared = "User-agent: x\nUser-agent: *\nDisallow: /";
        let no_group = "Disallow: /\n<html>User-agent: *";
        let long = "User-agent: *\nDisallow: /shop\nAllow: /shop/contact\nDisallow: /t\nAllow: /t";
        for (case, text, path, expected) in rows! {
            "our group goes before everybody's", own, "/contact" => true;
            "our group forbids", own, "/private/x" => false;
            "a longer name is another's", others, "/contact" => true;
            "the first group of `*`", several, "/a" => false;
            "another's group", several, "/b" => true;
            "groups of one name add up", several, "/c" => false;
            "an empty group of ours allows all", empty, "/x" => true;
            "a group of two names", shared, "/x" => false;
            "no group, no rule", no_group, "/x" => true;
            "the longest match forbids", long, "/shop/x" => false;
            "the longest match allows", long, "/shop/contact.html" => true;
            "of two equals, the one that allows", long, "/t" => true;
        } {
            assert_eq!(allowed(text, path), expected, "{case}");
        }
    }

    #[test]
    fn knows_wildcards_and_ends() {
        let rule = |pattern: &str| format!("User-agent: *\nDisallow: {pattern}");
        for (pattern, path, matches) in [
            ("/*.php", "/a/index.php?x", true),
            ("/*.php$", "/a/index.php", true),
            ("/*.php$", "/a/index.php?x", false),
            ("/*.php$", "/a.php/b.php", true),
            ("/a$", "/a", true),
            ("/a$", "/ab", false),
            ("*", "/", true),
            ("/$", "/", true),
            ("/$", "/x", false),
            ("/a*b*$", "/axxb1", true),
            ("/a*bb", "/ab", false),
            ("/a$b", "/a$bc", true),
            ("/q?a=1", "/q?a=12", true),
            ("/q?a=1", "/q", false),
        ] {
            assert_eq!(!allowed(&rule(pattern), path), matches, "{pattern} {path}");
        }
    }

    #[test]
    fn compares_after_percent_encoding() {
        for (pattern, path) in [
            ("/문의", "/%EB%AC%B8%EC%9D%98"),
            ("/%eb%ac%b8", "/문의"),
            ("/%7Ejoe", "/~joe"),
            ("/a%2fb", "/a%2Fb"),
        ] {
            let text = format!("User-agent: *\nDisallow: {pattern}");
            assert!(!allowed(&text, path), "{pattern} {path}");
        }
        assert!(
            allowed("User-agent: *\nDisallow: /a/b", "/a%2Fb"),
            "an escaped slash is none"
        );
    }

    #[test]
    fn reads_the_crawl_delay() {
        let delay = |text: &str| Rules::parse("comail", text.as_bytes()).crawl_delay;
        let two = Some(Duration::from_secs(2));
        assert_eq!(delay("User-agent: *\nCrawl-delay: 2"), two);
        assert_eq!(delay("User-agent: other\nCrawl-delay: 2"), None);
        assert_eq!(
            delay("User-agent: *\nCrawl-delay: -2\nCrawl-delay: nan\ncrawl-delay:2"),
            two
        );
        let day = Some(Duration::from_hours(24));
        assert_eq!(delay("User-agent: *\nCrawl-delay: inf"), day);
    }

    proptest! {
        #[test]
        fn never_panics(text in proptest::collection::vec(any::<u8>(), 0..200), path in "\\PC*") {
            if let Ok(url) = Url::parse("https://acme.com").unwrap().join(&path) {
                let mut file = b"User-agent: *\nDisallow: ".to_vec();
                file.extend(text);
                let _ = Rules::parse("comail", &file).allow(&url);
            }
        }
    }
}
