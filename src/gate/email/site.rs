//! Whose site a page belongs to: hosted pages, registrable domains, and the operator's anchors.

use unicode_normalization::UnicodeNormalization as _;
use url::Url;

use super::lists::HOSTED;
use super::web_url::{BadWebUrl, web_url};
use crate::base::text::invisible;
use crate::base::word_list::word_lists;
use crate::quest::{Anchor, Quest};
use crate::world::domain::{HostName, RegistrableDomain};

/// The sites that a cell names, in its order: `acme.co.kr`, `www.acme.co.kr/en`,
/// `https://acme.co.kr`, or several of them apart by white space, commas or brackets.
///
/// The cell is the operator's, so it is read as it is meant: full-width letters count as
/// ASCII ones, invisible characters as none, and a label such as `Web:` is passed over. What
/// is no site (`-`, `n/a`, `없음`) is left out.
pub fn anchor_sites(text: &str) -> Vec<Url> {
    let plain: String = text.nfkc().filter(|c| !invisible(*c)).collect();
    plain.split(is_between).filter_map(site).collect()
}

pub fn is_anchored(quest: &Quest) -> bool {
    !sites_of(quest).is_empty()
}

pub fn sites_of(quest: &Quest) -> Vec<Url> {
    match &quest.anchor {
        Some(Anchor::Site(text)) => anchor_sites(text),
        None => Vec::new(),
    }
}

fn is_between(c: char) -> bool {
    c.is_whitespace() || c.is_control() || ",;|<>()[]{}\"'、「」·".contains(c)
}

fn site(piece: &str) -> Option<Url> {
    let piece = piece.trim_end_matches(['.', ':']);
    let url = match scheme_at(piece) {
        Some(start) => piece.get(start..)?.to_owned(),
        None => format!("https://{}", without_label(piece)),
    };
    match web_url(&url) {
        Ok(url) => Some(url),
        // The host has been found good; only path or query is not as a browser writes it.
        Err(BadWebUrl::Repaired(url)) => Some(*url),
        Err(_) => None,
    }
}

fn scheme_at(piece: &str) -> Option<usize> {
    let lower = piece.to_ascii_lowercase();
    ["http://", "https://"]
        .into_iter()
        .find_map(|scheme| lower.find(scheme))
}

/// `acme.co.kr` of `Web:acme.co.kr`; a port stays.
fn without_label(piece: &str) -> &str {
    match piece.split_once(':') {
        Some((_, rest)) if !rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => piece,
    }
}

/// On whose host `site` stands; none where it stands on its own.
///
/// A platform's front page counts as hosted too: what other pages of that host say, anyone
/// may have written.
pub fn hosted(site: &Url) -> Option<String> {
    let host = HostName::of_url(site)?;
    if host.public_suffix_is_private() {
        let domain = host.registrable()?;
        let suffix = domain.suffix();
        return Some(format!("{suffix} gives names to many owners"));
    }
    let listed = HOSTED.covering(host.as_str())?;
    Some(format!("{listed} hosts pages of many owners"))
}

/// Whether `page` is on `site`.
///
/// A site with a host of its own owns its whole registrable domain, save hosts on which others
/// have pages (`blog.naver.com` is not on `naver.com`). A hosted site owns what lies below its
/// path: same host (`www.` counts) and port, every segment of its path, every pair of its query;
/// http and https are one.
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

pub fn registrable(url: &Url) -> Option<RegistrableDomain> {
    HostName::of_url(url)?.registrable()
}

