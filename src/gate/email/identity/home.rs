//! The site's home page.

use url::Url;

use super::super::hosted::hosted;
use crate::world::visit::{End, Visit};

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
    fn a_hosted_site_itself() {
        let site = "https://blog.naver.com/acme";
        assert_eq!(home(site), site);
    }
}
