//! Addresses that a page's own well-known protection encodes.
//!
//! Cloudflare writes an address as hex: the first byte is a key, each further byte is one byte
//! of the address exclusive-or the key. It stands in `data-cfemail`, or after `#` in links to
//! `/cdn-cgi/l/email-protection`, and a script turns it back before the reader looks.

/// The longest encoded address, in hex digits.
const MOST_DIGITS: usize = 2 * 512;

/// The address that a `data-cfemail` value encodes.
pub(super) fn decode(hex_text: &str) -> Option<String> {
    let hex_text = hex_text.trim();
    if hex_text.len() > MOST_DIGITS {
        return None;
    }
    let bytes = hex::decode(hex_text).ok()?;
    let (key, rest) = bytes.split_first()?;
    let text = String::from_utf8(rest.iter().map(|byte| byte ^ key).collect()).ok()?;
    let address = text.split('?').next().unwrap_or_default();
    address.contains('@').then(|| address.to_owned())
}

/// The address that a link to the protection's page encodes.
pub(super) fn decode_link(href: &str) -> Option<String> {
    decode(href.strip_prefix("/cdn-cgi/l/email-protection#")?)
}

#[cfg(test)]
pub(super) fn encode(address: &str, key: u8) -> String {
    let bytes = address.bytes().map(|byte| byte ^ key);
    hex::encode(std::iter::once(key).chain(bytes).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_comes_back() {
        assert_eq!(
            decode("422b2c242d0223212f276c212d").as_deref(),
            Some("info@acme.co")
        );
        let hex_text = encode("info@acme.co", 0x5a);
        assert_eq!(decode(&hex_text).as_deref(), Some("info@acme.co"));
        let href = format!(
            "/cdn-cgi/l/email-protection#{}",
            encode("info@acme.co?subject=x", 7)
        );
        assert_eq!(decode_link(&href).as_deref(), Some("info@acme.co"));
    }

    #[test]
    fn what_is_not_an_address_does_not() {
        for text in [
            "",
            "5a",
            "xyz",
            "5",
            &encode("no address", 3),
            &"00".repeat(100_000),
        ] {
            assert_eq!(decode(text), None);
        }
        assert_eq!(decode_link("/other#422b"), None);
    }
}
