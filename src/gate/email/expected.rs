//! How a site agrees with the sites that the operator's anchor names.

use url::Url;

use super::hosted::hosted;
use super::identity::home::LANGUAGES;
use super::on_site::{is_below, on_site, registrable};
use crate::world::domain::HostName;

/// Labels below a registrable domain that its owner uses for itself, and no tenant's name.
const OWN_LABELS: &[&str] = &[
    "about", "blog", "company", "corp", "eng", "global", "home", "ir", "kor", "m", "mall", "shop",
    "store", "web", "www",
];

/// Segments of a path at which a site opens: languages, and its front page.
const LANDINGS: &[&str] = &[
    "chn", "eng", "global", "home", "index", "intro", "jpn", "kor", "main", "site", "web",
];

/// Segments of a path under which a firm's site introduces the firm: pages of the site, and no
/// tenant's place, where nothing else follows.
const INTRODUCTIONS: &[&str] = &[
    "about",
    "about-us",
    "about_us",
    "aboutus",
    "ceo",
    "company",
    "company-info",
    "contact",
    "contact-us",
    "contactus",
    "corporate",
    "greeting",
    "greetings",
    "history",
    "introduce",
    "introduction",
    "location",
    "map",
    "overview",
    "philosophy",
    "vision",
];

/// How a site agrees with an anchor, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// It is what the anchor names.
    Met,
    /// It is of the anchor's domain, which may have sites of others beside the anchor's.
    Beside,
    /// It is another site.
    Not,
}

/// The best agreement of `site` with one of `anchors`; none when there are no anchors.
#[must_use]
pub fn agreement(site: &Url, anchors: &[Url]) -> Option<Agreement> {
    anchors.iter().map(|anchor| with_one(site, anchor)).min()
}

/// An anchor names its whole registrable domain, unless it has a name below that, or a path,
/// which may be one of many: then the site must be of the same host and path. The domain's own
/// site and another path of the host are beside it; a neighbour's host is another site.
fn with_one(site: &Url, anchor: &Url) -> Agreement {
    if !on_site(anchor, site) {
        return Agreement::Not;
    }
    if hosted(anchor).is_some() {
        return Agreement::Met;
    }
    let (own, theirs) = (label(anchor), label(site));
    if own == theirs || (is_own(&own) && is_own(&theirs)) {
        return if is_below(&landing(anchor), site) {
            Agreement::Met
        } else {
            Agreement::Beside
        };
    }
    if is_own(&own) && is_root(&landing(anchor)) {
        return Agreement::Met;
    }
    if is_own(&theirs) {
        Agreement::Beside
    } else {
        Agreement::Not
    }
}

/// What stands before the registrable domain, without `www`.
fn label(url: &Url) -> String {
    let below = HostName::of_url(url).and_then(|host| {
        let domain = registrable(url)?;
        let below = host.as_str().strip_suffix(domain.as_str())?;
        Some(below.trim_end_matches('.').to_owned())
    });
    let below = below.unwrap_or_default();
    match below.strip_prefix("www.") {
        Some(rest) => rest.to_owned(),
        None if below == "www" => String::new(),
        None => below,
    }
}

fn is_own(label: &str) -> bool {
    label.is_empty() || LANGUAGES.contains(&label) || OWN_LABELS.contains(&label)
}

/// The URL at whose path the anchor's site begins: without the file, the languages and the
/// front pages at its end, and without the path of a page that introduces the firm.
fn landing(anchor: &Url) -> Url {
    let mut landing = anchor.clone();
    let mut segments: Vec<&str> = anchor.path().split('/').filter(|s| !s.is_empty()).collect();
    if segments.last().is_some_and(|last| last.contains('.')) {
        segments.pop();
    }
    while segments.last().is_some_and(|last| is_landing(last)) {
        segments.pop();
    }
    if anchor.query().is_none() && is_introduction(anchor) {
        segments.clear();
    }
    landing.set_path(&segments.join("/"));
    landing
}

fn is_landing(segment: &str) -> bool {
    let segment = segment.to_ascii_lowercase();
    let is_language = segment.len() == 2 && segment.bytes().all(|b| b.is_ascii_lowercase());
    is_language || LANDINGS.contains(&segment.as_str())
}

