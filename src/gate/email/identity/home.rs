//! The site's home page.

use url::Url;

use super::super::hosted::hosted;
use crate::world::domain::HostName;
use crate::world::fetch::visit::{End, Visit};
use crate::world::mailbox::Mailbox;

/// What became of the visit to the home page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home<'a> {
    /// A page on the site answered.
    Answered(&'a Visit),
    /// A page answered that is not on the site.
    Elsewhere(&'a Url),
    /// There is none.
    Missing,
    /// No definite answer, or nothing that can be read.
    Silent(String),
}

impl<'a> Home<'a> {
    /// What became of `visit`; `is_own` tells the pages of the site.
    pub fn of(visit: &'a Visit, is_own: impl Fn(&Url) -> bool) -> Self {
        match &visit.end {
            End::Pages(pages) => match pages.first() {
                Some(page) if is_own(&page.url) => Self::Answered(visit),
                Some(page) => Self::Elsewhere(&page.url),
                None => Self::Missing,
            },
            End::Missing { .. } => Self::Missing,
            End::Unanswered { why, .. } => Self::Silent(why.to_string()),
            End::Forbidden { .. } => Self::Silent("robots.txt forbids it".to_owned()),
            End::Unreadable { why, .. } => Self::Silent(why.clone()),
        }
    }
}

/// The home page of `site`: the root of its host, or the site itself where its host is not its
/// own.
#[must_use]
pub fn url(site: &Url) -> Url {
    let mut home = site.clone();
    home.set_fragment(None);
    if hosted(site).is_none() {
        home.set_path("/");
        home.set_query(None);
    }
    home
}

/// The page that introduces who reads mail at `email`: the home page of `site`, or, where that
/// may be anybody's, the one of its registrable domain.
#[must_use]
pub fn of(site: &Url, email: &Mailbox) -> Url {
    let mut home = url(site);
    if !introduces(&home, email)
        && let Some(domain) = HostName::of_url(&home).and_then(|host| host.registrable())
        && home.set_host(Some(&format!("www.{domain}"))).is_err()
    {
        // A registrable domain is a host, and so is `www.` before it.
        return url(site);
    }
    home
}

/// Labels of two letters by which firms part their own site: languages (ISO 639-1) and
/// countries (ISO 3166-1) that sites are commonly made for.
pub const LANGUAGES: &[&str] = &[
    "ar", "at", "au", "be", "bg", "br", "ca", "ch", "cn", "cs", "cz", "da", "de", "dk", "el", "en",
    "es", "et", "eu", "fi", "fr", "gb", "gr", "he", "hk", "hr", "hu", "id", "ie", "il", "in", "it",
    "ja", "jp", "ko", "kr", "lt", "lv", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ro", "ru",
    "se", "sg", "sk", "sl", "sv", "th", "tr", "tw", "ua", "uk", "us", "vi", "vn", "zh",
];

/// Whether a home page may introduce, by its title and headings, who reads mail at `email`.
///
/// A name below a registrable domain may be given to anybody, as portals do (`c17.jobs.kr`):
/// its front page introduces whoever has that name, and not the domain's owner. So it counts
/// where the address is of that very name, and on hosts that stand for the whole domain: the
/// domain itself, `www`, `m`, and languages or countries of two letters.
#[must_use]
pub fn introduces(home: &Url, email: &Mailbox) -> bool {
    if hosted(home).is_some() {
        return true;
    }
    let Some((host, domain)) = HostName::of_url(home).and_then(|host| {
        let domain = host.registrable()?;
        Some((host, domain))
    }) else {
        return false;
    };
    let host = host.as_str();
    let below = host.strip_suffix(domain.as_str()).unwrap_or_default();
    let below = below.trim_end_matches('.');
    let is_language = LANGUAGES.contains(&below);
    let own = host.strip_prefix("www.").unwrap_or(host);
    let of_own = email.domain().as_str().strip_suffix(own);
    matches!(below, "" | "www" | "m")
        || is_language
        || of_own.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(site: &str) -> String {
        url(&Url::parse(site).unwrap()).into()
    }

    #[test]
    fn the_root_of_an_own_host() {
        assert_eq!(
            home("https://www.acme.co.kr/en/?q=Acme#x"),
            "https://www.acme.co.kr/"
        );
        assert_eq!(home("http://acme.co.kr:8080/a"), "http://acme.co.kr:8080/");
    }

    #[test]
    fn a_name_below_a_domain_introduces_its_own_mail_alone() {
        let introduces = |home: &str, email: &str| {
            introduces(&Url::parse(home).unwrap(), &Mailbox::parse(email).unwrap())
        };
        for home in [
            "acme.co.kr",
            "www.acme.co.kr",
            "en.acme.co.kr",
            "m.acme.co.kr",
        ] {
            let home = format!("https://{home}/");
            assert!(introduces(&home, "info@acme.co.kr"), "{home}");
        }
        let foods = "https://foods.acme.co.kr/";
        assert!(introduces(foods, "info@foods.acme.co.kr"));
        assert!(introduces(foods, "info@mail.foods.acme.co.kr"));
        assert!(introduces(
            "https://www.foods.acme.co.kr/",
            "info@foods.acme.co.kr"
        ));
        for email in [
            "info@acme.co.kr",
            "info@toys.acme.co.kr",
            "info@xfoods.acme.co.kr",
        ] {
            assert!(!introduces(foods, email), "{email}");
        }
        assert!(!introduces("https://c1.acme.co.kr/", "info@acme.co.kr"));
        assert!(introduces("https://acme.tistory.com/", "info@acme.co.kr"));
    }

    #[test]
    fn a_name_that_may_be_anybodys_is_introduced_by_its_domain() {
        let of = |site: &str, email: &str| {
            let (site, email) = (Url::parse(site).unwrap(), Mailbox::parse(email).unwrap());
            String::from(of(&site, &email))
        };
        let shop = "http://shop17.gamma.kr:8080/x";
        assert_eq!(of(shop, "info@gamma.kr"), "http://www.gamma.kr:8080/");
        assert_eq!(
            of(shop, "info@shop17.gamma.kr"),
            "http://shop17.gamma.kr:8080/"
        );
        assert_eq!(
            of("https://en.gamma.kr/", "info@gamma.kr"),
            "https://en.gamma.kr/"
        );
    }

    #[test]
    fn a_hosted_site_itself() {
        let site = "https://blog.naver.com/acme";
        assert_eq!(home(site), site);
    }
}