pub fn is_below(site: &Url, page: &Url) -> bool {
    let base = site.path().trim_end_matches('/');
    page.path()
        .strip_prefix(base)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Labels of two letters by which firms part their own site: languages (ISO 639-1) and
/// countries (ISO 3166-1) that sites are commonly made for.
pub const LANGUAGES: &[&str] = &[
    "ar", "at", "au", "be", "bg", "br", "ca", "ch", "cn", "cs", "cz", "da", "de", "dk", "el", "en",
    "es", "et", "eu", "fi", "fr", "gb", "gr", "he", "hk", "hr", "hu", "id", "ie", "il", "in", "it",
    "ja", "jp", "ko", "kr", "lt", "lv", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ro", "ru",
    "se", "sg", "sk", "sl", "sv", "th", "tr", "tw", "ua", "uk", "us", "vi", "vn", "zh",
];

const OWN_LABELS: &[&str] = &[
    "about", "blog", "company", "corp", "eng", "global", "home", "ir", "kor", "m", "mall", "shop",
    "store", "web", "www",
];

/// Segments of a path at which a site opens: languages, and its front page.
const LANDINGS: &[&str] = &[
    "chn", "eng", "global", "home", "index", "intro", "jpn", "kor", "main", "site", "web",
];

word_lists! {
    /// Segments of a path under which a firm's site introduces the firm: pages of the site, and no
    /// tenant's place, where nothing else follows.
    INTRODUCTIONS = "lists/introductions.txt";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Met,
    /// It is of the anchor's domain, which may have sites of others beside the anchor's.
    Beside,
    Not,
}

/// The best agreement of `site` with one of `anchors`; none when there are no anchors.
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
mod tests_anchor {
    use proptest::prelude::*;

    use super::*;

    fn sites(text: &str) -> Vec<String> {
        anchor_sites(text).into_iter().map(Into::into).collect()
    }

    #[test]
    fn reads_what_people_write_in_cells() {
        assert_eq!(sites("acme.co.kr"), ["https://acme.co.kr/"]);
        assert_eq!(sites(" WWW.acme.co.kr/en "), ["https://www.acme.co.kr/en"]);
        assert_eq!(sites("http://acme.co.kr"), ["http://acme.co.kr/"]);
        assert_eq!(sites("한빛.한국"), ["https://xn--xx3br43b.xn--3e0b707e/"]);
        assert_eq!(
            sites("acme.co.kr, acme.com\nhttps://acme.jp/（本社） / acme.de."),
            [
                "https://acme.co.kr/",
                "https://acme.com/",
                "https://acme.jp/",
                "https://acme.de/"
            ]
        );
    }

    #[test]
    fn reads_a_cell_as_it_is_meant() {
        assert_eq!(sites("ａｃｍｅ．ｃｏ．ｋｒ"), ["https://acme.co.kr/"]);
        assert_eq!(sites("\u{feff}ac\u{200b}me.kr"), ["https://acme.kr/"]);
        assert_eq!(sites("홈페이지：acme.kr"), ["https://acme.kr/"]);
        assert_eq!(sites("URL:HTTP://acme.kr/a/../b"), ["http://acme.kr/b"]);
        assert_eq!(sites("acme.kr:8080/en"), ["https://acme.kr:8080/en"]);
    }

    #[test]
    fn what_is_no_site_is_no_anchor() {
        for text in [
            "",
            " ",
            "-",
            "n/a",
            "N/A",
            "없음",
            "미상",
            "?",
            "02-123-4567",
            "2024.05",
            "info@acme.co.kr",
        ] {
            assert_eq!(sites(text), [""; 0], "{text}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = anchor_sites(&text);
        }
    }
}

#[cfg(test)]
mod tests_hosted {
    use super::*;

    fn listed(host: &str) -> Option<String> {
        Some(format!("{host} hosts pages of many owners"))
    }

    fn of(url: &str) -> Option<String> {
        hosted(&Url::parse(url).unwrap())
    }

    #[test]
    fn knows_listed_hosts_and_what_lies_below_them() {
        assert_eq!(of("https://www.facebook.com/acme"), listed("facebook.com"));
        assert_eq!(of("https://facebook.com/"), listed("facebook.com"));
        assert_eq!(of("https://blog.naver.com/acme"), listed("blog.naver.com"));
        assert_eq!(of("https://acme.tistory.com/"), listed("tistory.com"));
    }

    #[test]
    fn knows_private_suffixes() {
        let github = "github.io gives names to many owners".to_owned();
        assert_eq!(of("https://acme.github.io/"), Some(github));
    }

    #[test]
    fn lets_own_hosts_through() {
        for url in "https://acme.co.kr/ https://www.naver.com/ https://notfacebook.com/
            https://facebook.com.acme.co.kr/ https://acme.co.kr/facebook.com"
            .split_whitespace()
        {
            assert_eq!(of(url), None, "{url}");
        }
    }
}

#[cfg(test)]
mod tests_on_site {
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

#[cfg(test)]
mod tests_expected {
    use super::*;

    fn of(anchor: &str, site: &str) -> Agreement {
        let (anchor, site) = (Url::parse(anchor).unwrap(), Url::parse(site).unwrap());
        agreement(&site, &[anchor]).unwrap()
    }

    #[test]
    fn a_domain_or_its_front_page_names_the_whole_domain() {
        for anchor in "https://acme.co.kr/ https://www.acme.co.kr/
            https://www.acme.co.kr/en/main.do https://www.acme.co.kr/index.html
            https://en.acme.co.kr/ https://shop.acme.co.kr/kr/"
            .split_whitespace()
        {
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
