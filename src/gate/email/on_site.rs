//! Whether a page is on a site.

use url::Url;

use super::hosted::hosted;
use crate::world::domain::{HostName, RegistrableDomain};

/// Whether `page` is on `site`.
///
/// A site with a host of its own owns its whole registrable domain, save hosts on which others
/// have pages (`blog.naver.com` is not on `naver.com`). A hosted site owns what lies below its
/// path: same host (`www.` counts) and port, every segment of its path, every pair of its query;
/// http and https are one.
#[must_use]
pub fn on_site(site: &Url, page: &Url) -> bool {
    match (hosted(site), hosted(page)) {
        (None, None) => {
            let own = registrable(site);
            own.is_some() && own == registrable(page)
        }
        (None, Some(_)) => false,
        (Some(_), _) => {
            site.host_str() == page.host_str()
                && site.port() == page.port()
                && is_below(site, page)
                && site
                    .query_pairs()
                    .all(|pair| page.query_pairs().any(|other| other == pair))
        }
    }
}

/// The registrable domain of a URL's host.
#[must_use]
pub fn registrable(url: &Url) -> Option<RegistrableDomain> {
    HostName::of_url(url)?.registrable()
}

/// Whether the path of `page` is that of `site`, or lies below it.
#[must_use]
pub fn is_below(site: &Url, page: &Url) -> bool {
    let base = site.path().trim_end_matches('/');
    page.path()
        .strip_prefix(base)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(site: &str, page: &str) -> bool {
        on_site(&Url::parse(site).unwrap(), &Url::parse(page).unwrap())
    }

    #[test]
    fn an_own_site_is_its_registrable_domain() {
        assert!(on(
            "https://www.acme.co.kr/en",
            "http://shop.acme.co.kr:8080/"
        ));
        assert!(!on("https://acme.co.kr/", "https://acme.com/"));
        assert!(!on("https://acme.co.kr/", "https://acme.co.kr.evil.kr/"));
        assert!(!on("https://a.co.kr/", "https://b.co.kr/"));
        assert!(!on("https://127.0.0.1/", "https://127.0.0.1/"));
    }

    #[test]
    fn pages_of_others_are_on_no_own_site() {
        assert!(on("https://naver.com/", "https://www.naver.com/"));
        assert!(!on("https://naver.com/", "https://blog.naver.com/evil"));
    }

    #[test]
    fn a_hosted_site_is_its_host_and_path() {
        let site = "https://www.facebook.com/acme/";
        assert!(on(site, "https://www.facebook.com/acme"));
        assert!(on(site, "http://www.facebook.com/acme/about?ref=a"));
        assert!(!on(site, "https://www.facebook.com/acme2/about"));
        assert!(!on(site, "https://www.facebook.com/ACME/about"));
        assert!(!on(site, "https://www.facebook.com/"));
        assert!(!on(site, "https://m.facebook.com/acme/about"));
        assert!(!on(site, "https://www.facebook.com:8443/acme/"));
        assert!(!on(site, "https://acme.co.kr/acme/"));
        assert!(on(
            "https://acme.github.io",
            "https://acme.github.io/contact"
        ));
        assert!(!on(
            "https://acme.github.io",
            "https://evil.github.io/contact"
        ));
    }

    #[test]
    fn a_hosted_site_may_be_named_by_its_query() {
        let site = "https://www.facebook.com/profile.php?id=1";
        assert!(on(
            site,
            "https://www.facebook.com/profile.php?sk=about&id=1"
        ));
        assert!(!on(site, "https://www.facebook.com/profile.php?id=2"));
    }
}
