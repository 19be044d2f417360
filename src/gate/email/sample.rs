//! Addresses that belong to nobody who could be meant: samples, masks, files, platforms.

use std::fmt;

use url::Url;

use super::hosted::hosted;
use super::lists::{FILE_SUFFIX, PLATFORM, RESERVED, SAMPLE_ADDRESS, SAMPLE_DOMAIN, SAMPLE_LOCAL};
use super::on_site::registrable;
use super::written::Written;
use crate::world::domain::HostName;

/// Why an address is a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sample {
    /// Its domain ends like a file's name.
    File(&'static str),
    /// Its domain is reserved (RFC 2606, RFC 6761).
    Reserved(String),
    /// Its domain is one that templates show.
    Domain(String),
    /// Its local part is one that templates show.
    Local(String),
    /// The whole address is one that templates show.
    Address(String),
    /// It has a hole that a template should have filled.
    Unfilled,
    /// Part of it is hidden by asterisks.
    Masked,
    /// It belongs to a platform that is not the company.
    Platform(&'static str),
    /// It is the key of an error tracker.
    Tracker,
}

/// What makes `written` a placeholder.
///
/// A platform's own address is one only where the site is not that platform's.
#[must_use]
pub fn sample(written: &Written, site: Option<&Url>) -> Option<Sample> {
    let Written { local, domain } = written;
    if let Some(suffix) = file_suffix(domain) {
        return Some(Sample::File(suffix));
    }
    if RESERVED.covering(domain).is_some() || label(domain).as_deref() == Some("example") {
        return Some(Sample::Reserved(domain.clone()));
    }
    if is_tracker_key(local, domain) {
        return Some(Sample::Tracker);
    }
    if local.contains(['{', '}', '[', ']', '$']) || is_framed(local, '%') || is_framed(local, '_') {
        return Some(Sample::Unfilled);
    }
    if local.contains('*') || domain.contains('*') {
        return Some(Sample::Masked);
    }
    if let Some(entry) = sample_address(local, domain) {
        return Some(Sample::Address(entry));
    }
    if SAMPLE_LOCAL.has(local) {
        return Some(Sample::Local(local.clone()));
    }
    if let Some(entry) = SAMPLE_DOMAIN.covering(domain) {
        return Some(Sample::Domain(entry.to_owned()));
    }
    let platform = PLATFORM.covering(domain)?;
    (!is_own_site(domain, site)).then_some(Sample::Platform(platform))
}

fn file_suffix(domain: &str) -> Option<&'static str> {
    let last = domain.rsplit('.').next()?;
    FILE_SUFFIX.iter().find(|suffix| *suffix == last)
}

/// The label of the registrable domain: `acme` of `www.acme.co.kr`.
fn label(domain: &str) -> Option<String> {
    let registrable = HostName::parse(domain).ok()?.registrable()?;
    Some(registrable.name_label().to_owned())
}

/// Sentry's client keys are 32 hexadecimal digits at one of its hosts.
fn is_tracker_key(local: &str, domain: &str) -> bool {
    let is_key = local.len() == 32 && local.bytes().all(|b| b.is_ascii_hexdigit());
    is_key && domain.split('.').any(|label| label.starts_with("sentry"))
}

fn is_framed(local: &str, mark: char) -> bool {
    local.len() > 2 && local.starts_with(mark) && local.ends_with(mark)
}

/// The listed address, as `local@domain`, or `local@label.*` for the label under any suffix.
fn sample_address(local: &str, domain: &str) -> Option<String> {
    let exact = format!("{local}@{domain}");
    let any_suffix = label(domain).map(|label| format!("{local}@{label}.*"));
    [Some(exact), any_suffix]
        .into_iter()
        .flatten()
        .find(|address| SAMPLE_ADDRESS.has(address))
}

