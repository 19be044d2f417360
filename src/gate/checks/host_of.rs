//! The host that a value of a field names.

use url::{Host, Url};

use crate::world::domain::HostName;
use crate::world::mailbox::Mailbox;

/// The host of a URL or an e-mail address, or the host that the text is; an IPv4 address stands
/// for itself, and has no registrable domain.
pub(super) fn host_of(text: &str) -> Option<HostName> {
    let text = text.trim();
    if text.contains("://") {
        return of_url(&Url::parse(text).ok()?);
    }
    if text.contains('@') {
        return Some(Mailbox::parse(text).ok()?.domain().clone());
    }
    of_url(&Url::parse(&format!("https://{text}")).ok()?)
}

fn of_url(url: &Url) -> Option<HostName> {
    match url.host()? {
        Host::Domain(name) => HostName::parse(name).ok(),
        Host::Ipv4(address) => HostName::parse(&address.to_string()).ok(),
        Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_addresses_and_hosts_name_one() {
        for text in [
            "https://www.acme.co.kr:8443/x?y#z",
            "WWW.acme.co.kr",
            "www.acme.co.kr/en",
            "info@www.acme.co.kr",
            "https://user:pass@www.acme.co.kr/",
            "ｗｗｗ.acme.co.kr.",
        ] {
            let host = host_of(text).map(String::from);
            assert_eq!(host.as_deref(), Some("www.acme.co.kr"), "{text}");
        }
    }

    #[test]
    fn other_texts_name_none() {
        for text in [
            "",
            "two words",
            "mailto:info",
            "a@b@",
            "https://",
            "[::1]",
            "<a>",
        ] {
            assert_eq!(host_of(text), None, "{text}");
        }
    }
}
