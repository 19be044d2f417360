//! Sites that are pages on somebody else's host.

use std::fmt;

use url::Url;

use super::lists::HOSTED;
use crate::world::domain::HostName;

/// On whose host a site stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hosted {
    /// A host of the list, or one above the site's.
    Listed(&'static str),
    /// A suffix from the private part of the Public Suffix List, below which anyone may have
    /// a name (`github.io`).
    PrivateSuffix(String),
}

/// On whose host `site` stands; none where it stands on its own.
///
/// A platform's front page counts as hosted too: what other pages of that host say, anyone
/// may have written.
#[must_use]
pub fn hosted(site: &Url) -> Option<Hosted> {
    let host = HostName::of_url(site)?;
    if host.public_suffix_is_private() {
        let suffix = host.registrable()?.suffix().to_owned();
        return Some(Hosted::PrivateSuffix(suffix));
    }
    HOSTED.covering(host.as_str()).map(Hosted::Listed)
}

impl fmt::Display for Hosted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(host) => write!(f, "{host} hosts pages of many owners"),
            Self::PrivateSuffix(suffix) => write!(f, "{suffix} gives names to many owners"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Option<Hosted> {
        hosted(&Url::parse(url).unwrap())
    }

    #[test]
    fn knows_listed_hosts_and_what_lies_below_them() {
        assert_eq!(
            of("https://www.facebook.com/acme"),
            Some(Hosted::Listed("facebook.com"))
        );
        assert_eq!(
            of("https://facebook.com/"),
            Some(Hosted::Listed("facebook.com"))
        );
        assert_eq!(
            of("https://blog.naver.com/acme"),
            Some(Hosted::Listed("blog.naver.com"))
        );
        assert_eq!(
            of("https://acme.tistory.com/"),
            Some(Hosted::Listed("tistory.com"))
        );
    }

    #[test]
    fn knows_private_suffixes() {
        let github = Hosted::PrivateSuffix("github.io".to_owned());
        assert_eq!(of("https://acme.github.io/"), Some(github));
    }

    #[test]
    fn lets_own_hosts_through() {
        for url in [
            "https://acme.co.kr/",
            "https://www.naver.com/",
            "https://notfacebook.com/",
            "https://facebook.com.acme.co.kr/",
            "https://acme.co.kr/facebook.com",
        ] {
            assert_eq!(of(url), None, "{url}");
        }
    }
}
