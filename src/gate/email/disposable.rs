//! Domains of disposable mail, by the list of the `mailchecker` crate.

use std::sync::LazyLock;

use super::lists::{FREEMAIL, with_parents};
use crate::base::Digest;

/// The crate's list, sorted: it comes sorted today, and nothing promises that it stays so.
static DOMAINS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut domains = mailchecker::blacklist();
    domains.sort_unstable();
    domains
});

/// The disposable domain that `host` is or lies below.
///
/// A provider of ordinary mail that the list names all the same does not count: that is for
/// rule `freemail`.
#[must_use]
pub fn disposable(host: &str) -> Option<&'static str> {
    if FREEMAIL.covering(host).is_some() {
        return None;
    }
    with_parents(host).find_map(|name| {
        let place = DOMAINS.binary_search(&name).ok()?;
        DOMAINS.get(place).copied()
    })
}

/// The digest of the list.
#[must_use]
pub fn digest() -> Digest {
    Digest::of_parts(
        DOMAINS
            .iter()
            .flat_map(|domain| [domain.as_bytes(), b"\n".as_slice()]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_domain_and_what_lies_below_it() {
        assert_eq!(disposable("mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("a.b.mailinator.com"), Some("mailinator.com"));
        assert_eq!(disposable("acme-mailinator.kr"), None);
        assert_eq!(disposable("mailinator.com.acme.kr"), None);
        assert_eq!(disposable("acme.co.kr"), None);
        assert_eq!(disposable(""), None);
    }

    #[test]
    fn ordinary_mail_is_not_disposable() {
        for host in FREEMAIL.iter() {
            assert_eq!(disposable(host), None, "{host}");
        }
    }
}
