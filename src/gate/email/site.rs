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
    let lower = piece.to_ascii_lowercase();
    let mut schemes = ["http://", "https://"].into_iter();
    let url = match schemes.find_map(|scheme| lower.find(scheme)) {
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

/// `acme.co.kr` of `Web:acme.co.kr`; a port stays.
fn without_label(piece: &str) -> &str {
    match piece.split_once(':') {
        Some((_, rest)) if !rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
        _ => piece,
    }
}

/// The host of others that has `site`; none if the site has its own host.
///
/// A platform's front page counts as hosted too: what other pages of that host say, anyone
/// may have written.
pub fn hosted(site: &Url) -> Option<String> {
    let host = HostName::of_url(site)?;
    if host.public_suffix_is_private() {
        let domain = host.registrable()?;
        let suffix = domain.suffix();
        return Some(format!("anyone can get a name under {suffix}"));
    }
    let listed = HOSTED.covering(host.as_str())?;
    Some(format!("{listed} hosts the pages of many owners"))
}

/// Whether `page` is on `site`.
///
/// A site with a host of its own owns its whole registrable domain, save hosts on which others
/// have pages (`blog.naver.com` is not on `naver.com`). A hosted site owns what is below its
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

word_lists! {
    /// Labels of two letters by which firms part their own site: languages (ISO 639-1) and
    /// countries (ISO 3166-1) that sites are commonly made for.
    LANGUAGES = "lists/languages.txt";
    OWN_LABELS = "lists/own_labels.txt";
    /// Segments of a path at which a site opens: languages, and its front page.
    LANDINGS = "lists/landings.txt";
    /// Segments of a path under which a firm's site introduces the firm: pages of the site, and no
    /// tenant's place, where nothing else follows.
    INTRODUCTIONS = "lists/introductions.txt";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    Same,
    /// It is of the anchor's domain, which may also have sites of others.
    OtherPart,
    OtherSite,
}

/// The best agreement of `site` with one of `anchors`; none when there are no anchors.
pub fn agreement(site: &Url, anchors: &[Url]) -> Option<Agreement> {
    anchors.iter().map(|anchor| with_one(site, anchor)).min()
}

/// An anchor names its whole registrable domain, unless it has a name below that, or a path,
/// which may be one of many: then the site must be of the same host and path. The domain's own
/// site and another path of the host are other parts of it; a neighbour's host is another site.
fn with_one(site: &Url, anchor: &Url) -> Agreement {
    if !on_site(anchor, site) {
        return Agreement::OtherSite;
    }
    if hosted(anchor).is_some() {
        return Agreement::Same;
    }
    let (own, theirs) = (label(anchor), label(site));
    if own == theirs || (is_own(&own) && is_own(&theirs)) {
        return if is_below(&landing(anchor), site) {
            Agreement::Same
        } else {
            Agreement::OtherPart
        };
    }
    if is_own(&own) && landing(anchor).path() == "/" {
        return Agreement::Same;
    }
    if is_own(&theirs) {
        Agreement::OtherPart
    } else {
        Agreement::OtherSite
    }
}

/// Whether an anchor says whose the site is, and who reads mail at `mail`, so that no name is needed.
///
/// It must name the whole domain, since a path or a name below it may be one of many's (`kr.gamma.kr`
/// too), unless the mail is of that very name.
pub fn vouches(anchors: &[Url], site: &Url, mail: &HostName) -> bool {
    anchors.iter().any(|anchor| {
        let is_met = with_one(site, anchor) == Agreement::Same;
        let host = HostName::of_url(anchor).unwrap_or_else(|| mail.clone());
        let name = host.as_str().strip_prefix("www.").unwrap_or(host.as_str());
        let rest = mail.as_str().strip_suffix(name);
        let is_of_name = rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        let is_whole = is_of_name && landing(anchor).path() == "/";
        is_met && (hosted(anchor).is_some() || is_whole)
    })
}

/// Whether mail at `mail`, below the site's domain, may be a customer's of the site: a page of another
/// name below the domain shows the address, and the site's own pages do not.
pub fn may_be_customers(mail: &HostName, site: &Url, source: &Url) -> bool {
    let of_mail = below(Some(mail.clone()));
    !is_own(&of_mail) && !is_own(&label(source)) && of_mail != label(site)
}

/// The labels before the registrable domain, without `www`.
fn label(url: &Url) -> String {
    below(HostName::of_url(url))
}

fn below(host: Option<HostName>) -> String {
    let below = host.and_then(|host| host.below_domain().map(str::to_owned));
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::base::rows;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    fn sites(text: &str) -> Vec<String> {
        anchor_sites(text).into_iter().map(Into::into).collect()
    }

    #[test]
    fn reads_a_cell_as_people_mean_it() {
        for (text, site) in rows! {
            "acme.co.kr" => "https://acme.co.kr/";
            " WWW.acme.co.kr/en " => "https://www.acme.co.kr/en";
            "http://acme.co.kr" => "http://acme.co.kr/";
            "한빛.한국" => "https://xn--xx3br43b.xn--3e0b707e/";
            "ａｃｍｅ．ｃｏ．ｋｒ" => "https://acme.co.kr/";
            "\u{feff}ac\u{200b}me.kr" => "https://acme.kr/";
            "홈페이지：acme.kr" => "https://acme.kr/";
            "URL:HTTP://acme.kr/a/../b" => "http://acme.kr/b";
            "acme.kr:8080/en" => "https://acme.kr:8080/en";
        } {
            assert_eq!(sites(text), [site], "{text}");
        }
        let several = "acme.co.kr, acme.com\nhttps://acme.jp/（本社） / acme.de.";
        let hosts = ["acme.co.kr", "acme.com", "acme.jp", "acme.de"];
        assert_eq!(sites(several), hosts.map(|host| format!("https://{host}/")));
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

    #[test]
    fn knows_listed_hosts_private_suffixes_and_own_hosts() {
        for (site, host) in rows! {
            "https://www.facebook.com/acme" => "facebook.com hosts the pages of many owners";
            "https://facebook.com/" => "facebook.com hosts the pages of many owners";
            "https://blog.naver.com/acme" => "blog.naver.com hosts the pages of many owners";
            "https://acme.tistory.com/" => "tistory.com hosts the pages of many owners";
            "https://acme.github.io/" => "anyone can get a name under github.io";
            "https://acme.co.kr/" => "";
            "https://www.naver.com/" => "";
            "https://notfacebook.com/" => "";
            "https://facebook.com.acme.co.kr/" => "";
            "https://acme.co.kr/facebook.com" => "";
        } {
            assert_eq!(hosted(&url(site)).unwrap_or_default(), host, "{site}");
        }
    }

    #[test]
    fn a_page_is_on_a_domain_or_below_the_path_of_a_hosted_site() {
        let hosted = "https://www.facebook.com/acme/";
        let profile = "https://www.facebook.com/profile.php?id=1";
        let github = "https://acme.github.io";
        for (site, page, expected) in rows! {
            "https://www.acme.co.kr/en", "http://shop.acme.co.kr:8080/" => true;
            "https://acme.co.kr/", "https://acme.com/" => false;
            "https://acme.co.kr/", "https://acme.co.kr.evil.kr/" => false;
            "https://a.co.kr/", "https://b.co.kr/" => false;
            "https://127.0.0.1/", "https://127.0.0.1/" => false;
            "https://naver.com/", "https://www.naver.com/" => true;
            "https://naver.com/", "https://blog.naver.com/evil" => false;
            hosted, "https://www.facebook.com/acme" => true;
            hosted, "http://www.facebook.com/acme/about?ref=a" => true;
            hosted, "https://www.facebook.com/acme2/about" => false;
            hosted, "https://www.facebook.com/ACME/about" => false;
            hosted, "https://www.facebook.com/" => false;
            hosted, "https://m.facebook.com/acme/about" => false;
            hosted, "https://www.facebook.com:8443/acme/" => false;
            hosted, "https://acme.co.kr/acme/" => false;
            github, "https://acme.github.io/contact" => true;
            github, "https://evil.github.io/contact" => false;
            profile, "https://www.facebook.com/profile.php?sk=about&id=1" => true;
            profile, "https://www.facebook.com/profile.php?id=2" => false;
        } {
            assert_eq!(on_site(&url(site), &url(page)), expected, "{site} {page}");
        }
    }

    fn of(anchor: &str, site: &str) -> Agreement {
        agreement(&url(site), &[url(anchor)]).unwrap()
    }

    #[test]
    fn a_domain_or_its_front_page_names_the_whole_domain() {
        for anchor in "https://acme.co.kr/ https://www.acme.co.kr/ https://www.acme.co.kr/en/main.do
                https://www.acme.co.kr/index.html https://en.acme.co.kr/
                https://shop.acme.co.kr/kr/"
            .split_whitespace()
        {
            for site in [
                "https://www.acme.co.kr/",
                "http://acme.co.kr/kr/",
                "https://foods.acme.co.kr/",
            ] {
                assert_eq!(of(anchor, site), Agreement::Same, "{anchor} {site}");
            }
        }
    }

    #[test]
    fn a_name_or_a_path_that_may_be_one_of_many_names_itself() {
        use Agreement::{OtherPart, OtherSite, Same};
        let (name, path) = ("https://acme.gamma.kr/", "https://www.gamma.kr/acme");
        for (anchor, site, expected) in rows! {
            name, "https://www.acme.gamma.kr/x" => Same;
            name, "https://evil.gamma.kr/" => OtherSite;
            name, "https://www.gamma.kr/" => OtherPart;
            path, "http://gamma.kr/acme/contact" => Same;
            path, "https://www.gamma.kr/evil" => OtherPart;
            path, "https://www.gamma.kr/" => OtherPart;
            path, "https://www.gamma.kr/acme2" => OtherPart;
            path, "https://evil.gamma.kr/acme" => OtherSite;
        } {
            assert_eq!(of(anchor, site), expected, "{anchor} {site}");
        }
    }

    #[test]
    fn a_page_that_introduces_the_firm_names_the_whole_domain() {
        for (path, expected) in rows! {
            "company/greeting.html" => Agreement::Same;
            "kr/company/company01.php" => Agreement::Same;
            "company/about/" => Agreement::Same;
            "about-us" => Agreement::Same;
            "en/company/ceo" => Agreement::Same;
            "company/17" => Agreement::OtherPart;
            "company/17.html" => Agreement::OtherPart;
            "company/acme" => Agreement::OtherPart;
            "company/acme/about" => Agreement::OtherPart;
            "company/view.php?id=17" => Agreement::OtherPart;
            "company/about.php?id=17" => Agreement::OtherPart;
            "acme/company/greeting.html" => Agreement::OtherPart;
        } {
            let anchor = format!("https://www.gamma.kr/{path}");
            assert_eq!(of(&anchor, "https://www.gamma.kr/"), expected, "{path}");
        }
    }

    #[test]
    fn the_best_of_several_counts() {
        let anchors = [url("https://acme.com/"), url("https://acme.co.kr/")];
        let site = url("https://acme.co.kr/");
        assert_eq!(agreement(&site, &anchors), Some(Agreement::Same));
        assert_eq!(agreement(&site, &[]), None);
    }
}