/// Whether a path is that of a page which introduces the firm, and not of an entry of many.
fn is_introduction(anchor: &Url) -> bool {
    let mut segments = anchor.path().split('/').filter(|s| !s.is_empty());
    segments.all(|segment| {
        let name = segment.split('.').next().unwrap_or(segment);
        let name = name.to_ascii_lowercase();
        let is_file = segment.contains('.') && !name.starts_with(|c: char| c.is_ascii_digit());
        let name = if is_file {
            // `company01.html` is one of a few pages of a firm.
            name.trim_end_matches(|c: char| c.is_ascii_digit())
                .trim_end_matches(['-', '_'])
        } else {
            &name
        };
        is_landing(name) || INTRODUCTIONS.contains(&name)
    })
}

fn is_root(url: &Url) -> bool {
    url.path() == "/"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(anchor: &str, site: &str) -> Agreement {
        let (anchor, site) = (Url::parse(anchor).unwrap(), Url::parse(site).unwrap());
        agreement(&site, &[anchor]).unwrap()
    }

    #[test]
    fn a_domain_or_its_front_page_names_the_whole_domain() {
        for anchor in [
            "https://acme.co.kr/",
            "https://www.acme.co.kr/",
            "https://www.acme.co.kr/en/main.do",
            "https://www.acme.co.kr/index.html",
            "https://en.acme.co.kr/",
            "https://shop.acme.co.kr/kr/",
        ] {
            for site in [
                "https://www.acme.co.kr/",
                "http://acme.co.kr/kr/",
                "https://foods.acme.co.kr/",
            ] {
                assert_eq!(of(anchor, site), Agreement::Met, "{anchor} {site}");
            }
        }
    }

    #[test]
    fn a_name_or_a_path_that_may_be_one_of_many_names_itself() {
        let tenant = "https://acme.gamma.kr/";
        assert_eq!(of(tenant, "https://www.acme.gamma.kr/x"), Agreement::Met);
        assert_eq!(of(tenant, "https://evil.gamma.kr/"), Agreement::Not);
        assert_eq!(of(tenant, "https://www.gamma.kr/"), Agreement::Beside);
        let tenant = "https://www.gamma.kr/acme";
        assert_eq!(of(tenant, "http://gamma.kr/acme/contact"), Agreement::Met);
        for site in ["/evil", "/", "/acme2"] {
            let site = format!("https://www.gamma.kr{site}");
            assert_eq!(of(tenant, &site), Agreement::Beside, "{site}");
        }
        assert_eq!(of(tenant, "https://evil.gamma.kr/acme"), Agreement::Not);
    }

    #[test]
    fn a_page_that_introduces_the_firm_names_the_whole_domain() {
        for anchor in [
            "https://www.acme.co.kr/company/greeting.html",
            "https://www.acme.co.kr/kr/company/company01.php",
            "https://www.acme.co.kr/company/about/",
            "https://www.acme.co.kr/about-us",
            "https://www.acme.co.kr/en/company/ceo",
        ] {
            assert_eq!(
                of(anchor, "https://www.acme.co.kr/"),
                Agreement::Met,
                "{anchor}"
            );
        }
        for anchor in [
            "https://www.gamma.kr/company/17",
            "https://www.gamma.kr/company/17.html",
            "https://www.gamma.kr/company/acme",
            "https://www.gamma.kr/company/acme/about",
            "https://www.gamma.kr/company/view.php?id=17",
            "https://www.gamma.kr/company/about.php?id=17",
            "https://www.gamma.kr/acme/company/greeting.html",
        ] {
            assert_eq!(
                of(anchor, "https://www.gamma.kr/"),
                Agreement::Beside,
                "{anchor}"
            );
        }
    }

    #[test]
    fn the_best_of_several_counts() {
        let url = |text: &str| Url::parse(text).unwrap();
        let anchors = [url("https://acme.com/"), url("https://acme.co.kr/")];
        let site = url("https://acme.co.kr/");
        assert_eq!(agreement(&site, &anchors), Some(Agreement::Met));
        assert_eq!(agreement(&site, &[]), None);
    }
}