fn is_own_site(domain: &str, site: Option<&Url>) -> bool {
    let own = HostName::parse(domain)
        .ok()
        .and_then(|host| host.registrable());
    site.is_some_and(|site| hosted(site).is_none() && own.is_some() && registrable(site) == own)
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(suffix) => write!(f, "it is the name of a .{suffix} file"),
            Self::Reserved(name) => write!(f, "{} is a reserved name", name.escape_debug()),
            Self::Domain(domain) => write!(f, "{domain} is a domain that templates show"),
            Self::Local(local) => {
                write!(
                    f,
                    "{} is a local part that templates show",
                    local.escape_debug()
                )
            }
            Self::Address(address) => write!(f, "{address} is an address that templates show"),
            Self::Unfilled => f.write_str("it is a template that nobody filled in"),
            Self::Masked => f.write_str("part of it is hidden by asterisks"),
            Self::Platform(domain) => write!(f, "{domain} belongs to a platform, not to the site"),
            Self::Tracker => f.write_str("it is the key of an error tracker"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::email::format::web_url;

    fn why(address: &str) -> Option<Sample> {
        sample(&Written::read(address).unwrap(), None)
    }

    #[test]
    fn knows_reserved_names_and_not_their_neighbours() {
        for address in [
            "info@example.com",
            "info@mail.example.org",
            "user@example.co.kr",
            "a@acme.test",
            "a@x.invalid",
            "root@localhost",
            "a@printer.local",
        ] {
            assert!(
                matches!(why(address), Some(Sample::Reserved(_))),
                "{address}"
            );
        }
        for address in [
            "info@examples.com",
            "info@example.acme.com",
            "info@test-lab.com",
        ] {
            assert_eq!(why(address), None, "{address}");
        }
    }

    #[test]
    fn knows_samples_and_not_their_neighbours() {
        for address in [
            "your@email.com",
            "name@domain.com",
            "hong.gildong@acme.co.kr",
            "John.Doe+news@acme.com",
            "yourname@yourcompany.com",
            "abc@abc.com",
            "xxx@acme.co.kr",
            "test@test.co.kr",
            "filler@godaddy.com",
            "sample@sample.com",
        ] {
            assert!(why(address).is_some(), "{address}");
        }
        for address in [
            "info@abc.com",
            "abc@acme.com",
            "kim.gildong@acme.co.kr",
            "john.dow@acme.com",
            "names@acme.com",
            "testing-services@testlab.co.kr",
            "sample@hanbit-fabric.co.kr",
        ] {
            assert_eq!(why(address), None, "{address}");
        }
    }

    #[test]
    fn knows_file_names() {
        assert_eq!(why("logo@2x.png"), Some(Sample::File("png")));
        assert_eq!(why("local@2x.jpg.webp"), Some(Sample::File("webp")));
        assert_eq!(why("info@png.com"), None);
    }

    #[test]
    fn knows_masks_and_holes() {
        assert_eq!(why("in**@acme.co.kr"), Some(Sample::Masked));
        for address in [
            "{{email}}@acme.com",
            "%name%@acme.com",
            "${user}@acme.com",
            "__me__@acme.com",
        ] {
            assert_eq!(why(address), Some(Sample::Unfilled), "{address}");
        }
        assert_eq!(why("info_kr@acme.co.kr"), None);
        assert_eq!(why("_@acme.co.kr"), None);
    }

    #[test]
    fn a_platform_is_itself_on_its_own_site_alone() {
        let written = Written::read("press@shopify.com").unwrap();
        let on = |site: &str| sample(&written, Some(&web_url(site).unwrap()));
        assert_eq!(
            on("https://acme.co.kr/"),
            Some(Sample::Platform("shopify.com"))
        );
        assert_eq!(
            on("https://acme.wixsite.com/a"),
            Some(Sample::Platform("shopify.com"))
        );
        assert_eq!(on("https://www.shopify.com/contact"), None);
    }

    #[test]
    fn a_tracker_key_is_one_on_any_site() {
        let key = "605a7baede844d278b89dc95ae0a9123";
        let site = web_url("https://sentry.io/").unwrap();
        for host in [
            "sentry.io",
            "o1.ingest.sentry.io",
            "sentry-next.wixpress.com",
        ] {
            let written = Written::read(&format!("{key}@{host}")).unwrap();
            assert_eq!(
                sample(&written, Some(&site)),
                Some(Sample::Tracker),
                "{host}"
            );
        }
        let written = Written::read("hello@sentry.io").unwrap();
        assert_eq!(sample(&written, Some(&site)), None);
    }
}
