//! Whether a URL spells the address in pieces: over segments and parameters, with words for its
//! signs, or with nothing between its parts.

use url::Url;

use super::echo;
use super::folded_text::folded;
use crate::world::mailbox::Mailbox;

/// Words for `@` and `.`.
const SIGNS: &[&str] = &["at", "dot", "골뱅이", "앳", "닷", "점"];

/// Whether path and parameters together spell the address, in plain letters or in rot13.
///
/// The domain's labels must all stand there, in their order or the other, and so must the words
/// of the local part: an address's page may well be called by one of them.
#[must_use]
pub fn spells(url: &Url, email: &Mailbox) -> bool {
    let text = values(url);
    [rot13(&text), text].iter().any(|text| {
        let words = words(text);
        let kept = |word: &&&str| !SIGNS.contains(word);
        let plain: Vec<&str> = words.iter().filter(kept).copied().collect();
        has_both(&plain, email) || is_glued(&words.concat(), email)
    })
}

/// The path without the names of parameters, and the values of the query.
fn values(url: &Url) -> String {
    let path = echo::unescaped(url.path());
    let segments = path.split(['/', ';']).map(|segment| {
        let value = segment.split_once('=').map(|(_, value)| value);
        value.unwrap_or(segment).to_owned()
    });
    let query = url.query_pairs().map(|(key, value)| {
        // A query may be a text without a name.
        let text = if value.is_empty() { key } else { value };
        echo::unescaped(&text)
    });
    let all: Vec<String> = segments.chain(query).collect();
    folded(&all.join("/"))
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect()
}

fn has_both(text: &[&str], email: &Mailbox) -> bool {
    let (domain, local) = (words(email.domain().as_str()), words(email.local()));
    let backwards: Vec<&str> = domain.iter().rev().copied().collect();
    let has =
        |part: &[&str]| !part.is_empty() && text.windows(part.len()).any(|window| window == part);
    has(&local) && (has(&domain) || has(&backwards))
}

/// Whether a text without signs holds the address without signs, or with words for them.
fn is_glued(text: &str, email: &Mailbox) -> bool {
    let domain = words(email.domain().as_str());
    let local = words(email.local());
    let joined = |words: &[&str]| [words.concat(), words.join("dot")];
    joined(&local).iter().any(|local| {
        joined(&domain).iter().any(|domain| {
            ["", "at", "골뱅이"]
                .iter()
                .any(|sign| text.contains(&format!("{local}{sign}{domain}")))
        })
    })
}

fn rot13(text: &str) -> String {
    let turned = |c: char, first: u8| {
        let place = u8::try_from(c).map_or(0, |byte| byte - first);
        char::from(first + (place + 13) % 26)
    };
    let letters = text.chars().map(|c| match c {
        'a'..='z' => turned(c, b'a'),
        'A'..='Z' => turned(c, b'A'),
        _ => c,
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(url: &str) -> bool {
        let email = Mailbox::parse("sales.info@acme.co.kr").unwrap();
        spells(&Url::parse(url).unwrap(), &email)
    }

    #[test]
    fn an_address_in_pieces() {
        for url in [
            "https://acme.co.kr/sales/info/acme/co/kr",
            "https://acme.co.kr/kr/co/acme/sales.info",
            "https://acme.co.kr/sales-dot-info-at-acme-dot-co-dot-kr",
            "https://acme.co.kr/xsalesinfoatacmecokrx",
            "https://acme.co.kr/?salesdotinfoatacmedotcodotkr",
            "https://acme.co.kr/?q=sales_info_acme_co_kr",
            "https://acme.co.kr/;l=sales.info;d=acme;t=co.kr",
            "https://acme.co.kr/sales.info?d=acme&t=co.kr",
            "https://acme.co.kr/fnyrf/vasb/npzr/pb/xe",
        ] {
            assert!(spelled(url), "{url}");
        }
    }

    #[test]
    fn pages_that_are_called_by_a_part() {
        for url in [
            "https://acme.co.kr/sales/info",
            "https://acme.co.kr/acme/co/kr",
            "https://acme.co.kr/kr/sales.info",
            "https://acme.co.kr/sales/acme/info/co/kr",
            "https://acme.co.kr/",
        ] {
            assert!(!spelled(url), "{url}");
        }
    }
}
